// Differences. Tensors are paired over everything that has bytes, also what lies in others' bytes:
// so a result that is no longer made in place is not taken for a new one. O(n log n).
#include "report/diff/diff.h"

#include "base/diag.h"
#include "base/sort.h"

const char* stowi_report_diff_change_text(size_t change) {
  static const char* const texts[] = {
#define STOWI_REPORT_DIFF_CHANGE_TEXT(name, text) text,
      STOWI_REPORT_DIFF_CHANGE_LIST(STOWI_REPORT_DIFF_CHANGE_TEXT)
#undef STOWI_REPORT_DIFF_CHANGE_TEXT
  };
  return texts[change];
}

const char* stowi_report_diff_peak_text(size_t change) {
  static const char* const texts[] = {
#define STOWI_REPORT_DIFF_PEAK_TEXT(name, text) text,
      STOWI_REPORT_DIFF_PEAK_LIST(STOWI_REPORT_DIFF_PEAK_TEXT)
#undef STOWI_REPORT_DIFF_PEAK_TEXT
  };
  return texts[change];
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

// ---------------------------------------------------------------------------------------------
// Pairing

static uint64_t bytes_of(const stow_picture* picture, size_t buffer) {
  return picture->buffers.data[buffer].size + picture->buffers.data[buffer].guard;
}

static uint64_t peak_of(const stow_picture* picture, size_t buffer) {
  return stowi_report_picture_occupied(picture, buffer, picture->facts.peak_step);
}

static stowi_report_diff_change change_of(const stow_diff* diff,
                                          const stowi_report_diff_tensor* t) {
  if (t->now_bytes != t->then_bytes) {
    return t->now_bytes > t->then_bytes ? STOWI_REPORT_DIFF_GREW : STOWI_REPORT_DIFF_SHRANK;
  }
  if (diff->then->buffers.data[t->then].offset != diff->now->buffers.data[t->now].offset) {
    return STOWI_REPORT_DIFF_MOVED;
  }
  return t->is_retimed ? STOWI_REPORT_DIFF_RETIMED : STOWI_REPORT_DIFF_SAME;
}

// |then|, |now|: places in the lists of keys, or STOWI_REPORT_UNPAIRED; one of them is a buffer.
static stowi_report_diff_tensor make_tensor(const stow_diff* diff, size_t then, size_t now) {
  size_t then_buffers = diff->then->buffers.count;
  size_t now_buffers = diff->now->buffers.count;
  bool was = then < then_buffers;
  bool is = now < now_buffers;
  stowi_report_diff_tensor t = {.change = was ? STOWI_REPORT_DIFF_GONE : STOWI_REPORT_DIFF_NEW,
                                .then = was ? then : STOWI_REPORT_PICTURE_NOWHERE,
                                .now = is ? now : STOWI_REPORT_PICTURE_NOWHERE,
                                .host = STOWI_REPORT_PICTURE_NOWHERE};
  t.then_bytes = was ? bytes_of(diff->then, then) : 0;
  t.now_bytes = is ? bytes_of(diff->now, now) : 0;
  t.then_peak = was ? peak_of(diff->then, then) : 0;
  t.now_peak = is ? peak_of(diff->now, now) : 0;
  if (was && is) {
    t.is_retimed = stowi_report_picture_is_retimed(
        stowi_report_picture_life_of(diff->then, then, diff->then_end),
        stowi_report_picture_life_of(diff->now, now, diff->now_end));
    t.change = change_of(diff, &t);
  } else if (was && now != STOWI_REPORT_UNPAIRED) {
    t.change = STOWI_REPORT_DIFF_JOINED;
    t.host = diff->now->values.data[now - now_buffers].buffer;
  } else if (is && then != STOWI_REPORT_UNPAIRED) {
    t.change = STOWI_REPORT_DIFF_PARTED;
    t.host = diff->then->values.data[then - then_buffers].buffer;
  }
  return t;
}

static stow_status add_to(stowi_report_diff_list* list, const stowi_report_diff_tensor* t,
                          stow_allocator allocator) {
  STOW_TRY(STOWI_VEC_RESERVE(allocator, list, 1));
  list->data[list->count++] = *t;
  return STOW_OK;
}

static stow_status add_tensor(stow_diff* diff, size_t then, size_t now) {
  bool was = then < diff->then->buffers.count;
  bool is = now < diff->now->buffers.count;
  if (!was && !is) {
    return STOW_OK;
  }
  stowi_report_diff_tensor t = make_tensor(diff, then, now);
  ++diff->changes[t.change];
  if (t.then_peak > 0 || t.now_peak > 0) {
    ++diff->peak_changes[stowi_report_diff_peak_of(&t)];
    STOW_TRY(add_to(&diff->peak, &t, diff->allocator));
  }
  return t.change == STOWI_REPORT_DIFF_SAME ? STOW_OK : add_to(&diff->tensors, &t, diff->allocator);
}

static stow_status add_tensors(stow_diff* diff, const stowi_report_picture_pairs* pairs) {
  for (size_t i = 0; i < pairs->now_count; ++i) {
    STOW_TRY(add_tensor(diff, pairs->of_now[i], i));
  }
  for (size_t i = 0; i < pairs->then_count; ++i) {
    STOW_TRY(pairs->met[i] ? STOW_OK : add_tensor(diff, i, STOWI_REPORT_UNPAIRED));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Sorting

static uint64_t difference(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

static int descending(uint64_t a, uint64_t b) { return (a < b) - (a > b); }

static int by_place(const stowi_report_diff_tensor* a, const stowi_report_diff_tensor* b) {
  int order = descending(b->now, a->now);
  return order != 0 ? order : descending(b->then, a->then);
}

static int by_effect(const void* x, const void* y, const void* context) {
  (void)context;
  const stowi_report_diff_tensor* a = x;
  const stowi_report_diff_tensor* b = y;
  int order =
      descending(difference(a->then_bytes, a->now_bytes), difference(b->then_bytes, b->now_bytes));
  if (order == 0) {
    order = descending(larger(a->then_bytes, a->now_bytes), larger(b->then_bytes, b->now_bytes));
  }
  return order != 0 ? order : by_place(a, b);
}

static int by_peak(const void* x, const void* y, const void* context) {
  (void)context;
  const stowi_report_diff_tensor* a = x;
  const stowi_report_diff_tensor* b = y;
  int order =
      descending(difference(a->then_peak, a->now_peak), difference(b->then_peak, b->now_peak));
  if (order == 0) {
    order = descending(larger(a->then_peak, a->now_peak), larger(b->then_peak, b->now_peak));
  }
  return order != 0 ? order : by_place(a, b);
}

static stow_status sort_list(stowi_report_diff_list* list, stowi_compare order,
                             stow_allocator allocator) {
  return stowi_sort(list->data, list->count, sizeof *list->data, order, NULL, allocator);
}

// ---------------------------------------------------------------------------------------------

#define MILLION UINT64_C(1000000)

// Rounded down; the largest number where that is larger still.
static uint64_t share_of(uint64_t whole, uint64_t millionths) {
  uint64_t millions = whole / MILLION;
  if (millions > 0 && millionths > UINT64_MAX / 2 / millions) {
    return UINT64_MAX;
  }
  return millions * millionths + whole % MILLION * millionths / MILLION;
}

static void judge(stow_diff* diff, stow_growth growth) {
  uint64_t then = diff->then->facts.arena;
  uint64_t now = diff->now->facts.arena;
  diff->allowed = larger(growth.bytes, share_of(then, growth.millionths));
  diff->too_large = now > then && now - then > diff->allowed;
}

static stow_status fill(stow_diff* diff) {
  stowi_report_picture_pairs pairs;
  stow_allocator allocator = diff->allocator;
  stow_status status = stowi_report_picture_pair(diff->then, diff->now, true, allocator, &pairs);
  status = status == STOW_OK ? add_tensors(diff, &pairs) : status;
  stowi_report_picture_pairs_free(&pairs, allocator);
  status = status == STOW_OK ? sort_list(&diff->tensors, by_effect, allocator) : status;
  return status == STOW_OK ? sort_list(&diff->peak, by_peak, allocator) : status;
}

stow_status stow_diff_create(const stow_picture* then, const stow_picture* now, stow_growth allowed,
                             stow_allocator allocator, stow_diag* diag, stow_diff** out_diff) {
  *out_diff = NULL;
  stow_diff* diff = STOWI_NEW(allocator, stow_diff);
  STOW_TRY(stowi_need_memory(diff != NULL, diag));
  *diff = (stow_diff){.then = then,
                      .now = now,
                      .then_end = stowi_report_picture_last_end(then),
                      .now_end = stowi_report_picture_last_end(now),
                      .allocator = allocator};
  if (fill(diff) != STOW_OK) {
    stow_diff_destroy(diff);
    return stowi_fail_memory(diag);
  }
  judge(diff, allowed);
  *out_diff = diff;
  return STOW_OK;
}

void stow_diff_destroy(stow_diff* diff) {
  if (diff != NULL) {
    stow_allocator allocator = diff->allocator;
    STOWI_VEC_FREE(allocator, &diff->tensors);
    STOWI_VEC_FREE(allocator, &diff->peak);
    STOWI_DELETE(allocator, diff);
  }
}

bool stow_diff_is_too_large(const stow_diff* diff) { return diff->too_large; }

static void (*const writers[])(const stow_diff* diff, stowi_report_out* out) = {
    [STOW_DIFF_TEXT] = stowi_report_diff_write_text,
    [STOW_DIFF_JSON] = stowi_report_diff_write_json,
    [STOW_DIFF_MARKDOWN] = stowi_report_diff_write_markdown,
};

stow_status stow_diff_write(const stow_diff* diff, stow_diff_format format,
                            const stow_report_options* options, stow_writer writer,
                            stow_diag* diag) {
  stowi_report_out out;
  if ((unsigned)format >= sizeof writers / sizeof writers[0]) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "unknown format %d", (int)format);
  }
  STOW_TRY(stowi_report_out_open(&out, writer, options, diag));
  writers[format](diff, &out);
  return stowi_report_out_close(&out, diag);
}

stowi_report_diff_peak stowi_report_diff_peak_of(const stowi_report_diff_tensor* t) {
  return t->then_peak == 0            ? STOWI_REPORT_PEAK_ENTERED
         : t->now_peak == 0           ? STOWI_REPORT_PEAK_LEFT
         : t->now_peak > t->then_peak ? STOWI_REPORT_PEAK_GREW
         : t->now_peak < t->then_peak ? STOWI_REPORT_PEAK_SHRANK
                                      : STOWI_REPORT_PEAK_SAME;
}

const stow_picture* stowi_report_diff_named(const stow_diff* diff,
                                            const stowi_report_diff_tensor* tensor,
                                            size_t* out_buffer) {
  bool is = tensor->now != STOWI_REPORT_PICTURE_NOWHERE;
  *out_buffer = is ? tensor->now : tensor->then;
  return is ? diff->now : diff->then;
}
