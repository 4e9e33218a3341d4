// Places of elements, a block of a row at a time: the row's place in the data is found once.
#include "exec/kernels/indexing/elements_at.h"

#include "exec/kernels/indexing/indices.h"
#include "exec/kernels/layout/numbers.h"
#include "exec/kernels/support/convert.h"

stow_status stowi_elements_at_init(const stow_kernel_call* call, stowi_elements_at* out) {
  out->data = call->operands[0];
  out->indices = call->operands[1];
  stowi_strides_of(out->data, out->strides);
  stow_status status = stowi_axis_attr(call, out->data->rank, &out->axis);
  if (status != STOW_OK) {
    return status;
  }
  for (uint32_t i = 0; i < out->data->rank; ++i) {
    if (i != out->axis && out->indices->dims[i] > out->data->dims[i]) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "dim %u of the indices is %lld, the data has %lld", (unsigned)i,
                              (long long)out->indices->dims[i], (long long)out->data->dims[i]);
    }
  }
  return stowi_check_indices(call, out->indices, out->data, out->axis);
}

size_t stowi_elements_at_rows(const stowi_elements_at* e, size_t* out_row) {
  uint32_t last = e->indices->rank - 1;
  *out_row = (size_t)e->indices->dims[last];
  return *out_row == 0 ? 0 : stowi_count_of(e->indices, 0, last);
}

void stowi_elements_at_block(const stowi_elements_at* e, size_t row, size_t first, size_t count,
                             int64_t* out) {
  uint32_t last = e->indices->rank - 1;
  int64_t dim = e->data->dims[e->axis];
  int64_t stride = e->strides[e->axis];
  size_t rest = row;
  int64_t base = 0;
  stowi_load_i64(e->indices->dtype, e->indices->data, row * (size_t)e->indices->dims[last] + first,
                 count, out);
  for (uint32_t k = last; k-- > 0;) {
    int64_t index = (int64_t)(rest % (size_t)e->indices->dims[k]);
    base += k == e->axis ? 0 : index * e->strides[k];
    rest /= (size_t)e->indices->dims[k];
  }
  int64_t along = e->axis == last ? 0 : 1;
  for (size_t j = 0; j < count; ++j) {
    out[j] = base + stowi_index(out[j], dim) * stride + along * (int64_t)(first + j);
  }
}
