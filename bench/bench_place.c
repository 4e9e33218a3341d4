// First-fit against a straightforward implementation of the same definition, side by side.
#include <stdio.h>
#include <stdlib.h>
#include <stowage/place.h>
#include <string.h>

#include "measure.h"
#include "support/problem_families.h"

#define REPEATS 3
#define DEFAULT_COUNT 2378

// ---------------------------------------------------------------------------------------------
// First fit in the obvious way: candidates are 0 and the ends of what is placed, lowest first, each
// tested against everything that is placed. O(n³).

typedef struct plain {
  size_t count;
  stow_buffer* buffers;
  uint64_t* offsets;
  size_t* order;
  uint64_t* candidates;
} plain;

static int compare_u64(const void* a, const void* b) {
  uint64_t x = *(const uint64_t*)a;
  uint64_t y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}

static const plain* sorting;  // qsort has no context

static int compare_size(const void* a, const void* b) {
  size_t x = *(const size_t*)a;
  size_t y = *(const size_t*)b;
  uint64_t s = sorting->buffers[x].size;
  uint64_t t = sorting->buffers[y].size;
  return s != t ? (s < t) - (s > t) : (x > y) - (x < y);
}

static bool is_free(const plain* p, size_t placed, const stow_buffer* b, uint64_t at) {
  for (size_t i = 0; i < placed; ++i) {
    const stow_buffer* other = &p->buffers[p->order[i]];
    uint64_t low = p->offsets[p->order[i]];
    if (b->begin < other->end && other->begin < b->end && at < low + other->size + other->guard &&
        low < at + b->size + b->guard) {
      return false;
    }
  }
  return true;
}

static uint64_t lowest_free(plain* p, size_t placed, const stow_buffer* b) {
  size_t count = 0;
  p->candidates[count++] = 0;
  for (size_t i = 0; i < placed; ++i) {
    const stow_buffer* other = &p->buffers[p->order[i]];
    uint64_t end = p->offsets[p->order[i]] + other->size + other->guard;
    p->candidates[count++] = (end + b->alignment - 1) / b->alignment * b->alignment;
  }
  qsort(p->candidates, count, sizeof(uint64_t), compare_u64);
  size_t i = 0;
  while (!is_free(p, placed, b, p->candidates[i])) {
    ++i;
  }
  return p->candidates[i];
}

static plain plain_create(const stow_problem* problem) {
  plain p = {.count = stow_problem_count(problem)};
  p.buffers = (stow_buffer*)malloc(p.count * sizeof(*p.buffers));
  p.offsets = (uint64_t*)malloc(p.count * sizeof(*p.offsets));
  p.order = (size_t*)malloc(p.count * sizeof(*p.order));
  p.candidates = (uint64_t*)malloc((p.count + 1) * sizeof(*p.candidates));
  bench_require(p.buffers && p.offsets && p.order && p.candidates, "out of memory");
  for (size_t i = 0; i < p.count; ++i) {
    p.buffers[i].struct_size = sizeof(p.buffers[i]);
    stow_problem_describe_buffer(problem, i, &p.buffers[i]);
    p.order[i] = i;
  }
  return p;
}

static void plain_place(plain* p) {
  sorting = p;
  qsort(p->order, p->count, sizeof(size_t), compare_size);
  for (size_t i = 0; i < p->count; ++i) {
    p->offsets[p->order[i]] = lowest_free(p, i, &p->buffers[p->order[i]]);
  }
}

static void plain_destroy(plain* p) {
  free(p->buffers);
  free(p->offsets);
  free(p->order);
  free(p->candidates);
}

// ---------------------------------------------------------------------------------------------

static stow_placement* place(const stow_problem* problem) {
  stow_place_options options;
  stow_place_options_init(&options);
  stow_placement* placement = NULL;
  bench_require(
      stow_strategy_find(stow_str_of("first-fit"))
              ->place(problem, &options, stow_allocator_default(), NULL, &placement) == STOW_OK,
      "first-fit failed");
  return placement;
}

static bool has_windows(const stow_problem* problem) {
  size_t windows = 0;
  for (size_t i = 0; i < stow_problem_count(problem); ++i) {
    windows += stow_problem_window_count(problem, i);
  }
  return windows > 0;
}

// Both on the same problem, in turn.
static void compare(const problem_family* family, const stow_problem* problem) {
  size_t count = stow_problem_count(problem);
  double slow[REPEATS];
  double fast[REPEATS];
  bool equal = true;
  for (size_t i = 0; i < REPEATS; ++i) {
    plain p = plain_create(problem);
    double start = bench_cpu_seconds();
    plain_place(&p);
    slow[i] = bench_cpu_seconds() - start;
    start = bench_cpu_seconds();
    stow_placement* placement = place(problem);
    fast[i] = bench_cpu_seconds() - start;
    for (size_t k = 0; k < count; ++k) {
      equal = equal && stow_placement_offset(placement, k) == p.offsets[k];
    }
    stow_placement_destroy(placement);
    plain_destroy(&p);
  }
  double a = bench_median(slow, REPEATS);
  double b = bench_median(fast, REPEATS);
  printf("%-12s %18.1f %14.2f %9.0fx   %s\n", family->name, a * 1e3, b * 1e3, a / b,
         equal ? "equal" : "DIFFERENT");
  fflush(stdout);
}

static int usage(FILE* out, int code) {
  fputs(
      "usage: bench_place [N]\n"
      "\n"
      "Compares first-fit with a straightforward O(n^3) implementation on N buffers (default\n"
      "2,378) of every family without windows, side by side.\n",
      out);
  return code;
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "--help") == 0) {
    return usage(stdout, 0);
  }
  size_t count = argc == 2 ? (size_t)strtoull(argv[1], NULL, 10) : DEFAULT_COUNT;
  if (argc > 2 || count == 0) {
    return usage(stderr, 2);
  }
  bench_print_machine(stdout);
  printf(
      "first-fit against a straightforward O(n^3) implementation, %zu buffers, median of %d\n"
      "family       straightforward ms   first-fit ms      ratio   offsets\n",
      count, REPEATS);
  for (size_t i = 0; i < problem_family_count; ++i) {
    stow_problem* problem = problem_family_make(&problem_families[i], 0, count, NULL);
    if (!has_windows(problem)) {  // of which the straightforward way knows nothing
      compare(&problem_families[i], problem);
    }
    stow_problem_destroy(problem);
  }
  return 0;
}
