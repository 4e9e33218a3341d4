// One run of an op's shape or view function, over a node that exists or one that is being
// described.
#ifndef STOWAGE_SRC_GRAPH_SHAPES_CALL_H_
#define STOWAGE_SRC_GRAPH_SHAPES_CALL_H_

#include "graph/known.h"

// What a shape function says of a result beside its type.
#define STOWI_MARK_DATA_DEPENDENT 1
#define STOWI_MARK_BOUNDED 2  // the dims are the largest possible
#define STOWI_MARK_LIMITED 4  // bounded, and declared dims win where they are not larger

// What is known of the first operands, looked up when it is asked for first.
#define STOWI_CACHED_OPERANDS 4
typedef struct stowi_known_cache {
  uint64_t asked;  // bit k: for elements of operand k; the last bit: of any from there on
  bool has[STOWI_CACHED_OPERANDS];
  stowi_known at[STOWI_CACHED_OPERANDS];
} stowi_known_cache;

// What operands are while a graph runs.
typedef struct stowi_actual {
  const stow_type* const* types;  // per operand; NULL where it is absent
  const void* const* data;        // their elements; NULL where they are not at hand
} stowi_actual;

struct stow_shape_call {
  const stow_graph* graph;
  stow_dims* dims;             // where dims are made: the graph's, but for actual operands
  const stowi_actual* actual;  // NULL: operands are as the graph knows them
  const uint32_t* types;       // number of an interned type per value
  stow_op op;
  const stow_op_desc* desc;
  const stow_value* operands;
  size_t operand_count;
  const uint32_t* attrs;  // numbers of interned attributes
  size_t attr_count;
  stow_region last_region;  // of those that the node owns; STOW_REGION_ID_NONE: it owns none
  // What is declared: a list, or else the types of the values from |made| on.
  const stow_type* declared;
  size_t declared_count;
  stow_value made;     // STOW_VALUE_NONE: the node has no results yet
  stow_type* results;  // NULL for a view function
  size_t result_count;
  uint8_t* marks;                  // per result; NULL for a view function
  const stow_call* description;    // of a node that does not exist yet; else NULL
  const stowi_known_store* known;  // what is known of the operands, but for their data
  stowi_known_cache* cache;        // NULL: none
  const uint8_t*
      value_marks;     // per value, of a binding in the making; NULL: the graph's values say
  bool reads_bound;    // the function has asked for an element that is a bound
  uint64_t asked;      // what the shape function has asked for, as in the cache
  int64_t* folded;     // for a fold function: elements of the results, one after the other,
  uint8_t* sureness;   // and how sure each is
  size_t fold_result;  // the one written last,
  size_t fold_first;   // and where its elements begin
  stow_status status;
  char reason[320];
};

// Over an existing node. |types| as above, and |known|: the graph's own, or those of a binding in
// the making. |results| and |marks| have room for one entry per result.
stow_shape_call stowi_shape_of_node(const stow_graph* graph, const uint32_t* types,
                                    const stowi_known_store* known, stow_node node,
                                    stow_type* results, uint8_t* marks);

// Gives the call an empty cache, for the time in which what is known stays as it is.
void stowi_shape_use_cache(stow_shape_call* call, stowi_known_cache* cache);

// Says that result |k|'s dims are the largest possible, whatever is declared.
void stowi_shape_mark_bounded(stow_shape_call* call, size_t k);

// The type that the graph has for operand |k|, which is there: what an actual one is at most.
const stow_type* stowi_shape_largest(const stow_shape_call* call, size_t k);

// Whether the dims of operand |k|, or of what a region yields, are the largest possible: it is
// bounded, or its dims depend on data and are given as numbers.
bool stowi_shape_is_loose(const stow_shape_call* call, size_t k);
bool stowi_shape_is_loose_yield(const stow_shape_call* call, size_t region, size_t k);
// Whether results that have dims inherit that they are the largest possible from an operand. That
// of `shape` has as many elements as the operand has dims, whatever those are.
bool stowi_shape_inherits_bounded(const stow_shape_call* call);

// How many values the node carries from round to round; 0 where it is no loop.
size_t stowi_shape_carried_count(const stow_shape_call* call);
// The region's argument for carried value |i| where it has dims, and those of the initial value or
// of what is yielded for the next round are the largest possible; else STOW_VALUE_NONE.
stow_value stowi_shape_loose_arg(const stow_shape_call* call, size_t i);
// Marks those arguments of |owner|, which need not be in the graph yet, as bounded, and infers
// everything again if one was not. A failure changes nothing.
stow_status stowi_bind_args(stow_graph* graph, const stow_shape_call* owner, bool* out_changed,
                            stow_diag* diag);

// Runs the shape function and checks the types that it gives; where types are declared for an op
// that infers, they must agree if |must_agree|. Fills call->results and call->marks.
stow_status stowi_shape_infer(stow_shape_call* call, bool must_agree, stow_diag* diag);

// Fails with `op(operands): ` before the reason.
stow_status stowi_shape_fail_as(const stow_shape_call* call, stow_status status, const char* reason,
                                stow_diag* diag);

#endif  // STOWAGE_SRC_GRAPH_SHAPES_CALL_H_
