// Tests of the shapes of elementwise ops.
#include <string.h>

#include "graph/shape_cases.h"
#include "support/test.h"

TEST(UnaryOpsKeepTheType) {
  static const char* const nodes[] = {"relu(%0)",
                                      "gelu(%0)",
                                      "silu(%0)",
                                      "sigmoid(%0)",
                                      "tanh(%0)",
                                      "exp(%0)",
                                      "log(%0)",
                                      "sqrt(%0)",
                                      "rsqrt(%0)",
                                      "neg(%0)",
                                      "abs(%0)",
                                      "erf(%0)",
                                      "sin(%0)",
                                      "cos(%0)",
                                      "floor(%0)",
                                      "ceil(%0)",
                                      "round(%0)",
                                      "sign(%0)",
                                      "elu(%0)",
                                      "reciprocal(%0)",
                                      "clip(%0)",
                                      "softplus(%0)",
                                      "leaky_relu(%0)",
                                      "hard_swish(%0)",
                                      "hard_sigmoid(%0)",
                                      "leaky_relu(%0) {alpha = 0x1p-3}",
                                      "hard_sigmoid(%0) {alpha = 0x1p-2, beta = 0x1p-2}",
                                      "gelu(%0) {approximate = \"tanh\"}"};
  for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); ++i) {
    GIVES("f16[2, ?s, 0]", nodes[i], "f16[2, ?s, 0]");
    GIVES("f32[]", nodes[i], "f32[]");
    REFUSES("f32[2]", nodes[i], "f32[3]", "declared as f32[3]");
  }
}

TEST(GeluChecksItsApproximation) {
  REFUSES("f32[2]", "gelu(%0) {approximate = \"fast\"}", "f32[2]",
          "approximate is \"fast\", not \"none\" or \"tanh\"");
}

TEST(NotIsForBool) {
  GIVES("bool[2]", "not(%0)", "bool[2]");
  REFUSES("i8[2]", "not(%0)", "i8[2]", "operand 0 must be bool, not i8");
}

TEST(BinaryOpsBroadcast) {
  static const char* const nodes[] = {
      "add(%0, %1)", "sub(%0, %1)", "mul(%0, %1)", "div(%0, %1)",
      "mod(%0, %1)", "max(%0, %1)", "min(%0, %1)", "mod(%0, %1) {fmod = true}"};
  for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); ++i) {
    GIVES("f32[2, 3]; f32[2, 3]", nodes[i], "f32[2, 3]");
    GIVES("f32[2, 3]; f32[]", nodes[i], "f32[2, 3]");
    GIVES("f32[]; f32[]", nodes[i], "f32[]");
    GIVES("f32[3]; f32[2, 1]", nodes[i], "f32[2, 3]");
    GIVES("f32[1, 5, 1]; f32[4, 1, 6]", nodes[i], "f32[4, 5, 6]");
    GIVES("f32[0, 1]; f32[1, 7]", nodes[i], "f32[0, 7]");
    REFUSES("f32[2, 3]; f32[2, 4]", nodes[i], "f32[2, 3]", "dims 3 and 4, at 1 from the end");
    REFUSES("f32[2, 3]; f16[2, 3]", nodes[i], "f32[2, 3]",
            "operand 0 is f32, but operand 1 is f16");
    REFUSES("f32[0]; f32[2]", nodes[i], "f32[0]", "dims 0 and 2");
  }
}

TEST(SymbolicDimsBroadcast) {
  GIVES("f32[?s, 3]; f32[?s, 1]", "add(%0, %1)", "f32[?s, 3]");
  GIVES("f32[?s]; f32[1]", "add(%0, %1)", "f32[?s]");
  GIVES("f32[1]; f32[?(s + 2)]", "add(%0, %1)", "f32[?(s + 2)]");
  GIVES("f32[?s]; f32[4]", "add(%0, %1)", "f32[4]");
  GIVES("f32[4]; f32[?s]", "add(%0, %1)", "f32[4]");
  GIVES("f32[?(s + t)]; f32[?(t + s)]", "add(%0, %1)", "f32[?(s + t)]");
  GIVES("f32[?t]; f32[?s]", "add(%0, %1)", "f32[?s]");
  GIVES("f32[?(s + t)]; f32[?total]", "add(%0, %1)", "f32[?(s + t)]");
  GIVES("f32[?(2*s)]; f32[?(s + t)]", "add(%0, %1)", "f32[?(2*s)]");
}

TEST(BindingDecidesWhetherASymbolBroadcasts) {
  BINDS("f32[?s]; f32[4]", "add(%0, %1)", "f32[4]", 1, "f32[4]");
  BINDS("f32[?s]; f32[4]", "add(%0, %1)", "f32[4]", 4, "f32[4]");
  BINDS("f32[?s]; f32[1]", "add(%0, %1)", "f32[?s]", 9, "f32[9]");
  BIND_REFUSES("f32[?s]; f32[4]", "add(%0, %1)", "f32[4]", 3, "dims 3 and 4");
  BINDS("f32[?s]; f32[?(2*s)]", "add(%0, %1)", "f32[?(2*s)]", 1, "f32[2]");
  BIND_REFUSES("f32[?s]; f32[?(2*s)]", "add(%0, %1)", "f32[?(2*s)]", 2, "dims 2 and 4");
}

TEST(LogicalOpsTakeBoolAndIntegers) {
  static const char* const nodes[] = {"and(%0, %1)", "or(%0, %1)", "xor(%0, %1)"};
  for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); ++i) {
    GIVES("bool[2]; bool[1]", nodes[i], "bool[2]");
    GIVES("i32[2]; i32[3, 1]", nodes[i], "i32[3, 2]");
    GIVES("u8[2]; u8[]", nodes[i], "u8[2]");
    REFUSES("f32[2]; f32[2]", nodes[i], "f32[2]", "must be bool or integers, not f32");
    REFUSES("c64[2]; c64[2]", nodes[i], "c64[2]", "must be bool or integers, not c64");
    REFUSES("bool[2]; i8[2]", nodes[i], "bool[2]", "operand 0 is bool, but operand 1 is i8");
  }
}

TEST(ComparisonsGiveBool) {
  static const char* const nodes[] = {"eq(%0, %1)", "ne(%0, %1)", "lt(%0, %1)",
                                      "le(%0, %1)", "gt(%0, %1)", "ge(%0, %1)"};
  for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); ++i) {
    GIVES("f32[2, 1]; f32[3]", nodes[i], "bool[2, 3]");
    GIVES("i64[]; i64[?s]", nodes[i], "bool[?s]");
    REFUSES("f32[2]; f32[2]", nodes[i], "f32[2]", "declared as f32[2]");
    REFUSES("f32[2]; i32[2]", nodes[i], "bool[2]", "operand 0 is f32, but operand 1 is i32");
    REFUSES("f32[2]; f32[3]", nodes[i], "bool[2]", "dims 2 and 3");
  }
}

TEST(WhereBroadcastsAllThree) {
  GIVES("bool[2, 1]; f32[3]; f32[]", "where(%0, %1, %2)", "f32[2, 3]");
  GIVES("bool[4, 2, 3]; f32[3]; f32[2, 1]", "where(%0, %1, %2)", "f32[4, 2, 3]");
  GIVES("bool[?s]; f32[]; f32[]", "where(%0, %1, %2)", "f32[?s]");
  REFUSES("i8[2]; f32[2]; f32[2]", "where(%0, %1, %2)", "f32[2]", "operand 0 must be bool");
  REFUSES("bool[2]; f32[2]; f16[2]", "where(%0, %1, %2)", "f32[2]", "operand 1 is f32");
  REFUSES("bool[5]; f32[2]; f32[2]", "where(%0, %1, %2)", "f32[2]", "dims 2 and 5");
  REFUSES("bool[2]; f32[2]; f32[3]", "where(%0, %1, %2)", "f32[2]", "dims 2 and 3");
}

TEST(ClipTakesOptionalScalars) {
  GIVES("f32[2]; f32[]", "clip(%0, %1)", "f32[2]");
  GIVES("f32[2]; f32[]", "clip(%0, _, %1)", "f32[2]");
  GIVES("f32[?s]; f32[]; f32[]", "clip(%0, %1, %2)", "f32[?s]");
  GIVES("f32[2]; f32[1]", "clip(%0, %1)", "f32[2]");
  REFUSES("f32[2]; f32[2]", "clip(%0, %1)", "f32[2]", "operand 1 (a bound) must have one element");
  REFUSES("f32[2]; f32[1, 1]", "clip(%0, %1)", "f32[2]",
          "operand 1 (a bound) must have one element");
  REFUSES("f32[2]; f16[]", "clip(%0, _, %1)", "f32[2]", "operand 2 is f16");
}

TEST(RopeTurnsPairs) {
  GIVES("f32[1, 4, 2, 8]; f32[4, 4]; f32[4, 4]", "rope(%0, %1, %2)", "f32[1, 4, 2, 8]");
  GIVES("f16[1, ?s, 2, 8]; f16[64, 4]; f16[64, 4]; i64[1, ?s]", "rope(%0, %1, %2, %3)",
        "f16[1, ?s, 2, 8]");
  GIVES("f32[4, ?d]; f32[4, ?e]; f32[4, ?e]", "rope(%0, %1, %2)", "f32[4, ?d]");
  GIVES("f32[4, 8]; f32[4, 2]; f32[4, 2]", "rope(%0, %1, %2) {interleaved = true, rotary_dim = 4}",
        "f32[4, 8]");
  REFUSES("f32[4, 8]; f32[4, 8]; f32[4, 8]", "rope(%0, %1, %2)", "f32[4, 8]",
          "the tables' last dim is 8, expected half of 8");
  REFUSES("f32[4, 8]; f32[4, 4]; f32[2, 4]", "rope(%0, %1, %2)", "f32[4, 8]", "different types");
  REFUSES("f32[8]; f32[4]; f32[4]", "rope(%0, %1, %2)", "f32[8]",
          "operand 0 has rank 1, expected at least 2");
  REFUSES("f32[4, 8]; f32[]; f32[]", "rope(%0, %1, %2)", "f32[4, 8]",
          "operand 1 has rank 0, expected at least 1");
  REFUSES("f32[4, 8]; f32[4, 4]; f32[4, 4]; f32[4]", "rope(%0, %1, %2, %3)", "f32[4, 8]",
          "operand 3 (positions) must be integers, not f32");
  REFUSES("f32[4, 8]; f32[4, 4]; f32[4, 4]", "rope(%0, %1, %2) {rotary_dim = 10}", "f32[4, 8]",
          "rotary_dim 10 must be even, from 0 to the last dim, 8");
  REFUSES("f32[4, 8]; f32[4, 4]; f32[4, 4]", "rope(%0, %1, %2) {rotary_dim = 3}", "f32[4, 8]",
          "rotary_dim 3 must be even, from 0 to the last dim, 8");
}
