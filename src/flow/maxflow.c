// Dinic's algorithm: levels by breadth-first search, then paths that rise one level with each arc
// until none is left; O(nodes² arcs) in the worst case and close to linear on the flat graphs here.
// The path is an explicit stack.
#include "flow/maxflow.h"

#include "base/diag.h"

#define NONE UINT32_MAX

stow_status stowi_flow_maxflow_reset(stowi_flow_maxflow* m, stow_allocator allocator) {
  uint32_t node;
  m->nodes.count = m->arcs.count = 0;
  STOW_TRY(stowi_flow_maxflow_node(m, allocator, &node));
  return stowi_flow_maxflow_node(m, allocator, &node);
}

void stowi_flow_maxflow_free(stowi_flow_maxflow* m, stow_allocator allocator) {
  STOWI_VEC_FREE(allocator, &m->nodes);
  STOWI_VEC_FREE(allocator, &m->arcs);
  STOWI_VEC_FREE(allocator, &m->queue);
}

stow_status stowi_flow_maxflow_node(stowi_flow_maxflow* m, stow_allocator allocator,
                                    uint32_t* out_node) {
  STOW_TRY(STOWI_VEC_RESERVE(allocator, &m->nodes, 1));
  *out_node = (uint32_t)m->nodes.count;
  m->nodes.data[m->nodes.count++] = (stowi_flow_node){NONE, NONE, NONE};
  return STOW_OK;
}

static void add_arc(stowi_flow_maxflow* m, uint32_t from, uint32_t to, uint64_t room) {
  m->arcs.data[m->arcs.count] = (stowi_flow_arc){room, to, m->nodes.data[from].first};
  m->nodes.data[from].first = (uint32_t)m->arcs.count++;
}

stow_status stowi_flow_maxflow_arc(stowi_flow_maxflow* m, stow_allocator allocator, uint32_t from,
                                   uint32_t to, uint64_t room) {
  STOW_TRY(STOWI_VEC_RESERVE(allocator, &m->arcs, 2));
  add_arc(m, from, to, room);
  add_arc(m, to, from, 0);
  return STOW_OK;
}

static bool spend(uint64_t* work) {
  *work -= *work > 0;
  return *work > 0;
}

// Computes distances from the source; whether the sink is reachable.
static bool find_levels(stowi_flow_maxflow* m, uint64_t* work) {
  for (size_t i = 0; i < m->nodes.count; ++i) {
    m->nodes.data[i].level = NONE;
    m->nodes.data[i].at = m->nodes.data[i].first;
  }
  size_t end = 0;
  m->queue.data[end++] = STOWI_FLOW_SOURCE;
  m->nodes.data[STOWI_FLOW_SOURCE].level = 0;
  for (size_t i = 0; i < end; ++i) {
    uint32_t from = m->queue.data[i];
    for (uint32_t a = m->nodes.data[from].first; a != NONE; a = m->arcs.data[a].next) {
      const stowi_flow_arc* arc = &m->arcs.data[a];
      if (arc->room > 0 && m->nodes.data[arc->to].level == NONE && spend(work)) {
        m->nodes.data[arc->to].level = m->nodes.data[from].level + 1;
        m->queue.data[end++] = arc->to;
      }
    }
  }
  return m->nodes.data[STOWI_FLOW_SINK].level != NONE;
}

// Sends what the path of |length| arcs can carry; keeps the part before the first saturated arc.
static uint64_t send(stowi_flow_maxflow* m, size_t* length) {
  uint64_t sent = UINT64_MAX;
  for (size_t i = 0; i < *length; ++i) {
    uint64_t room = m->arcs.data[m->queue.data[i]].room;
    sent = room < sent ? room : sent;
  }
  size_t keep = *length;
  for (size_t i = *length; i-- > 0;) {
    uint32_t a = m->queue.data[i];
    m->arcs.data[a].room -= sent;
    m->arcs.data[a ^ 1].room += sent;
    keep = m->arcs.data[a].room == 0 ? i : keep;
  }
  *length = keep;
  return sent;
}

// The next arc of |node| that rises one level, or NONE.
static uint32_t rising_arc(stowi_flow_maxflow* m, uint32_t node, uint64_t* work) {
  stowi_flow_node* n = &m->nodes.data[node];
  while (n->at != NONE && spend(work)) {
    const stowi_flow_arc* arc = &m->arcs.data[n->at];
    if (arc->room > 0 && m->nodes.data[arc->to].level == n->level + 1) {
      return n->at;
    }
    n->at = arc->next;
  }
  return NONE;
}

static uint64_t send_all(stowi_flow_maxflow* m, uint64_t* work) {
  uint64_t flow = 0;
  size_t length = 0;
  for (;;) {
    uint32_t node = length == 0 ? STOWI_FLOW_SOURCE : m->arcs.data[m->queue.data[length - 1]].to;
    if (node == STOWI_FLOW_SINK) {
      flow += send(m, &length);
      continue;
    }
    uint32_t arc = rising_arc(m, node, work);
    if (arc != NONE) {
      m->queue.data[length++] = arc;
    } else if (length == 0) {
      return flow;
    } else {
      m->nodes.data[node].level = NONE;
      length -= 1;
    }
  }
}

stow_status stowi_flow_maxflow_run(stowi_flow_maxflow* m, stow_allocator allocator, uint64_t* work,
                                   uint64_t* out_flow) {
  *out_flow = 0;
  m->queue.count = 0;
  STOW_TRY(STOWI_VEC_RESERVE(allocator, &m->queue, m->nodes.count));
  while (*work > 0 && find_levels(m, work)) {
    *out_flow += send_all(m, work);
  }
  return STOW_OK;
}
