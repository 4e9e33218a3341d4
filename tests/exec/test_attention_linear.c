// linear_attention, causal_conv, rope and relative_position_bias against numbers of ONNX's
// reference, or by hand.
#include <math.h>
#include <stdint.h>

#include "exec/kernel_case.h"
#include "support/test.h"

TEST(LinearAddsUp) {
  kernel_case* c = kernel_case_create(
      "f32[1, 2, 4]; f32[1, 2, 2]; f32[1, 2, 2]",
      "linear_attention(%0, %1, %2) {heads = 2, kv_heads = 1, rule = \"linear\"}",
      "f32[1, 2, 4]; f32[1, 1, 2, 2]");
  KERNEL_SET(c, 0, float, -0.5F, -0.375F, 1, 0.625F, -0.125F, 0.875F, 0.375F, 0.375F);
  KERNEL_SET(c, 1, float, 0.75F, -1, 0.5F, -1);
  KERNEL_SET(c, 2, float, -1.25F, 0.75F, -1.5F, 0.625F);
  KERNEL_GIVES(c, 0, 1e-5, 0, 0, -0.1104854, 0.06629126, 1.850631, -0.9280776, 0.2817379,
               -0.1325825);
  KERNEL_GIVES(c, 1, 1e-5, -1.6875, 0.875, 2.75, -1.375);
  kernel_case_destroy(c);
}

TEST(LinearDecays) {
  kernel_case* c = kernel_case_create(
      "f32[1, 2, 4]; f32[1, 2, 2]; f32[1, 2, 2]; f32[1, 1, 2, 2]; f32[1, 2, 2]",
      "linear_attention(%0, %1, %2, %3, %4) {heads = 2, kv_heads = 1, rule = \"gated\"}",
      "f32[1, 2, 4]; f32[1, 1, 2, 2]");
  KERNEL_SET(c, 0, float, -0.5F, -0.375F, 1, 0.625F, -0.125F, 0.875F, 0.375F, 0.375F);
  KERNEL_SET(c, 1, float, 0.75F, -1, 0.5F, -1);
  KERNEL_SET(c, 2, float, -1.25F, 0.75F, -1.5F, 0.625F);
  KERNEL_SET(c, 3, float, -0.875F, 1.25F, -1.5F, 0.875F);
  KERNEL_SET(c, 4, float, -1.25F, -0.25F, -1.5F, -1.125F);
  KERNEL_GIVES(c, 0, 1e-5, 0.398399, -0.3073153, -0.804028, 0.6206896, 1.034233, -0.4462465,
               0.1356147, -0.03429491);
  KERNEL_GIVES(c, 1, 1e-5, -1.015121, 0.5179205, 1.526556, -0.6472547);
  kernel_case_destroy(c);
}

TEST(LinearCorrects) {
  kernel_case* c = kernel_case_create(
      "f32[1, 2, 4]; f32[1, 2, 2]; f32[1, 2, 2]; f32[1, 1, 2, 2]; f32[1, 2, 1]",
      "linear_attention(%0, %1, %2, %3, _, %4) {heads = 2, kv_heads = 1, rule = \"delta\"}",
      "f32[1, 2, 4]; f32[1, 1, 2, 2]");
  KERNEL_SET(c, 0, float, -0.5F, -0.375F, 1, 0.625F, -0.125F, 0.875F, 0.375F, 0.375F);
  KERNEL_SET(c, 1, float, 0.75F, -1, 0.5F, -1);
  KERNEL_SET(c, 2, float, -1.25F, 0.75F, -1.5F, 0.625F);
  KERNEL_SET(c, 3, float, -0.875F, 1.25F, -1.5F, 0.875F);
  KERNEL_SET(c, 5, float, 1.125F, 1.25F);
  KERNEL_GIVES(c, 0, 1e-5, 0.7071068, -0.6739612, -1.489827, 1.338945, 0.2023966, 0.05726037,
               -0.5856969, 0.5434394);
  KERNEL_GIVES(c, 1, 1e-5, -2.218933, 1.71228, 0.01013184, 0.3371582);
  kernel_case_destroy(c);
}

TEST(LinearDecaysAndCorrects) {
  kernel_case* c = kernel_case_create(
      "f32[1, 2, 4]; f32[1, 2, 2]; f32[1, 2, 2]; f32[1, 1, 2, 2]; f32[1, 2, 1]; f32[1, 2, 1]",
      "linear_attention(%0, %1, %2, %3, %4, %5) {heads = 2, kv_heads = 1, rule = \"gated_delta\"}",
      "f32[1, 2, 4]; f32[1, 1, 2, 2]");
  KERNEL_SET(c, 0, float, -0.5F, -0.375F, 1, 0.625F, -0.125F, 0.875F, 0.375F, 0.375F);
  KERNEL_SET(c, 1, float, 0.75F, -1, 0.5F, -1);
  KERNEL_SET(c, 2, float, -1.25F, 0.75F, -1.5F, 0.625F);
  KERNEL_SET(c, 3, float, -0.875F, 1.25F, -1.5F, 0.875F);
  KERNEL_SET(c, 4, float, -0.875F, -0.625F);
  KERNEL_SET(c, 5, float, 0.75F, 0.25F);
  KERNEL_GIVES(c, 0, 1e-5, 0.294766, -0.2809488, -0.6404439, 0.5776489, 0.3919971, -0.1495341,
               -0.06962299, 0.09714284);
  KERNEL_GIVES(c, 1, 1e-5, -0.7841118, 0.5320282, 0.5215471, -0.1656796);
  kernel_case_destroy(c);
}

TEST(CausalConvBeginsWithZeros) {
  kernel_case* c = kernel_case_create("f32[1, 2, 4]; f32[2, 1, 3]",
                                      "causal_conv(%0, %1) {activation = \"none\"}",
                                      "f32[1, 2, 4]; f32[1, 2, 2]");
  KERNEL_SET(c, 0, float, -1.5F, 0.625F, -1.25F, -0.375F, -0.75F, -0.5F, 1.5F, 0.25F);
  KERNEL_SET(c, 1, float, -0.5F, 0, 0.625F, 0.625F, 0.875F, 1.375F);
  KERNEL_GIVES(c, 0, 1e-5, -0.9375, 0.390625, -0.03125, -0.546875, -1.03125, -1.34375, 1.15625,
               1.34375);
  KERNEL_GIVES(c, 1, 1e-5, -1.25, -0.375, 1.5, 0.25);
  kernel_case_destroy(c);
}

TEST(CausalConvGoesOn) {
  kernel_case* c = kernel_case_create("f32[1, 2, 1]; f32[2, 1, 3]; f32[2]; f32[1, 2, 2]",
                                      "causal_conv(%0, %1, %2, %3) {activation = \"silu\"}",
                                      "f32[1, 2, 1]; f32[1, 2, 2]");
  KERNEL_SET(c, 0, float, 1.25F, 1.125F);
  KERNEL_SET(c, 1, float, 0.375F, -0.375F, -0.375F, -0.375F, -0.125F, 1.375F);
  KERNEL_SET(c, 2, float, 0.5F, -0.375F);
  KERNEL_SET(c, 3, float, 0.875F, 1, -1.125F, -1.25F);
  KERNEL_GIVES(c, 0, 1e-5, -0.007751467, 1.490917);
  KERNEL_GIVES(c, 1, 1e-5, 1, 1.25, -1.25, 1.125);
  kernel_case_destroy(c);
}

TEST(CausalConvTakesF16) {
  kernel_case* c = kernel_case_create("f16[1, 2, 2]; f16[2, 1, 2]; f16[2]; f16[1, 2, 1]",
                                      "causal_conv(%0, %1, %2, %3) {activation = \"swish\"}",
                                      "f16[1, 2, 2]; f16[1, 2, 1]");
  KERNEL_SET(c, 0, uint16_t, 46080, 45056, 48512, 0);
  KERNEL_SET(c, 1, uint16_t, 13312, 15360, 13312, 15488);
  KERNEL_SET(c, 2, uint16_t, 45056, 48256);
  KERNEL_SET(c, 3, uint16_t, 14848, 13824);
  KERNEL_GIVES(c, 0, 2e-3, -0.08496094, -0.1320801, -0.1818848, -0.2749023);
  KERNEL_GIVES(c, 1, 2e-3, -0.125, 0);
  kernel_case_destroy(c);
}

TEST(RopeTurnsHalves) {
  kernel_case* c = kernel_case_create("f32[1, 2, 2, 4]; f32[3, 2]; f32[3, 2]; i64[1, 2]",
                                      "rope(%0, %1, %2, %3)", "f32[1, 2, 2, 4]");
  KERNEL_SET(c, 0, float, 0, 0.375F, -0.875F, -1.125F, -0.5F, 1, 1, 0.125F, -0.75F, 1.5F, 1.5F, -1,
             0.625F, 0.125F, 1.125F, -0.5F);
  KERNEL_SET(c, 1, float, 0, 0.5F, 0.5F, 0.375F, -0.75F, 0);
  KERNEL_SET(c, 2, float, 1.25F, -0.5F, -0.875F, 0, -0.125F, -0.375F);
  KERNEL_SET(c, 3, int64_t, 2, 0);
  KERNEL_GIVES(c, 0, 1e-5, -0.109375, -0.421875, 0.65625, -0.140625, -1.25, 0.5625, -0.625, -0.4375,
               0.75, -0.375, -1.03125, -0.5625, -1.40625, -0.1875, 0.78125, -0.3125);
  kernel_case_destroy(c);
}

TEST(RopeTurnsNeighbours) {
  kernel_case* c = kernel_case_create("f32[1, 1, 2, 4]; f32[1, 2, 2]; f32[1, 2, 2]",
                                      "rope(%0, %1, %2) {interleaved = true}", "f32[1, 1, 2, 4]");
  KERNEL_SET(c, 0, float, 1.5F, 1.25F, -1.25F, -0.125F, 0.5F, -0.125F, 1.5F, -0.75F);
  KERNEL_SET(c, 1, float, 1.375F, -0.75F, 1.25F, 1.375F);
  KERNEL_SET(c, 2, float, -0.75F, -0.625F, -1.25F, 1.125F);
  KERNEL_GIVES(c, 0, 1e-5, 3, 0.59375, 0.859375, 0.875, 0.46875, -0.78125, 2.90625, 0.65625);
  kernel_case_destroy(c);
}

TEST(RopeLeavesRest) {
  kernel_case* c =
      kernel_case_create("f32[1, 2, 8]; f32[3, 1]; f32[3, 1]; i64[1, 2]",
                         "rope(%0, %1, %2, %3) {heads = 2, rotary_dim = 2}", "f32[1, 2, 8]");
  KERNEL_SET(c, 0, float, -1, 0.25F, -0.5F, 1.5F, 0.5F, -1, 0.875F, 1.375F, 0.25F, 0.875F, 0.625F,
             0.25F, 1, 0.625F, -1, 0.75F);
  KERNEL_SET(c, 1, float, 0.125F, -0.125F, 0.25F);
  KERNEL_SET(c, 2, float, 0.375F, -1.125F, -0.875F);
  KERNEL_SET(c, 3, int64_t, 1, 2);
  KERNEL_GIVES(c, 0, 1e-5, 0.40625, 1.09375, -0.5, 1.5, -1.1875, -0.4375, 0.875, 1.375, 0.828125, 0,
               0.625, 0.25, 0.796875, -0.71875, -1, 0.75);
  kernel_case_destroy(c);
}

TEST(RopeTakesF16) {
  kernel_case* c = kernel_case_create("f16[1, 1, 2, 2]; f16[3, 1]; f16[3, 1]; i64[1, 2]",
                                      "rope(%0, %1, %2, %3)", "f16[1, 1, 2, 2]");
  KERNEL_SET(c, 0, uint16_t, 15104, 48640, 48384, 14336);
  KERNEL_SET(c, 1, uint16_t, 48128, 45056, 15104);
  KERNEL_SET(c, 2, uint16_t, 15616, 15360, 47616);
  KERNEL_SET(c, 3, int64_t, 2, 1);
  KERNEL_GIVES(c, 0, 1e-3, -0.359375, -1.96875, -0.34375, -1.3125);
  kernel_case_destroy(c);
}

TEST(RopeTakesF64) {
  kernel_case* c =
      kernel_case_create("f64[1, 1, 2, 2]; f64[3, 1]; f64[3, 1]; i64[1, 2]",
                         "rope(%0, %1, %2, %3) {interleaved = true}", "f64[1, 1, 2, 2]");
  KERNEL_SET(c, 0, double, -0.5, 1, 0.875, 1.5);
  KERNEL_SET(c, 1, double, 0.75, 1.25, -0.25);
  KERNEL_SET(c, 2, double, 1.5, -0.5, -1.125);
  KERNEL_SET(c, 3, int64_t, 2, 1);
  KERNEL_GIVES(c, 0, 1e-12, 1.25, 0.3125, 1.84375, 1.4375);
  kernel_case_destroy(c);
}

TEST(LinearNeedsRatesOfRule) {
  kernel_case* c = kernel_case_create("f32[1, 1, 1]; f32[1, 1, 1]; f32[1, 1, 1]",
                                      "linear_attention(%0, %1, %2) {heads = 1, kv_heads = 1}",
                                      "f32[1, 1, 1]; f32[1, 1, 1, 1]");
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  kernel_case_destroy(c);
}

TEST(CausalConvRefusesOtherActivations) {
  kernel_case* c = kernel_case_create("f32[1, 1, 1]; f32[1, 1, 1]",
                                      "causal_conv(%0, %1) {activation = \"relu\"}",
                                      "f32[1, 1, 1]; f32[1, 1, 0]");
  CHECK(kernel_case_run(c) == STOW_ERR_UNSUPPORTED);
  kernel_case_destroy(c);
}

// One position is where the first element stands.
TEST(RopeCountsFromOnePosition) {
  kernel_case* c = kernel_case_create("f32[1, 2, 2]; f32[3, 1]; f32[3, 1]; i64[1]",
                                      "rope(%0, %1, %2, %3) {heads = 1}", "f32[1, 2, 2]");
  KERNEL_SET(c, 0, float, 1, 2, 3, 4);
  KERNEL_SET(c, 1, float, 7, 1, 0);
  KERNEL_SET(c, 2, float, 7, 0, 1);
  KERNEL_SET(c, 3, int64_t, 1);
  KERNEL_GIVES(c, 0, 0, 1, 2, -4, 3);
  KERNEL_SET(c, 3, int64_t, 2);
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  KERNEL_SET(c, 3, int64_t, -1);
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  kernel_case_destroy(c);
}

// Of 4 buckets 2 are for distances 0 and 1, one for 2 and 3, one for all from 4 on.
TEST(BiasSharesBucketsFarBack) {
  kernel_case* c = kernel_case_create("f32[4, 1]; i64[] = [6]; i64[] = [6]",
                                      "relative_position_bias(%0, %1, %2) {max_distance = 8}",
                                      "f32[1, 1, 6, 6]");
  KERNEL_SET(c, 0, float, 10, 11, 12, 13);
  KERNEL_GIVES(c, 0, 0, 10, 10, 10, 10, 10, 10, 11, 10, 10, 10, 10, 10, 12, 11, 10, 10, 10, 10, 12,
               12, 11, 10, 10, 10, 13, 12, 12, 11, 10, 10, 13, 13, 12, 12, 11, 10);
  kernel_case_destroy(c);
}

// Half of them for keys after the query.
TEST(BiasLooksBothWays) {
  kernel_case* c =
      kernel_case_create("f32[4, 2]; i64[] = [3]; i64[] = [3]",
                         "relative_position_bias(%0, %1, %2) {max_distance = 4, bidirectional = "
                         "true}",
                         "f32[1, 2, 3, 3]");
  KERNEL_SET(c, 0, float, 10, 20, 11, 21, 12, 22, 13, 23);
  KERNEL_GIVES(c, 0, 0, 10, 13, 13, 11, 10, 13, 11, 11, 10, 20, 23, 23, 21, 20, 23, 21, 21, 20);
  kernel_case_destroy(c);
}
