// Pools of whole rows: a row of the result is reduced tap by tap, each tap over the positions where
// it reads no padding, so that loops run along rows and become vectors. Other dtypes than f32
// become f32 a plane at a time, which holds them exactly. A global pool reduces a plane at once.
//
// Bits: averages are summed tap by tap in ascending order; those of a whole plane in 16 lanes, lane
// i over elements i, i + 16, …, which are added as a tree.
#include <math.h>

#include "exec/kernels/spatial/pool.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/size.h"

#define LANES 16

static uint64_t plane_size(const stowi_pool* p) {
  return stowi_align64((uint64_t)p->slide.in_count * sizeof(float));
}

static uint64_t worker_size(const stowi_pool* p) {
  return plane_size(p) + stowi_align64((uint64_t)p->slide.out_width * sizeof(float));
}

uint64_t stowi_pool_rows_scratch(const stowi_pool* p) {
  return p->x->dtype == STOW_F32 ? 0 : worker_size(p) * p->call->workers;
}

// ---------------------------------------------------------------------------------------------
// Rows

static inline void take_max(float* to, const float* x, size_t stride, size_t count) {
  if (stride == 1) {
    for (size_t i = 0; i < count; ++i) {
      to[i] = x[i] > to[i] ? x[i] : to[i];
    }
  } else if (stride == 2) {
    for (size_t i = 0; i < count; ++i) {
      to[i] = x[2 * i] > to[i] ? x[2 * i] : to[i];
    }
  } else {
    for (size_t i = 0; i < count; ++i) {
      to[i] = x[i * stride] > to[i] ? x[i * stride] : to[i];
    }
  }
}

static inline void take_sum(float* to, const float* x, size_t stride, size_t count) {
  if (stride == 1) {
    for (size_t i = 0; i < count; ++i) {
      to[i] += x[i];
    }
  } else {
    for (size_t i = 0; i < count; ++i) {
      to[i] += x[i * stride];
    }
  }
}

static void reduce_row(const stowi_pool* p, const float* x, float* to) {
  const stowi_slide* s = &p->slide;
  uint32_t last = s->rank - 1;
  for (int64_t k = 0; k < s->kernel_width; ++k) {
    int64_t lo;
    int64_t hi;
    stowi_slide_range(s, last, k, &lo, &hi);
    if (lo >= hi) {
      continue;
    }
    int64_t at = lo * s->strides[last] + k * s->dilations[last] - s->begins[last];
    if (p->op == STOWI_POOL_MAX) {
      take_max(to + lo, x + at, (size_t)s->strides[last], (size_t)(hi - lo));
    } else {
      take_sum(to + lo, x + at, (size_t)s->strides[last], (size_t)(hi - lo));
    }
  }
}

static float count_at(const stowi_pool* p, size_t position) {
  stowi_visit visit;
  stowi_slide_visit(&p->slide, position, &visit);
  return (float)(p->count_include_pad ? visit.padded : visit.count);
}

// Sums become averages: the same count in the interior, others near the borders.
static void divide_row(const stowi_pool* p, size_t row, float* to) {
  int64_t lo;
  int64_t hi;
  stowi_slide_interior(&p->slide, &lo, &hi);
  size_t first = row * (size_t)p->slide.out_width;
  float inside = lo < hi ? count_at(p, first + (size_t)lo) : 0;
  for (int64_t i = 0; i < p->slide.out_width; ++i) {
    float count = i >= lo && i < hi ? inside : count_at(p, first + (size_t)i);
    to[i] = count == 0 ? 0 : to[i] / count;
  }
}

static float least_of(stow_dtype dtype) {
  return dtype == STOW_I8 ? INT8_MIN : dtype == STOW_U8 ? 0 : -HUGE_VALF;
}

static void pool_row(const stowi_pool* p, const float* x, size_t row, float* to) {
  const stowi_slide* s = &p->slide;
  float begin = p->op == STOWI_POOL_MAX ? least_of(p->x->dtype) : 0;
  for (int64_t i = 0; i < s->out_width; ++i) {
    to[i] = begin;
  }
  for (size_t tap = 0; tap < s->outer_taps; ++tap) {
    int64_t at = stowi_slide_row(s, row, tap);
    if (at >= 0) {
      reduce_row(p, x + at, to);
    }
  }
  if (p->op == STOWI_POOL_AVG) {
    divide_row(p, row, to);
  }
}

// ---------------------------------------------------------------------------------------------
// Planes

static float plane_max(const stowi_pool* p, const float* x) {
  float best = least_of(p->x->dtype);
  for (size_t i = 0; i < p->slide.in_count; ++i) {
    best = x[i] > best ? x[i] : best;
  }
  return best;
}

static float plane_sum(const stowi_pool* p, const float* x) {
  float lanes[LANES] = {0};
  size_t count = p->slide.in_count;
  size_t i = 0;
  for (; i + LANES <= count; i += LANES) {
    for (size_t k = 0; k < LANES; ++k) {
      lanes[k] += x[i + k];
    }
  }
  for (size_t k = 0; i + k < count; ++k) {
    lanes[k] += x[i + k];
  }
  for (size_t half = LANES / 2; half != 0; half /= 2) {
    for (size_t k = 0; k < half; ++k) {
      lanes[k] += lanes[k + half];
    }
  }
  return lanes[0];
}

static void pool_plane(const stowi_pool* p, size_t plane, const float* x, float* row_buffer) {
  const stowi_slide* s = &p->slide;
  size_t width = (size_t)s->out_width;
  for (size_t row = 0; row < s->out_rows; ++row) {
    size_t first = plane * s->out_count + row * width;
    float* to = row_buffer != NULL ? row_buffer : (float*)p->y->data + first;
    if (!p->is_global) {
      pool_row(p, x, row, to);
    } else {
      to[0] = p->op == STOWI_POOL_MAX ? plane_max(p, x) : plane_sum(p, x) / (float)s->in_count;
    }
    if (row_buffer != NULL) {
      stowi_store_f32(p->y->dtype, p->y->data, first, width, to);
    }
  }
}

static void pool_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const stowi_pool* p = user;
  size_t count = p->slide.in_count;
  if (p->x->dtype == STOW_F32) {
    for (size_t plane = begin; plane < end; ++plane) {
      pool_plane(p, plane, (const float*)p->x->data + plane * count, NULL);
    }
    return;
  }
  unsigned char* mine = (unsigned char*)p->call->scratch + worker * worker_size(p);
  float* x = (float*)(void*)mine;
  for (size_t plane = begin; plane < end; ++plane) {
    stowi_load_f32(p->x->dtype, p->x->data, plane * count, count, x);
    pool_plane(p, plane, x, (float*)(void*)(mine + plane_size(p)));
  }
}

void stowi_pool_rows(stowi_pool* p) {
  const stowi_slide* s = &p->slide;
  size_t cost = p->is_global ? s->in_count : s->out_count * s->taps;
  stow_kernel_split(p->call, (size_t)(s->batch * s->channels), 16384 / (cost + 1) + 1, pool_task,
                    p);
}
