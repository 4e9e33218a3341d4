// Elimination in square matrices, under det and inverse.
#ifndef STOWAGE_SRC_EXEC_KERNELS_MATRIX_SQUARE_H_
#define STOWAGE_SRC_EXEC_KERNELS_MATRIX_SQUARE_H_

#include <stowage/kernel.h>

typedef struct stowi_squares {
  const stow_tensor* x;  // floats; the last two dims are equal
  stow_tensor* result;
  double* scratch;
  size_t size;       // rows of a matrix
  size_t width;      // f64 of scratch for each row
  size_t bytes_per;  // of scratch for each worker
} stowi_squares;

// |columns_per_row|: columns of scratch for each of x, 1, or 2 where an inverse grows beside it.
uint64_t stowi_squares_scratch(const stow_kernel_call* call, size_t columns_per_row);
// Runs |task| over all matrices, which is given stowi_squares. Fails where x is not of floats or
// its matrices are not square.
stow_status stowi_squares_run(const stow_kernel_call* call, size_t columns_per_row,
                              stow_kernel_task task);
// Matrix |i| as f64, rows of |width|, in the worker's scratch; what is beside it is not set.
double* stowi_squares_load(const stowi_squares* s, size_t i, uint32_t worker);
// Brings the row with the largest element of column |k|, from row |k| on, to row |k|. Whether rows
// were swapped.
bool stowi_squares_pivot(const stowi_squares* s, double* rows, size_t k);

#endif  // STOWAGE_SRC_EXEC_KERNELS_MATRIX_SQUARE_H_
