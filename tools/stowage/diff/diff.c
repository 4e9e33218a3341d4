// Differences. Tensors are paired over everything that has bytes, also what lies in others' bytes:
// so a result that is no longer made in place is not taken for a new one. O(n log n).
#include "diff.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"

const char* cli_diff_change_text(size_t change) {
  static const char* const texts[] = {
#define CLI_DIFF_CHANGE_TEXT(name, text) text,
      CLI_DIFF_CHANGE_LIST(CLI_DIFF_CHANGE_TEXT)
#undef CLI_DIFF_CHANGE_TEXT
  };
  return texts[change];
}

const char* cli_diff_peak_text(size_t change) {
  static const char* const texts[] = {
#define CLI_DIFF_PEAK_TEXT(name, text) text,
      CLI_DIFF_PEAK_LIST(CLI_DIFF_PEAK_TEXT)
#undef CLI_DIFF_PEAK_TEXT
  };
  return texts[change];
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

// ---------------------------------------------------------------------------------------------
// Pairing

// Buffers of |view|, then what lies in them.
static bool list_keys(const cli_view* view, cli_list* keys) {
  bool listed = true;
  for (size_t i = 0; i < view->buffers.count && listed; ++i) {
    cli_match_key key = cli_view_match_key(view, i);
    listed = cli_list_add(keys, &key, sizeof key);
  }
  for (size_t i = 0; i < view->values.count && listed; ++i) {
    const cli_view_value* value = &cli_view_values(view)[i];
    cli_match_key key = {.name = cli_view_str(view, value->name),
                         .op = cli_view_str(view, value->op),
                         .id = value->id};
    listed = cli_list_add(keys, &key, sizeof key);
  }
  return listed;
}

static uint64_t bytes_of(const cli_view* view, size_t buffer) {
  return cli_view_buffers(view)[buffer].size + cli_view_buffers(view)[buffer].guard;
}

static uint64_t peak_of(const cli_view* view, size_t buffer) {
  return cli_view_occupied(view, buffer, view->facts.peak_step);
}

// Where the last lifetime ends: graphs and rows differ in what they count as steps.
static uint64_t last_end(const cli_view* view) {
  uint64_t end = 0;
  for (size_t i = 0; i < view->buffers.count; ++i) {
    end = larger(end, cli_view_buffers(view)[i].end);
  }
  return end;
}

// Steps have the same numbers only where there are as many of them. Else lifetimes differ where one
// has more steps than the other, unless it is the end of both plans that ends them.
static bool is_retimed(const cli_diff* diff, const cli_diff_tensor* t) {
  const cli_view_buffer* a = &cli_view_buffers(diff->then)[t->then];
  const cli_view_buffer* b = &cli_view_buffers(diff->now)[t->now];
  if (diff->then_end == diff->now_end) {
    return a->begin != b->begin || a->end != b->end;
  }
  bool both_last = a->end == diff->then_end && b->end == diff->now_end;
  return !both_last && a->end - a->begin != b->end - b->begin;
}

static cli_diff_change change_of(const cli_diff* diff, const cli_diff_tensor* t) {
  if (t->now_bytes != t->then_bytes) {
    return t->now_bytes > t->then_bytes ? CLI_DIFF_GREW : CLI_DIFF_SHRANK;
  }
  if (cli_view_buffers(diff->then)[t->then].offset != cli_view_buffers(diff->now)[t->now].offset) {
    return CLI_DIFF_MOVED;
  }
  return t->is_retimed ? CLI_DIFF_RETIMED : CLI_DIFF_SAME;
}

// |then|, |now|: places in the lists of keys, or CLI_UNMATCHED; one of them is a buffer.
static cli_diff_tensor make_tensor(const cli_diff* diff, size_t then, size_t now) {
  size_t then_buffers = diff->then->buffers.count;
  size_t now_buffers = diff->now->buffers.count;
  bool was = then < then_buffers;
  bool is = now < now_buffers;
  cli_diff_tensor t = {.change = was ? CLI_DIFF_GONE : CLI_DIFF_NEW,
                       .then = was ? then : CLI_VIEW_NOWHERE,
                       .now = is ? now : CLI_VIEW_NOWHERE,
                       .host = CLI_VIEW_NOWHERE};
  t.then_bytes = was ? bytes_of(diff->then, then) : 0;
  t.now_bytes = is ? bytes_of(diff->now, now) : 0;
  t.then_peak = was ? peak_of(diff->then, then) : 0;
  t.now_peak = is ? peak_of(diff->now, now) : 0;
  if (was && is) {
    t.is_retimed = is_retimed(diff, &t);
    t.change = change_of(diff, &t);
  } else if (was && now != CLI_UNMATCHED) {
    t.change = CLI_DIFF_JOINED;
    t.host = cli_view_values(diff->now)[now - now_buffers].buffer;
  } else if (is && then != CLI_UNMATCHED) {
    t.change = CLI_DIFF_PARTED;
    t.host = cli_view_values(diff->then)[then - then_buffers].buffer;
  }
  return t;
}

static bool add_tensor(cli_diff* diff, size_t then, size_t now) {
  bool was = then < diff->then->buffers.count;
  bool is = now < diff->now->buffers.count;
  if (!was && !is) {
    return true;
  }
  cli_diff_tensor t = make_tensor(diff, then, now);
  ++diff->changes[t.change];
  if (t.then_peak > 0 || t.now_peak > 0) {
    ++diff->peak_changes[cli_diff_peak_of(&t)];
    if (!cli_list_add(&diff->peak, &t, sizeof t)) {
      return false;
    }
  }
  return t.change == CLI_DIFF_SAME || cli_list_add(&diff->tensors, &t, sizeof t);
}

// |partners|: of each thing of |now|. |met| has room for a flag for each thing of |then|.
static bool add_tensors(cli_diff* diff, const size_t* partners, size_t now_count, bool* met,
                        size_t then_count) {
  bool added = true;
  memset(met, 0, then_count * sizeof *met);
  for (size_t i = 0; i < now_count && added; ++i) {
    added = add_tensor(diff, partners[i], i);
    if (partners[i] != CLI_UNMATCHED) {
      met[partners[i]] = true;
    }
  }
  for (size_t i = 0; i < then_count && added; ++i) {
    added = met[i] || add_tensor(diff, i, CLI_UNMATCHED);
  }
  return added;
}

static bool pair_tensors(cli_diff* diff, const cli_list* then, const cli_list* now) {
  // one more than needed, so that nothing is asked for no bytes
  size_t* partners = calloc(now->count + 1, sizeof *partners);
  bool* met = calloc(then->count + 1, sizeof *met);
  bool paired = partners != NULL && met != NULL &&
                cli_match(then->items, then->count, now->items, now->count, partners) &&
                add_tensors(diff, partners, now->count, met, then->count);
  free(partners);
  free(met);
  return paired;
}

// ---------------------------------------------------------------------------------------------
// Sorting

static uint64_t difference(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

static int descending(uint64_t a, uint64_t b) { return (a < b) - (a > b); }

static int by_place(const cli_diff_tensor* a, const cli_diff_tensor* b) {
  int order = descending(b->now, a->now);
  return order != 0 ? order : descending(b->then, a->then);
}

static int by_effect(const void* x, const void* y) {
  const cli_diff_tensor* a = x;
  const cli_diff_tensor* b = y;
  int order =
      descending(difference(a->then_bytes, a->now_bytes), difference(b->then_bytes, b->now_bytes));
  if (order == 0) {
    order = descending(larger(a->then_bytes, a->now_bytes), larger(b->then_bytes, b->now_bytes));
  }
  return order != 0 ? order : by_place(a, b);
}

static int by_peak(const void* x, const void* y) {
  const cli_diff_tensor* a = x;
  const cli_diff_tensor* b = y;
  int order =
      descending(difference(a->then_peak, a->now_peak), difference(b->then_peak, b->now_peak));
  if (order == 0) {
    order = descending(larger(a->then_peak, a->now_peak), larger(b->then_peak, b->now_peak));
  }
  return order != 0 ? order : by_place(a, b);
}

static void sort_list(cli_list* list, int (*order)(const void*, const void*)) {
  if (list->count > 0) {
    qsort(list->items, list->count, sizeof(cli_diff_tensor), order);
  }
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

static void judge(cli_diff* diff, cli_growth growth) {
  uint64_t then = diff->then->facts.arena;
  uint64_t now = diff->now->facts.arena;
  diff->allowed = larger(growth.bytes, share_of(then, growth.millionths));
  diff->too_large = now > then && now - then > diff->allowed;
}

cli_exit cli_diff_make(cli_diff* diff, const cli_view* then, const cli_view* now,
                       cli_growth growth) {
  *diff =
      (cli_diff){.then = then, .now = now, .then_end = last_end(then), .now_end = last_end(now)};
  cli_list then_keys = {0};
  cli_list now_keys = {0};
  bool made = list_keys(then, &then_keys) && list_keys(now, &now_keys) &&
              pair_tensors(diff, &then_keys, &now_keys);
  cli_list_free(&then_keys, sizeof(cli_match_key));
  cli_list_free(&now_keys, sizeof(cli_match_key));
  if (!made) {
    return cli_fail_memory();
  }
  sort_list(&diff->tensors, by_effect);
  sort_list(&diff->peak, by_peak);
  judge(diff, growth);
  return CLI_YES;
}

void cli_diff_free(cli_diff* diff) {
  cli_list_free(&diff->tensors, sizeof(cli_diff_tensor));
  cli_list_free(&diff->peak, sizeof(cli_diff_tensor));
}

cli_diff_peak cli_diff_peak_of(const cli_diff_tensor* t) {
  return t->then_peak == 0            ? CLI_PEAK_ENTERED
         : t->now_peak == 0           ? CLI_PEAK_LEFT
         : t->now_peak > t->then_peak ? CLI_PEAK_GREW
         : t->now_peak < t->then_peak ? CLI_PEAK_SHRANK
                                      : CLI_PEAK_SAME;
}

const cli_view* cli_diff_named(const cli_diff* diff, const cli_diff_tensor* tensor,
                               size_t* out_buffer) {
  bool is = tensor->now != CLI_VIEW_NOWHERE;
  *out_buffer = is ? tensor->now : tensor->then;
  return is ? diff->now : diff->then;
}
