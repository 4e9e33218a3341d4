// Which values get a slot, its size, its guard and its alignment. One pass over the roots, one over
// the views: a view takes its place from its root, but may demand a stricter alignment of it.
// Linear.
#include "base/diag.h"
#include "plan/make/make.h"

// ---------------------------------------------------------------------------------------------
// Roots

// Only for boundary values and outputs; no other has a policy.
static bool is_external(const stowi_plan_maker* maker, stow_value v) {
  stow_io_policy io = stowi_effects_io(maker->effects, v);
  return (io == STOW_IO_DEFAULT ? maker->options.io : io) == STOW_IO_EXTERNAL;
}

static bool options_allow(const stow_plan_options* options, uint8_t kind) {
  switch (kind) {
    case STOWI_PLAN_KIND_INPUT: return options->inputs;
    case STOWI_PLAN_KIND_PARAM: return options->params || options->layout != NULL;
    case STOWI_PLAN_KIND_CONSTANT: return options->constants;
    default: return true;
  }
}

static void size_root(stowi_plan_maker* maker, stow_value v) {
  const stow_plan_options* options = &maker->options;
  stowi_plan_value* value = &maker->plan->values[v];
  bool is_boundary = value->kind != STOWI_PLAN_KIND_COMPUTED;
  uint64_t bytes = stowi_analysis_views_bytes(maker->views, v);
  if (bytes == 0 && is_boundary && options->zero_size_slots) {
    bytes = options->alignment;
  }
  if (bytes == 0) {
    return;
  }
  value->offset = 0;
  value->size = bytes;
  if (is_boundary && options->tail_guard > 0) {
    value->guard =
        options->tail_guard > options->alignment ? options->tail_guard : options->alignment;
  }
}

static void describe_root(stowi_plan_maker* maker, stow_value v) {
  stowi_plan_value* value = &maker->plan->values[v];
  uint64_t alignment = stowi_effects_alignment(maker->effects, v);
  if (alignment < maker->options.alignment) {
    alignment = maker->options.alignment;
  }
  value->alignment_log2 = stowi_plan_log2(alignment);
  bool is_boundary = value->kind != STOWI_PLAN_KIND_COMPUTED;
  if (options_allow(&maker->options, value->kind) && !(is_boundary && is_external(maker, v))) {
    size_root(maker, v);
  }
}

// ---------------------------------------------------------------------------------------------
// Views

// A view is inside its root at a multiple of its own alignment by construction.
static void describe_view(stowi_plan_maker* maker, stow_value v) {
  stowi_plan_value* value = &maker->plan->values[v];
  stowi_plan_value* root = &maker->plan->values[value->root];
  if (root->offset == STOW_OFFSET_NONE) {
    return;
  }
  value->offset = 0;
  value->size = stowi_analysis_views_bytes(maker->views, v);
  value->rows = stowi_analysis_views_rows(maker->views, v);
  value->pitch = stowi_analysis_views_pitch(maker->views, v);
  uint64_t alignment = stowi_effects_alignment(maker->effects, v);
  if (alignment > UINT64_C(1) << root->alignment_log2) {
    root->alignment_log2 = stowi_plan_log2(alignment);
  }
}

// ---------------------------------------------------------------------------------------------

static void describe_roots(stowi_plan_maker* maker) {
  for (stow_value v = 0; v < maker->plan->value_count; ++v) {
    stowi_plan_value* value = &maker->plan->values[v];
    value->root = stowi_analysis_views_root(maker->views, v);
    value->begin = stowi_analysis_lifetimes_begin(maker->lifetimes, v);
    value->end = stowi_analysis_lifetimes_end(maker->lifetimes, v);
    value->own_begin = stowi_analysis_lifetimes_own_begin(maker->lifetimes, v);
    value->own_end = stowi_analysis_lifetimes_own_end(maker->lifetimes, v);
    maker->fixed[v] = stowi_effects_offset(maker->effects, v);
    if (value->root == v) {
      describe_root(maker, v);
    }
  }
}

// Outputs that are bound from outside are removed only now: the graph lists outputs, but a value
// does not record whether it is one.
static void drop_external_outputs(stowi_plan_maker* maker) {
  for (size_t i = 0; i < maker->plan->output_count; ++i) {
    stow_value v = maker->plan->outputs[i];
    stowi_plan_value* value = &maker->plan->values[v];
    if (value->root == v && is_external(maker, v)) {
      value->offset = STOW_OFFSET_NONE;
      value->size = 0;
      value->guard = 0;
    }
  }
}

static stow_status describe_scratch(stowi_plan_maker* maker) {
  size_t count = stowi_effects_scratch_count(maker->effects);
  STOW_TRY(stowi_plan_set_scratch_count(maker->plan, count, maker->diag));
  for (size_t i = 0; i < count; ++i) {
    stowi_effects_scratch_entry wanted = stowi_effects_scratch(maker->effects, i);
    stowi_plan_scratch* scratch = &maker->plan->scratch[i];
    scratch->node = wanted.node;
    scratch->index = i > 0 && scratch[-1].node == wanted.node ? scratch[-1].index + 1 : 0;
    scratch->step = stow_schedule_step(maker->schedule, wanted.node);
    scratch->size = scratch->need = wanted.bytes;
    scratch->alignment =
        wanted.alignment > maker->options.alignment ? wanted.alignment : maker->options.alignment;
  }
  return STOW_OK;
}

stow_status stowi_plan_make_slots(stowi_plan_maker* maker) {
  describe_roots(maker);
  drop_external_outputs(maker);
  STOW_TRY(stowi_plan_make_shared(maker));
  for (stow_value v = 0; v < maker->plan->value_count; ++v) {
    if (stowi_plan_is_view(maker->plan, v)) {
      describe_view(maker, v);
    }
  }
  return describe_scratch(maker);
}
