// `blocks` against the same nodes on whole tensors, in one graph: the same bits, for random
// functions, groups and rows, threads and sizes of blocks.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/exec.h>
#include <stowage/text.h>
#include <string.h>

#include "exec/program/words.h"
#include "exec/run/prepare.h"
#include "support/fault.h"
#include "support/test.h"

#define MOST_VALUES 24
#define MOST_WHOLE 8

typedef struct text {
  char data[24576];
  size_t size;
} text;

static void put(text* t, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  t->size += (size_t)vsnprintf(t->data + t->size, sizeof(t->data) - t->size, format, arguments);
  va_end(arguments);
}

// Values are [groups, outer, rows, unit], and [outer, rows, unit] in the function. Operands without
// rows have a slice for each group: [groups, 1, 1, unit], or [groups, 1, unit, unit] for products.
typedef struct maker {
  test_random random;
  uint64_t groups, outer, rows;
  uint64_t units[MOST_VALUES];  // of values with rows
  size_t value_count;
  uint64_t whole[MOST_WHOLE][2];  // dims of operands without rows
  size_t whole_count;
  text inputs, plain, function, nodes;
} maker;

static uint64_t below(maker* m, uint64_t bound) { return test_random_below(&m->random, bound); }

static size_t add_whole(maker* m, uint64_t first, uint64_t second) {
  m->whole[m->whole_count][0] = first;
  m->whole[m->whole_count][1] = second;
  return m->whole_count++;
}

// Nodes are written with letters for ids, since those are known only at the end: v0 …, w0 ….
static void add_node(maker* m, const char* op, size_t a, const char* more, uint64_t unit) {
  put(&m->nodes, "v%zu %s v%zu%s %llu\n", m->value_count, op, a, more, (unsigned long long)unit);
  m->units[m->value_count++] = unit;
}

static void draw_node(maker* m) {
  static const char* const unary[] = {"sigmoid", "tanh", "exp", "relu", "neg", "erf"};
  static const char* const binary[] = {"add", "mul", "sub", "max"};
  size_t a = (size_t)below(m, m->value_count);
  size_t b = (size_t)below(m, m->value_count);
  uint64_t unit = m->units[a];
  char more[64] = "";
  uint64_t kind = below(m, 6);
  if (kind == 0 && m->whole_count < MOST_WHOLE) {
    uint64_t to = 1 + below(m, 9);
    snprintf(more, sizeof(more), " w%zu", add_whole(m, unit, to));
    add_node(m, "matmul", a, more, to);
  } else if (kind == 1 && m->whole_count < MOST_WHOLE) {
    snprintf(more, sizeof(more), " w%zu", add_whole(m, 1, below(m, 2) == 0 ? 1 : unit));
    add_node(m, binary[below(m, 4)], a, more, unit);
  } else if (kind == 2) {
    add_node(m, below(m, 2) == 0 ? "softmax" : "log_softmax", a, "", unit);
  } else if (kind == 3) {
    add_node(m, "reduce", a, "", 1);
  } else if (kind == 4 && (m->units[b] == unit || m->units[b] == 1)) {
    snprintf(more, sizeof(more), " v%zu", b);
    add_node(m, binary[below(m, 4)], a, more, unit);
  } else {
    add_node(m, unary[below(m, 6)], a, "", unit);
  }
}

static void put_type(text* t, const maker* m, uint64_t unit, bool is_block) {
  if (is_block) {
    put(t, " : f32[%llu, ?rows, %llu]\n", (unsigned long long)m->outer, (unsigned long long)unit);
  } else {
    put(t, " : f32[%llu, %llu, %llu, %llu]\n", (unsigned long long)m->groups,
        (unsigned long long)m->outer, (unsigned long long)m->rows, (unsigned long long)unit);
  }
}

static size_t id_of(const maker* m, const char* word, size_t inputs) {
  size_t number = (size_t)atoi(word + 1);
  return word[0] == 'w' ? inputs + number : number < inputs ? number : number + m->whole_count;
}

// The nodes for blocks or for whole tensors, with ids in which inputs come first, then operands
// without rows, then what is computed.
static void put_nodes(text* t, const maker* m, size_t inputs, bool is_block) {
  const char* line = m->nodes.data;
  for (size_t i = inputs; i < m->value_count; ++i, line = strchr(line, '\n') + 1) {
    char made[16], op[16], a[16], b[16] = "";
    unsigned long long unit;
    bool is_binary = sscanf(line, "%15s %15s %15s %15s %llu", made, op, a, b, &unit) == 5;
    put(t, "%%%zu = %s(%%%zu", id_of(m, made, inputs), op, id_of(m, a, inputs));
    put(t, is_binary ? ", %%%zu)" : ")", is_binary ? id_of(m, b, inputs) : 0);
    if (strstr(op, "softmax") != NULL) {
      put(t, " {axis = -1}");
    } else if (strcmp(op, "reduce") == 0) {
      put(t, " {op = \"mean\", axes = [%d]}", is_block ? 2 : 3);
    }
    put_type(t, m, m->units[i], is_block);
  }
}

static void put_inputs(text* t, const maker* m, size_t inputs, bool is_block) {
  for (size_t i = 0; i < inputs; ++i) {
    put(t, "%%%zu = input \"x%zu\"", i, i);
    put_type(t, m, m->units[i], is_block);
  }
  for (size_t i = 0; i < m->whole_count; ++i) {
    unsigned long long first = m->whole[i][0], second = m->whole[i][1];
    put(t, "%%%zu = input \"w%zu\" : f32[", inputs + i, i);
    put(t, is_block ? "" : "%llu, 1, ", (unsigned long long)m->groups);
    put(t, "%llu, %llu]\n", first, second);
  }
}

// A graph that computes its last values twice: `%n, %m, …` plainly, then by `blocks`.
static text make_text(uint64_t seed, size_t* out_results) {
  maker m = {.random = {seed}};
  text t = {.size = 0};
  size_t inputs = 1 + (size_t)below(&m, 2);
  m.groups = 1 + below(&m, 4);
  m.outer = below(&m, 2) == 0 ? 1 : 1 + below(&m, 4);
  m.rows = 1 + below(&m, below(&m, 4) == 0 ? 3000 : 40);
  for (size_t i = 0; i < inputs; ++i) {
    m.units[m.value_count++] = 1 + below(&m, 9);
  }
  size_t nodes = 1 + (size_t)below(&m, 9);
  for (size_t i = 0; i < nodes; ++i) {
    draw_node(&m);
  }
  size_t results = *out_results = 1 + (size_t)below(&m, nodes < 3 ? nodes : 3);
  put(&t, "graph @g {\nfunction @f {\n");
  put_inputs(&t, &m, inputs, true);
  put_nodes(&t, &m, inputs, true);
  size_t end = m.value_count + m.whole_count;
  for (size_t i = 0; i < results; ++i) {
    put(&t, "%s%%%zu", i == 0 ? "return " : ", ", end - results + i);
  }
  put(&t, "\n}\n");
  put_inputs(&t, &m, inputs, false);
  put_nodes(&t, &m, inputs, false);
  for (size_t i = 0; i < results; ++i) {
    put(&t, "%s%%%zu", i == 0 ? "" : ", ", end + i);
  }
  for (size_t i = 0; i < inputs + m.whole_count; ++i) {
    put(&t, "%s%%%zu", i == 0 ? " = blocks(" : ", ", i);
  }
  put(&t, ") {function = \"f\", groups = %llu, rows = %llu}", (unsigned long long)m.groups,
      (unsigned long long)m.rows);
  for (size_t i = 0; i < results; ++i) {
    put(&t, "%s f32[%llu, %llu, %llu, %llu]", i == 0 ? " :" : ",", (unsigned long long)m.groups,
        (unsigned long long)m.outer, (unsigned long long)m.rows,
        (unsigned long long)m.units[m.value_count - results + i]);
  }
  for (size_t i = 0; i < 2 * results; ++i) {
    put(&t, "%s%%%zu", i == 0 ? "\nreturn " : ", ", end - results + i);
  }
  put(&t, "\n}\n");
  return t;
}

// ---------------------------------------------------------------------------------------------

static uint32_t choose(void* user, stow_node node, uint32_t count) {
  (void)node;
  return *(const uint32_t*)user < count ? *(const uint32_t*)user : count - 1;
}

static void fill(stow_exec* exec, const stow_graph* graph) {
  test_random random = {7};
  for (stow_value value = 0; value < stow_graph_value_count(graph); ++value) {
    stow_tensor tensor;
    if (stow_graph_is_boundary(graph, value) && stow_graph_data(graph, value, NULL) == NULL) {
      CHECK(stow_exec_fill(exec, value, NULL, &tensor) == STOW_OK);
      for (size_t i = 0; i < stow_tensor_elements(&tensor); ++i) {
        ((float*)tensor.data)[i] = (float)test_random_below(&random, 2001) / 1000 - 1;
      }
    }
  }
}

static void compare(const stow_exec* exec, const stow_graph* graph, size_t results, uint64_t seed) {
  for (size_t k = 0; k < results; ++k) {
    stow_tensor plain, blocked;
    stow_value a = stow_graph_outputs(graph)[k];
    stow_value b = stow_graph_outputs(graph)[results + k];
    CHECK(stow_exec_value(exec, a, NULL, &plain) == STOW_OK);
    CHECK(stow_exec_value(exec, b, NULL, &blocked) == STOW_OK);
    test_check(memcmp(plain.data, blocked.data, stow_tensor_bytes(&plain)) == 0, __FILE__, __LINE__,
               "seed %llu: result %zu differs", (unsigned long long)seed, k);
  }
}

static stow_pack packs = STOW_PACK_NEVER;
static uint64_t packed;  // weights, in the last run

// |variant| is the size of blocks; UINT32_MAX: what fits.
static stow_status run(const stow_graph* graph, uint32_t threads, uint32_t variant, bool paranoid,
                       size_t results, uint64_t seed, stow_allocator allocator) {
  stow_prepared* prepared = NULL;
  stow_plan* plan = NULL;
  stow_exec* exec = NULL;
  stow_diag diag;
  stow_prepare_options options;
  stow_exec_options exec_options;
  stow_diag_init(&diag);
  stow_prepare_options_init(&options);
  stow_exec_options_init(&exec_options);
  options.threads = threads;
  options.pack = packs;
  exec_options.paranoid = paranoid;
  stow_status status = stowi_exec_prepare(graph, &options, variant == UINT32_MAX ? NULL : choose,
                                          &variant, allocator, &diag, &prepared);
  if (status == STOW_OK) {
    stow_prepared_info info = {.struct_size = sizeof(info)};
    CHECK(stow_prepared_describe(prepared, &info) == STOW_OK);
    packed = info.packed_count;
    stow_plan_options plan_options;
    stow_plan_options_init(&plan_options, STOW_PRESET_DEFAULT);
    plan_options.constants = plan_options.params = false;
    status = stow_plan_make(graph, stow_prepared_effects(prepared), &plan_options, allocator, &diag,
                            &plan);
  }
  if (status == STOW_OK) {
    status = stow_exec_create(prepared, plan, &exec_options, allocator, &diag, &exec);
  }
  if (status == STOW_OK) {
    fill(exec, graph);
    status = stow_exec_run(exec, &diag);
  }
  test_check(status == STOW_OK || status == STOW_ERR_OUT_OF_MEMORY, __FILE__, __LINE__,
             "seed %llu: %s", (unsigned long long)seed, diag.message);
  if (status == STOW_OK) {
    compare(exec, graph, results, seed);
  }
  stow_exec_destroy(exec);
  stow_plan_destroy(plan);
  stow_prepared_destroy(prepared);
  return status;
}

static stow_module* make(uint64_t seed, size_t* out_results) {
  stow_module* module = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  text t = make_text(seed, out_results);
  stow_status status =
      stow_module_parse(t.data, t.size, NULL, NULL, stow_allocator_default(), &diag, &module);
  test_check(status == STOW_OK, __FILE__, __LINE__, "seed %llu: %s\n%s", (unsigned long long)seed,
             diag.message, t.data);
  return module;
}

TEST(BlocksGiveTheBitsOfWholeTensors) {
  for (uint64_t seed = 1; seed <= (test_is_long() ? 20000 : 400); ++seed) {
    size_t results;
    stow_module* module = make(seed, &results);
    REQUIRE(module != NULL);
    const stow_graph* graph = stow_module_graph(module, 0);
    stow_allocator heap = stow_allocator_default();
    run(graph, 1, UINT32_MAX, seed % 2 == 0, results, seed, heap);
    run(graph, 1 + (uint32_t)(seed % 3), (uint32_t)(seed % 4), false, results, seed, heap);
    stow_module_destroy(module);
  }
}

// Columns of images: norm, activation and convolution, which have no row of their own in memory.
TEST(ConvolutionsTakeColumns) {
  static const char graph_text[] =
      "graph @g {\n"
      "  function @f {\n"
      "    %0 = input \"x\" : f32[1, 7, 1, ?rows]\n"
      "    %1 = input \"s\" : f32[7]\n    %2 = input \"b\" : f32[7]\n"
      "    %3 = input \"m\" : f32[7]\n    %4 = input \"v\" : f32[7]\n"
      "    %5 = input \"w\" : f32[6, 7, 1, 1]\n"
      "    %6 = batch_norm(%0, %1, %2, %3, %4) : f32[1, 7, 1, ?rows]\n"
      "    %7 = relu(%6) : f32[1, 7, 1, ?rows]\n"
      "    %8 = conv(%7, %5) : f32[1, 6, 1, ?rows]\n"
      "    %9 = tanh(%8) : f32[1, 6, 1, ?rows]\n"
      "    return %9\n  }\n"
      "  %0 = input \"x\" : f32[2, 7, 31, 43]\n"
      "  %1 = input \"s\" : f32[7]\n  %2 = input \"b\" : f32[7]\n"
      "  %3 = input \"m\" : f32[7]\n  %4 = input \"v\" : f32[7]\n"
      "  %5 = input \"w\" : f32[6, 7, 1, 1]\n  %6 = mul(%4, %4) : f32[7]\n"
      "  %7 = batch_norm(%0, %1, %2, %3, %6) : f32[2, 7, 31, 43]\n"
      "  %8 = relu(%7) : f32[2, 7, 31, 43]\n"
      "  %9 = conv(%8, %5) : f32[2, 6, 31, 43]\n"
      "  %10 = tanh(%9) : f32[2, 6, 31, 43]\n"
      "  %11 = blocks(%0, %1, %2, %3, %6, %5) {function = \"f\", groups = 2, rows = 1333} : "
      "f32[2, 6, 31, 43]\n"
      "  return %10, %11\n}\n";
  stow_module* module = NULL;
  REQUIRE(stow_module_parse(graph_text, sizeof(graph_text) - 1, NULL, NULL,
                            stow_allocator_default(), NULL, &module) == STOW_OK);
  for (uint32_t variant = 0; variant < 4; ++variant) {
    run(stow_module_graph(module, 0), 1 + variant % 3, variant, variant == 2, 1, variant,
        stow_allocator_default());
  }
  stow_module_destroy(module);
}

// Rows of a quantised table, as columns of a matrix that nobody ever sees as a whole.
TEST(ProductsTakeColumnsOfATable) {
  static const char graph_text[] =
      "graph @g {\n"
      "  function @f {\n"
      "    %0 = input \"x\" : f32[3, 16]\n    %1 = input \"w\" : i8[?rows, 16]\n"
      "    %2 = input \"s\" : f32[]\n    %3 = input \"b\" : f32[?rows]\n"
      "    %4 = transpose(%1) : i8[16, ?rows]\n"
      "    %5 = dequantize_linear(%4, %2) : f32[16, ?rows]\n"
      "    %6 = matmul(%0, %5) : f32[3, ?rows]\n"
      "    %7 = add(%6, %3) : f32[3, ?rows]\n"
      "    return %7\n  }\n"
      "  %0 = input \"x\" : f32[3, 16]\n  %1 = input \"y\" : f32[1001, 16]\n"
      "  %2 = input \"s\" : f32[]\n  %3 = input \"b\" : f32[1001]\n"
      "  %4 = cast(%1) : i8[1001, 16]\n"
      "  %5 = transpose(%4) : i8[16, 1001]\n"
      "  %6 = dequantize_linear(%5, %2) : f32[16, 1001]\n"
      "  %7 = matmul(%0, %6) : f32[3, 1001]\n"
      "  %8 = add(%7, %3) : f32[3, 1001]\n"
      "  %9 = blocks(%0, %4, %2, %3) {function = \"f\", rows = 1001} : f32[3, 1001]\n"
      "  return %8, %9\n}\n";
  stow_module* module = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_module_parse(graph_text, sizeof(graph_text) - 1, NULL, NULL,
                                         stow_allocator_default(), &diag, &module);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s", diag.message);
  for (uint32_t variant = 0; module != NULL && variant < 4; ++variant) {
    run(stow_module_graph(module, 0), 1 + variant % 3, variant, variant == 2, 1, variant,
        stow_allocator_default());
  }
  stow_module_destroy(module);
}

// 1,024 elements of a weight.
static void put_numbers(text* t) {
  for (int i = 0; i < 1024; ++i) {
    put(t, "%s%d", i == 0 ? "" : ", ", i % 23 - 11);
  }
}

// Runs |t| with blocks of several sizes, and with packed weights: as many as |expected|.
static void check_packing(const text* t, uint64_t expected) {
  stow_module* module = NULL;
  REQUIRE(stow_module_parse(t->data, t->size, NULL, NULL, stow_allocator_default(), NULL,
                            &module) == STOW_OK);
  const stow_graph* graph = stow_module_graph(module, 0);
  for (uint32_t variant = 0; variant < 3; ++variant) {
    for (int pack = STOW_PACK_NEVER; pack <= STOW_PACK_ALWAYS; ++pack) {
      packs = (stow_pack)pack;
      run(graph, 1 + variant, variant, variant == 1, 1, variant, stow_allocator_default());
      CHECK_U64(packed, pack == STOW_PACK_NEVER ? 0 : expected);
    }
  }
  packs = STOW_PACK_NEVER;
  stow_module_destroy(module);
}

// A weight that only a product in a function reads is packed once, for blocks of all sizes.
TEST(FunctionsReadPackedWeights) {
  text t = {.size = 0};
  put(&t,
      "graph @g {\n  function @f {\n    %%0 = input \"x\" : f32[?rows, 16]\n"
      "    %%1 = input \"w\" : f32[16, 64]\n    %%2 = matmul(%%0, %%1) : f32[?rows, 64]\n"
      "    %%3 = tanh(%%2) : f32[?rows, 64]\n    return %%3\n  }\n"
      "  %%0 = input \"x\" : f32[301, 16]\n  %%1 = constant \"w\" {data = [");
  put_numbers(&t);
  put(&t,
      "]} : f32[16, 64]\n  %%2 = add(%%1, %%1) : f32[16, 64]\n"
      "  %%3 = constant \"half\" {data = [0.5]} : f32[]\n  %%4 = mul(%%2, %%3) : f32[16, 64]\n"
      "  %%5 = matmul(%%0, %%4) : f32[301, 64]\n  %%6 = tanh(%%5) : f32[301, 64]\n"
      "  %%7 = constant \"again\" {data = [");
  put_numbers(&t);
  put(&t,
      "]} : f32[16, 64]\n"
      "  %%8 = blocks(%%0, %%7) {function = \"f\", rows = 301} : f32[301, 64]\n"
      "  return %%6, %%8\n}\n");
  check_packing(&t, 1);
}

// What each group has a part of is not packed.
TEST(GroupsReadWeightsOfTheirOwn) {
  text t = {.size = 0};
  put(&t,
      "graph @g {\n  function @f {\n    %%0 = input \"x\" : f32[?rows, 16]\n"
      "    %%1 = input \"w\" : f32[16, 32]\n    %%2 = matmul(%%0, %%1) : f32[?rows, 32]\n"
      "    %%3 = tanh(%%2) : f32[?rows, 32]\n    return %%3\n  }\n"
      "  %%0 = input \"x\" : f32[2, 97, 16]\n  %%1 = constant \"w\" {data = [");
  put_numbers(&t);
  put(&t,
      "]} : f32[2, 16, 32]\n  %%2 = matmul(%%0, %%1) : f32[2, 97, 32]\n"
      "  %%3 = tanh(%%2) : f32[2, 97, 32]\n  %%4 = constant \"again\" {data = [");
  put_numbers(&t);
  put(&t,
      "]} : f32[2, 16, 32]\n  %%5 = blocks(%%0, %%4) {function = \"f\", groups = 2, rows = 97}"
      " : f32[2, 97, 32]\n  return %%3, %%5\n}\n");
  check_packing(&t, 0);
}

// One row in one block needs what its values do, and little more however many nodes there are.
TEST(LongFunctionsNeedLittleBesideTheirValues) {
  text t = {.size = 0};
  const size_t nodes = 20;
  stow_module* module = NULL;
  stow_prepared* prepared = NULL;
  stow_plan* plan = NULL;
  stow_prepare_options options;
  stow_plan_options plan_options;
  put(&t, "graph @g {\n  function @f {\n    %%0 = input \"x\" : f32[?rows, 512]\n");
  for (size_t i = 0; i < nodes; ++i) {
    put(&t, "    %%%zu = %s(%%%zu) : f32[?rows, 512]\n", i + 1, i % 2 == 0 ? "tanh" : "erf", i);
  }
  put(&t, "    return %%%zu\n  }\n  %%0 = input \"x\" : f32[1, 512]\n", nodes);
  put(&t, "  %%1 = blocks(%%0) {function = \"f\", rows = 1} : f32[1, 512]\n  return %%1\n}\n");
  REQUIRE(stow_module_parse(t.data, t.size, NULL, NULL, stow_allocator_default(), NULL, &module) ==
          STOW_OK);
  const stow_graph* graph = stow_module_graph(module, 0);
  stow_prepare_options_init(&options);
  stow_plan_options_init(&plan_options, STOW_PRESET_DEFAULT);
  CHECK(stow_prepare(graph, &options, stow_allocator_default(), NULL, &prepared) == STOW_OK);
  CHECK(stow_plan_make(graph, stow_prepared_effects(prepared), &plan_options,
                       stow_allocator_default(), NULL, &plan) == STOW_OK);
  const uint64_t row = 512 * sizeof(float);
  CHECK(stow_plan_arena_size(plan) <= 3 * row + 1024);
  stow_plan_destroy(plan);
  stow_prepared_destroy(prepared);
  stow_module_destroy(module);
}

// Rows of the largest blocks of a graph's only `blocks` node.
static uint64_t rows_for(const stow_graph* graph, uint32_t workers) {
  stow_prepared* prepared = NULL;
  stow_prepare_options options;
  stow_prepare_options_init(&options);
  options.threads = workers;
  stow_node node = 0;
  while (stow_graph_op(graph, node) != STOW_OP_BLOCKS) {
    ++node;
  }
  const stowi_kernel_blocks* data = NULL;
  if (stow_prepare(graph, &options, stow_allocator_default(), NULL, &prepared) == STOW_OK) {
    data = (const stowi_kernel_blocks*)prepared->program.steps[node].kernel.user;
  }
  uint64_t rows = data == NULL ? 0 : data->sizes[0].body->rows;
  stow_prepared_destroy(prepared);
  return rows;
}

TEST(ThereAreBlocksForAllWorkers) {
  static const char graph_text[] =
      "graph @g {\n"
      "  function @f {\n"
      "    %0 = input \"x\" : f32[?rows, 64]\n    %1 = input \"w\" : f32[64, 512]\n"
      "    %2 = matmul(%0, %1) : f32[?rows, 512]\n    %3 = relu(%2) : f32[?rows, 512]\n"
      "    return %3\n  }\n"
      "  %0 = input \"x\" : f32[3, 130, 64]\n  %1 = input \"w\" : f32[64, 512]\n"
      "  %2 = blocks(%0, %1) {function = \"f\", groups = 3, rows = 130} : f32[3, 130, 512]\n"
      "  return %2\n}\n";
  stow_module* module = NULL;
  REQUIRE(stow_module_parse(graph_text, sizeof(graph_text) - 1, NULL, NULL,
                            stow_allocator_default(), NULL, &module) == STOW_OK);
  const stow_graph* graph = stow_module_graph(module, 0);
  CHECK_U64(rows_for(graph, 1), 130);
  CHECK_U64(rows_for(graph, 2), 80);  // 2 in each of 3 groups
  CHECK_U64(rows_for(graph, 4), 48);
  CHECK_U64(rows_for(graph, 40), 16);
  stow_module_destroy(module);
}

TEST(WordsNameWhatWasFused) {
  static const char graph_text[] =
      "graph @g {\n"
      "  function @swish {\n    %0 = input \"x\" : f32[?rows]\n    %1 = sigmoid(%0) : f32[?rows]\n"
      "    %2 = mul(%0, %1) : f32[?rows]\n    return %2\n  }\n"
      "  %0 = input \"x\" : f32[6]\n"
      "  %1 \"y\" = blocks(%0) {function = \"swish\", rows = 6, of = [\"s_3\", \"y\"]} : f32[6]\n"
      "  %2 = blocks(%1) {function = \"swish\", rows = 6} : f32[6]\n"
      "  return %1, %2\n}\n";
  stow_module* module = NULL;
  REQUIRE(stow_module_parse(graph_text, sizeof(graph_text) - 1, NULL, NULL,
                            stow_allocator_default(), NULL, &module) == STOW_OK);
  const stow_graph* graph = stow_module_graph(module, 0);
  CHECK_TEXT(stowi_exec_words_node(graph, 1).text, "node 1 \"s_3 + y\" (swish)");
  CHECK_TEXT(stowi_exec_words_node(graph, 2).text, "node 2 (swish)");
  stow_module_destroy(module);
}

static stow_status attempt(stow_allocator allocator, void* user) {
  return run((const stow_graph*)user, 1, UINT32_MAX, false, 1, 0, allocator);
}

TEST(EveryAllocationMayFail) {
  uint64_t seed = 1;
  size_t results = 0;
  stow_module* module = NULL;
  for (; results != 1; ++seed) {
    stow_module_destroy(module);
    module = make(seed, &results);
  }
  CHECK(test_fault_sweep(attempt, stow_module_graph(module, 0)) > 50);
  stow_module_destroy(module);
}
