#include "plan/feature_scene.h"

#include <string.h>

#include "plan/api.h"
#include "plan/plan_internal.h"
#include "support/random_graph.h"
#include "test_check_oracle.h"

#define MAX_RUN_BYTES 16000

static uint64_t below(feature_scene* s, uint64_t bound) {
  return test_random_below(&s->random, bound);
}

static void borrow_weights(feature_scene* s, const random_graph_options* options) {
  stow_plan_options forward;
  stow_plan_options_init(&forward, STOW_PRESET_DEFAULT);
  forward.nodes = 100;
  stow_plan* plan = NULL;
  stow_graph* other = random_graph(&s->random, options, stow_allocator_default());
  if (stow_plan_make(other, NULL, &forward, stow_allocator_default(), NULL, &plan) == STOW_OK) {
    stow_weight_layout_create(other, plan, stow_allocator_default(), NULL, &s->layout);
  }
  stow_plan_destroy(plan);
  stow_graph_destroy(other);
}

// Most random effects that contradict each other do so in every plan.
static stow_effects* make_effects(feature_scene* s) {
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  options.strategy = stow_strategy_find(stow_str_of("first-fit"));
  for (int tries = 0; tries < 4; ++tries) {
    stow_effects* effects = random_effects(&s->random, s->graph, stow_allocator_default());
    stow_plan* plan = NULL;
    stow_plan_make(s->graph, effects, &options, stow_allocator_default(), NULL, &plan);
    if (plan != NULL) {
      stow_plan_destroy(plan);
      return effects;
    }
    stow_effects_destroy(effects);
  }
  return NULL;
}

feature_scene feature_scene_make(uint64_t seed, random_ops* ops, size_t nodes, bool effects) {
  feature_scene s;
  memset(&s, 0, sizeof(s));
  stow_diag_init(&s.diag);
  s.seed = seed;
  s.random.state = seed;
  random_graph_options options = random_graph_everything(2 + below(&s, nodes - 1));
  options.regions = below(&s, 3) == 0;
  options.most = 8;
  options.more = random_ops_add;
  options.user = ops;
  s.graph = random_graph(&s.random, &options, stow_allocator_default());
  if (effects && below(&s, 2) == 0) {
    s.effects = make_effects(&s);
  }
  s.schedule = random_schedule(&s.random, s.graph, stow_allocator_default());
  if (below(&s, 2) == 0) {
    options.nodes = 8;
    borrow_weights(&s, &options);
  }
  return s;
}

void feature_scene_free(feature_scene* s) {
  stow_weight_layout_destroy(s->layout);
  stow_schedule_destroy(s->schedule);
  stow_effects_destroy(s->effects);
  stow_graph_destroy(s->graph);
}

void feature_set(stow_plan_options* options, unsigned features) {
  options->in_place = (features & FEATURE_IN_PLACE) != 0;
  options->elide_copies = (features & FEATURE_HOMES) != 0;
  options->windows = (features & FEATURE_WINDOWS) != 0;
}

stow_status feature_check(feature_scene* s, const stow_plan* plan, stow_violation* out_violation) {
  return stow_plan_check(plan, s->graph, s->effects, stow_allocator_default(), &s->diag,
                         out_violation);
}

bool feature_can_run(const stow_plan* plan) { return plan->arena_size <= MAX_RUN_BYTES; }

bool feature_runs(const feature_scene* s, const stow_plan* plan, char* why, size_t size) {
  static const uint64_t choices[] = {0, UINT64_MAX, UINT64_C(0x5555555555555555)};
  size_t count = stow_graph_region_count(s->graph) > 1 ? 3 : 1;
  for (size_t i = 0; i < count; ++i) {
    if (!oracle_run(plan, s->graph, s->effects, choices[i], why, size)) {
      return false;
    }
  }
  return true;
}

stow_string feature_text(const stow_plan* plan) {
  stow_string text;
  stow_string_init(&text, stow_allocator_default());
  CHECK(stowi_plan_write_saved(plan, stow_string_writer(&text)) == STOW_OK);
  CHECK(stow_string_append(&text, "", 1) == STOW_OK);
  return text;
}

stow_plan* feature_copy(feature_scene* s, const stow_plan* plan) {
  stow_plan* copy = NULL;
  stow_string text = feature_text(plan);
  stow_status status = stow_plan_read(text.data, text.size - 1, NULL, s->graph,
                                      stow_allocator_default(), &s->diag, &copy);
  test_check(status == STOW_OK, __FILE__, __LINE__, "seed %llu: %s", (unsigned long long)s->seed,
             s->diag.message);
  stow_string_free(&text);
  return copy;
}
