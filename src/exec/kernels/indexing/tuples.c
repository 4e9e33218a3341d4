// Places of slices: constant time for each tuple.
#include "exec/kernels/indexing/tuples.h"

#include "exec/kernels/indexing/indices.h"
#include "exec/kernels/layout/numbers.h"
#include "exec/kernels/support/convert.h"

stow_status stowi_tuples_init(const stow_kernel_call* call, uint32_t batch_dims,
                              stowi_tuples* out) {
  const stow_tensor* data = call->operands[0];
  const stow_tensor* indices = call->operands[1];
  uint32_t last = indices->rank - 1;
  out->data = data;
  out->indices = indices;
  out->batch_dims = batch_dims;
  out->length = (uint32_t)indices->dims[last];
  out->count = stowi_count_of(indices, 0, last);
  out->per_batch = stowi_count_of(indices, batch_dims, last);
  out->slice = stowi_count_of(data, batch_dims + out->length, data->rank);
  stowi_strides_of(data, out->strides);
  return stowi_check_tuples(call, indices, data, batch_dims);
}

size_t stowi_tuple_place(const stowi_tuples* t, size_t i) {
  int64_t tuple[STOW_MAX_RANK];
  int64_t whole = (int64_t)stowi_count_of(t->data, t->batch_dims, t->data->rank);
  int64_t place = (int64_t)(i / t->per_batch) * whole;
  stowi_load_i64(t->indices->dtype, t->indices->data, i * t->length, t->length, tuple);
  for (uint32_t k = 0; k < t->length; ++k) {
    uint32_t axis = t->batch_dims + k;
    place += stowi_index(tuple[k], t->data->dims[axis]) * t->strides[axis];
  }
  return (size_t)place;
}
