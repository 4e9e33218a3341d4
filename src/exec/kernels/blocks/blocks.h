// What a `blocks` node is run with, as plain data (stow_kernel.user): its function for blocks of a
// certain number of rows as a list of kernels, each with the values that it reads and makes, and
// how operands and results are cut into blocks. Made while preparing; exported programs have it as
// constants.
#ifndef STOWAGE_SRC_EXEC_KERNELS_BLOCKS_BLOCKS_H_
#define STOWAGE_SRC_EXEC_KERNELS_BLOCKS_BLOCKS_H_

#include <stowage/kernel.h>

// Where a value of a block lies.
typedef enum stowi_kernel_block_home {
  STOWI_KERNEL_BLOCK_SCRATCH,  // |at| bytes into what the block has
  STOWI_KERNEL_BLOCK_OPERAND,  // |at| bytes into the block's part of operand |index|
  STOWI_KERNEL_BLOCK_RESULT,   // the same of a result
  STOWI_KERNEL_BLOCK_GATHER,   // as SCRATCH; the pieces of operand |index| are copied there first
  STOWI_KERNEL_BLOCK_SCATTER   // as SCRATCH; copied to the pieces of result |index| at the end
} stowi_kernel_block_home;

typedef struct stowi_kernel_block_value {
  stow_tensor tensor;  // without data
  stowi_kernel_block_home home;
  uint32_t index;
  uint64_t at;
} stowi_kernel_block_value;

typedef struct stowi_kernel_block_step {
  const stow_kernel* kernel;
  const uint32_t* operands;  // values; UINT32_MAX: absent
  const stow_attr* attrs;
  const uint16_t* attr_ids;
  uint32_t op;
  uint32_t operand_count;
  uint32_t first_result;
  uint32_t result_count;
  uint32_t attr_count;
  uint32_t variant;
  uint64_t packed;      // operands that are
  uint64_t scratch_at;  // in what the block has
  uint64_t scratch_size;
} stowi_kernel_block_step;

// The function for blocks of |rows| rows.
typedef struct stowi_kernel_block_body {
  uint64_t rows;
  uint64_t bytes;  // that a block has for values and scratch
  const stowi_kernel_block_value* values;
  const stowi_kernel_block_step* steps;
  uint32_t value_count;
  uint32_t step_count;
  uint32_t most_operands;  // of a step
  uint32_t most_results;
} stowi_kernel_block_body;

// At row r of group g a block's part begins (g / divide % slices) * slice + r * row bytes into the
// operand or result, and has |pieces| pieces, each |pitch| bytes after the one before.
typedef struct stowi_kernel_block_cut {
  uint64_t row;    // bytes; 0: all rows of a group have the same
  uint64_t slice;  // bytes
  uint64_t pieces;
  uint64_t pitch;  // bytes
  uint64_t slices;
  uint64_t divide;
} stowi_kernel_block_cut;

// Blocks of one size, and the last one of each group, if it has fewer rows.
typedef struct stowi_kernel_block_size {
  const stowi_kernel_block_body* body;
  const stowi_kernel_block_body* tail;  // NULL: there is none
} stowi_kernel_block_size;

typedef struct stowi_kernel_blocks {
  uint64_t groups;
  uint64_t rows;  // of a group
  const stowi_kernel_block_cut* operands;
  const stowi_kernel_block_cut* results;
  const stowi_kernel_block_size* sizes;  // by variant
} stowi_kernel_blocks;

#endif  // STOWAGE_SRC_EXEC_KERNELS_BLOCKS_BLOCKS_H_
