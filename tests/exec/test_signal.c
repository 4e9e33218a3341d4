// Transforms of signals against numbers of numpy, and by hand.
#include <math.h>
#include <stdint.h>

#include "exec/kernel_case.h"
#include "support/test.h"

TEST(DftOfLength1) {
  kernel_case* c = kernel_case_create("f32[1, 1, 2]", "dft(%0) {axis = 1}", "f32[1, 1, 2]");
  KERNEL_SET(c, 0, float, 0.5F, -0.375F);
  KERNEL_GIVES(c, 0, 1e-5, 0.5, -0.375);
  kernel_case_destroy(c);
}

TEST(DftOfLength4) {
  kernel_case* c = kernel_case_create("f32[1, 4, 2]", "dft(%0) {axis = 1}", "f32[1, 4, 2]");
  KERNEL_SET(c, 0, float, -0.125F, 1, -0.625F, 0, -1.375F, 0.75F, -1, 1.25F);
  KERNEL_GIVES(c, 0, 1e-5, -3.125, 3, 0, -0.125, 0.125, 0.5, 2.5, 0.625);
  kernel_case_destroy(c);
}

TEST(DftOfLength6) {
  kernel_case* c = kernel_case_create("f32[1, 6, 2]", "dft(%0) {axis = 1}", "f32[1, 6, 2]");
  KERNEL_SET(c, 0, float, -0.5F, 0.375F, 0.625F, -0.25F, -1, -0.75F, 0.5F, 1.25F, 1.125F, 0.875F, 1,
             0.875F);
  KERNEL_GIVES(c, 0, 1e-5, 1.75, 2.375, -2.63157, 1.540064, -0.4419873, -0.2655444, -2.5, -1.375,
               -1.308013, 2.765544, 2.13157, -2.790064);
  kernel_case_destroy(c);
}

TEST(DftOfLength7) {
  kernel_case* c = kernel_case_create("f32[1, 7, 2]", "dft(%0) {axis = 1}", "f32[1, 7, 2]");
  KERNEL_SET(c, 0, float, -0.5F, -0.875F, 1.25F, -0.25F, 0.5F, 1.25F, 1, -0.75F, 1.375F, 1, -1.5F,
             0.125F, -1.5F, -0.875F);
  KERNEL_GIVES(c, 0, 1e-5, 0.625, -0.375, -1.747011, -6.04482, 3.426803, -3.814095, -3.741242,
               1.676339, 0.8877721, 0.2041776, 0.4479716, 0.3988474, -3.399295, 1.829551);
  kernel_case_destroy(c);
}

TEST(DftGoesBack) {
  kernel_case* c =
      kernel_case_create("f32[1, 5, 2]", "dft(%0) {axis = 1, inverse = true}", "f32[1, 5, 2]");
  KERNEL_SET(c, 0, float, 0.5F, -0.375F, 0.375F, -1.375F, -1.125F, 0.5F, -0.875F, 0.75F, -0.875F,
             -1.5F);
  KERNEL_GIVES(c, 0, 1e-5, -0.4, -0.4, 0.398318, -0.2465641, -0.004952562, 0.6619382, 0.1195424,
               0.2729399, 0.3870923, -0.6633139);
  kernel_case_destroy(c);
}

TEST(DftTakesAnyAxis) {
  kernel_case* c = kernel_case_create("f32[2, 3, 2, 1]", "dft(%0) {axis = 1, onesided = true}",
                                      "f32[2, 2, 2, 2]");
  KERNEL_SET(c, 0, float, -1.5F, -0.625F, -1.375F, 0.875F, -1.375F, -0.875F, 0.375F, 0.125F, 0.25F,
             1, 0.5F, 0.25F);
  KERNEL_GIVES(c, 0, 1e-5, -4.25, 0, -0.625, 0, -0.125, 0, -0.625, -1.515544, 1.125, 0, 1.375, 0, 0,
               0.2165063, -0.5, -0.649519);
  kernel_case_destroy(c);
}

TEST(DftMirrorsHalves) {
  kernel_case* c = kernel_case_create(
      "f32[1, 4, 2]", "dft(%0) {axis = 1, onesided = true, inverse = true}", "f32[1, 6, 1]");
  KERNEL_SET(c, 0, float, -0.75F, -1.125F, 1.5F, 1.25F, 0.5F, 0.75F, 0, 0.25F);
  KERNEL_GIVES(c, 0, 1e-5, 0.5416667, -0.5356836, -0.6026709, -0.4583333, -0.3139958, 0.619017);
  kernel_case_destroy(c);
}

TEST(DftTakesF64) {
  kernel_case* c = kernel_case_create("f64[1, 3, 1]", "dft(%0) {axis = 1}", "f64[1, 3, 2]");
  KERNEL_SET(c, 0, double, -1.375, -1.25, -1.25);
  KERNEL_GIVES(c, 0, 1e-14, -3.875, 0, -0.125, 0, -0.125, 0);
  kernel_case_destroy(c);
}

TEST(RfftGivesHalfTheSpectrum) {
  kernel_case* c = kernel_case_create("f32[2, 6]", "rfft(%0)", "f32[2, 4, 2]");
  KERNEL_SET(c, 0, float, -1.125F, 1, -1.375F, 0.625F, -1, -0.875F, -0.75F, 0, 0.375F, 0.25F, 0.25F,
             -1.125F);
  KERNEL_GIVES(c, 0, 1e-5, -2.75, 0, -0.5, -1.299038, 0.625, -1.948557, -4.25, 0, -1, 0, -1.875,
               -1.082532, -0.25, -0.8660254, 0.75, 0);
  kernel_case_destroy(c);
}

TEST(RfftGoesBack) {
  kernel_case* c = kernel_case_create("f32[2, 4, 2]", "rfft(%0) {inverse = true}", "f32[2, 6]");
  KERNEL_SET(c, 0, float, 0.25F, -1.25F, 1, -1.375F, -1.25F, -1, -0.375F, 1.125F, -1.375F, -1,
             -0.25F, -0.875F, -1.375F, 0.125F, -1.375F, 0.625F);
  KERNEL_GIVES(c, 0, 1e-5, -0.1041667, 1.16477, 0.1290865, -0.6458334, -0.08741984, -0.2064368, -1,
               0.4040063, 0.1011751, -0.375, -0.4761752, -0.02900634);
  kernel_case_destroy(c);
}

// Cut to two samples, then filled up with a zero.
TEST(DftTakesLengths) {
  kernel_case* c =
      kernel_case_create("f32[1, 3, 1]; i64[] = [2]", "dft(%0, %1) {axis = 1}", "f32[1, 2, 2]");
  KERNEL_SET(c, 0, float, 1, 2, 9);
  KERNEL_GIVES(c, 0, 1e-7, 3, 0, -1, 0);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[1, 2, 1]; i64[] = [4]; i64[] = [-2]", "dft(%0, %1, %2)",
                         "f32[1, 4, 2]");
  KERNEL_SET(c, 0, float, 1, 2);
  KERNEL_GIVES(c, 0, 1e-7, 3, 0, 1, -2, -1, 0, 1, 2);
  kernel_case_destroy(c);
}

// A length that is a large prime, of a cosine: two bins, and nothing else.
TEST(DftTakesPrimes) {
  enum { LENGTH = 1009 };
  kernel_case* c = kernel_case_create("f64[1, 1009, 1]", "dft(%0) {axis = 1}", "f64[1, 1009, 2]");
  double* x = kernel_case_operand(c, 0);
  for (size_t i = 0; i < LENGTH; ++i) {
    x[i] = cos(2 * 3.14159265358979323846 * 100 * (double)i / LENGTH);
  }
  CHECK(kernel_case_run(c) == STOW_OK);
  const double* out = kernel_case_result(c, 0)->data;
  for (size_t k = 0; k < LENGTH; ++k) {
    double expected = k == 100 || k == LENGTH - 100 ? LENGTH / 2.0 : 0;
    CHECK(fabs(out[2 * k] - expected) < 1e-9 && fabs(out[2 * k + 1]) < 1e-9);
  }
  kernel_case_destroy(c);
}

TEST(DftRefusesOtherParts) {
  kernel_case* c = kernel_case_create("f32[1, 2, 3]", "dft(%0) {axis = 1}", "f32[1, 2, 2]");
  CHECK(kernel_case_run(c) == STOW_ERR_UNSUPPORTED);
  kernel_case_destroy(c);
}

TEST(EmptySignalsGiveZeros) {
  kernel_case* c = kernel_case_create("f32[2, 0]", "rfft(%0)", "f32[2, 1, 2]");
  KERNEL_GIVES(c, 0, 0, 0, 0, 0, 0);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[1, 0, 1]; i64[] = [2]", "dft(%0, %1) {axis = 1}", "f32[1, 2, 2]");
  KERNEL_GIVES(c, 0, 0, 0, 0, 0, 0);
  kernel_case_destroy(c);
}

TEST(RfftRefusesSeveralDims) {
  kernel_case* c = kernel_case_create("f32[2, 2]", "rfft(%0) {signal_dims = 2}", "f32[2, 2, 2]");
  CHECK(kernel_case_run(c) == STOW_ERR_UNSUPPORTED);
  kernel_case_destroy(c);
}

// Frames (1, 2), (3, 4), (5, 6).
TEST(StftWalksFrames) {
  kernel_case* c = kernel_case_create("f32[1, 6, 1]; i64[] = [2]; i64[] = [2]",
                                      "stft(%0, %1, _, %2)", "f32[1, 3, 2, 2]");
  KERNEL_SET(c, 0, float, 1, 2, 3, 4, 5, 6);
  KERNEL_GIVES(c, 0, 1e-7, 3, 0, -1, 0, 7, 0, -1, 0, 11, 0, -1, 0);
  kernel_case_destroy(c);
}

// Weighted (1, 6), (2, 9), two batches, all bins, complex numbers.
TEST(StftWeighsSamples) {
  kernel_case* c = kernel_case_create("f32[2, 3]; i64[] = [1]; f32[2]",
                                      "stft(%0, %1, %2) {onesided = false}", "f32[2, 2, 2, 2]");
  KERNEL_SET(c, 0, float, 1, 2, 3, 0, 0, 1);
  KERNEL_SET(c, 2, float, 1, 3);
  KERNEL_GIVES(c, 0, 1e-7, 7, 0, -5, 0, 11, 0, -7, 0, 0, 0, 0, 0, 3, 0, -3, 0);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[1, 2, 2]; i64[] = [1]; i64[] = [2]",
                         "stft(%0, %1, _, %2) {onesided = false}", "f32[1, 1, 2, 2]");
  KERNEL_SET(c, 0, float, 1, 2, 3, 5);
  KERNEL_GIVES(c, 0, 1e-7, 4, 7, -2, -3);
  kernel_case_destroy(c);
}

TEST(WindowsOfAllKinds) {
  kernel_case* c = kernel_case_create("i64[] = [4]", "window(%0) {kind = \"hann\"}", "f32[4]");
  KERNEL_GIVES(c, 0, 1e-7, 0, 0.5, 1, 0.5);
  kernel_case_destroy(c);
  c = kernel_case_create("i32[] = [3]", "window(%0) {kind = \"hann\", periodic = false}", "f32[3]");
  KERNEL_GIVES(c, 0, 1e-7, 0, 1, 0);
  kernel_case_destroy(c);
  c = kernel_case_create("i64[] = [4]", "window(%0) {kind = \"hamming\", dtype = \"f64\"}",
                         "f64[4]");
  KERNEL_GIVES(c, 0, 1e-12, 4.0 / 46, 25.0 / 46, 1, 25.0 / 46);
  kernel_case_destroy(c);
  c = kernel_case_create("i64[] = [4]", "window(%0) {kind = \"blackman\"}", "f32[4]");
  KERNEL_GIVES(c, 0, 1e-7, 0, 0.34, 1, 0.34);
  kernel_case_destroy(c);
  c = kernel_case_create("i64[] = [1]", "window(%0) {kind = \"hann\", periodic = false}", "f32[1]");
  KERNEL_GIVES(c, 0, 0, 1);
  kernel_case_destroy(c);
}

// Numbers of ONNX's reference.
TEST(MelBandsAreTriangles) {
  kernel_case* c = kernel_case_create("i64[] = [3]; i64[] = [16]; i64[] = [8192]; f32[]; f32[]",
                                      "mel_weights(%0, %1, %2, %3, %4)", "f32[9, 3]");
  KERNEL_SET(c, 3, float, 0);
  KERNEL_SET(c, 4, float, 4096);
  KERNEL_GIVES(c, 0, 1e-6, 1, 0, 0, 0, 1, 0, 0, 0.5, 0.5, 0, 0, 1, 0, 0, 0.5, 0, 0, 0, 0, 0, 0, 0,
               0, 0, 0, 0, 0);
  kernel_case_destroy(c);
}

TEST(MelBandsAtNaNStartAtTheFirstBin) {
  kernel_case* c = kernel_case_create("i64[] = [1]; i64[] = [4]; i64[] = [8]; f32[]; f32[]",
                                      "mel_weights(%0, %1, %2, %3, %4)", "f32[3, 1]");
  KERNEL_SET(c, 3, float, NAN);
  KERNEL_SET(c, 4, float, 4);
  KERNEL_GIVES(c, 0, 0, 1, 0, 0);
  kernel_case_destroy(c);
}
