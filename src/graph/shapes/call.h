// One run of an op's shape or view function, for an existing node or one being described.
#ifndef STOWAGE_SRC_GRAPH_SHAPES_CALL_H_
#define STOWAGE_SRC_GRAPH_SHAPES_CALL_H_

#include "graph/dims/dims.h"
#include "graph/known.h"

// Known elements of the first operands, looked up on first use.
#define STOWI_GRAPH_CACHED_OPERANDS 4
typedef struct stowi_graph_known_cache {
  uint64_t asked;  // bit k: elements of operand k were read; the last bit: of any from there on
  bool has[STOWI_GRAPH_CACHED_OPERANDS];
  stowi_graph_known at[STOWI_GRAPH_CACHED_OPERANDS];
} stowi_graph_known_cache;

// The operands while a graph runs.
typedef struct stowi_graph_actual {
  const stow_type* const* types;  // per operand; NULL if missing
  const void* const* data;        // their elements; NULL if not available
} stowi_graph_actual;

// The operands of a trial, which shows what depends on upper bounds: see bounds.c.
typedef struct stowi_graph_trial {
  stow_type* types;  // per operand, with an unknown in place of each upper-bounded dim
} stowi_graph_trial;

struct stow_shape_call {
  const stow_graph* graph;
  stow_dims* dims;                   // where dims are made: the graph's, except for actual operands
  const stowi_graph_actual* actual;  // NULL: operands are as in the graph
  const stowi_graph_trial* trial;    // NULL: upper bounds count as dims and elements
  const uint32_t* types;             // number of an interned type per value
  stow_op op;
  const stow_op_desc* desc;
  const stow_value* operands;
  size_t operand_count;
  const uint32_t* attrs;  // numbers of interned attributes
  size_t attr_count;
  stow_region last_region;  // of those that the node owns; STOW_REGION_ID_NONE: it owns none
  // The declared types: a list, or else the types of the values from |made| on.
  const stow_type* declared;
  size_t declared_count;
  stow_value made;     // STOW_VALUE_NONE: the node has no results yet
  stow_type* results;  // NULL for a view function
  size_t result_count;
  stowi_graph_marks* marks;              // per result; NULL for a view function
  const stow_call* description;          // of a node that does not exist yet; otherwise NULL
  const stowi_graph_known_store* known;  // known elements of the operands, except their data
  stowi_graph_known_cache* cache;        // NULL: none
  // Per value, of a binding in progress; NULL: use the graph's values.
  const stowi_graph_marks* value_marks;
  bool keeps_marks;         // the results are in the graph, with the marks they have there
  bool reads_bound;         // the function has read an element that is a bound
  uint64_t asked;           // what the shape function has read, as in the cache
  int64_t* folded;          // for a fold function: elements of the results, one after the other,
  uint8_t* exactness;       // and whether each is exact
  size_t fold_result;       // the one written last,
  size_t fold_first;        // and where its elements begin
  stowi_graph_split split;  // of a range, where a question had no one answer
  stow_status status;
  char reason[320];
};

// For an existing node. |types| as above, and |known|: the graph's own, or those of a binding in
// progress. |results| and |marks| have room for one entry per result.
stow_shape_call stowi_graph_shape_of_node(const stow_graph* graph, const uint32_t* types,
                                          const stowi_graph_known_store* known, stow_node node,
                                          stow_type* results, stowi_graph_marks* marks);

// Gives the call an empty cache, valid while known elements do not change.
void stowi_graph_shape_use_cache(stow_shape_call* call, stowi_graph_known_cache* cache);

// Marks dims of result |k| as upper bounds, whatever is declared.
void stowi_graph_shape_mark_bounded(stow_shape_call* call, size_t k, stowi_graph_axes axes);

// The graph's type for operand |k|, which is not missing: the maximum of an actual one.
const stow_type* stowi_graph_shape_largest(const stow_shape_call* call, size_t k);

// The upper-bounded dims of operand |k|, or of what a region yields: those that are marked so, and
// data-dependent ones that are numbers. None in a trial, where they are unknowns.
stowi_graph_axes stowi_graph_shape_bounded_axes(const stow_shape_call* call, size_t k);
stowi_graph_axes stowi_graph_shape_bounded_yield(const stow_shape_call* call, size_t region,
                                                 size_t k);
// Whether operand |k| has any, in a trial too; whether any operand has, but not in a trial.
bool stowi_graph_shape_is_upper_bounded(const stow_shape_call* call, size_t k);
bool stowi_graph_shape_has_upper_bounded(const stow_shape_call* call);
// Element |i| of operand |k|, whose |bound| is known, in a trial.
stow_dim stowi_graph_trial_element(stow_shape_call* call, stow_dim bound,
                                   stowi_graph_exactness exactness);
// After the shape function of |call| has set the results: marks those dims as upper bounds that
// depend on upper-bounded dims or elements. Fails only if memory runs out.
stow_status stowi_graph_shape_mark_inherited(stow_shape_call* call);

// The number of values that the node carries between iterations; 0 if it is not a loop.
size_t stowi_graph_shape_carried_count(const stow_shape_call* call);
// The region's argument for carried value |i|, and those of its dims that are upper bounds in the
// initial value or in what is yielded for the next iteration. STOW_VALUE_NONE: there are none.
stow_value stowi_graph_shape_upper_bounded_arg(const stow_shape_call* call, size_t i,
                                               stowi_graph_axes* out_axes);
// Marks those dims of the arguments of |owner|, which need not be in the graph yet, as upper
// bounds, and infers everything again if one was not. A failure changes nothing.
stow_status stowi_graph_bind_args(stow_graph* graph, const stow_shape_call* owner,
                                  bool* out_changed, stow_diag* diag);

// Runs the shape function, if the op has one. Returns call->status.
stow_status stowi_graph_shape_run(stow_shape_call* call);
// Runs the shape function and checks the types that it sets; if types are declared for an op that
// infers, they must agree if |must_agree|. Fills call->results and call->marks.
stow_status stowi_graph_shape_infer(stow_shape_call* call, bool must_agree, stow_diag* diag);

// Fails with `op(operands): ` before the reason.
stow_status stowi_graph_shape_fail_as(const stow_shape_call* call, stow_status status,
                                      const char* reason, stow_diag* diag);

#endif  // STOWAGE_SRC_GRAPH_SHAPES_CALL_H_
