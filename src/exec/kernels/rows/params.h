// Scales and shifts that go with the elements of rows.
#ifndef STOWAGE_SRC_EXEC_KERNELS_ROWS_PARAMS_H_
#define STOWAGE_SRC_EXEC_KERNELS_ROWS_PARAMS_H_

#include <stowage/kernel.h>

// A tensor that broadcasts to x.
typedef struct stowi_kernel_param {
  const stow_tensor* tensor;  // NULL: there is none
  bool is_whole;              // elements are contiguous along each row
  size_t period;              // and begin again after so many, which are whole rows
  uint32_t rank;
  size_t dims[STOW_MAX_RANK];     // of x
  size_t strides[STOW_MAX_RANK];  // 0 where it is repeated
} stowi_kernel_param;

// Rows of |row| elements, which are the last dims of |x|.
stowi_kernel_param stowi_kernel_param_of(const stow_tensor* tensor, const stow_tensor* x,
                                         size_t row);

// What goes with |count| elements of x, at most a block and all of one row, from |first| on:
// |fallback| where there is no tensor. In its place, or in |room|.
const float* stowi_kernel_param_f32(const stowi_kernel_param* param, size_t first, size_t count,
                                    float fallback, float* room);
const double* stowi_kernel_param_f64(const stowi_kernel_param* param, size_t first, size_t count,
                                     double fallback, double* room);

#endif  // STOWAGE_SRC_EXEC_KERNELS_ROWS_PARAMS_H_
