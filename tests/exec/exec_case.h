// A graph, written as text, that is prepared, planned and run, with plain kernels of its own for a
// few ops: add, mul, neg, lt, nonzero, and relu. So what fails here is the executor.
//
//     exec_case c;
//     exec_case_begin(&c, "%0 = input \"x\" : f32[2]\n %1 = neg(%0) : f32[2]\n return %1");
//     REQUIRE(exec_case_make(&c) == STOW_OK);
//     EXEC_SET(&c, "x", float, 1, 2);
//     CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
//     EXEC_GIVES(&c, 0, float, -1, -2);
//     exec_case_end(&c);
#ifndef STOWAGE_TESTS_EXEC_EXEC_CASE_H_
#define STOWAGE_TESTS_EXEC_EXEC_CASE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stowage/exec.h>
#include <stowage/text.h>

#include "support/frozen.h"

typedef struct exec_case {
  stow_allocator allocator;
  stow_diag diag;
  stow_module* module;
  stow_graph* graph;
  stow_kernels* kernels;
  stow_prepared* prepared;
  stow_plan* plan;
  stow_exec* exec;
  stow_prepare_options prepare_options;
  stow_plan_options plan_options;
  stow_exec_options options;
  test_frozen frozen;      // the graph: runs only read it
  struct exec_kept* kept;  // what was bound
} exec_case;

// |text| is what stands between the braces of a graph. Ends the program where it is refused.
void exec_case_begin(exec_case* c, const char* text);
// Prepares, plans and creates; again where that was done before.
stow_status exec_case_make(exec_case* c);
void exec_case_end(exec_case* c);

// Ways to run that must all give the same: as planned by default, without reuse, paranoid with
// guards, poisoned, with two threads, with inputs and outputs outside the arena, with weights
// outside it.
enum { EXEC_WAYS = 7, EXEC_WAY_PARANOID = 2, EXEC_WAY_EXTERNAL = 5, EXEC_WAY_WEIGHTS = 6 };
void exec_case_way(exec_case* c, int way);

stow_value exec_case_value(const exec_case* c, const char* name);
// Sets an input; where it has no slot, binds it to memory that lives as long as the program.
stow_status exec_case_set(exec_case* c, const char* name, const void* data, size_t size);
// The same with dims of its own.
stow_status exec_case_set_dims(exec_case* c, const char* name, const void* data,
                               const int64_t* dims);
// Binds outputs without slots.
void exec_case_bind_outputs(exec_case* c);
// Output |k| after a run; fails the test where it has another size than |size|.
void exec_case_gives(exec_case* c, size_t k, const void* expected, size_t size, const char* file,
                     int line);

#define EXEC_SET(c, name, type, ...) \
  CHECK(exec_case_set((c), (name), (type[]){__VA_ARGS__}, sizeof((type[]){__VA_ARGS__})) == STOW_OK)
#define EXEC_GIVES(c, k, type, ...)                                                         \
  exec_case_gives((c), (k), (type[]){__VA_ARGS__}, sizeof((type[]){__VA_ARGS__}), __FILE__, \
                  __LINE__)

#endif  // STOWAGE_TESTS_EXEC_EXEC_CASE_H_
