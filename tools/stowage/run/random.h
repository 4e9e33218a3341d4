// Random tensors, the same on every machine. Stands on <stowage/kernel.h> alone: programs that
// `stowage export` writes fill their inputs with the same numbers.
#ifndef STOWAGE_TOOLS_RUN_RANDOM_H_
#define STOWAGE_TOOLS_RUN_RANDOM_H_

#include <stowage/kernel.h>

// Fills |tensor| with numbers that |seed| and |name| alone tell: floats in [-1, 1), integers and
// bools 0 or 1.
void cli_fill_random(stow_tensor* tensor, uint64_t seed, stow_str name);

#endif  // STOWAGE_TOOLS_RUN_RANDOM_H_
