// Windows of a plan: one array sorted by root and time, so that the few roots that have any are
// found by binary search and the others cost nothing: O(log w) per query, O(n + w) to copy.
//
// They have one normal form, which saved plans must obey: no window is all of its root, an empty
// one is at byte 0, adjacent ones differ, and some byte is occupied at some step.
#include "base/alloc.h"
#include "base/diag.h"
#include "plan/make/make.h"
#include "plan/plan_internal.h"

// ---------------------------------------------------------------------------------------------
// Asking

// The first window that is not before (root, begin).
static size_t lower_bound(const stow_plan* plan, stow_value root, uint32_t begin) {
  size_t low = 0;
  size_t high = plan->window_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const stowi_plan_window* at = &plan->windows[middle];
    if (at->root < root || (at->root == root && at->window.begin < begin)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

const stowi_plan_window* stowi_plan_windows_of(const stow_plan* plan, stow_value root,
                                               size_t* out_count) {
  *out_count = 0;
  if (plan->window_count == 0 || root >= plan->value_count) {
    return NULL;
  }
  size_t first = lower_bound(plan, root, 0);
  *out_count = lower_bound(plan, root + 1, 0) - first;
  return &plan->windows[first];
}

size_t stow_plan_window_count(const stow_plan* plan, stow_value root) {
  size_t count;
  stowi_plan_windows_of(plan, root, &count);
  return count;
}

stow_window stow_plan_window_at(const stow_plan* plan, stow_value root, size_t index) {
  static const stow_window none = {0, 0, 0, 0};
  size_t count;
  const stowi_plan_window* windows = stowi_plan_windows_of(plan, root, &count);
  return index < count ? windows[index].window : none;
}

bool stowi_plan_occupied(const stow_plan* plan, stow_value root, uint32_t step, uint64_t* out_low,
                         uint64_t* out_high) {
  *out_low = 0;
  *out_high = 0;
  if (root >= plan->value_count) {
    return false;
  }
  const stowi_plan_value* value = &plan->values[root];
  if (value->root != root || value->offset == STOW_OFFSET_NONE || step < value->begin ||
      step >= value->end) {
    return false;
  }
  *out_high = value->size + value->guard;
  size_t after = lower_bound(plan, root, step + 1);
  const stowi_plan_window* last = after == 0 ? NULL : &plan->windows[after - 1];
  if (last != NULL && last->root == root && step < last->window.end) {
    *out_low = last->window.low;
    *out_high = last->window.high;
  }
  return *out_low < *out_high;
}

stow_slot stow_plan_occupied_slot(const stow_plan* plan, stow_value root, uint32_t step) {
  stow_slot slot = {0, 0, 0};
  uint64_t low;
  uint64_t high;
  if (stowi_plan_occupied(plan, root, step, &low, &high)) {
    slot.offset = plan->values[root].offset + low;
    slot.size = high - low;
  }
  return slot;
}

// ---------------------------------------------------------------------------------------------
// The normal form

static bool has_same_bytes(const stow_window* a, const stow_window* b) {
  return a->low == b->low && a->high == b->high;
}

// Adjacent windows differ, so only a single window can be a gap over the whole lifetime.
static bool is_gap_for_life(const stow_window* window, const stowi_plan_value* root) {
  return window->low == window->high && window->begin == root->begin && window->end == root->end;
}

static const char* window_root_fault(const stow_plan* plan, const stowi_plan_value* value,
                                     stow_value root) {
  if (!plan->facts.reuse) {
    return "a plan that reuses no bytes has no windows";
  }
  return value->root != root || value->offset == STOW_OFFSET_NONE
             ? "only a root that has a slot can have windows"
             : NULL;
}

const char* stowi_plan_window_fault(const stow_plan* plan, const stowi_plan_window* last,
                                    const stowi_plan_window* given) {
  const stowi_plan_value* value = &plan->values[given->root];
  const stow_window* window = &given->window;
  const char* root_fault = window_root_fault(plan, value, given->root);
  if (root_fault != NULL) {
    return root_fault;
  }
  if (last != NULL && (last->root > given->root ||
                       (last->root == given->root && last->window.end > window->begin))) {
    return "windows must be sorted by root, then time, and must not overlap";
  }
  if (window->begin < value->begin || window->begin >= window->end || window->end > value->end) {
    return "a window must be within its root's lifetime";
  }
  if (window->low > window->high || window->high > value->size) {
    return "a window must be within its root's bytes";
  }
  if (window->low == window->high && window->low != 0) {
    return "a window of no bytes must be written as 0,0";
  }
  if (window->low == 0 && window->high == value->size) {
    return "a window that covers all of its root must be omitted";
  }
  if (last != NULL && last->root == given->root && last->window.end == window->begin &&
      has_same_bytes(&last->window, window)) {
    return "adjacent windows of the same bytes must be merged";
  }
  return is_gap_for_life(window, value)
             ? "windows must leave their root at least one byte at one step"
             : NULL;
}

// ---------------------------------------------------------------------------------------------
// Taking over

stow_status stowi_plan_set_window_count(stow_plan* plan, size_t count, stow_diag* diag) {
  plan->windows = STOWI_ARRAY_ZERO(plan->allocator, stowi_plan_window, count);
  STOW_TRY(stowi_need_memory(plan->windows != NULL, diag));
  plan->window_count = plan->window_capacity = count;
  return STOW_OK;
}

static size_t count_of(const stow_plan* plan, const stowi_analysis_windows* windows, stow_value v) {
  const stowi_plan_value* value = &plan->values[v];
  bool may_have = value->root == v && value->offset != STOW_OFFSET_NONE && value->guard == 0;
  return may_have ? stowi_analysis_windows_count(windows, v) : 0;
}

stow_status stowi_plan_set_windows(stow_plan* plan, const stowi_analysis_windows* windows,
                                   stow_diag* diag) {
  if (!plan->facts.reuse) {
    return STOW_OK;
  }
  size_t count = 0;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    count += count_of(plan, windows, v);
  }
  STOW_TRY(stowi_plan_set_window_count(plan, count, diag));
  stowi_plan_window* next = plan->windows;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    size_t of_root = count_of(plan, windows, v);
    for (size_t i = 0; i < of_root; ++i, ++next) {
      next->root = v;
      next->window = stowi_analysis_windows_at(windows, v, i);
    }
  }
  return STOW_OK;
}

void stowi_plan_drop_windows(stow_plan* plan, const bool* roots) {
  size_t kept = 0;
  for (size_t i = 0; i < plan->window_count; ++i) {
    if (!roots[plan->windows[i].root]) {
      plan->windows[kept++] = plan->windows[i];
    }
  }
  plan->window_count = kept;
}
