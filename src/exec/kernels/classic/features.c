// Feature tables: ops on single features (binarize, impute, scale_features) and on rows
// (normalize_rows), then ops on columns (pick_features, join_features, encode_categories).
#include <math.h>
#include <string.h>

#include "exec/kernels/classic/lists.h"
#include "exec/kernels/rows/axes.h"
#include "exec/kernels/rows/reals.h"
#include "exec/kernels/support/kernel.h"

// ---------------------------------------------------------------------------------------------
// Single features and rows. One or two passes. A result may be in place of x: blocks are processed
// in ascending order, and each is read before it is written. Where the result is narrower than x,
// only one thread works.

static stow_status need_numbers(const stow_kernel_call* call, const stow_tensor* x) {
  if (stowi_kernel_kind(x->dtype) == STOW_KIND_COMPLEX || stowi_kernel_bits(x->dtype) < 8) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "elements must be floats or integers");
  }
  return STOW_OK;
}

static void divide(const stow_kernel_call* call, size_t count, size_t grain, stow_split_task task,
                   void* job) {
  if (stowi_kernel_is_divisible(call)) {
    stow_kernel_split(call, count, grain, task, job);
  } else {
    task(job, 0, count, 0);
  }
}

// ---------------------------------------------------------------------------------------------
// Element by element

typedef struct each_job {
  double (*change)(const struct each_job* j, size_t i, double x);  // element i, which is x
  const stow_tensor* x;
  const stow_tensor* y;
  size_t columns;
  stowi_kernel_list values;  // of impute; offsets of scale_features
  stowi_kernel_list scales;
  double number;    // threshold, or what is replaced
  int64_t integer;  // what is replaced among integers
} each_job;

// A list has an element for each column, one for all, or none.
static double of_column(const stowi_kernel_list* list, size_t column, double fallback) {
  return list->count == 0 ? fallback : stowi_kernel_list_real(list, list->count == 1 ? 0 : column);
}

static double binarize(const each_job* j, size_t i, double x) {
  (void)i;
  return x > j->number ? 1 : 0;
}

static double scale(const each_job* j, size_t i, double x) {
  size_t column = i % j->columns;
  return (x - of_column(&j->values, column, 0)) * of_column(&j->scales, column, 1);
}

static double impute(const each_job* j, size_t i, double x) {
  bool is_missing = isnan(j->number) ? isnan(x) : x == j->number;
  return is_missing ? of_column(&j->values, i % j->columns, x) : x;
}

static void reals_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const each_job* j = user;
  double block[STOWI_KERNEL_BLOCK];
  (void)worker;
  for (size_t i = begin; i < end; i += STOWI_KERNEL_BLOCK) {
    size_t count = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, end - i);
    stowi_kernel_load_f64(j->x->dtype, j->x->data, i, count, block);
    for (size_t k = 0; k < count; ++k) {
      block[k] = j->change(j, i + k, block[k]);
    }
    stowi_kernel_store_f64(j->y->dtype, j->y->data, i, count, block);
  }
}

static void impute_ints_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const each_job* j = user;
  int64_t block[STOWI_KERNEL_BLOCK];
  (void)worker;
  for (size_t i = begin; i < end; i += STOWI_KERNEL_BLOCK) {
    size_t count = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, end - i);
    stowi_kernel_load_i64(j->x->dtype, j->x->data, i, count, block);
    for (size_t k = 0; k < count && j->values.count != 0; ++k) {
      size_t column = j->values.count == 1 ? 0 : (i + k) % j->columns;
      block[k] = block[k] == j->integer ? stowi_kernel_list_int(&j->values, column) : block[k];
    }
    stowi_kernel_store_i64(j->y->dtype, j->y->data, i, count, block);
  }
}

static stow_status check_list(const stow_kernel_call* call, const stowi_kernel_list* list,
                              size_t columns, const char* name) {
  if (list->count > 1 && list->count != columns) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "%s has %zu elements, expected 1 or %zu", name, list->count, columns);
  }
  return STOW_OK;
}

static stow_status run_binarize(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  each_job j = {.change = binarize, .x = x, .y = call->results[0]};
  stow_status status = need_numbers(call, x);
  j.number = stowi_kernel_float(call, STOWI_KERNEL_ATTR_THRESHOLD, 0);
  if (status == STOW_OK) {
    divide(call, stow_tensor_elements(x), STOWI_KERNEL_GRAIN, reals_task, &j);
  }
  return status;
}

static stow_status run_scale_features(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  each_job j = {.x = x, .y = call->results[0], .columns = stowi_kernel_table_of(x).columns};
  stow_status status = need_numbers(call, x);
  j.change = scale;
  j.values = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_OFFSET);
  j.scales = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_SCALE);
  status = status == STOW_OK ? check_list(call, &j.values, j.columns, "offset") : status;
  status = status == STOW_OK ? check_list(call, &j.scales, j.columns, "scale") : status;
  if (status == STOW_OK) {
    divide(call, stow_tensor_elements(x), STOWI_KERNEL_GRAIN / 4, reals_task, &j);
  }
  return status;
}

// What is replaced is NaN only where x is of floats and nothing else is said.
static stow_status run_impute(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  each_job j = {.x = x, .y = call->results[0], .columns = stowi_kernel_table_of(x).columns};
  stow_status status = need_numbers(call, x);
  bool is_real = stowi_kernel_kind(x->dtype) == STOW_KIND_FLOAT;
  j.change = impute;
  j.values = stowi_kernel_list_of(call, is_real ? STOWI_KERNEL_ATTR_IMPUTED_VALUE_FLOATS
                                                : STOWI_KERNEL_ATTR_IMPUTED_VALUE_INT64S);
  j.number = stowi_kernel_float(call, STOWI_KERNEL_ATTR_REPLACED_VALUE_FLOAT, 0);
  j.integer = stowi_kernel_int(call, STOWI_KERNEL_ATTR_REPLACED_VALUE_INT64, 0);
  if (status == STOW_OK) {
    status = check_list(call, &j.values, j.columns, "the list of values");
  }
  if (status == STOW_OK) {
    divide(call, stow_tensor_elements(x), STOWI_KERNEL_GRAIN / 4,
           is_real ? reals_task : impute_ints_task, &j);
  }
  return status;
}

// ---------------------------------------------------------------------------------------------
// Rows

typedef enum norm_kind { BY_MAX, BY_L1, BY_L2 } norm_kind;

typedef struct norm_job {
  const stow_tensor* x;
  const stow_tensor* y;
  size_t columns;
  norm_kind kind;
} norm_job;

// The largest element is meant as it is, not its absolute value.
static double norm_of(const norm_job* j, size_t first) {
  double block[STOWI_KERNEL_BLOCK];
  double norm = j->kind == BY_MAX ? -(double)INFINITY : 0;
  for (size_t i = 0; i < j->columns; i += STOWI_KERNEL_BLOCK) {
    size_t count = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, j->columns - i);
    stowi_kernel_load_f64(j->x->dtype, j->x->data, first + i, count, block);
    for (size_t k = 0; k < count; ++k) {
      if (j->kind == BY_MAX) {
        norm = block[k] > norm ? block[k] : norm;
      } else {
        norm += j->kind == BY_L1 ? fabs(block[k]) : block[k] * block[k];
      }
    }
  }
  return j->kind == BY_L2 ? sqrt(norm) : norm;
}

static void normalize_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const norm_job* j = user;
  double block[STOWI_KERNEL_BLOCK];
  (void)worker;
  for (size_t r = begin; r < end; ++r) {
    double norm = norm_of(j, r * j->columns);
    for (size_t i = 0; i < j->columns; i += STOWI_KERNEL_BLOCK) {
      size_t count = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, j->columns - i);
      size_t at = r * j->columns + i;
      stowi_kernel_load_f64(j->x->dtype, j->x->data, at, count, block);
      for (size_t k = 0; k < count; ++k) {
        block[k] = norm == 0 ? block[k] : block[k] / norm;
      }
      stowi_kernel_store_f64(j->y->dtype, j->y->data, at, count, block);
    }
  }
}

static stow_status run_normalize_rows(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  stowi_kernel_table table = stowi_kernel_table_of(x);
  norm_job j = {x, call->results[0], table.columns, BY_MAX};
  stow_status status = need_numbers(call, x);
  if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_NORM, "l1")) {
    j.kind = BY_L1;
  } else if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_NORM, "l2")) {
    j.kind = BY_L2;
  } else if (!stowi_kernel_is(call, STOWI_KERNEL_ATTR_NORM, "max")) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "norm must be max, l1 or l2");
  }
  if (status == STOW_OK && stow_tensor_elements(x) != 0) {
    divide(call, table.rows, stowi_kernel_grain_of(table.columns * 2), normalize_task, &j);
  }
  return status;
}

STOWI_KERNEL(BINARIZE, NULL, run_binarize);
STOWI_KERNEL(SCALE_FEATURES, NULL, run_scale_features);
STOWI_KERNEL(IMPUTE, NULL, run_impute);
STOWI_KERNEL(NORMALIZE_ROWS, NULL, run_normalize_rows);

// ---------------------------------------------------------------------------------------------
// Columns: one pass over the result.

// ---------------------------------------------------------------------------------------------
// pick_features

typedef struct pick_job {
  const stow_tensor* x;
  const stow_tensor* indices;
  const stow_tensor* y;
  size_t columns;
  size_t count;  // of indices
  size_t size;   // bytes of an element
} pick_job;

static void pick_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const pick_job* j = user;
  const char* from = j->x->data;
  char* to = j->y->data;
  (void)worker;
  for (size_t r = begin; r < end; ++r) {
    for (size_t i = 0; i < j->count; ++i) {
      size_t at = r * j->columns + (size_t)stowi_kernel_int_at(j->indices, i);
      memcpy(to + (r * j->count + i) * j->size, from + at * j->size, j->size);
    }
  }
}

static stow_status run_pick_features(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  stowi_kernel_table table = stowi_kernel_table_of(x);
  pick_job j = {x,
                call->operands[1],
                call->results[0],
                table.columns,
                stow_tensor_elements(call->operands[1]),
                stowi_kernel_bits(x->dtype) / 8};
  if (stowi_kernel_bits(x->dtype) % 8 != 0) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "elements of less than a byte are unsupported");
  }
  for (size_t i = 0; i < j.count; ++i) {
    int64_t index = stowi_kernel_int_at(j.indices, i);
    if (index < 0 || (uint64_t)index >= table.columns) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "column %lld is out of range (%zu columns)", (long long)index,
                              table.columns);
    }
  }
  stow_kernel_split(call, table.rows, stowi_kernel_grain_of(j.count * 4), pick_task, &j);
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// join_features

typedef struct join_job {
  const stow_kernel_call* call;
  const stow_attr* sizes;
  const stow_tensor* y;
  size_t columns;  // of the result
} join_job;

// How many columns of the result operand |k| makes.
static size_t size_of(const join_job* j, size_t k) {
  bool is_given = j->sizes != NULL && j->sizes->count != 0;
  return is_given ? (size_t)j->sizes->ints[k] : stowi_kernel_table_of(j->call->operands[k]).columns;
}

// Columns that an operand has not are 0.
static void join_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const join_job* j = user;
  float block[STOWI_KERNEL_BLOCK];
  (void)worker;
  for (size_t r = begin; r < end; ++r) {
    size_t at = r * j->columns;
    for (size_t k = 0; k < j->call->operand_count; ++k) {
      const stow_tensor* x = j->call->operands[k];
      size_t columns = stowi_kernel_table_of(x).columns;
      size_t size = size_of(j, k);
      for (size_t i = 0; i < size; i += STOWI_KERNEL_BLOCK) {
        size_t count = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, size - i);
        size_t there = i < columns ? stowi_kernel_smaller(count, columns - i) : 0;
        memset(block, 0, sizeof(block));
        stowi_kernel_load_f32(x->dtype, x->data, r * columns + i, there, block);
        stowi_kernel_store_f32(j->y->dtype, j->y->data, at + i, count, block);
      }
      at += size;
    }
  }
}

static stow_status run_join_features(stow_kernel_call* call) {
  const stow_tensor* y = call->results[0];
  stowi_kernel_table table = stowi_kernel_table_of(y);
  join_job j = {call, stowi_kernel_attr(call, STOWI_KERNEL_ATTR_SIZES), y, table.columns};
  size_t sum = 0;
  for (size_t k = 0; k < call->operand_count; ++k) {
    if (stowi_kernel_kind(call->operands[k]->dtype) == STOW_KIND_COMPLEX) {
      return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "elements must be floats or integers");
    }
    if (stowi_kernel_table_of(call->operands[k]).rows != table.rows) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "operand %zu has %zu rows, expected %zu", k,
                              stowi_kernel_table_of(call->operands[k]).rows, table.rows);
    }
    sum += size_of(&j, k);
  }
  if (sum != table.columns) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "the operands have %zu columns, expected %zu", sum, table.columns);
  }
  size_t rows = table.columns == 0 ? 0 : table.rows;
  stow_kernel_split(call, rows, stowi_kernel_grain_of(table.columns), join_task, &j);
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// encode_categories

typedef struct category_job {
  const stow_tensor* x;
  float* y;
  const stow_attr* categories;
} category_job;

static size_t category_of(const category_job* j, size_t i) {
  int64_t number = stowi_kernel_int_at(j->x, i);
  for (size_t c = 0; c < j->categories->count; ++c) {
    if (j->categories->ints[c] == number) {
      return c;
    }
  }
  return SIZE_MAX;
}

static void category_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const category_job* j = user;
  size_t count = j->categories->count;
  (void)worker;
  for (size_t i = begin; i < end; ++i) {
    size_t category = category_of(j, i);
    memset(j->y + i * count, 0, count * sizeof(float));
    if (category != SIZE_MAX) {
      j->y[i * count + category] = 1;
    }
  }
}

// Without `zeros` every element must be one of the categories.
static stow_status run_encode_categories(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  size_t count = stow_tensor_elements(x);
  category_job j = {x, call->results[0]->data,
                    stowi_kernel_attr(call, STOWI_KERNEL_ATTR_CATEGORIES)};
  if (stowi_kernel_kind(x->dtype) == STOW_KIND_COMPLEX) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "elements must be floats or integers");
  }
  if (j.categories == NULL || j.categories->kind != STOW_ATTR_INTS) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "categories must be integers");
  }
  for (size_t i = 0; !stowi_kernel_bool(call, STOWI_KERNEL_ATTR_ZEROS, true) && i < count; ++i) {
    if (category_of(&j, i) == SIZE_MAX) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "element %zu is an unknown category",
                              i);
    }
  }
  stow_kernel_split(call, count, stowi_kernel_grain_of(j.categories->count), category_task, &j);
  return STOW_OK;
}

STOWI_KERNEL(PICK_FEATURES, NULL, run_pick_features);
STOWI_KERNEL(JOIN_FEATURES, NULL, run_join_features);
STOWI_KERNEL(ENCODE_CATEGORIES, NULL, run_encode_categories);
