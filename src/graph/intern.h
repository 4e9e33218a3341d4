// Types and attributes of a graph, each distinct one stored once and identified by a number.
#ifndef STOWAGE_SRC_GRAPH_INTERN_H_
#define STOWAGE_SRC_GRAPH_INTERN_H_

#include <stowage/op.h>
#include <stowage/type.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/pool.h"

// Zero-initialise. Entries never move.
typedef struct stowi_graph_type_table {
  STOWI_VEC(const stow_type*) list;
  stowi_index index;
} stowi_graph_type_table;

typedef struct stowi_graph_attr_table {
  STOWI_VEC(const stow_attr*) list;
  stowi_index index;
} stowi_graph_attr_table;

// The number of the entry that equals the argument, added if new. STOW_ERR_OUT_OF_MEMORY and
// STOW_ERR_LIMIT add nothing. Dims at and above a type's rank count as 0, as do attribute fields
// that the kind does not use.
stow_status stowi_graph_intern_type(stowi_graph_type_table* table, stowi_pool* pool,
                                    stow_allocator allocator, const stow_type* type,
                                    uint32_t* out_id);
stow_status stowi_graph_intern_attr(stowi_graph_attr_table* table, stowi_pool* pool,
                                    stow_allocator allocator, const stow_attr* attr,
                                    uint32_t* out_id);

void stowi_graph_type_table_free(stowi_graph_type_table* table, stow_allocator allocator);
void stowi_graph_attr_table_free(stowi_graph_attr_table* table, stow_allocator allocator);

bool stowi_graph_attr_is_list(stow_attr_kind kind);

#endif  // STOWAGE_SRC_GRAPH_INTERN_H_
