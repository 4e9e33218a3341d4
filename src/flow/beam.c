// Beam search: expands all sets of one size, then keeps only the best, by lowest peak so far and
// then by fewest bytes. The beam is as wide as the node budget and the memory allow for the whole
// search.
#include <string.h>

#include "base/diag.h"
#include "base/sort.h"
#include "flow/exact.h"

#define MAX_BYTES ((size_t)64 << 20)
#define MAX_WIDTH 2048
#define STEPS_PER_SET 8  // estimated steps tried from each set

typedef struct branch {
  uint64_t peak;
  uint32_t from;
  stowi_flow_step step;
} branch;

typedef struct beam {
  stowi_flow_walk walk;
  const stowi_flow_exact_task* task;
  uint32_t width;
  uint32_t begin;  // the sets of this size begin here
  STOWI_VEC(branch) branches;
} beam;

static int compare_branches(const void* a, const void* b, const void* context) {
  (void)context;
  const branch* x = (const branch*)a;
  const branch* y = (const branch*)b;
  if (x->peak != y->peak) {
    return x->peak < y->peak ? -1 : 1;
  }
  if (x->step.bytes != y->step.bytes) {
    return x->step.bytes < y->step.bytes ? -1 : 1;
  }
  return x->from != y->from ? (x->from < y->from ? -1 : 1) : 0;
}

// Advances by one task. |out_any|: false if no set of that size is below the limit.
static stow_status advance(beam* b, bool* out_any) {
  uint32_t end = (uint32_t)b->walk.sets.count;
  b->branches.count = 0;
  for (uint32_t set = b->begin; set < end; ++set) {
    stowi_flow_walk* walk = &b->walk;
    stowi_flow_walk_go(walk, set);
    uint64_t level = walk->sets.data[set].peak;
    uint32_t count = stowi_flow_walk_steps(walk, level, b->task->limit);
    STOW_TRY(STOWI_VEC_RESERVE(walk->allocator, &b->branches, count));
    for (uint32_t i = 0; i < count; ++i) {
      uint64_t need = walk->steps[i].need;
      b->branches.data[b->branches.count++] =
          (branch){need > level ? need : level, set, walk->steps[i]};
    }
  }
  STOW_TRY(stowi_sort(b->branches.data, b->branches.count, sizeof(branch), compare_branches, NULL,
                      b->walk.allocator));
  for (size_t i = 0; i < b->branches.count && b->walk.sets.count < (size_t)end + b->width; ++i) {
    const branch* best = &b->branches.data[i];
    uint32_t set;
    bool better;
    STOW_TRY(stowi_flow_walk_reach(&b->walk, best->from, &best->step, best->peak, &set, &better));
  }
  b->begin = end;
  *out_any = b->walk.sets.count > end;
  return STOW_OK;
}

static stow_status go(beam* b, stowi_flow_exact_result* result) {
  uint32_t count = b->walk.stretch.count;
  uint64_t width = b->task->nodes / ((uint64_t)count * STEPS_PER_SET);
  uint64_t most = b->walk.max_sets / (count + 1);
  width = width < most ? width : most;
  b->width = (uint32_t)(width < MAX_WIDTH ? width : MAX_WIDTH);
  b->walk.sets.data[0].peak = b->task->floor;
  bool any = b->width > 0;
  for (uint32_t i = 0; i < count && any && b->walk.nodes < b->task->nodes; ++i) {
    STOW_TRY(advance(b, &any));
  }
  if (any && b->walk.sets.data[b->begin].depth == count) {
    stowi_flow_walk_order(&b->walk, b->begin);
    result->verdict = STOWI_FLOW_ORDER_FOUND;
  }
  return STOW_OK;
}

stow_status stowi_flow_beam(stowi_flow_state* state, stowi_flow_stretch stretch,
                            const stowi_flow_exact_task* task,
                            stowi_flow_exact_result* out_result) {
  memset(out_result, 0, sizeof(*out_result));
  out_result->verdict = STOWI_FLOW_ORDER_UNKNOWN;
  beam b = {.task = task};
  stow_status status = stowi_flow_walk_open(&b.walk, state, stretch, task->backwards, MAX_BYTES);
  if (status == STOW_OK) {
    status = go(&b, out_result);
  }
  out_result->nodes = b.walk.nodes;
  STOWI_VEC_FREE(b.walk.allocator, &b.branches);
  stowi_flow_walk_close(&b.walk);
  return status;
}
