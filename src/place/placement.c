// A placement is an offset per buffer and the height they reach.
#include "base/alloc.h"
#include "base/diag.h"
#include "place/api.h"
#include "place/quest.h"

stow_placement* stowi_place_placement_create(stow_allocator allocator, size_t count) {
  stow_placement* placement = STOWI_NEW(allocator, stow_placement);
  if (placement == NULL) {
    return NULL;
  }
  placement->offsets = STOWI_ARRAY_ZERO(allocator, uint64_t, count);
  if (placement->offsets == NULL) {
    STOWI_DELETE(allocator, placement);
    return NULL;
  }
  placement->allocator = allocator;
  placement->count = count;
  return placement;
}

void stow_placement_destroy(stow_placement* placement) {
  if (placement != NULL) {
    stow_allocator allocator = placement->allocator;
    STOWI_ARRAY_FREE(allocator, placement->offsets, placement->count);
    STOWI_DELETE(allocator, placement);
  }
}

size_t stowi_place_placement_count(const stow_placement* placement) { return placement->count; }

uint64_t stow_placement_offset(const stow_placement* placement, size_t buffer) {
  return placement->offsets[buffer];
}

uint64_t stow_placement_height(const stow_placement* placement) { return placement->height; }

stow_outcome stow_placement_outcome(const stow_placement* placement) { return placement->outcome; }

uint64_t stowi_place_placement_bound(const stow_placement* placement) { return placement->bound; }

uint64_t stowi_place_placement_nodes(const stow_placement* placement) { return placement->nodes; }

bool stowi_place_placement_stopped(const stow_placement* placement) { return placement->stopped; }

const char* stow_outcome_text(stow_outcome outcome) {
  switch (outcome) {
    case STOW_OUTCOME_OPTIMAL: return "optimal";
    case STOW_OUTCOME_FEASIBLE: return "feasible";
    case STOW_OUTCOME_INFEASIBLE: return "infeasible";
    case STOW_OUTCOME_GAVE_UP: return "gave up";
  }
  return "unknown";
}

stow_status stow_placement_describe(const stow_placement* placement,
                                    stow_placement_info* out_info) {
  stow_placement_info info = {.count = stowi_place_placement_count(placement),
                              .height = stow_placement_height(placement),
                              .bound = stowi_place_placement_bound(placement),
                              .nodes = stowi_place_placement_nodes(placement),
                              .outcome = stow_placement_outcome(placement),
                              .stopped = stowi_place_placement_stopped(placement)};
  return stowi_fill_struct(out_info, &info, sizeof(info), "stow_placement_info", NULL);
}
