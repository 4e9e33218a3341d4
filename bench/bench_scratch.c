// Scratch of the kernels of a model on one thread: for every node with scratch a line with the
// bytes that each variant needs, then arenas without scratch, with the fastest, with the smallest
// and with elastic variants: the fastest that fit.
//
//     bench_scratch MODEL [--bind …] [--value …] [--shape …]
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/onnx.h>
#include <stowage/stowage.h>

#include "exec/run/prepare.h"
#include "measure.h"
#include "onnx/support/request_args.h"

static void require(stow_status status, const stow_diag* diag) {
  bench_require(status == STOW_OK,
                diag->message[0] != '\0' ? diag->message : stow_status_text(status));
}

static uint32_t choose_variant(void* user, stow_node node, uint32_t count) {
  (void)node;
  uint32_t variant = *(const uint32_t*)user;
  return variant < count ? variant : count - 1;
}

// The variants that fit, if |variant| is NULL.
static stow_prepared* prepare(const stow_graph* graph, uint32_t* variant) {
  stow_prepared* prepared = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  require(stowi_exec_prepare(graph, NULL, variant == NULL ? NULL : choose_variant, variant,
                             stow_allocator_default(), &diag, &prepared),
          &diag);
  return prepared;
}

static void print_arena(const stow_graph* graph, stow_effects* effects, const char* name) {
  stow_plan* plan = NULL;
  stow_plan_options options;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  options.params = options.constants = false;
  require(stow_plan_make(graph, effects, &options, stow_allocator_default(), &diag, &plan), &diag);
  printf("arena %-8s %12" PRIu64 "\n", name, stow_plan_arena_size(plan));
  stow_plan_destroy(plan);
}

static void print_node(const stow_graph* graph, const stow_prepared* prepared, stow_node node) {
  const stowi_exec_step* step = &prepared->program.steps[node];
  if (step->price_count == 0 || step->prices[0].scratch == 0) {
    return;
  }
  printf("%5" PRIu32 " %-24s", node, stow_graph_op_desc(graph, node)->name);
  for (uint32_t v = 0; v < step->price_count; ++v) {
    printf(" %10" PRIu64, step->prices[v].scratch);
  }
  printf("\n");
}

static void print_graph(const stow_graph* graph) {
  stow_prepared* fastest = prepare(graph, &(uint32_t){0});
  stow_prepared* smallest = prepare(graph, &(uint32_t){UINT32_MAX});
  stow_prepared* elastic = prepare(graph, NULL);
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    print_node(graph, elastic, node);
  }
  print_arena(graph, NULL, "none");
  print_arena(graph, stow_prepared_effects(fastest), "fastest");
  print_arena(graph, stow_prepared_effects(smallest), "smallest");
  print_arena(graph, stow_prepared_effects(elastic), "elastic");
  stow_prepared_destroy(elastic);
  stow_prepared_destroy(fastest);
  stow_prepared_destroy(smallest);
}

int main(int argc, char** argv) {
  stow_allocator allocator = stow_allocator_default();
  stow_import_request* request = NULL;
  stow_model* model = NULL;
  stow_import* import = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  bench_require(argc > 1, "usage: bench_scratch MODEL [--bind S=N]…");
  require(stow_import_request_create(allocator, &diag, &request), &diag);
  for (int i = 2; i < argc;) {
    bench_require(request_take_arg(request, argc, argv, &i), "an unknown argument");
  }
  require(stow_onnx_open(argv[1], allocator, &diag, &model), &diag);
  require(stow_import_model(model, request, allocator, &diag, &import), &diag);
  bench_require(stow_import_graph(import) != NULL, "the model cannot be imported");
  print_graph(stow_import_graph(import));
  stow_import_destroy(import);
  stow_model_close(model);
  stow_import_request_destroy(request);
  return EXIT_SUCCESS;
}
