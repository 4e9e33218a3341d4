// Shapes of contractions: matmul by numpy's rules, attention for several heads with shared keys and
// values.
#include <inttypes.h>

#include "base/diag.h"
#include "graph/shapes.h"

// ---------------------------------------------------------------------------------------------
// matmul

// The dims before the last two.
static stow_type batch_of(const stow_type* type) {
  return stow_type_make(type->dtype, type->rank < 2 ? 0 : type->rank - 2, type->dims);
}

stow_status stowi_shape_matmul(stow_shape_call* call) {
  STOW_TRY(stowi_shape_min_rank(call, 0, 1));
  STOW_TRY(stowi_shape_min_rank(call, 1, 1));
  STOW_TRY(stowi_shape_same_dtype(call, 0, 1));
  const stow_type* a = stow_shape_operand(call, 0);
  const stow_type* b = stow_shape_operand(call, 1);
  stow_dim inner_a = a->dims[a->rank - 1];
  stow_dim inner_b = b->dims[b->rank == 1 ? 0 : b->rank - 2];
  if (stowi_shape_differ(call, inner_a, inner_b)) {
    return stow_shape_fail(call, "operand 0 has %s columns and operand 1 has %s rows",
                           stowi_shape_dim_text(call, inner_a).text,
                           stowi_shape_dim_text(call, inner_b).text);
  }
  stow_type batch_a = batch_of(a);
  stow_type batch_b = batch_of(b);
  stow_type result;
  STOW_TRY(stowi_shape_broadcast(call, &batch_a, &batch_b, &result));
  if (a->rank > 1) {
    result.dims[result.rank++] = a->dims[a->rank - 2];
  }
  if (b->rank > 1) {
    result.dims[result.rank++] = b->dims[b->rank - 1];
  }
  return stowi_shape_set(call, 0, &result);
}

// ---------------------------------------------------------------------------------------------
// attention

// One of q, k, v taken apart: batch dims, then sequence, heads and what a head holds, wherever they
// stand.
typedef struct heads_view {
  stow_dim sequence;
  stow_dim heads;
  stow_dim size;
} heads_view;

// Rank 3 packs all heads in the last dim; |count| says how many.
static stow_status unpack_heads(stow_shape_call* call, size_t k, int64_t count, heads_view* out) {
  const stow_type* type = stow_shape_operand(call, k);
  stow_dim packed = type->dims[2];
  if (stow_dim_is_const(packed) && packed % count != 0) {
    return stow_shape_fail(
        call, "dim 2 of operand %zu, which is %" PRId64 ", cannot be cut into %" PRId64 " heads", k,
        packed, count);
  }
  out->sequence = type->dims[1];
  out->heads = count;
  out->size = stow_dim_floor_div(stow_shape_dims(call), packed, count);
  return STOW_OK;
}

static stow_status read_heads(stow_shape_call* call, size_t k, bool heads_first, heads_view* out) {
  int64_t heads = stow_shape_attr_int(call, "heads", 0);
  int64_t kv_heads = stow_shape_attr_int(call, "kv_heads", 0);
  if (heads < 0 || kv_heads < 0) {
    return stow_shape_fail(call, "heads and kv_heads must not be negative");
  }
  int64_t count = k == 0 || kv_heads == 0 ? heads : kv_heads;
  const stow_type* type = stow_shape_operand(call, k);
  if (type->rank == 3) {
    return unpack_heads(call, k, count == 0 ? 1 : count, out);
  }
  out->sequence = type->dims[type->rank - (heads_first ? 2 : 3)];
  out->heads = type->dims[type->rank - (heads_first ? 3 : 2)];
  out->size = type->dims[type->rank - 1];
  bool is_stated = k == 0 ? heads != 0 : kv_heads != 0;
  if (is_stated && stowi_shape_differ(call, out->heads, count)) {
    return stow_shape_fail(call, "operand %zu has %s heads, not %" PRId64, k,
                           stowi_shape_dim_text(call, out->heads).text, count);
  }
  return STOW_OK;
}

static stow_status need_equal(stow_shape_call* call, const char* what, stow_dim a, stow_dim b) {
  if (stowi_shape_differ(call, a, b)) {
    return stow_shape_fail(call, "%s differ: %s and %s", what, stowi_shape_dim_text(call, a).text,
                           stowi_shape_dim_text(call, b).text);
  }
  return STOW_OK;
}

static stow_status check_heads(stow_shape_call* call, const heads_view* q, const heads_view* k,
                               const heads_view* v) {
  STOW_TRY(need_equal(call, "head sizes of q and k", q->size, k->size));
  STOW_TRY(need_equal(call, "sequences of k and v", k->sequence, v->sequence));
  STOW_TRY(need_equal(call, "heads of k and v", k->heads, v->heads));
  bool is_number = stow_dim_is_const(q->heads) && stow_dim_is_const(k->heads);
  if (is_number && q->heads != k->heads && (k->heads == 0 || q->heads % k->heads != 0)) {
    return stow_shape_fail(call, "%" PRId64 " heads of q cannot share %" PRId64 " heads of k and v",
                           q->heads, k->heads);
  }
  return STOW_OK;
}

// Everything before sequence, heads and size.
static stow_status check_batches(stow_shape_call* call) {
  const stow_type* q = stow_shape_operand(call, 0);
  uint32_t count = q->rank == 3 ? 1 : q->rank - 3;
  for (size_t k = 1; k <= 2; ++k) {
    for (uint32_t i = 0; i < count; ++i) {
      STOW_TRY(need_equal(call, k == 1 ? "batches of q and k" : "batches of q and v", q->dims[i],
                          stow_shape_operand(call, k)->dims[i]));
    }
  }
  return STOW_OK;
}

// A mask is added to, or chooses from, scores of [batch…, heads, queries, keys].
static stow_status check_mask(stow_shape_call* call, const heads_view* q, const heads_view* k) {
  const stow_type* mask = stow_shape_operand(call, 3);
  if (mask == NULL) {
    return STOW_OK;
  }
  if (mask->dtype != STOW_BOOL && stow_dtype_kind_of(mask->dtype) != STOW_KIND_FLOAT) {
    return stow_shape_fail(call, "operand 3 (mask) must be bool or floats, not %s",
                           stow_dtype_name(mask->dtype));
  }
  stow_type scores = *stow_shape_operand(call, 0);
  scores.rank = scores.rank == 3 ? 4 : scores.rank;
  scores.dims[scores.rank - 3] = q->heads;
  scores.dims[scores.rank - 2] = q->sequence;
  scores.dims[scores.rank - 1] = k->sequence;
  return stowi_shape_broadcast_to(call, 3, &scores, "operand 3 (mask)");
}

stow_status stowi_shape_attention(stow_shape_call* call) {
  static const char* const layouts[] = {"bshd", "bhsd", NULL};
  size_t layout;
  STOW_TRY(stowi_shape_choice(call, "layout", layouts, &layout));
  STOW_TRY(stowi_shape_min_rank(call, 0, 3));
  stow_type result = *stow_shape_operand(call, 0);
  heads_view parts[3];
  for (size_t k = 0; k < 3; ++k) {
    STOW_TRY(stowi_shape_same_dtype(call, 0, k));
    uint32_t rank = stow_shape_operand(call, k)->rank;
    if (rank != result.rank) {
      return stow_shape_fail(call, "operand %zu has rank %" PRIu32 ", operand 0 has %" PRIu32, k,
                             rank, result.rank);
    }
    STOW_TRY(read_heads(call, k, layout == 1, &parts[k]));
  }
  STOW_TRY(check_batches(call));
  STOW_TRY(check_heads(call, &parts[0], &parts[1], &parts[2]));
  STOW_TRY(check_mask(call, &parts[0], &parts[1]));
  stow_dim size = parts[2].size;
  result.dims[result.rank - 1] =
      result.rank == 3 ? stow_dim_mul(stow_shape_dims(call), parts[0].heads, size) : size;
  return stowi_shape_set(call, 0, &result);
}
