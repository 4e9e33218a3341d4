// Columns of tables: picked by index, joined side by side, or made of categories. One pass over the
// result.
#include <string.h>

#include "exec/kernels/classic/lists.h"
#include "exec/kernels/rows/axes.h"
#include "exec/kernels/rows/reals.h"
#include "exec/kernels/support/kernel.h"

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
      size_t at = r * j->columns + (size_t)stowi_int_at(j->indices, i);
      memcpy(to + (r * j->count + i) * j->size, from + at * j->size, j->size);
    }
  }
}

static stow_status run_pick_features(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  stowi_table table = stowi_table_of(x);
  pick_job j = {x,
                call->operands[1],
                call->results[0],
                table.columns,
                stow_tensor_elements(call->operands[1]),
                stowi_bits(x->dtype) / 8};
  if (stowi_bits(x->dtype) % 8 != 0) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "elements must be whole bytes");
  }
  for (size_t i = 0; i < j.count; ++i) {
    int64_t index = stowi_int_at(j.indices, i);
    if (index < 0 || (uint64_t)index >= table.columns) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "column %lld is out of range (%zu columns)", (long long)index,
                              table.columns);
    }
  }
  stow_kernel_split(call, table.rows, stowi_grain_of(j.count * 4), pick_task, &j);
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
  return is_given ? (size_t)j->sizes->ints[k] : stowi_table_of(j->call->operands[k]).columns;
}

// Columns that an operand has not are 0.
static void join_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const join_job* j = user;
  float block[STOWI_BLOCK];
  (void)worker;
  for (size_t r = begin; r < end; ++r) {
    size_t at = r * j->columns;
    for (size_t k = 0; k < j->call->operand_count; ++k) {
      const stow_tensor* x = j->call->operands[k];
      size_t columns = stowi_table_of(x).columns;
      size_t size = size_of(j, k);
      for (size_t i = 0; i < size; i += STOWI_BLOCK) {
        size_t count = stowi_smaller(STOWI_BLOCK, size - i);
        size_t there = i < columns ? stowi_smaller(count, columns - i) : 0;
        memset(block, 0, sizeof(block));
        stowi_load_f32(x->dtype, x->data, r * columns + i, there, block);
        stowi_store_f32(j->y->dtype, j->y->data, at + i, count, block);
      }
      at += size;
    }
  }
}

static stow_status run_join_features(stow_kernel_call* call) {
  const stow_tensor* y = call->results[0];
  stowi_table table = stowi_table_of(y);
  join_job j = {call, stow_kernel_attr(call, "sizes"), y, table.columns};
  size_t sum = 0;
  for (size_t k = 0; k < call->operand_count; ++k) {
    if (stowi_kind(call->operands[k]->dtype) == STOW_KIND_COMPLEX) {
      return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "elements must be floats or integers");
    }
    if (stowi_table_of(call->operands[k]).rows != table.rows) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "operand %zu has %zu rows, not %zu",
                              k, stowi_table_of(call->operands[k]).rows, table.rows);
    }
    sum += size_of(&j, k);
  }
  if (sum != table.columns) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "the operands make %zu columns, not %zu", sum, table.columns);
  }
  size_t rows = table.columns == 0 ? 0 : table.rows;
  stow_kernel_split(call, rows, stowi_grain_of(table.columns), join_task, &j);
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
  int64_t number = stowi_int_at(j->x, i);
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
  category_job j = {x, call->results[0]->data, stow_kernel_attr(call, "categories")};
  if (stowi_kind(x->dtype) == STOW_KIND_COMPLEX) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "elements must be floats or integers");
  }
  if (j.categories == NULL || j.categories->kind != STOW_ATTR_INTS) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "categories must be integers");
  }
  for (size_t i = 0; !stow_kernel_bool(call, "zeros", true) && i < count; ++i) {
    if (category_of(&j, i) == SIZE_MAX) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "element %zu is of no category", i);
    }
  }
  stow_kernel_split(call, count, stowi_grain_of(j.categories->count), category_task, &j);
  return STOW_OK;
}

STOWI_KERNEL(PICK_FEATURES, NULL, run_pick_features);
STOWI_KERNEL(JOIN_FEATURES, NULL, run_join_features);
STOWI_KERNEL(ENCODE_CATEGORIES, NULL, run_encode_categories);
