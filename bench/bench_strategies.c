// Every strategy on every instance: height, time and outcome. Instances are CSV files and generated
// families; the checker proves every placement.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/place.h>
#include <string.h>

#include "instances.h"
#include "lists.h"
#include "measure.h"
#include "support/problem_families.h"
#include "trial.h"

#define MAX_STRATEGIES 64
#define MAX_PATHS 256

typedef struct arguments {
  const char* paths[MAX_PATHS];
  size_t path_count;
  const char* strategies;  // names between commas; NULL: all
  const char* families;    // likewise
  const char* csv;
  bench_limits limits;
  uint64_t count;        // of buffers of a family
  uint64_t seed;         // of families
  uint64_t seeds;        // of tiled problems and comparisons
  bench_numbers counts;  // of buffers, for comparisons
  uint64_t largest;      // of the growth table
  bool has_nodes;
  bool use_families;
  bool growth;
  bool tiled;
  bool compare;
  bool help;
} arguments;

// What a strategy did over all instances.
typedef struct tally {
  size_t runs;
  size_t solved;
  double seconds;
  double gap;  // percent, summed
} tally;

typedef struct bench {
  arguments args;
  const stow_strategy* strategies[MAX_STRATEGIES];
  size_t strategy_count;
  tally tallies[MAX_STRATEGIES];
  FILE* csv;
} bench;

static double rate(const bench_trial* t) {
  return t->seconds > 0 ? (double)t->nodes / t->seconds : 0;
}

// "12345", "1234k", "123M": five characters at most.
static const char* short_number(double value, char* text, size_t size) {
  const char* units[] = {"", "k", "M", "G", "T"};
  size_t unit = 0;
  for (; value >= 9999.5 && unit < 4; ++unit) {
    value /= 1000;
  }
  snprintf(text, size, "%.0f%s", value, units[unit]);
  return text;
}

static void add_to(tally* total, const bench_trial* t, uint64_t capacity) {
  total->runs += 1;
  total->solved += bench_is_solved(t, capacity);
  total->seconds += t->seconds;
  total->gap += bench_gap(t);
}

// ---------------------------------------------------------------------------------------------
// Instances

static void write_csv(bench* b, const char* name, size_t count, const stow_strategy* strategy,
                      const bench_trial* t) {
  if (b->csv == NULL) {
    return;
  }
  fprintf(b->csv, "%s,%s,%zu,", name, strategy->name, count);
  if (b->args.limits.capacity != STOW_PLACE_SMALLEST) {
    fprintf(b->csv, "%" PRIu64, b->args.limits.capacity);
  }
  fprintf(b->csv, ",%" PRIu64 ",%" PRIu64 ",%.4f,%s,%d,%.6f,%.6f,%" PRIu64 ",%.0f,%zu,%zu\n",
          t->bound, t->height, bench_gap(t), stow_outcome_text(t->outcome), t->stopped, t->seconds,
          t->first_seconds, t->nodes, rate(t), t->peak, t->repeats);
}

static void print_row(const stow_strategy* strategy, const bench_trial* t) {
  char nodes[32];
  char speed[32];
  printf("%-12s %12" PRIu64 " %12" PRIu64 " %8.3f %-10s%c %9.2f %8.2f %5s %6s %7.2f\n",
         strategy->name, t->bound, t->height, bench_gap(t), stow_outcome_text(t->outcome),
         t->stopped ? '*' : ' ', t->seconds * 1e3, t->first_seconds * 1e3,
         short_number((double)t->nodes, nodes, sizeof(nodes)),
         short_number(rate(t), speed, sizeof(speed)), (double)t->peak / 1e6);
  fflush(stdout);
}

static void visit_instance(void* user, const char* name, const stow_problem* problem) {
  bench* b = (bench*)user;
  size_t count = stow_problem_count(problem);
  stow_load load = {.struct_size = sizeof(load)};
  bench_require(stow_problem_load(problem, stow_allocator_default(), NULL, &load) == STOW_OK,
                "out of memory");
  printf("\n%s: %zu buffers, load %" PRIu64 "\n", name, count, load.bytes);
  for (size_t i = 0; i < b->strategy_count; ++i) {
    bench_trial t = bench_try(problem, b->strategies[i], &b->args.limits);
    print_row(b->strategies[i], &t);
    write_csv(b, name, count, b->strategies[i], &t);
    add_to(&b->tallies[i], &t, b->args.limits.capacity);
  }
}

static void visit_families(bench* b) {
  for (size_t i = 0; i < problem_family_count; ++i) {
    const problem_family* family = &problem_families[i];
    if (bench_is_among(family->name, b->args.families)) {
      stow_problem* problem =
          problem_family_make(family, b->args.seed, (size_t)b->args.count, NULL);
      visit_instance(b, family->name, problem);
      stow_problem_destroy(problem);
    }
  }
}

static void run_instances(bench* b) {
  printf("\n%-12s %12s %12s %8s %-11s %9s %8s %5s %6s %7s\n", "strategy", "bound", "height",
         "% above", "outcome", "ms", "first ms", "nodes", "/s", "peak MB");
  for (size_t i = 0; i < b->args.path_count; ++i) {
    bench_each_csv(b->args.paths[i], visit_instance, b);
  }
  if (b->args.use_families) {
    visit_families(b);
  }
  printf("\n%-12s %9s %7s %9s %10s\n", "all together", "instances", "solved", "seconds", "% above");
  for (size_t i = 0; i < b->strategy_count; ++i) {
    const tally* t = &b->tallies[i];
    printf("%-12s %9zu %7zu %9.2f %10.4f\n", b->strategies[i]->name, t->runs, t->solved, t->seconds,
           t->runs == 0 ? 0 : t->gap / (double)t->runs);
  }
}

// ---------------------------------------------------------------------------------------------
// Growth

static double n_log_n(uint64_t count) {
  double log = 0;  // binary, to within a bit's fraction: exact at powers of two, linear between
  double rest = (double)count;
  for (; rest >= 2; rest /= 2) {
    log += 1;
  }
  return (double)count * (log + rest - 1);
}

static void grow(bench* b, const problem_family* family, const stow_strategy* strategy) {
  double previous = 0;
  for (uint64_t count = 1000; count <= b->args.largest; count *= 10) {
    stow_problem* problem = problem_family_make(family, b->args.seed, (size_t)count, NULL);
    bench_trial t = bench_try(problem, strategy, &b->args.limits);
    printf("%-12s %-12s %8" PRIu64 " %10.1f %8.1f %11.1f %8.1f %8.3f ", family->name,
           strategy->name, count, t.seconds * 1e3, t.first_seconds * 1e3,
           t.seconds * 1e9 / n_log_n(count), (double)t.peak / 1e6, bench_gap(&t));
    if (previous > 0) {
      printf("%6.1fx\n", t.seconds / previous);
    } else {
      printf("%7s\n", "-");
    }
    fflush(stdout);
    write_csv(b, family->name, (size_t)count, strategy, &t);
    previous = t.seconds;
    stow_problem_destroy(problem);
  }
}

static void run_growth(bench* b) {
  const char* families = b->args.families == NULL ? "short,mixed,nested" : b->args.families;
  printf("\n%-12s %-12s %8s %10s %8s %11s %8s %8s %7s\n", "family", "strategy", "buffers", "ms",
         "first ms", "ns/(n lg n)", "peak MB", "% above", "growth");
  for (size_t s = 0; s < b->strategy_count; ++s) {
    for (size_t f = 0; f < problem_family_count; ++f) {
      if (bench_is_among(problem_families[f].name, families)) {
        grow(b, &problem_families[f], b->strategies[s]);
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Tiled problems

static void solve_tiled(bench* b, const stow_strategy* strategy, size_t pieces) {
  const problem_family* family = problem_family_find("tiled");
  tally total = {0, 0, 0, 0};
  double slowest = 0;
  uint64_t nodes = 0;
  for (uint64_t seed = 0; seed < b->args.seeds; ++seed) {
    char name[32];
    uint64_t optimum;
    stow_problem* problem = problem_family_make(family, seed, pieces, &optimum);
    bench_trial t = bench_try(problem, strategy, &b->args.limits);
    bench_require(t.height >= optimum, "a placement is lower than can be");
    snprintf(name, sizeof(name), "tiled-%" PRIu64, seed);
    write_csv(b, name, pieces, strategy, &t);
    add_to(&total, &t, b->args.limits.capacity);
    nodes += t.nodes;
    slowest = t.seconds > slowest ? t.seconds : slowest;
    stow_problem_destroy(problem);
  }
  char text[32];
  printf("%6zu  %-12s %4zu/%-4zu %9.3f %10.3f %10.3f %7s\n", pieces, strategy->name, total.solved,
         total.runs, total.runs == 0 ? 0 : total.gap / (double)total.runs, total.seconds, slowest,
         short_number((double)nodes, text, sizeof(text)));
  fflush(stdout);
}

static void run_tiled(bench* b) {
  static const size_t pieces[] = {20, 50, 100, 200, 500, 1000};
  printf("\n%6s  %-12s %9s %9s %10s %10s %7s\n", "pieces", "strategy", "solved", "% above",
         "seconds", "slowest", "nodes");
  for (size_t s = 0; s < b->strategy_count; ++s) {
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); ++i) {
      solve_tiled(b, b->strategies[s], pieces[i]);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Comparisons

// Height over bound, of one strategy over all seeds.
typedef struct ratio {
  double sum;
  double worst;
} ratio;

// Adds one problem to all |ratios|. The bound is the highest that any strategy proved.
static void compare_once(bench* b, const char* name, const stow_problem* problem, ratio* ratios) {
  bench_trial trials[MAX_STRATEGIES];
  uint64_t bound = 1;
  for (size_t s = 0; s < b->strategy_count; ++s) {
    trials[s] = bench_try(problem, b->strategies[s], &b->args.limits);
    bound = trials[s].bound > bound ? trials[s].bound : bound;
    write_csv(b, name, stow_problem_count(problem), b->strategies[s], &trials[s]);
  }
  for (size_t s = 0; s < b->strategy_count; ++s) {
    double above = (double)trials[s].height / (double)bound;
    ratios[s].sum += above;
    ratios[s].worst = above > ratios[s].worst ? above : ratios[s].worst;
  }
}

static void compare(bench* b, const problem_family* family, uint64_t count) {
  ratio ratios[MAX_STRATEGIES] = {{0, 0}};
  for (uint64_t seed = 0; seed < b->args.seeds; ++seed) {
    char name[64];
    stow_problem* problem = problem_family_make(family, seed, (size_t)count, NULL);
    snprintf(name, sizeof(name), "%s-%" PRIu64 "-%" PRIu64, family->name, count, seed);
    compare_once(b, name, problem, ratios);
    stow_problem_destroy(problem);
  }
  printf("| %s | %" PRIu64 " |", family->name, count);
  for (size_t s = 0; s < b->strategy_count; ++s) {
    if (ratios[s].worst > 1) {
      printf(" %.4f / %.4f |", ratios[s].sum / (double)b->args.seeds, ratios[s].worst);
    } else {
      printf(" 1 |");
    }
  }
  printf("\n");
  fflush(stdout);
}

static void run_compare(bench* b) {
  bench_limits* limits = &b->args.limits;
  bench_require(b->args.seeds > 0, "no seeds to compare");
  limits->repeats = 1;
  limits->nodes = limits->seconds > 0 && !b->args.has_nodes ? STOW_PLACE_NO_LIMIT : limits->nodes;
  printf("\nheight / bound over %" PRIu64 " seeds: mean / worst\n\n| family | buffers |",
         b->args.seeds);
  for (size_t s = 0; s < b->strategy_count; ++s) {
    printf(" %s |", b->strategies[s]->name);
  }
  printf("\n| --- | ---: |");
  for (size_t s = 0; s < b->strategy_count; ++s) {
    printf(" ---: |");
  }
  printf("\n");
  for (size_t f = 0; f < problem_family_count; ++f) {
    for (size_t c = 0; c < b->args.counts.count; ++c) {
      if (bench_is_among(problem_families[f].name, b->args.families)) {
        compare(b, &problem_families[f], b->args.counts.values[c]);
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Arguments

static int usage(FILE* out, int code) {
  fputs(
      "usage: bench_strategies [options] [FOLDER | FILE.csv]...   every strategy on every "
      "instance\n"
      "       bench_strategies --growth [options]                 1 k to 1 M buffers\n"
      "       bench_strategies --tiled [options]                  20 to 1,000 pieces: solved\n"
      "       bench_strategies --compare [options]                strategies side by side, as "
      "Markdown\n"
      "\n"
      "  --strategy A,B   only these (default: all; with --growth and --tiled: auto)\n"
      "  --families       generated problems as instances, too\n"
      "  --family A,B     only these families (with --growth default: short,mixed,nested)\n"
      "  --count N        buffers of a generated instance (300)\n"
      "  --counts N,M     the same for --compare (100,1000,10000)\n"
      "  --seed N         of generated problems (0)\n"
      "  --capacity N     asks for a fit within N bytes instead of the smallest height\n"
      "  --nodes N        budget of a run (400,000); `all` for no limit\n"
      "  --time S         seconds of CPU time a run may take (no limit); marked * where reached.\n"
      "                   With --compare, nodes are then not limited unless --nodes is given\n"
      "  --repeat N       runs whose median counts (5 where one is under 0.2 s, else 1)\n"
      "  --largest N      of --growth (1,000,000)\n"
      "  --seeds N        problems for each number of pieces of --tiled, for each family and\n"
      "                   number of buffers of --compare (20)\n"
      "  --csv FILE       writes every measurement there, too\n"
      "\n"
      "--compare: mean / worst of height / bound, 1 if all are optimal; the bound is the highest\n"
      "that a strategy proved.\n"
      "% above: height over the proven bound. first ms: to the first placement. All times are CPU\n"
      "times; the peak counts what the strategy allocates. Every placement is proven by the\n"
      "checker.\n"
      "\n"
      "families:\n",
      out);
  for (size_t i = 0; i < problem_family_count; ++i) {
    fprintf(out, "  %-12s %s\n", problem_families[i].name, problem_families[i].summary);
  }
  return code;
}

static bool parse_flag(const char* name, arguments* out) {
  const struct {
    const char* name;
    bool* value;
  } flags[] = {{"--families", &out->use_families},
               {"--growth", &out->growth},
               {"--tiled", &out->tiled},
               {"--compare", &out->compare},
               {"--help", &out->help}};
  for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); ++i) {
    if (strcmp(name, flags[i].name) == 0) {
      *flags[i].value = true;
      return true;
    }
  }
  return false;
}

static bool parse_value(const char* name, const char* value, arguments* out) {
  uint64_t repeats = 1;
  const struct {
    const char* name;
    uint64_t* number;
  } numbers[] = {{"--count", &out->count},
                 {"--seed", &out->seed},
                 {"--seeds", &out->seeds},
                 {"--largest", &out->largest},
                 {"--repeat", &repeats},
                 {"--nodes", &out->limits.nodes},
                 {"--capacity", &out->limits.capacity}};
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); ++i) {
    if (strcmp(name, numbers[i].name) == 0) {
      bool all = numbers[i].number == &out->limits.nodes && strcmp(value, "all") == 0;
      bool valid = all || bench_parse_number(value, numbers[i].number);
      out->limits.nodes = all ? STOW_PLACE_NO_LIMIT : out->limits.nodes;
      out->has_nodes = out->has_nodes || numbers[i].number == &out->limits.nodes;
      if (numbers[i].number == &repeats) {
        out->limits.repeats = (size_t)repeats;
      }
      return valid && repeats > 0 && repeats <= BENCH_MAX_REPEATS && out->count > 0;
    }
  }
  if (strcmp(name, "--strategy") == 0) {
    out->strategies = value;
  } else if (strcmp(name, "--family") == 0) {
    out->families = value;
  } else if (strcmp(name, "--counts") == 0) {
    return bench_parse_numbers(value, &out->counts);
  } else if (strcmp(name, "--csv") == 0) {
    out->csv = value;
  } else if (strcmp(name, "--time") == 0) {
    out->limits.seconds = strtod(value, NULL);
    return out->limits.seconds > 0;
  } else {
    return false;
  }
  return true;
}

static bool parse(int argc, char** argv, arguments* out) {
  for (int i = 1; i < argc; ++i) {
    if (strncmp(argv[i], "--", 2) != 0) {
      bench_require(out->path_count < MAX_PATHS, "too many paths");
      out->paths[out->path_count++] = argv[i];
    } else if (!parse_flag(argv[i], out)) {
      if (i + 1 == argc || !parse_value(argv[i], argv[i + 1], out)) {
        fprintf(stderr, "bench_strategies: what is %s?\n", argv[i]);
        return false;
      }
      ++i;
    }
  }
  out->use_families = out->use_families || out->families != NULL;
  return out->help || out->growth || out->tiled || out->compare || out->use_families ||
         out->path_count > 0;
}

// Every name asked for must be in the table.
static void choose_strategies(bench* b) {
  bool one = b->args.strategies == NULL && (b->args.growth || b->args.tiled);
  const char* names = one ? "auto" : b->args.strategies;
  for (size_t i = 0; i < stow_strategy_count() && i < MAX_STRATEGIES; ++i) {
    if (bench_is_among(stow_strategy_at(i)->name, names)) {
      b->strategies[b->strategy_count++] = stow_strategy_at(i);
    }
  }
  bench_require(b->strategy_count == bench_count_names(names, stow_strategy_count()),
                "no such strategy");
}

static void open_csv(bench* b) {
  if (b->args.csv != NULL) {
    b->csv = fopen(b->args.csv, "w");
    bench_require(b->csv != NULL, "cannot write the CSV file");
    fputs(
        "instance,strategy,buffers,capacity,bound,height,above_percent,outcome,stopped,seconds,"
        "first_seconds,nodes,nodes_per_second,peak_bytes,repeats\n",
        b->csv);
  }
}

int main(int argc, char** argv) {
  static bench b;
  b.args.limits = (bench_limits){STOW_PLACE_SMALLEST, STOW_PLACE_DEFAULT_NODES, 0, 0};
  b.args.count = 300;
  b.args.seeds = 20;
  b.args.counts = (bench_numbers){{100, 1000, 10000}, 3};
  b.args.largest = 1000000;
  if (!parse(argc, argv, &b.args)) {
    return usage(stderr, 2);
  }
  if (b.args.help) {
    return usage(stdout, 0);
  }
  choose_strategies(&b);
  open_csv(&b);
  bench_print_machine(stdout);
  if (b.args.growth) {
    run_growth(&b);
  } else if (b.args.tiled) {
    run_tiled(&b);
  } else if (b.args.compare) {
    run_compare(&b);
  } else {
    run_instances(&b);
  }
  bench_require(b.csv == NULL || fclose(b.csv) == 0, "cannot write the CSV file");
  return 0;
}
