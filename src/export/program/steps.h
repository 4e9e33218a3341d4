// Steps of a program: which kernel, and what it is given. All of a step is constant, so that it
// needs no memory that can be written; of a run only one call exists at a time.
#ifndef STOWAGE_PROGRAM_STEPS_H_
#define STOWAGE_PROGRAM_STEPS_H_

#include <stowage/kernel.h>

typedef struct stow_program_step {
  const stow_kernel* kernel;
  const char* label;  // for messages
  const stow_tensor* const* operands;
  const stow_tensor* results;  // one after the other
  const stow_attr* attrs;
  const uint16_t* attr_ids;
  void* scratch;
  size_t scratch_size;
  uint32_t operand_count;
  uint32_t result_count;
  uint32_t attr_count;
  uint32_t op;
  uint32_t seed;     // that random numbers begin at
  uint32_t variant;  // of the kernel
  uint64_t packed;   // operands whose weights are
  const void* user;  // what the kernel of this step needs besides; NULL: nothing
  uint64_t rows;     // 2 or more: the kernel is called for each; tensors with strides have them
  uint64_t still;    // bit k: operand k is the same for every row
} stow_program_step;

#define STOW_PROGRAM_MESSAGE 320

typedef struct stow_program_state {
  stow_tensor* const* results;  // room for those of any step
  stow_tensor* row_operands;    // the same for operands of one row; NULL: no step has rows
  const stow_tensor** row_list;
  uint64_t rounds;  // which ones the loops around a step are in, as one number
  stow_status status;
  char message[STOW_PROGRAM_MESSAGE];
} stow_program_state;

void stow_program_begin(stow_program_state* state);
// Runs |count| steps, one after the other. False where one fails: the state says why.
bool stow_program_run(stow_program_state* state, const stow_program_step* steps, size_t count);
// Keeps status and message. Returns false.
bool stow_program_fail(stow_program_state* state, stow_status status, const char* label,
                       const char* message);

#endif  // STOWAGE_PROGRAM_STEPS_H_
