// Everything that follows from a plan's slots and lifetimes: the rows of the report in their order,
// totals, what is live at the peak, and whether the plan fits. Derived once when a plan is made or
// read, so that queries and writing never allocate. O(n log n) for the one sort; the rest is linear
// except for sorting what is live at a single step.
#include "base/alloc.h"
#include "base/checked.h"
#include "base/diag.h"
#include "base/sort.h"
#include "plan/plan_internal.h"

static int compare_u64(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

// ---------------------------------------------------------------------------------------------
// Rows and totals

static int compare_rows(const void* a, const void* b, const void* context) {
  const stow_plan* plan = (const stow_plan*)context;
  stow_value i = *(const stow_value*)a;
  stow_value j = *(const stow_value*)b;
  int order = compare_u64(plan->values[i].offset, plan->values[j].offset);
  if (order == 0) {
    order = compare_u64(plan->values[i].size, plan->values[j].size);
  }
  return order == 0 ? compare_u64(i, j) : order;
}

static stow_status list_rows(stow_plan* plan) {
  size_t count = 0;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    count += stowi_plan_has_slot(plan, v);
  }
  plan->rows = STOWI_ARRAY(plan->allocator, stow_value, count);
  if (plan->rows == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  plan->row_count = count;
  size_t at = 0;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (stowi_plan_has_slot(plan, v)) {
      plan->rows[at++] = v;
    }
  }
  return stowi_sort(plan->rows, count, sizeof(*plan->rows), compare_rows, plan, plan->allocator);
}

static void sum_up(stow_plan* plan) {
  plan->arena_alignment = plan->facts.alignment;
  for (size_t i = 0; i < plan->row_count; ++i) {
    const stowi_plan_value* value = &plan->values[plan->rows[i]];
    uint64_t alignment = UINT64_C(1) << value->alignment_log2;
    if (alignment > plan->arena_alignment) {
      plan->arena_alignment = alignment;
    }
    if (!stowi_add_u64(plan->total_unshared, value->size, &plan->total_unshared)) {
      plan->total_unshared = UINT64_MAX;
    }
  }
  for (size_t i = 0; i < plan->scratch_count; ++i) {
    if (plan->scratch[i].alignment > plan->arena_alignment) {
      plan->arena_alignment = plan->scratch[i].alignment;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// The peak

static uint64_t occupied_bytes(const stow_plan* plan, stow_value v, uint32_t step) {
  uint64_t low;
  uint64_t high;
  stowi_plan_occupied(plan, v, step, &low, &high);
  return high - low;
}

static int compare_occupied(const void* a, const void* b, const void* context) {
  const stow_plan* plan = (const stow_plan*)context;
  stow_value i = *(const stow_value*)a;
  stow_value j = *(const stow_value*)b;
  int order = compare_u64(occupied_bytes(plan, j, plan->peak_step),
                          occupied_bytes(plan, i, plan->peak_step));
  return order == 0 ? compare_u64(i, j) : order;
}

static stow_status list_peak(stow_plan* plan) {
  size_t count = 0;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    count += occupied_bytes(plan, v, plan->peak_step) != 0;
  }
  plan->peak = STOWI_ARRAY(plan->allocator, stow_value, count);
  if (plan->peak == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  plan->peak_count = count;
  size_t at = 0;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (occupied_bytes(plan, v, plan->peak_step) != 0) {
      plan->peak[at++] = v;
    }
  }
  for (size_t i = 0; i < plan->scratch_count; ++i) {
    if (plan->scratch[i].step == plan->peak_step &&
        !stowi_add_u64(plan->peak_scratch, plan->scratch[i].need, &plan->peak_scratch)) {
      plan->peak_scratch = UINT64_MAX;
    }
  }
  return stowi_sort(plan->peak, count, sizeof(*plan->peak), compare_occupied, plan,
                    plan->allocator);
}

// ---------------------------------------------------------------------------------------------
// Does it fit?

// The load at every step, from the changes at births, deaths and windows. A plan that was read may
// claim anything; sums that wrap around then only lead to a poor choice.
static void sum_loads(const stow_plan* plan, uint64_t* loads) {
  for (stow_value v = 0; v < plan->value_count; ++v) {
    const stowi_plan_value* value = &plan->values[v];
    if (value->root == v && value->offset != STOW_OFFSET_NONE) {
      loads[value->begin] += value->size + value->guard;
      loads[value->end] -= value->size + value->guard;
    }
  }
  for (size_t i = 0; i < plan->window_count; ++i) {
    const stow_window* window = &plan->windows[i].window;
    uint64_t left_free = plan->values[plan->windows[i].root].size - (window->high - window->low);
    loads[window->begin] -= left_free;
    loads[window->end] += left_free;
  }
  for (size_t i = 0; i < plan->scratch_count; ++i) {
    loads[plan->scratch[i].step] += plan->scratch[i].need;
    loads[plan->scratch[i].step + 1] -= plan->scratch[i].need;
  }
  for (uint32_t step = 1; step <= plan->step_count; ++step) {
    loads[step] += loads[step - 1];
  }
}

// What exceeds the capacity where the load is highest: a value, otherwise a scratch, otherwise
// neither (then a reserved range does). What is stacked on top at a quiet step could be placed
// lower; what is there at the highest load could not.
typedef struct culprit {
  stow_value value;
  size_t scratch;
  uint32_t step;
  uint64_t bytes;
} culprit;

// Whether something found at |step| is to be named rather than what was found at step |than|.
static bool hurts_more(const uint64_t* loads, uint32_t step, uint32_t than) {
  return loads[step] != loads[than] ? loads[step] > loads[than] : step < than;
}

// The first step at which |root| occupies bytes above the capacity: its birth, unless windows keep
// it below until later. A plan that was read may keep it there for ever; then its birth, too.
static uint32_t first_step_above(const stow_plan* plan, stow_value root) {
  const stowi_plan_value* value = &plan->values[root];
  size_t count;
  const stowi_plan_window* windows = stowi_plan_windows_of(plan, root, &count);
  uint32_t step = value->begin;
  for (size_t i = 0; i < count; ++i) {
    const stow_window* window = &windows[i].window;
    bool is_above =
        window->high > window->low && value->offset + window->high > plan->facts.capacity;
    if (step < window->begin || is_above) {
      return step;
    }
    step = window->end;
  }
  return step < value->end ? step : value->begin;
}

static void blame_value(const stow_plan* plan, const uint64_t* loads, culprit* found) {
  for (stow_value v = 0; v < plan->value_count; ++v) {
    const stowi_plan_value* value = &plan->values[v];
    if (value->root != v || value->offset == STOW_OFFSET_NONE ||
        stowi_plan_footprint_end(value) <= plan->facts.capacity) {
      continue;
    }
    uint32_t step = first_step_above(plan, v);
    if (found->value == STOW_VALUE_NONE || hurts_more(loads, step, found->step)) {
      found->value = v;
      found->step = step;
      found->bytes = occupied_bytes(plan, v, step);
    }
  }
}

static culprit find_culprit(const stow_plan* plan, const uint64_t* loads) {
  culprit found = {STOW_VALUE_NONE, SIZE_MAX, 0, 0};
  blame_value(plan, loads, &found);
  if (found.value == STOW_VALUE_NONE) {
    for (size_t i = 0; i < plan->scratch_count; ++i) {
      const stowi_plan_scratch* scratch = &plan->scratch[i];
      if (scratch->offset + scratch->size > plan->facts.capacity &&
          (found.scratch == SIZE_MAX || hurts_more(loads, scratch->step, found.step))) {
        found.scratch = i;
        found.step = scratch->step;
        found.bytes = scratch->size;
      }
    }
  }
  return found;
}

// Fills |spans| with everything in the arena at the culprit's step except itself; with NULL only
// counts.
static size_t list_live(const stow_plan* plan, const culprit* without, stowi_plan_span* spans) {
  size_t count = 0;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    uint64_t low;
    uint64_t high;
    if (v != without->value && stowi_plan_occupied(plan, v, without->step, &low, &high)) {
      if (spans != NULL) {
        spans[count].offset = plan->values[v].offset + low;
        spans[count].end = plan->values[v].offset + high;
      }
      ++count;
    }
  }
  for (size_t i = 0; i < plan->scratch_count; ++i) {
    if (i != without->scratch && plan->scratch[i].step == without->step) {
      if (spans != NULL) {
        spans[count].offset = plan->scratch[i].offset;
        spans[count].end = plan->scratch[i].offset + plan->scratch[i].size;
      }
      ++count;
    }
  }
  for (size_t i = 0; i < plan->reserved_count; ++i) {
    if (spans != NULL) {
      spans[count] = plan->reserved[i];
    }
    ++count;
  }
  return count;
}

static int compare_spans(const void* a, const void* b, const void* context) {
  (void)context;
  const stowi_plan_span* x = (const stowi_plan_span*)a;
  const stowi_plan_span* y = (const stowi_plan_span*)b;
  int order = compare_u64(x->offset, y->offset);
  return order == 0 ? compare_u64(x->end, y->end) : order;
}

// |spans| is sorted.
static uint64_t largest_hole(const stowi_plan_span* spans, size_t count, uint64_t capacity) {
  uint64_t largest = 0;
  uint64_t used_to = 0;
  for (size_t i = 0; i <= count && used_to < capacity; ++i) {
    uint64_t next = i < count && spans[i].offset < capacity ? spans[i].offset : capacity;
    if (next > used_to && next - used_to > largest) {
      largest = next - used_to;
    }
    if (i < count && spans[i].end > used_to) {
      used_to = spans[i].end;
    }
  }
  return largest;
}

static stow_status explain_excess(stow_plan* plan) {
  size_t load_count = (size_t)plan->step_count + 2;
  uint64_t* loads = STOWI_ARRAY_ZERO(plan->allocator, uint64_t, load_count);
  if (loads == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  sum_loads(plan, loads);
  culprit found = find_culprit(plan, loads);
  STOWI_ARRAY_FREE(plan->allocator, loads, load_count);
  plan->fit.value = found.value;
  plan->fit.value_bytes = found.bytes;
  plan->fit.step = found.step;
  size_t count = list_live(plan, &found, NULL);
  stowi_plan_span* spans = STOWI_ARRAY(plan->allocator, stowi_plan_span, count);
  if (spans == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  list_live(plan, &found, spans);
  stow_status status =
      stowi_sort(spans, count, sizeof(*spans), compare_spans, NULL, plan->allocator);
  plan->fit.largest_hole = largest_hole(spans, count, plan->facts.capacity);
  STOWI_ARRAY_FREE(plan->allocator, spans, count);
  return status;
}

static stow_status judge_fit(stow_plan* plan) {
  stow_fit* fit = &plan->fit;
  fit->required = plan->arena_size;
  fit->available = plan->facts.capacity;
  fit->fits = fit->required <= fit->available;
  fit->possible = fit->fits || plan->search.bound <= fit->available;
  fit->value = STOW_VALUE_NONE;
  if (fit->fits) {
    return STOW_OK;
  }
  fit->excess = fit->required - fit->available;
  return explain_excess(plan);
}

stow_status stowi_plan_finish(stow_plan* plan, stow_diag* diag) {
  stow_status status = list_rows(plan);
  if (status == STOW_OK) {
    sum_up(plan);
    status = list_peak(plan);
  }
  if (status == STOW_OK) {
    // The ordering of a plan without a search for orders.
    if (!plan->ordering.searched) {
      plan->ordering.given_arena = plan->arena_size;
    }
    stow_search* search = &plan->search;
    if (search->bound < plan->lower_bound) {
      search->bound = plan->lower_bound;
    }
    if (plan->arena_size <= plan->facts.capacity) {
      bool optimal = plan->arena_size <= search->bound;
      search->outcome = optimal ? STOW_OUTCOME_OPTIMAL : STOW_OUTCOME_FEASIBLE;
    } else {
      bool ruled_out = search->bound > plan->facts.capacity;
      search->outcome = ruled_out ? STOW_OUTCOME_INFEASIBLE : STOW_OUTCOME_GAVE_UP;
    }
    status = judge_fit(plan);
  }
  return status == STOW_OK ? STOW_OK : stowi_fail_memory(diag);
}
