// A second opinion on plans: runs the graph on tags instead of numbers and looks whether every
// operand still holds what was written. Slow, simple, and it believes nothing but the slots.
#ifndef STOWAGE_TESTS_PLAN_TEST_CHECK_ORACLE_H_
#define STOWAGE_TESTS_PLAN_TEST_CHECK_ORACLE_H_

#include <stowage/plan.h>

// Whether a run of |graph| in |plan|'s slots reads only what it wrote. Loops run twice; |branches|
// decides, bit by bit, which branch of each if runs. |out_why| tells what was found, in at most
// |size| bytes.
bool oracle_run(const stow_plan* plan, const stow_graph* graph, const stow_effects* effects,
                uint64_t branches, char* out_why, size_t size);

#endif  // STOWAGE_TESTS_PLAN_TEST_CHECK_ORACLE_H_
