// Plans: every value of a graph gets a slot, an offset and a size, in one arena. Also presets,
// saved plans, weight layouts and the plan checker.
//
// Planning computes lifetimes, decides what shares bytes (sharing.h), places the buffers (place.h)
// and, if asked, looks for a better order. The result is plain data: it refers to neither graph,
// effects nor options, never changes, and may be read by any number of threads. All dims of the
// graph must be numbers: bind symbols first (stow_graph_bind).
//
// A plan proves how good it is: no plan with these lifetimes is smaller than its lower bound. And
// it can be proven correct: stow_plan_check derives everything again from the graph, with code that
// shares nothing with the planner. Check plans that come from files. A plan that does not fit in a
// capacity is an outcome, not an error: see stow_fit.
//
// Slots, sizes and the arena are in bytes, lifetimes in steps of the plan's order. Structs with
// |struct_size| may grow at their end (base.h).
//
//     #include <stdio.h>
//     #include <stowage/plan.h>
//
//     // Plans |graph|, proves the plan and prints the slot of each value.
//     stow_status print_plan(const stow_graph* graph, stow_diag* diag) {
//       stow_allocator heap = stow_allocator_default();
//       stow_plan* plan = NULL;
//       stow_plan_options options;
//       stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
//       options.params = false;  // weights stay outside the arena
//       stow_status status = stow_plan_make(graph, NULL, &options, heap, diag, &plan);
//       if (status == STOW_OK) status = stow_plan_check(plan, graph, NULL, heap, diag, NULL);
//       for (stow_value v = 0; status == STOW_OK && v < stow_plan_value_count(plan); ++v) {
//         stow_slot slot;
//         if (stow_plan_value_slot(plan, v, &slot))
//           printf("%%%u: %llu bytes at %llu\n", v, (unsigned long long)slot.size,
//                  (unsigned long long)slot.offset);
//       }
//       stow_plan_destroy(plan);
//       return status;
//     }
#ifndef STOWAGE_PLAN_H_
#define STOWAGE_PLAN_H_

#include <stowage/base.h>
#include <stowage/csv.h>
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
typedef struct stow_start stow_start;

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

STOW_API const char* stow_preset_name(stow_preset preset);     // static; "?" past the end
STOW_API const char* stow_preset_summary(stow_preset preset);  // static; "" past the end
// False if no preset has this name.
STOW_API bool stow_preset_find(stow_str name, stow_preset* out_preset);

#define STOW_NO_CAPACITY UINT64_MAX

// The order in which the nodes run. name, text
#define STOW_ORDER_LIST(X)                                     \
  X(GIVEN, "given") /* options.schedule, or the graph's own */ \
  X(AUTO, "auto")   /* another one, if that makes the arena smaller */

typedef enum stow_order {
#define STOW_ORDER_ENUM(name, text) STOW_ORDER_##name,
  STOW_ORDER_LIST(STOW_ORDER_ENUM)
#undef STOW_ORDER_ENUM
      STOW_ORDER_COUNT
} stow_order;
// Defaults of stow_plan_options.nodes and .patience.
#define STOW_PLAN_DEFAULT_NODES 1000000
#define STOW_PLAN_DEFAULT_PATIENCE 32000
// For stow_plan_options.least_row: calls of kernels for shorter rows cost more than they compute.
#define STOW_PLAN_LEAST_ROW 4096

// Default of stow_plan_options.order_nodes.
#define STOW_ORDER_DEFAULT_NODES 1000000

STOW_API const char* stow_order_text(stow_order order);  // static; "?" past the end

// How to plan. The struct of a caller that was built before a field was added lacks it; the planner
// then does what it did before: no new kind of sharing, the given order. stow_plan_options_init
// turns on what is best today.
typedef struct stow_plan_options {
  size_t struct_size;   // written by stow_plan_options_init
  uint64_t alignment;   // of every slot, in bytes; a power of two; 64 in every preset
  uint64_t tail_guard;  // G: a boundary value is followed by max(alignment, G) guard bytes; 0: none
  bool params;          // params get a slot
  bool inputs;          // inputs get a slot
  bool constants;       // constants get a slot
  bool zero_size_slots;       // a boundary value of zero bytes gets a slot of |alignment| bytes
  bool f32_uniform;           // max(4, dtype width) bytes per element
  bool classic_views;         // only RLX's views
  bool reuse;                 // false: no two values share bytes
  bool pack_params;           // all params in one range at the bottom of the arena
  bool allow_missing_params;  // a param that is missing in |layout| gets no slot; false: an error
  stow_io_policy io;  // STOW_IO_KEEP, _CONSUME or _EXTERNAL, for values with STOW_IO_DEFAULT
  uint64_t capacity;  // bytes to fit in (stow_fit), or STOW_NO_CAPACITY
  const stow_strategy* strategy;     // auto; first-fit in the presets that follow RLX
  const stow_schedule* schedule;     // NULL: the graph's own order. Borrowed during the call
  const stow_weight_layout* layout;  // NULL: none. Borrowed during the call
  size_t rule_count;
  const stow_rule* rules[STOW_MAX_RULES];
  // The strategy's budget for all attempts together (with less sharing, in another order), and the
  // callback that may stop it: as in stow_place_options. The plan depends on the callback only if
  // it stops the search.
  uint64_t nodes;
  bool (*on_progress)(void* user, const stow_place_progress* progress);
  void* user;
  bool in_place;      // results in place of operands where their ops allow it; what effects allow
                      // is done in any case
  bool elide_copies;  // copy elision: operands of concat are computed inside its result
  bool windows;       // a root occupies only the bytes in use
  stow_order order;
  uint64_t order_margin;  // take another order only if it saves more than this many bytes
  uint64_t order_nodes;   // budget of the search for an order; a node is one attempt to run one
                          // task next. 0: no search, and no bound for other orders
  // As in stow_place_options, for the longest search of an attempt. All begin with a short one.
  // With the defaults of |nodes| and |patience|, only those that may make the arena smaller by
  // 1/128 are then searched longer, otherwise all that may make it smaller. The default is for an
  // attempt that may save up to a tenth; one that may save n twentieths has n times as much.
  uint64_t patience;
  // Buffers of an earlier plan, of this graph or of one that is nearly the same: those that are
  // still there keep their offsets where that costs nothing (stow_place_options.start). With
  // STOW_ORDER_AUTO its order is followed, too, and another one searched for only if the arena is
  // larger than the earlier one, in proportion. NULL: none. Borrowed during the call.
  const stow_start* start;
  // How the graph was rewritten, in words that saved plans keep (stow_rewritten_stamp): one line of
  // less than 256 printable characters of ASCII. NULL: it was not. Copied.
  const char* rewrite;
  // Values may be pitched (stow_plan_value): operands of concat along an inner axis with
  // |elide_copies|, and results of split, slice and narrow along one. Only for executors that run
  // nodes row by row then, as libstowage-exec does, and if a row has this many bytes at least:
  // STOW_PLAN_LEAST_ROW there. 0 in every preset: all values are dense.
  uint64_t least_row;
} stow_plan_options;

// Writes every field; afterwards each value is literal, and 0 means 0. An unknown preset is treated
// as STOW_PRESET_DEFAULT.
STOW_API void stow_plan_options_defaults(stow_plan_options* options, stow_preset preset);
static inline void stow_plan_options_init(stow_plan_options* options, stow_preset preset) {
  options->struct_size = sizeof(*options);
  stow_plan_options_defaults(options, preset);
}
// Adds a rule, unless it is there already. |rule| is borrowed until the plan is made.
// STOW_ERR_LIMIT if there are STOW_MAX_RULES, STOW_ERR_INVALID_ARGUMENT if |rule| is NULL.
STOW_API stow_status stow_plan_options_add_rule(stow_plan_options* options, const stow_rule* rule);
// Removes a rule, if it is there.
STOW_API void stow_plan_options_remove_rule(stow_plan_options* options, const stow_rule* rule);
// Turns reuse off if RLX_ARENA_NO_REUSE or STOWAGE_NO_REUSE is `1` or `true` (any case). |get|
// works like getenv; the library itself does not read the environment.
STOW_API void stow_plan_options_apply_environment(stow_plan_options* options,
                                                  const char* (*get)(void* user, const char* name),
                                                  void* user);

// ---------------------------------------------------------------------------------------------
// Making and reading plans

// Where bytes lie. Closed: it never grows, and is returned by value.
typedef struct stow_slot {
  uint64_t offset;  // bytes from the base of its pool's arena
  uint64_t size;    // bytes
  uint32_t pool;    // below stow_plan_info.pool_count
} stow_slot;

// Verifies the graph and plans it. |effects| may be NULL: none, not even those of the graph's
// `with` clauses (stow_effects_create reads them). |options| may be NULL: the default preset. The
// plan refers to none of them; free it with stow_plan_destroy. STOW_ERR_UNBOUND_DIM if a dim is not
// a number, STOW_ERR_CONFLICT if fixed offsets overlap, the status of a lifetime rule that failed.
// If the callback stops the search, there is a plan all the same: see stow_search.
STOW_API stow_status stow_plan_make(const stow_graph* graph, const stow_effects* effects,
                                    const stow_plan_options* options, stow_allocator allocator,
                                    stow_diag* diag, stow_plan** out_plan);
STOW_API void stow_plan_destroy(stow_plan* plan);

// A summary of a plan. Strings are owned by the plan.
typedef struct stow_plan_info {
  size_t struct_size;  // sizeof(stow_plan_info), set by the caller
  stow_str graph_name;
  uint64_t fingerprint;  // of the graph
  stow_str strategy_name;
  bool reuse;  // values may share bytes
  uint64_t arena_size;
  uint64_t alignment;       // of the arena's base: the largest of any slot, at least the options'
  uint64_t lower_bound;     // stow_plan_lower_bound
  uint64_t total_unshared;  // sum of all slot sizes, views included; UINT64_MAX if it is larger
  uint64_t saved;           // total_unshared minus the arena size, or 0
  uint32_t pool_count;      // 1: only one pool is supported
  uint32_t value_count;
  uint32_t step_count;
  uint32_t peak_step;     // the first step with the highest load
  size_t peak_count;      // of roots that occupy bytes at that step: stow_plan_peak_value
  uint64_t peak_scratch;  // bytes of scratch in the load of that step
  uint32_t threads;       // of libstowage-exec's kernels, whose scratch is planned; 0: it is not
  bool fastest;           // with stow_prepare_options.fastest
  uint32_t pack;          // and stow_prepare_options.pack
  uint64_t packed_bytes;  // of weights that are packed for these kernels, beside the arena
  stow_str rewrite;       // stow_plan_options.rewrite; empty: none
  uint64_t least_row;     // stow_plan_options.least_row, if a value is pitched; 0: none is
} stow_plan_info;
// Fills |out_info|, whose |struct_size| the caller sets. STOW_ERR_INVALID_ARGUMENT if that is out
// of range.
STOW_API stow_status stow_plan_describe(const stow_plan* plan, stow_plan_info* out_info);

// A value of a plan; stow_plan_value_slot returns its slot, stow_plan_root its root.
typedef struct stow_plan_value {
  size_t struct_size;  // sizeof(stow_plan_value), set by the caller
  stow_str name;       // in the graph; empty: none; owned by the plan
  stow_dtype dtype;
  uint32_t begin;  // lifetime [begin, end) in steps
  uint32_t end;
  uint64_t alignment;  // bytes
  uint64_t guard;      // bytes after its slot; 0 for views
  // A pitched value is |rows| rows of size / rows bytes, |pitch| bytes apart, from its offset on,
  // in the bytes of its root. 1 and 0: it is dense. See stow_plan_options.least_row.
  uint64_t rows;
  uint64_t pitch;
} stow_plan_value;
// As stow_plan_describe. STOW_ERR_NOT_FOUND if |value| is out of range.
STOW_API stow_status stow_plan_describe_value(const stow_plan* plan, stow_value value,
                                              stow_plan_value* out_value);

// In bytes.
STOW_API uint64_t stow_plan_arena_size(const stow_plan* plan);
// As many as the graph has.
STOW_API uint32_t stow_plan_value_count(const stow_plan* plan);
// The value's bytes, also those of a view inside its root. False, and |out_slot| is {0, 0, 0}, if
// the value has no slot or is out of range.
STOW_API bool stow_plan_value_slot(const stow_plan* plan, stow_value value, stow_slot* out_slot);
// The value in whose bytes |value| lies: itself, unless it is a view, in place or elided.
// STOW_VALUE_NONE if it is out of range.
STOW_API stow_value stow_plan_root(const stow_plan* plan, stow_value value);
// The order in which the executor must run the nodes: one node per step. Owned by the plan.
STOW_API uint32_t stow_plan_step_count(const stow_plan* plan);
STOW_API const stow_node* stow_plan_order(const stow_plan* plan);
// Scratch, in order of node, then of index within the node; |out_alignment| is in bytes. Past the
// end |out_node| is STOW_NODE_NONE.
STOW_API size_t stow_plan_scratch_count(const stow_plan* plan);
STOW_API void stow_plan_scratch_slot(const stow_plan* plan, size_t index, stow_node* out_node,
                                     stow_slot* out_slot, uint64_t* out_alignment);
// The bytes that scratch |index| needs, in loads and bounds; its slot may be larger, if it was
// offered more (stow_effects_offer_scratch). 0 past the end.
STOW_API uint64_t stow_plan_scratch_need(const stow_plan* plan, size_t index);
// Rows that the scratch of a `stream` node keeps, of a value of its function: |rows| of them at
// most, in |size| bytes at |offset| of the scratch. They are in use from |begin| to |end|, in
// thousandths of the node's work; others may have the bytes before and after. Who prepares kernels
// says what there is (stow_prepared_ring in exec.h).
typedef struct stow_ring {
  size_t struct_size;          // sizeof(stow_ring), set by the caller
  const stow_graph* function;  // owned by the graph
  stow_value value;
  uint64_t rows;
  uint64_t offset, size;
  uint32_t begin, end;
} stow_ring;

// Ranges of the arena that this plan does not use, in order of offset: weights (with their guards)
// of the shared layout that the graph does not have, or what other graphs of a set (set.h) keep
// between runs. The arena includes them. {0, 0, 0} past the end.
STOW_API size_t stow_plan_reserved_count(const stow_plan* plan);
STOW_API stow_slot stow_plan_reserved_slot(const stow_plan* plan, size_t index);

// In bytes: no placement with these lifetimes and fixed offsets is smaller (packed params count as
// not fixed). stow_load.lower_bound describes how it is computed.
STOW_API uint64_t stow_plan_lower_bound(const stow_plan* plan);
// The roots that occupy bytes at the peak, the first step with the highest load:
// stow_plan_info.peak_count of them. STOW_VALUE_NONE past the end.
STOW_API stow_value stow_plan_peak_value(const stow_plan* plan, size_t index);

// Windows of |root|, in order of time: when it occupies only a part of its bytes (sharing.h). 0 for
// values that are not a root; all 0 past the end.
STOW_API size_t stow_plan_window_count(const stow_plan* plan, stow_value root);
STOW_API stow_window stow_plan_window_at(const stow_plan* plan, stow_value root, size_t index);

// What |root| occupies of the arena at |step|, guard included. {0, 0, 0} if nothing: it is not a
// root, has no slot, is not live at |step|, or has an empty window. O(log windows).
STOW_API stow_slot stow_plan_occupied_slot(const stow_plan* plan, stow_value root, uint32_t step);

// The decisions about sharing bytes, in order of step (sharing.h). Not saved: a plan that was read
// has none. STOW_ERR_NOT_FOUND past the end.
STOW_API size_t stow_plan_decision_count(const stow_plan* plan);
STOW_API stow_status stow_plan_describe_decision(const stow_plan* plan, size_t index,
                                                 stow_decision* out_decision);

// What would make the arena smaller, noted by whoever planned that too. JSON and pictures show it
// in the order of calls. Not saved.
typedef struct stow_hint {
  size_t struct_size;   // sizeof(stow_hint), set by the caller
  stow_str change;      // in words of the planner's user, such as options of a command; owned by
                        // the plan
  uint64_t arena_size;  // bytes of the other plan
} stow_hint;
// Copies |change|.
STOW_API stow_status stow_plan_add_hint(stow_plan* plan, stow_str change, uint64_t arena_size,
                                        stow_diag* diag);
STOW_API size_t stow_plan_hint_count(const stow_plan* plan);
// STOW_ERR_NOT_FOUND past the end.
STOW_API stow_status stow_plan_describe_hint(const stow_plan* plan, size_t index,
                                             stow_hint* out_hint);

// The result of the search for an order. Not saved.
typedef struct stow_ordering {
  size_t struct_size;    // sizeof(stow_ordering), set by the caller
  bool searched;         // options.order is STOW_ORDER_AUTO, the arena was above |any_bound|, and
                         // that of options.start was not good enough
  bool changed;          // another order was found and taken
  uint64_t given_arena;  // bytes in the given order; the plan's arena if there was no search
  uint64_t other_arena;  // bytes in the best other order; 0: none was found
  uint64_t any_bound;    // no order needs less with any sharing that the options allow; 0: unknown
  stow_node critical;    // the node at which every order needs |any_bound|; STOW_NODE_NONE: no
                         // single one, a search proved the bound
  uint64_t nodes;        // of the budget, spent
} stow_ordering;
STOW_API stow_status stow_plan_describe_ordering(const stow_plan* plan,
                                                 stow_ordering* out_ordering);

// Whether the plan fits in options.capacity. The plan is complete either way. Sizes are in bytes.
typedef struct stow_fit {
  size_t struct_size;  // sizeof(stow_fit), set by the caller
  bool fits;
  bool possible;          // false: proven that no placement fits, with any sharing that was tried;
                          // true: one may, even if this one does not
  uint64_t required;      // the arena size
  uint64_t available;     // the capacity
  uint64_t excess;        // required - available, or 0
  stow_value value;       // the value to look at: of those that reach above the capacity, the one
                          // that starts to do so at the highest load (then by step, id);
                          // STOW_VALUE_NONE: only scratch or a reserved range does
  uint64_t value_bytes;   // what |value| occupies at |step|; without a value, the bytes of scratch,
                          // found in the same way
  uint32_t step;          // the first step at which |value| reaches above the capacity: the begin
                          // of its lifetime, unless it has windows
  uint64_t largest_hole;  // the largest free range below the capacity at |step|, without |value|
} stow_fit;
STOW_API stow_status stow_plan_describe_fit(const stow_plan* plan, stow_fit* out_fit);

// The result of the strategy's search. Not saved: for a plan that was read, it follows from the
// lower bound.
typedef struct stow_search {
  size_t struct_size;    // sizeof(stow_search), set by the caller
  stow_outcome outcome;  // with regard to the capacity, if there is one
  uint64_t bound;        // the lower bound, or a higher one that the search proved
  uint64_t nodes;        // search nodes spent, by all attempts
  bool stopped;          // by the callback
} stow_search;
STOW_API stow_status stow_plan_describe_search(const stow_plan* plan, stow_search* out_search);

// ---------------------------------------------------------------------------------------------
// Planning again: a plan that starts from an earlier one, whose graph may differ. For compilers
// that plan after every change: if little has changed, few buffers move and less is searched.
//
//     stow_start* start = NULL;
//     stow_status status = stow_start_from_plan(earlier, heap, diag, &start);
//     options.start = start;
//     if (status == STOW_OK) status = stow_plan_make(changed, NULL, &options, heap, diag, &plan);
//     stow_start_destroy(start);

// The buffers of |plan|: roots that have a slot, by id, then scratch with bytes, then reserved
// ranges. Does not refer to the plan afterwards; free it with stow_start_destroy.
STOW_API stow_status stow_start_from_plan(const stow_plan* plan, stow_allocator allocator,
                                          stow_diag* diag, stow_start** out_start);
// The rows of |csv|, which is a plan (STOW_PLAN_CSV), or a placement whose ids are the names of its
// buffers. Does not refer to |csv| afterwards.
STOW_API stow_status stow_start_from_csv(const stow_csv* csv, stow_allocator allocator,
                                         stow_diag* diag, stow_start** out_start);
STOW_API void stow_start_destroy(stow_start* start);
STOW_API size_t stow_start_count(const stow_start* start);

// Which buffers of |now| were there in |start|. The same name is the same buffer; of those left,
// the first of a kind and size is the first there; then, if equally many of a kind are left, the
// first of a kind is. |out_offsets|, one per buffer of |now|, are those in |start|, or
// STOW_PLACE_ANYWHERE. O(n log n). stow_plan_make does that itself; for placement problems.
STOW_API stow_status stow_start_match(const stow_start* start, const stow_start* now,
                                      stow_allocator allocator, stow_diag* diag,
                                      uint64_t* out_offsets);

// What became of the buffers of options.start. Not saved.
typedef struct stow_moves {
  size_t struct_size;  // sizeof(stow_moves), set by the caller
  bool started;        // there was a start
  size_t kept;         // buffers that were there, at the same offset
  size_t moved;        // buffers that were there, at another offset
  size_t added;        // buffers that were not there
} stow_moves;
STOW_API stow_status stow_plan_describe_moves(const stow_plan* plan, stow_moves* out_moves);

// ---------------------------------------------------------------------------------------------
// Writing and reading. Lines end in LF; the same plan gives the same bytes on every machine.
// docs/plan-format.md describes the formats.

// Formats of stow_plan_write. name, text
#define STOW_PLAN_FORMAT_LIST(X)                                                             \
  X(SAVED, "plan")    /* for stow_plan_read; a superset of the report */                     \
  X(REPORT, "report") /* RLX's: a header, `offset<TAB>size<TAB>%id` per value with a slot */ \
  X(JSON, "json")                                                                            \
  X(CSV, "csv") /* a row per buffer, for stow_csv_read and other placement programs */

typedef enum stow_plan_format {
#define STOW_PLAN_FORMAT_ENUM(name, text) STOW_PLAN_##name,
  STOW_PLAN_FORMAT_LIST(STOW_PLAN_FORMAT_ENUM)
#undef STOW_PLAN_FORMAT_ENUM
} stow_plan_format;
// Returns the status of a failed write; STOW_ERR_INVALID_ARGUMENT if |format| is unknown.
STOW_API stow_status stow_plan_write(const stow_plan* plan, stow_plan_format format,
                                     stow_writer writer);
// Writes a C header: arena size and alignment, offset and size of every scratch and of every value
// that has a slot, static asserts. |prefix| must be a C identifier, or NULL for the graph's name.
STOW_API stow_status stow_plan_write_c(const stow_plan* plan, const char* prefix,
                                       stow_writer writer, stow_diag* diag);

// Reads a STOW_PLAN_SAVED of |graph|, which is not referred to afterwards. STOW_ERR_SYNTAX with
// line and column in the fields of |diag|; messages start with |file_name| (may be NULL).
// STOW_ERR_STALE_PLAN if it was made for another graph. Only the text is checked; prove the plan
// with stow_plan_check.
STOW_API stow_status stow_plan_read(const char* text, size_t size, const char* file_name,
                                    const stow_graph* graph, stow_allocator allocator,
                                    stow_diag* diag, stow_plan** out_plan);

// ---------------------------------------------------------------------------------------------
// Weight layouts: the offsets of the params of a forward plan, for a backward plan (or that of
// another model) that uses the same weights: stow_plan_options.layout.

typedef struct stow_weight {
  size_t struct_size;  // sizeof(stow_weight), set by the caller
  stow_str name;       // owned by the layout
  stow_value value;    // in the forward graph
  uint64_t offset;     // these three in bytes
  uint64_t size;
  uint64_t guard;
} stow_weight;

// Every param of |graph| that has a slot in |plan|, sorted by name. Refers to neither afterwards;
// free it with stow_weight_layout_destroy. STOW_ERR_STALE_PLAN if |plan| is not of |graph|.
STOW_API stow_status stow_weight_layout_create(const stow_graph* graph, const stow_plan* plan,
                                               stow_allocator allocator, stow_diag* diag,
                                               stow_weight_layout** out_layout);
STOW_API void stow_weight_layout_destroy(stow_weight_layout* layout);
STOW_API size_t stow_weight_layout_count(const stow_weight_layout* layout);
// STOW_ERR_NOT_FOUND past the end.
STOW_API stow_status stow_weight_layout_describe(const stow_weight_layout* layout, size_t index,
                                                 stow_weight* out_weight);

// ---------------------------------------------------------------------------------------------
// Checking. Shares no code with the planner and the strategies; everything is derived again from
// graph and effects. Options that the plan states (alignment, guard, which values have a slot …),
// reserved ranges and the name of the strategy are taken as stated. Lifetimes that are longer than
// necessary, as rules make them, are allowed.

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
  X(KEPT, "what a graph keeps between runs is not safe in another's")         \
  X(ROWS, "a pitched value that its nodes cannot make or read")

typedef enum stow_fault {
#define STOW_FAULT_ENUM(name, text) STOW_FAULT_##name,
  STOW_FAULT_LIST(STOW_FAULT_ENUM)
#undef STOW_FAULT_ENUM
      STOW_FAULT_COUNT
} stow_fault;
STOW_API const char* stow_fault_text(stow_fault fault);  // static; "?" past the end

typedef struct stow_violation {
  size_t struct_size;  // sizeof(stow_violation), set by the caller
  stow_fault fault;
  stow_value first;          // the value concerned; STOW_VALUE_NONE if it is scratch
  stow_value second;         // the other value, or STOW_VALUE_NONE
  stow_node first_scratch;   // the node whose scratch it is, if |first| is STOW_VALUE_NONE
  stow_node second_scratch;  // the same for |second|
  uint32_t step;             // at which it happens
} stow_violation;

// Proves that |plan| is correct for |graph| and |effects| (NULL: none), which must be those it was
// made with. STOW_ERR_VIOLATION if not, with the first fault found in |out_violation| (may be NULL)
// and described in |diag|: both values and the step. O(n log n).
STOW_API stow_status stow_plan_check(const stow_plan* plan, const stow_graph* graph,
                                     const stow_effects* effects, stow_allocator allocator,
                                     stow_diag* diag, stow_violation* out_violation);

// Proves that |plan| leaves the weights of |layout| unchanged: every param of |graph| that has a
// slot has the offset of the weight of that name (otherwise STOW_FAULT_MOVED), its size (_SIZE) and
// guard (_GUARD), over the whole run; every other weight lies, with its guard, in a range that the
// plan reserves (_WEIGHT). stow_plan_check proves that nothing else uses params and reserved
// ranges, so a plan that shares weights needs both checks. STOW_ERR_VIOLATION as there;
// STOW_FAULT_STALE if the plan is not of |graph|. The params are checked even if the plan was not
// made with a layout. O(n log n).
STOW_API stow_status stow_plan_check_layout(const stow_plan* plan, const stow_graph* graph,
                                            const stow_weight_layout* layout, stow_diag* diag,
                                            stow_violation* out_violation);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_PLAN_H_
