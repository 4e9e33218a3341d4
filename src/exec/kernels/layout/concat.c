// concat and split along an axis.
#include "exec/kernels/layout/elements.h"
#include "exec/kernels/layout/numbers.h"
#include "exec/kernels/layout/strided.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

// ---------------------------------------------------------------------------------------------
// concat. Seen as rows, one per index of the dims before the axis, a row of the result is one row
// of each operand after the other.
//
// Operand 0 may be in place: its rows are moved apart from last to first, each to its own offset or
// a higher one, before anything else is written. If there is only one row, operands may have been
// built inside the result (copy elision): at their final offset or, if dims turned out smaller than
// planned, after it. Operands keep their order, so moving them down in that order overwrites none
// that is still needed.

typedef struct joint {
  stow_kernel_call* call;
  uint32_t axis;
  size_t rows;
  size_t row;  // elements of a row of the result
} joint;

static size_t row_of(const joint* j, const stow_tensor* tensor) {
  return stowi_kernel_count_of(tensor, j->axis, tensor->rank);
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
  uint32_t bits = stowi_kernel_bits(first->dtype);
  size_t row = row_of(j, first);
  void* data = j->call->results[0]->data;
  for (size_t i = j->rows; row != j->row && i-- > 1;) {
    stowi_kernel_copy_elements(bits, data, i * j->row, data, i * row, row);
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
  uint32_t bits = stowi_kernel_bits(operand->dtype);
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
  stowi_kernel_strided s = {0};
  s.to_first = (int64_t)place_of(j, k);
  stowi_kernel_strided_add(&s, (int64_t)j->rows, row, (int64_t)j->row);
  stowi_kernel_strided_add(&s, row, 1, 1);
  stowi_kernel_strided_copy(j->call, operand->dtype, source_of(j, k), result->data, &s);
}

static stow_status run_concat(stow_kernel_call* call) {
  stow_tensor* result = call->results[0];
  joint j = {call, 0, 0, 0};
  STOWI_KERNEL_TRY(stowi_kernel_axis_attr(call, result->rank, &j.axis));
  j.rows = stowi_kernel_count_of(result, 0, j.axis);
  j.row = row_of(&j, result);
  if (j.row == 0 || j.rows == 0) {
    return STOW_OK;
  }
  bool is_over = call->operands[0]->data == result->data;
  stowi_kernel_clear_tail(result);
  if (is_over) {
    spread_first(&j);
  }
  for (size_t k = is_over ? 1 : 0; k < call->operand_count; ++k) {
    put(&j, k);
  }
  return STOW_OK;
}

STOWI_KERNEL(CONCAT, NULL, run_concat);

// ---------------------------------------------------------------------------------------------
// split. One of the parts may be in place at the start of the operand, or all of them may be views
// of it: in one ascending pass each element moves to its own offset or a lower one. If the operand
// turned out smaller than planned, parts that are views belong at higher offsets than their data,
// in one row: then the last part moves first.

typedef struct cut {
  stow_kernel_call* call;
  uint32_t axis;
  uint32_t bits;
  size_t rows;
  size_t row;  // elements of a row of the operand
} cut;

static size_t part_row(const cut* c, const stow_tensor* tensor) {
  return stowi_kernel_count_of(tensor, c->axis, tensor->rank);
}

static bool lies_inside(const stow_tensor* part, const stow_tensor* whole) {
  uintptr_t begin = (uintptr_t)whole->data;
  uintptr_t at = (uintptr_t)part->data;
  return at >= begin && at < begin + stow_tensor_bytes(whole);
}

// Part |k|, which begins at |place| of each row, in all rows.
static void copy_part(const cut* c, size_t k, size_t place) {
  const stow_tensor* x = c->call->operands[0];
  stow_tensor* part = c->call->results[k];
  int64_t row = (int64_t)part_row(c, part);
  stowi_kernel_strided s = {0};
  s.from_first = (int64_t)place;
  stowi_kernel_strided_add(&s, (int64_t)c->rows, (int64_t)c->row, row);
  stowi_kernel_strided_add(&s, row, 1, 1);
  stowi_kernel_clear_tail_beside(part, x);
  stowi_kernel_strided_copy(c->call, x->dtype, x->data, part->data, &s);
}

// All parts, row by row.
static void copy_in_one_walk(const cut* c) {
  const stow_tensor* x = c->call->operands[0];
  for (size_t i = 0; i < c->rows; ++i) {
    size_t place = i * c->row;
    for (size_t k = 0; k < c->call->result_count; ++k) {
      size_t row = part_row(c, c->call->results[k]);
      stowi_kernel_copy_elements(c->bits, c->call->results[k]->data, i * row, x->data, place, row);
      place += row;
    }
  }
}

static void copy_last_first(const cut* c) {
  size_t place = c->row;
  for (size_t k = c->call->result_count; k-- > 0;) {
    place -= part_row(c, c->call->results[k]);
    copy_part(c, k, place);
  }
}

static void copy_parts(const cut* c) {
  const stow_tensor* x = c->call->operands[0];
  size_t place = 0;
  bool is_over = false;
  bool goes_up = false;
  for (size_t k = 0; k < c->call->result_count; ++k) {
    const stow_tensor* part = c->call->results[k];
    bool is_inside = stow_tensor_elements(part) != 0 && lies_inside(part, x);
    size_t offset = is_inside ? (size_t)((const uint8_t*)part->data - (const uint8_t*)x->data) : 0;
    is_over = is_over || is_inside;
    goes_up = goes_up || offset * 8 > place * c->bits;
    place += part_row(c, part);
  }
  if (goes_up) {
    copy_last_first(c);
  } else if (is_over) {
    copy_in_one_walk(c);
  } else {
    place = 0;
    for (size_t k = 0; k < c->call->result_count; ++k) {
      copy_part(c, k, place);
      place += part_row(c, c->call->results[k]);
    }
  }
}

static stow_status run_split(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  cut c = {call, 0, stowi_kernel_bits(x->dtype), 0, 0};
  STOWI_KERNEL_TRY(stowi_kernel_axis_attr(call, x->rank, &c.axis));
  int64_t sum = 0;
  for (size_t k = 0; k < call->result_count; ++k) {
    sum += call->results[k]->dims[c.axis];
  }
  if (sum != x->dims[c.axis]) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "the sizes add up to %lld, but dim %u is %lld", (long long)sum,
                            (unsigned)c.axis, (long long)x->dims[c.axis]);
  }
  c.rows = stowi_kernel_count_of(x, 0, c.axis);
  c.row = part_row(&c, x);
  if (c.rows != 0 && c.row != 0) {
    copy_parts(&c);
  }
  return STOW_OK;
}

STOWI_KERNEL(SPLIT, NULL, run_split);
