// qlinear_sigmoid and qlinear_leaky_relu: operands x, scale, zero, result's scale, zero. There are
// 256 numbers that x can be, so that a table of what comes of each is made first.
#include "exec/kernels/quantized/quantize.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/math.h"
#include "exec/kernels/support/walk.h"

typedef struct table_task {
  const uint8_t* in;
  uint8_t* out;
  uint8_t table[256];
} table_task;

static void look_up(void* user, size_t begin, size_t end, uint32_t worker) {
  const table_task* t = (const table_task*)user;
  (void)worker;
  for (size_t i = begin; i < end; ++i) {
    t->out[i] = t->table[t->in[i]];
  }
}

static float sigmoid(float x, float p) {
  (void)p;
  return stowi_sigmoidf(x);
}

static float leaky_relu(float x, float alpha) { return x < 0 ? alpha * x : x; }

static stow_status run(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  stow_tensor* out = call->results[0];
  table_task t = {.in = x->data, .out = out->data};
  stowi_scale in_scale;
  stowi_scale out_scale;
  stow_status status = stowi_need_bytes(call, x, "operand 0");
  status = status == STOW_OK ? stowi_need_bytes(call, out, "the result") : status;
  status = status == STOW_OK ? stowi_read_scale(call, 1, &in_scale) : status;
  status = status == STOW_OK ? stowi_read_scale(call, 3, &out_scale) : status;
  if (status != STOW_OK) {
    return status;
  }
  bool is_sigmoid = call->op == STOW_OP_QLINEAR_SIGMOID;
  float alpha = is_sigmoid ? 0 : (float)stow_kernel_float(call, "alpha", 0.01);
  stowi_quantize_table(in_scale, x->dtype, out_scale, out->dtype, is_sigmoid ? sigmoid : leaky_relu,
                       alpha, t.table);
  stowi_split_elements(call, stow_tensor_elements(out), 2, look_up, &t);
  return STOW_OK;
}

STOWI_KERNEL(QLINEAR_SIGMOID, NULL, run);
STOWI_KERNEL(QLINEAR_LEAKY_RELU, NULL, run);
