// Elements of any dtype as elements that C can compute with. Kernels work on blocks: read a block
// of every operand, compute, write a block.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SUPPORT_CONVERT_H_
#define STOWAGE_SRC_EXEC_KERNELS_SUPPORT_CONVERT_H_

#include <stowage/kernel.h>

#include "exec/kernels/support/dtype.h"

#define STOWI_KERNEL_BLOCK 224  // elements in a block; small enough for several on the stack

// |count| elements of |data| from element |first| on. Floats, integers and bools of every width;
// complex numbers have no such form. To f32 and f64: the nearest number, ties to even. To i64:
// towards zero, clamped to the range (NaN: 0); u64 keeps its bits.
void stowi_kernel_load_f32(stow_dtype dtype, const void* data, size_t first, size_t count,
                           float* out);
void stowi_kernel_load_f64(stow_dtype dtype, const void* data, size_t first, size_t count,
                           double* out);
void stowi_kernel_load_i64(stow_dtype dtype, const void* data, size_t first, size_t count,
                           int64_t* out);

// The way back. Floats become narrower to nearest, ties to even, overflow to infinity (in f8 types
// as ONNX's Cast with saturate; f8e8m0 upwards). Floats become integers towards zero, clamped to
// the range of i32, u32 with its negative numbers, i64 or u64 likewise (NaN: 0), of which narrower
// ones keep the low bits. Bools are != 0. Integers that do not fit keep their low bits. Elements
// beside those of less than a byte stay as they were, but two threads must not write the same byte.
void stowi_kernel_store_f32(stow_dtype dtype, void* data, size_t first, size_t count,
                            const float* in);
void stowi_kernel_store_f64(stow_dtype dtype, void* data, size_t first, size_t count,
                            const double* in);
void stowi_kernel_store_i64(stow_dtype dtype, void* data, size_t first, size_t count,
                            const int64_t* in);

// Fails where an operand or a result is of complex numbers, or a result of elements of less than a
// byte: for kernels that read whatever floats and integers there are, and write by row.
stow_status stowi_kernel_need_plain(const stow_kernel_call* call);

// Clears the bits of the last byte that no element has, so that equal tensors are equal bytes.
void stowi_kernel_clear_rest(stow_tensor* tensor);

// One element; for scalars and indices. 0 if there is none: a scalar may turn out to be empty.
int64_t stowi_kernel_int_at(const stow_tensor* tensor, size_t i);
double stowi_kernel_float_at(const stow_tensor* tensor, size_t i);

#endif  // STOWAGE_SRC_EXEC_KERNELS_SUPPORT_CONVERT_H_
