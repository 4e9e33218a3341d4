// A tensor cut along an axis. Any one of the parts may lie over the operand, from its first byte
// on, or all of them where they belong in it: in one walk over the operand in ascending order each
// element moves to where it stood or before. Where the operand turned out smaller than planned,
// parts that are views lie after where they are now, in one row: then the last one moves first.
#include "exec/kernels/layout/elements.h"
#include "exec/kernels/layout/numbers.h"
#include "exec/kernels/layout/strided.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

typedef struct cut {
  stow_kernel_call* call;
  uint32_t axis;
  uint32_t bits;
  size_t rows;
  size_t row;  // elements of a row of the operand
} cut;

static size_t row_of(const cut* c, const stow_tensor* tensor) {
  return stowi_count_of(tensor, c->axis, tensor->rank);
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
  int64_t row = (int64_t)row_of(c, part);
  stowi_strided s = {0};
  s.from_first = (int64_t)place;
  stowi_strided_add(&s, (int64_t)c->rows, (int64_t)c->row, row);
  stowi_strided_add(&s, row, 1, 1);
  stowi_clear_tail_beside(part, x);
  stowi_strided_copy(c->call, x->dtype, x->data, part->data, &s);
}

// All parts, row by row.
static void copy_in_one_walk(const cut* c) {
  const stow_tensor* x = c->call->operands[0];
  for (size_t i = 0; i < c->rows; ++i) {
    size_t place = i * c->row;
    for (size_t k = 0; k < c->call->result_count; ++k) {
      size_t row = row_of(c, c->call->results[k]);
      stowi_copy_elements(c->bits, c->call->results[k]->data, i * row, x->data, place, row);
      place += row;
    }
  }
}

static void copy_last_first(const cut* c) {
  size_t place = c->row;
  for (size_t k = c->call->result_count; k-- > 0;) {
    place -= row_of(c, c->call->results[k]);
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
    place += row_of(c, part);
  }
  if (goes_up) {
    copy_last_first(c);
  } else if (is_over) {
    copy_in_one_walk(c);
  } else {
    place = 0;
    for (size_t k = 0; k < c->call->result_count; ++k) {
      copy_part(c, k, place);
      place += row_of(c, c->call->results[k]);
    }
  }
}

static stow_status run_split(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  cut c = {call, 0, stowi_bits(x->dtype), 0, 0};
  stow_status status = stowi_axis_attr(call, x->rank, &c.axis);
  if (status != STOW_OK) {
    return status;
  }
  int64_t sum = 0;
  for (size_t k = 0; k < call->result_count; ++k) {
    sum += call->results[k]->dims[c.axis];
  }
  if (sum != x->dims[c.axis]) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "sizes add up to %lld, dim %u is %lld",
                            (long long)sum, (unsigned)c.axis, (long long)x->dims[c.axis]);
  }
  c.rows = stowi_count_of(x, 0, c.axis);
  c.row = row_of(&c, x);
  if (c.rows != 0 && c.row != 0) {
    copy_parts(&c);
  }
  return STOW_OK;
}

STOWI_KERNEL(SPLIT, NULL, run_split);
