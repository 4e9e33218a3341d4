// Placement: buffers with a size and a lifetime get offsets in one arena. Knows nothing of graphs.
//
//     offset
//       ▲   ┌───────┐ ┌────┐
//       │   │   b   │ │ d  │      two buffers that live at the same time
//       │ ┌─┴──┬────┤ │    │      have disjoint footprints (size + guard)
//       │ │ a  │ c  │ │    │
//       └─┴────┴────┴─┴────┴──▶ step
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
  uint64_t size;          // above 0
  uint64_t guard;         // bytes after it that nothing live may use
  uint64_t begin;         // lives over [begin, end)
  uint64_t end;           // above begin
  uint64_t alignment;     // of the offset; a power of two
  uint64_t fixed_offset;  // STOW_PLACE_ANYWHERE, or where it must lie
  uint32_t pool;          // the memory it lies in; 0: only one is supported
} stow_buffer;

// Size 0, no guard, [0, 0), alignment 1, anywhere, pool 0.
STOW_API void stow_buffer_defaults(stow_buffer* desc);
static inline void stow_buffer_init(stow_buffer* desc) {
  desc->struct_size = sizeof(*desc);
  stow_buffer_defaults(desc);
}

STOW_API stow_status stow_problem_create(stow_allocator allocator, stow_diag* diag,
                                         stow_problem** out_problem);
STOW_API void stow_problem_destroy(stow_problem* problem);
// Buffers are numbered from 0 in the order they are added. STOW_ERR_INVALID_ARGUMENT for what the
// fields above forbid and for a misaligned fixed offset. STOW_ERR_OVERFLOW where the highest fixed
// end and the sum of all footprints, each with alignment - 1 bytes more, need more than 63 bits
// together: so no strategy can overflow. STOW_ERR_LIMIT above 2^32 - 2 buffers.
// STOW_ERR_UNSUPPORTED for a pool other than 0.
STOW_API stow_status stow_problem_add(stow_problem* problem, const stow_buffer* desc,
                                      stow_diag* diag, size_t* out_buffer);
STOW_API size_t stow_problem_count(const stow_problem* problem);
// |out_desc| has its struct_size. STOW_ERR_NOT_FOUND past the end.
STOW_API stow_status stow_problem_describe_buffer(const stow_problem* problem, size_t buffer,
                                                  stow_buffer* out_desc);

// A window: a part of a buffer's life in which it occupies only some of its footprint. An empty one
// is a gap: the buffer keeps its offset, but whatever lies there meanwhile is not disturbed by it.
//
//     offset
//       ▲  ┌──────┐
//       │  │      ├────┐  low = 2, high = 5: the rest of the footprint is free meanwhile
//       │  │      ├────┘
//       └──┴──────┴───────▶ step
typedef struct stow_window_desc {
  size_t struct_size;  // written by stow_window_desc_init
  uint64_t begin;      // [begin, end) within the buffer's life, not empty
  uint64_t end;
  uint64_t low;  // [low, high) within [0, size + guard), from the buffer's offset; empty for a gap
  uint64_t high;
} stow_window_desc;

// All 0.
STOW_API void stow_window_desc_defaults(stow_window_desc* desc);
static inline void stow_window_desc_init(stow_window_desc* desc) {
  desc->struct_size = sizeof(*desc);
  stow_window_desc_defaults(desc);
}
// Adds a window to the buffer that was added last. Windows come in order of time and do not
// overlap, and they leave it some time or window in which it occupies a byte.
// STOW_ERR_INVALID_ARGUMENT otherwise; STOW_ERR_LIMIT where buffers and twice the windows are more
// than 2^32 - 2. The whole footprint lies inside the arena even so.
STOW_API stow_status stow_problem_add_window(stow_problem* problem, const stow_window_desc* desc,
                                             stow_diag* diag);
// |buffer| must be below the problem's count.
STOW_API size_t stow_problem_window_count(const stow_problem* problem, size_t buffer);
// As stow_problem_describe_buffer.
STOW_API stow_status stow_problem_describe_window(const stow_problem* problem, size_t buffer,
                                                  size_t index, stow_window_desc* out_desc);

// The load over time, and what it proves.
typedef struct stow_load {
  size_t struct_size;  // sizeof(stow_load), set by the caller
  uint64_t bytes;  // the most that are occupied at a step: live footprints, windows counted as such
  uint64_t step;   // the first at which it is reached
  // No placement is lower: the highest load with every footprint but one rounded up to the smallest
  // alignment of the problem, the end of the highest fixed footprint, or the largest footprint.
  uint64_t lower_bound;
  uint64_t pair_count;  // pairs of buffers that live together, also where a gap parts them
} stow_load;
// O(n log n).
STOW_API stow_status stow_problem_load(const stow_problem* problem, stow_allocator allocator,
                                       stow_diag* diag, stow_load* out_load);

// ---------------------------------------------------------------------------------------------
// Placements

typedef struct stow_placement stow_placement;

#define STOW_PLACE_SMALLEST UINT64_MAX
#define STOW_PLACE_NO_LIMIT UINT64_MAX

// What a search knows while it runs. The library's own: fields may be added at the end.
typedef struct stow_place_progress {
  const char* phase;  // what it is doing, in a word or two
  uint64_t best;      // height of the best placement so far; UINT64_MAX before the first
  uint64_t bound;     // no placement is lower
  uint64_t nodes;     // spent so far
} stow_place_progress;

typedef struct stow_place_options {
  size_t struct_size;  // written by stow_place_options_init
  bool reuse;          // false: no two buffers share bytes, whatever their lifetimes
  // *Minimise* where it is STOW_PLACE_SMALLEST: the lowest height that can be found. *Fit* else:
  // any placement whose height is not above it, or the proof that there is none.
  uint64_t capacity;
  // How much a search may try: a node is one attempt to give one buffer an offset. In the exact
  // search it counts for more where many others must be looked at or move up for it, so that nodes
  // take about the same time. The same budget gives the same answer on every machine. 0: only a
  // first placement, whose nodes count all the same. The last pass may spend somewhat more.
  // STOW_PLACE_NO_LIMIT: until the question is answered, if that takes forever.
  uint64_t nodes;
  // Called at every better placement, and often during a search: every few milliseconds, or up to a
  // second where there are tens of thousands of buffers. false stops the search: so a caller brings
  // in a clock or an interrupt. The best placement so far is the result, which says that it was
  // stopped. May be NULL.
  bool (*on_progress)(void* user, const stow_place_progress* progress);
  void* user;
} stow_place_options;

#define STOW_PLACE_DEFAULT_NODES 400000

// Reuse, minimise, STOW_PLACE_DEFAULT_NODES, no callback.
STOW_API void stow_place_options_defaults(stow_place_options* options);
static inline void stow_place_options_init(stow_place_options* options) {
  options->struct_size = sizeof(*options);
  stow_place_options_defaults(options);
}

// What is known of the question that was asked.
typedef enum stow_outcome {
  STOW_OUTCOME_OPTIMAL,   // no placement is lower (and it is within the capacity, if one was given)
  STOW_OUTCOME_FEASIBLE,  // within the capacity, if one was given; a lower one may exist
  STOW_OUTCOME_INFEASIBLE,  // proven: no placement is within the capacity
  STOW_OUTCOME_GAVE_UP      // nothing within the capacity found, and no proof that there is nothing
} stow_outcome;
// "optimal", "feasible", "infeasible", "gave up"; never NULL.
STOW_API const char* stow_outcome_text(stow_outcome outcome);

// A strategy. Fixed buffers are where they must be; STOW_ERR_CONFLICT names two that collide. There
// is always a placement, also where it is above the capacity: its outcome tells. The same problem
// and options give the same placement on every machine, unless the callback stops it. Closed:
// callers may have their own.
typedef struct stow_strategy {
  const char* name;
  const char* summary;  // one line
  stow_status (*place)(const stow_problem* problem, const stow_place_options* options,
                       stow_allocator allocator, stow_diag* diag, stow_placement** out_placement);
} stow_strategy;

// docs/strategies.md says what each is for.
STOW_API size_t stow_strategy_count(void);
STOW_API const stow_strategy* stow_strategy_at(size_t index);
// NULL where there is none.
STOW_API const stow_strategy* stow_strategy_find(stow_str name);

// `auto`: something good at once, then better as long as there is budget, until the height meets
// the bound. What to use unless there is a reason not to. Never higher than first-fit where it
// minimises, is not stopped, and at most 2 * 10^9 pairs of buffers live together.
STOW_API stow_status stow_place_auto(const stow_problem* problem, const stow_place_options* options,
                                     stow_allocator allocator, stow_diag* diag,
                                     stow_placement** out_placement);

STOW_API void stow_placement_destroy(stow_placement* placement);
STOW_API uint64_t stow_placement_offset(const stow_placement* placement, size_t buffer);
// The highest footprint's end, not rounded up.
STOW_API uint64_t stow_placement_height(const stow_placement* placement);
STOW_API stow_outcome stow_placement_outcome(const stow_placement* placement);
typedef struct stow_placement_info {
  size_t struct_size;  // sizeof(stow_placement_info), set by the caller
  size_t count;        // of buffers
  uint64_t height;
  uint64_t
      bound;  // proven: no placement is lower. The height is optimal where it is not above this
  uint64_t nodes;  // spent
  stow_outcome outcome;
  bool stopped;  // by the callback
} stow_placement_info;
STOW_API stow_status stow_placement_describe(const stow_placement* placement,
                                             stow_placement_info* out_info);

// Why nothing fits: a set of buffers that cannot lie within |capacity| together. Irreducible:
// without any one of them the others can. Fixed buffers stay where they are, whether in the set or
// not.
typedef struct stow_explanation {
  size_t struct_size;  // sizeof(stow_explanation), set by the caller
  size_t* buffers;     // in order of number
  size_t count;
  bool irreducible;  // false where the budget ended before every member was shown to be needed
} stow_explanation;
// |options| as for stow_place_auto; its capacity is the one in question. STOW_ERR_INVALID_ARGUMENT
// without a capacity, STOW_ERR_NOT_FOUND where everything fits, STOW_ERR_GAVE_UP where the budget
// ends before that is known. The result is freed with stow_explanation_free.
STOW_API stow_status stow_place_explain(const stow_problem* problem,
                                        const stow_place_options* options, stow_allocator allocator,
                                        stow_diag* diag, stow_explanation* out_explanation);
STOW_API void stow_explanation_free(stow_explanation* explanation, stow_allocator allocator);

// ---------------------------------------------------------------------------------------------
// Checking, with no code in common with the strategies.

typedef enum stow_placement_fault {
  STOW_PLACEMENT_OK,
  STOW_PLACEMENT_OVERLAP,  // two live footprints overlap
  STOW_PLACEMENT_MISALIGNED,
  STOW_PLACEMENT_MOVED,   // a fixed buffer lies elsewhere
  STOW_PLACEMENT_OUTSIDE  // a footprint ends above the height
} stow_placement_fault;

typedef struct stow_placement_violation {
  size_t struct_size;  // sizeof(stow_placement_violation), set by the caller
  stow_placement_fault fault;
  size_t first;   // the buffer
  size_t second;  // the other one of an overlap, else STOW_BUFFER_NONE
  uint64_t step;  // the first step at which both live, or the first's begin
} stow_placement_violation;

// Proves that offsets[0 … count-1] and |height| are a correct placement of |problem|.
// STOW_ERR_VIOLATION with the first fault found in |out_violation| (may be NULL) and in words in
// |diag|. O(n log n).
STOW_API stow_status stow_placement_check(const stow_problem* problem, const uint64_t* offsets,
                                          size_t count, uint64_t height, stow_allocator allocator,
                                          stow_diag* diag, stow_placement_violation* out_violation);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_PLACE_H_
