// Sets: several graphs that never run at the same time (prefill and decode, forward and backward,
// two models behind one API) and share one arena. It is about as large as the largest graph needs,
// not as large as all of them together.
//
//     offset   prefill         decode
//       ▲   ┌─────────────┬─────────────┐
//       │   │ activations │ activations │
//       │   ├─────────────┴─────────────┤
//       │   │ weights · caches          │  by name
//       └───┴───────────────────────────┴──▶ step
//
// Params, constants and state outlive a run. They have one range of bytes that no other plan uses,
// and those that several graphs have, by name, have the same offset in all. Inputs, outputs,
// activations and scratch of one graph share bytes with those of the others; an output is valid
// until another graph runs.
//
// Add the graphs, place them, read one ordinary plan per graph. The set owns the plans; it borrows
// graphs, effects, schedules and whatever the options point to until it is placed. At run time
// create one block of memory of the set's size and alignment, and an arena of each plan over it
// (stow_arena_create_over). A set is changed by adding and placing, which need a lock; afterwards
// any number of threads may read it.
//
//     #include <stdio.h>
//     #include <stowage/set.h>
//
//     // Prints the arena that both graphs share.
//     stow_status print_shared_arena(const stow_graph* prefill, const stow_graph* decode,
//                                    stow_diag* diag) {
//       stow_set* set = NULL;
//       size_t index;
//       stow_status status = stow_set_create(NULL, stow_allocator_default(), diag, &set);
//       if (status == STOW_OK) status = stow_set_add(set, prefill, NULL, NULL, diag, &index);
//       if (status == STOW_OK) status = stow_set_add(set, decode, NULL, NULL, diag, &index);
//       if (status == STOW_OK) status = stow_set_place(set, diag);
//       if (status == STOW_OK)
//         printf("%llu bytes; decode alone: %llu\n", (unsigned long long)stow_set_arena_size(set),
//                (unsigned long long)stow_set_alone(set, index));
//       stow_set_destroy(set);  // the plans with it
//       return status;
//     }
#ifndef STOWAGE_SET_H_
#define STOWAGE_SET_H_

#include <stowage/base.h>
#include <stowage/graph.h>
#include <stowage/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct stow_set stow_set;

// An empty set. |options| apply to every graph (NULL: the default preset), except that the schedule
// is passed with each graph. STOW_ERR_INVALID_ARGUMENT for packed params or a weight layout, which
// are for single plans. Without reuse no two values of one graph share bytes. What the options
// point to must outlive stow_set_place.
STOW_API stow_status stow_set_create(const stow_plan_options* options, stow_allocator allocator,
                                     stow_diag* diag, stow_set** out_set);
// Destroys the plans too, but not the graphs.
STOW_API void stow_set_destroy(stow_set* set);

// Adds a graph; |out_index| counts from 0. |graph|, |effects| (may be NULL) and |schedule| (NULL:
// the graph's own order) must outlive stow_set_place. STOW_ERR_CONFLICT if the set is placed
// already.
STOW_API stow_status stow_set_add(stow_set* set, const stow_graph* graph,
                                  const stow_effects* effects, const stow_schedule* schedule,
                                  stow_diag* diag, size_t* out_index);

// Makes all plans. Each graph is planned alone first, which fixes its order and what shares bytes;
// then all are placed together, as if they ran one after the other.
//
// Params, constants and state of two graphs are the same if they have the same name and the same
// number of bytes; if both graphs have the data of a param or constant, that must be equal as well,
// otherwise there are two. For a value that lies in another's bytes, such as a view, name and size
// of the root count.
//
// STOW_ERR_TYPE for state of one name and different sizes. STOW_ERR_CONFLICT if fixed offsets
// contradict each other, or if a param without data could be either of two; both diagnostics name
// the graphs. STOW_ERR_CONFLICT as well if the set is empty or placed already. A set that could not
// be placed is unchanged.
STOW_API stow_status stow_set_place(stow_set* set, stow_diag* diag);

// Results; sizes are 0 and plans NULL before the set is placed. The plans are owned by the set.
// Each passes stow_plan_check on its own, and reserves what the other graphs keep between runs.
typedef struct stow_set_info {
  size_t struct_size;     // sizeof(stow_set_info), set by the caller
  size_t count;           // of graphs
  uint64_t arena_size;    // bytes
  uint64_t alignment;     // of the arena's base, in bytes
  uint64_t lower_bound;   // no placement with these orders and this sharing is smaller
  size_t shared_count;    // of values kept between runs that are in more than one graph
  uint64_t shared_bytes;  // of those values, each counted once
} stow_set_info;
// STOW_ERR_INVALID_ARGUMENT if |struct_size| is out of range.
STOW_API stow_status stow_set_describe(const stow_set* set, stow_set_info* out_info);
// The plan of graph |index|; NULL past the end.
STOW_API const stow_plan* stow_set_plan(const stow_set* set, size_t index);
// In bytes.
STOW_API uint64_t stow_set_arena_size(const stow_set* set);
// The arena that graph |index| would need alone, in bytes; 0 past the end.
STOW_API uint64_t stow_set_alone(const stow_set* set, size_t index);

// Proves that |count| plans of graphs that never run at the same time can share one arena: what
// each keeps between runs (params, constants, state) lies, with its guard, in a range that every
// other plan reserves or uses for the same value; equal values have equal offsets. Shares no code
// with the planner. Prove each plan with stow_plan_check first. STOW_ERR_VIOLATION with both
// graphs, the value and the offsets in |diag|, and the fault in |out_violation| (may be NULL).
// |effects| may be NULL or have NULL entries. O(pairs of plans × n log n).
STOW_API stow_status stow_set_check(const stow_plan* const* plans, const stow_graph* const* graphs,
                                    const stow_effects* const* effects, size_t count,
                                    stow_allocator allocator, stow_diag* diag,
                                    stow_violation* out_violation);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_SET_H_
