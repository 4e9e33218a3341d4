// Floats of 8 and 4 bits: a sign, a few bits of exponent and of fraction. f8e8m0 is an exponent
// alone: a power of two.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SUPPORT_SMALL_H_
#define STOWAGE_SRC_EXEC_KERNELS_SUPPORT_SMALL_H_

#include <stowage/kernel.h>

// Which power of two f8e8m0 takes for what lies between two of them. The others always round to
// nearest, ties to even.
typedef enum stowi_kernel_round {
  STOWI_KERNEL_ROUND_UP,
  STOWI_KERNEL_ROUND_DOWN,
  STOWI_KERNEL_ROUND_NEAREST
} stowi_kernel_round;

// Whether |dtype| is one of these.
bool stowi_kernel_is_small(stow_dtype dtype);

// The number that |code| stands for; exact.
float stowi_kernel_f32_of_small(stow_dtype dtype, uint8_t code);

// The way back. What is too large becomes the largest number with |saturates|, else infinity, or
// NaN in types that have none; f4e2m1 always saturates, and takes NaN as -0. f8e8m0 saturates at
// its smallest number too, and has no negative ones: they become NaN.
uint8_t stowi_kernel_small_of_f64(stow_dtype dtype, double x, bool saturates,
                                  stowi_kernel_round round);

#endif  // STOWAGE_SRC_EXEC_KERNELS_SUPPORT_SMALL_H_
