// Sets of tasks of a stretch of an order, kept while a search walks from one to the next. What is
// before the stretch has run, what is after it has not; the stretch's tasks may change places with
// each other only. Sets grow from none to all, forwards or *backwards*: then they hold the tasks
// that are placed last.
#ifndef STOWAGE_SRC_FLOW_WALK_H_
#define STOWAGE_SRC_FLOW_WALK_H_

#include "base/hash.h"
#include "flow/state.h"

typedef struct stowi_stretch {
  stowi_flow_task* tasks;  // in an order of the net
  uint32_t count;
} stowi_stretch;

// A set that was reached.
typedef struct stowi_set {
  uint64_t peak;   // of the best way to it
  uint64_t bytes;  // that exist at it
  uint64_t hash;
  uint32_t from;   // the set before it on that way
  uint32_t step;   // the task, as a place in the stretch, that leads here
  uint32_t depth;  // tasks in it
  bool closed;     // the search has gone on from here
} stowi_set;

// A task that can be added to the set where the walk is.
typedef struct stowi_step {
  uint64_t need;
  uint64_t bytes;  // afterwards
  uint32_t place;  // in the stretch
} stowi_step;

typedef struct stowi_walk {
  stowi_state* state;
  stow_allocator allocator;
  stowi_stretch stretch;
  bool backwards;
  bool is_open;
  size_t words;               // per set
  uint64_t* here;             // the set at which |state| is
  uint64_t* next;             // a set that is looked up
  STOWI_VEC(uint64_t) bits;   // of all sets
  STOWI_VEC(stowi_set) sets;  // 0: the empty one
  size_t max_sets;            // so that memory stays within bounds
  stowi_index index;
  stowi_step* steps;       // as many as the stretch has tasks
  stowi_flow_task* order;  // likewise: what closing leaves in the stretch
  bool has_order;
  uint64_t nodes;  // tasks that were tried
} stowi_walk;

// |state| is at the beginning of the stretch, and is again after closing, which gives the stretch
// the order that was found. Close it also after a failure.
stow_status stowi_walk_open(stowi_walk* walk, stowi_state* state, stowi_stretch stretch,
                            bool backwards, size_t max_bytes);
void stowi_walk_close(stowi_walk* walk);

// Brings the state to a set.
void stowi_walk_go(stowi_walk* walk, uint32_t set);
// The steps from here whose need is below |limit|, into |steps|; their number. Where one of them
// is surely right for a walk that may need |level| bytes, that one alone.
uint32_t stowi_walk_steps(stowi_walk* walk, uint64_t level, uint64_t limit);
// The set that |step| leads to from |set|. A new one is added, with the peak of this way; one that
// was known takes this way where it is lower and the set is not closed. |out_better|: new or lower.
// STOWI_INDEX_NONE in |out_set| where there is no room.
stow_status stowi_walk_reach(stowi_walk* walk, uint32_t set, const stowi_step* step, uint64_t peak,
                             uint32_t* out_set, bool* out_better);
// The order that leads to |set|, the set of all tasks, is the one that was found.
void stowi_walk_order(stowi_walk* walk, uint32_t set);

#endif  // STOWAGE_SRC_FLOW_WALK_H_
