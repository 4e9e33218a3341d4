// Tests of folded weights in executors.
#include <stowage/exec.h>
#include <string.h>

#include "rewrite/rewrite_support.h"
#include "support/fault.h"
#include "support/test.h"

static const char text[] =
    "graph @g {\n"
    "  %0 = input \"x\" : f32[2, 2]\n"
    "  %1 = param \"w\" {data = [0x1p+0, 0x1p+1, 0x1p+2, 0x1p+3]} : f32[2, 2]\n"
    "  %2 = param \"v\" {data = [0x1p+0, 0x1p+0, 0x1p+2, 0x1p+3]} : f32[2, 2]\n"
    "  %3 \"wide\" = atan(%1) : f32[2, 2]\n"
    "  %4 \"flat\" = atan(%2) : f32[2, 2]\n"
    "  %5 = matmul(%0, %3) : f32[2, 2]\n"
    "  %6 = add(%5, %4) : f32[2, 2]\n"
    "  return %6\n"
    "}\n";

typedef struct scene {
  stow_module* module;
  stow_rewritten* rewritten;
  stow_folded* folded;
  stow_prepared* prepared;
  stow_plan* plan;
  stow_exec* exec;
} scene;

static stow_status open_scene(scene* s, bool rewrites, bool gives_weights, stow_diag* diag) {
  stow_allocator heap = stow_allocator_default();
  stow_prepare_options prepare;
  stow_plan_options plan;
  stow_exec_options options;
  stow_prepare_options_init(&prepare);
  stow_plan_options_init(&plan, STOW_PRESET_DEFAULT);
  stow_exec_options_init(&options);
  plan.params = plan.constants = false;
  prepare.pack = STOW_PACK_ALWAYS;
  *s = (scene){.module = parse_graph(text)};
  const stow_graph* graph = stow_module_graph(s->module, 0);
  if (rewrites) {
    s->rewritten = rewrite_graph(graph, NULL);
    graph = stow_rewritten_graph(s->rewritten);
    CHECK(stow_folded_create(graph, stow_rewritten_fold_graph(s->rewritten), NULL, heap, diag,
                             &s->folded) == STOW_OK);
    options.weight = gives_weights ? stow_folded_weight : NULL;
    options.user = s->folded;
  }
  stow_status status = stow_prepare(graph, &prepare, heap, diag, &s->prepared);
  if (status == STOW_OK) {
    status = stow_plan_make(graph, stow_prepared_effects(s->prepared), &plan, heap, diag, &s->plan);
  }
  return status == STOW_OK ? stow_exec_create(s->prepared, s->plan, &options, heap, diag, &s->exec)
                           : status;
}

static void close_scene(scene* s) {
  stow_exec_destroy(s->exec);
  stow_plan_destroy(s->plan);
  stow_prepared_destroy(s->prepared);
  stow_folded_destroy(s->folded);
  stow_rewritten_destroy(s->rewritten);
  stow_module_destroy(s->module);
}

static void run_scene(bool rewrites, float out[4], size_t* out_packed) {
  float elements[4] = {1.0F, -2.0F, 0.5F, 3.0F};
  stow_tensor x = {.data = elements, .dtype = STOW_F32, .rank = 2, .dims = {2, 2}};
  stow_tensor y = {0};
  stow_diag diag;
  stow_diag_init(&diag);
  scene s;
  stow_prepared_info info = {.struct_size = sizeof(info)};
  memset(out, 0, 4 * sizeof(*out));
  if (CHECK(open_scene(&s, rewrites, true, &diag) == STOW_OK)) {
    const stow_graph* graph =
        rewrites ? stow_rewritten_graph(s.rewritten) : stow_module_graph(s.module, 0);
    CHECK(stow_exec_input(s.exec, stow_graph_find(graph, stow_str_of("x")), &x, &diag) == STOW_OK);
    CHECK(stow_exec_run(s.exec, &diag) == STOW_OK);
    CHECK(stow_exec_value(s.exec, stow_graph_outputs(graph)[0], &diag, &y) == STOW_OK);
    memcpy(out, y.data, 4 * sizeof(*out));
    CHECK(stow_prepared_describe(s.prepared, &info) == STOW_OK);
  }
  *out_packed = info.packed_count;
  close_scene(&s);
}

TEST(FoldedWeightsAreUsedAndPacked) {
  float before[4], after[4];
  size_t packed;
  run_scene(false, before, &packed);
  CHECK_U64(packed, 0);
  run_scene(true, after, &packed);
  CHECK_U64(packed, 1);  // that of the product
  CHECK(memcmp(before, after, sizeof(before)) == 0);
}

static void give_back(void* user, stow_value value, const void* data, size_t size) {
  const scene* s = (const scene*)user;
  (void)data;
  (void)size;
  stow_folded_give_back(s->folded, s->prepared, value);
}

static const void* find_weight(void* user, stow_value value, size_t* out_size) {
  return stow_folded_weight(((const scene*)user)->folded, value, out_size);
}

// Another executor finds what the first one packed.
TEST(PackedWeightsExistOnce) {
  stow_diag diag;
  stow_diag_init(&diag);
  scene s;
  stow_exec_options options;
  stow_exec_options_init(&options);
  options.weight = find_weight;
  options.on_copied = give_back;
  options.user = &s;
  CHECK(open_scene(&s, true, false, &diag) == STOW_ERR_NOT_FOUND);  // nothing is packed yet
  const stow_graph* graph = stow_rewritten_graph(s.rewritten);
  stow_value wide = stow_graph_find(graph, stow_str_of("wide"));
  size_t size;
  CHECK(stow_folded_weight(s.folded, wide, &size) != NULL);
  for (int i = 0; i < 2; ++i) {
    CHECK(stow_exec_create(s.prepared, s.plan, &options, stow_allocator_default(), &diag,
                           &s.exec) == STOW_OK);
    CHECK(stow_folded_weight(s.folded, wide, &size) == NULL);
    stow_tensor tensor;
    CHECK(stow_exec_value(s.exec, wide, &diag, &tensor) == STOW_ERR_NOT_FOUND);
    stow_exec_destroy(s.exec);
    s.exec = NULL;
  }
  close_scene(&s);
}

TEST(FoldedWeightsThatAreMissingAreNamed) {
  stow_diag diag;
  stow_diag_init(&diag);
  scene s;
  CHECK(open_scene(&s, true, false, &diag) == STOW_ERR_NOT_FOUND);
  CHECK_HAS(diag.message, "\"wide\" has no data");
  close_scene(&s);
}

TEST(AnotherFoldGraphIsRefused) {
  stow_module* module = parse_graph(text);
  stow_rewritten* r = rewrite_graph(stow_module_graph(module, 0), NULL);
  stow_folded* folded = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_folded_create(stow_rewritten_graph(r), stow_module_graph(module, 0), NULL,
                           stow_allocator_default(), &diag, &folded) != STOW_OK);
  CHECK(folded == NULL);
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
}

TEST(FoldedWeightsAreFoundByValue) {
  stow_module* module = parse_graph(text);
  stow_rewritten* r = rewrite_graph(stow_module_graph(module, 0), NULL);
  const stow_graph* graph = stow_rewritten_graph(r);
  stow_folded* folded = NULL;
  size_t size = 1;
  REQUIRE(stow_folded_create(graph, stow_rewritten_fold_graph(r), NULL, stow_allocator_default(),
                             NULL, &folded) == STOW_OK);
  CHECK(stow_folded_weight(folded, stow_graph_find(graph, stow_str_of("flat")), &size) != NULL);
  CHECK_U64(size, 16);
  CHECK(stow_folded_weight(folded, stow_graph_find(graph, stow_str_of("x")), &size) == NULL);
  CHECK_U64(size, 0);
  stow_folded_destroy(folded);
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
}

static stow_status fold_once(stow_allocator allocator, void* user) {
  const stow_rewritten* r = (const stow_rewritten*)user;
  stow_folded* folded = NULL;
  stow_status status = stow_folded_create(stow_rewritten_graph(r), stow_rewritten_fold_graph(r),
                                          NULL, allocator, NULL, &folded);
  stow_folded_destroy(folded);
  return status;
}

TEST(FoldingSurvivesLackOfMemory) {
  stow_module* module = parse_graph(text);
  stow_rewritten* r = rewrite_graph(stow_module_graph(module, 0), NULL);
  CHECK(test_fault_sweep(fold_once, r) > 10);
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
}
