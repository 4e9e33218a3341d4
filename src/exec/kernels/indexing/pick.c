// Single elements: plain loads and stores of their width.
#include "exec/kernels/indexing/pick.h"

#include "exec/kernels/layout/elements.h"

#define PICK(type)                       \
  do {                                   \
    type* out = (type*)to + to_at;       \
    const type* in = (const type*)from;  \
    for (size_t j = 0; j < count; ++j) { \
      out[j] = in[places[j]];            \
    }                                    \
  } while (0)

void stowi_pick(uint32_t bits, void* to, size_t to_at, const void* from, const int64_t* places,
                size_t count) {
  switch (bits) {
    case 8:
      PICK(uint8_t);
      break;
    case 16:
      PICK(uint16_t);
      break;
    case 32:
      PICK(uint32_t);
      break;
    case 64:
      PICK(uint64_t);
      break;
    default:
      for (size_t j = 0; j < count; ++j) {
        stowi_copy_elements(bits, to, to_at + j, from, (size_t)places[j], 1);
      }
      break;
  }
}
