// Placement: gives buffers, which have a size and a lifetime, offsets in one arena. Independent of
// graphs and tensors.
//
//     offset
//       ▲   ┌───────┐ ┌────┐
//       │   │   b   │ │ d  │      two buffers that are live at the same step
//       │ ┌─┴──┬────┤ │    │      have disjoint footprints (size + guard)
//       │ │ a  │ c  │ │    │
//       └─┴────┴────┴─┴────┴──▶ step
//
// Add the buffers to a problem, call a strategy, read the offsets. The height of a placement is the
// arena size that it needs; no placement is lower than the bound, so a height equal to the bound is
// optimal. A search that runs out of budget or is stopped still returns its best placement:
// "does not fit" is an outcome, not an error. stow_placement_check proves any set of offsets, by
// code that shares nothing with the strategies.
//
// A problem owns its buffers and is only read by strategies, so several may run on it at the same
// time. A placement does not refer to the problem. Sizes, offsets and heights are in bytes, times
// in steps. The same problem and options give the same placement on every machine.
//
//     #include <stdio.h>
//     #include <stowage/place.h>
//
//     int main(void) {
//       static const uint64_t sizes[] = {4096, 1024, 512};  // live at steps {0, 1}, {1, 2}, {2, 3}
//       stow_allocator heap = stow_allocator_default();
//       stow_problem* problem = NULL;
//       stow_placement* placement = NULL;
//       stow_diag diag;
//       stow_diag_init(&diag);
//       stow_status status = stow_problem_create(heap, &diag, &problem);
//       for (uint64_t i = 0; status == STOW_OK && i < 3; ++i) {
//         size_t number;
//         stow_buffer buffer;
//         stow_buffer_init(&buffer);
//         buffer.size = sizes[i];
//         buffer.begin = i;
//         buffer.end = i + 2;
//         status = stow_problem_add(problem, &buffer, &diag, &number);
//       }
//       if (status == STOW_OK) status = stow_place_auto(problem, NULL, heap, &diag, &placement);
//       if (status == STOW_OK)
//         printf("%llu bytes, %s\n", (unsigned long long)stow_placement_height(placement),
//                stow_outcome_text(stow_placement_outcome(placement)));  // 5120 bytes, optimal
//       stow_placement_destroy(placement);
//       stow_problem_destroy(problem);
//       return status == STOW_OK ? 0 : 1;
//     }
#ifndef STOWAGE_PLACE_H_
#define STOWAGE_PLACE_H_

#include <stowage/base.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------
// Problems

typedef struct stow_problem stow_problem;

#define STOW_BUFFER_NONE SIZE_MAX
#define STOW_PLACE_ANYWHERE UINT64_MAX

typedef struct stow_buffer {
  size_t struct_size;     // written by stow_buffer_init
  uint64_t size;          // bytes, above 0
  uint64_t guard;         // bytes after it that no other live buffer may use
  uint64_t begin;         // live at steps [begin, end)
  uint64_t end;           // above begin
  uint64_t alignment;     // of the offset, in bytes; a power of two
  uint64_t fixed_offset;  // STOW_PLACE_ANYWHERE, or the offset that it must have
  uint32_t pool;          // the memory it lies in; must be 0: only one is supported
} stow_buffer;

// Size 0, no guard, [0, 0), alignment 1, anywhere, pool 0.
STOW_API void stow_buffer_defaults(stow_buffer* desc);
static inline void stow_buffer_init(stow_buffer* desc) {
  desc->struct_size = sizeof(*desc);
  stow_buffer_defaults(desc);
}

// A problem without buffers. Free it with stow_problem_destroy.
STOW_API stow_status stow_problem_create(stow_allocator allocator, stow_diag* diag,
                                         stow_problem** out_problem);
STOW_API void stow_problem_destroy(stow_problem* problem);
// Adds a copy of |desc|; buffers are numbered from 0 in the order they are added.
// STOW_ERR_INVALID_ARGUMENT if a field is not as described above, or a fixed offset is misaligned.
// STOW_ERR_OVERFLOW if the highest fixed end plus the sum of all footprints, each with
// alignment - 1 bytes more, does not fit in 63 bits; therefore no strategy can overflow.
// STOW_ERR_LIMIT above 2^32 - 2 buffers. STOW_ERR_UNSUPPORTED for a pool other than 0.
STOW_API stow_status stow_problem_add(stow_problem* problem, const stow_buffer* desc,
                                      stow_diag* diag, size_t* out_buffer);
STOW_API size_t stow_problem_count(const stow_problem* problem);
// Copies a buffer's description to |out_desc|, whose |struct_size| the caller sets.
// STOW_ERR_NOT_FOUND past the end.
STOW_API stow_status stow_problem_describe_buffer(const stow_problem* problem, size_t buffer,
                                                  stow_buffer* out_desc);

// A window: a part of a buffer's lifetime in which it occupies only some of its footprint. An empty
// one is a gap: the buffer keeps its offset but occupies nothing, and other buffers may use its
// bytes.
//
//     offset
//       ▲  ┌──────┐
//       │  │      ├────┐  low = 2, high = 5: the rest of the footprint is free at these steps
//       │  │      ├────┘
//       └──┴──────┴───────▶ step
typedef struct stow_window_desc {
  size_t struct_size;  // written by stow_window_desc_init
  uint64_t begin;      // steps [begin, end) of the buffer's lifetime, not empty
  uint64_t end;
  uint64_t low;  // bytes [low, high) of [0, size + guard), from the buffer's offset; empty: a gap
  uint64_t high;
} stow_window_desc;

// All 0.
STOW_API void stow_window_desc_defaults(stow_window_desc* desc);
static inline void stow_window_desc_init(stow_window_desc* desc) {
  desc->struct_size = sizeof(*desc);
  stow_window_desc_defaults(desc);
}
// Adds a window to the buffer that was added last. Windows are in order of time and do not overlap,
// and the buffer occupies at least one byte at some step; otherwise STOW_ERR_INVALID_ARGUMENT.
// STOW_ERR_LIMIT if the number of buffers plus twice that of windows is above 2^32 - 2. The whole
// footprint lies inside the arena even so.
STOW_API stow_status stow_problem_add_window(stow_problem* problem, const stow_window_desc* desc,
                                             stow_diag* diag);
// |buffer| must be below the problem's count.
STOW_API size_t stow_problem_window_count(const stow_problem* problem, size_t buffer);
// The same for a window of |buffer|.
STOW_API stow_status stow_problem_describe_window(const stow_problem* problem, size_t buffer,
                                                  size_t index, stow_window_desc* out_desc);

// The highest load, and the lower bound that follows from it.
typedef struct stow_load {
  size_t struct_size;  // sizeof(stow_load), set by the caller
  uint64_t bytes;  // the highest load: bytes occupied at one step by live footprints and windows
  uint64_t step;   // the first step with this load
  // No placement is lower. The largest of: the highest load with every footprint but one rounded up
  // to the smallest alignment of the problem; the end of the highest fixed footprint; the largest
  // footprint.
  uint64_t lower_bound;
  uint64_t pair_count;  // pairs of buffers whose lifetimes overlap, gaps not considered
} stow_load;
// Computes the load without placing anything. O(n log n).
STOW_API stow_status stow_problem_load(const stow_problem* problem, stow_allocator allocator,
                                       stow_diag* diag, stow_load* out_load);

// ---------------------------------------------------------------------------------------------
// Placements

typedef struct stow_placement stow_placement;

#define STOW_PLACE_SMALLEST UINT64_MAX
#define STOW_PLACE_NO_LIMIT UINT64_MAX

// The state of a running search. Fields may be added at the end.
typedef struct stow_place_progress {
  const char* phase;  // what it is doing, in a word or two; static
  uint64_t best;      // height of the best placement so far; UINT64_MAX before the first
  uint64_t bound;     // proven so far: no placement is lower
  uint64_t nodes;     // search nodes spent so far
} stow_place_progress;

typedef struct stow_place_options {
  size_t struct_size;  // written by stow_place_options_init
  bool reuse;          // false: no two buffers share bytes, whatever their lifetimes
  // In bytes. STOW_PLACE_SMALLEST: *minimise*, find the lowest height. Otherwise *fit*: find any
  // placement whose height is at most this, or prove that there is none.
  uint64_t capacity;
  // The budget, in search nodes: a node is one attempt to give one buffer an offset. In the exact
  // search an attempt that examines or moves many buffers counts as several nodes, so that nodes
  // take about the same time. The same budget gives the same result on every machine. 0: only a
  // first placement, whose nodes are counted but not limited. The last pass may exceed the budget
  // slightly. STOW_PLACE_NO_LIMIT: until the search is complete, however long that takes.
  uint64_t nodes;
  // Called at every better placement and often during a search: every few milliseconds, or up to a
  // second with tens of thousands of buffers. Return false to stop, for example by a clock or an
  // interrupt; the result is then the best placement so far, marked as stopped. May be NULL.
  bool (*on_progress)(void* user, const stow_place_progress* progress);
  void* user;
  // Ends the search once this many nodes have brought neither a lower placement nor a higher bound.
  // STOW_PLACE_NO_LIMIT: never for that reason.
  uint64_t patience;
  // Divides work among |workers| threads of the caller's. The same nodes give the same placement
  // with any number of them. Threads other than the caller's allocate nothing and do not call
  // |on_progress|. If |split| is NULL, the caller does all work.
  stow_splitter splitter;
  uint32_t workers;
  // An earlier placement to start from: an offset for each buffer of the problem, or
  // STOW_PLACE_ANYWHERE where there is none. NULL: no start. Borrowed during the call. Buffers keep
  // these offsets where they are free and aligned, as far as no lower placement is found; so the
  // result is never higher than what the start gives, and if that is already good enough, nothing
  // is searched. Ignored without reuse, and for fixed buffers.
  const uint64_t* start;
} stow_place_options;

#define STOW_PLACE_DEFAULT_NODES 400000

// Reuse, minimise, STOW_PLACE_DEFAULT_NODES, no callback, no limit to patience, no start.
STOW_API void stow_place_options_defaults(stow_place_options* options);
static inline void stow_place_options_init(stow_place_options* options) {
  options->struct_size = sizeof(*options);
  stow_place_options_defaults(options);
}

// What a search found out.
typedef enum stow_outcome {
  STOW_OUTCOME_OPTIMAL,     // proven: no placement is lower; within the capacity, if any
  STOW_OUTCOME_FEASIBLE,    // within the capacity, if any; a lower one may exist
  STOW_OUTCOME_INFEASIBLE,  // proven: no placement is within the capacity
  STOW_OUTCOME_GAVE_UP      // found none within the capacity, and no proof that there is none
} stow_outcome;
// "optimal", "feasible", "infeasible", "gave up"; never NULL. Static.
STOW_API const char* stow_outcome_text(stow_outcome outcome);

// A strategy. Fixed buffers get their offsets; STOW_ERR_CONFLICT names two that overlap. Otherwise
// there is always a placement, which may be above the capacity: check its outcome. The same problem
// and options give the same placement on every machine, unless the callback stops the search.
typedef struct stow_strategy {
  const char* name;
  const char* summary;  // one line
  stow_status (*place)(const stow_problem* problem, const stow_place_options* options,
                       stow_allocator allocator, stow_diag* diag, stow_placement** out_placement);
} stow_strategy;

// All strategies; docs/strategies.md describes them. Static; NULL past the end.
STOW_API size_t stow_strategy_count(void);
STOW_API const stow_strategy* stow_strategy_at(size_t index);
// Static; NULL if no strategy has this name.
STOW_API const stow_strategy* stow_strategy_find(stow_str name);

// The strategy `auto`: finds a good placement at once, then improves it within the budget until the
// height equals the bound. Use it unless there is a reason not to. Never higher than first-fit if
// it minimises, is not stopped, and at most 2 * 10^9 pairs of buffers have overlapping lifetimes.
// |options| may be NULL. Free the result with stow_placement_destroy.
STOW_API stow_status stow_place_auto(const stow_problem* problem, const stow_place_options* options,
                                     stow_allocator allocator, stow_diag* diag,
                                     stow_placement** out_placement);

STOW_API void stow_placement_destroy(stow_placement* placement);
// The offset of |buffer|, which must be below the number of buffers.
STOW_API uint64_t stow_placement_offset(const stow_placement* placement, size_t buffer);
// The end of the highest footprint, not rounded up.
STOW_API uint64_t stow_placement_height(const stow_placement* placement);
STOW_API stow_outcome stow_placement_outcome(const stow_placement* placement);
typedef struct stow_placement_info {
  size_t struct_size;  // sizeof(stow_placement_info), set by the caller
  size_t count;        // of buffers
  uint64_t height;
  uint64_t bound;  // proven: no placement is lower. Equal to the height: optimal
  uint64_t nodes;  // search nodes spent
  stow_outcome outcome;
  bool stopped;  // by the callback
} stow_placement_info;
STOW_API stow_status stow_placement_describe(const stow_placement* placement,
                                             stow_placement_info* out_info);

// Why nothing fits: a set of buffers that do not fit in the capacity together. It is irreducible if
// without any one of them the others fit. Fixed buffers keep their offsets, in the set or not.
typedef struct stow_explanation {
  size_t struct_size;  // sizeof(stow_explanation), set by the caller
  size_t* buffers;     // in ascending order
  size_t count;
  bool irreducible;  // false: the budget ended before every member was shown to be necessary
} stow_explanation;
// |options| as for stow_place_auto, with a capacity. STOW_ERR_INVALID_ARGUMENT without one,
// STOW_ERR_NOT_FOUND if everything fits, STOW_ERR_GAVE_UP if the budget ends before either is
// known. Free the result with stow_explanation_free and the same allocator.
STOW_API stow_status stow_place_explain(const stow_problem* problem,
                                        const stow_place_options* options, stow_allocator allocator,
                                        stow_diag* diag, stow_explanation* out_explanation);
STOW_API void stow_explanation_free(stow_explanation* explanation, stow_allocator allocator);

// ---------------------------------------------------------------------------------------------
// Checking. Shares no code with the strategies.

typedef enum stow_placement_fault {
  STOW_PLACEMENT_OK,
  STOW_PLACEMENT_OVERLAP,  // two live footprints overlap
  STOW_PLACEMENT_MISALIGNED,
  STOW_PLACEMENT_MOVED,   // a fixed buffer has another offset
  STOW_PLACEMENT_OUTSIDE  // a footprint ends above the height
} stow_placement_fault;

typedef struct stow_placement_violation {
  size_t struct_size;  // sizeof(stow_placement_violation), set by the caller
  stow_placement_fault fault;
  size_t first;   // the buffer
  size_t second;  // the other buffer of an overlap; otherwise STOW_BUFFER_NONE
  uint64_t step;  // the first step at which both are live, or the begin of |first|
} stow_placement_violation;

// Proves that offsets[0 … count-1] and |height|, in bytes, are a correct placement of |problem|.
// STOW_ERR_VIOLATION if not, with the first fault found in |out_violation| (may be NULL) and its
// description in |diag|. O(n log n).
STOW_API stow_status stow_placement_check(const stow_problem* problem, const uint64_t* offsets,
                                          size_t count, uint64_t height, stow_allocator allocator,
                                          stow_diag* diag, stow_placement_violation* out_violation);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_PLACE_H_
