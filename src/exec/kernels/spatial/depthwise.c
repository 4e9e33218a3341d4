// Depthwise convolution of f32: few channels of the result read a single channel of x. A matrix of
// few rows would waste a product's blocking, so a channel is summed by itself.
//
// Bits: an element begins as its bias (and addend); taps are added in ascending order, each product
// with one rounding. Padding is 0, and is multiplied too.
#include <string.h>

#include "exec/kernels/matrix/gemm_tile.h"
#include "exec/kernels/spatial/conv.h"
#include "exec/kernels/spatial/patch.h"
#include "exec/kernels/spatial/window.h"
#include "exec/kernels/support/size.h"
#include "exec/kernels/support/vector.h"

// ---------------------------------------------------------------------------------------------
// Patches: a tap reads positions of several rows of the result side by side, from its own place on.
// The columns between rows are computed too, and dropped. Sums stay in registers for all taps.

enum { PIECE = 192 };  // positions that are summed at a time

// |count| sums from position |at| of a patch on, without what lies between rows.
static void keep_sums(const float* sums, size_t at, size_t count, size_t pitch, size_t width,
                      float* to) {
  size_t row = at / pitch;
  size_t column = at % pitch;
  for (size_t i = 0; i < count;) {
    size_t run = column >= width ? 0 : stowi_kernel_smaller(width - column, count - i);
    stowi_kernel_copy_row(sums + i, run, to + row * width + column);
    i += pitch - column;
    column = 0;
    ++row;
  }
}

// Some rows of one channel, for which the patch is filled.
static void sum_rows(const stowi_kernel_conv* c, const stowi_kernel_patch* p, const float* elements,
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

#if defined(STOWI_KERNEL_X86)
#include <immintrin.h>

#define NAME(name) avx2_##name
#define TARGET STOWI_KERNEL_AVX2
#define LANES 8
#define TAKE(x, w, sum) (avx2_vector) _mm256_fmadd_ps((__m256)(x), (__m256)(w), (__m256)(sum))
#include "exec/kernels/spatial/patch_body.h"

#define NAME(name) avx512_##name
#define TARGET STOWI_KERNEL_AVX512
#define LANES 16
#define TAKE(x, w, sum) (avx512_vector) _mm512_fmadd_ps((__m512)(x), (__m512)(w), (__m512)(sum))
#include "exec/kernels/spatial/patch_body.h"

// The same by tiles of rows, each in a register.
static void sum_tiles(const stowi_kernel_conv* c, const stowi_kernel_patch* p,
                      const float* elements, size_t channel, size_t rows, float* to) {
  bool is_wide = stowi_kernel_machine_is() >= STOWI_KERNEL_MACHINE_AVX512;
  size_t taps = c->window.taps;
  size_t width = (size_t)c->window.out_width;
  const float* weights = (const float*)c->w->data + channel * taps;
  float bias = c->bias == NULL ? 0 : ((const float*)c->bias->data)[channel];
  for (size_t at = 0; at < width;) {
    size_t left = width - at;
    if (is_wide && left > 8) {
      avx512_columns(p, taps, weights, bias, elements + at, rows, stowi_kernel_smaller(16, left),
                     to + at, width);
      at += 16;
    } else {
      avx2_columns(p, taps, weights, bias, elements + at, rows, stowi_kernel_smaller(8, left),
                   to + at, width);
      at += 8;
    }
  }
}
#endif

static void sum_patch(const stowi_kernel_conv* c, const stowi_kernel_patch* p,
                      const float* elements, size_t channel, size_t rows, float* to) {
#if defined(STOWI_KERNEL_X86)
  if (stowi_kernel_machine_is() >= STOWI_KERNEL_MACHINE_AVX2) {
    sum_tiles(c, p, elements, channel, rows, to);
    return;
  }
#endif
  sum_rows(c, p, elements, channel, rows, to);
}

static const float* channel_of_x(const stowi_kernel_conv* c, size_t i) {
  size_t channels = c->group * c->out_channels;
  size_t source = i / channels * c->group + i % channels / c->out_channels;
  return (const float*)c->x->data + source * c->window.in_count;
}

// Channels whose rows all fit into a patch: as many patches as have room are filled before the
// first is read, as reading at once what was just written in other pieces would stall. All have the
// same padding, which is written once.
static void convolve_whole(const stowi_kernel_conv* c, const stowi_kernel_patch* p, size_t begin,
                           size_t end) {
  const stowi_kernel_slide* w = &c->window;
  size_t size = stowi_kernel_patch_size(w, p);
  size_t at_once = (STOWI_KERNEL_PATCH - STOWI_KERNEL_PATCH_LANES) / size;
  float elements[STOWI_KERNEL_PATCH] = {0};
  for (size_t i = begin; i < end; i += at_once) {
    size_t some = stowi_kernel_smaller(at_once, end - i);
    for (size_t k = 0; k < some; ++k) {
      stowi_kernel_patch_fill(w, p, channel_of_x(c, i + k), 0, elements + k * size);
    }
    for (size_t k = 0; k < some; ++k) {
      sum_patch(c, p, elements + k * size, (i + k) % (c->group * c->out_channels), p->rows,
                (float*)c->y->data + (i + k) * w->out_count);
    }
  }
}

static void convolve_patches(const stowi_kernel_conv* c, const stowi_kernel_patch* p, size_t begin,
                             size_t end) {
  const stowi_kernel_slide* w = &c->window;
  float elements[STOWI_KERNEL_PATCH] = {0};
  for (size_t i = begin; i < end; ++i) {
    float* to = (float*)c->y->data + i * w->out_count;
    for (size_t row = 0; row < (size_t)w->out[0]; row += p->rows) {
      memset(elements, 0, stowi_kernel_patch_size(w, p) * sizeof(float));
      stowi_kernel_patch_fill(w, p, channel_of_x(c, i), row, elements);
      sum_patch(c, p, elements, i % (c->group * c->out_channels),
                stowi_kernel_smaller(p->rows, (size_t)w->out[0] - row),
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
  stowi_kernel_patch patch;
  bool has_patches;
} job;

static void depthwise_task(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const job* j = user;
  if (j->has_patches && j->patch.rows == (size_t)j->c->window.out[0]) {
    convolve_whole(j->c, &j->patch, begin, end);
  } else if (j->has_patches) {
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
  j.has_patches = c->addend == NULL && stowi_kernel_patch_plan(&c->window, &j.patch);
  size_t cost = c->window.out_count * c->window.taps + 1;
  size_t count = (size_t)c->window.batch * c->group * c->out_channels;
  stow_kernel_split(c->call, count, 16384 / cost + 1, depthwise_task, &j);
}
