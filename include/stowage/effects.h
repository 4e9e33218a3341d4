// What must be known of a graph before memory can be planned: declared effects, views, lifetimes.
//
//     graph ──┬─▶ effects ─┬─▶ views ─┬─▶ lifetimes
//             └─▶ schedule ┴──────────┘
//
// Each arrow is a call whose result is plain data. Nothing changes it, but that sharing (sharing.h)
// turns values into views; lifetimes are then made anew.
#ifndef STOWAGE_EFFECTS_H_
#define STOWAGE_EFFECTS_H_

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
// nothing is lost: the operand is read for the last time, and has the bytes.
STOW_API stow_status stow_effects_allow_in_place(stow_effects* effects, stow_node node, size_t k,
                                                 size_t operand, stow_diag* diag);
// Result |k| must not be written over operand |operand|, though the op's row allows it. Wins over
// stow_effects_allow_in_place.
STOW_API stow_status stow_effects_forbid_in_place(stow_effects* effects, stow_node node, size_t k,
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

// ---------------------------------------------------------------------------------------------
// Lifetime rules

// A lifetime rule extends lifetimes for executors that run ops out of order or read late. Built-in
// and caller's rules are the same thing. Closed: what rules can do grows by functions.
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
// The value whose bytes |value| uses: itself where it is not a view.
STOW_API stow_value stow_rule_root(const stow_rule_call* call, stow_value value);
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

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_EFFECTS_H_
