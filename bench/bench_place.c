// What placement costs: families of generated problems from 1 k to 1 M buffers, and the ratio of
// first-fit to a straightforward implementation of the same definition.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/place.h>
#include <string.h>

#include "families.h"
#include "measure.h"

#define MAX_REPEATS 9

static void require(bool condition, const char* what) {
  if (!condition) {
    fprintf(stderr, "bench_place: %s\n", what);
    exit(1);
  }
}

// ---------------------------------------------------------------------------------------------
// First fit in the obvious way: candidates are 0 and the ends of what is placed, lowest first, each
// tested against everything that is placed. O(n³).

typedef struct plain {
  size_t count;
  stow_buffer_desc* buffers;
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

static bool is_free(const plain* p, size_t placed, const stow_buffer_desc* b, uint64_t at) {
  for (size_t i = 0; i < placed; ++i) {
    const stow_buffer_desc* other = &p->buffers[p->order[i]];
    uint64_t low = p->offsets[p->order[i]];
    if (b->begin < other->end && other->begin < b->end && at < low + other->size + other->guard &&
        low < at + b->size + b->guard) {
      return false;
    }
  }
  return true;
}

static uint64_t lowest_free(plain* p, size_t placed, const stow_buffer_desc* b) {
  size_t count = 0;
  p->candidates[count++] = 0;
  for (size_t i = 0; i < placed; ++i) {
    const stow_buffer_desc* other = &p->buffers[p->order[i]];
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
  p.buffers = (stow_buffer_desc*)malloc(p.count * sizeof(*p.buffers));
  p.offsets = (uint64_t*)malloc(p.count * sizeof(*p.offsets));
  p.order = (size_t*)malloc(p.count * sizeof(*p.order));
  p.candidates = (uint64_t*)malloc((p.count + 1) * sizeof(*p.candidates));
  require(p.buffers && p.offsets && p.order && p.candidates, "out of memory");
  for (size_t i = 0; i < p.count; ++i) {
    stow_problem_get(problem, i, &p.buffers[i]);
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

typedef struct result {
  double seconds;
  double peak_mb;
  uint64_t height;
} result;

static stow_placement* place(const stow_problem* problem, const stow_strategy* strategy,
                             stow_allocator allocator) {
  stow_place_options options;
  stow_place_options_init(&options);
  stow_placement* placement = NULL;
  require(strategy->place(problem, &options, allocator, NULL, &placement) == STOW_OK,
          "the strategy failed");
  return placement;
}

static void prove(const stow_problem* problem, const stow_placement* placement) {
  size_t count = stow_placement_count(placement);
  uint64_t* offsets = (uint64_t*)malloc(count * sizeof(uint64_t));
  require(offsets != NULL, "out of memory");
  for (size_t i = 0; i < count; ++i) {
    offsets[i] = stow_placement_offset(placement, i);
  }
  require(stow_placement_check(problem, offsets, count, stow_placement_height(placement),
                               stow_allocator_default(), NULL, NULL) == STOW_OK,
          "the checker found a violation");
  free(offsets);
}

static result measure(const stow_problem* problem, const stow_strategy* strategy, size_t repeats) {
  double times[MAX_REPEATS];
  result r = {0, 0, 0};
  for (size_t i = 0; i < repeats; ++i) {
    bench_heap heap = {0, 0};
    double start = bench_cpu_seconds();
    stow_placement* placement = place(problem, strategy, bench_heap_allocator(&heap));
    times[i] = bench_cpu_seconds() - start;
    if (i == 0) {
      prove(problem, placement);
    }
    r.height = stow_placement_height(placement);
    r.peak_mb = (double)heap.peak / 1e6;
    stow_placement_destroy(placement);
  }
  r.seconds = bench_median(times, repeats);
  return r;
}

static void run_family(const bench_family* family, const stow_strategy* strategy, size_t largest,
                       FILE* csv) {
  double previous = 0;
  for (size_t count = 1000; count <= largest; count *= 10) {
    stow_problem* problem = bench_family_make(family, count, stow_allocator_default());
    stow_load load;
    require(stow_problem_load(problem, stow_allocator_default(), NULL, &load) == STOW_OK,
            "out of memory");
    result r = measure(problem, strategy, count >= 100000 ? 1 : 5);
    printf("%-10s %-10s %8zu %15" PRIu64 " %10.1f %8.1f %7.3f ", family->name, strategy->name,
           count, load.pair_count, r.seconds * 1e3, r.peak_mb,
           (double)r.height / (double)load.lower_bound);
    if (previous > 0) {
      printf("%6.1fx\n", r.seconds / previous);
    } else {
      printf("      -\n");
    }
    fflush(stdout);
    if (csv != NULL) {
      fprintf(csv, "%s,%s,%zu,%" PRIu64 ",%.6f,%.3f,%" PRIu64 ",%" PRIu64 "\n", family->name,
              strategy->name, count, load.pair_count, r.seconds, r.peak_mb, r.height,
              load.lower_bound);
    }
    previous = r.seconds;
    stow_problem_destroy(problem);
  }
}

// RLX's way and ours on the same problem, in turn.
static void run_ratio(size_t count, size_t repeats) {
  printf(
      "\nfirst-fit against a straightforward O(n^3) implementation, %zu buffers, median of %zu\n"
      "family     straightforward ms   first-fit ms      ratio   offsets\n",
      count, repeats);
  const stow_strategy* strategy = stow_strategy_find(stow_str_of("first-fit"));
  for (size_t f = 0; f < bench_family_count; ++f) {
    stow_problem* problem = bench_family_make(&bench_families[f], count, stow_allocator_default());
    double slow[MAX_REPEATS];
    double fast[MAX_REPEATS];
    bool equal = true;
    for (size_t i = 0; i < repeats; ++i) {
      plain p = plain_create(problem);
      double start = bench_cpu_seconds();
      plain_place(&p);
      slow[i] = bench_cpu_seconds() - start;
      start = bench_cpu_seconds();
      stow_placement* placement = place(problem, strategy, stow_allocator_default());
      fast[i] = bench_cpu_seconds() - start;
      for (size_t k = 0; k < count; ++k) {
        equal = equal && stow_placement_offset(placement, k) == p.offsets[k];
      }
      stow_placement_destroy(placement);
      plain_destroy(&p);
    }
    double a = bench_median(slow, repeats);
    double b = bench_median(fast, repeats);
    printf("%-10s %18.1f %14.2f %9.0fx   %s\n", bench_families[f].name, a * 1e3, b * 1e3, a / b,
           equal ? "equal" : "DIFFERENT");
    fflush(stdout);
    stow_problem_destroy(problem);
  }
}

static int usage(FILE* out, int code) {
  fputs(
      "usage: bench_place [--largest N] [--strategy NAME] [--family NAME] [--csv FILE]\n"
      "       bench_place --ratio [N]\n"
      "\n"
      "Places generated problems of 1,000 buffers and ten times more up to N (default 100,000):\n"
      "pairs that live together, CPU time, peak memory, height over the lower bound, growth. "
      "Every\n"
      "placement is proven by the checker. --ratio compares first-fit with a straightforward "
      "O(n^3)\n"
      "implementation on N buffers (default 2,378), side by side.\n\nfamilies:\n",
      out);
  for (size_t i = 0; i < bench_family_count; ++i) {
    fprintf(out, "  %-10s %s\n", bench_families[i].name, bench_families[i].summary);
  }
  return code;
}

typedef struct arguments {
  size_t largest;
  const char* strategy;
  const char* family;
  const char* csv;
  size_t ratio;
  bool help;
} arguments;

static bool parse(int argc, char** argv, arguments* out) {
  for (int i = 1; i < argc; ++i) {
    bool has_value = i + 1 < argc;
    if (strcmp(argv[i], "--help") == 0) {
      out->help = true;
    } else if (strcmp(argv[i], "--ratio") == 0) {
      out->ratio = has_value ? (size_t)strtoull(argv[++i], NULL, 10) : 2378;
    } else if (has_value && strcmp(argv[i], "--largest") == 0) {
      out->largest = (size_t)strtoull(argv[++i], NULL, 10);
    } else if (has_value && strcmp(argv[i], "--strategy") == 0) {
      out->strategy = argv[++i];
    } else if (has_value && strcmp(argv[i], "--family") == 0) {
      out->family = argv[++i];
    } else if (has_value && strcmp(argv[i], "--csv") == 0) {
      out->csv = argv[++i];
    } else {
      return false;
    }
  }
  return true;
}

int main(int argc, char** argv) {
  arguments a = {100000, NULL, NULL, NULL, 0, false};
  if (!parse(argc, argv, &a)) {
    return usage(stderr, 2);
  }
  if (a.help) {
    return usage(stdout, 0);
  }
  if (a.ratio != 0) {
    run_ratio(a.ratio, 3);
    return 0;
  }
  FILE* csv = a.csv == NULL ? NULL : fopen(a.csv, "w");
  require(a.csv == NULL || csv != NULL, "cannot write the CSV file");
  if (csv != NULL) {
    fputs("family,strategy,buffers,pairs,seconds,peak_mb,height,lower_bound\n", csv);
  }
  puts("family     strategy    buffers           pairs         ms  peak MB  height  growth");
  for (size_t s = 0; s < stow_strategy_count(); ++s) {
    for (size_t f = 0; f < bench_family_count; ++f) {
      bool wanted = (a.family == NULL || strcmp(a.family, bench_families[f].name) == 0) &&
                    (a.strategy == NULL || strcmp(a.strategy, stow_strategy_at(s)->name) == 0);
      if (wanted) {
        run_family(&bench_families[f], stow_strategy_at(s), a.largest, csv);
      }
    }
  }
  require(csv == NULL || fclose(csv) == 0, "cannot write the CSV file");
  return 0;
}
