// Orders: flows represent what plans need, found orders are valid and better, no order needs less
// than the bound; and graphs for which the gain is known.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/api.h"
#include "flow/api.h"
#include "graph/api.h"
#include "plan/api.h"
#include "plan/order/node_flow.h"
#include "plan/order/order.h"
#include "plan/plan_support.h"
#include "support/fault.h"
#include "support/random_graph.h"
#include "support/test.h"

// ---------------------------------------------------------------------------------------------
// Support

static stow_plan_options plain_options(void) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  options.in_place = false;
  options.elide_copies = false;
  options.windows = false;
  options.order = STOW_ORDER_AUTO;
  options.order_nodes = 20000;
  options.nodes = 0;
  return options;
}

static stowi_analysis_views* make_views(const stow_graph* graph, const stow_effects* effects,
                                        const stow_plan_options* options, stow_allocator allocator,
                                        stow_diag* diag) {
  stowi_analysis_views_options wanted;
  stowi_analysis_views_options_init(&wanted);
  wanted.classic_only = options->classic_views;
  wanted.f32_uniform = options->f32_uniform;
  wanted.io = options->io;
  wanted.inputs = options->inputs;
  stowi_analysis_views* views = NULL;
  stowi_analysis_views_create(graph, effects, &wanted, allocator, diag, &views);
  return views;
}

// What order.c sees of a graph in an order.
typedef struct order_case {
  const stow_graph* graph;
  const stow_effects* effects;
  stow_plan_options options;
  stowi_analysis_views* views;
  stow_schedule* given;
  stow_diag diag;
  stowi_plan_order_request request;
} order_case;

static bool open_case(order_case* c, const stow_graph* graph, const stow_effects* effects,
                      const stow_plan_options* options, stow_schedule* given) {
  memset(c, 0, sizeof(*c));
  stow_diag_init(&c->diag);
  c->graph = graph;
  c->effects = effects;
  c->options = *options;
  c->options.order = STOW_ORDER_AUTO;
  stow_allocator allocator = stow_allocator_default();
  c->given = given;
  if (given == NULL) {
    stow_schedule_create(graph, allocator, &c->diag, &c->given);
  }
  c->views = make_views(graph, effects, options, allocator, &c->diag);
  c->request =
      (stowi_plan_order_request){graph, effects, c->views, &c->options, allocator, &c->diag, NULL};
  return c->views != NULL && c->given != NULL;
}

static void close_case(order_case* c) {
  stowi_analysis_views_destroy(c->views);
  stow_schedule_destroy(c->given);
}

// Peak of the given order in the flat flow.
static uint64_t flat_peak(const order_case* c, bool for_bound) {
  stowi_plan_traffic traffic;
  stowi_plan_node_flow flow;
  stowi_plan_flow_options options = {STOWI_PLAN_FLOW_FLAT, for_bound, NULL};
  uint64_t bytes = UINT64_MAX;
  uint32_t place;
  stow_allocator allocator = stow_allocator_default();
  stow_diag* diag = c->request.diag;
  if (!CHECK(stowi_plan_traffic_create(&c->request, c->given, &traffic) == STOW_OK)) {
    return bytes;
  }
  stow_status status = stowi_plan_node_flow_create(&traffic, &options, &flow);
  if (test_check(status == STOW_OK, __FILE__, __LINE__, "flow: %s", c->diag.message)) {
    CHECK(stowi_flow_peak(flow.flow, NULL, allocator, diag, &bytes, &place) == STOW_OK);
    stowi_plan_node_flow_destroy(&traffic, &flow);
  }
  stowi_plan_traffic_destroy(&traffic);
  return bytes;
}

// The most bytes that the footprints of |plan| need at one step.
static uint64_t load_of(const stow_plan* plan) {
  size_t steps = (size_t)stow_plan_step_count(plan) + 1;
  uint64_t* load = (uint64_t*)calloc(steps, sizeof(*load));
  for (stow_value v = 0; v < stow_plan_value_count(plan); ++v) {
    stow_slot slot;
    if (!stow_plan_value_slot(plan, v, &slot) || stow_plan_root(plan, v) != v) {
      continue;
    }
    for (uint32_t step = stowi_plan_begin(plan, v); step < stowi_plan_end(plan, v); ++step) {
      load[step] += slot.size + stowi_plan_guard(plan, v);
    }
  }
  for (size_t i = 0; i < stow_plan_scratch_count(plan); ++i) {
    stow_node node;
    stow_slot slot;
    uint64_t alignment;
    stow_plan_scratch_slot(plan, i, &node, &slot, &alignment);
    uint32_t step = 0;
    while (stow_plan_order(plan)[step] != node) {
      ++step;
    }
    load[step] += slot.size;
  }
  uint64_t highest = 0;
  for (size_t step = 0; step < steps; ++step) {
    highest = load[step] > highest ? load[step] : highest;
  }
  free(load);
  return highest;
}

// The load of the plan in an order; UINT64_MAX if there is no plan (effects contradict it).
static uint64_t plan_load(const order_case* c, const stow_schedule* schedule) {
  stow_plan_options options = c->options;
  options.order = STOW_ORDER_GIVEN;
  options.schedule = schedule;
  stow_plan* plan = NULL;
  stow_plan_make(c->graph, c->effects, &options, stow_allocator_default(), NULL, &plan);
  if (plan == NULL) {
    return UINT64_MAX;
  }
  uint64_t load = load_of(plan);
  stow_plan_destroy(plan);
  return load;
}

static stow_plan_options random_plain_options(test_random* random) {
  stow_plan_options options = plain_options();
  options.inputs = test_random_below(random, 4) != 0;
  options.params = test_random_below(random, 4) != 0;
  options.constants = test_random_below(random, 4) != 0;
  options.f32_uniform = test_random_below(random, 4) == 0;
  options.classic_views = test_random_below(random, 4) == 0;
  options.zero_size_slots = test_random_below(random, 2) == 0;
  options.tail_guard = test_random_below(random, 2) * 100;
  options.io = test_random_below(random, 4) == 0 ? STOW_IO_EXTERNAL : STOW_IO_KEEP;
  return options;
}

static random_graph_options random_kind(test_random* random, size_t nodes) {
  random_graph_options kind = random_graph_everything(5 + test_random_below(random, nodes));
  kind.regions = test_random_below(random, 2) == 0;
  kind.appends = test_random_below(random, 2) == 0;
  return kind;
}

// Which node of a body without arguments runs first depends on the order, and flows do not
// represent that results which the loop collects exist from then on.
static bool is_exact(const stow_graph* graph) {
  for (stow_region region = 1; region < stow_graph_region_count(graph); ++region) {
    stow_node owner = stowi_graph_region_owner(graph, region);
    if (stow_graph_op_desc(graph, owner)->region_kind == STOW_REGION_LOOP &&
        stowi_graph_region_args(graph, region) == STOW_NODE_NONE) {
      return false;
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Flows against plans

TEST(PeakOfTheFlowIsTheLoadOfThePlanInEveryOrder) {
  test_random random = {1};
  size_t compared = 0;
  for (size_t i = 0; i < (test_is_long() ? 20000 : 600); ++i) {
    random_graph_options kind = random_kind(&random, 40);
    stow_graph* graph = random_graph(&random, &kind, stow_allocator_default());
    stow_plan_options options = random_plain_options(&random);
    stow_schedule* given = random_schedule(&random, graph, stow_allocator_default());
    order_case c;
    REQUIRE(open_case(&c, graph, NULL, &options, given));
    uint64_t load = plan_load(&c, c.given);
    if (is_exact(graph)) {
      CHECK_U64(flat_peak(&c, false), load);
      CHECK_U64(flat_peak(&c, true), load);
      ++compared;
    } else {
      CHECK(flat_peak(&c, false) <= load);
    }
    close_case(&c);
    stow_graph_destroy(graph);
  }
  CHECK(compared > 500);
}

TEST(PeakOfTheFlowIsNeverAboveTheLoadWithEffects) {
  test_random random = {2};
  size_t compared = 0;
  size_t equal = 0;
  for (size_t i = 0; i < (test_is_long() ? 20000 : 900); ++i) {
    random_graph_options kind = random_kind(&random, 30);
    stow_graph* graph = random_graph(&random, &kind, stow_allocator_default());
    stow_effects* effects = random_effects(&random, graph, stow_allocator_default());
    stow_plan_options options = random_plain_options(&random);
    options.io = (stow_io_policy)(STOW_IO_KEEP + test_random_below(&random, 3));
    stow_schedule* given = random_schedule(&random, graph, stow_allocator_default());
    order_case c;
    if (open_case(&c, graph, effects, &options, given)) {
      uint64_t load = plan_load(&c, c.given);
      if (load != UINT64_MAX) {
        CHECK(flat_peak(&c, true) <= load);
        equal += flat_peak(&c, false) == load ? 1 : 0;
        ++compared;
      }
    }
    close_case(&c);
    stow_effects_destroy(effects);
    stow_graph_destroy(graph);
  }
  CHECK(compared > 200);
  CHECK(equal * 10 > compared * 5);
}

// ---------------------------------------------------------------------------------------------
// Flows against sharing

static stowi_analysis_lifetimes* make_lifetimes(const order_case* c,
                                                const stowi_analysis_views* views,
                                                const stow_schedule* schedule) {
  stowi_analysis_lifetimes_options options;
  stowi_analysis_lifetimes_options_init(&options);
  options.io = c->options.io;
  stowi_analysis_lifetimes* lifetimes = NULL;
  stowi_analysis_lifetimes_create(c->graph, schedule, views, c->effects, &options,
                                  stow_allocator_default(), NULL, &lifetimes);
  return lifetimes;
}

// What |root| occupies at |step|, in its windows if |windows| has them.
static uint64_t occupied(const stowi_analysis_windows* windows, stow_value root, uint64_t bytes,
                         uint32_t step) {
  for (size_t i = 0; windows != NULL && i < stowi_analysis_windows_count(windows, root); ++i) {
    stow_window window = stowi_analysis_windows_at(windows, root, i);
    if (window.begin <= step && step < window.end) {
      return window.high - window.low;
    }
  }
  return bytes;
}

// The highest load after sharing. |plain| is a plan without: it determines which values have a
// slot.
static uint64_t load_with(const order_case* c, const stow_plan* plain,
                          const stowi_analysis_views* views,
                          const stowi_analysis_lifetimes* lifetimes,
                          const stowi_analysis_windows* windows) {
  uint64_t highest = 0;
  for (uint32_t step = 0; step <= stow_plan_step_count(plain); ++step) {
    uint64_t load = 0;
    for (stow_value v = 0; v < stow_plan_value_count(plain); ++v) {
      stow_slot slot;
      if (!stow_plan_value_slot(plain, v, &slot) || stowi_analysis_views_is_view(views, v) ||
          step < stowi_analysis_lifetimes_begin(lifetimes, v) ||
          step >= stowi_analysis_lifetimes_end(lifetimes, v)) {
        continue;
      }
      uint64_t guard = stowi_plan_guard(plain, v);
      load += guard != 0 ? slot.size + guard : occupied(windows, v, slot.size, step);
    }
    for (size_t i = 0; i < stowi_effects_scratch_count(c->effects); ++i) {
      stowi_effects_scratch_entry scratch = stowi_effects_scratch(c->effects, i);
      if (step < stow_plan_step_count(plain) && stow_plan_order(plain)[step] == scratch.node) {
        load += scratch.bytes;
      }
    }
    highest = load > highest ? load : highest;
  }
  return highest;
}

static stowi_analysis_sharing* share(const order_case* c, stowi_analysis_views* views,
                                     const stowi_analysis_lifetimes* lifetimes,
                                     const stow_schedule* schedule) {
  stowi_analysis_sharing_options options;
  stowi_analysis_sharing_options_init(&options);
  options.in_place = c->options.in_place;
  options.elide_copies = c->options.elide_copies;
  options.alignment = c->options.alignment;
  stowi_analysis_sharing* sharing = NULL;
  stow_status status =
      stowi_analysis_sharing_apply(views, c->graph, schedule, c->effects, lifetimes, &options,
                                   stow_allocator_default(), NULL, &sharing);
  CHECK(status == STOW_OK);
  return sharing;
}

// The highest load in |schedule| with everything that the options allow; UINT64_MAX if effects
// contradict the order. |out_taken| (may be NULL): how many values share bytes.
static uint64_t shared_load(const order_case* c, const stow_schedule* schedule, size_t* out_taken) {
  stow_allocator allocator = stow_allocator_default();
  stow_plan_options options = c->options;
  options.order = STOW_ORDER_GIVEN;
  options.in_place = options.elide_copies = options.windows = false;
  options.schedule = schedule;
  stow_plan* plain = NULL;
  uint64_t load = UINT64_MAX;
  stow_plan_make(c->graph, c->effects, &options, allocator, NULL, &plain);
  stowi_analysis_views* views = make_views(c->graph, c->effects, &options, allocator, NULL);
  stowi_analysis_lifetimes* lifetimes = views != NULL ? make_lifetimes(c, views, schedule) : NULL;
  if (plain != NULL && lifetimes != NULL) {
    stowi_analysis_sharing* sharing = share(c, views, lifetimes, schedule);
    if (out_taken != NULL) {
      *out_taken += stowi_analysis_sharing_taken(sharing);
    }
    stowi_analysis_sharing_destroy(sharing);
    stowi_analysis_lifetimes_destroy(lifetimes);
    lifetimes = make_lifetimes(c, views, schedule);
    stowi_analysis_windows* windows = NULL;
    if (c->options.windows) {
      CHECK(stowi_analysis_windows_create(views, lifetimes, allocator, NULL, &windows) == STOW_OK);
    }
    load = load_with(c, plain, views, lifetimes, windows);
    stowi_analysis_windows_destroy(windows);
  }
  stowi_analysis_lifetimes_destroy(lifetimes);
  stowi_analysis_views_destroy(views);
  stow_plan_destroy(plain);
  return load;
}

static stow_plan_options random_shared_options(test_random* random) {
  stow_plan_options options = random_plain_options(random);
  options.io = (stow_io_policy)(STOW_IO_KEEP + test_random_below(random, 3));
  options.alignment = UINT64_C(1) << (2 * test_random_below(random, 3));
  options.in_place = test_random_below(random, 3) != 0;
  options.elide_copies = test_random_below(random, 3) != 0;
  options.windows = test_random_below(random, 3) != 0;
  return options;
}

TEST(NoSharingNeedsLessThanTheBound) {
  test_random random = {5};
  size_t taken = 0;
  size_t compared = 0;
  size_t equal = 0;
  for (size_t i = 0; i < (test_is_long() ? 30000 : 600); ++i) {
    random_graph_options kind = random_kind(&random, 40);
    stow_graph* graph = random_graph(&random, &kind, stow_allocator_default());
    bool has_effects = test_random_below(&random, 2) == 0;
    stow_effects* effects =
        has_effects ? random_effects(&random, graph, stow_allocator_default()) : NULL;
    stow_plan_options options = random_shared_options(&random);
    stow_schedule* given = random_schedule(&random, graph, stow_allocator_default());
    order_case c;
    uint64_t load = UINT64_MAX;
    if (open_case(&c, graph, effects, &options, given)) {
      load = shared_load(&c, c.given, &taken);
    }
    if (load != UINT64_MAX) {
      uint64_t peak = flat_peak(&c, true);
      test_check(peak <= load, __FILE__, __LINE__, "case %zu: %u bytes are below %u", i,
                 (unsigned)load, (unsigned)peak);
      equal += peak == load ? 1 : 0;
      ++compared;
    }
    close_case(&c);
    stow_effects_destroy(effects);
    stow_graph_destroy(graph);
  }
  CHECK(taken > 100);
  CHECK(compared > 300);
  CHECK(equal * 2 > compared);
  if (test_is_long()) {
    printf("%zu shared, %zu compared, %zu equal\n", taken, compared, equal);
  }
}

// ---------------------------------------------------------------------------------------------
// Found orders

TEST(FoundOrdersAreValidAndNeedLess) {
  test_random random = {3};
  size_t found = 0;
  for (size_t i = 0; i < (test_is_long() ? 10000 : 500); ++i) {
    random_graph_options kind = random_kind(&random, 40);
    stow_graph* graph = random_graph(&random, &kind, stow_allocator_default());
    bool has_effects = test_random_below(&random, 2) == 0;
    stow_effects* effects =
        has_effects ? random_effects(&random, graph, stow_allocator_default()) : NULL;
    stow_plan_options options = random_plain_options(&random);
    stow_schedule* given = random_schedule(&random, graph, stow_allocator_default());
    order_case c;
    bool ok = open_case(&c, graph, effects, &options, given);
    uint64_t load = ok ? plan_load(&c, c.given) : UINT64_MAX;
    if (load != UINT64_MAX) {
      stow_schedule* better;
      stow_ordering ordering;
      stow_status status =
          stowi_plan_find_order(&c.request, c.given, UINT64_MAX, &better, &ordering);
      test_check(status == STOW_OK, __FILE__, __LINE__, "case %zu: %s", i, c.diag.message);
      CHECK(ordering.any_bound <= load);
      if (better != NULL) {
        uint64_t lower = plan_load(&c, better);
        test_check(lower != UINT64_MAX, __FILE__, __LINE__, "case %zu: the order has no plan", i);
        if (!has_effects) {
          test_check(lower < load, __FILE__, __LINE__, "case %zu: not better", i);
        }
        CHECK(ordering.any_bound <= lower);
        ++found;
      }
      stow_schedule_destroy(better);
    }
    close_case(&c);
    stow_effects_destroy(effects);
    stow_graph_destroy(graph);
  }
  CHECK(found > 50);
}

// ---------------------------------------------------------------------------------------------
// The bound against all orders

typedef struct all_orders {
  const order_case* c;
  uint32_t count;
  stow_node order[16];
  bool done[16];
  uint64_t bound;
  uint64_t least;
  size_t tried;
} all_orders;

static bool is_ready(const all_orders* all, stow_node node) {
  const stow_value* operands = stow_graph_operands(all->c->graph, node);
  for (size_t k = 0; k < stow_graph_operand_count(all->c->graph, node); ++k) {
    if (operands[k] != STOW_VALUE_NONE &&
        !all->done[stow_graph_producer(all->c->graph, operands[k])]) {
      return false;
    }
  }
  return true;
}

static void try_all_orders(all_orders* all, uint32_t step) {
  if (all->tried >= 100) {
    return;
  }
  if (step == all->count) {
    stow_schedule* schedule;
    if (stow_schedule_create_order(all->c->graph, all->order, step, stow_allocator_default(), NULL,
                                   &schedule) == STOW_OK) {
      uint64_t load = shared_load(all->c, schedule, NULL);
      CHECK(all->bound <= load);
      all->least = load < all->least ? load : all->least;
      ++all->tried;
    }
    stow_schedule_destroy(schedule);
    return;
  }
  for (stow_node node = 0; node < all->count; ++node) {
    if (!all->done[node] && is_ready(all, node)) {
      all->done[node] = true;
      all->order[step] = node;
      try_all_orders(all, step + 1);
      all->done[node] = false;
    }
  }
}

TEST(NoOrderOfATinyGraphNeedsLessThanTheBound) {
  test_random random = {4};
  size_t tight = 0;
  size_t cases = 0;
  for (size_t i = 0; i < (test_is_long() ? 2000 : 80); ++i) {
    random_graph_options kind = random_kind(&random, 4);
    stow_graph* graph = random_graph(&random, &kind, stow_allocator_default());
    bool shares = i % 2 == 0;
    stow_plan_options options =
        shares ? random_shared_options(&random) : random_plain_options(&random);
    order_case c;
    REQUIRE(open_case(&c, graph, NULL, &options, NULL));
    all_orders all = {.c = &c, .count = stow_graph_node_count(graph), .least = UINT64_MAX};
    if (all.count <= 12) {
      stow_schedule* better;
      stow_ordering ordering;
      CHECK(stowi_plan_find_order(&c.request, c.given, UINT64_MAX, &better, &ordering) == STOW_OK);
      all.bound = ordering.any_bound;
      try_all_orders(&all, 0);
      tight += all.bound == all.least ? 1 : 0;
      cases += all.tried < 100 ? 1 : 0;
      stow_schedule_destroy(better);
    }
    close_case(&c);
    stow_graph_destroy(graph);
  }
  CHECK(tight * 2 > cases);
}

// ---------------------------------------------------------------------------------------------
// Graphs whose gain is known

typedef struct known_case {
  uint64_t before;  // load in the given order
  uint64_t after;   // and in the found one; that of |before| if none was found
  uint64_t bound;
  stow_node critical;
  bool found;
} known_case;

static known_case solve_text(const char* text, stow_plan_options options) {
  known_case known = {0, 0, 0, STOW_NODE_NONE, false};
  stow_module* module = NULL;
  stow_graph* graph = plan_parse(text, &module);
  stow_effects* effects = NULL;
  order_case c;
  if (graph == NULL ||
      stow_effects_create(graph, stow_allocator_default(), NULL, &effects) != STOW_OK) {
    CHECK(false);
  } else if (CHECK(open_case(&c, graph, effects, &options, NULL))) {
    stow_schedule* better;
    stow_ordering ordering;
    c.options.order = options.order;
    CHECK(stowi_plan_find_order(&c.request, c.given, UINT64_MAX, &better, &ordering) == STOW_OK);
    known.before = shared_load(&c, c.given, NULL);
    known.found = better != NULL;
    known.after = better != NULL ? shared_load(&c, better, NULL) : known.before;
    known.bound = ordering.any_bound;
    known.critical = ordering.critical;
    stow_schedule_destroy(better);
    close_case(&c);
  }
  stow_effects_destroy(effects);
  stow_module_destroy(module);
  return known;
}

// Two towers of a NASNet cell, layer by layer: both blow up to 64 kB and shrink to 1 kB. One after
// the other, only one of them is large at a time.
static const char* const towers =
    "graph @cell {\n"
    "  %0 = input \"x\" : f32[256]\n"
    "  %1 = custom(%0) {name = \"acme.expand\"} : f32[16384]\n"
    "  %2 = custom(%0) {name = \"acme.expand\"} : f32[16384]\n"
    "  %3 = custom(%0) {name = \"acme.expand\"} : f32[16384]\n"
    "  %4 = custom(%1) {name = \"acme.shrink\"} : f32[256]\n"
    "  %5 = custom(%2) {name = \"acme.shrink\"} : f32[256]\n"
    "  %6 = custom(%3) {name = \"acme.shrink\"} : f32[256]\n"
    "  %7 = custom(%4, %5, %6) {name = \"acme.join\"} : f32[256]\n"
    "  return %7\n"
    "}\n";

TEST(TowersOfACellRunOneAfterTheOther) {
  known_case known = solve_text(towers, plain_options());
  CHECK(known.found);
  CHECK_U64(known.before, 1024 + 3 * 65536 + 1024);
  CHECK_U64(known.after, 1024 + 65536 + 3 * 1024);
  CHECK(known.bound <= known.after);
  CHECK(known.bound >= 1024 + 65536 + 1024);
}

// An encoder whose skips are all reduced at the end, though each could be as soon as it is made.
TEST(SkipsOfAnEncoderAreReducedAtOnce) {
  known_case known = solve_text(
      "graph @unet {\n"
      "  %0 = input \"x\" : f32[1024]\n"
      "  %1 = custom(%0) {name = \"acme.down\"} : f32[8192]\n"
      "  %2 = custom(%1) {name = \"acme.down\"} : f32[8192]\n"
      "  %3 = custom(%2) {name = \"acme.down\"} : f32[8192]\n"
      "  %4 = custom(%3) {name = \"acme.down\"} : f32[128]\n"
      "  %5 = custom(%3) {name = \"acme.pool\"} : f32[128]\n"
      "  %6 = custom(%2) {name = \"acme.pool\"} : f32[128]\n"
      "  %7 = custom(%1) {name = \"acme.pool\"} : f32[128]\n"
      "  %8 = custom(%4, %5) {name = \"acme.up\"} : f32[128]\n"
      "  %9 = custom(%8, %6) {name = \"acme.up\"} : f32[128]\n"
      "  %10 = custom(%9, %7) {name = \"acme.up\"} : f32[128]\n"
      "  return %10\n"
      "}\n",
      plain_options());
  CHECK(known.found);
  CHECK_U64(known.before, 4096 + 3 * 32768 + 2 * 512);
  CHECK_U64(known.after, 4096 + 2 * 32768 + 2 * 512);
  CHECK(known.bound >= 4096 + 2 * 32768);
}

TEST(GoodOrdersAreKept) {
  known_case known = solve_text(
      "graph @chain {\n"
      "  %0 = input \"x\" : f32[256]\n"
      "  %1 = relu(%0) : f32[256]\n"
      "  %2 = relu(%1) : f32[256]\n"
      "  %3 = relu(%2) : f32[256]\n"
      "  return %3\n"
      "}\n",
      plain_options());
  CHECK(!known.found);
  CHECK_U64(known.bound, 3 * 1024);
  CHECK(known.critical >= 2);
}

// In place the same chain needs the input, which is kept, and one more.
TEST(BoundCountsInPlaceResultsOnce) {
  stow_plan_options options = plain_options();
  options.in_place = true;
  known_case known = solve_text(
      "graph @chain {\n"
      "  %0 = input \"x\" : f32[256]\n"
      "  %1 = relu(%0) : f32[256]\n"
      "  %2 = relu(%1) : f32[256]\n"
      "  return %2\n"
      "}\n",
      options);
  CHECK_U64(known.before, 2 * 1024);
  CHECK_U64(known.bound, 2 * 1024);
}

// Both halves are built in place: nothing is needed besides the result.
TEST(BoundCountsElidedOperandsOnce) {
  stow_plan_options options = plain_options();
  options.elide_copies = true;
  options.windows = true;
  options.inputs = false;
  known_case known = solve_text(
      "graph @halves {\n"
      "  %0 = input \"x\" : f32[256]\n"
      "  %1 = custom(%0) {name = \"acme.left\"} : f32[256]\n"
      "  %2 = custom(%0) {name = \"acme.right\"} : f32[256]\n"
      "  %3 = concat(%1, %2) {axis = 0} : f32[512]\n"
      "  return %3\n"
      "}\n",
      options);
  CHECK_U64(known.before, 2048);
  CHECK_U64(known.bound, 2048);
}

// Of the first value only a quarter is read to the end.
TEST(BoundCountsOnlyPartsThatAreInUse) {
  static const char* const text =
      "graph @part {\n"
      "  %0 = input \"x\" : f32[1]\n"
      "  %1 = custom(%0) {name = \"acme.make\"} : f32[1024]\n"
      "  %2 = narrow(%1) {axis = 0, start = 512, len = 256} : f32[256]\n"
      "  %3 = custom(%0, %2) {name = \"acme.make\"} : f32[2048]\n"
      "  %4 = custom(%3, %2) {name = \"acme.join\"} : f32[1]\n"
      "  return %4\n"
      "}\n";
  stow_plan_options options = plain_options();
  CHECK_U64(solve_text(text, options).bound, 4 + 4096 + 8192 + 4);
  options.windows = true;
  known_case known = solve_text(text, options);
  CHECK_U64(known.before, 4 + 1024 + 8192 + 4);
  CHECK_U64(known.bound, known.before);
}

// Results and concats that are divided into parts, and a part that is itself returned.
TEST(BoundExcludesWhatFlowsCannotRepresent) {
  static const char* const texts[] = {
      "graph @in_place {\n"
      "  %0 = input \"x\" : f32[1]\n"
      "  %1 = custom(%0) {name = \"acme.make\"} : f32[1024]\n"
      "  %2 = relu(%1) : f32[1024]\n"
      "  %3 = narrow(%2) {axis = 0, start = 0, len = 512} : f32[512]\n"
      "  %4 = narrow(%2) {axis = 0, start = 512, len = 512} : f32[512]\n"
      "  %5 = custom(%3) {name = \"acme.shrink\"} : f32[1]\n"
      "  %6 = custom(%4, %5) {name = \"acme.shrink\"} : f32[1]\n"
      "  return %6\n"
      "}\n",
      "graph @at_home {\n"
      "  %0 = input \"x\" : f32[1]\n"
      "  %1 = custom(%0) {name = \"acme.left\"} : f32[256]\n"
      "  %2 = custom(%0) {name = \"acme.right\"} : f32[256]\n"
      "  %3 = concat(%1, %2) {axis = 0} : f32[512]\n"
      "  %4 = narrow(%3) {axis = 0, start = 0, len = 128} : f32[128]\n"
      "  %5 = narrow(%3) {axis = 0, start = 128, len = 384} : f32[384]\n"
      "  %6 = custom(%4) {name = \"acme.shrink\"} : f32[1]\n"
      "  %7 = custom(%5, %6) {name = \"acme.shrink\"} : f32[1]\n"
      "  return %7, %1\n"
      "}\n"};
  stow_plan_options options = plain_options();
  options.in_place = options.elide_copies = options.windows = true;
  options.inputs = false;
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
    known_case known = solve_text(texts[i], options);
    CHECK(known.bound > 0);
    CHECK(known.bound <= known.before);
    CHECK(known.before <= 4096 + 4);
  }
}

// ---------------------------------------------------------------------------------------------
// What orders keep

TEST(RegionsStayWholeAndAreImprovedInside) {
  known_case known = solve_text(
      "graph @loop {\n"
      "  %0 = input \"x\" : f32[256]\n"
      "  %1 = custom(%0) {name = \"acme.make\"} : f32[256]\n"
      "  %10 = loop(_, _, %1) {\n"
      "    %2, %3, %4 = args() : i64[], bool[], f32[256]\n"
      "    %5 = custom(%4) {name = \"acme.expand\"} : f32[16384]\n"
      "    %6 = custom(%4) {name = \"acme.expand\"} : f32[16384]\n"
      "    %7 = custom(%5) {name = \"acme.shrink\"} : f32[256]\n"
      "    %8 = custom(%6) {name = \"acme.shrink\"} : f32[256]\n"
      "    %9 = add(%7, %8) : f32[256]\n"
      "    yield %3, %9\n"
      "  } : f32[256]\n"
      "  return %10\n"
      "}\n",
      plain_options());
  CHECK(known.found);
  CHECK(known.before > 2 * 65536);
  CHECK(known.after < 65536 + 8192);
  CHECK(known.bound <= known.after);
}

// %2 would better run last, when %3 is gone, but must not see what is appended.
TEST(ReadersOfACacheStayBeforeTheWrite) {
  static const char* const text =
      "graph @cache {\n"
      "  %0 = input \"x\" : f32[1, 4]\n"
      "  %1 = input \"cache\" : f32[64, 4]\n"
      "  %2 = custom(%1) {name = \"acme.expand\"} : f32[16384]\n"
      "  %3 = custom(%0) {name = \"acme.expand\"} : f32[16384]\n"
      "  %4 = custom(%3) {name = \"acme.entry\"} : f32[1, 4]\n"
      "  %5 = kv_append(%1, %4) {axis = 0} : f32[64, 4]\n"
      "  %6 = custom(%3, %5) {name = \"acme.shrink\"} : f32[4]\n"
      "  %7 = custom(%2, %6) {name = \"acme.join\"} : f32[4]\n"
      "  return %7, %5\n"
      "}\n";
  known_case known = solve_text(text, plain_options());
  CHECK(!known.found);
  CHECK(known.before > 2 * 65536);
  char* free_reader = plan_replace(text, "custom(%1)", "custom(%0)");
  known = solve_text(free_reader, plain_options());
  CHECK(known.found);
  CHECK(known.after < 2 * 65536);
  free(free_reader);
}

TEST(HeldOperandsStayHeld) {
  static const char* const text =
      "graph @held {\n"
      "  %0 = input \"x\" : f32[256]\n"
      "  %1 = custom(%0) {name = \"acme.expand\"} : f32[16384]\n"
      "  %2 = custom(%0) {name = \"acme.expand\"} : f32[16384]\n"
      "  %3 = custom(%1) {name = \"acme.shrink\"} : f32[256] with {hold = [0, 5]}\n"
      "  %4 = custom(%2) {name = \"acme.shrink\"} : f32[256]\n"
      "  %5 = custom(%3, %4) {name = \"acme.join\"} : f32[256]\n"
      "  return %5\n"
      "}\n";
  known_case known = solve_text(text, plain_options());
  CHECK(known.found);
  CHECK(known.after < 2 * 65536);
  char* both = plan_replace(text, "(%2) {name = \"acme.shrink\"} : f32[256]",
                            "(%2) {name = \"acme.shrink\"} : f32[256] with {hold = [0, 5]}");
  known = solve_text(both, plain_options());
  CHECK(!known.found);
  CHECK(known.bound >= 2 * 65536);
  free(both);
}

TEST(AGivenOrderIsNotSearched) {
  stow_plan_options options = plain_options();
  options.order = STOW_ORDER_GIVEN;
  known_case known = solve_text(towers, options);
  CHECK(!known.found);
  CHECK(known.bound >= 1024 + 65536 + 1024);
  options = plain_options();
  stow_plan_options_add_rule(&options, stow_rule_at(0));
  CHECK(!solve_text(towers, options).found);
  options = plain_options();
  options.reuse = false;
  CHECK(!solve_text(towers, options).found);
}

// ---------------------------------------------------------------------------------------------
// Faults and size

static stow_status attempt(stow_allocator allocator, void* user) {
  order_case* c = (order_case*)user;
  stowi_plan_order_request request = c->request;
  stow_schedule* better = (stow_schedule*)user;
  stow_ordering ordering;
  request.allocator = allocator;
  stow_status status = stowi_plan_find_order(&request, c->given, UINT64_MAX, &better, &ordering);
  if (status != STOW_OK) {
    CHECK(better == NULL);
    CHECK_U64(ordering.any_bound, 0);
  }
  stow_schedule_destroy(better);
  return status;
}

TEST(EveryFailedAllocationIsReported) {
  test_random random = {6};
  for (size_t i = 0; i < 6; ++i) {
    random_graph_options kind = random_graph_everything(20);
    kind.regions = i % 2 == 0;
    stow_graph* graph = random_graph(&random, &kind, stow_allocator_default());
    stow_plan_options options = plain_options();
    options.in_place = options.elide_copies = options.windows = i % 3 != 0;
    order_case c;
    REQUIRE(open_case(&c, graph, NULL, &options, NULL));
    CHECK(test_fault_sweep(attempt, &c) > 10);
    close_case(&c);
    stow_graph_destroy(graph);
  }
}

// Layers of eight branches each, one layer after the other.
TEST(LargeGraphsAreOrderedInTime) {
  stow_graph* graph;
  stow_allocator allocator = stow_allocator_default();
  stow_dim dims[] = {64};
  stow_type type = stow_type_make(STOW_F32, 1, dims);
  stow_value join;
  REQUIRE(stow_graph_create(stow_str_of("layers"), NULL, allocator, NULL, &graph) == STOW_OK);
  CHECK(stow_graph_input(graph, "x", &type, NULL, &join) == STOW_OK);
  for (size_t layer = 0; layer < 2500; ++layer) {
    stow_value sums[8];
    for (size_t i = 0; i < 8; ++i) {
      stow_graph_add(graph, STOW_OP_RELU, &join, 1, NULL, &sums[i]);
    }
    for (size_t i = 1; i < 8; ++i) {
      stow_value pair[] = {sums[0], sums[i]};
      stow_graph_add(graph, STOW_OP_ADD, pair, 2, NULL, &sums[0]);
    }
    join = sums[0];
  }
  CHECK(stow_graph_add_output(graph, join, NULL) == STOW_OK);
  stow_plan_options options = plain_options();
  options.in_place = options.windows = true;
  options.order_nodes = 200000;
  order_case c;
  REQUIRE(open_case(&c, graph, NULL, &options, NULL));
  stow_schedule* better;
  stow_ordering ordering;
  CHECK(stowi_plan_find_order(&c.request, c.given, UINT64_MAX, &better, &ordering) == STOW_OK);
  CHECK(ordering.any_bound >= 3 * 256);
  stow_schedule_destroy(better);
  close_case(&c);
  stow_graph_destroy(graph);
}

// More views of one root than are distinguished, each the last reader of its bytes: a result may be
// in place of a part whose end no bound can use.
TEST(RootsOfManyViewsHaveABound) {
  stow_graph* graph;
  stow_allocator allocator = stow_allocator_default();
  stow_type type = stow_type_make(STOW_F32, 2, (stow_dim[]){80, 16});
  stow_value x;
  stow_value sum = STOW_VALUE_NONE;
  REQUIRE(stow_graph_create(stow_str_of("rows"), NULL, allocator, NULL, &graph) == STOW_OK);
  CHECK(stow_graph_input(graph, "x", &type, NULL, &x) == STOW_OK);
  CHECK(stow_graph_add(graph, STOW_OP_EXP, &x, 1, NULL, &x) == STOW_OK);
  for (int64_t row = 0; row < 80; ++row) {
    stow_node node;
    stow_call* call = stow_graph_begin(graph, STOW_OP_NARROW);
    stow_call_operand(call, x);
    stow_call_attr_int(call, "axis", 0);
    stow_call_attr_int(call, "start", row);
    stow_call_attr_int(call, "len", 1);
    REQUIRE(stow_call_finish(call, NULL, &node) == STOW_OK);
    stow_value part = stow_graph_first_result(graph, node);
    CHECK(stow_graph_add(graph, STOW_OP_SOFTMAX, &part, 1, NULL, &part) == STOW_OK);
    stow_value pair[] = {sum, part};
    sum = part;
    CHECK(row == 0 || stow_graph_add(graph, STOW_OP_ADD, pair, 2, NULL, &sum) == STOW_OK);
  }
  CHECK(stow_graph_add_output(graph, sum, NULL) == STOW_OK);
  stow_plan_options options = plain_options();
  options.in_place = options.windows = true;
  order_case c;
  REQUIRE(open_case(&c, graph, NULL, &options, NULL));
  stow_schedule* better;
  stow_ordering ordering;
  CHECK(stowi_plan_find_order(&c.request, c.given, 0, &better, &ordering) == STOW_OK);
  CHECK(ordering.any_bound >= 2 * 80 * 64);
  stow_schedule_destroy(better);
  close_case(&c);
  stow_graph_destroy(graph);
}
