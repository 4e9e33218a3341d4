// Hints: what others found to make the arena smaller, kept with the plan that is shown.
#include <string.h>

#include "base/diag.h"
#include "plan/plan_internal.h"

stow_status stow_plan_add_hint(stow_plan* plan, stow_str change, uint64_t arena_size,
                               stow_diag* diag) {
  stow_allocator allocator = plan->allocator;
  char* copy = STOWI_ARRAY(allocator, char, change.size);
  if (copy == NULL || STOWI_VEC_RESERVE(allocator, &plan->hints, 1) != STOW_OK) {
    STOWI_ARRAY_FREE(allocator, copy, change.size);
    return stowi_need_memory(false, diag);
  }
  if (change.size > 0) {
    memcpy(copy, change.data, change.size);
  }
  plan->hints.data[plan->hints.count++] = (stowi_plan_hint){copy, change.size, arena_size};
  return STOW_OK;
}

size_t stow_plan_hint_count(const stow_plan* plan) { return plan->hints.count; }

stow_status stow_plan_describe_hint(const stow_plan* plan, size_t index, stow_hint* out_hint) {
  if (index >= plan->hints.count) {
    return STOW_ERR_NOT_FOUND;
  }
  const stowi_plan_hint* hint = &plan->hints.data[index];
  stow_hint full = {.struct_size = sizeof full,
                    .change = {hint->change, hint->size},
                    .arena_size = hint->arena_size};
  return stowi_fill_struct(out_hint, &full, sizeof full, "stow_hint", NULL);
}

void stowi_plan_free_hints(stow_plan* plan) {
  for (size_t i = 0; i < plan->hints.count; ++i) {
    STOWI_ARRAY_FREE(plan->allocator, plan->hints.data[i].change, plan->hints.data[i].size);
  }
  STOWI_VEC_FREE(plan->allocator, &plan->hints);
}
