// qlinear_add and qlinear_mul: operands a, scale, zero, b, scale, zero, result's scale, zero. Both
// are read as numbers a block at a time, broadcast, and what comes of them is quantised again.
#include "exec/kernels/quantized/quantize.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/vector.h"
#include "exec/kernels/support/walk.h"

typedef struct qlinear_task {
  const stow_tensor* a;
  const stow_tensor* b;
  stow_tensor* out;
  stowi_scale a_scale;
  stowi_scale b_scale;
  stowi_scale out_scale;
  bool is_product;
  stowi_walk walk;
} qlinear_task;

STOWI_LOOP(combine, (float* a, const float* b, size_t count, const qlinear_task* t),
           (a, b, count, t)) {
  const stowi_scale x = t->a_scale;
  const stowi_scale y = t->b_scale;
  const float scale = t->out_scale.scale;
  if (t->is_product) {
    const float product = x.scale * y.scale / scale;
    for (size_t i = 0; i < count; ++i) {
      a[i] = (a[i] - x.zero) * (b[i] - y.zero) * product;
    }
  } else {
    for (size_t i = 0; i < count; ++i) {
      a[i] = ((a[i] - x.zero) * x.scale + (b[i] - y.zero) * y.scale) / scale;
    }
  }
}

static void run_range(void* user, size_t begin, size_t end, uint32_t worker) {
  const qlinear_task* t = (const qlinear_task*)user;
  float a[STOWI_BLOCK];
  float b[STOWI_BLOCK];
  (void)worker;
  for (size_t i = begin; i < end; i += STOWI_BLOCK) {
    size_t n = end - i < STOWI_BLOCK ? end - i : STOWI_BLOCK;
    stowi_spread_f32(&t->walk, 0, t->a, i, n, a);
    stowi_spread_f32(&t->walk, 1, t->b, i, n, b);
    combine(a, b, n, t);
    stowi_quantize(t->out->dtype, t->out->data, i, n, a, &t->out_scale.zero, 0, true);
  }
}

static stow_status prepare(const stow_kernel_call* call, qlinear_task* t) {
  stow_status status = stowi_need_bytes(call, t->a, "operand 0");
  status = status == STOW_OK ? stowi_need_bytes(call, t->out, "the result") : status;
  status = status == STOW_OK ? stowi_read_scale(call, 1, &t->a_scale) : status;
  status = status == STOW_OK ? stowi_read_scale(call, 4, &t->b_scale) : status;
  return status == STOW_OK ? stowi_read_scale(call, 6, &t->out_scale) : status;
}

static stow_status run(stow_kernel_call* call) {
  qlinear_task t = {.a = call->operands[0],
                    .b = call->operands[3],
                    .out = call->results[0],
                    .is_product = call->op == STOW_OP_QLINEAR_MUL};
  const stow_tensor* operands[] = {t.a, t.b};
  stow_status status = prepare(call, &t);
  if (status == STOW_OK) {
    stowi_walk_init(&t.walk, t.out, operands, 2);
    stowi_split_elements(call, t.walk.count, 8, run_range, &t);
  }
  return status;
}

STOWI_KERNEL(QLINEAR_ADD, NULL, run);
STOWI_KERNEL(QLINEAR_MUL, NULL, run);
