// The core's rows. ops.def is expanded into an array whose entry for NAME is ROW_NAME, so an op
// without a row, or a row with mismatched parts, fails the build. Names are written only in
// ops.def.
//
// Finding an op by name compares sizes first: a few hundred integer comparisons, without a table
// built at run time (there is no mutable global state) or a list kept sorted by hand.
#include "graph/op_table.h"

#include <string.h>

#include "graph/rows/attention.h"
#include "graph/rows/core.h"
#include "graph/rows/math.h"
#include "graph/rows/ml.h"
#include "graph/rows/nn.h"
#include "graph/rows/shape.h"
#include "graph/rows/signal.h"

// ---------------------------------------------------------------------------------------------

static const stowi_graph_op_row rows[] = {
#define STOW_OP(op, number, text) \
  [STOW_OP_##op] = {.desc.struct_size = sizeof(stow_op_desc), .desc.name = (text), ROW_##op},
#include <stowage/ops.def>
#undef STOW_OP
};

_Static_assert(sizeof rows / sizeof rows[0] == STOW_OP_CORE_COUNT, "one above the largest number");

static const size_t name_sizes[] = {
#define STOW_OP(op, number, text) [STOW_OP_##op] = sizeof(text) - 1,
#include <stowage/ops.def>
#undef STOW_OP
};

const stowi_graph_op_row* stowi_graph_core_row(stow_op op) { return &rows[op]; }

stow_op stowi_graph_core_find(stow_str name) {
  for (stow_op op = 0; op < STOW_OP_CORE_COUNT; ++op) {
    if (name_sizes[op] == name.size && memcmp(rows[op].desc.name, name.data, name.size) == 0) {
      return op;
    }
  }
  return STOW_OP_NONE;
}
