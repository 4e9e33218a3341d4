// Traffic: which nodes use which bytes of the arena, and which run before which, as far as that is
// the same in every order. Everything that a flow needs from a graph, its views and its effects.
//     node   2  5  9          root, cut where its views end
//            ●──────┐ part 0  made by 2, read by 5
//            ●──●───┘ part 1  made by 2, read by 5 and 9
#ifndef STOWAGE_SRC_PLAN_ORDER_TRAFFIC_H_
#define STOWAGE_SRC_PLAN_ORDER_TRAFFIC_H_

#include "base/alloc.h"
#include "plan/order/order.h"

// A range of a root's bytes that is read as a whole or not at all.
typedef struct stowi_plan_part {
  uint64_t low;  // in the root
  uint64_t bytes;
  bool from_start;  // it exists before the first node runs
  bool to_end;      // and after the last has run
} stowi_plan_part;

// The bytes of a root. Without windows it has one part, which a use of any view keeps.
typedef struct stowi_plan_traffic_info {
  uint64_t bytes;     // with its guard; 0: it has no slot
  stow_node maker;    // the first node that needs the bytes
  stow_region scope;  // the innermost region that contains all users
  uint32_t first_part;
  uint32_t part_count;
  bool windowed;  // bytes that are no longer used are free
  bool coarse;    // too many parts: it has only one
  bool brief;     // for a bound, it is only certain to exist when it is made
} stowi_plan_traffic_info;

// Lists begin with the region they are sorted by.
typedef struct stowi_plan_touch {
  uint64_t scope;  // of the value's root
  stow_value value;
  stow_node node;
  bool in_place;  // a result may be in place of these bytes in a way that flows cannot represent
} stowi_plan_touch;
typedef struct stowi_plan_before {
  uint64_t region;  // the innermost that contains both
  stow_node earlier;
  stow_node later;
} stowi_plan_before;
// |result| may be in place of |operand|.
typedef struct stowi_plan_in_place_pair {
  uint64_t region;  // of the node
  stow_node node;
  stow_value result;
  stow_value operand;
  bool simple;  // both have one part, and no other result of the node may be in place
} stowi_plan_in_place_pair;
// |root| may be built inside |whole|, the result of a concat, from byte |offset| on.
typedef struct stowi_plan_traffic_elision {
  uint64_t region;  // of both
  stow_value whole;
  stow_value root;
  uint64_t offset;
} stowi_plan_traffic_elision;
typedef struct stowi_plan_root {
  uint64_t scope;
  stow_value value;
} stowi_plan_root;

typedef struct stowi_plan_traffic {
  const stowi_plan_order_request* request;
  const stow_schedule* given;
  uint32_t node_count;
  uint32_t value_count;
  uint32_t region_count;
  // By node.
  uint64_t* scratch;
  bool* idle;  // boundary nodes that nothing waits for: they are not tasks, and run first
  // The nodes of each region, in the given order: those of region r are
  // nodes[start[r]] … nodes[start[r + 1] - 1].
  stow_node* nodes;
  uint32_t* start;
  stowi_plan_traffic_info* infos;  // by value; of roots only
  STOWI_VEC(stowi_plan_part) parts;
  STOWI_VEC(stowi_plan_root) roots;  // that have a slot
  STOWI_VEC(stowi_plan_touch) touches;
  STOWI_VEC(stowi_plan_before) befores;
  STOWI_VEC(stowi_plan_in_place_pair) pairs;
  STOWI_VEC(stowi_plan_traffic_elision) elisions;
  bool is_rough;  // a bound uses less than a search
  // For the code that makes flows from this, one at a time.
  stowi_flow_task* task_of;    // by node
  stowi_flow_block* block_of;  // by part
} stowi_plan_traffic;

// STOW_ERR_OVERFLOW if bytes need more than 64 bits. |request| and |given| are borrowed. On failure
// there is nothing to destroy. O(n log n).
stow_status stowi_plan_traffic_create(const stowi_plan_order_request* request,
                                      const stow_schedule* given, stowi_plan_traffic* out_traffic);
void stowi_plan_traffic_destroy(stowi_plan_traffic* traffic);

// The parts of its root that a use of |value| keeps: |out_count| of them, from |out_first| on.
void stowi_plan_traffic_parts(const stowi_plan_traffic* traffic, stow_value value,
                              uint32_t* out_first, uint32_t* out_count);
// Of the value's root.
stowi_plan_traffic_info* stowi_plan_traffic_info_of(const stowi_plan_traffic* traffic,
                                                    stow_value value);
// Whether |value| is all of its root.
bool stowi_plan_traffic_is_whole(const stowi_plan_traffic* traffic, stow_value value);

// ---------------------------------------------------------------------------------------------
// Steps of stowi_plan_traffic_create

// roots.c: which roots have bytes, how many, and where they are divided. |infos|, |roots| without
// their scopes, |parts|.
stow_status stowi_plan_traffic_fill_infos(stowi_plan_traffic* traffic);
// share.c: |pairs|, once it is known which node makes what; and |elisions|, once everything else is
// known.
stow_status stowi_plan_traffic_in_place(stowi_plan_traffic* traffic);
stow_status stowi_plan_traffic_elisions(stowi_plan_traffic* traffic);

// The innermost region that contains both.
stow_region stowi_plan_common_region(const stow_graph* graph, stow_region a, stow_region b);

#endif  // STOWAGE_SRC_PLAN_ORDER_TRAFFIC_H_
