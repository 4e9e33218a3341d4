// eq, ne, lt, le, gt, ge: bools of two operands, broadcast. Both are read a block at a time in the
// narrowest of f32, f64, i64 and u64 that holds their numbers, so that the bools may be written
// over either.
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/vector.h"
#include "exec/kernels/support/walk.h"

// Loops for one relation: count elements of a and b to out.
typedef struct relation {
  stow_op op;
  void (*f32)(const float* a, const float* b, uint8_t* out, size_t count);
  void (*f64)(const double* a, const double* b, uint8_t* out, size_t count);
  void (*i64)(const int64_t* a, const int64_t* b, uint8_t* out, size_t count);
  void (*u64)(const uint64_t* a, const uint64_t* b, uint8_t* out, size_t count);
} relation;

#define LOOP(name, type, operator)                                             \
  static void name(const type* a, const type* b, uint8_t* out, size_t count) { \
    for (size_t i = 0; i < count; ++i) {                                       \
      out[i] = a[i] operator b[i];                                             \
    }                                                                          \
  }
#define LOOPS(name, operator)         \
  LOOP(name##_f32, float, operator)   \
  LOOP(name##_f64, double, operator)  \
  LOOP(name##_i64, int64_t, operator) \
  LOOP(name##_u64, uint64_t, operator)

LOOPS(eq, ==)
LOOPS(ne, !=)
LOOPS(lt, <)
LOOPS(le, <=)
LOOPS(gt, >)
LOOPS(ge, >=)

#define ROW(op, name) \
  { STOW_OP_##op, name##_f32, name##_f64, name##_i64, name##_u64 }

static const relation relations[] = {
    ROW(EQ, eq), ROW(NE, ne), ROW(LT, lt), ROW(LE, le), ROW(GT, gt), ROW(GE, ge),
};
#define RELATION_COUNT (sizeof(relations) / sizeof(relations[0]))

typedef struct compare_task {
  const relation* relation;
  const stow_tensor* a;
  const stow_tensor* b;
  uint8_t* out;
  stowi_kernel_walk walk;
} compare_task;

#define DEFINE_BLOCKS(name, type, spread, loop, cast)        \
  STOWI_KERNEL_PAIR_BLOCKS(name, compare_task, type, spread, \
                           t->relation->loop((cast*)a, (cast*)b, t->out + i, n))

DEFINE_BLOCKS(run_f32, float, stowi_kernel_spread_f32, f32, float)
DEFINE_BLOCKS(run_f64, double, stowi_kernel_spread_f64, f64, double)
DEFINE_BLOCKS(run_i64, int64_t, stowi_kernel_spread_i64, i64, int64_t)
DEFINE_BLOCKS(run_u64, int64_t, stowi_kernel_spread_i64, u64, uint64_t)

static stow_split_task task_of(stow_dtype dtype) {
  switch (stowi_kernel_kind(dtype)) {
    case STOW_KIND_FLOAT: return dtype == STOW_F64 ? run_f64 : run_f32;
    case STOW_KIND_SIGNED: return run_i64;
    case STOW_KIND_UNSIGNED:
    case STOW_KIND_BOOL: return run_u64;
    case STOW_KIND_COMPLEX: break;
  }
  return NULL;
}

static stow_status run(stow_kernel_call* call) {
  compare_task t = {.relation = &relations[0],
                    .a = call->operands[0],
                    .b = call->operands[1],
                    .out = call->results[0]->data};
  for (size_t i = 0; i < RELATION_COUNT; ++i) {
    t.relation = relations[i].op == call->op ? &relations[i] : t.relation;
  }
  stow_split_task task = task_of(t.a->dtype);
  if (task == NULL) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "%s cannot be compared",
                            stowi_kernel_dtype_text(t.a->dtype));
  }
  stowi_kernel_walk_init(&t.walk, call->results[0], call->operands, 2);
  stowi_kernel_split_elements(call, t.walk.count, 2, task, &t);
  return STOW_OK;
}

STOWI_KERNEL(EQ, NULL, run);
STOWI_KERNEL(NE, NULL, run);
STOWI_KERNEL(LT, NULL, run);
STOWI_KERNEL(LE, NULL, run);
STOWI_KERNEL(GT, NULL, run);
STOWI_KERNEL(GE, NULL, run);
