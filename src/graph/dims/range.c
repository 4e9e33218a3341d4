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

#define MAX_SYMBOLS 8

// Values of all symbols of the table, or of a few.
typedef struct point {
  const int64_t* all;  // NULL: |symbols|
  size_t count;
  uint32_t symbols[MAX_SYMBOLS];
  int64_t values[MAX_SYMBOLS];
} point;

static int64_t value_at(const point* at, uint32_t symbol) {
  if (at->all != NULL) {
    return at->all[symbol];
  }
  size_t i = 0;
  while (at->symbols[i] != symbol) {
    ++i;
  }
  return at->values[i];
}

static stow_status divide(int64_t a, int64_t b, bool up, int64_t* out) {
  if (b < 1) {
    return STOW_ERR_TYPE;
  }
  *out = a / b - (!up && a % b < 0) + (up && a % b > 0);
  return STOW_OK;
}

static stow_status evaluate(const stow_dims* dims, stow_dim dim, const point* at, int64_t* out);

static stow_status evaluate_terms(const stow_dims* dims, const stowi_graph_term* terms,
                                  size_t count, const point* at, int64_t* into) {
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

static stow_status evaluate_product(const stow_dims* dims, const stowi_graph_expr* e,
                                    const point* at, int64_t* out) {
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

static stow_status evaluate_opaque(const stow_dims* dims, const stowi_graph_expr* e,
                                   const point* at, int64_t* out) {
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

static stow_status evaluate(const stow_dims* dims, stow_dim dim, const point* at, int64_t* out) {
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
  point at = {.all = values};
  return evaluate(dims, dim, &at, out_value);
}

// ---------------------------------------------------------------------------------------------
// All points

// Adds the symbols of |dim|; false if one has no range or there are too many.
static bool add_symbols(const stow_dims* dims, stow_dim dim, point* at) {
  if (dim >= 0) {
    return true;
  }
  const stowi_graph_expr* e = stowi_graph_expr_of(dims, dim);
  if (e->kind == STOWI_GRAPH_EXPR_SYMBOL) {
    for (size_t i = 0; i < at->count; ++i) {
      if (at->symbols[i] == e->symbol) {
        return true;
      }
    }
    if (at->count == MAX_SYMBOLS || dims->ranges.data[e->symbol].step == 0) {
      return false;
    }
    at->values[at->count] = dims->ranges.data[e->symbol].max;
    at->symbols[at->count++] = e->symbol;
    return true;
  }
  bool added = true;
  for (size_t i = 0; i < e->count && added; ++i) {
    added = add_symbols(dims, stowi_graph_terms_of(dims, e)[i].dim, at);
  }
  return added;
}

static uint64_t count_points(const stow_dims* dims, const point* at) {
  uint64_t total = 1;
  for (size_t i = 0; i < at->count && total <= STOW_DIM_MAX_POINTS; ++i) {
    uint64_t count = stow_dim_range_count(&dims->ranges.data[at->symbols[i]]);
    total = count > STOW_DIM_MAX_POINTS ? count : total * count;
  }
  return total;
}

// The next point below; false after the last.
static bool step_down(const stow_dims* dims, point* at) {
  for (size_t i = 0; i < at->count; ++i) {
    const stow_dim_range* range = &dims->ranges.data[at->symbols[i]];
    if (at->values[i] != range->min) {
      at->values[i] -= range->step;
      return true;
    }
    at->values[i] = range->max;
  }
  return false;
}

bool stowi_graph_sum_visit(const stow_dims* dims, const stowi_graph_sum* sum,
                           stowi_graph_visit visit, void* user) {
  point at = {.count = 0};
  for (size_t i = 0; i < sum->count; ++i) {
    if (!add_symbols(dims, sum->terms[i].dim, &at)) {
      return false;
    }
  }
  if (count_points(dims, &at) > STOW_DIM_MAX_POINTS) {
    return false;
  }
  do {
    int64_t number = sum->constant;
    if (evaluate_terms(dims, sum->terms, sum->count, &at, &number) != STOW_OK ||
        !visit(user, number)) {
      return false;
    }
  } while (step_down(dims, &at));
  return true;
}
