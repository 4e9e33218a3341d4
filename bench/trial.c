#include "trial.h"

#include <stdio.h>
#include <stdlib.h>

#include "measure.h"

#define SHORT_SECONDS 0.2
#define SHORT_REPEATS 5

typedef struct stopwatch {
  double start;
  double limit;  // seconds; 0: none
  double first;  // seconds to the first placement; negative before it
} stopwatch;

static bool on_progress(void* user, const stow_place_progress* progress) {
  stopwatch* watch = (stopwatch*)user;
  double elapsed = bench_cpu_seconds() - watch->start;
  if (watch->first < 0 && progress->best != UINT64_MAX) {
    watch->first = elapsed;
  }
  return watch->limit == 0 || elapsed < watch->limit;
}

static void prove(const stow_problem* problem, const stow_strategy* strategy,
                  const stow_placement* placement) {
  size_t count = stow_problem_count(problem);
  uint64_t* offsets = (uint64_t*)calloc(count + 1, sizeof(*offsets));
  stow_diag diag;
  stow_diag_init(&diag);
  bench_require(offsets != NULL, "out of memory");
  for (size_t i = 0; i < count; ++i) {
    offsets[i] = stow_placement_offset(placement, i);
  }
  if (stow_placement_check(problem, offsets, count, stow_placement_height(placement),
                           stow_allocator_default(), &diag, NULL) != STOW_OK) {
    fprintf(stderr, "bench: %s gave a wrong placement: %s\n", strategy->name, diag.message);
    exit(EXIT_FAILURE);
  }
  free(offsets);
}

static void try_once(const stow_problem* problem, const stow_strategy* strategy,
                     const bench_limits* limits, bench_trial* trial) {
  bench_heap heap = {0, 0};
  stopwatch watch = {0, limits->seconds, -1};
  stow_place_options options;
  stow_place_options_init(&options);
  options.capacity = limits->capacity;
  options.nodes = limits->nodes;
  options.on_progress = on_progress;
  options.user = &watch;
  stow_placement* placement = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  watch.start = bench_cpu_seconds();
  stow_status status =
      strategy->place(problem, &options, bench_heap_allocator(&heap), &diag, &placement);
  trial->seconds = bench_cpu_seconds() - watch.start;
  if (status != STOW_OK) {
    fprintf(stderr, "bench: %s: %s\n", strategy->name, diag.message);
    exit(EXIT_FAILURE);
  }
  prove(problem, strategy, placement);
  stow_placement_info info = {.struct_size = sizeof(info)};
  (void)stow_placement_describe(placement, &info);
  trial->height = info.height;
  trial->bound = info.bound;
  trial->nodes = info.nodes;
  trial->outcome = info.outcome;
  trial->stopped = info.stopped;
  trial->first_seconds = watch.first < 0 ? trial->seconds : watch.first;
  trial->peak = heap.peak;
  stow_placement_destroy(placement);
}

bench_trial bench_try(const stow_problem* problem, const stow_strategy* strategy,
                      const bench_limits* limits) {
  double seconds[BENCH_MAX_REPEATS];
  double first[BENCH_MAX_REPEATS];
  bench_trial trial;
  size_t repeats = limits->repeats > 0 ? limits->repeats : 1;
  for (size_t i = 0; i < repeats; ++i) {
    try_once(problem, strategy, limits, &trial);
    seconds[i] = trial.seconds;
    first[i] = trial.first_seconds;
    if (limits->repeats == 0 && i == 0 && trial.seconds < SHORT_SECONDS) {
      repeats = SHORT_REPEATS;
    }
  }
  trial.seconds = bench_median(seconds, repeats);
  trial.first_seconds = bench_median(first, repeats);
  trial.repeats = repeats;
  return trial;
}

bool bench_is_solved(const bench_trial* trial, uint64_t capacity) {
  bool fits = capacity != STOW_PLACE_SMALLEST && trial->height <= capacity;
  return fits || trial->outcome == STOW_OUTCOME_OPTIMAL ||
         trial->outcome == STOW_OUTCOME_INFEASIBLE;
}

double bench_gap(const bench_trial* trial) {
  return trial->bound == 0 ? 0
                           : 100 * (double)(trial->height - trial->bound) / (double)trial->bound;
}
