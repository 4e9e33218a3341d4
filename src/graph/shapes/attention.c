// Shapes of multi-head attention with shared keys and values and a cache of earlier ones, of rotary
// embeddings, and of what replaces attention in recurrent models: linear attention and short causal
// convolutions. Constant time.
#include <inttypes.h>

#include "base/diag.h"
#include "graph/shapes/shapes.h"

// ---------------------------------------------------------------------------------------------
// attention

enum { Q, K, V, MASK, PAST_K, PAST_V, LENGTHS };

// The dims of one of q, k, v: batch dims, then sequence, heads and head size, in whichever order.
typedef struct heads_view {
  stow_dim sequence;
  stow_dim heads;
  stow_dim size;
} heads_view;

typedef struct attention {
  bool heads_first;
  heads_view q, k, v;
  stow_dim keys;  // cached and new
} attention;

// Rank 3 packs all heads in the last dim; |count| is their number.
static stow_status unpack_heads(stow_shape_call* call, size_t k, int64_t count, heads_view* out) {
  out->sequence = stow_shape_operand(call, k)->dims[1];
  out->heads = count;
  return stowi_graph_need_parts(call, k, 2, count, "heads", &out->size);
}

static stow_status read_heads(stow_shape_call* call, size_t k, bool heads_first, heads_view* out) {
  int64_t heads = stow_shape_attr_int(call, "heads", 0);
  int64_t kv_heads = stow_shape_attr_int(call, "kv_heads", 0);
  if (heads < 0 || kv_heads < 0) {
    return stow_shape_fail(call, "heads and kv_heads must not be negative");
  }
  int64_t count = k == Q || kv_heads == 0 ? heads : kv_heads;
  const stow_type* type = stow_shape_operand(call, k);
  if (type->rank == 3) {
    return unpack_heads(call, k, count == 0 ? 1 : count, out);
  }
  out->sequence = type->dims[type->rank - (heads_first ? 2 : 3)];
  out->heads = type->dims[type->rank - (heads_first ? 3 : 2)];
  out->size = type->dims[type->rank - 1];
  bool is_stated = k == Q ? heads != 0 : kv_heads != 0;
  if (is_stated && stowi_graph_shape_differ(call, out->heads, count)) {
    return stow_shape_fail(call, "operand %zu has %s heads, not %" PRId64, k,
                           stowi_graph_shape_dim_text(call, out->heads).text, count);
  }
  return STOW_OK;
}

static stow_status check_heads(stow_shape_call* call, const attention* a) {
  STOW_TRY(stowi_graph_need_equal(call, "head sizes of q and k", a->q.size, a->k.size));
  STOW_TRY(stowi_graph_need_equal(call, "sequences of k and v", a->k.sequence, a->v.sequence));
  STOW_TRY(stowi_graph_need_equal(call, "heads of k and v", a->k.heads, a->v.heads));
  stow_dim q = a->q.heads;
  stow_dim k = a->k.heads;
  bool is_number = stow_dim_is_const(q) && stow_dim_is_const(k);
  if (is_number && q != k && (k == 0 || q % k != 0)) {
    return stow_shape_fail(
        call, "%" PRId64 " heads of q are not a multiple of %" PRId64 " heads of k and v", q, k);
  }
  return STOW_OK;
}

// Everything before sequence, heads and size.
static stow_status check_batches(stow_shape_call* call) {
  const stow_type* q = stow_shape_operand(call, Q);
  uint32_t count = q->rank == 3 ? 1 : q->rank - 3;
  for (size_t k = K; k <= V; ++k) {
    for (uint32_t i = 0; i < count; ++i) {
      STOW_TRY(stowi_graph_need_equal(call, k == K ? "batches of q and k" : "batches of q and v",
                                      q->dims[i], stow_shape_operand(call, k)->dims[i]));
    }
  }
  return STOW_OK;
}

// The type of k or v in the cache: unchanged from rank 4 on, [batch, heads, sequence, size] for
// rank 3.
static stow_type cached_type(stow_shape_call* call, size_t k, const heads_view* view) {
  stow_type type = *stow_shape_operand(call, k);
  if (type.rank == 3) {
    type.rank = 4;
    type.dims[1] = view->heads;
    type.dims[2] = view->sequence;
    type.dims[3] = view->size;
  }
  return type;
}

static uint32_t sequence_axis(const attention* a, const stow_type* q, const stow_type* cached) {
  return cached->rank - (a->heads_first || q->rank == 3 ? 2 : 3);
}

// The type of operand |past| joined with the new entries; |past| may be missing.
static stow_status append_past(stow_shape_call* call, const attention* a, size_t past,
                               stow_type* cached) {
  const stow_type* earlier = stow_shape_operand(call, past);
  if (earlier == NULL) {
    return STOW_OK;
  }
  STOW_TRY(stowi_graph_need_rank(call, past, cached->rank,
                                 past == PAST_K ? "past keys" : "past values"));
  uint32_t axis = sequence_axis(a, stow_shape_operand(call, Q), cached);
  for (uint32_t i = 0; i < cached->rank; ++i) {
    if (i != axis) {
      STOW_TRY(stowi_graph_need_equal(call, "dims of the cache and of what is appended",
                                      earlier->dims[i], cached->dims[i]));
    }
  }
  cached->dtype = earlier->dtype;
  cached->dims[axis] = stow_dim_add(stow_shape_dims(call), earlier->dims[axis], cached->dims[axis]);
  return STOW_OK;
}

// [batch…, heads, queries, keys]
static stow_type scores_type(stow_shape_call* call, const attention* a) {
  stow_type scores = *stow_shape_operand(call, Q);
  scores.rank = scores.rank == 3 ? 4 : scores.rank;
  scores.dims[scores.rank - 3] = a->q.heads;
  scores.dims[scores.rank - 2] = a->q.sequence;
  scores.dims[scores.rank - 1] = a->keys;
  return scores;
}

// A mask is added to the scores or selects from them.
static stow_status check_mask(stow_shape_call* call, stow_type scores) {
  const stow_type* mask = stow_shape_operand(call, MASK);
  if (mask == NULL) {
    return STOW_OK;
  }
  if (mask->dtype != STOW_BOOL && stow_dtype_kind_of(mask->dtype) != STOW_KIND_FLOAT) {
    return stow_shape_fail(call, "operand 3 (mask) must be bool or floats, not %s",
                           stow_dtype_name(mask->dtype));
  }
  stow_dim* keys = &scores.dims[scores.rank - 1];
  stow_dim masked = mask->rank == 0 ? *keys : mask->dims[mask->rank - 1];
  bool may_be_short = stow_shape_attr_bool(call, "pad_mask", false);
  bool is_longer = stow_dim_is_const(masked) && stow_dim_is_const(*keys) && masked > *keys;
  if (may_be_short && !is_longer) {
    *keys = masked;
  }
  return stowi_graph_shape_broadcast_to(call, MASK, &scores, "operand 3 (mask)");
}

static stow_status read_attention(stow_shape_call* call, attention* a) {
  static const char* const layouts[] = {"bshd", "bhsd", NULL};
  size_t layout;
  STOW_TRY(stowi_graph_shape_choice(call, "layout", layouts, &layout));
  STOW_TRY(stowi_graph_shape_min_rank(call, Q, 3));
  a->heads_first = layout == 1;
  uint32_t rank = stow_shape_operand(call, Q)->rank;
  heads_view* const parts[] = {&a->q, &a->k, &a->v};
  for (size_t k = Q; k <= V; ++k) {
    STOW_TRY(stowi_graph_shape_same_dtype(call, Q, k));
    uint32_t actual = stow_shape_operand(call, k)->rank;
    if (actual != rank) {
      return stow_shape_fail(call,
                             "operand %zu has rank %" PRIu32 ", but operand 0 has rank %" PRIu32, k,
                             actual, rank);
    }
    STOW_TRY(read_heads(call, k, a->heads_first, parts[k]));
  }
  STOW_TRY(check_batches(call));
  return check_heads(call, a);
}

static stow_status set_optional(stow_shape_call* call, size_t k, const stow_type* type) {
  return k < stow_shape_result_count(call) ? stowi_graph_shape_set(call, k, type) : STOW_OK;
}

stow_status stowi_graph_shape_attention(stow_shape_call* call) {
  attention a;
  STOW_TRY(read_attention(call, &a));
  if ((stow_shape_operand(call, PAST_K) == NULL) != (stow_shape_operand(call, PAST_V) == NULL)) {
    return stow_shape_fail(call, "past keys and past values must be given together");
  }
  STOW_TRY(stowi_graph_shape_integers(call, LENGTHS, "operand 6 (lengths)"));
  const stow_type* q = stow_shape_operand(call, Q);
  stow_type keys = cached_type(call, K, &a.k);
  stow_type values = cached_type(call, V, &a.v);
  STOW_TRY(append_past(call, &a, PAST_K, &keys));
  STOW_TRY(append_past(call, &a, PAST_V, &values));
  a.keys = keys.dims[sequence_axis(&a, q, &keys)];
  stow_type scores = scores_type(call, &a);
  STOW_TRY(check_mask(call, scores));
  stow_type result = *q;
  result.dims[result.rank - 1] =
      result.rank == 3 ? stow_dim_mul(stow_shape_dims(call), a.q.heads, a.v.size) : a.v.size;
  STOW_TRY(stowi_graph_shape_set(call, 0, &result));
  STOW_TRY(set_optional(call, 1, &keys));
  STOW_TRY(set_optional(call, 2, &values));
  return set_optional(call, 3, &scores);
}

// ---------------------------------------------------------------------------------------------
// rope

// x [..., d] rotated in pairs by tables of cosines and sines, whose last dim is half of what is
// rotated, or of the whole head.
stow_status stowi_graph_shape_rope(stow_shape_call* call) {
  STOW_TRY(stowi_graph_shape_min_rank(call, 0, 2));
  const stow_type* x = stow_shape_operand(call, 0);
  const stow_type* cosines = stow_shape_operand(call, 1);
  const stow_type* sines = stow_shape_operand(call, 2);
  if (!stow_type_equal(cosines, sines)) {
    return stow_shape_fail(call, "operands 1 (cosines) and 2 (sines) have different types");
  }
  STOW_TRY(stowi_graph_shape_min_rank(call, 1, 1));
  STOW_TRY(stowi_graph_shape_integers(call, 3, "operand 3 (positions)"));
  stow_dim last = x->dims[x->rank - 1];
  if (x->rank == 3 && stow_shape_attr_int(call, "heads", 0) != 0) {
    int64_t heads;
    STOW_TRY(stowi_graph_need_positive(call, "heads", &heads));
    STOW_TRY(stowi_graph_need_parts(call, 0, x->rank - 1, heads, "heads", &last));
  }
  int64_t turned = stow_shape_attr_int(call, "rotary_dim", 0);
  if (turned < 0 || turned % 2 != 0 || (stow_dim_is_const(last) && turned > last)) {
    return stow_shape_fail(call, "rotary_dim %" PRId64 " must be even, from 0 to the last dim, %s",
                           turned, stowi_graph_shape_dim_text(call, last).text);
  }
  stow_dim whole = turned == 0 ? last : turned;
  stow_dim pairs = cosines->dims[cosines->rank - 1];
  stow_dim covered = stow_dim_mul(stow_shape_dims(call), 2, pairs);
  if (stowi_graph_shape_differ(call, covered, whole) &&
      stowi_graph_shape_differ(call, covered, last)) {
    return stow_shape_fail(call, "the tables' last dim is %s, expected half of %s",
                           stowi_graph_shape_dim_text(call, pairs).text,
                           stowi_graph_shape_dim_text(call, whole).text);
  }
  return stowi_graph_shape_same(call);
}

// ---------------------------------------------------------------------------------------------
// linear_attention, causal_conv

// q [batch, sequence, heads × d_k], k [batch, sequence, kv_heads × d_k], v [batch, sequence,
// kv_heads × d_v]; the state is [batch, kv_heads, d_k, d_v].
stow_status stowi_graph_shape_linear_attention(stow_shape_call* call) {
  static const char* const rules[] = {"linear", "gated", "delta", "gated_delta", NULL};
  size_t rule;
  STOW_TRY(stowi_graph_shape_choice(call, "rule", rules, &rule));
  int64_t heads;
  int64_t kv_heads;
  STOW_TRY(stowi_graph_need_positive(call, "heads", &heads));
  STOW_TRY(stowi_graph_need_positive(call, "kv_heads", &kv_heads));
  for (size_t k = Q; k <= V; ++k) {
    STOW_TRY(stowi_graph_need_rank(call, k, 3, k == Q ? "q" : k == K ? "k" : "v"));
    STOW_TRY(stowi_graph_shape_same_dtype(call, Q, k));
  }
  heads_view q;
  heads_view k;
  heads_view v;
  STOW_TRY(unpack_heads(call, Q, heads, &q));
  STOW_TRY(unpack_heads(call, K, kv_heads, &k));
  STOW_TRY(unpack_heads(call, V, kv_heads, &v));
  STOW_TRY(check_batches(call));
  STOW_TRY(stowi_graph_need_equal(call, "head sizes of q and k", q.size, k.size));
  STOW_TRY(stowi_graph_need_equal(call, "sequences of q and k", q.sequence, k.sequence));
  STOW_TRY(stowi_graph_need_equal(call, "sequences of k and v", k.sequence, v.sequence));
  stow_type result = *stow_shape_operand(call, Q);
  const stow_type* past = stow_shape_operand(call, 3);
  stow_dim dims[] = {result.dims[0], kv_heads, k.size, v.size};
  stow_type state = stow_type_make(past != NULL ? past->dtype : result.dtype, 4, dims);
  STOW_TRY(stowi_graph_shape_broadcast_to(call, 3, &state, "operand 3 (state)"));
  result.dims[2] = stow_dim_mul(stow_shape_dims(call), heads, v.size);
  STOW_TRY(stowi_graph_shape_set(call, 0, &result));
  return stowi_graph_shape_set(call, 1, &state);
}

// x [batch, channels, length], w [channels, 1, taps]; the state keeps the last taps - 1 entries.
stow_status stowi_graph_shape_causal_conv(stow_shape_call* call) {
  STOW_TRY(stowi_graph_need_rank(call, 0, 3, "x"));
  STOW_TRY(stowi_graph_need_rank(call, 1, 3, "w"));
  STOW_TRY(stowi_graph_shape_same_dtype(call, 0, 1));
  const stow_type* x = stow_shape_operand(call, 0);
  const stow_type* w = stow_shape_operand(call, 1);
  STOW_TRY(stowi_graph_need_equal(call, "channels of x and w", x->dims[1], w->dims[0]));
  STOW_TRY(stowi_graph_need_equal(call, "depth of w and 1", w->dims[1], 1));
  stow_type bias = stow_type_make(x->dtype, 1, &x->dims[1]);
  STOW_TRY(stowi_graph_shape_broadcast_to(call, 2, &bias, "operand 2 (bias)"));
  stow_type state = *x;
  state.dims[2] = stow_dim_sub(stow_shape_dims(call), w->dims[2], 1);
  STOW_TRY(stowi_graph_shape_broadcast_to(call, 3, &state, "operand 3 (state)"));
  STOW_TRY(stowi_graph_shape_same(call));
  return stowi_graph_shape_set(call, 1, &state);
}
