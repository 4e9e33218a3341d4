// No number that is used overflows; others may, and wrap around.
#include "program/numbers.h"

static int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0 || (b == -1 && a == INT64_MIN)) {
    return 0;
  }
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t ceil_div(int64_t a, int64_t b) {
  return b == 0 || a == INT64_MIN ? 0 : -floor_div(-a, b);
}

static int64_t of_two(uint32_t op, int64_t a, int64_t b) {
  switch (op) {
    case STOW_PROGRAM_ADD: return (int64_t)((uint64_t)a + (uint64_t)b);
    case STOW_PROGRAM_SUB: return (int64_t)((uint64_t)a - (uint64_t)b);
    case STOW_PROGRAM_MUL: return (int64_t)((uint64_t)a * (uint64_t)b);
    case STOW_PROGRAM_FLOOR_DIV: return floor_div(a, b);
    case STOW_PROGRAM_CEIL_DIV: return ceil_div(a, b);
    case STOW_PROGRAM_MIN: return a < b ? a : b;
    case STOW_PROGRAM_MAX: return a > b ? a : b;
    default: return a == 0 ? b : a;
  }
}

static int64_t look_up(const int64_t* table, size_t point) {
  while ((size_t)table[1] <= point) {
    table += 2;
  }
  return table[0];
}

static int64_t align(int64_t number, uint32_t power) {
  uint64_t mask = (UINT64_C(1) << power) - 1;
  return (int64_t)(((uint64_t)number + mask) & ~mask);
}

void stow_program_evaluate(const stow_program_formula* formula, const int64_t* values, size_t point,
                           int64_t* numbers) {
  int64_t stack[STOW_PROGRAM_STACK];
  int64_t* top = stack;  // behind the last one
  for (size_t i = 0; i < formula->code_count; ++i) {
    uint32_t op = formula->code[i] & ((1u << STOW_PROGRAM_OP_BITS) - 1);
    uint32_t given = formula->code[i] >> STOW_PROGRAM_OP_BITS;
    switch (op) {
      case STOW_PROGRAM_INT: *top++ = given; break;
      case STOW_PROGRAM_LONG: *top++ = formula->longs[given]; break;
      case STOW_PROGRAM_SYMBOL: *top++ = values[given]; break;
      case STOW_PROGRAM_NUMBER: *top++ = numbers[given]; break;
      case STOW_PROGRAM_TABLE: *top++ = look_up(formula->longs + given, point); break;
      case STOW_PROGRAM_POINT: *top++ = (int64_t)point; break;
      case STOW_PROGRAM_CELL: top[-1] = formula->cells[given + (size_t)top[-1]]; break;
      case STOW_PROGRAM_ALIGN: top[-1] = align(top[-1], given); break;
      case STOW_PROGRAM_RAISE: top[-1] = of_two(STOW_PROGRAM_MAX, top[-1], numbers[given]); break;
      case STOW_PROGRAM_KEEP: numbers[given] = *--top; break;
      default: --top; top[-1] = of_two(op, top[-1], top[0]);
    }
  }
}
