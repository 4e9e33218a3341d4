// Convolution of floats, row by row of the result: depthwise, and in f64.
#include "exec/kernels/spatial/conv.h"
#include "exec/kernels/spatial/window.h"
#include "exec/kernels/support/vector.h"

// ---------------------------------------------------------------------------------------------
// Depthwise convolution: few channels of the result read a single channel of x. A matrix of few
// rows would waste a product's blocking, so rows of the result are summed tap by tap, each tap over
// the positions where it reads no padding. The row stays in the first-level cache.
//
// Bits: an element begins as its bias (and addend); taps are added in ascending order, each product
// with one rounding.

static void begin_row(const stowi_kernel_conv* c, size_t channel, size_t first, float* to) {
  size_t width = (size_t)c->window.out_width;
  float bias = c->bias == NULL ? 0 : ((const float*)c->bias->data)[channel];
  if (c->addend == NULL) {
    for (size_t i = 0; i < width; ++i) {
      to[i] = bias;
    }
    return;
  }
  const float* addend = (const float*)c->addend->data + first;
  for (size_t i = 0; i < width; ++i) {
    to[i] = addend[i] + bias;
  }
}

STOWI_KERNEL_INLINE void add_tap(bool has_fma, float* to, const float* x, size_t stride,
                                 size_t count, float weight) {
  if (stride == 1) {
    for (size_t i = 0; i < count; ++i) {
      to[i] = stowi_kernel_fma(has_fma, weight, x[i], to[i]);
    }
  } else if (stride == 2) {
    for (size_t i = 0; i < count; ++i) {
      to[i] = stowi_kernel_fma(has_fma, weight, x[2 * i], to[i]);
    }
  } else {
    for (size_t i = 0; i < count; ++i) {
      to[i] = stowi_kernel_fma(has_fma, weight, x[i * stride], to[i]);
    }
  }
}

// Three taps that lie side by side, in one walk over the positions where all of them read x.
STOWI_KERNEL_INLINE void add_three(bool has_fma, float* to, const float* x, size_t stride,
                                   size_t count, const float* weights) {
  float a = weights[0];
  float b = weights[1];
  float c = weights[2];
  if (stride == 1) {
    for (size_t i = 0; i < count; ++i) {
      float sum = stowi_kernel_fma(has_fma, a, x[i], to[i]);
      sum = stowi_kernel_fma(has_fma, b, x[i + 1], sum);
      to[i] = stowi_kernel_fma(has_fma, c, x[i + 2], sum);
    }
  } else if (stride == 2) {
    for (size_t i = 0; i < count; ++i) {
      float sum = stowi_kernel_fma(has_fma, a, x[2 * i], to[i]);
      sum = stowi_kernel_fma(has_fma, b, x[2 * i + 1], sum);
      to[i] = stowi_kernel_fma(has_fma, c, x[2 * i + 2], sum);
    }
  } else {
    for (size_t i = 0; i < count; ++i) {
      float sum = stowi_kernel_fma(has_fma, a, x[i * stride], to[i]);
      sum = stowi_kernel_fma(has_fma, b, x[i * stride + 1], sum);
      to[i] = stowi_kernel_fma(has_fma, c, x[i * stride + 2], sum);
    }
  }
}

// One outer tap at position |i|, near a border: |x| is its row of x.
STOWI_KERNEL_INLINE void add_border(bool has_fma, const stowi_kernel_slide* s, const float* x,
                                    const float* weights, int64_t i, float* to) {
  uint32_t last = s->rank - 1;
  int64_t at = i * s->strides[last] - s->begins[last];
  for (int64_t k = 0; k < s->kernel_width; ++k, at += s->dilations[last]) {
    if (at >= 0 && at < s->in_width) {
      to[i] = stowi_kernel_fma(has_fma, weights[k], x[at], to[i]);
    }
  }
}

// One outer tap at the positions [lo, hi), where none of its taps reads padding.
STOWI_KERNEL_INLINE void add_interior(bool has_fma, const stowi_kernel_slide* s, const float* x,
                                      const float* weights, int64_t lo, int64_t hi, float* to) {
  uint32_t last = s->rank - 1;
  size_t stride = (size_t)s->strides[last];
  x += lo * s->strides[last] - s->begins[last];
  int64_t k = 0;
  for (; s->dilations[last] == 1 && k + 3 <= s->kernel_width; k += 3) {
    add_three(has_fma, to + lo, x + k, stride, (size_t)(hi - lo), weights + k);
  }
  for (; k < s->kernel_width; ++k) {
    add_tap(has_fma, to + lo, x + k * s->dilations[last], stride, (size_t)(hi - lo), weights[k]);
  }
}

STOWI_KERNEL_INLINE void add_outer_tap(bool has_fma, const stowi_kernel_slide* s, const float* x,
                                       const float* weights, int64_t lo, int64_t hi, float* to) {
  for (int64_t i = 0; i < lo; ++i) {
    add_border(has_fma, s, x, weights, i, to);
  }
  if (lo < hi) {
    add_interior(has_fma, s, x, weights, lo, hi, to);
  }
  for (int64_t i = hi; i < s->out_width; ++i) {
    add_border(has_fma, s, x, weights, i, to);
  }
}

STOWI_KERNEL_INLINE void convolve_channels(bool has_fma, const stowi_kernel_conv* c, size_t begin,
                                           size_t end) {
  const stowi_kernel_slide* w = &c->window;
  size_t channels = c->group * c->out_channels;
  int64_t lo;
  int64_t hi;
  stowi_kernel_slide_interior(w, &lo, &hi);
  for (size_t i = begin; i < end; ++i) {
    size_t channel = i % channels;
    size_t source = i / channels * c->group + channel / c->out_channels;
    const float* x = (const float*)c->x->data + source * w->in_count;
    const float* weights = (const float*)c->w->data + channel * w->taps;
    for (size_t row = 0; row < w->out_rows; ++row) {
      size_t first = i * w->out_count + row * (size_t)w->out_width;
      float* to = (float*)c->y->data + first;
      begin_row(c, channel, first, to);
      for (size_t tap = 0; tap < w->outer_taps; ++tap) {
        int64_t at = stowi_kernel_slide_row(w, row, tap);
        if (at >= 0) {
          add_outer_tap(has_fma, w, x + at, weights + tap * (size_t)w->kernel_width, lo, hi, to);
        }
      }
    }
  }
}

STOWI_KERNEL_LOOP(convolve, (const stowi_kernel_conv* c, size_t begin, size_t end),
                  (c, begin, end)) {
  convolve_channels(has_fma, c, begin, end);
}

static void depthwise_task(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  convolve(user, begin, end);
}

void stowi_kernel_conv_depthwise(stowi_kernel_conv* c) {
  if (stow_tensor_elements(c->y) == 0) {
    return;
  }
  size_t cost = c->window.out_count * c->window.taps + 1;
  size_t count = (size_t)c->window.batch * c->group * c->out_channels;
  stow_kernel_split(c->call, count, 16384 / cost + 1, depthwise_task, c);
}

// ---------------------------------------------------------------------------------------------
// Convolution of f64: rows of the result are summed tap by tap, channel by channel. Rare, so the
// code is plain: every product costs a load and a store of the result.

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
