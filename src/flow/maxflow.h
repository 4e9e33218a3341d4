// Maximum flow and minimum cut by Dinic's algorithm, on a small graph that is rebuilt for each
// query.
#ifndef STOWAGE_SRC_FLOW_MAXFLOW_H_
#define STOWAGE_SRC_FLOW_MAXFLOW_H_

#include "base/alloc.h"

#define STOWI_FLOW_SOURCE 0
#define STOWI_FLOW_SINK 1
#define STOWI_FLOW_ANY (UINT64_C(1) << 63)  // a capacity above all others together

typedef struct stowi_flow_arc {
  uint64_t room;
  uint32_t to;
  uint32_t next;  // of the same node, or UINT32_MAX
} stowi_flow_arc;

typedef struct stowi_flow_node {
  uint32_t first;  // arc
  uint32_t at;     // the current arc
  uint32_t level;  // distance from the source
} stowi_flow_node;

// Zero-initialise.
typedef struct stowi_flow_maxflow {
  STOWI_VEC(stowi_flow_node) nodes;
  STOWI_VEC(stowi_flow_arc) arcs;  // in pairs: forward and reverse
  STOWI_VEC(uint32_t) queue;       // nodes by level; the arcs of a path
} stowi_flow_maxflow;

// Leaves only source and sink.
stow_status stowi_flow_maxflow_reset(stowi_flow_maxflow* m, stow_allocator allocator);
stow_status stowi_flow_maxflow_node(stowi_flow_maxflow* m, stow_allocator allocator,
                                    uint32_t* out_node);
stow_status stowi_flow_maxflow_arc(stowi_flow_maxflow* m, stow_allocator allocator, uint32_t from,
                                   uint32_t to, uint64_t room);
// The maximum flow from source to sink, or a part of it if |work|, which counts visited arcs, runs
// out: both are lower bounds on every cut.
stow_status stowi_flow_maxflow_run(stowi_flow_maxflow* m, stow_allocator allocator, uint64_t* work,
                                   uint64_t* out_flow);
void stowi_flow_maxflow_free(stowi_flow_maxflow* m, stow_allocator allocator);

#endif  // STOWAGE_SRC_FLOW_MAXFLOW_H_
