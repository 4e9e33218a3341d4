// Runs cases of the ONNX backend suite and counts: passed, not supported by reason, failed.
//
//     suite_runner FOLDER… [--allow FILE] [--only PATTERN] [--filter TEXT] [--list] [--verbose]
//     exec_suite   the same, and [--paranoid] [--unshared] [--threads N]
//
// Every folder below a FOLDER that holds model.onnx and test_data_set_0 is a case, and so is every
// NAME.onnx beside a NAME_output_0.pb (the suite's `light` models). Exits with 1 where a case
// failed, or is not supported for a reason that --allow does not list; with 77 where no FOLDER is
// there.
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "suite_case.h"

#define MAX_REASONS 256
#define MAX_ALLOWED 128
#define EXIT_SKIPPED 77

suite_options suite_run_options = {.threads = 1};

typedef struct reason_count {
  char op[64];
  char reason[SUITE_TEXT_SIZE];
  bool is_allowed;
  size_t count;
} reason_count;

// An op, or `*`, and a part of the reason.
typedef struct allowance {
  char op[64];
  char part[128];
} allowance;

typedef struct runner {
  const char* only;    // NULL: all
  const char* filter;  // NULL: all
  bool list, here;
  bool verbose;
  size_t counts[SUITE_OUTCOME_COUNT];
  size_t reason_count;
  reason_count reasons[MAX_REASONS];
  size_t allowed_count;
  allowance allowed[MAX_ALLOWED];
} runner;

// ---------------------------------------------------------------------------------------------
// What may be unsupported

// Lines `OP PART OF THE REASON`; `#` begins a comment.
static void read_allowed(runner* r, const char* path) {
  FILE* file = fopen(path, "r");
  char line[256];
  if (file == NULL) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(2);
  }
  while (r->allowed_count < MAX_ALLOWED && fgets(line, sizeof(line), file) != NULL) {
    allowance* next = &r->allowed[r->allowed_count];
    line[strcspn(line, "#\n")] = '\0';
    if (sscanf(line, "%63s %127[^\n]", next->op, next->part) == 2) {
      ++r->allowed_count;
    }
  }
  fclose(file);
}

static bool is_allowed(const runner* r, const suite_result* result) {
  for (size_t i = 0; i < r->allowed_count; ++i) {
    const allowance* a = &r->allowed[i];
    if ((strcmp(a->op, "*") == 0 || strcmp(a->op, result->op) == 0) &&
        strstr(result->reason, a->part) != NULL) {
      return true;
    }
  }
  return false;
}

// ---------------------------------------------------------------------------------------------
// Counting

// Reasons of many ops are one reason: their op is left out.
static bool is_general(const char* reason) {
  static const char* const words[] = {"string", "sequence", "optional", "map"};
  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); ++i) {
    if (strstr(reason, words[i]) != NULL) {
      return true;
    }
  }
  return false;
}

static void count_reason(runner* r, const suite_result* result) {
  const char* op = is_general(result->reason) ? "" : result->op;
  size_t i = 0;
  while (i < r->reason_count &&
         (strcmp(r->reasons[i].reason, result->reason) != 0 || strcmp(r->reasons[i].op, op) != 0)) {
    ++i;
  }
  if (i == MAX_REASONS) {
    return;
  }
  if (i == r->reason_count) {
    reason_count* added = &r->reasons[r->reason_count++];
    snprintf(added->op, sizeof(added->op), "%s", op);
    snprintf(added->reason, sizeof(added->reason), "%s", result->reason);
    added->is_allowed = true;
  }
  ++r->reasons[i].count;
  r->reasons[i].is_allowed = r->reasons[i].is_allowed && is_allowed(r, result);
}

static const char* const outcome_names[SUITE_OUTCOME_COUNT] = {
    "passed", "passed (bounded)", "passed (rank only)", "not supported", "FAILED"};

static void run_one(runner* r, const char* name, const char* model, const char* inputs,
                    const char* outputs) {
  if ((r->only != NULL && fnmatch(r->only, name, 0) != 0) ||
      (r->filter != NULL && strstr(name, r->filter) == NULL)) {
    return;
  }
  if (r->verbose) {
    printf("%s\n", name);
  }
  suite_result result = r->here ? suite_run_here(model, inputs, outputs, r->verbose)
                                : suite_run_case(model, inputs, outputs, r->verbose);
  ++r->counts[result.outcome];
  if (result.outcome == SUITE_UNSUPPORTED) {
    count_reason(r, &result);
  }
  bool is_told = result.outcome == SUITE_FAILED ||
                 (result.outcome == SUITE_UNSUPPORTED && !is_allowed(r, &result));
  if (r->list || is_told) {
    printf("%s: %s%s%s%s%s\n", name, outcome_names[result.outcome], result.op[0] ? ": " : "",
           result.op, result.reason[0] ? ": " : "", result.reason);
  }
}

// ---------------------------------------------------------------------------------------------
// Finding

static bool is_there(const char* folder, const char* name) {
  char path[4096];
  struct stat info;
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  return stat(path, &info) == 0;
}

static bool is_folder(const char* path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static void run_folder_case(runner* r, const char* folder) {
  char model[4096], inputs[4096], outputs[4096];
  const char* slash = strrchr(folder, '/');
  snprintf(model, sizeof(model), "%s/model.onnx", folder);
  snprintf(inputs, sizeof(inputs), "%s/test_data_set_0/input_", folder);
  snprintf(outputs, sizeof(outputs), "%s/test_data_set_0/output_", folder);
  run_one(r, slash == NULL ? folder : slash + 1, model, inputs, outputs);
}

static void run_file_case(runner* r, const char* folder, const char* file) {
  char stem[256], expected[300], model[4096], outputs[4096];
  snprintf(stem, sizeof(stem), "%.*s", (int)(strlen(file) - strlen(".onnx")), file);
  snprintf(expected, sizeof(expected), "%s_output_0.pb", stem);
  if (is_there(folder, expected)) {
    snprintf(model, sizeof(model), "%s/%s", folder, file);
    snprintf(outputs, sizeof(outputs), "%s/%s_output_", folder, stem);
    run_one(r, stem, model, "/nonexistent/", outputs);
  }
}

static void run_below(runner* r, const char* folder) {
  struct dirent** entries = NULL;
  int count = scandir(folder, &entries, NULL, alphasort);
  bool is_case = is_there(folder, "model.onnx") && is_there(folder, "test_data_set_0");
  if (is_case) {
    run_folder_case(r, folder);
  }
  for (int i = 0; i < count; ++i) {
    const char* name = entries[i]->d_name;
    const char* dot = strrchr(name, '.');
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (!is_case && name[0] != '.' && is_folder(path)) {
      run_below(r, path);
    } else if (!is_case && dot != NULL && strcmp(dot, ".onnx") == 0) {
      run_file_case(r, folder, name);
    }
    free(entries[i]);
  }
  free(entries);
}

// ---------------------------------------------------------------------------------------------

static int compare_reasons(const void* a, const void* b) {
  const reason_count* first = (const reason_count*)a;
  const reason_count* second = (const reason_count*)b;
  if (first->count != second->count) {
    return first->count > second->count ? -1 : 1;
  }
  int by_op = strcmp(first->op, second->op);
  return by_op != 0 ? by_op : strcmp(first->reason, second->reason);
}

static bool print_table(runner* r) {
  size_t total = 0;
  bool is_good = r->counts[SUITE_FAILED] == 0;
  for (int i = 0; i < SUITE_OUTCOME_COUNT; ++i) {
    total += r->counts[i];
  }
  printf("%6zu cases\n", total);
  for (int i = 0; i < SUITE_UNSUPPORTED; ++i) {
    printf("%6zu %s\n", r->counts[i], outcome_names[i]);
  }
  printf("%6zu %s\n", r->counts[SUITE_UNSUPPORTED], outcome_names[SUITE_UNSUPPORTED]);
  qsort(r->reasons, r->reason_count, sizeof(r->reasons[0]), compare_reasons);
  for (size_t i = 0; i < r->reason_count; ++i) {
    const reason_count* reason = &r->reasons[i];
    printf("  %6zu %s%s%s%s\n", reason->count, reason->op, reason->op[0] ? ": " : "",
           reason->reason, reason->is_allowed ? "" : "  <- not expected");
    is_good = is_good && reason->is_allowed;
  }
  printf("%6zu failed\n", r->counts[SUITE_FAILED]);
  return is_good && total > 0;
}

static int usage(void) {
  fprintf(stderr,
          "usage: FOLDER... [--allow FILE] [--only PATTERN] [--filter TEXT] [--list] [--here] "
          "[--verbose] [--paranoid] [--unshared] [--threads N]\n");
  return 2;
}

int main(int argc, char** argv) {
  static runner r;
  int folder_count = 0;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--list") == 0) {
      r.list = true;
    } else if (strcmp(argv[i], "--here") == 0) {
      r.here = true;
    } else if (strcmp(argv[i], "--verbose") == 0) {
      r.verbose = true;
    } else if (strcmp(argv[i], "--paranoid") == 0) {
      suite_run_options.is_paranoid = true;
    } else if (strcmp(argv[i], "--unshared") == 0) {
      suite_run_options.is_unshared = true;
    } else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc) {
      suite_run_options.threads = (uint32_t)strtoul(argv[++i], NULL, 10);
    } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
      r.only = argv[++i];
    } else if (strcmp(argv[i], "--filter") == 0 && i + 1 < argc) {
      r.filter = argv[++i];
    } else if (strcmp(argv[i], "--allow") == 0 && i + 1 < argc) {
      read_allowed(&r, argv[++i]);
    } else if (argv[i][0] != '-') {
      argv[1 + folder_count++] = argv[i];
    } else {
      return usage();
    }
  }
  bool is_any = false;
  for (int i = 1; i <= folder_count; ++i) {
    is_any = is_any || is_folder(argv[i]);
    run_below(&r, argv[i]);
  }
  if (folder_count > 0 && !is_any) {
    printf("SKIP: no folder %s\n", argv[1]);
    return EXIT_SKIPPED;
  }
  return folder_count == 0 ? usage() : (print_table(&r) ? EXIT_SUCCESS : EXIT_FAILURE);
}
