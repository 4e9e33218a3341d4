// What other rooms may ask of the executor beyond the public headers: the programs that it runs.
#ifndef STOWAGE_SRC_EXEC_API_H_
#define STOWAGE_SRC_EXEC_API_H_

#include <stowage/exec.h>

#include "exec/kernels/blocks/stream.h"
#include "exec/program/code.h"

// Owned by |prepared|.
const stowi_exec_program* stowi_exec_prepared_program(const stow_prepared* prepared);

// Binds what was prepared of a graph with ranges to |values|, one for each symbol, and measures.
stow_status stowi_exec_prepared_bind(stow_prepared* prepared, const int64_t* values,
                                     stow_diag* diag);

// Where weights without data in the graph are, and who is told which were copied
// (stow_exec_options). Both may be NULL.
typedef struct stowi_exec_weights {
  const void* (*weight)(void* user, stow_value value, size_t* out_size);
  void (*on_copied)(void* user, stow_value value, const void* data, size_t size);
  void* user;
} stowi_exec_weights;
// Copies a weight part by part, so that it is never there twice as a whole.
void stowi_exec_copy_weight(stowi_exec_weights weights, stow_value value, void* to,
                            const void* from, size_t size);
// Packs the weights that were chosen, unless that was done before. Threads may do this at the same
// time. STOW_ERR_NOT_FOUND, naming it, if a folded weight has no data.
stow_status stowi_exec_pack(const stow_prepared* prepared, stowi_exec_weights weights,
                            stow_diag* diag);
// After that, what the packed weight |value| became: stowi_exec_value.packed_bytes bytes.
const void* stowi_exec_packed_data(const stow_prepared* prepared, stow_value value);

#endif  // STOWAGE_SRC_EXEC_API_H_
