// Patterns of the rule `qdq`: dequantize_linear, a node, and quantize_linear of its result.
#ifndef STOWAGE_SRC_REWRITE_QDQ_H_
#define STOWAGE_SRC_REWRITE_QDQ_H_

#include "rewrite/pass.h"
#include "rewrite/quant.h"

#define STOWI_REWRITE_QDQ_SKIPPED 2

typedef struct stowi_rewrite_qdq {
  const stowi_rewrite_pass* pass;
  stow_node quantize;
  stowi_rewrite_quant out;                       // one scale, integers of 8 or 16 bits
  stow_node node;                                // what is computed; a dequantize_linear: nothing
  stow_node skipped[STOWI_REWRITE_QDQ_SKIPPED];  // activations that saturation implies, last first
  size_t skipped_count;
} stowi_rewrite_qdq;

// What integer op a pattern becomes.
typedef struct stowi_rewrite_qdq_row {
  stow_op op;  // of |node|
  // Whether it does, and how many values are added before its result.
  bool (*fits)(const stowi_rewrite_qdq* qdq, size_t* out_before);
  stow_status (*add)(stowi_rewrite_pass* pass, const stowi_rewrite_change* change);
} stowi_rewrite_qdq_row;

extern const stowi_rewrite_qdq_row stowi_rewrite_qdq_products[];  // ends with a row without |fits|
extern const stowi_rewrite_qdq_row stowi_rewrite_qdq_others[];

// The pattern that ends at |quantize|, if it is one; whether anything else reads what is between is
// not asked. It depends on the old graph alone, so that the functions of changes find it again.
bool stowi_rewrite_qdq_find(const stowi_rewrite_pass* pass, stow_node quantize,
                            stowi_rewrite_qdq* out);
// Operand |k| of the node, if it is dequantised integers of 8 bits that may be read elsewhere.
bool stowi_rewrite_qdq_operand(const stowi_rewrite_qdq* qdq, size_t k,
                               stowi_rewrite_dequantized* out);

// ---------------------------------------------------------------------------------------------
// For functions that add nodes

// 1 if the zero point is missing, so that stowi_rewrite_qdq_zero adds one.
size_t stowi_rewrite_qdq_missing(const stowi_rewrite_quant* quant);
// The zero point in the new graph. |suffix| tells the names of several constants apart.
stow_status stowi_rewrite_qdq_zero(stowi_rewrite_pass* pass, const stowi_rewrite_change* change,
                                   const stowi_rewrite_quant* quant, const char* suffix,
                                   stow_value* out_value);
// A constant of integers, named after the change's result.
stow_status stowi_rewrite_qdq_constant(stowi_rewrite_pass* pass, const stowi_rewrite_change* change,
                                       const stow_type* type, const int64_t* data, size_t count,
                                       const char* suffix, stow_value* out_value);
// The next three operands: a quantised value, its scale, and |zero| of the new graph.
void stowi_rewrite_qdq_put(stowi_rewrite_pass* pass, stow_call* call,
                           const stowi_rewrite_dequantized* x, stow_value zero);
// The next two operands: scale and zero point of the result.
void stowi_rewrite_qdq_put_out(stowi_rewrite_pass* pass, stow_call* call,
                               const stowi_rewrite_quant* out, stow_value zero);

#endif  // STOWAGE_SRC_REWRITE_QDQ_H_
