// col2im: columns of blocks are added up to an image. Each element of the image gathers what blocks
// have for it, taps in ascending order, floats in double and integers exactly: O(taps) for each.
#include "exec/kernels/spatial/window.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

typedef struct job {
  const stow_tensor* x;
  stow_tensor* y;
  stowi_kernel_slide slide;  // of a block over the image; its positions are columns
} job;

// Element |at| of channel |plane|.
static void gather(const job* j, size_t plane, size_t at, double* sum, uint64_t* int_sum) {
  const stowi_kernel_slide* s = &j->slide;
  bool is_float = stowi_kernel_kind(j->x->dtype) == STOW_KIND_FLOAT;
  for (size_t tap = 0; tap < s->taps; ++tap) {
    int64_t column = stowi_kernel_slide_reader(s, at, tap);
    if (column < 0) {
      continue;
    }
    size_t from = (plane * s->taps + tap) * (size_t)j->x->dims[2] + (size_t)column;
    if (is_float) {
      *sum += stowi_kernel_float_at(j->x, from);
    } else {
      *int_sum += (uint64_t)stowi_kernel_int_at(j->x, from);
    }
  }
}

static void gather_task(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const job* j = user;
  for (size_t i = begin; i < end; ++i) {
    double sum = 0;
    uint64_t int_sum = 0;
    gather(j, i / j->slide.in_count, i % j->slide.in_count, &sum, &int_sum);
    if (stowi_kernel_kind(j->x->dtype) == STOW_KIND_FLOAT) {
      stowi_kernel_store_f64(j->y->dtype, j->y->data, i, 1, &sum);
    } else {
      int64_t number = (int64_t)int_sum;
      stowi_kernel_store_i64(j->y->dtype, j->y->data, i, 1, &number);
    }
  }
}

static stow_status read_slide(const stow_kernel_call* call, job* j) {
  const stow_tensor* blocks = stow_kernel_operand(call, 2);
  stowi_kernel_slide* s = &j->slide;
  *s = (stowi_kernel_slide){.rank = j->y->rank - 2};
  for (uint32_t i = 0; i < s->rank; ++i) {
    s->in[i] = j->y->dims[2 + i];
    s->kernel[i] = stowi_kernel_int_at(blocks, i);
    s->dilations[i] = stowi_kernel_list_at(call, STOWI_KERNEL_ATTR_DILATIONS, i, 1);
    s->begins[i] = stowi_kernel_list_at(call, STOWI_KERNEL_ATTR_PADS, i, 0);
    s->ends[i] = stowi_kernel_list_at(call, STOWI_KERNEL_ATTR_PADS, s->rank + i, 0);
    if (s->kernel[i] < 1 || s->kernel[i] > j->x->dims[1]) {
      return stow_kernel_fail(
          call, STOW_ERR_INVALID_ARGUMENT,
          "block dim %u is %lld, which is out of range (1 to dim 1 of operand 0)", (unsigned)i,
          (long long)s->kernel[i]);
    }
    // How many blocks there is room for along dim |i|: bounded before that is computed, and with
    // it.
    s->out[i] = s->strides[i] = 1;
    STOWI_KERNEL_TRY(stowi_kernel_slide_bound(call, s, i));
    int64_t covered = (s->kernel[i] - 1) * s->dilations[i] + 1;
    int64_t room = s->in[i] + s->begins[i] + s->ends[i] - covered;
    s->strides[i] = stowi_kernel_list_at(call, STOWI_KERNEL_ATTR_STRIDES, i, 1);
    s->out[i] = room < 0 ? 0 : room / s->strides[i] + 1;
    STOWI_KERNEL_TRY(stowi_kernel_slide_bound(call, s, i));
  }
  STOWI_KERNEL_TRY(stowi_kernel_slide_count(call, s));
  if (s->out_count != (size_t)j->x->dims[2] ||
      s->taps * (size_t)j->y->dims[1] != (size_t)j->x->dims[1]) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "the dims of operand 0 do not fit %zu blocks of %zu", s->out_count,
                            s->taps);
  }
  return STOW_OK;
}

static stow_status run_col2im(stow_kernel_call* call) {
  job j = {.x = stow_kernel_operand(call, 0), .y = stow_kernel_result(call, 0)};
  if (stowi_kernel_kind(j.x->dtype) == STOW_KIND_COMPLEX || stowi_kernel_bits(j.x->dtype) < 8) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "elements of less than a byte are unsupported");
  }
  STOWI_KERNEL_TRY(read_slide(call, &j));
  stow_kernel_split(call, stow_tensor_elements(j.y), 16384 / (j.slide.taps * 8 + 1) + 1,
                    gather_task, &j);
  return STOW_OK;
}

STOWI_KERNEL(COL2IM, NULL, run_col2im);
