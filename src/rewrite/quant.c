#include "rewrite/quant.h"

#include <string.h>

#include "rewrite/facts.h"

// ---------------------------------------------------------------------------------------------
// Data

const void* stowi_rewrite_weight(const stow_graph* graph, stow_value value) {
  stow_op op = stow_graph_op(graph, stow_graph_producer(graph, value));
  return op == STOW_OP_PARAM || op == STOW_OP_CONSTANT ? stow_graph_data(graph, value, NULL) : NULL;
}

float stowi_rewrite_float_at(const void* data, size_t i) {
  float number;
  memcpy(&number, (const char*)data + i * sizeof(number), sizeof(number));
  return number;
}

int32_t stowi_rewrite_int_at(stow_dtype dtype, const void* data, size_t i) {
  int16_t half;
  int32_t word;
  switch (dtype) {
    case STOW_I8: return ((const int8_t*)data)[i];
    case STOW_U8: return ((const uint8_t*)data)[i];
    case STOW_I16:
    case STOW_U16:
      memcpy(&half, (const char*)data + i * sizeof(half), sizeof(half));
      return dtype == STOW_I16 ? half : (int32_t)(uint16_t)half;
    default: memcpy(&word, (const char*)data + i * sizeof(word), sizeof(word)); return word;
  }
}

// ---------------------------------------------------------------------------------------------
// Dtypes

bool stowi_rewrite_is_byte(stow_dtype dtype) { return dtype == STOW_I8 || dtype == STOW_U8; }

int32_t stowi_rewrite_least(stow_dtype dtype) {
  return dtype == STOW_I8 ? INT8_MIN : dtype == STOW_I16 ? INT16_MIN : 0;
}

int32_t stowi_rewrite_most(stow_dtype dtype) {
  switch (dtype) {
    case STOW_I8: return INT8_MAX;
    case STOW_U8: return UINT8_MAX;
    case STOW_I16: return INT16_MAX;
    default: return UINT16_MAX;
  }
}

// ---------------------------------------------------------------------------------------------
// Scales and zero points

static size_t elements_of(const stow_graph* graph, stow_value value) {
  uint64_t count;
  bool is_good = stow_type_elements(stow_graph_type(graph, value), &count) == STOW_OK;
  return is_good && count <= SIZE_MAX ? (size_t)count : 0;
}

// Numbers of 16 bits times such a scale, and divided by it again, are off by less than half, and no
// product or quotient of three scales leaves the range of f32.
static bool has_good_scales(const stow_graph* graph, const stowi_rewrite_quant* quant) {
  const void* data = stowi_rewrite_weight(graph, quant->scale);
  bool is_good = data != NULL && stow_graph_type(graph, quant->scale)->dtype == STOW_F32;
  for (size_t i = 0; is_good && i < quant->count; ++i) {
    float scale = stowi_rewrite_float_at(data, i);
    is_good = scale > 0x1p-40F && scale < 0x1p40F;
  }
  return is_good && quant->count != 0;
}

static bool has_good_zeros(const stow_graph* graph, const stowi_rewrite_quant* quant) {
  return quant->zero == STOW_VALUE_NONE ||
         (stowi_rewrite_weight(graph, quant->zero) != NULL &&
          stow_graph_type(graph, quant->zero)->dtype == quant->dtype &&
          elements_of(graph, quant->zero) == quant->count);
}

static bool is_quantized_dtype(stow_dtype dtype) {
  return stowi_rewrite_is_byte(dtype) || dtype == STOW_I16 || dtype == STOW_U16 ||
         dtype == STOW_I32;
}

static bool has_plain_attrs(const stow_graph* graph, stow_node node) {
  const stow_attr* block = stow_graph_attr(graph, node, "block_size");
  const stow_attr* precision = stow_graph_attr(graph, node, "precision");
  return (block == NULL || block->i == 0) && (precision == NULL || precision->s.size == 0 ||
                                              stow_str_equal(precision->s, stow_str_of("f32")));
}

bool stowi_rewrite_quant_read(const stow_graph* graph, stow_node node, stowi_rewrite_quant* out) {
  stow_op op = stow_graph_op(graph, node);
  if (op != STOW_OP_QUANTIZE_LINEAR && op != STOW_OP_DEQUANTIZE_LINEAR) {
    return false;
  }
  const stow_value* operands = stow_graph_operands(graph, node);
  const stow_type* from = stow_graph_type(graph, operands[0]);
  const stow_type* to = stow_graph_type(graph, stow_graph_first_result(graph, node));
  bool makes_floats = op == STOW_OP_DEQUANTIZE_LINEAR;
  *out = (stowi_rewrite_quant){
      .scale = operands[1],
      .zero = stow_graph_operand_count(graph, node) > 2 ? operands[2] : STOW_VALUE_NONE,
      .dtype = makes_floats ? from->dtype : to->dtype,
      .count = elements_of(graph, operands[1])};
  int64_t axis = stow_graph_attr(graph, node, "axis")->i;
  axis = from->rank <= 1 ? 0 : axis < 0 ? axis + (int64_t)from->rank : axis;
  out->axis = (uint32_t)axis;
  return (makes_floats ? to : from)->dtype == STOW_F32 && is_quantized_dtype(out->dtype) &&
         has_plain_attrs(graph, node) && has_good_scales(graph, out) && has_good_zeros(graph, out);
}

bool stowi_rewrite_quant_of(const stow_graph* graph, stow_value value,
                            stowi_rewrite_dequantized* out) {
  if (value == STOW_VALUE_NONE) {
    return false;
  }
  out->node = stow_graph_producer(graph, value);
  if (stow_graph_op(graph, out->node) != STOW_OP_DEQUANTIZE_LINEAR ||
      stowi_rewrite_is_barrier(graph, out->node)) {
    return false;
  }
  out->value = stow_graph_operands(graph, out->node)[0];
  return stowi_rewrite_quant_read(graph, out->node, &out->quant);
}

float stowi_rewrite_quant_scale(const stow_graph* graph, const stowi_rewrite_quant* quant,
                                size_t i) {
  return stowi_rewrite_float_at(stowi_rewrite_weight(graph, quant->scale),
                                quant->count == 1 ? 0 : i);
}

int32_t stowi_rewrite_quant_zero(const stow_graph* graph, const stowi_rewrite_quant* quant,
                                 size_t i) {
  return quant->zero == STOW_VALUE_NONE
             ? 0
             : stowi_rewrite_int_at(quant->dtype, stowi_rewrite_weight(graph, quant->zero),
                                    quant->count == 1 ? 0 : i);
}

bool stowi_rewrite_quant_same(const stow_graph* graph, const stowi_rewrite_quant* a,
                              const stowi_rewrite_quant* b) {
  return a->count == 1 && b->count == 1 && a->dtype == b->dtype &&
         stowi_rewrite_quant_scale(graph, a, 0) == stowi_rewrite_quant_scale(graph, b, 0) &&
         stowi_rewrite_quant_zero(graph, a, 0) == stowi_rewrite_quant_zero(graph, b, 0);
}

// As quantize_linear does: rounded half to even, then saturated. Adding 1.5 × 2^23 leaves no room
// for a fraction.
int32_t stowi_rewrite_quantize(const stow_graph* graph, const stowi_rewrite_quant* quant, float x) {
  float far = 0x1p21F;
  float q = x / stowi_rewrite_quant_scale(graph, quant, 0);
  q = q > -far ? q : -far;
  q = q < far ? q : far;
  q = (q + 0x1.8p23F) - 0x1.8p23F;
  int32_t number = (int32_t)q + stowi_rewrite_quant_zero(graph, quant, 0);
  int32_t least = stowi_rewrite_least(quant->dtype);
  int32_t most = stowi_rewrite_most(quant->dtype);
  return number < least ? least : number > most ? most : number;
}

int32_t stowi_rewrite_quant_span(const stow_graph* graph, const stowi_rewrite_quant* quant,
                                 size_t i) {
  int32_t zero = stowi_rewrite_quant_zero(graph, quant, i);
  int32_t below = zero - stowi_rewrite_least(quant->dtype);
  int32_t above = stowi_rewrite_most(quant->dtype) - zero;
  return below > above ? below : above;
}
