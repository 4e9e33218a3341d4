// Bounds on a dim for all values of its symbols: by interval arithmetic over the expression,
// including infinities, and by trying all points where these are few.
//
// Intervals alone ignore that the same symbol may occur twice; the normal form of sums has already
// cancelled it wherever it occurs outside min and max. A min or max may be replaced by one of its
// operands if that can only make the sum smaller: -min(a, b) is at least -a, and max(a, b) at least
// a. So seq - min(seq, n) is found to be at least 0. At most MAX_TRIES such steps are made,
// MAX_NESTED of them nested: the cost is a small multiple of the tree's size.
#include "base/checked.h"
#include "graph/api.h"
#include "graph/dims/internal.h"

#define MAX_NESTED 3
#define MAX_TRIES 32
#define LOWEST INT64_MIN   // no lower bound
#define HIGHEST INT64_MAX  // no upper bound

typedef struct interval {
  int64_t low;
  int64_t high;
} interval;

static bool is_infinite(int64_t number) { return number == LOWEST || number == HIGHEST; }

// a × b; 0 × infinity is 0.
static int64_t multiply_ends(int64_t a, int64_t b) {
  int64_t product;
  if (a == 0 || b == 0) {
    return 0;
  }
  bool is_finite = !is_infinite(a) && !is_infinite(b) && stowi_mul_i64(a, b, &product);
  return is_finite ? product : ((a < 0) != (b < 0) ? LOWEST : HIGHEST);
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static interval multiply(interval a, interval b) {
  int64_t p = multiply_ends(a.low, b.low);
  int64_t q = multiply_ends(a.low, b.high);
  int64_t r = multiply_ends(a.high, b.low);
  int64_t s = multiply_ends(a.high, b.high);
  return (interval){smaller(smaller(p, q), smaller(r, s)), larger(larger(p, q), larger(r, s))};
}

// a + b, where an end that is |infinite| or overflows has no bound.
static int64_t add_ends(int64_t a, int64_t b, int64_t infinite) {
  int64_t total;
  return a != infinite && b != infinite && stowi_add_i64(a, b, &total) ? total : infinite;
}

// ⌊a / b⌋ or ⌈a / b⌉, b at least 1, where an end that is |infinite| stays so.
static int64_t divide_end(int64_t a, int64_t b, bool up, int64_t infinite) {
  if (a == infinite) {
    return a;
  }
  if (b == HIGHEST) {
    return up ? a > 0 : -(a < 0);
  }
  return a / b - (!up && a % b < 0) + (up && a % b > 0);
}

// A divisor below 1 is an error wherever it is computed, so the divisor counts as at least 1.
static interval divide(interval a, interval b, bool up) {
  int64_t least = larger(b.low, 1);
  int64_t most = larger(b.high, 1);
  return (interval){divide_end(a.low, a.low < 0 ? least : most, up, LOWEST),
                    divide_end(a.high, a.high < 0 ? most : least, up, HIGHEST)};
}

static interval interval_of(const stow_dims* dims, stow_dim dim, int64_t symbol_min);

static interval interval_of_sum(const stow_dims* dims, int64_t constant,
                                const stowi_graph_term* terms, size_t count, int64_t symbol_min) {
  interval total = {constant, constant};
  for (size_t i = 0; i < count; ++i) {
    interval factor = {terms[i].coefficient, terms[i].coefficient};
    interval term = multiply(factor, interval_of(dims, terms[i].dim, symbol_min));
    total.low = add_ends(total.low, term.low, LOWEST);
    total.high = add_ends(total.high, term.high, HIGHEST);
  }
  return total;
}

static interval interval_of_product(const stow_dims* dims, const stowi_graph_expr* e,
                                    int64_t symbol_min) {
  interval product = {1, 1};
  for (size_t i = 0; i < e->count; ++i) {
    product =
        multiply(product, interval_of(dims, stowi_graph_terms_of(dims, e)[i].dim, symbol_min));
  }
  return product;
}

static interval interval_of_opaque(const stow_dims* dims, const stowi_graph_expr* e,
                                   int64_t symbol_min) {
  interval a = interval_of(dims, stowi_graph_terms_of(dims, e)[0].dim, symbol_min);
  interval b = interval_of(dims, stowi_graph_terms_of(dims, e)[1].dim, symbol_min);
  switch (e->kind) {
    case STOWI_GRAPH_EXPR_MIN: return (interval){smaller(a.low, b.low), smaller(a.high, b.high)};
    case STOWI_GRAPH_EXPR_MAX: return (interval){larger(a.low, b.low), larger(a.high, b.high)};
    default: return divide(a, b, e->kind == STOWI_GRAPH_EXPR_CEIL_DIV);
  }
}

static interval interval_of(const stow_dims* dims, stow_dim dim, int64_t symbol_min) {
  if (dim >= 0) {
    return (interval){dim, dim};
  }
  const stowi_graph_expr* e = stowi_graph_expr_of(dims, dim);
  switch (e->kind) {
    case STOWI_GRAPH_EXPR_SYMBOL: {
      const stow_dim_range* range = &dims->ranges.data[e->symbol];
      return range->step == 0 ? (interval){symbol_min, HIGHEST}
                              : (interval){range->min, range->max};
    }
    case STOWI_GRAPH_EXPR_PRODUCT: return interval_of_product(dims, e, symbol_min);
    case STOWI_GRAPH_EXPR_SUM:
      return interval_of_sum(dims, e->constant, stowi_graph_terms_of(dims, e), e->count,
                             symbol_min);
    default: return interval_of_opaque(dims, e, symbol_min);
  }
}

// A query, and how many replacements it may still make.
typedef struct query {
  const stow_dims* dims;
  int64_t bound;
  int64_t symbol_min;
  int tries;
} query;

static bool is_at_least(query* q, const stowi_graph_sum* sum, int nested);

// Whether the sum is at least the bound with operand |which| in place of term |index|.
static bool holds_with(query* q, const stowi_graph_sum* sum, size_t index, size_t which,
                       int nested) {
  stowi_graph_sum term = {.count = 1, .terms = {sum->terms[index]}};
  stowi_graph_sum other = *sum;
  stowi_graph_sum operand;
  const stowi_graph_expr* choice = stowi_graph_expr_of(q->dims, term.terms[0].dim);
  stowi_graph_sum_load(q->dims, stowi_graph_terms_of(q->dims, choice)[which].dim, &operand);
  --q->tries;
  return stowi_graph_sum_add(q->dims, &other, -1, &term) == STOW_OK &&
         stowi_graph_sum_add(q->dims, &other, term.terms[0].coefficient, &operand) == STOW_OK &&
         is_at_least(q, &other, nested);
}

static bool is_at_least(query* q, const stowi_graph_sum* sum, int nested) {
  interval range = interval_of_sum(q->dims, sum->constant, sum->terms, sum->count, q->symbol_min);
  if (range.low >= q->bound && range.low != LOWEST) {
    return true;
  }
  for (size_t i = 0; i < sum->count && nested < MAX_NESTED; ++i) {
    stowi_graph_expr_kind kind = stowi_graph_expr_of(q->dims, sum->terms[i].dim)->kind;
    bool can_replace =
        kind == (sum->terms[i].coefficient < 0 ? STOWI_GRAPH_EXPR_MIN : STOWI_GRAPH_EXPR_MAX);
    for (size_t which = 0; which < 2 && can_replace && q->tries > 0; ++which) {
      if (holds_with(q, sum, i, which, nested + 1)) {
        return true;
      }
    }
  }
  return false;
}

// ---------------------------------------------------------------------------------------------
// All points

// The least and largest number at any point; false if there are too many, or no number at one.
static bool try_points(const stow_dims* dims, const stowi_graph_sum* sum, int64_t stop_below,
                       interval* out) {
  stowi_graph_points points = {.dims = dims};
  for (size_t i = 0; i < sum->count; ++i) {
    stowi_graph_points_add(&points, sum->terms[i].dim);
  }
  if (points.is_open || points.total > STOW_DIM_MAX_POINTS) {
    return false;
  }
  *out = (interval){HIGHEST, LOWEST};
  do {
    int64_t number;
    if (stowi_graph_points_sum(&points, sum, &number) != STOW_OK || number < stop_below) {
      return false;
    }
    out->low = smaller(out->low, number);
    out->high = larger(out->high, number);
  } while (stowi_graph_points_next(&points));
  return true;
}

bool stowi_graph_sum_at_least(const stow_dims* dims, const stowi_graph_sum* sum, int64_t bound,
                              int64_t symbol_min) {
  query q = {dims, bound, symbol_min, MAX_TRIES};
  interval seen;
  return is_at_least(&q, sum, 0) || try_points(dims, sum, bound, &seen);
}

bool stow_dim_at_least(const stow_dims* dims, stow_dim dim, int64_t bound, int64_t symbol_min) {
  if (dim >= 0) {
    return dim >= bound;
  }
  if (!stowi_graph_dim_is_handle(dims, dim)) {
    return false;
  }
  stowi_graph_sum sum;
  stowi_graph_sum_load(dims, dim, &sum);
  return stowi_graph_sum_at_least(dims, &sum, bound, symbol_min < 0 ? 0 : symbol_min);
}

// Whether a - b is at least |bound| at every point.
static bool exceeds(const stow_dims* dims, stow_dim a, stow_dim b, int64_t bound) {
  if (!stowi_graph_dim_is_ours(dims, a) || !stowi_graph_dim_is_ours(dims, b)) {
    return false;
  }
  stowi_graph_sum difference;
  stowi_graph_sum subtrahend;
  stowi_graph_sum_load(dims, a, &difference);
  stowi_graph_sum_load(dims, b, &subtrahend);
  return stowi_graph_sum_add(dims, &difference, -1, &subtrahend) == STOW_OK &&
         stowi_graph_sum_at_least(dims, &difference, bound, 0);
}

bool stow_dim_at_most(const stow_dims* dims, stow_dim dim, int64_t bound) {
  if (bound >= 0) {
    return exceeds(dims, bound, dim, 0);
  }
  // 0 - dim is at least -bound, unless that does not exist
  return bound != INT64_MIN && exceeds(dims, 0, dim, -bound);
}

bool stow_dim_not_less(const stow_dims* dims, stow_dim a, stow_dim b) {
  return exceeds(dims, a, b, 0);
}

bool stow_dim_same(const stow_dims* dims, stow_dim a, stow_dim b) {
  return a == b ? stowi_graph_dim_is_ours(dims, a)
                : exceeds(dims, a, b, 0) && exceeds(dims, b, a, 0);
}

bool stow_dim_bounds(const stow_dims* dims, stow_dim dim, int64_t* out_least, int64_t* out_most) {
  if (!stowi_graph_dim_is_ours(dims, dim)) {
    return false;
  }
  stowi_graph_sum sum;
  interval found;
  stowi_graph_sum_load(dims, dim, &sum);
  if (!try_points(dims, &sum, INT64_MIN, &found)) {
    found = interval_of(dims, dim, 0);
    if (is_infinite(found.low) || is_infinite(found.high)) {
      return false;
    }
  }
  *out_least = found.low;
  *out_most = found.high;
  return true;
}

void stowi_graph_dim_interval(const stow_dims* dims, stow_dim dim, int64_t* out_least,
                              int64_t* out_most) {
  interval found = interval_of(dims, dim, 0);
  *out_least = found.low;
  *out_most = found.high;
}

// Most dims have other numbers at the largest and the smallest point, so that nothing else is
// tried.
stow_dim stowi_graph_dim_reduce(const stow_dims* dims, stow_dim dim) {
  stowi_graph_points points = {.dims = dims};
  stowi_graph_sum sum;
  int64_t first;
  int64_t last;
  if (dim >= 0 || !stowi_graph_dim_is_handle(dims, dim)) {
    return dim;
  }
  stowi_graph_points_add(&points, dim);
  stowi_graph_sum_load(dims, dim, &sum);
  if (points.is_open || stowi_graph_points_sum(&points, &sum, &first) != STOW_OK || first < 0) {
    return dim;
  }
  for (size_t i = 0; i < points.count; ++i) {
    points.values[i] = dims->ranges.data[points.symbols[i]].min;
  }
  bool is_number = stowi_graph_points_sum(&points, &sum, &last) == STOW_OK && first == last &&
                   stow_dim_same(dims, dim, first);
  return is_number ? first : dim;
}

bool stowi_graph_dim_is_larger(const stow_dims* dims, stow_dim a, stow_dim b) {
  return exceeds(dims, a, b, 1);
}
