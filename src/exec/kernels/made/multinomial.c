// Classes drawn at random, each as often as the exponential of its score says. The running sums of
// a row of them are kept in scratch, and a sample is found there by bisection.
#include <math.h>

#include "exec/kernels/made/random.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

typedef struct drawing {
  const stow_tensor* x;
  stow_tensor* result;
  double* sums;  // of each worker's row
  size_t classes, samples;
  uint64_t seed;
} drawing;

// Scores are taken relative to the highest, so that none overflows.
static void add_up(const drawing* d, size_t row, double* sums) {
  double highest = -INFINITY;
  stowi_load_f64(d->x->dtype, d->x->data, row * d->classes, d->classes, sums);
  for (size_t i = 0; i < d->classes; ++i) {
    highest = sums[i] > highest ? sums[i] : highest;
  }
  double sum = 0.0;
  for (size_t i = 0; i < d->classes; ++i) {
    sum += sums[i] == highest ? 1.0 : exp(sums[i] - highest);
    sums[i] = sum;
  }
}

// The first class whose running sum is above |at|; the last where none is.
static size_t find(const double* sums, size_t classes, double at) {
  size_t low = 0;
  size_t high = classes - 1;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (sums[middle] > at) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

static void draw_rows(void* user, size_t begin, size_t end, uint32_t worker) {
  const drawing* d = user;
  double* sums = d->sums + worker * d->classes;
  for (size_t row = begin; row < end; ++row) {
    add_up(d, row, sums);
    for (size_t i = 0; i < d->samples; ++i) {
      size_t at = row * d->samples + i;
      double place = stowi_random_unit(d->seed, at) * sums[d->classes - 1];
      int64_t drawn = (int64_t)find(sums, d->classes, place);
      stowi_store_i64(d->result->dtype, d->result->data, at, 1, &drawn);
    }
  }
}

static stow_status scratch_multinomial(const stow_kernel_call* call, uint64_t* out_bytes) {
  *out_bytes = (uint64_t)call->operands[0]->dims[1] * call->workers * sizeof(double);
  return STOW_OK;
}

static stow_status run_multinomial(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  drawing d = {.x = x, .result = call->results[0], .sums = call->scratch};
  d.classes = (size_t)x->dims[1];
  d.samples = (size_t)d.result->dims[1];
  d.seed = stowi_seed_of(call);
  stow_dtype_kind kind = stowi_kind(d.result->dtype);
  if (stow_tensor_elements(d.result) == 0) {
    return STOW_OK;
  }
  if (d.classes == 0) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "there are no classes to draw from");
  }
  if (stowi_kind(x->dtype) == STOW_KIND_COMPLEX) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "probabilities must be real numbers");
  }
  if ((kind != STOW_KIND_SIGNED && kind != STOW_KIND_UNSIGNED) ||
      stowi_bits(d.result->dtype) % 8 != 0) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "integers of whole bytes are needed");
  }
  stow_kernel_split(call, (size_t)x->dims[0], 1, draw_rows, &d);
  return STOW_OK;
}

STOWI_KERNEL(MULTINOMIAL, scratch_multinomial, run_multinomial);
