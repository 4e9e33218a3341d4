// What other rooms may ask of placements beyond <stowage/place.h>.
#ifndef STOWAGE_SRC_PLACE_API_H_
#define STOWAGE_SRC_PLACE_API_H_

#include <stowage/csv.h>
#include <stowage/place.h>

#include "base/shared.h"
#include "place/orient/orient.h"

STOWI_SHARED size_t stowi_place_placement_count(const stow_placement* placement);
// Proven: no placement is lower. The height is optimal where it is not above this.
STOWI_SHARED uint64_t stowi_place_placement_bound(const stow_placement* placement);
// Spent on it.
STOWI_SHARED uint64_t stowi_place_placement_nodes(const stow_placement* placement);
// The callback stopped it.
STOWI_SHARED bool stowi_place_placement_stopped(const stow_placement* placement);
// `first-fit`: largest first (by size without guard; equal ones by number), each at the lowest
// aligned offset where its footprint meets no placed one that lives at the same time. About O(n log
// n) unless lifetimes are adversarial. Without reuse: in that order, each after everything placed
// so far.
STOWI_SHARED stow_status stowi_place_first_fit(const stow_problem* problem,
                                               const stow_place_options* options,
                                               stow_allocator allocator, stow_diag* diag,
                                               stow_placement** out_placement);
// `best-fit`: the same order, each in the smallest gap that holds it (the lowest of equal ones).
STOWI_SHARED stow_status stowi_place_best_fit(const stow_problem* problem,
                                              const stow_place_options* options,
                                              stow_allocator allocator, stow_diag* diag,
                                              stow_placement** out_placement);

// Hands the cells of the column |name|, which has no meaning for placement, to |take|, row by row;
// none if there is no such column. In a quoted cell, quotes are still doubled. Returns the first
// status that is not STOW_OK.
typedef stow_status (*stowi_place_csv_take)(void* user, size_t row, stow_str cell, bool is_quoted);
STOWI_SHARED stow_status stowi_place_csv_each(const stow_csv* csv, stow_str name,
                                              stowi_place_csv_take take, void* user);
STOWI_SHARED bool stowi_place_csv_has_column(const stow_csv* csv, stow_str name);

#endif  // STOWAGE_SRC_PLACE_API_H_
