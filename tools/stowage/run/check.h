// What steps computed, in short: enough to find the first that differs between two runs.
#ifndef STOWAGE_TOOLS_RUN_CHECK_H_
#define STOWAGE_TOOLS_RUN_CHECK_H_

#include "run/run.h"

typedef struct cli_digest {
  stow_node node;
  uint32_t call;  // how often it had run before, in a loop
  uint32_t step;
  uint64_t hash;  // of its results: types and bits
} cli_digest;

typedef struct cli_digests {
  uint32_t* calls;   // of each node
  cli_list digests;  // of cli_digest, in the order of steps
  bool failed;       // memory is out
} cli_digests;

void cli_digest_step(cli_digests* digests, const stow_exec_event* event);

#endif  // STOWAGE_TOOLS_RUN_CHECK_H_
