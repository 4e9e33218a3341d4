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
// Images so small that a vector has several rows of them: between two rows lies padding that both
// share, and positions there are computed too.
//
//     0 a b c 0 d e f 0 g h i 0      a tap reads vectors of that, from its own place on

enum { FLAT_VECTORS = 8, FLAT_LANES = 16 };

typedef struct flat {
  size_t size;   // floats of a patch
  size_t begin;  // where the image begins in it
  size_t in_vectors, out_vectors;
  // Of each vector: which lanes are elements, and how many others come before them.
  uint16_t in[FLAT_VECTORS], out[FLAT_VECTORS];
  uint32_t in_at[FLAT_VECTORS], out_at[FLAT_VECTORS];
  uint32_t offsets[STOWI_KERNEL_PATCH_TAPS];
} flat;

// Lanes of vectors over rows of |pitch| positions, of which |width| are elements; how many vectors.
static size_t flat_lanes(size_t rows, size_t width, size_t pitch, uint16_t* lanes, uint32_t* at) {
  size_t count = ((rows - 1) * pitch + width + FLAT_LANES - 1) / FLAT_LANES;
  uint32_t before = 0;
  for (size_t v = 0; v < count && v < FLAT_VECTORS; ++v) {
    lanes[v] = 0;
    at[v] = before;
    for (size_t i = 0; i < FLAT_LANES; ++i) {
      size_t position = v * FLAT_LANES + i;
      bool is_element = position % pitch < width && position / pitch < rows;
      lanes[v] |= (uint16_t)((unsigned)is_element << i);
      before += is_element;
    }
  }
  return count;
}

// Whether images are so small, windows move by single steps, and no tile of rows would be as full.
static bool plan_flat(const stowi_kernel_slide* w, flat* out) {
  if (stowi_kernel_machine_is() < STOWI_KERNEL_MACHINE_AVX512 || w->rank != 2 ||
      w->taps > STOWI_KERNEL_PATCH_TAPS || w->strides[0] != 1 || w->strides[1] != 1 ||
      w->out_width > 12 || w->out[0] > 64 || w->in_width > 64 || w->in[0] > 64 ||
      w->dilations[0] > 64 || w->dilations[1] > 64 || w->begins[0] < 0 || w->begins[1] < 0 ||
      w->begins[0] > 64 || w->begins[1] > 64) {
    return false;
  }
  int64_t reach = (w->kernel[1] - 1) * w->dilations[1] - w->begins[1] + w->out_width;
  int64_t pitch = w->in_width + w->begins[1] > reach ? w->in_width + w->begins[1] : reach;
  pitch = pitch > w->out_width ? pitch : w->out_width;
  int64_t high = w->out[0] + (w->kernel[0] - 1) * w->dilations[0];
  high = high > w->in[0] + w->begins[0] ? high : w->in[0] + w->begins[0];
  out->begin = (size_t)(w->begins[1] + w->begins[0] * pitch);
  out->size = (size_t)(w->begins[1] + high * pitch) + 2 * FLAT_LANES;
  out->in_vectors =
      flat_lanes((size_t)w->in[0], (size_t)w->in_width, (size_t)pitch, out->in, out->in_at);
  out->out_vectors =
      flat_lanes((size_t)w->out[0], (size_t)w->out_width, (size_t)pitch, out->out, out->out_at);
  for (size_t tap = 0; tap < w->taps; ++tap) {
    size_t y = tap / (size_t)w->kernel_width * (size_t)w->dilations[0];
    size_t x = tap % (size_t)w->kernel_width * (size_t)w->dilations[1];
    out->offsets[tap] = (uint32_t)(y * (size_t)pitch + x);
  }
  return out->in_vectors <= FLAT_VECTORS && out->out_vectors <= FLAT_VECTORS &&
         out->size <= STOWI_KERNEL_PATCH;
}

static inline __mmask16 first_lanes(uint16_t lanes) {
  return (__mmask16)((1U << (unsigned)__builtin_popcount(lanes)) - 1);
}

static STOWI_KERNEL_AVX512 void fill_flat(const flat* f, const float* x, float* to) {
  to += f->begin;
  for (size_t v = 0; v < f->in_vectors; ++v, to += FLAT_LANES) {
    __m512 elements = _mm512_maskz_loadu_ps(first_lanes(f->in[v]), x + f->in_at[v]);
    _mm512_storeu_ps(to, _mm512_maskz_expand_ps(f->in[v], elements));
  }
}

// |count|, a constant once this is inlined, vectors from vector |first| on.
STOWI_KERNEL_INLINE STOWI_KERNEL_AVX512 void sum_flat(size_t count, const flat* f, size_t first,
                                                      size_t taps, const float* weights, float bias,
                                                      const float* x, float* to) {
  __m512 sums[4];
  for (size_t v = 0; v < count; ++v) {
    sums[v] = _mm512_set1_ps(bias);
  }
  x += first * FLAT_LANES;
  for (size_t tap = 0; tap < taps; ++tap) {
    __m512 weight = _mm512_set1_ps(weights[tap]);
    for (size_t v = 0; v < count; ++v) {
      __m512 elements = _mm512_loadu_ps(x + f->offsets[tap] + v * FLAT_LANES);
      sums[v] = _mm512_fmadd_ps(elements, weight, sums[v]);
    }
  }
  for (size_t v = 0; v < count; ++v) {
    uint16_t lanes = f->out[first + v];
    _mm512_mask_storeu_ps(to + f->out_at[first + v], first_lanes(lanes),
                          _mm512_maskz_compress_ps(lanes, sums[v]));
  }
}

static STOWI_KERNEL_AVX512 void sum_flats(const flat* f, size_t taps, const float* weights,
                                          float bias, const float* x, float* to) {
  size_t v = 0;
  for (; v + 4 <= f->out_vectors; v += 4) {
    sum_flat(4, f, v, taps, weights, bias, x, to);
  }
  for (; v + 2 <= f->out_vectors; v += 2) {
    sum_flat(2, f, v, taps, weights, bias, x, to);
  }
  for (; v < f->out_vectors; ++v) {
    sum_flat(1, f, v, taps, weights, bias, x, to);
  }
}
#else
typedef struct flat {
  size_t size;
} flat;

static bool plan_flat(const stowi_kernel_slide* w, flat* out) {
  (void)w, (void)out;
  return false;
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

// The same, several rows to a vector.
static void convolve_flat(const stowi_kernel_conv* c, const flat* f, size_t begin, size_t end) {
#if defined(STOWI_KERNEL_X86)
  const stowi_kernel_slide* w = &c->window;
  size_t channels = c->group * c->out_channels;
  size_t at_once = STOWI_KERNEL_PATCH / f->size;
  float elements[STOWI_KERNEL_PATCH] = {0};
  for (size_t i = begin; i < end; i += at_once) {
    size_t some = stowi_kernel_smaller(at_once, end - i);
    for (size_t k = 0; k < some; ++k) {
      fill_flat(f, channel_of_x(c, i + k), elements + k * f->size);
    }
    for (size_t k = 0; k < some; ++k) {
      size_t channel = (i + k) % channels;
      float bias = c->bias == NULL ? 0 : ((const float*)c->bias->data)[channel];
      sum_flats(f, w->taps, (const float*)c->w->data + channel * w->taps, bias,
                elements + k * f->size, (float*)c->y->data + (i + k) * w->out_count);
    }
  }
#else
  (void)c, (void)f, (void)begin, (void)end;
#endif
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
  flat flat;
  bool has_patches;
  bool is_flat;
} job;

static void depthwise_task(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const job* j = user;
  if (j->is_flat) {
    convolve_flat(j->c, &j->flat, begin, end);
  } else if (j->has_patches && j->patch.rows == (size_t)j->c->window.out[0]) {
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
  j.is_flat = c->addend == NULL && plan_flat(&c->window, &j.flat);
  j.has_patches = c->addend == NULL && stowi_kernel_patch_plan(&c->window, &j.patch);
  size_t cost = c->window.out_count * c->window.taps + 1;
  size_t count = (size_t)c->window.batch * c->group * c->out_channels;
  stow_kernel_split(c->call, count, 16384 / cost + 1, depthwise_task, &j);
}
