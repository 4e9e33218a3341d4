// The library's kernels by op.
#ifndef STOWAGE_SRC_EXEC_KERNELS_TABLE_H_
#define STOWAGE_SRC_EXEC_KERNELS_TABLE_H_

#include <stowage/kernel.h>

// NULL where |op| is not an op of the core, or is run by the executor itself.
const stow_kernel* stowi_kernel_of(stow_op op);

#endif  // STOWAGE_SRC_EXEC_KERNELS_TABLE_H_
