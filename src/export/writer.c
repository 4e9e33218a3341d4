// Instructions of numbers.
#include "export/writer.h"

#define LARGEST_GIVEN (INT64_C(1) << (32 - STOW_PROGRAM_OP_BITS))

void stowi_export_writer_fail(stowi_export_writer* w, stow_status status) {
  w->status = w->status == STOW_OK ? status : w->status;
}

void stowi_export_emit(stowi_export_writer* w, stow_program_op op, uint64_t given) {
  stowi_export_instructions* words = w->words;
  if (w->status == STOW_OK && given >= (uint64_t)LARGEST_GIVEN) {
    stowi_export_writer_fail(w, STOW_ERR_LIMIT);
  }
  if (w->status == STOW_OK) {
    stowi_export_writer_fail(w, STOWI_VEC_RESERVE(w->program->allocator, &words->code, 1));
  }
  if (w->status != STOW_OK) {
    return;
  }
  words->code.data[words->code.count++] = (uint32_t)given << STOW_PROGRAM_OP_BITS | (uint32_t)op;
  words->depth += op <= STOW_PROGRAM_POINT;
  words->depth -= (op >= STOW_PROGRAM_ADD && op <= STOW_PROGRAM_ELSE) || op == STOW_PROGRAM_KEEP;
  stowi_export_writer_fail(w, words->depth > STOW_PROGRAM_STACK ? STOW_ERR_LIMIT : STOW_OK);
}

size_t stowi_export_add_long(stowi_export_writer* w, int64_t number) {
  stowi_export_range* range = w->range;
  stowi_export_writer_fail(w, STOWI_VEC_RESERVE(w->program->allocator, &range->longs, 1));
  if (w->status != STOW_OK) {
    return 0;
  }
  range->longs.data[range->longs.count++] = number;
  return range->longs.count - 1;
}

void stowi_export_emit_int(stowi_export_writer* w, int64_t number) {
  if (number >= 0 && number < LARGEST_GIVEN) {
    stowi_export_emit(w, STOW_PROGRAM_INT, (uint64_t)number);
  } else {
    stowi_export_emit(w, STOW_PROGRAM_LONG, stowi_export_add_long(w, number));
  }
}

uint32_t stowi_export_keep(stowi_export_writer* w) {
  uint32_t number = w->range->number_count++;
  stowi_export_emit(w, STOW_PROGRAM_KEEP, number);
  return number;
}
