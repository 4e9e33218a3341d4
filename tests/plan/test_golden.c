// Every plan that RLX's own planner printed, byte for byte. The folder's README describes the
// files.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/api.h"
#include "plan/plan_support.h"
#include "support/test.h"

#define PLANS 720
#define GRAPHS 51

typedef struct preset_row {
  const char* name;
  stow_preset preset;
  bool pins;
  bool reuse;
  bool params;
  bool io;
  bool f32_uniform;
} preset_row;

static const preset_row rows[] = {
    {"rlx", STOW_PRESET_RLX, true, true, true, true, false},
    {"rlx-in-order", STOW_PRESET_RLX, false, true, true, true, false},
    {"rlx-no-reuse", STOW_PRESET_RLX, true, false, true, true, false},
    {"rlx-no-params", STOW_PRESET_RLX, false, true, false, true, false},
    {"rlx-no-io", STOW_PRESET_RLX, false, true, true, false, false},
    {"rlx-f32", STOW_PRESET_RLX, false, true, true, true, true},
    {"rlx-0.2.2", STOW_PRESET_RLX_0_2_2, true, true, true, true, false},
    {"rlx-0.2.2-f32", STOW_PRESET_RLX_0_2_2, true, true, true, true, true},
};

static const unsigned alignments[] = {1, 16, 64, 256};

#define ALIGNMENT_COUNT (sizeof(alignments) / sizeof(alignments[0]))
#define VARIANT_COUNT (sizeof(rows) / sizeof(rows[0]) * ALIGNMENT_COUNT)

// The number of the variant "PRESET.ALIGNMENT" of |size| bytes; VARIANT_COUNT where there is none.
static size_t find_variant(const char* word, size_t size) {
  size_t i = 0;
  for (; i < VARIANT_COUNT; ++i) {
    char name[64];
    snprintf(name, sizeof(name), "%s.%u", rows[i / ALIGNMENT_COUNT].name,
             alignments[i % ALIGNMENT_COUNT]);
    if (strlen(name) == size && memcmp(name, word, size) == 0) {
      break;
    }
  }
  return i;
}

static stow_plan_options options_of(size_t variant) {
  const preset_row* row = &rows[variant / ALIGNMENT_COUNT];
  stow_plan_options options;
  stow_plan_options_init(&options, row->preset);
  if (!row->pins) {
    stow_plan_options_remove_rule(&options, stow_rule_find(stow_str_of("pin-output-ancestors")));
  }
  options.reuse = row->reuse;
  options.params = row->params;
  options.inputs = row->io;
  options.constants = row->io;
  options.f32_uniform = row->f32_uniform;
  options.alignment = alignments[variant % ALIGNMENT_COUNT];
  return options;
}

static void compare_plan(const char* graph, const stow_plan_options* options, const char* expected,
                         const char* label) {
  plan_case c = plan_make(graph, options);
  if (c.plan != NULL) {
    char* report = plan_text(c.plan, stowi_plan_write_report);
    test_check_text(report, expected, __FILE__, __LINE__, label);
    plan_prove(&c);
    free(report);
  }
  plan_free(&c);
}

static void compare_graph(const char* text, const char* label) {
  stow_module* module = NULL;
  if (plan_parse(text, &module) != NULL) {
    stow_string printed;
    stow_string_init(&printed, stow_allocator_default());
    CHECK(stow_module_print(module, stow_string_writer(&printed)) == STOW_OK);
    test_check_text(printed.data, text, __FILE__, __LINE__, label);
    stow_string_free(&printed);
  }
  stow_module_destroy(module);
}

// Strips "# " from each line of the plan at |*at| and ends it with a NUL, in place: a plan ends at
// a line that is not a comment. Moves |*at| behind the plan.
static char* take_plan(char** at) {
  char* plan = *at;
  char* out = plan;
  char* line = plan;
  while (line[0] == '#' && line[1] == ' ') {
    size_t size = strcspn(line + 2, "\n");
    size += line[2 + size] == '\n';
    memmove(out, line + 2, size);
    out += size;
    line += 2 + size;
  }
  *at = line;
  *out = '\0';  // |line| is behind it: two bytes of every line went
  return plan;
}

// A golden file as it is read.
typedef struct golden {
  const char* name;
  const char* graph;
  char* at;  // what is not read yet
  unsigned plans;
  bool is_met[VARIANT_COUNT];
} golden;

// "## ", a line of variants, and the plan that each of them gives.
static void compare_section(golden* g) {
  const char* word = g->at + 3;
  const char* end = word + strcspn(word, "\n");
  g->at += end - g->at + (*end == '\n');
  const char* expected = take_plan(&g->at);
  while (word < end) {
    size_t size = strcspn(word, " \n");
    char label[256];
    snprintf(label, sizeof(label), "%s: %.*s", g->name, (int)size, word);
    size_t variant = find_variant(word, size);
    bool is_new = variant < VARIANT_COUNT && !g->is_met[variant];
    test_check(is_new, __FILE__, __LINE__, "%s: unknown or repeated", label);
    if (is_new) {
      g->is_met[variant] = true;
      stow_plan_options options = options_of(variant);
      compare_plan(g->graph, &options, expected, label);
      ++g->plans;
    }
    word += size + 1;
  }
}

// The graph up to the first empty line, then sections, each after an empty line. Returns how many
// plans were compared.
static unsigned compare_file(const char* name) {
  char path[1024];
  snprintf(path, sizeof(path), "%s/%s", test_data_dir(), name);
  size_t size = 0;
  char* text = test_read_file(path, &size);
  golden g = {.name = name, .graph = text, .at = strstr(text, "\n\n")};
  if (test_check(g.at != NULL, __FILE__, __LINE__, "no plans in %s", name)) {
    *++g.at = '\0';  // the empty line: the graph ends before it
    compare_graph(text, name);
    do {
      ++g.at;
      if (!test_check(strncmp(g.at, "## ", 3) == 0, __FILE__, __LINE__,
                      "%s: \"%.20s\" is not a plan", name, g.at)) {
        break;
      }
      compare_section(&g);
    } while (*g.at == '\n');
    test_check(g.at == text + size, __FILE__, __LINE__, "%s: read to byte %zu of %zu", name,
               (size_t)(g.at - text), size);
  }
  free(text);
  return g.plans;
}

TEST(EveryGoldenPlanIsReproducedByteForByte) {
  REQUIRE(test_data_dir() != NULL);
  DIR* folder = opendir(test_data_dir());
  REQUIRE(folder != NULL);
  unsigned plans = 0;
  unsigned graphs = 0;
  for (struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    const char* ending = strrchr(entry->d_name, '.');
    if (ending != NULL && strcmp(ending, ".stow") == 0) {
      plans += compare_file(entry->d_name);
      ++graphs;
    }
  }
  closedir(folder);
  CHECK_U64(plans, PLANS);
  CHECK_U64(graphs, GRAPHS);
  printf("compared %u plans of %u graphs, %s\n", plans, graphs,
         test_failures() == 0 ? "all identical" : "not all identical");
}
