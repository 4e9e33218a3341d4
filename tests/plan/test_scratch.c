// Scratch with offers: the plan is that without offers, except that each piece has the largest
// offer that fits, by brute force over the bytes of its step.
#include <stdlib.h>
#include <stowage/effects.h>
#include <string.h>

#include "plan/api.h"
#include "plan/plan_internal.h"
#include "plan_support.h"
#include "support/fault.h"
#include "support/random_graph.h"
#include "support/test.h"

// ---------------------------------------------------------------------------------------------
// Brute force

static bool is_free(const stow_plan* plan, size_t scratch, uint64_t byte) {
  uint32_t step = plan->scratch[scratch].step;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    uint64_t low;
    uint64_t high;
    if (stowi_plan_occupied(plan, v, step, &low, &high) && byte >= plan->values[v].offset + low &&
        byte < plan->values[v].offset + high) {
      return false;
    }
  }
  for (size_t i = 0; i < plan->scratch_count; ++i) {
    const stowi_plan_scratch* other = &plan->scratch[i];
    if (i != scratch && other->step == step && byte >= other->offset &&
        byte < other->offset + other->size) {
      return false;
    }
  }
  for (size_t i = 0; i < plan->reserved_count; ++i) {
    if (byte >= plan->reserved[i].offset && byte < plan->reserved[i].end) {
      return false;
    }
  }
  return true;
}

// The most bytes at an aligned offset.
static uint64_t largest_gap(const stow_plan* plan, size_t scratch) {
  uint64_t alignment = plan->scratch[scratch].alignment;
  uint64_t largest = 0;
  uint64_t begin = UINT64_MAX;  // of the current gap
  for (uint64_t byte = 0; byte < plan->arena_size; ++byte) {
    if (!is_free(plan, scratch, byte)) {
      begin = UINT64_MAX;
    } else if (begin == UINT64_MAX && byte % alignment == 0) {
      begin = byte;
    }
    if (begin != UINT64_MAX && byte + 1 - begin > largest) {
      largest = byte + 1 - begin;
    }
  }
  return largest;
}

// Whether it reaches the end of the arena, and nothing else did when its turn came: what comes
// later may have been enlarged up to there.
static bool is_top(const stow_plan* plan, size_t scratch) {
  size_t count = plan->scratch[scratch].offset + plan->scratch[scratch].size != plan->arena_size;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    count += !stowi_plan_is_view(plan, v) && stowi_plan_has_slot(plan, v) &&
             stowi_plan_footprint_end(&plan->values[v]) == plan->arena_size;
  }
  for (size_t i = 0; i < plan->reserved_count; ++i) {
    count += plan->reserved[i].end == plan->arena_size;
  }
  for (size_t i = 0; i < plan->scratch_count; ++i) {
    count += plan->scratch[i].step < plan->scratch[scratch].step && plan->scratch[i].size != 0 &&
             plan->scratch[i].offset + plan->scratch[i].size == plan->arena_size;
  }
  return count == 0;
}

// Pieces of one node are enlarged one after the other: only the last of them is sure to have had
// all the room there is now, since those after the others may have moved away.
static void check_sizes(const stow_plan* plan, const stow_effects* effects) {
  for (size_t i = 0; i < plan->scratch_count; ++i) {
    const stowi_plan_scratch* scratch = &plan->scratch[i];
    uint64_t gap = largest_gap(plan, i);
    size_t count;
    const stowi_effects_offer_entry* offers = stowi_effects_offers(effects, scratch->node, &count);
    uint64_t expected = scratch->need;
    bool is_offer = scratch->size == scratch->need;
    for (size_t k = 0; k < count; ++k) {
      if (offers[k].index == scratch->index) {
        expected =
            offers[k].bytes <= gap && offers[k].bytes > expected ? offers[k].bytes : expected;
        is_offer = is_offer || scratch->size == offers[k].bytes;
      }
    }
    CHECK(is_offer);
    bool is_last = i + 1 == plan->scratch_count || plan->scratch[i + 1].step != scratch->step;
    CHECK(scratch->size == expected || (scratch->size < expected && (!is_last || is_top(plan, i))));
    CHECK(scratch->offset % scratch->alignment == 0);
  }
}

// ---------------------------------------------------------------------------------------------

// The scratch of |from| without its offers.
static stow_effects* without_offers(const stow_graph* graph, const stow_effects* from) {
  stow_effects* effects = NULL;
  CHECK(stow_effects_create(graph, stow_allocator_default(), NULL, &effects) == STOW_OK);
  for (size_t i = 0; i < stowi_effects_scratch_count(from); ++i) {
    stowi_effects_scratch_entry s = stowi_effects_scratch(from, i);
    CHECK(stow_effects_add_scratch(effects, s.node, s.bytes, s.alignment, NULL, NULL) == STOW_OK);
  }
  return effects;
}

static stow_effects* random_scratch(test_random* random, const stow_graph* graph) {
  stow_effects* effects = NULL;
  CHECK(stow_effects_create(graph, stow_allocator_default(), NULL, &effects) == STOW_OK);
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    for (uint64_t pieces = test_random_below(random, 3); pieces > 0; --pieces) {
      size_t index;
      uint64_t need = test_random_below(random, 3) * 40;
      CHECK(stow_effects_add_scratch(effects, node, need,
                                     UINT64_C(1) << test_random_below(random, 8), NULL,
                                     &index) == STOW_OK);
      for (uint64_t offers = test_random_below(random, 4); offers > 0; --offers) {
        CHECK(stow_effects_offer_scratch(effects, node, index,
                                         need + test_random_below(random, 700), NULL) == STOW_OK);
      }
    }
  }
  return effects;
}

static stow_plan* make(const stow_graph* graph, const stow_effects* effects,
                       const stow_plan_options* options) {
  stow_plan* plan = NULL;
  CHECK(stow_plan_make(graph, effects, options, stow_allocator_default(), NULL, &plan) == STOW_OK);
  return plan;
}

TEST(OffersFillWhatIsFreeAnyway) {
  uint64_t seeds = test_is_long() ? 3000 : 300;
  uint64_t enlarged = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    test_random random = {seed};
    random_graph_options wanted = random_graph_everything(3 + test_random_below(&random, 12));
    wanted.most = 8;
    stow_graph* graph = random_graph(&random, &wanted, stow_allocator_default());
    stow_effects* effects = random_scratch(&random, graph);
    stow_effects* plain = without_offers(graph, effects);
    stow_plan_options options;
    stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
    options.tail_guard = seed % 5 == 0 ? 64 : 0;
    stow_plan* plan = make(graph, effects, &options);
    stow_plan* before = make(graph, plain, &options);
    if (plan != NULL && before != NULL) {
      CHECK_U64(stow_plan_arena_size(plan), stow_plan_arena_size(before));
      CHECK_U64(stow_plan_lower_bound(plan), stow_plan_lower_bound(before));
      CHECK_U64(stowi_plan_peak_scratch(plan), stowi_plan_peak_scratch(before));
      CHECK(stow_plan_check(plan, graph, effects, stow_allocator_default(), NULL, NULL) == STOW_OK);
      check_sizes(plan, effects);
      for (size_t i = 0; i < plan->scratch_count; ++i) {
        enlarged += plan->scratch[i].size > plan->scratch[i].need;
      }
    }
    stow_plan_destroy(before);
    stow_plan_destroy(plan);
    stow_effects_destroy(plain);
    stow_effects_destroy(effects);
    stow_graph_destroy(graph);
  }
  CHECK(enlarged > seeds);
}

// ---------------------------------------------------------------------------------------------

static const char text[] =
    "graph @g {\n"
    "  %0 = input \"x\" : f32[64]\n"
    "  %1 = exp(%0) : f32[64] with {offer = [0, 128, 0, 100000, 0, 512, 0, 192], "
    "scratch = [64, 64]}\n"
    "  %2 = custom(%1) {name = \"f\"} : f32[256] with {scratch = [0, 64], offer = [0, 8]}\n"
    "  %3 = custom(%2) {name = \"g\"} : f32[64]\n"
    "  return %3\n"
    "}\n";

TEST(SavedPlansKeepWhatScratchNeeds) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(text, &options);
  REQUIRE(c.plan != NULL && c.plan->scratch_count == 2);
  CHECK_U64(c.plan->scratch[0].size, 512);
  CHECK_U64(c.plan->scratch[0].need, 64);
  CHECK_U64(c.plan->scratch[1].size, 0);
  plan_prove(&c);
  char* saved = plan_text(c.plan, stowi_plan_write_saved);
  CHECK_HAS(saved, ",512,64,64\n");
  free(saved);
  char* json = plan_text(c.plan, stowi_plan_write_json);
  CHECK_HAS(json, "\"size\": 512, \"alignment\": 64, \"need\": 64}");
  free(json);
  plan_free(&c);
}

TEST(WithoutReuseScratchHasWhatItNeeds) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  options.reuse = false;
  plan_case c = plan_make(text, &options);
  REQUIRE(c.plan != NULL && c.plan->scratch_count == 2);
  CHECK_U64(c.plan->scratch[0].size, 64);
  plan_prove(&c);
  plan_free(&c);
}

static stow_status plan_once(stow_allocator allocator, void* user) {
  const plan_case* c = (const plan_case*)user;
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  stow_plan* plan = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_plan_make(c->graph, c->effects, &options, allocator, &diag, &plan);
  CHECK((plan == NULL) == (status != STOW_OK));
  stow_plan_destroy(plan);
  return status;
}

TEST(FailingAllocationsAreSurvived) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(text, &options);
  CHECK(test_fault_sweep(plan_once, &c) > 20);
  plan_free(&c);
}
