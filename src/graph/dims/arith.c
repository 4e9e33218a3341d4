// Arithmetic on dims: sums and products in normal form, opaque terms, substitution. dims.c
// describes the normal form and its reasons.
#include <string.h>

#include "base/checked.h"
#include "base/diag.h"
#include "graph/dims/internal.h"

#define MAX_FACTORS 16

// ---------------------------------------------------------------------------------------------
// Order by content

static int compare_numbers(int64_t a, int64_t b) { return a < b ? -1 : a > b; }

// Total, and 0 only for equal dims. Two different interned dims differ at the first differing
// child, so this follows one path down.
int stowi_graph_dims_compare(const stow_dims* dims, stow_dim a, stow_dim b) {
  if (a == b) {
    return 0;
  }
  if (a >= 0 || b >= 0) {
    return a >= 0 && b >= 0 ? compare_numbers(a, b) : (a >= 0 ? 1 : -1);
  }
  const stowi_graph_expr* x = stowi_graph_expr_of(dims, a);
  const stowi_graph_expr* y = stowi_graph_expr_of(dims, b);
  if (x->kind != y->kind) {
    return compare_numbers(x->kind, y->kind);
  }
  if (x->kind == STOWI_GRAPH_EXPR_SYMBOL) {
    return stow_str_compare(dims->symbols.data[x->symbol], dims->symbols.data[y->symbol]);
  }
  const stowi_graph_term* s = stowi_graph_terms_of(dims, x);
  const stowi_graph_term* t = stowi_graph_terms_of(dims, y);
  for (size_t i = 0; i < x->count && i < y->count; ++i) {
    if (s[i].dim != t[i].dim) {
      return stowi_graph_dims_compare(dims, s[i].dim, t[i].dim);
    }
    if (s[i].coefficient != t[i].coefficient) {
      return compare_numbers(s[i].coefficient, t[i].coefficient);
    }
  }
  int by_count = compare_numbers((int64_t)x->count, (int64_t)y->count);
  return by_count != 0 ? by_count : compare_numbers(x->constant, y->constant);
}

// ---------------------------------------------------------------------------------------------
// Sums

void stowi_graph_sum_load(const stow_dims* dims, stow_dim dim, stowi_graph_sum* out) {
  out->constant = 0;
  out->count = 0;
  if (dim >= 0) {
    out->constant = dim;
    return;
  }
  const stowi_graph_expr* e = stowi_graph_expr_of(dims, dim);
  if (e->kind != STOWI_GRAPH_EXPR_SUM) {
    out->count = 1;
    out->terms[0] = (stowi_graph_term){1, dim};
    return;
  }
  out->constant = e->constant;
  out->count = e->count;
  for (size_t i = 0; i < e->count; ++i) {
    out->terms[i] = stowi_graph_terms_of(dims, e)[i];
  }
}

static stow_dim store_sum(stow_dims* dims, stowi_graph_sum* s) {
  stow_status status = stowi_graph_sum_undo_divisions(dims, s);
  if (status != STOW_OK) {
    return stowi_graph_dims_fail(dims, status);
  }
  if (s->count == 0 && s->constant >= 0) {
    return s->constant;
  }
  if (s->count == 1 && s->constant == 0 && s->terms[0].coefficient == 1) {
    return s->terms[0].dim;
  }
  return stowi_graph_dims_intern(dims, STOWI_GRAPH_EXPR_SUM, s->constant, s->terms, s->count);
}

// into += factor × dim, where dim is not a sum. Keeps the terms sorted and without zeros.
static stow_status add_term(const stow_dims* dims, stowi_graph_sum* into, int64_t factor,
                            stow_dim dim) {
  size_t at = 0;
  while (at < into->count && stowi_graph_dims_compare(dims, into->terms[at].dim, dim) < 0) {
    ++at;
  }
  if (at < into->count && into->terms[at].dim == dim) {
    if (!stowi_add_i64(into->terms[at].coefficient, factor, &into->terms[at].coefficient)) {
      return STOW_ERR_OVERFLOW;
    }
    if (into->terms[at].coefficient == 0) {
      --into->count;
      memmove(into->terms + at, into->terms + at + 1,
              (into->count - at) * sizeof(stowi_graph_term));
    }
    return STOW_OK;
  }
  if (into->count == STOWI_GRAPH_MAX_TERMS) {
    return STOW_ERR_LIMIT;
  }
  memmove(into->terms + at + 1, into->terms + at, (into->count - at) * sizeof(stowi_graph_term));
  into->terms[at] = (stowi_graph_term){factor, dim};
  ++into->count;
  return STOW_OK;
}

// into += factor × other
stow_status stowi_graph_sum_add(const stow_dims* dims, stowi_graph_sum* into, int64_t factor,
                                const stowi_graph_sum* other) {
  int64_t scaled;
  if (!stowi_mul_i64(factor, other->constant, &scaled) ||
      !stowi_add_i64(into->constant, scaled, &into->constant)) {
    return STOW_ERR_OVERFLOW;
  }
  for (size_t i = 0; i < other->count; ++i) {
    if (!stowi_mul_i64(factor, other->terms[i].coefficient, &scaled)) {
      return STOW_ERR_OVERFLOW;
    }
    if (scaled != 0) {
      STOW_TRY(add_term(dims, into, scaled, other->terms[i].dim));
    }
  }
  return STOW_OK;
}

// Factors of a product, or the atom itself.
static const stowi_graph_term* factors_of(const stow_dims* dims, const stowi_graph_term* single,
                                          size_t* out_count) {
  const stowi_graph_expr* e = stowi_graph_expr_of(dims, single->dim);
  if (e->kind != STOWI_GRAPH_EXPR_PRODUCT) {
    *out_count = 1;
    return single;
  }
  *out_count = e->count;
  return stowi_graph_terms_of(dims, e);
}

static stow_dim multiply_products(stow_dims* dims, stow_dim a, stow_dim b) {
  stowi_graph_term single_a = {1, a};
  stowi_graph_term single_b = {1, b};
  size_t count_a;
  size_t count_b;
  const stowi_graph_term* x = factors_of(dims, &single_a, &count_a);
  const stowi_graph_term* y = factors_of(dims, &single_b, &count_b);
  if (count_a + count_b > MAX_FACTORS) {
    return stowi_graph_dims_fail(dims, STOW_ERR_LIMIT);
  }
  stowi_graph_term merged[MAX_FACTORS];
  size_t i = 0;
  size_t j = 0;
  while (i < count_a || j < count_b) {
    bool take_x =
        j == count_b || (i < count_a && stowi_graph_dims_compare(dims, x[i].dim, y[j].dim) <= 0);
    merged[i + j] = (stowi_graph_term){1, take_x ? x[i].dim : y[j].dim};
    *(take_x ? &i : &j) += 1;
  }
  return stowi_graph_dims_intern(dims, STOWI_GRAPH_EXPR_PRODUCT, 0, merged, count_a + count_b);
}

// into += a's term × other
static stow_status add_term_times_sum(stow_dims* dims, stowi_graph_sum* into, stowi_graph_term a,
                                      const stowi_graph_sum* other) {
  int64_t scaled;
  if (!stowi_mul_i64(a.coefficient, other->constant, &scaled)) {
    return STOW_ERR_OVERFLOW;
  }
  if (scaled != 0) {
    STOW_TRY(add_term(dims, into, scaled, a.dim));
  }
  for (size_t i = 0; i < other->count; ++i) {
    if (!stowi_mul_i64(a.coefficient, other->terms[i].coefficient, &scaled)) {
      return STOW_ERR_OVERFLOW;
    }
    stow_dim product = multiply_products(dims, a.dim, other->terms[i].dim);
    if (product == STOW_DIM_INVALID) {
      return dims->status;
    }
    STOW_TRY(add_term(dims, into, scaled, product));
  }
  return STOW_OK;
}

static stow_status multiply_sums(stow_dims* dims, const stowi_graph_sum* a,
                                 const stowi_graph_sum* b, stowi_graph_sum* out) {
  out->count = 0;
  out->constant = 0;
  STOW_TRY(stowi_graph_sum_add(dims, out, a->constant, b));
  for (size_t i = 0; i < a->count; ++i) {
    STOW_TRY(add_term_times_sum(dims, out, a->terms[i], b));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Opaque terms, on sums

static stow_dim opaque(stow_dims* dims, stowi_graph_expr_kind kind, const stowi_graph_sum* a,
                       const stowi_graph_sum* b) {
  stowi_graph_sum first = *a;
  stowi_graph_sum second = *b;
  stowi_graph_term operands[2] = {{1, store_sum(dims, &first)}, {1, store_sum(dims, &second)}};
  if (operands[0].dim == STOW_DIM_INVALID || operands[1].dim == STOW_DIM_INVALID) {
    return STOW_DIM_INVALID;
  }
  bool commutes = kind == STOWI_GRAPH_EXPR_MIN || kind == STOWI_GRAPH_EXPR_MAX;
  if (commutes && stowi_graph_dims_compare(dims, operands[0].dim, operands[1].dim) > 0) {
    stowi_graph_term swap = operands[0];
    operands[0] = operands[1];
    operands[1] = swap;
  }
  return stowi_graph_dims_intern(dims, kind, 0, operands, 2);
}

static int64_t floor_quotient(int64_t a, int64_t b) {  // b > 0
  return a / b - (a % b < 0);
}

// Splits |a| into quotient × b + rest, b > 0, with the rest's coefficients in [0, b).
static void split_by(const stowi_graph_sum* a, int64_t b, stowi_graph_sum* quotient,
                     stowi_graph_sum* rest) {
  quotient->count = 0;
  rest->count = 0;
  quotient->constant = floor_quotient(a->constant, b);
  rest->constant = a->constant - quotient->constant * b;
  for (size_t i = 0; i < a->count; ++i) {
    int64_t q = floor_quotient(a->terms[i].coefficient, b);
    int64_t r = a->terms[i].coefficient - q * b;
    if (q != 0) {
      quotient->terms[quotient->count++] = (stowi_graph_term){q, a->terms[i].dim};
    }
    if (r != 0) {
      rest->terms[rest->count++] = (stowi_graph_term){r, a->terms[i].dim};
    }
  }
}

static stow_status divide_by_constant(stow_dims* dims, const stowi_graph_sum* a, int64_t b, bool up,
                                      stowi_graph_sum* out) {
  stowi_graph_sum shifted = *a;
  if (up && !stowi_add_i64(shifted.constant, b - 1, &shifted.constant)) {
    return STOW_ERR_OVERFLOW;
  }
  stowi_graph_sum rest;
  stowi_graph_sum more;
  split_by(&shifted, b, out, &rest);
  int64_t before;
  do {
    before = b;
    stowi_graph_sum_shrink(dims, &rest, &b);
    stowi_graph_sum shrunk = rest;
    split_by(&shrunk, b, &more, &rest);
    STOW_TRY(stowi_graph_sum_add(dims, out, 1, &more));
  } while (b != before && rest.count != 0);
  if (rest.count == 0) {
    return STOW_OK;  // the rest's constant is below b
  }
  stowi_graph_sum divisor = {.constant = b};
  stow_dim term_dim = opaque(dims, STOWI_GRAPH_EXPR_FLOOR_DIV, &rest, &divisor);
  return term_dim == STOW_DIM_INVALID ? dims->status : add_term(dims, out, 1, term_dim);
}

// ---------------------------------------------------------------------------------------------
// Exact division, as polynomials are divided: the leading term of what is left, by the leading term
// of the divisor, until nothing is left. Terms are ordered by degree, then by their atoms, which
// multiplication respects, so that a multiple of the divisor is always found to be one.

// Whether the product |a| leads |b|.
static bool leads(const stow_dims* dims, stowi_graph_term a, stowi_graph_term b) {
  size_t count_a;
  size_t count_b;
  const stowi_graph_term* x = factors_of(dims, &a, &count_a);
  const stowi_graph_term* y = factors_of(dims, &b, &count_b);
  if (count_a != count_b) {
    return count_a > count_b;
  }
  size_t i = 0;
  while (i < count_a && x[i].dim == y[i].dim) {
    ++i;
  }
  return i < count_a && stowi_graph_dims_compare(dims, x[i].dim, y[i].dim) < 0;
}

static stowi_graph_term leading_term(const stow_dims* dims, const stowi_graph_sum* s) {
  stowi_graph_term best = s->terms[0];
  for (size_t i = 1; i < s->count; ++i) {
    best = leads(dims, s->terms[i], best) ? s->terms[i] : best;
  }
  return best;
}

// quotient = a / b, of terms. Sets |out_fits| to false if b does not divide a.
static stow_status divide_term(stow_dims* dims, stowi_graph_term a, stowi_graph_term b,
                               stowi_graph_sum* quotient, bool* out_fits) {
  size_t count_a;
  size_t count_b;
  const stowi_graph_term* x = factors_of(dims, &a, &count_a);
  const stowi_graph_term* y = factors_of(dims, &b, &count_b);
  stowi_graph_term rest[MAX_FACTORS];
  size_t count = 0;
  size_t j = 0;
  for (size_t i = 0; i < count_a; ++i) {
    if (j < count_b && x[i].dim == y[j].dim) {
      ++j;
    } else {
      rest[count++] = (stowi_graph_term){1, x[i].dim};
    }
  }
  // INT64_MIN / -1 has no result
  *out_fits = j == count_b && b.coefficient != -1 && a.coefficient % b.coefficient == 0;
  if (!*out_fits) {
    return STOW_OK;
  }
  int64_t coefficient = a.coefficient / b.coefficient;
  *quotient = (stowi_graph_sum){.constant = count == 0 ? coefficient : 0, .count = count != 0};
  if (count != 0) {
    stow_dim product =
        count == 1 ? rest[0].dim
                   : stowi_graph_dims_intern(dims, STOWI_GRAPH_EXPR_PRODUCT, 0, rest, count);
    quotient->terms[0] = (stowi_graph_term){coefficient, product};
    return product == STOW_DIM_INVALID ? dims->status : STOW_OK;
  }
  return STOW_OK;
}

// One step: moves the quotient of the leading terms from |left| to |out|.
static stow_status divide_step(stow_dims* dims, const stowi_graph_sum* b, stowi_graph_sum* left,
                               stowi_graph_sum* out, bool* out_fits) {
  stowi_graph_sum quotient;
  stowi_graph_sum product;
  STOW_TRY(divide_term(dims, leading_term(dims, left), leading_term(dims, b), &quotient, out_fits));
  if (!*out_fits) {
    return STOW_OK;
  }
  STOW_TRY(multiply_sums(dims, &quotient, b, &product));
  STOW_TRY(stowi_graph_sum_add(dims, out, 1, &quotient));
  return stowi_graph_sum_add(dims, left, -1, &product);
}

// out = a / b if b, which has terms and is taken as positive, divides a. An expression that exceeds
// a limit on the way counts as not divisible.
static stow_status divide_exactly(stow_dims* dims, const stowi_graph_sum* a,
                                  const stowi_graph_sum* b, stowi_graph_sum* out, bool* out_exact) {
  stow_status before = dims->status;
  stow_status status = STOW_OK;
  stowi_graph_sum left = *a;
  bool fits = true;
  *out = (stowi_graph_sum){.constant = 0};
  for (size_t i = 0; i < STOWI_GRAPH_MAX_TERMS && left.count != 0 && fits && status == STOW_OK;
       ++i) {
    status = divide_step(dims, b, &left, out, &fits);
  }
  *out_exact = status == STOW_OK && fits && left.count == 0 && left.constant == 0;
  if (status == STOW_ERR_OUT_OF_MEMORY) {
    return status;
  }
  dims->status = before;
  return STOW_OK;
}

static stow_status divide_sums(stow_dims* dims, const stowi_graph_sum* a, const stowi_graph_sum* b,
                               bool up, stowi_graph_sum* out) {
  if (b->count == 0) {
    if (b->constant <= 0) {
      return STOW_ERR_TYPE;
    }
    return divide_by_constant(dims, a, b->constant, up, out);
  }
  bool is_exact = false;
  STOW_TRY(divide_exactly(dims, a, b, out, &is_exact));
  if (is_exact) {
    return STOW_OK;
  }
  out->constant = 0;
  out->count = 0;
  stow_dim term_dim =
      opaque(dims, up ? STOWI_GRAPH_EXPR_CEIL_DIV : STOWI_GRAPH_EXPR_FLOOR_DIV, a, b);
  return term_dim == STOW_DIM_INVALID ? dims->status : add_term(dims, out, 1, term_dim);
}

static stow_status choose_sum(stow_dims* dims, const stowi_graph_sum* a, const stowi_graph_sum* b,
                              bool larger, stowi_graph_sum* out) {
  stowi_graph_sum difference = *a;
  STOW_TRY(stowi_graph_sum_add(dims, &difference, -1, b));
  stowi_graph_sum opposite = {.constant = 0};
  if (stowi_graph_sum_at_least(dims, &difference, 0, 0)) {
    *out = larger ? *a : *b;
    return STOW_OK;
  }
  if (stowi_graph_sum_add(dims, &opposite, -1, &difference) == STOW_OK &&
      stowi_graph_sum_at_least(dims, &opposite, 0, 0)) {
    *out = larger ? *b : *a;
    return STOW_OK;
  }
  out->constant = 0;
  out->count = 0;
  stow_dim term_dim = opaque(dims, larger ? STOWI_GRAPH_EXPR_MAX : STOWI_GRAPH_EXPR_MIN, a, b);
  return term_dim == STOW_DIM_INVALID ? dims->status : add_term(dims, out, 1, term_dim);
}

// ---------------------------------------------------------------------------------------------
// Public arithmetic

typedef enum operation {
  OP_ADD,
  OP_SUB,
  OP_MUL,
  OP_FLOOR_DIV,
  OP_CEIL_DIV,
  OP_MIN,
  OP_MAX
} operation;

// Of a product or an opaque term.
static operation operation_of(stowi_graph_expr_kind kind) {
  switch (kind) {
    case STOWI_GRAPH_EXPR_FLOOR_DIV: return OP_FLOOR_DIV;
    case STOWI_GRAPH_EXPR_CEIL_DIV: return OP_CEIL_DIV;
    case STOWI_GRAPH_EXPR_MIN: return OP_MIN;
    case STOWI_GRAPH_EXPR_MAX: return OP_MAX;
    default: return OP_MUL;
  }
}

static stow_status apply_to_sums(stow_dims* dims, operation op, const stowi_graph_sum* a,
                                 const stowi_graph_sum* b, stowi_graph_sum* out) {
  switch (op) {
    case OP_ADD:
    case OP_SUB: *out = *a; return stowi_graph_sum_add(dims, out, op == OP_ADD ? 1 : -1, b);
    case OP_MUL: return multiply_sums(dims, a, b, out);
    case OP_FLOOR_DIV:
    case OP_CEIL_DIV: return divide_sums(dims, a, b, op == OP_CEIL_DIV, out);
    case OP_MIN:
    case OP_MAX: return choose_sum(dims, a, b, op == OP_MAX, out);
  }
  return STOW_ERR_INVALID_ARGUMENT;
}

static stow_dim apply(stow_dims* dims, operation op, stow_dim a, stow_dim b) {
  if (a == STOW_DIM_INVALID || b == STOW_DIM_INVALID) {
    return STOW_DIM_INVALID;  // the status is already set
  }
  if ((a < 0 && !stowi_graph_dim_is_handle(dims, a)) ||
      (b < 0 && !stowi_graph_dim_is_handle(dims, b))) {
    return stowi_graph_dims_fail(dims, STOW_ERR_INVALID_ARGUMENT);
  }
  stowi_graph_sum x;
  stowi_graph_sum y;
  stowi_graph_sum result;
  stowi_graph_sum_load(dims, a, &x);
  stowi_graph_sum_load(dims, b, &y);
  stow_status status = apply_to_sums(dims, op, &x, &y, &result);
  return status == STOW_OK ? store_sum(dims, &result) : stowi_graph_dims_fail(dims, status);
}

stow_dim stow_dim_add(stow_dims* dims, stow_dim a, stow_dim b) { return apply(dims, OP_ADD, a, b); }
stow_dim stow_dim_sub(stow_dims* dims, stow_dim a, stow_dim b) { return apply(dims, OP_SUB, a, b); }
stow_dim stow_dim_mul(stow_dims* dims, stow_dim a, stow_dim b) { return apply(dims, OP_MUL, a, b); }
stow_dim stow_dim_floor_div(stow_dims* dims, stow_dim a, stow_dim b) {
  return apply(dims, OP_FLOOR_DIV, a, b);
}
stow_dim stow_dim_ceil_div(stow_dims* dims, stow_dim a, stow_dim b) {
  return apply(dims, OP_CEIL_DIV, a, b);
}
stow_dim stow_dim_min(stow_dims* dims, stow_dim a, stow_dim b) { return apply(dims, OP_MIN, a, b); }
stow_dim stow_dim_max(stow_dims* dims, stow_dim a, stow_dim b) { return apply(dims, OP_MAX, a, b); }

stow_dim stow_dim_of_int(stow_dims* dims, int64_t number) {
  stowi_graph_sum s = {.constant = number};
  return store_sum(dims, &s);
}

bool stow_dim_to_int(const stow_dims* dims, stow_dim dim, int64_t* out_number) {
  if (dim >= 0) {
    *out_number = dim;
    return true;
  }
  if (!stowi_graph_dim_is_handle(dims, dim) ||
      stowi_graph_expr_of(dims, dim)->kind != STOWI_GRAPH_EXPR_SUM ||
      stowi_graph_expr_of(dims, dim)->count != 0) {
    return false;
  }
  *out_number = stowi_graph_expr_of(dims, dim)->constant;
  return true;
}

// ---------------------------------------------------------------------------------------------
// Substitution. Depth is at most MAX_DEPTH, so recursion is bounded. Terms are copied out of the
// pool before anything is interned, which may move it.

static stow_dim substitute(stow_dims* dims, stow_dim dim, const int64_t* values);

static stow_dim substitute_children(stow_dims* dims, stowi_graph_expr e, operation op,
                                    const int64_t* values) {
  stow_dim result = substitute(dims, dims->pool.data[e.first].dim, values);
  for (size_t i = 1; i < e.count; ++i) {
    result = apply(dims, op, result, substitute(dims, dims->pool.data[e.first + i].dim, values));
  }
  return result;
}

static stow_dim substitute_sum(stow_dims* dims, stowi_graph_expr e, const int64_t* values) {
  stow_dim result = stow_dim_of_int(dims, e.constant);
  for (size_t i = 0; i < e.count; ++i) {
    stowi_graph_term t = dims->pool.data[e.first + i];
    stow_dim factor = stow_dim_of_int(dims, t.coefficient);
    stow_dim product = apply(dims, OP_MUL, factor, substitute(dims, t.dim, values));
    result = apply(dims, OP_ADD, result, product);
  }
  return result;
}

static stow_dim substitute(stow_dims* dims, stow_dim dim, const int64_t* values) {
  if (dim >= 0 || dim == STOW_DIM_INVALID) {
    return dim;
  }
  stowi_graph_expr e = *stowi_graph_expr_of(dims, dim);
  switch (e.kind) {
    case STOWI_GRAPH_EXPR_SYMBOL:
      return values[e.symbol] == STOW_DIM_INVALID ? dim : stow_dim_of_int(dims, values[e.symbol]);
    case STOWI_GRAPH_EXPR_PRODUCT:
    case STOWI_GRAPH_EXPR_FLOOR_DIV:
    case STOWI_GRAPH_EXPR_CEIL_DIV:
    case STOWI_GRAPH_EXPR_MIN:
    case STOWI_GRAPH_EXPR_MAX: return substitute_children(dims, e, operation_of(e.kind), values);
    case STOWI_GRAPH_EXPR_SUM: return substitute_sum(dims, e, values);
  }
  return STOW_DIM_INVALID;
}

stow_dim stowi_graph_dims_substitute(stow_dims* dims, stow_dim dim, const int64_t* values) {
  stow_dim result = substitute(dims, dim, values);
  if (result != STOW_DIM_INVALID && !stowi_graph_dim_is_valid(dims, result)) {
    return stowi_graph_dims_fail(dims, STOW_ERR_TYPE);
  }
  return result;
}

bool stow_dim_uses(const stow_dims* dims, stow_dim dim, size_t symbol_index) {
  if (!stowi_graph_dim_is_handle(dims, dim)) {
    return false;
  }
  const stowi_graph_expr* e = stowi_graph_expr_of(dims, dim);
  if (e->kind == STOWI_GRAPH_EXPR_SYMBOL) {
    return e->symbol == symbol_index;
  }
  for (size_t i = 0; i < e->count; ++i) {
    if (stow_dim_uses(dims, stowi_graph_terms_of(dims, e)[i].dim, symbol_index)) {
      return true;
    }
  }
  return false;
}

// ---------------------------------------------------------------------------------------------
// Translation into another table

static stow_dim translate_terms(const stow_dims* from, const stowi_graph_expr* e, stow_dims* into,
                                stow_dim* memo) {
  const stowi_graph_term* terms = stowi_graph_terms_of(from, e);
  stow_dim result =
      e->kind == STOWI_GRAPH_EXPR_SUM ? stow_dim_of_int(into, e->constant) : STOW_DIM_INVALID;
  for (size_t i = 0; i < e->count; ++i) {
    stow_dim term = stowi_graph_dims_translate(from, terms[i].dim, into, memo);
    if (e->kind == STOWI_GRAPH_EXPR_SUM) {
      term = apply(into, OP_MUL, stow_dim_of_int(into, terms[i].coefficient), term);
      result = apply(into, OP_ADD, result, term);
    } else {
      result = i == 0 ? term : apply(into, operation_of(e->kind), result, term);
    }
  }
  return result;
}

stow_dim stowi_graph_dims_translate(const stow_dims* from, stow_dim dim, stow_dims* into,
                                    stow_dim* memo) {
  if (dim >= 0 || dim == STOW_DIM_INVALID) {
    return dim;
  }
  stow_dim* known = &memo[(size_t)(-1 - dim)];
  if (*known == STOW_DIM_INVALID) {
    const stowi_graph_expr* e = stowi_graph_expr_of(from, dim);
    *known = e->kind == STOWI_GRAPH_EXPR_SYMBOL
                 ? stow_dim_symbol(into, from->symbols.data[e->symbol])
                 : translate_terms(from, e, into, memo);
  }
  return *known;
}

stow_dim stowi_graph_dim_simpler(const stow_dims* dims, stow_dim a, stow_dim b) {
  uint32_t size_a = a < 0 ? stowi_graph_expr_of(dims, a)->tree_size : 0;
  uint32_t size_b = b < 0 ? stowi_graph_expr_of(dims, b)->tree_size : 0;
  if (size_a != size_b) {
    return size_a < size_b ? a : b;
  }
  return stowi_graph_dims_compare(dims, a, b) <= 0 ? a : b;
}
