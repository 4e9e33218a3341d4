// Tests of the shapes of further mathematical ops.
#include <stdio.h>
#include <string.h>

#include "graph/shape_cases.h"
#include "support/test.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

// ---------------------------------------------------------------------------------------------
// Elementwise

TEST(MoreUnaryOpsKeepTheType) {
  static const char* const nodes[] = {"acos(%0)",
                                      "acosh(%0)",
                                      "asin(%0)",
                                      "asinh(%0)",
                                      "atan(%0)",
                                      "atanh(%0)",
                                      "cosh(%0)",
                                      "sinh(%0)",
                                      "tan(%0)",
                                      "softsign(%0)",
                                      "mish(%0)",
                                      "selu(%0)",
                                      "selu(%0) {alpha = 1.5, gamma = 2.0}",
                                      "celu(%0)",
                                      "celu(%0) {alpha = 2.0}",
                                      "thresholded_relu(%0)",
                                      "shrink(%0) {bias = 0.25, lambd = 1.5}",
                                      "silu(%0) {alpha = 1.5}",
                                      "clip(%0) {min = 0.0, max = 6.0}",
                                      "full_like(%0) {value = 1.0}",
                                      "dropout(%0) {ratio = 0.25, seed = 7}",
                                      "max(%0)",
                                      "sum(%0)"};
  for (size_t i = 0; i < COUNT(nodes); ++i) {
    GIVES("f16[2, ?s, 0]", nodes[i], "f16[2, ?s, 0]");
    GIVES("f32[]", nodes[i], "f32[]");
    REFUSES("f32[2]", nodes[i], "f32[3]", "declared as f32[3]");
  }
}

TEST(PredicatesGiveBool) {
  GIVES("f32[2, ?s]", "is_nan(%0)", "bool[2, ?s]");
  GIVES("f16[2]", "is_inf(%0) {detect_negative = false}", "bool[2]");
  REFUSES("f32[2]", "is_inf(%0)", "f32[2]", "declared as f32[2]");
}

TEST(BitwiseOpsNeedIntegers) {
  GIVES("u8[2, ?s]", "bit_not(%0)", "u8[2, ?s]");
  REFUSES("f32[2]", "bit_not(%0)", "f32[2]", "operand 0 must be integers, not f32");
  GIVES("u8[2, 3]; u8[3]", "bit_shift(%0, %1) {direction = \"left\"}", "u8[2, 3]");
  GIVES("i32[?s]; i32[]", "bit_shift(%0, %1) {direction = \"right\"}", "i32[?s]");
  REFUSES("u8[2]; u8[2]", "bit_shift(%0, %1) {direction = \"up\"}", "u8[2]",
          "direction is \"up\", not \"left\" or \"right\"");
  REFUSES("f32[2]; f32[2]", "bit_shift(%0, %1) {direction = \"left\"}", "f32[2]",
          "operand 0 must be integers, not f32");
  REFUSES("u8[2]; u16[2]", "bit_shift(%0, %1) {direction = \"left\"}", "u8[2]", "operand 1 is u16");
}

TEST(PowTakesAnyExponent) {
  GIVES("f32[2, 3]; i64[]", "pow(%0, %1)", "f32[2, 3]");
  GIVES("i32[1]; f32[4, ?s]", "pow(%0, %1)", "i32[4, ?s]");
  REFUSES("f32[2]; f32[3]", "pow(%0, %1)", "f32[2]", "dims 2 and 3");
}

TEST(VariadicOpsBroadcastAll) {
  static const char* const nodes[] = {"max(%0, %1, %2)", "min(%0, %1, %2)", "sum(%0, %1, %2)",
                                      "mean(%0, %1, %2)"};
  for (size_t i = 0; i < COUNT(nodes); ++i) {
    GIVES("f32[3]; f32[2, 1]; f32[]", nodes[i], "f32[2, 3]");
    GIVES("f32[1]; f32[?s]; f32[4, 1]", nodes[i], "f32[4, ?s]");
    REFUSES("f32[3]; f32[3]; f32[4]", nodes[i], "f32[3]", "dims 3 and 4");
    REFUSES("f32[3]; f32[3]; f16[3]", nodes[i], "f32[3]", "operand 2 is f16");
  }
  REFUSES("f32[3]", "sum(%0, _, %0)", "f32[3]", "operand 1 is missing");
}

TEST(SlopesBroadcastToWhatTheyScale) {
  GIVES("f32[2, 3, 4]; f32[3, 1]", "prelu(%0, %1)", "f32[2, 3, 4]");
  GIVES("f32[2, ?s]; f32[1]", "prelu(%0, %1)", "f32[2, ?s]");
  REFUSES("f32[3]; f32[2, 3]", "prelu(%0, %1)", "f32[3]", "operand 1 (slope) has rank 2");
  REFUSES("f32[2, 3]; f32[2]", "prelu(%0, %1)", "f32[2, 3]", "operand 1 (slope) has dim 2");
  REFUSES("f32[3]; f16[3]", "prelu(%0, %1)", "f32[3]", "operand 1 is f16");
}

TEST(GatedUnitsBroadcast) {
  GIVES("f32[2, ?s]; f32[2, ?s]", "swiglu(%0, %1) {alpha = 1.5}", "f32[2, ?s]");
  REFUSES("f32[2]; f16[2]", "swiglu(%0, %1)", "f32[2]", "operand 1 is f16");
}

TEST(FullLikeMayChangeTheDtype) {
  GIVES("f32[2, ?s]", "full_like(%0) {value = 1.0, dtype = \"bool\"}", "bool[2, ?s]");
  REFUSES("f32[2]", "full_like(%0) {dtype = \"f33\"}", "f32[2]",
          "unknown dtype \"f33\"; expected an element type such as f32");
}

TEST(DropoutMayGiveAMask) {
  GIVES("f16[2, ?s]; f32[]; bool[]", "dropout(%0, %1, %2)", "f16[2, ?s]; bool[2, ?s]");
  GIVES("f16[2]; bool[]", "dropout(%0, _, %1)", "f16[2]");
  REFUSES("f32[2]; f32[2]", "dropout(%0, %1)", "f32[2]", "operand 1 (ratio) must have one element");
}

// ---------------------------------------------------------------------------------------------
// Normalisations

TEST(SoftmaxVariantsKeepTheType) {
  static const char* const names[] = {"softmax", "log_softmax", "hardmax"};
  for (size_t i = 0; i < COUNT(names); ++i) {
    char node[96];
    snprintf(node, sizeof(node), "%s(%%0) {axis = 1, flatten = true}", names[i]);
    GIVES("f32[2, ?s, 4]", node, "f32[2, ?s, 4]");
    GIVES("f32[2]", node, "f32[2]");
    REFUSES("f32[]", node, "f32[]", "axis 1 is out of range for rank 0");
    snprintf(node, sizeof(node), "%s(%%0) {axis = 2}", names[i]);
    REFUSES("f32[2, 3]", node, "f32[2, 3]", "axis 2 is out of range for rank 2");
  }
}

TEST(NormsKeepTheType) {
  GIVES("f32[2, ?s]", "lp_norm(%0) {axis = 0, p = 1}", "f32[2, ?s]");
  REFUSES("f32[2]", "lp_norm(%0) {axis = 1}", "f32[2]", "axis 1 is out of range");
  GIVES("f32[1, 5, ?s, 5]", "lrn(%0) {size = 3, alpha = 0.5, beta = 0.5, bias = 2.0}",
        "f32[1, 5, ?s, 5]");
  REFUSES("f32[1, 5]", "lrn(%0) {size = 0}", "f32[1, 5]", "size is 0, expected at least 1");
  REFUSES("f32[5]", "lrn(%0) {size = 3}", "f32[5]", "rank 1, expected at least 2");
  GIVES("f32[2, 3, ?s, 4]", "mean_variance_norm(%0) {axes = [0, 2, -1]}", "f32[2, 3, ?s, 4]");
  REFUSES("f32[2, 3]", "mean_variance_norm(%0) {axes = [0, 2]}", "f32[2, 3]", "axis 2 is out");
  GIVES("f32[1, 8, ?s]; f32[8]", "instance_norm(%0, %1, %1)", "f32[1, 8, ?s]");
  REFUSES("f32[1, 8, 4]; f32[4]", "instance_norm(%0, %1, %1)", "f32[1, 8, 4]",
          "operand 1 must have one dim, of 8 channels");
}

TEST(LayerNormMayReturnStatistics) {
  GIVES("f16[2, ?s, 8]; f16[8]", "layer_norm(%0, %1)", "f16[2, ?s, 8]; f32[2, ?s, 1]");
  GIVES("f16[2, 4, 8]; f16[8]", "layer_norm(%0, %1) {axis = 1, stash = \"f64\"}",
        "f16[2, 4, 8]; f64[2, 1, 1]; f64[2, 1, 1]");
  REFUSES("f16[2, 8]", "layer_norm(%0)", "f16[2, 8]; f16[2, 1]", "declared as f16[2, 1]");
  REFUSES("f16[2, 8]", "layer_norm(%0) {stash = \"real\"}", "f16[2, 8]",
          "stash is not an element type");
  GIVES("f16[2, 8]; f16[8]", "rms_norm(%0, %1) {stash = \"f32\"}", "f16[2, 8]");
}

TEST(BatchNormMayReturnStatistics) {
  const char* node = "batch_norm(%0, %1, %1, %1, %2) {training = true, momentum = 0.5}";
  GIVES("f16[2, 3, ?s]; f32[3]; f32[3]", node, "f16[2, 3, ?s]; f32[3]; f32[3]");
  GIVES("f32[2, 3, 4]; f32[3]; f32[3]", node, "f32[2, 3, 4]; f32[3]; f32[3]; f32[3]; f32[3]");
  GIVES("f32[7]; f32[1]; f32[1]", node, "f32[7]");
  REFUSES("f32[7]; f32[7]; f32[7]", node, "f32[7]", "operand 1 must have one dim, of 1 channels");
  REFUSES("f32[]; f32[1]; f32[1]", node, "f32[]", "operand 0 has rank 0, expected at least 1");
}

TEST(BatchNormMayUseStatisticsPerElement) {
  const char* node = "batch_norm(%0, %1, %1, %1, %1) {spatial = false}";
  GIVES("f32[2, 3, ?s]; f32[3, ?s]", node, "f32[2, 3, ?s]");
  REFUSES("f32[2, 3, 4]; f32[3]", node, "f32[2, 3, 4]",
          "operand 1 must have the dims of one sample");
  REFUSES("f32[2, 3, 4]; f32[3, 5]", node, "f32[2, 3, 4]", "the dims of one sample");
}

TEST(GroupNormScalesGroupsOrChannels) {
  GIVES("f32[1, 8, ?s]; f32[2]; f32[8]", "group_norm(%0, %1, %2) {groups = 2}", "f32[1, 8, ?s]");
  REFUSES("f32[1, 8, 4]; f32[4]", "group_norm(%0, %1) {groups = 2}", "f32[1, 8, 4]",
          "operand 1 must have one dim, of 8 channels");
}

// ---------------------------------------------------------------------------------------------
// Reductions

TEST(ReduceSupportsAllModes) {
  static const char* const ops[] = {"l1", "l2", "log_sum", "log_sum_exp", "sum_square"};
  for (size_t i = 0; i < COUNT(ops); ++i) {
    char node[96];
    snprintf(node, sizeof(node), "reduce(%%0) {op = \"%s\", axes = [1]}", ops[i]);
    GIVES("f32[2, 3, ?s]", node, "f32[2, 1, ?s]");
  }
}

TEST(ReduceOverNoAxesMayDoNothing) {
  GIVES("f32[2, ?s]", "reduce(%0) {noop_with_empty_axes = true}", "f32[2, ?s]");
  GIVES("f32[2, 3]", "reduce(%0) {axes = [0], noop_with_empty_axes = true}", "f32[1, 3]");
  GIVES("f32[2, 3]; i64[0]", "reduce(%0, %1) {keepdims = false}", "f32[]");
  GIVES("f32[2, 3]; i64[0]", "reduce(%0, %1) {noop_with_empty_axes = true}", "f32[2, 3]");
}

TEST(ReduceChecksItsAxesOperand) {
  REFUSES("f32[2, 3]; f32[1]", "reduce(%0, %1)", "f32[2, 3]", "operand 1 (axes) must be integers");
  REFUSES("f32[2, 3]; i64[1, 1]", "reduce(%0, %1)", "f32[2, 3]", "operand 1 (axes) has rank 2");
  REFUSES("f32[2, 3]; i64[3]", "reduce(%0, %1)", "f32[1, 1]", "operand 1 has 3 axes for rank 2");
  REFUSES("f32[2, 3]; i64[1]", "reduce(%0, %1) {axes = [1]}", "f32[2, 1]",
          "axes are given both as operand 1 and as an attribute");
}

// Reduces f32[2, ?s, 4] over constant axes; what it gives is declared.
static void check_axes(const char* data, const char* attrs, const char* type, const char* message) {
  char text[512];
  int size = snprintf(text, sizeof(text),
                      "graph @g {\n  %%0 = input \"x\" : f32[2, ?s, 4]\n"
                      "  %%1 = constant \"axes\" {data = [%s]} : i64[%d]\n"
                      "  %%2 = reduce(%%0, %%1) {%s} : %s\n  return %%2\n}\n",
                      data,
                      data[0] == '\0'             ? 0
                      : strchr(data, ',') == NULL ? 1
                                                  : 2,
                      attrs, type);
  stow_diag diag;
  stow_module* module = NULL;
  stow_diag_init(&diag);
  stow_status status =
      stow_module_parse(text, (size_t)size, NULL, NULL, stow_allocator_default(), &diag, &module);
  CHECK((status == STOW_OK) == (message == NULL));
  CHECK_HAS(diag.message, message == NULL ? "" : message);
  stow_module_destroy(module);
}

TEST(ReduceFollowsKnownAxes) {
  check_axes("0, -1", "op = \"max\"", "f32[1, ?s, 1]", NULL);
  check_axes("0, 2", "keepdims = false", "f32[?s]", NULL);
  check_axes("1", "keepdims = false", "f32[2, 4]", NULL);
  check_axes("1", "keepdims = false", "f32[2, 5]", "declared as f32[2, 5]");
  check_axes("3", "op = \"max\"", "f32[2]", "axis 3 is out of range for rank 3");
  check_axes("1, -2", "op = \"max\"", "f32[2]", "axis -2 is repeated");
}

TEST(ReduceWithUnknownAxesIsUpperBounded) {
  GIVES("f32[2, ?s]; i64[1]", "reduce(%0, %1)", "f32[2, ?s]");
  GIVES("f32[2, 3]; i64[]", "reduce(%0, %1) {keepdims = false}", "f32[3]");
  REFUSES_AS(STOW_ERR_DATA_DEPENDENT, "f32[2, 3]; i64[?n]", "reduce(%0, %1) {keepdims = false}",
             "f32[2]", "the number of reduced axes is unknown");
}

TEST(ArgminHasTheShapeOfArgmax) {
  GIVES("f32[2, ?s]", "argmin(%0) {select_last_index = true}", "i64[1, ?s]");
  GIVES("f32[2, 3]", "argmax(%0) {axis = -1, select_last_index = true}", "i64[2, 1]");
  REFUSES("f32[2, 3]", "argmin(%0) {axis = 2}", "i64[2, 3]", "axis 2 is out of range");
}

// ---------------------------------------------------------------------------------------------
// Contractions

TEST(GemmMultipliesMatrices) {
  GIVES("f32[2, 3]; f32[3, 4]", "gemm(%0, %1)", "f32[2, 4]");
  GIVES("f32[3, ?s]; f32[3, 4]; f32[4]", "gemm(%0, %1, %2) {trans_a = true}", "f32[?s, 4]");
  GIVES("f32[2, 3]; f32[4, 3]; f32[]", "gemm(%0, %1, %2) {trans_b = true, alpha = 0.5, beta = 0.0}",
        "f32[2, 4]");
  GIVES("f32[3, 2]; f32[4, 3]; f32[2, 1]", "gemm(%0, %1, %2) {trans_a = true, trans_b = true}",
        "f32[2, 4]");
  REFUSES("f32[2, 3]; f32[4, 3]", "gemm(%0, %1)", "f32[2, 3]", "a has 3 columns, but b has 4 rows");
  REFUSES("f32[2, 3]; f32[3, 4]", "gemm(%0, %1) {trans_b = true}", "f32[2, 3]", "b has 4 rows");
  REFUSES("f32[1, 2, 3]; f32[3, 4]", "gemm(%0, %1)", "f32[2, 4]",
          "operand 0 has rank 3, expected 2");
  REFUSES("f32[2, 3]; f32[3, 4]; f32[2]", "gemm(%0, %1, %2)", "f32[2, 4]",
          "operand 2 (c) has dim 2");
  REFUSES("f32[2, 3]; f16[3, 4]", "gemm(%0, %1)", "f32[2, 4]", "operand 1 is f16");
  BIND_REFUSES("f32[2, ?s]; f32[3, 4]", "gemm(%0, %1)", "f32[2, 4]", 5, "a has 5 columns");
}

TEST(QuantisedProductsHaveTheirOwnDtypes) {
  GIVES("u8[2, 3]; i8[3, 4]", "matmul_integer(%0, %1)", "i32[2, 4]");
  GIVES("u8[?b, 2, 3]; i8[3, 4]; u8[]; i8[4]", "matmul_integer(%0, %1, %2, %3)", "i32[?b, 2, 4]");
  REFUSES("f32[2, 3]; i8[3, 4]", "matmul_integer(%0, %1)", "i32[2, 4]",
          "must be integers, not f32");
  REFUSES("u8[2, 3]; i8[3, 4]; i8[]", "matmul_integer(%0, %1, %2)", "i32[2, 4]",
          "operand 0 is u8, but operand 2 is i8");
  const char* qlinear = "qlinear_matmul(%0, %1, %2, %3, %1, %4, %1, %5)";
  GIVES("u8[2, 3]; f32[]; u8[]; i8[3, ?s]; i8[]; i8[]", qlinear, "i8[2, ?s]");
  REFUSES("u8[2, 3]; f32[]; u8[]; i8[4, 4]; i8[]; i8[]", qlinear, "i8[2, 4]",
          "the first factor has 3 columns, but the second has 4 rows");
  REFUSES("u8[2, 3]; f32[]; i8[]; i8[3, 4]; i8[]; i8[]", qlinear, "i8[2, 4]",
          "operand 0 is u8, but operand 2 is i8");
}

TEST(DeterminantsNeedSquareMatrices) {
  GIVES("f32[3, 3]", "det(%0)", "f32[]");
  GIVES("f32[2, ?s, 3, 3]", "det(%0)", "f32[2, ?s]");
  REFUSES("f32[2, 3]", "det(%0)", "f32[]", "2 rows and 3 columns is not square");
  REFUSES("f32[2]", "det(%0)", "f32[]", "rank 1, expected at least 2");
}

TEST(EinsumFollowsItsEquation) {
  GIVES("f32[2, 3]; f32[3, 4]", "einsum(%0, %1) {equation = \"ij,jk->ik\"}", "f32[2, 4]");
  GIVES("f32[2, 3]; f32[3, 4]", "einsum(%0, %1) {equation = \" i j , j k \"}", "f32[2, 4]");
  GIVES("f32[2, 3]", "einsum(%0) {equation = \"ij->ji\"}", "f32[3, 2]");
  GIVES("f32[2, 3]", "einsum(%0) {equation = \"ba\"}", "f32[3, 2]");
  GIVES("f32[2, 3]", "einsum(%0) {equation = \"aB\"}", "f32[3, 2]");
  GIVES("f32[3, 3]", "einsum(%0) {equation = \"ii\"}", "f32[]");
  GIVES("f32[3, 3]", "einsum(%0) {equation = \"ii->i\"}", "f32[3]");
  GIVES("f32[2, 3]", "einsum(%0) {equation = \"ij->\"}", "f32[]");
  GIVES("f32[]", "einsum(%0) {equation = \"->\"}", "f32[]");
  GIVES("f32[?b, ?s, 8]; f32[?b, ?t, 8]", "einsum(%0, %1) {equation = \"bid,bjd->bij\"}",
        "f32[?b, ?s, ?t]");
  GIVES("f32[1, 3]; f32[2, 3]", "einsum(%0, %1) {equation = \"ij,ij->ij\"}", "f32[2, 3]");
  GIVES("f32[?s]; f32[4]", "einsum(%0, %1) {equation = \"i,i->i\"}", "f32[4]");
  GIVES("f32[2]; f32[3]; f32[4]", "einsum(%0, %1, %2) {equation = \"i,j,k->kij\"}", "f32[4, 2, 3]");
}

TEST(EinsumBroadcastsEllipses) {
  GIVES("f32[5, 1, 2, 3]; f32[7, 3, 4]", "einsum(%0, %1) {equation = \"...ij,...jk->...ik\"}",
        "f32[5, 7, 2, 4]");
  GIVES("f32[5, 2, 3]; f32[3]", "einsum(%0, %1) {equation = \"...ij,j\"}", "f32[5, 2]");
  GIVES("f32[2, 5, 6, 3]", "einsum(%0) {equation = \"a ... b -> b ... a\"}", "f32[3, 5, 6, 2]");
  GIVES("f32[2, 3]", "einsum(%0) {equation = \"...ij->...ij\"}", "f32[2, 3]");
}

TEST(EinsumRefusesMismatchedDims) {
  static const struct {
    const char* equation;
    const char* message;
  } cases[] = {{"ij,kj", "letter j stands for both 3 and 4"},
               {"", "operand 0 has rank 2, but its term has 0 letters"},
               {"ij", "the equation has 1 terms for 2 operands"},
               {"ijk,jk", "operand 0 has rank 2, but its term has 3 letters"},
               {"i,jk", "operand 0 has rank 2, but its term has 1 letters"},
               {"ij,jk->iz", "letter z of the result is in no operand"},
               {"ij,jk->ii", "letter i of the result is repeated"},
               {"ij,jk,kl", "cannot parse the equation at \",kl\""},
               {"ij,jk=ik", "cannot parse the equation at \"=ik\""},
               {"ij,j1", "its term has 1 letters"},
               {"..ij,jk", "operand 0 has rank 2"},
               {"ij,jk->i..", "cannot parse the equation at \"..\""},
               {"......ij,jk", "operand 0 has rank 2"}};
  for (size_t i = 0; i < COUNT(cases); ++i) {
    char node[128];
    snprintf(node, sizeof(node), "einsum(%%0, %%1) {equation = \"%s\"}", cases[i].equation);
    REFUSES("f32[2, 3]; f32[3, 4]", node, "f32[2, 4]", cases[i].message);
  }
  REFUSES("f32[2]; f16[2]", "einsum(%0, %1) {equation = \"i,i\"}", "f32[]", "operand 1 is f16");
  REFUSES("f32[2]", "einsum(%0, _, %0) {equation = \"i,i,i\"}", "f32[]", "operand 1 is missing");
}

TEST(EinsumRefusesTooLargeARank) {
  REFUSES("f32[1, 1, 1, 1, 1, 1, 1, 1, 1]; f32[1, 1, 1, 1, 1, 1, 1, 1]",
          "einsum(%0, %1) {equation = \"abcdefghi,jklmnopq\"}", "f32[1]", "more than 16 dims");
  REFUSES("f32[1, 1, 1, 1, 1, 1, 1, 1, 1]; f32[1, 1, 1, 1, 1, 1, 1, 1]",
          "einsum(%0, %1) {equation = \"...,jklmnopq->...jklmnopq\"}", "f32[1]",
          "more than 16 dims");
}

// ---------------------------------------------------------------------------------------------
// Losses and steps of training

TEST(LossesAreScalarsUnlessNotReduced) {
  GIVES("f16[2, 5]; i64[2]", "nll_loss(%0, %1)", "f16[]");
  GIVES("f32[2, 5, ?s]; i32[2, ?s]; f32[5]",
        "nll_loss(%0, %1, %2) {reduction = \"none\", ignore_index = 3}", "f32[2, ?s]");
  GIVES("f32[2, 5]; i64[2]", "softmax_cross_entropy(%0, %1) {reduction = \"sum\"}", "f32[]");
  GIVES("f32[2, 5, ?s]; i64[2, ?s]", "softmax_cross_entropy(%0, %1) {reduction = \"none\"}",
        "f32[2, ?s]; f32[2, 5, ?s]");
  REFUSES("f32[5]; i64[2]", "nll_loss(%0, %1)", "f32[]", "rank 1, expected at least 2");
  REFUSES("f32[2, 5]; f32[2]", "nll_loss(%0, %1)", "f32[]", "operand 1 (targets) must be integers");
  REFUSES("f32[2, 5]; i64[2, 5]", "nll_loss(%0, %1)", "f32[]", "has rank 2, expected 1");
  REFUSES("f32[2, 5, 6]; i64[2, 5]", "nll_loss(%0, %1)", "f32[]",
          "dim 1 of operand 1 (targets) is 5");
  REFUSES("f32[2, 5]; i64[2]; f32[2]", "nll_loss(%0, %1, %2)", "f32[]", "one dim, of 5 classes");
  REFUSES("f32[2, 5]; i64[2]", "nll_loss(%0, %1) {reduction = \"max\"}", "f32[]",
          "reduction is \"max\", not \"none\", \"sum\" or \"mean\"");
}

TEST(StepsOfTrainingUpdateTensors) {
  const char* momentum = "{alpha = 0.5, beta = 0.5, norm_coefficient = 0.0, mode = \"standard\"}";
  char node[160];
  snprintf(node, sizeof(node), "momentum(%%0, %%1, %%2, %%2, %%2) %s", momentum);
  GIVES("f32[]; i64[]; f32[2, ?s]", node, "f32[2, ?s]; f32[2, ?s]");
  GIVES("f32[]; i64[]; f32[2]", "adagrad(%0, %1, %2, %2, %2)", "f32[2]; f32[2]");
  GIVES("f32[]; i64[]; f32[2]; f32[3]", "adagrad(%0, %1, %2, %3, %2, %3, %2, %3)",
        "f32[2]; f32[3]; f32[2]; f32[3]");
  GIVES("f32[]; i64[]; f16[2]; f32[2]", "adam(%0, %1, %2, %2, %3, %3)", "f16[2]; f32[2]; f32[2]");
  REFUSES("f32[]; i64[]; f32[2]", "adam(%0, %1, %2, %2, %2, %2, %2)", "f32[2]; f32[2]; f32[2]",
          "there are 5 operands from operand 2 on, expected 4 for each tensor");
  REFUSES("f32[]; i64[]; f32[2]", "adagrad(%0, %1, %2, %2, %2)", "f32[2]; f32[2]; f32[2]",
          "expected 2 results for 1 tensors");
  REFUSES("f32[]; i64[]; f32[2]; f32[3]", "adagrad(%0, %1, %2, %3, %2)", "f32[2]; f32[2]",
          "operand 3 must have the dims of operand 2");
  REFUSES("f32[]; i64[]; f32[2]", "adagrad(%0, %1, %2, %2, %2, %2, %2, _)",
          "f32[2]; f32[2]; f32[2]; f32[2]", "operand 7 is missing");
}
