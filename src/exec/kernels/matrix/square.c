// det and inverse of square matrices by elimination. Matrices are copied to scratch as f64:
// elimination needs the copy anyway, and f32 quickly loses digits.
#include <math.h>
#include <stowage/kernel.h>

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/size.h"

typedef struct squares {
  const stow_tensor* x;  // floats; the last two dims are equal
  stow_tensor* result;
  double* scratch;
  size_t size;       // rows of a matrix
  size_t width;      // f64 of scratch for each row
  size_t bytes_per;  // of scratch for each worker
} squares;

// 0 where the last two dims are not equal.
static size_t size_of(const stow_tensor* x) {
  bool is_square = x->rank >= 2 && x->dims[x->rank - 1] == x->dims[x->rank - 2];
  return is_square ? (size_t)x->dims[x->rank - 1] : 0;
}

static uint64_t bytes_per_worker(size_t size, size_t columns_per_row) {
  return stowi_kernel_align64((uint64_t)size * size * columns_per_row * sizeof(double));
}

// |columns_per_row|: columns of scratch for each of x, 1, or 2 where an inverse grows beside it.
static uint64_t squares_scratch(const stow_kernel_call* call, size_t columns_per_row) {
  const stow_tensor* x = stow_kernel_operand(call, 0);
  return bytes_per_worker(size_of(x), columns_per_row) * call->workers;
}

static size_t count_of(const squares* s) {
  size_t count = 1;
  for (uint32_t i = 0; i + 2 < s->x->rank; ++i) {
    count *= (size_t)s->x->dims[i];
  }
  return count;
}

// Runs |task| over all matrices, which is given squares. Fails where x is not of floats or
// its matrices are not square.
static stow_status squares_run(const stow_kernel_call* call, size_t columns_per_row,
                               stow_split_task task) {
  squares s = {.x = stow_kernel_operand(call, 0), .result = stow_kernel_result(call, 0)};
  if (stowi_kernel_kind(s.x->dtype) != STOW_KIND_FLOAT) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "matrices must have floats");
  }
  if (s.x->rank < 2 || s.x->dims[s.x->rank - 1] != s.x->dims[s.x->rank - 2]) {
    return stow_kernel_fail(call, STOW_ERR_TYPE, "the last two dims must be equal");
  }
  s.size = size_of(s.x);
  s.width = s.size * columns_per_row;
  s.scratch = call->scratch;
  s.bytes_per = (size_t)bytes_per_worker(s.size, columns_per_row);
  stow_kernel_split(call, count_of(&s), 1 + 4096 / (s.size * s.size + 1), task, &s);
  return STOW_OK;
}

// Matrix |i| as f64, rows of |width|, in the worker's scratch; what is beside it is not set.
static double* squares_load(const squares* s, size_t i, uint32_t worker) {
  double* rows = (double*)((char*)s->scratch + worker * s->bytes_per);
  for (size_t r = 0; r < s->size; ++r) {
    stowi_kernel_load_f64(s->x->dtype, s->x->data, (i * s->size + r) * s->size, s->size,
                          rows + r * s->width);
  }
  return rows;
}

// Brings the row with the largest element of column |k|, from row |k| on, to row |k|. Whether rows
// were swapped.
static bool squares_pivot(const squares* s, double* rows, size_t k) {
  size_t best = k;
  for (size_t r = k + 1; r < s->size; ++r) {
    if (fabs(rows[r * s->width + k]) > fabs(rows[best * s->width + k])) {
      best = r;
    }
  }
  for (size_t j = 0; j < s->width && best != k; ++j) {
    double swapped = rows[best * s->width + j];
    rows[best * s->width + j] = rows[k * s->width + j];
    rows[k * s->width + j] = swapped;
  }
  return best != k;
}

// ---------------------------------------------------------------------------------------------
// det: the product of the pivots. O(n³) per matrix.

static stow_status scratch_det(const stow_kernel_call* call, uint64_t* out_bytes) {
  *out_bytes = squares_scratch(call, 1);
  return STOW_OK;
}

static double det_of(const squares* s, double* rows) {
  double det = 1;
  for (size_t k = 0; k < s->size; ++k) {
    if (squares_pivot(s, rows, k)) {
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
  const squares* s = user;
  for (size_t i = begin; i < end; ++i) {
    double det = det_of(s, squares_load(s, i, worker));
    stowi_kernel_store_f64(s->result->dtype, s->result->data, i, 1, &det);
  }
}

static stow_status run_det(stow_kernel_call* call) { return squares_run(call, 1, det_task); }

STOWI_KERNEL(DET, scratch_det, run_det);

// ---------------------------------------------------------------------------------------------
// inverse: elimination above and below the diagonal, with the identity beside the matrix. O(n³) per
// matrix. A singular matrix gives infinities and NaNs.

static stow_status scratch_inverse(const stow_kernel_call* call, uint64_t* out_bytes) {
  *out_bytes = squares_scratch(call, 2);
  return STOW_OK;
}

static void set_identity(const squares* s, double* rows) {
  for (size_t r = 0; r < s->size; ++r) {
    for (size_t j = 0; j < s->size; ++j) {
      rows[r * s->width + s->size + j] = r == j ? 1 : 0;
    }
  }
}

static void invert(const squares* s, double* rows) {
  for (size_t k = 0; k < s->size; ++k) {
    (void)squares_pivot(s, rows, k);
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
  const squares* s = user;
  for (size_t i = begin; i < end; ++i) {
    double* rows = squares_load(s, i, worker);
    set_identity(s, rows);
    invert(s, rows);
    for (size_t r = 0; r < s->size; ++r) {
      stowi_kernel_store_f64(s->result->dtype, s->result->data, (i * s->size + r) * s->size,
                             s->size, rows + r * s->width + s->size);
    }
  }
}

static stow_status run_inverse(stow_kernel_call* call) {
  return squares_run(call, 2, inverse_task);
}

STOWI_KERNEL(INVERSE, scratch_inverse, run_inverse);
