// Scaled dot product attention, the part that all ops of attention share:
//
//     out = softmax(cap(scale · q kᵀ) + mask) · v
//
// for every batch and head, in blocks of queries. What ops differ in is said by the struct: where
// rows are, how q changes on being read, which keys a query sees.
#ifndef STOWAGE_SRC_EXEC_KERNELS_ATTENTION_ATTEND_H_
#define STOWAGE_SRC_EXEC_KERNELS_ATTENTION_ATTEND_H_

#include <stowage/kernel.h>

#include "exec/kernels/attention/heads.h"
#include "exec/kernels/support/carve.h"

// What is added to scores; the four strides, in elements, are 0 where it is repeated. Floats are
// added; of integers and bools those not above 0 add |hidden|.
typedef struct stowi_kernel_mask {
  const stow_tensor* tensor;  // NULL: nothing
  size_t batch, head, query, key;
  size_t keys;  // further keys are hidden
  double hidden;
} stowi_kernel_mask;

// Blocks of queries at once, some of each block, or one of it; the last two without copies of keys
// and values.
#define STOWI_KERNEL_ATTEND_VARIANTS 3

enum {
  STOWI_KERNEL_STAGE_RAW,
  STOWI_KERNEL_STAGE_CAPPED,
  STOWI_KERNEL_STAGE_MASKED,
  STOWI_KERNEL_STAGE_SOFTMAX
};

typedef struct stowi_kernel_attention {
  size_t batches, heads, kv_heads;
  size_t queries, keys;
  size_t size, value_size;
  stowi_kernel_heads q, k, v, out;  // out may be in place of q
  stowi_kernel_change change;       // of rows of q; not in f64
  double scale;
  double softcap;  // 0: none
  stowi_kernel_mask mask;
  stowi_kernel_mask padding;
  bool causal;
  int64_t left, right;  // keys before and after the query's own that are seen; -1: all
  // Of each batch: which key the first query stands at, and which keys are there at all. To others
  // |outside| is added.
  int64_t* offsets;
  int64_t* starts;
  int64_t* ends;
  double outside;
  bool smooth;              // one more key of score 0 and value 0
  const stow_tensor* sink;  // the same with a score for each head
  stow_tensor* scores;      // NULL, or [batch, heads, queries, keys] of which those at |stage|
  int stage;
  bool blanks;  // scores of keys that are not seen are given as 0
  bool in_f64;
  uint32_t variant;        // of the call
  unsigned char* scratch;  // one part for each worker
  uint64_t scratch_stride;
} stowi_kernel_attention;

// Strides of a mask whose dims are the last of [batch, heads, queries, keys].
stowi_kernel_mask stowi_kernel_mask_of(const stow_tensor* tensor, double hidden);

// Takes the arrays and what the workers need. Before that all sizes and dtypes must be set.
void stowi_kernel_attend_carve(const stow_kernel_call* call, stowi_kernel_attention* a,
                               stowi_kernel_carve* carve);
// Sets what most ops want: all keys are seen.
void stowi_kernel_attend_see_all(stowi_kernel_attention* a);
void stowi_kernel_attend(const stow_kernel_call* call, const stowi_kernel_attention* a);

#endif  // STOWAGE_SRC_EXEC_KERNELS_ATTENTION_ATTEND_H_
