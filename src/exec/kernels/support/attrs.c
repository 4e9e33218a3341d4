// A step has few attributes: they are searched from the first on.
#include "exec/kernels/support/attrs.h"

#include <string.h>

const char* const stowi_kernel_attr_names[STOWI_KERNEL_ATTR_COUNT] = {"",
#define X(id, name) #name,
                                                                      STOWI_KERNEL_ATTR_LIST(X)
#undef X
};

stowi_kernel_attr_id stowi_kernel_attr_find(stow_str name) {
  size_t begin = 1;
  size_t end = STOWI_KERNEL_ATTR_COUNT;
  while (begin < end) {
    size_t middle = begin + (end - begin) / 2;
    const char* own = stowi_kernel_attr_names[middle];
    int order = strncmp(name.data, own, name.size);
    order = order != 0 ? order : own[name.size] == '\0' ? 0 : -1;
    if (order == 0) {
      return (stowi_kernel_attr_id)middle;
    }
    begin = order > 0 ? middle + 1 : begin;
    end = order > 0 ? end : middle;
  }
  return STOWI_KERNEL_ATTR_NONE;
}

const stow_attr* stowi_kernel_attr(const stow_kernel_call* call, stowi_kernel_attr_id id) {
  if (call->attr_ids == NULL || id == STOWI_KERNEL_ATTR_NONE) {
    return id == STOWI_KERNEL_ATTR_NONE ? NULL
                                        : stow_kernel_attr(call, stowi_kernel_attr_names[id]);
  }
  for (size_t i = 0; i < call->attr_count; ++i) {
    if (call->attr_ids[i] == id) {
      return &call->attrs[i];
    }
  }
  return NULL;
}

int64_t stowi_kernel_int(const stow_kernel_call* call, stowi_kernel_attr_id id, int64_t fallback) {
  return stowi_kernel_int_of(stowi_kernel_attr(call, id), fallback);
}

double stowi_kernel_float(const stow_kernel_call* call, stowi_kernel_attr_id id, double fallback) {
  return stowi_kernel_float_of(stowi_kernel_attr(call, id), fallback);
}

bool stowi_kernel_bool(const stow_kernel_call* call, stowi_kernel_attr_id id, bool fallback) {
  return stowi_kernel_bool_of(stowi_kernel_attr(call, id), fallback);
}

bool stowi_kernel_is(const stow_kernel_call* call, stowi_kernel_attr_id id, const char* text) {
  return stowi_kernel_is_of(stowi_kernel_attr(call, id), text);
}

// ---------------------------------------------------------------------------------------------
// Values

int64_t stowi_kernel_int_of(const stow_attr* attr, int64_t fallback) {
  return attr != NULL && attr->kind == STOW_ATTR_INT ? attr->i : fallback;
}

double stowi_kernel_float_of(const stow_attr* attr, double fallback) {
  if (attr != NULL && attr->kind == STOW_ATTR_INT) {
    return (double)attr->i;
  }
  return attr != NULL && attr->kind == STOW_ATTR_FLOAT ? attr->f : fallback;
}

bool stowi_kernel_bool_of(const stow_attr* attr, bool fallback) {
  return attr != NULL && attr->kind == STOW_ATTR_BOOL ? attr->b : fallback;
}

bool stowi_kernel_is_of(const stow_attr* attr, const char* text) {
  size_t size = strlen(text);
  return attr != NULL && attr->kind == STOW_ATTR_STRING && attr->s.size == size &&
         memcmp(attr->s.data, text, size) == 0;
}
