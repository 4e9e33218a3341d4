// inverse: elimination with row exchanges above and below the diagonal, with the identity beside
// the matrix. O(n³) for each matrix. One that has no inverse gives infinities and NaNs.
#include "exec/kernels/matrix/square.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

static stow_status scratch_inverse(const stow_kernel_call* call, uint64_t* out_bytes) {
  *out_bytes = stowi_squares_scratch(call, 2);
  return STOW_OK;
}

static void set_identity(const stowi_squares* s, double* rows) {
  for (size_t r = 0; r < s->size; ++r) {
    for (size_t j = 0; j < s->size; ++j) {
      rows[r * s->width + s->size + j] = r == j ? 1 : 0;
    }
  }
}

static void invert(const stowi_squares* s, double* rows) {
  for (size_t k = 0; k < s->size; ++k) {
    (void)stowi_squares_pivot(s, rows, k);
    double* pivot = rows + k * s->width;
    double divisor = pivot[k];
    for (size_t j = k; j < s->width; ++j) {
      pivot[j] /= divisor;
    }
    for (size_t r = 0; r < s->size; ++r) {
      double* row = rows + r * s->width;
      double factor = row[k];
      for (size_t j = k; j < s->width && r != k; ++j) {
        row[j] -= factor * pivot[j];
      }
    }
  }
}

static void inverse_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const stowi_squares* s = user;
  for (size_t i = begin; i < end; ++i) {
    double* rows = stowi_squares_load(s, i, worker);
    set_identity(s, rows);
    invert(s, rows);
    for (size_t r = 0; r < s->size; ++r) {
      stowi_store_f64(s->result->dtype, s->result->data, (i * s->size + r) * s->size, s->size,
                      rows + r * s->width + s->size);
    }
  }
}

static stow_status run_inverse(stow_kernel_call* call) {
  return stowi_squares_run(call, 2, inverse_task);
}

STOWI_KERNEL(INVERSE, scratch_inverse, run_inverse);
