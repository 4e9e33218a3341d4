// What preparing a `stream` node works on: the function as a graph for rows (stream.c), which rows
// steps read and make at a time (stream_rows.c), the order of that (stream_order.c), where rows lie
// (stream_places.c), and how many are made at a time in a variant (stream_blocks.c).
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
  uint32_t* home_of;            // by value: in whose ring its rows are; itself, if in its own
  stowi_kernel_stream_value* values;
  stowi_kernel_block_value* homes;
  stowi_kernel_stream_step* steps;
  stowi_kernel_block_step* calls;
  stowi_kernel_block_body body;
} stowi_exec_stream_tables;

// What is known when the order of blocks has been followed to the end.
typedef struct stowi_exec_stream_order {
  stowi_kernel_stream_state state;
  uint32_t* readers;  // steps that read rows, of one value after the other
  size_t* first;      // by value: of its readers; and the end
  bool* is_full;      // by ring: it has a row that is still needed
  // For each value, then each step: by value, whether the ring, or what the step has besides, is in
  // use when the other ring is.
  uint8_t* meets;
  uint32_t moment;  // blocks that were made
} stowi_exec_stream_order;

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
  uint32_t* levels;           // by step: of how many rows it makes at a time, now
  uint32_t* reads;            // by value: how many operands are it, by rows
  size_t read_count;
  uint32_t* outputs;
  stowi_exec_stream_order order;  // of the tables that were made last
  stowi_exec_stream_tables tables[STOWI_KERNEL_STREAM_VARIANTS];
  stowi_kernel_stream data[STOWI_KERNEL_STREAM_VARIANTS];
} stowi_exec_stream;

// ---------------------------------------------------------------------------------------------
// Rows (stream_rows.c)

// Whether a step reads operand |k|, and not all of it for every row.
bool stowi_exec_stream_reads_rows(const stowi_exec_stream* s, uint32_t step, size_t k);
// Rows of the results of a step.
int64_t stowi_exec_stream_rows(const stowi_exec_stream* s, uint32_t step);
// How many of them it makes at a time, by level: from many to one.
#define STOWI_EXEC_STREAM_LEVELS 6
int64_t stowi_exec_stream_block(const stowi_exec_stream* s, uint32_t step, uint32_t level);

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
// Tables

// Fills the tables of a variant, but for how many blocks rings have, and all places, with as many
// rows in a block as |s->levels| say (stream.c).
void stowi_exec_stream_list(stowi_exec_stream* s, uint32_t variant);

// Finds which rings are shared, how many blocks each has, and what is in use together, for tables
// that are filled (stream_order.c).
stow_status stowi_exec_stream_order_init(stowi_exec_stream* s, stow_diag* diag);
void stowi_exec_stream_order_free(stowi_exec_stream* s);
void stowi_exec_stream_follow(stowi_exec_stream* s, uint32_t variant);
bool stowi_exec_stream_is_ring(const stowi_exec_stream_tables* tables, stow_value value);

// Places rings, copies and scratch after that. Kernels of the function get their fastest variants
// with which no more than |budget| bytes are needed, or the last ones (stream_places.c).
stow_status stowi_exec_stream_place(stowi_exec_stream* s, uint32_t variant, uint64_t budget,
                                    stow_diag* diag);
uint64_t stowi_exec_stream_ring_bytes(const stowi_exec_stream_tables* tables, stow_value ring);

// Makes the tables of all variants (stream_blocks.c).
stow_status stowi_exec_stream_choose(stowi_exec_stream* s, stow_diag* diag);

#endif  // STOWAGE_SRC_EXEC_RUN_STREAM_INSIDE_H_
