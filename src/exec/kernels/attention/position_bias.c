// relative_position_bias: each distance between a query and a key falls into a bucket; near ones
// have one each, far ones share buckets that grow as powers up to max_distance (Raffel et al.,
// "Exploring the Limits of Transfer Learning", 2020). One pass over the result.
#include <math.h>

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

typedef struct biases {
  const stow_tensor* table;  // [buckets, heads]
  stow_tensor* out;
  size_t buckets, heads, queries, keys;
  int64_t max_distance;
  bool both_ways;
} biases;

// With both ways half of the buckets are for keys after the query; else such keys are in bucket 0.
static size_t bucket_of(const biases* b, int64_t distance) {
  int64_t buckets = (int64_t)b->buckets;
  int64_t first = 0;
  int64_t back = -distance;
  if (b->both_ways) {
    buckets /= 2;
    first = back < 0 ? buckets : 0;
    back = back < 0 ? -back : back;
  } else if (back < 0) {
    back = 0;
  }
  int64_t exact = buckets / 2;
  if (back < exact || exact == 0) {
    int64_t bucket = exact == 0 ? 0 : back;
    return (size_t)(first + bucket);
  }
  double share = log((double)((float)back / (float)exact)) /
                 log((double)((float)b->max_distance / (float)exact));
  double further = share * (double)(buckets - exact);
  int64_t bucket = further < (double)(buckets - exact) ? exact + (int64_t)further : buckets - 1;
  return (size_t)(first + (bucket < buckets - 1 ? bucket : buckets - 1));
}

static void bias_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const biases* b = user;
  (void)worker;
  for (size_t row = begin; row < end; ++row) {
    int64_t query = (int64_t)(row % b->queries);
    size_t head = row / b->queries;
    for (size_t k = 0; k < b->keys; ++k) {
      double value =
          stowi_kernel_float_at(b->table, bucket_of(b, (int64_t)k - query) * b->heads + head);
      stowi_kernel_store_f64(b->out->dtype, b->out->data, row * b->keys + k, 1, &value);
    }
  }
}

static stow_status run_position_bias(stow_kernel_call* call) {
  biases b = {.table = stow_kernel_operand(call, 0),
              .out = stow_kernel_result(call, 0),
              .max_distance = stowi_kernel_int(call, STOWI_KERNEL_ATTR_MAX_DISTANCE, 0),
              .both_ways = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_BIDIRECTIONAL, false)};
  b.buckets = (size_t)b.table->dims[0];
  b.heads = (size_t)b.table->dims[1];
  const int64_t lengths[] = {stowi_kernel_int_at(stow_kernel_operand(call, 1), 0),
                             stowi_kernel_int_at(stow_kernel_operand(call, 2), 0)};
  for (size_t i = 0; i < 2; ++i) {
    if (lengths[i] < 0 || lengths[i] > b.out->dims[2 + i]) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "length %lld is out of range (0 to %lld)", (long long)lengths[i],
                              (long long)b.out->dims[2 + i]);
    }
    b.out->dims[2 + i] = lengths[i];
  }
  if (b.buckets == 0 || b.max_distance <= (int64_t)(b.buckets / (b.both_ways ? 4 : 2))) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "max_distance %lld is too small for %zu buckets",
                            (long long)b.max_distance, b.buckets);
  }
  if (stowi_kernel_kind(b.table->dtype) != STOW_KIND_FLOAT) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "the table must have floats");
  }
  if (stow_tensor_elements(b.out) == 0) {
    return STOW_OK;  // of a length that none can walk, perhaps
  }
  b.queries = (size_t)lengths[0];
  b.keys = (size_t)lengths[1];
  stow_kernel_split(call, b.heads * b.queries, 16384 / (b.keys + 1) + 1, bias_task, &b);
  return STOW_OK;
}

STOWI_KERNEL(RELATIVE_POSITION_BIAS, NULL, run_position_bias);
