// Attention in f32. A unit of work is a block of queries of one head: its scores for all keys that
// any of them sees lie in the worker's scratch, so that memory grows with the keys and not with
// their square. Elements of f16 and bf16 are made f32 as a unit needs them. The bits depend on the
// size of a block, which is fixed, and not on who computes it.
//
// Time is 2 · queries · keys · size multiplications per head, less where order hides keys.
#include "exec/kernels/attention/attend.h"

#include <math.h>
#include <string.h>

#include "exec/kernels/attention/attend_f64.h"
#include "exec/kernels/attention/mask.h"
#include "exec/kernels/attention/softmax.h"
#include "exec/kernels/matrix/gemm.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/math.h"
#include "exec/kernels/support/vector.h"

#define ROWS 64  // queries in a block

// Scratch of one worker.
typedef struct workspace {
  float* q;
  float* k;
  float* v;
  float* out;
  float* scores;
  void* gemm;
} workspace;

static size_t block_rows(const stowi_attention* a) { return a->queries < ROWS ? a->queries : ROWS; }

static workspace take_workspace(const stowi_attention* a, stowi_carve* carve) {
  size_t rows = block_rows(a);
  bool is_plain = a->q.dtype == STOW_F32 && stowi_change_is_none(&a->change);
  uint64_t scores = stowi_gemm_scratch(rows, a->keys, a->size, 1);
  uint64_t values = stowi_gemm_scratch(rows, a->value_size, a->keys, 1);
  workspace w;
  w.q = stowi_carve_take(carve, is_plain ? 0 : stowi_times(rows, a->size), sizeof(float));
  w.k = stowi_carve_take(carve, a->k.dtype == STOW_F32 ? 0 : stowi_times(a->keys, a->size),
                         sizeof(float));
  w.v = stowi_carve_take(carve, a->v.dtype == STOW_F32 ? 0 : stowi_times(a->keys, a->value_size),
                         sizeof(float));
  w.out = stowi_carve_take(carve, a->out.dtype == STOW_F32 ? 0 : stowi_times(rows, a->value_size),
                           sizeof(float));
  w.scores = stowi_carve_take(carve, stowi_times(rows, a->keys), sizeof(float));
  w.gemm = stowi_carve_take(carve, scores > values ? scores : values, 1);
  return w;
}

void stowi_attend_carve(stowi_attention* a, uint32_t workers, stowi_carve* carve) {
  a->offsets = stowi_carve_take(carve, a->batches, sizeof(int64_t));
  a->starts = stowi_carve_take(carve, a->batches, sizeof(int64_t));
  a->ends = stowi_carve_take(carve, a->batches, sizeof(int64_t));
  stowi_carve one = {NULL, 0};
  if (a->in_f64) {
    one.used = stowi_attend_f64_scratch(a);
  } else {
    (void)take_workspace(a, &one);
  }
  a->scratch_stride = one.used;
  a->scratch = stowi_carve_take(carve, workers, one.used);
}

void stowi_attend_see_all(stowi_attention* a) {
  for (size_t b = 0; b < a->batches; ++b) {
    a->offsets[b] = 0;
    a->starts[b] = 0;
    a->ends[b] = (int64_t)a->keys;
  }
}

// ---------------------------------------------------------------------------------------------
// One block

// |count| rows as a matrix: in place where they are f32, else in |buffer|.
static stowi_matrix matrix_of(const stowi_heads* heads, size_t batch, size_t head, size_t first,
                              size_t count, size_t size, float* buffer) {
  size_t at = stowi_heads_at(heads, batch, head, first);
  if (heads->dtype == STOW_F32) {
    return (stowi_matrix){(const float*)heads->data + at, heads->position, 1};
  }
  for (size_t i = 0; i < count; ++i) {
    stowi_load_f32(heads->dtype, heads->data, at + i * heads->position, size, buffer + i * size);
  }
  return (stowi_matrix){buffer, size, 1};
}

static stowi_matrix read_queries(const stowi_attention* a, const stowi_query* q, size_t rows,
                                 float* buffer) {
  if (stowi_change_is_none(&a->change)) {
    return matrix_of(&a->q, q->batch, q->head, q->query, rows, a->size, buffer);
  }
  for (size_t i = 0; i < rows; ++i) {
    size_t at = stowi_heads_at(&a->q, q->batch, q->head, q->query + i);
    stowi_load_f32(a->q.dtype, a->q.data, at, a->size, buffer + i * a->size);
    stowi_change_row(&a->change, q->batch, q->head, q->query + i, a->size, buffer + i * a->size);
  }
  return (stowi_matrix){buffer, a->size, 1};
}

STOWI_LOOP(cap_scores, (float cap, size_t count, float* row), (cap, count, row)) {
  for (size_t i = 0; i < count; ++i) {
    row[i] = cap * stowi_tanhf(row[i] / cap);
  }
}

// Gives away the scores of |q| where this is the stage that is asked for. |row| holds all keys.
static void show(const stowi_attention* a, const stowi_query* q, int stage, const float* row) {
  if (a->scores == NULL || a->stage != stage) {
    return;
  }
  const float zero = 0;
  stow_dtype dtype = a->scores->dtype;
  size_t width = (size_t)a->scores->dims[a->scores->rank - 1];
  size_t first = ((q->batch * a->heads + q->head) * a->queries + q->query) * width;
  stowi_query seen = {q->batch, q->head, q->query, 0, a->keys};
  if (a->blanks) {
    seen = stowi_keys_seen(a, q->batch, q->head, q->query, q->query);
  }
  stowi_store_f32(dtype, a->scores->data, first, a->keys, row);
  for (size_t k = 0; k < width; ++k) {
    if (k < seen.begin || k >= seen.end) {
      stowi_store_f32(dtype, a->scores->data, first + k, 1, &zero);
    }
  }
}

// From products to shares, for keys [q->begin, q->end) of one query; the others get none.
static void weigh(const stowi_attention* a, const stowi_query* q, const stowi_query* seen,
                  float* row) {
  size_t count = q->end - q->begin;
  show(a, q, STOWI_STAGE_RAW, row);
  if (a->softcap != 0) {
    cap_scores((float)a->softcap, count, row);
  }
  show(a, q, STOWI_STAGE_CAPPED, row);
  stowi_hide_keys(a, q, row);
  show(a, q, STOWI_STAGE_MASKED, row);
  float extra = a->smooth ? 0.0F : -INFINITY;
  if (a->sink != NULL) {
    extra = (float)stowi_float_at(a->sink, q->head);
  }
  stowi_softmax_row(row + (seen->begin - q->begin), seen->end - seen->begin, extra);
  if (a->scores != NULL && a->stage == STOWI_STAGE_SOFTMAX) {
    memset(row, 0, seen->begin * sizeof(float));
    memset(row + seen->end, 0, (a->keys - seen->end) * sizeof(float));
    show(a, q, STOWI_STAGE_SOFTMAX, row);
  }
}

static void write_rows(const stowi_attention* a, const stowi_query* q, size_t rows,
                       const float* values) {
  for (size_t i = 0; i < rows; ++i) {
    size_t at = stowi_heads_at(&a->out, q->batch, q->head, q->query + i);
    stowi_store_f32(a->out.dtype, a->out.data, at, a->value_size, values + i * a->value_size);
  }
}

// Shares times values; gemm writes over q's rows only now, when they have been read.
static void gather_values(const stowi_attention* a, const stowi_query* seen, size_t rows,
                          const float* shares, size_t share_row, const workspace* w) {
  bool is_direct = a->out.dtype == STOW_F32;
  size_t at = stowi_heads_at(&a->out, seen->batch, seen->head, seen->query);
  size_t head = seen->head / (a->heads / a->kv_heads);
  stowi_gemm product = {
      .m = rows,
      .n = a->value_size,
      .k = seen->end - seen->begin,
      .a = {shares, share_row, 1},
      .b = matrix_of(&a->v, seen->batch, head, seen->begin, seen->end - seen->begin, a->value_size,
                     w->v),
      .c = is_direct ? (float*)a->out.data + at : w->out,
      .c_row = is_direct ? a->out.position : a->value_size,
      .alpha = 1,
  };
  stowi_gemm_alone(&product, w->gemm);
  if (!is_direct) {
    write_rows(a, seen, rows, w->out);
  }
}

static void attend_block(const stowi_attention* a, size_t batch, size_t head, size_t first,
                         size_t rows, const workspace* w) {
  stowi_query seen = stowi_keys_seen(a, batch, head, first, first + rows - 1);
  stowi_query scored = seen;
  if (a->scores != NULL) {
    scored.begin = 0;
    scored.end = a->keys;
  }
  size_t count = scored.end - scored.begin;
  stowi_matrix k =
      matrix_of(&a->k, batch, head / (a->heads / a->kv_heads), scored.begin, count, a->size, w->k);
  stowi_gemm product = {
      .m = rows,
      .n = count,
      .k = a->size,
      .a = read_queries(a, &seen, rows, w->q),
      .b = {k.data, k.column, k.row},
      .c = w->scores,
      .c_row = count,
      .alpha = (float)a->scale,
  };
  stowi_gemm_alone(&product, w->gemm);
  for (size_t i = 0; i < rows; ++i) {
    stowi_query q = scored;
    q.query = first + i;
    weigh(a, &q, &seen, w->scores + i * count);
  }
  gather_values(a, &seen, rows, w->scores + (seen.begin - scored.begin), count, w);
}

static void attend_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const stowi_attention* a = user;
  stowi_carve carve = {a->scratch + worker * a->scratch_stride, 0};
  workspace w = take_workspace(a, &carve);
  size_t blocks = (a->queries + ROWS - 1) / ROWS;
  for (size_t i = begin; i < end; ++i) {
    size_t first = i % blocks * ROWS;
    size_t rows = a->queries - first < ROWS ? a->queries - first : ROWS;
    attend_block(a, i / blocks / a->heads, i / blocks % a->heads, first, rows, &w);
  }
}

void stowi_attend(const stow_kernel_call* call, const stowi_attention* a) {
  if (a->in_f64) {
    stowi_attend_f64(call, a);
    return;
  }
  stowi_attention copy = *a;
  size_t blocks = (a->queries + ROWS - 1) / ROWS;
  size_t work = block_rows(a) * (a->keys + 1) * (a->size + a->value_size + 1);
  stow_kernel_split(call, a->batches * a->heads * blocks, work > 16384 ? 1 : 16384 / (work + 1),
                    attend_task, &copy);
}
