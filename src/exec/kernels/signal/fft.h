// Discrete Fourier transforms of any length, in f64.
//
//     X[k] = Σ x[n] e^(∓2πi nk / N)
#ifndef STOWAGE_SRC_EXEC_KERNELS_SIGNAL_FFT_H_
#define STOWAGE_SRC_EXEC_KERNELS_SIGNAL_FFT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exec/kernels/support/carve.h"

typedef struct stowi_complex {
  double re;
  double im;
} stowi_complex;

// A transform of one length and what it looks up; made once, used by all workers.
typedef struct stowi_fft {
  size_t length;
  size_t padded;             // length where that is a power of two, else one for a convolution
  stowi_complex* roots;      // [padded / 2]: e^(-2πi k / padded)
  stowi_complex* chirp;      // [length]: e^(-πi n² / length); NULL where not needed
  stowi_complex* chirp_fft;  // [padded]: transform of its inverse, as a filter
} stowi_fft;

// Lays tables out; they are filled by stowi_fft_fill. While counting every length is taken for one
// that is no power of two, since a shorter one may need more.
stowi_fft stowi_fft_plan(size_t length, stowi_carve* carve);
void stowi_fft_fill(const stowi_fft* fft);
// Numbers that a worker needs beside |x|.
size_t stowi_fft_work(const stowi_fft* fft);
// Transforms |x|, length numbers, in place; back where |inverse|, without dividing by the length.
// |work| has stowi_fft_work(fft) numbers.
void stowi_fft_run(const stowi_fft* fft, bool inverse, stowi_complex* x, stowi_complex* work);

#endif  // STOWAGE_SRC_EXEC_KERNELS_SIGNAL_FFT_H_
