// Row spaces: how the nodes of a cluster are computed row by row.
//
// All values that the cluster makes have the same rank and agree in their first dims. These are
// divided into groups and rows; what remains of a value is the unit that it has for each row:
//
//     [1, 12, 128, 64]     attention: 12 groups of 128 rows
//      ~~~~~  ~~~  ~~
//     groups rows unit
//
// Operands from outside may lack groups or rows: they are broadcast along these dims.
#ifndef STOWAGE_SRC_REWRITE_SPACE_H_
#define STOWAGE_SRC_REWRITE_SPACE_H_

#include "graph/api.h"

typedef struct stowi_rewrite_space {
  uint32_t rank;
  stow_dim dims[STOW_MAX_RANK];
  int64_t sizes[STOW_MAX_RANK];  // at the largest point: what is counted is counted there
  uint32_t most;     // values agree in the dims before this one, and no node mixes these
  bool has_product;  // the unit is the last dim
  // Chosen at the end: groups are the dims [0, groups), rows [groups, units).
  uint32_t groups;
  uint32_t units;
} stowi_rewrite_space;

// How a node of a cluster reads an operand.
typedef enum stowi_rewrite_use {
  STOWI_REWRITE_ALIGNED,  // at the last dim; dims that are 1 or missing are broadcast
  STOWI_REWRITE_RIGHT,    // of a product: a matrix for each group
  STOWI_REWRITE_WHOLE,    // for every row
} stowi_rewrite_use;
stowi_rewrite_use stowi_rewrite_use_of(const stow_graph* graph, stow_node node, size_t k);

// What a function gets of an operand for a block.
typedef struct stowi_rewrite_part {
  bool by_rows;
  uint64_t slices;  // groups that have parts of their own
  int64_t divide;   // consecutive groups with the same part
  uint32_t rank;    // of its unit
  stow_dim unit[STOW_MAX_RANK];
} stowi_rewrite_part;

// A space with the dims of |node|'s result, whose sizes are those of |sized|; false if the node can
// be in no cluster.
bool stowi_rewrite_space_begin(stowi_rewrite_space* space, const stow_graph* graph,
                               const stow_graph* sized, stow_node node);
// Restricts the space so that |node| can be computed in it too; false, and nothing changes, if it
// cannot be.
bool stowi_rewrite_space_join(stowi_rewrite_space* space, const stow_graph* graph, stow_node node);

// With groups and rows chosen.
uint64_t stowi_rewrite_space_groups(const stowi_rewrite_space* space);
uint64_t stowi_rewrite_space_rows(const stowi_rewrite_space* space);
// How a value of type |type| from outside is cut; false if it cannot be.
bool stowi_rewrite_space_cut(const stowi_rewrite_space* space, const stow_type* type,
                             stowi_rewrite_use use, stowi_rewrite_part* out_part);
// The bytes that a value which the cluster makes has for each row; dims of |type| are numbers.
uint64_t stowi_rewrite_space_unit(const stowi_rewrite_space* space, const stow_type* type);

#endif  // STOWAGE_SRC_REWRITE_SPACE_H_
