// Exported programs as lists of files. tests/cli/test_export.sh builds and runs them.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exec/exec_case.h"
#include "export/export.h"
#include "support/fault.h"
#include "support/random_graph.h"
#include "support/test.h"

#define GRAPHS 100
#define GRAPHS_LONG 5000
#define MAX_NODES 40
#define MAX_OUTPUTS 64

static const stow_str names[MAX_OUTPUTS] = {{"y", 1}};

static stow_status make(const stow_prepared* prepared, const stow_plan* plan,
                        stow_allocator allocator, stow_diag* diag, stowi_export** out_program) {
  stowi_export_options options = {.name = "small", .output_names = names};
  return stowi_export_create(prepared, plan, &options, allocator, diag, out_program);
}

// The text of file |name|; free it.
static stow_string text_of(const stowi_export* program, const char* name) {
  stow_string text;
  stow_string_init(&text, stow_allocator_default());
  for (size_t i = 0; i < stowi_export_file_count(program); ++i) {
    if (strcmp(stowi_export_file_name(program, i), name) == 0) {
      CHECK(stowi_export_file_write(program, i, stow_string_writer(&text)) == STOW_OK);
    }
  }
  CHECK(text.data != NULL);
  return text;
}

#define GRAPH                                                                      \
  "%0 = input \"x\" : f32[2]\n %1 = constant \"w\" {data = [1.0, 2.0]} : f32[2]\n" \
  "%2 = add(%0, %1) : f32[2]\n %3 = neg(%2) : f32[2]\n return %3"

static void begin(exec_case* c, const char* graph) {
  exec_case_begin(c, graph);
  c->plan_options.constants = false;
  CHECK(exec_case_make(c) == STOW_OK);
}

TEST(AProgramHasTablesWeightsKernelsAndALicence) {
  static const char* const expected[] = {"small.h",         "small.c",
                                         "small_weights.h", "small_weights.c",
                                         "main.c",          "Makefile",
                                         "README",          "LICENSE",
                                         "program/steps.c", "exec/kernels/elementwise/binary.c"};
  exec_case c;
  stowi_export* program;
  begin(&c, GRAPH);
  REQUIRE(make(c.prepared, c.plan, stow_allocator_default(), &c.diag, &program) == STOW_OK);
  for (size_t k = 0; k < sizeof expected / sizeof expected[0]; ++k) {
    bool found = false;
    for (size_t i = 0; i < stowi_export_file_count(program) && !found; ++i) {
      found = strcmp(stowi_export_file_name(program, i), expected[k]) == 0;
    }
    test_check(found, __FILE__, __LINE__, "no %s", expected[k]);
  }
  CHECK(stowi_export_step_count(program) == 2);
  CHECK(stowi_export_weight_bytes(program) == 8);
  stowi_export_destroy(program);
  exec_case_end(&c);
}

static stow_status refuse(void* user, const char* data, size_t size) {
  size_t* left = user;
  (void)data;
  bool fits = size <= *left;
  *left = fits ? *left - size : 0;
  return fits ? STOW_OK : STOW_ERR_IO;
}

TEST(AWriteThatFailsIsReturned) {
  exec_case c;
  stowi_export* program;
  begin(&c, GRAPH);
  REQUIRE(make(c.prepared, c.plan, stow_allocator_default(), &c.diag, &program) == STOW_OK);
  for (size_t i = 0; i < stowi_export_file_count(program); ++i) {
    for (size_t room = 0; room < 100; room += 33) {
      size_t left = room;
      CHECK(stowi_export_file_write(program, i, (stow_writer){refuse, &left}) == STOW_ERR_IO);
    }
  }
  stowi_export_destroy(program);
  exec_case_end(&c);
}

static stow_status create(stow_allocator allocator, void* user) {
  const exec_case* c = user;
  stowi_export* program;
  stow_status status = make(c->prepared, c->plan, allocator, NULL, &program);
  stowi_export_destroy(program);
  return status;
}

TEST(CreatingSurvivesFailingAllocations) {
  exec_case c;
  begin(&c, GRAPH);
  CHECK(test_fault_sweep(create, &c) > 5);
  exec_case_end(&c);
}

// |io| of all inputs and outputs.
static void begin_io(exec_case* c, const char* graph, stow_io_policy io) {
  exec_case_begin(c, graph);
  c->plan_options.constants = false;
  c->plan_options.io = io;
  CHECK(exec_case_make(c) == STOW_OK);
}

TEST(PortsOutsideTheArenaAreBound) {
  exec_case c;
  stowi_export* program;
  size_t count;
  begin_io(&c,
           "%0 = input \"x\" : f32[2, 2]\n %1 = slice(%0) {starts = [1], ends = [2]} : f32[1, 2]\n"
           "%2 = neg(%1) : f32[1, 2]\n return %2",
           STOW_IO_EXTERNAL);
  REQUIRE(make(c.prepared, c.plan, stow_allocator_default(), &c.diag, &program) == STOW_OK);
  const stowi_export_port* ports = stowi_export_ports(program, &count);
  REQUIRE(count == 2);
  CHECK(ports[0].is_external && ports[0].is_kept && ports[1].is_external);
  CHECK(stowi_export_external_bytes(program) == 24);
  stow_string header = text_of(program, "small.h");
  CHECK(strstr(header.data, "void small_bind_in_x(const float* bytes);") != NULL);
  CHECK(strstr(header.data, "void small_bind_out_y(float* bytes);") != NULL);
  stow_string tables = text_of(program, "small.c");
  CHECK(strstr(tables.data, "bound[1].data = data + 8;") != NULL);  // what lies in the input
  stow_string_free(&header);
  stow_string_free(&tables);
  stowi_export_destroy(program);
  CHECK(test_fault_sweep(create, &c) > 5);
  exec_case_end(&c);
}

TEST(AConsumedInputIsToBeSetBeforeEveryRun) {
  exec_case c;
  stowi_export* program;
  size_t count;
  begin_io(&c, GRAPH, STOW_IO_CONSUME);
  REQUIRE(make(c.prepared, c.plan, stow_allocator_default(), &c.diag, &program) == STOW_OK);
  const stowi_export_port* ports = stowi_export_ports(program, &count);
  CHECK(count == 2 && !ports[0].is_external && !ports[0].is_kept);
  CHECK(stowi_export_external_bytes(program) == 0);
  stowi_export_destroy(program);
  exec_case_end(&c);
}

TEST(DimsOfARunAreRefused) {
  exec_case c;
  stowi_export* program;
  begin(&c, "%0 = input \"x\" : f32[3]\n %1 = nonzero(%0) : i64[1, 3]\n return %1");
  stow_status status = make(c.prepared, c.plan, stow_allocator_default(), &c.diag, &program);
  CHECK(status == STOW_ERR_DATA_DEPENDENT && program == NULL);
  CHECK(strstr(c.diag.message, "static shapes") != NULL);
  exec_case_end(&c);
}

// ---------------------------------------------------------------------------------------------
// Random graphs

// In the function that runs it, every step is run once, in order, and blocks end.
static bool is_sound(const char* text, size_t steps) {
  const char* run = strstr(text, "_run(void) {");
  size_t next = 0;
  int depth = 0;
  for (const char* at = run; at != NULL && *at != '\0' && (depth > 0 || at == run || next == 0);
       ++at) {
    size_t first, count;
    depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
    if (sscanf(at, "RUN(%zu, %zu)", &first, &count) == 2) {
      if (first != next) {
        return false;
      }
      next = first + count;
    }
    if (depth == 0 && *at == '}') {
      break;
    }
  }
  return run != NULL && depth == 0 && next == steps;
}

static void check_random(uint64_t seed, uint64_t* tally) {
  test_random random = {seed};
  random_graph_options options = random_graph_everything(1 + seed % MAX_NODES);
  stow_allocator heap = stow_allocator_default();
  stow_graph* graph = random_graph(&random, &options, heap);
  static const stow_io_policy policies[] = {STOW_IO_KEEP, STOW_IO_CONSUME, STOW_IO_EXTERNAL};
  stow_plan_options how;
  stow_plan_options_init(&how, STOW_PRESET_DEFAULT);
  how.io = policies[seed % 3];
  stow_prepared* prepared = NULL;
  stow_plan* plan = NULL;
  stowi_export* program = NULL;
  if (stow_graph_output_count(graph) <= MAX_OUTPUTS &&
      stow_prepare(graph, NULL, heap, NULL, &prepared) == STOW_OK &&
      stow_plan_make(graph, stow_prepared_effects(prepared), &how, heap, NULL, &plan) == STOW_OK &&
      make(prepared, plan, heap, NULL, &program) == STOW_OK) {
    stow_string text = text_of(program, "small.c");
    test_check(is_sound(text.data, stowi_export_step_count(program)), __FILE__, __LINE__,
               "seed %" PRIu64, seed);
    stow_string_free(&text);
    ++*tally;
  }
  stowi_export_destroy(program);
  stow_plan_destroy(plan);
  stow_prepared_destroy(prepared);
  stow_graph_destroy(graph);
}

TEST(ProgramsOfRandomGraphsRunEachStepOnce) {
  uint64_t count = test_is_long() ? GRAPHS_LONG : GRAPHS;
  uint64_t exported = 0;
  for (uint64_t seed = 1; seed <= count; ++seed) {
    check_random(seed, &exported);
  }
  CHECK(exported * 10 > count);
}
