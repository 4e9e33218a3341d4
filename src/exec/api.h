// What other rooms may ask of the executor beyond the public headers: the programs that it runs.
#ifndef STOWAGE_SRC_EXEC_API_H_
#define STOWAGE_SRC_EXEC_API_H_

#include <stowage/exec.h>

#include "exec/program/code.h"

// Owned by |prepared|.
const stowi_exec_program* stowi_exec_prepared_program(const stow_prepared* prepared);

#endif  // STOWAGE_SRC_EXEC_API_H_
