// Losses and steps of training: numbers of ONNX's formulas, by hand or by numpy.
#include <math.h>

#include "exec/numbers.h"

#define LOGS N(-1, -2, -3, -0.5, -0.25, -4)

TEST(NllLossPicksTargets) {
  REALS_GIVE("T[2, 3]; i64[2]", "nll_loss(%0, %1) {reduction = \"none\"}", "T[2]", 0, N(3, 0.5),
             LOGS, N(2, 0));
  GIVES("f32[2, 3]; i32[2]", "nll_loss(%0, %1) {reduction = \"sum\"}", "f32[]", 0, 1e-6, N(3.5),
        LOGS, N(2, 0));
  GIVES("f32[2, 3]; i64[2]", "nll_loss(%0, %1)", "f32[]", 0, 1e-6, N(1.75), LOGS, N(2, 0));
}

TEST(NllLossWeighsAndIgnores) {
  const char* operands = "f32[2, 3]; i64[2]; f32[3]";
  numbers weight = N(0.5, 1, 2);
  GIVES(operands, "nll_loss(%0, %1, %2)", "f32[]", 0, 1e-6, N(6.25 / 2.5), LOGS, N(2, 0), weight);
  GIVES(operands, "nll_loss(%0, %1, %2) {ignore_index = 2}", "f32[]", 0, 1e-6, N(0.5), LOGS,
        N(2, 0), weight);
  GIVES(operands, "nll_loss(%0, %1, %2) {ignore_index = 7, reduction = \"none\"}", "f32[2]", 0,
        1e-6, N(0, 0.25), LOGS, N(7, 0), weight);
  GIVES(operands, "nll_loss(%0, %1, %2) {ignore_index = -5, reduction = \"sum\"}", "f32[]", 0, 1e-6,
        N(6), LOGS, N(2, -5), weight);
  FAILS(operands, "nll_loss(%0, %1, %2)", "f32[]", "target 3 is out of range (3 classes)", LOGS,
        N(3, 0), weight);
}

// Classes are the second of three dims.
TEST(NllLossOfImages) {
  GIVES("f32[1, 2, 3]; i64[1, 3]", "nll_loss(%0, %1) {reduction = \"none\"}", "f32[1, 3]", 0, 1e-6,
        N(0.5, 2, 4), LOGS, N(1, 0, 1));
}

#define SCORES N(1, 2, 3, 4, 4, 3, 2, -1)

TEST(CrossEntropyOfScores) {
  REALS_GIVE("T[2, 4]; i64[2]", "softmax_cross_entropy(%0, %1) {reduction = \"none\"}", "T[2]", 0,
             N(3.440189699, 1.412078307), SCORES, N(0, 1));
  GIVES("f32[2, 4]; i64[2]", "softmax_cross_entropy(%0, %1)", "f32[]; f32[2, 4]", 0, 1e-6,
        N(2.426134003), SCORES, N(0, 1));
  GIVES("f32[2, 4]; i64[2]", "softmax_cross_entropy(%0, %1)", "f32[]; f32[2, 4]", 1, 1e-6,
        N(-3.440189699, -2.440189699, -1.440189699, -0.440189699, -0.412078307, -1.412078307,
          -2.412078307, -5.412078307),
        SCORES, N(0, 1));
  GIVES("f32[1, 2, 4]; i64[1, 4]; f32[2]",
        "softmax_cross_entropy(%0, %1, %2) {reduction = \"sum\", ignore_index = 0}", "f32[]", 0,
        1e-6, N(2 * (0.048587352 + 5.006715348)), SCORES, N(1, 0, 0, 1), N(1, 2));
}

// ---------------------------------------------------------------------------------------------
// Steps

// Rate 0.1, step 3, two tensors of one and two elements.
#define STEPPED N(0.1), N(3), N(1), N(2, -1), N(0.5), N(-1, 2), N(0.25), N(0.5, 1)
#define TYPES "f32[]; i64[]; f32[1]; f32[2]; f32[1]; f32[2]; f32[1]; f32[2]"

TEST(AdagradSteps) {
  const char* node =
      "adagrad(%0, %1, %2, %3, %4, %5, %6, %7) {decay_factor = 0.5, epsilon = 0.01, "
      "norm_coefficient = 0.1}";
  const char* results = "f32[1]; f32[2]; f32[1]; f32[2]";
  double rate = 0.1 / (1 + 3 * 0.5);
  // Gradients are 0.6, and -0.8 and 1.9.
  GIVES(TYPES, node, results, 2, 1e-6, N(0.61), STEPPED);
  GIVES(TYPES, node, results, 3, 1e-6, N(1.14, 4.61), STEPPED);
  GIVES(TYPES, node, results, 0, 1e-6, N(1 - rate * 0.6 / (sqrt(0.61) + 0.01)), STEPPED);
  GIVES(TYPES, node, results, 1, 1e-6,
        N(2 + rate * 0.8 / (sqrt(1.14) + 0.01), -1 - rate * 1.9 / (sqrt(4.61) + 0.01)), STEPPED);
}

TEST(MomentumSteps) {
#define MOMENTUM(mode)                                                                      \
  "momentum(%0, %1, %2, %3, %4, %5, %6, %7) {alpha = 0.5, beta = 0.25, norm_coefficient = " \
  "0.1, mode = \"" mode "\"}"
  const char* results = "f32[1]; f32[2]; f32[1]; f32[2]";
  GIVES(TYPES, MOMENTUM("standard"), results, 2, 1e-6, N(0.275), STEPPED);
  GIVES(TYPES, MOMENTUM("standard"), results, 3, 1e-6, N(0.05, 0.975), STEPPED);
  GIVES(TYPES, MOMENTUM("standard"), results, 1, 1e-6, N(1.995, -1.0975), STEPPED);
  GIVES(TYPES, MOMENTUM("nesterov"), results, 0, 1e-6, N(1 - 0.1 * (0.6 + 0.5 * 0.275)), STEPPED);
  // Before the first step the gradient counts as it is.
  GIVES("f32[]; i64[]; f16[1]; f16[1]; f16[1]",
        "momentum(%0, %1, %2, %3, %4) {alpha = 0.5, beta = 0.25, norm_coefficient = 0.0, mode = "
        "\"standard\"}",
        "f16[1]; f16[1]", 1, 1e-3, N(0.75), N(0.1), N(0), N(1), N(0.5), N(0.5));
}

TEST(AdamSteps) {
  const char* operands = "f32[]; i64[]; T[2]; T[2]; T[2]; T[2]";
  const char* node =
      "adam(%0, %1, %2, %3, %4, %5) {alpha = 0.5, beta = 0.75, epsilon = 0.01, "
      "norm_coefficient_post = 0.1}";
  const char* results = "T[2]; T[2]; T[2]";
#define ADAM N(0.1), N(2), N(1, 2), N(0.5, -1), N(0.25, 0), N(1, 4)
  double rate = 0.1 * sqrt(1 - 0.75 * 0.75) / (1 - 0.25);
  REALS_GIVE(operands, node, results, 1, N(0.375, -0.5), ADAM);
  REALS_GIVE(operands, node, results, 2, N(0.8125, 3.25), ADAM);
  GIVES("f32[]; i64[]; f32[2]; f32[2]; f32[2]; f32[2]", node, "f32[2]; f32[2]; f32[2]", 0, 1e-6,
        N(0.9 * (1 - rate * 0.375 / (sqrt(0.8125) + 0.01)),
          0.9 * (2 + rate * 0.5 / (sqrt(3.25) + 0.01))),
        ADAM);
}

TEST(StepsOfIntegersAreRefused) {
  FAILS("f32[]; i64[]; i32[1]; i32[1]; i32[1]", "adagrad(%0, %1, %2, %3, %4)", "i32[1]; i32[1]",
        "expected f16, bf16, f32 or f64", N(1), N(1), N(1), N(1), N(1));
}
