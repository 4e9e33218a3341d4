// Powers of two by Cooley and Tukey ("An Algorithm for the Machine Calculation of Complex Fourier
// Series", 1965), in place after a permutation by reversed bits. Other lengths as a convolution
// with a chirp (Bluestein, "A Linear Filtering Approach to the Computation of Discrete Fourier
// Transform", 1970), which two transforms of a power of two at least twice as long compute. All in
// O(n log n), with the roots from sin and cos directly, so that errors stay near the last bit.
#include "exec/kernels/signal/fft.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static bool is_power(size_t n) { return n != 0 && (n & (n - 1)) == 0; }

static stowi_complex times(stowi_complex a, stowi_complex b) {
  return (stowi_complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static stowi_complex conjugate(stowi_complex a) { return (stowi_complex){a.re, -a.im}; }

// e^(-πi numerator / denominator), the angle brought into an eighth of the circle so that quarter
// turns are exact.
static stowi_complex root(uint64_t numerator, uint64_t denominator) {
  uint64_t n = numerator % (2 * denominator);
  uint64_t quarters = 2 * n / denominator;  // of half a turn
  uint64_t rest = 2 * n % denominator;      // of denominator, a quarter turn
  double angle = pi / 2 * ((double)rest / (double)denominator);
  double c = cos(angle);
  double s = sin(angle);
  switch (quarters) {
    case 0:
      return (stowi_complex){c, -s};
    case 1:
      return (stowi_complex){-s, -c};
    case 2:
      return (stowi_complex){-c, s};
    default:
      return (stowi_complex){s, c};
  }
}

// ---------------------------------------------------------------------------------------------
// Powers of two

static void reverse_bits(stowi_complex* x, size_t count) {
  size_t reversed = 0;
  for (size_t i = 1; i < count; ++i) {
    size_t bit = count / 2;
    for (; (reversed & bit) != 0; bit /= 2) {
      reversed ^= bit;
    }
    reversed |= bit;
    if (i < reversed) {
      stowi_complex swap = x[i];
      x[i] = x[reversed];
      x[reversed] = swap;
    }
  }
}

static void transform_power(const stowi_complex* roots, size_t count, bool inverse,
                            stowi_complex* x) {
  reverse_bits(x, count);
  for (size_t half = 1; half < count; half *= 2) {
    size_t step = count / (2 * half);
    for (size_t begin = 0; begin < count; begin += 2 * half) {
      for (size_t k = 0; k < half; ++k) {
        stowi_complex w = inverse ? conjugate(roots[k * step]) : roots[k * step];
        stowi_complex* a = &x[begin + k];
        stowi_complex* b = a + half;
        stowi_complex turned = times(*b, w);
        *b = (stowi_complex){a->re - turned.re, a->im - turned.im};
        *a = (stowi_complex){a->re + turned.re, a->im + turned.im};
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Any length

stowi_fft stowi_fft_plan(size_t length, stowi_carve* carve) {
  stowi_fft fft = {.length = length, .padded = 1};
  bool is_counting = carve->base == NULL;
  size_t least = length == 0 || (is_power(length) && !is_counting) ? length : 2 * length - 1;
  while (fft.padded < least && fft.padded <= SIZE_MAX / 4) {
    fft.padded *= 2;
  }
  fft.roots = stowi_carve_take(carve, fft.padded / 2 + 1, sizeof(stowi_complex));
  fft.chirp = stowi_carve_take(carve, length, sizeof(stowi_complex));
  fft.chirp_fft = stowi_carve_take(carve, fft.padded, sizeof(stowi_complex));
  return fft;
}

size_t stowi_fft_work(const stowi_fft* fft) { return fft->padded; }

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

void stowi_fft_fill(const stowi_fft* fft) {
  for (size_t k = 0; k < fft->padded / 2; ++k) {
    fft->roots[k] = root(2 * k, fft->padded);
  }
  if (fft->padded == fft->length || fft->length == 0) {
    return;
  }
  memset(fft->chirp_fft, 0, fft->padded * sizeof(stowi_complex));
  for (size_t n = 0; n < fft->length; ++n) {
    fft->chirp[n] = root(square_mod(n, 2 * (uint64_t)fft->length), fft->length);
    fft->chirp_fft[n] = conjugate(fft->chirp[n]);
    fft->chirp_fft[n == 0 ? 0 : fft->padded - n] = fft->chirp_fft[n];
  }
  transform_power(fft->roots, fft->padded, false, fft->chirp_fft);
}

// x[k] = chirp[k] · Σ (x[n] chirp[n]) conj(chirp[k - n]). A transform back is the conjugate of one
// of conjugates.
static void transform_any(const stowi_fft* fft, bool inverse, stowi_complex* x,
                          stowi_complex* work) {
  memset(work, 0, fft->padded * sizeof(stowi_complex));
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
    stowi_complex sum = {work[k].re * factor, work[k].im * factor};
    stowi_complex out = times(sum, fft->chirp[k]);
    x[k] = inverse ? conjugate(out) : out;
  }
}

void stowi_fft_run(const stowi_fft* fft, bool inverse, stowi_complex* x, stowi_complex* work) {
  if (fft->length == fft->padded) {
    transform_power(fft->roots, fft->length, inverse, x);
  } else if (fft->length != 0) {
    transform_any(fft, inverse, x, work);
  }
}
