// The state of the exact search: which buffers are placed, how low the others can be, and a trail
// by which every change is undone.
//     │        ┌─────────┐        least[j]  lowest offset of j above what is placed
//     │  ┌─────┤    j    │        bound[j]  ≥ least[j]: proven for every placement that is still
//     ├──┤  a  ├─────┬───┤                  to be found below this node
//     │b │     │     │ c │        floor[s]  lowest bound in the section: nothing more begins below
//     └──┴─────┴─────┴───┴─▶
#ifndef STOWAGE_SRC_PLACE_EXACT_STATE_H_
#define STOWAGE_SRC_PLACE_EXACT_STATE_H_

#include "place/exact/model.h"

// Pruning rules. All are on unless a test turns one off: none changes the answer.
typedef enum stowi_place_rule {
  STOWI_PLACE_RULE_SECTIONS =
      1,  // prune if floor + what is still to be placed exceeds the capacity
  STOWI_PLACE_RULE_MONOTONE = 2,  // lowest-first search: nothing more begins below the last offset
  STOWI_PLACE_RULE_PASSED = 4,    // a buffer that was passed over rests on one that is yet to come
  STOWI_PLACE_RULE_BLOCKERS = 8,  // … and there must be one that keeps it from sinking back
  STOWI_PLACE_RULE_DOMINANCE =
      16,                       // nothing is placed so high that another fits below it unhindered
  STOWI_PLACE_RULE_SPLIT = 32,  // intervals with nothing in common are searched separately
  STOWI_PLACE_RULE_TWINS = 64,  // of identical buffers one stands for all
  STOWI_PLACE_RULE_SEEN = 128,  // what was refuted once is not searched again
  STOWI_PLACE_RULE_ALL = 255
} stowi_place_rule;

// Of a section with nothing left to place, or whose floor is to be found.
#define STOWI_PLACE_NO_HOLDER UINT32_MAX

typedef struct stowi_place_hash_pair {
  uint64_t a;
  uint64_t b;
} stowi_place_hash_pair;

typedef struct stowi_place_low {
  int64_t at;
  uint32_t holder;
} stowi_place_low;

typedef struct stowi_place_change stowi_place_change;

typedef struct stowi_place_state {
  const stowi_place_model* model;
  stow_allocator allocator;
  uint32_t rules;
  int64_t* top;      // per buffer: the highest it may end, including padding
  bool among_holes;  // see holes.h
  bool learns;       // counts failures
  // Buffers.
  uint64_t* free;  // the set of those not placed
  uint32_t placed_count;
  uint64_t lift_count;  // how often one was lifted by one below it, since the state was made
  uint64_t look_count;  // visits to placed ones, in search of holes between them
  int64_t* least;
  int64_t* bound;
  uint8_t* passed;              // not at `least` in any placement still to be found
  uint32_t* rank;               // of equals the lowest comes first
  uint32_t* held;               // number of floors that it holds
  stowi_place_hash_pair* hash;  // of the buffer with its `least`
  // Sections.
  int64_t* floor;
  uint32_t* holder;    // a free buffer whose bound is the floor, or STOWI_PLACE_NO_HOLDER
  int64_t* load;       // units that are not placed yet
  int64_t* ceiling;    // the highest that any of these may end
  uint32_t* crossing;  // buffers, not placed, that are live on both sides of the border after it
  uint64_t* failures;  // how often it had too little room in attempts that learn
  uint32_t* stale;     // sections whose floor must be recomputed
  uint32_t stale_count;
  stowi_place_low* block_low;  // by block: the lowest of those that span it
  uint64_t* block_stamp;       // of the last settling that needed it
  uint64_t settled;            // how often
  stowi_place_change* trail;
  size_t trail_count;
  size_t trail_capacity;
  bool out_of_trail;
} stowi_place_state;

stow_status stowi_place_exact_state_create(const stowi_place_model* model, stow_allocator allocator,
                                           stowi_place_state** out_state);
void stowi_place_exact_state_destroy(stowi_place_state* state);

// Nothing placed, nothing passed, |capacity| in bytes. Ranks are unchanged.
void stowi_place_exact_state_reset(stowi_place_state* state, uint64_t capacity);

// Places |buffer| at its least offset. False if a fixed buffer is pushed off its place: then, as at
// any time, the state can be undone to an earlier mark.
bool stowi_place_exact_state_place(stowi_place_state* state, uint32_t buffer);
// Passes |buffer| over: it will be higher than it could. |lowest|: nothing more is placed below.
// False if that is impossible.
bool stowi_place_exact_state_pass(stowi_place_state* state, uint32_t buffer, int64_t lowest);
void stowi_place_exact_state_set_rank(stowi_place_state* state, uint32_t buffer, uint32_t rank);
// Updates floors after placing and passing.
void stowi_place_exact_state_settle(stowi_place_state* state);

// How low |buffer| can be in |section|, where it is live.
int64_t stowi_place_exact_state_low_at(const stowi_place_state* state, uint32_t buffer,
                                       uint32_t section);
// The sections [begin, end) may still fit, if nothing more is placed below |lowest|.
bool stowi_place_exact_state_may_fit(const stowi_place_state* state, uint32_t begin, uint32_t end,
                                     int64_t lowest);

static inline size_t stowi_place_exact_state_mark(const stowi_place_state* state) {
  return state->trail_count;
}
void stowi_place_exact_state_undo(stowi_place_state* state, size_t mark);

static inline bool stowi_place_exact_state_is_free(const stowi_place_state* state,
                                                   uint32_t buffer) {
  return (state->free[buffer / 64] >> (buffer % 64) & 1) != 0;
}

#endif  // STOWAGE_SRC_PLACE_EXACT_STATE_H_
