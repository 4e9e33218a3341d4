// Tests of folding: what is folded, what is refused, and what the fold graph holds.
#include <stdio.h>
#include <string.h>

#include "graph/api.h"
#include "rewrite/rewrite_support.h"
#include "support/test.h"

#define FOLDS(text, expected) REWRITES(STOW_REWRITE_FOLD, text, expected)
#define FOLDS_NOTHING(text) LEAVES(STOW_REWRITE_FOLD, text)

#define W4 "{data = [0x1p+0, 0x1p+1, 0x1p+2, 0x1p+3]}"

TEST(WhatDependsOnWeightsAloneIsFolded) {
  FOLDS(
      "graph @g {\n"
      "  %0 = input \"x\" : f32[2, 2]\n"
      "  %1 = param \"w\" " W4
      " : f32[2, 2]\n"
      "  %2 = transpose(%1) : f32[2, 2]\n"
      "  %3 \"folded w\" = sinh(%2) : f32[2, 2]\n"
      "  %4 = matmul(%0, %3) : f32[2, 2]\n"
      "  return %4\n"
      "}\n",
      "graph @g {\n"
      "  %0 = input \"x\" : f32[2, 2]\n"
      "  %1 = param \"folded w\" {folded = true} : f32[2, 2]\n"
      "  %2 = matmul(%0, %1) : f32[2, 2]\n"
      "  return %2\n"
      "}\n");
}

static stow_graph* make_product(bool is_unread) {
  static const float numbers[] = {1, 2, 3, 4};
  stow_graph* graph = NULL;
  stow_dim dims[] = {2, 2};
  stow_type type = stow_type_make(STOW_F32, 2, dims);
  CHECK(stow_graph_create(stow_str_of("g"), NULL, stow_allocator_default(), NULL, &graph) ==
        STOW_OK);
  CHECK(stow_graph_input(graph, "x", &type, NULL, NULL) == STOW_OK);
  stow_call* call = stow_graph_begin(graph, STOW_OP_PARAM);
  stow_call_name(call, 0, stow_str_of("w"));
  stow_call_result_type(call, &type);
  if (is_unread) {
    stowi_graph_call_unread(call, sizeof(numbers));
  } else {
    stow_call_data(call, numbers, sizeof(numbers), false);
  }
  CHECK(stow_call_finish(call, NULL, NULL) == STOW_OK);
  CHECK(stow_graph_add(graph, STOW_OP_SINH, (const stow_value[]){1}, 1, NULL, NULL) == STOW_OK);
  CHECK(stow_graph_add(graph, STOW_OP_MATMUL, (const stow_value[]){0, 2}, 2, NULL, NULL) ==
        STOW_OK);
  CHECK(stow_graph_add_output(graph, 3, NULL) == STOW_OK);
  return graph;
}

TEST(WeightsThatWereNotReadAreFoldedToo) {
  stow_string texts[2];
  for (int i = 0; i < 2; ++i) {
    stow_graph* graph = make_product(i == 1);
    stow_rewritten* rewritten = rewrite_graph(graph, NULL);
    stow_string_init(&texts[i], stow_allocator_default());
    CHECK(stow_graph_print(stow_rewritten_graph(rewritten), stow_string_writer(&texts[i])) ==
          STOW_OK);
    const stow_graph* fold = stow_rewritten_fold_graph(rewritten);
    CHECK(fold != NULL && stowi_graph_has_data(fold, 0));  // copies keep the mark
    stow_rewritten_destroy(rewritten);
    stow_graph_destroy(graph);
  }
  CHECK_TEXT(texts[1].data, texts[0].data);
  stow_string_free(&texts[0]);
  stow_string_free(&texts[1]);
}

static stow_string print_fold_graph(const stow_rewritten* r) {
  stow_string text;
  stow_string_init(&text, stow_allocator_default());
  const stow_graph* graph = stow_rewritten_fold_graph(r);
  if (CHECK(graph != NULL)) {
    CHECK(stow_graph_verify(graph, NULL) == STOW_OK);
    CHECK(stow_graph_print(graph, stow_string_writer(&text)) == STOW_OK);
  }
  return text;
}

// A value without a name is called by its id in the graph that was handed in.
static const char shared[] =
    "graph @g {\n"
    "  %0 = input \"x\" : f32[2, 2]\n"
    "  %1 = param \"w\" " W4
    " : f32[2, 2]\n"
    "  %2 = param \"v\" " W4
    " : f32[2, 2]\n"
    "  %3 = reshape(%0) : f32[2, 2]\n"
    "  %4 = sinh(%1) : f32[2, 2]\n"
    "  %5 = cosh(%4) : f32[2, 2]\n"
    "  %6 = matmul(%3, %5) : f32[2, 2]\n"
    "  %7 = matmul(%6, %2) : f32[2, 2]\n"
    "  return %7\n"
    "}\n";

TEST(TheFoldGraphHasWhatItNeeds) {
  stow_module* module = parse_graph(shared);
  stow_rewrite_options options;
  stow_rewrite_options_init(&options);
  options.off = stow_rewrite_bit(STOW_REWRITE_CSE);
  stow_rewritten* r = rewrite_graph(stow_module_graph(module, 0), &options);
  stow_string text = print_fold_graph(r);
  CHECK_TEXT(text.data,
             "graph @g {\n"
             "  %0 = param \"w\" " W4
             " : f32[2, 2]\n"
             "  %1 = sinh(%0) : f32[2, 2]\n"
             "  %2 \"%5\" = cosh(%1) : f32[2, 2]\n"
             "  return %2\n"
             "}\n");
  const stow_graph* graph = stow_rewritten_graph(r);
  stow_value param = stow_graph_find(graph, stow_str_of("%5"));
  CHECK_U64(stow_rewritten_value(r, 5), param);
  CHECK(stow_rewritten_value(r, 4) == STOW_VALUE_NONE);
  CHECK(stow_rewritten_removed_by(r, 4) == STOW_REWRITE_FOLD);
  CHECK_U64(stow_rewritten_count(r, STOW_REWRITE_FOLD), 1);
  CHECK_TEXT(stow_rewritten_firing(r, 1).nodes.data, "%4 + %5");
  stow_rewritten_info info = {.struct_size = sizeof(info)};
  CHECK(stow_rewritten_describe(r, &info) == STOW_OK);
  CHECK_U64(info.weights_before, 32);
  CHECK_U64(info.weights_after, 32);
  CHECK_U64(info.live_before, 48);
  CHECK_U64(info.live_after, 48);
  stow_string_free(&text);
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
}

// A broadcast of a small constant would be a larger weight, and the peak is elsewhere.
TEST(WhatMakesWeightsLargerForNothingStays) {
  FOLDS_NOTHING(
      "graph @g {\n"
      "  %0 = input \"x\" : f32[2, 2]\n"
      "  %1 = constant \"c\" {data = [0x1p+0]} : f32[1]\n"
      "  %2 = constant \"shape\" {data = [64, 2]} : i64[2]\n"
      "  %3 = sinh(%1) : f32[1]\n"
      "  %4 = expand(%3, %2) : f32[64, 2]\n"
      "  %5 = matmul(%4, %0) : f32[64, 2]\n"
      "  %6 = matmul(%5, %0) : f32[64, 2]\n"
      "  return %6\n"
      "}\n");
}

// A weight that becomes larger is folded if the peak shrinks by more.
TEST(ThePeakMayMoveIntoTheWeights) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[1, 4]\n"
      "  %1 = param \"w\" {data = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]} "
      ": i8[4, 4]\n"
      "  %2 \"wide\" = cast(%1) : f32[4, 4]\n"
      "  %3 \"deep\" = sinh(%2) : f32[4, 4]\n"
      "  %4 = matmul(%0, %3) : f32[1, 4]\n"
      "  return %4\n"
      "}\n";
  stow_module* module = parse_graph(text);
  stow_rewrite_options options;
  stow_rewrite_options_init(&options);
  options.fold_limit = 4.0;
  stow_rewritten* r = rewrite_graph(stow_module_graph(module, 0), &options);
  CHECK_U64(stow_rewritten_count(r, STOW_REWRITE_FOLD), 1);
  stow_rewritten_destroy(r);
  options.fold_limit = 3.9;  // 64 bytes instead of 16
  r = rewrite_graph(stow_module_graph(module, 0), &options);
  CHECK_U64(stow_rewritten_count(r, STOW_REWRITE_FOLD), 0);
  stow_rewritten_destroy(r);
  options.fold_limit = 0.5;
  CHECK(stow_rewrite(stow_module_graph(module, 0), &options, stow_allocator_default(), NULL, &r) ==
        STOW_ERR_INVALID_ARGUMENT);
  stow_module_destroy(module);
}

TEST(WhatMustNotBeFoldedStays) {
  static const char* const nodes[] = {
      "random_normal(%1) : f32[2, 2]",
      "bernoulli(%1) : f32[2, 2]",
      "custom(%1) {name = \"mine\"} : f32[2, 2]",
      "sinh(%1) : f32[2, 2] with {align = 128}",
      "reshape(%1) : f32[2, 2]",  // a view needs no bytes
      "sinh(%0) : f32[2, 2]",     // of an input
      "sinh(%2) : f32[2, 2]",     // of a weight without data
      "sinh(%3) : f32[2, 2]",     // of state
      "matmul(%1, %0) : f32[2, 2]",
  };
  for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); ++i) {
    char text[600];
    snprintf(text, sizeof(text),
             "graph @g {\n  %%0 = input \"x\" : f32[2, 2]\n  %%1 = param \"w\" " W4
             " : f32[2, 2]\n  %%2 = param \"v\" : f32[2, 2]\n  %%3 = param \"s\" " W4
             " : f32[2, 2] with {state = true}\n  %%4 = %s\n"
             "  %%5 = add(%%4, %%0) : f32[2, 2]\n  return %%5\n}\n",
             nodes[i]);
    FOLDS_NOTHING(text);
  }
  FOLDS_NOTHING("graph @g {\n  %0 = param \"w\" " W4
                " : f32[4]\n  %1 \"y\" = sinh(%0) : f32[4]\n  return %1\n}\n");
}

// Types depend on numbers that are known.
TEST(KnownNumbersStay) {
  FOLDS_NOTHING(
      "graph @g {\n"
      "  %0 = input \"x\" : f32[4, 2]\n"
      "  %1 = constant \"a\" {data = [2]} : i64[1]\n"
      "  %2 = add(%1, %1) : i64[1]\n"
      "  %3 = concat(%1, %2) : i64[2]\n"
      "  %4 = reshape(%0, %3) : f32[2, 4]\n"
      "  return %4\n"
      "}\n");
}

TEST(NodesOfRegionsAreFolded) {
  FOLDS(
      "graph @g {\n"
      "  %0 = input \"c\" : bool[]\n"
      "  %1 = input \"x\" : f32[4]\n"
      "  %2 = param \"w\" " W4
      " : f32[4]\n"
      "  %7 = if(%0) {\n"
      "    %3 = sinh(%2) : f32[4]\n"
      "    %4 = add(%1, %3) : f32[4]\n"
      "    yield %4\n"
      "  } else {\n"
      "    %5 = cosh(%1) : f32[4]\n"
      "    %6 = exp(%5) : f32[4]\n"
      "    yield %6\n"
      "  } : f32[4]\n"
      "  return %7\n"
      "}\n",
      "graph @g {\n"
      "  %0 = param \"%3\" {folded = true} : f32[4]\n"
      "  %1 = input \"c\" : bool[]\n"
      "  %2 = input \"x\" : f32[4]\n"
      "  %6 = if(%1) {\n"
      "    %3 = add(%2, %0) : f32[4]\n"
      "    yield %3\n"
      "  } else {\n"
      "    %4 = cosh(%2) : f32[4]\n"
      "    %5 = exp(%4) : f32[4]\n"
      "    yield %5\n"
      "  } : f32[4]\n"
      "  return %6\n"
      "}\n");
}

TEST(FoldingSurvivesLackOfMemory) { CHECK(rewrite_with_faults(shared, NULL) > 50); }
