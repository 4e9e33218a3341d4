// attention and flex_attention against numbers of ONNX's reference.
#include <math.h>
#include <stdint.h>

#include "exec/kernel_case.h"
#include "support/test.h"

TEST(AttendsInEveryHead) {
  kernel_case* c =
      kernel_case_create("f32[1, 2, 2, 2]; f32[1, 2, 3, 2]; f32[1, 2, 3, 2]",
                         "attention(%0, %1, %2) {layout = \"bhsd\"}", "f32[1, 2, 2, 2]");
  KERNEL_SET(c, 0, float, -1.125F, -1.125F, 0.875F, 0, 0.25F, 0.375F, 0.625F, -1.5F);
  KERNEL_SET(c, 1, float, 0, -1.125F, -0.25F, 1.375F, 0.125F, -1.375F, 0.125F, -1.125F, 0.75F,
             1.375F, 1.5F, 0.375F);
  KERNEL_SET(c, 2, float, 1.125F, -0.375F, -1.125F, 0, -0.125F, 0.5F, 1.5F, -0.75F, 1.125F, -1.125F,
             -0.5F, 0.875F);
  KERNEL_GIVES(c, 0, 1e-5, 0.3517784, 0.07804179, 0.008911166, 0.05624753, 0.59011, -0.301518,
               0.9662731, -0.3594222);
  kernel_case_destroy(c);
}

TEST(ScalesScores) {
  kernel_case* c = kernel_case_create("f32[1, 2, 2, 2]; f32[1, 2, 3, 2]; f32[1, 2, 3, 2]",
                                      "attention(%0, %1, %2) {layout = \"bhsd\", scale = 0.25}",
                                      "f32[1, 2, 2, 2]");
  KERNEL_SET(c, 0, float, -1.125F, -1.125F, 0.875F, 0, 0.25F, 0.375F, 0.625F, -1.5F);
  KERNEL_SET(c, 1, float, 0, -1.125F, -0.25F, 1.375F, 0.125F, -1.375F, 0.125F, -1.125F, 0.75F,
             1.375F, 1.5F, 0.375F);
  KERNEL_SET(c, 2, float, 1.125F, -0.375F, -1.125F, 0, -0.125F, 0.5F, 1.5F, -0.75F, 1.125F, -1.125F,
             -0.5F, 0.875F);
  KERNEL_GIVES(c, 0, 1e-5, 0.1550695, 0.05566716, -0.02306055, 0.04668361, 0.6589534, -0.316998,
               0.7635584, -0.2888992);
  kernel_case_destroy(c);
}

TEST(CausalSeesOnlyEarlierKeys) {
  kernel_case* c = kernel_case_create("f32[1, 2, 2, 2]; f32[1, 2, 3, 2]; f32[1, 2, 3, 2]",
                                      "attention(%0, %1, %2) {layout = \"bhsd\", causal = true}",
                                      "f32[1, 2, 2, 2]");
  KERNEL_SET(c, 0, float, -1.125F, -1.125F, 0.875F, 0, 0.25F, 0.375F, 0.625F, -1.5F);
  KERNEL_SET(c, 1, float, 0, -1.125F, -0.25F, 1.375F, 0.125F, -1.375F, 0.125F, -1.125F, 0.75F,
             1.375F, 1.5F, 0.375F);
  KERNEL_SET(c, 2, float, 1.125F, -0.375F, -1.125F, 0, -0.125F, 0.5F, 1.5F, -0.75F, 1.125F, -1.125F,
             -0.5F, 0.875F);
  KERNEL_GIVES(c, 0, 1e-5, 1.125, -0.375, 0.08683416, -0.2019724, 1.5, -0.75, 1.468101, -0.7818994);
  kernel_case_destroy(c);
}

TEST(AddsMask) {
  kernel_case* c =
      kernel_case_create("f32[1, 2, 2, 2]; f32[1, 2, 3, 2]; f32[1, 2, 3, 2]; f32[2, 3]",
                         "attention(%0, %1, %2, %3) {layout = \"bhsd\"}", "f32[1, 2, 2, 2]");
  KERNEL_SET(c, 0, float, -1.125F, -1.125F, 0.875F, 0, 0.25F, 0.375F, 0.625F, -1.5F);
  KERNEL_SET(c, 1, float, 0, -1.125F, -0.25F, 1.375F, 0.125F, -1.375F, 0.125F, -1.125F, 0.75F,
             1.375F, 1.5F, 0.375F);
  KERNEL_SET(c, 2, float, 1.125F, -0.375F, -1.125F, 0, -0.125F, 0.5F, 1.5F, -0.75F, 1.125F, -1.125F,
             -0.5F, 0.875F);
  KERNEL_SET(c, 3, float, -0.75F, 0.5F, -0.125F, 0, 1.375F, 1);
  KERNEL_GIVES(c, 0, 1e-5, 0.05796767, 0.1801188, -0.4169092, 0.1492708, 0.6801414, -0.5084032,
               0.5893275, -0.1148929);
  kernel_case_destroy(c);
}

TEST(HidesMaskedKeys) {
  kernel_case* c =
      kernel_case_create("f32[1, 2, 2, 2]; f32[1, 2, 3, 2]; f32[1, 2, 3, 2]; bool[2, 3]",
                         "attention(%0, %1, %2, %3) {layout = \"bhsd\"}", "f32[1, 2, 2, 2]");
  KERNEL_SET(c, 0, float, -1.125F, -1.125F, 0.875F, 0, 0.25F, 0.375F, 0.625F, -1.5F);
  KERNEL_SET(c, 1, float, 0, -1.125F, -0.25F, 1.375F, 0.125F, -1.375F, 0.125F, -1.125F, 0.75F,
             1.375F, 1.5F, 0.375F);
  KERNEL_SET(c, 2, float, 1.125F, -0.375F, -1.125F, 0, -0.125F, 0.5F, 1.5F, -0.75F, 1.125F, -1.125F,
             -0.5F, 0.875F);
  KERNEL_SET(c, 3, bool, true, false, true, false, false, false);
  KERNEL_GIVES(c, 0, 1e-5, 0.4689516, 0.08423391, 0, 0, 0.1901244, 0.3142739, 0, 0);
  kernel_case_destroy(c);
}

TEST(RepeatsMaskOverHeads) {
  kernel_case* c =
      kernel_case_create("f32[1, 2, 2, 2]; f32[1, 2, 3, 2]; f32[1, 2, 3, 2]; f32[1, 1, 2, 3]",
                         "attention(%0, %1, %2, %3) {layout = \"bhsd\"}", "f32[1, 2, 2, 2]");
  KERNEL_SET(c, 0, float, -1.125F, -1.125F, 0.875F, 0, 0.25F, 0.375F, 0.625F, -1.5F);
  KERNEL_SET(c, 1, float, 0, -1.125F, -0.25F, 1.375F, 0.125F, -1.375F, 0.125F, -1.125F, 0.75F,
             1.375F, 1.5F, 0.375F);
  KERNEL_SET(c, 2, float, 1.125F, -0.375F, -1.125F, 0, -0.125F, 0.5F, 1.5F, -0.75F, 1.125F, -1.125F,
             -0.5F, 0.875F);
  KERNEL_SET(c, 3, float, 1, 0.125F, 1.5F, 1.5F, -1.125F, -0.875F);
  KERNEL_GIVES(c, 0, 1e-5, 0.2833407, 0.1852652, 0.8968395, -0.279345, 0.1890936, 0.1931051,
               1.430763, -0.6981397);
  kernel_case_destroy(c);
}

TEST(SharesKeysAmongHeads) {
  kernel_case* c =
      kernel_case_create("f32[1, 4, 2, 2]; f32[1, 2, 3, 2]; f32[1, 2, 3, 3]",
                         "attention(%0, %1, %2) {layout = \"bhsd\"}", "f32[1, 4, 2, 3]");
  KERNEL_SET(c, 0, float, -0.625F, 0.125F, 1, 0, 1.5F, -0.5F, 1.375F, 0.25F, 0.75F, -0.875F, 0.25F,
             1, 1.25F, 1.125F, 1.5F, -1.125F);
  KERNEL_SET(c, 1, float, 0.875F, -0.125F, 0.625F, -0.75F, -1.5F, -1.25F, 1.5F, 1.25F, -0.625F,
             -0.25F, -0.75F, -1.125F);
  KERNEL_SET(c, 2, float, 1.125F, 0.5F, -1.375F, -0.875F, 0.25F, 1.25F, 1.5F, -0.875F, 0.375F,
             -1.5F, -1, -0.875F, -0.125F, -0.5F, 0.75F, -0.125F, -0.5F, 1.25F);
  KERNEL_GIVES(c, 0, 1e-5, 0.878652, -0.3227882, 0.1972464, 0.3317007, 0.2698567, -0.1272479,
               0.2251895, 0.3054466, -0.06456941, 0.3547448, 0.3388038, -0.2616751, -0.5632076,
               -0.6593482, 0.4421599, -1.133735, -0.8668128, -0.3961837, -1.413608, -0.9685846,
               -0.7632043, -0.8285164, -0.7558241, 0.07417426);
  kernel_case_destroy(c);
}

TEST(CapsScores) {
  kernel_case* c = kernel_case_create("f32[1, 2, 2, 2]; f32[1, 2, 3, 2]; f32[1, 2, 3, 2]",
                                      "attention(%0, %1, %2) {layout = \"bhsd\", softcap = 0.5}",
                                      "f32[1, 2, 2, 2]");
  KERNEL_SET(c, 0, float, -1.125F, -1.125F, 0.875F, 0, 0.25F, 0.375F, 0.625F, -1.5F);
  KERNEL_SET(c, 1, float, 0, -1.125F, -0.25F, 1.375F, 0.125F, -1.375F, 0.125F, -1.125F, 0.75F,
             1.375F, 1.5F, 0.375F);
  KERNEL_SET(c, 2, float, 1.125F, -0.375F, -1.125F, 0, -0.125F, 0.5F, 1.5F, -0.75F, 1.125F, -1.125F,
             -0.5F, 0.875F);
  KERNEL_GIVES(c, 0, 1e-5, 0.2344287, 0.05397555, 0.007367481, 0.0560699, 0.5905126, -0.2866495,
               0.7116079, -0.2276416);
  kernel_case_destroy(c);
}

// Heads are packed in the last dim.
TEST(TakesPackedHeads) {
  kernel_case* c = kernel_case_create(
      "f32[1, 2, 4]; f32[1, 3, 2]; f32[1, 3, 2]",
      "attention(%0, %1, %2) {layout = \"bhsd\", heads = 2, kv_heads = 1}", "f32[1, 2, 4]");
  KERNEL_SET(c, 0, float, 0.375F, 0.625F, 0.75F, -0.5F, 1.25F, -1.5F, -0.625F, -1.125F);
  KERNEL_SET(c, 1, float, -1.5F, 1.5F, -1.25F, -0.125F, 1, 0.625F);
  KERNEL_SET(c, 2, float, 1.125F, -1.375F, 0, -1.5F, -1, 1.125F);
  KERNEL_GIVES(c, 0, 1e-5, -0.06802243, -0.2372901, -0.4909475, 0.1660267, -0.7063629, 0.4533588,
               0.0934943, -1.120546);
  kernel_case_destroy(c);
}

TEST(AppendsToCache) {
  kernel_case* c = kernel_case_create(
      "f32[1, 2, 2, 2]; f32[1, 2, 3, 2]; f32[1, 2, 3, 2]; f32[1, 2, 2, 2]; f32[1, 2, 2, 2]",
      "attention(%0, %1, %2, _, %3, %4) {layout = \"bhsd\", causal = true}",
      "f32[1, 2, 2, 2]; f32[1, 2, 5, 2]; f32[1, 2, 5, 2]");
  KERNEL_SET(c, 0, float, -1.125F, -1.125F, 0.875F, 0, 0.25F, 0.375F, 0.625F, -1.5F);
  KERNEL_SET(c, 1, float, 0, -1.125F, -0.25F, 1.375F, 0.125F, -1.375F, 0.125F, -1.125F, 0.75F,
             1.375F, 1.5F, 0.375F);
  KERNEL_SET(c, 2, float, 1.125F, -0.375F, -1.125F, 0, -0.125F, 0.5F, 1.5F, -0.75F, 1.125F, -1.125F,
             -0.5F, 0.875F);
  KERNEL_SET(c, 4, float, -1.375F, 0.25F, -1.5F, -0.625F, 1.375F, -0.625F, -0.625F, -1.25F);
  KERNEL_SET(c, 5, float, 0.875F, -1, 0, -1.5F, -1.5F, 1, -1.5F, -0.125F);
  KERNEL_GIVES(c, 0, 1e-5, 0.4744353, -1.114521, 0.19967, -0.5207226, -0.5829601, 0.1736902,
               -0.3946884, 0.0222458);
  KERNEL_GIVES(c, 1, 1e-5, -1.375, 0.25, -1.5, -0.625, 0, -1.125, -0.25, 1.375, 0.125, -1.375,
               1.375, -0.625, -0.625, -1.25, 0.125, -1.125, 0.75, 1.375, 1.5, 0.375);
  KERNEL_GIVES(c, 2, 1e-5, 0.875, -1, 0, -1.5, 1.125, -0.375, -1.125, 0, -0.125, 0.5, -1.5, 1, -1.5,
               -0.125, 1.5, -0.75, 1.125, -1.125, -0.5, 0.875);
  kernel_case_destroy(c);
}

TEST(GivesScoresRaw) {
  kernel_case* c =
      kernel_case_create("f32[1, 2, 2, 2]; f32[1, 2, 3, 2]; f32[1, 2, 3, 2]",
                         "attention(%0, %1, %2) {layout = \"bhsd\", scores = 0}",
                         "f32[1, 2, 2, 2]; f32[1, 2, 3, 2]; f32[1, 2, 3, 2]; f32[1, 2, 2, 3]");
  KERNEL_SET(c, 0, float, -1.125F, -1.125F, 0.875F, 0, 0.25F, 0.375F, 0.625F, -1.5F);
  KERNEL_SET(c, 1, float, 0, -1.125F, -0.25F, 1.375F, 0.125F, -1.375F, 0.125F, -1.125F, 0.75F,
             1.375F, 1.5F, 0.375F);
  KERNEL_SET(c, 2, float, 1.125F, -0.375F, -1.125F, 0, -0.125F, 0.5F, 1.5F, -0.75F, 1.125F, -1.125F,
             -0.5F, 0.875F);
  KERNEL_GIVES(c, 0, 1e-5, 0.3517784, 0.07804179, 0.008911166, 0.05624753, 0.59011, -0.301518,
               0.9662731, -0.3594222);
  KERNEL_GIVES(c, 1, 1e-5, 0, -1.125, -0.25, 1.375, 0.125, -1.375, 0.125, -1.125, 0.75, 1.375, 1.5,
               0.375);
  KERNEL_GIVES(c, 2, 1e-5, 1.125, -0.375, -1.125, 0, -0.125, 0.5, 1.5, -0.75, 1.125, -1.125, -0.5,
               0.875);
  KERNEL_GIVES(c, 3, 1e-5, 0.8949321, -0.8949321, 0.994369, 0, -0.1546796, 0.07733981, -0.2762136,
               0.4971845, 0.364602, 1.248485, -1.126952, 0.265165);
  kernel_case_destroy(c);
}

TEST(GivesScoresCapped) {
  kernel_case* c = kernel_case_create(
      "f32[1, 2, 2, 2]; f32[1, 2, 3, 2]; f32[1, 2, 3, 2]; f32[2, 3]",
      "attention(%0, %1, %2, %3, _, _) {layout = \"bhsd\", scores = 1, softcap = 0.75}",
      "f32[1, 2, 2, 2]; f32[1, 2, 3, 2]; f32[1, 2, 3, 2]; f32[1, 2, 2, 3]");
  KERNEL_SET(c, 0, float, -1.125F, -1.125F, 0.875F, 0, 0.25F, 0.375F, 0.625F, -1.5F);
  KERNEL_SET(c, 1, float, 0, -1.125F, -0.25F, 1.375F, 0.125F, -1.375F, 0.125F, -1.125F, 0.75F,
             1.375F, 1.5F, 0.375F);
  KERNEL_SET(c, 2, float, 1.125F, -0.375F, -1.125F, 0, -0.125F, 0.5F, 1.5F, -0.75F, 1.125F, -1.125F,
             -0.5F, 0.875F);
  KERNEL_SET(c, 3, float, -0.25F, -1.125F, 0.5F, 0.75F, 1.5F, -1);
  KERNEL_GIVES(c, 0, 1e-5, 0.2179441, 0.2163383, -0.3138469, -0.09355452, 0.08936742, 0.2962041,
               1.242754, -0.7615596);
  KERNEL_GIVES(c, 1, 1e-5, 0, -1.125, -0.25, 1.375, 0.125, -1.375, 0.125, -1.125, 0.75, 1.375, 1.5,
               0.375);
  KERNEL_GIVES(c, 2, 1e-5, 1.125, -0.375, -1.125, 0, -0.125, 0.5, 1.5, -0.75, 1.125, -1.125, -0.5,
               0.875);
  KERNEL_GIVES(c, 3, 1e-5, 0.6236864, -0.6236864, 0.651169, 0, -0.1525232, 0.07706682, -0.2643679,
               0.4352239, 0.3383582, 0.6981303, -0.679213, 0.2546423);
  kernel_case_destroy(c);
}

TEST(GivesScoresMasked) {
  kernel_case* c = kernel_case_create(
      "f32[1, 2, 2, 2]; f32[1, 2, 3, 2]; f32[1, 2, 3, 2]; f32[2, 3]",
      "attention(%0, %1, %2, %3, _, _) {layout = \"bhsd\", scores = 2, softcap = 0.75}",
      "f32[1, 2, 2, 2]; f32[1, 2, 3, 2]; f32[1, 2, 3, 2]; f32[1, 2, 2, 3]");
  KERNEL_SET(c, 0, float, -1.125F, -1.125F, 0.875F, 0, 0.25F, 0.375F, 0.625F, -1.5F);
  KERNEL_SET(c, 1, float, 0, -1.125F, -0.25F, 1.375F, 0.125F, -1.375F, 0.125F, -1.125F, 0.75F,
             1.375F, 1.5F, 0.375F);
  KERNEL_SET(c, 2, float, 1.125F, -0.375F, -1.125F, 0, -0.125F, 0.5F, 1.5F, -0.75F, 1.125F, -1.125F,
             -0.5F, 0.875F);
  KERNEL_SET(c, 3, float, 1.375F, -1.375F, -1.125F, 0.25F, 1.125F, 1.25F);
  KERNEL_GIVES(c, 0, 1e-5, 0.9918912, -0.3018074, -0.2600207, 0.1823054, 1.227676, -0.5971394,
               0.390622, 0.02858616);
  KERNEL_GIVES(c, 1, 1e-5, 0, -1.125, -0.25, 1.375, 0.125, -1.375, 0.125, -1.125, 0.75, 1.375, 1.5,
               0.375);
  KERNEL_GIVES(c, 2, 1e-5, 1.125, -0.375, -1.125, 0, -0.125, 0.5, 1.5, -0.75, 1.125, -1.125, -0.5,
               0.875);
  KERNEL_GIVES(c, 3, 1e-5, 1.998686, -1.998686, -0.473831, 0.25, 0.9724768, 1.327067, 1.110632,
               -0.9397761, -0.7866418, 0.9481303, 0.445787, 1.504642);
  kernel_case_destroy(c);
}

TEST(GivesScoresSoftmax) {
  kernel_case* c = kernel_case_create(
      "f32[1, 2, 2, 2]; f32[1, 2, 3, 2]; f32[1, 2, 3, 2]; bool[2, 3]",
      "attention(%0, %1, %2, %3) {layout = \"bhsd\", scores = 3, softcap = 0.75}",
      "f32[1, 2, 2, 2]; f32[1, 2, 3, 2]; f32[1, 2, 3, 2]; f32[1, 2, 2, 3]");
  KERNEL_SET(c, 0, float, -1.125F, -1.125F, 0.875F, 0, 0.25F, 0.375F, 0.625F, -1.5F);
  KERNEL_SET(c, 1, float, 0, -1.125F, -0.25F, 1.375F, 0.125F, -1.375F, 0.125F, -1.125F, 0.75F,
             1.375F, 1.5F, 0.375F);
  KERNEL_SET(c, 2, float, 1.125F, -0.375F, -1.125F, 0, -0.125F, 0.5F, 1.5F, -0.75F, 1.125F, -1.125F,
             -0.5F, 0.875F);
  KERNEL_SET(c, 3, bool, true, false, true, false, false, false);
  KERNEL_GIVES(c, 0, 1e-5, 0.4914122, 0.06851143, 0, 0, 0.2074405, 0.3002046, 0, 0);
  KERNEL_GIVES(c, 1, 1e-5, 0, -1.125, -0.25, 1.375, 0.125, -1.375, 0.125, -1.125, 0.75, 1.375, 1.5,
               0.375);
  KERNEL_GIVES(c, 2, 1e-5, 1.125, -0.375, -1.125, 0, -0.125, 0.5, 1.5, -0.75, 1.125, -1.125, -0.5,
               0.875);
  KERNEL_GIVES(c, 3, 1e-5, 0.4931298, 0, 0.5068702, 0, 0, 0, 0.3537203, 0, 0.6462798, 0, 0, 0);
  kernel_case_destroy(c);
}

TEST(HonoursLengths) {
  kernel_case* c = kernel_case_create(
      "f32[2, 1, 2, 2]; f32[2, 1, 4, 2]; f32[2, 1, 4, 2]; i64[2]",
      "attention(%0, %1, %2, _, _, _, %3) {layout = \"bhsd\", causal = true, pad_mask = true}",
      "f32[2, 1, 2, 2]");
  KERNEL_SET(c, 0, float, 0.75F, -1.5F, -0.25F, 1, 0.125F, -1, 0.625F, -1.25F);
  KERNEL_SET(c, 1, float, 0.625F, -1.5F, -0.375F, -0.625F, 1.375F, 0.75F, 0.5F, 0, -0.625F, 1.125F,
             1.375F, -0.875F, -0.75F, -0.625F, -0.125F, -0.75F);
  KERNEL_SET(c, 2, float, -0.25F, 1.5F, -0.375F, 1.375F, 0, -0.5F, 1.375F, -0.25F, 0.875F, -0.625F,
             1.5F, 0.75F, 1.125F, -1.375F, -1.25F, -1.375F);
  KERNEL_SET(c, 6, int64_t, 3, 2);
  KERNEL_GIVES(c, 0, 1e-5, -0.2735889, 1.476411, -0.1438293, 0.3189518, 0.875, -0.625, 1.45882,
               0.6594049);
  kernel_case_destroy(c);
}

TEST(TakesShortMask) {
  kernel_case* c =
      kernel_case_create("f32[1, 1, 2, 2]; f32[1, 1, 4, 2]; f32[1, 1, 4, 2]; f32[2, 3]; i64[1]",
                         "attention(%0, %1, %2, %3, _, _, %4) {layout = \"bhsd\", pad_mask = true}",
                         "f32[1, 1, 2, 2]");
  KERNEL_SET(c, 0, float, 0.125F, -0.25F, 1.5F, -0.75F);
  KERNEL_SET(c, 1, float, -1, 1.125F, -0.625F, 0.75F, -0.625F, 0.125F, -1.25F, 0.5F);
  KERNEL_SET(c, 2, float, 1.25F, 0.625F, 1.125F, 0.875F, 0.25F, 1.375F, -0.125F, -1.125F);
  KERNEL_SET(c, 3, float, 0.125F, 0.375F, -1, -1.125F, 0.5F, -0.125F);
  KERNEL_SET(c, 6, int64_t, 3);
  KERNEL_GIVES(c, 0, 1e-5, 1.045027, 0.8573478, 0.7804243, 1.061457);
  kernel_case_destroy(c);
}

TEST(AttendsInF16) {
  kernel_case* c =
      kernel_case_create("f16[1, 2, 2, 2]; f16[1, 2, 3, 2]; f16[1, 2, 3, 2]",
                         "attention(%0, %1, %2) {layout = \"bhsd\"}", "f16[1, 2, 2, 2]");
  KERNEL_SET(c, 0, uint16_t, 48256, 48256, 15104, 0, 13312, 13824, 14592, 48640);
  KERNEL_SET(c, 1, uint16_t, 0, 48256, 46080, 15744, 12288, 48512, 12288, 48256, 14848, 15744,
             15872, 13824);
  KERNEL_SET(c, 2, uint16_t, 15488, 46592, 48256, 0, 45056, 14336, 15872, 47616, 15488, 48256,
             47104, 15104);
  KERNEL_GIVES(c, 0, 1e-3, 0.3515625, 0.078125, 0.00894165, 0.0562439, 0.5898438, -0.3012695,
               0.9663086, -0.3596191);
  kernel_case_destroy(c);
}

TEST(AttendsInF64) {
  kernel_case* c = kernel_case_create(
      "f64[1, 2, 2, 2]; f64[1, 2, 3, 2]; f64[1, 2, 3, 2]; f64[2, 3]",
      "attention(%0, %1, %2, %3) {layout = \"bhsd\", causal = true, softcap = 2.0}",
      "f64[1, 2, 2, 2]");
  KERNEL_SET(c, 0, double, -1.125, -1.125, 0.875, 0, 0.25, 0.375, 0.625, -1.5);
  KERNEL_SET(c, 1, double, 0, -1.125, -0.25, 1.375, 0.125, -1.375, 0.125, -1.125, 0.75, 1.375, 1.5,
             0.375);
  KERNEL_SET(c, 2, double, 1.125, -0.375, -1.125, 0, -0.125, 0.5, 1.5, -0.75, 1.125, -1.125, -0.5,
             0.875);
  KERNEL_SET(c, 3, double, 0, 0.875, 0.625, 1.25, -1, 0.75);
  KERNEL_GIVES(c, 0, 1e-7, 1.125, -0.375, 0.938610177689004, -0.343935029614834, 1.5, -0.75,
               1.49535767406556, -0.754642325934435);
  kernel_case_destroy(c);
}

TEST(SeesWindow) {
  kernel_case* c = kernel_case_create(
      "f32[1, 1, 5, 1]; f32[1, 1, 5, 1]; f32[1, 1, 5, 2]",
      "attention(%0, %1, %2) {layout = \"bhsd\", window_left = 1, window_right = 1}",
      "f32[1, 1, 5, 2]");
  KERNEL_SET(c, 0, float, 0.125F, -1.5F, -1.375F, -0.5F, 0.375F);
  KERNEL_SET(c, 1, float, -1, 0.125F, 1.5F, -1.125F, -1.125F);
  KERNEL_SET(c, 2, float, 1.5F, -0.75F, 1.125F, -0.5F, 0.75F, -1.375F, 0.375F, 1.125F, -0.5F,
             0.375F);
  KERNEL_GIVES(c, 0, 1e-5, 1.299338, -0.6162254, 1.428005, -0.723896, 0.4948801, 0.827395,
               0.03387165, 0.497951, -0.0625, 0.75);
  kernel_case_destroy(c);
}

TEST(FlexAttends) {
  kernel_case* c = kernel_case_create("f32[1, 1, 1, 1]; f32[1, 1, 2, 1]; f32[1, 1, 2, 1]",
                                      "flex_attention(%0, %1, %2)", "f32[1, 1, 1, 1]");
  KERNEL_SET(c, 0, float, 0);
  KERNEL_SET(c, 1, float, 5, 7);
  KERNEL_SET(c, 2, float, 1, 3);
  KERNEL_GIVES(c, 0, 1e-6, 2);
  kernel_case_destroy(c);
}

TEST(RefusesLengthsBeyondKeys) {
  kernel_case* c = kernel_case_create("f32[1, 1, 1, 1]; f32[1, 1, 2, 1]; f32[1, 1, 2, 1]; i64[1]",
                                      "attention(%0, %1, %2, _, _, _, %3) {layout = \"bhsd\"}",
                                      "f32[1, 1, 1, 1]");
  KERNEL_SET(c, 6, int64_t, 3);
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  kernel_case_destroy(c);
}

// More queries than a block has, more keys than a tile: every way gives the same bits, and rows of
// equal values stay what they are.
TEST(WorksInBlocks) {
  kernel_case* c = kernel_case_create("f32[1, 150, 2, 8]; f32[1, 300, 1, 8]; f32[1, 300, 1, 8]",
                                      "attention(%0, %1, %2) {causal = true}", "f32[1, 150, 2, 8]");
  kernel_case_fill(c, 5);
  float* v = kernel_case_operand(c, 2);
  for (size_t i = 0; i < 300 * 8; ++i) {
    v[i] = (float)(i % 8);
  }
  CHECK(kernel_case_run(c) == STOW_OK);
  const float* out = kernel_case_result(c, 0)->data;
  for (size_t i = 0; i < 150 * 2 * 8; ++i) {
    CHECK(fabsf(out[i] - (float)(i % 8)) < 1e-5F);
  }
  kernel_case_destroy(c);
}

// Nothing to attend to gives zeros; no queries give nothing.
TEST(TakesNoKeysAndNoQueries) {
  kernel_case* c = kernel_case_create("f32[1, 2, 1, 2]; f32[1, 0, 1, 2]; f32[1, 0, 1, 2]",
                                      "attention(%0, %1, %2)", "f32[1, 2, 1, 2]");
  KERNEL_SET(c, 0, float, 1, 2, 3, 4);
  KERNEL_GIVES(c, 0, 0, 0, 0, 0, 0);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[1, 0, 1, 2]; f32[1, 3, 1, 2]; f32[1, 3, 1, 2]",
                         "attention(%0, %1, %2)", "f32[1, 0, 1, 2]");
  CHECK(kernel_case_run(c) == STOW_OK);
  kernel_case_destroy(c);
}

TEST(WindowsMayBeWiderThanAllKeys) {
  kernel_case* c =
      kernel_case_create("f32[1, 2, 1, 1]; f32[1, 2, 1, 1]; f32[1, 2, 1, 1]",
                         "attention(%0, %1, %2) {window_left = 9223372036854775807, window_right = "
                         "9223372036854775807}",
                         "f32[1, 2, 1, 1]");
  KERNEL_SET(c, 2, float, 2, 4);
  KERNEL_GIVES(c, 0, 1e-6, 3, 3);
  kernel_case_destroy(c);
}

TEST(NoKeysNeedNoTimeHoweverManyQueries) {
  kernel_case* c = kernel_case_create("f32[4, 2]; i64[] = [4611686018427387904]; i64[] = [0]",
                                      "relative_position_bias(%0, %1, %2) {max_distance = 128}",
                                      "f32[1, 2, 4611686018427387904, 0]");
  CHECK(kernel_case_run(c) == STOW_OK);
  kernel_case_destroy(c);
}
