// Families of placement problems, as they come from tensor programs of different structure, and
// some whose lowest height is known by construction. For tests and benchmarks; public headers only.
#ifndef STOWAGE_TESTS_SUPPORT_PROBLEM_FAMILIES_H_
#define STOWAGE_TESTS_SUPPORT_PROBLEM_FAMILIES_H_

#include <stowage/place.h>

#define OPTIMUM_UNKNOWN UINT64_MAX

typedef struct problem_maker problem_maker;

typedef struct problem_family {
  const char* name;
  const char* summary;
  bool optimum_known;
  // Adds |count| buffers. Returns the lowest height that they can have, or OPTIMUM_UNKNOWN.
  uint64_t (*fill)(problem_maker* maker, size_t count);
} problem_family;

extern const problem_family problem_families[];
extern const size_t problem_family_count;

// NULL if there is none.
const problem_family* problem_family_find(const char* name);

// A problem of exactly |count| buffers, above 0. The same seed and count give the same problem on
// every machine. |out_optimum| (may be NULL) gets the lowest height, or OPTIMUM_UNKNOWN. Ends the
// program if out of memory.
stow_problem* problem_family_make(const problem_family* family, uint64_t seed, size_t count,
                                  uint64_t* out_optimum);

// Problems small enough for brute force: 3 to 8 buffers of 1 to 6 bytes over steps 0 to 8, with the
// requested |kinds| of trouble. Fixed buffers never overlap.
enum {
  TINY_ALIGNMENTS = 1,
  TINY_GUARDS = 2,
  TINY_FIXED = 4,
  TINY_WINDOWS = 8,
  TINY_FULL = 16,  // up to 14 buffers; nearly no byte is free at any step if they fit the load
  TINY_KINDS = 32  // every combination is below this
};
stow_problem* tiny_problem_make(uint64_t seed, unsigned kinds);

#endif  // STOWAGE_TESTS_SUPPORT_PROBLEM_FAMILIES_H_
