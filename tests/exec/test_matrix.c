// Products of tensors of floats and integers, einsum, det, inverse and distances: against numbers
// worked out by hand, against sums in f64, and against numbers of onnxruntime.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exec/kernels/support/convert.h"
#include "exec/literals.h"
#include "support/test.h"

#define A_2_3 "[2, 3] = [1, 2, 3, 4, 5, 6]; "
#define B_3_4 "[3, 4] = [1, 0, 2, -1, 3, 1, 0, 2, -2, 4, 1, 0]"
#define B_3_4_PLUS "[3, 4] = [1, 0, 2, 1, 3, 1, 0, 2, 2, 4, 1, 0]"

// ---------------------------------------------------------------------------------------------
// matmul

TEST(MatmulOfEveryKindOfNumber) {
  GIVES("f32" A_2_3 "f32" B_3_4, "matmul(%0, %1)", "f32[2, 4]", 0, 1, 14, 5, 3, 7, 29, 14, 6);
  GIVES("f64" A_2_3 "f64" B_3_4, "matmul(%0, %1)", "f64[2, 4]", 0, 1, 14, 5, 3, 7, 29, 14, 6);
  GIVES("f16" A_2_3 "f16" B_3_4, "matmul(%0, %1)", "f16[2, 4]", 0, 1, 14, 5, 3, 7, 29, 14, 6);
  GIVES("bf16" A_2_3 "bf16" B_3_4, "matmul(%0, %1)", "bf16[2, 4]", 0, 1, 14, 5, 3, 7, 29, 14, 6);
  GIVES("i32" A_2_3 "i32" B_3_4, "matmul(%0, %1)", "i32[2, 4]", 0, 1, 14, 5, 3, 7, 29, 14, 6);
  GIVES("i64" A_2_3 "i64" B_3_4, "matmul(%0, %1)", "i64[2, 4]", 0, 1, 14, 5, 3, 7, 29, 14, 6);
  GIVES("u32" A_2_3 "u32" B_3_4_PLUS, "matmul(%0, %1)", "u32[2, 4]", 0, 13, 14, 5, 5, 31, 29, 14,
        14);
  GIVES("u64" A_2_3 "u64" B_3_4_PLUS, "matmul(%0, %1)", "u64[2, 4]", 0, 13, 14, 5, 5, 31, 29, 14,
        14);
  FAILS("bool[2, 2]; bool[2, 2]", "matmul(%0, %1)", "bool[2, 2]",
        "floats of at least 8 bits or integers");
}

TEST(MatmulOfIntegersWrapsAround) {
  GIVES("u32[1, 2] = [4294967295, 4294967295]; u32[2, 1] = [2, 3]", "matmul(%0, %1)", "u32[1, 1]",
        0, 4294967291.0);
  GIVES("i32[1, 1] = [2147483647]; i32[1, 1] = [2]", "matmul(%0, %1)", "i32[1, 1]", 0, -2);
}

TEST(MatmulOfVectorsAndBroadcastBatches) {
  GIVES("f32[3] = [1, 2, 3]; f32[3] = [4, 5, 6]", "matmul(%0, %1)", "f32[]", 0, 32);
  GIVES("f32[3] = [1, 2, 3]; f32" B_3_4, "matmul(%0, %1)", "f32[4]", 0, 1, 14, 5, 3);
  GIVES("f32" A_2_3 "f32[3] = [1, 0, -1]", "matmul(%0, %1)", "f32[2]", 0, -2, -2);
  GIVES("f32[2, 1, 2] = [1, 2, 3, 4]; f32[2, 1] = [5, 6]", "matmul(%0, %1)", "f32[2, 1, 1]", 0, 17,
        39);
  GIVES("f32[2, 1, 1, 2] = [1, 2, 3, 4]; f32[2, 2, 1] = [1, 1, 1, -1]", "matmul(%0, %1)",
        "f32[2, 2, 1, 1]", 0, 3, -1, 7, -1);
  GIVES("f32[1, 2] = [1, 2]; f32[3, 2, 1] = [1, 0, 0, 1, 1, 1]", "matmul(%0, %1)", "f32[3, 1, 1]",
        0, 1, 2, 3);
}

TEST(EmptyProductsAreZeros) {
  GIVES("f32[2, 0]; f32[0, 2]", "matmul(%0, %1)", "f32[2, 2]", 0, 0, 0, 0, 0);
  GIVES("f16[2, 0]; f16[0, 2]", "matmul(%0, %1)", "f16[2, 2]", 0, 0, 0, 0, 0);
  GIVES("i64[2, 0]; i64[0, 2]", "matmul(%0, %1)", "i64[2, 2]", 0, 0, 0, 0, 0);
  GIVES("u8[2, 0]; i8[0, 2]", "matmul_integer(%0, %1)", "i32[2, 2]", 0, 0, 0, 0, 0);
  kernel_case* c = kernel_case_create("f32[0, 3]; f32[3, 2]", "matmul(%0, %1)", "f32[0, 2]");
  CHECK(kernel_case_run(c) == STOW_OK);
  kernel_case_destroy(c);
}

// Operand 0 [batches, m, k] and operand 1 [batches or 1, k, n] of floats, with sums in f64.
static void check_against_f64(const char* operands, const char* node, const char* results,
                              stow_dtype dtype, size_t batches, size_t b_batches, size_t m,
                              size_t n, size_t k, double tolerance) {
  kernel_case* c = kernel_case_create(operands, node, results);
  kernel_case_fill(c, m + n + k);
  double* expected = malloc(batches * m * n * sizeof(double));
  for (size_t e = 0; e < batches * m * n; ++e) {
    size_t batch = e / (m * n);
    double sum = 0;
    for (size_t p = 0; p < k; ++p) {
      double a;
      double b;
      stowi_kernel_load_f64(dtype, kernel_case_operand(c, 0), e / n * k + p, 1, &a);
      stowi_kernel_load_f64(dtype, kernel_case_operand(c, 1),
                            (batch % b_batches * k + p) * n + e % n, 1, &b);
      sum += a * b;
    }
    expected[e] = sum;
  }
  kernel_case_gives(c, 0, expected, batches * m * n, tolerance, __FILE__, __LINE__);
  free(expected);
  kernel_case_destroy(c);
}

TEST(LargeProductsAreRight) {
  check_against_f64("f32[130, 300]; f32[300, 70]", "matmul(%0, %1)", "f32[130, 70]", STOW_F32, 1, 1,
                    130, 70, 300, 2e-4);
  check_against_f64("f32[1, 300]; f32[300, 700]", "matmul(%0, %1)", "f32[1, 700]", STOW_F32, 1, 1,
                    1, 700, 300, 2e-4);
  check_against_f64("f32[9, 5, 64]; f32[9, 64, 40]", "matmul(%0, %1)", "f32[9, 5, 40]", STOW_F32, 9,
                    9, 5, 40, 64, 2e-4);
  check_against_f64("f32[3, 5, 64]; f32[64, 40]", "matmul(%0, %1)", "f32[3, 5, 40]", STOW_F32, 3, 1,
                    5, 40, 64, 2e-4);
  check_against_f64("f16[140, 300]; f16[300, 270]", "matmul(%0, %1)", "f16[140, 270]", STOW_F16, 1,
                    1, 140, 270, 300, 2e-2);
  check_against_f64("bf16[2, 3, 30]; bf16[2, 30, 5]", "matmul(%0, %1)", "bf16[2, 3, 5]", STOW_BF16,
                    2, 2, 3, 5, 30, 1e-1);
  check_against_f64("f64[3, 300]; f64[300, 300]", "matmul(%0, %1)", "f64[3, 300]", STOW_F64, 1, 1,
                    3, 300, 300, 1e-12);
}

// ---------------------------------------------------------------------------------------------
// fused_matmul, gemm, fused_gemm

TEST(FusedMatmulTransposesItsFactors) {
  GIVES("f32[3, 2] = [1, 4, 2, 5, 3, 6]; f32" B_3_4, "fused_matmul(%0, %1) {trans_a = true}",
        "f32[2, 4]", 0, 1, 14, 5, 3, 7, 29, 14, 6);
  GIVES("f32" A_2_3 "f32[4, 3] = [1, 3, -2, 0, 1, 4, 2, 0, 1, -1, 2, 0]",
        "fused_matmul(%0, %1) {trans_b = true, alpha = 0.5}", "f32[2, 4]", 0, 0.5, 7, 2.5, 1.5, 3.5,
        14.5, 7, 3);
  // [m, batch, k] as [batch, m, k].
  GIVES("f32[2, 3, 1] = [1, 2, 3, 4, 5, 6]; f32[3, 1, 2] = [1, -1, 2, 0, 3, 1]",
        "fused_matmul(%0, %1) {trans_batch_a = true}", "f32[3, 2, 2]", 0, 1, -1, 4, -4, 4, 0, 10, 0,
        9, 3, 18, 6);
  GIVES("f16" A_2_3 "f16[4, 3] = [1, 3, -2, 0, 1, 4, 2, 0, 1, -1, 2, 0]",
        "fused_matmul(%0, %1) {trans_b = true}", "f16[2, 4]", 0, 1, 14, 5, 3, 7, 29, 14, 6);
}

static void gemm_over_addend(const char* operands, const char* node, double beta) {
  kernel_case* c = kernel_case_create(operands, node, "f32[2, 4]");
  KERNEL_SET(c, 0, float, 1, 2, 3, 4, 5, 6);
  KERNEL_SET(c, 1, float, 1, 0, 2, -1, 3, 1, 0, 2, -2, 4, 1, 0);
  KERNEL_SET(c, 2, float, 1, 2, 3, 4, 5, 6, 7, 8);
  KERNEL_GIVES(c, 0, 1e-6, 1 + beta, 14 + 2 * beta, 5 + 3 * beta, 3 + 4 * beta, 7 + 5 * beta,
               29 + 6 * beta, 14 + 7 * beta, 6 + 8 * beta);
  kernel_case_destroy(c);
}

TEST(GemmAddsInPlace) {
  const char* operands = "f32[2, 3]; f32[3, 4]; f32[2, 4]";
  gemm_over_addend(operands, "gemm(%0, %1, %2)", 1);
  gemm_over_addend(operands, "gemm(%0, %1, %2) {beta = 2.5}", 2.5);
  gemm_over_addend(operands, "gemm(%0, %1, %2) {beta = 0.0}", 0);
}

TEST(GemmWithoutBetaDoesNotReadTheAddend) {
  kernel_case* c = kernel_case_create("f32[1, 1]; f32[1, 1]; f32[1, 1]",
                                      "gemm(%0, %1, %2) {beta = 0.0}", "f32[1, 1]");
  KERNEL_SET(c, 0, float, 2);
  KERNEL_SET(c, 1, float, 3);
  KERNEL_SET(c, 2, float, NAN);
  KERNEL_GIVES(c, 0, 0, 6);
  kernel_case_destroy(c);
}

TEST(GemmBroadcastsTheAddend) {
#define TURNED "f32[3, 2] = [1, 4, 2, 5, 3, 6]; f32[4, 3] = [1, 3, -2, 0, 1, 4, 2, 0, 1, -1, 2, 0]"
#define NODE "gemm(%0, %1, %2) {alpha = 0.5, beta = 2.0, trans_a = true, trans_b = true}"
  GIVES(TURNED "; f32[4] = [1, 2, 3, 4]", NODE, "f32[2, 4]", 0, 2.5, 11, 8.5, 9.5, 5.5, 18.5, 13,
        11);
  GIVES(TURNED "; f32[2, 1] = [1, 2]", NODE, "f32[2, 4]", 0, 2.5, 9, 4.5, 3.5, 7.5, 18.5, 11, 7);
  GIVES(TURNED "; f32[] = [1]", NODE, "f32[2, 4]", 0, 2.5, 9, 4.5, 3.5, 5.5, 16.5, 9, 5);
#undef NODE
#undef TURNED
  GIVES("f16" A_2_3 "f16" B_3_4 "; f16[4] = [1, 2, 3, 4]", "gemm(%0, %1, %2)", "f16[2, 4]", 0, 2,
        16, 8, 7, 8, 31, 17, 10);
  GIVES("f64" A_2_3 "f64" B_3_4 "; f64[2, 1] = [1, 2]", "gemm(%0, %1, %2) {beta = 0.5}",
        "f64[2, 4]", 0, 1.5, 14.5, 5.5, 3.5, 8, 30, 15, 7);
  GIVES("i32" A_2_3 "i32" B_3_4 "; i32[1, 4] = [1, 2, 3, 4]", "gemm(%0, %1, %2) {beta = -1.0}",
        "i32[2, 4]", 0, 0, 12, 2, -1, 6, 27, 11, 2);
  FAILS("i32[1, 1]; i32[1, 1]", "gemm(%0, %1) {alpha = 0.5}", "i32[1, 1]", "must be integers");
}

TEST(FusedGemmActivates) {
#define FUSED(attributes, ...)                                                               \
  GIVES("f32[1, 2] = [1, 2]; f32[2, 4] = [1, -1, 0, 0, 0, 0, 1, -1]; f32[4] = [1, 0, 0, 0]", \
        "fused_gemm(%0, %1, %2) {" attributes "}", "f32[1, 4]", 1e-5, __VA_ARGS__)
  FUSED("activation = \"\"", 2, -1, 2, -2);
  FUSED("activation = \"Relu\"", 2, 0, 2, 0);
  FUSED("activation = \"LeakyRelu\", activation_alpha = 0.1", 2, -0.1, 2, -0.2);
  FUSED("activation = \"Tanh\"", 0.9640276, -0.7615942, 0.9640276, -0.9640276);
  FUSED("activation = \"Sigmoid\"", 0.8807971, 0.2689414, 0.8807971, 0.1192029);
  FUSED("activation = \"Elu\", activation_alpha = 1.5", 2, -0.9481809, 2, -1.2969971);
  FUSED("activation = \"HardSigmoid\", activation_alpha = 0.3, activation_beta = 0.5", 1, 0.2, 1,
        0);
  FUSED("activation = \"Selu\", activation_alpha = 2.0, activation_gamma = 0.5", 1, -0.6321206, 1,
        -0.8646647);
  FUSED("activation = \"Softplus\"", 2.126928, 0.3132617, 2.126928, 0.126928);
  FUSED("activation = \"Softsign\"", 0.6666667, -0.5, 0.6666667, -0.6666667);
  FUSED("activation = \"ThresholdedRelu\", activation_alpha = 1.9", 2, 0, 2, 0);
#undef FUSED
  FAILS("f32[1, 1]; f32[1, 1]", "fused_gemm(%0, %1) {activation = \"Mish\"}", "f32[1, 1]",
        "unknown activation \"Mish\"");
  FAILS("f64[1, 1]; f64[1, 1]", "fused_gemm(%0, %1) {activation = \"Relu\"}", "f64[1, 1]",
        "f32, f16 or bf16");
}

// ---------------------------------------------------------------------------------------------
// einsum

#define EINSUM(equation) "einsum(%0, %1) {equation = \"" equation "\"}"
#define EINSUM_OF_ONE(equation) "einsum(%0) {equation = \"" equation "\"}"

TEST(EinsumOfOneOperand) {
  GIVES("f32" A_2_3, EINSUM_OF_ONE("ij->ji"), "f32[3, 2]", 0, 1, 4, 2, 5, 3, 6);
  GIVES("f32" A_2_3, EINSUM_OF_ONE("ij->i"), "f32[2]", 0, 6, 15);
  GIVES("f32" A_2_3, EINSUM_OF_ONE(" i j -> "), "f32[]", 0, 21);
  GIVES("i64[2, 2] = [1, 2, 3, 4]", EINSUM_OF_ONE("ii->i"), "i64[2]", 0, 1, 4);
  GIVES("f64[2, 2] = [1, 2, 3, 4]", EINSUM_OF_ONE("ii"), "f64[]", 0, 5);
  GIVES("f32" A_2_3, EINSUM_OF_ONE("ba"), "f32[3, 2]", 0, 1, 4, 2, 5, 3, 6);
  GIVES("f32[2, 1, 2] = [1, 2, 3, 4]", EINSUM_OF_ONE("...j->j..."), "f32[2, 2, 1]", 0, 1, 3, 2, 4);
}

TEST(EinsumOfProducts) {
  GIVES("f32" A_2_3 "f32" B_3_4, EINSUM("ij,jk->ik"), "f32[2, 4]", 0, 1, 14, 5, 3, 7, 29, 14, 6);
  GIVES("f32" A_2_3 "f32" B_3_4, EINSUM("ij,jk->ki"), "f32[4, 2]", 0, 1, 7, 14, 29, 5, 14, 3, 6);
  GIVES("f16" A_2_3 "f16" B_3_4, EINSUM("ij,jk"), "f16[2, 4]", 0, 1, 14, 5, 3, 7, 29, 14, 6);
  GIVES("f32[2] = [1, 2]; f32[3] = [3, 4, 5]", EINSUM("i,j->ij"), "f32[2, 3]", 0, 3, 4, 5, 6, 8,
        10);
  GIVES("f32[2] = [1, 2]; f32[2] = [3, 4]", EINSUM("i,i->"), "f32[]", 0, 11);
  GIVES("f32[2] = [1, 2]; f32[2] = [3, 4]", EINSUM("i,i->i"), "f32[2]", 0, 3, 8);
  // Sums of one operand alone beside the common one.
  GIVES("f32" A_2_3 "f32[3, 2] = [1, 1, 1, 1, 2, 2]", EINSUM("ij,jk->k"), "f32[2]", 0, 30, 30);
  GIVES("f32[2, 1, 2] = [1, 2, 3, 4]; f32[1, 2, 3] = [1, 0, 1, 0, 1, 1]",
        EINSUM("...ij,...jk->...ik"), "f32[2, 1, 3]", 0, 1, 2, 3, 3, 4, 7);
  GIVES("f32[2, 2] = [1, 2, 3, 4]; f32[1, 2] = [5, 6]", EINSUM("ij,ij->i"), "f32[2]", 0, 17, 39);
  GIVES("f32[1, 2] = [1, 2]; f32[2, 2] = [1, 0, 0, 1]; f32[2, 1] = [3, 4]",
        "einsum(%0, %1, %2) {equation = \"ab,bc,cd->ad\"}", "f32[1, 1]", 0, 11);
}

// Two common summed axes that are not neighbours, two batches, and an axis of each factor alone.
TEST(EinsumOfManyAxesIsRight) {
  kernel_case* c = kernel_case_create("f32[2, 3, 4, 5]; f32[2, 6, 4, 5]", EINSUM("bijc,bkjc->bik"),
                                      "f32[2, 3, 6]");
  kernel_case_fill(c, 7);
  const float* a = kernel_case_operand(c, 0);
  const float* b = kernel_case_operand(c, 1);
  double expected[36];
  for (size_t e = 0; e < 36; ++e) {
    expected[e] = 0;
    for (size_t s = 0; s < 20; ++s) {
      expected[e] += (double)a[e / 6 * 20 + s] * (double)b[(e / 18 * 6 + e % 6) * 20 + s];
    }
  }
  kernel_case_gives(c, 0, expected, 36, 1e-5, __FILE__, __LINE__);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[2, 20, 4, 16]; f32[2, 30, 4, 16]", EINSUM("bqhd,bkhd->bhqk"),
                         "f32[2, 4, 20, 30]");
  kernel_case_fill(c, 8);
  CHECK(kernel_case_run(c) == STOW_OK);
  kernel_case_destroy(c);
}

TEST(EinsumOverNothingIsZero) {
  GIVES("f32[2, 0]; f32[0, 2]", EINSUM("ij,jk->ik"), "f32[2, 2]", 0, 0, 0, 0, 0);
  GIVES("f32[2, 0]; f32[2, 2]", EINSUM("ij,ik->ik"), "f32[2, 2]", 0, 0, 0, 0, 0);
}

// ---------------------------------------------------------------------------------------------
// det, inverse, cdist

TEST(DeterminantsOfMatrices) {
  GIVES("f32[3, 3] = [2, 1, 0, 1, 3, 1, 0, 1, 4]", "det(%0)", "f32[]", 1e-6, 18);
  GIVES("f32[2, 2, 2] = [0, 1, 1, 0, 1, 2, 2, 4]", "det(%0)", "f32[2]", 1e-6, -1, 0);
  GIVES("f64[1, 1] = [-3]", "det(%0)", "f64[]", 0, -3);
  GIVES("f16[2, 2] = [1, 2, 3, 4]", "det(%0)", "f16[]", 1e-3, -2);
}

TEST(InversesOfMatrices) {
  GIVES("f32[3, 3] = [2, 1, 0, 1, 3, 1, 0, 1, 4]", "inverse(%0)", "f32[3, 3]", 1e-6, 11.0 / 18,
        -4.0 / 18, 1.0 / 18, -4.0 / 18, 8.0 / 18, -2.0 / 18, 1.0 / 18, -2.0 / 18, 5.0 / 18);
  GIVES("f64[2, 2, 2] = [0, 2, 1, 0, 1, 2, 3, 4]", "inverse(%0)", "f64[2, 2, 2]", 1e-12, 0, 1, 0.5,
        0, -2, 1, 1.5, -0.5);
  FAILS("i32[1, 1]", "inverse(%0)", "i32[1, 1]", "must have floats");
  FAILS("f32[2, 3]", "inverse(%0)", "f32[2, 3]", "must be equal");
  FAILS("f32[2]", "inverse(%0)", "f32[2]", "must be equal");
}

TEST(DistancesOfRows) {
  GIVES("f32[2, 2] = [0, 0, 1, 2]; f32[1, 2] = [3, 4]", "cdist(%0, %1)", "f32[2, 1]", 0, 25, 8);
  GIVES("f32[2, 2] = [0, 0, 3, 3]; f32[1, 2] = [3, 4]", "cdist(%0, %1) {metric = \"euclidean\"}",
        "f32[2, 1]", 1e-6, 5, 1);
  FAILS("f32[1, 1]; f32[1, 1]", "cdist(%0, %1) {metric = \"cosine\"}", "f32[1, 1]", "euclidean");
}

TEST(AddendsAreOfTheProductsType) {
  FAILS("f32[1, 1]; f32[1, 1]; f16[1]", "fused_gemm(%0, %1, %2)", "f32[1, 1]",
        "the addend is f16, the product f32");
}
