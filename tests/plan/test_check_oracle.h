// A second opinion on plans: runs the graph on tags instead of numbers and checks that every
// operand still holds what was written. Slow, simple, and it relies on nothing but the slots.
#ifndef STOWAGE_TESTS_PLAN_TEST_CHECK_ORACLE_H_
#define STOWAGE_TESTS_PLAN_TEST_CHECK_ORACLE_H_

#include <stowage/plan.h>

// Whether a run of |graph| in |plan|'s slots reads only what it wrote. Loops run twice; |branches|
// decides, bit by bit, which branch of each if runs. |out_why| says what was found, in at most
// |size| bytes.
bool oracle_run(const stow_plan* plan, const stow_graph* graph, const stow_effects* effects,
                uint64_t branches, char* out_why, size_t size);
// Steps run so far, by all runs of this program.
uint64_t oracle_steps(void);

// Memory in which several plans take turns. What is there before a run stays unchanged except where
// the plan has a slot; nothing is known of what it reserves.
typedef struct oracle_memory oracle_memory;
oracle_memory* oracle_memory_create(uint64_t size);
void oracle_memory_destroy(oracle_memory* memory);
// A hash of bytes [offset, offset + size): every write has other tags.
uint64_t oracle_memory_hash(const oracle_memory* memory, uint64_t offset, uint64_t size);
bool oracle_take_turn(oracle_memory* memory, const stow_plan* plan, const stow_graph* graph,
                      const stow_effects* effects, uint64_t branches, char* out_why, size_t size);

#endif  // STOWAGE_TESTS_PLAN_TEST_CHECK_ORACLE_H_
