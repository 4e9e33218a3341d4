// Runs a graph of two nodes, as a program outside of the project would.
#include <stdio.h>
#include <stowage/exec.h>

static stow_status run(stow_graph* graph, stow_diag* diag) {
  stow_allocator allocator = stow_allocator_default();
  stow_type type = stow_type_make(STOW_F32, 1, (stow_dim[]){3});
  stow_prepared* prepared = NULL;
  stow_plan* plan = NULL;
  stow_exec* exec = NULL;
  stow_value x, y;
  stow_plan_options options;
  float numbers[3] = {-1, 0, 2};
  stow_tensor tensor = {.data = numbers, .dtype = STOW_F32, .rank = 1, .dims = {3}};
  stow_status status = stow_graph_input(graph, "x", &type, diag, &x);
  status = status ? status : stow_graph_add(graph, STOW_OP_RELU, &x, 1, diag, &y);
  status = status ? status : stow_graph_add_output(graph, y, diag);
  status = status ? status : stow_prepare(graph, NULL, allocator, diag, &prepared);
  if (status == STOW_OK) {
    stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
    status =
        stow_plan_make(graph, stow_prepared_effects(prepared), &options, allocator, diag, &plan);
  }
  status = status ? status : stow_exec_create(prepared, plan, NULL, allocator, diag, &exec);
  status = status ? status : stow_exec_input(exec, x, &tensor, diag);
  status = status ? status : stow_exec_run(exec, diag);
  status = status ? status : stow_exec_value(exec, y, diag, &tensor);
  if (status == STOW_OK) {
    const float* out = (const float*)tensor.data;
    printf("relu %d %d %d\n", (int)out[0], (int)out[1], (int)out[2]);
  }
  stow_exec_destroy(exec);
  stow_plan_destroy(plan);
  stow_prepared_destroy(prepared);
  return status;
}

int main(void) {
  stow_graph* graph = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status =
      stow_graph_create(stow_str_of("g"), NULL, stow_allocator_default(), &diag, &graph);
  status = status ? status : run(graph, &diag);
  if (status != STOW_OK) {
    puts(diag.message);
  }
  stow_graph_destroy(graph);
  return status == STOW_OK ? 0 : 1;
}
