// Tensors in a few numbers, alone and beside each other; latencies of many runs.
#ifndef STOWAGE_TOOLS_RUN_STATISTICS_H_
#define STOWAGE_TOOLS_RUN_STATISTICS_H_

#include <stowage/kernel.h>

#include "run/run.h"

// Of all elements that are finite numbers; 0 where there are none.
typedef struct cli_statistics {
  size_t elements;
  size_t nans;
  size_t infinities;
  double min;
  double max;
  double mean;
  double deviation;  // of the population
} cli_statistics;

// Complex numbers count as two.
cli_statistics cli_statistics_of(const stow_tensor* tensor);

// The indices of the largest |most| elements, the largest first, among equal ones the first; what
// is no number is left out. Returns how many.
#define CLI_MOST_LARGEST 8
size_t cli_find_largest(const stow_tensor* tensor, size_t most, size_t out[CLI_MOST_LARGEST]);
// Whether a tensor is one row of numbers in which the largest tell something.
bool cli_is_row(const stow_tensor* tensor);

typedef struct cli_comparison {
  bool is_type_same;
  size_t wrong;         // elements outside the tolerance
  size_t worst;         // the element with the largest error; SIZE_MAX: none differs
  double max_absolute;  // errors of elements that are finite on both sides
  double max_relative;
} cli_comparison;

// |actual - expected| <= atol + rtol * |expected|; what is no number equals what is none, and
// infinities each other where their signs do.
cli_comparison cli_compare(const stow_tensor* actual, const stow_tensor* expected, double rtol,
                           double atol);

// Latencies in nanoseconds (times.c). A percentile is the smallest time that so many percent of the
// runs do not exceed.
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

#endif  // STOWAGE_TOOLS_RUN_STATISTICS_H_
