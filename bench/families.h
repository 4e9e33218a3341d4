// Families of placement problems, as they come from tensor programs of different shapes.
#ifndef STOWAGE_BENCH_FAMILIES_H_
#define STOWAGE_BENCH_FAMILIES_H_

#include <stowage/place.h>

typedef struct bench_family {
  const char* name;
  const char* summary;
  // The life [begin, end) of buffer |i| of |count|; |random| is a fresh random number.
  void (*life)(uint64_t i, uint64_t count, uint64_t random, uint64_t* begin, uint64_t* end);
} bench_family;

extern const bench_family bench_families[];
extern const size_t bench_family_count;

// A problem of |count| buffers. Sizes are spread over 256 bytes … 4 MiB, alike on a logarithmic
// scale, and nearly all different: the hard case. The same count gives the same problem. Ends the
// program where it can't.
stow_problem* bench_family_make(const bench_family* family, size_t count, stow_allocator allocator);

#endif  // STOWAGE_BENCH_FAMILIES_H_
