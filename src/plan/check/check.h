// The parts of the plan checker. Each takes the checker's state, adds what it derives, and returns
// STOW_ERR_VIOLATION with the fault recorded if the plan is wrong. None of it may call analysis,
// place or the planner: the checker must derive its answer independently.
#ifndef STOWAGE_SRC_PLAN_CHECK_CHECK_H_
#define STOWAGE_SRC_PLAN_CHECK_CHECK_H_

#include <stowage/plan.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "effects/api.h"
#include "plan/plan_internal.h"

// How a value gets into its bytes.
typedef enum stowi_plan_made {
  STOWI_PLAN_MADE_OUTSIDE,  // loaded before the run
  STOWI_PLAN_MADE_VIEW,     // its operand's bytes; nothing is written
  STOWI_PLAN_MADE_APPEND,   // its operand's bytes, into which its op writes (kv_append)
  STOWI_PLAN_MADE_WRITTEN   // its op writes all of it
} stowi_plan_made;

// Facts about a value: sizes and offsets from its type, op and effects, times from the plan's
// order.
typedef struct stowi_plan_check_value {
  uint64_t bytes;        // its type's, or the declared storage
  uint64_t inner;        // offset in its root
  uint64_t rows;         // 1: dense
  uint64_t pitch;        // bytes from one row to the next; 0: dense
  uint32_t first_write;  // steps
  uint32_t last_write;
  uint32_t last_read;  // n: the caller reads it
  uint32_t since;      // step + 1 of the node that completed what it holds; 0: there from the start
  uint32_t makers;     // of a root: how many nodes write or load something in it
  stow_value linked;   // towards the root, by what places the value there (union-find)
  stowi_plan_made made;
  bool output;
  bool holds_kept;  // of a root: something in it must outlast the run
} stowi_plan_check_value;

// One read: at |step|, by something in |region|.
typedef struct stowi_plan_use {
  stow_value value;
  uint32_t since;  // it reads what was written up to here
  uint32_t step;
  stow_region region;
  bool through;  // also during the whole step, so that the step's node must not write
                 // there
  bool held;     // by effect: through both branches of an if
} stowi_plan_use;

typedef stow_status (*stowi_plan_visit_use)(void* user, stowi_plan_use use);

typedef struct stowi_plan_checker {
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
  stowi_plan_check_value* values;
  uint32_t* link_sizes;  // by value: the number of values linked to it
  uint64_t* node_rows;   // by node: the rows that it is run for, one by one; 1: it is not
  size_t* windows;   // by value: where its windows begin among the plan's; value_count + 1 of them
  uint64_t highest;  // end of all footprints of values and scratch
} stowi_plan_checker;

// The order is a permutation that keeps dependencies and regions. Fills |steps| and |entries|.
stow_status stowi_plan_check_schedule(stowi_plan_checker* checker);
// Slots have the sizes that types, effects and options give. Fills |bytes|.
stow_status stowi_plan_check_sizes(stowi_plan_checker* checker);
// Every claimed view is one, at the right offset. Fills |inner|, |made|, |since|, |makers| and
// |holds_kept|.
stow_status stowi_plan_check_views(stowi_plan_checker* checker);
// Nodes that make or read pitched values can be run row by row. Fills |node_rows|.
stow_status stowi_plan_check_rows(stowi_plan_checker* checker);
// Values in another's bytes that are not views are allowed there: a result in place of an operand,
// or an operand of concat built inside the result (copy elision).
stow_status stowi_plan_check_shares(stowi_plan_checker* checker);
// The times at which values are written and read. Cannot fail a plan.
stow_status stowi_plan_check_needs(stowi_plan_checker* checker);
// Nothing reads bytes that were overwritten in the same root.
stow_status stowi_plan_check_bytes(stowi_plan_checker* checker);
// Claimed lifetimes cover all writes and reads.
stow_status stowi_plan_check_lives(stowi_plan_checker* checker);
// Which values have a slot; alignment, fixed offsets, guards and scratch, all inside the arena.
// Fills |highest|.
stow_status stowi_plan_check_slots(stowi_plan_checker* checker);
// Windows are in order, and every value is within its root's while it is in use. Fills |windows|.
stow_status stowi_plan_check_windows(stowi_plan_checker* checker);
// No two live footprints overlap.
stow_status stowi_plan_check_overlap(stowi_plan_checker* checker);
// The arena ends at the highest footprint. A mild fault, so it comes late.
stow_status stowi_plan_check_arena_size(stowi_plan_checker* checker);
// Peak and lower bound are as the plan states. They do not affect memory, so they come last.
stow_status stowi_plan_check_facts(stowi_plan_checker* checker);

// ---------------------------------------------------------------------------------------------
// Shared by the parts

#define STOWI_PLAN_NO_VIOLATION \
  { 0, STOW_FAULT_NONE, STOW_VALUE_NONE, STOW_VALUE_NONE, STOW_NODE_NONE, STOW_NODE_NONE, 0 }

// Writes what was found to the caller's struct; |out_violation| may be NULL.
static inline stow_status stowi_plan_fill_violation(const stow_violation* found, stow_diag* diag,
                                                    stow_violation* out_violation) {
  return out_violation == NULL
             ? STOW_OK
             : stowi_fill_struct(out_violation, found, sizeof(*found), "stow_violation", diag);
}

// The plan was made for this graph. STOW_FAULT_STALE.
stow_status stowi_plan_check_fresh(stowi_plan_checker* checker);

// `%7 "name"`, and `node 7 (add)`, for messages.
#define STOWI_PLAN_LABEL_SIZE 112
typedef struct stowi_plan_label {
  char text[STOWI_PLAN_LABEL_SIZE];
} stowi_plan_label;
stowi_plan_label stowi_plan_label_value(const stowi_plan_checker* checker, stow_value value);
stowi_plan_label stowi_plan_label_node(const stowi_plan_checker* checker, stow_node node);
// The node that runs at |step|; `the caller` for step n.
stowi_plan_label stowi_plan_label_step(const stowi_plan_checker* checker, uint32_t step);

// Records the fault and returns STOW_ERR_VIOLATION.
stow_status stowi_plan_fault(stowi_plan_checker* checker, stow_fault fault, stow_value first,
                             stow_value second, uint32_t step, const char* format, ...)
    STOW_PRINTF_LIKE(6, 7);

// Operand |k|; STOW_VALUE_NONE if it is missing or omitted.
stow_value stowi_plan_check_operand(const stowi_plan_checker* checker, stow_node node, size_t k);
// The region where the value is made. Boundary values are loaded before the run, wherever their
// node is.
stow_region stowi_plan_check_made_in(const stowi_plan_checker* checker, stow_value value);
bool stowi_plan_check_is_op(const stowi_plan_checker* checker, stow_value value, stow_op op);
// Keep, consume (inputs only) or external, by the effects and the options recorded in the plan.
// Keep for values that are neither boundary nor output.
stow_io_policy stowi_plan_check_policy(const stowi_plan_checker* checker, stow_value value);
// Whether the value's contents must outlast the run: boundary values that are not consumed, and
// state.
bool stowi_plan_check_is_kept(const stowi_plan_checker* checker, stow_value value);
// Whether |inner| is |outer| or nested in it.
bool stowi_plan_check_contains(const stowi_plan_checker* checker, stow_region outer,
                               stow_region inner);
// Whether |region| begins with its own `args`. Its first node may also be that of a nested region.
bool stowi_plan_check_has_args(const stowi_plan_checker* checker, stow_region region);
// Argument |k| of |body|; STOW_VALUE_NONE if there is none.
stow_value stowi_plan_check_argument(const stowi_plan_checker* checker, stow_region body, size_t k);

// Whether nothing declared for the value demands its own bytes.
bool stowi_plan_check_may_share(const stowi_plan_checker* checker, stow_value value);
// Bytes of a root: |rows| rows of equal size, |pitch| bytes apart.
typedef struct stowi_plan_bytes {
  uint64_t inner, bytes, rows, pitch;
} stowi_plan_bytes;
stowi_plan_bytes stowi_plan_bytes_of(const stowi_plan_checker* checker, stow_value value);
// The bytes from byte |at| on, which exists, that are in one run.
stowi_plan_span stowi_plan_bytes_run(const stowi_plan_bytes* place, uint64_t at);
// The end of the last row.
uint64_t stowi_plan_bytes_end(const stowi_plan_bytes* place);
// Whether the bytes at |value| are those at |part| in the bytes at |whole|. O(rows).
bool stowi_plan_bytes_is_part(const stowi_plan_bytes* value, const stowi_plan_bytes* whole,
                              const stowi_plan_bytes* part);
// Whether both have a byte in common. O(fewest rows).
bool stowi_plan_bytes_meets(const stowi_plan_bytes* a, const stowi_plan_bytes* b);
// Takes rows and pitch from the plan. A fault if they do not fit the value.
stow_status stowi_plan_check_shape(stowi_plan_checker* checker, stow_value value);

// Whether two values have a root and bytes in common.
bool stowi_plan_check_touch(const stowi_plan_checker* checker, stow_value a, stow_value b);
// The loop whose body begins with |node|, an `args`; STOW_NODE_NONE if there is none.
stow_node stowi_plan_check_loop_of_args(const stowi_plan_checker* checker, stow_node node);
// The initial value of the loop's argument |k|; STOW_VALUE_NONE if that is not carried.
stow_value stowi_plan_check_initial(const stowi_plan_checker* checker, stow_node loop, size_t k);
// The argument that result |k| of |loop| is the last of; STOW_VALUE_NONE if that is not carried.
stow_value stowi_plan_check_final(const stowi_plan_checker* checker, stow_node loop, size_t k);
// The last step of |region|: its yield's.
uint32_t stowi_plan_check_region_end(const stowi_plan_checker* checker, stow_region region);
// Records that |a| and |b|, of one root, are where they are because of each other; and queries
// whether that was recorded, also transitively.
void stowi_plan_check_link(stowi_plan_checker* checker, stow_value a, stow_value b);
bool stowi_plan_check_linked(const stowi_plan_checker* checker, stow_value a, stow_value b);
// |value| is in its root but must not be: `%7 WHY %3`.
stow_status stowi_plan_check_misplaced(stowi_plan_checker* checker, stow_fault fault,
                                       stow_value value, const char* why);

// The places of a concat's operands in its result.
typedef struct stowi_plan_elisions {
  size_t count;       // of operands, and one more for storage that none of them fills
  uint64_t rows;      // of the result, each with the same places
  uint64_t row;       // bytes of the result's rows
  uint64_t* ends;     // by operand, in bits, from the first of a row
  size_t* strangers;  // by operand: how many up to it, including itself, are copied
  size_t capacity;    // of both
} stowi_plan_elisions;
// Whether |node| is a concat that writes its result, shares its root, and has operands that are
// contiguous there, or that were built in a part of each of its rows. Fills |elisions|, which may
// be reused; free it with stowi_plan_elisions_free.
stow_status stowi_plan_elisions_find(stowi_plan_checker* checker, stow_node node,
                                     stowi_plan_elisions* elisions, bool* out_found);
void stowi_plan_elisions_free(const stowi_plan_checker* checker, stowi_plan_elisions* elisions);
// Bytes [low, high) of each row of the result that belong to operand |k|.
stowi_plan_span stowi_plan_elisions_place(const stowi_plan_elisions* elisions, size_t k);
// Whether operand |k| is copied: it is not built in its place.
bool stowi_plan_elisions_copies(const stowi_plan_elisions* elisions, size_t k);

// Calls |visit| for every use, with the step of its last read.
stow_status stowi_plan_check_each_use(stowi_plan_checker* checker, stowi_plan_visit_use visit,
                                      void* user);

// The bytes that a root occupies over time, one range after the other.
typedef struct stowi_plan_stretches {
  const stowi_plan_checker* checker;
  stow_value root;
  uint32_t at;    // the step up to which ranges were returned
  size_t window;  // the next
} stowi_plan_stretches;
typedef struct stowi_plan_occupied_bytes {
  uint32_t begin, end;
  uint64_t low, high;  // from the root's first byte
} stowi_plan_occupied_bytes;
stowi_plan_stretches stowi_plan_stretches_of(const stowi_plan_checker* checker, stow_value root);
bool stowi_plan_stretches_next(stowi_plan_stretches* stretches,
                               stowi_plan_occupied_bytes* out_stretch);

#endif  // STOWAGE_SRC_PLAN_CHECK_CHECK_H_
