// What every kernel file includes first: how a kernel is defined.
//
// Files in kernels/ stand on <stowage/kernel.h>, on each other and on the C library, and on nothing
// else of ours: `stowage export` writes the ones that a model needs into a program of its own.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SUPPORT_KERNEL_H_
#define STOWAGE_SRC_EXEC_KERNELS_SUPPORT_KERNEL_H_

#include <stddef.h>
#include <stowage/kernel.h>

#include "exec/kernels/support/attrs.h"

// STOWI_KERNEL(RELU, scratch_relu, run_relu); a table made from ops.def refers to each, so that one
// that is missing does not link. Each begins a line of its own: export reads them. Further members
// of the kernel may follow: STOWI_KERNEL(CONV, scratch_conv, run_conv, .variant_count = 2);
#define STOWI_KERNEL(op, scratch_function, ...)                              \
  extern const stow_kernel stowi_kernel_##op;                                \
  const stow_kernel stowi_kernel_##op = {.struct_size = sizeof(stow_kernel), \
                                         .scratch = scratch_function,        \
                                         .in_place = true,                   \
                                         .run = __VA_ARGS__}

// Returns from the enclosing function if |expression| is not STOW_OK.
#define STOWI_KERNEL_TRY(expression)            \
  do {                                          \
    stow_status stow_try_status = (expression); \
    if (stow_try_status != STOW_OK) {           \
      return stow_try_status;                   \
    }                                           \
  } while (0)

// The call's variant; 0 for callers whose calls have none.
static inline uint32_t stowi_kernel_variant(const stow_kernel_call* call) {
  bool has = call->struct_size >= offsetof(stow_kernel_call, variant) + sizeof(call->variant);
  return has ? call->variant : 0;
}

// Whether operand |k| is packed.
static inline bool stowi_kernel_operand_is_packed(const stow_kernel_call* call, size_t k) {
  bool has = call->struct_size >= offsetof(stow_kernel_call, packed) + sizeof(call->packed);
  return has && (call->packed >> k & 1) != 0;
}

// Whether a call is computed in the way that needs |lean| bytes of scratch instead of |fast| ones:
// it has another variant than the fastest, and there is something to gain. Scratch is the smaller
// of the two then, also for smaller dims in the run.
static inline bool stowi_kernel_is_lean(const stow_kernel_call* call, uint64_t fast,
                                        uint64_t lean) {
  return stowi_kernel_variant(call) != 0 && lean < fast;
}

// Whether work on element i may be done in any order though results are in place of operands: each
// result that shares bytes with an operand lies exactly there, with elements of the same width.
bool stowi_kernel_is_divisible(const stow_kernel_call* call);

#endif  // STOWAGE_SRC_EXEC_KERNELS_SUPPORT_KERNEL_H_
