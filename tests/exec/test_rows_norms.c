// Normalisations: numbers of numpy, and of onnxruntime for the fused ones.
#include <math.h>

#include "exec/numbers.h"

#define X N(1, 2, 3, 4, 4, 3, 2, -1)

TEST(LayerNormOfRows) {
  REALS_GIVE("T[2, 4]", "layer_norm(%0)", "T[2, 4]", 0,
             N(-1.34163542, -0.447211807, 0.447211807, 1.34163542, 1.06904344, 0.53452172, 0,
               -1.603565161),
             X);
  REALS_GIVE(
      "T[2, 4]; T[4]; T[4]", "layer_norm(%0, %1, %2)", "T[2, 4]", 0,
      N(-1.34163542, -0.894423614, 0.25, 5.16654168, 1.06904344, 1.06904344, 0.25, -6.614260644), X,
      N(1, 2, 0, 4), N(0, 0, 0.25, -0.2));
  GIVES("f16[2, 4]", "layer_norm(%0)", "f16[2, 4]; f32[2, 1]; f32[2, 1]", 1, 0, N(2.5, 2), X);
  GIVES("f32[2, 4]", "layer_norm(%0)", "f32[2, 4]; f32[2, 1]; f32[2, 1]", 2, 1e-6,
        N(0.894423613, 0.53452172), X);
}

TEST(LayerNormOverSeveralDims) {
  double mean = 18 / 8.0;
  double var = 0;
  double out[8];
  for (size_t i = 0; i < 8; ++i) {
    var += (X.at[i] - mean) * (X.at[i] - mean) / 8;
  }
  for (size_t i = 0; i < 8; ++i) {
    out[i] = (X.at[i] - mean) / sqrt(var + 1e-5);
  }
  kernel_case* c = numbers_case("f32[2, 4]", "layer_norm(%0) {axis = 0}", "f32[2, 4]", GIVEN(X));
  kernel_case_gives(c, 0, out, 8, 1e-6, __FILE__, __LINE__);
  kernel_case_destroy(c);
}

// A scale that is repeated within a row, and one that differs between rows.
TEST(ScalesBroadcast) {
  GIVES("f32[1, 2, 2]; f32[2]", "layer_norm(%0, %1) {axis = 1}", "f32[1, 2, 2]", 0, 1e-6,
        N(-1.34163542, -0.894423614, 0.447211807, 2.68327084), N(1, 2, 3, 4), N(1, 2));
  GIVES("f32[2, 2]; f32[2, 1]", "rms_norm(%0, %1) {epsilon = 0.0}", "f32[2, 2]", 0, 1e-6,
        N(0.848528137, 1.131370850, 8.48528137, 11.3137085), N(3, 4, 3, 4), N(1, 10));
  GIVES("f32[2, 2]; f32[]", "rms_norm(%0, %1) {epsilon = 0.0}", "f32[2, 2]", 0, 1e-6,
        N(1.697056275, 2.262741700, 1.697056275, 2.262741700), N(3, 4, 3, 4), N(2));
}

TEST(RmsNorm) {
  REALS_GIVE("T[2, 4]", "rms_norm(%0)", "T[2, 4]", 0,
             N(0.365148128, 0.730296256, 1.095444385, 1.460592513, 1.460592513, 1.095444385,
               0.730296256, -0.365148128),
             X);
}

// The mean is large beside the deviation: sums in f32 would lose it.
TEST(LayerNormOfLongRowsFarFromZero) {
  enum { COUNT = 4096 };
  static double expected[COUNT];
  kernel_case* c =
      kernel_case_create("f32[1, 4096]", "layer_norm(%0) {epsilon = 0.0}", "f32[1, 4096]");
  float* x = kernel_case_operand(c, 0);
  for (size_t i = 0; i < COUNT; ++i) {
    x[i] = 4096.0F + (float)(i % 2);
    expected[i] = i % 2 == 0 ? -1 : 1;
  }
  kernel_case_gives(c, 0, expected, COUNT, 1e-5, __FILE__, __LINE__);
  kernel_case_destroy(c);
}

TEST(RowsWithoutElementsHaveMoments) {
  const char* node = "layer_norm(%0, %1) {axis = 0}";
  GIVES("f32[0, 3]; f32[0, 3]", node, "f32[0, 3]; f32[1, 1]; f32[1, 1]", 1, 0, N(NAN),
        (numbers){.count = 0}, (numbers){.count = 0});
  GIVES("f32[0, 3]; f32[0, 3]", node, "f32[0, 3]; f32[1, 1]; f32[1, 1]", 2, 0, N(NAN),
        (numbers){.count = 0}, (numbers){.count = 0});
}

TEST(LayerNormOfChannels) {
  numbers expected = N(-0.999997778, -0.999980001, 0.999980001, 0.9999992, 0.999997778, 0.999980001,
                       -0.999980001, -0.9999992);
  REALS_GIVE("T[1, 2, 2, 2]", "layer_norm_2d(%0)", "T[1, 2, 2, 2]", 0, expected, X);
  REALS_GIVE("T[1, 2, 4]; T[2]; T[2]", "layer_norm_2d(%0, %1, %2)", "T[1, 2, 4]", 0,
             N(-1.999995556, -1.999960002, 1.999960002, 1.9999984, 1.999997778, 1.999980001,
               0.000019999, 0.0000008),
             X, N(2, 1), N(0, 1));
  REALS_GIVE("T[2, 4]; T[4]", "layer_norm_2d(%0, %1)", "T[2, 4]", 0,
             N(-1.34163542, -0.894423614, 0, 5.36654168, 1.06904344, 1.06904344, 0, -6.414260644),
             X, N(1, 2, 0, 4));
}

TEST(InstanceAndGroupNorm) {
  REALS_GIVE("T[1, 2, 4]; T[2]; T[2]", "instance_norm(%0, %1, %2)", "T[1, 2, 4]", 0,
             N(-2.58327084, -0.794423614, 0.994423614, 2.78327084, 1.06904344, 0.53452172, 0,
               -1.603565161),
             X, N(2, 1), N(0.1, 0));
  REALS_GIVE("T[1, 4, 2]; T[4]; T[4]", "group_norm(%0, %1, %2) {groups = 2}", "T[1, 4, 2]", 0,
             N(-1.34163542, -0.447211807, 0.894423614, 2.68327084, 1.56904344, 1.03452172, 0,
               -4.810695483),
             X, N(1, 2, 1, 3), N(0, 0, 0.5, 0));
  REALS_GIVE("T[1, 4, 2]; T[2]; T[2]", "group_norm(%0, %1, %2) {groups = 2}", "T[1, 4, 2]", 0,
             N(-1.34163542, -0.447211807, 0.447211807, 1.34163542, 2.63808688, 1.56904344, 0.5,
               -2.707130322),
             X, N(1, 2), N(0, 0.5));
}

TEST(BatchNormByGivenStatistics) {
  REALS_GIVE("T[1, 2, 4]; T[2]", "batch_norm(%0, %1, %1, %1, %1) {epsilon = 0.0}", "T[1, 2, 4]", 0,
             N(1, 2, 3, 4, 4, 2, 0, -6), X, N(1, 4));
  REALS_GIVE("T[2, 4]; T[4]; T[4]", "batch_norm(%0, %1, %2, %2, %1) {epsilon = 0.0}", "T[2, 4]", 0,
             N(1, 1, 3, 7, 4, 3, 2, -3), X, N(1, 4, 1, 4), N(0, 3, -1, 1));
  GIVES("f32[2, 2, 2]; f32[2, 2]; f32[2, 2]",
        "batch_norm(%0, %1, %2, %2, %1) {epsilon = 0.0, spatial = false}", "f32[2, 2, 2]", 0, 1e-6,
        N(1, 1, 3, 7, 4, 3, 2, -3), X, N(1, 4, 1, 4), N(0, 3, -1, 1));
  GIVES("f32[3]; f32[1]", "batch_norm(%0, %1, %1, %1, %1) {epsilon = 0.0}", "f32[3]", 0, 1e-6,
        N(1, 2, 3), N(1, 2, 3), N(1));
}

// The batch's own statistics: as instance_norm for one sample. Running ones move by a tenth.
TEST(BatchNormInTraining) {
  const char* node = "batch_norm(%0, %1, %2, %2, %1) {training = true}";
  const char* results = "f32[1, 2, 4]; f32[2]; f32[2]; f32[2]; f32[2]";
  const char* operands = "f32[1, 2, 4]; f32[2]; f32[2]";
  numbers ones = N(1, 1);
  numbers zeros = N(0, 0);
  GIVES(operands, node, results, 0, 1e-6,
        N(-1.34163542, -0.447211807, 0.447211807, 1.34163542, 1.06904344, 0.53452172, 0,
          -1.603565161),
        X, ones, zeros);
  GIVES(operands, node, results, 1, 1e-6, N(0.25, 0.2), X, ones, zeros);
  GIVES(operands, node, results, 2, 1e-6, N(1.025, 1.25), X, ones, zeros);
  GIVES(operands, node, results, 3, 1e-6, N(2.5, 2), X, ones, zeros);
  GIVES(operands, node, results, 4, 1e-6, N(1.25, 3.5), X, ones, zeros);
  GIVES("f32[2, 4]; f32[4]; f32[4]", node, "f32[2, 4]; f32[4]; f32[4]", 0, 1e-6,
        N(-0.999997778, -0.999980001, 0.999980001, 0.9999992, 0.999997778, 0.999980001,
          -0.999980001, -0.9999992),
        X, N(1, 1, 1, 1), N(0, 0, 0, 0));
}

TEST(MeanVarianceNormOverAnyAxes) {
  REALS_GIVE("T[2, 4]", "mean_variance_norm(%0) {axes = [1]}", "T[2, 4]", 0,
             N(-1.341640786, -0.447213595, 0.447213595, 1.341640786, 1.069044968, 0.534522484, 0,
               -1.603567451),
             X);
  REALS_GIVE("T[2, 2, 2]", "mean_variance_norm(%0) {axes = [0, 2]}", "T[2, 2, 2]", 0,
             N(-1.341640786, -0.447213595, 0.534522484, 1.069044968, 1.341640786, 0.447213595, 0,
               -1.603567451),
             X);
  GIVES("f32[2, 2]", "mean_variance_norm(%0) {axes = [0]}", "f32[2, 2]", 0, 1e-6, N(-1, 0, 1, 0),
        N(1, 5, 3, 5));
}

TEST(LpNormAlongAnAxis) {
  REALS_GIVE("T[2, 4]", "lp_norm(%0)", "T[2, 4]", 0,
             N(0.182574186, 0.365148372, 0.547722558, 0.730296743, 0.730296743, 0.547722558,
               0.365148372, -0.182574186),
             X);
  REALS_GIVE("T[2, 4]", "lp_norm(%0) {axis = 0, p = 1}", "T[2, 4]", 0,
             N(0.2, 0.4, 0.6, 0.8, 0.8, 0.6, 0.4, -0.2), X);
  GIVES("f32[2, 2]", "lp_norm(%0) {p = 1}", "f32[2, 2]", 0, 1e-6, N(0, 0, -0.25, 0.75),
        N(0, 0, -1, 3));
  FAILS("f32[2]", "lp_norm(%0) {p = 3}", "f32[2]", "p is 3, expected 1 or 2", N(1, 2));
}

TEST(LrnOverChannels) {
  REALS_GIVE("T[1, 4, 2]", "lrn(%0) {size = 3, alpha = 0.1}", "T[1, 4, 2]", 0,
             N(0.805927449, 1.36346324, 1.878543151, 2.408584702, 2.408584702, 1.878543151,
               1.36346324, -0.805927449),
             X);
  REALS_GIVE("T[1, 4, 2]", "lrn(%0) {size = 3, alpha = 0.5, beta = 0.5, bias = 2.0}", "T[1, 4, 2]",
             0,
             N(0.522232968, 0.866025404, 1.192079121, 1.530184111, 1.530184111, 1.192079121,
               0.866025404, -0.522232968),
             X);
  // An even window reaches further after than before: 1 / (1 + (1 + 4) / 2).
  GIVES("f32[1, 2, 1]", "lrn(%0) {size = 2, alpha = 1.0, beta = 1.0}", "f32[1, 2, 1]", 0, 1e-6,
        N(0.285714286, 0.666666667), N(1, 2));
}

// ---------------------------------------------------------------------------------------------
// Fused

TEST(SkipNormIsOnnxruntimes) {
  const char* operands = "f32[1, 2, 4]; f32[1, 2, 4]; f32[4]; f32[4]; f32[4]";
  const char* node = "skip_norm(%0, %1, %2, %3, %4) {epsilon = 1e-5}";
  const char* results = "f32[1, 2, 4]; f32[1, 2, 1]; f32[1, 2, 1]; f32[1, 2, 4]";
#define SKIPPED                                                                 \
  N(1, 2, 3, 4, 4, 3, 2, -1), N(0.5, -0.5, 0.25, 0, 1, 1, 1, 1), N(1, 2, 3, 4), \
      N(0.1, 0.2, 0.3, 0.4), N(1, 0, -1, 0.5)
  GIVES(operands, node, results, 0, 1e-6,
        N(-0.069030158, -1.941048622, -0.883211076, 6.935832977, 1.486950636, 1.044230819,
          -1.328159332, -4.665384769),
        SKIPPED);
  GIVES(operands, node, results, 1, 1e-6, N(2.6875, 3.125), SKIPPED);
  GIVES(operands, node, results, 2, 1e-6, N(0.901494205, 0.482417583), SKIPPED);
  GIVES(operands, node, results, 3, 1e-6, N(2.5, 1.5, 2.25, 4.5, 6, 4, 2, 0.5), SKIPPED);
  GIVES(operands, "skip_norm(%0, %1, %2, _, %4) {op = \"rms\", epsilon = 1e-5}", results, 0, 1e-6,
        N(0.859866679, 1.031839967, 2.321640015, 6.19104004, 1.599999547, 2.133332729, 1.599999547,
          0.533333182),
        SKIPPED);
}

TEST(SkipNormOfASkipForAllSamples) {
  REALS_GIVE("T[2, 1, 4]; T[1, 4]", "skip_norm(%0, %1) {epsilon = 1e-5}", "T[2, 1, 4]", 0,
             N(-1.34163542, -0.447211807, 0.447211807, 1.34163542, 1.06904344, 0.53452172, 0,
               -1.603565161),
             N(0, 2, 2, 4, 3, 3, 1, -1), N(1, 0, 1, 0));
}

// Groups {1, 2, 4, 3} and {3, 4, 2, -1} of two pixels with four channels.
TEST(SkipGroupNormWithChannelsLast) {
  const char* node = "skip_group_norm(%0, %1, %2) {groups = 2, channels_last = true}";
  REALS_GIVE("T[1, 2, 4]; T[4]; T[4]", node, "T[1, 2, 4]", 0,
             N(-1.34163542, -0.894423614, 1.03452172, 1.06904344, 1.34163542, 0.894423614, 0.5,
               -1.603565161),
             N(1, 2, 3, 4, 4, 3, 2, -1), N(1, 2, 1, 1), N(0, 0, 0.5, 0));
}

TEST(SkipGroupNormAddsSkipAndBias) {
  const char* node = "skip_group_norm(%0, %1, %1, %2, %3) {groups = 1, activation = \"silu\"}";
  const char* results = "f32[1, 2, 2]; f32[1, 2, 2]";
  const char* operands = "f32[1, 2, 2]; f32[2]; f32[1, 2, 2]; f32[2]";
#define ADDED N(0, 1, 0, 1), N(1, 1), N(1, 1, 1, 1), N(0, 2)
  GIVES(operands, node, results, 1, 0, N(1, 2, 3, 4), ADDED);
  // silu(x + 1) of -1.34163542, -0.447211807, …
  GIVES(operands, node, results, 0, 1e-6, N(-0.141919545, 0.350900122, 1.171617754, 2.136196874),
        ADDED);
}

// One number for each channel of a sample, whatever the pixel.
TEST(SkipGroupNormOfASkipByChannel) {
  GIVES("f32[1, 2, 4]; f32[1, 4]",
        "skip_group_norm(%0, _, _, %1) {groups = 2, channels_last = true}",
        "f32[1, 2, 4]; f32[1, 2, 4]", 1, 0, N(1, 3, 3, 5, 4, 4, 2, 0), X, N(0, 1, 0, 1));
  FAILS("f32[1, 2, 4]; f32[1, 3]",
        "skip_group_norm(%0, _, _, %1) {groups = 2, channels_last = true}", "f32[1, 2, 4]",
        "skip must have the dims of x", X, N(0, 1, 0));
}

TEST(EmbedNormIsOnnxruntimes) {
  const char* operands =
      "i32[2, 3]; i32[2, 3]; f32[3, 4]; f32[3, 4]; f32[2, 4]; f32[4]; f32[4]; i32[2, 3]";
  const char* node = "embed_norm(%0, %1, %2, %3, %4, %5, %6, %7) {epsilon = 1e-5}";
  const char* results = "f32[2, 3, 4]; i32[2]; f32[2, 3, 4]";
#define EMBEDDED(ids)                                                                    \
  ids, N(0, 1, 0, 1, 1, 0), N(0, 0.1, 0.4, 0.9, 1.6, 2.5, 3.6, 4.9, 6.4, 8.1, 10, 12.1), \
      N(0.1, -0.2, 0.3, 0.4, 1, 0, -1, 0.5, 0.2, 0.2, 0.1, -0.3),                        \
      N(0.5, 0.25, -0.5, 0, 1, 2, -1, 0.5), N(1, 2, 0.5, 1), N(0.1, 0, -0.1, 0.2),       \
      N(1, 1, 0, 1, 1, 1)
  GIVES(operands, node, results, 0, 1e-6,
        N(-0.868168831, -1.353354454, -0.084384412, 1.813615203, 0.676756024, 1.281679869,
          -0.965134084, 0.712671995, -1.162435174, -0.831893265, -0.0014861, 1.68135488,
          -1.122957468, -0.025215233, -0.257597595, 1.750760436, -0.646739066, 0.199131176,
          -0.572934687, 1.793043852, -1.046948075, -0.744771183, -0.137238592, 1.793811679),
        EMBEDDED(N(1, 0, 2, 2, 2, 1)));
  GIVES(operands, node, results, 1, 0, N(2, 3), EMBEDDED(N(1, 0, 2, 2, 2, 1)));
  FAILS(operands, node, results, "id 3 is out of range (3 rows in operand 2)",
        EMBEDDED(N(1, 0, 2, 2, 3, 1)));
}

// Words of u8 with scale 0.1 and zero 10 are -1 and 1.
TEST(EmbedNormOfQuantizedTables) {
  GIVES("i32[1, 2]; u8[2, 2]; f32[1]; u8[1]",
        "embed_norm(%0, _, %1, _, _, _, _, _, _, %2, _, _, _, _, %3) {epsilon = 0.0}",
        "f32[1, 2, 2]; i32[1]; f32[1, 2, 2]", 2, 1e-6, N(2, 3, -1, 1), N(1, 0), N(0, 20, 30, 40),
        N(0.1), N(10));
}

TEST(SplitGeluHalvesRows) {
  REALS_GIVE("T[2, 4]; T[4]", "split_gelu(%0, %1)", "T[2, 2]", 0,
             N(3.62824517, 7.91873986, 9.328871642, -0.361789833), X, N(0.1, 0.2, 0.3, -0.4));
}

TEST(EmbedNormNeedsTables) {
  FAILS("i32[1, 2]; f32[2, 2]; f32[2]", "embed_norm(%0, _, %1, _, %2)", "f32[1, 2, 2]",
        "operand 4 has rank 1, expected 2", N(1, 0), N(1, 2, 3, 4), N(1, 2));
}

TEST(SkipGroupNormNeedsReals) {
  kernel_case* c = kernel_case_create("f32[1, 2, 1, 1]; c64[2]; f32[1, 2, 1, 1]",
                                      "skip_group_norm(%0, %1, %1, %2) {groups = 1}",
                                      "f32[1, 2, 1, 1]; f32[1, 2, 1, 1]");
  CHECK(kernel_case_run(c) == STOW_ERR_UNSUPPORTED);
  CHECK_HAS(kernel_case_message(c), "operand 1 is c64");
  kernel_case_destroy(c);
}
