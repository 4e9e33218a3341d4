// What kernels ask of their call. A caller's kernels look attributes up by name; they are few.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "exec/kernels/support/dtype.h"
#include "exec/kernels/support/kernel.h"

const stow_tensor* stow_kernel_operand(const stow_kernel_call* call, size_t k) {
  return k < call->operand_count ? call->operands[k] : NULL;
}

stow_tensor* stow_kernel_result(const stow_kernel_call* call, size_t k) {
  return k < call->result_count ? call->results[k] : NULL;
}

const stow_attr* stow_kernel_attr(const stow_kernel_call* call, const char* name) {
  size_t size = strlen(name);
  for (size_t i = 0; i < call->attr_count; ++i) {
    const stow_attr* attr = &call->attrs[i];
    if (attr->name.size == size && memcmp(attr->name.data, name, size) == 0) {
      return attr;
    }
  }
  return NULL;
}

int64_t stow_kernel_int(const stow_kernel_call* call, const char* name, int64_t fallback) {
  return stowi_kernel_int_of(stow_kernel_attr(call, name), fallback);
}

double stow_kernel_float(const stow_kernel_call* call, const char* name, double fallback) {
  return stowi_kernel_float_of(stow_kernel_attr(call, name), fallback);
}

bool stow_kernel_bool(const stow_kernel_call* call, const char* name, bool fallback) {
  return stowi_kernel_bool_of(stow_kernel_attr(call, name), fallback);
}

bool stow_kernel_is(const stow_kernel_call* call, const char* name, const char* text) {
  return stowi_kernel_is_of(stow_kernel_attr(call, name), text);
}

stow_status stow_kernel_fail(const stow_kernel_call* call, stow_status status, const char* format,
                             ...) {
  if (call->message != NULL && call->message_size != 0) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(call->message, call->message_size, format, arguments);
    va_end(arguments);
  }
  return status;
}

// Ranges of elements of less than a byte have bytes in common, which two threads must not write.
static bool has_packed_result(const stow_kernel_call* call) {
  for (size_t k = 0; k < call->result_count; ++k) {
    if (stowi_kernel_bits(call->results[k]->dtype) < 8) {
      return true;
    }
  }
  return false;
}

void stow_kernel_split(const stow_kernel_call* call, size_t count, size_t grain,
                       stow_split_task task, void* user) {
  if (count == 0) {
    return;
  }
  if (call->splitter.split == NULL || call->workers <= 1 || has_packed_result(call)) {
    task(user, 0, count, 0);
    return;
  }
  call->splitter.split(call->splitter.pool, count, grain == 0 ? 1 : grain, task, user);
}

size_t stow_tensor_elements(const stow_tensor* tensor) {
  size_t count = 1;
  for (uint32_t i = 0; i < tensor->rank; ++i) {
    count *= (size_t)tensor->dims[i];
  }
  return count;
}

size_t stow_tensor_bytes(const stow_tensor* tensor) {
  return (stow_tensor_elements(tensor) * stowi_kernel_bits(tensor->dtype) + 7) / 8;
}

static bool shares_bytes(const stow_tensor* a, const stow_tensor* b) {
  uintptr_t a_begin = (uintptr_t)a->data;
  uintptr_t b_begin = (uintptr_t)b->data;
  return a_begin < b_begin + stow_tensor_bytes(b) && b_begin < a_begin + stow_tensor_bytes(a);
}

bool stowi_kernel_is_divisible(const stow_kernel_call* call) {
  for (size_t r = 0; r < call->result_count; ++r) {
    const stow_tensor* result = call->results[r];
    for (size_t k = 0; k < call->operand_count; ++k) {
      const stow_tensor* operand = call->operands[k];
      if (operand != NULL && shares_bytes(result, operand) &&
          (operand->data != result->data ||
           stowi_kernel_bits(operand->dtype) != stowi_kernel_bits(result->dtype) ||
           stow_tensor_bytes(operand) != stow_tensor_bytes(result))) {
        return false;
      }
    }
  }
  return true;
}
