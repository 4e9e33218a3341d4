// One row of a tensor, for kernels that are called once for each: the leading dims, which have as
// many indices as there are rows, are 1. A tensor may have strides there: then its rows are apart,
// but each is dense.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SUPPORT_ROWS_H_
#define STOWAGE_SRC_EXEC_KERNELS_SUPPORT_ROWS_H_

#include <stowage/kernel.h>
#include <string.h>

#include "exec/kernels/support/dtype.h"

// |whole| begins with |rows| rows.
static inline stow_tensor stowi_kernel_row(const stow_tensor* whole, uint64_t rows, uint64_t row) {
  stow_tensor one = *whole;
  uint64_t pitch = stow_tensor_bytes(whole) / rows;
  uint64_t count = 1;
  for (uint32_t i = 0; i < whole->rank && count < rows; ++i) {
    count *= (uint64_t)whole->dims[i];
    one.dims[i] = 1;
    if (count == rows && whole->strides[i] != 0) {
      pitch = (uint64_t)whole->strides[i] * (stowi_kernel_bits(whole->dtype) / 8);
    }
  }
  memset(one.strides, 0, sizeof(one.strides));
  one.data = (unsigned char*)whole->data + row * pitch;
  return one;
}

// The strides of a tensor that begins with |rows| rows, |pitch| bytes apart.
static inline void stowi_kernel_set_pitch(stow_tensor* whole, uint64_t rows, uint64_t pitch) {
  uint64_t stride = 1;
  uint64_t count = 1;
  uint32_t lead = 0;
  for (; lead < whole->rank && count < rows; ++lead) {
    count *= (uint64_t)whole->dims[lead];
  }
  for (uint32_t i = whole->rank; i-- > 0;) {
    stride = i + 1 == lead ? pitch / (stowi_kernel_bits(whole->dtype) / 8) : stride;
    whole->strides[i] = (int64_t)stride;
    stride *= (uint64_t)whole->dims[i];
  }
}

// The rows of such a tensor, and how far they are apart; 1 if it is dense.
static inline uint64_t stowi_kernel_pitch(const stow_tensor* whole, uint64_t* out_pitch) {
  uint64_t stride = 1;
  uint64_t rows = 1;
  *out_pitch = 0;
  for (uint32_t i = whole->rank; i-- > 0;) {
    bool is_dense = whole->strides[i] == 0 || (uint64_t)whole->strides[i] == stride;
    if (*out_pitch == 0 && !is_dense) {
      *out_pitch = (uint64_t)whole->strides[i] * (stowi_kernel_bits(whole->dtype) / 8);
    }
    rows *= *out_pitch == 0 ? 1 : (uint64_t)whole->dims[i];
    stride *= (uint64_t)whole->dims[i];
  }
  return rows;
}

#endif  // STOWAGE_SRC_EXEC_KERNELS_SUPPORT_ROWS_H_
