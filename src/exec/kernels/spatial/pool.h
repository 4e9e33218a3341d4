// Pools: the ways in which windows are reduced.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SPATIAL_POOL_H_
#define STOWAGE_SRC_EXEC_KERNELS_SPATIAL_POOL_H_

#include "exec/kernels/spatial/window.h"

typedef enum stowi_pool_op { STOWI_POOL_MAX, STOWI_POOL_AVG, STOWI_POOL_LP } stowi_pool_op;

typedef struct stowi_pool {
  const stow_kernel_call* call;
  const stow_tensor* x;
  stow_tensor* y;
  stow_tensor* indices;  // NULL: not asked for
  stowi_slide slide;
  stowi_pool_op op;
  bool count_include_pad;
  bool is_global;
  bool column_major;
  double p;
} stowi_pool;

// The largest or the average of f32, f16, bf16, i8 and u8, [N, C, spatial…], without indices: whole
// rows of the result at a time. Scratch: a plane of x and a row of y as f32 for each worker, but
// none for f32.
uint64_t stowi_pool_rows_scratch(const stowi_pool* p);
void stowi_pool_rows(stowi_pool* p);

#endif  // STOWAGE_SRC_EXEC_KERNELS_SPATIAL_POOL_H_
