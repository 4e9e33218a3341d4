// Tensors that are made of dims and numbers; random ones by their statistics.
#include <math.h>
#include <string.h>

#include "exec/counted.h"

TEST(DimsAndTheirProduct) {
  COUNTED("f32[2, 3, 4]", "shape(%0)", "i64[3]", 2, 3, 4);
  COUNTED("f32[2, 3, 4]", "shape(%0) {start = 1, end = -1}", "i64[1]", 3);
  COUNTED("f32[2, 3, 4]", "shape(%0) {start = -100}", "i64[3]", 2, 3, 4);
  COUNTED_RUNS("f32[]", "shape(%0)", "i64[0]");
  COUNTED("f32[2, 3, 4]", "size(%0)", "i64[]", 24);
  COUNTED("f32[]", "size(%0)", "i64[]", 1);
}

TEST(RangesGoUpAndDown) {
  COUNTED("i64[] = [0]; i64[] = [10]; i64[] = [3]", "range(%0, %1, %2)", "i64[4]", 0, 3, 6, 9);
  kernel_case* c =
      kernel_case_create("i32[] = [10]; i32[] = [4]; i32[] = [-2]", "range(%0, %1, %2)", "i32[3]");
  KERNEL_GIVES(c, 0, 0, 10, 8, 6);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[] = [1.0]; f32[] = [2.0]; f32[] = [0.1]", "range(%0, %1, %2)",
                         "f32[10]");
  KERNEL_GIVES(c, 0, 1e-6, 1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9);
  kernel_case_destroy(c);
}

TEST(FillWritesEveryElement) {
  COUNTED("i64[2] = [2, 2]; i16[] = [7]", "fill(%0, %1)", "i16[2, 2]", 7, 7, 7, 7);
  COUNTED("i64[1] = [3]; u4[1] = [9]", "fill(%0, %1)", "u4[3]", 9, 9, 9);
  COUNTED("i64[1] = [2]", "fill(%0)", "f32[2]", 0, 0);
  COUNTED("i64[1] = [3]; f64[1] = [2.5]", "fill(%0, %1)", "f64[3]", 2.5, 2.5, 2.5);
  COUNTED_RUNS("i64[1] = [0]", "fill(%0)", "f32[0]");
  COUNTED("f32[2]", "full_like(%0) {value = 2.5}", "f32[2]", 2.5, 2.5);
  COUNTED("f32[2]", "full_like(%0) {value = 2.0, dtype = \"bool\"}", "bool[2]", 1, 1);
  COUNTED("u2[3]", "full_like(%0) {value = 3.0}", "u2[3]", 3, 3, 3);
  COUNTED_FAILS("i64[2]", "full_like(%0) {value = 1e30}", "i64[2]", "not a 64-bit integer");
}

TEST(DiagonalsOfOnes) {
  COUNTED("f32[2, 3]", "eye_like(%0)", "f32[2, 3]", 1, 0, 0, 0, 1, 0);
  COUNTED("f32[2, 3]", "eye_like(%0) {k = 1, dtype = \"i8\"}", "i8[2, 3]", 0, 1, 0, 0, 0, 1);
  COUNTED("f16[3, 2]", "eye_like(%0) {k = -1}", "f16[3, 2]", 0, 0, 1, 0, 0, 1);
  COUNTED("u4[2, 2]", "eye_like(%0) {k = 2}", "u4[2, 2]", 0, 0, 0, 0);
  COUNTED("f32[2, 2]", "eye_like(%0) {k = -9223372036854775807}", "f32[2, 2]", 0, 0, 0, 0);
}

TEST(OneHotSetsOneElement) {
  COUNTED("i64[4]; i64[] = [3]; f32[2] = [2.0, 5.0]", "one_hot(%0, %1, %2)", "f32[4, 3]", 5, 2, 2,
          2, 5, 2, 2, 2, 5, 2, 2, 2);
  kernel_case* c = kernel_case_create("i32[2]; i64[] = [3]; i8[2] = [0, 1]",
                                      "one_hot(%0, %1, %2) {axis = 0}", "i8[3, 2]");
  KERNEL_SET(c, 0, int32_t, -1, 1);
  KERNEL_GIVES(c, 0, 0, 0, 0, 0, 1, 1, 0);
  KERNEL_SET(c, 0, int32_t, -4, INT32_MIN);
  KERNEL_GIVES(c, 0, 0, 0, 0, 0, 0, 0, 0);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[2]; i64[] = [2]; u4[2] = [3, 4]", "one_hot(%0, %1, %2)", "u4[2, 2]");
  KERNEL_SET(c, 0, float, 1, NAN);
  KERNEL_GIVES(c, 0, 0, 3, 4, 3, 3);
  kernel_case_destroy(c);
}

// ---------------------------------------------------------------------------------------------
// Random numbers

typedef struct statistics {
  double mean, deviation, lowest, highest;
} statistics;

static statistics describe(const stow_tensor* tensor) {
  size_t count = stow_tensor_elements(tensor);
  statistics s = {0, 0, INFINITY, -INFINITY};
  double squares = 0;
  for (size_t i = 0; i < count; ++i) {
    double number = stowi_kernel_kind(tensor->dtype) == STOW_KIND_FLOAT
                        ? stowi_kernel_float_at(tensor, i)
                        : (double)stowi_kernel_int_at(tensor, i);
    s.mean += number;
    squares += number * number;
    s.lowest = number < s.lowest ? number : s.lowest;
    s.highest = number > s.highest ? number : s.highest;
  }
  s.mean /= (double)count;
  s.deviation = sqrt(squares / (double)count - s.mean * s.mean);
  return s;
}

static bool is_near(double actual, double expected, double within) {
  return fabs(actual - expected) <= within;
}

// Runs a node without operands, or with %0 of |operands| counted up.
static statistics sample(const char* operands, const char* node, const char* result) {
  kernel_case* c = kernel_case_create(operands, node, result);
  CHECK(kernel_case_run(c) == STOW_OK);
  statistics s = describe(kernel_case_result(c, 0));
  kernel_case_destroy(c);
  return s;
}

TEST(NormalNumbersHaveTheirMeanAndDeviation) {
  statistics s =
      sample("", "random_normal() {shape = [100, 200], mean = 3.0, scale = 2.0}", "f32[100, 200]");
  CHECK(is_near(s.mean, 3, 0.06));
  CHECK(is_near(s.deviation, 2, 0.05));
  CHECK(s.lowest < -3 && s.highest > 9);
  s = sample("f16[100, 200]", "random_normal(%0)", "f16[100, 200]");
  CHECK(is_near(s.mean, 0, 0.03));
  CHECK(is_near(s.deviation, 1, 0.03));
}

TEST(UniformNumbersStayWithinTheirBounds) {
  statistics s =
      sample("", "random_uniform() {shape = [20000], low = -1.0, high = 3.0}", "f32[20000]");
  CHECK(s.lowest >= -1 && s.highest <= 3);
  CHECK(is_near(s.mean, 1, 0.04));
  CHECK(is_near(s.deviation, 4 / sqrt(12), 0.03));
}

TEST(SeedsDetermineRandomNumbers) {
  statistics one = sample("f64[50]", "random_uniform(%0) {seed = 1.0}", "f64[50]");
  statistics again = sample("f64[50]", "random_uniform(%0) {seed = 1.0}", "f64[50]");
  statistics other = sample("f64[50]", "random_uniform(%0) {seed = 2.0}", "f64[50]");
  statistics none = sample("f64[50]", "random_uniform(%0)", "f64[50]");
  CHECK(one.mean == again.mean);
  CHECK(one.mean != other.mean && one.mean != none.mean && other.mean != none.mean);
}

TEST(ComplexProbabilitiesAreRefused) {
  kernel_case* c = kernel_case_create("c64[2]", "bernoulli(%0) {dtype = \"bool\"}", "bool[2]");
  CHECK(kernel_case_run(c) == STOW_ERR_UNSUPPORTED);
  CHECK_HAS(kernel_case_message(c), "must not be complex");
  kernel_case_destroy(c);
}

TEST(BernoulliFollowsProbabilities) {
  kernel_case* c =
      kernel_case_create("f32[20000]", "bernoulli(%0) {dtype = \"bool\"}", "bool[20000]");
  float* probabilities = kernel_case_operand(c, 0);
  for (size_t i = 0; i < 20000; ++i) {
    probabilities[i] = 0.25F;
  }
  CHECK(kernel_case_run(c) == STOW_OK);
  CHECK(is_near(describe(kernel_case_result(c, 0)).mean, 0.25, 0.015));
  for (size_t i = 0; i < 20000; ++i) {
    probabilities[i] = i < 10000 ? 0 : 1;
  }
  CHECK(kernel_case_run(c) == STOW_OK);
  CHECK(describe(kernel_case_result(c, 0)).mean == 0.5);
  kernel_case_destroy(c);
}

TEST(MultinomialFollowsScores) {
  kernel_case* c =
      kernel_case_create("f32[2, 3]", "multinomial(%0) {samples = 10000}", "i32[2, 10000]");
  KERNEL_SET(c, 0, float, logf(0.1F), logf(0.2F), logf(0.7F), -INFINITY, 1000, -INFINITY);
  CHECK(kernel_case_run(c) == STOW_OK);
  const int32_t* drawn = kernel_case_result(c, 0)->data;
  size_t counts[3] = {0};
  for (size_t i = 0; i < 10000; ++i) {
    REQUIRE(drawn[i] >= 0 && drawn[i] < 3);
    counts[drawn[i]]++;
    REQUIRE(drawn[10000 + i] == 1);
  }
  CHECK(is_near((double)counts[0], 1000, 150));
  CHECK(is_near((double)counts[1], 2000, 200));
  KERNEL_SET(c, 0, float, 1, INFINITY, 2, 0, 0, INFINITY);
  CHECK(kernel_case_run(c) == STOW_OK);
  drawn = kernel_case_result(c, 0)->data;
  for (size_t i = 0; i < 10000; ++i) {
    REQUIRE(drawn[i] == 1 && drawn[10000 + i] == 2);
  }
  kernel_case_destroy(c);
}

// ---------------------------------------------------------------------------------------------

TEST(DropoutDropsOnlyInTraining) {
  kernel_case* c =
      kernel_case_create("f16[3]; f32[] = [0.5]; bool[]", "dropout(%0, %1, %2)", "f16[3]; bool[3]");
  count_up(c, 0, 0);
  KERNEL_GIVES(c, 0, 0, 0, 1, 2);
  KERNEL_GIVES(c, 1, 0, 1, 1, 1);
  kernel_case_destroy(c);
}

TEST(DropoutScalesTheElementsItKeeps) {
  enum { COUNT = 20000 };
  kernel_case* c = kernel_case_create("f32[20000]; f32[] = [0.75]; bool[] = [1]",
                                      "dropout(%0, %1, %2)", "f32[20000]; bool[20000]");
  float* x = kernel_case_operand(c, 0);
  for (size_t i = 0; i < COUNT; ++i) {
    x[i] = 2;
  }
  CHECK(kernel_case_run(c) == STOW_OK);
  const float* y = kernel_case_result(c, 0)->data;
  const uint8_t* stays = kernel_case_result(c, 1)->data;
  for (size_t i = 0; i < COUNT; ++i) {
    REQUIRE(y[i] == (stays[i] ? 8.0F : 0.0F));
  }
  CHECK(is_near(describe(kernel_case_result(c, 1)).mean, 0.25, 0.02));
  kernel_case_destroy(c);
}

TEST(DropoutRefusesRatiosOutOfRange) {
  kernel_case* c =
      kernel_case_create("f32[2]; f32[] = [1.0]; bool[] = [1]", "dropout(%0, %1, %2)", "f32[2]");
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(kernel_case_message(c), "ratio 1 is out of range");
  kernel_case_destroy(c);
}
