// An import of an ONNX model in the making: what the importer (import/api.h) has, and what only
// ONNX needs: functions, the rows of ops, and the node that is being lowered.
#ifndef STOWAGE_SRC_ONNX_IMPORT_IMPORTER_H_
#define STOWAGE_SRC_ONNX_IMPORT_IMPORTER_H_

#include "import/api.h"
#include "onnx/lower/lower.h"
#include "onnx/reader/model.h"

// Nodes that functions put in the place of their calls: functions that call functions multiply.
#define STOWI_ONNX_MAX_INLINED (1 << 20)

// The call of a function whose nodes take its place.
typedef struct stowi_onnx_inlining {
  const struct stowi_onnx_inlining* outer;  // NULL: the main graph
  const stowi_onnx_function* function;
  const stowi_onnx_node* call;
} stowi_onnx_inlining;

// Rows of lower/*.c by domain and name: lower/table.c.
typedef struct stowi_onnx_lower_entry {
  const stowi_onnx_lower_row* row;
  uint32_t next;  // another row of the same op, or STOWI_IMPORT_NONE
} stowi_onnx_lower_entry;

typedef struct stowi_onnx_lower_index {
  STOWI_VEC(stowi_onnx_lower_entry) entries;
  stowi_index by_name;
} stowi_onnx_lower_index;

// An If whose condition is not known, of which only one branch fits the shapes.
typedef struct stowi_onnx_choice {
  const stowi_onnx_node* node;
  uint64_t ordinal;  // among the nodes as they are lowered: a function's node is, once per call
  bool takes_then;
} stowi_onnx_choice;

typedef struct stowi_onnx_choices {
  STOWI_VEC(stowi_onnx_choice) list;
  bool has_next;  // |next| was found by the import that failed
  stowi_onnx_choice next;
} stowi_onnx_choices;

typedef struct stowi_onnx_importer {
  stowi_import_importer imp;
  stowi_onnx_model* model;
  stowi_onnx_lower_index rows;
  stowi_index functions;
  const stowi_onnx_inlining* inlining;
  STOWI_VEC(stow_value) stack;  // operands and results of the nodes being lowered
  uint32_t serial;
  uint32_t inlined;
  uint64_t lowered;  // nodes so far, those of functions once per call
  stowi_onnx_choices* choices;
} stowi_onnx_importer;

// ---------------------------------------------------------------------------------------------
// Constants: constants.c

// Notes initializers of the main graph, which of them are used, and results of its nodes.
stow_status stowi_onnx_note_names(stowi_import_importer* imp);
// Initializers of the main graph that are used, as params; those of a subgraph as constants.
stow_status stowi_onnx_import_initializers(stowi_onnx_importer* onnx, const stowi_onnx_graph* graph,
                                           stow_op op);
// A tensor of the file as a `param` or `constant` named |name|. STOW_ERR_UNSUPPORTED with a reason
// in the diagnostic where it holds strings.
stow_status stowi_onnx_import_tensor(stowi_onnx_importer* onnx, const stowi_onnx_tensor* tensor,
                                     stow_op op, stow_str name, stow_value* out_value);
stow_status stowi_onnx_lower_constant_node(stowi_onnx_lowering* l);

// ---------------------------------------------------------------------------------------------
// Nodes: nodes.c, order.c, functions.c, lower/control.c, lower/loop.c, lower/flex.c

// A declared type in the importer's terms.
stowi_import_info stowi_onnx_info(const stowi_onnx_value_info* info);

// An order of |count| nodes in which each comes after what it reads, the file's where that is one.
stow_status stowi_onnx_order_nodes(stowi_onnx_importer* onnx, const stowi_onnx_node* nodes,
                                   size_t count, uint32_t* out_order);
stow_status stowi_onnx_import_nodes(stowi_onnx_importer* onnx, const stowi_onnx_node* nodes,
                                    size_t count);
// Declarations and nodes of a graph.
stow_status stowi_onnx_import_graph(stowi_onnx_importer* onnx, const stowi_onnx_graph* graph);
// Initializers, declarations and nodes of a subgraph into the innermost scope; then what its
// outputs are: STOW_VALUE_NONE for those that could not be imported. One level deeper.
stow_status stowi_onnx_import_inner(stowi_onnx_importer* onnx, const stowi_onnx_graph* graph,
                                    stow_value* out_values);

stow_status stowi_onnx_index_functions(stowi_onnx_importer* onnx);
// NULL where the model has none for that node.
const stowi_onnx_function* stowi_onnx_function_of(const stowi_onnx_importer* onnx,
                                                  const stowi_onnx_node* node);
stow_status stowi_onnx_inline(stowi_onnx_lowering* l, const stowi_onnx_function* function);

// The subgraph that is attribute |name|, or NULL.
const stowi_onnx_graph* stowi_onnx_lower_subgraph(const stowi_onnx_lowering* l, const char* name);
// Whether none of the values is absent.
bool stowi_onnx_are_whole(const stow_value* values, size_t count);

stow_status stowi_onnx_lower_loop(stowi_onnx_lowering* l);
stow_status stowi_onnx_lower_scan(stowi_onnx_lowering* l);
stow_status stowi_onnx_lower_scan_batch(stowi_onnx_lowering* l);
stow_status stowi_onnx_lower_flex_attention(stowi_onnx_lowering* l);

stow_status stowi_onnx_lower_index_build(stowi_onnx_lower_index* index, stow_allocator allocator);
void stowi_onnx_lower_index_free(stowi_onnx_lower_index* index, stow_allocator allocator);
const stowi_onnx_lower_row* stowi_onnx_lower_index_find(const stowi_onnx_lower_index* index,
                                                        stow_str domain, stow_str name,
                                                        int64_t version);

// ---------------------------------------------------------------------------------------------
// The node that is being lowered: lower.c

// The node's name, or its first output's.
stow_str stowi_onnx_node_label(const stowi_onnx_node* node);
void stowi_onnx_lower_set_result(stowi_onnx_lowering* l, size_t k, stow_value value);
stow_value stowi_onnx_lower_result(const stowi_onnx_lowering* l, size_t k);
// Like finish_results where the types are declared already.
stow_status stowi_onnx_lower_finish_declared(stowi_onnx_lowering* l, stow_call* call, size_t first,
                                             size_t count);
// The dtype of result |k| where nothing infers it: the file's, else the first operand's.
stow_dtype stowi_onnx_lower_guess_dtype(const stowi_onnx_lowering* l, size_t k);
// The attribute itself, whatever its type; references are followed.
const stowi_onnx_attr* stowi_onnx_lower_any_attr(const stowi_onnx_lowering* l, stow_str name);
// As `custom`, where the types of all results are known; else STOW_ERR_UNSUPPORTED.
stow_status stowi_onnx_lower_custom(stowi_onnx_lowering* l);

// The shape that was given for result |k|, or NULL, and lending it to a body's name; see
// stowi_import_asked_shape_of and stowi_import_lend_shape.
const stowi_import_asked_shape* stowi_onnx_lower_asked_shape(const stowi_onnx_lowering* l, size_t k,
                                                             bool* out_is_soft);
stow_status stowi_onnx_lower_lend_shape(stowi_onnx_lowering* l, size_t k, stow_str name,
                                        bool softly);

#endif  // STOWAGE_SRC_ONNX_IMPORT_IMPORTER_H_
