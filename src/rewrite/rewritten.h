// The inside of a rewritten graph.
#ifndef STOWAGE_SRC_REWRITE_REWRITTEN_H_
#define STOWAGE_SRC_REWRITE_REWRITTEN_H_

#include <stowage/rewrite.h>

#include "base/alloc.h"
#include "base/pool.h"

struct stow_rewritten {
  stow_allocator allocator;
  const stow_graph* from;  // as it was handed in
  stow_graph* graph;       // NULL: nothing was rewritten
  stow_graph* fold_graph;  // NULL: nothing was folded
  uint32_t value_count;    // of |from|
  stow_value* map;         // by value of |from|; STOW_VALUE_NONE: gone
  uint8_t* removed_by;     // by value of |from|
  stow_value* origin;      // by value of |graph|: one of |from| that it stands for
  uint32_t origin_count;
  size_t counts[STOW_REWRITE_RULE_COUNT];
  STOWI_VEC(stow_rewrite_firing) firings;
  stowi_pool pool;  // texts of firings
  stow_rewrite_options options;
  stow_rewritten_info info;
};

#endif  // STOWAGE_SRC_REWRITE_REWRITTEN_H_
