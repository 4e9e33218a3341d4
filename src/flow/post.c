// Depth-first orders, after Sethi and Ullman: the tasks that a task waits for are finished one
// after the other, starting with the one that needs most beyond what it leaves behind. Optimal for
// trees; a good start elsewhere. O(n log n), no recursion.
#include "base/diag.h"
#include "base/sort.h"
#include "flow/search.h"

typedef struct child {
  uint64_t rank;  // UINT64_MAX less what it needs beyond what it leaves, to sort by
  stowi_flow_task task;
} child;

typedef struct poster {
  const stowi_flow_net* net;
  const stowi_flow_lists* below;  // children of a task
  bool backwards;
  uint64_t* need;      // to finish a task and all below it, treated as a tree
  uint64_t* leaves;    // bytes that stay once it is finished
  uint32_t* children;  // those of |below|, in visiting order
  child* sorted;
  uint32_t* next;  // child to visit, in |children|
  stowi_flow_task* stack;
  bool* seen;
} poster;

static uint64_t add(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

static uint64_t max(uint64_t a, uint64_t b) { return a > b ? a : b; }

static uint64_t bytes_of(const stowi_flow_net* net, stowi_flow_span blocks) {
  uint64_t bytes = 0;
  for (const uint32_t* b = blocks.begin; b < blocks.end; ++b) {
    bytes += net->blocks[*b].bytes;
  }
  return bytes;
}

// Sorts the children of |task| into visiting order, and computes what it needs.
static stow_status rank(poster* p, stowi_flow_task task) {
  stowi_flow_span below = stowi_flow_list(p->below, task);
  size_t count = (size_t)(below.end - below.begin);
  for (size_t i = 0; i < count; ++i) {
    stowi_flow_task t = below.begin[i];
    uint64_t beyond = p->need[t] > p->leaves[t] ? p->need[t] - p->leaves[t] : 0;
    p->sorted[i] = (child){UINT64_MAX - beyond, t};
  }
  STOW_TRY(stowi_sort_by_key(p->sorted, count, sizeof(child), p->net->allocator));
  uint64_t held = 0;
  uint64_t need = 0;
  for (size_t i = 0; i < count; ++i) {
    stowi_flow_task t = p->sorted[i].task;
    p->children[p->below->first[task] + i] = t;
    need = max(need, add(held, p->need[t]));
    held = add(held, p->leaves[t]);
  }
  uint64_t made = bytes_of(p->net, stowi_flow_list(&p->net->makes, task));
  uint64_t read = bytes_of(p->net, stowi_flow_list(&p->net->reads, task));
  p->leaves[task] = p->backwards ? read : made;
  p->need[task] = max(need, add(held, max(p->net->own[task], p->leaves[task])));
  return STOW_OK;
}

static stow_status rank_all(poster* p) {
  uint32_t count = p->net->task_count;
  for (uint32_t i = 0; i < count; ++i) {
    STOW_TRY(rank(p, p->stack[p->backwards ? count - 1 - i : i]));
  }
  return STOW_OK;
}

// Visits all below |root|; returns the number of tasks finished so far.
static uint32_t visit(poster* p, stowi_flow_task root, stowi_flow_task* out, uint32_t done) {
  uint32_t depth = 0;
  if (!p->seen[root]) {
    p->seen[root] = true;
    p->stack[depth++] = root;
  }
  while (depth > 0) {
    stowi_flow_task task = p->stack[depth - 1];
    if (p->next[task] == p->below->first[task + 1]) {
      out[done++] = task;
      depth -= 1;
      continue;
    }
    stowi_flow_task next = p->children[p->next[task]++];
    if (!p->seen[next]) {
      p->seen[next] = true;
      p->stack[depth++] = next;
    }
  }
  return done;
}

static void visit_all(poster* p, stowi_flow_task* out) {
  uint32_t count = p->net->task_count;
  const stowi_flow_lists* above = p->backwards ? &p->net->before : &p->net->after;
  for (uint32_t t = 0; t < count; ++t) {
    p->next[t] = p->below->first[t];
    p->seen[t] = false;
  }
  uint32_t done = 0;
  for (uint32_t i = 0; i < count; ++i) {
    stowi_flow_task root = p->backwards ? count - 1 - i : i;
    if (stowi_flow_list_size(above, root) == 0) {
      done = visit(p, root, out, done);
    }
  }
  for (uint32_t i = 0; p->backwards && i < count / 2; ++i) {
    stowi_flow_task swap = out[i];
    out[i] = out[count - 1 - i];
    out[count - 1 - i] = swap;
  }
}

static bool allocate(poster* p) {
  stow_allocator a = p->net->allocator;
  size_t n = p->net->task_count;
  p->need = STOWI_ARRAY(a, uint64_t, n);
  p->leaves = STOWI_ARRAY(a, uint64_t, n);
  p->children = STOWI_ARRAY(a, uint32_t, p->below->total);
  p->sorted = STOWI_ARRAY(a, child, n);
  p->next = STOWI_ARRAY(a, uint32_t, n);
  p->stack = STOWI_ARRAY(a, stowi_flow_task, n);
  p->seen = STOWI_ARRAY(a, bool, n);
  return p->need != NULL && p->leaves != NULL && p->children != NULL && p->sorted != NULL &&
         p->next != NULL && p->stack != NULL && p->seen != NULL;
}

static void release(poster* p) {
  stow_allocator a = p->net->allocator;
  size_t n = p->net->task_count;
  STOWI_ARRAY_FREE(a, p->need, n);
  STOWI_ARRAY_FREE(a, p->leaves, n);
  STOWI_ARRAY_FREE(a, p->children, p->below->total);
  STOWI_ARRAY_FREE(a, p->sorted, n);
  STOWI_ARRAY_FREE(a, p->next, n);
  STOWI_ARRAY_FREE(a, p->stack, n);
  STOWI_ARRAY_FREE(a, p->seen, n);
}

stow_status stowi_flow_post_order(const stowi_flow_net* net, const stowi_flow_task* sorted,
                                  bool backwards, stowi_flow_task* out_order) {
  poster p = {.net = net, .backwards = backwards, .below = backwards ? &net->after : &net->before};
  stow_status status = allocate(&p) ? STOW_OK : STOW_ERR_OUT_OF_MEMORY;
  if (status == STOW_OK) {
    for (uint32_t i = 0; i < net->task_count; ++i) {
      p.stack[i] = sorted[i];
    }
    status = rank_all(&p);
  }
  if (status == STOW_OK) {
    visit_all(&p, out_order);
  }
  release(&p);
  return status;
}
