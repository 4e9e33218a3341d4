// Which roots have bytes in the arena, as in slots.c, and how they are divided into parts. A root
// whose views are read later than the rest occupies less by then; it is divided where views begin
// and end, so that each part has its own lifetime:
//     root   ├────────────┤
//     views  ├───┤  ├─────┤
//     parts  ├───┼──┼─────┤
// The sum of the parts in use is never above the hull that a window keeps. O(n log n).
#include "base/checked.h"
#include "base/diag.h"
#include "base/sort.h"
#include "plan/api.h"
#include "plan/order/traffic.h"

// A reader of the whole root reads every part, so there must not be many.
#define MAX_PARTS 32

// ---------------------------------------------------------------------------------------------
// Slots

static stow_io_policy policy_of(const stowi_plan_traffic* t, stow_value v) {
  stow_io_policy io = stowi_effects_io(t->request->effects, v);
  return io == STOW_IO_DEFAULT ? t->request->options->io : io;
}

// The slot that a weight layout has for a param.
static stow_status lay_param(stowi_plan_traffic* t, stow_value v, uint64_t* out_bytes) {
  const stowi_plan_order_request* request = t->request;
  stow_weight weight;
  *out_bytes = 0;
  if (!stowi_plan_weight_layout_find(request->options->layout,
                                     stow_graph_value_name(request->graph, v), &weight)) {
    return STOW_OK;
  }
  return stowi_add_u64(weight.size, weight.guard, out_bytes) ? STOW_OK : STOW_ERR_OVERFLOW;
}

static bool has_slot(const stowi_plan_traffic* t, stow_value v, stow_op op) {
  const stow_plan_options* options = t->request->options;
  switch (op) {
    case STOW_OP_INPUT: return options->inputs && policy_of(t, v) != STOW_IO_EXTERNAL;
    case STOW_OP_PARAM:
      return (options->params || options->layout != NULL) && policy_of(t, v) != STOW_IO_EXTERNAL;
    case STOW_OP_CONSTANT: return options->constants && policy_of(t, v) != STOW_IO_EXTERNAL;
    default: return true;
  }
}

static stow_status boundary_bytes(const stowi_plan_traffic* t, bool windowed, uint64_t* bytes) {
  const stow_plan_options* options = t->request->options;
  // An empty slot is only an address; windows leave nothing of it.
  if (*bytes == 0 && options->zero_size_slots && !windowed) {
    *bytes = options->alignment;
  }
  if (*bytes == 0 || options->tail_guard == 0) {
    return STOW_OK;
  }
  uint64_t guard =
      options->tail_guard > options->alignment ? options->tail_guard : options->alignment;
  return stowi_add_u64(*bytes, guard, bytes) ? STOW_OK : STOW_ERR_OVERFLOW;
}

static stow_status describe_root(stowi_plan_traffic* t, stow_value v) {
  const stowi_plan_order_request* request = t->request;
  stowi_plan_traffic_info* info = &t->infos[v];
  bool is_boundary = stow_graph_is_boundary(request->graph, v);
  info->maker = stow_graph_producer(request->graph, v);
  info->scope = stow_graph_node_region(request->graph, info->maker);
  stow_op op = stow_graph_op(request->graph, info->maker);
  if (!has_slot(t, v, op)) {
    return STOW_OK;
  }
  info->bytes = stowi_analysis_views_bytes(request->views, v);
  info->windowed = request->options->windows && request->options->reuse;
  if (op == STOW_OP_PARAM && request->options->layout != NULL) {
    info->windowed = false;
    return lay_param(t, v, &info->bytes);
  }
  if (is_boundary) {
    info->windowed &= request->options->tail_guard == 0;
    return boundary_bytes(t, info->windowed, &info->bytes);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Parts

typedef struct cut {
  stow_value root;
  uint64_t at;
} cut;
typedef STOWI_VEC(cut) cut_list;

static int compare_cuts(const void* a, const void* b, const void* context) {
  const cut* x = (const cut*)a;
  const cut* y = (const cut*)b;
  (void)context;
  if (x->root != y->root) {
    return x->root < y->root ? -1 : 1;
  }
  return x->at < y->at ? -1 : x->at > y->at;
}

// Both ends of every view that is smaller than its root.
static stow_status find_cuts(const stowi_plan_traffic* t, cut_list* cuts) {
  const stowi_plan_order_request* request = t->request;
  for (stow_value v = 0; v < t->value_count; ++v) {
    stow_value root = stowi_analysis_views_root(request->views, v);
    uint64_t bytes = stowi_analysis_views_bytes(request->views, v);
    const stowi_plan_traffic_info* info = &t->infos[root];
    if (root == v || !info->windowed || bytes == 0 || bytes >= info->bytes) {
      continue;
    }
    STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(request->allocator, cuts, 2) == STOW_OK,
                               request->diag));
    uint64_t offset = stowi_analysis_views_offset(request->views, v);
    cuts->data[cuts->count++] = (cut){root, offset};
    cuts->data[cuts->count++] =
        (cut){root, offset + stowi_analysis_views_extent(request->views, v)};
  }
  stow_status status =
      stowi_sort(cuts->data, cuts->count, sizeof(cut), compare_cuts, NULL, request->allocator);
  return status == STOW_OK ? STOW_OK : stowi_fail_memory(request->diag);
}

// Moves the cuts inside the root, each once, to the front of |cuts|; returns their number.
static size_t inner_cuts(const stowi_plan_traffic_info* info, cut* cuts, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    bool is_new = kept == 0 || cuts[kept - 1].at != cuts[i].at;
    if (cuts[i].at != 0 && cuts[i].at != info->bytes && is_new) {
      cuts[kept++] = cuts[i];
    }
  }
  return kept;
}

static stow_status cut_root(stowi_plan_traffic* t, stow_value v, cut* cuts, size_t count) {
  stowi_plan_traffic_info* info = &t->infos[v];
  size_t inner = inner_cuts(info, cuts, count);
  info->coarse = inner >= MAX_PARTS;
  t->is_rough |= info->coarse;
  inner = info->coarse ? 0 : inner;
  if (t->parts.count + inner >= UINT32_MAX) {
    return stowi_fail(t->request->diag, STOW_ERR_LIMIT, "the graph has too many values");
  }
  STOW_TRY(
      stowi_need_memory(STOWI_VEC_RESERVE(t->request->allocator, &t->parts, inner + 1) == STOW_OK &&
                            STOWI_VEC_RESERVE(t->request->allocator, &t->roots, 1) == STOW_OK,
                        t->request->diag));
  info->first_part = (uint32_t)t->parts.count;
  info->part_count = (uint32_t)inner + 1;
  for (size_t i = 0; i <= inner; ++i) {
    uint64_t low = i == 0 ? 0 : cuts[i - 1].at;
    uint64_t high = i == inner ? info->bytes : cuts[i].at;
    t->parts.data[t->parts.count++] = (stowi_plan_part){.low = low, .bytes = high - low};
  }
  t->roots.data[t->roots.count++] = (stowi_plan_root){.value = v};
  return STOW_OK;
}

static stow_status cut_roots(stowi_plan_traffic* t, cut_list* cuts) {
  STOW_TRY(find_cuts(t, cuts));
  size_t at = 0;
  for (stow_value v = 0; v < t->value_count; ++v) {
    size_t first = at;
    while (at < cuts->count && cuts->data[at].root == v) {
      ++at;
    }
    if (t->infos[v].bytes != 0) {
      cut* own = at == first ? NULL : &cuts->data[first];
      STOW_TRY(cut_root(t, v, own, at - first));
    }
  }
  return STOW_OK;
}

stow_status stowi_plan_traffic_fill_infos(stowi_plan_traffic* t) {
  for (stow_value v = 0; v < t->value_count; ++v) {
    if (!stowi_analysis_views_is_view(t->request->views, v)) {
      STOW_TRY(describe_root(t, v));
    }
  }
  // Only for outputs: no other computed value has a policy.
  const stow_graph* graph = t->request->graph;
  const stow_value* outputs = stow_graph_outputs(graph);
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    if (!stowi_analysis_views_is_view(t->request->views, outputs[i]) &&
        policy_of(t, outputs[i]) == STOW_IO_EXTERNAL) {
      t->infos[outputs[i]].bytes = 0;
    }
  }
  cut_list cuts = {NULL, 0, 0};
  stow_status status = cut_roots(t, &cuts);
  STOWI_VEC_FREE(t->request->allocator, &cuts);
  return status;
}

// ---------------------------------------------------------------------------------------------

stowi_plan_traffic_info* stowi_plan_traffic_info_of(const stowi_plan_traffic* t, stow_value value) {
  return &t->infos[stowi_analysis_views_root(t->request->views, value)];
}

bool stowi_plan_traffic_is_whole(const stowi_plan_traffic* t, stow_value value) {
  const stowi_analysis_views* views = t->request->views;
  return stowi_analysis_views_bytes(views, value) ==
         stowi_analysis_views_bytes(views, stowi_analysis_views_root(views, value));
}

void stowi_plan_traffic_parts(const stowi_plan_traffic* t, stow_value value, uint32_t* out_first,
                              uint32_t* out_count) {
  const stowi_plan_traffic_info* info = stowi_plan_traffic_info_of(t, value);
  uint64_t low = stowi_analysis_views_offset(t->request->views, value);
  uint64_t high = low + stowi_analysis_views_extent(t->request->views, value);
  *out_first = info->first_part;
  *out_count = info->part_count;
  bool is_root = stowi_analysis_views_root(t->request->views, value) ==
                 value;  // may have a slot, but no bytes
  if (info->bytes == 0 || (info->windowed && low == high && !is_root)) {
    *out_count = 0;
    return;
  }
  if (info->part_count == 1 || is_root) {
    return;
  }
  const stowi_plan_part* parts = t->parts.data + info->first_part;
  uint32_t first = 0;
  while (parts[first].low < low) {
    ++first;
  }
  uint32_t end = first;
  while (end < info->part_count && parts[end].low < high) {
    ++end;
  }
  *out_first = info->first_part + first;
  *out_count = end - first;
}
