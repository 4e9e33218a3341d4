#define _POSIX_C_SOURCE 200809L
#include "measure.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

double bench_cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void* counting_reallocate(void* user, void* old, size_t old_size, size_t new_size,
                                 size_t alignment) {
  bench_heap* heap = (bench_heap*)user;
  stow_allocator inner = stow_allocator_default();
  void* block = inner.reallocate(inner.user, old, old_size, new_size, alignment);
  if (block != NULL || new_size == 0) {
    heap->live += new_size;
    heap->live -= old_size;
    heap->peak = heap->live > heap->peak ? heap->live : heap->peak;
  }
  return block;
}

stow_allocator bench_heap_allocator(bench_heap* heap) {
  stow_allocator allocator = {counting_reallocate, heap};
  return allocator;
}

double bench_median(double* samples, size_t count) {
  for (size_t i = 1; i < count; ++i) {
    for (size_t j = i; j > 0 && samples[j] < samples[j - 1]; --j) {
      double swap = samples[j];
      samples[j] = samples[j - 1];
      samples[j - 1] = swap;
    }
  }
  return count == 0 ? 0 : samples[count / 2];
}

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "an unknown compiler"
#endif

void bench_print_machine(FILE* out) {
  char line[256];
  FILE* info = fopen("/proc/cpuinfo", "r");
  const char* processor = "unknown processor\n";
  while (info != NULL && fgets(line, sizeof(line), info) != NULL) {
    const char* colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
      processor = colon + 1 + strspn(colon + 1, " \t");
      break;
    }
  }
  fprintf(out, "%.*s; %s; stowage %s\n", (int)strcspn(processor, "\n"), processor, COMPILER,
          stow_version());
  if (info != NULL) {
    fclose(info);
  }
}

void bench_require(bool condition, const char* what) {
  if (!condition) {
    fprintf(stderr, "bench: %s\n", what);
    exit(EXIT_FAILURE);
  }
}
