// Requests: defaults, words, and values by name. Patterns are compared with a matcher that tries
// every text in place of the star.
#include <stdio.h>
#include <stowage/text.h>
#include <string.h>

#include "request/api.h"
#include "support/test.h"

static const char* const cache_text =
    "graph @g {\n"
    "  %0 = input \"past.0\" : f32[1, 4, 8]\n"
    "  %1 = input \"new\" : f32[1, 4, 8]\n"
    "  %2 \"present.0\" = add(%0, %1) : f32[1, 4, 8]\n"
    "  %3 \"other\" = neg(%1) : f32[1, 4, 8]\n"
    "  return %2, %3\n"
    "}\n";

typedef struct fixture {
  stow_module* module;
  stow_graph* graph;
  stow_effects* effects;
  stow_diag diag;
} fixture;

static fixture make_fixture(const char* text) {
  fixture f = {0};
  stow_allocator heap = stow_allocator_default();
  stow_diag_init(&f.diag);
  CHECK(stow_module_parse(text, strlen(text), NULL, NULL, heap, &f.diag, &f.module) == STOW_OK);
  f.graph = stow_module_graph(f.module, 0);
  CHECK(stow_effects_create(f.graph, heap, &f.diag, &f.effects) == STOW_OK);
  return f;
}

static void free_fixture(fixture* f) {
  stow_effects_destroy(f->effects);
  stow_module_destroy(f->module);
}

// ---------------------------------------------------------------------------------------------

TEST(ModelsAreRewrittenAndPlannedForKernelsUnlessSomethingIsSaid) {
  stowi_request_choices choices = {0};
  CHECK(stowi_request_has_kernels(&choices, true) && stowi_request_rewrites(&choices, true));
  CHECK(stowi_request_orders(&choices, true) && stowi_request_leaves_weights(&choices, true));
  CHECK(!stowi_request_has_kernels(&choices, false) && !stowi_request_rewrites(&choices, false));
  CHECK(!stowi_request_orders(&choices, false) && !stowi_request_leaves_weights(&choices, false));
  choices.kernels = STOWI_REQUEST_KERNELS_NONE;
  CHECK(!stowi_request_has_kernels(&choices, true) && !stowi_request_rewrites(&choices, true));
  choices.kernels = STOWI_REQUEST_KERNELS_FASTEST;
  CHECK(stowi_request_has_kernels(&choices, false) && !stowi_request_rewrites(&choices, false));
  CHECK(stowi_request_prepare(&choices, false).fastest);
}

TEST(PresetsOfOtherPlannersChangeNothing) {
  stowi_request_choices choices = {.preset = STOW_PRESET_RLX};
  CHECK(stowi_request_follows_another(&choices));
  CHECK(!stowi_request_has_kernels(&choices, true) && !stowi_request_rewrites(&choices, true));
  CHECK(!stowi_request_orders(&choices, true));
  choices.preset = STOW_PRESET_BACKWARD;
  choices.has_layout = true;
  CHECK(!stowi_request_follows_another(&choices) && !stowi_request_rewrites(&choices, true));
}

TEST(WeightsInTheArenaAreNotPacked) {
  stowi_request_choices choices = {0};
  CHECK(stowi_request_prepare(&choices, true).pack == STOW_PACK_AUTO);
  CHECK(stowi_request_prepare(&choices, false).pack == STOW_PACK_NEVER);
  choices.has_pack = true;
  choices.pack = STOW_PACK_ALWAYS;
  CHECK(stowi_request_prepare(&choices, true).pack == STOW_PACK_ALWAYS);
  choices.weights = STOWI_REQUEST_WEIGHTS_ARENA;
  CHECK(stowi_request_prepare(&choices, true).pack == STOW_PACK_NEVER);
}

// ---------------------------------------------------------------------------------------------

static uint32_t rules_off(const char* words) {
  stowi_request_rewrite rewrite = {0};
  CHECK(stowi_request_read_rewrite(words, NULL, &rewrite) == STOW_OK);
  uint32_t off =
      stowi_request_rewrite_options(&(stowi_request_choices){.rewrite = rewrite}, true).off;
  CHECK((off & stow_rewrite_bit(STOW_REWRITE_STREAM)) != 0);
  return off & ~stow_rewrite_bit(STOW_REWRITE_STREAM);
}

TEST(WordsChooseRules) {
  stowi_request_rewrite rewrite = {0};
  stow_rewrite_options defaults;
  stow_rewrite_options_init(&defaults);
  stowi_request_choices choices = {.rewrite = rewrite};
  CHECK(stowi_request_rewrite_options(&choices, true).off == defaults.off);
  CHECK(rules_off("near") == 0);
  CHECK(rules_off("exact") ==
        (stow_rewrite_bit(STOW_REWRITE_QDQ) | stow_rewrite_bit(STOW_REWRITE_NORMS)));
  CHECK(rules_off("-cse") ==
        (stow_rewrite_bit(STOW_REWRITE_NORMS) | stow_rewrite_bit(STOW_REWRITE_CSE)));
  CHECK(rules_off("near,-cse,-fold") ==
        (stow_rewrite_bit(STOW_REWRITE_CSE) | stow_rewrite_bit(STOW_REWRITE_FOLD)));
  CHECK(stowi_request_read_rewrite("none", NULL, &rewrite) == STOW_OK && rewrite.is_none);
  CHECK(!stowi_request_rewrites(&(stowi_request_choices){.rewrite = rewrite}, true));
}

TEST(RowsStreamIfThatIsAsked) {
  stowi_request_choices choices = {.preset = STOW_PRESET_DEFAULT};
  uint32_t stream = stow_rewrite_bit(STOW_REWRITE_STREAM);
  CHECK(stowi_request_read_stream("auto", NULL, &choices.rewrite) == STOW_OK);
  CHECK((stowi_request_rewrite_options(&choices, true).off & stream) == 0);
  CHECK(stowi_request_rewrites(&choices, false));
  CHECK(stowi_request_rewrite_options(&choices, false).off == ~stream);
  CHECK(stowi_request_read_stream("off", NULL, &choices.rewrite) == STOW_OK);
  CHECK((stowi_request_rewrite_options(&choices, true).off & stream) != 0);
  CHECK(!stowi_request_rewrites(&choices, false));
  CHECK(stowi_request_read_stream("4", NULL, &choices.rewrite) == STOW_OK);
  CHECK((stowi_request_rewrite_options(&choices, true).off & stream) == 0);
  CHECK(stowi_request_rewrite_options(&choices, true).stream_rows == 4);
  CHECK(stowi_request_read_stream("0", NULL, &choices.rewrite) == STOW_ERR_SYNTAX);
  CHECK(stowi_request_read_stream("4 ", NULL, &choices.rewrite) == STOW_ERR_SYNTAX);
}

TEST(UnknownWordsAreNamed) {
  static const char* const words[] = {"", "fold", "-nothing", "none,-fold", "exact,near", "exact,"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i) {
    stowi_request_rewrite rewrite = {0};
    stow_diag diag;
    stow_diag_init(&diag);
    CHECK(stowi_request_read_rewrite(words[i], &diag, &rewrite) == STOW_ERR_SYNTAX);
    CHECK(strstr(diag.message, "expected none, exact or near") != NULL);
  }
  stowi_request_rewrite limit = {0};
  CHECK(stowi_request_read_fold_limit("1.5", NULL, &limit) == STOW_OK && limit.limit == 1.5);
  CHECK(stowi_request_read_fold_limit("0.5", NULL, &limit) == STOW_ERR_SYNTAX);
  CHECK(stowi_request_read_fold_limit("2 cse=off", NULL, &limit) == STOW_ERR_SYNTAX);
}

// ---------------------------------------------------------------------------------------------

TEST(ValuesGoByNameOrId) {
  fixture f = make_fixture(cache_text);
  CHECK(stowi_request_find_value(f.graph, stow_str_of("present.0")) == 2);
  CHECK(stowi_request_find_value(f.graph, stow_str_of("%3")) == 3);
  CHECK(stowi_request_find_value(f.graph, stow_str_of("%4")) == STOW_VALUE_NONE);
  CHECK(stowi_request_find_value(f.graph, stow_str_of("%")) == STOW_VALUE_NONE);
  CHECK(stowi_request_find_value(f.graph, stow_str_of("no")) == STOW_VALUE_NONE);
  CHECK(stowi_request_has_policy(f.graph, 0) && stowi_request_has_policy(f.graph, 2));
  CHECK(!stowi_request_has_policy(f.graph, STOW_VALUE_NONE));
  stow_str name = stow_str_of("new");
  CHECK(stowi_request_set_policy(f.effects, f.graph, name, STOW_IO_CONSUME, &f.diag) == STOW_OK);
  name = stow_str_of("old");
  CHECK(stowi_request_set_policy(f.effects, f.graph, name, STOW_IO_CONSUME, &f.diag) ==
        STOW_ERR_NOT_FOUND);
  CHECK_TEXT(f.diag.message, "graph @g: unknown value 'old'");
  free_fixture(&f);
}

static stow_status set_alias(fixture* f, const char* output, const char* input, size_t* count) {
  stowi_request_alias alias = {stow_str_of(output), stow_str_of(input)};
  stow_status status = stowi_request_check_pattern(&alias, &f->diag);
  return status == STOW_OK ? stowi_request_set_alias(f->effects, f->graph, &alias, &f->diag, count)
                           : status;
}

TEST(AliasesTakeTheBytesOfInputs) {
  fixture f = make_fixture(cache_text);
  size_t count = 0;
  stow_plan* plan = NULL;
  CHECK(set_alias(&f, "present.*", "past.*", &count) == STOW_OK && count == 1);
  CHECK(stow_plan_make(f.graph, f.effects, NULL, stow_allocator_default(), &f.diag, &plan) ==
        STOW_OK);
  stowi_request_alias alias = {stow_str_of("present.0"), stow_str_of("past.0")};
  CHECK(stowi_request_check_alias(plan, f.graph, &alias, &f.diag) == STOW_OK);
  alias = (stowi_request_alias){stow_str_of("other"), stow_str_of("new")};
  CHECK(stowi_request_check_alias(plan, f.graph, &alias, &f.diag) == STOW_ERR_CONFLICT);
  CHECK(f.diag.value == 3);
  stow_plan_destroy(plan);
  free_fixture(&f);
}

TEST(WrongAliasesAreRefused) {
  fixture f = make_fixture(cache_text);
  size_t count = 1;
  CHECK(set_alias(&f, "present.*", "past.0", &count) == STOW_ERR_SYNTAX);
  CHECK(set_alias(&f, "**", "*", &count) == STOW_ERR_SYNTAX);
  CHECK(set_alias(&f, "absent", "past.0", &count) == STOW_OK && count == 0);
  CHECK(set_alias(&f, "present.*", "before.*", &count) == STOW_ERR_NOT_FOUND);
  CHECK_TEXT(f.diag.message, "unknown input 'before.0'");
  CHECK(set_alias(&f, "other", "past.0", &count) == STOW_ERR_CONFLICT);
  free_fixture(&f);
}

// Whether |pattern| with |text| for its star is |name|.
static bool is_spelled(const char* pattern, const char* text, const char* name) {
  char spelled[64];
  const char* star = strchr(pattern, '*');
  int head = star == NULL ? (int)strlen(pattern) : (int)(star - pattern);
  snprintf(spelled, sizeof spelled, "%.*s%s%s", head, pattern, star == NULL ? "" : text,
           star == NULL ? "" : star + 1);
  return strcmp(spelled, name) == 0;
}

// The graph's output is called |name| and its input likewise: an alias with the same pattern on
// both sides finds the pair where the pattern is for |name|.
static void check_pattern(const char* pattern, const char* name) {
  char text[512];
  snprintf(text, sizeof text,
           "graph @g {\n  %%0 = input \"x\" : f32[4]\n  %%1 \"%s\" = relu(%%0) : f32[4]\n"
           "  return %%1\n}\n",
           name);
  fixture f = make_fixture(text);
  bool is_meant = false;
  size_t size = strlen(name);
  for (size_t i = 0; i <= size; ++i) {
    for (size_t end = i; end <= size; ++end) {
      char part[16];
      snprintf(part, sizeof part, "%.*s", (int)(end - i), name + i);
      is_meant = is_meant || is_spelled(pattern, part, name);
    }
  }
  size_t count;
  stow_status status = set_alias(&f, pattern, strchr(pattern, '*') == NULL ? "x" : "*x", &count);
  test_check((status == STOW_OK && count == 0) == !is_meant, __FILE__, __LINE__, "%s for %s",
             pattern, name);
  free_fixture(&f);
}

TEST(PatternsMeanWhatTheySpell) {
  static const char* const names[] = {"a", "b", "aa", "ab", "ba", "aba", "abba", "bab", "aaa"};
  static const char* const patterns[] = {"*",   "a*",  "*a",  "a*a",  "ab*", "*ab",
                                         "b*b", "a*b", "aba", "ab*a", "aa*a"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    for (size_t k = 0; k < sizeof patterns / sizeof patterns[0]; ++k) {
      check_pattern(patterns[k], names[i]);
    }
  }
}
