// Part of the plan checker: the order of nodes.
//
// A region's nodes have consecutive ids, including nested regions, so a region runs in one piece
// exactly if its highest and lowest step are as far apart as its first and last id. Owners come
// after their regions, so one pass in id order sees every region complete at its owner and can fold
// its steps into the region around it. O(nodes + operands).
#include <inttypes.h>

#include "base/diag.h"
#include "graph/api.h"
#include "plan/check/check.h"

typedef struct span {
  uint32_t low, high;
} span;

static stow_status schedule_fault(stowi_plan_checker* checker, stow_node node, uint32_t step,
                                  const char* why) {
  stow_value first = stow_graph_result_count(checker->graph, node) == 0
                         ? STOW_VALUE_NONE
                         : stow_graph_first_result(checker->graph, node);
  stow_status status = stowi_plan_fault(checker, STOW_FAULT_SCHEDULE, first, STOW_VALUE_NONE, step,
                                        "%s runs at step %" PRIu32 " %s",
                                        stowi_plan_label_node(checker, node).text, step, why);
  stowi_diag_node(checker->diag, node);
  return status;
}

static stow_status fill_steps(stowi_plan_checker* checker) {
  uint32_t count = stow_plan_step_count(checker->plan);
  const stow_node* order = stow_plan_order(checker->plan);
  if (count != checker->node_count) {
    return stowi_plan_fault(checker, STOW_FAULT_SCHEDULE, STOW_VALUE_NONE, STOW_VALUE_NONE, count,
                            "the plan has %" PRIu32 " steps, but the graph has %" PRIu32 " nodes",
                            count, checker->node_count);
  }
  for (uint32_t node = 0; node < count; ++node) {
    checker->steps[node] = UINT32_MAX;
  }
  for (uint32_t step = 0; step < count; ++step) {
    if (order[step] >= count) {
      return stowi_plan_fault(checker, STOW_FAULT_SCHEDULE, STOW_VALUE_NONE, STOW_VALUE_NONE, step,
                              "step %" PRIu32 " runs node %" PRIu32 ", out of range (%" PRIu32
                              " nodes)",
                              step, order[step], count);
    }
    if (checker->steps[order[step]] != UINT32_MAX) {
      return schedule_fault(checker, order[step], step, "for the second time");
    }
    checker->steps[order[step]] = step;
  }
  return STOW_OK;
}

// Operands of a node that owns regions must exist before the first of them runs.
static uint32_t first_need(const stowi_plan_checker* checker, stow_node node, const span* ranges) {
  uint32_t step = checker->steps[node];
  for (size_t k = 0;; ++k) {
    stow_region inner = stow_graph_owned_region(checker->graph, node, k);
    if (inner == STOW_REGION_ID_NONE) {
      return step;
    }
    step = ranges[inner].low < step ? ranges[inner].low : step;
  }
}

static stow_status check_operands(stowi_plan_checker* checker, stow_node node, const span* ranges) {
  const stow_value* operands = stow_graph_operands(checker->graph, node);
  size_t count = stow_graph_operand_count(checker->graph, node);
  uint32_t step = first_need(checker, node, ranges);
  for (size_t k = 0; k < count; ++k) {
    if (operands[k] == STOW_VALUE_NONE) {
      continue;
    }
    uint32_t made = checker->steps[stow_graph_producer(checker->graph, operands[k])];
    if (made >= step) {
      return stowi_plan_fault(checker, STOW_FAULT_SCHEDULE, operands[k], STOW_VALUE_NONE, step,
                              "%s reads %s at step %" PRIu32 ", but it is made at step %" PRIu32,
                              stowi_plan_label_node(checker, node).text,
                              stowi_plan_label_value(checker, operands[k]).text, step, made);
    }
  }
  return STOW_OK;
}

static void widen(span* range, uint32_t low, uint32_t high) {
  range->low = low < range->low ? low : range->low;
  range->high = high > range->high ? high : range->high;
}

// The region |inner| is complete: its nodes, and those of nested regions, have been folded into
// |range|.
static stow_status check_region(stowi_plan_checker* checker, stow_region inner, span range) {
  stow_node first = stowi_graph_region_first(checker->graph, inner);
  stow_node last = stowi_graph_region_last(checker->graph, inner);
  if (checker->steps[last] != range.high) {
    return schedule_fault(checker, last, checker->steps[last], "but is not the last of its region");
  }
  if (stowi_plan_check_has_args(checker, inner) && checker->steps[first] != range.low) {
    return schedule_fault(checker, first, checker->steps[first],
                          "but is not the first of its region");
  }
  if (range.high - range.low != last - first) {
    return schedule_fault(checker, last, range.high,
                          "but nodes from outside run between those of its region");
  }
  return STOW_OK;
}

// Folds the regions that |node| owns into its own region.
static stow_status check_owner(stowi_plan_checker* checker, stow_node node, span* ranges) {
  span* around = &ranges[stow_graph_node_region(checker->graph, node)];
  uint32_t after = 0;  // the last step of the region before
  for (size_t k = 0;; ++k) {
    stow_region inner = stow_graph_owned_region(checker->graph, node, k);
    if (inner == STOW_REGION_ID_NONE) {
      break;
    }
    STOW_TRY(check_region(checker, inner, ranges[inner]));
    if (ranges[inner].low < after) {
      return schedule_fault(checker, node, checker->steps[node],
                            "but its regions are out of order");
    }
    after = ranges[inner].high;
    widen(around, ranges[inner].low, ranges[inner].high);
  }
  if (checker->steps[node] < after) {
    return schedule_fault(checker, node, checker->steps[node], "before the end of its regions");
  }
  widen(around, checker->steps[node], checker->steps[node]);
  return STOW_OK;
}

// Effects that refer to a later or earlier node must hold for its step too.
static stow_status check_effects(stowi_plan_checker* checker) {
  size_t holds = stowi_effects_hold_count(checker->effects);
  for (size_t i = 0; i < holds; ++i) {
    stowi_effects_hold_entry hold = stowi_effects_hold(checker->effects, i);
    uint32_t step = checker->steps[hold.node];
    if (hold.until != STOW_STEP_END && checker->steps[hold.until] < step) {
      return schedule_fault(checker, hold.node, step,
                            "after the node until which it holds an operand");
    }
  }
  size_t early = stowi_effects_early_write_count(checker->effects);
  for (size_t i = 0; i < early; ++i) {
    stowi_effects_early_write_entry write = stowi_effects_early_write(checker->effects, i);
    uint32_t step = checker->steps[write.node];
    if (checker->steps[write.from] > step) {
      return schedule_fault(checker, write.node, step,
                            "before the node from which on its result is written");
    }
  }
  return STOW_OK;
}

stow_status stowi_plan_check_schedule(stowi_plan_checker* checker) {
  STOW_TRY(fill_steps(checker));
  STOW_TRY(check_effects(checker));
  span* ranges = STOWI_ARRAY(checker->allocator, span, checker->region_count);
  STOW_TRY(stowi_need_memory(ranges != NULL, checker->diag));
  for (stow_region region = 0; region < checker->region_count; ++region) {
    ranges[region] = (span){UINT32_MAX, 0};
  }
  stow_status status = STOW_OK;
  for (stow_node node = 0; node < checker->node_count && status == STOW_OK; ++node) {
    status = check_operands(checker, node, ranges);
    if (status == STOW_OK) {
      status = check_owner(checker, node, ranges);
    }
  }
  for (stow_region region = 0; region < checker->region_count; ++region) {
    checker->entries[region] = ranges[region].low;
  }
  STOWI_ARRAY_FREE(checker->allocator, ranges, checker->region_count);
  return status;
}
