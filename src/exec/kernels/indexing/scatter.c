// Elements put into a tensor by index. The result is operand 0, copied where it does not lie there
// already, and then changed in ascending order of the updates, by one worker: several may meet in
// one place, and the order decides what stands there.
#include "exec/kernels/indexing/combine.h"
#include "exec/kernels/indexing/elements_at.h"
#include "exec/kernels/indexing/tuples.h"
#include "exec/kernels/layout/strided.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

static void copy_data(const stow_kernel_call* call) {
  stowi_strided bytes = {0};
  stowi_strided_add(&bytes, (int64_t)stow_tensor_bytes(call->operands[0]), 1, 1);
  stowi_strided_copy(call, STOW_U8, call->operands[0]->data, call->results[0]->data, &bytes);
}

static void scatter_row(stow_kernel_call* call, const stowi_elements_at* e,
                        stowi_reduction reduction, size_t row, size_t length) {
  const stow_tensor* updates = call->operands[2];
  stow_tensor* result = call->results[0];
  int64_t places[STOWI_BLOCK];
  for (size_t i = 0; i < length; i += STOWI_BLOCK) {
    size_t size = length - i < STOWI_BLOCK ? length - i : STOWI_BLOCK;
    stowi_elements_at_block(e, row, i, size, places);
    for (size_t j = 0; j < size; ++j) {
      stowi_combine(reduction, result->dtype, result->data, (size_t)places[j], updates->data,
                    row * length + i + j, 1);
    }
  }
}

static stow_status run_scatter_elements(stow_kernel_call* call) {
  stowi_elements_at e;
  stowi_reduction reduction;
  stow_status status = stowi_reduction_of(call, call->results[0]->dtype, &reduction);
  status = status == STOW_OK ? stowi_elements_at_init(call, &e) : status;
  if (status != STOW_OK) {
    return status;
  }
  copy_data(call);
  size_t length;
  size_t rows = stowi_elements_at_rows(&e, &length);
  for (size_t row = 0; row < rows; ++row) {
    scatter_row(call, &e, reduction, row, length);
  }
  return STOW_OK;
}

static stow_status run_scatter_nd(stow_kernel_call* call) {
  stow_tensor* result = call->results[0];
  stowi_tuples tuples;
  stowi_reduction reduction;
  stow_status status = stowi_reduction_of(call, result->dtype, &reduction);
  status = status == STOW_OK ? stowi_tuples_init(call, 0, &tuples) : status;
  if (status != STOW_OK) {
    return status;
  }
  copy_data(call);
  for (size_t i = 0; i < tuples.count; ++i) {
    stowi_combine(reduction, result->dtype, result->data, stowi_tuple_place(&tuples, i),
                  call->operands[2]->data, i * tuples.slice, tuples.slice);
  }
  return STOW_OK;
}

STOWI_KERNEL(SCATTER_ELEMENTS, NULL, run_scatter_elements);
STOWI_KERNEL(SCATTER_ND, NULL, run_scatter_nd);
