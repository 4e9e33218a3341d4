// Cases whose operand 0 has the elements 0, 1, 2, …: where each went is seen from the result.
#ifndef STOWAGE_TESTS_EXEC_COUNTED_H_
#define STOWAGE_TESTS_EXEC_COUNTED_H_

#include "exec/kernel_case.h"
#include "exec/kernels/support/convert.h"
#include "support/test.h"

static inline void count_up(kernel_case* c, size_t k, double first) {
  stow_value value = stow_graph_operands(kernel_case_graph(c), kernel_case_node(c))[k];
  const stow_type* type = stow_graph_type(kernel_case_graph(c), value);
  uint64_t count;
  if (stow_type_elements(type, &count) != STOW_OK) {
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    double number = first + (double)i;
    int64_t whole = (int64_t)number;
    if (stow_dtype_kind_of(type->dtype) == STOW_KIND_FLOAT) {
      stowi_kernel_store_f64(type->dtype, kernel_case_operand(c, k), i, 1, &number);
    } else {
      stowi_kernel_store_i64(type->dtype, kernel_case_operand(c, k), i, 1, &whole);
    }
  }
}

// Result 0, exactly.
#define COUNTED(operands, node, results, ...)                           \
  do {                                                                  \
    kernel_case* counted = kernel_case_create(operands, node, results); \
    count_up(counted, 0, 0);                                            \
    KERNEL_GIVES(counted, 0, 0, __VA_ARGS__);                           \
    kernel_case_destroy(counted);                                       \
  } while (0)

// It fails, and the message has |part|.
#define COUNTED_FAILS(operands, node, results, part)                    \
  do {                                                                  \
    kernel_case* counted = kernel_case_create(operands, node, results); \
    count_up(counted, 0, 0);                                            \
    CHECK(kernel_case_run(counted) != STOW_OK);                         \
    CHECK_HAS(kernel_case_message(counted), part);                      \
    kernel_case_destroy(counted);                                       \
  } while (0)

// It succeeds; there is nothing to compare but the ways to run it.
#define COUNTED_RUNS(operands, node, results)                           \
  do {                                                                  \
    kernel_case* counted = kernel_case_create(operands, node, results); \
    count_up(counted, 0, 0);                                            \
    CHECK(kernel_case_run(counted) == STOW_OK);                         \
    CHECK_TEXT(kernel_case_message(counted), "");                       \
    kernel_case_destroy(counted);                                       \
  } while (0)

#endif  // STOWAGE_TESTS_EXEC_COUNTED_H_
