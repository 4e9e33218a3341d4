// Searches for a better order. Regions are searched from the inside out: what the inside of a node
// needs in its best order is the scratch of that node in the region around it. The lists found are
// joined into one order, which is taken only if its peak is also lower in the flat flow, where the
// lifetimes of all bytes are exact.
//
// Boundary nodes make nothing that was not there before, so they run first, in their given order,
// in any region that changes. The bound is that of the flat flow: it allows more orders than there
// are. Linear apart from the search, whose budget is divided by the number of nodes.
#include "plan/order/order.h"

#include <string.h>

#include "base/diag.h"
#include "graph/api.h"
#include "plan/order/node_flow.h"

typedef struct finder {
  const stowi_plan_order_request* request;
  stowi_plan_traffic traffic;
  uint64_t arena;    // in the given order
  uint64_t nodes;    // what is left of the budget
  uint64_t* inside;  // by node: what its regions need
  stow_node* found;  // as traffic.nodes, in the new order
  stow_ordering* ordering;
  bool changed;
} finder;

// ---------------------------------------------------------------------------------------------
// Whether to search

static bool has_writers(const stow_graph* graph) {
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    const stow_op_desc* desc = stow_graph_op_desc(graph, node);
    if (desc->writes_view || desc->region_kind == STOW_REGION_LOOP) {
      return true;
    }
  }
  return false;
}

// Whether effects allow uses of bytes that the ops' own rules about writing do not cover.
static bool extends_uses(const stow_effects* effects, const stow_graph* graph) {
  if (stowi_effects_hold_count(effects) != 0 || stowi_effects_early_write_count(effects) != 0) {
    return true;
  }
  for (stow_value value = 0; value < stow_graph_value_count(graph); ++value) {
    size_t operand;
    uint64_t offset;
    if (stowi_effects_inside(effects, value, &operand, &offset)) {
      return true;
    }
  }
  return false;
}

// Two of them may be at the same place only because they are never live together.
static bool has_fixed_values(const stow_effects* effects, const stow_graph* graph) {
  for (stow_value value = 0; value < stow_graph_value_count(graph); ++value) {
    if (stowi_effects_offset(effects, value) != STOW_OFFSET_NONE &&
        !stow_graph_is_boundary(graph, value)) {
      return true;
    }
  }
  return false;
}

// Whether |owner| and its regions run without another node in between.
static bool is_in_one_piece(const stow_graph* graph, const stow_schedule* given, stow_node owner) {
  uint32_t after = stow_schedule_step(given, owner);
  size_t count = 0;
  while (stow_graph_owned_region(graph, owner, count) != STOW_REGION_ID_NONE) {
    ++count;
  }
  while (count > 0) {
    stow_region region = stow_graph_owned_region(graph, owner, --count);
    stow_node last = stowi_graph_region_last(graph, region);
    if (stow_schedule_step(given, last) + 1 != after) {
      return false;
    }
    after -= last - stowi_graph_region_first(graph, region) + 1;
  }
  return true;
}

// An owner of regions is one task, which has one place in the given order.
static bool has_whole_regions(const stow_graph* graph, const stow_schedule* given) {
  for (stow_region region = 1; region < stow_graph_region_count(graph); ++region) {
    if (!is_in_one_piece(graph, given, stowi_graph_region_owner(graph, region))) {
      return false;
    }
  }
  return true;
}

static bool may_reorder(const stowi_plan_order_request* request, const stow_schedule* given) {
  const stow_plan_options* options = request->options;
  if (options->order != STOW_ORDER_AUTO || !options->reuse || options->rule_count != 0 ||
      !has_whole_regions(request->graph, given)) {
    return false;
  }
  if (request->effects == NULL) {
    return true;
  }
  return !has_fixed_values(request->effects, request->graph) &&
         !(has_writers(request->graph) && extends_uses(request->effects, request->graph));
}

// ---------------------------------------------------------------------------------------------
// One region

// The budget of a nested region: as many nodes as its share of the graph's.
static uint64_t budget_of(const finder* f, stow_region region) {
  const stowi_plan_traffic* t = &f->traffic;
  uint64_t share =
      f->request->options->order_nodes / t->node_count * (t->start[region + 1] - t->start[region]);
  return region == STOW_REGION_BODY || share > f->nodes ? f->nodes : share;
}

// `args` first, then boundary nodes, then the tasks.
static void write_region(finder* f, stow_region region, const stowi_plan_node_flow* flow,
                         const stowi_flow_task* order) {
  const stowi_plan_traffic* t = &f->traffic;
  stow_node* out = f->found + t->start[region];
  bool has_args = region != STOW_REGION_BODY &&
                  stowi_graph_region_args(f->request->graph, region) != STOW_NODE_NONE;
  uint32_t at = 0;
  if (has_args) {
    *out++ = flow->nodes[order[at++]];
  }
  for (uint32_t i = t->start[region]; i < t->start[region + 1]; ++i) {
    if (t->idle[t->nodes[i]]) {
      *out++ = t->nodes[i];
    }
  }
  while (at < flow->count) {
    *out++ = flow->nodes[order[at++]];
  }
}

// The callback for placements watches orders too: both report bytes, a bound and nodes.
static bool pass_on(void* user, const stowi_flow_order_progress* progress) {
  const stow_plan_options* options = ((const finder*)user)->request->options;
  stow_place_progress told = {progress->phase, progress->best, progress->bound, progress->nodes};
  return options->on_progress(options->user, &told);
}

static stow_status search_flow(finder* f, stow_region region, const stowi_plan_node_flow* flow,
                               stowi_flow_order_result* out_result) {
  const stowi_plan_order_request* request = f->request;
  stowi_flow_task* order = STOWI_ARRAY(request->allocator, stowi_flow_task, flow->count);
  STOW_TRY(stowi_need_memory(order != NULL, request->diag));
  stowi_flow_order_options options;
  stowi_flow_order_options_init(&options);
  options.nodes = budget_of(f, region);
  options.on_progress = request->options->on_progress == NULL ? NULL : pass_on;
  options.user = f;
  stow_status status =
      stowi_flow_order(flow->flow, &options, request->allocator, request->diag, order, out_result);
  if (status == STOW_OK) {
    f->nodes -= out_result->nodes < f->nodes ? out_result->nodes : f->nodes;
    f->ordering->nodes += out_result->nodes;
    f->changed |= out_result->changed;
    if (out_result->changed) {
      write_region(f, region, flow, order);
    }
  }
  STOWI_ARRAY_FREE(request->allocator, order, flow->count);
  return status;
}

static stow_status search_region(finder* f, stow_region region) {
  stowi_plan_flow_options options = {region, false, f->inside};
  stowi_plan_node_flow flow;
  STOW_TRY(stowi_plan_node_flow_create(&f->traffic, &options, &flow));
  stowi_flow_order_result result;
  stow_status status = search_flow(f, region, &flow, &result);
  stow_node owner = stowi_graph_region_owner(f->request->graph, region);
  if (status == STOW_OK && region != STOW_REGION_BODY && f->inside[owner] < result.peak) {
    f->inside[owner] = result.peak;
  }
  stowi_plan_node_flow_destroy(&f->traffic, &flow);
  return status;
}

// ---------------------------------------------------------------------------------------------
// All regions

typedef struct open_region {
  stow_region region;
  uint32_t at;        // in the region's nodes
  size_t next_owned;  // of the regions of that node, which run before it
} open_region;

// Joins the regions' lists to one order.
static void join_regions(const finder* f, stow_node* out_order) {
  const stowi_plan_traffic* t = &f->traffic;
  open_region stack[STOW_MAX_REGION_DEPTH + 1];
  size_t depth = 0;
  stack[depth++] = (open_region){STOW_REGION_BODY, t->start[STOW_REGION_BODY], 0};
  while (depth > 0) {
    open_region* top = &stack[depth - 1];
    if (top->at == t->start[top->region + 1]) {
      --depth;
      continue;
    }
    stow_node node = f->found[top->at];
    stow_region owned = stow_graph_owned_region(f->request->graph, node, top->next_owned);
    if (owned != STOW_REGION_ID_NONE) {
      ++top->next_owned;
      stack[depth++] = (open_region){owned, t->start[owned], 0};
      continue;
    }
    *out_order++ = node;
    ++top->at;
    top->next_owned = 0;
  }
}

// The peak of an order of all nodes in |flat|, the flow made last. |work| has room for the tasks.
static stow_status peak_of(const finder* f, const stowi_plan_node_flow* flat,
                           const stow_node* order, stowi_flow_task* work, uint64_t* out_peak) {
  const stowi_plan_traffic* t = &f->traffic;
  uint32_t count = 0;
  uint32_t place;
  for (uint32_t step = 0; step < t->node_count; ++step) {
    if (!t->idle[order[step]]) {
      work[count++] = t->task_of[order[step]];
    }
  }
  return stowi_flow_peak(flat->flow, work, f->request->allocator, f->request->diag, out_peak,
                         &place);
}

// The flows of regions overestimate slightly, and an inner region may not matter for the whole.
static stow_status is_better(const finder* f, const stow_node* order, bool* out_better) {
  const stowi_plan_traffic* t = &f->traffic;
  stow_allocator allocator = f->request->allocator;
  stowi_plan_flow_options options = {STOWI_PLAN_FLOW_FLAT, false, NULL};
  stowi_plan_node_flow flat;
  *out_better = true;
  if (t->region_count == 1) {
    return STOW_OK;
  }
  STOW_TRY(stowi_plan_node_flow_create(t, &options, &flat));
  stowi_flow_task* work = STOWI_ARRAY(allocator, stowi_flow_task, t->node_count);
  stow_status status = work == NULL ? stowi_fail_memory(f->request->diag) : STOW_OK;
  uint64_t before = 0;
  uint64_t after = 0;
  if (status == STOW_OK) {
    status = peak_of(f, &flat, stow_schedule_order(t->given), work, &before);
  }
  if (status == STOW_OK) {
    status = peak_of(f, &flat, order, work, &after);
  }
  *out_better = after < before;
  STOWI_ARRAY_FREE(allocator, work, t->node_count);
  stowi_plan_node_flow_destroy(t, &flat);
  return status;
}

static stow_status make_schedule(const finder* f, stow_schedule** out_schedule) {
  const stowi_plan_order_request* request = f->request;
  uint32_t count = f->traffic.node_count;
  stow_node* order = STOWI_ARRAY(request->allocator, stow_node, count);
  STOW_TRY(stowi_need_memory(order != NULL, request->diag));
  join_regions(f, order);
  bool better;
  stow_status status = is_better(f, order, &better);
  if (status == STOW_OK && better) {
    status = stow_schedule_create_order(request->graph, order, count, request->allocator,
                                        request->diag, out_schedule);
  }
  STOWI_ARRAY_FREE(request->allocator, order, count);
  return status;
}

// ---------------------------------------------------------------------------------------------
// The bound

// Whether an order could have a smaller arena than the given one.
static bool leaves_hope(const finder* f) { return f->ordering->any_bound < f->arena; }

// If bound and search can use the same flow, the search runs at once: it may prove more.
static stow_status bound_and_search(finder* f, bool searches) {
  stow_ordering* ordering = f->ordering;
  stowi_plan_flow_options options = {STOWI_PLAN_FLOW_FLAT, true, NULL};
  stowi_plan_node_flow flat;
  stowi_flow_task critical = STOWI_FLOW_TASK_NONE;
  STOW_TRY(stowi_plan_node_flow_create(&f->traffic, &options, &flat));
  stow_status status = stowi_flow_bound(flat.flow, f->request->allocator, f->request->diag,
                                        &ordering->any_bound, &critical);
  if (status == STOW_OK && searches && leaves_hope(f)) {
    stowi_flow_order_result result;
    status = search_flow(f, STOW_REGION_BODY, &flat, &result);
    if (status == STOW_OK && result.bound > ordering->any_bound) {
      ordering->any_bound = result.bound;
      critical = result.critical;
    }
  }
  if (status == STOW_OK && critical != STOWI_FLOW_TASK_NONE) {
    ordering->critical = flat.nodes[critical];
  }
  stowi_plan_node_flow_destroy(&f->traffic, &flat);
  return status;
}

// Takes |order|, which may contradict reads and writes of the same bytes, if its peak is below
// |*peak|.
static stow_status take_lower(finder* f, const stowi_plan_node_flow* flat, const stow_node* order,
                              stowi_flow_task* work, uint64_t* peak) {
  const stowi_plan_order_request* request = f->request;
  uint32_t count = f->traffic.node_count;
  stow_schedule* schedule = NULL;
  uint64_t found;
  stow_status status = stow_schedule_create_order(request->graph, order, count, request->allocator,
                                                  request->diag, &schedule);
  stow_schedule_destroy(schedule);
  if (status != STOW_OK) {
    return status == STOW_ERR_CONFLICT ? STOW_OK : status;
  }
  STOW_TRY(peak_of(f, flat, order, work, &found));
  if (found < *peak) {
    memcpy(f->found, order, count * sizeof(*order));
    f->changed = true;
    *peak = found;
  }
  return STOW_OK;
}

static stow_status take_lowest(finder* f, const stowi_plan_node_flow* flat, stow_node* order,
                               stowi_flow_task* work) {
  uint64_t peak;
  STOW_TRY(peak_of(f, flat, stow_schedule_order(f->traffic.given), work, &peak));
  for (int eager = 0; eager < 2; ++eager) {
    STOW_TRY(stowi_plan_follow_order(f->request, eager != 0, order));
    STOW_TRY(take_lower(f, flat, order, work, &peak));
  }
  return STOW_OK;
}

// Follows the order of the earlier plan, if it has a lower peak than the given one.
static stow_status follow(finder* f) {
  const stowi_plan_traffic* t = &f->traffic;
  stow_allocator allocator = f->request->allocator;
  stowi_plan_flow_options options = {STOWI_PLAN_FLOW_FLAT, false, NULL};
  stowi_plan_node_flow flat;
  STOW_TRY(stowi_plan_node_flow_create(t, &options, &flat));
  stow_node* order = STOWI_ARRAY(allocator, stow_node, t->node_count);
  stowi_flow_task* work = STOWI_ARRAY(allocator, stowi_flow_task, t->node_count);
  stow_status status = order == NULL || work == NULL ? stowi_fail_memory(f->request->diag)
                                                     : take_lowest(f, &flat, order, work);
  STOWI_ARRAY_FREE(allocator, order, t->node_count);
  STOWI_ARRAY_FREE(allocator, work, t->node_count);
  stowi_plan_node_flow_destroy(t, &flat);
  return status;
}

static stow_status search(finder* f) {
  const stowi_plan_traffic* t = &f->traffic;
  bool searches = may_reorder(f->request, t->given);
  bool at_once = t->region_count == 1 && !t->is_rough;
  bool follows = searches && t->region_count == 1 && f->request->earlier != NULL;
  memcpy(f->found, t->nodes, t->node_count * sizeof(*f->found));
  STOW_TRY(bound_and_search(f, searches && at_once && !follows));
  if (follows) {
    return leaves_hope(f) ? follow(f) : STOW_OK;
  }
  if (!searches || at_once || !leaves_hope(f)) {
    return STOW_OK;
  }
  for (stow_region region = t->region_count; region-- > 0;) {
    STOW_TRY(search_region(f, region));
  }
  return STOW_OK;
}

static stow_status find(finder* f, const stow_schedule* given, stow_schedule** out_schedule) {
  const stowi_plan_order_request* request = f->request;
  STOW_TRY(stowi_plan_traffic_create(request, given, &f->traffic));
  uint32_t count = f->traffic.node_count;
  f->found = STOWI_ARRAY(request->allocator, stow_node, count);
  f->inside = STOWI_ARRAY_ZERO(request->allocator, uint64_t, count);
  stow_status status = STOW_OK;
  if (f->found == NULL || f->inside == NULL) {
    status = stowi_fail_memory(request->diag);
  }
  if (status == STOW_OK) {
    status = search(f);
  }
  if (status == STOW_OK && f->changed) {
    status = make_schedule(f, out_schedule);
  }
  STOWI_ARRAY_FREE(request->allocator, f->found, count);
  STOWI_ARRAY_FREE(request->allocator, f->inside, count);
  stowi_plan_traffic_destroy(&f->traffic);
  return status;
}

// Sizes beyond all bounds are left to the placer, which can name the values. Nothing is claimed
// about them here, since it may well place them.
stow_status stowi_plan_find_order(const stowi_plan_order_request* request,
                                  const stow_schedule* given, uint64_t arena,
                                  stow_schedule** out_schedule, stow_ordering* out_ordering) {
  *out_schedule = NULL;
  *out_ordering = (stow_ordering){.critical = STOW_NODE_NONE};
  if (stow_graph_node_count(request->graph) == 0) {
    return STOW_OK;
  }
  stow_diag inner;
  stow_diag_init(&inner);
  stowi_plan_order_request own = *request;
  own.diag = &inner;
  stow_ordering ordering = *out_ordering;
  finder f = {.request = &own,
              .arena = arena,
              .nodes = request->options->order_nodes,
              .ordering = &ordering};
  stow_status status = find(&f, given, out_schedule);
  if (status == STOW_OK) {
    *out_ordering = ordering;
  }
  return status == STOW_OK || status == STOW_ERR_OVERFLOW
             ? STOW_OK
             : stowi_fail(request->diag, status, "%s", inner.message);
}
