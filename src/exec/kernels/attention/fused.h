// What attention as optimisers fuse it has in common: caches of k and v that grow or are written in
// place, and masks of padding in several forms.
#ifndef STOWAGE_SRC_EXEC_KERNELS_ATTENTION_FUSED_H_
#define STOWAGE_SRC_EXEC_KERNELS_ATTENTION_FUSED_H_

#include "exec/kernels/attention/attend.h"

// k or v: what is new, what was there, and where both go.
typedef struct stowi_kernel_kept {
  stowi_kernel_heads fresh;
  size_t fresh_count;
  size_t size;
  stowi_kernel_change change;
  const stow_tensor* past;  // NULL, or [..., batch, heads, sequence, size]
  stow_tensor* cache;       // NULL, or the same
  size_t cache_part;        // which [batch, heads, sequence, size] of them
  bool is_shared;           // the cache is the past with rows put in
} stowi_kernel_kept;

// Elements of dims [rank - 2] of a cache.
size_t stowi_kernel_kept_room(const stow_tensor* cache);

// Sets |join| and returns where rows are after it has run. Needs a->batches, kv_heads, keys;
// |past_counts| is filled later. A join without batches has nothing to do.
stowi_kernel_heads stowi_kernel_plan_kept(const stowi_kernel_attention* a,
                                          const stowi_kernel_kept* kept, const int64_t* past_counts,
                                          uint32_t workers, stowi_kernel_carve* carve,
                                          stowi_kernel_join* join);

// Fails unless operand |k| is absent or has |count| elements.
stow_status stowi_kernel_need_elements(const stow_kernel_call* call, size_t k, size_t count);
// Fails unless operand |k| is absent or broadcasts to [batch, heads, queries, keys]; it may have
// more keys.
stow_status stowi_kernel_need_bias(const stow_kernel_call* call, size_t k,
                                   const stowi_kernel_attention* a);

// Sets what multi_head and qkv attention have in common before they run: |past| keys are ahead of
// the first query of every batch, all keys are seen but those that operand |padding| hides. That is
// absent, or integers where 0 is padding: lengths [batch], lengths and first positions [2 · batch],
// lengths and more [3 · batch + 2], or masks [batch, keys], [batch, queries, keys], [batch, 1, most
// queries, most keys]. The attribute `mask_value` is added to what is hidden.
stow_status stowi_kernel_place_queries(const stow_kernel_call* call, size_t padding, size_t past,
                                       int64_t* past_counts, stowi_kernel_attention* a);

// Joins k and v with what was kept of them, and attends to them.
void stowi_kernel_attend_joined(const stow_kernel_call* call, const stowi_kernel_join join[2],
                                const stowi_kernel_attention* a);

#endif  // STOWAGE_SRC_EXEC_KERNELS_ATTENTION_FUSED_H_
