// Packing weights: which ones, when, how often, and what an executor shows of them. The library's
// kernels pack; kernel_case proves that their numbers stay the same.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/run/prepare.h"
#include "support/fault.h"
#include "support/struct_size.h"
#include "support/test.h"

#define ROWS 3
#define STEPS 5
#define COLUMNS 40

// y = x · w
typedef struct pack_case {
  stow_graph* graph;
  stow_value x, w, y;
  unsigned char* bytes;  // of the weight, which begins |shift| bytes into them
  stow_prepared* prepared;
  stow_plan* plan;
  stow_exec* exec;
  stow_diag diag;
  size_t copied;  // bytes that on_copied told of
  size_t calls;
} pack_case;

static stow_type matrix(int64_t rows, int64_t columns) {
  return (stow_type){.dtype = STOW_F32, .rank = 2, .dims = {rows, columns}};
}

// How the weight is used besides.
typedef enum use { USE_ONCE, USE_TWICE, USE_AS_OUTPUT, USE_AS_STATE, USE_WITHOUT_DATA } use;

static void add_weight(pack_case* c, use how, size_t shift) {
  stow_type type = matrix(STEPS, COLUMNS);
  stow_node node;
  float* numbers = malloc(STEPS * COLUMNS * sizeof(float));
  for (size_t i = 0; i < STEPS * COLUMNS; ++i) {
    numbers[i] = (float)(i % 17) - 8;
  }
  c->bytes = aligned_alloc(64, 1024 + 64);
  memcpy(c->bytes + shift, numbers, STEPS * COLUMNS * sizeof(float));
  free(numbers);
  stow_call* call = stow_graph_begin(c->graph, STOW_OP_PARAM);
  stow_call_result_type(call, &type);
  stow_call_name(call, 0, stow_str_of("w"));
  if (how != USE_WITHOUT_DATA) {
    stow_call_data(call, c->bytes + shift, STEPS * COLUMNS * sizeof(float), false);
  }
  if (how == USE_AS_STATE) {
    stow_attr state = {.name = stow_str_of("state"), .kind = STOW_ATTR_BOOL, .b = true};
    stow_call_with(call, &state);
  }
  REQUIRE(stow_call_finish(call, &c->diag, &node) == STOW_OK);
  c->w = stow_graph_first_result(c->graph, node);
}

static stow_value add_op(pack_case* c, stow_op op, stow_value a, stow_value b) {
  stow_node node;
  stow_call* call = stow_graph_begin(c->graph, op);
  stow_call_operand(call, a);
  if (b != STOW_VALUE_NONE) {
    stow_call_operand(call, b);
  }
  CHECK(stow_call_finish(call, &c->diag, &node) == STOW_OK);
  return stow_graph_first_result(c->graph, node);
}

static void begin(pack_case* c, use how, size_t shift) {
  stow_type type = matrix(ROWS, STEPS);
  memset(c, 0, sizeof(*c));
  stow_diag_init(&c->diag);
  REQUIRE(stow_graph_create(stow_str_of("g"), NULL, stow_allocator_default(), &c->diag,
                            &c->graph) == STOW_OK);
  REQUIRE(stow_graph_input(c->graph, "x", &type, &c->diag, &c->x) == STOW_OK);
  add_weight(c, how, shift);
  c->y = add_op(c, STOW_OP_MATMUL, c->x, c->w);
  REQUIRE(stow_graph_add_output(c->graph, c->y, &c->diag) == STOW_OK);
  if (how == USE_TWICE || how == USE_AS_OUTPUT) {
    stow_value other = how == USE_TWICE ? add_op(c, STOW_OP_RELU, c->w, STOW_VALUE_NONE) : c->w;
    REQUIRE(stow_graph_add_output(c->graph, other, &c->diag) == STOW_OK);
  }
}

static void unmake(pack_case* c) {
  stow_exec_destroy(c->exec);
  stow_plan_destroy(c->plan);
  stow_prepared_destroy(c->prepared);
  c->exec = NULL;
  c->plan = NULL;
  c->prepared = NULL;
}

static void end(pack_case* c) {
  unmake(c);
  stow_graph_destroy(c->graph);
  free(c->bytes);
}

static stow_status prepare(pack_case* c, stow_pack pack, stow_allocator allocator) {
  stow_prepare_options options;
  stow_prepare_options_init(&options);
  options.pack = pack;
  return stow_prepare(c->graph, &options, allocator, &c->diag, &c->prepared);
}

static void note_copied(void* user, stow_value value, const void* data, size_t size) {
  pack_case* c = user;
  CHECK(value == c->w && data == stow_graph_data(c->graph, value, NULL));
  c->copied += size;
  ++c->calls;
}

static stow_status make(pack_case* c, stow_allocator allocator, bool has_slots) {
  stow_plan_options options;
  stow_exec_options run;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  stow_exec_options_init(&run);
  options.params = has_slots;
  run.on_copied = note_copied;
  run.user = c;
  stow_status status = stow_plan_make(c->graph, stow_prepared_effects(c->prepared), &options,
                                      allocator, &c->diag, &c->plan);
  return status == STOW_OK
             ? stow_exec_create(c->prepared, c->plan, &run, allocator, &c->diag, &c->exec)
             : status;
}

static stow_prepared_info info_of(const pack_case* c) {
  stow_prepared_info info = {.struct_size = sizeof(info)};
  CHECK(stow_prepared_describe(c->prepared, &info) == STOW_OK);
  return info;
}

// The product, element by element; sums are of small integers, hence exact.
static void check_run(pack_case* c) {
  float x[ROWS * STEPS];
  stow_tensor tensor = {.data = x, .dtype = STOW_F32, .rank = 2, .dims = {ROWS, STEPS}};
  for (size_t i = 0; i < ROWS * STEPS; ++i) {
    x[i] = (float)i - 7;
  }
  CHECK(stow_exec_input(c->exec, c->x, &tensor, &c->diag) == STOW_OK);
  REQUIRE(stow_exec_run(c->exec, &c->diag) == STOW_OK);
  REQUIRE(stow_exec_value(c->exec, c->y, &c->diag, &tensor) == STOW_OK);
  const float* y = tensor.data;
  for (size_t i = 0; i < ROWS * COLUMNS; ++i) {
    float sum = 0;
    for (size_t p = 0; p < STEPS; ++p) {
      sum += x[i / COLUMNS * STEPS + p] * ((float)((p * COLUMNS + i % COLUMNS) % 17) - 8);
    }
    CHECK(y[i] == sum);
  }
}

TEST(AWeightOfOneReaderIsPacked) {
  for (size_t shift = 0; shift < 4; ++shift) {
    for (int has_slots = 0; has_slots < 2; ++has_slots) {
      pack_case c;
      begin(&c, USE_ONCE, shift);
      REQUIRE(prepare(&c, STOW_PACK_AUTO, stow_allocator_default()) == STOW_OK);
      stow_prepared_info info = info_of(&c);
      CHECK_U64(info.packed_count, 0);  // 32 floats more are too many
      unmake(&c);
      REQUIRE(prepare(&c, STOW_PACK_ALWAYS, stow_allocator_default()) == STOW_OK);
      info = info_of(&c);
      CHECK_U64(info.packed_count, 1);
      CHECK_U64(info.packed_from, STEPS * COLUMNS * sizeof(float));
      CHECK(info.packed_bytes >= info.packed_from);
      REQUIRE(make(&c, stow_allocator_default(), has_slots != 0) == STOW_OK);
      CHECK_U64(c.calls, 1);
      CHECK_U64(c.copied, STEPS * COLUMNS * sizeof(float));
      check_run(&c);
      check_run(&c);
      stow_plan_info plan = {.struct_size = sizeof(plan)};
      CHECK(stow_plan_describe(c.plan, &plan) == STOW_OK);
      CHECK(plan.pack == STOW_PACK_ALWAYS && plan.packed_bytes == info.packed_bytes);
      end(&c);
    }
  }
}

TEST(OtherWeightsAreUsedWhereTheyLie) {
  static const use uses[] = {USE_TWICE, USE_AS_OUTPUT, USE_AS_STATE, USE_WITHOUT_DATA, USE_ONCE};
  for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); ++i) {
    pack_case c;
    begin(&c, uses[i], 0);
    stow_pack pack = uses[i] == USE_ONCE ? STOW_PACK_NEVER : STOW_PACK_ALWAYS;
    REQUIRE(prepare(&c, pack, stow_allocator_default()) == STOW_OK);
    CHECK_U64(info_of(&c).packed_count, 0);
    end(&c);
  }
}

TEST(APackedWeightCannotBeBoundButIsShown) {
  pack_case c;
  stow_tensor tensor;
  begin(&c, USE_ONCE, 0);
  REQUIRE(prepare(&c, STOW_PACK_ALWAYS, stow_allocator_default()) == STOW_OK);
  REQUIRE(make(&c, stow_allocator_default(), false) == STOW_OK);
  CHECK(stow_exec_bind(c.exec, c.w, c.bytes, 1024, &c.diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(c.diag.message, "was packed");
  CHECK(stow_exec_value(c.exec, c.w, &c.diag, &tensor) == STOW_OK);
  CHECK(tensor.data == (void*)c.bytes);
  end(&c);
}

TEST(ExecutorsShareWhatIsPacked) {
  pack_case c;
  begin(&c, USE_ONCE, 0);
  REQUIRE(prepare(&c, STOW_PACK_ALWAYS, stow_allocator_default()) == STOW_OK);
  REQUIRE(make(&c, stow_allocator_default(), false) == STOW_OK);
  stow_exec* first = c.exec;
  stow_plan* plan = c.plan;
  REQUIRE(make(&c, stow_allocator_default(), false) == STOW_OK);
  CHECK_U64(c.calls, 1);
  check_run(&c);
  stow_exec_destroy(first);
  stow_plan_destroy(plan);
  check_run(&c);
  end(&c);
}

// Rows of a table that begins anywhere: the kernel that copies them needs no alignment.
TEST(ATableIsReadWhereItLies) {
  for (size_t shift = 0; shift < 4; ++shift) {
    pack_case c;
    stow_tensor tensor;
    stow_type type = {.dtype = STOW_I64, .rank = 1, .dims = {2}};
    int64_t rows[2] = {STEPS - 1, 1};
    memset(&c, 0, sizeof(c));
    stow_diag_init(&c.diag);
    REQUIRE(stow_graph_create(stow_str_of("g"), NULL, stow_allocator_default(), &c.diag,
                              &c.graph) == STOW_OK);
    REQUIRE(stow_graph_input(c.graph, "rows", &type, &c.diag, &c.x) == STOW_OK);
    add_weight(&c, USE_ONCE, shift);
    c.y = add_op(&c, STOW_OP_GATHER, c.w, c.x);
    REQUIRE(stow_graph_add_output(c.graph, c.y, &c.diag) == STOW_OK);
    REQUIRE(prepare(&c, STOW_PACK_NEVER, stow_allocator_default()) == STOW_OK);
    REQUIRE(make(&c, stow_allocator_default(), false) == STOW_OK);
    CHECK_U64(c.calls, 0);
    tensor = (stow_tensor){.data = rows, .dtype = STOW_I64, .rank = 1, .dims = {2}};
    CHECK(stow_exec_input(c.exec, c.x, &tensor, &c.diag) == STOW_OK);
    REQUIRE(stow_exec_run(c.exec, &c.diag) == STOW_OK);
    REQUIRE(stow_exec_value(c.exec, c.y, &c.diag, &tensor) == STOW_OK);
    for (size_t i = 0; i < 2; ++i) {
      const unsigned char* row = c.bytes + shift + (size_t)rows[i] * COLUMNS * sizeof(float);
      CHECK(memcmp((float*)tensor.data + i * COLUMNS, row, COLUMNS * sizeof(float)) == 0);
    }
    end(&c);
  }
}

static void* create_one(void* user) {
  pack_case* c = user;
  stow_exec* exec = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status =
      stow_exec_create(c->prepared, c->plan, NULL, stow_allocator_default(), &diag, &exec);
  stow_exec_destroy(exec);
  return status == STOW_OK ? c : NULL;
}

TEST(ExecutorsAreCreatedAtTheSameTime) {
  pack_case c;
  pthread_t threads[4];
  begin(&c, USE_ONCE, 1);
  REQUIRE(prepare(&c, STOW_PACK_ALWAYS, stow_allocator_default()) == STOW_OK);
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  options.params = false;
  REQUIRE(stow_plan_make(c.graph, stow_prepared_effects(c.prepared), &options,
                         stow_allocator_default(), &c.diag, &c.plan) == STOW_OK);
  for (size_t i = 0; i < 4; ++i) {
    REQUIRE(pthread_create(&threads[i], NULL, create_one, &c) == 0);
  }
  for (size_t i = 0; i < 4; ++i) {
    void* made;
    CHECK(pthread_join(threads[i], &made) == 0 && made == &c);
  }
  end(&c);
}

static stow_status attempt(stow_allocator allocator, void* user) {
  pack_case* c = user;
  stow_status status = prepare(c, STOW_PACK_ALWAYS, allocator);
  status = status == STOW_OK ? make(c, allocator, false) : status;
  if (status != STOW_OK && c->plan != NULL) {  // once more: the failure has left nothing behind
    stow_exec* exec;
    CHECK(stow_exec_create(c->prepared, c->plan, NULL, stow_allocator_default(), NULL, &exec) ==
          STOW_OK);
    stow_exec_destroy(exec);
  }
  unmake(c);
  return status;
}

TEST(EveryFailedAllocationIsReported) {
  pack_case c;
  begin(&c, USE_ONCE, 1);
  CHECK(test_fault_sweep(attempt, &c) > 20);
  end(&c);
}

// ---------------------------------------------------------------------------------------------
// A caller's kernels

static uint64_t whole_size(const stow_kernel_call* call, size_t k) {
  return call->user != NULL && k < *(const size_t*)call->user
             ? 0
             : stow_tensor_bytes(call->operands[k]);
}

// Elements from the last to the first; nothing but this operand is there.
static void pack_reversed(const stow_kernel_call* call, size_t k, void* out) {
  size_t count = stow_tensor_elements(call->operands[k]);
  for (size_t i = 0; i < call->operand_count; ++i) {
    CHECK((call->operands[i]->data != NULL) == (i == k));
  }
  for (size_t i = 0; i < count; ++i) {
    ((float*)out)[i] = ((const float*)call->operands[k]->data)[count - 1 - i];
  }
}

// The sum of all elements with the number of their place.
static stow_status run_weighted(stow_kernel_call* call) {
  float sum = 0;
  for (size_t k = 0; k < call->operand_count; ++k) {
    size_t count = stow_tensor_elements(call->operands[k]);
    bool is_packed = (call->packed >> k & 1) != 0;
    for (size_t i = 0; i < count; ++i) {
      sum +=
          (float)(i + 1) * ((const float*)call->operands[k]->data)[is_packed ? count - 1 - i : i];
    }
  }
  *(float*)call->results[0]->data = sum;
  return STOW_OK;
}

static stow_status run_copy(stow_kernel_call* call) {
  memmove(call->results[0]->data, call->operands[0]->data, stow_tensor_bytes(call->results[0]));
  return STOW_OK;
}

typedef struct own_case {
  stow_graph* graph;
  stow_kernels* kernels;
  stow_value y;
  unsigned char bytes[64 * 8 + 1];
  stow_diag diag;
} own_case;

static void own_begin(own_case* c, size_t count, stow_op op) {
  stow_type type = {.dtype = STOW_F32, .rank = 1, .dims = {2}};
  stow_type one = {.dtype = STOW_F32};
  stow_type flat = {.dtype = STOW_F32, .rank = 2, .dims = {1, 2}};
  stow_node node;
  stow_value weights[64];
  memset(c, 0, sizeof(*c));
  stow_diag_init(&c->diag);
  REQUIRE(stow_graph_create(stow_str_of("g"), NULL, stow_allocator_default(), &c->diag,
                            &c->graph) == STOW_OK);
  REQUIRE(stow_kernels_create(stow_allocator_default(), &c->diag, &c->kernels) == STOW_OK);
  for (size_t i = 0; i < count; ++i) {
    char name[24];
    float numbers[2] = {(float)i + 1, 100};
    memcpy(c->bytes + 1 + i * 8, numbers, 8);  // never aligned
    snprintf(name, sizeof(name), "w%zu", i);
    stow_call* call = stow_graph_begin(c->graph, STOW_OP_PARAM);
    stow_call_result_type(call, &type);
    stow_call_name(call, 0, stow_str_of(name));
    stow_call_data(call, c->bytes + 1 + i * 8, 8, false);
    REQUIRE(stow_call_finish(call, &c->diag, &node) == STOW_OK);
    weights[i] = stow_graph_first_result(c->graph, node);
  }
  stow_call* call = stow_graph_begin(c->graph, op);
  for (size_t i = 0; i < count; ++i) {
    stow_call_operand(call, weights[i]);
  }
  if (op == STOW_OP_CUSTOM) {
    stow_call_attr_string(call, "name", stow_str_of("weighted"));
  }
  stow_call_result_type(call, op == STOW_OP_CUSTOM ? &one : &flat);
  REQUIRE(stow_call_finish(call, &c->diag, &node) == STOW_OK);
  c->y = stow_graph_first_result(c->graph, node);
  REQUIRE(stow_graph_add_output(c->graph, c->y, &c->diag) == STOW_OK);
}

// Runs without slots for weights; returns the first element, and how many weights were packed.
static float own_run(own_case* c, stow_pack pack, size_t* out_packed) {
  stow_prepared* prepared = NULL;
  stow_plan* plan = NULL;
  stow_exec* exec = NULL;
  stow_tensor y = {0};
  stow_prepare_options prepare;
  stow_plan_options options;
  stow_prepared_info info = {.struct_size = sizeof(info)};
  stow_allocator heap = stow_allocator_default();
  float first = 0;
  stow_prepare_options_init(&prepare);
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  prepare.kernels = c->kernels;
  prepare.pack = pack;
  options.params = false;
  CHECK(stow_prepare(c->graph, &prepare, heap, &c->diag, &prepared) == STOW_OK &&
        stow_prepared_describe(prepared, &info) == STOW_OK &&
        stow_plan_make(c->graph, stow_prepared_effects(prepared), &options, heap, &c->diag,
                       &plan) == STOW_OK &&
        stow_exec_create(prepared, plan, NULL, heap, &c->diag, &exec) == STOW_OK &&
        stow_exec_run(exec, &c->diag) == STOW_OK && stow_exec_run(exec, &c->diag) == STOW_OK &&
        stow_exec_value(exec, c->y, &c->diag, &y) == STOW_OK);
  if (y.data != NULL) {
    memcpy(&first, y.data, sizeof(first));
  }
  *out_packed = info.packed_count;
  stow_exec_destroy(exec);
  stow_plan_destroy(plan);
  stow_prepared_destroy(prepared);
  return first;
}

static void own_end(own_case* c) {
  stow_graph_destroy(c->graph);
  stow_kernels_destroy(c->kernels);
}

TEST(UpTo64OperandsOfACallersKernelArePacked) {
  static const size_t firsts[] = {0, 1, 63};
  own_case c;
  own_begin(&c, 64, STOW_OP_CUSTOM);
  for (size_t i = 0; i < 3; ++i) {
    size_t packed;
    size_t first = firsts[i];
    stow_kernel kernel = {.struct_size = sizeof(kernel),
                          .run = run_weighted,
                          .user = &first,
                          .pack_size = whole_size,
                          .pack = pack_reversed};
    CHECK(stow_kernels_set_custom(c.kernels, stow_str_of("weighted"), &kernel, &c.diag) == STOW_OK);
    float expected = own_run(&c, STOW_PACK_NEVER, &packed);
    CHECK_U64(packed, 0);
    CHECK(expected == 64 * 65 / 2 + 64 * 200);
    CHECK(own_run(&c, STOW_PACK_AUTO, &packed) == expected);
    CHECK_U64(packed, 64 - first);
  }
  own_end(&c);
}

TEST(WhatAResultIsAViewOfIsNotPacked) {
  own_case c;
  size_t packed;
  own_begin(&c, 1, STOW_OP_RESHAPE);
  stow_kernel kernel = {.struct_size = sizeof(kernel),
                        .run = run_copy,
                        .pack_size = whole_size,
                        .pack = pack_reversed};
  CHECK(stow_kernels_set(c.kernels, STOW_OP_RESHAPE, &kernel, &c.diag) == STOW_OK);
  CHECK(own_run(&c, STOW_PACK_ALWAYS, &packed) == 1);
  CHECK_U64(packed, 0);
  own_end(&c);
}

TEST(PackingTakesBothFunctions) {
  own_case c;
  own_begin(&c, 1, STOW_OP_CUSTOM);
  for (int i = 0; i < 2; ++i) {
    stow_kernel kernel = {.struct_size = sizeof(kernel), .run = run_weighted};
    kernel.pack_size = i == 0 ? whole_size : NULL;
    kernel.pack = i == 1 ? pack_reversed : NULL;
    CHECK(stow_kernels_set_custom(c.kernels, stow_str_of("weighted"), &kernel, &c.diag) ==
          STOW_ERR_INVALID_ARGUMENT);
    CHECK_HAS(c.diag.message, "one of pack_size and pack");
  }
  own_end(&c);
}

TEST(OptionsAreChecked) {
  pack_case c;
  begin(&c, USE_ONCE, 0);
  CHECK(prepare(&c, (stow_pack)3, stow_allocator_default()) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(c.diag.message, "stow_prepare_options.pack is 3");
  REQUIRE(prepare(&c, STOW_PACK_ALWAYS, stow_allocator_default()) == STOW_OK);
  stow_prepared_info info = {.struct_size = sizeof(info) + 1};
  CHECK(stow_prepared_describe(c.prepared, &info) == STOW_ERR_INVALID_ARGUMENT);
  end(&c);
}
