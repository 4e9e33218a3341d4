// Which of the ways to multiply a dtype takes, and how the work is divided: many small products one
// by one, few large ones each among all workers.
#include "exec/kernels/matrix/multiply.h"

#include <string.h>

#include "exec/kernels/matrix/gemm.h"
#include "exec/kernels/matrix/multiply_wide.h"
#include "exec/kernels/matrix/part_room.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/size.h"

enum { WORK = 1 << 16 };

// ---------------------------------------------------------------------------------------------
// f32

static void add_ahead(const stowi_multiply* x, size_t batch) {
  const stowi_product* p = &x->product;
  const float* from = x->addend.tensor->data;
  float* to = (float*)x->result->data + stowi_product_element(p, batch, 0, 0);
  float beta = (float)x->beta;
  for (size_t i = 0; i < p->m; ++i) {
    const float* row = from + i * x->addend.row;
    for (size_t j = 0; j < p->n; ++j) {
      to[i * p->n + j] = beta * row[j * x->addend.column];
    }
  }
}

// Product |batch|, whose result holds what is added already.
static stowi_gemm gemm_of(const stowi_multiply* x, size_t batch) {
  const stowi_product* p = &x->product;
  stowi_gemm g = {.m = p->m, .n = p->n, .k = p->k, .c_row = p->n, .alpha = (float)x->alpha};
  g.a = (stowi_matrix){(const float*)x->a->data + stowi_product_first(p, &p->a, batch), p->a.row,
                       p->a.column};
  g.b = (stowi_matrix){(const float*)x->b->data + stowi_product_first(p, &p->b, batch), p->b.row,
                       p->b.column};
  g.c = (float*)x->result->data + stowi_product_element(p, batch, 0, 0);
  if (x->addend.tensor != NULL) {
    add_ahead(x, batch);
    g.accumulate = true;
  }
  return g;
}

typedef struct batches {
  const stowi_multiply* multiply;
  char* scratch;
  uint64_t scratch_size;  // of a worker
} batches;

static void multiply_batches(void* user, size_t begin, size_t end, uint32_t worker) {
  const batches* b = user;
  for (size_t i = begin; i < end; ++i) {
    stowi_gemm g = gemm_of(b->multiply, i);
    stowi_gemm_alone(&g, b->scratch + worker * b->scratch_size);
  }
}

static void activate_task(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const stowi_multiply* x = user;
  stowi_activate(&x->activation, (float*)x->result->data + begin, end - begin);
}

static void multiply_f32(const stow_kernel_call* call, stowi_multiply* x) {
  const stowi_product* p = &x->product;
  double work = (double)p->m * (double)p->n * (double)p->k;
  if (p->batches >= (size_t)call->workers * 2 || work < WORK) {
    batches b = {x, call->scratch, stowi_gemm_scratch(p->m, p->n, p->k, 1)};
    size_t grain = work >= WORK ? 1 : (size_t)(WORK / (work + 1)) + 1;
    stow_kernel_split(call, p->batches, grain, multiply_batches, &b);
  } else {
    for (size_t i = 0; i < p->batches; ++i) {
      stowi_gemm g = gemm_of(x, i);
      stowi_gemm_run(call, &g, call->scratch);
    }
  }
  if (x->activation.kind != STOWI_ACTIVATION_NONE) {
    stow_kernel_split(call, stow_tensor_elements(x->result), WORK / 16, activate_task, x);
  }
}

// ---------------------------------------------------------------------------------------------
// Narrower floats: parts of the factors and of the result as f32

// |outer| × |inner| elements, the inner ones next to each other where one of the strides is 1.
static stowi_matrix load_part(const stow_tensor* from, size_t first, size_t rows, size_t row,
                              size_t columns, size_t column, float* to) {
  bool is_turned = row == 1 && column != 1;
  size_t outer = is_turned ? columns : rows;
  size_t inner = is_turned ? rows : columns;
  size_t outer_step = is_turned ? column : row;
  size_t inner_step = is_turned ? row : column;
  for (size_t i = 0; i < outer; ++i) {
    if (inner_step == 1) {
      stowi_load_f32(from->dtype, from->data, first + i * outer_step, inner, to + i * inner);
      continue;
    }
    for (size_t j = 0; j < inner; ++j) {
      stowi_load_f32(from->dtype, from->data, first + i * outer_step + j * inner_step, 1,
                     to + i * inner + j);
    }
  }
  return (stowi_matrix){to, is_turned ? 1 : inner, is_turned ? inner : 1};
}

static void load_addend(const stowi_multiply* x, const stowi_part* part, float* c) {
  const stow_tensor* tensor = x->addend.tensor;
  float beta = (float)x->beta;
  for (size_t i = 0; i < part->rows; ++i) {
    float* row = c + i * part->columns;
    size_t first = (part->row + i) * x->addend.row + part->column * x->addend.column;
    stowi_load_f32(tensor->dtype, tensor->data, first, x->addend.column != 0 ? part->columns : 1,
                   row);
    for (size_t j = part->columns; j-- > 0;) {
      row[j] = beta * row[j * x->addend.column];
    }
  }
}

static void multiply_part(const stowi_multiply* x, const stowi_part* part,
                          const stowi_part_room* r) {
  const stowi_product* p = &x->product;
  stowi_gemm g = {.m = part->rows, .n = part->columns, .alpha = (float)x->alpha};
  g.c = r->c;
  g.c_row = part->columns;
  g.accumulate = x->addend.tensor != NULL;
  if (g.accumulate) {
    load_addend(x, part, r->c);
  }
  size_t a = stowi_product_first(p, &p->a, part->batch) + part->row * p->a.row;
  size_t b = stowi_product_first(p, &p->b, part->batch) + part->column * p->b.column;
  for (size_t step = 0; step < p->k || step == 0; step += STOWI_PART_DEPTH) {
    g.k = stowi_smaller(p->k - step, STOWI_PART_DEPTH);
    g.a = load_part(x->a, a + step * p->a.column, g.m, p->a.row, g.k, p->a.column, r->a);
    g.b = load_part(x->b, b + step * p->b.row, g.k, p->b.row, g.n, p->b.column, r->b);
    stowi_gemm_alone(&g, r->gemm);
    g.accumulate = true;
  }
  stowi_activate(&x->activation, r->c, part->rows * part->columns);
  for (size_t i = 0; i < part->rows; ++i) {
    stowi_store_f32(x->result->dtype, x->result->data,
                    stowi_product_element(p, part->batch, part->row + i, part->column),
                    part->columns, r->c + i * part->columns);
  }
}

static void multiply_parts(void* user, size_t begin, size_t end, uint32_t worker) {
  const batches* b = user;
  const stowi_product* p = &b->multiply->product;
  stowi_part_room r = stowi_part_room_at(p, b->scratch + worker * b->scratch_size);
  for (size_t i = begin; i < end; ++i) {
    stowi_part part = stowi_part_at(p, i);
    multiply_part(b->multiply, &part, &r);
  }
}

// ---------------------------------------------------------------------------------------------

static bool is_narrow(stow_dtype dtype) {
  return stowi_kind(dtype) == STOW_KIND_FLOAT && stowi_bits(dtype) >= 8 && stowi_bits(dtype) < 32;
}

stowi_multiply stowi_multiply_of(const stow_kernel_call* call) {
  stowi_multiply x = {.a = stow_kernel_operand(call, 0), .b = stow_kernel_operand(call, 1)};
  stowi_turn a = {stow_kernel_bool(call, "trans_a", false),
                  stow_kernel_bool(call, "trans_batch_a", false)};
  stowi_turn b = {stow_kernel_bool(call, "trans_b", false),
                  stow_kernel_bool(call, "trans_batch_b", false)};
  x.product = stowi_product_of(x.a, a, x.b, b);
  x.result = stow_kernel_result(call, 0);
  x.alpha = stow_kernel_float(call, "alpha", 1);
  x.beta = stow_kernel_float(call, "beta", 1);
  return x;
}

uint64_t stowi_multiply_scratch(const stow_kernel_call* call, const stowi_multiply* x) {
  stowi_product p = stowi_product_joined(&x->product);
  if (is_narrow(x->result->dtype)) {
    return stowi_part_room_size(&p) * call->workers;
  }
  return x->result->dtype == STOW_F32 ? stowi_gemm_scratch(p.m, p.n, p.k, call->workers) : 0;
}

stow_status stowi_multiply_run(const stow_kernel_call* call, const stowi_multiply* multiply) {
  stowi_multiply x = *multiply;
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
    batches b = {&x, call->scratch, stowi_part_room_size(&x.product)};
    stow_kernel_split(call, stowi_part_count(&x.product), stowi_part_grain(&x.product),
                      multiply_parts, &b);
    return STOW_OK;
  }
  return stowi_multiply_wide(call, &x);
}
