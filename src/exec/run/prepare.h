// What was prepared: the program of a graph, and the effects to plan it with.
#ifndef STOWAGE_SRC_EXEC_RUN_PREPARE_H_
#define STOWAGE_SRC_EXEC_RUN_PREPARE_H_

#include <stowage/exec.h>

#include "exec/program/program.h"

#define STOWI_EXEC_MAX_THREADS 256

struct stow_prepared {
  stow_allocator allocator;
  stow_effects* effects;
  uint32_t threads;
  bool has_foreign;  // some kernels may be the caller's
  stowi_exec_program program;
};

#endif  // STOWAGE_SRC_EXEC_RUN_PREPARE_H_
