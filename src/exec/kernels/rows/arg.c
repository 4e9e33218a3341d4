// argmax, argmin and hardmax, which marks where argmax is. Rows that are not contiguous are walked
// as neighbours, a block of them together. NaN wins, as in numpy. One pass; hardmax another.
#include <string.h>

#include "exec/kernels/rows/axes.h"
#include "exec/kernels/rows/keys.h"
#include "exec/kernels/rows/reals.h"
#include "exec/kernels/support/kernel.h"

typedef struct job {
  const stow_tensor* x;
  stow_tensor* y;
  stowi_kernel_rows rows;
  bool is_least;
  bool is_last;  // of equal ones the last, not the first
  bool marks;    // hardmax: y has x's type
} job;

// Neighbouring rows: the best key of each so far, and where it was.
typedef struct strip {
  int64_t best[STOWI_KERNEL_BLOCK];
  int64_t at[STOWI_KERNEL_BLOCK];
} strip;

// Of the smallest the keys are turned over, which turns the order around.
static void load(const job* j, size_t first, size_t count, int64_t* out) {
  stowi_kernel_load_keys(j->x, first, count, j->is_least ? INT64_MIN : INT64_MAX, out);
  if (j->is_least) {
    for (size_t i = 0; i < count; ++i) {
      out[i] = ~out[i];
    }
  }
}

static void take(const job* j, strip* s, size_t k, int64_t key, size_t i) {
  if (i == 0 || key > s->best[k] || (j->is_last && key == s->best[k])) {
    s->best[k] = key;
    s->at[k] = (int64_t)i;
  }
}

static void find_in_row(const job* j, size_t first, strip* s) {
  int64_t keys[STOWI_KERNEL_BLOCK];
  for (size_t i = 0; i < j->rows.count; i += STOWI_KERNEL_BLOCK) {
    size_t count = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, j->rows.count - i);
    load(j, first + i, count, keys);
    for (size_t k = 0; k < count; ++k) {
      take(j, s, 0, keys[k], i + k);
    }
  }
}

static void find_in_strip(const job* j, size_t first, size_t width, strip* s) {
  int64_t keys[STOWI_KERNEL_BLOCK];
  for (size_t i = 0; i < j->rows.count; ++i) {
    load(j, first + i * j->rows.inner, width, keys);
    for (size_t k = 0; k < width; ++k) {
      take(j, s, k, keys[k], i);
    }
  }
}

static void mark_strip(const job* j, size_t first, size_t width, const strip* s) {
  float out[STOWI_KERNEL_BLOCK];
  for (size_t i = 0; i < j->rows.count; ++i) {
    for (size_t k = 0; k < width; ++k) {
      out[k] = s->at[k] == (int64_t)i ? 1.0F : 0.0F;
    }
    stowi_kernel_store_f32(j->y->dtype, j->y->data, first + i * j->rows.inner, width, out);
  }
}

static void strips_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  bool is_row = j->rows.inner == 1;
  (void)worker;
  for (size_t i = begin; i < end; ++i) {
    stowi_kernel_strip at = stowi_kernel_strip_at(&j->rows, i);
    strip s;
    if (is_row) {
      find_in_row(j, at.first, &s);
    } else {
      find_in_strip(j, at.first, at.width, &s);
    }
    if (j->marks && is_row) {
      // One where the best is, zero elsewhere, which is zero bytes. The row has been read.
      const float one = 1.0F;
      size_t size = stowi_kernel_bits(j->y->dtype) / 8;
      memset((char*)j->y->data + at.first * size, 0, j->rows.count * size);
      stowi_kernel_store_f32(j->y->dtype, j->y->data, at.first + (size_t)s.at[0], 1, &one);
    } else if (j->marks) {
      mark_strip(j, at.first, at.width, &s);
    } else {
      memcpy((int64_t*)j->y->data + at.row, s.at, at.width * sizeof(s.at[0]));
    }
  }
}

static stow_status run_arg(stow_kernel_call* call, bool is_least) {
  job j = {call->operands[0],
           call->results[0],
           {0, 0, 0},
           is_least,
           stowi_kernel_bool(call, STOWI_KERNEL_ATTR_SELECT_LAST_INDEX, false),
           false};
  stow_status status = stowi_kernel_need_keys(call, j.x);
  status = status == STOW_OK ? stowi_kernel_rows_of(call, j.x, 0, &j.rows) : status;
  if (status != STOW_OK) {
    return status;
  }
  if (j.rows.count == 0 && j.rows.outer * j.rows.inner != 0) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "there are no elements along the axis");
  }
  stowi_kernel_split_strips(call, &j.rows, 1, strips_task, &j);
  return STOW_OK;
}

static stow_status run_argmax(stow_kernel_call* call) { return run_arg(call, false); }
static stow_status run_argmin(stow_kernel_call* call) { return run_arg(call, true); }

static stow_status run_hardmax(stow_kernel_call* call) {
  job j = {call->operands[0], call->results[0], {0, 0, 0}, false, false, true};
  STOWI_KERNEL_TRY(stowi_kernel_need_real(call, j.x, "x"));
  STOWI_KERNEL_TRY(stowi_kernel_rows_from(call, j.x, &j.rows));
  if (j.rows.count != 0) {
    stowi_kernel_split_strips(call, &j.rows, 1, strips_task, &j);
  }
  return STOW_OK;
}

STOWI_KERNEL(ARGMAX, NULL, run_argmax);
STOWI_KERNEL(ARGMIN, NULL, run_argmin);
STOWI_KERNEL(HARDMAX, NULL, run_hardmax);
