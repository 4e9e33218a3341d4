// Tests of the rule `norms`: which nodes vanish in weights, with which numbers, and which must not.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/rewrite_support.h"
#include "rewrite/run_text.h"
#include "support/test.h"

#define PARAMS                                                             \
  "  %1 = param \"scale\" {data = [0x1.8p+0, -0x1p-1, 0x1p+1]} : f32[3]\n" \
  "  %2 = param \"shift\" {data = [0x1p-2, 0x1p+0, -0x1.4p+0]} : f32[3]\n" \
  "  %3 = param \"mean\" {data = [0x1p-1, -0x1p-3, 0x1.1p+0]} : f32[3]\n"  \
  "  %4 = param \"var\" {data = [0x1p-2, 0x1.3p+1, 0x1p-6]} : f32[3]\n"    \
  "  %5 = param \"bias\" {data = [-0x1p-1, 0x1.7p+0, 0x1p-4]} : f32[3]\n"  \
  "  %6 = param \"w\" {data = [0x1p-1, -0x1p+0, 0x1.1p-1, 0x1.cp-2, 0x1p+1, -0x1p-3]} : "
#define CONV_HEAD \
  "graph @g {\n"  \
  "  %0 = input \"x\" : f32[1, 2, 4, 4]\n" PARAMS "f32[3, 2, 1, 1]\n"
#define TURNED_HEAD \
  "graph @g {\n"    \
  "  %0 = input \"x\" : f32[1, 2, 4, 4]\n" PARAMS "f32[2, 3, 1, 1]\n"
#define MATRIX_HEAD \
  "graph @g {\n"    \
  "  %0 = input \"x\" : f32[5, 2]\n" PARAMS "f32[2, 3]\n"
#define NORM(type) "  %8 = batch_norm(%7, %1, %2, %3, %4) {epsilon = 0.5} : f32" type "\n"
#define MAP "[1, 3, 4, 4]"

typedef struct example {
  const char* text;
  stow_op op;  // that is left beside weights
  size_t firings;
} example;

static stow_rewritten* rewrite_near(const stow_graph* graph) {
  stow_rewrite_options options;
  stow_rewrite_options_init(&options);
  options.off = 0;
  return rewrite_graph(graph, &options);
}

static void check_numbers(const stow_graph* graph, const stow_rewritten* r, const char* text) {
  static run_output before, after;
  run_first_output(graph, NULL, 7, &before);
  run_first_output(graph, r, 7, &after);
  CHECK(before.count == after.count && before.count != 0);
  for (size_t i = 0; i < before.count; ++i) {
    float a, b;
    memcpy(&a, before.data + i * sizeof(a), sizeof(a));
    memcpy(&b, after.data + i * sizeof(b), sizeof(b));
    test_check(fabsf(a - b) <= 1e-5F * (1 + fabsf(a)), __FILE__, __LINE__, "%g, not %g:\n%s",
               (double)b, (double)a, text);
  }
}

static void check_fires(const example* e) {
  stow_module* module = parse_graph(e->text);
  const stow_graph* graph = stow_module_graph(module, 0);
  stow_rewritten* r = rewrite_near(graph);
  const stow_graph* made = stow_rewritten_graph(r);
  CHECK(stow_graph_verify(made, NULL) == STOW_OK);
  size_t computed = 0;
  for (stow_node node = 0; node < stow_graph_node_count(made); ++node) {
    stow_op op = stow_graph_op(made, node);
    bool is_boundary = stow_graph_is_boundary(made, stow_graph_first_result(made, node));
    computed += !is_boundary;
    test_check(is_boundary || op == e->op, __FILE__, __LINE__, "%s is left:\n%s",
               stow_graph_op_desc(made, node)->name, e->text);
  }
  CHECK_U64(computed, 1);
  CHECK_U64(stow_rewritten_count(r, STOW_REWRITE_NORMS), e->firings);
  check_numbers(graph, r, e->text);
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
}

TEST(NormsVanishInWeights) {
  static const example examples[] = {
      {CONV_HEAD "  %7 = conv(%0, %6) : f32" MAP "\n" NORM(MAP) "  return %8\n}\n", STOW_OP_CONV,
       1},
      {CONV_HEAD "  %7 = conv(%0, %6, %5) : f32" MAP "\n" NORM(MAP) "  return %8\n}\n",
       STOW_OP_CONV, 1},
      {TURNED_HEAD "  %7 = conv_transpose(%0, %6, %5) : f32" MAP "\n" NORM(MAP) "  return %8\n}\n",
       STOW_OP_CONV_TRANSPOSE, 1},
      {MATRIX_HEAD "  %7 = gemm(%0, %6, %5) : f32[5, 3]\n" NORM("[5, 3]") "  return %8\n}\n",
       STOW_OP_GEMM, 1},
      {"graph @g {\n  %0 = input \"x\" : f32[5, 2]\n" PARAMS
       "f32[3, 2]\n  %7 = gemm(%0, %6) {trans_b = true} : f32[5, 3]\n" NORM(
           "[5, 3]") "  return %8\n}\n",
       STOW_OP_GEMM, 1},
      {MATRIX_HEAD "  %7 = matmul(%0, %6) : f32[5, 3]\n" NORM("[5, 3]") "  return %8\n}\n",
       STOW_OP_GEMM, 1},
  };
  for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); ++i) {
    check_fires(&examples[i]);
  }
}

TEST(ConstantsOfChannelsVanishInWeights) {
  static const example examples[] = {
      {CONV_HEAD "  %7 = conv(%0, %6) : f32" MAP "\n"
                 "  %8 = param \"c\" {data = [0x1p+1, 0x1p-1, -0x1p+0]} : f32[3, 1, 1]\n"
                 "  %9 = mul(%7, %8) : f32" MAP "\n  return %9\n}\n",
       STOW_OP_CONV, 1},
      {CONV_HEAD "  %7 = conv(%0, %6, %5) : f32" MAP "\n"
                 "  %8 = param \"c\" {data = [0x1p+1, 0x1p-1, -0x1p+0]} : f32[1, 3, 1, 1]\n"
                 "  %9 = param \"d\" {data = [0x1p+1]} : f32[]\n"
                 "  %10 = mul(%8, %7) : f32" MAP "\n"
                 "  %11 = add(%10, %8) : f32" MAP "\n"
                 "  %12 = mul(%11, %9) : f32" MAP "\n"
                 "  %13 = add(%9, %12) : f32" MAP "\n  return %13\n}\n",
       STOW_OP_CONV, 4},
      {MATRIX_HEAD "  %7 = matmul(%0, %6) : f32[5, 3]\n"
                   "  %8 = mul(%7, %1) : f32[5, 3]\n  return %8\n}\n",
       STOW_OP_MATMUL, 1},
      {MATRIX_HEAD "  %7 = gemm(%0, %6) : f32[5, 3]\n"
                   "  %8 = add(%7, %1) : f32[5, 3]\n  return %8\n}\n",
       STOW_OP_GEMM, 1},
  };
  for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); ++i) {
    check_fires(&examples[i]);
  }
}

TEST(NearMissesStay) {
  static const char* const texts[] = {
      // Others read the product, or the weight; a caller has it; a barrier.
      CONV_HEAD "  %7 = conv(%0, %6) : f32" MAP "\n" NORM(MAP) "  return %8, %7\n}\n",
      CONV_HEAD "  %7 = conv(%0, %6) : f32" MAP "\n" NORM(MAP) "  %9 = conv(%0, %6) : f32" MAP
                                                               "\n  return %8, %9\n}\n",
      CONV_HEAD "  %7 = conv(%0, %6) : f32" MAP
                " with {scratch = 64}\n" NORM(MAP) "  return %8\n}\n",
      // Not weights.
      "graph @g {\n  %0 = input \"x\" : f32[5, 2]\n" PARAMS
      "f32[2, 3]\n  %7 = input \"c\" : f32[3]\n  %8 = gemm(%0, %6) : f32[5, 3]\n"
      "  %9 = mul(%8, %7) : f32[5, 3]\n  return %9\n}\n",
      // Weights that are made of less.
      "graph @g {\n  %0 = input \"x\" : f32[5, 2]\n" PARAMS
      "f32[2, 3]\n  %7 = param \"one\" {data = [1.0]} : f32[1, 1]\n"
      "  %8 = expand(%7) : f32[2, 3]\n  %9 = gemm(%0, %8) : f32[5, 3]\n"
      "  %10 = mul(%9, %1) : f32[5, 3]\n  return %10\n}\n",
      "graph @g {\n  %0 = input \"x\" : f32[5, 2]\n" PARAMS
      "f32[2, 3]\n  %7 = param \"v\" {data = [1, 2, 3, 4, 5, 6]} : i8[2, 3]\n"
      "  %8 = cast(%7) : f32[2, 3]\n  %9 = gemm(%0, %8) : f32[5, 3]\n"
      "  %10 = mul(%9, %1) : f32[5, 3]\n  return %10\n}\n",
      // Along another dim, all of them, or with more elements.
      MATRIX_HEAD
      "  %7 = gemm(%0, %6) : f32[5, 3]\n"
      "  %8 = param \"c\" {data = [1.0, 2.0, 3.0, 4.0, 5.0]} : f32[5, 1]\n"
      "  %9 = mul(%7, %8) : f32[5, 3]\n  return %9\n}\n",
      "graph @g {\n  %0 = input \"x\" : f32[1, 2]\n" PARAMS
      "f32[2, 3]\n  %7 = gemm(%0, %6) : f32[1, 3]\n"
      "  %8 = param \"c\" {data = [1.0, 2.0]} : f32[2, 1]\n"
      "  %9 = mul(%7, %8) : f32[2, 3]\n  return %9\n}\n",
      // One number for channels that have no bias; a matmul that has none either.
      CONV_HEAD "  %7 = conv(%0, %6) : f32" MAP
                "\n"
                "  %8 = param \"c\" {data = [1.0]} : f32[1]\n"
                "  %9 = add(%7, %8) : f32" MAP "\n  return %9\n}\n",
      MATRIX_HEAD
      "  %7 = matmul(%0, %6) : f32[5, 3]\n"
      "  %8 = add(%7, %1) : f32[5, 3]\n  return %8\n}\n",
      MATRIX_HEAD
      "  %7 = gemm(%0, %6, %5) {beta = 0.5} : f32[5, 3]\n" NORM("[5, 3]") "  return %8\n}\n",
      // Groups; statistics of the batch.
      "graph @g {\n  %0 = input \"x\" : f32[1, 6, 4, 4]\n" PARAMS
      "f32[6, 1, 1, 1]\n  %7 = conv_transpose(%0, %6) {group = 3} : f32[1, 3, 4, 4]\n" NORM(
          MAP) "  return %8\n}\n",
      CONV_HEAD "  %7 = conv(%0, %6) : f32" MAP
                "\n  %8, %9, %10 = batch_norm(%7, %1, %2, %3, %4) "
                "{training = true} : f32" MAP ", f32[3], f32[3]\n  return %8\n}\n",
  };
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
    stow_module* module = parse_graph(texts[i]);
    stow_rewritten* r = rewrite_near(stow_module_graph(module, 0));
    test_check(stow_rewritten_count(r, STOW_REWRITE_NORMS) == 0, __FILE__, __LINE__, "fires:\n%s",
               texts[i]);
    stow_rewritten_destroy(r);
    stow_module_destroy(module);
  }
}

TEST(RewritingSurvivesLackOfMemory) {
  stow_rewrite_options options;
  stow_rewrite_options_init(&options);
  options.off = 0;
  CHECK(rewrite_with_faults(CONV_HEAD "  %7 = conv(%0, %6) : f32" MAP "\n" NORM(
                                MAP) "  %9 = param \"d\" {data = [0x1p+1]} : f32[]\n"
                                     "  %10 = mul(%9, %8) : f32" MAP "\n"
                                     "  %11 = add(%10, %9) : f32" MAP "\n  return %11\n}\n",
                            &options) > 20);
}
