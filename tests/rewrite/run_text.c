#include "rewrite/run_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <stowage/text.h>
#include <string.h>

#include "support/test.h"

typedef struct scene {
  const stow_graph* graph;
  stow_diag diag;
  stow_folded* folded;
  stow_prepared* prepared;
  stow_plan* plan;
  stow_exec* exec;
} scene;

static void need(const scene* s, stow_status status) {
  if (status != STOW_OK) {
    stow_string text;
    stow_string_init(&text, stow_allocator_default());
    (void)stow_graph_print(s->graph, stow_string_writer(&text));
    fprintf(stderr, "%s\n%s", s->diag.message, text.data);
    exit(2);
  }
}

static void open_scene(scene* s, const stow_rewritten* rewritten) {
  stow_allocator heap = stow_allocator_default();
  stow_prepare_options prepare;
  stow_plan_options plan;
  stow_exec_options options;
  stow_prepare_options_init(&prepare);
  stow_plan_options_init(&plan, STOW_PRESET_DEFAULT);
  stow_exec_options_init(&options);
  plan.params = plan.constants = false;
  plan.nodes = 100;
  plan.order = STOW_ORDER_GIVEN;
  if (rewritten != NULL) {
    need(s, stow_folded_create(s->graph, stow_rewritten_fold_graph(rewritten), NULL, heap, &s->diag,
                               &s->folded));
    options.weight = stow_folded_weight;
    options.user = s->folded;
  }
  need(s, stow_prepare(s->graph, &prepare, heap, &s->diag, &s->prepared));
  need(s, stow_plan_make(s->graph, stow_prepared_effects(s->prepared), &plan, heap, &s->diag,
                         &s->plan));
  need(s, stow_exec_create(s->prepared, s->plan, &options, heap, &s->diag, &s->exec));
}

static void close_scene(scene* s) {
  stow_exec_destroy(s->exec);
  stow_plan_destroy(s->plan);
  stow_prepared_destroy(s->prepared);
  stow_folded_destroy(s->folded);
}

static stow_tensor tensor_of(const stow_graph* graph, stow_value value, void* data) {
  const stow_type* type = stow_graph_type(graph, value);
  stow_tensor tensor = {.data = data, .dtype = type->dtype, .rank = type->rank};
  for (uint32_t i = 0; i < type->rank; ++i) {
    tensor.dims[i] = type->dims[i];
  }
  return tensor;
}

static void give_input(scene* s, stow_value value, test_random* random) {
  static float floats[RUN_MOST / sizeof(float)];
  stow_tensor tensor = tensor_of(s->graph, value, floats);
  if (tensor.dtype == STOW_F32) {
    for (size_t i = 0; i < RUN_MOST / sizeof(float); ++i) {
      floats[i] = (float)test_random_below(random, 1 << 20) * 0x1p-18F - 2.0F;
    }
  } else {
    for (size_t i = 0; i < RUN_MOST; ++i) {
      ((unsigned char*)floats)[i] = (unsigned char)test_random_below(random, 256);
    }
  }
  need(s, stow_exec_input(s->exec, value, &tensor, &s->diag));
}

void run_first_output(const stow_graph* graph, const stow_rewritten* rewritten, uint64_t seed,
                      run_output* out) {
  scene s = {.graph = rewritten == NULL ? graph : stow_rewritten_graph(rewritten)};
  test_random random = {seed};
  stow_tensor y = {0};
  stow_diag_init(&s.diag);
  open_scene(&s, rewritten);
  for (stow_node node = 0; node < stow_graph_node_count(s.graph); ++node) {
    if (stow_graph_op(s.graph, node) == STOW_OP_INPUT) {
      give_input(&s, stow_graph_first_result(s.graph, node), &random);
    }
  }
  need(&s, stow_exec_run(s.exec, &s.diag));
  need(&s, stow_exec_value(s.exec, stow_graph_outputs(s.graph)[0], &s.diag, &y));
  size_t size = stow_tensor_bytes(&y);
  REQUIRE(size <= RUN_MOST);
  *out = (run_output){.dtype = y.dtype, .count = stow_tensor_elements(&y)};
  memcpy(out->data, y.data, size);
  close_scene(&s);
}
