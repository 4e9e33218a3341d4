// Runs a program on tagged bytes. Every root is a range of memory; making a value writes its tags
// there, reading one checks that they are what its producer wrote. Loops run zero or more
// iterations, branches go either way. Between the moment a value is written and the last moment it
// is read, its bytes must be in what its root occupies, at every step that runs meanwhile: then no
// other root, which may have those bytes at other steps, can overwrite it.
//
// A result in an operand's bytes that is not a view of them needs permission from the op table or
// effects. A concat leaves unchanged what is already in its place.
#ifndef STOWAGE_TESTS_ANALYSIS_MACHINE_H_
#define STOWAGE_TESTS_ANALYSIS_MACHINE_H_

#include "analysis/api.h"
#include "support/test.h"

typedef struct machine_input {
  const stow_graph* graph;
  const stow_effects* effects;    // only holds to the end are supported
  const stow_schedule* schedule;  // each region right before its owner
  const stowi_analysis_views* views;
  const stowi_analysis_lifetimes* lifetimes;
  const stowi_analysis_windows* windows;  // may be NULL
  stow_io_policy io;
  bool classic;  // only the classic views are views
} machine_input;

// One run, with random branches and numbers of iterations. False if a check failed.
bool machine_run(const machine_input* input, test_random* random);

#endif  // STOWAGE_TESTS_ANALYSIS_MACHINE_H_
