// Profiles of runs, by a clock of this test's own.
#include <stdio.h>
#include <string.h>

#include "run/profile.h"
#include "support/test.h"

static uint64_t now;

uint64_t cli_clock_nanoseconds(void) { return now; }

static const char text[] =
    "graph @g {\n"
    "  %0 = input \"x\" : f32[4]\n"
    "  %1 = exp(%0) : f32[4]\n"
    "  %2 = tanh(%1) : f32[4]\n"
    "  return %2\n"
    "}\n";

static void run_step(cli_profile* profile, stow_node node, uint64_t nanoseconds) {
  cli_profile_step(profile, &(stow_exec_event){.node = node});
  now += nanoseconds;
  cli_profile_step(profile, &(stow_exec_event){.is_done = true, .node = node});
}

// A run in which node 1 takes |nanoseconds|, and node 2 takes 10.
static void run_once(cli_profile* profile, uint64_t nanoseconds) {
  cli_profile_begin_run(profile);
  run_step(profile, 1, nanoseconds);
  run_step(profile, 2, 10);
  cli_profile_end_run(profile);
}

// What |print| writes.
static const char* printed(cli_profile* profile, void (*print)(cli_profile*, cli_output*)) {
  static char out[8192];
  cli_output output = {.file = tmpfile(), .width = 80};
  out[0] = '\0';
  if (output.file != NULL) {
    print(profile, &output);
    rewind(output.file);
    out[fread(out, 1, sizeof out - 1, output.file)] = '\0';
    fclose(output.file);
  }
  return out;
}

// Calls |use| with a profile that has room for |runs|.
static void with_profile(uint64_t runs, void (*use)(cli_profile*)) {
  stow_module* module;
  REQUIRE(stow_module_parse(text, sizeof text - 1, "g", NULL, stow_allocator_default(), NULL,
                            &module) == STOW_OK);
  cli_profile* profile = cli_profile_create(stow_module_graph(module, 0), runs, false);
  CHECK(profile != NULL);
  if (profile != NULL) {
    use(profile);
  }
  cli_profile_destroy(profile);
  stow_module_destroy(module);
}

static void stall(cli_profile* profile) {
  static const uint64_t times[] = {5, 150000, 7, 6, 8};
  for (size_t i = 0; i < 5; ++i) {
    run_once(profile, times[i]);
  }
  const char* json = printed(profile, cli_profile_print_json);
  CHECK(strstr(json, "\"nanoseconds\": 150026, \"bytes\": 0, \"median\": 7}") != NULL);
  CHECK(strstr(json, "\"op\": \"tanh\"") < strstr(json, "\"op\": \"exp\""));  // the slowest first
  const char* table = printed(profile, cli_profile_print);
  CHECK(strstr(table, "Time by op, medians of 5 runs:") != NULL);
  CHECK(strstr(table, "7 ns") != NULL);
}

TEST(AStallOfOneRunDoesNotChangeAProfile) { with_profile(5, stall); }

static void stop(cli_profile* profile) {
  run_once(profile, 5);
  cli_profile_begin_run(profile);
  run_step(profile, 1, 9000);
  const char* json = printed(profile, cli_profile_print_json);
  CHECK(strstr(json, "\"runs\": 1") != NULL);
  CHECK(strstr(json, "\"nanoseconds\": 5, \"bytes\": 0, \"median\": 5}") != NULL);
  CHECK(strstr(json, "9000") == NULL);
}

TEST(ARunThatDoesNotEndDoesNotCount) { with_profile(3, stop); }

static void run_often(cli_profile* profile) {
  for (uint64_t i = 0; i < 10000; ++i) {
    run_once(profile, i);
  }
  const char* json = printed(profile, cli_profile_print_json);
  CHECK(strstr(json, "\"runs\": 10000") != NULL);
  const char* median = strstr(json, "\"nanoseconds\": 49995000");
  REQUIRE(median != NULL);
  unsigned long long number = 0;
  CHECK(sscanf(strstr(median, "\"median\": "), "\"median\": %llu", &number) == 1);
  CHECK(number > 4800 && number < 5200);
  cli_profile_clear(profile);
  run_once(profile, 3);
  CHECK(strstr(printed(profile, cli_profile_print_json), "\"median\": 3}") != NULL);
}

TEST(OfManyRunsThoseAtEqualDistancesCount) { with_profile(10000, run_often); }
