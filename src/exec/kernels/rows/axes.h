// Tensors as rows along an axis, and as what is folded along several.
#ifndef STOWAGE_SRC_EXEC_KERNELS_ROWS_AXES_H_
#define STOWAGE_SRC_EXEC_KERNELS_ROWS_AXES_H_

#include <stowage/kernel.h>

// About as many elements as are worth a thread's trouble.
#define STOWI_KERNEL_GRAIN 16384

// x as [outer, count, inner]: element i of a row is |inner| elements after the one before.
typedef struct stowi_kernel_rows {
  size_t outer;
  size_t count;
  size_t inner;
} stowi_kernel_rows;

// How many of what has |size| elements make a grain.
size_t stowi_kernel_grain_of(size_t size);

// Whether |axis|, which may count from the end, is one of |rank| (0 for a scalar, too).
bool stowi_kernel_find_axis(int64_t axis, uint32_t rank, uint32_t* out_axis);

// Neighbouring rows that are walked together: at most a block of them.
typedef struct stowi_kernel_strip {
  size_t first;  // the first element of the first row
  size_t row;    // which row that is of all
  size_t width;  // rows
} stowi_kernel_strip;

#define STOWI_KERNEL_STRIP 112  // the most rows in a strip

stowi_kernel_strip stowi_kernel_strip_at(const stowi_kernel_rows* rows, size_t i);
// Runs |task| over all strips; a row costs |cost| for each element, an addition being 1.
void stowi_kernel_split_strips(const stow_kernel_call* call, const stowi_kernel_rows* rows,
                               size_t cost, stow_split_task task, void* user);

stowi_kernel_rows stowi_kernel_rows_along(const stow_tensor* x, uint32_t axis);

// The rows of the attribute `axis`; an axis that is not there is an error of the call.
stow_status stowi_kernel_rows_of(const stow_kernel_call* call, const stow_tensor* x,
                                 int64_t fallback, stowi_kernel_rows* out_rows);

// The same of softmax and its kin: the axis is the last where none is given. With `flatten` all
// dims from the axis on are one, and there may be none.
stow_status stowi_kernel_rows_from(const stow_kernel_call* call, const stow_tensor* x,
                                   stowi_kernel_rows* out_rows);

// STOW_ERR_UNSUPPORTED unless |x| is f16, bf16, f32 or f64.
stow_status stowi_kernel_need_real(const stow_kernel_call* call, const stow_tensor* x,
                                   const char* what);

// Dims that are folded (summed up, normalised together) and dims that stay. Neighbours of a kind
// count as one dim. The innermost dim is apart: a run where it is folded, a strip where it stays.
typedef struct stowi_kernel_fold {
  uint32_t kept_rank;
  size_t kept_dims[STOW_MAX_RANK];
  size_t kept_strides[STOW_MAX_RANK];
  uint32_t gone_rank;
  size_t gone_dims[STOW_MAX_RANK];
  size_t gone_strides[STOW_MAX_RANK];
  bool is_run;
  size_t width;  // of the run or strip
  size_t kept;   // positions without the innermost dim
  size_t gone;
} stowi_kernel_fold;

// Bit i of |axes|: dim i of |x| is folded.
stowi_kernel_fold stowi_kernel_fold_over(const stow_tensor* x, uint32_t axes);

// Where the kept position |i|, and the folded one, begin, in elements.
size_t stowi_kernel_fold_kept(const stowi_kernel_fold* fold, size_t i);
size_t stowi_kernel_fold_gone(const stowi_kernel_fold* fold, size_t i);

#endif  // STOWAGE_SRC_EXEC_KERNELS_ROWS_AXES_H_
