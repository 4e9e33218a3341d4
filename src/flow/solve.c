// Solves one cell: exact search forwards and backwards with a small part of the remaining budget,
// because often one direction finishes at once where the other does not end; then beams, which
// lower the limit of the exact searches that follow with larger parts, if there is much to gain;
// windows last.
#include "base/diag.h"
#include "flow/exact.h"
#include "flow/search.h"

#define MAX_SETS_OF 16384  // above this many tasks, only windows are tried
// A cell above its floor by less than one part in this many gets no larger part of the budget than
// that of the first searches.
#define SMALL_GAP 1024
#define FIRST_PART 64

static stowi_flow_stretch stretch_of(stowi_flow_search* s, const stowi_flow_cell* cell) {
  return (stowi_flow_stretch){s->best + cell->begin, cell->count};
}

typedef stow_status (*solver)(stowi_flow_state*, stowi_flow_stretch, const stowi_flow_exact_task*,
                              stowi_flow_exact_result*);

typedef struct attempt {
  solver solve;
  bool backwards;
  uint64_t part;  // one in this many of the remaining nodes
} attempt;

static bool is_close(const stowi_flow_exact_task* task) {
  return task->limit - task->floor <= task->limit / SMALL_GAP;
}

static stow_status try_once(stowi_flow_search* s, stowi_flow_cell* cell, const attempt* how,
                            bool* out_done) {
  stowi_flow_exact_task task = {.floor = stowi_flow_search_floor(s),
                                .limit = stowi_flow_min_u64(cell->peak, s->given_peak),
                                .backwards = how->backwards};
  stowi_flow_exact_result result;
  *out_done = task.limit <= task.floor;
  if (*out_done) {
    return STOW_OK;
  }
  uint64_t part = is_close(&task) ? FIRST_PART : how->part;
  task.nodes = stowi_flow_search_nodes_left(s) / part + 1;
  stowi_flow_search_go(s, cell->begin);
  STOW_TRY(how->solve(&s->state, stretch_of(s, cell), &task, &result));
  s->result.nodes += result.nodes;
  stowi_flow_search_bound(s, result.bound, STOWI_FLOW_TASK_NONE);
  if (result.verdict == STOWI_FLOW_ORDER_FOUND) {
    uint32_t place;
    cell->peak = stowi_flow_search_peak(s, cell->begin, cell->count, &place);
  }
  *out_done = result.verdict == STOWI_FLOW_ORDER_NONE || cell->peak <= stowi_flow_search_floor(s);
  return STOW_OK;
}

stow_status stowi_flow_solve_cell(stowi_flow_search* s, stowi_flow_cell* cell) {
  static const attempt attempts[] = {
      {stowi_flow_exact, false, FIRST_PART}, {stowi_flow_exact, true, FIRST_PART},
      {stowi_flow_beam, false, 16},          {stowi_flow_beam, true, 16},
      {stowi_flow_exact, false, 4},          {stowi_flow_exact, true, 4}};
  bool done = cell->count < 2;
  size_t count = cell->count > MAX_SETS_OF ? 0 : sizeof(attempts) / sizeof(*attempts);
  for (size_t i = 0; i < count && !done; ++i) {
    STOW_TRY(try_once(s, cell, &attempts[i], &done));
  }
  return done ? STOW_OK : stowi_flow_improve_cell(s, cell);
}
