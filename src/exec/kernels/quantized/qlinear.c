// Element-wise ops, concat and softmax of quantised tensors.
#include "exec/kernels/layout/numbers.h"
#include "exec/kernels/quantized/quantize.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/math.h"
#include "exec/kernels/support/vector.h"
#include "exec/kernels/support/walk.h"

// ---------------------------------------------------------------------------------------------
// qlinear_sigmoid and qlinear_leaky_relu: operands x, scale, zero, result's scale, zero. x has only
// 256 values, so a table of results is made first.

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

STOWI_KERNEL_LOOP(sigmoid_of, (float x, float* out), (x, out)) {
  *out = stowi_kernel_sigmoidf(has_fma, x);
}

static float sigmoid(float x, float p) {
  (void)p;
  sigmoid_of(x, &x);
  return x;
}

static float leaky_relu(float x, float alpha) { return x < 0 ? alpha * x : x; }

static stow_status run_unary(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  stow_tensor* out = call->results[0];
  table_task t = {.in = x->data, .out = out->data};
  stowi_kernel_scale in_scale;
  stowi_kernel_scale out_scale;
  STOWI_KERNEL_TRY(stowi_kernel_need_bytes(call, x, "operand 0"));
  STOWI_KERNEL_TRY(stowi_kernel_need_bytes(call, out, "the result"));
  STOWI_KERNEL_TRY(stowi_kernel_read_scale(call, 1, &in_scale));
  STOWI_KERNEL_TRY(stowi_kernel_read_scale(call, 3, &out_scale));
  bool is_sigmoid = call->op == STOW_OP_QLINEAR_SIGMOID;
  float alpha = is_sigmoid ? 0 : (float)stowi_kernel_float(call, STOWI_KERNEL_ATTR_ALPHA, 0.01);
  stowi_kernel_quantize_table(in_scale, x->dtype, out_scale, out->dtype,
                              is_sigmoid ? sigmoid : leaky_relu, alpha, t.table);
  stowi_kernel_split_elements(call, stow_tensor_elements(out), 2, look_up, &t);
  return STOW_OK;
}

STOWI_KERNEL(QLINEAR_SIGMOID, NULL, run_unary);
STOWI_KERNEL(QLINEAR_LEAKY_RELU, NULL, run_unary);

// ---------------------------------------------------------------------------------------------
// qlinear_add and qlinear_mul: operands a, scale, zero, b, scale, zero, result's scale, zero. Both
// are dequantised a block at a time, broadcast, and the result is quantised.

typedef struct qlinear_task {
  const stow_tensor* a;
  const stow_tensor* b;
  stow_tensor* out;
  stowi_kernel_scale a_scale;
  stowi_kernel_scale b_scale;
  stowi_kernel_scale out_scale;
  bool is_product;
  stowi_kernel_walk walk;
} qlinear_task;

STOWI_KERNEL_LOOP(combine, (float* a, const float* b, size_t count, const qlinear_task* t),
                  (a, b, count, t)) {
  const stowi_kernel_scale x = t->a_scale;
  const stowi_kernel_scale y = t->b_scale;
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
  float a[STOWI_KERNEL_BLOCK];
  float b[STOWI_KERNEL_BLOCK];
  (void)worker;
  for (size_t i = begin; i < end; i += STOWI_KERNEL_BLOCK) {
    size_t n = end - i < STOWI_KERNEL_BLOCK ? end - i : STOWI_KERNEL_BLOCK;
    stowi_kernel_spread_f32(&t->walk, 0, t->a, i, n, a);
    stowi_kernel_spread_f32(&t->walk, 1, t->b, i, n, b);
    combine(a, b, n, t);
    stowi_kernel_quantize(t->out->dtype, t->out->data, i, n, a, &t->out_scale.zero, 0, true);
  }
}

static stow_status run_binary(stow_kernel_call* call) {
  qlinear_task t = {.a = call->operands[0],
                    .b = call->operands[3],
                    .out = call->results[0],
                    .is_product = call->op == STOW_OP_QLINEAR_MUL};
  const stow_tensor* operands[] = {t.a, t.b};
  STOWI_KERNEL_TRY(stowi_kernel_need_bytes(call, t.a, "operand 0"));
  STOWI_KERNEL_TRY(stowi_kernel_need_bytes(call, t.out, "the result"));
  STOWI_KERNEL_TRY(stowi_kernel_read_scale(call, 1, &t.a_scale));
  STOWI_KERNEL_TRY(stowi_kernel_read_scale(call, 4, &t.b_scale));
  STOWI_KERNEL_TRY(stowi_kernel_read_scale(call, 6, &t.out_scale));
  stowi_kernel_walk_init(&t.walk, t.out, operands, 2);
  stowi_kernel_split_elements(call, t.walk.count, 8, run_range, &t);
  return STOW_OK;
}

STOWI_KERNEL(QLINEAR_ADD, NULL, run_binary);
STOWI_KERNEL(QLINEAR_MUL, NULL, run_binary);

// ---------------------------------------------------------------------------------------------
// qlinear_concat: operands result's scale, zero, then x, scale, zero for each part, concatenated
// along an axis. A part with a different scale is requantised by a table of its 256 codes.

// Rows of |length| bytes, each at every |stride|.
static void put_rows(const uint8_t* in, size_t rows, size_t length, const uint8_t table[256],
                     uint8_t* out, size_t stride) {
  for (size_t row = 0; row < rows; ++row) {
    for (size_t i = 0; i < length; ++i) {
      out[row * stride + i] = table[in[row * length + i]];
    }
  }
}

// Puts part |k| where its rows begin.
static stow_status put_part(const stow_kernel_call* call, size_t k, uint32_t axis, uint8_t* at) {
  const stow_tensor* out = call->results[0];
  const stow_tensor* part = call->operands[k];
  stowi_kernel_scale in_scale;
  stowi_kernel_scale out_scale;
  uint8_t table[256];
  STOWI_KERNEL_TRY(stowi_kernel_need_bytes(call, part, "a part"));
  STOWI_KERNEL_TRY(stowi_kernel_read_scale(call, k + 1, &in_scale));
  STOWI_KERNEL_TRY(stowi_kernel_read_scale(call, 0, &out_scale));
  stowi_kernel_quantize_table(in_scale, part->dtype, out_scale, out->dtype, NULL, 0, table);
  put_rows(part->data, stowi_kernel_count_of(out, 0, axis),
           stowi_kernel_count_of(part, axis, part->rank), table, at,
           stowi_kernel_count_of(out, axis, out->rank));
  return STOW_OK;
}

static stow_status run_concat(stow_kernel_call* call) {
  stow_tensor* out = call->results[0];
  stow_status status = stowi_kernel_need_bytes(call, out, "the result");
  if (status != STOW_OK || stow_tensor_elements(out) == 0) {
    return status;
  }
  int64_t given = stowi_kernel_int(call, STOWI_KERNEL_ATTR_AXIS, 0);
  uint32_t axis = (uint32_t)(given < 0 ? given + (int64_t)out->rank : given);
  uint8_t* at = out->data;
  for (size_t k = 2; status == STOW_OK && k < call->operand_count; k += 3) {
    status = put_part(call, k, axis, at);
    at += stowi_kernel_count_of(call->operands[k], axis, call->operands[k]->rank);
  }
  return status;
}

STOWI_KERNEL(QLINEAR_CONCAT, NULL, run_concat);

// ---------------------------------------------------------------------------------------------
// qlinear_softmax: operands x, scale, zero, result's scale, zero. From opset 13 on a row is along
// the axis; before, all dims from the axis on are one row. exp((q - largest) × scale) has 256
// values, one per distance from the row's largest element, computed once; the zero point cancels.
// Each row is summed before any of it is written.

#define GRAIN 0x4000U  // elements that are worth another worker

typedef struct softmax_task {
  const stow_tensor* x;
  stow_tensor* out;
  size_t length;  // of a row
  size_t stride;  // between its elements
  stowi_kernel_scale out_scale;
  float exps[256];  // of the distance from the largest
} softmax_task;

// Of a row, from |first| on: the largest code, in the order of numbers, and what exponentials add
// up to. |flip| turns codes of i8 into that order.
static double sum_row(const softmax_task* t, size_t first, uint8_t flip, uint8_t* out_largest) {
  const uint8_t* x = (const uint8_t*)t->x->data + first;
  uint8_t largest = 0;
  for (size_t i = 0; i < t->length; ++i) {
    uint8_t rank = x[i * t->stride] ^ flip;
    largest = rank > largest ? rank : largest;
  }
  double sum = 0;
  for (size_t i = 0; i < t->length; ++i) {
    sum += (double)t->exps[largest - (x[i * t->stride] ^ flip)];
  }
  *out_largest = largest;
  return sum;
}

// Results depend on the distance from the largest alone: a long row has a table of them.
static void softmax_row(const softmax_task* t, size_t first) {
  const uint8_t* x = (const uint8_t*)t->x->data + first;
  uint8_t* out = (uint8_t*)t->out->data + first;
  uint8_t flip = t->x->dtype == STOW_I8 ? 0x80 : 0;
  uint8_t largest;
  double sum = sum_row(t, first, flip, &largest);
  bool has_table = t->length > 256;
  size_t count = has_table ? (size_t)largest + 1 : t->length;
  float numbers[256];
  uint8_t codes[256];
  for (size_t i = 0; i < count; ++i) {
    size_t distance = has_table ? i : (size_t)(largest - (x[i * t->stride] ^ flip));
    numbers[i] = (float)((double)t->exps[distance] / sum);
  }
  stowi_kernel_quantize_by(t->out_scale, t->out->dtype, codes, 0, count, numbers);
  for (size_t i = 0; i < t->length; ++i) {
    out[i * t->stride] = codes[has_table ? (size_t)(largest - (x[i * t->stride] ^ flip)) : i];
  }
}

static void run_rows(void* user, size_t begin, size_t end, uint32_t worker) {
  const softmax_task* t = (const softmax_task*)user;
  (void)worker;
  for (size_t row = begin; row < end; ++row) {
    softmax_row(t, row / t->stride * t->stride * t->length + row % t->stride);
  }
}

static void set_rows(const stow_kernel_call* call, softmax_task* t) {
  int64_t rank = (int64_t)t->x->rank;
  int64_t axis = stowi_kernel_int(call, STOWI_KERNEL_ATTR_AXIS, -1);
  axis = axis < 0 ? axis + rank : axis;
  bool is_flat = stowi_kernel_int(call, STOWI_KERNEL_ATTR_OPSET, 13) < 13;
  t->length = 1;
  t->stride = 1;
  for (int64_t i = axis; i < rank; ++i) {
    size_t dim = (size_t)t->x->dims[i];
    if (i == axis || is_flat) {
      t->length *= dim;
    } else {
      t->stride *= dim;
    }
  }
}

STOWI_KERNEL_LOOP(make_exps, (float scale, float exps[256]), (scale, exps)) {
  for (uint32_t i = 0; i < 256; ++i) {
    exps[i] = stowi_kernel_expf(has_fma, -(float)(int32_t)i * scale);
  }
}

static stow_status run_softmax(stow_kernel_call* call) {
  softmax_task t = {.x = call->operands[0], .out = call->results[0]};
  STOWI_KERNEL_TRY(stowi_kernel_need_bytes(call, t.x, "operand 0"));
  STOWI_KERNEL_TRY(stowi_kernel_need_bytes(call, t.out, "the result"));
  stowi_kernel_scale in_scale;
  STOWI_KERNEL_TRY(stowi_kernel_read_scale(call, 1, &in_scale));
  STOWI_KERNEL_TRY(stowi_kernel_read_scale(call, 3, &t.out_scale));
  size_t count = stow_tensor_elements(t.x);
  if (count == 0) {
    return STOW_OK;
  }
  make_exps(in_scale.scale, t.exps);
  set_rows(call, &t);
  stow_kernel_split(call, count / t.length, GRAIN / (4 * t.length) + 1, run_rows, &t);
  return STOW_OK;
}

STOWI_KERNEL(QLINEAR_SOFTMAX, NULL, run_softmax);
