// Ops of several operands: broadcasting, every kind of dtype, and what integers do at their edges.
#include <math.h>
#include <string.h>

#include "exec/kernel_case.h"
#include "support/test.h"

// The same numbers as f32, f64 and f16.
static void check_pair(const char* node, const double expected[6]) {
  kernel_case* c = kernel_case_create("f32[2, 3]; f32[2, 3]", node, "f32[2, 3]");
  KERNEL_SET(c, 0, float, 7, -7, 1.5F, -1.5F, 2, 0);
  KERNEL_SET(c, 1, float, 2, 2, -0.5F, -0.5F, 3, 4);
  kernel_case_gives(c, 0, expected, 6, 1e-6, __FILE__, __LINE__);
  kernel_case_destroy(c);
  c = kernel_case_create("f64[2, 3]; f64[2, 3]", node, "f64[2, 3]");
  KERNEL_SET(c, 0, double, 7, -7, 1.5, -1.5, 2, 0);
  KERNEL_SET(c, 1, double, 2, 2, -0.5, -0.5, 3, 4);
  kernel_case_gives(c, 0, expected, 6, 1e-12, __FILE__, __LINE__);
  kernel_case_destroy(c);
  c = kernel_case_create("f16[2, 3]; f16[2, 3]", node, "f16[2, 3]");
  KERNEL_SET(c, 0, uint16_t, 0x4700, 0xc700, 0x3e00, 0xbe00, 0x4000, 0);
  KERNEL_SET(c, 1, uint16_t, 0x4000, 0x4000, 0xb800, 0xb800, 0x4200, 0x4400);
  kernel_case_gives(c, 0, expected, 6, 1e-3, __FILE__, __LINE__);
  kernel_case_destroy(c);
}

TEST(FloatsAreCombined) {
  check_pair("add(%0, %1)", (double[]){9, -5, 1, -2, 5, 4});
  check_pair("sub(%0, %1)", (double[]){5, -9, 2, -1, -1, -4});
  check_pair("mul(%0, %1)", (double[]){14, -14, -0.75, 0.75, 6, 0});
  check_pair("div(%0, %1)", (double[]){3.5, -3.5, -3, 3, 2.0 / 3, 0});
  check_pair("mod(%0, %1)", (double[]){1, 1, 0, 0, 2, 0});
  check_pair("mod(%0, %1) {fmod = true}", (double[]){1, -1, 0, 0, 2, 0});
  check_pair("pow(%0, %1)", (double[]){49, 49, 0.816496580928, NAN, 8, 0});
  check_pair("max(%0, %1)", (double[]){7, 2, 1.5, -0.5, 3, 4});
  check_pair("min(%0, %1)", (double[]){2, -7, -0.5, -1.5, 2, 0});
  check_pair("sum(%0, %1)", (double[]){9, -5, 1, -2, 5, 4});
  check_pair("mean(%0, %1)", (double[]){4.5, -2.5, 0.5, -1, 2.5, 2});
  check_pair("prelu(%0, %1)", (double[]){7, -14, 1.5, 0.75, 2, 0});
  check_pair("swiglu(%0, %1)", (double[]){13.987245283278, -0.012754716721609, -0.61318085714523,
                                          0.13681914285477, 5.2847824678673, 0});
  check_pair("swiglu(%0, %1) {alpha = 0.5}",
             (double[]){13.589628769481, -0.41037123051899, -0.50938402438154, 0.24061597561846,
                        4.38635147178, 0});
}

// Rows, columns, single elements, and both at once.
TEST(OperandsAreRepeated) {
  kernel_case* c = kernel_case_create("f32[2, 3]; f32[3]", "sub(%0, %1)", "f32[2, 3]");
  KERNEL_SET(c, 0, float, 1, 2, 3, 4, 5, 6);
  KERNEL_SET(c, 1, float, 1, 10, 100);
  KERNEL_GIVES(c, 0, 0, 0, -8, -97, 3, -5, -94);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[2, 1]; f32[2, 3]", "sub(%0, %1)", "f32[2, 3]");
  KERNEL_SET(c, 0, float, 10, 20);
  KERNEL_SET(c, 1, float, 1, 2, 3, 4, 5, 6);
  KERNEL_GIVES(c, 0, 0, 9, 8, 7, 16, 15, 14);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[]; f32[2]", "div(%0, %1)", "f32[2]");
  KERNEL_SET(c, 0, float, 1);
  KERNEL_SET(c, 1, float, 4, -2);
  KERNEL_GIVES(c, 0, 0, 0.25, -0.5);
  kernel_case_destroy(c);
  c = kernel_case_create("i32[2, 1]; i32[1, 3]", "mul(%0, %1)", "i32[2, 3]");
  KERNEL_SET(c, 0, int32_t, 2, -3);
  KERNEL_SET(c, 1, int32_t, 1, 2, 3);
  KERNEL_GIVES(c, 0, 0, 2, 4, 6, -3, -6, -9);
  kernel_case_destroy(c);
}

// Runs long enough for vectors, from any element on.
TEST(LongRowsAreRepeatedInEveryRange) {
  static double expected[3 * 700];
  kernel_case* c = kernel_case_create("f32[3, 700]; f32[3, 1]", "sub(%1, %0)", "f32[3, 700]");
  float* x = kernel_case_operand(c, 1);  // in the order of the node
  float* y = kernel_case_operand(c, 0);
  for (size_t i = 0; i < 3 * (size_t)700; ++i) {
    x[i] = (float)i;
    y[i / 700] = (float)(i / 700 * 1000);
    expected[i] = (double)(i / 700 * 1000) - (double)i;
  }
  kernel_case_gives(c, 0, expected, 3 * 700, 0, __FILE__, __LINE__);
  kernel_case_destroy(c);
}

// i32 too, whose sums, differences and products wrap.
TEST(LongRowsOfIntegersWrap) {
  static const char* const nodes[] = {"add(%0, %1)", "sub(%1, %0)", "mul(%0, %1)"};
  static double expected[3 * 700];
  for (size_t op = 0; op < 3; ++op) {
    kernel_case* c = kernel_case_create("i32[3, 700]; i32[3, 1]", nodes[op], "i32[3, 700]");
    int32_t* x = kernel_case_operand(c, op == 1 ? 1 : 0);  // in the order of the node
    int32_t* y = kernel_case_operand(c, op == 1 ? 0 : 1);
    for (size_t i = 0; i < 3 * (size_t)700; ++i) {
      uint32_t a = (uint32_t)i * 0x9e3779b9U;
      uint32_t b = i < 700 ? 0x80000000U : i < 1400 ? 0xffffffffU : 0x7654321U;
      x[i] = (int32_t)a;
      y[i / 700] = (int32_t)b;
      expected[i] = (int32_t)(op == 0 ? a + b : op == 1 ? b - a : a * b);
    }
    kernel_case_gives(c, 0, expected, 3 * 700, 0, nodes[op], 0);
    kernel_case_destroy(c);
  }
}

TEST(IntegersWrapAndDivideTowardsZero) {
  kernel_case* c = kernel_case_create("i64[3]; i64[3]", "add(%0, %1)", "i64[3]");
  KERNEL_SET(c, 0, int64_t, INT64_MAX, INT64_C(1) << 53, -5);
  KERNEL_SET(c, 1, int64_t, 1, 1, 3);
  CHECK(kernel_case_run(c) == STOW_OK);
  const int64_t* sums = kernel_case_result(c, 0)->data;
  CHECK(sums[0] == INT64_MIN && sums[1] == (INT64_C(1) << 53) + 1 && sums[2] == -2);
  kernel_case_destroy(c);
  c = kernel_case_create("i64[4]; i64[4]", "div(%0, %1)", "i64[4]");
  KERNEL_SET(c, 0, int64_t, -7, 7, INT64_MIN, 9);
  KERNEL_SET(c, 1, int64_t, 2, -2, -1, 3);
  CHECK(kernel_case_run(c) == STOW_OK);
  const int64_t* ratios = kernel_case_result(c, 0)->data;
  CHECK(ratios[0] == -3 && ratios[1] == -3 && ratios[2] == INT64_MIN && ratios[3] == 3);
  kernel_case_destroy(c);
  c = kernel_case_create("u64[2]; u64[2]", "div(%0, %1)", "u64[2]");
  KERNEL_SET(c, 0, uint64_t, UINT64_MAX, 7);
  KERNEL_SET(c, 1, uint64_t, 2, 2);
  CHECK(kernel_case_run(c) == STOW_OK);
  CHECK(((const uint64_t*)kernel_case_result(c, 0)->data)[0] == UINT64_MAX / 2);
  kernel_case_destroy(c);
  c = kernel_case_create("u8[2]; u8[2]", "sub(%0, %1)", "u8[2]");
  KERNEL_SET(c, 0, uint8_t, 3, 200);
  KERNEL_SET(c, 1, uint8_t, 5, 100);
  KERNEL_GIVES(c, 0, 0, 254, 100);
  kernel_case_destroy(c);
}

TEST(ADivisionOfIntegersByZeroIsAnError) {
  static const char* const nodes[] = {"div(%0, %1)", "mod(%0, %1)", "mod(%0, %1) {fmod = true}"};
  for (size_t i = 0; i < 3; ++i) {
    kernel_case* c = kernel_case_create("i32[2]; i32[2]", nodes[i], "i32[2]");
    KERNEL_SET(c, 0, int32_t, 1, 1);
    KERNEL_SET(c, 1, int32_t, 1, 0);
    CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
    CHECK_HAS(kernel_case_message(c), "element 1");
    kernel_case_destroy(c);
  }
}

TEST(RemaindersHaveTheRequestedSign) {
  kernel_case* c = kernel_case_create("i32[5]; i32[5]", "mod(%0, %1)", "i32[5]");
  KERNEL_SET(c, 0, int32_t, -4, 7, 5, 4, INT32_MIN);
  KERNEL_SET(c, 1, int32_t, 2, -3, 8, -2, -1);
  KERNEL_GIVES(c, 0, 0, 0, -2, 5, 0, 0);
  kernel_case_destroy(c);
  c = kernel_case_create("i64[3]; i64[3]", "mod(%0, %1) {fmod = true}", "i64[3]");
  KERNEL_SET(c, 0, int64_t, -7, 7, INT64_MIN);
  KERNEL_SET(c, 1, int64_t, 3, -3, -1);
  KERNEL_GIVES(c, 0, 0, -1, 1, 0);
  kernel_case_destroy(c);
  c = kernel_case_create("u64[1]; u64[1]", "mod(%0, %1)", "u64[1]");
  KERNEL_SET(c, 0, uint64_t, UINT64_MAX);
  KERNEL_SET(c, 1, uint64_t, 10);
  KERNEL_GIVES(c, 0, 0, 5);
  kernel_case_destroy(c);
}

TEST(PowersOfEveryKind) {
  kernel_case* c = kernel_case_create("i64[6]; i64[6]", "pow(%0, %1)", "i64[6]");
  KERNEL_SET(c, 0, int64_t, 3, -2, 2, -1, 7, 0);
  KERNEL_SET(c, 1, int64_t, 39, 3, -1, -3, 0, 0);
  CHECK(kernel_case_run(c) == STOW_OK);
  const int64_t* powers = kernel_case_result(c, 0)->data;
  CHECK(powers[0] == INT64_C(4052555153018976267) && powers[1] == -8 && powers[2] == 0);
  CHECK(powers[3] == -1 && powers[4] == 1 && powers[5] == 1);
  kernel_case_destroy(c);
  c = kernel_case_create("i32[3]; f32[3]", "pow(%0, %1)", "i32[3]");
  KERNEL_SET(c, 0, int32_t, 4, 2, 9);
  KERNEL_SET(c, 1, float, 0.5F, 10, 1.5F);
  KERNEL_GIVES(c, 0, 0, 2, 1024, 27);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[3]; i64[]", "pow(%0, %1)", "f32[3]");
  KERNEL_SET(c, 0, float, 4, -2, 1.5F);
  KERNEL_SET(c, 1, int64_t, 3);
  KERNEL_GIVES(c, 0, 1e-6, 64, -8, 3.375);
  kernel_case_destroy(c);
  c = kernel_case_create("u64[2]; u64[2]", "pow(%0, %1)", "u64[2]");
  KERNEL_SET(c, 0, uint64_t, 3, 1);
  KERNEL_SET(c, 1, uint64_t, 40, UINT64_MAX);
  CHECK(kernel_case_run(c) == STOW_OK);
  CHECK_U64(((const uint64_t*)kernel_case_result(c, 0)->data)[0], UINT64_C(12157665459056928801));
  CHECK_U64(((const uint64_t*)kernel_case_result(c, 0)->data)[1], 1);
  kernel_case_destroy(c);
}

// Exponents that all elements share have loops of their own, with the bits of the others.
TEST(CommonExponentsGiveTheBitsOfAnyOther) {
  static const float exponents[] = {2, 3, 0.5F, -1.5F};
  for (size_t k = 0; k < 4; ++k) {
    kernel_case* one = kernel_case_create("f32[40]; f32[]", "pow(%0, %1)", "f32[40]");
    kernel_case* all = kernel_case_create("f32[40]; f32[40]", "pow(%0, %1)", "f32[40]");
    float* numbers = kernel_case_operand(one, 0);
    for (size_t i = 0; i < 40; ++i) {
      numbers[i] = (float)i * 0.37F - 3;
      ((float*)kernel_case_operand(all, 1))[i] = exponents[k];
    }
    numbers[0] = -INFINITY;
    numbers[1] = -0.0F;
    memcpy(kernel_case_operand(all, 0), numbers, 40 * sizeof(float));
    KERNEL_SET(one, 1, float, exponents[k]);
    CHECK(kernel_case_run(one) == STOW_OK && kernel_case_run(all) == STOW_OK);
    CHECK(memcmp(kernel_case_result(one, 0)->data, kernel_case_result(all, 0)->data, 160) == 0);
    kernel_case_destroy(one);
    kernel_case_destroy(all);
  }
}

TEST(ManyOperandsAreFoldedInOrder) {
  kernel_case* c =
      kernel_case_create("f32[2, 2]; f32[2]; f32[2, 1]", "max(%0, %1, %2)", "f32[2, 2]");
  KERNEL_SET(c, 0, float, 1, 2, 3, 4);
  KERNEL_SET(c, 1, float, 2, NAN);
  KERNEL_SET(c, 2, float, 0, 9);
  KERNEL_GIVES(c, 0, 0, 2, NAN, 9, NAN);
  kernel_case_destroy(c);
  c = kernel_case_create("f16[2]; f16[2]; f16[2]", "mean(%0, %1, %2)", "f16[2]");
  KERNEL_SET(c, 0, uint16_t, 0x3c00, 0x4000);
  KERNEL_SET(c, 1, uint16_t, 0x4000, 0x4200);
  KERNEL_SET(c, 2, uint16_t, 0x4200, 0x4500);
  KERNEL_GIVES(c, 0, 1e-3, 2, 10.0 / 3);
  kernel_case_destroy(c);
  c = kernel_case_create("i64[1]; i64[1]; i64[1]", "min(%0, %1, %2)", "i64[1]");
  KERNEL_SET(c, 0, int64_t, 5);
  KERNEL_SET(c, 1, int64_t, -7);
  KERNEL_SET(c, 2, int64_t, 3);
  KERNEL_GIVES(c, 0, 0, -7);
  kernel_case_destroy(c);
  c = kernel_case_create("u64[1]; u64[1]; u64[1]", "max(%0, %1, %2)", "u64[1]");
  KERNEL_SET(c, 0, uint64_t, 5);
  KERNEL_SET(c, 1, uint64_t, UINT64_MAX);
  KERNEL_SET(c, 2, uint64_t, 3);
  KERNEL_GIVES(c, 0, 0, -1);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[3]", "sum(%0)", "f32[3]");
  KERNEL_SET(c, 0, float, 1, 2, 3);
  KERNEL_GIVES(c, 0, 0, 1, 2, 3);
  kernel_case_destroy(c);
}

TEST(BitsAreCombined) {
  kernel_case* c = kernel_case_create("bool[4]; bool[4]", "xor(%0, %1)", "bool[4]");
  KERNEL_SET(c, 0, uint8_t, 0, 0, 1, 1);
  KERNEL_SET(c, 1, uint8_t, 0, 1, 0, 1);
  KERNEL_GIVES(c, 0, 0, 0, 1, 1, 0);
  kernel_case_destroy(c);
  c = kernel_case_create("bool[2, 1]; bool[2]", "and(%0, %1)", "bool[2, 2]");
  KERNEL_SET(c, 0, uint8_t, 0, 1);
  KERNEL_SET(c, 1, uint8_t, 0, 1);
  KERNEL_GIVES(c, 0, 0, 0, 0, 0, 1);
  kernel_case_destroy(c);
  c = kernel_case_create("i16[2]; i16[2]", "or(%0, %1)", "i16[2]");
  KERNEL_SET(c, 0, int16_t, 12, -2);
  KERNEL_SET(c, 1, int16_t, 3, 1);
  KERNEL_GIVES(c, 0, 0, 15, -1);
  kernel_case_destroy(c);
  c = kernel_case_create("u8[3]; u8[3]", "bit_shift(%0, %1) {direction = \"left\"}", "u8[3]");
  KERNEL_SET(c, 0, uint8_t, 255, 1, 1);
  KERNEL_SET(c, 1, uint8_t, 4, 7, 200);
  KERNEL_GIVES(c, 0, 0, 240, 128, 0);
  kernel_case_destroy(c);
  c = kernel_case_create("u64[2]; u64[2]", "bit_shift(%0, %1) {direction = \"right\"}", "u64[2]");
  KERNEL_SET(c, 0, uint64_t, UINT64_MAX, 8);
  KERNEL_SET(c, 1, uint64_t, 63, 64);
  KERNEL_GIVES(c, 0, 0, 1, 0);
  kernel_case_destroy(c);
  c = kernel_case_create("i8[2]; i8[2]", "bit_shift(%0, %1) {direction = \"right\"}", "i8[2]");
  KERNEL_SET(c, 0, int8_t, -8, -1);
  KERNEL_SET(c, 1, int8_t, 2, 100);
  KERNEL_GIVES(c, 0, 0, -2, -1);
  kernel_case_destroy(c);
}

TEST(ComparisonsGiveBools) {
  static const struct {
    const char* node;
    double f32[4];
    double u64[2];
  } cases[] = {
      {"eq(%0, %1)", {0, 1, 0, 0}, {0, 1}}, {"ne(%0, %1)", {1, 0, 1, 1}, {1, 0}},
      {"lt(%0, %1)", {1, 0, 0, 0}, {0, 0}}, {"le(%0, %1)", {1, 1, 0, 0}, {0, 1}},
      {"gt(%0, %1)", {0, 0, 1, 0}, {1, 0}}, {"ge(%0, %1)", {0, 1, 1, 0}, {1, 1}},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    kernel_case* c = kernel_case_create("f32[4]; f32[4]", cases[i].node, "bool[4]");
    KERNEL_SET(c, 0, float, 1, 2, 3, NAN);
    KERNEL_SET(c, 1, float, 2, 2, 2, NAN);
    kernel_case_gives(c, 0, cases[i].f32, 4, 0, __FILE__, __LINE__);
    kernel_case_destroy(c);
    c = kernel_case_create("u64[2]; u64[2]", cases[i].node, "bool[2]");
    KERNEL_SET(c, 0, uint64_t, UINT64_MAX, UINT64_C(1) << 63);
    KERNEL_SET(c, 1, uint64_t, 1, UINT64_C(1) << 63);
    kernel_case_gives(c, 0, cases[i].u64, 2, 0, __FILE__, __LINE__);
    kernel_case_destroy(c);
  }
  kernel_case* c = kernel_case_create("i64[2, 1]; i64[2]", "lt(%0, %1)", "bool[2, 2]");
  KERNEL_SET(c, 0, int64_t, (INT64_C(1) << 53), (INT64_C(1) << 53) + 1);
  KERNEL_SET(c, 1, int64_t, (INT64_C(1) << 53) + 1, INT64_MIN);
  KERNEL_GIVES(c, 0, 0, 1, 0, 0, 0);
  kernel_case_destroy(c);
}

TEST(WhereTakesAnyDtype) {
  kernel_case* c =
      kernel_case_create("bool[2, 1]; f32[2, 2]; f32[]", "where(%0, %1, %2)", "f32[2, 2]");
  KERNEL_SET(c, 0, uint8_t, 1, 0);
  KERNEL_SET(c, 1, float, 1, 2, 3, 4);
  KERNEL_SET(c, 2, float, -1);
  KERNEL_GIVES(c, 0, 0, 1, 2, -1, -1);
  kernel_case_destroy(c);
  c = kernel_case_create("bool[3]; u4[3]; u4[3]", "where(%0, %1, %2)", "u4[3]");
  KERNEL_SET(c, 0, uint8_t, 0, 1, 0);
  KERNEL_SET(c, 1, uint8_t, 0x21, 0x03);
  KERNEL_SET(c, 2, uint8_t, 0x98, 0x0a);
  KERNEL_GIVES(c, 0, 0, 8, 2, 10);
  kernel_case_destroy(c);
  c = kernel_case_create("bool[2]; c128[2]; c128[2]", "where(%0, %1, %2)", "c128[2]");
  KERNEL_SET(c, 0, uint8_t, 0, 1);
  KERNEL_SET(c, 1, double, 1, 2, 3, 4);
  KERNEL_SET(c, 2, double, 5, 6, 7, 8);
  CHECK(kernel_case_run(c) == STOW_OK);
  CHECK(memcmp(kernel_case_result(c, 0)->data, (double[]){5, 6, 3, 4}, 32) == 0);
  kernel_case_destroy(c);
  c = kernel_case_create("bool[3]; bool[3]; bool[3]", "where(%0, %1, %2)", "bool[3]");
  KERNEL_SET(c, 0, uint8_t, 0, 1, 1);
  KERNEL_SET(c, 1, uint8_t, 0, 1, 0);
  KERNEL_SET(c, 2, uint8_t, 1, 0, 1);
  KERNEL_GIVES(c, 0, 0, 1, 1, 0);
  kernel_case_destroy(c);
}

TEST(ClipTakesBoundsFromAnywhere) {
  kernel_case* c = kernel_case_create("f32[4]; f32[]; f32[]", "clip(%0, %1, %2)", "f32[4]");
  KERNEL_SET(c, 0, float, -5, 0.5F, 5, NAN);
  KERNEL_SET(c, 1, float, -1);
  KERNEL_SET(c, 2, float, 2);
  KERNEL_GIVES(c, 0, 0, -1, 0.5, 2, NAN);
  KERNEL_SET(c, 2, float, -3);  // the largest below the smallest: it wins
  KERNEL_GIVES(c, 0, 0, -3, -3, -3, NAN);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[3]", "clip(%0) {min = -1.0, max = 1.0}", "f32[3]");
  KERNEL_SET(c, 0, float, -5, 0.5F, 5);
  KERNEL_GIVES(c, 0, 0, -1, 0.5, 1);
  kernel_case_destroy(c);
  c = kernel_case_create("i64[3]; i64[]", "clip(%0, %1)", "i64[3]");
  KERNEL_SET(c, 0, int64_t, INT64_MIN, 3, INT64_MAX);
  KERNEL_SET(c, 1, int64_t, 0);
  CHECK(kernel_case_run(c) == STOW_OK);
  CHECK(((const int64_t*)kernel_case_result(c, 0)->data)[2] == INT64_MAX);
  CHECK(((const int64_t*)kernel_case_result(c, 0)->data)[0] == 0);
  kernel_case_destroy(c);
  c = kernel_case_create("u64[2]; u64[]; u64[]", "clip(%0, _, %2)", "u64[2]");
  KERNEL_SET(c, 0, uint64_t, UINT64_MAX, 1);
  KERNEL_SET(c, 2, uint64_t, UINT64_C(1) << 63);
  CHECK(kernel_case_run(c) == STOW_OK);
  CHECK_U64(((const uint64_t*)kernel_case_result(c, 0)->data)[0], UINT64_C(1) << 63);
  kernel_case_destroy(c);
  c = kernel_case_create("f16[2]; f16[]", "clip(%0, %1)", "f16[2]");
  KERNEL_SET(c, 0, uint16_t, 0xbc00, 0x4000);
  KERNEL_SET(c, 1, uint16_t, 0x3c00);
  KERNEL_GIVES(c, 0, 0, 1, 2);
  kernel_case_destroy(c);
}
