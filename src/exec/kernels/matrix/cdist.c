// cdist: distances of all rows of a from all rows of b, as sums of squares of differences: slower
// than a product of matrices, but nothing cancels. Sums are of f64, eight at a time, added in a
// fixed tree.
#include <math.h>

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

enum { LANES = 8 };

typedef struct distances {
  const stow_tensor* a;
  const stow_tensor* b;
  stow_tensor* result;
  bool is_root;
} distances;

static void add_squares(const double* a, const double* b, size_t count, double* sums) {
  for (size_t i = 0; i < count; ++i) {
    double difference = a[i] - b[i];
    sums[i % LANES] += difference * difference;
  }
}

static double distance(const distances* d, size_t i, size_t j) {
  size_t length = (size_t)d->a->dims[1];
  double sums[LANES] = {0};
  for (size_t first = 0; first < length; first += STOWI_KERNEL_BLOCK) {
    double a[STOWI_KERNEL_BLOCK];
    double b[STOWI_KERNEL_BLOCK];
    size_t count = length - first < STOWI_KERNEL_BLOCK ? length - first : STOWI_KERNEL_BLOCK;
    stowi_kernel_load_f64(d->a->dtype, d->a->data, i * length + first, count, a);
    stowi_kernel_load_f64(d->b->dtype, d->b->data, j * length + first, count, b);
    add_squares(a, b, count, sums);
  }
  double low = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  double sum = low + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  return d->is_root ? sqrt(sum) : sum;
}

static void cdist_task(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const distances* d = user;
  size_t columns = (size_t)d->b->dims[0];
  for (size_t i = begin; i < end; ++i) {
    double x = distance(d, i / columns, i % columns);
    stowi_kernel_store_f64(d->result->dtype, d->result->data, i, 1, &x);
  }
}

static stow_status run_cdist(stow_kernel_call* call) {
  distances d = {.a = stow_kernel_operand(call, 0), .b = stow_kernel_operand(call, 1)};
  d.result = stow_kernel_result(call, 0);
  d.is_root = stowi_kernel_is(call, STOWI_KERNEL_ATTR_METRIC, "euclidean");
  if (!d.is_root && !stowi_kernel_is(call, STOWI_KERNEL_ATTR_METRIC, "sqeuclidean")) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "the metric must be sqeuclidean or euclidean");
  }
  if (stowi_kernel_kind(d.a->dtype) != STOW_KIND_FLOAT ||
      stowi_kernel_kind(d.result->dtype) != STOW_KIND_FLOAT) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "operands must have floats");
  }
  size_t length = (size_t)d.a->dims[1];
  stow_kernel_split(call, stow_tensor_elements(d.result), 1 + 16384 / (length + 1), cdist_task, &d);
  return STOW_OK;
}

STOWI_KERNEL(CDIST, NULL, run_cdist);
