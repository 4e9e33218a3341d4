// Known values: elements of values that are known while shapes are inferred. Data of boundary
// values is read where it is; what fold functions compute is in a stowi_graph_known_store, of which
// a binding makes a second one.
#ifndef STOWAGE_SRC_GRAPH_KNOWN_H_
#define STOWAGE_SRC_GRAPH_KNOWN_H_

#include "graph/graph_internal.h"

// Everything known of a value; |bytes| and |elements| are NULL if that is nothing. Borrowed until
// the graph or the store changes.
typedef struct stowi_graph_known {
  stow_dtype dtype;
  size_t count;
  const unsigned char* bytes;  // data, unaligned
  const int64_t* elements;     // otherwise these, as in the store,
  const uint8_t* exactness;    // and whether each is exact
  bool is_whole;               // every element is known exactly
} stowi_graph_known;

// |types| has the number of an interned type per value. O(log values).
stowi_graph_known stowi_graph_known_of(const stow_graph* graph,
                                       const stowi_graph_known_store* store, const uint32_t* types,
                                       stow_value value);
// Element |i|; STOW_DIM_INVALID if it is unknown or not an integer or bool.
stow_dim stowi_graph_known_dim(const stowi_graph_known* known, stow_dims* dims, size_t i);
// Whether element |i| is exact or a bound; STOWI_GRAPH_EXACT also if it is unknown.
stowi_graph_exactness stowi_graph_known_exactness(const stowi_graph_known* known, size_t i);
// Element |i|; false if it is unknown or not of a dtype in floats.h.
bool stowi_graph_known_double(const stowi_graph_known* known, size_t i, double* out);

// Element |i| of data of integers or bools; false if it needs more than 63 bits.
bool stowi_graph_known_int(const stowi_graph_known* known, size_t i, int64_t* out);

// Whether the op can fold and results of these types are few and small enough; returns the number
// of their elements.
bool stowi_graph_known_can_fold(const stow_op_desc* desc, const stow_type* results,
                                size_t result_count, size_t* out_total);
// Runs the fold function of |call|, whose results have their types and are the values from |first|
// on, which come after all others in the store, and adds what becomes known. Fails only if the
// function fails or memory runs out, and then adds nothing.
stow_status stowi_graph_known_fold(stow_shape_call* call, stowi_graph_known_store* store,
                                   stow_value first, stow_diag* diag);

// Records which operands have data that the node's types, or known elements of its results (the
// values from |first| on), depend on. Short lists that could be folded always count: a binding may
// make known what they are combined with.
void stowi_graph_known_note_reads(const stow_shape_call* call, stowi_graph_known_store* store,
                                  stow_value first);

void stowi_graph_known_free(stowi_graph_known_store* store, stow_allocator allocator);

#endif  // STOWAGE_SRC_GRAPH_KNOWN_H_
