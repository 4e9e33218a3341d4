// In place of the checker of plans: refuses every one. Linked into a copy of the command, which
// then must show nothing (test_proof.sh).
#include <stdio.h>
#include <stowage/plan.h>

// What the linker puts in place of stow_plan_check (--wrap).
stow_status __wrap_stow_plan_check(const stow_plan* plan, const stow_graph* graph,
                                   const stow_effects* effects, stow_allocator allocator,
                                   stow_diag* diag, stow_violation* out_violation);

stow_status __wrap_stow_plan_check(const stow_plan* plan, const stow_graph* graph,
                                   const stow_effects* effects, stow_allocator allocator,
                                   stow_diag* diag, stow_violation* out_violation) {
  (void)plan;
  (void)graph;
  (void)effects;
  (void)allocator;
  (void)out_violation;
  if (diag != NULL) {
    diag->status = STOW_ERR_VIOLATION;
    snprintf(diag->message, sizeof(diag->message), "refused by the test");
  }
  return STOW_ERR_VIOLATION;
}
