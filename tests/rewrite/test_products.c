// Tokens: products with weights and what is around them become `blocks` nodes, also where rows move
// on the way; random transformers give the same bits.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/rewrite_support.h"
#include "rewrite/run_text.h"
#include "support/test.h"

#define GRAPHS 150
#define GRAPHS_LONG 3000
#define TEXT_SIZE 16384

static stow_rewritten* rewrite_tokens(const stow_graph* graph, bool has_blocks) {
  stow_rewrite_options options;
  stow_rewrite_options_init(&options);
  options.off = ~(stow_rewrite_bit(STOW_REWRITE_PRODUCTS) |
                  (has_blocks ? stow_rewrite_bit(STOW_REWRITE_BLOCKS) : 0));
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

static void check_makes(const char* text, const char* expected, int line) {
  stow_module* module = parse_graph(text);
  const stow_graph* graph = stow_module_graph(module, 0);
  stow_rewritten* r = rewrite_tokens(graph, false);
  char found[512];
  describe(stow_rewritten_graph(r), found, sizeof(found));
  test_check(strcmp(found, expected) == 0, __FILE__, line, "\"%s\", not \"%s\"", found, expected);
  test_check(stow_graph_verify(stow_rewritten_graph(r), NULL) == STOW_OK, __FILE__, line, "bad");
  test_check(run_outputs(graph, r, 7) == run_outputs(graph, NULL, 7), __FILE__, line, "other bits");
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
}
#define MAKES(text, expected) check_makes((text), (expected), __LINE__)

// ---------------------------------------------------------------------------------------------
// Feed-forward parts

#define FEED_FORWARD(between, read)               \
  "graph @g {\n"                                  \
  "  %0 = input \"x\" : f32[128, 64]\n"           \
  "  %1 = cumsum(%0) {axis = 0} : f32[128, 64]\n" \
  "  %2 = param \"w\" : f32[64, 256]\n"           \
  "  %3 \"h\" = matmul(%1, %2) : f32[128, 256]\n" \
  "  %4 \"a\" = " between                         \
  " : f32[128, 256]\n"                            \
  "  %5 = param \"v\" : f32[256, 64]\n"           \
  "  %6 \"m\" = matmul(%4, %5) : f32[128, 64]\n"  \
  "  %7 \"y\" = add(%6, %1) : f32[128, 64]\n"     \
  "  %8 = cumsum(%7) {axis = 0} : f32[128, 64]\n" read "}\n"

TEST(HiddenTensorsAreAsSmallAsBlocks) {
  REWRITES(STOW_REWRITE_PRODUCTS, FEED_FORWARD("gelu(%3)", "  return %8\n"),
           "graph @g {\n"
           "  function @matmul_gelu_matmul_add {\n"
           "    %0 = input \"x0\" : f32[?rows, 64]\n"
           "    %1 = input \"x1\" : f32[64, 256]\n"
           "    %2 = matmul(%0, %1) : f32[?rows, 256]\n"
           "    %3 = gelu(%2) : f32[?rows, 256]\n"
           "    %4 = input \"x2\" : f32[256, 64]\n"
           "    %5 = matmul(%3, %4) : f32[?rows, 64]\n"
           "    %6 = add(%5, %0) : f32[?rows, 64]\n"
           "    return %6\n"
           "  }\n"
           "  %0 = input \"x\" : f32[128, 64]\n"
           "  %1 = cumsum(%0) : f32[128, 64]\n"
           "  %2 = param \"w\" : f32[64, 256]\n"
           "  %3 = param \"v\" : f32[256, 64]\n"
           "  %4 \"y\" = blocks(%1, %2, %3) {function = \"matmul_gelu_matmul_add\", rows = 128, "
           "of = [\"h\", \"a\", \"m\", \"y\"]} : f32[128, 64]\n"
           "  %5 = cumsum(%4) : f32[128, 64]\n"
           "  return %5\n"
           "}\n");
}

TEST(WhatReadsOtherTokensIsNotInside) {
  MAKES(FEED_FORWARD("softmax(%3) {axis = 1}", "  return %8\n"), "matmul_softmax_matmul_add 1x128");
  MAKES(FEED_FORWARD("softmax(%3) {axis = 0}", "  return %8\n"), "matmul_add 1x128");
  MAKES(FEED_FORWARD("cumsum(%3) {axis = 1}", "  return %8\n"), "matmul_add 1x128");
}

TEST(WhatOthersReadIsThereAsAWhole) {
  MAKES(FEED_FORWARD("gelu(%3)", "  return %8, %4\n"), "matmul_gelu 1x128, matmul_add 1x128");
  MAKES(FEED_FORWARD("gelu(%3)",
                     "  %9 = reduce(%3) {axes = [0]} : f32[1, 256]\n"
                     "  return %8, %9\n"),
        "gelu_matmul_add 1x128");
}

// ---------------------------------------------------------------------------------------------
// Heads

// |to| and |back|: how heads are before and after the scores; |from|: dims of heads as one.
#define ATTENTION(split, perm, heads, keys, values, scores, mixed, back) \
  "graph @g {\n"                                                         \
  "  %0 = input \"x\" : f32[2, 48, 32]\n"                                \
  "  %1 = cumsum(%0) {axis = 1} : f32[2, 48, 32]\n"                      \
  "  %2 = input \"k\" : " keys                                           \
  "\n"                                                                   \
  "  %3 = input \"v\" : " values                                         \
  "\n"                                                                   \
  "  %4 = cumsum(%2) : " keys                                            \
  "\n"                                                                   \
  "  %5 = cumsum(%3) : " values                                          \
  "\n"                                                                   \
  "  %6 = param \"w\" : f32[32, 32]\n"                                   \
  "  %7 = matmul(%1, %6) : f32[2, 48, 32]\n"                             \
  "  %8 = reshape(%7) : " split                                          \
  "\n"                                                                   \
  "  %9 = transpose(%8) {perm = " perm "} : " heads                      \
  "\n"                                                                   \
  "  %10 = matmul(%9, %4) : " scores                                     \
  "\n"                                                                   \
  "  %11 = softmax(%10) {axis = 3} : " scores                            \
  "\n"                                                                   \
  "  %12 = matmul(%11, %5) : " heads                                     \
  "\n"                                                                   \
  "  %13 = transpose(%12) {perm = " back "} : " split                    \
  "\n"                                                                   \
  "  %14 = reshape(%13) : " mixed                                        \
  "\n"                                                                   \
  "  %15 = param \"o\" : f32[32, 32]\n"                                  \
  "  %16 = matmul(%14, %15) : f32[2, 48, 32]\n"                          \
  "  %17 = add(%16, %1) : f32[2, 48, 32]\n"                              \
  "  %18 = cumsum(%17) {axis = 1} : f32[2, 48, 32]\n"                    \
  "  return %18\n"                                                       \
  "}\n"

#define HEADS                                                                           \
  ATTENTION("f32[2, 48, 4, 8]", "[0, 2, 1, 3]", "f32[2, 4, 48, 8]", "f32[2, 4, 8, 96]", \
            "f32[2, 4, 96, 8]", "f32[2, 4, 48, 96]", "f32[2, 48, 32]", "[0, 2, 1, 3]")

static size_t count_ops(const stow_graph* graph, stow_op op) {
  size_t count = 0;
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    count += stow_graph_op(graph, node) == op;
  }
  return count;
}

// Samples are groups: each has keys of its own.
TEST(QueriesAreMadeWithTheirScores) {
  MAKES(HEADS, "matmul_reshape_transpose_matmul_softmax_matmul 2x48");
}

TEST(HeadsFollowEachOther) {
  stow_module* module = parse_graph(HEADS);
  stow_rewritten* r = rewrite_tokens(stow_module_graph(module, 0), true);
  const stow_graph* made = stow_rewritten_graph(r);
  REQUIRE(stow_graph_function_count(made) == 1);
  const stow_graph* function = stow_graph_function(made, 0);
  CHECK_U64(count_ops(function, STOW_OP_NARROW), 3 * 4);  // q, k and v
  CHECK_U64(count_ops(function, STOW_OP_SOFTMAX), 4);
  CHECK_U64(count_ops(function, STOW_OP_CONCAT), 1);
  for (stow_value value = 0; value < stow_graph_value_count(function); ++value) {
    const stow_type* type = stow_graph_type(function, value);
    bool is_input = stow_graph_is_boundary(function, value);
    CHECK(is_input || type->dims[type->rank - 1] != 96 || type->dims[0] == 1);
  }
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
}

// A reshape that has tokens of several rows in one, and heads among the samples.
TEST(RowsStayApart) {
  MAKES(ATTENTION("f32[2, 24, 8, 8]", "[0, 2, 1, 3]", "f32[2, 8, 24, 8]", "f32[2, 8, 8, 96]",
                  "f32[2, 8, 96, 8]", "f32[2, 8, 24, 96]", "f32[2, 48, 32]", "[0, 2, 1, 3]"),
        "");
}

// Ops that only give other dims are reshapes in a function.
TEST(OtherDimsAreReshapes) {
  MAKES(
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64, 48]\n"
      "  %1 = cumsum(%0) {axis = 0} : f32[64, 48]\n"
      "  %2 = param \"w\" : f32[48, 192]\n"
      "  %3 = matmul(%1, %2) : f32[64, 192]\n"
      "  %4 = unsqueeze(%3) {axes = [0, 2]} : f32[1, 64, 1, 192]\n"
      "  %5 = gelu(%4) : f32[1, 64, 1, 192]\n"
      "  %6 = squeeze(%5) {axes = [0, 2]} : f32[64, 192]\n"
      "  %7 = param \"v\" : f32[192, 48]\n"
      "  %8 = matmul(%6, %7) : f32[64, 48]\n"
      "  %9 = add(%8, %1) : f32[64, 48]\n"
      "  %10 = cumsum(%9) {axis = 0} : f32[64, 48]\n"
      "  return %10\n"
      "}\n",
      "matmul_unsqueeze_gelu_squeeze_matmul_add 1x64");
}

TEST(TokensSurviveLackOfMemory) {
  stow_rewrite_options options;
  stow_rewrite_options_init(&options);
  options.off = ~stow_rewrite_bit(STOW_REWRITE_PRODUCTS);
  CHECK(rewrite_with_faults(HEADS, &options) > 40);
}

// ---------------------------------------------------------------------------------------------
// Random transformers

typedef struct writer {
  test_random random;
  char text[TEXT_SIZE];
  size_t size;
  unsigned next;  // value
  int64_t batch, tokens, heads, width, hidden;
} writer;

static bool is_drawn(writer* w, uint64_t of) { return test_random_below(&w->random, of) == 0; }

static int64_t draw(writer* w, int64_t least, uint64_t more) {
  return least + (int64_t)test_random_below(&w->random, more);
}

// Adds a value, and returns its number.
#define ADD(w, ...)                                                                          \
  ((w)->size +=                                                                              \
   (size_t)snprintf((w)->text + (w)->size, TEXT_SIZE - (w)->size, "  %%%u = ", (w)->next),   \
   (w)->size += (size_t)snprintf((w)->text + (w)->size, TEXT_SIZE - (w)->size, __VA_ARGS__), \
   (w)->next++)

typedef struct shape {
  char text[64];
} shape;

static shape tokens_of(const writer* w, int64_t last) {
  shape s;
  snprintf(s.text, sizeof(s.text), "f32[%lld, %lld, %lld]", (long long)w->batch,
           (long long)w->tokens, (long long)last);
  return s;
}

static shape four(int64_t a, int64_t b, int64_t c, int64_t d) {
  shape s;
  snprintf(s.text, sizeof(s.text), "f32[%lld, %lld, %lld, %lld]", (long long)a, (long long)b,
           (long long)c, (long long)d);
  return s;
}

static unsigned add_product(writer* w, unsigned x, int64_t from, int64_t to) {
  unsigned weight =
      ADD(w, "param \"w%u\" : f32[%lld, %lld]\n", w->next, (long long)from, (long long)to);
  unsigned y = ADD(w, "matmul(%%%u, %%%u) : %s\n", x, weight, tokens_of(w, to).text);
  if (is_drawn(w, 3)) {
    return y;
  }
  unsigned bias = ADD(w, "param \"b%u\" : f32[%lld]\n", w->next, (long long)to);
  return ADD(w, "add(%%%u, %%%u) : %s\n", y, bias, tokens_of(w, to).text);
}

static unsigned add_norm(writer* w, unsigned x) {
  shape s = tokens_of(w, w->width);
  if (is_drawn(w, 3)) {
    return ADD(w, "layer_norm(%%%u) : %s\n", x, s.text);
  }
  if (is_drawn(w, 2)) {
    return ADD(w, "rms_norm(%%%u) : %s\n", x, s.text);
  }
  shape one = tokens_of(w, 1);
  unsigned mean = ADD(w, "reduce(%%%u) {axes = [2], op = \"mean\"} : %s\n", x, one.text);
  unsigned centred = ADD(w, "sub(%%%u, %%%u) : %s\n", x, mean, s.text);
  unsigned square = ADD(w, "mul(%%%u, %%%u) : %s\n", centred, centred, s.text);
  unsigned spread = ADD(w, "reduce(%%%u) {axes = [-1], op = \"mean\"} : %s\n", square, one.text);
  return ADD(w, "div(%%%u, %%%u) : %s\n", centred, spread, s.text);
}

static unsigned add_feed_forward(writer* w, unsigned x) {
  static const char* const ops[] = {"gelu", "relu", "tanh", "silu"};
  shape s = tokens_of(w, w->hidden);
  unsigned h = add_product(w, x, w->width, w->hidden);
  unsigned a = ADD(w, "%s(%%%u) : %s\n", ops[draw(w, 0, 4)], h, s.text);
  if (is_drawn(w, 2)) {
    unsigned gate = add_product(w, x, w->width, w->hidden);
    a = ADD(w, "mul(%%%u, %%%u) : %s\n", a, gate, s.text);
  }
  return add_product(w, a, w->hidden, w->width);
}

// Of [batch, tokens, width]: heads as the second dim, or, of keys, transposed.
static unsigned add_heads(writer* w, unsigned x, bool is_turned) {
  int64_t unit = w->width / w->heads;
  unsigned split =
      ADD(w, "reshape(%%%u) : %s\n", x, four(w->batch, w->tokens, w->heads, unit).text);
  if (is_turned) {
    return ADD(w, "transpose(%%%u) {perm = [0, 2, 3, 1]} : %s\n", split,
               four(w->batch, w->heads, unit, w->tokens).text);
  }
  return ADD(w, "transpose(%%%u) {perm = [0, 2, 1, 3]} : %s\n", split,
             four(w->batch, w->heads, w->tokens, unit).text);
}

static unsigned add_attention(writer* w, unsigned x) {
  int64_t unit = w->width / w->heads;
  shape heads = four(w->batch, w->heads, w->tokens, unit);
  shape scores = four(w->batch, w->heads, w->tokens, w->tokens);
  unsigned q = add_heads(w, add_product(w, x, w->width, w->width), false);
  unsigned k = add_heads(w, add_product(w, x, w->width, w->width), true);
  unsigned v = add_heads(w, add_product(w, x, w->width, w->width), false);
  unsigned s = ADD(w, "matmul(%%%u, %%%u) : %s\n", q, k, scores.text);
  if (is_drawn(w, 2)) {
    shape small = four(is_drawn(w, 2) ? w->batch : 1, is_drawn(w, 3) ? w->heads : 1,
                       is_drawn(w, 2) ? w->tokens : 1, w->tokens);
    unsigned mask = ADD(w, "input \"mask%u\" : %s\n", w->next, small.text);
    s = ADD(w, "add(%%%u, %%%u) : %s\n", s, mask, scores.text);
  }
  s = ADD(w, "softmax(%%%u) {axis = %d} : %s\n", s, is_drawn(w, 8) ? 2 : 3, scores.text);
  s = ADD(w, "matmul(%%%u, %%%u) : %s\n", s, v, heads.text);
  s = ADD(w, "transpose(%%%u) {perm = [0, 2, 1, 3]} : %s\n", s,
          four(w->batch, w->tokens, w->heads, unit).text);
  s = ADD(w, "reshape(%%%u) : %s\n", s, tokens_of(w, w->width).text);
  return add_product(w, s, w->width, w->width);
}

static void write_transformer(writer* w, uint64_t seed) {
  w->random = (test_random){seed};
  w->batch = draw(w, 1, 3);
  w->tokens = draw(w, 2, 60);
  w->heads = draw(w, 1, is_drawn(w, 8) ? 40 : 6);
  w->width = w->heads * draw(w, 1, 10);
  w->hidden = w->width * draw(w, 1, 5);
  w->size = (size_t)snprintf(w->text, TEXT_SIZE, "graph @g {\n");
  shape s = tokens_of(w, w->width);
  unsigned x = ADD(w, "input \"x\" : %s\n", s.text);
  x = ADD(w, "cumsum(%%%u) {axis = 1} : %s\n", x, s.text);
  for (int64_t i = draw(w, 1, 3); i-- > 0;) {
    unsigned y = is_drawn(w, 4) ? add_norm(w, x) : x;
    y = is_drawn(w, 2) ? add_feed_forward(w, y) : add_attention(w, y);
    x = ADD(w, "add(%%%u, %%%u) : %s\n", x, y, s.text);
    x = is_drawn(w, 2) ? add_norm(w, x) : x;
  }
  x = ADD(w, "cumsum(%%%u) {axis = 1} : %s\n", x, s.text);
  w->size += (size_t)snprintf(w->text + w->size, TEXT_SIZE - w->size, "  return %%%u\n}\n", x);
}

TEST(TransformersGiveTheSameBits) {
  static writer w;
  size_t fired = 0;
  size_t count = test_is_long() ? GRAPHS_LONG : GRAPHS;
  for (uint64_t seed = 1; seed <= count; ++seed) {
    memset(&w, 0, sizeof(w));
    write_transformer(&w, seed);
    stow_module* module = parse_graph(w.text);
    const stow_graph* graph = stow_module_graph(module, 0);
    stow_rewritten* r = rewrite_tokens(graph, seed % 2 == 0);
    size_t now = stow_rewritten_count(r, STOW_REWRITE_PRODUCTS);
    fired += now != 0;
    if (now != 0) {
      test_check(run_outputs(graph, r, seed) == run_outputs(graph, NULL, seed), __FILE__, __LINE__,
                 "seed %llu: other bits\n%s", (unsigned long long)seed, w.text);
    }
    stow_rewritten_destroy(r);
    stow_module_destroy(module);
  }
  printf("%zu of %zu fused\n", fired, count);
  CHECK(fired * 2 > count);
}
