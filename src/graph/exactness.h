// What is known of an element: its value or an upper bound.
#ifndef STOWAGE_SRC_GRAPH_EXACTNESS_H_
#define STOWAGE_SRC_GRAPH_EXACTNESS_H_

// Ordered: what is computed from two elements gets the larger one.
typedef enum stowi_graph_exactness {
  STOWI_GRAPH_EXACT,
  STOWI_GRAPH_UPPER_BOUND,         // upper bound; the element is not negative
  STOWI_GRAPH_UPPER_BOUND_SIGNED,  // upper bound; the element may be negative
  // Of floats: exactly the dim that is stored in place of a number. All values that the dim can
  // have are exact in the dtype.
  STOWI_GRAPH_FLOAT_DIM
} stowi_graph_exactness;

#endif  // STOWAGE_SRC_GRAPH_EXACTNESS_H_
