// Every plan that RLX's own planner printed, byte for byte. The folder's README says which options
// a file name stands for.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan_support.h"
#include "support/test.h"

#define MIN_PLANS 720
#define MIN_GRAPHS 51

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

static bool find_options(const char* name, size_t size, stow_plan_options* out_options) {
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    const preset_row* row = &rows[i];
    if (strlen(row->name) != size || memcmp(row->name, name, size) != 0) {
      continue;
    }
    stow_plan_options_init(out_options, row->preset);
    if (!row->pins) {
      stow_plan_options_remove_rule(out_options,
                                    stow_rule_find(stow_str_of("pin-output-ancestors")));
    }
    out_options->reuse = row->reuse;
    out_options->params = row->params;
    out_options->inputs = row->io;
    out_options->constants = row->io;
    out_options->f32_uniform = row->f32_uniform;
    return true;
  }
  return false;
}

static char* read_data(const char* name) {
  char path[1024];
  snprintf(path, sizeof(path), "%s/%s", test_data_dir(), name);
  size_t size = 0;
  return test_read_file(path, &size);
}

static bool ends_with(const char* text, const char* tail) {
  size_t size = strlen(text);
  return size >= strlen(tail) && strcmp(text + size - strlen(tail), tail) == 0;
}

// GRAPH.PRESET.ALIGN.plan; presets hold dots, graphs don't.
static bool options_of_file(const char* file, stow_plan_options* out_options) {
  const char* preset = strchr(file, '.') + 1;
  const char* end = file + strlen(file) - strlen(".plan");
  const char* alignment = end;
  while (alignment[-1] != '.') {
    --alignment;
  }
  if (!find_options(preset, (size_t)(alignment - 1 - preset), out_options)) {
    return false;
  }
  out_options->alignment = strtoull(alignment, NULL, 10);
  return true;
}

static bool compare_plan(const char* file) {
  char graph_file[256];
  snprintf(graph_file, sizeof(graph_file), "%.*s.stow", (int)strcspn(file, "."), file);
  char* graph = read_data(graph_file);
  char* expected = read_data(file);
  bool is_same = false;
  stow_plan_options options;
  if (test_check(options_of_file(file, &options), __FILE__, __LINE__, "no options for %s", file)) {
    plan_case c = plan_make(graph, &options);
    if (c.plan != NULL) {
      char* report = plan_text(c.plan, stow_plan_write_report);
      is_same = test_check_text(report, expected, __FILE__, __LINE__, file);
      plan_prove(&c);
      free(report);
    }
    plan_free(&c);
  }
  free(expected);
  free(graph);
  return is_same;
}

static bool compare_graph(const char* file) {
  char* text = read_data(file);
  bool is_same = false;
  stow_module* module = NULL;
  if (plan_parse(text, &module) != NULL) {
    stow_string printed;
    stow_string_init(&printed, stow_allocator_default());
    CHECK(stow_module_print(module, stow_string_writer(&printed)) == STOW_OK);
    is_same = test_check_text(printed.data, text, __FILE__, __LINE__, file);
    stow_string_free(&printed);
  }
  stow_module_destroy(module);
  free(text);
  return is_same;
}

TEST(EveryGoldenPlanIsReproducedByteForByte) {
  REQUIRE(test_data_dir() != NULL);
  DIR* folder = opendir(test_data_dir());
  REQUIRE(folder != NULL);
  unsigned plans = 0;
  unsigned graphs = 0;
  bool all_same = true;
  for (struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    if (ends_with(entry->d_name, ".plan")) {
      all_same = compare_plan(entry->d_name) && all_same;
      ++plans;
    } else if (ends_with(entry->d_name, ".stow")) {
      all_same = compare_graph(entry->d_name) && all_same;
      ++graphs;
    }
  }
  closedir(folder);
  CHECK(plans >= MIN_PLANS);
  CHECK(graphs >= MIN_GRAPHS);
  printf("compared %u plans of %u graphs, %s\n", plans, graphs,
         all_same ? "all identical" : "not all identical");
}
