// Runs of elements: memmove and memset where elements are whole bytes. Linear.
#include "exec/kernels/layout/elements.h"

#include <string.h>

#include "exec/kernels/support/convert.h"

#define FILL_GRAIN 65536  // elements

bool stowi_kernel_is_same_place(uint32_t bits, const void* to, size_t to_at, const void* from,
                                size_t from_at) {
  return (const uint8_t*)to + to_at * bits / 8 == (const uint8_t*)from + from_at * bits / 8 &&
         to_at * bits % 8 == from_at * bits % 8;
}

void stowi_kernel_copy_elements(uint32_t bits, void* to, size_t to_at, const void* from,
                                size_t from_at, size_t count) {
  if (count == 0 || stowi_kernel_is_same_place(bits, to, to_at, from, from_at)) {
    return;
  }
  bool is_bytes = to_at * bits % 8 == 0 && from_at * bits % 8 == 0 && count * bits % 8 == 0;
  if (is_bytes) {
    memmove((uint8_t*)to + to_at * bits / 8, (const uint8_t*)from + from_at * bits / 8,
            count * bits / 8);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    stowi_kernel_packed_set(to, bits, to_at + i, stowi_kernel_packed_get(from, bits, from_at + i));
  }
}

#define FILL(type)                            \
  do {                                        \
    type element;                             \
    memcpy(&element, value, sizeof(element)); \
    type* at = (type*)to + to_at;             \
    for (size_t i = 0; i < count; ++i) {      \
      at[i] = element;                        \
    }                                         \
  } while (0)

static void fill_wide(uint32_t bits, void* to, size_t to_at, size_t count, const void* value) {
  size_t width = bits / 8;
  for (size_t i = 0; i < count; ++i) {
    memcpy((uint8_t*)to + (to_at + i) * width, value, width);
  }
}

static void fill_packed(uint32_t bits, void* to, size_t to_at, size_t count, uint8_t value) {
  for (size_t i = 0; i < count; ++i) {
    stowi_kernel_packed_set(to, bits, to_at + i, value);
  }
}

void stowi_kernel_fill_elements(uint32_t bits, void* to, size_t to_at, size_t count,
                                const void* value) {
  if (count == 0) {
    return;
  }
  if (stowi_kernel_is_packed(bits)) {
    fill_packed(bits, to, to_at, count,
                value == NULL ? 0 : stowi_kernel_packed_get(value, bits, 0));
    return;
  }
  if (value == NULL) {
    memset((uint8_t*)to + to_at * (bits / 8), 0, count * (bits / 8));
    return;
  }
  switch (bits) {
    case 8: memset((uint8_t*)to + to_at, *(const uint8_t*)value, count); break;
    case 16: FILL(uint16_t); break;
    case 32: FILL(uint32_t); break;
    default: fill_wide(bits, to, to_at, count, value); break;
  }
}

typedef struct fill {
  uint32_t bits;
  void* to;
  const void* value;
} fill;

static void fill_range(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const fill* f = user;
  stowi_kernel_fill_elements(f->bits, f->to, begin, end - begin, f->value);
}

void stowi_kernel_fill_result(const stow_kernel_call* call, stow_tensor* result,
                              const void* value) {
  uint8_t copy[16] = {0};  // the value may lie where the result does
  fill f = {stowi_kernel_bits(result->dtype), result->data, value == NULL ? NULL : copy};
  if (value != NULL) {
    memcpy(copy, value, (f.bits + 7) / 8);
  }
  stowi_kernel_clear_tail(result);
  size_t count = stow_tensor_elements(result);
  if (stowi_kernel_is_packed(f.bits)) {
    fill_range(&f, 0, count, 0);
  } else {
    stow_kernel_split(call, count, FILL_GRAIN, fill_range, &f);
  }
}

void stowi_kernel_clear_tail(stow_tensor* result) {
  size_t bits = stow_tensor_elements(result) * stowi_kernel_bits(result->dtype);
  if (bits % 8 != 0) {
    uint8_t* last = (uint8_t*)result->data + bits / 8;
    *last = (uint8_t)((uint32_t)*last & ((1U << bits % 8) - 1));
  }
}

void stowi_kernel_clear_tail_beside(stow_tensor* result, const stow_tensor* from) {
  uintptr_t begin = (uintptr_t)from->data;
  uintptr_t at = (uintptr_t)result->data;
  if (at < begin || at >= begin + stow_tensor_bytes(from)) {
    stowi_kernel_clear_tail(result);
  }
}
