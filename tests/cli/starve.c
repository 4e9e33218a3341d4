// Lets one allocation of the command fail: the STARVE_AT-th, from 1. STARVE_LOG names a file that
// gets the number of all at the end. STARVE_THREADS lets no thread start. So every way in which
// memory can be out is seen to end in the right exit code (test_starve.sh).
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long long count;
static unsigned long long fails_at;

static void write_count(void) {
  FILE* file = fopen(getenv("STARVE_LOG"), "w");
  if (file != NULL) {
    fprintf(file, "%llu\n", count);
    fclose(file);
  }
}

// Before main, so that threads find everything set.
__attribute__((constructor)) static void begin(void) {
  const char* at = getenv("STARVE_AT");
  fails_at = at == NULL ? 0 : strtoull(at, NULL, 10);
  if (getenv("STARVE_LOG") != NULL) {
    atexit(write_count);
  }
}

static int is_starved(void) { return __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) == fails_at; }

void* __real_malloc(size_t size);
void* __wrap_malloc(size_t size);
void* __real_calloc(size_t items, size_t size);
void* __wrap_calloc(size_t items, size_t size);
void* __real_realloc(void* old, size_t size);
void* __wrap_realloc(void* old, size_t size);
void* __real_aligned_alloc(size_t alignment, size_t size);
void* __wrap_aligned_alloc(size_t alignment, size_t size);
char* __real_strdup(const char* text);
char* __wrap_strdup(const char* text);
char* __real_strndup(const char* text, size_t size);
char* __wrap_strndup(const char* text, size_t size);
int __real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                          void* user);
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                          void* user);

void* __wrap_malloc(size_t size) { return is_starved() ? NULL : __real_malloc(size); }

void* __wrap_calloc(size_t items, size_t size) {
  return is_starved() ? NULL : __real_calloc(items, size);
}

void* __wrap_realloc(void* old, size_t size) {
  return is_starved() ? NULL : __real_realloc(old, size);
}

void* __wrap_aligned_alloc(size_t alignment, size_t size) {
  return is_starved() ? NULL : __real_aligned_alloc(alignment, size);
}

char* __wrap_strdup(const char* text) { return is_starved() ? NULL : __real_strdup(text); }

char* __wrap_strndup(const char* text, size_t size) {
  return is_starved() ? NULL : __real_strndup(text, size);
}

int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                          void* user) {
  return getenv("STARVE_THREADS") != NULL ? EAGAIN
                                          : __real_pthread_create(thread, attributes, run, user);
}
