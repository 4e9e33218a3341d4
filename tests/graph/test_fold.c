// Tests of fold functions, on numbers and on symbolic expressions. Small cases are worked out by
// hand; layout and reductions are also compared with straightforward loops over random tensors.
#include <stdio.h>
#include <string.h>

#include "graph/shape_cases.h"
#include "support/fault.h"
#include "support/test.h"

// Two shapes to compute with: %1 is [s, 4], %3 is [t + 1, 6].
#define SHAPES "f32[?s, 4]; i64[2] := shape(%0); f32[?(t + 1), 6]; i64[2] := shape(%2); "

// ---------------------------------------------------------------------------------------------
// Elementwise

TEST(SumsAndProductsOfNumbersAndSymbols) {
  FOLDS("i64[3] = [1, -2, 3]; i64[] = [10]", "add(%0, %1)", "i64[3]", "11 8 13");
  FOLDS("f32[2] = [1.5, 2.0]; f32[2] = [0.25, 4.0]", "sub(%0, %1)", "f32[2]", "1.25 -2");
  FOLDS("i64[2, 1] = [1, 2]; i64[3] = [1, 10, 100]", "mul(%0, %1)", "i64[2, 3]",
        "1 10 100 2 20 200");
  FOLDS("i8[1] = [100]; i8[1] = [100]", "add(%0, %1)", "i8[1]", "_");
  FOLDS("i64[1] = [9223372036854775807]; i64[1] = [1]", "add(%0, %1)", "i64[1]", "_");
  FOLDS("i64[2]; i64[2] = [1, 2]", "add(%0, %1)", "i64[2]", "_ _");
  FOLDS(SHAPES, "add(%1, %3)", "i64[2]", "?(s + t + 1) 10");
  FOLDS(SHAPES, "sub(%1, %3)", "i64[2]", "?(s - t - 1) -2");
  FOLDS(SHAPES, "mul(%1, %3)", "i64[2]", "?(s + s*t) 24");
}

TEST(DivisionsTruncateTowardsZero) {
  FOLDS("i64[4] = [7, -7, 7, -7]; i64[4] = [2, 2, -2, -2]", "div(%0, %1)", "i64[4]", "3 -3 -3 3");
  FOLDS("i64[2] = [1, -9223372036854775808]; i64[2] = [0, -1]", "div(%0, %1)", "i64[2]", "_ _");
  FOLDS("f32[1] = [1.0]; f32[1] = [4.0]", "div(%0, %1)", "f32[1]", "0.25");
  FOLDS("f32[2] = [1.0, -1.0]; f32[2] = [0.0, -0.0]", "div(%0, %1)", "f32[2]", "_ _");
  FOLDS(SHAPES "i64[] = [2]", "div(%1, %4)", "i64[2]", "?(floor_div(s, 2)) 2");
  FOLDS(SHAPES, "div(%3, %1)", "i64[2]", "?(floor_div(t + 1, s)) 1");
  FOLDS(SHAPES "i64[2] := sub(%1, %3); i64[] = [2]", "div(%4, %5)", "i64[2]", "_ -1");
  FOLDS("i64[4] = [7, -7, 7, -7]; i64[4] = [3, 3, -3, -3]", "mod(%0, %1)", "i64[4]", "1 2 -2 -1");
  FOLDS("i64[4] = [7, -7, 7, -7]; i64[4] = [3, 3, -3, -3]", "mod(%0, %1) {fmod = true}", "i64[4]",
        "1 -1 1 -1");
  FOLDS("i64[2] = [5, -9223372036854775808]; i64[2] = [0, -1]", "mod(%0, %1)", "i64[2]", "_ 0");
  FOLDS(SHAPES "i64[] = [2]", "mod(%1, %4)", "i64[2]", "?(s - 2*floor_div(s, 2)) 0");
}

TEST(UnaryOpsOfEitherKind) {
  FOLDS("i64[3] = [1, -2, 0]", "neg(%0)", "i64[3]", "-1 2 0");
  FOLDS("i64[3] = [1, -2, 0]", "relu(%0)", "i64[3]", "1 0 0");
  FOLDS("f32[2] = [-1.5, 1.5]", "relu(%0)", "f32[2]", "0 1.5");
  FOLDS(SHAPES, "relu(%1)", "i64[2]", "?s 4");
  FOLDS("i64[2] = [-5, -9223372036854775808]", "abs(%0)", "i64[2]", "5 _");
  FOLDS("f32[2] = [-1.5, 2.0]", "abs(%0)", "f32[2]", "1.5 2");
  FOLDS("i64[3] = [-5, 0, 9]", "sign(%0)", "i64[3]", "-1 0 1");
  FOLDS("f32[3] = [-2.5, 0.0, 2.5]", "sign(%0)", "f32[3]", "-1 0 1");
  FOLDS("f32[4] = [-1.5, -0.5, 0.5, 1.5]", "floor(%0)", "f32[4]", "-2 -1 0 1");
  FOLDS("f32[4] = [-1.5, -0.5, 0.5, 1.5]", "ceil(%0)", "f32[4]", "-1 0 1 2");
  FOLDS("f32[6] = [-1.5, -0.5, 0.5, 1.5, 2.5, 2.6]", "round(%0)", "f32[6]", "-2 0 0 2 2 3");
  FOLDS("f32[3] = [64.0, 0.0, 1e-10]", "sqrt(%0)", "f32[3]", "8 0 1e-05");
  FOLDS("f32[1] = [-4.0]", "sqrt(%0)", "f32[1]", "_");
  FOLDS("f32[2] = [4.0, 0.0]", "reciprocal(%0)", "f32[2]", "0.25 _");
  FOLDS("bool[2] = [0, 1]", "not(%0)", "bool[2]", "1 0");
  FOLDS(SHAPES "i64[2] := neg(%1)", "abs(%4)", "i64[2]", "?s 4");
  FOLDS(SHAPES, "sign(%3)", "i64[2]", "1 1");
}

TEST(AveragesOfFloats) {
  FOLDS("f32[2] = [1.0, 2.0]; f32[] = [4.0]", "mean(%0, %1)", "f32[2]", "2.5 3");
  FOLDS("f32[2] = [1.0, 2.0]; f32[2]", "mean(%0, %1)", "f32[2]", "_ _");
  FOLDS("i64[1] = [1]; i64[1] = [3]", "mean(%0, %1)", "i64[1]", "_");
}

TEST(PowersOfWholeNumbers) {
  FOLDS("i64[3] = [2, -3, 7]; i64[3] = [10, 3, 0]", "pow(%0, %1)", "i64[3]", "1024 -27 1");
  FOLDS("i64[2] = [2, 2]; i64[2] = [64, -1]", "pow(%0, %1)", "i64[2]", "_ _");
  FOLDS("f32[2] = [9.0, 1.5]; f32[2] = [0.5, 2.0]", "pow(%0, %1)", "f32[2]", "3 2.25");
  FOLDS(SHAPES "i64[] = [2]", "pow(%1, %4)", "i64[2]", "?(s*s) 16");
}

TEST(ExtremesAndBounds) {
  FOLDS("i64[2] = [1, 9]; i64[] = [5]", "max(%0, %1)", "i64[2]", "5 9");
  FOLDS("f32[2] = [1.0, 9.0]; f32[] = [5.0]", "min(%0, %1)", "f32[2]", "1 5");
  FOLDS("f32[2] = [nan, 1.0]; f32[2] = [1.0, nan]", "max(%0, %1)", "f32[2]", "_ _");
  FOLDS("f32[2] = [nan, 1.0]; f32[2] = [1.0, nan]", "min(%0, %1)", "f32[2]", "_ _");
  FOLDS("f32[2] = [1.0, nan]", "reduce(%0) {op = \"max\", keepdims = false}", "f32[]", "_");
  FOLDS(SHAPES, "max(%1, %3)", "i64[2]", "?(max(s, t + 1)) 6");
  FOLDS(SHAPES "i64[] = [0]", "max(%1, %4)", "i64[2]", "?s 4");
  FOLDS("i64[3] = [-4, 3, 40]; i64[] = [0]; i64[] = [9]", "clip(%0, %1, %2)", "i64[3]", "0 3 9");
  FOLDS("i64[2] = [-4, 40]; i64[] = [9]", "clip(%0, _, %1)", "i64[2]", "-4 9");
}

TEST(ComparisonsAreDecidedIfTheyHoldForAllSymbols) {
  FOLDS("i64[3] = [1, 2, 3]; i64[] = [2]", "eq(%0, %1)", "bool[3]", "0 1 0");
  FOLDS("i64[3] = [1, 2, 3]; i64[] = [2]", "lt(%0, %1)", "bool[3]", "1 0 0");
  FOLDS("f32[3] = [1.0, 2.0, 3.0]; f32[] = [2.0]", "ge(%0, %1)", "bool[3]", "0 1 1");
  FOLDS("f32[3] = [1.0, 2.0, 3.0]; f32[] = [2.0]", "ne(%0, %1)", "bool[3]", "1 0 1");
  FOLDS(SHAPES "i64[] = [-1]", "eq(%1, %4)", "bool[2]", "0 0");
  FOLDS(SHAPES "i64[] = [1]", "eq(%1, %4)", "bool[2]", "_ 0");
  FOLDS(SHAPES, "eq(%1, %1)", "bool[2]", "1 1");
  FOLDS(SHAPES "i64[] = [0]", "gt(%3, %4)", "bool[2]", "1 1");
  FOLDS(SHAPES "i64[] = [0]", "gt(%1, %4)", "bool[2]", "_ 1");
  FOLDS(SHAPES "i64[] = [0]", "ge(%1, %4)", "bool[2]", "1 1");
  FOLDS(SHAPES "i64[] = [0]", "lt(%1, %4)", "bool[2]", "0 0");
  FOLDS(SHAPES "i64[] = [0]", "le(%3, %4)", "bool[2]", "0 0");
}

TEST(LogicIsDecidedByOneKnownOperand) {
  FOLDS("bool[4] = [0, 0, 1, 1]; bool[4] = [0, 1, 0, 1]", "and(%0, %1)", "bool[4]", "0 0 0 1");
  FOLDS("bool[4] = [0, 0, 1, 1]; bool[4] = [0, 1, 0, 1]", "or(%0, %1)", "bool[4]", "0 1 1 1");
  FOLDS("bool[4] = [0, 0, 1, 1]; bool[4] = [0, 1, 0, 1]", "xor(%0, %1)", "bool[4]", "0 1 1 0");
  FOLDS("bool[2] = [0, 1]; bool[2]", "and(%0, %1)", "bool[2]", "0 _");
  FOLDS("bool[2] = [0, 1]; bool[2]", "or(%0, %1)", "bool[2]", "_ 1");
  FOLDS("i32[1] = [12]; i32[1] = [10]", "xor(%0, %1)", "i32[1]", "6");
}

TEST(WherePicksKnownBranches) {
  FOLDS("bool[2] = [1, 0]; i64[2] = [1, 2]; i64[2] = [3, 4]", "where(%0, %1, %2)", "i64[2]", "1 4");
  FOLDS("bool[2]; i64[2] = [1, 2]; i64[2] = [1, 4]", "where(%0, %1, %2)", "i64[2]", "1 _");
  // what exporters write for a shape that may hold -1
  FOLDS(SHAPES "i64[] = [-1]; bool[2] := eq(%1, %4)", "where(%5, %3, %1)", "i64[2]", "?s 4");
}

TEST(CastsConvertNumbers) {
  FOLDS("f32[3] = [1.9, -1.9, 1e30]", "cast(%0) {to = \"i64\"}", "i64[3]", "1 -1 _");
  FOLDS("i64[2] = [300, 5]", "cast(%0) {to = \"u8\"}", "u8[2]", "_ 5");
  FOLDS("i64[2] = [3, 0]", "cast(%0) {to = \"bool\"}", "bool[2]", "1 0");
  FOLDS("f32[2] = [0.5, 0.0]", "cast(%0) {to = \"bool\"}", "bool[2]", "1 0");
  FOLDS("bool[2] = [0, 1]; f32[]", "cast_like(%0, %1)", "f32[2]", "0 1");
  FOLDS(SHAPES, "cast(%1) {to = \"i32\"}", "i32[2]", "?s 4");
  FOLDS(SHAPES, "cast(%1) {to = \"f32\"}", "f32[2]", "_ 4");
  FOLDS("i64[3] = [1, 2049, 70000]", "cast(%0) {to = \"f16\"}", "f16[3]", "1 2048 _");
  FOLDS("i64[3] = [1, 257, 70000]", "cast(%0) {to = \"bf16\"}", "bf16[3]", "1 256 70144");
  FOLDS("i64[1] = [1]", "cast(%0) {to = \"f8e4m3fn\"}", "f8e4m3fn[1]", "_");
}

// ---------------------------------------------------------------------------------------------
// Layout

TEST(DimsAreKnown) {
  FOLDS("f32[?s, 3, ?(2*t)]", "shape(%0)", "i64[3]", "?s 3 ?(2*t)");
  FOLDS("f32[?s, 3, 4]", "shape(%0) {start = -2, end = -1}", "i64[1]", "3");
  FOLDS("f32[?s, 3, 4]", "size(%0)", "i64[]", "?(12*s)");
}

TEST(ElementsMoveWithTheirDims) {
  FOLDS("i64[2, 2] = [1, 2, 3, 4]; i64[1] = [4]", "reshape(%0, %1)", "i64[4]", "1 2 3 4");
  FOLDS(SHAPES, "unsqueeze(%1) {axes = [0]}", "i64[1, 2]", "?s 4");
  FOLDS("i64[1, 2] = [1, 2]", "squeeze(%0)", "i64[2]", "1 2");
  FOLDS("i64[2, 3] = [1, 2, 3, 4, 5, 6]", "transpose(%0)", "i64[3, 2]", "1 4 2 5 3 6");
  FOLDS("i64[2, 1] = [1, 2]; i64[2] = [2, 3]", "expand(%0, %1)", "i64[2, 3]", "1 1 1 2 2 2");
  FOLDS("i64[2] = [1, 2]", "tile(%0) {repeats = [2]}", "i64[4]", "1 2 1 2");
  FOLDS("i64[2, 2] = [1, 2, 3, 4]; i64[2, 1] = [5, 6]", "concat(%0, %1) {axis = 1}", "i64[2, 3]",
        "1 2 5 3 4 6");
  FOLDS(SHAPES "i64[1]", "concat(%1, %4)", "i64[3]", "?s 4 _");
  FOLDS("i64[5] = [1, 2, 3, 4, 5]", "narrow(%0) {axis = 0, start = 1, len = 3}", "i64[3]", "2 3 4");
  FOLDS("i64[5] = [1, 2, 3, 4, 5]", "split(%0) {sizes = [2, 3]}", "i64[2]; i64[3]", "1 2; 3 4 5");
  FOLDS("i64[5] = [1, 2, 3, 4, 5]", "split(%0) {parts = 2}", "i64[3]; i64[2]", "1 2 3; 4 5");
}

TEST(SlicesOfKnownValues) {
  FOLDS("i64[5] = [1, 2, 3, 4, 5]", "slice(%0) {starts = [1], ends = [-1]}", "i64[3]", "2 3 4");
  FOLDS("i64[5] = [1, 2, 3, 4, 5]",
        "slice(%0) {starts = [-1], ends = [-9223372036854775808], steps = [-2]}", "i64[3]",
        "5 3 1");
  FOLDS("i64[2, 3] = [1, 2, 3, 4, 5, 6]; i64[1] = [1]; i64[1] = [9]; i64[1] = [1]",
        "slice(%0, %1, %2, %3)", "i64[2, 2]", "2 3 5 6");
  FOLDS(SHAPES, "slice(%1) {starts = [-1], ends = [9]}", "i64[1]", "4");
  FOLDS("i64[5] = [1, 2, 3, 4, 5]; i64[1]; i64[1]", "slice(%0, %1, %2)", "i64[2]", "_ _");
}

TEST(PadAddsABorder) {
  FOLDS("i64[2] = [1, 2]", "pad(%0) {pads = [1, 2]}", "i64[5]", "0 1 2 0 0");
  FOLDS("i64[2] = [1, 2]; i64[] = [7]", "pad(%0, %1) {pads = [-1, 1]}", "i64[2]", "2 7");
  FOLDS("i64[2, 1] = [1, 2]; i64[2] = [1, 0]; i64[1] = [1]", "pad(%0, _, %1, %2)", "i64[2, 2]",
        "0 1 0 2");
  FOLDS("i64[2] = [1, 2]", "pad(%0) {pads = [1, 1], mode = \"edge\"}", "i64[4]", "_ _ _ _");
}

TEST(TensorsMadeFromNumbers) {
  FOLDS("i64[] = [2]; i64[] = [9]; i64[] = [3]", "range(%0, %1, %2)", "i64[3]", "2 5 8");
  FOLDS("f32[] = [1.0]; f32[] = [0.0]; f32[] = [-0.5]", "range(%0, %1, %2)", "f32[2]", "1 0.5");
  FOLDS("i64[1] = [3]; i64[1] = [7]", "fill(%0, %1)", "i64[3]", "7 7 7");
  FOLDS("i64[1] = [2]", "fill(%0)", "f32[2]", "0 0");
  FOLDS("i64[2] = [2, -3]; i64[] = [3]; i64[2] = [5, 6]", "one_hot(%0, %1, %2)", "i64[2, 3]",
        "5 5 6 6 5 5");
  FOLDS("i64[2] = [2, 7]; i64[] = [3]; i64[2] = [5, 6]", "one_hot(%0, %1, %2) {axis = 0}",
        "i64[3, 2]", "5 5 5 5 6 5");
  FOLDS("i64[2, 3]", "eye_like(%0) {k = 1}", "i64[2, 3]", "0 1 0 0 0 1");
  FOLDS("i64[2, 3] = [1, 2, 3, 4, 5, 6]", "trilu(%0)", "i64[2, 3]", "1 2 3 0 5 6");
  FOLDS("i64[2, 3] = [1, 2, 3, 4, 5, 6]; i64[] = [-1]", "trilu(%0, %1) {upper = false}",
        "i64[2, 3]", "0 0 0 4 0 0");
}

// ---------------------------------------------------------------------------------------------
// Indexing and reductions

TEST(GathersPickByIndex) {
  FOLDS(SHAPES "i64[] = [0]", "gather(%1, %4)", "i64[]", "?s");
  FOLDS("i64[3] = [5, 6, 7]; i64[2] = [-1, 0]", "gather(%0, %1)", "i64[2]", "7 5");
  FOLDS("i64[3] = [5, 6, 7]; i64[2] = [3, 1]", "gather(%0, %1)", "i64[2]", "_ 6");
  FOLDS("i64[2, 3] = [1, 2, 3, 4, 5, 6]; i64[1, 2] = [2, 0]", "gather(%0, %1) {axis = 1}",
        "i64[2, 1, 2]", "3 1 6 4");
  FOLDS("i64[2, 2] = [1, 2, 3, 4]; i64[2, 2] = [0, 0, 1, 0]", "gather_elements(%0, %1) {axis = 1}",
        "i64[2, 2]", "1 1 4 3");
  FOLDS("i64[2, 2] = [1, 2, 3, 4]; i64[2, 2] = [0, 0, 1, -1]", "gather_nd(%0, %1)", "i64[2]",
        "1 4");
  FOLDS("i64[2, 2] = [1, 2, 3, 4]; i64[1, 1] = [1]", "gather_nd(%0, %1)", "i64[1, 2]", "3 4");
  FOLDS("i64[2, 2] = [1, 2, 3, 4]; i64[2, 1] = [1, 0]", "gather_nd(%0, %1) {batch_dims = 1}",
        "i64[2]", "2 3");
}

TEST(ScattersReplace) {
  FOLDS(SHAPES "i64[1] = [1]; i64[1] = [9]", "scatter_elements(%1, %4, %5)", "i64[2]", "?s 9");
  FOLDS("i64[3] = [1, 2, 3]; i64[2] = [0, 0]; i64[2] = [8, 9]", "scatter_elements(%0, %1, %2)",
        "i64[3]", "9 2 3");
  FOLDS("i64[3] = [1, 2, 3]; i64[1] = [1]; i64[1]", "scatter_elements(%0, %1, %2)", "i64[3]",
        "1 _ 3");
  FOLDS("i64[3] = [1, 2, 3]; i64[1]; i64[1] = [9]", "scatter_elements(%0, %1, %2)", "i64[3]",
        "_ _ _");
  FOLDS("i64[3] = [1, 2, 3]; i64[1] = [1]; i64[1] = [9]",
        "scatter_elements(%0, %1, %2) {reduction = \"add\"}", "i64[3]", "_ _ _");
  FOLDS("i64[2, 2] = [1, 2, 3, 4]; i64[1, 1] = [-1]; i64[1, 2] = [8, 9]", "scatter_nd(%0, %1, %2)",
        "i64[2, 2]", "1 2 8 9");
  FOLDS("i64[2, 2] = [1, 2, 3, 4]; i64[2, 2] = [0, 1, 1, 0]; i64[2] = [8, 9]",
        "scatter_nd(%0, %1, %2)", "i64[2, 2]", "1 8 9 4");
}

TEST(NonzeroListsCoordinates) {
  FOLDS("i64[2, 2] = [0, 5, 6, 0]", "nonzero(%0)", "i64[2, 2]", "0 1 1 0");
  FOLDS("bool[3] = [1, 0, 1]", "nonzero(%0)", "i64[1, 2]", "0 2");
  FOLDS("i64[3]", "nonzero(%0)", "i64[1, 3]", "_ _ _");
}

TEST(ReductionsCombine) {
  FOLDS("i64[2, 3] = [1, 2, 3, 4, 5, 6]", "reduce(%0) {axes = [0], keepdims = false}", "i64[3]",
        "5 7 9");
  FOLDS("i64[2, 3] = [1, 2, 3, 4, 5, 6]", "reduce(%0) {op = \"prod\", axes = [1]}", "i64[2, 1]",
        "6 120");
  FOLDS("i64[2, 3] = [1, 2, 3, 4, 5, 6]", "reduce(%0) {op = \"max\", keepdims = false}", "i64[]",
        "6");
  FOLDS("f32[2] = [1.0, 2.0]", "reduce(%0) {op = \"mean\"}", "f32[1]", "1.5");
  FOLDS("i64[2] = [3, 2]", "reduce(%0) {op = \"min\"}", "i64[1]", "2");
  FOLDS(SHAPES, "reduce(%1) {op = \"prod\", keepdims = false}", "i64[]", "?(4*s)");
}

TEST(RunningSumsAndProducts) {
  FOLDS("i64[4] = [1, 2, 3, 4]", "cumsum(%0)", "i64[4]", "1 3 6 10");
  FOLDS("i64[4] = [1, 2, 3, 4]", "cumsum(%0) {exclusive = true, reverse = true}", "i64[4]",
        "9 7 4 0");
  FOLDS("i64[2, 2] = [1, 2, 3, 4]; i64[] = [-1]", "cumprod(%0, %1)", "i64[2, 2]", "1 2 3 12");
  FOLDS(SHAPES, "cumsum(%1)", "i64[2]", "?s ?(s + 4)");
}

TEST(ArgmaxAndTopkOfNumbers) {
  FOLDS("i64[4] = [3, 9, 1, 9]", "topk(%0) {k = 3}", "i64[3]; i64[3]", "9 9 3; 1 3 0");
  FOLDS("f32[3] = [3.0, 9.0, 1.0]", "topk(%0) {k = 2, largest = false}", "f32[2]; i64[2]",
        "1 3; 2 0");
  FOLDS("i64[2, 2] = [1, 2, 4, 3]", "argmax(%0) {axis = 1, keepdims = false}", "i64[2]", "1 0");
  FOLDS("i64[2, 2] = [1, 2, 4, 3]", "argmax(%0)", "i64[1, 2]", "1 1");
  FOLDS("f32[4] = [1.0, 3.0, 3.0, 2.0]", "argmax(%0)", "i64[1]", "1");
  FOLDS("f32[4] = [1.0, 3.0, 3.0, 2.0]", "argmax(%0) {select_last_index = true}", "i64[1]", "2");
  FOLDS("i64[4] = [5, 1, 1, 2]", "argmin(%0)", "i64[1]", "1");
  FOLDS("i64[4] = [5, 1, 1, 2]", "argmin(%0) {select_last_index = true}", "i64[1]", "2");
  FOLDS(SHAPES, "argmin(%1)", "i64[1]", "_");
  FOLDS(SHAPES, "topk(%1) {k = 1}", "i64[1]; i64[1]", "_; _");
}

// ---------------------------------------------------------------------------------------------
// Against loops

typedef struct cube {
  int64_t dims[3];
  int64_t at[125];
} cube;

static cube random_cube(test_random* random) {
  cube made;
  memset(&made, 0, sizeof(made));
  size_t count = 1;
  for (int i = 0; i < 3; ++i) {
    made.dims[i] = 1 + (int64_t)test_random_below(random, 5);
    count *= (size_t)made.dims[i];
  }
  for (size_t i = 0; i < count; ++i) {
    made.at[i] = (int64_t)test_random_below(random, 100) - 50;
  }
  return made;
}

static int64_t element(const cube* c, int64_t i, int64_t j, int64_t k) {
  return c->at[(i * c->dims[1] + j) * c->dims[2] + k];
}

static size_t cube_size(const cube* c) { return (size_t)(c->dims[0] * c->dims[1] * c->dims[2]); }

// Runs |node| over |c| and compares with |expected|, whose dims are those of the result.
static void check_cube(const cube* c, const char* node, const cube* expected) {
  char operand[1200];
  char result[64];
  char values[1200];
  int size = snprintf(operand, sizeof(operand), "i64[%d, %d, %d] = [", (int)c->dims[0],
                      (int)c->dims[1], (int)c->dims[2]);
  for (size_t i = 0; i < cube_size(c); ++i) {
    size += snprintf(operand + size, sizeof(operand) - (size_t)size, "%s%d", i == 0 ? "" : ", ",
                     (int)c->at[i]);
  }
  snprintf(operand + size, sizeof(operand) - (size_t)size, "]");
  snprintf(result, sizeof(result), "i64[%d, %d, %d]", (int)expected->dims[0],
           (int)expected->dims[1], (int)expected->dims[2]);
  size = 0;
  values[0] = '\0';
  for (size_t i = 0; i < cube_size(expected); ++i) {
    size += snprintf(values + size, sizeof(values) - (size_t)size, "%s%d", i == 0 ? "" : " ",
                     (int)expected->at[i]);
  }
  FOLDS(operand, node, result, values);
}

// Constants in text have at most 64 numbers.
static cube small_cube(test_random* random) {
  cube made = random_cube(random);
  while (cube_size(&made) > 64) {
    made = random_cube(random);
  }
  return made;
}

TEST(TransposesAgreeWithLoops) {
  static const int perms[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  test_random random = {1};
  for (int round = 0; round < 60; ++round) {
    cube c = small_cube(&random);
    const int* perm = perms[round % 6];
    cube expected = {.dims = {c.dims[perm[0]], c.dims[perm[1]], c.dims[perm[2]]}};
    size_t next = 0;
    int64_t at[3];
    for (at[perm[0]] = 0; at[perm[0]] < c.dims[perm[0]]; ++at[perm[0]]) {
      for (at[perm[1]] = 0; at[perm[1]] < c.dims[perm[1]]; ++at[perm[1]]) {
        for (at[perm[2]] = 0; at[perm[2]] < c.dims[perm[2]]; ++at[perm[2]]) {
          expected.at[next++] = element(&c, at[0], at[1], at[2]);
        }
      }
    }
    char node[64];
    snprintf(node, sizeof(node), "transpose(%%0) {perm = [%d, %d, %d]}", perm[0], perm[1], perm[2]);
    check_cube(&c, node, &expected);
  }
}

// numpy's rule, walked element by element.
static int64_t walk(int64_t dim, int64_t start, int64_t end, int64_t step, int64_t* out) {
  int64_t count = 0;
  start = start < 0 ? start + dim : start;
  end = end < 0 ? end + dim : end;
  if (step < 0) {
    start = start >= dim ? dim - 1 : start;
    for (int64_t i = start; i >= 0 && i > end; i += step) {
      out[count++] = i;
    }
    return count;
  }
  for (int64_t i = start < 0 ? 0 : start; i < dim && i < end; i += step) {
    out[count++] = i;
  }
  return count;
}

TEST(SlicesAgreeWithLoops) {
  test_random random = {2};
  for (int round = 0; round < 300; ++round) {
    cube c = small_cube(&random);
    int64_t start = (int64_t)test_random_below(&random, 13) - 6;
    int64_t end = (int64_t)test_random_below(&random, 13) - 6;
    int64_t step = (int64_t)test_random_below(&random, 3) + 1;
    step = test_random_below(&random, 2) == 0 ? step : -step;
    // With a negative step a start before the first element is clamped to the first.
    if (step < 0 && start < -c.dims[1]) {
      start = -c.dims[1];
    }
    int64_t kept[8];
    cube expected = {.dims = {c.dims[0], walk(c.dims[1], start, end, step, kept), c.dims[2]}};
    size_t next = 0;
    for (int64_t i = 0; i < expected.dims[0]; ++i) {
      for (int64_t j = 0; j < expected.dims[1]; ++j) {
        for (int64_t k = 0; k < expected.dims[2]; ++k) {
          expected.at[next++] = element(&c, i, kept[j], k);
        }
      }
    }
    char node[96];
    snprintf(node, sizeof(node),
             "slice(%%0) {starts = [%d], ends = [%d], axes = [1], steps = [%d]}", (int)start,
             (int)end, (int)step);
    check_cube(&c, node, &expected);
  }
}

TEST(ReductionsAgreeWithLoops) {
  test_random random = {3};
  for (int round = 0; round < 60; ++round) {
    cube c = small_cube(&random);
    cube expected = {.dims = {c.dims[0], 1, c.dims[2]}};
    bool is_max = round % 2 == 0;
    for (int64_t i = 0; i < c.dims[0]; ++i) {
      for (int64_t k = 0; k < c.dims[2]; ++k) {
        int64_t sum = element(&c, i, 0, k);
        for (int64_t j = 1; j < c.dims[1]; ++j) {
          int64_t next = element(&c, i, j, k);
          sum = !is_max ? sum + next : next > sum ? next : sum;
        }
        expected.at[i * c.dims[2] + k] = sum;
      }
    }
    check_cube(&c, is_max ? "reduce(%0) {op = \"max\", axes = [1]}" : "reduce(%0) {axes = [-2]}",
               &expected);
  }
}

// ---------------------------------------------------------------------------------------------
// Picking by value

TEST(UniqueFindsElementsAndSlices) {
  FOLDS("i64[5] = [3, 1, 3, -2, 1]", "unique(%0)", "i64[3]; i64[3]; i64[5]; i64[3]",
        "-2 1 3; 3 1 0; 2 1 2 0 1; 1 2 2");
  FOLDS("f32[2, 2] = [3.0, 1.0, 3.0, 2.0]", "unique(%0) {sorted = false}",
        "f32[3]; i64[3]; i64[4]; i64[3]", "3 1 2; 0 1 3; 0 1 0 2; 2 1 1");
  FOLDS("i64[3, 2] = [1, 0, 1, 0, 0, 5]", "unique(%0) {axes = [0]}",
        "i64[2, 2]; i64[2]; i64[3]; i64[2]", "0 5 1 0; 2 0; 1 1 0; 1 2");
  FOLDS("i64[2, 3] = [4, 0, 4, 1, 0, 1]", "unique(%0) {axes = [-1]}",
        "i64[2, 2]; i64[2]; i64[3]; i64[2]", "0 4 0 1; 1 0; 1 0 1; 1 2");
  FOLDS(SHAPES, "unique(%1)", "i64[2]; i64[2]; i64[2]; i64[2]", "_ _; _ _; _ _; _ _");
}

TEST(CompressTakesElementsWhereTheConditionHolds) {
  FOLDS("i64[4] = [7, 8, 9, 10]; bool[3] = [1, 0, 1]", "compress(%0, %1)", "i64[2]", "7 9");
  FOLDS("i64[2, 3] = [1, 2, 3, 4, 5, 6]; bool[3] = [0, 1, 1]", "compress(%0, %1) {axes = [1]}",
        "i64[2, 2]", "2 3 5 6");
  FOLDS("i64[2, 3] = [1, 2, 3, 4, 5, 6]; bool[2] = [0, 1]", "compress(%0, %1) {axes = [0]}",
        "i64[1, 3]", "4 5 6");
  FOLDS(SHAPES "bool[2] = [1, 0]", "compress(%1, %4)", "i64[1]", "?s");
  FOLDS("i64[2] = [7, 8]; bool[2]", "compress(%0, %1)", "i64[2]", "_ _");
}

// ---------------------------------------------------------------------------------------------

TEST(BindingMakesExpressionsNumbers) {
  stow_diag diag;
  stow_module* module =
      shape_case_parse(SHAPES, "mul(%1, %3)", "i64[2]", stow_allocator_default(), &diag);
  REQUIRE(module != NULL);
  stow_graph* graph = stow_module_graph(module, 0);
  stow_str names[2] = {stow_str_of("s"), stow_str_of("t")};
  int64_t values[2] = {5, 6};
  REQUIRE(stow_graph_bind(graph, names, values, 2, &diag) == STOW_OK);
  CHECK(stow_graph_known(graph, stow_graph_outputs(graph)[0], 0) == 35);
  stow_module_destroy(module);
}

static const char* const symbolic_cases[][3] = {
    {SHAPES "i64[] = [2]", "div(%3, %4)", "i64[2]"},
    {SHAPES, "max(%1, %3)", "i64[2]"},
    {SHAPES, "reduce(%3) {op = \"prod\"}", "i64[1]"},
    {SHAPES "i64[2] := neg(%1)", "lt(%4, %3)", "bool[2]"},
};

static stow_status read_case(stow_allocator allocator, void* user) {
  const char* const* texts = symbolic_cases[*(const size_t*)user];
  stow_diag diag;
  stow_module* module = shape_case_parse(texts[0], texts[1], texts[2], allocator, &diag);
  stow_module_destroy(module);
  return diag.status;
}

TEST(FoldsSurviveEveryFailedAllocation) {
  for (size_t i = 0; i < sizeof(symbolic_cases) / sizeof(symbolic_cases[0]); ++i) {
    CHECK(test_fault_sweep(read_case, &i) > 0);
  }
}
