// affine_grid: positions of a grid, from -1 to 1 along each dim, times an affine matrix for each
// image. Computed in double.
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

typedef struct job {
  const stow_tensor* theta;
  stow_tensor* y;
  uint32_t rank;  // spatial
  bool align_corners;
} job;

static double coordinate(const job* j, size_t i, int64_t size) {
  if (j->align_corners) {
    return size == 1 ? -1 : -1 + 2 * (double)i / (double)(size - 1);
  }
  return (2 * (double)i + 1) / (double)size - 1;
}

// The first row of theta makes the position along the last spatial dim.
static void grid_task(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const job* j = user;
  for (size_t i = begin; i < end; ++i) {
    double at[3] = {0};
    size_t rest = i;
    for (uint32_t d = 0; d < j->rank; ++d) {
      int64_t size = j->y->dims[j->rank - d];
      at[d] = coordinate(j, rest % (size_t)size, size);
      rest /= (size_t)size;
    }
    for (uint32_t row = 0; row < j->rank; ++row) {
      size_t first = (rest * j->rank + row) * (j->rank + 1);
      double sum = stowi_float_at(j->theta, first + j->rank);
      for (uint32_t d = 0; d < j->rank; ++d) {
        sum += stowi_float_at(j->theta, first + d) * at[d];
      }
      stowi_store_f64(j->y->dtype, j->y->data, i * j->rank + row, 1, &sum);
    }
  }
}

static stow_status run_affine_grid(stow_kernel_call* call) {
  job j = {.theta = stow_kernel_operand(call, 0),
           .y = stow_kernel_result(call, 0),
           .align_corners = stow_kernel_bool(call, "align_corners", false)};
  j.rank = j.y->rank - 2;
  if (stowi_kind(j.theta->dtype) != STOW_KIND_FLOAT || stowi_bits(j.theta->dtype) < 16) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "theta must be of f32, f16, bf16 or f64");
  }
  stow_kernel_split(call, stow_tensor_elements(j.y) / j.rank, 1024, grid_task, &j);
  return STOW_OK;
}

STOWI_KERNEL(AFFINE_GRID, NULL, run_affine_grid);
