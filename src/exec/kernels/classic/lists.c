// Lists are looked up by name once for each call, elements directly.
#include "exec/kernels/classic/lists.h"

#include <string.h>

#include "exec/kernels/rows/reals.h"
#include "exec/kernels/support/attrs.h"

static bool is_text(stow_str s, const char* text, size_t size) {
  return s.size == size && memcmp(s.data, text, size) == 0;
}

static bool names_tensor(stow_str s, const char* name) {
  static const char suffix[] = "_as_tensor";
  size_t size = strlen(name);
  size_t suffix_size = sizeof(suffix) - 1;
  return is_text(s, name, size) ||
         (s.size == size + suffix_size && memcmp(s.data, name, size) == 0 &&
          memcmp(s.data + size, suffix, suffix_size) == 0);
}

stowi_kernel_list stowi_kernel_list_of(const stow_kernel_call* call, stowi_kernel_attr_id name) {
  const stow_attr* tensors = stowi_kernel_attr(call, STOWI_KERNEL_ATTR_TENSORS);
  const stow_attr* attr = stowi_kernel_attr(call, name);
  stowi_kernel_list list = {0, NULL, NULL};
  size_t named = tensors != NULL && tensors->kind == STOW_ATTR_STRINGS ? tensors->count : 0;
  for (size_t i = 0; i < named; ++i) {
    const stow_tensor* tensor = stow_kernel_operand(call, 1 + i);
    if (tensor != NULL && names_tensor(tensors->strings[i], stowi_kernel_attr_names[name])) {
      list.tensor = tensor;
      list.count = stow_tensor_elements(tensor);
      return list;
    }
  }
  if (attr != NULL && (attr->kind == STOW_ATTR_INTS || attr->kind == STOW_ATTR_FLOATS ||
                       attr->kind == STOW_ATTR_STRINGS)) {
    list.attr = attr;
    list.count = attr->count;
  }
  return list;
}

double stowi_kernel_list_real(const stowi_kernel_list* list, size_t i) {
  if (list->tensor != NULL) {
    return stowi_kernel_float_at(list->tensor, i);
  }
  if (list->attr->kind == STOW_ATTR_FLOATS) {
    return list->attr->floats[i];
  }
  return list->attr->kind == STOW_ATTR_INTS ? (double)list->attr->ints[i] : 0;
}

int64_t stowi_kernel_list_int(const stowi_kernel_list* list, size_t i) {
  if (list->tensor != NULL) {
    return stowi_kernel_int_at(list->tensor, i);
  }
  if (list->attr->kind == STOW_ATTR_FLOATS) {
    int64_t number;
    stowi_kernel_load_i64(STOW_F64, list->attr->floats, i, 1, &number);
    return number;
  }
  return list->attr->kind == STOW_ATTR_INTS ? list->attr->ints[i] : 0;
}

bool stowi_kernel_list_is(const stowi_kernel_list* list, size_t i, const char* text) {
  return list->attr != NULL && list->attr->kind == STOW_ATTR_STRINGS &&
         is_text(list->attr->strings[i], text, strlen(text));
}

void stowi_kernel_list_load(const stowi_kernel_list* list, size_t first, size_t count,
                            double* out) {
  if (list->tensor != NULL) {
    stowi_kernel_load_f64(list->tensor->dtype, list->tensor->data, first, count, out);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    out[i] = stowi_kernel_list_real(list, first + i);
  }
}

double stowi_kernel_list_dot(const stowi_kernel_list* list, size_t first, const stow_tensor* x,
                             size_t x_first, size_t count) {
  double a[STOWI_KERNEL_BLOCK];
  double b[STOWI_KERNEL_BLOCK];
  double sum = 0;
  for (size_t i = 0; i < count; i += STOWI_KERNEL_BLOCK) {
    size_t part = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, count - i);
    stowi_kernel_list_load(list, first + i, part, a);
    stowi_kernel_load_f64(x->dtype, x->data, x_first + i, part, b);
    for (size_t k = 0; k < part; ++k) {
      a[k] *= b[k];
    }
    sum += stowi_kernel_sum_f64(a, part);
  }
  return sum;
}

stowi_kernel_table stowi_kernel_table_of(const stow_tensor* x) {
  if (x->rank == 0) {
    return (stowi_kernel_table){1, 1};
  }
  size_t columns = (size_t)x->dims[x->rank - 1];
  size_t rows = 1;
  for (uint32_t i = 0; i + 1 < x->rank; ++i) {
    rows *= (size_t)x->dims[i];
  }
  return (stowi_kernel_table){rows, columns};
}
