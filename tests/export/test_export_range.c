// Programs for ranges of shapes, as tables: what they evaluate is compared with the plan at every
// point. tests/cli/test_export_range.sh builds and runs them.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/formula.h>
#include <stowage/text.h>
#include <string.h>

#include "export/export.h"
#include "support/fault.h"
#include "support/test.h"

typedef struct fixture {
  stow_module* module;
  stow_graph* graph;
  stow_prepared* prepared;
  stow_formula* formula;
  stow_plan_options plan;
  stow_diag diag;
} fixture;

static stow_allocator heap(void) { return stow_allocator_default(); }

static void begin(fixture* f, const char* text) {
  *f = (fixture){0};
  stow_diag_init(&f->diag);
  stow_plan_options_init(&f->plan, STOW_PRESET_DEFAULT);
  f->plan.params = f->plan.constants = false;
  stow_status status =
      stow_module_parse(text, strlen(text), "test.stow", NULL, heap(), &f->diag, &f->module);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s", f->diag.message);
  f->graph = stow_module_graph(f->module, 0);
}

static stow_status plan(fixture* f) {
  stow_formula_options options;
  stow_formula_options_init(&options);
  stow_status status = stow_prepare(f->graph, NULL, heap(), &f->diag, &f->prepared);
  if (status == STOW_OK) {
    options.plan = &f->plan;
    options.effects = stow_prepared_formula_effects(f->prepared);
    status = stow_formula_make(f->graph, &options, heap(), &f->diag, &f->formula);
  }
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s", f->diag.message);
  return status;
}

static void end(fixture* f) {
  stow_formula_destroy(f->formula);
  stow_prepared_destroy(f->prepared);
  stow_module_destroy(f->module);
}

static stow_status export_with(fixture* f, stow_allocator allocator, stowi_export** out_program) {
  static const stow_str names[] = {{"y", 1}, {"z", 1}};
  stowi_export_options options = {.name = "small", .output_names = names};
  return stowi_export_create_range(f->prepared, f->formula, &options, allocator, &f->diag,
                                   out_program);
}

static stow_string text_of(const stowi_export* program, const char* name) {
  stow_string text;
  stow_string_init(&text, heap());
  for (size_t i = 0; i < stowi_export_file_count(program); ++i) {
    if (strcmp(stowi_export_file_name(program, i), name) == 0) {
      CHECK(stowi_export_file_write(program, i, stow_string_writer(&text)) == STOW_OK);
    }
  }
  CHECK(text.data != NULL);
  return text;
}

static const char* const plain =
    "graph @g {\n range ?n = 0..7\n %0 = input \"x\" : f32[?n, 3, 2]\n"
    "%1 = exp(%0) : f32[?n, 3, 2]\n %2 = transpose(%1) {perm = [1, 0, 2]} : f32[3, ?n, 2]\n"
    "%3 = tanh(%2) : f32[3, ?n, 2]\n return %3\n}";

static const char* const conv =
    "graph @g {\n range ?w = 3..20\n range ?b = 2..6/2\n %0 = input \"x\" : f32[?b, 4, 6, ?w]\n"
    "%1 = constant \"k\" {data = [1.0]} : f32[]\n %2 = expand(%1) : f32[8, 4, 3, 3]\n"
    "%3 = conv(%0, %2) {pads = [1, 1, 1, 1]} : f32[?b, 8, 6, ?w]\n"
    "%4 = relu(%3) : f32[?b, 8, 6, ?w]\n return %4\n}";

static const char* const blocks =
    "graph @g {\n range ?n = 9..792/9\n"
    "function @attend {\n %0 = input \"q\" : f32[?rows, 8]\n %1 = input \"k\" : f32[8, 50]\n"
    "%2 = matmul(%0, %1) : f32[?rows, 50]\n %3 = softmax(%2) {axis = 1} : f32[?rows, 50]\n"
    "return %3\n}\n"
    "%0 = input \"q\" : f32[?n, 8]\n %1 = input \"k\" : f32[8, 50]\n"
    "%2 = blocks(%0, %1) {function = \"attend\", over = [0, 0, 1]} : f32[?n, 50]\n"
    "%3 = neg(%2) : f32[?n, 50]\n return %3\n}";

// All points are proven while it is made; here what is said of it.
TEST(AProgramHasOneArenaForAllShapes) {
  fixture f;
  stowi_export* program;
  begin(&f, plain);
  REQUIRE(plan(&f) == STOW_OK);
  stow_status status = export_with(&f, heap(), &program);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s", f.diag.message);
  REQUIRE(status == STOW_OK);
  stow_formula_info info = {.struct_size = sizeof(info)};
  CHECK(stow_formula_describe(f.formula, &info) == STOW_OK);
  CHECK_U64(stowi_export_arena_bytes(program), info.largest_arena);
  CHECK_U64(stowi_export_shape_count(program), 8);
  CHECK_U64(stowi_export_step_count(program), 3);
  stow_string header = text_of(program, "small.h");
  CHECK(strstr(header.data, "// Binds a shape: n = 0..7.") != NULL);
  CHECK(strstr(header.data, "int small_bind(int64_t at_n);") != NULL);
  CHECK(strstr(header.data, "// input x: f32[?n, 3, 2], at most 168 bytes") != NULL);
  stow_string tables = text_of(program, "small.c");
  for (size_t r = 0; r < info.region_count; ++r) {
    char name[48];
    (void)snprintf(name, sizeof(name), "static int run_%zu(void)", r);
    CHECK(strstr(tables.data, name) != NULL);
  }
  stow_string_free(&header);
  stow_string_free(&tables);
  stowi_export_destroy(program);
  end(&f);
}

static stow_status attempt(stow_allocator allocator, void* user) {
  stowi_export* program;
  stow_status status = export_with(user, allocator, &program);
  stowi_export_destroy(program);
  return status;
}

static void survive(const char* text, stow_io_policy io, size_t least) {
  fixture f;
  begin(&f, text);
  f.plan.io = io;
  REQUIRE(plan(&f) == STOW_OK);
  CHECK(test_fault_sweep(attempt, &f) > least);
  end(&f);
}

TEST(MakingSurvivesFailingAllocations) {
  survive(plain, STOW_IO_KEEP, 20);
  survive(plain, STOW_IO_EXTERNAL, 20);
  survive(conv, STOW_IO_KEEP, 20);
}

TEST(BlocksSurviveFailingAllocations) { survive(blocks, STOW_IO_KEEP, 40); }

TEST(WhatIsBoundHasAFunction) {
  fixture f;
  stowi_export* program;
  size_t count;
  begin(&f, plain);
  f.plan.io = STOW_IO_EXTERNAL;
  REQUIRE(plan(&f) == STOW_OK);
  REQUIRE(export_with(&f, heap(), &program) == STOW_OK);
  const stowi_export_port* ports = stowi_export_ports(program, &count);
  REQUIRE(count == 2);
  CHECK(ports[0].is_external && ports[1].is_external);
  CHECK_U64(stowi_export_external_bytes(program), 2 * 168);
  stow_string tables = text_of(program, "small.c");
  CHECK(strstr(tables.data, "stow_program_bind_memory(&small_range, 1, bytes);") != NULL);
  stow_string_free(&tables);
  stowi_export_destroy(program);
  end(&f);
}

// What there is of blocks: for every point a body and what is left, and more than one size.
TEST(BlocksHaveNumbers) {
  fixture f;
  stowi_export* program;
  begin(&f, blocks);
  REQUIRE(plan(&f) == STOW_OK);
  stow_status status = export_with(&f, heap(), &program);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s", f.diag.message);
  REQUIRE(status == STOW_OK);
  CHECK_U64(program->range->blocks.count, 1);
  CHECK(program->bodies.count > 1);
  stow_string tables = text_of(program, "small.c");
  CHECK(strstr(tables.data, "STOW_PROGRAM_VALUE_DIM") != NULL);
  CHECK(strstr(tables.data, "stow_program_make_blocks") != NULL);
  stow_string_free(&tables);
  stowi_export_destroy(program);
  end(&f);
}

static void refuse(const char* text, stow_status expected, const char* message) {
  fixture f;
  stowi_export* program;
  begin(&f, text);
  REQUIRE(plan(&f) == STOW_OK);
  CHECK(export_with(&f, heap(), &program) == expected && program == NULL);
  test_check(strstr(f.diag.message, message) != NULL, __FILE__, __LINE__, "%s", f.diag.message);
  end(&f);
}

TEST(WhatNoProgramHasIsNamed) {
  refuse(
      "graph @g {\n range ?n = 1..4\n %0 = input \"x\" : f32[?n]\n"
      "%1 = nonzero(%0) : i64[1, ?n]\n return %1\n}",
      STOW_ERR_DATA_DEPENDENT, "%1 has data-dependent dimensions");
}

// ---------------------------------------------------------------------------------------------
// Random graphs

#define LEAST 3  // operations
#define MOST_OPERATIONS 14

typedef struct maker {
  test_random random;
  stow_string text;
  uint64_t values;                      // ids so far
  uint64_t whole[4 * MOST_OPERATIONS];  // those that are f32[?n, 8]
  uint64_t whole_count;
} maker;

static void say(maker* m, const char* format, uint64_t a, uint64_t b) {
  char line[160];
  int size = snprintf(line, sizeof(line), "%%%" PRIu64 " = ", m->values++);
  CHECK(stow_string_append(&m->text, line, (size_t)size) == STOW_OK);
  size = snprintf(line, sizeof(line), format, a, b);
  CHECK(stow_string_append(&m->text, line, (size_t)size) == STOW_OK);
  CHECK(stow_string_append(&m->text, "\n", 1) == STOW_OK);
}

static uint64_t any(maker* m) { return m->whole[test_random_below(&m->random, m->whole_count)]; }

// Adds an operation, or a few with another shape between them.
static void add_operation(maker* m) {
#define ID "%%%" PRIu64
  switch (test_random_below(&m->random, 7)) {
    case 0: say(m, "exp(" ID ") : f32[?n, 8]", any(m), 0); break;
    case 1: say(m, "add(" ID ", " ID ") : f32[?n, 8]", any(m), any(m)); break;
    case 2: say(m, "softmax(" ID ") {axis = 1} : f32[?n, 8]", any(m), 0); break;
    case 3:
      say(m, "transpose(" ID ") {perm = [1, 0]} : f32[8, ?n]", any(m), 0);
      say(m, "neg(" ID ") : f32[8, ?n]", m->values - 1, 0);
      say(m, "transpose(" ID ") {perm = [1, 0]} : f32[?n, 8]", m->values - 1, 0);
      break;
    case 4:
      say(m, "concat(" ID ", " ID ") {axis = 0} : f32[?(2*n), 8]", any(m), any(m));
      say(m, "tanh(" ID ") : f32[?(2*n), 8]", m->values - 1, 0);
      say(m, "reshape(" ID ") : f32[2, ?n, 8]", m->values - 1, 0);
      say(m, "slice(" ID ") {starts = [1], ends = [2], axes = [0]} : f32[1, ?n, 8]", m->values - 1,
          0);
      say(m, "reshape(" ID ") : f32[?n, 8]", m->values - 1, 0);
      break;
    case 5:
      say(m, "reshape(" ID ") : f32[8, ?n]", any(m), 0);
      say(m, "matmul(" ID ", " ID ") : f32[8, 8]", m->values - 1, any(m));
      say(m, "matmul(" ID ", " ID ") : f32[?n, 8]", any(m), m->values - 1);
      break;
    default:
      say(m, "concat(" ID ", " ID ") {axis = 1} : f32[?n, 16]", any(m), any(m));
      say(m, "slice(" ID ") {starts = [4], ends = [12], axes = [1]} : f32[?n, 8]", m->values - 1,
          0);
  }
#undef ID
  m->whole[m->whole_count++] = m->values - 1;
}

static void check_random(uint64_t seed) {
  static const stow_io_policy policies[] = {STOW_IO_KEEP, STOW_IO_CONSUME, STOW_IO_EXTERNAL};
  maker m = {.random = {seed}};
  fixture f;
  stowi_export* program;
  stow_string_init(&m.text, heap());
  const char* head =
      seed % 2 == 0 ? "graph @g {\nrange ?n = 0..6\n" : "graph @g {\nrange ?n = 2..41/3\n";
  CHECK(stow_string_append(&m.text, head, strlen(head)) == STOW_OK);
  for (int i = 0; i < 2; ++i) {
    say(&m, i == 0 ? "input \"a\" : f32[?n, 8]" : "input \"b\" : f32[?n, 8]", 0, 0);
    m.whole[m.whole_count++] = m.values - 1;
  }
  for (uint64_t i = LEAST + test_random_below(&m.random, MOST_OPERATIONS - LEAST); i > 0; --i) {
    add_operation(&m);
  }
  char last[64];
  int size = snprintf(last, sizeof(last), "return %%%" PRIu64 "\n}", m.values - 1);
  CHECK(stow_string_append(&m.text, last, (size_t)size) == STOW_OK);
  begin(&f, m.text.data);
  f.plan.io = policies[seed % 3];
  REQUIRE(plan(&f) == STOW_OK);
  stow_status status = export_with(&f, heap(), &program);
  test_check(status == STOW_OK, __FILE__, __LINE__, "seed %" PRIu64 ": %s\n%s", seed,
             f.diag.message, m.text.data);
  stowi_export_destroy(program);
  end(&f);
  stow_string_free(&m.text);
}

// That is proven while they are made.
TEST(ProgramsOfRandomGraphsHaveThePlansNumbers) {
  uint64_t count = test_is_long() ? 2000 : 30;
  for (uint64_t seed = 1; seed <= count; ++seed) {
    check_random(seed);
  }
}

// ---------------------------------------------------------------------------------------------
// The evaluator

TEST(NumbersAreEvaluated) {
#define OP(op, given) ((uint32_t)(given) << STOW_PROGRAM_OP_BITS | STOW_PROGRAM_##op)
  static const int64_t longs[] = {INT64_C(1) << 40, -7, 11, 2, 12, 5};
  static const uint32_t cells[] = {0, 90, 91, 92, 93, 94};
  static const uint32_t code[] = {
      OP(SYMBOL, 0),    OP(INT, 4),    OP(FLOOR_DIV, 0), OP(KEEP, 0),               // 9 / 4
      OP(SYMBOL, 0),    OP(INT, 4),    OP(CEIL_DIV, 0),  OP(KEEP, 1),               // 9 / 4, up
      OP(LONG, 1),      OP(INT, 2),    OP(FLOOR_DIV, 0), OP(KEEP, 2),               // -7 / 2
      OP(LONG, 1),      OP(INT, 2),    OP(CEIL_DIV, 0),  OP(KEEP, 3),               // -7 / 2, up
      OP(INT, 65),      OP(ALIGN, 6),  OP(RAISE, 4),     OP(KEEP, 4),               //
      OP(TABLE, 2),     OP(KEEP, 5),   OP(INT, 0),       OP(INT, 3),  OP(ELSE, 0),  //
      OP(KEEP, 6),      OP(POINT, 0),  OP(CELL, 1),      OP(KEEP, 7),               //
      OP(NUMBER, 0),    OP(NUMBER, 1), OP(MIN, 0),       OP(LONG, 0), OP(MAX, 0),   //
      OP(INT, 1),       OP(SUB, 0),    OP(KEEP, 8),      OP(INT, 5),  OP(INT, 0),   //
      OP(FLOOR_DIV, 0), OP(KEEP, 9)};
  static const int64_t expected[2][10] = {
      {2, 3, -4, -3, 128, 11, 3, 91, (INT64_C(1) << 40) - 1, 0},
      {2, 3, -4, -3, 300, 12, 3, 94, (INT64_C(1) << 40) - 1, 0}};
  const stow_program_formula formula = {code, sizeof(code) / sizeof(code[0]), longs, cells};
  const int64_t values[] = {9};
  for (size_t i = 0; i < 2; ++i) {
    int64_t numbers[10] = {0, 0, 0, 0, i == 0 ? 0 : 300};
    stow_program_evaluate(&formula, values, i == 0 ? 1 : 4, numbers);
    for (size_t k = 0; k < 10; ++k) {
      test_check(numbers[k] == expected[i][k], __FILE__, __LINE__, "number %zu is %" PRId64, k,
                 numbers[k]);
    }
  }
#undef OP
}
