// What integer_tile.c compiles for each set of vectors that multiplies pairs of i16 and adds them:
// bytes become i16 as they are read, and each column has two sums until the end. No guard: it is
// included with different
//
//     NAME, NAME_TEXT, TARGET, ROWS (of a tile), vector
//     COLUMNS          columns in a vector
//     ZERO             a vector of zeros
//     WIDEN(from)      4 · COLUMNS bytes from |from| as i16
//     SPREAD(four, flip)  the four u8 in an int32_t, flipped, as u16, for each column
//     ADD_PAIRS(s, x, y)
//     FOLD(to, sums, accumulate)  the sums of COLUMNS columns, stored or added

#define MOST_VECTORS 4

static inline __attribute__((always_inline)) TARGET void NAME(tile_of)(
    size_t rows, size_t vectors, const stowi_kernel_integer_tile* t, size_t column) {
  vector sums[ROWS][MOST_VECTORS];
  for (size_t i = 0; i < rows; ++i) {
    for (size_t v = 0; v < vectors; ++v) {
      sums[i][v] = ZERO;
    }
  }
  const uint8_t* b = t->b + 4 * column;
  const uint8_t* a = t->a;
  size_t a_row = t->a_row;
  uint8_t flip = t->flip;
  size_t b_row = 4 * t->width;
  for (size_t p = 0; p < t->groups; ++p, a += 4, b += b_row) {
    vector x[ROWS];
    for (size_t i = 0; i < rows; ++i) {
      int32_t four;
      memcpy(&four, a + i * a_row, sizeof(four));
      x[i] = SPREAD(four, flip);
    }
    for (size_t v = 0; v < vectors; ++v) {
      vector y = WIDEN(b + v * (4 * COLUMNS));
      for (size_t i = 0; i < rows; ++i) {
        sums[i][v] = ADD_PAIRS(sums[i][v], x[i], y);
      }
    }
  }
  for (size_t i = 0; i < rows; ++i) {
    for (size_t v = 0; v < vectors; ++v) {
      FOLD(t->c + i * t->c_row + column + v * COLUMNS, sums[i][v], t->accumulate);
    }
  }
}

// Numbers of vectors as constants, so that the sums stay in registers.
static inline __attribute__((always_inline)) TARGET void NAME(rows_of)(
    size_t rows, const stowi_kernel_integer_tile* t) {
  size_t column = 0;
  for (; column + MOST_VECTORS * COLUMNS <= t->width; column += MOST_VECTORS * COLUMNS) {
    NAME(tile_of)(rows, MOST_VECTORS, t, column);
  }
  for (; column < t->width; column += 8) {
    NAME(tile_of)(rows, 8 / COLUMNS, t, column);
  }
}

// And of rows.
static TARGET void NAME(tile)(const stowi_kernel_integer_tile* t) {
  switch (t->rows) {
    case 1: NAME(rows_of)(1, t); break;
#if ROWS > 2
    case 2: NAME(rows_of)(2, t); break;
    case 3: NAME(rows_of)(3, t); break;
#endif
    default: NAME(rows_of)(ROWS, t); break;
  }
}

static const stowi_kernel_integer_tiles NAME(tiles) = {NAME_TEXT, ROWS, NAME(tile), PACK};

#undef MOST_VECTORS
#undef NAME
#undef NAME_TEXT
#undef TARGET
#undef ROWS
#undef vector
#undef COLUMNS
#undef ZERO
#undef WIDEN
#undef SPREAD
#undef ADD_PAIRS
#undef FOLD
#undef PACK
