// A quest: one question about one problem, the best answer so far, and the remaining budget. Every
// strategy is a function that works on a quest; stowi_place_quest_run creates one for it.
//     capacity ┄┄┄┄┄┄┄┄┄┄┄┄┄┄   Done if best ≤ goal, if bound > capacity, or if the budget is
//     best     ────────────▼   spent. The goal is the capacity or, without one, the bound, and
//     bound    ────────────▲   rises with it.
// Searches that keep their state take turns on a quest. What one does next depends on what was
// found so far, never on how much of the budget is left: so a larger budget repeats what a smaller
// one did, goes on from there, and never ends worse.
#ifndef STOWAGE_SRC_PLACE_QUEST_H_
#define STOWAGE_SRC_PLACE_QUEST_H_

#include <stowage/place.h>

typedef struct stowi_place_quest {
  const stow_problem* problem;
  stow_allocator allocator;
  stow_diag* diag;
  stow_place_options options;
  const char* phase;     // for progress; a strategy sets it
  uint64_t pair_count;   // pairs of buffers that live together
  uint64_t bound;        // proven: no placement is lower
  uint64_t height;       // of the best placement; UINT64_MAX before the first
  uint64_t* offsets;     // of the best placement
  uint64_t nodes;        // spent
  uint64_t turn_end;     // nodes at which the current turn ends, between two attempts
  uint64_t last_gain;    // nodes when the best or the bound changed last
  uint64_t next_report;  // nodes at which the callback is due
  bool stopped;          // by the callback
} stowi_place_quest;

typedef stow_status (*stowi_place_work)(stowi_place_quest* quest);

// The body of a strategy: prepares a quest (STOW_ERR_CONFLICT for fixed buffers that overlap), lets
// |work| offer placements, at least one, and returns the best. Without reuse there is nothing to
// search: buffers are placed end to end and |work| is not called.
stow_status stowi_place_quest_run(const stow_problem* problem, const stow_place_options* options,
                                  stow_allocator allocator, stow_diag* diag, stowi_place_work work,
                                  stow_placement** out_placement);

struct stow_placement {
  stow_allocator allocator;
  size_t count;
  uint64_t height;
  uint64_t bound;
  uint64_t nodes;
  stow_outcome outcome;
  bool stopped;
  uint64_t* offsets;
};

// All offsets 0, height 0. NULL if out of memory.
stow_placement* stowi_place_placement_create(stow_allocator allocator, size_t count);

// The height at which the search can stop.
uint64_t stowi_place_quest_goal(const stowi_place_quest* quest);
// Whether the best placement is good enough, or none can be.
bool stowi_place_quest_answered(const stowi_place_quest* quest);
// Whether the question is answered, the budget or the patience spent, or the search stopped by the
// callback.
bool stowi_place_quest_done(const stowi_place_quest* quest);
// Whether it is done, or the turn is over: asked between two attempts, not during one.
bool stowi_place_quest_turn_over(const stowi_place_quest* quest);

// Copies the placement if it is lower than the best so far, and reports it to the callback.
void stowi_place_quest_offer(stowi_place_quest* quest, const uint64_t* offsets, uint64_t height);
// Records a proof that no placement is lower than |bound|.
void stowi_place_quest_raise(stowi_place_quest* quest, uint64_t bound);

// Counts |nodes| as spent and reports to the callback at intervals. Returns false once the quest is
// done. Cheap enough to be called every hundred nodes or so.
bool stowi_place_quest_spend(stowi_place_quest* quest, uint64_t nodes);
// Reports progress to the callback; false if it asked to stop. For work that takes long without
// spending nodes.
bool stowi_place_quest_poll(stowi_place_quest* quest);
// The remaining budget.
uint64_t stowi_place_quest_left(const stowi_place_quest* quest);

// A search that takes turns. |play| goes on where it stopped, until the turn is over or it has
// nothing left to try: then it sets |*out_idle|.
typedef struct stowi_place_player {
  stow_status (*play)(void* state, bool* out_idle);
  void* state;
  uint64_t share;  // how many turns it has for one of another's
  uint64_t debt;   // nodes that it took beyond its turns
  bool is_idle;
} stowi_place_player;

// Turns by shares, until the quest is done or all are idle; whoever found the last better
// placement, at first the first player, begins the next round and gets as many nodes as all others
// together. The first turn has |first_nodes|.
stow_status stowi_place_take_turns(stowi_place_quest* quest, uint64_t first_nodes,
                                   stowi_place_player* players, size_t count);

// Offers placements that are made from options.start, if there is one (start.c).
stow_status stowi_place_start(stowi_place_quest* quest);

// Lets |work| place the buffers that are not always live, above those that are; or everything, if
// they cannot be separated without loss or there is nothing to gain.
stow_status stowi_place_on_bedrock(stowi_place_quest* quest, stowi_place_work work);

#endif  // STOWAGE_SRC_PLACE_QUEST_H_
