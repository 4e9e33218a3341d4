// Stretches of an order that can be ordered independently.
#ifndef STOWAGE_SRC_FLOW_CELLS_H_
#define STOWAGE_SRC_FLOW_CELLS_H_

#include "flow/net.h"

typedef struct stowi_flow_cell {
  uint64_t peak;   // of the best known order
  uint32_t begin;  // its first place
  uint32_t count;
} stowi_flow_cell;

typedef STOWI_VEC(stowi_flow_cell) stowi_cell_vec;

// Appends the cells of |order|, which is one of the net: runs of places between tasks that are
// comparable with every other task. Such a task has the same place in every order, so a cell holds
// the same tasks in every order and begins and ends with the same set. A task between two such
// tasks is a cell too. O(size).
stow_status stowi_flow_cells(const stowi_flow_net* net, const stowi_flow_task* order,
                             stowi_cell_vec* out_cells);

#endif  // STOWAGE_SRC_FLOW_CELLS_H_
