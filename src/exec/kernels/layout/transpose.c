// Dims in another order: transpose itself, and blocks of depth that become blocks of space or the
// other way round, which are transposes of tensors with their dims cut in two.
#include "exec/kernels/layout/elements.h"
#include "exec/kernels/layout/numbers.h"
#include "exec/kernels/layout/strided.h"
#include "exec/kernels/support/kernel.h"

// Copies |from| with |rank| dims to |to|, whose dim i is dim perm[i] of |from|.
static void copy_permuted(const stow_kernel_call* call, uint32_t rank, const int64_t* dims,
                          const uint32_t* perm) {
  const stow_tensor* x = call->operands[0];
  stow_tensor* result = call->results[0];
  int64_t from[STOW_MAX_RANK];
  int64_t to[STOW_MAX_RANK];
  int64_t stride = 1;
  for (uint32_t i = rank; i-- > 0;) {
    from[i] = stride;
    stride *= dims[i];
  }
  stride = 1;
  for (uint32_t i = rank; i-- > 0;) {
    to[i] = stride;
    stride *= dims[perm[i]];
  }
  stowi_kernel_strided s = {0};
  for (uint32_t i = 0; i < rank; ++i) {
    stowi_kernel_strided_add(&s, dims[perm[i]], from[perm[i]], to[i]);
  }
  stowi_kernel_clear_tail_beside(result, x);
  stowi_kernel_strided_copy(call, x->dtype, x->data, result->data, &s);
}

// Where there is nothing to copy, strides may be more than numbers hold.
static bool is_empty(const stow_kernel_call* call) {
  return stow_tensor_elements(call->results[0]) == 0;
}

static stow_status run_transpose(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  uint32_t perm[STOW_MAX_RANK];
  stowi_kernel_numbers numbers = stowi_kernel_numbers_of(call, STOWI_KERNEL_ATTR_PERM, SIZE_MAX);
  for (uint32_t i = 0; i < x->rank; ++i) {
    int64_t axis =
        numbers.count == 0 ? (int64_t)(x->rank - 1 - i) : stowi_kernel_number_at(&numbers, i);
    STOWI_KERNEL_TRY(stowi_kernel_axis_of(call, axis, x->rank, &perm[i]));
  }
  if (!is_empty(call)) {
    copy_permuted(call, x->rank, x->dims, perm);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

static stow_status run_depth_to_space(stow_kernel_call* call) {
  static const uint32_t dcr[] = {0, 3, 4, 1, 5, 2};  // of [N, b, b, C, H, W]
  static const uint32_t crd[] = {0, 1, 4, 2, 5, 3};  // of [N, C, b, b, H, W]
  const int64_t* d = call->operands[0]->dims;
  int64_t block = stowi_kernel_int(call, STOWI_KERNEL_ATTR_BLOCKSIZE, 1);
  if (is_empty(call)) {
    return STOW_OK;
  }
  int64_t channels = d[1] / (block * block);
  int64_t deep[] = {d[0], block, block, channels, d[2], d[3]};
  int64_t columns[] = {d[0], channels, block, block, d[2], d[3]};
  bool is_dcr = stowi_kernel_is(call, STOWI_KERNEL_ATTR_MODE, "dcr");
  copy_permuted(call, 6, is_dcr ? deep : columns, is_dcr ? dcr : crd);
  return STOW_OK;
}

static stow_status run_space_to_depth(stow_kernel_call* call) {
  static const uint32_t dcr[] = {0, 3, 5, 1, 2, 4};  // of [N, C, H, b, W, b]
  static const uint32_t crd[] = {0, 1, 3, 5, 2, 4};
  const int64_t* d = call->operands[0]->dims;
  int64_t block = stowi_kernel_int(call, STOWI_KERNEL_ATTR_BLOCKSIZE, 1);
  if (is_empty(call)) {
    return STOW_OK;
  }
  int64_t dims[] = {d[0], d[1], d[2] / block, block, d[3] / block, block};
  copy_permuted(call, 6, dims, stowi_kernel_is(call, STOWI_KERNEL_ATTR_MODE, "dcr") ? dcr : crd);
  return STOW_OK;
}

STOWI_KERNEL(TRANSPOSE, NULL, run_transpose);
STOWI_KERNEL(DEPTH_TO_SPACE, NULL, run_depth_to_space);
STOWI_KERNEL(SPACE_TO_DEPTH, NULL, run_space_to_depth);
