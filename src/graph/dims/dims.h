// The dims table of a graph: creation, substitution and hashing. The public side is in
// stowage/type.h.
#ifndef STOWAGE_SRC_GRAPH_DIMS_DIMS_H_
#define STOWAGE_SRC_GRAPH_DIMS_DIMS_H_

#include <stowage/type.h>

// NULL when out of memory.
stow_dims* stowi_dims_create(stow_allocator allocator);
void stowi_dims_destroy(stow_dims* dims);

// The index of a symbol, or SIZE_MAX.
size_t stowi_dims_find_symbol(const stow_dims* dims, stow_str name);

// Whether |dim| can stand in a type: a number, or an expression of this table that is not a
// negative number.
bool stowi_dim_is_valid(const stow_dims* dims, stow_dim dim);
// Whether |dim| is a number or an expression of this table, also one that is negative.
bool stowi_dim_is_ours(const stow_dims* dims, stow_dim dim);

// |dim| with symbol i replaced by values[i], where that is not STOW_DIM_INVALID. A result that is a
// negative number is STOW_DIM_INVALID with STOW_ERR_TYPE in stow_dims_status; overflow is
// STOW_ERR_OVERFLOW, division by zero STOW_ERR_TYPE.
stow_dim stowi_dims_substitute(stow_dims* dims, stow_dim dim, const int64_t* values);

// |dim|, of table |from|, in table |into|, which may be the same; by name for symbols. |memo| has
// one entry for each expression of |from| that there may be, STOW_DIM_INVALID where it is not known
// yet.
size_t stowi_dims_expr_count(const stow_dims* dims);
stow_dim stowi_dims_translate(const stow_dims* from, stow_dim dim, stow_dims* into, stow_dim* memo);

// The one with fewer nodes in its expression; of two equally large ones, the first by content.
stow_dim stowi_dim_simpler(const stow_dims* dims, stow_dim a, stow_dim b);

// Whether |a| is larger than |b| whatever the symbols are; false where that cannot be shown.
bool stowi_dim_is_larger(const stow_dims* dims, stow_dim a, stow_dim b);

// Symbols that stand for dims that depend on data. stowi_dim_settle says of the symbols of |dim|
// that are new whether they do, and changes nothing for others; symbols that are never settled do
// not. O(size of the expression), which is limited.
void stowi_dim_settle(stow_dims* dims, stow_dim dim, bool is_data);
bool stowi_dim_uses_data(const stow_dims* dims, stow_dim dim);

// How much the table holds, and forgetting what came after: for calls that failed. Nobody may use a
// dim made in between.
typedef struct stowi_dims_mark {
  size_t exprs, terms, symbols;
} stowi_dims_mark;
stowi_dims_mark stowi_dims_get_mark(const stow_dims* dims);
void stowi_dims_rewind(stow_dims* dims, stowi_dims_mark mark);

// A hash of the expression's content, the same whatever else is in the table.
uint64_t stowi_dim_hash(const stow_dims* dims, stow_dim dim);

#endif  // STOWAGE_SRC_GRAPH_DIMS_DIMS_H_
