// Data-dependent dims.
#include <string.h>

#include "exec/exec_case.h"
#include "support/test.h"

TEST(DimsSetByKernelsPropagate) {
  for (int way = 0; way < EXEC_WAYS; ++way) {
    exec_case c;
    exec_case_begin(
        &c,
        "%0 = input \"x\" : f32[6]\n %1 = nonzero(%0) : bounded i64[1, 6]\n"
        "%2 = squeeze(%1) {axes = [0]} : bounded i64[6]\n %3 = add(%2, %2) : bounded i64[6]\n"
        "%4 = neg(%0) : f32[6]\n return %3, %4");
    exec_case_way(&c, way);
    REQUIRE(exec_case_make(&c) == STOW_OK);
    EXEC_SET(&c, "x", float, 0, 1, 0, 1, 1, 0);
    CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
    EXEC_GIVES(&c, 0, int64_t, 2, 6, 8);
    EXEC_SET(&c, "x", float, 1, 1, 1, 1, 1, 1);
    CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
    EXEC_GIVES(&c, 0, int64_t, 0, 2, 4, 6, 8, 10);
    EXEC_SET(&c, "x", float, 0, 0, 0, 0, 0, 0);
    CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
    stow_tensor tensor;
    CHECK(stow_exec_value(c.exec, 3, &c.diag, &tensor) == STOW_OK);
    CHECK_U64(stow_tensor_elements(&tensor), 0);
    exec_case_end(&c);
  }
}

TEST(BoundedInputsMayBeSmaller) {
  exec_case c;
  exec_case_begin(&c,
                  "%0 = input \"x\" : bounded f32[2, 4]\n %1 = neg(%0) : bounded f32[2, 4]\n"
                  "return %1");
  REQUIRE(exec_case_make(&c) == STOW_OK);
  CHECK(exec_case_set_dims(&c, "x", (float[]){1, 2, 3}, (int64_t[]){1, 3}) == STOW_OK);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
  EXEC_GIVES(&c, 0, float, -1, -2, -3);
  EXEC_SET(&c, "x", float, 1, 2, 3, 4, 5, 6, 7, 8);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
  EXEC_GIVES(&c, 0, float, -1, -2, -3, -4, -5, -6, -7, -8);
  CHECK(exec_case_set_dims(&c, "x", (float[9]){0}, (int64_t[]){1, 5}) == STOW_ERR_TYPE);
  CHECK_TEXT(c.diag.message, "%0 \"x\" is at most f32[2, 4], but f32[1, 5] was given");
  CHECK(exec_case_set_dims(&c, "x", (float[9]){0}, (int64_t[]){1, -1}) == STOW_ERR_TYPE);
  exec_case_end(&c);
}

TEST(OnlyUpperBoundedDimsMayBeSmaller) {
  exec_case c;
  exec_case_begin(&c,
                  "%0 = input \"x\" : bounded(1) f32[2, 4]\n"
                  "%1 = neg(%0) : bounded(1) f32[2, 4]\n return %1");
  REQUIRE(exec_case_make(&c) == STOW_OK);
  CHECK(exec_case_set_dims(&c, "x", (float[]){1, 2}, (int64_t[]){2, 1}) == STOW_OK);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
  EXEC_GIVES(&c, 0, float, -1, -2);
  CHECK(exec_case_set_dims(&c, "x", (float[9]){0}, (int64_t[]){1, 4}) == STOW_ERR_TYPE);
  exec_case_end(&c);
}

TEST(OperandsThatNoLongerFitAreRefused) {
  exec_case c;
  exec_case_begin(&c,
                  "%0 = input \"x\" : bounded f32[4]\n %1 = input \"y\" : bounded f32[4]\n"
                  "%2 \"sum\" = add(%0, %1) : bounded f32[4]\n return %2");
  REQUIRE(exec_case_make(&c) == STOW_OK);
  CHECK(exec_case_set_dims(&c, "x", (float[]){1, 2, 3}, (int64_t[]){3}) == STOW_OK);
  CHECK(exec_case_set_dims(&c, "y", (float[]){1, 2}, (int64_t[]){2}) == STOW_OK);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_ERR_TYPE);
  CHECK_HAS(c.diag.message, "step 2: node 2 \"sum\" (add): ");
  CHECK(exec_case_set_dims(&c, "y", (float[]){10}, (int64_t[]){1}) == STOW_OK);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
  EXEC_GIVES(&c, 0, float, 11, 12, 13);
  exec_case_end(&c);
}

TEST(OperandsThatBroadcastInARunAreNotOverwritten) {
  for (int spread = 0; spread < 2; ++spread) {
    exec_case c;
    exec_case_begin(&c,
                    "%0 = input \"x\" : bounded f32[4]\n %1 = input \"y\" : bounded f32[4]\n"
                    "%2 = neg(%0) : bounded f32[4]\n %3 = neg(%1) : bounded f32[4]\n"
                    "%4 = add(%2, %3) : bounded f32[4]\n return %4");
    REQUIRE(exec_case_make(&c) == STOW_OK);
    CHECK(exec_case_set_dims(&c, spread == 0 ? "x" : "y", (float[]){-10}, (int64_t[]){1}) ==
          STOW_OK);
    CHECK(exec_case_set_dims(&c, spread == 0 ? "y" : "x", (float[]){-1, -2, -3}, (int64_t[]){3}) ==
          STOW_OK);
    CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
    EXEC_GIVES(&c, 0, float, 11, 12, 13);
    exec_case_end(&c);
  }
}

TEST(PartsOfSmallerValuesAreAtTheirOwnOffsets) {
  for (int way = 0; way < EXEC_WAYS; ++way) {
    exec_case c;
    exec_case_begin(&c,
                    "%0 = input \"x\" : bounded f32[3, 4]\n"
                    "%1 = narrow(%0) {axis = 0, start = 1, len = 2} : bounded f32[2, 4]\n"
                    "%2 = neg(%1) : bounded f32[2, 4]\n %3 = neg(%0) : bounded f32[3, 4]\n"
                    "return %2, %3");
    exec_case_way(&c, way);
    REQUIRE(exec_case_make(&c) == STOW_OK);
    CHECK(exec_case_set_dims(&c, "x", (float[]){1, 2, 3, 4, 5, 6, 7, 8, 9}, (int64_t[]){3, 3}) ==
          STOW_OK);
    test_check(stow_exec_run(c.exec, &c.diag) == STOW_OK, __FILE__, __LINE__, "%s", c.diag.message);
    EXEC_GIVES(&c, 0, float, -4, -5, -6, -7, -8, -9);
    EXEC_GIVES(&c, 1, float, -1, -2, -3, -4, -5, -6, -7, -8, -9);
    exec_case_end(&c);
  }
}

TEST(BranchesOfDifferentSizesGiveTheirOwn) {
  for (int way = 0; way < EXEC_WAYS; ++way) {
    exec_case c;
    exec_case_begin(&c,
                    "%0 = input \"c\" : bool[]\n %1 = input \"a\" : f32[4]\n"
                    "%2 = input \"b\" : f32[2]\n"
                    "%3 = if(%0) { yield %1 } else { yield %2 } : bounded f32[4]\n"
                    "%4 = neg(%3) : bounded f32[4]\n return %4");
    exec_case_way(&c, way);
    REQUIRE(exec_case_make(&c) == STOW_OK);
    EXEC_SET(&c, "a", float, 1, 2, 3, 4);
    EXEC_SET(&c, "b", float, 5, 6);
    EXEC_SET(&c, "c", bool, false);
    CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
    EXEC_GIVES(&c, 0, float, -5, -6);
    EXEC_SET(&c, "c", bool, true);
    CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
    EXEC_GIVES(&c, 0, float, -1, -2, -3, -4);
    exec_case_end(&c);
  }
}

TEST(CarriedValuesKeepTheirDimsWhenTheyChangePlaces) {
  for (int way = 0; way < EXEC_WAYS; ++way) {
    exec_case c;
    exec_case_begin(&c,
                    "%0 = input \"n\" : i64[]\n %1 = input \"a\" : bounded f32[4]\n"
                    "%2 = input \"b\" : bounded f32[4]\n"
                    "%7, %8 = loop(%0, _, %1, %2) {\n"
                    "  %3, %4, %5, %6 = args() : i64[], bool[], bounded f32[4], bounded f32[4]\n"
                    "  yield %4, %6, %5 } : bounded f32[4], bounded f32[4]\n return %7, %8");
    exec_case_way(&c, way);
    REQUIRE(exec_case_make(&c) == STOW_OK);
    CHECK(exec_case_set_dims(&c, "a", (float[]){1, 2, 3}, (int64_t[]){3}) == STOW_OK);
    CHECK(exec_case_set_dims(&c, "b", (float[]){4}, (int64_t[]){1}) == STOW_OK);
    EXEC_SET(&c, "n", int64_t, 3);
    CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
    EXEC_GIVES(&c, 0, float, 4);
    EXEC_GIVES(&c, 1, float, 1, 2, 3);
    exec_case_end(&c);
  }
}

// A declared type is the largest one; what follows the operand are the dims that both have.
TEST(DeclaredTypesFollowTheirOperands) {
  for (int way = 0; way < EXEC_WAYS; ++way) {
    exec_case c;
    exec_case_begin(&c,
                    "%0 = input \"x\" : f32[4]\n %1 = nonzero(%0) : bounded i64[1, 4]\n"
                    "%2 \"same\" = reshape(%1) : bounded i64[1, 4]\n"
                    "%3 \"fewer\" = reshape(%2) : bounded i64[4]\n"
                    "%4 \"more\" = reshape(%3) : bounded i64[4, 1, 1]\n"
                    "%5 \"cast\" = cast(%4) : bounded i64[4, 1, 1]\n return %2, %3, %4, %5");
    exec_case_way(&c, way);
    REQUIRE(exec_case_make(&c) == STOW_OK);
    EXEC_SET(&c, "x", float, 0, 1, 0, 1);
    test_check(stow_exec_run(c.exec, &c.diag) == STOW_OK, __FILE__, __LINE__, "%s", c.diag.message);
    for (size_t k = 0; k < 4; ++k) {
      EXEC_GIVES(&c, k, int64_t, 1, 3);
    }
    EXEC_SET(&c, "x", float, 1, 1, 1, 1);
    CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
    EXEC_GIVES(&c, 3, int64_t, 0, 1, 2, 3);
    exec_case_end(&c);
  }
}

TEST(AmbiguousDeclaredTypesAreRefused) {
  exec_case c;
  exec_case_begin(&c,
                  "%0 = input \"x\" : f32[4]\n %1 = nonzero(%0) : bounded i64[1, 4]\n"
                  "%2 \"square\" = reshape(%1) : bounded i64[2, 2]\n return %2");
  REQUIRE(exec_case_make(&c) == STOW_OK);
  EXEC_SET(&c, "x", float, 0, 1, 0, 1);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_ERR_TYPE);
  CHECK_HAS(c.diag.message, "node 2 \"square\" (reshape)");
  CHECK_HAS(c.diag.message, "the operand has 2 elements, but the result has 4");
  EXEC_SET(&c, "x", float, 1, 1, 1, 1);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
  exec_case_end(&c);
}

// The size of a crop is data. Its reader has exact dims, by its other operand, which the crop must
// then have too.
TEST(ADimThatDataMakesSmallerThanItsReaderNeedsIsRefused) {
  exec_case c;
  static const float image[16] = {1, 2, 3, 4};
  exec_case_begin(&c,
                  "%0 = input \"x\" : f32[1, 1, 4, 4]\n %1 = input \"r\" : f32[1, 4]\n"
                  "%2 = input \"i\" : i32[1]\n %3 = input \"s\" : i32[2]\n"
                  "%4 = input \"b\" : f32[1, 1, 2, 2]\n"
                  "%5 = crop_and_resize(%0, %1, %2, %3) : f32[1, 1, 2, 2]\n"
                  "%6 = concat(%5, %4) : f32[2, 1, 2, 2]\n return %6");
  for (int32_t rows = 1; rows <= 2; ++rows) {
    REQUIRE(exec_case_make(&c) == STOW_OK);
    CHECK(exec_case_set(&c, "x", image, sizeof(image)) == STOW_OK);
    EXEC_SET(&c, "r", float, 0, 0, 1, 1);
    EXEC_SET(&c, "i", int32_t, 0);
    EXEC_SET(&c, "s", int32_t, rows, 2);
    EXEC_SET(&c, "b", float, 5, 6, 7, 8);
    CHECK(stow_exec_run(c.exec, &c.diag) == (rows == 2 ? STOW_OK : STOW_ERR_TYPE));
    CHECK(rows == 2 || strstr(c.diag.message, "node 6 (concat)") != NULL);
  }
  EXEC_GIVES(&c, 0, float, 1, 4, 0, 0, 5, 6, 7, 8);
  exec_case_end(&c);
}
