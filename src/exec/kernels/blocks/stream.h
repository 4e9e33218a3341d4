// What a `stream` node is run with, as plain data (stow_kernel.user): the kernels of its function,
// each of which makes a block of rows of its results at a time, and rings that hold the blocks that
// others still need. Made while preparing; exported programs have it as constants.
//
// To make a block of a result, what is missing of the rows that it needs is made first. So a row is
// made as late as possible, and in an order that follows from these tables alone.
#ifndef STOWAGE_SRC_EXEC_KERNELS_BLOCKS_STREAM_H_
#define STOWAGE_SRC_EXEC_KERNELS_BLOCKS_STREAM_H_

#include "exec/kernels/blocks/blocks.h"

// From many rows at a time to one.
#define STOWI_KERNEL_STREAM_VARIANTS 6

// How rows of a value lie: |block| of them together, or those that are left, as a dense tensor,
// [channels, rows, columns]. In a ring block i is at place i % capacity; what is not in a ring is a
// single block.
typedef struct stowi_kernel_stream_value {
  uint32_t maker;  // the step that makes it; UINT32_MAX: it is an operand of the node
  uint64_t rows;   // of the whole tensor; 0: it is an operand that is never read by rows
  uint64_t block;
  uint64_t capacity;  // blocks
  uint64_t channels;
  uint64_t piece;  // bytes of a row of one channel
} stowi_kernel_stream_value;

// How a step makes a row, r. Of operand 0 it reads the rows (r * stride + first) / divide to (r *
// stride + last) / divide that there are, of others row r, and all of those that bit k of |whole|
// has. It makes as many rows at a time as its results have in a block.
typedef struct stowi_kernel_stream_step {
  uint64_t rows;  // of its results
  uint64_t whole;
  int64_t stride, first, last, divide;
  // Which attribute has the pads, and which of them are those of rows; UINT32_MAX: none. Rows that
  // are missing are padding, but below the last row at most |most_below|.
  uint32_t pads, pad_count, top, bottom;
  int64_t most_below;
  // Rows that are not all of a block are copied: |chunk| channels at a time, each with its part of
  // weights and results, or all if it is 0.
  uint64_t copies_at, copy_bytes;
  uint64_t chunk;
  uint32_t group;  // which attribute has the number of groups of channels; UINT32_MAX: none
} stowi_kernel_stream_step;

// A variant; the node has an array of all.
typedef struct stowi_kernel_stream {
  // Values lie in what the node has, are operands, or are built in a result, which is one block
  // then (stowi_kernel_block_home: SCRATCH, SCATTER, OPERAND and RESULT).
  const stowi_kernel_block_body* body;
  const stowi_kernel_stream_value* values;
  const stowi_kernel_stream_step* steps;
  const uint32_t* outputs;  // values, by result
  uint32_t output_count;
  uint32_t most_attrs;  // of a step
} stowi_kernel_stream;

// Where a run stands.
typedef struct stowi_kernel_stream_state {
  uint64_t* next;   // by step: the first row of the block that it makes next
  uint32_t* stack;  // steps of which a row is wanted, each for the one before it
  uint32_t depth;
} stowi_kernel_stream_state;

// Rows; none if first is above last.
typedef struct stowi_kernel_stream_range {
  int64_t first, last;
} stowi_kernel_stream_range;
// What a step needs of operand |k|, which has |rows|, for |count| rows from |row| on.
stowi_kernel_stream_range stowi_kernel_stream_range_of(const stowi_kernel_stream_step* step,
                                                       uint32_t k, uint64_t rows, uint64_t row,
                                                       uint64_t count);
// Rows in the block of |value| that begins with row |first|.
uint64_t stowi_kernel_stream_count(const stowi_kernel_stream_value* value, uint64_t first);

// |state| has room for all steps in both lists. Then, again and again, the step that is to make its
// next block, whose rows the caller counts; UINT32_MAX at the end. O(operands) for each block.
void stowi_kernel_stream_begin(const stowi_kernel_stream* stream, stowi_kernel_stream_state* state);
uint32_t stowi_kernel_stream_next(const stowi_kernel_stream* stream,
                                  stowi_kernel_stream_state* state);

#endif  // STOWAGE_SRC_EXEC_KERNELS_BLOCKS_STREAM_H_
