// Products with what is computed for them alone: graphs in which they become one node, near misses
// in which they must not, and the same bits in runs of random ones.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/exec.h>
#include <string.h>

#include "rewrite/rewrite_support.h"
#include "support/test.h"

typedef struct text {
  char data[4096];
  size_t size;
} text;

static void put(text* t, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  t->size += (size_t)vsnprintf(t->data + t->size, sizeof(t->data) - t->size, format, arguments);
  va_end(arguments);
}

static stow_rewrite_options columns_alone(void) {
  stow_rewrite_options options;
  stow_rewrite_options_init(&options);
  options.off = ~stow_rewrite_bit(STOW_REWRITE_COLUMNS);
  return options;
}

static stow_rewritten* rewrite_columns(const stow_graph* graph) {
  stow_rewrite_options options = columns_alone();
  return rewrite_graph(graph, &options);
}

static size_t count_fired(const char* graph_text) {
  stow_module* module = parse_graph(graph_text);
  stow_rewritten* r = rewrite_columns(stow_module_graph(module, 0));
  size_t fired = r == NULL ? 0 : stow_rewritten_count(r, STOW_REWRITE_COLUMNS);
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
  return fired;
}

// ---------------------------------------------------------------------------------------------
// Convolutions

// Features that are read again later, normalised for a convolution.
#define FEATURES                                                 \
  "graph @g {\n  %0 = input \"x\" : f32[1, 64, 32, 32]\n"        \
  "  %1 = cumsum(%0) {axis = 1} : f32[1, 64, 32, 32]\n"          \
  "  %2 = param \"s\" : f32[64]\n  %3 = param \"b\" : f32[64]\n" \
  "  %4 = param \"m\" : f32[64]\n  %5 = param \"v\" : f32[64]\n" \
  "  %6 = batch_norm(%1, %2, %3, %4, %5) : f32[1, 64, 32, 32]\n" \
  "  %7 \"r\" = relu(%6) : f32[1, 64, 32, 32]\n"
#define AFTER(product, type)                                                \
  "  %8 = param \"w\" : f32[8, 64, 1, 1]\n  %9 \"y\" = " product " : " type \
  "\n"                                                                      \
  "  %10 = reduce(%1) {axes = [1, 2, 3]} : f32[1, 1, 1, 1]\n"               \
  "  %11 = add(%9, %10) : " type "\n  return %11\n}\n"

TEST(ANormAndAnActivationJoinTheConvolution) {
  REWRITES(
      STOW_REWRITE_COLUMNS, FEATURES AFTER("conv(%7, %8)", "f32[1, 8, 32, 32]"),
      "graph @g {\n"
      "  function @batch_norm_relu_conv {\n"
      "    %0 = input \"x0\" : f32[1, 64, 1, ?rows]\n"
      "    %1 = input \"x1\" : f32[64]\n"
      "    %2 = input \"x2\" : f32[64]\n"
      "    %3 = input \"x3\" : f32[64]\n"
      "    %4 = input \"x4\" : f32[64]\n"
      "    %5 = batch_norm(%0, %1, %2, %3, %4) : f32[1, 64, 1, ?rows]\n"
      "    %6 = relu(%5) : f32[1, 64, 1, ?rows]\n"
      "    %7 = input \"x5\" : f32[8, 64, 1, 1]\n"
      "    %8 = conv(%6, %7) : f32[1, 8, 1, ?rows]\n"
      "    return %8\n"
      "  }\n"
      "  %0 = input \"x\" : f32[1, 64, 32, 32]\n"
      "  %1 = cumsum(%0) {axis = 1} : f32[1, 64, 32, 32]\n"
      "  %2 = param \"s\" : f32[64]\n"
      "  %3 = param \"b\" : f32[64]\n"
      "  %4 = param \"m\" : f32[64]\n"
      "  %5 = param \"v\" : f32[64]\n"
      "  %6 = param \"w\" : f32[8, 64, 1, 1]\n"
      "  %7 \"y\" = blocks(%1, %2, %3, %4, %5, %6) {function = \"batch_norm_relu_conv\", rows = "
      "1024, of = [\"r\", \"y\"]} : f32[1, 8, 32, 32]\n"
      "  %8 = reduce(%1) {axes = [1, 2, 3]} : f32[1, 1, 1, 1]\n"
      "  %9 = add(%7, %8) : f32[1, 8, 32, 32]\n"
      "  return %9\n}\n");
}

TEST(OtherConvolutionsStay) {
  LEAVES(STOW_REWRITE_COLUMNS,
         FEATURES AFTER("conv(%7, %8) {strides = [2, 2]}", "f32[1, 8, 16, 16]"));
  LEAVES(STOW_REWRITE_COLUMNS,
         FEATURES AFTER("conv(%7, %8) {pads = [1, 1, 1, 1]}", "f32[1, 8, 34, 34]"));
  // The activation is read twice, or is an output.
  LEAVES(STOW_REWRITE_COLUMNS, FEATURES
         "  %8 = param \"w\" : f32[8, 64, 1, 1]\n  %9 = conv(%7, %8) : f32[1, 8, 32, 32]\n"
         "  %10 = add(%1, %7) : f32[1, 64, 32, 32]\n  return %9, %10\n}\n");
  LEAVES(STOW_REWRITE_COLUMNS, FEATURES
         "  %8 = param \"w\" : f32[8, 64, 1, 1]\n  %9 = conv(%7, %8) : f32[1, 8, 32, 32]\n"
         "  %10 = add(%1, %0) : f32[1, 64, 32, 32]\n  return %9, %7, %10\n}\n");
  // Features that nobody reads again: the norm is in their place.
  LEAVES(STOW_REWRITE_COLUMNS, FEATURES
         "  %8 = param \"w\" : f32[8, 64, 1, 1]\n  %9 = conv(%7, %8) : f32[1, 8, 32, 32]\n"
         "  return %9\n}\n");
}

TEST(WindowsOfSeveralElementsStay) {
  CHECK_U64(count_fired(FEATURES "  %8 = param \"w\" : f32[8, 64, 3, 3]\n"
                                 "  %9 = conv(%7, %8) {pads = [1, 1, 1, 1]} : f32[1, 8, 32, 32]\n"
                                 "  %10 = add(%1, %0) : f32[1, 64, 32, 32]\n  return %9, %10\n}\n"),
            0);
}

// ---------------------------------------------------------------------------------------------
// Tables

#define TABLE(node, type)                                                                      \
  "graph @g {\n  %0 = input \"x\" : f32[1, 2, 32]\n  %1 = param \"t\" : i8[4096, 32]\n"        \
  "  %2 = param \"s\" : f32[]\n  %3 = param \"c\" : f32[4096]\n  %4 = param \"k\" : f32[32]\n" \
  "  %5 = transpose(%1) : i8[32, 4096]\n  %6 = " node " : f32[32, 4096]\n" type

TEST(ATableIsDequantisedColumnByColumn) {
  CHECK_U64(count_fired(TABLE("dequantize_linear(%5, %2)",
                              "  %7 = matmul(%0, %6) : f32[1, 2, 4096]\n  return %7\n}\n")),
            1);
  // A scale for each column, and for each row.
  CHECK_U64(count_fired(TABLE("dequantize_linear(%5, %3) {axis = 1}",
                              "  %7 = matmul(%0, %6) : f32[1, 2, 4096]\n  return %7\n}\n")),
            1);
  CHECK_U64(count_fired(TABLE("dequantize_linear(%5, %4) {axis = 0}",
                              "  %7 = matmul(%0, %6) : f32[1, 2, 4096]\n  return %7\n}\n")),
            1);
  // Read twice.
  CHECK_U64(count_fired(TABLE("dequantize_linear(%5, %2)",
                              "  %7 = matmul(%0, %6) : f32[1, 2, 4096]\n"
                              "  %8 = reduce(%6) : f32[1, 1]\n  return %7, %8\n}\n")),
            0);
}

// ---------------------------------------------------------------------------------------------
// Runs

static uint64_t below(test_random* random, uint64_t bound) {
  return test_random_below(random, bound);
}

static const char* draw(test_random* random, const char* const* words, size_t count) {
  return words[below(random, count)];
}

// A chain of elementwise nodes of [n, c, h, w], with operands of several dims, for a convolution.
static text make_image(test_random* random) {
  static const char* const unary[] = {"relu", "sigmoid", "tanh", "neg"};
  static const char* const binary[] = {"add", "mul", "sub", "max"};
  text t = {.size = 0};
  unsigned n = 1 + (unsigned)below(random, 2), c = 1 + (unsigned)below(random, 40);
  unsigned h = 1 + (unsigned)below(random, 40), w = 20 + (unsigned)below(random, 60);
  unsigned m = 1 + (unsigned)below(random, 9), next = 6;
  char type[64], sides[4][64];
  snprintf(type, sizeof(type), "f32[%u, %u, %u, %u]", n, c, h, w);
  snprintf(sides[0], sizeof(sides[0]), "f32[%u, 1, 1]", c);
  snprintf(sides[1], sizeof(sides[1]), "f32[]");
  snprintf(sides[2], sizeof(sides[2]), "f32[%u, %u, 1, 1]", n, c);
  snprintf(sides[3], sizeof(sides[3]), "f32[%u, %u]", h, w);
  put(&t, "graph @g {\n%%0 = input \"x\" : %s\n%%1 = cumsum(%%0) {axis = 0} : %s\n", type, type);
  for (unsigned i = 0; i < 4; ++i) {
    put(&t, "%%%u = input \"s%u\" : %s\n", 2 + i, i, sides[i]);
  }
  for (unsigned i = 0, count = 1 + (unsigned)below(random, 4), last = 1; i < count; ++i) {
    if (below(random, 2) == 0) {
      put(&t, "%%%u = %s(%%%u) : %s\n", next, draw(random, unary, 4), last, type);
    } else {
      put(&t, "%%%u = %s(%%%u, %%%u) : %s\n", next, draw(random, binary, 4), last,
          2 + (unsigned)below(random, 4), type);
    }
    last = next++;
  }
  put(&t, "%%%u = input \"w\" : f32[%u, %u, 1, 1]\n", next, m, c);
  put(&t, "%%%u = conv(%%%u, %%%u) : f32[%u, %u, %u, %u]\n", next + 1, next - 1, next, n, m, h, w);
  put(&t, "%%%u = neg(%%1) : %s\nreturn %%%u, %%%u\n}\n", next + 2, type, next + 1, next + 2);
  return t;
}

static text make_table(test_random* random) {
  text t = {.size = 0};
  unsigned k = 1 + (unsigned)below(random, 40), n = 500 + (unsigned)below(random, 4000);
  unsigned m = 1 + (unsigned)below(random, 5), kind = (unsigned)below(random, 3);
  bool turned = below(random, 2) == 0;
  put(&t, "graph @g {\n%%0 = input \"x\" : f32[%u, %u]\n%%1 = input \"y\" : f32[%u, %u]\n", m, k,
      turned ? n : k, turned ? k : n);
  put(&t, "%%2 = cast(%%1) : i8[%u, %u]\n%%3 = input \"s\" : f32[%s", turned ? n : k,
      turned ? k : n, "");
  put(&t, kind == 0 ? "]\n" : "%u]\n", kind == 1 ? n : k);
  put(&t, turned ? "%%4 = transpose(%%2) : i8[%u, %u]\n" : "%%4 = bit_not(%%2) : i8[%u, %u]\n", k,
      n);
  put(&t, "%%5 = dequantize_linear(%%4, %%3) {axis = %u} : f32[%u, %u]\n", kind == 1 ? 1 : 0, k, n);
  put(&t,
      "%%6 = matmul(%%0, %%5) : f32[%u, %u]\n%%7 = cast(%%2) : f32[%u, %u]\nreturn %%6, %%7\n}\n",
      m, n, turned ? n : k, turned ? k : n);
  return t;
}

static void fill(stow_exec* exec, const stow_graph* graph) {
  test_random random = {11};
  for (stow_value value = 0; value < stow_graph_value_count(graph); ++value) {
    stow_tensor tensor;
    if (stow_graph_is_boundary(graph, value)) {
      CHECK(stow_exec_fill(exec, value, NULL, &tensor) == STOW_OK);
      for (size_t i = 0; i < stow_tensor_elements(&tensor); ++i) {
        ((float*)tensor.data)[i] = (float)test_random_below(&random, 8001) / 1000 - 4;
      }
    }
  }
}

// A hash of output 0; FNV.
static uint64_t run(const stow_graph* graph, uint64_t seed) {
  stow_allocator heap = stow_allocator_default();
  stow_prepared* prepared = NULL;
  stow_plan* plan = NULL;
  stow_exec* exec = NULL;
  stow_tensor output;
  stow_diag diag;
  uint64_t hash = 14695981039346656037u;
  stow_diag_init(&diag);
  bool is_run =
      stow_prepare(graph, NULL, heap, &diag, &prepared) == STOW_OK &&
      stow_plan_make(graph, stow_prepared_effects(prepared), NULL, heap, &diag, &plan) == STOW_OK &&
      stow_exec_create(prepared, plan, NULL, heap, &diag, &exec) == STOW_OK;
  if (is_run) {
    fill(exec, graph);
    is_run = stow_exec_run(exec, &diag) == STOW_OK &&
             stow_exec_value(exec, stow_graph_outputs(graph)[0], &diag, &output) == STOW_OK;
  }
  test_check(is_run, __FILE__, __LINE__, "seed %llu: %s", (unsigned long long)seed, diag.message);
  for (size_t i = 0; is_run && i < stow_tensor_bytes(&output); ++i) {
    hash = (hash ^ ((const unsigned char*)output.data)[i]) * 1099511628211u;
  }
  stow_exec_destroy(exec);
  stow_plan_destroy(plan);
  stow_prepared_destroy(prepared);
  return hash;
}

TEST(ColumnsGiveTheSameBits) {
  size_t fired = 0, graphs = test_is_long() ? 4000 : 150;
  for (uint64_t seed = 1; seed <= graphs; ++seed) {
    test_random random = {seed};
    text t = seed % 2 == 0 ? make_image(&random) : make_table(&random);
    stow_module* module = parse_graph(t.data);
    const stow_graph* graph = stow_module_graph(module, 0);
    stow_rewritten* r = rewrite_columns(graph);
    if (stow_rewritten_count(r, STOW_REWRITE_COLUMNS) != 0) {
      ++fired;
      test_check(run(graph, seed) == run(stow_rewritten_graph(r), seed), __FILE__, __LINE__,
                 "seed %llu differs", (unsigned long long)seed);
    }
    stow_rewritten_destroy(r);
    stow_module_destroy(module);
  }
  printf("%zu graphs, %zu rewritten\n", graphs, fired);
  CHECK(fired * 2 > graphs);
}

TEST(EveryAllocationMayFail) {
  stow_rewrite_options options = columns_alone();
  CHECK(rewrite_with_faults(FEATURES AFTER("conv(%7, %8)", "f32[1, 8, 32, 32]"), &options) > 20);
}
