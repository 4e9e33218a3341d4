// Random numbers, statistics, comparisons and latencies of runs.
#include <math.h>
#include <string.h>

#include "run/run.h"
#include "run/statistics.h"
#include "support/test.h"
#include "tensors/element.h"

static stow_tensor vector(void* data, stow_dtype dtype, int64_t count) {
  return (stow_tensor){.data = data, .dtype = dtype, .rank = 1, .dims = {count}};
}

// ---------------------------------------------------------------------------------------------
// Random numbers

TEST(RandomNumbersAreTheSameEverywhere) {
  float floats[3];
  stow_tensor tensor = vector(floats, STOW_F32, 3);
  cli_fill_random(&tensor, 7, stow_str_of("x"));
  float again[3];
  memcpy(again, floats, sizeof again);
  cli_fill_random(&tensor, 7, stow_str_of("x"));
  CHECK(memcmp(floats, again, sizeof again) == 0);
  cli_fill_random(&tensor, 8, stow_str_of("x"));
  CHECK(memcmp(floats, again, sizeof again) != 0);
  cli_fill_random(&tensor, 7, stow_str_of("y"));
  CHECK(memcmp(floats, again, sizeof again) != 0);
  int64_t integers[4];
  tensor = vector(integers, STOW_I64, 4);
  cli_fill_random(&tensor, 7, stow_str_of("x"));
  // Made by another implementation
  static const float known_floats[] = {0.48258233070373535F, 0.663239598274231F,
                                       0.24661684036254883F};
  static const int64_t known_integers[] = {1, 1, 1, 1};
  CHECK(memcmp(again, known_floats, sizeof again) == 0);
  CHECK(memcmp(integers, known_integers, sizeof integers) == 0);
}

TEST(RandomNumbersSuitTheirType) {
  enum { COUNT = 4096 };
  static double data[2 * COUNT];
  for (int d = 0; d < STOW_DTYPE_COUNT; ++d) {
    stow_dtype dtype = (stow_dtype)d;
    stow_tensor tensor = vector(data, dtype, COUNT);
    memset(data, 0xA5, sizeof data);
    cli_fill_random(&tensor, 1, stow_str_of("x"));
    bool is_integer = !cli_is_float(dtype);
    double least = 1e9, most = -1e9;
    for (size_t i = 0; i < COUNT; ++i) {
      double number = cli_element(&tensor, i, 0);
      least = number < least ? number : least;
      most = number > most ? number : most;
    }
    test_check(least >= (is_integer ? 0.0 : -1.0), __FILE__, __LINE__, "%s: %g",
               stow_dtype_name(dtype), least);
    test_check(most <= 1.0, __FILE__, __LINE__, "%s: %g", stow_dtype_name(dtype), most);
    test_check(least < most, __FILE__, __LINE__, "%s: all are %g", stow_dtype_name(dtype), most);
    if (stow_dtype_bits(dtype) >= 16 && !is_integer) {
      CHECK(least < -0.98 && most > 0.98 && most < 1.0);
    }
    if (is_integer) {
      CHECK(least == 0.0 && most == 1.0);
    }
  }
}

TEST(NothingIsWrittenBehindTheEnd) {
  unsigned char bytes[4] = {0xEE, 0xEE, 0xEE, 0xEE};
  stow_tensor tensor = vector(bytes, STOW_U4, 5);
  cli_fill_random(&tensor, 1, stow_str_of("x"));
  CHECK(bytes[3] == 0xEE && (bytes[2] & 0xF0) == 0);
  tensor = vector(bytes, STOW_F32, 0);
  cli_fill_random(&tensor, 1, stow_str_of("x"));
  CHECK(bytes[3] == 0xEE);
}

// ---------------------------------------------------------------------------------------------
// Statistics

TEST(StatisticsAreOfFiniteNumbers) {
  float floats[] = {1.0F, -3.0F, NAN, INFINITY, -INFINITY, 5.0F};
  stow_tensor tensor = vector(floats, STOW_F32, 6);
  cli_statistics s = cli_statistics_of(&tensor);
  CHECK(s.elements == 6 && s.nans == 1 && s.infinities == 2);
  CHECK(s.min == -3.0 && s.max == 5.0 && s.mean == 1.0);
  CHECK(fabs(s.deviation - sqrt(32.0 / 3.0)) < 1e-12);
  tensor = vector(floats + 2, STOW_F32, 1);
  s = cli_statistics_of(&tensor);
  CHECK(s.nans == 1 && s.min == 0.0 && s.max == 0.0 && s.mean == 0.0 && s.deviation == 0.0);
  tensor = vector(floats, STOW_C64, 1);
  s = cli_statistics_of(&tensor);
  CHECK(s.elements == 1 && s.min == -3.0 && s.max == 1.0);
}

TEST(TheLargestComeFirst) {
  float floats[] = {1.0F, 5.0F, NAN, 5.0F, -1.0F, 7.0F, 0.0F};
  stow_tensor tensor = vector(floats, STOW_F32, 7);
  size_t largest[CLI_MOST_LARGEST];
  CHECK_U64(cli_find_largest(&tensor, 5, largest), 5);
  CHECK(largest[0] == 5 && largest[1] == 1 && largest[2] == 3 && largest[3] == 0 &&
        largest[4] == 6);
  CHECK_U64(cli_find_largest(&tensor, CLI_MOST_LARGEST, largest), 6);
  CHECK(largest[5] == 4);
  tensor = vector(floats, STOW_F32, 1);
  CHECK_U64(cli_find_largest(&tensor, 5, largest), 1);
}

TEST(OnlyOneRowHasLargest) {
  float floats[6] = {0};
  stow_tensor tensor = {.data = floats, .dtype = STOW_F32, .rank = 3, .dims = {1, 1, 6}};
  CHECK(cli_is_row(&tensor));
  tensor.dims[1] = 2;
  tensor.dims[2] = 3;
  CHECK(!cli_is_row(&tensor));
  tensor = vector(floats, STOW_BOOL, 6);
  CHECK(!cli_is_row(&tensor));
  tensor = vector(floats, STOW_F32, 1);
  CHECK(!cli_is_row(&tensor));
  tensor.rank = 0;
  CHECK(!cli_is_row(&tensor));
}

// ---------------------------------------------------------------------------------------------
// Comparisons

static cli_comparison compare(const float* a, const float* b, int64_t count, double rtol,
                              double atol) {
  stow_tensor x = vector((void*)(uintptr_t)a, STOW_F32, count);
  stow_tensor y = vector((void*)(uintptr_t)b, STOW_F32, count);
  return cli_compare(&x, &y, rtol, atol);
}

TEST(TolerancesAreRelativeToWhatIsExpected) {
  static const float actual[] = {1.0F, 2.25F, 0.0F};
  static const float expected[] = {1.0F, 2.0F, 0.125F};
  cli_comparison c = compare(actual, expected, 3, 0.0, 0.0);
  CHECK(c.is_type_same && c.wrong == 2 && c.worst == 1);
  CHECK(c.max_absolute == 0.25 && c.max_relative == 1.0);
  CHECK_U64(compare(actual, expected, 3, 0.125, 0.0).wrong, 1);
  CHECK_U64(compare(actual, expected, 3, 0.125, 0.125).wrong, 0);
  CHECK_U64(compare(actual, expected, 1, 0.0, 0.0).wrong, 0);
  CHECK(compare(actual, expected, 1, 0.0, 0.0).worst == SIZE_MAX);
}

TEST(WhatIsNoNumberEqualsWhatIsNone) {
  static const float a[] = {NAN, INFINITY, -INFINITY};
  static const float b[] = {1.0F, -INFINITY, 0.0F};
  CHECK_U64(compare(a, a, 3, 0.0, 0.0).wrong, 0);
  cli_comparison c = compare(a, b, 3, 1e9, 1e9);
  CHECK(c.wrong == 3 && c.worst == 0 && c.max_absolute == 0.0);
  CHECK_U64(compare(b, a, 3, 1e9, 1e9).wrong, 3);
}

TEST(OtherTypesAreNotCompared) {
  float floats[2] = {0};
  stow_tensor a = vector(floats, STOW_F32, 2);
  stow_tensor b = vector(floats, STOW_F32, 1);
  CHECK(!cli_compare(&a, &b, 0.0, 0.0).is_type_same);
  b = vector(floats, STOW_I32, 2);
  CHECK(!cli_compare(&a, &b, 0.0, 0.0).is_type_same);
}

// ---------------------------------------------------------------------------------------------
// Latencies

static cli_latency latency_of(const uint64_t* times, size_t count) {
  cli_list list = {0};
  for (size_t i = 0; i < count; ++i) {
    CHECK(cli_list_add(&list, &times[i], sizeof times[i]));
  }
  cli_latency latency = cli_latency_of(&list);
  cli_list_free(&list, sizeof times[0]);
  return latency;
}

TEST(PercentilesAreTimesThatWereMeasured) {
  uint64_t times[200];
  for (uint64_t i = 0; i < 200; ++i) {
    times[i] = (i * 77 % 200) + 1;  // 1 … 200 in another order
  }
  cli_latency l = latency_of(times, 200);
  CHECK(l.count == 200 && l.min == 1 && l.median == 100 && l.p90 == 180 && l.p99 == 198);
  CHECK(l.max == 200 && l.mean == 100);
  l = latency_of(times, 1);
  CHECK(l.min == 1 && l.median == 1 && l.p99 == 1 && l.max == 1 && l.mean == 1);
  static const uint64_t three[] = {30, 10, 20};
  l = latency_of(three, 3);
  CHECK(l.min == 10 && l.median == 20 && l.p90 == 30 && l.max == 30 && l.mean == 20);
  CHECK_U64(latency_of(NULL, 0).count, 0);
}
