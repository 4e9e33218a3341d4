// Kernels that are broken on purpose: paranoia finds what they do, and names them.
#include <string.h>

#include "exec/exec_case.h"
#include "support/test.h"

#define TEXT                                                                   \
  "%0 = input \"x\" : f32[16]\n %1 \"first\" = relu(%0) : f32[16]\n"           \
  "%2 \"second\" = mul(%1, %0) : f32[16]\n %3 \"third\" = neg(%2) : f32[16]\n" \
  "%4 \"last\" = add(%3, %0) : f32[16]\n return %4"

typedef stow_status (*run_function)(stow_kernel_call* call);

static stow_status copy_all(stow_kernel_call* call) {
  memmove(call->results[0]->data, call->operands[0]->data, stow_tensor_bytes(call->results[0]));
  return STOW_OK;
}

// Runs TEXT with |broken| in the place of neg, |guard| bytes behind inputs; the message.
static const char* message_of(run_function broken, uint64_t guard, bool in_place) {
  static char message[STOW_DIAG_MESSAGE_SIZE];
  exec_case c;
  exec_case_begin(&c, TEXT);
  stow_kernel kernel = {.struct_size = sizeof(kernel), .run = broken, .in_place = in_place};
  CHECK(stow_kernels_set(c.kernels, STOW_OP_NEG, &kernel, NULL) == STOW_OK);
  c.options.paranoid = true;
  c.plan_options.tail_guard = guard;
  message[0] = '\0';
  if (CHECK(exec_case_make(&c) == STOW_OK)) {
    float x[16];
    for (size_t i = 0; i < 16; ++i) {
      x[i] = (float)i + 1;
    }
    CHECK(exec_case_set(&c, "x", x, sizeof(x)) == STOW_OK);
    stow_status status = stow_exec_run(c.exec, &c.diag);
    CHECK(status == STOW_OK || status == STOW_ERR_VIOLATION);
    if (status != STOW_OK) {
      CHECK_U64(c.diag.node, 3);
      memcpy(message, c.diag.message, sizeof(message));
    }
    // Another run finds it again.
    CHECK(exec_case_set(&c, "x", x, sizeof(x)) == STOW_OK);
    CHECK(stow_exec_run(c.exec, NULL) == status);
  }
  exec_case_end(&c);
  return message;
}

TEST(CorrectKernelsPass) {
  CHECK_TEXT(message_of(copy_all, 0, true), "");
  CHECK_TEXT(message_of(copy_all, 0, false), "");
  CHECK_TEXT(message_of(copy_all, 64, false), "");
}

static stow_status write_behind(stow_kernel_call* call) {
  ((unsigned char*)call->results[0]->data)[stow_tensor_bytes(call->results[0])] ^= 1;
  return copy_all(call);
}

TEST(AByteAfterTheResultIsFound) {
  const char* message = message_of(write_behind, 0, false);
  CHECK_HAS(message, "node 3 \"third\" (neg): wrote ");
}

static stow_status write_before(stow_kernel_call* call) {
  ((unsigned char*)call->results[0]->data)[-1] ^= 1;
  return copy_all(call);
}

TEST(AByteBeforeTheResultIsFound) {
  CHECK_HAS(message_of(write_before, 0, false), "node 3 \"third\" (neg): wrote byte ");
}

static stow_status write_operand(stow_kernel_call* call) {
  copy_all(call);
  unsigned char* data;
  memcpy(&data, &call->operands[0]->data, sizeof(data));
  data[5] ^= 1;
  return STOW_OK;
}

TEST(WritingAnOperandIsFound) {
  CHECK_HAS(message_of(write_operand, 0, false), "byte 5 of %2 \"second\"");
}

static stow_status write_first_of_operand(stow_kernel_call* call) {
  copy_all(call);
  unsigned char* data;
  memcpy(&data, &call->operands[0]->data, sizeof(data));
  data[0] ^= 1;
  return STOW_OK;
}

TEST(TheFirstByteBelongsToTheValue) {
  CHECK_HAS(message_of(write_first_of_operand, 0, false), "byte 0 of %2 \"second\"");
}

// Of several values that lie in a byte, the last one to get it is named.
TEST(AViewIsNamedAndNotItsRoot) {
  exec_case c;
  exec_case_begin(&c,
                  "%0 = input \"x\" : f32[16]\n %1 \"root\" = relu(%0) : f32[16]\n"
                  "%2 \"view\" = reshape(%1) : f32[4, 4]\n"
                  "%3 = neg(%2) : f32[4, 4]\n return %3");
  stow_kernel kernel = {.struct_size = sizeof(kernel), .run = write_operand};
  CHECK(stow_kernels_set(c.kernels, STOW_OP_NEG, &kernel, NULL) == STOW_OK);
  c.options.paranoid = true;
  REQUIRE(exec_case_make(&c) == STOW_OK);
  float x[16] = {1, 2, 3, 4};
  CHECK(exec_case_set(&c, "x", x, sizeof(x)) == STOW_OK);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_ERR_VIOLATION);
  CHECK_HAS(c.diag.message, "byte 5 of %2 \"view\"");
  exec_case_end(&c);
}

// The input's guard is 64 bytes behind the input; the slots of both are known by its address.
static const unsigned char* input_data;

static bool see_input(void* user, const stow_exec_event* event) {
  (void)user;
  if (event->call != NULL && event->call->op == STOW_OP_RELU) {
    input_data = (const unsigned char*)event->call->operands[0]->data;
  }
  return true;
}

static stow_status write_guard(stow_kernel_call* call) {
  unsigned char* data;
  memcpy(&data, &input_data, sizeof(data));
  data[64 + 7] ^= 1;
  return copy_all(call);
}

TEST(WritingAGuardIsFound) {
  exec_case c;
  exec_case_begin(&c, TEXT);
  stow_kernel kernel = {.struct_size = sizeof(kernel), .run = write_guard, .in_place = true};
  CHECK(stow_kernels_set(c.kernels, STOW_OP_NEG, &kernel, NULL) == STOW_OK);
  c.options.paranoid = true;
  c.options.on_step = see_input;
  c.plan_options.tail_guard = 64;
  REQUIRE(exec_case_make(&c) == STOW_OK);
  float x[16] = {0};
  CHECK(exec_case_set(&c, "x", x, sizeof(x)) == STOW_OK);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_ERR_VIOLATION);
  CHECK_HAS(c.diag.message, "node 3 \"third\" (neg)");
  CHECK_HAS(c.diag.message, "byte 7 of the guard of %0 \"x\"");
  exec_case_end(&c);
}

static stow_status leave_one_unwritten(stow_kernel_call* call) {
  memcpy(call->results[0]->data, call->operands[0]->data, stow_tensor_bytes(call->results[0]) - 4);
  return STOW_OK;
}

TEST(AnElementThatIsNotWrittenIsFound) {
  CHECK_HAS(
      message_of(leave_one_unwritten, 0, false),
      "element 15 of %3 \"third\" was not written, or was computed from bytes of no live value");
}

// Reads what was the result of relu, which is dead by then.
static const float* dead;

static bool see_relu(void* user, const stow_exec_event* event) {
  (void)user;
  if (event->call != NULL && event->call->op == STOW_OP_RELU) {
    dead = (const float*)event->call->results[0]->data;
  }
  return true;
}

static stow_status read_dead(stow_kernel_call* call) {
  copy_all(call);
  ((float*)call->results[0]->data)[3] += dead[15];
  return STOW_OK;
}

static stow_status write_dead(stow_kernel_call* call) {
  unsigned char* data;
  memcpy(&data, &dead, sizeof(data));
  data[63] ^= 1;
  return copy_all(call);
}

// The message where neg does |broken| after the result of relu has died.
static const char* message_after_death(run_function broken, bool in_place) {
  static char message[STOW_DIAG_MESSAGE_SIZE];
  exec_case c;
  exec_case_begin(&c,
                  "%0 = input \"x\" : f32[16]\n %1 = input \"y\" : f32[4]\n"
                  "%2 = relu(%0) : f32[16]\n %3 = lt(%2, %0) : bool[16]\n"
                  "%4 \"third\" = neg(%1) : f32[4]\n return %3, %4");
  stow_kernel kernel = {.struct_size = sizeof(kernel), .run = broken, .in_place = true};
  CHECK(stow_kernels_set(c.kernels, STOW_OP_NEG, &kernel, NULL) == STOW_OK);
  c.options.paranoid = true;
  c.plan_options.in_place = in_place;
  c.options.on_step = see_relu;
  CHECK(exec_case_make(&c) == STOW_OK);
  float x[16] = {1, 2, 3, 4};
  CHECK(exec_case_set(&c, "x", x, sizeof(x)) == STOW_OK);
  CHECK(exec_case_set(&c, "y", x, 16) == STOW_OK);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_ERR_VIOLATION);
  memcpy(message, c.diag.message, sizeof(message));
  exec_case_end(&c);
  return message;
}

TEST(AReadOfDeadBytesIsFound) {
  CHECK_HAS(message_after_death(read_dead, true), "node 4 \"third\" (neg): element 3 of ");
}

TEST(AWriteToDeadBytesIsFound) {
  CHECK_HAS(message_after_death(write_dead, false), "node 4 \"third\" (neg): wrote byte ");
  CHECK_HAS(message_after_death(write_dead, false), ": no value is live there");
}

// Leaves an element unwritten in the second run, where the first one's is still there.
static stow_status make_less(stow_kernel_call* call) {
  static int runs;
  memset(call->results[0]->data, 0, stow_tensor_bytes(call->results[0]) - (runs++ == 0 ? 0 : 4));
  return STOW_OK;
}

TEST(ElementsTheFirstStepDoesNotWriteAreFoundInEveryRun) {
  exec_case c;
  exec_case_begin(&c,
                  "%0 \"made\" = custom() {name = \"make\"} : f32[4]\n %1 = neg(%0) : f32[4]\n"
                  "return %0, %1");
  stow_kernel kernel = {.struct_size = sizeof(kernel), .run = make_less};
  CHECK(stow_kernels_set_custom(c.kernels, stow_str_of("make"), &kernel, NULL) == STOW_OK);
  c.options.paranoid = true;
  REQUIRE(exec_case_make(&c) == STOW_OK);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_ERR_VIOLATION);
  CHECK_HAS(c.diag.message, "element 3 of %0 \"made\" was not written");
  exec_case_end(&c);
}

// What is computed may look like the pattern: a NaN of all ones, as -0x7fffffff is.
static stow_status make_ones(stow_kernel_call* call) {
  memset(call->results[0]->data, 0xff, stow_tensor_bytes(call->results[0]));
  return STOW_OK;
}

static stow_status make_ones_but_for_one(stow_kernel_call* call) {
  memset(call->results[0]->data, 0xff, stow_tensor_bytes(call->results[0]) - 4);
  return STOW_OK;
}

TEST(DataEqualToThePatternIsNotMistakenForIt) {
  CHECK_TEXT(message_of(make_ones, 0, true), "");
  CHECK_TEXT(message_of(make_ones, 0, false), "");
  CHECK_TEXT(message_of(make_ones, 64, false), "");
  CHECK_HAS(message_of(make_ones_but_for_one, 0, false),
            "element 15 of %3 \"third\" was not written");
}

// The sign of what was not written is turned.
static stow_status negate_unwritten(stow_kernel_call* call) {
  leave_one_unwritten(call);
  ((unsigned char*)call->results[0]->data)[63] ^= 0x80;
  return STOW_OK;
}

TEST(ANegatedPatternIsFound) {
  CHECK_HAS(message_of(negate_unwritten, 0, false), "element 15 of %3 \"third\" was not written");
}

// A result of any type, made inside the result of a concat that others are written into before.
TEST(AnElementOfAPartThatIsNotWrittenIsFound) {
  exec_case c;
  exec_case_begin(&c,
                  "%0 = input \"x\" : i64[8]\n %1 = add(%0, %0) : i64[8]\n"
                  "%2 \"part\" = neg(%0) : i64[8]\n"
                  "%3 = concat(%1, %2) {axis = 0} : i64[16]\n return %3");
  stow_kernel kernel = {.struct_size = sizeof(kernel), .run = leave_one_unwritten};
  CHECK(stow_kernels_set(c.kernels, STOW_OP_NEG, &kernel, NULL) == STOW_OK);
  c.options.paranoid = true;
  REQUIRE(exec_case_make(&c) == STOW_OK);
  CHECK_U64(stow_plan_root(c.plan, 2), stow_plan_root(c.plan, 3));
  EXEC_SET(&c, "x", int64_t, -1, -1, -1, -1, -1, -1, -1, -1);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_ERR_VIOLATION);
  CHECK_HAS(c.diag.message, "node 2 \"part\" (neg): element 7 of ");
  exec_case_end(&c);
}

// A step without a kernel has nothing to write: what changes then is another's doing.
static bool write_input(void* user, const stow_exec_event* event) {
  (void)user;
  if (event->node == 1 && !event->is_done) {
    unsigned char* data;
    memcpy(&data, &input_data, sizeof(data));
    data[9] ^= 1;
  }
  return true;
}

TEST(AnInputIsNotWrittenAtItsStep) {
  exec_case c;
  exec_case_begin(&c,
                  "%0 = input \"x\" : f32[4]\n %1 = input \"y\" : f32[4]\n"
                  "%2 = add(%0, %1) : f32[4]\n return %2");
  c.options.paranoid = true;
  c.options.on_step = write_input;
  REQUIRE(exec_case_make(&c) == STOW_OK);
  EXEC_SET(&c, "x", float, 1, 2, 3, 4);
  EXEC_SET(&c, "y", float, 1, 2, 3, 4);
  stow_tensor y;
  REQUIRE(stow_exec_value(c.exec, 1, &c.diag, &y) == STOW_OK);
  input_data = (const unsigned char*)y.data;
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_ERR_VIOLATION);
  CHECK_HAS(c.diag.message, "step 1: node 1 \"y\" (input): wrote byte ");
  CHECK_HAS(c.diag.message, "byte 9 of %1 \"y\"");
  exec_case_end(&c);
}

// What a caller still holds of it must not look like results.
TEST(DeadBytesAreFilledAfterTheRunToo) {
  static _Alignas(64) unsigned char memory[4096];
  exec_case c;
  exec_case_begin(&c, TEXT);
  c.options.paranoid = true;
  c.options.memory = memory;
  c.options.memory_size = sizeof(memory);
  c.plan_options.in_place = false;
  REQUIRE(exec_case_make(&c) == STOW_OK);
  float x[16] = {1, 2, 3, 4};
  CHECK(exec_case_set(&c, "x", x, sizeof(x)) == STOW_OK);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
  uint32_t steps = stow_plan_step_count(c.plan);
  size_t dead_count = 0;
  for (size_t at = 0; at < stow_plan_arena_size(c.plan); ++at) {
    bool is_live = false;
    for (stow_value value = 0; value < 5; ++value) {
      stow_slot slot = stow_plan_occupied_slot(c.plan, value, steps);
      is_live = is_live || (at >= slot.offset && at - slot.offset < slot.size);
    }
    dead_count += is_live ? 0 : 1;
    CHECK(is_live || memory[at] == 0xff);
  }
  CHECK(dead_count >= 64);
  exec_case_end(&c);
}
