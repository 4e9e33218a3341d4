// Slices of a quantised table, picked by index and brought back to floats: (element - zero) ×
// scale, both of a block of elements along an axis. An index that is out of range gives zeros. A
// table of bytes has 8 / bits elements in each along its last dim, the first in the lowest bits.
#include "exec/kernels/indexing/indices.h"
#include "exec/kernels/layout/elements.h"
#include "exec/kernels/layout/numbers.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

#define GRAIN 4096  // elements

// The table is [outer, dim, slice] for its indices, and [.., along, inner] for its scales, which
// are [.., blocks, inner].
typedef struct lookup {
  const stow_tensor* table;
  const stow_tensor* indices;
  const stow_tensor* scales;
  const stow_tensor* zeros;
  stow_tensor* result;
  stow_dtype dtype;  // of elements: of the table, or what its bytes hold
  size_t count;      // of indices
  int64_t dim;
  size_t slice;
  size_t along, blocks, inner, block;
  size_t zero_row, scale_row;  // elements of the last dim
  int64_t default_zero;
} lookup;

static int64_t zero_at(const lookup* t, size_t scale) {
  int64_t zero = t->default_zero;
  if (t->zeros != NULL) {
    size_t at = scale / t->scale_row * t->zero_row + scale % t->scale_row;
    stowi_kernel_load_i64(t->dtype, t->zeros->data, at, 1, &zero);
  }
  return zero;
}

// Elements [first, first + count) of the table.
static void dequantize(const lookup* t, size_t first, size_t count, float* out) {
  int64_t block[STOWI_KERNEL_BLOCK];
  stowi_kernel_load_i64(t->dtype, t->table->data, first, count, block);
  for (size_t j = 0; j < count; ++j) {
    size_t at = first + j;
    size_t outer = at / (t->along * t->inner);
    size_t place = at / t->inner % t->along / t->block;
    size_t scale = (outer * t->blocks + place) * t->inner + at % t->inner;
    float factor;
    stowi_kernel_load_f32(t->scales->dtype, t->scales->data, scale, 1, &factor);
    out[j] = (float)(block[j] - zero_at(t, scale)) * factor;
  }
}

static void look_up(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const lookup* t = user;
  float block[STOWI_KERNEL_BLOCK];
  for (size_t i = begin; i < end; ++i) {
    int64_t index = stowi_kernel_int_at(t->indices, i % t->count);
    bool is_inside = index >= -t->dim && index < t->dim;
    size_t row =
        i / t->count * (size_t)t->dim + (size_t)(is_inside ? stowi_kernel_index(index, t->dim) : 0);
    for (size_t j = 0; j < t->slice; j += STOWI_KERNEL_BLOCK) {
      size_t size = t->slice - j < STOWI_KERNEL_BLOCK ? t->slice - j : STOWI_KERNEL_BLOCK;
      if (is_inside) {
        dequantize(t, row * t->slice + j, size, block);
      } else {
        stowi_kernel_fill_elements(32, block, 0, size, NULL);
      }
      stowi_kernel_store_f32(t->result->dtype, t->result->data, i * t->slice + j, size, block);
    }
  }
}

static stow_status read_lookup(const stow_kernel_call* call, lookup* t, size_t* out_outer) {
  stow_tensor whole = *t->table;  // its dims in elements
  int64_t bits = stowi_kernel_int(call, STOWI_KERNEL_ATTR_BITS, 4);
  uint32_t axis = 0;
  uint32_t along = 0;
  t->dtype = whole.dtype;
  if (whole.dtype == STOW_U8) {
    whole.dims[whole.rank - 1] *= 8 / bits;
    t->dtype = bits == 2 ? STOW_U2 : bits == 4 ? STOW_U4 : STOW_U8;
    t->default_zero = (int64_t)1 << (bits - 1);
  }
  stow_status status = stowi_kernel_axis_attr(call, whole.rank, &axis);
  if (status == STOW_OK) {
    status = stowi_kernel_axis_of(call, stowi_kernel_int(call, STOWI_KERNEL_ATTR_QUANTIZE_AXIS, 1),
                                  whole.rank, &along);
  }
  if (status != STOW_OK) {
    return status;
  }
  *out_outer = stowi_kernel_count_of(&whole, 0, axis);
  t->count = stow_tensor_elements(t->indices);
  t->dim = whole.dims[axis];
  t->slice = stowi_kernel_count_of(&whole, axis + 1, whole.rank);
  t->along = (size_t)whole.dims[along];
  t->inner = stowi_kernel_count_of(&whole, along + 1, whole.rank);
  t->block = (size_t)stowi_kernel_int(call, STOWI_KERNEL_ATTR_BLOCK, 128);
  t->blocks = t->block == 0 ? 0 : (t->along + t->block - 1) / t->block;
  t->scale_row = along + 1 == whole.rank ? t->blocks : (size_t)whole.dims[whole.rank - 1];
  size_t rows = stowi_kernel_count_of(&whole, 0, along);
  if (t->block == 0 || stow_tensor_elements(t->scales) != rows * t->blocks * t->inner) {
    return stow_kernel_fail(call, STOW_ERR_TYPE, "%zu scales, expected %zu",
                            stow_tensor_elements(t->scales), rows * t->blocks * t->inner);
  }
  return STOW_OK;
}

// Zeros lie as the scales do, but for those in bytes, whose rows begin with whole ones.
static stow_status read_zeros(const stow_kernel_call* call, lookup* t) {
  t->zero_row = t->scale_row;
  if (t->zeros == NULL || t->scale_row == 0) {
    return STOW_OK;
  }
  size_t rows = stow_tensor_elements(t->scales) / t->scale_row;
  size_t held = 8 / stowi_kernel_bits(t->dtype);
  bool is_packed = t->zeros->dtype == STOW_U8;
  if (is_packed) {
    t->zero_row = (t->scale_row + held - 1) / held * held;
  }
  size_t needed = rows * t->zero_row / (is_packed ? held : 1);
  if (stow_tensor_elements(t->zeros) != needed) {
    return stow_kernel_fail(call, STOW_ERR_TYPE, "%zu zero points, expected %zu",
                            stow_tensor_elements(t->zeros), needed);
  }
  return STOW_OK;
}

static stow_status run_gather_quantized(stow_kernel_call* call) {
  lookup t = {.table = call->operands[0],
              .indices = call->operands[1],
              .scales = call->operands[2],
              .zeros = stow_kernel_operand(call, 3),
              .result = call->results[0]};
  size_t outer = 0;
  STOWI_KERNEL_TRY(read_lookup(call, &t, &outer));
  STOWI_KERNEL_TRY(read_zeros(call, &t));
  if (stow_tensor_elements(t.result) == 0) {
    return STOW_OK;
  }
  stow_kernel_split(call, outer * t.count, GRAIN / t.slice + 1, look_up, &t);
  return STOW_OK;
}

STOWI_KERNEL(GATHER_QUANTIZED, NULL, run_gather_quantized);
