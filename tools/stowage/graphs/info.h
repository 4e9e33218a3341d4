// Structs that the libraries fill, as values.
#ifndef STOWAGE_TOOLS_GRAPHS_INFO_H_
#define STOWAGE_TOOLS_GRAPHS_INFO_H_

#include <stowage/plan.h>
#include <stowage/set.h>

// Of one object, and of what it has at an index that exists.
#define CLI_INFO(name, info_type, object_type, describe)    \
  static inline info_type name(const object_type* object) { \
    info_type info = {.struct_size = sizeof info};          \
    (void)describe(object, &info);                          \
    return info;                                            \
  }
#define CLI_INFO_AT(name, info_type, object_type, index_type, describe)       \
  static inline info_type name(const object_type* object, index_type index) { \
    info_type info = {.struct_size = sizeof info};                            \
    (void)describe(object, index, &info);                                     \
    return info;                                                              \
  }
CLI_INFO(cli_plan_info, stow_plan_info, stow_plan, stow_plan_describe)
CLI_INFO(cli_plan_fit, stow_fit, stow_plan, stow_plan_describe_fit)
CLI_INFO(cli_plan_search, stow_search, stow_plan, stow_plan_describe_search)
CLI_INFO(cli_plan_ordering, stow_ordering, stow_plan, stow_plan_describe_ordering)
CLI_INFO(cli_plan_moves, stow_moves, stow_plan, stow_plan_describe_moves)
CLI_INFO(cli_set_info, stow_set_info, stow_set, stow_set_describe)
CLI_INFO(cli_placement_info, stow_placement_info, stow_placement, stow_placement_describe)
CLI_INFO_AT(cli_plan_value, stow_plan_value, stow_plan, stow_value, stow_plan_describe_value)
CLI_INFO_AT(cli_plan_decision, stow_decision, stow_plan, size_t, stow_plan_describe_decision)
CLI_INFO_AT(cli_plan_hint, stow_hint, stow_plan, size_t, stow_plan_describe_hint)
CLI_INFO_AT(cli_layout_weight, stow_weight, stow_weight_layout, size_t, stow_weight_layout_describe)
#undef CLI_INFO
#undef CLI_INFO_AT

#endif  // STOWAGE_TOOLS_GRAPHS_INFO_H_
