// Tests of dims: one normal form, correct values, limits, failures.
#include <stowage/type.h>
#include <string.h>

#include "graph/dims/dims.h"
#include "support/fault.h"
#include "support/test.h"

static stow_dims* new_dims(void) { return stowi_graph_dims_create(stow_allocator_default()); }

static stow_dim symbol(stow_dims* dims, const char* name) {
  return stow_dim_symbol(dims, stow_str_of(name));
}

static void check_print(const stow_dims* dims, stow_dim dim, const char* expected) {
  stow_string text;
  stow_string_init(&text, stow_allocator_default());
  CHECK(stow_dim_print(dims, dim, stow_string_writer(&text)) == STOW_OK);
  CHECK_TEXT(text.data, expected);
  stow_string_free(&text);
}

TEST(EqualExpressionsAreOneNumber) {
  stow_dims* dims = new_dims();
  stow_dim past = symbol(dims, "past");
  stow_dim seq = symbol(dims, "seq");
  stow_dim total = stow_dim_add(dims, past, seq);
  CHECK(total < 0);
  CHECK_U64(stow_dim_add(dims, seq, past), total);
  CHECK_U64(stow_dim_sub(dims, total, seq), past);
  CHECK_U64(stow_dim_sub(dims, total, total), 0);
  stow_dim twice = stow_dim_mul(dims, total, 2);
  CHECK_U64(stow_dim_add(dims, total, total), twice);
  CHECK_U64(stow_dim_floor_div(dims, twice, 2), total);
  CHECK_U64(stow_dim_ceil_div(dims, twice, 2), total);
  stow_dim square = stow_dim_mul(dims, total, total);
  stow_dim expanded =
      stow_dim_add(dims, stow_dim_mul(dims, past, past),
                   stow_dim_add(dims, stow_dim_mul(dims, seq, seq),
                                stow_dim_mul(dims, stow_dim_mul(dims, seq, past), 2)));
  CHECK_U64(square, expanded);
  CHECK_U64(stow_dim_max(dims, past, seq), stow_dim_max(dims, seq, past));
  CHECK_U64(stow_dim_max(dims, total, stow_dim_add(dims, total, 1)), stow_dim_add(dims, total, 1));
  CHECK_U64(stow_dim_min(dims, total, stow_dim_add(dims, total, 1)), total);
  CHECK_U64(stow_dims_status(dims), STOW_OK);
  stowi_graph_dims_destroy(dims);
}

TEST(DimsPrintAsTheTextFormatWritesThem) {
  stow_dims* dims = new_dims();
  stow_dim seq = symbol(dims, "seq");
  stow_dim past = symbol(dims, "past");
  stow_dim dotted = symbol(dims, "p2o.Dim.0");
  check_print(dims, 384, "384");
  check_print(dims, seq, "?seq");
  check_print(dims, dotted, "?\"p2o.Dim.0\"");
  check_print(dims, stow_dim_add(dims, seq, past), "?(past + seq)");
  check_print(dims, stow_dim_sub(dims, 5, seq), "?(5 - seq)");
  check_print(dims, stow_dim_sub(dims, stow_dim_sub(dims, 0, seq), past), "?(0 - past - seq)");
  check_print(dims, stow_dim_mul(dims, stow_dim_mul(dims, seq, past), 3), "?(3*past*seq)");
  check_print(dims, stow_dim_floor_div(dims, seq, 2), "?(floor_div(seq, 2))");
  check_print(dims, stow_dim_ceil_div(dims, past, seq), "?(ceil_div(past, seq))");
  check_print(dims, stow_dim_ceil_div(dims, seq, 2), "?(floor_div(seq + 1, 2))");
  check_print(dims, stow_dim_max(dims, stow_dim_sub(dims, seq, 4), 0), "?(max(seq - 4, 0))");
  check_print(dims, stow_dim_min(dims, dotted, 7), "?(min(\"p2o.Dim.0\", 7))");
  check_print(dims, STOW_DIM_INVALID, "?(invalid)");
  stowi_graph_dims_destroy(dims);
}

TEST(FailuresAreKeptAndPropagate) {
  stow_dims* dims = new_dims();
  stow_dim x = symbol(dims, "x");
  CHECK_U64(stow_dim_floor_div(dims, x, 0), STOW_DIM_INVALID);
  CHECK_U64(stow_dims_status(dims), STOW_ERR_TYPE);
  CHECK_U64(stow_dim_add(dims, STOW_DIM_INVALID, 1), STOW_DIM_INVALID);
  CHECK_U64(stow_dim_add(dims, -77, 1), STOW_DIM_INVALID);
  CHECK_U64(stow_dims_status(dims), STOW_ERR_TYPE);
  stow_dims_clear_status(dims);
  CHECK_U64(stow_dim_add(dims, INT64_MAX, 1), STOW_DIM_INVALID);
  CHECK_U64(stow_dims_status(dims), STOW_ERR_OVERFLOW);
  stow_dims_clear_status(dims);
  CHECK_U64(stow_dim_mul(dims, stow_dim_mul(dims, x, INT64_MAX), 2), STOW_DIM_INVALID);
  CHECK_U64(stow_dims_status(dims), STOW_ERR_OVERFLOW);
  stow_dims_clear_status(dims);
  CHECK_U64(stow_dim_symbol(dims, stow_str_of("")), STOW_DIM_INVALID);
  CHECK_U64(stow_dims_status(dims), STOW_ERR_INVALID_ARGUMENT);
  stowi_graph_dims_destroy(dims);
}

TEST(ExplodingExpressionsHitALimitQuickly) {
  stow_dims* dims = new_dims();
  stow_dim sum = 1;
  char name[2] = {0};
  for (int c = 'a'; c <= 'z'; ++c) {
    name[0] = (char)c;
    sum = stow_dim_add(dims, sum, symbol(dims, name));
  }
  stow_dim power = sum;
  for (int i = 0; i < 100; ++i) {
    power = stow_dim_mul(dims, power, power);
  }
  CHECK_U64(power, STOW_DIM_INVALID);
  CHECK_U64(stow_dims_status(dims), STOW_ERR_LIMIT);
  stow_dims_clear_status(dims);
  stow_dim nested = symbol(dims, "x");
  for (int i = 0; i < 100; ++i) {
    nested = stow_dim_max(dims, stow_dim_floor_div(dims, nested, 3), symbol(dims, "y"));
  }
  CHECK_U64(nested, STOW_DIM_INVALID);
  CHECK_U64(stow_dims_status(dims), STOW_ERR_LIMIT);
  stow_dims_clear_status(dims);
  stow_dim product = symbol(dims, "x");
  for (int i = 0; i < 100; ++i) {
    product = stow_dim_mul(dims, product, symbol(dims, "y"));
  }
  CHECK_U64(stow_dims_status(dims), STOW_ERR_LIMIT);
  stowi_graph_dims_destroy(dims);
}

TEST(AnyNumberIsAValidDim) {
  stow_dims* dims = new_dims();
  static const int64_t numbers[] = {0, 7, INT64_MAX, -1, -77, INT64_MIN};
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); ++i) {
    stow_dim dim = stow_dim_of_int(dims, numbers[i]);
    int64_t number;
    CHECK(dim != STOW_DIM_INVALID);
    CHECK(stow_dim_to_int(dims, dim, &number) && number == numbers[i]);
    CHECK_U64(stow_dim_of_int(dims, numbers[i]), dim);
    CHECK_U64(stowi_graph_dim_is_valid(dims, dim), numbers[i] >= 0);
  }
  int64_t number;
  CHECK(!stow_dim_to_int(dims, symbol(dims, "x"), &number));
  CHECK(!stow_dim_to_int(dims, STOW_DIM_INVALID, &number));
  CHECK(!stow_dim_to_int(dims, -99, &number));
  CHECK_U64(stow_dim_add(dims, stow_dim_of_int(dims, -3), 5), 2);
  stowi_graph_dims_destroy(dims);
}

TEST(LowerBoundsFollowFromSymbolsBeingAtLeastSomething) {
  stow_dims* dims = new_dims();
  stow_dim a = symbol(dims, "a");
  stow_dim b = symbol(dims, "b");
  CHECK(stow_dim_at_least(dims, a, 0, 0) && !stow_dim_at_least(dims, a, 1, 0));
  CHECK(stow_dim_at_least(dims, a, 3, 3) && !stow_dim_at_least(dims, a, 4, 3));
  CHECK(stow_dim_at_least(dims, stow_dim_add(dims, a, b), 2, 1));
  CHECK(stow_dim_at_least(dims, stow_dim_mul(dims, a, stow_dim_mul(dims, b, 3)), 12, 2));
  CHECK(!stow_dim_at_least(dims, stow_dim_sub(dims, a, b), 0, 0));
  CHECK(stow_dim_at_least(dims, stow_dim_floor_div(dims, a, 4), 2, 8));
  CHECK(stow_dim_at_least(dims, stow_dim_ceil_div(dims, a, b), 1, 1));
  CHECK(!stow_dim_at_least(dims, stow_dim_floor_div(dims, a, b), 1, 1));
  CHECK(!stow_dim_at_least(dims, stow_dim_floor_div(dims, INT64_MAX, a), 1, 1));
  CHECK(stow_dim_at_least(dims, stow_dim_max(dims, stow_dim_sub(dims, a, 5), 1), 1, 0));
  CHECK(stow_dim_at_least(dims, stow_dim_min(dims, a, b), 2, 2));
  CHECK(stow_dim_at_least(dims, stow_dim_sub(dims, a, stow_dim_min(dims, a, b)), 0, 0));
  CHECK(stow_dim_at_least(dims, 4, 4, 0) && !stow_dim_at_least(dims, 4, 5, 0));
  CHECK(stow_dim_at_least(dims, stow_dim_of_int(dims, -4), -4, 0));
  CHECK(!stow_dim_at_least(dims, STOW_DIM_INVALID, -4, 0));
  CHECK(!stow_dim_at_least(dims, stow_dim_mul(dims, a, INT64_MAX), INT64_MAX, 0));
  stowi_graph_dims_destroy(dims);
}

TEST(MinAndMaxAreSimplifiedIfTheOrderIsKnown) {
  stow_dims* dims = new_dims();
  stow_dim past = symbol(dims, "past");
  stow_dim seq = symbol(dims, "seq");
  stow_dim total = stow_dim_add(dims, past, seq);
  CHECK_U64(stow_dim_min(dims, seq, total), seq);
  CHECK_U64(stow_dim_max(dims, seq, total), total);
  CHECK_U64(stow_dim_max(dims, seq, 0), seq);
  CHECK_U64(stow_dim_min(dims, stow_dim_mul(dims, seq, 2), seq), seq);
  CHECK_U64(stow_dim_max(dims, past, stow_dim_min(dims, past, seq)), past);
  CHECK_U64(stow_dim_min(dims, past, stow_dim_max(dims, past, seq)), past);
  stow_dim either = stow_dim_max(dims, past, seq);
  CHECK_U64(stow_dim_max(dims, either, past), either);
  check_print(dims, stow_dim_max(dims, seq, 1), "?(max(seq, 1))");
  stowi_graph_dims_destroy(dims);
}

TEST(MultiplesAreDividedExactly) {
  stow_dims* dims = new_dims();
  stow_dim a = symbol(dims, "a");
  stow_dim b = symbol(dims, "b");
  stow_dim c = symbol(dims, "c");
  stow_dim sum = stow_dim_add(dims, a, stow_dim_mul(dims, b, 3));
  stow_dim product = stow_dim_mul(dims, stow_dim_mul(dims, a, b), c);
  CHECK_U64(stow_dim_floor_div(dims, product, b), stow_dim_mul(dims, a, c));
  CHECK_U64(stow_dim_floor_div(dims, product, stow_dim_mul(dims, a, c)), b);
  CHECK_U64(stow_dim_ceil_div(dims, product, product), 1);
  CHECK_U64(stow_dim_floor_div(dims, stow_dim_mul(dims, product, 6), stow_dim_mul(dims, a, 2)),
            stow_dim_mul(dims, stow_dim_mul(dims, b, c), 3));
  CHECK_U64(stow_dim_floor_div(dims, stow_dim_mul(dims, sum, c), c), sum);
  CHECK_U64(stow_dim_floor_div(dims, stow_dim_mul(dims, sum, c), sum), c);
  CHECK_U64(stow_dim_floor_div(dims, stow_dim_mul(dims, sum, sum), sum), sum);
  stow_dim shifted = stow_dim_sub(dims, stow_dim_mul(dims, a, a), 1);
  CHECK_U64(stow_dim_floor_div(dims, shifted, stow_dim_add(dims, a, 1)), stow_dim_sub(dims, a, 1));
  check_print(dims, stow_dim_floor_div(dims, a, b), "?(floor_div(a, b))");
  check_print(dims, stow_dim_floor_div(dims, stow_dim_mul(dims, a, b), stow_dim_mul(dims, b, 2)),
              "?(floor_div(a*b, 2*b))");
  CHECK_U64(stow_dims_status(dims), STOW_OK);
  stowi_graph_dims_destroy(dims);
}

TEST(RewoundDimsCannotBeFound) {
  stow_dims* dims = new_dims();
  stow_dim a = symbol(dims, "a");
  stow_dim twice = stow_dim_mul(dims, a, 2);
  stowi_graph_dims_mark mark = stowi_graph_dims_get_mark(dims);
  for (int round = 0; round < 100; ++round) {
    stow_dim b = symbol(dims, round % 2 == 0 ? "b" : "c");
    stow_dim both = stow_dim_add(dims, a, b);
    CHECK_U64(stow_dim_sub(dims, both, b), a);
    stowi_graph_dims_rewind(dims, mark);
    CHECK_U64(stow_dims_symbol_count(dims), 1);
    CHECK_U64(stow_dims_find_symbol(dims, stow_str_of("b")), SIZE_MAX);
  }
  CHECK_U64(stow_dim_mul(dims, a, 2), twice);
  stowi_graph_dims_destroy(dims);
}

TEST(SymbolsAreListedAndFound) {
  stow_dims* dims = new_dims();
  stow_dim b = symbol(dims, "b");
  stow_dim a = symbol(dims, "a");
  CHECK_U64(symbol(dims, "b"), b);
  CHECK_U64(stow_dims_symbol_count(dims), 2);
  CHECK_TEXT(stow_dims_symbol_name(dims, 0).data, "b");
  CHECK_TEXT(stow_dims_symbol_name(dims, 2).data, "");
  CHECK_U64(stow_dims_find_symbol(dims, stow_str_of("a")), 1);
  CHECK_U64(stow_dims_find_symbol(dims, stow_str_of("c")), SIZE_MAX);
  stow_dim deep = stow_dim_floor_div(dims, stow_dim_add(dims, stow_dim_mul(dims, a, a), 1), 3);
  CHECK(stow_dim_uses(dims, deep, 1));
  CHECK(!stow_dim_uses(dims, deep, 0));
  CHECK(!stow_dim_uses(dims, 4, 0));
  stowi_graph_dims_destroy(dims);
}

TEST(NegativeNumbersAreAllowedInExpressionsOnly) {
  stow_dims* dims = new_dims();
  stow_dim x = symbol(dims, "x");
  stow_dim negative = stow_dim_sub(dims, 3, 5);
  CHECK(!stowi_graph_dim_is_valid(dims, negative));
  CHECK(stowi_graph_dim_is_valid(dims, x) && stowi_graph_dim_is_valid(dims, 0));
  CHECK(!stowi_graph_dim_is_valid(dims, STOW_DIM_INVALID) && !stowi_graph_dim_is_valid(dims, -99));
  CHECK_U64(stow_dim_max(dims, negative, 0), 0);
  CHECK_U64(stow_dim_add(dims, negative, 2), 0);
  int64_t values[] = {3};
  CHECK_U64(
      stowi_graph_dims_substitute(dims, stow_dim_max(dims, stow_dim_sub(dims, x, 5), 1), values),
      1);
  CHECK_U64(stowi_graph_dims_substitute(dims, stow_dim_sub(dims, x, 5), values), STOW_DIM_INVALID);
  CHECK_U64(stow_dims_status(dims), STOW_ERR_TYPE);
  stowi_graph_dims_destroy(dims);
}

// A random expression, and its value computed separately without a normal form.
typedef struct sample {
  stow_dim dim;
  int64_t value;
  bool defined;
} sample;

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0); }

static sample combine(stow_dims* dims, uint64_t op, sample a, sample b) {
  sample r = {0, 0, a.defined && b.defined};
  switch (op) {
    case 0:
      r.dim = stow_dim_add(dims, a.dim, b.dim);
      r.value = a.value + b.value;
      break;
    case 1:
      r.dim = stow_dim_sub(dims, a.dim, b.dim);
      r.value = a.value - b.value;
      break;
    case 2:
      r.dim = stow_dim_mul(dims, a.dim, b.dim);
      r.value = a.value * b.value;
      break;
    case 3:
    case 4:
      r.dim =
          op == 3 ? stow_dim_floor_div(dims, a.dim, b.dim) : stow_dim_ceil_div(dims, a.dim, b.dim);
      r.defined = r.defined && b.value > 0;
      if (r.defined) {
        r.value = op == 3 ? floor_div(a.value, b.value) : -floor_div(-a.value, b.value);
      }
      break;
    case 5:
      r.dim = stow_dim_min(dims, a.dim, b.dim);
      r.value = a.value < b.value ? a.value : b.value;
      break;
    default:
      r.dim = stow_dim_max(dims, a.dim, b.dim);
      r.value = a.value > b.value ? a.value : b.value;
      break;
  }
  r.defined = r.defined && r.value > -100000 && r.value < 100000;
  return r;
}

// Evaluates the postfix form.
typedef struct stack {
  const int64_t* values;
  int64_t numbers[64];
  size_t count;
} stack;

static stow_status put_postfix(void* user, stowi_graph_dim_op op, int64_t number) {
  stack* s = user;
  if (s->count == 64) {
    return STOW_ERR_LIMIT;
  }
  if (op == STOWI_GRAPH_DIM_NUMBER || op == STOWI_GRAPH_DIM_SYMBOL) {
    s->numbers[s->count++] = op == STOWI_GRAPH_DIM_SYMBOL ? s->values[number] : number;
    return STOW_OK;
  }
  if (s->count < 2) {
    return STOW_ERR_INVALID_ARGUMENT;
  }
  int64_t b = s->numbers[--s->count];
  int64_t a = s->numbers[s->count - 1];
  bool divides = op == STOWI_GRAPH_DIM_FLOOR_DIV || op == STOWI_GRAPH_DIM_CEIL_DIV;
  s->numbers[s->count - 1] = divides && b == 0                        ? 0
                             : op == STOWI_GRAPH_DIM_ADD              ? a + b
                             : op == STOWI_GRAPH_DIM_MUL              ? a * b
                             : op == STOWI_GRAPH_DIM_FLOOR_DIV        ? floor_div(a, b)
                             : op == STOWI_GRAPH_DIM_CEIL_DIV         ? -floor_div(-a, b)
                             : (op == STOWI_GRAPH_DIM_MIN) == (a < b) ? a
                                                                      : b;
  return STOW_OK;
}

static void check_postfix(const stow_dims* dims, const sample* expected, const int64_t* values) {
  stack s = {.values = values};
  CHECK(stowi_graph_dim_postfix(dims, expected->dim, put_postfix, &s) == STOW_OK);
  CHECK_U64(s.count, 1);
  CHECK(!expected->defined || s.numbers[0] == expected->value);
}

static stow_status refuse_postfix(void* user, stowi_graph_dim_op op, int64_t number) {
  size_t* left = user;
  (void)op;
  (void)number;
  return (*left)-- == 0 ? STOW_ERR_LIMIT : STOW_OK;
}

TEST(PostfixEndsWhereItIsRefused) {
  stow_dims* dims = new_dims();
  stow_dim n = symbol(dims, "n");
  stow_dim dim = stow_dim_floor_div(dims, stow_dim_add(dims, stow_dim_mul(dims, n, 3), 2), 4);
  size_t operations = 0;
  for (stow_status status = STOW_ERR_LIMIT; status != STOW_OK && operations < 20; ++operations) {
    size_t left = operations;
    status = stowi_graph_dim_postfix(dims, dim, refuse_postfix, &left);
  }
  CHECK_U64(operations, 8);  // 2, n, 3, *, +, 4, floor_div; then none is refused
  CHECK(stowi_graph_dim_postfix(dims, -1000, refuse_postfix, &operations) ==
        STOW_ERR_INVALID_ARGUMENT);
  stowi_graph_dims_destroy(dims);
}

static void check_random_expression(test_random* random) {
  stow_dims* dims = new_dims();
  int64_t values[3];
  sample pool[12];
  for (int i = 0; i < 3; ++i) {
    const char* names[] = {"a", "b", "c"};
    values[i] = (int64_t)test_random_below(random, 9);
    pool[i] = (sample){symbol(dims, names[i]), values[i], true};
    int64_t constant = (int64_t)test_random_below(random, 7);
    pool[3 + i] = (sample){constant, constant, true};
  }
  for (int i = 6; i < 12; ++i) {
    stow_dims_clear_status(dims);
    pool[i] =
        combine(dims, test_random_below(random, 7), pool[test_random_below(random, (uint64_t)i)],
                pool[test_random_below(random, (uint64_t)i)]);
    if (pool[i].dim ==
        STOW_DIM_INVALID) {  // division by a constant that is not positive, or a limit
      break;
    }
    check_postfix(dims, &pool[i], values);
    stow_dim result = stowi_graph_dims_substitute(dims, pool[i].dim, values);
    if (pool[i].defined && pool[i].value >= 0) {
      CHECK_U64(result, pool[i].value);
    } else if (pool[i].defined) {
      CHECK_U64(result, STOW_DIM_INVALID);
    }
    for (int64_t bound = -3; bound < 12 && pool[i].defined; ++bound) {
      CHECK(pool[i].value >= bound || !stow_dim_at_least(dims, pool[i].dim, bound, 0));
    }
  }
  stowi_graph_dims_destroy(dims);
}

TEST(SubstitutionAgreesWithDirectEvaluation) {
  test_random random = {2};
  int count = test_is_long() ? 300000 : 20000;
  for (int i = 0; i < count; ++i) {
    check_random_expression(&random);
  }
}

TEST(PartialSubstitutionLeavesTheOtherSymbols) {
  stow_dims* dims = new_dims();
  stow_dim batch = symbol(dims, "batch");
  stow_dim seq = symbol(dims, "seq");
  int64_t values[] = {4, STOW_DIM_INVALID};
  stow_dim product = stow_dim_mul(dims, batch, stow_dim_add(dims, seq, 1));
  check_print(dims, stowi_graph_dims_substitute(dims, product, values), "?(4*seq + 4)");
  stowi_graph_dims_destroy(dims);
}

TEST(HashesDependOnlyOnContent) {
  stow_dims* one = new_dims();
  stow_dims* two = new_dims();
  stow_dim a1 = symbol(one, "a");
  stow_dim b1 = symbol(one, "b");
  stow_dim b2 = symbol(two, "b");
  stow_dim a2 = symbol(two, "a");
  CHECK_U64(stowi_graph_dim_hash(one, stow_dim_add(one, a1, b1)),
            stowi_graph_dim_hash(two, stow_dim_add(two, b2, a2)));
  CHECK(stowi_graph_dim_hash(one, a1) != stowi_graph_dim_hash(one, b1));
  CHECK(stowi_graph_dim_hash(one, 3) != stowi_graph_dim_hash(one, 4));
  stowi_graph_dims_destroy(one);
  stowi_graph_dims_destroy(two);
}

static stow_status build_some(stow_allocator allocator, void* user) {
  (void)user;
  stow_dims* dims = stowi_graph_dims_create(allocator);
  if (dims == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  stow_dim a = symbol(dims, "a");
  stow_dim b = symbol(dims, "b");
  stow_dim x = stow_dim_mul(dims, stow_dim_add(dims, a, b), stow_dim_max(dims, a, 4));
  for (int64_t i = 1; i < 20; ++i) {
    x = stow_dim_add(dims, x, stow_dim_floor_div(dims, a, i));
  }
  stow_status status = stow_dims_status(dims);
  CHECK((x == STOW_DIM_INVALID) == (status != STOW_OK));
  stowi_graph_dims_destroy(dims);
  return status;
}

TEST(DimsSurviveEveryFailedAllocation) { CHECK(test_fault_sweep(build_some, NULL) > 8); }

TEST(TypesCountElementsAndBytesWithChecks) {
  stow_type type = stow_type_make(STOW_F32, 2, (stow_dim[]){100, 384});
  uint64_t n;
  CHECK(stow_type_elements(&type, &n) == STOW_OK && n == 38400);
  CHECK(stow_type_bytes(&type, &n) == STOW_OK && n == 153600);
  type = stow_type_make(STOW_I4, 1, (stow_dim[]){3});
  CHECK(stow_type_bytes(&type, &n) == STOW_OK && n == 2);
  type = stow_type_make(STOW_U2, 1, (stow_dim[]){5});
  CHECK(stow_type_bytes(&type, &n) == STOW_OK && n == 2);
  type = stow_type_make(STOW_C128, 0, NULL);
  CHECK(stow_type_bytes(&type, &n) == STOW_OK && n == 16);
  type = stow_type_make(STOW_F32, 3, (stow_dim[]){INT64_MAX, 0, INT64_MAX});
  CHECK(stow_type_bytes(&type, &n) == STOW_OK && n == 0);
  type = stow_type_make(STOW_F32, 2, (stow_dim[]){INT64_MAX, 4});
  CHECK(stow_type_elements(&type, &n) == STOW_ERR_OVERFLOW);
  type = stow_type_make(STOW_F64, 2, (stow_dim[]){INT64_MAX, 2});
  CHECK(stow_type_elements(&type, &n) == STOW_OK);
  CHECK(stow_type_bytes(&type, &n) == STOW_ERR_OVERFLOW);
  type = stow_type_make(STOW_F32, 1, (stow_dim[]){-1});
  CHECK(stow_type_bytes(&type, &n) == STOW_ERR_UNBOUND_DIM && n == 0);
  stow_dim many[20] = {0};
  CHECK_U64(stow_type_make(STOW_F32, 20, many).rank, STOW_MAX_RANK);
}

TEST(EveryDtypeHasNameWidthAndKind) {
  for (int i = 0; i < STOW_DTYPE_COUNT; ++i) {
    stow_dtype found;
    CHECK(stow_dtype_from_name(stow_str_of(stow_dtype_name((stow_dtype)i)), &found));
    CHECK_U64(found, i);
    CHECK(stow_dtype_bits((stow_dtype)i) != 0);
  }
  CHECK_TEXT(stow_dtype_name(STOW_DTYPE_COUNT), "?");
  CHECK_U64(stow_dtype_bits(STOW_DTYPE_COUNT), 0);
  CHECK_U64(stow_dtype_kind_of(STOW_BF16), STOW_KIND_FLOAT);
  CHECK_U64(stow_dtype_kind_of(STOW_C64), STOW_KIND_COMPLEX);
  CHECK_U64(stow_dtype_kind_of(STOW_DTYPE_COUNT), STOW_KIND_FLOAT);
  stow_dtype found;
  CHECK(!stow_dtype_from_name(stow_str_of("f33"), &found));
}

TEST(TypesPrintWithTheirDims) {
  stow_dims* dims = new_dims();
  stow_type type = stow_type_make(STOW_F16, 2, (stow_dim[]){1, symbol(dims, "seq")});
  stow_string text;
  stow_string_init(&text, stow_allocator_default());
  CHECK(stow_type_print(dims, &type, stow_string_writer(&text)) == STOW_OK);
  CHECK_TEXT(text.data, "f16[1, ?seq]");
  stow_string_free(&text);
  stow_type other = type;
  CHECK(stow_type_equal(&type, &other));
  other.dims[0] = 2;
  CHECK(!stow_type_equal(&type, &other));
  stowi_graph_dims_destroy(dims);
}
