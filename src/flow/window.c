// Sliding windows: orders a few tasks around the peak exactly, while all others stay in place.
// Repeats while that lowers the peak; otherwise tries larger windows, and windows at other
// positions around the peak.
#include "base/diag.h"
#include "flow/exact.h"
#include "flow/search.h"

#define FIRST_WINDOW 16
#define LAST_WINDOW 128
#define WINDOW_NODES 20000

// The window of |size| places inside the cell that has |place| at |quarter| quarters of its length.
static stowi_flow_cell window_around(const stowi_flow_cell* cell, uint32_t place, uint32_t size,
                                     uint32_t quarter) {
  uint32_t lead = size / 4 * quarter;
  uint32_t begin = place - cell->begin > lead ? place - lead : cell->begin;
  uint32_t end = cell->begin + cell->count;
  return (stowi_flow_cell){cell->peak, begin, end - begin < size ? end - begin : size};
}

static stow_status try_windows(stowi_flow_search* s, const stowi_flow_cell* cell, uint32_t place,
                               bool* out_better) {
  static const uint32_t quarters[] = {2, 1, 3};
  *out_better = false;
  for (uint32_t size = FIRST_WINDOW; size <= LAST_WINDOW && !*out_better; size *= 2) {
    for (size_t i = 0; i < sizeof(quarters) / sizeof(*quarters) && !*out_better; ++i) {
      if (stowi_flow_search_nodes_left(s) == 0) {
        return STOW_OK;
      }
      stowi_flow_cell window = window_around(cell, place, size, quarters[i]);
      bool backwards = (size / FIRST_WINDOW) % 2 == 0;
      stowi_flow_exact_task task = {
          .floor = stowi_flow_search_floor(s),
          .limit = window.peak,
          .nodes = stowi_flow_min_u64(WINDOW_NODES, stowi_flow_search_nodes_left(s)),
          .backwards = backwards};
      stowi_flow_stretch stretch = {s->best + window.begin, window.count};
      stowi_flow_exact_result result;
      stowi_flow_search_go(s, window.begin);
      STOW_TRY(stowi_flow_exact(&s->state, stretch, &task, &result));
      s->result.nodes += result.nodes;
      *out_better = result.verdict == STOWI_FLOW_ORDER_FOUND;
    }
    if (size >= cell->count) {
      break;
    }
  }
  return STOW_OK;
}

stow_status stowi_flow_improve_cell(stowi_flow_search* s, stowi_flow_cell* cell) {
  bool better = true;
  while (better && cell->peak > stowi_flow_search_floor(s) && stowi_flow_search_nodes_left(s) > 0) {
    uint32_t place;
    cell->peak = stowi_flow_search_peak(s, cell->begin, cell->count, &place);
    STOW_TRY(try_windows(s, cell, place, &better));
  }
  uint32_t place;
  cell->peak = stowi_flow_search_peak(s, cell->begin, cell->count, &place);
  return STOW_OK;
}
