// Which keys a query sees. Ranges that all queries of a block leave out are not computed at all;
// within a block scores are hidden one by one.
#include "exec/kernels/attention/mask.h"

#include <math.h>

#include "exec/kernels/support/convert.h"

static size_t clamp_key(int64_t key, size_t keys) {
  return key < 0 ? 0 : (uint64_t)key > keys ? keys : (size_t)key;
}

// Far enough for every key, near enough to be added to.
static int64_t within_reach(int64_t distance) {
  return distance > INT64_MAX / 4 ? INT64_MAX / 4 : distance;
}

// What order alone decides: keys from |left| before the first query's to |right| after the last's.
static stowi_query keys_near(const stowi_attention* a, size_t batch, size_t head, size_t first,
                             size_t last) {
  stowi_query seen = {batch, head, first, 0, a->keys};
  int64_t offset = a->offsets[batch];
  int64_t right = a->causal ? 0 : a->right;
  if (right >= 0) {
    seen.end = clamp_key(offset + (int64_t)last + within_reach(right) + 1, a->keys);
  }
  if (a->left >= 0) {
    seen.begin = clamp_key(offset + (int64_t)first - within_reach(a->left), a->keys);
  }
  return seen;
}

stowi_query stowi_keys_seen(const stowi_attention* a, size_t batch, size_t head, size_t first,
                            size_t last) {
  stowi_query seen = keys_near(a, batch, head, first, last);
  if (isinf(a->outside)) {
    size_t begin = clamp_key(a->starts[batch], a->keys);
    size_t end = clamp_key(a->ends[batch], a->keys);
    seen.begin = begin > seen.begin ? begin : seen.begin;
    seen.end = end < seen.end ? end : seen.end;
  }
  seen.begin = seen.begin > seen.end ? seen.end : seen.begin;
  return seen;
}

stowi_mask stowi_mask_of(const stow_tensor* tensor, double hidden) {
  stowi_mask mask = {tensor, 0, 0, 0, 0, SIZE_MAX, hidden};
  if (tensor == NULL) {
    return mask;
  }
  size_t* const strides[] = {&mask.key, &mask.query, &mask.head, &mask.batch};
  size_t stride = 1;
  for (uint32_t i = 0; i < tensor->rank; ++i) {
    size_t dim = (size_t)tensor->dims[tensor->rank - 1 - i];
    if (i < 4) {
      *strides[i] = dim == 1 ? 0 : stride;
    }
    stride *= dim;
  }
  if (mask.key != 0) {
    mask.keys = (size_t)tensor->dims[tensor->rank - 1];
  }
  return mask;
}

// A hidden score is set, not added to: it may be infinite itself.
static float masked(float score, float value) {
  return value == -INFINITY ? -INFINITY : score + value;
}

static void add_block(const stowi_mask* m, size_t first, size_t count, float* row) {
  float block[STOWI_BLOCK];
  stow_dtype dtype = m->tensor->dtype;
  stowi_load_f32(dtype, m->tensor->data, first, m->key == 0 ? 1 : count, block);
  bool is_float = stowi_kind(dtype) == STOW_KIND_FLOAT;
  float hidden = (float)m->hidden;
  for (size_t i = 0; i < count; ++i) {
    float value = block[m->key == 0 ? 0 : i];
    row[i] = masked(row[i], is_float ? value : value > 0 ? 0.0F : hidden);
  }
}

// |row| holds the scores from |q->begin| on.
static void add_mask(const stowi_mask* m, const stowi_query* q, float* row) {
  if (m->tensor == NULL) {
    return;
  }
  size_t first = q->batch * m->batch + q->head * m->head + q->query * m->query;
  size_t end = q->end < m->keys ? q->end : m->keys;
  for (size_t k = q->begin; k < end; k += STOWI_BLOCK) {
    size_t count = end - k < STOWI_BLOCK ? end - k : STOWI_BLOCK;
    add_block(m, first + k * m->key, count, row + (k - q->begin));
  }
  for (size_t k = end > q->begin ? end : q->begin; k < q->end; ++k) {
    row[k - q->begin] = -INFINITY;
  }
}

static void hide(const stowi_query* q, float* row, size_t begin, size_t end, float value) {
  begin = begin < q->begin ? q->begin : begin;
  end = end > q->end ? q->end : end;
  for (size_t k = begin; k < end; ++k) {
    row[k - q->begin] = masked(row[k - q->begin], value);
  }
}

void stowi_hide_keys(const stowi_attention* a, const stowi_query* q, float* row) {
  add_mask(&a->mask, q, row);
  add_mask(&a->padding, q, row);
  size_t start = clamp_key(a->starts[q->batch], a->keys);
  size_t end = clamp_key(a->ends[q->batch], a->keys);
  hide(q, row, 0, start, (float)a->outside);
  hide(q, row, end > start ? end : start, a->keys, (float)a->outside);
  stowi_query seen = keys_near(a, q->batch, q->head, q->query, q->query);
  hide(q, row, 0, seen.begin, -INFINITY);
  hide(q, row, seen.end, a->keys, -INFINITY);
}

static double value_at(const stowi_mask* m, const stowi_query* q, size_t key) {
  if (m->tensor == NULL) {
    return 0;
  }
  if (key >= m->keys) {
    return -INFINITY;
  }
  size_t i = q->batch * m->batch + q->head * m->head + q->query * m->query + key * m->key;
  if (stowi_kind(m->tensor->dtype) == STOW_KIND_FLOAT) {
    return stowi_float_at(m->tensor, i);
  }
  return stowi_int_at(m->tensor, i) > 0 ? 0 : m->hidden;
}

double stowi_mask_at(const stowi_attention* a, const stowi_query* q, size_t key) {
  stowi_query seen = keys_near(a, q->batch, q->head, q->query, q->query);
  bool is_there = (int64_t)key >= a->starts[q->batch] && (int64_t)key < a->ends[q->batch];
  if (key < seen.begin || key >= seen.end) {
    return -INFINITY;
  }
  return value_at(&a->mask, q, key) + value_at(&a->padding, q, key) + (is_there ? 0 : a->outside);
}
