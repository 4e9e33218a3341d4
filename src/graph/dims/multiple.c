// What an expression is always a multiple of, and divisions that this makes simpler:
//
//     floor((floor(a / b) + c) / d) = floor((a + b*c) / (b*d))
//     floor((m + r) / b) = floor((m + r - r mod g) / b)   if g divides m and b
//     c * floor(a / b) = c/g * floor(a / (b/g))            if b divides a, and g both b and c
//
// so that the sizes of layers that halve an image, and double it again, have one form.
#include "base/checked.h"
#include "base/diag.h"
#include "graph/api.h"
#include "graph/dims/internal.h"

static int64_t gcd(int64_t a, int64_t b) {
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// Of |number|; 0 is a multiple of everything. INT64_MIN counts as odd.
static int64_t magnitude(int64_t number) {
  return number == INT64_MIN ? 1 : number < 0 ? -number : number;
}

static int64_t multiple_of(const stow_dims* dims, stow_dim dim);

static int64_t multiple_of_terms(const stow_dims* dims, int64_t first,
                                 const stowi_graph_term* terms, size_t count) {
  int64_t common = magnitude(first);
  for (size_t i = 0; i < count && common != 1; ++i) {
    int64_t factor = magnitude(terms[i].coefficient);
    int64_t term;
    common =
        gcd(common, stowi_mul_i64(factor, multiple_of(dims, terms[i].dim), &term) ? term : factor);
  }
  return common;
}

static int64_t multiple_of_product(const stow_dims* dims, const stowi_graph_expr* e) {
  int64_t product = 1;
  for (size_t i = 0; i < e->count; ++i) {
    int64_t next;
    if (stowi_mul_i64(product, multiple_of(dims, stowi_graph_terms_of(dims, e)[i].dim), &next)) {
      product = next;
    }
  }
  return product;
}

static int64_t multiple_of_opaque(const stow_dims* dims, const stowi_graph_expr* e) {
  stow_dim second = stowi_graph_terms_of(dims, e)[1].dim;
  int64_t a = multiple_of(dims, stowi_graph_terms_of(dims, e)[0].dim);
  if (e->kind == STOWI_GRAPH_EXPR_MIN || e->kind == STOWI_GRAPH_EXPR_MAX) {
    return gcd(a, multiple_of(dims, second));
  }
  return second > 0 && a % second == 0 && a != 0 ? a / second : 1;
}

// A positive number, or 0 for the number 0.
static int64_t multiple_of(const stow_dims* dims, stow_dim dim) {
  if (dim >= 0) {
    return dim;
  }
  const stowi_graph_expr* e = stowi_graph_expr_of(dims, dim);
  switch (e->kind) {
    case STOWI_GRAPH_EXPR_SYMBOL: {
      int64_t step = dims->ranges.data[e->symbol].step;
      return step == 0 ? 1 : step;
    }
    case STOWI_GRAPH_EXPR_PRODUCT: return multiple_of_product(dims, e);
    case STOWI_GRAPH_EXPR_SUM:
      return multiple_of_terms(dims, e->constant, stowi_graph_terms_of(dims, e), e->count);
    default: return multiple_of_opaque(dims, e);
  }
}

int64_t stowi_graph_dim_multiple(const stow_dims* dims, stow_dim dim) {
  return multiple_of(dims, dim);
}

// |a| is one division by a number, and perhaps another number: replaces it by what is divided.
static bool open_division(const stow_dims* dims, stowi_graph_sum* a, int64_t* b) {
  if (a->count != 1 || a->terms[0].coefficient != 1) {
    return false;
  }
  const stowi_graph_expr* e = stowi_graph_expr_of(dims, a->terms[0].dim);
  stow_dim divisor =
      e->kind == STOWI_GRAPH_EXPR_FLOOR_DIV ? stowi_graph_terms_of(dims, e)[1].dim : 0;
  stowi_graph_sum inner;
  int64_t moved;
  int64_t product;
  if (divisor <= 0 || !stowi_mul_i64(a->constant, divisor, &moved) ||
      !stowi_mul_i64(*b, divisor, &product)) {
    return false;
  }
  stowi_graph_sum_load(dims, stowi_graph_terms_of(dims, e)[0].dim, &inner);
  if (!stowi_add_i64(inner.constant, moved, &inner.constant)) {
    return false;
  }
  *a = inner;
  *b = product;
  return true;
}

void stowi_graph_sum_shrink(const stow_dims* dims, stowi_graph_sum* a, int64_t* b) {
  while (open_division(dims, a, b)) {
  }
  int64_t step = multiple_of_terms(dims, *b, a->terms, a->count);
  int64_t rest = a->constant % step;
  a->constant -= rest < 0 ? rest + step : rest;  // a->constant is far from INT64_MIN, or step is 1
  int64_t common = gcd(*b, magnitude(a->constant));
  for (size_t i = 0; i < a->count; ++i) {
    common = gcd(common, magnitude(a->terms[i].coefficient));
  }
  for (size_t i = 0; i < a->count; ++i) {
    a->terms[i].coefficient /= common;
  }
  a->constant /= common;
  *b /= common;
}

// The divisor of term |i| if it is a division by a number that leaves no rest, and shares a factor
// with the coefficient, which is |*out_common|; 0 otherwise.
static int64_t exact_divisor(const stow_dims* dims, stowi_graph_term term, int64_t* out_common) {
  const stowi_graph_expr* e = stowi_graph_expr_of(dims, term.dim);
  stow_dim divisor =
      e->kind == STOWI_GRAPH_EXPR_FLOOR_DIV ? stowi_graph_terms_of(dims, e)[1].dim : 0;
  *out_common = divisor > 0 ? gcd(divisor, magnitude(term.coefficient)) : 1;
  bool is_exact =
      *out_common > 1 && multiple_of(dims, stowi_graph_terms_of(dims, e)[0].dim) % divisor == 0;
  return is_exact ? divisor : 0;
}

stow_status stowi_graph_sum_undo_divisions(stow_dims* dims, stowi_graph_sum* s) {
  for (size_t i = 0; i < s->count; ++i) {
    stowi_graph_term term = s->terms[i];
    int64_t common;
    int64_t divisor = exact_divisor(dims, term, &common);
    if (divisor == 0) {
      continue;
    }
    stow_dim divided = stowi_graph_terms_of(dims, stowi_graph_expr_of(dims, term.dim))[0].dim;
    stow_dim quotient = stow_dim_floor_div(dims, divided, divisor / common);
    if (quotient == STOW_DIM_INVALID) {
      return dims->status;
    }
    stowi_graph_sum inner;
    stowi_graph_sum gone = {.count = 1, .terms = {{1, term.dim}}};
    stowi_graph_sum_load(dims, quotient, &inner);
    STOW_TRY(stowi_graph_sum_add(dims, s, -term.coefficient, &gone));
    STOW_TRY(stowi_graph_sum_add(dims, s, term.coefficient / common, &inner));
    i = SIZE_MAX;  // from the beginning: terms have moved
  }
  return STOW_OK;
}
