#include "rewrite/run_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <stowage/text.h>
#include <string.h>

#include "base/hash.h"
#include "exec/tensor_hash.h"
#include "support/test.h"

#define MOST_WEIGHTS 64

typedef struct scene {
  const stow_graph* graph;
  stow_diag diag;
  stow_kernels* kernels;
  stow_folded* folded;
  stow_prepared* prepared;
  stow_plan* plan;
  stow_exec* exec;
  void* weights[MOST_WEIGHTS];  // of params that have no data
  size_t weight_count;
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

// ---------------------------------------------------------------------------------------------
// Elements

static void fill(const stow_tensor* tensor, test_random* random) {
  size_t count = stow_tensor_elements(tensor);
  for (size_t i = 0; tensor->dtype == STOW_F32 && i < count; ++i) {
    float number = (float)test_random_below(random, 1 << 20) * 0x1p-18F - 2.0F;
    ((float*)tensor->data)[i] = i % 16 == 7 ? -0.0F : number;
  }
  for (size_t i = 0; tensor->dtype != STOW_F32 && i < stow_tensor_bytes(tensor); ++i) {
    uint64_t most = tensor->dtype == STOW_BOOL ? 2 : 256;
    ((unsigned char*)tensor->data)[i] = (unsigned char)test_random_below(random, most);
  }
}

static stow_tensor make_tensor(const stow_graph* graph, stow_value value, test_random* random) {
  const stow_type* type = stow_graph_type(graph, value);
  stow_tensor tensor = {.dtype = type->dtype, .rank = type->rank};
  memcpy(tensor.dims, type->dims, sizeof(tensor.dims));
  tensor.data = aligned_alloc(64, (stow_tensor_bytes(&tensor) / 64 + 1) * 64);
  if (tensor.data == NULL) {
    abort();
  }
  fill(&tensor, random);
  return tensor;
}

// The kernel of custom ops: elements that follow from all of the operands.
static stow_status run_custom(stow_kernel_call* call) {
  test_random random = {STOWI_HASH_SEED};
  for (size_t k = 0; k < call->operand_count; ++k) {
    if (call->operands[k] != NULL) {
      random.state = tensor_hash(random.state, call->operands[k]);
    }
  }
  for (size_t k = 0; k < call->result_count; ++k) {
    fill(stow_kernel_result(call, k), &random);
  }
  return STOW_OK;
}

// Params without data have elements that follow from their names.
static const void* give_weight(void* user, stow_value value, size_t* out_size) {
  scene* s = (scene*)user;
  const void* folded = s->folded == NULL ? NULL : stow_folded_weight(s->folded, value, out_size);
  if (folded != NULL || s->weight_count == MOST_WEIGHTS) {
    return folded;
  }
  stow_str name = stow_graph_value_name(s->graph, value);
  test_random random = {stowi_hash_bytes(STOWI_HASH_SEED, name.data, name.size)};
  stow_tensor tensor = make_tensor(s->graph, value, &random);
  *out_size = stow_tensor_bytes(&tensor);
  return s->weights[s->weight_count++] = tensor.data;
}

// ---------------------------------------------------------------------------------------------
// Runs

static void set_kernels(scene* s) {
  stow_kernel custom = {.struct_size = sizeof(custom), .run = run_custom};
  need(s, stow_kernels_create(stow_allocator_default(), &s->diag, &s->kernels));
  need(s, stow_kernels_set_custom(s->kernels, stow_str_of("custom"), &custom, &s->diag));
}

static void open_scene(scene* s, const stow_rewritten* rewritten) {
  stow_allocator heap = stow_allocator_default();
  stow_prepare_options prepare;
  stow_plan_options plan;
  stow_exec_options options;
  stow_prepare_options_init(&prepare);
  stow_plan_options_init(&plan, STOW_PRESET_DEFAULT);
  stow_exec_options_init(&options);
  set_kernels(s);
  prepare.kernels = s->kernels;
  plan.params = plan.constants = false;
  plan.nodes = 100;
  plan.order = STOW_ORDER_GIVEN;
  if (rewritten != NULL) {
    need(s, stow_folded_create(s->graph, stow_rewritten_fold_graph(rewritten), NULL, heap, &s->diag,
                               &s->folded));
  }
  options.weight = give_weight;
  options.user = s;
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
  stow_kernels_destroy(s->kernels);
  for (size_t i = 0; i < s->weight_count; ++i) {
    free(s->weights[i]);
  }
}

static void run_scene(scene* s, const stow_rewritten* rewritten, uint64_t seed) {
  test_random random = {seed};
  stow_diag_init(&s->diag);
  open_scene(s, rewritten);
  for (stow_node node = 0; node < stow_graph_node_count(s->graph); ++node) {
    if (stow_graph_op(s->graph, node) == STOW_OP_INPUT) {
      stow_value value = stow_graph_first_result(s->graph, node);
      stow_tensor tensor = make_tensor(s->graph, value, &random);
      need(s, stow_exec_input(s->exec, value, &tensor, &s->diag));
      free(tensor.data);
    }
  }
  need(s, stow_exec_run(s->exec, &s->diag));
}

void run_first_output(const stow_graph* graph, const stow_rewritten* rewritten, uint64_t seed,
                      run_output* out) {
  scene s = {.graph = rewritten == NULL ? graph : stow_rewritten_graph(rewritten)};
  stow_tensor y = {0};
  run_scene(&s, rewritten, seed);
  need(&s, stow_exec_value(s.exec, stow_graph_outputs(s.graph)[0], &s.diag, &y));
  size_t size = stow_tensor_bytes(&y);
  REQUIRE(size <= RUN_MOST);
  *out = (run_output){.dtype = y.dtype, .count = stow_tensor_elements(&y)};
  memcpy(out->data, y.data, size);
  close_scene(&s);
}

uint64_t run_outputs(const stow_graph* graph, const stow_rewritten* rewritten, uint64_t seed) {
  return run_bound_outputs(rewritten == NULL ? graph : stow_rewritten_graph(rewritten), rewritten,
                           seed);
}

uint64_t run_bound_outputs(const stow_graph* bound, const stow_rewritten* rewritten,
                           uint64_t seed) {
  scene s = {.graph = bound};
  uint64_t hash = STOWI_HASH_SEED;
  run_scene(&s, rewritten, seed);
  for (size_t k = 0; k < stow_graph_output_count(s.graph); ++k) {
    stow_tensor y = {0};
    need(&s, stow_exec_value(s.exec, stow_graph_outputs(s.graph)[k], &s.diag, &y));
    hash = tensor_hash(hash, &y);
  }
  close_scene(&s);
  return hash;
}
