// Writes the instructions that numbers follow from (program/numbers.h).
#ifndef STOWAGE_SRC_EXPORT_WRITER_H_
#define STOWAGE_SRC_EXPORT_WRITER_H_

#include "export/export.h"

typedef struct stowi_export_writer {
  stowi_export* program;
  stowi_export_range* range;
  stowi_export_instructions* words;
  stow_status status;  // the first failure; nothing is written after it
} stowi_export_writer;

void stowi_export_writer_fail(stowi_export_writer* w, stow_status status);
// STOW_ERR_LIMIT if |given| or what is on the stack is too much.
void stowi_export_emit(stowi_export_writer* w, stow_program_op op, uint64_t given);
void stowi_export_emit_int(stowi_export_writer* w, int64_t number);
// The place of a constant.
size_t stowi_export_add_long(stowi_export_writer* w, int64_t number);
// A new number, which is on top.
uint32_t stowi_export_keep(stowi_export_writer* w);

// Lets numbers be lines through the dims that have numbers (fit.c).
void stowi_export_add_bases(stowi_export_writer* w);

#endif  // STOWAGE_SRC_EXPORT_WRITER_H_
