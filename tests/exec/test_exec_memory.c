// Where bytes are: weights, external values, consumed inputs, state; and that runs allocate
// nothing.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exec/exec_case.h"
#include "exec/wrapped_calls.h"
#include "support/fault.h"
#include "support/test.h"

// ---------------------------------------------------------------------------------------------
// The linker sends every call of these here (--wrap).

WRAP(int, posix_memalign, (void** out, size_t alignment, size_t size), (out, alignment, size))
WRAP(void*, mmap, (void* at, size_t size, int protection, int flags, int file, long offset),
     (at, size, protection, flags, file, offset))
WRAP(int, brk, (void* end), (end))
WRAP(void*, sbrk, (intptr_t size), (size))
WRAP(int, pthread_create, (void* thread, const void* how, void* (*run)(void*), void* user),
     (thread, how, run, user))

#define EVERYTHING                                                                      \
  "%0 = constant \"n\" {data = [4]} : i64[]\n %1 = input \"x\" : f32[8]\n"              \
  "%2 = input \"y\" : bounded f32[8]\n"                                                 \
  "%8, %9, %10 = loop(%0, _, %1, %1) {\n"                                               \
  "  %3, %4, %5, %6 = args() : i64[], bool[], f32[8], f32[8]\n"                         \
  "  %7 = add(%5, %6) : f32[8]\n  yield %4, %6, %5, %7 } : f32[8], f32[8], f32[4, 8]\n" \
  "%11 = nonzero(%2) : bounded i64[1, 8]\n %12 = add(%11, %11) : bounded i64[1, 8]\n"   \
  "return %8, %9, %10, %12"

TEST(RunsAllocateNothing) {
  for (uint32_t threads = 1; threads <= 2; ++threads) {
    for (int paranoid = 0; paranoid < 2; ++paranoid) {
      exec_case c;
      exec_case_begin(&c, EVERYTHING);
      c.prepare_options.threads = threads;
      c.options.paranoid = paranoid != 0;
      calls = 0;
      REQUIRE(exec_case_make(&c) == STOW_OK);
      CHECK(calls > 0);  // they are counted
      EXEC_SET(&c, "x", float, 1, 2, 3, 4, 5, 6, 7, 8);
      EXEC_SET(&c, "y", float, 0, 2, 0, 4, 0, 0, 0, 8);
      for (int run = 0; run < 3; ++run) {
        calls = 0;
        stow_status status = stow_exec_run(c.exec, &c.diag);
        size_t called = calls;
        CHECK(status == STOW_OK);
        CHECK_U64(called, 0);
      }
      EXEC_GIVES(&c, 3, int64_t, 2, 6, 14);
      exec_case_end(&c);
    }
  }
}

TEST(RunsDoNotUseTheAllocatorEither) {
  exec_case c;
  test_heap heap = {0};
  exec_case_begin(&c, EVERYTHING);
  c.allocator = test_heap_allocator(&heap);
  REQUIRE(exec_case_make(&c) == STOW_OK);
  EXEC_SET(&c, "x", float, 1, 2, 3, 4, 5, 6, 7, 8);
  EXEC_SET(&c, "y", float, 0, 2, 0, 4, 0, 0, 0, 8);
  size_t before = heap.allocations;
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
  CHECK_U64(heap.allocations, before);
  stow_exec_destroy(c.exec);
  stow_plan_destroy(c.plan);
  stow_prepared_destroy(c.prepared);
  c.exec = NULL;
  c.plan = NULL;
  c.prepared = NULL;
  CHECK_U64(heap.live_blocks, 0);
  c.allocator = stow_allocator_default();
  exec_case_end(&c);
}

// ---------------------------------------------------------------------------------------------
// Weights

typedef struct store {
  _Alignas(8) unsigned char bytes[24];
  size_t shift;
  size_t size;
} store;

static const void* weight_of(void* user, stow_value value, size_t* out_size) {
  const store* s = (const store*)user;
  *out_size = s->size;
  return value == 1 ? s->bytes + s->shift : NULL;
}

#define WEIGHTED                                            \
  "%0 = input \"x\" : f32[2]\n %1 = param \"w\" : f32[2]\n" \
  "%2 = constant \"k\" {data = [2, 3]} : f32[2]\n"          \
  "%3 = add(%0, %1) : f32[2]\n %4 = mul(%3, %2) : f32[2]\n return %4"

TEST(WeightsAreUsedWhereverTheyLie) {
  for (int way = 0; way < 8; ++way) {
    exec_case c;
    store s = {.size = 8, .shift = way % 2 == 0 ? 8 : 3};
    memcpy(s.bytes + s.shift, (float[]){10, 20}, 8);
    exec_case_begin(&c, WEIGHTED);
    c.plan_options.params = way % 4 < 2;
    c.plan_options.constants = way % 4 < 2;
    c.options.weight = weight_of;
    c.options.user = &s;
    c.options.paranoid = way >= 4;
    REQUIRE(exec_case_make(&c) == STOW_OK);
    for (int run = 0; run < 2; ++run) {
      EXEC_SET(&c, "x", float, 1, 2);
      CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
      EXEC_GIVES(&c, 0, float, 22, 66);
    }
    CHECK(exec_case_set(&c, "w", (float[]){0, 0}, 8) == STOW_ERR_INVALID_ARGUMENT);
    exec_case_end(&c);
  }
}

TEST(ViewsOfWeightsAreWhereTheWeightsAre) {
  exec_case c;
  exec_case_begin(&c,
                  "%0 = constant \"k\" {data = [1, 2, 3, 4]} : f32[4]\n"
                  "%1 = narrow(%0) {axis = 0, start = 2, len = 2} : f32[2]\n"
                  "%2 = input \"x\" : f32[2]\n %3 = add(%2, %1) : f32[2]\n return %3");
  c.plan_options.constants = false;
  REQUIRE(exec_case_make(&c) == STOW_OK);
  EXEC_SET(&c, "x", float, 10, 20);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
  EXEC_GIVES(&c, 0, float, 13, 24);
  exec_case_end(&c);
}

// What the kernels of a run see as the second operand of add.
static const void* seen_weight;

static bool see_weight(void* user, const stow_exec_event* event) {
  (void)user;
  if (event->call != NULL && event->call->op == STOW_OP_ADD) {
    seen_weight = event->call->operands[1]->data;
  }
  return true;
}

// The options' |user| is one for both callbacks.
TEST(KernelsSeeAlignedWeights) {
  for (size_t shift = 0; shift < 8; ++shift) {
    exec_case c;
    store s = {.size = 8, .shift = shift};
    memcpy(s.bytes + s.shift, (float[]){10, 20}, 8);
    exec_case_begin(&c, WEIGHTED);
    c.plan_options.params = false;
    c.options.weight = weight_of;
    c.options.on_step = see_weight;
    c.options.user = &s;
    REQUIRE(exec_case_make(&c) == STOW_OK);
    EXEC_SET(&c, "x", float, 1, 2);
    CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
    CHECK_U64((uintptr_t)seen_weight % 4, 0);
    CHECK((seen_weight == s.bytes + shift) == (shift % 4 == 0));
    EXEC_GIVES(&c, 0, float, 22, 66);
    exec_case_end(&c);
  }
}

TEST(WeightsOfAnotherSizeAreRefused) {
  exec_case c;
  store s = {.size = 12};
  exec_case_begin(&c, WEIGHTED);
  c.options.weight = weight_of;
  c.options.user = &s;
  CHECK(exec_case_make(&c) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_TEXT(c.diag.message, "%1 \"w\" needs 8 bytes of data, but has 12");
  exec_case_end(&c);
}

TEST(ParamsWithoutDataAreSetByTheCaller) {
  for (int has_slot = 0; has_slot < 2; ++has_slot) {
    exec_case c;
    exec_case_begin(&c, WEIGHTED);
    c.plan_options.params = has_slot != 0;
    REQUIRE(exec_case_make(&c) == STOW_OK);
    EXEC_SET(&c, "x", float, 1, 2);
    CHECK(stow_exec_run(c.exec, &c.diag) == STOW_ERR_NOT_FOUND);
    CHECK_TEXT(c.diag.message,
               has_slot ? "param %1 \"w\" is not set" : "param %1 \"w\" is not bound");
    EXEC_SET(&c, "w", float, 10, 20);
    CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
    EXEC_GIVES(&c, 0, float, 22, 66);
    exec_case_end(&c);
  }
}

// Weights are in memory that is only read (exec_case.h): kernels that find their results in place
// must not write them.
TEST(ViewsOfWeightsAreNotWritten) {
  for (int way = 0; way < EXEC_WAYS; ++way) {
    exec_case c;
    exec_case_begin(&c,
                    "%0 = input \"x\" : f32[2]\n"
                    "%1 = constant \"w\" {data = [1, 2, 3, 4, 5, 6, 7, 8]} : f32[4, 2]\n"
                    "%2, %3 = split(%1) {axis = 0, parts = 2} : f32[2, 2], f32[2, 2]\n"
                    "%4 = split(%1) {axis = 0, parts = 1} : f32[4, 2]\n"
                    "%5 = narrow(%3) {axis = 0, start = 1, len = 1} : f32[1, 2]\n"
                    "%6 = transpose(%5) {perm = [1, 0]} : f32[2, 1]\n"
                    "%7 = cast(%6) : f32[2, 1]\n %8 = flatten(%7) {axis = 2} : f32[2, 1]\n"
                    "%9 = reshape(%8) : f32[2]\n %10 = add(%0, %9) : f32[2]\n"
                    "%11 = bitcast(%9) {to = \"i32\"} : i32[2]\n"
                    "return %10, %11, %4, %2");
    exec_case_way(&c, way);
    REQUIRE(exec_case_make(&c) == STOW_OK);
    for (int run = 0; run < 2; ++run) {
      EXEC_SET(&c, "x", float, 1, 2);
      CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
      EXEC_GIVES(&c, 0, float, 8, 10);
      EXEC_GIVES(&c, 1, float, 7, 8);
      EXEC_GIVES(&c, 2, float, 1, 2, 3, 4, 5, 6, 7, 8);
      EXEC_GIVES(&c, 3, float, 1, 2, 3, 4);
    }
    exec_case_end(&c);
  }
}

// Two elements to a byte.
TEST(ViewsOfPackedWeightsAreNotWritten) {
  for (int way = 0; way < EXEC_WAYS; ++way) {
    exec_case c;
    exec_case_begin(&c,
                    "%0 = constant \"w\" {data = [1, 2, 3, 4, 5, 6, 7, 8]} : u4[1, 8]\n"
                    "%1, %2 = split(%0) {axis = 1, sizes = [2, 6]} : u4[1, 2], u4[1, 6]\n"
                    "%3 = transpose(%2) {perm = [1, 0]} : u4[6, 1]\n"
                    "%4 = narrow(%3) {axis = 0, start = 2, len = 3} : u4[3, 1]\n"
                    "%5 = cast(%4) : f32[3, 1]\n %6 = cast(%1) : f32[1, 2]\n return %5, %6");
    exec_case_way(&c, way);
    REQUIRE(exec_case_make(&c) == STOW_OK);
    CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
    EXEC_GIVES(&c, 0, float, 5, 6, 7);
    EXEC_GIVES(&c, 1, float, 1, 2);
    exec_case_end(&c);
  }
}

// The caller binds %2, which is a view of the weight: what is a view of it follows it.
TEST(OutputsThatAreViewsOfWeightsMayBeViewedAgain) {
  for (int way = 0; way < EXEC_WAYS; ++way) {
    exec_case c;
    exec_case_begin(&c,
                    "%0 = input \"x\" : f32[4]\n"
                    "%1 = constant \"w\" {data = [1, 2, 3, 4]} : f32[4]\n"
                    "%2 \"y\" = reshape(%1) : f32[2, 2]\n %3 = reshape(%2) : f32[4]\n"
                    "%4 \"z\" = narrow(%3) {axis = 0, start = 1, len = 2} : f32[2]\n"
                    "%5 = reshape(%4) : f32[2, 1]\n %6 = neg(%5) : f32[2, 1]\n"
                    "%7 = add(%0, %3) : f32[4]\n return %2, %4, %6, %7");
    exec_case_way(&c, way);
    REQUIRE(exec_case_make(&c) == STOW_OK);
    for (int run = 0; run < 2; ++run) {
      EXEC_SET(&c, "x", float, 10, 20, 30, 40);
      CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
      EXEC_GIVES(&c, 0, float, 1, 2, 3, 4);
      EXEC_GIVES(&c, 1, float, 2, 3);
      EXEC_GIVES(&c, 2, float, -2, -3);
      EXEC_GIVES(&c, 3, float, 11, 22, 33, 44);
    }
    exec_case_end(&c);
  }
}

TEST(OutputsThatAreViewsOfWeightsAreInTheBoundMemory) {
  exec_case c;
  static _Alignas(64) float whole[4], part[2];
  exec_case_begin(&c,
                  "%0 = constant \"w\" {data = [1, 2, 3, 4]} : f32[4]\n"
                  "%1 \"y\" = reshape(%0) : f32[2, 2]\n %2 = reshape(%1) : f32[4]\n"
                  "%3 \"z\" = narrow(%2) {axis = 0, start = 1, len = 2} : f32[2]\n return %1, %3");
  c.plan_options.constants = false;
  REQUIRE(exec_case_make(&c) == STOW_OK);
  stow_slot slot;
  CHECK(!stow_plan_value_slot(c.plan, 1, &slot) && !stow_plan_value_slot(c.plan, 3, &slot));
  for (int run = 0; run < 2; ++run) {
    memset(whole, 0, sizeof whole);
    memset(part, 0, sizeof part);
    CHECK(stow_exec_bind(c.exec, 1, whole, sizeof whole, &c.diag) == STOW_OK);
    CHECK(stow_exec_bind(c.exec, 3, part, sizeof part, &c.diag) == STOW_OK);
    CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
    CHECK(memcmp(whole, (float[]){1, 2, 3, 4}, sizeof whole) == 0);
    CHECK(memcmp(part, (float[]){2, 3}, sizeof part) == 0);
  }
  exec_case_end(&c);
}

#define MOST_WEIGHTS 160000

// Processor time of making and running a graph of |count| weights and as many views of them.
static double time_of_weights(size_t count) {
  clock_t begun = clock();
  stow_allocator heap = stow_allocator_default();
  stow_graph* graph = NULL;
  stow_prepared* prepared = NULL;
  stow_plan* plan = NULL;
  stow_exec* exec = NULL;
  stow_type type = stow_type_make(STOW_F32, 1, (stow_dim[]){1});
  CHECK(stow_graph_create(stow_str_of("many"), NULL, heap, NULL, &graph) == STOW_OK);
  for (size_t i = 0; i < count; ++i) {
    char name[32];
    stow_value weight = STOW_VALUE_NONE;
    stow_node node;
    snprintf(name, sizeof(name), "w%zu", i);
    CHECK(stow_graph_param(graph, name, &type, NULL, &weight) == STOW_OK);
    stow_call* call = stow_graph_begin(graph, STOW_OP_CAST);
    stow_call_operand(call, weight);
    stow_call_result_type(call, &type);
    CHECK(stow_call_finish(call, NULL, &node) == STOW_OK);
  }
  CHECK(stow_graph_add_output(graph, (stow_value)(2 * count - 1), NULL) == STOW_OK);
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  options.params = false;
  CHECK(stow_prepare(graph, NULL, heap, NULL, &prepared) == STOW_OK);
  CHECK(stow_plan_make(graph, NULL, &options, heap, NULL, &plan) == STOW_OK);
  CHECK(stow_exec_create(prepared, plan, NULL, heap, NULL, &exec) == STOW_OK);
  static float numbers[MOST_WEIGHTS];
  for (size_t i = 0; i < count; ++i) {
    numbers[i] = (float)i;
    CHECK(stow_exec_bind(exec, (stow_value)(2 * i), &numbers[i], sizeof(float), NULL) == STOW_OK);
  }
  CHECK(stow_exec_run(exec, NULL) == STOW_OK);
  stow_tensor last;
  CHECK(stow_exec_value(exec, (stow_value)(2 * count - 1), NULL, &last) == STOW_OK);
  CHECK(last.data == &numbers[count - 1]);
  stow_exec_destroy(exec);
  stow_plan_destroy(plan);
  stow_prepared_destroy(prepared);
  stow_graph_destroy(graph);
  return (double)(clock() - begun) / CLOCKS_PER_SEC;
}

// Eight times as many take about eight times as long; what compares pairs takes 64 times as long.
TEST(WeightsAndTheirViewsAreNotComparedPairwise) {
  double few = time_of_weights(MOST_WEIGHTS / 8);
  double many = time_of_weights(MOST_WEIGHTS);
  printf("  %d weights %.3f s, %d weights %.3f s\n", MOST_WEIGHTS / 8, few, MOST_WEIGHTS, many);
  CHECK(many < 24 * few + 0.1);
}

// ---------------------------------------------------------------------------------------------
// Inputs and outputs

#define CHAIN                                                                             \
  "%0 = input \"x\" : f32[4]\n %1 = reshape(%0) : f32[2, 2]\n %2 = neg(%1) : f32[2, 2]\n" \
  "%3 = add(%2, %2) : f32[2, 2]\n return %3"

TEST(ExternalValuesAreBoundByPointer) {
  exec_case c;
  static _Alignas(64) float in[5] = {1, 2, 3, 4, 5}, out[4];
  exec_case_begin(&c, CHAIN);
  c.plan_options.io = STOW_IO_EXTERNAL;
  REQUIRE(exec_case_make(&c) == STOW_OK);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_ERR_NOT_FOUND);
  CHECK_TEXT(c.diag.message, "input %0 \"x\" is not bound");
  stow_tensor tensor;
  CHECK(stow_exec_value(c.exec, 0, &c.diag, &tensor) == STOW_ERR_NOT_FOUND);
  CHECK(tensor.data == NULL && tensor.rank == 0);
  CHECK(stow_exec_fill(c.exec, 0, &c.diag, &tensor) == STOW_ERR_NOT_FOUND);
  stow_tensor x = {.data = in, .dtype = STOW_F32, .rank = 1, .dims = {4}};
  CHECK(stow_exec_input(c.exec, 0, &x, &c.diag) == STOW_ERR_NOT_FOUND);
  CHECK(stow_exec_bind(c.exec, 0, in, 15, &c.diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_TEXT(c.diag.message, "%0 \"x\" needs 16 bytes, but 15 were given");
  CHECK(stow_exec_bind(c.exec, 0, (char*)in + 2, 16, &c.diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_TEXT(c.diag.message, "%0 \"x\" needs data aligned to 4 bytes, but it is aligned to 2");
  CHECK(stow_exec_bind(c.exec, 2, in, 16, &c.diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(stow_exec_bind(c.exec, 9, in, 16, &c.diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(stow_exec_bind(c.exec, 0, in, 16, &c.diag) == STOW_OK);
  CHECK(stow_exec_bind(c.exec, 3, out, 16, &c.diag) == STOW_OK);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
  CHECK(memcmp(out, (float[]){-2, -4, -6, -8}, 16) == 0);
  CHECK(stow_exec_bind(c.exec, 0, in + 1, 16, &c.diag) == STOW_OK);
  CHECK(stow_exec_value(c.exec, 1, &c.diag, &tensor) == STOW_OK);
  CHECK(tensor.data == in + 1 && tensor.rank == 2);  // views follow at once
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
  CHECK(memcmp(out, (float[]){-4, -6, -8, -10}, 16) == 0);
  CHECK(in[1] == 2);
  exec_case_end(&c);
}

TEST(OnlyEmptyValuesMayBeBoundToNull) {
  for (int count = 0; count < 2; ++count) {
    exec_case c;
    exec_case_begin(&c, count == 0 ? "%0 = input \"x\" : u8[0]\n return %0"
                                   : "%0 = input \"x\" : u8[1]\n return %0");
    c.plan_options.io = STOW_IO_EXTERNAL;
    REQUIRE(exec_case_make(&c) == STOW_OK);
    CHECK(stow_exec_bind(c.exec, 0, NULL, 1, &c.diag) ==
          (count == 0 ? STOW_OK : STOW_ERR_INVALID_ARGUMENT));
    exec_case_end(&c);
  }
}

TEST(ExternalOutputsMustBeBound) {
  exec_case c;
  stow_exec* exec;
  exec_case_begin(&c, CHAIN " ");
  REQUIRE(exec_case_make(&c) == STOW_OK);
  CHECK(stow_effects_set_io(stow_prepared_effects(c.prepared), 3, STOW_IO_EXTERNAL, &c.diag) ==
        STOW_OK);
  stow_plan* plan;
  test_freeze(&c.frozen, false);  // planning makes dims
  REQUIRE(stow_plan_make(c.graph, stow_prepared_effects(c.prepared), &c.plan_options, c.allocator,
                         &c.diag, &plan) == STOW_OK);
  REQUIRE(stow_exec_create(c.prepared, plan, NULL, c.allocator, &c.diag, &exec) == STOW_OK);
  stow_tensor x = {.data = (float[]){1, 2, 3, 4}, .dtype = STOW_F32, .rank = 1, .dims = {4}};
  CHECK(stow_exec_input(exec, 0, &x, &c.diag) == STOW_OK);
  CHECK(stow_exec_run(exec, &c.diag) == STOW_ERR_NOT_FOUND);
  CHECK_HAS(c.diag.message, "output %3 is not bound");
  stow_exec_destroy(exec);
  stow_plan_destroy(plan);
  exec_case_end(&c);
}

TEST(ConsumedInputsMustBeSetAgain) {
  exec_case c;
  exec_case_begin(&c, CHAIN);
  c.plan_options.io = STOW_IO_CONSUME;
  REQUIRE(exec_case_make(&c) == STOW_OK);
  for (int run = 0; run < 2; ++run) {
    EXEC_SET(&c, "x", float, 1, 2, 3, 4);
    CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
    EXEC_GIVES(&c, 0, float, -2, -4, -6, -8);
    CHECK(stow_exec_run(c.exec, &c.diag) == STOW_ERR_NOT_FOUND);
    CHECK_HAS(c.diag.message, "input %0 \"x\" is not set (a run consumes it)");
  }
  exec_case_end(&c);
}

TEST(AliasedInputsMustBeSetAgainOrFilledInPlace) {
  exec_case c;
  stow_plan* plan;
  stow_exec* exec;
  stow_tensor x = {.data = (float[]){1, 2, 3, 4}, .dtype = STOW_F32, .rank = 1, .dims = {4}};
  exec_case_begin(&c, "%0 = input \"x\" : f32[4]\n %1 = reciprocal(%0) : f32[4]\n return %1");
  REQUIRE(exec_case_make(&c) == STOW_OK);
  stow_effects* effects = stow_prepared_effects(c.prepared);
  test_freeze(&c.frozen, false);  // planning makes dims
  CHECK(stow_effects_alias(effects, 1, 0, &c.diag) == STOW_OK);
  REQUIRE(stow_plan_make(c.graph, effects, &c.plan_options, c.allocator, &c.diag, &plan) ==
          STOW_OK);
  REQUIRE(stow_exec_create(c.prepared, plan, NULL, c.allocator, &c.diag, &exec) == STOW_OK);
  CHECK(stow_exec_input(exec, 0, &x, &c.diag) == STOW_OK);
  CHECK(stow_exec_run(exec, &c.diag) == STOW_OK);
  CHECK(stow_exec_run(exec, &c.diag) == STOW_ERR_NOT_FOUND);
  CHECK_HAS(c.diag.message, "input %0 \"x\" is not set (a run consumes it)");
  CHECK(stow_exec_fill(exec, 0, &c.diag, &x) == STOW_OK);  // what the last run left is the input
  CHECK(stow_exec_run(exec, &c.diag) == STOW_OK);
  CHECK(((const float*)x.data)[3] == 4);
  stow_exec_destroy(exec);
  stow_plan_destroy(plan);
  exec_case_end(&c);
}

TEST(CachesThatAnOpWritesIntoAreSetOnce) {
  exec_case c;
  exec_case_begin(&c,
                  "%0 = input \"cache\" : f32[3]\n %1 = input \"new\" : f32[1]\n"
                  "%2 = input \"at\" : i64[]\n"
                  "%3 = kv_append(%0, %1, %2) {axis = 0} : f32[3]\n return %3");
  REQUIRE(exec_case_make(&c) == STOW_OK);
  EXEC_SET(&c, "cache", float, 0, 0, 0);
  for (int64_t run = 0; run < 3; ++run) {
    EXEC_SET(&c, "new", float, (float)run + 5);
    EXEC_SET(&c, "at", int64_t, run);
    CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
  }
  EXEC_GIVES(&c, 0, float, 5, 6, 7);
  exec_case_end(&c);
}

// Bytes of an input are gone where it dies in the run, and where a result takes their place; a view
// of it is no such result.
TEST(InputsAreConsumedWhereTheirBytesAreTaken) {
  static const struct {
    const char* text;
    bool in_place, is_consumed;
  } cases[] = {
      {CHAIN, true, true},
      {CHAIN, false, true},
      {"%0 = input \"x\" : f32[4]\n %1 = neg(%0) : f32[4]\n return %1", true, true},
      {"%0 = input \"x\" : f32[4]\n %1 = reshape(%0) : f32[2, 2]\n return %1", true, false},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    exec_case c;
    exec_case_begin(&c, cases[i].text);
    c.plan_options.io = STOW_IO_CONSUME;
    c.plan_options.in_place = cases[i].in_place;
    REQUIRE(exec_case_make(&c) == STOW_OK);
    EXEC_SET(&c, "x", float, 1, 2, 3, 4);
    CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
    stow_status status = stow_exec_run(c.exec, &c.diag);
    test_check(status == (cases[i].is_consumed ? STOW_ERR_NOT_FOUND : STOW_OK), __FILE__, __LINE__,
               "case %zu: %s", i, stow_status_text(status));
    exec_case_end(&c);
  }
}

TEST(KeptInputsAreThereInTheNextRun) {
  exec_case c;
  exec_case_begin(&c, CHAIN);
  REQUIRE(exec_case_make(&c) == STOW_OK);
  EXEC_SET(&c, "x", float, 1, 2, 3, 4);
  for (int run = 0; run < 3; ++run) {
    CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
    EXEC_GIVES(&c, 0, float, -2, -4, -6, -8);
  }
  exec_case_end(&c);
}

TEST(KnownInputsHaveTheirValueAndNoOther) {
  exec_case c;
  exec_case_begin(&c,
                  "%0 = input \"x\" {data = [5]} : i64[]\n %1 = add(%0, %0) : i64[]\n return %1");
  for (int external = 0; external < 2; ++external) {
    c.plan_options.io = external ? STOW_IO_EXTERNAL : STOW_IO_CONSUME;
    REQUIRE(exec_case_make(&c) == STOW_OK);
    CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
    EXEC_GIVES(&c, 0, int64_t, 10);
    CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
    EXEC_GIVES(&c, 0, int64_t, 10);
  }
  stow_tensor six = {.data = (int64_t[]){6}, .dtype = STOW_I64};
  CHECK(stow_exec_input(c.exec, 0, &six, &c.diag) == STOW_ERR_CONFLICT);
  EXEC_SET(&c, "x", int64_t, 5);
  exec_case_end(&c);
}

static stow_status run_look(stow_kernel_call* call) {
  for (size_t i = 0; i < call->operand_count; ++i) {
    CHECK(call->operands[i]->data != NULL);
  }
  CHECK(call->results[0]->data != NULL && call->scratch != NULL);
  return STOW_OK;
}

// Kernels add to pointers, and adding 0 to NULL is undefined.
TEST(KernelsAreNotGivenNullWhereThereAreNoElements) {
  for (int way = 0; way < EXEC_WAYS; ++way) {
    exec_case c;
    exec_case_begin(&c,
                    "%0 = input \"x\" : f32[0, 3]\n %1 = constant \"w\" {data = []} : f32[0]\n"
                    "%2 = reshape(%1) : f32[0, 3]\n"
                    "%3 = custom(%0, %1, %2) {name = \"look\"} : f32[0]\n return %3");
    stow_kernel kernel = {.struct_size = sizeof(kernel), .run = run_look, .in_place = true};
    CHECK(stow_kernels_set_custom(c.kernels, stow_str_of("look"), &kernel, NULL) == STOW_OK);
    exec_case_way(&c, way);
    c.plan_options.constants = way % 2 == 0;
    REQUIRE(exec_case_make(&c) == STOW_OK);
    stow_exec_bind(c.exec, 0, NULL, 0, &c.diag);  // refused where it has a slot
    stow_exec_bind(c.exec, 3, NULL, 0, &c.diag);
    CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
    exec_case_end(&c);
  }
}

TEST(PlansThatCountOtherWidthsAreRefused) {
  exec_case c;
  exec_case_begin(&c,
                  "%0 = input \"x\" : bool[32]\n %1 = narrow(%0) {axis = 0, start = 16, len = 16}"
                  " : bool[16]\n %2 = lt(%1, %1) : bool[16]\n return %2");
  c.plan_options.f32_uniform = true;
  CHECK(exec_case_make(&c) == STOW_ERR_UNSUPPORTED);
  CHECK_HAS(c.diag.message, "%1 begins 64 bytes into %0 \"x\", its elements 16");
  exec_case_end(&c);
  // Where nothing is, it lies anywhere.
  exec_case_begin(&c,
                  "%0 = input \"x\" : bool[32]\n %1 = narrow(%0) {axis = 0, start = 16, len = 0}"
                  " : bool[0]\n %2 = lt(%1, %1) : bool[0]\n return %2");
  c.plan_options.f32_uniform = true;
  CHECK(exec_case_make(&c) == STOW_OK);
  exec_case_end(&c);
}

// ---------------------------------------------------------------------------------------------
// State

static stow_status run_count(stow_kernel_call* call) {
  ((float*)call->results[0]->data)[0] += 1;
  return STOW_OK;
}

TEST(StateIsKeptBetweenRunsAndZeroAtFirst) {
  static _Alignas(64) unsigned char memory[4096];
  for (int way = 0; way < 3; ++way) {
    exec_case c;
    exec_case_begin(&c,
                    "%0 = input \"x\" : f32[]\n"
                    "%1 = custom(%0) {name = \"count\"} : f32[] with {state = true}\n"
                    "%2 = add(%1, %0) : f32[]\n return %2");
    stow_kernel kernel = {.struct_size = sizeof(kernel), .run = run_count, .in_place = true};
    CHECK(stow_kernels_set_custom(c.kernels, stow_str_of("count"), &kernel, NULL) == STOW_OK);
    memset(memory, 0x55, sizeof(memory));
    c.options.memory = way == 1 ? memory : NULL;
    c.options.memory_size = sizeof(memory);
    c.options.paranoid = way == 2;
    REQUIRE(exec_case_make(&c) == STOW_OK);
    EXEC_SET(&c, "x", float, 100);
    for (int run = 1; run <= 3; ++run) {
      CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
      EXEC_GIVES(&c, 0, float, 100 + (float)run);
    }
    exec_case_end(&c);
  }
}
