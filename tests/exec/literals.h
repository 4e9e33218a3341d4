// Cases whose operands have their numbers in the text: constants.
#ifndef STOWAGE_TESTS_EXEC_LITERALS_H_
#define STOWAGE_TESTS_EXEC_LITERALS_H_

#include "exec/kernel_case.h"
#include "support/test.h"

// Result 0 is the numbers at the end.
#define GIVES(operands, node, results, tolerance, ...)                \
  do {                                                                \
    kernel_case* given = kernel_case_create(operands, node, results); \
    KERNEL_GIVES(given, 0, tolerance, __VA_ARGS__);                   \
    kernel_case_destroy(given);                                       \
  } while (0)

// Fails with a message that has |part|.
#define FAILS(operands, node, results, part)                          \
  do {                                                                \
    kernel_case* given = kernel_case_create(operands, node, results); \
    CHECK(kernel_case_run(given) != STOW_OK);                         \
    CHECK_HAS(kernel_case_message(given), part);                      \
    kernel_case_destroy(given);                                       \
  } while (0)

#endif  // STOWAGE_TESTS_EXEC_LITERALS_H_
