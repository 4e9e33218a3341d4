// While training, elements dropped at random and the others made larger, so that their sum stays
// about the same; else the operand as it is. Either result may lie over the operand: a block of it
// is read before elements of that block are written.
#include "exec/kernels/layout/elements.h"
#include "exec/kernels/made/random.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

#define GRAIN 8192  // elements

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
  double block[STOWI_BLOCK];
  uint8_t stays[STOWI_BLOCK];
  double scale = 1.0 / (1.0 - d->ratio);
  for (size_t i = begin; i < end; i += STOWI_BLOCK) {
    size_t size = end - i < STOWI_BLOCK ? end - i : STOWI_BLOCK;
    stowi_load_f64(d->x->dtype, d->x->data, i, size, block);
    for (size_t j = 0; j < size; ++j) {
      stays[j] = stowi_random_unit(d->seed, i + j) >= d->ratio;
      block[j] = stays[j] ? block[j] * scale : 0.0;
    }
    stowi_store_f64(d->result->dtype, d->result->data, i, size, block);
    for (size_t j = 0; d->mask != NULL && j < size; ++j) {
      ((uint8_t*)d->mask->data)[i + j] = stays[j];
    }
  }
}

// The operand is copied before the mask is written over it.
static void keep_all(const stow_kernel_call* call, const dropping* d) {
  stowi_copy_elements(stowi_bits(d->x->dtype), d->result->data, 0, d->x->data, 0,
                      stow_tensor_elements(d->x));
  if (d->mask != NULL && stow_tensor_elements(d->mask) != 0) {
    uint8_t stays = 1;
    stowi_fill_result(call, d->mask, &stays);
  }
}

static stow_status run_dropout(stow_kernel_call* call) {
  const stow_tensor* ratio = stow_kernel_operand(call, 1);
  const stow_tensor* training = stow_kernel_operand(call, 2);
  dropping d = {.x = call->operands[0],
                .result = call->results[0],
                .mask = stow_kernel_result(call, 1),
                .ratio = 0.0};
  int64_t seed = stow_kernel_int(call, "seed", 0);
  d.seed = seed == 0 ? call->seed : (uint64_t)seed;
  if (training != NULL && stowi_int_at(training, 0) != 0) {
    d.ratio = ratio != NULL ? stowi_float_at(ratio, 0) : stow_kernel_float(call, "ratio", 0.5);
  }
  if (!(d.ratio >= 0.0 && d.ratio < 1.0)) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "ratio %g is out of range, 0 or more and less than 1 is needed",
                            d.ratio);
  }
  if (stowi_kind(d.x->dtype) != STOW_KIND_FLOAT || stowi_bits(d.x->dtype) % 8 != 0) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "floats of whole bytes are needed");
  }
  size_t count = stow_tensor_elements(d.x);
  if (d.ratio == 0.0) {
    keep_all(call, &d);
  } else if (stowi_is_divisible(call)) {
    stow_kernel_split(call, count, GRAIN, drop_range, &d);
  } else {
    drop_range(&d, 0, count, 0);
  }
  return STOW_OK;
}

STOWI_KERNEL(DROPOUT, NULL, run_dropout);
