// Random graphs with nodes of every op, ways to plan them, and two verdicts on a plan: the
// checker's and that of a run on tagged bytes.
#ifndef STOWAGE_TESTS_PLAN_FEATURE_SCENE_H_
#define STOWAGE_TESTS_PLAN_FEATURE_SCENE_H_

#include <stowage/plan.h>

#include "support/random_ops.h"
#include "support/test.h"

// A graph, from one number, and what plans of it may borrow.
typedef struct feature_scene {
  uint64_t seed;
  test_random random;
  stow_graph* graph;
  stow_effects* effects;       // NULL in some
  stow_schedule* schedule;     // a random order; NULL if the one drawn is invalid
  stow_weight_layout* layout;  // of another graph with params of the same names; NULL in some
  stow_diag diag;
} feature_scene;

// About |nodes| nodes at most. Without |effects|, none; with, in half of them.
feature_scene feature_scene_make(uint64_t seed, random_ops* ops, size_t nodes, bool effects);
void feature_scene_free(feature_scene* s);

// Bits of a set of features.
#define FEATURE_IN_PLACE 1u
#define FEATURE_HOMES 2u
#define FEATURE_WINDOWS 4u
#define FEATURE_ALL 7u
void feature_set(stow_plan_options* options, unsigned features);

// The checker's verdict.
stow_status feature_check(feature_scene* s, const stow_plan* plan, stow_violation* out_violation);
// Whether a run can be made at all.
bool feature_can_run(const stow_plan* plan);
// Whether runs, which take the branches of ifs in several combinations, find nothing wrong.
bool feature_runs(const feature_scene* s, const stow_plan* plan, char* why, size_t size);
// The plan as saved; free with stow_string_free.
stow_string feature_text(const stow_plan* plan);
// A plan from its saved text, which can be changed; NULL, and a failed test, if it is refused.
stow_plan* feature_copy(feature_scene* s, const stow_plan* plan);

#endif  // STOWAGE_TESTS_PLAN_FEATURE_SCENE_H_
