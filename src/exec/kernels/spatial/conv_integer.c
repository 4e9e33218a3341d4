// Convolution of u8 and i8 with zero points, with exact sums in i32, which wrap: conv_integer,
// whose result is the sums, and qlinear_conv, which scales them.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "exec/kernels/spatial/window.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/size.h"

// ---------------------------------------------------------------------------------------------
// Dot products of i16, four rows by two columns at a time: six loads give eight products, and
// compilers know the instruction that multiplies pairs of i16 and adds them. Integer sums are exact
// in any order, so the vector width does not matter.

#define DOT_STEP 32  // |depth| is a multiple of it

// Into functions for wider vectors as well.
#if defined(__GNUC__)
#define ALWAYS_INLINE inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE inline
#endif

#define CHUNK 16384  // products of 255 × 255 that fit in i32

static ALWAYS_INLINE void dots_of_8(const int16_t* a, size_t a_row, const int16_t* b, size_t b_row,
                                    size_t depth, uint32_t* sums) {
  int32_t s0 = 0;
  int32_t s1 = 0;
  int32_t s2 = 0;
  int32_t s3 = 0;
  int32_t s4 = 0;
  int32_t s5 = 0;
  int32_t s6 = 0;
  int32_t s7 = 0;
  for (size_t k = 0; k < depth; ++k) {
    int32_t b0 = b[k];
    int32_t b1 = b[b_row + k];
    s0 += a[k] * b0;
    s1 += a[k] * b1;
    s2 += a[a_row + k] * b0;
    s3 += a[a_row + k] * b1;
    s4 += a[2 * a_row + k] * b0;
    s5 += a[2 * a_row + k] * b1;
    s6 += a[3 * a_row + k] * b0;
    s7 += a[3 * a_row + k] * b1;
  }
  int32_t all[8] = {s0, s1, s2, s3, s4, s5, s6, s7};
  for (size_t i = 0; i < 8; ++i) {
    sums[i] += (uint32_t)all[i];
  }
}

static ALWAYS_INLINE uint32_t dot(const int16_t* a, const int16_t* b, size_t depth) {
  int32_t sum = 0;
  for (size_t k = 0; k < depth; ++k) {
    sum += a[k] * b[k];
  }
  return (uint32_t)sum;
}

static ALWAYS_INLINE void tile(const int16_t* a, const int16_t* b, size_t b_row, size_t depth,
                               int32_t* out, size_t out_row) {
  uint32_t sums[8] = {0};
  for (size_t k = 0; k < depth; k += CHUNK) {
    size_t count = (stowi_kernel_smaller(depth - k, CHUNK)) / DOT_STEP * DOT_STEP;
    dots_of_8(a + k, depth, b + k, b_row, count, sums);
  }
  for (size_t i = 0; i < 8; ++i) {
    out[i / 2 * out_row + i % 2] = (int32_t)sums[i];
  }
}

static ALWAYS_INLINE void edge(const int16_t* a, const int16_t* b, size_t depth, int32_t* out) {
  uint32_t sum = 0;
  for (size_t k = 0; k < depth; k += CHUNK) {
    sum += dot(a + k, b + k, stowi_kernel_smaller(depth - k, CHUNK) / DOT_STEP * DOT_STEP);
  }
  *out = (int32_t)sum;
}

static ALWAYS_INLINE void dots(const int16_t* a, size_t rows, const int16_t* b, size_t b_row,
                               size_t columns, size_t depth, int32_t* out, size_t out_row) {
  size_t tile_rows = rows / 4 * 4;
  size_t tile_columns = columns / 2 * 2;
  for (size_t r = 0; r < tile_rows; r += 4) {
    for (size_t c = 0; c < tile_columns; c += 2) {
      tile(a + r * depth, b + c * b_row, b_row, depth, out + r * out_row + c, out_row);
    }
  }
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = r < tile_rows ? tile_columns : 0; c < columns; ++c) {
      edge(a + r * depth, b + c * b_row, depth, out + r * out_row + c);
    }
  }
}

static ALWAYS_INLINE void products(const int16_t* a, const int16_t* b, size_t count,
                                   int32_t* sums) {
  for (size_t i = 0; i < count; ++i) {
    sums[i] = (int32_t)((uint32_t)sums[i] + (uint32_t)(a[i] * b[i]));
  }
}

#if defined(__GNUC__) && defined(__x86_64__)
__attribute__((target("avx2"))) static void dots_avx2(const int16_t* a, size_t rows,
                                                      const int16_t* b, size_t b_row,
                                                      size_t columns, size_t depth, int32_t* out,
                                                      size_t out_row) {
  dots(a, rows, b, b_row, columns, depth, out, out_row);
}

__attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni"))) static void dots_vnni(
    const int16_t* a, size_t rows, const int16_t* b, size_t b_row, size_t columns, size_t depth,
    int32_t* out, size_t out_row) {
  dots(a, rows, b, b_row, columns, depth, out, out_row);
}

__attribute__((target("avx2"))) static void products_avx2(const int16_t* a, const int16_t* b,
                                                          size_t count, int32_t* sums) {
  products(a, b, count, sums);
}
#endif

// out[r * out_row + c] = sum over k of a[r * depth + k] × b[c * b_row + k], for r < rows and
// c < columns. Numbers are in [-255, 255]; sums wrap.
static void int_dots(const int16_t* a, size_t rows, const int16_t* b, size_t b_row, size_t columns,
                     size_t depth, int32_t* out, size_t out_row) {
#if defined(__GNUC__) && defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vl")) {
    dots_vnni(a, rows, b, b_row, columns, depth, out, out_row);
    return;
  }
  if (__builtin_cpu_supports("avx2")) {
    dots_avx2(a, rows, b, b_row, columns, depth, out, out_row);
    return;
  }
#endif
  dots(a, rows, b, b_row, columns, depth, out, out_row);
}

// sums[i] += a[i] × b[i] for i < count.
static void int_products(const int16_t* a, const int16_t* b, size_t count, int32_t* sums) {
#if defined(__GNUC__) && defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) {
    products_avx2(a, b, count, sums);
    return;
  }
#endif
  products(a, b, count, sums);
}

// ---------------------------------------------------------------------------------------------
// Zero points are subtracted once: from the weights, which become i16 in the order
// [channel][tap][channel of x], and from each image, which becomes i16 with channels last. A window
// is then a few runs in memory. A block of windows is copied to a panel, one per row, and
// multiplied by the weights row by row. A 1 × 1 kernel with stride 1 uses rows of the image
// directly. Depthwise kernels are summed tap by tap along channels instead.
//
// Scratch: 2 bytes per weight and per element of an image, and a panel per worker.

// Sums of positions [first, first + count) of a channel of the result: the i-th is
// sums[i * step]. Called by any worker.
typedef void (*conv_int_finish)(void* user, size_t image, size_t channel, size_t first,
                                size_t count, const int32_t* sums, size_t step);

typedef struct conv_int {
  const stow_kernel_call* call;
  const stow_tensor* x;
  const stow_tensor* w;
  const stow_tensor* x_zero;  // NULL: 0
  const stow_tensor* w_zero;  // NULL: 0; one, or one for each channel of the result
  stowi_kernel_slide slide;
  size_t group;
  size_t in_channels;   // of a group
  size_t out_channels;  // of a group
  conv_int_finish finish;
  void* user;
} conv_int;

#define PANEL_NUMBERS 131072  // in a panel, unless the least number of positions needs more
#define LEAST_POSITIONS 16
#define MOST_POSITIONS 256
#define TURN 32  // pixels that are turned at a time

typedef struct job {
  conv_int* c;
  size_t depth;      // taps × in_channels, rounded up
  size_t positions;  // in a block
  size_t blocks;
  size_t rows;   // channels of the result in a part
  size_t parts;  // in a group
  bool is_direct;
  bool is_depthwise;
  size_t image;
  int16_t* weights;
  int16_t* pixels;  // of the image
  unsigned char* workers;
} job;

// ---------------------------------------------------------------------------------------------
// Sizes

static bool is_depthwise(const conv_int* c) {
  return c->in_channels == 1 && c->out_channels == 1 && c->group > 1;
}

static size_t depth_of(const conv_int* c) {
  size_t depth = c->in_channels * c->slide.taps;
  return (depth + DOT_STEP - 1) / DOT_STEP * DOT_STEP;
}

static size_t channels_of(const conv_int* c) { return c->group * c->out_channels; }

static uint64_t weights_size(const conv_int* c) {
  uint64_t each = is_depthwise(c) ? c->slide.taps : depth_of(c);
  return stowi_kernel_align64(each * channels_of(c) * sizeof(int16_t));
}

static uint64_t image_size(const conv_int* c) {
  return stowi_kernel_align64((uint64_t)c->slide.channels * c->slide.in_count * sizeof(int16_t));
}

static uint64_t panel_size(const conv_int* c) {
  uint64_t least = (uint64_t)depth_of(c) * LEAST_POSITIONS;
  return stowi_kernel_align64((least > PANEL_NUMBERS ? least : PANEL_NUMBERS) * sizeof(int16_t));
}

// Sums of a part: for each channel of a group, or of all where each has its own kernel.
static uint64_t tile_size(const conv_int* c) {
  uint64_t channels = is_depthwise(c) ? c->group : c->out_channels;
  return stowi_kernel_align64(channels * MOST_POSITIONS * sizeof(int32_t));
}

static uint64_t conv_int_scratch(const conv_int* c) {
  return weights_size(c) + image_size(c) + (panel_size(c) + tile_size(c)) * c->call->workers;
}

// |y| is the result whose dims count.
static stow_status conv_int_read(const stow_kernel_call* call, const stow_tensor* x,
                                 const stow_tensor* w, const stow_tensor* y, conv_int* out) {
  *out = (conv_int){.call = call, .x = x, .w = w};
  out->group = (size_t)stowi_kernel_int(call, STOWI_KERNEL_ATTR_GROUP, 1);
  out->in_channels = (size_t)w->dims[1];
  out->out_channels = (size_t)w->dims[0] / out->group;
  return stowi_kernel_slide_read(call, x, y, w->dims + 2, &out->slide);
}

// ---------------------------------------------------------------------------------------------
// Preparing

static int16_t byte_at(const stow_tensor* t, size_t i) {
  return t->dtype == STOW_U8 ? (int16_t)((const uint8_t*)t->data)[i]
                             : (int16_t)((const int8_t*)t->data)[i];
}

static int16_t zero_at(const stow_tensor* zero, size_t channel) {
  if (zero == NULL) {
    return 0;
  }
  return (int16_t)stowi_kernel_int_at(zero, stow_tensor_elements(zero) == 1 ? 0 : channel);
}

static void prepare_weights(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const job* j = user;
  const conv_int* c = j->c;
  size_t taps = c->slide.taps;
  for (size_t m = begin; m < end; ++m) {
    int zero = zero_at(c->w_zero, m);
    size_t first = m * c->in_channels * taps;
    for (size_t tap = 0; j->is_depthwise && tap < taps; ++tap) {
      j->weights[tap * c->group + m] = (int16_t)(byte_at(c->w, first + tap) - zero);
    }
    if (j->is_depthwise) {
      continue;
    }
    int16_t* to = j->weights + m * j->depth;
    memset(to, 0, j->depth * sizeof(int16_t));
    for (size_t i = 0; i < c->in_channels * taps; ++i) {
      to[i % taps * c->in_channels + i / taps] = (int16_t)(byte_at(c->w, first + i) - zero);
    }
  }
}

#define CENTER_ROW(type)                                                \
  for (size_t i = 0; i < count; ++i) {                                  \
    to[i * step] = (int16_t)(((const type*)t->data)[first + i] - zero); \
  }

static void center(const stow_tensor* t, size_t first, size_t count, int zero, int16_t* to,
                   size_t step) {
  if (t->dtype == STOW_U8) {
    CENTER_ROW(uint8_t)
  } else {
    CENTER_ROW(int8_t)
  }
}

// Pixels [begin, end) × TURN of the image, with their channels last.
static void prepare_pixels(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const job* j = user;
  const conv_int* c = j->c;
  size_t channels = (size_t)c->slide.channels;
  size_t all = c->slide.in_count;
  int zero = zero_at(c->x_zero, 0);
  for (size_t i = begin; i < end; ++i) {
    size_t first = i * TURN;
    size_t count = stowi_kernel_smaller(TURN, all - first);
    if (c->slide.channels_last) {
      center(c->x, (j->image * all + first) * channels, count * channels, zero,
             j->pixels + first * channels, 1);
      continue;
    }
    for (size_t k = 0; k < channels; ++k) {
      center(c->x, (j->image * channels + k) * all + first, count, zero,
             j->pixels + first * channels + k, channels);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Windows as rows

// What one outer tap reads for position |at| of a row: |row| is where x's row begins, in pixels.
static void copy_taps(const job* j, size_t group, int64_t row, int64_t at, int16_t* to) {
  const conv_int* c = j->c;
  const stowi_kernel_slide* s = &c->slide;
  uint32_t last = s->rank - 1;
  size_t channels = (size_t)s->channels;
  size_t size = c->in_channels * sizeof(int16_t);
  const int16_t* pixels = j->pixels + group * c->in_channels;
  int64_t start = at * s->strides[last] - s->begins[last];
  bool is_run = c->in_channels == channels && s->dilations[last] == 1;
  if (row >= 0 && is_run && start >= 0 && start + s->kernel_width <= s->in_width) {
    memcpy(to, pixels + (size_t)(row + start) * channels, (size_t)s->kernel_width * size);
    return;
  }
  for (int64_t k = 0; k < s->kernel_width; ++k, to += c->in_channels) {
    int64_t x = start + k * s->dilations[last];
    if (row < 0 || x < 0 || x >= s->in_width) {
      memset(to, 0, size);
    } else {
      memcpy(to, pixels + (size_t)(row + x) * channels, size);
    }
  }
}

static void fill_panel(const job* j, size_t group, size_t first, size_t count, int16_t* panel) {
  const conv_int* c = j->c;
  const stowi_kernel_slide* s = &c->slide;
  size_t width = (size_t)s->out_width;
  size_t run = (size_t)s->kernel_width * c->in_channels;
  size_t used = s->taps * c->in_channels;
  for (size_t i = 0; i < count; ++i) {
    int16_t* to = panel + i * j->depth;
    size_t position = first + i;
    for (size_t tap = 0; tap < s->outer_taps && run != 0; ++tap) {
      int64_t row = stowi_kernel_slide_row(s, position / width, tap);
      copy_taps(j, group, row, (int64_t)(position % width), to + tap * run);
    }
    memset(to + used, 0, (j->depth - used) * sizeof(int16_t));
  }
}

// ---------------------------------------------------------------------------------------------
// Products

static void run_part(const job* j, size_t unit, int16_t* panel, int32_t* tile) {
  const conv_int* c = j->c;
  size_t row = unit % j->parts * j->rows;
  size_t first = unit / j->parts % j->blocks * j->positions;
  size_t group = unit / j->parts / j->blocks;
  size_t rows = stowi_kernel_smaller(j->rows, c->out_channels - row);
  size_t count = stowi_kernel_smaller(j->positions, c->slide.out_count - first);
  size_t channel = group * c->out_channels + row;
  const int16_t* windows = panel;
  if (j->is_direct) {
    windows = j->pixels + first * j->depth;
  } else {
    fill_panel(j, group, first, count, panel);
  }
  int_dots(j->weights + channel * j->depth, rows, windows, j->depth, count, j->depth, tile, count);
  for (size_t r = 0; r < rows; ++r) {
    c->finish(c->user, j->image, channel + r, first, count, tile + r * count, 1);
  }
}

// A block of positions, of all channels: sums lie channels last.
static void run_depthwise(const job* j, size_t block, int32_t* tile) {
  const conv_int* c = j->c;
  const stowi_kernel_slide* s = &c->slide;
  size_t channels = c->group;
  size_t first = block * j->positions;
  size_t count = stowi_kernel_smaller(j->positions, s->out_count - first);
  memset(tile, 0, count * channels * sizeof(int32_t));
  for (size_t i = 0; i < count; ++i) {
    stowi_kernel_visit visit;
    stowi_kernel_slide_visit(s, first + i, &visit);
    for (size_t k = 0; k < visit.count; ++k) {
      size_t tap = 0;
      for (uint32_t d = 0; d < s->rank; ++d) {
        tap = tap * (size_t)s->kernel[d] + (size_t)visit.at[d];
      }
      size_t pixel = (size_t)stowi_kernel_slide_next(s, &visit);
      int_products(j->pixels + pixel * channels, j->weights + tap * channels, channels,
                   tile + i * channels);
    }
  }
  for (size_t k = 0; k < channels; ++k) {
    c->finish(c->user, j->image, k, first, count, tile + k, channels);
  }
}

static void run_parts(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  unsigned char* mine = j->workers + worker * (panel_size(j->c) + tile_size(j->c));
  int32_t* tile = (int32_t*)(void*)(mine + panel_size(j->c));
  for (size_t unit = begin; unit < end; ++unit) {
    if (j->is_depthwise) {
      run_depthwise(j, unit, tile);
    } else {
      run_part(j, unit, (int16_t*)(void*)mine, tile);
    }
  }
}

static void divide(job* j) {
  const conv_int* c = j->c;
  size_t fit =
      j->is_depthwise ? 16384 / stowi_kernel_larger(c->group, 1) : PANEL_NUMBERS / j->depth;
  fit = stowi_kernel_smaller(stowi_kernel_larger(fit / 2 * 2, LEAST_POSITIONS), MOST_POSITIONS);
  j->positions = stowi_kernel_smaller(fit, c->slide.out_count);
  j->blocks = (c->slide.out_count + j->positions - 1) / j->positions;
  size_t units = j->blocks * c->group;
  size_t wanted = c->call->workers <= 1 ? 1 : (2 * (size_t)c->call->workers + units - 1) / units;
  j->rows = ((c->out_channels + wanted - 1) / wanted + 3) / 4 * 4;
  j->parts = (c->out_channels + j->rows - 1) / j->rows;
}

static bool is_byte(const stow_tensor* t) { return t->dtype == STOW_U8 || t->dtype == STOW_I8; }

static stow_status conv_int_run(conv_int* c) {
  const stowi_kernel_slide* s = &c->slide;
  if (!is_byte(c->x) || !is_byte(c->w)) {
    return stow_kernel_fail(c->call, STOW_ERR_UNSUPPORTED, "operands must be u8 or i8");
  }
  if (s->batch == 0 || s->out_count == 0 || channels_of(c) == 0) {
    return STOW_OK;
  }
  job j = {
      .c = c, .is_depthwise = is_depthwise(c), .depth = stowi_kernel_larger(depth_of(c), DOT_STEP)};
  j.is_direct =
      stowi_kernel_slide_is_pointwise(s) && c->group == 1 && j.depth == (size_t)s->channels;
  j.weights = c->call->scratch;
  j.pixels = (int16_t*)(void*)((unsigned char*)c->call->scratch + weights_size(c));
  j.workers = (unsigned char*)c->call->scratch + weights_size(c) + image_size(c);
  divide(&j);
  stow_kernel_split(c->call, channels_of(c), 16384 / j.depth + 1, prepare_weights, &j);
  for (; j.image < (size_t)s->batch; ++j.image) {
    size_t turns = (s->in_count + TURN - 1) / TURN;
    stow_kernel_split(c->call, turns, 512 / stowi_kernel_larger((size_t)s->channels, 1) + 1,
                      prepare_pixels, &j);
    size_t units = j.is_depthwise ? j.blocks : c->group * j.blocks * j.parts;
    stow_kernel_split(c->call, units, 1, run_parts, &j);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// conv_integer

static void finish_sums(void* user, size_t image, size_t channel, size_t first, size_t count,
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

static stow_status read_conv_integer(const stow_kernel_call* call, conv_int* out) {
  stow_tensor* y = stow_kernel_result(call, 0);
  stow_status status =
      conv_int_read(call, stow_kernel_operand(call, 0), stow_kernel_operand(call, 1), y, out);
  out->x_zero = stow_kernel_operand(call, 2);
  out->w_zero = stow_kernel_operand(call, 3);
  out->finish = finish_sums;
  out->user = y;
  return status;
}

static stow_status scratch_conv_integer(const stow_kernel_call* call, uint64_t* out_bytes) {
  conv_int c;
  stow_status status = read_conv_integer(call, &c);
  *out_bytes = status == STOW_OK ? conv_int_scratch(&c) : 0;
  return status;
}

static stow_status run_conv_integer(stow_kernel_call* call) {
  conv_int c;
  STOWI_KERNEL_TRY(read_conv_integer(call, &c));
  return conv_int_run(&c);
}

STOWI_KERNEL(CONV_INTEGER, scratch_conv_integer, run_conv_integer);

// ---------------------------------------------------------------------------------------------
// qlinear_conv: sums scaled once in f32 by x's scale × the weights' / the result's, rounded half to
// even, plus the zero point, clamped to the dtype's range.

typedef struct requantization {
  stow_tensor* y;
  const stow_tensor* w_scale;
  const stow_tensor* bias;  // NULL: none
  float x_scale, y_scale;
  int32_t y_zero;
  size_t channels, positions;
  bool channels_last;
} requantization;

// |v| is within [-512, 512], where adding 1.5 × 2^23 leaves no room for a fraction.
static inline float round_even(float v) { return (v + 12582912.0F) - 12582912.0F; }

#define REQUANTIZE(type, least, most)                                                \
  do {                                                                               \
    type* to = (type*)j->y->data + at;                                               \
    float low = (float)((least)-zero);                                               \
    float high = (float)((most)-zero);                                               \
    for (size_t i = 0; i < count; ++i) {                                             \
      float v = (float)(int32_t)((uint32_t)sums[i * step] + (uint32_t)bias) * scale; \
      v = v > low ? v : low;                                                         \
      v = v < high ? v : high;                                                       \
      to[i * to_step] = (type)((int32_t)round_even(v) + zero);                       \
    }                                                                                \
  } while (0)

static void finish_qlinear(void* user, size_t image, size_t channel, size_t first, size_t count,
                           const int32_t* sums, size_t step) {
  const requantization* j = user;
  bool single = stow_tensor_elements(j->w_scale) == 1;
  float w_scale = (float)stowi_kernel_float_at(j->w_scale, single ? 0 : channel);
  float scale = j->x_scale * w_scale / j->y_scale;
  int32_t bias = j->bias == NULL ? 0 : (int32_t)stowi_kernel_int_at(j->bias, channel);
  int32_t zero = j->y_zero;
  size_t to_step = j->channels_last ? j->channels : 1;
  size_t at = j->channels_last ? (image * j->positions + first) * j->channels + channel
                               : (image * j->channels + channel) * j->positions + first;
  if (j->y->dtype == STOW_U8) {
    REQUANTIZE(uint8_t, 0, UINT8_MAX);
  } else {
    REQUANTIZE(int8_t, INT8_MIN, INT8_MAX);
  }
}

static stow_status read_qlinear_conv(const stow_kernel_call* call, conv_int* out) {
  stow_status status =
      conv_int_read(call, stow_kernel_operand(call, 0), stow_kernel_operand(call, 3),
                    stow_kernel_result(call, 0), out);
  out->x_zero = stow_kernel_operand(call, 2);
  out->w_zero = stow_kernel_operand(call, 5);
  out->finish = finish_qlinear;
  return status;
}

static stow_status scratch_qlinear_conv(const stow_kernel_call* call, uint64_t* out_bytes) {
  conv_int c;
  stow_status status = read_qlinear_conv(call, &c);
  *out_bytes = status == STOW_OK ? conv_int_scratch(&c) : 0;
  return status;
}

static stow_status run_qlinear_conv(stow_kernel_call* call) {
  conv_int c;
  STOWI_KERNEL_TRY(read_qlinear_conv(call, &c));
  const stow_tensor* y_zero = stow_kernel_operand(call, 7);
  requantization j = {.y = stow_kernel_result(call, 0),
                      .w_scale = stow_kernel_operand(call, 4),
                      .bias = stow_kernel_operand(call, 8),
                      .x_scale = (float)stowi_kernel_float_at(stow_kernel_operand(call, 1), 0),
                      .y_scale = (float)stowi_kernel_float_at(stow_kernel_operand(call, 6), 0),
                      .y_zero = (int32_t)stowi_kernel_int_at(y_zero, 0),
                      .channels = c.group * c.out_channels,
                      .positions = c.slide.out_count,
                      .channels_last = c.slide.channels_last};
  if (j.y->dtype != STOW_U8 && j.y->dtype != STOW_I8) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "the result must be u8 or i8");
  }
  c.user = &j;
  return conv_int_run(&c);
}

STOWI_KERNEL(QLINEAR_CONV, scratch_qlinear_conv, run_qlinear_conv);
