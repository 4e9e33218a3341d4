// The distinct elements of the flat tensor, or slices along an axis: where each stood first, which
// one each is, and how often. Items are sorted by a stable merge of their numbers, so that the
// first of equal ones is the first that occurs; slices are compared element by element. A NaN is
// equal to a NaN and comes last. O(n log n) comparisons, three lists of n numbers.
#include "exec/kernels/layout/elements.h"
#include "exec/kernels/layout/numbers.h"
#include "exec/kernels/support/carve.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

// x as [outer, count, slice]; an item is an index of the middle.
typedef struct items {
  const stow_tensor* x;
  stow_dtype_kind kind;
  size_t outer, count, slice;
  uint32_t axis;  // of the result
} items;

static stow_status read_items(const stow_kernel_call* call, items* out) {
  const stow_tensor* x = call->operands[0];
  stowi_kernel_slices s;
  stow_status status = stowi_kernel_slices_of(call, &s);
  *out = (items){x, stowi_kernel_kind(x->dtype), s.outer, s.count, s.inner, s.axis};
  return status;
}

static int compare_floats(double a, double b) {
  bool a_is_nan = a != a;
  bool b_is_nan = b != b;
  if (a_is_nan || b_is_nan) {
    return a_is_nan - b_is_nan;
  }
  return (a > b) - (a < b);
}

static int compare_elements(const items* t, size_t i, size_t j) {
  if (t->kind == STOW_KIND_FLOAT) {
    return compare_floats(stowi_kernel_float_at(t->x, i), stowi_kernel_float_at(t->x, j));
  }
  int64_t a = stowi_kernel_int_at(t->x, i);
  int64_t b = stowi_kernel_int_at(t->x, j);
  if (t->x->dtype == STOW_U64) {
    return ((uint64_t)a > (uint64_t)b) - ((uint64_t)a < (uint64_t)b);
  }
  return (a > b) - (a < b);
}

static int compare_items(const items* t, size_t a, size_t b) {
  for (size_t i = 0; i < t->outer; ++i) {
    for (size_t j = 0; j < t->slice; ++j) {
      int order =
          compare_elements(t, (i * t->count + a) * t->slice + j, (i * t->count + b) * t->slice + j);
      if (order != 0) {
        return order;
      }
    }
  }
  return 0;
}

// |from| has runs of |run| in order; |to| gets runs of twice that.
static void merge_runs(const items* t, const size_t* from, size_t* to, size_t run) {
  for (size_t begin = 0; begin < t->count;) {
    size_t middle = t->count - begin < run ? t->count : begin + run;
    size_t end = t->count - middle < run ? t->count : middle + run;
    size_t a = begin;
    size_t b = middle;
    for (size_t i = begin; i < end; ++i) {
      bool takes_a = b == end || (a < middle && compare_items(t, from[a], from[b]) <= 0);
      to[i] = takes_a ? from[a++] : from[b++];
    }
    begin = end;
  }
}

// Returns which of the two lists has the items in order; the other has been used.
static size_t* sort_items(const items* t, size_t* list, size_t* spare) {
  for (size_t i = 0; i < t->count; ++i) {
    list[i] = i;
  }
  for (size_t run = 1; run < t->count; run *= 2) {
    merge_runs(t, list, spare, run);
    size_t* swap = list;
    list = spare;
    spare = swap;
    if (run > t->count / 2) {
      break;
    }
  }
  return list;
}

// Numbers the distinct items in |order| (NULL: as they occur): |out_numbers|[i] for each first item
// i. Returns how many there are.
static size_t number_firsts(const items* t, const size_t* order, const size_t* firsts,
                            size_t* out_numbers) {
  size_t count = 0;
  for (size_t i = 0; i < t->count; ++i) {
    size_t item = order == NULL ? i : order[i];
    if (firsts[item] == item) {
      out_numbers[item] = count++;
    }
  }
  return count;
}

// Item |from| of x becomes item |to| of the result.
static void copy_item(const items* t, stow_tensor* result, size_t count, size_t to, size_t from) {
  uint32_t bits = stowi_kernel_bits(result->dtype);
  for (size_t i = 0; i < t->outer; ++i) {
    stowi_kernel_copy_elements(bits, result->data, (i * count + to) * t->slice, t->x->data,
                               (i * t->count + from) * t->slice, t->slice);
  }
}

static void write_results(stow_kernel_call* call, const items* t, const size_t* firsts,
                          const size_t* numbers, size_t count) {
  stow_tensor* first_list = stow_kernel_result(call, 1);
  stow_tensor* inverse = stow_kernel_result(call, 2);
  stow_tensor* counts = stow_kernel_result(call, 3);
  for (size_t i = 0; counts != NULL && i < count; ++i) {
    ((int64_t*)counts->data)[i] = 0;
  }
  for (size_t i = 0; i < t->count; ++i) {
    size_t number = numbers[firsts[i]];
    if (firsts[i] == i) {
      copy_item(t, call->results[0], count, number, i);
      if (first_list != NULL) {
        ((int64_t*)first_list->data)[number] = (int64_t)i;
      }
    }
    if (inverse != NULL) {
      ((int64_t*)inverse->data)[i] = (int64_t)number;
    }
    if (counts != NULL) {
      ((int64_t*)counts->data)[number] += 1;
    }
  }
}

static stow_status set_dims(stow_kernel_call* call, const items* t, size_t count) {
  if (count > (size_t)call->results[0]->dims[t->axis]) {
    return stow_kernel_fail(call, STOW_ERR_TYPE, "%zu distinct elements, more than the planned %zu",
                            count, (size_t)call->results[0]->dims[t->axis]);
  }
  call->results[0]->dims[t->axis] = (int64_t)count;
  for (size_t k = 1; k < call->result_count; k += 2) {
    if (call->results[k] != NULL) {
      call->results[k]->dims[0] = (int64_t)count;
    }
  }
  stowi_kernel_clear_tail(call->results[0]);
  return STOW_OK;
}

static stow_status scratch_unique(const stow_kernel_call* call, uint64_t* out_bytes) {
  items t;
  stow_status status = read_items(call, &t);
  *out_bytes = status == STOW_OK ? (uint64_t)t.count * 3 * STOWI_KERNEL_WIDE : 0;
  return status;
}

static stow_status run_unique(stow_kernel_call* call) {
  items t;
  STOWI_KERNEL_TRY(read_items(call, &t));
  if (t.kind == STOW_KIND_COMPLEX) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "complex numbers have no order");
  }
  if (t.count == 0) {
    return set_dims(call, &t, 0);
  }
  size_t* lists[] = {call->scratch, (size_t*)call->scratch + t.count,
                     (size_t*)call->scratch + 2 * t.count};
  size_t* order = sort_items(&t, lists[0], lists[1]);
  size_t* firsts = lists[2];
  size_t* numbers = order == lists[0] ? lists[1] : lists[0];
  // |firsts|[i] is the first item that is equal to item i.
  for (size_t i = 0; i < t.count; ++i) {
    bool is_new = i == 0 || compare_items(&t, order[i - 1], order[i]) != 0;
    firsts[order[i]] = is_new ? order[i] : firsts[order[i - 1]];
  }
  bool is_sorted = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_SORTED, true);
  size_t count = number_firsts(&t, is_sorted ? order : NULL, firsts, numbers);
  STOWI_KERNEL_TRY(set_dims(call, &t, count));
  write_results(call, &t, firsts, numbers, count);
  return STOW_OK;
}

STOWI_KERNEL(UNIQUE, scratch_unique, run_unique);
