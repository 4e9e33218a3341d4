// A plan for other sizes: who lies below whom stays, and each buffer lies as low as those below it
// allow. Whatever the sizes are, buffers that are live together do not overlap. What is below is
// decided by the plan that was made: its quality is that of a plan for similar sizes. Formula plans
// do the same for large graphs (formulas/walk.c); this is for functions of a few nodes, and a
// buffer occupies all of itself as long as it lives, without windows. O(buffers squared).
#include "base/alloc.h"
#include "base/diag.h"
#include "base/sort.h"
#include "graph/api.h"
#include "plan/api.h"
#include "plan/make/make.h"

// A buffer: a root, or a piece of scratch.
typedef struct item {
  uint64_t key;  // offsets at first, then where it is among all
  uint32_t id;   // a value, or index of scratch
  uint32_t begin;
  uint32_t end;
  bool is_scratch;
  uint64_t low;  // at the present sizes
  uint64_t high;
} item;

struct stowi_plan_resizer {
  stow_allocator allocator;
  stow_plan* plan;
  const stow_graph* graph;
  const stow_effects* effects;
  size_t count;
  item* items;      // from the bottom up
  uint64_t* sizes;  // by value, of roots
  stow_value*
      from;  // by value: in whose bytes it is, as a view or in place; itself if it is a root
  stowi_plan_gaps gaps;
};

static void add_items(stowi_plan_resizer* r) {
  const stow_plan* plan = r->plan;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    const stowi_plan_value* value = &plan->values[v];
    if (!stowi_plan_is_view(plan, v) && stowi_plan_has_slot(plan, v)) {
      r->items[r->count++] = (item){value->offset, v, value->begin, value->end, false, 0, 0};
    }
  }
  for (uint32_t i = 0; i < plan->scratch_count; ++i) {
    const stowi_plan_scratch* scratch = &plan->scratch[i];
    // What has no bytes yet goes on top.
    uint64_t key = scratch->need == 0 ? UINT64_MAX : scratch->offset;
    r->items[r->count++] = (item){key, i, scratch->step, scratch->step + 1, true, 0, 0};
  }
}

// The operand in whose bytes |value| is; NONE: its offset follows from none.
static stow_value source_of(const stow_plan* plan, const stow_graph* graph, stow_value value) {
  stow_node node = stow_graph_producer(graph, value);
  const stow_value* operands = stow_graph_operands(graph, node);
  const stowi_plan_value* own = &plan->values[value];
  stow_view view;
  if (!stowi_plan_is_view(plan, value) || !stowi_plan_has_slot(plan, value)) {
    return value;
  }
  if (stow_graph_view(graph, node, value - stow_graph_first_result(graph, node), &view)) {
    return operands[view.operand];
  }
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    const stowi_plan_value* other =
        operands[k] == STOW_VALUE_NONE ? NULL : &plan->values[operands[k]];
    if (other != NULL && other->root == own->root && other->offset == own->offset) {
      return operands[k];
    }
  }
  return STOW_VALUE_NONE;
}

static bool find_sources(stowi_plan_resizer* r) {
  bool has_all = r->plan->reserved_count == 0;
  for (stow_value v = 0; has_all && v < r->plan->value_count; ++v) {
    r->from[v] = source_of(r->plan, r->graph, v);
    has_all = r->plan->values[v].guard == 0 && r->from[v] != STOW_VALUE_NONE;
  }
  return has_all;
}

void stowi_plan_resizer_destroy(stowi_plan_resizer* resizer) {
  if (resizer != NULL) {
    stow_allocator allocator = resizer->allocator;
    const stow_plan* plan = resizer->plan;
    STOWI_ARRAY_FREE(allocator, resizer->items, plan->value_count + plan->scratch_count);
    STOWI_ARRAY_FREE(allocator, resizer->sizes, plan->value_count);
    STOWI_ARRAY_FREE(allocator, resizer->from, plan->value_count);
    stowi_plan_gaps_free(&resizer->gaps, allocator);
    STOWI_DELETE(allocator, resizer);
  }
}

stow_status stowi_plan_resizer_create(stow_plan* plan, const stow_graph* graph,
                                      const stow_effects* effects, stow_allocator allocator,
                                      stow_diag* diag, stowi_plan_resizer** out_resizer) {
  *out_resizer = NULL;
  stowi_plan_resizer* resizer = STOWI_NEW(allocator, stowi_plan_resizer);
  STOW_TRY(stowi_need_memory(resizer != NULL, diag));
  plan->window_count = 0;
  *resizer = (stowi_plan_resizer){
      .allocator = allocator, .plan = plan, .graph = graph, .effects = effects};
  resizer->items = STOWI_ARRAY(allocator, item, plan->value_count + plan->scratch_count);
  resizer->sizes = STOWI_ARRAY(allocator, uint64_t, plan->value_count);
  resizer->from = STOWI_ARRAY(allocator, stow_value, plan->value_count);
  stow_status status = STOW_ERR_OUT_OF_MEMORY;
  if (resizer->items != NULL && resizer->sizes != NULL && resizer->from != NULL) {
    add_items(resizer);
    status = stowi_sort_by_key(resizer->items, resizer->count, sizeof(item), allocator);
  }
  if (status == STOW_OK && !find_sources(resizer)) {
    status = stowi_fail(diag, STOW_ERR_UNSUPPORTED,
                        "a plan with guards, or with operands of concat in its result, cannot be "
                        "resized");
  }
  if (status != STOW_OK) {
    stowi_plan_resizer_destroy(resizer);
    return status == STOW_ERR_OUT_OF_MEMORY ? stowi_fail_memory(diag) : status;
  }
  *out_resizer = resizer;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

static stow_status measure(stowi_plan_resizer* r, stow_diag* diag) {
  stow_plan* plan = r->plan;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    r->sizes[v] = 0;
  }
  for (stow_value v = 0; v < plan->value_count; ++v) {
    uint64_t bytes;
    if (stow_type_bytes(stow_graph_type(r->graph, v), &bytes) != STOW_OK || bytes > INT64_MAX) {
      return stowi_fail(diag, STOW_ERR_OVERFLOW, "%%%u is too large", (unsigned)v);
    }
    uint64_t* size = &r->sizes[plan->values[v].root];
    plan->values[v].size = stowi_plan_has_slot(plan, v) ? bytes : 0;
    *size = bytes > *size ? bytes : *size;
  }
  for (size_t i = 0; i < plan->scratch_count; ++i) {
    plan->scratch[i].size = plan->scratch[i].need = stowi_effects_scratch(r->effects, i).bytes;
  }
  return STOW_OK;
}

// How far into the bytes of its operand a view begins; 0: it is in place.
static uint64_t distance_of(const stow_graph* graph, stow_value value) {
  stow_node node = stow_graph_producer(graph, value);
  stow_view view;
  bool is_view = stow_graph_view(graph, node, value - stow_graph_first_result(graph, node), &view);
  uint64_t bits = stow_dtype_bits(stow_graph_type(graph, value)->dtype);
  return is_view ? view.element_offset * bits / 8 : 0;
}

static bool lift(item* above, const item* below, uint64_t alignment) {
  bool is_together = below->begin < above->end && above->begin < below->end;
  uint64_t end = (below->high + (alignment - 1)) & ~(alignment - 1);
  if (is_together && below->high > below->low && end > above->low) {
    above->low = end;
  }
  return end >= below->high;
}

static bool place(stowi_plan_resizer* r, size_t at) {
  stow_plan* plan = r->plan;
  item* own = &r->items[at];
  stowi_plan_scratch* scratch = own->is_scratch ? &plan->scratch[own->id] : NULL;
  uint64_t size = own->is_scratch ? scratch->size : r->sizes[own->id];
  uint64_t alignment =
      own->is_scratch ? scratch->alignment : UINT64_C(1) << plan->values[own->id].alignment_log2;
  bool fits = size <= INT64_MAX / 2;
  own->low = 0;
  for (size_t i = 0; i < at && size != 0 && fits; ++i) {
    fits = lift(own, &r->items[i], alignment);
  }
  own->high = own->low + size;
  *(own->is_scratch ? &scratch->offset : &plan->values[own->id].offset) = own->low;
  return fits && own->high <= INT64_MAX / 2;
}

stow_status stowi_plan_resize(stowi_plan_resizer* resizer, stow_diag* diag) {
  stow_plan* plan = resizer->plan;
  uint64_t height = 0;
  STOW_TRY(measure(resizer, diag));
  for (size_t i = 0; i < resizer->count; ++i) {
    if (!place(resizer, i)) {
      return stowi_fail(diag, STOW_ERR_OVERFLOW, "%s", stow_status_text(STOW_ERR_OVERFLOW));
    }
    height = resizer->items[i].high > height ? resizer->items[i].high : height;
  }
  for (stow_value v = 0; v < plan->value_count; ++v) {
    stow_value from = resizer->from[v];
    if (from != v) {
      plan->values[v].offset = plan->values[from].offset + distance_of(resizer->graph, v);
    }
  }
  plan->arena_size = height;
  return stowi_plan_enlarge_scratch_in(plan, resizer->effects, height, &resizer->gaps,
                                       resizer->allocator, diag);
}
