// Graphs over ranges are rewritten as one graph. Bound at any point, it computes the same bits as
// the graph that was not rewritten.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/api.h"
#include "rewrite/rewrite_support.h"
#include "rewrite/run_text.h"
#include "support/test.h"

static stow_graph* bind_at(const stow_graph* graph, const int64_t* point, size_t count) {
  stow_graph* bound = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stowi_graph_copy(graph, stow_allocator_default(), &diag, &bound) == STOW_OK);
  for (size_t i = 0; i < count; ++i) {
    stow_str name = stow_dims_symbol_name(stow_graph_dims(graph), i);
    CHECK(stow_graph_bind(bound, &name, &point[i], 1, &diag) == STOW_OK);
  }
  CHECK(stow_graph_require_bound(bound, &diag) == STOW_OK);
  CHECK_TEXT(diag.message, "");
  return bound;
}

static void check_point(const stow_graph* graph, const stow_rewritten* r, const int64_t* point,
                        size_t count) {
  stow_graph* plain = bind_at(graph, point, count);
  stow_graph* bound = bind_at(stow_rewritten_graph(r), point, count);
  CHECK_U64(run_bound_outputs(bound, r, 5), run_outputs(plain, NULL, 5));
  stow_graph_destroy(plain);
  stow_graph_destroy(bound);
}

static void check_text_again(const stow_graph* graph) {
  stow_string text, again;
  stow_string_init(&text, stow_allocator_default());
  stow_string_init(&again, stow_allocator_default());
  CHECK(stow_graph_print(graph, stow_string_writer(&text)) == STOW_OK);
  stow_module* module = parse_graph(text.data);
  CHECK(stow_graph_print(stow_module_graph(module, 0), stow_string_writer(&again)) == STOW_OK);
  CHECK_TEXT(again.data, text.data);
  stow_module_destroy(module);
  stow_string_free(&text);
  stow_string_free(&again);
}

// Rewrites the graph over its ranges, in which |rule| fires, and runs it at all points.
static void check_ranges(const char* text, stow_rewrite_rule rule,
                         const stow_rewrite_options* options) {
  stow_module* module = parse_graph(text);
  const stow_graph* graph = stow_module_graph(module, 0);
  const stow_dims* dims = stow_graph_dims(graph);
  stow_rewritten* r = rewrite_graph(graph, options);
  stow_dim_range ranges[2] = {{0, 0, 1}, {0, 0, 1}};
  size_t count = stow_dims_symbol_count(dims);
  CHECK(stow_rewritten_count(r, rule) > 0);
  CHECK(stow_graph_verify(stow_rewritten_graph(r), NULL) == STOW_OK);
  check_text_again(stow_rewritten_graph(r));
  REQUIRE(count >= 1 && count <= 2);
  for (size_t i = 0; i < count; ++i) {
    CHECK(stow_dims_range(dims, i, &ranges[i]));
  }
  for (int64_t a = ranges[0].min; a <= ranges[0].max; a += ranges[0].step) {
    for (int64_t b = ranges[1].min; b <= ranges[1].max; b += ranges[1].step) {
      check_point(graph, r, (int64_t[]){a, b}, count);
    }
  }
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
  CHECK(rewrite_with_faults(text, options) > 20);
}

static const char attention[] =
    "graph @g {\n"
    "  range ?q = 1..9\n"
    "  range ?past = 0..32/8\n"
    "  %0 = input \"q\" : f32[2, 3, ?q, 8]\n"
    "  %1 = input \"k\" : f32[2, 3, 8, ?(past + q)]\n"
    "  %2 = input \"v\" : f32[2, 3, ?(past + q), 8]\n"
    "  %3 = input \"mask\" : f32[?q, ?(past + q)]\n"
    "  %4 = constant \"scale\" {data = [0.5]} : f32[]\n"
    "  %5 = matmul(%0, %1) : f32[2, 3, ?q, ?(past + q)]\n"
    "  %6 = mul(%5, %4) : f32[2, 3, ?q, ?(past + q)]\n"
    "  %7 = add(%6, %3) : f32[2, 3, ?q, ?(past + q)]\n"
    "  %8 = softmax(%7) {axis = 3} : f32[2, 3, ?q, ?(past + q)]\n"
    "  %9 = matmul(%8, %2) : f32[2, 3, ?q, 8]\n"
    "  %10 = transpose(%9) {perm = [0, 2, 1, 3]} : f32[2, ?q, 3, 8]\n"
    "  %11 = reshape(%10) : f32[2, ?q, 24]\n"
    "  return %11\n"
    "}\n";

TEST(AttentionOverRangesIsComputedInBlocks) { check_ranges(attention, STOW_REWRITE_BLOCKS, NULL); }

TEST(BatchesMayHaveRangesToo) {
  check_ranges(
      "graph @g {\n"
      "  range ?batch = 1..3\n"
      "  range ?seq = 1..40/13\n"
      "  %0 = input \"x\" : f32[?batch, ?seq, 16]\n"
      "  %1 = input \"mask\" : f32[?batch, 1, 1, ?seq]\n"
      "  %2 = reshape(%0) : f32[?batch, ?seq, 2, 8]\n"
      "  %3 = transpose(%2) {perm = [0, 2, 1, 3]} : f32[?batch, 2, ?seq, 8]\n"
      "  %4 = transpose(%2) {perm = [0, 2, 3, 1]} : f32[?batch, 2, 8, ?seq]\n"
      "  %5 = matmul(%3, %4) : f32[?batch, 2, ?seq, ?seq]\n"
      "  %6 = add(%5, %1) : f32[?batch, 2, ?seq, ?seq]\n"
      "  %7 = softmax(%6) {axis = 3} : f32[?batch, 2, ?seq, ?seq]\n"
      "  %8 = matmul(%7, %3) : f32[?batch, 2, ?seq, 8]\n"
      "  return %8\n"
      "}\n",
      STOW_REWRITE_BLOCKS, NULL);
}

// Reshapes have shapes that were read from tensors, as exporters write them.
#define TOKENS(ranges, B)                                 \
  "graph @g {\n" ranges "  %0 = input \"x\" : f32[" B     \
  ", ?n, 32]\n"                                           \
  "  %1 = input \"k\" : f32[" B                           \
  ", 4, 8, ?n]\n"                                         \
  "  %2 = input \"v\" : f32[" B                           \
  ", 4, ?n, 8]\n"                                         \
  "  %3 = cumsum(%0) {axis = 1} : f32[" B                 \
  ", ?n, 32]\n"                                           \
  "  %4 = cumsum(%1) {axis = 3} : f32[" B                 \
  ", 4, 8, ?n]\n"                                         \
  "  %5 = cumsum(%2) {axis = 2} : f32[" B                 \
  ", 4, ?n, 8]\n"                                         \
  "  %6 = param \"w\" : f32[32, 32]\n"                    \
  "  %7 = matmul(%3, %6) : f32[" B                        \
  ", ?n, 32]\n"                                           \
  "  %8 = shape(%7) {end = 2} : i64[2]\n"                 \
  "  %9 = constant \"c\" {data = [4, 8]} : i64[2]\n"      \
  "  %10 = concat(%8, %9) {axis = 0} : i64[4]\n"          \
  "  %11 = reshape(%7, %10) : f32[" B                     \
  ", ?n, 4, 8]\n"                                         \
  "  %12 = transpose(%11) {perm = [0, 2, 1, 3]} : f32[" B \
  ", 4, ?n, 8]\n"                                         \
  "  %13 = matmul(%12, %4) : f32[" B                      \
  ", 4, ?n, ?n]\n"                                        \
  "  %14 = softmax(%13) {axis = 3} : f32[" B              \
  ", 4, ?n, ?n]\n"                                        \
  "  %15 = matmul(%14, %5) : f32[" B                      \
  ", 4, ?n, 8]\n"                                         \
  "  %16 = transpose(%15) {perm = [0, 2, 1, 3]} : f32[" B \
  ", ?n, 4, 8]\n"                                         \
  "  %17 = reshape(%16) : f32[" B                         \
  ", ?n, 32]\n"                                           \
  "  %18 = param \"u\" : f32[32, 128]\n"                  \
  "  %19 = matmul(%17, %18) : f32[" B                     \
  ", ?n, 128]\n"                                          \
  "  %20 = gelu(%19) : f32[" B                            \
  ", ?n, 128]\n"                                          \
  "  %21 = param \"o\" : f32[128, 32]\n"                  \
  "  %22 = matmul(%20, %21) : f32[" B                     \
  ", ?n, 32]\n"                                           \
  "  %23 = add(%3, %22) : f32[" B                         \
  ", ?n, 32]\n"                                           \
  "  %24 = cumsum(%23) {axis = 1} : f32[" B               \
  ", ?n, 32]\n"                                           \
  "  return %24\n"                                        \
  "}\n"

TEST(TokensOverRangesAreComputedInBlocks) {
  check_ranges(TOKENS("  range ?n = 1..40\n", "1"), STOW_REWRITE_PRODUCTS, NULL);
  check_ranges(TOKENS("  range ?n = 1..20\n"
                      "  range ?b = 1..3\n",
                      "?b"),
               STOW_REWRITE_PRODUCTS, NULL);
}

TEST(ActivationsOfImagesAreComputedInBlocks) {
  check_ranges(
      "graph @g {\n"
      "  range ?h = 8..40/8\n"
      "  range ?w = 8..24/8\n"
      "  %0 = input \"x\" : f32[1, 4, ?h, ?w]\n"
      "  %1 = exp(%0) : f32[1, 4, ?h, ?w]\n"
      "  %2 = sigmoid(%1) : f32[1, 4, ?h, ?w]\n"
      "  %3 = mul(%1, %2) : f32[1, 4, ?h, ?w]\n"
      "  %4 = tanh(%3) : f32[1, 4, ?h, ?w]\n"
      "  %5 = pool(%4) {kernel = [2, 2], strides = [2, 2]} : f32[1, 4, ?(floor_div(h, 2)), "
      "?(floor_div(w, "
      "2))]\n"
      "  return %5\n"
      "}\n",
      STOW_REWRITE_BLOCKS, NULL);
}

TEST(PartsOverRangesAreComputedByThemselves) {
  check_ranges(
      "graph @g {\n"
      "  range ?n = 1..41/8\n"
      "  range ?m = 20..40/10\n"
      "  %0 = input \"x\" : u8[4, ?m, ?n]\n"
      "  %1 = input \"y\" : f32[?n]\n"
      "  %2 = cast(%0) : f32[4, ?m, ?n]\n"
      "  %3 = mul(%2, %1) : f32[4, ?m, ?n]\n"
      "  %4, %5 = split(%3) {sizes = [1, 3]} : f32[1, ?m, ?n], f32[3, ?m, ?n]\n"
      "  %6 = cumsum(%4) : f32[1, ?m, ?n]\n"
      "  %7 = cumsum(%5) : f32[3, ?m, ?n]\n"
      "  return %6, %7\n"
      "}\n",
      STOW_REWRITE_PARTS, NULL);
  check_ranges(
      "graph @g {\n"
      "  range ?past = 40..160/40\n"
      "  %0 = input \"past\" : f16[?past, 64]\n"
      "  %1 = input \"new\" : f16[1, 64]\n"
      "  %2 = concat(%0, %1) : f16[?(past + 1), 64]\n"
      "  %3 = cast(%2) : f32[?(past + 1), 64]\n"
      "  %4 = cumsum(%3) : f32[?(past + 1), 64]\n"
      "  %5 = reduce(%4) {op = \"max\", axes = [1]} : f32[?(past + 1), 1]\n"
      "  return %5\n"
      "}\n",
      STOW_REWRITE_PARTS, NULL);
}

TEST(RepeatedHeadsAreReadOnce) {
  check_ranges(
      "graph @g {\n"
      "  range ?keys = 1..64/7\n"
      "  %0 = input \"q\" : f32[1, 8, 1, 4]\n"
      "  %1 = input \"k\" : f32[1, 2, 4, ?keys]\n"
      "  %2 = reshape(%1) : f32[1, 2, 1, 4, ?keys]\n"
      "  %3 = constant \"shape\" {data = [1, 2, 4, 1, 1]} : i64[5]\n"
      "  %4 = expand(%2, %3) : f32[1, 2, 4, 4, ?keys]\n"
      "  %5 = reshape(%4) : f32[1, 8, 4, ?keys]\n"
      "  %6 = matmul(%0, %5) : f32[1, 8, 1, ?keys]\n"
      "  return %6\n"
      "}\n",
      STOW_REWRITE_REPEATS, NULL);
}

TEST(EqualDimsAtTheLargestPointAreNotTheSame) {
  // at n = 4 both reshapes would be identities
  stow_module* module = parse_graph(
      "graph @g {\n"
      "  range ?n = 1..4\n"
      "  %0 = input \"x\" : f32[4, ?n]\n"
      "  %1 = reshape(%0) : f32[?n, 4]\n"
      "  %2 = relu(%1) : f32[?n, 4]\n"
      "  return %2\n"
      "}\n");
  const stow_graph* graph = stow_module_graph(module, 0);
  stow_rewritten* r = rewrite_graph(graph, NULL);
  CHECK_U64(stow_rewritten_count(r, STOW_REWRITE_IDENTITIES), 0);
  for (int64_t n = 1; n <= 4; ++n) {
    check_point(graph, r, &n, 1);
  }
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
}

TEST(SymbolsWithoutRangesAreRefusedByName) {
  stow_module* module = parse_graph(
      "graph @g { range ?n = 1..4 %0 = input \"x\" : f32[?n, ?other] %1 = relu(%0) : f32[?n, "
      "?other] "
      "return %1 }");
  stow_rewritten* r = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_rewrite(stow_module_graph(module, 0), NULL, stow_allocator_default(), &diag, &r) ==
        STOW_ERR_UNBOUND_DIM);
  CHECK_HAS(diag.message, "other");
  stow_module_destroy(module);
}
