// quantize_linear, dequantize_linear and dynamic_quantize_linear.
#include "exec/kernels/quantized/quantize.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/vector.h"
#include "exec/kernels/support/walk.h"

// ---------------------------------------------------------------------------------------------
// quantize_linear and dequantize_linear. There is one scale for all elements, one per index along
// an axis, or one per block along an axis; x is viewed as [outer, axis, inner]. The work goes by
// runs in which the scale is constant or advances with the elements, at most a block long, so that
// a block is read before narrower elements are written in place.

typedef struct linear_task {
  const stow_tensor* x;
  const stow_tensor* scale;
  const stow_tensor* zero;  // NULL: 0
  stow_tensor* out;
  size_t inner;
  size_t axis;     // the dim
  size_t block;    // indices of the axis that share a scale
  bool is_single;  // one scale for all
  bool has_inner;  // scales differ along the inner dims
  bool saturates;
  stow_dtype precision;  // what quotients are rounded to: f32, f16 or bf16
} linear_task;

// Elements that begin at some element, and their scales.
typedef struct linear_run {
  size_t length;
  size_t index;  // of the first scale
  size_t step;   // 0: one scale for all
} linear_run;

static linear_run run_at(const linear_task* t, size_t at, size_t end) {
  linear_run run = {end - at, 0, 0};
  if (!t->is_single) {
    size_t j = at % t->inner;
    size_t position = at / t->inner % t->axis;
    size_t outer = at / t->inner / t->axis;
    size_t blocks = (t->axis + t->block - 1) / t->block;
    size_t row = (t->has_inner ? outer * blocks : 0) + position / t->block;
    size_t length = t->inner - j;
    if (t->inner == 1) {
      size_t in_block = t->block - position % t->block;
      length = in_block < t->axis - position ? in_block : t->axis - position;
    }
    run.index = t->has_inner ? row * t->inner + j : row;
    run.step = t->has_inner && t->inner > 1 ? 1 : 0;
    if (t->inner == 1 && t->block == 1) {
      length = t->axis - position;
      run.step = 1;
    }
    run.length = length < run.length ? length : run.length;
  }
  run.length = run.length < STOWI_KERNEL_BLOCK ? run.length : STOWI_KERNEL_BLOCK;
  return run;
}

// Scales and zeros of a run; one of each where there is one.
static void load_run(const linear_task* t, linear_run run, float* scales, float* zeros) {
  size_t count = run.step == 0 ? 1 : run.length;
  stowi_kernel_load_f32(t->scale->dtype, t->scale->data, run.index, count, scales);
  if (t->zero != NULL) {
    stowi_kernel_load_f32(t->zero->dtype, t->zero->data, run.index, count, zeros);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    zeros[i] = 0;
  }
}

STOWI_KERNEL_LOOP(divide, (float* x, const float* scales, size_t step, size_t count),
                  (x, scales, step, count)) {
  if (step == 0) {
    const float scale = scales[0];
    for (size_t i = 0; i < count; ++i) {
      x[i] = x[i] / scale;
    }
    return;
  }
  STOWI_KERNEL_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    x[i] = x[i] / scales[i];
  }
}

STOWI_KERNEL_LOOP(multiply,
                  (float* x, const float* scales, const float* zeros, size_t step, size_t count),
                  (x, scales, zeros, step, count)) {
  if (step == 0) {
    const float scale = scales[0];
    const float zero = zeros[0];
    for (size_t i = 0; i < count; ++i) {
      x[i] = (x[i] - zero) * scale;
    }
    return;
  }
  STOWI_KERNEL_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    x[i] = (x[i] - zeros[i]) * scales[i];
  }
}

// Bytes as f32, in one pass.
#define DEFINE_WIDEN(name, type)                                                                   \
  STOWI_KERNEL_LOOP(name,                                                                          \
                    (const type* restrict x, const float* scales, const float* zeros, size_t step, \
                     size_t count, float* restrict out),                                           \
                    (x, scales, zeros, step, count, out)) {                                        \
    if (step == 0) {                                                                               \
      const float scale = scales[0];                                                               \
      const float zero = zeros[0];                                                                 \
      for (size_t i = 0; i < count; ++i) {                                                         \
        out[i] = ((float)x[i] - zero) * scale;                                                     \
      }                                                                                            \
      return;                                                                                      \
    }                                                                                              \
    for (size_t i = 0; i < count; ++i) {                                                           \
      out[i] = ((float)x[i] - zeros[i]) * scales[i];                                               \
    }                                                                                              \
  }
DEFINE_WIDEN(widen_signed, int8_t)
DEFINE_WIDEN(widen_unsigned, uint8_t)

static void quantize_range(void* user, size_t begin, size_t end, uint32_t worker) {
  const linear_task* t = (const linear_task*)user;
  float x[STOWI_KERNEL_BLOCK];
  float scales[STOWI_KERNEL_BLOCK];
  float zeros[STOWI_KERNEL_BLOCK];
  uint16_t rounded[STOWI_KERNEL_BLOCK];
  (void)worker;
  for (size_t at = begin; at < end;) {
    linear_run run = run_at(t, at, end);
    load_run(t, run, scales, zeros);
    stowi_kernel_load_f32(t->x->dtype, t->x->data, at, run.length, x);
    divide(x, scales, run.step, run.length);
    if (t->precision != STOW_F32) {
      stowi_kernel_store_f32(t->precision, rounded, 0, run.length, x);
      stowi_kernel_load_f32(t->precision, rounded, 0, run.length, x);
    }
    stowi_kernel_quantize(t->out->dtype, t->out->data, at, run.length, x, zeros, run.step,
                          t->saturates);
    at += run.length;
  }
}

// i32 minus zero is exact in f64 and rounded once.
static void load_difference(const linear_task* t, size_t at, linear_run run, float* x,
                            float* zeros) {
  if (t->x->dtype != STOW_I32) {
    stowi_kernel_load_f32(t->x->dtype, t->x->data, at, run.length, x);
    return;
  }
  for (size_t i = 0; i < run.length; ++i) {
    double zero = t->zero == NULL ? 0 : stowi_kernel_float_at(t->zero, run.index + i * run.step);
    x[i] = (float)((double)((const int32_t*)t->x->data)[at + i] - zero);
    zeros[i * run.step] = 0;
  }
}

static void dequantize_range(void* user, size_t begin, size_t end, uint32_t worker) {
  const linear_task* t = (const linear_task*)user;
  float x[STOWI_KERNEL_BLOCK];
  float scales[STOWI_KERNEL_BLOCK];
  float zeros[STOWI_KERNEL_BLOCK];
  (void)worker;
  for (size_t at = begin; at < end;) {
    linear_run run = run_at(t, at, end);
    load_run(t, run, scales, zeros);
    if (t->out->dtype == STOW_F32 && t->x->dtype == STOW_I8) {
      widen_signed((const int8_t*)t->x->data + at, scales, zeros, run.step, run.length,
                   (float*)t->out->data + at);
    } else if (t->out->dtype == STOW_F32 && t->x->dtype == STOW_U8) {
      widen_unsigned((const uint8_t*)t->x->data + at, scales, zeros, run.step, run.length,
                     (float*)t->out->data + at);
    } else {
      load_difference(t, at, run, x, zeros);
      multiply(x, scales, zeros, run.step, run.length);
      stowi_kernel_store_f32(t->out->dtype, t->out->data, at, run.length, x);
    }
    at += run.length;
  }
}

// How scales map to x.
static linear_task task_of(const stow_kernel_call* call) {
  linear_task t = {.x = call->operands[0],
                   .scale = call->operands[1],
                   .zero = stow_kernel_operand(call, 2),
                   .out = call->results[0],
                   .inner = 1,
                   .axis = 1,
                   .saturates = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_SATURATE, true),
                   .precision = STOW_F32};
  int64_t block = stowi_kernel_int(call, STOWI_KERNEL_ATTR_BLOCK_SIZE, 0);
  int64_t axis = stowi_kernel_int(call, STOWI_KERNEL_ATTR_AXIS, 1);
  int64_t rank = (int64_t)t.x->rank;
  t.block = block <= 0 ? 1 : (size_t)block;
  t.has_inner = block > 0;
  t.is_single = stow_tensor_elements(t.scale) == 1;
  axis = rank <= 1 || t.is_single ? 0 : axis < 0 ? axis + rank : axis;  // one scale has no axis
  if (rank > 0) {
    t.axis = (size_t)t.x->dims[axis];
  }
  for (int64_t i = axis + 1; i < rank; ++i) {
    t.inner *= (size_t)t.x->dims[i];
  }
  return t;
}

static stow_status need_reals(const stow_kernel_call* call) {
  for (size_t k = 0; k < 2; ++k) {
    if (stowi_kernel_kind(call->operands[k]->dtype) == STOW_KIND_COMPLEX) {
      return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                              "operand %zu is %s, expected real numbers", k,
                              stowi_kernel_dtype_text(call->operands[k]->dtype));
    }
  }
  return STOW_OK;
}

static stow_status run_quantize(stow_kernel_call* call) {
  linear_task t = task_of(call);
  STOWI_KERNEL_TRY(need_reals(call));
  if (!stowi_kernel_is_quantized(t.out->dtype)) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "quantising to %s is unsupported",
                            stowi_kernel_dtype_text(t.out->dtype));
  }
  bool is_given = !stowi_kernel_is(call, STOWI_KERNEL_ATTR_PRECISION, "");
  bool is_f16 = is_given ? stowi_kernel_is(call, STOWI_KERNEL_ATTR_PRECISION, "f16")
                         : t.scale->dtype == STOW_F16;
  bool is_bf16 = is_given ? stowi_kernel_is(call, STOWI_KERNEL_ATTR_PRECISION, "bf16")
                          : t.scale->dtype == STOW_BF16;
  t.precision = is_f16 ? STOW_F16 : is_bf16 ? STOW_BF16 : STOW_F32;
  stowi_kernel_split_elements(call, stow_tensor_elements(t.out), 8, quantize_range, &t);
  return STOW_OK;
}

static stow_status run_dequantize(stow_kernel_call* call) {
  linear_task t = task_of(call);
  STOWI_KERNEL_TRY(need_reals(call));
  stowi_kernel_split_elements(call, stow_tensor_elements(t.out), 2, dequantize_range, &t);
  return STOW_OK;
}

STOWI_KERNEL(QUANTIZE_LINEAR, NULL, run_quantize);
STOWI_KERNEL(DEQUANTIZE_LINEAR, NULL, run_dequantize);

// ---------------------------------------------------------------------------------------------
// dynamic_quantize_linear: x as u8 with the smallest scale whose range holds x and 0. The range is
// found in one pass before anything is written; minimum and maximum do not depend on the order.
// Where the result is in place, its bytes lie where other workers still read wider elements: each
// segment is then quantised to where it begins itself, and moved when all are done.

#define LANES 64
#define MOST_WORKERS 256
#define SEGMENT 4096  // elements

typedef struct range {
  float low, high;
} range;

typedef struct dynamic_task {
  const stow_tensor* x;
  stow_tensor* out;
  size_t count;
  range* ranges;  // by worker
  stowi_kernel_scale scale;
} dynamic_task;

// Widens the ranges of all lanes to |count| numbers, a multiple of LANES. NaN counts as none.
STOWI_KERNEL_LOOP(widen_range, (const float* x, size_t count, float* low, float* high),
                  (x, count, low, high)) {
  float least[LANES];
  float most[LANES];
  for (size_t lane = 0; lane < LANES; ++lane) {
    least[lane] = low[lane];
    most[lane] = high[lane];
  }
  for (size_t i = 0; i < count; i += LANES) {
    for (size_t lane = 0; lane < LANES; ++lane) {
      least[lane] = x[i + lane] < least[lane] ? x[i + lane] : least[lane];
      most[lane] = x[i + lane] > most[lane] ? x[i + lane] : most[lane];
    }
  }
  for (size_t lane = 0; lane < LANES; ++lane) {
    low[lane] = least[lane];
    high[lane] = most[lane];
  }
}

static void find_range(void* user, size_t begin, size_t end, uint32_t worker) {
  const dynamic_task* t = (const dynamic_task*)user;
  float low[LANES] = {0};
  float high[LANES] = {0};
  float block[STOWI_KERNEL_BLOCK + LANES];
  if (t->x->dtype == STOW_F32) {
    size_t whole = (end - begin) / LANES * LANES;
    widen_range((const float*)t->x->data + begin, whole, low, high);
    begin += whole;
  }
  for (size_t i = begin; i < end; i += STOWI_KERNEL_BLOCK) {
    size_t n = end - i < STOWI_KERNEL_BLOCK ? end - i : STOWI_KERNEL_BLOCK;
    stowi_kernel_load_f32(t->x->dtype, t->x->data, i, n, block);
    for (; n % LANES != 0; ++n) {
      block[n] = 0;
    }
    widen_range(block, n, low, high);
  }
  range* r = &t->ranges[worker];
  for (size_t lane = 0; lane < LANES; ++lane) {
    r->low = low[lane] < r->low ? low[lane] : r->low;
    r->high = high[lane] > r->high ? high[lane] : r->high;
  }
}

// Of all elements and 0.
static range range_of(const stow_kernel_call* call, const dynamic_task* task) {
  range ranges[MOST_WORKERS] = {{0, 0}};
  dynamic_task t = *task;
  t.ranges = ranges;
  if (call->workers <= MOST_WORKERS) {
    stow_kernel_split(call, t.count, SEGMENT, find_range, &t);
  } else {
    find_range(&t, 0, t.count, 0);
  }
  for (size_t i = 1; i < MOST_WORKERS; ++i) {
    ranges[0].low = ranges[i].low < ranges[0].low ? ranges[i].low : ranges[0].low;
    ranges[0].high = ranges[i].high > ranges[0].high ? ranges[i].high : ranges[0].high;
  }
  return ranges[0];
}

static void quantize_run(const dynamic_task* t, size_t begin, size_t end, uint8_t* to) {
  float block[STOWI_KERNEL_BLOCK];
  if (t->x->dtype == STOW_F32 && t->x->data != t->out->data) {
    stowi_kernel_quantize_bytes(t->scale, (const float*)t->x->data + begin, end - begin, to);
    return;
  }
  for (size_t i = begin; i < end; i += STOWI_KERNEL_BLOCK) {
    size_t n = end - i < STOWI_KERNEL_BLOCK ? end - i : STOWI_KERNEL_BLOCK;
    stowi_kernel_load_f32(t->x->dtype, t->x->data, i, n, block);
    stowi_kernel_quantize_bytes(t->scale, block, n, to + i - begin);
  }
}

static void quantize_dynamic_range(void* user, size_t begin, size_t end, uint32_t worker) {
  const dynamic_task* t = (const dynamic_task*)user;
  (void)worker;
  quantize_run(t, begin, end, (uint8_t*)t->out->data + begin);
}

// The first byte of a segment's elements in x.
static size_t segment_at(const dynamic_task* t, size_t segment) {
  return segment * SEGMENT * (stowi_kernel_bits(t->x->dtype) / 8);
}

static void quantize_segments(void* user, size_t begin, size_t end, uint32_t worker) {
  const dynamic_task* t = (const dynamic_task*)user;
  (void)worker;
  for (size_t i = begin; i < end; ++i) {
    size_t first = i * SEGMENT;
    size_t last = t->count - first < SEGMENT ? t->count : first + SEGMENT;
    quantize_run(t, first, last, (uint8_t*)t->out->data + segment_at(t, i));
  }
}

static void quantize_in_place(const stow_kernel_call* call, dynamic_task* t) {
  size_t segments = (t->count + SEGMENT - 1) / SEGMENT;
  uint8_t* bytes = (uint8_t*)t->out->data;
  stow_kernel_split(call, segments, 1, quantize_segments, t);
  for (size_t i = 1; i < segments; ++i) {
    size_t first = i * SEGMENT;
    size_t n = t->count - first < SEGMENT ? t->count - first : SEGMENT;
    memmove(bytes + first, bytes + segment_at(t, i), n);
  }
}

// Where x is all 0 any scale will do: 1.
static stow_status run_dynamic(stow_kernel_call* call) {
  dynamic_task t = {.x = call->operands[0], .out = call->results[0], .scale = {1, 0}};
  if (stowi_kernel_kind(t.x->dtype) != STOW_KIND_FLOAT) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "operand 0 is %s, expected floats",
                            stowi_kernel_dtype_text(t.x->dtype));
  }
  t.count = stow_tensor_elements(t.x);
  range r = range_of(call, &t);
  if (r.high > r.low) {
    t.scale.scale = (r.high - r.low) / 255.0F;
  }
  float quotient = (0 - r.low) / t.scale.scale;
  float none = 0;
  uint8_t zero;
  stowi_kernel_quantize(STOW_U8, &zero, 0, 1, &quotient, &none, 0, true);
  t.scale.zero = (float)zero;
  if (call->workers > 1 && t.out->data == t.x->data) {
    quantize_in_place(call, &t);
  } else {
    stowi_kernel_split_elements(call, t.count, 8, quantize_dynamic_range, &t);
  }
  stowi_kernel_store_f32(call->results[1]->dtype, call->results[1]->data, 0, 1, &t.scale.scale);
  *(uint8_t*)call->results[2]->data = zero;
  return STOW_OK;
}

STOWI_KERNEL(DYNAMIC_QUANTIZE_LINEAR, NULL, run_dynamic);
