// Sampling, regions, boxes, and files of images.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/kernel_case.h"
#include "support/test.h"

static void count_up(kernel_case* c, size_t count) {
  float* x = kernel_case_operand(c, 0);
  for (size_t i = 0; i < count; ++i) {
    x[i] = (float)(i + 1);
  }
}

// ---------------------------------------------------------------------------------------------
// Grids

TEST(GridSampleReadsAtPositions) {
  static const struct {
    const char* attrs;
    double numbers[4];
  } cases[] = {
      {"mode = \"linear\"", {0.25, 8.5, 11.5, 0}},
      {"mode = \"linear\", padding_mode = \"border\"", {1, 8.5, 11.5, 8.4}},
      {"mode = \"linear\", padding_mode = \"reflection\"", {1, 8.5, 11.5, 8.1}},
      {"mode = \"nearest\"", {1, 11, 11, 0}},
      {"mode = \"nearest\", padding_mode = \"border\"", {1, 11, 11, 8}},
      {"mode = \"nearest\", padding_mode = \"reflection\"", {1, 11, 11, 8}},
      {"mode = \"cubic\"", {0.015625, 8.5, 12.71875, -0.94198}},
      {"mode = \"linear\", align_corners = true", {1, 8.5, 10.75, 3.52}},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    char node[120];
    snprintf(node, sizeof(node), "grid_sample(%%0, %%1) {%s}", cases[i].attrs);
    kernel_case* c =
        kernel_case_create("f32[1, 1, 4, 4]; f32[1, 1, 4, 2]", node, "f32[1, 1, 1, 4]");
    count_up(c, 16);
    KERNEL_SET(c, 1, float, -1, -1, 0, 0, 0.5F, 0.25F, 1.4F, -0.2F);
    kernel_case_gives(c, 0, cases[i].numbers, 4, 1e-5, cases[i].attrs, 0);
    kernel_case_destroy(c);
  }
}

TEST(GridSampleWorksInThreeDims) {
  kernel_case* c = kernel_case_create("f32[1, 1, 2, 2, 2]; f32[1, 1, 1, 2, 3]",
                                      "grid_sample(%0, %1)", "f32[1, 1, 1, 1, 2]");
  count_up(c, 8);
  KERNEL_SET(c, 1, float, 0, 0, 0, 0.5F, -0.5F, 1);
  KERNEL_GIVES(c, 0, 1e-6, 4.5, 3);
  kernel_case_destroy(c);
}

TEST(GridSampleStaysInsideWhateverThePosition) {
  static const char* const paddings[] = {"zeros", "border", "reflection"};
  for (size_t i = 0; i < 3; ++i) {
    char node[120];
    snprintf(node, sizeof(node), "grid_sample(%%0, %%1) {mode = \"cubic\", padding_mode = \"%s\"}",
             paddings[i]);
    kernel_case* c =
        kernel_case_create("f32[1, 1, 1, 2]; f32[1, 1, 3, 2]", node, "f32[1, 1, 1, 3]");
    KERNEL_SET(c, 1, float, 1e30F, -1e30F, 0, 3e9F, -7e8F, 1);
    ((uint32_t*)kernel_case_operand(c, 1))[2] = 0x7fc00000U;  // not a number
    CHECK(kernel_case_run(c) == STOW_OK);
    kernel_case_destroy(c);
  }
}

TEST(AffineGridMovesPositions) {
  kernel_case* c = kernel_case_create("f32[1, 2, 3]; i64[4] = [1, 1, 2, 2]", "affine_grid(%0, %1)",
                                      "f32[1, 2, 2, 2]");
  KERNEL_SET(c, 0, float, 1, 0, 0.5F, 0, 2, 0);
  KERNEL_GIVES(c, 0, 1e-6, 0, -1, 1, -1, 0, 1, 1, 1);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[1, 2, 3]; i64[4] = [1, 1, 2, 2]",
                         "affine_grid(%0, %1) {align_corners = true}", "f32[1, 2, 2, 2]");
  KERNEL_SET(c, 0, float, 1, 0, 0.5F, 0, 2, 0);
  KERNEL_GIVES(c, 0, 1e-6, -0.5, -2, 1.5, -2, -0.5, 2, 1.5, 2);
  kernel_case_destroy(c);
  c = kernel_case_create("f64[1, 3, 4]; i64[5] = [1, 1, 2, 1, 2]", "affine_grid(%0, %1)",
                         "f64[1, 2, 1, 2, 3]");
  KERNEL_SET(c, 0, double, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0.25);
  KERNEL_GIVES(c, 0, 1e-12, -0.5, 0, -0.25, 0.5, 0, -0.25, -0.5, 0, 0.75, 0.5, 0, 0.75);
  kernel_case_destroy(c);
}

// ---------------------------------------------------------------------------------------------
// Regions

TEST(RoiAlignAveragesSamples) {
  static const struct {
    const char* attrs;
    double numbers[4];
  } cases[] = {
      {"mode = \"avg\", coordinates = \"half_pixel\"", {2.5625, 4, 8.3125, 9.75}},
      {"mode = \"avg\", coordinates = \"output_half_pixel\"", {4.75, 6.25, 10.75, 12.25}},
      {"mode = \"max\", coordinates = \"half_pixel\"", {3.125, 3.82812, 7.875, 8.42188}},
      {"mode = \"max\", coordinates = \"output_half_pixel\"", {4.59375, 5.35938, 7.65625, 8.42188}},
  };
  for (size_t i = 0; i < 4; ++i) {
    char node[160];
    snprintf(node, sizeof(node),
             "roi_align(%%0, %%1, %%2) {%s, output_height = 2, output_width = 2, sampling_ratio = "
             "2}",
             cases[i].attrs);
    kernel_case* c =
        kernel_case_create("f32[1, 1, 4, 4]; f32[1, 4]; i64[1]", node, "f32[1, 1, 2, 2]");
    count_up(c, 16);
    KERNEL_SET(c, 1, float, 0, 0, 3, 3);
    kernel_case_gives(c, 0, cases[i].numbers, 4, 1e-5, cases[i].attrs, 0);
    kernel_case_destroy(c);
  }
}

TEST(RoiAlignChecksItsImages) {
  kernel_case* c = kernel_case_create("f32[2, 1, 4, 4]; f32[1, 4]; i64[1]", "roi_align(%0, %1, %2)",
                                      "f32[1, 1, 1, 1]");
  KERNEL_SET(c, 2, int64_t, 2);
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_TEXT(kernel_case_message(c), "image 2 of region 0 is out of range (2 images)");
  KERNEL_SET(c, 2, int64_t, -1);
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  // Of a region without bounds nothing is known, but it ends.
  KERNEL_SET(c, 2, int64_t, 1);
  KERNEL_SET(c, 1, float, 0, 0, 1e30F, 1e30F);
  CHECK(kernel_case_run(c) == STOW_OK);
  kernel_case_destroy(c);
}

TEST(MaxRoiPoolTakesTheLargestOfEachCell) {
  kernel_case* c =
      kernel_case_create("f32[2, 1, 4, 4]; f32[2, 5]",
                         "max_roi_pool(%0, %1) {pooled_shape = [2, 2]}", "f32[2, 1, 2, 2]");
  count_up(c, 32);
  KERNEL_SET(c, 1, float, 0, 0, 0, 3, 3, 1, 1, 1, 2, 9);
  KERNEL_GIVES(c, 0, 0, 6, 8, 14, 16, 30, 31, 0, 0);
  KERNEL_SET(c, 1, float, 0, 0, 0, 3, 3, 2, 1, 1, 2, 9);
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  kernel_case_destroy(c);
}

TEST(CropAndResizeInterpolates) {
  kernel_case* c =
      kernel_case_create("f32[1, 1, 3, 3]; f32[2, 4]; i32[2]; i32[2] = [2, 3]",
                         "crop_and_resize(%0, %1, %2, %3) {outside = -7.0}", "f32[2, 1, 2, 3]");
  count_up(c, 9);
  KERNEL_SET(c, 1, float, 0, 0, 0.5F, 1, 0.25F, 0, 1.25F, 0.5F);
  KERNEL_GIVES(c, 0, 1e-6, 1, 2, 3, 4, 5, 6, 2.5, 3, 3.5, -7, -7, -7);
  KERNEL_SET(c, 2, int32_t, 0, 1);
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[1, 1, 3, 3]; f32[1, 4]; i32[1]; i32[2] = [1, 2]",
                         "crop_and_resize(%0, %1, %2, %3) {mode = \"nearest\"}", "f32[1, 1, 1, 2]");
  count_up(c, 9);
  KERNEL_SET(c, 1, float, 0, 0.1F, 1, 0.9F);
  KERNEL_GIVES(c, 0, 0, 4, 6);
  kernel_case_destroy(c);
}

// ---------------------------------------------------------------------------------------------
// Boxes

TEST(OverlappingBoxesAreSuppressed) {
  kernel_case* c =
      kernel_case_create("f32[1, 4, 4]; f32[1, 2, 4]; i64[] = [3]; f32[] = [0.5]; f32[] = [0.2]",
                         "non_max_suppression(%0, %1, %2, %3, %4)", "i64[6, 3]");
  // Boxes 0 and 1 overlap by 0.6 of their union, given by any two corners.
  KERNEL_SET(c, 0, float, 0, 0, 1, 1, 1, 1.25F, 0, 0.25F, 0, 10, 1, 11, 0, 20, 1, 21);
  // Of the equal scores in class 0 box 0 comes first; box 3 has too small a score there.
  KERNEL_SET(c, 1, float, 0.9F, 0.9F, 0.95F, 0.2F, 0.3F, 0.8F, 0.5F, 0.6F);
  KERNEL_GIVES(c, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 1, 0, 1, 3, 0, 1, 2);
  CHECK_U64((uint64_t)kernel_case_result(c, 0)->dims[0], 5);
  kernel_case_destroy(c);
}

TEST(BoxesMayBeGivenByTheirCenters) {
  kernel_case* c = kernel_case_create(
      "f32[1, 3, 4]; f32[1, 1, 3]; i64[1] = [9]; f32[1] = [0.5]",
      "non_max_suppression(%0, %1, %2, %3) {center_point_box = true}", "i64[3, 3]");
  KERNEL_SET(c, 0, float, 0.5F, 0.5F, 1, 1, 0.75F, 0.5F, 1, 1, 5, 5, 1, 1);
  KERNEL_SET(c, 1, float, 0.1F, 0.2F, -0.3F);
  KERNEL_GIVES(c, 0, 0, 0, 0, 1, 0, 0, 2);
  kernel_case_destroy(c);
}

TEST(NoBoxesAreKeptByDefault) {
  kernel_case* c =
      kernel_case_create("f32[1, 3, 4]; f32[1, 1, 3]", "non_max_suppression(%0, %1)", "i64[0, 3]");
  CHECK(kernel_case_run(c) == STOW_OK);
  CHECK_U64((uint64_t)kernel_case_result(c, 0)->dims[0], 0);
  kernel_case_destroy(c);
}

// ---------------------------------------------------------------------------------------------
// Images

TEST(CropTakesTheInside) {
  kernel_case* c =
      kernel_case_create("f32[1, 1, 4, 4]", "crop(%0) {border = [1, 2, 0, 1]}", "f32[1, 1, 1, 3]");
  count_up(c, 16);
  KERNEL_GIVES(c, 0, 0, 10, 11, 12);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[1, 2, 3, 3]", "crop(%0) {border = [1, 0, 0, 0], size = [2, 2]}",
                         "f32[1, 2, 2, 2]");
  count_up(c, 18);
  KERNEL_GIVES(c, 0, 0, 2, 3, 5, 6, 11, 12, 14, 15);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[1, 1, 3, 3]", "crop(%0) {border = [2, 0, 0, 0], size = [2, 2]}",
                         "f32[1, 1, 2, 2]");
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  kernel_case_destroy(c);
}

TEST(ImagesAreScaledAndMovedByChannel) {
  kernel_case* c = kernel_case_create(
      "f32[1, 2, 1, 2]", "scale_image(%0) {scale = 2.0, bias = [10.0, 20.0]}", "f32[1, 2, 1, 2]");
  count_up(c, 4);
  KERNEL_GIVES(c, 0, 0, 12, 14, 26, 28);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[1, 2, 1, 2]", "scale_image(%0) {bias = [10.0]}", "f32[1, 2, 1, 2]");
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  kernel_case_destroy(c);
}

// The case of a file of |size| bytes.
static kernel_case* file_case(const void* bytes, size_t size, const char* format,
                              const char* result) {
  char operands[40];
  char node[80];
  snprintf(operands, sizeof(operands), "u8[%zu]", size);
  snprintf(node, sizeof(node), "decode_image(%%0) {format = \"%s\"}", format);
  kernel_case* c = kernel_case_create(operands, node, result);
  if (size != 0) {
    memcpy(kernel_case_operand(c, 0), bytes, size);
  }
  return c;
}

// Two rows of two pixels, each row filled up to four bytes: the lower row comes first.
static const unsigned char bmp[] = {'B', 'M', 70, 0,  0,  0,  0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0,  0,
                                    2,   0,   0,  0,  2,  0,  0, 0, 1, 0, 24, 0, 0, 0, 0,  0, 16, 0,
                                    0,   0,   0,  0,  0,  0,  0, 0, 0, 0, 0,  0, 0, 0, 0,  0, 0,  0,
                                    9,   8,   7,  12, 11, 10, 0, 0, 3, 2, 1,  6, 5, 4, 0,  0};

TEST(BmpFilesAreDecoded) {
  kernel_case* c = file_case(bmp, sizeof(bmp), "rgb", "u8[2, 2, 3]");
  KERNEL_GIVES(c, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
  kernel_case_destroy(c);
  c = file_case(bmp, sizeof(bmp), "bgr", "u8[4, 5, 3]");
  KERNEL_GIVES(c, 0, 0, 3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10);
  CHECK_U64((uint64_t)kernel_case_result(c, 0)->dims[0], 2);
  CHECK_U64((uint64_t)kernel_case_result(c, 0)->dims[1], 2);
  kernel_case_destroy(c);
  c = file_case(bmp, sizeof(bmp), "grayscale", "u8[2, 2, 1]");
  KERNEL_GIVES(c, 0, 0, 2, 5, 8, 11);
  kernel_case_destroy(c);
  c = file_case(bmp, sizeof(bmp), "rgb", "u8[1, 2, 3]");
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_TEXT(kernel_case_message(c), "the image has 2 x 2 pixels, more than the planned 1 x 2");
  kernel_case_destroy(c);
}

TEST(BmpRowsMayRunDownAndHavePalettes) {
  unsigned char file[sizeof(bmp)];
  memcpy(file, bmp, sizeof(bmp));
  memset(file + 22, 0xff, 4);
  file[22] = 0xfe;  // -2
  kernel_case* c = file_case(file, sizeof(file), "rgb", "u8[2, 2, 3]");
  KERNEL_GIVES(c, 0, 0, 7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6);
  kernel_case_destroy(c);
  unsigned char palette[54 + 8 + 4] = {0};
  memcpy(palette, bmp, 54);
  palette[10] = 62;
  palette[22] = 1;
  palette[28] = 8;
  palette[46] = 2;
  memcpy(palette + 54, "\3\2\1\0\6\5\4\0\1\7", 10);
  c = file_case(palette, sizeof(palette), "rgb", "u8[1, 2, 3]");
  // The second index is beyond the palette.
  KERNEL_GIVES(c, 0, 0, 4, 5, 6, 0, 0, 0);
  kernel_case_destroy(c);
}

TEST(PnmFilesAreDecoded) {
  static const char colour[] = "P6\n# by hand\n2 1\n255\nabcdef";
  kernel_case* c = file_case(colour, sizeof(colour) - 1, "rgb", "u8[1, 2, 3]");
  KERNEL_GIVES(c, 0, 0, 'a', 'b', 'c', 'd', 'e', 'f');
  kernel_case_destroy(c);
  static const char grey[] = "P5 2 1 10 \5\12";
  c = file_case(grey, sizeof(grey) - 1, "rgb", "u8[1, 2, 3]");
  KERNEL_GIVES(c, 0, 0, 128, 128, 128, 255, 255, 255);
  kernel_case_destroy(c);
  c = file_case(grey, sizeof(grey) - 1, "grayscale", "u8[1, 2, 1]");
  KERNEL_GIVES(c, 0, 0, 128, 255);
  kernel_case_destroy(c);
}

TEST(FilesThatEndTooSoonAreRefused) {
  static const char pnm[] = "P6\n2 1\n255\nabcdef";
  for (size_t size = 0; size < sizeof(bmp) - 1; ++size) {
    kernel_case* c = file_case(bmp, size, "rgb", "u8[2, 2, 3]");
    CHECK(kernel_case_run(c) != STOW_OK);
    kernel_case_destroy(c);
    if (size < sizeof(pnm) - 1) {
      c = file_case(pnm, size, "rgb", "u8[2, 2, 3]");
      CHECK(kernel_case_run(c) != STOW_OK);
      kernel_case_destroy(c);
    }
  }
}

TEST(HeadersOfAnyBytesNeverReadBeyondTheFile) {
  test_random random = {5};
  for (size_t round = 0; round < 2000; ++round) {
    unsigned char file[sizeof(bmp)];
    memcpy(file, bmp, sizeof(bmp));
    for (size_t i = 0; i < 1 + round % 4; ++i) {
      file[2 + test_random_below(&random, 52)] = (unsigned char)test_random_u64(&random);
    }
    kernel_case* c = file_case(file, sizeof(file), "rgb", "u8[2, 2, 3]");
    (void)kernel_case_run(c);
    kernel_case_destroy(c);
  }
}

static void check_format(const char* bytes, size_t size, const char* name) {
  char message[120];
  snprintf(message, sizeof(message), "the file is %s, which is unsupported; expected BMP or PNM",
           name);
  kernel_case* c = file_case(bytes, size, "rgb", "u8[2, 2, 3]");
  CHECK(kernel_case_run(c) == STOW_ERR_UNSUPPORTED);
  CHECK_TEXT(kernel_case_message(c), message);
  kernel_case_destroy(c);
}

TEST(OtherFormatsAreNamed) {
  check_format("\xff\xd8\xff\xe0", 4, "a JPEG");
  check_format("\x89PNG\r\n\x1a\n", 8, "a PNG");
  check_format("II*\0", 4, "a TIFF");
  check_format("MM\0*", 4, "a TIFF");
  check_format("RIFF\1\2\3\4WEBPVP8 ", 16, "a WebP");
  check_format("\0\0\0\14jP  \r\n\x87\n", 12, "a JPEG 2000");
  check_format("GIF89a", 6, "a GIF");
  check_format("hello", 5, "of an unknown format");
  check_format("", 0, "of an unknown format");
}
