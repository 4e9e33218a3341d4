// Tensors as the command has them: those of ONNX, and elements as numbers.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "tensors/element.h"
#include "tensors/tensor_file.h"

static stow_diag diag;

TEST(TensorsOfOnnxAreRead) {
  static const char message[] = "\x08\x02\x10\x06\x42\x01t\x4a\x08\x01\x00\x00\x00\xff\xff\xff\xff";
  cli_list arrays = {0};
  stow_diag_init(&diag);
  REQUIRE(cli_arrays_decode(CLI_TENSOR_PB, message, sizeof message - 1, &arrays, &diag) == STOW_OK);
  const cli_array* array = arrays.items;
  CHECK_TEXT(array->name.data, "t");
  CHECK(array->tensor.dtype == STOW_I32 && array->tensor.rank == 1);
  CHECK(cli_element(&array->tensor, 0, 0) == 1.0 && cli_element(&array->tensor, 1, 0) == -1.0);
  cli_arrays_free(&arrays);
  CHECK(cli_arrays_decode(CLI_TENSOR_PB, message, sizeof message - 2, &arrays, &diag) != STOW_OK);
  CHECK_HAS(diag.message, "byte ");
  CHECK(cli_arrays_decode(CLI_TENSOR_RAW, message, 1, &arrays, &diag) != STOW_OK);
}

static double decode(stow_dtype dtype, const char* bytes, size_t index) {
  stow_tensor tensor = {.data = (void*)(uintptr_t)bytes, .dtype = dtype, .rank = 1, .dims = {4}};
  return cli_element(&tensor, index, 0);
}

TEST(ElementsOfEveryTypeAreNumbers) {
  CHECK(decode(STOW_F16, "\x00\x3c\x00\xc0", 0) == 1.0);
  CHECK(decode(STOW_F16, "\x00\x3c\x00\xc0", 1) == -2.0);
  CHECK(decode(STOW_F16, "\x01\x00", 0) == ldexp(1, -24));
  CHECK(decode(STOW_F16, "\x00\xfc", 0) == -(double)INFINITY &&
        isnan(decode(STOW_F16, "\x01\x7c", 0)));
  CHECK(decode(STOW_BF16, "\x80\x3f", 0) == 1.0);
  CHECK(decode(STOW_F8E4M3FN, "\x38\xb8\x7f\x7e", 1) == -1.0);
  CHECK(isnan(decode(STOW_F8E4M3FN, "\x38\xb8\x7f\x7e", 2)));
  CHECK(decode(STOW_F8E4M3FN, "\x38\xb8\x7f\x7e", 3) == 448.0);
  CHECK(decode(STOW_F8E4M3FNUZ, "\x40", 0) == 1.0 && isnan(decode(STOW_F8E4M3FNUZ, "\x80", 0)));
  CHECK(decode(STOW_F8E5M2, "\x3c", 0) == 1.0 &&
        decode(STOW_F8E5M2, "\x7c", 0) == (double)INFINITY);
  CHECK(decode(STOW_F8E5M2FNUZ, "\x40", 0) == 1.0 && isnan(decode(STOW_F8E5M2FNUZ, "\x80", 0)));
  CHECK(decode(STOW_F8E8M0, "\x80", 0) == 2.0 && isnan(decode(STOW_F8E8M0, "\xff", 0)));
  CHECK(decode(STOW_F4E2M1, "\x72", 0) == 1.0 && decode(STOW_F4E2M1, "\x72", 1) == 6.0);
  CHECK(decode(STOW_I4, "\x8f", 0) == -1.0 && decode(STOW_I4, "\x8f", 1) == -8.0);
  CHECK(decode(STOW_U4, "\x8f", 0) == 15.0 && decode(STOW_I2, "\xe4", 3) == -1.0);
  CHECK(decode(STOW_U2, "\xe4", 2) == 2.0 && decode(STOW_BOOL, "\x01", 0) == 1.0);
  CHECK(decode(STOW_I8, "\x80", 0) == -128.0 && decode(STOW_U16, "\xff\xff", 0) == 65535.0);
  CHECK(decode(STOW_I64, "\xff\xff\xff\xff\xff\xff\xff\xff", 0) == -1.0);
}

TEST(ElementsAreWrittenForPeople) {
  char text[CLI_ELEMENT_SIZE];
  int64_t large = INT64_MIN;
  stow_tensor tensor = {.data = &large, .dtype = STOW_I64, .rank = 0};
  cli_element_format(&tensor, 0, text);
  CHECK_TEXT(text, "-9223372036854775808");
  float complex_number[] = {1.5F, -2.0F};
  tensor = (stow_tensor){.data = complex_number, .dtype = STOW_C64, .rank = 0};
  cli_element_format(&tensor, 0, text);
  CHECK_TEXT(text, "1.5-2i");
  tensor.dtype = STOW_F32;
  cli_element_format(&tensor, 0, text);
  CHECK_TEXT(text, "1.5");
  tensor.dtype = STOW_BOOL;
  cli_element_format(&tensor, 0, text);
  CHECK_TEXT(text, "false");
  cli_format_json_number(0.1, text);
  CHECK(strtod(text, NULL) == 0.1);
  cli_format_json_number((double)NAN, text);
  CHECK_TEXT(text, "null");
}
