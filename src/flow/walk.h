// Sets of tasks of a stretch of an order, kept while a search walks from one to the next.
// Everything before the stretch has run, nothing after it has; only the stretch's tasks change
// places. Sets grow from none to all, forwards or *backwards*: then they hold the tasks that are
// placed last.
#ifndef STOWAGE_SRC_FLOW_WALK_H_
#define STOWAGE_SRC_FLOW_WALK_H_

#include "base/hash.h"
#include "flow/state.h"

typedef struct stowi_flow_stretch {
  stowi_flow_task* tasks;  // in an order of the net
  uint32_t count;
} stowi_flow_stretch;

// A set that has been reached.
typedef struct stowi_flow_set {
  uint64_t peak;   // of the best path to it
  uint64_t bytes;  // that exist at it
  uint64_t hash;
  uint32_t from;   // the set before it on that path
  uint32_t step;   // the task that leads here, as a place in the stretch
  uint32_t depth;  // number of tasks in it
  bool closed;     // already expanded
} stowi_flow_set;

// A task that can be added to the current set.
typedef struct stowi_flow_step {
  uint64_t need;
  uint64_t bytes;  // afterwards
  uint32_t place;  // in the stretch
} stowi_flow_step;

typedef struct stowi_flow_walk {
  stowi_flow_state* state;
  stow_allocator allocator;
  stowi_flow_stretch stretch;
  bool backwards;
  bool is_open;
  size_t words;                    // per set
  uint64_t* here;                  // the set that |state| is at
  uint64_t* next;                  // a set being looked up
  STOWI_VEC(uint64_t) bits;        // of all sets
  STOWI_VEC(stowi_flow_set) sets;  // 0: the empty one
  size_t max_sets;                 // limits memory
  stowi_index index;
  stowi_flow_step* steps;  // room for every task of the stretch
  stowi_flow_task* order;  // likewise: the order that closing gives the stretch
  bool has_order;
  uint64_t nodes;  // tasks tried
} stowi_flow_walk;

// |state| is at the beginning of the stretch, and is again after closing, which gives the stretch
// the order that was found. Close it even after a failure.
stow_status stowi_flow_walk_open(stowi_flow_walk* walk, stowi_flow_state* state,
                                 stowi_flow_stretch stretch, bool backwards, size_t max_bytes);
void stowi_flow_walk_close(stowi_flow_walk* walk);

// Brings the state to a set.
void stowi_flow_walk_go(stowi_flow_walk* walk, uint32_t set);
// Writes the steps from here whose need is below |limit| to |steps| and returns their number. If
// one of them is safe for a search that may need |level| bytes, only that one.
uint32_t stowi_flow_walk_steps(stowi_flow_walk* walk, uint64_t level, uint64_t limit);
// The set that |step| leads to from |set|. A new set is added with the peak of this path; a known
// one takes this path if that is lower and the set is not closed. |out_better|: new or lower.
// |out_set| is STOWI_INDEX_NONE if there is no room.
stow_status stowi_flow_walk_reach(stowi_flow_walk* walk, uint32_t set, const stowi_flow_step* step,
                                  uint64_t peak, uint32_t* out_set, bool* out_better);
// Records the order that leads to |set|, the set of all tasks, as the one found.
void stowi_flow_walk_order(stowi_flow_walk* walk, uint32_t set);

#endif  // STOWAGE_SRC_FLOW_WALK_H_
