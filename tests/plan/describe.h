// Structs that stow_plan_describe_… and the like fill, as values.
#ifndef STOWAGE_TESTS_PLAN_DESCRIBE_H_
#define STOWAGE_TESTS_PLAN_DESCRIBE_H_

#include <stowage/plan.h>

#include "support/test.h"

static inline stow_fit fit_of(const stow_plan* plan) {
  stow_fit info = {.struct_size = sizeof(info)};
  CHECK(stow_plan_describe_fit(plan, &info) == STOW_OK);
  return info;
}

static inline stow_search search_of(const stow_plan* plan) {
  stow_search info = {.struct_size = sizeof(info)};
  CHECK(stow_plan_describe_search(plan, &info) == STOW_OK);
  return info;
}

static inline stow_ordering ordering_of(const stow_plan* plan) {
  stow_ordering info = {.struct_size = sizeof(info)};
  CHECK(stow_plan_describe_ordering(plan, &info) == STOW_OK);
  return info;
}

static inline stow_decision decision_of(const stow_plan* plan, size_t index) {
  stow_decision info = {.struct_size = sizeof(info)};
  CHECK(stow_plan_describe_decision(plan, index, &info) == STOW_OK);
  return info;
}

static inline stow_weight weight_of(const stow_weight_layout* layout, size_t index) {
  stow_weight info = {.struct_size = sizeof(info)};
  CHECK(stow_weight_layout_describe(layout, index, &info) == STOW_OK);
  return info;
}

#endif  // STOWAGE_TESTS_PLAN_DESCRIBE_H_
