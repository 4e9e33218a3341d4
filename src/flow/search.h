// Internals shared by the phases of the search for an order.
#ifndef STOWAGE_SRC_FLOW_SEARCH_H_
#define STOWAGE_SRC_FLOW_SEARCH_H_

#include "flow/net.h"
#include "flow/state.h"
#include "flow/walk.h"

// Lower bounds on the bytes that every order needs at some task.

typedef struct stowi_flow_peak_bound {
  uint64_t bytes;
  stowi_flow_task critical;  // or STOWI_FLOW_TASK_NONE
} stowi_flow_peak_bound;

// The highest need of a single task: what it reads, what it makes, and what is always there.
// O(size).
stowi_flow_peak_bound stowi_flow_bound_of_tasks(const stowi_flow_net* net);

#define STOWI_FLOW_CUT_WORK 20000000  // arcs: some 100 ms

// Raises |bound| by minimum cuts at the tasks with the highest |needs|, the needs of some order: no
// bound at a task exceeds its need there. |work| counts the arcs and tasks visited.
stow_status stowi_flow_bound_by_cuts(const stowi_flow_net* net, const uint64_t* needs,
                                     uint64_t work, stowi_flow_peak_bound* bound);

// Adds links to the net that exclude orders, but not all best ones, and writes an order that obeys
// them. |out_changed|: whether any were added. O(size).
stow_status stowi_flow_reduce(stowi_flow_net* net, stowi_flow_task* out_order, bool* out_changed);

// ---------------------------------------------------------------------------------------------
// Orders made in one pass: cheap, often good, and a first limit for the searches.

typedef enum stowi_flow_pick {
  STOWI_FLOW_PICK_GROWTH,  // what adds least, then what needs least
  STOWI_FLOW_PICK_TIGHT,   // the same among those that do not raise the peak so far
  STOWI_FLOW_PICK_RECENT,  // what adds least, then what became ready last
  STOWI_FLOW_PICK_COUNT
} stowi_flow_pick;

// From the first task on, or |backwards|, choosing the last task first. The order is valid for the
// net; |state| is used up. O(n log n) if each task reads few blocks.
stow_status stowi_flow_list_order(stowi_flow_state* state, stowi_flow_pick pick, bool backwards,
                                  stowi_flow_task* out_order);
// Depth first: what a task waits for is made just before it, what needs most first. |backwards|:
// what waits for a task runs just after it. |sorted| is any order of the net.
stow_status stowi_flow_post_order(const stowi_flow_net* net, const stowi_flow_task* sorted,
                                  bool backwards, stowi_flow_task* out_order);

// ---------------------------------------------------------------------------------------------
// Stretches of an order that can be ordered independently.

typedef struct stowi_flow_cell {
  uint64_t peak;   // of the best known order
  uint32_t begin;  // its first place
  uint32_t count;
} stowi_flow_cell;

typedef STOWI_VEC(stowi_flow_cell) stowi_flow_cell_vec;

// Appends the cells of |order|, which is one of the net: runs of places between tasks that are
// comparable with every other task. Such a task has the same place in every order, so a cell holds
// the same tasks in every order and begins and ends with the same set. A task between two such
// tasks is a cell too. O(size).
stow_status stowi_flow_cells(const stowi_flow_net* net, const stowi_flow_task* order,
                             stowi_flow_cell_vec* out_cells);

// ---------------------------------------------------------------------------------------------
// The search.

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
  stowi_flow_cell_vec cells;
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
