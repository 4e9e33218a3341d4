// Ops that pick and place elements by index or by value, against what numpy gives, and
// gather_quantized against onnxruntime.
#include <math.h>
#include <string.h>

#include "exec/counted.h"

// ---------------------------------------------------------------------------------------------
// Gathering

TEST(GatherPicksSlices) {
  COUNTED("f32[3, 2]; i64[2, 2] = [0, -1, 1, 1]", "gather(%0, %1)", "f32[2, 2, 2]", 0, 1, 4, 5, 2,
          3, 2, 3);
  COUNTED("f32[2, 3]; i32[2] = [2, 0]", "gather(%0, %1) {axis = 1}", "f32[2, 2]", 2, 0, 5, 3);
  COUNTED("u4[5]; i64[3] = [4, 1, 2]", "gather(%0, %1)", "u4[3]", 4, 1, 2);
  COUNTED("f16[3]; i64[] = [1]", "gather(%0, %1)", "f16[]", 1);
  COUNTED("i8[4, 1]; u8[2] = [3, 0]", "gather(%0, %1)", "i8[2, 1]", 3, 0);
  COUNTED_RUNS("f32[0, 3]; i64[0]", "gather(%0, %1)", "f32[0, 3]");
}

TEST(GatherRefusesIndicesOutOfRange) {
  COUNTED_FAILS("f32[3]; i64[2] = [0, 3]", "gather(%0, %1)", "f32[2]",
                "index 3 is out of range (dim 0 is 3)");
  COUNTED_FAILS("f32[2, 3]; i64[1] = [-4]", "gather(%0, %1) {axis = 1}", "f32[2, 1]",
                "index -4 is out of range (dim 1 is 3)");
  COUNTED_FAILS("f32[0]; i64[1] = [0]", "gather(%0, %1)", "f32[1]", "index 0 is out of range");
}

// More indices than are worked on undivided, each of which picks an element that is narrower.
static void gather_over_indices(const char* operands, const char* node, const char* results) {
  enum { COUNT = 40000 };
  static double expected[COUNT];
  kernel_case* c = kernel_case_create(operands, node, results);
  count_up(c, 0, 0);
  for (size_t i = 0; i < COUNT; ++i) {
    ((int64_t*)kernel_case_operand(c, 1))[i] = (int64_t)(i * 7 % 100) - 50;
    expected[i] = (double)(i * 7 % 50);
  }
  kernel_case_gives(c, 0, expected, COUNT, 0, __FILE__, __LINE__);
  kernel_case_destroy(c);
}

TEST(GatherWorksInPlaceOfItsIndices) {
  gather_over_indices("f32[50]; i64[40000]", "gather(%0, %1)", "f32[40000]");
  gather_over_indices("u8[50, 1]; i64[40000, 1]", "gather_elements(%0, %1)", "u8[40000, 1]");
}

TEST(GatherElementsPicksAlongTheAxis) {
  COUNTED("f32[2, 2]; i64[2, 2] = [0, 0, 1, 0]", "gather_elements(%0, %1) {axis = 1}", "f32[2, 2]",
          0, 0, 3, 2);
  COUNTED("f32[3, 3]; i64[2, 3] = [1, 2, 0, -1, 0, 0]", "gather_elements(%0, %1)", "f32[2, 3]", 3,
          7, 2, 6, 1, 2);
  COUNTED("u4[3, 3]; i32[2, 2] = [1, 2, 0, -1]", "gather_elements(%0, %1) {axis = 0}", "u4[2, 2]",
          3, 7, 0, 7);
  COUNTED("i64[2, 2, 2]; i64[1, 2, 1] = [1, 0]", "gather_elements(%0, %1) {axis = 1}",
          "i64[1, 2, 1]", 2, 0);
  COUNTED_FAILS("f32[2, 2]; i64[1, 2] = [0, 2]", "gather_elements(%0, %1)", "f32[1, 2]",
                "index 2 is out of range (dim 0 is 2)");
}

TEST(GatherNdPicksByTuples) {
  COUNTED("i32[2, 2]; i64[2, 2] = [0, 0, 1, -1]", "gather_nd(%0, %1)", "i32[2]", 0, 3);
  COUNTED("i32[2, 2]; i64[2, 1] = [1, 0]", "gather_nd(%0, %1)", "i32[2, 2]", 2, 3, 0, 1);
  COUNTED("i32[2, 2, 2]; i64[2, 1] = [1, 0]", "gather_nd(%0, %1) {batch_dims = 1}", "i32[2, 2]", 2,
          3, 4, 5);
  COUNTED("u4[2, 3]; i64[2, 1] = [1, 0]", "gather_nd(%0, %1)", "u4[2, 3]", 3, 4, 5, 0, 1, 2);
  COUNTED_FAILS("i32[2, 3]; i64[1, 2] = [1, 3]", "gather_nd(%0, %1)", "i32[1]",
                "index 3 is out of range (dim 1 is 3)");
}

static void set_table(kernel_case* c, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    ((uint8_t*)kernel_case_operand(c, 0))[i] = (uint8_t)(7 * i + 3);
  }
}

TEST(QuantizedTablesAreDequantised) {
  kernel_case* c =
      kernel_case_create("u8[3, 16]; i64[1] = [2]; f32[3, 2]; u8[3, 1]",
                         "gather_quantized(%0, %1, %2, %3) {block = 16}", "f32[1, 32]");
  set_table(c, 48);
  KERNEL_SET(c, 2, float, 0.5F, 1, 2, 0.25F, 1, 4);
  KERNEL_SET(c, 3, uint8_t, 0x21, 0x43, 0x85);
  KERNEL_GIVES(c, 0, 0, -2, 9, 5, 9, -4, 10, 3, 10, 10, 10, 1, -5, 8, -5, -1, -4, 12, -28, -24, -24,
               4, -24, -32, -20, -4, -20, 24, -20, -12, -16, 16, -16);
  kernel_case_destroy(c);
  c = kernel_case_create("u8[3, 16]; i64[2] = [-3, 3]; f32[3, 2]",
                         "gather_quantized(%0, %1, %2) {block = 16}", "f32[2, 32]");
  set_table(c, 48);
  KERNEL_SET(c, 2, float, 0.5F, 1, 2, 0.25F, 1, 4);
  KERNEL_GIVES(c, 0, 0, -2.5, -4, 1, -4, -3.5, -3.5, 0, -3.5, 3.5, -3.5, -1, -3, 2.5, -3, -2, -2.5,
               3, -5, -6, -4, 1, -4, -8, -3, -1, -3, 6, -3, -3, -2, 4, -2, 0, 0, 0, 0, 0, 0, 0, 0,
               0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  kernel_case_destroy(c);
}

TEST(QuantizedTablesOfFourBitsAndOfBytes) {
  kernel_case* c = kernel_case_create(
      "i4[16, 2]; i64[1] = [1]; f32[1, 2]",
      "gather_quantized(%0, %1, %2) {block = 16, quantize_axis = 0, axis = 1}", "f32[16, 1]");
  for (size_t i = 0; i < 16; ++i) {
    ((uint8_t*)kernel_case_operand(c, 0))[i] = (uint8_t)(11 * i + 5);
  }
  KERNEL_SET(c, 2, float, 1, 2);
  KERNEL_GIVES(c, 0, 0, 0, 2, 2, 4, 6, 6, 8, 10, 10, 12, 14, 14, -16, -14, -14, -12);
  kernel_case_destroy(c);
  c = kernel_case_create("u8[2, 16]; i64[1] = [1]; f32[2, 1]",
                         "gather_quantized(%0, %1, %2) {block = 16, bits = 8}", "f32[1, 16]");
  for (size_t i = 0; i < 32; ++i) {
    ((uint8_t*)kernel_case_operand(c, 0))[i] = (uint8_t)(5 * i);
  }
  KERNEL_SET(c, 2, float, 1, 2);
  KERNEL_GIVES(c, 0, 0, -96, -86, -76, -66, -56, -46, -36, -26, -16, -6, 4, 14, 24, 34, 44, 54);
  kernel_case_destroy(c);
}

// ---------------------------------------------------------------------------------------------
// Scattering

TEST(ScatterElementsPlacesAlongTheAxis) {
  COUNTED("f32[1, 5]; i64[1, 2] = [1, -2]; f32[1, 2] = [1.5, 2.5]",
          "scatter_elements(%0, %1, %2) {axis = 1}", "f32[1, 5]", 0, 1.5, 2, 2.5, 4);
  COUNTED("u4[2, 2]; i64[1, 2] = [1, 0]; u4[1, 2] = [9, 8]", "scatter_elements(%0, %1, %2)",
          "u4[2, 2]", 0, 8, 9, 3);
  COUNTED_FAILS("f32[2]; i64[1] = [2]; f32[1] = [1.0]", "scatter_elements(%0, %1, %2)", "f32[2]",
                "index 2 is out of range (dim 0 is 2)");
}

TEST(ScatteredElementsAreCombinedInOrder) {
#define COMBINES(dtype, reduction, ...)                                                \
  COUNTED(dtype "[3]; i64[4] = [2, 1, 1, 0]; " dtype "[4] = [3, 2, 4, 0]",             \
          "scatter_elements(%0, %1, %2) {reduction = \"" reduction "\"}", dtype "[3]", \
          __VA_ARGS__)
  COMBINES("i32", "none", 0, 4, 3);
  COMBINES("i32", "add", 0, 7, 5);
  COMBINES("i8", "mul", 0, 8, 6);
  COMBINES("u64", "max", 0, 4, 3);
  COMBINES("i64", "min", 0, 1, 2);
  COMBINES("u16", "add", 0, 7, 5);
  COMBINES("u4", "add", 0, 7, 5);
#undef COMBINES
#define BOOLS "bool[3]; i64[4] = [2, 1, 1, 0]; bool[4] = [1, 0, 1, 0]"
  COUNTED(BOOLS, "scatter_elements(%0, %1, %2) {reduction = \"mul\"}", "bool[3]", 0, 0, 1);
  COUNTED(BOOLS, "scatter_elements(%0, %1, %2) {reduction = \"add\"}", "bool[3]", 0, 1, 1);
#undef BOOLS
#define COMBINES(dtype, reduction, ...)                                                \
  COUNTED(dtype "[3]; i64[4] = [2, 1, 1, 0]; " dtype "[4] = [3.0, 2.0, 4.5, -1.0]",    \
          "scatter_elements(%0, %1, %2) {reduction = \"" reduction "\"}", dtype "[3]", \
          __VA_ARGS__)
  COMBINES("f32", "add", -1, 7.5, 5);
  COMBINES("f64", "mul", 0, 9, 6);
  COMBINES("f16", "max", 0, 4.5, 3);
  COMBINES("bf16", "min", -1, 1, 2);
#undef COMBINES
}

TEST(NanStaysWhereItIsCombined) {
  kernel_case* c =
      kernel_case_create("f32[2]; i64[2] = [0, 1]; f32[2]",
                         "scatter_elements(%0, %1, %2) {reduction = \"max\"}", "f32[2]");
  KERNEL_SET(c, 0, float, NAN, 1);
  KERNEL_SET(c, 2, float, 1, NAN);
  KERNEL_GIVES(c, 0, 0, NAN, NAN);
  kernel_case_destroy(c);
}

TEST(ScatterNdPlacesByTuples) {
  COUNTED("f32[4]; i64[2, 1] = [1, -1]; f32[2] = [9.0, 8.0]", "scatter_nd(%0, %1, %2)", "f32[4]", 0,
          9, 2, 8);
  COUNTED("f32[2, 2]; i64[2, 1] = [1, 1]; f32[2, 2] = [1.0, 2.0, 3.0, 4.0]",
          "scatter_nd(%0, %1, %2) {reduction = \"add\"}", "f32[2, 2]", 0, 1, 6, 9);
  COUNTED("u2[2, 2]; i64[1, 2] = [0, 1]; u2[1] = [3]", "scatter_nd(%0, %1, %2)", "u2[2, 2]", 0, 3,
          2, 3);
  COUNTED_FAILS("f32[4]; i64[2, 1] = [1, 4]; f32[2] = [9.0, 8.0]", "scatter_nd(%0, %1, %2)",
                "f32[4]", "index 4 is out of range (dim 0 is 4)");
}

TEST(CachesTakeEntriesLinearlyOrWrapping) {
  COUNTED("f32[2, 3, 1]; f32[2, 2, 1] = [10.0, 11.0, 12.0, 13.0]; i64[2] = [1, 0]",
          "tensor_scatter(%0, %1, %2)", "f32[2, 3, 1]", 0, 10, 11, 12, 13, 5);
  COUNTED("f32[2, 3, 1]; f32[2, 2, 1] = [10.0, 11.0, 12.0, 13.0]; i64[2] = [2, 4]",
          "tensor_scatter(%0, %1, %2) {mode = \"circular\"}", "f32[2, 3, 1]", 11, 1, 10, 3, 12, 13);
  COUNTED("f32[1, 2, 1]; f32[1, 1, 1] = [10.0]", "tensor_scatter(%0, %1)", "f32[1, 2, 1]", 10, 1);
  COUNTED_FAILS("f32[1, 3, 1]; f32[1, 2, 1] = [1.0, 2.0]; i64[1] = [2]",
                "tensor_scatter(%0, %1, %2)", "f32[1, 3, 1]", "2 entries at position 2 do not fit");
}

// ---------------------------------------------------------------------------------------------
// Picking by place and by value

TEST(TrianglesKeepOneSide) {
  COUNTED("i32[2, 3]", "trilu(%0)", "i32[2, 3]", 0, 1, 2, 0, 4, 5);
  COUNTED("i32[2, 3]", "trilu(%0) {upper = false}", "i32[2, 3]", 0, 0, 0, 3, 4, 0);
  COUNTED("f32[2, 3]; i64[] = [1]", "trilu(%0, %1)", "f32[2, 3]", 0, 1, 2, 0, 0, 5);
  COUNTED("u4[3, 3]; i64[] = [-1]", "trilu(%0, %1) {upper = false}", "u4[3, 3]", 0, 0, 0, 3, 0, 0,
          6, 7, 0);
  COUNTED("f32[2, 2]; i64[] = [9223372036854775807]", "trilu(%0, %1)", "f32[2, 2]", 0, 0, 0, 0);
  COUNTED("f32[1, 2, 2]; i64[] = [-9223372036854775807]", "trilu(%0, %1)", "f32[1, 2, 2]", 0, 1, 2,
          3);
}

TEST(NonzeroGivesIndices) {
  kernel_case* c = kernel_case_create("f32[2, 2]", "nonzero(%0)", "i64[2, 4]");
  KERNEL_SET(c, 0, float, 1, -0.0F, NAN, 2);
  KERNEL_GIVES(c, 0, 0, 0, 1, 1, 0, 0, 1);
  CHECK_U64((uint64_t)kernel_case_result(c, 0)->dims[1], 3);
  kernel_case_destroy(c);
  c = kernel_case_create("c64[3]", "nonzero(%0)", "i64[1, 3]");
  KERNEL_SET(c, 0, float, 0, -0.0F, 0, 1, 1, 0);
  KERNEL_GIVES(c, 0, 0, 1, 2);
  kernel_case_destroy(c);
  c = kernel_case_create("u4[3]", "nonzero(%0)", "i64[1, 3]");
  KERNEL_SET(c, 0, uint8_t, 0x10, 0x02);
  KERNEL_GIVES(c, 0, 0, 1, 2);
  kernel_case_destroy(c);
  COUNTED_RUNS("bool[]", "nonzero(%0)", "i64[0, 1]");
  COUNTED_RUNS("f32[0]", "nonzero(%0)", "i64[1, 0]");
}

TEST(UniqueSortsOrKeepsTheOrder) {
  const char* results = "f32[6]; i64[6]; i64[6]; i64[6]";
  kernel_case* c = kernel_case_create("f32[6]", "unique(%0)", results);
  KERNEL_SET(c, 0, float, 2, 1, 1, 3, 4, 3);
  KERNEL_GIVES(c, 0, 0, 1, 2, 3, 4);
  KERNEL_GIVES(c, 1, 0, 1, 0, 3, 4);
  KERNEL_GIVES(c, 2, 0, 1, 0, 0, 2, 3, 2);
  KERNEL_GIVES(c, 3, 0, 2, 1, 2, 1);
  KERNEL_SET(c, 0, float, NAN, 1, NAN, -0.0F, 0, -5);
  KERNEL_GIVES(c, 0, 0, -5, 0, 1, NAN);
  KERNEL_GIVES(c, 3, 0, 1, 2, 1, 2);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[6]", "unique(%0) {sorted = false}", results);
  KERNEL_SET(c, 0, float, 2, 1, 1, 3, 4, 3);
  KERNEL_GIVES(c, 0, 0, 2, 1, 3, 4);
  KERNEL_GIVES(c, 1, 0, 0, 1, 3, 4);
  KERNEL_GIVES(c, 2, 0, 0, 1, 1, 2, 3, 2);
  KERNEL_GIVES(c, 3, 0, 1, 2, 2, 1);
  kernel_case_destroy(c);
}

TEST(UniqueComparesSlices) {
  kernel_case* c = kernel_case_create("i32[3, 3]", "unique(%0) {axes = [0]}",
                                      "i32[3, 3]; i64[3]; i64[3]; i64[3]");
  KERNEL_SET(c, 0, int32_t, 1, 0, 0, 1, 0, 0, 2, 3, 4);
  KERNEL_GIVES(c, 0, 0, 1, 0, 0, 2, 3, 4);
  KERNEL_GIVES(c, 1, 0, 0, 2);
  KERNEL_GIVES(c, 2, 0, 0, 0, 1);
  KERNEL_GIVES(c, 3, 0, 2, 1);
  kernel_case_destroy(c);
  c = kernel_case_create("u8[2, 4]", "unique(%0) {axes = [-1]}", "u8[2, 4]");
  KERNEL_SET(c, 0, uint8_t, 3, 1, 3, 1, 0, 9, 0, 2);
  KERNEL_GIVES(c, 0, 0, 1, 1, 3, 2, 9, 0);
  kernel_case_destroy(c);
  COUNTED_RUNS("f32[0]", "unique(%0)", "f32[0]; i64[0]; i64[0]; i64[0]");
  COUNTED("u64[]", "unique(%0)", "u64[1]", 0);
}

TEST(CompressKeepsSelectedElements) {
  kernel_case* c =
      kernel_case_create("i32[3, 2]; bool[3]", "compress(%0, %1) {axes = [0]}", "i32[3, 2]");
  count_up(c, 0, 0);
  KERNEL_SET(c, 1, uint8_t, 0, 1, 1);
  KERNEL_GIVES(c, 0, 0, 2, 3, 4, 5);
  CHECK_U64((uint64_t)kernel_case_result(c, 0)->dims[0], 2);
  kernel_case_destroy(c);
  c = kernel_case_create("i32[3, 2]; bool[2]", "compress(%0, %1) {axes = [1]}", "i32[3, 2]");
  count_up(c, 0, 0);
  KERNEL_SET(c, 1, uint8_t, 0, 1);
  KERNEL_GIVES(c, 0, 0, 1, 3, 5);
  kernel_case_destroy(c);
  c = kernel_case_create("u4[3, 2]; bool[5]", "compress(%0, %1)", "u4[5]");
  count_up(c, 0, 0);
  KERNEL_SET(c, 1, uint8_t, 0, 1, 0, 0, 1);
  KERNEL_GIVES(c, 0, 0, 1, 4);
  kernel_case_destroy(c);
  c = kernel_case_create("i32[2]; bool[3]", "compress(%0, %1)", "i32[2]");
  KERNEL_SET(c, 1, uint8_t, 0, 0, 1);
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(kernel_case_message(c), "the condition selects index 2");
  kernel_case_destroy(c);
}
