// Copies of tables, with numbers in their places.
#include "program/blocks.h"

#include <string.h>

static void set_cut(stowi_kernel_block_cut* cut, uint32_t axis, uint64_t number) {
  switch (axis) {
    case 0: cut->row = number; break;
    case 1: cut->slice = number; break;
    case 2: cut->pieces = number; break;
    case 3: cut->pitch = number; break;
    case 4: cut->slices = number; break;
    default: cut->divide = number;
  }
}

static void patch_cuts(const stow_program_range* range, const stow_program_blocks* from,
                       stow_program_blocks_room* room) {
  memcpy(room->cuts, from->blocks->operands, from->cut_count * sizeof room->cuts[0]);
  room->blocks = *from->blocks;
  for (size_t i = 0; i < from->patch_count; ++i) {
    const stow_program_patch* patch = &from->patches[i];
    uint64_t number = (uint64_t)range->numbers[patch->number];
    switch (patch->field) {
      case STOW_PROGRAM_GROUPS: room->blocks.groups = number; break;
      case STOW_PROGRAM_GROUP_ROWS: room->blocks.rows = number; break;
      default: set_cut(&room->cuts[patch->index], patch->axis, number);
    }
  }
  room->blocks.operands = room->cuts;
  room->blocks.results = room->cuts + from->operand_count;
  room->blocks.sizes = &room->size;
}

static const stowi_kernel_block_body* patch_body(const stow_program_range* range,
                                                 const stow_program_body* from,
                                                 stow_program_blocks_room* room, size_t which) {
  stowi_kernel_block_body* body = &room->bodies[which];
  stowi_kernel_block_value* values = room->values[which];
  stowi_kernel_block_step* steps = room->steps[which];
  *body = *from->body;
  memcpy(values, body->values, body->value_count * sizeof values[0]);
  memcpy(steps, body->steps, body->step_count * sizeof steps[0]);
  for (size_t i = 0; i < from->patch_count; ++i) {
    const stow_program_patch* patch = &from->patches[i];
    uint64_t number = (uint64_t)range->numbers[patch->number];
    switch (patch->field) {
      case STOW_PROGRAM_BODY_ROWS: body->rows = number; break;
      case STOW_PROGRAM_BODY_BYTES: body->bytes = number; break;
      case STOW_PROGRAM_VALUE_DIM:
        values[patch->index].tensor.dims[patch->axis] = (int64_t)number;
        break;
      case STOW_PROGRAM_VALUE_AT: values[patch->index].at = number; break;
      case STOW_PROGRAM_SCRATCH_AT: steps[patch->index].scratch_at = number; break;
      case STOW_PROGRAM_SCRATCH_SIZE: steps[patch->index].scratch_size = number; break;
      default: steps[patch->index].variant = (uint32_t)number;
    }
  }
  body->values = values;
  body->steps = steps;
  return body;
}

const void* stow_program_make_blocks(const stow_program_range* range, const void* user,
                                     uint32_t price) {
  const stow_program_blocks* from = (const stow_program_blocks*)user;
  stow_program_blocks_room* room = (stow_program_blocks_room*)range->blocks_room;
  const stow_program_size* size = &from->sizes[price];
  patch_cuts(range, from, room);
  room->size.body = patch_body(range, &size->body, room, 0);
  room->size.tail =
      range->numbers[size->tail_rows] == 0 ? NULL : patch_body(range, &size->tail, room, 1);
  return &room->blocks;
}
