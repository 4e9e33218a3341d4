// Strides of the factors of a product. Broadcasting is a stride of 0, so that no other code handles
// it. O(rank).
#include "exec/kernels/matrix/product.h"

#include "exec/kernels/support/size.h"

enum { WORK = 1 << 16 };  // multiplications that make a worker worth waking
// Parts are no smaller than this, as packing would count, and whole vectors.
enum { LEAST_COLUMNS = 128, LEAST_ROWS = 32, VECTOR = 32 };

// An operand's dims as they are multiplied, leading ones first, and the strides of each.
typedef struct axes {
  uint32_t rank;
  size_t dims[STOW_MAX_RANK + 1];
  size_t strides[STOW_MAX_RANK + 1];
} axes;

static void swap_axes(axes* x, uint32_t i, uint32_t j) {
  size_t dim = x->dims[i];
  size_t stride = x->strides[i];
  x->dims[i] = x->dims[j];
  x->strides[i] = x->strides[j];
  x->dims[j] = dim;
  x->strides[j] = stride;
}

static axes axes_of(const stow_tensor* tensor, stowi_kernel_turn turn, bool is_row) {
  axes x = {.rank = tensor->rank};
  size_t stride = 1;
  for (uint32_t i = tensor->rank; i-- > 0;) {
    x.dims[i] = (size_t)tensor->dims[i];
    x.strides[i] = stride;
    stride *= x.dims[i];
  }
  if (x.rank < 2) {
    size_t length = x.rank == 1 ? x.dims[0] : 1;
    x.dims[0] = is_row ? 1 : length;
    x.dims[1] = is_row ? length : 1;
    x.strides[0] = x.strides[1] = 1;
    x.rank = 2;
    return x;
  }
  for (uint32_t i = 0; turn.batch && i + 2 < x.rank; ++i) {
    swap_axes(&x, i, i + 1);
  }
  if (turn.matrix) {
    swap_axes(&x, x.rank - 1, x.rank - 2);
  }
  return x;
}

static void set_factor(stowi_kernel_product* p, const axes* x, stowi_kernel_factor* out) {
  out->row = x->strides[x->rank - 2];
  out->column = x->strides[x->rank - 1];
  uint32_t missing = p->rank + 2 - x->rank;
  for (uint32_t i = missing; i < p->rank; ++i) {
    out->batch[i] = x->dims[i - missing] == 1 ? 0 : x->strides[i - missing];
  }
}

// Leading dims of the result, each the one that is not 1.
static void broadcast(stowi_kernel_product* p, const axes* x) {
  uint32_t missing = p->rank + 2 - x->rank;
  for (uint32_t i = missing; i < p->rank; ++i) {
    if (x->dims[i - missing] != 1) {
      p->dims[i] = x->dims[i - missing];
    }
  }
}

static void join_batches(stowi_kernel_product* p) {
  size_t expected = p->m * p->a.row;
  for (uint32_t i = p->rank; i-- > 0;) {
    if (p->b.batch[i] != 0 || (p->dims[i] != 1 && p->a.batch[i] != expected)) {
      return;
    }
    expected *= p->dims[i];
  }
  p->m *= p->batches;
  p->batches = 1;
  p->rank = 0;
}

stowi_kernel_product stowi_kernel_product_of(const stow_tensor* a, stowi_kernel_turn turn_a,
                                             const stow_tensor* b, stowi_kernel_turn turn_b) {
  axes x = axes_of(a, turn_a, true);
  axes y = axes_of(b, turn_b, false);
  stowi_kernel_product p = {
      .m = x.dims[x.rank - 2], .n = y.dims[y.rank - 1], .k = y.dims[y.rank - 2]};
  p.rank = (x.rank > y.rank ? x.rank : y.rank) - 2;
  for (uint32_t i = 0; i < p.rank; ++i) {
    p.dims[i] = 1;
  }
  broadcast(&p, &x);
  broadcast(&p, &y);
  set_factor(&p, &x, &p.a);
  set_factor(&p, &y, &p.b);
  p.batches = 1;
  for (uint32_t i = 0; i < p.rank; ++i) {
    p.batches *= p.dims[i];
  }
  join_batches(&p);
  stowi_kernel_part_choose(&p, 0);
  return p;
}

stowi_kernel_product stowi_kernel_product_joined(const stowi_kernel_product* p) {
  stowi_kernel_product joined = *p;
  joined.m *= p->batches;
  joined.batches = 1;
  joined.rank = 0;
  return joined;
}

size_t stowi_kernel_product_first(const stowi_kernel_product* p, const stowi_kernel_factor* factor,
                                  size_t batch) {
  size_t first = 0;
  for (uint32_t i = p->rank; i-- > 0;) {
    first += batch % p->dims[i] * factor->batch[i];
    batch /= p->dims[i];
  }
  return first;
}

void stowi_kernel_part_choose(stowi_kernel_product* p, uint32_t variant) {
  static const size_t sizes[STOWI_KERNEL_PART_VARIANTS][2] = {
      {128, STOWI_KERNEL_PART_COLUMNS}, {32, 64}, {4, 32}};
  uint32_t i = variant < STOWI_KERNEL_PART_VARIANTS ? variant : STOWI_KERNEL_PART_VARIANTS - 1;
  p->part_rows = sizes[i][0];
  p->part_columns = sizes[i][1];
}

static size_t divide_up(size_t a, size_t b) { return (a + b - 1) / b; }

static size_t round_up(size_t a, size_t b) { return divide_up(a, b) * b; }

size_t stowi_kernel_part_count(const stowi_kernel_product* p) {
  return p->batches * divide_up(p->m, p->part_rows) * divide_up(p->n, p->part_columns);
}

// Whether workers that end last have at most an eighth more than their share.
static bool is_even(size_t count, size_t workers) {
  return count >= 2 * workers && divide_up(count, workers) * workers <= count + count / 8;
}

// The largest length of parts of |count| elements, from |length| down to about |least|, with which
// |times| as many parts are divided evenly; otherwise the smallest.
static size_t even_length(size_t count, size_t length, size_t least, size_t times, size_t workers) {
  for (size_t parts = divide_up(count, length); length > least; ++parts) {
    size_t shorter = round_up(divide_up(count, parts), VECTOR);
    length = shorter < length ? shorter : length;
    if (is_even(times * divide_up(count, length), workers)) {
      return length;
    }
  }
  return length;
}

void stowi_kernel_part_divide(stowi_kernel_product* p, uint32_t workers) {
  if (workers <= 1 || is_even(stowi_kernel_part_count(p), workers) ||
      stowi_kernel_part_grain(p) != 1) {
    return;
  }
  p->part_columns = even_length(p->n, p->part_columns, LEAST_COLUMNS,
                                p->batches * divide_up(p->m, p->part_rows), workers);
  p->part_rows = even_length(p->m, p->part_rows, LEAST_ROWS,
                             p->batches * divide_up(p->n, p->part_columns), workers);
}

// Parts of the same columns follow each other.
stowi_kernel_part stowi_kernel_part_at(const stowi_kernel_product* p, size_t i) {
  size_t rows = divide_up(p->m, p->part_rows);
  size_t columns = divide_up(p->n, p->part_columns);
  stowi_kernel_part part = {.batch = i / (rows * columns)};
  part.row = i % rows * p->part_rows;
  part.column = i / rows % columns * p->part_columns;
  part.rows = stowi_kernel_smaller(p->m - part.row, p->part_rows);
  part.columns = stowi_kernel_smaller(p->n - part.column, p->part_columns);
  return part;
}

size_t stowi_kernel_part_rows(const stowi_kernel_product* p) {
  return stowi_kernel_smaller(p->m, p->part_rows);
}
size_t stowi_kernel_part_columns(const stowi_kernel_product* p) {
  return stowi_kernel_smaller(p->n, p->part_columns);
}

size_t stowi_kernel_part_grain(const stowi_kernel_product* p) {
  size_t work = stowi_kernel_part_rows(p) * stowi_kernel_part_columns(p);
  if (work == 0 || p->k == 0) {
    return WORK;
  }
  return p->k > WORK / work ? 1 : WORK / (work * p->k);
}

size_t stowi_kernel_product_element(const stowi_kernel_product* p, size_t batch, size_t row,
                                    size_t column) {
  return (batch * p->m + row) * p->n + column;
}

bool stowi_kernel_spread_of(const stowi_kernel_product* p, const stow_tensor* tensor,
                            stowi_kernel_spread* out) {
  *out = (stowi_kernel_spread){.tensor = tensor};
  if (tensor == NULL) {
    return true;
  }
  size_t columns = tensor->rank >= 1 ? (size_t)tensor->dims[tensor->rank - 1] : 1;
  size_t rows = tensor->rank >= 2 ? (size_t)tensor->dims[tensor->rank - 2] : 1;
  out->column = columns == 1 ? 0 : 1;
  out->row = rows == 1 ? 0 : columns;
  return stow_tensor_elements(tensor) == rows * columns && (columns == 1 || columns == p->n) &&
         (rows == 1 || rows == p->m);
}
