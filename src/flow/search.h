// Internals shared by the phases of the search for an order.
#ifndef STOWAGE_SRC_FLOW_SEARCH_H_
#define STOWAGE_SRC_FLOW_SEARCH_H_

#include "flow/bound.h"
#include "flow/cells.h"
#include "flow/state.h"
#include "flow/walk.h"

typedef struct stowi_flow_search {
  const stowi_flow_order_options* options;
  stowi_flow_net net;
  stowi_flow_state state;
  stowi_flow_task* best;  // the best order known of each cell
  stowi_flow_task* trial;
  uint64_t* given_need;  // at each place of the given order
  uint64_t* needs;       // of tasks, in |best|
  uint64_t given_peak;
  bool reduced;  // the net has links that the flow does not
  stowi_cell_vec cells;
  uint64_t settled;  // the highest peak of finished cells
  uint32_t place;    // |state| is after this many tasks of |best|
  stowi_flow_order_result result;
} stowi_flow_search;

static inline uint64_t stowi_flow_max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline uint64_t stowi_flow_min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }

// A cell need not go below this peak: no whole order would be better for it.
static inline uint64_t stowi_flow_search_floor(const stowi_flow_search* s) {
  return stowi_flow_max_u64(s->settled, stowi_flow_max_u64(s->result.bound, s->options->enough));
}

static inline uint64_t stowi_flow_search_nodes_left(const stowi_flow_search* s) {
  return s->options->nodes > s->result.nodes ? s->options->nodes - s->result.nodes : 0;
}

// Records that every order needs |bytes|, at task |critical| if known.
void stowi_flow_search_bound(stowi_flow_search* s, uint64_t bytes, stowi_flow_task critical);
// Reports progress to the caller, who may stop the search.
void stowi_flow_search_report(stowi_flow_search* s, const char* phase);
// Brings the state to after |place| tasks of |best|. Each place passed counts as a node.
void stowi_flow_search_go(stowi_flow_search* s, uint32_t place);
// The peak of |count| places of |best| from |place|, and the first place that has it.
uint64_t stowi_flow_search_peak(stowi_flow_search* s, uint32_t place, uint32_t count,
                                uint32_t* out_place);

// Lowers the peak of a cell by optimising windows.
stow_status stowi_flow_improve_cell(stowi_flow_search* s, stowi_flow_cell* cell);
// Lowers the peak of a cell as far as it helps and the budget allows.
stow_status stowi_flow_solve_cell(stowi_flow_search* s, stowi_flow_cell* cell);

#endif  // STOWAGE_SRC_FLOW_SEARCH_H_
