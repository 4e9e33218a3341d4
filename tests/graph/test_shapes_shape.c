// Tests of the shapes of layout, indexing and shape arithmetic, from attributes and from known
// values.
#include <string.h>

#include "graph/shape_cases.h"
#include "support/fault.h"
#include "support/test.h"

// ---------------------------------------------------------------------------------------------
// reshape, squeeze, unsqueeze, flatten, expand, casts

TEST(ReshapeFollowsAKnownShape) {
  GIVES("f32[4, 6]; i64[2] = [2, 12]", "reshape(%0, %1)", "f32[2, 12]");
  GIVES("f32[4, 6]; i64[3] = [0, -1, 2]", "reshape(%0, %1)", "f32[4, 3, 2]");
  GIVES("f32[0, 3]; i64[2] = [3, 0]", "reshape(%0, %1) {allowzero = true}", "f32[3, 0]");
  GIVES("f32[1]; i64[0] = []", "reshape(%0, %1)", "f32[]");
  REFUSES("f32[4, 6]; i64[2] = [5, -1]", "reshape(%0, %1)", "f32[5, 4]",
          "24 elements cannot be divided into parts of 5");
  REFUSES("f32[4, 6]; i64[2] = [-1, -1]", "reshape(%0, %1)", "f32[4, 6]", "as well as another");
  REFUSES("f32[4, 6]; i64[2] = [-2, 12]", "reshape(%0, %1)", "f32[2, 12]", "would be -2");
  REFUSES("f32[4]; i64[2] = [4, 0]", "reshape(%0, %1)", "f32[4, 1]", "dim 1 is to be kept");
  REFUSES("f32[4, 6]; i64[2] = [5, 5]", "reshape(%0, %1)", "f32[5, 5]", "24 elements");
  REFUSES("f32[4]; f32[1]", "reshape(%0, %1)", "f32[4]", "must be integers");
  REFUSES("f32[4]; i64[1, 1]", "reshape(%0, %1)", "f32[4]",
          "operand 1 has rank 2, expected a list");
}

TEST(ReshapeDividesExpressions) {
  GIVES("f32[?b, ?s, 768]; i64[4] = [0, 0, 12, -1]", "reshape(%0, %1)", "f32[?b, ?s, 12, 64]");
  GIVES("f32[?b, ?s, 8]; i64[2] = [-1, 8]", "reshape(%0, %1)", "f32[?(b*s), 8]");
  GIVES(
      "f32[?(b*s), 8]; f32[?b, ?s]; i64[2] := shape(%1); i64[1] = [-1]; "
      "i64[3] := concat(%2, %3)",
      "reshape(%0, %4)", "f32[?b, ?s, 8]");
  GIVES("f32[?s]; i64[2] = [-1, 2]", "reshape(%0, %1)", "f32[?(floor_div(s, 2)), 2]");
  BINDS("f32[?s]; i64[2] = [-1, 2]", "reshape(%0, %1)", "f32[?(floor_div(s, 2)), 2]", 6,
        "f32[3, 2]");
  BIND_REFUSES("f32[?s]; i64[2] = [-1, 2]", "reshape(%0, %1)", "f32[?(floor_div(s, 2)), 2]", 7,
               "7 elements cannot be divided into parts of 2");
}

TEST(ReshapeTakesDeclaredDimsIfValuesAreUnknown) {
  GIVES("f32[4, 6]; i64[2]", "reshape(%0, %1)", "f32[3, 8]");
  GIVES("f32[4, 6]; i64[?n]", "reshape(%0, %1)", "f32[3, 8]");
  REFUSES("f32[4, 6]; i64[2]", "reshape(%0, %1)", "f32[3, 9]", "24 elements");
}

TEST(SqueezeRemovesOnes) {
  GIVES("f32[1, 3, 1]", "squeeze(%0)", "f32[3]");
  GIVES("f32[1, ?s, 1]; i64[1] = [-1]", "squeeze(%0, %1)", "f32[1, ?s]");
  GIVES("f32[1, 3, 1]", "squeeze(%0) {axes = [0]}", "f32[3, 1]");
  GIVES("f32[?s, 3]", "squeeze(%0) {axes = [0]}", "f32[3]");
  REFUSES("f32[1, 3]", "squeeze(%0) {axes = [1]}", "f32[1]", "dim 1 is 3, expected 1");
  REFUSES("f32[1, 3]", "squeeze(%0) {axes = [2]}", "f32[1]", "axis 2 is out of range");
  REFUSES("f32[1, 1]", "squeeze(%0) {axes = [0, -2]}", "f32[1]", "is repeated");
  REFUSES("f32[1]", "squeeze(%0) {axes = [0, 0]}", "f32[]", "there are 2 axes for rank 1");
}

TEST(UnsqueezeAddsOnes) {
  GIVES("f32[?s, 3]", "unsqueeze(%0) {axes = [0, -1]}", "f32[1, ?s, 3, 1]");
  GIVES("f32[]; i64[1] = [0]", "unsqueeze(%0, %1)", "f32[1]");
  GIVES("f32[3]; i64[] = [1]", "unsqueeze(%0, %1)", "f32[3, 1]");
  REFUSES("f32[3]", "unsqueeze(%0) {axes = [2]}", "f32[3, 1]", "axis 2 is out of range for rank 2");
  REFUSES("f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "unsqueeze(%0) {axes = [0]}", "f32[1]",
          "would have rank 17");
}

TEST(FlattenMultiplies) {
  GIVES("f32[2, 3, 4]", "flatten(%0)", "f32[2, 12]");
  GIVES("f32[2, ?s, 4]", "flatten(%0) {axis = -1}", "f32[?(2*s), 4]");
  GIVES("f32[2, 3]", "flatten(%0) {axis = 0}", "f32[1, 6]");
  GIVES("f32[2, 3]", "flatten(%0) {axis = 2}", "f32[6, 1]");
  REFUSES("f32[2, 3]", "flatten(%0) {axis = 3}", "f32[6, 1]", "axis 3 is out of range for rank 2");
}

TEST(ExpandBroadcastsInBothDirections) {
  GIVES("f32[3, 1]; i64[3] = [2, 1, 6]", "expand(%0, %1)", "f32[2, 3, 6]");
  GIVES("f32[1, ?s]; i64[2] = [4, 1]", "expand(%0, %1)", "f32[4, ?s]");
  GIVES("f32[3]; i64[1]", "expand(%0, %1)", "f32[3]");
  REFUSES("f32[3]; i64[1] = [4]", "expand(%0, %1)", "f32[4]",
          "dims 3 and 4, at 1 from the end, cannot be broadcast: they differ and neither is 1");
}

TEST(CastsNameTheirType) {
  GIVES("f32[?s]", "cast(%0) {to = \"i64\"}", "i64[?s]");
  GIVES("f32[?s]; u8[]", "cast_like(%0, %1)", "u8[?s]");
  GIVES("f32[3]", "bitcast(%0) {to = \"i32\"}", "i32[3]");
  REFUSES("f32[3]", "cast(%0) {to = \"word\"}", "f32[3]",
          "unknown to \"word\"; expected an element type such as f32");
  REFUSES("f32[3]", "cast(%0) {to = \"i64\"}", "f32[3]", "result 0 is i64[3]");
  REFUSES("f32[3]", "bitcast(%0) {to = \"f64\"}", "f64[3]", "f32 has 32 bits, but f64 has 64");
}

// ---------------------------------------------------------------------------------------------
// slice

TEST(SliceClampsAndSteps) {
  GIVES("f32[10]", "slice(%0) {starts = [2], ends = [9223372036854775807]}", "f32[8]");
  GIVES("f32[10]", "slice(%0) {starts = [-3], ends = [100]}", "f32[3]");
  GIVES("f32[10]", "slice(%0) {starts = [-100], ends = [-9]}", "f32[1]");
  GIVES("f32[10]", "slice(%0) {starts = [7], ends = [3]}", "f32[0]");
  GIVES("f32[10]", "slice(%0) {starts = [1], ends = [8], steps = [3]}", "f32[3]");
  GIVES("f32[10]", "slice(%0) {starts = [-1], ends = [-9223372036854775808], steps = [-1]}",
        "f32[10]");
  GIVES("f32[10]", "slice(%0) {starts = [8], ends = [1], steps = [-3]}", "f32[3]");
  GIVES("f32[10]", "slice(%0) {starts = [20], ends = [-20], steps = [-4]}", "f32[3]");
  GIVES("f32[0]", "slice(%0) {starts = [1], ends = [5], steps = [-1]}", "f32[0]");
  GIVES("f32[4, 6]; i64[1] = [1]; i64[1] = [3]; i64[1] = [-1]; i32[1] = [2]",
        "slice(%0, %1, %2, %3, %4)", "f32[4, 1]");
  REFUSES("f32[10]", "slice(%0) {starts = [0], ends = [5], steps = [0]}", "f32[5]",
          "step 0 is out");
  REFUSES("f32[10]", "slice(%0) {starts = [0, 1], ends = [5]}", "f32[5]", "2 starts, 1 ends");
  REFUSES("f32[10]", "slice(%0) {starts = [0], ends = [5], axes = [1]}", "f32[5]",
          "axis 1 is out of range");
}

TEST(SliceOfSymbolsStaysExact) {
  GIVES("f32[?s]", "slice(%0) {starts = [1], ends = [9223372036854775807]}", "f32[?(s - 1)]");
  GIVES("f32[?s]", "slice(%0) {starts = [0], ends = [-1]}", "f32[?(s - 1)]");
  GIVES("f32[?s]", "slice(%0) {starts = [-1], ends = [9223372036854775807]}", "f32[1]");
  GIVES("f32[?s]", "slice(%0) {starts = [0], ends = [5]}", "f32[?(min(s, 5))]");
  GIVES("f32[?(s + 8)]", "slice(%0) {starts = [2], ends = [6]}", "f32[4]");
  GIVES("f32[?s]", "slice(%0) {starts = [-1], ends = [-9223372036854775807], steps = [-1]}",
        "f32[?s]");
  BINDS("f32[?s]", "slice(%0) {starts = [0], ends = [5]}", "f32[?(min(s, 5))]", 3, "f32[3]");
  GIVES("f32[512, 8]; f32[?s]; i64[1] := shape(%1); i64[1] = [0]", "slice(%0, %3, %2)",
        "f32[?(min(s, 512)), 8]");
}

TEST(SliceByUnknownNumbersTakesDeclaredDims) {
  GIVES("f32[10, 4]; i64[1]; i64[1]", "slice(%0, %1, %2)", "f32[7, 4]");
  GIVES("f32[10, 4]; i64[1]; i64[1]; i64[1]", "slice(%0, %1, %2, %3)", "f32[7, 3]");
}

// ---------------------------------------------------------------------------------------------
// pad, split, tile, center_crop_pad, blocks

TEST(PadTakesOperands) {
  GIVES("f32[2, 3]; i64[4] = [0, 1, 0, 2]", "pad(%0, _, %1)", "f32[2, 6]");
  GIVES("f32[2, 3]; f32[]; i64[2] = [1, 1]; i64[1] = [-1]", "pad(%0, %1, %2, %3)", "f32[2, 5]");
  GIVES("f32[2, 3]", "pad(%0) {pads = [1, 2], axes = [0]}", "f32[5, 3]");
  GIVES("f32[2, 3]; f32[?s]; i64[1] := shape(%1); i64[1] = [1]; i64[2] := concat(%2, %3)",
        "pad(%0, _, %4) {axes = [1]}", "f32[2, ?(s + 4)]");
  REFUSES("f32[2, 3]; i64[3] = [0, 1, 0]", "pad(%0, _, %1)", "f32[2, 6]", "there are 3 pads");
}

TEST(SplitTakesSizesOrUnevenParts) {
  GIVES("f32[7]; i64[2] = [3, 4]", "split(%0, %1)", "f32[3]; f32[4]");
  GIVES("f32[7]", "split(%0) {parts = 3}", "f32[3]; f32[3]; f32[1]");
  GIVES("f32[?s]", "split(%0) {parts = 2}",
        "f32[?(floor_div(s + 1, 2))]; f32[?(s - floor_div(s + 1, 2))]");
  GIVES("f32[7]; i64[2]", "split(%0, %1)", "f32[2]; f32[5]");
  REFUSES("f32[7]; i64[2] = [3, 5]", "split(%0, %1)", "f32[3]; f32[5]", "sizes add up to 8");
  REFUSES("f32[7]; i64[2] = [9223372036854775807, 1]", "split(%0, %1)", "f32[3]; f32[4]",
          "size 1 is out of range");
}

TEST(TileMultiplies) {
  GIVES("f32[2, ?s]; i64[2] = [3, 2]", "tile(%0, %1)", "f32[6, ?(2*s)]");
  GIVES("f32[2]", "tile(%0) {repeats = [0]}", "f32[0]");
  REFUSES("f32[2]; i64[2] = [3, 2]", "tile(%0, %1)", "f32[6]", "2 repeats for rank 1");
  REFUSES("f32[2]", "tile(%0) {repeats = [-1]}", "f32[2]", "negative");
}

TEST(CenterCropPadTakesTheShape) {
  GIVES("f32[20, 8, 3]; i64[2] = [10, 9]", "center_crop_pad(%0, %1) {axes = [0, 1]}",
        "f32[10, 9, 3]");
  GIVES("f32[20, 8]; i64[2] = [10, 9]", "center_crop_pad(%0, %1)", "f32[10, 9]");
  REFUSES("f32[20, 8]; i64[1] = [10]", "center_crop_pad(%0, %1)", "f32[10, 8]",
          "1 dims for 2 axes");
}

TEST(BlocksMoveBetweenChannelsAndSpace) {
  GIVES("f32[1, 8, 2, ?s]", "depth_to_space(%0) {blocksize = 2}", "f32[1, 2, 4, ?(2*s)]");
  GIVES("f32[1, 2, 4, 6]", "space_to_depth(%0) {blocksize = 2}", "f32[1, 8, 2, 3]");
  REFUSES("f32[1, 6, 2, 3]", "depth_to_space(%0) {blocksize = 2}", "f32[1, 2, 4, 6]",
          "dim 1 is 6, which is not a multiple of 4");
  REFUSES("f32[1, 6, 2]", "space_to_depth(%0) {blocksize = 2}", "f32[1, 2, 4]",
          "operand 0 has rank 3, expected 4");
  REFUSES("f32[1, 6, 2, 2]", "space_to_depth(%0) {blocksize = 4294967296}", "f32[1, 2, 4, 1]",
          "blocksize 4294967296 is out of range");
  REFUSES("f32[1, 8, 2, 2]", "depth_to_space(%0) {blocksize = 2, mode = \"abc\"}",
          "f32[1, 2, 4, 4]", "mode is \"abc\"");
  REFUSES("f32[1, 2, 4, 4]", "space_to_depth(%0) {blocksize = 2, mode = \"abc\"}",
          "f32[1, 8, 2, 2]", "mode is \"abc\"");
}

TEST(ReverseSequenceNeedsALengthPerSequence) {
  GIVES("f32[4, ?b, 3]; i64[?b]", "reverse_sequence(%0, %1)", "f32[4, ?b, 3]");
  REFUSES("f32[4, 2]; i64[3]", "reverse_sequence(%0, %1)", "f32[4, 2]", "each of 2 sequences");
  REFUSES("f32[4, 2]; i64[2]", "reverse_sequence(%0, %1) {time_axis = 1}", "f32[4, 2]",
          "batch_axis 1 and time_axis 1 must be two different dims of rank 2");
}

// ---------------------------------------------------------------------------------------------
// From shapes and numbers

TEST(ShapeAndSizeCountDims) {
  GIVES("f32[?s, 3, 4]", "shape(%0)", "i64[3]");
  GIVES("f32[?s, 3, 4]", "shape(%0) {start = -2, end = 9}", "i64[2]");
  GIVES("f32[?s, 3, 4]", "shape(%0) {start = 2, end = 1}", "i64[0]");
  GIVES("f32[?s]", "size(%0)", "i64[]");
}

TEST(RangeCountsSteps) {
  GIVES("i64[] = [2]; i64[] = [9]; i64[] = [3]", "range(%0, %1, %2)", "i64[3]");
  GIVES("i64[] = [9]; i64[] = [2]; i64[] = [-3]", "range(%0, %1, %2)", "i64[3]");
  GIVES("i64[] = [9]; i64[] = [2]; i64[] = [1]", "range(%0, %1, %2)", "i64[0]");
  GIVES("f32[] = [0.0]; f32[] = [1.0]; f32[] = [0.3]", "range(%0, %1, %2)", "f32[4]");
  GIVES("i64[] = [0]; f32[?s]; i64[] := size(%1); i64[] = [1]", "range(%0, %2, %3)", "i64[?s]");
  GIVES("i64[]; i64[]; i64[]", "range(%0, %1, %2)", "i64[6]");
  REFUSES("i64[] = [2]; i64[] = [9]; i64[] = [0]", "range(%0, %1, %2)", "i64[3]", "delta 0 is out");
  REFUSES("f32[] = [0.0]; f32[] = [1.0]; f32[] = [0.0]", "range(%0, %1, %2)", "f32[4]", "delta is");
  REFUSES("i64[]; i32[]; i64[]", "range(%0, %1, %2)", "i64[6]", "operand 1 is i32");
  REFUSES("i64[]; i64[2]; i64[]", "range(%0, %1, %2)", "i64[6]", "(limit) must have one element");
}

TEST(FillOneHotEyeAndTriluMakeTheirDims) {
  GIVES("i64[2] = [2, 3]", "fill(%0)", "f32[2, 3]");
  GIVES("i64[2] = [2, 3]; i64[1] = [7]", "fill(%0, %1)", "i64[2, 3]");
  GIVES("i64[0] = []", "fill(%0)", "f32[]");
  REFUSES("i64[1] = [-2]", "fill(%0)", "f32[2]", "negative");
  GIVES("i64[2, 3]; i64[] = [10]; f32[2]", "one_hot(%0, %1, %2)", "f32[2, 3, 10]");
  GIVES("i64[?s]; f32[1] = [4.0]; f32[2]", "one_hot(%0, %1, %2) {axis = 0}", "f32[4, ?s]");
  GIVES("i64[2]; i64[]; f32[2]", "one_hot(%0, %1, %2)", "f32[2, 5]");
  REFUSES("i64[2]; i64[]; f32[3]", "one_hot(%0, %1, %2)", "f32[2, 5]", "off and on");
  GIVES("f32[3, ?s]", "eye_like(%0) {dtype = \"bool\", k = 1}", "bool[3, ?s]");
  REFUSES("f32[3]", "eye_like(%0)", "f32[3]", "operand 0 has rank 1, expected 2");
  GIVES("f32[3, ?s]; i64[]", "trilu(%0, %1) {upper = false}", "f32[3, ?s]");
  REFUSES("f32[3]", "trilu(%0)", "f32[3]", "at least 2");
}

// ---------------------------------------------------------------------------------------------
// Indexing

TEST(GatherElementsAndNdTakeTheIndicesDims) {
  GIVES("f32[3, 4]; i64[2, 4]", "gather_elements(%0, %1)", "f32[2, 4]");
  REFUSES("f32[3, 4]; i64[2, 5]", "gather_elements(%0, %1)", "f32[2, 5]",
          "dim 1 of the indices is 5");
  REFUSES("f32[3, 4]; i64[2]", "gather_elements(%0, %1)", "f32[2]",
          "the indices have rank 1, but the data has rank 2");
  GIVES("f32[3, 4, ?s]; i64[5, 2]", "gather_nd(%0, %1)", "f32[5, ?s]");
  GIVES("f32[3, 4, 5]; i64[3, 7, 1]", "gather_nd(%0, %1) {batch_dims = 1}", "f32[3, 7, 5]");
  REFUSES("f32[3, 4]; i64[5, 3]", "gather_nd(%0, %1)", "f32[5]", "do not fit rank 2");
  REFUSES("f32[3, 4]; i64[]", "gather_nd(%0, %1)", "f32[5]", "at least 1");
  REFUSES("f32[3, 4]; i64[3, 1]", "gather_nd(%0, %1) {batch_dims = -1}", "f32[5]", "batch_dims -1");
  REFUSES("f32[1, 4, 5]; i64[3, 7, 1]", "gather_nd(%0, %1) {batch_dims = 1}", "f32[3, 7, 5]",
          "leading dims of data and indices differ: 1 and 3");
}

TEST(ScattersKeepTheDatasType) {
  GIVES("f32[3, 4]; i64[2, 4]; f32[2, 4]", "scatter_elements(%0, %1, %2)", "f32[3, 4]");
  REFUSES("f32[3, 4]; i64[2, 4]; f32[2, 3]", "scatter_elements(%0, %1, %2)", "f32[3, 4]",
          "dim 1 of the updates is 3, expected 4");
  REFUSES("f32[3]; i64[2]; f32[2]", "scatter_elements(%0, %1, %2) {reduction = \"avg\"}", "f32[3]",
          "reduction is \"avg\"");
  GIVES("f32[3, 4]; i64[5, 1]; f32[5, 4]", "scatter_nd(%0, %1, %2) {reduction = \"add\"}",
        "f32[3, 4]");
  REFUSES("f32[3, 4]; i64[5, 1]; f32[5]", "scatter_nd(%0, %1, %2)", "f32[3, 4]",
          "the updates have rank 1, expected 2");
  REFUSES("f32[3, 4]; i64[5, 1]; f16[5, 4]", "scatter_nd(%0, %1, %2)", "f32[3, 4]", "f16");
  GIVES("f32[2, 3, 9, 5]; f32[2, 3, 4, 5]; i64[2]", "tensor_scatter(%0, %1, %2)",
        "f32[2, 3, 9, 5]");
  REFUSES("f32[2, 9, 5]; f32[2, 10, 5]", "tensor_scatter(%0, %1)", "f32[2, 9, 5]",
          "dim 1 of the updates is 10");
}

TEST(PickingByValueIsUpperBounded) {
  GIVES("f32[2, 3]", "nonzero(%0)", "i64[2, 6]");
  GIVES("f32[2, 3]", "nonzero(%0)", "i64[2, 4]");
  GIVES("i64[4] = [0, 3, 0, 5]", "nonzero(%0)", "i64[1, 2]");
  REFUSES("f32[2, 3]", "nonzero(%0)", "i64[2, 7]", "nonzero");
  GIVES("f32[2, 3]", "unique(%0)", "f32[6]; i64[6]; i64[6]; i64[6]");
  GIVES("f32[2, 3]", "unique(%0) {axes = [1]}", "f32[2, 3]; i64[3]; i64[3]; i64[3]");
  REFUSES("f32[2, 3]", "unique(%0) {axes = [0, 1]}", "f32[6]", "at most one");
  GIVES("f32[4, 3]; bool[4] = [1, 0, 1, 0]", "compress(%0, %1) {axes = [0]}", "f32[2, 3]");
  GIVES("f32[4, 3]; bool[2]", "compress(%0, %1) {axes = [0]}", "f32[2, 3]");
  GIVES("f32[4, 3]; bool[20]", "compress(%0, %1)", "f32[12]");
  REFUSES("f32[4]; i64[4]", "compress(%0, %1)", "f32[4]", "bools of rank 1");
}

TEST(TopkTakesKFromAttributeOrOperand) {
  GIVES("f32[2, 9]; i64[1] = [4]", "topk(%0, %1)", "f32[2, 4]; i64[2, 4]");
  GIVES("f32[2, 9]; i64[1]", "topk(%0, %1)", "f32[2, 5]; i64[2, 5]");
  REFUSES("f32[2, 9]; i64[1] = [10]", "topk(%0, %1)", "f32[2, 4]; i64[2, 4]",
          "k is 10, but dim 1 is only 9");
  REFUSES("f32[2, 9]; i64[1] = [-1]", "topk(%0, %1)", "f32[2, 4]; i64[2, 4]", "k is -1");
  REFUSES("f32[2, 9]", "topk(%0)", "f32[2, 4]; i64[2, 4]", "k is -1");
}

TEST(RunningSumsNeedAnAxis) {
  GIVES("f32[2, ?s]; i64[] = [-1]", "cumsum(%0, %1)", "f32[2, ?s]");
  GIVES("f32[2, 3]", "cumprod(%0) {axis = 1, reverse = true}", "f32[2, 3]");
  REFUSES("f32[2, 3]; i64[] = [2]", "cumsum(%0, %1)", "f32[2, 3]", "axis 2 is out of range");
  REFUSES("f32[2, 3]; i64[2]", "cumsum(%0, %1)", "f32[2, 3]", "(axis) must have one element");
}

// ---------------------------------------------------------------------------------------------
// Views

static void check_view(const char* operands, const char* node, const char* result, bool is_view,
                       uint64_t offset, bool is_extended, int line) {
  stow_diag diag;
  stow_module* module = shape_case_parse(operands, node, result, stow_allocator_default(), &diag);
  if (!test_check(module != NULL, __FILE__, line, "%s: %s", node, diag.message)) {
    return;
  }
  stow_graph* graph = stow_module_graph(module, 0);
  stow_view view;
  stow_node last = stow_graph_producer(graph, stow_graph_outputs(graph)[0]);
  bool is = stow_graph_view(graph, last, 0, &view);
  test_check(is == is_view, __FILE__, line, "%s: view %d", node, is);
  if (is && is_view) {
    test_check(view.operand == 0 && view.element_offset == offset, __FILE__, line, "%s", node);
    test_check(view.extended == is_extended, __FILE__, line, "%s: extended %d", node,
               view.extended);
  }
  stow_module_destroy(module);
}
#define VIEWS(operands, node, result, offset, is_extended) \
  check_view((operands), (node), (result), true, (offset), (is_extended), __LINE__)
#define OWNS(operands, node, result) \
  check_view((operands), (node), (result), false, 0, false, __LINE__)

TEST(ContiguousSlicesAreViews) {
  VIEWS("f32[8, 4]", "slice(%0) {starts = [2], ends = [5]}", "f32[3, 4]", 8, false);
  VIEWS("f32[8, 4]", "slice(%0) {starts = [-3], ends = [-2], steps = [2]}", "f32[1, 4]", 20, false);
  VIEWS("f32[8, 4]; i64[2] = [7, 1]; i64[2] = [8, 3]", "slice(%0, %1, %2)", "f32[1, 2]", 29, true);
  VIEWS("f32[8, 4]", "slice(%0) {starts = [0], ends = [8]}", "f32[8, 4]", 0, false);
  OWNS("f32[8, 4]", "slice(%0) {starts = [0, 1], ends = [2, 2]}", "f32[2, 1]");
  OWNS("f32[8, 4]", "slice(%0) {starts = [0], ends = [8], steps = [2]}", "f32[4, 4]");
  OWNS("f32[8]", "slice(%0) {starts = [7], ends = [-100], steps = [-1]}", "f32[8]");
  OWNS("f32[8]; i64[1]; i64[1]", "slice(%0, %1, %2)", "f32[3]");
}

TEST(ReshapesAreViews) {
  VIEWS("f32[1, 4]", "squeeze(%0)", "f32[4]", 0, false);
  VIEWS("f32[4]", "unsqueeze(%0) {axes = [0]}", "f32[1, 4]", 0, false);
  VIEWS("f32[2, 3, 4]", "flatten(%0)", "f32[2, 12]", 0, false);
  VIEWS("f32[4]", "bitcast(%0) {to = \"u32\"}", "u32[4]", 0, true);
  OWNS("f32[4]; u8[]", "cast_like(%0, %1)", "u8[4]");
  OWNS("f32[4]; i64[1] = [2]", "tile(%0, %1)", "f32[8]");
}

// ---------------------------------------------------------------------------------------------
// Running out of memory

static const char* const symbolic_cases[][3] = {
    {"f32[?b, ?s, 8]; i64[2] = [-1, 16]", "reshape(%0, %1)", "f32[?(floor_div(8*b*s, 16)), 16]"},
    {"f32[?s]", "slice(%0) {starts = [3], ends = [-2]}",
     "f32[?(max(max(s - 2, 0) - min(s, 3), 0))]"},
    {"f32[?s]; i64[2]", "reshape(%0, %1)", "f32[?t, ?u]"},
    {"f32[?s, ?t]; i64[2] := shape(%0); i64[1] = [1]; i64[1] := gather(%1, %2)", "fill(%3)",
     "f32[?t]"},
};

static stow_status read_case(stow_allocator allocator, void* user) {
  const char* const* texts = symbolic_cases[*(const size_t*)user];
  stow_diag diag;
  stow_module* module = shape_case_parse(texts[0], texts[1], texts[2], allocator, &diag);
  stow_module_destroy(module);
  return diag.status;
}

TEST(SymbolicShapesSurviveEveryFailedAllocation) {
  for (size_t i = 0; i < sizeof(symbolic_cases) / sizeof(symbolic_cases[0]); ++i) {
    CHECK(test_fault_sweep(read_case, &i) > 0);
  }
}
