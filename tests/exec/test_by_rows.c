// Pitched values and nodes that are run row by row: every kind of op gives the same bits so, and
// graphs with several samples, full of parts along inner axes, give the same outputs with pitched
// values as without shared bytes.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/text.h>
#include <string.h>

#include "exec/run_graph.h"
#include "support/fault.h"
#include "support/test.h"

#define MAX_TEXT 20000

static stow_graph* parse(const char* text, stow_allocator allocator, stow_module** out_module) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status =
      stow_module_parse(text, strlen(text), NULL, NULL, allocator, &diag, out_module);
  test_check(status == STOW_OK || status == STOW_ERR_OUT_OF_MEMORY, __FILE__, __LINE__, "%s in\n%s",
             diag.message, text);
  return status == STOW_OK ? (stow_graph*)stow_module_graph(*out_module, 0) : NULL;
}

// ---------------------------------------------------------------------------------------------
// Ops that random graphs rarely have with several samples

static const struct {
  stow_op op;
  const char* text;
} op_cases[] = {
    {STOW_OP_CONV,
     "%0 = input \"x\" : f32[3, 4, 9, 7]\n%1 = param \"w\" : f32[6, 4, 3, 3]\n"
     "%2 = param \"b\" : f32[6]\n%3 = conv(%0, %1, %2) {pads = [1, 1, 1, 1], strides = [2, 1]} "
     ": f32[3, 6, 5, 7]\nreturn %3"},
    {STOW_OP_CONV,
     "%0 = input \"x\" : f32[2, 70, 11, 13]\n%1 = param \"w\" : f32[33, 70, 1, 1]\n"
     "%2 = conv(%0, %1) : f32[2, 33, 11, 13]\nreturn %2"},
    {STOW_OP_CONV,
     "%0 = input \"x\" : f32[3, 6, 8, 8]\n%1 = param \"w\" : f32[6, 1, 3, 3]\n"
     "%2 = conv(%0, %1) {group = 6} : f32[3, 6, 6, 6]\nreturn %2"},
    {STOW_OP_FUSED_CONV,
     "%0 = input \"x\" : f32[3, 4, 9, 7]\n%1 = param \"w\" : f32[5, 4, 3, 3]\n"
     "%2 = param \"b\" : f32[5]\n%3 = input \"z\" : f32[3, 5, 7, 5]\n"
     "%4 = fused_conv(%0, %1, %2, %3) : f32[3, 5, 7, 5]\nreturn %4"},
    {STOW_OP_CONV_TRANSPOSE,
     "%0 = input \"x\" : f32[3, 4, 5, 6]\n%1 = param \"w\" : f32[4, 3, 3, 3]\n"
     "%2 = conv_transpose(%0, %1) {strides = [2, 2]} : f32[3, 3, 11, 13]\nreturn %2"},
    {STOW_OP_CONV_INTEGER,
     "%0 = input \"x\" : u8[3, 4, 6, 6]\n%1 = param \"w\" : i8[5, 4, 3, 3]\n"
     "%2 = conv_integer(%0, %1) : i32[3, 5, 4, 4]\nreturn %2"},
    {STOW_OP_MATMUL,
     "%0 = input \"a\" : f32[3, 2, 33, 40]\n%1 = input \"b\" : f32[3, 1, 40, 35]\n"
     "%2 = matmul(%0, %1) : f32[3, 2, 33, 35]\nreturn %2"},
    {STOW_OP_MATMUL,
     "%0 = input \"a\" : f32[3, 17, 300]\n%1 = param \"w\" : f32[300, 65]\n"
     "%2 = matmul(%0, %1) : f32[3, 17, 65]\nreturn %2"},
    {STOW_OP_POOL,
     "%0 = input \"x\" : f32[3, 4, 9, 9]\n"
     "%1 = pool(%0) {op = \"avg\", kernel = [3, 3], strides = [2, 2]} : f32[3, 4, 4, 4]\n"
     "return %1"},
    {STOW_OP_RESIZE,
     "%0 = input \"x\" : f32[3, 4, 5, 6]\n"
     "%1 = resize(%0) {mode = \"linear\"} : f32[3, 4, 10, 9]\nreturn %1"},
    {STOW_OP_REDUCE,
     "%0 = input \"x\" : f32[3, 40, 30]\n"
     "%1 = reduce(%0) {op = \"mean\", axes = [1, 2], keepdims = false} : f32[3]\nreturn %1"},
    {STOW_OP_GROUP_NORM,
     "%0 = input \"x\" : f32[3, 6, 5, 5]\n%1 = param \"s\" : f32[6]\n%2 = param \"b\" : f32[6]\n"
     "%3 = group_norm(%0, %1, %2) {groups = 3} : f32[3, 6, 5, 5]\nreturn %3"},
    {STOW_OP_INSTANCE_NORM,
     "%0 = input \"x\" : f32[3, 6, 5, 5]\n%1 = param \"s\" : f32[6]\n%2 = param \"b\" : f32[6]\n"
     "%3 = instance_norm(%0, %1, %2) : f32[3, 6, 5, 5]\nreturn %3"},
    {STOW_OP_LAYER_NORM_2D,
     "%0 = input \"x\" : f32[3, 6, 5, 5]\n%1 = param \"s\" : f32[6]\n%2 = param \"b\" : f32[6]\n"
     "%3 = layer_norm_2d(%0, %1, %2) : f32[3, 6, 5, 5]\nreturn %3"},
    {STOW_OP_BATCH_NORM,
     "%0 = input \"x\" : f32[3, 6, 5, 5]\n%1 = param \"s\" : f32[6]\n%2 = param \"b\" : f32[6]\n"
     "%3 = param \"m\" : f32[6]\n%4 = constant \"v\" {data = [1, 2, 3, 1, 2, 3]} : i32[6]\n"
     "%5 = cast(%4) : f32[6]\n%6 = batch_norm(%0, %1, %2, %3, %5) : f32[3, 6, 5, 5]\nreturn %6"},
    {STOW_OP_LRN,
     "%0 = input \"x\" : f32[3, 6, 5, 5]\n%1 = lrn(%0) {size = 3} : f32[3, 6, 5, 5]\nreturn %1"},
    {STOW_OP_DEPTH_TO_SPACE,
     "%0 = input \"x\" : f32[3, 8, 5, 5]\n"
     "%1 = depth_to_space(%0) {blocksize = 2} : f32[3, 2, 10, 10]\nreturn %1"},
    {STOW_OP_SPACE_TO_DEPTH,
     "%0 = input \"x\" : f32[3, 2, 10, 10]\n"
     "%1 = space_to_depth(%0) {blocksize = 2} : f32[3, 8, 5, 5]\nreturn %1"},
    {STOW_OP_LOG_SOFTMAX,
     "%0 = input \"x\" : f32[3, 5, 7]\n%1 = log_softmax(%0) : f32[3, 5, 7]\nreturn %1"},
};

static run_way row_way(void) {
  run_way way = {.name = "rows", .threads = 1, .has_variants = true, .checks_rows = true};
  stow_plan_options_init(&way.plan, STOW_PRESET_DEFAULT);
  way.plan.reuse = false;
  return way;
}

TEST(OpsGiveTheSameBitsRowByRow) {
  for (size_t i = 0; i < sizeof(op_cases) / sizeof(op_cases[0]); ++i) {
    char text[2000];
    stow_module* module = NULL;
    test_frozen frozen = {NULL, 0};
    (void)snprintf(text, sizeof text, "graph @g {\n%s\n}\n", op_cases[i].text);
    const stow_graph* graph = parse(text, test_frozen_allocator(&frozen), &module);
    if (graph != NULL) {
      for (uint64_t seed = 1; seed <= 8; ++seed) {  // each draws other variants
        run_graph g;
        run_way way = row_way();
        run_graph_init(&g, graph, &frozen, seed);
        run_trace trace = run_graph_run(&g, &way);
        test_check(trace.status == STOW_OK && trace.failed == STOW_NODE_NONE, __FILE__, __LINE__,
                   "%s: %s", text, trace.message);
        test_check(g.by_rows[op_cases[i].op] > 0, __FILE__, __LINE__, "not run row by row:\n%s",
                   text);
        run_trace_free(&trace);
        run_graph_free(&g);
      }
    }
    stow_module_destroy(module);
    test_frozen_free(&frozen);
  }
}

// ---------------------------------------------------------------------------------------------
// Random graphs of images [batch, channels, 3, 4]

#define MOST_IMAGES 100

typedef struct maker {
  test_random* random;
  char text[MAX_TEXT];
  size_t size;
  uint32_t batch;
  uint32_t ids[MOST_IMAGES];
  uint32_t channels[MOST_IMAGES];
  size_t count;
  uint32_t next;  // id
} maker;

static uint32_t below(maker* m, uint32_t bound) {
  return (uint32_t)test_random_below(m->random, bound);
}

__attribute__((format(printf, 2, 3))) static void say(maker* m, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(m->text + m->size, MAX_TEXT - m->size, format, arguments);
  va_end(arguments);
  m->size += (size_t)size < MAX_TEXT - m->size ? (size_t)size : 0;
}

static void show(maker* m, uint32_t channels) {
  m->ids[m->count] = m->next++;
  m->channels[m->count++] = channels;
}

static void say_type(maker* m, uint32_t channels) {
  say(m, "f32[%u, %u, 3, 4]", m->batch, channels);
}

static void end_node(maker* m, uint32_t channels) {
  say(m, " : ");
  say_type(m, channels);
  say(m, "\n");
  show(m, channels);
}

static size_t pick(maker* m) {
  size_t reach = below(m, 3) != 0 && m->count > 4 ? 4 : m->count;
  return m->count - 1 - below(m, (uint32_t)reach);
}

static void add_conv(maker* m) {
  size_t x = pick(m);
  uint32_t made = 1 + below(m, 5);
  say(m, "%%%u = param \"w%u\" : f32[%u, %u, 3, 3]\n", m->next, m->next, made, m->channels[x]);
  m->next += 1;
  say(m, "%%%u = conv(%%%u, %%%u) {pads = [1, 1, 1, 1]}", m->next, m->ids[x], m->next - 1);
  end_node(m, made);
}

static void add_concat(maker* m) {
  uint32_t channels = 0;
  say(m, "%%%u = concat(", m->next);
  for (uint32_t k = 0, count = 2 + below(m, 3); k < count; ++k) {
    size_t x = pick(m);
    channels += m->channels[x];
    say(m, "%s%%%u", k == 0 ? "" : ", ", m->ids[x]);
  }
  say(m, ") {axis = 1}");
  end_node(m, channels);
}

static void add_split(maker* m) {
  size_t x = pick(m);
  uint32_t all = m->channels[x];
  if (all < 2) {
    return;
  }
  uint32_t first = 1 + below(m, all - 1);
  say(m, "%%%u, %%%u = split(%%%u) {axis = 1, sizes = [%u, %u]} : ", m->next, m->next + 1,
      m->ids[x], first, all - first);
  say_type(m, first);
  say(m, ", ");
  say_type(m, all - first);
  say(m, "\n");
  show(m, first);
  show(m, all - first);
}

static void add_unary(maker* m) {
  static const char* const ops[] = {"relu", "neg", "sigmoid", "abs"};
  size_t x = pick(m);
  say(m, "%%%u = %s(%%%u)", m->next, ops[below(m, 4)], m->ids[x]);
  end_node(m, m->channels[x]);
}

static void add_binary(maker* m) {
  size_t x = pick(m);
  size_t y = pick(m);
  y = m->channels[y] == m->channels[x] ? y : x;
  say(m, "%%%u = add(%%%u, %%%u)", m->next, m->ids[x], m->ids[y]);
  end_node(m, m->channels[x]);
}

// A pool of the same size, and a view.
static void add_pool(maker* m) {
  size_t x = pick(m);
  say(m, "%%%u = pool(%%%u) {op = \"max\", kernel = [3, 3], pads = [1, 1, 1, 1]}", m->next,
      m->ids[x]);
  end_node(m, m->channels[x]);
  say(m, "%%%u = reshape(%%%u) : f32[%u, %u, 12]\n", m->next, m->next - 1, m->batch,
      m->channels[x]);
  m->next += 1;
  say(m, "%%%u = reshape(%%%u)", m->next, m->next - 1);
  end_node(m, m->channels[x]);
}

static void add_blocks(maker* m) {
  size_t x = pick(m);
  say(m, "%%%u = blocks(%%%u) {function = \"silu\", groups = %u, rows = %u}", m->next, m->ids[x],
      m->batch, m->channels[x] * 12);
  end_node(m, m->channels[x]);
}

static void write_graph(maker* m) {
  static void (*const adders[])(maker*) = {add_conv,  add_conv,  add_concat, add_concat,
                                           add_split, add_split, add_unary,  add_binary,
                                           add_pool,  add_blocks};
  m->batch = 2 + below(m, 2);
  say(m,
      "graph @g {\nfunction @silu {\n%%0 = input \"x\" : f32[?rows]\n"
      "%%1 = sigmoid(%%0) : f32[?rows]\n%%2 = mul(%%0, %%1) : f32[?rows]\nreturn %%2\n}\n");
  say(m, "%%0 = input \"x\" : f32[%u, 4, 3, 4]\n", m->batch);
  show(m, 4);
  for (uint32_t i = 0, count = 4 + below(m, 20); i < count && m->count < MOST_IMAGES - 4; ++i) {
    uint32_t kind = below(m, 10);
    bool is_large = m->channels[m->count - 1] > 60;
    adders[is_large ? 4 : kind](m);
  }
  say(m, "return %%%u", m->ids[m->count - 1]);
  if (below(m, 3) == 0) {
    say(m, ", %%%u", m->ids[pick(m)]);
  }
  say(m, "\n}\n");
}

typedef struct way {
  bool reuse;
  uint64_t least_row;
  uint32_t threads;
  bool paranoid;
  bool saved;  // the plan is written and read first
} way;

static float element_of(size_t i) { return (float)((i * 2654435761U >> 7) % 2001) / 1000.0F - 1; }

static const void* give_weight(void* user, stow_value value, size_t* out_size) {
  const stow_graph* graph = (const stow_graph*)user;
  static float weights[1 << 16];
  uint64_t bytes = 0;
  for (size_t i = 0; i < 1 << 16; ++i) {
    weights[i] = element_of(i + 77);
  }
  (void)stow_type_bytes(stow_graph_type(graph, value), &bytes);
  *out_size = (size_t)bytes;
  return bytes <= sizeof weights ? weights : NULL;
}

static size_t count_pitched(const stow_plan* plan) {
  size_t count = 0;
  for (stow_value v = 0; v < stow_plan_value_count(plan); ++v) {
    stow_plan_value value = {.struct_size = sizeof(value)};
    count += stow_plan_describe_value(plan, v, &value) == STOW_OK && value.rows > 1;
  }
  return count;
}

static stow_status save_and_read(const stow_graph* graph, stow_allocator allocator, stow_diag* diag,
                                 stow_plan** plan) {
  stow_string text;
  stow_string again;
  stow_plan* read = NULL;
  stow_string_init(&text, allocator);
  stow_string_init(&again, allocator);
  stow_status status = stow_plan_write(*plan, STOW_PLAN_SAVED, stow_string_writer(&text));
  if (status == STOW_OK) {
    status = stow_plan_read(text.data, text.size, NULL, graph, allocator, diag, &read);
  }
  if (status == STOW_OK) {
    status = stow_plan_write(read, STOW_PLAN_SAVED, stow_string_writer(&again));
    CHECK(status != STOW_OK ||
          (text.size == again.size && memcmp(text.data, again.data, text.size) == 0));
    stow_plan_destroy(*plan);
    *plan = read;
  }
  stow_string_free(&text);
  stow_string_free(&again);
  return status;
}

// The outputs, one after the other, in |out|, which has room for |room| bytes.
static stow_status run(const stow_graph* graph, const way* how, stow_allocator allocator,
                       stow_diag* diag, unsigned char* out, size_t room, size_t* out_pitched) {
  stow_prepared* prepared = NULL;
  stow_plan* plan = NULL;
  stow_exec* exec = NULL;
  stow_prepare_options prepare;
  stow_plan_options options;
  stow_exec_options running;
  stow_prepare_options_init(&prepare);
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  stow_exec_options_init(&running);
  prepare.threads = how->threads;
  options.params = false;
  options.reuse = how->reuse;
  options.least_row = how->least_row;
  options.alignment = 16;
  options.order = how->paranoid ? STOW_ORDER_AUTO : STOW_ORDER_GIVEN;
  running.weight = give_weight;
  running.user = (void*)(uintptr_t)graph;
  running.paranoid = how->paranoid;
  stow_status status = stow_prepare(graph, &prepare, allocator, diag, &prepared);
  if (status == STOW_OK) {
    status =
        stow_plan_make(graph, stow_prepared_effects(prepared), &options, allocator, diag, &plan);
  }
  if (status == STOW_OK && how->saved) {
    status = save_and_read(graph, allocator, diag, &plan);
  }
  if (status == STOW_OK) {
    *out_pitched = count_pitched(plan);
    status = stow_exec_create(prepared, plan, &running, allocator, diag, &exec);
  }
  if (status == STOW_OK) {
    stow_tensor input;
    status = stow_exec_fill(exec, 0, diag, &input);
    for (size_t i = 0; status == STOW_OK && i < stow_tensor_elements(&input); ++i) {
      ((float*)input.data)[i] = element_of(i);
    }
  }
  status = status == STOW_OK ? stow_exec_run(exec, diag) : status;
  for (size_t k = 0; status == STOW_OK && k < stow_graph_output_count(graph); ++k) {
    stow_tensor output;
    status = stow_exec_value(exec, stow_graph_outputs(graph)[k], diag, &output);
    size_t bytes = stow_tensor_bytes(&output);
    if (status == STOW_OK && CHECK(bytes <= room)) {
      memcpy(out, output.data, bytes);
      out += bytes;
      room -= bytes;
    }
  }
  stow_exec_destroy(exec);
  stow_plan_destroy(plan);
  stow_prepared_destroy(prepared);
  return status;
}

#define MOST_BYTES (1 << 20)

TEST(PitchedValuesGiveTheSameBits) {
  static const way ways[] = {
      {true, 1, 1, false, false}, {true, 1, 2, false, true}, {true, 100, 1, true, false}};
  static unsigned char expected[MOST_BYTES], found[MOST_BYTES];
  stow_allocator allocator = stow_allocator_default();
  size_t pitched = 0;
  size_t pitched_plans = 0;
  size_t plans = 0;
  for (uint64_t seed = 1; seed <= (test_is_long() ? 4000u : 300u); ++seed) {
    test_random random = {seed};
    maker* m = (maker*)calloc(1, sizeof(*m));
    stow_module* module = NULL;
    stow_diag diag;
    stow_diag_init(&diag);
    m->random = &random;
    write_graph(m);
    const stow_graph* graph = parse(m->text, allocator, &module);
    if (graph != NULL) {
      static const way alone = {false, 0, 1, false, false};
      size_t count;
      memset(expected, 0, sizeof expected);
      CHECK(run(graph, &alone, allocator, &diag, expected, MOST_BYTES, &count) == STOW_OK);
      for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); ++i) {
        memset(found, 0, sizeof found);
        stow_status status = run(graph, &ways[i], allocator, &diag, found, MOST_BYTES, &count);
        test_check(status == STOW_OK && memcmp(found, expected, MOST_BYTES) == 0, __FILE__,
                   __LINE__, "seed %llu, way %zu: %s in\n%s", (unsigned long long)seed, i,
                   status == STOW_OK ? "other outputs" : diag.message, m->text);
        pitched += count;
        pitched_plans += count != 0;
        ++plans;
      }
    }
    stow_module_destroy(module);
    free(m);
  }
  CHECK(pitched_plans * 3 > plans);
  CHECK(pitched > plans);
}

// ---------------------------------------------------------------------------------------------

static const char* const small =
    "graph @g {\n%0 = input \"x\" : f32[2, 4, 3, 4]\n%1 = relu(%0) : f32[2, 4, 3, 4]\n"
    "%2, %3 = split(%1) {axis = 1, sizes = [1, 3]} : f32[2, 1, 3, 4], f32[2, 3, 3, 4]\n"
    "%4 = neg(%2) : f32[2, 1, 3, 4]\n%5 = concat(%4, %3) {axis = 1} : f32[2, 4, 3, 4]\n"
    "%6 = exp(%5) : f32[2, 4, 3, 4]\nreturn %6\n}\n";

static stow_status run_small(stow_allocator allocator, void* user) {
  static const way how = {true, 1, 1, true, true};
  static unsigned char out[1000];
  stow_module* module = NULL;
  size_t pitched = 0;
  const stow_graph* graph = parse(small, allocator, &module);
  stow_status status = graph == NULL ? STOW_ERR_OUT_OF_MEMORY
                                     : run(graph, &how, allocator, NULL, out, sizeof out, &pitched);
  CHECK(status != STOW_OK || pitched > 0);
  stow_module_destroy(module);
  (void)user;
  return status;
}

TEST(EveryAllocationMayFail) { CHECK(test_fault_sweep(run_small, NULL) > 50); }

// A caller's kernel gets all rows in one call.
static stow_status negate(stow_kernel_call* call) {
  const stow_tensor* x = stow_kernel_operand(call, 0);
  float* y = (float*)stow_kernel_result(call, 0)->data;
  CHECK(x->dims[0] == 2);
  for (size_t i = 0; i < stow_tensor_elements(x); ++i) {
    y[i] = -((const float*)x->data)[i];
  }
  return STOW_OK;
}

TEST(OtherKernelsGetDenseTensors) {
  stow_allocator allocator = stow_allocator_default();
  stow_module* module = NULL;
  stow_kernels* kernels = NULL;
  stow_prepared* prepared = NULL;
  stow_plan* plan = NULL;
  stow_kernel kernel = {.struct_size = sizeof(kernel), .run = negate};
  stow_prepare_options prepare;
  stow_plan_options options;
  stow_prepare_options_init(&prepare);
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  options.least_row = 1;
  const stow_graph* graph = parse(small, allocator, &module);
  CHECK(stow_kernels_create(allocator, NULL, &kernels) == STOW_OK);
  CHECK(stow_kernels_set(kernels, STOW_OP_NEG, &kernel, NULL) == STOW_OK);
  prepare.kernels = kernels;
  if (CHECK(stow_prepare(graph, &prepare, allocator, NULL, &prepared) == STOW_OK) &&
      CHECK(stow_plan_make(graph, stow_prepared_effects(prepared), &options, allocator, NULL,
                           &plan) == STOW_OK)) {
    for (stow_value v = 2; v <= 4; ++v) {
      stow_plan_value value = {.struct_size = sizeof(value)};
      CHECK(stow_plan_describe_value(plan, v, &value) == STOW_OK);
      CHECK(v == 3 || value.rows == 1);
    }
  }
  stow_plan_destroy(plan);
  stow_prepared_destroy(prepared);
  stow_kernels_destroy(kernels);
  stow_module_destroy(module);
}

// The tensor of a pitched value has strides; its rows are those of a run without.
TEST(AnExecutorTellsStrides) {
  stow_allocator allocator = stow_allocator_default();
  stow_module* module = NULL;
  stow_prepared* prepared = NULL;
  stow_plan* plan = NULL;
  stow_exec* exec = NULL;
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  options.least_row = 1;
  options.alignment = 4;
  const stow_graph* graph = parse(small, allocator, &module);
  if (CHECK(stow_prepare(graph, NULL, allocator, NULL, &prepared) == STOW_OK) &&
      CHECK(stow_plan_make(graph, stow_prepared_effects(prepared), &options, allocator, NULL,
                           &plan) == STOW_OK) &&
      CHECK(stow_exec_create(prepared, plan, NULL, allocator, NULL, &exec) == STOW_OK)) {
    stow_tensor tensor;
    CHECK(stow_exec_value(exec, 3, NULL, &tensor) == STOW_OK);
    CHECK_U64((uint64_t)tensor.dims[1], 3);
    CHECK_U64((uint64_t)tensor.strides[0], 48);
    CHECK_U64((uint64_t)tensor.strides[1], 12);
    CHECK_U64((uint64_t)tensor.strides[2], 4);
    CHECK_U64((uint64_t)tensor.strides[3], 1);
    CHECK(stow_exec_value(exec, 6, NULL, &tensor) == STOW_OK);
    CHECK_U64((uint64_t)tensor.strides[0], 0);
  }
  stow_exec_destroy(exec);
  stow_plan_destroy(plan);
  stow_prepared_destroy(prepared);
  stow_module_destroy(module);
}
