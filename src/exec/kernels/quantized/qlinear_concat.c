// qlinear_concat: operands result's scale, zero, then x, scale, zero for each part, which are
// joined along an axis. A part whose scale is another is requantised by a table of its 256 codes.
#include "exec/kernels/quantized/quantize.h"
#include "exec/kernels/support/kernel.h"

// Rows of |length| bytes, each at every |stride|.
static void put_rows(const uint8_t* in, size_t rows, size_t length, const uint8_t table[256],
                     uint8_t* out, size_t stride) {
  for (size_t row = 0; row < rows; ++row) {
    for (size_t i = 0; i < length; ++i) {
      out[row * stride + i] = table[in[row * length + i]];
    }
  }
}

static size_t product(const stow_tensor* tensor, uint32_t begin, uint32_t end) {
  size_t number = 1;
  for (uint32_t i = begin; i < end; ++i) {
    number *= (size_t)tensor->dims[i];
  }
  return number;
}

// Puts part |k| where its rows begin.
static stow_status put_part(const stow_kernel_call* call, size_t k, uint32_t axis, uint8_t* at) {
  const stow_tensor* out = call->results[0];
  const stow_tensor* part = call->operands[k];
  stowi_scale in_scale;
  stowi_scale out_scale;
  uint8_t table[256];
  stow_status status = stowi_need_bytes(call, part, "a part");
  status = status == STOW_OK ? stowi_read_scale(call, k + 1, &in_scale) : status;
  status = status == STOW_OK ? stowi_read_scale(call, 0, &out_scale) : status;
  if (status == STOW_OK) {
    stowi_quantize_table(in_scale, part->dtype, out_scale, out->dtype, NULL, 0, table);
    put_rows(part->data, product(out, 0, axis), product(part, axis, part->rank), table, at,
             product(out, axis, out->rank));
  }
  return status;
}

static stow_status run(stow_kernel_call* call) {
  stow_tensor* out = call->results[0];
  stow_status status = stowi_need_bytes(call, out, "the result");
  if (status != STOW_OK || stow_tensor_elements(out) == 0) {
    return status;
  }
  int64_t given = stow_kernel_int(call, "axis", 0);
  uint32_t axis = (uint32_t)(given < 0 ? given + (int64_t)out->rank : given);
  uint8_t* at = out->data;
  for (size_t k = 2; status == STOW_OK && k < call->operand_count; k += 3) {
    status = put_part(call, k, axis, at);
    at += product(call->operands[k], axis, call->operands[k]->rank);
  }
  return status;
}

STOWI_KERNEL(QLINEAR_CONCAT, NULL, run);
