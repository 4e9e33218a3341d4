// The data of formula plans, shared by the files that make, read, evaluate and write them. The
// checker may read these fields too, but calls nothing declared here.
//     make.c       plans at points, until every point has a good structure
//     survey.c     what only effects know, at every point: scratch, and what is kept
//     links.c      where values lie in their roots, as expressions
//     region.c     a structure, of the plan at one point
//     walk.c       offsets, arena and load at a point
//     move.c       plans whose numbers are those of one point after another
//     at.c         the plan at a point
//     terms.c      arenas as formulas
//     sample.c     which points of a range with too many are looked at
//     bounds.c     the largest gap and arena of such a range
//     fit.c        what fits into a capacity
#ifndef STOWAGE_SRC_PLAN_FORMULAS_FORMULA_H_
#define STOWAGE_SRC_PLAN_FORMULAS_FORMULA_H_

#include <stowage/formula.h>

#include "graph/api.h"
#include "place/api.h"
#include "plan/api.h"
#include "plan/formulas/data.h"
#include "plan/plan_internal.h"

// First and last values of the symbols, as numbers of steps from their least.
typedef struct stowi_plan_formula_box {
  uint32_t region;
  uint64_t first[STOW_MAX_RANK];
  uint64_t last[STOW_MAX_RANK];
} stowi_plan_formula_box;

// A structure.
typedef struct stowi_plan_formula_region {
  size_t planned_at;
  stowi_plan_facts facts;
  stow_node* order;                  // step_count of them
  stowi_plan_formula_value* values;  // value_count of them
  size_t buffer_count;
  stowi_plan_formula_buffer* buffers;   // roots by id, scratch by node and index, reserved ranges;
                                        // one more entry ends the last one's parts
  stowi_place_constraint* constraints;  // by buffer
  size_t reserved_count;
  stowi_plan_span* reserved;
  size_t part_count;
  stowi_plan_formula_part* parts;  // by buffer, then time; one more entry ends the last one's terms
  size_t term_count;
  uint32_t* terms;    // expressions
  size_t used_count;  // different ones among terms and sizes of buffers
  uint32_t* used;
  stowi_place_orientation* orientation;
  uint64_t* arena;  // by point; UINT64_MAX: does not hold there
  uint64_t* load;
  size_t sum_count;  // the arena is at most the largest of these, at every point of the region,
  stow_dim* sums;
  uint64_t slack;  // and less by at most this; UINT64_MAX: it may be larger
} stowi_plan_formula_region;

// What is proven of a plan by bounds, see stow_formula_info.
typedef struct stowi_plan_formula_bound {
  uint64_t arena;
  uint64_t gap_arena;
  uint64_t gap_load;
} stowi_plan_formula_bound;

struct stow_formula {
  stow_allocator allocator;
  stowi_graph_twin* twin;
  stow_graph* graph;  // the twin's, with symbols
  uint64_t fingerprint;
  uint32_t value_count;
  uint32_t step_count;
  char strategy[65];
  size_t symbol_count;  // with ranges
  size_t* symbols;      // their indices in the graph
  stow_dim_range* ranges;
  size_t all_symbols;  // of the graph
  // By symbol: how many of its values points have, and which, as steps from its least; NULL: all.
  size_t* value_counts;
  uint64_t** samples;
  bool by_bounds;
  size_t most_values;  // of a symbol in the sample
  uint64_t shape_count;
  stowi_plan_formula_bound bound;
  int64_t* elsewhere;  // values of all symbols at point |point_count|, which is between points
  size_t point_count;
  STOWI_VEC(stowi_plan_formula_expr) exprs;
  STOWI_VEC(uint64_t*) tables;
  STOWI_VEC(stowi_plan_formula_region*) regions;
  STOWI_VEC(stowi_plan_formula_box) boxes;  // by region, then in order of their first points
  uint32_t* region_at;                      // by point
  size_t plan_count;
};

// ---------------------------------------------------------------------------------------------
// formula.c

// The largest arena that is not notably above the load. Above this many bytes a percent is notable,
// below it a kibibyte.
#define STOWI_PLAN_FORMULA_SMALL 65536
static inline uint64_t stowi_plan_formula_tolerable(uint64_t load) {
  return load + (load > STOWI_PLAN_FORMULA_SMALL ? load / 100 : 1024);
}

// How large a formula may be: with more points times values than |work| it is refused, unless
// |by_bounds|.
typedef struct stowi_plan_formula_limits {
  uint64_t work;
  bool by_bounds;
  size_t most_values;  // of a symbol in the sample, if it is known; or 0
} stowi_plan_formula_limits;

// A formula without regions.
stow_status stowi_plan_formula_create(const stow_graph* graph,
                                      const stowi_plan_formula_limits* limits,
                                      stow_allocator allocator, stow_diag* diag,
                                      stow_formula** out_formula);
// sample.c: the points of a range that has too many. STOW_ERR_OUT_OF_MEMORY.
stow_status stowi_plan_formula_sample(stow_formula* formula,
                                      const stowi_plan_formula_limits* limits);
void stowi_plan_formula_free_samples(stow_formula* formula);
// How many points there are if no symbol has more than |most| values; UINT64_MAX: more than that.
uint64_t stowi_plan_formula_points_with(const stow_formula* formula, size_t most);
// Values of a symbol in a sample, at most.
#define STOWI_PLAN_FORMULA_FEWEST_VALUES 4
#define STOWI_PLAN_FORMULA_MOST_VALUES 512
// Value |index| of the symbol, as steps from its least; and the step before that of the next one.
static inline uint64_t stowi_plan_formula_step(const stow_formula* formula, size_t symbol,
                                               size_t index) {
  return formula->samples == NULL ? index : formula->samples[symbol][index];
}
static inline uint64_t stowi_plan_formula_last_step(const stow_formula* formula, size_t symbol,
                                                    size_t index) {
  bool is_end = index + 1 >= formula->value_counts[symbol];
  return is_end ? stowi_plan_formula_step(formula, symbol, index)
                : stowi_plan_formula_step(formula, symbol, index + 1) - 1;
}
static inline int64_t stowi_plan_formula_value_at(const stow_formula* formula, size_t symbol,
                                                  uint64_t step) {
  return formula->ranges[symbol].min + (int64_t)step * formula->ranges[symbol].step;
}
void stowi_plan_formula_region_destroy(stow_formula* formula, stowi_plan_formula_region* region);
// The number of the expression, added if it is new.
stow_status stowi_plan_formula_add_dim(stow_formula* formula, stow_dim dim, uint32_t* out_expr);
// The same of |table|, which is copied.
stow_status stowi_plan_formula_add_table(stow_formula* formula, const uint64_t* table,
                                         uint32_t* out_expr);
// Values of all symbols of the graph at |point|, or elsewhere.
void stowi_plan_formula_values(const stow_formula* formula, size_t point, int64_t* out_values);
// Fills the boxes from |region_at|.
stow_status stowi_plan_formula_make_boxes(stow_formula* formula);
bool stowi_plan_formula_is_in_box(const stow_formula* formula, const stowi_plan_formula_box* box,
                                  size_t point);
// Fails with the status and the message of the dims table.
stow_status stowi_plan_formula_fail_dim(const stow_formula* formula, stow_value value,
                                        stow_diag* diag);

// ---------------------------------------------------------------------------------------------
// What making needs besides

typedef struct stowi_plan_formula_maker {
  stow_formula* formula;
  stow_formula_effects effects;
  stow_plan_options options;
  stow_allocator allocator;
  stow_diag* diag;
  int64_t* values;       // of all symbols, at the point that the twin is bound to
  size_t scratch_count;  // sizes at every point, by node and index; none if there is no scratch
  struct stowi_plan_formula_scratch* scratch;
  size_t kept_count;
  struct stowi_plan_formula_kept* kept;
} stowi_plan_formula_maker;

typedef struct stowi_plan_formula_scratch {
  stow_node node;
  uint32_t index;
  uint32_t size;  // expression
} stowi_plan_formula_scratch;

// A value that is kept between runs, and its place.
typedef struct stowi_plan_formula_kept {
  stow_value value;
  uint64_t offset;
  uint64_t most;  // bytes at any point
} stowi_plan_formula_kept;

// make.c: checks |given|, which may be NULL, and copies it and its planning options.
stow_status stowi_plan_formula_load_options(const stow_formula_options* given,
                                            stow_formula_options* out, stow_plan_options* out_plan,
                                            stow_diag* diag);
// Effects at the point that the twin is bound to; end them with stowi_plan_formula_end_effects.
stow_status stowi_plan_formula_begin_effects(const stow_formula_effects* source,
                                             const stow_graph* bound, stow_allocator allocator,
                                             stow_diag* diag, stow_effects** out_effects);
void stowi_plan_formula_end_effects(const stow_formula_effects* source, stow_effects* effects);
// Binds the twin to |point|.
stow_status stowi_plan_formula_bind(stowi_plan_formula_maker* maker, size_t point);

// survey.c: sizes of all scratch at every point, and places for what is kept.
stow_status stowi_plan_formula_survey(stowi_plan_formula_maker* maker);
// NULL: there is none.
const stowi_plan_formula_scratch* stowi_plan_formula_scratch_of(
    const stowi_plan_formula_maker* maker, stow_node node, uint32_t index);

// links.c: bytes of all values, and their places in the roots of |plan|, as expressions:
// |out_bytes| and |out_inner| have an entry for each value. |plan| is of the graph at the point
// that the twin is bound to, and |maker->values| has; the twin is unbound afterwards.
stow_status stowi_plan_formula_find_places(stowi_plan_formula_maker* maker, const stow_plan* plan,
                                           const stow_effects* effects, stow_dim* out_bytes,
                                           stow_dim* out_inner);

// region.c: the structure of |plan|, made at |point|, which the twin is bound to; it is unbound
// afterwards.
stow_status stowi_plan_formula_region_create(stowi_plan_formula_maker* maker, size_t point,
                                             stow_plan* plan, stow_effects* effects,
                                             stowi_plan_formula_region** out_region);

// sample.c: the plan of |region| at a shape between points; |values| are of all symbols. As
// stow_formula_at otherwise. Not for one formula plan in several threads at once.
stow_status stowi_plan_formula_at_shape(const stow_formula* formula, size_t region,
                                        const int64_t* values, const stow_graph* bound,
                                        const stow_effects* effects, stow_allocator allocator,
                                        stow_diag* diag, stow_plan** out_plan);

// bounds.c: bounds of a plan by bounds, when its boxes are known.
stow_status stowi_plan_formula_find_bounds(stow_formula* formula, stow_diag* diag);

// walk.c: arenas and loads of |region| at all points.
stow_status stowi_plan_formula_measure(stow_formula* formula, stowi_plan_formula_region* region,
                                       stow_diag* diag);
// Evaluates |region| at |point|; false if a fixed buffer does not hold there, or a number
// overflows.
bool stowi_plan_formula_walk_region(stow_formula_walk* walk,
                                    const stowi_plan_formula_region* region, size_t point);

struct stow_formula_walk {
  stow_allocator allocator;
  const stow_formula* formula;
  const stowi_plan_formula_region* region;  // where it is; NULL before the first point
  size_t point;
  size_t buffer_capacity;
  size_t part_capacity;
  int64_t* values;    // of all symbols
  size_t expr_count;  // numbers of expressions at the point, computed when they are needed
  uint64_t* numbers;
  uint32_t* computed;  // by expression: the visit in which it was
  uint32_t visit;
  uint64_t* low;  // by part
  uint64_t* high;
  uint64_t* offsets;    // by buffer
  uint32_t* buffer_of;  // by value: that of a root; UINT32_MAX: it has none
  uint64_t arena;
};
// The number of an expression at the walk's point; UINT64_MAX if it has none.
uint64_t stowi_plan_formula_compute(stow_formula_walk* walk, uint32_t expr);
static inline uint64_t stowi_plan_formula_number(stow_formula_walk* walk, uint32_t expr) {
  return walk->computed[expr] == walk->visit ? walk->numbers[expr]
                                             : stowi_plan_formula_compute(walk, expr);
}
// The bytes of a buffer there, without its guard.
uint64_t stowi_plan_formula_size(stow_formula_walk* walk, const stowi_plan_formula_buffer* buffer);

// formats/write_formula.c, formats/save_formula.c
stow_status stowi_plan_formula_write_saved(const stow_formula* formula, stow_writer writer);
stow_status stowi_plan_formula_write_json(const stow_formula* formula, stow_writer writer);

// terms.c: the arena of each region as the largest of a few sums.
stow_status stowi_plan_formula_find_sums(stow_formula* formula, stow_diag* diag);

// move.c: the plan of the walk's region, without numbers, and with those of the walk's point, as
// |effects| are there.
stow_status stowi_plan_formula_begin_plan(const stow_formula_walk* walk, const stow_graph* bound,
                                          const stow_effects* effects, stow_allocator allocator,
                                          stow_diag* diag, stow_plan** out_plan);
stow_status stowi_plan_formula_place(stow_formula_walk* walk, const stow_effects* effects,
                                     stow_plan* plan, stow_diag* diag);

// at.c: the plan of |region| at the walk's point.
stow_status stowi_plan_formula_plan_at(stow_formula_walk* walk, const stow_graph* bound,
                                       const stow_effects* effects, stow_allocator allocator,
                                       stow_diag* diag, stow_plan** out_plan);

#endif  // STOWAGE_SRC_PLAN_FORMULAS_FORMULA_H_
