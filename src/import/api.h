// What importing offers to providers, the rooms that know a file format, and what it needs of them.
//
// A provider opens files as models: a struct of its own that begins with a stow_model, whose
// functions are in a stowi_import_provider. It says what the model declares; the importer settles
// names, symbols, inputs, values, shapes and issues, and asks the provider for weights and nodes in
// between, which it adds to the importer's graph. A provider sees no other room but the core's
// public headers; a new one touches no other provider.
#ifndef STOWAGE_SRC_IMPORT_API_H_
#define STOWAGE_SRC_IMPORT_API_H_

#include <stowage/import.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/hash.h"

#define STOWI_IMPORT_NONE UINT32_MAX
// Graphs in nodes in graphs, calls of functions in functions: all count.
#define STOWI_IMPORT_MAX_DEPTH 48

typedef struct stowi_import_importer stowi_import_importer;

// ---------------------------------------------------------------------------------------------
// Models: model.c

typedef struct stowi_import_dim {
  int64_t number;  // negative: not given
  stow_str name;   // empty: none
} stowi_import_dim;

// A tensor as the file declares it.
typedef struct stowi_import_info {
  stow_str name;
  const char* why_not;  // why no value of a graph can be of that type; NULL: one can
  bool has_dtype;
  stow_dtype dtype;
  bool has_shape;  // and it is a tensor of at most STOW_MAX_RANK dims
  uint32_t rank;
  const stowi_import_dim* dims;
  const void* record;  // the provider's own
} stowi_import_info;

typedef struct stowi_import_opset {
  stow_str domain;  // "" for the format's own
  int64_t version;
} stowi_import_opset;

typedef struct stowi_import_op_kind {
  stow_str name, domain;
  size_t count;
} stowi_import_op_kind;

// Where in the file an issue is.
typedef struct stowi_import_place {
  stow_str domain, op;
  stow_str label;  // the node's name, or its first output's
} stowi_import_place;

typedef struct stowi_import_tally stowi_import_tally;

typedef struct stowi_import_provider {
  void (*close)(stow_model* model);
  void (*give_back)(const stow_model* model, const void* data, size_t size);
  // Writes a declared type; |info| is one of the model's inputs or outputs.
  stow_status (*print_type)(const stowi_import_info* info, stow_writer writer);
  // Calls stowi_import_tally_weight for each weight; false where that returned false.
  bool (*count_weights)(const stow_model* model, stowi_import_tally* tally);
  stowi_import_place (*place_of)(const void* node);
  // Imports the model: calls stowi_import_run, again where a first try shows what a second needs.
  stow_status (*import)(stow_model* model, const stow_import_request* request,
                        stow_allocator allocator, stow_diag* diag, stow_import** out_import);
  // What stowi_import_run asks for, in this order. First the names: stowi_import_note_weight,
  // _note_use and _note_outer.
  stow_status (*note_names)(stowi_import_importer* imp);
  stow_status (*add_weights)(stowi_import_importer* imp);
  stow_status (*add_nodes)(stowi_import_importer* imp);
} stowi_import_provider;

// What every model begins with. The provider fills it, and frees what it has allocated.
struct stow_model {
  const stowi_import_provider* provider;
  stow_allocator allocator;
  stow_model_info info;  // all but op_kind_count
  const stowi_import_info* inputs;
  const stowi_import_info* outputs;
  const stowi_import_opset* opsets;
  STOWI_VEC(stowi_import_op_kind) op_kinds;
  stowi_index op_index;
};

// Counts one node of that op.
stow_status stowi_import_count_op(stow_model* model, stow_str domain, stow_str name);
// When all are counted: sorts them, frees the index.
stow_status stowi_import_sort_ops(stow_model* model);

// Adds one weight; |dtype| NULL: of a type that is not a dtype. False where the sums overflow.
bool stowi_import_tally_weight(stowi_import_tally* tally, const stow_dtype* dtype,
                               uint64_t elements, uint64_t bytes, bool is_external);

// ---------------------------------------------------------------------------------------------
// An import in the making

typedef struct stowi_import_asked_shape {
  stow_str tensor;
  size_t rank;
  int64_t dims[STOW_MAX_RANK];
} stowi_import_asked_shape;

typedef struct stowi_import_asked_value stowi_import_asked_value;

typedef struct stowi_import_name {
  stow_str text;
  uint32_t binding;   // the newest, or STOWI_IMPORT_NONE
  uint32_t declared;  // the newest declaration, or STOWI_IMPORT_NONE
  uint32_t suffix;    // the last one tried
  uint32_t serial;    // for providers that sort nodes: the list in which |producer| counts
  uint32_t producer;
  bool is_weight;  // of the main graph
  bool is_used;    // a weight, somewhere in the graph or a subgraph
  bool is_output;  // of the main graph
  bool was_made;
  const stowi_import_asked_shape* shape;
  const stowi_import_asked_value* value;
  // The shape of a result of the node around, whose body gives it under this name |lent_depth|
  // deep.
  const stowi_import_asked_shape* lent;
  uint32_t lent_depth;
  bool is_lent_softly;
  bool is_asked_outside;  // |shape| is that of a tensor of the main graph
} stowi_import_name;

typedef enum stowi_import_bound {
  STOWI_IMPORT_VALUE,
  STOWI_IMPORT_ABSENT,  // an input of a function that the call leaves off
  STOWI_IMPORT_POISON   // could not be imported
} stowi_import_bound;

typedef struct stowi_import_binding {
  uint32_t name;
  uint32_t previous;
  stow_value value;
  stowi_import_bound bound;
} stowi_import_binding;

typedef struct stowi_import_declaration {
  uint32_t name;
  uint32_t previous;
  stowi_import_info info;
} stowi_import_declaration;

// A dim that has a name.
typedef struct stowi_import_symbol {
  stow_str text;
  int64_t value;         // negative: not bound
  stow_dim_range range;  // step 0: none
  bool is_met;           // in an input's type
  bool is_unnamed;       // there, without a name in the file
} stowi_import_symbol;

// A provider has it as the first member of an importer of its own, where it needs more. It sets
// |model|, |request|, |allocator| and |diag| (never NULL), the rest is zero.
struct stowi_import_importer {
  stow_model* model;
  const stow_import_request* request;
  stow_allocator allocator;
  stow_diag* diag;
  stow_import* import;
  stow_graph* graph;
  STOWI_VEC(stowi_import_name) names;
  stowi_index by_name;
  STOWI_VEC(stowi_import_binding) bindings;
  STOWI_VEC(stowi_import_declaration) declarations;
  size_t scope_start;  // bindings of the innermost scope begin here
  size_t floor;        // bindings below are invisible: a function does not see its caller's
  size_t declared_floor;
  STOWI_VEC(stowi_import_symbol) symbols;
  stowi_index by_symbol;
  STOWI_VEC(const void*) origins;  // per value the node that it comes from; NULL: none
  stow_string text;                // a name or reason being put together
  uint32_t depth;
  size_t declared_issues;
  stow_str missing;  // the file whose weights were reported last as missing
};

// Imports: names, symbols, inputs, weights, nodes, outputs, issues. Frees what the importer holds,
// but for a provider's own.
stow_status stowi_import_run(stowi_import_importer* imp, stow_import** out_import);

// ---------------------------------------------------------------------------------------------
// Names and scopes: scope.c

// Number of the entry for |text|, made where there is none.
stow_status stowi_import_name_of(stowi_import_importer* imp, stow_str text, uint32_t* out_name);
// STOWI_IMPORT_NONE where there is none.
uint32_t stowi_import_name_find(const stowi_import_importer* imp, stow_str text);

// Makes |text| stand for |value| in the innermost scope. STOW_ERR_DUPLICATE where it stands for
// something there.
stow_status stowi_import_bind(stowi_import_importer* imp, stow_str text, stow_value value,
                              stowi_import_bound bound);
// The binding that is visible; NULL where there is none.
const stowi_import_binding* stowi_import_resolve(const stowi_import_importer* imp, stow_str text);

// The declaration of |text|, or of a name's entry, that is visible; NULL where there is none. Valid
// until the next declaration.
const stowi_import_info* stowi_import_declaration_of(const stowi_import_importer* imp,
                                                     stow_str text);
const stowi_import_info* stowi_import_declaration_at(const stowi_import_importer* imp,
                                                     uint32_t name);
stow_status stowi_import_declare(stowi_import_importer* imp, const stowi_import_info* info);

typedef struct stowi_import_scope {
  size_t bindings, declarations, start, floor, declared_floor;
} stowi_import_scope;
// |is_closed|: what is outside cannot be seen.
stowi_import_scope stowi_import_enter(stowi_import_importer* imp, bool is_closed);
void stowi_import_leave(stowi_import_importer* imp, stowi_import_scope scope);

// |text| where no value of the graph has that name, else with a suffix `#2`, `#3`, … Valid until
// the next call.
stow_status stowi_import_fresh_name(stowi_import_importer* imp, stow_str text, stow_str* out_name);
// |text| followed by |ending|; the same.
stow_status stowi_import_fresh_name_with(stowi_import_importer* imp, stow_str text,
                                         const char* ending, stow_str* out_name);
// Notes |node| (may be NULL) as the origin of all values that have none yet.
stow_status stowi_import_note_origins(stowi_import_importer* imp, const void* node);

// Bytes that live as long as the import; NULL when out of memory.
void* stowi_import_keep_bytes(stowi_import_importer* imp, size_t size);
// The same for a block of the importer's allocator that exists; it is freed on failure.
stow_status stowi_import_keep_block(stowi_import_importer* imp, void* bytes, size_t size);

// Fails with the standard message.
stow_status stowi_import_memory(stowi_import_importer* imp);

// ---------------------------------------------------------------------------------------------
// Weights: weights.c

// Notes that a weight of the main graph is called |text|; that something reads |text|; that |text|
// is the result of a node of the main graph, when weights and shapes have been noted.
stow_status stowi_import_note_weight(stowi_import_importer* imp, stow_str text);
void stowi_import_note_use(stowi_import_importer* imp, stow_str text);
void stowi_import_note_outer(stowi_import_importer* imp, stow_str text);
// Whether weights of |size| bytes shall be read from a source.
bool stowi_import_reads(const stowi_import_importer* imp, uint64_t size);

// Where the bytes of a weight are: in this process, in a file, or both.
typedef struct stowi_import_payload {
  const void* bytes;  // may be NULL; outlives the import
  size_t size;
  stow_str source;  // empty: none
  uint64_t at;
  bool is_unread;  // whether |bytes| is NULL only because nobody asked for them
} stowi_import_payload;

// A `param` or `constant` named |name|, or like it where that is taken.
stow_status stowi_import_constant(stowi_import_importer* imp, stow_op op, stow_str name,
                                  const stow_type* type, const stowi_import_payload* data,
                                  stow_value* out_value);
// The same with the value that was asked for in the place of a weight.
stow_status stowi_import_asked_constant(stowi_import_importer* imp, stow_op op,
                                        const stowi_import_asked_value* value, stow_str name,
                                        const stow_type* type, stow_value* out_value);
// An issue, once for each |file|, for a weight that cannot be read, as the diagnostic says.
stow_status stowi_import_report_missing(stowi_import_importer* imp, stow_str file, stow_str weight);

// ---------------------------------------------------------------------------------------------
// Shapes that were asked for: asked.c

// The shape that was given for the tensor |name| where it stands now, or NULL. |*out_is_soft| (may
// be NULL): for a result of the node around it, which need not be that of this.
const stowi_import_asked_shape* stowi_import_asked_shape_of(const stowi_import_importer* imp,
                                                            stow_str text, bool* out_is_soft);
// Lends the shape that was given for |outer|, a node's result, to |inner|, its name in the node's
// body. With |softly| it only counts where the body's dims are open.
stow_status stowi_import_lend_shape(stowi_import_importer* imp, stow_str outer, stow_str inner,
                                    bool softly);
void stowi_import_return_shape(stowi_import_importer* imp, stow_str inner);
// Fails where a shape was given for |text| and |value| has another one.
stow_status stowi_import_compare_asked(stowi_import_importer* imp, stow_str text, stow_value value);

// The symbol |text|; NULL where there is none.
stowi_import_symbol* stowi_import_symbol_find(const stowi_import_importer* imp, stow_str text);

// ---------------------------------------------------------------------------------------------
// Issues and declarations: issues.c, declared.c

// |node| is the provider's, or NULL.
stow_status stowi_import_add_issue(stowi_import_importer* imp, stow_import_issue_kind kind,
                                   const void* node, stow_str tensor, const char* format, ...)
    STOW_PRINTF_LIKE(5, 6);

// A type for messages, cut where it is long; dims that are STOW_DIM_INVALID as `?`.
typedef struct stowi_import_type_text {
  char text[200];
  size_t size;
} stowi_import_type_text;
stowi_import_type_text stowi_import_type_text_of(const stow_graph* graph, const stow_type* type);

// A declared type in the graph's terms: false where its rank or dtype is not given or unknown. Dims
// that are not known are STOW_DIM_INVALID.
bool stowi_import_declared_type(stowi_import_importer* imp, const stowi_import_info* info,
                                stow_type* out_type);
// Whether two types cannot be the same: dims that only a binding can tell apart do not differ.
bool stowi_import_types_differ(const stow_type* a, const stow_type* b);
// Adds an issue where the file declares another type for the name that was bound last than its
// value has.
stow_status stowi_import_compare_declared(stowi_import_importer* imp, const void* node);

#endif  // STOWAGE_SRC_IMPORT_API_H_
