// Known values: elements of values that are known while shapes are inferred. Data of boundary
// values is read where it lies; what fold functions compute is kept in a stowi_known_store, of
// which a binding makes a second one.
#ifndef STOWAGE_SRC_GRAPH_KNOWN_H_
#define STOWAGE_SRC_GRAPH_KNOWN_H_

#include "graph/graph_internal.h"

// All that is known of a value; |bytes| and |elements| NULL where that is nothing. Borrowed until
// the graph or the store changes.
typedef struct stowi_known {
  stow_dtype dtype;
  size_t count;
  const unsigned char* bytes;  // data, not aligned
  const int64_t* elements;     // else these, as in the store,
  const uint8_t* sureness;     // and how sure each is
  bool is_whole;               // every element is known exactly
} stowi_known;

// |types| has the number of an interned type per value. O(log values).
stowi_known stowi_known_of(const stow_graph* graph, const stowi_known_store* store,
                           const uint32_t* types, stow_value value);
// Element |i|; STOW_DIM_INVALID where it is not known or no integer or bool.
stow_dim stowi_known_dim(const stowi_known* known, stow_dims* dims, size_t i);
// How sure element |i| is; STOWI_EXACT also where nothing is known.
stowi_sureness stowi_known_sureness(const stowi_known* known, size_t i);
// Element |i|; false where it is not known or of another dtype than floats.h has.
bool stowi_known_double(const stowi_known* known, size_t i, double* out);

// Element |i| of data of integers or bools; false where it needs more than 63 bits.
bool stowi_known_int(const stowi_known* known, size_t i, int64_t* out);

// Whether results of these types are few and small enough to be known, and the op can fold; gives
// the number of their elements.
bool stowi_known_can_fold(const stow_op_desc* desc, const stow_type* results, size_t result_count,
                          size_t* out_total);
// Runs the fold function of |call|, whose results have their types and are the values from |first|
// on, which come after all others of the store, and adds what it makes known. Fails only where the
// function does or memory runs out, and then adds nothing.
stow_status stowi_known_fold(stow_shape_call* call, stowi_known_store* store, stow_value first,
                             stow_diag* diag);

// Notes which operands have data that the node's types or what is known of its results, the values
// from |first| on, follow from. Short lists that could be folded count in any case: a binding may
// make known what they are combined with.
void stowi_known_note_reads(const stow_shape_call* call, stowi_known_store* store,
                            stow_value first);

void stowi_known_free(stowi_known_store* store, stow_allocator allocator);

#endif  // STOWAGE_SRC_GRAPH_KNOWN_H_
