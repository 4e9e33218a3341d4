// The core's op rows.
#ifndef STOWAGE_SRC_GRAPH_OP_TABLE_H_
#define STOWAGE_SRC_GRAPH_OP_TABLE_H_

#include <stowage/op.h>

typedef struct stowi_graph_attr_spec {
  stow_attr value;  // name, kind and default
  bool required;    // no default
} stowi_graph_attr_spec;

typedef struct stowi_graph_op_row {
  stow_op_desc desc;
  const stowi_graph_attr_spec* attrs;
  size_t attr_count;
} stowi_graph_op_row;

// |op| is below STOW_OP_CORE_COUNT.
const stowi_graph_op_row* stowi_graph_core_row(stow_op op);
// STOW_OP_NONE if no core op has that name.
stow_op stowi_graph_core_find(stow_str name);

#endif  // STOWAGE_SRC_GRAPH_OP_TABLE_H_
