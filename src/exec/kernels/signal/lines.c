// Each line is read into scratch as complex f64, transformed there, and written rounded once.
#include "exec/kernels/signal/lines.h"

#include <string.h>

#include "exec/kernels/support/convert.h"

void stowi_transforms_carve(stowi_transforms* t, uint32_t workers, stowi_carve* carve) {
  t->fft = stowi_fft_plan(t->length, carve);
  stowi_carve one = {NULL, 0};
  (void)stowi_carve_take(&one, t->length, sizeof(stowi_complex));
  (void)stowi_carve_take(&one, stowi_fft_work(&t->fft), sizeof(stowi_complex));
  t->scratch_stride = one.used;
  t->scratch = stowi_carve_take(carve, workers, one.used);
}

static size_t line_at(const stowi_lines* lines, size_t i) {
  return i / lines->inner * lines->outer_stride + i % lines->inner * lines->inner_stride;
}

static void read_line(const stowi_transforms* t, size_t i, stowi_complex* x) {
  const stowi_lines* in = &t->in;
  size_t first = line_at(in, i);
  size_t count = in->count < t->length ? in->count : t->length;
  for (size_t n = 0; n < t->length; ++n) {
    double parts[2] = {0, 0};
    if (n < count) {
      stowi_load_f64(in->tensor->dtype, in->tensor->data, first + n * in->stride, in->parts, parts);
      double weight = t->window == NULL ? 1 : stowi_float_at(t->window, n);
      parts[0] *= weight;
      parts[1] *= weight;
    }
    x[n] = (stowi_complex){parts[0], parts[1]};
  }
}

// Bin length - k is the conjugate of bin k; the first and the middle one are real.
static void mirror(const stowi_transforms* t, stowi_complex* x) {
  x[0].im = 0;
  for (size_t k = 1; 2 * k <= t->length; ++k) {
    if (2 * k == t->length) {
      x[k].im = 0;
    }
    x[t->length - k] = (stowi_complex){x[k].re, 2 * k == t->length ? 0 : -x[k].im};
  }
}

static void write_line(const stowi_transforms* t, size_t i, const stowi_complex* x) {
  const stowi_lines* out = &t->out;
  size_t first = line_at(out, i);
  double factor = t->inverse ? t->factor / (double)t->length : t->factor;
  for (size_t k = 0; k < out->count; ++k) {
    double parts[2] = {x[k].re * factor, x[k].im * factor};
    stowi_store_f64(out->tensor->dtype, out->tensor->data, first + k * out->stride, out->parts,
                    parts);
  }
}

static void transform_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const stowi_transforms* t = user;
  stowi_carve carve = {t->scratch + worker * t->scratch_stride, 0};
  stowi_complex* x = stowi_carve_take(&carve, t->length, sizeof(*x));
  stowi_complex* work = stowi_carve_take(&carve, stowi_fft_work(&t->fft), sizeof(*work));
  for (size_t i = begin; i < end; ++i) {
    read_line(t, i, x);
    if (t->mirrors) {
      mirror(t, x);
    }
    stowi_fft_run(&t->fft, t->inverse, x, work);
    write_line(t, i, x);
  }
}

void stowi_transforms_run(const stow_kernel_call* call, const stowi_transforms* t) {
  if (t->length == 0 || t->lines == 0) {
    // What nothing is transformed to: zeros, where there is anything.
    if (stow_tensor_bytes(t->out.tensor) != 0) {
      memset(t->out.tensor->data, 0, stow_tensor_bytes(t->out.tensor));
    }
    return;
  }
  stowi_transforms copy = *t;
  stowi_fft_fill(&copy.fft);
  stow_kernel_split(call, t->lines, t->length > 1024 ? 1 : 1024 / t->length, transform_task, &copy);
}
