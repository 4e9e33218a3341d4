// What must be known of a graph before memory can be planned: declared effects, views, lifetimes.
//
//     graph ──┬─▶ effects ─┬─▶ views ─┬─▶ lifetimes
//             └─▶ schedule ┴──────────┘
//
// Each arrow is a call whose result is plain data. Nothing changes it, but that sharing (sharing.h)
// turns values into views; lifetimes are then made anew.
#ifndef STOWAGE_ANALYSIS_H_
#define STOWAGE_ANALYSIS_H_

#include <stowage/base.h>
#include <stowage/graph.h>
#include <stowage/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------
// Effects: a side table that says what an executor really reads, writes and needs, where that
// differs from what the graph tells. Created from the graph's `with { … }` clauses, then changed by
// calls.

typedef struct stow_effects stow_effects;

// How a boundary value or an output is kept. No other value has a policy.
typedef enum stow_io_policy {
  STOW_IO_DEFAULT,  // as the options say
  STOW_IO_KEEP,     // an input lives over the whole run; an output to its end
  STOW_IO_CONSUME,  // an input dies at its last read; for an output the same as keep. As the
                    // default it does not reach params and constants, which a second run must find
                    // untouched
  STOW_IO_EXTERNAL  // no slot: bound by pointer at run time
} stow_io_policy;

#define STOW_STEP_END UINT32_MAX  // "until the end of the run", as a node
#define STOW_BYTES_DEFAULT UINT64_MAX
#define STOW_OFFSET_NONE UINT64_MAX

// Reads the graph's `with` clauses (docs/text-format.md lists the keys). Keeps a reference to
// |graph|, which must outlive it and not grow.
STOW_API stow_status stow_effects_create(const stow_graph* graph, stow_allocator allocator,
                                         stow_diag* diag, stow_effects** out_effects);
STOW_API void stow_effects_destroy(stow_effects* effects);

// Per node. Best added in order of node: that costs O(1), while one for an earlier node moves all
// entries of its kind for later nodes.
// Bytes that the node needs while it runs. Several per node; |out_index| (may be NULL) counts from
// 0 per node.
STOW_API stow_status stow_effects_add_scratch(stow_effects* effects, stow_node node, uint64_t bytes,
                                              uint64_t alignment, stow_diag* diag,
                                              size_t* out_index);
// Operand |k| of |node| is read until the step of |until|, a node that runs later, or
// STOW_STEP_END.
STOW_API stow_status stow_effects_hold_operand(stow_effects* effects, stow_node node, size_t k,
                                               stow_node until, stow_diag* diag);
// Result |k| of |node| is written from the step of |from| on, a node that runs earlier.
STOW_API stow_status stow_effects_write_early(stow_effects* effects, stow_node node, size_t k,
                                              stow_node from, stow_diag* diag);
// Result |k| may be written over operand |operand|, though the op's row does not say so. Used where
// nothing is lost: see stow_sharing_apply.
STOW_API stow_status stow_effects_allow_overwrite(stow_effects* effects, stow_node node, size_t k,
                                                  size_t operand, stow_diag* diag);
// Result |k| must not be written over operand |operand|, though the op's row allows it. Wins over
// stow_effects_allow_overwrite.
STOW_API stow_status stow_effects_forbid_overwrite(stow_effects* effects, stow_node node, size_t k,
                                                   size_t operand, stow_diag* diag);
// Result |k| is bytes [offset, offset + its size) of operand |operand|, though the op's row does
// not say so. Not for ops that own regions or write into an operand.
STOW_API stow_status stow_effects_place_inside(stow_effects* effects, stow_node node, size_t k,
                                               size_t operand, uint64_t offset, stow_diag* diag);

// Per value.
STOW_API stow_status stow_effects_set_storage(stow_effects* effects, stow_value value,
                                              uint64_t bytes, stow_diag* diag);
STOW_API stow_status stow_effects_set_alignment(stow_effects* effects, stow_value value,
                                                uint64_t alignment, stow_diag* diag);
// The value has bytes of its own even where its op makes a view.
STOW_API stow_status stow_effects_set_own(stow_effects* effects, stow_value value, stow_diag* diag);
// Kept between runs: lives over the whole run.
STOW_API stow_status stow_effects_set_state(stow_effects* effects, stow_value value,
                                            stow_diag* diag);
STOW_API stow_status stow_effects_set_offset(stow_effects* effects, stow_value value,
                                             uint64_t offset, stow_diag* diag);
// STOW_ERR_INVALID_ARGUMENT where the value is neither boundary nor output.
STOW_API stow_status stow_effects_set_io(stow_effects* effects, stow_value value,
                                         stow_io_policy policy, stow_diag* diag);

// |output| takes the bytes of |input|, as a cache that grows or changes from run to run: the input
// gets room for both, is consumed, and may be written over by the op that makes the output. Does
// nothing where the output is a view of the input anyway. STOW_ERR_CONFLICT with the reason where
// that is unsafe: that op does not read the input, cannot write over it, or somebody else reads the
// input later. The plan shows whether it came to pass: stow_plan_root(plan, output) is |input|.
STOW_API stow_status stow_effects_alias(stow_effects* effects, stow_value output, stow_value input,
                                        stow_diag* diag);

// Reading. |effects| may be NULL everywhere: no effects.
// Whether they were made for |graph| and it has not grown since; true for NULL. No other effects
// can be used with it.
STOW_API bool stow_effects_are_of(const stow_effects* effects, const stow_graph* graph);
typedef struct stow_scratch {
  stow_node node;
  uint64_t bytes;
  uint64_t alignment;
} stow_scratch;
typedef struct stow_hold {
  stow_node node;
  size_t operand;
  stow_node until;
} stow_hold;
typedef struct stow_early_write {
  stow_node node;
  size_t result;
  stow_node from;
} stow_early_write;
typedef struct stow_overwrite {
  stow_node node;
  size_t result;
  size_t operand;
} stow_overwrite;
// In order of node, then of call.
STOW_API size_t stow_effects_scratch_count(const stow_effects* effects);
STOW_API stow_scratch stow_effects_scratch(const stow_effects* effects, size_t index);
STOW_API size_t stow_effects_hold_count(const stow_effects* effects);
STOW_API stow_hold stow_effects_hold(const stow_effects* effects, size_t index);
STOW_API size_t stow_effects_early_write_count(const stow_effects* effects);
STOW_API stow_early_write stow_effects_early_write(const stow_effects* effects, size_t index);
STOW_API size_t stow_effects_overwrite_count(const stow_effects* effects);
STOW_API stow_overwrite stow_effects_overwrite(const stow_effects* effects, size_t index);
STOW_API size_t stow_effects_forbidden_count(const stow_effects* effects);
STOW_API stow_overwrite stow_effects_forbidden(const stow_effects* effects, size_t index);
// Whether |value| is placed inside an operand of its node, and where.
STOW_API bool stow_effects_inside(const stow_effects* effects, stow_value value,
                                  size_t* out_operand, uint64_t* out_offset);
STOW_API uint64_t stow_effects_storage(const stow_effects* effects,
                                       stow_value value);  // STOW_BYTES_DEFAULT
STOW_API uint64_t stow_effects_alignment(const stow_effects* effects, stow_value value);  // 0: none
STOW_API bool stow_effects_own(const stow_effects* effects, stow_value value);
STOW_API bool stow_effects_state(const stow_effects* effects, stow_value value);
STOW_API uint64_t stow_effects_offset(const stow_effects* effects,
                                      stow_value value);  // STOW_OFFSET_NONE
STOW_API stow_io_policy stow_effects_io(const stow_effects* effects, stow_value value);

// ---------------------------------------------------------------------------------------------
// Views: which values share another's bytes, and where.

typedef struct stow_views stow_views;

typedef struct stow_views_options {
  size_t struct_size;  // written by stow_views_options_init
  bool classic_only;   // only reshape, same-dtype cast and axis-0 narrow, as in RLX
  bool f32_uniform;    // sizes and offsets count max(4, dtype width) bytes per element
  stow_io_policy io;   // for boundary values and outputs whose own policy is STOW_IO_DEFAULT
  bool inputs;         // inputs have bytes in the arena; where not, no result is written over one
} stow_views_options;

// All views, true sizes, keep, inputs in the arena.
STOW_API void stow_views_options_init(stow_views_options* options);

// The graph must be bound and verified; STOW_ERR_UNBOUND_DIM and STOW_ERR_OVERFLOW name the value.
// An output with policy external has bytes of its own, never a view. |effects| may be NULL.
STOW_API stow_status stow_views_create(const stow_graph* graph, const stow_effects* effects,
                                       const stow_views_options* options, stow_allocator allocator,
                                       stow_diag* diag, stow_views** out_views);
STOW_API void stow_views_destroy(stow_views* views);

// The value whose bytes |value| uses, itself where it is no view; and where in them.
STOW_API stow_value stow_views_root(const stow_views* views, stow_value value);
STOW_API uint64_t stow_views_offset(const stow_views* views, stow_value value);
STOW_API bool stow_views_is_view(const stow_views* views, stow_value value);
// Bytes of the value itself.
STOW_API uint64_t stow_views_bytes(const stow_views* views, stow_value value);
// The alignment that effects ask for: of a root the largest of its own and its views', of a view
// its own. 0 where they ask for none.
STOW_API uint64_t stow_views_alignment(const stow_views* views, stow_value value);
// Whether every result of |node| is a view and running it would do nothing: an executor compiles it
// away.
STOW_API bool stow_views_is_noop(const stow_views* views, stow_node node);
// Every view, in id order: calls |visit| until it returns false.
STOW_API void stow_views_each(const stow_views* views,
                              bool (*visit)(void* user, stow_value view, stow_value root,
                                            uint64_t offset),
                              void* user);

// ---------------------------------------------------------------------------------------------
// Lifetimes: half-open ranges of steps. A value made at step b and last read at step d lives over
// [b, d + 1). The caller reads the results at step n, so those end at n + 1.

typedef struct stow_lifetimes stow_lifetimes;

// A lifetime rule extends lifetimes for executors that run ops out of order or read late. Built-in
// and caller's rules are the same thing.
typedef struct stow_rule_call stow_rule_call;
typedef struct stow_rule {
  const char* name;
  const char* summary;  // one line
  stow_status (*apply)(stow_rule_call* call, void* user);
  void* user;
} stow_rule;

// The built-in rules, in the order in which the presets apply them.
STOW_API size_t stow_rule_count(void);
STOW_API const stow_rule* stow_rule_at(size_t index);
// NULL where there is none.
STOW_API const stow_rule* stow_rule_find(stow_str name);

// What a rule can ask and do.
STOW_API const stow_graph* stow_rule_graph(const stow_rule_call* call);
STOW_API const stow_views* stow_rule_views(const stow_rule_call* call);
STOW_API const stow_schedule* stow_rule_schedule(const stow_rule_call* call);
// |value| and its root live at least until |node|'s step, or to the end with STOW_STEP_END. Where
// that is outside a loop that |value| is made in, they live over the whole body too: its steps run
// again.
STOW_API void stow_rule_extend(stow_rule_call* call, stow_value value, stow_node node);
// |value| and every value reachable from it through operands, and the roots of all these, live to
// the end. Costs nothing for what an earlier call has reached already.
STOW_API void stow_rule_extend_ancestors(stow_rule_call* call, stow_value value);
// The whole plan is made without reuse.
STOW_API void stow_rule_forbid_reuse(stow_rule_call* call);

#define STOW_MAX_RULES 32

typedef struct stow_lifetimes_options {
  size_t struct_size;  // written by stow_lifetimes_options_init
  stow_io_policy io;   // for boundary values and outputs whose own policy is STOW_IO_DEFAULT
  size_t rule_count;
  const stow_rule* rules[STOW_MAX_RULES];  // borrowed during the call
} stow_lifetimes_options;

// Keep, no rules.
STOW_API void stow_lifetimes_options_init(stow_lifetimes_options* options);

// STOW_ERR_CONFLICT, naming both, where the order does not fit the graph (|schedule| is of another
// one), where effects contradict the order (a hold until a node that has run) or what ops write: a
// value that is read or held after kv_append or a loop's next round has written into its bytes, a
// write that starts while they are read, one into a param or constant. Bytes are told apart by
// root.
STOW_API stow_status stow_lifetimes_create(const stow_graph* graph, const stow_schedule* schedule,
                                           const stow_views* views, const stow_effects* effects,
                                           const stow_lifetimes_options* options,
                                           stow_allocator allocator, stow_diag* diag,
                                           stow_lifetimes** out_lifetimes);
STOW_API void stow_lifetimes_destroy(stow_lifetimes* lifetimes);
STOW_API uint32_t stow_lifetimes_begin(const stow_lifetimes* lifetimes, stow_value value);
STOW_API uint32_t stow_lifetimes_end(const stow_lifetimes* lifetimes, stow_value value);
// The same of the value alone: for a root, without the lives of what lies in it.
STOW_API uint32_t stow_lifetimes_own_begin(const stow_lifetimes* lifetimes, stow_value value);
STOW_API uint32_t stow_lifetimes_own_end(const stow_lifetimes* lifetimes, stow_value value);
// False where a rule forbade reuse.
STOW_API bool stow_lifetimes_reuse_allowed(const stow_lifetimes* lifetimes);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_ANALYSIS_H_
