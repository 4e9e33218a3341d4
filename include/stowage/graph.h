// Graphs: a list of nodes in an order in which they can run, the values they read and produce, and
// regions. Building, reading, binding, simplifying and verifying them.
//
// Nodes are only ever appended. Node and value ids count from 0 over the whole graph, regions
// included, and are never reused; an id that an accessor takes must be below the count unless its
// comment says otherwise. In a plan a *node* gets a step and a *value* a slot. Names are unique
// within a graph. Inputs, params and constants are nodes too: the *boundary* values, which come
// from outside.
//
// Types are inferred and checked as nodes are added, by the rows of the op table (op.h). Dims may
// be symbols; give them numbers with stow_graph_bind before planning.
//
// A graph owns its names, attributes and types. Data of params and constants is borrowed unless a
// copy is asked for, and an op table that was passed is borrowed. What accessors return is borrowed
// until the graph changes. The const calls may run on several threads at the same time.
//
//     #include <stowage/graph.h>
//
//     // relu(x · w) of 100 rows
//     stow_status make_layer(stow_diag* diag, stow_graph** out_graph) {
//       stow_type x_type = stow_type_make(STOW_F32, 2, (stow_dim[]){100, 384});
//       stow_type w_type = stow_type_make(STOW_F32, 2, (stow_dim[]){384, 384});
//       stow_value xw[2], y;
//       stow_graph* graph = NULL;
//       stow_status status =
//           stow_graph_create(stow_str_of("layer"), NULL, stow_allocator_default(), diag, &graph);
//       if (status == STOW_OK) status = stow_graph_input(graph, "x", &x_type, diag, &xw[0]);
//       if (status == STOW_OK) status = stow_graph_param(graph, "w", &w_type, diag, &xw[1]);
//       if (status == STOW_OK) status = stow_graph_add(graph, STOW_OP_MATMUL, xw, 2, diag, &y);
//       if (status == STOW_OK) status = stow_graph_add(graph, STOW_OP_RELU, &y, 1, diag, &y);
//       if (status == STOW_OK) status = stow_graph_add_output(graph, y, diag);
//       if (status != STOW_OK) stow_graph_destroy(graph);
//       *out_graph = status == STOW_OK ? graph : NULL;
//       return status;
//     }
//
// Regions. A node that owns regions (if, loop) comes after all nodes of its regions, in id and
// step. A region may begin with an `args` node, whose results are the region's arguments, and
// always ends with a `yield` node. Values computed in a region are visible in it and in regions
// nested in it only.
//
//     step 3  args            ┐
//     step 4  relu            │ body of the loop
//     step 5  yield           ┘
//     step 6  loop
#ifndef STOWAGE_GRAPH_H_
#define STOWAGE_GRAPH_H_

#include <stowage/base.h>
#include <stowage/op.h>
#include <stowage/type.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t stow_value;
typedef uint32_t stow_node;
typedef uint32_t stow_region;

#define STOW_VALUE_NONE UINT32_MAX
#define STOW_NODE_NONE UINT32_MAX
#define STOW_REGION_BODY 0  // the graph itself
#define STOW_REGION_ID_NONE UINT32_MAX

typedef struct stow_graph stow_graph;

// An empty graph. |name| is copied. |ops| is borrowed and must outlive the graph; NULL: the ops of
// the core. Free the result with stow_graph_destroy.
STOW_API stow_status stow_graph_create(stow_str name, const stow_ops* ops, stow_allocator allocator,
                                       stow_diag* diag, stow_graph** out_graph);
STOW_API void stow_graph_destroy(stow_graph* graph);

// ---------------------------------------------------------------------------------------------
// Building. A node is described by calls on a stow_call and added by stow_call_finish, which also
// reports the errors of the calls before it.
//
//     stow_call* call = stow_graph_begin(graph, STOW_OP_NARROW);
//     stow_call_operand(call, x);
//     stow_call_attr_int(call, "axis", 0);
//     stow_call_attr_int(call, "start", 8);
//     stow_call_attr_int(call, "len", 16);
//     stow_status status = stow_call_finish(call, &diag, &node);

typedef struct stow_call stow_call;

// Begins a node. Never NULL; owned by the graph. Only one call may be open, until it is finished or
// cancelled: if another is begun before that, its finish fails with STOW_ERR_CONFLICT. Beginning or
// ending a region, and binding, cancel an open call.
STOW_API stow_call* stow_graph_begin(stow_graph* graph, stow_op op);
// Appends an operand; STOW_VALUE_NONE for an optional one that is absent.
STOW_API void stow_call_operand(stow_call* call, stow_value operand);
// Appends an attribute: at most STOW_MAX_ATTRS, no name twice; they keep their order. Copied. An
// integer is stored as a float if the op's schema has a float.
#define STOW_MAX_ATTRS 1024
STOW_API void stow_call_attr(stow_call* call, const stow_attr* attr);
static inline void stow_call_attr_int(stow_call* call, const char* name, int64_t value) {
  stow_attr attr = stow_attr_named(name, STOW_ATTR_INT);
  attr.i = value;
  stow_call_attr(call, &attr);
}
static inline void stow_call_attr_float(stow_call* call, const char* name, double value) {
  stow_attr attr = stow_attr_named(name, STOW_ATTR_FLOAT);
  attr.f = value;
  stow_call_attr(call, &attr);
}
static inline void stow_call_attr_bool(stow_call* call, const char* name, bool value) {
  stow_attr attr = stow_attr_named(name, STOW_ATTR_BOOL);
  attr.b = value;
  stow_call_attr(call, &attr);
}
static inline void stow_call_attr_string(stow_call* call, const char* name, stow_str value) {
  stow_attr attr = stow_attr_named(name, STOW_ATTR_STRING);
  attr.s = value;
  stow_call_attr(call, &attr);
}
static inline void stow_call_attr_ints(stow_call* call, const char* name, const int64_t* values,
                                       size_t count) {
  stow_attr attr = stow_attr_named(name, STOW_ATTR_INTS);
  attr.ints = values;
  attr.count = count;
  stow_call_attr(call, &attr);
}
// Appends an entry of the node's `with { … }` clause. Copied; stow_effects_create interprets it.
STOW_API void stow_call_with(stow_call* call, const stow_attr* attr);
// Declares the type of the next result.
STOW_API void stow_call_result_type(stow_call* call, const stow_type* type);
// Names result |k|; copied. An empty name means none. Input, param and constant need a name.
STOW_API void stow_call_name(stow_call* call, size_t k, stow_str name);
// Sets the number of results, for ops that leave it open; declared types must agree with it.
// Ignored for other ops.
STOW_API void stow_call_result_count(stow_call* call, size_t count);
// Marks result |k| as upper-bounded: its dims are the largest possible. Dims that depend on an
// upper-bounded dim of an operand or of a value that a region of the node yields, or on elements of
// which only an upper bound is known, are upper bounds in any case.
STOW_API void stow_call_bounded(stow_call* call, size_t k);
// The same for dim |axis| alone; the others stay exact.
STOW_API void stow_call_bounded_dim(stow_call* call, size_t k, uint32_t axis);
// The data of a param or constant, or the known value of an input; |size| must be that of the type
// in bytes. If it is not copied, it must outlive the graph; it need not be aligned. An attribute
// `source` may say where the bytes come from.
STOW_API void stow_call_data(stow_call* call, const void* data, size_t size, bool copy);
// The line of the text at which the node is, for diagnostics; 0 (the default): none.
STOW_API void stow_call_line(stow_call* call, uint32_t line);
// Infers the result types without adding the node; the call stays open, and types can still be
// declared. |out_types| has |out_count| types, owned by the call until types are inferred again. On
// failure they are NULL and 0, and the diagnostic is that of stow_call_finish.
STOW_API stow_status stow_call_infer(stow_call* call, stow_diag* diag, const stow_type** out_types,
                                     size_t* out_count);
// Infers and checks the result types and adds the node; |call| is no longer valid. On failure the
// graph is as before stow_graph_begin, and the diagnostic names the op, the operands and their
// types. |out_node| may be NULL. Finishing a loop marks the arguments of its region, and what
// depends on them, as upper-bounded if their initial or yielded values are. O(nodes before it) in
// that case, otherwise O(size of the node).
STOW_API stow_status stow_call_finish(stow_call* call, stow_diag* diag, stow_node* out_node);

// Ends the open call, if there is one, without adding a node.
STOW_API void stow_graph_cancel(stow_graph* graph);

// Shorthands for common nodes. |out_value| is the (first) result and may be one of the operands.
// Errors as stow_call_finish.
STOW_API stow_status stow_graph_input(stow_graph* graph, const char* name, const stow_type* type,
                                      stow_diag* diag, stow_value* out_value);
STOW_API stow_status stow_graph_param(stow_graph* graph, const char* name, const stow_type* type,
                                      stow_diag* diag, stow_value* out_value);
STOW_API stow_status stow_graph_constant(stow_graph* graph, const char* name, const stow_type* type,
                                         stow_diag* diag, stow_value* out_value);
STOW_API stow_status stow_graph_add(stow_graph* graph, stow_op op, const stow_value* operands,
                                    size_t operand_count, stow_diag* diag, stow_value* out_value);

// Opens a region of a node that is added later. STOW_ERR_LIMIT if regions nest more than
// STOW_MAX_REGION_DEPTH deep.
#define STOW_MAX_REGION_DEPTH 64
STOW_API stow_status stow_graph_begin_region(stow_graph* graph, stow_diag* diag);
// Adds the `yield` node and closes the innermost open region. The node that is added next owns the
// regions that were closed right before it; nothing else may be added in between, and their number
// must fit its op. Unless its result types are declared, it has one result for each value that its
// regions return.
STOW_API stow_status stow_graph_end_region(stow_graph* graph, const stow_value* yields,
                                           size_t count, stow_diag* diag);

// Appends an output. A value may be an output more than once, but not if it is computed inside a
// region.
STOW_API stow_status stow_graph_add_output(stow_graph* graph, stow_value value, stow_diag* diag);

// Adds a function: a graph that `blocks` nodes of this one apply to blocks of rows, under its name.
// Its inputs are what a block has of each operand, its outputs what it makes of each result. Values
// with rows have the symbol `rows`, the first of its table, as one dim; all other dims are numbers
// or expressions of symbols of |graph|, which are bound with it. Ops must compute each
// row from the same row of their operands alone: elementwise ops; softmax, norms, reductions,
// products and convolutions along other dims. On success the graph owns |function|. STOW_ERR_TYPE,
// naming the node, if it is not such a graph; STOW_ERR_DUPLICATE if there is a function of this
// name.
STOW_API stow_status stow_graph_add_function(stow_graph* graph, stow_graph* function,
                                             stow_diag* diag);

// Gives |count| symbols their values, which takes the place of their ranges, and infers all types
// again, by the ranges of other symbols (type.h); dims with these remain expressions. |count| may
// be 0. STOW_ERR_NOT_FOUND if the graph has no such symbol; STOW_ERR_INVALID_ARGUMENT for a value
// outside the symbol's range; STOW_ERR_TYPE, naming the node, if shapes no longer fit or a dim
// becomes negative.
STOW_API stow_status stow_graph_bind(stow_graph* graph, const stow_str* names,
                                     const int64_t* values, size_t count, stow_diag* diag);

// ---------------------------------------------------------------------------------------------
// Reading. What is returned is borrowed until the graph changes.

STOW_API stow_str stow_graph_name(const stow_graph* graph);
STOW_API const stow_ops* stow_graph_ops(const stow_graph* graph);  // NULL: the ops of the core
// The graph's table of dims (type.h): for reading, and for adding dims to use in later types.
STOW_API const stow_dims* stow_graph_dims(const stow_graph* graph);
STOW_API stow_dims* stow_graph_edit_dims(stow_graph* graph);
STOW_API uint32_t stow_graph_node_count(const stow_graph* graph);
STOW_API uint32_t stow_graph_value_count(const stow_graph* graph);
// The outputs, in order: stow_graph_output_count of them.
STOW_API size_t stow_graph_output_count(const stow_graph* graph);
STOW_API const stow_value* stow_graph_outputs(const stow_graph* graph);

// Of a node; |node| must be below stow_graph_node_count.
STOW_API stow_op stow_graph_op(const stow_graph* graph, stow_node node);
STOW_API const stow_op_desc* stow_graph_op_desc(const stow_graph* graph, stow_node node);
// What the node computes, in a word for people: the name of its op; of `blocks`, of its function.
STOW_API const char* stow_graph_op_name(const stow_graph* graph, stow_node node);
STOW_API size_t stow_graph_operand_count(const stow_graph* graph, stow_node node);
// Absent operands are STOW_VALUE_NONE. The operands of a `yield` are what it yields.
STOW_API const stow_value* stow_graph_operands(const stow_graph* graph, stow_node node);
// The results of a node are consecutive values.
STOW_API size_t stow_graph_result_count(const stow_graph* graph, stow_node node);
STOW_API stow_value stow_graph_first_result(const stow_graph* graph, stow_node node);
// The line of the text at which the node is; 0: none.
STOW_API uint32_t stow_graph_line(const stow_graph* graph, stow_node node);
// The attributes that were given, in their order. |index| must be below the count.
STOW_API size_t stow_graph_attr_count(const stow_graph* graph, stow_node node);
STOW_API const stow_attr* stow_graph_attr_at(const stow_graph* graph, stow_node node, size_t index);
// The attribute that was given, or the default of the op's schema; NULL if there is neither.
STOW_API const stow_attr* stow_graph_attr(const stow_graph* graph, stow_node node,
                                          const char* name);
// Whether its op defines result |k| as a view of an operand; if so, |out_view| is filled. False if
// a dim is not a number.
STOW_API bool stow_graph_view(const stow_graph* graph, stow_node node, size_t k,
                              stow_view* out_view);
// Whether its op allows result |k| in place of operand |operand|. STOW_IN_PLACE_NEVER if that is
// absent or has fewer bytes, or a dim of either is not a number.
STOW_API stow_in_place stow_graph_in_place(const stow_graph* graph, stow_node node, size_t k,
                                           size_t operand);

// Of a value; |value| must be below stow_graph_value_count.
STOW_API const stow_type* stow_graph_type(const stow_graph* graph, stow_value value);
STOW_API stow_str stow_graph_value_name(const stow_graph* graph, stow_value value);  // empty: none
// The node that has |value| as a result.
STOW_API stow_node stow_graph_producer(const stow_graph* graph, stow_value value);
// Whether it is upper-bounded: at least one of its dims is the largest possible.
STOW_API bool stow_graph_is_bounded(const stow_graph* graph, stow_value value);
// Whether dim |axis| is the largest possible: marked so, or a data-dependent dim that is a number.
// False past the rank.
STOW_API bool stow_graph_is_bounded_dim(const stow_graph* graph, stow_value value, uint32_t axis);
// Whether its op took one of its dims from stow_shape_data_dim, new or declared: a data-dependent
// dim enters the graph here. Remains true when the dim is bound.
STOW_API bool stow_graph_is_data_dependent(const stow_graph* graph, stow_value value);
// Whether one of its dims contains a symbol that stands for a data-dependent dim, of this value or
// of another, passed on through types or known elements. A symbol stands for one if the first value
// that has it is data-dependent, or is upper-bounded and declared with it. False once these symbols
// are bound.
STOW_API bool stow_graph_has_data_dims(const stow_graph* graph, stow_value value);
// Whether all elements of |value| are known exactly (see stow_shape_known); upper bounds do not
// count.
STOW_API bool stow_graph_is_known(const stow_graph* graph, stow_value value);
// Element |i| of |value|: a number or an expression; STOW_DIM_INVALID if it is unknown, or a
// negative number in data, which stow_graph_known_int returns. Both calls below return false if it
// is not a known number of their kind.
STOW_API stow_dim stow_graph_known(const stow_graph* graph, stow_value value, size_t i);
STOW_API bool stow_graph_known_int(const stow_graph* graph, stow_value value, size_t i,
                                   int64_t* out);
STOW_API bool stow_graph_known_float(const stow_graph* graph, stow_value value, size_t i,
                                     double* out);
// Whether it is an input, param or constant.
STOW_API bool stow_graph_is_boundary(const stow_graph* graph, stow_value value);
// The data of an input, param or constant, not necessarily aligned; NULL if there is none.
// |out_size| (may be NULL) is in bytes.
STOW_API const void* stow_graph_data(const stow_graph* graph, stow_value value, size_t* out_size);
// STOW_VALUE_NONE if no value has this name. O(1).
STOW_API stow_value stow_graph_find(const stow_graph* graph, stow_str name);

// Of functions, in the order in which they were added; NULL past the end.
STOW_API size_t stow_graph_function_count(const stow_graph* graph);
STOW_API const stow_graph* stow_graph_function(const stow_graph* graph, size_t index);

// Of regions. Region 0 is the graph's body and has no owner.
STOW_API uint32_t stow_graph_region_count(const stow_graph* graph);
// The innermost region that |node| is in.
STOW_API stow_region stow_graph_node_region(const stow_graph* graph, stow_node node);
// The regions that |node| owns, in order; STOW_REGION_ID_NONE past the end.
STOW_API stow_region stow_graph_owned_region(const stow_graph* graph, stow_node node, size_t index);
typedef struct stow_region_info {
  size_t struct_size;  // sizeof(stow_region_info), set by the caller
  stow_node owner;     // STOW_NODE_NONE for region 0
  stow_region parent;  // STOW_REGION_ID_NONE for region 0
  stow_node first;     // the first node, and the last one, which is the `yield`; nested regions
  stow_node last;      // and their owners are between them
  stow_node args;      // its `args` node, or STOW_NODE_NONE
} stow_region_info;
// STOW_ERR_NOT_FOUND if |region| is out of range, STOW_ERR_INVALID_ARGUMENT if |struct_size| is.
STOW_API stow_status stow_graph_describe_region(const stow_graph* graph, stow_region region,
                                                stow_region_info* out_info);

// ---------------------------------------------------------------------------------------------
// Whole graphs

// Makes a new graph without unnecessary nodes: integers and bools whose elements are all known
// numbers become constants, and nodes that no output depends on are dropped, as are unused params
// and constants. Inputs, names, types, symbols, `with` clauses and regions are kept. Data is
// borrowed from |graph|, which must outlive the new one. The caller destroys both.
STOW_API stow_status stow_graph_simplify(const stow_graph* graph, stow_allocator allocator,
                                         stow_diag* diag, stow_graph** out_graph);

// Checks the whole graph. It has an output and no open region, and all types are as their ops infer
// them. No value, and no other view of its bytes, is read or returned after an op wrote into it
// (kv_append). No op writes into a param or constant, nor, in a loop's body, into bytes from
// outside the loop: STOW_ERR_CONFLICT. Views, and therefore writes, are known only if dims are
// numbers: verify again after binding.
STOW_API stow_status stow_graph_verify(const stow_graph* graph, stow_diag* diag);

// Infers the actual types of |node|'s results during a run, for executors of graphs with
// upper-bounded values. |types| has the actual types of the operands, all dims numbers (NULL for an
// absent one); |data| their elements, of any alignment (NULL if they are not available).
// |out_types| has room for all results. A dim that only the kernel can compute is that of the
// graph, the largest possible. Not for nodes that own regions. STOW_ERR_TYPE if operands do not fit
// each other, or a dim would be larger than in the graph.
//
// Allocates nothing and does not change the graph; it only writes to |memory|, which has
// |memory_size| bytes, STOW_INFER_MEMORY or more. STOW_ERR_OUT_OF_MEMORY if that is not enough.
#define STOW_INFER_MEMORY ((size_t)1 << 16)
STOW_API stow_status stow_graph_infer_actual(const stow_graph* graph, stow_node node,
                                             const stow_type* const* types, const void* const* data,
                                             void* memory, size_t memory_size, stow_diag* diag,
                                             stow_type* out_types);

// STOW_OK if all dims are numbers; otherwise STOW_ERR_UNBOUND_DIM, naming the first value with
// symbols, and all of its symbols.
STOW_API stow_status stow_graph_require_bound(const stow_graph* graph, stow_diag* diag);

// A 64-bit hash of everything that a plan depends on: ops, operands, attributes, `with` clauses,
// types, names, regions and outputs, but not data. The same on every machine.
STOW_API uint64_t stow_graph_fingerprint(const stow_graph* graph);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_GRAPH_H_
