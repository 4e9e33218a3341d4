// Random graphs with nodes of every op, run in every way in which plans can differ: each node gives
// the same bits as in a run in which no two values share bytes, and so does each output. Where a
// kernel refuses its operands, it does so in all ways.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/text.h>
#include <string.h>

#include "exec/run_graph.h"
#include "support/random_graph.h"
#include "support/random_ops.h"
#include "support/test.h"

#define GRAPHS 500
#define GRAPHS_LONG 20000
#define MAX_NODES 32
#define SEARCH_NODES 300
#define ORDER_NODES 2000

enum {
  ALONE,  // the reference: nothing is shared, nothing is used again
  SHARED,
  IN_PLACE,
  ELISION,
  REORDERED,
  RANDOM_ORDER,
  RLX,
  EFFECTS,
  THREADS,
  PARANOID,
  WEIGHTS,  // outside the arena, in memory that is only read
  VARIANTS,
  ROWS,
  WAYS
};

typedef struct tally {
  uint64_t graphs;
  uint64_t runs;
  uint64_t nodes;    // that ran, with a kernel
  uint64_t ended;    // graphs whose runs ended in an error of the executor's
  uint64_t refused;  // other graphs in which a kernel refused its operands
  uint64_t unknown;  // other graphs in which one did not know the type of an operand
  uint64_t unmade;   // runs whose plan was refused
  uint64_t packed;   // weights
  uint64_t well[STOW_OP_CORE_COUNT];  // by op: nodes that gave what they should, in the reference
  uint64_t bad[STOW_OP_CORE_COUNT];   // by op: nodes that did not
  uint64_t rows[STOW_OP_CORE_COUNT];  // by op: nodes that were run row by row
  char message[STOW_OP_CORE_COUNT][STOW_DIAG_MESSAGE_SIZE];  // of one of them
} tally;

// ---------------------------------------------------------------------------------------------
// Look-ups by name, which the linker sends here. The library's kernels need none.

static uint64_t lookups;  // of runs in one thread

const stow_attr* __real_stow_kernel_attr(const stow_kernel_call* call, const char* name);
const stow_attr* __wrap_stow_kernel_attr(const stow_kernel_call* call, const char* name);
const stow_attr* __wrap_stow_kernel_attr(const stow_kernel_call* call, const char* name) {
  lookups += call->workers == 1;
  return __real_stow_kernel_attr(call, name);
}

// ---------------------------------------------------------------------------------------------
// Ways

static stow_plan_options options_of(stow_preset preset, bool in_place, bool elide, bool windows) {
  stow_plan_options options;
  stow_plan_options_init(&options, preset);
  options.nodes = SEARCH_NODES;
  options.order_nodes = ORDER_NODES;
  options.order = STOW_ORDER_GIVEN;
  options.in_place = in_place;
  options.elide_copies = elide;
  options.windows = windows;
  return options;
}

static run_way way_of(int number, const stow_schedule* schedule) {
  static const char* const names[WAYS] = {
      "alone",   "shared",  "in place", "elision", "reordered", "drawn order", "rlx",
      "effects", "threads", "paranoid", "weights", "variants",  "rows"};
  bool all = number >= REORDERED || number == SHARED;
  run_way way = {.name = names[number], .threads = number == THREADS ? 2 : 1};
  way.plan =
      options_of(STOW_PRESET_DEFAULT, all || number == IN_PLACE, all || number == ELISION, all);
  way.poison = number % 2 == 1;
  if (number == ALONE || number == ROWS) {
    way.plan.reuse = false;
  } else if (number == REORDERED) {
    way.plan.order = STOW_ORDER_AUTO;
  } else if (number == RANDOM_ORDER) {
    way.plan.schedule = schedule;
  } else if (number == RLX) {
    stow_plan_options_init(&way.plan, STOW_PRESET_RLX);
  } else if (number == PARANOID) {
    way.paranoid = true;
    way.plan.tail_guard = 64;
  } else if (number == WEIGHTS) {
    way.plan.params = way.plan.constants = false;
  }
  way.has_effects = number == EFFECTS;
  way.checks_rows = number == ROWS;
  way.has_variants =
      number == VARIANTS || number == THREADS || number == PARANOID || number == ROWS;
  way.is_repeated = number == EFFECTS || number == SHARED || number == WEIGHTS;
  return way;
}

// Whether a run may be missing: contradicting effects, and what RLX's widths do to views.
static bool may_be_unmade(int number, stow_status status) {
  return (number == EFFECTS && status == STOW_ERR_CONFLICT) ||
         (number == RLX && status == STOW_ERR_UNSUPPORTED);
}

// ---------------------------------------------------------------------------------------------
// One graph

static stow_graph* make_graph(uint64_t seed, random_ops* ops, test_frozen* frozen,
                              stow_schedule** out_schedule) {
  test_random random = {seed};
  random_graph_options options =
      random_graph_everything(2 + test_random_below(&random, MAX_NODES - 1));
  options.regions = test_random_below(&random, 3) == 0;
  options.most = test_random_below(&random, 8) == 0 ? 0 : 8;
  options.more = random_ops_add;
  options.user = ops;
  stow_graph* graph = random_graph(&random, &options, test_frozen_allocator(frozen));
  *out_schedule = random_schedule(&random, graph, stow_allocator_default());
  return graph;
}

static void count_ops(tally* t, const stow_graph* graph, const run_trace* trace) {
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    t->well[stow_graph_op(graph, node)] += trace->counts[node] - trace->refusals[node];
    t->bad[stow_graph_op(graph, node)] += trace->refusals[node];
  }
  t->ended += trace->status != STOW_OK ? 1 : 0;
  t->refused += trace->status == STOW_OK && trace->unsuited != 0 ? 1 : 0;
  t->unknown += trace->status == STOW_OK && trace->unsuited == 0 && trace->failed != STOW_NODE_NONE;
  if (trace->failed < stow_graph_node_count(graph)) {
    memcpy(t->message[stow_graph_op(graph, trace->failed)], trace->message, sizeof(trace->message));
  }
}

static void run_another(tally* t, run_graph* g, const run_trace* alone, int number,
                        const stow_schedule* schedule) {
  char difference[1000];
  run_way way = way_of(number, schedule);
  run_trace trace = run_graph_run(g, &way);
  if (!trace.is_run) {
    t->unmade += 1;
    test_check(may_be_unmade(number, trace.status), __FILE__, __LINE__, "seed %" PRIu64 ", %s: %s",
               g->seed, way.name, trace.message);
  } else {
    bool same_order = number != REORDERED && number != RANDOM_ORDER && number != RLX;
    t->runs += 1;
    t->nodes += trace.runs;
    t->packed += trace.packed;
    run_trace_difference(g, alone, &trace, same_order, difference, sizeof(difference));
    test_check(difference[0] == '\0', __FILE__, __LINE__, "seed %" PRIu64 ", %s: %s", g->seed,
               way.name, difference);
  }
  run_trace_free(&trace);
}

static void run_all(tally* t, uint64_t seed, random_ops* ops) {
  stow_schedule* schedule;
  test_frozen frozen = {NULL, 0};
  stow_graph* graph = make_graph(seed, ops, &frozen, &schedule);
  run_graph g;
  run_graph_init(&g, graph, &frozen, seed);
  run_way way = way_of(ALONE, NULL);
  run_trace alone = run_graph_run(&g, &way);
  t->graphs += 1;
  t->runs += 1;
  t->nodes += alone.runs;
  if (test_check(alone.is_run, __FILE__, __LINE__, "seed %" PRIu64 ": %s", seed, alone.message)) {
    count_ops(t, graph, &alone);
    for (int number = ALONE + 1; number < WAYS; ++number) {
      if (number != RANDOM_ORDER || schedule != NULL) {
        run_another(t, &g, &alone, number, schedule);
      }
    }
  }
  run_trace_free(&alone);
  for (stow_op op = 0; op < STOW_OP_CORE_COUNT; ++op) {
    t->rows[op] += g.by_rows[op];
  }
  run_graph_free(&g);
  stow_schedule_destroy(schedule);
  stow_graph_destroy(graph);
  test_frozen_free(&frozen);
}

// ---------------------------------------------------------------------------------------------

static void report(const tally* t) {
  printf("%" PRIu64 " graphs, %" PRIu64 " runs, %" PRIu64 " nodes; %" PRIu64
         " graphs end in an error, in %" PRIu64 " a kernel refuses operands, in %" PRIu64
         " it does not know a type, %" PRIu64 " runs without a plan, %" PRIu64 " weights packed\n",
         t->graphs, t->runs, t->nodes, t->ended, t->refused, t->unknown, t->unmade, t->packed);
  for (stow_op op = 0; test_is_long() && op < STOW_OP_CORE_COUNT; ++op) {
    printf("  %-28s %8" PRIu64 " %6" PRIu64 " %6" PRIu64 " %s\n", stow_ops_get(NULL, op)->name,
           t->well[op], t->bad[op], t->rows[op], t->message[op]);
  }
}

TEST(EveryWayToPlanGivesTheSameBits) {
  tally* t = (tally*)calloc(1, sizeof(*t));
  random_ops* ops = random_ops_create();
  for (uint64_t seed = 1; seed <= (test_is_long() ? GRAPHS_LONG : GRAPHS); ++seed) {
    run_all(t, seed, ops);
  }
  report(t);
  CHECK(lookups == 0);
  CHECK(t->ended * 10 < t->graphs);
  CHECK((t->ended + t->refused) * 5 < t->graphs);
  for (stow_op op = 0; test_is_long() && op < STOW_OP_CORE_COUNT; ++op) {
    test_check(t->well[op] >= 10 || stow_kernels_get(NULL, op) == NULL, __FILE__, __LINE__,
               "%s gave results %" PRIu64 " times only", stow_ops_get(NULL, op)->name, t->well[op]);
  }
  static const stow_op by_rows[] = {STOW_OP_ADD,      STOW_OP_SOFTMAX,   STOW_OP_CONCAT,
                                    STOW_OP_SPLIT,    STOW_OP_SLICE,     STOW_OP_TRANSPOSE,
                                    STOW_OP_RESHAPE,  STOW_OP_CLIP,      STOW_OP_QUANTIZE_LINEAR,
                                    STOW_OP_RMS_NORM, STOW_OP_LAYER_NORM};
  for (size_t i = 0; i < sizeof(by_rows) / sizeof(by_rows[0]); ++i) {
    test_check(t->rows[by_rows[i]] > 0 || !test_is_long(), __FILE__, __LINE__,
               "%s was never run row by row", stow_ops_get(NULL, by_rows[i])->name);
  }
  random_ops_destroy(ops);
  free(t);
}

// ---------------------------------------------------------------------------------------------
// What random graphs have found

// Runs a graph of |count| nodes in its own order and in |order|; every node gives the same.
static void check_orders(const char* text, const stow_node* order, size_t count) {
  stow_module* module = NULL;
  stow_schedule* schedule = NULL;
  char difference[1000];
  test_frozen frozen = {NULL, 0};
  if (!CHECK(stow_module_parse(text, strlen(text), NULL, NULL, test_frozen_allocator(&frozen), NULL,
                               &module) == STOW_OK)) {
    return;
  }
  const stow_graph* graph = stow_module_graph(module, 0);
  CHECK(stow_schedule_create_order(graph, order, count, stow_allocator_default(), NULL,
                                   &schedule) == STOW_OK);
  run_graph g;
  run_graph_init(&g, graph, &frozen, 1);
  run_way first = way_of(ALONE, NULL);
  run_way second = way_of(ALONE, NULL);
  second.plan.schedule = schedule;
  run_trace a = run_graph_run(&g, &first);
  run_trace b = run_graph_run(&g, &second);
  CHECK(a.status == STOW_OK && b.status == STOW_OK);
  run_trace_difference(&g, &a, &b, false, difference, sizeof(difference));
  CHECK_TEXT(difference, "");
  run_trace_free(&a);
  run_trace_free(&b);
  run_graph_free(&g);
  stow_schedule_destroy(schedule);
  stow_module_destroy(module);
  test_frozen_free(&frozen);
}

TEST(RandomNumbersDoNotDependOnLoopsElsewhere) {
  static const stow_node loop_first[] = {0, 1, 3, 4, 5, 6, 2, 7};
  check_orders(
      "graph @g {\n %0 = constant \"trip\" {data = [2]} : i64[]\n"
      "%1 = input \"x\" : f32[4]\n %2 = random_uniform(%1) : f32[4]\n"
      "%7 = loop(%0, _, %1) {\n %3, %4, %5 = args() : i64[], bool[], f32[4]\n"
      "%6 = random_normal(%5) : f32[4]\n yield %4, %6\n } : f32[4]\n"
      "%8 = add(%2, %7) : f32[4]\n return %8\n}\n",
      loop_first, 8);
}

// The first element of a byte is viewed; the second is another's.
TEST(AViewOfHalfAByteLeavesTheOtherHalfAlone) {
  static const stow_node view_first[] = {0, 2, 1, 3, 4};
  check_orders(
      "graph @g {\n %0 = constant \"x\" {data = [1, 2, 3, 4, 5, 6]} : u4[6]\n"
      "%1 = cast(%0) : f32[6]\n %2 = narrow(%0) {axis = 0, start = 2, len = 1} : u4[1]\n"
      "%3 = cast(%2) : f32[1]\n %4 = add(%1, %3) : f32[6]\n return %4\n}\n",
      view_first, 5);
  static const stow_node split_first[] = {0, 2, 1, 3};
  check_orders(
      "graph @g {\n %0 = constant \"x\" {data = [1, 2, 3, 4, 5, 6]} : u4[6]\n"
      "%1 = cast(%0) : f32[6]\n"
      "%2, %3, %4 = split(%0) {axis = 0, sizes = [2, 1, 3]} : u4[2], u4[1], u4[3]\n"
      "%5 = cast(%3) : f32[1]\n return %1, %5\n}\n",
      split_first, 4);
}
