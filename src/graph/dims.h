// The dims table of a graph: creation, substitution and hashing. The public side is in
// stowage/type.h.
#ifndef STOWAGE_SRC_GRAPH_DIMS_H_
#define STOWAGE_SRC_GRAPH_DIMS_H_

#include <stowage/type.h>

// NULL when out of memory.
stow_dims* stowi_dims_create(stow_allocator allocator);
void stowi_dims_destroy(stow_dims* dims);

// The index of a symbol, or SIZE_MAX.
size_t stowi_dims_find_symbol(const stow_dims* dims, stow_str name);

// Whether |dim| can stand in a type: a number, or an expression of this table that is not a
// negative number.
bool stowi_dim_is_valid(const stow_dims* dims, stow_dim dim);

// |dim| with symbol i replaced by values[i], where that is not STOW_DIM_INVALID. A result that is a
// negative number is STOW_DIM_INVALID with STOW_ERR_TYPE in stow_dims_status; overflow is
// STOW_ERR_OVERFLOW, division by zero STOW_ERR_TYPE.
stow_dim stowi_dims_substitute(stow_dims* dims, stow_dim dim, const int64_t* values);

// A hash of the expression's content, the same whatever else is in the table.
uint64_t stowi_dim_hash(const stow_dims* dims, stow_dim dim);

#endif  // STOWAGE_SRC_GRAPH_DIMS_H_
