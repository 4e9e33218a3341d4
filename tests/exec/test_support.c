// Elements of every dtype to numbers and back: all codes of the narrow types, the edges of the wide
// ones, rounding, and what stands beside an element of less than a byte.
#include <math.h>
#include <string.h>

#include "exec/kernels/support/attrs.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/half.h"
#include "exec/kernels/support/small.h"
#include "support/test.h"

static double load(stow_dtype dtype, const void* data, size_t i) {
  double wide;
  float narrow;
  stowi_kernel_load_f64(dtype, data, i, 1, &wide);
  stowi_kernel_load_f32(dtype, data, i, 1, &narrow);
  CHECK(narrow == (float)wide || (isnan(narrow) && isnan(wide)));
  return wide;
}

static uint64_t store(stow_dtype dtype, double x) {
  uint64_t bits = 0;
  stowi_kernel_store_f64(dtype, &bits, 0, 1, &x);
  float narrow = (float)x;
  if ((double)narrow == x) {
    uint64_t same = 0;
    stowi_kernel_store_f32(dtype, &same, 0, 1, &narrow);
    CHECK_U64(same, bits);
  }
  return bits;
}

static const stow_dtype narrow_floats[] = {STOW_F16,        STOW_BF16,   STOW_F8E4M3FN,
                                           STOW_F8E4M3FNUZ, STOW_F8E5M2, STOW_F8E5M2FNUZ,
                                           STOW_F8E8M0,     STOW_F4E2M1};

TEST(EveryCodeOfANarrowFloatComesBack) {
  for (size_t k = 0; k < sizeof(narrow_floats) / sizeof(narrow_floats[0]); ++k) {
    stow_dtype dtype = narrow_floats[k];
    for (uint64_t code = 0; code < UINT64_C(1) << stowi_kernel_bits(dtype); ++code) {
      double x = load(dtype, &code, 0);
      bool saturates = isinf(x) && dtype == STOW_F8E5M2;
      if (isnan(x)) {
        uint64_t back = store(dtype, x);
        CHECK(isnan(load(dtype, &back, 0)));
      } else if (!saturates &&
                 !test_check(store(dtype, x) == code, __FILE__, __LINE__,
                             "code %#x of %s becomes %#x", (unsigned)code,
                             stowi_kernel_dtype_text(dtype), (unsigned)store(dtype, x))) {
        return;
      }
    }
  }
}

// Between two neighbours: below the middle down, above it up, at it to the even code.
TEST(NarrowFloatsRoundToNearestEven) {
  for (size_t k = 0; k < sizeof(narrow_floats) / sizeof(narrow_floats[0]); ++k) {
    stow_dtype dtype = narrow_floats[k];
    uint64_t half = UINT64_C(1) << (stowi_kernel_bits(dtype) - 1);
    for (uint64_t code = 0; dtype != STOW_F8E8M0 && code + 1 < half; ++code) {
      uint64_t next = code + 1;
      double low = load(dtype, &code, 0);
      double high = load(dtype, &next, 0);
      if (!isfinite(low) || !isfinite(high)) {
        break;
      }
      double middle = (low + high) / 2;
      if (!test_check(store(dtype, middle) == (code % 2 == 0 ? code : next) &&
                          store(dtype, nextafter(middle, 0)) == code &&
                          store(dtype, nextafter(middle, INFINITY)) == next,
                      __FILE__, __LINE__, "after code %#x of %s", (unsigned)code,
                      stowi_kernel_dtype_text(dtype))) {
        return;
      }
    }
  }
}

TEST(LargeFloatsBecomeInfinityOrSaturate) {
  CHECK_U64(store(STOW_F16, 65519.99), 0x7bff);
  CHECK_U64(store(STOW_F16, 65520), 0x7c00);
  CHECK_U64(store(STOW_F16, -1e300), 0xfc00);
  CHECK_U64(store(STOW_BF16, 3.4e38), 0x7f80);
  CHECK_U64(store(STOW_F8E4M3FN, 1e9), 0x7e);
  CHECK_U64(store(STOW_F8E4M3FN, -INFINITY), 0xfe);
  CHECK_U64(store(STOW_F8E4M3FNUZ, INFINITY), 0x7f);
  CHECK_U64(store(STOW_F8E4M3FNUZ, -0.0), 0);
  CHECK_U64(store(STOW_F8E5M2, 1e9), 0x7b);
  CHECK_U64(store(STOW_F8E5M2FNUZ, -1e9), 0xff);
  CHECK_U64(store(STOW_F4E2M1, -8), 0xf);
  CHECK_U64(store(STOW_F4E2M1, NAN), 0x8);
  CHECK_U64(stowi_kernel_small_of_f64(STOW_F8E4M3FN, -1e9, false, STOWI_KERNEL_ROUND_UP), 0xff);
  CHECK_U64(stowi_kernel_small_of_f64(STOW_F8E4M3FNUZ, 1e9, false, STOWI_KERNEL_ROUND_UP), 0x80);
  CHECK_U64(stowi_kernel_small_of_f64(STOW_F8E5M2, -1e9, false, STOWI_KERNEL_ROUND_UP), 0xfc);
  CHECK_U64(stowi_kernel_small_of_f64(STOW_F8E5M2FNUZ, INFINITY, false, STOWI_KERNEL_ROUND_UP),
            0x80);
}

TEST(PowersOfTwoRoundAsRequested) {
  CHECK_U64(store(STOW_F8E8M0, 1.1), 128);
  CHECK_U64(store(STOW_F8E8M0, 0), 0);
  CHECK_U64(store(STOW_F8E8M0, 1e300), 254);
  CHECK_U64(store(STOW_F8E8M0, NAN), 255);
  CHECK_U64(stowi_kernel_small_of_f64(STOW_F8E8M0, 1.9, true, STOWI_KERNEL_ROUND_DOWN), 127);
  CHECK_U64(stowi_kernel_small_of_f64(STOW_F8E8M0, 1.5, true, STOWI_KERNEL_ROUND_NEAREST), 128);
  CHECK_U64(stowi_kernel_small_of_f64(STOW_F8E8M0, 1.49, true, STOWI_KERNEL_ROUND_NEAREST), 127);
  CHECK_U64(stowi_kernel_small_of_f64(STOW_F8E8M0, 0, false, STOWI_KERNEL_ROUND_NEAREST), 255);
  CHECK_U64(stowi_kernel_small_of_f64(STOW_F8E8M0, INFINITY, false, STOWI_KERNEL_ROUND_NEAREST),
            255);
  CHECK_U64(stowi_kernel_small_of_f64(STOW_F8E8M0, 0x1p-140, true, STOWI_KERNEL_ROUND_UP), 0);
}

// An f32 between would round twice: 1 + 2^-11 + 2^-40 is above the middle of two f16.
TEST(F64RoundsToF16AtOnce) {
  CHECK_U64(store(STOW_F16, 1 + 0x1p-11 + 0x1p-40), 0x3c01);
  CHECK_U64(store(STOW_F16, -(1 + 0x1p-11 + 0x1p-40)), 0xbc01);
  CHECK_U64(store(STOW_F16, 1 + 0x1p-11), 0x3c00);
  CHECK_U64(store(STOW_BF16, 1 + 0x1p-8 + 0x1p-40), 0x3f81);
  CHECK_U64(store(STOW_F16, 0x1p-25 + 0x1p-60), 1);
  CHECK_U64(store(STOW_F16, 0x1p-25), 0);
}

TEST(FloatsBecomeIntegersTowardsZero) {
  CHECK_U64(store(STOW_I8, -1.9), 0xff);
  CHECK_U64(store(STOW_U8, 200.9), 200);
  CHECK_U64(store(STOW_I32, 1e20), 0x7fffffff);
  CHECK_U64(store(STOW_I32, -INFINITY), 0x80000000);
  CHECK_U64(store(STOW_U32, 1e20), 0xffffffff);
  CHECK_U64(store(STOW_U32, 4294967295.0), 0xffffffff);
  CHECK_U64(store(STOW_U32, -1), 0xffffffff);
  CHECK_U64(store(STOW_I64, 1e30), INT64_MAX);
  CHECK_U64(store(STOW_I64, 0x1p63 - 1024), (uint64_t)INT64_MAX - 1023);
  CHECK_U64(store(STOW_I64, -1e30), UINT64_C(1) << 63);
  CHECK_U64(store(STOW_U64, 0x1p63 + 2048), (UINT64_C(1) << 63) + 2048);
  CHECK_U64(store(STOW_U64, 1e30), UINT64_MAX);
  CHECK_U64(store(STOW_I4, -9), 7);
  CHECK_U64(store(STOW_U2, -1), 3);
  for (stow_dtype dtype = 0; dtype < STOW_DTYPE_COUNT; ++dtype) {
    if (stowi_kernel_kind(dtype) == STOW_KIND_SIGNED ||
        stowi_kernel_kind(dtype) == STOW_KIND_UNSIGNED) {
      CHECK_U64(store(dtype, NAN), 0);
    }
  }
  CHECK_U64(store(STOW_BOOL, 0.25), 1);
  CHECK_U64(store(STOW_BOOL, NAN), 1);
  CHECK_U64(store(STOW_BOOL, -0.0), 0);
}

TEST(IntegersKeepTheirLowBits) {
  int64_t numbers[] = {-1, INT64_MIN, 300, 0};
  uint8_t bytes[4];
  stowi_kernel_store_i64(STOW_U8, bytes, 0, 4, numbers);
  CHECK(bytes[0] == 255 && bytes[1] == 0 && bytes[2] == 44 && bytes[3] == 0);
  stowi_kernel_store_i64(STOW_BOOL, bytes, 0, 4, numbers);
  CHECK(bytes[0] == 1 && bytes[1] == 1 && bytes[2] == 1 && bytes[3] == 0);
  uint64_t large = UINT64_MAX;
  int64_t back;
  stowi_kernel_load_i64(STOW_U64, &large, 0, 1, &back);
  CHECK(back == -1);
  CHECK(load(STOW_U64, &large, 0) == 0x1p64);
  float floats[] = {NAN, INFINITY, -2.9F};
  int64_t whole[3];
  stowi_kernel_load_i64(STOW_F32, floats, 0, 3, whole);
  CHECK(whole[0] == 0 && whole[1] == INT64_MAX && whole[2] == -2);
}

TEST(PackedElementsKeepTheirNeighbours) {
  static const stow_dtype dtypes[] = {STOW_I4, STOW_U4, STOW_I2, STOW_U2, STOW_F4E2M1};
  for (size_t k = 0; k < sizeof(dtypes) / sizeof(dtypes[0]); ++k) {
    uint32_t bits = stowi_kernel_bits(dtypes[k]);
    for (size_t i = 0; i < 32 / bits; ++i) {
      uint32_t all = UINT32_MAX;
      double zero = 0;
      stowi_kernel_store_f64(dtypes[k], &all, i, 1, &zero);
      CHECK_U64(all, UINT32_MAX & ~(((UINT32_C(1) << bits) - 1) << (i * bits)));
      CHECK(load(dtypes[k], &all, i) == 0);
      CHECK(load(dtypes[k], &all, (i + 1) % (32 / bits)) != 0);
    }
  }
  const uint8_t byte = 0xe4;  // 0, 1, 2, 3 from the lowest bits on
  int64_t pairs[4];
  stowi_kernel_load_i64(STOW_U2, &byte, 0, 4, pairs);
  CHECK(pairs[0] == 0 && pairs[1] == 1 && pairs[2] == 2 && pairs[3] == 3);
  stowi_kernel_load_i64(STOW_I2, &byte, 0, 4, pairs);
  CHECK(pairs[2] == -2 && pairs[3] == -1);
}

// More than one piece of what passes through f64.
TEST(LongBlocksAreConvertedWhole) {
  float in[300];
  int32_t out[300];
  int64_t back[300];
  for (int i = 0; i < 300; ++i) {
    in[i] = (float)i + 0.5F;
  }
  stowi_kernel_store_f32(STOW_I32, out, 0, 300, in);
  stowi_kernel_load_i64(STOW_F32, in, 0, 300, back);
  for (int i = 0; i < 300; ++i) {
    CHECK(out[i] == i && back[i] == i);
  }
}

// ---------------------------------------------------------------------------------------------
// Divided work

static void count_calls(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  *(size_t*)user += end > begin;
}

static void split_in_two(void* pool, size_t count, size_t grain, stow_split_task task, void* user) {
  (void)pool;
  (void)grain;
  task(user, 0, count / 2, 0);
  task(user, count / 2, count, 1);
}

// Two threads must not write the same byte.
TEST(WorkOnElementsOfLessThanAByteIsNotDivided) {
  const struct {
    stow_dtype dtype;
    size_t calls;
  } cases[] = {{STOW_U8, 2}, {STOW_U4, 1}, {STOW_F4E2M1, 1}, {STOW_I2, 1}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    stow_tensor tensor = {.dtype = cases[i].dtype, .rank = 1, .dims = {10}};
    stow_tensor* results[] = {&tensor};
    stow_kernel_call call = {
        .result_count = 1, .results = results, .workers = 2, .splitter = {split_in_two, NULL}};
    size_t calls = 0;
    stow_kernel_split(&call, 10, 1, count_calls, &calls);
    CHECK_U64(calls, cases[i].calls);
  }
}

// ---------------------------------------------------------------------------------------------
// Attributes

TEST(NamesOfAttributesAreSortedAndFound) {
  for (size_t i = 1; i < STOWI_KERNEL_ATTR_COUNT; ++i) {
    const char* name = stowi_kernel_attr_names[i];
    CHECK(strcmp(stowi_kernel_attr_names[i - 1], name) < 0);
    CHECK_U64(stowi_kernel_attr_find(stow_str_of(name)), i);
  }
  static const char* const unknown[] = {"", "a", "axi", "axis_", "zz", "~"};
  for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); ++i) {
    CHECK_U64(stowi_kernel_attr_find(stow_str_of(unknown[i])), STOWI_KERNEL_ATTR_NONE);
  }
}

TEST(AttributesAreReadByNumberAndByName) {
  stow_attr attrs[] = {stow_attr_named("alpha", STOW_ATTR_FLOAT),
                       stow_attr_named("axis", STOW_ATTR_INT)};
  static const uint16_t ids[] = {STOWI_KERNEL_ATTR_ALPHA, STOWI_KERNEL_ATTR_AXIS};
  attrs[0].f = 0.5;
  attrs[1].i = 3;
  for (int with_ids = 0; with_ids < 2; ++with_ids) {
    stow_kernel_call call = {
        .attr_count = 2, .attrs = attrs, .attr_ids = with_ids != 0 ? ids : NULL};
    CHECK(stowi_kernel_attr(&call, STOWI_KERNEL_ATTR_AXIS) == &attrs[1]);
    CHECK(stowi_kernel_int(&call, STOWI_KERNEL_ATTR_AXIS, 7) == 3);
    CHECK(stowi_kernel_int(&call, STOWI_KERNEL_ATTR_ALPHA, 7) == 7);
    CHECK(stowi_kernel_float(&call, STOWI_KERNEL_ATTR_ALPHA, 7) == 0.5);
    CHECK(stowi_kernel_float(&call, STOWI_KERNEL_ATTR_AXIS, 7) == 3);
    CHECK(stowi_kernel_attr(&call, STOWI_KERNEL_ATTR_BETA) == NULL);
    CHECK(stowi_kernel_attr(&call, STOWI_KERNEL_ATTR_NONE) == NULL);
    CHECK(stow_kernel_int(&call, "axis", 7) == 3);
  }
}
