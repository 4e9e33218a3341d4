// What every benchmark needs: a clock, a counting allocator, medians, the name of the machine.
#ifndef STOWAGE_BENCH_MEASURE_H_
#define STOWAGE_BENCH_MEASURE_H_

#include <stdio.h>
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

// The processor, where /proc/cpuinfo tells, and the compiler.
void bench_print_machine(FILE* out);

// Ends the program with |what| unless |condition| holds: there is nothing to measure then.
void bench_require(bool condition, const char* what);

#endif  // STOWAGE_BENCH_MEASURE_H_
