// Tensors of attention seen as rows: one for each batch, head and position, wherever these dims
// stand. Rows may be changed as they are read: a bias, a norm, a rotation.
#ifndef STOWAGE_SRC_EXEC_KERNELS_ATTENTION_HEADS_H_
#define STOWAGE_SRC_EXEC_KERNELS_ATTENTION_HEADS_H_

#include <stowage/kernel.h>

// A row begins at element |first| + batch, head and position times their strides; its elements
// follow each other.
typedef struct stowi_kernel_heads {
  void* data;
  stow_dtype dtype;
  size_t first;
  size_t batch, head, position;
} stowi_kernel_heads;

// What is done to a row that is read: norm, then rotation. Absent parts are NULL.
typedef struct stowi_kernel_change {
  const stow_tensor* bias;  // element bias_first + head · size + i is added
  size_t bias_first;
  const stow_tensor* norm;  // weights of a root mean square norm
  double epsilon;
  const stow_tensor* cosines;  // [positions, pairs]
  const stow_tensor* sines;
  bool interleaved;
  const stow_tensor* positions;  // [batch, sequence] rows of the tables; NULL: offset + s
  size_t sequence;
  const int64_t* offsets;  // of each batch
} stowi_kernel_change;

// Past rows and new ones in one place.
typedef struct stowi_kernel_join {
  size_t batches, heads, size;
  bool has_past;
  stowi_kernel_heads past;
  const int64_t* past_counts;  // rows of each batch that stay
  const int64_t* past_skips;   // rows of each batch before those, which are dropped; NULL: none
  stowi_kernel_heads fresh;
  size_t fresh_count;
  stowi_kernel_change change;  // of the fresh ones
  stowi_kernel_heads out;
  size_t out_count;   // rows that there is room for
  size_t kept_count;  // rows of the past that are kept as they are; others after the new are 0
  float* rows;        // a row of |size| for each worker
} stowi_kernel_join;

// [batch, heads, sequence, size] one after the other.
stowi_kernel_heads stowi_kernel_heads_packed(void* data, stow_dtype dtype, size_t heads,
                                             size_t sequence, size_t size);
// [batch, sequence, heads × size].
stowi_kernel_heads stowi_kernel_heads_flat(void* data, stow_dtype dtype, size_t heads,
                                           size_t sequence, size_t size);
size_t stowi_kernel_heads_at(const stowi_kernel_heads* heads, size_t batch, size_t head,
                             size_t position);

bool stowi_kernel_change_is_none(const stowi_kernel_change* change);
// Row |row| of |size|, which belongs to this place.
void stowi_kernel_change_row(const stowi_kernel_change* change, size_t batch, size_t head, size_t s,
                             size_t size, float* row);
// |join->out| may be in place of |join->past|. Fresh rows must fit behind those that stay.
void stowi_kernel_join_run(const stow_kernel_call* call, const stowi_kernel_join* join);

#endif  // STOWAGE_SRC_EXEC_KERNELS_ATTENTION_HEADS_H_
