#include "exec/kernels/spatial/patch.h"

#include "exec/kernels/support/size.h"

bool stowi_kernel_patch_plan(const stowi_kernel_slide* w, stowi_kernel_patch* out) {
  if (w->rank != 2 || w->taps > STOWI_KERNEL_PATCH_TAPS || w->out_width > STOWI_KERNEL_PATCH ||
      w->in[0] > INT32_MAX || w->strides[0] > STOWI_KERNEL_PATCH_STRIDE ||
      w->strides[1] > STOWI_KERNEL_PATCH_STRIDE) {
    return false;
  }
  int64_t reach[2];
  for (uint32_t i = 0; i < 2; ++i) {
    if (w->dilations[i] > STOWI_KERNEL_PATCH || w->begins[i] > STOWI_KERNEL_PATCH ||
        w->begins[i] < -STOWI_KERNEL_PATCH) {
      return false;
    }
    reach[i] = (w->kernel[i] - 1) * w->dilations[i] / w->strides[i];
  }
  size_t phases = (size_t)(w->strides[0] * w->strides[1]);
  out->pitch = (size_t)(w->out_width + reach[1]);
  size_t high = (STOWI_KERNEL_PATCH - STOWI_KERNEL_PATCH_LANES) / phases / out->pitch;
  if (high < (size_t)reach[0] + 2 && high < (size_t)(w->out[0] + reach[0])) {
    return false;
  }
  out->rows = stowi_kernel_smaller(high - (size_t)reach[0], (size_t)w->out[0]);
  if (out->rows > STOWI_KERNEL_PATCH_TILE_ROWS && out->rows < (size_t)w->out[0]) {
    out->rows -= out->rows % STOWI_KERNEL_PATCH_TILE_ROWS;
  }
  out->high = out->rows + (size_t)reach[0];
  out->phase = out->high * out->pitch;
  for (int64_t z = 0; z < w->strides[1]; ++z) {
    int64_t stride = w->strides[1];
    int64_t first = z - w->begins[1];
    size_t skip = first >= 0 ? 0 : (size_t)((-first + stride - 1) / stride);
    int64_t left = w->in_width - (first + (int64_t)skip * stride);
    bool is_padding = left <= 0 || skip >= out->pitch;
    out->skip[z] = is_padding ? 0 : skip;
    out->take[z] =
        is_padding ? 0 : stowi_kernel_smaller(out->pitch - skip, (size_t)((left - 1) / stride + 1));
  }
  for (size_t tap = 0; tap < w->taps; ++tap) {
    size_t y = tap / (size_t)w->kernel_width * (size_t)w->dilations[0];
    size_t x = tap % (size_t)w->kernel_width * (size_t)w->dilations[1];
    size_t high_stride = (size_t)w->strides[0];
    size_t wide_stride = (size_t)w->strides[1];
    out->offsets[tap] = (uint32_t)((y % high_stride * wide_stride + x % wide_stride) * out->phase +
                                   y / high_stride * out->pitch + x / wide_stride);
  }
  return true;
}

void stowi_kernel_patch_fill(const stowi_kernel_slide* w, const stowi_kernel_patch* p,
                             const float* x, size_t row, float* to) {
  size_t stride = (size_t)w->strides[1];
  for (int64_t y = 0; y < w->strides[0]; ++y) {
    for (int64_t z = 0; z < w->strides[1]; ++z) {
      size_t take = p->take[z];
      float* begin = to + p->skip[z];
      const float* from = x + (take == 0 ? 0 : z - w->begins[1] + (int64_t)(p->skip[z] * stride));
      for (size_t r = 0; r < p->high; ++r, begin += p->pitch) {
        int64_t at = (int64_t)(row + r) * w->strides[0] + y - w->begins[0];
        if (at < 0 || at >= w->in[0]) {
          continue;
        }
        if (stride == 1) {
          stowi_kernel_copy_row(from + at * w->in_width, take, begin);
        } else {
          for (size_t i = 0; i < take; ++i) {
            begin[i] = from[at * w->in_width + (int64_t)(i * stride)];
          }
        }
      }
      to += p->phase;
    }
  }
}
