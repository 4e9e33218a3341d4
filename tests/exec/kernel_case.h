// One call of a kernel, written as text (graph/shape_cases.h), with numbers. It is run in every way
// that must give the same bits: alone, divided into small pieces among several workers, and in
// place over every operand that the op's row allows, all results at once too, and with operands
// that are the very same bytes where the row allows that; with every variant of the kernel, whose
// scratch shrinks from one to the next, and as on machines with fewer instructions. Scratch is
// exactly what the kernel asked for, and bytes around tensors and scratch must stay as they were.
//
//     kernel_case* c = kernel_case_create("f32[2]; f32[2]", "add(%0, %1)", "f32[2]");
//     KERNEL_SET(c, 0, float, 1, 2);
//     KERNEL_SET(c, 1, float, 3, 4);
//     KERNEL_GIVES(c, 0, 1e-6, 4, 6);
//     kernel_case_destroy(c);
#ifndef STOWAGE_TESTS_EXEC_KERNEL_CASE_H_
#define STOWAGE_TESTS_EXEC_KERNEL_CASE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stowage/graph.h>
#include <stowage/kernel.h>

typedef struct kernel_case kernel_case;

// Ends the program where the text is refused; NULL where a dim is not a number. Operands that are
// constants have their data already.
kernel_case* kernel_case_create(const char* operands, const char* node, const char* results);
// For the last node of |graph|, whose dims are numbers; it is the case's from now on.
kernel_case* kernel_case_of(stow_graph* graph);
void kernel_case_destroy(kernel_case* c);

const stow_graph* kernel_case_graph(const kernel_case* c);
stow_node kernel_case_node(const kernel_case* c);  // the one whose kernel is called

// Operand |k|'s elements, to be filled; zeros at first.
void* kernel_case_operand(kernel_case* c, size_t k);
// Copies |size| bytes, which must be all of the operand, unless its size is not a multiple of the
// element's.
void kernel_case_set(kernel_case* c, size_t k, const void* data, size_t size);
// Fills all operands that are not constants with numbers that suit their dtypes: floats in [-2, 2),
// small integers.
void kernel_case_fill(kernel_case* c, uint64_t seed);

// Gives results the dims that follow from the operands' elements, as the executor does where the
// graph's are only the largest possible. Fails as it does, with a message.
stow_status kernel_case_resolve(kernel_case* c);

// Runs in every way; a difference fails the running test. The status and the message of the plain
// way.
stow_status kernel_case_run(kernel_case* c);
// What the last variant asked one worker for in the last run, in bytes.
uint64_t kernel_case_least_scratch(const kernel_case* c);
const char* kernel_case_message(const kernel_case* c);
// Result |k| of the plain way, with its actual dims.
const stow_tensor* kernel_case_result(const kernel_case* c, size_t k);

// The pairs for which the last run had a result over an operand.
typedef struct kernel_case_place {
  size_t result;
  size_t operand;
  stow_in_place in_place;
} kernel_case_place;
size_t kernel_case_place_count(const kernel_case* c);
kernel_case_place kernel_case_place_at(const kernel_case* c, size_t i);

// Runs, and compares result |k| with |count| numbers: each within |tolerance|, absolute or
// relative.
void kernel_case_gives(kernel_case* c, size_t k, const double* expected, size_t count,
                       double tolerance, const char* file, int line);

#define KERNEL_SET(c, k, type, ...) \
  kernel_case_set((c), (k), (type[]){__VA_ARGS__}, sizeof((type[]){__VA_ARGS__}))
#define KERNEL_GIVES(c, k, tolerance, ...)                                                   \
  kernel_case_gives((c), (k), (double[]){__VA_ARGS__},                                       \
                    sizeof((double[]){__VA_ARGS__}) / sizeof(double), (tolerance), __FILE__, \
                    __LINE__)

#endif  // STOWAGE_TESTS_EXEC_KERNEL_CASE_H_
