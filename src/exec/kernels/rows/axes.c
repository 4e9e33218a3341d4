// Tensors as rows. Any set of axes becomes at most one list of dims that stay and one of dims that
// go, with the innermost dim apart, so that inner loops are over elements that are contiguous. An
// offset costs a division per dim, once for a run or strip.
#include "exec/kernels/rows/axes.h"

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

size_t stowi_kernel_grain_of(size_t size) {
  return size == 0 || size >= STOWI_KERNEL_GRAIN ? 1 : STOWI_KERNEL_GRAIN / size;
}

bool stowi_kernel_find_axis(int64_t axis, uint32_t rank, uint32_t* out_axis) {
  int64_t dims = rank == 0 ? 1 : (int64_t)rank;
  if (axis < -dims || axis >= dims) {
    return false;
  }
  *out_axis = (uint32_t)(axis < 0 ? axis + dims : axis);
  return true;
}

stowi_kernel_rows stowi_kernel_rows_along(const stow_tensor* x, uint32_t axis) {
  stowi_kernel_rows rows = {1, 1, 1};
  for (uint32_t i = 0; i < x->rank; ++i) {
    size_t dim = (size_t)x->dims[i];
    if (i < axis) {
      rows.outer *= dim;
    } else if (i == axis) {
      rows.count = dim;
    } else {
      rows.inner *= dim;
    }
  }
  return rows;
}

static size_t strips_across(const stowi_kernel_rows* rows) {
  return (rows->inner + STOWI_KERNEL_BLOCK - 1) / STOWI_KERNEL_BLOCK;
}

stowi_kernel_strip stowi_kernel_strip_at(const stowi_kernel_rows* rows, size_t i) {
  size_t strips = strips_across(rows);
  size_t outer = i / strips;
  size_t column = i % strips * STOWI_KERNEL_BLOCK;
  size_t left = rows->inner - column;
  return (stowi_kernel_strip){.first = outer * rows->count * rows->inner + column,
                              .row = outer * rows->inner + column,
                              .width = left < STOWI_KERNEL_BLOCK ? left : STOWI_KERNEL_BLOCK};
}

void stowi_kernel_split_strips(const stow_kernel_call* call, const stowi_kernel_rows* rows,
                               size_t cost, stow_split_task task, void* user) {
  size_t width = rows->inner < STOWI_KERNEL_BLOCK ? rows->inner : STOWI_KERNEL_BLOCK;
  stow_kernel_split(call, rows->outer * strips_across(rows),
                    stowi_kernel_grain_of(rows->count * width * cost), task, user);
}

stow_status stowi_kernel_rows_of(const stow_kernel_call* call, const stow_tensor* x,
                                 int64_t fallback, stowi_kernel_rows* out_rows) {
  int64_t number = stowi_kernel_int(call, STOWI_KERNEL_ATTR_AXIS, fallback);
  uint32_t axis;
  if (!stowi_kernel_find_axis(number, x->rank, &axis)) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "axis %lld is out of range (rank %u)",
                            (long long)number, (unsigned)x->rank);
  }
  *out_rows = stowi_kernel_rows_along(x, axis);
  return STOW_OK;
}

stow_status stowi_kernel_rows_from(const stow_kernel_call* call, const stow_tensor* x,
                                   stowi_kernel_rows* out_rows) {
  bool is_flat = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_FLATTEN, false);
  if (is_flat && stowi_kernel_int(call, STOWI_KERNEL_ATTR_AXIS, -1) == (int64_t)x->rank) {
    *out_rows = (stowi_kernel_rows){stow_tensor_elements(x), 1, 1};
    return STOW_OK;
  }
  STOWI_KERNEL_TRY(stowi_kernel_rows_of(call, x, -1, out_rows));
  if (is_flat) {
    out_rows->count *= out_rows->inner;
    out_rows->inner = 1;
  }
  return STOW_OK;
}

stow_status stowi_kernel_need_real(const stow_kernel_call* call, const stow_tensor* x,
                                   const char* what) {
  if (x->dtype == STOW_F32 || x->dtype == STOW_F64 || x->dtype == STOW_F16 ||
      x->dtype == STOW_BF16) {
    return STOW_OK;
  }
  return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "%s is %s, expected f16, bf16, f32 or f64",
                          what, stowi_kernel_dtype_text(x->dtype));
}

// ---------------------------------------------------------------------------------------------
// Folds

typedef struct dim_run {
  size_t size;
  size_t stride;
  bool is_gone;
} dim_run;

// Dims from the innermost on, those of 1 left out, neighbours of a kind joined.
static uint32_t join_dims(const stow_tensor* x, uint32_t axes, dim_run* runs) {
  uint32_t count = 0;
  size_t stride = 1;
  for (uint32_t i = x->rank; i-- > 0;) {
    size_t size = (size_t)x->dims[i];
    bool is_gone = (axes >> i & 1) != 0;
    if (size == 1) {
      continue;
    }
    if (count != 0 && runs[count - 1].is_gone == is_gone) {
      runs[count - 1].size *= size;
    } else {
      runs[count++] = (dim_run){size, stride, is_gone};
    }
    stride *= size;
  }
  return count;
}

stowi_kernel_fold stowi_kernel_fold_over(const stow_tensor* x, uint32_t axes) {
  dim_run runs[STOW_MAX_RANK];
  uint32_t count = join_dims(x, axes, runs);
  stowi_kernel_fold fold = {.is_run = true, .width = 1, .kept = 1, .gone = 1};
  if (count != 0) {
    fold.is_run = runs[0].is_gone;
    fold.width = runs[0].size;
  }
  for (uint32_t i = 1; i < count; ++i) {
    if (runs[i].is_gone) {
      fold.gone_dims[fold.gone_rank] = runs[i].size;
      fold.gone_strides[fold.gone_rank++] = runs[i].stride;
      fold.gone *= runs[i].size;
    } else {
      fold.kept_dims[fold.kept_rank] = runs[i].size;
      fold.kept_strides[fold.kept_rank++] = runs[i].stride;
      fold.kept *= runs[i].size;
    }
  }
  return fold;
}

static size_t offset_of(size_t i, uint32_t rank, const size_t* dims, const size_t* strides) {
  size_t offset = 0;
  for (uint32_t d = 0; d < rank; ++d) {
    offset += i % dims[d] * strides[d];
    i /= dims[d];
  }
  return offset;
}

size_t stowi_kernel_fold_kept(const stowi_kernel_fold* fold, size_t i) {
  return offset_of(i, fold->kept_rank, fold->kept_dims, fold->kept_strides);
}

size_t stowi_kernel_fold_gone(const stowi_kernel_fold* fold, size_t i) {
  return offset_of(i, fold->gone_rank, fold->gone_dims, fold->gone_strides);
}
