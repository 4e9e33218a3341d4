// Tests of the shapes of further windows, geometry, quantised tensors and recurrent layers.
#include <stdio.h>
#include <string.h>

#include "graph/shape_cases.h"
#include "support/fault.h"
#include "support/test.h"

// ---------------------------------------------------------------------------------------------
// Nodes with operands of known values: |lines|, with one value each, come before the node.

static stow_status parse_known(const char* lines, const char* node, const char* result,
                               stow_allocator allocator, stow_diag* diag) {
  unsigned id = 0;
  for (const char* c = lines; *c != '\0'; ++c) {
    id += *c == '\n';
  }
  char text[2048];
  snprintf(text, sizeof(text), "graph @g {\n%s  %%%u = %s : %s\n  return %%%u\n}\n", lines, id,
           node, result, id);
  stow_module* module = NULL;
  stow_diag_init(diag);
  stow_status status = stow_module_parse(text, strlen(text), NULL, NULL, allocator, diag, &module);
  stow_module_destroy(module);
  return status;
}

static void known_gives(const char* lines, const char* node, const char* result, const char* file,
                        int line) {
  stow_diag diag;
  stow_status status = parse_known(lines, node, result, stow_allocator_default(), &diag);
  test_check(status == STOW_OK, file, line, "%s: %s", node, diag.message);
}

static void known_refuses(const char* lines, const char* node, const char* result,
                          const char* message, const char* file, int line) {
  stow_diag diag;
  stow_status status = parse_known(lines, node, result, stow_allocator_default(), &diag);
  test_check(status != STOW_OK, file, line, "%s is accepted", node);
  test_check(strstr(diag.message, message) != NULL, file, line, "\"%s\" has no \"%s\"",
             diag.message, message);
}

#define KNOWN_GIVES(lines, node, result) known_gives((lines), (node), (result), __FILE__, __LINE__)
#define KNOWN_REFUSES(lines, node, result, message) \
  known_refuses((lines), (node), (result), (message), __FILE__, __LINE__)

#define INPUT(id, type) "  %" #id " = input \"x" #id "\" : " type "\n"
#define LIST(id, data, type) "  %" #id " = constant \"c" #id "\" {data = [" data "]} : " type "\n"

// ---------------------------------------------------------------------------------------------
// Windows

TEST(WindowsSlideOverAnyNumberOfDims) {
  GIVES("f32[1, 3, 5, 5, 5, 5]; f32[4, 3, 2, 2, 2, 2]", "conv(%0, %1)", "f32[1, 4, 4, 4, 4, 4]");
  GIVES("f32[1, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, ?s]", "pool(%0) {global = true}",
        "f32[1, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]");
  GIVES("f32[1, 3, 8]; f32[4, 3, 3]", "conv(%0, %1) {kernel = [3]}", "f32[1, 4, 6]");
  REFUSES("f32[1, 3, 8]; f32[4, 3, 3]", "conv(%0, %1) {kernel = [2]}", "f32[1, 4, 6]",
          "kernel has 2, but the weights have 3");
  REFUSES("f32[1, 3, 8]; f32[4, 3, 3]", "conv(%0, %1) {kernel = [-3]}", "f32[1, 4, 6]",
          "kernel has -3, expected at least 1");
  REFUSES("f32[1, 3, 8]", "pool(%0) {kernel = [2], strides = [-1]}", "f32[1, 3, 7]",
          "strides has -1, expected at least 1");
  REFUSES("f32[1, 3, 8]", "pool(%0) {kernel = [2], dilations = [0]}", "f32[1, 3, 7]",
          "dilations has 0, expected at least 1");
}

TEST(ConvTransposeTakesAnOutputShapeOrPadsItself) {
  GIVES("f32[1, 4, 5]; f32[4, 6, 3]", "conv_transpose(%0, %1) {strides = [2], output_shape = [12]}",
        "f32[1, 6, 12]");
  GIVES("f32[1, 4, ?s]; f32[4, 6, 3]",
        "conv_transpose(%0, %1) {strides = [2], auto_pad = \"same_upper\"}", "f32[1, 6, ?(2*s)]");
  GIVES("f32[1, 4, 5]; f32[4, 6, 3]", "conv_transpose(%0, %1) {auto_pad = \"valid\"}",
        "f32[1, 6, 7]");
  REFUSES("f32[1, 4, 5]; f32[4, 6, 3]",
          "conv_transpose(%0, %1) {pads = [1, 1], output_shape = [5]}", "f32[1, 6, 5]",
          "pads and output_shape are both given; expected one of them");
  REFUSES("f32[1, 4, 5]; f32[4, 6, 3]", "conv_transpose(%0, %1) {output_shape = [0]}",
          "f32[1, 6, 0]", "output_shape has 0, expected at least 1");
}

TEST(MaxPoolGivesIndices) {
  GIVES("u8[1, 3, 8]", "pool(%0) {kernel = [2], strides = [2]}", "u8[1, 3, 4]; i64[1, 3, 4]");
  GIVES("f32[1, 3, 8]", "pool(%0) {op = \"lp\", kernel = [2], p = 3.0}", "f32[1, 3, 7]");
  GIVES("f32[1, 8, 8, 3]", "pool(%0) {kernel = [2, 2], channels_last = true}", "f32[1, 7, 7, 3]");
  REFUSES("f32[1, 3, 8]", "pool(%0) {op = \"avg\", kernel = [2]}", "f32[1, 3, 7]; i64[1, 3, 7]",
          "only a max pool has indices as a result");
}

TEST(ConvolutionsOfIntegers) {
  GIVES("u8[1, 3, 8]; i8[4, 3, 3]; u8[]", "conv_integer(%0, %1, %2)", "i32[1, 4, 6]");
  REFUSES("f32[1, 3, 8]; i8[4, 3, 3]", "conv_integer(%0, %1)", "i32[1, 4, 6]",
          "operand 0 must be integers, not f32");
  GIVES("u8[1, 3, 8]; f32[]; u8[]; i8[4, 3, 3]; i8[]; i32[4]",
        "qlinear_conv(%0, %1, %2, %3, %1, %4, %1, %2, %5)", "u8[1, 4, 6]");
  GIVES("u8[1, 8, 9, 4]; f32[]; u8[]; i8[6, 2, 3, 3]",
        "qlinear_conv(%0, %1, %2, %3, %1, %2, %1, %2) {channels_last = true, group = 2}",
        "u8[1, 6, 7, 6]");
  REFUSES("u8[1, 8, 9, 4]; f32[]; u8[]; i8[6, 2, 3, 3]",
          "qlinear_conv(%0, %1, %2, %3, %1, %2, %1, %2) {channels_last = true, group = 4}",
          "u8[1, 6, 7, 6]", "6 channels cannot be divided into 4 groups");
  REFUSES("u8[1, 3, 8]; f32[]; u8[]; i8[4, 3, 3]; i32[3]",
          "qlinear_conv(%0, %1, %2, %3, %1, %2, %1, %2, %4)", "u8[1, 4, 6]",
          "operand 8 (bias) must have one dim, of 4 channels");
}

TEST(DeformConvChecksOffsetsAndMask) {
  GIVES("f32[1, 4, 6, 6]; f32[2, 4, 3, 3]; f32[1, 36, 4, 4]; f32[2]; f32[1, 18, 4, 4]",
        "deform_conv(%0, %1, %2, %3, %4) {offset_group = 2}", "f32[1, 2, 4, 4]");
  REFUSES("f32[1, 4, 6, 6]; f32[2, 4, 3, 3]; f32[1, 18, 4, 4]",
          "deform_conv(%0, %1, %2) {offset_group = 2}", "f32[1, 2, 4, 4]",
          "operand 2 must have the result's dims with 36 channels");
  REFUSES("f32[1, 4, 6, 6]; f32[2, 4, 3, 3]; f32[1, 18, 4, 4]",
          "deform_conv(%0, %1, %2) {offset_group = 0}", "f32[1, 2, 4, 4]",
          "into 0 groups of offsets");
}

TEST(FusedConvAddsAnAddend) {
  GIVES("f32[1, 3, 8]; f32[4, 3, 3]; f32[1, 4, 6]",
        "fused_conv(%0, %1, _, %2) {activation = \"Relu\"}", "f32[1, 4, 6]");
  REFUSES("f32[1, 3, 8]; f32[4, 3, 3]; f32[1, 4, 7]", "fused_conv(%0, %1, _, %2)", "f32[1, 4, 6]",
          "(the addend) has dim 7");
}

TEST(UnpoolSpreadsOrTakesDims) {
  GIVES("f32[1, 3, 4, 4]; i64[1, 3, 4, 4]",
        "max_unpool(%0, %1) {kernel = [2, 2], strides = [2, 2]}", "f32[1, 3, 8, 8]");
  KNOWN_GIVES(INPUT(0, "f32[1, 3, 4]") INPUT(1, "i64[1, 3, 4]") LIST(2, "1, 3, 9", "i64[3]"),
              "max_unpool(%0, %1, %2) {kernel = [2], strides = [2]}", "f32[1, 3, 9]");
  REFUSES("f32[1, 3, 4]; f32[1, 3, 4]", "max_unpool(%0, %1) {kernel = [2]}", "f32[1, 3, 5]",
          "operand 1 (indices) must be integers");
  REFUSES("f32[1, 3, 4]; i64[3, 4]", "max_unpool(%0, %1) {kernel = [2]}", "f32[1, 3, 5]",
          "must have the dims of operand 0");
  KNOWN_REFUSES(INPUT(0, "f32[1, 3, 4]") INPUT(1, "i64[1, 3, 4]") LIST(2, "1, 9", "i64[2]"),
                "max_unpool(%0, %1, %2) {kernel = [2]}", "f32[1, 3, 9]",
                "operand 2 has 2 numbers, expected 3");
}

// ---------------------------------------------------------------------------------------------
// Resize

TEST(ResizeScales) {
  KNOWN_GIVES(INPUT(0, "f32[1, 3, 5, 10]") LIST(1, "1.0, 1.0, 2.0, 0.7", "f32[4]"),
              "resize(%0, _, %1)", "f32[1, 3, 10, 7]");
  KNOWN_GIVES(INPUT(0, "f32[1, 3, ?h, ?w]") LIST(1, "1.0, 1.0, 2.0, 0.5", "f32[4]"),
              "resize(%0, _, %1)", "f32[1, 3, ?(2*h), ?(floor_div(w, 2))]");
  KNOWN_GIVES(INPUT(0, "f32[1, 3, ?h]") LIST(1, "1.0, 1.0, 0.33333334", "f32[3]"),
              "resize(%0, _, %1)", "f32[1, 3, ?(floor_div(h, 3))]");
  KNOWN_GIVES(INPUT(0, "f32[1, 3, 8]") LIST(1, "1.5", "f32[1]"), "resize(%0, _, %1) {axes = [-1]}",
              "f32[1, 3, 12]");
  KNOWN_REFUSES(INPUT(0, "f32[1, 3, 8]") LIST(1, "1.0, 1.0, 0.0", "f32[3]"), "resize(%0, _, %1)",
                "f32[1, 3, 0]", "the scale of dim 2 is not a positive number");
  KNOWN_REFUSES(INPUT(0, "f32[1, 3, 8]") LIST(1, "1.0, 1.0, -inf", "f32[3]"), "resize(%0, _, %1)",
                "f32[1, 3, 0]", "the scale of dim 2 is not a positive number");
  KNOWN_REFUSES(INPUT(0, "f32[1, 3, 8]") LIST(1, "1.0, 1.0, 0x1p61", "f32[3]"), "resize(%0, _, %1)",
                "f32[1, 3, 0]", "dim 2 of the result would be too large");
  KNOWN_REFUSES(INPUT(0, "f32[1, 3, 8]") LIST(1, "1.0, 1.0", "f32[2]"), "resize(%0, _, %1)",
                "f32[1, 3, 8]", "operand 2 (scales) must be a list of 3");
  KNOWN_REFUSES(INPUT(0, "f32[1, 3, 8]") LIST(1, "1.0", "f32[1]"), "resize(%0, _, %1) {axes = [3]}",
                "f32[1, 3, 8]", "axis 3 is out of range");
}

TEST(ResizeTakesSizes) {
  KNOWN_GIVES(INPUT(0, "f32[1, 3, 5, 10]") LIST(1, "1, 3, 7, 9", "i64[4]"), "resize(%0, _, _, %1)",
              "f32[1, 3, 7, 9]");
  KNOWN_GIVES(INPUT(0, "f32[1, 3, 5]") "  %1 = constant \"e\" {data = []} : f32[0]\n" LIST(
                  2, "1, 3, 7", "i64[3]"),
              "resize(%0, _, %1, %2)", "f32[1, 3, 7]");
  KNOWN_GIVES(INPUT(0, "f32[1, 3, 5, 10]") LIST(1, "10, 10", "i64[2]"),
              "resize(%0, _, _, %1) {axes = [2, 3], keep_aspect_ratio_policy = \"not_larger\"}",
              "f32[1, 3, 5, 10]");
  KNOWN_GIVES(INPUT(0, "f32[1, 3, 5, 10]") LIST(1, "10, 10", "i64[2]"),
              "resize(%0, _, _, %1) {axes = [2, 3], keep_aspect_ratio_policy = \"not_smaller\"}",
              "f32[1, 3, 10, 20]");
  KNOWN_REFUSES(INPUT(0, "f32[1, 3, 5]") LIST(1, "1, 3, -7", "i64[3]"), "resize(%0, _, _, %1)",
                "f32[1, 3, 7]", "dim 2 of result 0 would be negative");
  KNOWN_REFUSES(INPUT(0, "f32[1, 3, 5]") LIST(1, "1.0, 1.0, 1.0", "f32[3]")
                    LIST(2, "1, 3, 7", "i64[3]"),
                "resize(%0, _, %1, %2)", "f32[1, 3, 7]",
                "scales and sizes are both given; expected one of them");
}

TEST(ResizeWithUnknownSizesTakesTheDeclaredType) {
  GIVES("f32[1, 3, 5]; f32[3]", "resize(%0, _, %1)", "f32[1, 3, ?n]");
  GIVES("f32[1, 3, 5]; i64[3]", "resize(%0, _, _, %1)", "f32[1, 3, 17]");
  GIVES("f32[1, 3, ?s]; i64[1]",
        "resize(%0, _, _, %1) {axes = [2], keep_aspect_ratio_policy = \"not_larger\"}",
        "f32[1, 3, ?n]");
}

// ---------------------------------------------------------------------------------------------
// Geometry

TEST(ColumnsBecomeAnImage) {
  KNOWN_GIVES(INPUT(0, "f32[1, 5, 5]") LIST(1, "5, 5", "i64[2]") LIST(2, "1, 5", "i64[2]"),
              "col2im(%0, %1, %2)", "f32[1, 1, 5, 5]");
  KNOWN_GIVES(INPUT(0, "f32[?n, 10, 12]") LIST(1, "3, 4, 5", "i64[3]") LIST(2, "1, 1, 5", "i64[3]"),
              "col2im(%0, %1, %2)", "f32[?n, 2, 3, 4, 5]");
  GIVES("f32[1, 5, 5]; i64[2]", "col2im(%0, %1, %1)", "f32[1, ?c, ?h, ?w]");
  KNOWN_REFUSES(INPUT(0, "f32[1, 5, 5]") LIST(1, "5, 5", "i64[2]") LIST(2, "1, 2", "i64[2]"),
                "col2im(%0, %1, %2)", "f32[1, 1, 5, 5]",
                "dim 1 is 5, which is not a multiple of the block size 2");
  KNOWN_REFUSES(INPUT(0, "f32[1, 5, 5]") LIST(1, "5, 5", "i64[2]") LIST(2, "0, 5", "i64[2]"),
                "col2im(%0, %1, %2)", "f32[1, 1, 5, 5]", "operand 2 has 0, expected at least 1");
  KNOWN_REFUSES(INPUT(0, "f32[1, 5, 5]") LIST(1, "5, 5", "i64[2]") LIST(2, "5", "i64[1]"),
                "col2im(%0, %1, %2)", "f32[1, 1, 5, 5]", "operand 1 has 2 numbers");
}

TEST(GridsAreSampledAndMade) {
  GIVES("f32[?s, 3, 5, 5]; f32[?s, 7, 8, 2]", "grid_sample(%0, %1)", "f32[?s, 3, 7, 8]");
  GIVES("f32[2, 3, 4, 5, 6]; f32[2, 7, 8, 9, 3]", "grid_sample(%0, %1)", "f32[2, 3, 7, 8, 9]");
  REFUSES("f32[2, 3, 5, 5]; f32[2, 7, 8, 3]", "grid_sample(%0, %1)", "f32[2, 3, 7, 8]",
          "dim 3 of operand 1 is 3, expected 2");
  REFUSES("f32[2, 3]; f32[2, 0]", "grid_sample(%0, %1)", "f32[2, 3]",
          "operand 0 has rank 2, expected at least 3");
  KNOWN_GIVES(INPUT(0, "f32[2, 2, 3]") LIST(1, "2, 3, 5, 6", "i64[4]"), "affine_grid(%0, %1)",
              "f32[2, 5, 6, 2]");
  KNOWN_GIVES(INPUT(0, "f32[2, 3, 4]") LIST(1, "2, 3, 4, 5, 6", "i64[5]"), "affine_grid(%0, %1)",
              "f32[2, 4, 5, 6, 3]");
  GIVES("f32[2, 2, 3]; i64[4]", "affine_grid(%0, %1)", "f32[2, ?h, ?w, 2]");
  KNOWN_REFUSES(INPUT(0, "f32[2, 3, 4]") LIST(1, "2, 3, 5, 6", "i64[4]"), "affine_grid(%0, %1)",
                "f32[2, 5, 6, 2]", "dim 1 of operand 0 is 3, expected 2");
  KNOWN_REFUSES(INPUT(0, "f32[2, 2, 3]") LIST(1, "1, 3, 5, 6", "i64[4]"), "affine_grid(%0, %1)",
                "f32[2, 5, 6, 2]", "dim 0 of operand 0 is 2, expected 1");
}

TEST(RegionsArePooled) {
  GIVES("f32[1, 8, 20, 20]; f32[?s, 5]", "max_roi_pool(%0, %1) {pooled_shape = [7, 6]}",
        "f32[?s, 8, 7, 6]");
  REFUSES("f32[1, 8, 20, 20]; f32[4, 4]", "max_roi_pool(%0, %1) {pooled_shape = [7, 7]}",
          "f32[4, 8, 7, 7]", "dim 1 of operand 1 is 4, expected 5");
  GIVES("f32[1, 8, 20, 20]; f32[3, 4]; i64[3]",
        "roi_align(%0, %1, %2) {output_height = 5, output_width = 6}", "f32[3, 8, 5, 6]");
  REFUSES("f32[1, 8, 20, 20]; f32[3, 4]; i64[2]", "roi_align(%0, %1, %2)", "f32[3, 8, 1, 1]",
          "dim 0 of operand 2 is 2, expected 3");
  REFUSES("f32[1, 8, 20, 20]; f32[3, 4]; i64[3]", "roi_align(%0, %1, %2) {output_height = 0}",
          "f32[3, 8, 0, 1]", "a region of 0 x 1 is empty");
}

TEST(SuppressionIsUpperBounded) {
  KNOWN_GIVES(INPUT(0, "f32[2, 6, 4]") INPUT(1, "f32[2, 3, 6]") LIST(2, "4", "i64[1]"),
              "non_max_suppression(%0, %1, %2)", "i64[24, 3]");
  KNOWN_GIVES(INPUT(0, "f32[2, 6, 4]") INPUT(1, "f32[2, 3, 6]") LIST(2, "9", "i64[]"),
              "non_max_suppression(%0, %1, %2)", "i64[36, 3]");
  KNOWN_GIVES(INPUT(0, "f32[2, 6, 4]") INPUT(1, "f32[2, 3, 6]") LIST(2, "-1", "i64[1]"),
              "non_max_suppression(%0, %1, %2)", "i64[0, 3]");
  KNOWN_GIVES(INPUT(0, "f32[2, 6, 4]") INPUT(1, "f32[2, 3, 6]")
                  LIST(2, "9223372036854775807", "i64[1]"),
              "non_max_suppression(%0, %1, %2)", "i64[36, 3]");
  GIVES("f32[2, 6, 4]; f32[2, 3, 6]", "non_max_suppression(%0, %1)", "i64[0, 3]");
  GIVES("f32[2, 6, 4]; f32[2, 3, 6]; i64[1]", "non_max_suppression(%0, %1, %2)", "i64[36, 3]");
  GIVES("f32[2, 6, 4]; f32[2, 3, 6]; i64[1]", "non_max_suppression(%0, %1, %2)", "i64[30, 3]");
  REFUSES("f32[2, 6, 4]; f32[2, 3, 6]; i64[1]", "non_max_suppression(%0, %1, %2)", "i64[37, 3]",
          "declared as i64[37, 3]");
  REFUSES("f32[2, 6, 4]; f32[2, 3, 5]", "non_max_suppression(%0, %1)", "i64[0, 3]",
          "dim 1 of operand 0 is 6, expected 5");
  REFUSES("f32[2, 6, 5]; f32[2, 3, 6]", "non_max_suppression(%0, %1)", "i64[0, 3]",
          "dim 2 of operand 0 is 5, expected 4");
}

// ---------------------------------------------------------------------------------------------
// Quantised tensors

TEST(QuantizationTakesTheZeroPointsType) {
  GIVES("f32[2, ?s]; f32[]; i8[]", "quantize_linear(%0, %1, %2)", "i8[2, ?s]");
  GIVES("f32[2, 3]; f32[]", "quantize_linear(%0, %1)", "u8[2, 3]");
  GIVES("f32[2, 3]; f32[3]", "quantize_linear(%0, %1) {dtype = \"f8e4m3fn\"}", "f8e4m3fn[2, 3]");
  GIVES("f32[2, 6]; f32[2, 3]; i4[2, 3]", "quantize_linear(%0, %1, %2) {block_size = 2}",
        "i4[2, 6]");
  GIVES("f32[5]; f32[1]", "quantize_linear(%0, %1)", "u8[5]");
  REFUSES("f32[2, 3]; f32[]; i8[]", "quantize_linear(%0, %1, %2) {dtype = \"u8\"}", "u8[2, 3]",
          "dtype is u8, but operand 2 (zero point) is i8");
  REFUSES("f32[2, 3]; f32[2]", "quantize_linear(%0, %1)", "u8[2, 3]",
          "operand 1 must have one element, or one dim of 3");
  REFUSES("f32[2, 3]; f32[2]", "quantize_linear(%0, %1) {axis = 2}", "u8[2, 3]",
          "axis 2 is out of range");
  REFUSES("f32[2, 6]; f32[2, 2]", "quantize_linear(%0, %1) {block_size = 2}", "u8[2, 6]",
          "with 3 along axis 1, one for each block of 2");
  REFUSES("f32[2, 6]; f32[2, 2]", "quantize_linear(%0, %1) {block_size = -2}", "u8[2, 6]",
          "block_size is -2");
}

TEST(DequantizationTakesTheScalesType) {
  GIVES("u8[2, 3]; f16[3]; u8[3]", "dequantize_linear(%0, %1, %2)", "f16[2, 3]");
  GIVES("i8[2, 3]; f32[]", "dequantize_linear(%0, %1) {dtype = \"bf16\"}", "bf16[2, 3]");
  REFUSES("u8[2, 3]; f32[]; i8[]", "dequantize_linear(%0, %1, %2)", "f32[2, 3]", "operand 2 is i8");
  GIVES("f32[2, ?s]", "dynamic_quantize_linear(%0)", "u8[2, ?s]; f32[]; u8[]");
}

TEST(QuantisedElementwise) {
  GIVES("u8[2, 3]; f32[]; u8[]; u8[3]", "qlinear_add(%0, %1, %2, %3, %1, %2, %1, %2)", "u8[2, 3]");
  GIVES("u8[2, 3]; f32[]; u8[3]", "qlinear_mul(%0, %1, _, %2, %1, _, %1)", "u8[2, 3]");
  GIVES("u8[2, 3]; f32[]", "qlinear_sigmoid(%0, %1, _, %1)", "u8[2, 3]");
  GIVES("u8[2, 3]; f32[]; i8[]", "qlinear_leaky_relu(%0, %1, _, %1, %2) {alpha = 0.2}", "i8[2, 3]");
  GIVES("u8[2, 3]; f32[]", "qlinear_softmax(%0, %1, _, %1)", "u8[2, 3]");
  GIVES("f32[]; u8[]; u8[2, 3]; u8[2, 4]",
        "qlinear_concat(%0, %1, %2, %0, %1, %3, %0, %1) "
        "{axis = 1}",
        "u8[2, 7]");
  GIVES("u8[1, 3, 8, 8]; f32[]", "qlinear_pool(%0, %1, _, %1) {global = true}", "u8[1, 3, 1, 1]");
  REFUSES("u8[2, 3]; f32[]", "qlinear_add(%0, %1)", "u8[2, 3]", "operand 3 is absent");
  REFUSES("u8[2, 3]; f32[]", "qlinear_softmax(%0, %1) {axis = 2}", "u8[2, 3]",
          "axis 2 is out of range");
  REFUSES("f32[]; u8[]; u8[2, 3]; u8[3, 3]",
          "qlinear_concat(%0, %1, %2, %0, %1, %3, %0, %1) "
          "{axis = 1}",
          "u8[2, 6]", "operand 5 must have operand 2's dims but for axis 1");
  REFUSES("f32[]; u8[]; u8[2, 3]", "qlinear_concat(%0, %1, %2, %0, %1, %2) {axis = 1}", "u8[2, 6]",
          "each part needs a scale and a zero point");
}

TEST(ProductsOfTransposedAndQuantisedFactors) {
  GIVES("f32[5, 3, 2]; f32[4, 3]", "fused_matmul(%0, %1) {trans_a = true, trans_b = true}",
        "f32[5, 2, 4]");
  GIVES("f32[2, 5, 3]; f32[5, 3, 4]", "fused_matmul(%0, %1) {trans_batch_a = true}",
        "f32[5, 2, 4]");
  GIVES("f32[3, 2]; f32[4, 3]; f32[4]", "fused_gemm(%0, %1, %2) {trans_a = true, trans_b = true}",
        "f32[2, 4]");
  GIVES("u8[2, 3]; f32[]; u8[]; i8[3, 4]; i32[4]", "qgemm(%0, %1, %2, %3, %1, %2, %4, %1, %2)",
        "u8[2, 4]");
  GIVES("u8[2, 3]; f32[]; u8[]; i8[3, 4]", "qgemm(%0, %1, %2, %3, %1, %2)", "f32[2, 4]");
  GIVES("f32[2, ?s, 3]; i8[3, 4]; f32[]", "dynamic_quantize_matmul(%0, %1, %2)", "f32[2, ?s, 4]");
  GIVES("u8[2, 3]; i8[3, 4]; f16[]", "matmul_integer_to_float(%0, %1, %2, %2)", "f16[2, 4]");
  GIVES("f16[2, ?s, 64]; u8[32, 2, 16]; f16[64]",
        "matmul_nbits(%0, %1, %2) {rows = 64, columns = 32, block_size = 32}", "f16[2, ?s, 32]");
  REFUSES("f32[3, 2]; f32[4, 3]", "fused_matmul(%0, %1)", "f32[3, 3]",
          "the first factor has 2 columns, but the second has 4 rows");
  REFUSES("f32[]; f32[4, 3]", "fused_matmul(%0, %1)", "f32[3]", "a factor has rank 0");
  REFUSES("f32[2, 3]; f32[3]", "fused_gemm(%0, %1)", "f32[2]", "operands 0 and 1 must be matrices");
  REFUSES("f32[2, 3]; f32[3, 4]; f32[5]", "fused_gemm(%0, %1, %2)", "f32[2, 4]",
          "the addend has dim 5");
  REFUSES("f32[2, 63]; u8[1]; f32[1]",
          "matmul_nbits(%0, %1, %2) {rows = 64, columns = 32, block_size = 32}", "f32[2, 32]",
          "63 columns");
  REFUSES("f32[2, 64]; u8[1]; f32[1]",
          "matmul_nbits(%0, %1, %2) {rows = 64, columns = 32, block_size = 0}", "f32[2, 32]",
          "must be positive");
}

// ---------------------------------------------------------------------------------------------
// Recurrent layers

TEST(RecurrentLayersGiveStepsAndStates) {
  GIVES("f32[?s, 2, 3]; f32[1, 20, 3]; f32[1, 20, 5]", "lstm(%0, %1, %2) {hidden_size = 5}",
        "f32[?s, 1, 2, 5]; f32[1, 2, 5]; f32[1, 2, 5]");
  GIVES("f32[7, 2, 3]; f32[2, 20, 3]; f32[2, 20, 5]; f32[2, 40]; i32[2]; f32[2, 2, 5]; f32[2, 15]",
        "lstm(%0, %1, %2, %3, %4, %5, %5, %6) {direction = \"bidirectional\"}",
        "f32[7, 2, 2, 5]; f32[2, 2, 5]");
  GIVES("f32[2, 7, 3]; f32[1, 20, 3]; f32[1, 20, 5]; f32[2, 1, 5]",
        "lstm(%0, %1, %2, _, _, %3, %3) {batch_first = true}",
        "f32[2, 7, 1, 5]; f32[2, 1, 5]; f32[2, 1, 5]");
  GIVES("f32[7, 2, 3]; f32[1, 15, 3]; f32[1, 15, 5]", "gru(%0, %1, %2)",
        "f32[7, 1, 2, 5]; f32[1, 2, 5]");
  GIVES("f32[7, 2, 3]; f32[1, 5, 3]; f32[1, 5, 5]", "rnn(%0, %1, %2) {direction = \"reverse\"}",
        "f32[7, 1, 2, 5]");
  GIVES("f32[7, 2, 3]; i8[1, 3, 20]; i8[1, 5, 20]; f32[1]; i8[1]",
        "dynamic_quantize_lstm(%0, %1, %2, _, _, _, _, _, %3, %4, %3, %4)", "f32[7, 1, 2, 5]");
}

TEST(RecurrentLayersRefuseMismatchedDims) {
  REFUSES("f32[7, 3]; f32[1, 20, 3]; f32[1, 20, 5]", "lstm(%0, %1, %2)", "f32[7, 1, 2, 5]",
          "operand 0 has rank 2, expected 3");
  REFUSES("f32[7, 2, 3]; f32[1, 20, 4]; f32[1, 20, 5]", "lstm(%0, %1, %2)", "f32[7, 1, 2, 5]",
          "dim 2 of operand 1 (weights) is 4, expected 3");
  REFUSES("f32[7, 2, 3]; f32[1, 20, 3]; f32[1, 20, 5]", "gru(%0, %1, %2)", "f32[7, 1, 2, 5]",
          "dim 1 of operand 1 (weights) is 20, expected 15");
  REFUSES("f32[7, 2, 3]; f32[1, 20, 3]; f32[1, 20, 5]",
          "lstm(%0, %1, %2) {direction = \"bidirectional\"}", "f32[7, 2, 2, 5]",
          "dim 0 of operand 1 (weights) is 1, expected 2");
  REFUSES("f32[7, 2, 3]; f32[1, 20, 3]; f32[1, 20, 5]", "lstm(%0, %1, %2) {direction = \"up\"}",
          "f32[7, 1, 2, 5]", "direction is \"up\"");
  REFUSES("f32[7, 2, 3]; f32[1, 20, 3]; f32[1, 20, 5]", "lstm(%0, %1, %2) {hidden_size = -5}",
          "f32[7, 1, 2, 5]", "hidden_size is -5");
  REFUSES("f32[7, 2, 3]; f32[1, 5, 3]; f32[1, 5, 5]; f32[1, 5]", "rnn(%0, %1, %2, %3)",
          "f32[7, 1, 2, 5]", "dim 1 of operand 3 (bias) is 5, expected 10");
  REFUSES("f32[7, 2, 3]; f32[1, 5, 3]; f32[1, 5, 5]; i32[3]", "rnn(%0, %1, %2, _, %3)",
          "f32[7, 1, 2, 5]", "dim 0 of operand 4 (lengths) is 3, expected 2");
  REFUSES("f32[7, 2, 3]; f32[1, 5, 3]; f32[1, 5, 5]; f32[2, 1, 5]", "rnn(%0, %1, %2, _, _, %3)",
          "f32[7, 1, 2, 5]", "operand 5 (first h)");
  REFUSES_AS(STOW_ERR_OVERFLOW, "f32[7, 2, 3]; f32[1, 20, 3]; f32[1, 20, 5]",
             "lstm(%0, %1, %2) {hidden_size = 4611686018427387904}", "f32[7, 1, 2, 5]", "lstm");
}

// ---------------------------------------------------------------------------------------------

static stow_status read_known(stow_allocator allocator, void* user) {
  static const char* const cases[][3] = {
      {INPUT(0, "f32[1, 3, ?h]") LIST(1, "1.0, 1.0, 0.5", "f32[3]"), "resize(%0, _, %1)",
       "f32[1, 3, ?(floor_div(h, 2))]"},
      {INPUT(0, "f32[?n, 10, 12]") LIST(1, "3, 4, 5", "i64[3]") LIST(2, "1, 1, 5", "i64[3]"),
       "col2im(%0, %1, %2)", "f32[?n, 2, 3, 4, 5]"},
      {INPUT(0, "f32[?n, ?b, 4]") INPUT(1, "f32[?n, 3, ?b]") LIST(2, "4", "i64[1]"),
       "non_max_suppression(%0, %1, %2)", "i64[?(3*n*min(4, b)), 3]"}};
  const char* const* c = cases[*(const size_t*)user];
  stow_diag diag;
  return parse_known(c[0], c[1], c[2], allocator, &diag);
}

TEST(ShapesSurviveEveryFailingAllocation) {
  for (size_t i = 0; i < 3; ++i) {
    CHECK(test_fault_sweep(read_known, &i) > 0);
  }
}
