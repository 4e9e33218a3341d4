// Numbers that follow from the shape: dims, sizes, and where things lie. A list of instructions for
// a stack, which any program with a range of shapes has as a table.
#ifndef STOWAGE_PROGRAM_NUMBERS_H_
#define STOWAGE_PROGRAM_NUMBERS_H_

#include <stddef.h>
#include <stdint.h>

// The lower five bits of an instruction; the others are what it is given.
typedef enum stow_program_op {
  STOW_PROGRAM_INT,     // pushes what it is given
  STOW_PROGRAM_LONG,    // pushes constant
  STOW_PROGRAM_SYMBOL,  // pushes the value of a symbol
  STOW_PROGRAM_NUMBER,  // pushes number
  STOW_PROGRAM_TABLE,   // pushes what the table that begins at a constant has for the point
  STOW_PROGRAM_POINT,   // pushes the number of the point
  STOW_PROGRAM_ADD,     // these replace the two on top
  STOW_PROGRAM_SUB,
  STOW_PROGRAM_MUL,
  STOW_PROGRAM_FLOOR_DIV,
  STOW_PROGRAM_CEIL_DIV,
  STOW_PROGRAM_MIN,
  STOW_PROGRAM_MAX,
  STOW_PROGRAM_ELSE,   // the lower one, or the upper one if that is 0
  STOW_PROGRAM_ALIGN,  // the next multiple of 1 << what it is given
  STOW_PROGRAM_RAISE,  // the larger one of the top and a number
  STOW_PROGRAM_CELL,   // replaces the top by the cell that is so far behind another
  STOW_PROGRAM_KEEP    // pops a number
} stow_program_op;

#define STOW_PROGRAM_OP_BITS 5
#define STOW_PROGRAM_STACK 24

typedef struct stow_program_formula {
  const uint32_t* code;
  size_t code_count;
  const int64_t* longs;  // a table is pairs: a number, and the first point that has another one
  const uint32_t* cells;
} stow_program_formula;

// Evaluates at |point|, where symbols have |values|; |numbers| has room for all that are kept.
void stow_program_evaluate(const stow_program_formula* formula, const int64_t* values, size_t point,
                           int64_t* numbers);

#endif  // STOWAGE_PROGRAM_NUMBERS_H_
