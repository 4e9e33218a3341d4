// Weight layouts: the slots of a forward plan's params, by name, so that a plan for another graph
// can reuse them. Sorted by name once; a lookup is a binary search.
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/sort.h"
#include "plan/api.h"
#include "plan/plan_internal.h"

typedef struct weight_entry {
  stow_weight weight;  // the name points into |names|
  bool is_empty;
} weight_entry;

struct stow_weight_layout {
  stow_allocator allocator;
  size_t count;
  weight_entry* entries;  // by name
  char* names;            // each followed by a NUL
  size_t names_size;
  uint64_t size;
};

static bool is_weight(const stow_plan* plan, stow_value v) {
  return plan->values[v].kind == STOWI_PLAN_KIND_PARAM && stowi_plan_has_slot(plan, v);
}

static stow_status allocate_entries(stow_weight_layout* layout, const stow_plan* plan) {
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (is_weight(plan, v)) {
      layout->count += 1;
      layout->names_size += stowi_plan_value_name(plan, v).size + 1;
    }
  }
  layout->entries = STOWI_ARRAY_ZERO(layout->allocator, weight_entry, layout->count);
  layout->names = STOWI_ARRAY(layout->allocator, char, layout->names_size);
  bool is_complete = layout->entries != NULL && layout->names != NULL;
  return is_complete ? STOW_OK : STOW_ERR_OUT_OF_MEMORY;
}

// A tensor without elements may have a slot of |alignment| bytes.
static bool is_empty(const stow_graph* graph, const stow_plan* plan, stow_value v) {
  uint64_t bytes = 0;
  stow_status status = stow_type_bytes(stow_graph_type(graph, v), &bytes);
  return status == STOW_OK && bytes == 0 && plan->values[v].size == plan->facts.alignment;
}

static int compare_entries(const void* a, const void* b, const void* context) {
  (void)context;
  return stow_str_compare(((const weight_entry*)a)->weight.name,
                          ((const weight_entry*)b)->weight.name);
}

static stow_status fill_layout(stow_weight_layout* layout, const stow_graph* graph,
                               const stow_plan* plan) {
  STOW_TRY(allocate_entries(layout, plan));
  char* names_at = layout->names;
  weight_entry* entry = layout->entries;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (!is_weight(plan, v)) {
      continue;
    }
    const stowi_plan_value* value = &plan->values[v];
    stow_str name = stowi_plan_value_name(plan, v);
    memcpy(names_at, name.data, name.size + 1);
    entry->weight.name.data = names_at;
    entry->weight.name.size = name.size;
    entry->weight.value = v;
    entry->weight.offset = value->offset;
    entry->weight.size = value->size;
    entry->weight.guard = value->guard;
    entry->is_empty = is_empty(graph, plan, v);
    if (value->offset + value->size > layout->size) {
      layout->size = value->offset + value->size;
    }
    names_at += name.size + 1;
    ++entry;
  }
  return stowi_sort(layout->entries, layout->count, sizeof(*layout->entries), compare_entries, NULL,
                    layout->allocator);
}

stow_status stow_weight_layout_create(const stow_graph* graph, const stow_plan* plan,
                                      stow_allocator allocator, stow_diag* diag,
                                      stow_weight_layout** out_layout) {
  *out_layout = NULL;
  STOW_TRY(stowi_plan_require(plan, graph, diag));
  stow_weight_layout* layout = STOWI_NEW(allocator, stow_weight_layout);
  STOW_TRY(stowi_need_memory(layout != NULL, diag));
  layout->allocator = allocator;
  if (fill_layout(layout, graph, plan) != STOW_OK) {
    stow_weight_layout_destroy(layout);
    return stowi_fail_memory(diag);
  }
  *out_layout = layout;
  return STOW_OK;
}

void stow_weight_layout_destroy(stow_weight_layout* layout) {
  if (layout == NULL) {
    return;
  }
  stow_allocator allocator = layout->allocator;
  STOWI_ARRAY_FREE(allocator, layout->entries, layout->count);
  STOWI_ARRAY_FREE(allocator, layout->names, layout->names_size);
  STOWI_DELETE(allocator, layout);
}

size_t stow_weight_layout_count(const stow_weight_layout* layout) { return layout->count; }

stow_status stow_weight_layout_describe(const stow_weight_layout* layout, size_t index,
                                        stow_weight* out_weight) {
  return index >= layout->count ? STOW_ERR_NOT_FOUND
                                : stowi_fill_struct(out_weight, &layout->entries[index].weight,
                                                    sizeof(*out_weight), "stow_weight", NULL);
}

size_t stowi_plan_weight_layout_index(const stow_weight_layout* layout, stow_str name) {
  size_t low = 0;
  size_t high = layout->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = stow_str_compare(layout->entries[middle].weight.name, name);
    if (order == 0) {
      return middle;
    }
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return STOWI_PLAN_WEIGHT_NONE;
}

bool stowi_plan_weight_layout_find(const stow_weight_layout* layout, stow_str name,
                                   stow_weight* out_weight) {
  size_t index =
      layout == NULL ? STOWI_PLAN_WEIGHT_NONE : stowi_plan_weight_layout_index(layout, name);
  if (index == STOWI_PLAN_WEIGHT_NONE) {
    *out_weight = (stow_weight){.name = {"", 0}, .value = STOW_VALUE_NONE};
    return false;
  }
  *out_weight = layout->entries[index].weight;
  return true;
}

bool stowi_plan_weight_is_empty(const stow_weight_layout* layout, size_t index) {
  return layout->entries[index].is_empty;
}

uint64_t stowi_plan_weight_layout_size(const stow_weight_layout* layout) { return layout->size; }
