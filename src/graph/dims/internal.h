// Internals of the dims table, shared by dims.c (table), arith.c and print.c.
#ifndef STOWAGE_SRC_GRAPH_DIMS_INTERNAL_H_
#define STOWAGE_SRC_GRAPH_DIMS_INTERNAL_H_

#include "base/alloc.h"
#include "base/hash.h"
#include "graph/dims/dims.h"

typedef enum stowi_graph_expr_kind {
  STOWI_GRAPH_EXPR_SYMBOL,
  STOWI_GRAPH_EXPR_PRODUCT,
  STOWI_GRAPH_EXPR_FLOOR_DIV,
  STOWI_GRAPH_EXPR_CEIL_DIV,
  STOWI_GRAPH_EXPR_MIN,
  STOWI_GRAPH_EXPR_MAX,
  STOWI_GRAPH_EXPR_SUM  // also a negative number: without terms
} stowi_graph_expr_kind;

// How a symbol first came into a value's type.
typedef enum stowi_graph_symbol_origin {
  STOWI_GRAPH_SYMBOL_NEW,    // no value has it yet
  STOWI_GRAPH_SYMBOL_GIVEN,  // the caller's type
  STOWI_GRAPH_SYMBOL_DATA    // a dim that depends on data
} stowi_graph_symbol_origin;

typedef struct stowi_graph_term {
  int64_t coefficient;  // 1 for factors of a product and operands of an opaque term
  stow_dim dim;
} stowi_graph_term;

typedef struct stowi_graph_expr {
  stowi_graph_expr_kind kind;
  uint32_t depth;
  uint32_t tree_size;
  uint32_t symbol;  // STOWI_GRAPH_EXPR_SYMBOL: its index
  stowi_graph_symbol_origin origin;
  size_t first;      // into the pool
  size_t count;      // terms, factors, or 2 operands
  int64_t constant;  // STOWI_GRAPH_EXPR_SUM
  uint64_t hash;     // of the content
} stowi_graph_expr;

struct stow_dims {
  stow_allocator allocator;
  stow_status status;
  STOWI_VEC(stowi_graph_expr) exprs;
  STOWI_VEC(stowi_graph_term) pool;
  STOWI_VEC(stow_str) symbols;       // data owned
  STOWI_VEC(stow_dim_range) ranges;  // per symbol; step 0: none
  stowi_index index;                 // hash → expr
};

static inline const stowi_graph_expr* stowi_graph_expr_of(const stow_dims* dims, stow_dim dim) {
  return &dims->exprs.data[(size_t)(-1 - dim)];
}

// Must not be read if e->count is 0: there may be no pool yet.
static inline const stowi_graph_term* stowi_graph_terms_of(const stow_dims* dims,
                                                           const stowi_graph_expr* e) {
  return e->count == 0 ? NULL : dims->pool.data + e->first;
}

#define STOWI_GRAPH_MAX_TERMS 64

// A sum under construction, on the stack.
typedef struct stowi_graph_sum {
  int64_t constant;
  size_t count;
  stowi_graph_term terms[STOWI_GRAPH_MAX_TERMS];
} stowi_graph_sum;

// Any dim as a sum.
void stowi_graph_sum_load(const stow_dims* dims, stow_dim dim, stowi_graph_sum* out);
// into += factor × other. STOW_ERR_OVERFLOW or STOW_ERR_LIMIT; nothing is interned.
stow_status stowi_graph_sum_add(const stow_dims* dims, stowi_graph_sum* into, int64_t factor,
                                const stowi_graph_sum* other);
// Whether the sum is at least |bound| at every point, where symbols without a range are at least
// |symbol_min|.
bool stowi_graph_sum_at_least(const stow_dims* dims, const stowi_graph_sum* sum, int64_t bound,
                              int64_t symbol_min);
// The points of the symbols that some expressions use, from the largest down.
#define STOWI_GRAPH_POINT_SYMBOLS 8
typedef struct stowi_graph_points {
  const stow_dims* dims;
  size_t count;    // of symbols
  bool is_open;    // one of them has no range, or there are too many
  uint64_t total;  // of points; more than 2^40 count as that
  uint32_t symbols[STOWI_GRAPH_POINT_SYMBOLS];
  int64_t values[STOWI_GRAPH_POINT_SYMBOLS];  // at the current point
} stowi_graph_points;
// Adds the symbols of |dim|; begin with a struct that has |dims| only.
void stowi_graph_points_add(stowi_graph_points* points, stow_dim dim);
// Moves to the next point; false after the last one, and then the first is current again.
bool stowi_graph_points_next(stowi_graph_points* points);
// A sum at the current point, as stow_dim_evaluate.
stow_status stowi_graph_points_sum(const stowi_graph_points* points, const stowi_graph_sum* sum,
                                   int64_t* out_value);

// Makes ⌊a / b⌋, b positive, simpler without changing it: multiple.c.
void stowi_graph_sum_shrink(const stow_dims* dims, stowi_graph_sum* a, int64_t* b);
// Reduces c × ⌊a / b⌋ to lowest terms where b always divides a. Errors as for stowi_graph_sum_add,
// and STOW_ERR_OUT_OF_MEMORY.
stow_status stowi_graph_sum_undo_divisions(stow_dims* dims, stowi_graph_sum* s);

// By content: total, and 0 only for equal dims.
int stowi_graph_dims_compare(const stow_dims* dims, stow_dim a, stow_dim b);

// Whether |dim| is an expression of this table.
bool stowi_graph_dim_is_handle(const stow_dims* dims, stow_dim dim);

// Keeps the first failure; returns STOW_DIM_INVALID.
stow_dim stowi_graph_dims_fail(stow_dims* dims, stow_status status);

// Finds or adds an expression of any kind but a symbol. |terms| must not be in the pool.
stow_dim stowi_graph_dims_intern(stow_dims* dims, stowi_graph_expr_kind kind, int64_t constant,
                                 const stowi_graph_term* terms, size_t count);

#endif  // STOWAGE_SRC_GRAPH_DIMS_INTERNAL_H_
