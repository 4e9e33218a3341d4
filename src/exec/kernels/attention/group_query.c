// group_query_attention: several heads of q share one of k and v; q and k may be normalised and
// rotated here; each batch has its own number of keys in a cache that has room for more. The
// caches are written first.
#include <math.h>

#include "exec/kernels/attention/attend.h"
#include "exec/kernels/attention/fused.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

enum {
  Q,
  K,
  V,
  PAST_K,
  PAST_V,
  LENGTHS,
  TOTAL,
  COSINES,
  SINES,
  POSITIONS,
  SCORE_BIAS,
  SINK,
  Q_NORM = 14,
  K_NORM
};

typedef struct plan {
  stowi_kernel_attention a;
  stowi_kernel_kept kept[2];  // k, v
  stowi_kernel_join join[2];
  int64_t* past_counts;  // of each batch
  int64_t* past_skips;
  int64_t* turn_offsets;
  size_t fresh;
  bool is_shared;
} plan;

static void read_heads(const stow_kernel_call* call, plan* p) {
  const stow_tensor* q = stow_kernel_operand(call, Q);
  const stow_tensor* k = stow_kernel_operand(call, K);
  const stow_tensor* v = stow_kernel_operand(call, V);
  stowi_kernel_attention* a = &p->a;
  a->batches = (size_t)q->dims[0];
  a->queries = (size_t)q->dims[1];
  a->heads = (size_t)stowi_kernel_int(call, STOWI_KERNEL_ATTR_HEADS, 1);
  a->kv_heads = (size_t)stowi_kernel_int(call, STOWI_KERNEL_ATTR_KV_HEADS, 1);
  size_t all = k == NULL ? a->heads + 2 * a->kv_heads : a->heads;
  a->size = a->value_size = (size_t)q->dims[2] / all;
  a->q = stowi_kernel_heads_flat(q->data, q->dtype, all, a->queries, a->size);
  p->fresh = k == NULL ? a->queries : (size_t)k->dims[1];
  for (size_t i = 0; i < 2; ++i) {
    const stow_tensor* t = i == 0 ? k : v;
    p->kept[i].fresh = a->q;
    p->kept[i].fresh.first = (a->heads + i * a->kv_heads) * a->size;
    if (t != NULL) {
      p->kept[i].fresh = stowi_kernel_heads_flat(t->data, t->dtype, a->kv_heads, p->fresh, a->size);
    }
  }
}

static stowi_kernel_change change_of(const stow_kernel_call* call, const plan* p, size_t norm) {
  stowi_kernel_change change = {
      .norm = stow_kernel_operand(call, norm),
      .epsilon = stowi_kernel_float(call, STOWI_KERNEL_ATTR_NORM_EPSILON, 1e-6),
      .interleaved = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_INTERLEAVED, false),
      .sequence = p->a.queries,
      .offsets = p->turn_offsets};
  if (stowi_kernel_bool(call, STOWI_KERNEL_ATTR_ROTARY, false)) {
    change.cosines = stow_kernel_operand(call, COSINES);
    change.sines = stow_kernel_operand(call, SINES);
  }
  return change;
}

// Keys that the caches have room for.
static size_t room_of(const stow_kernel_call* call, const plan* p) {
  const stow_tensor* cache = stow_kernel_result(call, 1);
  const stow_tensor* past = stow_kernel_operand(call, PAST_K);
  if (cache != NULL) {
    return stowi_kernel_kept_room(cache);
  }
  size_t before = past == NULL ? 0 : stowi_kernel_kept_room(past);
  return p->is_shared ? before : before + p->fresh;
}

static void plan_call(const stow_kernel_call* call, plan* p, stowi_kernel_carve* carve) {
  *p = (plan){.is_shared = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_SHARE_PAST, false)};
  stowi_kernel_attention* a = &p->a;
  read_heads(call, p);
  a->keys = room_of(call, p);
  p->past_counts = stowi_kernel_carve_take(carve, a->batches, sizeof(int64_t));
  p->past_skips = stowi_kernel_carve_take(carve, a->batches, sizeof(int64_t));
  p->turn_offsets = stowi_kernel_carve_take(carve, a->batches, sizeof(int64_t));
  a->change = change_of(call, p, Q_NORM);
  p->kept[0].change = change_of(call, p, K_NORM);
  stowi_kernel_heads* const views[] = {&a->k, &a->v};
  for (size_t i = 0; i < 2; ++i) {
    stowi_kernel_kept* kept = &p->kept[i];
    kept->fresh_count = p->fresh;
    kept->size = a->size;
    kept->past = stow_kernel_operand(call, PAST_K + i);
    kept->cache = stow_kernel_result(call, 1 + i);
    kept->is_shared = p->is_shared;
    *views[i] = stowi_kernel_plan_kept(a, kept, p->past_counts, call->workers, carve, &p->join[i]);
    p->join[i].past_skips = p->past_skips;
  }
  stow_tensor* out = stow_kernel_result(call, 0);
  a->out = stowi_kernel_heads_flat(out->data, out->dtype, a->heads, a->queries, a->size);
  double scale = stowi_kernel_float(call, STOWI_KERNEL_ATTR_SCALE, 0);
  int64_t window = stowi_kernel_int(call, STOWI_KERNEL_ATTR_WINDOW, -1);
  int64_t shown = stowi_kernel_int(call, STOWI_KERNEL_ATTR_SCORES, 0);
  a->scale = scale == 0 ? 1 / sqrt((double)a->size) : scale;
  a->softcap = stowi_kernel_float(call, STOWI_KERNEL_ATTR_SOFTCAP, 0);
  a->causal = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_CAUSAL, true);
  a->left = window > 0 ? window - 1 : -1;
  a->right = -1;
  a->outside = -INFINITY;
  a->mask = stowi_kernel_mask_of(stow_kernel_operand(call, SCORE_BIAS), 0);
  a->smooth = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_SMOOTH_SOFTMAX, false);
  a->sink = stow_kernel_operand(call, SINK);
  a->scores = shown == 0 ? NULL : stow_kernel_result(call, 3);
  a->stage = shown == 2 ? STOWI_KERNEL_STAGE_SOFTMAX : STOWI_KERNEL_STAGE_MASKED;
  a->blanks = true;
  stowi_kernel_attend_carve(call, a, carve);
}

static stow_status check(const stow_kernel_call* call) {
  stow_dtype dtype = stow_kernel_operand(call, Q)->dtype;
  if (dtype != STOW_F32 && dtype != STOW_F16 && dtype != STOW_BF16) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "q must be f32, f16 or bf16");
  }
  if (!stowi_kernel_is(call, STOWI_KERNEL_ATTR_K_QUANT, "none") ||
      !stowi_kernel_is(call, STOWI_KERNEL_ATTR_V_QUANT, "none")) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "caches must hold floats; quantised caches are unsupported");
  }
  if (stowi_kernel_bool(call, STOWI_KERNEL_ATTR_ROTARY, false) &&
      (stow_kernel_operand(call, COSINES) == NULL || stow_kernel_operand(call, SINES) == NULL)) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "rotation needs operands 7 and 8 (cosines, sines)");
  }
  if ((stow_kernel_operand(call, PAST_K) == NULL) != (stow_kernel_operand(call, PAST_V) == NULL)) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "past k and past v must be given together");
  }
  if (stow_kernel_operand(call, LENGTHS) == NULL) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "operand 5 (lengths) is missing");
  }
  return stowi_kernel_need_plain(call);
}

// What shapes do not tell yet.
static stow_status check_sizes(const stow_kernel_call* call, const plan* p) {
  const stowi_kernel_attention* a = &p->a;
  const stow_tensor* past = stow_kernel_operand(call, PAST_K);
  size_t fresh = a->batches * p->fresh * a->kv_heads * a->size;
  size_t kept =
      past == NULL ? 0 : a->batches * a->kv_heads * stowi_kernel_kept_room(past) * a->size;
  const size_t wanted[][2] = {{K, fresh},        {V, fresh},           {PAST_K, kept},
                              {PAST_V, kept},    {SINK, a->heads},     {Q_NORM, a->size},
                              {K_NORM, a->size}, {LENGTHS, a->batches}};
  for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); ++i) {
    STOWI_KERNEL_TRY(stowi_kernel_need_elements(call, wanted[i][0], wanted[i][1]));
  }
  const stow_tensor* bias = stow_kernel_operand(call, SCORE_BIAS);
  stowi_kernel_attention scored = *a;  // a bias may be for fewer keys than the cache has room for
  scored.keys = bias == NULL || bias->rank != 4 ? a->keys : (size_t)bias->dims[3];
  return stowi_kernel_need_bias(call, SCORE_BIAS, &scored);
}

// Where only the kernel can tell, the caches are as long as the longer one of the past and the
// whole.
static void fit_caches(const stow_kernel_call* call) {
  const stow_tensor* past = stow_kernel_operand(call, PAST_K);
  const stow_tensor* total = stow_kernel_operand(call, TOTAL);
  if (past == NULL || total == NULL ||
      stowi_kernel_bool(call, STOWI_KERNEL_ATTR_SHARE_PAST, false)) {
    return;
  }
  int64_t before = (int64_t)stowi_kernel_kept_room(past);
  int64_t whole = stowi_kernel_int_at(total, 0);
  int64_t length = whole > before ? whole : before;
  for (size_t k = 1; k <= 3; ++k) {
    stow_tensor* result = stow_kernel_result(call, k);
    uint32_t axis = k == 3 ? 3 : 2;
    if (result != NULL && length < result->dims[axis]) {
      result->dims[axis] = length;
    }
  }
}

// How many of |count| keys a shared cache holds: when it is full, so many of the first are dropped
// at once that a window stays and the cache can fill up again.
static int64_t resident(const stow_kernel_call* call, const plan* p, int64_t count) {
  int64_t room = (int64_t)p->a.keys;
  int64_t window = stowi_kernel_int(call, STOWI_KERNEL_ATTR_WINDOW, -1);
  if (!p->is_shared || window <= 0 || window > room || count <= room) {
    return count;
  }
  int64_t step = room - window + 1;
  return count - (count - room + step - 1) / step * step;
}

static stow_status refuse_batch(const stow_kernel_call* call, const plan* p, size_t b,
                                int64_t whole) {
  return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                          "batch %zu: %lld keys (%zu new) do not fit a cache of %zu", b,
                          (long long)whole, p->fresh, p->a.keys);
}

// A batch's keys are its length and one more; its queries are the last of them. When there is no
// past, all begin at 0, and shorter ones are padded at the end.
static stow_status place_batch(const stow_kernel_call* call, plan* p, size_t b) {
  stowi_kernel_attention* a = &p->a;
  const stow_tensor* past = stow_kernel_operand(call, PAST_K);
  const stow_tensor* total = stow_kernel_operand(call, TOTAL);
  int64_t fresh = (int64_t)p->fresh;
  int64_t last = stowi_kernel_int_at(stow_kernel_operand(call, LENGTHS), b);
  int64_t whole = last == INT64_MAX ? last : last + 1;
  bool is_first = past == NULL || (total != NULL && stowi_kernel_int_at(total, 0) == fresh);
  int64_t before = is_first ? 0 : whole - fresh;
  if (whole < 0 || before < 0) {
    return refuse_batch(call, p, b, whole);
  }
  int64_t had = resident(call, p, before);
  int64_t has = before == 0 ? fresh : resident(call, p, whole);
  int64_t dropped = had + fresh - has;
  if (dropped > had || (uint64_t)has > a->keys ||
      (had != 0 && (uint64_t)had > stowi_kernel_kept_room(past))) {
    return refuse_batch(call, p, b, whole);
  }
  if ((dropped != 0 && has - fresh < a->left) || (has < whole && a->mask.tensor != NULL)) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "a cache that drops keys must hold the windows of all %zu queries, and "
                            "no bias may be given",
                            p->fresh);
  }
  p->past_counts[b] = had - dropped;
  p->past_skips[b] = dropped;
  a->offsets[b] = had - dropped;
  a->starts[b] = 0;
  a->ends[b] = before == 0 ? whole : has;
  p->turn_offsets[b] = before;
  return STOW_OK;
}

// Positions are given, or follow from lengths. A first prompt has one for all of it.
static stow_status place_rotation(const stow_kernel_call* call, plan* p, size_t b) {
  const stow_tensor* positions = stow_kernel_operand(call, POSITIONS);
  const stow_tensor* cosines = p->a.change.cosines;
  if (cosines == NULL) {
    return STOW_OK;
  }
  if (cosines->rank != 2 || (size_t)cosines->dims[1] * 2 > p->a.size ||
      stow_tensor_elements(cosines) != stow_tensor_elements(p->a.change.sines)) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "rotation tables must be [positions, pairs], with at most %zu elements "
                            "in the pairs of a row",
                            p->a.size);
  }
  if (positions != NULL && stow_tensor_elements(positions) == 0) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "operand 9 (positions) is empty");
  }
  bool is_each = positions != NULL && p->turn_offsets[b] != 0 &&
                 stow_tensor_elements(positions) == p->a.batches * p->a.queries;
  if (positions != NULL && !is_each) {
    p->turn_offsets[b] = stowi_kernel_int_at(positions, 0);
  }
  for (size_t s = 0; s < p->a.queries; ++s) {
    int64_t position = is_each ? stowi_kernel_int_at(positions, b * p->a.queries + s)
                               : p->turn_offsets[b] + (int64_t)s;
    if (position < 0 || position >= cosines->dims[0]) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "position %lld is out of range (tables of %lld)", (long long)position,
                              (long long)cosines->dims[0]);
    }
  }
  if (is_each) {
    p->a.change.positions = p->join[0].change.positions = positions;
  }
  return STOW_OK;
}

static stow_status scratch_group_query(const stow_kernel_call* call, uint64_t* out_bytes) {
  plan p;
  stowi_kernel_carve carve = {NULL, 0};
  plan_call(call, &p, &carve);
  *out_bytes = carve.used;
  return STOW_OK;
}

static stow_status run_group_query(stow_kernel_call* call) {
  STOWI_KERNEL_TRY(check(call));
  plan p;
  stowi_kernel_carve carve = {call->scratch, 0};
  fit_caches(call);
  plan_call(call, &p, &carve);
  STOWI_KERNEL_TRY(check_sizes(call, &p));
  for (size_t b = 0; b < p.a.batches; ++b) {
    STOWI_KERNEL_TRY(place_batch(call, &p, b));
    STOWI_KERNEL_TRY(place_rotation(call, &p, b));
  }
  stowi_kernel_attend_joined(call, p.join, &p.a);
  return STOW_OK;
}

STOWI_KERNEL(GROUP_QUERY_ATTENTION, scratch_group_query, run_group_query,
             .variant_count = STOWI_KERNEL_ATTEND_VARIANTS);
