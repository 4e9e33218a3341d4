// Effects: what an executor does with memory that the graph does not show. And lifetime rules, for
// executors that run ops out of order.
//
// A graph says which values each node reads and writes. A real executor may need more: scratch
// while a node runs, an operand that an asynchronous copy still reads three steps later, a tensor
// in a blocked layout that is larger than its elements, a cache that survives the run. Effects are
// a table of such facts beside the graph. Create them from the graph (which reads its `with { … }`
// clauses, docs/text-format.md), change them by calls, and pass them to stow_plan_make and
// stow_plan_check (plan.h). docs/effects.md explains each.
//
// Effects borrow the graph, which must outlive them and get no new nodes. A plan does not refer to
// them once it is made. Setters change the table and need a lock. A value or node that is out of
// range is STOW_ERR_INVALID_ARGUMENT in every setter, as is an alignment that is not a power of
// two; a failed setter changes nothing.
//
//     #include <stowage/effects.h>
//     #include <stowage/plan.h>
//
//     // Plans |graph| with 4096 bytes of scratch for |node| and without a slot for |weights|.
//     stow_status plan_with_scratch(const stow_graph* graph, stow_node node, stow_value weights,
//                                   stow_diag* diag, stow_plan** out_plan) {
//       stow_allocator heap = stow_allocator_default();
//       stow_effects* effects = NULL;
//       stow_status status = stow_effects_create(graph, heap, diag, &effects);
//       if (status == STOW_OK)
//         status = stow_effects_add_scratch(effects, node, 4096, 64, diag, NULL);
//       if (status == STOW_OK)
//         status = stow_effects_set_io(effects, weights, STOW_IO_EXTERNAL, diag);
//       if (status == STOW_OK) status = stow_plan_make(graph, effects, NULL, heap, diag, out_plan);
//       stow_effects_destroy(effects);
//       return status;
//     }
#ifndef STOWAGE_EFFECTS_H_
#define STOWAGE_EFFECTS_H_

#include <stowage/base.h>
#include <stowage/graph.h>
#include <stowage/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------
// Effects

typedef struct stow_effects stow_effects;

// How the bytes of a boundary value or an output are kept. Other values have no policy.
typedef enum stow_io_policy {
  STOW_IO_DEFAULT,  // stow_plan_options.io
  STOW_IO_KEEP,     // an input is live over the whole run, an output until its end
  STOW_IO_CONSUME,  // an input is live until its last read; for an output the same as keep. As
                    // stow_plan_options.io it does not apply to params and constants, which a
                    // second run must find unchanged
  STOW_IO_EXTERNAL  // no slot: the caller binds a pointer at run time
} stow_io_policy;

#define STOW_STEP_END UINT32_MAX  // in place of a node: the end of the run
#define STOW_BYTES_DEFAULT UINT64_MAX
#define STOW_OFFSET_NONE UINT64_MAX

// Reads the graph's `with` clauses (docs/text-format.md lists the keys). Borrows |graph|, which
// must outlive the effects and get no new nodes. Errors of a clause name its node.
STOW_API stow_status stow_effects_create(const stow_graph* graph, stow_allocator allocator,
                                         stow_diag* diag, stow_effects** out_effects);
STOW_API void stow_effects_destroy(stow_effects* effects);

// Of nodes. Adding in order of node is O(1); an entry for an earlier node moves all entries of its
// kind for later nodes.

// |node| needs |bytes| of scratch while it runs, aligned to |alignment|. A node may have several;
// |out_index| (may be NULL) is the index among those of the node, from 0.
STOW_API stow_status stow_effects_add_scratch(stow_effects* effects, stow_node node, uint64_t bytes,
                                              uint64_t alignment, stow_diag* diag,
                                              size_t* out_index);
// Scratch |index| of |node| may have |bytes| instead, more than it needs, if its kernel is faster
// with more. The plan has the largest offer that fits into what is free at its step: offers do not
// change the arena (docs/effects.md). |bytes| is at least what the scratch needs.
STOW_API stow_status stow_effects_offer_scratch(stow_effects* effects, stow_node node, size_t index,
                                                uint64_t bytes, stow_diag* diag);
// Operand |k| of |node| is read until the step of |until|, a later node, or STOW_STEP_END.
STOW_API stow_status stow_effects_hold_operand(stow_effects* effects, stow_node node, size_t k,
                                               stow_node until, stow_diag* diag);
// Result |k| of |node| is written from the step of |from| on, an earlier node.
STOW_API stow_status stow_effects_write_early(stow_effects* effects, stow_node node, size_t k,
                                              stow_node from, stow_diag* diag);
// Result |k| of |node| may be computed in place of operand |operand|, although its op does not
// allow it. Applied if nothing is lost: it is the operand's last read, and the operand has enough
// bytes.
STOW_API stow_status stow_effects_allow_in_place(stow_effects* effects, stow_node node, size_t k,
                                                 size_t operand, stow_diag* diag);
// Result |k| of |node| must not be computed in place of operand |operand|, although its op allows
// it. Takes precedence over stow_effects_allow_in_place.
STOW_API stow_status stow_effects_forbid_in_place(stow_effects* effects, stow_node node, size_t k,
                                                  size_t operand, stow_diag* diag);
// |node| must be run in one call for all rows, so its operands and results are dense. Of no effect
// unless stow_plan_options.least_row allows others.
STOW_API stow_status stow_effects_forbid_rows(stow_effects* effects, stow_node node,
                                              stow_diag* diag);
// Result |k| of |node| is a view of operand |operand|, from byte |offset| on, although its op does
// not define it so. Not for ops that own regions or write into an operand.
STOW_API stow_status stow_effects_place_inside(stow_effects* effects, stow_node node, size_t k,
                                               size_t operand, uint64_t offset, stow_diag* diag);

// Of values.

// The value's slot has |bytes| bytes instead of what its type needs, as in a blocked layout;
// STOW_BYTES_DEFAULT: what its type needs.
STOW_API stow_status stow_effects_set_storage(stow_effects* effects, stow_value value,
                                              uint64_t bytes, stow_diag* diag);
// The value's offset is a multiple of |alignment| bytes. STOW_ERR_CONFLICT if its fixed offset is
// not.
STOW_API stow_status stow_effects_set_alignment(stow_effects* effects, stow_value value,
                                                uint64_t alignment, stow_diag* diag);
// The value has bytes of its own even if its op defines it as a view. STOW_ERR_CONFLICT after
// stow_effects_place_inside, and the other way round.
STOW_API stow_status stow_effects_set_own(stow_effects* effects, stow_value value, stow_diag* diag);
// The value is kept between runs: live over the whole run.
STOW_API stow_status stow_effects_set_state(stow_effects* effects, stow_value value,
                                            stow_diag* diag);
// Fixes the value's offset in the arena, in bytes; STOW_OFFSET_NONE: not fixed.
// STOW_ERR_CONFLICT if it is not a multiple of the value's alignment.
STOW_API stow_status stow_effects_set_offset(stow_effects* effects, stow_value value,
                                             uint64_t offset, stow_diag* diag);
// STOW_ERR_INVALID_ARGUMENT if the value is neither a boundary value nor an output.
STOW_API stow_status stow_effects_set_io(stow_effects* effects, stow_value value,
                                         stow_io_policy policy, stow_diag* diag);

// |output| takes the bytes of |input|, as in a cache that is updated from run to run: the input
// gets room for both and is consumed, and the op that computes the output may work in place. Does
// nothing if the output is a view of the input anyway. STOW_ERR_CONFLICT, with the reason, if that
// is unsafe: the op does not read the input, cannot work in place of it, or another node reads the
// input later. In a plan where it was done, stow_plan_root(plan, output) is |input|.
STOW_API stow_status stow_effects_alias(stow_effects* effects, stow_value output, stow_value input,
                                        stow_diag* diag);

// ---------------------------------------------------------------------------------------------
// Lifetime rules

// A lifetime rule extends lifetimes, for executors that run ops out of order or read late. A caller
// can write rules of its own; add them with stow_plan_options_add_rule. |apply| gets |user| and is
// called whenever lifetimes are computed, which may be several times for one plan; a status other
// than STOW_OK ends planning with it.
typedef struct stow_rule_call stow_rule_call;
typedef struct stow_rule {
  const char* name;
  const char* summary;  // one line
  stow_status (*apply)(stow_rule_call* call, void* user);
  void* user;
} stow_rule;

// The built-in rules, in the order in which the presets apply them. Static; NULL past the end.
STOW_API size_t stow_rule_count(void);
STOW_API const stow_rule* stow_rule_at(size_t index);
// Static; NULL if no rule has this name.
STOW_API const stow_rule* stow_rule_find(stow_str name);

// For rules. What is returned is borrowed for the call.
STOW_API const stow_graph* stow_rule_graph(const stow_rule_call* call);
// The value whose bytes |value| uses; |value| itself if it is not a view.
STOW_API stow_value stow_rule_root(const stow_rule_call* call, stow_value value);
STOW_API const stow_schedule* stow_rule_schedule(const stow_rule_call* call);
// |value| and its root are live at least until the step of |node|, or to the end of the run with
// STOW_STEP_END. If |node| is outside the loop in which |value| is computed, they are live over the
// whole body too, because its steps run again.
STOW_API void stow_rule_extend(stow_rule_call* call, stow_value value, stow_node node);
// |value|, every value reachable from it through operands, and the roots of all these are live to
// the end of the run. Values that an earlier call reached cost nothing.
STOW_API void stow_rule_extend_ancestors(stow_rule_call* call, stow_value value);
// No two values of the plan share bytes.
STOW_API void stow_rule_forbid_reuse(stow_rule_call* call);

#define STOW_MAX_RULES 32  // in stow_plan_options

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_EFFECTS_H_
