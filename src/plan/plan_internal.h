// The plan's data, shared by the files that make, read, summarise and write it. The checker may
// read these fields too (it needs the options that the plan claims to follow), but calls nothing
// declared here except the lookup of a weight.
#ifndef STOWAGE_SRC_PLAN_PLAN_INTERNAL_H_
#define STOWAGE_SRC_PLAN_PLAN_INTERNAL_H_

#include <stowage/plan.h>

#include "base/alloc.h"
#include "effects/api.h"

// The kind of a value in its graph. name, text
#define STOWI_PLAN_KIND_LIST(X) \
  X(INPUT, "input")             \
  X(PARAM, "param")             \
  X(CONSTANT, "constant")       \
  X(COMPUTED, "value")

typedef enum stowi_plan_kind {
#define STOWI_PLAN_KIND_ENUM(name, text) STOWI_PLAN_KIND_##name,
  STOWI_PLAN_KIND_LIST(STOWI_PLAN_KIND_ENUM)
#undef STOWI_PLAN_KIND_ENUM
      STOWI_PLAN_KIND_COUNT
} stowi_plan_kind;

// Where params get their slots from.
// name, text
#define STOWI_PLAN_PARAMS_LIST(X) \
  X(NONE, "no")                   \
  X(OWN, "yes")                   \
  X(SHARED, "shared")             \
  X(SHARED_OR_NONE, "shared-or-none")

typedef enum stowi_plan_params {
#define STOWI_PLAN_PARAMS_ENUM(name, text) STOWI_PLAN_PARAMS_##name,
  STOWI_PLAN_PARAMS_LIST(STOWI_PLAN_PARAMS_ENUM)
#undef STOWI_PLAN_PARAMS_ENUM
      STOWI_PLAN_PARAMS_COUNT
} stowi_plan_params;

typedef struct stowi_plan_value {
  uint64_t offset;  // STOW_OFFSET_NONE: no slot
  uint64_t size;    // 0 without a slot
  uint64_t guard;   // 0 for views
  stow_value root;
  uint32_t begin;  // live over [begin, end)
  uint32_t end;
  uint32_t own_begin;      // of a root: the value itself, without what lies in it; 0 in a plan that
  uint32_t own_end;        // was read
  uint8_t dtype;           // stow_dtype
  uint8_t kind;            // stowi_plan_kind
  uint8_t alignment_log2;  // of a root; a view's follows from its root and offset
  uint64_t rows;           // of a pitched value that has a slot; 1: dense
  uint64_t pitch;          // bytes; 0: dense
} stowi_plan_value;

typedef struct stowi_plan_scratch {
  stow_node node;
  uint32_t index;  // within the node
  uint32_t step;   // live over [step, step + 1)
  uint64_t offset;
  uint64_t size;
  uint64_t alignment;
  uint64_t need;  // bytes that it must have; the rest of |size| was free anyway
} stowi_plan_scratch;

// Bytes [offset, end).
typedef struct stowi_plan_span {
  uint64_t offset;
  uint64_t end;
} stowi_plan_span;

#define STOWI_PLAN_REWRITE_SIZE 256

// The options that a checker, or a reader of the saved plan, needs.
typedef struct stowi_plan_facts {
  uint64_t alignment;
  uint64_t tail_guard;
  uint64_t capacity;              // STOW_NO_CAPACITY
  stowi_effects_kernels kernels;  // whose scratch is planned
  stowi_plan_params params;
  stow_io_policy io;
  bool inputs;
  bool constants;
  bool zero_size_slots;
  bool f32_uniform;
  bool classic_views;
  bool reuse;  // whether bytes are reused, after rules were applied
  bool in_place;
  bool elide_copies;
  uint64_t least_row;                     // of pitched values; 0: there must be none
  char rewrite[STOWI_PLAN_REWRITE_SIZE];  // how the graph was rewritten; empty: it was not
} stowi_plan_facts;

// Whether |text| can be such a line.
bool stowi_plan_is_rewrite(stow_str text);

// A time in which |root| occupies only part of itself.
typedef struct stowi_plan_window {
  stow_value root;
  stow_window window;
} stowi_plan_window;

typedef struct stowi_plan_hint {
  char* change;  // |size| bytes
  size_t size;
  uint64_t arena_size;
} stowi_plan_hint;

struct stow_plan {
  stow_allocator allocator;
  stowi_plan_facts facts;
  uint64_t fingerprint;
  uint64_t arena_size;
  uint64_t lower_bound;
  uint32_t peak_step;
  stow_search search;  // the outcome, and a bound below lower_bound, are set by stowi_plan_finish

  uint32_t value_count;
  uint32_t step_count;
  size_t output_count;
  size_t scratch_count;
  size_t reserved_count;
  stowi_plan_value* values;
  stow_node* order;             // node of each step
  stow_value* outputs;          // of the graph, in order
  stowi_plan_scratch* scratch;  // in order of node, then index
  // Footprints in the same arena that this graph does not name, by offset: those of a weight
  // layout, or of what other graphs of a set keep. Nothing may be placed there.
  stowi_plan_span* reserved;
  size_t window_count;
  size_t window_capacity;
  stowi_plan_window* windows;  // by root, then begin
  size_t decision_count;
  stow_decision* decisions;          // as stowi_analysis_sharing_at; none in a plan that was read
  stow_ordering ordering;            // the same
  stow_moves moves;                  // the same
  STOWI_VEC(stowi_plan_hint) hints;  // the same

  // All names, each followed by a NUL: of the values, then of the graph, then of the strategy. Name
  // i is bytes [name_at[i], name_at[i + 1] - 1).
  char* names;
  size_t* name_at;  // value_count + 3 of them

  // Derived by stowi_plan_finish.
  size_t row_count;
  stow_value* rows;  // values that have a slot, by (offset, size, id)
  size_t peak_count;
  stow_value* peak;  // roots that occupy bytes at the peak, most bytes first, then by id
  uint64_t peak_scratch;
  uint64_t total_unshared;
  uint64_t arena_alignment;
  stow_fit fit;
};

void stowi_plan_free_hints(stow_plan* plan);  // hints.c

// ---------------------------------------------------------------------------------------------
// plan.c

// A plan without slots, for |graph|: names, dtypes, kinds, outputs and fingerprint are copied;
// every value is its own root, is live over [0, 1) and has alignment 1; the order is the graph's
// own.
stow_status stowi_plan_create(const stow_graph* graph, stow_str strategy, stow_allocator allocator,
                              stow_diag* diag, stow_plan** out_plan);
// Makes room for |count| scratch entries or reserved ranges, which the caller then fills. Once per
// plan.
stow_status stowi_plan_set_scratch_count(stow_plan* plan, size_t count, stow_diag* diag);
stow_status stowi_plan_set_reserved_count(stow_plan* plan, size_t count, stow_diag* diag);

static inline bool stowi_plan_has_slot(const stow_plan* plan, stow_value value) {
  return plan->values[value].offset != STOW_OFFSET_NONE;
}
static inline bool stowi_plan_is_view(const stow_plan* plan, stow_value value) {
  return plan->values[value].root != value;
}
// Whether any value is pitched. O(values).
bool stowi_plan_is_pitched(const stow_plan* plan);
// End of the footprint. Cannot overflow: making and reading check that.
static inline uint64_t stowi_plan_footprint_end(const stowi_plan_value* value) {
  return value->offset + value->size + value->guard;
}
const char* stowi_plan_kind_text(stowi_plan_kind kind);
const char* stowi_plan_params_text(stowi_plan_params params);
const char* stowi_plan_io_text(stow_io_policy io);
// As `--pack` names it: how weights are packed for kernels, a stow_pack of exec.h.
const char* stowi_plan_pack_text(uint32_t pack);

// A value in diagnostics: `%7`, or `%7 "name"`.
typedef struct stowi_plan_value_text {
  char text[256];
} stowi_plan_value_text;
stowi_plan_value_text stowi_plan_name_value(stow_value value, stow_str name);

// The exponent of a power of two.
static inline uint8_t stowi_plan_log2(uint64_t power_of_two) {
  uint8_t log2 = 0;
  while (power_of_two > 1) {
    power_of_two >>= 1;
    ++log2;
  }
  return log2;
}

// ---------------------------------------------------------------------------------------------
// windows.c

// Makes room for |count| windows, which are then filled by the caller. Once per plan.
stow_status stowi_plan_set_window_count(stow_plan* plan, size_t count, stow_diag* diag);
// Why a plan cannot have this window after |last| (NULL: it is the first), or NULL if it can. Both
// have roots below the value count.
const char* stowi_plan_window_fault(const stow_plan* plan, const stowi_plan_window* last,
                                    const stowi_plan_window* given);
// Those of |root|, in order of time.
const stowi_plan_window* stowi_plan_windows_of(const stow_plan* plan, stow_value root,
                                               size_t* out_count);
// Bytes [low, high) of its footprint that |root| occupies at |step|. False, with both 0, if there
// are none: it is not a root, has no slot, is not live then, or leaves all of its bytes to others.
bool stowi_plan_occupied(const stow_plan* plan, stow_value root, uint32_t step, uint64_t* out_low,
                         uint64_t* out_high);

// ---------------------------------------------------------------------------------------------
// summary.c

// Derives rows, totals, peak and fit. Once per plan, when everything else is set.
stow_status stowi_plan_finish(stow_plan* plan, stow_diag* diag);

// ---------------------------------------------------------------------------------------------
// options.c

// Checks |options| and copies it, whatever its version, to |out_options|.
stow_status stowi_plan_options_load(const stow_plan_options* options, stow_diag* diag,
                                    stow_plan_options* out_options);
// A strategy's name is written into plans: 1 to 64 of [A-Za-z0-9_.-].
bool stowi_plan_is_strategy_name(stow_str name);

// ---------------------------------------------------------------------------------------------
// layout.c

#define STOWI_PLAN_WEIGHT_NONE SIZE_MAX
size_t stowi_plan_weight_layout_index(const stow_weight_layout* layout, stow_str name);
// Whether the weight has no elements, and its slot is only an address.
bool stowi_plan_weight_is_empty(const stow_weight_layout* layout, size_t index);

#endif  // STOWAGE_SRC_PLAN_PLAN_INTERNAL_H_
