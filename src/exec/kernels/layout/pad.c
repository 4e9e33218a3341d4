// Tensors with their dims made longer or shorter at both ends. Negative pads cut off first; what is
// left is then continued: by a value, by its last element, mirrored at it, or from its other end.
// The result is made row by row: a run from the operand, and what stands before and after it. Where
// nothing grows, rows only move down, in ascending order.
#include "exec/kernels/layout/elements.h"
#include "exec/kernels/layout/numbers.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

#define GRAIN 16384  // elements

typedef enum pad_mode { CONSTANT, EDGE, REFLECT, WRAP } pad_mode;

// A dim: the part [first, first + count) of the operand begins at |before| of the result.
typedef struct border {
  int64_t first, count, before;
} border;

typedef struct padding {
  const stow_tensor* x;
  stow_tensor* result;
  uint32_t bits;
  pad_mode mode;
  const void* value;  // NULL: 0
  border borders[STOW_MAX_RANK];
  int64_t strides[STOW_MAX_RANK];  // of x
} padding;

static border border_of(int64_t dim, int64_t before, int64_t after) {
  border b = {0, dim, 0};
  if (before < 0) {
    b.first = before < -dim ? dim : -before;
    b.count -= b.first;
  } else {
    b.before = before;
  }
  if (after < 0) {
    b.count = after < -b.count ? 0 : b.count + after;
  }
  return b;
}

static int64_t remainder_of(int64_t a, int64_t by) {
  int64_t rest = a % by;
  return rest < 0 ? rest + by : rest;
}

// The operand's index for index |at| of the result; -1 where the value stands.
static int64_t source_index(pad_mode mode, const border* b, int64_t at) {
  int64_t i = at - b->before;
  if (i >= 0 && i < b->count) {
    return b->first + i;
  }
  switch (mode) {
    case EDGE: i = i < 0 ? 0 : b->count - 1; break;
    case REFLECT: {
      int64_t period = b->count == 1 ? 1 : 2 * (b->count - 1);
      i = remainder_of(i, period);
      i = i < b->count ? i : period - i;
      break;
    }
    case WRAP: i = remainder_of(i, b->count); break;
    case CONSTANT: return -1;
  }
  return b->first + i;
}

// Elements [begin, end) of a row, none of which is in the run.
static void continue_row(const padding* p, const border* b, int64_t from, size_t to, int64_t begin,
                         int64_t end) {
  if (p->mode == CONSTANT) {
    stowi_kernel_fill_elements(p->bits, p->result->data, to + (size_t)begin, (size_t)(end - begin),
                               p->value);
    return;
  }
  for (int64_t i = begin; i < end; ++i) {
    size_t at = (size_t)(from + source_index(p->mode, b, i));
    stowi_kernel_copy_elements(p->bits, p->result->data, to + (size_t)i, p->x->data, at, 1);
  }
}

// A row that begins at |to| and takes from the operand's row at |from|.
static void copy_row(const padding* p, int64_t from, size_t to) {
  uint32_t last = p->x->rank - 1;
  const border* b = &p->borders[last];
  int64_t end = b->before + b->count;
  stowi_kernel_copy_elements(p->bits, p->result->data, to + (size_t)b->before, p->x->data,
                             (size_t)(from + b->first), (size_t)b->count);
  continue_row(p, b, from, to, 0, b->before);
  continue_row(p, b, from, to, end, p->result->dims[last]);
}

static void make_rows(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const padding* p = user;
  uint32_t last = p->x->rank - 1;
  size_t row = (size_t)p->result->dims[last];
  for (size_t r = begin; r < end; ++r) {
    size_t rest = r;
    int64_t from = 0;
    bool is_outside = false;
    for (uint32_t k = last; k-- > 0;) {
      int64_t dim = p->result->dims[k];
      int64_t index = source_index(p->mode, &p->borders[k], (int64_t)(rest % (size_t)dim));
      is_outside = is_outside || index < 0;
      from += index * p->strides[k];
      rest /= (size_t)dim;
    }
    if (is_outside) {
      stowi_kernel_fill_elements(p->bits, p->result->data, r * row, row, p->value);
    } else {
      copy_row(p, from, r * row);
    }
  }
}

// Finds the borders of all dims; fails where they do not give the result's dims.
static stow_status find_borders(const stow_kernel_call* call, const int64_t (*pads)[2],
                                padding* p) {
  for (uint32_t i = 0; i < p->x->rank; ++i) {
    int64_t dim = p->result->dims[i];
    border b = border_of(p->x->dims[i], pads[i][0], pads[i][1]);
    int64_t after = pads[i][1] < 0 ? 0 : pads[i][1];
    if (b.before > dim || b.count > dim - b.before || after != dim - b.before - b.count) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "pads %lld and %lld of dim %u, which is %lld, do not give %lld",
                              (long long)pads[i][0], (long long)pads[i][1], (unsigned)i,
                              (long long)p->x->dims[i], (long long)dim);
    }
    if (p->mode != CONSTANT && b.count == 0 && dim != 0) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "dim %u is empty and cannot be padded from its elements",
                              (unsigned)i);
    }
    p->borders[i] = b;
  }
  return STOW_OK;
}

// |pads| has begin and end for each dim.
static stow_status pad(stow_kernel_call* call, pad_mode mode, const void* value,
                       const int64_t (*pads)[2]) {
  const stow_tensor* x = call->operands[0];
  stow_tensor* result = call->results[0];
  padding p = {.x = x, .result = result, .bits = stowi_kernel_bits(x->dtype), .mode = mode};
  p.value = value;
  stowi_kernel_strides_of(x, p.strides);
  STOWI_KERNEL_TRY(find_borders(call, pads, &p));
  size_t elements = stow_tensor_elements(result);
  if (elements == 0) {
    return STOW_OK;
  }
  stowi_kernel_clear_tail(result);
  if (x->rank == 0) {
    stowi_kernel_copy_elements(p.bits, result->data, 0, x->data, 0, 1);
    return STOW_OK;
  }
  size_t row = (size_t)result->dims[x->rank - 1];
  if (stowi_kernel_is_packed(p.bits) || x->data == result->data) {
    make_rows(&p, 0, elements / row, 0);
  } else {
    stow_kernel_split(call, elements / row, GRAIN / row + 1, make_rows, &p);
  }
  return STOW_OK;
}

static stow_status run_pad(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  const stow_tensor* value = stow_kernel_operand(call, 1);
  stowi_kernel_numbers numbers = stowi_kernel_numbers_of(call, STOWI_KERNEL_ATTR_PADS, 2);
  stowi_kernel_numbers axes = stowi_kernel_numbers_of(call, STOWI_KERNEL_ATTR_AXES, 3);
  int64_t pads[STOW_MAX_RANK][2] = {{0}};
  size_t count = axes.ints == NULL && axes.tensor == NULL ? x->rank : axes.count;
  if (numbers.count != 2 * count) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "%zu pads do not fit %zu dims",
                            numbers.count, count);
  }
  for (size_t i = 0; i < count; ++i) {
    uint32_t axis = (uint32_t)i;
    stow_status status =
        axes.count == 0
            ? STOW_OK
            : stowi_kernel_axis_of(call, stowi_kernel_number_at(&axes, i), x->rank, &axis);
    if (status != STOW_OK) {
      return status;
    }
    pads[axis][0] = stowi_kernel_number_at(&numbers, i);
    pads[axis][1] = stowi_kernel_number_at(&numbers, count + i);
  }
  pad_mode mode = stowi_kernel_is(call, STOWI_KERNEL_ATTR_MODE, "reflect") ? REFLECT
                  : stowi_kernel_is(call, STOWI_KERNEL_ATTR_MODE, "edge")  ? EDGE
                  : stowi_kernel_is(call, STOWI_KERNEL_ATTR_MODE, "wrap")  ? WRAP
                                                                           : CONSTANT;
  return pad(call, mode, value == NULL ? NULL : value->data, (const int64_t(*)[2])pads);
}

// What is odd goes to the end: of what is cut off, and of what is added.
static stow_status run_center_crop_pad(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  int64_t pads[STOW_MAX_RANK][2];
  for (uint32_t i = 0; i < x->rank; ++i) {
    int64_t more = call->results[0]->dims[i] - x->dims[i];
    pads[i][0] = more / 2;
    pads[i][1] = more - more / 2;
  }
  return pad(call, CONSTANT, NULL, (const int64_t(*)[2])pads);
}

STOWI_KERNEL(PAD, NULL, run_pad);
STOWI_KERNEL(CENTER_CROP_PAD, NULL, run_center_crop_pad);
