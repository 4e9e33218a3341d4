// Programs: which instructions graphs become, and that those of random graphs are well-formed.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exec/exec_case.h"
#include "exec/program/code.h"
#include "exec/run/prepare.h"
#include "support/fault.h"
#include "support/random_graph.h"
#include "support/test.h"

#define GRAPHS 300
#define GRAPHS_LONG 20000
#define MAX_NODES 40
#define SEARCH_NODES 100

// ---------------------------------------------------------------------------------------------
// As text

static const char* const names[] = {"rest", "call", "copy",  "aside", "back", "append", "close",
                                    "args", "if",   "begin", "while", "cond", "next",   "end"};

// `while>8`, `copy %1 %6`, one after the other; boundary values are left out.
static void list(const stowi_exec_code* code, char* out, size_t size) {
  size_t at = 0;
  out[0] = '\0';
  for (size_t i = 0; i < code->count && at < size; ++i) {
    const stowi_exec_instruction* in = &code->instructions[i];
    const char* comma = at == 0 ? "" : ", ";
    switch (in->action) {
      case STOWI_EXEC_REST: break;
      case STOWI_EXEC_COPY:
      case STOWI_EXEC_ASIDE:
      case STOWI_EXEC_BACK:
      case STOWI_EXEC_APPEND:
        at += (size_t)snprintf(out + at, size - at, "%s%s %%%" PRIu32 " %%%" PRIu32, comma,
                               names[in->action], in->from, in->to);
        break;
      case STOWI_EXEC_IF:
        at += (size_t)snprintf(out + at, size - at, "%sif%s %%%" PRIu32, comma,
                               in->is_wanted ? "" : " not", in->from);
        break;
      default: at += (size_t)snprintf(out + at, size - at, "%s%s", comma, names[in->action]);
    }
  }
}

static void check_code(const char* graph, const char* expected, int line) {
  exec_case c;
  char text[1000];
  stowi_exec_code code;
  exec_case_begin(&c, graph);
  if (test_check(exec_case_make(&c) == STOW_OK, __FILE__, line, "%s", c.diag.message)) {
    stow_status status = stowi_exec_code_init(&code, &c.prepared->program, c.plan,
                                              stow_allocator_default(), &c.diag);
    test_check(status == STOW_OK, __FILE__, line, "%s", c.diag.message);
    list(&code, text, sizeof(text));
    test_check(strcmp(text, expected) == 0, __FILE__, line, "%s", text);
    stowi_exec_code_free(&code);
  }
  exec_case_end(&c);
}
#define CODE_IS(graph, expected) check_code((graph), (expected), __LINE__)

TEST(NodesAreCallsInThePlansOrder) {
  CODE_IS(
      "%0 = input \"x\" : f32[2]\n %1 = neg(%0) : f32[2]\n %2 = add(%0, %1) : f32[2]\n"
      "return %2",
      "call, call");
}

TEST(BranchesCopyWhatTheyYield) {
  CODE_IS(
      "%0 = input \"x\" : f32[4]\n %1 = input \"c\" : bool[]\n"
      "%4 = if(%1) { %2 = neg(%0) : f32[4]\n yield %2 }"
      " else { %3 = add(%0, %0) : f32[4]\n yield %3 } : f32[4]\n return %4",
      "if %1, call, copy %2 %4, if not %1, call, copy %3 %4");
}

TEST(LoopsCarryInTheirArguments) {
  CODE_IS(
      "%0 = input \"n\" : i64[]\n %1 = input \"x\" : f32[2]\n"
      "%6, %7 = loop(%0, _, %1) {\n"
      "  %2, %3, %4 = args() : i64[], bool[], f32[2]\n"
      "  %5 = add(%4, %4) : f32[2]\n  yield %3, %5, %4 } : f32[2], f32[3, 2]\n return %6, %7",
      "begin, copy %1 %4, while, args, call, cond, append %4 %7, copy %5 %4, next, end, "
      "close, copy %4 %6");
}

TEST(SwappedArgumentsAreMovedAside) {
  CODE_IS(
      "%0 = input \"n\" : i64[]\n %1 = input \"a\" : f32[2]\n %2 = input \"b\" : f32[2]\n"
      "%7, %8 = loop(%0, _, %1, %2) {\n"
      "  %3, %4, %5, %6 = args() : i64[], bool[], f32[2], f32[2]\n"
      "  yield %4, %6, %5 } : f32[2], f32[2]\n return %7, %8",
      "begin, copy %1 %5, copy %2 %6, while, args, cond, aside %6 %5, aside %5 %6, "
      "back %6 %5, back %5 %6, next, end, copy %5 %7, copy %6 %8");
}

// ---------------------------------------------------------------------------------------------
// Random graphs

// Steps are whole and in the plan's order, and all but quiet ones come once.
static bool has_all_steps(const stowi_exec_code* code, const stow_plan* plan) {
  uint32_t next = 0;
  bool is_open = false;
  for (size_t i = 0; i < code->count; ++i) {
    const stowi_exec_instruction* in = &code->instructions[i];
    bool is_between = in->action == STOWI_EXEC_IF || in->action == STOWI_EXEC_BEGIN ||
                      in->action == STOWI_EXEC_WHILE || in->action == STOWI_EXEC_END;
    if (in->begins == is_open && !is_between) {
      return false;
    }
    is_open = is_open || in->begins;
    if (is_between == is_open || (is_open && in->node != stow_plan_order(plan)[in->step]) ||
        (is_open && in->step != next)) {
      return false;
    }
    next += in->ends && !in->is_quiet;
    is_open = is_open && !in->ends;
  }
  return !is_open && next == stow_plan_step_count(plan);
}

// Jumps lead to where steps begin, or between them; rounds lead back to the loop's own WHILE.
static bool has_sound_jumps(const stowi_exec_code* code) {
  for (size_t i = 0; i < code->count; ++i) {
    const stowi_exec_instruction* in = &code->instructions[i];
    const stowi_exec_instruction* to = &code->instructions[in->target];
    if (in->action == STOWI_EXEC_IF || in->action == STOWI_EXEC_WHILE) {
      bool is_step = in->target < code->count && !to->begins;
      if (in->target <= i || in->target > code->count ||
          (in->action == STOWI_EXEC_WHILE && to->action != STOWI_EXEC_END) ||
          (is_step && code->instructions[in->target - 1].ends == false)) {
        return false;
      }
    }
    if (in->action == STOWI_EXEC_NEXT && (in->target >= i || to->action != STOWI_EXEC_WHILE ||
                                          to->loop != in->loop || to->target != i + 1)) {
      return false;
    }
  }
  return true;
}

// Values are those of the region's, and what is put aside fits its scratch.
static bool has_sound_copies(const stowi_exec_code* code, const stowi_exec_program* program) {
  for (size_t i = 0; i < code->count; ++i) {
    const stowi_exec_instruction* in = &code->instructions[i];
    bool copies = in->action >= STOWI_EXEC_COPY && in->action <= STOWI_EXEC_APPEND;
    bool is_aside = in->action == STOWI_EXEC_ASIDE || in->action == STOWI_EXEC_BACK;
    if (copies && (in->from >= program->value_count || in->to >= program->value_count)) {
      return false;
    }
    if (is_aside && in->at + STOWI_EXEC_DIMS_SIZE + program->values[in->from].bytes >
                        code->scratch[in->node].size) {
      return false;
    }
  }
  return true;
}

static stow_status run_nothing(stow_kernel_call* call) {
  (void)call;
  return STOW_OK;
}

// The library's, and some for the custom nodes of random graphs.
static stow_kernels* make_kernels(void) {
  static const char* const customs[] = {"acme.make", "acme.mix", "acme.step", "onnx.Foo",
                                        "onnx.QMatMul"};
  stow_kernel nothing = {.struct_size = sizeof(nothing), .run = run_nothing, .in_place = true};
  stow_kernels* kernels;
  CHECK(stow_kernels_create(stow_allocator_default(), NULL, &kernels) == STOW_OK);
  for (size_t i = 0; i < sizeof(customs) / sizeof(customs[0]); ++i) {
    CHECK(stow_kernels_set_custom(kernels, stow_str_of(customs[i]), &nothing, NULL) == STOW_OK);
  }
  return kernels;
}

static void check_random(uint64_t seed, const stow_kernels* kernels, uint64_t* tally) {
  test_random random = {seed};
  random_graph_options options = random_graph_everything(1 + seed % MAX_NODES);
  stow_allocator heap = stow_allocator_default();
  stow_graph* graph = random_graph(&random, &options, heap);
  stow_schedule* schedule = random_schedule(&random, graph, heap);
  stow_plan_options plan_options;
  stow_plan_options_init(&plan_options, STOW_PRESET_DEFAULT);
  plan_options.schedule = schedule;
  plan_options.nodes = SEARCH_NODES;
  plan_options.order = STOW_ORDER_GIVEN;
  stow_prepare_options prepare_options;
  stow_prepare_options_init(&prepare_options);
  prepare_options.kernels = kernels;
  stow_prepared* prepared = NULL;
  stow_plan* plan = NULL;
  stowi_exec_code code;
  if (stow_prepare(graph, &prepare_options, heap, NULL, &prepared) == STOW_OK &&
      stow_plan_make(graph, stow_prepared_effects(prepared), &plan_options, heap, NULL, &plan) ==
          STOW_OK) {
    CHECK(stowi_exec_code_init(&code, &prepared->program, plan, heap, NULL) == STOW_OK);
    bool is_sound = has_all_steps(&code, plan) && has_sound_jumps(&code) &&
                    has_sound_copies(&code, &prepared->program);
    test_check(is_sound, __FILE__, __LINE__, "seed %" PRIu64, seed);
    *tally += stow_graph_region_count(graph) > 1;
    stowi_exec_code_free(&code);
  }
  stow_plan_destroy(plan);
  stow_prepared_destroy(prepared);
  stow_schedule_destroy(schedule);
  stow_graph_destroy(graph);
}

TEST(CodeOfRandomGraphsIsWellFormed) {
  uint64_t count = test_is_long() ? GRAPHS_LONG : GRAPHS;
  uint64_t with_regions = 0;
  stow_kernels* kernels = make_kernels();
  for (uint64_t seed = 1; seed <= count; ++seed) {
    check_random(seed, kernels, &with_regions);
  }
  CHECK(with_regions * 4 > count);
  stow_kernels_destroy(kernels);
}

// ---------------------------------------------------------------------------------------------
// How often things are done, which the linker lets be counted

static int verifications, checks, lookups;

stow_status __real_stow_graph_verify(const stow_graph* graph, stow_diag* diag);
stow_status __wrap_stow_graph_verify(const stow_graph* graph, stow_diag* diag);
stow_status __wrap_stow_graph_verify(const stow_graph* graph, stow_diag* diag) {
  ++verifications;
  return __real_stow_graph_verify(graph, diag);
}

stow_status __real_stow_plan_check(const stow_plan* plan, const stow_graph* graph,
                                   const stow_effects* effects, stow_allocator allocator,
                                   stow_diag* diag, stow_violation* out_violation);
stow_status __wrap_stow_plan_check(const stow_plan* plan, const stow_graph* graph,
                                   const stow_effects* effects, stow_allocator allocator,
                                   stow_diag* diag, stow_violation* out_violation);
stow_status __wrap_stow_plan_check(const stow_plan* plan, const stow_graph* graph,
                                   const stow_effects* effects, stow_allocator allocator,
                                   stow_diag* diag, stow_violation* out_violation) {
  ++checks;
  return __real_stow_plan_check(plan, graph, effects, allocator, diag, out_violation);
}

const stow_attr* __real_stow_kernel_attr(const stow_kernel_call* call, const char* name);
const stow_attr* __wrap_stow_kernel_attr(const stow_kernel_call* call, const char* name);
const stow_attr* __wrap_stow_kernel_attr(const stow_kernel_call* call, const char* name) {
  ++lookups;
  return __real_stow_kernel_attr(call, name);
}

TEST(AGraphIsVerifiedOnceAndAPlanCheckedOnce) {
  exec_case c;
  exec_case_begin(&c,
                  "%0 = input \"x\" : f32[2, 2]\n %1 = softmax(%0) {axis = 0} : f32[2, 2]\n"
                  "%2 = leaky_relu(%1) {alpha = 0.5} : f32[2, 2]\n return %2");
  verifications = checks = lookups = 0;
  REQUIRE(exec_case_make(&c) == STOW_OK);
  CHECK(verifications == 1);
  CHECK(checks == 1);
  for (int run = 0; run < 3; ++run) {
    EXEC_SET(&c, "x", float, 1, 1, 1, 1);
    CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
    EXEC_GIVES(&c, 0, float, 0.5, 0.5, 0.5, 0.5);
  }
  CHECK(verifications == 1);
  CHECK(checks == 1);
  CHECK(lookups == 0);
  exec_case_end(&c);
}

// ---------------------------------------------------------------------------------------------

static stow_status make_code(stow_allocator allocator, void* user) {
  const exec_case* c = user;
  stowi_exec_code code;
  stow_status status = stowi_exec_code_init(&code, &c->prepared->program, c->plan, allocator, NULL);
  stowi_exec_code_free(&code);
  return status;
}

TEST(CodeSurvivesFailingAllocations) {
  exec_case c;
  exec_case_begin(&c,
                  "%0 = input \"n\" : i64[]\n %1 = input \"x\" : f32[2]\n"
                  "%6 = loop(%0, _, %1) {\n %2, %3, %4 = args() : i64[], bool[], f32[2]\n"
                  "%5 = add(%4, %4) : f32[2]\n yield %3, %5 } : f32[2]\n return %6");
  REQUIRE(exec_case_make(&c) == STOW_OK);
  CHECK(test_fault_sweep(make_code, &c) >= 2);
  exec_case_end(&c);
}
