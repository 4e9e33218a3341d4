// Part of the plan checker: windows.
//
// A root with windows occupies only those bytes while they last; overlap.c then allows other values
// in the rest. So whatever is in the root must be inside its windows whenever it is in use. Of all
// windows in a range of time only the highest low and the lowest high matter: a tree of maxima
// answers that in O(log w). O(values × log w).
#include <inttypes.h>

#include "base/diag.h"
#include "plan/api.h"
#include "plan/check/check.h"

typedef struct limits {
  uint64_t low, high;
} limits;

// ---------------------------------------------------------------------------------------------
// Asking

stowi_plan_stretches stowi_plan_stretches_of(const stowi_plan_checker* checker, stow_value root) {
  return (stowi_plan_stretches){checker, root, stowi_plan_begin(checker->plan, root),
                                checker->windows[root]};
}

bool stowi_plan_stretches_next(stowi_plan_stretches* stretches,
                               stowi_plan_occupied_bytes* out_stretch) {
  const stow_plan* plan = stretches->checker->plan;
  stow_value root = stretches->root;
  uint32_t end = stowi_plan_end(plan, root);
  stow_slot slot;
  if (stretches->at >= end || !stow_plan_value_slot(plan, root, &slot)) {
    return false;
  }
  bool is_last = stretches->window == stretches->checker->windows[root + 1];
  const stow_window* next = is_last ? NULL : &plan->windows[stretches->window].window;
  if (next != NULL && next->begin == stretches->at) {
    *out_stretch = (stowi_plan_occupied_bytes){next->begin, next->end, next->low, next->high};
    stretches->window += 1;
  } else {
    uint64_t footprint = slot.size + stowi_plan_guard(plan, root);
    *out_stretch =
        (stowi_plan_occupied_bytes){stretches->at, next == NULL ? end : next->begin, 0, footprint};
  }
  stretches->at = out_stretch->end;
  return true;
}

// ---------------------------------------------------------------------------------------------
// Order

static stow_status window_fault(stowi_plan_checker* checker, const stowi_plan_window* given,
                                const char* why) {
  const stow_window* w = &given->window;
  bool exists = given->root < checker->value_count;
  stowi_plan_label label = {"a value that does not exist"};
  if (exists) {
    label = stowi_plan_label_value(checker, given->root);
  }
  return stowi_plan_fault(
      checker, STOW_FAULT_WINDOW, exists ? given->root : STOW_VALUE_NONE, STOW_VALUE_NONE, w->begin,
      "%s has a window [%" PRIu64 ", %" PRIu64 ") over steps [%" PRIu32 ", %" PRIu32 "), %s",
      label.text, w->low, w->high, w->begin, w->end, why);
}

static const char* why_not(const stowi_plan_checker* checker, const stowi_plan_window* given) {
  const stow_plan* plan = checker->plan;
  const stow_window* w = &given->window;
  stow_slot slot;
  if (given->root >= checker->value_count || stow_plan_root(plan, given->root) != given->root ||
      !stow_plan_value_slot(plan, given->root, &slot)) {
    return "but only a root that has a slot has windows";
  }
  if (stowi_plan_guard(plan, given->root) != 0) {
    return "but it has a guard";
  }
  if (!stowi_plan_reuse(plan)) {
    return "in a plan without reuse";
  }
  if (w->begin >= w->end || w->begin < stowi_plan_begin(plan, given->root) ||
      w->end > stowi_plan_end(plan, given->root)) {
    return "which is outside its lifetime";
  }
  return w->low > w->high || w->high > slot.size ? "which is outside it" : NULL;
}

static stow_status check_order(stowi_plan_checker* checker) {
  const stow_plan* plan = checker->plan;
  for (size_t i = 0; i < plan->window_count; ++i) {
    const stowi_plan_window* given = &plan->windows[i];
    const char* why = why_not(checker, given);
    bool is_after = i == 0 || given[-1].root < given->root ||
                    (given[-1].root == given->root && given[-1].window.end <= given->window.begin);
    if (why == NULL && !is_after) {
      why = "which comes after a later one";
    }
    if (why != NULL) {
      return window_fault(checker, given, why);
    }
    checker->windows[given->root + 1] = i + 1;
  }
  for (stow_value value = 0; value < checker->value_count; ++value) {
    if (checker->windows[value + 1] < checker->windows[value]) {
      checker->windows[value + 1] = checker->windows[value];
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Values

static limits narrower(limits a, limits b) {
  return (limits){a.low > b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
}

// |tree| has the windows as leaves from |count| on; node i is above 2i and 2i + 1.
static limits limits_of(const limits* tree, size_t count, size_t first, size_t last) {
  limits found = {0, UINT64_MAX};
  for (first += count, last += count; first < last; first /= 2, last /= 2) {
    if (first % 2 == 1) {
      found = narrower(found, tree[first++]);
    }
    if (last % 2 == 1) {
      found = narrower(found, tree[--last]);
    }
  }
  return found;
}

static void fill_tree(const stow_plan* plan, limits* tree) {
  for (size_t i = 0; i < plan->window_count; ++i) {
    const stow_window* w = &plan->windows[i].window;
    tree[plan->window_count + i] = (limits){w->low, w->high};
  }
  for (size_t i = plan->window_count; i-- > 1;) {
    tree[i] = narrower(tree[2 * i], tree[2 * i + 1]);
  }
}

// The first window of |root| that ends after |step|.
static size_t window_after(const stowi_plan_checker* checker, stow_value root, uint32_t step) {
  size_t low = checker->windows[root];
  size_t high = checker->windows[root + 1];
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (checker->plan->windows[middle].window.end <= step) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static stow_status outside_fault(stowi_plan_checker* checker, stow_value value, size_t first) {
  stowi_plan_bytes own = stowi_plan_bytes_of(checker, value);
  uint64_t end = stowi_plan_bytes_end(&own);
  const stow_window* w = &checker->plan->windows[first].window;
  while (w->low <= own.inner && w->high >= end) {
    w = &checker->plan->windows[++first].window;
  }
  stow_value root = stow_plan_root(checker->plan, value);
  return stowi_plan_fault(
      checker, STOW_FAULT_WINDOW, value, root, w->begin,
      "%s is bytes [%" PRIu64 ", %" PRIu64 ") of %s, which occupies only [%" PRIu64 ", %" PRIu64
      ") over steps [%" PRIu32 ", %" PRIu32 ")",
      stowi_plan_label_value(checker, value).text, own.inner, end,
      stowi_plan_label_value(checker, root).text, w->low, w->high, w->begin, w->end);
}

// The plan gives a root the lifetime of all values in it; this is its own.
static stow_status check_value(stowi_plan_checker* checker, stow_value value, const limits* tree) {
  const stowi_plan_check_value* own = &checker->values[value];
  stow_value root = stow_plan_root(checker->plan, value);
  if (own->bytes == 0 || checker->windows[root] == checker->windows[root + 1]) {
    return STOW_OK;
  }
  uint32_t begin = stowi_plan_begin(checker->plan, value);
  uint32_t end = stowi_plan_end(checker->plan, value);
  if (root == value) {
    begin = own->first_write;
    end = (own->last_read > own->last_write ? own->last_read : own->last_write) + 1;
  }
  size_t first = window_after(checker, root, begin);
  size_t last = window_after(checker, root, end - 1);
  last +=
      last < checker->windows[root + 1] && checker->plan->windows[last].window.begin < end ? 1 : 0;
  limits within = limits_of(tree, checker->plan->window_count, first, last);
  stowi_plan_bytes place = stowi_plan_bytes_of(checker, value);
  bool is_inside = within.low <= own->inner && within.high >= stowi_plan_bytes_end(&place);
  return is_inside ? STOW_OK : outside_fault(checker, value, first);
}

stow_status stowi_plan_check_windows(stowi_plan_checker* checker) {
  size_t count = checker->plan->window_count;
  STOW_TRY(check_order(checker));
  if (count == 0) {
    return STOW_OK;
  }
  limits* tree = STOWI_ARRAY(checker->allocator, limits, 2 * count);
  STOW_TRY(stowi_need_memory(tree != NULL, checker->diag));
  fill_tree(checker->plan, tree);
  stow_status status = STOW_OK;
  for (stow_value value = 0; value < checker->value_count && status == STOW_OK; ++value) {
    status = check_value(checker, value, tree);
  }
  STOWI_ARRAY_FREE(checker->allocator, tree, 2 * count);
  return status;
}
