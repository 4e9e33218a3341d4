// One entry per line of ops.def: an op without a kernel does not link, and the linker names it.
#include "exec/kernels/table.h"

#define STOW_OP(name, number, text) extern const stow_kernel stowi_kernel_##name;
#include <stowage/ops.def>
#undef STOW_OP

static const stow_kernel* const kernels[] = {
#define STOW_OP(name, number, text) [number] = &stowi_kernel_##name,
#include <stowage/ops.def>
#undef STOW_OP
};

const stow_kernel* stowi_kernel_of(stow_op op) {
  return op < STOW_OP_CORE_COUNT && kernels[op]->run != NULL ? kernels[op] : NULL;
}
