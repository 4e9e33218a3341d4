// Shapes of matrix products that do more than multiply: transpose their factors, add, activate, or
// take quantised factors. The rules for dims are matmul's; they differ in the positions of the
// factors among the operands and in the element type of the result.
#include "base/diag.h"
#include "graph/shapes/shapes.h"

// ---------------------------------------------------------------------------------------------
// Transposed factors

// Operand |k| as a factor, transposed by the attributes |trans_batch| (NULL: none) and |trans|.
static stow_type factor(const stow_shape_call* call, size_t k, const char* trans_batch,
                        const char* trans) {
  stow_type type = *stow_shape_operand(call, k);
  if (type.rank < 2) {
    return type;
  }
  if (trans_batch != NULL && stow_shape_attr_bool(call, trans_batch, false)) {
    // Moves the first dim behind the other batch dims: [d0, d1, …, dn, last] is [d1, …, dn, d0,
    // last].
    stow_dim first = type.dims[0];
    for (uint32_t i = 0; i + 2 < type.rank; ++i) {
      type.dims[i] = type.dims[i + 1];
    }
    type.dims[type.rank - 2] = first;
  }
  if (stow_shape_attr_bool(call, trans, false)) {
    stow_dim last = type.dims[type.rank - 1];
    type.dims[type.rank - 1] = type.dims[type.rank - 2];
    type.dims[type.rank - 2] = last;
  }
  return type;
}

stow_status stowi_graph_shape_fused_matmul(stow_shape_call* call) {
  STOW_TRY(stowi_graph_shape_same_dtype(call, 0, 1));
  stow_type a = factor(call, 0, "trans_batch_a", "trans_a");
  stow_type b = factor(call, 1, "trans_batch_b", "trans_b");
  stow_type result;
  STOW_TRY(stowi_graph_shape_multiply(call, &a, &b, &result));
  return stowi_graph_shape_set(call, 0, &result);
}

// Two matrices and an addend, operands |a|, |b| and |c|, which may be missing.
static stow_status gemm(stow_shape_call* call, size_t a, size_t b, size_t c, stow_type* out) {
  stow_type first = factor(call, a, NULL, "trans_a");
  stow_type second = factor(call, b, NULL, "trans_b");
  if (first.rank != 2 || second.rank != 2) {
    return stow_shape_fail(call, "operands %zu and %zu must be matrices", a, b);
  }
  STOW_TRY(stowi_graph_shape_multiply(call, &first, &second, out));
  return stowi_graph_shape_broadcast_to(call, c, out, "the addend");
}

stow_status stowi_graph_shape_fused_gemm(stow_shape_call* call) {
  stow_type result;
  STOW_TRY(stowi_graph_shape_same_dtype(call, 0, 1));
  STOW_TRY(gemm(call, 0, 1, 2, &result));
  return stowi_graph_shape_set(call, 0, &result);
}

// ---------------------------------------------------------------------------------------------
// Quantised factors

// a, scale, zero, b, scale, zero, [addend], [scale, zero of the result]: floats without the last
// two.
stow_status stowi_graph_shape_qgemm(stow_shape_call* call) {
  stow_type result;
  STOW_TRY(gemm(call, 0, 3, 6, &result));
  const stow_type* zero = stow_shape_operand(call, 8);
  result.dtype = zero == NULL ? STOW_F32 : zero->dtype;
  return stowi_graph_shape_set(call, 0, &result);
}

// Operands 0 and 1 multiplied, as |dtype|, with operand |bias| added.
static stow_status set_product(stow_shape_call* call, stow_dtype dtype, size_t bias) {
  stow_type result;
  STOW_TRY(stowi_graph_shape_multiply(call, stow_shape_operand(call, 0),
                                      stow_shape_operand(call, 1), &result));
  STOW_TRY(stowi_graph_shape_broadcast_to(call, bias, &result, "the bias"));
  result.dtype = dtype;
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_dynamic_quantize_matmul(stow_shape_call* call) {
  return set_product(call, stow_shape_operand(call, 0)->dtype, 4);
}

stow_status stowi_graph_shape_matmul_integer_to_float(stow_shape_call* call) {
  return set_product(call, stow_shape_operand(call, 2)->dtype, 6);
}

// Operand 1 is packed: `rows` and `columns` are the dims it represents.
stow_status stowi_graph_shape_matmul_nbits(stow_shape_call* call) {
  stow_dim weights[] = {stow_shape_attr_int(call, "rows", 0),
                        stow_shape_attr_int(call, "columns", 0)};
  int64_t block = stow_shape_attr_int(call, "block_size", 0);
  int64_t bits = stow_shape_attr_int(call, "bits", 4);
  if (weights[0] < 1 || weights[1] < 1 || block < 1 || bits < 1 || bits > 8) {
    return stow_shape_fail(call, "rows, columns and block_size must be positive, and bits 1 to 8");
  }
  STOW_TRY(stowi_graph_shape_min_rank(call, 0, 1));
  const stow_type* a = stow_shape_operand(call, 0);
  stow_type packed = stow_type_make(a->dtype, 2, weights);
  stow_type result;
  STOW_TRY(stowi_graph_shape_multiply(call, a, &packed, &result));
  STOW_TRY(stowi_graph_shape_broadcast_to(call, 5, &result, "the bias"));
  return stowi_graph_shape_set(call, 0, &result);
}
