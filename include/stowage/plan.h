// Plans: graph → problem → placement → plan. Also presets, weight layouts, saved plans, reports and
// the checker.
#ifndef STOWAGE_PLAN_H_
#define STOWAGE_PLAN_H_

#include <stowage/base.h>
#include <stowage/effects.h>
#include <stowage/graph.h>
#include <stowage/place.h>
#include <stowage/schedule.h>
#include <stowage/sharing.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct stow_plan stow_plan;
typedef struct stow_weight_layout stow_weight_layout;

// ---------------------------------------------------------------------------------------------
// Options and presets

// name, text, summary
#define STOW_PRESET_LIST(X)                                                                    \
  X(DEFAULT, "default", "in-order execution: exact lifetimes, all views, no guard")            \
  X(RLX, "rlx", "what RLX 0.2.14 and later make, byte for byte")                               \
  X(RLX_0_2_2, "rlx-0.2.2", "what RLX 0.2.2 makes: no pins, rules, guards or zero-size slots") \
  X(BACKWARD, "backward", "as default, with params taken from a shared weight layout")

typedef enum stow_preset {
#define STOW_PRESET_ENUM(name, text, summary) STOW_PRESET_##name,
  STOW_PRESET_LIST(STOW_PRESET_ENUM)
#undef STOW_PRESET_ENUM
      STOW_PRESET_COUNT
} stow_preset;

STOW_API const char* stow_preset_name(stow_preset preset);     // "?" past the end
STOW_API const char* stow_preset_summary(stow_preset preset);  // "" past the end
STOW_API bool stow_preset_find(stow_str name, stow_preset* out_preset);

#define STOW_NO_CAPACITY UINT64_MAX

// In which order the nodes run. name, text
#define STOW_ORDER_LIST(X)                                     \
  X(GIVEN, "given") /* options.schedule, or the graph's own */ \
  X(AUTO, "auto")   /* a better one, where that makes the arena smaller */

typedef enum stow_order {
#define STOW_ORDER_ENUM(name, text) STOW_ORDER_##name,
  STOW_ORDER_LIST(STOW_ORDER_ENUM)
#undef STOW_ORDER_ENUM
      STOW_ORDER_COUNT
} stow_order;
// Default of stow_plan_options.order_nodes.
#define STOW_ORDER_DEFAULT_NODES 2000000

STOW_API const char* stow_order_text(stow_order order);  // "?" past the end

// A caller that was built before a field was added hands in a smaller struct, without it. It then
// gets what there was before: no new kind of sharing, the given order. stow_plan_options_init of a
// preset, on the other hand, turns on what is best today.
typedef struct stow_plan_options {
  size_t struct_size;   // written by stow_plan_options_init
  uint64_t alignment;   // of every slot; a power of two; 64 in every preset
  uint64_t tail_guard;  // G: a boundary value is followed by max(alignment, G) guard bytes; 0: none
  bool params;          // params get a slot
  bool inputs;          // inputs get a slot
  bool constants;       // constants get a slot
  bool zero_size_slots;       // a boundary value of zero bytes gets a slot of |alignment| bytes
  bool f32_uniform;           // max(4, dtype width) bytes per element
  bool classic_views;         // only RLX's views
  bool reuse;                 // false: no two values share bytes
  bool pack_params;           // all params in one stretch at the bottom of the arena
  bool allow_missing_params;  // with a layout: a param that it does not name gets no slot instead
                              // of an error
  stow_io_policy io;  // STOW_IO_KEEP, _CONSUME or _EXTERNAL, for what effects leave at default
  uint64_t capacity;  // STOW_NO_CAPACITY, or the bytes to fit in: see stow_fit
  const stow_strategy* strategy;     // auto; first-fit in the presets that follow RLX
  const stow_schedule* schedule;     // NULL: the graph's own order. Borrowed during the call
  const stow_weight_layout* layout;  // NULL: none. Borrowed during the call
  size_t rule_count;
  const stow_rule* rules[STOW_MAX_RULES];
  // How much the strategy may try in each attempt (with less sharing, in another order), and who
  // may stop it: as in stow_place_options. The plan depends on the callback only where that stops
  // the search.
  uint64_t nodes;
  bool (*on_progress)(void* user, const stow_place_progress* progress);
  void* user;
  bool in_place;      // results over operands that die, as ops' rows allow; what effects allow is
                      // done in any case
  bool elide_copies;  // operands of concat are made inside its result
  bool windows;       // a root occupies only what is in use of it
  stow_order order;
  uint64_t order_margin;  // another order is taken only if it saves more than this many bytes
  uint64_t
      order_nodes;  // how much the search for one may try: a node is one attempt to run one task
                    // next. 0: orders are not looked at, and nothing is known of a bound for any
} stow_plan_options;

// Writes every field; afterwards each value is literal, and 0 means 0. An unknown preset is as
// default.
STOW_API void stow_plan_options_defaults(stow_plan_options* options, stow_preset preset);
static inline void stow_plan_options_init(stow_plan_options* options, stow_preset preset) {
  options->struct_size = sizeof(*options);
  stow_plan_options_defaults(options, preset);
}
// Adds a rule that is not there yet, removes one that is. STOW_ERR_LIMIT where STOW_MAX_RULES are
// in.
STOW_API stow_status stow_plan_options_add_rule(stow_plan_options* options, const stow_rule* rule);
STOW_API void stow_plan_options_remove_rule(stow_plan_options* options, const stow_rule* rule);
// Turns reuse off where RLX_ARENA_NO_REUSE or STOWAGE_NO_REUSE is `1` or `true` (any case). |get|
// works like getenv.
STOW_API void stow_plan_options_apply_environment(stow_plan_options* options,
                                                  const char* (*get)(void* user, const char* name),
                                                  void* user);

// ---------------------------------------------------------------------------------------------
// Making and reading plans

// Where bytes lie. Closed: it never grows, and is returned by value.
typedef struct stow_slot {
  uint64_t offset;  // in its pool's arena
  uint64_t size;
  uint32_t pool;  // below stow_plan_pool_count
} stow_slot;

// |effects| may be NULL: none, also not those of the graph's `with` clauses (stow_effects_create
// reads them). |options| may be NULL: the default preset. Verifies the graph first. The plan does
// not refer to graph, effects or options afterwards.
STOW_API stow_status stow_plan_make(const stow_graph* graph, const stow_effects* effects,
                                    const stow_plan_options* options, stow_allocator allocator,
                                    stow_diag* diag, stow_plan** out_plan);
STOW_API void stow_plan_destroy(stow_plan* plan);

// What a plan is, in one struct; fields may be added at its end.
typedef struct stow_plan_info {
  size_t struct_size;  // sizeof(stow_plan_info), set by the caller
  stow_str graph_name;
  uint64_t fingerprint;  // of the graph
  stow_str strategy_name;
  bool reuse;  // values share bytes
  uint64_t arena_size;
  uint64_t alignment;       // of the arena's base: the largest of any slot, at least the options'
  uint64_t lower_bound;     // as stow_plan_lower_bound
  uint64_t total_unshared;  // sum of all slot sizes, views included; UINT64_MAX above 64 bits
  uint64_t saved;           // that minus the arena size, never below 0
  uint32_t pool_count;      // 1: only one pool is supported
  uint32_t value_count;
  uint32_t step_count;
  uint32_t peak_step;     // the first step with the highest load
  size_t peak_count;      // of roots that occupy bytes then: stow_plan_peak_value
  uint64_t peak_scratch;  // bytes of load then that are scratch
} stow_plan_info;
// STOW_ERR_INVALID_ARGUMENT for a struct_size that this library does not have.
STOW_API stow_status stow_plan_describe(const stow_plan* plan, stow_plan_info* out_info);

// A value of a plan. Slot and root have calls of their own, below.
typedef struct stow_plan_value {
  size_t struct_size;  // sizeof(stow_plan_value), set by the caller
  stow_str name;       // in the graph; empty: none
  stow_dtype dtype;
  uint32_t begin;  // lifetime [begin, end) in steps
  uint32_t end;
  uint64_t alignment;
  uint64_t guard;  // bytes after its slot; 0 for views
} stow_plan_value;
// As stow_plan_describe; STOW_ERR_NOT_FOUND where there is no such value.
STOW_API stow_status stow_plan_describe_value(const stow_plan* plan, stow_value value,
                                              stow_plan_value* out_value);

STOW_API uint64_t stow_plan_arena_size(const stow_plan* plan);
STOW_API uint32_t stow_plan_value_count(const stow_plan* plan);
// False, and |out_slot| is {0, 0, 0}, where the value has no slot or is out of range.
STOW_API bool stow_plan_value_slot(const stow_plan* plan, stow_value value, stow_slot* out_slot);
// Root and offset in it; a value that is no view is its own root.
STOW_API stow_value stow_plan_root(const stow_plan* plan, stow_value value);
// Node order.
STOW_API uint32_t stow_plan_step_count(const stow_plan* plan);
STOW_API const stow_node* stow_plan_order(const stow_plan* plan);
// Scratch: (node, index within node) → slot. Listed in order of node, then index.
STOW_API size_t stow_plan_scratch_count(const stow_plan* plan);
STOW_API void stow_plan_scratch_slot(const stow_plan* plan, size_t index, stow_node* out_node,
                                     stow_slot* out_slot, uint64_t* out_alignment);
// Stretches of the arena that this plan leaves alone, by offset: weights (with their guards) of the
// shared layout that the graph does not name, or what other graphs of a set (set.h) keep between
// runs. The arena ends at the highest footprint's end or theirs.
STOW_API size_t stow_plan_reserved_count(const stow_plan* plan);
STOW_API stow_slot stow_plan_reserved_slot(const stow_plan* plan, size_t index);

// No placement with these lifetimes and fixed offsets is smaller (packed params count as not
// fixed); stow_load.lower_bound says how it is made. The peak is the first step with the highest
// load.
STOW_API uint64_t stow_plan_lower_bound(const stow_plan* plan);
STOW_API stow_value stow_plan_peak_value(const stow_plan* plan, size_t index);

// Windows of |root| (stow_window): when it occupies only part of itself.
STOW_API size_t stow_plan_window_count(const stow_plan* plan, stow_value root);
STOW_API stow_window stow_plan_window_at(const stow_plan* plan, stow_value root, size_t index);

// What |root| occupies of the arena at |step|, guard included; {0, 0, 0} where that is nothing: it
// is no root, has no slot, does not live then, or has an empty window. O(log windows).
STOW_API stow_slot stow_plan_occupied_slot(const stow_plan* plan, stow_value root, uint32_t step);

// What was decided about sharing bytes, in order of step (sharing.h). No part of a saved plan: one
// that was read has none. STOW_ERR_NOT_FOUND past the end.
STOW_API size_t stow_plan_decision_count(const stow_plan* plan);
STOW_API stow_status stow_plan_describe_decision(const stow_plan* plan, size_t index,
                                                 stow_decision* out_decision);

// What is known of orders. No part of a saved plan either.
typedef struct stow_ordering {
  size_t struct_size;  // sizeof(stow_ordering), set by the caller
  bool searched;  // another order was looked for: options.order says so, and the arena was above
                  // |any_bound|
  bool changed;   // and taken
  uint64_t given_arena;  // the arena in the given order; the plan's, where nothing was searched
  uint64_t other_arena;  // in the best other order; 0 where none was found
  uint64_t any_bound;    // no order, and no sharing that the options allow, needs less; 0: unknown
  stow_node critical;    // the node at which every order needs that; STOW_NODE_NONE: only a search
                         // knows
  uint64_t nodes;        // spent
} stow_ordering;
STOW_API stow_status stow_plan_describe_ordering(const stow_plan* plan,
                                                 stow_ordering* out_ordering);

// Does it fit in options.capacity? An outcome, not an error: the plan is whole either way.
typedef struct stow_fit {
  size_t struct_size;  // sizeof(stow_fit), set by the caller
  bool fits;
  bool possible;          // what is proven (stow_search) leaves room for a placement within
                          // the capacity, though this one may not fit. False: none can
  uint64_t required;      // the arena size
  uint64_t available;     // the capacity
  uint64_t excess;        // required - available, or 0
  stow_value value;       // of the values that reach above the capacity, the one that first does
                          // so at the highest load (then by step, id); or STOW_VALUE_NONE: only
                          // scratch or a reserved stretch does
  uint64_t value_bytes;   // what it occupies then; the bytes of scratch, found in the same way,
                          // where there is no value
  uint32_t step;          // the step at which it first reaches there: its birth, but for windows
  uint64_t largest_hole;  // the largest free stretch below the capacity at that step, without it
} stow_fit;
STOW_API stow_status stow_plan_describe_fit(const stow_plan* plan, stow_fit* out_fit);

// What the strategy found out on the way. No part of a saved plan: one that was read knows what
// follows from its lower bound, and no search.
typedef struct stow_search {
  size_t struct_size;    // sizeof(stow_search), set by the caller
  stow_outcome outcome;  // of the arena within the capacity, where there is one
  uint64_t bound;        // as the lower bound, or higher where a search proved that
  uint64_t nodes;        // spent
  bool stopped;          // by the callback
} stow_search;
STOW_API stow_status stow_plan_describe_search(const stow_plan* plan, stow_search* out_search);

// ---------------------------------------------------------------------------------------------
// Writing. Every format ends each line with LF and is the same on every machine.
// docs/plan-format.md describes them.

// name, text: what stow_plan_write writes
#define STOW_PLAN_FORMAT_LIST(X)                                                             \
  X(SAVED, "plan")    /* a superset of the report, which stow_plan_read reads */             \
  X(REPORT, "report") /* RLX's: a header, `offset<TAB>size<TAB>%id` per value with a slot */ \
  X(JSON, "json")                                                                            \
  X(CSV, "csv") /* a row per buffer, in the columns of placement research; stow_csv_read */

typedef enum stow_plan_format {
#define STOW_PLAN_FORMAT_ENUM(name, text) STOW_PLAN_##name,
  STOW_PLAN_FORMAT_LIST(STOW_PLAN_FORMAT_ENUM)
#undef STOW_PLAN_FORMAT_ENUM
} stow_plan_format;
STOW_API stow_status stow_plan_write(const stow_plan* plan, stow_plan_format format,
                                     stow_writer writer);
// A C header: arena size and alignment, an offset and size of every value that has a slot and of
// every scratch, static asserts. |prefix| must be a C identifier, or NULL for the graph's name.
STOW_API stow_status stow_plan_write_c(const stow_plan* plan, const char* prefix,
                                       stow_writer writer, stow_diag* diag);

// Reads what stow_plan_write wrote, for |graph|. STOW_ERR_SYNTAX;
// STOW_ERR_STALE_PLAN where it was made for another graph: line and column are in |diag|'s fields,
// |file_name|, unless NULL, begins its message. Only the text is checked here; stow_plan_check
// proves the plan.
STOW_API stow_status stow_plan_read(const char* text, size_t size, const char* file_name,
                                    const stow_graph* graph, stow_allocator allocator,
                                    stow_diag* diag, stow_plan** out_plan);

// ---------------------------------------------------------------------------------------------
// Weight layouts: where the params of a forward plan lie, so that a backward plan (or another
// model) shares them.

typedef struct stow_weight {
  size_t struct_size;  // sizeof(stow_weight), set by the caller
  stow_str name;
  stow_value value;  // in the forward graph
  uint64_t offset;
  uint64_t size;
  uint64_t guard;
} stow_weight;

// Every param of |graph| that has a slot in |plan|, sorted by name. STOW_ERR_STALE_PLAN where they
// don't belong together.
STOW_API stow_status stow_weight_layout_create(const stow_graph* graph, const stow_plan* plan,
                                               stow_allocator allocator, stow_diag* diag,
                                               stow_weight_layout** out_layout);
STOW_API void stow_weight_layout_destroy(stow_weight_layout* layout);
STOW_API size_t stow_weight_layout_count(const stow_weight_layout* layout);
// STOW_ERR_NOT_FOUND past the end.
STOW_API stow_status stow_weight_layout_describe(const stow_weight_layout* layout, size_t index,
                                                 stow_weight* out_weight);

// ---------------------------------------------------------------------------------------------
// Checking, with no code in common with planner and placer. Everything is derived anew from graph
// and effects. Options that the plan states (alignment, guard, who has a slot …), reserved
// stretches and the name of the strategy are taken as stated; that lifetimes are longer than
// needed, as rules make them, is no fault.

// name, text
#define STOW_FAULT_LIST(X)                                                    \
  X(NONE, "none")                                                             \
  X(STALE, "the plan is for another graph")                                   \
  X(SCHEDULE, "a node runs before something it needs")                        \
  X(OVERLAP, "two live footprints overlap")                                   \
  X(REUSED_TOO_EARLY, "a value is read after its bytes may have been reused") \
  X(BORN_TOO_LATE, "a value is written before its lifetime begins")           \
  X(VIEW_OUTSIDE, "a view does not lie inside its root")                      \
  X(VIEW_MOVED, "a view does not lie where its op puts it")                   \
  X(MISALIGNED, "an offset is not aligned")                                   \
  X(MOVED, "a value with a fixed offset lies elsewhere")                      \
  X(GUARD, "a boundary value has too small a guard")                          \
  X(OUTSIDE_ARENA, "a footprint ends above the arena")                        \
  X(ARENA_SIZE, "the arena size is not the highest end")                      \
  X(SIZE, "a slot has the wrong size")                                        \
  X(MISSING, "a value that needs a slot has none")                            \
  X(FACT, "a fact that the plan states is wrong")                             \
  X(WEIGHT, "the plan and the weight layout disagree")                        \
  X(WINDOW, "a value is in use outside its root's window")                    \
  X(OVERWRITE, "a result lies over an operand that it may not overwrite")     \
  X(HOME, "a value lies inside a result that it may not be made in")          \
  X(KEPT, "what a graph keeps between runs is not safe in another's")

typedef enum stow_fault {
#define STOW_FAULT_ENUM(name, text) STOW_FAULT_##name,
  STOW_FAULT_LIST(STOW_FAULT_ENUM)
#undef STOW_FAULT_ENUM
      STOW_FAULT_COUNT
} stow_fault;
STOW_API const char* stow_fault_text(stow_fault fault);

typedef struct stow_violation {
  size_t struct_size;  // sizeof(stow_violation), set by the caller
  stow_fault fault;
  stow_value first;         // the value concerned, or STOW_VALUE_NONE (scratch)
  stow_value second;        // the other party, or STOW_VALUE_NONE
  stow_node first_scratch;  // the node whose scratch it is, where |first| is none
  stow_node second_scratch;
  uint32_t step;  // when
} stow_violation;

// STOW_ERR_VIOLATION with the first fault found in |out_violation| (may be NULL) and in words in
// |diag|: both parties and the step. O(n log n).
STOW_API stow_status stow_plan_check(const stow_plan* plan, const stow_graph* graph,
                                     const stow_effects* effects, stow_allocator allocator,
                                     stow_diag* diag, stow_violation* out_violation);

// Proves that |plan| leaves the weights of |layout| where they are: every param of |graph| that has
// a slot lies where |layout| has the weight of that name (else STOW_FAULT_MOVED), with its size
// (_SIZE) and guard (_GUARD), over the whole run; every other weight lies, with its guard, in a
// stretch that the plan reserves (_WEIGHT). That nothing else lies in params and reserved stretches
// is for stow_plan_check to prove: a plan that shares weights needs both. STOW_ERR_VIOLATION as
// there, STOW_FAULT_STALE where plan and graph don't belong together. A plan whose params are its
// own is held to the same. O(n log n).
STOW_API stow_status stow_plan_check_layout(const stow_plan* plan, const stow_graph* graph,
                                            const stow_weight_layout* layout, stow_diag* diag,
                                            stow_violation* out_violation);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_PLAN_H_
