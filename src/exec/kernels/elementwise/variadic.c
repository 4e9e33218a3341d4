// max, min, sum, mean of any number of operands, broadcast, from the first to the last. Two are the
// binary engine's. More are taken a block at a time: what is computed of a block is kept aside
// until all operands are read, so that the result may be in place of any of them, and is rounded
// once.
#include "exec/kernels/elementwise/binary.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/walk.h"

// NaN wins.
STOWI_KERNEL_BINARY_BOTH(max, x > y || x != x ? x : y)
STOWI_KERNEL_BINARY_INT(max_i64, int64, x > y ? x : y)
STOWI_KERNEL_BINARY_INT(max_u64, uint64, x > y ? x : y)
STOWI_KERNEL_BINARY_BOTH(min, x < y || x != x ? x : y)
STOWI_KERNEL_BINARY_INT(min_i64, int64, x < y ? x : y)
STOWI_KERNEL_BINARY_INT(min_u64, uint64, x < y ? x : y)
STOWI_KERNEL_BINARY_BOTH(add, x + y)
STOWI_KERNEL_BINARY_INT(add_i64, int64, (int64_t)((uint64_t)x + (uint64_t)y))
STOWI_KERNEL_BINARY_INT(add_u64, uint64, x + y)

static const stowi_kernel_binary rows[] = {
    {STOW_OP_MAX, 1, max_f32, max_f64, max_i64, max_u64, STOWI_KERNEL_ATTR_NONE, NULL},
    {STOW_OP_MIN, 1, min_f32, min_f64, min_i64, min_u64, STOWI_KERNEL_ATTR_NONE, NULL},
    {STOW_OP_SUM, 1, add_f32, add_f64, add_i64, add_u64, STOWI_KERNEL_ATTR_NONE, NULL},
    {STOW_OP_MEAN, 1, add_f32, add_f64, NULL, NULL, STOWI_KERNEL_ATTR_NONE, NULL},
};

typedef struct fold_task {
  const stow_kernel_call* call;
  const stowi_kernel_binary* row;
  stow_tensor* out;
  size_t count;
} fold_task;

// Reads a block of operand |k| as if it had the result's dims.
#define DEFINE_READ(name, type, load, spread)                                             \
  static void name(const fold_task* t, size_t k, size_t first, size_t count, type* out) { \
    const stow_tensor* operand = t->call->operands[k];                                    \
    if (stow_tensor_elements(operand) == t->count) {                                      \
      load(operand->dtype, operand->data, first, count, out);                             \
      return;                                                                             \
    }                                                                                     \
    stowi_kernel_walk walk;                                                               \
    stowi_kernel_walk_init(&walk, t->out, &operand, 1);                                   \
    spread(&walk, 0, operand, first, count, out);                                         \
  }

DEFINE_READ(read_f32, float, stowi_kernel_load_f32, stowi_kernel_spread_f32)
DEFINE_READ(read_f64, double, stowi_kernel_load_f64, stowi_kernel_spread_f64)
DEFINE_READ(read_i64, int64_t, stowi_kernel_load_i64, stowi_kernel_spread_i64)

enum { ELEMENTS = 128 };  // at a time

#define DEFINE_FOLD(name, type, read, store, compute, finish)               \
  static void name(void* user, size_t begin, size_t end, uint32_t worker) { \
    const fold_task* t = (const fold_task*)user;                            \
    type a[ELEMENTS];                                                       \
    type b[ELEMENTS];                                                       \
    (void)worker;                                                           \
    for (size_t i = begin; i < end; i += ELEMENTS) {                        \
      size_t n = end - i < ELEMENTS ? end - i : ELEMENTS;                   \
      read(t, 0, i, n, a);                                                  \
      for (size_t k = 1; k < t->call->operand_count; ++k) {                 \
        read(t, k, i, n, b);                                                \
        compute;                                                            \
      }                                                                     \
      finish;                                                               \
      store(t->out->dtype, t->out->data, i, n, a);                          \
    }                                                                       \
  }
#define MEAN(type)                                               \
  for (size_t j = 0; t->row->op == STOW_OP_MEAN && j < n; ++j) { \
    a[j] /= (type)t->call->operand_count;                        \
  }

DEFINE_FOLD(fold_f32, float, read_f32, stowi_kernel_store_f32, t->row->f32(a, 1, b, 1, a, n, 0),
            MEAN(float))
DEFINE_FOLD(fold_f64, double, read_f64, stowi_kernel_store_f64, t->row->f64(a, b, a, n, 0),
            MEAN(double))
DEFINE_FOLD(fold_i64, int64_t, read_i64, stowi_kernel_store_i64, t->row->i64(a, b, a, n), (void)0)
DEFINE_FOLD(fold_u64, int64_t, read_i64, stowi_kernel_store_i64,
            t->row->u64((uint64_t*)a, (uint64_t*)b, (uint64_t*)a, n), (void)0)

static stow_split_task task_of(const stowi_kernel_binary* row, stow_dtype dtype) {
  switch (stowi_kernel_kind(dtype)) {
    case STOW_KIND_FLOAT: return dtype == STOW_F64 ? fold_f64 : fold_f32;
    case STOW_KIND_SIGNED: return row->i64 == NULL ? NULL : fold_i64;
    case STOW_KIND_UNSIGNED: return row->u64 == NULL ? NULL : fold_u64;
    case STOW_KIND_BOOL:
    case STOW_KIND_COMPLEX: break;
  }
  return NULL;
}

static stow_status run(stow_kernel_call* call) {
  fold_task t = {call, stowi_kernel_binary_row(call, rows, sizeof(rows) / sizeof(rows[0])),
                 call->results[0], stow_tensor_elements(call->results[0])};
  for (size_t k = 0; k < call->operand_count; ++k) {
    if (call->operands[k] == NULL) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "operand %zu is missing", k);
    }
  }
  if (call->operand_count == 2 && call->op != STOW_OP_MEAN) {
    return stowi_kernel_binary_run(call, t.row);
  }
  stow_split_task task = task_of(t.row, t.out->dtype);
  if (task == NULL) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "operand 0 is %s, expected floats%s",
                            stowi_kernel_dtype_text(t.out->dtype),
                            t.row->i64 == NULL ? "" : " or integers");
  }
  stowi_kernel_split_elements(call, t.count, call->operand_count, task, &t);
  return STOW_OK;
}

STOWI_KERNEL(MAX, NULL, run);
STOWI_KERNEL(MIN, NULL, run);
STOWI_KERNEL(SUM, NULL, run);
STOWI_KERNEL(MEAN, NULL, run);
