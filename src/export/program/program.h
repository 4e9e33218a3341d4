// What every exported program has: its inputs and outputs by name, and how to run it.
#ifndef STOWAGE_PROGRAM_PROGRAM_H_
#define STOWAGE_PROGRAM_PROGRAM_H_

#include <stowage/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct stow_program_port {
  stow_str name;              // in the model; also followed by a NUL
  const stow_tensor* tensor;  // in the arena, or where it was bound last; NULL data: nowhere yet
} stow_program_port;

typedef struct stow_program {
  const char* name;
  size_t arena_size;
  size_t input_count;
  const stow_program_port* inputs;
  size_t output_count;
  const stow_program_port* outputs;
  int (*run)(void);            // 0, or a stow_status
  const char* (*error)(void);  // what went wrong in the last run; "" where nothing did
} stow_program;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_PROGRAM_PROGRAM_H_
