// Depthwise convolution of f32: few channels of the result read a single channel of x. A matrix of
// few rows would waste a product's blocking, so a channel is summed by itself.
//
// Bits: an element begins as its bias (and addend); taps are added in ascending order, each product
// with one rounding. Padding is 0, and is multiplied too.
#include <string.h>

#include "exec/kernels/matrix/gemm_tile.h"
#include "exec/kernels/spatial/conv.h"
#include "exec/kernels/spatial/window.h"
#include "exec/kernels/support/size.h"
#include "exec/kernels/support/vector.h"

// ---------------------------------------------------------------------------------------------
// Patches: some rows of x are copied with their padding, so that every tap reads positions of
// several rows of the result side by side, from its own place on. The columns between rows are
// computed too, and dropped.
//
//     0 0 0 0 0 0      a tap reads, from some element of the patch on, as many elements as
//     0 a b c d 0      there are from the first position of the result to its last
//     0 e f g h 0
//
// With strides the patch is divided into phases: the elements that have the same remainder. Sums
// stay in registers for all taps.

enum {
  PATCH = 736,      // floats, of the stack
  MOST_TAPS = 64,   // of a kernel
  MOST_STRIDE = 4,  // in either direction
  PIECE = 192,      // positions that are summed at a time
};

typedef struct patch {
  size_t rows;                  // of the result that a patch is for
  size_t pitch;                 // from one row of a phase to the next
  size_t high;                  // rows of a phase
  size_t phase;                 // floats of it
  size_t skip[MOST_STRIDE];     // of a row of each phase across: padding before x
  size_t take[MOST_STRIDE];     // and elements of x
  uint32_t offsets[MOST_TAPS];  // where taps begin
} patch;

static bool plan_patch(const stowi_kernel_conv* c, patch* out) {
  const stowi_kernel_slide* w = &c->window;
  if (w->rank != 2 || c->addend != NULL || w->taps > MOST_TAPS || w->out_width > PATCH ||
      w->in[0] > INT32_MAX || w->strides[0] > MOST_STRIDE || w->strides[1] > MOST_STRIDE) {
    return false;
  }
  int64_t reach[2];
  for (uint32_t i = 0; i < 2; ++i) {
    if (w->dilations[i] > PATCH || w->begins[i] > PATCH || w->begins[i] < -PATCH) {
      return false;
    }
    reach[i] = (w->kernel[i] - 1) * w->dilations[i] / w->strides[i];
  }
  size_t phases = (size_t)(w->strides[0] * w->strides[1]);
  out->pitch = (size_t)(w->out_width + reach[1]);
  size_t high = (PATCH - STOWI_KERNEL_WINDOW_MORE) / phases / out->pitch;
  if (high < (size_t)reach[0] + 2 && high < (size_t)(w->out[0] + reach[0])) {
    return false;
  }
  out->rows = stowi_kernel_smaller(high - (size_t)reach[0], (size_t)w->out[0]);
  out->high = out->rows + (size_t)reach[0];
  out->phase = out->high * out->pitch;
  for (int64_t z = 0; z < w->strides[1]; ++z) {
    int64_t stride = w->strides[1];
    int64_t first = z - w->begins[1];
    size_t skip = first >= 0 ? 0 : (size_t)((-first + stride - 1) / stride);
    int64_t left = w->in_width - (first + (int64_t)skip * stride);
    bool is_padding = left <= 0 || skip >= out->pitch;
    out->skip[z] = is_padding ? 0 : skip;
    out->take[z] =
        is_padding ? 0 : stowi_kernel_smaller(out->pitch - skip, (size_t)((left - 1) / stride + 1));
  }
  for (size_t tap = 0; tap < w->taps; ++tap) {
    size_t y = tap / (size_t)w->kernel_width * (size_t)w->dilations[0];
    size_t x = tap % (size_t)w->kernel_width * (size_t)w->dilations[1];
    size_t high_stride = (size_t)w->strides[0];
    size_t wide_stride = (size_t)w->strides[1];
    out->offsets[tap] = (uint32_t)((y % high_stride * wide_stride + x % wide_stride) * out->phase +
                                   y / high_stride * out->pitch + x / wide_stride);
  }
  return true;
}

// Rows of small images are so short that a call of memcpy would take longer than copying.
static inline void copy_row(const float* from, size_t count, float* to) {
  if (count > 16) {
    memcpy(to, from, count * sizeof(float));
  } else if (count >= 8) {
    memcpy(to, from, 8 * sizeof(float));
    memcpy(to + count - 8, from + count - 8, 8 * sizeof(float));
  } else if (count >= 4) {
    memcpy(to, from, 4 * sizeof(float));
    memcpy(to + count - 4, from + count - 4, 4 * sizeof(float));
  } else if (count != 0) {
    to[0] = from[0];
    to[count / 2] = from[count / 2];
    to[count - 1] = from[count - 1];
  }
}

// Elements of x; what is padding is 0 already.
static void fill_patch(const stowi_kernel_slide* w, const patch* p, const float* x, size_t row,
                       float* to) {
  size_t stride = (size_t)w->strides[1];
  for (int64_t y = 0; y < w->strides[0]; ++y) {
    for (int64_t z = 0; z < w->strides[1]; ++z) {
      size_t take = p->take[z];
      float* begin = to + p->skip[z];
      const float* from = x + (take == 0 ? 0 : z - w->begins[1] + (int64_t)(p->skip[z] * stride));
      for (size_t r = 0; r < p->high; ++r, begin += p->pitch) {
        int64_t at = (int64_t)(row + r) * w->strides[0] + y - w->begins[0];
        if (at < 0 || at >= w->in[0]) {
          continue;
        }
        if (stride == 1) {
          copy_row(from + at * w->in_width, take, begin);
        } else {
          for (size_t i = 0; i < take; ++i) {
            begin[i] = from[at * w->in_width + (int64_t)(i * stride)];
          }
        }
      }
      to += p->phase;
    }
  }
}

// |count| sums from position |at| of a patch on, without what lies between rows.
static void keep_sums(const float* sums, size_t at, size_t count, size_t pitch, size_t width,
                      float* to) {
  size_t row = at / pitch;
  size_t column = at % pitch;
  for (size_t i = 0; i < count;) {
    size_t run = column >= width ? 0 : stowi_kernel_smaller(width - column, count - i);
    copy_row(sums + i, run, to + row * width + column);
    i += pitch - column;
    column = 0;
    ++row;
  }
}

// Some rows of one channel, for which the patch is filled.
static void sum_rows(const stowi_kernel_conv* c, const patch* p, const float* elements,
                     size_t channel, size_t rows, float* to) {
  const stowi_kernel_tiles* tiles = stowi_kernel_tiles_best();
  const stowi_kernel_slide* w = &c->window;
  size_t width = (size_t)w->out_width;
  size_t count = (rows - 1) * p->pitch + width;
  const float* weights = (const float*)c->w->data + channel * w->taps;
  float bias = c->bias == NULL ? 0 : ((const float*)c->bias->data)[channel];
  float sums[PIECE + STOWI_KERNEL_WINDOW_MORE];
  for (size_t at = 0; at < count; at += PIECE) {
    size_t piece = stowi_kernel_smaller(PIECE, count - at);
    tiles->window(piece, w->taps, weights, elements + at, p->offsets, bias, sums);
    keep_sums(sums, at, piece, p->pitch, width, to);
  }
}

static void convolve_patches(const stowi_kernel_conv* c, const patch* p, size_t begin, size_t end) {
  const stowi_kernel_slide* w = &c->window;
  size_t channels = c->group * c->out_channels;
  bool is_whole = p->rows == (size_t)w->out[0];  // all channels have the same padding then
  float elements[PATCH] = {0};
  for (size_t i = begin; i < end; ++i) {
    size_t channel = i % channels;
    size_t source = i / channels * c->group + channel / c->out_channels;
    const float* x = (const float*)c->x->data + source * w->in_count;
    float* to = (float*)c->y->data + i * w->out_count;
    for (size_t row = 0; row < (size_t)w->out[0]; row += p->rows) {
      if (!is_whole) {
        memset(elements, 0, sizeof(elements));
      }
      fill_patch(w, p, x, row, elements);
      sum_rows(c, p, elements, channel, stowi_kernel_smaller(p->rows, (size_t)w->out[0] - row),
               to + row * (size_t)w->out_width);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Rows: a row of the result is summed tap by tap, each tap over the positions where it reads no
// padding. The row stays in the first-level cache.

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
    float element = at >= 0 && at < s->in_width ? x[at] : 0;
    to[i] = stowi_kernel_fma(has_fma, weights[k], element, to[i]);
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

// One outer tap that reads padding alone.
STOWI_KERNEL_INLINE void add_padding(bool has_fma, const stowi_kernel_slide* s,
                                     const float* weights, float* to) {
  for (int64_t k = 0; k < s->kernel_width; ++k) {
    for (int64_t i = 0; i < s->out_width; ++i) {
      to[i] = stowi_kernel_fma(has_fma, weights[k], 0, to[i]);
    }
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
        const float* of_row = weights + tap * (size_t)w->kernel_width;
        if (at >= 0) {
          add_outer_tap(has_fma, w, x + at, of_row, lo, hi, to);
        } else {
          add_padding(has_fma, w, of_row, to);
        }
      }
    }
  }
}

STOWI_KERNEL_LOOP(convolve, (const stowi_kernel_conv* c, size_t begin, size_t end),
                  (c, begin, end)) {
  convolve_channels(has_fma, c, begin, end);
}

// ---------------------------------------------------------------------------------------------

typedef struct job {
  const stowi_kernel_conv* c;
  patch patch;
  bool has_patches;
} job;

static void depthwise_task(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const job* j = user;
  if (j->has_patches) {
    convolve_patches(j->c, &j->patch, begin, end);
  } else {
    convolve(j->c, begin, end);
  }
}

void stowi_kernel_conv_depthwise(stowi_kernel_conv* c) {
  if (stow_tensor_elements(c->y) == 0) {
    return;
  }
  job j = {.c = c};
  j.has_patches = plan_patch(c, &j.patch);
  size_t cost = c->window.out_count * c->window.taps + 1;
  size_t count = (size_t)c->window.batch * c->group * c->out_channels;
  stow_kernel_split(c->call, count, 16384 / cost + 1, depthwise_task, &j);
}
