// Internals of the views table, and the carried values of loops, which lifetimes need too.
#ifndef STOWAGE_SRC_ANALYSIS_VIEWS_H_
#define STOWAGE_SRC_ANALYSIS_VIEWS_H_

#include "analysis/api.h"
#include "analysis/layout.h"
#include "base/bits.h"

typedef struct stowi_analysis_readers stowi_analysis_readers;  // by_rows.h

// Of a value that is pitched; rows is 0 or 1 where it is dense.
typedef struct stowi_analysis_rows {
  uint64_t rows, pitch;
} stowi_analysis_rows;

struct stowi_analysis_views {
  stow_allocator allocator;
  uint32_t value_count;
  stow_io_policy io;   // default from the options
  bool inputs;         // from the options: inputs have bytes in the arena
  stow_value* root;    // by value
  uint64_t* offset;    // by value: offset in the root
  uint64_t* bytes;     // by value
  uint8_t* alignment;  // by value: log2 + 1, 0: none; NULL if effects ask for no alignment
  stowi_bits noops;    // of nodes
  stowi_bits laid;     // values that were moved into another root; has no words until the first
  // Of values that are pitched. NULL or 0 if none may be.
  uint64_t least_row;         // bytes
  stowi_analysis_rows* rows;  // by value
  uint64_t* node_rows;        // by node: the rows that it is run for, one by one; 0: it is not
  stowi_analysis_readers* readers;
};

// A loop and the values that it carries between iterations.
typedef struct stowi_analysis_loop {
  stow_node owner;
  stow_region body;
  stow_node args;  // STOW_NODE_NONE if there is none
  stow_node yield;
  size_t count;  // of carried values; 0 without `args`
  stow_carry carry;
} stowi_analysis_loop;

// False if |owner| is not a loop.
bool stowi_analysis_loop_of(const stow_graph* graph, stow_node owner,
                            stowi_analysis_loop* out_loop);
// The i-th carried value as it enters the loop (may be STOW_VALUE_NONE), in the body, and as it
// leaves.
stow_value stowi_analysis_loop_initial(const stow_graph* graph, const stowi_analysis_loop* loop,
                                       size_t i);
stow_value stowi_analysis_loop_argument(const stow_graph* graph, const stowi_analysis_loop* loop,
                                        size_t i);
stow_value stowi_analysis_loop_result(const stow_graph* graph, const stowi_analysis_loop* loop,
                                      size_t i);
// Whether operand |k| of the owner is an initial value.
bool stowi_analysis_loop_is_initial(const stowi_analysis_loop* loop, size_t k);

// Whether |value| was moved into another root, which makes it a view that its node writes.
static inline bool stowi_analysis_views_is_in_place(const stowi_analysis_views* views,
                                                    stow_value value) {
  return views->laid.words != NULL && stowi_bits_has(&views->laid, value);
}

// Where |value| is in its root.
static inline stowi_analysis_layout stowi_analysis_views_layout(const stowi_analysis_views* views,
                                                                stow_value value) {
  bool is_pitched = views->rows != NULL && views->rows[value].rows > 1;
  return (stowi_analysis_layout){views->offset[value], is_pitched ? views->rows[value].rows : 1,
                                 is_pitched ? views->rows[value].pitch : 0};
}

static inline void stowi_analysis_views_set(stowi_analysis_views* views, stow_value value,
                                            stow_value root, stowi_analysis_layout layout) {
  views->root[value] = root;
  views->offset[value] = layout.offset;
  if (views->rows != NULL) {
    views->rows[value] = (stowi_analysis_rows){layout.rows, layout.pitch};
  }
}

// The bytes of its root from |value|'s first to its last.
static inline uint64_t stowi_analysis_views_span(const stowi_analysis_views* views,
                                                 stow_value value) {
  stowi_analysis_layout layout = stowi_analysis_views_layout(views, value);
  return stowi_analysis_layout_span(layout.rows, layout.pitch, views->bytes[value]);
}

// row_views.c: makes parts of rows views, if their rows have |least_row| bytes at least.
stow_status stowi_analysis_add_row_views(stowi_analysis_views* views, const stow_graph* graph,
                                         const stow_effects* effects, uint64_t least_row,
                                         stow_diag* diag);

// How stowi_analysis_views.alignment encodes an alignment, a power of two or 0.
uint8_t stowi_analysis_views_alignment_code(uint64_t alignment);

// Fails if the views were made for another graph.
stow_status stowi_analysis_views_check_graph(const stowi_analysis_views* views,
                                             const stow_graph* graph, stow_diag* diag);

#endif  // STOWAGE_SRC_ANALYSIS_VIEWS_H_
