// Convolution of floats, by one of three methods: depthwise, in f64, or as a matrix product.
#include "exec/kernels/spatial/conv.h"

#include <string.h>

#include "exec/kernels/matrix/gemm.h"
#include "exec/kernels/spatial/window.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/size.h"

// ---------------------------------------------------------------------------------------------
// Depthwise convolution: few channels of the result read a single channel of x. A matrix of few
// rows would waste a product's blocking, so rows of the result are summed tap by tap, each tap over
// the positions where it reads no padding. The row stays in the first-level cache.
//
// Bits: an element begins as its bias (and addend); taps are added in ascending order.

// Into functions for wider vectors as well.
#if defined(__GNUC__)
#define ALWAYS_INLINE inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE inline
#endif

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

static ALWAYS_INLINE void add_tap(float* to, const float* x, size_t stride, size_t count,
                                  float weight) {
  if (stride == 1) {
    for (size_t i = 0; i < count; ++i) {
      to[i] += weight * x[i];
    }
  } else if (stride == 2) {
    for (size_t i = 0; i < count; ++i) {
      to[i] += weight * x[2 * i];
    }
  } else {
    for (size_t i = 0; i < count; ++i) {
      to[i] += weight * x[i * stride];
    }
  }
}

// Three taps that lie side by side, in one walk over the positions where all of them read x.
static ALWAYS_INLINE void add_three(float* to, const float* x, size_t stride, size_t count,
                                    const float* weights) {
  float a = weights[0];
  float b = weights[1];
  float c = weights[2];
  if (stride == 1) {
    for (size_t i = 0; i < count; ++i) {
      to[i] = ((to[i] + a * x[i]) + b * x[i + 1]) + c * x[i + 2];
    }
  } else if (stride == 2) {
    for (size_t i = 0; i < count; ++i) {
      to[i] = ((to[i] + a * x[2 * i]) + b * x[2 * i + 1]) + c * x[2 * i + 2];
    }
  } else {
    for (size_t i = 0; i < count; ++i) {
      to[i] = ((to[i] + a * x[i * stride]) + b * x[i * stride + 1]) + c * x[i * stride + 2];
    }
  }
}

// One outer tap at position |i|, near a border: |x| is its row of x.
static inline void add_border(const stowi_kernel_slide* s, const float* x, const float* weights,
                              int64_t i, float* to) {
  uint32_t last = s->rank - 1;
  int64_t at = i * s->strides[last] - s->begins[last];
  for (int64_t k = 0; k < s->kernel_width; ++k, at += s->dilations[last]) {
    if (at >= 0 && at < s->in_width) {
      to[i] += weights[k] * x[at];
    }
  }
}

// One outer tap at the positions [lo, hi), where none of its taps reads padding.
static ALWAYS_INLINE void add_interior(const stowi_kernel_slide* s, const float* x,
                                       const float* weights, int64_t lo, int64_t hi, float* to) {
  uint32_t last = s->rank - 1;
  size_t stride = (size_t)s->strides[last];
  x += lo * s->strides[last] - s->begins[last];
  int64_t k = 0;
  for (; s->dilations[last] == 1 && k + 3 <= s->kernel_width; k += 3) {
    add_three(to + lo, x + k, stride, (size_t)(hi - lo), weights + k);
  }
  for (; k < s->kernel_width; ++k) {
    add_tap(to + lo, x + k * s->dilations[last], stride, (size_t)(hi - lo), weights[k]);
  }
}

static ALWAYS_INLINE void add_outer_tap(const stowi_kernel_slide* s, const float* x,
                                        const float* weights, int64_t lo, int64_t hi, float* to) {
  for (int64_t i = 0; i < lo; ++i) {
    add_border(s, x, weights, i, to);
  }
  if (lo < hi) {
    add_interior(s, x, weights, lo, hi, to);
  }
  for (int64_t i = hi; i < s->out_width; ++i) {
    add_border(s, x, weights, i, to);
  }
}

static ALWAYS_INLINE void convolve_channels(const stowi_kernel_conv* c, size_t begin, size_t end) {
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
          add_outer_tap(w, x + at, weights + tap * (size_t)w->kernel_width, lo, hi, to);
        }
      }
    }
  }
}

#if defined(__GNUC__) && defined(__x86_64__)
__attribute__((target("avx2"))) static void convolve_avx2(const stowi_kernel_conv* c, size_t begin,
                                                          size_t end) {
  convolve_channels(c, begin, end);
}
#endif

static void depthwise_task(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
#if defined(__GNUC__) && defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) {
    convolve_avx2(user, begin, end);
    return;
  }
#endif
  convolve_channels(user, begin, end);
}

// Each channel of the result reads one channel of x: f32.
static void conv_depthwise(stowi_kernel_conv* c) {
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

// f64, a row of y at a time.
static void conv_double(stowi_kernel_conv* c) {
  if (stow_tensor_elements(c->y) != 0) {
    stow_kernel_split(c->call, (size_t)c->window.batch * c->group * c->out_channels, 1, double_task,
                      c);
  }
}

// ---------------------------------------------------------------------------------------------
// Convolution as a matrix product: the weights [M × depth] times the window data [depth ×
// positions]. The latter is never complete: a block of some hundred positions is copied to a panel
// that stays in the second-level cache, and multiplied. Workers take blocks, each with its own
// panel; if there are too few blocks, also ranges of the weights' rows. A 1 × 1 kernel with stride
// 1 reads x directly and needs no panel.
//
// Bits: an element begins as its bias (and addend). Products are summed in ascending order of
// channel and tap, in chains as gemm.h describes. The size of the blocks of positions has no
// influence.

#define PANEL_FLOATS 65536  // in a panel, unless the least number of positions needs more
#define LEAST_POSITIONS 64
#define MOST_POSITIONS 1024
#define STEP 16      // positions in a block are a multiple of it
#define ROW_STEP 16  // of weights

typedef struct job {
  const stowi_kernel_conv* c;
  const float* weights;
  bool is_direct;          // no panel: x is the factor
  bool is_half;            // y is made in f32 first
  size_t positions;        // in a block
  size_t panel_row;        // from one row of a panel to the next
  size_t blocks;           // of positions, in an image
  size_t rows;             // of weights, in a part
  size_t parts;            // of weights, in a group
  unsigned char* scratch;  // of worker 0
  uint64_t scratch_size;   // of each worker
} job;

static size_t round_up(size_t n, size_t step) { return (n + step - 1) / step * step; }

// ---------------------------------------------------------------------------------------------
// Sizes

static bool is_half(const stowi_kernel_conv* c) { return c->x->dtype != STOW_F32; }

static size_t most_positions(const stowi_kernel_conv* c) {
  size_t fit = PANEL_FLOATS / stowi_kernel_larger(c->depth, 1) / STEP * STEP;
  return stowi_kernel_smaller(stowi_kernel_larger(fit, LEAST_POSITIONS), MOST_POSITIONS);
}

// Rows of a panel lie an odd number of cache lines apart: the lines that a product reads together
// then spread over all sets of the cache, and it need not copy them first.
static size_t panel_row(size_t positions) {
  size_t row = round_up(positions, STEP);
  return row / STEP % 2 == 0 ? row + STEP : row;
}

// No fewer floats for more dims, though a block has fewer positions where it is deeper.
static uint64_t panel_size(const stowi_kernel_conv* c) {
  uint64_t all = (uint64_t)c->depth * round_up(c->window.out_count, STEP);
  uint64_t most = (uint64_t)c->depth * LEAST_POSITIONS;
  most = most > PANEL_FLOATS ? most : PANEL_FLOATS;
  return stowi_kernel_align64(((all < most ? all : most) + (uint64_t)c->depth * STEP) *
                              sizeof(float));
}

// The result in f32, of all channels of a group in a block, where it is of another dtype.
static uint64_t tile_size(const stowi_kernel_conv* c) {
  if (!is_half(c)) {
    return 0;
  }
  size_t positions = stowi_kernel_smaller(round_up(c->window.out_count, STEP), MOST_POSITIONS);
  return stowi_kernel_align64((uint64_t)c->out_channels * positions * sizeof(float));
}

static uint64_t weights_size(const stowi_kernel_conv* c) {
  return is_half(c) ? stowi_kernel_align64((uint64_t)stow_tensor_elements(c->w) * sizeof(float))
                    : 0;
}

static uint64_t worker_size(const stowi_kernel_conv* c) {
  size_t positions = stowi_kernel_smaller(round_up(c->window.out_count, STEP), MOST_POSITIONS);
  return panel_size(c) + tile_size(c) +
         stowi_kernel_align64(stowi_kernel_gemm_scratch(c->out_channels, positions, c->depth, 1));
}

// All others, through products of matrices: f32, f16, bf16.
static uint64_t conv_panel_scratch(const stowi_kernel_conv* c) {
  return weights_size(c) + worker_size(c) * c->call->workers;
}

// ---------------------------------------------------------------------------------------------
// Panels

// Positions [begin, end) of one row of the result: |to| is where the panel's column for |begin| is.
typedef struct segment {
  size_t row;
  int64_t begin, end;
  float* to;
} segment;

static void copy_row(stow_dtype dtype, const void* from, size_t first, size_t stride, size_t count,
                     float* to) {
  if (dtype != STOW_F32) {
    for (size_t i = 0; stride != 1 && i < count; ++i) {
      stowi_kernel_load_f32(dtype, from, first + i * stride, 1, to + i);
    }
    if (stride == 1) {
      stowi_kernel_load_f32(dtype, from, first, count, to);
    }
    return;
  }
  const float* x = (const float*)from + first;
  if (stride == 1) {
    memcpy(to, x, count * sizeof(float));
  } else if (stride == 2) {
    for (size_t i = 0; i < count; ++i) {
      to[i] = x[2 * i];
    }
  } else {
    for (size_t i = 0; i < count; ++i) {
      to[i] = x[i * stride];
    }
  }
}

static void fill_zeros(float* to, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    to[i] = 0;
  }
}

// What tap (|outer|, |k|) reads for the segment, in every channel of the group. |row| is where x's
// row begins, -1 for padding.
static void copy_tap(const job* j, const segment* s, size_t outer, int64_t k, size_t x_first,
                     int64_t row) {
  const stowi_kernel_slide* w = &j->c->window;
  uint32_t last = w->rank - 1;
  int64_t lo;
  int64_t hi;
  stowi_kernel_slide_range(w, last, k, &lo, &hi);
  lo = row < 0 ? s->end : stowi_kernel_min_i64(stowi_kernel_max_i64(lo, s->begin), s->end);
  hi = row < 0 ? s->end : stowi_kernel_min_i64(stowi_kernel_max_i64(hi, lo), s->end);
  int64_t at = lo * w->strides[last] + k * w->dilations[last] - w->begins[last];
  size_t before = (size_t)(lo - s->begin);
  size_t inside = (size_t)(hi - lo);
  size_t after = (size_t)(s->end - hi);
  float* to = s->to + (outer * (size_t)w->kernel_width + (size_t)k) * j->panel_row;
  for (size_t c = 0; c < j->c->in_channels; ++c) {
    fill_zeros(to, before);
    if (inside != 0) {
      copy_row(j->c->x->dtype, j->c->x->data, x_first + c * w->in_count + (size_t)(row + at),
               (size_t)w->strides[last], inside, to + before);
    }
    fill_zeros(to + before + inside, after);
    to += w->taps * j->panel_row;
  }
}

// |x_first| is the first element of the group's channels in the image.
static void fill_panel(const job* j, size_t first, size_t count, size_t x_first, float* panel) {
  const stowi_kernel_slide* w = &j->c->window;
  size_t width = (size_t)w->out_width;
  for (size_t done = 0; done < count && j->c->in_channels != 0;) {
    segment s = {(first + done) / width, (int64_t)((first + done) % width), 0, panel + done};
    s.end = stowi_kernel_min_i64(w->out_width, s.begin + (int64_t)(count - done));
    for (size_t outer = 0; outer < w->outer_taps; ++outer) {
      int64_t row = stowi_kernel_slide_row(w, s.row, outer);
      for (int64_t k = 0; k < w->kernel_width; ++k) {
        copy_tap(j, &s, outer, k, x_first, row);
      }
    }
    done += (size_t)(s.end - s.begin);
  }
}

// ---------------------------------------------------------------------------------------------
// Products

// A part of one block: rows [row, row + rows) of all channels of the result, of one image.
typedef struct part {
  size_t image, group, row, rows, first, count;
} part;

static part part_at(const job* j, size_t unit) {
  const stowi_kernel_conv* c = j->c;
  size_t row = unit % j->parts * j->rows;
  size_t block = unit / j->parts % j->blocks;
  size_t group = unit / j->parts / j->blocks % c->group;
  part p = {unit / j->parts / j->blocks / c->group, group, row, 0, block * j->positions, 0};
  p.rows = stowi_kernel_smaller(j->rows, c->out_channels - row);
  p.count = stowi_kernel_smaller(j->positions, c->window.out_count - p.first);
  return p;
}

static size_t result_at(const stowi_kernel_conv* c, const part* p, size_t row) {
  size_t channel = (p->image * c->group + p->group) * c->out_channels + p->row + row;
  return channel * c->window.out_count + p->first;
}

// Bias and addend, to which products are added; false where there is neither.
static bool begin_result(const stowi_kernel_conv* c, const part* p, float* to, size_t to_row) {
  for (size_t r = 0; r < p->rows && (c->bias != NULL || c->addend != NULL); ++r) {
    float* row = to + r * to_row;
    float bias = 0;
    if (c->bias != NULL) {
      stowi_kernel_load_f32(c->bias->dtype, c->bias->data, p->group * c->out_channels + p->row + r,
                            1, &bias);
    }
    if (c->addend != NULL) {
      stowi_kernel_load_f32(c->addend->dtype, c->addend->data, result_at(c, p, r), p->count, row);
      for (size_t i = 0; i < p->count; ++i) {
        row[i] += bias;
      }
    } else {
      for (size_t i = 0; i < p->count; ++i) {
        row[i] = bias;
      }
    }
  }
  return c->bias != NULL || c->addend != NULL;
}

// What a worker has for itself.
typedef struct space {
  float* panel;
  float* tile;
  void* gemm;
} space;

static space space_of(const job* j, uint32_t worker) {
  unsigned char* mine = j->scratch + worker * j->scratch_size;
  unsigned char* tile = mine + panel_size(j->c);
  return (space){(float*)(void*)mine, (float*)(void*)tile, tile + tile_size(j->c)};
}

static void run_part(const job* j, const part* p, const space* s) {
  const stowi_kernel_conv* c = j->c;
  const stowi_kernel_slide* w = &c->window;
  size_t x_first = (p->image * c->group + p->group) * c->in_channels * w->in_count;
  size_t to_row = j->is_half ? j->positions : w->out_count;
  float* to = j->is_half ? s->tile : (float*)c->y->data + result_at(c, p, 0);
  stowi_kernel_matrix factor = {s->panel, j->panel_row, 1};
  if (j->is_direct) {
    factor = (stowi_kernel_matrix){(const float*)c->x->data + x_first + p->first, w->in_count, 1};
  } else {
    fill_panel(j, p->first, p->count, x_first, s->panel);
  }
  const float* weights = j->weights + (p->group * c->out_channels + p->row) * c->depth;
  stowi_kernel_gemm gemm = {p->rows, p->count, c->depth, {weights, c->depth, 1},        factor,
                            to,      to_row,   1,        begin_result(c, p, to, to_row)};
  stowi_kernel_gemm_alone(&gemm, s->gemm);
  for (size_t r = 0; j->is_half && r < p->rows; ++r) {
    stowi_kernel_store_f32(c->y->dtype, c->y->data, result_at(c, p, r), p->count, to + r * to_row);
  }
}

static void run_parts(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  space s = space_of(j, worker);
  for (size_t unit = begin; unit < end; ++unit) {
    part p = part_at(j, unit);
    run_part(j, &p, &s);
  }
}

static void widen_weights(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const stowi_kernel_conv* c = user;
  stowi_kernel_load_f32(c->w->dtype, c->w->data, begin, end - begin,
                        (float*)c->call->scratch + begin);
}

// Enough parts for every worker: blocks first, then rows of the weights.
static void divide(job* j) {
  const stowi_kernel_conv* c = j->c;
  size_t count = c->window.out_count;
  size_t most = j->is_direct ? MOST_POSITIONS / 2 : most_positions(c);
  size_t blocks = stowi_kernel_larger((count + most - 1) / most, 1);
  j->positions = round_up((count + blocks - 1) / blocks, STEP);
  j->panel_row = panel_row(j->positions);
  j->blocks = j->positions == 0 ? 1 : (count + j->positions - 1) / j->positions;
  size_t units = stowi_kernel_larger(j->blocks * c->group * (size_t)c->window.batch, 1);
  size_t wanted = c->call->workers <= 1 ? 1 : (2 * (size_t)c->call->workers + units - 1) / units;
  j->rows = stowi_kernel_larger(round_up((c->out_channels + wanted - 1) / wanted, ROW_STEP), 1);
  j->parts = stowi_kernel_larger((c->out_channels + j->rows - 1) / j->rows, 1);
}

static void conv_panel(stowi_kernel_conv* c) {
  job j = {.c = c, .weights = c->w->data, .is_half = is_half(c)};
  if (stow_tensor_elements(c->y) == 0) {
    return;
  }
  j.is_direct = !j.is_half && stowi_kernel_slide_is_pointwise(&c->window);
  divide(&j);
  j.scratch = (unsigned char*)c->call->scratch + weights_size(c);
  j.scratch_size = worker_size(c);
  if (j.is_half) {
    j.weights = c->call->scratch;
    stow_kernel_split(c->call, stow_tensor_elements(c->w), 16384, widen_weights, c);
  }
  stow_kernel_split(c->call, (size_t)c->window.batch * c->group * j.blocks * j.parts, 1, run_parts,
                    &j);
}

// ---------------------------------------------------------------------------------------------
// The kernel: chooses the method by dtype and weights.

stow_status stowi_kernel_conv_read(const stow_kernel_call* call, size_t addend,
                                   stowi_kernel_conv* out) {
  *out = (stowi_kernel_conv){.call = call,
                             .x = stow_kernel_operand(call, 0),
                             .w = stow_kernel_operand(call, 1),
                             .bias = stow_kernel_operand(call, 2),
                             .addend = stow_kernel_operand(call, addend),
                             .y = stow_kernel_result(call, 0)};
  stow_status status =
      stowi_kernel_slide_read(call, out->x, out->y, out->w->dims + 2, &out->window);
  out->group = (size_t)stowi_kernel_int(call, STOWI_KERNEL_ATTR_GROUP, 1);
  out->in_channels = (size_t)out->w->dims[1];
  out->out_channels = (size_t)out->w->dims[0] / out->group;
  out->depth = out->in_channels * out->window.taps;
  return status;
}

static bool is_panel(stow_dtype dtype) {
  return dtype == STOW_F32 || dtype == STOW_F16 || dtype == STOW_BF16;
}

// More channels of the result that read the same channel of x make a product worth its blocking.
static bool is_depthwise(const stowi_kernel_conv* c) {
  return c->x->dtype == STOW_F32 && c->in_channels == 1 && c->out_channels <= 4;
}

uint64_t stowi_kernel_conv_scratch(const stowi_kernel_conv* c) {
  return is_panel(c->x->dtype) && !is_depthwise(c) ? conv_panel_scratch(c) : 0;
}

stow_status stowi_kernel_conv_run(stowi_kernel_conv* c) {
  if (c->x->dtype == STOW_F64) {
    conv_double(c);
  } else if (!is_panel(c->x->dtype)) {
    return stow_kernel_fail(c->call, STOW_ERR_UNSUPPORTED, "x must be f32, f16, bf16 or f64");
  } else if (is_depthwise(c)) {
    conv_depthwise(c);
  } else {
    conv_panel(c);
  }
  return STOW_OK;
}

static stow_status scratch_conv(const stow_kernel_call* call, uint64_t* out_bytes) {
  stowi_kernel_conv c;
  stow_status status = stowi_kernel_conv_read(call, SIZE_MAX, &c);
  *out_bytes = status == STOW_OK ? stowi_kernel_conv_scratch(&c) : 0;
  return status;
}

static stow_status run_conv(stow_kernel_call* call) {
  stowi_kernel_conv c;
  STOWI_KERNEL_TRY(stowi_kernel_conv_read(call, SIZE_MAX, &c));
  return stowi_kernel_conv_run(&c);
}

STOWI_KERNEL(CONV, scratch_conv, run_conv);
