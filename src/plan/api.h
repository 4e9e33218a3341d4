// What other rooms may ask of plans, sets and weight layouts beyond the public headers.
#ifndef STOWAGE_SRC_PLAN_API_H_
#define STOWAGE_SRC_PLAN_API_H_

#include <stowage/formula.h>
#include <stowage/plan.h>
#include <stowage/set.h>

#include "base/shared.h"
#include "plan/formulas/data.h"

// Lifetime [begin, end) in steps.
STOWI_SHARED uint32_t stowi_plan_begin(const stow_plan* plan, stow_value value);
STOWI_SHARED uint32_t stowi_plan_end(const stow_plan* plan, stow_value value);
// Guard bytes after the value's slot; 0 for views and where there is none.
STOWI_SHARED uint64_t stowi_plan_guard(const stow_plan* plan, stow_value value);
// The rows of a value, 1 if it is dense, and how far they are apart (stow_plan_value).
STOWI_SHARED uint64_t stowi_plan_rows(const stow_plan* plan, stow_value value, uint64_t* out_pitch);
STOWI_SHARED uint64_t stowi_plan_value_alignment(const stow_plan* plan, stow_value value);
// Element type of a value, for typed access.
STOWI_SHARED stow_dtype stowi_plan_dtype(const stow_plan* plan, stow_value value);
// The value's name in the graph; empty where it has none.
STOWI_SHARED stow_str stowi_plan_value_name(const stow_plan* plan, stow_value value);
// The largest alignment of any slot, at least options.alignment: what the arena's base needs.
STOWI_SHARED uint64_t stowi_plan_alignment(const stow_plan* plan);
STOWI_SHARED uint64_t stowi_plan_fingerprint(const stow_plan* plan);
STOWI_SHARED stow_str stowi_plan_graph_name(const stow_plan* plan);
// "default", "rlx" … are not kept; what was chosen is: name of the strategy, whether bytes are
// reused.
STOWI_SHARED stow_str stowi_plan_strategy_name(const stow_plan* plan);
STOWI_SHARED bool stowi_plan_reuse(const stow_plan* plan);
// Sum of all slot sizes, views included (a sum that needs more than 64 bits is UINT64_MAX); that
// minus the arena size, never below 0.
STOWI_SHARED uint64_t stowi_plan_total_unshared(const stow_plan* plan);
STOWI_SHARED uint64_t stowi_plan_saved(const stow_plan* plan);
STOWI_SHARED uint32_t stowi_plan_peak_step(const stow_plan* plan);
// Roots that occupy bytes at the peak, those with the most first, then by id.
STOWI_SHARED size_t stowi_plan_peak_count(const stow_plan* plan);
// Bytes of load at the peak that are scratch, not values.
STOWI_SHARED uint64_t stowi_plan_peak_scratch(const stow_plan* plan);
// Pools that slots lie in, each with an arena of its own: 1, since only one is supported.
STOWI_SHARED uint32_t stowi_plan_pool_count(const stow_plan* plan);
// STOW_ERR_STALE_PLAN, naming both fingerprints, where the plan was made for another graph.
STOWI_SHARED stow_status stowi_plan_require(const stow_plan* plan, const stow_graph* graph,
                                            stow_diag* diag);
// RLX's report: a header and one `offset<TAB>size<TAB>%id` row per value that has a slot.
STOWI_SHARED stow_status stowi_plan_write_report(const stow_plan* plan, stow_writer writer);
STOWI_SHARED stow_status stowi_plan_write_json(const stow_plan* plan, stow_writer writer);
// One row per buffer, in the columns that placement research uses:
// id,lower,upper,size,alignment,offset,guard,kind,name. |size| is the footprint. Where there are
// windows they follow as |gaps|. stow_csv_read (csv.h) reads it.
STOWI_SHARED stow_status stowi_plan_write_csv(const stow_plan* plan, stow_writer writer);
// The loadable superset of the report.
STOWI_SHARED stow_status stowi_plan_write_saved(const stow_plan* plan, stow_writer writer);
// NULL-safe lookup by name; false where there is none.
STOWI_SHARED bool stowi_plan_weight_layout_find(const stow_weight_layout* layout, stow_str name,
                                                stow_weight* out_weight);
// The highest end of a weight (without guard).
STOWI_SHARED uint64_t stowi_plan_weight_layout_size(const stow_weight_layout* layout);

// stow_set_describe, field by field.
STOWI_SHARED size_t stowi_plan_set_count(const stow_set* set);
STOWI_SHARED uint64_t stowi_plan_set_alignment(const stow_set* set);
// No placement with these orders and this sharing is smaller.
STOWI_SHARED uint64_t stowi_plan_set_lower_bound(const stow_set* set);
// How many things that are kept between runs are in more than one graph, and their bytes.
STOWI_SHARED size_t stowi_plan_set_shared_count(const stow_set* set);
STOWI_SHARED uint64_t stowi_plan_set_shared_bytes(const stow_set* set);

// Gives a plan of a function of a few nodes other sizes: order, sharing and lifetimes stay, and who
// lies below whom. Windows are dropped; it must have no guards, and values begin where their roots
// do: STOW_ERR_UNSUPPORTED. Sharing must hold whatever the sizes are. All are borrowed.
typedef struct stowi_plan_resizer stowi_plan_resizer;
STOWI_SHARED stow_status stowi_plan_resizer_create(stow_plan* plan, const stow_graph* graph,
                                                   const stow_effects* effects,
                                                   stow_allocator allocator, stow_diag* diag,
                                                   stowi_plan_resizer** out_resizer);
STOWI_SHARED void stowi_plan_resizer_destroy(stowi_plan_resizer* resizer);
// Changes the plan to the sizes that graph and effects have now. Bounds and peak stay. Allocates
// nothing after the first time.
STOWI_SHARED stow_status stowi_plan_resize(stowi_plan_resizer* resizer, stow_diag* diag);

// A formula plan as an ordinary plan whose numbers change from point to point, for executors.
// Bounds and peak are not computed.
typedef struct stowi_plan_mover stowi_plan_mover;
// |formula|, |bound| and |effects| are borrowed; the latter two are as they are at the point when
// the plan is moved there.
STOWI_SHARED stow_status stowi_plan_mover_create(const stow_formula* formula,
                                                 const stow_graph* bound,
                                                 const stow_effects* effects,
                                                 stow_allocator allocator, stow_diag* diag,
                                                 stowi_plan_mover** out_mover);
STOWI_SHARED void stowi_plan_mover_destroy(stowi_plan_mover* mover);
// The plan at |point|, valid until the next call. Allocates nothing if it was there before.
STOWI_SHARED stow_status stowi_plan_mover_to(stowi_plan_mover* mover, size_t point, stow_diag* diag,
                                             const stow_plan** out_plan);

// The graph of a formula plan, with its symbols.
STOWI_SHARED const stow_graph* stowi_plan_formula_graph(const stow_formula* formula);
// A plan at a point: everything is borrowed until the visitor returns. Another status than STOW_OK
// ends the visit.
typedef struct stowi_plan_formula_stop {
  size_t point;
  const stow_graph* bound;
  const stow_effects* effects;
  const stow_plan* plan;
} stowi_plan_formula_stop;
typedef stow_status (*stowi_plan_formula_visitor)(void* user, const stowi_plan_formula_stop* stop,
                                                  stow_diag* diag);
// Calls |visit| at each of |points|, in their order. |effects| as in stow_formula_options.
STOWI_SHARED stow_status stowi_plan_formula_visit(const stow_formula* formula,
                                                  const stow_formula_effects* effects,
                                                  const size_t* points, size_t count,
                                                  stow_allocator allocator, stow_diag* diag,
                                                  stowi_plan_formula_visitor visit, void* user);

#endif  // STOWAGE_SRC_PLAN_API_H_
