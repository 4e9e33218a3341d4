// Views and lifetimes of random graphs against two oracles that share nothing with them.
//
// Definition: without regions, lifetimes are computed once more from the words of the rules, in
// O(n³).
//
// Execution: with regions, the program is run on stamps. Every root is a place; making a value puts
// its stamp there, reading one checks it. Loops make none, one or more rounds, branches go either
// way. Between the moment a stamp is put and the last moment it is read, every step that runs must
// lie in the root's lifetime: then no other root, whose lifetime must be disjoint to share the
// bytes, can destroy it.
#include <stdlib.h>
#include <stowage/analysis.h>
#include <string.h>

#include "support/random_graph.h"
#include "support/test.h"

typedef struct analysis {
  stow_graph* graph;
  stow_effects* effects;
  stow_schedule* schedule;
  stow_views* views;
  stow_lifetimes* lifetimes;
  size_t merged;
  stow_diag diag;
} analysis;

static void analysis_free(analysis* a) {
  stow_lifetimes_destroy(a->lifetimes);
  stow_views_destroy(a->views);
  stow_schedule_destroy(a->schedule);
  stow_effects_destroy(a->effects);
  stow_graph_destroy(a->graph);
}

static bool make_lifetimes(analysis* a, stow_io_policy io) {
  stow_lifetimes_options options;
  stow_lifetimes_options_init(&options);
  options.io = io;
  stow_lifetimes_destroy(a->lifetimes);
  return stow_lifetimes_create(a->graph, a->schedule, a->views, a->effects, &options,
                               stow_allocator_default(), &a->diag, &a->lifetimes) == STOW_OK;
}

// Lets about half of the results that can take over their first operand do so.
static void allow_overwrites(analysis* a, test_random* random) {
  for (stow_node node = 0; node < stow_graph_node_count(a->graph); ++node) {
    if (stow_graph_result_count(a->graph, node) != 0 &&
        stow_graph_operand_count(a->graph, node) != 0 &&
        stow_graph_operands(a->graph, node)[0] != STOW_VALUE_NONE &&
        test_random_below(random, 2) == 0) {
      CHECK(stow_effects_allow_overwrite(a->effects, node, 0, 0, &a->diag) == STOW_OK);
    }
  }
}

// Holds some first operands to the end, in all regions.
static void add_holds(analysis* a, test_random* random) {
  for (stow_node node = 0; node < stow_graph_node_count(a->graph); ++node) {
    if (stow_graph_operand_count(a->graph, node) != 0 &&
        stow_graph_operands(a->graph, node)[0] != STOW_VALUE_NONE &&
        stow_graph_result_count(a->graph, node) != 0 &&
        stow_graph_op_desc(a->graph, node)->region_count == 0 &&
        test_random_below(random, 12) == 0) {
      CHECK(stow_effects_hold_operand(a->effects, node, 0, STOW_STEP_END, &a->diag) == STOW_OK);
    }
  }
}

// The machine runs a region when its owner's turn comes, so it must come right before the owner.
static bool make_schedule(analysis* a, test_random* random) {
  if (stow_graph_region_count(a->graph) == 1) {
    a->schedule = random_schedule(random, a->graph, stow_allocator_default());
  }
  return a->schedule != NULL || stow_schedule_create(a->graph, stow_allocator_default(), &a->diag,
                                                     &a->schedule) == STOW_OK;
}

typedef struct request {
  size_t nodes;
  bool regions;
  bool overwrites;
  bool classic;
  stow_io_policy io;
  bool holds;
} request;

static bool analysis_make(analysis* a, test_random* random, const request* want) {
  stow_allocator allocator = stow_allocator_default();
  memset(a, 0, sizeof(*a));
  stow_diag_init(&a->diag);
  random_graph_options options = random_graph_everything(want->nodes);
  options.regions = want->regions;
  a->graph = random_graph(random, &options, allocator);
  stow_views_options views_options;
  stow_views_options_init(&views_options);
  views_options.classic_only = want->classic;
  views_options.io = want->io;
  bool ok = make_schedule(a, random) &&
            stow_effects_create(a->graph, allocator, &a->diag, &a->effects) == STOW_OK;
  if (ok && want->holds) {
    add_holds(a, random);
  }
  ok = ok && stow_views_create(a->graph, a->effects, &views_options, allocator, &a->diag,
                               &a->views) == STOW_OK;
  if (ok && want->overwrites) {
    allow_overwrites(a, random);
  }
  ok = ok && make_lifetimes(a, want->io);
  if (ok && want->overwrites) {
    ok = stow_views_apply_overwrites(a->views, a->graph, a->schedule, a->effects, a->lifetimes,
                                     &a->diag, &a->merged) == STOW_OK &&
         make_lifetimes(a, want->io);
  }
  if (!ok && want->holds && a->diag.status == STOW_ERR_CONFLICT) {
    return true;  // what is held is written over; there are no lifetimes then
  }
  return test_check(ok, __FILE__, __LINE__, "%s", a->diag.message);
}

// ---------------------------------------------------------------------------------------------
// Views by definition: one link after the other, by the op rows.

// Whether |value| is a view, of what and where, one link only.
static bool find_link(const analysis* a, bool classic, stow_value value, stow_value* out_parent,
                      uint64_t* out_offset) {
  stow_view view;
  stow_node node = stow_graph_producer(a->graph, value);
  size_t k = value - stow_graph_first_result(a->graph, node);
  if (!stow_graph_view(a->graph, node, k, &view) || (classic && view.extended)) {
    return false;
  }
  *out_parent = stow_graph_operands(a->graph, node)[view.operand];
  uint64_t bits =
      view.element_offset * stow_dtype_bits(stow_graph_type(a->graph, *out_parent)->dtype);
  *out_offset = bits / 8;
  return bits % 8 == 0;
}

static void check_views_by_definition(const analysis* a, bool classic) {
  for (stow_value v = 0; v < stow_graph_value_count(a->graph); ++v) {
    stow_value root = v;
    stow_value parent;
    uint64_t offset = 0;
    uint64_t step;
    while (find_link(a, classic, root, &parent, &step)) {
      offset += step;
      root = parent;
    }
    CHECK_U64(stow_views_root(a->views, v), root);
    CHECK_U64(stow_views_offset(a->views, v), offset);
    CHECK(offset + stow_views_bytes(a->views, v) <= stow_views_bytes(a->views, root));
  }
}

// ---------------------------------------------------------------------------------------------
// Lifetimes by definition

static bool is_output(const stow_graph* graph, stow_value value) {
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    if (stow_graph_outputs(graph)[i] == value) {
      return true;
    }
  }
  return false;
}

// Whether using |used| uses |value|: it is the same, or |value| is its root.
static bool counts_for(const analysis* a, stow_value used, stow_value value) {
  return used == value || stow_views_root(a->views, used) == value;
}

static uint32_t death_by_definition(const analysis* a, stow_value value) {
  const stow_graph* graph = a->graph;
  uint32_t death = stow_schedule_step(a->schedule, stow_graph_producer(graph, value));
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
      stow_value operand = stow_graph_operands(graph, node)[k];
      uint32_t step = stow_schedule_step(a->schedule, node);
      if (operand != STOW_VALUE_NONE && counts_for(a, operand, value) && step > death) {
        death = step;
      }
    }
  }
  for (stow_value v = 0; v < stow_graph_value_count(graph); ++v) {
    if (counts_for(a, v, value) && is_output(graph, v)) {
      death = stow_graph_node_count(graph);
    }
  }
  return death;
}

static void check_by_definition(const analysis* a, stow_io_policy io) {
  const stow_graph* graph = a->graph;
  for (stow_value v = 0; v < stow_graph_value_count(graph); ++v) {
    stow_op op = stow_graph_op(graph, stow_graph_producer(graph, v));
    uint32_t begin = stow_schedule_step(a->schedule, stow_graph_producer(graph, v));
    uint32_t death = death_by_definition(a, v);
    if (stow_graph_is_boundary(graph, v)) {
      begin = 0;
      if (op != STOW_OP_INPUT || io != STOW_IO_CONSUME) {
        death = stow_graph_node_count(graph);
      }
    }
    CHECK_U64(stow_lifetimes_begin(a->lifetimes, v), begin);
    CHECK_U64(stow_lifetimes_end(a->lifetimes, v), death + 1);
  }
}

static uint32_t rounds(uint32_t usual) { return test_is_long() ? usual * 20 : usual; }

TEST(WithoutRegionsLifetimesAreThoseOfTheDefinition) {
  test_random random = {1};
  for (uint32_t i = 0; i < rounds(400); ++i) {
    request want = {
        3 + i % 40, false, false, i % 3 == 0, i % 2 == 0 ? STOW_IO_KEEP : STOW_IO_CONSUME, false};
    analysis a;
    REQUIRE(analysis_make(&a, &random, &want));
    check_views_by_definition(&a, want.classic);
    check_by_definition(&a, want.io);
    analysis_free(&a);
  }
}

// ---------------------------------------------------------------------------------------------
// Execution on stamps

#define MAX_TRACE 20000

typedef struct machine {
  const analysis* a;
  test_random* random;
  stow_value* stamp;  // by root: whose value lies there
  uint32_t* since;    // by root: when the stamp was put, as an index into the trace
  uint32_t* held;     // by node: since when in the trace it holds an operand; 0: not yet
  uint32_t* steps;    // the trace: which step ran
  uint32_t length;
  bool failed;
} machine;

// Whose stamp |value| carries: a view carries its parent's, a carried result its argument's.
static stow_value stamp_of(const machine* m, stow_value value) {
  const stow_graph* graph = m->a->graph;
  stow_node node = stow_graph_producer(graph, value);
  size_t k = value - stow_graph_first_result(graph, node);
  stow_view view;
  const stow_op_desc* desc = stow_graph_op_desc(graph, node);
  if (stow_views_is_view(m->a->views, value) && !desc->writes_view &&
      stow_graph_view(graph, node, k, &view)) {
    return stamp_of(m, stow_graph_operands(graph, node)[view.operand]);
  }
  if (stow_views_is_view(m->a->views, value) && stow_graph_op(graph, node) == STOW_OP_LOOP) {
    stow_region body = stow_graph_owned_region(graph, node, 0);
    return stow_graph_first_result(graph, stow_graph_region_first(graph, body)) + 2 + (stow_value)k;
  }
  return value;
}

static bool lives_at(const machine* m, stow_value root, uint32_t step) {
  return step >= stow_lifetimes_begin(m->a->lifetimes, root) &&
         step < stow_lifetimes_end(m->a->lifetimes, root);
}

static void write_value(machine* m, stow_value value) {
  stow_value root = stow_views_root(m->a->views, value);
  uint32_t step = m->steps[m->length - 1];
  m->stamp[root] = value;
  m->since[root] = m->length - 1;
  if (!test_check(lives_at(m, root, step), __FILE__, __LINE__,
                  "%%%u is written at step %u, outside its life", value, step)) {
    m->failed = true;
  }
}

// What lies in |root| is needed now.
static void need_root(machine* m, stow_value root) {
  for (uint32_t t = m->since[root]; t < m->length && !m->failed; ++t) {
    if (!test_check(lives_at(m, root, m->steps[t]), __FILE__, __LINE__,
                    "root %%%u is needed at step %u, outside its life", root, m->steps[t])) {
      m->failed = true;
    }
  }
}

static void read_value(machine* m, stow_value value) {
  stow_value root = stow_views_root(m->a->views, value);
  if (!test_check(m->stamp[root] == stamp_of(m, value), __FILE__, __LINE__,
                  "%%%u is read at step %u, but %%%u is there", value, m->steps[m->length - 1],
                  m->stamp[root])) {
    m->failed = true;
    return;
  }
  need_root(m, root);
}

static void run_step(machine* m, stow_node node) {
  if (m->length < MAX_TRACE) {
    m->steps[m->length++] = stow_schedule_step(m->a->schedule, node);
  } else {
    m->failed = true;
  }
}

static void run_range(machine* m, uint32_t from, uint32_t to, stow_region region);

static void run_plain(machine* m, stow_node node) {
  const stow_graph* graph = m->a->graph;
  run_step(m, node);
  if (stow_graph_is_boundary(graph, stow_graph_first_result(graph, node))) {
    return;  // loaded before the run
  }
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    stow_value operand = stow_graph_operands(graph, node)[k];
    if (operand != STOW_VALUE_NONE) {
      read_value(m, operand);
    }
  }
  m->held[node] = m->held[node] == 0 ? m->length - 1 : m->held[node];
  for (size_t k = 0; k < stow_graph_result_count(graph, node); ++k) {
    stow_value value = stow_graph_first_result(graph, node) + (stow_value)k;
    if (stamp_of(m, value) == value) {
      write_value(m, value);
    }
  }
}

static bool has_args(const stow_graph* graph, stow_region region) {
  stow_node first = stow_graph_region_first(graph, region);
  return stow_graph_op(graph, first) == STOW_OP_ARGS &&
         stow_graph_node_region(graph, first) == region;
}

// Runs the nodes of |region| between its `args` and its `yield`.
static void run_inside(machine* m, stow_region region) {
  const stow_graph* graph = m->a->graph;
  uint32_t first = stow_schedule_step(m->a->schedule, stow_graph_region_first(graph, region));
  uint32_t last = stow_schedule_step(m->a->schedule, stow_graph_region_last(graph, region));
  run_range(m, has_args(graph, region) ? first + 1 : first, last, region);
}

static void run_if(machine* m, stow_node node) {
  const stow_graph* graph = m->a->graph;
  stow_region region = stow_graph_owned_region(graph, node, test_random_below(m->random, 2));
  run_inside(m, region);
  stow_node yield = stow_graph_region_last(graph, region);
  run_step(m, yield);
  for (size_t k = 0; k < stow_graph_result_count(graph, node); ++k) {
    read_value(m, stow_graph_operands(graph, yield)[k]);
  }
  for (size_t k = 0; k < stow_graph_result_count(graph, node); ++k) {
    write_value(m, stow_graph_first_result(graph, node) + (stow_value)k);
  }
  run_step(m, node);
  read_value(m, stow_graph_operands(graph, node)[0]);
}

static void run_round(machine* m, stow_node node, stow_region body, size_t carried) {
  const stow_graph* graph = m->a->graph;
  stow_node args = stow_graph_region_first(graph, body);
  stow_node yield = stow_graph_region_last(graph, body);
  stow_value first = stow_graph_first_result(graph, args);
  if (has_args(graph, body)) {
    write_value(m, first);
    write_value(m, first + 1);
  }
  run_inside(m, body);
  run_step(m, yield);
  for (size_t k = 0; k < stow_graph_operand_count(graph, yield); ++k) {
    read_value(m, stow_graph_operands(graph, yield)[k]);
  }
  for (size_t i = 0; i < carried; ++i) {
    // Its place is still kept, though a cache in it may have grown.
    need_root(m, stow_views_root(m->a->views, first + 2 + (stow_value)i));
    write_value(m, first + 2 + (stow_value)i);
  }
  for (size_t k = carried; k < stow_graph_result_count(graph, node); ++k) {
    read_value(m, stow_graph_first_result(graph, node) + (stow_value)k);  // collects
  }
}

static void run_loop(machine* m, stow_node node) {
  const stow_graph* graph = m->a->graph;
  stow_region body = stow_graph_owned_region(graph, node, 0);
  stow_node args = stow_graph_region_first(graph, body);
  size_t operands = stow_graph_operand_count(graph, node);
  size_t carried = operands > 2 ? operands - 2 : 0;
  run_step(m, args);
  for (size_t i = 0; i < carried; ++i) {
    read_value(m, stow_graph_operands(graph, node)[2 + i]);
  }
  for (size_t i = 0; i < carried; ++i) {
    write_value(m, stow_graph_first_result(graph, args) + 2 + (stow_value)i);
  }
  for (size_t k = carried; k < stow_graph_result_count(graph, node); ++k) {
    write_value(m, stow_graph_first_result(graph, node) + (stow_value)k);
  }
  uint64_t count = test_random_below(m->random, 4);
  for (uint64_t i = 0; i < count && !m->failed; ++i) {
    if (i > 0) {
      run_step(m, args);
    }
    run_round(m, node, body, carried);
  }
  run_step(m, node);
  for (size_t k = 0; k < operands && k < 2; ++k) {
    if (stow_graph_operands(graph, node)[k] != STOW_VALUE_NONE) {
      read_value(m, stow_graph_operands(graph, node)[k]);
    }
  }
  for (size_t k = 0; k < carried; ++k) {
    read_value(m, stow_graph_first_result(graph, node) + (stow_value)k);
  }
}

// The nodes of |region| itself at steps [from, to); regions inside run when their owner's turn
// comes.
static void run_range(machine* m, uint32_t from, uint32_t to, stow_region region) {
  const stow_graph* graph = m->a->graph;
  for (uint32_t step = from; step < to && !m->failed; ++step) {
    stow_node node = stow_schedule_order(m->a->schedule)[step];
    if (stow_graph_node_region(graph, node) != region) {
      continue;
    }
    if (stow_graph_op(graph, node) == STOW_OP_IF) {
      run_if(m, node);
    } else if (stow_graph_op(graph, node) == STOW_OP_LOOP) {
      run_loop(m, node);
    } else {
      run_plain(m, node);
    }
  }
}

static void load_boundary(machine* m) {
  const stow_graph* graph = m->a->graph;
  m->steps[m->length++] = 0;
  for (stow_value v = 0; v < stow_graph_value_count(graph); ++v) {
    if (stow_graph_is_boundary(graph, v)) {
      write_value(m, v);
    }
  }
}

static void read_results(machine* m, stow_io_policy io) {
  const stow_graph* graph = m->a->graph;
  m->steps[m->length++] = stow_graph_node_count(graph);
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    read_value(m, stow_graph_outputs(graph)[i]);
  }
  for (stow_value v = 0; v < stow_graph_value_count(graph); ++v) {
    stow_op op = stow_graph_op(graph, stow_graph_producer(graph, v));
    bool appended = stow_views_root(m->a->views, v) == v && m->stamp[v] != v;
    if (stow_graph_is_boundary(graph, v) && !(op == STOW_OP_INPUT && io == STOW_IO_CONSUME) &&
        !appended) {
      read_value(m, v);  // a second run finds it untouched
    }
  }
}

// From the first round on in which something was held, nobody else gets its bytes.
static void check_held(machine* m) {
  for (size_t i = 0; i < stow_effects_hold_count(m->a->effects); ++i) {
    stow_hold hold = stow_effects_hold(m->a->effects, i);
    stow_value value = stow_graph_operands(m->a->graph, hold.node)[hold.operand];
    stow_value root = stow_views_root(m->a->views, value);
    uint32_t from = m->held[hold.node] == 0 ? m->length : m->held[hold.node];
    for (uint32_t t = from; t < m->length && !m->failed; ++t) {
      m->failed =
          !test_check(lives_at(m, root, m->steps[t]) && lives_at(m, value, m->steps[t]), __FILE__,
                      __LINE__, "%%%u is held at step %u, outside its life", value, m->steps[t]);
    }
  }
}

static void check_by_execution(const analysis* a, test_random* random, stow_io_policy io) {
  size_t values = stow_graph_value_count(a->graph);
  machine m = {a, random, NULL, NULL, NULL, NULL, 0, false};
  m.stamp = (stow_value*)malloc(values * sizeof(stow_value));
  m.since = (uint32_t*)calloc(values, sizeof(uint32_t));
  m.held = (uint32_t*)calloc(stow_graph_node_count(a->graph), sizeof(uint32_t));
  m.steps = (uint32_t*)malloc((MAX_TRACE + 2) * sizeof(uint32_t));
  memset(m.stamp, 0xff, values * sizeof(stow_value));
  load_boundary(&m);
  run_range(&m, 0, stow_graph_node_count(a->graph), STOW_REGION_BODY);
  if (!m.failed) {
    read_results(&m, io);
    check_held(&m);
  }
  free(m.stamp);
  free(m.since);
  free(m.held);
  free(m.steps);
}

TEST(WithRegionsNothingIsDestroyedBeforeItIsRead) {
  test_random random = {2};
  for (uint32_t i = 0; i < rounds(600); ++i) {
    request want = {
        4 + i % 50, true, false, i % 5 == 0, i % 2 == 0 ? STOW_IO_KEEP : STOW_IO_CONSUME, false};
    analysis a;
    REQUIRE(analysis_make(&a, &random, &want));
    for (int run = 0; run < 3; ++run) {
      check_by_execution(&a, &random, want.io);
    }
    analysis_free(&a);
  }
}

TEST(WhatIsHeldToTheEndIsNotDestroyedByLaterRounds) {
  test_random random = {4};
  size_t made = 0;
  for (uint32_t i = 0; i < rounds(400); ++i) {
    request want = {4 + i % 50, true, i % 2 == 0, i % 5 == 0, STOW_IO_KEEP, true};
    analysis a;
    REQUIRE(analysis_make(&a, &random, &want));
    for (int run = 0; run < 3 && a.lifetimes != NULL; ++run) {
      check_by_execution(&a, &random, want.io);
    }
    made += a.lifetimes != NULL ? 1 : 0;
    analysis_free(&a);
  }
  CHECK(made > 100);
}

TEST(OverwritesDestroyNothingThatIsRead) {
  test_random random = {3};
  size_t merged = 0;
  for (uint32_t i = 0; i < rounds(1000); ++i) {
    request want = {
        4 + i % 50, i % 3 != 0, true, false, i % 2 == 0 ? STOW_IO_KEEP : STOW_IO_CONSUME, false};
    analysis a;
    REQUIRE(analysis_make(&a, &random, &want));
    merged += a.merged;
    for (int run = 0; run < 3; ++run) {
      check_by_execution(&a, &random, want.io);
    }
    analysis_free(&a);
  }
  test_check(merged > 400, __FILE__, __LINE__, "only %zu overwrites were applied", merged);
}
