// Part of the plan checker: the number of bytes that every value occupies. O(values).
#include <inttypes.h>

#include "base/checked.h"
#include "base/diag.h"
#include "plan/check/check.h"

static stow_status size_fail(stowi_plan_checker* checker, stow_value value, stow_status status) {
  return stowi_fail(checker->diag, status, "%s: %s", stowi_plan_label_value(checker, value).text,
                    stow_status_text(status));
}

// At least four bytes per element if the plan says so; otherwise the elements' own width.
static stow_status size_of(stowi_plan_checker* checker, stow_value value, uint64_t* out_bytes) {
  const stow_type* type = stow_graph_type(checker->graph, value);
  stow_status status;
  if (!checker->plan->facts.f32_uniform) {
    status = stow_type_bytes(type, out_bytes);
  } else {
    uint64_t elements = 0;
    uint64_t width = stow_dtype_bits(type->dtype) / 8;
    status = stow_type_elements(type, &elements);
    if (status == STOW_OK && !stowi_mul_u64(elements, width < 4 ? 4 : width, out_bytes)) {
      status = STOW_ERR_OVERFLOW;
    }
  }
  return status == STOW_OK ? STOW_OK : size_fail(checker, value, status);
}

static bool has_right_size(const stowi_plan_checker* checker, stow_value value, uint64_t size) {
  const stowi_plan_facts* facts = &checker->plan->facts;
  uint64_t bytes = checker->values[value].bytes;
  if (bytes != 0 || !stow_graph_is_boundary(checker->graph, value)) {
    return size == bytes;
  }
  // A boundary value without bytes has a slot only as an address. A shared weight's slot is as
  // large as in the plan that it is shared with.
  bool shared = facts->params == STOWI_PLAN_PARAMS_SHARED ||
                facts->params == STOWI_PLAN_PARAMS_SHARED_OR_NONE;
  return size == facts->alignment ||
         (shared && stowi_plan_check_is_op(checker, value, STOW_OP_PARAM));
}

stow_status stowi_plan_check_sizes(stowi_plan_checker* checker) {
  for (stow_value value = 0; value < checker->value_count; ++value) {
    uint64_t bytes = stowi_effects_storage(checker->effects, value);
    if (bytes == STOW_BYTES_DEFAULT) {
      STOW_TRY(size_of(checker, value, &bytes));
    }
    checker->values[value].bytes = bytes;
    stow_slot slot;
    if (stow_plan_value_slot(checker->plan, value, &slot) &&
        !has_right_size(checker, value, slot.size)) {
      return stowi_plan_fault(checker, STOW_FAULT_SIZE, value, STOW_VALUE_NONE,
                              checker->steps[stow_graph_producer(checker->graph, value)],
                              "%s has a slot of %" PRIu64 " bytes, but needs %" PRIu64,
                              stowi_plan_label_value(checker, value).text, slot.size, bytes);
    }
  }
  return STOW_OK;
}
