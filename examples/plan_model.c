// From an ONNX model to a plan: opens a model, binds its symbols, imports it, plans it, and prints
// the arena and the tensors that are live at the peak.
//
//     plan_model model.onnx batch=1 length=128
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/onnx.h>
#include <stowage/stowage.h>
#include <string.h>

// An example may stop at the first error; the diagnostic describes it.
static void require(stow_status status, const stow_diag* diag) {
  if (status != STOW_OK) {
    fprintf(stderr, "plan_model: %s\n", diag->message);
    exit(1);
  }
}

// `batch=1` on the command line.
static void bind(stow_import_request* request, const char* text, stow_diag* diag) {
  const char* equals = strrchr(text, '=');
  char* end = NULL;
  long long value = equals == NULL ? 0 : strtoll(equals + 1, &end, 10);
  if (equals == NULL || end == equals + 1 || *end != '\0') {
    fprintf(stderr, "plan_model: '%s' is not NAME=N\n", text);
    exit(2);
  }
  stow_str name = {text, (size_t)(equals - text)};
  require(stow_import_request_bind(request, name, value, diag), diag);
}

// Prints everything that prevents a plan: unsupported ops, data-dependent shapes.
static void print_issues(const stow_import* import) {
  for (size_t i = 0; i < stow_import_issue_count(import); ++i) {
    stow_import_issue issue = *stow_import_issue_at(import, i);
    fprintf(stderr, "plan_model: %.*s %.*s: %.*s\n", (int)issue.op.size, issue.op.data,
            (int)issue.node.size, issue.node.data, (int)issue.reason.size, issue.reason.data);
  }
}

static void print_plan(const stow_plan* plan) {
  stow_plan_info info = {.struct_size = sizeof(info)};
  (void)stow_plan_describe(plan, &info);
  stow_search search = {.struct_size = sizeof(search)};
  (void)stow_plan_describe_search(plan, &search);
  printf("arena %" PRIu64 " bytes, no less than %" PRIu64 " is possible\n",
         stow_plan_arena_size(plan), search.bound);
  printf("peak at step %" PRIu32 " of %" PRIu32 ":\n", info.peak_step, info.step_count);
  for (size_t i = 0; i < info.peak_count; ++i) {
    stow_value value = stow_plan_peak_value(plan, i);
    stow_plan_value of = {.struct_size = sizeof(of)};
    (void)stow_plan_describe_value(plan, value, &of);
    stow_slot slot;
    if (stow_plan_value_slot(plan, value, &slot)) {
      printf("%10" PRIu64 " bytes at %-8" PRIu64 " %.*s\n", slot.size, slot.offset,
             (int)of.name.size, of.name.data);
    }
  }
}

// Weights stay in the mapped file: the arena holds inputs, activations and outputs.
static stow_status plan_graph(const stow_graph* graph, stow_allocator heap, stow_diag* diag,
                              stow_plan** out_plan) {
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  options.params = false;
  options.constants = false;
  return stow_plan_make(graph, NULL, &options, heap, diag, out_plan);
}

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: plan_model MODEL.onnx [SYMBOL=N]...\n");
    return 2;
  }
  stow_allocator heap = stow_allocator_default();
  stow_diag diag;
  stow_diag_init(&diag);
  stow_model* model = NULL;
  stow_import_request* request = NULL;
  stow_import* import = NULL;
  stow_plan* plan = NULL;
  require(stow_onnx_open(argv[1], heap, &diag, &model), &diag);
  require(stow_import_request_create(heap, &diag, &request), &diag);
  for (int i = 2; i < argc; ++i) {
    bind(request, argv[i], &diag);
  }
  require(stow_import_model(model, request, heap, &diag, &import), &diag);
  stow_graph* graph = stow_import_graph(import);
  if (graph == NULL) {
    print_issues(import);
  } else {
    require(plan_graph(graph, heap, &diag, &plan), &diag);
    require(stow_plan_check(plan, graph, NULL, heap, &diag, NULL), &diag);
    print_plan(plan);
  }
  stow_plan_destroy(plan);
  stow_import_destroy(import);  // and the graph
  stow_import_request_destroy(request);
  stow_model_close(model);
  return graph == NULL ? 1 : 0;
}
