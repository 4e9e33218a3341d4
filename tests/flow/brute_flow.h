// Flows as plain tables, random ones of many kinds, and the memory model written as naively as
// possible: the library is compared with this.
#ifndef STOWAGE_TESTS_SCHEDULE_BRUTE_FLOW_H_
#define STOWAGE_TESTS_SCHEDULE_BRUTE_FLOW_H_

#include "flow/api.h"
#include "support/test.h"

enum { BRUTE_TASKS = 12, BRUTE_BLOCKS = 24, BRUTE_PAIRS = 32 };

typedef struct brute_block {
  uint64_t bytes;
  bool to_end;
  int maker;         // -1: none
  uint32_t readers;  // a bit for each task
  int whole;         // -1: none
} brute_block;

typedef struct brute_pair {
  int task, made, read;
} brute_pair;

typedef struct brute_flow {
  int task_count, block_count, pair_count;
  uint64_t scratch[BRUTE_TASKS];
  uint32_t follows[BRUTE_TASKS];  // a bit for each earlier task
  brute_block blocks[BRUTE_BLOCKS];
  brute_pair pairs[BRUTE_PAIRS];
} brute_flow;

enum {
  BRUTE_OVER = 1,
  BRUTE_PARTS = 2,
  BRUTE_SCRATCH = 4,
  BRUTE_TO_END = 8,
  BRUTE_FOLLOWS = 16,
  BRUTE_KINDS = 32
};

// Up to |max_tasks| tasks, with the features in |kinds|.
brute_flow brute_random(test_random* random, int max_tasks, unsigned kinds);
// The same as a flow; NULL if |allocator| is out of memory.
stowi_flow* brute_build(const brute_flow* b, stow_allocator allocator);
// The need of |task| after the set |ran|.
uint64_t brute_need(const brute_flow* b, uint32_t ran, int task);
bool brute_may_run(const brute_flow* b, uint32_t ran, int task);
uint64_t brute_peak(const brute_flow* b, const stowi_flow_task* order);
// The lowest peak of all orders, by trying every path through all sets.
uint64_t brute_optimum(const brute_flow* b);
// The same by trying every order: for a few tasks.
uint64_t brute_optimum_of_orders(const brute_flow* b);

#endif  // STOWAGE_TESTS_SCHEDULE_BRUTE_FLOW_H_
