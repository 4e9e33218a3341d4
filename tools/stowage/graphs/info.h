// Structs that the libraries fill, as values.
#ifndef STOWAGE_TOOLS_GRAPHS_INFO_H_
#define STOWAGE_TOOLS_GRAPHS_INFO_H_

#include <stowage/plan.h>
#include <stowage/set.h>

static inline stow_plan_info cli_plan_info(const stow_plan* plan) {
  stow_plan_info info = {.struct_size = sizeof info};
  (void)stow_plan_describe(plan, &info);
  return info;
}

static inline stow_plan_value cli_plan_value(const stow_plan* plan, stow_value value) {
  stow_plan_value info = {.struct_size = sizeof info};
  (void)stow_plan_describe_value(plan, value, &info);
  return info;
}

static inline stow_fit cli_plan_fit(const stow_plan* plan) {
  stow_fit info = {.struct_size = sizeof info};
  (void)stow_plan_describe_fit(plan, &info);
  return info;
}

static inline stow_search cli_plan_search(const stow_plan* plan) {
  stow_search info = {.struct_size = sizeof info};
  (void)stow_plan_describe_search(plan, &info);
  return info;
}

static inline stow_ordering cli_plan_ordering(const stow_plan* plan) {
  stow_ordering info = {.struct_size = sizeof info};
  (void)stow_plan_describe_ordering(plan, &info);
  return info;
}

// |index| exists.
static inline stow_decision cli_plan_decision(const stow_plan* plan, size_t index) {
  stow_decision info = {.struct_size = sizeof info};
  (void)stow_plan_describe_decision(plan, index, &info);
  return info;
}

// |index| exists.
static inline stow_weight cli_layout_weight(const stow_weight_layout* layout, size_t index) {
  stow_weight info = {.struct_size = sizeof info};
  (void)stow_weight_layout_describe(layout, index, &info);
  return info;
}

static inline stow_set_info cli_set_info(const stow_set* set) {
  stow_set_info info = {.struct_size = sizeof info};
  (void)stow_set_describe(set, &info);
  return info;
}

static inline stow_placement_info cli_placement_info(const stow_placement* placement) {
  stow_placement_info info = {.struct_size = sizeof info};
  (void)stow_placement_describe(placement, &info);
  return info;
}

// |region| exists.
static inline stow_region_info cli_region_info(const stow_graph* graph, stow_region region) {
  stow_region_info info = {.struct_size = sizeof info};
  (void)stow_graph_describe_region(graph, region, &info);
  return info;
}

#endif  // STOWAGE_TOOLS_GRAPHS_INFO_H_
