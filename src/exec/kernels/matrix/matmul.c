// matmul, gemm and their fused forms: activation(beta · addend + alpha · a · b).
#include <stowage/kernel.h>
#include <string.h>

#include "exec/kernels/matrix/gemm.h"
#include "exec/kernels/matrix/lean.h"
#include "exec/kernels/matrix/part_room.h"
#include "exec/kernels/matrix/product.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/math.h"
#include "exec/kernels/support/size.h"
#include "exec/kernels/support/vector.h"

// ---------------------------------------------------------------------------------------------
// Fused activations of f32 in place, one loop for each so that the compiler vectorises it.

typedef enum activation_kind {
  ACTIVATION_NONE,
  ACTIVATION_ELU,
  ACTIVATION_HARD_SIGMOID,
  ACTIVATION_LEAKY_RELU,
  ACTIVATION_RELU,
  ACTIVATION_SELU,
  ACTIVATION_SIGMOID,
  ACTIVATION_SOFTPLUS,
  ACTIVATION_SOFTSIGN,
  ACTIVATION_TANH,
  ACTIVATION_THRESHOLDED_RELU
} activation_kind;

typedef struct fused_activation {
  activation_kind kind;
  float alpha, beta, gamma;
} fused_activation;

static const char* const names[] = {"",         "Elu",  "HardSigmoid",    "LeakyRelu",
                                    "Relu",     "Selu", "Sigmoid",        "Softplus",
                                    "Softsign", "Tanh", "ThresholdedRelu"};

// From the attributes `activation`, `activation_alpha`, `activation_beta` and `activation_gamma`.
static stow_status activation_of(const stow_kernel_call* call, fused_activation* out) {
  *out = (fused_activation){.kind = ACTIVATION_NONE};
  out->alpha = (float)stowi_kernel_float(call, STOWI_KERNEL_ATTR_ACTIVATION_ALPHA, 0);
  out->beta = (float)stowi_kernel_float(call, STOWI_KERNEL_ATTR_ACTIVATION_BETA, 0);
  out->gamma = (float)stowi_kernel_float(call, STOWI_KERNEL_ATTR_ACTIVATION_GAMMA, 0);
  const stow_attr* name = stowi_kernel_attr(call, STOWI_KERNEL_ATTR_ACTIVATION);
  if (name == NULL) {
    return STOW_OK;
  }
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_ACTIVATION, names[i])) {
      out->kind = (activation_kind)i;
      return STOW_OK;
    }
  }
  return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                          "unknown activation \"%.*s\"; expected Elu, HardSigmoid, LeakyRelu, "
                          "Relu, Selu, Sigmoid, Softplus, Softsign, Tanh or ThresholdedRelu",
                          name->s.size > 40 ? 40 : (int)name->s.size, name->s.data);
}

STOWI_KERNEL_INLINE float softplus(bool has_fma, float x) {
  float far = stowi_kernel_logf(1 + stowi_kernel_exp_down(has_fma, x > 0 ? -x : x));
  return x > 0 ? x + far : x == x ? far : x;
}

static inline float hard_sigmoid(float x, float alpha, float beta) {
  float y = alpha * x + beta;
  return y < 0 ? 0 : y > 1 ? 1 : y;
}

#define EACH(expression)               \
  for (size_t i = 0; i < count; ++i) { \
    float v = x[i];                    \
    x[i] = (expression);               \
  }                                    \
  break

STOWI_KERNEL_LOOP(activate, (const fused_activation* activation, float* x, size_t count),
                  (activation, x, count)) {
  float alpha = activation->alpha;
  float beta = activation->beta;
  float gamma = activation->gamma;
  switch (activation->kind) {
    case ACTIVATION_NONE: break;
    case ACTIVATION_ELU: EACH(v >= 0 ? v : alpha * (stowi_kernel_expf(has_fma, v) - 1));
    case ACTIVATION_HARD_SIGMOID: EACH(hard_sigmoid(v, alpha, beta));
    case ACTIVATION_LEAKY_RELU: EACH(v >= 0 ? v : alpha * v);
    case ACTIVATION_RELU: EACH(v < 0 ? 0 : v);
    case ACTIVATION_SELU: EACH(gamma * (v > 0 ? v : alpha * (stowi_kernel_expf(has_fma, v) - 1)));
    case ACTIVATION_SIGMOID: EACH(stowi_kernel_sigmoidf(has_fma, v));
    case ACTIVATION_SOFTPLUS: EACH(softplus(has_fma, v));
    case ACTIVATION_SOFTSIGN: EACH(v / (1 + (v < 0 ? -v : v)));
    case ACTIVATION_TANH: EACH(stowi_kernel_tanhf(has_fma, v));
    case ACTIVATION_THRESHOLDED_RELU: EACH(v > alpha ? v : 0);
  }
}

typedef struct product_call {
  stowi_kernel_product product;
  const stow_tensor* a;
  const stow_tensor* b;
  stowi_kernel_spread addend;  // may be the result itself
  stow_tensor* result;
  double alpha;
  double beta;
  fused_activation activation;
  uint32_t variant;
  bool is_packed;  // b
} product_call;

// ---------------------------------------------------------------------------------------------
// f64 and integers. Few models multiply these, so the code is plain: one row of the result at a
// time, 128 columns of it as f64 or as 64 bits that wrap. A step along k reads as much of a row of
// b.

enum { WIDE_WORK = 1 << 14, WIDE_COLUMNS = 128 };

#define DEFINE_ROW(name, type, element, scalar, load, store)                                      \
  static void load_##name(const stow_tensor* from, size_t first, size_t step, size_t count,       \
                          element* to) {                                                          \
    if (step == 1) {                                                                              \
      load(from->dtype, from->data, first, count, to);                                            \
      return;                                                                                     \
    }                                                                                             \
    for (size_t i = 0; i < count; ++i) {                                                          \
      load(from->dtype, from->data, first + i * step, 1, to + i);                                 \
    }                                                                                             \
  }                                                                                               \
                                                                                                  \
  static void multiply_##name(const product_call* x, size_t batch, size_t row, size_t column,     \
                              size_t columns) {                                                   \
    const stowi_kernel_product* p = &x->product;                                                  \
    type alpha = scalar(x->alpha);                                                                \
    type beta = scalar(x->beta);                                                                  \
    type sum[WIDE_COLUMNS] = {0};                                                                 \
    element line[WIDE_COLUMNS];                                                                   \
    if (x->addend.tensor != NULL) {                                                               \
      load_##name(x->addend.tensor, row * x->addend.row + column * x->addend.column,              \
                  x->addend.column, columns, line);                                               \
      for (size_t j = 0; j < columns; ++j) {                                                      \
        sum[j] = beta * (type)line[j];                                                            \
      }                                                                                           \
    }                                                                                             \
    size_t a = stowi_kernel_product_first(p, &p->a, batch) + row * p->a.row;                      \
    size_t b = stowi_kernel_product_first(p, &p->b, batch) + column * p->b.column;                \
    for (size_t step = 0; step < p->k; ++step) {                                                  \
      element one;                                                                                \
      load_##name(x->a, a + step * p->a.column, 1, 1, &one);                                      \
      load_##name(x->b, b + step * p->b.row, p->b.column, columns, line);                         \
      type factor = alpha * (type)one;                                                            \
      for (size_t j = 0; j < columns; ++j) {                                                      \
        sum[j] += factor * (type)line[j];                                                         \
      }                                                                                           \
    }                                                                                             \
    for (size_t j = 0; j < columns; ++j) {                                                        \
      line[j] = (element)sum[j];                                                                  \
    }                                                                                             \
    store(x->result->dtype, x->result->data, stowi_kernel_product_element(p, batch, row, column), \
          columns, line);                                                                         \
  }

static double as_is(double x) { return x; }
// alpha and beta are integers here, perhaps negative ones.
static uint64_t modulo(double x) { return (uint64_t)(int64_t)x; }

DEFINE_ROW(f64, double, double, as_is, stowi_kernel_load_f64, stowi_kernel_store_f64)
DEFINE_ROW(i64, uint64_t, int64_t, modulo, stowi_kernel_load_i64, stowi_kernel_store_i64)

static void multiply_rows(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const product_call* x = user;
  const stowi_kernel_product* p = &x->product;
  bool is_float = stowi_kernel_kind(x->result->dtype) == STOW_KIND_FLOAT;
  for (size_t i = begin; i < end; ++i) {
    for (size_t column = 0; column < p->n; column += WIDE_COLUMNS) {
      size_t columns = p->n - column < WIDE_COLUMNS ? p->n - column : WIDE_COLUMNS;
      (is_float ? multiply_f64 : multiply_i64)(x, i / p->m, i % p->m, column, columns);
    }
  }
}

static bool is_integer(double x) { return x > -0x1p53 && x < 0x1p53 && x == (double)(int64_t)x; }

// Fails for dtypes that are not numbers, for activations, and where |alpha| or |beta| of integers
// are not integers.
static stow_status multiply_wide(const stow_kernel_call* call, const product_call* multiply) {
  stow_dtype_kind kind = stowi_kernel_kind(multiply->result->dtype);
  bool is_whole = kind == STOW_KIND_SIGNED || kind == STOW_KIND_UNSIGNED;
  if (!is_whole && multiply->result->dtype != STOW_F64) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "operands must have floats of at least 8 bits or integers");
  }
  if (multiply->activation.kind != ACTIVATION_NONE) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "an activation needs f32, f16 or bf16");
  }
  if (is_whole && (!is_integer(multiply->alpha) || !is_integer(multiply->beta))) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "alpha %g and beta %g must be integers, like the operands",
                            multiply->alpha, multiply->beta);
  }
  product_call x = *multiply;
  const stowi_kernel_product* p = &x.product;
  size_t work = p->n > WIDE_WORK || p->k > WIDE_WORK ? WIDE_WORK : p->n * p->k + 1;
  stow_kernel_split(call, p->batches * p->m, work >= WIDE_WORK ? 1 : WIDE_WORK / work,
                    multiply_rows, &x);
  stowi_kernel_clear_rest(x.result);
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// All operands have the result's dtype. f32 goes through stowi_kernel_gemm: many small products one
// by one, a few large ones each divided among all workers. Narrower floats are multiplied as f32,
// in parts of the result, and rounded once. f64 and integers (modulo their width) use the loops
// above, whose sums start from the addend and go in ascending order of k.

enum { WORK = 1 << 16 };

// ---------------------------------------------------------------------------------------------
// f32

static void add_ahead(const product_call* x, size_t batch) {
  const stowi_kernel_product* p = &x->product;
  const float* from = x->addend.tensor->data;
  float* to = (float*)x->result->data + stowi_kernel_product_element(p, batch, 0, 0);
  float beta = (float)x->beta;
  for (size_t i = 0; i < p->m; ++i) {
    const float* row = from + i * x->addend.row;
    for (size_t j = 0; j < p->n; ++j) {
      to[i * p->n + j] = beta * row[j * x->addend.column];
    }
  }
}

// Product |batch|, whose result holds what is added already.
static stowi_kernel_gemm gemm_of(const product_call* x, size_t batch) {
  const stowi_kernel_product* p = &x->product;
  stowi_kernel_gemm g = {.m = p->m, .n = p->n, .k = p->k, .c_row = p->n, .alpha = (float)x->alpha};
  g.variant = x->variant;
  g.a =
      (stowi_kernel_matrix){(const float*)x->a->data + stowi_kernel_product_first(p, &p->a, batch),
                            p->a.row, p->a.column};
  g.b =
      (stowi_kernel_matrix){(const float*)x->b->data + stowi_kernel_product_first(p, &p->b, batch),
                            p->b.row, p->b.column};
  g.b_steps = x->is_packed ? p->k : 0;
  g.c = (float*)x->result->data + stowi_kernel_product_element(p, batch, 0, 0);
  if (x->addend.tensor != NULL) {
    add_ahead(x, batch);
    g.accumulate = true;
  }
  return g;
}

static uint64_t scratch_f32(const product_call* x, const stowi_kernel_product* p,
                            uint32_t workers) {
  stowi_kernel_gemm g = {.m = p->m, .n = p->n, .k = p->k, .alpha = (float)x->alpha};
  g.a.column = p->a.column;
  g.b_steps = p->k;
  g.variant = x->variant;
  return x->is_packed ? stowi_kernel_gemm_packed_scratch(&g, workers)
                      : stowi_kernel_gemm_scratch(p->m, p->n, p->k, workers, x->variant);
}

typedef struct batches {
  const product_call* multiply;
  char* scratch;
  uint64_t scratch_size;  // of a worker
} batches;

static void multiply_batches(void* user, size_t begin, size_t end, uint32_t worker) {
  const batches* b = user;
  for (size_t i = begin; i < end; ++i) {
    stowi_kernel_gemm g = gemm_of(b->multiply, i);
    stowi_kernel_gemm_alone(&g, b->scratch + worker * b->scratch_size);
  }
}

static void activate_task(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const product_call* x = user;
  activate(&x->activation, (float*)x->result->data + begin, end - begin);
}

static void multiply_f32(const stow_kernel_call* call, product_call* x) {
  const stowi_kernel_product* p = &x->product;
  double work = (double)p->m * (double)p->n * (double)p->k;
  if (p->batches >= (size_t)call->workers * 2 || work < WORK) {
    batches b = {x, call->scratch, scratch_f32(x, p, 1)};
    size_t grain = work >= WORK ? 1 : (size_t)(WORK / (work + 1)) + 1;
    stow_kernel_split(call, p->batches, grain, multiply_batches, &b);
  } else {
    for (size_t i = 0; i < p->batches; ++i) {
      stowi_kernel_gemm g = gemm_of(x, i);
      stowi_kernel_gemm_run(call, &g, call->scratch);
    }
  }
  if (x->activation.kind != ACTIVATION_NONE) {
    stow_kernel_split(call, stow_tensor_elements(x->result), WORK / 16, activate_task, x);
  }
}

// ---------------------------------------------------------------------------------------------
// Narrower floats: parts of the factors and of the result as f32

// |count| elements from |first| on, |step| apart.
static void load_line(const stow_tensor* from, size_t first, size_t step, size_t count, float* to) {
  if (step == 1) {
    stowi_kernel_load_f32(from->dtype, from->data, first, count, to);
    return;
  }
  for (size_t j = 0; j < count; ++j) {
    stowi_kernel_load_f32(from->dtype, from->data, first + j * step, 1, to + j);
  }
}

// |outer| × |inner| elements, the inner ones adjacent where one of the strides is 1.
static stowi_kernel_matrix load_part(const stow_tensor* from, size_t first, size_t rows, size_t row,
                                     size_t columns, size_t column, float* to) {
  bool is_turned = row == 1 && column != 1;
  size_t outer = is_turned ? columns : rows;
  size_t inner = is_turned ? rows : columns;
  size_t outer_step = is_turned ? column : row;
  size_t inner_step = is_turned ? row : column;
  for (size_t i = 0; i < outer; ++i) {
    load_line(from, first + i * outer_step, inner_step, inner, to + i * inner);
  }
  return (stowi_kernel_matrix){to, is_turned ? 1 : inner, is_turned ? inner : 1};
}

static void load_addend(const product_call* x, const stowi_kernel_part* part, float* c) {
  const stow_tensor* tensor = x->addend.tensor;
  float beta = (float)x->beta;
  for (size_t i = 0; i < part->rows; ++i) {
    float* row = c + i * part->columns;
    size_t first = (part->row + i) * x->addend.row + part->column * x->addend.column;
    stowi_kernel_load_f32(tensor->dtype, tensor->data, first,
                          x->addend.column != 0 ? part->columns : 1, row);
    for (size_t j = part->columns; j-- > 0;) {
      row[j] = beta * row[j * x->addend.column];
    }
  }
}

static void finish_part(const product_call* x, const stowi_kernel_part* part, float* c) {
  activate(&x->activation, c, part->rows * part->columns);
  for (size_t i = 0; i < part->rows; ++i) {
    stowi_kernel_store_f32(
        x->result->dtype, x->result->data,
        stowi_kernel_product_element(&x->product, part->batch, part->row + i, part->column),
        part->columns, c + i * part->columns);
  }
}

static void multiply_part(const product_call* x, const stowi_kernel_part* part,
                          const stowi_kernel_part_room* r) {
  const stowi_kernel_product* p = &x->product;
  stowi_kernel_gemm g = {.m = part->rows, .n = part->columns, .alpha = (float)x->alpha};
  g.variant = x->variant == 0 ? 0 : 1;
  g.c = r->c;
  g.c_row = part->columns;
  g.accumulate = x->addend.tensor != NULL;
  if (g.accumulate) {
    load_addend(x, part, r->c);
  }
  size_t a = stowi_kernel_product_first(p, &p->a, part->batch) + part->row * p->a.row;
  size_t b = stowi_kernel_product_first(p, &p->b, part->batch) + part->column * p->b.column;
  for (size_t step = 0; step < p->k || step == 0; step += STOWI_KERNEL_PART_DEPTH) {
    g.k = stowi_kernel_smaller(p->k - step, STOWI_KERNEL_PART_DEPTH);
    g.a = load_part(x->a, a + step * p->a.column, g.m, p->a.row, g.k, p->a.column, r->a);
    g.b = load_part(x->b, b + step * p->b.row, g.k, p->b.row, g.n, p->b.column, r->b);
    stowi_kernel_gemm_alone(&g, r->gemm);
    g.accumulate = true;
  }
  finish_part(x, part, r->c);
}

// In little room: tiles of the result, a few steps of k at a time.

typedef struct narrow {
  const product_call* x;
  size_t batch;
} narrow;

static const float* load_a(const void* user, const stowi_kernel_block* block, float* room,
                           size_t* row) {
  const narrow* n = user;
  const stowi_kernel_product* p = &n->x->product;
  float alpha = (float)n->x->alpha;
  size_t first = stowi_kernel_product_first(p, &p->a, n->batch) + block->column * p->a.column;
  for (size_t i = 0; i < block->rows; ++i) {
    load_line(n->x->a, first + (block->row + i) * p->a.row, p->a.column, block->columns,
              room + i * *row);
    for (size_t j = 0; j < block->columns; ++j) {
      room[i * *row + j] *= alpha;
    }
  }
  return room;
}

static const float* load_b(const void* user, const stowi_kernel_block* block, float* room,
                           size_t* row) {
  const narrow* n = user;
  const stowi_kernel_product* p = &n->x->product;
  size_t first = stowi_kernel_product_first(p, &p->b, n->batch) + block->column * p->b.column;
  for (size_t i = 0; i < block->rows; ++i) {
    load_line(n->x->b, first + (block->row + i) * p->b.row, p->b.column, block->columns,
              room + i * *row);
  }
  return room;
}

static stowi_kernel_part part_of(const narrow* n, const stowi_kernel_block* block) {
  return (stowi_kernel_part){n->batch, block->row, block->rows, block->column, block->columns};
}

static bool begin_tile(const void* user, const stowi_kernel_block* block, float* to,
                       size_t to_row) {
  (void)to_row;
  stowi_kernel_part part = part_of(user, block);
  load_addend(((const narrow*)user)->x, &part, to);
  return true;
}

static void finish_tile(const void* user, const stowi_kernel_block* block, float* tile,
                        size_t tile_row) {
  (void)tile_row;
  stowi_kernel_part part = part_of(user, block);
  finish_part(((const narrow*)user)->x, &part, tile);
}

static stowi_kernel_lean lean_of(const narrow* n) {
  const product_call* x = n->x;
  return (stowi_kernel_lean){.m = x->product.m,
                             .n = x->product.n,
                             .k = x->product.k,
                             .user = n,
                             .a = load_a,
                             .b = load_b,
                             .begin = x->addend.tensor != NULL ? begin_tile : NULL,
                             .finish = finish_tile};
}

static void multiply_tiles(void* user, size_t begin, size_t end, uint32_t worker) {
  const batches* b = user;
  while (begin < end) {
    narrow n = {b->multiply, 0};
    stowi_kernel_lean lean = lean_of(&n);
    size_t each = stowi_kernel_lean_tiles(&lean);
    size_t first = begin % each;
    size_t count = stowi_kernel_smaller(end - begin, each - first);
    n.batch = begin / each;
    stowi_kernel_lean_run(&lean, first, first + count, b->scratch + worker * b->scratch_size);
    begin += count;
  }
}

// With an addend, whether there is one or not: it is known in the run alone.
static uint64_t narrow_lean_size(const product_call* x, const stowi_kernel_product* p) {
  product_call with = *x;
  with.product = *p;
  narrow n = {&with, 0};
  stowi_kernel_lean lean = lean_of(&n);
  lean.begin = begin_tile;
  return stowi_kernel_lean_scratch(&lean);
}

static uint64_t narrow_part_size(const product_call* x, const stowi_kernel_product* p) {
  stowi_kernel_product parts = *p;
  stowi_kernel_part_choose(&parts, x->variant == 0 ? 0 : 1);
  return stowi_kernel_part_room_size(&parts, x->variant == 0 ? 0 : 1);
}

static bool is_narrow_lean(const product_call* x, const stowi_kernel_product* p) {
  return x->variant >= 2 && narrow_lean_size(x, p) < narrow_part_size(x, p);
}

static uint64_t narrow_size(const product_call* x, const stowi_kernel_product* p) {
  return is_narrow_lean(x, p) ? narrow_lean_size(x, p) : narrow_part_size(x, p);
}

static void multiply_parts(void* user, size_t begin, size_t end, uint32_t worker) {
  const batches* b = user;
  const stowi_kernel_product* p = &b->multiply->product;
  stowi_kernel_part_room r = stowi_kernel_part_room_at(p, b->scratch + worker * b->scratch_size);
  for (size_t i = begin; i < end; ++i) {
    stowi_kernel_part part = stowi_kernel_part_at(p, i);
    multiply_part(b->multiply, &part, &r);
  }
}

static void multiply_narrow(const stow_kernel_call* call, product_call* x) {
  batches b = {x, call->scratch, narrow_size(x, &x->product)};
  if (is_narrow_lean(x, &x->product)) {
    narrow n = {x, 0};
    stowi_kernel_lean lean = lean_of(&n);
    stow_kernel_split(call, x->product.batches * stowi_kernel_lean_tiles(&lean),
                      stowi_kernel_lean_grain(&lean), multiply_tiles, &b);
    return;
  }
  stowi_kernel_part_choose(&x->product, x->variant == 0 ? 0 : 1);
  stowi_kernel_part_divide(&x->product, call->workers);
  stow_kernel_split(call, stowi_kernel_part_count(&x->product),
                    stowi_kernel_part_grain(&x->product), multiply_parts, &b);
}

// ---------------------------------------------------------------------------------------------

static bool is_narrow(stow_dtype dtype) {
  return stowi_kernel_kind(dtype) == STOW_KIND_FLOAT && stowi_kernel_bits(dtype) >= 8 &&
         stowi_kernel_bits(dtype) < 32;
}

// Operands 0 and 1 into result 0, by the attributes `trans_a`, `trans_batch_a`, those of b, `alpha`
// and `beta`, of which an op has some or none. There is no addend yet, and no activation.
static product_call multiply_of(const stow_kernel_call* call) {
  product_call x = {.a = stow_kernel_operand(call, 0), .b = stow_kernel_operand(call, 1)};
  stowi_kernel_turn a = {stowi_kernel_bool(call, STOWI_KERNEL_ATTR_TRANS_A, false),
                         stowi_kernel_bool(call, STOWI_KERNEL_ATTR_TRANS_BATCH_A, false)};
  stowi_kernel_turn b = {stowi_kernel_bool(call, STOWI_KERNEL_ATTR_TRANS_B, false),
                         stowi_kernel_bool(call, STOWI_KERNEL_ATTR_TRANS_BATCH_B, false)};
  x.variant = stowi_kernel_variant(call);
  x.is_packed = stowi_kernel_operand_is_packed(call, 1);
  x.product = stowi_kernel_product_of(x.a, a, x.b, b);
  x.result = stow_kernel_result(call, 0);
  x.alpha = stowi_kernel_float(call, STOWI_KERNEL_ATTR_ALPHA, 1);
  x.beta = stowi_kernel_float(call, STOWI_KERNEL_ATTR_BETA, 1);
  return x;
}

static uint64_t multiply_scratch(const stow_kernel_call* call, const product_call* x) {
  stowi_kernel_product p = stowi_kernel_product_joined(&x->product);
  if (is_narrow(x->result->dtype)) {
    return narrow_size(x, &p) * call->workers;
  }
  return x->result->dtype == STOW_F32 ? scratch_f32(x, &p, call->workers) : 0;
}

static stow_status multiply_run(const stow_kernel_call* call, const product_call* multiply) {
  product_call x = *multiply;
  if (stow_tensor_elements(x.result) == 0) {
    return STOW_OK;
  }
  if (x.beta == 0) {
    x.addend.tensor = NULL;
  }
  if (x.result->dtype == STOW_F32) {
    multiply_f32(call, &x);
    return STOW_OK;
  }
  if (is_narrow(x.result->dtype)) {
    multiply_narrow(call, &x);
    return STOW_OK;
  }
  return multiply_wide(call, &x);
}

// ---------------------------------------------------------------------------------------------
// matmul: numpy's product of tensors. fused_matmul: the same with optional transposes, also of
// leading dims.

static stow_status scratch_matmul(const stow_kernel_call* call, uint64_t* out_bytes) {
  product_call x = multiply_of(call);
  *out_bytes = multiply_scratch(call, &x);
  return STOW_OK;
}

static stow_status run_matmul(stow_kernel_call* call) {
  product_call x = multiply_of(call);
  return multiply_run(call, &x);
}

// The second factor, if it is one matrix.
static uint64_t pack_size_matmul(const stow_kernel_call* call, size_t k) {
  product_call x = multiply_of(call);
  const stowi_kernel_product* p = &x.product;
  return k == 1 && x.b->dtype == STOW_F32 && x.result->dtype == STOW_F32 && p->n > 1 && p->k != 0 &&
                 stow_tensor_elements(x.b) == p->n * p->k
             ? stowi_kernel_gemm_pack_b_size(p->k, p->n)
             : 0;
}

static void pack_matmul(const stow_kernel_call* call, size_t k, void* out) {
  (void)k;
  product_call x = multiply_of(call);
  stowi_kernel_matrix b = {x.b->data, x.product.b.row, x.product.b.column};
  stowi_kernel_gemm_pack_b(&b, x.product.k, x.product.n, out);
}

STOWI_KERNEL(MATMUL, scratch_matmul, run_matmul, .variant_count = STOWI_KERNEL_GEMM_VARIANTS,
             .pack_size = pack_size_matmul, .pack = pack_matmul);
STOWI_KERNEL(FUSED_MATMUL, scratch_matmul, run_matmul, .variant_count = STOWI_KERNEL_GEMM_VARIANTS,
             .pack_size = pack_size_matmul, .pack = pack_matmul);

// ---------------------------------------------------------------------------------------------
// gemm and fused_gemm: alpha · a · b + beta · c, and an activation. The result may be in place of
// c: it is initialised from c, element by element, before products are added.

static stow_status run_gemm(stow_kernel_call* call) {
  product_call x = multiply_of(call);
  if (!stowi_kernel_spread_of(&x.product, stow_kernel_operand(call, 2), &x.addend)) {
    return stow_kernel_fail(call, STOW_ERR_TYPE, "the addend does not broadcast to the product");
  }
  if (x.addend.tensor != NULL && x.addend.tensor->dtype != x.result->dtype) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "the addend is %s, the product %s",
                            stowi_kernel_dtype_text(x.addend.tensor->dtype),
                            stowi_kernel_dtype_text(x.result->dtype));
  }
  if (call->op == STOW_OP_FUSED_GEMM) {
    STOWI_KERNEL_TRY(activation_of(call, &x.activation));
  }
  return multiply_run(call, &x);
}

STOWI_KERNEL(GEMM, scratch_matmul, run_gemm, .variant_count = STOWI_KERNEL_GEMM_VARIANTS,
             .pack_size = pack_size_matmul, .pack = pack_matmul);
STOWI_KERNEL(FUSED_GEMM, scratch_matmul, run_gemm, .variant_count = STOWI_KERNEL_GEMM_VARIANTS,
             .pack_size = pack_size_matmul, .pack = pack_matmul);
