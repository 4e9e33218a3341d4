// Proof while running: nothing but a step's results and scratch changes.
#ifndef STOWAGE_SRC_EXEC_RUN_PARANOIA_H_
#define STOWAGE_SRC_EXEC_RUN_PARANOIA_H_

#include "exec/run/exec.h"

stow_status stowi_exec_paranoia_create(const stow_plan* plan, stow_allocator allocator,
                                       stow_diag* diag, stowi_exec_paranoia** out_paranoia);
void stowi_exec_paranoia_destroy(stowi_exec_paranoia* paranoia);

// Around a run, and around each step of it. STOW_ERR_VIOLATION naming the node, and what it wrote
// that it should not have.
void stowi_exec_paranoia_begin(stowi_exec_paranoia* paranoia, stow_exec* exec);
void stowi_exec_paranoia_before(stowi_exec_paranoia* paranoia, stow_exec* exec, uint32_t step);
stow_status stowi_exec_paranoia_after(stowi_exec_paranoia* paranoia, stow_exec* exec, uint32_t step,
                                      stow_diag* diag);
void stowi_exec_paranoia_end(stowi_exec_paranoia* paranoia, stow_exec* exec);

#endif  // STOWAGE_SRC_EXEC_RUN_PARANOIA_H_
