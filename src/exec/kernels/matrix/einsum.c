// einsum: any equation as loops over its axes.
//
// Parsing. One pass over the equation: each letter has an entry in a table, and the dims that "..."
// stands for have entries after them, counted from the last one, which is how they broadcast.
#include <stowage/kernel.h>
#include <string.h>

#include "exec/kernels/matrix/gemm.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

enum { EINSUM_OPERANDS = 8, EINSUM_SUMS = 32 };

typedef struct loop_axis {
  size_t dim;
  size_t out;                  // 0 where the axis is summed
  size_t in[EINSUM_OPERANDS];  // 0 where the operand does not have the axis, or has 1 there
} loop_axis;

typedef struct einsum_loops {
  size_t operands;
  size_t out_count;
  loop_axis outs[STOW_MAX_RANK];  // in the result's order
  size_t sum_count;
  loop_axis sums[EINSUM_SUMS];
} einsum_loops;

enum { LETTERS = 'z' - 'A' + 1, PLACES = LETTERS + STOW_MAX_RANK };

typedef struct reader {
  const char* at;
  const char* end;
  size_t operands;
  size_t times[PLACES];  // how often it stands in the terms
  size_t hidden;         // dims that "..." stands for
  loop_axis axes[PLACES];
} reader;

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static bool take(reader* r, const char* text) {
  size_t size = strlen(text);
  while (r->at != r->end && *r->at == ' ') {
    ++r->at;
  }
  if ((size_t)(r->end - r->at) < size || memcmp(r->at, text, size) != 0) {
    return false;
  }
  r->at += size;
  return true;
}

static bool take_letter(reader* r, size_t* out_place) {
  if (!take(r, "") || r->at == r->end || !is_letter(*r->at)) {
    return false;
  }
  *out_place = (size_t)(*r->at++ - 'A');
  return true;
}

// A second time in one term moves along the diagonal.
static bool meet(reader* r, size_t place, size_t operand, size_t dim, size_t stride) {
  loop_axis* axis = &r->axes[place];
  if (r->times[place]++ == 0 || axis->dim == 1) {
    axis->dim = dim;
  }
  if (dim != 1) {
    axis->in[operand] += stride;
  }
  return dim == axis->dim || dim == 1;
}

static bool read_term(reader* r, size_t operand, const stow_tensor* tensor) {
  size_t letters = 0;
  for (const char* c = r->at; c != r->end && (is_letter(*c) || *c == ' ' || *c == '.'); ++c) {
    letters += is_letter(*c);
  }
  if (letters > tensor->rank) {
    return false;
  }
  size_t strides[STOW_MAX_RANK];
  size_t stride = 1;
  for (uint32_t i = tensor->rank; i-- > 0;) {
    strides[i] = stride;
    stride *= (size_t)tensor->dims[i];
  }
  uint32_t i = 0;
  for (bool has_dots = false;;) {
    size_t place;
    if (!has_dots && take(r, "...")) {
      has_dots = true;
      size_t hidden = tensor->rank - letters;
      r->hidden = hidden > r->hidden ? hidden : r->hidden;
      for (size_t h = hidden; h-- > 0; ++i) {
        if (!meet(r, LETTERS + h, operand, (size_t)tensor->dims[i], strides[i])) {
          return false;
        }
      }
    } else if (take_letter(r, &place)) {
      if (i == tensor->rank || !meet(r, place, operand, (size_t)tensor->dims[i], strides[i])) {
        return false;
      }
      ++i;
    } else {
      return i == tensor->rank;
    }
  }
}

static bool place_axis(reader* r, size_t place, einsum_loops* out) {
  if (r->times[place] == 0 || out->out_count == STOW_MAX_RANK) {
    return false;
  }
  out->outs[out->out_count++] = r->axes[place];
  r->times[place] = 0;
  return true;
}

static bool place_hidden(reader* r, einsum_loops* out) {
  for (size_t h = r->hidden; h-- > 0;) {
    if (!place_axis(r, LETTERS + h, out)) {
      return false;
    }
  }
  return true;
}

static bool read_result(reader* r, einsum_loops* out) {
  for (;;) {
    size_t place;
    if (take(r, "...")) {
      if (!place_hidden(r, out)) {
        return false;
      }
    } else if (take_letter(r, &place)) {
      if (!place_axis(r, place, out)) {
        return false;
      }
    } else {
      return r->at == r->end;
    }
  }
}

static bool imply_result(reader* r, einsum_loops* out) {
  bool fits = place_hidden(r, out) && r->at == r->end;
  for (size_t place = 0; place < LETTERS && fits; ++place) {
    if (r->times[place] == 1) {
      fits = place_axis(r, place, out);
    }
  }
  return fits;
}

// What is left is summed.
static bool collect_sums(const reader* r, einsum_loops* out) {
  for (size_t place = 0; place < PLACES; ++place) {
    if (r->times[place] != 0) {
      if (out->sum_count == EINSUM_SUMS) {
        return false;
      }
      out->sums[out->sum_count++] = r->axes[place];
    }
  }
  return true;
}

static bool moves_as_one(const einsum_loops* e, const loop_axis* outer, const loop_axis* inner) {
  bool is_one = outer->out == inner->dim * inner->out;
  for (size_t k = 0; k < e->operands; ++k) {
    is_one = is_one && outer->in[k] == inner->dim * inner->in[k];
  }
  return is_one;
}

static size_t join(const einsum_loops* e, loop_axis* axes, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    if (kept != 0 && moves_as_one(e, &axes[kept - 1], &axes[i])) {
      size_t dim = axes[kept - 1].dim * axes[i].dim;
      axes[kept - 1] = axes[i];
      axes[kept - 1].dim = dim;
    } else if (axes[i].dim != 1) {
      axes[kept++] = axes[i];
    }
  }
  return kept;
}

// Neighbouring axes that move as one everywhere are joined. False where the equation does not fit
// the operands, or has more operands or axes than there is room for.
static bool einsum_of(const stow_kernel_call* call, einsum_loops* out) {
  const stow_attr* equation = stowi_kernel_attr(call, STOWI_KERNEL_ATTR_EQUATION);
  *out = (einsum_loops){.operands = call->operand_count};
  if (equation == NULL || call->operand_count > EINSUM_OPERANDS) {
    return false;
  }
  reader r = {.at = equation->s.data, .end = equation->s.data + equation->s.size};
  for (size_t k = 0; k < call->operand_count; ++k) {
    if ((k != 0 && !take(&r, ",")) || !read_term(&r, k, call->operands[k])) {
      return false;
    }
  }
  if (!(take(&r, "->") ? read_result(&r, out) : imply_result(&r, out)) || !collect_sums(&r, out)) {
    return false;
  }
  size_t stride = 1;
  for (size_t i = out->out_count; i-- > 0;) {
    out->outs[i].out = stride;
    stride *= out->outs[i].dim;
  }
  out->out_count = join(out, out->outs, out->out_count);
  out->sum_count = join(out, out->sums, out->sum_count);
  return true;
}

// ---------------------------------------------------------------------------------------------
// Two f32 factors go through stowi_kernel_gemm: one axis of each factor alone and one common summed
// axis become m, n and k, other axes of the result become a batch of products, and other summed
// axes are added one after the other. Everything else is summed element by element, floats as f64
// and integers modulo 2^64.

enum { WORK = 1 << 16 };

// ---------------------------------------------------------------------------------------------
// Element by element

typedef struct element_loops {
  const stow_kernel_call* call;
  const einsum_loops* einsum;
  bool is_float;
} element_loops;

static size_t count_of(const loop_axis* axes, size_t count) {
  size_t product = 1;
  for (size_t i = 0; i < count; ++i) {
    product *= axes[i].dim;
  }
  return product;
}

// Adds to |offsets| where turn |index| of the axes lies in each operand.
static void move(const einsum_loops* e, const loop_axis* axes, size_t count, size_t index,
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
                                   : stowi_kernel_float_at(tensor, i);
}

// The last summed axis, |last|, is the innermost loop.
static double sum_floats(const element_loops* l, const loop_axis* last, const size_t* offsets) {
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

static uint64_t sum_ints(const element_loops* l, const loop_axis* last, const size_t* offsets) {
  uint64_t sum = 0;
  for (size_t s = 0; s < last->dim; ++s) {
    uint64_t product = 1;
    for (size_t k = 0; k < l->einsum->operands; ++k) {
      product *= (uint64_t)stowi_kernel_int_at(l->call->operands[k], offsets[k] + s * last->in[k]);
    }
    sum += product;
  }
  return sum;
}

static void compute_element(const element_loops* l, size_t index) {
  const einsum_loops* e = l->einsum;
  loop_axis last = {.dim = 1};
  size_t others = e->sum_count;
  if (others != 0) {
    last = e->sums[--others];
  }
  size_t first[EINSUM_OPERANDS] = {0};
  move(e, e->outs, e->out_count, index, first);
  double floats = 0;
  uint64_t ints = 0;
  size_t count = count_of(e->sums, others);
  for (size_t i = 0; i < count; ++i) {
    size_t offsets[EINSUM_OPERANDS];
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
    stowi_kernel_store_f64(result->dtype, result->data, index, 1, &floats);
  } else {
    stowi_kernel_store_i64(result->dtype, result->data, index, 1, &bits);
  }
}

static void compute_elements(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  for (size_t i = begin; i < end; ++i) {
    compute_element(user, i);
  }
}

static void run_elements(const stow_kernel_call* call, const einsum_loops* e) {
  element_loops l = {call, e, stowi_kernel_kind(call->results[0]->dtype) == STOW_KIND_FLOAT};
  size_t work = count_of(e->sums, e->sum_count);
  stow_kernel_split(call, stow_tensor_elements(call->results[0]),
                    work >= WORK / 16 ? 1 : WORK / 16 / (work + 1), compute_elements, &l);
}

// ---------------------------------------------------------------------------------------------
// Products of matrices

typedef struct matrix_loops {
  const stow_kernel_call* call;
  einsum_loops rest;  // axes that are neither m nor n nor k
  size_t units;       // products of the batch
  loop_axis m, n, k;
  size_t a, b;  // operands
  uint64_t scratch_size;
} matrix_loops;

static void take_axis(loop_axis* axes, size_t* count, size_t i, loop_axis* out) {
  *out = axes[i];
  --*count;
  for (; i < *count; ++i) {
    axes[i] = axes[i + 1];
  }
}

// The longest axis that both factors have, or only the first.
static size_t longest(const loop_axis* axes, size_t count, size_t a, size_t b, bool is_common) {
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
static bool is_matrix_product(const stow_kernel_call* call, const einsum_loops* e,
                              matrix_loops* out) {
  if (e->operands != 2 || call->results[0]->dtype != STOW_F32 || e->out_count == 0) {
    return false;
  }
  *out = (matrix_loops){.call = call, .rest = *e, .m = {.dim = 1}, .k = {.dim = 1}};
  einsum_loops* rest = &out->rest;
  const loop_axis* last = &rest->outs[rest->out_count - 1];
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
  out->scratch_size =
      stowi_kernel_gemm_scratch(out->m.dim, out->n.dim, out->k.dim, 1, stowi_kernel_variant(call));
  return true;
}

static size_t result_offset(const einsum_loops* e, size_t index) {
  size_t offset = 0;
  for (size_t i = e->out_count; i-- > 0;) {
    offset += index % e->outs[i].dim * e->outs[i].out;
    index /= e->outs[i].dim;
  }
  return offset;
}

// Product |unit|, by the call's workers where |is_divided|.
static void multiply_unit(const matrix_loops* l, size_t unit, void* scratch, bool is_divided) {
  const einsum_loops* rest = &l->rest;
  size_t sums = count_of(rest->sums, rest->sum_count);
  for (size_t s = 0; s < sums; ++s) {
    size_t at[EINSUM_OPERANDS] = {0};
    move(rest, rest->outs, rest->out_count, unit, at);
    move(rest, rest->sums, rest->sum_count, s, at);
    stowi_kernel_gemm g = {
        .m = l->m.dim, .n = l->n.dim, .k = l->k.dim, .c_row = l->m.out, .alpha = 1};
    g.variant = stowi_kernel_variant(l->call);
    g.a = (stowi_kernel_matrix){(const float*)l->call->operands[l->a]->data + at[l->a],
                                l->m.in[l->a], l->k.in[l->a]};
    g.b = (stowi_kernel_matrix){(const float*)l->call->operands[l->b]->data + at[l->b],
                                l->k.in[l->b], l->n.in[l->b]};
    g.c = (float*)l->call->results[0]->data + result_offset(rest, unit);
    g.accumulate = s != 0;
    if (is_divided) {
      stowi_kernel_gemm_run(l->call, &g, scratch);
    } else {
      stowi_kernel_gemm_alone(&g, scratch);
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
  einsum_loops e;
  *out_bytes = 0;
  if (einsum_of(call, &e) && e.operands == 2) {
    size_t m = count_of(e.outs, e.out_count);
    *out_bytes = stowi_kernel_gemm_scratch(m, m, count_of(e.sums, e.sum_count), call->workers,
                                           stowi_kernel_variant(call));
  }
  return STOW_OK;
}

static stow_status run_einsum(stow_kernel_call* call) {
  einsum_loops e;
  if (!einsum_of(call, &e)) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "the equation does not fit its operands (at most %d)", EINSUM_OPERANDS);
  }
  stow_dtype_kind kind = stowi_kernel_kind(call->results[0]->dtype);
  if (kind == STOW_KIND_COMPLEX || kind == STOW_KIND_BOOL) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "operands must have floats or integers");
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

STOWI_KERNEL(EINSUM, scratch_einsum, run_einsum, .variant_count = STOWI_KERNEL_GEMM_VARIANTS);
