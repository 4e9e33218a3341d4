// Creating, destroying and querying plans. A plan is a handful of flat arrays indexed by value id:
// 40 bytes per value plus its name, and a node id per step, so that a million values take about 60
// MB and the graph need not be kept.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "plan/api.h"
#include "plan/plan_internal.h"

static const char* const kind_texts[] = {
#define KIND_TEXT(name, text) text,
    STOWI_PLAN_KIND_LIST(KIND_TEXT)
#undef KIND_TEXT
};

static const char* const params_texts[] = {
#define PARAMS_TEXT(name, text) text,
    STOWI_PLAN_PARAMS_LIST(PARAMS_TEXT)
#undef PARAMS_TEXT
};

const char* stowi_plan_kind_text(stowi_plan_kind kind) { return kind_texts[kind]; }

const char* stowi_plan_params_text(stowi_plan_params params) { return params_texts[params]; }

const char* stowi_plan_pack_text(uint32_t pack) {
  static const char* const names[] = {"never", "auto", "always"};
  return names[pack < 3 ? pack : 0];
}

const char* stowi_plan_io_text(stow_io_policy io) {
  return io == STOW_IO_CONSUME ? "consume" : io == STOW_IO_EXTERNAL ? "external" : "keep";
}

stowi_plan_value_text stowi_plan_name_value(stow_value value, stow_str name) {
  stowi_plan_value_text label;
  if (name.size == 0) {
    snprintf(label.text, sizeof(label.text), "%%%" PRIu32, value);
  } else {
    snprintf(label.text, sizeof(label.text), "%%%" PRIu32 " \"%.*s\"", value, STOWI_STR_ARG(name));
  }
  return label;
}

// ---------------------------------------------------------------------------------------------
// Creation

static stowi_plan_kind kind_of(const stow_graph* graph, stow_value value) {
  switch (stow_graph_op(graph, stow_graph_producer(graph, value))) {
    case STOW_OP_INPUT: return STOWI_PLAN_KIND_INPUT;
    case STOW_OP_PARAM: return STOWI_PLAN_KIND_PARAM;
    case STOW_OP_CONSTANT: return STOWI_PLAN_KIND_CONSTANT;
    default: return STOWI_PLAN_KIND_COMPUTED;
  }
}

static stow_str name_to_keep(const stow_graph* graph, stow_str strategy, uint32_t index) {
  uint32_t value_count = stow_graph_value_count(graph);
  if (index < value_count) {
    return stow_graph_value_name(graph, index);
  }
  return index == value_count ? stow_graph_name(graph) : strategy;
}

static stow_status copy_names(stow_plan* plan, const stow_graph* graph, stow_str strategy) {
  size_t count = (size_t)plan->value_count + 2;
  plan->name_at = STOWI_ARRAY(plan->allocator, size_t, count + 1);
  if (plan->name_at == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  size_t size = 0;
  for (size_t i = 0; i < count; ++i) {
    plan->name_at[i] = size;
    size += name_to_keep(graph, strategy, (uint32_t)i).size + 1;
  }
  plan->name_at[count] = size;
  plan->names = STOWI_ARRAY(plan->allocator, char, size);
  if (plan->names == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < count; ++i) {
    stow_str name = name_to_keep(graph, strategy, (uint32_t)i);
    char* at = plan->names + plan->name_at[i];
    if (name.size != 0) {
      memcpy(at, name.data, name.size);
    }
    at[name.size] = '\0';
  }
  return STOW_OK;
}

static stow_status copy_values(stow_plan* plan, const stow_graph* graph) {
  plan->values = STOWI_ARRAY_ZERO(plan->allocator, stowi_plan_value, plan->value_count);
  if (plan->values == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (stow_value v = 0; v < plan->value_count; ++v) {
    stowi_plan_value* value = &plan->values[v];
    value->offset = STOW_OFFSET_NONE;
    value->root = v;
    value->end = 1;
    value->rows = 1;
    value->dtype = (uint8_t)stow_graph_type(graph, v)->dtype;
    value->kind = (uint8_t)kind_of(graph, v);
  }
  return STOW_OK;
}

static stow_status copy_lists(stow_plan* plan, const stow_graph* graph) {
  plan->order = STOWI_ARRAY(plan->allocator, stow_node, plan->step_count);
  plan->outputs = STOWI_ARRAY(plan->allocator, stow_value, plan->output_count);
  if (plan->order == NULL || plan->outputs == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (stow_node i = 0; i < plan->step_count; ++i) {
    plan->order[i] = i;
  }
  for (size_t i = 0; i < plan->output_count; ++i) {
    plan->outputs[i] = stow_graph_outputs(graph)[i];
  }
  return STOW_OK;
}

static stow_status copy_graph(stow_plan* plan, const stow_graph* graph, stow_str strategy) {
  STOW_TRY(copy_names(plan, graph, strategy));
  STOW_TRY(copy_values(plan, graph));
  return copy_lists(plan, graph);
}

stow_status stowi_plan_create(const stow_graph* graph, stow_str strategy, stow_allocator allocator,
                              stow_diag* diag, stow_plan** out_plan) {
  *out_plan = NULL;
  stow_plan* plan = STOWI_NEW(allocator, stow_plan);
  STOW_TRY(stowi_need_memory(plan != NULL, diag));
  plan->allocator = allocator;
  plan->fingerprint = stow_graph_fingerprint(graph);
  plan->value_count = stow_graph_value_count(graph);
  plan->step_count = stow_graph_node_count(graph);
  plan->output_count = stow_graph_output_count(graph);
  plan->ordering.critical = STOW_NODE_NONE;
  if (copy_graph(plan, graph, strategy) != STOW_OK) {
    stow_plan_destroy(plan);
    return stowi_fail_memory(diag);
  }
  *out_plan = plan;
  return STOW_OK;
}

stow_status stowi_plan_set_scratch_count(stow_plan* plan, size_t count, stow_diag* diag) {
  plan->scratch = STOWI_ARRAY_ZERO(plan->allocator, stowi_plan_scratch, count);
  STOW_TRY(stowi_need_memory(plan->scratch != NULL, diag));
  plan->scratch_count = count;
  return STOW_OK;
}

stow_status stowi_plan_set_reserved_count(stow_plan* plan, size_t count, stow_diag* diag) {
  plan->reserved = STOWI_ARRAY_ZERO(plan->allocator, stowi_plan_span, count);
  STOW_TRY(stowi_need_memory(plan->reserved != NULL, diag));
  plan->reserved_count = count;
  return STOW_OK;
}

void stow_plan_destroy(stow_plan* plan) {
  if (plan == NULL) {
    return;
  }
  stow_allocator allocator = plan->allocator;
  if (plan->names != NULL) {
    STOWI_ARRAY_FREE(allocator, plan->names, plan->name_at[(size_t)plan->value_count + 2]);
  }
  STOWI_ARRAY_FREE(allocator, plan->name_at, (size_t)plan->value_count + 3);
  STOWI_ARRAY_FREE(allocator, plan->values, plan->value_count);
  STOWI_ARRAY_FREE(allocator, plan->order, plan->step_count);
  STOWI_ARRAY_FREE(allocator, plan->outputs, plan->output_count);
  STOWI_ARRAY_FREE(allocator, plan->scratch, plan->scratch_count);
  STOWI_ARRAY_FREE(allocator, plan->reserved, plan->reserved_count);
  STOWI_ARRAY_FREE(allocator, plan->windows, plan->window_capacity);
  STOWI_ARRAY_FREE(allocator, plan->decisions, plan->decision_count);
  stowi_plan_free_hints(plan);
  STOWI_ARRAY_FREE(allocator, plan->rows, plan->row_count);
  STOWI_ARRAY_FREE(allocator, plan->peak, plan->peak_count);
  STOWI_DELETE(allocator, plan);
}

// ---------------------------------------------------------------------------------------------
// Getters

uint32_t stowi_plan_pool_count(const stow_plan* plan) {
  (void)plan;
  return 1;
}

uint64_t stow_plan_arena_size(const stow_plan* plan) { return plan->arena_size; }

uint64_t stowi_plan_alignment(const stow_plan* plan) { return plan->arena_alignment; }

uint32_t stow_plan_value_count(const stow_plan* plan) { return plan->value_count; }

bool stow_plan_value_slot(const stow_plan* plan, stow_value value, stow_slot* out_slot) {
  bool has_slot = value < plan->value_count && stowi_plan_has_slot(plan, value);
  out_slot->offset = has_slot ? plan->values[value].offset : 0;
  out_slot->size = has_slot ? plan->values[value].size : 0;
  out_slot->pool = 0;
  return has_slot;
}

stow_value stow_plan_root(const stow_plan* plan, stow_value value) {
  return value < plan->value_count ? plan->values[value].root : STOW_VALUE_NONE;
}

uint64_t stowi_plan_guard(const stow_plan* plan, stow_value value) {
  return value < plan->value_count ? plan->values[value].guard : 0;
}

uint64_t stowi_plan_rows(const stow_plan* plan, stow_value value, uint64_t* out_pitch) {
  bool is_there = value < plan->value_count;
  *out_pitch = is_there ? plan->values[value].pitch : 0;
  return is_there ? plan->values[value].rows : 1;
}

bool stowi_plan_is_pitched(const stow_plan* plan) {
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (plan->values[v].rows > 1) {
      return true;
    }
  }
  return false;
}

// A root is placed at a multiple of its alignment; a view's alignment follows from its offset in
// the root, and from the distance of its rows.
uint64_t stowi_plan_value_alignment(const stow_plan* plan, stow_value value) {
  if (value >= plan->value_count) {
    return 1;
  }
  const stowi_plan_value* root = &plan->values[plan->values[value].root];
  uint64_t alignment = UINT64_C(1) << root->alignment_log2;
  if (!stowi_plan_is_view(plan, value)) {
    return alignment;
  }
  if (!stowi_plan_has_slot(plan, value)) {
    return 1;
  }
  uint64_t distance = (plan->values[value].offset - root->offset) | plan->values[value].pitch;
  uint64_t lowest_bit = distance & (~distance + 1);
  return distance == 0 || alignment < lowest_bit ? alignment : lowest_bit;
}

uint32_t stowi_plan_begin(const stow_plan* plan, stow_value value) {
  return value < plan->value_count ? plan->values[value].begin : 0;
}

uint32_t stowi_plan_end(const stow_plan* plan, stow_value value) {
  return value < plan->value_count ? plan->values[value].end : 0;
}

stow_dtype stowi_plan_dtype(const stow_plan* plan, stow_value value) {
  return value < plan->value_count ? (stow_dtype)plan->values[value].dtype : STOW_DTYPE_COUNT;
}

static stow_str name_at(const stow_plan* plan, size_t index) {
  stow_str name = {plan->names + plan->name_at[index],
                   plan->name_at[index + 1] - plan->name_at[index] - 1};
  return name;
}

stow_str stowi_plan_value_name(const stow_plan* plan, stow_value value) {
  return value < plan->value_count ? name_at(plan, value) : stow_str_of("");
}

stow_str stowi_plan_graph_name(const stow_plan* plan) { return name_at(plan, plan->value_count); }

stow_str stowi_plan_strategy_name(const stow_plan* plan) {
  return name_at(plan, (size_t)plan->value_count + 1);
}

uint32_t stow_plan_step_count(const stow_plan* plan) { return plan->step_count; }

const stow_node* stow_plan_order(const stow_plan* plan) { return plan->order; }

size_t stow_plan_scratch_count(const stow_plan* plan) { return plan->scratch_count; }

void stow_plan_scratch_slot(const stow_plan* plan, size_t index, stow_node* out_node,
                            stow_slot* out_slot, uint64_t* out_alignment) {
  static const stowi_plan_scratch none = {.node = STOW_NODE_NONE};
  const stowi_plan_scratch* scratch = index < plan->scratch_count ? &plan->scratch[index] : &none;
  *out_node = scratch->node;
  *out_slot = (stow_slot){scratch->offset, scratch->size, 0};
  *out_alignment = scratch->alignment;
}

size_t stow_plan_reserved_count(const stow_plan* plan) { return plan->reserved_count; }

stow_slot stow_plan_reserved_slot(const stow_plan* plan, size_t index) {
  stow_slot slot = {0, 0, 0};
  if (index < plan->reserved_count) {
    slot.offset = plan->reserved[index].offset;
    slot.size = plan->reserved[index].end - plan->reserved[index].offset;
  }
  return slot;
}

uint64_t stowi_plan_fingerprint(const stow_plan* plan) { return plan->fingerprint; }

stow_status stowi_plan_require(const stow_plan* plan, const stow_graph* graph, stow_diag* diag) {
  uint64_t fingerprint = stow_graph_fingerprint(graph);
  if (fingerprint == plan->fingerprint) {
    return STOW_OK;
  }
  stow_str made_for = stowi_plan_graph_name(plan);
  stow_str given = stow_graph_name(graph);
  return stowi_fail(diag, STOW_ERR_STALE_PLAN,
                    "the plan was made for graph \"%.*s\" with fingerprint %016" PRIx64
                    ", but graph \"%.*s\" has %016" PRIx64,
                    STOWI_STR_ARG(made_for), plan->fingerprint, STOWI_STR_ARG(given), fingerprint);
}

uint64_t stowi_plan_total_unshared(const stow_plan* plan) { return plan->total_unshared; }

uint64_t stowi_plan_saved(const stow_plan* plan) {
  return plan->total_unshared > plan->arena_size ? plan->total_unshared - plan->arena_size : 0;
}

uint64_t stow_plan_lower_bound(const stow_plan* plan) { return plan->lower_bound; }

uint32_t stowi_plan_peak_step(const stow_plan* plan) { return plan->peak_step; }

size_t stowi_plan_peak_count(const stow_plan* plan) { return plan->peak_count; }

stow_value stow_plan_peak_value(const stow_plan* plan, size_t index) {
  return index < plan->peak_count ? plan->peak[index] : STOW_VALUE_NONE;
}

uint64_t stow_plan_scratch_need(const stow_plan* plan, size_t index) {
  return index < plan->scratch_count ? plan->scratch[index].need : 0;
}

uint64_t stowi_plan_peak_scratch(const stow_plan* plan) { return plan->peak_scratch; }

bool stowi_plan_reuse(const stow_plan* plan) { return plan->facts.reuse; }

stow_status stow_plan_describe_fit(const stow_plan* plan, stow_fit* out_fit) {
  return stowi_fill_struct(out_fit, &plan->fit, sizeof(plan->fit), "stow_fit", NULL);
}

stow_status stow_plan_describe_search(const stow_plan* plan, stow_search* out_search) {
  return stowi_fill_struct(out_search, &plan->search, sizeof(plan->search), "stow_search", NULL);
}

stow_status stow_plan_describe_ordering(const stow_plan* plan, stow_ordering* out_ordering) {
  return stowi_fill_struct(out_ordering, &plan->ordering, sizeof(plan->ordering), "stow_ordering",
                           NULL);
}

stow_status stow_plan_describe(const stow_plan* plan, stow_plan_info* out_info) {
  stow_plan_info info = {.graph_name = stowi_plan_graph_name(plan),
                         .fingerprint = stowi_plan_fingerprint(plan),
                         .strategy_name = stowi_plan_strategy_name(plan),
                         .reuse = stowi_plan_reuse(plan),
                         .arena_size = stow_plan_arena_size(plan),
                         .alignment = stowi_plan_alignment(plan),
                         .lower_bound = stow_plan_lower_bound(plan),
                         .total_unshared = stowi_plan_total_unshared(plan),
                         .saved = stowi_plan_saved(plan),
                         .pool_count = stowi_plan_pool_count(plan),
                         .value_count = stow_plan_value_count(plan),
                         .step_count = stow_plan_step_count(plan),
                         .peak_step = stowi_plan_peak_step(plan),
                         .peak_count = stowi_plan_peak_count(plan),
                         .peak_scratch = stowi_plan_peak_scratch(plan),
                         .threads = plan->facts.kernels.threads,
                         .fastest = plan->facts.kernels.fastest,
                         .pack = plan->facts.kernels.pack,
                         .packed_bytes = plan->facts.kernels.packed_bytes,
                         .rewrite = stow_str_of(plan->facts.rewrite),
                         .least_row = stowi_plan_is_pitched(plan) ? plan->facts.least_row : 0};
  return stowi_fill_struct(out_info, &info, sizeof(info), "stow_plan_info", NULL);
}

stow_status stow_plan_describe_value(const stow_plan* plan, stow_value value,
                                     stow_plan_value* out_value) {
  stow_plan_value one = {.name = stowi_plan_value_name(plan, value),
                         .dtype = stowi_plan_dtype(plan, value),
                         .begin = stowi_plan_begin(plan, value),
                         .end = stowi_plan_end(plan, value),
                         .alignment = stowi_plan_value_alignment(plan, value),
                         .guard = stowi_plan_guard(plan, value)};
  one.rows = stowi_plan_rows(plan, value, &one.pitch);
  STOW_TRY(stowi_fill_struct(out_value, &one, sizeof(one), "stow_plan_value", NULL));
  return value < stow_plan_value_count(plan) ? STOW_OK : STOW_ERR_NOT_FOUND;
}

stow_status stow_plan_write(const stow_plan* plan, stow_plan_format format, stow_writer writer) {
  switch (format) {
    case STOW_PLAN_SAVED: return stowi_plan_write_saved(plan, writer);
    case STOW_PLAN_REPORT: return stowi_plan_write_report(plan, writer);
    case STOW_PLAN_JSON: return stowi_plan_write_json(plan, writer);
    case STOW_PLAN_CSV: return stowi_plan_write_csv(plan, writer);
  }
  return STOW_ERR_INVALID_ARGUMENT;
}
