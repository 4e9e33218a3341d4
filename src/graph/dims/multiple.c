// What an expression is always a multiple of, and divisions that this makes simpler:
//
//     floor((floor(a / b) + c) / d) = floor((a + b*c) / (b*d))
//     floor((m + r) / b) = floor((m + r - r mod g) / b)   if g divides m and b
//     b * floor(a / b) = a                                 if b divides a
//
// so that the sizes of layers that halve an image, and double it again, have one form.
#include "base/checked.h"
#include "base/diag.h"
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

// The terms may be in the pool, so one is replaced at a time.
stow_status stowi_graph_sum_undo_divisions(const stow_dims* dims, stowi_graph_sum* s) {
  for (size_t i = 0; i < s->count; ++i) {
    const stowi_graph_expr* e = stowi_graph_expr_of(dims, s->terms[i].dim);
    stow_dim divisor =
        e->kind == STOWI_GRAPH_EXPR_FLOOR_DIV ? stowi_graph_terms_of(dims, e)[1].dim : 0;
    int64_t times = divisor > 0 ? s->terms[i].coefficient / divisor : 0;
    stow_dim divided = times == 0 ? 0 : stowi_graph_terms_of(dims, e)[0].dim;
    if (times == 0 || multiple_of(dims, divided) % divisor != 0) {
      continue;
    }
    stowi_graph_sum inner;
    stowi_graph_sum gone = {.count = 1, .terms = {{1, s->terms[i].dim}}};
    stowi_graph_sum_load(dims, divided, &inner);
    STOW_TRY(stowi_graph_sum_add(dims, s, -times * divisor, &gone));
    STOW_TRY(stowi_graph_sum_add(dims, s, times, &inner));
    i = SIZE_MAX;  // from the beginning: terms have moved
  }
  return STOW_OK;
}
