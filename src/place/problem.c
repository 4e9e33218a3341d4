// Problems: a growing array of buffers, each checked as it is added, so that later code need not
// check whether an offset can overflow.
//
// However buffers are stacked, each is at most alignment - 1 above what it rests on. So the sum of
// footprint + alignment - 1, on top of the highest fixed footprint, bounds every offset that any
// strategy can compute. That bound is kept below 2^63.
#include "place/problem.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/diag.h"

// Strategies number buffers and their pieces with 32 bits.
#define MAX_PIECES ((size_t)UINT32_MAX - 1)

void stow_buffer_defaults(stow_buffer* desc) {
  static const stow_buffer defaults = {.alignment = 1, .fixed_offset = STOW_PLACE_ANYWHERE};
  stowi_init_struct(desc, &defaults, sizeof(defaults));
}

stow_status stow_problem_create(stow_allocator allocator, stow_diag* diag,
                                stow_problem** out_problem) {
  *out_problem = STOWI_NEW(allocator, stow_problem);
  STOW_TRY(stowi_need_memory(*out_problem != NULL, diag));
  (*out_problem)->allocator = allocator;
  (*out_problem)->min_alignment = UINT64_MAX;
  return STOW_OK;
}

void stow_problem_destroy(stow_problem* problem) {
  if (problem != NULL) {
    STOWI_VEC_FREE(problem->allocator, &problem->buffers);
    STOWI_VEC_FREE(problem->allocator, &problem->windows);
    STOWI_DELETE(problem->allocator, problem);
  }
}

static stow_status check_desc(const stow_buffer* desc, size_t number, stow_diag* diag) {
  if (desc->pool != 0) {
    return stowi_fail(diag, STOW_ERR_UNSUPPORTED,
                      "buffer %zu: pool %" PRIu32 ": only pool 0 exists", number, desc->pool);
  }
  if (desc->size == 0) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "buffer %zu has size 0", number);
  }
  if (desc->end <= desc->begin) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "buffer %zu has an empty lifetime [%" PRIu64 ", %" PRIu64 ")", number,
                      desc->begin, desc->end);
  }
  if (!stowi_is_power_of_two(desc->alignment)) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "buffer %zu: alignment %" PRIu64 " is not a power of two", number,
                      desc->alignment);
  }
  if (desc->fixed_offset != STOW_PLACE_ANYWHERE &&
      (desc->fixed_offset & (desc->alignment - 1)) != 0) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "buffer %zu: fixed offset %" PRIu64 " is not aligned to %" PRIu64, number,
                      desc->fixed_offset, desc->alignment);
  }
  return STOW_OK;
}

// The two sums once |desc| is added; false if together they need more than 63 bits.
static bool grow_sums(const stow_problem* problem, const stow_buffer* desc, uint64_t* padded_sum,
                      uint64_t* fixed_end) {
  uint64_t footprint;
  uint64_t total;
  *fixed_end = problem->fixed_end;
  if (!stowi_add_u64(desc->size, desc->guard, &footprint) ||
      !stowi_add_u64(problem->padded_sum, footprint, padded_sum) ||
      !stowi_add_u64(*padded_sum, desc->alignment - 1, padded_sum)) {
    return false;
  }
  if (desc->fixed_offset != STOW_PLACE_ANYWHERE) {
    uint64_t end;
    if (!stowi_add_u64(desc->fixed_offset, footprint, &end)) {
      return false;
    }
    *fixed_end = end > *fixed_end ? end : *fixed_end;
  }
  return stowi_add_u64(*padded_sum, *fixed_end, &total) && total <= INT64_MAX;
}

stow_status stow_problem_add(stow_problem* problem, const stow_buffer* given, stow_diag* diag,
                             size_t* out_buffer) {
  size_t number = problem->buffers.count;
  if (out_buffer != NULL) {
    *out_buffer = STOW_BUFFER_NONE;
  }
  stow_buffer full;
  stow_buffer_init(&full);
  STOW_TRY(stowi_load_struct(&full, given, sizeof(full), "stow_buffer", diag));
  const stow_buffer* desc = &full;
  STOW_TRY(check_desc(desc, number, diag));
  if (stowi_place_max_pieces(problem) >= MAX_PIECES) {
    return stowi_fail(diag, STOW_ERR_LIMIT, "a problem holds at most %zu buffers", MAX_PIECES);
  }
  uint64_t padded_sum;
  uint64_t fixed_end;
  if (!grow_sums(problem, desc, &padded_sum, &fixed_end)) {
    return stowi_fail(
        diag, STOW_ERR_OVERFLOW,
        "buffer %zu of %" PRIu64
        " bytes: footprints, alignment and the highest fixed end together need more than 63 bits",
        number, desc->size);
  }
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(problem->allocator, &problem->buffers, 1) == STOW_OK,
                             diag));
  stowi_place_buffer buffer = {.size = desc->size,
                               .guard = desc->guard,
                               .begin = desc->begin,
                               .end = desc->end,
                               .alignment = desc->alignment,
                               .fixed_offset = desc->fixed_offset,
                               .first_window = (uint32_t)problem->windows.count};
  problem->buffers.data[problem->buffers.count++] = buffer;
  problem->padded_sum = padded_sum;
  problem->fixed_end = fixed_end;
  if (desc->alignment < problem->min_alignment) {
    problem->min_alignment = desc->alignment;
  }
  if (out_buffer != NULL) {
    *out_buffer = number;
  }
  return STOW_OK;
}

size_t stow_problem_count(const stow_problem* problem) { return problem->buffers.count; }

stow_status stow_problem_describe_buffer(const stow_problem* problem, size_t buffer,
                                         stow_buffer* out_desc) {
  if (buffer >= problem->buffers.count) {
    return STOW_ERR_NOT_FOUND;
  }
  const stowi_place_buffer* from = &problem->buffers.data[buffer];
  stow_buffer desc = {.size = from->size,
                      .guard = from->guard,
                      .begin = from->begin,
                      .end = from->end,
                      .alignment = from->alignment,
                      .fixed_offset = from->fixed_offset};
  return stowi_fill_struct(out_desc, &desc, sizeof(desc), "stow_buffer", NULL);
}

void stow_window_desc_defaults(stow_window_desc* desc) {
  static const stow_window_desc defaults = {0};
  stowi_init_struct(desc, &defaults, sizeof(defaults));
}

static stow_status check_window(const stowi_place_buffer* buffer, const stow_window_desc* desc,
                                size_t number, stow_diag* diag) {
  if (desc->begin >= desc->end || desc->begin < buffer->begin || desc->end > buffer->end) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "buffer %zu: window [%" PRIu64 ", %" PRIu64
                      ") is not within the lifetime [%" PRIu64 ", %" PRIu64 ")",
                      number, desc->begin, desc->end, buffer->begin, buffer->end);
  }
  if (desc->low > desc->high || desc->high > stowi_place_footprint(buffer)) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "buffer %zu: bytes [%" PRIu64 ", %" PRIu64
                      ") of a window are not within the footprint of %" PRIu64 " bytes",
                      number, desc->low, desc->high, stowi_place_footprint(buffer));
  }
  return STOW_OK;
}

// Whether |desc| and the windows so far leave the buffer without a byte over its whole lifetime.
static bool leaves_nothing(const stow_problem* problem, const stowi_place_buffer* buffer,
                           const stow_window_desc* desc) {
  if (desc->end != buffer->end || desc->low != desc->high) {
    return false;
  }
  uint64_t empty_until = buffer->begin;
  for (size_t i = 0; i < buffer->window_count; ++i) {
    const stowi_place_window* window = &problem->windows.data[buffer->first_window + i];
    if (window->begin != empty_until || window->low != window->high) {
      return false;
    }
    empty_until = window->end;
  }
  return desc->begin == empty_until;
}

stow_status stow_problem_add_window(stow_problem* problem, const stow_window_desc* given,
                                    stow_diag* diag) {
  stow_window_desc desc;
  stow_window_desc_init(&desc);
  STOW_TRY(stowi_load_struct(&desc, given, sizeof(desc), "stow_window_desc", diag));
  if (problem->buffers.count == 0) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "a window needs a buffer; add the buffer first");
  }
  size_t number = problem->buffers.count - 1;
  stowi_place_buffer* buffer = &problem->buffers.data[number];
  STOW_TRY(check_window(buffer, &desc, number, diag));
  uint64_t earlier_end =
      buffer->window_count == 0 ? 0 : problem->windows.data[problem->windows.count - 1].end;
  if (desc.begin < earlier_end) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "buffer %zu: window [%" PRIu64 ", %" PRIu64
                      ") begins before the previous one ends, at %" PRIu64,
                      number, desc.begin, desc.end, earlier_end);
  }
  if (leaves_nothing(problem, buffer, &desc)) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "buffer %zu: gaps cover the whole lifetime [%" PRIu64 ", %" PRIu64 ")",
                      number, buffer->begin, buffer->end);
  }
  if (stowi_place_max_pieces(problem) >= MAX_PIECES - 1) {
    return stowi_fail(diag, STOW_ERR_LIMIT, "a problem holds at most %zu windows", MAX_PIECES / 2);
  }
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(problem->allocator, &problem->windows, 1) == STOW_OK,
                             diag));
  problem->windows.data[problem->windows.count++] =
      (stowi_place_window){desc.begin, desc.end, desc.low, desc.high};
  ++buffer->window_count;
  return STOW_OK;
}

size_t stow_problem_window_count(const stow_problem* problem, size_t buffer) {
  return problem->buffers.data[buffer].window_count;
}

stow_status stow_problem_describe_window(const stow_problem* problem, size_t buffer, size_t index,
                                         stow_window_desc* out_desc) {
  if (buffer >= problem->buffers.count || index >= problem->buffers.data[buffer].window_count) {
    return STOW_ERR_NOT_FOUND;
  }
  const stowi_place_window* from =
      &problem->windows.data[problem->buffers.data[buffer].first_window + index];
  stow_window_desc desc = {
      .begin = from->begin, .end = from->end, .low = from->low, .high = from->high};
  return stowi_fill_struct(out_desc, &desc, sizeof(desc), "stow_window_desc", NULL);
}

// ---------------------------------------------------------------------------------------------
// Stretches

stowi_place_walk stowi_place_walk_start(const stow_problem* problem, size_t buffer) {
  const stowi_place_buffer* b = &problem->buffers.data[buffer];
  const stowi_place_window* windows =
      b->window_count == 0 ? NULL : &problem->windows.data[b->first_window];
  return (stowi_place_walk){b, windows, b->window_count, b->begin};
}

// A window that is not a gap, or an interval between windows.
static bool next_part(stowi_place_walk* walk, stowi_place_stretch* out) {
  while (walk->at < walk->buffer->end) {
    const stowi_place_window* window = walk->window_count == 0 ? NULL : walk->windows;
    if (window == NULL || walk->at < window->begin) {
      uint64_t end = window == NULL ? walk->buffer->end : window->begin;
      *out = (stowi_place_stretch){walk->at, end, 0, stowi_place_footprint(walk->buffer)};
      walk->at = end;
      return true;
    }
    *out = (stowi_place_stretch){window->begin, window->end, window->low, window->high};
    walk->at = window->end;
    ++walk->windows;
    --walk->window_count;
    if (out->low != out->high) {
      return true;
    }
  }
  return false;
}

bool stowi_place_walk_next(stowi_place_walk* walk, stowi_place_stretch* out_stretch) {
  if (!next_part(walk, out_stretch)) {
    return false;
  }
  stowi_place_walk ahead = *walk;
  stowi_place_stretch more;
  while (next_part(&ahead, &more) && more.begin == out_stretch->end &&
         more.low == out_stretch->low && more.high == out_stretch->high) {
    out_stretch->end = more.end;
    *walk = ahead;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Parts of problems

stow_status stowi_place_problem_add_windows(stow_problem* to, const stow_problem* from,
                                            size_t buffer, stow_diag* diag) {
  for (size_t i = 0; i < stow_problem_window_count(from, buffer); ++i) {
    stow_window_desc window = {.struct_size = sizeof(window)};
    stow_problem_describe_window(from, buffer, i, &window);
    STOW_TRY(stow_problem_add_window(to, &window, diag));
  }
  return STOW_OK;
}

stow_status stowi_place_problem_add_copy(stow_problem* to, const stow_problem* from, size_t buffer,
                                         stow_diag* diag) {
  stow_buffer desc = {.struct_size = sizeof(desc)};
  stow_problem_describe_buffer(from, buffer, &desc);
  STOW_TRY(stow_problem_add(to, &desc, diag, NULL));
  return stowi_place_problem_add_windows(to, from, buffer, diag);
}
