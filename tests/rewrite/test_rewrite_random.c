// Random graphs with patterns planted in them, run as they are and rewritten: every output has the
// same bits.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/rewrite.h>
#include <stowage/text.h>
#include <string.h>

#include "exec/run_graph.h"
#include "rewrite/plant.h"
#include "support/random_graph.h"
#include "support/random_ops.h"
#include "support/test.h"

#define GRAPHS 500
#define GRAPHS_LONG 10000
#define MAX_NODES 32

typedef struct tally {
  uint64_t graphs;
  uint64_t compared;
  uint64_t refused;   // a kernel refused operands, or the run ended in an error
  uint64_t unfolded;  // the fold graph cannot run: a branch that is not taken would fail
  uint64_t fired[STOW_REWRITE_RULE_COUNT];
} tally;

static run_way simple_way(bool is_packed) {
  run_way way = {.name = "simple", .threads = 1, .has_variants = is_packed};
  stow_plan_options_init(&way.plan, STOW_PRESET_DEFAULT);
  way.plan.nodes = 300;
  way.plan.order_nodes = 2000;
  way.plan.order = STOW_ORDER_GIVEN;
  way.plan.params = way.plan.constants = false;
  return way;
}

// Their kernels, here, are not those of the library.
static bool has_opaque_ops(const stow_graph* graph) {
  bool has = false;
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    stow_op op = stow_graph_op(graph, node);
    has = has || op == STOW_OP_DEQUANT_MATMUL || op == STOW_OP_DEQUANT_GROUPED_MATMUL;
  }
  return has;
}

// The rewritten graph runs with the elements and ranges of the first one.
static void take_elements(run_graph* to, const run_graph* from, const stow_rewritten* r,
                          stow_folded* folded) {
  // Of values that became one, the first was computed.
  for (stow_value value = stow_graph_value_count(from->graph); value-- > 0;) {
    stow_value now = stow_rewritten_value(r, value);
    if (now != STOW_VALUE_NONE) {
      to->ranges[now] = from->ranges[value];
    }
  }
  for (stow_value now = 0; now < stow_graph_value_count(to->graph); ++now) {
    stow_value value = stow_graph_find(from->graph, stow_graph_value_name(to->graph, now));
    size_t size;
    const void* data = stow_folded_weight(folded, now, &size);
    if (data != NULL) {
      memcpy(&to->data[now], &data, sizeof(data));
    } else if (to->data[now] != NULL && CHECK(value != STOW_VALUE_NONE)) {
      to->data[now] = from->data[value];
    }
  }
}

// A graph that is printed and parsed again has the same fingerprint.
static void check_text(const stow_graph* graph, uint64_t seed) {
  stow_string text;
  stow_module* module = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_string_init(&text, stow_allocator_default());
  CHECK(stow_graph_print(graph, stow_string_writer(&text)) == STOW_OK);
  stow_status status =
      stow_module_parse(text.data, text.size, NULL, NULL, stow_allocator_default(), &diag, &module);
  test_check(status == STOW_OK && stow_graph_fingerprint(stow_module_graph(module, 0)) ==
                                      stow_graph_fingerprint(graph),
             __FILE__, __LINE__, "seed %" PRIu64 ": %s\n%s", seed, diag.message, text.data);
  stow_module_destroy(module);
  stow_string_free(&text);
}

static void compare(tally* t, run_graph* g, const run_trace* before, const stow_rewritten* r,
                    test_frozen* frozen, bool is_packed) {
  const stow_graph* graph = stow_rewritten_graph(r);
  stow_folded* folded = NULL;
  stow_status status = stow_folded_create(graph, stow_rewritten_fold_graph(r), NULL,
                                          stow_allocator_default(), NULL, &folded);
  if (status != STOW_OK) {
    ++t->unfolded;
    return;
  }
  run_graph other;
  run_graph_init(&other, graph, frozen, g->seed);
  take_elements(&other, g, r, folded);
  run_way way = simple_way(is_packed);
  run_trace after = run_graph_run(&other, &way);
  test_check(after.status == STOW_OK && after.failed == STOW_NODE_NONE, __FILE__, __LINE__,
             "seed %" PRIu64 ": %s", g->seed, after.message);
  for (size_t k = 0; after.is_run && k < stow_graph_output_count(graph); ++k) {
    stow_str name = stow_graph_value_name(graph, stow_graph_outputs(graph)[k]);
    stow_str given = stow_graph_value_name(g->graph, stow_graph_outputs(g->graph)[k]);
    test_check(stow_str_equal(name, given), __FILE__, __LINE__,
               "seed %" PRIu64 ": output %zu is called '%.*s'", g->seed, k, (int)name.size,
               name.data);
    test_check(after.outputs[k] == before->outputs[k], __FILE__, __LINE__,
               "seed %" PRIu64 ": output %zu differs", g->seed, k);
  }
  ++t->compared;
  run_trace_free(&after);
  run_graph_free(&other);
  stow_folded_destroy(folded);
}

// Neither the sum of weights and live bytes grows, nor weights beyond the limit.
static void check_sizes(const stow_rewritten* r, double limit, uint64_t seed) {
  stow_rewritten_info info = {.struct_size = sizeof(info)};
  CHECK(stow_rewritten_describe(r, &info) == STOW_OK);
  test_check(info.weights_after + info.live_after <= info.weights_before + info.live_before,
             __FILE__, __LINE__,
             "seed %" PRIu64 ": %" PRIu64 " + %" PRIu64 " > %" PRIu64 " + %" PRIu64, seed,
             info.weights_after, info.live_after, info.weights_before, info.live_before);
  test_check((double)info.weights_after <= limit * (double)info.weights_before, __FILE__, __LINE__,
             "seed %" PRIu64 ": weights grow from %" PRIu64 " to %" PRIu64, seed,
             info.weights_before, info.weights_after);
}

static void rewrite_and_compare(tally* t, run_graph* g, test_frozen* frozen) {
  run_way way = simple_way(false);
  run_trace before = run_graph_run(g, &way);
  if (before.status != STOW_OK || before.failed != STOW_NODE_NONE) {
    ++t->refused;
  } else {
    stow_rewritten* r = NULL;
    stow_diag diag;
    stow_diag_init(&diag);
    stow_rewrite_options options;
    stow_rewrite_options_init(&options);
    options.fold_limit = g->seed % 2 == 0 ? 2.0 : 1e9;
    for (int i = 0; i < STOW_REWRITE_RULE_COUNT; ++i) {
      bool is_near = stow_rewrite_rule_is_near((stow_rewrite_rule)i);
      options.off |= is_near ? stow_rewrite_bit((stow_rewrite_rule)i) : 0;
    }
    options.off &= g->seed % 5 == 0 ? ~stow_rewrite_bit(STOW_REWRITE_STREAM) : UINT32_MAX;
    stow_status status = stow_rewrite(g->graph, &options, stow_allocator_default(), &diag, &r);
    if (test_check(status == STOW_OK, __FILE__, __LINE__, "seed %" PRIu64 ": %s", g->seed,
                   diag.message)) {
      for (int i = 0; i < STOW_REWRITE_RULE_COUNT; ++i) {
        t->fired[i] += stow_rewritten_count(r, (stow_rewrite_rule)i);
      }
      check_text(stow_rewritten_graph(r), g->seed);
      check_sizes(r, options.fold_limit, g->seed);
      compare(t, g, &before, r, frozen, g->seed % 3 == 0);
    }
    stow_rewritten_destroy(r);
  }
  run_trace_free(&before);
}

static void try_seed(tally* t, uint64_t seed, random_ops* ops) {
  test_random random = {seed};
  test_frozen frozen = {NULL, 0};
  random_graph_options options =
      random_graph_everything(2 + test_random_below(&random, MAX_NODES - 1));
  options.regions = test_random_below(&random, 3) == 0;
  options.most = 8;
  options.more = random_ops_add;
  options.user = ops;
  stow_graph* plain = random_graph(&random, &options, stow_allocator_default());
  stow_graph* graph = plant_patterns(&random, plain, test_frozen_allocator(&frozen));
  ++t->graphs;
  if (!has_opaque_ops(graph) && stow_graph_verify(graph, NULL) == STOW_OK) {
    run_graph g;
    run_graph_init(&g, graph, &frozen, seed);
    rewrite_and_compare(t, &g, &frozen);
    run_graph_free(&g);
  }
  stow_graph_destroy(graph);
  stow_graph_destroy(plain);
  test_frozen_free(&frozen);
}

TEST(RewrittenGraphsGiveTheSameBits) {
  tally t = {0};
  random_ops* ops = random_ops_create();
  for (uint64_t seed = 1; seed <= (test_is_long() ? GRAPHS_LONG : GRAPHS); ++seed) {
    try_seed(&t, seed, ops);
  }
  printf("%" PRIu64 " graphs, %" PRIu64 " compared, %" PRIu64 " refused, %" PRIu64 " not folded\n",
         t.graphs, t.compared, t.refused, t.unfolded);
  for (int i = 0; i < STOW_REWRITE_RULE_COUNT; ++i) {
    printf("  %-12s %" PRIu64 "\n", stow_rewrite_rule_name((stow_rewrite_rule)i), t.fired[i]);
    // Values are too small for blocks and streams here: test_blocks_random.c and test_streams.c
    // have larger ones.
    CHECK(i >= STOW_REWRITE_BLOCKS || t.fired[i] * 20 > t.graphs);
  }
  CHECK(t.compared * 2 > t.graphs);
  CHECK(t.unfolded * 100 <= t.graphs);
  random_ops_destroy(ops);
}
