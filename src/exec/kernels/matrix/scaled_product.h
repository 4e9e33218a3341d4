// Products of bytes whose sums become floats: sums · a's scale · b's scales + bias.
#ifndef STOWAGE_SRC_EXEC_KERNELS_MATRIX_SCALED_PRODUCT_H_
#define STOWAGE_SRC_EXEC_KERNELS_MATRIX_SCALED_PRODUCT_H_

#include "exec/kernels/matrix/quantized_product.h"

typedef struct stowi_scaled {
  stowi_lane a_scale;  // of rows
  float a_factor;      // multiplies every scale of a; is the scale where there is no tensor
  stowi_lane b_scale;  // of columns
  stowi_lane bias;     // of columns, f32 or narrower
  stow_tensor* result;
} stowi_scaled;

// A finisher; |user| is a stowi_scaled.
void stowi_finish_scaled(const stowi_quantized* q, const stowi_part* part, int32_t* sums);
// The product of both scales for |count| columns of row |row|; both count over all matrices.
void stowi_scales_of(const stowi_scaled* s, size_t row, const float* b_scales, size_t count,
                     float* out);

#endif  // STOWAGE_SRC_EXEC_KERNELS_MATRIX_SCALED_PRODUCT_H_
