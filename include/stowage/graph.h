// Model graphs: an append-only list of nodes in topological order, the values they make, and
// regions.
//
// Ids are dense, start at 0 and are never reused, over the whole graph, regions included. A *node*
// gets a step, a *value* gets a slot. Names are unique within a graph.
//
// Regions. A node that owns regions (if, loop) comes after all nodes of its regions, so ids run
// through the branches in order and then reach the owner. A region may begin with an `args` node,
// whose results are the region's arguments, and always ends with a `yield` node. Values made in a
// region are visible in it and in regions nested in it only.
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

// |ops| may be NULL (the core's rows); otherwise it is borrowed and must outlive the graph.
STOW_API stow_status stow_graph_create(stow_str name, const stow_ops* ops, stow_allocator allocator,
                                       stow_diag* diag, stow_graph** out_graph);
STOW_API void stow_graph_destroy(stow_graph* graph);

// ---------------------------------------------------------------------------------------------
// Building. A node is described by calls on a stow_call and added by stow_call_finish. Errors in
// between are kept and reported there, so that only finish needs a check.
//
//     stow_call* call = stow_graph_begin(graph, STOW_OP_NARROW);
//     stow_call_operand(call, x);
//     stow_call_attr_int(call, "axis", 0);
//     stow_call_attr_int(call, "start", 8);
//     stow_call_attr_int(call, "len", 16);
//     stow_status status = stow_call_finish(call, &diag, &node);

typedef struct stow_call stow_call;

// Never NULL. One call is open at a time, until it is finished or cancelled: where another one is
// begun before, that one's finish fails with STOW_ERR_CONFLICT. Beginning or ending a region, and
// binding, cancel an open call.
STOW_API stow_call* stow_graph_begin(stow_graph* graph, stow_op op);
// Appends an operand; STOW_VALUE_NONE for an absent optional one.
STOW_API void stow_call_operand(stow_call* call, stow_value operand);
// Attributes keep the order in which they are given, at most STOW_MAX_ATTRS of them, no name twice.
// Data is copied. An integer where the op's schema has a float is stored as a float.
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
// One entry of the node's `with { … }` clause. The graph only keeps it; stow_effects_create reads
// it.
STOW_API void stow_call_with(stow_call* call, const stow_attr* attr);
// Appends a declared result type.
STOW_API void stow_call_result_type(stow_call* call, const stow_type* type);
// Names result |k|. An empty name means none. For input, param and constant a name is required.
STOW_API void stow_call_name(stow_call* call, size_t k, stow_str name);
// Says how many results the node has, where the op's row leaves that open and no types are
// declared; such types must agree with it. For other ops it means nothing.
STOW_API void stow_call_result_count(stow_call* call, size_t count);
// Marks result |k| as bounded: its dims are the largest possible. Results that have dims are
// bounded in any case where an operand, or what a region of the node yields, is, and where dims
// follow from elements that are only known to be at most some number.
STOW_API void stow_call_bounded(stow_call* call, size_t k);
// Data of a param or constant, or the known value of an input; its size must be the type's bytes.
// Borrowed data must outlive the graph and need not be aligned. A `source` may be given beside it,
// saying where the bytes come from.
STOW_API void stow_call_data(stow_call* call, const void* data, size_t size, bool copy);
// Line of the text that the node stands on, for diagnostics; 0 (the default) where there is none.
STOW_API void stow_call_line(stow_call* call, uint32_t line);
// Infers the result types without adding the node: the call stays open, and types can be declared
// after all. |out_types| has |out_count| types, which are the call's until the next call on it that
// infers; NULL and 0 on failure, where the diagnostic is as stow_call_finish would give it.
STOW_API stow_status stow_call_infer(stow_call* call, stow_diag* diag, const stow_type** out_types,
                                     size_t* out_count);
// Infers and checks the result types, and adds the node. On failure the graph is as before begin,
// and the diagnostic names the op, the operands and their types. |out_node| may be NULL.
// Arguments of a loop's region become bounded, as what follows from them does, where the initial
// value or what is yielded for them is: only its owner tells. O(nodes before it) where there are
// such, else O(size of the node).
STOW_API stow_status stow_call_finish(stow_call* call, stow_diag* diag, stow_node* out_node);

// Ends the open call, where there is one, without adding a node.
STOW_API void stow_graph_cancel(stow_graph* graph);

// Shorthands for the common cases; |out_value| is the (first) result and may be one of the
// operands.
STOW_API stow_status stow_graph_input(stow_graph* graph, const char* name, const stow_type* type,
                                      stow_diag* diag, stow_value* out_value);
STOW_API stow_status stow_graph_param(stow_graph* graph, const char* name, const stow_type* type,
                                      stow_diag* diag, stow_value* out_value);
STOW_API stow_status stow_graph_constant(stow_graph* graph, const char* name, const stow_type* type,
                                         stow_diag* diag, stow_value* out_value);
STOW_API stow_status stow_graph_add(stow_graph* graph, stow_op op, const stow_value* operands,
                                    size_t operand_count, stow_diag* diag, stow_value* out_value);

// Opens a region for the region-owning node to come. Regions nest at most STOW_MAX_REGION_DEPTH
// deep.
#define STOW_MAX_REGION_DEPTH 64
STOW_API stow_status stow_graph_begin_region(stow_graph* graph, stow_diag* diag);
// Adds the `yield` node and closes the innermost open region. The region-owning node takes the
// regions closed in its own region right before it: nothing else may be added in between, and their
// number must fit its op. Where no result types are declared, it has a result for each value that
// they give.
STOW_API stow_status stow_graph_end_region(stow_graph* graph, const stow_value* yields,
                                           size_t count, stow_diag* diag);

// Appends an output. A value may be an output more than once; it must not be from inside a region.
STOW_API stow_status stow_graph_add_output(stow_graph* graph, stow_value value, stow_diag* diag);

// Gives symbols values and evaluates every dim that then is a number; the rest stay expressions.
// All nodes are inferred again with the new types. STOW_ERR_NOT_FOUND for a name that is no symbol
// of the graph, STOW_ERR_TYPE naming the node where shapes no longer fit or a dim becomes negative.
STOW_API stow_status stow_graph_bind(stow_graph* graph, const stow_str* names,
                                     const int64_t* values, size_t count, stow_diag* diag);

// ---------------------------------------------------------------------------------------------
// Reading. Pointers are borrowed until the graph changes.

STOW_API stow_str stow_graph_name(const stow_graph* graph);
STOW_API const stow_ops* stow_graph_ops(const stow_graph* graph);  // NULL: the core's rows
// The table of the graph's dims, to read and, for new dims of types to come, to add to.
STOW_API const stow_dims* stow_graph_dims(const stow_graph* graph);
STOW_API stow_dims* stow_graph_edit_dims(stow_graph* graph);
STOW_API uint32_t stow_graph_node_count(const stow_graph* graph);
STOW_API uint32_t stow_graph_value_count(const stow_graph* graph);
STOW_API size_t stow_graph_output_count(const stow_graph* graph);
STOW_API const stow_value* stow_graph_outputs(const stow_graph* graph);

// Getters of a node; |node| must be below stow_graph_node_count.
STOW_API stow_op stow_graph_op(const stow_graph* graph, stow_node node);
STOW_API const stow_op_desc* stow_graph_op_desc(const stow_graph* graph, stow_node node);
STOW_API size_t stow_graph_operand_count(const stow_graph* graph, stow_node node);
// Absent operands are STOW_VALUE_NONE. Of a `yield`: what it yields.
STOW_API const stow_value* stow_graph_operands(const stow_graph* graph, stow_node node);
// A node's results are consecutive values.
STOW_API size_t stow_graph_result_count(const stow_graph* graph, stow_node node);
STOW_API stow_value stow_graph_first_result(const stow_graph* graph, stow_node node);
STOW_API uint32_t stow_graph_line(const stow_graph* graph, stow_node node);
// Attributes as given, in stored order.
STOW_API size_t stow_graph_attr_count(const stow_graph* graph, stow_node node);
STOW_API const stow_attr* stow_graph_attr_at(const stow_graph* graph, stow_node node, size_t index);
// As given, else the schema's default, else NULL.
STOW_API const stow_attr* stow_graph_attr(const stow_graph* graph, stow_node node,
                                          const char* name);
// Whether result |k| is a view, by the op's row. Dims must be numbers: where one is not, the answer
// is no.
STOW_API bool stow_graph_view(const stow_graph* graph, stow_node node, size_t k,
                              stow_view* out_view);
// Whether result |k| may be written over operand |operand|, by the op's row. Never where that is
// absent, has fewer bytes, or a dim of one of them is no number.
STOW_API stow_in_place stow_graph_in_place(const stow_graph* graph, stow_node node, size_t k,
                                           size_t operand);

// Getters of a value; |value| must be below stow_graph_value_count.
STOW_API const stow_type* stow_graph_type(const stow_graph* graph, stow_value value);
STOW_API stow_str stow_graph_value_name(const stow_graph* graph, stow_value value);  // empty: none
STOW_API stow_node stow_graph_producer(const stow_graph* graph, stow_value value);
STOW_API bool stow_graph_is_bounded(const stow_graph* graph, stow_value value);
// Whether its own op took a dim of it from stow_shape_data_dim, new or declared: here a dim that
// depends on data enters the graph. Still true where the dim is bound.
STOW_API bool stow_graph_is_data_dependent(const stow_graph* graph, stow_value value);
// Whether a dim of it is an expression of a symbol that stands for a data-dependent dim, of this
// value or of another one, however it got here: through types, or through known elements. A symbol
// stands for one where the first value that has it is data-dependent, or is bounded and declared to
// have it. False once these symbols are bound.
STOW_API bool stow_graph_has_data_dims(const stow_graph* graph, stow_value value);
// Whether all elements of |value| are known (see stow_shape_known), and element |i| of them, which
// must be exact: an upper bound does not count. stow_graph_known gives an expression or a number,
// and STOW_DIM_INVALID for negative numbers in data; ask stow_graph_known_int for those.
STOW_API bool stow_graph_is_known(const stow_graph* graph, stow_value value);
STOW_API stow_dim stow_graph_known(const stow_graph* graph, stow_value value, size_t i);
STOW_API bool stow_graph_known_int(const stow_graph* graph, stow_value value, size_t i,
                                   int64_t* out);
STOW_API bool stow_graph_known_float(const stow_graph* graph, stow_value value, size_t i,
                                     double* out);
// Input, param or constant.
STOW_API bool stow_graph_is_boundary(const stow_graph* graph, stow_value value);
// NULL where there is no data. |out_size| may be NULL.
STOW_API const void* stow_graph_data(const stow_graph* graph, stow_value value, size_t* out_size);
// STOW_VALUE_NONE where no value has that name. O(1).
STOW_API stow_value stow_graph_find(const stow_graph* graph, stow_str name);

// Regions. Region 0 is the graph's body; it has no owner.
STOW_API uint32_t stow_graph_region_count(const stow_graph* graph);
STOW_API stow_region stow_graph_node_region(const stow_graph* graph, stow_node node);
// Regions that |node| owns, in order; STOW_REGION_ID_NONE past the end.
STOW_API stow_region stow_graph_owned_region(const stow_graph* graph, stow_node node, size_t index);
typedef struct stow_region_info {
  size_t struct_size;  // sizeof(stow_region_info), set by the caller
  stow_node owner;     // STOW_NODE_NONE for region 0
  stow_region parent;  // STOW_REGION_ID_NONE for region 0
  stow_node first;     // first and last node, both inclusive; nested regions and their owners lie
  stow_node last;      // between. The last is the `yield`
  stow_node args;      // its `args` node, or STOW_NODE_NONE
} stow_region_info;
STOW_API stow_status stow_graph_describe_region(const stow_graph* graph, stow_region region,
                                                stow_region_info* out_info);

// ---------------------------------------------------------------------------------------------

// A new graph without what nobody needs: values of integers and bools whose elements are all known
// numbers become constants, and nodes that then reach no output are left out, as are unused params
// and constants. Inputs stay. Names, types, symbols, `with` clauses and regions are kept; data is
// borrowed from |graph|, which must outlive the new one.
STOW_API stow_status stow_graph_simplify(const stow_graph* graph, stow_allocator allocator,
                                         stow_diag* diag, stow_graph** out_graph);

// Checks the whole graph: at least one output, no open region, every type as its op infers it,
// nobody reads (or returns) a value, or another view of its bytes, after an op wrote into it
// (kv_append). Nothing writes into a param or constant, nor in a loop's body into bytes from
// outside. Views, and so writes, are known only where dims are numbers: verify again after binding.
// STOW_ERR_CONFLICT for wrong reads and writes.
STOW_API stow_status stow_graph_verify(const stow_graph* graph, stow_diag* diag);

// What the types of |node|'s results are while the graph runs, where some dims are only the largest
// possible before: |types| has the operands' types then, all dims numbers (NULL where one is
// absent), |data| their elements (NULL where they are not at hand; as they lie in tensors, of any
// alignment). Where only the op itself can tell a dim, it is the graph's, which is the largest. Not
// for nodes that own regions. STOW_ERR_TYPE where operands do not fit each other, or a dim would be
// larger than the graph has it. |out_types| has room for all results.
//
// Allocates nothing and leaves the graph alone: |memory|, of STOW_INFER_MEMORY bytes or more, is
// all that it writes to. STOW_ERR_OUT_OF_MEMORY where that is not enough.
#define STOW_INFER_MEMORY ((size_t)1 << 16)
STOW_API stow_status stow_graph_infer_actual(const stow_graph* graph, stow_node node,
                                             const stow_type* const* types, const void* const* data,
                                             void* memory, size_t memory_size, stow_diag* diag,
                                             stow_type* out_types);

// STOW_ERR_UNBOUND_DIM naming the first value whose dims are not all numbers, and all its free
// symbols.
STOW_API stow_status stow_graph_require_bound(const stow_graph* graph, stow_diag* diag);

// A 64-bit hash of all that a plan depends on: ops, operands, attributes, `with` clauses, types,
// names, regions and outputs; not of data. The same on every machine.
STOW_API uint64_t stow_graph_fingerprint(const stow_graph* graph);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_GRAPH_H_
