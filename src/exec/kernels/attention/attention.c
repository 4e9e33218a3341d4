// attention and flex_attention: heads anywhere, keys and values shared by several of them, a cache.
// The cache is written first; then the keys are there in one piece.
#include <math.h>

#include "exec/kernels/attention/attend.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

enum { Q, K, V, MASK, PAST_K, PAST_V, LENGTHS };

// Sizes of one of q, k, v, and where its rows are. Dims before the last three are all batches.
typedef struct view {
  size_t batches, heads, sequence, size;
  stowi_kernel_heads heads_view;
} view;

static view view_of(const stow_tensor* t, int64_t heads, bool heads_first) {
  view v = {.batches = (size_t)t->dims[0]};
  if (t->rank == 3) {
    v.heads = (size_t)heads;
    v.sequence = (size_t)t->dims[1];
    v.size = (size_t)t->dims[2] / v.heads;
    v.heads_view = stowi_kernel_heads_flat(t->data, t->dtype, v.heads, v.sequence, v.size);
    return v;
  }
  for (uint32_t i = 1; i + 3 < t->rank; ++i) {
    v.batches *= (size_t)t->dims[i];
  }
  size_t one = (size_t)t->dims[t->rank - 3];
  size_t other = (size_t)t->dims[t->rank - 2];
  v.heads = heads_first ? one : other;
  v.sequence = heads_first ? other : one;
  v.size = (size_t)t->dims[t->rank - 1];
  v.heads_view = heads_first
                     ? stowi_kernel_heads_packed(t->data, t->dtype, v.heads, v.sequence, v.size)
                     : stowi_kernel_heads_flat(t->data, t->dtype, v.heads, v.sequence, v.size);
  return v;
}

typedef struct plan {
  stowi_kernel_attention a;
  bool heads_first;
  bool joins[2];  // k, v
  stowi_kernel_join join[2];
  int64_t* past_counts;
} plan;

static int64_t heads_of(const stow_kernel_call* call, size_t k) {
  int64_t heads = stowi_kernel_int(call, STOWI_KERNEL_ATTR_HEADS, 0);
  int64_t kv_heads = stowi_kernel_int(call, STOWI_KERNEL_ATTR_KV_HEADS, 0);
  int64_t count = k == Q || kv_heads == 0 ? heads : kv_heads;
  return count == 0 ? 1 : count;
}

// Past and new rows of k or v in one place: the cache that is a result, else scratch.
static void plan_join(const stow_kernel_call* call, plan* p, size_t which, const view* fresh,
                      stowi_kernel_carve* carve) {
  const stow_tensor* past = stow_kernel_operand(call, PAST_K + which);
  stow_tensor* cache = stow_kernel_result(call, 1 + which);
  stowi_kernel_heads* target = which == 0 ? &p->a.k : &p->a.v;
  *target = fresh->heads_view;
  p->joins[which] = past != NULL || cache != NULL;
  if (!p->joins[which]) {
    return;
  }
  bool cache_heads_first = p->heads_first || stow_kernel_operand(call, Q)->rank == 3;
  stowi_kernel_join* j = &p->join[which];
  *j = (stowi_kernel_join){.batches = fresh->batches, .heads = fresh->heads, .size = fresh->size};
  j->fresh = fresh->heads_view;
  j->fresh_count = fresh->sequence;
  j->past_counts = p->past_counts;
  j->out_count = p->a.keys;
  if (past != NULL) {
    j->has_past = true;
    j->past = view_of(past, 0, cache_heads_first).heads_view;
  }
  if (cache != NULL) {
    *target = view_of(cache, 0, cache_heads_first).heads_view;
  } else {
    stow_dtype dtype = past->dtype;
    size_t count = fresh->batches * fresh->heads;
    void* data = stowi_kernel_carve_take(
        carve, stowi_kernel_times(count, stowi_kernel_times(p->a.keys, fresh->size)),
        stowi_kernel_bits(dtype) / 8);
    *target = stowi_kernel_heads_packed(data, dtype, fresh->heads, p->a.keys, fresh->size);
  }
  j->out = *target;
}

static size_t mask_batches(const stow_tensor* mask) {
  size_t count = 1;
  for (uint32_t i = 0; i + 3 < mask->rank; ++i) {
    count *= (size_t)mask->dims[i];
  }
  return count;
}

// A mask's dims are the last of [batch…, heads, queries, keys].
static void plan_mask(const stow_kernel_call* call, plan* p) {
  const stow_tensor* mask = stow_kernel_operand(call, MASK);
  p->a.mask = stowi_kernel_mask_of(mask, -INFINITY);
  if (mask == NULL || mask->rank == 0) {
    return;
  }
  size_t stride = 1;
  for (uint32_t i = mask->rank < 3 ? 0 : mask->rank - 3; i < mask->rank; ++i) {
    stride *= (size_t)mask->dims[i];
  }
  p->a.mask.batch = mask_batches(mask) == 1 ? 0 : stride;
  bool is_short = mask->dims[mask->rank - 1] == 1 && p->a.keys > 1 &&
                  stowi_kernel_bool(call, STOWI_KERNEL_ATTR_PAD_MASK, false) &&
                  stow_kernel_operand(call, LENGTHS) != NULL;
  if (is_short) {
    p->a.mask.keys = 1;
  }
}

static void plan_call(const stow_kernel_call* call, plan* p, stowi_kernel_carve* carve) {
  *p = (plan){.heads_first = stowi_kernel_is(call, STOWI_KERNEL_ATTR_LAYOUT, "bhsd")};
  view q = view_of(stow_kernel_operand(call, Q), heads_of(call, Q), p->heads_first);
  view k = view_of(stow_kernel_operand(call, K), heads_of(call, K), p->heads_first);
  view v = view_of(stow_kernel_operand(call, V), heads_of(call, V), p->heads_first);
  const stow_tensor* past =
      call->op == STOW_OP_ATTENTION ? stow_kernel_operand(call, PAST_K) : NULL;
  size_t past_count = 0;
  if (past != NULL) {
    bool cache_heads_first = p->heads_first || stow_kernel_operand(call, Q)->rank == 3;
    past_count = view_of(past, 0, cache_heads_first).sequence;
  }
  stowi_kernel_attention* a = &p->a;
  a->batches = q.batches;
  a->heads = q.heads;
  a->kv_heads = k.heads;
  a->queries = q.sequence;
  a->keys = past_count + k.sequence;
  a->size = q.size;
  a->value_size = v.size;
  a->q = q.heads_view;
  p->past_counts = stowi_kernel_carve_take(carve, a->batches, sizeof(int64_t));
  plan_join(call, p, 0, &k, carve);
  plan_join(call, p, 1, &v, carve);
  stow_tensor* out = stow_kernel_result(call, 0);
  a->out = view_of(out, (int64_t)q.heads, p->heads_first).heads_view;
  a->scores = stow_kernel_result(call, 3);
  double scale = stowi_kernel_float(call, STOWI_KERNEL_ATTR_SCALE, 0);
  a->scale = scale == 0 ? 1 / sqrt((double)a->size) : scale;
  a->softcap = stowi_kernel_float(call, STOWI_KERNEL_ATTR_SOFTCAP, 0);
  a->causal = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_CAUSAL, false);
  a->left = stowi_kernel_int(call, STOWI_KERNEL_ATTR_WINDOW_LEFT, -1);
  a->right = stowi_kernel_int(call, STOWI_KERNEL_ATTR_WINDOW_RIGHT, -1);
  a->outside = -INFINITY;
  a->stage = (int)stowi_kernel_int(call, STOWI_KERNEL_ATTR_SCORES, 0);
  a->in_f64 =
      a->q.dtype == STOW_F64 || stowi_kernel_is(call, STOWI_KERNEL_ATTR_SOFTMAX_DTYPE, "f64");
  if (call->op == STOW_OP_ATTENTION) {
    plan_mask(call, p);
  }
  stowi_kernel_attend_carve(call, a, carve);
  for (size_t b = 0; carve->base != NULL && b < a->batches; ++b) {
    p->past_counts[b] = (int64_t)past_count;
  }
}

// Queries stand behind the past; where lengths are given, at the end of what is there.
static stow_status place_queries(const stow_kernel_call* call, plan* p) {
  const stow_tensor* lengths =
      call->op == STOW_OP_ATTENTION ? stow_kernel_operand(call, LENGTHS) : NULL;
  stowi_kernel_attention* a = &p->a;
  stowi_kernel_attend_see_all(a);
  bool has_past = p->joins[0] && p->join[0].has_past;
  for (size_t b = 0; b < a->batches; ++b) {
    a->offsets[b] = p->past_counts[b];
    if (lengths == NULL) {
      continue;
    }
    if (stow_tensor_elements(lengths) != a->batches) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "%zu lengths do not fit %zu batches",
                              stow_tensor_elements(lengths), a->batches);
    }
    int64_t length = stowi_kernel_int_at(lengths, b);
    if (length < 0 || (uint64_t)length > a->keys) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "length %lld of batch %zu is out of range (0 to %zu)",
                              (long long)length, b, a->keys);
    }
    a->ends[b] = length;
    a->offsets[b] = has_past ? a->offsets[b] : length - (int64_t)a->queries;
  }
  return STOW_OK;
}

static stow_status scratch_attention(const stow_kernel_call* call, uint64_t* out_bytes) {
  plan p;
  stowi_kernel_carve carve = {NULL, 0};
  plan_call(call, &p, &carve);
  *out_bytes = carve.used;
  return STOW_OK;
}

static bool is_empty(const stow_kernel_call* call) {
  for (size_t k = 0; k < call->result_count; ++k) {
    if (stow_tensor_elements(call->results[k]) != 0) {
      return false;
    }
  }
  return true;
}

static stow_status run_attention(stow_kernel_call* call) {
  plan p;
  stowi_kernel_carve carve = {call->scratch, 0};
  for (size_t k = Q; k <= V; ++k) {
    stow_dtype dtype = stow_kernel_operand(call, k)->dtype;
    if (stowi_kernel_kind(dtype) != STOW_KIND_FLOAT || stowi_kernel_bits(dtype) < 16) {
      return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                              "operand %zu must be f32, f16, bf16 or f64", k);
    }
  }
  if (is_empty(call)) {
    return STOW_OK;
  }
  plan_call(call, &p, &carve);
  const stow_tensor* mask = p.a.mask.tensor;
  if (mask != NULL && mask_batches(mask) != 1 && mask_batches(mask) != p.a.batches) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "the mask must have 1 or %zu batches",
                            p.a.batches);
  }
  STOWI_KERNEL_TRY(place_queries(call, &p));
  for (size_t i = 0; i < 2; ++i) {
    if (p.joins[i]) {
      stowi_kernel_join_run(call, &p.join[i]);
    }
  }
  stowi_kernel_attend(call, &p.a);
  return STOW_OK;
}

STOWI_KERNEL(ATTENTION, scratch_attention, run_attention,
             .variant_count = STOWI_KERNEL_ATTEND_VARIANTS);
STOWI_KERNEL(FLEX_ATTENTION, scratch_attention, run_attention,
             .variant_count = STOWI_KERNEL_ATTEND_VARIANTS);
