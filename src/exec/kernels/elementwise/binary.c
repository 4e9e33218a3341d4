// The engine of ops with two operands. f32 and i32 are computed where they lie, run by run;
// everything else a block at a time. Linear in the elements of the result.
#include "exec/kernels/elementwise/binary.h"

#include <string.h>

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/walk.h"

#define SHORT_RUN 16  // elements; shorter runs are gathered into blocks first

typedef struct binary_task {
  const stowi_kernel_binary* row;
  const stow_tensor* a;
  const stow_tensor* b;
  stow_tensor* out;
  double p;
  stowi_kernel_walk walk;
} binary_task;

#define DEFINE_IN_PLACE(name, type, compute)                                                      \
  static void name(void* user, size_t begin, size_t end, uint32_t worker) {                       \
    const binary_task* t = (const binary_task*)user;                                              \
    const type* a = t->a->data;                                                                   \
    const type* b = t->b->data;                                                                   \
    type* out = t->out->data;                                                                     \
    stowi_kernel_cursor cursor;                                                                   \
    stowi_kernel_run run;                                                                         \
    (void)worker;                                                                                 \
    stowi_kernel_cursor_init(&cursor, &t->walk, begin, end);                                      \
    while (stowi_kernel_cursor_next(&cursor, SIZE_MAX, &run)) {                                   \
      t->row->compute(a + run.index[0], run.step[0], b + run.index[1], run.step[1], out + run.at, \
                      run.length, (float)t->p);                                                   \
    }                                                                                             \
  }

DEFINE_IN_PLACE(run_f32, float, f32)
DEFINE_IN_PLACE(run_i32, uint32_t, i32)

#define DEFINE_BLOCKS(name, type, spread, store, compute)              \
  STOWI_KERNEL_PAIR_BLOCKS(name, binary_task, type, spread, (compute); \
                           store(t->out->dtype, t->out->data, i, n, a))

DEFINE_BLOCKS(run_narrow, float, stowi_kernel_spread_f32, stowi_kernel_store_f32,
              t->row->f32(a, 1, b, 1, a, n, (float)t->p))
DEFINE_BLOCKS(run_f64, double, stowi_kernel_spread_f64, stowi_kernel_store_f64,
              t->row->f64(a, b, a, n, t->p))
DEFINE_BLOCKS(run_i64, int64_t, stowi_kernel_spread_i64, stowi_kernel_store_i64,
              t->row->i64(a, b, a, n))
DEFINE_BLOCKS(run_u64, int64_t, stowi_kernel_spread_i64, stowi_kernel_store_i64,
              t->row->u64((uint64_t*)a, (uint64_t*)b, (uint64_t*)a, n))

static bool has_short_runs(const stowi_kernel_walk* walk) {
  return walk->rank > 1 && walk->dims[walk->rank - 1] < SHORT_RUN;
}

static stow_split_task task_of(const binary_task* t) {
  const stowi_kernel_binary* row = t->row;
  stow_dtype dtype = t->a->dtype;
  switch (stowi_kernel_kind(dtype)) {
    case STOW_KIND_FLOAT:
      if (dtype == STOW_F64) {
        return row->f64 == NULL ? NULL : run_f64;
      }
      if (row->f32 == NULL) {
        return NULL;
      }
      return dtype == STOW_F32 && t->b->dtype == STOW_F32 && !has_short_runs(&t->walk) ? run_f32
                                                                                       : run_narrow;
    case STOW_KIND_SIGNED:
      if (dtype == STOW_I32 && t->b->dtype == STOW_I32 && row->i32 != NULL &&
          !has_short_runs(&t->walk)) {
        return run_i32;
      }
      return row->i64 == NULL ? NULL : run_i64;
    case STOW_KIND_UNSIGNED:
    case STOW_KIND_BOOL: return row->u64 == NULL ? NULL : run_u64;
    case STOW_KIND_COMPLEX: break;
  }
  return NULL;
}

stow_status stowi_kernel_binary_run(stow_kernel_call* call, const stowi_kernel_binary* row) {
  binary_task t = {.row = row,
                   .a = call->operands[0],
                   .b = call->operands[1],
                   .out = call->results[0],
                   .p = stowi_kernel_float(call, row->name, 0)};
  stowi_kernel_walk_init(&t.walk, t.out, call->operands, 2);
  stow_split_task task = task_of(&t);
  if (task == NULL) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "operand 0 is %s, expected %s",
                            stowi_kernel_dtype_text(t.a->dtype),
                            row->f32 == NULL   ? "bool or integers"
                            : row->i64 == NULL ? "floats"
                                               : "floats or integers");
  }
  stowi_kernel_split_elements(call, t.walk.count, row->cost, task, &t);
  return STOW_OK;
}

const stowi_kernel_binary* stowi_kernel_binary_row(const stow_kernel_call* call,
                                                   const stowi_kernel_binary* rows,
                                                   size_t row_count) {
  for (size_t i = 0; i + 1 < row_count; ++i) {
    if (rows[i].op == call->op) {
      return &rows[i];
    }
  }
  return &rows[row_count - 1];
}

stow_status stowi_kernel_check_divisor(const stow_kernel_call* call) {
  const stow_tensor* b = call->operands[1];
  size_t count = stow_tensor_elements(b);
  stow_dtype_kind kind = stowi_kernel_kind(b->dtype);
  if (kind == STOW_KIND_FLOAT || kind == STOW_KIND_COMPLEX ||
      stow_tensor_elements(call->results[0]) == 0) {
    return STOW_OK;
  }
  int64_t block[STOWI_KERNEL_BLOCK];
  for (size_t i = 0; i < count; i += STOWI_KERNEL_BLOCK) {
    size_t n = count - i < STOWI_KERNEL_BLOCK ? count - i : STOWI_KERNEL_BLOCK;
    stowi_kernel_load_i64(b->dtype, b->data, i, n, block);
    for (size_t j = 0; j < n; ++j) {
      if (block[j] == 0) {
        return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                                "integer division by 0 (element %zu of operand 1)", i + j);
      }
    }
  }
  return STOW_OK;
}
