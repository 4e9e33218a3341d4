// Windows as numbers. Reading is a few operations for each spatial dim; rows of one or two dims are
// found without a division.
#include "exec/kernels/spatial/window.h"

#include <string.h>

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/size.h"

int64_t stowi_kernel_list_at(const stow_kernel_call* call, stowi_kernel_attr_id name, size_t i,
                             int64_t fallback) {
  const stow_attr* attr = stowi_kernel_attr(call, name);
  return attr != NULL && attr->kind == STOW_ATTR_INTS && i < attr->count ? attr->ints[i] : fallback;
}

// A window, its positions, x and given padding each reach no farther, padding that `auto_pad` makes
// twice as far: sums of them all are int64_t.
#define FARTHEST (INT64_MAX / 8)
// Far beyond what weights have, and still small in sums of sizes; where those are smaller, theirs.
#define MOST_TAPS (SIZE_MAX < UINT64_C(1) << 40 ? (uint64_t)SIZE_MAX : UINT64_C(1) << 40)

static bool is_near(int64_t count, int64_t step) { return count <= FARTHEST / step; }

stow_status stowi_kernel_slide_bound(const stow_kernel_call* call, stowi_kernel_slide* s,
                                     uint32_t i) {
  s->strides[i] = s->out[i] <= 1 ? 1 : s->strides[i];
  s->dilations[i] = s->kernel[i] <= 1 ? 1 : s->dilations[i];
  bool is_bounded = is_near(s->out[i], s->strides[i]) && is_near(s->kernel[i], s->dilations[i]) &&
                    s->in[i] <= FARTHEST && s->begins[i] <= FARTHEST && s->ends[i] <= FARTHEST;
  return is_bounded
             ? STOW_OK
             : stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                                "windows along spatial dim %u are too large: positions times "
                                "stride, kernel times dilation, and pads must be below 2^60",
                                (unsigned)i);
}

stow_status stowi_kernel_slide_count(const stow_kernel_call* call, stowi_kernel_slide* w) {
  w->in_count = w->out_count = w->taps = w->out_rows = w->outer_taps = 1;
  for (uint32_t i = 0; i < w->rank; ++i) {
    w->out_rows = w->out_count;
    w->outer_taps = w->taps;
    w->in_count *= (size_t)w->in[i];
    w->out_count *= (size_t)w->out[i];
    if (w->kernel[i] != 0 && w->taps > MOST_TAPS / (uint64_t)w->kernel[i]) {
      return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "a window has more than 2^40 taps");
    }
    w->taps *= (size_t)w->kernel[i];
  }
  w->in_width = w->in[w->rank - 1];
  w->out_width = w->out[w->rank - 1];
  w->kernel_width = w->kernel[w->rank - 1];
  return STOW_OK;
}

stow_status stowi_kernel_slide_read(const stow_kernel_call* call, const stow_tensor* x,
                                    const stow_tensor* y, const int64_t* kernel,
                                    stowi_kernel_slide* out) {
  *out = (stowi_kernel_slide){.rank = x->rank - 2, .batch = x->dims[0]};
  out->channels_last = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_CHANNELS_LAST, false);
  out->channels = x->dims[out->channels_last ? x->rank - 1 : 1];
  uint32_t first = out->channels_last ? 1 : 2;
  bool upper = stowi_kernel_is(call, STOWI_KERNEL_ATTR_AUTO_PAD, "same_upper");
  bool is_same = upper || stowi_kernel_is(call, STOWI_KERNEL_ATTR_AUTO_PAD, "same_lower");
  bool is_global = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_GLOBAL, false);
  for (uint32_t i = 0; i < out->rank; ++i) {
    out->in[i] = x->dims[first + i];
    out->out[i] = y->dims[first + i];
    out->kernel[i] =
        kernel != NULL ? kernel[i] : stowi_kernel_list_at(call, STOWI_KERNEL_ATTR_KERNEL, i, 1);
    out->strides[i] = stowi_kernel_list_at(call, STOWI_KERNEL_ATTR_STRIDES, i, 1);
    out->dilations[i] = stowi_kernel_list_at(call, STOWI_KERNEL_ATTR_DILATIONS, i, 1);
    out->begins[i] = stowi_kernel_list_at(call, STOWI_KERNEL_ATTR_PADS, i, 0);
    out->ends[i] = stowi_kernel_list_at(call, STOWI_KERNEL_ATTR_PADS, out->rank + i, 0);
    if (is_global) {
      out->kernel[i] = out->in[i];
      out->strides[i] = out->dilations[i] = 1;
      out->begins[i] = out->ends[i] = 0;
    }
    STOWI_KERNEL_TRY(stowi_kernel_slide_bound(call, out, i));
    if (is_same && !is_global) {
      // Padding before dim |i| where `auto_pad` says that the result has a position for each
      // stride.
      int64_t covered =
          (out->out[i] - 1) * out->strides[i] + (out->kernel[i] - 1) * out->dilations[i] + 1;
      int64_t total = stowi_kernel_max_i64(covered - out->in[i], 0);
      out->begins[i] = upper ? total / 2 : total - total / 2;
      out->ends[i] = total - out->begins[i];
    }
  }
  return stowi_kernel_slide_count(call, out);
}

static int64_t ceil_div(int64_t a, int64_t b) {
  return b == 1 ? a : a <= 0 ? -(-a / b) : (a - 1) / b + 1;
}

void stowi_kernel_slide_range(const stowi_kernel_slide* w, uint32_t i, int64_t k, int64_t* lo,
                              int64_t* hi) {
  int64_t offset = w->begins[i] - k * w->dilations[i];
  *lo = stowi_kernel_min_i64(stowi_kernel_max_i64(ceil_div(offset, w->strides[i]), 0), w->out[i]);
  *hi = stowi_kernel_min_i64(stowi_kernel_max_i64(ceil_div(offset + w->in[i], w->strides[i]), *lo),
                             w->out[i]);
}

void stowi_kernel_slide_interior(const stowi_kernel_slide* s, int64_t* lo, int64_t* hi) {
  int64_t unused;
  stowi_kernel_slide_range(s, s->rank - 1, 0, lo, &unused);
  stowi_kernel_slide_range(s, s->rank - 1, s->kernel_width - 1, &unused, hi);
  *hi = stowi_kernel_max_i64(*lo, *hi);
}

static int64_t coordinate(const stowi_kernel_slide* w, uint32_t i, int64_t position, int64_t tap) {
  int64_t at = position * w->strides[i] + tap * w->dilations[i] - w->begins[i];
  return at >= 0 && at < w->in[i] ? at : -1;
}

int64_t stowi_kernel_slide_row(const stowi_kernel_slide* w, size_t row, size_t tap) {
  if (w->rank <= 2) {
    int64_t at = w->rank == 1 ? 0 : coordinate(w, 0, (int64_t)row, (int64_t)tap);
    return at < 0 ? -1 : at * w->in_width;
  }
  int64_t position = (int64_t)row;
  int64_t element = (int64_t)tap;
  int64_t stride = w->in_width;
  int64_t offset = 0;
  for (uint32_t i = w->rank - 1; i-- > 0;) {
    int64_t at = coordinate(w, i, position % w->out[i], element % w->kernel[i]);
    if (at < 0) {
      return -1;
    }
    offset += at * stride;
    stride *= w->in[i];
    position /= w->out[i];
    element /= w->kernel[i];
  }
  return offset;
}

stowi_kernel_tap_run stowi_kernel_slide_row_run(const stowi_kernel_slide* s, int64_t row, int64_t k,
                                                size_t position, size_t count) {
  uint32_t last = s->rank - 1;
  int64_t begin = (int64_t)position;
  int64_t end = begin + (int64_t)stowi_kernel_smaller(count, (size_t)s->out_width - position);
  int64_t lo;
  int64_t hi;
  stowi_kernel_slide_range(s, last, k, &lo, &hi);
  lo = row < 0 ? end : stowi_kernel_min_i64(stowi_kernel_max_i64(lo, begin), end);
  hi = row < 0 ? end : stowi_kernel_min_i64(stowi_kernel_max_i64(hi, lo), end);
  stowi_kernel_tap_run r = {(size_t)(lo - begin), (size_t)(hi - lo), (size_t)(end - hi), 0,
                            (size_t)s->strides[last]};
  if (lo < hi) {
    r.first = (size_t)(row + lo * s->strides[last] + k * s->dilations[last] - s->begins[last]);
  }
  return r;
}

stowi_kernel_tap_run stowi_kernel_slide_run(const stowi_kernel_slide* s, size_t tap,
                                            size_t position, size_t count) {
  size_t width = (size_t)s->out_width;
  size_t across = (size_t)s->kernel_width;
  int64_t row = stowi_kernel_slide_row(s, position / width, tap / across);
  return stowi_kernel_slide_row_run(s, row, (int64_t)(tap % across), position % width, count);
}

// |count| elements from |first| on, |step| apart.
static void load_row(const stow_tensor* x, size_t first, size_t step, size_t count, float* to) {
  if (x->dtype != STOW_F32) {
    for (size_t i = 0; step != 1 && i < count; ++i) {
      stowi_kernel_load_f32(x->dtype, x->data, first + i * step, 1, to + i);
    }
    if (step == 1) {
      stowi_kernel_load_f32(x->dtype, x->data, first, count, to);
    }
    return;
  }
  const float* from = (const float*)x->data + first;
  if (step == 1) {
    memcpy(to, from, count * sizeof(float));
  } else if (step == 2) {
    for (size_t i = 0; i < count; ++i) {
      to[i] = from[2 * i];
    }
  } else {
    for (size_t i = 0; i < count; ++i) {
      to[i] = from[i * step];
    }
  }
}

static void fill_zeros(float* to, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    to[i] = 0;
  }
}

void stowi_kernel_tap_run_load(const stowi_kernel_tap_run* r, const stow_tensor* x, size_t x_first,
                               size_t channels, size_t x_step, float* to, size_t to_step) {
  stowi_kernel_tap_run run = *r;
  for (size_t c = 0; c < channels; ++c, to += to_step) {
    fill_zeros(to, run.before);
    if (run.inside != 0) {
      load_row(x, x_first + c * x_step + run.first, run.step, run.inside, to + run.before);
    }
    fill_zeros(to + run.before + run.inside, run.after);
  }
}

int64_t stowi_kernel_slide_reader(const stowi_kernel_slide* s, size_t at, size_t tap) {
  int64_t position = 0;
  int64_t stride = 1;
  for (uint32_t i = s->rank; i-- > 0;) {
    int64_t k = (int64_t)(tap % (size_t)s->kernel[i]);
    int64_t moved = (int64_t)(at % (size_t)s->in[i]) + s->begins[i] - k * s->dilations[i];
    if (moved < 0 || moved % s->strides[i] != 0 || moved / s->strides[i] >= s->out[i]) {
      return -1;
    }
    position += moved / s->strides[i] * stride;
    stride *= s->out[i];
    at /= (size_t)s->in[i];
    tap /= (size_t)s->kernel[i];
  }
  return position;
}

// How many taps of a dim read what lies before |limit|.
static int64_t taps_before(const stowi_kernel_slide* s, uint32_t i, int64_t start, int64_t limit) {
  return stowi_kernel_min_i64(stowi_kernel_max_i64(ceil_div(limit - start, s->dilations[i]), 0),
                              s->kernel[i]);
}

bool stowi_kernel_slide_is_pointwise(const stowi_kernel_slide* s) {
  bool is = s->taps == 1;
  for (uint32_t i = 0; i < s->rank; ++i) {
    is = is && s->strides[i] == 1 && s->begins[i] == 0 && s->in[i] == s->out[i];
  }
  return is;
}

void stowi_kernel_slide_visit(const stowi_kernel_slide* s, size_t position,
                              stowi_kernel_visit* out) {
  out->count = out->padded = 1;
  for (uint32_t i = s->rank; i-- > 0;) {
    int64_t size = s->out[i];
    out->start[i] = (int64_t)(position % (size_t)size) * s->strides[i] - s->begins[i];
    position /= (size_t)size;
    out->lo[i] = taps_before(s, i, out->start[i], 0);
    out->hi[i] = stowi_kernel_max_i64(taps_before(s, i, out->start[i], s->in[i]), out->lo[i]);
    out->at[i] = out->lo[i];
    out->count *= (size_t)(out->hi[i] - out->lo[i]);
    out->padded *= (size_t)taps_before(s, i, out->start[i], s->in[i] + s->ends[i]);
  }
  out->is_done = out->count == 0;
}

int64_t stowi_kernel_slide_next(const stowi_kernel_slide* s, stowi_kernel_visit* visit) {
  if (visit->is_done) {
    return -1;
  }
  int64_t offset = 0;
  for (uint32_t i = 0; i < s->rank; ++i) {
    offset = offset * s->in[i] + visit->start[i] + visit->at[i] * s->dilations[i];
  }
  uint32_t i = s->rank;
  while (i-- > 0 && ++visit->at[i] == visit->hi[i]) {
    visit->at[i] = visit->lo[i];
    visit->is_done = i == 0;
  }
  return offset;
}
