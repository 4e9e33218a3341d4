// The inside of an executor.
#ifndef STOWAGE_SRC_EXEC_RUN_EXEC_H_
#define STOWAGE_SRC_EXEC_RUN_EXEC_H_

#include <stowage/arena.h>
#include <stowage/exec.h>

#include "effects/api.h"
#include "exec/api.h"
#include "exec/program/code.h"
#include "exec/program/frame.h"
#include "exec/program/words.h"
#include "exec/run/prepare.h"
#include "exec/threads/pool.h"
#include "plan/api.h"

#define STOWI_EXEC_MESSAGE_SIZE 512
#define STOWI_EXEC_WEIGHT_ALIGNMENT 64

// Where a value's bytes are, and whether they are those of the coming run.
typedef struct stowi_exec_value_place {
  bool has_slot;
  bool is_set;          // a boundary value has the bytes that it should have
  bool is_consumed;     // a run destroys them
  bool is_bound;        // the caller has given it bytes
  const void* source;   // a weight's data, or an input's known value; NULL: none
  uint64_t bound_size;  // bytes that the caller has given
  uint64_t offset;      // of its slot, in the arena
} stowi_exec_value_place;

// Where a loop stands.
typedef struct stowi_exec_loop {
  int64_t round;    // finished in this run of the loop
  int64_t trip;     // INT64_MAX: no limit
  uint64_t around;  // rounds of the loops around it, as one number
  bool has_condition;
  bool condition;  // as the last yield, or the operand, says
} stowi_exec_loop;

// What asking for dims needs; allocated once.
typedef struct stowi_exec_inference {
  size_t operands, results;  // at most, of a node with upper-bounded dims
  stow_type* types;          // of operands
  const stow_type** pointers;
  const void** data;
  stow_type* made;  // of results
  void* memory;
  size_t memory_size;
} stowi_exec_inference;

typedef struct stowi_exec_paranoia stowi_exec_paranoia;

// What an executor of a range has.
typedef struct stowi_exec_range {
  const stow_formula* formula;
  stow_prepared* own;  // like the caller's, at the point
  stowi_plan_mover* mover;
  // All numbers at every point that fits; NULL: they are computed at each.
  stowi_exec_changes* changes;
  size_t open_count;  // with |changes|: values that are open
  stow_value* open;
  stow_plan* watched;  // the plan at the point, for poison and paranoia; else NULL
  size_t point;        // SIZE_MAX: none, since a call failed
  size_t last;         // that fits
  bool is_told;        // the caller has set the point since the last run
  uint64_t capacity;   // bytes of the arena
  uint64_t alignment;
  size_t symbol_count;   // with ranges
  size_t* symbols;       // their indices in the graph
  int64_t* values;       // at the point
  int64_t* asked;        // at another one
  size_t number_count;   // symbols of the graph
  int64_t* numbers;      // theirs at the point
  uint64_t* most_bytes;  // by value: at any point
} stowi_exec_range;

struct stow_exec {
  stow_allocator allocator;
  const stow_prepared* prepared;
  const stow_graph* graph;
  const stow_plan* plan;
  stowi_exec_range* range;  // NULL: it is for one shape
  stow_exec_options options;
  stow_arena* arena;
  unsigned char* base;
  unsigned char* memory;  // of the arena, and of margins around it; NULL: it is the caller's
  size_t memory_size;
  size_t memory_alignment;
  size_t margin;  // 0, except in paranoia
  stowi_exec_workers* workers;
  const stowi_exec_program* program;  // of |prepared|
  stowi_exec_code code;
  stowi_exec_frame frame;
  stowi_exec_value_place* places;  // by value
  stowi_exec_loop* loops;          // by region
  uint32_t region_count;
  uint64_t rounds;         // those that the loops around a step are in, as one number
  unsigned char* weights;  // copies of weights that are not aligned
  size_t weights_size;
  stowi_exec_inference inference;
  stowi_exec_carry* carries;
  size_t carry_count;
  // By value: 1 + the index of what it is an input or output of; 0: none. NULL: nothing grows.
  uint32_t* carry_of;
  stowi_exec_rows* carry_rows;    // by node, until the code has them
  stowi_exec_paranoia* paranoia;  // NULL: none
  uint32_t step;                  // being run
  bool is_running;
  bool is_moved;  // views of what has no slot are not where that is now
  char message[STOWI_EXEC_MESSAGE_SIZE];
};

// The arena, over memory that is allocated if it is not there yet (create.c).
stow_status stowi_exec_make_arena(stow_exec* exec, stow_diag* diag);

// Gives every value its place and puts weights there (places.c).
stow_status stowi_exec_place(stow_exec* exec, stow_diag* diag);
// The same where plan and dims have changed: weights stay where they are, inputs must be set again.
stow_status stowi_exec_place_again(stow_exec* exec, stow_diag* diag);
// Whether more than a shape decides where the value is, or its dims: the caller, or a run.
bool stowi_exec_is_open(const stow_exec* exec, stow_value value);
// Names all numbers of places that change with the shape, and of tensors that are not open.
void stowi_exec_place_name(stow_exec* exec, stowi_exec_changes* changes);
// After these were set: gives |open| values their places, as stowi_exec_place_again does.
void stowi_exec_place_open(stow_exec* exec, const stow_value* open, size_t count);

// Executors of a range (range.c): proves the plan, and makes what is needed besides what every
// executor has. Freed also after a failure.
stow_status stowi_exec_range_begin(stow_exec* exec, const stow_formula* formula, stow_diag* diag);
void stowi_exec_range_destroy(stow_exec* exec);
// All else is made: notes the numbers of every point, and makes what poison and paranoia need at
// the last one.
stow_status stowi_exec_range_end(stow_exec* exec, stow_diag* diag);
// Moves to the point at which |value| has the dims of |tensor|, if there is one that they tell,
// with what is carried over; symbols that neither tells stay. False if there is none.
bool stowi_exec_range_follow(stow_exec* exec, stow_value value, const stow_tensor* tensor,
                             stow_status* out_status, stow_diag* diag);
// Gives views of what has no slot their data again, where something was bound since. O(values).
void stowi_exec_follow(stow_exec* exec);
// Where |value| is now, whether or not that was done; NULL: nowhere. O(views between it and its
// bytes).
void* stowi_exec_data(const stow_exec* exec, stow_value value);
// STOW_ERR_CONFLICT naming |what| while a run is under way.
stow_status stowi_exec_idle(const stow_exec* exec, const char* what, stow_diag* diag);
// Before a run: puts weights that the last one destroyed where they belong. STOW_ERR_NOT_FOUND
// naming what is not set or bound.
stow_status stowi_exec_require(stow_exec* exec, stow_diag* diag);
// After it.
void stowi_exec_consume(stow_exec* exec);

// Outputs that are inputs of the next run (carry.c). Which of them may grow in place, which do not
// at the present point, and what the code must know of those that do at all points.
stow_status stowi_exec_carry_choose(stow_exec* exec, stow_diag* diag);
void stowi_exec_carry_visit(stow_exec* exec);
void stowi_exec_carry_tell(stow_exec* exec);
// Buffers for them, freed also after a failure; tensors, where dims have changed; what happens
// before a run and after it; and that the caller sets |input|.
stow_status stowi_exec_carry_create(stow_exec* exec, stow_diag* diag);
void stowi_exec_carry_free(stow_exec* exec);
void stowi_exec_carry_stride(stow_exec* exec);
stow_status stowi_exec_carry_begin(stow_exec* exec, stow_diag* diag);
void stowi_exec_carry_end(stow_exec* exec);
void stowi_exec_carry_cancel(stow_exec* exec, stow_value input);

// "step 12: node 7 "name" (gather): …"
stow_status stowi_exec_fail(stow_exec* exec, stow_node node, stow_status status, stow_diag* diag,
                            const char* format, ...) STOW_PRINTF_LIKE(5, 6);

// Runs the kernel of |node|, whose call is in the frame: dims first, where they are of this run
// (run.c).
stow_status stowi_exec_run_kernel(stow_exec* exec, stow_node node, stow_diag* diag);
// Carries out instruction |*at|, other than a call, and moves |*at| to the next one (moves.c).
stow_status stowi_exec_move(stow_exec* exec, size_t* at, stow_diag* diag);

// Dims of runs (dims.c). Freed also after a failure.
stow_status stowi_exec_inference_create(stow_exec* exec, stow_diag* diag);
void stowi_exec_inference_free(stow_exec* exec);
// Writes the dims of the results of the frame's call, of a node with upper-bounded dims.
stow_status stowi_exec_resolve_dims(stow_exec* exec, stow_node node, stow_diag* diag);

// Proof while running (paranoia.c): nothing but a step's results and scratch changes.
stow_status stowi_exec_paranoia_create(const stow_plan* plan, stow_allocator allocator,
                                       stow_diag* diag, stowi_exec_paranoia** out_paranoia);
void stowi_exec_paranoia_destroy(stowi_exec_paranoia* paranoia);

// Around a run, and around each step of it, which ends with instruction |last|. STOW_ERR_VIOLATION
// naming the node, and what it wrote that it should not have.
void stowi_exec_paranoia_begin(stowi_exec_paranoia* paranoia, stow_exec* exec);
void stowi_exec_paranoia_before(stowi_exec_paranoia* paranoia, stow_exec* exec, uint32_t step);
stow_status stowi_exec_paranoia_after(stowi_exec_paranoia* paranoia, stow_exec* exec, size_t last,
                                      stow_diag* diag);
void stowi_exec_paranoia_end(stowi_exec_paranoia* paranoia, stow_exec* exec);

#endif  // STOWAGE_SRC_EXEC_RUN_EXEC_H_
