// Shapes of contractions: matmul by numpy's rules, and similar ops.
#include <inttypes.h>

#include "base/diag.h"
#include "graph/shapes/shapes.h"

// ---------------------------------------------------------------------------------------------
// Products of matrices

// The dims before the last two.
static stow_type batch_of(const stow_type* type) {
  return stow_type_make(type->dtype, type->rank < 2 ? 0 : type->rank - 2, type->dims);
}

stow_status stowi_graph_shape_multiply(stow_shape_call* call, const stow_type* a,
                                       const stow_type* b, stow_type* out) {
  if (a->rank == 0 || b->rank == 0) {
    return stow_shape_fail(call, "a factor has rank 0, expected at least 1");
  }
  stow_dim columns = a->dims[a->rank - 1];
  stow_dim rows = b->dims[b->rank == 1 ? 0 : b->rank - 2];
  if (stowi_graph_shape_differ(call, columns, rows)) {
    return stow_shape_fail(call, "the first factor has %s columns, but the second has %s rows",
                           stowi_graph_shape_dim_text(call, columns).text,
                           stowi_graph_shape_dim_text(call, rows).text);
  }
  stow_type batch_a = batch_of(a);
  stow_type batch_b = batch_of(b);
  STOW_TRY(stowi_graph_shape_broadcast(call, &batch_a, &batch_b, out));
  if (a->rank > 1) {
    out->dims[out->rank++] = a->dims[a->rank - 2];
  }
  if (b->rank > 1) {
    out->dims[out->rank++] = b->dims[b->rank - 1];
  }
  return STOW_OK;
}

// Of operands |ka| and |kb|.
static stow_status multiply(stow_shape_call* call, size_t ka, size_t kb, stow_type* out) {
  STOW_TRY(stowi_graph_shape_min_rank(call, ka, 1));
  STOW_TRY(stowi_graph_shape_min_rank(call, kb, 1));
  return stowi_graph_shape_multiply(call, stow_shape_operand(call, ka),
                                    stow_shape_operand(call, kb), out);
}

stow_status stowi_graph_shape_matmul(stow_shape_call* call) {
  stow_type result;
  STOW_TRY(multiply(call, 0, 1, &result));
  STOW_TRY(stowi_graph_shape_same_dtype(call, 0, 1));
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_matmul_integer(stow_shape_call* call) {
  STOW_TRY(stowi_graph_shape_integers(call, 0, "operand 0"));
  STOW_TRY(stowi_graph_shape_integers(call, 1, "operand 1"));
  for (size_t k = 2; k <= 3; ++k) {
    if (stow_shape_operand(call, k) != NULL) {
      STOW_TRY(stowi_graph_shape_same_dtype(call, k - 2, k));
    }
  }
  stow_type result;
  STOW_TRY(multiply(call, 0, 1, &result));
  result.dtype = STOW_I32;
  return stowi_graph_shape_set(call, 0, &result);
}

// Operands: a, its scale and zero point, b, its scale and zero point, the result's scale and zero
// point.
stow_status stowi_graph_shape_qlinear_matmul(stow_shape_call* call) {
  STOW_TRY(stowi_graph_shape_same_dtype(call, 0, 2));
  STOW_TRY(stowi_graph_shape_same_dtype(call, 3, 5));
  stow_type result;
  STOW_TRY(multiply(call, 0, 3, &result));
  result.dtype = stow_shape_operand(call, 7)->dtype;
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_gemm(stow_shape_call* call) {
  STOW_TRY(stowi_graph_shape_same_dtype(call, 0, 1));
  const stow_type* operands[] = {stow_shape_operand(call, 0), stow_shape_operand(call, 1)};
  for (size_t k = 0; k <= 1; ++k) {
    if (operands[k]->rank != 2) {
      return stow_shape_fail(call, "operand %zu has rank %" PRIu32 ", expected 2", k,
                             operands[k]->rank);
    }
  }
  uint32_t row_a = stow_shape_attr_bool(call, "trans_a", false) ? 1 : 0;
  uint32_t row_b = stow_shape_attr_bool(call, "trans_b", false) ? 1 : 0;
  stow_dim inner_a = operands[0]->dims[1 - row_a];
  stow_dim inner_b = operands[1]->dims[row_b];
  if (stowi_graph_shape_differ(call, inner_a, inner_b)) {
    return stow_shape_fail(call, "a has %s columns, but b has %s rows",
                           stowi_graph_shape_dim_text(call, inner_a).text,
                           stowi_graph_shape_dim_text(call, inner_b).text);
  }
  stow_dim dims[] = {operands[0]->dims[row_a], operands[1]->dims[1 - row_b]};
  stow_type result = stow_type_make(operands[0]->dtype, 2, dims);
  if (stow_shape_operand(call, 2) != NULL) {
    STOW_TRY(stowi_graph_shape_same_dtype(call, 0, 2));
    STOW_TRY(stowi_graph_shape_broadcast_to(call, 2, &result, "operand 2 (c)"));
  }
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_det(stow_shape_call* call) {
  STOW_TRY(stowi_graph_shape_min_rank(call, 0, 2));
  const stow_type* x = stow_shape_operand(call, 0);
  stow_dim rows = x->dims[x->rank - 2];
  stow_dim columns = x->dims[x->rank - 1];
  if (stowi_graph_shape_differ(call, rows, columns)) {
    return stow_shape_fail(call, "a matrix of %s rows and %s columns is not square",
                           stowi_graph_shape_dim_text(call, rows).text,
                           stowi_graph_shape_dim_text(call, columns).text);
  }
  stow_type result = batch_of(x);
  return stowi_graph_shape_set(call, 0, &result);
}
