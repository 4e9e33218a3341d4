// Tensors put together along an axis. Seen as rows, one for each index of the dims before the axis,
// a row of the result is a row of each operand after the other.
//
// Operand 0 may lie where the result does: its rows are moved apart from the last to the first,
// each to where it stood or after, before anything else is written. Where there is one row,
// operands may have been made inside the result: at their place, or, where dims turned out smaller
// than planned, after it. Operands keep their order, so that moving them down in that order writes
// over none that is still to come.
#include "exec/kernels/layout/elements.h"
#include "exec/kernels/layout/numbers.h"
#include "exec/kernels/layout/strided.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

typedef struct joint {
  stow_kernel_call* call;
  uint32_t axis;
  size_t rows;
  size_t row;  // elements of a row of the result
} joint;

static size_t row_of(const joint* j, const stow_tensor* tensor) {
  return stowi_count_of(tensor, j->axis, tensor->rank);
}

// Elements before operand |k|'s in a row of the result.
static size_t place_of(const joint* j, size_t k) {
  size_t place = 0;
  for (size_t i = 0; i < k; ++i) {
    place += row_of(j, j->call->operands[i]);
  }
  return place;
}

static void spread_first(const joint* j) {
  const stow_tensor* first = j->call->operands[0];
  uint32_t bits = stowi_bits(first->dtype);
  size_t row = row_of(j, first);
  void* data = j->call->results[0]->data;
  for (size_t i = j->rows; row != j->row && i-- > 1;) {
    stowi_copy_elements(bits, data, i * j->row, data, i * row, row);
  }
}

// Where operand |k| is to be read now: one that was moved before it, inside the result, has taken
// along what lay in its bytes.
static const void* source_of(const joint* j, size_t k) {
  const stow_tensor* operand = j->call->operands[k];
  uintptr_t at = (uintptr_t)operand->data;
  uint8_t* result = j->call->results[0]->data;
  uintptr_t begin = (uintptr_t)result;
  uintptr_t end = begin + stow_tensor_bytes(j->call->results[0]);
  uint32_t bits = stowi_bits(operand->dtype);
  for (size_t i = 0; i < k && j->rows == 1 && bits % 8 == 0; ++i) {
    const stow_tensor* moved = j->call->operands[i];
    uintptr_t home = (uintptr_t)moved->data;
    bool is_inside = home >= begin && home < end;
    if (is_inside && at >= home &&
        at + stow_tensor_bytes(operand) <= home + stow_tensor_bytes(moved)) {
      return result + place_of(j, i) * (bits / 8) + (at - home);
    }
  }
  return operand->data;
}

static void put(const joint* j, size_t k) {
  const stow_tensor* operand = j->call->operands[k];
  stow_tensor* result = j->call->results[0];
  int64_t row = (int64_t)row_of(j, operand);
  stowi_strided s = {0};
  s.to_first = (int64_t)place_of(j, k);
  stowi_strided_add(&s, (int64_t)j->rows, row, (int64_t)j->row);
  stowi_strided_add(&s, row, 1, 1);
  stowi_strided_copy(j->call, operand->dtype, source_of(j, k), result->data, &s);
}

static stow_status run_concat(stow_kernel_call* call) {
  stow_tensor* result = call->results[0];
  joint j = {call, 0, 0, 0};
  stow_status status = stowi_axis_attr(call, result->rank, &j.axis);
  if (status != STOW_OK) {
    return status;
  }
  j.rows = stowi_count_of(result, 0, j.axis);
  j.row = row_of(&j, result);
  if (j.row == 0 || j.rows == 0) {
    return STOW_OK;
  }
  bool is_over = call->operands[0]->data == result->data;
  stowi_clear_tail(result);
  if (is_over) {
    spread_first(&j);
  }
  for (size_t k = is_over ? 1 : 0; k < call->operand_count; ++k) {
    put(&j, k);
  }
  return STOW_OK;
}

STOWI_KERNEL(CONCAT, NULL, run_concat);
