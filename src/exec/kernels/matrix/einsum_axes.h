// An equation of einsum as loops: for each axis its length, and how far it moves in the result and
// in each operand.
#ifndef STOWAGE_SRC_EXEC_KERNELS_MATRIX_EINSUM_AXES_H_
#define STOWAGE_SRC_EXEC_KERNELS_MATRIX_EINSUM_AXES_H_

#include <stowage/kernel.h>

enum { STOWI_EINSUM_OPERANDS = 8, STOWI_EINSUM_SUMS = 32 };

typedef struct stowi_axis {
  size_t dim;
  size_t out;                        // 0 where the axis is summed
  size_t in[STOWI_EINSUM_OPERANDS];  // 0 where the operand does not have the axis, or has 1 there
} stowi_axis;

typedef struct stowi_einsum {
  size_t operands;
  size_t out_count;
  stowi_axis outs[STOW_MAX_RANK];  // in the result's order
  size_t sum_count;
  stowi_axis sums[STOWI_EINSUM_SUMS];
} stowi_einsum;

// Neighbouring axes that move as one everywhere are joined. False where the equation does not fit
// the operands, or has more operands or axes than there is room for.
bool stowi_einsum_of(const stow_kernel_call* call, stowi_einsum* out);

#endif  // STOWAGE_SRC_EXEC_KERNELS_MATRIX_EINSUM_AXES_H_
