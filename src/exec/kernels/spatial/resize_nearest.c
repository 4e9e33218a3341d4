// The nearest: elements are copied by their width. A row that takes the same row of x as the one
// before it is copied whole, as every second one where an image is made twice as large.
#include <string.h>

#include "exec/kernels/spatial/resize.h"
#include "exec/kernels/support/convert.h"

#define PICK(type)                       \
  do {                                   \
    const type* from = (const type*)x;   \
    type* to = (type*)y;                 \
    for (size_t i = 0; i < count; ++i) { \
      to[i] = from[indices[i]];          \
    }                                    \
  } while (0)

static void pick(size_t size, const void* x, const int32_t* indices, size_t count, void* y) {
  switch (size) {
    case 1:
      PICK(uint8_t);
      break;
    case 2:
      PICK(uint16_t);
      break;
    case 4:
      PICK(uint32_t);
      break;
    case 8:
      PICK(uint64_t);
      break;
    default:
      for (size_t i = 0; i < count; ++i) {
        memcpy((unsigned char*)y + i * size, (const unsigned char*)x + (size_t)indices[i] * size,
               size);
      }
      break;
  }
}

static void fill_outside(const stowi_resize* r, size_t first, size_t count, bool all) {
  const stowi_resize_axis* last = &r->axes[r->x->rank - 1];
  for (size_t i = 0; i < count && (all || last->has_outside); ++i) {
    if (all || last->outside[i]) {
      stowi_store_f64(r->y->dtype, r->y->data, first + i, 1, &r->extrapolation);
    }
  }
}

void stowi_resize_nearest(void* resize, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  static const size_t taps[STOW_MAX_RANK] = {0};
  const stowi_resize* r = resize;
  const stowi_resize_axis* last = &r->axes[r->x->rank - 1];
  size_t size = stowi_bits(r->x->dtype) / 8;
  size_t width = (size_t)last->out;
  size_t previous = SIZE_MAX;
  for (size_t row = begin; row < end; ++row) {
    size_t first;
    double weight;
    unsigned char* y = (unsigned char*)r->y->data + row * width * size;
    bool is_inside = stowi_resize_row(r, row, taps, &first, &weight);
    if (is_inside && first == previous) {
      memcpy(y, y - width * size, width * size);
      continue;
    }
    previous = is_inside ? first : SIZE_MAX;
    if (is_inside) {
      pick(size, (const unsigned char*)r->x->data + first * size, last->indices, width, y);
    }
    fill_outside(r, row * width, width, !is_inside);
  }
}
