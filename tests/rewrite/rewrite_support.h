// Graphs in text form, rewritten and compared.
#ifndef STOWAGE_TESTS_REWRITE_REWRITE_SUPPORT_H_
#define STOWAGE_TESTS_REWRITE_REWRITE_SUPPORT_H_

#include <stowage/rewrite.h>
#include <stowage/text.h>

// Ends the program if |text| is not a graph. Destroy the module.
stow_module* parse_graph(const char* text);
// Checks that |options| succeed.
stow_rewritten* rewrite_graph(const stow_graph* graph, const stow_rewrite_options* options);

// Rewrites |text| with the 1st, 2nd, … allocation failing (test_fault_sweep). Returns how many runs
// failed. |options| may be NULL.
size_t rewrite_with_faults(const char* text, const stow_rewrite_options* options);

// Only |rule| rewrites |text| into |expected|; the result verifies, is the same text when it is
// parsed and printed again, and is not rewritten further. NULL: it must not fire.
void check_rewrites(stow_rewrite_rule rule, const char* text, const char* expected, int line);
#define REWRITES(rule, text, expected) check_rewrites((rule), (text), (expected), __LINE__)
#define LEAVES(rule, text) check_rewrites((rule), (text), NULL, __LINE__)

#endif  // STOWAGE_TESTS_REWRITE_REWRITE_SUPPORT_H_
