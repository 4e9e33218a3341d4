// det: the product of the pivots of an elimination with row exchanges. O(n³) for each matrix.
#include "exec/kernels/matrix/square.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

static stow_status scratch_det(const stow_kernel_call* call, uint64_t* out_bytes) {
  *out_bytes = stowi_squares_scratch(call, 1);
  return STOW_OK;
}

static double det_of(const stowi_squares* s, double* rows) {
  double det = 1;
  for (size_t k = 0; k < s->size; ++k) {
    if (stowi_squares_pivot(s, rows, k)) {
      det = -det;
    }
    const double* pivot = rows + k * s->width;
    det *= pivot[k];
    if (pivot[k] == 0) {
      return 0;
    }
    for (size_t r = k + 1; r < s->size; ++r) {
      double* row = rows + r * s->width;
      double factor = row[k] / pivot[k];
      for (size_t j = k + 1; j < s->size; ++j) {
        row[j] -= factor * pivot[j];
      }
    }
  }
  return det;
}

static void det_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const stowi_squares* s = user;
  for (size_t i = begin; i < end; ++i) {
    double det = det_of(s, stowi_squares_load(s, i, worker));
    stowi_store_f64(s->result->dtype, s->result->data, i, 1, &det);
  }
}

static stow_status run_det(stow_kernel_call* call) { return stowi_squares_run(call, 1, det_task); }

STOWI_KERNEL(DET, scratch_det, run_det);
