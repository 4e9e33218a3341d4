// Larger flows: orders are valid, never above the given one nor below the bound, the same each
// time, and most of them proven optimal.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow_families.h"
#include "support/test.h"

static bool is_given(const stowi_flow_task* order, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (order[i] != i) {
      return false;
    }
  }
  return true;
}

// Whether the order found is proven optimal.
static bool check_flow(const stowi_flow* flow, uint64_t nodes) {
  uint32_t count = stowi_flow_task_count(flow);
  stowi_flow_task* order = (stowi_flow_task*)malloc(count * sizeof(*order));
  stowi_flow_task* again = (stowi_flow_task*)malloc(count * sizeof(*again));
  stowi_flow_order_options options;
  stowi_flow_order_options_init(&options);
  options.nodes = nodes;
  stow_allocator allocator = stow_allocator_default();
  stowi_flow_order_result result;
  stowi_flow_order_result same;
  CHECK(stowi_flow_order(flow, &options, allocator, NULL, order, &result) == STOW_OK);
  CHECK(stowi_flow_order(flow, &options, allocator, NULL, again, &same) == STOW_OK);
  CHECK(memcmp(order, again, count * sizeof(*order)) == 0 && result.nodes == same.nodes);
  uint64_t given = 0;
  uint64_t peak = 0;
  uint64_t bound = 0;
  stowi_flow_task critical;
  CHECK(stowi_flow_peak(flow, NULL, allocator, NULL, &given, NULL) == STOW_OK);
  CHECK(stowi_flow_peak(flow, order, allocator, NULL, &peak, NULL) == STOW_OK);
  CHECK(stowi_flow_bound(flow, allocator, NULL, &bound, &critical) == STOW_OK);
  CHECK_U64(peak, result.peak);
  CHECK(result.bound <= result.peak && bound <= result.peak);
  CHECK(result.changed == (peak < given));
  CHECK(result.changed != is_given(order, count));
  free(order);
  free(again);
  return result.bound == result.peak;
}

TEST(OrdersOfAllFamiliesAreValid) {
  uint32_t sizes[] = {20, 60, 150, 400};
  for (int family = 0; family < FLOW_FAMILY_COUNT; ++family) {
    uint32_t best = 0;
    uint32_t all = 0;
    for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); ++s) {
      for (uint64_t seed = 0; seed < (test_is_long() ? 20 : 2); ++seed) {
        stowi_flow* flow =
            flow_family_make((flow_family)family, sizes[s], seed, stow_allocator_default());
        best += check_flow(flow, 100000);
        all += 1;
        stowi_flow_destroy(flow);
      }
    }
    printf("  %s: %u of %u proven best\n", flow_family_name((flow_family)family), best, all);
    CHECK(best >= (family == FLOW_PARALLEL ? all / 3 : all * 3 / 4));
  }
}

TEST(ALargeFlowIsOrderedInTime) {
  for (int family = 0; family < FLOW_FAMILY_COUNT; ++family) {
    stowi_flow* flow = flow_family_make((flow_family)family, 10000, 1, stow_allocator_default());
    check_flow(flow, 50000);
    stowi_flow_destroy(flow);
  }
}
