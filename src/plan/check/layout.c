// The other half of the proof of a plan that shares its weights: they are where the layout has
// them, and what the graph does not name stays free. Graph and plan alone cannot show that: if rows
// of a weight and of a gradient of the same size are swapped, the plan is still valid, but the
// weights of the forward plan are lost.
//
// One lookup by name per param, one by offset per weight that no param names: O(n log n).
#include <inttypes.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "plan/api.h"
#include "plan/check/check.h"

typedef struct layout_check {
  stowi_plan_checker checker;  // for labels and faults: only plan, graph and diag are set
  const stow_weight_layout* layout;
  bool* named;  // by weight: a param is there
} layout_check;

// ---------------------------------------------------------------------------------------------
// Params

static stow_status moved_fault(layout_check* check, stow_value value, stow_slot slot,
                               const stow_weight* weight) {
  return stowi_plan_fault(
      &check->checker, STOW_FAULT_MOVED, value, STOW_VALUE_NONE, 0,
      "param %s is at offset %" PRIu64 ", but at %" PRIu64 " in the weight layout",
      stowi_plan_label_value(&check->checker, value).text, slot.offset, weight->offset);
}

static stow_status extent_fault(layout_check* check, stow_fault fault, stow_value value,
                                const char* what, uint64_t is, uint64_t needed) {
  return stowi_plan_fault(&check->checker, fault, value, STOW_VALUE_NONE, 0,
                          "param %s has a %s of %" PRIu64 " bytes, but %" PRIu64
                          " in the weight layout",
                          stowi_plan_label_value(&check->checker, value).text, what, is, needed);
}

static stow_status check_life(layout_check* check, stow_value value) {
  const stow_plan* plan = check->checker.plan;
  uint32_t begin = stowi_plan_begin(plan, value);
  uint32_t end = stowi_plan_end(plan, value);
  uint32_t steps = stow_plan_step_count(plan);
  if (begin == 0 && end > steps) {
    return STOW_OK;
  }
  return stowi_plan_fault(
      &check->checker, begin == 0 ? STOW_FAULT_REUSED_TOO_EARLY : STOW_FAULT_BORN_TOO_LATE, value,
      STOW_VALUE_NONE, begin == 0 ? end : 0,
      "param %s is shared and must be live over the whole run, [0, %" PRIu64
      "), but is given steps [%" PRIu32 ", %" PRIu32 ")",
      stowi_plan_label_value(&check->checker, value).text, (uint64_t)steps + 1, begin, end);
}

static stow_status check_param(layout_check* check, stow_value value, stow_slot slot) {
  stow_str name = stow_graph_value_name(check->checker.graph, value);
  size_t index = stowi_plan_weight_layout_index(check->layout, name);
  if (index == STOWI_PLAN_WEIGHT_NONE) {
    return stowi_plan_fault(&check->checker, STOW_FAULT_WEIGHT, value, STOW_VALUE_NONE, 0,
                            "param %s has a slot, but is missing from the weight layout",
                            stowi_plan_label_value(&check->checker, value).text);
  }
  stow_weight weight = {.struct_size = sizeof(weight)};
  STOW_TRY(stow_weight_layout_describe(check->layout, index, &weight));
  uint64_t guard = stowi_plan_guard(check->checker.plan, value);
  if (slot.offset != weight.offset) {
    return moved_fault(check, value, slot, &weight);
  }
  if (slot.size != weight.size) {
    return extent_fault(check, STOW_FAULT_SIZE, value, "slot", slot.size, weight.size);
  }
  if (guard != weight.guard) {
    return extent_fault(check, STOW_FAULT_GUARD, value, "guard", guard, weight.guard);
  }
  check->named[index] = true;
  return check_life(check, value);
}

// ---------------------------------------------------------------------------------------------
// Reserved ranges

// Whether one reserved range contains bytes [low, high). They are sorted and disjoint, so it can
// only be the last that does not begin above |low|.
static bool is_reserved(const stow_plan* plan, uint64_t low, uint64_t high) {
  size_t first = 0;
  size_t last = stow_plan_reserved_count(plan);
  while (first < last) {
    size_t middle = first + (last - first) / 2;
    if (stow_plan_reserved_slot(plan, middle).offset <= low) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  if (first == 0) {
    return false;
  }
  stow_slot reserved = stow_plan_reserved_slot(plan, first - 1);
  return high - reserved.offset <= reserved.size;
}

// ---------------------------------------------------------------------------------------------

static stow_status run(layout_check* check) {
  STOW_TRY(stowi_plan_check_fresh(&check->checker));
  const stow_graph* graph = check->checker.graph;
  for (stow_value value = 0; value < check->checker.value_count; ++value) {
    stow_slot slot;
    if (stow_graph_op(graph, stow_graph_producer(graph, value)) == STOW_OP_PARAM &&
        stow_plan_value_slot(check->checker.plan, value, &slot)) {
      STOW_TRY(check_param(check, value, slot));
    }
  }
  for (size_t i = 0; i < stow_weight_layout_count(check->layout); ++i) {
    stow_weight weight = {.struct_size = sizeof(weight)};
    STOW_TRY(stow_weight_layout_describe(check->layout, i, &weight));
    uint64_t end = weight.offset + weight.size + weight.guard;
    if (!check->named[i] && !is_reserved(check->checker.plan, weight.offset, end)) {
      return stowi_plan_fault(&check->checker, STOW_FAULT_WEIGHT, STOW_VALUE_NONE, STOW_VALUE_NONE,
                              0,
                              "weight \"%.200s\" of the layout [%" PRIu64 ", %" PRIu64
                              ") is neither a param of the plan nor reserved",
                              weight.name.data, weight.offset, end);
    }
  }
  return STOW_OK;
}

stow_status stow_plan_check_layout(const stow_plan* plan, const stow_graph* graph,
                                   const stow_weight_layout* layout, stow_diag* diag,
                                   stow_violation* out_violation) {
  static const stow_violation none = STOWI_PLAN_NO_VIOLATION;
  STOW_TRY(stowi_plan_fill_violation(&none, diag, out_violation));
  stow_allocator allocator = plan->allocator;
  size_t count = stow_weight_layout_count(layout);
  layout_check check = {
      .checker = {.plan = plan,
                  .graph = graph,
                  .diag = diag,
                  .violation = STOWI_PLAN_NO_VIOLATION,
                  .value_count = stow_graph_value_count(graph)},
      .layout = layout,
      .named = STOWI_ARRAY_ZERO(allocator, bool, count),
  };
  stow_status status = check.named == NULL ? stowi_fail_memory(diag) : run(&check);
  (void)stowi_plan_fill_violation(&check.checker.violation, NULL, out_violation);
  STOWI_ARRAY_FREE(allocator, check.named, count);
  return status;
}
