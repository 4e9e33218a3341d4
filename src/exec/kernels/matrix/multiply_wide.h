// Products of f64 and of integers.
#ifndef STOWAGE_SRC_EXEC_KERNELS_MATRIX_MULTIPLY_WIDE_H_
#define STOWAGE_SRC_EXEC_KERNELS_MATRIX_MULTIPLY_WIDE_H_

#include "exec/kernels/matrix/multiply.h"

// Fails for dtypes that are no numbers, for activations, and where |alpha| or |beta| of integers
// are no integers.
stow_status stowi_multiply_wide(const stow_kernel_call* call, const stowi_multiply* multiply);

#endif  // STOWAGE_SRC_EXEC_KERNELS_MATRIX_MULTIPLY_WIDE_H_
