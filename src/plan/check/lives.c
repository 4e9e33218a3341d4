// Part of the plan checker: lifetimes.
//
// The plan's lifetimes must cover all writes and reads, and a root's also those of the values in
// it. They may be longer: rules extend them, and rules are the executor's concern. O(values).
#include <inttypes.h>

#include "base/diag.h"
#include "plan/api.h"
#include "plan/check/check.h"

typedef struct need {
  uint32_t first_write;
  uint32_t last_write;
  uint32_t last_read;
} need;

static stow_status life_fault(stowi_plan_checker* checker, stow_fault fault, stow_value value,
                              uint32_t step, const char* what) {
  uint32_t begin = stowi_plan_begin(checker->plan, value);
  uint32_t end = stowi_plan_end(checker->plan, value);
  stowi_plan_label label = stowi_plan_label_value(checker, value);
  if (stowi_plan_check_is_kept(checker, value)) {
    return stowi_plan_fault(checker, fault, value, STOW_VALUE_NONE, step,
                            "%s must be live over the whole run, [0, %" PRIu32
                            "), but is given steps [%" PRIu32 ", %" PRIu32 ")",
                            label.text, checker->node_count + 1, begin, end);
  }
  return stowi_plan_fault(
      checker, fault, value, STOW_VALUE_NONE, step,
      "%s is %s at step %" PRIu32 " by %s, but it is live over steps [%" PRIu32 ", %" PRIu32 ")",
      label.text, what, step, stowi_plan_label_step(checker, step).text, begin, end);
}

static stow_status check_life(stowi_plan_checker* checker, stow_value value, const need* all) {
  if (stowi_plan_begin(checker->plan, value) > all->first_write) {
    return life_fault(checker, STOW_FAULT_BORN_TOO_LATE, value, all->first_write, "written");
  }
  bool read_last = all->last_read >= all->last_write;
  uint32_t last = read_last ? all->last_read : all->last_write;
  if (stowi_plan_end(checker->plan, value) <= last) {
    return life_fault(checker, STOW_FAULT_REUSED_TOO_EARLY, value, last,
                      read_last ? "read" : "written");
  }
  return STOW_OK;
}

// A view's lifetime is within its root's.
static stow_status check_cover(stowi_plan_checker* checker, stow_value value, stow_value root) {
  uint32_t begin = stowi_plan_begin(checker->plan, value);
  uint32_t end = stowi_plan_end(checker->plan, value);
  uint32_t root_begin = stowi_plan_begin(checker->plan, root);
  uint32_t root_end = stowi_plan_end(checker->plan, root);
  if (begin >= root_begin && end <= root_end) {
    return STOW_OK;
  }
  stow_fault fault = begin < root_begin ? STOW_FAULT_BORN_TOO_LATE : STOW_FAULT_REUSED_TOO_EARLY;
  return stowi_plan_fault(checker, fault, root, value, begin < root_begin ? begin : root_end,
                          "%s is live over steps [%" PRIu32 ", %" PRIu32
                          "), but its view %s over [%" PRIu32 ", %" PRIu32 ")",
                          stowi_plan_label_value(checker, root).text, root_begin, root_end,
                          stowi_plan_label_value(checker, value).text, begin, end);
}

static need need_of(const stowi_plan_check_value* value) {
  return (need){value->first_write, value->last_write, value->last_read};
}

static void widen(need* whole, const stowi_plan_check_value* part) {
  whole->first_write =
      part->first_write < whole->first_write ? part->first_write : whole->first_write;
  whole->last_write = part->last_write > whole->last_write ? part->last_write : whole->last_write;
  whole->last_read = part->last_read > whole->last_read ? part->last_read : whole->last_read;
}

// Also for values without a slot: callers that bind their bytes from outside rely on their
// lifetimes.
static stow_status check_lifetimes(stowi_plan_checker* checker, need* whole) {
  for (stow_value value = 0; value < checker->value_count; ++value) {
    whole[value] = need_of(&checker->values[value]);
    STOW_TRY(check_life(checker, value, &whole[value]));
  }
  for (stow_value value = 0; value < checker->value_count; ++value) {
    widen(&whole[stow_plan_root(checker->plan, value)], &checker->values[value]);
  }
  for (stow_value value = 0; value < checker->value_count; ++value) {
    stow_value root = stow_plan_root(checker->plan, value);
    STOW_TRY(root == value ? check_life(checker, value, &whole[value])
                           : check_cover(checker, value, root));
  }
  return STOW_OK;
}

stow_status stowi_plan_check_lives(stowi_plan_checker* checker) {
  for (stow_value value = 0; value < checker->value_count; ++value) {
    if (stowi_plan_check_is_kept(checker, value)) {
      checker->values[value].first_write = 0;
      if (checker->values[value].last_read < checker->node_count) {
        checker->values[value].last_read = checker->node_count;
      }
    }
  }
  need* whole = STOWI_ARRAY(checker->allocator, need, checker->value_count);
  STOW_TRY(stowi_need_memory(whole != NULL, checker->diag));
  stow_status status = check_lifetimes(checker, whole);
  STOWI_ARRAY_FREE(checker->allocator, whole, checker->value_count);
  return status;
}
