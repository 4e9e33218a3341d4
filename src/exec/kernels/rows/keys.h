// Elements of any dtype as integers that are ordered as the elements are: what comparing kernels
// (argmax, topk) work on, so that there is one of each.
#ifndef STOWAGE_SRC_EXEC_KERNELS_ROWS_KEYS_H_
#define STOWAGE_SRC_EXEC_KERNELS_ROWS_KEYS_H_

#include <stowage/kernel.h>

// STOW_ERR_UNSUPPORTED where elements are complex or narrower than a byte.
stow_status stowi_kernel_need_keys(const stow_kernel_call* call, const stow_tensor* x);

// Keys of |count| elements from |first| on, at most a block. 0 and -0 have the same; NaN has the
// key |nan|, other than all others: INT64_MAX or INT64_MIN.
void stowi_kernel_load_keys(const stow_tensor* x, size_t first, size_t count, int64_t nan,
                            int64_t* out);

#endif  // STOWAGE_SRC_EXEC_KERNELS_ROWS_KEYS_H_
