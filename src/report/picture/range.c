// Frames. A text is a sequence of characters and tokens; tokens are runs of digits and the two
// words that may change from point to point. Two pictures are of one frame if they differ in
// tokens only. Numbers are sorted into series by refinement: all that were the same so far are one
// series, and those that are now another number are split off. O(text + numbers) for each point.
#include "report/picture/range.h"

#include <string.h>

#include "base/diag.h"
#include "base/hash.h"
#include "base/text.h"

void stowi_report_range_destroy(stowi_report_range* range) {
  if (range == NULL) {
    return;
  }
  stow_allocator allocator = range->allocator;
  for (size_t i = 0; i < range->frames.count; ++i) {
    stowi_report_frame* frame = &range->frames.data[i];
    for (size_t k = 0; k < frame->series.count; ++k) {
      STOWI_VEC_FREE(allocator, &frame->series.data[k].numbers);
    }
    STOWI_VEC_FREE(allocator, &frame->series);
    STOWI_VEC_FREE(allocator, &frame->series_of);
    stow_string_free(&frame->text);
  }
  STOWI_VEC_FREE(allocator, &range->frames);
  STOWI_VEC_FREE(allocator, &range->frame_of);
  stow_string_free(&range->facts);
  STOWI_DELETE(allocator, range);
}

// ---------------------------------------------------------------------------------------------
// Tokens

// Longer ones, and those with zeros in front, are no numbers: they never change.
#define MOST_DIGITS 15

typedef struct token {
  size_t size;  // 0: a character
  bool is_word;
  bool is_number;
  uint64_t number;
} token;

static token token_at(stow_str text, size_t at) {
  static const char* const words[] = {"optimal", "feasible"};
  token found = {0};
  while (at + found.size < text.size && stowi_is_digit(text.data[at + found.size])) {
    found.number = found.number * 10 + (uint64_t)(text.data[at + found.size] - '0');
    ++found.size;
  }
  if (found.size > 0) {
    found.is_number = found.size == 1 || (text.data[at] != '0' && found.size <= MOST_DIGITS);
    found.number = found.is_number ? found.number : 0;
    return found;
  }
  for (size_t i = 0; i < 2; ++i) {
    size_t size = strlen(words[i]);
    if (text.size - at >= size && memcmp(text.data + at, words[i], size) == 0) {
      return (token){size, true, true, i};
    }
  }
  return found;
}

typedef STOWI_VEC(uint64_t) numbers;

static bool is_same(stow_str a, size_t at_a, token x, stow_str b, size_t at_b, token y) {
  size_t size = x.size == 0 ? 1 : x.size;
  if (x.is_number && y.is_number && x.is_word == y.is_word) {
    return true;
  }
  return x.size == y.size && x.is_word == y.is_word &&
         memcmp(a.data + at_a, b.data + at_b, size) == 0;
}

// Whether |text| differs from |like| in numbers only: |out_numbers| are its own.
static stow_status match(stow_str like, stow_str text, stow_allocator allocator,
                         numbers* out_numbers, bool* out_matches) {
  size_t at = 0;
  size_t other = 0;
  *out_matches = false;
  out_numbers->count = 0;
  while (at < text.size && other < like.size) {
    token x = token_at(text, at);
    token y = token_at(like, other);
    if (!is_same(text, at, x, like, other, y)) {
      return STOW_OK;
    }
    if (x.size > 0) {
      STOW_TRY(STOWI_VEC_RESERVE(allocator, out_numbers, 1));
      out_numbers->data[out_numbers->count++] = x.number;
    }
    at += x.size == 0 ? 1 : x.size;
    other += y.size == 0 ? 1 : y.size;
  }
  *out_matches = at == text.size && other == like.size;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Series

typedef struct split_key {
  uint32_t parent;
  uint64_t now;
} split_key;

static bool is_split(const void* context, uint32_t id, const void* key) {
  const stowi_report_series* series = &((const stowi_report_frame*)context)->series.data[id];
  const split_key* wanted = key;
  return series->parent == wanted->parent && series->now == wanted->now;
}

static stow_status copy_numbers(stow_allocator allocator, const stowi_report_series* from,
                                stowi_report_series* to) {
  STOW_TRY(STOWI_VEC_RESERVE(allocator, &to->numbers, from->numbers.count));
  if (from->numbers.count != 0) {
    memcpy(to->numbers.data, from->numbers.data, from->numbers.count * sizeof(uint64_t));
  }
  to->numbers.count = from->numbers.count;
  return STOW_OK;
}

// The series of those that were |parent| and are |now| something else.
static stow_status split(stowi_report_frame* frame, uint32_t parent, uint64_t now,
                         stow_allocator allocator, stowi_index* splits, uint32_t* out_series) {
  split_key key = {parent, now};
  uint64_t hash = stowi_hash_u64(stowi_hash_u64(STOWI_HASH_SEED, parent), now);
  *out_series = stowi_index_find(splits, hash, is_split, frame, &key);
  if (*out_series != STOWI_INDEX_NONE) {
    return STOW_OK;
  }
  STOW_TRY(stowi_index_reserve(splits, allocator));
  STOW_TRY(STOWI_VEC_RESERVE(allocator, &frame->series, 1));
  *out_series = (uint32_t)frame->series.count;
  stowi_report_series* made = &frame->series.data[frame->series.count++];
  *made = (stowi_report_series){.before = frame->series.data[parent].before,
                                .now = now,
                                .seen = frame->point_count + 1,
                                .parent = parent};
  stowi_index_insert(splits, hash, *out_series);
  return copy_numbers(allocator, &frame->series.data[parent], made);
}

static stow_status sort_numbers(stowi_report_frame* frame, const numbers* given,
                                stow_allocator allocator, stowi_index* splits) {
  for (size_t i = 0; i < given->count; ++i) {
    uint32_t own = frame->series_of.data[i];
    stowi_report_series* series = &frame->series.data[own];
    if (series->seen == frame->point_count) {
      series->seen = frame->point_count + 1;
      series->now = given->data[i];
    } else if (series->now != given->data[i]) {
      STOW_TRY(split(frame, own, given->data[i], allocator, splits, &frame->series_of.data[i]));
    }
  }
  return STOW_OK;
}

static stow_status end_point(stowi_report_frame* frame, stow_allocator allocator) {
  for (size_t i = 0; i < frame->series.count; ++i) {
    stowi_report_series* series = &frame->series.data[i];
    bool is_constant = series->numbers.count == 0;
    if (frame->point_count > 0 && (!is_constant || series->now != series->before)) {
      size_t missing = is_constant ? frame->point_count : 0;
      STOW_TRY(STOWI_VEC_RESERVE(allocator, &series->numbers, missing + 1));
      while (missing-- > 0) {
        series->numbers.data[series->numbers.count++] = series->before;
      }
      series->numbers.data[series->numbers.count++] = series->now;
    }
    series->before = series->now;
  }
  ++frame->point_count;
  return STOW_OK;
}

static stow_status add_point(stowi_report_frame* frame, const numbers* given,
                             stow_allocator allocator) {
  stowi_index splits = {0};
  stow_status status = sort_numbers(frame, given, allocator, &splits);
  stowi_index_free(&splits, allocator);
  return status == STOW_OK ? end_point(frame, allocator) : status;
}

// ---------------------------------------------------------------------------------------------
// Frames

// A frame with all numbers in one series.
static stow_status add_frame(stowi_report_range* range, stow_str text, numbers* out_numbers) {
  stow_allocator allocator = range->allocator;
  bool matches;
  STOW_TRY(STOWI_VEC_RESERVE(allocator, &range->frames, 1));
  stowi_report_frame* frame = &range->frames.data[range->frames.count++];
  *frame = (stowi_report_frame){.point_count = 0};
  stow_string_init(&frame->text, allocator);
  STOW_TRY(stow_string_append(&frame->text, text.data, text.size));
  STOW_TRY(match(text, text, allocator, out_numbers, &matches));
  STOW_TRY(STOWI_VEC_RESERVE(allocator, &frame->series_of, out_numbers->count));
  STOW_TRY(STOWI_VEC_RESERVE(allocator, &frame->series, 1));
  frame->series.data[frame->series.count++] = (stowi_report_series){.parent = UINT32_MAX};
  frame->series_of.count = out_numbers->count;
  for (size_t i = 0; i < out_numbers->count; ++i) {
    frame->series_of.data[i] = 0;
  }
  return STOW_OK;
}

static stow_status add_text(stowi_report_range* range, stow_str text, numbers* given) {
  size_t found = range->frames.count;
  bool matches = false;
  for (size_t i = 0; i < range->frames.count && !matches; ++i) {
    const stow_string* like = &range->frames.data[i].text;
    STOW_TRY(match((stow_str){like->data, like->size}, text, range->allocator, given, &matches));
    found = matches ? i : found;
  }
  STOW_TRY(matches ? STOW_OK : add_frame(range, text, given));
  STOW_TRY(STOWI_VEC_RESERVE(range->allocator, &range->frame_of, 1));
  range->frame_of.data[range->frame_of.count++] = found;
  return add_point(&range->frames.data[found], given, range->allocator);
}

stow_status stowi_report_range_add(stowi_report_range* range, stow_str text) {
  numbers given = {0};
  stow_status status = add_text(range, text, &given);
  STOWI_VEC_FREE(range->allocator, &given);
  return status;
}

void stowi_report_range_finish(stowi_report_range* range) {
  size_t rank = 0;
  for (size_t i = 0; i < range->frames.count; ++i) {
    for (size_t k = 0; k < range->frames.data[i].series.count; ++k) {
      stowi_report_series* series = &range->frames.data[i].series.data[k];
      series->rank = rank;
      rank += series->numbers.count == 0 ? 0 : 1;
    }
  }
}
