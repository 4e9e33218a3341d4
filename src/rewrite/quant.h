// How a value is quantised: a number q stands for (q - zero) × scale.
#ifndef STOWAGE_SRC_REWRITE_QUANT_H_
#define STOWAGE_SRC_REWRITE_QUANT_H_

#include "graph/api.h"

typedef struct stowi_rewrite_quant {
  stow_value scale;  // f32, with data
  stow_value zero;   // with data; STOW_VALUE_NONE: 0
  stow_dtype dtype;  // of q
  size_t count;      // of scales: 1, or one per index along |axis|
  uint32_t axis;
} stowi_rewrite_quant;

// A dequantised operand.
typedef struct stowi_rewrite_dequantized {
  stow_node node;  // dequantize_linear
  stow_value value;
  stowi_rewrite_quant quant;
} stowi_rewrite_dequantized;

// Whether |node| is a quantize_linear of f32, or a dequantize_linear to f32, of integers of 8, 16
// or 32 bits, with scales that are weights with data, positive and neither tiny nor huge.
bool stowi_rewrite_quant_read(const stow_graph* graph, stow_node node, stowi_rewrite_quant* out);
// Whether |value| is the result of such a dequantize_linear, which a rule may leave out.
bool stowi_rewrite_quant_of(const stow_graph* graph, stow_value value,
                            stowi_rewrite_dequantized* out);

// Of index |i|, below |count|, or any if that is 1.
float stowi_rewrite_quant_scale(const stow_graph* graph, const stowi_rewrite_quant* quant,
                                size_t i);
int32_t stowi_rewrite_quant_zero(const stow_graph* graph, const stowi_rewrite_quant* quant,
                                 size_t i);
// Whether both have one scale, and the same one, the same zero and the same dtype.
bool stowi_rewrite_quant_same(const stow_graph* graph, const stowi_rewrite_quant* a,
                              const stowi_rewrite_quant* b);

// Integers of 8 bits.
bool stowi_rewrite_is_byte(stow_dtype dtype);
// The least and largest number of an integer dtype of up to 16 bits.
int32_t stowi_rewrite_least(stow_dtype dtype);
int32_t stowi_rewrite_most(stow_dtype dtype);
// What |x| is quantised to; |quant| has one scale.
int32_t stowi_rewrite_quantize(const stow_graph* graph, const stowi_rewrite_quant* quant, float x);
// The largest |q - zero| for index |i|.
int32_t stowi_rewrite_quant_span(const stow_graph* graph, const stowi_rewrite_quant* quant,
                                 size_t i);

// Data of a param or constant; NULL: |value| is none, or has none.
const void* stowi_rewrite_weight(const stow_graph* graph, stow_value value);
// Element |i| of data of such integers.
int32_t stowi_rewrite_int_at(stow_dtype dtype, const void* data, size_t i);
float stowi_rewrite_float_at(const void* data, size_t i);

#endif  // STOWAGE_SRC_REWRITE_QUANT_H_
