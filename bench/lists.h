// Numbers and lists on the command lines of benchmarks: `100,1000`, `auto,exact`.
#ifndef STOWAGE_BENCH_LISTS_H_
#define STOWAGE_BENCH_LISTS_H_

#include <stowage/base.h>

#define BENCH_MAX_NUMBERS 16

typedef struct bench_numbers {
  uint64_t values[BENCH_MAX_NUMBERS];
  size_t count;
} bench_numbers;

// False if the text is not a number, or not numbers above 0 between commas.
bool bench_parse_number(const char* text, uint64_t* out_number);
bool bench_parse_numbers(const char* text, bench_numbers* out_numbers);

// Whether |name| is among the |names| between commas; NULL holds every name.
bool bench_is_among(const char* name, const char* names);
// How many |names| there are; |all| if it is NULL.
size_t bench_count_names(const char* names, size_t all);

#endif  // STOWAGE_BENCH_LISTS_H_
