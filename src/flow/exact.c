// Dijkstra's search for the path with the lowest peak from the empty set to the full one. Sets are
// taken by peak, so the peak of the full set is minimal when it is taken, and the peak of the set
// being taken is always a bound. Peaks below the floor count as the floor; within one level the
// deepest set is taken first, which makes the search a dive that turns back only when the level
// must be left. The number of sets is at most the product of (length + 1) over parallel branches;
// safe steps (walk.c) leave a fraction of that.
#include "flow/exact.h"

#include <string.h>

#include "base/diag.h"
#include "flow/queue.h"

#define MAX_BYTES ((size_t)64 << 20)  // of sets

typedef struct finder {
  stowi_flow_walk walk;
  const stowi_flow_exact_task* task;
  stowi_flow_queue queue;
} finder;

static stow_status push(finder* f, uint32_t set) {
  const stowi_flow_set* s = &f->walk.sets.data[set];
  return stowi_flow_queue_push(
      &f->queue, f->walk.allocator,
      (stowi_flow_queue_entry){s->peak, UINT32_MAX - s->depth, s->bytes, set});
}

// Expands |set| by one step. |out_room|: false once no more sets fit.
static stow_status expand(finder* f, uint32_t set, bool* out_room) {
  stowi_flow_walk* walk = &f->walk;
  stowi_flow_walk_go(walk, set);
  uint64_t level = walk->sets.data[set].peak;
  uint32_t count = stowi_flow_walk_steps(walk, level, f->task->limit);
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t need = walk->steps[i].need;
    uint32_t to;
    bool better;
    STOW_TRY(stowi_flow_walk_reach(walk, set, &walk->steps[i], need > level ? need : level, &to,
                                   &better));
    if (to == STOWI_INDEX_NONE) {
      *out_room = false;
      return STOW_OK;
    }
    if (better) {
      STOW_TRY(push(f, to));
    }
  }
  return STOW_OK;
}

static stow_status find(finder* f, stowi_flow_exact_result* result) {
  uint32_t all = f->walk.stretch.count;
  f->walk.sets.data[0].peak = f->task->floor;
  STOW_TRY(push(f, 0));
  while (f->queue.count > 0) {
    stowi_flow_queue_entry e = stowi_flow_queue_pop(&f->queue);
    stowi_flow_set* set = &f->walk.sets.data[e.id];
    if (set->closed || e.first != set->peak) {
      continue;
    }
    result->bound = set->peak > f->task->floor ? set->peak : 0;
    if (set->depth == all) {
      result->verdict = STOWI_FLOW_ORDER_FOUND;
      stowi_flow_walk_order(&f->walk, e.id);
      return STOW_OK;
    }
    bool room = f->walk.nodes < f->task->nodes;
    if (room) {
      set->closed = true;
      STOW_TRY(expand(f, e.id, &room));
    }
    if (!room) {
      result->verdict = STOWI_FLOW_ORDER_UNKNOWN;
      return STOW_OK;
    }
  }
  result->verdict = STOWI_FLOW_ORDER_NONE;
  result->bound = f->task->limit;
  return STOW_OK;
}

stow_status stowi_flow_exact(stowi_flow_state* state, stowi_flow_stretch stretch,
                             const stowi_flow_exact_task* task,
                             stowi_flow_exact_result* out_result) {
  memset(out_result, 0, sizeof(*out_result));
  finder f = {.task = task};
  stow_status status = stowi_flow_walk_open(&f.walk, state, stretch, task->backwards, MAX_BYTES);
  if (status == STOW_OK) {
    status = find(&f, out_result);
  }
  out_result->nodes = f.walk.nodes;
  STOWI_VEC_FREE(f.walk.allocator, &f.queue);
  stowi_flow_walk_close(&f.walk);
  return status;
}
