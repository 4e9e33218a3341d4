// Executors: run a graph inside its plan. A library of its own, libstowage-exec. docs/exec.md is
// the guide.
//
//     stow_prepare(graph) ─▶ effects ─▶ stow_plan_make ─▶ stow_exec_create ─▶ input, run, value, …
//
// Preparing finds the kernel of each node and asks it what it needs: scratch, operands that it must
// not overwrite. That goes into effects, with which the plan is made. Creating the executor proves
// the plan, allocates everything and loads the weights; a run allocates nothing.
//
// Graph, prepared object and plan are borrowed by what is made from them: destroy the executor
// first, then plan and prepared object, then the graph. Tensors that the executor returns point
// into its memory; inputs are copied into it. An executor runs one run at a time. Several executors
// of one graph and plan are independent and may run at the same time.
//
//     #include <stowage/exec.h>
//
//     // Runs |graph|, which has the f32 input |x| and output |y|, and copies the output's first
//     // element.
//     stow_status run_once(const stow_graph* graph, stow_value x, stow_value y,
//                          const stow_tensor* input, stow_diag* diag, float* out_first) {
//       stow_allocator heap = stow_allocator_default();
//       stow_prepared* prepared = NULL;
//       stow_plan* plan = NULL;
//       stow_exec* exec = NULL;
//       stow_tensor output;
//       stow_status status = stow_prepare(graph, NULL, heap, diag, &prepared);
//       if (status == STOW_OK)
//         status = stow_plan_make(graph, stow_prepared_effects(prepared), NULL, heap, diag, &plan);
//       if (status == STOW_OK) status = stow_exec_create(prepared, plan, NULL, heap, diag, &exec);
//       if (status == STOW_OK) status = stow_exec_input(exec, x, input, diag);
//       if (status == STOW_OK) status = stow_exec_run(exec, diag);
//       if (status == STOW_OK) status = stow_exec_value(exec, y, diag, &output);
//       if (status == STOW_OK) *out_first = *(const float*)output.data;
//       stow_exec_destroy(exec);
//       stow_plan_destroy(plan);
//       stow_prepared_destroy(prepared);
//       return status;
//     }
#ifndef STOWAGE_EXEC_H_
#define STOWAGE_EXEC_H_

#include <stowage/base.h>
#include <stowage/effects.h>
#include <stowage/formula.h>
#include <stowage/graph.h>
#include <stowage/kernel.h>
#include <stowage/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------
// Tables of kernels

typedef struct stow_kernels stow_kernels;

// A table with the library's kernels, one for every op of the core. Free it with
// stow_kernels_destroy, after everything that was prepared with it.
STOW_API stow_status stow_kernels_create(stow_allocator allocator, stow_diag* diag,
                                         stow_kernels** out_kernels);
STOW_API void stow_kernels_destroy(stow_kernels* kernels);
// Sets the kernel of |op|, which is of the core or registered by the caller. The struct is copied.
// STOW_ERR_INVALID_ARGUMENT for ops that the executor runs itself (boundary values, args, yield,
// if, loop, blocks), for `custom`, and for a kernel compiled with headers in which stow_kernel ends
// before |variant_count| began, because its tensors differ too.
STOW_API stow_status stow_kernels_set(stow_kernels* kernels, stow_op op, const stow_kernel* kernel,
                                      stow_diag* diag);
// Sets the kernel of `custom` nodes whose attribute `name` is |name|. Both are copied.
STOW_API stow_status stow_kernels_set_custom(stow_kernels* kernels, stow_str name,
                                             const stow_kernel* kernel, stow_diag* diag);
// Borrowed from |kernels|; NULL: the library's kernels. Return NULL if there is no such kernel.
STOW_API const stow_kernel* stow_kernels_get(const stow_kernels* kernels, stow_op op);
STOW_API const stow_kernel* stow_kernels_get_custom(const stow_kernels* kernels, stow_str name);

// ---------------------------------------------------------------------------------------------
// Preparing, before the plan is made

typedef struct stow_prepared stow_prepared;

// Whether params and constants are packed: given to the kernel that reads them in the order in
// which it reads them (stow_kernel.pack). Only those that have data in the graph or are folded, are
// read by one node, and are neither state nor outputs.
typedef enum stow_pack {
  STOW_PACK_NEVER,  // weights are used where they lie
  STOW_PACK_AUTO,   // if they need at most an eighth more bytes then
  STOW_PACK_ALWAYS  // however many they need
} stow_pack;

typedef struct stow_prepare_options {
  size_t struct_size;           // written by stow_prepare_options_init
  uint32_t threads;             // that work on a run, including the caller's; 1
  const stow_kernels* kernels;  // NULL: the library's. Borrowed by the prepared object
  // The fastest variant of every kernel, with as much scratch as it takes; false: the fastest that
  // fits into the arena that tensors need anyway.
  bool fastest;
  // NEVER. Packed weights are beside the arena, so plan without slots for params and constants
  // (stow_plan_options).
  stow_pack pack;
} stow_prepare_options;

STOW_API void stow_prepare_options_defaults(stow_prepare_options* options);
static inline void stow_prepare_options_init(stow_prepare_options* options) {
  options->struct_size = sizeof(*options);
  stow_prepare_options_defaults(options);
}

// Verifies |graph|, finds the kernel of every node and asks what it needs. |graph| is borrowed,
// must outlive the result and not change; all its dims must be numbers, or all its symbols have
// ranges: then plan with stow_formula_make. STOW_ERR_NOT_FOUND, naming
// the node, if an op has no kernel. |options| may be NULL. Free the result with
// stow_prepared_destroy.
STOW_API stow_status stow_prepare(const stow_graph* graph, const stow_prepare_options* options,
                                  stow_allocator allocator, stow_diag* diag,
                                  stow_prepared** out_prepared);
STOW_API void stow_prepared_destroy(stow_prepared* prepared);
// The effects to plan with: those of the graph's `with` clauses, and what kernels need. Owned by
// |prepared|; the caller may add to them until the plan is made.
STOW_API stow_effects* stow_prepared_effects(stow_prepared* prepared);
// The same at every point of the ranges of its graph, for stow_formula_options. |prepared| must
// outlive the use of the result.
STOW_API stow_formula_effects stow_prepared_formula_effects(stow_prepared* prepared);
// Lets |output| be |input| of the next run: a cache, or a state. Both are outside the arena then,
// in buffers of the executor, and nothing is copied from run to run. In an executor of a range, an
// output that is `concat` of the input and of what is new grows in place, in one buffer, if all
// that read the two can be run row by row (stow_effects_forbid_rows); others have two buffers that
// change places. Before the first run the caller sets the input, unless it has no elements; setting
// it later begins again. Call it before the plan is made. STOW_ERR_INVALID_ARGUMENT if they are not
// a computed output and an input, if dtypes or ranks differ, if dims depend on data, or if one
// already is carried over. A run fails with STOW_ERR_TYPE if the input has other dims than the
// output had.
STOW_API stow_status stow_prepared_carry(stow_prepared* prepared, stow_value output,
                                         stow_value input, stow_diag* diag);
// What is packed: not yet made, but counted.
typedef struct stow_prepared_info {
  size_t struct_size;     // sizeof(stow_prepared_info), set by the caller
  size_t packed_count;    // weights
  uint64_t packed_bytes;  // which executors share; the first one makes them
  uint64_t packed_from;   // bytes that these weights have in the graph and no kernel reads
} stow_prepared_info;
// Fills |out_info|. STOW_ERR_INVALID_ARGUMENT if its |struct_size| is out of range.
STOW_API stow_status stow_prepared_describe(const stow_prepared* prepared,
                                            stow_prepared_info* out_info);

// Ring |index| of a `stream` node that has |scratch| bytes of scratch, in the order of the
// function's values; a plan states these bytes (stow_plan_scratch_need). False past the end, and
// for other nodes. The function is owned by |prepared|'s graph.
STOW_API bool stow_prepared_ring(const stow_prepared* prepared, stow_node node, uint64_t scratch,
                                 size_t index, stow_ring* out_ring);

// ---------------------------------------------------------------------------------------------
// Weights of rewritten graphs (rewrite.h), before the executor is created

typedef struct stow_folded stow_folded;

// Runs |fold_graph| once, in an arena of its own, and keeps its outputs: the weights of |graph|
// that are `folded`, by name. |threads| and |kernels| of |options|, which may be NULL, are used.
// Neither graph is needed afterwards. STOW_ERR_NOT_FOUND, naming it, if a folded param of |graph|
// is not an output of |fold_graph|. Free the result with stow_folded_destroy, after the executors
// that use it.
STOW_API stow_status stow_folded_create(const stow_graph* graph, const stow_graph* fold_graph,
                                        const stow_prepare_options* options,
                                        stow_allocator allocator, stow_diag* diag,
                                        stow_folded** out_folded);
STOW_API void stow_folded_destroy(stow_folded* folded);
// The data of a folded param, or NULL: a function for stow_exec_options.weight, whose |user| is the
// stow_folded.
STOW_API const void* stow_folded_weight(void* folded, stow_value value, size_t* out_size);
// Frees the data of |value| if |prepared|, whose graph it is of, has packed it: for
// stow_exec_options.on_copied to call. The weight then exists once, as it is packed.
STOW_API void stow_folded_give_back(stow_folded* folded, const stow_prepared* prepared,
                                    stow_value value);

// ---------------------------------------------------------------------------------------------
// Executors

typedef struct stow_exec stow_exec;

// The start or end of a node. |call| has its tensors at that time; NULL for nodes that the executor
// runs itself. Valid until the callback returns.
typedef struct stow_exec_event {
  bool is_done;  // false: about to run
  uint32_t step;
  stow_node node;
  const stow_kernel_call* call;
} stow_exec_event;

typedef struct stow_exec_options {
  size_t struct_size;  // written by stow_exec_options_init
  // Memory of the caller for the arena, as in stow_arena_create_over; NULL: it is allocated. Must
  // outlive the executor.
  void* memory;
  size_t memory_size;  // bytes
  bool poison;         // under ASan, bytes that are not in use at a step are inaccessible
  bool paranoid;       // fills dead bytes with a pattern and proves after every step that only its
                       // results and scratch changed; otherwise STOW_ERR_VIOLATION, naming the node
                       // and the bytes. Each step reads the whole arena twice. A kernel whose
                       // result contains the pattern is run again with another one, which reveals
                       // bytes that it did not write or computed from dead bytes; so the caller's
                       // kernels must give the same results twice
  // Returns the data of a param or constant for which the graph has none, or NULL; |out_size| is in
  // bytes. The data is borrowed, as data of the graph is. NULL: there is no such data.
  const void* (*weight)(void* user, stow_value value, size_t* out_size);
  // Called before and after each node; false stops the run with STOW_ERR_GAVE_UP. May be NULL.
  bool (*on_step)(void* user, const stow_exec_event* event);
  void* user;  // passed to all functions
  // Called by stow_exec_create for each weight that was copied or packed, in one or several parts:
  // these |size| bytes are not read again, or hardly ever, so that pages of a file may be given
  // back. Must not create executors of the same prepared object. May be NULL.
  void (*on_copied)(void* user, stow_value value, const void* data, size_t size);
  // Of an executor of a range: bytes that its arena may have. Points that need more are refused.
  // 0: as many as the largest arena. With |memory| it is |memory_size|.
  uint64_t capacity;
} stow_exec_options;

STOW_API void stow_exec_options_defaults(stow_exec_options* options);
static inline void stow_exec_options_init(stow_exec_options* options) {
  options->struct_size = sizeof(*options);
  stow_exec_options_defaults(options);
}

// Proves |plan| for graph and effects (STOW_ERR_STALE_PLAN, STOW_ERR_VIOLATION), creates the arena,
// the threads and whatever else a run needs, and loads the weights: those with a slot are copied
// there, packed ones are made with the allocator of |prepared| unless another executor did, others
// are used where they are, or copied if they are not aligned. |prepared| and |plan| are borrowed
// and must outlive the executor. |options| may be NULL. Free the result with stow_exec_destroy.
STOW_API stow_status stow_exec_create(const stow_prepared* prepared, const stow_plan* plan,
                                      const stow_exec_options* options, stow_allocator allocator,
                                      stow_diag* diag, stow_exec** out_exec);
STOW_API void stow_exec_destroy(stow_exec* exec);

// Creates an executor for all shapes of a range: one arena, for the largest of them that fits
// (stow_exec_options.capacity), which it has first. |prepared| is of a graph with ranges, and
// |formula| was made with its effects; the plan is proven at every point. Nothing is allocated
// afterwards, unless poison or paranoia are on. Otherwise as stow_exec_create. STOW_ERR_LIMIT if no
// point fits.
STOW_API stow_status stow_exec_create_range(const stow_prepared* prepared,
                                            const stow_formula* formula,
                                            const stow_exec_options* options,
                                            stow_allocator allocator, stow_diag* diag,
                                            stow_exec** out_exec);
// Gives the executor of a range another shape: |values| has a number for each symbol of the formula
// plan. Inputs that have slots must be set again; values that are kept between runs stay, and so
// does what is bound, if it is large enough. stow_exec_input does this itself if the dims that it
// is given, or those of what is carried over, belong to another point. O(values).
// STOW_ERR_NOT_FOUND if there is no such point, STOW_ERR_LIMIT if it does not fit into the arena;
// nothing changes then.
STOW_API stow_status stow_exec_set_point(stow_exec* exec, const int64_t* values, stow_diag* diag);
// The most bytes that |value| has at any point of the range, or that it has, for buffers to bind it
// to. 0 past the end.
STOW_API uint64_t stow_exec_most_bytes(const stow_exec* exec, stow_value value);
// What is carried over from run to run (stow_prepared_carry), beside the arena.
typedef struct stow_exec_carried {
  size_t struct_size;     // sizeof(stow_exec_carried), set by the caller
  size_t count;           // outputs
  size_t in_place_count;  // of these, those that grow in place: one buffer each, others have two
  uint64_t bytes;         // of all buffers
} stow_exec_carried;
// Fills |out_carried|. STOW_ERR_INVALID_ARGUMENT if its |struct_size| is out of range.
STOW_API stow_status stow_exec_describe_carried(const stow_exec* exec,
                                                stow_exec_carried* out_carried);

// Binds an input, param, constant or output that has no slot to |size| bytes of the caller, which
// are used until others are bound. STOW_ERR_INVALID_ARGUMENT if |value| has a slot, or |data| is
// too small or not aligned to its elements; the message has both numbers.
STOW_API stow_status stow_exec_bind(stow_exec* exec, stow_value value, void* data, size_t size,
                                    stow_diag* diag);
// Sets an input, or a param without data: copies the elements of |tensor|. STOW_ERR_TYPE if dtype,
// rank or dims differ from the graph's; dims of an upper-bounded input may be smaller.
// STOW_ERR_UNSUPPORTED if |tensor| is not dense.
STOW_API stow_status stow_exec_input(stow_exec* exec, stow_value value, const stow_tensor* tensor,
                                     stow_diag* diag);
// Sets an input, or a param without data, without a copy: the caller writes to the elements of
// |out_tensor|, which are those of the executor. STOW_ERR_NOT_FOUND if the value has neither a slot
// nor bound bytes.
STOW_API stow_status stow_exec_fill(stow_exec* exec, stow_value value, stow_diag* diag,
                                    stow_tensor* out_tensor);
// The current bytes of a value, such as an output after a run, with its actual dims. The bytes of
// other values may have been reused; those of a weight that is packed, or whose kernels need no
// alignment, are the graph's, aligned as they are there; a folded one that is packed has none.
// A pitched value (stow_plan_value) has strides, and so has a cache that grows in place
// (stow_prepared_carry) if it has several rows; no other output has. |out_tensor| is borrowed until
// the next run, bind or input. STOW_ERR_NOT_FOUND if the value has neither a slot nor bound bytes.
STOW_API stow_status stow_exec_value(const stow_exec* exec, stow_value value, stow_diag* diag,
                                     stow_tensor* out_tensor);

// Runs all nodes. STOW_ERR_NOT_FOUND, naming the input, if one was never set or bound, or was
// consumed by the last run. Errors of kernels name step, node and op. After an error outputs are
// undefined; the executor can be run again. Called inside a run of the same executor, this,
// stow_exec_bind, stow_exec_input and stow_exec_fill return STOW_ERR_CONFLICT, and the run
// continues.
STOW_API stow_status stow_exec_run(stow_exec* exec, stow_diag* diag);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_EXEC_H_
