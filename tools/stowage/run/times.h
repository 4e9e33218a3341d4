// Latencies of many runs.
#ifndef STOWAGE_TOOLS_RUN_TIMES_H_
#define STOWAGE_TOOLS_RUN_TIMES_H_

#include "run/run.h"

// In nanoseconds. A percentile is the smallest time that so many percent of the runs do not exceed.
typedef struct cli_latency {
  uint64_t count;
  uint64_t min;
  uint64_t median;
  uint64_t p90;
  uint64_t p99;
  uint64_t max;
  uint64_t mean;
} cli_latency;

// The middle of |count| times, which it sorts; 0 where there are none.
uint64_t cli_median_of(uint64_t* times, size_t count);
// Sorts the times.
cli_latency cli_latency_of(cli_list* times);

#endif  // STOWAGE_TOOLS_RUN_TIMES_H_
