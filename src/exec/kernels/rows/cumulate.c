// cumsum and cumprod along an axis, forwards or backwards, each element with or without itself. One
// pass; elements are read once and written next, so that the result may be in place of x. What has
// been added up is a double or an i64, which wraps. Where the axis is not the last, neighbouring
// rows are walked together.
#include "exec/kernels/rows/axes.h"
#include "exec/kernels/rows/reals.h"
#include "exec/kernels/support/kernel.h"

typedef struct job {
  const stow_tensor* x;
  const stow_tensor* y;
  stowi_kernel_rows rows;
  bool is_product;
  bool is_exclusive;
  bool is_reverse;
  bool is_real;
} job;

// A number of either kind; unsigned, so that it wraps.
typedef union number {
  double real;
  uint64_t whole;
} number;

static number first_number(const job* j) {
  number n;
  if (j->is_real) {
    n.real = j->is_product ? 1 : 0;
  } else {
    n.whole = j->is_product ? 1 : 0;
  }
  return n;
}

static number joined(const job* j, number a, number b) {
  if (j->is_real) {
    a.real = j->is_product ? a.real * b.real : a.real + b.real;
  } else {
    a.whole = j->is_product ? a.whole * b.whole : a.whole + b.whole;
  }
  return a;
}

static void load(const job* j, size_t first, size_t count, number* out) {
  if (j->is_real) {
    stowi_kernel_load_f64(j->x->dtype, j->x->data, first, count, &out->real);
  } else {
    stowi_kernel_load_i64(j->x->dtype, j->x->data, first, count, (int64_t*)&out->whole);
  }
}

static void store(const job* j, size_t first, size_t count, const number* in) {
  if (j->is_real) {
    stowi_kernel_store_f64(j->y->dtype, j->y->data, first, count, &in->real);
  } else {
    stowi_kernel_store_i64(j->y->dtype, j->y->data, first, count, (const int64_t*)&in->whole);
  }
}

// |n| becomes what stands in its place; |so_far| takes it in.
static void step(const job* j, number* so_far, number* n) {
  number next = joined(j, *so_far, *n);
  *n = j->is_exclusive ? *so_far : next;
  *so_far = next;
}

static void walk_row(const job* j, size_t first) {
  number block[STOWI_KERNEL_BLOCK];
  number so_far = first_number(j);
  for (size_t i = 0; i < j->rows.count; i += STOWI_KERNEL_BLOCK) {
    size_t count = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, j->rows.count - i);
    size_t at = first + (j->is_reverse ? j->rows.count - i - count : i);
    load(j, at, count, block);
    for (size_t k = 0; k < count; ++k) {
      step(j, &so_far, &block[j->is_reverse ? count - 1 - k : k]);
    }
    store(j, at, count, block);
  }
}

static void walk_strip(const job* j, size_t first, size_t width) {
  number block[STOWI_KERNEL_BLOCK];
  number so_far[STOWI_KERNEL_BLOCK];
  for (size_t k = 0; k < width; ++k) {
    so_far[k] = first_number(j);
  }
  for (size_t i = 0; i < j->rows.count; ++i) {
    size_t at = first + (j->is_reverse ? j->rows.count - 1 - i : i) * j->rows.inner;
    load(j, at, width, block);
    for (size_t k = 0; k < width; ++k) {
      step(j, &so_far[k], &block[k]);
    }
    store(j, at, width, block);
  }
}

static void strips_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  (void)worker;
  for (size_t i = begin; i < end; ++i) {
    stowi_kernel_strip strip = stowi_kernel_strip_at(&j->rows, i);
    if (j->rows.inner == 1) {
      walk_row(j, strip.first);
    } else {
      walk_strip(j, strip.first, strip.width);
    }
  }
}

static stow_status check_dtype(const stow_kernel_call* call, const job* j) {
  stow_dtype_kind kind = stowi_kernel_kind(j->x->dtype);
  if (j->is_real) {
    return stowi_kernel_need_real(call, j->x, "x");
  }
  if (kind == STOW_KIND_COMPLEX || kind == STOW_KIND_BOOL || stowi_kernel_bits(j->x->dtype) < 8) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "elements must be floats or integers");
  }
  return STOW_OK;
}

static stow_status run(stow_kernel_call* call, bool is_product) {
  const stow_tensor* x = call->operands[0];
  const stow_tensor* axis_operand = stow_kernel_operand(call, 1);
  int64_t given = axis_operand != NULL && stow_tensor_elements(axis_operand) != 0
                      ? stowi_kernel_int_at(axis_operand, 0)
                      : stowi_kernel_int(call, STOWI_KERNEL_ATTR_AXIS, 0);
  uint32_t axis;
  if (!stowi_kernel_find_axis(given, x->rank, &axis)) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "axis %lld is out of range (rank %u)",
                            (long long)given, (unsigned)x->rank);
  }
  job j = {x,
           call->results[0],
           stowi_kernel_rows_along(x, axis),
           is_product,
           stowi_kernel_bool(call, STOWI_KERNEL_ATTR_EXCLUSIVE, false),
           stowi_kernel_bool(call, STOWI_KERNEL_ATTR_REVERSE, false),
           stowi_kernel_kind(x->dtype) == STOW_KIND_FLOAT};
  STOWI_KERNEL_TRY(check_dtype(call, &j));
  if (stow_tensor_elements(x) != 0) {
    stowi_kernel_split_strips(call, &j.rows, 1, strips_task, &j);
  }
  return STOW_OK;
}

static stow_status run_cumsum(stow_kernel_call* call) { return run(call, false); }
static stow_status run_cumprod(stow_kernel_call* call) { return run(call, true); }

STOWI_KERNEL(CUMSUM, NULL, run_cumsum);
STOWI_KERNEL(CUMPROD, NULL, run_cumprod);
