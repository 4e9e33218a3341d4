// Checks of indices: one walk over them.
#include "exec/kernels/indexing/indices.h"

#include "exec/kernels/support/convert.h"

static stow_status fail_index(const stow_kernel_call* call, int64_t index, uint32_t axis,
                              int64_t dim) {
  return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                          "index %lld is out of range for dim %u, which is %lld", (long long)index,
                          (unsigned)axis, (long long)dim);
}

stow_status stowi_check_indices(const stow_kernel_call* call, const stow_tensor* indices,
                                const stow_tensor* of, uint32_t axis) {
  int64_t block[STOWI_BLOCK];
  int64_t dim = of->dims[axis];
  size_t count = stow_tensor_elements(indices);
  for (size_t i = 0; i < count; i += STOWI_BLOCK) {
    size_t size = count - i < STOWI_BLOCK ? count - i : STOWI_BLOCK;
    stowi_load_i64(indices->dtype, indices->data, i, size, block);
    for (size_t j = 0; j < size; ++j) {
      if (block[j] < -dim || block[j] >= dim) {
        return fail_index(call, block[j], axis, dim);
      }
    }
  }
  return STOW_OK;
}

stow_status stowi_check_tuples(const stow_kernel_call* call, const stow_tensor* indices,
                               const stow_tensor* of, uint32_t first) {
  int64_t block[STOWI_BLOCK];
  size_t count = stow_tensor_elements(indices);
  size_t length = indices->rank == 0 ? 1 : (size_t)indices->dims[indices->rank - 1];
  for (size_t i = 0; i < count; i += STOWI_BLOCK) {
    size_t size = count - i < STOWI_BLOCK ? count - i : STOWI_BLOCK;
    stowi_load_i64(indices->dtype, indices->data, i, size, block);
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
