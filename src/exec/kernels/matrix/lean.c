// A tile of c has a chain's sums, which take a few steps of k at a time: rows of b stream past them
// (gemm_tile.h). What is read of b serves all rows of the tile, so that copying it, converting it
// or looking for it in an image costs an eighth of the products.
#include "exec/kernels/matrix/lean.h"

#include <string.h>

#include "exec/kernels/matrix/gemm_tile.h"
#include "exec/kernels/support/size.h"

enum {
  ROWS = 8,        // of a tile
  OWN_ROWS = 4,    // the same, where tiles are in scratch
  COLUMNS = 32,    // of a tile
  STEPS = 4,       // of k that are copied at a time; STOWI_KERNEL_LEAN_STEPS if b never is
  WORK = 1 << 16,  // multiplications that make a worker worth waking
};

typedef struct room {
  float* sums;
  float* tile;
  float* a;
  float* b;
  size_t floats;
} room;

static size_t tile_rows(const stowi_kernel_lean* p) { return p->c == NULL ? OWN_ROWS : ROWS; }

static size_t steps_of(const stowi_kernel_lean* p) {
  return p->b_is_there ? STOWI_KERNEL_LEAN_STEPS : STEPS;
}

static float* take(room* r, float* base, size_t count) {
  float* at = base == NULL || count == 0 ? NULL : base + r->floats;
  r->floats += count;
  return at;
}

// Sums are apart from the tile unless there is but one chain, which is added to nothing.
static room room_of(const stowi_kernel_lean* p, float* base) {
  size_t rows = stowi_kernel_smaller(p->m, tile_rows(p));
  size_t columns = stowi_kernel_smaller(p->n, COLUMNS);
  size_t steps = stowi_kernel_smaller(p->k, steps_of(p));
  bool has_sums = p->k > STOWI_KERNEL_GEMM_CHAIN || p->begin != NULL;
  room r = {0};
  r.sums = take(&r, base, has_sums ? rows * columns : 0);
  r.tile = take(&r, base, p->c == NULL ? rows * columns : 0);
  r.a = take(&r, base, p->a_is_there ? 0 : rows * steps);
  r.b = take(&r, base, p->b_is_there ? 0 : columns * steps);
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

// The chain of steps [begin, end), in |to|.
static void sum_chain(const stowi_kernel_lean* p, const stowi_kernel_tiles* tiles,
                      const stowi_kernel_block* t, size_t begin, size_t end, const room* r,
                      float* to, size_t to_row) {
  size_t most = steps_of(p);
  for (size_t step = begin; step < end; step += most) {
    size_t steps = stowi_kernel_smaller(end - step, most);
    size_t a_row = steps;
    size_t b_row = t->columns;
    stowi_kernel_block of_a = {t->row, t->rows, step, steps};
    stowi_kernel_block of_b = {step, steps, t->column, t->columns};
    const float* a = p->a(p->user, &of_a, r->a, &a_row);
    const float* b = p->b(p->user, &of_b, r->b, &b_row);
    for (size_t i = 0; i < t->rows; ++i) {
      tiles->stream(t->columns, steps, a + i * a_row, b, b_row, to + i * to_row, step != begin);
    }
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
      sum_chain(p, tiles, t, step, end, r, to, to_row);
    } else {
      sum_chain(p, tiles, t, step, end, r, r->sums, t->columns);
      add_sums(t, r->sums, to, to_row);
    }
    is_begun = true;
  }
  if (p->finish != NULL) {
    p->finish(p->user, t, to, to_row);
  }
}

// Tiles of the same columns follow each other.
void stowi_kernel_lean_run(const stowi_kernel_lean* p, size_t begin, size_t end, void* scratch) {
  const stowi_kernel_tiles* tiles = stowi_kernel_tiles_best();
  room r = room_of(p, scratch);
  size_t high = tile_rows(p);
  size_t rows = divide_up(p->m, high);
  for (size_t i = begin; i < end; ++i) {
    stowi_kernel_block t = {.row = i % rows * high, .column = i / rows * COLUMNS};
    t.rows = stowi_kernel_smaller(p->m - t.row, high);
    t.columns = stowi_kernel_smaller(p->n - t.column, COLUMNS);
    make_tile(p, tiles, &t, &r);
  }
}
