// Runs of elements of any dtype, moved and repeated without being understood. Elements of whole
// bytes are bytes; packed ones (4 and 2 bits) are put into their bytes one by one, unless a run
// begins and ends with whole bytes.
#ifndef STOWAGE_SRC_EXEC_KERNELS_LAYOUT_ELEMENTS_H_
#define STOWAGE_SRC_EXEC_KERNELS_LAYOUT_ELEMENTS_H_

#include <stowage/kernel.h>

// Element |i| of elements of |bits|, which are 2 or 4.
static inline uint8_t stowi_kernel_packed_get(const void* data, uint32_t bits, size_t i) {
  size_t at = i * bits;
  uint32_t byte = ((const uint8_t*)data)[at / 8];
  return (uint8_t)(byte >> (at % 8) & ((1U << bits) - 1));
}

static inline void stowi_kernel_packed_set(void* data, uint32_t bits, size_t i, uint8_t value) {
  size_t at = i * bits;
  uint8_t* byte = (uint8_t*)data + at / 8;
  uint32_t mask = ((1U << bits) - 1) << (at % 8);
  *byte = (uint8_t)(((uint32_t)*byte & ~mask) | ((uint32_t)value << (at % 8) & mask));
}

// Whether two elements are the same bits of memory. What is there already must not be written: it
// may be a part of a weight, in memory that is only read.
bool stowi_kernel_is_same_place(uint32_t bits, const void* to, size_t to_at, const void* from,
                                size_t from_at);
// Copies |count| elements of |bits| each, from element |from_at| on to |to_at|. They may overlap:
// those of whole bytes in any way, packed ones where they move down. Writes nothing where they are
// in place.
void stowi_kernel_copy_elements(uint32_t bits, void* to, size_t to_at, const void* from,
                                size_t from_at, size_t count);
// Writes element 0 of |value| |count| times. NULL: bits of 0.
void stowi_kernel_fill_elements(uint32_t bits, void* to, size_t to_at, size_t count,
                                const void* value);
// The same for all of |result|, divided among the workers of |call|.
void stowi_kernel_fill_result(const stow_kernel_call* call, stow_tensor* result, const void* value);
// Clears what a packed tensor's last byte has after its last element, so that all its bytes are
// defined.
void stowi_kernel_clear_tail(stow_tensor* result);
// The same for a result that is made of |from|'s elements, unless it lies among them: there what
// follows its last element is |from|'s next one.
void stowi_kernel_clear_tail_beside(stow_tensor* result, const stow_tensor* from);

static inline bool stowi_kernel_is_packed(uint32_t bits) { return bits % 8 != 0; }

#endif  // STOWAGE_SRC_EXEC_KERNELS_LAYOUT_ELEMENTS_H_
