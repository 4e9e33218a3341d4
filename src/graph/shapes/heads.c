// Shapes of fused attention: projections of q, k and v inside the op or packed in one tensor,
// biases, caches that grow or are written in place. Constant time.
#include <inttypes.h>

#include "base/diag.h"
#include "graph/shapes/shapes.h"

static stow_status set_optional(stow_shape_call* call, size_t k, const stow_type* type) {
  return k < stow_shape_result_count(call) ? stowi_graph_shape_set(call, k, type) : STOW_OK;
}

// The dims of an attention before its cache is considered.
typedef struct layout {
  stow_dim batch, queries, keys;  // keys: only the new ones
  stow_dim heads, kv_heads;
  stow_dim size, value_size;  // of one head of k and of v
} layout;

// The cache after the call; operand |past|, [batch, heads, sequence, size], may be missing.
static stow_status cache_type(stow_shape_call* call, size_t past, stow_dim size, const layout* l,
                              stow_type* out) {
  const stow_type* earlier = stow_shape_operand(call, past);
  if (earlier == NULL) {
    stow_dim dims[] = {l->batch, l->kv_heads, l->keys, size};
    *out = stow_type_make(stow_shape_operand(call, 0)->dtype, 4, dims);
    return STOW_OK;
  }
  STOW_TRY(stowi_graph_need_rank(call, past, 4, "cache"));
  *out = *earlier;
  STOW_TRY(stowi_graph_need_equal(call, "heads of the cache and of k", out->dims[1], l->kv_heads));
  if (!stow_shape_attr_bool(call, "share_past", false)) {
    out->dims[2] = stow_dim_add(stow_shape_dims(call), out->dims[2], l->keys);
  }
  return STOW_OK;
}

// Results output, cache of k, cache of v, scores.
static stow_status set_results(stow_shape_call* call, const layout* l, const stow_type* k,
                               const stow_type* v) {
  stow_dtype dtype = stow_shape_operand(call, 0)->dtype;
  stow_dim width = stow_dim_mul(stow_shape_dims(call), l->heads, l->value_size);
  stow_dim dims[] = {l->batch, l->queries, width};
  stow_type output = stow_type_make(dtype, 3, dims);
  stow_dim scored[] = {l->batch, l->heads, l->queries, k->dims[2]};
  stow_type scores = stow_type_make(dtype, 4, scored);
  STOW_TRY(stowi_graph_shape_set(call, 0, &output));
  STOW_TRY(set_optional(call, 1, k));
  STOW_TRY(set_optional(call, 2, v));
  return set_optional(call, 3, &scores);
}

// ---------------------------------------------------------------------------------------------
// multi_head_attention

enum { Q, K, V, MHA_PAST_K = 6, MHA_PAST_V = 7 };

// q, k and v in one: [batch, sequence, heads, 3, size] or [batch, sequence, 3 × heads × size].
static stow_status read_packed(stow_shape_call* call, int64_t heads, layout* l) {
  const stow_type* q = stow_shape_operand(call, Q);
  stow_dim width = q->dims[q->rank - 1];
  if (q->rank == 3) {
    STOW_TRY(stowi_graph_need_parts(call, Q, 2, 3, "parts", &width));
    width = stow_dim_floor_div(stow_shape_dims(call), width, heads);
  }
  l->keys = l->queries;
  l->size = l->value_size = width;
  return STOW_OK;
}

// k and v are [batch, sequence, heads × size] each, or [batch, heads, sequence, size], or one
// tensor [batch, sequence, heads, 2, size].
static stow_status read_keys(stow_shape_call* call, int64_t heads, layout* l) {
  const stow_type* k = stow_shape_operand(call, K);
  const stow_type* v = stow_shape_operand(call, V);
  STOW_TRY(stowi_graph_need_equal(call, "batches of q and k", l->batch, k->dims[0]));
  l->keys = k->dims[k->rank == 4 ? 2 : 1];
  if (k->rank == 5 && v == NULL) {
    l->value_size = k->dims[4];
    return STOW_OK;
  }
  STOW_TRY(stowi_graph_need_rank(call, V, k->rank, "v"));
  if (k->rank == 4) {
    l->value_size = v->dims[3];
    return STOW_OK;
  }
  STOW_TRY(stowi_graph_need_rank(call, K, 3, "k"));
  STOW_TRY(stowi_graph_need_equal(call, "sequences of k and v", k->dims[1], v->dims[1]));
  return stowi_graph_need_parts(call, V, 2, heads, "heads", &l->value_size);
}

stow_status stowi_graph_shape_multi_head_attention(stow_shape_call* call) {
  int64_t heads;
  STOW_TRY(stowi_graph_need_positive(call, "heads", &heads));
  const stow_type* q = stow_shape_operand(call, Q);
  if (q->rank != 3 && q->rank != 5) {
    return stow_shape_fail(call, "operand 0 (q) has rank %" PRIu32 ", expected 3 or 5", q->rank);
  }
  layout l = {.batch = q->dims[0], .queries = q->dims[1], .heads = heads, .kv_heads = heads};
  if (stow_shape_operand(call, K) == NULL) {
    STOW_TRY(read_packed(call, heads, &l));
  } else {
    STOW_TRY(stowi_graph_need_rank(call, Q, 3, "q"));
    STOW_TRY(stowi_graph_need_parts(call, Q, 2, heads, "heads", &l.size));
    STOW_TRY(stowi_graph_shape_min_rank(call, K, 3));
    STOW_TRY(read_keys(call, heads, &l));
  }
  stow_type k;
  stow_type v;
  STOW_TRY(cache_type(call, MHA_PAST_K, l.size, &l, &k));
  STOW_TRY(cache_type(call, MHA_PAST_V, l.value_size, &l, &v));
  return set_results(call, &l, &k, &v);
}

// ---------------------------------------------------------------------------------------------
// group_query_attention

enum { GQA_PAST_K = 3, GQA_PAST_V = 4, GQA_TOTAL = 6 };

static stow_status read_groups(stow_shape_call* call, layout* l) {
  int64_t heads;
  int64_t kv_heads;
  STOW_TRY(stowi_graph_need_positive(call, "heads", &heads));
  STOW_TRY(stowi_graph_need_positive(call, "kv_heads", &kv_heads));
  if (heads % kv_heads != 0 || heads > INT64_MAX / 4) {
    return stow_shape_fail(
        call, "%" PRId64 " heads of q are not a multiple of %" PRId64 " heads of k and v", heads,
        kv_heads);
  }
  STOW_TRY(stowi_graph_need_rank(call, Q, 3, "q"));
  const stow_type* q = stow_shape_operand(call, Q);
  const stow_type* k = stow_shape_operand(call, K);
  if ((k == NULL) != (stow_shape_operand(call, V) == NULL)) {
    return stow_shape_fail(call, "k and v must be given together");
  }
  *l = (layout){q->dims[0], q->dims[1], q->dims[1], heads, kv_heads, 0, 0};
  int64_t parts = k == NULL ? heads + 2 * kv_heads : heads;
  STOW_TRY(stowi_graph_need_parts(call, Q, 2, parts, "heads", &l->size));
  l->value_size = l->size;
  if (k == NULL) {
    return STOW_OK;
  }
  STOW_TRY(stowi_graph_need_rank(call, K, 3, "k"));
  STOW_TRY(stowi_graph_need_rank(call, V, 3, "v"));
  l->keys = k->dims[1];
  return stowi_graph_need_equal(call, "batches of q and k", l->batch, k->dims[0]);
}

// The cache has room for what it held or the whole sequence, whichever is longer. If that is
// unknown, it held at least the earlier part of it.
static stow_status extend_cache(stow_shape_call* call, stow_dim total, stow_dim earlier,
                                stow_type* cache, size_t result) {
  if (stow_shape_attr_bool(call, "share_past", false)) {
    return STOW_OK;
  }
  if (total != STOW_DIM_INVALID) {
    cache->dims[2] = stow_dim_max(stow_shape_dims(call), earlier, total);
  } else if (result < stow_shape_result_count(call)) {
    stow_shape_set_bounded_dim(call, result, 2);
  }
  return STOW_OK;
}

stow_status stowi_graph_shape_group_query_attention(stow_shape_call* call) {
  layout l;
  STOW_TRY(read_groups(call, &l));
  stow_dim total;
  STOW_TRY(stowi_graph_known_scalar(call, GQA_TOTAL, "operand 6 (total length)", &total));
  stow_type k;
  stow_type v;
  STOW_TRY(cache_type(call, GQA_PAST_K, l.size, &l, &k));
  STOW_TRY(cache_type(call, GQA_PAST_V, l.value_size, &l, &v));
  const stow_type* past_k = stow_shape_operand(call, GQA_PAST_K);
  const stow_type* past_v = stow_shape_operand(call, GQA_PAST_V);
  if (past_k != NULL && past_v != NULL) {
    STOW_TRY(extend_cache(call, total, past_k->dims[2], &k, 1));
    STOW_TRY(extend_cache(call, total, past_v->dims[2], &v, 2));
  }
  return set_results(call, &l, &k, &v);
}

// ---------------------------------------------------------------------------------------------
// qkv_attention

enum { X, W, BIAS, QKV_MASK, PAST, ATTENTION_BIAS, PAST_LENGTH, BEAMS, CACHE_ORDER, X_SCALE };

// The widths of q, k and v: `sizes`, or thirds of the weights' last dim.
static stow_status read_widths(stow_shape_call* call, stow_dim* out_k, stow_dim* out_v) {
  size_t count;
  const int64_t* sizes = stowi_graph_shape_ints(call, "sizes", &count);
  const stow_type* w = stow_shape_operand(call, W);
  if (count == 0) {
    STOW_TRY(stowi_graph_need_parts(call, W, 1, 3, "parts", out_k));
    *out_v = *out_k;
    return STOW_OK;
  }
  if (count != 3 || sizes[0] <= 0 || sizes[1] <= 0 || sizes[2] <= 0) {
    return stow_shape_fail(call, "sizes must be three numbers, for q, k and v");
  }
  stow_dims* dims = stow_shape_dims(call);
  stow_dim sum = stow_dim_add(dims, stow_dim_add(dims, sizes[0], sizes[1]), sizes[2]);
  *out_k = sizes[1];
  *out_v = sizes[2];
  return stowi_graph_need_equal(call, "the sum of sizes and the columns of w", sum, w->dims[1]);
}

// [2, batch, heads, sequence, size]: k and v in one.
static stow_status pair_cache(stow_shape_call* call, stow_dtype dtype, stow_dim heads,
                              stow_dim size, stow_type* out) {
  const stow_type* x = stow_shape_operand(call, X);
  const stow_type* past = stow_shape_operand(call, PAST);
  stow_dim dims[] = {2, x->dims[0], heads, x->dims[1], size};
  *out = stow_type_make(dtype, 5, dims);
  if (past == NULL) {
    return STOW_OK;
  }
  STOW_TRY(stowi_graph_need_rank(call, PAST, 5, "cache"));
  STOW_TRY(stowi_graph_need_equal(call, "heads of the cache and of k", past->dims[2], heads));
  *out = *past;
  if (!stow_shape_attr_bool(call, "share_past", false)) {
    out->dims[3] = stow_dim_add(stow_shape_dims(call), past->dims[3], x->dims[1]);
  }
  return STOW_OK;
}

stow_status stowi_graph_shape_qkv_attention(stow_shape_call* call) {
  int64_t heads;
  STOW_TRY(stowi_graph_need_positive(call, "heads", &heads));
  STOW_TRY(stowi_graph_need_rank(call, X, 3, "x"));
  STOW_TRY(stowi_graph_need_rank(call, W, 2, "w"));
  stow_type result = *stow_shape_operand(call, X);
  const stow_type* w = stow_shape_operand(call, W);
  STOW_TRY(stowi_graph_need_equal(call, "columns of x and rows of w", result.dims[2], w->dims[0]));
  const stow_type* scale = stow_shape_operand(call, X_SCALE);
  result.dtype = scale != NULL ? scale->dtype : result.dtype;
  stow_dim k_width;
  STOW_TRY(read_widths(call, &k_width, &result.dims[2]));
  stow_dim size = stow_dim_floor_div(stow_shape_dims(call), k_width, heads);
  stow_type cache;
  STOW_TRY(pair_cache(call, result.dtype, heads, size, &cache));
  STOW_TRY(stowi_graph_shape_set(call, 0, &result));
  return set_optional(call, 1, &cache);
}
