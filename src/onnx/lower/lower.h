// Lowering one ONNX node to core ops. What a lowering function sees: operands as graph values,
// attributes as the file has them, the opset version. It only translates names, versions and
// defaults: shapes are inferred by the core.
#ifndef STOWAGE_SRC_ONNX_LOWER_LOWER_H_
#define STOWAGE_SRC_ONNX_LOWER_LOWER_H_

#include <stowage/graph.h>

#include "onnx/reader/proto.h"

typedef struct stowi_onnx_lower_row stowi_onnx_lower_row;

// A node being lowered (import/nodes.c).
typedef struct stowi_onnx_lowering {
  stowi_import_importer* imp;  // its graph and diagnostic
  struct stowi_onnx_importer* onnx;
  const stowi_onnx_node* node;
  const stowi_onnx_lower_row* row;  // NULL: unknown op
  int64_t version;                  // of the node's domain
  // In the importer's stack, which may move.
  size_t first_operand, operand_count;
  size_t first_result, result_count;
} stowi_onnx_lowering;

// How a node becomes core nodes. Returns STOW_OK, the failure of a core call, or that of
// stowi_onnx_lower_unsupported.
typedef stow_status (*stowi_onnx_lower)(stowi_onnx_lowering* l);

// How one ONNX attribute becomes one of the core op.
typedef struct stowi_onnx_attr_map {
  const char* onnx;
  const char* core;  // NULL: the same name
  enum {
    STOWI_ONNX_MAP_INT,
    STOWI_ONNX_MAP_BOOL,  // an int in ONNX
    STOWI_ONNX_MAP_FLOAT,
    STOWI_ONNX_MAP_STRING,  // taken as it is
    STOWI_ONNX_MAP_WORD,    // a string in lower case
    STOWI_ONNX_MAP_INTS,
    STOWI_ONNX_MAP_FLOATS,
    STOWI_ONNX_MAP_STRINGS,
    STOWI_ONNX_MAP_DTYPE,  // an int in ONNX: an element type; a string in the core: "f32"
    STOWI_ONNX_MAP_IGNORE  // known, without meaning for the core
  } kind;
} stowi_onnx_attr_map;

// One row: an op of a domain, for opset versions since |since| until the next row of the same op.
// With |lower| NULL the node becomes one core node: all operands, the mapped attributes, all
// results. An attribute that is in the file but in no map is an error of the kind "unsupported".
struct stowi_onnx_lower_row {
  const char* domain;  // "" for ai.onnx
  const char* name;
  int64_t since;
  stow_op op;
  const stowi_onnx_attr_map* attrs;
  size_t attr_count;
  stowi_onnx_lower lower;
};

// One table per file of this folder; table.c lists them.
typedef struct stowi_onnx_lower_table {
  const stowi_onnx_lower_row* rows;
  size_t count;
} stowi_onnx_lower_table;

// ---------------------------------------------------------------------------------------------
// What a lowering function can ask

// Operands. STOW_VALUE_NONE and NULL where operand |k| is absent or left off.
stow_value stowi_onnx_lower_operand(const stowi_onnx_lowering* l, size_t k);
const stow_type* stowi_onnx_lower_type(const stowi_onnx_lowering* l, size_t k);
// Results that the file names; an output with an empty name, or left off, is not wanted.
bool stowi_onnx_lower_wants(const stowi_onnx_lowering* l, size_t k);

// Attributes, those of an enclosing function put in. NULL where it is absent or of another type.
const stowi_onnx_attr* stowi_onnx_lower_attr(const stowi_onnx_lowering* l, const char* name);
int64_t stowi_onnx_lower_int(const stowi_onnx_lowering* l, const char* name, int64_t fallback);
double stowi_onnx_lower_float(const stowi_onnx_lowering* l, const char* name, double fallback);
stow_str stowi_onnx_lower_string(const stowi_onnx_lowering* l, const char* name,
                                 const char* fallback);
// NULL and 0 where it is absent.
const int64_t* stowi_onnx_lower_ints(const stowi_onnx_lowering* l, const char* name,
                                     size_t* out_count);

// ---------------------------------------------------------------------------------------------
// What it can do

// Begins a core node. Operands and attributes are added with stow_call_*.
stow_call* stowi_onnx_lower_begin(stowi_onnx_lowering* l, stow_op op);
// Adds all operands of the ONNX node, from |first| on.
void stowi_onnx_lower_add_operands(stowi_onnx_lowering* l, stow_call* call, size_t first);
// Adds the mapped attributes of |maps|.
stow_status stowi_onnx_lower_add_attrs(stowi_onnx_lowering* l, stow_call* call,
                                       const stowi_onnx_attr_map* maps, size_t count);
// Finishes a node in the middle of a lowering: its results have no ONNX name. |out_first| is the
// first result; the others follow.
stow_status stowi_onnx_lower_finish(stowi_onnx_lowering* l, stow_call* call, stow_value* out_first);
// Finishes a node whose results are the ONNX node's results |first|, |first| + 1, …, as many as
// |count|: they get their names, the shapes that the user gave, and are marked as bounded where an
// operand is. Results that the file does not name are made, too.
stow_status stowi_onnx_lower_finish_results(stowi_onnx_lowering* l, stow_call* call, size_t first,
                                            size_t count);
// Result |k| is |value| itself, without a node. Where a name must not be lost (an output of the
// graph) the importer adds a reshape.
stow_status stowi_onnx_lower_alias(stowi_onnx_lowering* l, size_t k, stow_value value);
// A small constant in the graph, for operands that older opsets have as attributes.
stow_status stowi_onnx_lower_constant(stowi_onnx_lowering* l, const stow_type* type,
                                      const void* bytes, size_t size, stow_value* out_value);
stow_status stowi_onnx_lower_constant_i64(stowi_onnx_lowering* l, const int64_t* numbers,
                                          size_t count, bool is_scalar, stow_value* out_value);
stow_status stowi_onnx_lower_constant_f32(stowi_onnx_lowering* l, const float* numbers,
                                          size_t count, bool is_scalar, stow_value* out_value);
// The plain translation of the row: what happens where a row has no function.
stow_status stowi_onnx_lower_plain(stowi_onnx_lowering* l, stow_op op,
                                   const stowi_onnx_attr_map* maps, size_t count);
// Says why the node cannot be imported; one run collects all such reasons. Returns
// STOW_ERR_UNSUPPORTED, to be passed on.
stow_status stowi_onnx_lower_unsupported(stowi_onnx_lowering* l, const char* format, ...)
    STOW_PRINTF_LIKE(2, 3);

#endif  // STOWAGE_SRC_ONNX_LOWER_LOWER_H_
