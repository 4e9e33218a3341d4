// Several graphs, one arena: graphs that never run at the same time (prefill and decode, forward
// and backward, two models behind one API) lie over each other. What must outlive a run (params,
// constants, state) has one place that all plans respect; what several graphs have in common has
// the same place in all. The arena is as large as the largest graph needs, not as all together.
//
//     offset   prefill         decode
//       ▲   ┌─────────────┬─────────────┐
//       │   │ activations │ activations │
//       │   ├─────────────┴─────────────┤
//       │   │ weights · caches          │  by name
//       └───┴───────────────────────────┴──▶ step
#ifndef STOWAGE_SET_H_
#define STOWAGE_SET_H_

#include <stowage/base.h>
#include <stowage/graph.h>
#include <stowage/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct stow_set stow_set;

// |options| (NULL: the default preset) hold for every graph; the schedule is given with each.
// Packed params and a weight layout are for single plans: STOW_ERR_INVALID_ARGUMENT. Without reuse
// no two values of one graph share bytes. What the options point to must outlive stow_set_place.
STOW_API stow_status stow_set_create(const stow_plan_options* options, stow_allocator allocator,
                                     stow_diag* diag, stow_set** out_set);
// Plans, not graphs, are destroyed with it.
STOW_API void stow_set_destroy(stow_set* set);

// Adds a graph; graphs are numbered from 0. |graph|, |effects| (may be NULL) and |schedule| (NULL:
// the graph's own order) must outlive stow_set_place. STOW_ERR_CONFLICT once the set is placed.
STOW_API stow_status stow_set_add(stow_set* set, const stow_graph* graph,
                                  const stow_effects* effects, const stow_schedule* schedule,
                                  stow_diag* diag, size_t* out_index);

// Makes all plans. Every graph is planned alone first, which settles its order and what it shares;
// then all are placed together, one after the other in time.
//
// A param, constant or state is the same thing in two graphs where it has the same name and the
// same number of bytes; params and constants of which both graphs have the data must be equal there
// too, else they are two things. Where one lies in another's bytes, as a view does, name and size
// are those of the root.
//
// State of one name and other sizes is STOW_ERR_TYPE. STOW_ERR_CONFLICT where offsets that effects
// fix contradict each other, and for a param without data that could be either of two. Both
// diagnostics name the graphs. A set that could not be placed is as it was before.
STOW_API stow_status stow_set_place(stow_set* set, stow_diag* diag);

// Once placed; before that sizes are 0 and plans NULL. The plans belong to the set; each passes
// stow_plan_check on its own, and reserves what the other graphs keep between runs. Arenas of all
// of them lie over one memory of the set's size and alignment (stow_arena_create_over).
typedef struct stow_set_info {
  size_t struct_size;  // sizeof(stow_set_info), set by the caller
  size_t count;        // of graphs
  uint64_t arena_size;
  uint64_t alignment;
  uint64_t lower_bound;   // no placement with these orders and this sharing is smaller
  size_t shared_count;    // of values kept between runs that are in more than one graph
  uint64_t shared_bytes;  // theirs
} stow_set_info;
STOW_API stow_status stow_set_describe(const stow_set* set, stow_set_info* out_info);
STOW_API const stow_plan* stow_set_plan(const stow_set* set, size_t index);
STOW_API uint64_t stow_set_arena_size(const stow_set* set);
// The arena of graph |index| alone.
STOW_API uint64_t stow_set_alone(const stow_set* set, size_t index);

// Proves that plans, for graphs that never run at the same time, can share one arena: what each
// keeps between runs (params, constants, state) lies, with its guard, in a stretch that every other
// plan reserves or has the same thing in; the same things lie at the same offset. No code in common
// with the planner. Each plan is proved by stow_plan_check beforehand. STOW_ERR_VIOLATION with both
// graphs, the value and the offsets in |diag|, and the fault in |out_violation| (may be NULL).
// |effects| may be NULL, or have NULL entries. O(pairs of plans × n log n).
STOW_API stow_status stow_set_check(const stow_plan* const* plans, const stow_graph* const* graphs,
                                    const stow_effects* const* effects, size_t count,
                                    stow_allocator allocator, stow_diag* diag,
                                    stow_violation* out_violation);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_SET_H_
