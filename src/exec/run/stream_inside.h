// What preparing a `stream` node works on (stream.c, stream_rows.c, stream_places.c).
#ifndef STOWAGE_SRC_EXEC_RUN_STREAM_INSIDE_H_
#define STOWAGE_SRC_EXEC_RUN_STREAM_INSIDE_H_

#include "exec/run/prepare.h"
#include "exec/run/stream.h"
#include "graph/api.h"

// The tables of a variant.
// When a ring is in use, in thousandths of the node's work.
typedef struct stowi_exec_stream_use {
  uint32_t begin, end;
} stowi_exec_stream_use;

typedef struct stowi_exec_stream_tables {
  stowi_exec_stream_use* uses;  // by value, if it is a ring
  uint32_t* home_of;  // by value: in whose ring its rows are; itself, if in its own
  stowi_kernel_stream_value* values;
  stowi_kernel_block_value* homes;
  stowi_kernel_stream_step* steps;
  stowi_kernel_block_step* calls;
  stowi_kernel_block_body body;
} stowi_exec_stream_tables;

typedef struct stowi_exec_stream {
  stow_allocator allocator;
  stow_node node;
  uint64_t packed;
  uint32_t threads;
  int64_t rows;  // that each step makes at a time; 0: by variant
  const stow_graph* function;
  stow_graph* graph;        // for rows
  stow_prepared* prepared;  // of that
  uint32_t value_count;     // of the function
  uint32_t node_count;
  uint32_t step_count;
  uint32_t* step_of;          // by node of the function; NONE: an input
  stow_node* nodes;           // by step: in the function,
  stow_node* row_nodes;       // and in the graph for rows
  stowi_graph_row_map* maps;  // by step
  uint32_t* reads;            // by value: how many operands are it, by rows
  uint32_t* outputs;
  stowi_exec_stream_tables tables[STOWI_KERNEL_STREAM_VARIANTS];
  stowi_kernel_stream data[STOWI_KERNEL_STREAM_VARIANTS];
} stowi_exec_stream;

// ---------------------------------------------------------------------------------------------
// Rows (stream_rows.c)

// Whether every row of a step needs all of operand |k|.
bool stowi_exec_stream_reads_whole(const stowi_exec_stream* s, uint32_t step, size_t k);
// Rows of the results of a step.
int64_t stowi_exec_stream_rows(const stowi_exec_stream* s, uint32_t step);
// How many rows of its results a step makes at a time in a variant.
int64_t stowi_exec_stream_block(const stowi_exec_stream* s, uint32_t step, uint32_t variant);

// How many rows of operand 0 some rows of a step read, and the padding around them.
typedef struct stowi_exec_stream_window {
  int64_t rows, above, below;
} stowi_exec_stream_window;
// For |count| rows from |row| on.
stowi_exec_stream_window stowi_exec_stream_window_of(const stowi_exec_stream* s, uint32_t step,
                                                     int64_t row, int64_t count);
// The largest for a single row.
stowi_exec_stream_window stowi_exec_stream_most(const stowi_exec_stream* s, uint32_t step);

// ---------------------------------------------------------------------------------------------

// Finds how many blocks rings have, and places rings, copies and scratch, with the variants that
// kernels of the function have in |variant| of the node.
stow_status stowi_exec_stream_place(stowi_exec_stream* s, uint32_t variant, stow_diag* diag);

#endif  // STOWAGE_SRC_EXEC_RUN_STREAM_INSIDE_H_
