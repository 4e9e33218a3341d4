// Pools of floats and bytes, and max_unpool.
#include <math.h>
#include <string.h>

#include "exec/kernels/spatial/patch.h"
#include "exec/kernels/spatial/window.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/size.h"
#include "exec/kernels/support/vector.h"

typedef enum pool_op { POOL_MAX, POOL_AVG, POOL_LP } pool_op;

enum { RANGES = 8 };

typedef struct pooling {
  const stow_kernel_call* call;
  const stow_tensor* x;
  stow_tensor* y;
  stow_tensor* indices;  // NULL: not requested
  stowi_kernel_slide slide;
  pool_op op;
  bool count_include_pad;
  bool is_global;
  bool column_major;
  double p;
  int64_t lo[RANGES];  // where the first taps along the last dim read no padding: divisions
  int64_t hi[RANGES];
  int64_t inner_lo;  // where all of them read none
  int64_t inner_hi;
} pooling;

// ---------------------------------------------------------------------------------------------
// Rows: a row of the result is reduced tap by tap, each tap over the positions where it reads no
// padding, so that loops run along rows and are vectorised. Dtypes other than f32 are converted to
// f32 a plane at a time, which is exact. A global pool reduces a plane at once.
//
// Bits: averages are summed tap by tap in ascending order; those of a whole plane in 16 lanes, lane
// i over elements i, i + 16, …, which are added as a tree.

#define SUM_LANES 16

static uint64_t plane_size(const pooling* p) {
  return stowi_kernel_align64((uint64_t)p->slide.in_count * sizeof(float));
}

static uint64_t worker_size(const pooling* p) {
  return plane_size(p) + stowi_kernel_align64((uint64_t)p->slide.out_width * sizeof(float));
}

// In little room: some positions of a row of y, and what a tap reads for them.
typedef struct piece {
  float to[32];
  float x[32];
} piece;

static bool is_lean(const pooling* p) {
  return stowi_kernel_is_lean(p->call, worker_size(p), sizeof(piece));
}

// Bytes are compared where they are.
static bool reads_bytes(const pooling* p) {
  return (p->x->dtype == STOW_I8 || p->x->dtype == STOW_U8) && !p->is_global;
}

// The largest or the average of f32, f16, bf16, i8 and u8, [N, C, spatial…], without indices: whole
// rows of the result at a time. Scratch: a plane of x and a row of y as f32 for each worker, but
// none for f32 and bytes.
static uint64_t pool_rows_scratch(const pooling* p) {
  uint64_t each = is_lean(p) ? sizeof(piece) : worker_size(p);
  return p->x->dtype == STOW_F32 || reads_bytes(p) ? 0 : each * p->call->workers;
}

// ---------------------------------------------------------------------------------------------
// Rows

// |taps| neighbours of each position; all but pointers and |count| are constants once this is
// inlined.
STOWI_KERNEL_INLINE void take_taps(bool is_max, size_t taps, size_t stride, float* to,
                                   const float* x, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    float all = to[i];
    for (size_t t = 0; t < taps; ++t) {
      float element = x[i * stride + t];
      all = !is_max ? all + element : element > all ? element : all;
    }
    to[i] = all;
  }
}

STOWI_KERNEL_INLINE void take_op(bool is_max, size_t taps, size_t stride, float* to, const float* x,
                                 size_t count) {
  switch (taps * 4 + (stride < 3 ? stride : 3)) {
    case 4 + 1: take_taps(is_max, 1, 1, to, x, count); break;
    case 4 + 2: take_taps(is_max, 1, 2, to, x, count); break;
    case 8 + 1: take_taps(is_max, 2, 1, to, x, count); break;
    case 8 + 2: take_taps(is_max, 2, 2, to, x, count); break;
    case 12 + 1: take_taps(is_max, 3, 1, to, x, count); break;
    case 12 + 2: take_taps(is_max, 3, 2, to, x, count); break;
    default: take_taps(is_max, taps, stride, to, x, count); break;
  }
}

STOWI_KERNEL_INLINE void take(pool_op op, size_t taps, size_t stride, float* to, const float* x,
                              size_t count) {
  if (op == POOL_MAX) {
    take_op(true, taps, stride, to, x, count);
  } else {
    take_op(false, taps, stride, to, x, count);
  }
}

// Positions [lo, hi) of tap |k| and the |taps| - 1 after it; |x| is the row.
STOWI_KERNEL_INLINE void take_range(const pooling* p, int64_t k, size_t taps, int64_t lo,
                                    int64_t hi, const float* x, float* to) {
  const stowi_kernel_slide* s = &p->slide;
  uint32_t last = s->rank - 1;
  if (lo < hi) {
    int64_t at = lo * s->strides[last] + k * s->dilations[last] - s->begins[last];
    take(p->op, taps, (size_t)s->strides[last], to + lo, x + at, (size_t)(hi - lo));
  }
}

// Taps of a row: up to three neighbours at once where all of them read no padding.
STOWI_KERNEL_INLINE void reduce_row(const pooling* p, const float* x, float* to) {
  const stowi_kernel_slide* s = &p->slide;
  uint32_t last = s->rank - 1;
  for (int64_t k = 0; k < s->kernel_width;) {
    if (k + 3 > RANGES || s->dilations[last] != 1) {
      int64_t lo;
      int64_t hi;
      stowi_kernel_slide_range(s, last, k, &lo, &hi);
      take_range(p, k++, 1, lo, hi, x, to);
      continue;
    }
    int64_t taps = stowi_kernel_min_i64(3, s->kernel_width - k);
    int64_t lo = p->lo[k];
    int64_t hi = stowi_kernel_max_i64(lo, p->hi[k + taps - 1]);
    for (int64_t t = k; t < k + taps; ++t) {
      take_range(p, t, 1, p->lo[t], stowi_kernel_min_i64(lo, p->hi[t]), x, to);
    }
    take_range(p, k, (size_t)taps, lo, hi, x, to);
    for (int64_t t = k; t < k + taps; ++t) {
      take_range(p, t, 1, stowi_kernel_max_i64(hi, p->lo[t]), p->hi[t], x, to);
    }
    k += taps;
  }
}

static float count_at(const pooling* p, size_t position) {
  stowi_kernel_visit visit;
  stowi_kernel_slide_visit(&p->slide, position, &visit);
  return (float)(p->count_include_pad ? visit.padded : visit.count);
}

// Sums become averages: the same count in the interior, others near the borders. |taps| of those
// that are not along the last dim read no padding.
static inline void divide_row(const pooling* p, size_t row, size_t taps, float* to) {
  const stowi_kernel_slide* s = &p->slide;
  size_t first = row * (size_t)s->out_width;
  float inside = p->inner_lo == p->inner_hi ? 0
                 : taps == s->outer_taps    ? (float)s->taps
                 : p->count_include_pad     ? count_at(p, first + (size_t)p->inner_lo)
                                            : (float)(taps * (size_t)s->kernel_width);
  for (int64_t i = 0; i < p->inner_lo; ++i) {
    float count = count_at(p, first + (size_t)i);
    to[i] = count == 0 ? 0 : to[i] / count;
  }
  for (int64_t i = p->inner_lo; i < p->inner_hi && inside != 0; ++i) {
    to[i] /= inside;
  }
  for (int64_t i = p->inner_hi; i < s->out_width; ++i) {
    float count = count_at(p, first + (size_t)i);
    to[i] = count == 0 ? 0 : to[i] / count;
  }
}

static float least_f32(stow_dtype dtype) {
  return dtype == STOW_I8 ? INT8_MIN : dtype == STOW_U8 ? 0 : -HUGE_VALF;
}

STOWI_KERNEL_LOOP(pool_row, (const pooling* p, const float* x, size_t row, float* to),
                  (p, x, row, to)) {
  const stowi_kernel_slide* s = &p->slide;
  float begin = p->op == POOL_MAX ? least_f32(p->x->dtype) : 0;
  for (int64_t i = 0; i < s->out_width; ++i) {
    to[i] = begin;
  }
  size_t taps = 0;
  for (size_t tap = 0; tap < s->outer_taps; ++tap) {
    int64_t at = stowi_kernel_slide_row(s, row, tap);
    if (at >= 0) {
      reduce_row(p, x + at, to);
      ++taps;
    }
  }
  if (p->op == POOL_AVG) {
    divide_row(p, row, taps, to);
  }
}

// ---------------------------------------------------------------------------------------------
// Planes

static float max_of(float best, const float* x, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    best = x[i] > best ? x[i] : best;
  }
  return best;
}

// |count| is a multiple of SUM_LANES, but for the last elements of a plane.
static void add_to_lanes(float* lanes, const float* x, size_t count) {
  size_t i = 0;
  for (; i + SUM_LANES <= count; i += SUM_LANES) {
    for (size_t k = 0; k < SUM_LANES; ++k) {
      lanes[k] += x[i + k];
    }
  }
  for (size_t k = 0; i + k < count; ++k) {
    lanes[k] += x[i + k];
  }
}

static float sum_of_lanes(float* lanes) {
  for (size_t half = SUM_LANES / 2; half != 0; half /= 2) {
    for (size_t k = 0; k < half; ++k) {
      lanes[k] += lanes[k + half];
    }
  }
  return lanes[0];
}

static float plane_sum(const pooling* p, const float* x) {
  float lanes[SUM_LANES] = {0};
  add_to_lanes(lanes, x, p->slide.in_count);
  return sum_of_lanes(lanes);
}

static void pool_plane(const pooling* p, size_t plane, const float* x, float* row_buffer) {
  const stowi_kernel_slide* s = &p->slide;
  size_t width = (size_t)s->out_width;
  for (size_t row = 0; row < s->out_rows; ++row) {
    size_t first = plane * s->out_count + row * width;
    float* to = row_buffer != NULL ? row_buffer : (float*)p->y->data + first;
    if (!p->is_global) {
      pool_row(p, x, row, to);
    } else {
      to[0] = p->op == POOL_MAX ? max_of(least_f32(p->x->dtype), x, s->in_count)
                                : plane_sum(p, x) / (float)s->in_count;
    }
    if (row_buffer != NULL) {
      stowi_kernel_store_f32(p->y->dtype, p->y->data, first, width, to);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Patches, for maxima with strides of 1: rows with their padding, -infinity, so that no tap is
// apart, and results that stay in registers for all taps, which have the same order.

#if defined(STOWI_KERNEL_X86)
#include <immintrin.h>

#define NAME(name) avx2_##name
#define TARGET STOWI_KERNEL_AVX2
#define LANES 8
#define TAKE(x, w, most) (avx2_vector) _mm256_max_ps((__m256)(x), (__m256)(most))
#include "exec/kernels/spatial/patch_body.h"

#define NAME(name) avx512_##name
#define TARGET STOWI_KERNEL_AVX512
#define LANES 16
#define TAKE(x, w, most) (avx512_vector) _mm512_max_ps((__m512)(x), (__m512)(most))
#include "exec/kernels/spatial/patch_body.h"

static void pool_patch(const pooling* p, const stowi_kernel_patch* patch, const float* elements,
                       size_t rows, float* to) {
  const bool is_wide = stowi_kernel_machine_is() >= STOWI_KERNEL_MACHINE_AVX512;
  const float weights[STOWI_KERNEL_PATCH_TAPS] = {0};  // unused
  size_t width = (size_t)p->slide.out_width;
  for (size_t at = 0; at < width;) {
    bool takes_16 = is_wide && width - at > 8;
    size_t columns = stowi_kernel_smaller(width - at, takes_16 ? 16 : 8);
    (takes_16 ? avx512_columns : avx2_columns)(patch, p->slide.taps, weights, -HUGE_VALF,
                                               elements + at, rows, columns, to + at, width);
    at += columns;
  }
}

static void pool_by_patches(const pooling* p, const stowi_kernel_patch* patch, size_t begin,
                            size_t end) {
  const stowi_kernel_slide* s = &p->slide;
  float elements[STOWI_KERNEL_PATCH];
  size_t width = (size_t)s->out_width;
  for (size_t plane = begin; plane < end; ++plane) {
    const float* x = (const float*)p->x->data + plane * s->in_count;
    float* to = (float*)p->y->data + plane * s->out_count;
    for (size_t row = 0; row < s->out_rows; row += patch->rows) {
      size_t rows = stowi_kernel_smaller(patch->rows, s->out_rows - row);
      for (size_t i = 0; i < STOWI_KERNEL_PATCH; ++i) {
        elements[i] = -HUGE_VALF;
      }
      stowi_kernel_patch_fill(s, patch, x, row, elements);
      pool_patch(p, patch, elements, rows, to + row * width);
    }
  }
}

static bool has_patches(const pooling* p, stowi_kernel_patch* out) {
  return p->x->dtype == STOW_F32 && p->op == POOL_MAX && !p->is_global &&
         p->slide.strides[0] == 1 && p->slide.strides[p->slide.rank - 1] == 1 &&
         stowi_kernel_machine_is() >= STOWI_KERNEL_MACHINE_AVX2 &&
         stowi_kernel_patch_plan(&p->slide, out);
}
#else
static void pool_by_patches(const pooling* p, const stowi_kernel_patch* patch, size_t begin,
                            size_t end) {
  (void)p;
  (void)patch;
  (void)begin;
  (void)end;
}

static bool has_patches(const pooling* p, stowi_kernel_patch* out) {
  (void)p;
  (void)out;
  return false;
}
#endif

// ---------------------------------------------------------------------------------------------
// The same in little room, with the same order of sums.

// A whole plane, whose first element is |first|.
static float pool_whole(const pooling* p, size_t first, piece* r) {
  size_t count = p->slide.in_count;
  size_t most = sizeof(r->x) / sizeof(float);
  float lanes[SUM_LANES] = {0};
  float best = least_f32(p->x->dtype);
  for (size_t i = 0; i < count; i += most) {
    size_t size = stowi_kernel_smaller(count - i, most);
    stowi_kernel_load_f32(p->x->dtype, p->x->data, first + i, size, r->x);
    if (p->op == POOL_MAX) {
      best = max_of(best, r->x, size);
    } else {
      add_to_lanes(lanes, r->x, size);
    }
  }
  return p->op == POOL_MAX ? best : sum_of_lanes(lanes) / (float)count;
}

// Positions of one row of y from |position| on, |count| at most, to r->to; returns how many.
static size_t pool_piece(const pooling* p, size_t x_first, size_t position, size_t count,
                         piece* r) {
  float begin = p->op == POOL_MAX ? least_f32(p->x->dtype) : 0;
  size_t width = (size_t)p->slide.out_width;
  size_t done = stowi_kernel_smaller(count, width - position % width);
  for (size_t i = 0; i < done; ++i) {
    r->to[i] = begin;
  }
  for (size_t tap = 0; tap < p->slide.taps; ++tap) {
    stowi_kernel_tap_run run = stowi_kernel_slide_run(&p->slide, tap, position, done);
    stowi_kernel_tap_run_load(&run, p->x, x_first, 1, 0, r->x, 0);
    take(p->op, 1, 1, r->to + run.before, r->x + run.before, run.inside);
  }
  for (size_t i = 0; p->op == POOL_AVG && i < done; ++i) {
    float taps = count_at(p, position + i);
    r->to[i] = taps == 0 ? 0 : r->to[i] / taps;
  }
  return done;
}

static void pool_plane_lean(const pooling* p, size_t plane, piece* r) {
  size_t x_first = plane * p->slide.in_count;
  size_t y_first = plane * p->slide.out_count;
  for (size_t at = 0; at < p->slide.out_count;) {
    size_t done = 1;
    if (p->is_global) {
      r->to[0] = pool_whole(p, x_first, r);
    } else {
      size_t most = sizeof(r->x) / sizeof(float);
      done = pool_piece(p, x_first, at, stowi_kernel_smaller(p->slide.out_count - at, most), r);
    }
    stowi_kernel_store_f32(p->y->dtype, p->y->data, y_first + at, done, r->to);
    at += done;
  }
}

static void pool_lean_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const pooling* p = user;
  piece* r = (piece*)p->call->scratch + worker;
  for (size_t plane = begin; plane < end; ++plane) {
    pool_plane_lean(p, plane, r);
  }
}

static void pool_rows_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const pooling* p = user;
  size_t count = p->slide.in_count;
  stowi_kernel_patch patch;
  if (has_patches(p, &patch)) {
    pool_by_patches(p, &patch, begin, end);
    return;
  }
  if (p->x->dtype == STOW_F32) {
    for (size_t plane = begin; plane < end; ++plane) {
      pool_plane(p, plane, (const float*)p->x->data + plane * count, NULL);
    }
    return;
  }
  unsigned char* mine = (unsigned char*)p->call->scratch + worker * worker_size(p);
  float* x = (float*)(void*)mine;
  for (size_t plane = begin; plane < end; ++plane) {
    stowi_kernel_load_f32(p->x->dtype, p->x->data, plane * count, count, x);
    pool_plane(p, plane, x, (float*)(void*)(mine + plane_size(p)));
  }
}

#define TAKE_LARGEST(type)                       \
  do {                                           \
    const type* from = (const type*)x;           \
    type* best = (type*)to;                      \
    for (size_t i = 0; i < count; ++i) {         \
      type here = from[i * stride];              \
      best[i] = here > best[i] ? here : best[i]; \
    }                                            \
  } while (0)

static void take_largest(bool is_signed, uint8_t* restrict to, const uint8_t* x, size_t stride,
                         size_t count) {
  if (is_signed) {
    TAKE_LARGEST(int8_t);
  } else {
    TAKE_LARGEST(uint8_t);
  }
}

static void pool_row_of_bytes(const pooling* p, const uint8_t* x, size_t row, uint8_t* to) {
  const stowi_kernel_slide* s = &p->slide;
  uint32_t last = s->rank - 1;
  bool is_signed = p->x->dtype == STOW_I8;
  memset(to, is_signed ? INT8_MIN : 0, (size_t)s->out_width);
  for (int64_t k = 0; k < s->kernel_width; ++k) {
    int64_t lo;
    int64_t hi;
    stowi_kernel_slide_range(s, last, k, &lo, &hi);
    for (size_t tap = 0; tap < s->outer_taps && lo < hi; ++tap) {
      int64_t at = stowi_kernel_slide_row(s, row, tap);
      if (at >= 0) {
        at += lo * s->strides[last] + k * s->dilations[last] - s->begins[last];
        take_largest(is_signed, to + lo, x + at, (size_t)s->strides[last], (size_t)(hi - lo));
      }
    }
  }
}

static void pool_bytes_task(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const pooling* p = user;
  const stowi_kernel_slide* s = &p->slide;
  for (size_t plane = begin; plane < end; ++plane) {
    const uint8_t* x = (const uint8_t*)p->x->data + plane * s->in_count;
    uint8_t* y = (uint8_t*)p->y->data + plane * s->out_count;
    for (size_t row = 0; row < s->out_rows; ++row) {
      pool_row_of_bytes(p, x, row, y + row * (size_t)s->out_width);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// The kernel: rows at a time if possible, otherwise window by window: f64, p-norms, channels last,
// and maxima with indices. Computed in double, which is exact for every dtype that is pooled.

#define MOST_TAPS_IN_ROWS (1 << 20)

static stow_status read_pool(const stow_kernel_call* call, pooling* out) {
  *out = (pooling){
      .call = call,
      .x = stow_kernel_operand(call, 0),
      .y = stow_kernel_result(call, 0),
      .indices = stow_kernel_result(call, 1),
      .op = stowi_kernel_is(call, STOWI_KERNEL_ATTR_OP, "avg")  ? POOL_AVG
            : stowi_kernel_is(call, STOWI_KERNEL_ATTR_OP, "lp") ? POOL_LP
                                                                : POOL_MAX,
      .count_include_pad = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_COUNT_INCLUDE_PAD, false),
      .is_global = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_GLOBAL, false),
      .column_major = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_COLUMN_MAJOR, false),
      .p = stowi_kernel_float(call, STOWI_KERNEL_ATTR_P, 2)};
  STOWI_KERNEL_TRY(stowi_kernel_slide_read(call, out->x, out->y, NULL, &out->slide));
  for (int64_t k = 0; k < stowi_kernel_min_i64(RANGES, out->slide.kernel_width); ++k) {
    stowi_kernel_slide_range(&out->slide, out->slide.rank - 1, k, &out->lo[k], &out->hi[k]);
  }
  stowi_kernel_slide_interior(&out->slide, &out->inner_lo, &out->inner_hi);
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Window by window

// What an empty window gives: the least number of the dtype.
static double least_of(stow_dtype dtype) {
  switch (dtype) {
    case STOW_I8: return INT8_MIN;
    case STOW_U8: return 0;
    default: return -HUGE_VAL;
  }
}

// Element |at| of channel |plane| (batch × channels), in elements of x.
static size_t element_of(const pooling* p, size_t plane, size_t at) {
  const stowi_kernel_slide* s = &p->slide;
  if (!s->channels_last) {
    return plane * s->in_count + at;
  }
  size_t channels = (size_t)s->channels;
  return (plane / channels * s->in_count + at) * channels + plane % channels;
}

// The place of element |at| of a channel as `column_major` counts.
static size_t place_of(const pooling* p, size_t plane, size_t at) {
  const stowi_kernel_slide* s = &p->slide;
  if (!p->column_major) {
    return plane * s->in_count + at;
  }
  size_t place = 0;
  for (uint32_t i = s->rank; i-- > 0;) {
    size_t outer = 1;
    for (uint32_t k = 0; k < i; ++k) {
      outer *= (size_t)s->in[k];
    }
    place += at % (size_t)s->in[i] * outer;
    at /= (size_t)s->in[i];
  }
  return plane * s->in_count + place;
}

static double pool_max(const pooling* p, size_t plane, stowi_kernel_visit* visit,
                       int64_t* out_place) {
  double best = least_of(p->x->dtype);
  int64_t best_at = -1;
  for (int64_t at; (at = stowi_kernel_slide_next(&p->slide, visit)) >= 0;) {
    double x = stowi_kernel_float_at(p->x, element_of(p, plane, (size_t)at));
    if (x > best || best_at < 0) {
      best = x;
      best_at = at;
    }
  }
  *out_place = best_at < 0 ? 0 : (int64_t)place_of(p, plane, (size_t)best_at);
  return best;
}

static double pool_average(const pooling* p, size_t plane, stowi_kernel_visit* visit) {
  double sum = 0;
  for (int64_t at; (at = stowi_kernel_slide_next(&p->slide, visit)) >= 0;) {
    sum += stowi_kernel_float_at(p->x, element_of(p, plane, (size_t)at));
  }
  size_t count = p->count_include_pad ? visit->padded : visit->count;
  return count == 0 ? 0 : sum / (double)count;
}

static double pool_norm(const pooling* p, size_t plane, stowi_kernel_visit* visit) {
  double sum = 0;
  for (int64_t at; (at = stowi_kernel_slide_next(&p->slide, visit)) >= 0;) {
    double x = fabs(stowi_kernel_float_at(p->x, element_of(p, plane, (size_t)at)));
    sum += p->p == 2 ? x * x : p->p == 1 ? x : pow(x, p->p);
  }
  return p->p == 2 ? sqrt(sum) : p->p == 1 ? sum : pow(sum, 1 / p->p);
}

// Position |at| of channel |plane|: element |to| of the results.
static void pool_window(const pooling* p, size_t plane, size_t at, size_t to) {
  stowi_kernel_visit visit;
  stowi_kernel_slide_visit(&p->slide, at, &visit);
  int64_t place = 0;
  double value = p->op == POOL_MAX   ? pool_max(p, plane, &visit, &place)
                 : p->op == POOL_AVG ? pool_average(p, plane, &visit)
                                     : pool_norm(p, plane, &visit);
  stowi_kernel_store_f64(p->y->dtype, p->y->data, to, 1, &value);
  if (p->indices != NULL) {
    ((int64_t*)p->indices->data)[to] = place;
  }
}

static void pool_task(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const pooling* p = user;
  size_t channels = (size_t)p->slide.channels;
  size_t count = p->slide.out_count;
  for (size_t i = begin; i < end; ++i) {
    if (p->slide.channels_last) {
      size_t pixel = i / channels;
      pool_window(p, pixel / count * channels + i % channels, pixel % count, i);
    } else {
      pool_window(p, i / count, i % count, i);
    }
  }
}

// ---------------------------------------------------------------------------------------------

static bool is_pooled(stow_dtype dtype, pool_op op) {
  switch (dtype) {
    case STOW_F32:
    case STOW_F16:
    case STOW_BF16:
    case STOW_F64: return true;
    case STOW_I8:
    case STOW_U8: return op == POOL_MAX;
    default: return false;
  }
}

// Rows take every tap, padding or not; of windows beyond reason only what they read is looked at.
static bool goes_by_rows(const pooling* p) {
  bool is_small = p->is_global || p->slide.taps <= MOST_TAPS_IN_ROWS;
  return p->x->dtype != STOW_F64 && p->op != POOL_LP && p->indices == NULL &&
         !p->slide.channels_last && is_small;
}

static stow_status scratch_pool(const stow_kernel_call* call, uint64_t* out_bytes) {
  pooling p;
  stow_status status = read_pool(call, &p);
  *out_bytes = status == STOW_OK && goes_by_rows(&p) ? pool_rows_scratch(&p) : 0;
  return status;
}

static stow_status run_pool(stow_kernel_call* call) {
  pooling p;
  STOWI_KERNEL_TRY(read_pool(call, &p));
  if (!is_pooled(p.x->dtype, p.op)) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "x must be f32, f16, bf16 or f64, or i8 or u8 for a max pool");
  }
  if (stow_tensor_elements(p.y) == 0) {
    return STOW_OK;
  }
  if (goes_by_rows(&p)) {
    const stowi_kernel_slide* s = &p.slide;
    size_t cost = p.is_global ? s->in_count : s->out_count * s->taps;
    bool lean = p.x->dtype != STOW_F32 && is_lean(&p);
    stow_kernel_split(p.call, (size_t)(s->batch * s->channels), 16384 / (cost + 1) + 1,
                      reads_bytes(&p) ? pool_bytes_task
                      : lean          ? pool_lean_task
                                      : pool_rows_task,
                      &p);
  } else {
    stow_kernel_split(call, stow_tensor_elements(p.y), 16384 / (p.slide.taps * 8 + 1) + 1,
                      pool_task, &p);
  }
  return STOW_OK;
}

STOWI_KERNEL(POOL, scratch_pool, run_pool, .variant_count = 2);

// ---------------------------------------------------------------------------------------------
// max_unpool: elements return to the positions they came from, zeros elsewhere. Indices count
// elements of the tensor that a pool with this kernel had; if larger dims are requested, that
// tensor is the first part of the result. If two elements have the same index, the later one wins.

// What the pool had along spatial dim |i|.
static stow_status pooled_dim(const stow_kernel_call* call, const stow_tensor* x, uint32_t i,
                              int64_t* out) {
  stowi_kernel_slide s = {.rank = x->rank - 2};
  s.out[i] = x->dims[2 + i];
  s.kernel[i] = stowi_kernel_list_at(call, STOWI_KERNEL_ATTR_KERNEL, i, 1);
  s.strides[i] = stowi_kernel_list_at(call, STOWI_KERNEL_ATTR_STRIDES, i, 1);
  s.begins[i] = stowi_kernel_list_at(call, STOWI_KERNEL_ATTR_PADS, i, 0);
  s.ends[i] = stowi_kernel_list_at(call, STOWI_KERNEL_ATTR_PADS, s.rank + i, 0);
  s.dilations[i] = 1;
  stow_status status = stowi_kernel_slide_bound(call, &s, i);
  *out =
      status == STOW_OK ? (s.out[i] - 1) * s.strides[i] + s.kernel[i] - s.begins[i] - s.ends[i] : 0;
  return status;
}

// The dims that the pool had, [N, C, spatial…]; their product, or 0 where it makes no sense.
static stow_status pooled_dims(const stow_kernel_call* call, const stow_tensor* x, int64_t* dims,
                               uint64_t* out_count) {
  *out_count = 1;
  for (uint32_t i = 0; i < x->rank; ++i) {
    dims[i] = x->dims[i];
    STOWI_KERNEL_TRY(i < 2 ? STOW_OK : pooled_dim(call, x, i - 2, &dims[i]));
    *out_count = dims[i] <= 0 ? 0 : *out_count * (uint64_t)dims[i];
  }
  return STOW_OK;
}

// Where element |place| of a tensor with |dims| is in y; false where y does not reach so far.
static bool find_place(const stow_tensor* y, const int64_t* dims, size_t place, size_t* out) {
  size_t stride = 1;
  *out = 0;
  for (uint32_t i = y->rank; i-- > 0;) {
    size_t at = place % (size_t)dims[i];
    if (at >= (size_t)y->dims[i]) {
      return false;
    }
    *out += at * stride;
    stride *= (size_t)y->dims[i];
    place /= (size_t)dims[i];
  }
  return true;
}

static stow_status run_max_unpool(stow_kernel_call* call) {
  const stow_tensor* x = stow_kernel_operand(call, 0);
  const stow_tensor* indices = stow_kernel_operand(call, 1);
  stow_tensor* y = stow_kernel_result(call, 0);
  int64_t dims[STOW_MAX_RANK];
  uint64_t places;
  STOWI_KERNEL_TRY(pooled_dims(call, x, dims, &places));
  size_t size = stowi_kernel_bits(x->dtype) / 8;
  if (size == 0) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "elements of less than a byte are unsupported");
  }
  if (stow_tensor_bytes(y) != 0) {
    memset(y->data, 0, stow_tensor_bytes(y));
  }
  for (size_t i = 0; i < stow_tensor_elements(x); ++i) {
    int64_t place = stowi_kernel_int_at(indices, i);
    size_t to;
    if (place < 0 || (uint64_t)place >= places || !find_place(y, dims, (size_t)place, &to)) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "index %zu is %lld, which is out of range", i, (long long)place);
    }
    memcpy((unsigned char*)y->data + to * size, (const unsigned char*)x->data + i * size, size);
  }
  return STOW_OK;
}

STOWI_KERNEL(MAX_UNPOOL, NULL, run_max_unpool);
