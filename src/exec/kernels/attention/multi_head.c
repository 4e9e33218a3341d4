// multi_head_attention: q, k and v apart or packed in one tensor, with biases of their projections,
// masks of padding, and caches that grow or are written in place. The caches are written first.
#include <math.h>

#include "exec/kernels/attention/attend.h"
#include "exec/kernels/attention/fused.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

enum { Q, K, V, BIAS, PADDING, SCORE_BIAS, PAST_K, PAST_V, PAST_LENGTH, CACHE_ORDER };

typedef struct plan {
  stowi_kernel_attention a;
  stowi_kernel_kept kept[2];  // k, v
  stowi_kernel_join join[2];
  int64_t* past_counts;
  size_t fresh;  // new keys
  size_t past;   // keys before them
  bool is_shared;
} plan;

// Part |part| of |parts| that each head of [batch, sequence, heads, parts, size] has.
static stowi_kernel_heads part_of_heads(const stow_tensor* t, size_t heads, size_t part,
                                        size_t parts) {
  size_t size = (size_t)t->dims[4];
  stowi_kernel_heads view =
      stowi_kernel_heads_flat(t->data, t->dtype, heads, (size_t)t->dims[1], parts * size);
  view.first = part * size;
  return view;
}

// Part |part| of three of the last dim of [batch, sequence, 3 × heads × size].
static stowi_kernel_heads part_of_width(const stow_tensor* t, size_t heads, size_t part) {
  size_t size = (size_t)t->dims[2] / 3 / heads;
  stowi_kernel_heads view =
      stowi_kernel_heads_flat(t->data, t->dtype, 3 * heads, (size_t)t->dims[1], size);
  view.first = part * heads * size;
  return view;
}

static stowi_kernel_heads flat(const stow_tensor* t, size_t heads, size_t size) {
  return stowi_kernel_heads_flat(t->data, t->dtype, heads, (size_t)t->dims[1], size);
}

static void read_packed(const stow_tensor* q, plan* p) {
  size_t heads = p->a.heads;
  stowi_kernel_heads* const views[] = {&p->a.q, &p->kept[0].fresh, &p->kept[1].fresh};
  for (size_t i = 0; i < 3; ++i) {
    *views[i] = q->rank == 5 ? part_of_heads(q, heads, i, 3) : part_of_width(q, heads, i);
  }
  p->a.size = q->rank == 5 ? (size_t)q->dims[4] : (size_t)q->dims[2] / 3 / heads;
  p->a.value_size = p->a.size;
  p->fresh = p->a.queries;
}

static void read_apart(const stow_kernel_call* call, plan* p) {
  const stow_tensor* q = stow_kernel_operand(call, Q);
  const stow_tensor* k = stow_kernel_operand(call, K);
  const stow_tensor* v = stow_kernel_operand(call, V);
  stowi_kernel_attention* a = &p->a;
  a->size = (size_t)q->dims[2] / a->heads;
  a->q = flat(q, a->heads, a->size);
  p->fresh = (size_t)k->dims[k->rank == 4 ? 2 : 1];
  if (k->rank == 5) {
    a->value_size = (size_t)k->dims[4];
    p->kept[0].fresh = part_of_heads(k, a->heads, 0, 2);
    p->kept[1].fresh = part_of_heads(k, a->heads, 1, 2);
  } else if (k->rank == 4) {
    a->value_size = (size_t)v->dims[3];
    p->kept[0].fresh = stowi_kernel_heads_packed(k->data, k->dtype, a->heads, p->fresh, a->size);
    p->kept[1].fresh =
        stowi_kernel_heads_packed(v->data, v->dtype, a->heads, p->fresh, a->value_size);
  } else {
    a->value_size = (size_t)v->dims[2] / a->heads;
    p->kept[0].fresh = flat(k, a->heads, a->size);
    p->kept[1].fresh = flat(v, a->heads, a->value_size);
  }
}

// Keys that come as a cache does have had their bias already.
static void read_bias(const stow_kernel_call* call, plan* p) {
  const stow_tensor* bias = stow_kernel_operand(call, BIAS);
  const stow_tensor* k = stow_kernel_operand(call, K);
  p->a.change.bias = bias;
  for (size_t i = 0; i < 2 && (k == NULL || k->rank != 4); ++i) {
    p->kept[i].change.bias = bias;
    p->kept[i].change.bias_first = (i + 1) * p->a.heads * p->a.size;
  }
}

// How many keys there were: the cache's, or, where the cache has room for more, what is said. Its
// largest while that is not known. SIZE_MAX where that makes no sense.
static size_t past_length(const stow_kernel_call* call, const plan* p, bool is_counting) {
  const stow_tensor* past = stow_kernel_operand(call, PAST_K);
  const stow_tensor* length = stow_kernel_operand(call, PAST_LENGTH);
  if (past == NULL) {
    return 0;
  }
  size_t room = stowi_kernel_kept_room(past);
  if (!p->is_shared) {
    return room;
  }
  int64_t said = length == NULL || is_counting ? (int64_t)room - (int64_t)p->fresh
                                               : stowi_kernel_int_at(length, 0);
  return said < 0 || (uint64_t)said > room ? SIZE_MAX : (size_t)said;
}

static void plan_call(const stow_kernel_call* call, plan* p, stowi_kernel_carve* carve) {
  const stow_tensor* q = stow_kernel_operand(call, Q);
  *p = (plan){.is_shared = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_SHARE_PAST, false)};
  stowi_kernel_attention* a = &p->a;
  a->batches = (size_t)q->dims[0];
  a->queries = (size_t)q->dims[1];
  a->heads = a->kv_heads = (size_t)stowi_kernel_int(call, STOWI_KERNEL_ATTR_HEADS, 1);
  if (stow_kernel_operand(call, K) == NULL) {
    read_packed(q, p);
  } else {
    read_apart(call, p);
  }
  read_bias(call, p);
  const stow_tensor* past = stow_kernel_operand(call, PAST_K);
  bool is_counting = carve->base == NULL;
  p->past = past_length(call, p, is_counting);
  a->keys = is_counting && p->is_shared && past != NULL ? stowi_kernel_kept_room(past)
                                                        : p->past + p->fresh;
  p->past_counts = stowi_kernel_carve_take(carve, a->batches, sizeof(int64_t));
  stowi_kernel_heads* const views[] = {&a->k, &a->v};
  for (size_t i = 0; i < 2; ++i) {
    stowi_kernel_kept* kept = &p->kept[i];
    kept->fresh_count = p->fresh;
    kept->size = i == 0 ? a->size : a->value_size;
    kept->past = stow_kernel_operand(call, PAST_K + i);
    kept->cache = stow_kernel_result(call, 1 + i);
    kept->is_shared = p->is_shared;
    *views[i] = stowi_kernel_plan_kept(a, kept, p->past_counts, call->workers, carve, &p->join[i]);
  }
  stow_tensor* out = stow_kernel_result(call, 0);
  a->out = stowi_kernel_heads_flat(out->data, out->dtype, a->heads, a->queries, a->value_size);
  double scale = stowi_kernel_float(call, STOWI_KERNEL_ATTR_SCALE, 0);
  a->scale = scale == 0 ? 1 / sqrt((double)a->size) : scale;
  a->causal = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_CAUSAL, false);
  a->left = a->right = -1;
  a->mask = stowi_kernel_mask_of(stow_kernel_operand(call, SCORE_BIAS), 0);
  a->scores = stow_kernel_result(call, 3);
  a->stage = STOWI_KERNEL_STAGE_MASKED;
  stowi_kernel_attend_carve(call, a, carve);
}

static stow_status check(const stow_kernel_call* call) {
  stow_dtype dtype = stow_kernel_operand(call, Q)->dtype;
  if (dtype != STOW_F32 && dtype != STOW_F16 && dtype != STOW_BF16) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "q must be f32, f16 or bf16");
  }
  if (stow_kernel_operand(call, CACHE_ORDER) != NULL) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "beam search caches are unsupported");
  }
  const stow_tensor* past = stow_kernel_operand(call, PAST_K);
  if ((past == NULL) != (stow_kernel_operand(call, PAST_V) == NULL)) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "past k and past v must be given together");
  }
  const stow_tensor* length = stow_kernel_operand(call, PAST_LENGTH);
  if (stowi_kernel_bool(call, STOWI_KERNEL_ATTR_SHARE_PAST, false) && past != NULL &&
      (length == NULL || stow_tensor_elements(length) == 0)) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "a cache with spare capacity needs operand 8 (past length)");
  }
  return stowi_kernel_need_plain(call);
}

// What shapes do not tell yet.
static stow_status check_sizes(const stow_kernel_call* call, const plan* p) {
  const stowi_kernel_attention* a = &p->a;
  const stow_tensor* k = stow_kernel_operand(call, K);
  const stow_tensor* past = stow_kernel_operand(call, PAST_K);
  size_t rows = a->batches * p->fresh * a->heads;
  size_t kept = past == NULL ? 0 : a->batches * a->heads * stowi_kernel_kept_room(past);
  size_t widths = a->heads * (2 * a->size + a->value_size);
  size_t k_size = k != NULL && k->rank == 5 ? a->size + a->value_size : a->size;
  const size_t wanted[][2] = {{K, rows * k_size},
                              {V, rows * a->value_size},
                              {BIAS, widths},
                              {PAST_K, kept * a->size},
                              {PAST_V, kept * a->value_size}};
  for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); ++i) {
    STOWI_KERNEL_TRY(stowi_kernel_need_elements(call, wanted[i][0], wanted[i][1]));
  }
  if (past != NULL && p->is_shared &&
      (p->past > stowi_kernel_kept_room(past) ||
       p->fresh > stowi_kernel_kept_room(past) - p->past)) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "a cache of %zu cannot hold %zu more keys",
                            stowi_kernel_kept_room(past), p->fresh);
  }
  return stowi_kernel_need_bias(call, SCORE_BIAS, a);
}

static stow_status scratch_multi_head(const stow_kernel_call* call, uint64_t* out_bytes) {
  plan p;
  stowi_kernel_carve carve = {NULL, 0};
  plan_call(call, &p, &carve);
  *out_bytes = carve.used;
  return STOW_OK;
}

static stow_status run_multi_head(stow_kernel_call* call) {
  STOWI_KERNEL_TRY(check(call));
  plan p;
  stowi_kernel_carve carve = {call->scratch, 0};
  plan_call(call, &p, &carve);
  STOWI_KERNEL_TRY(check_sizes(call, &p));
  STOWI_KERNEL_TRY(stowi_kernel_place_queries(call, PADDING, p.past, p.past_counts, &p.a));
  stowi_kernel_attend_joined(call, p.join, &p.a);
  return STOW_OK;
}

STOWI_KERNEL(MULTI_HEAD_ATTENTION, scratch_multi_head, run_multi_head,
             .variant_count = STOWI_KERNEL_ATTEND_VARIANTS);
