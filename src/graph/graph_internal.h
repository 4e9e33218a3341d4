// Internals of a graph, shared by the files that build, read, bind and verify graphs.
#ifndef STOWAGE_SRC_GRAPH_GRAPH_INTERNAL_H_
#define STOWAGE_SRC_GRAPH_GRAPH_INTERNAL_H_

#include <stowage/graph.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/pool.h"
#include "graph/exactness.h"
#include "graph/intern.h"

// Ids stay below this, so that the maximum can mean "none".
#define STOWI_GRAPH_ID_LIMIT UINT32_MAX
#define STOWI_GRAPH_NAME_NONE ((uint32_t)0x7fffffff)

// A set of a value's dims: bit i is dim i.
typedef uint16_t stowi_graph_axes;
#define STOWI_GRAPH_ALL_AXES ((stowi_graph_axes)0xffff)
_Static_assert(STOW_MAX_RANK <= 16, "a set of dims has a bit for each");

// What a shape function reports about a result besides its type.
typedef struct stowi_graph_marks {
  stowi_graph_axes data;     // dims that depend on data
  stowi_graph_axes bounded;  // dims that are upper bounds
  stowi_graph_axes limited;  // of these, those for which a declared dim wins if it is not larger
} stowi_graph_marks;

// 28 bytes. Operands, results and attributes end where the next node's begin.
typedef struct stowi_graph_node {
  stow_op op;
  uint32_t first_operand;
  stow_value first_result;
  uint32_t first_attr;  // attributes, then the `with` clause
  uint32_t first_with;
  stow_region region;
  uint32_t line;
} stowi_graph_node;

typedef struct stowi_graph_value {
  stow_node producer;
  uint32_t name : 31;  // into the names, or STOWI_GRAPH_NAME_NONE
  uint32_t has_data : 1;
  stowi_graph_axes bounded;         // dims that are upper bounds
  stowi_graph_axes data_dependent;  // dims from stow_shape_data_dim, new or declared
} stowi_graph_value;

typedef struct stowi_graph_region {
  stow_node owner;
  stow_region parent;
  stow_region previous;  // the previous region of the same owner
  stow_node first;       // STOW_NODE_NONE: no node yet
  stow_node last;        // STOW_NODE_NONE: still open
} stowi_graph_region;

// An open region, and the regions closed in it that have no owner yet.
typedef struct stowi_graph_frame {
  stow_region region;
  stow_region last_closed;
  uint32_t closed_count;
} stowi_graph_frame;

// Data of a boundary value; sorted by value.
typedef struct stowi_graph_data {
  stow_value value;
  bool is_owned;  // its own block, to be freed; otherwise borrowed or in the pool
  const void* bytes;
  size_t size;
} stowi_graph_data;

// Elements of a value computed by its producer's fold function; sorted by value.
typedef struct stowi_graph_known_entry {
  stow_value value;
  uint32_t count;
  uint32_t known_count;  // number of exact elements
  size_t first;
} stowi_graph_known_entry;

// Zero-initialise. Integers and bools are stored as dims, floats as the bits of doubles.
// STOWI_GRAPH_UNKNOWN, which is not a dim and among floats equals only -0.0, marks unknown
// elements.
#define STOWI_GRAPH_UNKNOWN INT64_MIN
typedef struct stowi_graph_known_store {
  STOWI_VEC(stowi_graph_known_entry) entries;
  STOWI_VEC(int64_t) elements;
  STOWI_VEC(uint8_t) exactness;  // of each element: a stowi_graph_exactness
  STOWI_VEC(bool) is_read;  // for each of the graph's data: whether types or elements depend on it
} stowi_graph_known_store;

// Name of a result of the node being described.
typedef struct stowi_graph_result_name {
  size_t result;
  stow_str name;
} stowi_graph_result_name;

// Dims of a result that the caller marks as upper bounds.
typedef struct stowi_graph_bounded_dims {
  size_t result;
  uint32_t axis;  // STOWI_GRAPH_EVERY_AXIS: all of them
} stowi_graph_bounded_dims;
#define STOWI_GRAPH_EVERY_AXIS UINT32_MAX

struct stow_call {
  stow_graph* graph;
  bool is_open;
  stow_op op;
  const stow_op_desc* desc;  // NULL if the op is unknown
  uint32_t line;
  stow_diag error;  // the first one since begin
  STOWI_VEC(stow_value) operands;
  STOWI_VEC(uint32_t) attrs;  // numbers of interned attributes
  STOWI_VEC(uint32_t) withs;
  STOWI_VEC(stow_type) declared;
  STOWI_VEC(stow_type) results;
  STOWI_VEC(stowi_graph_marks) marks;  // per result
  STOWI_VEC(stowi_graph_result_name) names;
  STOWI_VEC(stowi_graph_bounded_dims) bounded;
  size_t result_count;  // SIZE_MAX: not given
  uint64_t asked;       // elements of operands read: see shapes/call.h
  bool has_data;
  stowi_graph_data data;  // all but its value
};

struct stow_graph {
  stow_allocator allocator;
  stow_str name;
  const stow_ops* ops;
  stow_dims* dims;
  stowi_pool pool;
  stowi_graph_type_table types;
  stowi_graph_attr_table attrs;
  STOWI_VEC(stowi_graph_node) nodes;
  STOWI_VEC(stow_value) operands;
  STOWI_VEC(uint32_t) node_attrs;  // numbers of interned attributes
  STOWI_VEC(stowi_graph_value) values;
  STOWI_VEC(uint32_t) value_types;  // one number of an interned type per value
  STOWI_VEC(stow_str) names;
  stowi_index by_name;  // to values; entries at values.count and above are left from failed calls
  STOWI_VEC(stowi_graph_data) data;
  stowi_graph_known_store known;
  STOWI_VEC(stow_value) outputs;
  STOWI_VEC(stowi_graph_region) regions;
  stowi_graph_frame frames[STOW_MAX_REGION_DEPTH + 1];
  uint32_t depth;                    // frames[depth] is the innermost open region
  STOWI_VEC(stow_graph*) functions;  // owned
  const int64_t* point;              // of a twin that is bound: the numbers of its symbols
  stow_call call;
};

static inline const stow_type* stowi_graph_type_of(const stow_graph* graph, const uint32_t* types,
                                                   stow_value value) {
  return graph->types.list.data[types[value]];
}

// The first |rank| dims.
static inline stowi_graph_axes stowi_graph_axes_below(uint32_t rank) {
  return (stowi_graph_axes)((UINT32_C(1) << rank) - 1);
}

static inline stowi_graph_frame* stowi_graph_frame_of(stow_graph* graph) {
  return &graph->frames[graph->depth];
}

static inline bool stowi_graph_is_boundary_op(stow_op op) {
  return op == STOW_OP_INPUT || op == STOW_OP_PARAM || op == STOW_OP_CONSTANT;
}

// Whether values made by the op must not be written to.
static inline bool stowi_graph_is_fixed_op(stow_op op) {
  return op == STOW_OP_PARAM || op == STOW_OP_CONSTANT;
}

// The attribute |name| among |count| interned ones; NULL if there is none.
const stow_attr* stowi_graph_find_attr(const stow_graph* graph, const uint32_t* ids, size_t count,
                                       stow_str name);
// The schema's entry; NULL if there is none. |out_required| may be NULL.
const stow_attr* stowi_graph_find_schema(const stow_ops* ops, stow_op op, stow_str name,
                                         bool* out_required);

// call.c: begins a call for any op, also `yield`.
stow_call* stowi_graph_call_begin(stow_graph* graph, stow_op op);
// Discards the open call and what it has collected.
void stowi_graph_call_drop(stow_call* call);
// Frees the call's own storage.
void stowi_graph_call_free(stow_call* call);
// Keeps the first error, prefixed with the op's name.
void stowi_graph_call_fail(stow_call* call, stow_status status, const char* format, ...)
    STOW_PRINTF_LIKE(3, 4);
bool stowi_graph_call_is_well(const stow_call* call);

// Elements of data that can be written as a list.
#define STOWI_GRAPH_MAX_INLINE 1024
// data.c: checks the call's data against the result's type, and converts inline data to bytes.
void stowi_graph_call_take_data(stow_call* call, const stow_type* type);
// The index of |value|'s data in graph->data; their count if it has none.
size_t stowi_graph_data_index(const stow_graph* graph, stow_value value);
// Whether |bytes|, the size of a source, matches |type|; an unbound type matches any size.
bool stowi_graph_source_fits(int64_t bytes, const stow_type* type);

#endif  // STOWAGE_SRC_GRAPH_GRAPH_INTERNAL_H_
