// Softmax of rows, for the kernels that are or contain one.
#ifndef STOWAGE_SRC_EXEC_KERNELS_ROWS_SOFTMAX_H_
#define STOWAGE_SRC_EXEC_KERNELS_ROWS_SOFTMAX_H_

#include "exec/kernels/rows/axes.h"

// |y| = softmax of |x| along the rows, or its logarithm. Both have the same real dtype; |y| may be
// |x|. Divides the work.
void stowi_kernel_softmax(const stow_kernel_call* call, const stow_tensor* x, const stow_tensor* y,
                          stowi_kernel_rows rows, bool is_log);

#endif  // STOWAGE_SRC_EXEC_KERNELS_ROWS_SOFTMAX_H_
