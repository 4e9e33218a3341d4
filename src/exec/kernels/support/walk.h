// Walks over the elements of a result together with those of its operands, which are repeated along
// dims of 1 and along dims that they lack, as numpy does.
//
// Dims along which all operands behave alike are merged first, so that what is left is a short
// nest of loops around long runs. Within a run each operand either moves on by one element for each
// of the result, or stays at one:
//
//     stowi_kernel_walk walk;
//     stowi_kernel_walk_init(&walk, result, operands, 2);
//     …in a task, for the elements from begin to end:
//     stowi_kernel_cursor cursor;
//     stowi_kernel_run run;
//     stowi_kernel_cursor_init(&cursor, &walk, begin, end);
//     while (stowi_kernel_cursor_next(&cursor, SIZE_MAX, &run)) {
//       for (size_t i = 0; i < run.length; ++i)
//         out[run.at + i] = a[run.index[0] + i * run.step[0]] + b[run.index[1] + i * run.step[1]];
//     }
//
// Kernels that compute in another type than they store take blocks instead: stowi_kernel_spread_f32
// and its like read a block of an operand as if it had the result's dims.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SUPPORT_WALK_H_
#define STOWAGE_SRC_EXEC_KERNELS_SUPPORT_WALK_H_

#include <stowage/kernel.h>

#include "exec/kernels/support/convert.h"

#define STOWI_KERNEL_WALK_MOST 4  // operands of one walk

typedef struct stowi_kernel_walk {
  size_t count;  // elements of the result
  uint32_t operand_count;
  uint32_t rank;  // of the merged dims, 1 or more
  size_t dims[STOW_MAX_RANK];
  // In elements, of each operand; 0 where it is repeated. Along the last dim 0 or 1.
  size_t strides[STOWI_KERNEL_WALK_MOST][STOW_MAX_RANK];
  // Of an operand whose elements follow each other: how many until it starts again; else 0.
  size_t periods[STOWI_KERNEL_WALK_MOST];
  // Of an operand whose elements are each taken several times in a row: how often; else 0.
  size_t repeats[STOWI_KERNEL_WALK_MOST];
} stowi_kernel_walk;

// |operands| broadcast to |result|'s dims, which is for the op's shape function to have checked. At
// most STOWI_KERNEL_WALK_MOST; none of them NULL.
void stowi_kernel_walk_init(stowi_kernel_walk* walk, const stow_tensor* result,
                            const stow_tensor* const* operands, uint32_t operand_count);

// Elements |at| … |at| + |length| - 1 of the result, and where each operand begins for them.
typedef struct stowi_kernel_run {
  size_t at;
  size_t length;
  size_t index[STOWI_KERNEL_WALK_MOST];
  size_t step[STOWI_KERNEL_WALK_MOST];  // 0 or 1
} stowi_kernel_run;

typedef struct stowi_kernel_cursor {
  const stowi_kernel_walk* walk;
  size_t at;
  size_t end;
  size_t position[STOW_MAX_RANK];  // along each merged dim
  size_t index[STOWI_KERNEL_WALK_MOST];
} stowi_kernel_cursor;

// Stands at element |begin|, which may be any; a division for each dim.
void stowi_kernel_cursor_init(stowi_kernel_cursor* cursor, const stowi_kernel_walk* walk,
                              size_t begin, size_t end);
// The next run, of at most |most| elements; false at the end. Ascending.
bool stowi_kernel_cursor_next(stowi_kernel_cursor* cursor, size_t most, stowi_kernel_run* out_run);

// Elements [first, first + count) of operand |k| of the walk, repeated to the result's dims, in the
// types of stowi_kernel_load_*. |operand| is the tensor that the walk was made with.
void stowi_kernel_spread_f32(const stowi_kernel_walk* walk, uint32_t k, const stow_tensor* operand,
                             size_t first, size_t count, float* out);
void stowi_kernel_spread_f64(const stowi_kernel_walk* walk, uint32_t k, const stow_tensor* operand,
                             size_t first, size_t count, double* out);
void stowi_kernel_spread_i64(const stowi_kernel_walk* walk, uint32_t k, const stow_tensor* operand,
                             size_t first, size_t count, int64_t* out);

// Divides |count| elements among workers, as stow_kernel_split does. |cost| is what one element
// takes, an addition being 1. Ranges begin at multiples of 64, so that no two share a byte however
// narrow the elements are. Where a result overlaps an operand in another way than element by
// element, there is one range, for a walk in ascending order. At the end bits of the results that
// no element has are cleared.
void stowi_kernel_split_elements(const stow_kernel_call* call, size_t count, size_t cost,
                                 stow_split_task task, void* user);

// Defines a task for elements [begin, end): |a| and |b| have a block of each operand, from element
// i on, when |compute| is done for its n elements. |task| has both tensors and the walk.
#define STOWI_KERNEL_PAIR_BLOCKS(name, task, type, spread, compute)           \
  static void name(void* user, size_t begin, size_t end, uint32_t worker) {   \
    const task* t = (const task*)user;                                        \
    type a[STOWI_KERNEL_BLOCK];                                               \
    type b[STOWI_KERNEL_BLOCK];                                               \
    (void)worker;                                                             \
    for (size_t i = begin; i < end; i += STOWI_KERNEL_BLOCK) {                \
      size_t n = end - i < STOWI_KERNEL_BLOCK ? end - i : STOWI_KERNEL_BLOCK; \
      spread(&t->walk, 0, t->a, i, n, a);                                     \
      spread(&t->walk, 1, t->b, i, n, b);                                     \
      compute;                                                                \
    }                                                                         \
  }

#endif  // STOWAGE_SRC_EXEC_KERNELS_SUPPORT_WALK_H_
