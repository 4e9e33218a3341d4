// One node over some inputs, written as text: what type it gives, or why it is refused. Operands
// are inputs whose types are separated by ';', so %0 is the first; `TYPE = [1, 2]` is a
// constant with that data, and `TYPE := op(%0)` a node. Result types are separated the same way.
// The text must agree with what the op infers, so that reading it without an error is the check.
//
//     GIVES("f32[2, 3]; f32[3, 4]", "matmul(%0, %1)", "f32[2, 4]");
//     REFUSES("f32[2, 3]; f32[2, 4]", "matmul(%0, %1)", "f32[2, 4]", "3 columns");
#ifndef STOWAGE_TESTS_GRAPH_SHAPE_CASES_H_
#define STOWAGE_TESTS_GRAPH_SHAPE_CASES_H_

#include <stowage/text.h>

// The module that holds the one graph, or NULL with the diagnostic filled.
stow_module* shape_case_parse(const char* operands, const char* node, const char* results,
                              stow_allocator allocator, stow_diag* diag);
void shape_case_gives(const char* operands, const char* node, const char* results, const char* file,
                      int line);
void shape_case_refuses(const char* operands, const char* node, const char* results,
                        stow_status status, const char* message, const char* file, int line);
// Binds symbol `s` after reading.
void shape_case_binds(const char* operands, const char* node, const char* results, int64_t s,
                      const char* bound_results, const char* message, const char* file, int line);

// The known elements of the results, separated by blanks (results by ';'); `_` for unknown ones.
void shape_case_folds(const char* operands, const char* node, const char* results,
                      const char* values, const char* file, int line);

#define GIVES(operands, node, results) \
  shape_case_gives((operands), (node), (results), __FILE__, __LINE__)
#define REFUSES(operands, node, results, message) \
  shape_case_refuses((operands), (node), (results), STOW_ERR_TYPE, (message), __FILE__, __LINE__)
#define REFUSES_AS(status, operands, node, results, message) \
  shape_case_refuses((operands), (node), (results), (status), (message), __FILE__, __LINE__)
#define FOLDS(operands, node, results, values) \
  shape_case_folds((operands), (node), (results), (values), __FILE__, __LINE__)
// With s bound, the results are |bound|.
#define BINDS(operands, node, results, s, bound) \
  shape_case_binds((operands), (node), (results), (s), (bound), NULL, __FILE__, __LINE__)
// Binding s is refused.
#define BIND_REFUSES(operands, node, results, s, message) \
  shape_case_binds((operands), (node), (results), (s), NULL, (message), __FILE__, __LINE__)

#endif  // STOWAGE_TESTS_GRAPH_SHAPE_CASES_H_
