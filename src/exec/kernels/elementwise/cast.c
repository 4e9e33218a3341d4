// Elements of one dtype as another. Integers pass through i64, where their low bits stay; floats
// through f32 where both sides fit in it, else f64. A block is read before it is written, so that
// narrower elements may be written over wider ones.
#include <string.h>

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/small.h"
#include "exec/kernels/support/walk.h"

typedef struct cast_task {
  const stow_tensor* in;
  stow_tensor* out;
  bool saturates;  // for f8 types
  stowi_kernel_round round;
} cast_task;

#define DEFINE_CAST(name, type, load, store)                                  \
  static void name(void* user, size_t begin, size_t end, uint32_t worker) {   \
    const cast_task* t = (const cast_task*)user;                              \
    type block[STOWI_KERNEL_BLOCK];                                           \
    (void)worker;                                                             \
    for (size_t i = begin; i < end; i += STOWI_KERNEL_BLOCK) {                \
      size_t n = end - i < STOWI_KERNEL_BLOCK ? end - i : STOWI_KERNEL_BLOCK; \
      load(t->in->dtype, t->in->data, i, n, block);                           \
      store(t->out->dtype, t->out->data, i, n, block);                        \
    }                                                                         \
  }

DEFINE_CAST(cast_f32, float, stowi_kernel_load_f32, stowi_kernel_store_f32)
DEFINE_CAST(cast_f64, double, stowi_kernel_load_f64, stowi_kernel_store_f64)
DEFINE_CAST(cast_i64, int64_t, stowi_kernel_load_i64, stowi_kernel_store_i64)

// f32 that is not in place needs no block.
static void cast_to_f32(void* user, size_t begin, size_t end, uint32_t worker) {
  const cast_task* t = (const cast_task*)user;
  (void)worker;
  stowi_kernel_load_f32(t->in->dtype, t->in->data, begin, end - begin,
                        (float*)t->out->data + begin);
}

// To f8 types, by the rules that were requested.
static void cast_small(void* user, size_t begin, size_t end, uint32_t worker) {
  const cast_task* t = (const cast_task*)user;
  uint8_t* out = t->out->data;
  double block[STOWI_KERNEL_BLOCK];
  (void)worker;
  for (size_t i = begin; i < end; i += STOWI_KERNEL_BLOCK) {
    size_t n = end - i < STOWI_KERNEL_BLOCK ? end - i : STOWI_KERNEL_BLOCK;
    stowi_kernel_load_f64(t->in->dtype, t->in->data, i, n, block);
    for (size_t j = 0; j < n; ++j) {
      out[i + j] = stowi_kernel_small_of_f64(t->out->dtype, block[j], t->saturates, t->round);
    }
  }
}

static bool is_float(stow_dtype dtype) { return stowi_kernel_kind(dtype) == STOW_KIND_FLOAT; }

// Whether f32 holds every number of |dtype|, or is what it is rounded to anyhow.
static bool fits_f32(stow_dtype from, stow_dtype to) {
  return from != STOW_F64 && to != STOW_F64 &&
         (is_float(from) || to == STOW_F32 || stowi_kernel_bits(from) <= 16);
}

static stow_split_task task_of(const cast_task* t) {
  stow_dtype from = t->in->dtype;
  stow_dtype to = t->out->dtype;
  if (!is_float(from) && !is_float(to)) {
    return cast_i64;
  }
  if (stowi_kernel_is_small(to) && stowi_kernel_bits(to) == 8) {
    return cast_small;
  }
  if (!fits_f32(from, to)) {
    return cast_f64;
  }
  return to == STOW_F32 && t->in->data != t->out->data ? cast_to_f32 : cast_f32;
}

static stow_status run_cast(stow_kernel_call* call) {
  cast_task t = {call->operands[0], call->results[0], true, STOWI_KERNEL_ROUND_UP};
  stow_dtype from = t.in->dtype;
  stow_dtype to = t.out->dtype;
  if (from == to) {
    size_t size = stow_tensor_bytes(t.out);
    if (size != 0 && t.in->data != t.out->data) {
      memcpy(t.out->data, t.in->data, size);
    }
    return STOW_OK;
  }
  if (stowi_kernel_kind(from) == STOW_KIND_COMPLEX || stowi_kernel_kind(to) == STOW_KIND_COMPLEX) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "%s cannot be cast to %s",
                            stowi_kernel_dtype_text(from), stowi_kernel_dtype_text(to));
  }
  if (stowi_kernel_is_small(to)) {
    t.saturates = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_SATURATE, true);
    t.round = stowi_kernel_is(call, STOWI_KERNEL_ATTR_ROUND_MODE, "down") ? STOWI_KERNEL_ROUND_DOWN
              : stowi_kernel_is(call, STOWI_KERNEL_ATTR_ROUND_MODE, "nearest")
                  ? STOWI_KERNEL_ROUND_NEAREST
                  : STOWI_KERNEL_ROUND_UP;
  }
  stowi_kernel_split_elements(call, stow_tensor_elements(t.out), 2, task_of(&t), &t);
  return STOW_OK;
}

static stow_status run_bitcast(stow_kernel_call* call) {
  size_t size = stow_tensor_bytes(call->results[0]);
  if (size != 0 && call->results[0]->data != call->operands[0]->data) {
    memcpy(call->results[0]->data, call->operands[0]->data, size);
  }
  return STOW_OK;
}

STOWI_KERNEL(CAST, NULL, run_cast);
STOWI_KERNEL(CAST_LIKE, NULL, run_cast);
STOWI_KERNEL(BITCAST, NULL, run_bitcast);
