// An import in the making: what the files of the importer share. Names of tensors, scopes, symbols,
// issues, and the node that is being lowered.
#ifndef STOWAGE_SRC_ONNX_IMPORT_IMPORTER_H_
#define STOWAGE_SRC_ONNX_IMPORT_IMPORTER_H_

#include "base/alloc.h"
#include "base/diag.h"
#include "base/hash.h"
#include "onnx/lower/lower.h"

#define STOWI_NONE UINT32_MAX
// Graphs in nodes in graphs, calls of functions in functions: all count.
#define STOWI_MAX_DEPTH 48
// Nodes that functions put in the place of their calls: functions that call functions multiply.
#define STOWI_MAX_INLINED (1 << 20)

// ---------------------------------------------------------------------------------------------
// Requests: request.c

typedef struct stowi_asked_bind {
  stow_str symbol;
  int64_t value;
} stowi_asked_bind;

typedef struct stowi_asked_shape {
  stow_str tensor;
  size_t rank;
  int64_t dims[STOW_MAX_RANK];
} stowi_asked_shape;

typedef struct stowi_asked_value {
  stow_str input;
  enum { STOWI_VALUE_NUMBERS, STOWI_VALUE_TENSOR, STOWI_VALUE_BYTES } kind;
  stow_type type;  // of BYTES
  void* data;      // numbers, or bytes
  size_t count;
  size_t element_size;
} stowi_asked_value;

struct stow_onnx_request {
  stow_allocator allocator;
  STOWI_VEC(stowi_asked_bind) binds;
  STOWI_VEC(stowi_asked_shape) shapes;
  STOWI_VEC(stowi_asked_value) values;
  bool has_rest;
  int64_t rest;
  bool keep_all;
};

// ---------------------------------------------------------------------------------------------
// What was asked for and what there is: asked.c

typedef struct stowi_importer stowi_importer;

// Notes names with what was asked for them.
stow_status stowi_note_asked(stowi_importer* imp);
// Fails where a value is given for what is no input, and no initializer.
stow_status stowi_check_asked_values(stowi_importer* imp);
// Fails where a shape is given for what is no tensor; when all are made.
stow_status stowi_check_asked_shapes(stowi_importer* imp);
// Fails because no dim is named |text|.
stow_status stowi_fail_symbol(stowi_importer* imp, stow_str text);
// Fails because nothing makes the output |text|.
stow_status stowi_fail_output(stowi_importer* imp, stow_str text);

// The shape that was given for result |k|, or NULL. |*out_is_soft| (may be NULL): for a result of
// the node around this one, which need not be that of this.
const stowi_asked_shape* stowi_lower_asked_shape(const stowi_lowering* l, size_t k,
                                                 bool* out_is_soft);
// Lends the shape that was given for result |k| to |name|, by which the node's body knows it. With
// |softly| it only counts where the body's dims are open.
stow_status stowi_lend_shape(stowi_lowering* l, size_t k, stow_str name, bool softly);
void stowi_return_shape(stowi_lowering* l, stow_str name);
// Fails where a shape was given for |text| and |value| has another one.
stow_status stowi_compare_asked(stowi_importer* imp, stow_str text, stow_value value);

// ---------------------------------------------------------------------------------------------
// What an import is

typedef struct stowi_block {
  void* bytes;
  size_t size;
} stowi_block;

struct stow_onnx_import {
  stow_allocator allocator;
  stow_graph* full;             // as imported
  stow_graph* simple;           // without what nobody needs; NULL: not asked for
  bool is_whole;                // all outputs could be imported
  STOWI_VEC(stow_str) symbols;  // of inputs, without a value
  STOWI_VEC(stow_onnx_issue) issues;
  STOWI_VEC(stowi_block) blocks;  // bytes that the graph borrows, and the issues' texts
};

// ---------------------------------------------------------------------------------------------
// Names and scopes: scope.c

typedef struct stowi_name {
  stow_str text;
  uint32_t binding;   // the newest, or STOWI_NONE
  uint32_t declared;  // the newest declaration, or STOWI_NONE
  uint32_t suffix;    // the last one tried
  uint32_t serial;    // of the list of nodes in which |producer| counts
  uint32_t producer;
  bool is_initializer;  // of the main graph
  bool is_used;         // an initializer, somewhere in the graph or a subgraph
  bool is_output;       // of the main graph
  bool was_made;
  const stowi_asked_shape* shape;
  const stowi_asked_value* value;
  // The shape of a result of the node around, whose body gives it under this name |lent_depth|
  // deep.
  const stowi_asked_shape* lent;
  uint32_t lent_depth;
  bool is_lent_softly;
  bool is_asked_outside;  // |shape| is that of a tensor of the main graph
} stowi_name;

typedef enum stowi_bound {
  STOWI_BOUND_VALUE,
  STOWI_BOUND_ABSENT,  // an input of a function that the call leaves off
  STOWI_BOUND_POISON   // could not be imported
} stowi_bound;

typedef struct stowi_binding {
  uint32_t name;
  uint32_t previous;
  stow_value value;
  stowi_bound bound;
} stowi_binding;

typedef struct stowi_declaration {
  uint32_t name;
  uint32_t previous;
  const stowi_onnx_value_info* info;
} stowi_declaration;

// A dim that has a name.
typedef struct stowi_symbol {
  stow_str text;
  int64_t value;  // negative: not bound
  bool is_met;    // in an input's type
} stowi_symbol;

// The call of a function whose nodes take its place.
typedef struct stowi_inlining {
  const struct stowi_inlining* outer;  // NULL: the main graph
  const stowi_onnx_function* function;
  const stowi_onnx_node* call;
} stowi_inlining;

// Rows of lower/*.c by domain and name: lower/table.c.
typedef struct stowi_lower_entry {
  const stowi_lower_row* row;
  uint32_t next;  // another row of the same op, or STOWI_NONE
} stowi_lower_entry;

typedef struct stowi_lower_index {
  STOWI_VEC(stowi_lower_entry) entries;
  stowi_index by_name;
} stowi_lower_index;

// An If whose condition is not known, of which only one branch fits the shapes.
typedef struct stowi_choice {
  const stowi_onnx_node* node;
  uint64_t ordinal;  // among the nodes as they are lowered: a function's node is, once per call
  bool takes_then;
} stowi_choice;

typedef struct stowi_choices {
  STOWI_VEC(stowi_choice) list;
  bool has_next;  // |next| was found by the import that failed
  stowi_choice next;
} stowi_choices;

struct stowi_importer {
  stow_onnx_import* import;
  stow_onnx_model* model;
  const stowi_onnx_proto* proto;
  const stow_onnx_request* request;
  stow_allocator allocator;
  stow_diag* diag;  // never NULL
  stow_graph* graph;
  STOWI_VEC(stowi_name) names;
  stowi_index by_name;
  STOWI_VEC(stowi_binding) bindings;
  STOWI_VEC(stowi_declaration) declarations;
  size_t scope_start;  // bindings of the innermost scope begin here
  size_t floor;        // bindings below are invisible: a function does not see its caller's
  size_t declared_floor;
  STOWI_VEC(stowi_symbol) symbols;
  stowi_index by_symbol;
  // Per value the node that it comes from; NULL: none.
  STOWI_VEC(const stowi_onnx_node*) origins;
  stowi_lower_index rows;
  stowi_index functions;
  const stowi_inlining* inlining;
  STOWI_VEC(stow_value) stack;  // operands and results of the nodes being lowered
  stow_string text;             // a name or reason being put together
  uint32_t depth;
  uint32_t serial;
  uint32_t inlined;
  uint64_t lowered;  // nodes so far, those of functions once per call
  size_t declared_issues;
  stow_str missing;  // the file of external data that was told last to be missing
  stowi_choices* choices;
};

// Number of the entry for |text|, made where there is none.
stow_status stowi_name_of(stowi_importer* imp, stow_str text, uint32_t* out_name);
// STOWI_NONE where there is none.
uint32_t stowi_name_find(const stowi_importer* imp, stow_str text);

// Makes |text| stand for |value| in the innermost scope. STOW_ERR_DUPLICATE where it stands for
// something there.
stow_status stowi_bind(stowi_importer* imp, stow_str text, stow_value value, stowi_bound bound);
// The binding that is visible; NULL where there is none.
const stowi_binding* stowi_resolve(const stowi_importer* imp, stow_str text);

// The declaration of |text|, or of a name's entry, that is visible; NULL where there is none.
const stowi_onnx_value_info* stowi_declaration_of(const stowi_importer* imp, stow_str text);
const stowi_onnx_value_info* stowi_declaration_at(const stowi_importer* imp, uint32_t name);
stow_status stowi_declare(stowi_importer* imp, const stowi_onnx_value_info* infos, size_t count);

typedef struct stowi_scope {
  size_t bindings, declarations, start, floor, declared_floor;
} stowi_scope;
// |is_closed|: what is outside cannot be seen.
stowi_scope stowi_scope_enter(stowi_importer* imp, bool is_closed);
void stowi_scope_leave(stowi_importer* imp, stowi_scope scope);

// |text| where no value of the graph has that name, else with a suffix `#2`, `#3`, … Valid until
// the next call.
stow_status stowi_fresh_name(stowi_importer* imp, stow_str text, stow_str* out_name);
// |text| followed by |ending|; the same.
stow_status stowi_fresh_name_with(stowi_importer* imp, stow_str text, const char* ending,
                                  stow_str* out_name);

// Bytes that live as long as the import; NULL when out of memory.
void* stowi_keep_bytes(stowi_importer* imp, size_t size);
// The same for a block of the importer's allocator that exists; it is freed on failure.
stow_status stowi_keep_block(stowi_importer* imp, void* bytes, size_t size);

// Fails with the standard message.
stow_status stowi_import_memory(stowi_importer* imp);

// ---------------------------------------------------------------------------------------------
// Symbols and inputs: symbols.c, inputs.c

// The symbol |text|; NULL where there is none.
stowi_symbol* stowi_symbol_find(const stowi_importer* imp, stow_str text);
// The dim that a symbol stands for: its number, else what its name says as an expression of other
// inputs' symbols (exporters write `past + seq`), else the symbol itself.
stow_status stowi_symbol_dim(stowi_importer* imp, stow_str text, stow_dim* out_dim);
// Name of dim |axis| of an input: the file's, or INPUT.AXIS. Valid until the next call.
stow_status stowi_dim_name(stowi_importer* imp, const stowi_onnx_value_info* info, size_t axis,
                           stow_str* out_name);
// Gives every symbol the number that was asked for, by name, by a value's or a shape's dims, or as
// the rest.
stow_status stowi_settle_symbols(stowi_importer* imp);
// Inputs of the graph, after that.
stow_status stowi_import_inputs(stowi_importer* imp);
// Why no value can be of the kind that is declared; NULL where it can.
const char* stowi_onnx_why_not(const stowi_onnx_value_info* info);
// Whether |info| is an input, not the declaration of an initializer.
bool stowi_onnx_is_input(const stowi_importer* imp, const stowi_onnx_value_info* info);

// The value that was asked for, as bytes of |type|, whose dims are numbers.
stow_status stowi_asked_bytes(stowi_importer* imp, const stowi_asked_value* value,
                              const stow_type* type, void** out_bytes, size_t* out_size);
// Its type, where it has one: a list of numbers has none.
stow_status stowi_asked_type(stowi_importer* imp, const stowi_asked_value* value,
                             stow_type* out_type, bool* out_has_type);

// ---------------------------------------------------------------------------------------------
// Constants: constants.c

// Notes which names are initializers of the main graph, and which of them are used.
stow_status stowi_note_initializers(stowi_importer* imp);
// Initializers of the main graph that are used, as params; those of a subgraph as constants.
stow_status stowi_import_initializers(stowi_importer* imp, const stowi_onnx_graph* graph,
                                      stow_op op);
// A tensor of the file as a `param` or `constant` named |name|. STOW_ERR_UNSUPPORTED with a reason
// in the diagnostic where it holds strings.
stow_status stowi_import_tensor(stowi_importer* imp, const stowi_onnx_tensor* tensor, stow_op op,
                                stow_str name, stow_value* out_value);
stow_status stowi_lower_constant_node(stowi_lowering* l);

// ---------------------------------------------------------------------------------------------
// Nodes: nodes.c, order.c, functions.c, lower/control.c, lower/loop.c, lower/flex.c

// An order of |count| nodes in which each comes after what it reads, the file's where that is one.
stow_status stowi_order_nodes(stowi_importer* imp, const stowi_onnx_node* nodes, size_t count,
                              uint32_t* out_order);
stow_status stowi_import_nodes(stowi_importer* imp, const stowi_onnx_node* nodes, size_t count);
// Initializers, declarations and nodes of a subgraph into the innermost scope; then what its
// outputs are: STOW_VALUE_NONE for those that could not be imported.
stow_status stowi_import_body(stowi_importer* imp, const stowi_onnx_graph* graph,
                              stow_value* out_values);

stow_status stowi_index_functions(stowi_importer* imp);
// NULL where the model has none for that node.
const stowi_onnx_function* stowi_function_of(const stowi_importer* imp,
                                             const stowi_onnx_node* node);
stow_status stowi_inline(stowi_lowering* l, const stowi_onnx_function* function);

// Notes |node| (may be NULL) as the origin of all values that have none yet.
stow_status stowi_note_origins(stowi_importer* imp, const stowi_onnx_node* node);

// Such a body, one level deeper.
stow_status stowi_import_inner(stowi_importer* imp, const stowi_onnx_graph* graph,
                               stow_value* out_values);
// The subgraph that is attribute |name|, or NULL.
const stowi_onnx_graph* stowi_lower_subgraph(const stowi_lowering* l, const char* name);
// Whether none of the values is absent.
bool stowi_are_whole(const stow_value* values, size_t count);

stow_status stowi_lower_loop(stowi_lowering* l);
stow_status stowi_lower_scan(stowi_lowering* l);
stow_status stowi_lower_scan_batch(stowi_lowering* l);
stow_status stowi_lower_flex_attention(stowi_lowering* l);

stow_status stowi_lower_index_build(stowi_lower_index* index, stow_allocator allocator);
void stowi_lower_index_free(stowi_lower_index* index, stow_allocator allocator);
const stowi_lower_row* stowi_lower_index_find(const stowi_lower_index* index, stow_str domain,
                                              stow_str name, int64_t version);

// ---------------------------------------------------------------------------------------------
// The node that is being lowered: lower.c

struct stowi_lowering {
  stowi_importer* imp;
  const stowi_onnx_node* node;
  const stowi_lower_row* row;
  int64_t version;
  // In the importer's stack, which may move.
  size_t first_operand, operand_count;
  size_t first_result, result_count;
};

// The node's name, or its first output's.
stow_str stowi_node_label(const stowi_onnx_node* node);
void stowi_lower_set_result(stowi_lowering* l, size_t k, stow_value value);
stow_value stowi_lower_result(const stowi_lowering* l, size_t k);
// Like finish_results where the types are declared already.
stow_status stowi_lower_finish_declared(stowi_lowering* l, stow_call* call, size_t first,
                                        size_t count);
// The attribute itself, whatever its type; references are followed.
const stowi_onnx_attr* stowi_lower_any_attr(const stowi_lowering* l, stow_str name);
// As `custom`, where the types of all results are known; else STOW_ERR_UNSUPPORTED.
stow_status stowi_lower_custom(stowi_lowering* l);

// ---------------------------------------------------------------------------------------------
// Issues and declarations: issues.c, declared.c

stow_status stowi_add_issue(stowi_importer* imp, stow_onnx_issue_kind kind,
                            const stowi_onnx_node* node, stow_str tensor, const char* format, ...)
    STOW_PRINTF_LIKE(5, 6);

// A type for messages, cut where it is long; dims that are STOW_DIM_INVALID as `?`.
typedef struct stowi_type_text {
  char text[200];
  size_t size;
} stowi_type_text;
stowi_type_text stowi_type_text_of(const stow_graph* graph, const stow_type* type);

// A declared type in the graph's terms: false where its rank or dtype is not given or unknown. Dims
// that are not known are STOW_DIM_INVALID.
bool stowi_declared_type(stowi_importer* imp, const stowi_onnx_value_info* info,
                         stow_type* out_type);
// Whether two types cannot be the same: dims that only a binding can tell apart do not differ.
bool stowi_types_differ(const stow_type* a, const stow_type* b);
// Adds an issue where the file declares another type for the name that was bound last than its
// value has.
stow_status stowi_compare_declared(stowi_importer* imp, const stowi_onnx_node* node);

// Tells how many such issues were left out.
stow_status stowi_report_declared(stowi_importer* imp);

#endif  // STOWAGE_SRC_ONNX_IMPORT_IMPORTER_H_
