// The geometry of a matrix product of tensors, as numpy's matmul: leading dims broadcast, an
// operand of rank 1 is a row or a column, and factors may be transposed. The result is contiguous.
#ifndef STOWAGE_SRC_EXEC_KERNELS_MATRIX_PRODUCT_H_
#define STOWAGE_SRC_EXEC_KERNELS_MATRIX_PRODUCT_H_

#include <stowage/kernel.h>

// How an operand is multiplied: its last two dims swapped; before that, its first dim moved behind
// the other leading ones.
typedef struct stowi_kernel_turn {
  bool matrix;
  bool batch;
} stowi_kernel_turn;

// Where things lie, in elements from the operand's first one.
typedef struct stowi_kernel_factor {
  size_t row;
  size_t column;
  size_t batch[STOW_MAX_RANK];  // along each leading dim of the result; 0 where it is broadcast
} stowi_kernel_factor;

typedef struct stowi_kernel_product {
  size_t m, n, k;
  size_t batches;
  uint32_t rank;  // leading dims of the result
  size_t dims[STOW_MAX_RANK];
  stowi_kernel_factor a;
  stowi_kernel_factor b;
  size_t part_rows, part_columns;  // of a part, at most
} stowi_kernel_product;

// Where b has no leading dims and a's rows are contiguous, all rows are one product's.
stowi_kernel_product stowi_kernel_product_of(const stow_tensor* a, stowi_kernel_turn turn_a,
                                             const stow_tensor* b, stowi_kernel_turn turn_b);
// For scratch: all rows as those of one product, which smaller dims may join them to.
stowi_kernel_product stowi_kernel_product_joined(const stowi_kernel_product* p);
// The first element of |factor| in product |batch|.
size_t stowi_kernel_product_first(const stowi_kernel_product* p, const stowi_kernel_factor* factor,
                                  size_t batch);

// A part of the result small enough for scratch, for products that are computed in another type
// than the result's: 128 × 256 elements, in variant 1 32 × 64, in others 4 × 32.
enum { STOWI_KERNEL_PART_COLUMNS = 256, STOWI_KERNEL_PART_VARIANTS = 3 };

// Makes parts those of |variant|; they are those of variant 0 at first.
void stowi_kernel_part_choose(stowi_kernel_product* p, uint32_t variant);

// Makes parts smaller where they are too few for all workers to end together. Scratch for the parts
// before is enough.
void stowi_kernel_part_divide(stowi_kernel_product* p, uint32_t workers);

typedef struct stowi_kernel_part {
  size_t batch;
  size_t row, rows;
  size_t column, columns;
} stowi_kernel_part;

size_t stowi_kernel_part_count(const stowi_kernel_product* p);
stowi_kernel_part stowi_kernel_part_at(const stowi_kernel_product* p, size_t i);
// Of parts: how many rows and columns the largest has.
size_t stowi_kernel_part_rows(const stowi_kernel_product* p);
size_t stowi_kernel_part_columns(const stowi_kernel_product* p);
// Parts that make a worker worth waking.
size_t stowi_kernel_part_grain(const stowi_kernel_product* p);
// Element of the result: |row| and |column| of product |batch|.
size_t stowi_kernel_product_element(const stowi_kernel_product* p, size_t batch, size_t row,
                                    size_t column);

// What is added to a matrix, or multiplies it, broadcast to its rows and columns.
typedef struct stowi_kernel_spread {
  const stow_tensor* tensor;  // NULL: none
  size_t row, column;         // in elements; 0 where it is broadcast
} stowi_kernel_spread;

// False where |tensor| has leading dims, or more rows or columns than a product has.
bool stowi_kernel_spread_of(const stowi_kernel_product* p, const stow_tensor* tensor,
                            stowi_kernel_spread* out);

#endif  // STOWAGE_SRC_EXEC_KERNELS_MATRIX_PRODUCT_H_
