// Ops that move elements, against what numpy gives.
#include <string.h>

#include "exec/counted.h"

TEST(ViewsKeepElements) {
  COUNTED("f32[2, 3]", "reshape(%0)", "f32[3, 2]", 0, 1, 2, 3, 4, 5);
  COUNTED("u4[3]", "unsqueeze(%0) {axes = [0]}", "u4[1, 3]", 0, 1, 2);
  COUNTED("f32[1, 2]", "squeeze(%0)", "f32[2]", 0, 1);
  COUNTED("i8[2, 3]", "flatten(%0) {axis = 0}", "i8[1, 6]", 0, 1, 2, 3, 4, 5);
}

TEST(TransposesReorderDims) {
  COUNTED("f32[2, 3, 4]", "transpose(%0)", "f32[4, 3, 2]", 0, 12, 4, 16, 8, 20, 1, 13, 5, 17, 9, 21,
          2, 14, 6, 18, 10, 22, 3, 15, 7, 19, 11, 23);
  COUNTED("f32[2, 3, 4]", "transpose(%0) {perm = [0, 2, 1]}", "f32[2, 4, 3]", 0, 4, 8, 1, 5, 9, 2,
          6, 10, 3, 7, 11, 12, 16, 20, 13, 17, 21, 14, 18, 22, 15, 19, 23);
  COUNTED("i64[2, 3, 4]", "transpose(%0) {perm = [1, 0, 2]}", "i64[3, 2, 4]", 0, 1, 2, 3, 12, 13,
          14, 15, 4, 5, 6, 7, 16, 17, 18, 19, 8, 9, 10, 11, 20, 21, 22, 23);
  COUNTED("u8[2, 3, 4]", "transpose(%0) {perm = [1, 2, 0]}", "u8[3, 4, 2]", 0, 12, 1, 13, 2, 14, 3,
          15, 4, 16, 5, 17, 6, 18, 7, 19, 8, 20, 9, 21, 10, 22, 11, 23);
  COUNTED("f16[2, 3, 4]", "transpose(%0) {perm = [-1, 0, 1]}", "f16[4, 2, 3]", 0, 4, 8, 12, 16, 20,
          1, 5, 9, 13, 17, 21, 2, 6, 10, 14, 18, 22, 3, 7, 11, 15, 19, 23);
  COUNTED("u4[3, 4]", "transpose(%0)", "u4[4, 3]", 0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11);
}

TEST(SlicesFollowStartAndStep) {
  COUNTED("i16[3, 4]", "slice(%0) {starts = [0, -1], ends = [3, -4], steps = [2, -2]}", "i16[2, 2]",
          3, 1, 11, 9);
  COUNTED("f32[3, 4]", "slice(%0) {starts = [1], ends = [100], axes = [-1], steps = [2]}",
          "f32[3, 2]", 1, 3, 5, 7, 9, 11);
  COUNTED("f32[3, 4]", "slice(%0) {starts = [2], ends = [-100], axes = [0], steps = [-1]}",
          "f32[3, 4]", 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
  COUNTED("f32[3, 4]", "narrow(%0) {axis = 1, start = 1, len = 2}", "f32[3, 2]", 1, 2, 5, 6, 9, 10);
  COUNTED("u4[3, 4]", "narrow(%0) {axis = 1, start = 1, len = 3}", "u4[3, 3]", 1, 2, 3, 5, 6, 7, 9,
          10, 11);
}

TEST(RepetitionsFollowTheDims) {
  COUNTED("f32[3, 1]", "expand(%0)", "f32[2, 3, 2]", 0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2);
  COUNTED("u2[3, 1]", "expand(%0)", "u2[3, 3]", 0, 0, 0, 1, 1, 1, 2, 2, 2);
  COUNTED("f64[2, 2]", "tile(%0) {repeats = [2, 3]}", "f64[4, 6]", 0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2,
          3, 0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3);
}

TEST(BlocksOfDepthAndSpaceAreExchanged) {
  COUNTED("f32[1, 8, 1, 2]", "depth_to_space(%0) {blocksize = 2}", "f32[1, 2, 2, 4]", 0, 4, 1, 5, 8,
          12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15);
  COUNTED("f32[1, 8, 1, 2]", "depth_to_space(%0) {blocksize = 2, mode = \"crd\"}",
          "f32[1, 2, 2, 4]", 0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15);
  COUNTED("f32[1, 2, 2, 4]", "space_to_depth(%0) {blocksize = 2}", "f32[1, 8, 1, 2]", 0, 2, 8, 10,
          1, 3, 9, 11, 4, 6, 12, 14, 5, 7, 13, 15);
  COUNTED("f32[1, 2, 2, 4]", "space_to_depth(%0) {blocksize = 2, mode = \"crd\"}",
          "f32[1, 8, 1, 2]", 0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15);
}

TEST(PadsContinueInEveryMode) {
  COUNTED("f32[2, 3]", "pad(%0) {pads = [1, 2, 0, 3], mode = \"edge\"}", "f32[3, 8]", 0, 0, 0, 1, 2,
          2, 2, 2, 0, 0, 0, 1, 2, 2, 2, 2, 3, 3, 3, 4, 5, 5, 5, 5);
  COUNTED("f32[2, 3]", "pad(%0) {pads = [1, 2, 0, 3], mode = \"reflect\"}", "f32[3, 8]", 5, 4, 3, 4,
          5, 4, 3, 4, 2, 1, 0, 1, 2, 1, 0, 1, 5, 4, 3, 4, 5, 4, 3, 4);
  COUNTED("f32[2, 3]", "pad(%0) {pads = [1, 2, 0, 3], mode = \"wrap\"}", "f32[3, 8]", 4, 5, 3, 4, 5,
          3, 4, 5, 1, 2, 0, 1, 2, 0, 1, 2, 4, 5, 3, 4, 5, 3, 4, 5);
  COUNTED("f32[2, 3]", "pad(%0) {pads = [1, -1, 0, 2]}", "f32[3, 4]", 0, 0, 0, 0, 1, 2, 0, 0, 4, 5,
          0, 0);
  COUNTED("u4[2, 3]", "pad(%0) {pads = [1, 0], axes = [1]}", "u4[2, 4]", 0, 0, 1, 2, 0, 3, 4, 5);
  kernel_case* c = kernel_case_create("i32[2]; i32[]", "pad(%0, %1) {pads = [1, 2]}", "i32[5]");
  KERNEL_SET(c, 0, int32_t, 4, 5);
  KERNEL_SET(c, 1, int32_t, 9);
  KERNEL_GIVES(c, 0, 0, 9, 4, 5, 9, 9);
  kernel_case_destroy(c);
}

TEST(PadsOfNothingNeedAValue) {
  COUNTED_FAILS("f32[0]", "pad(%0) {pads = [1, 0], mode = \"edge\"}", "f32[1]", "dim 0 is empty");
  COUNTED("f32[0]", "pad(%0) {pads = [1, 0]}", "f32[1]", 0);
  COUNTED("f32[]", "pad(%0)", "f32[]", 0);
}

TEST(CentersAreCutAndPadded) {
  COUNTED("f32[5]; i64[1] = [2]", "center_crop_pad(%0, %1)", "f32[2]", 1, 2);
  COUNTED("f32[2]; i64[1] = [5]", "center_crop_pad(%0, %1)", "f32[5]", 0, 0, 1, 0, 0);
  COUNTED("u8[3, 3]; i64[2] = [1, 4]", "center_crop_pad(%0, %1)", "u8[1, 4]", 3, 4, 5, 0);
  COUNTED("u8[2, 4]; i64[1] = [2]", "center_crop_pad(%0, %1) {axes = [-1]}", "u8[2, 2]", 1, 2, 5,
          6);
}

TEST(SlicesTakeTheirBoundsFromOperands) {
  kernel_case* c = kernel_case_create("i32[6]; i64[1]; i64[1]; i64[1] = [0]; i64[1] = [2]",
                                      "slice(%0, %1, %2, %3, %4)", "i32[3]");
  count_up(c, 0, 0);
  KERNEL_SET(c, 1, int64_t, 1);
  KERNEL_SET(c, 2, int64_t, INT64_MAX);
  KERNEL_GIVES(c, 0, 0, 1, 3, 5);
  KERNEL_SET(c, 1, int64_t, -3);
  KERNEL_GIVES(c, 0, 0, 3, 5);
  CHECK_U64((uint64_t)kernel_case_result(c, 0)->dims[0], 2);
  KERNEL_SET(c, 1, int64_t, INT64_MIN);
  KERNEL_GIVES(c, 0, 0, 0, 2, 4);
  KERNEL_SET(c, 2, int64_t, INT64_MIN);
  CHECK(kernel_case_run(c) == STOW_OK);
  CHECK_U64((uint64_t)kernel_case_result(c, 0)->dims[0], 0);
  kernel_case_destroy(c);
}

TEST(ConcatsJoinAlongAnyAxis) {
  kernel_case* c = kernel_case_create("i32[2, 1]; i32[2, 2]; i32[2, 0]",
                                      "concat(%0, %1, %2, %0) {axis = -1}", "i32[2, 4]");
  count_up(c, 0, 0);
  count_up(c, 1, 10);
  count_up(c, 3, 0);
  KERNEL_GIVES(c, 0, 0, 0, 10, 11, 0, 1, 12, 13, 1);
  kernel_case_destroy(c);
  c = kernel_case_create("u4[2, 1]; u4[2, 2]", "concat(%0, %1) {axis = 1}", "u4[2, 3]");
  count_up(c, 0, 1);
  count_up(c, 1, 5);
  KERNEL_GIVES(c, 0, 0, 1, 5, 6, 2, 7, 8);
  kernel_case_destroy(c);
}

TEST(SplitsCutAlongAnyAxis) {
  kernel_case* c = kernel_case_create("f32[2, 5]", "split(%0) {axis = 1, sizes = [2, 0, 3]}",
                                      "f32[2, 2]; f32[2, 0]; f32[2, 3]");
  count_up(c, 0, 0);
  KERNEL_GIVES(c, 0, 0, 0, 1, 5, 6);
  KERNEL_GIVES(c, 2, 0, 2, 3, 4, 7, 8, 9);
  kernel_case_destroy(c);
  c = kernel_case_create("u4[3, 3]", "split(%0) {axis = 1, parts = 2}", "u4[3, 2]; u4[3, 1]");
  count_up(c, 0, 0);
  KERNEL_GIVES(c, 0, 0, 0, 1, 3, 4, 6, 7);
  KERNEL_GIVES(c, 1, 0, 2, 5, 8);
  kernel_case_destroy(c);
}

TEST(EntriesAreAppendedAtTheirPosition) {
  kernel_case* c = kernel_case_create("f32[2, 4]; f32[2, 2]; i64[]",
                                      "kv_append(%0, %1, %2) {axis = 1}", "f32[2, 4]");
  count_up(c, 0, 0);
  count_up(c, 1, 20);
  KERNEL_GIVES(c, 0, 0, 20, 21, 2, 3, 22, 23, 6, 7);
  KERNEL_SET(c, 2, int64_t, 2);
  KERNEL_GIVES(c, 0, 0, 0, 1, 20, 21, 4, 5, 22, 23);
  KERNEL_SET(c, 2, int64_t, 3);
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(kernel_case_message(c), "2 entries at position 3 do not fit dim 1");
  KERNEL_SET(c, 2, int64_t, -1);
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[2, 4]; f32[2, 1]; i64[2]", "kv_append(%0, %1, %2) {axis = 1}",
                         "f32[2, 4]");
  count_up(c, 0, 0);
  count_up(c, 1, 20);
  KERNEL_SET(c, 2, int64_t, 3, 1);
  KERNEL_GIVES(c, 0, 0, 0, 1, 2, 20, 4, 21, 6, 7);
  kernel_case_destroy(c);
}

TEST(SequencesAreReversedUpToTheirLengths) {
  COUNTED("f32[4, 4]; i64[4] = [4, 3, 2, 1]", "reverse_sequence(%0, %1)", "f32[4, 4]", 12, 9, 6, 3,
          8, 5, 2, 7, 4, 1, 10, 11, 0, 13, 14, 15);
  COUNTED("u4[2, 3, 1]; i64[2] = [2, 3]",
          "reverse_sequence(%0, %1) {batch_axis = 0, time_axis = 1}", "u4[2, 3, 1]", 1, 0, 2, 5, 4,
          3);
  COUNTED_FAILS("f32[4, 1]; i64[1] = [5]", "reverse_sequence(%0, %1)", "f32[4, 1]",
                "sequence 0 has length 5, but dim 0 is 4");
}

TEST(EmptyTensorsWork) {
  COUNTED_RUNS("f32[0, 3]", "transpose(%0)", "f32[3, 0]");
  COUNTED_RUNS("f32[2, 0]", "slice(%0) {starts = [1], ends = [2]}", "f32[1, 0]");
  COUNTED_RUNS("f32[0, 1]", "expand(%0)", "f32[0, 4]");
  COUNTED_RUNS("f32[2, 3]", "tile(%0) {repeats = [0, 2]}", "f32[0, 6]");
  COUNTED_RUNS("f32[0, 3]; f32[0, 3]", "concat(%0, %1)", "f32[0, 3]");
  COUNTED_RUNS("f32[2, 0]", "split(%0) {axis = 0}", "f32[1, 0]; f32[1, 0]");
  COUNTED_RUNS("f32[3, 0]", "pad(%0) {pads = [0, 0, 1, 0]}", "f32[4, 0]");
  COUNTED_RUNS("f32[0, 2]; i64[2] = [0, 0]", "reverse_sequence(%0, %1)", "f32[0, 2]");
  COUNTED_RUNS("f32[0]; i64[1] = [0]", "reshape(%0, %1) {allowzero = true}", "f32[0]");
}

TEST(RanksFromNoneToSixteen) {
  COUNTED("f32[]", "transpose(%0)", "f32[]", 0);
  COUNTED("f32[]", "slice(%0)", "f32[]", 0);
  COUNTED("f32[]", "tile(%0)", "f32[]", 0);
  COUNTED("f32[]", "expand(%0)", "f32[2, 2]", 0, 0, 0, 0);
  COUNTED("u8[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3]", "transpose(%0)",
          "u8[3, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]", 0, 3, 1, 4, 2, 5);
  COUNTED("u8[2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2]",
          "tile(%0) {repeats = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2]}",
          "u8[2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4]", 0, 1, 0, 1, 2, 3, 2, 3);
}

TEST(BitsAfterTheLastPackedElementAreZero) {
  kernel_case* c = kernel_case_create("u4[3, 3]", "transpose(%0)", "u4[3, 3]");
  count_up(c, 0, 4);
  KERNEL_GIVES(c, 0, 0, 4, 7, 10, 5, 8, 11, 6, 9, 12);
  CHECK_U64(((const uint8_t*)kernel_case_result(c, 0)->data)[4], 12);
  kernel_case_destroy(c);
}

// Strides of nothing, and rows of nothing, may be more than can be counted.
TEST(EmptyTensorsTakeNoTimeHoweverLargeTheirDims) {
  const char* const cases[][3] = {
      {"f32[0, 4611686018427387904, 4611686018427387904]", "transpose(%0)",
       "f32[4611686018427387904, 4611686018427387904, 0]"},
      {"f32[1, 0, 2, 2]", "depth_to_space(%0) {blocksize = 2147483647}",
       "f32[1, 0, 4294967294, 4294967294]"},
      {"f32[2305843009213693952, 0]", "cumsum(%0) {axis = 0}", "f32[2305843009213693952, 0]"},
      {"f32[8589934592, 2, 0]; f32[1, 0, 0]", "rnn(%0, %1, %1)", "f32[8589934592, 1, 2, 0]"},
      {"u64[8589934592, 0]", "normalize_rows(%0)", "f32[8589934592, 0]"},
      {"f32[1, 8589934592, 8589934592, 0]", "lrn(%0) {size = 3}",
       "f32[1, 8589934592, 8589934592, 0]"},
      {"f32[2, 8589934592, 4, 0]; f32[2, 2, 17, 0]", "flex_attention(%0, %1, %1)",
       "f32[2, 8589934592, 4, 0]"},
      {"f32[8589934592, 0, 9, 5]; f32[8589934592, 0, 4, 5]", "tensor_scatter(%0, %1, _)",
       "f32[8589934592, 0, 9, 5]"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    kernel_case* c = kernel_case_create(cases[i][0], cases[i][1], cases[i][2]);
    CHECK(kernel_case_run(c) == STOW_OK);
    kernel_case_destroy(c);
  }
}
