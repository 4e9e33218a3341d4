// Making executors: the plan is proven, then everything that runs need is allocated.
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/diag.h"
#include "exec/run/exec.h"
#include "plan/api.h"

void stow_exec_options_defaults(stow_exec_options* options) {
  static const stow_exec_options defaults = {0};
  stowi_init_struct(options, &defaults, sizeof(defaults));
}

// ---------------------------------------------------------------------------------------------
// Parts

// The bytes of the arena, which are not cleared: steps write what later ones read. In paranoia they
// are, and have margins around them, as large as the alignment, which they keep.
static stow_status make_memory(stow_exec* exec, stow_diag* diag) {
  const stowi_exec_range* range = exec->range;
  uint64_t alignment = range == NULL ? stowi_plan_alignment(exec->plan) : range->alignment;
  uint64_t size = range == NULL ? stow_plan_arena_size(exec->plan) : range->capacity;
  uint64_t margin = exec->options.paranoid ? alignment : 0;
  uint64_t total;
  if (alignment > PTRDIFF_MAX || !stowi_add_u64(size + (size == 0), 2 * margin, &total) ||
      total > PTRDIFF_MAX) {
    return stowi_fail(diag, STOW_ERR_OVERFLOW, "an arena of %llu bytes is too large",
                      (unsigned long long)size);
  }
  exec->margin = (size_t)margin;
  exec->memory_alignment = (size_t)alignment;
  exec->memory_size = (size_t)total;
  exec->memory = (unsigned char*)exec->allocator.reallocate(
      exec->allocator.user, NULL, 0, exec->memory_size, exec->memory_alignment);
  if (exec->memory == NULL) {
    return stowi_fail(diag, STOW_ERR_OUT_OF_MEMORY, "out of memory for an arena of %zu bytes",
                      exec->memory_size);
  }
  if (exec->options.paranoid) {
    memset(exec->memory, 0, exec->memory_size);
  }
  return STOW_OK;
}

// An arena of a range has no plan of its own, unless it is watched.
static stow_status take_memory(stow_exec* exec, void* memory, stow_diag* diag) {
  if ((uintptr_t)memory % exec->range->alignment != 0) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "the memory of the arena must be aligned to %llu bytes",
                      (unsigned long long)exec->range->alignment);
  }
  exec->base = (unsigned char*)memory;
  return STOW_OK;
}

stow_status stowi_exec_make_arena(stow_exec* exec, stow_diag* diag) {
  stow_arena_options options;
  stow_arena_options_init(&options);
  options.track_steps = exec->options.poison;
  void* memory = exec->options.memory;
  size_t size = exec->options.memory_size;
  if (memory == NULL) {
    STOW_TRY(exec->memory == NULL ? make_memory(exec, diag) : STOW_OK);
    memory = exec->memory + exec->margin;
    size = exec->memory_size - 2 * exec->margin;
  }
  if (exec->range != NULL && exec->range->watched == NULL) {
    return take_memory(exec, memory, diag);
  }
  STOW_TRY(stow_arena_create_over(exec->plan, memory, size, &options, exec->allocator, diag,
                                  &exec->arena));
  exec->base = (unsigned char*)stow_arena_base(exec->arena);
  return STOW_OK;
}

static void complete_call(stow_exec* exec) {
  stow_kernel_call* call = &exec->frame.call;
  call->workers = exec->prepared->threads;
  if (exec->workers != NULL) {
    call->splitter = (stow_splitter){stowi_exec_workers_split, exec->workers};
  }
  call->message = exec->message;
  call->message_size = sizeof(exec->message);
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

static stow_status prove(stow_exec* exec, stow_diag* diag) {
  STOW_TRY(stowi_plan_require(exec->plan, exec->graph, diag));
  STOW_TRY(require_scratch(exec, diag));
  return stow_plan_check(exec->plan, exec->graph, exec->prepared->effects, exec->allocator, diag,
                         NULL);
}

static stow_status create_all(stow_exec* exec, const stow_formula* formula, stow_diag* diag) {
  const stow_prepared* prepared = exec->prepared;
  STOW_TRY(stowi_exec_carry_choose(exec, diag));
  STOW_TRY(formula == NULL ? prove(exec, diag) : stowi_exec_range_begin(exec, formula, diag));
  STOW_TRY(stowi_exec_code_init(&exec->code, exec->program, exec->plan, exec->allocator, diag));
  STOW_TRY(stowi_exec_frame_init(&exec->frame, exec->program, exec->allocator, diag));
  stowi_exec_carry_tell(exec);
  STOW_TRY(exec->code.rows == NULL ? STOW_OK : stowi_exec_frame_init_rows(&exec->frame, diag));
  exec->region_count = stow_graph_region_count(exec->graph);
  exec->places =
      STOWI_ARRAY_ZERO(exec->allocator, stowi_exec_value_place, exec->program->value_count);
  exec->loops = STOWI_ARRAY_ZERO(exec->allocator, stowi_exec_loop, exec->region_count);
  STOW_TRY(stowi_need_memory(exec->places != NULL && exec->loops != NULL, diag));
  STOW_TRY(stowi_exec_make_arena(exec, diag));
  if (prepared->threads > 1) {
    STOW_TRY(stowi_exec_workers_create(prepared->threads, exec->allocator, diag, &exec->workers));
  }
  complete_call(exec);
  STOW_TRY(stowi_exec_inference_create(exec, diag));
  stowi_exec_weights weights = {exec->options.weight, exec->options.on_copied, exec->options.user};
  STOW_TRY(stowi_exec_pack(prepared, weights, diag));
  STOW_TRY(stowi_exec_place(exec, diag));
  STOW_TRY(stowi_exec_carry_create(exec, diag));
  if (exec->range != NULL) {
    return stowi_exec_range_end(exec, diag);
  }
  return exec->options.paranoid
             ? stowi_exec_paranoia_create(exec->plan, exec->allocator, diag, &exec->paranoia)
             : STOW_OK;
}

static stow_status create(const stow_prepared* prepared, const stow_plan* plan,
                          const stow_formula* formula, const stow_exec_options* options,
                          stow_allocator allocator, stow_diag* diag, stow_exec** out_exec) {
  stow_exec_options full;
  *out_exec = NULL;
  stow_exec_options_init(&full);
  STOW_TRY(stowi_load_options(&full, options, sizeof(full), "stow_exec_options", diag));
  stow_exec* exec = STOWI_NEW(allocator, stow_exec);
  STOW_TRY(stowi_need_memory(exec != NULL, diag));
  exec->allocator = allocator;
  exec->prepared = prepared;
  exec->program = &prepared->program;
  exec->graph = exec->program->graph;
  exec->plan = plan;
  exec->options = full;
  stow_status status = create_all(exec, formula, diag);
  if (status != STOW_OK) {
    stow_exec_destroy(exec);
    return status;
  }
  *out_exec = exec;
  return STOW_OK;
}

stow_status stow_exec_create(const stow_prepared* prepared, const stow_plan* plan,
                             const stow_exec_options* options, stow_allocator allocator,
                             stow_diag* diag, stow_exec** out_exec) {
  return create(prepared, plan, NULL, options, allocator, diag, out_exec);
}

stow_status stow_exec_create_range(const stow_prepared* prepared, const stow_formula* formula,
                                   const stow_exec_options* options, stow_allocator allocator,
                                   stow_diag* diag, stow_exec** out_exec) {
  return create(prepared, NULL, formula, options, allocator, diag, out_exec);
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
    allocator.reallocate(allocator.user, exec->memory, exec->memory_size, 0,
                         exec->memory_alignment);
  }
  if (exec->weights != NULL) {
    allocator.reallocate(allocator.user, exec->weights, exec->weights_size, 0,
                         STOWI_EXEC_WEIGHT_ALIGNMENT);
  }
  stowi_exec_carry_free(exec);
  stowi_exec_inference_free(exec);
  STOWI_ARRAY_FREE(allocator, exec->loops, exec->region_count);
  STOWI_ARRAY_FREE(allocator, exec->places, exec->program->value_count);
  stowi_exec_frame_free(&exec->frame);
  stowi_exec_code_free(&exec->code);
  stowi_exec_range_destroy(exec);
  STOWI_DELETE(allocator, exec);
}
