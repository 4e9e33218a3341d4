// A tile of c has a chain's sums, which take a few steps of k at a time (gemm_tile.h), or all steps
// at once where both factors are read where they are. What is copied of b serves all rows of the
// tile, so that converting it or looking for it in an image costs a sixth of the products.
#include "exec/kernels/matrix/lean.h"

#include <string.h>

#include "exec/kernels/matrix/gemm_tile.h"
#include "exec/kernels/support/size.h"

enum {
  COLUMNS = STOWI_KERNEL_LEAN_COLUMNS,
  TILE = 6 * COLUMNS,      // floats in a tile
  OWN_TILE = 4 * COLUMNS,  // the same, where tiles are in scratch
  STEPS = 4,               // of k that are copied at a time, of both factors
  COPIED = 4 * COLUMNS,    // floats that are copied at a time, of b alone, unless more are wanted
  SCATTERED = 64,          // steps that they are for, at most
  WORK = 1 << 16,          // multiplications that make a worker worth waking
};

typedef struct room {
  float* sums;
  float* tile;
  float* a;
  float* b;
  size_t b_floats;
  size_t floats;  // in all
} room;

// Of a tile with |columns|: narrow ones are higher, so that copies of b serve more rows, unless
// there would be more to copy of a.
static size_t tile_rows(const stowi_kernel_lean* p, size_t columns) {
  size_t floats = p->c == NULL ? OWN_TILE : TILE;
  bool is_narrow = p->a_is_there && columns != 0 && columns < COLUMNS;
  size_t rows = floats / (is_narrow ? columns : COLUMNS);
  return rows <= STOWI_KERNEL_TILE_ROWS ? rows
                                        : rows / STOWI_KERNEL_TILE_ROWS * STOWI_KERNEL_TILE_ROWS;
}

static size_t copied_of(const stowi_kernel_lean* p) {
  return p->a_is_there ? stowi_kernel_larger(p->copied, COPIED) : COPIED;
}

// Of k, at a time, for a tile of |columns|.
static size_t steps_of(const stowi_kernel_lean* p, size_t columns) {
  if (p->a_is_there) {
    return p->b_is_there       ? STOWI_KERNEL_GEMM_CHAIN
           : p->b_rows != NULL ? SCATTERED
                               : copied_of(p) / stowi_kernel_larger(columns, 1);
  }
  return p->b_is_there ? STOWI_KERNEL_LEAN_STEPS : STEPS;
}

static float* take(room* r, float* base, size_t count) {
  float* at = base == NULL || count == 0 ? NULL : base + r->floats;
  r->floats += count;
  return at;
}

// Sums are apart from the tile unless there is but one chain, which is added to nothing, or all
// steps of a chain are at hand.
static room room_of(const stowi_kernel_lean* p, float* base) {
  size_t columns = stowi_kernel_smaller(p->n, COLUMNS);
  size_t rows = stowi_kernel_smaller(p->m, tile_rows(p, columns));
  size_t most = p->c == NULL ? OWN_TILE : TILE;
  size_t tile = p->a_is_there ? stowi_kernel_smaller(p->m * columns, most) : rows * columns;
  size_t steps = stowi_kernel_smaller(p->k, STOWI_KERNEL_LEAN_STEPS);
  size_t copied = p->a_is_there ? stowi_kernel_smaller(columns * p->k, copied_of(p))
                                : columns * stowi_kernel_smaller(p->k, STEPS);
  bool is_whole = p->a_is_there && p->b_is_there;
  bool has_sums = !is_whole && (p->k > STOWI_KERNEL_GEMM_CHAIN || p->begin != NULL);
  room r = {.b_floats = copied};
  r.sums = take(&r, base, has_sums ? tile : 0);
  r.tile = take(&r, base, p->c == NULL ? tile : 0);
  r.a =
      take(&r, base,
           p->a_is_there ? 0 : rows * (p->b_is_there ? steps : stowi_kernel_smaller(steps, STEPS)));
  r.b = take(&r, base, p->b_is_there ? 0 : copied);
  return r;
}

uint64_t stowi_kernel_lean_scratch(const stowi_kernel_lean* p) {
  return stowi_kernel_align64(room_of(p, NULL).floats * sizeof(float));
}

static size_t divide_up(size_t a, size_t b) { return (a + b - 1) / b; }

size_t stowi_kernel_lean_tiles(const stowi_kernel_lean* p) {
  return divide_up(p->m, tile_rows(p, p->n)) * divide_up(p->n, COLUMNS);
}

size_t stowi_kernel_lean_grain(const stowi_kernel_lean* p) {
  return WORK / TILE / stowi_kernel_larger(p->k, 1) + 1;
}

static void load_a(const stowi_kernel_lean* p, const stowi_kernel_block* of, const room* r,
                   stowi_kernel_tile_factors* f) {
  if (p->a_packed != NULL) {
    f->a = p->a_packed + of->row * p->k;
    f->a_steps = p->k;
    f->a_first = of->column;
    return;
  }
  f->a_row = of->columns;
  f->a = p->a(p->user, of, r->a, &f->a_row);
}

// Steps of b from of->row on, and how many they are: as many as |of| has, if not all have room.
static size_t load_b(const stowi_kernel_lean* p, const stowi_kernel_block* of, const room* r,
                     uint32_t* at, stowi_kernel_tile_factors* f) {
  if (p->b_rows != NULL) {
    f->b = r->b;
    f->b_at = at;
    return p->b_rows(p->user, of, r->b, r->b_floats, at);
  }
  f->b_step = of->columns;
  f->b = p->b(p->user, of, r->b, &f->b_step);
  return of->rows;
}

// The chain of steps [begin, end), in |to|; |mode| is that of its first steps.
static void sum_chain(const stowi_kernel_lean* p, const stowi_kernel_tiles* tiles,
                      const stowi_kernel_block* t, size_t begin, size_t end, const room* r,
                      float* to, size_t to_row, stowi_kernel_tile_mode mode) {
  uint32_t at[SCATTERED];
  size_t most = steps_of(p, t->columns);
  for (size_t step = begin; step < end;) {
    stowi_kernel_tile_factors f = {.a_step = 1};
    stowi_kernel_block of_b = {step, stowi_kernel_smaller(end - step, most), t->column, t->columns};
    size_t steps = load_b(p, &of_b, r, at, &f);
    load_a(p, &(stowi_kernel_block){t->row, t->rows, step, steps}, r, &f);
    stowi_kernel_tiles_run(tiles, t->rows, t->columns, steps, &f, to, to_row, mode);
    mode = STOWI_KERNEL_TILE_GO_ON;
    step += steps;
  }
}

static void add_sums(const stowi_kernel_block* t, const float* sums, float* to, size_t to_row) {
  for (size_t i = 0; i < t->rows; ++i) {
    for (size_t j = 0; j < t->columns; ++j) {
      to[i * to_row + j] += sums[i * t->columns + j];
    }
  }
}

static void make_tile(const stowi_kernel_lean* p, const stowi_kernel_tiles* tiles,
                      const stowi_kernel_block* t, const room* r) {
  float* to = p->c == NULL ? r->tile : p->c + t->row * p->c_row + t->column;
  size_t to_row = p->c == NULL ? t->columns : p->c_row;
  bool is_begun = p->begin != NULL && p->begin(p->user, t, to, to_row);
  for (size_t i = 0; i < t->rows && p->k == 0 && !is_begun; ++i) {
    memset(to + i * to_row, 0, t->columns * sizeof(float));
  }
  for (size_t step = 0; step < p->k; step += STOWI_KERNEL_GEMM_CHAIN) {
    size_t end = step + stowi_kernel_smaller(p->k - step, STOWI_KERNEL_GEMM_CHAIN);
    if (!is_begun) {
      sum_chain(p, tiles, t, step, end, r, to, to_row, STOWI_KERNEL_TILE_SET);
    } else if (p->a_is_there && p->b_is_there) {
      sum_chain(p, tiles, t, step, end, r, to, to_row, STOWI_KERNEL_TILE_ADD);
    } else {
      sum_chain(p, tiles, t, step, end, r, r->sums, t->columns, STOWI_KERNEL_TILE_SET);
      add_sums(t, r->sums, to, to_row);
    }
    is_begun = true;
  }
  if (p->finish != NULL) {
    p->finish(p->user, t, to, to_row);
  }
}

// A single chain that is added to nothing: its sums are in c all the time, so that what is copied
// of b serves all rows.
static void make_chain(const stowi_kernel_lean* p, const stowi_kernel_tiles* tiles,
                       const stowi_kernel_block* block, const room* r) {
  float* to = p->c + block->row * p->c_row + block->column;
  sum_chain(p, tiles, block, 0, p->k, r, to, p->c_row, STOWI_KERNEL_TILE_SET);
  if (p->finish != NULL) {
    p->finish(p->user, block, to, p->c_row);
  }
}

void stowi_kernel_lean_block(const stowi_kernel_lean* p, const stowi_kernel_block* block,
                             void* scratch) {
  const stowi_kernel_tiles* tiles = stowi_kernel_tiles_best();
  room r = room_of(p, scratch);
  if (p->a_is_there && p->c != NULL && p->begin == NULL && p->k != 0 &&
      p->k <= STOWI_KERNEL_GEMM_CHAIN) {
    make_chain(p, tiles, block, &r);
    return;
  }
  size_t rows = tile_rows(p, block->columns);
  for (size_t done = 0; done < block->rows; done += rows) {
    stowi_kernel_block t = *block;
    t.row += done;
    t.rows = stowi_kernel_smaller(block->rows - done, rows);
    make_tile(p, tiles, &t, &r);
  }
}

// Tiles of the same columns follow each other.
void stowi_kernel_lean_run(const stowi_kernel_lean* p, size_t begin, size_t end, void* scratch) {
  size_t high = tile_rows(p, p->n);
  size_t rows = divide_up(p->m, high);
  while (begin < end) {
    size_t count = stowi_kernel_smaller(end - begin, rows - begin % rows);
    stowi_kernel_block b = {.row = begin % rows * high, .column = begin / rows * COLUMNS};
    b.rows = stowi_kernel_smaller(p->m - b.row, count * high);
    b.columns = stowi_kernel_smaller(p->n - b.column, COLUMNS);
    stowi_kernel_lean_block(p, &b, scratch);
    begin += count;
  }
}
