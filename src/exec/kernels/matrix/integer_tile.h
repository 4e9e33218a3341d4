// The innermost loops of integer products, compiled for several instruction sets: tiles of sums,
// and the order in which they read the second factor. Sums are exact modulo 2^32, so all give the
// same numbers.
//
// The second factor is packed: four steps of k are a group, and a panel of up to 32 columns has for
// each group and column the four bytes one after the other. So one instruction (VNNI) multiplies a
// vector of bytes and adds four products to each sum. That one multiplies u8 by i8: in a tile all
// bytes of a are u8 and all of b i8. The others become these by changing their highest bit, which
// subtracts 128 from a u8 and adds it to an i8: zero points move with them.
#ifndef STOWAGE_SRC_EXEC_KERNELS_MATRIX_INTEGER_TILE_H_
#define STOWAGE_SRC_EXEC_KERNELS_MATRIX_INTEGER_TILE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  STOWI_KERNEL_INTEGER_ROWS = 8,      // of a tile, at most
  STOWI_KERNEL_INTEGER_COLUMNS = 32,  // of a panel, at most
  STOWI_KERNEL_INTEGER_GROUP = 4      // steps
};

// Columns of the panel in which |left| are left: a multiple of 8.
static inline size_t stowi_kernel_integer_width(size_t left) {
  return left >= STOWI_KERNEL_INTEGER_COLUMNS ? STOWI_KERNEL_INTEGER_COLUMNS : (left + 7) / 8 * 8;
}

static inline size_t stowi_kernel_integer_groups(size_t k) {
  return k / STOWI_KERNEL_INTEGER_GROUP + (k % STOWI_KERNEL_INTEGER_GROUP != 0);
}

// c[rows × width] = a[rows × 4 · groups] · b, or added to what c holds.
typedef struct stowi_kernel_integer_tile {
  size_t rows;    // 1 to stowi_kernel_integer_tiles.rows
  size_t groups;  // of steps
  const uint8_t* a;
  size_t a_row;      // bytes from one row to the next
  uint8_t flip;      // 0x80 where a is of i8
  const uint8_t* b;  // a panel, or some groups of it
  size_t width;      // of the panel: 8, 16, 24 or 32
  int32_t* c;
  size_t c_row;
  bool accumulate;
} stowi_kernel_integer_tile;

// Packs |groups| groups of a panel of |width| columns; rows[p] is where those of step p are. |flip|
// is 0x80 where they are u8.
typedef void (*stowi_kernel_integer_pack_function)(size_t groups, const uint8_t* const* rows,
                                                   size_t width, uint8_t flip, uint8_t* out);

typedef struct stowi_kernel_integer_tiles {
  const char* name;
  size_t rows;  // of a tile, at most
  void (*tile)(const stowi_kernel_integer_tile* t);
  stowi_kernel_integer_pack_function pack;
} stowi_kernel_integer_tiles;

// All that this processor has, the plainest first; NULL from some |i| on.
const stowi_kernel_integer_tiles* stowi_kernel_integer_tiles_at(size_t i);
// The last of them.
const stowi_kernel_integer_tiles* stowi_kernel_integer_tiles_best(void);

// How many rows of |left| the next tile has: tiles are about as high as each other.
static inline size_t stowi_kernel_integer_height(const stowi_kernel_integer_tiles* tiles,
                                                 size_t left) {
  size_t count = (left + tiles->rows - 1) / tiles->rows;
  return (left + count - 1) / count;
}

#endif  // STOWAGE_SRC_EXEC_KERNELS_MATRIX_INTEGER_TILE_H_
