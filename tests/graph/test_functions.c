// Functions, and `blocks` nodes that apply them: what is accepted, what is refused and why, and
// that texts, copies and fingerprints have them.
#include <stdio.h>
#include <stowage/text.h>
#include <string.h>

#include "graph/api.h"
#include "support/fault.h"
#include "support/test.h"

#define INPUT "    %0 = input \"x\" : f32[?rows, 4]\n"
#define SOFTMAX "    %1 = softmax(%0) {axis = 1} : f32[?rows, 4]\n    return %1\n"
#define NODES                                                                \
  "  %0 = input \"x\" : f32[6, 4]\n"                                         \
  "  %1 = blocks(%0) {function = \"f\", groups = 2, rows = 3} : f32[6, 4]\n" \
  "  return %1\n"

static stow_module* parse(const char* function, const char* rest, stow_diag* diag) {
  char text[2048];
  stow_module* module = NULL;
  int size =
      snprintf(text, sizeof(text), "graph @g {\n  function @f {\n%s  }\n%s}\n", function, rest);
  stow_diag_init(diag);
  (void)stow_module_parse(text, (size_t)size, NULL, NULL, stow_allocator_default(), diag, &module);
  return module;
}

static void refuses(const char* function, const char* rest, const char* why, int line) {
  stow_diag diag;
  stow_module* module = parse(function, rest, &diag);
  test_check(module == NULL, __FILE__, line, "accepted");
  test_check(strstr(diag.message, why) != NULL, __FILE__, line, "\"%s\" has no \"%s\"",
             diag.message, why);
  test_check(module != NULL || diag.line != 0, __FILE__, line, "no line");
  stow_module_destroy(module);
}
#define REFUSES(function, rest, why) refuses(function, rest, why, __LINE__)

TEST(TextsOfFunctionsAreTheSameAgain) {
  stow_diag diag;
  stow_string printed;
  stow_string_init(&printed, stow_allocator_default());
  stow_module* module = parse(INPUT SOFTMAX, NODES, &diag);
  REQUIRE(module != NULL);
  CHECK(stow_module_print(module, stow_string_writer(&printed)) == STOW_OK);
  CHECK_TEXT(printed.data, "graph @g {\n  function @f {\n" INPUT SOFTMAX "  }\n" NODES "}\n");
  CHECK_U64(stow_graph_function_count(stow_module_graph(module, 0)), 1);
  CHECK(stow_graph_function(stow_module_graph(module, 0), 1) == NULL);
  CHECK_TEXT(stow_graph_op_name(stow_module_graph(module, 0), 0), "input");
  CHECK_TEXT(stow_graph_op_name(stow_module_graph(module, 0), 1), "f");
  stow_string_free(&printed);
  stow_module_destroy(module);
}

TEST(WhatMixesRowsIsRefused) {
  REFUSES(INPUT "    %1 = softmax(%0) {axis = 0} : f32[?rows, 4]\n    return %1\n", NODES,
          "softmax %1 does not compute each row from the same row alone");
  REFUSES(INPUT "    %1 = softmax(%0) {axis = -2} : f32[?rows, 4]\n    return %1\n", NODES,
          "does not compute each row");
  REFUSES(INPUT "    %1 = reduce(%0) {axes = [0]} : f32[1, 4]\n    return %1\n", NODES,
          "does not compute each row");
  REFUSES(INPUT "    %1 = reduce(%0) : f32[1, 1]\n    return %1\n", NODES,
          "does not compute each row");
  REFUSES(
      "    %0 = input \"x\" : f32[?rows, 4, 2, 2]\n"
      "    %1 = scale_image(%0) {bias = [1, 2, 3, 4]} : f32[?rows, 4, 2, 2]\n    return %1\n",
      NODES, "scale_image %1 does not compute each row");
  REFUSES(INPUT "    %1 = cumsum(%0) {axis = 0} : f32[?rows, 4]\n    return %1\n", NODES,
          "does not compute each row");
  REFUSES(
      "    %0 = input \"x\" : f32[?rows]\n    %1 = input \"y\" : f32[?rows, 4]\n"
      "    %2 = mul(%1, %1) : f32[?rows, 4]\n    %3 = unsqueeze(%0) {axes = [1]} : f32[?rows, 1]\n"
      "    return %2\n",
      NODES, "unsqueeze %3 does not compute");
  REFUSES(
      "    %0 = input \"x\" : f32[?rows, 4]\n    %1 = input \"y\" : f32[4, ?rows]\n"
      "    %2 = matmul(%0, %1) : f32[?rows, ?rows]\n    return %2\n",
      NODES, "has ?rows in an expression or more than once");
}

static void accepts(const char* function, const char* rest, int line) {
  stow_diag diag;
  stow_module* module = parse(function, rest, &diag);
  test_check(module != NULL, __FILE__, line, "%s", diag.message);
  stow_module_destroy(module);
}
#define ACCEPTS(function, rest) accepts(function, rest, __LINE__)

TEST(RowsMayBeAnyDim) {
#define IMAGE "    %0 = input \"x\" : f32[1, 4, 1, ?rows]\n    %1 = input \"w\" : f32[2, 4, 1, 1]\n"
#define CONV(attrs) IMAGE "    %2 = conv(%0, %1) {" attrs "} : f32[1, 2, 1, ?rows]\n    return %2\n"
#define CONV_NODES                                                               \
  "  %0 = input \"x\" : f32[1, 4, 3, 5]\n  %1 = input \"w\" : f32[2, 4, 1, 1]\n" \
  "  %2 = blocks(%0, %1) {function = \"f\", rows = 15} : f32[1, 2, 3, 5]\n  return %2\n"
  ACCEPTS(CONV(""), CONV_NODES);
  ACCEPTS(CONV("pads = [0, 0, 0, 0], strides = [1, 1]"), CONV_NODES);
  REFUSES(
      IMAGE
      "    %2 = conv(%0, %1) {pads = [0, 1, 0, 1]} : f32[1, 2, 1, ?(rows + 2)]\n    return %2\n",
      CONV_NODES, "?rows in an expression or more than once");
  REFUSES(IMAGE
          "    %2 = conv(%0, %1) {strides = [1, 2]} : f32[1, 2, 1, ?(ceil_div(rows, 2))]\n"
          "    return %2\n",
          CONV_NODES, "?rows in an expression or more than once");
  REFUSES(
      "    %0 = input \"x\" : f32[1, 4, ?rows, 3]\n    %1 = input \"w\" : f32[2, 4, 1, 1]\n"
      "    %2 = conv(%0, %1) : f32[1, 2, ?rows, 3]\n    return %2\n",
      CONV_NODES, "does not compute each row");
  REFUSES(
      "    %0 = input \"x\" : f32[1, 4, 1, ?rows]\n    %1 = input \"w\" : f32[2, 4, 1, 3]\n"
      "    %2 = conv(%0, %1) {pads = [0, 1, 0, 1]} : f32[1, 2, 1, ?rows]\n    return %2\n",
      CONV_NODES, "does not compute each row");
  REFUSES(
      "    %0 = input \"x\" : f32[3, ?rows]\n    %1 = softmax(%0) {axis = 0} : f32[3, ?rows]\n"
      "    return %1\n",
      NODES, "does not compute each row");
}

// Heads come out of the width, and go back into it.
TEST(RowsMayMove) {
#define TOKENS "    %0 = input \"x\" : f32[?rows, 6]\n"
#define HEADS                                 \
  TOKENS                                      \
  "    %1 = reshape(%0) : f32[?rows, 2, 3]\n" \
  "    %2 = transpose(%1) {perm = [1, 0, 2]} : f32[2, ?rows, 3]\n"
#define TOKEN_NODES                                                                   \
  "  %0 = input \"x\" : f32[5, 6]\n  %1 = blocks(%0) {function = \"f\", rows = 5} : " \
  "f32[2, 5, 3]\n  return %1\n"
#define TWO_NODES                                                       \
  "  %0 = input \"x\" : f32[5, 6]\n  %1 = input \"k\" : f32[2, 3, 4]\n" \
  "  %2 = blocks(%0, %1) {function = \"f\", rows = 5} : f32[2, 5, 4]\n" \
  "  return %2\n"
  ACCEPTS(HEADS "    return %2\n", TOKEN_NODES);
  ACCEPTS(HEADS
          "    %3 = narrow(%2) {axis = 0, start = 1, len = 1} : f32[1, ?rows, 3]\n"
          "    %4 = narrow(%2) {axis = 0, start = 0, len = 1} : f32[1, ?rows, 3]\n"
          "    %5 = concat(%3, %4) {axis = 0} : f32[2, ?rows, 3]\n"
          "    return %5\n",
          TOKEN_NODES);
  ACCEPTS(HEADS
          "    %3 = input \"k\" : f32[2, 3, 4]\n"
          "    %4 = matmul(%2, %3) : f32[2, ?rows, 4]\n"
          "    return %4\n",
          TWO_NODES);
  REFUSES(TOKENS
          "    %1 = input \"k\" : f32[2, 6, 4]\n"
          "    %2 = reshape(%0) : f32[?rows, 1, 6]\n"
          "    %3 = matmul(%2, %1) : f32[?rows, 1, 4]\n"
          "    return %3\n",
          TWO_NODES, "");
  REFUSES(
      "    %0 = input \"x\" : f32[2, ?rows, 3]\n"
      "    %1 = reshape(%0) : f32[?rows, 6]\n"
      "    return %1\n",
      NODES, "does not compute each row");
  REFUSES(TOKENS
          "    %1 = narrow(%0) {axis = 0, start = 0, len = 1} : f32[1, 6]\n"
          "    return %0\n",
          NODES, "narrow %1 does not compute each row");
  REFUSES(TOKENS
          "    %1 = input \"y\" : f32[4, 6]\n"
          "    %2 = concat(%0, %1) {axis = 0} : f32[?(rows + 4), 6]\n"
          "    return %0\n",
          NODES, "?rows in an expression or more than once");
  REFUSES(TOKENS
          "    %1 = input \"y\" : f32[1, 6]\n"
          "    %2 = concat(%1, %1) {axis = 1} : f32[1, 12]\n"
          "    %3 = narrow(%0) {axis = -2, start = 0, len = 1} : f32[1, 6]\n"
          "    return %0\n",
          NODES, "narrow %3 does not compute each row");
}

TEST(WhatIsNoFunctionIsRefused) {
  REFUSES("    %0 = input \"x\" : f32[?seq, 4]\n    %1 = relu(%0) : f32[?seq, 4]\n    return %1\n",
          NODES, "is not computed row by row, as in functions without ?rows");
  REFUSES("    %0 = input \"x\" : f32[?rows, 4]\n    return %0\n", NODES,
          "is an output, but not computed for each row");
  REFUSES("    %0 = input \"x\" : f32[4]\n    %1 = relu(%0) : f32[4]\n    return %1\n", NODES,
          "is not computed row by row, as in functions without ?rows");
  REFUSES(INPUT
          "    %1 = input \"y\" : f32[4]\n    %2 = relu(%1) : f32[4]\n    %3 = relu(%0) : "
          "f32[?rows, 4]\n    return %3, %2\n",
          NODES, "is an output, but not computed for each row");
  REFUSES(INPUT "    %1 = relu(%0) : f32[?rows, 4]\n    return %1, %1\n", NODES,
          "is an output twice");
  REFUSES(
      "    %0 = constant \"c\" {data = [1]} : f32[1]\n    %1 = relu(%0) : f32[1]\n    return %1\n",
      NODES, "constant %0 \"c\" is not computed row by row");
  REFUSES(
      "    %0 = constant \"c\" {data = [1]} : f32[1]\n    %1 = input \"x\" : f32[?rows]\n"
      "    %2 = mul(%0, %1) : f32[?rows]\n    return %2\n",
      NODES, "constant %0 \"c\" does not compute");
  REFUSES("    %0 = input \"x\" : u4[?rows, 4]\n    %1 = relu(%0) : u4[?rows, 4]\n    return %1\n",
          NODES, "has elements below a byte");
  REFUSES(
      "    %0 = input \"x\" : f32[?rows, 0]\n    %1 = relu(%0) : f32[?rows, 0]\n    return %1\n",
      NODES, "has no elements");
  REFUSES(INPUT "    %1 = relu(%0) : f32[?rows, 4] with {own = [0]}\n    return %1\n", NODES,
          "has a `with` clause");
  REFUSES(INPUT SOFTMAX, "  function @f {\n" INPUT SOFTMAX "  }\n" NODES,
          "function @f is defined twice");
}

TEST(BlocksMustFitTheFunction) {
#define NODE(text, type) "  %0 = input \"x\" : f32[6, 4]\n  %1 = " text " : " type "\n  return %1\n"
  const char* f = INPUT SOFTMAX;
  REFUSES(f, NODE("blocks(%0) {function = \"g\", rows = 6}", "f32[6, 4]"), "no function @g");
  REFUSES(f, NODE("blocks(%0) {function = \"f\", rows = 0}", "f32[6, 4]"), "must be 1 or more");
  REFUSES(f, NODE("blocks(%0) {function = \"f\", rows = 4}", "f32[6, 4]"),
          "operand 0 cannot be cut into f32[?rows, 4] for 1 groups of 4 rows");
  REFUSES(f, NODE("blocks(%0) {function = \"f\", rows = 6, groups = 3}", "f32[6, 4]"),
          "result 0 is not 3 groups of 6 rows of f32[?rows, 4]");
  REFUSES(f, NODE("blocks(%0) {function = \"f\", rows = 6}", "f16[6, 4]"), "result 0 is not");
  REFUSES(f, NODE("blocks(%0, %0) {function = \"f\", rows = 6}", "f32[6, 4]"),
          "operand 1 is one more than the function has inputs");
  REFUSES(f,
          NODE("blocks(%0) {function = \"f\", groups = 6, rows = 2, divide = [4]}", "f32[12, 4]"),
          "operand 0 cannot be cut");
  REFUSES(INPUT
          "    %1 = input \"y\" : f32[4]\n    %2 = mul(%0, %1) : f32[?rows, 4]\n    return %2\n",
          NODES, "more inputs than there are operands");
}

// ---------------------------------------------------------------------------------------------
// Functions without ?rows, and `stream`

#define PHOTO "    %0 = input \"x\" : f32[1, 2, 6, 5]\n    %1 = input \"w\" : f32[2, 2, 3, 3]\n"
#define BLUR                                                                  \
  PHOTO                                                                       \
  "    %2 = conv(%0, %1) {pads = [1, 1, 1, 1]} : f32[1, 2, 6, 5]\n"           \
  "    %3 = pool(%2) {kernel = [2, 2], strides = [2, 2]} : f32[1, 2, 3, 2]\n" \
  "    return %3, %2\n"
#define STREAM_INPUTS "  %0 = input \"x\" : f32[1, 2, 6, 5]\n  %1 = input \"w\" : f32[2, 2, 3, 3]\n"
#define STREAM                                                                        \
  STREAM_INPUTS                                                                       \
  "  %2, %3 = stream(%0, %1) {function = \"f\"} : f32[1, 2, 3, 2], f32[1, 2, 6, 5]\n" \
  "  return %2, %3\n"

TEST(TextsOfStreamsAreTheSameAgain) {
  stow_diag diag;
  stow_string printed;
  stow_string_init(&printed, stow_allocator_default());
  stow_module* module = parse(BLUR, STREAM, &diag);
  REQUIRE(module != NULL);
  CHECK(stow_module_print(module, stow_string_writer(&printed)) == STOW_OK);
  CHECK_TEXT(printed.data, "graph @g {\n  function @f {\n" BLUR "  }\n" STREAM "}\n");
  CHECK_TEXT(stow_graph_op_name(stow_module_graph(module, 0), 2), "f");
  CHECK(stowi_graph_function_streams(stow_graph_function(stow_module_graph(module, 0), 0)));
  stow_string_free(&printed);
  stow_module_destroy(module);
}

#define NOT_STREAMED(node, type)                                         \
  REFUSES(PHOTO "    %2 = " node " : " type "\n    return %2\n", STREAM, \
          "is not computed row by row, as in functions without ?rows")

TEST(WhatNeedsOtherRowsIsNotStreamed) {
  NOT_STREAMED("softmax(%0) {axis = 2}", "f32[1, 2, 6, 5]");
  NOT_STREAMED("reduce(%0) {axes = [2]}", "f32[1, 2, 1, 5]");
  NOT_STREAMED("pool(%0) {op = \"avg\", global = true}", "f32[1, 2, 1, 1]");
  NOT_STREAMED("concat(%0, %0) {axis = 2}", "f32[1, 2, 12, 5]");
  NOT_STREAMED("layer_norm(%0) {axis = 2}", "f32[1, 2, 6, 5]");
  NOT_STREAMED("transpose(%0) {perm = [0, 1, 3, 2]}", "f32[1, 2, 5, 6]");
  NOT_STREAMED("resize(%0) {mode = \"linear\"}", "f32[1, 2, 12, 5]");
  NOT_STREAMED("resize(%0)", "f32[1, 2, 9, 5]");
  NOT_STREAMED("resize(%0) {nearest_mode = \"ceil\"}", "f32[1, 2, 12, 5]");
  NOT_STREAMED("pad(%0) {pads = [0, 0, 1, 0, 0, 0, 0, 0], mode = \"edge\"}", "f32[1, 2, 7, 5]");
  NOT_STREAMED("pad(%0) {pads = [0, 0, -1, 0, 0, 0, 0, 0]}", "f32[1, 2, 5, 5]");
  NOT_STREAMED("conv(%0, %1) {pads = [3, 1, 1, 1]}", "f32[1, 2, 8, 5]");
  NOT_STREAMED("pool(%0) {kernel = [4611686018427387904, 1], auto_pad = \"same_upper\"}",
               "f32[1, 2, 6, 5]");
  REFUSES(
      "    %0 = input \"x\" : f32[2, 2, 6, 5]\n    %1 = relu(%0) : f32[2, 2, 6, 5]\n"
      "    return %1\n",
      STREAM, "is not computed row by row");
  REFUSES("    %0 = input \"x\" : f32[1, 2, 6]\n    %1 = relu(%0) : f32[1, 2, 6]\n    return %1\n",
          STREAM, "is not computed row by row");
  REFUSES(
      "    %0 = input \"x\" : f32[1, 2, 6, ?w]\n    %1 = relu(%0) : f32[1, 2, 6, ?w]\n"
      "    return %1\n",
      STREAM, "is not computed row by row");
  // A row that all rows of another value are multiplied by.
  REFUSES(
      "    %0 = input \"x\" : f32[1, 2, 6, 5]\n    %1 = input \"y\" : f32[1, 2, 1, 5]\n"
      "    %2 = relu(%1) : f32[1, 2, 1, 5]\n    %3 = mul(%0, %2) : f32[1, 2, 6, 5]\n"
      "    return %3\n",
      STREAM, "needs all rows of a value that is not an input");
  REFUSES(PHOTO "    %2 = relu(%0) : f32[1, 2, 6, 5]\n    return %2, %0\n", STREAM,
          "is an output, but not computed for each row");
}

TEST(StreamsMustFitTheFunction) {
#define CALL(text, type) STREAM_INPUTS "  %2 = " text " : " type "\n  return %2\n"
  const char* f =
      PHOTO "    %2 = conv(%0, %1) {pads = [1, 1, 1, 1]} : f32[1, 2, 6, 5]\n    return %2\n";
  REFUSES(f, CALL("stream(%0, %1) {function = \"g\"}", "f32[1, 2, 6, 5]"), "no function @g");
  REFUSES(f, CALL("stream(%1, %1) {function = \"f\"}", "f32[1, 2, 6, 5]"),
          "operand 0 is not exactly f32[1, 2, 6, 5], as the function's input is");
  REFUSES(f, CALL("stream(%0) {function = \"f\"}", "f32[1, 2, 6, 5]"),
          "more inputs than there are operands");
  REFUSES(f, CALL("stream(%0, %1, %1) {function = \"f\"}", "f32[1, 2, 6, 5]"),
          "operand 2 is one more than the function has inputs");
  REFUSES(f, CALL("stream(%0, %1) {function = \"f\"}", "f32[1, 2, 6, 4]"), "f32[1, 2, 6, 4]");
  REFUSES(f, CALL("blocks(%0, %1) {function = \"f\", rows = 6}", "f32[1, 2, 6, 5]"),
          "function @f has no ?rows; it is for `stream`");
  REFUSES(INPUT SOFTMAX,
          "  %0 = input \"x\" : f32[6, 4]\n  %1 = stream(%0) {function = \"f\"} : f32[6, 4]\n"
          "  return %1\n",
          "function @f has ?rows; it is for `blocks`");
}

TEST(FingerprintsKnowFunctions) {
  stow_diag diag;
  stow_module* a = parse(INPUT SOFTMAX, NODES, &diag);
  stow_module* b = parse(
      INPUT "    %1 = log_softmax(%0) {axis = 1} : f32[?rows, 4]\n    return %1\n", NODES, &diag);
  REQUIRE(a != NULL && b != NULL);
  CHECK(stow_graph_fingerprint(stow_module_graph(a, 0)) !=
        stow_graph_fingerprint(stow_module_graph(b, 0)));
  stow_module_destroy(a);
  stow_module_destroy(b);
}

static stow_status attempt(stow_allocator allocator, void* user) {
  const stow_graph* graph = (const stow_graph*)user;
  stow_graph* simple = NULL;
  stow_string printed;
  stow_status status = stow_graph_simplify(graph, allocator, NULL, &simple);
  if (status == STOW_OK) {
    stow_string_init(&printed, stow_allocator_default());
    CHECK(stow_graph_print(simple, stow_string_writer(&printed)) == STOW_OK);
    CHECK_TEXT(printed.data, "graph @g {\n  function @f {\n" INPUT SOFTMAX "  }\n" NODES "}\n");
    stow_string_free(&printed);
  }
  stow_graph_destroy(simple);
  return status;
}

TEST(CopiesHaveFunctions) {
  stow_diag diag;
  stow_module* module = parse(INPUT SOFTMAX, NODES, &diag);
  REQUIRE(module != NULL);
  CHECK(test_fault_sweep(attempt, stow_module_graph(module, 0)) > 10);
  stow_module_destroy(module);
}

static stow_status attempt_parse(stow_allocator allocator, void* user) {
  stow_module* module = NULL;
  const char* text = (const char*)user;
  stow_status status = stow_module_parse(text, strlen(text), NULL, NULL, allocator, NULL, &module);
  stow_module_destroy(module);
  return status;
}

TEST(EveryAllocationMayFail) {
  char text[] = "graph @g {\n  function @f {\n" INPUT SOFTMAX "  }\n" NODES "}\n";
  CHECK(test_fault_sweep(attempt_parse, text) > 10);
}
