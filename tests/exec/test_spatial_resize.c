// Resizing: every mode, every way to place positions, and every way to say the size.
#include <stdio.h>

#include "exec/kernel_case.h"
#include "support/test.h"

// Runs on f32[1, 1, 1, 2] = 1 2 with a scale of 2.5.
static void check_pair(const char* attrs, double a, double b, double c0, double d, double e) {
  char node[160];
  snprintf(node, sizeof(node), "resize(%%0, _, %%1) {%s}", attrs);
  kernel_case* c =
      kernel_case_create("f32[1, 1, 1, 2]; f32[4] = [1, 1, 1, 2.5]", node, "f32[1, 1, 1, 5]");
  KERNEL_SET(c, 0, float, 1, 2);
  KERNEL_GIVES(c, 0, 1e-5, a, b, c0, d, e);
  kernel_case_destroy(c);
}

TEST(CoordinateModesAreHonoured) {
  check_pair("mode = \"linear\"", 1, 1.1, 1.5, 1.9, 2);
  check_pair("mode = \"linear\", coordinates = \"align_corners\"", 1, 1.25, 1.5, 1.75, 2);
  check_pair("mode = \"linear\", coordinates = \"asymmetric\"", 1, 1.4, 1.8, 2, 2);
  check_pair("mode = \"linear\", coordinates = \"pytorch_half_pixel\"", 1, 1.1, 1.5, 1.9, 2);
  check_pair("mode = \"linear\", coordinates = \"half_pixel_symmetric\"", 1, 1.1, 1.5, 1.9, 2);
  check_pair("mode = \"nearest\", coordinates = \"tf_half_pixel_for_nn\", nearest_mode = \"floor\"",
             1, 1, 2, 2, 2);
}

TEST(NearestModesAreHonoured) {
  static const struct {
    const char* mode;
    double numbers[6];
  } cases[] = {
      {"floor", {1, 1, 2, 2, 3, 4}},
      {"ceil", {1, 2, 3, 3, 4, 4}},
      {"round_prefer_floor", {1, 1, 2, 3, 3, 4}},
      {"round_prefer_ceil", {1, 2, 2, 3, 4, 4}},
  };
  for (size_t i = 0; i < 4; ++i) {
    char node[100];
    snprintf(node, sizeof(node), "resize(%%0, _, %%1) {nearest_mode = \"%s\"}", cases[i].mode);
    kernel_case* c =
        kernel_case_create("f32[1, 1, 1, 4]; f32[4] = [1, 1, 1, 1.5]", node, "f32[1, 1, 1, 6]");
    KERNEL_SET(c, 0, float, 1, 2, 3, 4);
    kernel_case_gives(c, 0, cases[i].numbers, 6, 0, __FILE__, __LINE__);
    kernel_case_destroy(c);
  }
}

TEST(NearestRoundsByScale) {
  kernel_case* c = kernel_case_create(
      "f32[1, 1, 2, 4]; f32[4] = [1, 1, 1.5, 0.6]",
      "resize(%0, _, %1) {coordinates = \"asymmetric\", nearest_mode = \"ceil_if_smaller\"}",
      "f32[1, 1, 3, 2]");
  KERNEL_SET(c, 0, float, 1, 2, 3, 4, 5, 6, 7, 8);
  KERNEL_GIVES(c, 0, 0, 1, 3, 1, 3, 5, 7);
  kernel_case_destroy(c);
}

TEST(NearestCopiesElementsOfAnyWidth) {
  static const char* const dtypes[] = {"u8", "f16", "i32", "i64", "c128", "bool"};
  for (size_t i = 0; i < 6; ++i) {
    char operands[80];
    char result[40];
    snprintf(operands, sizeof(operands), "%s[2, 1, 3]; f32[3] = [1, 2, 2]", dtypes[i]);
    snprintf(result, sizeof(result), "%s[2, 2, 6]", dtypes[i]);
    kernel_case* c = kernel_case_create(
        operands, "resize(%0, _, %1) {coordinates = \"asymmetric\", nearest_mode = \"floor\"}",
        result);
    unsigned char* x = kernel_case_operand(c, 0);
    const stow_graph* graph = kernel_case_graph(c);
    const stow_value first = stow_graph_operands(graph, kernel_case_node(c))[0];
    size_t size = stow_dtype_bits(stow_graph_type(graph, first)->dtype) / 8;
    for (size_t k = 0; k < 6 * size; ++k) {
      x[k] = (unsigned char)(dtypes[i][0] == 'b' ? k % 2 : k + 1);
    }
    CHECK(kernel_case_run(c) == STOW_OK);
    const unsigned char* y = kernel_case_result(c, 0)->data;
    for (size_t k = 0; k < 24 * size; ++k) {
      size_t element = k / size;
      size_t from = element / 12 * 3 + element % 6 / 2;
      CHECK_U64(y[k], x[from * size + k % size]);
    }
    kernel_case_destroy(c);
  }
}

TEST(LinearWeighsFourNeighbours) {
  kernel_case* c = kernel_case_create("f32[1, 1, 2, 2]; f32[4] = [1, 1, 2, 2]",
                                      "resize(%0, _, %1) {mode = \"linear\"}", "f32[1, 1, 4, 4]");
  KERNEL_SET(c, 0, float, 1, 2, 3, 4);
  KERNEL_GIVES(c, 0, 1e-6, 1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25,
               3.75, 4);
  kernel_case_destroy(c);
}

TEST(LinearResizesAnyAxes) {
  kernel_case* c =
      kernel_case_create("f64[2, 2, 1]; f32[1] = [2]",
                         "resize(%0, _, %1) {mode = \"linear\", axes = [-3]}", "f64[4, 2, 1]");
  KERNEL_SET(c, 0, double, 0, 8, 4, 16);
  KERNEL_GIVES(c, 0, 1e-12, 0, 8, 1, 10, 3, 14, 4, 16);
  kernel_case_destroy(c);
}

TEST(IntegersAreTruncated) {
  kernel_case* c = kernel_case_create("u8[1, 1, 2]; f32[3] = [1, 1, 2]",
                                      "resize(%0, _, %1) {mode = \"linear\"}", "u8[1, 1, 4]");
  KERNEL_SET(c, 0, unsigned char, 0, 255);
  KERNEL_GIVES(c, 0, 0, 0, 63, 191, 255);
  kernel_case_destroy(c);
  c = kernel_case_create("u8[1, 1, 4]; f32[3] = [1, 1, 2]", "resize(%0, _, %1) {mode = \"cubic\"}",
                         "u8[1, 1, 8]");
  // Weights below zero would leave the range on both sides.
  KERNEL_SET(c, 0, unsigned char, 0, 0, 255, 255);
  KERNEL_GIVES(c, 0, 0, 0, 0, 0, 57, 197, 255, 255, 255);
  kernel_case_destroy(c);
}

static void check_row(const char* operands, const char* node, const double* numbers, size_t count) {
  char result[40];
  snprintf(result, sizeof(result), "f32[1, 1, 1, %zu]", count);
  kernel_case* c = kernel_case_create(operands, node, result);
  KERNEL_SET(c, 0, float, 1, 2, 3, 4);
  kernel_case_gives(c, 0, numbers, count, 1e-5, node, 0);
  kernel_case_destroy(c);
}

TEST(CubicWeighsSixteenNeighbours) {
  check_row("f32[1, 1, 1, 4]; f32[4] = [1, 1, 1, 2]", "resize(%0, _, %1) {mode = \"cubic\"}",
            (double[]){0.89453, 1.19141, 1.66797, 2.29688, 2.70312, 3.33203, 3.80859, 4.10547}, 8);
  check_row("f32[1, 1, 1, 4]; f32[4] = [1, 1, 1, 2]",
            "resize(%0, _, %1) {mode = \"cubic\", cubic_coeff_a = -0.5, exclude_outside = true}",
            (double[]){0.91176, 1.16788, 1.70992, 2.25, 2.75, 3.29008, 3.83212, 4.08824}, 8);
}

TEST(AntialiasingReachesFurther) {
  check_row("f32[1, 1, 1, 4]; f32[4] = [1, 1, 1, 0.5]",
            "resize(%0, _, %1) {mode = \"linear\", antialias = true}", (double[]){1.625, 3.375}, 2);
  check_row("f32[1, 1, 1, 4]; f32[4] = [1, 1, 1, 0.5]",
            "resize(%0, _, %1) {mode = \"cubic\", antialias = true}", (double[]){1.49023, 3.50977},
            2);
}

TEST(CropsTakeAValueOutside) {
  check_row("f32[1, 1, 1, 4]; f32[8] = [0, 0, 0, 0.25, 1, 1, 1, 1.5]; i64[4] = [1, 1, 1, 3]",
            "resize(%0, %1, _, %2) {mode = \"linear\", coordinates = \"tf_crop_and_resize\", "
            "extrapolation_value = 9.0}",
            (double[]){1.75, 3.625, 9}, 3);
  check_row("f32[1, 1, 1, 4]; f32[8] = [0, 0, 0, 0.25, 1, 1, 1, 1.5]; i64[4] = [1, 1, 1, 3]",
            "resize(%0, %1, _, %2) {coordinates = \"tf_crop_and_resize\", "
            "extrapolation_value = 9.0}",
            (double[]){2, 4, 9}, 3);
}

TEST(AspectRatiosAreKept) {
  kernel_case* c = kernel_case_create(
      "f32[1, 1, 4, 4]; i64[2] = [3, 6]",
      "resize(%0, _, _, %1) {axes = [2, 3], keep_aspect_ratio_policy = \"not_larger\"}",
      "f32[1, 1, 3, 3]");
  float* x = kernel_case_operand(c, 0);
  for (int i = 0; i < 16; ++i) {
    x[i] = (float)(i + 1);
  }
  KERNEL_GIVES(c, 0, 0, 1, 2, 4, 5, 6, 8, 13, 14, 16);
  kernel_case_destroy(c);
}

TEST(ResizeOfNothingDoesNothing) {
  kernel_case* c =
      kernel_case_create("f32[0, 2]; f32[2] = [1, 2]", "resize(%0, _, %1)", "f32[0, 4]");
  CHECK(kernel_case_run(c) == STOW_OK);
  kernel_case_destroy(c);
}

TEST(ResizeRefusesPartsOfBytes) {
  kernel_case* c = kernel_case_create("u4[2]; f32[1] = [2]", "resize(%0, _, %1)", "u4[4]");
  CHECK(kernel_case_run(c) == STOW_ERR_UNSUPPORTED);
  kernel_case_destroy(c);
}
