// Casts between kinds of numbers, and by the rules of f8 types.
#include <math.h>
#include <string.h>

#include "exec/kernel_case.h"
#include "support/test.h"

TEST(CastsBetweenKindsOfNumbers) {
  kernel_case* c = kernel_case_create("f32[5]", "cast(%0)", "i32[5]");
  KERNEL_SET(c, 0, float, 2.9F, -2.9F, NAN, 1e20F, -INFINITY);
  KERNEL_GIVES(c, 0, 0, 2, -2, 0, INT32_MAX, INT32_MIN);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[4]", "cast(%0)", "bool[4]");
  KERNEL_SET(c, 0, float, 0, -0.0F, 0.25F, NAN);
  KERNEL_GIVES(c, 0, 0, 0, 0, 1, 1);
  kernel_case_destroy(c);
  c = kernel_case_create("i16[2]", "cast(%0)", "i8[2]");
  KERNEL_SET(c, 0, int16_t, 200, -1);
  KERNEL_GIVES(c, 0, 0, -56, -1);
  kernel_case_destroy(c);
  c = kernel_case_create("u64[2]", "cast(%0)", "f32[2]");
  KERNEL_SET(c, 0, uint64_t, UINT64_MAX, 3);
  KERNEL_GIVES(c, 0, 0, 0x1p64, 3);
  kernel_case_destroy(c);
  c = kernel_case_create("u64[1]", "cast(%0)", "i64[1]");
  KERNEL_SET(c, 0, uint64_t, UINT64_MAX);
  KERNEL_GIVES(c, 0, 0, -1);
  kernel_case_destroy(c);
  c = kernel_case_create("i64[2]", "cast(%0)", "bool[2]");
  KERNEL_SET(c, 0, int64_t, INT64_C(1) << 40, 0);
  KERNEL_GIVES(c, 0, 0, 1, 0);
  kernel_case_destroy(c);
  c = kernel_case_create("f64[2]", "cast(%0)", "f16[2]");
  KERNEL_SET(c, 0, double, 1 + 0x1p-11 + 0x1p-40, 1e9);
  KERNEL_GIVES(c, 0, 0, 1 + 0x1p-10, INFINITY);
  kernel_case_destroy(c);
}

// An integer of 32 bits has more than an f32 holds: to f16 and f64 it goes without one between.
TEST(IntegersAreRoundedOnce) {
  kernel_case* c = kernel_case_create("i32[1]", "cast(%0)", "f64[1]");
  KERNEL_SET(c, 0, int32_t, INT32_MAX);
  KERNEL_GIVES(c, 0, 0, INT32_MAX);
  kernel_case_destroy(c);
  c = kernel_case_create("i32[1]", "cast(%0)", "bf16[1]");
  KERNEL_SET(c, 0, int32_t, (1 << 24) + (1 << 16) + 1);  // an f32 would make it the middle of two
  KERNEL_GIVES(c, 0, 0, 0x1p24 + 0x1p17);
  kernel_case_destroy(c);
  c = kernel_case_create("i64[1]", "cast(%0)", "f32[1]");
  KERNEL_SET(c, 0, int64_t, (INT64_C(1) << 54) + (INT64_C(1) << 30) + 1);
  KERNEL_GIVES(c, 0, 0, 0x1p54 + 0x1p31);
  kernel_case_destroy(c);
}

TEST(PackedElementsAreCast) {
  kernel_case* c = kernel_case_create("f32[5]", "cast(%0)", "i4[5]");
  KERNEL_SET(c, 0, float, -9, -8, 7.9F, 8, -1);
  KERNEL_GIVES(c, 0, 0, 7, -8, 7, -8, -1);
  kernel_case_destroy(c);
  c = kernel_case_create("u2[6]", "cast(%0)", "f16[6]");
  KERNEL_SET(c, 0, uint8_t, 0xe4, 0x02);
  KERNEL_GIVES(c, 0, 0, 0, 1, 2, 3, 2, 0);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[3]", "cast(%0)", "f4e2m1[3]");
  KERNEL_SET(c, 0, float, 0.25F, -3.5F, 100);
  KERNEL_GIVES(c, 0, 0, 0, -4, 6);
  kernel_case_destroy(c);
}

static void check_f8(const char* node, const char* result, const uint8_t expected[4]) {
  kernel_case* c = kernel_case_create("f32[4]", node, result);
  KERNEL_SET(c, 0, float, 1.1F, -1e6F, INFINITY, NAN);
  CHECK(kernel_case_run(c) == STOW_OK);
  const uint8_t* codes = kernel_case_result(c, 0)->data;
  for (size_t i = 0; i < 4; ++i) {
    test_check(codes[i] == expected[i], __FILE__, __LINE__, "%s to %s: element %zu is %#x", node,
               result, i, codes[i]);
  }
  kernel_case_destroy(c);
}

TEST(F8SaturatesUnlessToldNotTo) {
  const char* loose = "cast(%0) {saturate = false}";
  check_f8("cast(%0)", "f8e4m3fn[4]", (uint8_t[]){0x39, 0xfe, 0x7e, 0x7f});
  check_f8(loose, "f8e4m3fn[4]", (uint8_t[]){0x39, 0xff, 0x7f, 0x7f});
  check_f8("cast(%0)", "f8e5m2[4]", (uint8_t[]){0x3c, 0xfb, 0x7b, 0x7e});
  check_f8(loose, "f8e5m2[4]", (uint8_t[]){0x3c, 0xfc, 0x7c, 0x7e});
  check_f8("cast(%0)", "f8e4m3fnuz[4]", (uint8_t[]){0x41, 0xff, 0x7f, 0x80});
  check_f8(loose, "f8e5m2fnuz[4]", (uint8_t[]){0x40, 0x80, 0x80, 0x80});
  check_f8("cast(%0)", "f8e8m0[4]", (uint8_t[]){128, 255, 254, 255});
  check_f8("cast(%0) {round_mode = \"down\"}", "f8e8m0[4]", (uint8_t[]){127, 255, 254, 255});
  check_f8("cast(%0) {round_mode = \"nearest\", saturate = false}", "f8e8m0[4]",
           (uint8_t[]){127, 255, 255, 255});
}

TEST(CastLikeUsesTheDtypeOfItsOperand) {
  kernel_case* c = kernel_case_create("f32[2]; u8[7]", "cast_like(%0, %1)", "u8[2]");
  KERNEL_SET(c, 0, float, 1.5F, 200);
  KERNEL_GIVES(c, 0, 0, 1, 200);
  kernel_case_destroy(c);
}

TEST(BitcastKeepsBits) {
  kernel_case* c = kernel_case_create("f32[2]", "bitcast(%0) {to = \"i32\"}", "i32[2]");
  KERNEL_SET(c, 0, float, 1, -0.0F);
  KERNEL_GIVES(c, 0, 0, 0x3f800000, INT32_MIN);
  kernel_case_destroy(c);
}

TEST(ComplexNumbersAreRefused) {
  kernel_case* c = kernel_case_create("c64[2]", "cast(%0)", "f32[2]");
  CHECK(kernel_case_run(c) == STOW_ERR_UNSUPPORTED);
  CHECK_HAS(kernel_case_message(c), "c64 cannot be cast to f32");
  kernel_case_destroy(c);
}
