// What windows over a patch give, some rows at once, each in a register: compiled once per
// instruction set and vector width. No guard: it is included with different LANES, NAME, TARGET and
// TAKE(x, weight, sum) each time; the last is what an element adds to a result, of vectors.

typedef float NAME(vector) __attribute__((vector_size(LANES * 4), aligned(4), may_alias));

// |rows|, a constant once this is inlined, of at most LANES columns each.
static inline __attribute__((always_inline)) TARGET void NAME(tile)(
    size_t rows, const stowi_kernel_patch* p, size_t taps, const float* weights, float begin,
    const float* x, size_t columns, float* to, size_t to_row) {
  NAME(vector) sums[STOWI_KERNEL_PATCH_TILE_ROWS];
  for (size_t r = 0; r < rows; ++r) {
    sums[r] = begin - (NAME(vector)){0};
  }
  for (size_t tap = 0; tap < taps; ++tap) {
    const float* from = x + p->offsets[tap];
    NAME(vector) weight = weights[tap] - (NAME(vector)){0};
    (void)weight;
    for (size_t r = 0; r < rows; ++r) {
      sums[r] = TAKE(*(const NAME(vector)*)(from + r * p->pitch), weight, sums[r]);
    }
  }
  for (size_t r = 0; r < rows; ++r, to += to_row) {
    if (columns >= LANES) {
      *(NAME(vector)*)to = sums[r];
    } else {
      float row[LANES];
      *(NAME(vector)*)row = sums[r];
      stowi_kernel_copy_row(row, columns, to);
    }
  }
}

static TARGET void NAME(columns)(const stowi_kernel_patch* p, size_t taps, const float* weights,
                                 float begin, const float* x, size_t rows, size_t columns,
                                 float* to, size_t to_row) {
  size_t r = 0;
  for (; r + STOWI_KERNEL_PATCH_TILE_ROWS <= rows; r += STOWI_KERNEL_PATCH_TILE_ROWS) {
    NAME(tile)
    (STOWI_KERNEL_PATCH_TILE_ROWS, p, taps, weights, begin, x + r * p->pitch, columns,
     to + r * to_row, to_row);
  }
  for (; r + 3 <= rows; r += 3) {
    NAME(tile)(3, p, taps, weights, begin, x + r * p->pitch, columns, to + r * to_row, to_row);
  }
  for (; r < rows; ++r) {
    NAME(tile)(1, p, taps, weights, begin, x + r * p->pitch, columns, to + r * to_row, to_row);
  }
}

#undef NAME
#undef TARGET
#undef LANES
#undef TAKE
