// The parts of the plan checker. Each takes the checker's state, adds what it derives, and returns
// STOW_ERR_VIOLATION with the fault recorded where the plan is wrong. None of it may call analysis,
// place or the planner: the checker has to come to the same answer by itself.
#ifndef STOWAGE_SRC_PLAN_CHECK_H_
#define STOWAGE_SRC_PLAN_CHECK_H_

#include <stowage/plan.h>

#include "base/alloc.h"
#include "plan/plan_internal.h"

// What is known of a value: sizes and offsets from its type, op and effects, times from the plan's
// order.
typedef struct stowi_check_value {
  uint64_t bytes;        // that it occupies: its type's, or the declared storage
  uint64_t inner;        // offset in its root
  uint32_t first_write;  // steps
  uint32_t last_write;
  uint32_t last_read;  // last_write where nobody reads it; n: the caller does
  uint32_t since;  // step + 1 of the op that wrote into the root last, as far as this value knows;
                   // 0: its producer
  bool output;
} stowi_check_value;

typedef enum stowi_writer_kind {
  STOWI_WRITER_OP,         // an op that writes into its operand (kv_append)
  STOWI_WRITER_OVERWRITE,  // a result laid over an operand
  STOWI_WRITER_CARRY       // a loop's yield writes the next round's value
} stowi_writer_kind;

// A write into bytes that hold another value.
//
// Reads of what was there before must be over: a node may read at the step at which it writes, so
// those that end below |until| are. A read that lasts through a step counts as one of the next
// step.
typedef struct stowi_check_writer {
  stow_value root;
  uint32_t since;    // step of the writing node + 1
  uint32_t start;    // the step at which it begins to write
  uint32_t until;    // start + 1; or start, where it begins before its node runs
  uint32_t lowest;   // |until| of this and all later writers of the root
  stow_value value;  // what is written
  stowi_writer_kind kind;
} stowi_check_writer;

typedef struct stowi_checker {
  const stow_plan* plan;
  const stow_graph* graph;
  const stow_effects* effects;
  stow_allocator allocator;
  stow_diag* diag;
  stow_violation violation;
  uint32_t node_count;  // also n, the number of steps
  uint32_t value_count;
  uint32_t* steps;  // by node
  uint32_t region_count;
  uint32_t* entries;  // by region: the first step of its nodes
  stowi_check_value* values;
  STOWI_VEC(stowi_check_writer) writers;
  uint64_t highest;  // end of all footprints of values and scratch
} stowi_checker;

// The order is a permutation that keeps dependencies and regions. Fills |steps| and |entries|.
stow_status stowi_check_schedule(stowi_checker* checker);
// Slots have the sizes that types, effects and options give. Fills |bytes|.
stow_status stowi_check_sizes(stowi_checker* checker);
// Every claimed view is one, and lies where it must. Fills |inner|, |since| and |writers|.
stow_status stowi_check_views(stowi_checker* checker);
// Claimed lifetimes cover all writes and reads, and nobody reads what has been written over.
stow_status stowi_check_lives(stowi_checker* checker);
// Who has a slot, alignment, fixed offsets, guards, scratch, all inside the arena. Fills |highest|.
stow_status stowi_check_slots(stowi_checker* checker);
// No two live footprints overlap.
stow_status stowi_check_overlap(stowi_checker* checker);
// The arena ends where the highest footprint does. A mild fault, so it comes late.
stow_status stowi_check_arena_size(stowi_checker* checker);
// Peak and lower bound are as the plan says. They do no harm to memory, so they come after all
// else.
stow_status stowi_check_facts(stowi_checker* checker);

// ---------------------------------------------------------------------------------------------
// Shared by the parts.

#define STOWI_NO_VIOLATION \
  { STOW_FAULT_NONE, STOW_VALUE_NONE, STOW_VALUE_NONE, STOW_NODE_NONE, STOW_NODE_NONE, 0 }

// The plan was made for this graph. STOW_FAULT_STALE.
stow_status stowi_check_fresh(stowi_checker* checker);

// `%7 "name"`, and `node 7 (add)`, for messages.
#define STOWI_LABEL_SIZE 112
typedef struct stowi_label {
  char text[STOWI_LABEL_SIZE];
} stowi_label;
stowi_label stowi_label_value(const stowi_checker* checker, stow_value value);
stowi_label stowi_label_node(const stowi_checker* checker, stow_node node);
// The node that runs at |step|; `the caller` for step n.
stowi_label stowi_label_step(const stowi_checker* checker, uint32_t step);

// Records the fault and returns STOW_ERR_VIOLATION.
stow_status stowi_fault(stowi_checker* checker, stow_fault fault, stow_value first,
                        stow_value second, uint32_t step, const char* format, ...)
    STOW_PRINTF_LIKE(6, 7);

// Where the value is made. Boundary values are loaded before the run, wherever their node stands.
stow_region stowi_check_home(const stowi_checker* checker, stow_value value);
bool stowi_check_is_op(const stowi_checker* checker, stow_value value, stow_op op);
// Keep, consume (inputs only) or external, by the effects and the options that the plan keeps. Keep
// for values that are neither boundary nor output.
stow_io_policy stowi_check_policy(const stowi_checker* checker, stow_value value);
// Whether the value's contents must outlast the run: boundary values that are not consumed, and
// state.
bool stowi_check_is_kept(const stowi_checker* checker, stow_value value);
// Whether |region| begins with an `args` of its own. Its first node may also be that of a region in
// it.
bool stowi_check_has_args(const stowi_checker* checker, stow_region region);
// Argument |k| of |body|; STOW_VALUE_NONE where there is none.
stow_value stowi_check_argument(const stowi_checker* checker, stow_region body, size_t k);

#endif  // STOWAGE_SRC_PLAN_CHECK_H_
