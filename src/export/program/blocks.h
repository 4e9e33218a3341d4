// Steps that run a function block by block, for any shape of a range: what their kernel is run with
// is put together before each of them, from what is the same for all shapes and numbers.
#ifndef STOWAGE_PROGRAM_BLOCKS_H_
#define STOWAGE_PROGRAM_BLOCKS_H_

#include "exec/kernels/blocks/blocks.h"
#include "program/fields.h"
#include "program/range.h"

typedef struct stow_program_patch {
  uint8_t field;
  uint8_t axis;
  uint16_t index;
  uint32_t number;
} stow_program_patch;

// A body, but for what is patched.
typedef struct stow_program_body {
  const stowi_kernel_block_body* body;
  const stow_program_patch* patches;
  size_t patch_count;
} stow_program_body;

typedef struct stow_program_size {
  stow_program_body body;
  stow_program_body tail;
  uint32_t tail_rows;  // a number; 0: no tail
} stow_program_size;

typedef struct stow_program_blocks {
  const stowi_kernel_blocks* blocks;
  size_t operand_count;
  size_t cut_count;
  const stow_program_patch* patches;
  size_t patch_count;
  const stow_program_size* sizes;  // by price
} stow_program_blocks;

// Room for what any step is run with.
typedef struct stow_program_blocks_room {
  stowi_kernel_blocks blocks;
  stowi_kernel_block_size size;
  stowi_kernel_block_cut* cuts;
  stowi_kernel_block_body bodies[2];
  stowi_kernel_block_value* values[2];
  stowi_kernel_block_step* steps[2];
} stow_program_blocks_room;

const void* stow_program_make_blocks(const stow_program_range* range, const void* user,
                                     uint32_t price);

#endif  // STOWAGE_PROGRAM_BLOCKS_H_
