// Random numbers, and the ops that draw from them: multinomial and dropout.
#include <math.h>
#include <stowage/kernel.h>
#include <string.h>

#include "exec/kernels/layout/elements.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/seed.h"

// ---------------------------------------------------------------------------------------------
// Random tensors. A number depends only on the seed and its position, so that work can be divided:
// the output function of splitmix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast Splittable
// Pseudorandom Number Generators", 2014) of the position's state. Normal numbers are made of pairs
// of uniform ones: G. E. P. Box, M. E. Muller, "A Note on the Generation of Random Normal
// Deviates", 1958.

static inline uint64_t random_bits(uint64_t seed, uint64_t i) {
  return stowi_kernel_seed_mix(stowi_kernel_seed_mix(seed) +
                               (i + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

// In [0, 1), a multiple of 2^-53.
static inline double random_unit(uint64_t seed, uint64_t i) {
  return (double)(random_bits(seed, i) >> 11) * 0x1p-53;
}

#define GRAIN 4096  // elements
#define TWO_PI 6.283185307179586476925286766559

// Seeds are floats in files: their bits are as good as any.
// What the attribute `seed` says where it is not 0, else the call's.
static uint64_t seed_of(const stow_kernel_call* call) {
  double seed = stowi_kernel_float(call, STOWI_KERNEL_ATTR_SEED, 0.0);
  uint64_t bits;
  memcpy(&bits, &seed, sizeof(bits));
  return seed == 0.0 ? call->seed : bits;
}

typedef struct sampling {
  double (*draw)(const struct sampling* s, size_t i);
  const stow_tensor* x;  // probabilities
  stow_tensor* result;
  uint64_t seed;
  double a, b;  // mean and scale, or the bounds
} sampling;

static void store(const stow_tensor* result, size_t at, size_t count, const double* numbers) {
  stowi_kernel_store_f64(result->dtype, result->data, at, count, numbers);
}

// 1 - u is never 0, so that its logarithm is a number.
static double normal_at(uint64_t seed, size_t i) {
  double radius = sqrt(-2.0 * log(1.0 - random_unit(seed, 2 * (uint64_t)i)));
  return radius * cos(TWO_PI * random_unit(seed, 2 * (uint64_t)i + 1));
}

static double draw_normal(const sampling* s, size_t i) {
  return s->a + s->b * normal_at(s->seed, i);
}

static double draw_uniform(const sampling* s, size_t i) {
  return s->a + (s->b - s->a) * random_unit(s->seed, i);
}

static void make_numbers(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const sampling* s = user;
  double block[STOWI_KERNEL_BLOCK];
  for (size_t i = begin; i < end; i += STOWI_KERNEL_BLOCK) {
    size_t size = end - i < STOWI_KERNEL_BLOCK ? end - i : STOWI_KERNEL_BLOCK;
    for (size_t j = 0; j < size; ++j) {
      block[j] = s->draw(s, i + j);
    }
    store(s->result, i, size, block);
  }
}

// A block of probabilities is read before its elements are written: these may be in place of it.
static void make_bernoulli(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const sampling* s = user;
  double block[STOWI_KERNEL_BLOCK];
  for (size_t i = begin; i < end; i += STOWI_KERNEL_BLOCK) {
    size_t size = end - i < STOWI_KERNEL_BLOCK ? end - i : STOWI_KERNEL_BLOCK;
    stowi_kernel_load_f64(s->x->dtype, s->x->data, i, size, block);
    for (size_t j = 0; j < size; ++j) {
      block[j] = random_unit(s->seed, i + j) < block[j] ? 1.0 : 0.0;
    }
    store(s->result, i, size, block);
  }
}

// Integers could hold no random number; neighbours that share a byte could not be divided.
static stow_status check_dtype(const stow_kernel_call* call, bool takes_integers) {
  stow_dtype dtype = call->results[0]->dtype;
  stow_dtype_kind kind = stowi_kernel_kind(dtype);
  bool fits = kind == STOW_KIND_FLOAT || (takes_integers && kind != STOW_KIND_COMPLEX);
  if (!fits || stowi_kernel_bits(dtype) % 8 != 0) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "the result must have %s of at least a byte",
                            takes_integers ? "numbers" : "floats");
  }
  return STOW_OK;
}

static stow_status run_sampling(stow_kernel_call* call, sampling s) {
  s.result = call->results[0];
  s.seed = seed_of(call);
  STOWI_KERNEL_TRY(check_dtype(call, false));
  stow_kernel_split(call, stow_tensor_elements(s.result), GRAIN, make_numbers, &s);
  return STOW_OK;
}

static stow_status run_random_normal(stow_kernel_call* call) {
  return run_sampling(call,
                      (sampling){.draw = draw_normal,
                                 .a = stowi_kernel_float(call, STOWI_KERNEL_ATTR_MEAN, 0.0),
                                 .b = stowi_kernel_float(call, STOWI_KERNEL_ATTR_SCALE, 1.0)});
}

static stow_status run_random_uniform(stow_kernel_call* call) {
  return run_sampling(call, (sampling){.draw = draw_uniform,
                                       .a = stowi_kernel_float(call, STOWI_KERNEL_ATTR_LOW, 0.0),
                                       .b = stowi_kernel_float(call, STOWI_KERNEL_ATTR_HIGH, 1.0)});
}

static stow_status run_bernoulli(stow_kernel_call* call) {
  sampling s = {.x = call->operands[0], .result = call->results[0], .seed = seed_of(call)};
  size_t count = stow_tensor_elements(s.result);
  STOWI_KERNEL_TRY(check_dtype(call, true));
  if (stowi_kernel_kind(s.x->dtype) == STOW_KIND_COMPLEX) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "probabilities must not be complex");
  }
  if (stowi_kernel_is_divisible(call)) {
    stow_kernel_split(call, count, GRAIN, make_bernoulli, &s);
  } else {
    make_bernoulli(&s, 0, count, 0);
  }
  return STOW_OK;
}

STOWI_KERNEL(RANDOM_NORMAL, NULL, run_random_normal);
STOWI_KERNEL(RANDOM_UNIFORM, NULL, run_random_uniform);
STOWI_KERNEL(BERNOULLI, NULL, run_bernoulli);

// ---------------------------------------------------------------------------------------------
// multinomial: classes drawn with probabilities proportional to the exponential of their scores.
// The running sums of a row are in scratch, and a sample is found by bisection.

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
  stowi_kernel_load_f64(d->x->dtype, d->x->data, row * d->classes, d->classes, sums);
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
      double place = random_unit(d->seed, at) * sums[d->classes - 1];
      int64_t drawn = (int64_t)find(sums, d->classes, place);
      stowi_kernel_store_i64(d->result->dtype, d->result->data, at, 1, &drawn);
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
  d.seed = seed_of(call);
  stow_dtype_kind kind = stowi_kernel_kind(d.result->dtype);
  if (stow_tensor_elements(d.result) == 0) {
    return STOW_OK;
  }
  if (d.classes == 0) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "there are no classes to draw from");
  }
  if (stowi_kernel_kind(x->dtype) == STOW_KIND_COMPLEX) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "probabilities must be real numbers");
  }
  if ((kind != STOW_KIND_SIGNED && kind != STOW_KIND_UNSIGNED) ||
      stowi_kernel_bits(d.result->dtype) % 8 != 0) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "the result must have integers of at least a byte");
  }
  stow_kernel_split(call, (size_t)x->dims[0], 1, draw_rows, &d);
  return STOW_OK;
}

STOWI_KERNEL(MULTINOMIAL, scratch_multinomial, run_multinomial);

// ---------------------------------------------------------------------------------------------
// dropout: in training, random elements are zeroed and the others scaled up to keep the expected
// sum; otherwise a copy. Either result may be in place: a block is read before it is written.

#define DROPOUT_GRAIN 8192  // elements

typedef struct dropping {
  const stow_tensor* x;
  stow_tensor* result;
  stow_tensor* mask;  // bool; may be NULL
  uint64_t seed;
  double ratio;  // 0: nothing is dropped
} dropping;

static void drop_range(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const dropping* d = user;
  double block[STOWI_KERNEL_BLOCK];
  uint8_t stays[STOWI_KERNEL_BLOCK];
  double scale = 1.0 / (1.0 - d->ratio);
  for (size_t i = begin; i < end; i += STOWI_KERNEL_BLOCK) {
    size_t size = end - i < STOWI_KERNEL_BLOCK ? end - i : STOWI_KERNEL_BLOCK;
    stowi_kernel_load_f64(d->x->dtype, d->x->data, i, size, block);
    for (size_t j = 0; j < size; ++j) {
      stays[j] = random_unit(d->seed, i + j) >= d->ratio;
      block[j] = stays[j] ? block[j] * scale : 0.0;
    }
    stowi_kernel_store_f64(d->result->dtype, d->result->data, i, size, block);
    for (size_t j = 0; d->mask != NULL && j < size; ++j) {
      ((uint8_t*)d->mask->data)[i + j] = stays[j];
    }
  }
}

static stow_status run_dropout(stow_kernel_call* call) {
  const stow_tensor* ratio = stow_kernel_operand(call, 1);
  const stow_tensor* training = stow_kernel_operand(call, 2);
  dropping d = {.x = call->operands[0],
                .result = call->results[0],
                .mask = stow_kernel_result(call, 1),
                .ratio = 0.0};
  int64_t seed = stowi_kernel_int(call, STOWI_KERNEL_ATTR_SEED, 0);
  d.seed = seed == 0 ? call->seed : (uint64_t)seed;
  if (training != NULL && stowi_kernel_int_at(training, 0) != 0) {
    d.ratio = ratio != NULL ? stowi_kernel_float_at(ratio, 0)
                            : stowi_kernel_float(call, STOWI_KERNEL_ATTR_RATIO, 0.5);
  }
  if (!(d.ratio >= 0.0 && d.ratio < 1.0)) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "ratio %g is out of range (0 to less than 1)", d.ratio);
  }
  if (stowi_kernel_kind(d.x->dtype) != STOW_KIND_FLOAT || stowi_kernel_bits(d.x->dtype) % 8 != 0) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "x must have floats of at least a byte");
  }
  size_t count = stow_tensor_elements(d.x);
  if (d.ratio == 0.0) {
    // The operand is copied before the mask is written over it.
    stowi_kernel_copy_elements(stowi_kernel_bits(d.x->dtype), d.result->data, 0, d.x->data, 0,
                               stow_tensor_elements(d.x));
    if (d.mask != NULL && stow_tensor_elements(d.mask) != 0) {
      uint8_t stays = 1;
      stowi_kernel_fill_result(call, d.mask, &stays);
    }
  } else if (stowi_kernel_is_divisible(call)) {
    stow_kernel_split(call, count, DROPOUT_GRAIN, drop_range, &d);
  } else {
    drop_range(&d, 0, count, 0);
  }
  return STOW_OK;
}

STOWI_KERNEL(DROPOUT, NULL, run_dropout);
