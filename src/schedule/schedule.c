// A schedule is a permutation of the nodes, stored both ways: node by step and step by node, 8
// bytes per node. The graph's own order is valid by construction; an order from outside is checked
// (check.c).
#include "schedule/schedule.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "graph/api.h"
#include "schedule/api.h"

static stow_schedule* schedule_new(uint32_t count, stow_allocator allocator) {
  stow_schedule* schedule = STOWI_NEW(allocator, stow_schedule);
  if (schedule == NULL) {
    return NULL;
  }
  schedule->allocator = allocator;
  schedule->count = count;
  schedule->order = STOWI_ARRAY(allocator, stow_node, count);
  schedule->step = STOWI_ARRAY(allocator, uint32_t, count);
  if (schedule->order == NULL || schedule->step == NULL) {
    stow_schedule_destroy(schedule);
    return NULL;
  }
  return schedule;
}

void stow_schedule_destroy(stow_schedule* schedule) {
  if (schedule == NULL) {
    return;
  }
  stow_allocator allocator = schedule->allocator;
  STOWI_ARRAY_FREE(allocator, schedule->order, schedule->count);
  STOWI_ARRAY_FREE(allocator, schedule->step, schedule->count);
  STOWI_DELETE(allocator, schedule);
}

stow_status stow_schedule_create(const stow_graph* graph, stow_allocator allocator, stow_diag* diag,
                                 stow_schedule** out_schedule) {
  *out_schedule = NULL;
  stow_schedule* schedule = schedule_new(stow_graph_node_count(graph), allocator);
  STOW_TRY(stowi_need_memory(schedule != NULL, diag));
  for (uint32_t i = 0; i < schedule->count; ++i) {
    schedule->order[i] = i;
    schedule->step[i] = i;
  }
  *out_schedule = schedule;
  return STOW_OK;
}

static stow_status fill(stow_schedule* schedule, const stow_graph* graph, const stow_node* order,
                        stow_diag* diag) {
  for (uint32_t i = 0; i < schedule->count; ++i) {
    schedule->step[i] = UINT32_MAX;
  }
  for (uint32_t i = 0; i < schedule->count; ++i) {
    stow_node node = order[i];
    if (node >= schedule->count) {
      return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                        "step %u names node %u, out of range (nodes 0 to %u)", (unsigned)i,
                        (unsigned)node, (unsigned)(schedule->count - 1));
    }
    if (schedule->step[node] != UINT32_MAX) {
      stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "%s is in the order twice, at steps %u and %u",
                 stowi_graph_describe_node(graph, node).text, (unsigned)schedule->step[node],
                 (unsigned)i);
      stowi_graph_blame_node(diag, graph, node);
      return STOW_ERR_INVALID_ARGUMENT;
    }
    schedule->order[i] = node;
    schedule->step[node] = i;
  }
  return STOW_OK;
}

stow_status stow_schedule_create_order(const stow_graph* graph, const stow_node* order,
                                       size_t count, stow_allocator allocator, stow_diag* diag,
                                       stow_schedule** out_schedule) {
  *out_schedule = NULL;
  uint32_t node_count = stow_graph_node_count(graph);
  if (count != node_count) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "the order has %zu steps, but the graph has %u nodes", count,
                      (unsigned)node_count);
  }
  stow_schedule* schedule = schedule_new(node_count, allocator);
  STOW_TRY(stowi_need_memory(schedule != NULL, diag));
  stow_status status = fill(schedule, graph, order, diag);
  if (status == STOW_OK) {
    status = stowi_schedule_check(graph, schedule, allocator, diag);
  }
  if (status != STOW_OK) {
    stow_schedule_destroy(schedule);
    return status;
  }
  *out_schedule = schedule;
  return STOW_OK;
}

uint32_t stow_schedule_count(const stow_schedule* schedule) { return schedule->count; }

const stow_node* stow_schedule_order(const stow_schedule* schedule) { return schedule->order; }

uint32_t stow_schedule_step(const stow_schedule* schedule, stow_node node) {
  return node < schedule->count ? schedule->step[node] : UINT32_MAX;
}
