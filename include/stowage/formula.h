// Formula plans: one plan for every shape of a range.
//
// A graph whose symbols have ranges (type.h) stands for many shapes, one for each *point* of the
// ranges. A formula plan has a plan for all of them: order, sharing and who lies below whom are the
// same, and offsets follow from the sizes at a point. Where one such structure would need notably
// more than the load, or does not hold, the range is divided into a few *regions* with a structure
// each. A formula plan is made by planning at a few points, and evaluated at every one.
//
// At a point it is an ordinary plan (stow_formula_at), which stow_plan_check proves.
// stow_formula_check proves all of them, and that structures hold for sizes of any kind.
//
//     #include <stdio.h>
//     #include <stowage/formula.h>
//
//     // `graph` has a symbol `seq` with a range, such as 1..512.
//     stow_status print_arenas(const stow_graph* graph, stow_diag* diag) {
//       stow_allocator heap = stow_allocator_default();
//       stow_formula* formula = NULL;
//       stow_status status = stow_formula_make(graph, NULL, heap, diag, &formula);
//       if (status == STOW_OK) status = stow_formula_check(formula, NULL, heap, diag);
//       for (size_t i = 0; status == STOW_OK && i < stow_formula_point_count(formula); ++i) {
//         stow_formula_point point = {.struct_size = sizeof(point)};
//         stow_formula_describe_point(formula, i, &point);
//         printf("%llu bytes, load %llu\n", (unsigned long long)point.arena_size,
//                (unsigned long long)point.load);
//       }
//       stow_formula_destroy(formula);
//       return status;
//     }
#ifndef STOWAGE_FORMULA_H_
#define STOWAGE_FORMULA_H_

#include <stowage/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------
// Making

// The effects of the graph at a point: |bound| is the graph with numbers for dims, valid until
// |end|. Called at every point, maybe more than once; the same point has the same effects. Scratch
// may have other sizes at other points.
typedef struct stow_formula_effects {
  // NULL: what the graph's `with` clauses say (stow_effects_create).
  stow_status (*begin)(void* user, const stow_graph* bound, stow_allocator allocator,
                       stow_diag* diag, stow_effects** out_effects);
  void (*end)(void* user, stow_effects* effects);  // NULL: stow_effects_destroy
  void* user;
  bool is_same_everywhere;  // promised: scratch and all else is the same at every point
} stow_formula_effects;

typedef struct stow_formula_options {
  size_t struct_size;             // written by stow_formula_options_init
  const stow_plan_options* plan;  // how to plan at a point; NULL: the default preset. Borrowed. Its
                                  // schedule, start and capacity must not be set
  stow_formula_effects effects;
  uint32_t most_plans;  // points that are planned to make arenas smaller; those that are planned
                        // because no structure holds there are not limited. 16
  bool by_bounds;  // ranges with more points than |most_work| allows are proven by bounds, rather
                   // than refused. false
  uint64_t most_work;  // STOW_FORMULA_MAX_WORK
} stow_formula_options;
STOW_API void stow_formula_options_defaults(stow_formula_options* options);
static inline void stow_formula_options_init(stow_formula_options* options) {
  options->struct_size = sizeof(*options);
  stow_formula_options_defaults(options);
}

typedef struct stow_formula stow_formula;

// Points times values that a formula plan may have: every point is evaluated and proven. Above that
// number it is *by bounds*, if the options allow it: its points are a *sample* of the range, all
// ends among them, and regions reach from one of their points to before the next. What is said
// below of every point holds for those of the sample, and so do formulas of arenas; that the plan
// is correct for all shapes is proven from the expressions (stow_formula_check), and how large gaps
// and arenas are by bounds over boxes of shapes (stow_formula_info).
#define STOW_FORMULA_MAX_WORK 10000000

// Plans |graph|, which must outlive the formula plan. All of its symbols have ranges:
// STOW_ERR_UNBOUND_DIM names one that has none. STOW_ERR_LIMIT if there are too many points, or if
// the range falls into too many regions. |options| may be NULL. Values that are kept between runs
// (state, params and constants that have slots) lie at the bottom, with their largest size, at the
// same offset at every point.
STOW_API stow_status stow_formula_make(const stow_graph* graph, const stow_formula_options* options,
                                       stow_allocator allocator, stow_diag* diag,
                                       stow_formula** out_formula);
STOW_API void stow_formula_destroy(stow_formula* formula);

// ---------------------------------------------------------------------------------------------
// Reading

// The symbols with ranges, in the order in which the graph has them. Empty past the end.
// |out_range| may be NULL.
STOW_API size_t stow_formula_symbol_count(const stow_formula* formula);
STOW_API stow_str stow_formula_symbol(const stow_formula* formula, size_t index,
                                      stow_dim_range* out_range);

typedef struct stow_formula_info {
  size_t struct_size;  // sizeof(stow_formula_info), set by the caller
  stow_str graph_name;
  uint64_t fingerprint;  // of the graph
  size_t point_count;
  size_t region_count;
  size_t plan_count;       // points that were planned; 0 if it was read
  size_t buffer_count;     // of the region of the last point
  uint64_t largest_arena;  // at any point
  size_t largest_point;    // the last one at which it is that large
  size_t worst_point;      // where the arena is most above the load, in parts of the load
  uint64_t alignment;      // of the arena's base
  bool by_bounds;          // the points are a sample of the range, see STOW_FORMULA_MAX_WORK
  uint64_t shape_count;    // all points of the range; UINT64_MAX: more than that
  uint64_t arena_bound;    // no shape has a larger arena; |largest_arena| if not by bounds
  uint64_t gap_arena;      // the gap at any shape is at most that of this arena
  uint64_t gap_load;       // above this load, in parts of the load
} stow_formula_info;
STOW_API stow_status stow_formula_describe(const stow_formula* formula,
                                           stow_formula_info* out_info);

// Points are numbered from 0; the first symbol changes slowest, and the last point has the largest
// values.
STOW_API size_t stow_formula_point_count(const stow_formula* formula);
// The values of the symbols, one for each. False past the end.
STOW_API bool stow_formula_point_values(const stow_formula* formula, size_t point,
                                        int64_t* out_values);
// The point with these values. STOW_ERR_NOT_FOUND if one is not in its range, or the sample does
// not have it.
STOW_API stow_status stow_formula_find_point(const stow_formula* formula, const int64_t* values,
                                             size_t* out_point);

typedef struct stow_formula_point {
  size_t struct_size;   // sizeof(stow_formula_point), set by the caller
  uint64_t arena_size;  // bytes, with what is kept at its largest
  uint64_t load;        // no placement of these lifetimes is lower
  size_t region;
} stow_formula_point;
// O(1). STOW_ERR_NOT_FOUND past the end.
STOW_API stow_status stow_formula_describe_point(const stow_formula* formula, size_t point,
                                                 stow_formula_point* out_point);

// A region: the points in boxes of values.
typedef struct stow_formula_region {
  size_t struct_size;  // sizeof(stow_formula_region), set by the caller
  size_t planned_at;   // the point whose plan it comes from
  size_t point_count;
  size_t box_count;
  size_t buffer_count;
  size_t edge_count;   // pairs of which one is known to lie below the other, that are kept
  size_t worst_point;  // as above, of this region
  size_t sum_count;    // the arena is the largest of so many sums at every point of the region,
  uint64_t slack;      // or less by at most this many bytes; UINT64_MAX: it may be larger
} stow_formula_region;
// STOW_ERR_NOT_FOUND past the end.
STOW_API stow_status stow_formula_describe_region(const stow_formula* formula, size_t region,
                                                  stow_formula_region* out_region);
// Box |box| of the region: its first and last values, one for each symbol. False past the end.
STOW_API bool stow_formula_box(const stow_formula* formula, size_t region, size_t box,
                               int64_t* out_first, int64_t* out_last);
// Writes sum |sum| of the region, as dims are written: `?(2048*seq + 64*ceil_div(seq, 16))`.
// STOW_ERR_NOT_FOUND past the end.
STOW_API stow_status stow_formula_write_sum(const stow_formula* formula, size_t region, size_t sum,
                                            stow_writer writer);

// ---------------------------------------------------------------------------------------------
// At a point

// The plan at |point| of |bound|, the graph with that point's values, and of its effects there
// (NULL: none). Free it with stow_plan_destroy.
STOW_API stow_status stow_formula_at(const stow_formula* formula, size_t point,
                                     const stow_graph* bound, const stow_effects* effects,
                                     stow_allocator allocator, stow_diag* diag,
                                     stow_plan** out_plan);

// Offsets at one point after another, without an allocation.
typedef struct stow_formula_walk stow_formula_walk;
STOW_API stow_status stow_formula_walk_create(const stow_formula* formula, stow_allocator allocator,
                                              stow_diag* diag, stow_formula_walk** out_walk);
STOW_API void stow_formula_walk_destroy(stow_formula_walk* walk);
// Evaluates all offsets at |point|, which must be below the count. Returns the arena size.
// O(buffers + edges) of its region.
STOW_API uint64_t stow_formula_walk_to(stow_formula_walk* walk, size_t point);
// The value's bytes there; false if it has none.
STOW_API bool stow_formula_walk_slot(stow_formula_walk* walk, stow_value value,
                                     stow_slot* out_slot);

// ---------------------------------------------------------------------------------------------
// What fits into a capacity

typedef enum stow_fit_kind {
  STOW_FIT_YES,     // the formula plan does
  STOW_FIT_OWN,     // a plan made at this point alone does
  STOW_FIT_NO,      // proven: no plan does, in any order that the options allow
  STOW_FIT_LOAD,    // not searched; the load is above the capacity in the formula plan's order
  STOW_FIT_UNKNOWN  // none was found, and no proof that there is none
} stow_fit_kind;

// Closed: it never grows.
typedef struct stow_fit_point {
  stow_fit_kind kind;
  uint64_t arena_size;  // of the formula plan, or of the plan made at this point
  uint64_t load;        // of the formula plan
} stow_fit_point;

// Finds out which points fit in |capacity| bytes. |out_points| has an entry for each point;
// |out_largest| is the last point that fits, or SIZE_MAX. The points after the last one at which
// the formula plan fits are planned for themselves, with the options that the formula plan was made
// with (NULL: the defaults): until three in a row are proven not to fit and the others' loads are
// above the capacity, and at most 16. STOW_ERR_LIMIT for a plan by bounds.
STOW_API stow_status stow_formula_fit(stow_formula* formula, uint64_t capacity,
                                      const stow_formula_options* options, stow_allocator allocator,
                                      stow_diag* diag, stow_fit_point* out_points,
                                      size_t* out_largest);

// ---------------------------------------------------------------------------------------------
// Writing and reading. docs/plan-format.md describes the formats. The same formula plan gives the
// same bytes on every machine. Formats are STOW_PLAN_SAVED and STOW_PLAN_JSON; others are
// STOW_ERR_INVALID_ARGUMENT.
STOW_API stow_status stow_formula_write(const stow_formula* formula, stow_plan_format format,
                                        stow_writer writer);

// Writes a C header: functions of the symbols that return the arena's size and fill an array with
// the offsets of all values, and macros for the sizes of both. |prefix| must be a C identifier, or
// NULL for the graph's name.
STOW_API stow_status stow_formula_write_c(const stow_formula* formula, const char* prefix,
                                          stow_writer writer, stow_diag* diag);
// Reads a STOW_PLAN_SAVED of |graph|, which must outlive the formula plan. Errors as
// stow_plan_read: STOW_ERR_SYNTAX with line and column, STOW_ERR_STALE_PLAN if it was made for
// another graph or other ranges. Only the text is checked; prove the plan with stow_formula_check.
STOW_API stow_status stow_formula_read(const char* text, size_t size, const char* file_name,
                                       const stow_graph* graph, stow_allocator allocator,
                                       stow_diag* diag, stow_formula** out_formula);

// ---------------------------------------------------------------------------------------------
// Checking. Shares no code with what makes formula plans.

// Proves |formula|: its regions cover the range without overlap; in each, of every two buffers that
// are live together one is below the other, without a cycle; and at every point the plan is correct
// (stow_plan_check). |effects| as in stow_formula_options (NULL: `with` clauses).
// STOW_ERR_VIOLATION if not, described in |diag|. A plan by bounds is proven for every shape: the
// range is divided into cells in which each dim is one number or at least 2, and every comparison
// of two dims has one answer, so that views and shares are the same at all shapes of a cell; sizes,
// places in roots and windows are compared as expressions; the plan is correct at two shapes of
// each cell, and at all points. STOW_ERR_UNSUPPORTED names what cannot be proven so.
STOW_API stow_status stow_formula_check(const stow_formula* formula,
                                        const stow_formula_effects* effects,
                                        stow_allocator allocator, stow_diag* diag);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_FORMULA_H_
