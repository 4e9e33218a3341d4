// Holds the planner to the arenas that it once reached: imports and plans every model of a record,
// checks each plan, and fails where an arena is larger than recorded.
//
//     record_arenas RECORD KIND [--folder FOLDER] [--print]
//
// A line of RECORD is KIND/NAME BYTES. KIND `generated` are graphs made here, `light` are FOLDER's
// NAME.onnx. --print writes the lines anew, as they should be.
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/onnx.h>
#include <stowage/stowage.h>
#include <string.h>
#include <unistd.h>

#include "generated.h"

#define EXIT_SKIPPED 77

typedef struct recorder {
  const char* kind;
  const char* folder;
  bool print;
  stow_allocator allocator;
  stow_diag diag;
} recorder;

static bool went_well(recorder* r, const char* name, stow_status status) {
  if (status != STOW_OK) {
    printf("%s: %s\n", name,
           r->diag.message[0] != '\0' ? r->diag.message : stow_status_text(status));
  }
  return status == STOW_OK;
}

// Plans with the default preset, and proves the plan.
static bool plan_graph(recorder* r, const char* name, const stow_graph* graph, uint64_t* out_size) {
  stow_plan_options options;
  stow_plan* plan = NULL;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  bool is_good =
      went_well(r, name, stow_plan_make(graph, NULL, &options, r->allocator, &r->diag, &plan)) &&
      went_well(r, name, stow_plan_check(plan, graph, NULL, r->allocator, &r->diag, NULL));
  *out_size = is_good ? stow_plan_arena_size(plan) : 0;
  stow_plan_destroy(plan);
  return is_good;
}

static bool plan_generated(recorder* r, const char* name, uint64_t* out_size) {
  stow_graph* graph = generate_graph(name);
  bool is_good = graph != NULL && plan_graph(r, name, graph, out_size);
  stow_graph_destroy(graph);
  return is_good;
}

static bool plan_model(recorder* r, const char* name, uint64_t* out_size) {
  stow_model* model = NULL;
  stow_import_request* request = NULL;
  stow_import* import = NULL;
  char path[4096];
  snprintf(path, sizeof(path), "%s/%s.onnx", r->folder, name);
  bool is_good =
      went_well(r, name, stow_onnx_open(path, r->allocator, &r->diag, &model)) &&
      went_well(r, name, stow_import_request_create(r->allocator, &r->diag, &request)) &&
      went_well(r, name, stow_import_model(model, request, r->allocator, &r->diag, &import));
  if (is_good && stow_import_graph(import) == NULL) {
    printf("%s: cannot be imported\n", name);
    is_good = false;
  }
  is_good = is_good && plan_graph(r, name, stow_import_graph(import), out_size);
  stow_import_destroy(import);
  stow_import_request_destroy(request);
  stow_model_close(model);
  return is_good;
}

// Whether the arena of |name| is at most |recorded|.
static bool check_entry(recorder* r, const char* name, uint64_t recorded) {
  uint64_t size = 0;
  bool is_planned = strcmp(r->kind, "generated") == 0 ? plan_generated(r, name, &size)
                                                      : plan_model(r, name, &size);
  if (!is_planned) {
    return false;
  }
  if (r->print) {
    printf("%s/%s %" PRIu64 "\n", r->kind, name, size);
  } else if (size != recorded) {
    printf("%s/%s: %" PRIu64 " bytes, recorded %" PRIu64 ": %s\n", r->kind, name, size, recorded,
           size > recorded ? "LARGER" : "smaller, update the record");
  }
  return r->print || size <= recorded;
}

static bool check_record(recorder* r, FILE* record) {
  char line[256], kind[32], name[128];
  uint64_t bytes = 0;
  size_t checked = 0;
  bool is_good = true;
  while (fgets(line, sizeof(line), record) != NULL) {
    if (sscanf(line, "%31[a-z]/%127s %" SCNu64, kind, name, &bytes) == 3 &&
        strcmp(kind, r->kind) == 0) {
      is_good = check_entry(r, name, bytes) && is_good;
      ++checked;
    }
  }
  if (!r->print) {
    printf("%zu arenas of kind %s\n", checked, r->kind);
  }
  return is_good && checked > 0;
}

int main(int argc, char** argv) {
  recorder r = {.allocator = stow_allocator_default()};
  FILE* record = argc < 3 ? NULL : fopen(argv[1], "r");
  stow_diag_init(&r.diag);
  if (record == NULL) {
    fprintf(stderr, "usage: record_arenas RECORD KIND [--folder FOLDER] [--print]\n");
    return 2;
  }
  r.kind = argv[2];
  for (int i = 3; i < argc; ++i) {
    r.print = r.print || strcmp(argv[i], "--print") == 0;
    r.folder = strcmp(argv[i], "--folder") == 0 && i + 1 < argc ? argv[++i] : r.folder;
  }
  int code = EXIT_SKIPPED;
  if (r.folder != NULL && access(r.folder, R_OK) != 0) {
    printf("SKIP: no folder %s\n", r.folder);
  } else {
    code = check_record(&r, record) ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  fclose(record);
  return code;
}
