// One strategy on one problem: measured, and proven by the checker.
#ifndef STOWAGE_BENCH_TRIAL_H_
#define STOWAGE_BENCH_TRIAL_H_

#include <stowage/place.h>

#define BENCH_MAX_REPEATS 99

typedef struct bench_limits {
  uint64_t capacity;  // STOW_PLACE_SMALLEST: minimise
  uint64_t nodes;
  double seconds;  // of CPU time; 0: no limit
  size_t repeats;  // 0: five where one is short, else one
} bench_limits;

typedef struct bench_trial {
  uint64_t height;
  uint64_t bound;
  uint64_t nodes;
  stow_outcome outcome;
  bool stopped;          // by the limit in seconds
  double seconds;        // CPU time, the median
  double first_seconds;  // to the first placement, the median
  size_t peak;           // bytes allocated by the strategy
  size_t repeats;
} bench_trial;

// Ends the program where the strategy fails or its placement is wrong.
bench_trial bench_try(const stow_problem* problem, const stow_strategy* strategy,
                      const bench_limits* limits);

// The question that was asked has its answer: an optimum, or for a capacity a fit or a proof.
bool bench_is_solved(const bench_trial* trial, uint64_t capacity);
// By how many percent the height is above the bound.
double bench_gap(const bench_trial* trial);

#endif  // STOWAGE_BENCH_TRIAL_H_
