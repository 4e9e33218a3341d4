// Tensors of random numbers. Element i depends on the seed and on i alone. Normal numbers come of
// pairs of uniform ones: G. E. P. Box, M. E. Muller, "A Note on the Generation of Random Normal
// Deviates", 1958.
#include "exec/kernels/made/random.h"

#include <math.h>
#include <string.h>

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

#define GRAIN 4096  // elements
#define TWO_PI 6.283185307179586476925286766559

// Seeds are floats in files: their bits are as good as any.
uint64_t stowi_seed_of(const stow_kernel_call* call) {
  double seed = stow_kernel_float(call, "seed", 0.0);
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
  stowi_store_f64(result->dtype, result->data, at, count, numbers);
}

// 1 - u is never 0, so that its logarithm is a number.
static double normal_at(uint64_t seed, size_t i) {
  double radius = sqrt(-2.0 * log(1.0 - stowi_random_unit(seed, 2 * (uint64_t)i)));
  return radius * cos(TWO_PI * stowi_random_unit(seed, 2 * (uint64_t)i + 1));
}

static double draw_normal(const sampling* s, size_t i) {
  return s->a + s->b * normal_at(s->seed, i);
}

static double draw_uniform(const sampling* s, size_t i) {
  return s->a + (s->b - s->a) * stowi_random_unit(s->seed, i);
}

static void make_numbers(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const sampling* s = user;
  double block[STOWI_BLOCK];
  for (size_t i = begin; i < end; i += STOWI_BLOCK) {
    size_t size = end - i < STOWI_BLOCK ? end - i : STOWI_BLOCK;
    for (size_t j = 0; j < size; ++j) {
      block[j] = s->draw(s, i + j);
    }
    store(s->result, i, size, block);
  }
}

// A block of probabilities is read before its elements are written: these may lie over it.
static void make_bernoulli(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const sampling* s = user;
  double block[STOWI_BLOCK];
  for (size_t i = begin; i < end; i += STOWI_BLOCK) {
    size_t size = end - i < STOWI_BLOCK ? end - i : STOWI_BLOCK;
    stowi_load_f64(s->x->dtype, s->x->data, i, size, block);
    for (size_t j = 0; j < size; ++j) {
      block[j] = stowi_random_unit(s->seed, i + j) < block[j] ? 1.0 : 0.0;
    }
    store(s->result, i, size, block);
  }
}

// Integers could hold no random number; neighbours that share a byte could not be divided.
static stow_status check_dtype(const stow_kernel_call* call, bool takes_integers) {
  stow_dtype dtype = call->results[0]->dtype;
  stow_dtype_kind kind = stowi_kind(dtype);
  bool fits = kind == STOW_KIND_FLOAT || (takes_integers && kind != STOW_KIND_COMPLEX);
  if (!fits || stowi_bits(dtype) % 8 != 0) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "%s of whole bytes are needed",
                            takes_integers ? "numbers" : "floats");
  }
  return STOW_OK;
}

static stow_status run_sampling(stow_kernel_call* call, sampling s) {
  s.result = call->results[0];
  s.seed = stowi_seed_of(call);
  stow_status status = check_dtype(call, false);
  if (status == STOW_OK) {
    stow_kernel_split(call, stow_tensor_elements(s.result), GRAIN, make_numbers, &s);
  }
  return status;
}

static stow_status run_random_normal(stow_kernel_call* call) {
  return run_sampling(call, (sampling){.draw = draw_normal,
                                       .a = stow_kernel_float(call, "mean", 0.0),
                                       .b = stow_kernel_float(call, "scale", 1.0)});
}

static stow_status run_random_uniform(stow_kernel_call* call) {
  return run_sampling(call, (sampling){.draw = draw_uniform,
                                       .a = stow_kernel_float(call, "low", 0.0),
                                       .b = stow_kernel_float(call, "high", 1.0)});
}

static stow_status run_bernoulli(stow_kernel_call* call) {
  sampling s = {.x = call->operands[0], .result = call->results[0], .seed = stowi_seed_of(call)};
  size_t count = stow_tensor_elements(s.result);
  stow_status status = check_dtype(call, true);
  if (status != STOW_OK) {
    return status;
  }
  if (stowi_kind(s.x->dtype) == STOW_KIND_COMPLEX) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "probabilities must not be complex");
  }
  if (stowi_is_divisible(call)) {
    stow_kernel_split(call, count, GRAIN, make_bernoulli, &s);
  } else {
    make_bernoulli(&s, 0, count, 0);
  }
  return STOW_OK;
}

STOWI_KERNEL(RANDOM_NORMAL, NULL, run_random_normal);
STOWI_KERNEL(RANDOM_UNIFORM, NULL, run_random_uniform);
STOWI_KERNEL(BERNOULLI, NULL, run_bernoulli);
