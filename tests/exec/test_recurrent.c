// Recurrent layers against numbers of onnxruntime.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "exec/kernel_case.h"
#include "exec/kernels/recurrent/bytes.h"
#include "exec/kernels/support/fma.h"
#include "support/test.h"

TEST(RnnCarriesState) {
  kernel_case* c =
      kernel_case_create("f32[3, 2, 2]; f32[1, 2, 2]; f32[1, 2, 2]; f32[1, 4]; f32[1, 2, 2]",
                         "rnn(%0, %1, %2, %3, _, %4)", "f32[3, 1, 2, 2]; f32[1, 2, 2]");
  KERNEL_SET(c, 0, float, 0.125F, -1, -1.375F, -0.875F, -0.375F, -0.375F, -1.5F, -1.25F, -1.25F,
             -1.125F, 0.875F, -1.5F);
  KERNEL_SET(c, 1, float, -0.5F, 1.375F, -0.375F, -0.375F);
  KERNEL_SET(c, 2, float, 0.75F, 0.375F, -0.75F, -0.125F);
  KERNEL_SET(c, 3, float, 0, 0.75F, -0.25F, 1);
  KERNEL_SET(c, 5, float, -0.25F, -0.375F, -0.5F, 0.125F);
  KERNEL_GIVES(c, 0, 1e-5, -0.965115, 0.9805831, -0.7982427, 0.99457, -0.7325658, 0.9897146,
               -0.8945936, 0.9970311, -0.8740902, 0.9956678, -0.9954979, 0.9874061);
  KERNEL_GIVES(c, 1, 1e-5, -0.8740902, 0.9956678, -0.9954979, 0.9874061);
  kernel_case_destroy(c);
}

TEST(RnnGoesBothWays) {
  kernel_case* c = kernel_case_create(
      "f32[3, 2, 2]; f32[2, 2, 2]; f32[2, 2, 2]; i32[2]",
      "rnn(%0, %1, %2, _, %3) {direction = \"bidirectional\", activations = [\"Relu\", "
      "\"Affine\"], activation_alpha = [0.5], activation_beta = [0.25]}",
      "f32[3, 2, 2, 2]; f32[2, 2, 2]");
  KERNEL_SET(c, 0, float, 0.125F, -1, -1.375F, -0.875F, -0.375F, -0.375F, -1.5F, -1.25F, -1.25F,
             -1.125F, 0.875F, -1.5F);
  KERNEL_SET(c, 1, float, -0.125F, -1.25F, -0.25F, -0.625F, 0, -0.875F, 1.125F, -0.625F);
  KERNEL_SET(c, 2, float, 0, -0.5F, 0.25F, 0.25F, -0.375F, -0.5F, 0.625F, -0.5F);
  KERNEL_SET(c, 4, int32_t, 3, 2);
  KERNEL_GIVES(c, 0, 1e-5, 1.234375, 0.59375, 1.265625, 0.890625, 0.5278015, 0.6232605, 0.5341797,
               0.04980469, 0.21875, 0.7851562, 1.304688, 1.695312, 0.300293, 0.4135742, 0.796875,
               -0.203125, 1.169922, 1.266602, 0, 0, 0.7421875, -0.1015625, 0, 0);
  KERNEL_GIVES(c, 1, 1e-5, 1.169922, 1.266602, 1.304688, 1.695312, 0.5278015, 0.6232605, 0.5341797,
               0.04980469);
  kernel_case_destroy(c);
}

TEST(GruResetsBeforeProduct) {
  kernel_case* c = kernel_case_create("f32[3, 2, 2]; f32[1, 6, 2]; f32[1, 6, 2]; f32[1, 12]",
                                      "gru(%0, %1, %2, %3)", "f32[3, 1, 2, 2]; f32[1, 2, 2]");
  KERNEL_SET(c, 0, float, 0.125F, -1, -1.375F, -0.875F, -0.375F, -0.375F, -1.5F, -1.25F, -1.25F,
             -1.125F, 0.875F, -1.5F);
  KERNEL_SET(c, 1, float, -0.125F, 1, -1.5F, -1.5F, -0.125F, -1.5F, 0.25F, -1.375F, -0.875F, 1.125F,
             0, 0.375F);
  KERNEL_SET(c, 2, float, -0.875F, 0.75F, -1, 1.375F, -1.375F, -0.875F, 1.25F, 1.375F, -0.875F,
             -0.75F, 1.5F, 0);
  KERNEL_SET(c, 3, float, 0.625F, 0.625F, 0.25F, 0.875F, -1, -0.75F, -1.125F, -0.125F, -1.5F,
             -1.375F, -0.625F, -0.625F);
  KERNEL_GIVES(c, 0, 1e-5, -0.8145262, -0.1321091, -0.6819397, -0.01902697, -0.8312982, -0.2124014,
               -0.7927251, -0.02394936, -0.8108508, -0.220164, -0.9584846, -0.1210388);
  KERNEL_GIVES(c, 1, 1e-5, -0.8108508, -0.220164, -0.9584846, -0.1210388);
  kernel_case_destroy(c);
}

TEST(GruResetsAfterProduct) {
  kernel_case* c = kernel_case_create(
      "f32[3, 2, 2]; f32[1, 6, 2]; f32[1, 6, 2]; f32[1, 12]; i32[2]; f32[1, 2, 2]",
      "gru(%0, %1, %2, %3, %4, %5) {linear_before_reset = true, direction = \"reverse\", clip = "
      "0.5}",
      "f32[3, 1, 2, 2]; f32[1, 2, 2]");
  KERNEL_SET(c, 0, float, 0.125F, -1, -1.375F, -0.875F, -0.375F, -0.375F, -1.5F, -1.25F, -1.25F,
             -1.125F, 0.875F, -1.5F);
  KERNEL_SET(c, 1, float, 1, 1.5F, -0.625F, 1.25F, 1.125F, 0.25F, 0.125F, 0.875F, -1.25F, 1.25F, -1,
             -0.5F);
  KERNEL_SET(c, 2, float, 1.125F, 1.5F, -1.25F, -0.125F, 1.25F, -1.125F, 0, 0.125F, -1.5F, 0.25F,
             -0.125F, 0.625F);
  KERNEL_SET(c, 3, float, 1, 0.5F, 1.375F, -1.375F, 1, 0.375F, 1.375F, 1.375F, 0.25F, 0.5F, 0.25F,
             1.5F);
  KERNEL_SET(c, 4, int32_t, 3, 2);
  KERNEL_SET(c, 5, float, -1, 0, 1.125F, 1);
  KERNEL_GIVES(c, 0, 1e-5, -0.04213857, 0.3565044, 0.7189548, 0.6039782, 0.1185142, 0.2830673,
               0.8747348, 0.693486, -0.08989158, 0.174468, 0, 0);
  KERNEL_GIVES(c, 1, 1e-5, -0.04213857, 0.3565044, 0.7189548, 0.6039782);
  kernel_case_destroy(c);
}

TEST(LstmKeepsCell) {
  kernel_case* c = kernel_case_create(
      "f32[3, 2, 2]; f32[1, 8, 2]; f32[1, 8, 2]; f32[1, 16]; i32[2]; f32[1, 2, 2]; f32[1, 2, 2]; "
      "f32[1, 6]",
      "lstm(%0, %1, %2, %3, %4, %5, %6, %7)", "f32[3, 1, 2, 2]; f32[1, 2, 2]; f32[1, 2, 2]");
  KERNEL_SET(c, 0, float, 0.125F, -1, -1.375F, -0.875F, -0.375F, -0.375F, -1.5F, -1.25F, -1.25F,
             -1.125F, 0.875F, -1.5F);
  KERNEL_SET(c, 1, float, -0.375F, -1.125F, -0.5F, 1.25F, -0.625F, -0.25F, -1, 1.125F, -0.125F,
             -0.5F, -1.25F, 0.375F, -0.125F, 1.125F, 1.375F, 0.625F);
  KERNEL_SET(c, 2, float, -1.125F, 0.375F, 1.125F, 1.5F, -0.625F, -1.25F, -0.875F, -1.25F, 0.375F,
             0.125F, -0.125F, 1.375F, -1, 0.625F, 1.5F, -0.625F);
  KERNEL_SET(c, 3, float, 0.125F, -1.25F, -0.5F, -0.125F, 0.75F, 0, 0.875F, -0.125F, -1, 0.375F,
             -1.125F, -0.75F, 1.25F, 1.25F, 1, -0.625F);
  KERNEL_SET(c, 4, int32_t, 3, 2);
  KERNEL_SET(c, 5, float, 0.5F, -1.25F, 0.875F, -0.5F);
  KERNEL_SET(c, 6, float, -1, 1.375F, 0, -1.125F);
  KERNEL_SET(c, 7, float, 0.5F, -0.75F, 0.5F, 1.375F, -0.5F, -0.5F);
  KERNEL_GIVES(c, 0, 1e-5, -0.2548642, 0.0670041, -0.01728948, -0.06127297, -0.09951263,
               -0.0009403437, 0.1701745, -0.04223976, -0.05337273, -0.03940067, 0, 0);
  KERNEL_GIVES(c, 1, 1e-5, -0.05337273, -0.03940067, 0.1701745, -0.04223976);
  KERNEL_GIVES(c, 2, 1e-5, -0.1491999, -0.1482471, 0.374905, -1.7197);
  kernel_case_destroy(c);
}

TEST(LstmGoesBothWays) {
  kernel_case* c = kernel_case_create("f32[2, 1, 2]; f32[2, 8, 2]; f32[2, 8, 2]; f32[2, 16]",
                                      "lstm(%0, %1, %2, %3) {direction = \"bidirectional\"}",
                                      "f32[2, 2, 1, 2]; f32[2, 1, 2]; f32[2, 1, 2]");
  KERNEL_SET(c, 0, float, -1, 1.125F, -0.5F, -1.375F);
  KERNEL_SET(c, 1, float, -0.25F, 1.25F, -1.25F, -0.875F, 1.375F, -1, -1.25F, 0.75F, -1.375F, 1.5F,
             1.125F, 1.375F, 0.625F, 0.75F, -1.125F, 1.25F, 1.375F, 1.5F, 0.375F, 0.125F, -1,
             -1.125F, 0.375F, 1.125F, 0.625F, -0.375F, 0.375F, -0.625F, -1.5F, 0, 1.375F, -1.5F);
  KERNEL_SET(c, 2, float, -0.75F, -1.5F, -0.375F, -0.75F, -1, 0.25F, 1.125F, 0.75F, 1.25F, 1.375F,
             1, 1, -1.375F, 1.375F, -1.375F, 0.375F, 1.5F, 0.75F, 0.75F, 0.25F, -0.625F, -1.25F,
             0.5F, -1.375F, 0.125F, 0.875F, -1, -0.875F, 1.25F, 0.875F, 0.625F, -0.125F);
  KERNEL_SET(c, 3, float, 1.375F, -1.5F, -0.75F, 0.25F, -1.375F, -0.125F, 0.125F, -1.375F, -1,
             -0.75F, 1.375F, -0.625F, 0.5F, -0.5F, -0.625F, 0.625F, 1, -1, -1, -0.125F, 0, 0.375F,
             0.5F, 1.375F, 1.25F, -1.25F, -0.875F, -1.375F, 1.375F, -1, 0.5F, -0.875F);
  KERNEL_GIVES(c, 0, 1e-5, -0.03159885, 0.09640712, 0.07717337, -0.02887109, -0.1713811, -0.1103369,
               0.1852046, 0.002474177);
  KERNEL_GIVES(c, 1, 1e-5, -0.1713811, -0.1103369, 0.07717337, -0.02887109);
  KERNEL_GIVES(c, 2, 1e-5, -0.2184169, -0.3570778, 1.145751, -0.0775969);
  kernel_case_destroy(c);
}

TEST(LstmCouplesGates) {
  kernel_case* c = kernel_case_create("f32[2, 1, 2]; f32[1, 8, 2]; f32[1, 8, 2]",
                                      "lstm(%0, %1, %2) {input_forget = true, clip = 0.75}",
                                      "f32[2, 1, 1, 2]; f32[1, 1, 2]; f32[1, 1, 2]");
  KERNEL_SET(c, 0, float, -0.875F, -1, 1.375F, -1.375F);
  KERNEL_SET(c, 1, float, 1.125F, -0.875F, -1.5F, -0.875F, -0.5F, -0.125F, 0.25F, 0.5F, 0.25F,
             -0.375F, -0.625F, -1, -0.25F, -1.25F, -0.125F, -0.75F);
  KERNEL_SET(c, 2, float, 0.375F, -1, 0.25F, 0, -0.125F, 1.125F, -0.25F, 0.625F, -1.25F, -0.875F,
             0.25F, -1.5F, 1.5F, -1.375F, 0.5F, -0.25F);
  KERNEL_GIVES(c, 0, 1e-5, 0.1857059, 0.1331885, 0.1953619, 0.1947906);
  KERNEL_GIVES(c, 1, 1e-5, 0.1953619, 0.1947906);
  KERNEL_GIVES(c, 2, 1e-5, 0.527698, 0.4967532);
  kernel_case_destroy(c);
}

TEST(LstmTakesOtherActivations) {
  kernel_case* c =
      kernel_case_create("f32[2, 1, 2]; f32[1, 8, 2]; f32[1, 8, 2]",
                         "lstm(%0, %1, %2) {activations = [\"HardSigmoid\", \"Elu\", "
                         "\"Softsign\"], activation_alpha = [0.25, 0.5], activation_beta = [0.5]}",
                         "f32[2, 1, 1, 2]; f32[1, 1, 2]; f32[1, 1, 2]");
  KERNEL_SET(c, 0, float, 0.875F, -0.375F, 1.5F, 0.625F);
  KERNEL_SET(c, 1, float, -1.375F, -1.25F, -0.625F, -0.75F, 1.125F, 0.625F, 0.875F, 0.25F, -1.125F,
             0, 0.5F, 1.25F, -0.375F, -1.25F, -0.75F, -1);
  KERNEL_SET(c, 2, float, -0.625F, 0.25F, 0.375F, 0.25F, -1.5F, 1.5F, -0.625F, 1.5F, -1.5F, 0.25F,
             0.625F, 0.75F, 1, 0.625F, -0.875F, -1.125F);
  KERNEL_GIVES(c, 0, 1e-5, 0.02928695, -0.03371082, 0.00287357, -0.08302473);
  KERNEL_GIVES(c, 1, 1e-5, 0.00287357, -0.08302473);
  KERNEL_GIVES(c, 2, 1e-5, 0.002893729, -0.1082538);
  kernel_case_destroy(c);
}

TEST(LstmTakesBatchFirst) {
  kernel_case* c = kernel_case_create("f32[2, 3, 2]; f32[1, 8, 2]; f32[1, 8, 2]; f32[1, 16]",
                                      "lstm(%0, %1, %2, %3) {batch_first = true}",
                                      "f32[2, 3, 1, 2]; f32[2, 1, 2]; f32[2, 1, 2]");
  KERNEL_SET(c, 0, float, 0.5F, 0.375F, 0, -0.625F, -1.25F, -0.5F, -0.5F, -1.125F, -1.5F, -1.5F,
             0.375F, 1.125F);
  KERNEL_SET(c, 1, float, 0.5F, 0.625F, -0.625F, 0.75F, 0.75F, -0.625F, -1.5F, -0.25F, 1.25F, -1,
             -0.75F, 0.375F, -0.75F, 1, -0.25F, 0.875F);
  KERNEL_SET(c, 2, float, -1, 1.375F, -0.5F, -0.75F, -0.25F, 0.625F, -0.625F, -1.125F, 0.875F,
             0.125F, 1.375F, -1.25F, 0.875F, 0.125F, 0.75F, 0.125F);
  KERNEL_SET(c, 3, float, -1.25F, -0.5F, -0.125F, -0.5F, -0.5F, 0.625F, -1.25F, 0, 1.5F, -0.25F,
             -1.375F, -1.25F, 1.375F, -0.625F, -0.75F, 1.125F);
  KERNEL_GIVES(c, 0, 1e-5, -0.1170162, 0.01851681, -0.1967098, 0.03751089, -0.07480334, 0.2364583,
               -0.07500031, 0.01846411, -0.06143835, 0.0513019, -0.09340683, 0.03056145);
  KERNEL_GIVES(c, 1, 1e-5, -0.07480334, 0.2364583, -0.09340683, 0.03056145);
  KERNEL_GIVES(c, 2, 1e-5, -0.7879598, 0.4312044, -0.8715527, 0.4815002);
  kernel_case_destroy(c);
}

TEST(GruTakesF64) {
  kernel_case* c = kernel_case_create("f64[2, 1, 2]; f64[1, 6, 2]; f64[1, 6, 2]", "gru(%0, %1, %2)",
                                      "f64[2, 1, 1, 2]; f64[1, 1, 2]");
  KERNEL_SET(c, 0, double, -0.75, 1.5, -1.125, -0.375);
  KERNEL_SET(c, 1, double, 0, 1.125, 0.25, 1.125, 1.375, -0.875, 0.75, -0.75, 1.375, 0.625, 0,
             -0.625);
  KERNEL_SET(c, 2, double, 0.5, 1.375, -1.125, -0.375, 1, 0.75, 0.25, 0.625, -0.375, -0.875, -0.5,
             1.125);
  KERNEL_GIVES(c, 0, 1e-6, -0.0145921083167195, -0.133913412690163, -0.615038990974426,
               0.0727877989411354);
  KERNEL_GIVES(c, 1, 1e-6, -0.615038990974426, 0.0727877989411354);
  kernel_case_destroy(c);
}

TEST(GruTakesF16) {
  kernel_case* c = kernel_case_create("f16[2, 1, 2]; f16[1, 6, 2]; f16[1, 6, 2]", "gru(%0, %1, %2)",
                                      "f16[2, 1, 1, 2]; f16[1, 1, 2]");
  KERNEL_SET(c, 0, uint16_t, 47616, 15872, 48256, 46592);
  KERNEL_SET(c, 1, uint16_t, 0, 15488, 13312, 15488, 15744, 47872, 14848, 47616, 15744, 14592, 0,
             47360);
  KERNEL_SET(c, 2, uint16_t, 14336, 15744, 48256, 46592, 15360, 14848, 13312, 14592, 46592, 47872,
             47104, 15488);
  KERNEL_GIVES(c, 0, 2e-3, -0.01459503, -0.1339111, -0.6152344, 0.07281494);
  KERNEL_GIVES(c, 1, 2e-3, -0.6152344, 0.07281494);
  kernel_case_destroy(c);
}

TEST(RnnTakesSigmoid) {
  kernel_case* c =
      kernel_case_create("f32[4, 1, 1]; f32[1, 1, 1]; f32[1, 1, 1]",
                         "rnn(%0, %1, %2) {activations = [\"Sigmoid\"]}", "f32[4, 1, 1, 1]");
  KERNEL_SET(c, 0, float, -2, -0.5F, 0.5F, 2);
  KERNEL_SET(c, 1, float, 1);
  KERNEL_SET(c, 2, float, 0);
  KERNEL_GIVES(c, 0, 1e-5, 0.1192029, 0.3775407, 0.6224594, 0.880797);
  kernel_case_destroy(c);
}

TEST(RnnTakesLeakyRelu) {
  kernel_case* c =
      kernel_case_create("f32[4, 1, 1]; f32[1, 1, 1]; f32[1, 1, 1]",
                         "rnn(%0, %1, %2) {activations = [\"LeakyRelu\"]}", "f32[4, 1, 1, 1]");
  KERNEL_SET(c, 0, float, -2, -0.5F, 0.5F, 2);
  KERNEL_SET(c, 1, float, 1);
  KERNEL_SET(c, 2, float, 0);
  KERNEL_GIVES(c, 0, 1e-5, -0.02, -0.005, 0.5, 2);
  kernel_case_destroy(c);
}

TEST(RnnTakesThresholdedRelu) {
  kernel_case* c = kernel_case_create("f32[4, 1, 1]; f32[1, 1, 1]; f32[1, 1, 1]",
                                      "rnn(%0, %1, %2) {activations = [\"ThresholdedRelu\"]}",
                                      "f32[4, 1, 1, 1]");
  KERNEL_SET(c, 0, float, -2, -0.5F, 0.5F, 2);
  KERNEL_SET(c, 1, float, 1);
  KERNEL_SET(c, 2, float, 0);
  KERNEL_GIVES(c, 0, 1e-5, 0, 0, 0, 2);
  kernel_case_destroy(c);
}

TEST(RnnTakesScaledTanh) {
  kernel_case* c = kernel_case_create("f32[4, 1, 1]; f32[1, 1, 1]; f32[1, 1, 1]",
                                      "rnn(%0, %1, %2) {activations = [\"ScaledTanh\"], "
                                      "activation_alpha = [1.5], activation_beta = [0.5]}",
                                      "f32[4, 1, 1, 1]");
  KERNEL_SET(c, 0, float, -2, -0.5F, 0.5F, 2);
  KERNEL_SET(c, 1, float, 1);
  KERNEL_SET(c, 2, float, 0);
  KERNEL_GIVES(c, 0, 1e-5, -1.142391, -0.367378, 0.3673781, 1.142391);
  kernel_case_destroy(c);
}

TEST(RnnTakesSoftplus) {
  kernel_case* c =
      kernel_case_create("f32[4, 1, 1]; f32[1, 1, 1]; f32[1, 1, 1]",
                         "rnn(%0, %1, %2) {activations = [\"Softplus\"]}", "f32[4, 1, 1, 1]");
  KERNEL_SET(c, 0, float, -2, -0.5F, 0.5F, 2);
  KERNEL_SET(c, 1, float, 1);
  KERNEL_SET(c, 2, float, 0);
  KERNEL_GIVES(c, 0, 1e-5, 0.126928, 0.474077, 0.974077, 2.126928);
  kernel_case_destroy(c);
}

TEST(LstmTakesQuantizedWeights) {
  kernel_case* c = kernel_case_create(
      "f32[2, 1, 2]; i8[1, 2, 8]; i8[1, 2, 8]; f32[1, 8]; i8[1, 8]; f32[1]; i8[1]",
      "dynamic_quantize_lstm(%0, %1, %2, _, _, _, _, _, %3, %4, %5, %6)",
      "f32[2, 1, 1, 2]; f32[1, 1, 2]; f32[1, 1, 2]");
  KERNEL_SET(c, 0, float, 0, 0.25F, -0.625F, 0.375F);
  KERNEL_SET(c, 1, int8_t, -5, -3, -7, -7, 1, -8, 5, -1, 2, 2, 8, -4, -4, 6, 1, -4);
  KERNEL_SET(c, 2, int8_t, -8, 6, -5, -8, 8, -4, -8, -6, -2, -1, 0, -3, 2, -2, -2, 6);
  KERNEL_SET(c, 8, float, 0.125F, 0.25F, 0.125F, 0.25F, 0.125F, 0.25F, 0.125F, 0.25F);
  KERNEL_SET(c, 9, int8_t, 1, 0, 1, 0, 1, 0, 1, 0);
  KERNEL_SET(c, 10, float, 0.125F);
  KERNEL_SET(c, 11, int8_t, 2);
  KERNEL_GIVES(c, 0, 1e-5, 0, -0.05664295, -0.1256063, -0.1811096);
  KERNEL_GIVES(c, 1, 1e-5, -0.1256063, -0.1811096);
  KERNEL_GIVES(c, 2, 1e-5, -0.1751194, -0.2728828);
  kernel_case_destroy(c);
}

// ---------------------------------------------------------------------------------------------
// Weights of bytes

enum { MOST_ROWS = 11, MOST_DEPTH = 520, BYTE_COLUMNS = STOWI_KERNEL_BYTES_COLUMNS };

typedef struct bytes_case {
  size_t rows, columns, depth;
  float a[MOST_ROWS * MOST_DEPTH];
  uint8_t bytes[MOST_DEPTH * BYTE_COLUMNS];
  float zero[BYTE_COLUMNS];
  float scale[BYTE_COLUMNS];
  float c[MOST_ROWS * BYTE_COLUMNS];
} bytes_case;

static float small_number(test_random* random) {
  return (float)test_random_below(random, 2001) / 500 - 2;
}

static void fill_bytes_case(test_random* random, bytes_case* b) {
  b->rows = 1 + test_random_below(random, MOST_ROWS);
  b->columns = test_random_below(random, 2) == 0 ? BYTE_COLUMNS
                                                 : 1 + test_random_below(random, BYTE_COLUMNS);
  b->depth = test_random_below(random, MOST_DEPTH);
  for (size_t i = 0; i < MOST_ROWS * MOST_DEPTH; ++i) {
    b->a[i] = small_number(random);
  }
  for (size_t i = 0; i < MOST_DEPTH * BYTE_COLUMNS; ++i) {
    b->bytes[i] = (uint8_t)test_random_below(random, 256);
  }
  for (size_t j = 0; j < BYTE_COLUMNS; ++j) {
    b->zero[j] = (float)test_random_below(random, 50);
    b->scale[j] = small_number(random);
  }
}

static float sum_of_bytes(const bytes_case* b, bool is_signed, size_t i, size_t j) {
  volatile float all = 0;
  float sum = 0;
  for (size_t p = 0; p < b->depth; ++p) {
    uint8_t byte = b->bytes[p * BYTE_COLUMNS + j];
    volatile float number = is_signed ? (float)(int8_t)byte : (float)byte;
    number = number - b->zero[j];
    number = number * b->scale[j];
    sum = stowi_kernel_fma_by_doubles(number, b->a[i * MOST_DEPTH + p], sum);
    if (p % 256 == 255 || p + 1 == b->depth) {
      all = all + sum;
      sum = 0;
    }
  }
  return all;
}

static void check_bytes(bytes_case* b, bool is_signed, bool are_many) {
  static _Alignas(64) float room[256 * BYTE_COLUMNS];
  stowi_kernel_byte_weights weights = {b->bytes, is_signed, BYTE_COLUMNS, b->zero, b->scale};
  CHECK(stowi_kernel_bytes_room(b->depth) <= sizeof(room));
  if (are_many) {
    stowi_kernel_bytes_multiply_many(b->rows, b->columns, b->depth, b->a, MOST_DEPTH, &weights,
                                     b->c, BYTE_COLUMNS, room);
  } else {
    stowi_kernel_bytes_multiply(b->rows, b->columns, b->depth, b->a, MOST_DEPTH, &weights, b->c,
                                BYTE_COLUMNS);
  }
  for (size_t i = 0; i < b->rows; ++i) {
    for (size_t j = 0; j < b->columns; ++j) {
      float expected = sum_of_bytes(b, is_signed, i, j);
      test_check(memcmp(&expected, &b->c[i * BYTE_COLUMNS + j], sizeof(float)) == 0, __FILE__,
                 __LINE__, "%zu x %zu x %zu, signed %d, many %d: (%zu, %zu) differs", b->rows,
                 b->columns, b->depth, is_signed, are_many, i, j);
    }
  }
}

TEST(ProductsOfBytesHaveTheBitsOfNumbers) {
  static bytes_case b;
  test_random random = {5};
  for (size_t round = 0; round < (test_is_long() ? 500U : 40U); ++round) {
    fill_bytes_case(&random, &b);
    for (unsigned way = 0; way < 4; ++way) {
      check_bytes(&b, (way & 1U) != 0, (way & 2U) != 0);
    }
  }
}

// A sequence of no steps leaves zeros, whatever the first state was.
TEST(EmptySequencesLeaveZeros) {
  kernel_case* c = kernel_case_create(
      "f32[1, 2, 1]; f32[1, 1, 1]; f32[1, 1, 1]; i32[2]; f32[1, 2, 1]",
      "rnn(%0, %1, %2, _, %3, %4) {activations = [\"Relu\"]}", "f32[1, 1, 2, 1]; f32[1, 2, 1]");
  KERNEL_SET(c, 0, float, 1, 1);
  KERNEL_SET(c, 1, float, 2);
  KERNEL_SET(c, 2, float, 1);
  KERNEL_SET(c, 4, int32_t, 0, 1);
  KERNEL_SET(c, 5, float, 7, 8);
  KERNEL_GIVES(c, 0, 0, 0, 10);
  KERNEL_GIVES(c, 1, 0, 0, 10);
  KERNEL_SET(c, 4, int32_t, 0, 2);
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  kernel_case_destroy(c);
}

TEST(RefusesUnknownActivations) {
  kernel_case* c =
      kernel_case_create("f32[1, 1, 1]; f32[1, 1, 1]; f32[1, 1, 1]",
                         "rnn(%0, %1, %2) {activations = [\"Gelu\"]}", "f32[1, 1, 1, 1]");
  CHECK(kernel_case_run(c) == STOW_ERR_UNSUPPORTED);
  kernel_case_destroy(c);
}

// Wide enough for products to be blocked; the bits are those of every other way.
TEST(WideLayersGiveTheSameBits) {
  kernel_case* c =
      kernel_case_create("f32[5, 9, 40]; f32[2, 280, 40]; f32[2, 280, 70]; f32[2, 560]",
                         "lstm(%0, %1, %2, %3) {direction = \"bidirectional\"}",
                         "f32[5, 2, 9, 70]; f32[2, 9, 70]; f32[2, 9, 70]");
  kernel_case_fill(c, 3);
  CHECK(kernel_case_run(c) == STOW_OK);
  const float* out = kernel_case_result(c, 0)->data;
  for (size_t i = 0; i < 5 * 2 * 9 * 70; ++i) {
    CHECK(fabsf(out[i]) <= 1);
  }
  kernel_case_destroy(c);
}

TEST(RefusesScalesOfTheWrongSize) {
  kernel_case* c = kernel_case_create(
      "f32[1, 1, 1]; i8[1, 1, 4]; i8[1, 1, 4]; f32[3]; i8[1]",
      "dynamic_quantize_lstm(%0, %1, %2, _, _, _, _, _, %3, %4, %3, %4)", "f32[1, 1, 1, 1]");
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  kernel_case_destroy(c);
}

TEST(WeightsAreReals) {
  kernel_case* c = kernel_case_create("f32[1, 1, 1]; f32[1, 1, 1]; c64[1, 1, 1]", "rnn(%0, %1, %2)",
                                      "f32[1, 1, 1, 1]");
  CHECK(kernel_case_run(c) == STOW_ERR_UNSUPPORTED);
  CHECK_HAS(kernel_case_message(c), "operand 2 is c64");
  kernel_case_destroy(c);
}
