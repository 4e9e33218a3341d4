// A tile of c has a chain's sums, which take a few steps of k at a time (gemm_tile.h), or all steps
// at once where both factors are read where they are. What is copied of b serves all rows of the
// tile, so that converting it or looking for it in an image costs an eighth of the products.
#include "exec/kernels/matrix/lean.h"

#include <string.h>

#include "exec/kernels/matrix/gemm_tile.h"
#include "exec/kernels/support/size.h"

enum {
  ROWS = 8,      // of a tile
  OWN_ROWS = 4,  // the same, where tiles are in scratch
  COLUMNS = STOWI_KERNEL_LEAN_COLUMNS,
  STEPS = 4,                 // of k that are copied at a time, of both factors
  COPIED = STEPS * COLUMNS,  // floats that are copied at a time, of b alone
  WORK = 1 << 16,            // multiplications that make a worker worth waking
};

typedef struct room {
  float* sums;
  float* tile;
  float* a;
  float* b;
  size_t floats;
} room;

static size_t tile_rows(const stowi_kernel_lean* p) { return p->c == NULL ? OWN_ROWS : ROWS; }

// Of k, at a time, for a tile of |columns|.
static size_t steps_of(const stowi_kernel_lean* p, size_t columns) {
  if (p->a_is_there) {
    return p->b_is_there ? STOWI_KERNEL_GEMM_CHAIN : COPIED / stowi_kernel_larger(columns, 1);
  }
  return p->b_is_there ? STOWI_KERNEL_LEAN_STEPS : STEPS;
}

static float* take(room* r, float* base, size_t count) {
  float* at = base == NULL || count == 0 ? NULL : base + r->floats;
  r->floats += count;
  return at;
}

// Sums are apart from the tile unless there is but one chain, which is added to nothing, or chains
// are made in one go.
static room room_of(const stowi_kernel_lean* p, float* base) {
  size_t rows = stowi_kernel_smaller(p->m, tile_rows(p));
  size_t columns = stowi_kernel_smaller(p->n, COLUMNS);
  size_t steps = stowi_kernel_smaller(p->k, steps_of(p, columns));
  bool has_sums = p->k > steps && (p->k > STOWI_KERNEL_GEMM_CHAIN || p->begin != NULL) &&
                  !(p->a_is_there && p->b_is_there);
  room r = {0};
  r.sums = take(&r, base, has_sums ? rows * columns : 0);
  r.tile = take(&r, base, p->c == NULL ? rows * columns : 0);
  r.a = take(&r, base, p->a_is_there ? 0 : rows * steps);
  size_t copied = p->a_is_there ? stowi_kernel_smaller(columns * p->k, COPIED) : columns * steps;
  r.b = take(&r, base, p->b_is_there ? 0 : copied);
  return r;
}

uint64_t stowi_kernel_lean_scratch(const stowi_kernel_lean* p) {
  return stowi_kernel_align64(room_of(p, NULL).floats * sizeof(float));
}

static size_t divide_up(size_t a, size_t b) { return (a + b - 1) / b; }

size_t stowi_kernel_lean_tiles(const stowi_kernel_lean* p) {
  return divide_up(p->m, tile_rows(p)) * divide_up(p->n, COLUMNS);
}

size_t stowi_kernel_lean_grain(const stowi_kernel_lean* p) {
  return WORK / (COLUMNS * ROWS) / stowi_kernel_larger(p->k, 1) + 1;
}

// The chain of steps [begin, end), in |to|; |mode| is that of its first steps.
static void sum_chain(const stowi_kernel_lean* p, const stowi_kernel_tiles* tiles,
                      const stowi_kernel_block* t, size_t begin, size_t end, const room* r,
                      float* to, size_t to_row, stowi_kernel_tile_mode mode) {
  size_t most = steps_of(p, t->columns);
  for (size_t step = begin; step < end; step += most) {
    size_t steps = stowi_kernel_smaller(end - step, most);
    size_t a_row = steps;
    size_t b_row = t->columns;
    stowi_kernel_block of_a = {t->row, t->rows, step, steps};
    stowi_kernel_block of_b = {step, steps, t->column, t->columns};
    stowi_kernel_tile_factors f = {.a_step = 1};
    f.a = p->a(p->user, &of_a, r->a, &a_row);
    f.b = p->b(p->user, &of_b, r->b, &b_row);
    f.a_row = a_row;
    f.b_step = b_row;
    stowi_kernel_tiles_run(tiles, t->rows, t->columns, steps, &f, to, to_row, mode);
    mode = STOWI_KERNEL_TILE_GO_ON;
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
    } else if (end - step <= steps_of(p, t->columns)) {
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
  for (size_t done = 0; done < block->rows; done += tile_rows(p)) {
    stowi_kernel_block t = *block;
    t.row += done;
    t.rows = stowi_kernel_smaller(block->rows - done, tile_rows(p));
    make_tile(p, tiles, &t, &r);
  }
}

// Tiles of the same columns follow each other.
void stowi_kernel_lean_run(const stowi_kernel_lean* p, size_t begin, size_t end, void* scratch) {
  size_t rows = divide_up(p->m, tile_rows(p));
  while (begin < end) {
    size_t count = stowi_kernel_smaller(end - begin, rows - begin % rows);
    stowi_kernel_block b = {.row = begin % rows * tile_rows(p), .column = begin / rows * COLUMNS};
    b.rows = stowi_kernel_smaller(p->m - b.row, count * tile_rows(p));
    b.columns = stowi_kernel_smaller(p->n - b.column, COLUMNS);
    stowi_kernel_lean_block(p, &b, scratch);
    begin += count;
  }
}
