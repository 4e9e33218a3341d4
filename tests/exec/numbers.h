// Cases whose operands are given as numbers, whatever their dtypes are.
#ifndef STOWAGE_TESTS_EXEC_NUMBERS_H_
#define STOWAGE_TESTS_EXEC_NUMBERS_H_

#include <stdio.h>
#include <string.h>

#include "exec/kernel_case.h"
#include "exec/kernels/support/convert.h"
#include "support/test.h"

typedef struct numbers {
  const double* at;
  size_t count;
} numbers;

#define N(...) \
  ((numbers){(const double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double)})

static inline void set_numbers(kernel_case* c, size_t k, numbers given) {
  stow_value value = stow_graph_operands(kernel_case_graph(c), kernel_case_node(c))[k];
  const stow_type* type = stow_graph_type(kernel_case_graph(c), value);
  uint64_t count = 0;
  CHECK(stow_type_elements(type, &count) == STOW_OK && count == given.count);
  for (size_t i = 0; i < count && i < given.count; ++i) {
    if (stow_dtype_kind_of(type->dtype) == STOW_KIND_FLOAT) {
      stowi_kernel_store_f64(type->dtype, kernel_case_operand(c, k), i, 1, &given.at[i]);
    } else {
      int64_t whole = (int64_t)given.at[i];
      stowi_kernel_store_i64(type->dtype, kernel_case_operand(c, k), i, 1, &whole);
    }
  }
}

// A case whose %0, %1, … are |given|.
static inline kernel_case* numbers_case(const char* operands, const char* node, const char* results,
                                        const numbers* given, size_t given_count) {
  kernel_case* c = kernel_case_create(operands, node, results);
  const stow_graph* graph = kernel_case_graph(c);
  stow_node called = kernel_case_node(c);
  for (size_t k = 0; k < stow_graph_operand_count(graph, called); ++k) {
    stow_value value = stow_graph_operands(graph, called)[k];
    if (value != STOW_VALUE_NONE && value < given_count) {
      set_numbers(c, k, given[value]);
    }
  }
  return c;
}

#define GIVEN(...) \
  (const numbers[]){__VA_ARGS__}, sizeof((const numbers[]){__VA_ARGS__}) / sizeof(numbers)

// Result |k| is |expected|.
#define GIVES(operands, node, results, k, tolerance, expected, ...)                        \
  do {                                                                                     \
    kernel_case* numbered = numbers_case(operands, node, results, GIVEN(__VA_ARGS__));     \
    kernel_case_gives(numbered, k, (expected).at, (expected).count, (tolerance), __FILE__, \
                      __LINE__);                                                           \
    kernel_case_destroy(numbered);                                                         \
  } while (0)

#define FAILS(operands, node, results, part, ...)                                      \
  do {                                                                                 \
    kernel_case* numbered = numbers_case(operands, node, results, GIVEN(__VA_ARGS__)); \
    CHECK(kernel_case_run(numbered) != STOW_OK);                                       \
    CHECK_HAS(kernel_case_message(numbered), part);                                    \
    kernel_case_destroy(numbered);                                                     \
  } while (0)

// |out| is |text| with each T replaced by |dtype|.
static inline void put_dtype(const char* text, const char* dtype, char* out, size_t room) {
  size_t used = 0;
  for (; *text != '\0' && used + 8 < room; ++text) {
    used += *text == 'T' ? (size_t)snprintf(out + used, room - used, "%s", dtype)
                         : (size_t)snprintf(out + used, room - used, "%c", *text);
  }
}

// The same for all real dtypes in place of T.
static inline void reals_give(const char* operands, const char* node, const char* results, size_t k,
                              numbers expected, const numbers* given, size_t given_count,
                              const char* file, int line) {
  static const struct {
    const char* name;
    double tolerance;
  } dtypes[] = {{"f32", 1e-6}, {"f64", 2e-8}, {"f16", 2e-3}, {"bf16", 1e-2}};
  for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); ++i) {
    char texts[3][256];
    put_dtype(operands, dtypes[i].name, texts[0], sizeof(texts[0]));
    put_dtype(node, dtypes[i].name, texts[1], sizeof(texts[1]));
    put_dtype(results, dtypes[i].name, texts[2], sizeof(texts[2]));
    kernel_case* c = numbers_case(texts[0], texts[1], texts[2], given, given_count);
    kernel_case_gives(c, k, expected.at, expected.count, dtypes[i].tolerance, file, line);
    kernel_case_destroy(c);
  }
}

#define REALS_GIVE(operands, node, results, k, expected, ...) \
  reals_give(operands, node, results, k, expected, GIVEN(__VA_ARGS__), __FILE__, __LINE__)

#endif  // STOWAGE_TESTS_EXEC_NUMBERS_H_
