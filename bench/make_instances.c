// Writes generated placement problems as CSV files, for other programs and other people: the
// families of tests/support/problem_families.c, FAMILY-COUNT-SEED.csv each. The same name is the
// same problem on every machine; bench/instances.md describes them.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lists.h"
#include "measure.h"
#include "support/problem_families.h"

#define MAX_PATH 4096

typedef struct arguments {
  const char* folder;
  const char* families;  // names between commas; NULL: all
  bench_numbers counts;
  uint64_t seeds;
  bool help;
} arguments;

static void write_windows(const stow_problem* problem, size_t buffer, FILE* out) {
  for (size_t i = 0; i < stow_problem_window_count(problem, buffer); ++i) {
    stow_window_desc w = {.struct_size = sizeof(w)};
    (void)stow_problem_describe_window(problem, buffer, i, &w);
    fprintf(out, "%s%" PRIu64 "-%" PRIu64, i == 0 ? "" : " ", w.begin, w.end);
    if (w.low < w.high) {
      fprintf(out, "@%" PRIu64 ":%" PRIu64, w.low, w.high);
    }
  }
}

// The format has no guards: they are part of the size, as for other buffers they make no
// difference.
static void write_rows(const stow_problem* problem, FILE* out) {
  fputs("id,lower,upper,size,alignment,gaps\n", out);
  for (size_t i = 0; i < stow_problem_count(problem); ++i) {
    stow_buffer b = {.struct_size = sizeof(b)};
    (void)stow_problem_describe_buffer(problem, i, &b);
    fprintf(out, "b%zu,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", i, b.begin, b.end,
            b.size + b.guard, b.alignment);
    write_windows(problem, i, out);
    fputc('\n', out);
  }
}

static void write_instance(const char* folder, const problem_family* family, uint64_t count,
                           uint64_t seed) {
  char path[MAX_PATH];
  int size = snprintf(path, sizeof(path), "%s/%s-%" PRIu64 "-%" PRIu64 ".csv", folder, family->name,
                      count, seed);
  bench_require(size > 0 && size < MAX_PATH, "a path is too long");
  FILE* out = fopen(path, "w");
  if (out == NULL) {
    fprintf(stderr, "make_instances: cannot write '%s': %s\n", path, strerror(errno));
    exit(EXIT_FAILURE);
  }
  stow_problem* problem = problem_family_make(family, seed, (size_t)count, NULL);
  write_rows(problem, out);
  stow_problem_destroy(problem);
  bool failed = ferror(out) != 0;
  bench_require(fclose(out) == 0 && !failed, "cannot write a file");
}

static int usage(FILE* out, int code) {
  fputs(
      "usage: make_instances [options] FOLDER   writes FAMILY-COUNT-SEED.csv files there\n"
      "\n"
      "  --family A,B   only these families (default: all)\n"
      "  --counts N,M   numbers of buffers (100,1000,10000)\n"
      "  --seeds N      of each family and number, counted from 0 (3)\n"
      "\n"
      "The folder must exist. bench/instances.md describes the families and the columns.\n",
      out);
  return code;
}

static bool parse_value(const char* name, const char* value, arguments* out) {
  if (strcmp(name, "--family") == 0) {
    out->families = value;
    return true;
  }
  if (strcmp(name, "--counts") == 0) {
    return bench_parse_numbers(value, &out->counts);
  }
  return strcmp(name, "--seeds") == 0 && bench_parse_number(value, &out->seeds);
}

static bool parse(int argc, char** argv, arguments* out) {
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--help") == 0) {
      out->help = true;
    } else if (strncmp(argv[i], "--", 2) != 0) {
      out->folder = argv[i];
    } else if (i + 1 == argc || !parse_value(argv[i], argv[i + 1], out)) {
      fprintf(stderr, "make_instances: what is %s?\n", argv[i]);
      return false;
    } else {
      ++i;
    }
  }
  return out->help || out->folder != NULL;
}

int main(int argc, char** argv) {
  arguments args = {.counts = {{100, 1000, 10000}, 3}, .seeds = 3};
  if (!parse(argc, argv, &args)) {
    return usage(stderr, 2);
  }
  if (args.help) {
    return usage(stdout, 0);
  }
  size_t chosen = 0;
  for (size_t f = 0; f < problem_family_count; ++f) {
    if (!bench_is_among(problem_families[f].name, args.families)) {
      continue;
    }
    ++chosen;
    for (size_t c = 0; c < args.counts.count; ++c) {
      for (uint64_t seed = 0; seed < args.seeds; ++seed) {
        write_instance(args.folder, &problem_families[f], args.counts.values[c], seed);
      }
    }
  }
  bench_require(chosen == bench_count_names(args.families, problem_family_count), "no such family");
  return 0;
}
