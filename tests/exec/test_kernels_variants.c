// Variants of kernels, with dims that are larger than tiles, chains and blocks: the same bits from
// all of them (kernel_case.h), and next to no scratch for the last one.
#include <inttypes.h>
#include <stdio.h>

#include "exec/kernel_case.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/table.h"
#include "support/test.h"

typedef struct variant_case {
  const char* operands;
  const char* node;
  const char* results;
  uint64_t most;  // scratch of the last variant and one worker, in bytes
} variant_case;

// Bytes of the whole range.
static void fill_bytes(kernel_case* c, uint64_t seed) {
  test_random random = {seed};
  const stow_graph* graph = kernel_case_graph(c);
  stow_node node = kernel_case_node(c);
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    stow_value value = stow_graph_operands(graph, node)[k];
    if (value == STOW_VALUE_NONE) {
      continue;
    }
    const stow_type* type = stow_graph_type(graph, value);
    uint64_t count;
    bool is_byte = type->dtype == STOW_U8 || type->dtype == STOW_I8;
    CHECK(stow_type_elements(type, &count) == STOW_OK);
    for (uint64_t i = 0; is_byte && i < count; ++i) {
      ((uint8_t*)kernel_case_operand(c, k))[i] = (uint8_t)test_random_below(&random, 256);
    }
  }
}

static void check_cases(const variant_case* cases, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    kernel_case* c = kernel_case_create(cases[i].operands, cases[i].node, cases[i].results);
    kernel_case_fill(c, i + 1);
    fill_bytes(c, i + 1);
    stow_status status = kernel_case_run(c);
    test_check(status == STOW_OK, __FILE__, __LINE__, "%s: %s", cases[i].node,
               kernel_case_message(c));
    test_check(kernel_case_least_scratch(c) <= cases[i].most, __FILE__, __LINE__,
               "%s of %s needs %" PRIu64 " bytes, more than %" PRIu64, cases[i].node,
               cases[i].operands, kernel_case_least_scratch(c), cases[i].most);
    kernel_case_destroy(c);
  }
}

#define CHECK_CASES(cases) check_cases(cases, sizeof(cases) / sizeof((cases)[0]))

// These take other ways on machines with wide vectors (kernel_case.h runs them as on others, too):
// rows of less and of more than a vector, and of several patches.
TEST(WindowsInVectors) {
  static const variant_case cases[] = {
      {"f32[2, 9, 7, 7]; f32[9, 1, 5, 5]; f32[9]",
       "conv(%0, %1, %2) {group = 9, pads = [2, 2, 2, 2]}", "f32[2, 9, 7, 7]", 0},
      {"f32[1, 3, 20, 37]; f32[3, 1, 3, 3]", "conv(%0, %1) {group = 3, pads = [1, 1, 1, 1]}",
       "f32[1, 3, 20, 37]", 0},
      {"f32[1, 3, 31, 29]; f32[3, 1, 5, 3]",
       "conv(%0, %1) {group = 3, pads = [2, 1, 2, 1], strides = [2, 2]}", "f32[1, 3, 16, 15]", 0},
      {"f32[1, 3, 20, 20]", "pool(%0) {kernel = [5, 5], pads = [2, 2, 2, 2]}", "f32[1, 3, 20, 20]",
       0},
      {"f32[1, 2, 40, 53]", "pool(%0) {kernel = [3, 2], dilations = [2, 3]}", "f32[1, 2, 36, 50]",
       0},
      {"f32[1, 2, 21, 40]", "pool(%0) {kernel = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]}",
       "f32[1, 2, 11, 20]", 0},
      {"f32[1, 2, 9, 61]", "pool(%0) {op = \"avg\", kernel = [3, 4], pads = [1, 2, 1, 1]}",
       "f32[1, 2, 9, 61]", 0},
      {"f32[1, 2, 5, 30]", "pool(%0) {op = \"avg\", kernel = [1, 11], pads = [0, 5, 0, 5]}",
       "f32[1, 2, 5, 30]", 0},
      {"f32[2, 5, 6, 37]; f32[5, 3, 4, 5]",
       "conv_transpose(%0, %1) {pads = [1, 2, 1, 2], strides = [2, 2]}", "f32[2, 3, 12, 73]", 2048},
      {"f32[19, 70]", "softmax(%0)", "f32[19, 70]", 0},
      {"f32[3, 900]", "softmax(%0)", "f32[3, 900]", 0},
  };
  CHECK_CASES(cases);
}

TEST(Products) {
  static const variant_case cases[] = {
      {"f32[70, 600]; f32[600, 90]", "matmul(%0, %1)", "f32[70, 90]", 2048},
      {"f32[3, 20, 40]; f32[40, 33]", "matmul(%0, %1)", "f32[3, 20, 33]", 2048},
      {"f32[2, 5, 300]; f32[2, 300, 40]", "matmul(%0, %1)", "f32[2, 5, 40]", 2048},
      {"f32[9, 300]; f32[70, 300]; f32[70]", "gemm(%0, %1, %2) {trans_b = true}", "f32[9, 70]",
       2048},
      {"f32[300, 9]; f32[300, 70]; f32[9, 70]",
       "gemm(%0, %1, %2) {trans_a = true, alpha = 0x1.8p-1, beta = 0x1p-1}", "f32[9, 70]", 2048},
      {"f16[20, 600]; f16[600, 90]", "matmul(%0, %1)", "f16[20, 90]", 2048},
      {"f16[2, 20, 30]; f16[2, 30, 90]", "matmul(%0, %1)", "f16[2, 20, 90]", 2048},
      {"bf16[20, 300]; bf16[90, 300]; bf16[90]", "gemm(%0, %1, %2) {trans_b = true}",
       "bf16[20, 90]", 2048},
      {"f32[4, 20, 30]; f32[4, 30, 50]", "einsum(%0, %1) {equation = \"bij,bjk->bik\"}",
       "f32[4, 20, 50]", 2048},
  };
  CHECK_CASES(cases);
}

TEST(ProductsOfBytes) {
  static const variant_case cases[] = {
      {"u8[20, 600]; i8[600, 90]; u8[]; i8[90]", "matmul_integer(%0, %1, %2, %3)", "i32[20, 90]",
       2304},
      {"u8[1, 600]; i8[600, 1100]", "matmul_integer(%0, %1)", "i32[1, 1100]", 1024},
      {"i8[1, 2500]; u8[2500, 300]; i8[]; u8[300]", "matmul_integer(%0, %1, %2, %3)", "i32[1, 300]",
       1024},
      {"u8[2, 3, 37, 70]; i8[3, 70, 77]; u8[]; i8[]", "matmul_integer(%0, %1, %2, %3)",
       "i32[2, 3, 37, 77]", 2304},
      {"u8[2, 33, 70]; u8[70, 50]; f32[]; f32[50]; u8[]; u8[50]; f32[50]",
       "matmul_integer_to_float(%0, %1, %2, %3, %4, %5, %6)", "f32[2, 33, 50]", 2304},
      {"i8[200, 70]; f32[]; i8[]; i8[70, 300]; f32[300]; i8[300]; f32[]; i8[]",
       "qlinear_matmul(%0, %1, %2, %3, %4, %5, %6, %7)", "i8[200, 300]", 2304},
      {"f32[20, 100]; i8[100, 90]; f32[90]; i8[90]; f32[90]",
       "dynamic_quantize_matmul(%0, %1, %2, %3, %4)", "f32[20, 90]", 3328},
      {"u8[5, 40]; f32[]; u8[]; i8[70, 40]; f32[]; i8[]; i32[70]; f32[]; u8[]",
       "qgemm(%0, %1, %2, %3, %4, %5, %6, %7, %8) {trans_b = true}", "u8[5, 70]", 1024},
      {"i8[1100, 19]; f32[]; i8[]; u8[1100, 45]; f32[45]; u8[45]; i32[45]",
       "qgemm(%0, %1, %2, %3, %4, %5, %6) {trans_a = true}", "f32[19, 45]", 2304},
  };
  CHECK_CASES(cases);
}

TEST(Convolutions) {
  static const variant_case cases[] = {
      {"f32[2, 30, 9, 11]; f32[20, 30, 3, 3]; f32[20]", "conv(%0, %1, %2) {pads = [1, 1, 1, 1]}",
       "f32[2, 20, 9, 11]", 2048},
      {"f32[1, 6, 20, 19]; f32[12, 3, 3, 2]",
       "conv(%0, %1) {group = 2, strides = [2, 3], dilations = [2, 1], pads = [1, 0, 2, 1]}",
       "f32[1, 12, 10, 7]", 2048},
      {"f32[1, 300, 5, 13]; f32[33, 300, 1, 1]", "conv(%0, %1)", "f32[1, 33, 5, 13]", 2048},
      {"f16[1, 40, 8, 9]; f16[13, 40, 3, 3]; f16[13]", "conv(%0, %1, %2)", "f16[1, 13, 6, 7]",
       2048},
      {"f16[1, 5, 4, 70]; f16[6, 5, 3, 3]", "conv(%0, %1) {pads = [1, 1, 1, 1]}",
       "f16[1, 6, 4, 70]", 2048},
      {"f32[1, 8, 6, 7]; f32[8, 9, 3, 3]; f32[9]", "conv_transpose(%0, %1, %2) {strides = [2, 2]}",
       "f32[1, 9, 13, 15]", 2048},
      {"u8[2, 10, 9, 11]; i8[20, 10, 3, 3]; u8[]; i8[20]",
       "conv_integer(%0, %1, %2, %3) {pads = [1, 1, 1, 1]}", "i32[2, 20, 9, 11]", 640},
      {"u8[1, 12, 9, 11]; i8[12, 1, 3, 3]; u8[]",
       "conv_integer(%0, %1, %2) {group = 12, strides = [2, 1]}", "i32[1, 12, 4, 9]", 640},
      {"u8[1, 7, 40]; i8[50, 7, 5]; u8[]", "conv_integer(%0, %1, %2) {dilations = [3]}",
       "i32[1, 50, 28]", 640},
      {"i8[2, 60, 9, 11]; f32[]; i8[]; i8[270, 60, 3, 3]; f32[270]; i8[270]; f32[]; i8[]; i32[270]",
       "qlinear_conv(%0, %1, %2, %3, %4, %5, %6, %7, %8) {pads = [1, 1, 1, 1]}",
       "i8[2, 270, 9, 11]", 0},
      {"u8[1, 9, 8, 6]; f32[]; u8[]; u8[12, 3, 3, 2]; f32[]; u8[]; f32[]; u8[]",
       "qlinear_conv(%0, %1, %2, %3, %4, %5, %6, %7) {group = 2, strides = [2, 3], "
       "pads = [2, 1, 0, 1], channels_last = true}",
       "u8[1, 5, 3, 12]", 0},
      {"u8[1, 9, 20, 30]", "pool(%0) {op = \"max\", kernel = [3, 3], strides = [2, 2]}",
       "u8[1, 9, 9, 14]", 256},
      {"f16[1, 9, 20, 70]", "pool(%0) {op = \"avg\", kernel = [3, 3], pads = [1, 1, 1, 1]}",
       "f16[1, 9, 20, 70]", 256},
      {"f16[2, 9, 20, 31]", "pool(%0) {op = \"avg\", global = true}", "f16[2, 9, 1, 1]", 256},
  };
  CHECK_CASES(cases);
}

// Rows of the result that are longer than blocks: at the border, inside, and at their end.
TEST(WideConvolutions) {
  static const variant_case cases[] = {
      {"f32[1, 5, 6, 70]; f32[9, 5, 3, 3]; f32[9]", "conv(%0, %1, %2) {pads = [1, 1, 1, 1]}",
       "f32[1, 9, 6, 70]", 2048},
      {"f32[2, 40, 5, 90]; f32[17, 40, 3, 3]; f32[17]",
       "conv(%0, %1, %2) {pads = [2, 3, 2, 1], dilations = [2, 2]}", "f32[2, 17, 5, 90]", 2048},
      {"f32[1, 30, 200]; f32[10, 30, 11]", "conv(%0, %1) {pads = [15, 15], dilations = [3]}",
       "f32[1, 10, 200]", 2048},
      {"f32[1, 3, 90]; f32[5, 3, 2]", "conv(%0, %1) {pads = [0, 40], dilations = [40]}",
       "f32[1, 5, 90]", 2048},
      {"f32[1, 40, 9, 131]; f32[9, 40, 3, 3]", "conv(%0, %1) {strides = [2, 2]}",
       "f32[1, 9, 4, 65]", 2048},
      {"f32[1, 12, 7, 45]; f32[10, 6, 3, 5]; f32[10]",
       "conv(%0, %1, %2) {group = 2, pads = [1, 2, 1, 2]}", "f32[1, 10, 7, 45]", 2048},
      {"f32[1, 3, 4, 5, 40]; f32[8, 3, 3, 3, 3]", "conv(%0, %1) {pads = [1, 0, 1, 1, 2, 1]}",
       "f32[1, 8, 4, 5, 40]", 2048},
      {"f32[1, 30, 9, 20]; f32[70, 30, 3, 3]; f32[70]", "conv(%0, %1, %2) {pads = [1, 1, 1, 1]}",
       "f32[1, 70, 9, 20]", 2048},
      {"f32[1, 1, 704]; f32[41, 1, 256]", "conv(%0, %1) {strides = [64]}", "f32[1, 41, 8]", 2048},
      {"f32[1, 30, 4, 66]; f32[9, 30, 3, 3]; f32[9]; f32[1, 9, 4, 66]",
       "fused_conv(%0, %1, %2, %3) {pads = [1, 1, 1, 1], activation = \"Relu\"}",
       "f32[1, 9, 4, 66]", 2048},
      {"u8[1, 48, 6, 50]; i8[40, 48, 3, 3]; u8[]; i8[40]",
       "conv_integer(%0, %1, %2, %3) {pads = [1, 1, 1, 1]}", "i32[1, 40, 6, 50]", 640},
      {"u8[1, 70, 20, 30]; i8[70, 1, 3, 3]; u8[]", "conv_integer(%0, %1, %2) {group = 70}",
       "i32[1, 70, 18, 28]", 640},
  };
  CHECK_CASES(cases);
}

// Windows that are read where they lie in some variants, and copied in others: narrow and small
// images, whose vectors have parts of several rows, strides, long rows, windows with gaps.
TEST(ConvolutionsInPlaceOfWindows) {
  static const variant_case cases[] = {
      {"f32[1, 70, 8, 16]; f32[20, 70, 3, 3]; f32[20]", "conv(%0, %1, %2) {pads = [1, 1, 1, 1]}",
       "f32[1, 20, 8, 16]", 0},
      {"f32[1, 9, 128, 3]; f32[14, 9, 5, 3]", "conv(%0, %1) {pads = [2, 1, 2, 1]}",
       "f32[1, 14, 128, 3]", 0},
      {"f32[2, 40, 11, 37]; f32[13, 40, 3, 3]; f32[13]",
       "conv(%0, %1, %2) {strides = [2, 2], pads = [1, 1, 1, 1]}", "f32[2, 13, 6, 19]", 0},
      {"f32[1, 3, 5, 2100]; f32[7, 3, 3, 3]; f32[7]",
       "conv(%0, %1, %2) {strides = [1, 2], pads = [1, 1, 1, 1]}", "f32[1, 7, 5, 1050]", 0},
      {"f32[1, 33, 40, 9]; f32[6, 33, 3, 2]",
       "conv(%0, %1) {dilations = [12, 3], strides = [3, 1]}", "f32[1, 6, 6, 6]", 0},
      {"f32[1, 6, 5, 6, 9]; f32[8, 6, 2, 3, 3]; f32[8]",
       "conv(%0, %1, %2) {strides = [2, 1, 2], pads = [1, 0, 1, 0, 1, 1]}", "f32[1, 8, 3, 5, 5]",
       0},
      {"f32[1, 3, 300]; f32[8, 3, 131]; f32[8]", "conv(%0, %1, %2) {pads = [65, 65]}",
       "f32[1, 8, 300]", 2048},
      {"f32[1, 90, 4]; f32[25, 90, 3]; f32[25]", "conv(%0, %1, %2) {pads = [1, 1], strides = [2]}",
       "f32[1, 25, 2]", 0},
  };
  CHECK_CASES(cases);
}

TEST(Resizing) {
  static const variant_case cases[] = {
      {"f32[1, 2, 9, 21]; f32[4] = [1, 1, 2.5, 2]", "resize(%0, _, %1) {mode = \"linear\"}",
       "f32[1, 2, 22, 42]", 1088},
      {"f32[1, 2, 9, 21]; f32[4] = [1, 1, 2.5, 0.5]", "resize(%0, _, %1) {mode = \"cubic\"}",
       "f32[1, 2, 22, 10]", 1088},
      {"u8[1, 2, 9, 21]; f32[4] = [1, 2, 1.5, 2]", "resize(%0, _, %1) {mode = \"linear\"}",
       "u8[1, 4, 13, 42]", 1088},
      {"f16[1, 2, 9, 21]; f32[4] = [1, 1, 2, 2]", "resize(%0, _, %1) {mode = \"nearest\"}",
       "f16[1, 2, 18, 42]", 1088},
  };
  CHECK_CASES(cases);
}

TEST(RecurrentLayers) {
  static const variant_case cases[] = {
      {"f32[7, 2, 300]; f32[1, 80, 300]; f32[1, 80, 20]; f32[1, 160]", "lstm(%0, %1, %2, %3)",
       "f32[7, 1, 2, 20]", 2048},
      {"f32[5, 3, 40]; f32[2, 120, 40]; f32[2, 120, 40]; f32[2, 240]",
       "gru(%0, %1, %2, %3) {direction = \"bidirectional\"}", "f32[5, 2, 3, 40]", 2048},
      {"f16[5, 3, 40]; f16[1, 50, 40]; f16[1, 50, 50]", "rnn(%0, %1, %2)", "f16[5, 1, 3, 50]",
       2048},
      {"f64[3, 2, 10]; f64[1, 20, 10]; f64[1, 20, 5]", "lstm(%0, %1, %2)", "f64[3, 1, 2, 5]", 2048},
      {"f32[6, 1, 70]; f32[2, 132, 70]; f32[2, 132, 33]; f32[2, 264]; f32[2, 99]",
       "lstm(%0, %1, %2, %3, _, _, _, %4) {direction = \"bidirectional\"}", "f32[6, 2, 1, 33]",
       2048},
      {"f32[5, 1, 40]; f32[1, 96, 40]; f32[1, 96, 32]; f32[1, 192]",
       "gru(%0, %1, %2, %3) {linear_before_reset = true}", "f32[5, 1, 1, 32]", 2048},
      {"f32[9, 1, 300]; i8[2, 300, 88]; i8[2, 22, 88]; f32[2, 88]; i8[2, 88]; f32[2]; i8[2]",
       "dynamic_quantize_lstm(%0, %1, %2, _, _, _, _, _, %3, %4, %5, %6) "
       "{direction = \"bidirectional\"}",
       "f32[9, 2, 1, 22]", 2048},
      {"f32[3, 5, 30]; u8[1, 30, 128]; u8[1, 32, 128]; f32[1]; u8[1]; f32[1, 128]; u8[1, 128]",
       "dynamic_quantize_lstm(%0, %1, %2, _, _, _, _, _, %3, %4, %5, %6)", "f32[3, 1, 5, 32]",
       2048},
      {"f16[3, 2, 30]; i8[1, 30, 40]; i8[1, 10, 40]; f32[1]; i8[1]; f32[1]; i8[1]",
       "dynamic_quantize_lstm(%0, %1, %2, _, _, _, _, _, %3, %4, %5, %6)", "f16[3, 1, 2, 10]",
       2048},
  };
  CHECK_CASES(cases);
}

TEST(Attention) {
  static const variant_case cases[] = {
      {"f32[2, 4, 70, 16]; f32[2, 2, 90, 16]; f32[2, 2, 90, 20]",
       "attention(%0, %1, %2) {causal = true, layout = \"bhsd\"}", "f32[2, 4, 70, 20]", 4096},
      {"f16[1, 2, 70, 16]; f16[1, 2, 300, 16]; f16[1, 2, 300, 20]",
       "attention(%0, %1, %2) {layout = \"bhsd\"}", "f16[1, 2, 70, 20]", 4096},
  };
  CHECK_CASES(cases);
}

TEST(ACallWithoutVariantsHasTheFastest) {
  stow_kernel_call call = {.struct_size = sizeof(call), .variant = 2};
  CHECK(stowi_kernel_variant(&call) == 2);
  CHECK(stowi_kernel_is_lean(&call, 100, 99) && !stowi_kernel_is_lean(&call, 100, 100));
  call.struct_size = offsetof(stow_kernel_call, variant);
  CHECK(stowi_kernel_variant(&call) == 0);
  CHECK(!stowi_kernel_is_lean(&call, 100, 99));
}

TEST(EveryKernelHasAVariant) {
  for (stow_op op = 0; op < STOW_OP_CORE_COUNT; ++op) {
    const stow_kernel* kernel = stowi_kernel_of(op);
    CHECK(kernel == NULL || kernel->variant_count <= 1 || kernel->scratch != NULL);
    CHECK(kernel == NULL || (kernel->pack_size == NULL) == (kernel->pack == NULL));
  }
}
