// What every kernel file includes first: how a kernel is defined.
//
// Files in kernels/ stand on <stowage/kernel.h>, on each other and on the C library, and on nothing
// else of ours: `stowage export` writes the ones that a model needs into a program of its own.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SUPPORT_KERNEL_H_
#define STOWAGE_SRC_EXEC_KERNELS_SUPPORT_KERNEL_H_

#include <stowage/kernel.h>

#include "exec/kernels/support/attrs.h"

// STOWI_KERNEL(RELU, scratch_relu, run_relu); a table made from ops.def refers to each, so that one
// that is missing does not link. Each stands on a line of its own: export reads them.
#define STOWI_KERNEL(op, scratch_function, run_function)                     \
  extern const stow_kernel stowi_kernel_##op;                                \
  const stow_kernel stowi_kernel_##op = {.struct_size = sizeof(stow_kernel), \
                                         .scratch = scratch_function,        \
                                         .run = run_function,                \
                                         .in_place = true}

// Returns from the enclosing function if |expression| is not STOW_OK.
#define STOWI_KERNEL_TRY(expression)            \
  do {                                          \
    stow_status stow_try_status = (expression); \
    if (stow_try_status != STOW_OK) {           \
      return stow_try_status;                   \
    }                                           \
  } while (0)

// Whether work on element i may be done in any order though results are in place of operands: each
// result that shares bytes with an operand lies exactly there, with elements of the same width.
bool stowi_kernel_is_divisible(const stow_kernel_call* call);

#endif  // STOWAGE_SRC_EXEC_KERNELS_SUPPORT_KERNEL_H_
