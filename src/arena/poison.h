// AddressSanitizer's view of an arena: bytes that are not in use can be made inaccessible. Without
// it, nothing.
#ifndef STOWAGE_SRC_ARENA_POISON_H_
#define STOWAGE_SRC_ARENA_POISON_H_

#include <stddef.h>
#include <stdint.h>

// gcc and clang announce it differently.
#if defined(__SANITIZE_ADDRESS__)
#define STOWI_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STOWI_ASAN 1
#endif
#endif
#ifndef STOWI_ASAN
#define STOWI_ASAN 0
#endif

// Poison is kept per so many bytes.
#define STOWI_GRANULE 8

#if STOWI_ASAN

// Declared here, so that no header of the compiler's is needed.
void __asan_poison_memory_region(void const volatile* address, size_t size);
void __asan_unpoison_memory_region(void const volatile* address, size_t size);

// For functions that read and write poisoned bytes on purpose: byte by byte, as memcpy is watched
// as well.
#define STOWI_UNWATCHED __attribute__((no_sanitize("address"), noinline))

// Of a granule only the first bytes can be accessible. So a neighbour's
// bytes are never poisoned, but some of one's own may stay accessible where a range begins or ends
// inside a granule.
static inline void stowi_poison(unsigned char* data, size_t size) {
  __asan_poison_memory_region(data, size);
}

static inline void stowi_unpoison(unsigned char* data, size_t size) {
  __asan_unpoison_memory_region(data, size);
}

#else

#define STOWI_UNWATCHED
static inline void stowi_poison(unsigned char* data, size_t size) {
  (void)data;
  (void)size;
}
static inline void stowi_unpoison(unsigned char* data, size_t size) {
  (void)data;
  (void)size;
}

#endif

#endif  // STOWAGE_SRC_ARENA_POISON_H_
