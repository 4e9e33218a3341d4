// softmax and what chooses the best of a row: numbers of numpy.
#include <math.h>

#include "exec/numbers.h"

#define X N(1, 2, 3, 4, 4, 3, 2, -1)

TEST(SoftmaxOfRows) {
  REALS_GIVE("T[2, 4]", "softmax(%0)", "T[2, 4]", 0,
             N(0.032058603, 0.087144319, 0.236882818, 0.64391426, 0.662272414, 0.243636405,
               0.089628825, 0.004462356),
             X);
  REALS_GIVE("T[2, 4]", "log_softmax(%0)", "T[2, 4]", 0,
             N(-3.440189699, -2.440189699, -1.440189699, -0.440189699, -0.412078307, -1.412078307,
               -2.412078307, -5.412078307),
             X);
}

TEST(SoftmaxAlongAnotherAxis) {
  REALS_GIVE("T[2, 4]", "softmax(%0) {axis = 0}", "T[2, 4]", 0,
             N(0.047425873, 0.268941421, 0.731058579, 0.993307149, 0.952574127, 0.731058579,
               0.268941421, 0.006692851),
             X);
  REALS_GIVE("T[2, 4, 1]", "log_softmax(%0) {axis = -3}", "T[2, 4, 1]", 0,
             N(-3.048587352, -1.313261688, -0.313261688, -0.006715348, -0.048587352, -0.313261688,
               -1.313261688, -5.006715348),
             X);
}

TEST(SoftmaxOfAllDimsFromTheAxisOn) {
  GIVES("f32[2, 2, 2]", "softmax(%0) {axis = 1, flatten = true}", "f32[2, 2, 2]", 0, 1e-6,
        N(0.032058603, 0.087144319, 0.236882818, 0.64391426, 0.662272414, 0.243636405, 0.089628825,
          0.004462356),
        X);
  GIVES("f32[2]", "softmax(%0) {axis = 1, flatten = true}", "f32[2]", 0, 0, N(1, 1), N(3, 4));
  GIVES("f32[2, 2]", "hardmax(%0) {axis = 0, flatten = true}", "f32[2, 2]", 0, 0, N(0, 0, 1, 0),
        N(1, 2, 5, 3));
}

TEST(SoftmaxNeitherOverflowsNorHidesNan) {
  GIVES("f32[4]", "softmax(%0)", "f32[4]", 0, 1e-6,
        N(0.032058603, 0.087144319, 0.236882818, 0.64391426), N(10000, 10001, 10002, 10003));
  GIVES("f32[3]", "softmax(%0)", "f32[3]", 0, 1e-6, N(0, 0.5, 0.5), N(-INFINITY, 1, 1));
  GIVES("f32[2, 2]", "softmax(%0)", "f32[2, 2]", 0, 1e-6, N(NAN, NAN, 0.5, 0.5), N(NAN, 1, 1, 1));
  GIVES("f32[3, 2]", "softmax(%0)", "f32[3, 2]", 0, 1e-6, N(NAN, NAN, NAN, NAN, 1, 0),
        N(-NAN, 1, INFINITY, 1, 1e30, -1e30));
  GIVES("f32[2, 2]", "softmax(%0) {axis = 0}", "f32[2, 2]", 0, 1e-6, N(NAN, 0.5, NAN, 0.5),
        N(NAN, 1, 1, 1));
}

// Longer than a block, in both directions, against sums in double.
TEST(SoftmaxOfLongRows) {
  enum { ROWS = 3, COUNT = 1000 };
  static double expected[ROWS * COUNT];
  for (int is_across = 0; is_across < 2; ++is_across) {
    kernel_case* c =
        is_across != 0
            ? kernel_case_create("f32[1000, 3]", "softmax(%0) {axis = 0}", "f32[1000, 3]")
            : kernel_case_create("f32[3, 1000]", "softmax(%0)", "f32[3, 1000]");
    kernel_case_fill(c, 7);
    const float* x = kernel_case_operand(c, 0);
    for (size_t r = 0; r < ROWS; ++r) {
      size_t first = is_across != 0 ? r : r * COUNT;
      size_t step = is_across != 0 ? ROWS : 1;
      double sum = 0;
      for (size_t i = 0; i < COUNT; ++i) {
        sum += exp((double)x[first + i * step]);
      }
      for (size_t i = 0; i < COUNT; ++i) {
        expected[first + i * step] = exp((double)x[first + i * step]) / sum;
      }
    }
    kernel_case_gives(c, 0, expected, ROWS * COUNT, 1e-9, __FILE__, __LINE__);
    kernel_case_destroy(c);
  }
}

TEST(HardmaxMarksTheFirstOfTheLargest) {
  REALS_GIVE("T[2, 4]", "hardmax(%0)", "T[2, 4]", 0, N(0, 1, 0, 0, 1, 0, 0, 0),
             N(1, 4, 3, 4, 4, 3, 2, -1));
  REALS_GIVE("T[2, 4]", "hardmax(%0) {axis = 0}", "T[2, 4]", 0, N(0, 1, 1, 1, 1, 0, 0, 0),
             N(1, 4, 3, 4, 4, 3, 2, -1));
}

TEST(ArgmaxAndArgmin) {
  GIVES("f32[2, 3]", "argmax(%0) {axis = 1}", "i64[2, 1]", 0, 0, N(1, 0), N(1, 3, 3, 7, -1, 2));
  GIVES("f32[2, 3]", "argmax(%0) {axis = 1, select_last_index = true, keepdims = false}", "i64[2]",
        0, 0, N(2, 0), N(1, 3, 3, 7, -1, 2));
  GIVES("f16[2, 3]", "argmax(%0)", "i64[1, 3]", 0, 0, N(1, 0, 0), N(1, 3, 3, 7, -1, 2));
  GIVES("i32[2, 3]", "argmin(%0) {axis = -1}", "i64[2, 1]", 0, 0, N(0, 1), N(1, 3, 3, 7, -1, 2));
  GIVES("f64[2, 3]", "argmin(%0) {axis = 0, select_last_index = true}", "i64[1, 3]", 0, 0,
        N(1, 1, 1), N(1, 3, 3, 1, -1, 2));
  GIVES("u8[3]", "argmax(%0)", "i64[1]", 0, 0, N(1), N(3, 255, 4));
}

TEST(ArgmaxTakesNanFirstAndZerosAsEqual) {
  GIVES("f32[4]", "argmax(%0)", "i64[1]", 0, 0, N(1), N(INFINITY, NAN, 3, NAN));
  GIVES("f32[4]", "argmin(%0)", "i64[1]", 0, 0, N(2), N(1, 2, NAN, -INFINITY));
  GIVES("f32[3]", "argmax(%0)", "i64[1]", 0, 0, N(0), N(-0.0, 0.0, -1));
  GIVES("f32[3]", "argmin(%0)", "i64[1]", 0, 0, N(0), N(0.0, -0.0, 1));
}

TEST(ArgmaxOfUnsignedNumbersWithTheHighestBit) {
  kernel_case* c = kernel_case_create("u64[3]", "argmax(%0)", "i64[1]");
  KERNEL_SET(c, 0, uint64_t, 5, UINT64_C(0x8000000000000001), 7);
  KERNEL_GIVES(c, 0, 0, 1);
  kernel_case_destroy(c);
}

TEST(ArgmaxOfNothingIsAnError) {
  kernel_case* c = kernel_case_create("f32[0, 3]", "argmax(%0)", "i64[1, 3]");
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(kernel_case_message(c), "no elements");
  kernel_case_destroy(c);
  c = kernel_case_create("f32[3, 0]", "argmax(%0)", "i64[1, 0]");
  CHECK(kernel_case_run(c) == STOW_OK);
  kernel_case_destroy(c);
}

TEST(SoftmaxOfIntegersIsRefused) {
  FAILS("i32[2]", "softmax(%0)", "i32[2]", "expected f16, bf16, f32 or f64", N(1, 2));
  FAILS("i32[2]", "hardmax(%0)", "i32[2]", "expected f16, bf16, f32 or f64", N(1, 2));
}
