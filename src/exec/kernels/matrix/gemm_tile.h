// The innermost loops of stowi_kernel_gemm, compiled for several instruction sets. All give the
// same bits: vectors go along n, so that every element of c keeps its chain.
#ifndef STOWAGE_SRC_EXEC_KERNELS_MATRIX_GEMM_TILE_H_
#define STOWAGE_SRC_EXEC_KERNELS_MATRIX_GEMM_TILE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exec/kernels/matrix/gemm.h"

#define STOWI_KERNEL_TILE_ROWS STOWI_KERNEL_GEMM_ROWS  // no tile is higher
#define STOWI_KERNEL_TILE_COLUMNS 32                   // nor wider

// What a tile multiplies: row i of a at step p is a[i * a_row + p * a_step], the columns of b at
// step p begin at b[p * b_step], or at b[b_at[p]].
typedef struct stowi_kernel_tile_factors {
  const float* a;
  size_t a_row, a_step;
  const float* b;
  size_t b_step;
  const uint32_t* b_at;  // NULL: steps are b_step apart
  // Of a that is packed (gemm.h), for blocks of tiles: how many steps it has, and the block's first
  // one; |a| is where the block's rows begin, at a whole panel, and a_row and a_step mean nothing.
  size_t a_steps, a_first;
  const float* bias;  // of each row, which a chain that is stored is added to; NULL: nothing
  // What is needed next is fetched meanwhile: at each step the cache line at |next|, which moves on
  // by |next_step| bytes. NULL: nothing.
  const char* next;
  size_t next_step;
} stowi_kernel_tile_factors;

// What becomes of a chain: it is stored, or added to c, or c is its beginning.
typedef enum stowi_kernel_tile_mode {
  STOWI_KERNEL_TILE_SET,
  STOWI_KERNEL_TILE_ADD,
  STOWI_KERNEL_TILE_GO_ON
} stowi_kernel_tile_mode;

// |rows| × columns of c, each with a chain of |depth| steps along k. |rows| is 1 to 6.
typedef void (*stowi_kernel_tile_function)(size_t rows, size_t depth,
                                           const stowi_kernel_tile_factors* factors, float* c,
                                           size_t c_row, stowi_kernel_tile_mode mode);
// Of |left| rows, those of the next tile.
static inline size_t stowi_kernel_tile_rows(size_t left) {
  return left < STOWI_KERNEL_TILE_ROWS ? left : STOWI_KERNEL_TILE_ROWS;
}

// c[0 … n) = (c or 0) + a[0]·b[row 0] + … + a[depth - 1]·b[row depth - 1], a chain that begins or
// goes on; depth is 1 to 8, rows of b are |b_row| apart.
#define STOWI_KERNEL_STREAM_DEPTH 8
typedef void (*stowi_kernel_stream_function)(size_t n, size_t depth, const float* a, const float* b,
                                             size_t b_row, float* c, bool goes_on);

// Sixteen elements of c, each with a chain of |depth| steps; columns of b are |apart|, their
// elements side by side, and every element of a is multiplied by alpha. The mode is not GO_ON.
#define STOWI_KERNEL_TURNED_COLUMNS 16
typedef void (*stowi_kernel_turned_function)(size_t depth, const float* a, size_t a_step,
                                             float alpha, const float* b, size_t apart, float* c,
                                             stowi_kernel_tile_mode mode);

// c[i] = bias + a[0]·b[at[0] + i] + … + a[depth - 1]·b[at[depth - 1] + i] for i < count, one chain
// that begins as the bias; up to 15 elements more are read behind those of b, and written to c.
#define STOWI_KERNEL_WINDOW_MORE 15
typedef void (*stowi_kernel_window_function)(size_t count, size_t depth, const float* a,
                                             const float* b, const uint32_t* at, float bias,
                                             float* c);

// Few columns of c, with many rows: vectors go along the rows of panels of a, which are read from
// one end to the other. Eight floats are read at each step, of which |height| count.
#define STOWI_KERNEL_FEW_COLUMNS 6
#define STOWI_KERNEL_FEW_LANES 8
#define STOWI_KERNEL_FEW_PANELS 8
typedef struct stowi_kernel_few {
  const float* a[STOWI_KERNEL_FEW_PANELS];  // where each panel's first step begins
  size_t height, depth;
  const float* b;  // column j at step p is b[p * b_step + j] or b[b_at[p] + j]
  size_t b_step;
  const uint32_t* b_at;
  // Of each panel, each column: the chains, which go on.
  float sums[2 * STOWI_KERNEL_FEW_COLUMNS * STOWI_KERNEL_FEW_LANES];
} stowi_kernel_few;
typedef void (*stowi_kernel_few_function)(stowi_kernel_few* few);
// Of |columns|, with how many panels at a time.
static inline size_t stowi_kernel_few_panels(size_t columns) {
  return columns == 1 ? STOWI_KERNEL_FEW_PANELS : columns <= 3 ? 4 : 2;
}

// Windows read where they lie (spatial/conv_direct.c): a tile of two vectors of positions, which
// may be far apart. Step (channel, tap) reads, for vector v, the elements from x + begin[v] + the
// tap's offset + channel · channel_size on; those that are padding are 0 and not read.
#define STOWI_KERNEL_DIRECT_TAPS 128
typedef struct stowi_kernel_tap {
  uint32_t offset;
  // Of each vector, which elements are no padding, the lowest bit for the first one. With stride 2
  // there are twice as many, and the bits of those that positions skip are 0.
  uint32_t masks[2];
} stowi_kernel_tap;
typedef struct stowi_kernel_direct {
  const float* x;  // of the first step's channel
  size_t channel_size;
  const stowi_kernel_tap* taps;
  size_t tap_count, tap;  // of a channel; of the first step
  ptrdiff_t begin[2];
  const float* a;  // row i at step p is a[i * a_row + p * a_step]
  size_t a_row, a_step;
  const float* a_more;  // the second panel, if there are two
  size_t depth;         // of a chain
  const float* bias;    // of each row, which the chain is added to; NULL: there is none
  float* c[2];          // first row, for each vector
  uint32_t ends[2];     // a bit for each position
  size_t c_row;
  bool adds;  // to what c holds; then there is no bias
} stowi_kernel_direct;
// Of 1, 2, … rows.
typedef void (*stowi_kernel_direct_function)(const stowi_kernel_direct* direct);

typedef struct stowi_kernel_tiles {
  const char* name;
  size_t columns;  // of a tile
  stowi_kernel_tile_function tile;
  const struct stowi_kernel_tiles* narrower;  // with fewer columns; NULL for one column
  // Of the widest tiles of a machine alone:
  stowi_kernel_stream_function stream;
  stowi_kernel_turned_function turned;
  stowi_kernel_window_function window;
  const stowi_kernel_few_function* few;           // of 1, 2, … columns
  const stowi_kernel_direct_function* direct[2];  // with stride 1 and 2
  // Of two panels of packed a, 6 rows and 1, 2, … rows, or NULL: there is none.
  const stowi_kernel_direct_function* high_direct[2];
} stowi_kernel_tiles;

// All that this processor has, the plainest first; NULL from some |i| on.
const stowi_kernel_tiles* stowi_kernel_tiles_at(size_t i);
// The fastest of them.
const stowi_kernel_tiles* stowi_kernel_tiles_best(void);

// The same for any number of rows and columns, of which no others are read or written.
void stowi_kernel_tiles_run(const stowi_kernel_tiles* tiles, size_t rows, size_t columns,
                            size_t depth, const stowi_kernel_tile_factors* factors, float* c,
                            size_t c_row, stowi_kernel_tile_mode mode);

// The same for at most STOWI_KERNEL_FEW_COLUMNS columns and a that is packed.
void stowi_kernel_tiles_run_few(const stowi_kernel_tiles* tiles, size_t rows, size_t columns,
                                size_t depth, const stowi_kernel_tile_factors* factors, float* c,
                                size_t c_row, stowi_kernel_tile_mode mode);

// ---------------------------------------------------------------------------------------------
// A product by given inner loops, so that tests can compare all of them.

void stowi_kernel_gemm_by(const stowi_kernel_tiles* tiles, const stowi_kernel_gemm* gemm,
                          void* scratch);

#endif  // STOWAGE_SRC_EXEC_KERNELS_MATRIX_GEMM_TILE_H_
