// conv_transpose: what an element of x contributes to the result is a product of matrices, the
// weights turned [M × taps, C] times x [C, positions]; the products are then added up where they
// belong. Workers take channels of the result, some at a time, so that no two add to the same
// element; positions go by in blocks whose products stay in the second-level cache. f16 and bf16
// are converted part by part, or each element is gathered, in the same order. f64 is rare:
// gathered.
//
// Bits: an element begins as its bias; then blocks, taps and positions add to it in ascending
// order, all of which only dims decide.
#include "exec/kernels/matrix/gemm.h"
#include "exec/kernels/spatial/window.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/size.h"
#include "exec/kernels/support/vector.h"

#define CHANNELS 8            // of the result, in a part
#define PRODUCT_FLOATS 65536  // of a block, unless the least number of positions needs more
#define LEAST_POSITIONS 64
#define MOST_POSITIONS 1024
#define LEAN_CHANNELS 4  // of which products are in little room at a time
#define LEAN_POSITIONS 32

typedef struct job {
  const stow_kernel_call* call;
  const stow_tensor* x;
  const stow_tensor* w;
  const stow_tensor* bias;  // NULL: none
  stow_tensor* y;
  stowi_kernel_slide slide;  // of a window over y: its positions are x's elements
  size_t group;
  size_t in_channels, out_channels;  // of a group
  size_t positions;                  // in a block
  size_t parts;                      // of a group's channels
} job;

// ---------------------------------------------------------------------------------------------
// Reading

// What is cut off y's beginning along dim |i|; s->ends[i] is what its end has in addition.
static int64_t begin_of(const stow_kernel_call* call, const stowi_kernel_slide* s, uint32_t i) {
  bool upper = stowi_kernel_is(call, STOWI_KERNEL_ATTR_AUTO_PAD, "same_upper");
  bool lower = stowi_kernel_is(call, STOWI_KERNEL_ATTR_AUTO_PAD, "same_lower");
  const stow_attr* shape = stowi_kernel_attr(call, STOWI_KERNEL_ATTR_OUTPUT_SHAPE);
  bool is_given = shape != NULL && shape->count != 0;
  if (!upper && !lower && !is_given) {
    return s->begins[i];
  }
  int64_t covered = (s->out[i] - 1) * s->strides[i] + (s->kernel[i] - 1) * s->dilations[i] + 1;
  int64_t total = covered + s->ends[i] - s->in[i];
  total = stowi_kernel_max_i64(total, 0);
  return upper ? total / 2 : total - total / 2;
}

static size_t rows_of(const job* j) {
  return stowi_kernel_smaller(j->out_channels, CHANNELS) * j->slide.taps;
}

static stow_status read_job(const stow_kernel_call* call, job* j) {
  *j = (job){.call = call,
             .x = stow_kernel_operand(call, 0),
             .w = stow_kernel_operand(call, 1),
             .bias = stow_kernel_operand(call, 2),
             .y = stow_kernel_result(call, 0),
             .group = (size_t)stowi_kernel_int(call, STOWI_KERNEL_ATTR_GROUP, 1)};
  j->in_channels = (size_t)j->w->dims[0] / j->group;
  j->out_channels = (size_t)j->w->dims[1];
  stowi_kernel_slide* s = &j->slide;
  *s = (stowi_kernel_slide){
      .rank = j->x->rank - 2, .batch = j->x->dims[0], .channels = j->y->dims[1]};
  for (uint32_t i = 0; i < s->rank; ++i) {
    s->in[i] = j->y->dims[2 + i];
    s->out[i] = j->x->dims[2 + i];
    s->kernel[i] = j->w->dims[2 + i];
    s->strides[i] = stowi_kernel_list_at(call, STOWI_KERNEL_ATTR_STRIDES, i, 1);
    s->dilations[i] = stowi_kernel_list_at(call, STOWI_KERNEL_ATTR_DILATIONS, i, 1);
    s->begins[i] = stowi_kernel_list_at(call, STOWI_KERNEL_ATTR_PADS, i, 0);
    s->ends[i] = stowi_kernel_list_at(call, STOWI_KERNEL_ATTR_OUTPUT_PADDING, i, 0);
    STOWI_KERNEL_TRY(stowi_kernel_slide_bound(call, s, i));
    s->begins[i] = begin_of(call, s, i);
  }
  STOWI_KERNEL_TRY(stowi_kernel_slide_count(call, s));
  size_t fit = PRODUCT_FLOATS / stowi_kernel_larger(rows_of(j), 1);
  j->positions = stowi_kernel_smaller(stowi_kernel_larger(fit, LEAST_POSITIONS), MOST_POSITIONS);
  j->parts = (j->out_channels + CHANNELS - 1) / CHANNELS;
  return STOW_OK;
}

static bool is_half(const job* j) { return j->x->dtype == STOW_F16 || j->x->dtype == STOW_BF16; }

static uint64_t product_size(const job* j) {
  uint64_t least = (uint64_t)rows_of(j) * LEAST_POSITIONS;
  return stowi_kernel_align64((least > PRODUCT_FLOATS ? least : PRODUCT_FLOATS) * sizeof(float));
}

static uint64_t fast_size(const job* j) {
  return product_size(j) + stowi_kernel_align64(stowi_kernel_gemm_scratch(
                               rows_of(j), MOST_POSITIONS, j->in_channels, 1, 0));
}

// In little room: products of some channels and positions, of one tap.
static uint64_t lean_size(const job* j) {
  size_t channels = stowi_kernel_smaller(j->out_channels, LEAN_CHANNELS);
  size_t positions = stowi_kernel_smaller(j->slide.out_count, LEAN_POSITIONS);
  return stowi_kernel_align64((uint64_t)channels * positions * sizeof(float)) +
         stowi_kernel_gemm_scratch(channels, positions, j->in_channels, 1, 2);
}

// f16 and bf16 as f32: weights and channels of a part, and a block of x.
static uint64_t half_weights_size(const job* j) {
  return stowi_kernel_align64((uint64_t)j->in_channels * rows_of(j) * sizeof(float));
}

static uint64_t half_block_size(const job* j) {
  size_t positions = stowi_kernel_smaller(j->positions, j->slide.out_count);
  return stowi_kernel_align64((uint64_t)j->in_channels * positions * sizeof(float));
}

static uint64_t half_result_size(const job* j) {
  size_t channels = stowi_kernel_smaller(j->out_channels, CHANNELS);
  return stowi_kernel_align64((uint64_t)channels * j->slide.in_count * sizeof(float));
}

static uint64_t half_size(const job* j) {
  return half_weights_size(j) + half_block_size(j) + half_result_size(j) + fast_size(j);
}

static bool is_lean(const job* j) {
  return stowi_kernel_is_lean(j->call, fast_size(j), lean_size(j));
}

static uint64_t worker_size(const job* j) {
  if (is_half(j)) {
    return stowi_kernel_variant(j->call) == 0 ? half_size(j) : 0;
  }
  return is_lean(j) ? lean_size(j) : fast_size(j);
}

// ---------------------------------------------------------------------------------------------
// f32

// Positions [from, until) of a row of x, whose products |p| has, to where |y| has the first of
// them.
STOWI_KERNEL_INLINE void add_range(const float* p, int64_t from, int64_t until, size_t stride,
                                   float* y) {
  for (int64_t i = from; i < until; ++i) {
    y[(size_t)i * stride] += p[i];
  }
}

// The same of two taps that are neighbours, with a stride of 2: what both write is contiguous.
STOWI_KERNEL_INLINE void add_pairs(const float* p, const float* q, int64_t from, int64_t until,
                                   float* y) {
  for (int64_t i = from; i < until; ++i) {
    y[2 * i] += p[i];
    y[2 * i + 1] += q[i];
  }
}

// Products of one tap, |count| of them from position |first| on, to one channel of y; with
// |is_pair| those of the next tap, too, which follow.
STOWI_KERNEL_LOOP(add_products,
                  (const stowi_kernel_slide* s, size_t tap, bool is_pair, size_t first,
                   size_t count, const float* products, float* y),
                  (s, tap, is_pair, first, count, products, y)) {
  uint32_t last = s->rank - 1;
  size_t stride = (size_t)s->strides[last];
  int64_t k = (int64_t)(tap % (size_t)s->kernel_width);
  int64_t los[2];
  int64_t his[2];
  stowi_kernel_slide_range(s, last, k, &los[0], &his[0]);
  stowi_kernel_slide_range(s, last, k + is_pair, &los[1], &his[1]);
  int64_t begin = (int64_t)(first % (size_t)s->out_width);
  for (size_t done = 0; done < count; begin = 0) {
    int64_t end = stowi_kernel_min_i64(s->out_width, begin + (int64_t)(count - done));
    int64_t row = stowi_kernel_slide_row(s, (first + done) / (size_t)s->out_width,
                                         tap / (size_t)s->kernel_width);
    const float* p = products + done - begin;
    float* to = y + row + k * s->dilations[last] - s->begins[last];
    int64_t from[2];
    int64_t until[2];
    for (size_t t = 0; t < 2; ++t) {
      from[t] = stowi_kernel_max_i64(los[t], begin);
      until[t] = stowi_kernel_max_i64(from[t], stowi_kernel_min_i64(his[t], end));
    }
    done += (size_t)(end - begin);
    if (row < 0) {
      continue;
    }
    if (!is_pair) {
      add_range(p, from[0], until[0], stride, to);
      continue;
    }
    int64_t both = stowi_kernel_max_i64(from[0], from[1]);
    int64_t both_end = stowi_kernel_max_i64(both, stowi_kernel_min_i64(until[0], until[1]));
    add_range(p, from[0], stowi_kernel_min_i64(both, until[0]), 2, to);
    add_range(p + count, from[1], stowi_kernel_min_i64(both, until[1]), 2, to + 1);
    add_pairs(p, p + count, both, both_end, to);
    add_range(p, stowi_kernel_max_i64(both_end, from[0]), until[0], 2, to);
    add_range(p + count, stowi_kernel_max_i64(both_end, from[1]), until[1], 2, to + 1);
  }
}

static void begin_channels(const job* j, size_t first, size_t channels, float* y) {
  for (size_t c = 0; c < channels; ++c) {
    float bias = j->bias == NULL ? 0 : (float)stowi_kernel_float_at(j->bias, first + c);
    for (size_t i = 0; i < j->slide.in_count; ++i) {
      y[c * j->slide.in_count + i] = bias;
    }
  }
}

// Channels of the result, of one group of an image.
typedef struct part {
  size_t channels;
  const float* x;  // of the group
  size_t x_row;    // from one channel of it to the next
  const float* w;  // of the first channel
  size_t w_row;
  float* y;
} part;

// One block of positions, whose first p->x has: all products, then what they add.
static void add_block(const job* j, const part* p, size_t first, size_t count, void* scratch) {
  const stowi_kernel_slide* s = &j->slide;
  float* products = scratch;
  stowi_kernel_gemm gemm = {.m = p->channels * s->taps,
                            .n = count,
                            .k = j->in_channels,
                            .a = {p->w, 1, p->w_row},
                            .b = {p->x, p->x_row, 1},
                            .c = products,
                            .c_row = count,
                            .alpha = 1};
  stowi_kernel_gemm_alone(&gemm, (unsigned char*)scratch + product_size(j));
  uint32_t last = s->rank - 1;
  bool has_pairs = s->strides[last] == 2 && s->dilations[last] == 1;
  for (size_t r = 0; r < p->channels * s->taps;) {
    size_t tap = r % s->taps;
    bool is_pair = has_pairs && tap % (size_t)s->kernel_width + 1 < (size_t)s->kernel_width;
    add_products(s, tap, is_pair, first, count, products + r * count,
                 p->y + r / s->taps * s->in_count);
    r += 1 + (size_t)is_pair;
  }
}

// The same of one tap and some channels, some positions at a time.
static void add_tap(const job* j, const part* p, size_t channel, size_t tap, size_t first,
                    size_t count, void* scratch) {
  const stowi_kernel_slide* s = &j->slide;
  float* products = scratch;
  size_t channels = stowi_kernel_smaller(p->channels - channel, LEAN_CHANNELS);
  for (size_t at = first; at < first + count; at += LEAN_POSITIONS) {
    size_t some = stowi_kernel_smaller(first + count - at, LEAN_POSITIONS);
    stowi_kernel_gemm gemm = {.m = channels,
                              .n = some,
                              .k = j->in_channels,
                              .a = {p->w + channel * s->taps + tap, s->taps, p->w_row},
                              .b = {p->x + at - first, p->x_row, 1},
                              .c = products,
                              .c_row = some,
                              .alpha = 1,
                              .variant = 2};
    stowi_kernel_gemm_alone(&gemm, products + (channels * some + 15) / 16 * 16);
    for (size_t c = 0; c < channels; ++c) {
      add_products(s, tap, false, at, some, products + c * some,
                   p->y + (channel + c) * s->in_count);
    }
  }
}

static void add_block_lean(const job* j, const part* p, size_t first, size_t count, void* scratch) {
  for (size_t channel = 0; channel < p->channels; channel += LEAN_CHANNELS) {
    for (size_t tap = 0; tap < j->slide.taps; ++tap) {
      add_tap(j, p, channel, tap, first, count, scratch);
    }
  }
}

// The channels of unit |unit|, and the first of them of all; of f32, where they lie.
static part part_of(const job* j, size_t unit, size_t* out_image, size_t* out_channel) {
  const stowi_kernel_slide* s = &j->slide;
  size_t channel = unit % j->parts * CHANNELS;
  size_t group = unit / j->parts % j->group;
  *out_image = unit / j->parts / j->group;
  *out_channel = group * j->out_channels + channel;
  return (part){.channels = stowi_kernel_smaller(CHANNELS, j->out_channels - channel),
                .x_row = s->out_count,
                .w_row = j->out_channels * s->taps};
}

// Where the group of |channel| begins in x, of an image, and |channel| in the weights and in y.
static size_t x_first(const job* j, size_t image, size_t channel) {
  return (image * j->group + channel / j->out_channels) * j->in_channels * j->slide.out_count;
}

static size_t w_first(const job* j, size_t channel) {
  size_t group = channel / j->out_channels;
  return (group * j->in_channels * j->out_channels + channel % j->out_channels) * j->slide.taps;
}

static size_t y_first(const job* j, size_t image, size_t channel) {
  return (image * j->group * j->out_channels + channel) * j->slide.in_count;
}

static void run_part(const job* j, size_t unit, void* scratch) {
  const stowi_kernel_slide* s = &j->slide;
  size_t image;
  size_t channel;
  part p = part_of(j, unit, &image, &channel);
  const float* x = (const float*)j->x->data + x_first(j, image, channel);
  p.w = (const float*)j->w->data + w_first(j, channel);
  p.y = (float*)j->y->data + y_first(j, image, channel);
  begin_channels(j, channel, p.channels, p.y);
  for (size_t first = 0; first < s->out_count; first += j->positions) {
    size_t count = stowi_kernel_smaller(j->positions, s->out_count - first);
    p.x = x + first;
    (is_lean(j) ? add_block_lean : add_block)(j, &p, first, count, scratch);
  }
}

// The same of f16 and bf16.
static void run_half_part(const job* j, size_t unit, void* scratch) {
  const stowi_kernel_slide* s = &j->slide;
  size_t image;
  size_t channel;
  part p = part_of(j, unit, &image, &channel);
  unsigned char* room = scratch;
  float* w = (float*)(void*)room;
  float* x = (float*)(void*)(room + half_weights_size(j));
  p.y = (float*)(void*)(room + half_weights_size(j) + half_block_size(j));
  room += half_weights_size(j) + half_block_size(j) + half_result_size(j);
  p.w = w;
  p.x = x;
  size_t w_at = w_first(j, channel);
  for (size_t c = 0; c < j->in_channels; ++c) {
    stowi_kernel_load_f32(j->w->dtype, j->w->data, w_at + c * p.w_row, p.channels * s->taps,
                          w + c * p.channels * s->taps);
  }
  p.w_row = p.channels * s->taps;
  begin_channels(j, channel, p.channels, p.y);
  for (size_t first = 0; first < s->out_count; first += j->positions) {
    size_t count = stowi_kernel_smaller(j->positions, s->out_count - first);
    p.x_row = count;
    for (size_t c = 0; c < j->in_channels; ++c) {
      stowi_kernel_load_f32(j->x->dtype, j->x->data,
                            x_first(j, image, channel) + c * s->out_count + first, count,
                            x + c * count);
    }
    add_block(j, &p, first, count, room);
  }
  stowi_kernel_store_f32(j->y->dtype, j->y->data, y_first(j, image, channel),
                         p.channels * s->in_count, p.y);
}

static void run_parts(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  for (size_t unit = begin; unit < end; ++unit) {
    (is_half(j) ? run_half_part : run_part)(
        j, unit, (unsigned char*)j->call->scratch + worker * worker_size(j));
  }
}

// ---------------------------------------------------------------------------------------------
// Element by element: f64, and f16 and bf16 in no room

static double weight_at(const job* j, size_t channel, size_t c, size_t tap) {
  size_t row = j->out_channels * j->slide.taps;
  return stowi_kernel_float_at(j->w, w_first(j, channel) + c * row + tap);
}

static double x_at(const job* j, size_t image, size_t channel, size_t c, size_t position) {
  return stowi_kernel_float_at(j->x,
                               x_first(j, image, channel) + c * j->slide.out_count + position);
}

static double gather(const job* j, size_t image, size_t channel, size_t at) {
  const stowi_kernel_slide* s = &j->slide;
  double sum = j->bias == NULL ? 0 : stowi_kernel_float_at(j->bias, channel);
  for (size_t tap = 0; tap < s->taps && j->in_channels != 0; ++tap) {
    int64_t source = stowi_kernel_slide_reader(s, at, tap);
    for (size_t c = 0; c < j->in_channels && source >= 0; ++c) {
      sum += weight_at(j, channel, c, tap) * x_at(j, image, channel, c, (size_t)source);
    }
  }
  return sum;
}

// As a product of matrices has it (gemm.h).
static float product_at(const job* j, size_t image, size_t channel, size_t tap, size_t position) {
  float all = 0;
  for (size_t c = 0; c < j->in_channels;) {
    size_t end = c + stowi_kernel_smaller(j->in_channels - c, STOWI_KERNEL_GEMM_CHAIN);
    float sum = 0;
    bool is_first = c == 0;
    for (; c < end; ++c) {
      sum = stowi_kernel_fma(STOWI_KERNEL_HAS_FMA, (float)weight_at(j, channel, c, tap),
                             (float)x_at(j, image, channel, c, position), sum);
    }
    all = is_first ? sum : all + sum;
  }
  return all;
}

// Products in the order of blocks, and of taps inside a block.
static float gather_half(const job* j, size_t image, size_t channel, size_t at) {
  const stowi_kernel_slide* s = &j->slide;
  float sum = j->bias == NULL ? 0 : (float)stowi_kernel_float_at(j->bias, channel);
  size_t next = 0;
  for (size_t block = 0; next != SIZE_MAX; block = next) {
    next = SIZE_MAX;
    for (size_t tap = 0; tap < s->taps; ++tap) {
      int64_t source = stowi_kernel_slide_reader(s, at, tap);
      size_t its = source < 0 ? 0 : (size_t)source / j->positions;
      if (source >= 0 && its == block) {
        sum += product_at(j, image, channel, tap, (size_t)source);
      } else if (source >= 0 && its > block) {
        next = stowi_kernel_smaller(next, its);
      }
    }
  }
  return sum;
}

static void gather_task(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const job* j = user;
  size_t channels = j->group * j->out_channels;
  for (size_t i = begin; i < end; ++i) {
    size_t plane = i / j->slide.in_count;
    size_t image = plane / channels;
    size_t at = i % j->slide.in_count;
    double sum = is_half(j) ? (double)gather_half(j, image, plane % channels, at)
                            : gather(j, image, plane % channels, at);
    stowi_kernel_store_f64(j->y->dtype, j->y->data, i, 1, &sum);
  }
}

// ---------------------------------------------------------------------------------------------

static stow_status scratch_conv_transpose(const stow_kernel_call* call, uint64_t* out_bytes) {
  job j;
  stow_status status = read_job(call, &j);
  bool has_scratch = status == STOW_OK && (j.x->dtype == STOW_F32 || is_half(&j));
  *out_bytes = has_scratch ? worker_size(&j) * call->workers : 0;
  return status;
}

static stow_status run_conv_transpose(stow_kernel_call* call) {
  job j;
  STOWI_KERNEL_TRY(read_job(call, &j));
  if (stow_tensor_elements(j.y) == 0) {
    return STOW_OK;
  }
  stow_dtype dtype = j.x->dtype;
  if (dtype == STOW_F32 || (is_half(&j) && worker_size(&j) != 0)) {
    stow_kernel_split(call, (size_t)j.slide.batch * j.group * j.parts, 1, run_parts, &j);
  } else if (dtype == STOW_F64 || is_half(&j)) {
    stow_kernel_split(call, stow_tensor_elements(j.y), 64, gather_task, &j);
  } else {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "x must be f32, f16, bf16 or f64");
  }
  return STOW_OK;
}

STOWI_KERNEL(CONV_TRANSPOSE, scratch_conv_transpose, run_conv_transpose, .variant_count = 2);
