// Transforms of many lines of numbers that lie anywhere in a tensor: what dft, rfft and stft are
// made of.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SIGNAL_LINES_H_
#define STOWAGE_SRC_EXEC_KERNELS_SIGNAL_LINES_H_

#include <stowage/kernel.h>

#include "exec/kernels/signal/fft.h"

// Line i begins at element (i / inner) · outer_stride + (i % inner) · inner_stride of its tensor;
// its numbers are |stride| apart, each |parts| elements: a real one, or real and imaginary part.
typedef struct stowi_lines {
  const stow_tensor* tensor;
  size_t inner;
  size_t outer_stride, inner_stride, stride;
  size_t parts;
  size_t count;  // numbers in a line
} stowi_lines;

typedef struct stowi_transforms {
  size_t lines;
  stowi_lines in;
  stowi_lines out;
  const stow_tensor* window;  // factors of the numbers that are read; NULL: none
  size_t length;              // longer than what is read: zeros follow; shorter: the rest is left
  bool inverse;               // divided by the length
  bool mirrors;               // what is read is half of a spectrum: the rest is its conjugate
  double factor;              // of what is written, beside that
  // Set by stowi_transforms_carve.
  stowi_fft fft;
  unsigned char* scratch;
  uint64_t scratch_stride;
} stowi_transforms;

void stowi_transforms_carve(stowi_transforms* t, uint32_t workers, stowi_carve* carve);
void stowi_transforms_run(const stow_kernel_call* call, const stowi_transforms* t);

#endif  // STOWAGE_SRC_EXEC_KERNELS_SIGNAL_LINES_H_
