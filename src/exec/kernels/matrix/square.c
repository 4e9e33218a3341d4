// Matrices are copied to scratch as f64: the elimination needs the room anyway, and f32 loses
// digits quickly in it.
#include "exec/kernels/matrix/square.h"

#include <math.h>

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/size.h"

// 0 where the last two dims are no square.
static size_t size_of(const stow_tensor* x) {
  bool is_square = x->rank >= 2 && x->dims[x->rank - 1] == x->dims[x->rank - 2];
  return is_square ? (size_t)x->dims[x->rank - 1] : 0;
}

static uint64_t bytes_per_worker(size_t size, size_t columns_per_row) {
  return stowi_align64((uint64_t)size * size * columns_per_row * sizeof(double));
}

uint64_t stowi_squares_scratch(const stow_kernel_call* call, size_t columns_per_row) {
  const stow_tensor* x = stow_kernel_operand(call, 0);
  return bytes_per_worker(size_of(x), columns_per_row) * call->workers;
}

static stow_status squares_of(const stow_kernel_call* call, size_t columns_per_row,
                              stowi_squares* out) {
  *out = (stowi_squares){.x = stow_kernel_operand(call, 0), .result = stow_kernel_result(call, 0)};
  if (stowi_kind(out->x->dtype) != STOW_KIND_FLOAT) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "matrices must be of floats");
  }
  if (out->x->rank < 2 || out->x->dims[out->x->rank - 1] != out->x->dims[out->x->rank - 2]) {
    return stow_kernel_fail(call, STOW_ERR_TYPE, "the last two dims must be equal");
  }
  out->size = size_of(out->x);
  out->width = out->size * columns_per_row;
  out->scratch = call->scratch;
  out->bytes_per = (size_t)bytes_per_worker(out->size, columns_per_row);
  return STOW_OK;
}

static size_t count_of(const stowi_squares* s) {
  size_t count = 1;
  for (uint32_t i = 0; i + 2 < s->x->rank; ++i) {
    count *= (size_t)s->x->dims[i];
  }
  return count;
}

stow_status stowi_squares_run(const stow_kernel_call* call, size_t columns_per_row,
                              stow_kernel_task task) {
  stowi_squares s;
  stow_status status = squares_of(call, columns_per_row, &s);
  if (status == STOW_OK) {
    stow_kernel_split(call, count_of(&s), 1 + 4096 / (s.size * s.size + 1), task, &s);
  }
  return status;
}

double* stowi_squares_load(const stowi_squares* s, size_t i, uint32_t worker) {
  double* rows = (double*)((char*)s->scratch + worker * s->bytes_per);
  for (size_t r = 0; r < s->size; ++r) {
    stowi_load_f64(s->x->dtype, s->x->data, (i * s->size + r) * s->size, s->size,
                   rows + r * s->width);
  }
  return rows;
}

bool stowi_squares_pivot(const stowi_squares* s, double* rows, size_t k) {
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
