// Scaled dot product attention: visible keys, the f64 path and the f32 path.
#include "exec/kernels/attention/attend.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "exec/kernels/attention/head_product.h"
#include "exec/kernels/matrix/gemm.h"
#include "exec/kernels/rows/loops.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/math.h"
#include "exec/kernels/support/vector.h"

// Softmax of scores in place, with |extra| as one more. A row of which all is -INFINITY becomes
// zeros.
static void softmax(float* row, size_t count, float extra) {
  if (stowi_kernel_softmax_rows_f32(row, 1, count, extra, row) == -INFINITY) {
    memset(row, 0, count * sizeof(*row));
  }
}

static void softmax_f64(double* row, size_t count) {
  if (stowi_kernel_softmax_rows_f64(row, 1, count, -INFINITY, row) == -INFINITY) {
    memset(row, 0, count * sizeof(*row));
  }
}

// ---------------------------------------------------------------------------------------------
// Which keys a query sees. Keys that no query of a block sees are not computed at all; within a
// block, scores are hidden one by one.

// Scores of one query: keys [begin, end) of |row|, which is that of a block.
typedef struct query_keys {
  size_t batch, head, query;
  size_t begin, end;
} query_keys;

static size_t clamp_key(int64_t key, size_t keys) {
  return key < 0 ? 0 : (uint64_t)key > keys ? keys : (size_t)key;
}

// Far enough for every key, near enough to be added to.
static int64_t within_reach(int64_t distance) {
  return distance > INT64_MAX / 4 ? INT64_MAX / 4 : distance;
}

// What order alone decides: keys from |left| before the first query's to |right| after the last's.
static query_keys keys_near(const stowi_kernel_attention* a, size_t batch, size_t head,
                            size_t first, size_t last) {
  query_keys seen = {batch, head, first, 0, a->keys};
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

// The keys that any of the queries [first, last] sees. What masks hide is not left out.
static query_keys keys_seen(const stowi_kernel_attention* a, size_t batch, size_t head,
                            size_t first, size_t last) {
  query_keys seen = keys_near(a, batch, head, first, last);
  if (isinf(a->outside)) {
    size_t begin = clamp_key(a->starts[batch], a->keys);
    size_t end = clamp_key(a->ends[batch], a->keys);
    seen.begin = begin > seen.begin ? begin : seen.begin;
    seen.end = end < seen.end ? end : seen.end;
  }
  seen.begin = seen.begin > seen.end ? seen.end : seen.begin;
  return seen;
}

stowi_kernel_mask stowi_kernel_mask_of(const stow_tensor* tensor, double hidden) {
  stowi_kernel_mask mask = {tensor, 0, 0, 0, 0, SIZE_MAX, hidden};
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

static void add_block(const stowi_kernel_mask* m, size_t first, size_t count, float* row) {
  float block[STOWI_KERNEL_BLOCK];
  stow_dtype dtype = m->tensor->dtype;
  stowi_kernel_load_f32(dtype, m->tensor->data, first, m->key == 0 ? 1 : count, block);
  bool is_float = stowi_kernel_kind(dtype) == STOW_KIND_FLOAT;
  float hidden = (float)m->hidden;
  for (size_t i = 0; i < count; ++i) {
    float value = block[m->key == 0 ? 0 : i];
    row[i] = masked(row[i], is_float ? value : value > 0 ? 0.0F : hidden);
  }
}

// |row| holds the scores from |q->begin| on.
static void add_mask(const stowi_kernel_mask* m, const query_keys* q, float* row) {
  if (m->tensor == NULL) {
    return;
  }
  size_t first = q->batch * m->batch + q->head * m->head + q->query * m->query;
  size_t end = q->end < m->keys ? q->end : m->keys;
  for (size_t k = q->begin; k < end; k += STOWI_KERNEL_BLOCK) {
    size_t count = end - k < STOWI_KERNEL_BLOCK ? end - k : STOWI_KERNEL_BLOCK;
    add_block(m, first + k * m->key, count, row + (k - q->begin));
  }
  for (size_t k = end > q->begin ? end : q->begin; k < q->end; ++k) {
    row[k - q->begin] = -INFINITY;
  }
}

static void hide(const query_keys* q, float* row, size_t begin, size_t end, float value) {
  begin = begin < q->begin ? q->begin : begin;
  end = end > q->end ? q->end : end;
  for (size_t k = begin; k < end; ++k) {
    row[k - q->begin] = masked(row[k - q->begin], value);
  }
}

// Adds masks to the scores of query |q|, and hides what it does not see. |row| holds keys
// [q->begin, q->end).
static void hide_keys(const stowi_kernel_attention* a, const query_keys* q, float* row) {
  add_mask(&a->mask, q, row);
  add_mask(&a->padding, q, row);
  size_t start = clamp_key(a->starts[q->batch], a->keys);
  size_t end = clamp_key(a->ends[q->batch], a->keys);
  hide(q, row, 0, start, (float)a->outside);
  hide(q, row, end > start ? end : start, a->keys, (float)a->outside);
  query_keys seen = keys_near(a, q->batch, q->head, q->query, q->query);
  hide(q, row, 0, seen.begin, -INFINITY);
  hide(q, row, seen.end, a->keys, -INFINITY);
}

static double value_at(const stowi_kernel_mask* m, const query_keys* q, size_t key) {
  if (m->tensor == NULL) {
    return 0;
  }
  if (key >= m->keys) {
    return -INFINITY;
  }
  size_t i = q->batch * m->batch + q->head * m->head + q->query * m->query + key * m->key;
  if (stowi_kernel_kind(m->tensor->dtype) == STOW_KIND_FLOAT) {
    return stowi_kernel_float_at(m->tensor, i);
  }
  return stowi_kernel_int_at(m->tensor, i) > 0 ? 0 : m->hidden;
}

// What the same adds to the score of one key.
static double mask_at(const stowi_kernel_attention* a, const query_keys* q, size_t key) {
  query_keys seen = keys_near(a, q->batch, q->head, q->query, q->query);
  bool is_there = (int64_t)key >= a->starts[q->batch] && (int64_t)key < a->ends[q->batch];
  if (key < seen.begin || key >= seen.end) {
    return -INFINITY;
  }
  return value_at(&a->mask, q, key) + value_at(&a->padding, q, key) + (is_there ? 0 : a->outside);
}

// ---------------------------------------------------------------------------------------------
// Attention in f64, one query at a time. Rare, so the code is plain: rows are converted as they are
// read, and sums are in ascending order.

typedef struct workspace_f64 {
  double* q;
  double* row;  // of k or v
  double* scores;
  double* out;
} workspace_f64;

static workspace_f64 take_workspace_f64(const stowi_kernel_attention* a,
                                        stowi_kernel_carve* carve) {
  workspace_f64 w;
  w.q = stowi_kernel_carve_take(carve, a->size, sizeof(double));
  w.row = stowi_kernel_carve_take(carve, a->size > a->value_size ? a->size : a->value_size,
                                  sizeof(double));
  w.scores = stowi_kernel_carve_take(carve, a->keys, sizeof(double));
  w.out = stowi_kernel_carve_take(carve, a->value_size, sizeof(double));
  return w;
}

// Bytes for one worker.
static uint64_t attend_f64_scratch(const stowi_kernel_attention* a) {
  stowi_kernel_carve one = {NULL, 0};
  (void)take_workspace_f64(a, &one);
  return one.used;
}

static void load_row(const stowi_kernel_heads* heads, size_t batch, size_t head, size_t position,
                     size_t size, double* out) {
  stowi_kernel_load_f64(heads->dtype, heads->data,
                        stowi_kernel_heads_at(heads, batch, head, position), size, out);
}

static void show_f64(const stowi_kernel_attention* a, const query_keys* q, int stage,
                     const double* row) {
  if (a->scores == NULL || a->stage != stage) {
    return;
  }
  size_t width = (size_t)a->scores->dims[a->scores->rank - 1];
  size_t first = ((q->batch * a->heads + q->head) * a->queries + q->query) * width;
  stowi_kernel_store_f64(a->scores->dtype, a->scores->data, first, a->keys, row);
}

static void score(const stowi_kernel_attention* a, const query_keys* q, size_t kv_head,
                  const workspace_f64* w) {
  for (size_t k = 0; k < a->keys; ++k) {
    load_row(&a->k, q->batch, kv_head, k, a->size, w->row);
    double sum = 0;
    for (size_t i = 0; i < a->size; ++i) {
      sum += w->q[i] * w->row[i];
    }
    w->scores[k] = sum * a->scale;
  }
}

static void weigh_f64(const stowi_kernel_attention* a, const query_keys* q, double* row) {
  show_f64(a, q, STOWI_KERNEL_STAGE_RAW, row);
  for (size_t k = 0; k < a->keys && a->softcap != 0; ++k) {
    row[k] = a->softcap * tanh(row[k] / a->softcap);
  }
  show_f64(a, q, STOWI_KERNEL_STAGE_CAPPED, row);
  for (size_t k = 0; k < a->keys; ++k) {
    double value = mask_at(a, q, k);
    row[k] = value == -INFINITY ? -INFINITY : row[k] + value;
  }
  show_f64(a, q, STOWI_KERNEL_STAGE_MASKED, row);
  softmax_f64(row, a->keys);
  show_f64(a, q, STOWI_KERNEL_STAGE_SOFTMAX, row);
}

static void attend_query(const stowi_kernel_attention* a, const query_keys* q,
                         const workspace_f64* w) {
  size_t kv_head = q->head / (a->heads / a->kv_heads);
  load_row(&a->q, q->batch, q->head, q->query, a->size, w->q);
  score(a, q, kv_head, w);
  weigh_f64(a, q, w->scores);
  for (size_t i = 0; i < a->value_size; ++i) {
    w->out[i] = 0;
  }
  for (size_t k = 0; k < a->keys; ++k) {
    load_row(&a->v, q->batch, kv_head, k, a->value_size, w->row);
    for (size_t i = 0; i < a->value_size; ++i) {
      w->out[i] += w->scores[k] * w->row[i];
    }
  }
  size_t at = stowi_kernel_heads_at(&a->out, q->batch, q->head, q->query);
  stowi_kernel_store_f64(a->out.dtype, a->out.data, at, a->value_size, w->out);
}

static void attend_task_f64(void* user, size_t begin, size_t end, uint32_t worker) {
  const stowi_kernel_attention* a = user;
  stowi_kernel_carve carve = {a->scratch + worker * a->scratch_stride, 0};
  workspace_f64 w = take_workspace_f64(a, &carve);
  for (size_t i = begin; i < end; ++i) {
    query_keys q = {i / a->queries / a->heads, i / a->queries % a->heads, i % a->queries, 0,
                    a->keys};
    attend_query(a, &q, &w);
  }
}

// The same as stowi_kernel_attend, with all numbers in f64. Rows of q are taken as they are.
static void attend_f64(const stow_kernel_call* call, const stowi_kernel_attention* a) {
  stowi_kernel_attention copy = *a;
  stow_kernel_split(call, a->batches * a->heads * a->queries, 1, attend_task_f64, &copy);
}

// ---------------------------------------------------------------------------------------------
// Attention in f32. A unit of work is a block of queries of one head. Its scores for all keys that
// any of these queries sees are in the worker's scratch, so memory grows with the number of keys,
// not with its square. f16 and bf16 are converted to f32 unit by unit. The bits depend on the block
// size, which is fixed, and not on which worker computes a block.
//
// Cost: 2 · queries · keys · size multiplications per head, fewer where keys are hidden.

#define ROWS 64      // queries in a block
#define SOME_ROWS 8  // of them at a time, in variant 1

// Scratch of one worker.
typedef struct workspace {
  float* q;
  float* k;
  float* v;
  float* out;
  float* scores;
  void* gemm;
} workspace;

static size_t block_rows(const stowi_kernel_attention* a) {
  return a->queries < ROWS ? a->queries : ROWS;
}

// Queries whose scores are in scratch at a time.
static size_t rows_at_once(const stowi_kernel_attention* a) {
  size_t rows = a->variant == 0 ? ROWS : a->variant == 1 ? SOME_ROWS : 1;
  return a->queries < rows ? a->queries : rows;
}

static workspace take_workspace(const stowi_kernel_attention* a, stowi_kernel_carve* carve) {
  size_t rows = rows_at_once(a);
  bool is_plain = a->q.dtype == STOW_F32 && stowi_kernel_change_is_none(&a->change);
  bool is_lean = a->variant != 0;
  uint64_t scores = stowi_kernel_head_product_scratch(&a->k, rows, a->keys, a->size, is_lean);
  uint64_t values = stowi_kernel_head_product_scratch(&a->v, rows, a->value_size, a->keys, is_lean);
  workspace w;
  w.q = stowi_kernel_carve_take(carve, is_plain ? 0 : stowi_kernel_times(rows, a->size),
                                sizeof(float));
  w.k = stowi_kernel_carve_take(
      carve, a->k.dtype != STOW_F32 && !is_lean ? stowi_kernel_times(a->keys, a->size) : 0,
      sizeof(float));
  w.v = stowi_kernel_carve_take(
      carve, a->v.dtype != STOW_F32 && !is_lean ? stowi_kernel_times(a->keys, a->value_size) : 0,
      sizeof(float));
  w.out = stowi_kernel_carve_take(
      carve, a->out.dtype == STOW_F32 ? 0 : stowi_kernel_times(rows, a->value_size), sizeof(float));
  w.scores = stowi_kernel_carve_take(carve, stowi_kernel_times(rows, a->keys), sizeof(float));
  w.gemm = stowi_kernel_carve_take(carve, scores > values ? scores : values, 1);
  return w;
}

void stowi_kernel_attend_carve(const stow_kernel_call* call, stowi_kernel_attention* a,
                               stowi_kernel_carve* carve) {
  a->variant = stowi_kernel_variant(call);
  a->offsets = stowi_kernel_carve_take(carve, a->batches, sizeof(int64_t));
  a->starts = stowi_kernel_carve_take(carve, a->batches, sizeof(int64_t));
  a->ends = stowi_kernel_carve_take(carve, a->batches, sizeof(int64_t));
  stowi_kernel_carve one = {NULL, 0};
  if (a->in_f64) {
    one.used = attend_f64_scratch(a);
  } else {
    (void)take_workspace(a, &one);
  }
  a->scratch_stride = one.used;
  a->scratch = stowi_kernel_carve_take(carve, call->workers, one.used);
}

void stowi_kernel_attend_see_all(stowi_kernel_attention* a) {
  for (size_t b = 0; b < a->batches; ++b) {
    a->offsets[b] = 0;
    a->starts[b] = 0;
    a->ends[b] = (int64_t)a->keys;
  }
}

// ---------------------------------------------------------------------------------------------
// One block

static stowi_kernel_matrix read_queries(const stowi_kernel_attention* a, const query_keys* q,
                                        size_t rows, float* buffer) {
  if (stowi_kernel_change_is_none(&a->change)) {
    return stowi_kernel_head_rows(&a->q, q->batch, q->head, q->query, rows, a->size, buffer);
  }
  for (size_t i = 0; i < rows; ++i) {
    size_t at = stowi_kernel_heads_at(&a->q, q->batch, q->head, q->query + i);
    stowi_kernel_load_f32(a->q.dtype, a->q.data, at, a->size, buffer + i * a->size);
    stowi_kernel_change_row(&a->change, q->batch, q->head, q->query + i, a->size,
                            buffer + i * a->size);
  }
  return (stowi_kernel_matrix){buffer, a->size, 1};
}

STOWI_KERNEL_LOOP(cap_scores, (float cap, size_t count, float* row), (cap, count, row)) {
  for (size_t i = 0; i < count; ++i) {
    row[i] = cap * stowi_kernel_tanhf(has_fma, row[i] / cap);
  }
}

// Gives away the scores of |q| where this is the requested stage. |row| holds all keys.
static void show(const stowi_kernel_attention* a, const query_keys* q, int stage,
                 const float* row) {
  if (a->scores == NULL || a->stage != stage) {
    return;
  }
  const float zero = 0;
  stow_dtype dtype = a->scores->dtype;
  size_t width = (size_t)a->scores->dims[a->scores->rank - 1];
  size_t first = ((q->batch * a->heads + q->head) * a->queries + q->query) * width;
  query_keys seen = {q->batch, q->head, q->query, 0, a->keys};
  if (a->blanks) {
    seen = keys_seen(a, q->batch, q->head, q->query, q->query);
  }
  stowi_kernel_store_f32(dtype, a->scores->data, first, a->keys, row);
  for (size_t k = 0; k < width; ++k) {
    if (k < seen.begin || k >= seen.end) {
      stowi_kernel_store_f32(dtype, a->scores->data, first + k, 1, &zero);
    }
  }
}

// From products to shares, for keys [q->begin, q->end) of one query; the others get none.
static void weigh(const stowi_kernel_attention* a, const query_keys* q, const query_keys* seen,
                  float* row) {
  size_t count = q->end - q->begin;
  show(a, q, STOWI_KERNEL_STAGE_RAW, row);
  if (a->softcap != 0) {
    cap_scores((float)a->softcap, count, row);
  }
  show(a, q, STOWI_KERNEL_STAGE_CAPPED, row);
  hide_keys(a, q, row);
  show(a, q, STOWI_KERNEL_STAGE_MASKED, row);
  float extra = a->smooth ? 0.0F : -INFINITY;
  if (a->sink != NULL) {
    extra = (float)stowi_kernel_float_at(a->sink, q->head);
  }
  softmax(row + (seen->begin - q->begin), seen->end - seen->begin, extra);
  if (a->scores != NULL && a->stage == STOWI_KERNEL_STAGE_SOFTMAX) {
    memset(row, 0, seen->begin * sizeof(float));
    memset(row + seen->end, 0, (a->keys - seen->end) * sizeof(float));
    show(a, q, STOWI_KERNEL_STAGE_SOFTMAX, row);
  }
}

static void write_rows(const stowi_kernel_attention* a, const query_keys* q, size_t rows,
                       const float* values) {
  for (size_t i = 0; i < rows; ++i) {
    size_t at = stowi_kernel_heads_at(&a->out, q->batch, q->head, q->query + i);
    stowi_kernel_store_f32(a->out.dtype, a->out.data, at, a->value_size,
                           values + i * a->value_size);
  }
}

// Shares times values; gemm writes over q's rows only now, when they have been read.
static void gather_values(const stowi_kernel_attention* a, const query_keys* seen, size_t rows,
                          const float* shares, size_t share_row, const workspace* w) {
  bool is_direct = a->out.dtype == STOW_F32;
  size_t at = stowi_kernel_heads_at(&a->out, seen->batch, seen->head, seen->query);
  stowi_kernel_head_product product = {.heads = &a->v,
                                       .batch = seen->batch,
                                       .head = seen->head / (a->heads / a->kv_heads),
                                       .begin = seen->begin,
                                       .is_lean = a->variant != 0};
  product.gemm = (stowi_kernel_gemm){.m = rows,
                                     .n = a->value_size,
                                     .k = seen->end - seen->begin,
                                     .a = {shares, share_row, 1},
                                     .c = is_direct ? (float*)a->out.data + at : w->out,
                                     .c_row = is_direct ? a->out.position : a->value_size,
                                     .alpha = 1};
  stowi_kernel_head_product_run(&product, w->v, w->gemm);
  if (!is_direct) {
    write_rows(a, seen, rows, w->out);
  }
}

// Queries from seen->query on, |rows| of them. All queries of a block see the same keys here, and
// other keys get no share, so that the bits do not depend on how many rows there are at a time.
static void attend_rows(const stowi_kernel_attention* a, const query_keys* seen,
                        const query_keys* scored, size_t rows, const workspace* w) {
  size_t count = scored->end - scored->begin;
  stowi_kernel_head_product product = {.heads = &a->k,
                                       .batch = seen->batch,
                                       .head = seen->head / (a->heads / a->kv_heads),
                                       .begin = scored->begin,
                                       .is_turned = true,
                                       .is_lean = a->variant != 0};
  stowi_kernel_matrix q = read_queries(a, seen, rows, w->q);
  product.gemm = (stowi_kernel_gemm){.m = rows,
                                     .n = count,
                                     .k = a->size,
                                     .a = q,
                                     .c = w->scores,
                                     .c_row = count,
                                     .alpha = (float)a->scale};
  stowi_kernel_head_product_run(&product, w->k, w->gemm);
  for (size_t i = 0; i < rows; ++i) {
    query_keys one = *scored;
    one.query = seen->query + i;
    weigh(a, &one, seen, w->scores + i * count);
  }
  gather_values(a, seen, rows, w->scores + (seen->begin - scored->begin), count, w);
}

static void attend_block(const stowi_kernel_attention* a, size_t batch, size_t head, size_t first,
                         size_t rows, const workspace* w) {
  query_keys seen = keys_seen(a, batch, head, first, first + rows - 1);
  query_keys scored = seen;
  if (a->scores != NULL) {
    scored.begin = 0;
    scored.end = a->keys;
  }
  size_t step = rows_at_once(a);
  for (size_t i = 0; i < rows; i += step) {
    seen.query = scored.query = first + i;
    attend_rows(a, &seen, &scored, rows - i < step ? rows - i : step, w);
  }
}

static void attend_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const stowi_kernel_attention* a = user;
  stowi_kernel_carve carve = {a->scratch + worker * a->scratch_stride, 0};
  workspace w = take_workspace(a, &carve);
  size_t blocks = (a->queries + ROWS - 1) / ROWS;
  for (size_t i = begin; i < end; ++i) {
    size_t first = i % blocks * ROWS;
    size_t rows = a->queries - first < ROWS ? a->queries - first : ROWS;
    attend_block(a, i / blocks / a->heads, i / blocks % a->heads, first, rows, &w);
  }
}

void stowi_kernel_attend(const stow_kernel_call* call, const stowi_kernel_attention* a) {
  if (a->in_f64) {
    attend_f64(call, a);
    return;
  }
  stowi_kernel_attention copy = *a;
  size_t blocks = (a->queries + ROWS - 1) / ROWS;
  size_t work = block_rows(a) * (a->keys + 1) * (a->size + a->value_size + 1);
  stow_kernel_split(call, a->batches * a->heads * blocks, work > 16384 ? 1 : 16384 / (work + 1),
                    attend_task, &copy);
}
