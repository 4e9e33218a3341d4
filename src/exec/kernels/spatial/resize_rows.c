// Weighted sums: rows of x are added up by the weights of all axes but the last, then the last axis
// takes its taps from that row. f32 in f32; all others in double, integers cut to their range and
// towards zero.
//
// Bits: taps in ascending order, the last axis last.
#include "exec/kernels/spatial/resize.h"
#include "exec/kernels/support/convert.h"

// The next combination of taps of all axes but the last; false after the last one.
static bool next_taps(const stowi_resize* r, size_t* taps) {
  for (uint32_t i = r->x->rank - 1; i-- > 0;) {
    if (++taps[i] < r->axes[i].taps) {
      return true;
    }
    taps[i] = 0;
  }
  return false;
}

static void fill_outside(const stowi_resize* r, size_t first, size_t count, bool all) {
  const stowi_resize_axis* last = &r->axes[r->x->rank - 1];
  for (size_t i = 0; i < count && (all || last->has_outside); ++i) {
    if (all || last->outside[i]) {
      stowi_store_f64(r->y->dtype, r->y->data, first + i, 1, &r->extrapolation);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// f32

static bool sum_floats(const stowi_resize* r, size_t row, float* sum) {
  size_t taps[STOW_MAX_RANK] = {0};
  size_t width = (size_t)r->axes[r->x->rank - 1].in;
  bool is_first = true;
  do {
    size_t first;
    double weight;
    if (!stowi_resize_row(r, row, taps, &first, &weight)) {
      return false;
    }
    const float* x = (const float*)r->x->data + first;
    float w = (float)weight;
    if (is_first) {
      for (size_t i = 0; i < width; ++i) {
        sum[i] = w * x[i];
      }
    } else if (w != 0) {
      for (size_t i = 0; i < width; ++i) {
        sum[i] += w * x[i];
      }
    }
    is_first = false;
  } while (next_taps(r, taps));
  return true;
}

static void pick_floats(const stowi_resize_axis* last, const float* weights, const float* sum,
                        float* y) {
  size_t width = (size_t)last->out;
  const int32_t* indices = last->indices;
  if (last->taps == 2) {
    for (size_t i = 0; i < width; ++i) {
      y[i] = weights[i] * sum[indices[i]] + weights[width + i] * sum[indices[width + i]];
    }
    return;
  }
  for (size_t i = 0; i < width; ++i) {
    y[i] = weights[i] * sum[indices[i]];
  }
  for (size_t k = 1; k < last->taps; ++k) {
    for (size_t i = 0; i < width; ++i) {
      y[i] += weights[k * width + i] * sum[indices[k * width + i]];
    }
  }
}

void stowi_resize_floats(void* resize, size_t begin, size_t end, uint32_t worker) {
  const stowi_resize* r = resize;
  const stowi_resize_axis* last = &r->axes[r->x->rank - 1];
  float* sum = (float*)(void*)(r->rows + worker * r->row_size);
  size_t width = (size_t)last->out;
  for (size_t row = begin; row < end; ++row) {
    bool is_inside = sum_floats(r, row, sum);
    if (is_inside) {
      pick_floats(last, r->weights_f32, sum, (float*)r->y->data + row * width);
    }
    fill_outside(r, row * width, width, !is_inside);
  }
}

// ---------------------------------------------------------------------------------------------
// Others

static bool sum_doubles(const stowi_resize* r, size_t row, double* x, double* sum) {
  size_t taps[STOW_MAX_RANK] = {0};
  size_t width = (size_t)r->axes[r->x->rank - 1].in;
  for (size_t i = 0; i < width; ++i) {
    sum[i] = 0;
  }
  do {
    size_t first;
    double weight;
    if (!stowi_resize_row(r, row, taps, &first, &weight)) {
      return false;
    }
    stowi_load_f64(r->x->dtype, r->x->data, first, width, x);
    for (size_t i = 0; i < width && weight != 0; ++i) {
      sum[i] += weight * x[i];
    }
  } while (next_taps(r, taps));
  return true;
}

// What an integer dtype can hold; floats as they are.
static double limit(stow_dtype dtype, double v) {
  stow_dtype_kind kind = stowi_kind(dtype);
  if (kind != STOW_KIND_SIGNED && kind != STOW_KIND_UNSIGNED) {
    return v;
  }
  bool is_signed = kind == STOW_KIND_SIGNED;
  double range = 1;
  for (uint32_t i = is_signed ? 1 : 0; i < stowi_bits(dtype); ++i) {
    range *= 2;
  }
  // The largest double below 2^64 and the like.
  double high = stowi_bits(dtype) == 64 ? range * (1 - 0x1p-53) : range - 1;
  double low = is_signed ? -range : 0;
  return v > high ? high : v > low ? v : low;
}

void stowi_resize_doubles(void* resize, size_t begin, size_t end, uint32_t worker) {
  const stowi_resize* r = resize;
  const stowi_resize_axis* last = &r->axes[r->x->rank - 1];
  double* x = (double*)(void*)(r->rows + worker * r->row_size);
  double* sum = x + last->in;
  size_t width = (size_t)last->out;
  for (size_t row = begin; row < end; ++row) {
    bool is_inside = sum_doubles(r, row, x, sum);
    for (size_t i = 0; i < width && is_inside; ++i) {
      double value = 0;
      for (size_t k = 0; k < last->taps; ++k) {
        value += last->weights[k * width + i] * sum[last->indices[k * width + i]];
      }
      value = limit(r->y->dtype, value);
      stowi_store_f64(r->y->dtype, r->y->data, row * width + i, 1, &value);
    }
    fill_outside(r, row * width, width, !is_inside);
  }
}
