// Attention in f64, one query at a time. Rare, so that it is plain: rows are converted as they are
// read, sums are in ascending order.
#include "exec/kernels/attention/attend_f64.h"

#include <math.h>

#include "exec/kernels/attention/mask.h"
#include "exec/kernels/support/convert.h"

typedef struct workspace {
  double* q;
  double* row;  // of k or v
  double* scores;
  double* out;
} workspace;

static workspace take_workspace(const stowi_attention* a, stowi_carve* carve) {
  workspace w;
  w.q = stowi_carve_take(carve, a->size, sizeof(double));
  w.row =
      stowi_carve_take(carve, a->size > a->value_size ? a->size : a->value_size, sizeof(double));
  w.scores = stowi_carve_take(carve, a->keys, sizeof(double));
  w.out = stowi_carve_take(carve, a->value_size, sizeof(double));
  return w;
}

uint64_t stowi_attend_f64_scratch(const stowi_attention* a) {
  stowi_carve one = {NULL, 0};
  (void)take_workspace(a, &one);
  return one.used;
}

static void load_row(const stowi_heads* heads, size_t batch, size_t head, size_t position,
                     size_t size, double* out) {
  stowi_load_f64(heads->dtype, heads->data, stowi_heads_at(heads, batch, head, position), size,
                 out);
}

static void show(const stowi_attention* a, const stowi_query* q, int stage, const double* row) {
  if (a->scores == NULL || a->stage != stage) {
    return;
  }
  size_t width = (size_t)a->scores->dims[a->scores->rank - 1];
  size_t first = ((q->batch * a->heads + q->head) * a->queries + q->query) * width;
  stowi_store_f64(a->scores->dtype, a->scores->data, first, a->keys, row);
}

static void score(const stowi_attention* a, const stowi_query* q, size_t kv_head,
                  const workspace* w) {
  for (size_t k = 0; k < a->keys; ++k) {
    load_row(&a->k, q->batch, kv_head, k, a->size, w->row);
    double sum = 0;
    for (size_t i = 0; i < a->size; ++i) {
      sum += w->q[i] * w->row[i];
    }
    w->scores[k] = sum * a->scale;
  }
}

static void softmax(double* row, size_t count) {
  double top = -INFINITY;
  double sum = 0;
  for (size_t i = 0; i < count; ++i) {
    top = row[i] > top ? row[i] : top;
  }
  for (size_t i = 0; i < count; ++i) {
    row[i] = row[i] == -INFINITY ? 0 : exp(row[i] - top);
    sum += row[i];
  }
  for (size_t i = 0; i < count && sum != 0; ++i) {
    row[i] /= sum;
  }
}

static void weigh(const stowi_attention* a, const stowi_query* q, double* row) {
  show(a, q, STOWI_STAGE_RAW, row);
  for (size_t k = 0; k < a->keys && a->softcap != 0; ++k) {
    row[k] = a->softcap * tanh(row[k] / a->softcap);
  }
  show(a, q, STOWI_STAGE_CAPPED, row);
  for (size_t k = 0; k < a->keys; ++k) {
    double value = stowi_mask_at(a, q, k);
    row[k] = value == -INFINITY ? -INFINITY : row[k] + value;
  }
  show(a, q, STOWI_STAGE_MASKED, row);
  softmax(row, a->keys);
  show(a, q, STOWI_STAGE_SOFTMAX, row);
}

static void attend_query(const stowi_attention* a, const stowi_query* q, const workspace* w) {
  size_t kv_head = q->head / (a->heads / a->kv_heads);
  load_row(&a->q, q->batch, q->head, q->query, a->size, w->q);
  score(a, q, kv_head, w);
  weigh(a, q, w->scores);
  for (size_t i = 0; i < a->value_size; ++i) {
    w->out[i] = 0;
  }
  for (size_t k = 0; k < a->keys; ++k) {
    load_row(&a->v, q->batch, kv_head, k, a->value_size, w->row);
    for (size_t i = 0; i < a->value_size; ++i) {
      w->out[i] += w->scores[k] * w->row[i];
    }
  }
  size_t at = stowi_heads_at(&a->out, q->batch, q->head, q->query);
  stowi_store_f64(a->out.dtype, a->out.data, at, a->value_size, w->out);
}

static void attend_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const stowi_attention* a = user;
  stowi_carve carve = {a->scratch + worker * a->scratch_stride, 0};
  workspace w = take_workspace(a, &carve);
  for (size_t i = begin; i < end; ++i) {
    stowi_query q = {i / a->queries / a->heads, i / a->queries % a->heads, i % a->queries, 0,
                     a->keys};
    attend_query(a, &q, &w);
  }
}

void stowi_attend_f64(const stow_kernel_call* call, const stowi_attention* a) {
  stowi_attention copy = *a;
  stow_kernel_split(call, a->batches * a->heads * a->queries, 1, attend_task, &copy);
}
