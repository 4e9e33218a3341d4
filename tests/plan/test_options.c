// Presets, rules in options, the environment, and what stow_plan_make refuses.
#include <stdio.h>
#include <string.h>

#include "plan/api.h"
#include "plan/describe.h"
#include "plan/plan_support.h"
#include "support/test.h"

static const char* const small =
    "graph @small {\n"
    "  %0 = input \"x\" : f32[16]\n"
    "  %1 = relu(%0) : f32[16]\n"
    "  return %1\n"
    "}\n";

TEST(PresetsHaveNamesAndSummaries) {
  CHECK_TEXT(stow_preset_name(STOW_PRESET_DEFAULT), "default");
  CHECK_TEXT(stow_preset_name(STOW_PRESET_RLX_0_2_2), "rlx-0.2.2");
  CHECK_TEXT(stow_preset_name(STOW_PRESET_COUNT), "?");
  CHECK(strlen(stow_preset_summary(STOW_PRESET_BACKWARD)) > 10);
  CHECK_TEXT(stow_preset_summary((stow_preset)99), "");
  for (unsigned i = 0; i < STOW_PRESET_COUNT; ++i) {
    stow_preset found = STOW_PRESET_COUNT;
    CHECK(stow_preset_find(stow_str_of(stow_preset_name((stow_preset)i)), &found));
    CHECK_U64(found, i);
  }
  stow_preset found = STOW_PRESET_RLX;
  CHECK(!stow_preset_find(stow_str_of("RLX"), &found));
  CHECK_U64(found, STOW_PRESET_RLX);
}

TEST(DefaultPresetIsInOrderExecution) {
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  CHECK_U64(options.struct_size, sizeof(options));
  CHECK_U64(options.alignment, 64);
  CHECK_U64(options.tail_guard, 0);
  CHECK(options.params && options.inputs && options.constants);
  CHECK(options.zero_size_slots && options.reuse);
  CHECK(!options.f32_uniform && !options.classic_views);
  CHECK(!options.pack_params && !options.allow_missing_params);
  CHECK_U64(options.io, STOW_IO_KEEP);
  CHECK(options.capacity == STOW_NO_CAPACITY);
  CHECK(options.schedule == NULL && options.layout == NULL);
  CHECK_U64(options.rule_count, 0);
  REQUIRE(options.strategy != NULL);
  CHECK_TEXT(options.strategy->name, "auto");
  CHECK_U64(options.nodes, STOW_PLAN_DEFAULT_NODES);
  CHECK_U64(options.patience, STOW_PLAN_DEFAULT_PATIENCE);
  CHECK(options.on_progress == NULL && options.user == NULL);
}

TEST(PresetsShareBytesUnlessTheyFollowRlx) {
  for (unsigned i = 0; i <= STOW_PRESET_COUNT; ++i) {
    stow_plan_options options = plan_options((stow_preset)i);
    bool shares = i != STOW_PRESET_RLX && i != STOW_PRESET_RLX_0_2_2;
    CHECK(options.in_place == shares);
    CHECK(options.elide_copies == shares);
    CHECK(options.windows == shares);
    CHECK_U64(options.order, STOW_ORDER_GIVEN);
    CHECK_U64(options.order_margin, 0);
    CHECK_U64(options.order_nodes, shares ? STOW_ORDER_DEFAULT_NODES : 0);
  }
}

TEST(OrdersHaveTexts) {
  CHECK_TEXT(stow_order_text(STOW_ORDER_GIVEN), "given");
  CHECK_TEXT(stow_order_text(STOW_ORDER_AUTO), "auto");
  CHECK_TEXT(stow_order_text(STOW_ORDER_COUNT), "?");
  CHECK_TEXT(stow_order_text((stow_order)-1), "?");
}

TEST(RlxPresetHasEveryRuleAndGuards) {
  stow_plan_options options = plan_options(STOW_PRESET_RLX);
  CHECK_U64(options.rule_count, 6);
  CHECK_U64(options.rule_count, stow_rule_count());
  CHECK_U64(options.tail_guard, 128);
  CHECK(options.classic_views && options.zero_size_slots);
  CHECK_TEXT(options.strategy->name, "first-fit");
  for (size_t i = 0; i < options.rule_count; ++i) {
    CHECK(options.rules[i] == stow_rule_at(i));
  }
}

TEST(OldRlxPresetHasNoRulesGuardsOrZeroSizeSlots) {
  stow_plan_options options = plan_options(STOW_PRESET_RLX_0_2_2);
  CHECK_U64(options.rule_count, 0);
  CHECK_U64(options.tail_guard, 0);
  CHECK(options.classic_views && !options.zero_size_slots);
}

TEST(BackwardPresetIsDefaultWithoutParams) {
  stow_plan_options options = plan_options(STOW_PRESET_BACKWARD);
  stow_plan_options expected = plan_options(STOW_PRESET_DEFAULT);
  CHECK(!options.params);
  CHECK(options.inputs && options.constants && options.zero_size_slots);
  CHECK_U64(options.alignment, expected.alignment);
  CHECK(options.classic_views == expected.classic_views);
}

TEST(UnknownPresetIsTheDefault) {
  stow_plan_options options = plan_options((stow_preset)77);
  CHECK_U64(options.alignment, 64);
  CHECK_U64(options.rule_count, 0);
  CHECK(options.params);
}

TEST(RulesAreAddedOnceAndRemoved) {
  stow_plan_options options = plan_options(STOW_PRESET_RLX);
  const stow_rule* pins = stow_rule_find(stow_str_of("pin-output-ancestors"));
  REQUIRE(pins != NULL);
  CHECK(stow_plan_options_add_rule(&options, pins) == STOW_OK);
  CHECK_U64(options.rule_count, 6);
  stow_plan_options_remove_rule(&options, pins);
  CHECK_U64(options.rule_count, 5);
  stow_plan_options_remove_rule(&options, pins);
  CHECK_U64(options.rule_count, 5);
  for (size_t i = 0; i < options.rule_count; ++i) {
    CHECK(options.rules[i] != pins && options.rules[i] != NULL);
  }
  CHECK(stow_plan_options_add_rule(&options, pins) == STOW_OK);
  CHECK(options.rules[5] == pins);
  CHECK(stow_plan_options_add_rule(&options, NULL) == STOW_ERR_INVALID_ARGUMENT);
}

static stow_status do_nothing(stow_rule_call* call, void* user) {
  (void)call;
  (void)user;
  return STOW_OK;
}

TEST(TooManyRulesAreALimit) {
  static stow_rule many[STOW_MAX_RULES + 1];
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  for (size_t i = 0; i < STOW_MAX_RULES; ++i) {
    many[i].name = "mine";
    many[i].apply = do_nothing;
    CHECK(stow_plan_options_add_rule(&options, &many[i]) == STOW_OK);
  }
  CHECK(stow_plan_options_add_rule(&options, &many[STOW_MAX_RULES]) == STOW_ERR_LIMIT);
  CHECK_U64(options.rule_count, STOW_MAX_RULES);
  plan_case c = plan_make(small, &options);
  plan_free(&c);
}

typedef struct variable {
  const char* name;
  const char* value;
} variable;

static const char* get_variable(void* user, const char* name) {
  const variable* set = (const variable*)user;
  return strcmp(set->name, name) == 0 ? set->value : NULL;
}

static bool reuse_with(const char* name, const char* value) {
  variable set = {name, value};
  stow_plan_options options = plan_options(STOW_PRESET_RLX);
  stow_plan_options_apply_environment(&options, get_variable, &set);
  return options.reuse;
}

TEST(EnvironmentTurnsReuseOff) {
  CHECK(!reuse_with("RLX_ARENA_NO_REUSE", "1"));
  CHECK(!reuse_with("RLX_ARENA_NO_REUSE", "true"));
  CHECK(!reuse_with("RLX_ARENA_NO_REUSE", "TrUe"));
  CHECK(!reuse_with("STOWAGE_NO_REUSE", "1"));
  CHECK(!reuse_with("STOWAGE_NO_REUSE", "TRUE"));
}

TEST(EnvironmentOfAnyOtherValueChangesNothing) {
  CHECK(reuse_with("RLX_ARENA_NO_REUSE", NULL));
  CHECK(reuse_with("RLX_ARENA_NO_REUSE", ""));
  CHECK(reuse_with("RLX_ARENA_NO_REUSE", "0"));
  CHECK(reuse_with("RLX_ARENA_NO_REUSE", "11"));
  CHECK(reuse_with("RLX_ARENA_NO_REUSE", "tru"));
  CHECK(reuse_with("RLX_ARENA_NO_REUSE", "truee"));
  CHECK(reuse_with("STOWAGE_NO_REUSE", "yes"));
  CHECK(reuse_with("OTHER", "1"));
}

// ---------------------------------------------------------------------------------------------
// What stow_plan_make refuses

static void check_refused(const stow_plan_options* options, const char* message) {
  plan_case c = plan_try(small, options);
  CHECK(c.status == STOW_ERR_INVALID_ARGUMENT);
  CHECK(c.diag.status == STOW_ERR_INVALID_ARGUMENT);
  CHECK(c.plan == NULL);
  CHECK_HAS(c.diag.message, message);
  plan_free(&c);
}

TEST(AlignmentMustBeAPowerOfTwo) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  options.alignment = 48;
  check_refused(&options, "alignment must be a power of two, got 48");
  options.alignment = 0;
  check_refused(&options, "alignment must be a power of two, got 0");
}

TEST(StructSizeIsChecked) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  options.struct_size = 0;
  check_refused(&options, "stow_plan_options.struct_size is 0");
  options.struct_size = sizeof(options) + 1;
  check_refused(&options, "stow_plan_options.struct_size");
}

TEST(NullOptionsAreTheDefaultPreset) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  plan_case asked = plan_make(small, &options);
  plan_case silent = plan_make(small, NULL);
  REQUIRE(asked.plan != NULL && silent.plan != NULL);
  CHECK_U64(stow_plan_arena_size(silent.plan), stow_plan_arena_size(asked.plan));
  CHECK(stow_str_equal(stowi_plan_strategy_name(silent.plan), stow_str_of("auto")));
  plan_free(&asked);
  plan_free(&silent);
}

TEST(OptionsOfAnOlderVersionKeepTheirMeaning) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  options.alignment = 256;
  options.capacity = 1;
  options.strategy = NULL;
  options.struct_size = offsetof(stow_plan_options, params);
  plan_case c = plan_make(small, &options);
  REQUIRE(c.plan != NULL);
  CHECK_U64(plan_offset(c.plan, 1), 256);
  CHECK(fit_of(c.plan).fits);
  plan_free(&c);
}

// A caller from before in_place, elide_copies, windows and order executes the plan as then: each
// result in its own bytes, in the given order.
TEST(OptionsOfAnOlderVersionShareNothingNew) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  options.order = STOW_ORDER_COUNT;  // ignored
  options.struct_size = offsetof(stow_plan_options, in_place);
  plan_case c = plan_make(
      "graph @chain {\n"
      "  %0 = input \"x\" : f32[16]\n"
      "  %1 = relu(%0) : f32[16]\n"
      "  %2 = exp(%1) : f32[16]\n"
      "  %3 = exp(%2) : f32[16]\n"
      "  return %3\n"
      "}\n",
      &options);
  REQUIRE(c.plan != NULL);
  for (stow_value v = 0; v < stow_plan_value_count(c.plan); ++v) {
    CHECK_U64(stow_plan_root(c.plan, v), v);
    CHECK_U64(stow_plan_window_count(c.plan, v), 0);
  }
  CHECK(!ordering_of(c.plan).searched);
  CHECK_U64(ordering_of(c.plan).given_arena, stow_plan_arena_size(c.plan));
  plan_free(&c);
}

TEST(UnknownOrderIsRefused) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  options.order = STOW_ORDER_COUNT;
  check_refused(&options, "order must be given or auto, got 2");
  options.order = (stow_order)-1;
  check_refused(&options, "order must be given or auto");
}

TEST(StrategyIsRequired) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  options.strategy = NULL;
  check_refused(&options, "strategy is NULL");
  stow_strategy unnamed = *plan_options(STOW_PRESET_DEFAULT).strategy;
  options.strategy = &unnamed;
  unnamed.name = "two words";
  check_refused(&options, "[A-Za-z0-9_.-]");
  unnamed.name = NULL;
  check_refused(&options, "a name");
  unnamed.name = "fine";
  unnamed.place = NULL;
  check_refused(&options, "a place function");
}

TEST(ALineSaysHowTheGraphWasRewritten) {
  static const char* const bad[] = {"", "v1\n", "v1 \x7f", "v1 \xc3\xa4"};
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
    options.rewrite = bad[i];
    check_refused(&options, "rewrite must be a line of less than 256 printable characters");
  }
}

TEST(UnknownPolicyIsRefused) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  options.io = STOW_IO_DEFAULT;
  check_refused(&options, "io must be keep, consume or external");
}

TEST(RulesMustNotBeNull) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  options.rule_count = STOW_MAX_RULES + 1;
  check_refused(&options, "rule_count is 33");
  options.rule_count = 1;
  check_refused(&options, "rules[0]");
  stow_rule empty = {"empty", "", NULL, NULL};
  options.rules[0] = &empty;
  check_refused(&options, "no apply function");
}
