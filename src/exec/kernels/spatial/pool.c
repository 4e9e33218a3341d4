// pool: rows at a time where that is possible (pool_rows.c); here is the rest, window by window:
// f64, p-norms, channels that lie last, and maxima with their places. Computed in double, which
// holds every dtype that is pooled exactly.
#include "exec/kernels/spatial/pool.h"

#include <float.h>
#include <math.h>

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

#define MOST_TAPS_IN_ROWS (1 << 20)

static stow_status read_pool(const stow_kernel_call* call, stowi_pool* out) {
  *out = (stowi_pool){.call = call,
                      .x = stow_kernel_operand(call, 0),
                      .y = stow_kernel_result(call, 0),
                      .indices = stow_kernel_result(call, 1),
                      .op = stow_kernel_is(call, "op", "avg")  ? STOWI_POOL_AVG
                            : stow_kernel_is(call, "op", "lp") ? STOWI_POOL_LP
                                                               : STOWI_POOL_MAX,
                      .count_include_pad = stow_kernel_bool(call, "count_include_pad", false),
                      .is_global = stow_kernel_bool(call, "global", false),
                      .column_major = stow_kernel_bool(call, "column_major", false),
                      .p = stow_kernel_float(call, "p", 2)};
  return stowi_slide_read(call, out->x, out->y, NULL, &out->slide);
}

// ---------------------------------------------------------------------------------------------
// Window by window

// What an empty window gives: the least number of the dtype.
static double least_of(stow_dtype dtype) {
  switch (dtype) {
    case STOW_I8:
      return INT8_MIN;
    case STOW_U8:
      return 0;
    default:
      return -HUGE_VAL;
  }
}

// Element |at| of channel |plane| (batch × channels), in elements of x.
static size_t element_of(const stowi_pool* p, size_t plane, size_t at) {
  const stowi_slide* s = &p->slide;
  if (!s->channels_last) {
    return plane * s->in_count + at;
  }
  size_t channels = (size_t)s->channels;
  return (plane / channels * s->in_count + at) * channels + plane % channels;
}

// The place of element |at| of a channel as `column_major` counts.
static size_t place_of(const stowi_pool* p, size_t plane, size_t at) {
  const stowi_slide* s = &p->slide;
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

static double pool_max(const stowi_pool* p, size_t plane, stowi_visit* visit, int64_t* out_place) {
  double best = least_of(p->x->dtype);
  int64_t best_at = -1;
  for (int64_t at; (at = stowi_slide_next(&p->slide, visit)) >= 0;) {
    double x = stowi_float_at(p->x, element_of(p, plane, (size_t)at));
    if (x > best || best_at < 0) {
      best = x;
      best_at = at;
    }
  }
  *out_place = best_at < 0 ? 0 : (int64_t)place_of(p, plane, (size_t)best_at);
  return best;
}

static double pool_average(const stowi_pool* p, size_t plane, stowi_visit* visit) {
  double sum = 0;
  for (int64_t at; (at = stowi_slide_next(&p->slide, visit)) >= 0;) {
    sum += stowi_float_at(p->x, element_of(p, plane, (size_t)at));
  }
  size_t count = p->count_include_pad ? visit->padded : visit->count;
  return count == 0 ? 0 : sum / (double)count;
}

static double pool_norm(const stowi_pool* p, size_t plane, stowi_visit* visit) {
  double sum = 0;
  for (int64_t at; (at = stowi_slide_next(&p->slide, visit)) >= 0;) {
    double x = fabs(stowi_float_at(p->x, element_of(p, plane, (size_t)at)));
    sum += p->p == 2 ? x * x : p->p == 1 ? x : pow(x, p->p);
  }
  return p->p == 2 ? sqrt(sum) : p->p == 1 ? sum : pow(sum, 1 / p->p);
}

// Position |at| of channel |plane|: element |to| of the results.
static void pool_window(const stowi_pool* p, size_t plane, size_t at, size_t to) {
  stowi_visit visit;
  stowi_slide_visit(&p->slide, at, &visit);
  int64_t place = 0;
  double value = p->op == STOWI_POOL_MAX   ? pool_max(p, plane, &visit, &place)
                 : p->op == STOWI_POOL_AVG ? pool_average(p, plane, &visit)
                                           : pool_norm(p, plane, &visit);
  stowi_store_f64(p->y->dtype, p->y->data, to, 1, &value);
  if (p->indices != NULL) {
    ((int64_t*)p->indices->data)[to] = place;
  }
}

static void pool_task(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const stowi_pool* p = user;
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

static bool is_pooled(stow_dtype dtype, stowi_pool_op op) {
  switch (dtype) {
    case STOW_F32:
    case STOW_F16:
    case STOW_BF16:
    case STOW_F64:
      return true;
    case STOW_I8:
    case STOW_U8:
      return op == STOWI_POOL_MAX;
    default:
      return false;
  }
}

// Rows take every tap, padding or not; of windows beyond reason only what they read is looked at.
static bool goes_by_rows(const stowi_pool* p) {
  bool is_small = p->is_global || p->slide.taps <= MOST_TAPS_IN_ROWS;
  return p->x->dtype != STOW_F64 && p->op != STOWI_POOL_LP && p->indices == NULL &&
         !p->slide.channels_last && is_small;
}

static stow_status scratch_pool(const stow_kernel_call* call, uint64_t* out_bytes) {
  stowi_pool p;
  stow_status status = read_pool(call, &p);
  *out_bytes = status == STOW_OK && goes_by_rows(&p) ? stowi_pool_rows_scratch(&p) : 0;
  return status;
}

static stow_status run_pool(stow_kernel_call* call) {
  stowi_pool p;
  stow_status status = read_pool(call, &p);
  if (status != STOW_OK) {
    return status;
  }
  if (!is_pooled(p.x->dtype, p.op)) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "a pool is of f32, f16, bf16 or f64; that of the largest also of i8 "
                            "and u8");
  }
  if (stow_tensor_elements(p.y) == 0) {
    return STOW_OK;
  }
  if (goes_by_rows(&p)) {
    stowi_pool_rows(&p);
  } else {
    stow_kernel_split(call, stow_tensor_elements(p.y), 16384 / (p.slide.taps * 8 + 1) + 1,
                      pool_task, &p);
  }
  return STOW_OK;
}

STOWI_KERNEL(POOL, scratch_pool, run_pool);
