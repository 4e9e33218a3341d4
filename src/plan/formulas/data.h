// What is evaluated at a point, as plain data: for the files here, and for programs that evaluate
// it without them.
#ifndef STOWAGE_SRC_PLAN_FORMULAS_DATA_H_
#define STOWAGE_SRC_PLAN_FORMULAS_DATA_H_

#include <stowage/formula.h>

// A number that depends on the point: an expression in the twin's dims, or a table.
typedef struct stowi_plan_formula_expr {
  stow_dim dim;           // STOW_DIM_INVALID: a table
  const uint64_t* table;  // by point; owned by the formula
} stowi_plan_formula_expr;

typedef struct stowi_plan_formula_value {
  stow_value root;
  uint32_t bytes;  // expressions: its bytes,
  uint32_t inner;  // and where they begin in the root
  uint32_t begin;  // as in a plan
  uint32_t end;
  uint8_t alignment_log2;
  bool has_slot;  // unless it is empty at a point
} stowi_plan_formula_value;

typedef enum stowi_plan_formula_kind {
  STOWI_PLAN_FORMULA_ROOT,
  STOWI_PLAN_FORMULA_SCRATCH,
  STOWI_PLAN_FORMULA_RESERVED
} stowi_plan_formula_kind;

typedef struct stowi_plan_formula_buffer {
  stowi_plan_formula_kind kind;
  uint32_t id;     // a value, or index among the reserved ranges
  uint32_t index;  // of the scratch within its node, which is |id|
  uint32_t size;   // an expression
  uint64_t guard;
  uint64_t empty_size;  // bytes at points at which the size is 0
  uint64_t most;        // of what is kept between runs: its largest size, for all above it; else 0
  uint32_t first_part;  // up to that of the next buffer
} stowi_plan_formula_buffer;

// Bytes [low, high) of a buffer over steps [begin, end): low is the smallest of its first terms,
// high the largest of the others plus the buffer's guard.
typedef struct stowi_plan_formula_part {
  uint32_t buffer;
  uint32_t begin;
  uint32_t end;
  uint32_t first_low;   // into the region's terms
  uint32_t first_high;  // up to the first low one of the next part
  bool at_bottom;
  bool at_top;
} stowi_plan_formula_part;

// A region's structure, for reading. Offsets are the lowest in which each part lies above those
// that its edges name (place/orient/orient.h).
struct stowi_place_orientation;
struct stowi_place_constraint;
typedef struct stowi_plan_formula_structure {
  const stow_node* order;
  const stowi_plan_formula_value* values;    // by value
  size_t buffer_count;                       // one more entry ends the last one's parts
  const stowi_plan_formula_buffer* buffers;  // roots by id, scratch by node and index, reserved
  size_t part_count;                         // one more entry ends the last one's terms
  const stowi_plan_formula_part* parts;
  const uint32_t* terms;  // expressions
  const struct stowi_place_orientation* orientation;
  const struct stowi_place_constraint* constraints;  // by buffer
} stowi_plan_formula_structure;

const stowi_plan_formula_expr* stowi_plan_formula_exprs(const stow_formula* formula,
                                                        size_t* out_count);
stowi_plan_formula_structure stowi_plan_formula_structure_of(const stow_formula* formula,
                                                             size_t region);
// The number of the expression that has these sizes, one for each point, as scratch has one: where
// no formula gives them, it is a table. Added if it is new; walks that were made before do not have
// it.
stow_status stowi_plan_formula_fit_sizes(stow_formula* formula, const uint64_t* sizes,
                                         uint32_t* out_expr);

#endif  // STOWAGE_SRC_PLAN_FORMULAS_DATA_H_
