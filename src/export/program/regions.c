// What loops count, and what they collect. Values that they carry are copied by the program itself.
#include "program/regions.h"

#include <string.h>

#include "exec/kernels/support/seed.h"

bool stow_program_is_true(const stow_tensor* condition) {
  unsigned char byte;
  memcpy(&byte, condition->data, 1);
  return byte != 0;
}

stow_program_loop stow_program_loop_begin(stow_program_state* state, const stow_tensor* trip,
                                          const stow_tensor* condition) {
  stow_program_loop loop = {.trip = INT64_MAX,
                            .around = state->rounds,
                            .has_condition = condition != NULL,
                            .condition = condition == NULL || stow_program_is_true(condition)};
  if (trip != NULL) {
    memcpy(&loop.trip, trip->data, sizeof loop.trip);
  }
  state->rounds = stowi_kernel_seed_round(loop.around, 0);
  return loop;
}

bool stow_program_loop_goes_on(const stow_program_loop* loop) {
  return loop->round < loop->trip && (!loop->has_condition || loop->condition);
}

void stow_program_loop_args(const stow_program_loop* loop, const stow_tensor* round,
                            const stow_tensor* condition) {
  unsigned char byte = loop->condition ? 1 : 0;
  memcpy(round->data, &loop->round, sizeof loop->round);
  memcpy(condition->data, &byte, 1);
}

bool stow_program_loop_collect(stow_program_state* state, const stow_program_loop* loop,
                               const char* label, const stow_tensor* from,
                               const stow_tensor* into) {
  size_t bytes = stow_tensor_bytes(from);
  if (loop->round >= into->dims[0]) {
    return stow_program_fail(state, STOW_ERR_LIMIT, label, "more iterations than planned");
  }
  if (bytes != 0) {
    memcpy((unsigned char*)into->data + (size_t)loop->round * bytes, from->data, bytes);
  }
  return true;
}

void stow_program_loop_next(stow_program_state* state, stow_program_loop* loop) {
  ++loop->round;
  state->rounds = stowi_kernel_seed_round(loop->around, (uint64_t)loop->round);
}

void stow_program_loop_end(stow_program_state* state, const stow_program_loop* loop) {
  state->rounds = loop->around;
}

bool stow_program_loop_fills(stow_program_state* state, const stow_program_loop* loop,
                             const char* label, const stow_tensor* into) {
  return loop->round == into->dims[0] ||
         stow_program_fail(state, STOW_ERR_DATA_DEPENDENT, label, "fewer iterations than planned");
}
