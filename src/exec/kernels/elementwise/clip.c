// clip: no less than min, then no more than max; each is a single element or an attribute. NaN
// stays one. Integers are compared as integers.
#include <math.h>

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/vector.h"
#include "exec/kernels/support/walk.h"

typedef struct clip_task {
  const stow_tensor* in;
  stow_tensor* out;
  double low;
  double high;
  int64_t low_int;
  int64_t high_int;
} clip_task;

STOWI_KERNEL_LOOP(clip_f32, (const float* in, float* out, size_t count, float low, float high),
                  (in, out, count, low, high)) {
  STOWI_KERNEL_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    float x = in[i];
    x = x < low ? low : x;
    out[i] = x > high ? high : x;
  }
}

static void run_f32(void* user, size_t begin, size_t end, uint32_t worker) {
  const clip_task* t = (const clip_task*)user;
  (void)worker;
  clip_f32((const float*)t->in->data + begin, (float*)t->out->data + begin, end - begin,
           (float)t->low, (float)t->high);
}

#define DEFINE_BLOCKS(name, type, computed, load, store, low_bound, high_bound) \
  static void name(void* user, size_t begin, size_t end, uint32_t worker) {     \
    const clip_task* t = (const clip_task*)user;                                \
    const computed low = (computed)(low_bound);                                 \
    const computed high = (computed)(high_bound);                               \
    type block[STOWI_KERNEL_BLOCK];                                             \
    (void)worker;                                                               \
    for (size_t i = begin; i < end; i += STOWI_KERNEL_BLOCK) {                  \
      size_t n = end - i < STOWI_KERNEL_BLOCK ? end - i : STOWI_KERNEL_BLOCK;   \
      load(t->in->dtype, t->in->data, i, n, block);                             \
      for (size_t j = 0; j < n; ++j) {                                          \
        computed x = (computed)block[j];                                        \
        x = x < low ? low : x;                                                  \
        block[j] = (type)(x > high ? high : x);                                 \
      }                                                                         \
      store(t->out->dtype, t->out->data, i, n, block);                          \
    }                                                                           \
  }

DEFINE_BLOCKS(run_f64, double, double, stowi_kernel_load_f64, stowi_kernel_store_f64, t->low,
              t->high)
DEFINE_BLOCKS(run_i64, int64_t, int64_t, stowi_kernel_load_i64, stowi_kernel_store_i64, t->low_int,
              t->high_int)
DEFINE_BLOCKS(run_u64, int64_t, uint64_t, stowi_kernel_load_i64, stowi_kernel_store_i64, t->low_int,
              t->high_int)

// Bound |k|, an operand if there is one, else the attribute; as a float, and as an integer of
// |dtype|'s sign.
static void read_bound(const stow_kernel_call* call, size_t k, stowi_kernel_attr_id name,
                       stow_dtype dtype, double* out_float, int64_t* out_int) {
  const stow_tensor* bound = stow_kernel_operand(call, k);
  if (bound != NULL && stow_tensor_elements(bound) != 0) {
    *out_float = stowi_kernel_float_at(bound, 0);
    *out_int = stowi_kernel_int_at(bound, 0);
    return;
  }
  *out_float = stowi_kernel_float(call, name, k == 1 ? -(double)INFINITY : (double)INFINITY);
  if (stowi_kernel_kind(dtype) == STOW_KIND_UNSIGNED) {
    double positive = *out_float < 0 ? 0 : *out_float;
    stowi_kernel_store_f64(STOW_U64, out_int, 0, 1, &positive);
  } else {
    stowi_kernel_store_f64(STOW_I64, out_int, 0, 1, out_float);
  }
}

static stow_split_task task_of(stow_dtype dtype) {
  switch (stowi_kernel_kind(dtype)) {
    case STOW_KIND_FLOAT: return dtype == STOW_F32 ? run_f32 : run_f64;
    case STOW_KIND_SIGNED: return run_i64;
    case STOW_KIND_UNSIGNED: return run_u64;
    case STOW_KIND_BOOL:
    case STOW_KIND_COMPLEX: break;
  }
  return NULL;
}

static stow_status run(stow_kernel_call* call) {
  clip_task t = {.in = call->operands[0], .out = call->results[0]};
  stow_split_task task = task_of(t.in->dtype);
  if (task == NULL) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "operand 0 is %s, expected floats or integers",
                            stowi_kernel_dtype_text(t.in->dtype));
  }
  read_bound(call, 1, STOWI_KERNEL_ATTR_MIN, t.in->dtype, &t.low, &t.low_int);
  read_bound(call, 2, STOWI_KERNEL_ATTR_MAX, t.in->dtype, &t.high, &t.high_int);
  stowi_kernel_split_elements(call, stow_tensor_elements(t.out), 1, task, &t);
  return STOW_OK;
}

STOWI_KERNEL(CLIP, NULL, run);
