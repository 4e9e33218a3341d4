// reduce, topk and running sums: numbers of numpy, which says what nothing reduces to as well.
#include <math.h>

#include "exec/numbers.h"

#define X N(1, 2, 3, 4, 4, 3, 2, -1)

TEST(EveryReductionOfReals) {
#define REDUCES(op, all, columns, rows)                                                           \
  REALS_GIVE("T[2, 4]", "reduce(%0) {op = \"" op "\"}", "T[1, 1]", 0, all, X);                    \
  REALS_GIVE("T[2, 4]", "reduce(%0) {op = \"" op "\", axes = [0]}", "T[1, 4]", 0, columns, X);    \
  REALS_GIVE("T[2, 4]", "reduce(%0) {op = \"" op "\", axes = [-1], keepdims = false}", "T[2]", 0, \
             rows, X)
  REDUCES("sum", N(18), N(5, 5, 5, 3), N(10, 8));
  REDUCES("mean", N(2.25), N(2.5, 2.5, 2.5, 1.5), N(2.5, 2));
  REDUCES("max", N(4), N(4, 3, 3, 4), N(4, 4));
  REDUCES("min", N(-1), N(1, 2, 2, -1), N(1, -1));
  REDUCES("prod", N(-576), N(4, 6, 6, -4), N(24, -24));
  REDUCES("l1", N(20), N(5, 5, 5, 5), N(10, 10));
  REDUCES("l2", N(7.745966692), N(4.123105626, 3.605551275, 3.605551275, 4.123105626),
          N(5.477225575, 5.477225575));
  REDUCES("log_sum", N(2.890371758), N(1.609437912, 1.609437912, 1.609437912, 1.098612289),
          N(2.302585093, 2.079441542));
  REDUCES("log_sum_exp", N(5.119379961), N(4.048587352, 3.313261688, 3.313261688, 4.006715348),
          N(4.440189699, 4.412078307));
  REDUCES("sum_square", N(60), N(17, 13, 13, 17), N(30, 30));
}

TEST(EveryReductionOfIntegers) {
  static const struct {
    const char* node;
    double whole;
  } cases[] = {{"reduce(%0) {op = \"sum\"}", 18},    {"reduce(%0) {op = \"mean\"}", 2},
               {"reduce(%0) {op = \"max\"}", 4},     {"reduce(%0) {op = \"min\"}", -1},
               {"reduce(%0) {op = \"prod\"}", -576}, {"reduce(%0) {op = \"l1\"}", 20},
               {"reduce(%0) {op = \"l2\"}", 7},      {"reduce(%0) {op = \"sum_square\"}", 60},
               {"reduce(%0) {op = \"log_sum\"}", 2}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    numbers expected = {&cases[i].whole, 1};
    GIVES("i32[2, 4]", cases[i].node, "i32[1, 1]", 0, 0, expected, X);
    GIVES("i64[8]", cases[i].node, "i64[1]", 0, 0, expected, X);
  }
  GIVES("i8[2, 2]", "reduce(%0) {op = \"min\", axes = [0]}", "i8[1, 2]", 0, 0, N(-128, 3),
        N(-128, 127, 5, 3));
  GIVES("u8[2, 2]", "reduce(%0) {op = \"max\", axes = [0]}", "u8[1, 2]", 0, 0, N(250, 127),
        N(250, 127, 5, 3));
  GIVES("i32[2]", "reduce(%0) {op = \"mean\"}", "i32[1]", 0, 0, N(-1), N(-3, 0));
  GIVES("bool[2, 2]", "reduce(%0) {op = \"max\", axes = [1]}", "bool[2, 1]", 0, 0, N(1, 0),
        N(0, 1, 0, 0));
  GIVES("bool[2, 2]", "reduce(%0) {op = \"min\", axes = [0]}", "bool[1, 2]", 0, 0, N(0, 1),
        N(0, 1, 1, 1));
}

TEST(IntegersOf64BitsAreExact) {
  kernel_case* c = kernel_case_create("i64[2]", "reduce(%0)", "i64[1]");
  KERNEL_SET(c, 0, int64_t, INT64_MAX - 1, 1);
  CHECK(kernel_case_run(c) == STOW_OK);
  CHECK(*(const int64_t*)kernel_case_result(c, 0)->data == INT64_MAX);
  kernel_case_destroy(c);
  c = kernel_case_create("u64[3]", "reduce(%0) {op = \"max\"}", "u64[1]");
  KERNEL_SET(c, 0, uint64_t, 1, UINT64_MAX, 2);
  CHECK(kernel_case_run(c) == STOW_OK);
  CHECK(*(const uint64_t*)kernel_case_result(c, 0)->data == UINT64_MAX);
  kernel_case_destroy(c);
}

TEST(TheOrderOfZerosDoesNotMatter) {
  static const char* const cases[][2] = {{"reduce(%0) {op = \"max\", axes = [1]}", "f32[2, 1]"},
                                         {"reduce(%0) {op = \"min\", axes = [1]}", "f32[2, 1]"},
                                         {"reduce(%0) {op = \"max\", axes = [0]}", "f32[1, 2]"},
                                         {"reduce(%0) {op = \"min\", axes = [0]}", "f32[1, 2]"}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    kernel_case* c = kernel_case_create("f32[2, 2]", cases[i][0], cases[i][1]);
    KERNEL_SET(c, 0, float, 0.0f, -0.0f, -0.0f, 0.0f);
    CHECK(kernel_case_run(c) == STOW_OK);
    const float* y = kernel_case_result(c, 0)->data;
    CHECK(signbit(y[0]) == 0 && signbit(y[1]) == 0);
    kernel_case_destroy(c);
  }
}

TEST(AxesMayBeApart) {
  GIVES("f32[2, 2, 2]", "reduce(%0) {axes = [0, 2]}", "f32[1, 2, 1]", 0, 1e-6, N(10, 8), X);
  GIVES("f32[2, 2, 2]", "reduce(%0) {axes = [1]}", "f32[2, 1, 2]", 0, 1e-6, N(4, 6, 6, 2), X);
  GIVES("f32[2, 1, 4]", "reduce(%0) {axes = [1]}", "f32[2, 1, 4]", 0, 0, X, X);
  GIVES("i32[2, 2, 2]", "reduce(%0) {axes = [0, 2], op = \"max\"}", "i32[1, 2, 1]", 0, 0, N(4, 4),
        X);
}

TEST(AxesAsAnOperand) {
  GIVES("f32[2, 4]; i64[1] = [1]", "reduce(%0, %1) {keepdims = false}", "f32[2]", 0, 0, N(10, 8),
        X);
  GIVES("f32[2, 4]; i64[0]", "reduce(%0, %1)", "f32[1, 1]", 0, 0, N(18), X);
  GIVES("f32[2, 4]; i64[0]", "reduce(%0, %1) {noop_with_empty_axes = true}", "f32[2, 4]", 0, 0, X,
        X);
  GIVES("f32[2]", "reduce(%0) {op = \"sum_square\", noop_with_empty_axes = true}", "f32[2]", 0, 0,
        N(4, 9), N(2, -3));
}

// Which axes go is only known when the kernel runs: it says what dims there are.
TEST(UnknownAxesGiveDims) {
  kernel_case* c = kernel_case_create("f32[2, 4]; i64[1]", "reduce(%0, %1)", "f32[2, 4]");
  set_numbers(c, 0, X);
  KERNEL_SET(c, 1, int64_t, -2);
  KERNEL_GIVES(c, 0, 0, 5, 5, 5, 3);
  CHECK(kernel_case_result(c, 0)->dims[0] == 1);
  KERNEL_SET(c, 1, int64_t, 2);
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(kernel_case_message(c), "axis 2 is out of range");
  kernel_case_destroy(c);
}

TEST(EmptyReductionsGiveTheNeutralElement) {
#define NOTHING(op, number)                                                                       \
  do {                                                                                            \
    kernel_case* c =                                                                              \
        kernel_case_create("f32[2, 0]", "reduce(%0) {axes = [1], op = \"" op "\"}", "f32[2, 1]"); \
    KERNEL_GIVES(c, 0, 0, number, number);                                                        \
    kernel_case_destroy(c);                                                                       \
  } while (0)
  NOTHING("sum", 0);
  NOTHING("prod", 1);
  NOTHING("max", -INFINITY);
  NOTHING("min", INFINITY);
  NOTHING("l1", 0);
  NOTHING("l2", 0);
  NOTHING("mean", NAN);
  NOTHING("log_sum", -INFINITY);
  NOTHING("log_sum_exp", -INFINITY);
  NOTHING("sum_square", 0);
  kernel_case* c =
      kernel_case_create("i16[0, 2]", "reduce(%0) {axes = [0], op = \"max\"}", "i16[1, 2]");
  KERNEL_GIVES(c, 0, 0, -32768, -32768);
  kernel_case_destroy(c);
  c = kernel_case_create("u32[0]", "reduce(%0) {op = \"min\"}", "u32[1]");
  KERNEL_GIVES(c, 0, 0, 4294967295.0);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[0, 3]", "reduce(%0) {axes = [1]}", "f32[0, 1]");
  CHECK(kernel_case_run(c) == STOW_OK);
  kernel_case_destroy(c);
}

TEST(InfinitiesAndNanAreReduced) {
  GIVES("f32[2, 2]", "reduce(%0) {op = \"max\", axes = [1]}", "f32[2, 1]", 0, 0, N(NAN, 3),
        N(NAN, 1, 2, 3));
  GIVES("f32[2, 2]", "reduce(%0) {op = \"min\", axes = [0]}", "f32[1, 2]", 0, 0, N(NAN, 1),
        N(NAN, 1, 2, 3));
  GIVES("f32[3]", "reduce(%0) {op = \"log_sum_exp\"}", "f32[1]", 0, 1e-6, N(1000.693147),
        N(1000, 1000, -INFINITY));
  GIVES("f32[2]", "reduce(%0) {op = \"log_sum_exp\"}", "f32[1]", 0, 0, N(-INFINITY),
        N(-INFINITY, -INFINITY));
  GIVES("f32[2]", "reduce(%0) {op = \"log_sum_exp\"}", "f32[1]", 0, 0, N(INFINITY), N(INFINITY, 1));
}

// A million times 0.1 in f32: what is added is not 0.1, but its sum is exact to the last bits.
TEST(LongSumsAreExact) {
  enum { COUNT = 1000000 };
  kernel_case* c = kernel_case_create("f32[1000000]", "reduce(%0)", "f32[1]");
  float* x = kernel_case_operand(c, 0);
  for (size_t i = 0; i < COUNT; ++i) {
    x[i] = 0.1F;
  }
  KERNEL_GIVES(c, 0, 1e-7, (double)0.1F * COUNT);
  kernel_case_destroy(c);
}

TEST(WhatCannotBeReducedIsRefused) {
  FAILS("bool[2]", "reduce(%0)", "bool[1]", "floats or integers", N(0, 1));
  FAILS("i32[2]", "reduce(%0) {op = \"log_sum_exp\"}", "i32[1]", "of integers", N(0, 1));
}

// ---------------------------------------------------------------------------------------------
// topk

TEST(TopkSortsAndBreaksTiesByIndex) {
  const char* results = "f32[2, 3]; i64[2, 3]";
  numbers x = N(5, 1, 5, 7, -2, 0, 3, 3);
  GIVES("f32[2, 4]", "topk(%0) {k = 3}", results, 0, 0, N(7, 5, 5, 3, 3, 0), x);
  GIVES("f32[2, 4]", "topk(%0) {k = 3}", results, 1, 0, N(3, 0, 2, 2, 3, 1), x);
  GIVES("f32[2, 4]", "topk(%0) {k = 3, largest = false}", results, 0, 0, N(1, 5, 5, -2, 0, 3), x);
  GIVES("f32[2, 4]", "topk(%0) {k = 3, largest = false}", results, 1, 0, N(1, 0, 2, 0, 1, 2), x);
  GIVES("f16[2, 4]; i64[1] = [1]", "topk(%0, %1) {axis = 0}", "f16[1, 4]; i64[1, 4]", 1, 0,
        N(0, 0, 0, 0), N(5, 1, 5, 7, -2, 0, 3, 3));
  GIVES("i32[4, 2]", "topk(%0) {axis = 0, k = 2}", "i32[2, 2]; i64[2, 2]", 0, 0, N(5, 7, 5, 3), x);
  GIVES("i32[4, 2]", "topk(%0) {axis = 0, k = 2}", "i32[2, 2]; i64[2, 2]", 1, 0, N(0, 1, 1, 3), x);
  GIVES("bf16[4]", "topk(%0) {k = 4}", "bf16[4]; i64[4]", 0, 0, N(7, 5, 5, 1), N(5, 1, 5, 7));
}

TEST(TopkCountsNanAsLargest) {
  GIVES("f32[4]", "topk(%0) {k = 2}", "f32[2]; i64[2]", 1, 0, N(1, 3), N(1, NAN, 0, INFINITY));
  GIVES("f32[4]", "topk(%0) {k = 4, largest = false}", "f32[4]; i64[4]", 1, 0, N(2, 0, 3, 1),
        N(1, NAN, 0, INFINITY));
}

TEST(TopkOfManyIsASort) {
  enum { COUNT = 777 };
  kernel_case* c = kernel_case_create("f32[777]", "topk(%0) {k = 777}", "f32[777]; i64[777]");
  kernel_case_fill(c, 3);
  const float* x = kernel_case_operand(c, 0);
  CHECK(kernel_case_run(c) == STOW_OK);
  const float* values = kernel_case_result(c, 0)->data;
  const int64_t* indices = kernel_case_result(c, 1)->data;
  for (size_t i = 0; i < COUNT; ++i) {
    CHECK(values[i] == x[indices[i]]);
    CHECK(i == 0 || values[i - 1] > values[i] ||
          (values[i - 1] == values[i] && indices[i - 1] < indices[i]));
  }
  kernel_case_destroy(c);
}

TEST(TopkRefusesMoreThanThereAre) {
  kernel_case* c = kernel_case_create("f32[3]; i64[1]", "topk(%0, %1)", "f32[3]; i64[3]");
  KERNEL_SET(c, 1, int64_t, 4);
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(kernel_case_message(c), "k is 4, but there are 3 elements");
  KERNEL_SET(c, 1, int64_t, 2);
  CHECK(kernel_case_run(c) == STOW_OK);
  CHECK(kernel_case_result(c, 0)->dims[0] == 2 && kernel_case_result(c, 1)->dims[0] == 2);
  kernel_case_destroy(c);
}

// ---------------------------------------------------------------------------------------------
// Running sums

TEST(CumsumInEveryDirection) {
  numbers x = N(1, 2, 3, 4, 5, 6);
  REALS_GIVE("T[2, 3]", "cumsum(%0) {axis = 1}", "T[2, 3]", 0, N(1, 3, 6, 4, 9, 15), x);
  REALS_GIVE("T[2, 3]", "cumsum(%0)", "T[2, 3]", 0, N(1, 2, 3, 5, 7, 9), x);
  REALS_GIVE("T[2, 3]", "cumsum(%0) {axis = -1, exclusive = true}", "T[2, 3]", 0,
             N(0, 1, 3, 0, 4, 9), x);
  REALS_GIVE("T[2, 3]", "cumsum(%0) {axis = -1, reverse = true}", "T[2, 3]", 0,
             N(6, 5, 3, 15, 11, 6), x);
  REALS_GIVE("T[2, 3]", "cumsum(%0) {exclusive = true, reverse = true}", "T[2, 3]", 0,
             N(4, 5, 6, 0, 0, 0), x);
  GIVES("i32[2, 3]; i64[] = [1]", "cumsum(%0, %1)", "i32[2, 3]", 0, 0, N(1, 3, 6, 4, 9, 15), x);
  GIVES("u8[3]", "cumsum(%0)", "u8[3]", 0, 0, N(200, 144, 145), N(200, 200, 1));
}

TEST(CumprodInEveryDirection) {
  numbers x = N(1, 2, 3, 4, 5, 6);
  REALS_GIVE("T[2, 3]", "cumprod(%0) {axis = 1}", "T[2, 3]", 0, N(1, 2, 6, 4, 20, 120), x);
  GIVES("i64[2, 3]", "cumprod(%0) {axis = 1, reverse = true, exclusive = true}", "i64[2, 3]", 0, 0,
        N(6, 3, 1, 30, 6, 1), x);
}

TEST(CumsumOfLongRows) {
  enum { COUNT = 600 };
  static double expected[COUNT];
  kernel_case* c = kernel_case_create("f32[600]", "cumsum(%0) {reverse = true}", "f32[600]");
  for (size_t i = 0; i < COUNT; ++i) {
    ((float*)kernel_case_operand(c, 0))[i] = 1;
    expected[i] = (double)(COUNT - i);
  }
  kernel_case_gives(c, 0, expected, COUNT, 0, __FILE__, __LINE__);
  kernel_case_destroy(c);
}

TEST(CumsumRefusesBadAxes) {
  kernel_case* c = kernel_case_create("f32[2]; i64[]", "cumsum(%0, %1)", "f32[2]");
  KERNEL_SET(c, 1, int64_t, 1);
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  kernel_case_destroy(c);
  FAILS("bool[2]", "cumsum(%0)", "bool[2]", "floats or integers", N(0, 1));
}
