// Lifetimes of values: one pass over the nodes for births and reads, one over effects and
// policies, then the rules. A use of a view is a use of its root, but not of the root's own value:
// that may be dead while another value is in its bytes. So both lifetimes are kept. O(values +
// operands) and 16 bytes per value, times the depth of nested regions, which is bounded.
// Loops. Steps of a body run repeatedly, so a value that is made outside a loop and used inside it
// is needed during the whole body, and so is a value made inside that an effect uses outside:
//     step  3   4     5     6     7
//           %1  args  %2    yield loop
//     %1    ╞════●═════○═════╡           ● used here, ○ kept for the next iteration
#include "analysis/lives/lifetimes.h"

#include "analysis/views.h"
#include "base/diag.h"
#include "effects/api.h"
#include "graph/api.h"
#include "schedule/api.h"

void stowi_analysis_lifetimes_options_init(stowi_analysis_lifetimes_options* options) {
  *options = (stowi_analysis_lifetimes_options){STOW_IO_KEEP, 0, {NULL}};
}

static uint32_t step_of(const stow_rule_call* call, stow_node node) {
  return stow_schedule_step(call->schedule, node);
}

// ---------------------------------------------------------------------------------------------
// Extending

static void cover(uint32_t* begin, uint32_t* end, uint32_t first, uint32_t last) {
  if (first < *begin) {
    *begin = first;
  }
  if (last + 1 > *end) {
    *end = last + 1;
  }
}

static void cover_own(stowi_analysis_lifetimes* lifetimes, stow_value value, uint32_t first,
                      uint32_t last) {
  cover(&lifetimes->own_begin[value], &lifetimes->own_end[value], first, last);
}

static void cover_root(stowi_analysis_lifetimes* lifetimes, stow_value root, uint32_t first,
                       uint32_t last) {
  cover(&lifetimes->begin[root], &lifetimes->end[root], first, last);
}

static stow_region made_in(const stow_graph* graph, stow_value value) {
  return stow_graph_node_region(graph, stow_graph_producer(graph, value));
}

typedef void (*cover_function)(stowi_analysis_lifetimes* lifetimes, stow_value value,
                               uint32_t first, uint32_t last);

// Covers every loop that contains only one of the two regions. The outermost ones decide.
static void cover_loops(stow_rule_call* call, stow_value value, stow_region a, stow_region b,
                        cover_function do_cover) {
  const stowi_analysis_stretch* stretches = call->stretches;
  while (a != b) {
    stow_region* deeper = stretches[a].depth >= stretches[b].depth ? &a : &b;
    const stowi_analysis_stretch* stretch = &stretches[*deeper];
    if (stretch->loops) {
      do_cover(call->lifetimes, value, stretch->first, stretch->last);
    }
    *deeper = stretch->parent;
  }
}

static void use_one(stow_rule_call* call, stow_value value, uint32_t step, stow_region region,
                    cover_function do_cover) {
  do_cover(call->lifetimes, value, step, step);
  if (call->stretches != NULL) {
    cover_loops(call, value, region, made_in(call->graph, value), do_cover);
  }
}

void stowi_analysis_lifetimes_use(stow_rule_call* call, stow_value value, uint32_t step,
                                  stow_region region) {
  use_one(call, value, step, region, cover_own);
  use_one(call, stowi_analysis_views_root(call->views, value), step, region, cover_root);
}

// The caller is outside every loop.
void stowi_analysis_lifetimes_keep(stow_rule_call* call, stow_value value) {
  stowi_analysis_lifetimes_use(call, value, stow_schedule_count(call->schedule), STOW_REGION_BODY);
}

static void use_at(stow_rule_call* call, stow_value value, stow_node node) {
  stowi_analysis_lifetimes_use(call, value, step_of(call, node),
                               stow_graph_node_region(call->graph, node));
}

void stowi_analysis_lifetimes_use_late(stow_rule_call* call, stow_value value, stow_node node) {
  uint32_t* late = call->lifetimes->late;
  stow_value root = stowi_analysis_views_root(call->views, value);
  use_at(call, value, node);
  if (late != NULL && late[root] < step_of(call, node) + 1) {
    late[root] = step_of(call, node) + 1;
  }
}

// ---------------------------------------------------------------------------------------------
// Births and reads

// The step from which result |k| of |node| is written. Branches yield into the results, beginning
// with the first branch; a loop collects from its first iteration on.
static uint32_t birth_step(const stow_rule_call* call, stow_node node, size_t k) {
  const stow_graph* graph = call->graph;
  stowi_analysis_loop loop;
  if (stow_graph_op_desc(graph, node)->region_kind == STOW_REGION_BRANCH) {
    stow_region region = stow_graph_owned_region(graph, node, 0);
    return step_of(call, stowi_graph_region_last(graph, region));
  }
  if (stowi_analysis_loop_of(graph, node, &loop)) {
    bool carried = k >= loop.carry.first_result && k - loop.carry.first_result < loop.count;
    return carried ? step_of(call, node) : call->stretches[loop.body].first;
  }
  return step_of(call, node);
}

static void set_births(stow_rule_call* call) {
  uint32_t count = stow_graph_node_count(call->graph);
  for (stow_node node = 0; node < count; ++node) {
    stow_value first = stow_graph_first_result(call->graph, node);
    size_t results = stow_graph_result_count(call->graph, node);
    for (size_t k = 0; k < results; ++k) {
      uint32_t birth = birth_step(call, node, k);
      call->lifetimes->own_begin[first + k] = call->lifetimes->begin[first + k] = birth;
      call->lifetimes->own_end[first + k] = call->lifetimes->end[first + k] =
          step_of(call, node) + 1;
    }
  }
}

// A carried value occupies its bytes from the first step of the body to the last, where the next
// value is written, and until the loop's own step: there the last value becomes the result, in the
// same bytes or as a copy. Another node may run in between.
static void use_carried(stow_rule_call* call, const stowi_analysis_loop* loop) {
  const stow_graph* graph = call->graph;
  stow_region outside = stow_graph_node_region(graph, loop->owner);
  for (size_t i = 0; i < loop->count; ++i) {
    stow_value initial = stowi_analysis_loop_initial(graph, loop, i);
    stow_value argument = stowi_analysis_loop_argument(graph, loop, i);
    if (initial != STOW_VALUE_NONE) {
      stowi_analysis_lifetimes_use(call, initial, step_of(call, loop->args), outside);
    }
    use_at(call, argument, loop->yield);
    stowi_analysis_lifetimes_use(call, argument, step_of(call, loop->owner), outside);
  }
}

static void add_reads(stow_rule_call* call) {
  uint32_t count = stow_graph_node_count(call->graph);
  for (stow_node node = 0; node < count; ++node) {
    stowi_analysis_loop loop;
    bool is_loop = stowi_analysis_loop_of(call->graph, node, &loop);
    if (is_loop) {
      use_carried(call, &loop);
    }
    const stow_value* operands = stow_graph_operands(call->graph, node);
    size_t operand_count = stow_graph_operand_count(call->graph, node);
    for (size_t k = 0; k < operand_count; ++k) {
      if (operands[k] != STOW_VALUE_NONE &&
          !(is_loop && stowi_analysis_loop_is_initial(&loop, k))) {
        use_at(call, operands[k], node);
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Effects and policies

static stow_status fail_order(const stow_rule_call* call, stow_node node, stow_node other,
                              const char* what) {
  stowi_fail(call->diag, STOW_ERR_CONFLICT, "%s at step %u %s %s, which runs at step %u",
             stowi_graph_describe_node(call->graph, node).text, (unsigned)step_of(call, node), what,
             stowi_graph_describe_node(call->graph, other).text, (unsigned)step_of(call, other));
  stowi_graph_blame_node(call->diag, call->graph, node);
  return STOW_ERR_CONFLICT;
}

static stow_status add_holds(stow_rule_call* call, const stow_effects* effects) {
  for (size_t i = 0; i < stowi_effects_hold_count(effects); ++i) {
    stowi_effects_hold_entry hold = stowi_effects_hold(effects, i);
    stow_value value = stow_graph_operands(call->graph, hold.node)[hold.operand];
    if (hold.until == STOW_STEP_END) {
      stowi_analysis_lifetimes_keep(call, value);
      continue;
    }
    if (step_of(call, hold.until) < step_of(call, hold.node)) {
      return fail_order(call, hold.node, hold.until, "holds an operand until");
    }
    stowi_analysis_lifetimes_use_late(call, value, hold.until);
  }
  return STOW_OK;
}

static stow_status add_early_writes(stow_rule_call* call, const stow_effects* effects) {
  for (size_t i = 0; i < stowi_effects_early_write_count(effects); ++i) {
    stowi_effects_early_write_entry early = stowi_effects_early_write(effects, i);
    if (step_of(call, early.from) > step_of(call, early.node)) {
      return fail_order(call, early.node, early.from, "writes a result from");
    }
    stow_value first = stow_graph_first_result(call->graph, early.node);
    use_at(call, first + (stow_value)early.result, early.from);
  }
  return STOW_OK;
}

static void keep_whole_run(stow_rule_call* call, stow_value value) {
  call->lifetimes->own_begin[value] = 0;
  stowi_analysis_lifetimes_keep(call, value);
}

static void add_policies(stow_rule_call* call, const stow_effects* effects, stow_io_policy io) {
  const stow_graph* graph = call->graph;
  for (stow_value value = 0; value < call->lifetimes->value_count; ++value) {
    if (stowi_effects_state(effects, value)) {
      keep_whole_run(call, value);
    }
    if (!stow_graph_is_boundary(graph, value)) {
      continue;
    }
    if (stowi_effects_io_policy(graph, effects, io, value, false) == STOW_IO_CONSUME) {
      call->lifetimes->own_begin[value] = 0;
    } else {
      keep_whole_run(call, value);
    }
  }
  const stow_value* outputs = stow_graph_outputs(graph);
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    stowi_analysis_lifetimes_keep(call, outputs[i]);
  }
}

// A root is live while any value in it is live. Its id may be higher or lower.
static void cover_views(stow_rule_call* call) {
  stowi_analysis_lifetimes* lifetimes = call->lifetimes;
  for (stow_value value = 0; value < lifetimes->value_count; ++value) {
    stow_value root = stowi_analysis_views_root(call->views, value);
    cover_root(lifetimes, root, lifetimes->own_begin[value], lifetimes->own_end[value] - 1);
    if (root != value) {
      lifetimes->begin[value] = lifetimes->own_begin[value];
      lifetimes->end[value] = lifetimes->own_end[value];
    }
  }
}

// ---------------------------------------------------------------------------------------------

// The first step of a region need not be that of its first node by id: without an `args`, any node
// may run first.
static void set_first_steps(stow_rule_call* call, uint32_t region_count) {
  stowi_analysis_stretch* stretches = call->stretches;
  uint32_t count = stow_schedule_count(call->schedule);
  for (uint32_t step = count; step-- > 0;) {
    stow_node node = stow_schedule_order(call->schedule)[step];
    stretches[stow_graph_node_region(call->graph, node)].first = step;
  }
  // A region comes after the one around it.
  for (stow_region region = region_count; region-- > 1;) {
    stowi_analysis_stretch* parent = &stretches[stretches[region].parent];
    if (stretches[region].first < parent->first) {
      parent->first = stretches[region].first;
    }
  }
}

static stow_status make_stretches(stow_rule_call* call) {
  uint32_t count = stow_graph_region_count(call->graph);
  if (count <= 1) {
    return STOW_OK;
  }
  call->stretches = STOWI_ARRAY_ZERO(call->allocator, stowi_analysis_stretch, count);
  STOW_TRY(stowi_need_memory(call->stretches != NULL, call->diag));
  for (stow_region region = 1; region < count; ++region) {
    const stow_graph* graph = call->graph;
    stowi_analysis_stretch* stretch = &call->stretches[region];
    stow_node owner = stowi_graph_region_owner(graph, region);
    stretch->first = UINT32_MAX;
    stretch->last = step_of(call, stowi_graph_region_last(graph, region));
    stretch->parent = stowi_graph_region_parent(graph, region);
    stretch->loops = stow_graph_op_desc(graph, owner)->region_kind == STOW_REGION_LOOP;
    stretch->depth = 0;
    for (stow_region at = region; at != STOW_REGION_BODY;
         at = stowi_graph_region_parent(graph, at)) {
      ++stretch->depth;
    }
  }
  set_first_steps(call, count);
  return STOW_OK;
}

static stow_status run_rules(stow_rule_call* call,
                             const stowi_analysis_lifetimes_options* options) {
  if (options->rule_count == 0) {
    return STOW_OK;
  }
  uint32_t nodes = stow_graph_node_count(call->graph);
  call->stack = STOWI_ARRAY(call->allocator, stow_node, nodes);
  STOW_TRY(stowi_need_memory(
      call->stack != NULL && stowi_bits_init(&call->expanded, nodes, call->allocator), call->diag));
  for (size_t i = 0; i < options->rule_count; ++i) {
    STOW_TRY(stowi_analysis_rule_run(call, options->rules[i]));
  }
  return STOW_OK;
}

// Only in-place results need to know who reads last.
static stow_status make_late(stow_rule_call* call, const stow_effects* effects,
                             const stowi_analysis_lifetimes_options* options) {
  if (stowi_effects_hold_count(effects) == 0 && options->rule_count == 0) {
    return STOW_OK;
  }
  call->lifetimes->late = STOWI_ARRAY_ZERO(call->allocator, uint32_t, call->lifetimes->value_count);
  return call->lifetimes->late != NULL ? STOW_OK : stowi_fail_memory(call->diag);
}

static stow_status run(stow_rule_call* call, const stow_effects* effects,
                       const stowi_analysis_lifetimes_options* options) {
  STOW_TRY(stowi_schedule_check(call->graph, call->schedule, call->allocator, call->diag));
  STOW_TRY(make_stretches(call));
  STOW_TRY(make_late(call, effects, options));
  set_births(call);
  add_reads(call);
  STOW_TRY(add_holds(call, effects));
  STOW_TRY(add_early_writes(call, effects));
  STOW_TRY(stowi_analysis_writes_check(call, effects));
  add_policies(call, effects, options->io);
  STOW_TRY(run_rules(call, options));
  cover_views(call);
  return STOW_OK;
}

static stow_status check_arguments(const stow_graph* graph, const stow_schedule* schedule,
                                   const stowi_analysis_views* views, const stow_effects* effects,
                                   const stowi_analysis_lifetimes_options* options,
                                   stow_diag* diag) {
  if ((unsigned)options->io > (unsigned)STOW_IO_EXTERNAL) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "stowi_analysis_lifetimes_options.io: unknown policy %d", (int)options->io);
  }
  if (options->rule_count > STOW_MAX_RULES) {
    return stowi_fail(diag, STOW_ERR_LIMIT, "%zu lifetime rules, the maximum is %d",
                      options->rule_count, STOW_MAX_RULES);
  }
  for (size_t i = 0; i < options->rule_count; ++i) {
    if (options->rules[i] == NULL || options->rules[i]->apply == NULL) {
      return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                        "lifetime rule %zu is NULL or has no function", i);
    }
  }
  STOW_TRY(stowi_effects_check_graph(effects, graph, diag));
  STOW_TRY(stowi_analysis_views_check_graph(views, graph, diag));
  if (stow_schedule_count(schedule) != stow_graph_node_count(graph)) {
    return stowi_fail(
        diag, STOW_ERR_INVALID_ARGUMENT, "the schedule has %u steps, but the graph has %u nodes",
        (unsigned)stow_schedule_count(schedule), (unsigned)stow_graph_node_count(graph));
  }
  return STOW_OK;
}

static stowi_analysis_lifetimes* lifetimes_new(uint32_t value_count, stow_allocator allocator) {
  stowi_analysis_lifetimes* lifetimes = STOWI_NEW(allocator, stowi_analysis_lifetimes);
  if (lifetimes == NULL) {
    return NULL;
  }
  lifetimes->allocator = allocator;
  lifetimes->value_count = value_count;
  lifetimes->reuse_allowed = true;
  lifetimes->own_begin = STOWI_ARRAY(allocator, uint32_t, value_count);
  lifetimes->own_end = STOWI_ARRAY(allocator, uint32_t, value_count);
  lifetimes->begin = STOWI_ARRAY(allocator, uint32_t, value_count);
  lifetimes->end = STOWI_ARRAY(allocator, uint32_t, value_count);
  if (lifetimes->own_begin == NULL || lifetimes->own_end == NULL || lifetimes->begin == NULL ||
      lifetimes->end == NULL) {
    stowi_analysis_lifetimes_destroy(lifetimes);
    return NULL;
  }
  return lifetimes;
}

void stowi_analysis_lifetimes_destroy(stowi_analysis_lifetimes* lifetimes) {
  if (lifetimes == NULL) {
    return;
  }
  stow_allocator allocator = lifetimes->allocator;
  STOWI_ARRAY_FREE(allocator, lifetimes->own_begin, lifetimes->value_count);
  STOWI_ARRAY_FREE(allocator, lifetimes->own_end, lifetimes->value_count);
  STOWI_ARRAY_FREE(allocator, lifetimes->begin, lifetimes->value_count);
  STOWI_ARRAY_FREE(allocator, lifetimes->end, lifetimes->value_count);
  STOWI_ARRAY_FREE(allocator, lifetimes->late, lifetimes->value_count);
  STOWI_DELETE(allocator, lifetimes);
}

stow_status stowi_analysis_lifetimes_create(const stow_graph* graph, const stow_schedule* schedule,
                                            const stowi_analysis_views* views,
                                            const stow_effects* effects,
                                            const stowi_analysis_lifetimes_options* options,
                                            stow_allocator allocator, stow_diag* diag,
                                            stowi_analysis_lifetimes** out_lifetimes) {
  *out_lifetimes = NULL;
  STOW_TRY(check_arguments(graph, schedule, views, effects, options, diag));
  stowi_analysis_lifetimes* lifetimes = lifetimes_new(stow_graph_value_count(graph), allocator);
  STOW_TRY(stowi_need_memory(lifetimes != NULL, diag));
  stow_rule_call call = {.graph = graph,
                         .schedule = schedule,
                         .views = views,
                         .lifetimes = lifetimes,
                         .allocator = allocator,
                         .diag = diag};
  stow_status status = run(&call, effects, options);
  STOWI_ARRAY_FREE(allocator, call.stretches, stow_graph_region_count(graph));
  STOWI_ARRAY_FREE(allocator, call.stack, stow_graph_node_count(graph));
  stowi_bits_free(&call.expanded, allocator);
  if (status != STOW_OK) {
    stowi_analysis_lifetimes_destroy(lifetimes);
    return status;
  }
  *out_lifetimes = lifetimes;
  return STOW_OK;
}

uint32_t stowi_analysis_lifetimes_begin(const stowi_analysis_lifetimes* lifetimes,
                                        stow_value value) {
  return lifetimes->begin[value];
}

uint32_t stowi_analysis_lifetimes_end(const stowi_analysis_lifetimes* lifetimes, stow_value value) {
  return lifetimes->end[value];
}

uint32_t stowi_analysis_lifetimes_own_begin(const stowi_analysis_lifetimes* lifetimes,
                                            stow_value value) {
  return lifetimes->own_begin[value];
}

uint32_t stowi_analysis_lifetimes_own_end(const stowi_analysis_lifetimes* lifetimes,
                                          stow_value value) {
  return lifetimes->own_end[value];
}

bool stowi_analysis_lifetimes_reuse_allowed(const stowi_analysis_lifetimes* lifetimes) {
  return lifetimes->reuse_allowed;
}
