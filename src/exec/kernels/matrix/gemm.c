// Products of f32 matrices: packing, a path for a row times a transposed matrix,
// and the blocking that chooses between them.
#include "exec/kernels/matrix/gemm.h"

#include <stddef.h>
#include <string.h>

#include "exec/kernels/matrix/gemm_tile.h"
#include "exec/kernels/matrix/lean.h"
#include "exec/kernels/support/size.h"

// ---------------------------------------------------------------------------------------------
// Packing copies a panel of a factor in the order in which tiles read it. It costs a pass over one
// factor per block of the other, a few percent of the product. A panel that is strided in memory is
// transposed in squares of 4 × 4.

static void pack_rows(const float* from, size_t along, size_t count, size_t width, size_t depth,
                      float* out) {
  for (size_t p = 0; p < depth; ++p) {
    memcpy(out + p * width, from + p * along, count * sizeof(float));
    for (size_t w = count; w < width; ++w) {
      out[p * width + w] = 0;
    }
  }
}

#if defined(__GNUC__) && !defined(__clang__)
typedef float four __attribute__((vector_size(16), aligned(4), may_alias));
typedef int order __attribute__((vector_size(16)));

static inline void turn_square(const float* from, size_t across, float* out, size_t width) {
  four a = *(const four*)from;
  four b = *(const four*)(from + across);
  four c = *(const four*)(from + 2 * across);
  four d = *(const four*)(from + 3 * across);
  four ab_low = __builtin_shuffle(a, b, (order){0, 4, 1, 5});
  four ab_high = __builtin_shuffle(a, b, (order){2, 6, 3, 7});
  four cd_low = __builtin_shuffle(c, d, (order){0, 4, 1, 5});
  four cd_high = __builtin_shuffle(c, d, (order){2, 6, 3, 7});
  *(four*)out = __builtin_shuffle(ab_low, cd_low, (order){0, 1, 4, 5});
  *(four*)(out + width) = __builtin_shuffle(ab_low, cd_low, (order){2, 3, 6, 7});
  *(four*)(out + 2 * width) = __builtin_shuffle(ab_high, cd_high, (order){0, 1, 4, 5});
  *(four*)(out + 3 * width) = __builtin_shuffle(ab_high, cd_high, (order){2, 3, 6, 7});
}
#else
static inline void turn_square(const float* from, size_t across, float* out, size_t width) {
  for (size_t w = 0; w < 4; ++w) {
    for (size_t p = 0; p < 4; ++p) {
      out[p * width + w] = from[w * across + p];
    }
  }
}
#endif

static void pack_any(const float* from, size_t across, size_t along, size_t count, size_t width,
                     size_t depth, float* out) {
  for (size_t w = 0; w < width; ++w) {
    for (size_t p = 0; p < depth; ++p) {
      out[p * width + w] = w < count ? from[w * across + p * along] : 0;
    }
  }
}

static void pack_turned(const float* from, size_t across, size_t count, size_t width, size_t depth,
                        float* out) {
  size_t squares = depth / 4 * 4;
  size_t w = 0;
  for (; w + 4 <= count; w += 4) {
    for (size_t p = 0; p < squares; p += 4) {
      turn_square(from + w * across + p, across, out + p * width + w, width);
    }
    for (size_t p = squares; p < depth; ++p) {
      for (size_t v = w; v < w + 4; ++v) {
        out[p * width + v] = from[v * across + p];
      }
    }
  }
  for (; w < width; ++w) {
    for (size_t p = 0; p < depth; ++p) {
      out[p * width + w] = w < count ? from[w * across + p] : 0;
    }
  }
}

// out[p * width + w] = from[w * across + p * along] for w < count, 0 for the others up to |width|;
// p < depth. |count| is |width| or less.
static void pack(const float* from, size_t across, size_t along, size_t count, size_t width,
                 size_t depth, float* out) {
  if (across == 1) {
    pack_rows(from, along, count, width, depth, out);
  } else if (along == 1) {
    pack_turned(from, across, count, width, depth, out);
  } else {
    pack_any(from, across, along, count, width, depth, out);
  }
}

// ---------------------------------------------------------------------------------------------
// A row times a matrix whose columns are contiguous, as the weights of linear layers are. Sums are
// in ascending order of k, so vectors must go across columns, which are far apart: sixteen columns
// are read side by side, four steps of each, and transposed in squares of 4 × 4 in registers.
// Nothing is packed, and b is read once.

// The first columns, as many whole groups as there are, and returns how many. m is 1 and b's row
// stride 1.
static size_t multiply_columns(const stowi_kernel_tiles* tiles, const stowi_kernel_gemm* g) {
  size_t columns = g->n / STOWI_KERNEL_TURNED_COLUMNS * STOWI_KERNEL_TURNED_COLUMNS;
  for (size_t j = 0; j < columns; j += STOWI_KERNEL_TURNED_COLUMNS) {
    for (size_t step = 0; step < g->k; step += STOWI_KERNEL_GEMM_CHAIN) {
      size_t depth = stowi_kernel_smaller(g->k - step, STOWI_KERNEL_GEMM_CHAIN);
      tiles->turned(depth, g->a.data + step * g->a.column, g->a.column, g->alpha,
                    g->b.data + j * g->b.column + step, g->b.column, g->c + j,
                    step != 0 || g->accumulate ? STOWI_KERNEL_TILE_ADD : STOWI_KERNEL_TILE_SET);
    }
  }
  return columns;
}

// ---------------------------------------------------------------------------------------------
// Blocking, after Goto and van de Geijn ("Anatomy of High-Performance Matrix Multiplication",
// 2008): a packed block of a stays in the second-level cache, a panel of b in the first, and the
// tile's sums in registers.
//
//     for each 256 steps of k           a chain: its sums are added to c
//       for each 252 rows of a          packed into panels of 6 rows
//         for each tile's width of b    packed into one panel
//           for each panel of a         a tile of c
//
// The panel of b is packed again for every 252 rows, which costs about 5 % if there are many; in
// return scratch is 284 KB per worker, and a product of few rows packs everything once. Factors
// that are read only a few times are not packed if their rows are contiguous: a in products of few
// columns, b in products of few rows. With very few rows b is streamed past pieces of c; a single
// row of a is not packed either if columns are contiguous.

enum {
  DEPTH = STOWI_KERNEL_GEMM_CHAIN,  // steps of k in a block
  ROWS = 252,                       // rows of a in a block, whole panels
  SHORT_ROWS = 30,                  // the same, in products of few columns
  FEW_ROWS = 16,                    // so few do not pay for packing b
  FEW_COLUMNS = 64,                 // nor so few for packing a
  LINE = 16,                        // floats in a cache line
  CLOSE = 2048,                     // floats from row to row of b that lies close
  STREAM_ROWS = 8,                  // so few have b streamed past them
  STREAM_PIECE = 384,               // columns of c that are streamed at a time
  WORK = 1 << 16,                   // multiplications that make a worker worth waking
  PANEL = STOWI_KERNEL_GEMM_PANEL,  // columns of packed b
};

// A block of a that few columns of b pass is not worth much memory, the less so as it mostly need
// not be packed; nor where memory is short.
static size_t rows_of_block(size_t n, uint32_t variant) {
  return n > FEW_COLUMNS && variant == 0 ? ROWS : SHORT_ROWS;
}

static size_t floats_of_a(size_t m, size_t n, size_t k, uint32_t variant) {
  size_t rows = stowi_kernel_smaller(m, rows_of_block(n, variant));
  return (rows * stowi_kernel_smaller(k, DEPTH) + 15) / 16 * 16;
}

// Of a worker, where factors are packed.
static uint64_t packed_size(size_t m, size_t n, size_t k, uint32_t variant) {
  return (floats_of_a(m, n, k, variant) +
          stowi_kernel_smaller(k, DEPTH) * STOWI_KERNEL_TILE_COLUMNS) *
         sizeof(float);
}

void stowi_kernel_gemm_pack_a(const stowi_kernel_matrix* a, size_t rows, size_t steps, float* out) {
  for (size_t i = 0; i < rows;) {
    size_t height = stowi_kernel_tile_rows(rows - i);
    pack(a->data + i * a->row, a->row, a->column, height, height, steps, out + i * steps);
    i += height;
  }
}

static void pack_block(const stowi_kernel_gemm* g, size_t row, size_t rows, size_t step,
                       size_t steps, float* out) {
  stowi_kernel_matrix from = g->a;
  from.data += row * from.row + step * from.column;
  stowi_kernel_gemm_pack_a(&from, rows, steps, out);
  for (size_t i = 0; i < rows * steps && g->alpha != 1; ++i) {
    out[i] *= g->alpha;
  }
}

void stowi_kernel_gemm_pack_b(const stowi_kernel_matrix* b, size_t steps, size_t columns,
                              float* out) {
  for (size_t j = 0; j < columns; j += PANEL) {
    size_t width = stowi_kernel_smaller(columns - j, PANEL);
    pack(b->data + j * b->column, b->column, b->row, width, width, steps, out + j * steps);
  }
  memset(out + columns * steps, 0, PANEL * sizeof(float));
}

uint64_t stowi_kernel_gemm_pack_b_size(size_t steps, size_t columns) {
  return ((uint64_t)steps * columns + PANEL) * sizeof(float);
}

// Of packed b, where |column| is at |step|, and how far it is from there to the next step.
static const float* packed_b(const stowi_kernel_gemm* g, size_t step, size_t column,
                             size_t* b_step) {
  size_t inside = column % PANEL;
  *b_step = stowi_kernel_smaller(g->n - (column - inside), PANEL);
  return g->b.data + (column - inside) * g->b_steps + (g->first_step + step) * *b_step + inside;
}

// A block of c, and what is added to it. Factors are the block's, and b a panel of it.
typedef struct block {
  const stowi_kernel_tiles* tiles;
  stowi_kernel_tile_factors f;
  size_t a_steps;  // of a that is in panels; 0: it is not
  size_t a_first;  // of these, the block's first
  size_t rows, columns, steps;
  float* c;
  size_t c_row;
  bool accumulate;
  const float* bias;  // of the block's rows, or NULL
} block;

// A tile whose columns are not all c's.
static void edge_tile(const block* k, size_t rows, const stowi_kernel_tile_factors* f, float* c) {
  float whole[STOWI_KERNEL_TILE_ROWS * STOWI_KERNEL_TILE_COLUMNS] = {0};
  size_t width = k->tiles->columns;
  for (size_t i = 0; i < rows && k->accumulate; ++i) {
    memcpy(whole + i * width, c + i * k->c_row, k->columns * sizeof(float));
  }
  k->tiles->tile(rows, k->steps, f, whole, width, k->accumulate);
  for (size_t i = 0; i < rows; ++i) {
    memcpy(c + i * k->c_row, whole + i * width, k->columns * sizeof(float));
  }
}

// One panel of b with all rows of a's block.
static void multiply_panel(const block* k) {
  if (k->a_steps != 0 && k->columns <= STOWI_KERNEL_FEW_COLUMNS) {
    stowi_kernel_tile_factors f = k->f;
    f.a_steps = k->a_steps;
    f.a_first = k->a_first;
    f.bias = k->bias;
    stowi_kernel_tiles_run_few(k->tiles, k->rows, k->columns, k->steps, &f, k->c, k->c_row,
                               k->accumulate ? STOWI_KERNEL_TILE_ADD : STOWI_KERNEL_TILE_SET);
    return;
  }
  for (size_t i = 0; i < k->rows;) {
    size_t height = stowi_kernel_tile_rows(k->rows - i);
    stowi_kernel_tile_factors f = k->f;
    f.bias = k->bias == NULL ? NULL : k->bias + i;
    if (f.next != NULL) {
      f.next += i / STOWI_KERNEL_TILE_ROWS * f.next_step * k->steps;
    }
    if (k->a_steps != 0) {
      f.a += i * k->a_steps + k->a_first * height;
      f.a_row = 1;
      f.a_step = height;
      if (f.next == NULL) {
        f.next = (const char*)(f.a + height * k->a_steps);
        f.next_step = height * sizeof(float);
      }
    } else {
      f.a += i * f.a_row;
    }
    if (k->columns == k->tiles->columns) {
      k->tiles->tile(height, k->steps, &f, k->c + i * k->c_row, k->c_row, k->accumulate);
    } else {
      edge_tile(k, height, &f, k->c + i * k->c_row);
    }
    i += height;
  }
}

// Whether b's rows lie close, and an odd number of cache lines apart: then a panel of it is in the
// first cache after it was read once, as it would be if it were packed.
static bool is_b_close(const stowi_kernel_gemm* g) {
  return g->b.row <= CLOSE && g->b.row % LINE == 0 && g->b.row / LINE % 2 == 1;
}

static const stowi_kernel_tiles* narrow_to(const stowi_kernel_tiles* tiles, size_t columns) {
  while (tiles->narrower != NULL && tiles->narrower->columns >= columns) {
    tiles = tiles->narrower;
  }
  return tiles;
}

// The panel of packed b that follows, or the first one of the next chain, is fetched from memory
// while this one is multiplied, a little at each step.
static void fetch_next(const stowi_kernel_gemm* g, size_t step, size_t column, block* k) {
  bool has_next = column + 2 * k->columns <= g->n;
  bool has_chain = step + k->steps < g->k;
  size_t b_step;
  k->f.next = NULL;
  k->f.next_step = 0;
  if (k->columns == k->tiles->columns && (has_next || has_chain)) {
    const float* next = has_next ? packed_b(g, step, column + k->columns, &b_step)
                                 : packed_b(g, step + k->steps, 0, &b_step);
    k->f.next = (const char*)next;
    k->f.next_step = k->columns * sizeof(float) * STOWI_KERNEL_TILE_ROWS / k->rows + 1;
  }
}

// All columns of b with a block of a. b is packed panel by panel unless it is read so few times
// that this would not pay.
static void multiply_rows(const stowi_kernel_tiles* tiles, const stowi_kernel_gemm* g, size_t step,
                          block* k, float* packed) {
  float* c = k->c;
  bool is_read = g->b.column == 1 && (g->m <= FEW_ROWS || is_b_close(g));
  for (size_t column = 0; column < g->n; column += k->columns) {
    bool is_few = k->a_steps != 0 && g->n - column <= STOWI_KERNEL_FEW_COLUMNS;
    k->tiles = is_few ? tiles : narrow_to(tiles, g->n - column);
    k->columns = stowi_kernel_smaller(g->n - column, k->tiles->columns);
    k->c = c + column;
    if (g->b_steps != 0) {
      k->f.b = packed_b(g, step, column, &k->f.b_step);
      fetch_next(g, step, column, k);
      multiply_panel(k);
      continue;
    }
    if (g->b_at != NULL) {
      k->f.b = g->b.data + column;
      k->f.b_at = g->b_at + step;
      multiply_panel(k);
      continue;
    }
    k->f.b = g->b.data + step * g->b.row + column * g->b.column;
    k->f.b_step = g->b.row;
    if (is_few ? g->b.column != 1 : !is_read || k->columns != k->tiles->columns) {
      size_t width = is_few ? k->columns : k->tiles->columns;
      pack(k->f.b, g->b.column, g->b.row, k->columns, width, k->steps, packed);
      k->f.b = packed;
      k->f.b_step = width;
    }
    multiply_panel(k);
  }
}

// Whether a can be read in rows as it is.
static bool is_a_plain(const stowi_kernel_gemm* g) { return g->a.column == 1 && g->alpha == 1; }

// Whether a is packed for the product: it is read for many panels of b, or cannot be as it is. In
// little room b is packed already, or the product is not done in blocks.
static bool packs_a(const stowi_kernel_gemm* g) {
  return g->a_steps == 0 && (!is_a_plain(g) || (g->n > FEW_COLUMNS && g->variant < 2));
}

static size_t floats_of_packed_a(const stowi_kernel_gemm* g) {
  return packs_a(g) ? floats_of_a(g->m, g->n, g->k, g->variant) : 0;
}

static void multiply_blocks(const stowi_kernel_tiles* tiles, const stowi_kernel_gemm* g,
                            float* scratch) {
  float* b = scratch == NULL ? NULL : scratch + floats_of_packed_a(g);
  bool packs = packs_a(g);
  size_t block_rows = packs ? rows_of_block(g->n, g->variant) : ROWS;
  for (size_t step = 0; step < g->k; step += DEPTH) {
    size_t steps = stowi_kernel_smaller(g->k - step, DEPTH);
    for (size_t row = 0; row < g->m; row += block_rows) {
      block k = {.rows = stowi_kernel_smaller(g->m - row, block_rows),
                 .steps = steps,
                 .c = g->c + row * g->c_row,
                 .c_row = g->c_row,
                 .accumulate = g->accumulate || step != 0,
                 .bias = g->bias == NULL || step != 0 ? NULL : g->bias + row};
      if (g->a_steps != 0) {
        k.f.a = g->a.data + row * g->a_steps;
        k.a_steps = g->a_steps;
        k.a_first = g->first_step + step;
      } else if (packs) {
        pack_block(g, row, k.rows, step, steps, scratch);
        k.f.a = scratch;
        k.a_steps = steps;
      } else {
        k.f.a = g->a.data + row * g->a.row + step;
        k.f.a_row = g->a.row;
        k.f.a_step = 1;
      }
      multiply_rows(tiles, g, step, &k, b);
    }
  }
}

// The chains of steps [begin, end) for a piece of every row, in |sums|, whose rows are |sums_row|
// apart: eight rows of b at a time, which stay in the first cache for all rows of a.
static void stream_chains(const stowi_kernel_tiles* tiles, const stowi_kernel_gemm* g, size_t begin,
                          size_t end, size_t column, size_t columns, float* sums, size_t sums_row) {
  for (size_t step = begin; step < end; step += STOWI_KERNEL_STREAM_DEPTH) {
    size_t steps = stowi_kernel_smaller(end - step, STOWI_KERNEL_STREAM_DEPTH);
    for (size_t row = 0; row < g->m; ++row) {
      float a[STOWI_KERNEL_STREAM_DEPTH];
      for (size_t p = 0; p < steps; ++p) {
        a[p] = g->alpha * g->a.data[row * g->a.row + (step + p) * g->a.column];
      }
      tiles->stream(columns, steps, a, g->b.data + step * g->b.row + column, g->b.row,
                    sums + row * sums_row, step != begin);
    }
  }
}

// Columns of a piece: as many as have room for their sums, if chains are added to anything.
static size_t stream_columns(const stowi_kernel_gemm* g) {
  if (!g->accumulate && g->k <= DEPTH) {
    return STREAM_PIECE;
  }
  size_t room = (size_t)(packed_size(g->m, g->n, g->k, g->variant) / sizeof(float)) / g->m;
  return stowi_kernel_smaller(room / 4 * 4, STREAM_PIECE);
}

// Few rows: b streams past pieces of them. The first chain is made in c itself where it is added to
// nothing.
static void multiply_stream(const stowi_kernel_tiles* tiles, const stowi_kernel_gemm* g,
                            float* sums) {
  size_t piece = stream_columns(g);
  for (size_t column = 0; column < g->n; column += piece) {
    size_t columns = stowi_kernel_smaller(g->n - column, piece);
    float* c = g->c + column;
    for (size_t step = 0; step < g->k; step += DEPTH) {
      size_t end = step + stowi_kernel_smaller(g->k - step, DEPTH);
      if (step == 0 && !g->accumulate) {
        stream_chains(tiles, g, step, end, column, columns, c, g->c_row);
        continue;
      }
      stream_chains(tiles, g, step, end, column, columns, sums, columns);
      for (size_t row = 0; row < g->m; ++row) {
        for (size_t j = 0; j < columns; ++j) {
          c[row * g->c_row + j] += sums[row * columns + j];
        }
      }
    }
  }
}

// One row: multiplies whole groups of columns, and returns what is left.
static stowi_kernel_gemm multiply_turned(const stowi_kernel_tiles* tiles,
                                         const stowi_kernel_gemm* g) {
  stowi_kernel_gemm rest = *g;
  size_t done = multiply_columns(tiles, g);
  rest.n -= done;
  rest.b.data += done * rest.b.column;
  rest.c += done;
  return rest;
}

static bool is_streamed(const stowi_kernel_gemm* g) {
  return g->m <= STREAM_ROWS && g->b.column == 1 && g->variant < 2;
}

static void clear(const stowi_kernel_gemm* g) {
  for (size_t i = 0; i < g->m && g->n != 0; ++i) {
    memset(g->c + i * g->c_row, 0, g->n * sizeof(float));
  }
}

// Or read in another way than by strides.
static bool is_packed(const stowi_kernel_gemm* g) {
  return g->a_steps != 0 || g->b_steps != 0 || g->b_at != NULL;
}

// A product with one column is, turned around, one with one row; factors of a product may change
// places, but alpha belongs to a.
static bool is_better_turned(const stowi_kernel_gemm* g) {
  return !is_packed(g) && g->n == 1 && g->m > 1 && g->c_row == 1 && g->alpha == 1;
}

static stowi_kernel_gemm turned(const stowi_kernel_gemm* g) {
  stowi_kernel_gemm t = *g;
  t.m = 1;
  t.n = g->m;
  t.a = (stowi_kernel_matrix){g->b.data, g->b.column, g->b.row};
  t.b = (stowi_kernel_matrix){g->a.data, g->a.column, g->a.row};
  return t;
}

// ---------------------------------------------------------------------------------------------
// Products in little room: factors are read where they lie if possible, or some steps of a tile's
// rows and columns are copied.

static void load_packed_a(const stowi_kernel_gemm* g, const stowi_kernel_block* part, float* room,
                          size_t row) {
  size_t panel = part->row / STOWI_KERNEL_TILE_ROWS * STOWI_KERNEL_TILE_ROWS;
  for (size_t i = 0; i < part->rows; ++i) {
    while (panel + stowi_kernel_tile_rows(g->m - panel) <= part->row + i) {
      panel += stowi_kernel_tile_rows(g->m - panel);
    }
    size_t height = stowi_kernel_tile_rows(g->m - panel);
    const float* from = g->a.data + panel * g->a_steps + (g->first_step + part->column) * height +
                        (part->row + i - panel);
    for (size_t p = 0; p < part->columns; ++p) {
      room[i * row + p] = from[p * height];
    }
  }
}

static const float* load_a(const void* user, const stowi_kernel_block* part, float* room,
                           size_t* row) {
  const stowi_kernel_gemm* g = user;
  const float* from = g->a.data + part->row * g->a.row + part->column * g->a.column;
  if (g->a_steps != 0) {
    load_packed_a(g, part, room, *row);
    return room;
  }
  if (is_a_plain(g)) {
    *row = g->a.row;
    return from;
  }
  for (size_t i = 0; i < part->rows; ++i) {
    for (size_t p = 0; p < part->columns; ++p) {
      room[i * *row + p] = g->alpha * from[i * g->a.row + p * g->a.column];
    }
  }
  return room;
}

static const float* load_b(const void* user, const stowi_kernel_block* part, float* room,
                           size_t* row) {
  const stowi_kernel_gemm* g = user;
  if (g->b_steps != 0) {
    return packed_b(g, part->row, part->column, row);
  }
  const float* from = g->b.data + part->row * g->b.row + part->column * g->b.column;
  if (g->b.column == 1) {
    *row = g->b.row;
    return from;
  }
  pack(from, g->b.column, g->b.row, part->columns, *row, part->rows, room);
  return room;
}

static bool begin_with_c(const void* user, const stowi_kernel_block* part, float* to,
                         size_t to_row) {
  (void)user;
  (void)part;
  (void)to;
  (void)to_row;
  return true;
}

// Where neither factor is copied, a tile takes all steps of a chain at once.
static stowi_kernel_lean lean_of(const stowi_kernel_gemm* g) {
  bool b_is_there = g->b.column == 1 || g->b_steps != 0;
  return (stowi_kernel_lean){.m = g->m,
                             .n = g->n,
                             .k = g->k,
                             .user = g,
                             .a = load_a,
                             .b = load_b,
                             .a_is_there = b_is_there && g->a_steps == 0 && is_a_plain(g),
                             .b_is_there = b_is_there,
                             .c = g->c,
                             .c_row = g->c_row,
                             .begin = g->accumulate ? begin_with_c : NULL};
}

static uint64_t lean_size_of(size_t m, size_t n, size_t k, bool b_is_there) {
  float none;
  stowi_kernel_gemm g = {.m = m, .n = n, .k = k, .c = &none, .accumulate = true};
  stowi_kernel_lean p = lean_of(&g);
  p.b_is_there = b_is_there;
  return stowi_kernel_lean_scratch(&p);
}

// Whatever the strides are, and though a product of one column is turned around.
static uint64_t lean_size(size_t m, size_t n, size_t k) {
  uint64_t near = lean_size_of(m, n, k, true);
  uint64_t far = lean_size_of(m, n, k, false);
  uint64_t turned_around = lean_size_of(1, m, k, false);
  uint64_t size = near > far ? near : far;
  return size > turned_around ? size : turned_around;
}

static bool is_lean(size_t m, size_t n, size_t k, uint32_t variant) {
  return variant >= 2 && lean_size(m, n, k) < packed_size(m, n, k, variant);
}

static uint64_t worker_size(size_t m, size_t n, size_t k, uint32_t variant) {
  uint64_t packed = packed_size(m, n, k, variant);
  uint64_t lean = lean_size(m, n, k);
  return stowi_kernel_align64(variant >= 2 && lean < packed ? lean : packed);
}

uint64_t stowi_kernel_gemm_scratch(size_t m, size_t n, size_t k, uint32_t workers,
                                   uint32_t variant) {
  return worker_size(m, n, k, variant) * workers;
}

// With packed factors: what is packed needs no room.
static uint64_t blocks_size(const stowi_kernel_gemm* g) {
  bool is_ready = g->b_steps != 0 || g->b_at != NULL;
  size_t b = is_ready ? 0 : stowi_kernel_smaller(g->k, DEPTH) * STOWI_KERNEL_TILE_COLUMNS;
  return (floats_of_packed_a(g) + b) * sizeof(float);
}

static uint64_t packed_lean_size(const stowi_kernel_gemm* g) {
  uint64_t near = lean_size_of(g->m, g->n, g->k, true);
  uint64_t far = lean_size_of(g->m, g->n, g->k, g->b_steps != 0);
  return near > far ? near : far;
}

static bool is_packed_lean(const stowi_kernel_gemm* g) {
  return g->variant >= 2 && packed_lean_size(g) < blocks_size(g);
}

uint64_t stowi_kernel_gemm_packed_scratch(const stowi_kernel_gemm* g, uint32_t workers) {
  return stowi_kernel_align64(is_packed_lean(g) ? packed_lean_size(g) : blocks_size(g)) * workers;
}

static uint64_t scratch_of(const stowi_kernel_gemm* g) {
  return is_packed(g) ? stowi_kernel_gemm_packed_scratch(g, 1)
                      : worker_size(g->m, g->n, g->k, g->variant);
}

void stowi_kernel_gemm_by(const stowi_kernel_tiles* tiles, const stowi_kernel_gemm* gemm,
                          void* scratch) {
  if (gemm->m == 0 || gemm->n == 0) {
    return;
  }
  stowi_kernel_gemm swapped;
  stowi_kernel_gemm rest;
  if (is_better_turned(gemm)) {
    swapped = turned(gemm);
    gemm = &swapped;
  }
  if (gemm->m == 1 && gemm->b.row == 1 && gemm->k != 0 && !is_packed(gemm) && !is_streamed(gemm)) {
    rest = multiply_turned(tiles, gemm);
    gemm = &rest;
  }
  if (gemm->k == 0) {
    if (!gemm->accumulate) {
      clear(gemm);
    }
  } else if (is_packed(gemm) ? is_packed_lean(gemm)
                             : is_lean(gemm->m, gemm->n, gemm->k, gemm->variant)) {
    stowi_kernel_lean lean = lean_of(gemm);
    stowi_kernel_lean_run(&lean, 0, stowi_kernel_lean_tiles(&lean), scratch);
  } else if (is_packed(gemm)) {
    multiply_blocks(tiles, gemm, scratch);
  } else if (is_streamed(gemm)) {
    multiply_stream(tiles, gemm, scratch);
  } else {
    multiply_blocks(tiles, gemm, scratch);
  }
}

void stowi_kernel_gemm_alone(const stowi_kernel_gemm* gemm, void* scratch) {
  stowi_kernel_gemm_by(stowi_kernel_tiles_best(), gemm, scratch);
}

typedef struct division {
  stowi_kernel_gemm gemm;
  unsigned char* scratch;
  uint64_t scratch_size;  // of a worker
  bool by_rows;
} division;

// Rows or columns, in units of a tile.
static void multiply_part(void* user, size_t begin, size_t end, uint32_t worker) {
  const division* d = user;
  stowi_kernel_gemm part = d->gemm;
  if (d->by_rows) {
    size_t first = begin * STOWI_KERNEL_TILE_ROWS;
    part.m = stowi_kernel_smaller(end * STOWI_KERNEL_TILE_ROWS, part.m) - first;
    part.a.data += first * (part.a_steps != 0 ? part.a_steps : part.a.row);
    part.c += first * part.c_row;
  } else {
    size_t first = begin * STOWI_KERNEL_TILE_COLUMNS;
    part.n = stowi_kernel_smaller(end * STOWI_KERNEL_TILE_COLUMNS, part.n) - first;
    part.b.data += first * (part.b_steps != 0 ? part.b_steps : part.b.column);
    part.c += first;
  }
  stowi_kernel_gemm_alone(&part, d->scratch + worker * d->scratch_size);
}

// Each worker gets one range, as it packs all of the other factor for it; fewer workers where the
// product is small.
void stowi_kernel_gemm_run(const stow_kernel_call* call, const stowi_kernel_gemm* gemm,
                           void* scratch) {
  if (gemm->m == 0 || gemm->n == 0) {
    return;
  }
  size_t row_tiles = (gemm->m + STOWI_KERNEL_TILE_ROWS - 1) / STOWI_KERNEL_TILE_ROWS;
  size_t column_tiles = (gemm->n + STOWI_KERNEL_TILE_COLUMNS - 1) / STOWI_KERNEL_TILE_COLUMNS;
  division d = {*gemm, scratch, scratch_of(gemm), row_tiles > column_tiles};
  size_t count = d.by_rows ? row_tiles : column_tiles;
  double work = (double)gemm->m * (double)gemm->n * (double)gemm->k / (double)count;
  size_t least = work >= WORK ? 1 : (size_t)(WORK / stowi_kernel_larger(1, (size_t)work));
  size_t share = (count + call->workers - 1) / call->workers;
  stow_kernel_split(call, count, stowi_kernel_larger(share, least), multiply_part, &d);
}
