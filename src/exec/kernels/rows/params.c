// Nearly always there is one number for each element of a row, or of all rows, and it is read where
// it is. Other broadcasts are looked up one by one.
#include "exec/kernels/rows/params.h"

#include "exec/kernels/rows/reals.h"

stowi_kernel_param stowi_kernel_param_of(const stow_tensor* tensor, const stow_tensor* x,
                                         size_t row) {
  stowi_kernel_param param = {.tensor = tensor, .rank = x->rank, .is_whole = true, .period = 1};
  if (tensor == NULL) {
    return param;
  }
  size_t stride = 1;
  bool is_past = false;  // a dim is repeated, and so are all before it
  for (uint32_t i = 0; i < x->rank; ++i) {
    uint32_t at = x->rank - 1 - i;
    size_t dim = i < tensor->rank ? (size_t)tensor->dims[tensor->rank - 1 - i] : 1;
    param.dims[at] = (size_t)x->dims[at];
    param.strides[at] = dim == 1 ? 0 : stride;
    param.is_whole = param.is_whole && (dim == 1 || !is_past);
    is_past = is_past || dim != param.dims[at];
    param.period *= dim;
    stride *= dim;
  }
  param.is_whole = param.is_whole && param.period >= row;
  return param;
}

static size_t offset_of(const stowi_kernel_param* param, size_t i) {
  size_t offset = 0;
  for (uint32_t d = param->rank; d-- > 0;) {
    offset += i % param->dims[d] * param->strides[d];
    i /= param->dims[d];
  }
  return offset;
}

const float* stowi_kernel_param_f32(const stowi_kernel_param* param, size_t first, size_t count,
                                    float fallback, float* room) {
  const stow_tensor* tensor = param->tensor;
  if (tensor != NULL && param->is_whole) {
    return stowi_kernel_view_f32(tensor->dtype, tensor->data, first % param->period, count, room);
  }
  for (size_t i = 0; i < count; ++i) {
    room[i] = fallback;
    if (tensor != NULL) {
      stowi_kernel_load_f32(tensor->dtype, tensor->data, offset_of(param, first + i), 1, &room[i]);
    }
  }
  return room;
}

const double* stowi_kernel_param_f64(const stowi_kernel_param* param, size_t first, size_t count,
                                     double fallback, double* room) {
  const stow_tensor* tensor = param->tensor;
  if (tensor != NULL && param->is_whole) {
    return stowi_kernel_view_f64(tensor->dtype, tensor->data, first % param->period, count, room);
  }
  for (size_t i = 0; i < count; ++i) {
    room[i] = fallback;
    if (tensor != NULL) {
      stowi_kernel_load_f64(tensor->dtype, tensor->data, offset_of(param, first + i), 1, &room[i]);
    }
  }
  return room;
}
