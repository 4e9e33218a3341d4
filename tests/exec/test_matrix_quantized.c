// Products with quantised factors, and mixtures of experts: against sums worked out by hand, and
// against numbers of onnxruntime.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/kernels/matrix/integer_gemm.h"
#include "exec/literals.h"
#include "support/test.h"

// ---------------------------------------------------------------------------------------------
// Sums

static int32_t byte_at(const stowi_kernel_bytes* x, size_t i, size_t j) {
  size_t at = i * x->row + j * x->column;
  return x->is_signed ? ((const int8_t*)x->data)[at] : ((const uint8_t*)x->data)[at];
}

static bool is_exact(const stowi_kernel_integer_gemm* g) {
  for (size_t i = 0; i < g->m; ++i) {
    for (size_t j = 0; j < g->n; ++j) {
      uint32_t sum = 0;
      for (size_t p = 0; p < g->k; ++p) {
        int32_t a = byte_at(&g->a, i, p) - (g->a_zero != NULL ? g->a_zero[i * g->a_zero_step] : 0);
        int32_t b = byte_at(&g->b, p, j) - (g->b_zero != NULL ? g->b_zero[j * g->b_zero_step] : 0);
        sum += (uint32_t)(a * b);
      }
      if (sum != (uint32_t)g->c[i * g->c_row + j]) {
        return false;
      }
    }
  }
  return true;
}

static void check_sums(size_t m, size_t n, size_t k, unsigned way) {
  test_random random = {m * 31 + n * 17 + k + way};
  uint8_t* a = malloc(m * k + 1);
  uint8_t* b = malloc(n * k + 1);
  int32_t* zeros = malloc((m + n) * sizeof(int32_t));
  int32_t* c = malloc((m * n + 1) * sizeof(int32_t));
  uint8_t* packed = malloc(stowi_kernel_integer_pack_size(k, n));
  for (size_t i = 0; i < m * k; ++i) {
    a[i] = (uint8_t)test_random_below(&random, 256);
  }
  for (size_t i = 0; i < n * k; ++i) {
    b[i] = (uint8_t)test_random_below(&random, 256);
  }
  for (size_t i = 0; i < m + n; ++i) {
    zeros[i] = (int32_t)test_random_below(&random, 384) - 128;
  }
  stowi_kernel_integer_gemm g = {.m = m, .n = n, .k = k, .c = c, .c_row = n};
  g.a = (stowi_kernel_bytes){a, (way & 1U) != 0, (way & 2U) != 0 ? 1 : k, (way & 2U) != 0 ? m : 1};
  g.b = (stowi_kernel_bytes){b, (way & 4U) != 0, (way & 8U) != 0 ? 1 : n, (way & 8U) != 0 ? k : 1};
  g.a_zero = (way & 16U) != 0 ? zeros : NULL;
  g.b_zero = (way & 16U) != 0 ? zeros + m : NULL;
  g.a_zero_step = (way & 32U) != 0;
  g.b_zero_step = (way & 32U) != 0;
  void* scratch = aligned_alloc(64, stowi_kernel_integer_gemm_scratch(&g) + 64);
  stowi_kernel_integer_pack(&g.b, k, n, packed);
  stowi_kernel_bytes as_packed = {packed, g.b.is_signed, 0, 0};
  for (size_t i = 0; stowi_kernel_integer_tiles_at(i) != NULL; ++i) {
    for (unsigned how = 0; how < 4; ++how) {
      stowi_kernel_integer_gemm tried = g;
      if ((how & 1U) != 0) {
        tried.b = as_packed;
        tried.packed = (stowi_kernel_packed_bytes){k, n, 0};
      }
      memset(c, 0x5a, m * n * sizeof(int32_t));
      stowi_kernel_integer_gemm_by(stowi_kernel_integer_tiles_at(i), &tried,
                                   (how & 2U) != 0 ? NULL : scratch);
      test_check(is_exact(&g), __FILE__, __LINE__, "%zu x %zu x %zu, way %u.%u, %s: wrong sums", m,
                 n, k, way, how, stowi_kernel_integer_tiles_at(i)->name);
    }
  }
  free(packed);
  free(a);
  free(b);
  free(zeros);
  free(c);
  free(scratch);
}

TEST(IntegerSumsAreExactInEveryShape) {
  static const size_t sizes[][3] = {{1, 1, 1},    {1, 40, 7},   {2, 33, 20},   {3, 5, 2},
                                    {8, 32, 512}, {9, 64, 513}, {129, 31, 30}, {15, 70, 1100}};
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
    for (unsigned way = 0; way<64; way += sizes[i][2]> 100 ? 7 : 1) {
      check_sums(sizes[i][0], sizes[i][1], sizes[i][2], way);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// matmul_integer and what becomes floats

TEST(MatmulIntegerSubtractsZeroPoints) {
  GIVES("u8[2, 2] = [1, 2, 3, 255]; i8[2, 2] = [1, -1, 2, -128]", "matmul_integer(%0, %1)",
        "i32[2, 2]", 0, 5, -257, 513, -32643);
  GIVES("u8[2, 2] = [1, 2, 3, 4]; u8[2, 2] = [5, 6, 7, 8]; u8[] = [2]; u8[] = [6]",
        "matmul_integer(%0, %1, %2, %3)", "i32[2, 2]", 0, 1, 0, 1, 4);
  // One for each row, and one for each column.
  GIVES("i8[2, 2] = [1, 2, 3, 4]; i8[2, 2] = [5, 6, 7, 8]; i8[2] = [1, -1]; i8[2] = [5, 8]",
        "matmul_integer(%0, %1, %2, %3)", "i32[2, 2]", 0, 2, 0, 10, -8);
  // Rows of all matrices.
  GIVES("u8[2, 1, 1] = [5, 6]; u8[2, 1, 1] = [3, 4]; u8[2, 1, 1] = [1, 2]",
        "matmul_integer(%0, %1, %2)", "i32[2, 1, 1]", 0, 12, 16);
  FAILS("u8[2, 2]; u8[2, 2]; u8[3]", "matmul_integer(%0, %1, %2)", "i32[2, 2]",
        "zero point of a has 3 elements");
  FAILS("i16[2, 2]; u8[2, 2]", "matmul_integer(%0, %1)", "i32[2, 2]", "must be i8 or u8");
}

// One row each, of more columns than are summed at a time.
TEST(LongRowsAreWhole) {
  enum { BATCHES = 2, DEPTH = 3, COLUMNS = 4500 };
  kernel_case* c = kernel_case_create("u8[2, 1, 3]; i8[2, 3, 4500]; u8[] = [7]; i8[4500]",
                                      "matmul_integer(%0, %1, %2, %3)", "i32[2, 1, 4500]");
  kernel_case_fill(c, 5);
  const uint8_t* a = kernel_case_operand(c, 0);
  const int8_t* b = kernel_case_operand(c, 1);
  const int8_t* zero = kernel_case_operand(c, 3);
  static double expected[BATCHES * COLUMNS];
  for (size_t i = 0; i < BATCHES; ++i) {
    for (size_t j = 0; j < COLUMNS; ++j) {
      expected[i * COLUMNS + j] = 0;
      for (size_t p = 0; p < DEPTH; ++p) {
        expected[i * COLUMNS + j] +=
            (a[i * DEPTH + p] - 7) * (b[(i * DEPTH + p) * COLUMNS + j] - zero[j]);
      }
    }
  }
  kernel_case_gives(c, 0, expected, BATCHES * COLUMNS, 0, __FILE__, __LINE__);
  kernel_case_destroy(c);
}

TEST(MatmulIntegerToFloatScales) {
  GIVES(
      "u8[2, 2] = [1, 2, 3, 4]; i8[2, 2] = [5, -6, 7, 8]; f32[] = [0.5]; f32[2] = [1.0, 2.0]; "
      "u8[] = [2]; i8[2] = [1, -1]; f32[2] = [10.0, 20.0]",
      "matmul_integer_to_float(%0, %1, %2, %3, %4, %5, %6)", "f32[2, 2]", 1e-6, 8, 25, 18, 33);
  GIVES("u8[1, 2] = [1, 2]; i8[2, 1] = [5, -6]; f16[] = [0.5]",
        "matmul_integer_to_float(%0, %1, %2, %2)", "f16[1, 1]", 1e-6, -1.75);
}

// a ranges from -1 to 1.55: its scale is 0.01, its zero point 100, and all of it exact.
TEST(DynamicQuantizeMatmulQuantizesByItsRange) {
  GIVES("f32[2, 2] = [-1.0, 0.5, 1.55, 0.0]; i8[2, 2] = [1, 2, 3, -4]; f32[] = [2.0]",
        "dynamic_quantize_matmul(%0, %1, %2)", "f32[2, 2]", 1e-5, 1, -8, 3.1, 6.2);
  GIVES("f32[1, 2] = [0.0, 0.0]; u8[2, 1] = [1, 2]; f32[] = [2.0]; u8[] = [3]; f32[1] = [5.0]",
        "dynamic_quantize_matmul(%0, %1, %2, %3, %4)", "f32[1, 1]", 0, 5);
  // Halves go to the even number: 0.5 / 1 and 2.5 / 1, with a range of 255.
  GIVES("f32[1, 3] = [0.5, 2.5, 255.0]; u8[3, 3] = [1, 0, 0, 0, 1, 0, 0, 0, 1]; f32[] = [1.0]",
        "dynamic_quantize_matmul(%0, %1, %2)", "f32[1, 3]", 0, 0, 2, 255);
}

// ---------------------------------------------------------------------------------------------
// Bytes again

TEST(QlinearMatmulRoundsHalvesToEvenAndClamps) {
  // 1, 3, 5, 200 and 4 halves, plus 10.
  GIVES(
      "u8[5, 1] = [1, 3, 5, 200, 4]; f32[] = [0.5]; u8[] = [0]; i8[1, 1] = [1]; f32[] = [1.0]; "
      "i8[] = [0]; u8[] = [10]",
      "qlinear_matmul(%0, %1, %2, %3, %4, %5, %4, %6)", "u8[5, 1]", 0, 10, 12, 12, 110, 12);
  GIVES(
      "u8[2, 1] = [255, 0]; f32[] = [4.0]; u8[] = [128]; i8[1, 1] = [100]; f32[] = [1.0]; "
      "i8[] = [0]; i8[] = [7]",
      "qlinear_matmul(%0, %1, %2, %3, %4, %5, %4, %6)", "i8[2, 1]", 0, 127, -128);
  // A scale for each row of a and of the result, and for each column of b.
  GIVES(
      "u8[2, 1] = [2, 2]; f32[2] = [1.0, 3.0]; u8[] = [0]; u8[1, 2] = [4, 4]; f32[2] = [1.0, 2.0]; "
      "u8[] = [0]; f32[2] = [2.0, 1.0]; u8[2] = [1, 2]",
      "qlinear_matmul(%0, %1, %2, %3, %4, %5, %6, %7)", "u8[2, 2]", 0, 5, 9, 26, 50);
  FAILS("u8[1, 1]; f32[]; u8[]; u8[1, 1]; u16[]", "qlinear_matmul(%0, %1, %2, %3, %1, %2, %1, %4)",
        "u16[1, 1]", "must be i8 or u8");
}

TEST(QgemmAddsAndScales) {
#define QGEMM_OPERANDS                                                                           \
  "u8[1, 2] = [3, 5]; f32[] = [0.5]; u8[] = [1]; i8[2, 2] = [1, 2, 3, 4]; f32[2] = [1.0, 2.0]; " \
  "i8[] = [0]; i32[2] = [100, -100]; f32[] = [4.0]; u8[] = [9]"
  GIVES(QGEMM_OPERANDS, "qgemm(%0, %1, %2, %3, %4, %5)", "f32[1, 2]", 1e-6, 7, 20);
  GIVES(QGEMM_OPERANDS, "qgemm(%0, %1, %2, %3, %4, %5, %6) {alpha = 2.0, trans_b = true}",
        "f32[1, 2]", 1e-6, 110, -156);
  GIVES(QGEMM_OPERANDS, "qgemm(%0, %1, %2, %3, %4, %5, %6, %7, %8)", "u8[1, 2]", 0, 23, 0);
  GIVES("u8[2, 1] = [3, 5]; f32[] = [1.0]; u8[] = [1]; i8[2, 1] = [1, 2]; i8[] = [0]",
        "qgemm(%0, %1, %2, %3, %1, %4) {trans_a = true}", "f32[1, 1]", 0, 10);
#undef QGEMM_OPERANDS
  FAILS("u8[1, 1]; f32[2]; u8[]; i8[1, 1]", "qgemm(%0, %1, %2, %3, %1, %2)", "f32[1, 1]",
        "one element");
}

TEST(QgemmWorksInPlaceOfItsAddend) {
  kernel_case* c =
      kernel_case_create("u8[2, 2]; f32[] = [0.5]; u8[] = [1]; i8[2, 2]; i8[] = [0]; i32[2, 2]",
                         "qgemm(%0, %1, %2, %3, %1, %4, %5)", "f32[2, 2]");
  KERNEL_SET(c, 0, uint8_t, 1, 2, 3, 4);
  KERNEL_SET(c, 3, int8_t, 1, 2, 3, 4);
  KERNEL_SET(c, 6, int32_t, 10, 20, 30, 40);
  KERNEL_GIVES(c, 0, 1e-6, 3.25, 6, 10.25, 14);
  kernel_case_destroy(c);
}

// ---------------------------------------------------------------------------------------------
// Weights of a few bits

TEST(NbitsWeightsAreUnpackedByBlocks) {
  // Two columns of four weights, in blocks of two: 1 2 | 3 4 and 15 0 | 8 8, less 8.
  GIVES("f32[1, 4] = [1, 2, 3, 4]; u8[2, 2, 1] = [33, 67, 15, 136]; f32[4] = [1.0, 2.0, 0.5, 1.0]",
        "matmul_nbits(%0, %1, %2) {rows = 4, columns = 2, block_size = 2}", "f32[1, 2]", 1e-6, -81,
        -4.5);
  // Packed zero points, 1 and 2, then 15 and 8; a bias.
  GIVES(
      "f32[1, 4] = [1, 2, 3, 4]; u8[2, 2, 1] = [33, 67, 15, 136]; f32[4] = [1.0, 2.0, 0.5, 1.0]; "
      "u8[2, 1] = [33, 143]; f32[2] = [100.0, 200.0]",
      "matmul_nbits(%0, %1, %2, %3, _, %4) {rows = 4, columns = 2, block_size = 2}", "f32[1, 2]",
      1e-6, 124, 185);
  // Zero points of floats.
  GIVES(
      "f32[1, 4] = [1, 2, 3, 4]; u8[2, 2, 1] = [33, 67, 15, 136]; f32[4] = [1.0, 2.0, 0.5, 1.0]; "
      "f32[4] = [0.5, 0.0, 0.0, 8.0]",
      "matmul_nbits(%0, %1, %2, %3) {rows = 4, columns = 2, block_size = 2}", "f32[1, 2]", 1e-6,
      53.5, 7.5);
  // Groups: the first weight is scaled by the second scale.
  GIVES(
      "f32[1, 4] = [1, 2, 3, 4]; u8[1, 2, 1] = [33, 67]; f32[2] = [1.0, 2.0]; "
      "i32[4] = [1, 0, 0, 1]",
      "matmul_nbits(%0, %1, %2, _, %3) {rows = 4, columns = 1, block_size = 2}", "f32[1, 1]", 1e-6,
      -73);
}

TEST(NbitsOfOtherWidths) {
  GIVES("f32[2, 2] = [1, 1, 1, -1]; u8[1, 1, 2] = [130, 120]; f32[1] = [0.5]",
        "matmul_nbits(%0, %1, %2) {rows = 2, columns = 1, block_size = 2, bits = 8}", "f32[2, 1]",
        1e-6, -3, 5);
  // 3 2 1 0 less 2.
  GIVES("f32[1, 4] = [1, 10, 100, 1000]; u8[1, 1, 1] = [27]; f32[1] = [1.0]",
        "matmul_nbits(%0, %1, %2) {rows = 4, columns = 1, block_size = 4, bits = 2}", "f32[1, 1]",
        1e-6, -2099);
  // 1 2 3 7 of three bits less 4, in a block of eight.
  GIVES("f16[1, 4] = [1, 1, 1, 1]; u8[1, 1, 3] = [209, 14, 0]; f16[1] = [1.0]",
        "matmul_nbits(%0, %1, %2) {rows = 4, columns = 1, block_size = 8, bits = 3}", "f16[1, 1]",
        1e-6, -3);
}

// Where the machine has vectors, the weights of one row are unpacked in registers; the other ways
// are those of machines without, and of other blocks and widths.
TEST(NbitsOfOneRowGiveTheSameOnAllMachines) {
  static const char* const cases[][3] = {
      {"f32[1, 544]; u8[37, 17, 16]; f32[629]", "rows = 544, columns = 37, block_size = 32", ""},
      {"f32[1, 544]; u8[53, 17, 16]; f32[901]; f32[901]",
       "rows = 544, columns = 53, block_size = 32", ", %3"},
      {"f16[1, 544]; u8[37, 17, 16]; f16[629]; u8[37, 9]; f16[37]",
       "rows = 544, columns = 37, block_size = 32", ", %3, _, %4"},
      {"f32[1, 544]; u8[37, 17, 16]; f32[629]; f32[629]",
       "rows = 544, columns = 37, block_size = 32", ", %3"},
      {"f32[1, 1024]; u8[33, 2, 256]; f32[66]; u8[33, 1]",
       "rows = 1024, columns = 33, block_size = 512", ", %3"},
      {"f32[1, 1000]; u8[16, 16, 32]; f32[256]", "rows = 1000, columns = 16, block_size = 64", ""},
      {"f32[1, 64]; u8[48, 4, 8]; f32[192]", "rows = 64, columns = 48, block_size = 16", ""},
      {"f32[1, 64]; u8[16, 2, 32]; f32[32]", "rows = 64, columns = 16, block_size = 32, bits = 8",
       ""},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    char call[128];
    char result[32];
    long columns = strtol(strstr(cases[i][1], "columns = ") + strlen("columns = "), NULL, 10);
    snprintf(call, sizeof(call), "matmul_nbits(%%0, %%1, %%2%s) {%s}", cases[i][2], cases[i][1]);
    snprintf(result, sizeof(result), "%.3s[1, %ld]", cases[i][0], columns);
    kernel_case* c = kernel_case_create(cases[i][0], call, result);
    kernel_case_fill(c, (uint32_t)i + 1);
    CHECK(kernel_case_run(c) == STOW_OK);
    kernel_case_destroy(c);
  }
}

TEST(NbitsRefusesWhatIsMissing) {
  FAILS("f32[1, 4]; u8[1, 2, 1]; f32[1]",
        "matmul_nbits(%0, %1, %2) {rows = 4, columns = 1, block_size = 2}", "f32[1, 1]",
        "too few weights");
  FAILS("f32[1, 4]; u8[1, 2, 1]; f32[2]; i32[4] = [0, 1, 2, 0]",
        "matmul_nbits(%0, %1, %2, _, %3) {rows = 4, columns = 1, block_size = 2}", "f32[1, 1]",
        "index below 2");
  FAILS("f32[1, 4]; u8[1, 2, 1]; f32[2]",
        "matmul_nbits(%0, %1, %2) {rows = 4, columns = 1, block_size = 2, weight_prepacked = 1}",
        "f32[1, 1]", "weight_prepacked");
}

TEST(OpaqueWeightsNeedAKernelOfTheCaller) {
  FAILS("f32[4, 32]; u8[40]", "dequant_matmul(%0, %1)", "f32[4, 32]", "stow_kernels_set");
  FAILS("f32[4, 32]; u8[40]", "dequant_grouped_matmul(%0, %1)", "f32[4, 32]", "stow_kernels_set");
  FAILS("f32[4, 32]; f32[4, 2]", "mixture_of_experts(%0, %1)", "f32[4, 32]", "stow_kernels_set");
}

// ---------------------------------------------------------------------------------------------
// Experts

// Two experts of one hidden number each: 2·relu(x) and 3·relu(-x) + 1.
#define EXPERTS                                                                             \
  "f32[2, 1] = [4.0, -5.0]; f32[2, 2] = [0.0, 1.0, 2.0, 2.0]; f32[2, 1, 1] = [1.0, -1.0]; " \
  "f32[2, 1, 1] = [2.0, 3.0]; f32[2, 1] = [0.0, 1.0]"

TEST(ExpertsAreChosenAndWeighed) {
  // The second expert by e / (1 + e), then, of equal ones, the second by a half.
  GIVES(EXPERTS, "mixture_of_experts(%0, %1, %2, _, %3, %4) {k = 1}", "f32[2, 1]", 1e-5, 0.7310586,
        8);
  GIVES(EXPERTS,
        "mixture_of_experts(%0, %1, %2, _, %3, %4) {k = 1, normalize_routing_weights = true}",
        "f32[2, 1]", 1e-5, 1, 16);
  GIVES(EXPERTS, "mixture_of_experts(%0, %1, %2, _, %3, %4) {k = 2}", "f32[2, 1]", 1e-5,
        0.7310586 + 8 * 0.2689414, 8);
  FAILS(EXPERTS, "mixture_of_experts(%0, %1, %2, _, %3, %4) {k = 3}", "f32[2, 1]",
        "does not fit 2 experts");
  FAILS(EXPERTS, "mixture_of_experts(%0, %1, %2, _, %3, %4) {activation_type = \"mish\"}",
        "f32[2, 1]", "activation_type");
}

TEST(ExpertsOfEveryActivation) {
#define ONE "f32[1, 1] = [2.0]; f32[1, 1] = [0.0]; f32[1, 1, 1] = [1.0]"
  GIVES(ONE, "mixture_of_experts(%0, %1, %2, _, %2) {activation_type = \"identity\"}", "f32[1, 1]",
        1e-6, 2);
  GIVES(ONE, "mixture_of_experts(%0, %1, %2, _, %2) {activation_type = \"silu\"}", "f32[1, 1]",
        1e-5, 1.7615942);
  GIVES(ONE, "mixture_of_experts(%0, %1, %2, _, %2) {activation_type = \"gelu\"}", "f32[1, 1]",
        1e-5, 1.9545977);
  // A gate of its own multiplies.
  GIVES(ONE, "mixture_of_experts(%0, %1, %2, _, %2, _, %2) {activation_type = \"silu\"}",
        "f32[1, 1]", 1e-5, 3.5231884);
#undef ONE
#define GATED                                                                                   \
  "f32[1, 1] = [2.0]; f32[1, 1] = [0.0]; f32[1, 4, 1] = [1.0, 0.5, -1.0, 2.0]; f32[1, 1, 2] = " \
  "[1.0, 10.0]"
  // Pairs of gate and other: (2, 1), (-2, 4).
  GIVES(GATED,
        "mixture_of_experts(%0, %1, %2, _, %3) {activation_type = \"swiglu\", swiglu_fusion = 1, "
        "activation_beta = 1.0}",
        "f32[1, 1]", 1e-5, 1.7615942 * 2 - 0.2384058 * 50);
  // Halves: gates 2 and 1, others -2 and 4, kept below 3.
  GIVES(GATED,
        "mixture_of_experts(%0, %1, %2, _, %3) {activation_type = \"swiglu\", swiglu_fusion = 2, "
        "swiglu_limit = 3.0}",
        "f32[1, 1]", 1e-5, -3.5231884 + 0.7310586 * 30);
#undef GATED
}

TEST(ExpertsOfPackedWeights) {
  // Weights of eight bits less 128: 1 and -1; scales 0.5 and 2.
  GIVES(
      "f32[2, 1] = [4.0, -5.0]; f32[2, 2] = [1.0, 0.0, 0.0, 1.0]; u8[2, 1, 1] = [129, 127]; "
      "f32[2, 1] = [0.5, 2.0]",
      "mixture_of_experts(%0, %1, %2, %3, _, %2, %3) {expert_weight_bits = 8}", "f32[2, 1]", 1e-6,
      1, -20);
  // Zero points of 120 and 130, and routing weights of their own.
  GIVES(
      "f32[2, 1] = [4.0, -5.0]; f32[2, 2] = [1.0, 0.0, 0.0, 1.0]; u8[2, 1, 1] = [129, 127]; "
      "f32[2, 1] = [0.5, 2.0]; u8[2, 1] = [120, 130]; f32[2, 2] = [0.5, 9.0, 9.0, 3.0]",
      "mixture_of_experts(%0, %1, %2, %3, _, %2, %3, _, _, _, _, %4, %4, _, %5) "
      "{expert_weight_bits = 8}",
      "f32[2, 1]", 1e-6, 40.5, -540);
  FAILS("f32[1, 3]; f32[1, 1]; u8[1, 1, 2]; f32[1, 1]",
        "mixture_of_experts(%0, %1, %2, %3, _, %2, %3)", "f32[1, 3]", "whole bytes");
}

// More tokens than go through an expert at a time.
TEST(ManyTokensGiveTheSameHoweverDivided) {
  kernel_case* c = kernel_case_create(
      "f16[150, 20]; f16[150, 3]; f16[3, 90, 20]; f16[3, 20, 90]; f16[3, 90]",
      "mixture_of_experts(%0, %1, %2, %4, %3) {k = 2, activation_type = \"gelu\"}", "f16[150, 20]");
  kernel_case_fill(c, 3);
  CHECK(kernel_case_run(c) == STOW_OK);
  kernel_case_destroy(c);
}
