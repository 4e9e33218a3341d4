// Sums of products of centred bytes as i16.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SPATIAL_INT_DOTS_H_
#define STOWAGE_SRC_EXEC_KERNELS_SPATIAL_INT_DOTS_H_

#include <stddef.h>
#include <stdint.h>

#define STOWI_KERNEL_DOT_STEP 32  // |depth| is a multiple of it

// out[r * out_row + c] = sum over k of a[r * depth + k] × b[c * b_row + k], for r < rows and
// c < columns. Numbers are in [-255, 255]; sums wrap.
void stowi_kernel_int_dots(const int16_t* a, size_t rows, const int16_t* b, size_t b_row,
                           size_t columns, size_t depth, int32_t* out, size_t out_row);
// sums[i] += a[i] × b[i] for i < count.
void stowi_kernel_int_products(const int16_t* a, const int16_t* b, size_t count, int32_t* sums);
// sums[i] += sum over p of a[p] × b[p * b_row + i], for i < count and p < steps, of which there are
// STOWI_KERNEL_INT_STEPS at most.
#define STOWI_KERNEL_INT_STEPS 8
void stowi_kernel_int_rows(const int16_t* a, size_t steps, const int16_t* b, size_t b_row,
                           size_t count, int32_t* sums);

#endif  // STOWAGE_SRC_EXEC_KERNELS_SPATIAL_INT_DOTS_H_
