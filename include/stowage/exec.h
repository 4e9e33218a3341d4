// Executor: runs a graph inside its plan. A library of its own, libstowage-exec.
//
//     stow_prepare(graph) ─▶ effects ─▶ stow_plan_make ─▶ stow_exec_create ─▶ input, run, value, …
//
// What kernels need (scratch, what they must not overwrite) is asked before the plan is made; the
// plan is proven when the executor is created. Everything is allocated then: a run allocates
// nothing, whatever happens in it.
#ifndef STOWAGE_EXEC_H_
#define STOWAGE_EXEC_H_

#include <stowage/base.h>
#include <stowage/effects.h>
#include <stowage/graph.h>
#include <stowage/kernel.h>
#include <stowage/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------
// Tables of kernels

typedef struct stow_kernels stow_kernels;

// The library's kernels, one for every op of the core.
STOW_API stow_status stow_kernels_create(stow_allocator allocator, stow_diag* diag,
                                         stow_kernels** out_kernels);
STOW_API void stow_kernels_destroy(stow_kernels* kernels);
// Replaces the kernel of |op|, of the core or registered by the caller. The struct is copied.
// STOW_ERR_INVALID_ARGUMENT for ops that the executor itself carries out: boundary values, args,
// yield, if, loop; and for a kernel compiled against headers whose stow_kernel is another, since
// its tensors are others, too.
STOW_API stow_status stow_kernels_set(stow_kernels* kernels, stow_op op, const stow_kernel* kernel,
                                      stow_diag* diag);
// The kernel of `custom` nodes whose attribute `name` is |name|.
STOW_API stow_status stow_kernels_set_custom(stow_kernels* kernels, stow_str name,
                                             const stow_kernel* kernel, stow_diag* diag);
// NULL where there is none. |kernels| may be NULL: the library's.
STOW_API const stow_kernel* stow_kernels_get(const stow_kernels* kernels, stow_op op);
STOW_API const stow_kernel* stow_kernels_get_custom(const stow_kernels* kernels, stow_str name);

// ---------------------------------------------------------------------------------------------
// Before the plan

typedef struct stow_prepared stow_prepared;

typedef struct stow_prepare_options {
  size_t struct_size;           // written by stow_prepare_options_init
  uint32_t threads;             // that work on a run, the caller's among them; 1
  const stow_kernels* kernels;  // NULL: the library's. Borrowed by what is prepared
} stow_prepare_options;

STOW_API void stow_prepare_options_defaults(stow_prepare_options* options);
static inline void stow_prepare_options_init(stow_prepare_options* options) {
  options->struct_size = sizeof(*options);
  stow_prepare_options_defaults(options);
}

// Finds the kernel of every node and what it needs. |graph| is borrowed, must be bound and verified
// and outlive what is prepared. STOW_ERR_NOT_FOUND naming the node whose op has no kernel.
// |options| may be NULL.
STOW_API stow_status stow_prepare(const stow_graph* graph, const stow_prepare_options* options,
                                  stow_allocator allocator, stow_diag* diag,
                                  stow_prepared** out_prepared);
STOW_API void stow_prepared_destroy(stow_prepared* prepared);
// What the plan has to know: those of the graph's `with` clauses, and what kernels need. The caller
// may add to them until the plan is made.
STOW_API stow_effects* stow_prepared_effects(stow_prepared* prepared);

// ---------------------------------------------------------------------------------------------
// Executors

typedef struct stow_exec stow_exec;

// What happens around a node. |call| has its tensors as they are then; NULL for nodes that the
// executor itself carries out. The executor's own: fields may be added at the end.
typedef struct stow_exec_event {
  bool is_done;  // false: about to run
  uint32_t step;
  stow_node node;
  const stow_kernel_call* call;
} stow_exec_event;

typedef struct stow_exec_options {
  size_t struct_size;  // written by stow_exec_options_init
  // The arena's bytes, which are the caller's; NULL: they are allocated. As
  // stow_arena_create_over.
  void* memory;
  size_t memory_size;
  bool poison;    // under ASan, bytes that are not in use at a step cannot be touched
  bool paranoid;  // fills bytes with a pattern before birth and after death, and after every step
                  // proves that nothing but its results and scratch changed: STOW_ERR_VIOLATION
                  // naming the node that wrote elsewhere, and where. Costs a walk over the arena,
                  // twice, per step. A kernel whose result holds the pattern is run once more, over
                  // another one: what it left unwritten, or made from dead bytes, differs then.
                  // A kernel of the caller's must give the same results twice
  // Data of a param or constant that the graph has no data for; NULL: none. What it gives is
  // borrowed, as data in the graph is.
  const void* (*weight)(void* user, stow_value value, size_t* out_size);
  // Called before and after each node; false stops the run with STOW_ERR_GAVE_UP. NULL: none.
  bool (*on_step)(void* user, const stow_exec_event* event);
  void* user;  // of both
} stow_exec_options;

STOW_API void stow_exec_options_defaults(stow_exec_options* options);
static inline void stow_exec_options_init(stow_exec_options* options) {
  options->struct_size = sizeof(*options);
  stow_exec_options_defaults(options);
}

// Proves |plan| against graph and effects (STOW_ERR_STALE_PLAN, STOW_ERR_VIOLATION), makes the
// arena, the threads and all that a run needs, and puts weights in their place: those with a slot
// are copied there, others are used where they lie, or copied where that is not aligned. Both
// |prepared| and |plan| are borrowed and must outlive the executor. |options| may be NULL.
STOW_API stow_status stow_exec_create(const stow_prepared* prepared, const stow_plan* plan,
                                      const stow_exec_options* options, stow_allocator allocator,
                                      stow_diag* diag, stow_exec** out_exec);
STOW_API void stow_exec_destroy(stow_exec* exec);

// Gives an input, param, constant or output that has no slot its bytes, which are the caller's and
// stay where they are until others are bound. |data| is aligned to 64 or to its elements;
// STOW_ERR_INVALID_ARGUMENT says what was needed and what was there.
STOW_API stow_status stow_exec_bind(stow_exec* exec, stow_value value, void* data, size_t size,
                                    stow_diag* diag);
// Sets an input (or a param without data): copies |tensor| to where it lives. STOW_ERR_TYPE where
// dtype, rank or dims are others than the graph's; dims of a bounded input may be smaller.
// STOW_ERR_UNSUPPORTED where |tensor| is not dense.
STOW_API stow_status stow_exec_input(stow_exec* exec, stow_value value, const stow_tensor* tensor,
                                     stow_diag* diag);
// Sets an input (or a param without data) without a copy: the caller fills |out_tensor|, which is
// the value as it is now, in place. STOW_ERR_NOT_FOUND where nothing is bound.
STOW_API stow_status stow_exec_fill(stow_exec* exec, stow_value value, stow_diag* diag,
                                    stow_tensor* out_tensor);
// A value as it is now, such as an output after a run, with its actual dims. Other values may have
// been written over. STOW_ERR_NOT_FOUND where nothing is bound.
STOW_API stow_status stow_exec_value(const stow_exec* exec, stow_value value, stow_diag* diag,
                                     stow_tensor* out_tensor);

// Runs all nodes. STOW_ERR_NOT_FOUND naming an input that was never set or bound, or that the last
// run consumed. Errors of kernels name step, node and op. After an error outputs mean nothing;
// another run may follow. Called inside a run of the same executor, this, stow_exec_bind,
// stow_exec_input and stow_exec_fill return STOW_ERR_CONFLICT, and the run continues.
STOW_API stow_status stow_exec_run(stow_exec* exec, stow_diag* diag);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_EXEC_H_
