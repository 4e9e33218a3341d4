// max_unpool: elements go back to where they stood, zeros elsewhere. Places count elements of the
// tensor that a pool with this kernel had; where more dims are asked for, that tensor is the first
// part of the result. Of two elements with one place the later one stays.
#include <string.h>

#include "exec/kernels/spatial/window.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

// What the pool had along spatial dim |i|.
static stow_status pooled_dim(const stow_kernel_call* call, const stow_tensor* x, uint32_t i,
                              int64_t* out) {
  stowi_slide s = {.rank = x->rank - 2};
  s.out[i] = x->dims[2 + i];
  s.kernel[i] = stowi_list_at(call, "kernel", i, 1);
  s.strides[i] = stowi_list_at(call, "strides", i, 1);
  s.begins[i] = stowi_list_at(call, "pads", i, 0);
  s.ends[i] = stowi_list_at(call, "pads", s.rank + i, 0);
  s.dilations[i] = 1;
  stow_status status = stowi_slide_bound(call, &s, i);
  *out =
      status == STOW_OK ? (s.out[i] - 1) * s.strides[i] + s.kernel[i] - s.begins[i] - s.ends[i] : 0;
  return status;
}

// The dims that the pool had, [N, C, spatial…]; their product, or 0 where it makes no sense.
static stow_status pooled_dims(const stow_kernel_call* call, const stow_tensor* x, int64_t* dims,
                               uint64_t* out_count) {
  *out_count = 1;
  for (uint32_t i = 0; i < x->rank; ++i) {
    dims[i] = x->dims[i];
    stow_status status = i < 2 ? STOW_OK : pooled_dim(call, x, i - 2, &dims[i]);
    if (status != STOW_OK) {
      return status;
    }
    *out_count = dims[i] <= 0 ? 0 : *out_count * (uint64_t)dims[i];
  }
  return STOW_OK;
}

// Where element |place| of a tensor with |dims| is in y; false where y does not reach so far.
static bool find_place(const stow_tensor* y, const int64_t* dims, size_t place, size_t* out) {
  size_t stride = 1;
  *out = 0;
  for (uint32_t i = y->rank; i-- > 0;) {
    size_t at = place % (size_t)dims[i];
    if (at >= (size_t)y->dims[i]) {
      return false;
    }
    *out += at * stride;
    stride *= (size_t)y->dims[i];
    place /= (size_t)dims[i];
  }
  return true;
}

static stow_status run_max_unpool(stow_kernel_call* call) {
  const stow_tensor* x = stow_kernel_operand(call, 0);
  const stow_tensor* indices = stow_kernel_operand(call, 1);
  stow_tensor* y = stow_kernel_result(call, 0);
  int64_t dims[STOW_MAX_RANK];
  uint64_t places;
  stow_status status = pooled_dims(call, x, dims, &places);
  if (status != STOW_OK) {
    return status;
  }
  size_t size = stowi_bits(x->dtype) / 8;
  if (size == 0) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "elements must be whole bytes");
  }
  if (stow_tensor_bytes(y) != 0) {
    memset(y->data, 0, stow_tensor_bytes(y));
  }
  for (size_t i = 0; i < stow_tensor_elements(x); ++i) {
    int64_t place = stowi_int_at(indices, i);
    size_t to;
    if (place < 0 || (uint64_t)place >= places || !find_place(y, dims, (size_t)place, &to)) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "index %zu is %lld, which is no place in the result", i,
                              (long long)place);
    }
    memcpy((unsigned char*)y->data + to * size, (const unsigned char*)x->data + i * size, size);
  }
  return STOW_OK;
}

STOWI_KERNEL(MAX_UNPOOL, NULL, run_max_unpool);
