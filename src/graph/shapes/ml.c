// Shapes of classical machine learning: tables of rows and features. An x of rank 1 is one row.
// Constant time.
#include <inttypes.h>

#include "base/diag.h"
#include "graph/shapes/shapes.h"

static stow_status row_count(stow_shape_call* call, stow_dim* out_rows) {
  const stow_type* x = stow_shape_operand(call, 0);
  if (x->rank != 1 && x->rank != 2) {
    return stow_shape_fail(call, "operand 0 has rank %" PRIu32 ", expected 1 or 2", x->rank);
  }
  *out_rows = x->rank == 1 ? 1 : x->dims[0];
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Models

// [rows, columns], with columns from the int attribute |name|.
static stow_status table_type(stow_shape_call* call, stow_dtype dtype, const char* name,
                              stow_type* out) {
  int64_t columns = 0;
  stow_dim rows = 0;
  STOW_TRY(row_count(call, &rows));
  STOW_TRY(stowi_graph_need_positive(call, name, &columns));
  stow_dim dims[] = {rows, columns};
  *out = stow_type_make(dtype, 2, dims);
  return STOW_OK;
}

static stow_status check_kind(stow_shape_call* call) {
  static const char* const kinds[] = {"linear", "svm", "trees", NULL};
  size_t kind;
  return stowi_graph_shape_choice(call, "kind", kinds, &kind);
}

// Results: the label of each row, and its scores.
stow_status stowi_graph_shape_classifier(stow_shape_call* call) {
  STOW_TRY(check_kind(call));
  stow_type scores;
  STOW_TRY(table_type(call, STOW_F32, "columns", &scores));
  stow_type labels = stow_type_make(STOW_I64, 1, scores.dims);
  STOW_TRY(stowi_graph_shape_set(call, 0, &labels));
  return stowi_graph_shape_set(call, 1, &scores);
}

stow_status stowi_graph_shape_regressor(stow_shape_call* call) {
  STOW_TRY(check_kind(call));
  stow_type result;
  STOW_TRY(table_type(call, STOW_F32, "targets", &result));
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_tree_ensemble(stow_shape_call* call) {
  stow_type result;
  STOW_TRY(table_type(call, stow_shape_operand(call, 0)->dtype, "targets", &result));
  return stowi_graph_shape_set(call, 0, &result);
}

// ---------------------------------------------------------------------------------------------
// Features

stow_status stowi_graph_shape_as_float(stow_shape_call* call) {
  stow_type result = *stow_shape_operand(call, 0);
  result.dtype = STOW_F32;
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_label_encode(stow_shape_call* call) {
  stow_type result = *stow_shape_operand(call, 0);
  STOW_TRY(stowi_graph_shape_dtype(call, "dtype", result.dtype, &result.dtype));
  return stowi_graph_shape_set(call, 0, &result);
}

// An additional dim indicates the category of each element.
stow_status stowi_graph_shape_encode_categories(stow_shape_call* call) {
  stow_type result = *stow_shape_operand(call, 0);
  size_t count;
  stowi_graph_shape_ints(call, "categories", &count);
  if (count == 0) {
    return stow_shape_fail(call, "categories are missing");
  }
  if (result.rank == STOW_MAX_RANK) {
    return stow_shape_fail(call, "the result would have more than %d dims", STOW_MAX_RANK);
  }
  result.dtype = STOW_F32;
  result.dims[result.rank++] = (stow_dim)count;
  return stowi_graph_shape_set(call, 0, &result);
}

// Columns of x by index; one row if x has rank 1.
stow_status stowi_graph_shape_pick_features(stow_shape_call* call) {
  STOW_TRY(stowi_graph_shape_min_rank(call, 0, 1));
  STOW_TRY(stowi_graph_shape_integers(call, 1, "operand 1 (indices)"));
  stow_type result = *stow_shape_operand(call, 0);
  const stow_type* indices = stow_shape_operand(call, 1);
  stow_dim count = 1;
  for (uint32_t i = 0; i < indices->rank; ++i) {
    count = stow_dim_mul(stow_shape_dims(call), count, indices->dims[i]);
  }
  if (result.rank == 1) {
    result.rank = 2;
    result.dims[0] = 1;
  }
  result.dims[result.rank - 1] = count;
  return stowi_graph_shape_set(call, 0, &result);
}

// Tables side by side; `sizes` gives the number of columns taken from each.
stow_status stowi_graph_shape_join_features(stow_shape_call* call) {
  stow_dims* table = stow_shape_dims(call);
  size_t count = stow_shape_operand_count(call);
  size_t size_count;
  const int64_t* sizes = stowi_graph_shape_ints(call, "sizes", &size_count);
  if (size_count != 0 && size_count != count) {
    return stow_shape_fail(call, "there are %zu sizes for %zu operands", size_count, count);
  }
  stow_dim dims[] = {1, 0};
  STOW_TRY(row_count(call, &dims[0]));
  for (size_t k = 0; k < count; ++k) {
    const stow_type* x = stow_shape_operand(call, k);
    if (x == NULL || (x->rank != 1 && x->rank != 2)) {
      return stow_shape_fail(call, "operand %zu must have rank 1 or 2", k);
    }
    STOW_TRY(stowi_graph_need_equal(call, "rows of the operands", dims[0],
                                    x->rank == 1 ? 1 : x->dims[0]));
    if (size_count != 0 && sizes[k] < 0) {
      return stow_shape_fail(call, "size %zu is negative", k);
    }
    dims[1] = stow_dim_add(table, dims[1], size_count != 0 ? sizes[k] : x->dims[x->rank - 1]);
  }
  stow_type result = stow_type_make(STOW_F32, 2, dims);
  return stowi_graph_shape_set(call, 0, &result);
}

// Rows of integers to rows of weights, one for each n-gram.
stow_status stowi_graph_shape_tfidf(stow_shape_call* call) {
  STOW_TRY(stowi_graph_shape_integers(call, 0, "operand 0"));
  stow_dim rows;
  STOW_TRY(row_count(call, &rows));
  int64_t columns;
  STOW_TRY(stowi_graph_need_positive(call, "columns", &columns));
  stow_type result = *stow_shape_operand(call, 0);
  result.dtype = STOW_F32;
  result.dims[result.rank - 1] = columns;
  return stowi_graph_shape_set(call, 0, &result);
}
