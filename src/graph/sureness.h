// How much is known of an element of a value.
#ifndef STOWAGE_SRC_GRAPH_SURENESS_H_
#define STOWAGE_SRC_GRAPH_SURENESS_H_

// In this order: the larger one holds for what is computed from both.
typedef enum stowi_sureness {
  STOWI_EXACT,
  STOWI_AT_MOST,        // it is that, or less, and 0 or more
  STOWI_AT_MOST_SIGNED  // it is that, or less
} stowi_sureness;

#endif  // STOWAGE_SRC_GRAPH_SURENESS_H_
