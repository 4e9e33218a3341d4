// Scales are multiplied once for each column of a part, or for each row where rows have their own.
#include "exec/kernels/matrix/scaled_product.h"

#include "exec/kernels/support/convert.h"

void stowi_scales_of(const stowi_scaled* s, size_t row, const float* b_scales, size_t count,
                     float* out) {
  float a = 1;
  if (s->a_scale.tensor != NULL) {
    stowi_lane_floats(&s->a_scale, row, 1, &a);
  }
  a *= s->a_factor;
  for (size_t j = 0; j < count; ++j) {
    out[j] = a * b_scales[j];
  }
}

void stowi_finish_scaled(const stowi_quantized* q, const stowi_part* part, int32_t* sums) {
  const stowi_scaled* s = q->user;
  const stowi_product* p = &q->product;
  float b_scales[STOWI_BLOCK_COLUMNS];
  float scales[STOWI_BLOCK_COLUMNS];
  float bias[STOWI_BLOCK_COLUMNS];
  float line[STOWI_BLOCK_COLUMNS];
  size_t column = part->batch * p->n + part->column;
  stowi_lane_floats(&s->b_scale, column, part->columns, b_scales);
  stowi_lane_floats(&s->bias, column, part->columns, bias);
  for (size_t i = 0; i < part->rows; ++i) {
    size_t row = part->batch * p->m + part->row + i;
    if (i == 0 || s->a_scale.count != 1) {
      stowi_scales_of(s, row, b_scales, part->columns, scales);
    }
    stowi_scale_row(sums + i * part->columns, scales, s->bias.tensor != NULL ? bias : NULL,
                    part->columns, line);
    stowi_store_f32(s->result->dtype, s->result->data,
                    stowi_product_element(p, part->batch, part->row + i, part->column),
                    part->columns, line);
  }
}
