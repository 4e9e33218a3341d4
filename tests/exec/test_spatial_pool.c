// Pools, and what puts elements back where they stood.
#include <stdio.h>

#include "exec/kernel_case.h"
#include "support/test.h"

// Runs |node| on x [1, 1, 4, 4] of 1 to 16.
static kernel_case* square(const char* dtype, const char* node, const char* result) {
  char operands[40];
  snprintf(operands, sizeof(operands), "%s[1, 1, 4, 4]", dtype);
  kernel_case* c = kernel_case_create(operands, node, result);
  for (int i = 0; i < 16; ++i) {
    if (dtype[0] == 'f' && dtype[1] == '3') {
      ((float*)kernel_case_operand(c, 0))[i] = (float)(i + 1);
    } else if (dtype[0] == 'f' && dtype[1] == '6') {
      ((double*)kernel_case_operand(c, 0))[i] = i + 1;
    } else {
      ((unsigned char*)kernel_case_operand(c, 0))[i] = (unsigned char)(i + 1);
    }
  }
  return c;
}

TEST(MaxPoolTakesTheLargestOfEachWindow) {
  static const char* const dtypes[] = {"f32", "f64", "u8", "i8"};
  for (size_t i = 0; i < 4; ++i) {
    char result[40];
    snprintf(result, sizeof(result), "%s[1, 1, 2, 2]", dtypes[i]);
    kernel_case* c = square(dtypes[i], "pool(%0) {kernel = [2, 2], strides = [2, 2]}", result);
    KERNEL_GIVES(c, 0, 0, 6, 8, 14, 16);
    kernel_case_destroy(c);
    c = square(dtypes[i], "pool(%0) {kernel = [3, 3], strides = [3, 3], pads = [1, 1, 1, 1]}",
               result);
    KERNEL_GIVES(c, 0, 0, 6, 8, 14, 16);
    kernel_case_destroy(c);
    c = square(dtypes[i], "pool(%0) {kernel = [2, 2], dilations = [2, 2]}", result);
    KERNEL_GIVES(c, 0, 0, 11, 12, 15, 16);
    kernel_case_destroy(c);
  }
}

TEST(MaxPoolOfNegativeNumbersHasNoZerosFromPadding) {
  kernel_case* c =
      kernel_case_create("f32[1, 1, 3]", "pool(%0) {kernel = [2], pads = [1, 1]}", "f32[1, 1, 4]");
  KERNEL_SET(c, 0, float, -3, -1, -2);
  KERNEL_GIVES(c, 0, 0, -3, -1, -1, -2);
  kernel_case_destroy(c);
  c = kernel_case_create("i8[1, 1, 3]", "pool(%0) {kernel = [2], pads = [1, 1]}", "i8[1, 1, 4]");
  KERNEL_SET(c, 0, int8_t, -128, -1, 2);
  KERNEL_GIVES(c, 0, 0, -128, -1, 2, 2);
  kernel_case_destroy(c);
  c = kernel_case_create("u8[1, 1, 3]", "pool(%0) {kernel = [2], pads = [1, 1]}", "u8[1, 1, 4]");
  KERNEL_SET(c, 0, uint8_t, 200, 100, 255);
  KERNEL_GIVES(c, 0, 0, 200, 200, 255, 255);
  kernel_case_destroy(c);
}

TEST(CeilModeAddsAPartialWindow) {
  kernel_case* c = square("f32", "pool(%0) {kernel = [3, 3], strides = [2, 2], ceil_mode = true}",
                          "f32[1, 1, 2, 2]");
  KERNEL_GIVES(c, 0, 0, 11, 12, 15, 16);
  kernel_case_destroy(c);
  c = square("f32",
             "pool(%0) {op = \"avg\", kernel = [3, 3], strides = [2, 2], ceil_mode = true, "
             "count_include_pad = true}",
             "f32[1, 1, 2, 2]");
  KERNEL_GIVES(c, 0, 1e-6, 6, 7.5, 12, 13.5);
  kernel_case_destroy(c);
}

TEST(MaxPoolGivesIndicesOfTheLargest) {
  kernel_case* c = kernel_case_create("f32[1, 2, 2, 3]", "pool(%0) {kernel = [2, 2]}",
                                      "f32[1, 2, 1, 2]; i64[1, 2, 1, 2]");
  KERNEL_SET(c, 0, float, 1, 5, 2, 9, 5, 3, 4, 4, 4, 4, 4, 7);
  KERNEL_GIVES(c, 0, 0, 9, 5, 4, 7);
  // Of equal ones the first.
  KERNEL_GIVES(c, 1, 0, 3, 1, 6, 11);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[1, 2, 2, 3]", "pool(%0) {kernel = [2, 2], column_major = true}",
                         "f32[1, 2, 1, 2]; i64[1, 2, 1, 2]");
  KERNEL_SET(c, 0, float, 1, 5, 2, 9, 5, 3, 4, 4, 4, 4, 4, 7);
  KERNEL_GIVES(c, 1, 0, 1, 2, 6, 11);
  kernel_case_destroy(c);
}

TEST(AveragesCountPaddingOnlyIfRequested) {
  kernel_case* c = square("f32", "pool(%0) {op = \"avg\", kernel = [3, 3], pads = [1, 1, 1, 1]}",
                          "f32[1, 1, 4, 4]");
  KERNEL_GIVES(c, 0, 1e-6, 3.5, 4, 5, 5.5, 5.5, 6, 7, 7.5, 9.5, 10, 11, 11.5, 11.5, 12, 13, 13.5);
  kernel_case_destroy(c);
  c = square("f32",
             "pool(%0) {op = \"avg\", kernel = [3, 3], strides = [3, 3], pads = [1, 1, 1, 1], "
             "count_include_pad = true}",
             "f32[1, 1, 2, 2]");
  KERNEL_GIVES(c, 0, 1e-6, 14.0 / 9, 22.0 / 9, 46.0 / 9, 54.0 / 9);
  kernel_case_destroy(c);
  c = square("f64", "pool(%0) {op = \"avg\", kernel = [2, 2], auto_pad = \"same_upper\"}",
             "f64[1, 1, 4, 4]");
  KERNEL_GIVES(c, 0, 1e-12, 3.5, 4.5, 5.5, 6, 7.5, 8.5, 9.5, 10, 11.5, 12.5, 13.5, 14, 13.5, 14.5,
               15.5, 16);
  kernel_case_destroy(c);
}

TEST(NormsAreOfAnyPower) {
  static const struct {
    const char* node;
    double numbers[2];
  } cases[] = {
      {"pool(%0) {op = \"lp\", kernel = [2]}", {5, 4}},
      {"pool(%0) {op = \"lp\", kernel = [2], p = 1.0}", {7, 4}},
      {"pool(%0) {op = \"lp\", kernel = [2], p = 3}", {4.497941445275415, 4}},
  };
  for (size_t i = 0; i < 3; ++i) {
    kernel_case* c = kernel_case_create("f32[1, 1, 3]", cases[i].node, "f32[1, 1, 2]");
    KERNEL_SET(c, 0, float, 3, -4, 0);
    KERNEL_GIVES(c, 0, 1e-6, cases[i].numbers[0], cases[i].numbers[1]);
    kernel_case_destroy(c);
  }
}

TEST(GlobalPoolsReduceAll) {
  kernel_case* c = kernel_case_create("f32[1, 2, 3, 7]", "pool(%0) {op = \"avg\", global = true}",
                                      "f32[1, 2, 1, 1]");
  float* x = kernel_case_operand(c, 0);
  for (int i = 0; i < 42; ++i) {
    x[i] = (float)i;
  }
  KERNEL_GIVES(c, 0, 1e-6, 10, 31);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[1, 2, 3]", "pool(%0) {global = true}", "f32[1, 2, 1]");
  KERNEL_SET(c, 0, float, -3, -1, -2, 5, 7, 6);
  KERNEL_GIVES(c, 0, 0, -1, 7);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[1, 1, 2]", "pool(%0) {op = \"lp\", global = true}", "f32[1, 1, 1]");
  KERNEL_SET(c, 0, float, 3, 4);
  KERNEL_GIVES(c, 0, 1e-6, 5);
  kernel_case_destroy(c);
}

TEST(ChannelsMayBeLast) {
  kernel_case* c = kernel_case_create(
      "i8[1, 2, 2, 2]", "pool(%0) {kernel = [2, 1], channels_last = true}", "i8[1, 1, 2, 2]");
  KERNEL_SET(c, 0, signed char, 1, -2, 3, -4, 5, -6, -7, 8);
  KERNEL_GIVES(c, 0, 0, 5, -2, 3, 8);
  kernel_case_destroy(c);
}

TEST(HalvesPoolAsTheirNumbers) {
  kernel_case* c =
      kernel_case_create("f16[1, 1, 4]", "pool(%0) {op = \"avg\", kernel = [2]}", "f16[1, 1, 3]");
  KERNEL_SET(c, 0, unsigned short, 0x3c00, 0x4000, 0x4200, 0x4400);  // 1 2 3 4
  KERNEL_GIVES(c, 0, 0, 1.5, 2.5, 3.5);
  kernel_case_destroy(c);
}

TEST(PoolRefusesIntegersItCannotAverage) {
  kernel_case* c =
      kernel_case_create("i8[1, 1, 4]", "pool(%0) {op = \"avg\", kernel = [2]}", "i8[1, 1, 3]");
  CHECK(kernel_case_run(c) == STOW_ERR_UNSUPPORTED);
  kernel_case_destroy(c);
}

TEST(EmptyPoolsDoNothing) {
  kernel_case* c = kernel_case_create("f32[0, 3, 4]", "pool(%0) {kernel = [2]}", "f32[0, 3, 3]");
  CHECK(kernel_case_run(c) == STOW_OK);
  kernel_case_destroy(c);
}

TEST(QuantisedAveragesAreRounded) {
  kernel_case* c = kernel_case_create(
      "u8[1, 1, 4]; f32[] = [2]; u8[] = [10]; f32[] = [1]; u8[] = [100]",
      "qlinear_pool(%0, %1, %2, %3, %4) {kernel = [2], strides = [2]}", "u8[1, 1, 2]");
  KERNEL_SET(c, 0, unsigned char, 10, 13, 200, 255);
  KERNEL_GIVES(c, 0, 0, 103, 255);
  kernel_case_destroy(c);
  // Averages -0.5, 1.5: half to even.
  c = kernel_case_create("i8[1, 2, 2]; f32[] = [1]",
                         "qlinear_pool(%0, %1, _, %1) {global = true, channels_last = true}",
                         "i8[1, 1, 2]");
  KERNEL_SET(c, 0, signed char, -1, 1, 0, 2);
  KERNEL_GIVES(c, 0, 0, 0, 2);
  kernel_case_destroy(c);
}

TEST(UnpoolPutsElementsBack) {
  kernel_case* c = kernel_case_create("f32[1, 1, 2, 2]; i64[1, 1, 2, 2]",
                                      "max_unpool(%0, %1) {kernel = [2, 2], strides = [2, 2]}",
                                      "f32[1, 1, 4, 4]");
  KERNEL_SET(c, 0, float, 1, 2, 3, 4);
  KERNEL_SET(c, 1, int64_t, 5, 7, 13, 15);
  KERNEL_GIVES(c, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 4);
  KERNEL_SET(c, 1, int64_t, 5, 7, 13, 16);
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_TEXT(kernel_case_message(c), "index 3 is 16, which is out of range");
  KERNEL_SET(c, 1, int64_t, 5, -1, 13, 15);
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  kernel_case_destroy(c);
}

TEST(UnpoolToLargerDimsKeepsRows) {
  kernel_case* c = kernel_case_create("f32[1, 1, 1, 2]; i64[1, 1, 1, 2]; i64[4] = [1, 1, 3, 5]",
                                      "max_unpool(%0, %1, %2) {kernel = [2, 2], strides = [2, 2]}",
                                      "f32[1, 1, 3, 5]");
  KERNEL_SET(c, 0, float, 1, 2);
  KERNEL_SET(c, 1, int64_t, 1, 6);
  KERNEL_GIVES(c, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0);
  kernel_case_destroy(c);
}

TEST(ColumnsAddUpToAnImage) {
  kernel_case* c = kernel_case_create("f32[1, 2, 3]; i64[1] = [4]; i64[1] = [2]",
                                      "col2im(%0, %1, %2)", "f32[1, 1, 4]");
  KERNEL_SET(c, 0, float, 1, 2, 3, 10, 20, 30);
  KERNEL_GIVES(c, 0, 0, 1, 12, 23, 30);
  kernel_case_destroy(c);
  c = kernel_case_create("i32[1, 2, 2]; i64[1] = [4]; i64[1] = [2]",
                         "col2im(%0, %1, %2) {strides = [3], pads = [1, 0], dilations = [1]}",
                         "i32[1, 1, 4]");
  KERNEL_SET(c, 0, int32_t, 1, 2, 10, 20);
  KERNEL_GIVES(c, 0, 0, 10, 0, 2, 20);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[1, 2, 3]; i64[1] = [5]; i64[1] = [2]", "col2im(%0, %1, %2)",
                         "f32[1, 1, 5]");
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  kernel_case_destroy(c);
}
