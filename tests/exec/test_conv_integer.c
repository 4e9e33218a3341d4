// Convolutions of integers: sums are exact, results of quantised ones are rounded half to even.
#include <math.h>
#include <stdlib.h>

#include "exec/kernel_case.h"
#include "exec/plain_conv.h"
#include "support/test.h"

// Bytes that use the whole range.
static void fill_bytes(kernel_case* c, size_t k, size_t count, uint64_t seed) {
  test_random random = {seed};
  unsigned char* bytes = kernel_case_operand(c, k);
  for (size_t i = 0; i < count; ++i) {
    bytes[i] = (unsigned char)test_random_u64(&random);
  }
}

static size_t elements_of(kernel_case* c, size_t k) {
  const stow_graph* graph = kernel_case_graph(c);
  uint64_t count = 0;
  (void)stow_type_elements(
      stow_graph_type(graph, stow_graph_operands(graph, kernel_case_node(c))[k]), &count);
  return (size_t)count;
}

static void compare(const char* operands, const char* node, const char* result) {
  kernel_case* c = kernel_case_create(operands, node, result);
  fill_bytes(c, 0, elements_of(c, 0), 1);
  fill_bytes(c, 1, elements_of(c, 1), 2);
  double* x = plain_numbers(c, 0);
  double* w = plain_numbers(c, 1);
  double* x_zero = plain_numbers(c, 2);
  double* w_zero = plain_numbers(c, 3);
  plain_conv p = plain_conv_of(c, 0, 1);
  size_t count = plain_conv_outputs(&p);
  double* expected = malloc(count * sizeof(double));
  REQUIRE(x != NULL && w != NULL && x_zero != NULL && w_zero != NULL && expected != NULL);
  size_t zeros = elements_of(c, 3);
  size_t each = elements_of(c, 1) / (size_t)p.out_channels;
  for (size_t i = 0; i < elements_of(c, 0); ++i) {
    x[i] -= x_zero[0];
  }
  for (size_t i = 0; i < elements_of(c, 1); ++i) {
    w[i] -= w_zero[zeros == 1 ? 0 : i / each];
  }
  for (size_t i = 0; i < count; ++i) {
    expected[i] = plain_conv_at(&p, x, w, i);
  }
  kernel_case_gives(c, 0, expected, count, 0, node, 0);
  free(expected);
  free(w_zero);
  free(x_zero);
  free(w);
  free(x);
  kernel_case_destroy(c);
}

TEST(ConvIntegerMatchesItsDefinition) {
  compare("u8[2, 3, 9, 8]; i8[5, 3, 3, 3]; u8[] = [7]; i8[] = [-3]",
          "conv_integer(%0, %1, %2, %3) {pads = [1, 1, 1, 1]}", "i32[2, 5, 9, 8]");
  compare("i8[1, 32, 6, 7]; i8[9, 32, 1, 1]; i8[] = [-128]; i8[9] = [1, 2, 3, 4, 5, 6, 7, 8, 9]",
          "conv_integer(%0, %1, %2, %3)", "i32[1, 9, 6, 7]");
  compare("u8[1, 40, 5, 5]; u8[6, 20, 3, 3]; u8[] = [128]; u8[] = [127]",
          "conv_integer(%0, %1, %2, %3) {group = 2, strides = [2, 1], dilations = [1, 2]}",
          "i32[1, 6, 2, 1]");
  compare("u8[1, 19, 9, 9]; i8[19, 1, 3, 3]; u8[] = [10]; i8[] = [0]",
          "conv_integer(%0, %1, %2, %3) {group = 19, pads = [1, 2, 0, 1], strides = [2, 1]}",
          "i32[1, 19, 4, 10]");
  compare("u8[1, 4, 9]; i8[8, 1, 3]; u8[] = [10]; i8[] = [0]",
          "conv_integer(%0, %1, %2, %3) {group = 4}", "i32[1, 8, 7]");
  compare("u8[1, 3, 4, 5, 6]; i8[4, 3, 2, 3, 2]; u8[] = [255]; i8[] = [127]",
          "conv_integer(%0, %1, %2, %3)", "i32[1, 4, 3, 3, 5]");
  compare("u8[1, 17, 40, 41]; i8[3, 17, 3, 3]; u8[] = [1]; i8[] = [1]",
          "conv_integer(%0, %1, %2, %3) {pads = [1, 1, 1, 1]}", "i32[1, 3, 40, 41]");
  // Every tap reads another phase, some dims have fewer than the stride, planes have ends inside.
  compare("i8[2, 3, 7, 9, 11]; u8[9, 3, 2, 3, 2]; i8[] = [-7]; u8[] = [200]",
          "conv_integer(%0, %1, %2, %3) {strides = [2, 3, 4], dilations = [3, 2, 1], "
          "pads = [1, 2, 0, 0, 1, 3]}",
          "i32[2, 9, 3, 3, 4]");
  // Larger than its image by more than is copied; and sums that need several panels.
  compare("u8[1, 2, 3, 2]; i8[20, 2, 3, 3]; u8[] = [9]; i8[] = [5]",
          "conv_integer(%0, %1, %2, %3) {pads = [4, 5, 6, 7]}", "i32[1, 20, 11, 12]");
  compare("u8[1, 130, 5, 40]; u8[11, 130, 3, 3]; u8[] = [99]; u8[] = [3]",
          "conv_integer(%0, %1, %2, %3) {pads = [1, 1, 1, 1]}", "i32[1, 11, 5, 40]");
}

TEST(LongSumsOfTheLargestProductsAreExact) {
  kernel_case* c = kernel_case_create("u8[1, 20000, 1]; u8[4, 20000, 1]", "conv_integer(%0, %1)",
                                      "i32[1, 4, 1]");
  unsigned char* x = kernel_case_operand(c, 0);
  unsigned char* w = kernel_case_operand(c, 1);
  for (size_t i = 0; i < 80000; ++i) {
    x[i % 20000] = 255;
    w[i] = 255;
  }
  KERNEL_GIVES(c, 0, 0, 1300500000, 1300500000, 1300500000, 1300500000);
  kernel_case_destroy(c);
}

TEST(QuantisedSumsRoundHalfToEvenAndAreClamped) {
  kernel_case* c = kernel_case_create(
      "u8[1, 1, 8]; f32[] = [0.5]; u8[] = [2]; i8[1, 1, 1] = [1]; f32[] = [1]; i8[] = [0]; f32[] = "
      "[1]; u8[] = [1]; i32[1] = [1]",
      "qlinear_conv(%0, %1, %2, %3, %4, %5, %6, %7, %8)", "u8[1, 1, 8]");
  // Sums x - 2 + 1, halved: -0.5, 0, 0.5, 1, 1.5, 2.5, 126.5, and one that is cut at the low end.
  KERNEL_SET(c, 0, unsigned char, 0, 1, 2, 3, 4, 6, 254, 255);
  KERNEL_GIVES(c, 0, 0, 1, 1, 1, 2, 3, 3, 127, 128);
  kernel_case_destroy(c);
  c = kernel_case_create(
      "i8[1, 1, 4]; f32[] = [10]; i8[] = [0]; i8[2, 1, 1] = [1, -1]; f32[2] = [1, 0.25]; i8[2] = "
      "[0, 0]; f32[] = [1]; i8[] = [-5]",
      "qlinear_conv(%0, %1, %2, %3, %4, %5, %6, %7)", "i8[1, 2, 4]");
  KERNEL_SET(c, 0, signed char, -128, -3, 3, 127);
  KERNEL_GIVES(c, 0, 0, -128, -35, 25, 127, 127, 3, -13, -128);
  kernel_case_destroy(c);
}

TEST(QuantisedConvWithChannelsLastIsTheSame) {
  // Two pixels of three channels; weights pick channel 0, and the sum of all.
  kernel_case* c = kernel_case_create(
      "u8[1, 2, 1, 3]; f32[] = [1]; u8[] = [0]; i8[2, 3, 1, 1] = [1, 0, 0, 1, 1, 1]; f32[] = [1]; "
      "i8[] = [0]; f32[] = [1]; u8[] = [0]; i32[2] = [0, 100]",
      "qlinear_conv(%0, %1, %2, %3, %4, %5, %6, %7, %8) {channels_last = true}", "u8[1, 2, 1, 2]");
  KERNEL_SET(c, 0, unsigned char, 1, 2, 3, 4, 5, 6);
  KERNEL_GIVES(c, 0, 0, 1, 106, 4, 115);
  kernel_case_destroy(c);
  // A kernel for each of two channels.
  c = kernel_case_create(
      "u8[1, 3, 1, 2]; f32[] = [1]; u8[] = [0]; i8[2, 1, 2, 1] = [1, 1, 0, 2]; f32[] = [1]; i8[] = "
      "[0]; f32[] = [1]; u8[] = [0]",
      "qlinear_conv(%0, %1, %2, %3, %4, %5, %6, %7) {channels_last = true, group = 2}",
      "u8[1, 2, 1, 2]");
  KERNEL_SET(c, 0, unsigned char, 1, 2, 3, 4, 5, 6);
  KERNEL_GIVES(c, 0, 0, 4, 8, 8, 12);
  kernel_case_destroy(c);
}

TEST(ConvIntegerRefusesWiderIntegers) {
  kernel_case* c =
      kernel_case_create("i16[1, 1, 4]; i16[1, 1, 2]", "conv_integer(%0, %1)", "i32[1, 1, 3]");
  CHECK(kernel_case_run(c) == STOW_ERR_UNSUPPORTED);
  CHECK_TEXT(kernel_case_message(c), "operands must be u8 or i8");
  kernel_case_destroy(c);
}
