// Counts calls of functions that allocate: the linker sends them here (--wrap).
#ifndef STOWAGE_TESTS_EXEC_WRAPPED_CALLS_H_
#define STOWAGE_TESTS_EXEC_WRAPPED_CALLS_H_

#include <stddef.h>

static size_t calls;

#define WRAP(type, name, parameters, arguments) \
  type __real_##name parameters;                \
  type __wrap_##name parameters;                \
  type __wrap_##name parameters {               \
    ++calls;                                    \
    return __real_##name arguments;             \
  }

WRAP(void*, malloc, (size_t size), (size))
WRAP(void*, calloc, (size_t count, size_t size), (count, size))
WRAP(void*, realloc, (void* old, size_t size), (old, size))
WRAP(void*, aligned_alloc, (size_t alignment, size_t size), (alignment, size))

#endif  // STOWAGE_TESTS_EXEC_WRAPPED_CALLS_H_
