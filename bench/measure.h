// What every benchmark needs: a clock, a counting allocator, medians.
#ifndef STOWAGE_BENCH_MEASURE_H_
#define STOWAGE_BENCH_MEASURE_H_

#include <stowage/base.h>

// Seconds of CPU time of this process.
double bench_cpu_seconds(void);

// Counts live and peak bytes of the default allocator.
typedef struct bench_heap {
  size_t live;
  size_t peak;
} bench_heap;
stow_allocator bench_heap_allocator(bench_heap* heap);

// The median; sorts |samples|.
double bench_median(double* samples, size_t count);

#endif  // STOWAGE_BENCH_MEASURE_H_
