// A stranger's program: three values, of which the first and the last share bytes where inputs are
// external.
#include <stdio.h>
#include <stowage/stowage.h>

int main(void) {
  stow_allocator allocator = stow_allocator_default();
  stow_diag diag;
  stow_diag_init(&diag);
  stow_graph* graph = NULL;
  stow_plan* plan = NULL;
  stow_type type = stow_type_make(STOW_F32, 1, (stow_dim[]){16});
  stow_value x;
  stow_status status = stow_graph_create(stow_str_of("g"), NULL, allocator, &diag, &graph);
  if (status == STOW_OK)
    status = stow_graph_input(graph, "x", &type, &diag, &x);
  for (int i = 0; status == STOW_OK && i < 3; ++i) {
    status = stow_graph_add(graph, STOW_OP_RELU, &x, 1, &diag, &x);
  }
  if (status == STOW_OK)
    status = stow_graph_add_output(graph, x, &diag);
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  if (status == STOW_OK)
    status = stow_plan_make(graph, NULL, &options, allocator, &diag, &plan);
  if (status == STOW_OK) {
    printf("arena %llu\n", (unsigned long long)stow_plan_arena_size(plan));
  } else {
    fprintf(stderr, "%s\n", diag.message);
  }
  stow_plan_destroy(plan);
  stow_graph_destroy(graph);
  return status != STOW_OK;
}
