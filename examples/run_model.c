// Runs an ONNX model inside its plan: run_model digits.onnx
#include <stdio.h>
#include <stdlib.h>
#include <stowage/exec.h>
#include <stowage/onnx.h>

static stow_diag diag;  // the error, and its position

static void require(stow_status status) {
  if (status != STOW_OK) {
    fprintf(stderr, "run_model: %s\n", diag.message[0] ? diag.message : stow_status_text(status));
    exit(1);
  }
}

int main(int argc, char** argv) {
  stow_allocator heap = stow_allocator_default();
  stow_diag_init(&diag);

  // The model: map the file and import it as a graph.
  stow_model* model;
  stow_import* import;
  require(stow_onnx_open(argc > 1 ? argv[1] : "", heap, &diag, &model));
  require(stow_import_model(model, NULL, heap, &diag, &import));
  const stow_graph* graph = stow_import_graph(import);
  require(graph != NULL ? STOW_OK : STOW_ERR_UNSUPPORTED);

  // The plan: kernels declare their scratch; weights are not in the arena, but used where they lie
  // in the mapped file, or in the order in which kernels read them.
  stow_prepared* prepared;
  stow_plan* plan;
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  options.params = options.constants = false;
  stow_prepare_options kernels;
  stow_prepare_options_init(&kernels);
  kernels.pack = STOW_PACK_AUTO;
  require(stow_prepare(graph, &kernels, heap, &diag, &prepared));
  stow_effects* effects = stow_prepared_effects(prepared);
  require(stow_plan_make(graph, effects, &options, heap, &diag, &plan));

  // The executor: proves the plan, and allocates everything.
  stow_exec* exec;
  require(stow_exec_create(prepared, plan, NULL, heap, &diag, &exec));

  // Run; repeat as often as needed.
  static float pixels[28 * 28];
  for (int row = 4; row < 24; ++row) {
    pixels[row * 28 + 14] = 1.0F;
  }
  stow_tensor image = {.data = pixels, .dtype = STOW_F32, .rank = 4, .dims = {1, 1, 28, 28}};
  stow_tensor out;
  require(stow_exec_input(exec, stow_graph_find(graph, stow_str_of("image")), &image, &diag));
  require(stow_exec_run(exec, &diag));
  require(stow_exec_value(exec, stow_graph_outputs(graph)[0], &diag, &out));
  require(out.dtype == STOW_F32 ? STOW_OK : STOW_ERR_TYPE);
  for (size_t i = 0; i < stow_tensor_elements(&out); ++i) {
    printf(" %.3f", (double)((const float*)out.data)[i]);
  }
  printf("\n");

  stow_exec_destroy(exec);
  stow_plan_destroy(plan);
  stow_prepared_destroy(prepared);
  stow_import_destroy(import);
  stow_model_close(model);
  return 0;
}
