// Products of f32 matrices in little room: c is made tile by tile, and a few steps of both factors
// are at hand at a time. Factors are read through functions, so that they may be of any dtype,
// packed in any way, or windows of an image. Sums have the order of gemm.h, hence the same bits.
#ifndef STOWAGE_SRC_EXEC_KERNELS_MATRIX_LEAN_H_
#define STOWAGE_SRC_EXEC_KERNELS_MATRIX_LEAN_H_

#include <stowage/kernel.h>

// Of a block of a factor: steps of k, at most, unless the other one is never copied.
#define STOWI_KERNEL_LEAN_STEPS 8
// Of a tile.
#define STOWI_KERNEL_LEAN_COLUMNS 32

// A part of a matrix.
typedef struct stowi_kernel_block {
  size_t row, rows;
  size_t column, columns;
} stowi_kernel_block;

// Returns where the elements of |block| are: in |room|, with rows |*row| apart, or elsewhere, with
// |*row| changed. Elements of a row are adjacent. |room| is NULL for a
// factor that is never copied.
typedef const float* (*stowi_kernel_lean_load)(const void* user, const stowi_kernel_block* block,
                                               float* room, size_t* row);

// Copies what steps of b have for the columns of |block| to |room|, of |floats|, as many steps of
// |block| as it has room for, and writes where each begins; returns how many, 1 or more. There is
// room for at least one step, and for all if there are few.
typedef size_t (*stowi_kernel_lean_copy)(const void* user, const stowi_kernel_block* block,
                                         float* room, size_t floats, uint32_t* at);

typedef struct stowi_kernel_lean {
  size_t m, n, k;
  const void* user;  // of all functions
  stowi_kernel_lean_load a;
  const float* a_packed;  // as gemm.h packs it, all of it, if |a_is_there|; NULL: |a| is asked
  stowi_kernel_lean_load b;
  stowi_kernel_lean_copy b_rows;  // NULL: |b| is asked
  bool a_is_there, b_is_there;    // never copied
  size_t copied;                  // floats of b at a time, where a is there; 0: few
  float* c;                       // NULL: tiles are in scratch, for |finish|
  size_t c_row;
  // Writes what products are added to; returns false where there is nothing. NULL: nothing.
  bool (*begin)(const void* user, const stowi_kernel_block* block, float* to, size_t to_row);
  // Takes a complete tile, which it may change. NULL: it is c's.
  void (*finish)(const void* user, const stowi_kernel_block* block, float* tile, size_t tile_row);
} stowi_kernel_lean;

// Bytes of scratch for one worker, at most 1.7 KiB unless |copied| is large; grows with m, n and k.
uint64_t stowi_kernel_lean_scratch(const stowi_kernel_lean* p);
size_t stowi_kernel_lean_tiles(const stowi_kernel_lean* p);
// Tiles that make a worker worth waking.
size_t stowi_kernel_lean_grain(const stowi_kernel_lean* p);
// Makes tiles [begin, end). |scratch| is one worker's, aligned to 64.
void stowi_kernel_lean_run(const stowi_kernel_lean* p, size_t begin, size_t end, void* scratch);
// Makes a block of c with at most STOWI_KERNEL_LEAN_COLUMNS columns, in the same scratch.
void stowi_kernel_lean_block(const stowi_kernel_lean* p, const stowi_kernel_block* block,
                             void* scratch);

#endif  // STOWAGE_SRC_EXEC_KERNELS_MATRIX_LEAN_H_
