// Which keys a query sees.
#ifndef STOWAGE_SRC_EXEC_KERNELS_ATTENTION_MASK_H_
#define STOWAGE_SRC_EXEC_KERNELS_ATTENTION_MASK_H_

#include "exec/kernels/attention/attend.h"

// Strides of a mask whose dims are the last of [batch, heads, queries, keys].
stowi_mask stowi_mask_of(const stow_tensor* tensor, double hidden);

// The keys that any of the queries [first, last] sees. What masks hide is not left out.
stowi_query stowi_keys_seen(const stowi_attention* a, size_t batch, size_t head, size_t first,
                            size_t last);
// Adds masks to the scores of query |q|, and hides what it does not see. |row| holds keys
// [q->begin, q->end).
void stowi_hide_keys(const stowi_attention* a, const stowi_query* q, float* row);
// What the same adds to the score of one key.
double stowi_mask_at(const stowi_attention* a, const stowi_query* q, size_t key);

#endif  // STOWAGE_SRC_EXEC_KERNELS_ATTENTION_MASK_H_
