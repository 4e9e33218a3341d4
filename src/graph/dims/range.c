// Ranges of symbols, and dims at points of them.
#include <string.h>

#include "base/checked.h"
#include "base/diag.h"
#include "base/hash.h"
#include "graph/dims/internal.h"

// Multiples are counted before they are computed: a step may be as large as INT64_MAX.
bool stow_dim_range_trim(stow_dim_range* range) {
  if (range->min < 0 || range->max > STOW_DIM_RANGE_MAX || range->step < 1) {
    return false;
  }
  int64_t first = range->min / range->step + (range->min % range->step != 0);
  int64_t last = range->max < 0 ? -1 : range->max / range->step;
  if (first > last) {
    return false;
  }
  range->min = first * range->step;
  range->max = last * range->step;
  return true;
}

bool stow_dim_range_has(const stow_dim_range* range, int64_t value) {
  return value >= range->min && value <= range->max && value % range->step == 0;
}

stow_status stow_dims_set_range(stow_dims* dims, size_t symbol_index, const stow_dim_range* range) {
  if (symbol_index >= dims->ranges.count) {
    return STOW_ERR_NOT_FOUND;
  }
  stow_dim_range taken = {0, 0, 0};
  if (range != NULL) {
    taken = *range;
    if (!stow_dim_range_trim(&taken)) {
      return STOW_ERR_INVALID_ARGUMENT;
    }
  }
  dims->ranges.data[symbol_index] = taken;
  return STOW_OK;
}

bool stow_dims_range(const stow_dims* dims, size_t symbol_index, stow_dim_range* out_range) {
  if (symbol_index >= dims->ranges.count || dims->ranges.data[symbol_index].step == 0) {
    return false;
  }
  *out_range = dims->ranges.data[symbol_index];
  return true;
}

uint64_t stow_dim_range_count(const stow_dim_range* range) {
  return (uint64_t)((range->max - range->min) / range->step) + 1;
}

bool stowi_graph_dims_fixed(const stow_dims* dims, size_t symbol_index, int64_t* out_value) {
  stow_dim_range range;
  if (!stow_dims_range(dims, symbol_index, &range) || range.min != range.max) {
    return false;
  }
  *out_value = range.min;
  return true;
}

stow_status stowi_graph_dims_copy_symbols(const stow_dims* from, stow_dims* into) {
  for (size_t i = 0; i < from->symbols.count; ++i) {
    stow_dim symbol = stow_dim_symbol(into, from->symbols.data[i]);
    if (symbol == STOW_DIM_INVALID) {
      return into->status;
    }
    into->ranges.data[stowi_graph_expr_of(into, symbol)->symbol] = from->ranges.data[i];
  }
  return STOW_OK;
}

bool stowi_graph_dims_have_ranges(const stow_dims* dims, stow_dim dim) {
  stowi_graph_points points = {.dims = dims};
  if (!stowi_graph_dim_is_ours(dims, dim)) {
    return false;
  }
  stowi_graph_points_add(&points, dim);
  return !points.is_open;
}

// A sum: the order of symbols does not count.
uint64_t stowi_graph_dims_hash_ranges(const stow_dims* dims) {
  uint64_t total = 0;
  for (size_t i = 0; i < dims->ranges.count; ++i) {
    stow_dim_range range = dims->ranges.data[i];
    if (range.step != 0) {
      stow_str name = dims->symbols.data[i];
      uint64_t hash = stowi_hash_bytes(STOWI_HASH_SEED, name.data, name.size);
      hash = stowi_hash_u64(hash, (uint64_t)range.min);
      hash = stowi_hash_u64(hash, (uint64_t)range.max);
      total += stowi_hash_u64(hash, (uint64_t)range.step);
    }
  }
  return total;
}

// ---------------------------------------------------------------------------------------------
// Values at a point. Depth is limited by the table, so recursion is bounded.

// Values of all symbols of the table, or at a point.
typedef struct place {
  const int64_t* all;  // NULL: |at|
  const stowi_graph_points* at;
} place;

static int64_t value_at(place at, uint32_t symbol) {
  if (at.all != NULL) {
    return at.all[symbol];
  }
  size_t i = 0;
  while (at.at->symbols[i] != symbol) {
    ++i;
  }
  return at.at->values[i];
}

static stow_status divide(int64_t a, int64_t b, bool up, int64_t* out) {
  if (b < 1) {
    return STOW_ERR_TYPE;
  }
  *out = a / b - (!up && a % b < 0) + (up && a % b > 0);
  return STOW_OK;
}

static stow_status evaluate(const stow_dims* dims, stow_dim dim, place at, int64_t* out);

static stow_status evaluate_terms(const stow_dims* dims, const stowi_graph_term* terms,
                                  size_t count, place at, int64_t* into) {
  for (size_t i = 0; i < count; ++i) {
    int64_t number;
    STOW_TRY(evaluate(dims, terms[i].dim, at, &number));
    if (!stowi_mul_i64(number, terms[i].coefficient, &number) ||
        !stowi_add_i64(*into, number, into)) {
      return STOW_ERR_OVERFLOW;
    }
  }
  return STOW_OK;
}

static stow_status evaluate_product(const stow_dims* dims, const stowi_graph_expr* e, place at,
                                    int64_t* out) {
  int64_t product = 1;
  for (size_t i = 0; i < e->count; ++i) {
    int64_t factor;
    STOW_TRY(evaluate(dims, stowi_graph_terms_of(dims, e)[i].dim, at, &factor));
    if (!stowi_mul_i64(product, factor, &product)) {
      return STOW_ERR_OVERFLOW;
    }
  }
  *out = product;
  return STOW_OK;
}

static stow_status evaluate_opaque(const stow_dims* dims, const stowi_graph_expr* e, place at,
                                   int64_t* out) {
  int64_t a;
  int64_t b;
  STOW_TRY(evaluate(dims, stowi_graph_terms_of(dims, e)[0].dim, at, &a));
  STOW_TRY(evaluate(dims, stowi_graph_terms_of(dims, e)[1].dim, at, &b));
  switch (e->kind) {
    case STOWI_GRAPH_EXPR_MIN: *out = a < b ? a : b; return STOW_OK;
    case STOWI_GRAPH_EXPR_MAX: *out = a > b ? a : b; return STOW_OK;
    default: return divide(a, b, e->kind == STOWI_GRAPH_EXPR_CEIL_DIV, out);
  }
}

static stow_status evaluate(const stow_dims* dims, stow_dim dim, place at, int64_t* out) {
  if (dim >= 0) {
    *out = dim;
    return STOW_OK;
  }
  const stowi_graph_expr* e = stowi_graph_expr_of(dims, dim);
  switch (e->kind) {
    case STOWI_GRAPH_EXPR_SYMBOL: *out = value_at(at, e->symbol); return STOW_OK;
    case STOWI_GRAPH_EXPR_PRODUCT: return evaluate_product(dims, e, at, out);
    case STOWI_GRAPH_EXPR_SUM:
      *out = e->constant;
      return evaluate_terms(dims, stowi_graph_terms_of(dims, e), e->count, at, out);
    default: return evaluate_opaque(dims, e, at, out);
  }
}

stow_status stow_dim_evaluate(const stow_dims* dims, stow_dim dim, const int64_t* values,
                              int64_t* out_value) {
  *out_value = 0;
  if (!stowi_graph_dim_is_ours(dims, dim)) {
    return STOW_ERR_INVALID_ARGUMENT;
  }
  return evaluate(dims, dim, (place){values, NULL}, out_value);
}

// ---------------------------------------------------------------------------------------------
// All points

static void add_symbol(stowi_graph_points* points, uint32_t symbol) {
  for (size_t i = 0; i < points->count; ++i) {
    if (points->symbols[i] == symbol) {
      return;
    }
  }
  const stow_dim_range* range = &points->dims->ranges.data[symbol];
  points->is_open =
      points->is_open || points->count == STOWI_GRAPH_POINT_SYMBOLS || range->step == 0;
  if (points->is_open) {
    return;
  }
  uint64_t count = stow_dim_range_count(range);
  uint64_t most = (uint64_t)1 << 40;
  points->total = points->count == 0 ? count : points->total;
  if (points->count != 0) {
    points->total = count > most / points->total ? most : points->total * count;
  }
  points->values[points->count] = range->max;
  points->symbols[points->count++] = symbol;
}

void stowi_graph_points_add(stowi_graph_points* points, stow_dim dim) {
  points->total = points->total == 0 ? 1 : points->total;
  if (dim >= 0 || points->is_open) {
    return;
  }
  const stowi_graph_expr* e = stowi_graph_expr_of(points->dims, dim);
  if (e->kind == STOWI_GRAPH_EXPR_SYMBOL) {
    add_symbol(points, e->symbol);
  }
  for (size_t i = 0; i < e->count; ++i) {
    stowi_graph_points_add(points, stowi_graph_terms_of(points->dims, e)[i].dim);
  }
}

bool stowi_graph_points_next(stowi_graph_points* points) {
  for (size_t i = 0; i < points->count; ++i) {
    const stow_dim_range* range = &points->dims->ranges.data[points->symbols[i]];
    if (points->values[i] != range->min) {
      points->values[i] -= range->step;
      return true;
    }
    points->values[i] = range->max;
  }
  return false;
}

stow_status stowi_graph_points_sum(const stowi_graph_points* points, const stowi_graph_sum* sum,
                                   int64_t* out_value) {
  *out_value = sum->constant;
  return evaluate_terms(points->dims, sum->terms, sum->count, (place){NULL, points}, out_value);
}

// ---------------------------------------------------------------------------------------------
// Questions

#define MOST_ASKED ((uint64_t)1 << 20)

typedef struct question {
  const stow_dim* list;
  size_t count;
  stowi_graph_test test;
  const void* user;
} question;

static bool holds_at(const stowi_graph_points* points, const question* q) {
  int64_t numbers[STOWI_GRAPH_MAX_ASKED];
  bool has_values = true;
  for (size_t i = 0; i < q->count && has_values; ++i) {
    has_values = evaluate(points->dims, q->list[i], (place){NULL, points}, &numbers[i]) == STOW_OK;
  }
  return has_values && q->test(q->user, numbers);
}

// Where the answer changes along one symbol, the others at the ends given by |at_max|.
static bool find_change(stowi_graph_points* points, const question* q, bool at_max,
                        stowi_graph_split* out) {
  for (size_t i = 0; i < points->count; ++i) {
    for (size_t k = 0; k < points->count; ++k) {
      const stow_dim_range* range = &points->dims->ranges.data[points->symbols[k]];
      points->values[k] = at_max && k != i ? range->max : range->min;
    }
    const stow_dim_range* range = &points->dims->ranges.data[points->symbols[i]];
    bool first = holds_at(points, q);
    while (points->values[i] < range->max) {
      points->values[i] += range->step;
      if (holds_at(points, q) != first) {
        *out = (stowi_graph_split){true, points->symbols[i], points->values[i]};
        return true;
      }
    }
  }
  return false;
}

// The answer at |other| differs from that at the largest point: the first symbol that differs.
static void split_above(const stowi_graph_points* other, stowi_graph_split* out) {
  for (size_t i = 0; i < other->count && !out->exists; ++i) {
    const stow_dim_range* range = &other->dims->ranges.data[other->symbols[i]];
    if (other->values[i] != range->max) {
      *out = (stowi_graph_split){true, other->symbols[i], other->values[i] + range->step};
    }
  }
}

// The middle of the range with the most values.
static void split_longest(const stowi_graph_points* points, stowi_graph_split* out) {
  uint64_t most = 1;
  for (size_t i = 0; i < points->count; ++i) {
    const stow_dim_range* range = &points->dims->ranges.data[points->symbols[i]];
    uint64_t count = stow_dim_range_count(range);
    if (count > most) {
      most = count;
      *out = (stowi_graph_split){true, points->symbols[i],
                                 range->min + (int64_t)(count / 2) * range->step};
    }
  }
}

stowi_graph_answer stowi_graph_dims_ask(const stow_dims* dims, const stow_dim* list, size_t count,
                                        stowi_graph_test test, const void* user,
                                        stowi_graph_split* out_split) {
  question q = {list, count, test, user};
  stowi_graph_points points = {.dims = dims};
  *out_split = (stowi_graph_split){false, 0, 0};
  for (size_t i = 0; i < count; ++i) {
    if (!stowi_graph_dim_is_ours(dims, list[i])) {
      return STOWI_GRAPH_OPEN;
    }
    stowi_graph_points_add(&points, list[i]);
  }
  if (points.is_open) {
    return STOWI_GRAPH_OPEN;
  }
  if (points.total > MOST_ASKED) {
    split_longest(&points, out_split);
    return STOWI_GRAPH_VAST;
  }
  bool first = holds_at(&points, &q);
  while (stowi_graph_points_next(&points)) {
    if (holds_at(&points, &q) != first) {
      stowi_graph_points other = points;
      if (!find_change(&points, &q, true, out_split) &&
          !find_change(&points, &q, false, out_split)) {
        split_above(&other, out_split);
      }
      return STOWI_GRAPH_SOMETIMES;
    }
  }
  return first ? STOWI_GRAPH_ALWAYS : STOWI_GRAPH_NEVER;
}

static bool is_less(const void* user, const int64_t* numbers) {
  (void)user;
  return numbers[0] < numbers[1];
}

static bool is_equal(const void* user, const int64_t* numbers) {
  (void)user;
  return numbers[0] == numbers[1];
}

bool stow_dim_split(const stow_dims* dims, stow_dim a, stow_dim b, size_t* out_symbol,
                    int64_t* out_at) {
  stow_dim list[2] = {a, b};
  stowi_graph_split split;
  if (stowi_graph_dims_ask(dims, list, 2, is_less, NULL, &split) != STOWI_GRAPH_SOMETIMES) {
    (void)stowi_graph_dims_ask(dims, list, 2, is_equal, NULL, &split);
  }
  *out_symbol = split.symbol;
  *out_at = split.at;
  return split.exists;
}
