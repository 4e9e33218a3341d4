// A sample of a range that has too many points: of each symbol the first three values, the last
// one, and others between them whose neighbours have about the same ratio; all combinations of
// these are its points. What is small changes shapes most: views, empty caches, lower loads of
// other orders.
#include <string.h>

#include "base/checked.h"
#include "base/diag.h"
#include "plan/formulas/formula.h"

// How many points may be looked at for each one of the sample.
#define TIMES_FEWER 10
// Values at the beginning of a range that are all taken.
#define FIRST_VALUES 3

uint64_t stowi_plan_formula_points_with(const stow_formula* formula, size_t most) {
  uint64_t points = 1;
  for (size_t i = 0; i < formula->symbol_count; ++i) {
    size_t own = formula->value_counts[i] < most ? formula->value_counts[i] : most;
    if (!stowi_mul_u64(points, own, &points)) {
      return UINT64_MAX;
    }
  }
  return points;
}

static size_t values_each(const stow_formula* formula, uint64_t work) {
  uint64_t values = formula->value_count == 0 ? 1 : formula->value_count;
  size_t most = STOWI_PLAN_FORMULA_FEWEST_VALUES;
  while (most < STOWI_PLAN_FORMULA_MOST_VALUES &&
         stowi_plan_formula_points_with(formula, most + 1) <= work / values) {
    ++most;
  }
  return most;
}

// The geometric mean, rounded down. Products of doubles are compared, so that no machine may join
// operations.
static uint64_t mean_of(uint64_t low, uint64_t high) {
  const double product = (double)low * (double)high;
  while (high - low > 1) {
    uint64_t middle = low + (high - low) / 2;
    bool is_above = (double)middle * (double)middle > product;
    high = is_above ? middle : high;
    low = is_above ? low : middle;
  }
  return low;
}

// Fills steps between two that are known. |offset| is the value of step 0, in steps.
static void spread(uint64_t* steps, size_t first, size_t last, uint64_t offset) {
  if (last - first < 2) {
    return;
  }
  size_t middle = first + (last - first) / 2;
  uint64_t step = mean_of(steps[first] + offset, steps[last] + offset) - offset;
  uint64_t least = steps[first] + (middle - first);
  uint64_t most = steps[last] - (last - middle);
  steps[middle] = step < least ? least : step > most ? most : step;
  spread(steps, first, middle, offset);
  spread(steps, middle, last, offset);
}

static stow_status sample_symbol(stow_formula* formula, size_t symbol, size_t most) {
  const stow_dim_range* range = &formula->ranges[symbol];
  size_t all = formula->value_counts[symbol];
  size_t count = all < most ? all : most;
  uint64_t* steps = STOWI_ARRAY(formula->allocator, uint64_t, count);
  formula->samples[symbol] = steps;
  formula->value_counts[symbol] = count;
  if (steps == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < count; ++i) {
    steps[i] = i;
  }
  if (count < all) {
    steps[count - 1] = all - 1;
    spread(steps, FIRST_VALUES - 1, count - 1, (uint64_t)(range->min / range->step));
  }
  return STOW_OK;
}

stow_status stowi_plan_formula_sample(stow_formula* formula,
                                      const stowi_plan_formula_limits* limits) {
  size_t most = limits->most_values != 0 ? limits->most_values
                                         : values_each(formula, limits->work / TIMES_FEWER);
  formula->most_values = most;
  formula->samples =
      (uint64_t**)stowi_alloc_zero(formula->allocator, formula->all_symbols, sizeof(uint64_t*));
  if (formula->samples == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < formula->symbol_count; ++i) {
    STOW_TRY(sample_symbol(formula, i, most));
  }
  return STOW_OK;
}

void stowi_plan_formula_free_samples(stow_formula* formula) {
  stow_allocator allocator = formula->allocator;
  for (size_t i = 0; formula->samples != NULL && i < formula->symbol_count; ++i) {
    STOWI_ARRAY_FREE(allocator, formula->samples[i], formula->value_counts[i]);
  }
  if (formula->samples != NULL) {
    stowi_free(allocator, (void*)formula->samples, formula->all_symbols, sizeof(uint64_t*));
  }
}

stow_status stowi_plan_formula_at_shape(const stow_formula* formula, size_t region,
                                        const int64_t* values, const stow_graph* bound,
                                        const stow_effects* effects, stow_allocator allocator,
                                        stow_diag* diag, stow_plan** out_plan) {
  stow_formula_walk* walk;
  *out_plan = NULL;
  memcpy(formula->elsewhere, values, formula->all_symbols * sizeof(*values));
  STOW_TRY(stow_formula_walk_create(formula, allocator, diag, &walk));
  bool holds =
      stowi_plan_formula_walk_region(walk, formula->regions.data[region], formula->point_count);
  stow_status status =
      holds ? stowi_plan_formula_plan_at(walk, bound, effects, allocator, diag, out_plan)
            : stowi_fail(diag, STOW_ERR_OVERFLOW, "%s", stow_status_text(STOW_ERR_OVERFLOW));
  stow_formula_walk_destroy(walk);
  return status;
}
