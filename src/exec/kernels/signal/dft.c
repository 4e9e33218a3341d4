// Fourier transforms: of one line, of many lines, and the ops dft, rfft and stft.
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stowage/kernel.h>
#include <string.h>

#include "exec/kernels/support/carve.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

// ---------------------------------------------------------------------------------------------
// Transforms of any length, in f64.
//
//     X[k] = Σ x[n] e^(∓2πi nk / N)
//
// Powers of two by Cooley and Tukey ("An Algorithm for the Machine Calculation of Complex Fourier
// Series", 1965), in place after a bit-reversal permutation. Other lengths as a convolution with a
// chirp (Bluestein, "A Linear Filtering Approach to the Computation of Discrete Fourier Transform",
// 1970), computed by two transforms of a power of two at least twice as long. All in O(n log n),
// with the roots computed by sin and cos directly, so that errors stay near the last bit.

typedef struct complex {
  double re;
  double im;
} complex;

// A transform of one length and what it looks up; made once, used by all workers.
typedef struct fft_tables {
  size_t length;
  size_t padded;       // length where that is a power of two, else one for a convolution
  complex* roots;      // [padded / 2]: e^(-2πi k / padded)
  complex* chirp;      // [length]: e^(-πi n² / length); NULL where not needed
  complex* chirp_fft;  // [padded]: transform of its inverse, as a filter
} fft_tables;

static const double pi = 3.14159265358979323846;

static bool is_power(size_t n) { return n != 0 && (n & (n - 1)) == 0; }

static complex times(complex a, complex b) {
  return (complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static complex conjugate(complex a) { return (complex){a.re, -a.im}; }

// e^(-πi numerator / denominator), the angle brought into an eighth of the circle so that quarter
// turns are exact.
static complex root(uint64_t numerator, uint64_t denominator) {
  uint64_t n = numerator % (2 * denominator);
  uint64_t quarters = 2 * n / denominator;  // of half a turn
  uint64_t rest = 2 * n % denominator;      // of denominator, a quarter turn
  double angle = pi / 2 * ((double)rest / (double)denominator);
  double c = cos(angle);
  double s = sin(angle);
  switch (quarters) {
    case 0: return (complex){c, -s};
    case 1: return (complex){-s, -c};
    case 2: return (complex){-c, s};
    default: return (complex){s, c};
  }
}

// ---------------------------------------------------------------------------------------------
// Powers of two

static void reverse_bits(complex* x, size_t count) {
  size_t reversed = 0;
  for (size_t i = 1; i < count; ++i) {
    size_t bit = count / 2;
    for (; (reversed & bit) != 0; bit /= 2) {
      reversed ^= bit;
    }
    reversed |= bit;
    if (i < reversed) {
      complex swap = x[i];
      x[i] = x[reversed];
      x[reversed] = swap;
    }
  }
}

static void transform_power(const complex* roots, size_t count, bool inverse, complex* x) {
  reverse_bits(x, count);
  for (size_t half = 1; half < count; half *= 2) {
    size_t step = count / (2 * half);
    for (size_t begin = 0; begin < count; begin += 2 * half) {
      for (size_t k = 0; k < half; ++k) {
        complex w = inverse ? conjugate(roots[k * step]) : roots[k * step];
        complex* a = &x[begin + k];
        complex* b = a + half;
        complex turned = times(*b, w);
        *b = (complex){a->re - turned.re, a->im - turned.im};
        *a = (complex){a->re + turned.re, a->im + turned.im};
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Any length

// Lays tables out; they are filled by fft_fill. While counting every length is taken for one
// that is not a power of two, since a shorter one may need more.
static fft_tables fft_plan(size_t length, stowi_kernel_carve* carve) {
  fft_tables fft = {.length = length, .padded = 1};
  bool is_counting = carve->base == NULL;
  size_t least = length == 0 || (is_power(length) && !is_counting) ? length : 2 * length - 1;
  while (fft.padded < least && fft.padded <= SIZE_MAX / 4) {
    fft.padded *= 2;
  }
  fft.roots = stowi_kernel_carve_take(carve, fft.padded / 2 + 1, sizeof(complex));
  fft.chirp = stowi_kernel_carve_take(carve, length, sizeof(complex));
  fft.chirp_fft = stowi_kernel_carve_take(carve, fft.padded, sizeof(complex));
  return fft;
}

// Numbers that a worker needs beside |x|.
static size_t fft_work(const fft_tables* fft) { return fft->padded; }

// n² mod 2 length, without a product that does not fit.
static uint64_t square_mod(uint64_t n, uint64_t modulus) {
  uint64_t result = 0;
  uint64_t addend = n % modulus;
  for (uint64_t bits = n; bits != 0; bits /= 2) {
    if (bits % 2 != 0) {
      result = (result + addend) % modulus;
    }
    addend = addend * 2 % modulus;
  }
  return result;
}

static void fft_fill(const fft_tables* fft) {
  for (size_t k = 0; k < fft->padded / 2; ++k) {
    fft->roots[k] = root(2 * k, fft->padded);
  }
  if (fft->padded == fft->length || fft->length == 0) {
    return;
  }
  memset(fft->chirp_fft, 0, fft->padded * sizeof(complex));
  for (size_t n = 0; n < fft->length; ++n) {
    fft->chirp[n] = root(square_mod(n, 2 * (uint64_t)fft->length), fft->length);
    fft->chirp_fft[n] = conjugate(fft->chirp[n]);
    fft->chirp_fft[n == 0 ? 0 : fft->padded - n] = fft->chirp_fft[n];
  }
  transform_power(fft->roots, fft->padded, false, fft->chirp_fft);
}

// x[k] = chirp[k] · Σ (x[n] chirp[n]) conj(chirp[k - n]). A transform back is the conjugate of one
// of conjugates.
static void transform_any(const fft_tables* fft, bool inverse, complex* x, complex* work) {
  memset(work, 0, fft->padded * sizeof(complex));
  for (size_t n = 0; n < fft->length; ++n) {
    work[n] = times(inverse ? conjugate(x[n]) : x[n], fft->chirp[n]);
  }
  transform_power(fft->roots, fft->padded, false, work);
  for (size_t k = 0; k < fft->padded; ++k) {
    work[k] = times(work[k], fft->chirp_fft[k]);
  }
  transform_power(fft->roots, fft->padded, true, work);
  double factor = 1 / (double)fft->padded;
  for (size_t k = 0; k < fft->length; ++k) {
    complex sum = {work[k].re * factor, work[k].im * factor};
    complex out = times(sum, fft->chirp[k]);
    x[k] = inverse ? conjugate(out) : out;
  }
}

// Transforms |x|, length numbers, in place; back where |inverse|, without dividing by the length.
// |work| has fft_work(fft) numbers.
static void fft_run(const fft_tables* fft, bool inverse, complex* x, complex* work) {
  if (fft->length == fft->padded) {
    transform_power(fft->roots, fft->length, inverse, x);
  } else if (fft->length != 0) {
    transform_any(fft, inverse, x, work);
  }
}

// ---------------------------------------------------------------------------------------------
// Transforms of many lines of a tensor. Each line is read into scratch as complex f64, transformed
// there, and written rounded once.

// Line i begins at element (i / inner) · outer_stride + (i % inner) · inner_stride of its tensor;
// its numbers are |stride| apart, each |parts| elements: a real one, or real and imaginary part.
typedef struct line_set {
  const stow_tensor* tensor;
  size_t inner;
  size_t outer_stride, inner_stride, stride;
  size_t parts;
  size_t count;  // numbers in a line
} line_set;

typedef struct transforms {
  size_t lines;
  line_set in;
  line_set out;
  const stow_tensor* window;  // factors of the numbers that are read; NULL: none
  size_t length;              // longer than what is read: zeros follow; shorter: the rest is left
  bool inverse;               // divided by the length
  bool mirrors;               // what is read is half of a spectrum: the rest is its conjugate
  double factor;              // of what is written, beside that
  // Set by transforms_carve.
  fft_tables fft;
  unsigned char* scratch;
  uint64_t scratch_stride;
} transforms;

static void transforms_carve(transforms* t, uint32_t workers, stowi_kernel_carve* carve) {
  t->fft = fft_plan(t->length, carve);
  stowi_kernel_carve one = {NULL, 0};
  (void)stowi_kernel_carve_take(&one, t->length, sizeof(complex));
  (void)stowi_kernel_carve_take(&one, fft_work(&t->fft), sizeof(complex));
  t->scratch_stride = one.used;
  t->scratch = stowi_kernel_carve_take(carve, workers, one.used);
}

static size_t line_at(const line_set* lines, size_t i) {
  return i / lines->inner * lines->outer_stride + i % lines->inner * lines->inner_stride;
}

static void read_line(const transforms* t, size_t i, complex* x) {
  const line_set* in = &t->in;
  size_t first = line_at(in, i);
  size_t count = in->count < t->length ? in->count : t->length;
  for (size_t n = 0; n < t->length; ++n) {
    double parts[2] = {0, 0};
    if (n < count) {
      stowi_kernel_load_f64(in->tensor->dtype, in->tensor->data, first + n * in->stride, in->parts,
                            parts);
      double weight = t->window == NULL ? 1 : stowi_kernel_float_at(t->window, n);
      parts[0] *= weight;
      parts[1] *= weight;
    }
    x[n] = (complex){parts[0], parts[1]};
  }
}

// Bin length - k is the conjugate of bin k; the first and the middle one are real.
static void mirror(const transforms* t, complex* x) {
  x[0].im = 0;
  for (size_t k = 1; 2 * k <= t->length; ++k) {
    if (2 * k == t->length) {
      x[k].im = 0;
    }
    x[t->length - k] = (complex){x[k].re, 2 * k == t->length ? 0 : -x[k].im};
  }
}

static void transform_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const transforms* t = user;
  stowi_kernel_carve carve = {t->scratch + worker * t->scratch_stride, 0};
  complex* x = stowi_kernel_carve_take(&carve, t->length, sizeof(*x));
  complex* work = stowi_kernel_carve_take(&carve, fft_work(&t->fft), sizeof(*work));
  for (size_t i = begin; i < end; ++i) {
    read_line(t, i, x);
    if (t->mirrors) {
      mirror(t, x);
    }
    fft_run(&t->fft, t->inverse, x, work);
    const line_set* out = &t->out;
    size_t first = line_at(out, i);
    double factor = t->inverse ? t->factor / (double)t->length : t->factor;
    for (size_t k = 0; k < out->count; ++k) {
      double parts[2] = {x[k].re * factor, x[k].im * factor};
      stowi_kernel_store_f64(out->tensor->dtype, out->tensor->data, first + k * out->stride,
                             out->parts, parts);
    }
  }
}

static void transforms_run(const stow_kernel_call* call, const transforms* t) {
  if (t->length == 0 || t->lines == 0) {
    // What nothing is transformed to: zeros, where there is anything.
    if (stow_tensor_bytes(t->out.tensor) != 0) {
      memset(t->out.tensor->data, 0, stow_tensor_bytes(t->out.tensor));
    }
    return;
  }
  transforms copy = *t;
  fft_fill(&copy.fft);
  stow_kernel_split(call, t->lines, t->length > 1024 ? 1 : 1024 / t->length, transform_task, &copy);
}

// ---------------------------------------------------------------------------------------------
// dft: a transform along any axis of [batch, samples…, 1 or 2]. The line is truncated or
// zero-padded to the length; one-sided spectra omit, or restore, the mirrored half.

static int64_t axis_of(const stow_kernel_call* call) {
  const stow_tensor* axis = stow_kernel_operand(call, 2);
  int64_t rank = (int64_t)stow_kernel_operand(call, 0)->rank;
  int64_t given = stowi_kernel_int(call, STOWI_KERNEL_ATTR_AXIS, -2);
  if (axis != NULL && axis->data != NULL) {
    given = stowi_kernel_int_at(axis, 0);
  }
  return given < 0 ? given + rank : given;
}

static line_set lines_of(const stow_tensor* t, size_t axis) {
  line_set lines = {.tensor = t, .parts = (size_t)t->dims[t->rank - 1], .inner = 1};
  for (uint32_t i = (uint32_t)axis + 1; i + 1 < t->rank; ++i) {
    lines.inner *= (size_t)t->dims[i];
  }
  lines.count = (size_t)t->dims[axis];
  lines.inner_stride = lines.parts;
  lines.stride = lines.inner * lines.parts;
  lines.outer_stride = lines.count * lines.stride;
  return lines;
}

// The length is an operand, else what is there, or what half a spectrum is made of.
static int64_t length_of(const stow_kernel_call* call, const transforms* t) {
  const stow_tensor* length = stow_kernel_operand(call, 1);
  if (length != NULL) {
    return stowi_kernel_int_at(length, 0);
  }
  return t->mirrors ? 2 * ((int64_t)t->in.count - 1) : (int64_t)t->in.count;
}

static void read_transforms(const stow_kernel_call* call, size_t axis, transforms* t) {
  const stow_tensor* x = stow_kernel_operand(call, 0);
  bool onesided = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_ONESIDED, false);
  *t = (transforms){.inverse = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_INVERSE, false),
                    .factor = 1};
  t->mirrors = t->inverse && onesided;
  t->in = lines_of(x, axis);
  t->lines =
      t->in.outer_stride == 0 ? 0 : stow_tensor_elements(x) / t->in.outer_stride * t->in.inner;
}

// A result as long as it may be tells the length, unless it is half of a spectrum.
static size_t longest(const stow_kernel_call* call, size_t axis) {
  const stow_tensor* x = stow_kernel_operand(call, 0);
  const stow_tensor* out = stow_kernel_result(call, 0);
  bool is_half = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_ONESIDED, false) &&
                 !stowi_kernel_bool(call, STOWI_KERNEL_ATTR_INVERSE, false);
  if (is_half && stow_kernel_operand(call, 1) == NULL) {
    return (size_t)x->dims[axis];
  }
  return (size_t)out->dims[axis] * (is_half ? 2 : 1);
}

// Where the axis is not known, the longest of all that it could be.
static stow_status scratch_dft(const stow_kernel_call* call, uint64_t* out_bytes) {
  const stow_tensor* axis = stow_kernel_operand(call, 2);
  const stow_tensor* x = stow_kernel_operand(call, 0);
  bool is_known = axis == NULL || axis->data != NULL;
  transforms t = {0};
  for (uint32_t i = 0; i + 1 < x->rank; ++i) {
    size_t length = longest(call, i);
    bool may_be = !is_known || axis_of(call) == (int64_t)i;
    t.length = may_be && length > t.length ? length : t.length;
  }
  stowi_kernel_carve carve = {NULL, 0};
  transforms_carve(&t, call->workers, &carve);
  *out_bytes = carve.used;
  return STOW_OK;
}

static stow_status run_dft(stow_kernel_call* call) {
  const stow_tensor* x = stow_kernel_operand(call, 0);
  stow_tensor* out = stow_kernel_result(call, 0);
  int64_t axis = axis_of(call);
  int64_t last = (int64_t)x->rank - 1;
  if (axis < 0 || axis >= last) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "axis %lld is out of range (rank %lld)", (long long)axis,
                            (long long)last);
  }
  if (stowi_kernel_kind(x->dtype) != STOW_KIND_FLOAT || x->dims[last] < 1 || x->dims[last] > 2) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "x must have floats and a last dim of 1 or 2, not %lld",
                            (long long)x->dims[last]);
  }
  transforms t;
  read_transforms(call, (size_t)axis, &t);
  int64_t length = length_of(call, &t);
  bool is_half = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_ONESIDED, false) && !t.inverse;
  int64_t count = is_half ? length / 2 + 1 : length;
  if (length < 1 || count > out->dims[axis]) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "length %lld is out of range",
                            (long long)length);
  }
  for (int64_t i = 0; i < last; ++i) {
    out->dims[i] = i == axis ? count : x->dims[i];
  }
  t.length = (size_t)length;
  t.out = lines_of(out, (size_t)axis);
  stowi_kernel_carve carve = {call->scratch, 0};
  transforms_carve(&t, call->workers, &carve);
  transforms_run(call, &t);
  return STOW_OK;
}

STOWI_KERNEL(DFT, scratch_dft, run_dft);

// ---------------------------------------------------------------------------------------------
// rfft: real numbers along the last dim to a spectrum, or back.

// |count| numbers of |parts| each along the end of |t|.
static line_set rows_of(const stow_tensor* t, size_t parts) {
  line_set lines = {.tensor = t, .inner = 1, .parts = parts, .stride = parts};
  lines.count = (size_t)t->dims[t->rank - (parts == 2 ? 2 : 1)];
  lines.outer_stride = lines.count * parts;
  return lines;
}

static transforms read_rfft(const stow_kernel_call* call) {
  const stow_tensor* x = stow_kernel_operand(call, 0);
  stow_tensor* out = stow_kernel_result(call, 0);
  transforms t = {.inverse = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_INVERSE, false),
                  .factor = 1};
  t.in = rows_of(x, t.inverse ? 2 : 1);
  t.out = rows_of(out, t.inverse ? 1 : 2);
  t.length = t.inverse ? t.out.count : t.in.count;
  t.mirrors = t.inverse && stowi_kernel_bool(call, STOWI_KERNEL_ATTR_ONESIDED, true);
  t.lines = t.in.outer_stride == 0 ? 0 : stow_tensor_elements(x) / t.in.outer_stride;
  return t;
}

static stow_status scratch_rfft(const stow_kernel_call* call, uint64_t* out_bytes) {
  transforms t = read_rfft(call);
  stowi_kernel_carve carve = {NULL, 0};
  transforms_carve(&t, call->workers, &carve);
  *out_bytes = carve.used;
  return STOW_OK;
}

static stow_status run_rfft(stow_kernel_call* call) {
  transforms t = read_rfft(call);
  if (stowi_kernel_kind(t.in.tensor->dtype) != STOW_KIND_FLOAT) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "x must have floats");
  }
  if (stowi_kernel_int(call, STOWI_KERNEL_ATTR_SIGNAL_DIMS, 1) != 1) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "signals of %lld dims are unsupported; expected 1",
                            (long long)stowi_kernel_int(call, STOWI_KERNEL_ATTR_SIGNAL_DIMS, 1));
  }
  if (stowi_kernel_bool(call, STOWI_KERNEL_ATTR_NORMALIZED, false)) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "normalized transforms are unsupported");
  }
  stowi_kernel_carve carve = {call->scratch, 0};
  transforms_carve(&t, call->workers, &carve);
  transforms_run(call, &t);
  return STOW_OK;
}

STOWI_KERNEL(RFFT, scratch_rfft, run_rfft);

// ---------------------------------------------------------------------------------------------
// stft: transforms of frames that begin |step| samples apart, each sample multiplied by the
// window's weight.

enum { X, STEP, WINDOW, LENGTH };

static bool is_known(const stow_tensor* t) { return t != NULL && t->data != NULL; }

// Samples in a frame; at most all that there are while that is not known.
static int64_t frame_length(const stow_kernel_call* call) {
  const stow_tensor* x = stow_kernel_operand(call, X);
  const stow_tensor* window = stow_kernel_operand(call, WINDOW);
  const stow_tensor* length = stow_kernel_operand(call, LENGTH);
  if (is_known(length)) {
    return stowi_kernel_int_at(length, 0);
  }
  return window != NULL ? window->dims[0] : x->dims[1];
}

static stow_status scratch_stft(const stow_kernel_call* call, uint64_t* out_bytes) {
  int64_t samples = stow_kernel_operand(call, X)->dims[1];
  int64_t length = frame_length(call);
  transforms t = {.length = (size_t)(length > samples || length < 0 ? samples : length)};
  stowi_kernel_carve carve = {NULL, 0};
  transforms_carve(&t, call->workers, &carve);
  *out_bytes = carve.used;
  return STOW_OK;
}

static stow_status check(const stow_kernel_call* call, int64_t step, int64_t length) {
  const stow_tensor* x = stow_kernel_operand(call, X);
  const stow_tensor* window = stow_kernel_operand(call, WINDOW);
  if (stowi_kernel_kind(x->dtype) != STOW_KIND_FLOAT || (x->rank == 3 && x->dims[2] > 2)) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "x must have floats and a last dim of 1 or 2");
  }
  if (step < 1 || length < 1 || length > x->dims[1]) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "frames of length %lld and step %lld do not fit %lld samples",
                            (long long)length, (long long)step, (long long)x->dims[1]);
  }
  if (window != NULL && window->dims[0] != length) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "a window of %lld does not fit frames of %lld",
                            (long long)window->dims[0], (long long)length);
  }
  return STOW_OK;
}

static stow_status run_stft(stow_kernel_call* call) {
  const stow_tensor* x = stow_kernel_operand(call, X);
  stow_tensor* out = stow_kernel_result(call, 0);
  int64_t step = stowi_kernel_int_at(stow_kernel_operand(call, STEP), 0);
  int64_t length = frame_length(call);
  STOWI_KERNEL_TRY(check(call, step, length));
  int64_t frames = (x->dims[1] - length) / step + 1;
  int64_t bins =
      stowi_kernel_bool(call, STOWI_KERNEL_ATTR_ONESIDED, true) ? length / 2 + 1 : length;
  if (frames > out->dims[1] || bins > out->dims[2]) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "%lld frames of %lld bins do not fit the result", (long long)frames,
                            (long long)bins);
  }
  out->dims[1] = frames;
  out->dims[2] = bins;
  size_t parts = x->rank == 3 ? (size_t)x->dims[2] : 1;
  size_t count = (size_t)frames;
  transforms t = {.lines = (size_t)x->dims[0] * count, .length = (size_t)length, .factor = 1};
  t.window = stow_kernel_operand(call, WINDOW);
  t.in = (line_set){x,     count,         (size_t)x->dims[1] * parts, (size_t)step * parts, parts,
                    parts, (size_t)length};
  t.out = (line_set){out, count, count * (size_t)bins * 2, (size_t)bins * 2, 2, 2, (size_t)bins};
  stowi_kernel_carve carve = {call->scratch, 0};
  transforms_carve(&t, call->workers, &carve);
  transforms_run(call, &t);
  return STOW_OK;
}

STOWI_KERNEL(STFT, scratch_stft, run_stft);
