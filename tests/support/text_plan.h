// Whether the text of a graph is planned as the graph is: everything that a plan depends on must
// survive printing and parsing.
#ifndef STOWAGE_TESTS_SUPPORT_TEXT_PLAN_H_
#define STOWAGE_TESTS_SUPPORT_TEXT_PLAN_H_

#include <stowage/plan.h>

#define TEXT_PLAN_WHY 512

// Prints |graph|, parses the text, and plans both with |options|: the same status, saved plan and
// decisions. The text must print as itself and have the graph's fingerprint. |why| gets the
// difference.
bool text_plan_agrees(const stow_graph* graph, const stow_plan_options* options,
                      char why[TEXT_PLAN_WHY]);

// The options of `stowage plan` for a model, with a short search.
stow_plan_options text_plan_model_options(void);

#endif  // STOWAGE_TESTS_SUPPORT_TEXT_PLAN_H_
