// A lower bound on what exists while a task v runs: the smallest bytes(X) over all sets X after
// which v may run. X holds what comes before v, and neither v nor what comes after it; of the
// others, the *free* tasks, it holds any subset that may have run. That is a minimum cut: X is the
// source side, and the arcs
//     maker ──bytes──▶ (block) ──any──▶ each reader      task ──any──▶ each task before it
// cost a block's bytes if it was made and a reader has not run, and forbid a task without what it
// waits for. A part counts only until its whole is made: less than the truth if the whole is gone
// before the part, never more. need(v, X) then adds v's own bytes and subtracts the most its pairs
// can give.
#include <string.h>

#include "base/diag.h"
#include "base/sort.h"
#include "flow/maxflow.h"
#include "flow/search.h"

typedef enum side { SIDE_FREE, SIDE_BEFORE, SIDE_AFTER } side;

typedef struct cutter {
  const stowi_flow_net* net;
  stow_allocator allocator;
  unsigned char* sides;  // of tasks
  uint32_t* nodes;       // of free tasks
  stowi_flow_task* queue;
  stowi_flow_maxflow graph;
  uint64_t work;  // what is left of it
} cutter;

// Assigns a side to |task| and to all tasks that |lists| lead to from it.
static void mark(cutter* c, const stowi_flow_lists* lists, stowi_flow_task task, side what) {
  uint32_t end = 0;
  c->queue[end++] = task;
  for (uint32_t i = 0; i < end; ++i) {
    stowi_flow_span next = stowi_flow_list(lists, c->queue[i]);
    for (const uint32_t* t = next.begin; t < next.end; ++t) {
      if (c->sides[*t] == SIDE_FREE) {
        c->sides[*t] = (unsigned char)what;
        c->queue[end++] = *t;
      }
    }
  }
  c->sides[task] = (unsigned char)what;
}

// Adds a node for each free task, and arcs to what it waits for.
static stow_status add_tasks(cutter* c) {
  for (uint32_t t = 0; t < c->net->task_count; ++t) {
    if (c->sides[t] == SIDE_FREE) {
      STOW_TRY(stowi_flow_maxflow_node(&c->graph, c->allocator, &c->nodes[t]));
    }
  }
  for (uint32_t t = 0; t < c->net->task_count; ++t) {
    stowi_flow_span before = stowi_flow_list(&c->net->before, t);
    for (const uint32_t* b = before.begin; b < before.end && c->sides[t] == SIDE_FREE; ++b) {
      if (c->sides[*b] == SIDE_FREE) {
        STOW_TRY(stowi_flow_maxflow_arc(&c->graph, c->allocator, c->nodes[t], c->nodes[*b],
                                        STOWI_FLOW_ANY));
      }
    }
  }
  return STOW_OK;
}

// The tasks until which a block counts.
static stowi_flow_span holders(const stowi_flow_net* net, stowi_flow_block block) {
  stowi_flow_block whole = net->blocks[block].whole;
  if (whole != STOWI_FLOW_BLOCK_NONE) {
    const stowi_flow_task* maker = &net->blocks[whole].maker;
    return (stowi_flow_span){maker, maker + 1};
  }
  return stowi_flow_list(&net->readers, block);
}

// How |block| is held: by a task that certainly has not run, by free tasks, or not at all.
static side holding_side(const cutter* c, stowi_flow_block block, stowi_flow_span tasks) {
  const stowi_flow_block_info* b = &c->net->blocks[block];
  side held = SIDE_BEFORE;
  if (b->to_end && b->whole == STOWI_FLOW_BLOCK_NONE) {
    return SIDE_AFTER;
  }
  for (const uint32_t* t = tasks.begin; t < tasks.end; ++t) {
    if (c->sides[*t] == SIDE_AFTER) {
      return SIDE_AFTER;
    }
    held = c->sides[*t] == SIDE_FREE ? SIDE_FREE : held;
  }
  return held;
}

// Adds what certainly exists to |certain|, and what depends on the free tasks to the graph.
static stow_status add_block(cutter* c, stowi_flow_block block, uint64_t* certain) {
  const stowi_flow_block_info* b = &c->net->blocks[block];
  side made = b->maker == STOWI_FLOW_TASK_NONE ? SIDE_BEFORE : (side)c->sides[b->maker];
  stowi_flow_span tasks = holders(c->net, block);
  side held = holding_side(c, block, tasks);
  if (made == SIDE_AFTER || held == SIDE_BEFORE || b->bytes == 0) {
    return STOW_OK;
  }
  if (made == SIDE_BEFORE && held == SIDE_AFTER) {
    *certain += b->bytes;
    return STOW_OK;
  }
  uint32_t from = made == SIDE_BEFORE ? STOWI_FLOW_SOURCE : c->nodes[b->maker];
  if (held == SIDE_AFTER) {
    return stowi_flow_maxflow_arc(&c->graph, c->allocator, from, STOWI_FLOW_SINK, b->bytes);
  }
  uint32_t node;
  STOW_TRY(stowi_flow_maxflow_node(&c->graph, c->allocator, &node));
  STOW_TRY(stowi_flow_maxflow_arc(&c->graph, c->allocator, from, node, b->bytes));
  for (const uint32_t* t = tasks.begin; t < tasks.end; ++t) {
    if (c->sides[*t] == SIDE_FREE) {
      STOW_TRY(stowi_flow_maxflow_arc(&c->graph, c->allocator, node, c->nodes[*t], STOWI_FLOW_ANY));
    }
  }
  return STOW_OK;
}

// The bytes that |task| needs in every order.
static stow_status need_of(cutter* c, stowi_flow_task task, uint64_t* out_bytes) {
  const stowi_flow_net* net = c->net;
  uint64_t size = (uint64_t)net->task_count + net->block_count;
  c->work = c->work > size ? c->work - size : 0;
  memset(c->sides, SIDE_FREE, net->task_count);
  mark(c, &net->before, task, SIDE_BEFORE);
  mark(c, &net->after, task, SIDE_AFTER);
  STOW_TRY(stowi_flow_maxflow_reset(&c->graph, c->allocator));
  STOW_TRY(add_tasks(c));
  uint64_t certain = 0;
  for (uint32_t b = 0; b < net->block_count; ++b) {
    STOW_TRY(add_block(c, b, &certain));
  }
  c->work = c->work > c->graph.arcs.count ? c->work - c->graph.arcs.count : 0;
  uint64_t flow;
  STOW_TRY(stowi_flow_maxflow_run(&c->graph, c->allocator, &c->work, &flow));
  *out_bytes = certain + flow + net->own[task] - net->credit[task];
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Choice of tasks

typedef struct candidate {
  uint64_t rank;  // UINT64_MAX less its need in some order, to sort by
  stowi_flow_task task;
} candidate;

static stow_status raise(cutter* c, const candidate* candidates, stowi_flow_peak_bound* bound) {
  for (uint32_t i = 0; i < c->net->task_count && c->work > 0; ++i) {
    uint64_t bytes;
    if (UINT64_MAX - candidates[i].rank <= bound->bytes) {
      return STOW_OK;
    }
    STOW_TRY(need_of(c, candidates[i].task, &bytes));
    if (bytes > bound->bytes) {
      *bound = (stowi_flow_peak_bound){bytes, candidates[i].task};
    }
  }
  return STOW_OK;
}

stow_status stowi_flow_bound_by_cuts(const stowi_flow_net* net, const uint64_t* needs,
                                     uint64_t work, stowi_flow_peak_bound* bound) {
  stow_allocator a = net->allocator;
  size_t n = net->task_count;
  cutter c = {.net = net, .allocator = a, .work = work};
  c.sides = STOWI_ARRAY(a, unsigned char, n);
  c.nodes = STOWI_ARRAY(a, uint32_t, n);
  c.queue = STOWI_ARRAY(a, stowi_flow_task, n);
  candidate* candidates = STOWI_ARRAY(a, candidate, n);
  stow_status status = STOW_ERR_OUT_OF_MEMORY;
  if (c.sides != NULL && c.nodes != NULL && c.queue != NULL && candidates != NULL) {
    for (uint32_t t = 0; t < n; ++t) {
      candidates[t] = (candidate){UINT64_MAX - needs[t], t};
    }
    status = stowi_sort_by_key(candidates, n, sizeof(candidate), a);
  }
  if (status == STOW_OK) {
    status = raise(&c, candidates, bound);
  }
  STOWI_ARRAY_FREE(a, c.sides, n);
  STOWI_ARRAY_FREE(a, c.nodes, n);
  STOWI_ARRAY_FREE(a, c.queue, n);
  STOWI_ARRAY_FREE(a, candidates, n);
  stowi_flow_maxflow_free(&c.graph, a);
  return status;
}
