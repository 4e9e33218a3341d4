// Bad CSV: the status, the position of the cell, and the message.
#include <stdio.h>
#include <stdlib.h>
#include <stowage/csv.h>
#include <string.h>

#include "support/test.h"

static void check_refused_bytes(stow_str text, stow_status status, uint32_t line, uint32_t column,
                                const char* part) {
  stow_csv* csv = (stow_csv*)&text;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status found = stow_csv_read(text, stow_allocator_default(), &diag, &csv);
  test_check(found == status && csv == NULL, __FILE__, __LINE__, "status %d for %.60s", (int)found,
             text.data);
  CHECK_TEXT(stow_status_text(diag.status), stow_status_text(status));
  if (!CHECK_U64(diag.line, line) || !CHECK_U64(diag.column, column)) {
    test_check(false, __FILE__, __LINE__, "for %.60s: %s", text.data, diag.message);
  }
  CHECK_HAS(diag.message, part);
  CHECK(stow_csv_read(text, stow_allocator_default(), NULL, &csv) == status);
}

static void check_refused(const char* text, stow_status status, uint32_t line, uint32_t column,
                          const char* part) {
  check_refused_bytes(stow_str_of(text), status, line, column, part);
}

// A row under a header with every column.
static void check_row(const char* row, stow_status status, uint32_t column, const char* part) {
  char text[400];
  snprintf(text, sizeof(text), "id,lower,upper,size,alignment,offset,gaps\nok,0,1,1,,,\n%s\n", row);
  check_refused(text, status, 3, column, part);
}

TEST(AnEmptyTextIsRefused) {
  static const char* const texts[] = {"", "\n", "\r\n\n", "\xef\xbb\xbf", "\xef\xbb\xbf\n"};
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
    check_refused(texts[i], STOW_ERR_SYNTAX, 1, 1, "the text is empty; expected column names");
  }
  check_refused_bytes((stow_str){NULL, 0}, STOW_ERR_SYNTAX, 1, 1, "the text is empty");
}

TEST(MissingColumnsAreNamedAllAtOnce) {
  check_refused("id,lower,upper\n", STOW_ERR_SYNTAX, 1, 1, "header: column missing: `size`;");
  check_refused("\n\nsize,x\n", STOW_ERR_SYNTAX, 3, 1,
                "columns missing: `id`, `lower`, `upper` (or `end`);");
  check_refused("0,5,7,9\n", STOW_ERR_SYNTAX, 1, 1, "`upper` (or `end`), `size`; the first line");
  check_refused("0,5,7,9\n", STOW_ERR_SYNTAX, 1, 1, "begins with `0`");
  check_refused("ID,Lower,Upper,Size\n", STOW_ERR_SYNTAX, 1, 1, "columns missing: `id`, `lower`");
}

TEST(ColumnsWithTheSameMeaningAreRefused) {
  check_refused("id,lower,upper,size,lower\n", STOW_ERR_DUPLICATE, 1, 21,
                "header, column `lower`: it is given twice");
  check_refused("id,lower,begin,upper,size\n", STOW_ERR_DUPLICATE, 1, 10,
                "header, column `begin`: column `lower` means the same");
  check_refused("id,lower,end,size, upper\n", STOW_ERR_DUPLICATE, 1, 19,
                "header, column `upper`: column `end` means the same");
  check_refused("id,buffer,lower,end,size\n", STOW_ERR_DUPLICATE, 1, 4, "column `id` means");
}

TEST(TooManyColumnsAreRefused) {
  char text[6000];
  memset(text, ',', sizeof(text) - 1);
  text[sizeof(text) - 1] = '\0';
  check_refused(text, STOW_ERR_LIMIT, 1, 4097, "more than 4096 columns");
}

TEST(RowsOfWrongWidthAreRefused) {
  check_refused("id,lower,upper,size\na,0,1\n", STOW_ERR_SYNTAX, 2, 5,
                "row 1, id `a`: expected 4 cells as in the header, found 3");
  check_refused("id,lower,upper,size\na,0,1,1\nb,0,1,5,\n", STOW_ERR_SYNTAX, 3, 9,
                "row 2, id `b`: expected 4 cells as in the header, found more");
  check_refused("lower,upper,size,id\n  \n", STOW_ERR_SYNTAX, 2, 1,
                "row 1: expected 4 cells as in the header, found 1");
}

TEST(NonNumbersAreRefused) {
  check_row("a,x,1,1,,,", STOW_ERR_SYNTAX, 3,
            "row 2, id `a`, column `lower`: expected a whole number, found `x`");
  check_row("a,0,,1,,,", STOW_ERR_SYNTAX, 5, "column `upper`: expected a whole number, found ``");
  check_row("a,0,1,1.5,,,", STOW_ERR_SYNTAX, 7,
            "column `size`: expected a whole number, found `1.5`");
  check_row("a,0,1,+1,,,", STOW_ERR_SYNTAX, 7, "expected a whole number, found `+1`");
  check_row("a,0,1,0x10,,,", STOW_ERR_SYNTAX, 7, "expected a whole number, found `0x10`");
  check_row("a,0,1,1 2,,,", STOW_ERR_SYNTAX, 7, "expected a whole number, found `1 2`");
  check_row("a,0,1,\"1\"\"\",,,", STOW_ERR_SYNTAX, 7, "expected a whole number");
  check_row("a,0,1,-,,,", STOW_ERR_SYNTAX, 7, "expected a whole number, found `-`");
  check_row("a,0,1,1,x,,", STOW_ERR_SYNTAX, 9, "column `alignment`: expected a whole number");
  check_row("a,0,1,1,,x,", STOW_ERR_SYNTAX, 10, "column `offset`: expected a whole number");
}

TEST(NegativeNumbersAreRefused) {
  check_row("a,-1,1,1,,,", STOW_ERR_INVALID_ARGUMENT, 3,
            "column `lower`: expected 0 or more, found `-1`");
  check_row("a,0,1,-5,,,", STOW_ERR_INVALID_ARGUMENT, 7,
            "row 2, id `a`, column `size`: expected 0 or more, found `-5`");
  check_row("a,0,1,1,-4,,", STOW_ERR_INVALID_ARGUMENT, 9,
            "row 2, id `a`, column `alignment`: expected 0 or more, found `-4`");
  check_row("a,0,1,1,,-2,", STOW_ERR_INVALID_ARGUMENT, 10,
            "row 2, id `a`, column `offset`: expected 0 or more, found `-2`");
}

TEST(NumbersThatOverflowAreRefused) {
  check_row("a,0,18446744073709551616,1,,,", STOW_ERR_OVERFLOW, 5,
            "column `upper`: expected a number of at most 64 bits, found `18446744073709551616`");
  check_row("a,0,1,99999999999999999999999,,,", STOW_ERR_OVERFLOW, 7, "at most 64 bits");
  check_row("a,0,1,18446744073709551615,,,", STOW_ERR_OVERFLOW, 7, "fit in 63 bits together");
  check_row("a,0,1,9223372036854775807,,,", STOW_ERR_OVERFLOW, 7,
            "row 2, id `a`, column `size`: expected sizes, padding and the highest fixed end");
  check_row("a,0,1,1,,18446744073709551615,", STOW_ERR_OVERFLOW, 10, "at most 63 bits");
  check_row("a,0,1,1,,9223372036854775807,", STOW_ERR_OVERFLOW, 7, "fit in 63 bits together");
  check_refused("id,lower,end,size\na,0,18446744073709551615,1\n", STOW_ERR_OVERFLOW, 2, 5,
                "column `end`: expected a step below 2^64 - 1");
}

TEST(ImpossibleBuffersAreRefused) {
  check_row("a,5,5,1,,,", STOW_ERR_INVALID_ARGUMENT, 5,
            "row 2, id `a`, column `upper`: expected a step after `lower` 5, found `5`");
  check_row("a,5,4,1,,,", STOW_ERR_INVALID_ARGUMENT, 5,
            "expected a step after `lower` 5, found `4`");
  check_refused("id,begin,end,size\na,5,4,1\n", STOW_ERR_INVALID_ARGUMENT, 2, 5,
                "column `end`: expected a step not before `begin` 5, found `4`");
  check_row("a,0,1,0,,,", STOW_ERR_INVALID_ARGUMENT, 7, "column `size`: expected 1 or more");
  check_row("a,0,1,1,0,,", STOW_ERR_INVALID_ARGUMENT, 9,
            "column `alignment`: expected a power of two, found `0`");
  check_row("a,0,1,1,3,,", STOW_ERR_INVALID_ARGUMENT, 9, "expected a power of two, found `3`");
  check_row("a,0,1,1,4,6,", STOW_ERR_INVALID_ARGUMENT, 11,
            "column `offset`: expected a multiple of the alignment 4, found `6`");
}

TEST(ADuplicateIdNamesBothRows) {
  check_refused(
      "lower,upper,size,id\n0,1,1,\"a\nb\"\n\n0,1,1,c\n\n0,1,1,\"a\nb\"\n", STOW_ERR_DUPLICATE, 7,
      7, "row 3, id `a?b`, column `id`: expected a unique id, but row 1 in line 2 has the same");
  check_row("ok,0,1,1,,,", STOW_ERR_DUPLICATE, 1, "row 1 in line 2");
  check_row("\"ok\",0,1,1,,,", STOW_ERR_DUPLICATE, 1, "found `ok`");
}

TEST(BadGapsAreRefused) {
  static const char* const wrong[] = {"5",
                                      "5-",
                                      "-5",
                                      "5-6-7",
                                      "5-6@",
                                      "5-6@1",
                                      "5-6@1:",
                                      "5-6@:2",
                                      "5-6@1:2:3",
                                      "a-b",
                                      "5..6",
                                      "5-6@2-3",
                                      "5-18446744073709551616"};
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
    char row[80];
    char part[160];
    snprintf(row, sizeof(row), "a,0,10,8,,,2-3 %s", wrong[i]);
    snprintf(part, sizeof(part), "row 2, id `a`, column `gaps`: `%s`: expected FROM-TO", wrong[i]);
    check_row(row, STOW_ERR_SYNTAX, 12, part);
  }
  check_row("a,2,10,8,,,1-3", STOW_ERR_INVALID_ARGUMENT, 12,
            "column `gaps`: `1-3`: window [1, 3) is not within the lifetime [2, 10)");
  check_row("a,2,10,8,,,9-11", STOW_ERR_INVALID_ARGUMENT, 12, "not within the lifetime");
  check_row("a,2,10,8,,,5-5", STOW_ERR_INVALID_ARGUMENT, 12, "not within the lifetime");
  check_row("a,2,10,8,,,6-5", STOW_ERR_INVALID_ARGUMENT, 12, "not within the lifetime");
  check_row("a,2,10,8,,,5-7 3-4", STOW_ERR_INVALID_ARGUMENT, 12,
            "`3-4`: window [3, 4) begins before the previous one ends, at 7");
  check_row("a,2,10,8,,,5-7 6-9", STOW_ERR_INVALID_ARGUMENT, 12,
            "begins before the previous one ends, at 7");
  check_row("a,2,10,8,,,5-7@3:9", STOW_ERR_INVALID_ARGUMENT, 12,
            "bytes [3, 9) of a window are not within the footprint of 8 bytes");
  check_row("a,2,10,8,,,5-7@4:3", STOW_ERR_INVALID_ARGUMENT, 12,
            "row 2, id `a`, column `gaps`: `5-7@4:3`: bytes [4, 3) of a window are not within the "
            "footprint of 8 bytes");
  check_row("a,2,10,8,,,2-10", STOW_ERR_INVALID_ARGUMENT, 12,
            "gaps cover the whole lifetime [2, 10)");
  check_row("a,2,10,8,,,2-5 5-10@3:3", STOW_ERR_INVALID_ARGUMENT, 12, "gaps cover the whole life");
  check_refused("id,lower,end,size,gaps\na,0,9,1,3-18446744073709551615\n", STOW_ERR_OVERFLOW, 2, 9,
                "expected steps below 2^64 - 1");
}

TEST(BrokenQuotesAreRefused) {
  check_row("\"a,0,1,1", STOW_ERR_SYNTAX, 1, "row 2: cell 1: its closing quote is missing");
  check_row("a,0,1,\"1", STOW_ERR_SYNTAX, 7, "row 2, id `a`: cell 4: its closing quote is missing");
  check_row("a,0,\"1\"2,1,,,", STOW_ERR_SYNTAX, 5, "cell 3: it continues after its closing quote");
  check_row("a,0,1\r,1,,,", STOW_ERR_SYNTAX, 5, "cell 3: it has a carriage return");
  check_refused("id,lower,\"upper\n", STOW_ERR_SYNTAX, 1, 10,
                "header: invalid cell: its closing quote is missing");
  check_refused("id,lower,upper,size\na,0,1,1\r", STOW_ERR_SYNTAX, 2, 7, "a carriage return");
}

TEST(NulBytesAreRefused) {
  static const char texts[][40] = {"id,lower,upper,size\na\0b,0,1,1\n",
                                   "id,lower,upper,size\n\"a\0b\",0,1,1\n",
                                   "id,lower,upper,size\n\"a\"\0,0,1,1\n"};
  for (size_t i = 0; i < 3; ++i) {
    check_refused_bytes((stow_str){texts[i], 31}, STOW_ERR_SYNTAX, 2, 1,
                        "row 1: cell 1: it has a NUL byte");
  }
}

TEST(LongCellsAreTruncatedInMessages) {
  size_t size = test_is_long() ? (size_t)1 << 30 : (size_t)1 << 20;
  static const char header[] = "id,lower,upper,size\n";
  char* text = (char*)malloc(size);
  REQUIRE(text != NULL);
  memset(text, '7', size);
  check_refused_bytes((stow_str){text, size}, STOW_ERR_SYNTAX, 1, 1, "777...`");
  memcpy(text, header, strlen(header));
  check_refused_bytes((stow_str){text, size}, STOW_ERR_SYNTAX, 2, 1, "found 1");
  memcpy(text + strlen(header), "x,", 2);
  memcpy(text + size - 4, ",1,1", 4);
  check_refused_bytes((stow_str){text, size}, STOW_ERR_OVERFLOW, 2, 3, "777...`");
  memset(text + strlen(header), ',', size - strlen(header));
  check_refused_bytes((stow_str){text, size}, STOW_ERR_SYNTAX, 2, 5, "found more");
  memset(text + strlen(header), '"', size - strlen(header));
  check_refused_bytes((stow_str){text, size - 1}, STOW_ERR_SYNTAX, 2, 1,
                      "its closing quote is missing");
  free(text);
}

TEST(MessagesAreTruncatedBetweenCharacters) {
  char text[200] = "id,lower,upper,size\nx";
  for (int i = 0; i < 30; ++i) {
    strcat(text, "\xe2\x82\xac");
  }
  strcat(text, ",0,1,0\n");
  check_refused(text, STOW_ERR_INVALID_ARGUMENT, 2, 97, "\xac...`, column `size`");
}
