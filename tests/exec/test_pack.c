// Packing weights: which ones, when, how often, and what an executor shows of them. The library's
// kernels pack; kernel_case proves that their numbers stay the same.
#include <pthread.h>
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
