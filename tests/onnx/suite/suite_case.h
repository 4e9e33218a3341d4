// One case of the ONNX backend suite: a model, and what its inputs and outputs must be.
#ifndef STOWAGE_TESTS_ONNX_SUITE_CASE_H_
#define STOWAGE_TESTS_ONNX_SUITE_CASE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum suite_outcome {
  SUITE_PASSED,       // every output has the type (in runs: and the elements) of the expected one
  SUITE_BOUNDED,      // … of some outputs the dims are upper bounds
  SUITE_RANK_ONLY,    // … of some outputs dims depend on data: only dtype and rank are told
  SUITE_UNSUPPORTED,  // the import says so
  SUITE_FAILED,
  SUITE_OUTCOME_COUNT
} suite_outcome;

#define SUITE_TEXT_SIZE 512

// How models are run, where they are.
typedef struct suite_options {
  bool is_paranoid;
  bool is_unshared;  // nothing shares bytes
  uint32_t threads;
} suite_options;
extern suite_options suite_run_options;

typedef struct suite_result {
  suite_outcome outcome;
  char op[64];                   // of the node that is not supported; empty: no node
  char reason[SUITE_TEXT_SIZE];  // why not supported, or what failed
} suite_result;

// |model| is the model's path; tensors are at |inputs|N.pb and |outputs|N.pb, N from 0 on until
// there is no such file. Runs in a process of its own, so that neither a crash nor an endless loop
// ends the others.
suite_result suite_run_case(const char* model, const char* inputs, const char* outputs,
                            bool verbose);

// The same in this process, for tools that watch one process: coverage counts what exits.
suite_result suite_run_here(const char* model, const char* inputs, const char* outputs,
                            bool verbose);

#endif  // STOWAGE_TESTS_ONNX_SUITE_CASE_H_
