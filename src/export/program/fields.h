// What about blocks may depend on the shape.
#ifndef STOWAGE_PROGRAM_FIELDS_H_
#define STOWAGE_PROGRAM_FIELDS_H_

typedef enum stow_program_field {
  STOW_PROGRAM_GROUPS,
  STOW_PROGRAM_GROUP_ROWS,
  STOW_PROGRAM_CUT,  // of operand or result |index|; |axis| is its field, in their order
  STOW_PROGRAM_BODY_ROWS,
  STOW_PROGRAM_BODY_BYTES,
  STOW_PROGRAM_VALUE_DIM,  // of value |index|
  STOW_PROGRAM_VALUE_AT,
  STOW_PROGRAM_SCRATCH_AT,  // of step |index|
  STOW_PROGRAM_SCRATCH_SIZE,
  STOW_PROGRAM_VARIANT
} stow_program_field;

#endif  // STOWAGE_PROGRAM_FIELDS_H_
