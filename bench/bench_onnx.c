// The cost of reading an ONNX model: opens, imports and plans it, and prints the medians of the
// three, the arena (without weights) and the process's peak of resident memory.
//
//     bench_onnx MODEL [--repeat N] [--bind …] [--value …] [--shape …]
//
// One line: open, import and plan in ms of wall time, arena in bytes, peak resident in KiB.
#define _XOPEN_SOURCE 700
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/onnx.h>
#include <stowage/stowage.h>
#include <string.h>
#include <time.h>

#include "measure.h"
#include "onnx/support/request_args.h"

#define MAX_REPEATS 101

typedef struct samples {
  double open[MAX_REPEATS], import[MAX_REPEATS], plan[MAX_REPEATS];
  uint64_t arena;
} samples;

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

// Of this program alone: what getrusage tells begins with the process that started it.
static long peak_kib(void) {
  char line[256];
  long kib = -1;
  FILE* status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof(line), status) != NULL &&
         sscanf(line, "VmHWM: %ld", &kib) != 1) {
  }
  if (status != NULL) {
    fclose(status);
  }
  return kib;
}

static void require(stow_status status, const stow_diag* diag) {
  bench_require(status == STOW_OK,
                diag->message[0] != '\0' ? diag->message : stow_status_text(status));
}

static void measure_once(const char* path, const stow_import_request* request, samples* s,
                         size_t k) {
  stow_allocator allocator = stow_allocator_default();
  stow_model* model = NULL;
  stow_import* import = NULL;
  stow_plan* plan = NULL;
  stow_plan_options options;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  options.params = false;  // weights stay in the file, as `stowage plan` leaves them
  options.constants = false;
  double start = now_ms();
  require(stow_onnx_open(path, allocator, &diag, &model), &diag);
  double opened = now_ms();
  require(stow_import_model(model, request, allocator, &diag, &import), &diag);
  double imported = now_ms();
  bench_require(stow_import_graph(import) != NULL, "the model cannot be imported");
  require(stow_plan_make(stow_import_graph(import), NULL, &options, allocator, &diag, &plan),
          &diag);
  s->plan[k] = now_ms() - imported;
  s->import[k] = imported - opened;
  s->open[k] = opened - start;
  s->arena = stow_plan_arena_size(plan);
  stow_plan_destroy(plan);
  stow_import_destroy(import);
  stow_model_close(model);
}

int main(int argc, char** argv) {
  static samples s;
  stow_import_request* request = NULL;
  size_t repeats = 5;
  stow_diag diag;
  stow_diag_init(&diag);
  bench_require(argc > 1, "usage: bench_onnx MODEL [--repeat N] [--bind S=N]…");
  require(stow_import_request_create(stow_allocator_default(), &diag, &request), &diag);
  for (int i = 2; i < argc;) {
    if (request_take_arg(request, argc, argv, &i)) {
      continue;
    }
    bench_require(strcmp(argv[i], "--repeat") == 0 && i + 1 < argc, "an unknown argument");
    repeats = strtoul(argv[i + 1], NULL, 10);
    i += 2;
  }
  bench_require(repeats > 0 && repeats <= MAX_REPEATS, "--repeat is from 1 to 101");
  for (size_t k = 0; k < repeats; ++k) {
    measure_once(argv[1], request, &s, k);
  }
  stow_import_request_destroy(request);
  printf("%.3f\t%.3f\t%.3f\t%" PRIu64 "\t%ld\n", bench_median(s.open, repeats),
         bench_median(s.import, repeats), bench_median(s.plan, repeats), s.arena, peak_kib());
  return EXIT_SUCCESS;
}
