// Tests of the shapes of contractions, windows, normalisations and reductions.
#include <string.h>

#include "graph/shape_cases.h"
#include "support/test.h"

// ---------------------------------------------------------------------------------------------
// matmul

TEST(MatmulFollowsNumpy) {
  GIVES("f32[2, 3]; f32[3, 4]", "matmul(%0, %1)", "f32[2, 4]");
  GIVES("f32[3]; f32[3]", "matmul(%0, %1)", "f32[]");
  GIVES("f32[3]; f32[3, 4]", "matmul(%0, %1)", "f32[4]");
  GIVES("f32[2, 3]; f32[3]", "matmul(%0, %1)", "f32[2]");
  GIVES("f32[5, 1, 2, 3]; f32[7, 3, 4]", "matmul(%0, %1)", "f32[5, 7, 2, 4]");
  GIVES("f32[7, 2, 3]; f32[3]", "matmul(%0, %1)", "f32[7, 2]");
  GIVES("f32[3]; f32[7, 3, 4]", "matmul(%0, %1)", "f32[7, 4]");
  GIVES("f32[2, 0]; f32[0, 4]", "matmul(%0, %1)", "f32[2, 4]");
  GIVES("f32[?b, ?s, 8]; f32[8, 4]", "matmul(%0, %1)", "f32[?b, ?s, 4]");
  GIVES("f32[?s, ?k]; f32[8, 4]", "matmul(%0, %1)", "f32[?s, 4]");
}

TEST(MatmulRefusesMismatchedDims) {
  REFUSES("f32[2, 3]; f32[4, 3]", "matmul(%0, %1)", "f32[2, 3]",
          "the first factor has 3 columns, but the second has 4 rows");
  REFUSES("f32[?s]; f32[?(s + 1)]", "matmul(%0, %1)", "f32[]", "?s columns");
  REFUSES("f32[]; f32[3]", "matmul(%0, %1)", "f32[3]", "operand 0 has rank 0, expected at least 1");
  REFUSES("f32[3]; f32[]", "matmul(%0, %1)", "f32[3]", "operand 1 has rank 0, expected at least 1");
  REFUSES("f32[2, 3]; f16[3, 4]", "matmul(%0, %1)", "f32[2, 4]", "operand 1 is f16");
  REFUSES("f32[5, 2, 3]; f32[6, 3, 4]", "matmul(%0, %1)", "f32[5, 2, 4]", "dims 5 and 6");
  BIND_REFUSES("f32[2, ?s]; f32[3, 4]", "matmul(%0, %1)", "f32[2, 4]", 5, "5 columns");
  BINDS("f32[2, ?s]; f32[3, ?s]", "matmul(%0, %1)", "f32[2, ?s]", 3, "f32[2, 3]");
}

// ---------------------------------------------------------------------------------------------
// attention

TEST(AttentionGivesQWithTheLastDimOfV) {
  GIVES("f32[1, 4, 2, 3]; f32[1, 4, 2, 3]; f32[1, 4, 2, 3]", "attention(%0, %1, %2)",
        "f32[1, 4, 2, 3]");
  GIVES("f32[1, 4, 8, 16]; f32[1, 9, 2, 16]; f32[1, 9, 2, 32]", "attention(%0, %1, %2)",
        "f32[1, 4, 8, 32]");
  GIVES("f16[1, 8, 4, 16]; f16[1, 2, 9, 16]; f16[1, 2, 9, 32]",
        "attention(%0, %1, %2) {layout = \"bhsd\", scale = 0x1p-2, causal = true}",
        "f16[1, 8, 4, 32]");
  GIVES("f32[6, ?b, ?s, 8, 16]; f32[6, ?b, ?t, 8, 16]; f32[6, ?b, ?t, 8, 16]",
        "attention(%0, %1, %2)", "f32[6, ?b, ?s, 8, 16]");
  GIVES("f32[1, 4, ?h, 16]; f32[1, 9, 2, 16]; f32[1, 9, 2, 16]", "attention(%0, %1, %2)",
        "f32[1, 4, ?h, 16]");
  GIVES("f32[1, 4, 8, 16]; f32[1, 9, 2, 16]; f32[1, 9, 2, 16]",
        "attention(%0, %1, %2) {heads = 8, kv_heads = 2}", "f32[1, 4, 8, 16]");
}

TEST(AttentionUnpacksHeadsOfRankThree) {
  GIVES("f32[1, 4, 64]; f32[1, 9, 64]; f32[1, 9, 32]", "attention(%0, %1, %2)", "f32[1, 4, 32]");
  GIVES("f32[1, 4, 64]; f32[1, 9, 64]; f32[1, 9, 32]", "attention(%0, %1, %2) {heads = 8}",
        "f32[1, 4, 32]");
  GIVES("f32[1, 4, 64]; f32[1, 9, 16]; f32[1, 9, 8]",
        "attention(%0, %1, %2) {heads = 8, kv_heads = 2}", "f32[1, 4, 32]");
  GIVES("f32[1, 4, ?(8*d)]; f32[1, 9, ?(2*d)]; f32[1, 9, ?(2*d)]",
        "attention(%0, %1, %2) {heads = 8, kv_heads = 2}", "f32[1, 4, ?(8*d)]");
  REFUSES("f32[1, 4, 60]; f32[1, 9, 60]; f32[1, 9, 60]", "attention(%0, %1, %2) {heads = 8}",
          "f32[1, 4, 60]", "dim 2 of operand 0 is 60, which cannot be divided into 8 heads");
  REFUSES("f32[1, 4, 64]; f32[1, 9, 64]; f32[1, 9, 64]",
          "attention(%0, %1, %2) {heads = 8, kv_heads = 4}", "f32[1, 4, 64]",
          "head sizes of q and k differ: 8 and 16");
  REFUSES("f32[1, 4, 64]; f32[1, 9, 64]; f32[1, 9, 64]", "attention(%0, %1, %2) {heads = -1}",
          "f32[1, 4, 64]", "must not be negative");
}

TEST(AttentionTakesAMask) {
  const char* q4 = "attention(%0, %1, %1, %2)";
  GIVES("f32[2, 4, 8, 16]; f32[2, 9, 8, 16]; bool[4, 9]", q4, "f32[2, 4, 8, 16]");
  GIVES("f32[2, 4, 8, 16]; f32[2, 9, 8, 16]; f32[2, 1, 1, 9]", q4, "f32[2, 4, 8, 16]");
  GIVES("f16[2, 4, 8, 16]; f16[2, 9, 8, 16]; f32[2, 8, 4, 9]", q4, "f16[2, 4, 8, 16]");
  GIVES("f32[2, 4, 16]; f32[2, 9, 16]; bool[2, 1, 4, 9]", q4, "f32[2, 4, 16]");
  GIVES("f32[2, 8, 4, 16]; f32[2, 8, 9, 16]; bool[8, 4, 9]",
        "attention(%0, %1, %1, %2) {layout = \"bhsd\"}", "f32[2, 8, 4, 16]");
  REFUSES("f32[2, 4, 8, 16]; f32[2, 9, 8, 16]; bool[9, 4]", q4, "f32[2, 4, 8, 16]",
          "operand 3 (mask) has dim 4 at 1 from the end, expected 9");
  REFUSES("f32[2, 4, 8, 16]; f32[2, 9, 8, 16]; i64[4, 9]", q4, "f32[2, 4, 8, 16]",
          "operand 3 (mask) must be bool or floats, not i64");
}

TEST(AttentionRefusesMismatchedDims) {
  const char* node = "attention(%0, %1, %2)";
  REFUSES("f32[4, 8]; f32[4, 8]; f32[4, 8]", node, "f32[4, 8]",
          "operand 0 has rank 2, expected at least 3");
  REFUSES("f32[1, 4, 8]; f32[1, 4, 1, 8]; f32[1, 4, 8]", node, "f32[1, 4, 8]",
          "operand 1 has rank 4, but operand 0 has rank 3");
  REFUSES("f32[1, 4, 2, 8]; f32[1, 4, 2, 8]; f16[1, 4, 2, 8]", node, "f32[1, 4, 2, 8]",
          "operand 2 is f16");
  REFUSES("f32[1, 4, 2, 8]; f32[1, 4, 2, 9]; f32[1, 4, 2, 8]", node, "f32[1, 4, 2, 8]",
          "head sizes of q and k differ: 8 and 9");
  REFUSES("f32[1, 4, 2, 8]; f32[1, 5, 2, 8]; f32[1, 6, 2, 8]", node, "f32[1, 4, 2, 8]",
          "sequences of k and v differ: 5 and 6");
  REFUSES("f32[1, 4, 2, 8]; f32[1, 5, 2, 8]; f32[1, 5, 1, 8]", node, "f32[1, 4, 2, 8]",
          "heads of k and v differ: 2 and 1");
  REFUSES("f32[1, 4, 6, 8]; f32[1, 5, 4, 8]; f32[1, 5, 4, 8]", node, "f32[1, 4, 6, 8]",
          "6 heads of q are not a multiple of 4 heads of k and v");
  REFUSES("f32[1, 4, 6, 8]; f32[1, 5, 0, 8]; f32[1, 5, 0, 8]", node, "f32[1, 4, 6, 8]",
          "6 heads of q are not a multiple of 0 heads of k and v");
  REFUSES("f32[1, 4, 2, 8]; f32[2, 4, 2, 8]; f32[2, 4, 2, 8]", node, "f32[1, 4, 2, 8]",
          "batches of q and k differ: 1 and 2");
  REFUSES("f32[1, 4, 2, 8]; f32[1, 4, 2, 8]; f32[3, 4, 2, 8]", node, "f32[1, 4, 2, 8]",
          "batches of q and v differ: 1 and 3");
  REFUSES("f32[1, 4, 2, 8]; f32[1, 4, 2, 8]; f32[1, 4, 2, 8]",
          "attention(%0, %1, %2) {layout = \"sbhd\"}", "f32[1, 4, 2, 8]",
          "layout is \"sbhd\", not \"bshd\" or \"bhsd\"");
  REFUSES("f32[1, 4, 2, 8]; f32[1, 4, 2, 8]; f32[1, 4, 2, 8]", "attention(%0, %1, %2) {heads = 4}",
          "f32[1, 4, 2, 8]", "operand 0 has 2 heads, not 4");
}

// ---------------------------------------------------------------------------------------------
// conv, conv_transpose, pool, resize

TEST(ConvSlidesOverOneToThreeDims) {
  GIVES("f32[1, 3, 8]; f32[4, 3, 3]", "conv(%0, %1)", "f32[1, 4, 6]");
  GIVES("f32[1, 3, 224, 224]; f32[64, 3, 7, 7]; f32[64]",
        "conv(%0, %1, %2) {strides = [2, 2], pads = [3, 3, 3, 3]}", "f32[1, 64, 112, 112]");
  GIVES("f32[2, 4, 5, 6, 7]; f32[8, 4, 1, 2, 3]", "conv(%0, %1)", "f32[2, 8, 5, 5, 5]");
  GIVES("f32[1, 32, 10, 10]; f32[32, 1, 3, 3]", "conv(%0, %1) {dilations = [2, 3], group = 32}",
        "f32[1, 32, 6, 4]");
  GIVES("f32[1, 3, 7]; f32[4, 3, 4]", "conv(%0, %1) {strides = [2], auto_pad = \"same_upper\"}",
        "f32[1, 4, 4]");
  GIVES("f32[1, 3, 7]; f32[4, 3, 4]", "conv(%0, %1) {strides = [3], auto_pad = \"same_lower\"}",
        "f32[1, 4, 3]");
  GIVES("f32[1, 3, 7]; f32[4, 3, 4]", "conv(%0, %1) {auto_pad = \"valid\"}", "f32[1, 4, 4]");
}

TEST(ConvKeepsSymbolicDims) {
  GIVES("f32[?n, 3, ?s]; f32[4, 3, 3]", "conv(%0, %1) {pads = [1, 1]}", "f32[?n, 4, ?s]");
  GIVES("f32[1, 3, ?(2*s)]; f32[4, 3, 2]", "conv(%0, %1) {strides = [2]}", "f32[1, 4, ?s]");
  GIVES("f32[1, ?c, 8]; f32[4, 3, 3]", "conv(%0, %1)", "f32[1, 4, 6]");
  BINDS("f32[1, 3, ?s]; f32[4, 3, 2]", "conv(%0, %1)", "f32[1, 4, ?(s - 1)]", 9, "f32[1, 4, 8]");
  BIND_REFUSES("f32[1, 3, ?s]; f32[4, 3, 3]", "conv(%0, %1)", "f32[1, 4, ?(s - 2)]", 2,
               "a window of 3 does not fit in spatial dim 0, which is 2");
}

TEST(ConvRefusesMismatchedDims) {
  REFUSES("f32[1, 3]; f32[4, 3]", "conv(%0, %1)", "f32[1, 4]", "1 to 14 spatial dims");
  REFUSES("f32[1, 3, 8]; f32[4, 3, 3, 3]", "conv(%0, %1)", "f32[1, 4, 6]",
          "the weights have rank 4, but the operand has 3");
  REFUSES("f32[1, 3, 8]; f16[4, 3, 3]", "conv(%0, %1)", "f32[1, 4, 6]", "operand 1 is f16");
  REFUSES("f32[1, 3, 8]; f32[4, 2, 3]", "conv(%0, %1)", "f32[1, 4, 6]",
          "the operand has 3 channels, but the weights are for 2");
  REFUSES("f32[1, 4, 8]; f32[5, 2, 3]", "conv(%0, %1) {group = 2}", "f32[1, 5, 6]",
          "5 channels cannot be divided into 2 groups");
  REFUSES("f32[1, 4, 8]; f32[4, 2, 3]", "conv(%0, %1) {group = 0}", "f32[1, 4, 6]",
          "into 0 groups");
  REFUSES("f32[1, 3, 8]; f32[4, 3, 0]", "conv(%0, %1)", "f32[1, 4, 6]",
          "dim 2 of the weights is 0");
  REFUSES("f32[1, 3, 8]; f32[4, 3, 9]", "conv(%0, %1)", "f32[1, 4, 0]",
          "a window of 9 does not fit in spatial dim 0, which is 8 with its padding");
  REFUSES("f32[1, 3, 8]; f32[4, 3, 3]; f32[5]", "conv(%0, %1, %2)", "f32[1, 4, 6]",
          "operand 2 (bias) must have one dim, of 4 channels");
  REFUSES("f32[1, 3, 8]; f32[4, 3, 3]; f16[4]", "conv(%0, %1, %2)", "f32[1, 4, 6]",
          "operand 2 is f16");
  REFUSES("f32[1, 3, 8]; f32[4, 3, 3]", "conv(%0, %1) {strides = [1, 1]}", "f32[1, 4, 6]",
          "strides has 2 numbers, expected 1");
  REFUSES("f32[1, 3, 8]; f32[4, 3, 3]", "conv(%0, %1) {strides = [0]}", "f32[1, 4, 6]",
          "strides has 0, expected at least 1");
  REFUSES("f32[1, 3, 8]; f32[4, 3, 3]", "conv(%0, %1) {pads = [-1, 0]}", "f32[1, 4, 5]",
          "pads has -1, expected at least 0");
  REFUSES("f32[1, 3, 8]; f32[4, 3, 3]", "conv(%0, %1) {dilations = [0]}", "f32[1, 4, 5]",
          "dilations has 0, expected at least 1");
  REFUSES("f32[1, 3, 8]; f32[4, 3, 3]", "conv(%0, %1) {pads = [1, 1], auto_pad = \"valid\"}",
          "f32[1, 4, 8]", "pads cannot be given with auto_pad \"valid\"");
  REFUSES("f32[1, 3, 8]; f32[4, 3, 3]", "conv(%0, %1) {auto_pad = \"same\"}", "f32[1, 4, 8]",
          "auto_pad is \"same\", not \"notset\", \"same_upper\", \"same_lower\" or \"valid\"");
  REFUSES_AS(STOW_ERR_OVERFLOW, "i8[1, 3, 8]; i8[4, 3, 3]",
             "conv(%0, %1) {pads = [9223372036854775807, 0]}", "i8[1, 4, 6]", "conv");
}

TEST(ConvTransposeSpreads) {
  GIVES("f32[1, 4, 5]; f32[4, 6, 3]", "conv_transpose(%0, %1) {strides = [2]}", "f32[1, 6, 11]");
  GIVES("f32[1, 4, 5, 5]; f32[4, 3, 2, 2]; f32[6]",
        "conv_transpose(%0, %1, %2) {strides = [2, 2], group = 2}", "f32[1, 6, 10, 10]");
  GIVES("f32[1, 4, 5]; f32[4, 6, 3]",
        "conv_transpose(%0, %1) {strides = [2], pads = [1, 1], output_padding = [1], "
        "dilations = [2]}",
        "f32[1, 6, 12]");
  GIVES("f32[1, 4, ?s]; f32[4, 6, 2]", "conv_transpose(%0, %1) {strides = [2]}",
        "f32[1, 6, ?(2*s)]");
  REFUSES("f32[1, 4, 5]; f32[3, 6, 3]", "conv_transpose(%0, %1)", "f32[1, 6, 7]",
          "the operand has 4 channels, but the weights are for 3");
  REFUSES("f32[1, 4, 1]; f32[4, 6, 3]", "conv_transpose(%0, %1) {pads = [2, 2]}", "f32[1, 6, 0]",
          "dim 2 of result 0 would be negative");
  REFUSES("f32[1, 4, 0]; f32[4, 6, 3]", "conv_transpose(%0, %1)", "f32[1, 6, 2]",
          "spatial dim 0 is 0, expected at least 1");
  REFUSES("f32[1, 4, 5]; f32[4, 6, 3]", "conv_transpose(%0, %1) {output_padding = [-1]}",
          "f32[1, 6, 6]", "output_padding has -1, expected at least 0");
  REFUSES("f32[1, 4, 5]; f32[4, 6, 3]", "conv_transpose(%0, %1) {group = 3}", "f32[1, 18, 7]",
          "4 channels cannot be divided into 3 groups");
  REFUSES("f32[1, 4, 5]; f32[4, 6, 3]; f32[4]", "conv_transpose(%0, %1, %2)", "f32[1, 6, 7]",
          "(bias) must have one dim, of 6 channels");
}

TEST(PoolSlidesAWindow) {
  GIVES("f32[1, 64, 112, 112]", "pool(%0) {kernel = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]}",
        "f32[1, 64, 56, 56]");
  GIVES("f32[1, 3, 5]", "pool(%0) {op = \"avg\", kernel = [2], count_include_pad = true}",
        "f32[1, 3, 4]");
  GIVES("f32[1, 3, 5]", "pool(%0) {kernel = [2], strides = [2], ceil_mode = true}", "f32[1, 3, 3]");
  GIVES("f32[1, 3, 2]", "pool(%0) {kernel = [3], strides = [2], ceil_mode = true}", "f32[1, 3, 1]");
  REFUSES("f32[1, 3, 2]", "pool(%0) {kernel = [4], strides = [2], ceil_mode = true}",
          "f32[1, 3, 0]",
          "a window of 4 does not fit in spatial dim 0, which is 2 with its padding");
  GIVES("f32[1, 3, 2]", "pool(%0) {kernel = [1], strides = [2], pads = [0, 1], ceil_mode = true}",
        "f32[1, 3, 1]");
  GIVES("f32[1, 3, 5]", "pool(%0) {kernel = [2], strides = [2], auto_pad = \"same_upper\"}",
        "f32[1, 3, 3]");
  GIVES("f32[1, 3, 5, ?s]", "pool(%0) {op = \"avg\", global = true}", "f32[1, 3, 1, 1]");
  GIVES("f32[1, 3, ?(2*s)]", "pool(%0) {kernel = [2], strides = [2]}", "f32[1, 3, ?s]");
  REFUSES("f32[1, 3, 5]", "pool(%0)", "f32[1, 3, 5]",
          "a kernel is required unless the pool is global");
  REFUSES("f32[1, 3, 5]", "pool(%0) {kernel = [2], global = true}", "f32[1, 3, 1]",
          "a global pool takes no kernel");
  REFUSES("f32[1, 3, 5]", "pool(%0) {kernel = [0]}", "f32[1, 3, 5]",
          "kernel has 0, expected at least 1");
  REFUSES("f32[1, 3, 5]", "pool(%0) {kernel = [6]}", "f32[1, 3, 0]", "a window of 6 does not fit");
  REFUSES("f32[1, 3, 5]", "pool(%0) {op = \"sum\", kernel = [2]}", "f32[1, 3, 4]",
          "op is \"sum\", not \"max\", \"avg\" or \"lp\"");
  REFUSES("f32[3, 5]", "pool(%0) {global = true}", "f32[3, 1]", "spatial dims");
}

TEST(ResizeTakesTheDeclaredSize) {
  GIVES("f32[1, 3, 5, 5]", "resize(%0)", "f32[1, 3, 10, 10]");
  GIVES("f32[1, 3, ?s]", "resize(%0) {mode = \"linear\", coordinates = \"align_corners\"}",
        "f32[1, 3, ?(2*s)]");
  GIVES("f32[1, 0]", "resize(%0)", "f32[1, 0]");
  REFUSES("f32[1, 3, 5]", "resize(%0)", "f16[1, 3, 5]", "the operand's dtype and rank");
  REFUSES("f32[1, 3, 5]", "resize(%0)", "f32[3, 5]", "the operand's dtype and rank");
  REFUSES("f32[1, 0]", "resize(%0)", "f32[1, 4]", "dim 1 of the operand is 0");
  REFUSES("f32[1]", "resize(%0) {mode = \"best\"}", "f32[2]", "mode is \"best\"");
  REFUSES("f32[1]", "resize(%0) {coordinates = \"odd\"}", "f32[2]", "coordinates is \"odd\"");
  REFUSES("f32[1]", "resize(%0) {nearest_mode = \"far\"}", "f32[2]", "nearest_mode is \"far\"");
}

// ---------------------------------------------------------------------------------------------
// Normalisations

TEST(NormsKeepTheType) {
  GIVES("f32[2, 8]", "softmax(%0)", "f32[2, 8]");
  GIVES("f32[2, ?s]", "softmax(%0) {axis = 0}", "f32[2, ?s]");
  GIVES("f32[2, 8]", "layer_norm(%0)", "f32[2, 8]");
  GIVES("f32[2, 8]; f32[8]; f32[8]", "layer_norm(%0, %1, %2) {epsilon = 0x1p-10}", "f32[2, 8]");
  GIVES("f16[2, 4, 8]; f32[4, 8]", "layer_norm(%0, %1) {axis = 1}", "f16[2, 4, 8]");
  GIVES("f32[2, 8]; f32[8]", "layer_norm(%0, _, %1)", "f32[2, 8]");
  GIVES("bf16[2, ?s, 8]; f32[8]", "rms_norm(%0, %1)", "bf16[2, ?s, 8]");
  GIVES("f32[1, 8, 16, 16]", "layer_norm_2d(%0)", "f32[1, 8, 16, 16]");
  GIVES("f32[1, 8, 16, 16]; f32[8]; f32[8]", "layer_norm_2d(%0, %1, %2)", "f32[1, 8, 16, 16]");
  GIVES("f32[1, 8, 4]; f32[8]", "layer_norm_2d(%0, _, %1)", "f32[1, 8, 4]");
  GIVES("f32[1, 8, 4]; f32[8]", "batch_norm(%0, %1, %1, %1, %1)", "f32[1, 8, 4]");
  GIVES("f32[1, ?c, 4]; f32[8]", "batch_norm(%0, %1, %1, %1, %1)", "f32[1, ?c, 4]");
  GIVES("f32[1, 8, 4]; f32[8]", "group_norm(%0, %1, %1) {groups = 2}", "f32[1, 8, 4]");
  GIVES("f32[1, ?c, 4]", "group_norm(%0) {groups = 2}", "f32[1, ?c, 4]");
}

TEST(NormsRefuseMismatchedDims) {
  REFUSES("f32[]", "softmax(%0)", "f32[]", "axis -1 is out of range for rank 0");
  REFUSES("f32[2, 8]", "softmax(%0) {axis = 2}", "f32[2, 8]", "axis 2 is out of range");
  REFUSES("f32[2, 8]", "layer_norm(%0) {axis = -3}", "f32[2, 8]", "axis -3 is out of range");
  REFUSES("f32[2, 8]; f32[7]", "layer_norm(%0, %1)", "f32[2, 8]",
          "operand 1 (scale) has dim 7 at 1 from the end, expected 8");
  REFUSES("f32[2, 8]; f32[8]; f32[1, 2, 8]", "layer_norm(%0, %1, %2)", "f32[2, 8]",
          "operand 2 (bias) has rank 3, expected at most 2");
  REFUSES("f32[2, 8]; i32[8]", "rms_norm(%0, %1)", "f32[2, 8]", "operand 1 is i32, which does not");
  REFUSES("f32[8]", "layer_norm_2d(%0)", "f32[8]", "rank 1, expected at least 2");
  REFUSES("f32[1, 8, 4]; f32[4]", "layer_norm_2d(%0, %1)", "f32[1, 8, 4]",
          "operand 1 must have one dim, of 8 channels");
  REFUSES("f32[1, 8, 4]; f32[8]; f32[1, 8]", "batch_norm(%0, %1, %1, %1, %2)", "f32[1, 8, 4]",
          "operand 4 must have one dim");
  REFUSES("f32[1, 8, 4]; f32[8]; i8[8]", "batch_norm(%0, %1, %1, %2, %1)", "f32[1, 8, 4]",
          "operand 3 is i8");
  REFUSES("f32[1, 8, 4]", "group_norm(%0) {groups = 3}", "f32[1, 8, 4]",
          "8 channels cannot be divided into 3 groups");
  REFUSES("f32[1, 8, 4]", "group_norm(%0) {groups = 0}", "f32[1, 8, 4]", "into 0 groups");
  REFUSES("f32[8]", "group_norm(%0) {groups = 1}", "f32[8]", "rank 1, expected at least 2");
}

// ---------------------------------------------------------------------------------------------
// Reductions

TEST(ReduceDropsOrKeepsDims) {
  GIVES("f32[2, 3, 4]", "reduce(%0)", "f32[1, 1, 1]");
  GIVES("f32[2, 3, 4]", "reduce(%0) {keepdims = false}", "f32[]");
  GIVES("f32[2, ?s, 4]", "reduce(%0) {op = \"mean\", axes = [-1, 0]}", "f32[1, ?s, 1]");
  GIVES("f32[2, ?s, 4]", "reduce(%0) {op = \"max\", axes = [2], keepdims = false}", "f32[2, ?s]");
  GIVES("i32[2, 3]", "reduce(%0) {op = \"prod\", axes = [0]}", "i32[1, 3]");
  GIVES("f32[]", "reduce(%0) {op = \"min\"}", "f32[]");
  REFUSES("f32[2, 3]", "reduce(%0) {axes = [2]}", "f32[2, 3]", "axis 2 is out of range for rank 2");
  REFUSES("f32[2, 3]", "reduce(%0) {axes = [1, -1]}", "f32[2, 1]", "axis -1 is repeated");
  REFUSES("f32[2, 3]", "reduce(%0) {op = \"median\"}", "f32[1, 1]", "op is \"median\"");
}

TEST(ArgmaxGivesIndices) {
  GIVES("f32[2, 3]", "argmax(%0)", "i64[1, 3]");
  GIVES("f32[2, 3]", "argmax(%0) {axis = -1, keepdims = false}", "i64[2]");
  REFUSES("f32[2, 3]", "argmax(%0) {axis = 5}", "i64[2]", "axis 5 is out of range");
  REFUSES("f32[2, 3]", "argmax(%0)", "f32[1, 3]", "declared as f32[1, 3]");
}

TEST(TopkGivesValuesAndIndices) {
  GIVES("f32[16, 96]", "topk(%0) {axis = 1, k = 5}", "f32[16, 5]; i64[16, 5]");
  GIVES("f16[16, ?s]", "topk(%0) {k = 5, largest = false}", "f16[16, 5]; i64[16, 5]");
  GIVES("f32[4]", "topk(%0) {k = 0}", "f32[0]; i64[0]");
  REFUSES("f32[4]", "topk(%0) {k = 5}", "f32[5]; i64[5]", "k is 5, but dim 0 is only 4");
  REFUSES("f32[4]", "topk(%0) {k = -1}", "f32[4]; i64[4]", "k is -1");
  REFUSES("f32[4]", "topk(%0) {axis = 1, k = 1}", "f32[1]; i64[1]", "axis 1 is out of range");
  BIND_REFUSES("f32[?s]", "topk(%0) {k = 5}", "f32[5]; i64[5]", 4, "k is 5, but dim 0 is only 4");
}
