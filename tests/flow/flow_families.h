// Larger flows with the structure of networks.
#ifndef STOWAGE_TESTS_SCHEDULE_FLOW_FAMILIES_H_
#define STOWAGE_TESTS_SCHEDULE_FLOW_FAMILIES_H_

#include "flow/api.h"
#include "support/test.h"

typedef enum flow_family {
  FLOW_CHAIN,
  FLOW_LAYERED,   // layers of tasks that read some of the previous layer
  FLOW_PARALLEL,  // branches of branches
  FLOW_CELLS,     // NASNet: each cell reads the two before it and joins ten small ops
  FLOW_RANDWIRE,  // random graphs of 32 tasks, in a chain
  FLOW_UNET,
  FLOW_BACKWARD,  // a pass forwards, one backwards that reads what it made, updates
  FLOW_EXPERTS,   // blocks of equal branches
  FLOW_DENSE,     // concats of everything before, with copy elision
  FLOW_STRAYS,    // blocks with tasks that wait for nothing
  FLOW_FAMILY_COUNT
} flow_family;

const char* flow_family_name(flow_family family);
// About |tasks| tasks; NULL if |allocator| is out of memory. The given order is one that a front
// end could have written: depth first or breadth first.
stowi_flow* flow_family_make(flow_family family, uint32_t tasks, uint64_t seed,
                             stow_allocator allocator);

#endif  // STOWAGE_TESTS_SCHEDULE_FLOW_FAMILIES_H_
