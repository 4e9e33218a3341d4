// Clusters that become one `blocks` node: patterns in which they must be found, and near misses in
// which they must not.
#include <stdio.h>
#include <string.h>

#include "rewrite/rewrite_support.h"
#include "support/test.h"

// What is computed before and after, so that neither inputs nor outputs are in the way.
#define BEGIN                          \
  "graph @g {\n"                       \
  "  %0 = input \"x\" : f32[64, 64]\n" \
  "  %1 = cumsum(%0) {axis = 0} : f32[64, 64]\n"
#define END(n, m)                \
  "  %" #m " = cumsum(%" #n      \
  ") {axis = 0} : f32[64, 64]\n" \
  "  return %" #m                \
  "\n"                           \
  "}\n"

static stow_rewritten* rewrite_blocks(const stow_graph* graph) {
  stow_rewrite_options options;
  stow_rewrite_options_init(&options);
  options.off = ~(stow_rewrite_bit(STOW_REWRITE_BLOCKS) | stow_rewrite_bit(STOW_REWRITE_PRODUCTS));
  return rewrite_graph(graph, &options);
}

// `function groups x rows`, of all `blocks` nodes.
static void describe(const stow_graph* graph, char* out, size_t room) {
  size_t size = 0;
  out[0] = '\0';
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    if (stow_graph_op(graph, node) == STOW_OP_BLOCKS) {
      stow_str name = stow_graph_attr(graph, node, "function")->s;
      size += (size_t)snprintf(out + size, room - size, "%s%.*s %lldx%lld", size == 0 ? "" : ", ",
                               (int)name.size, name.data,
                               (long long)stow_graph_attr(graph, node, "groups")->i,
                               (long long)stow_graph_attr(graph, node, "rows")->i);
    }
  }
}

// Graphs are the same again when they are printed and parsed, and nothing is fused twice.
static void check_made(const stow_graph* graph, int line) {
  stow_diag diag;
  stow_string text;
  stow_diag_init(&diag);
  stow_string_init(&text, stow_allocator_default());
  test_check(stow_graph_verify(graph, &diag) == STOW_OK, __FILE__, line, "%s", diag.message);
  CHECK(stow_graph_print(graph, stow_string_writer(&text)) == STOW_OK);
  stow_module* module = parse_graph(text.data);
  test_check(stow_graph_fingerprint(stow_module_graph(module, 0)) == stow_graph_fingerprint(graph),
             __FILE__, line, "another graph");
  stow_rewritten* again = rewrite_blocks(graph);
  test_check(stow_rewritten_graph(again) == graph, __FILE__, line, "fires again");
  stow_rewritten_destroy(again);
  stow_module_destroy(module);
  stow_string_free(&text);
}

static void check_fuses(const char* text, const char* expected, int line) {
  stow_module* module = parse_graph(text);
  stow_rewritten* r = rewrite_blocks(stow_module_graph(module, 0));
  char found[512];
  if (r != NULL) {
    describe(stow_rewritten_graph(r), found, sizeof(found));
    test_check(strcmp(found, expected) == 0, __FILE__, line, "\"%s\", not \"%s\"", found, expected);
    check_made(stow_rewritten_graph(r), line);
  }
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
}
#define FUSES(text, expected) check_fuses((text), (expected), __LINE__)
#define STAYS(text) check_fuses((text), "", __LINE__)

// ---------------------------------------------------------------------------------------------
// Activations

TEST(AnActivationBesideItsOperandIsFused) {
  REWRITES(
      STOW_REWRITE_BLOCKS,
      BEGIN
      "  %2 \"s\" = sigmoid(%1) : f32[64, 64]\n"
      "  %3 \"y\" = mul(%1, %2) : f32[64, 64]\n" END(3, 4),
      "graph @g {\n"
      "  function @sigmoid_mul {\n"
      "    %0 = input \"x0\" : f32[?rows]\n"
      "    %1 = sigmoid(%0) : f32[?rows]\n"
      "    %2 = mul(%0, %1) : f32[?rows]\n"
      "    return %2\n"
      "  }\n"
      "  %0 = input \"x\" : f32[64, 64]\n"
      "  %1 = cumsum(%0) : f32[64, 64]\n"
      "  %2 \"y\" = blocks(%1) {function = \"sigmoid_mul\", rows = 4096, of = [\"s\", \"y\"]} : "
      "f32[64, 64]\n"
      "  %3 = cumsum(%2) : f32[64, 64]\n"
      "  return %3\n"
      "}\n");
}

#define NUMBER(n, name, bits) "  %" #n " = constant \"" name "\" {data = [" bits "]} : f32[]\n"
#define SIX NUMBER(4, "six", "0x1.8p+2")
#define HALF NUMBER(4, "half", "0x1p-1")

TEST(ActivationsOfSeveralNodesAreFused) {
  FUSES(BEGIN NUMBER(2, "three", "0x1.8p+1") NUMBER(3, "zero", "0x0p+0") SIX
        "  %5 = add(%1, %2) : f32[64, 64]\n"
        "  %6 = clip(%5, %3, %4) : f32[64, 64]\n"
        "  %7 = mul(%1, %6) : f32[64, 64]\n"
        "  %8 = div(%7, %4) : f32[64, 64]\n" END(8, 9),
        "add_clip_mul_div 1x4096");
  FUSES(BEGIN NUMBER(2, "root", "0x1.6a09e6p+0") NUMBER(3, "one", "0x1p+0") HALF
        "  %5 = div(%1, %2) : f32[64, 64]\n"
        "  %6 = erf(%5) : f32[64, 64]\n"
        "  %7 = add(%6, %3) : f32[64, 64]\n"
        "  %8 = mul(%1, %7) : f32[64, 64]\n"
        "  %9 = mul(%8, %4) : f32[64, 64]\n" END(9, 10),
        "div_erf_add_mul_mul 1x4096");
  FUSES(BEGIN NUMBER(2, "three", "0x1.8p+1") NUMBER(3, "one", "0x1p+0") HALF
        "  %5 = pow(%1, %2) : f32[64, 64]\n"
        "  %6 = mul(%5, %4) : f32[64, 64]\n"
        "  %7 = add(%1, %6) : f32[64, 64]\n"
        "  %8 = tanh(%7) : f32[64, 64]\n"
        "  %9 = add(%8, %3) : f32[64, 64]\n"
        "  %10 = mul(%1, %9) : f32[64, 64]\n"
        "  %11 = mul(%10, %4) : f32[64, 64]\n" END(11, 12),
        "pow_mul_add_tanh_add_mul_mul 1x4096");
}

TEST(BiasesAreInTheFunction) {
  FUSES(BEGIN
        "  %2 = param \"b\" : f32[64]\n"
        "  %3 = add(%2, %1) : f32[64, 64]\n"
        "  %4 = gelu(%3) : f32[64, 64]\n"
        "  %5 = mul(%1, %4) : f32[64, 64]\n" END(5, 6),
        "add_gelu_mul 1x64");
}

// As rows where a channel is small, as groups where it is large.
TEST(NumbersOfChannelsAreRowsOrGroups) {
#define IMAGE(side)                                          \
  "graph @g {\n"                                             \
  "  %0 = input \"x\" : f32[1, 8, " side ", " side           \
  "]\n"                                                      \
  "  %1 = param \"b\" : f32[8, 1, 1]\n"                      \
  "  %2 = cumsum(%0) {axis = 0} : f32[1, 8, " side ", " side \
  "]\n"                                                      \
  "  %3 = add(%2, %1) : f32[1, 8, " side ", " side           \
  "]\n"                                                      \
  "  %4 = sigmoid(%3) : f32[1, 8, " side ", " side           \
  "]\n"                                                      \
  "  %5 = mul(%2, %4) : f32[1, 8, " side ", " side           \
  "]\n"                                                      \
  "  %6 = cumsum(%5) {axis = 0} : f32[1, 8, " side ", " side \
  "]\n"                                                      \
  "  return %6\n"                                            \
  "}\n"
  FUSES(IMAGE("16"), "add_sigmoid_mul 1x8");
  FUSES(IMAGE("80"), "add_sigmoid_mul 8x6400");
}

TEST(OtherDtypesAreFused) {
#define TYPED(dtype, op)          \
  "graph @g {\n"                  \
  "  %0 = input \"x\" : " dtype   \
  "[64, 64]\n"                    \
  "  %1 = transpose(%0) : " dtype \
  "[64, 64]\n"                    \
  "  %2 = " op "(%1) : " dtype    \
  "[64, 64]\n"                    \
  "  %3 = mul(%1, %2) : " dtype   \
  "[64, 64]\n"                    \
  "  %4 = transpose(%3) : " dtype \
  "[64, 64]\n"                    \
  "  return %4\n"                 \
  "}\n"
  FUSES(TYPED("f16", "sigmoid"), "sigmoid_mul 1x4096");
  FUSES(TYPED("bf16", "sigmoid"), "sigmoid_mul 1x4096");
  FUSES(TYPED("i32", "neg"), "neg_mul 1x4096");
  STAYS(TYPED("u4", "abs"));
}

// ---------------------------------------------------------------------------------------------
// Norms

#define NORM \
  BEGIN NUMBER(2, "two", "0x1p+1") NUMBER(3, "epsilon", "0x1p-20")         \
  "  %4 = param \"scale\" : f32[64]\n"                                     \
  "  %5 = reduce(%1) {axes = [-1], op = \"mean\"} : f32[64, 1]\n"          \
  "  %6 = sub(%1, %5) : f32[64, 64]\n"                                     \
  "  %7 = pow(%6, %2) : f32[64, 64]\n"                                     \
  "  %8 = reduce(%7) {axes = [-1], op = \"mean\"} : f32[64, 1]\n"          \
  "  %9 = add(%8, %3) : f32[64, 1]\n"                                      \
  "  %10 = sqrt(%9) : f32[64, 1]\n"                                        \
  "  %11 = div(%6, %10) : f32[64, 64]\n"                                   \
  "  %12 = mul(%11, %4) : f32[64, 64]\n" END(12, 13)

TEST(NormsAreFused) {
  FUSES(NORM, "reduce_sub_pow_reduce_add_sqrt_div_mul 1x64");
  FUSES(BEGIN NUMBER(2, "two", "0x1p+1") NUMBER(3, "epsilon", "0x1p-20")
        "  %4 = param \"scale\" : f32[64]\n"
        "  %5 = pow(%1, %2) : f32[64, 64]\n"
        "  %6 = reduce(%5) {axes = [1], op = \"mean\"} : f32[64, 1]\n"
        "  %7 = add(%6, %3) : f32[64, 1]\n"
        "  %8 = sqrt(%7) : f32[64, 1]\n"
        "  %9 = div(%1, %8) : f32[64, 64]\n"
        "  %10 = mul(%9, %4) : f32[64, 64]\n" END(10, 11),
        "pow_reduce_add_sqrt_div_mul 1x64");
  FUSES(BEGIN
        "  %2 = param \"scale\" : f32[64]\n"
        "  %3 = layer_norm(%1, %2) : f32[64, 64]\n"
        "  %4 = mul(%1, %3) : f32[64, 64]\n" END(4, 5),
        "layer_norm_mul 1x64");
}

// ---------------------------------------------------------------------------------------------
// Attention: 2 batches of 3 heads, 16 queries, 96 keys

#define QKV                                           \
  "graph @g {\n"                                      \
  "  %0 = input \"q\" : f32[2, 3, 64, 8]\n"           \
  "  %1 = input \"k\" : f32[2, 3, 8, 96]\n"           \
  "  %2 = input \"v\" : f32[2, 3, 96, 8]\n"           \
  "  %3 = input \"mask\" : f32[2, 1, 1, 96]\n"        \
  "  %4 = param \"scale\" : f32[1]\n"                 \
  "  %5 = cumsum(%0) {axis = 0} : f32[2, 3, 64, 8]\n" \
  "  %6 = matmul(%5, %1) : f32[2, 3, 64, 96]\n"

TEST(AttentionIsFused) {
  FUSES(QKV
        "  %7 = mul(%6, %4) : f32[2, 3, 64, 96]\n"
        "  %8 = add(%7, %3) : f32[2, 3, 64, 96]\n"
        "  %9 = softmax(%8) : f32[2, 3, 64, 96]\n"
        "  %10 = matmul(%9, %2) : f32[2, 3, 64, 8]\n"
        "  %11 = cumsum(%10) {axis = 0} : f32[2, 3, 64, 8]\n"
        "  return %11\n}\n",
        "matmul_mul_add_softmax_matmul 6x64");
  FUSES(QKV
        "  %7 = softmax(%6) {axis = 3} : f32[2, 3, 64, 96]\n"
        "  %8 = matmul(%7, %2) : f32[2, 3, 64, 8]\n"
        "  %9 = cumsum(%8) {axis = 0} : f32[2, 3, 64, 8]\n"
        "  return %9\n}\n",
        "matmul_softmax_matmul 6x64");
}

// An output need not be in the bytes of the scores.
TEST(ScoresThatAreOutputsAreMadeDirectly) {
  REWRITES(STOW_REWRITE_BLOCKS,
           QKV
           "  %7 = softmax(%6) {axis = 3} : f32[2, 3, 64, 96]\n"
           "  %8 \"scores\" = reshape(%7) : f32[6, 64, 96]\n"
           "  %9 = matmul(%7, %2) : f32[2, 3, 64, 8]\n"
           "  return %9, %8\n}\n",
           "graph @g {\n"
           "  function @matmul_softmax {\n"
           "    %0 = input \"x0\" : f32[?rows, 8]\n"
           "    %1 = input \"x1\" : f32[8, 96]\n"
           "    %2 = matmul(%0, %1) : f32[?rows, 96]\n"
           "    %3 = softmax(%2) {axis = 1} : f32[?rows, 96]\n"
           "    return %3\n"
           "  }\n"
           "  %0 = input \"q\" : f32[2, 3, 64, 8]\n"
           "  %1 = input \"k\" : f32[2, 3, 8, 96]\n"
           "  %2 = input \"v\" : f32[2, 3, 96, 8]\n"
           "  %3 = input \"mask\" : f32[2, 1, 1, 96]\n"
           "  %4 = param \"scale\" : f32[1]\n"
           "  %5 = cumsum(%0) : f32[2, 3, 64, 8]\n"
           "  %6 \"scores\" = blocks(%5, %1) {function = \"matmul_softmax\", groups = 6, rows = "
           "64} : f32[6, 64, 96]\n"
           "  %7 = reshape(%6) : f32[2, 3, 64, 96]\n"
           "  %8 = matmul(%7, %2) : f32[2, 3, 64, 8]\n"
           "  return %8, %6\n"
           "}\n");
}

// Elsewhere blocks would make them slower for nothing.
TEST(ProductsWithWeightsAreFusedWhereThePeakIs) {
#define RESIDUAL                                    \
  "graph @g {\n"                                    \
  "  %0 = input \"x\" : f32[1024, 64]\n"            \
  "  %1 = cumsum(%0) {axis = 0} : f32[1024, 64]\n"  \
  "  %2 = param \"w\" : f32[64, 256]\n"             \
  "  %3 = matmul(%1, %2) : f32[1024, 256]\n"        \
  "  %4 = cumsum(%3) {axis = 0} : f32[1024, 256]\n" \
  "  %5 = param \"v\" : f32[256, 64]\n"             \
  "  %6 = matmul(%4, %5) : f32[1024, 64]\n"         \
  "  %7 = add(%6, %1) : f32[1024, 64]\n"            \
  "  %8 = cumsum(%7) {axis = 0} : f32[1024, 64]\n"
  FUSES(RESIDUAL "  return %8\n}\n", "matmul_add 1x1024");
  STAYS(RESIDUAL
        "  %9 = expand(%8) : f32[9, 1024, 64]\n"
        "  %10 = cumsum(%9) {axis = 0} : f32[9, 1024, 64]\n"
        "  return %10\n}\n");
}

// ---------------------------------------------------------------------------------------------
// Near misses

TEST(WhatIsInPlaceAnywayStays) {
  STAYS(BEGIN
        "  %2 = neg(%1) : f32[64, 64]\n"
        "  %3 = relu(%2) : f32[64, 64]\n"
        "  %4 = softmax(%3) : f32[64, 64]\n" END(4, 5));
}

TEST(WhatOthersReadStays) {
  STAYS(BEGIN
        "  %2 = sigmoid(%1) : f32[64, 64]\n"
        "  %3 = mul(%1, %2) : f32[64, 64]\n"
        "  %4 = cumsum(%2) {axis = 0} : f32[64, 64]\n"
        "  %5 = cumsum(%3) {axis = 0} : f32[64, 64]\n"
        "  return %4, %5\n}\n");
  STAYS(BEGIN
        "  %2 = sigmoid(%1) : f32[64, 64]\n"
        "  %3 = mul(%1, %2) : f32[64, 64]\n"
        "  %4 = cumsum(%3) {axis = 0} : f32[64, 64]\n"
        "  return %2, %4\n}\n");
}

TEST(BarriersStay) {
  static const char* const nodes[] = {
      "sigmoid(%1) : f32[64, 64] with {align = 256}",
      "custom(%1) {name = \"act\"} : f32[64, 64]",
      "random_normal(%1) : f32[64, 64]",
      "cumsum(%1) {axis = 1} : f32[64, 64]",
      "softmax(%1) {axis = 0} : f32[64, 64]",
      "transpose(%1) : f32[64, 64]",
  };
  for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); ++i) {
    char text[1024];
    snprintf(text, sizeof(text),
             "%s  %%2 = %s\n  %%3 = mul(%%1, %%2) : f32[64, 64]\n"
             "  %%4 = softmax(%%3) : f32[64, 64]\n%s",
             BEGIN, nodes[i], END(4, 5));
    STAYS(text);
  }
}

// The mean of columns needs all rows.
TEST(RowsThatDependOnOthersStay) {
  STAYS(BEGIN
        "  %2 = reduce(%1) {axes = [0], op = \"mean\"} : f32[1, 64]\n"
        "  %3 = sub(%1, %2) : f32[64, 64]\n"
        "  %4 = softmax(%3) : f32[64, 64]\n" END(4, 5));
}

TEST(UpperBoundedDimsStay) {
  STAYS(
      "graph @g {\n"
      "  %0 = input \"x\" : bounded(0) f32[64, 64]\n"
      "  %1 = cumsum(%0) {axis = 0} : bounded(0) f32[64, 64]\n"
      "  %2 = sigmoid(%1) : bounded(0) f32[64, 64]\n"
      "  %3 = mul(%1, %2) : bounded(0) f32[64, 64]\n"
      "  %4 = cumsum(%3) {axis = 0} : bounded(0) f32[64, 64]\n"
      "  return %4\n}\n");
}

TEST(SmallValuesStay) {
  STAYS(
      "graph @g {\n"
      "  %0 = input \"x\" : f32[8, 8]\n"
      "  %1 = cumsum(%0) {axis = 0} : f32[8, 8]\n"
      "  %2 = sigmoid(%1) : f32[8, 8]\n"
      "  %3 = mul(%1, %2) : f32[8, 8]\n"
      "  %4 = cumsum(%3) {axis = 0} : f32[8, 8]\n"
      "  return %4\n}\n");
}

// Fused, the large operand would be live until the end.
TEST(WhatWouldKeepMoreAliveStays) {
  STAYS(
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64, 640]\n"
      "  %1 = input \"y\" : f32[64, 64]\n"
      "  %2 = cumsum(%0) {axis = 0} : f32[64, 640]\n"
      "  %3 = neg(%2) : f32[64, 640]\n"
      "  %4 = reduce(%3) {axes = [1]} : f32[64, 1]\n"
      "  %5 = cumsum(%1) {axis = 0} : f32[64, 64]\n"
      "  %6 = transpose(%5) : f32[64, 64]\n"
      "  %7 = matmul(%5, %6) : f32[64, 64]\n"
      "  %8 = mul(%7, %4) : f32[64, 64]\n"
      "  return %8\n}\n");
}

// Read later, the cache would have other elements.
TEST(WhatIsWrittenIntoIsReadBefore) {
  STAYS(
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64, 64]\n"
      "  %1 = input \"new\" : f32[1, 64]\n"
      "  %2 = transpose(%0) : f32[64, 64]\n"
      "  %3 = sigmoid(%2) : f32[64, 64]\n"
      "  %4 = kv_append(%2, %1) {axis = 0} : f32[64, 64]\n"
      "  %5 = cumsum(%0) {axis = 0} : f32[64, 64]\n"
      "  %6 = mul(%3, %5) : f32[64, 64]\n"
      "  return %6, %4\n}\n");
}

// ---------------------------------------------------------------------------------------------
// Regions, names, sharing

TEST(RegionsAreNotLeft) {
  FUSES(
      "graph @g {\n"
      "  %0 = input \"c\" : bool[]\n"
      "  %1 = input \"x\" : f32[64, 64]\n"
      "  %2 = cumsum(%1) {axis = 0} : f32[64, 64]\n"
      "  %3 = sigmoid(%2) : f32[64, 64]\n"
      "  %9 = if(%0) {\n"
      "    %4 = mul(%2, %3) : f32[64, 64]\n"
      "    yield %4\n"
      "  } else {\n"
      "    %5 = cumsum(%1) {axis = 1} : f32[64, 64]\n"
      "    %6 = sigmoid(%5) : f32[64, 64]\n"
      "    %7 = mul(%5, %6) : f32[64, 64]\n"
      "    %8 = cumsum(%7) {axis = 1} : f32[64, 64]\n"
      "    yield %8\n"
      "  } : f32[64, 64]\n"
      "  return %9\n}\n",
      "sigmoid_mul 1x4096");
}

TEST(EqualFunctionsAreShared) {
  FUSES(
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64, 64]\n"
      "  %1 = cumsum(%0) {axis = 0} : f32[64, 64]\n"
      "  %2 = sigmoid(%1) : f32[64, 64]\n"
      "  %3 = mul(%1, %2) : f32[64, 64]\n"
      "  %4 = transpose(%3) : f32[64, 64]\n"
      "  %5 = sigmoid(%4) : f32[64, 64]\n"
      "  %6 = mul(%4, %5) : f32[64, 64]\n"
      "  %7 = transpose(%6) : f32[64, 64]\n"
      "  %8 = sigmoid(%7) : f32[64, 64]\n"
      "  %9 = mul(%8, %7) : f32[64, 64]\n"
      "  %10 = transpose(%9) : f32[64, 64]\n"
      "  return %10\n}\n",
      "sigmoid_mul 1x4096, sigmoid_mul 1x4096, sigmoid_mul_2 1x4096");
}

TEST(FusedValuesAreGone) {
  stow_module* module = parse_graph(NORM);
  stow_rewritten* r = rewrite_blocks(stow_module_graph(module, 0));
  REQUIRE(r != NULL);
  CHECK_U64(stow_rewritten_count(r, STOW_REWRITE_BLOCKS), 1);
  CHECK_U64(stow_rewritten_value(r, 6), STOW_VALUE_NONE);
  CHECK(stow_rewritten_removed_by(r, 6) == STOW_REWRITE_BLOCKS);
  CHECK(stow_rewritten_value(r, 12) != STOW_VALUE_NONE);
  CHECK_TEXT(stow_rewritten_firing(r, 0).nodes.data, "%5 + %6 + %7 + %8 + %9 + %10 + %11 + %12");
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
}

TEST(FusingSurvivesLackOfMemory) { CHECK(rewrite_with_faults(NORM, NULL) > 40); }
