#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/text/number.h"
#include "support/test.h"

static uint64_t bits_of(double number) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof(bits));
  return bits;
}

static double of_bits(uint64_t bits) {
  double number;
  memcpy(&number, &bits, sizeof(number));
  return number;
}

static const char* print(double number) {
  static char text[64];
  stow_string out;
  stow_string_init(&out, stow_allocator_default());
  CHECK(stowi_graph_put_float(stow_string_writer(&out), number) == STOW_OK);
  snprintf(text, sizeof(text), "%s", out.data);
  stow_string_free(&out);
  return text;
}

static void check_float(const char* text, double expected, int line) {
  double number = 0;
  const char* error = stowi_graph_number_float(stow_str_of(text), &number);
  test_check(error == NULL, __FILE__, line, "%s: %s", text, error == NULL ? "" : error);
  test_check(bits_of(number) == bits_of(expected), __FILE__, line, "%s is %s", text, print(number));
}
#define CHECK_FLOAT(text, expected) check_float((text), (expected), __LINE__)

static const char* error_of(const char* text) {
  double number;
  const char* error = stowi_graph_number_float(stow_str_of(text), &number);
  return error == NULL ? "no error" : error;
}

TEST(IntegersReachBothEndsOfTheirRange) {
  int64_t number = 0;
  CHECK(stowi_graph_number_int(stow_str_of("9223372036854775807"), false, &number));
  CHECK(number == INT64_MAX);
  CHECK(stowi_graph_number_int(stow_str_of("9223372036854775808"), true, &number));
  CHECK(number == INT64_MIN);
  CHECK(stowi_graph_number_int(stow_str_of("0"), true, &number) && number == 0);
  CHECK(!stowi_graph_number_int(stow_str_of("9223372036854775808"), false, &number));
  CHECK(!stowi_graph_number_int(stow_str_of("9223372036854775809"), true, &number));
  CHECK(!stowi_graph_number_int(stow_str_of("99999999999999999999999"), false, &number));
  CHECK(!stowi_graph_number_int(stow_str_of(""), false, &number));
  CHECK(!stowi_graph_number_int(stow_str_of("1x"), false, &number));
}

TEST(HexFloatsAreExact) {
  CHECK_FLOAT("0x1.8p+1", 3.0);
  CHECK_FLOAT("0x1P1", 2.0);
  CHECK_FLOAT("0XAp0", 10.0);
  CHECK_FLOAT("0x10p-4", 1.0);
  CHECK_FLOAT("0x0.0000008p+24", 0.5);
  CHECK_FLOAT("0x0p+99999999999999999999999", 0.0);
  CHECK_FLOAT("0x1.fffffffffffffp+1023", of_bits(UINT64_C(0x7fefffffffffffff)));
  CHECK_FLOAT("0x1p-1074", of_bits(1));
  CHECK_FLOAT("0x0.fffffffffffffp-1022", of_bits(UINT64_C(0x000fffffffffffff)));
  CHECK_FLOAT("0x1p-1022", of_bits(UINT64_C(0x0010000000000000)));
  CHECK_FLOAT("0x1.00000000000000000000000000000000p+0", 1.0);
}

TEST(HexFloatsThatAreNotDoublesAreRefused) {
  CHECK_HAS(error_of("0x1.00000000000001p+0"), "not exact as a double");
  CHECK_HAS(error_of("0x1.ffffffffffffffffffp+0"), "not exact as a double");
  CHECK_HAS(error_of("0x1p-1075"), "not exact as a double");
  CHECK_HAS(error_of("0x1.8p-1074"), "not exact as a double");
  CHECK_HAS(error_of("0x1p+1024"), "too large");
  CHECK_HAS(error_of("0x1p+999999999999999999999999999"), "too large");
  CHECK_HAS(error_of("0x1p-999999999999999999999999999"), "not exact as a double");
}

TEST(MalformedNumbersAreRefused) {
  static const char* const texts[] = {
      "0x",   "0x1", "0x1.", "0x.8p1", "0x1.p1", "0x1p",  "0x1p+", "0x1p1x",    "0x1.8",  "1.",
      "1.e5", "1e",  "1e+",  "1e5x",   "12abc",  "1.2.3", "1_000", "0x1.2.3p1", "1.5e1.5"};
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
    const char* error = error_of(texts[i]);
    test_check(strstr(error, "malformed") != NULL, __FILE__, __LINE__, "%s: %s", texts[i], error);
  }
}

TEST(ShortDecimalsAreRoundedCorrectly) {
  CHECK_FLOAT("2.5", 2.5);
  CHECK_FLOAT("1e22", 1e22);
  CHECK_FLOAT("1E-22", 1e-22);
  CHECK_FLOAT("9007199254740992e22", 9007199254740992e22);
  CHECK_FLOAT("9007199254740991e-22", 9007199254740991e-22);
  CHECK_FLOAT("0.1", 0.1);
  CHECK_FLOAT("1e23", 1e23);
  CHECK_FLOAT("100e22", 1e24);
  CHECK_FLOAT("1e37", 1e37);
  CHECK_FLOAT("0.000", 0.0);
  CHECK_FLOAT("0e99999999999999999999", 0.0);
  CHECK_FLOAT("1.500000000000000000000000000000000000", 1.5);
  CHECK_FLOAT("100000000000000000000.0", 1e20);
  CHECK_FLOAT("0.00000000000000000001", 1e-20);
  CHECK_FLOAT("1000000000000000000000000e-10", 1e14);
}

TEST(LongDecimalsAreRefusedWithAdvice) {
  CHECK_HAS(error_of("9007199254740993.0"), "hex float");
  CHECK_HAS(error_of("1e38"), "hex float");
  CHECK_HAS(error_of("1e-23"), "hex float");
  CHECK_HAS(error_of("3.14159265358979323846"), "hex float");
  CHECK_HAS(error_of("1e999999999999999999999"), "hex float");
  CHECK_HAS(error_of("99999999999999999999e999999999999999999999"), "hex float");
}

TEST(EveryFloatPrintsInOneForm) {
  CHECK_TEXT(print(0.0), "0x0p+0");
  CHECK_TEXT(print(-0.0), "-0x0p+0");
  CHECK_TEXT(print(3.0), "0x1.8p+1");
  CHECK_TEXT(print(-1.0), "-0x1p+0");
  CHECK_TEXT(print(0.1), "0x1.999999999999ap-4");
  CHECK_TEXT(print(of_bits(1)), "0x1p-1074");
  CHECK_TEXT(print(of_bits(3)), "0x1.8p-1073");
  CHECK_TEXT(print(of_bits(UINT64_C(0x0010000000000001))), "0x1.0000000000001p-1022");
  CHECK_TEXT(print(of_bits(UINT64_C(0x7fefffffffffffff))), "0x1.fffffffffffffp+1023");
  CHECK_TEXT(print(of_bits(UINT64_C(0x7ff0000000000000))), "inf");
  CHECK_TEXT(print(of_bits(UINT64_C(0xfff0000000000000))), "-inf");
  CHECK_TEXT(print(of_bits(UINT64_C(0x7ff8000000000000))), "nan");
  CHECK_TEXT(print(of_bits(UINT64_C(0xfff0000000000001))), "nan");
}

TEST(PrintedFloatsReadBackBitForBit) {
  test_random random = {1};
  int count = test_is_long() ? 1000000 : 20000;
  for (int i = 0; i < count; ++i) {
    uint64_t bits = test_random_u64(&random) & INT64_MAX;
    if (i % 4 == 0) {
      bits &= UINT64_C(0x001fffffffffffff);  // many subnormals
    }
    if (bits >> 52 == 0x7ff) {
      continue;
    }
    double number = 0;
    const char* text = print(of_bits(bits));
    const char* error = stowi_graph_number_float(stow_str_of(text), &number);
    if (!CHECK(error == NULL && bits_of(number) == bits)) {
      return;
    }
  }
}

// The C library is the judge here: tests run in the "C" locale and round to nearest.
TEST(DecimalsAgreeWithTheCLibrary) {
  test_random random = {2};
  int count = test_is_long() ? 1000000 : 20000;
  for (int i = 0; i < count; ++i) {
    uint64_t digits = test_random_below(&random, UINT64_C(9007199254740992));
    digits >>= test_random_below(&random, 53);
    int exponent = (int)test_random_below(&random, 45) - 22;
    char text[64];
    double number = 0;
    snprintf(text, sizeof(text), "%llue%d", (unsigned long long)digits, exponent);
    const char* error = stowi_graph_number_float(stow_str_of(text), &number);
    if (!test_check(error == NULL && bits_of(number) == bits_of(strtod(text, NULL)), __FILE__,
                    __LINE__, "%s", text)) {
      return;
    }
  }
}

TEST(IntegersBecomeFloatsOnlyIfExact) {
  double number = 0;
  CHECK(stowi_graph_number_int_to_float(-3, &number) && number == -3.0);
  CHECK(stowi_graph_number_int_to_float(0, &number) && number == 0.0);
  CHECK(stowi_graph_number_int_to_float(INT64_MIN, &number) && number == -9223372036854775808.0);
  CHECK(stowi_graph_number_int_to_float(INT64_C(9007199254740994), &number));
  CHECK(!stowi_graph_number_int_to_float(INT64_C(9007199254740993), &number));
  CHECK(!stowi_graph_number_int_to_float(INT64_MAX, &number));
}
