// The parts of the plan checker. Each takes the checker's state, adds what it derives, and returns
// STOW_ERR_VIOLATION with the fault recorded where the plan is wrong. None of it may call analysis,
// place or the planner: the checker has to come to the same answer by itself.
#ifndef STOWAGE_SRC_PLAN_CHECK_CHECK_H_
#define STOWAGE_SRC_PLAN_CHECK_CHECK_H_

#include <stowage/plan.h>

#include "base/alloc.h"
#include "effects/api.h"
#include "plan/plan_internal.h"

// How a value comes to be in its bytes.
typedef enum stowi_made {
  STOWI_MADE_OUTSIDE,  // loaded before the run
  STOWI_MADE_VIEW,     // its operand's bytes; nothing is written
  STOWI_MADE_APPEND,   // its operand's bytes, into which its op writes (kv_append)
  STOWI_MADE_WRITTEN   // its op writes all of it
} stowi_made;

// What is known of a value: sizes and offsets from its type, op and effects, times from the plan's
// order.
typedef struct stowi_check_value {
  uint64_t bytes;        // that it occupies: its type's, or the declared storage
  uint64_t inner;        // offset in its root
  uint32_t first_write;  // steps
  uint32_t last_write;
  uint32_t last_read;  // n: the caller reads it
  uint32_t since;      // step + 1 of the node that completed what it holds; 0: there from the start
  uint32_t makers;     // of a root: how many write or load something in it
  stow_value linked;   // towards the root, by what puts the value there (union-find)
  stowi_made made;
  bool output;
  bool holds_kept;  // of a root: something in it must outlast the run
} stowi_check_value;

// One read: at |step|, by something in |region|.
typedef struct stowi_use {
  stow_value value;
  uint32_t since;  // what was written up to here is what it reads
  uint32_t step;
  stow_region region;
  bool through;  // also during the whole step, so that nothing that the step's node writes may lie
                 // there
  bool held;     // by effect: through both branches of an if
} stowi_use;

typedef stow_status (*stowi_visit_use)(void* user, stowi_use use);

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
  uint32_t* link_sizes;  // by value: how many hang on it
  size_t* windows;   // by value: where its windows begin among the plan's; value_count + 1 of them
  uint64_t highest;  // end of all footprints of values and scratch
} stowi_checker;

// The order is a permutation that keeps dependencies and regions. Fills |steps| and |entries|.
stow_status stowi_check_schedule(stowi_checker* checker);
// Slots have the sizes that types, effects and options give. Fills |bytes|.
stow_status stowi_check_sizes(stowi_checker* checker);
// Every view is one, and lies where it must. Fills |inner|, |made|, |since|,
// |makers| and |holds_kept|.
stow_status stowi_check_views(stowi_checker* checker);
// What lies in another's bytes and is no view may lie there: it is laid over an operand, or is an
// operand of concat and made inside the result.
stow_status stowi_check_shares(stowi_checker* checker);
// When values are written and read. Fills their times; cannot fail a plan.
stow_status stowi_check_needs(stowi_checker* checker);
// Nobody reads what has been written over in the same root.
stow_status stowi_check_bytes(stowi_checker* checker);
// Claimed lifetimes cover all writes and reads.
stow_status stowi_check_lives(stowi_checker* checker);
// Who has a slot, alignment, fixed offsets, guards, scratch, all inside the arena. Fills |highest|.
stow_status stowi_check_slots(stowi_checker* checker);
// Windows are in order, and every value is in its root's while it is in use. Fills |windows|.
stow_status stowi_check_windows(stowi_checker* checker);
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

// Operand |k|; STOW_VALUE_NONE where it is absent or left off.
stow_value stowi_check_operand(const stowi_checker* checker, stow_node node, size_t k);
// Where the value is made. Boundary values are loaded before the run, wherever their node stands.
stow_region stowi_check_home(const stowi_checker* checker, stow_value value);
bool stowi_check_is_op(const stowi_checker* checker, stow_value value, stow_op op);
// Keep, consume (inputs only) or external, by the effects and the options that the plan keeps. Keep
// for values that are neither boundary nor output.
stow_io_policy stowi_check_policy(const stowi_checker* checker, stow_value value);
// Whether the value's contents must outlast the run: boundary values that are not consumed, and
// state.
bool stowi_check_is_kept(const stowi_checker* checker, stow_value value);
// Whether |inner| is |outer| or lies in it.
bool stowi_check_contains(const stowi_checker* checker, stow_region outer, stow_region inner);
// Whether |region| begins with an `args` of its own. Its first node may also be that of a region in
// it.
bool stowi_check_has_args(const stowi_checker* checker, stow_region region);
// Argument |k| of |body|; STOW_VALUE_NONE where there is none.
stow_value stowi_check_argument(const stowi_checker* checker, stow_region body, size_t k);

// Nothing that is declared of the value demands bytes of its own.
bool stowi_check_may_share(const stowi_checker* checker, stow_value value);
// Whether two values have a root and bytes in common.
bool stowi_check_touch(const stowi_checker* checker, stow_value a, stow_value b);
// The loop whose body begins with |node|, an `args`; STOW_NODE_NONE where there is none.
stow_node stowi_check_loop_of_args(const stowi_checker* checker, stow_node node);
// The initial value of the loop's argument |k|; STOW_VALUE_NONE where that is not carried.
stow_value stowi_check_initial(const stowi_checker* checker, stow_node loop, size_t k);
// The argument that result |k| of |loop| is the last of; STOW_VALUE_NONE where that is not carried.
stow_value stowi_check_final(const stowi_checker* checker, stow_node loop, size_t k);
// The last step of |region|: its yield's.
uint32_t stowi_check_region_end(const stowi_checker* checker, stow_region region);
// Says that |a| and |b|, of one root, are where they are on account of each other; and whether that
// was said, also by way of others.
void stowi_check_link(stowi_checker* checker, stow_value a, stow_value b);
bool stowi_check_linked(const stowi_checker* checker, stow_value a, stow_value b);
// |value| lies in its root though it must not: `%7 WHY %3`.
stow_status stowi_check_misplaced(stowi_checker* checker, stow_fault fault, stow_value value,
                                  const char* why);

// Where the operands of a concat belong in its result.
typedef struct stowi_homes {
  size_t count;       // of operands, and one more for storage that none of them fills
  uint64_t* ends;     // by operand, in bits, from the result's first
  size_t* strangers;  // by operand: how many up to it, itself included, are copied there
  size_t capacity;    // of both
} stowi_homes;
// Whether |node| is a concat that writes its result, shares its root, and has operands that are
// contiguous in there. Fills |homes|, which may be used again; freed by stowi_homes_free.
stow_status stowi_homes_find(stowi_checker* checker, stow_node node, stowi_homes* homes,
                             bool* out_found);
void stowi_homes_free(const stowi_checker* checker, stowi_homes* homes);
// Bytes [low, high) of the result that belong to operand |k|.
stowi_span stowi_homes_place(const stowi_homes* homes, size_t k);
// Whether operand |k| is copied to its place: it is not made there.
bool stowi_homes_copies(const stowi_homes* homes, size_t k);

// Calls |visit| with everything that reads, and the step at which it does so last.
stow_status stowi_check_each_use(stowi_checker* checker, stowi_visit_use visit, void* user);

// What a root occupies over time, one stretch after the other.
typedef struct stowi_stretches {
  const stowi_checker* checker;
  stow_value root;
  uint32_t at;    // up to which step stretches were given
  size_t window;  // the next
} stowi_stretches;
typedef struct stowi_occupied {
  uint32_t begin, end;
  uint64_t low, high;  // from the root's first byte
} stowi_occupied;
stowi_stretches stowi_stretches_of(const stowi_checker* checker, stow_value root);
bool stowi_stretches_next(stowi_stretches* stretches, stowi_occupied* out_stretch);

#endif  // STOWAGE_SRC_PLAN_CHECK_CHECK_H_
