// Runs a program on tagged bytes. Every root is a stretch of memory; making a value writes its tags
// there, reading one checks that they are what its producer wrote. Loops make none, one or more
// rounds, branches go either way. Between the moment a value is written and the last moment it is
// read, its bytes must lie in what its root occupies, at every step that runs meanwhile: then no
// other root, which may have those bytes at other steps, can destroy it.
//
// A result that lies over an operand's bytes without being a view of them needs a permission, which
// is looked for in the rows and effects. A concat leaves alone what lies in its place already.
#ifndef STOWAGE_TESTS_ANALYSIS_MACHINE_H_
#define STOWAGE_TESTS_ANALYSIS_MACHINE_H_

#include "analysis/api.h"
#include "support/test.h"

typedef struct machine_input {
  const stow_graph* graph;
  const stow_effects* effects;    // of holds only those to the end are known
  const stow_schedule* schedule;  // each region right before its owner
  const stowi_views* views;
  const stowi_lifetimes* lifetimes;
  const stowi_windows* windows;  // may be NULL
  stow_io_policy io;
  bool classic;  // only the classic views are views
} machine_input;

// One run, with random branches and numbers of rounds. False where a check failed.
bool machine_run(const machine_input* input, test_random* random);

#endif  // STOWAGE_TESTS_ANALYSIS_MACHINE_H_
