// Runs of elements that are scaled and shifted alike: what norms by channel are made of.
#ifndef STOWAGE_SRC_EXEC_KERNELS_ROWS_CHANNEL_NORM_H_
#define STOWAGE_SRC_EXEC_KERNELS_ROWS_CHANNEL_NORM_H_

#include <stowage/kernel.h>

// The sum of |count| elements from |first| on, and of the squares of their distances from |center|.
double stowi_run_sum(const stow_tensor* x, size_t first, size_t count);
double stowi_run_squares(const stow_tensor* x, size_t first, size_t count, double center);

// y = (x - center) factor + shift. |y| may be |x|.
void stowi_run_affine(const stow_tensor* x, const stow_tensor* y, size_t first, size_t count,
                      double center, double factor, double shift);

// Element |i| of an optional tensor.
double stowi_param_at(const stow_tensor* tensor, size_t i, double fallback);

#endif  // STOWAGE_SRC_EXEC_KERNELS_ROWS_CHANNEL_NORM_H_
