// The engine of ops with one operand. f32 is computed where it lies; everything else a block at a
// time, which is read as a whole before it is written. Linear in the elements.
#include "exec/kernels/elementwise/unary.h"

#include "exec/kernels/support/attrs.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/walk.h"

typedef struct unary_task {
  const stowi_kernel_unary* row;
  const stow_tensor* in;
  stow_tensor* out;
  double p[STOWI_KERNEL_UNARY_PARAMS];
  float p32[STOWI_KERNEL_UNARY_PARAMS];
} unary_task;

static void run_f32(void* user, size_t begin, size_t end, uint32_t worker) {
  const unary_task* t = (const unary_task*)user;
  (void)worker;
  t->row->f32((const float*)t->in->data + begin, (float*)t->out->data + begin, end - begin, t->p32);
}

// A task for elements [begin, end) in blocks: load, compute, store.
#define DEFINE_BLOCKS(name, type, load, store, compute)                       \
  static void name(void* user, size_t begin, size_t end, uint32_t worker) {   \
    const unary_task* t = (const unary_task*)user;                            \
    type block[STOWI_KERNEL_BLOCK];                                           \
    (void)worker;                                                             \
    for (size_t i = begin; i < end; i += STOWI_KERNEL_BLOCK) {                \
      size_t n = end - i < STOWI_KERNEL_BLOCK ? end - i : STOWI_KERNEL_BLOCK; \
      load(t->in->dtype, t->in->data, i, n, block);                           \
      compute;                                                                \
      store(t->out->dtype, t->out->data, i, n, block);                        \
    }                                                                         \
  }

DEFINE_BLOCKS(run_narrow, float, stowi_kernel_load_f32, stowi_kernel_store_f32,
              t->row->f32(block, block, n, t->p32))
DEFINE_BLOCKS(run_f64, double, stowi_kernel_load_f64, stowi_kernel_store_f64,
              t->row->f64(block, block, n, t->p))
DEFINE_BLOCKS(run_i64, int64_t, stowi_kernel_load_i64, stowi_kernel_store_i64,
              t->row->i64(block, block, n))
DEFINE_BLOCKS(run_u64, int64_t, stowi_kernel_load_i64, stowi_kernel_store_i64,
              t->row->u64((uint64_t*)block, (uint64_t*)block, n))

static stow_split_task task_of(const stowi_kernel_unary* row, stow_dtype dtype) {
  switch (stowi_kernel_kind(dtype)) {
    case STOW_KIND_FLOAT:
      return dtype == STOW_F32 ? run_f32 : dtype == STOW_F64 ? run_f64 : run_narrow;
    case STOW_KIND_SIGNED: return row->i64 != NULL ? run_i64 : row->takes_integers ? run_f64 : NULL;
    case STOW_KIND_UNSIGNED:
      return row->u64 != NULL ? run_u64 : row->takes_integers ? run_f64 : NULL;
    case STOW_KIND_BOOL:
    case STOW_KIND_COMPLEX: break;
  }
  return NULL;
}

static const stowi_kernel_unary* row_of(stow_op op, const stowi_kernel_unary* rows,
                                        size_t row_count) {
  for (size_t i = 0; i < row_count; ++i) {
    if (rows[i].op == op) {
      return &rows[i];
    }
  }
  return NULL;
}

stow_status stowi_kernel_unary_run(stow_kernel_call* call, const stowi_kernel_unary* rows,
                                   size_t row_count) {
  unary_task t = {row_of(call->op, rows, row_count), call->operands[0], call->results[0], {0}, {0}};
  stow_split_task task = t.row == NULL ? NULL : task_of(t.row, t.in->dtype);
  if (task == NULL) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "operand 0 is %s, expected floats%s",
                            stowi_kernel_dtype_text(t.in->dtype),
                            t.row != NULL && t.row->i64 != NULL ? " or integers" : "");
  }
  for (size_t k = 0; k < STOWI_KERNEL_UNARY_PARAMS && t.row->names[k] != STOWI_KERNEL_ATTR_NONE;
       ++k) {
    t.p[k] = stowi_kernel_float(call, t.row->names[k], 0);
    t.p32[k] = (float)t.p[k];
  }
  stowi_kernel_split_elements(call, stow_tensor_elements(t.out), t.row->cost, task, &t);
  return STOW_OK;
}
