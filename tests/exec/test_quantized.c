// Ops that quantise, and ops on quantised tensors. Numbers of the latter are those that onnxruntime
// gives.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exec/kernel_case.h"
#include "support/test.h"

TEST(HalvesRoundToEvenAndLargeNumbersSaturate) {
  kernel_case* c =
      kernel_case_create("f32[9]; f32[]; u8[]", "quantize_linear(%0, %1, %2)", "u8[9]");
  KERNEL_SET(c, 0, float, 0, 1, 3, 5, -256, 1000, -1e30F, INFINITY, NAN);
  KERNEL_SET(c, 1, float, 2);
  KERNEL_SET(c, 2, uint8_t, 128);
  KERNEL_GIVES(c, 0, 0, 128, 128, 130, 130, 0, 255, 0, 255, 0);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[4]; f32[]", "quantize_linear(%0, %1)", "u8[4]");
  KERNEL_SET(c, 0, float, -1, 1, 254.4F, 300);
  KERNEL_SET(c, 1, float, 1);
  KERNEL_GIVES(c, 0, 0, 0, 1, 254, 255);
  kernel_case_destroy(c);
}

TEST(EveryIntegerIsATarget) {
  static const struct {
    const char* type;
    const char* zero;
    double low;
    double high;
  } targets[] = {
      {"i8[4]", "f32[4]; f32[]; i8[]", -128, 127},
      {"u16[4]", "f32[4]; f32[]; u16[]", 0, 65535},
      {"i16[4]", "f32[4]; f32[]; i16[]", -32768, 32767},
      {"i4[4]", "f32[4]; f32[]; i4[]", -8, 7},
      {"u4[4]", "f32[4]; f32[]; u4[]", 0, 15},
      {"i2[4]", "f32[4]; f32[]; i2[]", -2, 1},
      {"u2[4]", "f32[4]; f32[]; u2[]", 0, 3},
  };
  for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); ++i) {
    kernel_case* c =
        kernel_case_create(targets[i].zero, "quantize_linear(%0, %1, %2)", targets[i].type);
    KERNEL_SET(c, 0, float, -1e6F, 1e6F, 0.5F, 0.25F);
    KERNEL_SET(c, 1, float, 0.5F);
    KERNEL_GIVES(c, 0, 0, targets[i].low, targets[i].high, 1, 0);
    kernel_case_destroy(c);
  }
}

TEST(ScalesGoAlongAnAxis) {
  kernel_case* c = kernel_case_create("f32[2, 2, 2]; f32[2]; u8[2]",
                                      "quantize_linear(%0, %1, %2) {axis = -2}", "u8[2, 2, 2]");
  KERNEL_SET(c, 0, float, 1, 2, 10, 20, 3, 4, 30, 40);
  KERNEL_SET(c, 1, float, 1, 10);
  KERNEL_SET(c, 2, uint8_t, 0, 100);
  KERNEL_GIVES(c, 0, 0, 1, 2, 101, 102, 3, 4, 103, 104);
  kernel_case_destroy(c);
  c = kernel_case_create("u8[2, 3]; f32[3]; u8[3]", "dequantize_linear(%0, %1, %2) {axis = 1}",
                         "f32[2, 3]");
  KERNEL_SET(c, 0, uint8_t, 1, 2, 3, 4, 5, 6);
  KERNEL_SET(c, 1, float, 1, 0.5F, 2);
  KERNEL_SET(c, 2, uint8_t, 0, 4, 1);
  KERNEL_GIVES(c, 0, 0, 1, -1, 4, 4, 0.5, 10);
  kernel_case_destroy(c);
}

// Blocks along the last axis, with a short one at the end, and along another one.
TEST(ScalesGoByBlocks) {
  kernel_case* c =
      kernel_case_create("f32[2, 5]; f32[2, 3]; u8[2, 3]",
                         "quantize_linear(%0, %1, %2) {axis = 1, block_size = 2}", "u8[2, 5]");
  KERNEL_SET(c, 0, float, 6, 12, 50, 5, 9, 1, 8, 4, 5, 7);
  KERNEL_SET(c, 1, float, 1.5F, 2.5F, 3, 3, 4.9F, 7);
  KERNEL_SET(c, 2, uint8_t, 0, 1, 10, 1, 0, 20);
  KERNEL_GIVES(c, 0, 0, 4, 8, 21, 3, 13, 1, 4, 1, 1, 21);
  kernel_case_destroy(c);
  c = kernel_case_create("i8[3, 2]; f32[2, 2]",
                         "dequantize_linear(%0, %1) {axis = 0, block_size = 2}", "f32[3, 2]");
  KERNEL_SET(c, 0, int8_t, 1, 2, 3, 4, 5, -6);
  KERNEL_SET(c, 1, float, 1, 10, 100, 1000);
  KERNEL_GIVES(c, 0, 0, 1, 20, 3, 40, 500, -6000);
  kernel_case_destroy(c);
}

// More than a block, in ranges that begin anywhere.
TEST(LongTensorsAreQuantisedInEveryRange) {
  enum { COUNT = 3 * 333 };
  static double expected[COUNT];
  kernel_case* c =
      kernel_case_create("f32[3, 333]; f32[3]", "quantize_linear(%0, %1) {axis = 0}", "u8[3, 333]");
  for (size_t i = 0; i < COUNT; ++i) {
    ((float*)kernel_case_operand(c, 0))[i] = (float)(i % 200) * (float)(i / 333 + 1);
    expected[i] = (double)(i % 200);
  }
  KERNEL_SET(c, 1, float, 1, 2, 3);
  kernel_case_gives(c, 0, expected, COUNT, 0, __FILE__, __LINE__);
  kernel_case_destroy(c);
}

TEST(SmallFloatsAreTargetsAndSources) {
  kernel_case* c =
      kernel_case_create("f32[4]; f32[]; f8e4m3fn[]", "quantize_linear(%0, %1, %2)", "f8e4m3fn[4]");
  KERNEL_SET(c, 0, float, 0, 1, 100000, 200);
  KERNEL_SET(c, 1, float, 2);
  KERNEL_GIVES(c, 0, 0, 0, 0.5, 448, 96);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[2]; f32[]; f8e5m2[]",
                         "quantize_linear(%0, %1, %2) {saturate = false}", "f8e5m2[2]");
  KERNEL_SET(c, 0, float, 1e9F, 3);
  KERNEL_SET(c, 1, float, 2);
  KERNEL_GIVES(c, 0, 0, INFINITY, 1.5);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[3]; f32[]", "quantize_linear(%0, %1) {dtype = \"f4e2m1\"}",
                         "f4e2m1[3]");
  KERNEL_SET(c, 0, float, 5, -100, 1);
  KERNEL_SET(c, 1, float, 2);
  KERNEL_GIVES(c, 0, 0, 2, -6, 0.5);
  kernel_case_destroy(c);
  c = kernel_case_create("f8e4m3fn[2]; f16[]", "dequantize_linear(%0, %1)", "f16[2]");
  KERNEL_SET(c, 0, uint8_t, 0x7e, 0x30);
  KERNEL_SET(c, 1, uint16_t, 0x4000);
  KERNEL_GIVES(c, 0, 0, 896, 1);
  kernel_case_destroy(c);
}

TEST(OtherFloatsAreQuantised) {
  kernel_case* c =
      kernel_case_create("f16[3]; f16[]; i8[]", "quantize_linear(%0, %1, %2)", "i8[3]");
  KERNEL_SET(c, 0, uint16_t, 0x3c00, 0xc000, 0x4500);  // 1, -2, 5
  KERNEL_SET(c, 1, uint16_t, 0x3800);                  // 0.5
  KERNEL_SET(c, 2, int8_t, 1);
  KERNEL_GIVES(c, 0, 0, 3, -3, 11);
  kernel_case_destroy(c);
  c = kernel_case_create("i32[2]; f32[]", "quantize_linear(%0, %1)", "u8[2]");
  KERNEL_SET(c, 0, int32_t, 100, 7);
  KERNEL_SET(c, 1, float, 4);
  KERNEL_GIVES(c, 0, 0, 25, 2);
  kernel_case_destroy(c);
  // 2051 / 1 is 2052 in f16.
  c = kernel_case_create("f32[1]; f32[]; i16[]",
                         "quantize_linear(%0, %1, %2) {precision = \"f16\"}", "i16[1]");
  KERNEL_SET(c, 0, float, 2051);
  KERNEL_SET(c, 1, float, 1);
  KERNEL_GIVES(c, 0, 0, 2052);
  kernel_case_destroy(c);
}

TEST(IntegersStandForNumbers) {
  kernel_case* c =
      kernel_case_create("i32[2]; f32[]; i32[]", "dequantize_linear(%0, %1, %2)", "f32[2]");
  KERNEL_SET(c, 0, int32_t, INT32_MAX, 10);
  KERNEL_SET(c, 1, float, 0.5F);
  KERNEL_SET(c, 2, int32_t, INT32_MAX - 1);
  KERNEL_GIVES(c, 0, 0, 0.5, -0x1p30);
  kernel_case_destroy(c);
  c = kernel_case_create("i4[3]; f32[]; i4[]", "dequantize_linear(%0, %1, %2)", "f32[3]");
  KERNEL_SET(c, 0, uint8_t, 0x8f, 0x07);
  KERNEL_SET(c, 1, float, 2);
  KERNEL_SET(c, 2, uint8_t, 1);
  KERNEL_GIVES(c, 0, 0, -4, -18, 12);
  kernel_case_destroy(c);
  c = kernel_case_create("u16[1]; f32[]; u16[]", "dequantize_linear(%0, %1, %2)", "f32[1]");
  KERNEL_SET(c, 0, uint16_t, 30000);
  KERNEL_SET(c, 1, float, 2);
  KERNEL_SET(c, 2, uint16_t, 32767);
  KERNEL_GIVES(c, 0, 0, -5534);
  kernel_case_destroy(c);
}

TEST(WideTargetsAreRefused) {
  kernel_case* c =
      kernel_case_create("f32[1]; f32[]", "quantize_linear(%0, %1) {dtype = \"i32\"}", "i32[1]");
  CHECK(kernel_case_run(c) == STOW_ERR_UNSUPPORTED);
  CHECK_HAS(kernel_case_message(c), "i32");
  kernel_case_destroy(c);
}

// Numbers of the ONNX specification's example.
TEST(DynamicQuantisationFindsItsRange) {
  kernel_case* c =
      kernel_case_create("f32[6]", "dynamic_quantize_linear(%0)", "u8[6]; f32[]; u8[]");
  KERNEL_SET(c, 0, float, 0, 2, -3, -2.5F, 1.34F, 0.5F);
  KERNEL_GIVES(c, 0, 0, 153, 255, 0, 26, 221, 179);
  KERNEL_GIVES(c, 1, 1e-7, 0.0196078438);
  KERNEL_GIVES(c, 2, 0, 153);
  KERNEL_SET(c, 0, float, -1, -2.1F, -1.3F, -2.5F, -3.34F, -4);  // 0 counts
  KERNEL_GIVES(c, 0, 0, 191, 121, 172, 96, 42, 0);
  KERNEL_SET(c, 0, float, 0, 0, 0, 0, 0, 0);
  KERNEL_GIVES(c, 1, 0, 1);
  KERNEL_GIVES(c, 0, 0, 0, 0, 0, 0, 0, 0);
  kernel_case_destroy(c);
}

// More than a worker quantises at once, also in place; the extremes are near the ends.
TEST(LongTensorsAreQuantisedDynamically) {
  kernel_case* c =
      kernel_case_create("f32[9001]", "dynamic_quantize_linear(%0)", "u8[9001]; f32[]; u8[]");
  float* x = (float*)kernel_case_operand(c, 0);
  static double expected[9001];
  for (size_t i = 0; i < 9001; ++i) {
    x[i] = (float)(i * 37 % 200);
    expected[i] = (double)(i * 37 % 200) + 40;
  }
  x[2] = -40;
  expected[2] = 0;
  x[8999] = 215;
  expected[8999] = 255;
  kernel_case_gives(c, 0, expected, 9001, 0, __FILE__, __LINE__);
  KERNEL_GIVES(c, 1, 0, 1);
  KERNEL_GIVES(c, 2, 0, 40);
  kernel_case_destroy(c);
}

static void set_scales(kernel_case* c, size_t k, float scale, uint8_t zero) {
  KERNEL_SET(c, k, float, scale);
  KERNEL_SET(c, k + 1, uint8_t, zero);
}

TEST(QuantisedTensorsAreAddedAndMultiplied) {
  static const char operands[] = "u8[6]; f32[]; u8[]; u8[6]; f32[]; u8[]; f32[]; u8[]";
  static const double expected[2][6] = {{78, 38, 132, 140, 187, 22}, {0, 250, 120, 0, 0, 120}};
  static const char* const nodes[] = {"qlinear_add(%0, %1, %2, %3, %4, %5, %6, %7)",
                                      "qlinear_mul(%0, %1, %2, %3, %4, %5, %6, %7)"};
  for (size_t i = 0; i < 2; ++i) {
    kernel_case* c = kernel_case_create(operands, nodes[i], "u8[6]");
    KERNEL_SET(c, 0, uint8_t, 0, 50, 128, 200, 255, 10);
    KERNEL_SET(c, 3, uint8_t, 255, 60, 128, 3, 7, 100);
    set_scales(c, 1, 0.1F, 128);
    set_scales(c, 4, 0.05F, 100);
    set_scales(c, 6, 0.12F, 120);
    kernel_case_gives(c, 0, expected[i], 6, 0, __FILE__, __LINE__);
    kernel_case_destroy(c);
  }
  kernel_case* c =
      kernel_case_create("i8[6]; f32[]; i8[]; i8[6]; f32[]; i8[]; f32[]; i8[]", nodes[0], "i8[6]");
  KERNEL_SET(c, 0, int8_t, -128, -50, 0, 100, 127, 10);
  KERNEL_SET(c, 3, int8_t, 127, -60, 12, 3, 7, 100);
  set_scales(c, 1, 0.1F, (uint8_t)-5);
  set_scales(c, 4, 0.05F, 10);
  set_scales(c, 6, 0.12F, 3);
  KERNEL_GIVES(c, 0, 0, -51, -64, 8, 88, 112, 53);
  kernel_case_destroy(c);
}

TEST(QuantisedOperandsAreRepeated) {
  kernel_case* c = kernel_case_create("u8[2, 3]; f32[]; u8[]; u8[3]; f32[]; u8[]; f32[]; u8[]",
                                      "qlinear_add(%0, %1, %2, %3, %4, %5, %6, %7)", "u8[2, 3]");
  KERNEL_SET(c, 0, uint8_t, 0, 50, 128, 200, 255, 10);
  KERNEL_SET(c, 3, uint8_t, 255, 60, 128);
  set_scales(c, 1, 0.1F, 128);
  set_scales(c, 4, 0.05F, 100);
  set_scales(c, 6, 0.12F, 120);
  KERNEL_GIVES(c, 0, 0, 78, 38, 132, 245, 209, 33);
  kernel_case_destroy(c);
}

TEST(QuantisedActivations) {
  static const char operands[] = "u8[6]; f32[]; u8[]; f32[]; u8[]";
  kernel_case* c = kernel_case_create(operands, "qlinear_sigmoid(%0, %1, %2, %3, %4)", "u8[6]");
  KERNEL_SET(c, 0, uint8_t, 0, 50, 128, 200, 255, 10);
  set_scales(c, 1, 0.05F, 128);
  set_scales(c, 3, 1.0F / 256, 0);
  KERNEL_GIVES(c, 0, 0, 0, 5, 128, 249, 255, 1);
  kernel_case_destroy(c);
  c = kernel_case_create(operands, "qlinear_leaky_relu(%0, %1, %2, %3, %4) {alpha = 0.1}", "u8[6]");
  KERNEL_SET(c, 0, uint8_t, 0, 50, 128, 200, 255, 10);
  set_scales(c, 1, 0.05F, 128);
  set_scales(c, 3, 0.06F, 30);
  KERNEL_GIVES(c, 0, 0, 19, 23, 30, 90, 136, 20);
  kernel_case_destroy(c);
  c = kernel_case_create("i8[6]; f32[]; i8[]; f32[]; i8[]",
                         "qlinear_leaky_relu(%0, %1, %2, %3, %4) {alpha = 0.1}", "i8[6]");
  KERNEL_SET(c, 0, int8_t, -128, -50, 0, 100, 127, 10);
  set_scales(c, 1, 0.05F, 0);
  set_scales(c, 3, 0.06F, 3);
  KERNEL_GIVES(c, 0, 0, -8, -1, 3, 86, 109, 11);
  kernel_case_destroy(c);
}

static void check_softmax(const char* node, const double expected[6]) {
  kernel_case* c = kernel_case_create("u8[2, 3]; f32[]; u8[]; f32[]; u8[]", node, "u8[2, 3]");
  KERNEL_SET(c, 0, uint8_t, 10, 20, 30, 200, 100, 150);
  set_scales(c, 1, 0.05F, 128);
  set_scales(c, 3, 1.0F / 256, 0);
  kernel_case_gives(c, 0, expected, 6, 0, __FILE__, __LINE__);
  kernel_case_destroy(c);
}

TEST(QuantisedSoftmaxOfRows) {
  check_softmax("qlinear_softmax(%0, %1, %2, %3, %4)", (double[]){48, 79, 130, 235, 2, 19});
  check_softmax("qlinear_softmax(%0, %1, %2, %3, %4) {axis = 0}",
                (double[]){0, 5, 1, 255, 251, 255});
  check_softmax("qlinear_softmax(%0, %1, %2, %3, %4) {axis = 0, opset = 11}",
                (double[]){0, 0, 0, 235, 2, 19});
  kernel_case* c = kernel_case_create("i8[2, 3]; f32[]; i8[]; f32[]; i8[]",
                                      "qlinear_softmax(%0, %1, %2, %3, %4)", "i8[2, 3]");
  KERNEL_SET(c, 0, int8_t, 10, 20, -30, 100, -100, 50);
  set_scales(c, 1, 0.05F, 0);
  set_scales(c, 3, 1.0F / 256, (uint8_t)-128);
  KERNEL_GIVES(c, 0, 0, -36, 24, -116, 109, -128, -109);
  kernel_case_destroy(c);
}

// Three times the same elements are a third each.
TEST(LongRowsHaveTheSoftmaxOfShortOnes) {
  kernel_case* one = kernel_case_create("i8[100]; f32[]; i8[]; f32[]; i8[]",
                                        "qlinear_softmax(%0, %1, %2, %3, %4)", "i8[100]");
  kernel_case* three = kernel_case_create("i8[300]; f32[]; i8[]; f32[]; i8[]",
                                          "qlinear_softmax(%0, %1, %2, %3, %4)", "i8[300]");
  int8_t x[300];
  for (size_t i = 0; i < 300; ++i) {
    x[i] = (int8_t)(i % 100 * 37 % 256 - 128);
  }
  kernel_case_set(one, 0, x, 100);
  kernel_case_set(three, 0, x, 300);
  set_scales(one, 1, 0.05F, 0);
  set_scales(three, 1, 0.05F, 0);
  set_scales(one, 3, 0x1.8p-9F, (uint8_t)-128);
  set_scales(three, 3, 0x1p-10F, (uint8_t)-128);
  REQUIRE(kernel_case_run(one) == STOW_OK && kernel_case_run(three) == STOW_OK);
  const int8_t* short_row = kernel_case_result(one, 0)->data;
  const int8_t* long_row = kernel_case_result(three, 0)->data;
  CHECK(short_row[83] > -100);  // of the largest
  for (size_t i = 0; i < 300; ++i) {
    CHECK(abs(short_row[i % 100] - long_row[i]) <= 1);
  }
  kernel_case_destroy(one);
  kernel_case_destroy(three);
}

TEST(PartsAreRequantisedAndJoined) {
  kernel_case* c =
      kernel_case_create("f32[]; u8[]; u8[2, 2]; f32[]; u8[]; u8[2, 1]; f32[]; u8[]",
                         "qlinear_concat(%0, %1, %2, %3, %4, %5, %6, %7) {axis = 1}", "u8[2, 3]");
  KERNEL_SET(c, 2, uint8_t, 1, 2, 3, 4);
  KERNEL_SET(c, 5, uint8_t, 50, 200);
  set_scales(c, 0, 0.1F, 100);
  set_scales(c, 3, 0.1F, 100);
  set_scales(c, 6, 0.2F, 10);
  KERNEL_GIVES(c, 0, 0, 1, 2, 180, 3, 4, 255);
  kernel_case_destroy(c);
}

TEST(AbsentScalesAreRefused) {
  kernel_case* c = kernel_case_create("u8[2]; f32[]; u8[]; u8[2]",
                                      "qlinear_add(%0, %1, %2, %3, _, %2, %1, %2)", "u8[2]");
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(kernel_case_message(c), "operand 4");
  kernel_case_destroy(c);
}

TEST(OneScaleHasNoAxis) {
  kernel_case* c =
      kernel_case_create("f32[2, 2]; f32[]", "quantize_linear(%0, %1) {axis = -1000}", "u8[2, 2]");
  KERNEL_SET(c, 0, float, 1, 2, 3, 4);
  KERNEL_SET(c, 1, float, 0.5F);
  KERNEL_GIVES(c, 0, 0, 2, 4, 6, 8);
  kernel_case_destroy(c);
  c = kernel_case_create("u8[2, 2]; f32[1]",
                         "dequantize_linear(%0, %1) {axis = 9223372036854775807}", "f32[2, 2]");
  KERNEL_SET(c, 0, uint8_t, 1, 2, 3, 4);
  KERNEL_SET(c, 1, float, 0.5F);
  KERNEL_GIVES(c, 0, 0, 0.5, 1, 1.5, 2);
  kernel_case_destroy(c);
}
