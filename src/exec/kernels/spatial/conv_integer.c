// conv_integer: the sums themselves.
#include "exec/kernels/spatial/conv_int.h"
#include "exec/kernels/support/kernel.h"

static void finish(void* user, size_t image, size_t channel, size_t first, size_t count,
                   const int32_t* sums, size_t step) {
  const stow_tensor* y = user;
  size_t positions = 1;
  for (uint32_t i = 2; i < y->rank; ++i) {
    positions *= (size_t)y->dims[i];
  }
  int32_t* to = (int32_t*)y->data + (image * (size_t)y->dims[1] + channel) * positions + first;
  for (size_t i = 0; i < count; ++i) {
    to[i] = sums[i * step];
  }
}

static stow_status read_call(const stow_kernel_call* call, stowi_conv_int* out) {
  stow_tensor* y = stow_kernel_result(call, 0);
  stow_status status =
      stowi_conv_int_read(call, stow_kernel_operand(call, 0), stow_kernel_operand(call, 1), y, out);
  out->x_zero = stow_kernel_operand(call, 2);
  out->w_zero = stow_kernel_operand(call, 3);
  out->finish = finish;
  out->user = y;
  return status;
}

static stow_status scratch_conv_integer(const stow_kernel_call* call, uint64_t* out_bytes) {
  stowi_conv_int c;
  stow_status status = read_call(call, &c);
  *out_bytes = status == STOW_OK ? stowi_conv_int_scratch(&c) : 0;
  return status;
}

static stow_status run_conv_integer(stow_kernel_call* call) {
  stowi_conv_int c;
  stow_status status = read_call(call, &c);
  return status == STOW_OK ? stowi_conv_int_run(&c) : status;
}

STOWI_KERNEL(CONV_INTEGER, scratch_conv_integer, run_conv_integer);
