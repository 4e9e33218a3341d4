// Convolution of f64: rows of the result are summed tap by tap, channel by channel. Rare, so the
// code is plain: every product costs a load and a store of the result.
#include "exec/kernels/spatial/conv.h"
#include "exec/kernels/spatial/window.h"

static void begin_row_f64(const stowi_kernel_conv* c, size_t channel, size_t first, double* to) {
  size_t width = (size_t)c->window.out_width;
  double bias = c->bias == NULL ? 0 : ((const double*)c->bias->data)[channel];
  for (size_t i = 0; i < width; ++i) {
    to[i] = c->addend == NULL ? bias : ((const double*)c->addend->data)[first + i] + bias;
  }
}

static void add_row(const stowi_kernel_slide* w, const double* x, const double* weights,
                    double* to) {
  uint32_t last = w->rank - 1;
  for (int64_t k = 0; k < w->kernel_width; ++k) {
    int64_t lo;
    int64_t hi;
    stowi_kernel_slide_range(w, last, k, &lo, &hi);
    int64_t offset = k * w->dilations[last] - w->begins[last];
    for (int64_t i = lo; i < hi; ++i) {
      to[i] += weights[k] * x[i * w->strides[last] + offset];
    }
  }
}

// Row |row| of channel |channel|, which reads the channels of its group from |x| on.
static void convolve_row(const stowi_kernel_conv* c, size_t channel, size_t row, const double* x,
                         double* to) {
  const stowi_kernel_slide* w = &c->window;
  for (size_t k = 0; k < c->in_channels; ++k) {
    const double* weights = (const double*)c->w->data + (channel * c->in_channels + k) * w->taps;
    for (size_t tap = 0; tap < w->outer_taps; ++tap) {
      int64_t at = stowi_kernel_slide_row(w, row, tap);
      if (at >= 0) {
        add_row(w, x + k * w->in_count + (size_t)at, weights + tap * (size_t)w->kernel_width, to);
      }
    }
  }
}

static void double_task(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const stowi_kernel_conv* c = user;
  const stowi_kernel_slide* w = &c->window;
  size_t channels = c->group * c->out_channels;
  for (size_t i = begin; i < end; ++i) {
    size_t channel = i % channels;
    size_t group = i / channels * c->group + channel / c->out_channels;
    const double* x = (const double*)c->x->data + group * c->in_channels * w->in_count;
    for (size_t row = 0; row < w->out_rows; ++row) {
      size_t first = i * w->out_count + row * (size_t)w->out_width;
      double* to = (double*)c->y->data + first;
      begin_row_f64(c, channel, first, to);
      convolve_row(c, channel, row, x, to);
    }
  }
}

void stowi_kernel_conv_f64(stowi_kernel_conv* c) {
  if (stow_tensor_elements(c->y) != 0) {
    stow_kernel_split(c->call, (size_t)c->window.batch * c->group * c->out_channels, 1, double_task,
                      c);
  }
}
