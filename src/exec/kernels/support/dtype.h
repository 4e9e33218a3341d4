// What a dtype is: its bits, its kind, its name. Apart from convert.h, so that a program that
// converts nothing does not hold all conversions.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SUPPORT_DTYPE_H_
#define STOWAGE_SRC_EXEC_KERNELS_SUPPORT_DTYPE_H_

#include <stowage/kernel.h>

// Bits of an element; kind as stow_dtype_kind_of.
uint32_t stowi_kernel_bits(stow_dtype dtype);
stow_dtype_kind stowi_kernel_kind(stow_dtype dtype);
// "f32", for messages; "?" for a value that is not a dtype.
const char* stowi_kernel_dtype_text(stow_dtype dtype);

#endif  // STOWAGE_SRC_EXEC_KERNELS_SUPPORT_DTYPE_H_
