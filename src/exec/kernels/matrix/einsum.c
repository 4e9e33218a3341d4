// einsum: any equation as loops over its axes. Two factors of f32 go through stowi_gemm: one axis
// of either factor alone and one common summed axis become m, n and k, other axes of the result are
// products next to each other, and other summed axes are added one after the other. What does not
// fit that is summed element by element, floats as f64 and integers modulo 2^64.
#include "exec/kernels/matrix/einsum_axes.h"
#include "exec/kernels/matrix/gemm.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

enum { WORK = 1 << 16 };

// ---------------------------------------------------------------------------------------------
// Element by element

typedef struct element_loops {
  const stow_kernel_call* call;
  const stowi_einsum* einsum;
  bool is_float;
} element_loops;

static size_t count_of(const stowi_axis* axes, size_t count) {
  size_t product = 1;
  for (size_t i = 0; i < count; ++i) {
    product *= axes[i].dim;
  }
  return product;
}

// Adds to |offsets| where turn |index| of the axes lies in each operand.
static void move(const stowi_einsum* e, const stowi_axis* axes, size_t count, size_t index,
                 size_t* offsets) {
  for (size_t i = count; i-- > 0;) {
    size_t at = index % axes[i].dim;
    index /= axes[i].dim;
    for (size_t k = 0; k < e->operands; ++k) {
      offsets[k] += at * axes[i].in[k];
    }
  }
}

static double float_at(const stow_tensor* tensor, size_t i) {
  return tensor->dtype == STOW_F32 ? (double)((const float*)tensor->data)[i]
                                   : stowi_float_at(tensor, i);
}

// The last summed axis, |last|, is the innermost loop.
static double sum_floats(const element_loops* l, const stowi_axis* last, const size_t* offsets) {
  double sum = 0;
  for (size_t s = 0; s < last->dim; ++s) {
    double product = 1;
    for (size_t k = 0; k < l->einsum->operands; ++k) {
      product *= float_at(l->call->operands[k], offsets[k] + s * last->in[k]);
    }
    sum += product;
  }
  return sum;
}

static uint64_t sum_ints(const element_loops* l, const stowi_axis* last, const size_t* offsets) {
  uint64_t sum = 0;
  for (size_t s = 0; s < last->dim; ++s) {
    uint64_t product = 1;
    for (size_t k = 0; k < l->einsum->operands; ++k) {
      product *= (uint64_t)stowi_int_at(l->call->operands[k], offsets[k] + s * last->in[k]);
    }
    sum += product;
  }
  return sum;
}

static void compute_element(const element_loops* l, size_t index) {
  const stowi_einsum* e = l->einsum;
  stowi_axis last = {.dim = 1};
  size_t others = e->sum_count;
  if (others != 0) {
    last = e->sums[--others];
  }
  size_t first[STOWI_EINSUM_OPERANDS] = {0};
  move(e, e->outs, e->out_count, index, first);
  double floats = 0;
  uint64_t ints = 0;
  size_t count = count_of(e->sums, others);
  for (size_t i = 0; i < count; ++i) {
    size_t offsets[STOWI_EINSUM_OPERANDS];
    for (size_t k = 0; k < e->operands; ++k) {
      offsets[k] = first[k];
    }
    move(e, e->sums, others, i, offsets);
    if (l->is_float) {
      floats += sum_floats(l, &last, offsets);
    } else {
      ints += sum_ints(l, &last, offsets);
    }
  }
  stow_tensor* result = l->call->results[0];
  int64_t bits = (int64_t)ints;
  if (l->is_float) {
    stowi_store_f64(result->dtype, result->data, index, 1, &floats);
  } else {
    stowi_store_i64(result->dtype, result->data, index, 1, &bits);
  }
}

static void compute_elements(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  for (size_t i = begin; i < end; ++i) {
    compute_element(user, i);
  }
}

static void run_elements(const stow_kernel_call* call, const stowi_einsum* e) {
  element_loops l = {call, e, stowi_kind(call->results[0]->dtype) == STOW_KIND_FLOAT};
  size_t work = count_of(e->sums, e->sum_count);
  stow_kernel_split(call, stow_tensor_elements(call->results[0]),
                    work >= WORK / 16 ? 1 : WORK / 16 / (work + 1), compute_elements, &l);
}

// ---------------------------------------------------------------------------------------------
// Products of matrices

typedef struct matrix_loops {
  const stow_kernel_call* call;
  stowi_einsum rest;  // axes that are neither m nor n nor k
  size_t units;       // products next to each other
  stowi_axis m, n, k;
  size_t a, b;  // operands
  uint64_t scratch_size;
} matrix_loops;

static void take_axis(stowi_axis* axes, size_t* count, size_t i, stowi_axis* out) {
  *out = axes[i];
  --*count;
  for (; i < *count; ++i) {
    axes[i] = axes[i + 1];
  }
}

// The longest axis that both factors have, or only the first.
static size_t longest(const stowi_axis* axes, size_t count, size_t a, size_t b, bool is_common) {
  size_t best = count;
  for (size_t i = 0; i < count; ++i) {
    bool fits = axes[i].in[a] != 0 && (axes[i].in[b] != 0) == is_common;
    if (fits && (best == count || axes[i].dim > axes[best].dim)) {
      best = i;
    }
  }
  return best;
}

// False where the result's last axis is not one of one factor alone, or nothing is summed.
static bool is_matrix_product(const stow_kernel_call* call, const stowi_einsum* e,
                              matrix_loops* out) {
  if (e->operands != 2 || call->results[0]->dtype != STOW_F32 || e->out_count == 0) {
    return false;
  }
  *out = (matrix_loops){.call = call, .rest = *e, .m = {.dim = 1}, .k = {.dim = 1}};
  stowi_einsum* rest = &out->rest;
  const stowi_axis* last = &rest->outs[rest->out_count - 1];
  if (last->out != 1 || (last->in[0] != 0) == (last->in[1] != 0)) {
    return false;
  }
  out->b = last->in[1] != 0 ? 1 : 0;
  out->a = 1 - out->b;
  take_axis(rest->outs, &rest->out_count, rest->out_count - 1, &out->n);
  size_t m = longest(rest->outs, rest->out_count, out->a, out->b, false);
  if (m != rest->out_count) {
    take_axis(rest->outs, &rest->out_count, m, &out->m);
  }
  size_t k = longest(rest->sums, rest->sum_count, out->a, out->b, true);
  if (k != rest->sum_count) {
    take_axis(rest->sums, &rest->sum_count, k, &out->k);
  }
  if (count_of(rest->sums, rest->sum_count) == 0) {
    return false;
  }
  out->units = count_of(rest->outs, rest->out_count);
  out->scratch_size = stowi_gemm_scratch(out->m.dim, out->n.dim, out->k.dim, 1);
  return true;
}

static size_t result_offset(const stowi_einsum* e, size_t index) {
  size_t offset = 0;
  for (size_t i = e->out_count; i-- > 0;) {
    offset += index % e->outs[i].dim * e->outs[i].out;
    index /= e->outs[i].dim;
  }
  return offset;
}

// Product |unit|, by the call's workers where |is_divided|.
static void multiply_unit(const matrix_loops* l, size_t unit, void* scratch, bool is_divided) {
  const stowi_einsum* rest = &l->rest;
  size_t sums = count_of(rest->sums, rest->sum_count);
  for (size_t s = 0; s < sums; ++s) {
    size_t at[STOWI_EINSUM_OPERANDS] = {0};
    move(rest, rest->outs, rest->out_count, unit, at);
    move(rest, rest->sums, rest->sum_count, s, at);
    stowi_gemm g = {.m = l->m.dim, .n = l->n.dim, .k = l->k.dim, .c_row = l->m.out, .alpha = 1};
    g.a = (stowi_matrix){(const float*)l->call->operands[l->a]->data + at[l->a], l->m.in[l->a],
                         l->k.in[l->a]};
    g.b = (stowi_matrix){(const float*)l->call->operands[l->b]->data + at[l->b], l->k.in[l->b],
                         l->n.in[l->b]};
    g.c = (float*)l->call->results[0]->data + result_offset(rest, unit);
    g.accumulate = s != 0;
    if (is_divided) {
      stowi_gemm_run(l->call, &g, scratch);
    } else {
      stowi_gemm_alone(&g, scratch);
    }
  }
}

static void multiply_units(void* user, size_t begin, size_t end, uint32_t worker) {
  const matrix_loops* l = user;
  for (size_t i = begin; i < end; ++i) {
    multiply_unit(l, i, (char*)l->call->scratch + worker * l->scratch_size, false);
  }
}

static void run_products(matrix_loops* l) {
  double work = (double)l->m.dim * (double)l->n.dim * (double)l->k.dim *
                (double)count_of(l->rest.sums, l->rest.sum_count);
  if (l->units >= (size_t)l->call->workers * 2 || work < WORK) {
    size_t grain = work >= WORK ? 1 : (size_t)(WORK / (work + 1)) + 1;
    stow_kernel_split(l->call, l->units, grain, multiply_units, l);
    return;
  }
  for (size_t i = 0; i < l->units; ++i) {
    multiply_unit(l, i, l->call->scratch, true);
  }
}

// ---------------------------------------------------------------------------------------------

// Which axes become m and k depends on their dims, so scratch is for all of them together.
static stow_status scratch_einsum(const stow_kernel_call* call, uint64_t* out_bytes) {
  stowi_einsum e;
  *out_bytes = 0;
  if (stowi_einsum_of(call, &e) && e.operands == 2) {
    size_t m = count_of(e.outs, e.out_count);
    *out_bytes = stowi_gemm_scratch(m, m, count_of(e.sums, e.sum_count), call->workers);
  }
  return STOW_OK;
}

static stow_status run_einsum(stow_kernel_call* call) {
  stowi_einsum e;
  if (!stowi_einsum_of(call, &e)) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "the equation must fit its operands, of which there may be %d",
                            STOWI_EINSUM_OPERANDS);
  }
  stow_dtype_kind kind = stowi_kind(call->results[0]->dtype);
  if (kind == STOW_KIND_COMPLEX || kind == STOW_KIND_BOOL) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "operands must be of floats or integers");
  }
  if (stow_tensor_elements(call->results[0]) == 0) {
    return STOW_OK;
  }
  matrix_loops l;
  if (is_matrix_product(call, &e, &l)) {
    run_products(&l);
  } else {
    run_elements(call, &e);
  }
  return STOW_OK;
}

STOWI_KERNEL(EINSUM, scratch_einsum, run_einsum);
