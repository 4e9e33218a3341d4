// Tests of the exact rules that need no numbers: when they fire, and when they must not.
#include <stdio.h>
#include <string.h>

#include "rewrite/rewrite_support.h"
#include "support/struct_size.h"
#include "support/test.h"

// ---------------------------------------------------------------------------------------------
// Identities

TEST(ReshapesThatChangeNothingGo) {
  REWRITES(STOW_REWRITE_IDENTITIES,
           "graph @g {\n"
           "  %0 = input \"x\" : f32[2, 3]\n"
           "  %1 = relu(%0) : f32[2, 3]\n"
           "  %2 = reshape(%1) : f32[2, 3]\n"
           "  %3 = exp(%2) : f32[2, 3]\n"
           "  return %3\n"
           "}\n",
           "graph @g {\n"
           "  %0 = input \"x\" : f32[2, 3]\n"
           "  %1 = relu(%0) : f32[2, 3]\n"
           "  %2 = exp(%1) : f32[2, 3]\n"
           "  return %2\n"
           "}\n");
}

TEST(EveryKindOfIdentityGoes) {
  static const char* const nodes[] = {
      "cast(%1) : f32[2, 3]",
      "transpose(%1) {perm = [0, 1]} : f32[2, 3]",
      "expand(%1) : f32[2, 3]",
      "tile(%1) {repeats = [1, 1]} : f32[2, 3]",
      "concat(%1) : f32[2, 3]",
      "pad(%1) {pads = [0, 0, 0, 0]} : f32[2, 3]",
      "narrow(%1) {axis = 1, start = 0, len = 3} : f32[2, 3]",
      "slice(%1) {starts = [0], ends = [3], axes = [1]} : f32[2, 3]",
  };
  for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); ++i) {
    char text[512];
    snprintf(text, sizeof(text),
             "graph @g {\n  %%0 = input \"x\" : f32[2, 3]\n  %%1 = relu(%%0) : f32[2, 3]\n"
             "  %%2 = %s\n  %%3 = exp(%%2) : f32[2, 3]\n  return %%3\n}\n",
             nodes[i]);
    REWRITES(STOW_REWRITE_IDENTITIES, text,
             "graph @g {\n"
             "  %0 = input \"x\" : f32[2, 3]\n"
             "  %1 = relu(%0) : f32[2, 3]\n"
             "  %2 = exp(%1) : f32[2, 3]\n"
             "  return %2\n"
             "}\n");
  }
}

TEST(NodesThatChangeSomethingStay) {
  static const char* const nodes[] = {
      "cast(%1) : f16[2, 2]",
      "transpose(%1) : f32[2, 2]",
      "pad(%1) {pads = [1, 0, -1, 0]} : f32[2, 2]",
      "slice(%1) {starts = [-1], ends = [-3], axes = [1], steps = [-1]} : f32[2, 2]",
      "relu(%1) : f32[2, 2]",
      "concat(%1, %0) : f32[4, 2]",
      "reshape(%1) : f32[2, 2] with {align = 128}",
      "reshape(%1) : f32[4]",
      "custom(%1) {name = \"same\"} : f32[2, 2]",
      "dropout(%1) : f32[2, 2]",
  };
  for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); ++i) {
    char text[512];
    snprintf(text, sizeof(text),
             "graph @g {\n  %%0 = input \"x\" : f32[2, 2]\n  %%1 = relu(%%0) : f32[2, 2]\n"
             "  %%2 = %s\n  return %%2\n}\n",
             nodes[i]);
    LEAVES(STOW_REWRITE_IDENTITIES, text);
  }
}

// The operand before them is what is padded with.
// An output that is a copy of a part would keep all of it as a view.
TEST(CopiesOfPartsThatAreOutputsStay) {
#define PART(last, output)                                         \
  "graph @g {\n"                                                   \
  "  %0 = input \"x\" : f32[64, 3]\n"                              \
  "  %1 = relu(%0) : f32[64, 3]\n"                                 \
  "  %2 = narrow(%1) {axis = 0, start = 1, len = 1} : f32[1, 3]\n" \
  "  %3 = expand(%2) : f32[1, 3]\n" last "  return " output        \
  "\n"                                                             \
  "}\n"
  LEAVES(STOW_REWRITE_IDENTITIES, PART("", "%3"));
  REWRITES(STOW_REWRITE_IDENTITIES, PART("  %4 = exp(%3) : f32[1, 3]\n", "%4"),
           "graph @g {\n"
           "  %0 = input \"x\" : f32[64, 3]\n"
           "  %1 = relu(%0) : f32[64, 3]\n"
           "  %2 = narrow(%1) {axis = 0, start = 1, len = 1} : f32[1, 3]\n"
           "  %3 = exp(%2) : f32[1, 3]\n"
           "  return %3\n"
           "}\n");
#undef PART
}

TEST(PadsMayBeAnOperand) {
#define PADDED(pads)                                \
  "graph @g {\n"                                    \
  "  %0 = input \"x\" : i32[2, 2]\n"                \
  "  %1 = relu(%0) : i32[2, 2]\n"                   \
  "  %2 = constant \"zero\" {data = [0]} : i32[]\n" \
  "  %3 = constant \"pads\" {data = [" pads         \
  "]} : i64[4]\n"                                   \
  "  %4 = pad(%1, %2, %3) : i32[2, 2]\n"            \
  "  %5 = neg(%4) : i32[2, 2]\n"                    \
  "  return %5\n"                                   \
  "}\n"
  LEAVES(STOW_REWRITE_IDENTITIES, PADDED("1, 0, -1, 0"));
  REWRITES(STOW_REWRITE_IDENTITIES, PADDED("0, 0, 0, 0"),
           "graph @g {\n"
           "  %0 = input \"x\" : i32[2, 2]\n"
           "  %1 = relu(%0) : i32[2, 2]\n"
           "  %2 = constant \"zero\" {data = [0]} : i32[]\n"
           "  %3 = constant \"pads\" {data = [0, 0, 0, 0]} : i64[4]\n"
           "  %4 = neg(%1) : i32[2, 2]\n"
           "  return %4\n"
           "}\n");
}

// Not even where the numbers say so: -0 + 0 is 0, and NaN × 1 may be another NaN.
TEST(ArithmeticIsNotAnIdentity) {
  LEAVES(STOW_REWRITE_IDENTITIES,
         "graph @g {\n"
         "  %0 = input \"x\" : f32[2]\n"
         "  %1 = constant \"zero\" {data = [0x0p+0]} : f32[1]\n"
         "  %2 = constant \"one\" {data = [0x1p+0]} : f32[1]\n"
         "  %3 = add(%0, %1) : f32[2]\n"
         "  %4 = mul(%3, %2) : f32[2]\n"
         "  %5 = cast(%4) : f16[2]\n"
         "  %6 = cast(%5) : f32[2]\n"
         "  return %6\n"
         "}\n");
}

TEST(OutputsKeepTheirNames) {
  REWRITES(STOW_REWRITE_IDENTITIES,
           "graph @g {\n"
           "  %0 = input \"x\" : f32[2]\n"
           "  %1 \"inner\" = relu(%0) : f32[2]\n"
           "  %2 \"y\" = reshape(%1) : f32[2]\n"
           "  return %2\n"
           "}\n",
           "graph @g {\n"
           "  %0 = input \"x\" : f32[2]\n"
           "  %1 \"y\" = relu(%0) : f32[2]\n"
           "  return %1\n"
           "}\n");
  // Another output, an input and a weight have names of their own.
  LEAVES(STOW_REWRITE_IDENTITIES,
         "graph @g {\n"
         "  %0 = input \"x\" : f32[2]\n"
         "  %1 \"inner\" = relu(%0) : f32[2]\n"
         "  %2 \"y\" = reshape(%1) : f32[2]\n"
         "  %3 = param \"w\" : f32[2]\n"
         "  %4 \"z\" = reshape(%3) : f32[2]\n"
         "  %5 \"u\" = reshape(%0) : f32[2]\n"
         "  return %2, %1, %4, %5\n"
         "}\n");
}

TEST(TransposesOfTransposesBecomeOne) {
  REWRITES(STOW_REWRITE_IDENTITIES,
           "graph @g {\n"
           "  %0 = input \"x\" : f32[2, 3, 4]\n"
           "  %1 = transpose(%0) {perm = [1, 0, 2]} : f32[3, 2, 4]\n"
           "  %2 = transpose(%1) {perm = [0, 2, 1]} : f32[3, 4, 2]\n"
           "  %3 = relu(%2) : f32[3, 4, 2]\n"
           "  return %3\n"
           "}\n",
           "graph @g {\n"
           "  %0 = input \"x\" : f32[2, 3, 4]\n"
           "  %1 = transpose(%0) {perm = [1, 0, 2]} : f32[3, 2, 4]\n"
           "  %2 = transpose(%0) {perm = [1, 2, 0]} : f32[3, 4, 2]\n"
           "  %3 = relu(%2) : f32[3, 4, 2]\n"
           "  return %3\n"
           "}\n");
  REWRITES(STOW_REWRITE_IDENTITIES,
           "graph @g {\n"
           "  %0 = input \"x\" : f32[2, 3, 4]\n"
           "  %1 = transpose(%0) : f32[4, 3, 2]\n"
           "  %2 = transpose(%1) : f32[2, 3, 4]\n"
           "  %3 = relu(%2) : f32[2, 3, 4]\n"
           "  return %3, %1\n"
           "}\n",
           "graph @g {\n"
           "  %0 = input \"x\" : f32[2, 3, 4]\n"
           "  %1 = transpose(%0) : f32[4, 3, 2]\n"
           "  %2 = relu(%0) : f32[2, 3, 4]\n"
           "  return %2, %1\n"
           "}\n");
}

// Both operands would be live.
TEST(ATransposeThatOthersReadStaysBetween) {
  LEAVES(STOW_REWRITE_IDENTITIES,
         "graph @g {\n"
         "  %0 = input \"x\" : f32[2, 3, 4]\n"
         "  %1 = relu(%0) : f32[2, 3, 4]\n"
         "  %2 = transpose(%1) {perm = [1, 0, 2]} : f32[3, 2, 4]\n"
         "  %3 = transpose(%2) {perm = [0, 2, 1]} : f32[3, 4, 2]\n"
         "  %4 = transpose(%2) {perm = [1, 0, 2]} : f32[2, 3, 4]\n"
         "  return %3, %4\n"
         "}\n");
}

TEST(ReshapesOfReshapesBecomeOne) {
  REWRITES(STOW_REWRITE_IDENTITIES,
           "graph @g {\n"
           "  %0 = input \"x\" : f32[2, 3, 4]\n"
           "  %1 = flatten(%0) : f32[2, 12]\n"
           "  %2 = unsqueeze(%1) {axes = [0]} : f32[1, 2, 12]\n"
           "  %3 = relu(%2) : f32[1, 2, 12]\n"
           "  return %3\n"
           "}\n",
           "graph @g {\n"
           "  %0 = input \"x\" : f32[2, 3, 4]\n"
           "  %1 = flatten(%0) : f32[2, 12]\n"
           "  %2 = reshape(%0) : f32[1, 2, 12]\n"
           "  %3 = relu(%2) : f32[1, 2, 12]\n"
           "  return %3\n"
           "}\n");
}

// What an op writes into has bytes of its own.
TEST(CopiesThatAreWrittenIntoStay) {
  LEAVES(STOW_REWRITE_IDENTITIES,
         "graph @g {\n"
         "  %0 = input \"cache\" : f32[4, 2]\n"
         "  %1 = input \"new\" : f32[1, 2]\n"
         "  %2 = expand(%0) : f32[4, 2]\n"
         "  %3 = kv_append(%2, %1) {axis = 0} : f32[4, 2]\n"
         "  return %3, %0\n"
         "}\n");
}

TEST(IdentitiesInRegionsGo) {
  REWRITES(STOW_REWRITE_IDENTITIES,
           "graph @g {\n"
           "  %0 = input \"c\" : bool[]\n"
           "  %1 = input \"x\" : f32[2]\n"
           "  %6 = if(%0) {\n"
           "    %2 = exp(%1) : f32[2]\n"
           "    %3 = reshape(%2) : f32[2]\n"
           "    %4 = relu(%3) : f32[2]\n"
           "    yield %4\n"
           "  } else {\n"
           "    %5 = reshape(%1) : f32[2]\n"
           "    yield %5\n"
           "  } : f32[2]\n"
           "  return %6\n"
           "}\n",
           "graph @g {\n"
           "  %0 = input \"c\" : bool[]\n"
           "  %1 = input \"x\" : f32[2]\n"
           "  %5 = if(%0) {\n"
           "    %2 = exp(%1) : f32[2]\n"
           "    %3 = relu(%2) : f32[2]\n"
           "    yield %3\n"
           "  } else {\n"
           "    %4 = reshape(%1) : f32[2]\n"
           "    yield %4\n"
           "  } : f32[2]\n"
           "  return %5\n"
           "}\n");
}

// ---------------------------------------------------------------------------------------------
// Common subexpressions

TEST(NodesThatComputeTheSameBecomeOne) {
  REWRITES(STOW_REWRITE_CSE,
           "graph @g {\n"
           "  %0 = input \"x\" : f32[2, 2]\n"
           "  %1 = constant \"a\" {data = [0x1p+0]} : f32[1]\n"
           "  %2 = constant \"b\" {data = [0x1p+0]} : f32[1]\n"
           "  %3 = add(%0, %1) : f32[2, 2]\n"
           "  %4 = add(%0, %2) : f32[2, 2]\n"
           "  %5 = softmax(%3) {axis = 0} : f32[2, 2]\n"
           "  %6 = softmax(%4) {axis = 0} : f32[2, 2]\n"
           "  %7 \"y\" = mul(%5, %6) : f32[2, 2]\n"
           "  return %7\n"
           "}\n",
           "graph @g {\n"
           "  %0 = input \"x\" : f32[2, 2]\n"
           "  %1 = constant \"a\" {data = [0x1p+0]} : f32[1]\n"
           "  %2 = add(%0, %1) : f32[2, 2]\n"
           "  %3 = add(%0, %1) : f32[2, 2]\n"  // dead
           "  %4 = softmax(%2) {axis = 0} : f32[2, 2]\n"
           "  %5 \"y\" = mul(%4, %4) : f32[2, 2]\n"
           "  return %5\n"
           "}\n");
}

// A result that takes the place of an operand which both read.
TEST(ResultsAreKeptInsteadOfOperands) {
  REWRITES(STOW_REWRITE_CSE,
           "graph @g {\n"
           "  %0 = input \"x\" : f32[2]\n"
           "  %1 = relu(%0) : f32[2]\n"
           "  %2 = exp(%1) : f32[2]\n"
           "  %3 \"y\" = sinh(%2) : f32[2]\n"
           "  %4 = exp(%1) : f32[2]\n"
           "  %5 \"z\" = cosh(%4) : f32[2]\n"
           "  return %3, %5\n"
           "}\n",
           "graph @g {\n"
           "  %0 = input \"x\" : f32[2]\n"
           "  %1 = relu(%0) : f32[2]\n"
           "  %2 = exp(%1) : f32[2]\n"
           "  %3 \"y\" = sinh(%2) : f32[2]\n"
           "  %4 \"z\" = cosh(%2) : f32[2]\n"
           "  return %3, %4\n"
           "}\n");
}

// Between its readers a copy of what is there anyway would be live.
TEST(WhatCanBeComputedAgainIsNotKept) {
  LEAVES(STOW_REWRITE_CSE,
         "graph @g {\n"
         "  %0 = input \"x\" : f32[2]\n"
         "  %1 = exp(%0) : f32[2]\n"
         "  %2 \"y\" = sinh(%1) : f32[2]\n"
         "  %3 = exp(%0) : f32[2]\n"
         "  %4 \"z\" = cosh(%3) : f32[2]\n"
         "  return %2, %4\n"
         "}\n");
}

TEST(NodesThatDifferStay) {
  LEAVES(STOW_REWRITE_CSE,
         "graph @g {\n"
         "  %0 = input \"x\" : f32[2, 2]\n"
         "  %1 = input \"y\" : f32[2, 2]\n"
         "  %2 = constant \"zero\" {data = [0x0p+0]} : f32[1]\n"
         "  %3 = constant \"minus zero\" {data = [-0x0p+0]} : f32[1]\n"
         "  %4 = add(%0, %2) : f32[2, 2]\n"
         "  %5 = add(%0, %3) : f32[2, 2]\n"
         "  %6 = sub(%0, %1) : f32[2, 2]\n"
         "  %7 = sub(%1, %0) : f32[2, 2]\n"
         "  %8 = softmax(%0) {axis = 0} : f32[2, 2]\n"
         "  %9 = softmax(%0) : f32[2, 2]\n"
         "  %10 = random_normal(%0) : f32[2, 2]\n"
         "  %11 = random_normal(%0) : f32[2, 2]\n"
         "  %12 = custom(%0) {name = \"log\"} : f32[2, 2]\n"
         "  %13 = custom(%0) {name = \"log\"} : f32[2, 2]\n"
         "  %14 = relu(%0) : f32[2, 2]\n"
         "  %15 = relu(%0) : f32[2, 2] with {align = 256}\n"
         "  %16 = exp(%0) : f32[2, 2]\n"
         "  %17 = exp(%0) : f32[2, 2]\n"
         "  return %16, %17\n"
         "}\n");
}

TEST(BranchesDoNotSeeEachOther) {
  REWRITES(STOW_REWRITE_CSE,
           "graph @g {\n"
           "  %0 = input \"c\" : bool[]\n"
           "  %1 = input \"x\" : f32[2]\n"
           "  %2 = unsqueeze(%1) {axes = [0]} : f32[1, 2]\n"
           "  %9 = if(%0) {\n"
           "    %3 = unsqueeze(%1) {axes = [0]} : f32[1, 2]\n"
           "    %4 = relu(%3) : f32[1, 2]\n"
           "    %5 = neg(%4) : f32[1, 2]\n"
           "    yield %5\n"
           "  } else {\n"
           "    %6 = unsqueeze(%1) {axes = [0]} : f32[1, 2]\n"
           "    %7 = relu(%6) : f32[1, 2]\n"
           "    %8 = abs(%7) : f32[1, 2]\n"
           "    yield %8\n"
           "  } : f32[1, 2]\n"
           "  return %9, %2\n"
           "}\n",
           "graph @g {\n"
           "  %0 = input \"c\" : bool[]\n"
           "  %1 = input \"x\" : f32[2]\n"
           "  %2 = unsqueeze(%1) {axes = [0]} : f32[1, 2]\n"
           "  %7 = if(%0) {\n"
           "    %3 = relu(%2) : f32[1, 2]\n"
           "    %4 = neg(%3) : f32[1, 2]\n"
           "    yield %4\n"
           "  } else {\n"
           "    %5 = relu(%2) : f32[1, 2]\n"
           "    %6 = abs(%5) : f32[1, 2]\n"
           "    yield %6\n"
           "  } : f32[1, 2]\n"
           "  return %7, %2\n"
           "}\n");
}

// ---------------------------------------------------------------------------------------------
// Dead nodes

TEST(NodesThatNoOutputNeedsGo) {
  REWRITES(STOW_REWRITE_DEAD,
           "graph @g {\n"
           "  %0 = input \"x\" : f32[2]\n"
           "  %1 = input \"unused\" : f32[2]\n"
           "  %2 = param \"w\" : f32[2]\n"
           "  %3 = exp(%2) : f32[2]\n"
           "  %4 = random_normal(%0) : f32[2]\n"
           "  return %4\n"
           "}\n",
           "graph @g {\n"
           "  %0 = input \"x\" : f32[2]\n"
           "  %1 = input \"unused\" : f32[2]\n"
           "  %2 = random_normal(%0) : f32[2] with {seed = 4}\n"
           "  return %2\n"
           "}\n");
}

TEST(WritesThatTheCallerSeesStay) {
  LEAVES(STOW_REWRITE_DEAD,
         "graph @g {\n"
         "  %0 = input \"cache\" : f32[4, 2]\n"
         "  %1 = input \"new\" : f32[1, 2]\n"
         "  %2 = kv_append(%0, %1) {axis = 0} : f32[4, 2]\n"
         "  %3 = relu(%1) : f32[1, 2]\n"
         "  return %3\n"
         "}\n");
}

// ---------------------------------------------------------------------------------------------
// All together

static const char mixed[] =
    "graph @g {\n"
    "  %0 = input \"x\" : f32[2, 3]\n"
    "  %1 \"a\" = transpose(%0) : f32[3, 2]\n"
    "  %2 = transpose(%1) : f32[2, 3]\n"
    "  %3 \"b\" = relu(%2) : f32[2, 3]\n"
    "  %4 \"c\" = relu(%0) : f32[2, 3]\n"
    "  %5 \"d\" = random_uniform(%0) : f32[2, 3]\n"
    "  %6 \"y\" = mul(%3, %4) : f32[2, 3]\n"
    "  return %6, %5\n"
    "}\n";

TEST(RulesGoOnUntilNoneFires) {
  stow_module* module = parse_graph(mixed);
  stow_rewritten* r = rewrite_graph(stow_module_graph(module, 0), NULL);
  const stow_graph* graph = stow_rewritten_graph(r);
  CHECK_U64(stow_graph_node_count(graph), 4);
  CHECK_U64(stow_rewritten_count(r, STOW_REWRITE_IDENTITIES), 1);
  CHECK_U64(stow_rewritten_count(r, STOW_REWRITE_CSE), 1);
  CHECK_U64(stow_rewritten_count(r, STOW_REWRITE_DEAD), 1);
  CHECK_U64(stow_rewritten_value(r, 6), 3);
  CHECK_U64(stow_rewritten_value(r, 2), 0);  // the same elements
  CHECK_U64(stow_rewritten_value(r, 4), stow_rewritten_value(r, 3));
  CHECK_U64(stow_rewritten_value(r, 1), STOW_VALUE_NONE);
  CHECK_U64(stow_rewritten_value(r, 99), STOW_VALUE_NONE);
  CHECK(stow_rewritten_removed_by(r, 1) == STOW_REWRITE_DEAD);
  CHECK(stow_rewritten_removed_by(r, 2) == STOW_REWRITE_RULE_COUNT);
  CHECK_TEXT(stow_rewritten_firing(r, 0).nodes.data, "a + %2");
  CHECK_TEXT(stow_rewritten_firing(r, 1).nodes.data, "b + c");
  CHECK(stow_rewritten_firing(r, 2).rule == STOW_REWRITE_DEAD);
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
}

TEST(OutputsKeepTheirNamesThroughSeveralRules) {
  stow_module* module = parse_graph(
      "graph @g {\n"
      "  %0 = input \"x\" : f32[2]\n"
      "  %1 \"a\" = unsqueeze(%0) {axes = [0]} : f32[1, 2]\n"
      "  %2 \"b\" = unsqueeze(%0) {axes = [0]} : f32[1, 2]\n"
      "  %3 \"y\" = reshape(%2) : f32[1, 2]\n"
      "  %4 \"z\" = exp(%1) : f32[1, 2]\n"
      "  return %3, %4\n"
      "}\n");
  stow_rewritten* r = rewrite_graph(stow_module_graph(module, 0), NULL);
  const stow_graph* graph = stow_rewritten_graph(r);
  CHECK_U64(stow_graph_node_count(graph), 3);
  CHECK_TEXT(stow_graph_value_name(graph, stow_graph_outputs(graph)[0]).data, "y");
  CHECK_U64(stow_rewritten_value(r, 1), stow_graph_outputs(graph)[0]);
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
}

TEST(StampsSayHowAGraphWasRewritten) {
  stow_module* module = parse_graph(mixed);
  stow_rewrite_options options, read;
  stow_rewrite_options_init(&options);
  stow_rewrite_options_init(&read);
  options.off |= stow_rewrite_bit(STOW_REWRITE_CSE);
  options.fold_limit = 1.25;
  stow_rewritten* r = rewrite_graph(stow_module_graph(module, 0), &options);
  char stamp[STOW_REWRITE_STAMP_SIZE];
  stow_rewritten_stamp(r, stamp);
  CHECK_TEXT(stamp,
             "v6 identities=1 cse=off dead=1 fold=0 blocks=0 products=0 columns=0 qdq=0 norms=off "
             "repeats=0 transposes=0 parts=0 fold_limit=1.25");
  CHECK(stow_rewrite_read_stamp(stow_str_of(stamp), NULL, &read) == STOW_OK);
  CHECK_U64(read.off, options.off);
  CHECK(read.fold_limit == options.fold_limit);
  CHECK(stow_rewrite_read_stamp(stow_str_of("v6 norms=3 qdq=off"), NULL, &read) == STOW_OK);
  CHECK_U64(read.off, stow_rewrite_bit(STOW_REWRITE_QDQ));
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
}

TEST(OtherStampsAreRefused) {
  static const char* const texts[] = {"",
                                      "v",
                                      "x1",
                                      "1 cse=1",
                                      "v6 cse",
                                      "v6 cse=",
                                      "v6 cse=many",
                                      "v6 magic=1",
                                      "v6 fold_limit=0.5",
                                      "v6 fold_limit=1.2345",
                                      "v6 fold_limit=2.",
                                      "v6 fold_limit=2000000000",
                                      "v6  cse=1"};
  stow_rewrite_options options;
  stow_diag diag;
  stow_rewrite_options_init(&options);
  stow_diag_init(&diag);
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
    stow_status status = stow_rewrite_read_stamp(stow_str_of(texts[i]), &diag, &options);
    test_check(status == STOW_ERR_SYNTAX, __FILE__, __LINE__, "'%s': %d", texts[i], (int)status);
  }
  CHECK(stow_rewrite_read_stamp(stow_str_of("v9 cse=1"), &diag, &options) == STOW_ERR_STALE_PLAN);
  CHECK_TEXT(diag.message, "the graph was rewritten by version 9 of the rules; this is version 6");
}

TEST(StructsOfOlderCallersAreFilledAsFarAsTheyGo) {
  stow_module* module = parse_graph(mixed);
  stow_rewritten* r = rewrite_graph(stow_module_graph(module, 0), NULL);
  CHECK_EVERY_SIZE(stow_rewritten_info, sizeof(size_t),
                   CHECK(stow_rewritten_describe(r, out) == STOW_OK));
  CHECK_EVERY_SIZE(stow_rewrite_options, sizeof(size_t), stow_rewrite_options_defaults(out));
  CHECK_EVERY_SIZE(stow_rewrite_options, sizeof(size_t),
                   CHECK(stow_rewrite_read_stamp(stow_str_of("v6"), NULL, out) == STOW_OK));
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
}

TEST(RulesHaveNames) {
  stow_rewrite_rule rule;
  for (int i = 0; i < STOW_REWRITE_RULE_COUNT; ++i) {
    const char* name = stow_rewrite_rule_name((stow_rewrite_rule)i);
    CHECK(stow_rewrite_rule_find(stow_str_of(name), &rule) && rule == (stow_rewrite_rule)i);
    CHECK(strlen(stow_rewrite_rule_summary((stow_rewrite_rule)i)) > 1);
  }
  CHECK(!stow_rewrite_rule_find(stow_str_of("none"), &rule));
  CHECK_TEXT(stow_rewrite_rule_name(STOW_REWRITE_RULE_COUNT), "?");
}

TEST(NearRulesAreOffUnlessTheModelIsQuantised) {
  stow_rewrite_options options;
  stow_rewrite_options_init(&options);
  for (int i = 0; i < STOW_REWRITE_RULE_COUNT; ++i) {
    stow_rewrite_rule rule = (stow_rewrite_rule)i;
    bool is_off = stow_rewrite_rule_is_near(rule) && rule != STOW_REWRITE_QDQ;
    CHECK((options.off & stow_rewrite_bit(rule)) == (is_off ? stow_rewrite_bit(rule) : 0));
  }
  CHECK(stow_rewrite_rule_is_near(STOW_REWRITE_QDQ));
  CHECK(!stow_rewrite_rule_is_near(STOW_REWRITE_FOLD));
  CHECK(!stow_rewrite_rule_is_near(STOW_REWRITE_RULE_COUNT));
}

// Of 2^66 and of 2^62 bytes: sizes of rows and blocks would be more than fits.
TEST(HugeGraphsStay) {
  static const char* const dims[] = {"4294967296, 4294967296", "1073741824, 1073741824"};
  for (size_t i = 0; i < 2; ++i) {
    char text[512];
    snprintf(text, sizeof(text),
             "graph @g {\n  %%0 = input \"x\" : f32[%s]\n  %%1 = sigmoid(%%0) : f32[%s]\n"
             "  %%2 = mul(%%0, %%1) : f32[%s]\n  %%3 = softmax(%%2) : f32[%s]\n  return %%3\n}\n",
             dims[i], dims[i], dims[i], dims[i]);
    stow_module* module = parse_graph(text);
    stow_rewritten* r = rewrite_graph(stow_module_graph(module, 0), NULL);
    CHECK(stow_rewritten_graph(r) == stow_module_graph(module, 0));
    stow_rewritten_destroy(r);
    stow_module_destroy(module);
  }
}

TEST(SymbolsMustHaveValues) {
  stow_module* module = parse_graph(
      "graph @g {\n  %0 = input \"x\" : f32[?n]\n  %1 = relu(%0) : f32[?n]\n  return %1\n}\n");
  stow_rewritten* r = NULL;
  CHECK(stow_rewrite(stow_module_graph(module, 0), NULL, stow_allocator_default(), NULL, &r) ==
        STOW_ERR_UNBOUND_DIM);
  CHECK(r == NULL);
  stow_module_destroy(module);
}

TEST(RewritingSurvivesLackOfMemory) { CHECK(rewrite_with_faults(mixed, NULL) > 20); }
