// What ops on quantised tensors share: a number q stands for (q - zero) × scale.
#ifndef STOWAGE_SRC_EXEC_KERNELS_QUANTIZED_QUANTIZE_H_
#define STOWAGE_SRC_EXEC_KERNELS_QUANTIZED_QUANTIZE_H_

#include <stowage/kernel.h>

typedef struct stowi_kernel_scale {
  float scale;
  float zero;
} stowi_kernel_scale;

// The single elements of operands |k| and |k| + 1, of which the second may be absent: 0. Fails
// where there is no scale.
stow_status stowi_kernel_read_scale(const stow_kernel_call* call, size_t k,
                                    stowi_kernel_scale* out_scale);

// Writes |count| elements from |first| on: each quotient (x / scale), rounded half to even, plus
// its zero, saturated to |dtype|, which is an integer of up to 16 bits; or as a small float, not
// rounded before, saturated if |saturates|. NaN becomes the smallest integer. |zeros| moves on by
// |zero_step|, 0 or 1. |quotients| are destroyed.
void stowi_kernel_quantize(stow_dtype dtype, void* data, size_t first, size_t count,
                           float* quotients, const float* zeros, size_t zero_step, bool saturates);
// Whether |dtype| is one of those.
bool stowi_kernel_is_quantized(stow_dtype dtype);

// The same of numbers with one scale.
void stowi_kernel_quantize_by(stowi_kernel_scale scale, stow_dtype dtype, void* data, size_t first,
                              size_t count, float* numbers);

// The same as u8, in one pass; x stays as it is.
void stowi_kernel_quantize_bytes(stowi_kernel_scale scale, const float* x, size_t count,
                                 uint8_t* out);

// For each of the 256 codes of |from|, an integer of 8 bits, the code of |function| of its number.
// The same scale, zero and dtype without a function give the same codes.
void stowi_kernel_quantize_table(stowi_kernel_scale in, stow_dtype from, stowi_kernel_scale out,
                                 stow_dtype to, float (*function)(float x, float p), float p,
                                 uint8_t table[256]);

// Fails where |tensor| is of no integers of 8 bits; |what| names it.
stow_status stowi_kernel_need_bytes(const stow_kernel_call* call, const stow_tensor* tensor,
                                    const char* what);

#endif  // STOWAGE_SRC_EXEC_KERNELS_QUANTIZED_QUANTIZE_H_
