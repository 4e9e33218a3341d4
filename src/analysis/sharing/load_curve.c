// A segment tree over the steps, in an array, walked from the leaves up without recursion. What is
// added to a node stays there and counts for all below it, so queries change nothing. The leaves at
// both ends stand for no step: a range is given by the leaves just before and just after it. They
// are never added to and hold 0, and no load is below that.
//     node 1            ┌─────────┴─────────┐
//     2, 3         ┌────┴────┐         ┌────┴────┐
//     leaves       –    0    1    2    3    4    –    –       steps 0 … 4
#include "analysis/sharing/load_curve.h"

#include "base/alloc.h"

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

stow_status stowi_analysis_load_curve_init(stowi_analysis_load_curve* curve, uint32_t step_count,
                                           stow_allocator allocator) {
  size_t size = 2;
  while (size < (size_t)step_count + 2) {
    size *= 2;
  }
  curve->size = size;
  curve->highest = STOWI_ARRAY_ZERO(allocator, int64_t, 2 * size);
  curve->added = STOWI_ARRAY_ZERO(allocator, int64_t, 2 * size);
  if (curve->highest == NULL || curve->added == NULL) {
    stowi_analysis_load_curve_free(curve, allocator);
    return STOW_ERR_OUT_OF_MEMORY;
  }
  return STOW_OK;
}

void stowi_analysis_load_curve_free(stowi_analysis_load_curve* curve, stow_allocator allocator) {
  STOWI_ARRAY_FREE(allocator, curve->highest, 2 * curve->size);
  STOWI_ARRAY_FREE(allocator, curve->added, 2 * curve->size);
  *curve = (stowi_analysis_load_curve){NULL, NULL, 0};
}

static void add_to_node(stowi_analysis_load_curve* curve, size_t node, int64_t bytes) {
  curve->highest[node] += bytes;
  curve->added[node] += bytes;
}

static void update(stowi_analysis_load_curve* curve, size_t node) {
  curve->highest[node] =
      larger(curve->highest[2 * node], curve->highest[2 * node + 1]) + curve->added[node];
}

void stowi_analysis_load_curve_add(stowi_analysis_load_curve* curve, uint32_t begin, uint32_t end,
                                   int64_t bytes) {
  if (bytes == 0) {
    return;
  }
  size_t left = curve->size + begin;
  size_t right = curve->size + 1 + end;
  while ((left ^ right) != 1) {
    if (left % 2 == 0) {
      add_to_node(curve, left + 1, bytes);
    }
    if (right % 2 == 1) {
      add_to_node(curve, right - 1, bytes);
    }
    left /= 2;
    right /= 2;
    update(curve, left);
    update(curve, right);
  }
  for (left /= 2; left != 0; left /= 2) {
    update(curve, left);
  }
}

int64_t stowi_analysis_load_curve_highest(const stowi_analysis_load_curve* curve, uint32_t begin,
                                          uint32_t end) {
  size_t left = curve->size + begin;
  size_t right = curve->size + 1 + end;
  int64_t of_left = INT64_MIN / 2;  // below every load, whatever is added on the way up
  int64_t of_right = INT64_MIN / 2;
  while ((left ^ right) != 1) {
    if (left % 2 == 0) {
      of_left = larger(of_left, curve->highest[left + 1]);
    }
    if (right % 2 == 1) {
      of_right = larger(of_right, curve->highest[right - 1]);
    }
    left /= 2;
    right /= 2;
    of_left += curve->added[left];
    of_right += curve->added[right];
  }
  int64_t highest = larger(of_left, of_right);
  for (left /= 2; left != 0; left /= 2) {
    highest += curve->added[left];
  }
  return highest;
}

int64_t stowi_analysis_load_curve_peak(const stowi_analysis_load_curve* curve) {
  return curve->highest[1];
}
