// conv: picks the way that suits the dtype and the weights.
#include "exec/kernels/spatial/conv.h"

#include "exec/kernels/support/kernel.h"

stow_status stowi_conv_read(const stow_kernel_call* call, size_t addend, stowi_conv* out) {
  *out = (stowi_conv){.call = call,
                      .x = stow_kernel_operand(call, 0),
                      .w = stow_kernel_operand(call, 1),
                      .bias = stow_kernel_operand(call, 2),
                      .addend = stow_kernel_operand(call, addend),
                      .y = stow_kernel_result(call, 0)};
  stow_status status = stowi_slide_read(call, out->x, out->y, out->w->dims + 2, &out->window);
  out->group = (size_t)stow_kernel_int(call, "group", 1);
  out->in_channels = (size_t)out->w->dims[1];
  out->out_channels = (size_t)out->w->dims[0] / out->group;
  out->depth = out->in_channels * out->window.taps;
  return status;
}

static bool is_panel(stow_dtype dtype) {
  return dtype == STOW_F32 || dtype == STOW_F16 || dtype == STOW_BF16;
}

// More channels of the result that read the same channel of x make a product worth its blocking.
static bool is_depthwise(const stowi_conv* c) {
  return c->x->dtype == STOW_F32 && c->in_channels == 1 && c->out_channels <= 4;
}

uint64_t stowi_conv_scratch(const stowi_conv* c) {
  return is_panel(c->x->dtype) && !is_depthwise(c) ? stowi_conv_panel_scratch(c) : 0;
}

stow_status stowi_conv_run(stowi_conv* c) {
  if (c->x->dtype == STOW_F64) {
    stowi_conv_double(c);
  } else if (!is_panel(c->x->dtype)) {
    return stow_kernel_fail(c->call, STOW_ERR_UNSUPPORTED,
                            "a convolution is of f32, f16, bf16 or f64");
  } else if (is_depthwise(c)) {
    stowi_conv_depthwise(c);
  } else {
    stowi_conv_panel(c);
  }
  return STOW_OK;
}

static stow_status scratch_conv(const stow_kernel_call* call, uint64_t* out_bytes) {
  stowi_conv c;
  stow_status status = stowi_conv_read(call, SIZE_MAX, &c);
  *out_bytes = status == STOW_OK ? stowi_conv_scratch(&c) : 0;
  return status;
}

static stow_status run_conv(stow_kernel_call* call) {
  stowi_conv c;
  stow_status status = stowi_conv_read(call, SIZE_MAX, &c);
  return status == STOW_OK ? stowi_conv_run(&c) : status;
}

STOWI_KERNEL(CONV, scratch_conv, run_conv);
