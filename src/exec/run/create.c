// Making executors: the plan is proven, then everything that runs need is allocated.
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/diag.h"
#include "exec/run/exec.h"
#include "graph/api.h"
#include "plan/api.h"

void stow_exec_options_defaults(stow_exec_options* options) {
  static const stow_exec_options defaults = {0};
  stowi_init_struct(options, &defaults, sizeof(defaults));
}

// ---------------------------------------------------------------------------------------------
// Parts

// Margins are as large as the alignment, which they keep.
static stow_status make_margins(stow_exec* exec, stow_diag* diag) {
  uint64_t alignment = stowi_plan_alignment(exec->plan);
  uint64_t size = stow_plan_arena_size(exec->plan);
  uint64_t total;
  if (alignment > PTRDIFF_MAX || !stowi_add_u64(size, 2 * alignment, &total) ||
      total > PTRDIFF_MAX) {
    return stowi_fail(diag, STOW_ERR_OVERFLOW, "the arena with margins is too large");
  }
  exec->margin = (size_t)alignment;
  exec->memory_size = (size_t)total;
  exec->memory = (unsigned char*)exec->allocator.reallocate(exec->allocator.user, NULL, 0,
                                                            exec->memory_size, exec->margin);
  if (exec->memory == NULL) {
    return stowi_fail_memory(diag);
  }
  memset(exec->memory, 0, exec->memory_size);
  return STOW_OK;
}

static stow_status make_arena(stow_exec* exec, stow_diag* diag) {
  stow_arena_options options;
  stow_arena_options_init(&options);
  options.track_steps = exec->options.poison;
  bool is_ours = exec->options.memory == NULL;
  if (is_ours && exec->options.paranoid) {
    STOW_TRY(make_margins(exec, diag));
    STOW_TRY(stow_arena_create_over(exec->plan, exec->memory + exec->margin,
                                    exec->memory_size - 2 * exec->margin, &options, exec->allocator,
                                    diag, &exec->arena));
  } else if (!is_ours) {
    STOW_TRY(stow_arena_create_over(exec->plan, exec->options.memory, exec->options.memory_size,
                                    &options, exec->allocator, diag, &exec->arena));
  } else {
    STOW_TRY(stow_arena_create(exec->plan, &options, exec->allocator, diag, &exec->arena));
  }
  exec->base = (unsigned char*)stow_arena_base(exec->arena);
  return STOW_OK;
}

static void describe_regions(stow_exec* exec) {
  const stow_graph* graph = exec->graph;
  const stow_node* order = stow_plan_order(exec->plan);
  for (uint32_t step = stow_plan_step_count(exec->plan); step-- > 0;) {
    stow_region region = stow_graph_node_region(graph, order[step]);
    for (; region != STOW_REGION_BODY; region = stowi_graph_region_parent(graph, region)) {
      stowi_exec_region* entry = &exec->regions[region];
      entry->first = step;
      entry->last = entry->last < step ? step : entry->last;
    }
  }
  for (stow_region region = 1; region < exec->region_count; ++region) {
    stow_node owner = stowi_graph_region_owner(graph, region);
    stowi_exec_region* entry = &exec->regions[region];
    entry->is_loop = stow_graph_op_desc(graph, owner)->region_kind == STOW_REGION_LOOP;
    if (entry->is_loop) {
      entry->body = stowi_exec_body_of(graph, owner);
    }
  }
}

static void complete_calls(stow_exec* exec) {
  const stow_prepared* prepared = exec->prepared;
  for (stow_node node = 0; node < exec->calls.node_count; ++node) {
    stow_kernel_call* call = &exec->calls.calls[node];
    call->workers = prepared->threads;
    if (exec->workers != NULL) {
      call->splitter = (stow_splitter){stowi_exec_workers_split, exec->workers};
    }
    call->variant = prepared->nodes[node].variant;
    call->user = prepared->nodes[node].kernel.user;
    call->message = exec->message;
    call->message_size = sizeof(exec->message);
    exec->is_bounded[node] = stowi_exec_is_bounded(exec->graph, node);
  }
}

// The plan lists scratch by node, then in the order in which it was requested.
static void find_scratch(stow_exec* exec) {
  stow_node last = STOW_NODE_NONE;
  size_t index = 0;
  for (size_t i = 0; i < stow_plan_scratch_count(exec->plan); ++i) {
    stow_node node;
    stow_slot slot;
    uint64_t alignment;
    stow_plan_scratch_slot(exec->plan, i, &node, &slot, &alignment);
    index = node == last ? index + 1 : 0;
    last = node;
    if (exec->prepared->nodes[node].scratch_index == index) {
      exec->calls.calls[node].scratch = exec->base + slot.offset;
      exec->calls.calls[node].scratch_size = (size_t)slot.size;
    }
  }
}

// ---------------------------------------------------------------------------------------------

// Of what a plan can be wrong about, the likely mistake, in words that say what to do.
static stow_status require_scratch(const stow_exec* exec, stow_diag* diag) {
  size_t has = stow_plan_scratch_count(exec->plan);
  size_t needs = stowi_effects_scratch_count(exec->prepared->effects);
  return has == 0 && needs != 0
             ? stowi_fail(diag, STOW_ERR_VIOLATION,
                          "the plan lacks scratch for %zu kernels; make it with the effects of "
                          "stow_prepared_effects",
                          needs)
             : STOW_OK;
}

static stow_status create_all(stow_exec* exec, stow_diag* diag) {
  const stow_prepared* prepared = exec->prepared;
  STOW_TRY(stowi_plan_require(exec->plan, exec->graph, diag));
  STOW_TRY(require_scratch(exec, diag));
  STOW_TRY(
      stow_plan_check(exec->plan, exec->graph, prepared->effects, exec->allocator, diag, NULL));
  STOW_TRY(stowi_exec_calls_init(&exec->calls, exec->graph, exec->allocator, diag));
  exec->region_count = stow_graph_region_count(exec->graph);
  exec->places = STOWI_ARRAY_ZERO(exec->allocator, stowi_exec_value_place, exec->calls.value_count);
  exec->regions = STOWI_ARRAY_ZERO(exec->allocator, stowi_exec_region, exec->region_count);
  exec->is_bounded = STOWI_ARRAY_ZERO(exec->allocator, bool, exec->calls.node_count);
  bool is_there = exec->places != NULL && exec->regions != NULL && exec->is_bounded != NULL;
  STOW_TRY(is_there ? STOW_OK : stowi_fail_memory(diag));
  STOW_TRY(make_arena(exec, diag));
  if (prepared->threads > 1) {
    STOW_TRY(stowi_exec_workers_create(prepared->threads, exec->allocator, diag, &exec->workers));
  }
  describe_regions(exec);
  complete_calls(exec);
  STOW_TRY(stowi_exec_inference_create(exec, diag));
  find_scratch(exec);
  STOW_TRY(stowi_exec_place(exec, diag));
  return exec->options.paranoid
             ? stowi_exec_paranoia_create(exec->plan, exec->allocator, diag, &exec->paranoia)
             : STOW_OK;
}

stow_status stow_exec_create(const stow_prepared* prepared, const stow_plan* plan,
                             const stow_exec_options* options, stow_allocator allocator,
                             stow_diag* diag, stow_exec** out_exec) {
  stow_exec_options full;
  *out_exec = NULL;
  stow_exec_options_init(&full);
  STOW_TRY(stowi_load_options(&full, options, sizeof(full), "stow_exec_options", diag));
  stow_exec* exec = STOWI_NEW(allocator, stow_exec);
  STOW_TRY(stowi_need_memory(exec != NULL, diag));
  exec->allocator = allocator;
  exec->prepared = prepared;
  exec->graph = prepared->graph;
  exec->plan = plan;
  exec->options = full;
  stow_status status = create_all(exec, diag);
  if (status != STOW_OK) {
    stow_exec_destroy(exec);
    return status;
  }
  *out_exec = exec;
  return STOW_OK;
}

void stow_exec_destroy(stow_exec* exec) {
  if (exec == NULL) {
    return;
  }
  stow_allocator allocator = exec->allocator;
  stowi_exec_workers_destroy(exec->workers);
  stowi_exec_paranoia_destroy(exec->paranoia);
  stow_arena_destroy(exec->arena);
  if (exec->memory != NULL) {
    allocator.reallocate(allocator.user, exec->memory, exec->memory_size, 0, exec->margin);
  }
  if (exec->weights != NULL) {
    allocator.reallocate(allocator.user, exec->weights, exec->weights_size, 0,
                         STOWI_EXEC_WEIGHT_ALIGNMENT);
  }
  stowi_exec_inference_free(exec);
  STOWI_ARRAY_FREE(allocator, exec->is_bounded, exec->calls.node_count);
  STOWI_ARRAY_FREE(allocator, exec->regions, exec->region_count);
  STOWI_ARRAY_FREE(allocator, exec->places, exec->calls.value_count);
  stowi_exec_calls_free(&exec->calls);
  STOWI_DELETE(allocator, exec);
}
