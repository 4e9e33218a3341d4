// Nodes that compute images row by row, and how many bytes a run of them needs if its rows stream:
// the order in which a `stream` node makes rows is followed, without kernels (docs/ops.md).
#ifndef STOWAGE_SRC_REWRITE_RINGS_H_
#define STOWAGE_SRC_REWRITE_RINGS_H_

#include "base/alloc.h"
#include "rewrite/facts.h"
#include "rewrite/streams.h"

#define STOWI_REWRITE_NO_STEP UINT32_MAX

// A node that is not a boundary value.
typedef struct stowi_rewrite_row_step {
  stow_node node;
  bool streams;             // it may be part of a `stream` node
  stowi_graph_row_map map;  // if it may; so is the rest
  int64_t rows;             // of its results
  uint64_t work;            // multiply-adds, or elements where there are none
  uint64_t extra;           // what is read again for each row, in the same unit
  uint64_t copies;          // bytes of rows that are copied to be read one after the other
  uint32_t after;       // 1 + the last step that makes an operand of which it reads all; 0: none
  uint32_t first_read;  // of its operands that are read by rows
  uint32_t read_count;
} stowi_rewrite_row_step;

// An operand that is read by rows.
typedef struct stowi_rewrite_row_read {
  stow_value value;
  uint32_t step;
  bool is_first;   // operand 0: by the map; others: the same row
  bool may_share;  // the result may be where it was, row by row
} stowi_rewrite_row_read;

typedef struct stowi_rewrite_row_value {
  uint32_t maker;  // step; STOWI_REWRITE_NO_STEP: it is a boundary value
  uint32_t last;   // step that reads it, or 0; the number of steps: it is an output
  uint64_t bytes;
  uint64_t row;  // bytes of one
  int64_t rows;
  uint32_t first_reader;  // in |readers|
  uint32_t reader_count;
} stowi_rewrite_row_value;

typedef struct stowi_rewrite_rings {
  stow_allocator allocator;
  const stow_graph* graph;
  uint32_t step_count;
  uint32_t value_count;
  uint32_t read_count;
  stowi_rewrite_row_step* steps;    // in the order of nodes
  stowi_rewrite_row_value* values;  // by value
  stowi_rewrite_row_read* reads;    // by step
  uint32_t* readers;                // reads, by value, in the order of steps
  uint64_t budget;                  // rows that may still be followed
  // While rows are followed.
  uint32_t first, end;  // the steps that stream
  int64_t* next;        // by step: the row that it makes next
  uint32_t* stack;
  uint32_t depth;
  stow_value* homes;     // by value: in whose ring its rows are
  uint64_t* capacities;  // by value: rows of its ring
  bool* is_full;         // by value: its ring has a row that is still needed
  STOWI_VEC(uint32_t) events;
  STOWI_VEC(stow_value) results;  // that are read after |end|
} stowi_rewrite_rings;

// |facts| are of |graph|, whose dims are numbers. O(size of the graph). Freed also after a failure.
stow_status stowi_rewrite_rings_init(stowi_rewrite_rings* rows, const stow_graph* graph,
                                     const stowi_rewrite_facts* facts, stow_allocator allocator,
                                     stow_diag* diag);
void stowi_rewrite_rings_free(stowi_rewrite_rings* rows);

// Whether the steps [first, end) may become one `stream` node. O(steps).
bool stowi_rewrite_rings_can_stream(const stowi_rewrite_rings* rows, uint32_t first, uint32_t end);
// Finds |results|: values of these steps that others need. O(values of the steps).
stow_status stowi_rewrite_rings_find_results(stowi_rewrite_rings* rows, uint32_t first,
                                             uint32_t end, stow_diag* diag);
// The bytes that their rings and copies need at most, if they do. It need not be exact if it is not
// below |limit|; UINT64_MAX: the budget is used up. O(rows of all steps).
stow_status stowi_rewrite_rings_need(stowi_rewrite_rings* rows, uint32_t first, uint32_t end,
                                     uint64_t limit, stow_diag* diag, uint64_t* out_bytes);

#endif  // STOWAGE_SRC_REWRITE_RINGS_H_
