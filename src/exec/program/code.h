// The code of a program: what happens in a run, one instruction after the other, in the order of a
// plan. Branches and loops are jumps, and what they hand over are copies.
//
//     %4 = if(%1) {%2 = …} else {%3 = …}        %9 = loop(%0, _, %1) {%4, %5, %6 = args() …}
//
//     0 IF     where %1 is false, go to 3       0 BEGIN   the trip count is %0
//     1 CALL   computes %2                      1 COPY    %1 to %6
//     2 COPY   %2 to %4                         2 WHILE   where no round follows, go to 8
//     3 IF     where %1 is true, go to 6        3 ARGS    round and condition to %4 and %5
//     4 CALL   computes %3                      4 CALL    computes %7, %8
//     5 COPY   %3 to %4                         5 COND    the next condition is %7
//     6 …                                       6 COPY    %8 to %6
//                                               7 NEXT    the round is over, go to 2
//                                               8 END
//                                               9 COPY    %6 to %9
//
// What a loop carries lies in one place, the argument's: the initial value is copied there where
// the body begins (also where no round follows: that is the last moment at which it surely lives),
// what a round yields is copied there at the yield, and the result is copied from there. All yields
// of a round happen at once: one that is another argument, or a view of it, is moved to the yield's
// scratch (ASIDE) before the first argument is written, and copied from there (BACK).
#ifndef STOWAGE_SRC_EXEC_PROGRAM_CODE_H_
#define STOWAGE_SRC_EXEC_PROGRAM_CODE_H_

#include <stowage/plan.h>

#include "exec/program/program.h"

typedef enum stowi_exec_action {
  STOWI_EXEC_REST,    // nothing: the values are there
  STOWI_EXEC_CALL,    // the kernel of |node|
  STOWI_EXEC_COPY,    // elements and dims of |from| to |to|, which must have room
  STOWI_EXEC_ASIDE,   // dims and elements of |from| to |at| in the scratch of |node|
  STOWI_EXEC_BACK,    // the same from there to |to|
  STOWI_EXEC_APPEND,  // elements of |from| to |to|, which collects them, as those of this round
  STOWI_EXEC_CLOSE,   // |to| has all rounds: their number is its first dim
  STOWI_EXEC_ARGS,    // round to |to|, condition to the value after it
  STOWI_EXEC_IF,      // goes to |target| unless |from| is |is_wanted|
  STOWI_EXEC_BEGIN,   // a loop: trip count |from|, condition |to|; STOW_VALUE_NONE: without
  STOWI_EXEC_WHILE,   // goes to |target| if the loop has no further round
  STOWI_EXEC_COND,    // reads the condition of the next round, |from|
  STOWI_EXEC_NEXT,    // goes to |target|, with the next round
  STOWI_EXEC_END,     // of the loop
} stowi_exec_action;

typedef struct stowi_exec_instruction {
  stowi_exec_action action;
  // A step of the plan is the instructions from one that begins it to one that ends it, both
  // included; there are no jumps into it or out of its middle. IF, BEGIN, WHILE and END are between
  // steps. A step that |is_quiet| is only part of its node's: the initial values of a loop.
  bool begins : 1;
  bool ends : 1;
  bool is_quiet : 1;
  bool is_wanted : 1;
  uint32_t step;
  stow_node node;
  stow_value from, to;
  stow_region loop;
  uint32_t target;
  uint64_t at;
} stowi_exec_instruction;

// How a node is run row by row (stow_plan_value): one call for each row.
typedef struct stowi_exec_rows {
  uint64_t rows;   // 1: it is not
  uint64_t still;  // bit k: operand k is the same for every row
  bool rests;      // all its results are views, and are there
} stowi_exec_rows;

typedef struct stowi_exec_code {
  stow_allocator allocator;
  stowi_exec_instruction* instructions;
  size_t count;
  size_t capacity;
  stow_slot* scratch;     // by node, in the arena; no bytes: none
  uint32_t* variants;     // by node: of its kernel, the fastest one that has enough scratch
  stowi_exec_rows* rows;  // by node; NULL: no value is pitched
  uint32_t node_count;
  uint32_t ordered;  // steps that the instructions follow from alone; 0: from more than these
  stow_node* order;  // the steps
} stowi_exec_code;

// In scratch, a value that is moved aside is its dims, then its elements.
#define STOWI_EXEC_DIMS_SIZE (STOW_MAX_RANK * sizeof(int64_t))

// |plan| is proven for the graph. O(steps + operands). Freed also after a failure.
stow_status stowi_exec_code_init(stowi_exec_code* code, const stowi_exec_program* program,
                                 const stow_plan* plan, stow_allocator allocator, stow_diag* diag);
void stowi_exec_code_free(stowi_exec_code* code);
// Writes the code again, where the dims of the program or the plan have changed; no value is
// pitched then. Allocates nothing if it had as many instructions before.
stow_status stowi_exec_code_fill(stowi_exec_code* code, const stowi_exec_program* program,
                                 const stow_plan* plan, stow_diag* diag);

// The same of the instructions alone: scratch and variants are those of |plan|.
stow_status stowi_exec_code_fill_order(stowi_exec_code* code, const stowi_exec_program* program,
                                       const stow_plan* plan, stow_diag* diag);

// Bytes of scratch that a `yield` needs to move values aside; 0 for other nodes. False if that
// overflows.
bool stowi_exec_code_aside(const stowi_exec_program* program, stow_node node, uint64_t* out_bytes);

// Whether a run calls the kernel of |node|.
static inline bool stowi_exec_code_calls(const stowi_exec_code* code,
                                         const stowi_exec_program* program, stow_node node) {
  return program->steps[node].kernel.run != NULL && (code->rows == NULL || !code->rows[node].rests);
}
// Gives |tensor|, which is |value|, the strides that it has in |plan|; none if it is dense.
void stowi_exec_code_stride(const stow_plan* plan, stow_value value, stow_tensor* tensor);

#endif  // STOWAGE_SRC_EXEC_PROGRAM_CODE_H_
