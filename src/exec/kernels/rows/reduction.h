// What is folded into one number: the ways of `reduce`, on blocks.
#ifndef STOWAGE_SRC_EXEC_KERNELS_ROWS_REDUCTION_H_
#define STOWAGE_SRC_EXEC_KERNELS_ROWS_REDUCTION_H_

#include <stowage/kernel.h>

typedef enum stowi_reduction {
  STOWI_REDUCE_SUM,
  STOWI_REDUCE_MEAN,
  STOWI_REDUCE_MAX,
  STOWI_REDUCE_MIN,
  STOWI_REDUCE_PROD,
  STOWI_REDUCE_L1,
  STOWI_REDUCE_L2,
  STOWI_REDUCE_LOG_SUM,
  STOWI_REDUCE_LOG_SUM_EXP,
  STOWI_REDUCE_SUM_SQUARE,
  STOWI_REDUCTION_COUNT
} stowi_reduction;

// Each of |into| takes in the element of the same index.
void stowi_reduce_reals(stowi_reduction op, const double* in, size_t count, double* into);
void stowi_reduce_ints(stowi_reduction op, bool is_unsigned, const int64_t* in, size_t count,
                       int64_t* into);

// What nothing has been taken into: 0 for sums, 1 for products, the end of the range of |dtype| for
// max and min.
double stowi_reduce_first_real(stowi_reduction op);
int64_t stowi_reduce_first_int(stowi_reduction op, stow_dtype dtype);

// The result once all |count| elements have been taken in.
double stowi_reduce_last_real(stowi_reduction op, double folded, size_t count);
int64_t stowi_reduce_last_int(stowi_reduction op, bool is_unsigned, int64_t folded, size_t count);

#endif  // STOWAGE_SRC_EXEC_KERNELS_ROWS_REDUCTION_H_
