// label_encode: elements that are keys become the values that go with them, others a default. The
// keys are sorted in scratch for each call; then each element costs a binary search. Integers are
// compared as integers, floats as floats, where a NaN is equal to NaN.
#include <string.h>

#include "exec/kernels/classic/lists.h"
#include "exec/kernels/classic/order.h"
#include "exec/kernels/rows/axes.h"
#include "exec/kernels/rows/keys.h"
#include "exec/kernels/rows/reals.h"
#include "exec/kernels/support/carve.h"
#include "exec/kernels/support/kernel.h"

typedef struct job {
  const stow_tensor* x;
  const stow_tensor* y;
  stowi_kernel_list keys;
  stowi_kernel_list values;
  const stowi_kernel_entry* entries;
  bool is_real;  // the values
  double default_real;
  int64_t default_int;
} job;

static bool is_real(const stow_tensor* tensor) {
  return stowi_kernel_kind(tensor->dtype) == STOW_KIND_FLOAT;
}

// The first of these lists that is there.
static stowi_kernel_list first_list(const stow_kernel_call* call,
                                    const stowi_kernel_attr_id* names) {
  stowi_kernel_list list = {0, NULL, NULL};
  for (size_t i = 0; i < 3 && list.count == 0; ++i) {
    list = stowi_kernel_list_of(call, names[i]);
  }
  return list;
}

static stowi_kernel_list keys_of(const stow_kernel_call* call) {
  static const stowi_kernel_attr_id names[] = {
      STOWI_KERNEL_ATTR_KEYS_TENSOR, STOWI_KERNEL_ATTR_KEYS_INT64S, STOWI_KERNEL_ATTR_KEYS_FLOATS};
  return first_list(call, names);
}

static stowi_kernel_list values_of(const stow_kernel_call* call) {
  static const stowi_kernel_attr_id names[] = {STOWI_KERNEL_ATTR_VALUES_TENSOR,
                                               STOWI_KERNEL_ATTR_VALUES_INT64S,
                                               STOWI_KERNEL_ATTR_VALUES_FLOATS};
  return first_list(call, names);
}

// One number in the order of |x|'s elements.
static int64_t key_of(const job* j, size_t i) {
  double real = 0;
  stow_tensor one = {.data = &real, .dtype = STOW_F64};
  int64_t key;
  if (!is_real(j->x)) {
    return stowi_kernel_list_int(&j->keys, i);
  }
  real = stowi_kernel_list_real(&j->keys, i);
  stowi_kernel_load_keys(&one, 0, 1, INT64_MAX, &key);
  return key;
}

static void sort_keys(const job* j, stowi_kernel_entry* entries) {
  for (size_t i = 0; i < j->keys.count; ++i) {
    entries[i] = (stowi_kernel_entry){key_of(j, i), 0, i};
  }
  stowi_kernel_sort_entries(entries, j->keys.count);
}

static void store_value(const job* j, size_t i, size_t found) {
  if (j->is_real) {
    double value = found == SIZE_MAX ? j->default_real
                                     : stowi_kernel_list_real(&j->values, j->entries[found].index);
    stowi_kernel_store_f64(j->y->dtype, j->y->data, i, 1, &value);
  } else {
    int64_t value = found == SIZE_MAX ? j->default_int
                                      : stowi_kernel_list_int(&j->values, j->entries[found].index);
    stowi_kernel_store_i64(j->y->dtype, j->y->data, i, 1, &value);
  }
}

static void encode_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  int64_t keys[STOWI_KERNEL_BLOCK];
  (void)worker;
  for (size_t i = begin; i < end; i += STOWI_KERNEL_BLOCK) {
    size_t count = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, end - i);
    // u64 keys are loaded as their bits, as the list has them.
    if (is_real(j->x)) {
      stowi_kernel_load_keys(j->x, i, count, INT64_MAX, keys);
    } else {
      stowi_kernel_load_i64(j->x->dtype, j->x->data, i, count, keys);
    }
    for (size_t k = 0; k < count; ++k) {
      store_value(j, i + k, stowi_kernel_find_entry(j->entries, j->keys.count, keys[k], 0));
    }
  }
}

static stow_status scratch_label_encode(const stow_kernel_call* call, uint64_t* out_bytes) {
  *out_bytes = stowi_kernel_times(keys_of(call).count, sizeof(stowi_kernel_entry));
  return STOW_OK;
}

static stow_status run_label_encode(stow_kernel_call* call) {
  job j = {.x = call->operands[0],
           .y = call->results[0],
           .keys = keys_of(call),
           .values = values_of(call),
           .entries = call->scratch,
           .is_real = is_real(call->results[0])};
  if (stowi_kernel_kind(j.x->dtype) == STOW_KIND_COMPLEX || stowi_kernel_bits(j.x->dtype) < 8 ||
      stowi_kernel_kind(j.y->dtype) == STOW_KIND_COMPLEX || stowi_kernel_bits(j.y->dtype) < 8) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "elements must be floats or integers");
  }
  if (j.keys.count != j.values.count) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "the number of keys (%zu) and of values (%zu) differ", j.keys.count,
                            j.values.count);
  }
  stowi_kernel_list tensor = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_DEFAULT_TENSOR);
  j.default_real = stowi_kernel_float(call, STOWI_KERNEL_ATTR_DEFAULT_FLOAT, -0.0);
  j.default_int = stowi_kernel_int(call, STOWI_KERNEL_ATTR_DEFAULT_INT64, -1);
  if (tensor.count != 0) {
    j.default_real = stowi_kernel_list_real(&tensor, 0);
    j.default_int = stowi_kernel_list_int(&tensor, 0);
  }
  sort_keys(&j, call->scratch);
  size_t count = stow_tensor_elements(j.x);
  if (stowi_kernel_is_divisible(call)) {
    stow_kernel_split(call, count, STOWI_KERNEL_GRAIN / 16, encode_task, &j);
  } else {
    encode_task(&j, 0, count, 0);
  }
  return STOW_OK;
}

STOWI_KERNEL(LABEL_ENCODE, scratch_label_encode, run_label_encode);
