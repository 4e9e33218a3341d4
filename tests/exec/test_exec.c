// The executor's calls: tables of kernels, preparing, creating, setting, and what they refuse.
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "exec/exec_case.h"
#include "exec/run/prepare.h"
#include "support/fault.h"
#include "support/struct_size.h"
#include "support/test.h"

#define SUM                                                       \
  "%0 = input \"x\" : f32[2, 2]\n %1 = input \"y\" : f32[2, 2]\n" \
  "%2 \"sum\" = add(%0, %1) : f32[2, 2]\n %3 = neg(%2) : f32[2, 2]\n return %3"

static stow_status run_seven(stow_kernel_call* call) {
  for (size_t i = 0; i < stow_tensor_elements(call->results[0]); ++i) {
    ((float*)call->results[0]->data)[i] = call->user == NULL ? 7 : *(const float*)call->user;
  }
  return STOW_OK;
}

static stow_kernel kernel_of(stow_status (*run)(stow_kernel_call* call)) {
  return (stow_kernel){.struct_size = sizeof(stow_kernel), .run = run, .in_place = true};
}

// ---------------------------------------------------------------------------------------------
// Kernels

TEST(EveryOpHasAKernelExceptThoseTheExecutorRuns) {
  size_t without = 0;
  for (stow_op op = 0; op < STOW_OP_CORE_COUNT; ++op) {
    without += stow_kernels_get(NULL, op) == NULL;
  }
  CHECK_U64(without, 8);  // input, param, constant, args, yield, if, loop, custom
  CHECK(stow_kernels_get(NULL, STOW_OP_CORE_COUNT) == NULL);
  CHECK(stow_kernels_get_custom(NULL, stow_str_of("a")) == NULL);
}

TEST(KernelsAreReplaced) {
  stow_kernels* kernels;
  stow_diag diag;
  stow_diag_init(&diag);
  REQUIRE(stow_kernels_create(stow_allocator_default(), &diag, &kernels) == STOW_OK);
  stow_kernel seven = kernel_of(run_seven);
  CHECK(stow_kernels_get(kernels, STOW_OP_RELU) == stow_kernels_get(NULL, STOW_OP_RELU));
  CHECK(stow_kernels_set(kernels, STOW_OP_RELU, &seven, &diag) == STOW_OK);
  CHECK(stow_kernels_get(kernels, STOW_OP_RELU)->run == run_seven);
  for (stow_op op = STOW_OP_CORE_COUNT; op < STOW_OP_CORE_COUNT + 4; ++op) {  // the caller's own
    CHECK(stow_kernels_set(kernels, op, &seven, &diag) == STOW_OK);
    CHECK(stow_kernels_get(kernels, op)->run == run_seven);
  }
  CHECK(stow_kernels_set(kernels, STOW_OP_LOOP, &seven, &diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(diag.message, "`loop` is run by the executor itself");
  CHECK(stow_kernels_set(kernels, STOW_OP_CUSTOM, &seven, &diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(diag.message, "stow_kernels_set_custom");
  CHECK(stow_kernels_set(kernels, STOW_OP_NONE, &seven, &diag) == STOW_ERR_INVALID_ARGUMENT);
  seven.reserved[1] = &seven;
  CHECK(stow_kernels_set(kernels, STOW_OP_ADD, &seven, &diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_TEXT(diag.message, "stow_kernel.reserved is not NULL");
  seven.reserved[1] = NULL;
  seven.struct_size = offsetof(stow_kernel, reserved);  // of kernels whose tensors had no strides
  CHECK(stow_kernels_set(kernels, STOW_OP_ADD, &seven, &diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(diag.message, "compile the kernel against this library's headers");
  seven.struct_size = offsetof(stow_kernel, variant_count);  // of kernels without variants
  seven.variant_count = 3;
  CHECK(stow_kernels_set(kernels, STOW_OP_ADD, &seven, &diag) == STOW_OK);
  CHECK(stow_kernels_get(kernels, STOW_OP_ADD)->variant_count == 1);
  seven.struct_size = sizeof(seven);
  seven.run = NULL;
  CHECK(stow_kernels_set(kernels, STOW_OP_ADD, &seven, &diag) == STOW_ERR_INVALID_ARGUMENT);
  seven.struct_size = sizeof(seven) + 1;
  CHECK(stow_kernels_set(kernels, STOW_OP_ADD, &seven, &diag) == STOW_ERR_INVALID_ARGUMENT);
  stow_kernels_destroy(kernels);
  stow_kernels_destroy(NULL);
}

TEST(CustomNodesRunTheKernelOfTheirName) {
  exec_case c;
  float nine = 9;
  exec_case_begin(&c,
                  "%0 = input \"x\" : f32[2]\n"
                  "%1 = custom(%0) {name = \"acme.mix\"} : f32[2]\n return %1");
  CHECK(exec_case_make(&c) == STOW_ERR_NOT_FOUND);
  CHECK_HAS(c.diag.message, "node 1 (custom): there is no kernel named \"acme.mix\"");
  stow_kernel kernel = kernel_of(run_seven);
  CHECK(stow_kernels_set_custom(c.kernels, stow_str_of("acme.mix"), &kernel, NULL) == STOW_OK);
  kernel.user = &nine;
  CHECK(stow_kernels_set_custom(c.kernels, stow_str_of("acme.other"), &kernel, NULL) == STOW_OK);
  CHECK(stow_kernels_set_custom(c.kernels, stow_str_of("acme.mix"), &kernel, NULL) == STOW_OK);
  REQUIRE(exec_case_make(&c) == STOW_OK);
  EXEC_SET(&c, "x", float, 1, 2);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
  EXEC_GIVES(&c, 0, float, 9, 9);
  exec_case_end(&c);
}

// ---------------------------------------------------------------------------------------------
// Preparing

static stow_status scratch_by_workers(const stow_kernel_call* call, uint64_t* out_bytes) {
  *out_bytes = 1000 * (uint64_t)call->workers;
  return STOW_OK;
}

static stow_status run_in_scratch(stow_kernel_call* call) {
  if (call->scratch == NULL || (uintptr_t)call->scratch % 64 != 0 || call->scratch_size < 2000) {
    return stow_kernel_fail(call, STOW_ERR_VIOLATION, "no scratch");
  }
  memset(call->scratch, 1, call->scratch_size);
  return run_seven(call);
}

TEST(ScratchIsPlannedForTheThreadsThatRun) {
  exec_case c;
  exec_case_begin(&c, SUM);
  stow_kernel kernel = kernel_of(run_in_scratch);
  kernel.scratch = scratch_by_workers;
  CHECK(stow_kernels_set(c.kernels, STOW_OP_ADD, &kernel, NULL) == STOW_OK);
  c.prepare_options.threads = 2;
  REQUIRE(exec_case_make(&c) == STOW_OK);
  CHECK_U64(stow_plan_scratch_count(c.plan), 1);
  EXEC_SET(&c, "x", float, 1, 2, 3, 4);
  EXEC_SET(&c, "y", float, 1, 2, 3, 4);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
  EXEC_GIVES(&c, 0, float, -7, -7, -7, -7);
  exec_case_end(&c);
}

// 1000, 900, … bytes.
static stow_status scratch_by_variant(const stow_kernel_call* call, uint64_t* out_bytes) {
  *out_bytes = 1000 - 100 * (uint64_t)call->variant;
  return STOW_OK;
}

static stow_status run_variant(stow_kernel_call* call) {
  for (size_t i = 0; i < stow_tensor_elements(call->results[0]); ++i) {
    ((float*)call->results[0]->data)[i] = (float)call->variant;
  }
  return call->scratch_size == 1000 - 100 * (size_t)call->variant ? STOW_OK : STOW_ERR_LIMIT;
}

static uint32_t choose_last(void* user, stow_node node, uint32_t count) {
  *(stow_node*)user = node;
  return count - 1;
}

// The smallest variant is priced, even where there are more than are considered. It is all that the
// plan has room for.
TEST(VariantsArePricedAndChosen) {
  exec_case c;
  exec_case_begin(&c, SUM);
  stow_kernel kernel = kernel_of(run_variant);
  kernel.scratch = scratch_by_variant;
  kernel.variant_count = 6;
  CHECK(stow_kernels_set(c.kernels, STOW_OP_ADD, &kernel, NULL) == STOW_OK);
  REQUIRE(exec_case_make(&c) == STOW_OK);
  CHECK_U64(c.prepared->program.steps[2].price_count, 4);
  CHECK_U64(c.prepared->program.steps[2].prices[0].scratch, 1000);
  CHECK_U64(c.prepared->program.steps[2].prices[2].scratch, 800);
  CHECK_U64(c.prepared->program.steps[2].prices[3].scratch, 500);
  CHECK_U64(stowi_exec_variant_within(&c.prepared->program.steps[2], 5000), 0);
  CHECK_U64(stowi_exec_variant_within(&c.prepared->program.steps[2], 999), 1);
  CHECK_U64(stowi_exec_variant_within(&c.prepared->program.steps[2], 700), 5);
  CHECK_U64(stowi_exec_variant_within(&c.prepared->program.steps[2], 499), UINT32_MAX);
  CHECK_U64(stowi_exec_variant_within(&c.prepared->program.steps[0], 0), UINT32_MAX);  // no kernel
  CHECK_U64(stowi_exec_variant_within(&c.prepared->program.steps[3], 0), 0);
  EXEC_SET(&c, "x", float, 1, 2, 3, 4);
  EXEC_SET(&c, "y", float, 1, 2, 3, 4);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
  EXEC_GIVES(&c, 0, float, -5, -5, -5, -5);
  exec_case_end(&c);
}

// While x is added to itself, the bytes of the concat's result are free. The kernel checks that it
// runs with the variant of its scratch.
TEST(TheFastestVariantThatFitsIsRun) {
  static const struct {
    const char* text;
    uint64_t scratch;
  } cases[] = {{"%0 = input \"x\" : f32[400]\n %1 = add(%0, %0) : f32[400]\n"
                "%2 = concat(%1, %1) {axis = 0} : f32[800]\n return %2",
                1000},
               {"%0 = input \"x\" : f32[220]\n %1 = add(%0, %0) : f32[220]\n"
                "%2 = concat(%1, %1) {axis = 0} : f32[440]\n return %2",
                800}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    exec_case c;
    stow_node node;
    stow_slot slot;
    uint64_t alignment;
    exec_case_begin(&c, cases[i].text);
    stow_kernel kernel = kernel_of(run_variant);
    kernel.scratch = scratch_by_variant;
    kernel.variant_count = 6;
    CHECK(stow_kernels_set(c.kernels, STOW_OP_ADD, &kernel, NULL) == STOW_OK);
    REQUIRE(exec_case_make(&c) == STOW_OK);
    stow_plan_scratch_slot(c.plan, 0, &node, &slot, &alignment);
    CHECK_U64(slot.size, cases[i].scratch);
    float x[400] = {0};
    CHECK(exec_case_set(&c, "x", x, i == 0 ? sizeof(x) : 220 * sizeof(float)) == STOW_OK);
    CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
    exec_case_end(&c);
  }
}

TEST(AForcedVariantRunsWithItsScratch) {
  exec_case c;
  stow_node last = STOW_NODE_NONE;
  stow_prepared* prepared = NULL;
  stow_plan* plan = NULL;
  exec_case_begin(&c, SUM);
  stow_kernel kernel = kernel_of(run_variant);
  kernel.scratch = scratch_by_variant;
  kernel.variant_count = 3;
  CHECK(stow_kernels_set(c.kernels, STOW_OP_ADD, &kernel, NULL) == STOW_OK);
  c.prepare_options.kernels = c.kernels;
  REQUIRE(stowi_exec_prepare(c.graph, &c.prepare_options, choose_last, &last, c.allocator, &c.diag,
                             &prepared) == STOW_OK);
  CHECK_U64(last, 3);
  CHECK_U64(prepared->program.steps[2].prices[0].variant, 2);
  CHECK_U64(prepared->program.steps[2].prices[0].scratch, 800);
  REQUIRE(stow_plan_make(c.graph, stow_prepared_effects(prepared), NULL, c.allocator, &c.diag,
                         &plan) == STOW_OK);
  stow_exec* exec = NULL;
  REQUIRE(stow_exec_create(prepared, plan, NULL, c.allocator, &c.diag, &exec) == STOW_OK);
  stow_tensor x = {.data = (float[]){1, 2, 3, 4}, .dtype = STOW_F32, .rank = 2, .dims = {2, 2}};
  stow_tensor out;
  CHECK(stow_exec_input(exec, 0, &x, &c.diag) == STOW_OK);
  CHECK(stow_exec_input(exec, 1, &x, &c.diag) == STOW_OK);
  CHECK(stow_exec_run(exec, &c.diag) == STOW_OK);
  CHECK(stow_exec_value(exec, 3, &c.diag, &out) == STOW_OK);
  CHECK(((const float*)out.data)[3] == -2);
  stow_exec_destroy(exec);
  stow_plan_destroy(plan);
  stow_prepared_destroy(prepared);
  exec_case_end(&c);
}

// What the kernel that asks for scratch is shown of its second operand. It asks for none.
static const void* shown;

static stow_status scratch_look(const stow_kernel_call* call, uint64_t* out_bytes) {
  (void)out_bytes;
  shown = call->operands[1]->data;
  return STOW_OK;
}

TEST(KernelsThatAskForScratchMayLookAtWeights) {
  for (int is_constant = 0; is_constant < 2; ++is_constant) {
    exec_case c;
    exec_case_begin(&c, is_constant ? "%0 = constant \"k\" {data = [2, 3]} : f32[2]\n"
                                      "%1 = input \"x\" : f32[2]\n"
                                      "%2 = add(%1, %0) : f32[2]\n return %2"
                                    : "%0 = input \"k\" {data = [2, 3]} : f32[2]\n"
                                      "%1 = input \"x\" : f32[2]\n"
                                      "%2 = add(%1, %0) : f32[2]\n return %2");
    stow_kernel kernel = kernel_of(run_seven);
    kernel.scratch = scratch_look;
    CHECK(stow_kernels_set(c.kernels, STOW_OP_ADD, &kernel, NULL) == STOW_OK);
    REQUIRE(exec_case_make(&c) == STOW_OK);
    CHECK((shown == stow_graph_data(c.graph, 0, NULL)) == (is_constant != 0));
    CHECK((shown == NULL) == (is_constant == 0));
    CHECK_U64(stow_plan_scratch_count(c.plan), 0);
    exec_case_end(&c);
  }
}

static stow_status scratch_refused(const stow_kernel_call* call, uint64_t* out_bytes) {
  (void)out_bytes;
  return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "needs f64, there is %s",
                          stow_dtype_name(call->operands[0]->dtype));
}

TEST(PreparingNamesTheNodeThatIsRefused) {
  exec_case c;
  exec_case_begin(&c, SUM);
  stow_kernel kernel = kernel_of(run_seven);
  kernel.scratch = scratch_refused;
  CHECK(stow_kernels_set(c.kernels, STOW_OP_ADD, &kernel, NULL) == STOW_OK);
  CHECK(exec_case_make(&c) == STOW_ERR_UNSUPPORTED);
  CHECK_TEXT(c.diag.message, "node 2 \"sum\" (add): needs f64, there is f32");
  CHECK_U64(c.diag.node, 2);
  c.prepare_options.threads = 0;
  CHECK(exec_case_make(&c) == STOW_ERR_INVALID_ARGUMENT);
  c.prepare_options.threads = 1;
  c.prepare_options.struct_size = 1;
  CHECK(exec_case_make(&c) == STOW_ERR_INVALID_ARGUMENT);
  exec_case_end(&c);
}

TEST(DefaultsEndAtTheStructSize) {
  CHECK_EVERY_SIZE(stow_prepare_options, sizeof(size_t), stow_prepare_options_defaults(out));
  CHECK_EVERY_SIZE(stow_exec_options, sizeof(size_t), stow_exec_options_defaults(out));
}

TEST(UnboundGraphsAreRefused) {
  exec_case c;
  exec_case_begin(&c, "%0 = input \"x\" : f32[?n]\n %1 = neg(%0) : f32[?n]\n return %1");
  CHECK(exec_case_make(&c) == STOW_ERR_UNBOUND_DIM);
  exec_case_end(&c);
}

// Before any plan is made, also if others have ranges.
TEST(SymbolsWithoutRangesAreRefused) {
  static const char* const texts[] = {
      "graph @g {\n %0 = input \"x\" : f32[?n]\n return %0\n}\n",
      "graph @g {\n range ?m = 1..4\n %0 = input \"x\" : f32[?m, ?n]\n return %0\n}\n",
      "graph @g {\n range ?n = 1..4\n %0 = input \"x\" : f32[?m, ?n]\n return %0\n}\n",
  };
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
    stow_module* module = NULL;
    stow_prepared* prepared = NULL;
    stow_allocator heap = stow_allocator_default();
    REQUIRE(stow_module_parse(texts[i], strlen(texts[i]), NULL, NULL, heap, NULL, &module) ==
            STOW_OK);
    CHECK(stow_prepare(stow_module_graph(module, 0), NULL, heap, NULL, &prepared) ==
          STOW_ERR_UNBOUND_DIM);
    stow_prepared_destroy(prepared);
    stow_module_destroy(module);
  }
}

TEST(KernelsThatForbidInPlaceNeverRunInPlace) {
  exec_case c;
  exec_case_begin(&c, SUM);
  REQUIRE(exec_case_make(&c) == STOW_OK);
  CHECK_U64(stow_plan_root(c.plan, 3), 2);  // neg in place
  stow_kernel kernel = kernel_of(run_seven);
  kernel.in_place = false;
  CHECK(stow_kernels_set(c.kernels, STOW_OP_NEG, &kernel, NULL) == STOW_OK);
  REQUIRE(exec_case_make(&c) == STOW_OK);
  CHECK_U64(stow_plan_root(c.plan, 3), 3);
  exec_case_end(&c);
}

// ---------------------------------------------------------------------------------------------
// Creating

TEST(PlansOfOtherGraphsAreStale) {
  exec_case c, other;
  stow_exec* exec;
  exec_case_begin(&c, SUM);
  exec_case_begin(&other, "%0 = input \"x\" : f32[2]\n %1 = neg(%0) : f32[2]\n return %1");
  REQUIRE(exec_case_make(&c) == STOW_OK && exec_case_make(&other) == STOW_OK);
  CHECK(stow_exec_create(c.prepared, other.plan, NULL, c.allocator, &c.diag, &exec) ==
        STOW_ERR_STALE_PLAN);
  CHECK(exec == NULL);
  exec_case_end(&c);
  exec_case_end(&other);
}

TEST(PlansWithoutWhatKernelsNeedAreRefused) {
  exec_case c;
  stow_plan* plan;
  stow_exec* exec;
  exec_case_begin(&c, SUM);
  stow_kernel kernel = kernel_of(run_in_scratch);
  kernel.scratch = scratch_by_workers;
  CHECK(stow_kernels_set(c.kernels, STOW_OP_ADD, &kernel, NULL) == STOW_OK);
  REQUIRE(exec_case_make(&c) == STOW_OK);
  test_freeze(&c.frozen, false);  // planning makes dims
  REQUIRE(stow_plan_make(c.graph, NULL, &c.plan_options, c.allocator, &c.diag, &plan) == STOW_OK);
  CHECK(stow_exec_create(c.prepared, plan, NULL, c.allocator, &c.diag, &exec) ==
        STOW_ERR_VIOLATION);
  CHECK_HAS(c.diag.message, "stow_prepared_effects");
  stow_plan_destroy(plan);
  exec_case_end(&c);
}

TEST(TheArenaMayBeTheCallers) {
  exec_case c;
  static _Alignas(64) unsigned char memory[4096];
  exec_case_begin(&c, SUM);
  c.options.memory = memory;
  c.options.memory_size = 8;
  CHECK(exec_case_make(&c) == STOW_ERR_INVALID_ARGUMENT);
  c.options.memory_size = sizeof(memory);
  memset(memory, 0xee, sizeof(memory));
  REQUIRE(exec_case_make(&c) == STOW_OK);
  EXEC_SET(&c, "x", float, 1, 2, 3, 4);
  EXEC_SET(&c, "y", float, 1, 2, 3, 4);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
  EXEC_GIVES(&c, 0, float, -2, -4, -6, -8);
  exec_case_end(&c);
}

static stow_status attempt_all(stow_allocator allocator, void* user) {
  exec_case* c = (exec_case*)user;
  stow_prepared* prepared = NULL;
  stow_plan* plan = NULL;
  stow_exec* exec = NULL;
  stow_status status = stow_prepare(c->graph, &c->prepare_options, allocator, &c->diag, &prepared);
  if (status == STOW_OK) {
    status = stow_plan_make(c->graph, stow_prepared_effects(prepared), &c->plan_options, allocator,
                            &c->diag, &plan);
  }
  if (status == STOW_OK) {
    status = stow_exec_create(prepared, plan, &c->options, allocator, &c->diag, &exec);
  }
  stow_exec_destroy(exec);
  stow_plan_destroy(plan);
  stow_prepared_destroy(prepared);
  return status;
}

static stow_status attempt_kernels(stow_allocator allocator, void* user) {
  stow_kernels* kernels;
  stow_kernel seven = kernel_of(run_seven);
  stow_diag* diag = (stow_diag*)user;
  stow_status status = stow_kernels_create(allocator, diag, &kernels);
  status = status == STOW_OK ? stow_kernels_set(kernels, STOW_OP_ADD, &seven, diag) : status;
  status =
      status == STOW_OK ? stow_kernels_set_custom(kernels, stow_str_of("a"), &seven, diag) : status;
  stow_kernels_destroy(kernels);
  return status;
}

TEST(EveryFailedAllocationIsReported) {
  exec_case c;
  // A loop, a scratch, a weight without alignment, dims of runs.
  static const unsigned char bytes[17] = {0};
  exec_case_begin(&c,
                  "%0 = input \"n\" : i64[]\n %1 = input \"a\" : f32[2]\n"
                  "%2 = input \"b\" : f32[2]\n"
                  "%7, %8 = loop(%0, _, %1, %2) {\n"
                  "  %3, %4, %5, %6 = args() : i64[], bool[], f32[2], f32[2]\n"
                  "  yield %4, %6, %5 } : f32[2], f32[2]\n"
                  "%9 = nonzero(%7) : bounded i64[1, 2]\n return %7, %8, %9");
  (void)bytes;
  c.prepare_options.threads = 2;
  c.options.paranoid = true;
  CHECK(test_fault_sweep(attempt_all, &c) > 20);
  CHECK(test_fault_sweep(attempt_kernels, &c.diag) >= 3);
  exec_case_end(&c);
}

// ---------------------------------------------------------------------------------------------
// Setting and running

TEST(OtherShapesAndTypesAreNamed) {
  exec_case c;
  float data[6] = {0};
  exec_case_begin(&c, SUM);
  REQUIRE(exec_case_make(&c) == STOW_OK);
  stow_tensor tensor = {.data = data, .dtype = STOW_F32, .rank = 2, .dims = {2, 3}};
  CHECK(stow_exec_input(c.exec, 0, &tensor, &c.diag) == STOW_ERR_TYPE);
  CHECK_TEXT(c.diag.message, "%0 \"x\" is f32[2, 2], but f32[2, 3] was given");
  tensor = (stow_tensor){.data = data, .dtype = STOW_I32, .rank = 2, .dims = {2, 2}};
  CHECK(stow_exec_input(c.exec, 0, &tensor, &c.diag) == STOW_ERR_TYPE);
  CHECK_HAS(c.diag.message, "but i32[2, 2] was given");
  tensor = (stow_tensor){.data = data, .dtype = STOW_F32, .rank = 1, .dims = {4}};
  CHECK(stow_exec_input(c.exec, 0, &tensor, &c.diag) == STOW_ERR_TYPE);
  tensor = (stow_tensor){.data = NULL, .dtype = STOW_F32, .rank = 2, .dims = {2, 2}};
  CHECK(stow_exec_input(c.exec, 0, &tensor, &c.diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(stow_exec_input(c.exec, 99, &tensor, &c.diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(c.diag.message, "no such value: %99");
  stow_value none = stow_graph_find(c.graph, stow_str_of("image"));
  CHECK(stow_exec_input(c.exec, none, &tensor, &c.diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(c.diag.message, "no such value; check its name");
  CHECK(stow_exec_input(c.exec, 2, &tensor, &c.diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(stow_exec_bind(c.exec, 0, data, sizeof(data), &c.diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(c.diag.message, "has a slot in the arena");
  CHECK(stow_exec_value(c.exec, 99, &c.diag, &tensor) == STOW_ERR_INVALID_ARGUMENT);
  exec_case_end(&c);
}

TEST(InputsThatWereNeverSetAreNamed) {
  exec_case c;
  exec_case_begin(&c, SUM);
  REQUIRE(exec_case_make(&c) == STOW_OK);
  EXEC_SET(&c, "x", float, 1, 2, 3, 4);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_ERR_NOT_FOUND);
  CHECK_TEXT(c.diag.message, "input %1 \"y\" is not set");
  stow_tensor tensor;
  CHECK(stow_exec_value(c.exec, 1, &c.diag, &tensor) == STOW_OK);  // only looks at it
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_ERR_NOT_FOUND);
  CHECK(stow_exec_fill(c.exec, 2, &c.diag, &tensor) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(tensor.data == NULL);
  CHECK(stow_exec_fill(c.exec, 1, &c.diag, &tensor) == STOW_OK);
  memcpy(tensor.data, (float[]){4, 3, 2, 1}, 16);  // in place
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
  EXEC_GIVES(&c, 0, float, -5, -5, -5, -5);
  exec_case_end(&c);
}

TEST(TensorsThatAreNotDenseAreRefused) {
  exec_case c;
  float data[8] = {1, 2, 3, 4};
  stow_tensor tensor = {.data = data, .dtype = STOW_F32, .rank = 2, .dims = {2, 2}};
  static const struct {
    int64_t outer, inner;
    stow_status status;
  } cases[] = {{0, 0, STOW_OK},
               {2, 1, STOW_OK},
               {4, 1, STOW_ERR_UNSUPPORTED},
               {1, 2, STOW_ERR_UNSUPPORTED},
               {0, 1, STOW_ERR_UNSUPPORTED},
               {2, 0, STOW_ERR_UNSUPPORTED}};
  exec_case_begin(&c, SUM);
  REQUIRE(exec_case_make(&c) == STOW_OK);
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    tensor.strides[0] = cases[i].outer;
    tensor.strides[1] = cases[i].inner;
    CHECK_U64(stow_exec_input(c.exec, 0, &tensor, &c.diag), cases[i].status);
  }
  CHECK_TEXT(c.diag.message, "%0 \"x\": its strides are not those of a dense tensor");
  CHECK(stow_exec_value(c.exec, 0, &c.diag, &tensor) == STOW_OK);
  CHECK(tensor.strides[0] == 0 && tensor.strides[1] == 0);
  exec_case_end(&c);
}

static stow_status run_striding(stow_kernel_call* call) {
  call->results[0]->strides[1] = 1;
  return run_seven(call);
}

TEST(KernelsThatGiveResultsStridesAreNamed) {
  exec_case c;
  exec_case_begin(&c, SUM);
  stow_kernel kernel = kernel_of(run_striding);
  CHECK(stow_kernels_set(c.kernels, STOW_OP_ADD, &kernel, &c.diag) == STOW_OK);
  REQUIRE(exec_case_make(&c) == STOW_OK);
  EXEC_SET(&c, "x", float, 1, 2, 3, 4);
  EXEC_SET(&c, "y", float, 1, 2, 3, 4);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_ERR_UNSUPPORTED);
  CHECK_HAS(c.diag.message, "the kernel gave %2 \"sum\" strides: results are dense");
  exec_case_end(&c);
}

static stow_status run_failing(stow_kernel_call* call) {
  return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "index 7 is out of range");
}

TEST(ErrorsOfKernelsNameStepNodeAndOp) {
  exec_case c;
  exec_case_begin(&c, SUM);
  stow_kernel kernel = kernel_of(run_failing);
  CHECK(stow_kernels_set(c.kernels, STOW_OP_ADD, &kernel, NULL) == STOW_OK);
  REQUIRE(exec_case_make(&c) == STOW_OK);
  EXEC_SET(&c, "x", float, 1, 2, 3, 4);
  EXEC_SET(&c, "y", float, 1, 2, 3, 4);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_TEXT(c.diag.message, "step 2: node 2 \"sum\" (add): index 7 is out of range");
  exec_case_end(&c);
}

// Says why the first time, and nothing the second.
static stow_status run_failing_mutely(stow_kernel_call* call) {
  static int runs;
  return runs++ == 0 ? run_failing(call) : STOW_ERR_LIMIT;
}

TEST(AKernelsMessageIsItsOwn) {
  exec_case c;
  exec_case_begin(&c, SUM);
  stow_kernel kernel = kernel_of(run_failing_mutely);
  CHECK(stow_kernels_set(c.kernels, STOW_OP_ADD, &kernel, NULL) == STOW_OK);
  REQUIRE(exec_case_make(&c) == STOW_OK);
  EXEC_SET(&c, "x", float, 1, 2, 3, 4);
  EXEC_SET(&c, "y", float, 1, 2, 3, 4);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(c.diag.message, "(add): index 7 is out of range");
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_ERR_LIMIT);
  CHECK_HAS(c.diag.message, "(add): ");
  CHECK_HAS(c.diag.message, stow_status_text(STOW_ERR_LIMIT));
  exec_case_end(&c);
}

// ---------------------------------------------------------------------------------------------
// Steps

typedef struct watcher {
  uint32_t events;
  uint32_t kernels;
  uint32_t stop_at;
} watcher;

static bool watch(void* user, const stow_exec_event* event) {
  watcher* w = (watcher*)user;
  w->kernels += event->call != NULL && event->is_done ? 1 : 0;
  return ++w->events != w->stop_at;
}

TEST(StepsAreReportedAndCanBeStopped) {
  exec_case c;
  watcher w = {0};
  exec_case_begin(&c, SUM);
  c.options.on_step = watch;
  c.options.user = &w;
  REQUIRE(exec_case_make(&c) == STOW_OK);
  EXEC_SET(&c, "x", float, 1, 2, 3, 4);
  EXEC_SET(&c, "y", float, 1, 2, 3, 4);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
  CHECK_U64(w.events, 8);
  CHECK_U64(w.kernels, 2);
  w = (watcher){.stop_at = 5};
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_ERR_GAVE_UP);
  CHECK_HAS(c.diag.message, "node 2 \"sum\" (add): the run was stopped");
  exec_case_end(&c);
}

typedef struct reentry {
  exec_case* c;
  stow_status statuses[4];
  char message[STOW_DIAG_MESSAGE_SIZE];
} reentry;

static bool enter_again(void* user, const stow_exec_event* event) {
  reentry* r = (reentry*)user;
  stow_tensor x = {.data = (float[]){9, 9, 9, 9}, .dtype = STOW_F32, .rank = 2, .dims = {2, 2}};
  if (event->step == 2 && !event->is_done) {
    r->statuses[0] = stow_exec_input(r->c->exec, 0, &x, NULL);
    r->statuses[1] = stow_exec_bind(r->c->exec, 0, x.data, 16, NULL);
    r->statuses[2] = stow_exec_fill(r->c->exec, 0, NULL, &x);
    r->statuses[3] = stow_exec_run(r->c->exec, &r->c->diag);
    memcpy(r->message, r->c->diag.message, sizeof(r->message));
  }
  return true;
}

TEST(RunsInsideRunsAreRefusedAndTheOuterOneGoesOn) {
  exec_case c;
  reentry r = {.c = &c};
  exec_case_begin(&c, SUM);
  c.options.on_step = enter_again;
  c.options.user = &r;
  REQUIRE(exec_case_make(&c) == STOW_OK);
  for (int run = 0; run < 2; ++run) {
    EXEC_SET(&c, "x", float, 1, 2, 3, 4);
    EXEC_SET(&c, "y", float, 1, 2, 3, 4);
    CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
    for (size_t i = 0; i < 4; ++i) {
      CHECK_U64(r.statuses[i], STOW_ERR_CONFLICT);
    }
    CHECK_HAS(r.message, "stow_exec_run was called inside a run");
    EXEC_GIVES(&c, 0, float, -2, -4, -6, -8);
  }
  exec_case_end(&c);
}
