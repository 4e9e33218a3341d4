// Shapes of fused neighbouring ops (a residual sum with its normalisation, an embedding with its
// own), and of a few ops on images and positions. Constant time.
#include <inttypes.h>

#include "base/diag.h"
#include "graph/shapes/shapes.h"

static stow_status set_optional(stow_shape_call* call, size_t k, const stow_type* type) {
  return k < stow_shape_result_count(call) ? stowi_graph_shape_set(call, k, type) : STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Normalisations of sums

// Results: the normalised sum of x, skip and bias; its means and inverse deviations; the sum.
stow_status stowi_graph_shape_skip_norm(stow_shape_call* call) {
  static const char* const kinds[] = {"layer", "rms", NULL};
  size_t kind;
  STOW_TRY(stowi_graph_shape_choice(call, "op", kinds, &kind));
  STOW_TRY(stowi_graph_shape_min_rank(call, 0, 1));
  STOW_TRY(stowi_graph_shape_same_dtype(call, 0, 1));
  const stow_type* x = stow_shape_operand(call, 0);
  stow_type row = stow_type_make(x->dtype, 1, &x->dims[x->rank - 1]);
  STOW_TRY(stowi_graph_shape_broadcast_to(call, 1, x, "operand 1 (skip)"));
  STOW_TRY(stowi_graph_shape_broadcast_to(call, 2, &row, "operand 2 (scale)"));
  STOW_TRY(stowi_graph_shape_broadcast_to(call, 3, &row, "operand 3 (shift)"));
  STOW_TRY(stowi_graph_shape_broadcast_to(call, 4, &row, "operand 4 (bias)"));
  stow_type statistic = *x;
  statistic.dtype = STOW_F32;
  statistic.dims[x->rank - 1] = 1;
  STOW_TRY(stowi_graph_shape_set(call, 0, x));
  STOW_TRY(set_optional(call, 1, &statistic));
  STOW_TRY(set_optional(call, 2, &statistic));
  return set_optional(call, 3, x);
}

stow_status stowi_graph_shape_skip_group_norm(stow_shape_call* call) {
  static const char* const activations[] = {"none", "silu", NULL};
  size_t activation;
  STOW_TRY(stowi_graph_shape_choice(call, "activation", activations, &activation));
  int64_t groups;
  STOW_TRY(stowi_graph_need_positive(call, "groups", &groups));
  STOW_TRY(stowi_graph_shape_min_rank(call, 0, 3));
  const stow_type* x = stow_shape_operand(call, 0);
  uint32_t axis = stow_shape_attr_bool(call, "channels_last", false) ? x->rank - 1 : 1;
  stow_dim part;
  STOW_TRY(stowi_graph_need_parts(call, 0, axis, groups, "groups", &part));
  stow_type row = stow_type_make(x->dtype, 1, &x->dims[axis]);
  STOW_TRY(stowi_graph_shape_broadcast_to(call, 1, &row, "operand 1 (scale)"));
  STOW_TRY(stowi_graph_shape_broadcast_to(call, 2, &row, "operand 2 (shift)"));
  STOW_TRY(stowi_graph_shape_set(call, 0, x));
  return set_optional(call, 1, x);
}

enum { IDS, SEGMENT_IDS, WORDS, EMBED_MASK = 7, WORD_SCALE = 9 };

// Results: [batch, sequence, width]; the number of entries of each row that the mask keeps; the sum
// before the normalisation. Quantized tables are followed by their scales, which have the result's
// dtype.
stow_status stowi_graph_shape_embed_norm(stow_shape_call* call) {
  STOW_TRY(stowi_graph_need_rank(call, IDS, 2, "ids"));
  STOW_TRY(stowi_graph_need_rank(call, WORDS, 2, "words"));
  STOW_TRY(stowi_graph_shape_integers(call, IDS, "operand 0 (ids)"));
  STOW_TRY(stowi_graph_shape_integers(call, SEGMENT_IDS, "operand 1 (segment ids)"));
  STOW_TRY(stowi_graph_shape_integers(call, EMBED_MASK, "operand 7 (mask)"));
  const stow_type* ids = stow_shape_operand(call, IDS);
  const stow_type* words = stow_shape_operand(call, WORDS);
  const stow_type* scale = stow_shape_operand(call, WORD_SCALE);
  stow_dim dims[] = {ids->dims[0], ids->dims[1], words->dims[1]};
  stow_type result = stow_type_make(scale != NULL ? scale->dtype : words->dtype, 3, dims);
  stow_type counts = stow_type_make(STOW_I32, 1, dims);
  STOW_TRY(stowi_graph_shape_set(call, 0, &result));
  STOW_TRY(set_optional(call, 1, &counts));
  return set_optional(call, 2, &result);
}

// (x + bias) in halves, one times gelu of the other.
stow_status stowi_graph_shape_split_gelu(stow_shape_call* call) {
  STOW_TRY(stowi_graph_shape_min_rank(call, 0, 1));
  STOW_TRY(stowi_graph_shape_same_dtype(call, 0, 1));
  stow_type result = *stow_shape_operand(call, 0);
  uint32_t last = result.rank - 1;
  STOW_TRY(stowi_graph_shape_broadcast_to(call, 1, &result, "operand 1 (bias)"));
  STOW_TRY(stowi_graph_need_parts(call, 0, last, 2, "halves", &result.dims[last]));
  return stowi_graph_shape_set(call, 0, &result);
}

// ---------------------------------------------------------------------------------------------
// Tables, distances

// Rows of a table that is quantized in blocks; bytes hold 8 / bits elements each along the last
// dim.
stow_status stowi_graph_shape_gather_quantized(stow_shape_call* call) {
  STOW_TRY(stowi_graph_shape_min_rank(call, 0, 1));
  STOW_TRY(stowi_graph_shape_integers(call, 0, "operand 0 (table)"));
  STOW_TRY(stowi_graph_shape_integers(call, 1, "operand 1 (indices)"));
  int64_t bits = stow_shape_attr_int(call, "bits", 4);
  if (bits != 2 && bits != 4 && bits != 8) {
    return stow_shape_fail(call, "bits is %" PRId64 ", expected 2, 4 or 8", bits);
  }
  stow_type table = *stow_shape_operand(call, 0);
  const stow_type* indices = stow_shape_operand(call, 1);
  uint32_t axis;
  STOW_TRY(stowi_graph_shape_axis(call, table.rank, &axis));
  if (table.rank - 1 + indices->rank > STOW_MAX_RANK) {
    return stow_shape_fail(call, "the result would have more than %d dims", STOW_MAX_RANK);
  }
  if (table.dtype == STOW_U8) {
    table.dims[table.rank - 1] =
        stow_dim_mul(stow_shape_dims(call), table.dims[table.rank - 1], 8 / bits);
  }
  stow_type result = stow_type_make(stow_shape_operand(call, 2)->dtype, axis, table.dims);
  for (uint32_t i = 0; i < indices->rank; ++i) {
    result.dims[result.rank++] = indices->dims[i];
  }
  for (uint32_t i = axis + 1; i < table.rank; ++i) {
    result.dims[result.rank++] = table.dims[i];
  }
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_cdist(stow_shape_call* call) {
  STOW_TRY(stowi_graph_need_rank(call, 0, 2, "a"));
  STOW_TRY(stowi_graph_need_rank(call, 1, 2, "b"));
  STOW_TRY(stowi_graph_shape_same_dtype(call, 0, 1));
  const stow_type* a = stow_shape_operand(call, 0);
  const stow_type* b = stow_shape_operand(call, 1);
  STOW_TRY(stowi_graph_need_equal(call, "columns of a and b", a->dims[1], b->dims[1]));
  stow_dim dims[] = {a->dims[0], b->dims[0]};
  stow_type result = stow_type_make(a->dtype, 2, dims);
  return stowi_graph_shape_set(call, 0, &result);
}

// The known integer of operand |k|, otherwise a data-dependent dim.
static stow_status length_of(stow_shape_call* call, size_t k, const char* what, uint32_t axis,
                             stow_dim* out) {
  STOW_TRY(stowi_graph_known_scalar(call, k, what, out));
  if (*out == STOW_DIM_INVALID) {
    *out = stow_shape_data_dim(call, 0, axis);
  }
  return STOW_OK;
}

// A table [buckets, heads] spread over all pairs of positions: [1, heads, queries, keys].
stow_status stowi_graph_shape_relative_position_bias(stow_shape_call* call) {
  STOW_TRY(stowi_graph_need_rank(call, 0, 2, "table"));
  const stow_type* table = stow_shape_operand(call, 0);
  stow_dim dims[] = {1, table->dims[1], 0, 0};
  STOW_TRY(length_of(call, 1, "operand 1 (queries)", 2, &dims[2]));
  STOW_TRY(length_of(call, 2, "operand 2 (keys)", 3, &dims[3]));
  stow_type result = stow_type_make(table->dtype, 4, dims);
  return stowi_graph_shape_set(call, 0, &result);
}

// ---------------------------------------------------------------------------------------------
// Images

// x [batch, channels, height, width], regions [count, 4]; the size is a pair of integers.
stow_status stowi_graph_shape_crop_and_resize(stow_shape_call* call) {
  STOW_TRY(stowi_graph_need_rank(call, 0, 4, "x"));
  STOW_TRY(stowi_graph_need_rank(call, 1, 2, "regions"));
  STOW_TRY(stowi_graph_shape_integers(call, 2, "operand 2 (images)"));
  STOW_TRY(stowi_graph_need_rank(call, 3, 1, "size"));
  STOW_TRY(stowi_graph_shape_integers(call, 3, "operand 3 (size)"));
  STOW_TRY(stowi_graph_need_equal(call, "numbers of the size and 2",
                                  stow_shape_operand(call, 3)->dims[0], 2));
  stow_type result = *stow_shape_operand(call, 0);
  result.dims[0] = stow_shape_operand(call, 1)->dims[0];
  for (uint32_t i = 0; i < 2; ++i) {
    stow_dim size = stow_shape_known(call, 3, i);
    result.dims[2 + i] = size == STOW_DIM_INVALID ? stow_shape_data_dim(call, 0, 2 + i) : size;
  }
  return stowi_graph_shape_set(call, 0, &result);
}

// x [batch, channels, height, width] without a border of left, top, right and bottom; with a size,
// that many rows and columns from left and top.
stow_status stowi_graph_shape_crop(stow_shape_call* call) {
  STOW_TRY(stowi_graph_need_rank(call, 0, 4, "x"));
  size_t border_count;
  size_t size_count;
  const int64_t* border = stowi_graph_shape_ints(call, "border", &border_count);
  const int64_t* size = stowi_graph_shape_ints(call, "size", &size_count);
  if (border_count != 4 || (size_count != 0 && size_count != 2)) {
    return stow_shape_fail(call, "border needs 4 numbers, and size 2 or none");
  }
  stow_dims* dims = stow_shape_dims(call);
  stow_type result = *stow_shape_operand(call, 0);
  for (uint32_t i = 0; i < 2; ++i) {
    int64_t before = border[1 - i];
    int64_t after = border[3 - i];
    if (before < 0 || after < 0 || (size_count != 0 && size[i] < 0)) {
      return stow_shape_fail(call, "numbers of border and size must not be negative");
    }
    stow_dim inner = stow_dim_sub(dims, stow_dim_sub(dims, result.dims[2 + i], before), after);
    result.dims[2 + i] = size_count != 0 ? size[i] : inner;
  }
  return stowi_graph_shape_set(call, 0, &result);
}
