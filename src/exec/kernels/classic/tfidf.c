// tfidf: how often n-grams of a pool occur in rows of integers, perhaps weighted. An n-gram's
// elements may stand up to `max_skip_count` apart from each other, all by the same distance.
//
// Each n-gram of the pool that starts with the element at hand is compared, which costs little for
// pools of some thousands: O(row × skips × pool) comparisons of first elements.
#include <string.h>

#include "exec/kernels/classic/lists.h"
#include "exec/kernels/rows/axes.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

typedef enum mode { BY_COUNT, BY_WEIGHT, BY_BOTH } mode;

typedef struct job {
  const stow_tensor* x;
  float* y;
  size_t row;      // elements of a row of x
  size_t columns;  // of y
  stowi_kernel_list pool;
  stowi_kernel_list starts;      // of the n-grams of 1, 2, … elements in the pool
  stowi_kernel_list columns_of;  // each n-gram's column
  stowi_kernel_list weights;
  int64_t shortest;
  int64_t longest;
  int64_t skips;
  mode mode;
} job;

// Whether the n-gram at |pool_at| stands at |at| of the row, its elements |distance| apart.
static bool is_there(const job* j, size_t first, size_t at, size_t distance, size_t pool_at,
                     size_t size) {
  for (size_t k = 0; k < size; ++k) {
    size_t place = at + k * distance;
    if (place >= j->row ||
        stowi_kernel_int_at(j->x, first + place) != stowi_kernel_list_int(&j->pool, pool_at + k)) {
      return false;
    }
  }
  return true;
}

static size_t pool_end(const job* j, size_t n) {
  return n + 1 < j->starts.count ? (size_t)stowi_kernel_list_int(&j->starts, n + 1) : j->pool.count;
}

// N-grams of |size| elements; |number| is that of the first of them.
static void count_size(const job* j, size_t r, size_t n, size_t number) {
  size_t size = n + 1;
  size_t first = r * j->row;
  float* out = j->y + r * j->columns;
  // Distances do not matter to single elements.
  size_t distances = size == 1 ? 1 : (size_t)j->skips + 1;
  for (size_t at = (size_t)stowi_kernel_list_int(&j->starts, n); at + size <= pool_end(j, n);
       at += size, ++number) {
    size_t column = (size_t)stowi_kernel_list_int(&j->columns_of, number);
    for (size_t d = 1; d <= distances && d <= j->row; ++d) {
      for (size_t i = 0; i < j->row; ++i) {
        out[column] += is_there(j, first, i, d, at, size) ? 1 : 0;
      }
    }
  }
}

static void rows_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  (void)worker;
  for (size_t r = begin; r < end; ++r) {
    size_t number = 0;
    memset(j->y + r * j->columns, 0, j->columns * sizeof(float));
    for (size_t n = 0; n < j->starts.count; ++n) {
      int64_t size = (int64_t)n + 1;
      if (size >= j->shortest && size <= j->longest) {
        count_size(j, r, n, number);
      }
      number += (pool_end(j, n) - (size_t)stowi_kernel_list_int(&j->starts, n)) / (n + 1);
    }
    float* out = j->y + r * j->columns;
    for (size_t c = 0; c < j->columns; ++c) {
      float weight = j->weights.count == 0 ? 1 : (float)stowi_kernel_list_real(&j->weights, c);
      if (j->mode == BY_WEIGHT) {
        out[c] = out[c] > 0 ? weight : 0;
      } else if (j->mode == BY_BOTH) {
        out[c] *= weight;
      }
    }
  }
}

// Starts ascend and lie in the pool; every n-gram has a column.
static stow_status check(const stow_kernel_call* call, const job* j) {
  size_t grams = 0;
  int64_t before = 0;
  for (size_t n = 0; n < j->starts.count; ++n) {
    int64_t start = stowi_kernel_list_int(&j->starts, n);
    if (start < before || (uint64_t)start > j->pool.count) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "ngram_counts must ascend and be at most the pool size (%zu)",
                              j->pool.count);
    }
    before = start;
  }
  for (size_t n = 0; n < j->starts.count; ++n) {
    grams += (pool_end(j, n) - (size_t)stowi_kernel_list_int(&j->starts, n)) / (n + 1);
  }
  for (size_t i = 0; i < j->columns_of.count; ++i) {
    int64_t column = stowi_kernel_list_int(&j->columns_of, i);
    if (column < 0 || (uint64_t)column >= j->columns) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "column %lld of ngram_indexes is out of range (%zu columns)",
                              (long long)column, j->columns);
    }
  }
  if (grams > j->columns_of.count || (j->weights.count != 0 && j->weights.count < j->columns) ||
      j->skips < 0) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "too few ngram_indexes or weights, or max_skip_count is negative");
  }
  return STOW_OK;
}

static stow_status run_tfidf(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  stowi_kernel_table table = stowi_kernel_table_of(x);
  job j = {.x = x,
           .y = call->results[0]->data,
           .row = table.columns,
           .columns = stowi_kernel_table_of(call->results[0]).columns,
           .pool = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_POOL_INT64S),
           .starts = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_NGRAM_COUNTS),
           .columns_of = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_NGRAM_INDEXES),
           .weights = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_WEIGHTS),
           .shortest = stowi_kernel_int(call, STOWI_KERNEL_ATTR_MIN_GRAM_LENGTH, 1),
           .longest = stowi_kernel_int(call, STOWI_KERNEL_ATTR_MAX_GRAM_LENGTH, 1),
           .skips = stowi_kernel_int(call, STOWI_KERNEL_ATTR_MAX_SKIP_COUNT, 0),
           .mode = BY_COUNT};
  if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_MODE, "IDF")) {
    j.mode = BY_WEIGHT;
  } else if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_MODE, "TFIDF")) {
    j.mode = BY_BOTH;
  }
  STOWI_KERNEL_TRY(check(call, &j));
  stow_kernel_split(call, table.rows, stowi_kernel_grain_of(j.row * (j.pool.count + 1)), rows_task,
                    &j);
  return STOW_OK;
}

STOWI_KERNEL(TFIDF, NULL, run_tfidf);
