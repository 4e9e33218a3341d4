// AddressSanitizer support: makes unused bytes of an arena inaccessible. Does nothing in other
// builds.
#ifndef STOWAGE_SRC_ARENA_POISON_H_
#define STOWAGE_SRC_ARENA_POISON_H_

#include <stddef.h>
#include <stdint.h>

// gcc and clang announce it differently.
#if defined(__SANITIZE_ADDRESS__)
#define STOWI_ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STOWI_ARENA_ASAN 1
#endif
#endif
#ifndef STOWI_ARENA_ASAN
#define STOWI_ARENA_ASAN 0
#endif

// Poison is tracked in units of this many bytes.
#define STOWI_ARENA_GRANULE 8

#if STOWI_ARENA_ASAN

// Declared here, so that no compiler header is needed.
void __asan_poison_memory_region(void const volatile* address, size_t size);
void __asan_unpoison_memory_region(void const volatile* address, size_t size);

// For functions that access poisoned bytes on purpose. They work byte by byte, because memcpy is
// instrumented too.
#define STOWI_ARENA_UNWATCHED __attribute__((no_sanitize("address"), noinline))

// Only a prefix of a granule can be accessible. A neighbour's bytes are therefore never poisoned,
// but some bytes of this range may stay accessible where it begins or ends inside a granule.
static inline void stowi_arena_poison(unsigned char* data, size_t size) {
  __asan_poison_memory_region(data, size);
}

static inline void stowi_arena_unpoison(unsigned char* data, size_t size) {
  __asan_unpoison_memory_region(data, size);
}

#else

#define STOWI_ARENA_UNWATCHED
static inline void stowi_arena_poison(unsigned char* data, size_t size) {
  (void)data;
  (void)size;
}
static inline void stowi_arena_unpoison(unsigned char* data, size_t size) {
  (void)data;
  (void)size;
}

#endif

#endif  // STOWAGE_SRC_ARENA_POISON_H_
