// qlinear_softmax: operands x, scale, zero, result's scale, zero. From opset 13 on a row lies along
// the axis; before, all dims from the axis on are one row. exp((q - largest) × scale) has 256
// values, one for each distance from a row's largest element, and they are made once; the zero
// does not matter. Each row is summed up before any of it is written.
#include "exec/kernels/quantized/quantize.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/math.h"

#define GRAIN 0x4000U  // elements that are worth another worker

typedef struct softmax_task {
  const stow_tensor* x;
  stow_tensor* out;
  size_t length;  // of a row
  size_t stride;  // between its elements
  stowi_scale out_scale;
  float exps[256];  // of the distance from the largest
} softmax_task;

// Codes in the order of their numbers.
static int rank_of(const stow_tensor* x, size_t i) {
  uint8_t code = ((const uint8_t*)x->data)[i];
  return x->dtype == STOW_I8 ? code ^ 0x80 : code;
}

static void softmax_row(const softmax_task* t, size_t first) {
  int largest = 0;
  for (size_t i = 0; i < t->length; ++i) {
    int rank = rank_of(t->x, first + i * t->stride);
    largest = rank > largest ? rank : largest;
  }
  double sum = 0;
  for (size_t i = 0; i < t->length; ++i) {
    sum += (double)t->exps[largest - rank_of(t->x, first + i * t->stride)];
  }
  for (size_t i = 0; i < t->length; ++i) {
    size_t at = first + i * t->stride;
    float number = (float)((double)t->exps[largest - rank_of(t->x, at)] / sum);
    stowi_quantize_by(t->out_scale, t->out->dtype, t->out->data, at, 1, &number);
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
  int64_t axis = stow_kernel_int(call, "axis", -1);
  axis = axis < 0 ? axis + rank : axis;
  bool is_flat = stow_kernel_int(call, "opset", 13) < 13;
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

static stow_status run(stow_kernel_call* call) {
  softmax_task t = {.x = call->operands[0], .out = call->results[0]};
  stow_status status = stowi_need_bytes(call, t.x, "operand 0");
  status = status == STOW_OK ? stowi_need_bytes(call, t.out, "the result") : status;
  stowi_scale in_scale;
  status = status == STOW_OK ? stowi_read_scale(call, 1, &in_scale) : status;
  status = status == STOW_OK ? stowi_read_scale(call, 3, &t.out_scale) : status;
  size_t count = stow_tensor_elements(t.x);
  if (status != STOW_OK || count == 0) {
    return status;
  }
  for (size_t i = 0; i < 256; ++i) {
    t.exps[i] = stowi_expf(-(float)i * in_scale.scale);
  }
  set_rows(call, &t);
  stow_kernel_split(call, count / t.length, GRAIN / (4 * t.length) + 1, run_rows, &t);
  return STOW_OK;
}

STOWI_KERNEL(QLINEAR_SOFTMAX, NULL, run);
