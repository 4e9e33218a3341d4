// What gemm.c compiles once per vector width. No guard: it is included with different LANES, NAME,
// TARGET and NARROWER each time. A tile has two vectors in each row, a narrow one only one.

typedef float NAME(vector) __attribute__((vector_size(LANES * 4), aligned(4), may_alias));

static inline __attribute__((always_inline)) TARGET void NAME(tile_of)(
    size_t vectors, size_t rows, size_t depth, stowi_kernel_tile_factors f, bool is_scattered,
    float* c, size_t c_row, stowi_kernel_tile_mode mode) {
  NAME(vector) sum[STOWI_KERNEL_TILE_ROWS][2] = {{{0}}};
  for (size_t i = 0; i < rows && mode == STOWI_KERNEL_TILE_GO_ON; ++i) {
    for (size_t v = 0; v < vectors; ++v) {
      sum[i][v] = *(const NAME(vector)*)(c + i * c_row + v * LANES);
    }
  }
  for (size_t p = 0; p < depth; ++p) {
    const float* from = f.b + (is_scattered ? f.b_at[p] : p * f.b_step);
    NAME(vector) b[2] = {{0}};
    for (size_t v = 0; v < vectors; ++v) {
      b[v] = *(const NAME(vector)*)(from + v * LANES);
    }
    for (size_t i = 0; i < rows; ++i) {
      float x = f.a[p * f.a_step + i * f.a_row];
      for (size_t v = 0; v < vectors; ++v) {
        sum[i][v] += b[v] * x;
      }
    }
  }
  for (size_t i = 0; i < rows; ++i) {
    for (size_t v = 0; v < vectors; ++v) {
      NAME(vector)* to = (NAME(vector)*)(c + i * c_row + v * LANES);
      if (mode == STOWI_KERNEL_TILE_ADD) {
        sum[i][v] += *to;
      }
      *to = sum[i][v];
    }
  }
}

// Numbers of rows as constants, so that the sums stay in registers.
static inline __attribute__((always_inline)) TARGET void NAME(tile_by)(
    size_t vectors, size_t rows, size_t depth, stowi_kernel_tile_factors f, bool is_scattered,
    float* c, size_t c_row, stowi_kernel_tile_mode mode) {
  switch (rows) {
    case 8: NAME(tile_of)(vectors, 8, depth, f, is_scattered, c, c_row, mode); break;
    case 4: NAME(tile_of)(vectors, 4, depth, f, is_scattered, c, c_row, mode); break;
    case 2: NAME(tile_of)(vectors, 2, depth, f, is_scattered, c, c_row, mode); break;
    default: NAME(tile_of)(vectors, 1, depth, f, is_scattered, c, c_row, mode); break;
  }
}

static TARGET void NAME(tile)(size_t rows, size_t depth, const stowi_kernel_tile_factors* f,
                              float* c, size_t c_row, stowi_kernel_tile_mode mode) {
  if (f->b_at != NULL) {
    NAME(tile_by)(2, rows, depth, *f, true, c, c_row, mode);
  } else {
    NAME(tile_by)(2, rows, depth, *f, false, c, c_row, mode);
  }
}

static TARGET void NAME(narrow_tile)(size_t rows, size_t depth, const stowi_kernel_tile_factors* f,
                                     float* c, size_t c_row, stowi_kernel_tile_mode mode) {
  if (f->b_at != NULL) {
    NAME(tile_by)(1, rows, depth, *f, true, c, c_row, mode);
  } else {
    NAME(tile_by)(1, rows, depth, *f, false, c, c_row, mode);
  }
}

static inline __attribute__((always_inline)) TARGET void NAME(stream_of)(
    size_t n, size_t depth, const float* a, const float* b, size_t b_row, float* c, bool goes_on) {
  size_t j = 0;
  for (; j + LANES <= n; j += LANES) {
    NAME(vector) sum = goes_on ? *(const NAME(vector)*)(c + j) : (NAME(vector)){0};
    for (size_t p = 0; p < depth; ++p) {
      sum += *(const NAME(vector)*)(b + p * b_row + j) * a[p];
    }
    *(NAME(vector)*)(c + j) = sum;
  }
  for (; j < n; ++j) {
    float sum = goes_on ? c[j] : 0;
    for (size_t p = 0; p < depth; ++p) {
      sum += b[p * b_row + j] * a[p];
    }
    c[j] = sum;
  }
}

static TARGET void NAME(stream)(size_t n, size_t depth, const float* a, const float* b,
                                size_t b_row, float* c, bool goes_on) {
  if (depth == STOWI_KERNEL_STREAM_DEPTH) {
    NAME(stream_of)(n, STOWI_KERNEL_STREAM_DEPTH, a, b, b_row, c, goes_on);
  } else {
    NAME(stream_of)(n, depth, a, b, b_row, c, goes_on);
  }
}

static const stowi_kernel_tiles NAME(narrow) = {STRING(NAME(narrow)), LANES, NAME(narrow_tile),
                                                NAME(stream), NARROWER};
static const stowi_kernel_tiles NAME(tiles) = {STRING(NAME(tiles)), (size_t)2 * LANES, NAME(tile),
                                               NAME(stream), &NAME(narrow)};

#undef NAME
#undef TARGET
#undef LANES
#undef NARROWER
