// Proves that plans can take turns in one arena. What a graph keeps between runs must survive the
// runs of all others: its footprint is reserved there, or holds the same value. Each plan is proved
// alone by stow_plan_check, which also proves that nothing is placed in what it reserves.
//
// For every pair of plans one lookup per kept value: O(plans × n log n).
#include <inttypes.h>
#include <stowage/set.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/sort.h"
#include "plan/api.h"
#include "plan/check/check.h"

// A root that is kept between runs.
typedef struct kept {
  stow_str name;
  stow_value value;
  uint64_t offset;
  uint64_t size;
  uint64_t guard;
  bool state;  // runs may change it
  bool whole;  // no window ever leaves a part of it to others
} kept;

typedef struct turn {
  stowi_plan_checker checker;  // for labels and faults: plan, graph, effects and diag are set
  STOWI_VEC(kept) list;        // by name, then id
  STOWI_VEC(stowi_plan_span) reserved;  // by offset; touching ones joined
} turn;

// ---------------------------------------------------------------------------------------------
// What is kept

static bool is_weight(const stowi_plan_checker* checker, stow_value value) {
  return stowi_plan_check_is_op(checker, value, STOW_OP_PARAM) ||
         stowi_plan_check_is_op(checker, value, STOW_OP_CONSTANT);
}

static int compare_kept(const void* a, const void* b, const void* context) {
  const kept* x = (const kept*)a;
  const kept* y = (const kept*)b;
  (void)context;
  int by_name = stow_str_compare(x->name, y->name);
  if (by_name != 0) {
    return by_name;
  }
  return x->value < y->value ? -1 : x->value > y->value;
}

static stow_status add_kept(turn* t, stow_value root, bool state) {
  const stowi_plan_checker* checker = &t->checker;
  stow_slot slot;
  if (!stow_plan_value_slot(checker->plan, root, &slot)) {
    return STOW_OK;
  }
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(checker->allocator, &t->list, 1) == STOW_OK,
                             checker->diag));
  t->list.data[t->list.count++] = (kept){.name = stow_graph_value_name(checker->graph, root),
                                         .value = root,
                                         .offset = slot.offset,
                                         .size = slot.size,
                                         .guard = stowi_plan_guard(checker->plan, root),
                                         .state = state,
                                         .whole = stow_plan_window_count(checker->plan, root) == 0};
  return STOW_OK;
}

// By root: whether something in it is kept, whether some of that is state.
typedef enum mark { MARK_NONE, MARK_WEIGHT, MARK_STATE } mark;

static stow_status collect_kept(turn* t, mark* marks) {
  const stowi_plan_checker* checker = &t->checker;
  for (stow_value value = 0; value < checker->value_count; ++value) {
    stow_value root = stow_plan_root(checker->plan, value);
    if (root >= checker->value_count) {
      return stowi_plan_fault(&t->checker, STOW_FAULT_VIEW_OUTSIDE, value, STOW_VALUE_NONE, 0,
                              "%s has root %%%" PRIu32 ", which does not exist",
                              stowi_plan_label_value(checker, value).text, root);
    }
    if (stowi_effects_state(checker->effects, value)) {
      marks[root] = MARK_STATE;
    } else if (is_weight(checker, value) && marks[root] == MARK_NONE) {
      marks[root] = MARK_WEIGHT;
    }
  }
  for (stow_value value = 0; value < checker->value_count; ++value) {
    if (marks[value] != MARK_NONE) {
      STOW_TRY(add_kept(t, value, marks[value] == MARK_STATE));
    }
  }
  return STOW_OK;
}

static stow_status gather_kept(turn* t) {
  const stowi_plan_checker* checker = &t->checker;
  mark* marks = STOWI_ARRAY_ZERO(checker->allocator, mark, checker->value_count);
  STOW_TRY(stowi_need_memory(marks != NULL, checker->diag));
  stow_status status = collect_kept(t, marks);
  STOWI_ARRAY_FREE(checker->allocator, marks, checker->value_count);
  STOW_TRY(status);
  status =
      stowi_sort(t->list.data, t->list.count, sizeof(kept), compare_kept, NULL, checker->allocator);
  return status == STOW_OK ? STOW_OK : stowi_fail_memory(checker->diag);
}

static stow_status add_reserved(turn* t) {
  const stowi_plan_checker* checker = &t->checker;
  size_t count = stow_plan_reserved_count(checker->plan);
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(checker->allocator, &t->reserved, count) == STOW_OK,
                             checker->diag));
  for (size_t i = 0; i < count; ++i) {
    stow_slot slot = stow_plan_reserved_slot(checker->plan, i);
    stowi_plan_span* last =
        t->reserved.count == 0 ? NULL : &t->reserved.data[t->reserved.count - 1];
    uint64_t end = slot.offset + slot.size;
    if (last != NULL && slot.offset <= last->end) {
      last->end = end > last->end ? end : last->end;
    } else {
      t->reserved.data[t->reserved.count++] = (stowi_plan_span){slot.offset, end};
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// One against another

static bool is_reserved(const turn* t, uint64_t begin, uint64_t end) {
  size_t low = 0;
  size_t high = t->reserved.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (t->reserved.data[middle].end < end) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < t->reserved.count && t->reserved.data[low].offset <= begin;
}

static bool has_other_data(const turn* a, const kept* x, const turn* b, const kept* y) {
  size_t size_x = 0;
  size_t size_y = 0;
  const void* data_x = stow_graph_data(a->checker.graph, x->value, &size_x);
  const void* data_y = stow_graph_data(b->checker.graph, y->value, &size_y);
  bool known = data_x != NULL && data_y != NULL;
  return known && (size_x != size_y || (data_x != data_y && memcmp(data_x, data_y, size_x) != 0));
}

// Whether |x| and |y|, of one name, are the same value.
static bool is_same(const turn* a, const kept* x, const turn* b, const kept* y) {
  return x->size == y->size && (x->state || y->state || !has_other_data(a, x, b, y));
}

// The value of |b| that is the same as |x|, or NULL. No two values of a graph have one name.
static const kept* find_same(const turn* a, const kept* x, const turn* b) {
  size_t low = 0;
  size_t high = b->list.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (stow_str_compare(b->list.data[middle].name, x->name) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  bool found = x->name.size != 0 && low < b->list.count &&
               stow_str_equal(b->list.data[low].name, x->name) &&
               is_same(a, x, b, &b->list.data[low]);
  return found ? &b->list.data[low] : NULL;
}

// Whether runs of |b| leave the footprint of |x| unchanged. stow_plan_check proves that |b|'s own
// copy of it (|y|; NULL: none) is disjoint from everything else, as long as no window takes a part
// away.
static bool is_safe(const kept* x, const turn* b, const kept* y) {
  uint64_t begin = x->offset;
  uint64_t end = x->offset + x->size + x->guard;
  if (y != NULL && y->whole) {
    begin += y->size + y->guard;
  }
  return begin >= end || is_reserved(b, begin, end);
}

static stow_status check_kept(turn* a, const kept* x, const turn* b) {
  stow_str graph = stow_graph_name(a->checker.graph);
  stow_str other = stow_graph_name(b->checker.graph);
  const kept* y = find_same(a, x, b);
  if (y != NULL && y->offset != x->offset) {
    return stowi_plan_fault(&a->checker, STOW_FAULT_KEPT, x->value, STOW_VALUE_NONE, 0,
                            "%s is at offset %" PRIu64 " in the plan of @%.*s and at %" PRIu64
                            " in that of @%.*s",
                            stowi_plan_label_value(&a->checker, x->value).text, x->offset,
                            STOWI_STR_ARG(graph), y->offset, STOWI_STR_ARG(other));
  }
  if (is_safe(x, b, y)) {
    return STOW_OK;
  }
  return stowi_plan_fault(&a->checker, STOW_FAULT_KEPT, x->value, STOW_VALUE_NONE, 0,
                          "%s of @%.*s, kept between runs, is in [%" PRIu64 ", %" PRIu64
                          "), which the plan of @%.*s does not reserve",
                          stowi_plan_label_value(&a->checker, x->value).text, STOWI_STR_ARG(graph),
                          x->offset, x->offset + x->size + x->guard, STOWI_STR_ARG(other));
}

static stow_status check_turns(turn* turns, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    turn* t = &turns[i];
    stowi_plan_checker* checker = &t->checker;
    if (!stowi_effects_are_of(checker->effects, checker->graph)) {
      return stowi_fail(checker->diag, STOW_ERR_INVALID_ARGUMENT,
                        "the effects were made for another graph, or the graph has grown since");
    }
    STOW_TRY(stowi_plan_check_fresh(checker));
    STOW_TRY(gather_kept(t));
    STOW_TRY(add_reserved(t));
  }
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < count; ++j) {
      for (size_t k = 0; i != j && k < turns[i].list.count; ++k) {
        STOW_TRY(check_kept(&turns[i], &turns[i].list.data[k], &turns[j]));
      }
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

static void report(const turn* turns, size_t count, stow_violation* out_violation) {
  for (size_t i = 0; i < count; ++i) {
    if (turns[i].checker.violation.fault != STOW_FAULT_NONE) {
      (void)stowi_plan_fill_violation(&turns[i].checker.violation, NULL, out_violation);
      return;
    }
  }
}

stow_status stow_set_check(const stow_plan* const* plans, const stow_graph* const* graphs,
                           const stow_effects* const* effects, size_t count,
                           stow_allocator allocator, stow_diag* diag,
                           stow_violation* out_violation) {
  static const stow_violation none = STOWI_PLAN_NO_VIOLATION;
  STOW_TRY(stowi_plan_fill_violation(&none, diag, out_violation));
  turn* turns = STOWI_ARRAY_ZERO(allocator, turn, count);
  STOW_TRY(stowi_need_memory(turns != NULL, diag));
  for (size_t i = 0; i < count; ++i) {
    stowi_plan_checker* checker = &turns[i].checker;
    checker->plan = plans[i];
    checker->graph = graphs[i];
    checker->effects = effects == NULL ? NULL : effects[i];
    checker->allocator = allocator;
    checker->diag = diag;
    checker->violation = none;
    checker->node_count = stow_graph_node_count(graphs[i]);
    checker->value_count = stow_graph_value_count(graphs[i]);
    checker->region_count = stow_graph_region_count(graphs[i]);
  }
  stow_status status = check_turns(turns, count);
  report(turns, count, out_violation);
  for (size_t i = 0; i < count; ++i) {
    STOWI_VEC_FREE(allocator, &turns[i].list);
    STOWI_VEC_FREE(allocator, &turns[i].reserved);
  }
  STOWI_ARRAY_FREE(allocator, turns, count);
  return status;
}
