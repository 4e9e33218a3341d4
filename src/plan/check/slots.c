// Part of the plan checker: which values have a slot, and whether it is valid. O(values + scratch).
#include <inttypes.h>

#include "base/checked.h"
#include "base/diag.h"
#include "plan/api.h"
#include "plan/check/check.h"

static uint32_t birth(const stowi_plan_checker* checker, stow_value value) {
  return checker->steps[stow_graph_producer(checker->graph, value)];
}

static bool is_root(const stowi_plan_checker* checker, stow_value value) {
  return stow_plan_root(checker->plan, value) == value;
}

static bool is_shared_param(const stowi_plan_checker* checker, stow_value value) {
  stowi_plan_params params = checker->plan->facts.params;
  return (params == STOWI_PLAN_PARAMS_SHARED || params == STOWI_PLAN_PARAMS_SHARED_OR_NONE) &&
         stowi_plan_check_is_op(checker, value, STOW_OP_PARAM);
}

// ---------------------------------------------------------------------------------------------
// One slot

static stow_status check_alignment(stowi_plan_checker* checker, stow_value value, uint64_t offset,
                                   uint64_t alignment, const char* what) {
  if (stowi_is_power_of_two(alignment) && offset % alignment == 0) {
    return STOW_OK;
  }
  return stowi_plan_fault(
      checker, STOW_FAULT_MISALIGNED, value, STOW_VALUE_NONE, birth(checker, value),
      "%s is at offset %" PRIu64 ", which is not a multiple of its %s alignment %" PRIu64,
      stowi_plan_label_value(checker, value).text, offset, what, alignment);
}

// Whatever is written is aligned as the options and its effects demand, which the arena's base must
// allow. A view is where its root places it, but what is declared for it holds as well.
static stow_status check_place(stowi_plan_checker* checker, stow_value value, stow_slot slot) {
  uint64_t needed = stowi_effects_alignment(checker->effects, value);
  uint64_t fixed = stowi_effects_offset(checker->effects, value);
  uint64_t common = checker->plan->facts.alignment;
  if (is_root(checker, value) || checker->values[value].made == STOWI_PLAN_MADE_WRITTEN) {
    needed = needed > common ? needed : common;
  }
  if (is_root(checker, value)) {
    STOW_TRY(check_alignment(checker, value, slot.offset,
                             stowi_plan_value_alignment(checker->plan, value), "own"));
  }
  if (needed != 0) {
    STOW_TRY(check_alignment(checker, value, slot.offset, needed, "needed"));
    STOW_TRY(check_alignment(checker, value, slot.offset + checker->values[value].pitch, needed,
                             "rows'"));
  }
  if (needed > stowi_plan_alignment(checker->plan)) {
    return stowi_plan_fault(
        checker, STOW_FAULT_MISALIGNED, value, STOW_VALUE_NONE, birth(checker, value),
        "%s needs an alignment of %" PRIu64 ", but the arena has only %" PRIu64,
        stowi_plan_label_value(checker, value).text, needed, stowi_plan_alignment(checker->plan));
  }
  if (fixed != STOW_OFFSET_NONE && fixed != slot.offset) {
    return stowi_plan_fault(checker, STOW_FAULT_MOVED, value, STOW_VALUE_NONE,
                            birth(checker, value),
                            "%s is at offset %" PRIu64 ", but is fixed at %" PRIu64,
                            stowi_plan_label_value(checker, value).text, slot.offset, fixed);
  }
  return STOW_OK;
}

static bool footprint_end(stow_slot slot, uint64_t guard, uint64_t* out_end) {
  return stowi_add_u64(slot.offset, slot.size, out_end) && stowi_add_u64(*out_end, guard, out_end);
}

static stow_status check_end(stowi_plan_checker* checker, stow_value value, stow_slot slot,
                             uint64_t* highest) {
  uint64_t guard = stowi_plan_guard(checker->plan, value);
  uint64_t size = stow_plan_arena_size(checker->plan);
  uint64_t end = UINT64_MAX;
  if (!footprint_end(slot, guard, &end) || end > size) {
    return stowi_plan_fault(
        checker, STOW_FAULT_OUTSIDE_ARENA, value, STOW_VALUE_NONE, birth(checker, value),
        "%s is %" PRIu64 " bytes and %" PRIu64 " of guard at offset %" PRIu64
        ", but the arena has %" PRIu64,
        stowi_plan_label_value(checker, value).text, slot.size, guard, slot.offset, size);
  }
  *highest = end > *highest ? end : *highest;
  return STOW_OK;
}

// A shared weight's guard is that of the plan that it is shared with.
static stow_status check_guard(stowi_plan_checker* checker, stow_value value) {
  const stowi_plan_facts* facts = &checker->plan->facts;
  if (!stow_graph_is_boundary(checker->graph, value) || is_shared_param(checker, value) ||
      facts->tail_guard == 0) {
    return STOW_OK;
  }
  uint64_t needed = facts->tail_guard > facts->alignment ? facts->tail_guard : facts->alignment;
  uint64_t guard = stowi_plan_guard(checker->plan, value);
  if (guard >= needed) {
    return STOW_OK;
  }
  return stowi_plan_fault(checker, STOW_FAULT_GUARD, value, STOW_VALUE_NONE, birth(checker, value),
                          "%s has a guard of %" PRIu64 " bytes, but needs %" PRIu64,
                          stowi_plan_label_value(checker, value).text, guard, needed);
}

// ---------------------------------------------------------------------------------------------
// No slot

static stow_status missing_fault(stowi_plan_checker* checker, stow_value value, const char* why) {
  return stowi_plan_fault(checker, STOW_FAULT_MISSING, value, STOW_VALUE_NONE,
                          birth(checker, value), "%s needs %" PRIu64 " bytes, but has no slot: %s",
                          stowi_plan_label_value(checker, value).text, checker->values[value].bytes,
                          why);
}

// Whether the options give boundary values of this kind slots.
static bool kind_has_slots(const stowi_plan_checker* checker, stow_value value) {
  const stowi_plan_facts* facts = &checker->plan->facts;
  if (stowi_plan_check_is_op(checker, value, STOW_OP_INPUT)) {
    return facts->inputs;
  }
  if (stowi_plan_check_is_op(checker, value, STOW_OP_CONSTANT)) {
    return facts->constants;
  }
  return facts->params == STOWI_PLAN_PARAMS_OWN || facts->params == STOWI_PLAN_PARAMS_SHARED;
}

static stow_status check_missing(stowi_plan_checker* checker, stow_value value) {
  stow_slot slot;
  stow_value root = stow_plan_root(checker->plan, value);
  bool boundary = stow_graph_is_boundary(checker->graph, value);
  bool empty = checker->values[value].bytes == 0;
  if (root != value) {
    bool excused = empty || !stow_plan_value_slot(checker->plan, root, &slot);
    return excused ? STOW_OK : missing_fault(checker, value, "it is a view whose root has one");
  }
  if (stowi_plan_check_policy(checker, value) == STOW_IO_EXTERNAL) {
    return STOW_OK;
  }
  if (!boundary) {
    return empty ? STOW_OK : missing_fault(checker, value, "it is computed, not a view");
  }
  if (!kind_has_slots(checker, value) || (empty && !checker->plan->facts.zero_size_slots)) {
    return STOW_OK;
  }
  return missing_fault(checker, value, "the plan's options give its kind slots");
}

// ---------------------------------------------------------------------------------------------
// Scratch

static stow_status scratch_fault(stowi_plan_checker* checker, stow_fault fault, stow_node node,
                                 const char* what, uint64_t is, uint64_t needed) {
  uint32_t step = checker->steps[node];
  stow_status status =
      stowi_plan_fault(checker, fault, STOW_VALUE_NONE, STOW_VALUE_NONE, step,
                       "scratch of %s at step %" PRIu32 ": %s %" PRIu64 ", expected %" PRIu64,
                       stowi_plan_label_node(checker, node).text, step, what, is, needed);
  checker->violation.first_scratch = node;
  stowi_diag_node(checker->diag, node);
  return status;
}

static stow_status check_scratch(stowi_plan_checker* checker, size_t index, uint64_t* highest) {
  stowi_effects_scratch_entry need = stowi_effects_scratch(checker->effects, index);
  stow_node node = STOW_NODE_NONE;
  stow_slot slot = {0, 0, 0};
  uint64_t claimed = 0;
  stow_plan_scratch_slot(checker->plan, index, &node, &slot, &claimed);
  if (node != need.node) {
    return scratch_fault(checker, STOW_FAULT_MISSING, need.node, "the plan lists node", node,
                         need.node);
  }
  if (slot.size < need.bytes) {
    return scratch_fault(checker, STOW_FAULT_SIZE, node, "bytes", slot.size, need.bytes);
  }
  if (claimed < need.alignment || claimed > stowi_plan_alignment(checker->plan)) {
    return scratch_fault(checker, STOW_FAULT_MISALIGNED, node, "alignment", claimed,
                         need.alignment);
  }
  if (!stowi_is_power_of_two(claimed) || slot.offset % claimed != 0) {
    return scratch_fault(checker, STOW_FAULT_MISALIGNED, node, "offset", slot.offset, claimed);
  }
  uint64_t end = UINT64_MAX;
  if (!footprint_end(slot, 0, &end) || end > stow_plan_arena_size(checker->plan)) {
    return scratch_fault(checker, STOW_FAULT_OUTSIDE_ARENA, node, "arena size",
                         stow_plan_arena_size(checker->plan), end);
  }
  *highest = end > *highest ? end : *highest;
  return STOW_OK;
}

static stow_status check_all_scratch(stowi_plan_checker* checker, uint64_t* highest) {
  size_t needed = stowi_effects_scratch_count(checker->effects);
  size_t listed = stow_plan_scratch_count(checker->plan);
  if (listed != needed) {
    return stowi_plan_fault(checker, STOW_FAULT_MISSING, STOW_VALUE_NONE, STOW_VALUE_NONE, 0,
                            "the plan lists %zu pieces of scratch, but the effects list %zu",
                            listed, needed);
  }
  for (size_t i = 0; i < needed; ++i) {
    STOW_TRY(check_scratch(checker, i, highest));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

stow_status stowi_plan_check_slots(stowi_plan_checker* checker) {
  uint64_t highest = 0;
  for (stow_value value = 0; value < checker->value_count; ++value) {
    stow_slot slot;
    if (!stow_plan_value_slot(checker->plan, value, &slot)) {
      STOW_TRY(check_missing(checker, value));
      continue;
    }
    STOW_TRY(check_place(checker, value, slot));
    STOW_TRY(check_end(checker, value, slot, &highest));
    if (is_root(checker, value)) {
      STOW_TRY(check_guard(checker, value));
    }
  }
  STOW_TRY(check_all_scratch(checker, &highest));
  checker->highest = highest;
  return STOW_OK;
}

stow_status stowi_plan_check_arena_size(stowi_plan_checker* checker) {
  uint64_t size = stow_plan_arena_size(checker->plan);
  uint64_t highest = checker->highest;
  for (size_t i = 0; i < checker->plan->reserved_count; ++i) {
    uint64_t end = checker->plan->reserved[i].end;
    highest = end > highest ? end : highest;
  }
  if (size == highest) {
    return STOW_OK;
  }
  return stowi_plan_fault(
      checker, STOW_FAULT_ARENA_SIZE, STOW_VALUE_NONE, STOW_VALUE_NONE, 0,
      "the arena has %" PRIu64 " bytes, but the highest footprint ends at %" PRIu64, size, highest);
}
