// Problems as CSV: what is read, and that writing changes nothing but the offsets.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/csv.h>
#include <string.h>

#include "place/api.h"
#include "support/fault.h"
#include "support/test.h"

static stow_csv* read_csv(const char* text) {
  stow_csv* csv = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_csv_read(stow_str_of(text), stow_allocator_default(), &diag, &csv);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s: %s", text, diag.message);
  return csv;
}

static stow_placement* place(const stow_csv* csv) {
  stow_place_options options;
  stow_place_options_init(&options);
  stow_placement* placement = NULL;
  stow_status status = stowi_place_first_fit(stow_csv_problem(csv), &options,
                                             stow_allocator_default(), NULL, &placement);
  return CHECK(status == STOW_OK) ? placement : NULL;
}

// Reads |text|, places it by first-fit and expects it written as |expected|.
static void check_written(const char* text, const char* expected) {
  stow_csv* csv = read_csv(text);
  stow_placement* placement = csv == NULL ? NULL : place(csv);
  if (placement != NULL) {
    stow_string out;
    stow_string_init(&out, stow_allocator_default());
    CHECK(stow_csv_write(csv, placement, stow_string_writer(&out), NULL) == STOW_OK);
    CHECK_TEXT(out.data, expected);
    stow_string_free(&out);
  }
  stow_placement_destroy(placement);
  stow_csv_destroy(csv);
}

static stow_buffer buffer_of(const stow_csv* csv, size_t buffer) {
  stow_buffer desc = {.struct_size = sizeof(desc)};
  stow_problem_describe_buffer(stow_csv_problem(csv), buffer, &desc);
  return desc;
}

TEST(RowsBecomeBuffersInOrder) {
  stow_csv* csv = read_csv("id,lower,upper,size\na,0,4,16\nb,2,9,32\n");
  REQUIRE(csv != NULL);
  REQUIRE(stow_problem_count(stow_csv_problem(csv)) == 2);
  stow_buffer b = buffer_of(csv, 1);
  CHECK_U64(b.begin, 2);
  CHECK_U64(b.end, 9);
  CHECK_U64(b.size, 32);
  CHECK_U64(b.guard, 0);
  CHECK_U64(b.alignment, 1);
  CHECK(b.fixed_offset == STOW_PLACE_ANYWHERE);
  CHECK_TEXT(stow_csv_id(csv, 0).data, "a");
  CHECK_TEXT(stow_csv_id(csv, 1).data, "b");
  CHECK_U64(stow_csv_id(csv, 1).size, 1);
  CHECK_U64(stow_csv_other_count(csv), 0);
  stow_csv_destroy(csv);
  stow_csv_destroy(NULL);
}

TEST(ColumnsMayComeInAnyOrderWithOthersBetween) {
  stow_csv* csv = read_csv(
      "note,size,offset,upper,\"kind, \"\"of\"\"\",alignment,lower,id\n"
      "x,8,64,5,y,32,1,n\n"
      "x,8,-1,5,y,,1,m\n"
      "x,8,,5,y,,1,o\n");
  REQUIRE(csv != NULL && stow_problem_count(stow_csv_problem(csv)) == 3);
  stow_buffer n = buffer_of(csv, 0);
  CHECK_U64(n.size, 8);
  CHECK_U64(n.begin, 1);
  CHECK_U64(n.end, 5);
  CHECK_U64(n.alignment, 32);
  CHECK_U64(n.fixed_offset, 64);
  CHECK(buffer_of(csv, 1).fixed_offset == STOW_PLACE_ANYWHERE);
  CHECK(buffer_of(csv, 2).fixed_offset == STOW_PLACE_ANYWHERE);
  CHECK_U64(buffer_of(csv, 2).alignment, 1);
  CHECK_TEXT(stow_csv_id(csv, 2).data, "o");
  REQUIRE(stow_csv_other_count(csv) == 2);
  CHECK_TEXT(stow_csv_other(csv, 0).data, "note");
  CHECK_TEXT(stow_csv_other(csv, 1).data, "kind, \"of\"");
  stow_csv_destroy(csv);
}

TEST(OtherNamesOfColumnsMeanTheSame) {
  static const char* const ids[] = {"id", "buffer", "buffer_id"};
  static const char* const begins[] = {"lower", "begin", "start"};
  for (size_t i = 0; i < 3; ++i) {
    char text[80];
    snprintf(text, sizeof(text), "%s, %s ,upper,size\nx,3,4,5\n", ids[i], begins[i]);
    stow_csv* csv = read_csv(text);
    REQUIRE(csv != NULL);
    CHECK_U64(buffer_of(csv, 0).begin, 3);
    CHECK_TEXT(stow_csv_id(csv, 0).data, "x");
    stow_csv_destroy(csv);
  }
}

TEST(EndAndItsGapsAreInclusive) {
  stow_csv* csv = read_csv("id,lower,end,size,gaps\na,3,9,5,4-5 7-7@1:2\nb,3,3,5,\n");
  REQUIRE(csv != NULL);
  const stow_problem* problem = stow_csv_problem(csv);
  CHECK_U64(buffer_of(csv, 0).end, 10);
  CHECK_U64(buffer_of(csv, 1).end, 4);
  REQUIRE(stow_problem_window_count(problem, 0) == 2);
  CHECK_U64(stow_problem_window_count(problem, 1), 0);
  stow_window_desc window = {.struct_size = sizeof(window)};
  stow_problem_describe_window(problem, 0, 0, &window);
  CHECK(window.begin == 4 && window.end == 6 && window.low == 0 && window.high == 0);
  stow_problem_describe_window(problem, 0, 1, &window);
  CHECK(window.begin == 7 && window.end == 8 && window.low == 1 && window.high == 2);
  stow_csv_destroy(csv);
}

TEST(GapsAreHalfOpenWithUpper) {
  stow_csv* csv = read_csv("id,lower,upper,size,gaps\na,3,9,5,  4-5  7-9@0:5 \n");
  REQUIRE(csv != NULL && stow_problem_window_count(stow_csv_problem(csv), 0) == 2);
  stow_window_desc window = {.struct_size = sizeof(window)};
  stow_problem_describe_window(stow_csv_problem(csv), 0, 0, &window);
  CHECK(window.begin == 4 && window.end == 5);
  stow_problem_describe_window(stow_csv_problem(csv), 0, 1, &window);
  CHECK(window.begin == 7 && window.end == 9 && window.low == 0 && window.high == 5);
  stow_csv_destroy(csv);
}

TEST(ByteOrderMarksLineEndsAndEmptyLinesDoNotMatter) {
  static const char* const texts[] = {
      "id,lower,upper,size\na,0,1,2\nb,0,1,3\n",
      "id,lower,upper,size\na,0,1,2\nb,0,1,3",
      "id,lower,upper,size\r\na,0,1,2\r\nb,0,1,3\r\n",
      "\xef\xbb\xbfid,lower,upper,size\na,0,1,2\r\nb,0,1,3\n\n\r\n\n",
      "\n\r\nid,lower,upper,size\n\na,0,1,2\n\n\nb,0,1,3",
      "\xef\xbb\xbf\nid,lower,upper,size\na, 0,\t1 ,2\nb,\"0\",1,\"3\"\n",
  };
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
    stow_csv* csv = read_csv(texts[i]);
    REQUIRE(csv != NULL);
    CHECK_U64(stow_problem_count(stow_csv_problem(csv)), 2);
    CHECK_TEXT(stow_csv_id(csv, 0).data, "a");
    CHECK_TEXT(stow_csv_id(csv, 1).data, "b");
    CHECK_U64(buffer_of(csv, 1).size, 3);
    stow_csv_destroy(csv);
  }
}

TEST(QuotedIdsHoldCommasQuotesAndLines) {
  stow_csv* csv =
      read_csv("id,lower,upper,size\n\"a,\"\"b\"\"\r\nc\",0,1,2\n\"\",0,1,2\nd\"e,0,1,2");
  REQUIRE(csv != NULL && stow_problem_count(stow_csv_problem(csv)) == 3);
  CHECK_TEXT(stow_csv_id(csv, 0).data, "a,\"b\"\r\nc");
  CHECK_TEXT(stow_csv_id(csv, 1).data, "");
  CHECK_TEXT(stow_csv_id(csv, 2).data, "d\"e");
  stow_csv_destroy(csv);
}

TEST(AHeaderAloneIsAnEmptyProblem) {
  check_written("id,lower,upper,size", "id,lower,upper,size,offset\n");
  check_written("offset,id,lower,upper,size\r\n\r\n", "offset,id,lower,upper,size\n");
}

TEST(TheLargestNumbersAreRead) {
  stow_csv* csv = read_csv(
      "id,lower,upper,size,alignment\n"
      "a,18446744073709551614,18446744073709551615,4611686018427387903,4611686018427387904\n"
      "b,0,1,00000000000000000000000000000000001,1\n");
  REQUIRE(csv != NULL);
  CHECK(buffer_of(csv, 0).end == UINT64_MAX);
  CHECK_U64(buffer_of(csv, 1).size, 1);
  stow_csv_destroy(csv);
}

TEST(OffsetsAreAppendedAsALastColumn) {
  check_written("\xef\xbb\xbfid,note,lower,upper,size\r\n\"a\",\"x\r\ny\",0,4,16\r\n\r\nb,,2,9,32",
                "id,note,lower,upper,size,offset\n\"a\",\"x\r\ny\",0,4,16,32\nb,,2,9,32,0\n");
}

TEST(OffsetsAreWrittenWhereTheirColumnIs) {
  check_written(
      "id,offset,lower,upper,size, x \na, -1 ,0,4,16, z\nb,\"7\",2,9,32,\nc,,20,21,1,\"\"\n",
      "id,offset,lower,upper,size, x \na,39,0,4,16, z\nb,7,2,9,32,\nc,0,20,21,1,\"\"\n");
  check_written("offset,id,lower,upper,size\n,a,0,4,16\n",
                "offset,id,lower,upper,size\n0,a,0,4,16\n");
  check_written("id,lower,upper,size,offset\na,0,4,16,\r\nb,0,4,8,",
                "id,lower,upper,size,offset\na,0,4,16,0\nb,0,4,8,16\n");
}

TEST(AWrittenPlacementIsReadBackAsFixed) {
  stow_csv* csv =
      read_csv("id,begin,end,size,alignment,gaps\na,0,4,16,8,\nb,2,9,32,,3-4\nc,3,3,5,4,");
  stow_placement* placement = place(csv);
  stow_string out;
  stow_string_init(&out, stow_allocator_default());
  REQUIRE(stow_csv_write(csv, placement, stow_string_writer(&out), NULL) == STOW_OK);
  stow_csv* again = read_csv(out.data);
  stow_placement* same = place(again);
  REQUIRE(same != NULL);
  CHECK_U64(stow_placement_height(same), stow_placement_height(placement));
  for (size_t i = 0; i < 3; ++i) {
    CHECK_U64(buffer_of(again, i).fixed_offset, stow_placement_offset(placement, i));
    CHECK_U64(stow_placement_offset(same, i), stow_placement_offset(placement, i));
  }
  stow_string twice;
  stow_string_init(&twice, stow_allocator_default());
  CHECK(stow_csv_write(again, same, stow_string_writer(&twice), NULL) == STOW_OK);
  CHECK_TEXT(twice.data, out.data);
  stow_string_free(&twice);
  stow_string_free(&out);
  stow_placement_destroy(same);
  stow_placement_destroy(placement);
  stow_csv_destroy(again);
  stow_csv_destroy(csv);
}

TEST(APlacementOfAnotherProblemIsNotWritten) {
  stow_csv* one = read_csv("id,lower,upper,size\na,0,4,16\n");
  stow_csv* two = read_csv("id,lower,upper,size\na,0,4,16\nb,0,4,16\n");
  stow_placement* placement = place(two);
  stow_string out;
  stow_string_init(&out, stow_allocator_default());
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_csv_write(one, placement, stow_string_writer(&out), &diag) ==
        STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(diag.message, "the placement has 2 buffers, but the CSV has 1 rows");
  CHECK_U64(out.size, 0);
  stow_string_free(&out);
  stow_placement_destroy(placement);
  stow_csv_destroy(one);
  stow_csv_destroy(two);
}

static stow_status write_some(void* user, const char* data, size_t size) {
  size_t* left = (size_t*)user;
  (void)data;
  (void)size;
  return (*left)-- == 0 ? STOW_ERR_IO : STOW_OK;
}

TEST(AFailingWriterEndsTheWriting) {
  stow_csv* csv = read_csv("id,lower,upper,offset,size\na,0,4,,16\nb,0,4,,16\n");
  stow_placement* placement = place(csv);
  size_t failed = 0;
  for (;; ++failed) {
    size_t left = failed;
    stow_writer writer = {write_some, &left};
    stow_diag diag;
    stow_diag_init(&diag);
    stow_status status = stow_csv_write(csv, placement, writer, &diag);
    if (status == STOW_OK) {
      break;
    }
    REQUIRE(status == STOW_ERR_IO && diag.status == STOW_ERR_IO && left == SIZE_MAX);
  }
  CHECK_U64(failed, 10);
  stow_placement_destroy(placement);
  stow_csv_destroy(csv);
}

static stow_status read_with(stow_allocator allocator, void* user) {
  stow_csv* csv = NULL;
  stow_status status = stow_csv_read(*(const stow_str*)user, allocator, NULL, &csv);
  CHECK((status == STOW_OK) == (csv != NULL));
  stow_csv_destroy(csv);
  return status;
}

TEST(ReadingSurvivesEveryAllocationFailure) {
  char text[4096] = "id,lower,upper,size,gaps,other,another\n";
  size_t size = strlen(text);
  for (int i = 0; i < 60; ++i) {
    size +=
        (size_t)snprintf(text + size, sizeof(text) - size, "buffer %d,0,9,7,3-4 5-6@1:2,,\n", i);
  }
  stow_str string = {text, size};
  CHECK(test_fault_sweep(read_with, &string) > 15);
}

TEST(ManyRowsAreReadAndWritten) {
  size_t rows = test_is_long() ? 1000000 : 20000;
  char* text = (char*)malloc(rows * 40 + 40);
  REQUIRE(text != NULL);
  size_t size = (size_t)sprintf(text, "id,lower,upper,size\n");
  for (size_t i = 0; i < rows; ++i) {
    size += (size_t)sprintf(text + size, "n%zu,%zu,%zu,%zu\n", i, i, i + 3, i % 1000 + 1);
  }
  stow_csv* csv = read_csv(text);
  stow_placement* placement = csv == NULL ? NULL : place(csv);
  REQUIRE(placement != NULL);
  stow_string out;
  stow_string_init(&out, stow_allocator_default());
  CHECK(stow_csv_write(csv, placement, stow_string_writer(&out), NULL) == STOW_OK);
  stow_csv* again = read_csv(out.data);
  REQUIRE(again != NULL && stow_problem_count(stow_csv_problem(again)) == rows);
  for (size_t i = 0; i < rows; ++i) {
    if (buffer_of(again, i).fixed_offset != stow_placement_offset(placement, i)) {
      CHECK_U64(buffer_of(again, i).fixed_offset, stow_placement_offset(placement, i));
      break;
    }
  }
  stow_string_free(&out);
  stow_csv_destroy(again);
  stow_placement_destroy(placement);
  stow_csv_destroy(csv);
  free(text);
}
