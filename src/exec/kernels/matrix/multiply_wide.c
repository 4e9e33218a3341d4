// f64 and integers, which few models multiply: a row of the result at a time, 256 columns of it
// kept as f64 or as 64 bits that wrap around. A step along k reads that much of a row of b.
#include "exec/kernels/matrix/multiply_wide.h"

#include "exec/kernels/support/convert.h"

enum { WORK = 1 << 14 };

#define DEFINE_ROW(name, type, element, scalar, load, store)                                    \
  static void load_##name(const stow_tensor* from, size_t first, size_t step, size_t count,     \
                          element* to) {                                                        \
    if (step == 1) {                                                                            \
      load(from->dtype, from->data, first, count, to);                                          \
      return;                                                                                   \
    }                                                                                           \
    for (size_t i = 0; i < count; ++i) {                                                        \
      load(from->dtype, from->data, first + i * step, 1, to + i);                               \
    }                                                                                           \
  }                                                                                             \
                                                                                                \
  static void multiply_##name(const stowi_multiply* x, size_t batch, size_t row, size_t column, \
                              size_t columns) {                                                 \
    const stowi_product* p = &x->product;                                                       \
    type alpha = scalar(x->alpha);                                                              \
    type beta = scalar(x->beta);                                                                \
    type sum[STOWI_BLOCK] = {0};                                                                \
    element line[STOWI_BLOCK];                                                                  \
    if (x->addend.tensor != NULL) {                                                             \
      load_##name(x->addend.tensor, row * x->addend.row + column * x->addend.column,            \
                  x->addend.column, columns, line);                                             \
      for (size_t j = 0; j < columns; ++j) {                                                    \
        sum[j] = beta * (type)line[j];                                                          \
      }                                                                                         \
    }                                                                                           \
    size_t a = stowi_product_first(p, &p->a, batch) + row * p->a.row;                           \
    size_t b = stowi_product_first(p, &p->b, batch) + column * p->b.column;                     \
    for (size_t step = 0; step < p->k; ++step) {                                                \
      element one;                                                                              \
      load_##name(x->a, a + step * p->a.column, 1, 1, &one);                                    \
      load_##name(x->b, b + step * p->b.row, p->b.column, columns, line);                       \
      type factor = alpha * (type)one;                                                          \
      for (size_t j = 0; j < columns; ++j) {                                                    \
        sum[j] += factor * (type)line[j];                                                       \
      }                                                                                         \
    }                                                                                           \
    for (size_t j = 0; j < columns; ++j) {                                                      \
      line[j] = (element)sum[j];                                                                \
    }                                                                                           \
    store(x->result->dtype, x->result->data, stowi_product_element(p, batch, row, column),      \
          columns, line);                                                                       \
  }

static double as_is(double x) { return x; }
// alpha and beta are integers here, perhaps negative ones.
static uint64_t modulo(double x) { return (uint64_t)(int64_t)x; }

DEFINE_ROW(f64, double, double, as_is, stowi_load_f64, stowi_store_f64)
DEFINE_ROW(i64, uint64_t, int64_t, modulo, stowi_load_i64, stowi_store_i64)

static void multiply_rows(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const stowi_multiply* x = user;
  const stowi_product* p = &x->product;
  bool is_float = stowi_kind(x->result->dtype) == STOW_KIND_FLOAT;
  for (size_t i = begin; i < end; ++i) {
    for (size_t column = 0; column < p->n; column += STOWI_BLOCK) {
      size_t columns = p->n - column < STOWI_BLOCK ? p->n - column : STOWI_BLOCK;
      (is_float ? multiply_f64 : multiply_i64)(x, i / p->m, i % p->m, column, columns);
    }
  }
}

static bool is_integer(double x) { return x > -0x1p53 && x < 0x1p53 && x == (double)(int64_t)x; }

stow_status stowi_multiply_wide(const stow_kernel_call* call, const stowi_multiply* multiply) {
  stow_dtype_kind kind = stowi_kind(multiply->result->dtype);
  bool is_whole = kind == STOW_KIND_SIGNED || kind == STOW_KIND_UNSIGNED;
  if (!is_whole && multiply->result->dtype != STOW_F64) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "products are of floats or integers, not of bools, complex numbers or "
                            "floats of less than 8 bits");
  }
  if (multiply->activation.kind != STOWI_ACTIVATION_NONE) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "activations are of f32, f16 and bf16");
  }
  if (is_whole && (!is_integer(multiply->alpha) || !is_integer(multiply->beta))) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "alpha %g and beta %g must be integers, as the factors are",
                            multiply->alpha, multiply->beta);
  }
  stowi_multiply x = *multiply;
  const stowi_product* p = &x.product;
  size_t work = p->n > WORK || p->k > WORK ? WORK : p->n * p->k + 1;
  stow_kernel_split(call, p->batches * p->m, work >= WORK ? 1 : WORK / work, multiply_rows, &x);
  stowi_clear_rest(x.result);
  return STOW_OK;
}
