// `stream` against the same nodes on whole tensors, in one graph: the same bits, for every op that
// is computed row by row and for random functions, with any threads and variants. Row maps against
// what changes if a row of an operand does. And mistakes in tables, which are refused.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/exec.h>
#include <stowage/text.h>
#include <string.h>

#include "exec/run/prepare.h"
#include "exec/run/stream.h"
#include "graph/api.h"
#include "support/fault.h"
#include "support/test.h"

// ---------------------------------------------------------------------------------------------
// Graphs

typedef struct text {
  char data[32768];
  size_t size;
} text;

static void put(text* t, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  t->size += (size_t)vsnprintf(t->data + t->size, sizeof(t->data) - t->size, format, arguments);
  va_end(arguments);
}

static stow_module* parse(const char* source, size_t size, uint64_t seed) {
  stow_module* module = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status =
      stow_module_parse(source, size, NULL, NULL, stow_allocator_default(), &diag, &module);
  test_check(status == STOW_OK, __FILE__, __LINE__, "seed %llu: %s\n%s", (unsigned long long)seed,
             diag.message, source);
  return module;
}

// What is written once as the function, and once as the graph: ids count from 0 in both.
typedef struct body {
  text nodes;     // inputs too, which may stand between others
  text operands;  // `%0, %3`: the inputs
  text results;   // `%7, %9`
  text types;     // theirs
  uint32_t next;  // id
  size_t result_count;
  uint64_t rows;  // at a time; 0: by variant
} body;

static uint32_t add_input(body* b, const char* type) {
  put(&b->operands, "%s%%%u", b->operands.size == 0 ? "" : ", ", b->next);
  put(&b->nodes, "%%%u = input \"i%u\" : %s\n", b->next, b->next, type);
  return b->next++;
}

static void add_result(body* b, uint32_t id, const char* type) {
  put(&b->results, "%s%%%u", b->result_count == 0 ? "" : ", ", id);
  put(&b->types, "%s%s", b->result_count == 0 ? "" : ", ", type);
  ++b->result_count;
}

// The graph returns the results of its own nodes, then those of the stream.
static stow_module* make_module(const body* b, uint64_t seed) {
  static text t;
  t.size = 0;
  put(&t, "graph @g {\nfunction @f {\n%sreturn %s\n}\n%s", b->nodes.data, b->results.data,
      b->nodes.data);
  for (size_t k = 0; k < b->result_count; ++k) {
    put(&t, "%s%%%u", k == 0 ? "" : ", ", b->next + (uint32_t)k);
  }
  put(&t, " = stream(%s) {function = \"f\", rows = %llu} : %s\nreturn %s", b->operands.data,
      (unsigned long long)b->rows, b->types.data, b->results.data);
  for (size_t k = 0; k < b->result_count; ++k) {
    put(&t, ", %%%u", b->next + (uint32_t)k);
  }
  put(&t, "\n}\n");
  return parse(t.data, t.size, seed);
}

// ---------------------------------------------------------------------------------------------
// Runs

static uint32_t choose(void* user, stow_node node, uint32_t count) {
  (void)node;
  return *(const uint32_t*)user < count ? *(const uint32_t*)user : count - 1;
}

// A number that is another one if |changed|.
static void fill_element(stow_tensor* tensor, size_t i, uint64_t drawn, bool changed) {
  switch (tensor->dtype) {
    case STOW_F32:
      ((float*)tensor->data)[i] = changed ? 3 - (float)drawn / 32 : (float)drawn / 64;
      break;
    case STOW_F16:
      ((uint16_t*)tensor->data)[i] = (uint16_t)((changed ? 0xb400 : 0x3000) + drawn * 8);
      break;
    case STOW_U8: ((uint8_t*)tensor->data)[i] = (uint8_t)(changed ? drawn ^ 0x2a : drawn); break;
    case STOW_I8: ((int8_t*)tensor->data)[i] = (int8_t)drawn; break;
    case STOW_I32: ((int32_t*)tensor->data)[i] = (int32_t)drawn; break;
    default: test_check(false, __FILE__, __LINE__, "a dtype that this test cannot fill");
  }
}

// Row |row| of |changed| has other numbers than it has without that.
static void fill(stow_exec* exec, const stow_graph* graph, stow_value changed, int64_t row) {
  test_random random = {7};
  for (stow_value value = 0; value < stow_graph_value_count(graph); ++value) {
    stow_tensor tensor;
    if (!stow_graph_is_boundary(graph, value) || stow_graph_data(graph, value, NULL) != NULL) {
      continue;
    }
    CHECK(stow_exec_fill(exec, value, NULL, &tensor) == STOW_OK);
    for (size_t i = 0; i < stow_tensor_elements(&tensor); ++i) {
      bool is_row = value == changed && (int64_t)i / tensor.dims[3] % tensor.dims[2] == row;
      fill_element(&tensor, i, test_random_below(&random, 127), is_row);
    }
  }
}

static void compare(const stow_exec* exec, const stow_graph* graph, uint64_t seed) {
  size_t results = stow_graph_output_count(graph) / 2;
  for (size_t k = 0; k < results; ++k) {
    stow_tensor plain, streamed;
    CHECK(stow_exec_value(exec, stow_graph_outputs(graph)[k], NULL, &plain) == STOW_OK);
    CHECK(stow_exec_value(exec, stow_graph_outputs(graph)[results + k], NULL, &streamed) ==
          STOW_OK);
    test_check(memcmp(plain.data, streamed.data, stow_tensor_bytes(&plain)) == 0, __FILE__,
               __LINE__, "seed %llu: result %zu differs", (unsigned long long)seed, k);
  }
}

typedef struct way {
  uint32_t threads;
  uint32_t variant;  // UINT32_MAX: what fits
  bool paranoid;
  stow_pack pack;
  uint64_t packed;  // weights, in the last run
} way;

// Rings are inside the scratch, and none has more rows than its value.
static void check_scratch(const stow_prepared* prepared, const stow_plan* plan) {
  for (size_t i = 0; i < stow_plan_scratch_count(plan); ++i) {
    stow_node node;
    stow_slot slot;
    uint64_t alignment;
    stow_ring ring = {.struct_size = sizeof(ring)};
    uint64_t bytes = stow_plan_scratch_need(plan, i);
    stow_plan_scratch_slot(plan, i, &node, &slot, &alignment);
    for (size_t k = 0; stow_prepared_ring(prepared, node, bytes, k, &ring); ++k) {
      const stow_type* type = stow_graph_type(ring.function, ring.value);
      CHECK(ring.rows > 0 && ring.rows <= (uint64_t)type->dims[2]);
      CHECK_U64(ring.size, ring.rows * (uint64_t)(type->dims[1] * type->dims[3]) *
                               (stow_dtype_bits(type->dtype) / 8));
      CHECK(ring.offset + ring.size <= bytes);
      CHECK(ring.begin < ring.end && ring.end <= 1000);
    }
  }
}

static stow_status run(const stow_graph* graph, way* w, uint64_t seed, stow_allocator allocator) {
  stow_prepared* prepared = NULL;
  stow_plan* plan = NULL;
  stow_exec* exec = NULL;
  stow_diag diag;
  stow_prepare_options options;
  stow_exec_options exec_options;
  stow_diag_init(&diag);
  stow_prepare_options_init(&options);
  stow_exec_options_init(&exec_options);
  options.threads = w->threads;
  options.pack = w->pack;
  exec_options.paranoid = w->paranoid;
  stow_status status = stowi_exec_prepare(graph, &options, w->variant == UINT32_MAX ? NULL : choose,
                                          &w->variant, allocator, &diag, &prepared);
  if (status == STOW_OK) {
    stow_prepared_info info = {.struct_size = sizeof(info)};
    CHECK(stow_prepared_describe(prepared, &info) == STOW_OK);
    w->packed = info.packed_count;
    stow_plan_options plan_options;
    stow_plan_options_init(&plan_options, STOW_PRESET_DEFAULT);
    plan_options.constants = plan_options.params = false;
    status = stow_plan_make(graph, stow_prepared_effects(prepared), &plan_options, allocator, &diag,
                            &plan);
  }
  if (status == STOW_OK) {
    check_scratch(prepared, plan);
    status = stow_exec_create(prepared, plan, &exec_options, allocator, &diag, &exec);
  }
  if (status == STOW_OK) {
    fill(exec, graph, STOW_VALUE_NONE, 0);
    status = stow_exec_run(exec, &diag);
  }
  test_check(status == STOW_OK || status == STOW_ERR_OUT_OF_MEMORY, __FILE__, __LINE__,
             "seed %llu: %s", (unsigned long long)seed, diag.message);
  if (status == STOW_OK) {
    compare(exec, graph, seed);
  }
  stow_exec_destroy(exec);
  stow_plan_destroy(plan);
  stow_prepared_destroy(prepared);
  return status;
}

static void run_all(const body* b, uint64_t seed) {
  stow_module* module = make_module(b, seed);
  REQUIRE(module != NULL);
  const stow_graph* graph = stow_module_graph(module, 0);
  way fits = {.threads = 1, .variant = UINT32_MAX, .paranoid = seed % 2 == 0};
  run(graph, &fits, seed, stow_allocator_default());
  for (uint32_t variant = 0; variant < STOWI_KERNEL_STREAM_VARIANTS; ++variant) {
    way w = {.threads = 1 + (uint32_t)(seed + variant) % 3, .variant = variant};
    run(graph, &w, seed, stow_allocator_default());
  }
  stow_module_destroy(module);
}

// ---------------------------------------------------------------------------------------------
// Every op

// Inputs of a function, its node, and the type of the result.
typedef struct op_case {
  const char* inputs[9];
  const char* node;
  const char* result;
  bool is_exact;  // every row that the map names changes the result
} op_case;

static const op_case cases[] = {
    {{"f32[1, 3, 9, 5]", "f32[4, 3, 3, 3]", "f32[4]"},
     "conv(%0, %1, %2) {pads = [1, 1, 1, 1]}",
     "f32[1, 4, 9, 5]",
     true},
    {{"f32[1, 3, 10, 5]", "f32[4, 3, 3, 1]"},
     "conv(%0, %1) {pads = [2, 0, 1, 0], strides = [2, 1]}",
     "f32[1, 4, 6, 5]",
     true},
    {{"f32[1, 4, 9, 5]", "f32[4, 1, 5, 3]"},
     "conv(%0, %1) {group = 4, auto_pad = \"same_upper\", strides = [3, 2]}",
     "f32[1, 4, 3, 3]",
     true},
    {{"f32[1, 4, 8, 6]", "f32[4, 1, 2, 2]"},
     "conv(%0, %1) {group = 4, auto_pad = \"same_lower\"}",
     "f32[1, 4, 8, 6]",
     true},
    {{"f32[1, 2, 11, 7]", "f32[4, 2, 3, 3]"},
     "conv(%0, %1) {dilations = [2, 2], pads = [3, 2, 2, 2]}",
     "f32[1, 4, 12, 7]",
     false},
    {{"f32[1, 2, 9, 4]", "f32[3, 2, 1, 1]"},
     "conv(%0, %1) {strides = [2, 1]}",
     "f32[1, 3, 5, 4]",
     true},
    {{"f16[1, 4, 9, 5]", "f16[6, 2, 3, 3]"}, "conv(%0, %1) {group = 2}", "f16[1, 6, 7, 3]", false},
    {{"f32[1, 3, 9, 5]", "f32[4, 3, 3, 3]", "f32[4]", "f32[1, 4, 9, 5]"},
     "fused_conv(%0, %1, %2, %3) {pads = [1, 1, 1, 1], activation = \"Relu\"}",
     "f32[1, 4, 9, 5]",
     true},
    {{"u8[1, 3, 9, 5]", "i8[4, 3, 3, 3]", "u8[]"},
     "conv_integer(%0, %1, %2) {pads = [1, 1, 1, 1]}",
     "i32[1, 4, 9, 5]",
     true},
    {{"u8[1, 3, 9, 5]", "f32[]", "u8[]", "i8[4, 3, 3, 3]", "f32[]", "i8[]", "f32[]", "u8[]",
      "i32[4]"},
     "qlinear_conv(%0, %1, %2, %3, %4, %5, %6, %7, %8) {strides = [2, 2], pads = [1, 1, 1, 1]}",
     "u8[1, 4, 5, 3]",
     false},
    {{"f32[1, 2, 9, 5]"},
     "pool(%0) {kernel = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]}",
     "f32[1, 2, 5, 3]",
     false},
    {{"f32[1, 2, 9, 5]"},
     "pool(%0) {op = \"avg\", kernel = [4, 2], strides = [3, 1]}",
     "f32[1, 2, 2, 4]",
     true},
    {{"f32[1, 2, 10, 5]"},
     "pool(%0) {op = \"avg\", kernel = [3, 3], strides = [2, 2], pads = [1, 1, 0, 0], "
     "ceil_mode = true}",
     "f32[1, 2, 5, 3]",
     true},
    {{"f32[1, 2, 10, 5]"},
     "pool(%0) {op = \"avg\", kernel = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1], "
     "ceil_mode = true, count_include_pad = true}",
     "f32[1, 2, 6, 3]",
     true},
    {{"f32[1, 2, 9, 5]"}, "pool(%0) {op = \"lp\", kernel = [3, 3]}", "f32[1, 2, 7, 3]", true},
    {{"f32[1, 2, 6, 5]", "f32[]"},
     "pad(%0, %1) {pads = [0, 1, 2, 1, 0, 0, 3, 2]}",
     "f32[1, 3, 11, 8]",
     true},
    {{"f32[1, 2, 6, 5]"}, "resize(%0)", "f32[1, 2, 18, 10]", true},
    {{"f32[1, 2, 6, 5]"},
     "resize(%0) {coordinates = \"asymmetric\", nearest_mode = \"floor\"}",
     "f32[1, 2, 30, 10]",
     true},
    {{"f32[1, 2, 6, 5]"},
     "resize(%0) {coordinates = \"asymmetric\", nearest_mode = \"ceil_if_smaller\"}",
     "f32[1, 2, 12, 3]",
     true},
    {{"f32[1, 3, 6, 5]", "f32[3]", "f32[3]", "f32[3]", "f32[3]"},
     "batch_norm(%0, %1, %2, %3, %4)",
     "f32[1, 3, 6, 5]",
     true},
    {{"f32[1, 3, 6, 5]", "f32[3]", "f32[3]"}, "layer_norm_2d(%0, %1, %2)", "f32[1, 3, 6, 5]", true},
    {{"f32[1, 3, 6, 5]"}, "lrn(%0) {size = 3}", "f32[1, 3, 6, 5]", true},
    {{"f32[1, 3, 6, 5]", "f32[5]"}, "layer_norm(%0, %1)", "f32[1, 3, 6, 5]", true},
    {{"f32[1, 3, 6, 5]", "f32[5]"}, "rms_norm(%0, %1)", "f32[1, 3, 6, 5]", true},
    {{"f32[1, 3, 6, 5]"}, "softmax(%0) {axis = 1}", "f32[1, 3, 6, 5]", true},
    {{"f32[1, 3, 6, 5]"}, "log_softmax(%0)", "f32[1, 3, 6, 5]", true},
    {{"f32[1, 3, 6, 5]"}, "reduce(%0) {axes = [1, -1]}", "f32[1, 1, 6, 1]", true},
    {{"f32[1, 3, 6, 5]", "f32[1, 2, 6, 5]"}, "concat(%0, %1) {axis = 1}", "f32[1, 5, 6, 5]", true},
    {{"f32[1, 3, 6, 5]", "f32[1, 3, 6, 2]"}, "concat(%0, %1) {axis = -1}", "f32[1, 3, 6, 7]", true},
    {{"f32[1, 5, 6, 5]"}, "narrow(%0) {axis = 1, start = 1, len = 3}", "f32[1, 3, 6, 5]", true},
    {{"f32[1, 3, 6, 5]", "f32[1, 3, 6, 5]"}, "add(%0, %1)", "f32[1, 3, 6, 5]", true},
    {{"f32[3, 1, 5]", "f32[1, 3, 6, 5]"}, "mul(%0, %1)", "f32[1, 3, 6, 5]", true},
    {{"f32[1, 1, 6, 1]", "f32[1, 3, 6, 5]"}, "sub(%0, %1)", "f32[1, 3, 6, 5]", true},
    {{"f32[1, 3, 1, 5]", "f32[1, 1, 1, 5]"}, "max(%0, %1)", "f32[1, 3, 1, 5]", false},
    {{"f32[1, 3, 6, 5]", "f32[3, 1, 1]"}, "prelu(%0, %1)", "f32[1, 3, 6, 5]", true},
    {{"f32[1, 3, 6, 5]"}, "clip(%0) {min = 0.25, max = 6.0}", "f32[1, 3, 6, 5]", false},
    {{"f32[1, 3, 6, 5]"}, "cast(%0)", "f16[1, 3, 6, 5]", true},
    {{"f32[1, 3, 6, 5]", "f32[3]", "u8[3]"},
     "quantize_linear(%0, %1, %2)",
     "u8[1, 3, 6, 5]",
     false},
    {{"u8[1, 3, 6, 5]", "f32[]", "u8[]"}, "dequantize_linear(%0, %1, %2)", "f32[1, 3, 6, 5]", true},
    {{"u8[1, 3, 6, 5]", "f32[]", "u8[]", "u8[1, 3, 6, 5]", "f32[]", "u8[]", "f32[]", "u8[]"},
     "qlinear_add(%0, %1, %2, %3, %4, %5, %6, %7)",
     "u8[1, 3, 6, 5]",
     false},
    {{"u8[1, 3, 6, 5]", "f32[]", "u8[]", "f32[]", "u8[]"},
     "qlinear_leaky_relu(%0, %1, %2, %3, %4)",
     "u8[1, 3, 6, 5]",
     false},
};
#define CASE_COUNT (sizeof(cases) / sizeof(cases[0]))

static body body_of(const op_case* c) {
  body b = {.next = 0};
  for (size_t k = 0; k < 9 && c->inputs[k] != NULL; ++k) {
    add_input(&b, c->inputs[k]);
  }
  put(&b.nodes, "%%%u = %s : %s\n", b.next, c->node, c->result);
  add_result(&b, b.next++, c->result);
  return b;
}

TEST(EveryOpGivesTheBitsOfWholeTensors) {
  for (size_t i = 0; i < CASE_COUNT; ++i) {
    body b = body_of(&cases[i]);
    for (b.rows = 0; b.rows < 5; ++b.rows) {
      run_all(&b, i);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Row maps

typedef struct trial {
  const stow_graph* graph;
  stow_prepared* prepared;
  stow_plan* plan;
  stow_exec* exec;
} trial;

static void begin_trial(trial* t, const stow_graph* graph) {
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  *t = (trial){.graph = graph};
  stow_allocator heap = stow_allocator_default();
  REQUIRE(stow_prepare(graph, NULL, heap, NULL, &t->prepared) == STOW_OK);
  REQUIRE(stow_plan_make(graph, stow_prepared_effects(t->prepared), &options, heap, NULL,
                         &t->plan) == STOW_OK);
  REQUIRE(stow_exec_create(t->prepared, t->plan, NULL, heap, NULL, &t->exec) == STOW_OK);
}

static void end_trial(trial* t) {
  stow_exec_destroy(t->exec);
  stow_plan_destroy(t->plan);
  stow_prepared_destroy(t->prepared);
}

// The node's own result; the caller frees it.
static unsigned char* result_of(trial* t, stow_value changed, int64_t row, stow_tensor* out) {
  fill(t->exec, t->graph, changed, row);
  stow_diag diag;
  stow_diag_init(&diag);
  test_check(stow_exec_run(t->exec, &diag) == STOW_OK, __FILE__, __LINE__, "%s", diag.message);
  CHECK(stow_exec_value(t->exec, stow_graph_outputs(t->graph)[0], NULL, out) == STOW_OK);
  unsigned char* data = malloc(stow_tensor_bytes(out));
  if (data == NULL) {
    exit(2);
  }
  memcpy(data, out->data, stow_tensor_bytes(out));
  return data;
}

static bool row_differs(const stow_tensor* type, const unsigned char* a, const unsigned char* b,
                        int64_t row) {
  size_t line = stow_tensor_bytes(type) / (size_t)(type->dims[1] * type->dims[2]);
  bool differs = false;
  for (int64_t c = 0; c < type->dims[1]; ++c) {
    size_t at = (size_t)(c * type->dims[2] + row) * line;
    differs = differs || memcmp(a + at, b + at, line) != 0;
  }
  return differs;
}

// Which rows of the result change with row |row| of operand |k|.
static void check_row(trial* t, const op_case* c, const stowi_graph_row_map* map, stow_value value,
                      size_t k, int64_t row, const unsigned char* before) {
  stow_tensor type;
  unsigned char* after = result_of(t, value, row, &type);
  int64_t rows = stow_graph_type(t->graph, value)->dims[2];
  for (int64_t r = 0; r < type.dims[2]; ++r) {
    int64_t first = r, last = r;
    if (k == 0) {
      stowi_graph_row_range(map, rows, r, &first, &last);
    }
    bool is_read = first <= row && row <= last;
    bool differs = row_differs(&type, before, after, r);
    test_check(is_read || !differs, __FILE__, __LINE__, "%s: row %lld of operand %zu changes %lld",
               c->node, (long long)row, k, (long long)r);
    test_check(!is_read || !c->is_exact || differs, __FILE__, __LINE__,
               "%s: row %lld of operand %zu does not change %lld", c->node, (long long)row, k,
               (long long)r);
  }
  free(after);
}

static void check_map(const op_case* c) {
  body b = body_of(c);
  stow_module* module = make_module(&b, 0);
  REQUIRE(module != NULL);
  const stow_graph* graph = stow_module_graph(module, 0);
  stow_node node = stow_graph_producer(graph, stow_graph_outputs(graph)[0]);
  stowi_graph_row_map map;
  stow_tensor type;
  trial t;
  REQUIRE(stowi_graph_map_rows(graph, node, &map));
  begin_trial(&t, graph);
  unsigned char* before = result_of(&t, STOW_VALUE_NONE, 0, &type);
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    stow_value value = stow_graph_operands(graph, node)[k];
    int64_t rows = (map.whole >> k & 1) != 0 ? 0 : stow_graph_type(graph, value)->dims[2];
    for (int64_t row = 0; row < rows; ++row) {
      check_row(&t, c, &map, value, k, row, before);
    }
  }
  free(before);
  end_trial(&t);
  stow_module_destroy(module);
}

TEST(RowsChangeWhatTheMapsSay) {
  for (size_t i = 0; i < CASE_COUNT; ++i) {
    check_map(&cases[i]);
  }
}

// ---------------------------------------------------------------------------------------------
// Random functions

typedef struct image {
  uint32_t id;
  uint64_t channels, rows, columns;
} image;

typedef struct maker {
  test_random random;
  body b;
  image images[40];
  size_t count;
} maker;

static uint64_t below(maker* m, uint64_t bound) { return test_random_below(&m->random, bound); }

static const char* type_of(image i, char out[64]) {
  snprintf(out, 64, "f32[1, %llu, %llu, %llu]", (unsigned long long)i.channels,
           (unsigned long long)i.rows, (unsigned long long)i.columns);
  return out;
}

// One of the last, most of the time.
static image pick(maker* m) {
  size_t back = (size_t)below(m, below(m, 3) == 0 ? m->count : m->count < 2 ? 1 : 2);
  return m->images[m->count - 1 - back];
}

static void add_image(maker* m, const char* node, image made) {
  char type[64];
  made.id = m->b.next++;
  put(&m->b.nodes, "%%%u = %s : %s\n", made.id, node, type_of(made, type));
  m->images[m->count++] = made;
}

static void add_window(maker* m, bool is_pool) {
  image x = pick(m);
  uint64_t kernel = 1 + below(m, 3), stride = 1 + below(m, 2), dilation = 1 + below(m, 2);
  uint64_t extent = (kernel - 1) * dilation + 1;
  uint64_t top = below(m, extent), bottom = below(m, extent);
  image y = {.channels = is_pool ? x.channels : 1 + below(m, 6)};
  char node[256], weights[64];
  if (x.rows + top + bottom < extent || x.columns < kernel || x.rows < stride) {
    return;
  }
  bool is_deep = below(m, 2) == 0;
  y.channels = is_deep ? x.channels : y.channels;
  y.rows = (x.rows + top + bottom - extent) / stride + 1;
  y.columns = x.columns - kernel + 1;
  if ((y.rows - 1) * stride >= x.rows + top) {
    return;  // the last window is in padding alone
  }
  int size = snprintf(node, sizeof(node), is_pool ? "pool(%%%u) {op = \"%s\", " : "conv(%%%u", x.id,
                      is_deep ? "avg" : "max");
  if (!is_pool) {
    snprintf(weights, sizeof(weights), "f32[%llu, %llu, %llu, %llu]",
             (unsigned long long)y.channels, (unsigned long long)(is_deep ? 1 : x.channels),
             (unsigned long long)kernel, (unsigned long long)kernel);
    size += snprintf(node + size, sizeof(node) - (size_t)size, ", %%%u) {group = %llu, ",
                     add_input(&m->b, weights), (unsigned long long)(is_deep ? x.channels : 1));
  }
  snprintf(node + size, sizeof(node) - (size_t)size,
           "kernel = [%llu, %llu], strides = [%llu, 1], dilations = [%llu, 1], "
           "pads = [%llu, 0, %llu, 0]}",
           (unsigned long long)kernel, (unsigned long long)kernel, (unsigned long long)stride,
           (unsigned long long)dilation, (unsigned long long)top, (unsigned long long)bottom);
  add_image(m, node, y);
}

static void add_pair(maker* m) {
  image x = pick(m);
  image y = m->images[below(m, m->count)];
  char node[128];
  if (x.rows != y.rows || x.columns != y.columns) {
    return;
  }
  if (x.channels == y.channels && below(m, 3) != 0) {
    snprintf(node, sizeof(node), "%s(%%%u, %%%u)", below(m, 2) == 0 ? "add" : "mul", x.id, y.id);
  } else {
    snprintf(node, sizeof(node), "concat(%%%u, %%%u) {axis = 1}", x.id, y.id);
    x.channels += y.channels;
  }
  add_image(m, node, x);
}

static void add_other(maker* m) {
  static const char* const ops[] = {"relu(%%%u)", "sigmoid(%%%u)", "softmax(%%%u) {axis = 1}",
                                    "clip(%%%u) {min = 0.5, max = 1.5}"};
  image x = pick(m);
  char node[128], type[64];
  uint64_t kind = below(m, 8);
  if (kind < 4) {
    snprintf(node, sizeof(node), ops[kind], x.id);
  } else if (kind == 4) {
    snprintf(type, sizeof(type), "f32[%llu, 1, 1]", (unsigned long long)x.channels);
    snprintf(node, sizeof(node), "mul(%%%u, %%%u)", x.id, add_input(&m->b, type));
  } else if (kind == 5 && x.rows < 40) {
    snprintf(node, sizeof(node), "resize(%%%u)", x.id);
    x.rows *= 2;
  } else if (kind == 6) {
    snprintf(node, sizeof(node), "pad(%%%u) {pads = [0, 0, 2, 1, 0, 0, 1, 0]}", x.id);
    x.rows += 3;
    x.columns += 1;
  } else if (x.channels > 1) {
    uint64_t head = 1 + below(m, x.channels - 1);
    image rest = x;
    uint32_t from = x.id;
    char other[64];
    rest.channels = x.channels - head;
    x.channels = head;
    x.id = m->b.next++;
    rest.id = m->b.next++;
    put(&m->b.nodes, "%%%u, %%%u = split(%%%u) {axis = 1, sizes = [%llu, %llu]} : %s, %s\n", x.id,
        rest.id, from, (unsigned long long)head, (unsigned long long)rest.channels,
        type_of(x, type), type_of(rest, other));
    m->images[m->count++] = x;
    m->images[m->count++] = rest;
    return;
  } else {
    return;
  }
  add_image(m, node, x);
}

static body draw(uint64_t seed) {
  static maker m;
  m = (maker){.random = {seed}};
  char type[64];
  size_t inputs = 1 + (size_t)below(&m, 2);
  size_t nodes = 2 + (size_t)below(&m, 14);
  image x = {.channels = 1 + below(&m, 5), .rows = 1 + below(&m, 24), .columns = 4 + below(&m, 9)};
  for (size_t i = 0; i < inputs; ++i) {
    x.id = add_input(&m.b, type_of(x, type));
    m.images[m.count++] = x;
  }
  for (size_t i = 0; i < nodes && m.count < 36; ++i) {
    uint64_t kind = below(&m, 6);
    if (kind < 3) {
      add_window(&m, kind == 2);
    } else if (kind == 3) {
      add_pair(&m);
    } else {
      add_other(&m);
    }
  }
  if (m.count == inputs) {
    char node[32];
    snprintf(node, sizeof(node), "relu(%%%u)", m.images[0].id);
    add_image(&m, node, m.images[0]);
  }
  size_t results = 1 + (size_t)below(&m, 3);
  for (size_t i = m.count; i-- > inputs && results-- > 0;) {
    add_result(&m.b, m.images[i].id, type_of(m.images[i], type));
  }
  m.b.rows = below(&m, 2) == 0 ? 0 : 1 + below(&m, 9);
  return m.b;
}

TEST(RandomFunctionsGiveTheBitsOfWholeTensors) {
  for (uint64_t seed = 1; seed <= (test_is_long() ? 20000 : 400); ++seed) {
    body b = draw(seed);
    run_all(&b, seed);
  }
}

// Also with several threads, which need more copies, no variant needs more than the one before.
TEST(VariantsNeedLessAndLess) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    body b = draw(seed);
    stow_module* module = make_module(&b, seed);
    REQUIRE(module != NULL);
    const stow_graph* graph = stow_module_graph(module, 0);
    stow_node node =
        stow_graph_producer(graph, stow_graph_outputs(graph)[stow_graph_output_count(graph) - 1]);
    const stowi_kernel_stream* all = NULL;
    stowi_exec_streams* streams = NULL;
    stow_allocator heap = stow_allocator_default();
    REQUIRE(stowi_exec_streams_create(graph, NULL, 1 + (uint32_t)(seed % 3), heap, NULL,
                                      &streams) == STOW_OK);
    REQUIRE(stowi_exec_streams_of(streams, node, 0, NULL, &all) == STOW_OK);
    for (size_t i = 1; i < STOWI_KERNEL_STREAM_VARIANTS; ++i) {
      CHECK(all[i].body->bytes <= all[i - 1].body->bytes);
    }
    stowi_exec_streams_destroy(streams);
    stow_module_destroy(module);
  }
}

// ---------------------------------------------------------------------------------------------
// Weights and memory

#define CHAIN                                                         \
  "    %3 = conv(%0, %1) {pads = [1, 1, 1, 1]} : f32[1, 8, 40, 30]\n" \
  "    %4 = relu(%3) : f32[1, 8, 40, 30]\n"                           \
  "    %5 = conv(%4, %2) {pads = [1, 1, 1, 1], strides = [2, 2]} : f32[1, 2, 20, 15]\n"

static void put_weight(text* t, uint32_t id, const char* name, int count, const char* type) {
  put(t, "%%%u = constant \"%s\" {data = [", id, name);
  for (int i = 0; i < count; ++i) {
    put(t, "%s%d", i == 0 ? "" : ", ", i % 23 - 11);
  }
  put(t, "]} : %s\n", type);
}

// Weights are packed for the kernels in the function, which read them in every row.
TEST(FunctionsReadPackedWeights) {
  static text t;
  t.size = 0;
  put(&t, "graph @g {\n  function @f {\n    %%0 = input \"x\" : f32[1, 3, 40, 30]\n");
  put(&t, "    %%1 = input \"w\" : f32[8, 3, 3, 3]\n    %%2 = input \"v\" : f32[2, 8, 3, 3]\n");
  put(&t, "%s", CHAIN "    return %5\n  }\n  %0 = input \"x\" : f32[1, 3, 40, 30]\n");
  put_weight(&t, 1, "w", 216, "f32[8, 3, 3, 3]");
  put_weight(&t, 2, "v", 144, "f32[2, 8, 3, 3]");
  put(&t, "%s", CHAIN);
  put_weight(&t, 6, "w2", 216, "f32[8, 3, 3, 3]");
  put_weight(&t, 7, "v2", 144, "f32[2, 8, 3, 3]");
  put(&t,
      "%%8 = stream(%%0, %%6, %%7) {function = \"f\"} : f32[1, 2, 20, 15]\nreturn %%5, %%8\n}\n");
  stow_module* module = parse(t.data, t.size, 0);
  REQUIRE(module != NULL);
  for (uint32_t variant = 0; variant < STOWI_KERNEL_STREAM_VARIANTS; ++variant) {
    way never = {.threads = 1, .variant = variant, .pack = STOW_PACK_NEVER};
    way always = {.threads = 2, .variant = variant, .pack = STOW_PACK_ALWAYS};
    run(stow_module_graph(module, 0), &never, 0, stow_allocator_default());
    run(stow_module_graph(module, 0), &always, 0, stow_allocator_default());
    CHECK_U64(never.packed, 0);
    CHECK_U64(always.packed, 4);
  }
  stow_module_destroy(module);
}

static stow_status attempt(stow_allocator allocator, void* user) {
  way w = {.threads = 1, .variant = UINT32_MAX};
  return run((const stow_graph*)user, &w, 0, allocator);
}

TEST(EveryAllocationMayFail) {
  body b = draw(3);
  for (b.rows = 0; b.rows < 2; ++b.rows) {
    stow_module* module = make_module(&b, 3);
    REQUIRE(module != NULL);
    CHECK(test_fault_sweep(attempt, stow_module_graph(module, 0)) > 50);
    stow_module_destroy(module);
  }
}

// Following the rows takes as long as there are rows.
TEST(TooManyRowsAreRefused) {
  static const char* const types[] = {"f32[1, 1, 100000000, 1]",
                                      "f32[1, 1048576, 1048576, 1048576]"};
  static const char* const reasons[] = {"reads more than", "is too large to be streamed"};
  for (size_t i = 0; i < 2; ++i) {
    body b = {.next = 0};
    stow_diag diag;
    stow_prepared* prepared = NULL;
    stow_diag_init(&diag);
    add_input(&b, types[i]);
    put(&b.nodes, "%%1 = relu(%%0) : %s\n", types[i]);
    add_result(&b, b.next++, types[i]);
    stow_module* module = make_module(&b, i);
    REQUIRE(module != NULL);
    CHECK(stow_prepare(stow_module_graph(module, 0), NULL, stow_allocator_default(), &diag,
                       &prepared) != STOW_OK);
    test_check(strstr(diag.message, reasons[i]) != NULL, __FILE__, __LINE__, "%s", diag.message);
    stow_module_destroy(module);
  }
}

// ---------------------------------------------------------------------------------------------
// Mistakes

typedef struct copy {
  const stow_graph* function;
  stowi_kernel_stream stream;
  stowi_kernel_stream_value values[64];
  stowi_kernel_stream_step steps[64];
  stowi_kernel_block_value homes[64];
  stowi_kernel_block_step calls[64];
  stowi_kernel_block_body body;
} copy;

// Tables that can be changed.
static copy* copy_of(const stowi_kernel_stream* from, const stow_graph* function) {
  static copy c;
  const stowi_kernel_block_body* first = from->body;
  c = (copy){.function = function, .stream = *from, .body = *first};
  memcpy(c.values, from->values, first->value_count * sizeof(c.values[0]));
  memcpy(c.steps, from->steps, first->step_count * sizeof(c.steps[0]));
  memcpy(c.homes, first->values, first->value_count * sizeof(c.homes[0]));
  memcpy(c.calls, first->steps, first->step_count * sizeof(c.calls[0]));
  c.body.values = c.homes;
  c.body.steps = c.calls;
  c.stream.body = &c.body;
  c.stream.values = c.values;
  c.stream.steps = c.steps;
  return &c;
}

static void refused(const copy* c, const char* why, int line) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status =
      stowi_exec_stream_check(c->function, &c->stream, stow_allocator_default(), &diag);
  test_check(status == STOW_ERR_VIOLATION, __FILE__, line, "accepted");
  test_check(strstr(diag.message, why) != NULL, __FILE__, line, "\"%s\" has no \"%s\"",
             diag.message, why);
}
#define REFUSED(c, why) refused(c, why, __LINE__)

// x, weights, two convolutions with an activation between, and their sum with a pool of that.
static void put_mistaken(text* t, int high, int rows) {
  put(t, "graph @g {\n  function @f {\n    %%0 = input \"x\" : f32[1, 3, %d, 7]\n", high);
  put(t, "    %%1 = input \"w\" : f32[4, 3, 3, 3]\n    %%2 = input \"v\" : f32[4, 4, 3, 3]\n");
  put(t, "    %%3 = conv(%%0, %%1) {pads = [1, 1, 1, 1]} : f32[1, 4, %d, 7]\n", high);
  put(t, "    %%4 = relu(%%3) : f32[1, 4, %d, 7]\n", high);
  put(t, "    %%5 = conv(%%4, %%2) {pads = [1, 1, 1, 1]} : f32[1, 4, %d, 7]\n", high);
  put(t, "    %%6 = add(%%4, %%5) : f32[1, 4, %d, 7]\n", high);
  put(t, "    %%7 = pool(%%6) {kernel = [2, 2], strides = [2, 2]} : f32[1, 4, %d, 3]\n", high / 2);
  put(t, "    return %%7\n  }\n  %%0 = input \"x\" : f32[1, 3, %d, 7]\n", high);
  put(t, "  %%1 = input \"w\" : f32[4, 3, 3, 3]\n  %%2 = input \"v\" : f32[4, 4, 3, 3]\n");
  put(t, "  %%3 = stream(%%0, %%1, %%2) {function = \"f\", rows = %d} : f32[1, 4, %d, 3]\n", rows,
      high / 2);
  put(t, "  return %%3\n}\n");
}

// Its smallest tables for images of |high| rows and room for |rows| at a time, for |check|, which
// makes mistakes in copies of them.
static void with_tables(int high, int rows,
                        void (*check)(const stowi_kernel_stream* from, const stow_graph* f)) {
  stow_allocator heap = stow_allocator_default();
  static text t;
  t.size = 0;
  put_mistaken(&t, high, rows);
  stow_module* module = parse(t.data, t.size, 0);
  REQUIRE(module != NULL);
  const stow_graph* graph = stow_module_graph(module, 0);
  const stow_graph* f = stow_graph_function(graph, 0);
  const stowi_kernel_stream* from = NULL;
  stowi_exec_streams* streams = NULL;
  REQUIRE(stowi_exec_streams_create(graph, NULL, 1, heap, NULL, &streams) == STOW_OK);
  REQUIRE(stowi_exec_streams_of(streams, 3, 0, NULL, &from) == STOW_OK);
  from += STOWI_KERNEL_STREAM_VARIANTS - 1;
  CHECK(stowi_exec_stream_check(f, &copy_of(from, f)->stream, heap, NULL) == STOW_OK);
  check(from, f);
  stowi_exec_streams_destroy(streams);
  stow_module_destroy(module);
}

static void check_rings(const stowi_kernel_stream* from, const stow_graph* f) {
  // Windows of three rows, and two; the first convolution is made where the activation will be, and
  // the second where the sum will. A row that is read at once shares bytes with others.
  CHECK_U64(from->values[3].capacity, 3);
  CHECK_U64(from->values[4].capacity, 3);
  CHECK_U64(from->values[5].capacity, 2);
  CHECK_U64(from->values[7].capacity, 1);
  CHECK(from->body->values[3].at == from->body->values[4].at);
  CHECK(from->body->values[5].at == from->body->values[6].at);

  // Room for fewer rows, also where the ring is shared; room that the bytes do not have.
  copy* c = copy_of(from, f);
  c->values[3].capacity = c->values[4].capacity = 2;
  REFUSED(c, "which is not there");
  c = copy_of(from, f);
  c->values[5].capacity = c->values[6].capacity = 1;
  REFUSED(c, "which is not there");
  c = copy_of(from, f);
  c->values[4].capacity = 2;
  REFUSED(c, "which is not there");
  c = copy_of(from, f);
  c->values[7].capacity = 1000;
  REFUSED(c, "outside of its bytes");
  c = copy_of(from, f);
  c->values[7].capacity = 0;
  REFUSED(c, "outside of its bytes");

  // Results in what a step reads, in another ring, and in place of more than the same row.
  c = copy_of(from, f);
  c->homes[7].at = c->homes[6].at + 4;
  REFUSED(c, "is written over what it reads");
  c = copy_of(from, f);
  c->homes[4].at = c->homes[3].at = c->homes[6].at;
  c->values[3].capacity = c->values[4].capacity = 3;
  REFUSED(c, "is written over what it reads");
  c = copy_of(from, f);
  c->homes[3].at += 4;
  REFUSED(c, "is written over what it reads");
  c = copy_of(from, f);
  c->homes[7].at = c->homes[4].at;
  REFUSED(c, "which is not there");

  // Copies and scratch in rings.
  c = copy_of(from, f);
  c->steps[2].copies_at = c->homes[4].at;
  REFUSED(c, "which is not there");
  c = copy_of(from, f);
  c->steps[2].copies_at = c->homes[6].at;
  REFUSED(c, "scratch in a result");
  c = copy_of(from, f);
  c->calls[2].scratch_at = c->homes[4].at + 60;
  c->calls[2].scratch_size = 8;
  REFUSED(c, "which is not there");
}

TEST(WrongRingsAreRefused) { with_tables(12, 1, check_rings); }

static void check_steps(const stowi_kernel_stream* from, const stow_graph* f) {
  // Rows that the op does not read.
  copy* c = copy_of(from, f);
  c->steps[0].first = 0;
  REFUSED(c, "other rows than the op");
  c = copy_of(from, f);
  c->steps[2].last = 0;
  REFUSED(c, "other rows than the op");
  c = copy_of(from, f);
  c->steps[4].stride = 1;
  REFUSED(c, "other rows than the op");
  c = copy_of(from, f);
  c->steps[1].divide = 2;
  REFUSED(c, "other rows than the op");
  c = copy_of(from, f);
  c->steps[3].rows = 11;
  REFUSED(c, "other rows than the op");
  c = copy_of(from, f);
  c->steps[2].whole = 0;
  REFUSED(c, "other rows than the op");

  // Padding, and calls.
  c = copy_of(from, f);
  c->steps[2].bottom = 1;
  REFUSED(c, "other pads");
  c = copy_of(from, f);
  c->steps[1].pads = 0;
  REFUSED(c, "other pads");
  c = copy_of(from, f);
  c->calls[3].operands = (const uint32_t[]){5, 4};
  REFUSED(c, "is another call");
  c = copy_of(from, f);
  c->calls[2].scratch_at = c->body.bytes + 1;
  REFUSED(c, "outside of its bytes");
  c = copy_of(from, f);
  c->calls[2].scratch_at = c->steps[2].copies_at;
  c->calls[2].scratch_size = 4;
  REFUSED(c, "scratch in its copies");
  c = copy_of(from, f);
  c->steps[2].copy_bytes -= 64;
  REFUSED(c, "no room for copies");
  c = copy_of(from, f);
  c->steps[2].copies_at = c->body.bytes;
  REFUSED(c, "outside of its bytes");
  c = copy_of(from, f);
  c->steps[2].chunk = 1;
  REFUSED(c, "does not treat on their own");
}

TEST(WrongStepsAreRefused) { with_tables(12, 1, check_steps); }

static void check_values(const stowi_kernel_stream* from, const stow_graph* f) {
  copy* c = copy_of(from, f);
  c->values[0].block /= 2;
  REFUSED(c, "lies elsewhere");
  c = copy_of(from, f);
  c->values[0].capacity = 2;
  REFUSED(c, "lies elsewhere");
  c = copy_of(from, f);
  c->values[6].piece -= 4;
  REFUSED(c, "lies elsewhere");
  c = copy_of(from, f);
  c->values[4].maker = 2;
  REFUSED(c, "lies elsewhere");
  c = copy_of(from, f);
  c->homes[2].index = 1;
  REFUSED(c, "not its operand");
  c = copy_of(from, f);
  c->homes[7].home = STOWI_KERNEL_BLOCK_SCRATCH;
  REFUSED(c, "other outputs");
  c = copy_of(from, f);
  c->homes[7].home = STOWI_KERNEL_BLOCK_RESULT;
  REFUSED(c, "lies elsewhere");
  c = copy_of(from, f);
  c->homes[4].home = STOWI_KERNEL_BLOCK_RESULT;
  REFUSED(c, "lies elsewhere");
}

TEST(WrongValuesAreRefused) { with_tables(12, 1, check_values); }

static void check_blocks(const stowi_kernel_stream* from, const stow_graph* f) {
  // Two blocks of five rows need less than three of four.
  CHECK_U64(from->values[3].block, 5);
  CHECK_U64(from->values[3].capacity, 2);
  CHECK_U64(from->values[6].capacity, 2);
  CHECK_U64(from->values[7].block, 4);

  // Blocks that are larger than what is there, none, and others than those of a ring that is
  // shared.
  copy* c = copy_of(from, f);
  c->values[4].block = 61;
  REFUSED(c, "lies elsewhere");
  c = copy_of(from, f);
  c->values[5].block = 0;
  REFUSED(c, "lies elsewhere");
  c = copy_of(from, f);
  c->values[3].block = 2;
  REFUSED(c, "no room for copies");
  c = copy_of(from, f);
  c->values[5].block = 3;
  REFUSED(c, "no room for copies");

  // Rings for fewer blocks, also where larger blocks make up for it.
  c = copy_of(from, f);
  c->values[3].capacity = c->values[4].capacity = 1;
  REFUSED(c, "which is not there");
  c = copy_of(from, f);
  c->values[3].block = c->values[4].block = 6;
  c->values[3].capacity = c->values[4].capacity = 1;
  REFUSED(c, "no room for copies");
  c = copy_of(from, f);
  c->values[7].block = 6;
  REFUSED(c, "no room for copies");
  c = copy_of(from, f);
  c->steps[4].copy_bytes = 0;
  REFUSED(c, "no room for copies");
}

TEST(WrongBlocksAreRefused) { with_tables(60, 4, check_blocks); }

static void check_whole(const stowi_kernel_stream* from, const stow_graph* f) {
  // All rows at once: made in the result, without copies.
  CHECK(from->body->values[7].home == STOWI_KERNEL_BLOCK_RESULT);
  CHECK_U64(from->values[4].block, 12);
  CHECK_U64(from->values[4].capacity, 1);
  CHECK_U64(from->steps[2].copy_bytes, 0);
  CHECK_U64(from->steps[4].copy_bytes, 0);

  // Another value in the result, and an output that is not all in one block.
  copy* c = copy_of(from, f);
  c->homes[6].home = STOWI_KERNEL_BLOCK_RESULT;
  c->homes[6].index = 0;
  REFUSED(c, "lies elsewhere");
  c = copy_of(from, f);
  c->homes[7].index = 1;
  REFUSED(c, "other outputs");
  c = copy_of(from, f);
  c->values[7].block = 3;
  c->values[7].capacity = 2;
  REFUSED(c, "lies elsewhere");
}

TEST(WrongResultsAreRefused) { with_tables(12, 12, check_whole); }
