// Products of matrices of bytes: the blocking around tiles. A product of bytes as they are differs
// from one of numbers less their zero points by the sums of rows and columns:
//
//     Σ (a - x)·(b - y) = Σ a·b - x·(Σ b - k·y) - y·Σ a
//
// so that bytes are read where they are. Only a second factor that is not packed and a first one
// whose rows are not contiguous are copied, block by block.
#include "exec/kernels/matrix/integer_gemm.h"

#include <string.h>

#include "exec/kernels/support/carve.h"
#include "exec/kernels/support/size.h"
#include "exec/kernels/support/vector.h"

enum {
  COLUMNS = STOWI_KERNEL_INTEGER_COLUMNS,
  DEPTH = 1024,     // steps of k in a block
  ROWS = 128,       // rows of a in a block
  STREAM_ROWS = 2,  // products of so few rows are not packed
  LEAN_DEPTH = 64,  // steps in a block without scratch
  LEAN_ROWS = STOWI_KERNEL_INTEGER_ROWS,
  POINTERS = 64,  // to rows of b
  ONES = 512,
};

// Where copies go, and how large blocks are.
typedef struct rooms {
  uint8_t* a;
  uint8_t* b;
  size_t rows, depth;
} rooms;

static size_t grouped(size_t k) {
  return stowi_kernel_integer_groups(k) * STOWI_KERNEL_INTEGER_GROUP;
}

static bool is_in_place(const stowi_kernel_integer_gemm* g) { return g->a.column == 1; }

static uint64_t a_room(const stowi_kernel_integer_gemm* g) {
  uint64_t bytes = stowi_kernel_smaller(g->m, ROWS) * grouped(stowi_kernel_smaller(g->k, DEPTH));
  return is_in_place(g) ? 0 : stowi_kernel_align64(bytes);
}

uint64_t stowi_kernel_integer_gemm_scratch(const stowi_kernel_integer_gemm* gemm) {
  uint64_t b = grouped(stowi_kernel_smaller(gemm->k, DEPTH)) * COLUMNS;
  return a_room(gemm) + (gemm->packed.steps != 0 ? 0 : stowi_kernel_align64(b));
}

// ---------------------------------------------------------------------------------------------
// Packing

static void flip_group(uint8_t* group, uint8_t flip) {
  for (size_t q = 0; q < STOWI_KERNEL_INTEGER_GROUP; ++q) {
    group[q] ^= flip;
  }
}

static void pack_any(const stowi_kernel_bytes* b, size_t step, size_t steps, size_t column,
                     size_t columns, size_t width, uint8_t flip, uint8_t* out) {
  for (size_t p = 0; p < steps; p += STOWI_KERNEL_INTEGER_GROUP) {
    for (size_t j = 0; j < width; ++j, out += STOWI_KERNEL_INTEGER_GROUP) {
      size_t count = j < columns ? stowi_kernel_smaller(steps - p, STOWI_KERNEL_INTEGER_GROUP) : 0;
      memset(out, 0, STOWI_KERNEL_INTEGER_GROUP);
      if (b->row == 1 && count == STOWI_KERNEL_INTEGER_GROUP) {
        memcpy(out, (const uint8_t*)b->data + (column + j) * b->column + step + p,
               STOWI_KERNEL_INTEGER_GROUP);
        flip_group(out, flip);
        continue;
      }
      for (size_t q = 0; q < count; ++q) {
        out[q] = (uint8_t)stowi_kernel_byte_at(b, step + p + q, column + j) ^ flip;
      }
    }
  }
}

// |width| is |columns|, whose numbers follow each other. |groups| are whole.
static void pack_rows(const stowi_kernel_integer_tiles* tiles, const stowi_kernel_bytes* b,
                      size_t step, size_t groups, size_t column, size_t width, uint8_t flip,
                      uint8_t* out) {
  const uint8_t* from = (const uint8_t*)b->data + step * b->row + column;
  for (size_t done = 0; done < groups; done += POINTERS / STOWI_KERNEL_INTEGER_GROUP) {
    const uint8_t* rows[POINTERS];
    size_t count = stowi_kernel_smaller(groups - done, POINTERS / STOWI_KERNEL_INTEGER_GROUP);
    for (size_t p = 0; p < count * STOWI_KERNEL_INTEGER_GROUP; ++p) {
      rows[p] = from + (done * STOWI_KERNEL_INTEGER_GROUP + p) * b->row;
    }
    tiles->pack(count, rows, width, flip, out + done * width * STOWI_KERNEL_INTEGER_GROUP);
  }
}

static void pack_panel(const stowi_kernel_integer_tiles* tiles, const stowi_kernel_bytes* b,
                       size_t step, size_t steps, size_t column, size_t columns, uint8_t* out) {
  size_t width = stowi_kernel_integer_width(columns);
  uint8_t flip = b->is_signed ? 0 : 0x80;
  size_t done = 0;
  if (columns == width && b->column == 1) {
    size_t groups = steps / STOWI_KERNEL_INTEGER_GROUP;
    pack_rows(tiles, b, step, groups, column, width, flip, out);
    done = groups * STOWI_KERNEL_INTEGER_GROUP;
  }
  pack_any(b, step + done, steps - done, column, columns, width, flip, out + done * width);
}

uint64_t stowi_kernel_integer_pack_size(size_t k, size_t n) {
  size_t rest = n % COLUMNS;
  uint64_t columns = n - rest + stowi_kernel_integer_width(rest);
  return stowi_kernel_times(columns, grouped(k));
}

void stowi_kernel_integer_pack(const stowi_kernel_bytes* b, size_t k, size_t n, void* out) {
  const stowi_kernel_integer_tiles* tiles = stowi_kernel_integer_tiles_best();
  for (size_t column = 0; column < n; column += COLUMNS) {
    pack_panel(tiles, b, 0, k, column, stowi_kernel_smaller(n - column, COLUMNS),
               (uint8_t*)out + column * grouped(k));
  }
}

static void copy_rows(const stowi_kernel_integer_gemm* g, size_t row, size_t rows, size_t step,
                      size_t steps, uint8_t* out) {
  for (size_t i = 0; i < rows; ++i, out += grouped(steps)) {
    for (size_t p = 0; p < steps; ++p) {
      out[p] = (uint8_t)stowi_kernel_byte_at(&g->a, row + i, step + p);
    }
    memset(out + steps, 0, grouped(steps) - steps);
  }
}

// ---------------------------------------------------------------------------------------------
// Zero points

STOWI_KERNEL_LOOP(correct,
                  (size_t rows, size_t columns, const stowi_kernel_integer_zeros* z, int32_t* c,
                   size_t c_row),
                  (rows, columns, z, c, c_row)) {
  for (size_t i = 0; i < rows; ++i) {
    uint32_t* to = (uint32_t*)(void*)(c + i * c_row);
    uint32_t zero = (uint32_t)z->a_zero[i];
    uint32_t sum = z->a_sums[i];
    const uint32_t* b_zero = (const uint32_t*)(const void*)z->b_zero;
    const uint32_t* b_sums = z->b_sums;
    if (sum == 0) {
      STOWI_KERNEL_INDEPENDENT
      for (size_t j = 0; j < columns; ++j) {
        to[j] -= zero * b_sums[j];
      }
      continue;
    }
    STOWI_KERNEL_INDEPENDENT
    for (size_t j = 0; j < columns; ++j) {
      to[j] -= zero * b_sums[j] + sum * b_zero[j];
    }
  }
}

void stowi_kernel_integer_correct(size_t rows, size_t columns, const stowi_kernel_integer_zeros* z,
                                  int32_t* c, size_t c_row) {
  correct(rows, columns, z, c, c_row);
}

STOWI_KERNEL_LOOP(sum_bytes, (const uint8_t* from, size_t count, uint8_t flip, uint32_t* out),
                  (from, count, flip, out)) {
  uint32_t sum = 0;
  for (size_t p = 0; p < count; ++p) {
    sum += (uint32_t)(from[p] ^ flip);
  }
  *out = sum;
}

uint32_t stowi_kernel_integer_row_sum(const uint8_t* from, size_t count, uint8_t flip) {
  uint32_t sum;
  sum_bytes(from, count, flip, &sum);
  return sum;
}

// As a product with ones.
void stowi_kernel_integer_column_sums(const stowi_kernel_integer_tiles* tiles, const uint8_t* panel,
                                      size_t groups, size_t width, int32_t* out) {
  uint8_t ones[ONES];
  memset(ones, 1, stowi_kernel_smaller(groups * STOWI_KERNEL_INTEGER_GROUP, ONES));
  for (size_t done = 0; done < groups || done == 0; done += ONES / STOWI_KERNEL_INTEGER_GROUP) {
    stowi_kernel_integer_tile t = {
        .rows = 1,
        .groups = stowi_kernel_smaller(groups - done, ONES / STOWI_KERNEL_INTEGER_GROUP),
        .a = ones,
        .b = panel + done * width * STOWI_KERNEL_INTEGER_GROUP,
        .width = width,
        .c = out,
        .accumulate = done != 0};
    tiles->tile(&t);
  }
}

// ---------------------------------------------------------------------------------------------
// Tiles

// The last steps are copied where they are not a group.
static void run_tile(const stowi_kernel_integer_tiles* tiles, stowi_kernel_integer_tile t,
                     size_t k) {
  uint8_t rest[STOWI_KERNEL_INTEGER_ROWS * STOWI_KERNEL_INTEGER_GROUP] = {0};
  size_t whole = k / STOWI_KERNEL_INTEGER_GROUP;
  size_t left = k % STOWI_KERNEL_INTEGER_GROUP;
  t.groups = whole;
  if (whole != 0 || left == 0) {
    tiles->tile(&t);
  }
  if (left != 0) {
    for (size_t i = 0; i < t.rows; ++i) {
      memcpy(rest + i * STOWI_KERNEL_INTEGER_GROUP,
             t.a + i * t.a_row + whole * STOWI_KERNEL_INTEGER_GROUP, left);
    }
    t.a = rest;
    t.a_row = STOWI_KERNEL_INTEGER_GROUP;
    t.b += whole * STOWI_KERNEL_INTEGER_GROUP * t.width;
    t.groups = 1;
    t.accumulate = t.accumulate || whole != 0;
    tiles->tile(&t);
  }
}

// A panel of which c has not all columns.
static void run_edge(const stowi_kernel_integer_tiles* tiles, stowi_kernel_integer_tile t, size_t k,
                     size_t columns) {
  int32_t whole[STOWI_KERNEL_INTEGER_ROWS * COLUMNS];
  int32_t* c = t.c;
  size_t c_row = t.c_row;
  bool accumulate = t.accumulate;
  t.c = whole;
  t.c_row = t.width;
  t.accumulate = false;
  run_tile(tiles, t, k);
  for (size_t i = 0; i < t.rows; ++i) {
    for (size_t j = 0; j < columns; ++j) {
      uint32_t before = accumulate ? (uint32_t)c[i * c_row + j] : 0;
      c[i * c_row + j] = (int32_t)(before + (uint32_t)whole[i * t.width + j]);
    }
  }
}

void stowi_kernel_integer_rows(const stowi_kernel_integer_tiles* tiles,
                               const stowi_kernel_integer_tile* all, size_t k, size_t columns) {
  for (size_t i = 0; i < all->rows;) {
    stowi_kernel_integer_tile t = *all;
    t.rows = stowi_kernel_integer_height(tiles, all->rows - i);
    t.a += i * t.a_row;
    t.c += i * t.c_row;
    if (columns == t.width) {
      run_tile(tiles, t, k);
    } else {
      run_edge(tiles, t, k, columns);
    }
    i += t.rows;
  }
}

// ---------------------------------------------------------------------------------------------
// Blocks

// Rows of a and steps of k.
typedef struct block {
  size_t row, rows;
  size_t step, steps;
  const uint8_t* a;
  size_t a_row;
  bool has_a_zeros;
  int32_t* a_zero;
  uint32_t* a_sums;
  uint8_t* pair;                                    // a row that is alone, and one of ones
  uint32_t room[2 + 2 * DEPTH / sizeof(uint32_t)];  // of these, or zeros and sums of ROWS rows
} block;

static int32_t zero_at(const int32_t* zero, size_t step, size_t i) {
  return zero != NULL ? zero[i * step] : 0;
}

// As tiles see a and b.
static int32_t a_zero_at(const stowi_kernel_integer_gemm* g, size_t i) {
  return zero_at(g->a_zero, g->a_zero_step, i) + (g->a.is_signed ? 128 : 0);
}

static int32_t b_zero_at(const stowi_kernel_integer_gemm* g, size_t j) {
  return zero_at(g->b_zero, g->b_zero_step, j) - (g->b.is_signed ? 0 : 128);
}

static bool has_b_zeros(const stowi_kernel_integer_gemm* g) {
  size_t count = g->b_zero == NULL || g->b_zero_step == 0 ? 1 : g->n;
  bool has = false;
  for (size_t j = 0; j < count; ++j) {
    has = has || b_zero_at(g, j) != 0;
  }
  return has;
}

static uint8_t flip_of(const stowi_kernel_integer_gemm* g) { return g->a.is_signed ? 0x80 : 0; }

static void begin_block(const stowi_kernel_integer_gemm* g, bool has_zeros, const rooms* r,
                        block* out) {
  if (is_in_place(g)) {
    out->a = (const uint8_t*)g->a.data + out->row * g->a.row + out->step;
    out->a_row = g->a.row;
  } else {
    copy_rows(g, out->row, out->rows, out->step, out->steps, r->a);
    out->a = r->a;
    out->a_row = grouped(out->steps);
  }
  out->has_a_zeros = false;
  out->a_zero = (int32_t*)(void*)out->room;
  out->a_sums = out->room + out->rows;
  out->pair = (uint8_t*)(out->room + 2 * out->rows);
  for (size_t i = 0; i < out->rows; ++i) {
    out->a_zero[i] = a_zero_at(g, out->row + i);
    out->has_a_zeros = out->has_a_zeros || out->a_zero[i] != 0;
    out->a_sums[i] =
        has_zeros ? stowi_kernel_integer_row_sum(out->a + i * out->a_row, out->steps, flip_of(g))
                  : 0;
  }
  if (out->rows == 1 && out->has_a_zeros) {
    memset(out->pair, 0, grouped(out->steps));
    memcpy(out->pair, out->a, out->steps);
    memset(out->pair + DEPTH, 1 ^ flip_of(g), grouped(out->steps));
  }
}

static const uint8_t* panel_at(const stowi_kernel_integer_tiles* tiles,
                               const stowi_kernel_integer_gemm* g, const block* k, size_t column,
                               size_t columns, const rooms* r, size_t* out_width) {
  if (g->packed.steps == 0) {
    *out_width = stowi_kernel_integer_width(columns);
    pack_panel(tiles, &g->b, k->step, k->steps, column, columns, r->b);
    return r->b;
  }
  *out_width = stowi_kernel_integer_width(g->packed.columns - column);
  return (const uint8_t*)g->b.data + column * grouped(g->packed.steps) +
         (g->packed.step + k->step) * *out_width;
}

// One row, and one of ones, whose product is the sums of columns: b is read once.
static void multiply_row(const stowi_kernel_integer_tiles* tiles, const block* k,
                         const stowi_kernel_integer_tile* all, size_t columns, int32_t* sums) {
  int32_t both[2 * COLUMNS];
  stowi_kernel_integer_tile t = *all;
  t.rows = 2;
  t.a = k->pair;
  t.a_row = DEPTH;
  t.c = both;
  t.c_row = t.width;
  t.groups = stowi_kernel_integer_groups(k->steps);
  t.accumulate = false;
  tiles->tile(&t);
  for (size_t j = 0; j < columns; ++j) {
    uint32_t before = all->accumulate ? (uint32_t)all->c[j] : 0;
    all->c[j] = (int32_t)(before + (uint32_t)both[j]);
    sums[j] = both[all->width + j];
  }
}

static void multiply_panel(const stowi_kernel_integer_tiles* tiles,
                           const stowi_kernel_integer_gemm* g, const block* k, size_t column,
                           const rooms* r) {
  size_t width;
  size_t columns = stowi_kernel_smaller(g->n - column, COLUMNS);
  const uint8_t* b = panel_at(tiles, g, k, column, columns, r, &width);
  int32_t b_zero[COLUMNS];
  int32_t sums[COLUMNS] = {0};
  uint32_t b_sums[COLUMNS];
  bool has_zeros = k->has_a_zeros;
  stowi_kernel_integer_tile all = {.rows = k->rows,
                                   .a = k->a,
                                   .a_row = k->a_row,
                                   .flip = flip_of(g),
                                   .b = b,
                                   .width = width,
                                   .c = g->c + k->row * g->c_row + column,
                                   .c_row = g->c_row,
                                   .accumulate = g->accumulate || k->step != 0};
  if (k->rows == 1 && k->has_a_zeros) {
    multiply_row(tiles, k, &all, columns, sums);
  } else {
    if (k->has_a_zeros) {
      stowi_kernel_integer_column_sums(tiles, b, stowi_kernel_integer_groups(k->steps), width,
                                       sums);
    }
    stowi_kernel_integer_rows(tiles, &all, k->steps, columns);
  }
  for (size_t j = 0; j < columns; ++j) {
    b_zero[j] = b_zero_at(g, column + j);
    b_sums[j] = (uint32_t)sums[j] - (uint32_t)k->steps * (uint32_t)b_zero[j];
    has_zeros = has_zeros || b_zero[j] != 0;
  }
  if (has_zeros) {
    stowi_kernel_integer_zeros z = {k->a_zero, k->a_sums, b_zero, b_sums};
    correct(k->rows, columns, &z, all.c, all.c_row);
  }
}

static void multiply(const stowi_kernel_integer_tiles* tiles, const stowi_kernel_integer_gemm* g,
                     const rooms* r) {
  bool has_zeros = has_b_zeros(g);
  for (size_t step = 0; step < g->k; step += r->depth) {
    for (size_t row = 0; row < g->m; row += r->rows) {
      block k;
      k.row = row;
      k.rows = stowi_kernel_smaller(g->m - row, r->rows);
      k.step = step;
      k.steps = stowi_kernel_smaller(g->k - step, r->depth);
      begin_block(g, has_zeros, r, &k);
      for (size_t column = 0; column < g->n; column += COLUMNS) {
        multiply_panel(tiles, g, &k, column, r);
      }
    }
  }
}

// Small blocks, on the stack.
static void multiply_lean(const stowi_kernel_integer_tiles* tiles,
                          const stowi_kernel_integer_gemm* g) {
  uint8_t a[LEAN_ROWS * LEAN_DEPTH];
  _Alignas(64) uint8_t b[LEAN_DEPTH * COLUMNS];
  bool copies = !is_in_place(g) || g->packed.steps == 0;
  rooms r = {a, b, is_in_place(g) ? ROWS : LEAN_ROWS, copies ? LEAN_DEPTH : DEPTH};
  multiply(tiles, g, &r);
}

void stowi_kernel_integer_gemm_by(const stowi_kernel_integer_tiles* tiles,
                                  const stowi_kernel_integer_gemm* gemm, void* scratch) {
  bool streams = gemm->m <= STREAM_ROWS && gemm->b.column == 1 && gemm->packed.steps == 0;
  for (size_t i = 0; i < gemm->m && (streams || gemm->k == 0) && !gemm->accumulate; ++i) {
    memset(gemm->c + i * gemm->c_row, 0, gemm->n * sizeof(int32_t));
  }
  if (streams) {
    stowi_kernel_integer_stream(gemm);
  } else if (scratch == NULL) {
    multiply_lean(tiles, gemm);
  } else {
    rooms r = {scratch, (uint8_t*)scratch + a_room(gemm), ROWS, DEPTH};
    multiply(tiles, gemm, &r);
  }
}

void stowi_kernel_integer_gemm_alone(const stowi_kernel_integer_gemm* gemm, void* scratch) {
  stowi_kernel_integer_gemm_by(stowi_kernel_integer_tiles_best(), gemm, scratch);
}

void stowi_kernel_integer_gemm_lean(const stowi_kernel_integer_gemm* gemm) {
  stowi_kernel_integer_gemm_by(stowi_kernel_integer_tiles_best(), gemm, NULL);
}
