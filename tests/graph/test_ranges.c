// Tests of ranges: what they are, dims at all their points against direct arithmetic, and that
// graphs, their text, copies and fingerprints have them.
#include <stdio.h>
#include <stowage/text.h>
#include <string.h>

#include "graph/api.h"
#include "graph/dims/dims.h"
#include "graph_support.h"

static stow_dims* new_dims(void) { return stowi_graph_dims_create(stow_allocator_default()); }

static stow_dim symbol_in(stow_dims* dims, const char* name, int64_t min, int64_t max,
                          int64_t step) {
  stow_dim symbol = stow_dim_symbol(dims, stow_str_of(name));
  stow_dim_range range = {min, max, step};
  size_t index = stow_dims_find_symbol(dims, stow_str_of(name));
  CHECK(stow_dims_set_range(dims, index, &range) == STOW_OK);
  return symbol;
}

static void check_range(const stow_dims* dims, size_t symbol, int64_t min, int64_t max,
                        int64_t step) {
  stow_dim_range range = {-1, -1, -1};
  CHECK(stow_dims_range(dims, symbol, &range));
  CHECK(range.min == min && range.max == max && range.step == step);
}

TEST(RangesAreMultiplesOfTheirSteps) {
  stow_dims* dims = new_dims();
  symbol_in(dims, "a", 1, 512, 1);
  symbol_in(dims, "b", 5, 1290, 32);
  symbol_in(dims, "c", 0, 0, 7);
  symbol_in(dims, "d", 0, 100, INT64_MAX);
  check_range(dims, 0, 1, 512, 1);
  check_range(dims, 1, 32, 1280, 32);
  check_range(dims, 2, 0, 0, 7);
  check_range(dims, 3, 0, 0, INT64_MAX);
  stow_dim_range range;
  CHECK(stow_dims_range(dims, 1, &range) && stow_dim_range_count(&range) == 40);
  CHECK(stow_dim_range_has(&range, 64) && !stow_dim_range_has(&range, 65));
  CHECK(!stow_dim_range_has(&range, 0) && !stow_dim_range_has(&range, 1312));
  CHECK(stow_dims_set_range(dims, 1, NULL) == STOW_OK && !stow_dims_range(dims, 1, &range));
  CHECK(!stow_dims_range(dims, 4, &range));
  stowi_graph_dims_destroy(dims);
}

TEST(WhatIsNoRangeIsRefusedAndChangesNothing) {
  stow_dims* dims = new_dims();
  symbol_in(dims, "a", 1, 8, 1);
  const stow_dim_range wrong[] = {{-1, 5, 1},
                                  {6, 5, 1},
                                  {1, 5, 0},
                                  {1, 5, -1},
                                  {33, 63, 32},
                                  {1, 5, INT64_MAX},
                                  {1, STOW_DIM_RANGE_MAX + 1, 1},
                                  {INT64_MIN, INT64_MIN, 1},
                                  {5, INT64_MIN, 1},
                                  {INT64_MAX, INT64_MAX, 1}};
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
    stow_dim_range range = wrong[i];
    CHECK(!stow_dim_range_trim(&range));
    CHECK(range.min == wrong[i].min && range.max == wrong[i].max);
    CHECK(stow_dims_set_range(dims, 0, &wrong[i]) == STOW_ERR_INVALID_ARGUMENT);
  }
  stow_dim_range largest = {0, STOW_DIM_RANGE_MAX, 1};
  CHECK(stow_dims_set_range(dims, 1, &largest) == STOW_ERR_NOT_FOUND);
  check_range(dims, 0, 1, 8, 1);
  CHECK(stow_dims_set_range(dims, 0, &largest) == STOW_OK);
  stowi_graph_dims_destroy(dims);
}

TEST(EvaluationReportsWhatHasNoValue) {
  stow_dims* dims = new_dims();
  stow_dim a = stow_dim_symbol(dims, stow_str_of("a"));
  stow_dim b = stow_dim_symbol(dims, stow_str_of("b"));
  int64_t values[2] = {INT64_MAX, 0};
  int64_t number = 1;
  CHECK(stow_dim_evaluate(dims, 7, values, &number) == STOW_OK && number == 7);
  CHECK(stow_dim_evaluate(dims, stow_dim_add(dims, a, 1), values, &number) == STOW_ERR_OVERFLOW);
  CHECK(stow_dim_evaluate(dims, stow_dim_mul(dims, a, a), values, &number) == STOW_ERR_OVERFLOW);
  CHECK(stow_dim_evaluate(dims, stow_dim_floor_div(dims, a, b), values, &number) == STOW_ERR_TYPE);
  CHECK(stow_dim_evaluate(dims, STOW_DIM_INVALID, values, &number) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(stow_dim_evaluate(dims, -100, values, &number) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(stow_dim_evaluate(dims, stow_dim_sub(dims, b, 4), values, &number) == STOW_OK &&
        number == -4);
  stowi_graph_dims_destroy(dims);
}

TEST(ProofsUseRangesAndSteps) {
  stow_dims* dims = new_dims();
  stow_dim n = symbol_in(dims, "n", 1, 512, 1);
  stow_dim h = symbol_in(dims, "h", 32, 1280, 32);
  stow_dim z = symbol_in(dims, "z", 0, STOW_DIM_RANGE_MAX, 1);
  stow_dim u = stow_dim_symbol(dims, stow_str_of("u"));
  CHECK(stow_dim_at_least(dims, n, 1, 0) && !stow_dim_at_least(dims, n, 2, 5));
  CHECK(stow_dim_at_most(dims, n, 512) && !stow_dim_at_most(dims, n, 511));
  CHECK(stow_dim_at_most(dims, stow_dim_sub(dims, n, 600), -88));
  CHECK(!stow_dim_at_most(dims, stow_dim_sub(dims, n, 600), -89));
  CHECK_U64(stow_dim_min(dims, n, 512), n);
  CHECK_U64(stow_dim_max(dims, n, 1), n);
  CHECK(stow_dim_at_least(dims, stow_dim_sub(dims, stow_dim_mul(dims, n, n), n), 0, 0));
  stow_dim rounded = stow_dim_mul(dims, stow_dim_floor_div(dims, h, 32), 32);
  CHECK(stow_dim_same(dims, rounded, h));
  CHECK(!stow_dim_same(dims, stow_dim_mul(dims, stow_dim_floor_div(dims, h, 64), 64), h));
  CHECK(stow_dim_not_less(dims, h, stow_dim_floor_div(dims, h, 2)));
  CHECK(!stow_dim_not_less(dims, n, h) && !stow_dim_same(dims, n, h));
  CHECK(!stow_dim_at_least(dims, z, 1, 1) && stow_dim_at_least(dims, u, 1, 1));
  CHECK(!stow_dim_at_most(dims, u, 100) && !stow_dim_same(dims, u, n));
  CHECK(!stow_dim_same(dims, STOW_DIM_INVALID, STOW_DIM_INVALID));
  int64_t least;
  int64_t most;
  CHECK(stow_dim_bounds(dims, stow_dim_sub(dims, stow_dim_mul(dims, n, 3), 7), &least, &most));
  CHECK(least == -4 && most == 1529);
  CHECK(stow_dim_bounds(dims, z, &least, &most) && least == 0 && most == STOW_DIM_RANGE_MAX);
  CHECK(!stow_dim_bounds(dims, u, &least, &most));
  CHECK(!stow_dim_bounds(dims, stow_dim_mul(dims, stow_dim_mul(dims, z, z), z), &least, &most));
  stowi_graph_dims_destroy(dims);
}

// ---------------------------------------------------------------------------------------------
// Random expressions, at all points

#define MOST_POINTS 64
#define EXPRESSIONS 16

typedef struct sample {
  stow_dim dim;
  int64_t values[MOST_POINTS];  // per point
  bool defined;                 // at every point, and small
} sample;

static int64_t floor_of(int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0); }

static int64_t apply(uint64_t op, int64_t a, int64_t b, bool* defined) {
  switch (op) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    case 3:
    case 4:
      *defined = *defined && b > 0;
      return b <= 0 ? 0 : op == 3 ? floor_of(a, b) : -floor_of(-a, b);
    case 5: return a < b ? a : b;
    default: return a > b ? a : b;
  }
}

static sample combine(stow_dims* dims, uint64_t op, const sample* a, const sample* b,
                      size_t points) {
  static stow_dim (*const functions[])(stow_dims*, stow_dim, stow_dim) = {
      stow_dim_add,      stow_dim_sub, stow_dim_mul, stow_dim_floor_div,
      stow_dim_ceil_div, stow_dim_min, stow_dim_max};
  sample made = {.dim = functions[op](dims, a->dim, b->dim), .defined = a->defined && b->defined};
  for (size_t i = 0; i < points && made.defined; ++i) {
    made.values[i] = apply(op, a->values[i], b->values[i], &made.defined);
    made.defined = made.defined && made.values[i] > -100000 && made.values[i] < 100000;
  }
  return made;
}

static void check_sample(const stow_dims* dims, const sample* s, int64_t points[][2],
                         size_t count) {
  int64_t least = s->values[0];
  int64_t most = s->values[0];
  for (size_t i = 0; i < count; ++i) {
    int64_t number;
    CHECK(stow_dim_evaluate(dims, s->dim, points[i], &number) == STOW_OK);
    CHECK(number == s->values[i]);
    least = s->values[i] < least ? s->values[i] : least;
    most = s->values[i] > most ? s->values[i] : most;
  }
  CHECK(stow_dim_at_least(dims, s->dim, least, 0));
  CHECK(!stow_dim_at_least(dims, s->dim, least + 1, 0));
  CHECK(stow_dim_at_most(dims, s->dim, most) && !stow_dim_at_most(dims, s->dim, most - 1));
  int64_t low;
  int64_t high;
  CHECK(stow_dim_bounds(dims, s->dim, &low, &high) && low == least && high == most);
}

static void check_pair(const stow_dims* dims, const sample* a, const sample* b, size_t count) {
  bool same = true;
  bool not_less = true;
  for (size_t i = 0; i < count; ++i) {
    same = same && a->values[i] == b->values[i];
    not_less = not_less && a->values[i] >= b->values[i];
  }
  CHECK(stow_dim_same(dims, a->dim, b->dim) == same);
  CHECK(stow_dim_not_less(dims, a->dim, b->dim) == not_less);
}

static void check_random(test_random* random) {
  stow_dims* dims = new_dims();
  int64_t points[MOST_POINTS][2];
  sample pool[EXPRESSIONS] = {{0}};
  stow_dim_range ranges[2];
  size_t count = 0;
  for (int i = 0; i < 2; ++i) {
    int64_t step = 1 + (int64_t)test_random_below(random, 5);
    int64_t min = step * (int64_t)test_random_below(random, 4);
    ranges[i] = (stow_dim_range){min, min + step * (int64_t)test_random_below(random, 8), step};
    pool[i].dim = symbol_in(dims, i == 0 ? "a" : "b", ranges[i].min, ranges[i].max, step);
  }
  for (int64_t a = ranges[0].min; a <= ranges[0].max; a += ranges[0].step) {
    for (int64_t b = ranges[1].min; b <= ranges[1].max; b += ranges[1].step) {
      points[count][0] = pool[0].values[count] = a;
      points[count][1] = pool[1].values[count] = b;
      ++count;
    }
  }
  pool[0].defined = pool[1].defined = true;
  for (size_t i = 2; i < EXPRESSIONS; ++i) {
    int64_t constant = (int64_t)test_random_below(random, 6);
    if (i < 5) {
      pool[i].dim = constant;
      pool[i].defined = true;
      for (size_t k = 0; k < count; ++k) {
        pool[i].values[k] = constant;
      }
      continue;
    }
    const sample* a = &pool[test_random_below(random, i)];
    const sample* b = &pool[test_random_below(random, i)];
    pool[i] = combine(dims, test_random_below(random, 7), a, b, count);
    if (pool[i].dim == STOW_DIM_INVALID) {
      break;  // divides by a constant that is not positive, or exceeds a limit
    }
    if (pool[i].defined) {
      check_sample(dims, &pool[i], points, count);
      for (size_t k = 0; k < i; ++k) {
        if (pool[k].defined) {
          check_pair(dims, &pool[i], &pool[k], count);
        }
      }
    }
  }
  stowi_graph_dims_destroy(dims);
}

TEST(DimsAgreeWithDirectArithmeticAtEveryPoint) {
  test_random random = {20};
  int count = test_is_long() ? 100000 : 4000;
  for (int i = 0; i < count; ++i) {
    check_random(&random);
  }
}

// ---------------------------------------------------------------------------------------------
// Graphs

static stow_module* parse(const char* text, stow_diag* diag) {
  stow_module* module = NULL;
  stow_diag_init(diag);
  (void)stow_module_parse(text, strlen(text), NULL, NULL, stow_allocator_default(), diag, &module);
  return module;
}

static void check_text(const stow_graph* graph, const char* expected) {
  stow_string text;
  stow_string_init(&text, stow_allocator_default());
  CHECK(stow_graph_print(graph, stow_string_writer(&text)) == STOW_OK);
  CHECK_TEXT(text.data, expected);
  stow_string_free(&text);
}

static const char clipped[] =
    "graph @g {\n"
    "  range ?seq = 1..512\n"
    "  range ?\"p2o.Dim.0\" = 32..1280/32\n"
    "  %0 = input \"x\" : f32[?seq, ?\"p2o.Dim.0\"]\n"
    "  %1 = relu(%0) : f32[?seq, ?\"p2o.Dim.0\"]\n"
    "  return %1\n"
    "}\n";

TEST(TextHasRanges) {
  stow_diag diag;
  stow_module* module = parse(clipped, &diag);
  CHECK_TEXT(diag.message, "");
  stow_graph* graph = stow_module_graph(module, 0);
  check_range(stow_graph_dims(graph), 0, 1, 512, 1);
  check_range(stow_graph_dims(graph), 1, 32, 1280, 32);
  check_text(graph, clipped);
  stow_graph* copy = NULL;
  CHECK(stowi_graph_copy(graph, stow_allocator_default(), NULL, &copy) == STOW_OK);
  check_text(copy, clipped);
  CHECK_U64(stow_graph_fingerprint(copy), stow_graph_fingerprint(graph));
  stow_graph_destroy(copy);
  CHECK(stow_graph_simplify(graph, stow_allocator_default(), NULL, &copy) == STOW_OK);
  check_text(copy, clipped);
  stow_graph_destroy(copy);
  stow_module_destroy(module);
}

TEST(RangesSimplifyDimsOfTheText) {
  stow_diag diag;
  stow_module* module = parse(
      "graph @g { range ?n = 1..512 range ?one = 7..7/7\n"
      "%0 = input \"x\" : f32[?(min(n, 512)), ?(one + 1)] return %0 }",
      &diag);
  CHECK_TEXT(diag.message, "");
  check_text(stow_module_graph(module, 0),
             "graph @g {\n"
             "  range ?n = 1..512\n"
             "  range ?one = 7..7/7\n"
             "  %0 = input \"x\" : f32[?n, 8]\n"
             "  return %0\n"
             "}\n");
  stow_module_destroy(module);
}

TEST(TextRefusesWhatIsNoRange) {
  static const struct {
    const char* line;
    const char* message;
  } cases[] = {
      {"range ?n = 5..2", "the range 5..2/1 has no value, or one above 1099511627776"},
      {"range ?n = 33..40/32", "the range 33..40/32 has no value, or one above 1099511627776"},
      {"range ?n = 1..5/0", "the range 1..5/0 has no value, or one above 1099511627776"},
      {"range ?n = 1..9223372036854775807",
       "the range 1..9223372036854775807/1 has no value, or one above 1099511627776"},
      {"range ?n = 1..9223372036854775808",
       "expected a range, as in 1..512, found '1..9223372036854775808'"},
      {"range ?n = 1", "expected a range, as in 1..512, found '1'"},
      {"range ?n = 1.", "expected a range, as in 1..512, found '1.'"},
      {"range ?n = 1..", "expected a range, as in 1..512, found '1..'"},
      {"range ?n = 1.5", "expected a range, as in 1..512, found '1.5'"},
      {"range ?n = 1..5/", "expected the step of the range, found 'range'"},
      {"range ?n = 1..5/-1", "expected the step of the range, found '-'"},
      {"range ?n 1..5", "expected '=', found '1..5'"},
      {"range ?(n) = 1..5", "expected a symbol after '?', found '('"},
      {"range ?n = 1..5 range ?n = 1..6", "this symbol has a range already"},
      {"range ?n = 1..5 range ?n = 1..5", "this symbol has a range already"}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    char text[256];
    stow_diag diag;
    snprintf(text, sizeof(text),
             "graph @g { %s range ?m = 1..2 %%0 = input \"x\" : f32[?n] return %%0 }",
             cases[i].line);
    CHECK(parse(text, &diag) == NULL);
    CHECK_TEXT(diag.message, cases[i].message);
  }
}

TEST(RangesAreInTheFingerprintUntilTheyAreBound) {
  stow_graph* plain = make_graph();
  stow_graph* ranged = make_graph();
  stow_dim n = stow_dim_symbol(stow_graph_edit_dims(plain), stow_str_of("n"));
  (void)add_input(plain, "x", VECTOR(STOW_F32, n));
  (void)add_input(ranged, "x",
                  VECTOR(STOW_F32, symbol_in(stow_graph_edit_dims(ranged), "n", 1, 9, 1)));
  uint64_t before = stow_graph_fingerprint(ranged);
  CHECK(before != stow_graph_fingerprint(plain));
  stow_dim_range wider = {1, 10, 1};
  CHECK(stow_dims_set_range(stow_graph_edit_dims(ranged), 0, &wider) == STOW_OK);
  CHECK(before != stow_graph_fingerprint(ranged));
  stow_str name = stow_str_of("n");
  CHECK(stow_graph_bind(plain, &name, (int64_t[]){4}, 1, NULL) == STOW_OK);
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_graph_bind(ranged, &name, (int64_t[]){11}, 1, &diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_TEXT(diag.message, "dim \"n\" is 11, which its range 1..10/1 does not have");
  CHECK(stow_graph_bind(ranged, &name, (int64_t[]){4}, 1, &diag) == STOW_OK);
  CHECK_U64(stow_graph_fingerprint(ranged), stow_graph_fingerprint(plain));
  stow_graph_destroy(plain);
  stow_graph_destroy(ranged);
}

TEST(BindingWithoutNamesUsesRangesThatAreNew) {
  stow_graph* graph = make_graph();
  stow_dims* dims = stow_graph_edit_dims(graph);
  stow_dim n = stow_dim_symbol(dims, stow_str_of("n"));
  stow_dim m = stow_dim_symbol(dims, stow_str_of("m"));
  (void)add_input(graph, "x", MATRIX(STOW_F32, stow_dim_min(dims, n, 64), m));
  symbol_in(dims, "n", 1, 64, 1);
  symbol_in(dims, "m", 3, 5, 4);
  CHECK(stow_graph_bind(graph, NULL, NULL, 0, NULL) == STOW_OK);
  const stow_type* type = stow_graph_type(graph, 0);
  CHECK(type->dims[0] == n && type->dims[1] == 4);
  stow_graph_destroy(graph);
}

static stow_status copy_ranged(stow_allocator allocator, void* user) {
  stow_graph* copy = NULL;
  stow_status status = stowi_graph_copy((const stow_graph*)user, allocator, NULL, &copy);
  stow_graph_destroy(copy);
  return status;
}

TEST(RangesSurviveEveryFailedAllocation) {
  stow_diag diag;
  stow_module* module = parse(clipped, &diag);
  CHECK(test_fault_sweep(copy_ranged, stow_module_graph(module, 0)) > 8);
  stow_module_destroy(module);
}

// The graph at every point of its ranges has the types that its dims say.
static void check_points(const char* text) {
  stow_diag diag;
  stow_module* module = parse(text, &diag);
  CHECK_TEXT(diag.message, "");
  if (module == NULL) {
    return;
  }
  const stow_graph* graph = stow_module_graph(module, 0);
  const stow_dims* dims = stow_graph_dims(graph);
  stow_str name = stow_dims_symbol_name(dims, 0);
  stow_dim_range range;
  CHECK(stow_dims_symbol_count(dims) == 1 && stow_dims_range(dims, 0, &range));
  for (int64_t at = range.min; at <= range.max; at += range.step) {
    stow_graph* bound = NULL;
    CHECK(stowi_graph_copy(graph, stow_allocator_default(), NULL, &bound) == STOW_OK);
    CHECK(stow_graph_bind(bound, &name, &at, 1, &diag) == STOW_OK);
    CHECK_TEXT(diag.message, "");
    for (stow_value value = 0; value < stow_graph_value_count(graph); ++value) {
      const stow_type* type = stow_graph_type(graph, value);
      for (uint32_t i = 0; i < type->rank; ++i) {
        int64_t number;
        CHECK(stow_dim_evaluate(dims, type->dims[i], &at, &number) == STOW_OK &&
              number == stow_graph_type(bound, value)->dims[i]);
      }
    }
    stow_graph_destroy(bound);
  }
  stow_module_destroy(module);
}

TEST(FloatsThatAreDimsDecideShapes) {
  check_points(
      "graph @g { range ?h = 0..640/32 %0 = input \"x\" : f32[1, ?h]\n"
      "%1 = shape(%0) {start = 1} : i64[1]\n"
      "%2 = cast(%1) {to = \"f32\"} : f32[1]\n"
      "%3 = constant \"eight\" {data = [8.0]} : f32[1]\n"
      "%4 = div(%2, %3) : f32[1]\n"
      "%5 = add(%4, %3) : f32[1]\n"
      "%6 = mul(%5, %3) : f32[1]\n"
      "%7 = sub(%6, %3) : f32[1]\n"
      "%8 = floor(%7) : f32[1]\n"
      "%9 = cast(%8) {to = \"i64\"} : i64[1]\n"
      "%10 = fill(%9) : f32[?(h + 56)]\n"
      "%11 = constant \"start\" {data = [1.0]} : f32[]\n"
      "%12 = squeeze(%4) : f32[]\n"
      "%13 = range(%11, %12, %11) : f32[?(max(floor_div(h, 8) - 1, 0))]\n"
      "return %10, %13 }");
}

TEST(FloatsThatMayRoundAreUnknown) {
  static const char* const texts[] = {
      // above 2^24
      "graph @g { range ?h = 1..16777217 %0 = input \"x\" : f32[?h]\n"
      "%1 = shape(%0) : i64[1]\n"
      "%2 = cast(%1) {to = \"f32\"} : f32[1]\n"
      "%3 = cast(%2) {to = \"i64\"} : i64[1]\n"
      "%4 = fill(%3) : f32[?h]\n"
      "return %4 }",
      // not a multiple
      "graph @g { range ?h = 1..64 %0 = input \"x\" : f32[?h]\n"
      "%1 = shape(%0) : i64[1]\n"
      "%2 = cast(%1) {to = \"f32\"} : f32[1]\n"
      "%3 = constant \"two\" {data = [2.0]} : f32[1]\n"
      "%4 = div(%2, %3) : f32[1]\n"
      "%5 = cast(%4) {to = \"i64\"} : i64[1]\n"
      "%6 = fill(%5) : f32[?(floor_div(h, 2))]\n"
      "return %6 }"};
  for (size_t i = 0; i < 2; ++i) {
    stow_diag diag;
    stow_module* module = parse(texts[i], &diag);
    const stow_graph* graph = module == NULL ? NULL : stow_module_graph(module, 0);
    CHECK_TEXT(diag.message, "");
    CHECK(graph != NULL && stow_graph_is_data_dependent(graph, stow_graph_outputs(graph)[0]));
    stow_module_destroy(module);
  }
}

TEST(WindowsAndScalesHoldAtEveryPoint) {
  check_points(
      "graph @g { range ?h = 3..40 %0 = input \"x\" : f32[1, 1, ?h]\n"
      "%1 = pool(%0) {kernel = [3], strides = [2], pads = [1, 0]} : f32[1, 1, ?(floor_div(h, 2))]\n"
      "%2 = constant \"scales\" {data = [1.0, 1.0, 2.0]} : f32[3]\n"
      "%3 = resize(%1, _, %2) : f32[1, 1, ?(2*floor_div(h, 2))]\n"
      "return %3 }");
}

TEST(WhatHoldsForAPartOfARangeSaysWhereToDivideIt) {
  static const struct {
    const char* body;
    int64_t at;
  } cases[] = {
      {"%0 = input \"x\" : f32[?n] %1 = input \"y\" : f32[4] %2 = add(%0, %1) : f32[4]", 2},
      {"%0 = input \"x\" : f32[?n, 4] %1 = squeeze(%0) : f32[?n, 4]", 2},
      {"%0 = input \"x\" : f32[?n] %1, %2 = split(%0) : f32[?n], f32[?n]", 2},
      {"%0 = input \"x\" : f32[1, 1, ?n] %1 = pool(%0) {kernel = [3]} : f32[1, 1, ?(n - 2)]", 3}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    char text[256];
    stow_diag diag;
    snprintf(text, sizeof(text), "graph @g { range ?n = 1..8 %s return %%0 }", cases[i].body);
    CHECK(parse(text, &diag) == NULL);
    CHECK_TEXT(diag.split_symbol, "n");
    CHECK(diag.split_at == cases[i].at);
    CHECK_HAS(diag.message, "dividing the range of \"n\" at ");
  }
}
