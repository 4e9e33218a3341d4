// where: element by element one of two, by a bool; all three broadcast. Elements are bytes here, of
// any dtype; only those of less than a byte are taken apart.
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/vector.h"
#include "exec/kernels/support/walk.h"

typedef struct wide {
  uint64_t parts[2];
} wide;

typedef struct where_task {
  const uint8_t* condition;
  const stow_tensor* a;
  const stow_tensor* b;
  stow_tensor* out;
  stowi_kernel_walk walk;
} where_task;

// Runs in which no operand is repeated are a loop of their own, for its vectors.
#define DEFINE_WHERE(name, type)                                                               \
  STOWI_KERNEL_LOOP(name##_run,                                                                \
                    (const uint8_t* c, const type* a, const type* b, type* out, size_t count), \
                    (c, a, b, out, count)) {                                                   \
    STOWI_KERNEL_INDEPENDENT                                                                   \
    for (size_t i = 0; i < count; ++i) {                                                       \
      const type yes = a[i];                                                                   \
      const type no = b[i];                                                                    \
      out[i] = c[i] != 0 ? yes : no;                                                           \
    }                                                                                          \
  }                                                                                            \
  static void name(void* user, size_t begin, size_t end, uint32_t worker) {                    \
    const where_task* t = (const where_task*)user;                                             \
    stowi_kernel_cursor cursor;                                                                \
    stowi_kernel_run run;                                                                      \
    (void)worker;                                                                              \
    stowi_kernel_cursor_init(&cursor, &t->walk, begin, end);                                   \
    while (stowi_kernel_cursor_next(&cursor, SIZE_MAX, &run)) {                                \
      const uint8_t* c = t->condition + run.index[0];                                          \
      const type* a = (const type*)t->a->data + run.index[1];                                  \
      const type* b = (const type*)t->b->data + run.index[2];                                  \
      type* out = (type*)t->out->data + run.at;                                                \
      if (run.step[0] + run.step[1] + run.step[2] == 3) {                                      \
        name##_run(c, a, b, out, run.length);                                                  \
        continue;                                                                              \
      }                                                                                        \
      for (size_t i = 0; i < run.length; ++i) {                                                \
        out[i] = c[i * run.step[0]] != 0 ? a[i * run.step[1]] : b[i * run.step[2]];            \
      }                                                                                        \
    }                                                                                          \
  }

DEFINE_WHERE(where_1, uint8_t)
DEFINE_WHERE(where_2, uint16_t)
DEFINE_WHERE(where_4, uint32_t)
DEFINE_WHERE(where_8, uint64_t)
DEFINE_WHERE(where_16, wide)

enum { CODES = 64 };  // at a time

// The codes of packed elements as integers.
static void where_packed(void* user, size_t begin, size_t end, uint32_t worker) {
  const where_task* t = (const where_task*)user;
  stow_dtype codes = stowi_kernel_bits(t->out->dtype) == 4 ? STOW_U4 : STOW_U2;
  const stow_tensor a = {.data = t->a->data, .dtype = codes};
  const stow_tensor b = {.data = t->b->data, .dtype = codes};
  const stow_tensor c = {.data = (void*)(uintptr_t)t->condition, .dtype = STOW_BOOL};
  int64_t blocks[3][CODES];
  (void)worker;
  for (size_t i = begin; i < end; i += CODES) {
    size_t n = end - i < CODES ? end - i : CODES;
    stowi_kernel_spread_i64(&t->walk, 0, &c, i, n, blocks[0]);
    stowi_kernel_spread_i64(&t->walk, 1, &a, i, n, blocks[1]);
    stowi_kernel_spread_i64(&t->walk, 2, &b, i, n, blocks[2]);
    for (size_t j = 0; j < n; ++j) {
      blocks[1][j] = blocks[0][j] != 0 ? blocks[1][j] : blocks[2][j];
    }
    stowi_kernel_store_i64(codes, t->out->data, i, n, blocks[1]);
  }
}

static stow_status run(stow_kernel_call* call) {
  where_task t = {.condition = call->operands[0]->data,
                  .a = call->operands[1],
                  .b = call->operands[2],
                  .out = call->results[0]};
  stow_split_task task = where_packed;
  switch (stowi_kernel_bits(t.out->dtype)) {
    case 8: task = where_1; break;
    case 16: task = where_2; break;
    case 32: task = where_4; break;
    case 64: task = where_8; break;
    case 128: task = where_16; break;
    default: break;
  }
  stowi_kernel_walk_init(&t.walk, t.out, call->operands, 3);
  stowi_kernel_split_elements(call, t.walk.count, 2, task, &t);
  return STOW_OK;
}

STOWI_KERNEL(WHERE, NULL, run);
