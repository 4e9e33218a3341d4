// Makes flows from traffic, either for one region or for all nodes. A use inside a nested region is
// one by the node that owns it:
//     region 0   a ── loop ── b          tasks a, loop, b
//     region 1        └─ args c yield    c reads what a makes: in the flow of region 0, loop does
// What is used in only one region appears in that region's flow alone, and in the others as the
// owner's scratch. That is slightly too much if a branch of an if ends the lifetime of something
// from outside before its own peak; a flat flow is exact, but ignores that regions run in one
// piece, and so serves bounds and comparisons. O(traffic × depth of regions).
#include "plan/order/node_flow.h"

#include "base/diag.h"
#include "graph/api.h"

typedef struct builder {
  const stowi_plan_traffic* traffic;
  stowi_plan_flow_options options;
  stowi_plan_node_flow* out;
  stowi_flow_task* task;    // by node; of nodes of the region
  stowi_flow_block* block;  // by part; of roots whose scope it is
  stow_diag* diag;
} builder;

static bool is_flat(const builder* b) { return b->options.region == STOWI_PLAN_FLOW_FLAT; }

// The task that |node|, of the region or of one nested in it, belongs to; STOWI_FLOW_TASK_NONE: to
// none.
static stowi_flow_task task_of(const builder* b, stow_node node) {
  const stow_graph* graph = b->traffic->request->graph;
  stow_region region = stow_graph_node_region(graph, node);
  while (!is_flat(b) && region != b->options.region) {
    node = stowi_graph_region_owner(graph, region);
    region = stowi_graph_region_parent(graph, region);
  }
  return b->task[node];
}

// The entries of the flow's region in a list that is sorted by region.
typedef struct range {
  size_t first;
  size_t end;
} range;

static size_t first_at_least(const void* list, size_t count, size_t size, uint64_t region) {
  size_t low = 0;
  size_t high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const uint64_t* key = (const uint64_t*)(const void*)((const char*)list + middle * size);
    if (*key < region) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static range range_of(const builder* b, const void* list, size_t count, size_t size) {
  if (is_flat(b)) {
    return (range){0, count};
  }
  return (range){first_at_least(list, count, size, b->options.region),
                 first_at_least(list, count, size, (uint64_t)b->options.region + 1)};
}
#define RANGE_OF(b, vec) range_of((b), (vec).data, (vec).count, sizeof(*(vec).data))

static bool is_here(const builder* b, const stowi_plan_traffic_info* info) {
  return info->bytes != 0 && (is_flat(b) || info->scope == b->options.region);
}

// Such a part is the same for every order.
static bool is_constant(const stowi_plan_part* part) { return part->from_start && part->to_end; }

// ---------------------------------------------------------------------------------------------
// Tasks and blocks

static stow_status add_task(builder* b, stow_node node) {
  const stowi_plan_traffic* t = b->traffic;
  b->task[node] = STOWI_FLOW_TASK_NONE;
  if (t->idle[node]) {
    return STOW_OK;
  }
  uint64_t scratch = t->scratch[node];
  if (b->options.inside != NULL && b->options.inside[node] > scratch) {
    scratch = b->options.inside[node];
  }
  STOW_TRY(stowi_flow_add_task(b->out->flow, scratch, b->diag, &b->task[node]));
  b->out->nodes[b->out->count++] = node;
  return STOW_OK;
}

static stow_status add_tasks(builder* b) {
  const stowi_plan_traffic* t = b->traffic;
  const stow_node* order = stow_schedule_order(t->given);
  uint32_t end = t->node_count;
  uint32_t at = 0;
  if (!is_flat(b)) {
    order = t->nodes;
    at = t->start[b->options.region];
    end = t->start[b->options.region + 1];
  }
  for (; at < end; ++at) {
    STOW_TRY(add_task(b, order[at]));
  }
  return STOW_OK;
}

static stow_status add_block(builder* b, const stowi_plan_traffic_info* info, uint32_t index) {
  const stowi_plan_part* part = &b->traffic->parts.data[index];
  stowi_flow_block_desc desc;
  stowi_flow_block_desc_init(&desc);
  desc.bytes = part->bytes;
  desc.to_end = part->to_end && !(b->options.for_bound && info->brief);
  STOW_TRY(stowi_flow_add_block(b->out->flow, &desc, b->diag, &b->block[index]));
  if (part->from_start) {
    return STOW_OK;
  }
  return stowi_flow_makes(b->out->flow, task_of(b, info->maker), b->block[index], b->diag);
}

static stow_status add_blocks(builder* b) {
  const stowi_plan_traffic* t = b->traffic;
  range all = RANGE_OF(b, t->roots);
  for (size_t i = all.first; i < all.end; ++i) {
    const stowi_plan_traffic_info* info = &t->infos[t->roots.data[i].value];
    for (uint32_t part = 0; part < info->part_count; ++part) {
      STOW_TRY(add_block(b, info, info->first_part + part));
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Reads and waits

static stow_status follow(builder* b, stow_node later, stow_node earlier) {
  stowi_flow_task a = task_of(b, earlier);
  stowi_flow_task z = task_of(b, later);
  if (a == STOWI_FLOW_TASK_NONE || z == STOWI_FLOW_TASK_NONE || a == z) {
    return STOW_OK;
  }
  return stowi_flow_follows(b->out->flow, z, a, b->diag);
}

// Whether it is unknown which bytes of the root are used with |value|, which is in it.
static bool is_vague(const builder* b, const stowi_plan_traffic_info* info, stow_value value) {
  return info->brief || (info->coarse && !stowi_plan_traffic_is_whole(b->traffic, value));
}

// Whether a bound must not count on this use.
static bool is_unsure(const builder* b, const stowi_plan_traffic_info* info,
                      const stowi_plan_touch* touch) {
  return b->options.for_bound && (touch->in_place || is_vague(b, info, touch->value));
}

static stow_status add_read(builder* b, const stowi_plan_touch* touch) {
  const stowi_plan_traffic* t = b->traffic;
  const stowi_plan_traffic_info* info = stowi_plan_traffic_info_of(t, touch->value);
  stowi_flow_task task = task_of(b, touch->node);
  if (task == STOWI_FLOW_TASK_NONE) {
    return STOW_OK;
  }
  uint32_t first;
  uint32_t count;
  stowi_plan_traffic_parts(t, touch->value, &first, &count);
  if (is_unsure(b, info, touch)) {
    bool made = count != 0 && !t->parts.data[first].from_start;
    return made ? follow(b, touch->node, info->maker) : STOW_OK;
  }
  for (uint32_t i = first; i < first + count; ++i) {
    if (!is_constant(&t->parts.data[i])) {
      STOW_TRY(stowi_flow_reads(b->out->flow, task, b->block[i], b->diag));
    }
  }
  return STOW_OK;
}

static stow_status add_reads(builder* b) {
  const stowi_plan_traffic* t = b->traffic;
  range reads = RANGE_OF(b, t->touches);
  for (size_t i = reads.first; i < reads.end; ++i) {
    STOW_TRY(add_read(b, &t->touches.data[i]));
  }
  range befores = RANGE_OF(b, t->befores);
  for (size_t i = befores.first; i < befores.end; ++i) {
    STOW_TRY(follow(b, t->befores.data[i].later, t->befores.data[i].earlier));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Sharing

static stow_status add_in_place(builder* b, const stowi_plan_in_place_pair* pair) {
  const stowi_plan_traffic* t = b->traffic;
  const stowi_plan_traffic_info* made = &t->infos[pair->result];
  const stowi_plan_traffic_info* read = stowi_plan_traffic_info_of(t, pair->operand);
  bool is_owner = stow_graph_op_desc(t->request->graph, pair->node)->region_count != 0;
  if (!is_here(b, made) || !is_here(b, read) || is_owner ||
      (b->options.for_bound && (!pair->simple || is_vague(b, read, pair->operand)))) {
    return STOW_OK;
  }
  uint32_t first;
  uint32_t count;
  stowi_plan_traffic_parts(t, pair->operand, &first, &count);
  for (uint32_t i = made->first_part; i < made->first_part + made->part_count; ++i) {
    for (uint32_t k = first; k < first + count; ++k) {
      if (!is_constant(&t->parts.data[k])) {
        STOW_TRY(stowi_flow_in_place(b->out->flow, task_of(b, pair->node), b->block[i], b->block[k],
                                     b->diag));
      }
    }
  }
  return STOW_OK;
}

// The part of |whole| that contains bytes [low, high) of it; NULL if none does.
static const uint32_t* find_holder(const builder* b, const stowi_plan_traffic_info* whole,
                                   uint64_t low, uint64_t high) {
  const stowi_plan_part* parts = b->traffic->parts.data;
  for (uint32_t i = whole->first_part; i < whole->first_part + whole->part_count; ++i) {
    if (parts[i].low <= low && high <= parts[i].low + parts[i].bytes) {
      return &b->block[i];
    }
  }
  return NULL;
}

static stow_status add_elision(builder* b, const stowi_plan_traffic_elision* elision) {
  const stowi_plan_traffic* t = b->traffic;
  const stowi_plan_traffic_info* whole = &t->infos[elision->whole];
  const stowi_plan_traffic_info* root = &t->infos[elision->root];
  if (!is_here(b, whole) || !is_here(b, root) || (b->options.for_bound && root->brief)) {
    return STOW_OK;
  }
  for (uint32_t i = root->first_part; i < root->first_part + root->part_count; ++i) {
    const stowi_plan_part* part = &t->parts.data[i];
    uint64_t low = elision->offset + part->low;
    const stowi_flow_block* holder = find_holder(b, whole, low, low + part->bytes);
    if (holder != NULL && !part->from_start) {
      STOW_TRY(stowi_flow_absorbs(b->out->flow, *holder, b->block[i], b->diag));
    }
  }
  return STOW_OK;
}

static stow_status add_sharing(builder* b) {
  const stowi_plan_traffic* t = b->traffic;
  range pairs = RANGE_OF(b, t->pairs);
  for (size_t i = pairs.first; i < pairs.end; ++i) {
    STOW_TRY(add_in_place(b, &t->pairs.data[i]));
  }
  range elisions = RANGE_OF(b, t->elisions);
  for (size_t i = elisions.first; i < elisions.end; ++i) {
    STOW_TRY(add_elision(b, &t->elisions.data[i]));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

static stow_status build(builder* b) {
  const stowi_plan_traffic* t = b->traffic;
  stow_allocator allocator = t->request->allocator;
  uint32_t region = b->options.region;
  b->out->capacity = is_flat(b) ? t->node_count : t->start[region + 1] - t->start[region];
  b->out->nodes = STOWI_ARRAY(allocator, stow_node, b->out->capacity);
  STOW_TRY(stowi_need_memory(b->out->nodes != NULL, b->diag));
  STOW_TRY(stowi_flow_create(allocator, b->diag, &b->out->flow));
  STOW_TRY(add_tasks(b));
  STOW_TRY(add_blocks(b));
  STOW_TRY(add_reads(b));
  return add_sharing(b);
}

stow_status stowi_plan_node_flow_create(const stowi_plan_traffic* traffic,
                                        const stowi_plan_flow_options* options,
                                        stowi_plan_node_flow* out_flow) {
  *out_flow = (stowi_plan_node_flow){NULL, 0, NULL, 0};
  builder b = {traffic,          *options,          out_flow,
               traffic->task_of, traffic->block_of, traffic->request->diag};
  stow_status status = build(&b);
  if (status != STOW_OK) {
    stowi_plan_node_flow_destroy(traffic, out_flow);
  }
  return status;
}

void stowi_plan_node_flow_destroy(const stowi_plan_traffic* traffic, stowi_plan_node_flow* flow) {
  stowi_flow_destroy(flow->flow);
  STOWI_ARRAY_FREE(traffic->request->allocator, flow->nodes, flow->capacity);
  *flow = (stowi_plan_node_flow){NULL, 0, NULL, 0};
}
