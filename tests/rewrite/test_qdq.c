// Tests of the rule `qdq`: which patterns become integer ops, and which must not.
#include <stdio.h>
#include <string.h>

#include "rewrite/rewrite_support.h"
#include "support/test.h"

// ---------------------------------------------------------------------------------------------
// Patterns are %9 = …, read by a quantize_linear. %7 and %8 are dequantised.

#define HEAD                                                 \
  "graph @g {\n"                                             \
  "  %0 = input \"a\" : u8[1, 2, 4, 4]\n"                    \
  "  %1 = input \"b\" : u8[1, 2, 4, 4]\n"                    \
  "  %2 = param \"s\" {data = [0x1p-4]} : f32[]\n"           \
  "  %3 = param \"t\" {data = [0x1p-3]} : f32[]\n"           \
  "  %4 = param \"z\" {data = [7]} : u8[]\n"                 \
  "  %5 = param \"none\" {data = [0]} : u8[]\n"              \
  "  %6 = input \"scale\" : f32[]\n"                         \
  "  %7 = dequantize_linear(%0, %2, %4) : f32[1, 2, 4, 4]\n" \
  "  %8 = dequantize_linear(%1, %3, %4) : f32[1, 2, 4, 4]\n"

// Rewrites HEAD, |lines|, and a return of |result|, by this rule alone.
static stow_rewritten* rewrite_lines(const char* lines, const char* result, stow_module** out) {
  char text[4096];
  stow_rewrite_options options;
  snprintf(text, sizeof(text), "%s%s  return %s\n}\n", HEAD, lines, result);
  *out = parse_graph(text);
  stow_rewrite_options_init(&options);
  options.off = ~stow_rewrite_bit(STOW_REWRITE_QDQ);
  stow_rewritten* r = rewrite_graph(stow_module_graph(*out, 0), &options);
  CHECK(stow_graph_verify(stow_rewritten_graph(r), NULL) == STOW_OK);
  return r;
}

static size_t count_op(const stow_graph* graph, stow_op op) {
  size_t count = 0;
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    count += stow_graph_op(graph, node) == op;
  }
  return count;
}

typedef struct example {
  const char* lines;  // that make %10
  stow_op op;         // of the rewritten graph, once
  size_t left;        // dequantize_linear and quantize_linear that stay
} example;

static void check_fires(const example* e) {
  stow_module* module;
  stow_rewritten* r = rewrite_lines(e->lines, "%10", &module);
  const stow_graph* graph = stow_rewritten_graph(r);
  size_t left =
      count_op(graph, STOW_OP_DEQUANTIZE_LINEAR) + count_op(graph, STOW_OP_QUANTIZE_LINEAR);
  test_check(count_op(graph, e->op) == 1 && left == e->left, __FILE__, __LINE__,
             "%zu of the op, %zu left:\n%s", count_op(graph, e->op), left, e->lines);
  stow_type before = *stow_graph_type(stow_module_graph(module, 0), 10);
  stow_type after = *stow_graph_type(graph, stow_graph_outputs(graph)[0]);
  CHECK(memcmp(&before, &after, sizeof(before)) == 0);
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
}

static void check_stays(const char* lines, const char* result) {
  stow_module* module;
  stow_rewritten* r = rewrite_lines(lines, result, &module);
  test_check(stow_rewritten_count(r, STOW_REWRITE_QDQ) == 0, __FILE__, __LINE__, "fires:\n%s",
             lines);
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
}

#define OUT "  %10 = quantize_linear(%9, %3, %4) : u8"
#define SAME "  %10 = quantize_linear(%9, %2, %4) : u8"

TEST(OpsThatIntegersHaveBecomeThose) {
  static const example examples[] = {
      {"  %9 = add(%7, %8) : f32[1, 2, 4, 4]\n" OUT "[1, 2, 4, 4]\n", STOW_OP_QLINEAR_ADD, 0},
      {"  %9 = add(%7, %7) : f32[1, 2, 4, 4]\n" OUT "[1, 2, 4, 4]\n", STOW_OP_QLINEAR_ADD, 1},
      {"  %9 = mul(%8, %7) : f32[1, 2, 4, 4]\n" OUT "[1, 2, 4, 4]\n", STOW_OP_QLINEAR_MUL, 0},
      {"  %9 = sigmoid(%7) : f32[1, 2, 4, 4]\n" OUT "[1, 2, 4, 4]\n", STOW_OP_QLINEAR_SIGMOID, 1},
      {"  %9 = leaky_relu(%7) {alpha = 0.5} : f32[1, 2, 4, 4]\n" OUT "[1, 2, 4, 4]\n",
       STOW_OP_QLINEAR_LEAKY_RELU, 1},
      {"  %9 = relu(%7) : f32[1, 2, 4, 4]\n" SAME "[1, 2, 4, 4]\n", STOW_OP_QLINEAR_LEAKY_RELU, 1},
      {"  %9 = softmax(%7) : f32[1, 2, 4, 4]\n" OUT "[1, 2, 4, 4]\n", STOW_OP_QLINEAR_SOFTMAX, 1},
      {"  %9 = matmul(%7, %8) : f32[1, 2, 4, 4]\n" OUT "[1, 2, 4, 4]\n", STOW_OP_QLINEAR_MATMUL, 0},
      {"  %9 = pool(%7) {op = \"avg\", kernel = [2, 2]} : f32[1, 2, 3, 3]\n" OUT "[1, 2, 3, 3]\n",
       STOW_OP_QLINEAR_POOL, 1},
      {"  %9 = pool(%7) {op = \"avg\", global = true} : f32[1, 2, 1, 1]\n" OUT "[1, 2, 1, 1]\n",
       STOW_OP_QLINEAR_POOL, 1},
      {"  %9 = concat(%7, %8) {axis = 1} : f32[1, 4, 4, 4]\n" OUT "[1, 4, 4, 4]\n",
       STOW_OP_QLINEAR_CONCAT, 0},
      {"  %9 = concat(%7, %8) : f32[2, 2, 4, 4]\n" OUT "[2, 2, 4, 4]\n", STOW_OP_QLINEAR_CONCAT, 0},
  };
  for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); ++i) {
    check_fires(&examples[i]);
  }
}

TEST(ElementsAreMovedAsIntegers) {
  static const example examples[] = {
      {"  %9 = reshape(%7) : f32[8, 4]\n" SAME "[8, 4]\n", STOW_OP_RESHAPE, 1},
      {"  %9 = transpose(%7) {perm = [0, 2, 3, 1]} : f32[1, 4, 4, 2]\n" SAME "[1, 4, 4, 2]\n",
       STOW_OP_TRANSPOSE, 1},
      {"  %9 = pool(%7) {kernel = [3, 3], pads = [1, 1, 1, 1]} : f32[1, 2, 4, 4]\n" SAME
       "[1, 2, 4, 4]\n",
       STOW_OP_POOL, 1},
      {"  %9 = slice(%7) {starts = [1], ends = [3], axes = [3]} : f32[1, 2, 4, 2]\n" SAME
       "[1, 2, 4, 2]\n",
       STOW_OP_SLICE, 1},
      {"  %9 = pad(%7) {pads = [0, 0, 1, 1, 0, 0, 1, 1]} : f32[1, 2, 6, 6]\n" SAME "[1, 2, 6, 6]\n",
       STOW_OP_PAD, 1},
      {"  %9 = concat(%7, %7) {axis = 1} : f32[1, 4, 4, 4]\n" SAME "[1, 4, 4, 4]\n", STOW_OP_CONCAT,
       1},
      {"  %9 = pad(%7) {pads = [0, 0, 1, 1, 0, 0, 1, 1], mode = \"edge\"} : "
       "f32[1, 2, 6, 6]\n" SAME "[1, 2, 6, 6]\n",
       STOW_OP_PAD, 1},
      {"  %9 = concat(%7, %7) : f32[2, 2, 4, 4]\n" SAME "[2, 2, 4, 4]\n", STOW_OP_CONCAT, 1},
      {"  %9 = tile(%7) {repeats = [1, 1, 2, 1]} : f32[1, 2, 8, 4]\n" SAME "[1, 2, 8, 4]\n",
       STOW_OP_TILE, 1},
      // Another scale: moved as integers all the same, then scaled.
      {"  %9 = reshape(%7) : f32[8, 4]\n" OUT "[8, 4]\n", STOW_OP_QLINEAR_LEAKY_RELU, 1},
  };
  for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); ++i) {
    check_fires(&examples[i]);
  }
}

TEST(SixteenBitsAreMovedToo) {
  stow_module* module;
  stow_rewritten* r = rewrite_lines(
      "  %9 = cast(%0) : u16[1, 2, 4, 4]\n"
      "  %10 = param \"v\" {data = [300]} : u16[]\n"
      "  %11 = dequantize_linear(%9, %2, %10) : f32[1, 2, 4, 4]\n"
      "  %12 = reshape(%11) : f32[8, 4]\n"
      "  %13 = quantize_linear(%12, %2, %10) : u16[8, 4]\n",
      "%13", &module);
  CHECK_U64(count_op(stow_rewritten_graph(r), STOW_OP_QUANTIZE_LINEAR), 0);
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
}

TEST(EveryResultOfASplitIsOfIntegers) {
  stow_module* module;
  stow_rewritten* r = rewrite_lines(
      "  %9, %10 = split(%7) {axis = 1} : f32[1, 1, 4, 4], f32[1, 1, 4, 4]\n"
      "  %11 = quantize_linear(%9, %2, %4) : u8[1, 1, 4, 4]\n"
      "  %12 = quantize_linear(%10, %2, %4) : u8[1, 1, 4, 4]\n"
      "  %13 = exp(%7) : f32[1, 2, 4, 4]\n",
      "%11, %12, %13", &module);
  const stow_graph* graph = stow_rewritten_graph(r);
  CHECK_U64(count_op(graph, STOW_OP_QUANTIZE_LINEAR), 0);
  CHECK_U64(count_op(graph, STOW_OP_DEQUANTIZE_LINEAR), 2);  // that of exp, and %8
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
}

TEST(PatternsAreNotMovedIntoRegions) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"a\" : u8[4]\n"
      "  %1 = input \"c\" : bool[]\n"
      "  %2 = param \"s\" {data = [0x1p-4]} : f32[]\n"
      "  %3 = dequantize_linear(%0, %2) : f32[4]\n"
      "  %4 = sigmoid(%3) : f32[4]\n"
      "  %8 = if(%1) {\n"
      "    %5 = quantize_linear(%4, %2) : u8[4]\n"
      "    %6 = relu(%5) : u8[4]\n"
      "    yield %6\n"
      "  } else {\n"
      "    %7 = relu(%0) : u8[4]\n"
      "    yield %7\n"
      "  } : u8[4]\n"
      "  return %8\n"
      "}\n";
  LEAVES(STOW_REWRITE_QDQ, text);
}

TEST(PatternsInRegionsBecomeIntegers) {
  REWRITES(STOW_REWRITE_QDQ,
           "graph @g {\n"
           "  %0 = input \"a\" : u8[4]\n"
           "  %1 = input \"c\" : bool[]\n"
           "  %2 = param \"s\" {data = [0x1p-4]} : f32[]\n"
           "  %3 = dequantize_linear(%0, %2) : f32[4]\n"
           "  %8 = if(%1) {\n"
           "    %4 = sigmoid(%3) : f32[4]\n"
           "    %5 = quantize_linear(%4, %2) : u8[4]\n"
           "    %6 = relu(%5) : u8[4]\n"
           "    yield %6\n"
           "  } else {\n"
           "    %7 = relu(%0) : u8[4]\n"
           "    yield %7\n"
           "  } : u8[4]\n"
           "  return %8\n"
           "}\n",
           "graph @g {\n"
           "  %0 = input \"a\" : u8[4]\n"
           "  %1 = input \"c\" : bool[]\n"
           "  %2 = param \"s\" {data = [0x1p-4]} : f32[]\n"
           "  %8 = if(%1) {\n"
           "    %3 = constant \"%5.x_zero\" {data = [0]} : u8[]\n"
           "    %4 = constant \"%5.zero\" {data = [0]} : u8[]\n"
           "    %5 = qlinear_sigmoid(%0, %2, %3, %2, %4) : u8[4]\n"
           "    %6 = relu(%5) : u8[4]\n"
           "    yield %6\n"
           "  } else {\n"
           "    %7 = relu(%0) : u8[4]\n"
           "    yield %7\n"
           "  } : u8[4]\n"
           "  return %8\n"
           "}\n");
}

TEST(NearMissesStay) {
  static const char* const lines[] = {
      // Scales that are not weights, or of blocks or channels.
      "  %9 = sigmoid(%7) : f32[1, 2, 4, 4]\n"
      "  %10 = quantize_linear(%9, %6, %4) : u8[1, 2, 4, 4]\n",
      "  %9 = dequantize_linear(%0, %6, %4) : f32[1, 2, 4, 4]\n"
      "  %10 = quantize_linear(%9, %3, %4) : u8[1, 2, 4, 4]\n",
      "  %9 = param \"m\" {data = [0x1p-4, 0x1p-3]} : f32[2]\n"
      "  %10 = dequantize_linear(%0, %9) : f32[1, 2, 4, 4]\n"
      "  %11 = reshape(%10) : f32[8, 4]\n"
      "  %12 = quantize_linear(%11, %3, %4) : u8[8, 4]\n",
      // No integer op has this meaning.
      "  %9 = exp(%7) : f32[1, 2, 4, 4]\n" OUT "[1, 2, 4, 4]\n",
      "  %9 = sub(%7, %8) : f32[1, 2, 4, 4]\n" OUT "[1, 2, 4, 4]\n",
      "  %9 = clip(%7) {min = 0.0, max = 1.0} : f32[1, 2, 4, 4]\n" OUT "[1, 2, 4, 4]\n",
      "  %9 = pool(%7) {op = \"lp\", kernel = [2, 2]} : f32[1, 2, 3, 3]\n" OUT "[1, 2, 3, 3]\n",
      // Twice the memory, and the zero point is not what is padded with.
      "  %9 = tile(%7) {repeats = [1, 1, 2, 1]} : f32[1, 2, 8, 4]\n" OUT "[1, 2, 8, 4]\n",
      "  %9 = constant \"one\" {data = [0x1p+0]} : f32[]\n"
      "  %10 = pad(%7, %9) {pads = [0, 0, 1, 1, 0, 0, 1, 1]} : f32[1, 2, 6, 6]\n"
      "  %11 = quantize_linear(%10, %2, %4) : u8[1, 2, 6, 6]\n",
      // Two dtypes; 16 bits; another result of the same.
      "  %9 = cast(%0) : i8[1, 2, 4, 4]\n"
      "  %10 = dequantize_linear(%9, %2) : f32[1, 2, 4, 4]\n"
      "  %11 = add(%10, %8) : f32[1, 2, 4, 4]\n"
      "  %12 = quantize_linear(%11, %3, %4) : u8[1, 2, 4, 4]\n",
      "  %9 = sigmoid(%7) : f32[1, 2, 4, 4]\n"
      "  %10 = quantize_linear(%9, %3) {dtype = \"u16\"} : u16[1, 2, 4, 4]\n",
      "  %9 = cast(%0) : u16[1, 2, 4, 4]\n"
      "  %10 = dequantize_linear(%9, %2) : f32[1, 2, 4, 4]\n"
      "  %11 = sigmoid(%10) : f32[1, 2, 4, 4]\n"
      "  %12 = quantize_linear(%11, %3, %4) : u8[1, 2, 4, 4]\n",
      "  %9 = sigmoid(%7) : f32[1, 2, 4, 4]\n" OUT
      "[1, 2, 4, 4]\n"
      "  %11 = exp(%9) : f32[1, 2, 4, 4]\n",
      // Off by more than one: sums of 16 products of up to 2^60 quanta.
      "  %9 = param \"tiny\" {data = [0x1p-38]} : f32[]\n"
      "  %10 = matmul(%7, %8) : f32[1, 2, 4, 4]\n"
      "  %11 = quantize_linear(%10, %9, %4) : u8[1, 2, 4, 4]\n",
  };
  for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); ++i) {
    const char* last = strstr(lines[i], "%12") != NULL   ? "%12, %7"
                       : strstr(lines[i], "%11") != NULL ? "%11, %10, %7"
                                                         : "%10, %7";
    check_stays(lines[i], last);
  }
}

TEST(ResultsThatOthersNeedAsFloatsStay) {
  stow_module* module;
  stow_rewritten* r = rewrite_lines("  %9 = sigmoid(%7) : f32[1, 2, 4, 4]\n" OUT
                                    "[1, 2, 4, 4]\n"
                                    "  %11 = exp(%7) : f32[1, 2, 4, 4]\n",
                                    "%10, %11", &module);
  const stow_graph* graph = stow_rewritten_graph(r);
  CHECK_U64(count_op(graph, STOW_OP_QLINEAR_SIGMOID), 1);
  CHECK_U64(count_op(graph, STOW_OP_DEQUANTIZE_LINEAR), 2);
  CHECK_U64(count_op(graph, STOW_OP_EXP), 1);
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
  // What is dequantised for the caller is no pattern.
  check_stays("  %9 = sigmoid(%7) : f32[1, 2, 4, 4]\n" OUT "[1, 2, 4, 4]\n", "%10, %9");
  check_stays("  %9 = reshape(%7) : f32[8, 4]\n", "%9, %7");
}

TEST(BarriersStay) {
  check_stays("  %9 = sigmoid(%7) : f32[1, 2, 4, 4] with {scratch = 64}\n" OUT "[1, 2, 4, 4]\n",
              "%10");
  check_stays("  %9 = sigmoid(%7) : f32[1, 2, 4, 4]\n" OUT "[1, 2, 4, 4] with {scratch = 64}\n",
              "%10");
}

// ---------------------------------------------------------------------------------------------
// Activations

TEST(ActivationsThatSaturationImpliesVanish) {
  static const char* const lines[] = {
      "  %9 = add(%7, %8) : f32[1, 2, 4, 4]\n"
      "  %10 = relu(%9) : f32[1, 2, 4, 4]\n"
      "  %11 = quantize_linear(%10, %3, %5) : u8[1, 2, 4, 4]\n",
      "  %9 = add(%7, %8) : f32[1, 2, 4, 4]\n"
      "  %10 = relu(%9) : f32[1, 2, 4, 4]\n"
      "  %11 = quantize_linear(%10, %3) : u8[1, 2, 4, 4]\n",
      "  %9 = add(%7, %8) : f32[1, 2, 4, 4]\n"
      "  %10 = clip(%9) {min = 0.0, max = 32.0} : f32[1, 2, 4, 4]\n"
      "  %11 = quantize_linear(%10, %3, %5) : u8[1, 2, 4, 4]\n",
  };
  for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); ++i) {
    stow_module* module;
    stow_rewritten* r = rewrite_lines(lines[i], "%11", &module);
    CHECK_U64(count_op(stow_rewritten_graph(r), STOW_OP_QLINEAR_ADD), 1);
    CHECK_U64(count_op(stow_rewritten_graph(r), STOW_OP_RELU), 0);
    CHECK_U64(count_op(stow_rewritten_graph(r), STOW_OP_CLIP), 0);
    stow_rewritten_destroy(r);
    stow_module_destroy(module);
  }
}

TEST(ActivationsThatSaturationDoesNotImplyStay) {
  check_stays(
      "  %9 = add(%7, %8) : f32[1, 2, 4, 4]\n"
      "  %10 = relu(%9) : f32[1, 2, 4, 4]\n"
      "  %11 = quantize_linear(%10, %3, %4) : u8[1, 2, 4, 4]\n",
      "%11");
  check_stays(
      "  %9 = add(%7, %8) : f32[1, 2, 4, 4]\n"
      "  %10 = clip(%9) {min = 0.0, max = 31.75} : f32[1, 2, 4, 4]\n"
      "  %11 = quantize_linear(%10, %3, %5) : u8[1, 2, 4, 4]\n",
      "%11");
  check_stays(
      "  %9 = add(%7, %8) : f32[1, 2, 4, 4]\n"
      "  %10 = clip(%9) {min = 0x1p-3, max = 32.0} : f32[1, 2, 4, 4]\n"
      "  %11 = quantize_linear(%10, %3, %5) : u8[1, 2, 4, 4]\n",
      "%11");
}

// ---------------------------------------------------------------------------------------------
// Products with weights

#define CONV_HEAD                                                \
  "graph @g {\n"                                                 \
  "  %0 = input \"x\" : u8[1, 1, 3, 3]\n"                        \
  "  %1 = param \"w\" {data = [1, 2, 3, -4]} : i8[2, 1, 1, 2]\n" \
  "  %2 = param \"sx\" {data = [0x1p-4]} : f32[]\n"              \
  "  %3 = param \"sw\" {data = [0x1p-5, 0x1p-6]} : f32[2]\n"     \
  "  %4 = param \"sy\" {data = [0x1p-7]} : f32[]\n"              \
  "  %5 = param \"z\" {data = [3]} : u8[]\n"                     \
  "  %6 = dequantize_linear(%0, %2, %5) : f32[1, 1, 3, 3]\n"

static void check_conv(const char* rest, bool fires) {
  char text[4096];
  stow_rewrite_options options;
  snprintf(text, sizeof(text), "%s%s}\n", CONV_HEAD, rest);
  stow_module* module = parse_graph(text);
  stow_rewrite_options_init(&options);
  options.off = ~stow_rewrite_bit(STOW_REWRITE_QDQ);
  stow_rewritten* r = rewrite_graph(stow_module_graph(module, 0), &options);
  const stow_graph* graph = stow_rewritten_graph(r);
  CHECK(stow_graph_verify(graph, NULL) == STOW_OK);
  test_check((count_op(graph, STOW_OP_QLINEAR_CONV) == 1) == fires, __FILE__, __LINE__,
             "fires: %d\n%s", !fires, text);
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
}

TEST(ConvolutionsBecomeThoseOfIntegers) {
  REWRITES(STOW_REWRITE_QDQ,
           CONV_HEAD
           "  %7 = dequantize_linear(%1, %3) {axis = 0} : f32[2, 1, 1, 2]\n"
           "  %8 = conv(%6, %7) {kernel = [1, 2]} : f32[1, 2, 3, 2]\n"
           "  %9 \"y\" = quantize_linear(%8, %4, %5) : u8[1, 2, 3, 2]\n"
           "  return %9\n}\n",
           "graph @g {\n"
           "  %0 = input \"x\" : u8[1, 1, 3, 3]\n"
           "  %1 = param \"w\" {data = [1, 2, 3, -4]} : i8[2, 1, 1, 2]\n"
           "  %2 = param \"sx\" {data = [0x1p-4]} : f32[]\n"
           "  %3 = param \"sw\" {data = [0x1p-5, 0x1p-6]} : f32[2]\n"
           "  %4 = param \"sy\" {data = [0x1p-7]} : f32[]\n"
           "  %5 = param \"z\" {data = [3]} : u8[]\n"
           "  %6 = constant \"%9.b_zero\" {data = [0]} : i8[]\n"
           "  %7 \"y\" = qlinear_conv(%0, %2, %5, %1, %3, %6, %4, %5) {kernel = [1, 2]} : "
           "u8[1, 2, 3, 2]\n"
           "  return %7\n}\n");
}

TEST(BiasesMustBeIntegersOfTheSums) {
#define BIASED(bias)                                                     \
  "  %7 = dequantize_linear(%1, %3) {axis = 0} : f32[2, 1, 1, 2]\n" bias \
  "  %11 = conv(%6, %7, %10) : f32[1, 2, 3, 2]\n"                        \
  "  %12 = quantize_linear(%11, %4, %5) : u8[1, 2, 3, 2]\n"              \
  "  return %12\n"
#define INTEGERS(scales)                             \
  "  %8 = param \"b\" {data = [100, -7]} : i32[2]\n" \
  "  %9 = param \"sb\" {data = [" scales             \
  "]} : f32[2]\n"                                    \
  "  %10 = dequantize_linear(%8, %9) {axis = 0} : f32[2]\n"
#define FLOATS(numbers)                        \
  "  %8 = param \"b\" {data = [1]} : i32[1]\n" \
  "  %9 = param \"c\" {data = [1]} : i32[1]\n" \
  "  %10 = param \"f\" {data = [" numbers "]} : f32[2]\n"
  check_conv(BIASED(INTEGERS("0x1p-9, 0x1p-10")), true);
  check_conv(BIASED(INTEGERS("0x1p-9, 0x1p-9")), false);
  check_conv(BIASED(FLOATS("0x1p-9, -0x1.8p-9")), true);
  check_conv(BIASED(FLOATS("0x0p+0, 0x0p+0")), true);
  check_conv(BIASED(FLOATS("0x1p-10, 0x0p+0")), false);
  check_conv(BIASED(FLOATS("0x1p+30, 0x0p+0")), false);
}

TEST(ScalesOfWeightsMustBeThoseOfChannels) {
#define UNBIASED(axis, type)                                      \
  "  %7 = param \"v\" {data = [1, 2, 3, 4]} : i8[2, 2]\n"         \
  "  %8 = reshape(%7) : i8" type                                  \
  "\n"                                                            \
  "  %9 = dequantize_linear(%8, %3) {axis = " axis "} : f32" type \
  "\n"                                                            \
  "  %10 = conv(%6, %9) : f32[1, 2, 3, 2]\n"                      \
  "  %11 = quantize_linear(%10, %4, %5) : u8[1, 2, 3, 2]\n"       \
  "  return %11\n"
  check_conv(UNBIASED("0", "[2, 1, 1, 2]"), true);
  check_conv(UNBIASED("3", "[2, 1, 1, 2]"), false);
  check_conv(UNBIASED("-4", "[2, 1, 1, 2]"), true);
}

TEST(RewritingSurvivesLackOfMemory) {
  static const char* const rest = BIASED(FLOATS("0x1p-9, -0x1.8p-9"));
  char text[4096];
  snprintf(text, sizeof(text), "%s%s}\n", CONV_HEAD, rest);
  CHECK(rewrite_with_faults(text, NULL) > 20);
  CHECK(rewrite_with_faults(
            HEAD "  %9 = pad(%7) {pads = [0, 0, 1, 1, 0, 0, 1, 1]} : f32[1, 2, 6, 6]\n" SAME
                 "[1, 2, 6, 6]\n  %11 = sigmoid(%8) : f32[1, 2, 4, 4]\n"
                 "  %12 = quantize_linear(%11, %2) : u8[1, 2, 4, 4]\n  return %10, %12\n}\n",
            NULL) > 20);
}
