// Branches and loops of a program.
#ifndef STOWAGE_PROGRAM_REGIONS_H_
#define STOWAGE_PROGRAM_REGIONS_H_

#include "program/steps.h"

bool stow_program_is_true(const stow_tensor* condition);

typedef struct stow_program_loop {
  int64_t round;  // finished
  int64_t trip;
  uint64_t around;  // rounds of what is around it
  bool has_condition;
  bool condition;  // as the last round, or what came before the first, says
} stow_program_loop;

// |trip| and |condition| may be NULL: no limit.
stow_program_loop stow_program_loop_begin(stow_program_state* state, const stow_tensor* trip,
                                          const stow_tensor* condition);
bool stow_program_loop_goes_on(const stow_program_loop* loop);
// Writes what the body is given: the number of the round, and the condition.
void stow_program_loop_args(const stow_program_loop* loop, const stow_tensor* round,
                            const stow_tensor* condition);
// What a round gives for a result that collects all rounds'. False where there is no room.
bool stow_program_loop_collect(stow_program_state* state, const stow_program_loop* loop,
                               const char* label, const stow_tensor* from, const stow_tensor* into);
void stow_program_loop_next(stow_program_state* state, stow_program_loop* loop);
void stow_program_loop_end(stow_program_state* state, const stow_program_loop* loop);
// Whether there were as many rounds as |into| has room for; else its dims would be others.
bool stow_program_loop_fills(stow_program_state* state, const stow_program_loop* loop,
                             const char* label, const stow_tensor* into);

#endif  // STOWAGE_PROGRAM_REGIONS_H_
