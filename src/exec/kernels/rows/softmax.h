// Softmax of rows, for the kernels that are or contain one.
#ifndef STOWAGE_SRC_EXEC_KERNELS_ROWS_SOFTMAX_H_
#define STOWAGE_SRC_EXEC_KERNELS_ROWS_SOFTMAX_H_

#include "exec/kernels/rows/axes.h"

// |y| = softmax of |x| along the rows, or its logarithm. Both have the same real dtype; |y| may be
// |x|. Divides the work.
void stowi_kernel_softmax(const stow_kernel_call* call, const stow_tensor* x, const stow_tensor* y,
                          stowi_kernel_rows rows, bool is_log);

// The same of one row, where |y| may be |x|. |extra| is the score of one more, which gets its share
// but has no place; -INFINITY if there is none. Returns the largest: if that is -INFINITY, |y| is
// NaNs.
float stowi_kernel_softmax_row_f32(const float* x, size_t count, float extra, float* y);
double stowi_kernel_softmax_row_f64(const double* x, size_t count, double extra, double* y);

#endif  // STOWAGE_SRC_EXEC_KERNELS_ROWS_SOFTMAX_H_
