// Views and lifetimes of random graphs against two oracles that share nothing with them.
//
// Definition: without regions, lifetimes are recomputed from the definition of the rules, in O(n³).
//
// Execution: the program is run on tagged bytes (machine.h).
#include <stdlib.h>
#include <string.h>

#include "analysis/api.h"
#include "machine.h"
#include "support/random_graph.h"
#include "support/test.h"

typedef struct analysis {
  stow_graph* graph;
  stow_effects* effects;
  stow_schedule* schedule;
  stowi_analysis_views* views;
  stowi_analysis_lifetimes* lifetimes;
  stowi_analysis_sharing* sharing;
  size_t merged;
  stow_diag diag;
} analysis;

static void analysis_free(analysis* a) {
  stowi_analysis_sharing_destroy(a->sharing);
  stowi_analysis_lifetimes_destroy(a->lifetimes);
  stowi_analysis_views_destroy(a->views);
  stow_schedule_destroy(a->schedule);
  stow_effects_destroy(a->effects);
  stow_graph_destroy(a->graph);
}

static bool make_lifetimes(analysis* a, stow_io_policy io) {
  stowi_analysis_lifetimes_options options;
  stowi_analysis_lifetimes_options_init(&options);
  options.io = io;
  stowi_analysis_lifetimes_destroy(a->lifetimes);
  return stowi_analysis_lifetimes_create(a->graph, a->schedule, a->views, a->effects, &options,
                                         stow_allocator_default(), &a->diag,
                                         &a->lifetimes) == STOW_OK;
}

// Allows about half of the results that can be in place of their first operand.
static void allow_overwrites(analysis* a, test_random* random) {
  for (stow_node node = 0; node < stow_graph_node_count(a->graph); ++node) {
    if (stow_graph_result_count(a->graph, node) != 0 &&
        stow_graph_operand_count(a->graph, node) != 0 &&
        stow_graph_operands(a->graph, node)[0] != STOW_VALUE_NONE &&
        test_random_below(random, 2) == 0) {
      CHECK(stow_effects_allow_in_place(a->effects, node, 0, 0, &a->diag) == STOW_OK);
    }
  }
}

// Forbids some pairs, and gives values more bytes or a stricter alignment than they need.
static void add_effects(analysis* a, test_random* random) {
  for (stow_node node = 0; node < stow_graph_node_count(a->graph); ++node) {
    if (stow_graph_result_count(a->graph, node) != 0 &&
        stow_graph_operand_count(a->graph, node) != 0 &&
        stow_graph_operands(a->graph, node)[0] != STOW_VALUE_NONE &&
        test_random_below(random, 6) == 0) {
      CHECK(stow_effects_forbid_in_place(a->effects, node, 0, 0, &a->diag) == STOW_OK);
    }
  }
  for (stow_value v = 0; v < stow_graph_value_count(a->graph); ++v) {
    uint64_t bytes = 0;
    stow_op op = stow_graph_op(a->graph, stow_graph_producer(a->graph, v));
    CHECK(stow_type_bytes(stow_graph_type(a->graph, v), &bytes) == STOW_OK);
    if ((op == STOW_OP_INPUT || op == STOW_OP_RELU) && test_random_below(random, 8) == 0) {
      stow_effects_set_storage(a->effects, v, bytes + 4 * test_random_below(random, 9), NULL);
    }
    if (op == STOW_OP_RELU && test_random_below(random, 8) == 0) {
      stow_effects_set_alignment(a->effects, v, UINT64_C(1) << test_random_below(random, 7), NULL);
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

// The machine runs a region when its owner runs, so it must come right before the owner.
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
  bool in_place;
  bool elide_copies;
} request;

static bool share(analysis* a, const request* want) {
  stowi_analysis_sharing_options options;
  stowi_analysis_sharing_options_init(&options);
  options.in_place = want->in_place;
  options.elide_copies = want->elide_copies;
  options.alignment = UINT64_C(1) << want->nodes % 5;
  if (stowi_analysis_sharing_apply(a->views, a->graph, a->schedule, a->effects, a->lifetimes,
                                   &options, stow_allocator_default(), &a->diag,
                                   &a->sharing) != STOW_OK) {
    return false;
  }
  a->merged = stowi_analysis_sharing_taken(a->sharing);
  return true;
}

static bool analysis_make(analysis* a, test_random* random, const request* want) {
  stow_allocator allocator = stow_allocator_default();
  memset(a, 0, sizeof(*a));
  stow_diag_init(&a->diag);
  random_graph_options options = random_graph_everything(want->nodes);
  options.regions = want->regions;
  a->graph = random_graph(random, &options, allocator);
  stowi_analysis_views_options views_options;
  stowi_analysis_views_options_init(&views_options);
  views_options.classic_only = want->classic;
  views_options.io = want->io;
  bool ok = make_schedule(a, random) &&
            stow_effects_create(a->graph, allocator, &a->diag, &a->effects) == STOW_OK;
  if (ok && want->holds) {
    add_holds(a, random);
  }
  if (ok && want->in_place) {
    add_effects(a, random);
  }
  ok = ok && stowi_analysis_views_create(a->graph, a->effects, &views_options, allocator, &a->diag,
                                         &a->views) == STOW_OK;
  if (ok && want->overwrites) {
    allow_overwrites(a, random);
  }
  ok = ok && make_lifetimes(a, want->io);
  if (ok && want->overwrites) {
    ok = share(a, want) && make_lifetimes(a, want->io);
  }
  if (!ok && want->holds && a->diag.status == STOW_ERR_CONFLICT) {
    return true;  // a held operand is overwritten; there are no lifetimes then
  }
  return test_check(ok, __FILE__, __LINE__, "%s", a->diag.message);
}

// ---------------------------------------------------------------------------------------------
// Views by definition: one link after the other, by the op rows.

// Whether |value| is a view, of what and where, following one link.
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
    CHECK_U64(stowi_analysis_views_root(a->views, v), root);
    CHECK_U64(stowi_analysis_views_offset(a->views, v), offset);
    CHECK(offset + stowi_analysis_views_bytes(a->views, v) <=
          stowi_analysis_views_bytes(a->views, root));
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
  return used == value || stowi_analysis_views_root(a->views, used) == value;
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
    CHECK_U64(stowi_analysis_lifetimes_begin(a->lifetimes, v), begin);
    CHECK_U64(stowi_analysis_lifetimes_end(a->lifetimes, v), death + 1);
  }
}

static uint32_t rounds(uint32_t usual) { return test_is_long() ? usual * 20 : usual; }

TEST(WithoutRegionsLifetimesMatchTheDefinition) {
  test_random random = {1};
  for (uint32_t i = 0; i < rounds(400); ++i) {
    request want = {
        3 + i % 40, false, false, i % 3 == 0, i % 2 == 0 ? STOW_IO_KEEP : STOW_IO_CONSUME,
        false,      false, false};
    analysis a;
    REQUIRE(analysis_make(&a, &random, &want));
    check_views_by_definition(&a, want.classic);
    check_by_definition(&a, want.io);
    analysis_free(&a);
  }
}

// ---------------------------------------------------------------------------------------------
// Execution

static void check_by_execution(const analysis* a, test_random* random, const request* want) {
  stowi_analysis_windows* windows;
  stow_diag diag;
  stow_diag_init(&diag);
  if (!CHECK(stowi_analysis_windows_create(a->views, a->lifetimes, stow_allocator_default(), &diag,
                                           &windows) == STOW_OK)) {
    return;
  }
  machine_input input = {a->graph,     a->effects, a->schedule, a->views,
                         a->lifetimes, windows,    want->io,    want->classic};
  machine_run(&input, random);
  stowi_analysis_windows_destroy(windows);
}

TEST(WithRegionsNothingIsOverwrittenBeforeItIsRead) {
  test_random random = {2};
  for (uint32_t i = 0; i < rounds(600); ++i) {
    request want = {
        4 + i % 50, true,  false, i % 5 == 0, i % 2 == 0 ? STOW_IO_KEEP : STOW_IO_CONSUME,
        false,      false, false};
    analysis a;
    REQUIRE(analysis_make(&a, &random, &want));
    for (int run = 0; run < 3; ++run) {
      check_by_execution(&a, &random, &want);
    }
    analysis_free(&a);
  }
}

TEST(HeldValuesAreNotOverwrittenByLaterIterations) {
  test_random random = {4};
  size_t made = 0;
  for (uint32_t i = 0; i < rounds(400); ++i) {
    request want = {4 + i % 50, true, i % 2 == 0, i % 5 == 0, STOW_IO_KEEP, true, false, false};
    analysis a;
    REQUIRE(analysis_make(&a, &random, &want));
    for (int run = 0; run < 3 && a.lifetimes != NULL; ++run) {
      check_by_execution(&a, &random, &want);
    }
    made += a.lifetimes != NULL ? 1 : 0;
    analysis_free(&a);
  }
  CHECK(made > 100);
}

// What a root occupies at |step|, by its windows.
static void occupied(const stowi_analysis_windows* windows, const stowi_analysis_views* views,
                     stow_value root, uint32_t step, uint64_t* out_low, uint64_t* out_high) {
  *out_low = 0;
  *out_high = stowi_analysis_views_bytes(views, root);
  for (size_t i = 0; i < stowi_analysis_windows_count(windows, root); ++i) {
    stow_window at = stowi_analysis_windows_at(windows, root, i);
    if (step >= at.begin && step < at.end) {
      *out_low = at.low;
      *out_high = at.high;
    }
  }
}

// The smallest range that covers the values of |root| that are live at |step|.
static void hull(const analysis* a, stow_value root, uint32_t step, uint64_t* out_low,
                 uint64_t* out_high) {
  *out_low = UINT64_MAX;
  *out_high = 0;
  for (stow_value v = 0; v < stow_graph_value_count(a->graph); ++v) {
    uint64_t low = stowi_analysis_views_offset(a->views, v);
    uint64_t high = low + stowi_analysis_views_bytes(a->views, v);
    if (stowi_analysis_views_root(a->views, v) == root && low != high &&
        step >= stowi_analysis_lifetimes_own_begin(a->lifetimes, v) &&
        step < stowi_analysis_lifetimes_own_end(a->lifetimes, v)) {
      *out_low = low < *out_low ? low : *out_low;
      *out_high = high > *out_high ? high : *out_high;
    }
  }
  *out_low = *out_low < *out_high ? *out_low : *out_high;
}

// Windows by definition; and a root is live exactly as long as its values.
static void check_windows(const analysis* a) {
  stowi_analysis_windows* windows;
  stow_diag diag;
  stow_diag_init(&diag);
  REQUIRE(stowi_analysis_windows_create(a->views, a->lifetimes, stow_allocator_default(), &diag,
                                        &windows) == STOW_OK);
  for (stow_value v = 0; v < stow_graph_value_count(a->graph); ++v) {
    if (stowi_analysis_views_is_view(a->views, v)) {
      CHECK_U64(stowi_analysis_windows_count(windows, v), 0);
      continue;
    }
    for (uint32_t step = stowi_analysis_lifetimes_begin(a->lifetimes, v);
         step < stowi_analysis_lifetimes_end(a->lifetimes, v); ++step) {
      uint64_t low, high, expected_low, expected_high;
      occupied(windows, a->views, v, step, &low, &high);
      hull(a, v, step, &expected_low, &expected_high);
      CHECK_U64(low, expected_low);
      CHECK_U64(high, expected_high);
    }
    for (size_t i = 1; i < stowi_analysis_windows_count(windows, v); ++i) {
      stow_window before = stowi_analysis_windows_at(windows, v, i - 1);
      stow_window at = stowi_analysis_windows_at(windows, v, i);
      CHECK(before.begin < before.end && before.end <= at.begin && at.begin < at.end);
      CHECK(before.end != at.begin || before.low != at.low || before.high != at.high);
    }
  }
  stowi_analysis_windows_destroy(windows);
}

TEST(InPlaceResultsOverwriteNothingThatIsRead) {
  test_random random = {3};
  size_t merged = 0;
  for (uint32_t i = 0; i < rounds(1000); ++i) {
    request want = {
        4 + i % 50, i % 3 != 0, true, false, i % 2 == 0 ? STOW_IO_KEEP : STOW_IO_CONSUME,
        false,      false,      false};
    analysis a;
    REQUIRE(analysis_make(&a, &random, &want));
    merged += a.merged;
    for (int run = 0; run < 3; ++run) {
      check_by_execution(&a, &random, &want);
    }
    analysis_free(&a);
  }
  test_check(merged > 400, __FILE__, __LINE__, "only %zu overwrites were applied", merged);
}

TEST(SharingOverwritesNothingThatIsRead) {
  test_random random = {5};
  size_t merged = 0;
  for (uint32_t i = 0; i < rounds(1600); ++i) {
    request want = {.nodes = 4 + i % 50,
                    .regions = i % 3 != 0,
                    .overwrites = true,
                    .classic = i % 7 == 0,
                    .io = i % 2 == 0 ? STOW_IO_KEEP : STOW_IO_CONSUME,
                    .holds = i % 5 == 0,
                    .in_place = true,
                    .elide_copies = i % 4 != 0};
    analysis a;
    REQUIRE(analysis_make(&a, &random, &want));
    merged += a.merged;
    for (int run = 0; run < 3 && a.sharing != NULL; ++run) {
      check_by_execution(&a, &random, &want);
    }
    if (a.sharing != NULL) {
      check_windows(&a);
    }
    analysis_free(&a);
  }
  test_check(merged > 2000, __FILE__, __LINE__, "only %zu results share bytes", merged);
}
