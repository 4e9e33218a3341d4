// Arithmetic on dims: sums and products in normal form, opaque terms, substitution. dims.c says
// what the normal form is and why.
#include <string.h>

#include "base/checked.h"
#include "base/diag.h"
#include "graph/dims_internal.h"

#define MAX_TERMS 64
#define MAX_FACTORS 16

// A sum being worked on, on the stack.
typedef struct sum {
  int64_t constant;
  size_t count;
  stowi_term terms[MAX_TERMS];
} sum;

// ---------------------------------------------------------------------------------------------
// Order by content

static int compare_numbers(int64_t a, int64_t b) { return a < b ? -1 : a > b; }

// Total, and 0 only for equal dims. Two different interned dims differ at the first differing
// child, so this follows one path down.
static int compare_dims(const stow_dims* dims, stow_dim a, stow_dim b) {
  if (a == b) {
    return 0;
  }
  if (a >= 0 || b >= 0) {
    return a >= 0 && b >= 0 ? compare_numbers(a, b) : (a >= 0 ? 1 : -1);
  }
  const stowi_expr* x = stowi_expr_of(dims, a);
  const stowi_expr* y = stowi_expr_of(dims, b);
  if (x->kind != y->kind) {
    return compare_numbers(x->kind, y->kind);
  }
  if (x->kind == STOWI_EXPR_SYMBOL) {
    return stow_str_compare(dims->symbols.data[x->symbol], dims->symbols.data[y->symbol]);
  }
  const stowi_term* s = stowi_terms_of(dims, x);
  const stowi_term* t = stowi_terms_of(dims, y);
  for (size_t i = 0; i < x->count && i < y->count; ++i) {
    if (s[i].dim != t[i].dim) {
      return compare_dims(dims, s[i].dim, t[i].dim);
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

static void load_sum(const stow_dims* dims, stow_dim dim, sum* out) {
  out->constant = 0;
  out->count = 0;
  if (dim >= 0) {
    out->constant = dim;
    return;
  }
  const stowi_expr* e = stowi_expr_of(dims, dim);
  if (e->kind != STOWI_EXPR_SUM) {
    out->count = 1;
    out->terms[0] = (stowi_term){1, dim};
    return;
  }
  out->constant = e->constant;
  out->count = e->count;
  for (size_t i = 0; i < e->count; ++i) {
    out->terms[i] = stowi_terms_of(dims, e)[i];
  }
}

static stow_dim store_sum(stow_dims* dims, const sum* s) {
  if (s->count == 0 && s->constant >= 0) {
    return s->constant;
  }
  if (s->count == 1 && s->constant == 0 && s->terms[0].coefficient == 1) {
    return s->terms[0].dim;
  }
  return stowi_dims_intern(dims, STOWI_EXPR_SUM, s->constant, s->terms, s->count);
}

// into += factor × dim, dim being no sum. Keeps the terms sorted and without zeros.
static stow_status add_term(const stow_dims* dims, sum* into, int64_t factor, stow_dim dim) {
  size_t at = 0;
  while (at < into->count && compare_dims(dims, into->terms[at].dim, dim) < 0) {
    ++at;
  }
  if (at < into->count && into->terms[at].dim == dim) {
    if (!stowi_add_i64(into->terms[at].coefficient, factor, &into->terms[at].coefficient)) {
      return STOW_ERR_OVERFLOW;
    }
    if (into->terms[at].coefficient == 0) {
      --into->count;
      memmove(into->terms + at, into->terms + at + 1, (into->count - at) * sizeof(stowi_term));
    }
    return STOW_OK;
  }
  if (into->count == MAX_TERMS) {
    return STOW_ERR_LIMIT;
  }
  memmove(into->terms + at + 1, into->terms + at, (into->count - at) * sizeof(stowi_term));
  into->terms[at] = (stowi_term){factor, dim};
  ++into->count;
  return STOW_OK;
}

// into += factor × other
static stow_status add_scaled(const stow_dims* dims, sum* into, int64_t factor, const sum* other) {
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
static const stowi_term* factors_of(const stow_dims* dims, const stowi_term* single,
                                    size_t* out_count) {
  const stowi_expr* e = stowi_expr_of(dims, single->dim);
  if (e->kind != STOWI_EXPR_PRODUCT) {
    *out_count = 1;
    return single;
  }
  *out_count = e->count;
  return stowi_terms_of(dims, e);
}

static stow_dim multiply_products(stow_dims* dims, stow_dim a, stow_dim b) {
  stowi_term single_a = {1, a};
  stowi_term single_b = {1, b};
  size_t count_a;
  size_t count_b;
  const stowi_term* x = factors_of(dims, &single_a, &count_a);
  const stowi_term* y = factors_of(dims, &single_b, &count_b);
  if (count_a + count_b > MAX_FACTORS) {
    return stowi_dims_fail(dims, STOW_ERR_LIMIT);
  }
  stowi_term merged[MAX_FACTORS];
  size_t i = 0;
  size_t j = 0;
  while (i < count_a || j < count_b) {
    bool take_x = j == count_b || (i < count_a && compare_dims(dims, x[i].dim, y[j].dim) <= 0);
    merged[i + j] = (stowi_term){1, take_x ? x[i].dim : y[j].dim};
    *(take_x ? &i : &j) += 1;
  }
  return stowi_dims_intern(dims, STOWI_EXPR_PRODUCT, 0, merged, count_a + count_b);
}

// into += a's term × other
static stow_status add_term_times_sum(stow_dims* dims, sum* into, stowi_term a, const sum* other) {
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

static stow_status multiply_sums(stow_dims* dims, const sum* a, const sum* b, sum* out) {
  out->count = 0;
  out->constant = 0;
  STOW_TRY(add_scaled(dims, out, a->constant, b));
  for (size_t i = 0; i < a->count; ++i) {
    STOW_TRY(add_term_times_sum(dims, out, a->terms[i], b));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Opaque terms, on sums

static stow_dim opaque(stow_dims* dims, stowi_expr_kind kind, const sum* a, const sum* b) {
  stowi_term operands[2] = {{1, store_sum(dims, a)}, {1, store_sum(dims, b)}};
  if (operands[0].dim == STOW_DIM_INVALID || operands[1].dim == STOW_DIM_INVALID) {
    return STOW_DIM_INVALID;
  }
  bool commutes = kind == STOWI_EXPR_MIN || kind == STOWI_EXPR_MAX;
  if (commutes && compare_dims(dims, operands[0].dim, operands[1].dim) > 0) {
    stowi_term swap = operands[0];
    operands[0] = operands[1];
    operands[1] = swap;
  }
  return stowi_dims_intern(dims, kind, 0, operands, 2);
}

static int64_t floor_quotient(int64_t a, int64_t b) {  // b > 0
  return a / b - (a % b < 0);
}

// Splits |a| in quotient × b + rest, b > 0, the rest's coefficients in [0, b).
static void split_by(const sum* a, int64_t b, sum* quotient, sum* rest) {
  quotient->count = 0;
  rest->count = 0;
  quotient->constant = floor_quotient(a->constant, b);
  rest->constant = a->constant - quotient->constant * b;
  for (size_t i = 0; i < a->count; ++i) {
    int64_t q = floor_quotient(a->terms[i].coefficient, b);
    int64_t r = a->terms[i].coefficient - q * b;
    if (q != 0) {
      quotient->terms[quotient->count++] = (stowi_term){q, a->terms[i].dim};
    }
    if (r != 0) {
      rest->terms[rest->count++] = (stowi_term){r, a->terms[i].dim};
    }
  }
}

static stow_status divide_by_constant(stow_dims* dims, const sum* a, int64_t b, bool up, sum* out) {
  sum shifted = *a;
  if (up && !stowi_add_i64(shifted.constant, b - 1, &shifted.constant)) {
    return STOW_ERR_OVERFLOW;
  }
  sum rest;
  split_by(&shifted, b, out, &rest);
  if (rest.count == 0) {
    return STOW_OK;  // the rest's constant is below b
  }
  sum divisor = {.constant = b};
  stow_dim term_dim = opaque(dims, STOWI_EXPR_FLOOR_DIV, &rest, &divisor);
  return term_dim == STOW_DIM_INVALID ? dims->status : add_term(dims, out, 1, term_dim);
}

static stow_status divide_sums(stow_dims* dims, const sum* a, const sum* b, bool up, sum* out) {
  if (b->count == 0) {
    if (b->constant <= 0) {
      return STOW_ERR_TYPE;
    }
    return divide_by_constant(dims, a, b->constant, up, out);
  }
  out->constant = 0;
  out->count = 0;
  stow_dim term_dim = opaque(dims, up ? STOWI_EXPR_CEIL_DIV : STOWI_EXPR_FLOOR_DIV, a, b);
  return term_dim == STOW_DIM_INVALID ? dims->status : add_term(dims, out, 1, term_dim);
}

static stow_status choose_sum(stow_dims* dims, const sum* a, const sum* b, bool larger, sum* out) {
  sum difference = *a;
  STOW_TRY(add_scaled(dims, &difference, -1, b));
  if (difference.count == 0) {  // they differ by a constant
    *out = (difference.constant > 0) == larger ? *a : *b;
    return STOW_OK;
  }
  out->constant = 0;
  out->count = 0;
  stow_dim term_dim = opaque(dims, larger ? STOWI_EXPR_MAX : STOWI_EXPR_MIN, a, b);
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

static stow_status apply_to_sums(stow_dims* dims, operation op, const sum* a, const sum* b,
                                 sum* out) {
  switch (op) {
    case OP_ADD:
    case OP_SUB:
      *out = *a;
      return add_scaled(dims, out, op == OP_ADD ? 1 : -1, b);
    case OP_MUL:
      return multiply_sums(dims, a, b, out);
    case OP_FLOOR_DIV:
    case OP_CEIL_DIV:
      return divide_sums(dims, a, b, op == OP_CEIL_DIV, out);
    case OP_MIN:
    case OP_MAX:
      return choose_sum(dims, a, b, op == OP_MAX, out);
  }
  return STOW_ERR_INVALID_ARGUMENT;
}

static stow_dim apply(stow_dims* dims, operation op, stow_dim a, stow_dim b) {
  if (a == STOW_DIM_INVALID || b == STOW_DIM_INVALID) {
    return STOW_DIM_INVALID;  // the status is there already
  }
  if ((a < 0 && !stowi_dim_is_handle(dims, a)) || (b < 0 && !stowi_dim_is_handle(dims, b))) {
    return stowi_dims_fail(dims, STOW_ERR_INVALID_ARGUMENT);
  }
  sum x;
  sum y;
  sum result;
  load_sum(dims, a, &x);
  load_sum(dims, b, &y);
  stow_status status = apply_to_sums(dims, op, &x, &y, &result);
  return status == STOW_OK ? store_sum(dims, &result) : stowi_dims_fail(dims, status);
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

// ---------------------------------------------------------------------------------------------
// Substitution. Depth is at most MAX_DEPTH, so recursion is bounded. Terms are copied out of the
// pool before anything is interned, which may move it.

static stow_dim substitute(stow_dims* dims, stow_dim dim, const int64_t* values);

static stow_dim substitute_children(stow_dims* dims, stowi_expr e, operation op,
                                    const int64_t* values) {
  stow_dim result = substitute(dims, dims->pool.data[e.first].dim, values);
  for (size_t i = 1; i < e.count; ++i) {
    result = apply(dims, op, result, substitute(dims, dims->pool.data[e.first + i].dim, values));
  }
  return result;
}

static stow_dim constant_dim(stow_dims* dims, int64_t constant) {
  sum s = {.constant = constant};
  return store_sum(dims, &s);
}

static stow_dim substitute_sum(stow_dims* dims, stowi_expr e, const int64_t* values) {
  stow_dim result = constant_dim(dims, e.constant);
  for (size_t i = 0; i < e.count; ++i) {
    stowi_term t = dims->pool.data[e.first + i];
    stow_dim factor = constant_dim(dims, t.coefficient);
    stow_dim product = apply(dims, OP_MUL, factor, substitute(dims, t.dim, values));
    result = apply(dims, OP_ADD, result, product);
  }
  return result;
}

static stow_dim substitute(stow_dims* dims, stow_dim dim, const int64_t* values) {
  if (dim >= 0 || dim == STOW_DIM_INVALID) {
    return dim;
  }
  stowi_expr e = *stowi_expr_of(dims, dim);
  switch (e.kind) {
    case STOWI_EXPR_SYMBOL:
      return values[e.symbol] == STOW_DIM_INVALID ? dim : constant_dim(dims, values[e.symbol]);
    case STOWI_EXPR_PRODUCT:
      return substitute_children(dims, e, OP_MUL, values);
    case STOWI_EXPR_FLOOR_DIV:
      return substitute_children(dims, e, OP_FLOOR_DIV, values);
    case STOWI_EXPR_CEIL_DIV:
      return substitute_children(dims, e, OP_CEIL_DIV, values);
    case STOWI_EXPR_MIN:
      return substitute_children(dims, e, OP_MIN, values);
    case STOWI_EXPR_MAX:
      return substitute_children(dims, e, OP_MAX, values);
    case STOWI_EXPR_SUM:
      return substitute_sum(dims, e, values);
  }
  return STOW_DIM_INVALID;
}

stow_dim stowi_dims_substitute(stow_dims* dims, stow_dim dim, const int64_t* values) {
  stow_dim result = substitute(dims, dim, values);
  if (result != STOW_DIM_INVALID && !stowi_dim_is_valid(dims, result)) {
    return stowi_dims_fail(dims, STOW_ERR_TYPE);
  }
  return result;
}

bool stow_dim_uses(const stow_dims* dims, stow_dim dim, size_t symbol_index) {
  if (!stowi_dim_is_handle(dims, dim)) {
    return false;
  }
  const stowi_expr* e = stowi_expr_of(dims, dim);
  if (e->kind == STOWI_EXPR_SYMBOL) {
    return e->symbol == symbol_index;
  }
  for (size_t i = 0; i < e->count; ++i) {
    if (stow_dim_uses(dims, stowi_terms_of(dims, e)[i].dim, symbol_index)) {
      return true;
    }
  }
  return false;
}
