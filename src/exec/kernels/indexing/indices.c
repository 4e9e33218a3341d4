// Indices: checking them, index tuples, and the offsets of the elements they select.
#include "exec/kernels/indexing/indices.h"

#include <string.h>

#include "exec/kernels/layout/elements.h"
#include "exec/kernels/layout/numbers.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

static stow_status fail_index(const stow_kernel_call* call, int64_t index, uint32_t axis,
                              int64_t dim) {
  return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                          "index %lld is out of range (dim %u is %lld)", (long long)index,
                          (unsigned)axis, (long long)dim);
}

stow_status stowi_kernel_check_indices(const stow_kernel_call* call, const stow_tensor* indices,
                                       const stow_tensor* of, uint32_t axis) {
  int64_t block[STOWI_KERNEL_BLOCK];
  int64_t dim = of->dims[axis];
  size_t count = stow_tensor_elements(indices);
  for (size_t i = 0; i < count; i += STOWI_KERNEL_BLOCK) {
    size_t size = count - i < STOWI_KERNEL_BLOCK ? count - i : STOWI_KERNEL_BLOCK;
    stowi_kernel_load_i64(indices->dtype, indices->data, i, size, block);
    for (size_t j = 0; j < size; ++j) {
      if (block[j] < -dim || block[j] >= dim) {
        return fail_index(call, block[j], axis, dim);
      }
    }
  }
  return STOW_OK;
}

// The same of tuples, as long as the last dim of |indices|, whose number i is an index of dim
// |first| + i of |of|.
static stow_status check_tuples(const stow_kernel_call* call, const stow_tensor* indices,
                                const stow_tensor* of, uint32_t first) {
  int64_t block[STOWI_KERNEL_BLOCK];
  size_t count = stow_tensor_elements(indices);
  size_t length = indices->rank == 0 ? 1 : (size_t)indices->dims[indices->rank - 1];
  for (size_t i = 0; i < count; i += STOWI_KERNEL_BLOCK) {
    size_t size = count - i < STOWI_KERNEL_BLOCK ? count - i : STOWI_KERNEL_BLOCK;
    stowi_kernel_load_i64(indices->dtype, indices->data, i, size, block);
    for (size_t j = 0; j < size; ++j) {
      uint32_t axis = first + (uint32_t)((i + j) % length);
      int64_t dim = of->dims[axis];
      if (block[j] < -dim || block[j] >= dim) {
        return fail_index(call, block[j], axis, dim);
      }
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Places of slices: constant time for each tuple.

stow_status stowi_kernel_tuples_init(const stow_kernel_call* call, uint32_t batch_dims,
                                     stowi_kernel_tuples* out) {
  const stow_tensor* data = call->operands[0];
  const stow_tensor* indices = call->operands[1];
  uint32_t last = indices->rank - 1;
  out->data = data;
  out->indices = indices;
  out->batch_dims = batch_dims;
  out->length = (uint32_t)indices->dims[last];
  out->count = stowi_kernel_count_of(indices, 0, last);
  out->per_batch = stowi_kernel_count_of(indices, batch_dims, last);
  out->slice = stowi_kernel_count_of(data, batch_dims + out->length, data->rank);
  stowi_kernel_strides_of(data, out->strides);
  return check_tuples(call, indices, data, batch_dims);
}

size_t stowi_kernel_tuple_place(const stowi_kernel_tuples* t, size_t i) {
  int64_t tuple[STOW_MAX_RANK];
  int64_t whole = (int64_t)stowi_kernel_count_of(t->data, t->batch_dims, t->data->rank);
  int64_t place = (int64_t)(i / t->per_batch) * whole;
  stowi_kernel_load_i64(t->indices->dtype, t->indices->data, i * t->length, t->length, tuple);
  for (uint32_t k = 0; k < t->length; ++k) {
    uint32_t axis = t->batch_dims + k;
    place += stowi_kernel_index(tuple[k], t->data->dims[axis]) * t->strides[axis];
  }
  return (size_t)place;
}

// ---------------------------------------------------------------------------------------------
// Places of elements, a block of a row at a time: the row's place in the data is found once.

stow_status stowi_kernel_elements_at_init(const stow_kernel_call* call,
                                          stowi_kernel_elements_at* out) {
  out->data = call->operands[0];
  out->indices = call->operands[1];
  stowi_kernel_strides_of(out->data, out->strides);
  STOWI_KERNEL_TRY(stowi_kernel_axis_attr(call, out->data->rank, &out->axis));
  for (uint32_t i = 0; i < out->data->rank; ++i) {
    if (i != out->axis && out->indices->dims[i] > out->data->dims[i]) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "dim %u of the indices is %lld, that of the data %lld", (unsigned)i,
                              (long long)out->indices->dims[i], (long long)out->data->dims[i]);
    }
  }
  return stowi_kernel_check_indices(call, out->indices, out->data, out->axis);
}

size_t stowi_kernel_elements_at_rows(const stowi_kernel_elements_at* e, size_t* out_row) {
  uint32_t last = e->indices->rank - 1;
  *out_row = (size_t)e->indices->dims[last];
  return *out_row == 0 ? 0 : stowi_kernel_count_of(e->indices, 0, last);
}

void stowi_kernel_elements_at_block(const stowi_kernel_elements_at* e, size_t row, size_t first,
                                    size_t count, int64_t* out) {
  uint32_t last = e->indices->rank - 1;
  int64_t dim = e->data->dims[e->axis];
  int64_t stride = e->strides[e->axis];
  size_t rest = row;
  int64_t base = 0;
  stowi_kernel_load_i64(e->indices->dtype, e->indices->data,
                        row * (size_t)e->indices->dims[last] + first, count, out);
  for (uint32_t k = last; k-- > 0;) {
    int64_t index = (int64_t)(rest % (size_t)e->indices->dims[k]);
    base += k == e->axis ? 0 : index * e->strides[k];
    rest /= (size_t)e->indices->dims[k];
  }
  int64_t along = e->axis == last ? 0 : 1;
  for (size_t j = 0; j < count; ++j) {
    out[j] = base + stowi_kernel_index(out[j], dim) * stride + along * (int64_t)(first + j);
  }
}

// ---------------------------------------------------------------------------------------------
// Single elements: plain loads and stores of their width.

// Neither side need be aligned.
#define PICK(type)                                                                       \
  for (size_t j = 0; j < count; ++j) {                                                   \
    memcpy((unsigned char*)to + (to_at + j) * sizeof(type),                              \
           (const unsigned char*)from + (size_t)places[j] * sizeof(type), sizeof(type)); \
  }

void stowi_kernel_pick(uint32_t bits, void* to, size_t to_at, const void* from,
                       const int64_t* places, size_t count) {
  switch (bits) {
    case 8: PICK(uint8_t); break;
    case 16: PICK(uint16_t); break;
    case 32: PICK(uint32_t); break;
    case 64: PICK(uint64_t); break;
    default:
      for (size_t j = 0; j < count; ++j) {
        stowi_kernel_copy_elements(bits, to, to_at + j, from, (size_t)places[j], 1);
      }
      break;
  }
}
