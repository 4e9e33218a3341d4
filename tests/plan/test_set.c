// Several graphs, one arena: what is shared is at one offset, what is kept survives, the rest
// shares bytes.
#include <stowage/set.h>
#include <string.h>

#include "base/diag.h"
#include "plan/api.h"
#include "plan/describe.h"
#include "plan/plan_internal.h"
#include "plan/plan_support.h"
#include "plan/set_support.h"
#include "support/fault.h"
#include "support/test.h"

static stow_plan_options defaults(void) {
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  return options;
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static uint64_t largest_plan(const set_case* c) {
  uint64_t size = 0;
  for (size_t i = 0; i < c->count; ++i) {
    size = larger(size, stow_plan_arena_size(set_plan(c, i)));
  }
  return size;
}

static size_t reserved(const set_case* c, size_t index) {
  return stow_plan_reserved_count(set_plan(c, index));
}

// ---------------------------------------------------------------------------------------------
// What is shared

static const char decoder[] =
    "graph @prefill {\n"
    "  %0 = input \"tokens\" : f32[8, 64]\n"
    "  %1 = input \"at\" : i64[]\n"
    "  %2 = input \"k_cache\" : f32[32, 64] with {state = true}\n"
    "  %3 = input \"v_cache\" : f32[32, 64] with {state = true}\n"
    "  %4 = param \"wk\" : f32[64, 64]\n"
    "  %5 = param \"wv\" : f32[64, 64]\n"
    "  %6 = matmul(%0, %4) : f32[8, 64]\n"
    "  %7 = matmul(%0, %5) : f32[8, 64]\n"
    "  %8 = kv_append(%2, %6, %1) {axis = 0} : f32[32, 64]\n"
    "  %9 = kv_append(%3, %7, %1) {axis = 0} : f32[32, 64]\n"
    "  %10 = add(%6, %7) : f32[8, 64]\n"
    "  %11 = exp(%10) : f32[8, 64]\n"
    "  return %11\n"
    "}\n"
    "graph @decode {\n"
    "  %0 = input \"token\" : f32[1, 64]\n"
    "  %1 = input \"at\" : i64[]\n"
    "  %2 = param \"wv\" : f32[64, 64]\n"
    "  %3 = param \"wk\" : f32[64, 64]\n"
    "  %4 = param \"wo\" : f32[64, 64]\n"
    "  %5 = input \"v_cache\" : f32[32, 64] with {state = true}\n"
    "  %6 = input \"k_cache\" : f32[32, 64] with {state = true}\n"
    "  %7 = matmul(%0, %3) : f32[1, 64]\n"
    "  %8 = matmul(%0, %2) : f32[1, 64]\n"
    "  %9 = kv_append(%6, %7, %1) {axis = 0} : f32[32, 64]\n"
    "  %10 = kv_append(%5, %8, %1) {axis = 0} : f32[32, 64]\n"
    "  %11 = mul(%9, %10) : f32[32, 64]\n"
    "  %12 = matmul(%11, %4) : f32[32, 64]\n"
    "  return %12\n"
    "}\n";

TEST(PrefillAndDecodeShareWeightsAndCaches) {
  static const char* const shared[] = {"wk", "wv", "k_cache", "v_cache"};
  stow_plan_options options = defaults();
  set_case c = set_make(decoder, &options);
  for (size_t i = 0; i < 4; ++i) {
    CHECK_U64(set_offset(&c, 0, shared[i]), set_offset(&c, 1, shared[i]));
  }
  CHECK_U64(stowi_plan_set_count(c.set), 2);
  CHECK_U64(stowi_plan_set_shared_count(c.set), 4);
  CHECK_U64(stowi_plan_set_shared_bytes(c.set), 2 * 16384 + 2 * 8192);
  CHECK_U64(reserved(&c, 0), 1);  // wo
  CHECK_U64(stow_plan_reserved_slot(set_plan(&c, 0), 0).offset, set_offset(&c, 1, "wo"));
  CHECK_U64(reserved(&c, 1), 0);
  // Decode alone needs as much as both.
  CHECK_U64(stow_set_arena_size(c.set), stow_set_alone(c.set, 1));
  CHECK_U64(stow_set_arena_size(c.set), stowi_plan_set_lower_bound(c.set));
  CHECK_U64(stow_set_arena_size(c.set), largest_plan(&c));
  CHECK_U64(stowi_plan_set_alignment(c.set), 64);
  set_free(&c);
}

TEST(ForwardAndBackwardShareWeightsAndSavedActivations) {
  static const char text[] =
      "graph @forward {\n"
      "  %0 = input \"x\" : f32[16, 64]\n"
      "  %1 = param \"w\" : f32[64, 64]\n"
      "  %2 = matmul(%0, %1) : f32[16, 64]\n"
      "  %3 \"hidden\" = relu(%2) : f32[16, 64] with {state = true}\n"
      "  %4 = exp(%3) : f32[16, 64]\n"
      "  return %4\n"
      "}\n"
      "graph @backward {\n"
      "  %0 = input \"hidden\" : f32[16, 64] with {state = true}\n"
      "  %1 = input \"dy\" : f32[16, 64]\n"
      "  %2 = param \"w\" : f32[64, 64]\n"
      "  %3 = mul(%0, %1) : f32[16, 64]\n"
      "  %4 = matmul(%3, %2) : f32[16, 64]\n"
      "  return %4\n"
      "}\n";
  stow_plan_options options = defaults();
  set_case c = set_make(text, &options);
  CHECK_U64(set_offset(&c, 0, "hidden"), set_offset(&c, 1, "hidden"));
  CHECK_U64(set_offset(&c, 0, "w"), set_offset(&c, 1, "w"));
  CHECK_U64(stowi_plan_set_shared_count(c.set), 2);
  CHECK_U64(stow_set_arena_size(c.set), stowi_plan_set_lower_bound(c.set));
  CHECK(stow_set_arena_size(c.set) < stow_set_alone(c.set, 0) + stow_set_alone(c.set, 1));
  set_free(&c);
}

// A param here, state there: an optimiser changes what the model reads.
TEST(AParamAndStateOfOneNameAreTheSame) {
  static const char text[] =
      "graph @model {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 = param \"w\" : f32[64]\n"
      "  %2 = mul(%0, %1) : f32[64]\n"
      "  return %2\n"
      "}\n"
      "graph @update {\n"
      "  %0 = input \"w\" : f32[64] with {state = true}\n"
      "  %1 = input \"dw\" : f32[64]\n"
      "  %2 = sub(%0, %1) : f32[64]\n"
      "  return %2\n"
      "}\n";
  stow_plan_options options = defaults();
  set_case c = set_make(text, &options);
  CHECK_U64(set_offset(&c, 0, "w"), set_offset(&c, 1, "w"));
  CHECK_U64(stowi_plan_set_shared_count(c.set), 1);
  set_free(&c);
}

#define WEIGHT_GRAPH(graph, weight) \
  "graph @" graph                   \
  " {\n"                            \
  "  %0 = input \"x\" : f32[4]\n"   \
  "  " weight                       \
  "\n"                              \
  "  %2 = mul(%0, %1) : f32[4]\n"   \
  "  return %2\n"                   \
  "}\n"
#define ONES "%1 = constant \"w\" {data = [1.0, 1.0, 1.0, 1.0]} : f32[4]"
#define TWOS "%1 = constant \"w\" {data = [2.0, 2.0, 2.0, 2.0]} : f32[4]"
#define OPEN "%1 = param \"w\" : f32[4]"

TEST(WeightsOfOneNameAndDifferentDataAreDistinct) {
  stow_plan_options options = defaults();
  set_case c =
      set_make(WEIGHT_GRAPH("a", ONES) WEIGHT_GRAPH("b", TWOS) WEIGHT_GRAPH("c", ONES), &options);
  CHECK(set_offset(&c, 0, "w") != set_offset(&c, 1, "w"));
  CHECK_U64(set_offset(&c, 0, "w"), set_offset(&c, 2, "w"));
  CHECK_U64(stowi_plan_set_shared_count(c.set), 1);
  CHECK_U64(stowi_plan_set_shared_bytes(c.set), 16);
  for (size_t i = 0; i < 3; ++i) {
    CHECK_U64(reserved(&c, i), 1);
  }
  set_free(&c);
}

TEST(AWeightWithoutDataMatchesTheOnlyOneOfItsName) {
  stow_plan_options options = defaults();
  set_case c =
      set_make(WEIGHT_GRAPH("a", OPEN) WEIGHT_GRAPH("b", TWOS) WEIGHT_GRAPH("c", OPEN), &options);
  CHECK_U64(set_offset(&c, 0, "w"), set_offset(&c, 1, "w"));
  CHECK_U64(set_offset(&c, 0, "w"), set_offset(&c, 2, "w"));
  set_free(&c);
}

TEST(AWeightWithoutDataIsNotGuessed) {
  static const char* const texts[] = {
      WEIGHT_GRAPH("a", OPEN) WEIGHT_GRAPH("b", TWOS) WEIGHT_GRAPH("c", ONES),
      WEIGHT_GRAPH("b", TWOS) WEIGHT_GRAPH("a", OPEN) WEIGHT_GRAPH("c", ONES),
      WEIGHT_GRAPH("b", TWOS) WEIGHT_GRAPH("c", ONES) WEIGHT_GRAPH("a", OPEN),
  };
  stow_plan_options options = defaults();
  for (size_t i = 0; i < 3; ++i) {
    set_case c = set_try(texts[i], &options);
    CHECK(c.status == STOW_ERR_CONFLICT);
    CHECK_HAS(c.diag.message,
              "%1 \"w\" of @a, whose data is unknown, could be %1 \"w\" of @b or %1 \"w\" of @c, "
              "which hold different data");
    CHECK_HAS(c.diag.message, "%1 \"w\" of @b");
    CHECK_HAS(c.diag.message, "%1 \"w\" of @c");
    set_free(&c);
  }
}

TEST(WeightsOfOneNameAndDifferentSizesAreDistinct) {
  static const char text[] =
      "graph @a {\n"
      "  %0 = param \"w\" : f32[64]\n"
      "  %1 = exp(%0) : f32[64]\n"
      "  return %1\n"
      "}\n"
      "graph @b {\n"
      "  %0 = param \"w\" : f32[32]\n"
      "  %1 = exp(%0) : f32[32]\n"
      "  return %1\n"
      "}\n";
  stow_plan_options options = defaults();
  set_case c = set_make(text, &options);
  CHECK_U64(stowi_plan_set_shared_count(c.set), 0);
  CHECK_U64(reserved(&c, 0), 1);
  CHECK_U64(reserved(&c, 1), 1);
  CHECK_U64(stow_set_arena_size(c.set), 256 + 128 + 256);
  set_free(&c);
}

// No other graph keeps it, so it does not concern them.
TEST(ExternalParamsHaveNoPlace) {
  static const char text[] =
      "graph @a {\n"
      "  %0 = param \"w\" : f32[64] with {io = \"external\"}\n"
      "  %1 = exp(%0) : f32[64]\n"
      "  return %1\n"
      "}\n"
      "graph @b {\n"
      "  %0 = param \"w\" : f32[64]\n"
      "  %1 = exp(%0) : f32[64]\n"
      "  return %1\n"
      "}\n";
  stow_plan_options options = defaults();
  set_case c = set_make(text, &options);
  CHECK_U64(set_offset(&c, 0, "w"), UINT64_MAX);
  CHECK_U64(stowi_plan_set_shared_count(c.set), 0);
  CHECK_U64(reserved(&c, 0), 1);
  set_free(&c);
}

// ---------------------------------------------------------------------------------------------
// What shares bytes

#define PLAIN_GRAPH(graph, size)   \
  "graph @" graph                  \
  " {\n"                           \
  "  %0 = input \"x\" : f32[" size \
  "]\n"                            \
  "  %1 = neg(%0) : f32[" size     \
  "]\n"                            \
  "  %2 = add(%0, %1) : f32[" size \
  "]\n"                            \
  "  return %2\n"                  \
  "}\n"

TEST(GraphsThatKeepNothingNeedTheLargestArena) {
  stow_plan_options options = defaults();
  set_case c =
      set_make(PLAIN_GRAPH("a", "100") PLAIN_GRAPH("b", "300") PLAIN_GRAPH("c", "200"), &options);
  CHECK_U64(stow_set_arena_size(c.set), stow_set_alone(c.set, 1));
  for (size_t i = 0; i < 3; ++i) {
    CHECK_U64(reserved(&c, i), 0);
    CHECK_U64(stow_plan_arena_size(set_plan(&c, i)), stow_set_alone(c.set, i));
  }
  set_free(&c);
}

TEST(ASetOfOneGivesTheSamePlan) {
  stow_plan_options options = defaults();
  set_case c = set_make(WEIGHT_GRAPH("a", OPEN), &options);
  CHECK_U64(stow_set_arena_size(c.set), stow_set_alone(c.set, 0));
  CHECK_U64(stow_set_arena_size(c.set), stow_plan_arena_size(set_plan(&c, 0)));
  CHECK_U64(stowi_plan_set_shared_count(c.set), 0);
  CHECK_U64(reserved(&c, 0), 0);
  set_free(&c);
}

TEST(WithoutReuseNoTwoValuesOfOneGraphShareBytes) {
  stow_plan_options options = defaults();
  options.reuse = false;
  set_case c = set_make(PLAIN_GRAPH("a", "16") PLAIN_GRAPH("b", "32"), &options);
  CHECK_U64(stow_set_arena_size(c.set), 3 * 128);
  for (stow_value v = 0; v < 3; ++v) {
    CHECK(plan_offset(set_plan(&c, 0), v) != plan_offset(set_plan(&c, 0), (v + 1) % 3));
    CHECK(plan_offset(set_plan(&c, 1), v) != plan_offset(set_plan(&c, 1), (v + 1) % 3));
  }
  set_free(&c);
}

// A rule forbids reuse in a graph with an output of i64; the other one is unaffected.
TEST(OneGraphWithoutReuseDoesNotForbidItToOthers) {
  static const char text[] =
      "graph @a {\n"
      "  %0 = input \"x\" : f32[64] with {io = \"consume\"}\n"
      "  %1 = neg(%0) : f32[64]\n"
      "  %2 = exp(%1) : f32[64]\n"
      "  return %2\n"
      "}\n"
      "graph @b {\n"
      "  %0 = input \"x\" : i64[16] with {io = \"consume\"}\n"
      "  %1 = neg(%0) : i64[16]\n"
      "  return %1\n"
      "}\n";
  stow_plan_options options = defaults();
  REQUIRE(stow_plan_options_add_rule(&options, stow_rule_find(stow_str_of("i64-epilogue"))) ==
          STOW_OK);
  set_case c = set_make(text, &options);
  CHECK(stowi_plan_reuse(set_plan(&c, 0)) && !stowi_plan_reuse(set_plan(&c, 1)));
  CHECK_U64(stow_set_arena_size(c.set), 256);
  CHECK(plan_offset(set_plan(&c, 1), 0) != plan_offset(set_plan(&c, 1), 1));
  set_free(&c);
}

TEST(ScratchAvoidsWhatOthersKeep) {
  static const char text[] =
      "graph @a {\n"
      "  %0 = param \"w\" : f32[64]\n"
      "  %1 = exp(%0) : f32[64]\n"
      "  return %1\n"
      "}\n"
      "graph @b {\n"
      "  %0 = input \"x\" : f32[16]\n"
      "  %1 = exp(%0) : f32[16] with {scratch = [1000, 64]}\n"
      "  return %1\n"
      "}\n";
  stow_plan_options options = defaults();
  set_case c = set_make(text, &options);
  stow_node node;
  stow_slot slot;
  uint64_t alignment;
  stow_plan_scratch_slot(set_plan(&c, 1), 0, &node, &slot, &alignment);
  uint64_t weight = set_offset(&c, 0, "w");
  CHECK(slot.size == 1000 && (slot.offset >= weight + 256 || slot.offset + 1000 <= weight));
  set_free(&c);
}

// An input that is state has a guard if the options say so; computed values have none. The guard is
// there for both.
TEST(GuardsOfSharedRootsAreKeptByAll) {
  static const char text[] =
      "graph @writes {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 \"s\" = exp(%0) : f32[64] with {state = true}\n"
      "  %2 = neg(%1) : f32[64]\n"
      "  return %2\n"
      "}\n"
      "graph @reads {\n"
      "  %0 = input \"s\" : f32[64] with {state = true}\n"
      "  %1 = neg(%0) : f32[64]\n"
      "  return %1\n"
      "}\n";
  stow_plan_options options = defaults();
  options.tail_guard = 100;
  set_case c = set_make(text, &options);
  uint64_t offset = set_offset(&c, 0, "s");
  CHECK_U64(offset, set_offset(&c, 1, "s"));
  CHECK_U64(stowi_plan_guard(set_plan(&c, 0), set_value(&c, 0, "s")), 0);
  CHECK_U64(stowi_plan_guard(set_plan(&c, 1), set_value(&c, 1, "s")), 100);
  REQUIRE(reserved(&c, 0) == 1);
  CHECK_U64(stow_plan_reserved_slot(set_plan(&c, 0), 0).offset, offset + 256);
  CHECK_U64(stow_plan_reserved_slot(set_plan(&c, 0), 0).size, 100);
  set_free(&c);
}

// A strategy of alignment 64, an effect that asks for more in one graph: the shared root has the
// larger.
TEST(SharedRootsAreAlignedForAllGraphs) {
  static const char text[] =
      "graph @a {\n"
      "  %0 = input \"x\" : f32[8]\n"
      "  %1 = param \"w\" : f32[8]\n"
      "  %2 = mul(%0, %1) : f32[8]\n"
      "  return %2\n"
      "}\n"
      "graph @b {\n"
      "  %0 = param \"w\" : f32[8] with {align = 4096}\n"
      "  %1 = exp(%0) : f32[8]\n"
      "  return %1\n"
      "}\n";
  stow_plan_options options = defaults();
  set_case c = set_make(text, &options);
  CHECK_U64(set_offset(&c, 0, "w") % 4096, 0);
  CHECK_U64(stowi_plan_set_alignment(c.set), 4096);
  set_free(&c);
}

// In-place chains, copy elision, windows: as in single plans.
TEST(MembersShareBytesAsTheyDoAlone) {
  static const char text[] =
      "graph @a {\n"
      "  %0 = input \"x\" : f32[1, 64]\n"
      "  %1 = param \"w\" : f32[1, 64]\n"
      "  %2 = add(%0, %1) : f32[1, 64]\n"
      "  %3 = relu(%2) : f32[1, 64]\n"
      "  %4 = exp(%3) : f32[1, 64]\n"
      "  %5 = concat(%3, %4) {axis = 0} : f32[2, 64]\n"
      "  return %5\n"
      "}\n"
      "graph @b {\n"
      "  %0 = input \"x\" : f32[64] with {io = \"consume\"}\n"
      "  %1 = param \"w\" : f32[64]\n"
      "  %2 = exp(%0) : f32[64]\n"
      "  %3 = neg(%2) : f32[64]\n"
      "  %4 = mul(%3, %1) : f32[64]\n"
      "  return %4\n"
      "}\n";
  stow_plan_options options = defaults();
  set_case c = set_make(text, &options);
  CHECK_U64(stow_plan_root(set_plan(&c, 0), 3), 5);
  CHECK_U64(stow_plan_root(set_plan(&c, 0), 4), 5);
  CHECK_U64(stow_plan_root(set_plan(&c, 1), 4), 0);
  CHECK_U64(set_offset(&c, 0, "w"), set_offset(&c, 1, "w"));
  CHECK(stow_plan_decision_count(set_plan(&c, 0)) > 0);
  CHECK_U64(stow_set_arena_size(c.set), stowi_plan_set_lower_bound(c.set));
  CHECK_U64(stow_set_arena_size(c.set), larger(stow_set_alone(c.set, 0), stow_set_alone(c.set, 1)));
  set_free(&c);
}

// The state is the first part of a root whose rest is free for others if the graph is alone. In a
// set the other graph may keep all of it.
TEST(KeptRootsHaveNoWindows) {
  static const char text[] =
      "graph @part {\n"
      "  %0 = input \"x\" : f32[4, 64]\n"
      "  %1 \"s\" = exp(%0) : f32[4, 64]\n"
      "  %2 = slice(%1) {axes = [0], starts = [0], ends = [1], steps = [1]} : f32[1, 64]\n"
      "    with {state = true}\n"
      "  %3 = neg(%2) : f32[1, 64]\n"
      "  %4 = exp(%3) : f32[1, 64]\n"
      "  return %4\n"
      "}\n"
      "graph @all {\n"
      "  %0 = input \"s\" : f32[4, 64] with {state = true}\n"
      "  %1 = neg(%0) : f32[4, 64]\n"
      "  return %1\n"
      "}\n";
  stow_plan_options options = defaults();
  set_case c = set_make(text, &options);
  stow_value s = set_value(&c, 0, "s");
  CHECK_U64(stow_plan_root(set_plan(&c, 0), 2), s);
  CHECK_U64(stow_plan_window_count(set_plan(&c, 0), s), 0);
  CHECK_U64(set_offset(&c, 0, "s"), set_offset(&c, 1, "s"));
  set_free(&c);
}

static const char cells[] =
    "graph @given {\n"
    "  %0 = input \"x\" : f32[1, 16]\n"
    "  %1 = param \"u\" : f32[64, 1]\n"
    "  %2 = matmul(%1, %0) : f32[64, 16]\n"
    "  %3 = matmul(%1, %0) : f32[64, 16]\n"
    "  %4 = reduce(%2) {op = \"sum\", axes = [0], keepdims = false} : f32[16]\n"
    "  %5 = reduce(%3) {op = \"sum\", axes = [0], keepdims = false} : f32[16]\n"
    "  %6 = add(%4, %5) : f32[16]\n"
    "  return %6\n"
    "}\n";

TEST(OrdersOfMembersAreSearched) {
  stow_plan_options options = defaults();
  options.order = STOW_ORDER_AUTO;
  char text[2048];
  strcpy(text, cells);
  strcat(text, WEIGHT_GRAPH("b", OPEN));
  set_case c = set_make(text, &options);
  CHECK(ordering_of(set_plan(&c, 0)).changed);
  CHECK(!ordering_of(set_plan(&c, 1)).changed);
  CHECK(stow_set_alone(c.set, 0) < 2 * 4096);
  CHECK(stow_set_arena_size(c.set) < 2 * 4096);
  set_free(&c);
}

TEST(SchedulesComeWithTheGraphs) {
  static const stow_node order[] = {0, 1, 2, 4, 3, 5, 6};
  stow_diag diag;
  stow_diag_init(&diag);
  stow_allocator allocator = stow_allocator_default();
  stow_module* module;
  const stow_graph* graph = plan_parse(cells, &module);
  stow_plan_options options = defaults();
  stow_schedule* schedule;
  stow_set* set;
  size_t index;
  REQUIRE(stow_schedule_create_order(graph, order, 7, allocator, &diag, &schedule) == STOW_OK);
  REQUIRE(stow_set_create(&options, allocator, &diag, &set) == STOW_OK);
  CHECK(stow_set_add(set, graph, NULL, schedule, &diag, &index) == STOW_OK && index == 0);
  CHECK(stow_set_add(set, graph, NULL, NULL, &diag, &index) == STOW_OK && index == 1);
  REQUIRE(stow_set_place(set, &diag) == STOW_OK);
  CHECK(memcmp(stow_plan_order(stow_set_plan(set, 0)), order, sizeof(order)) == 0);
  CHECK_U64(stow_plan_order(stow_set_plan(set, 1))[3], 3);
  stow_set_destroy(set);
  stow_schedule_destroy(schedule);
  stow_module_destroy(module);
}

// ---------------------------------------------------------------------------------------------
// What is refused

TEST(StateOfDifferentSizesIsRefused) {
  static const char text[] =
      "graph @prefill {\n"
      "  %0 = input \"cache\" : f32[64] with {state = true}\n"
      "  %1 = exp(%0) : f32[64]\n"
      "  return %1\n"
      "}\n"
      "graph @decode {\n"
      "  %0 = input \"cache\" : f32[32] with {state = true}\n"
      "  %1 = exp(%0) : f32[32]\n"
      "  return %1\n"
      "}\n";
  stow_plan_options options = defaults();
  set_case c = set_try(text, &options);
  CHECK(c.status == STOW_ERR_TYPE);
  CHECK_TEXT(c.diag.message,
             "%0 \"cache\" of @prefill and %0 \"cache\" of @decode have the same name, but have "
             "bytes 256 and 128");
  // As it was before.
  CHECK(stow_set_plan(c.set, 0) == NULL && stow_set_plan(c.set, 1) == NULL);
  CHECK_U64(stow_set_alone(c.set, 0), 0);
  CHECK_U64(stow_set_arena_size(c.set), 0);
  CHECK_U64(stowi_plan_set_lower_bound(c.set), 0);
  set_free(&c);
}

#define FIXED_GRAPH(graph, clause)                                 \
  "graph @" graph " {\n  %0 = param \"w\" : f32[64] with {" clause \
  "}\n"                                                            \
  "  %1 = exp(%0) : f32[64]\n  return %1\n}\n"

TEST(OneRootFixedAtTwoOffsetsIsRefused) {
  stow_plan_options options = defaults();
  set_case c = set_try(FIXED_GRAPH("a", "at = 0") FIXED_GRAPH("b", "at = 512"), &options);
  CHECK(c.status == STOW_ERR_CONFLICT);
  CHECK_TEXT(c.diag.message,
             "%0 \"w\" of @a and %0 \"w\" of @b have the same name, but are fixed at 0 and 512");
  set_free(&c);
}

TEST(AFixedOffsetHoldsInAllGraphs) {
  stow_plan_options options = defaults();
  set_case c = set_make(FIXED_GRAPH("a", "at = 512") FIXED_GRAPH("b", "align = 64"), &options);
  CHECK_U64(set_offset(&c, 1, "w"), 512);
  set_free(&c);
  c = set_try(FIXED_GRAPH("a", "at = 512") FIXED_GRAPH("b", "align = 4096"), &options);
  CHECK(c.status == STOW_ERR_CONFLICT);
  CHECK_HAS(c.diag.message,
            "%0 \"w\" of @a must be at 512, which is not a multiple of 4096, the alignment that "
            "another graph needs there");
  set_free(&c);
}

TEST(AFixedValueInAKeptRootIsRefused) {
  static const char text[] =
      FIXED_GRAPH("a", "at = 0")
      "graph @b {\n"
      "  %0 = input \"x\" : f32[16] with {at = 128}\n"
      "  %1 = exp(%0) : f32[16]\n"
      "  return %1\n"
      "}\n";
  stow_plan_options options = defaults();
  set_case c = set_try(text, &options);
  CHECK(c.status == STOW_ERR_CONFLICT);
  CHECK_TEXT(
      c.diag.message,
      "%0 \"x\" of @b, fixed at 128, and %0 \"w\" of @a, fixed at 0, overlap while both are live");
  set_free(&c);
}

TEST(FixedValuesMayOverlapWhatIsNotKept) {
  static const char text[] =
      "graph @a {\n"
      "  %0 = input \"x\" : f32[16] with {at = 0}\n"
      "  %1 = exp(%0) : f32[16]\n"
      "  return %1\n"
      "}\n"
      "graph @b {\n"
      "  %0 = input \"x\" : f32[32] with {at = 0}\n"
      "  %1 = exp(%0) : f32[32]\n"
      "  return %1\n"
      "}\n";
  stow_plan_options options = defaults();
  set_case c = set_make(text, &options);
  CHECK_U64(stow_set_arena_size(c.set), 256);
  set_free(&c);
}

TEST(TooLargeKeptRootsAreNamed) {
  static const char text[] =
      "graph @a {\n"
      "  %0 = param \"w\" : f32[1152921504606846976]\n"
      "  %1 = param \"s\" : f32[1]\n"
      "  %2 = exp(%1) : f32[1]\n"
      "  return %2\n"
      "}\n"
      "graph @b {\n"
      "  %0 = param \"v\" : f32[1152921504606846976]\n"
      "  %1 = param \"s\" : f32[1]\n"
      "  %2 = exp(%1) : f32[1]\n"
      "  return %2\n"
      "}\n";
  stow_plan_options options = defaults();
  set_case c = set_try(text, &options);
  CHECK(c.status == STOW_ERR_OVERFLOW);
  CHECK_HAS(c.diag.message, "\"w\" of @a: 4611686018427387904 bytes do not fit");
  set_free(&c);
}

TEST(PackedParamsLayoutsAndOneScheduleAreForSinglePlans) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_set* set;
  stow_plan_options options = defaults();
  options.pack_params = true;
  CHECK(stow_set_create(&options, stow_allocator_default(), &diag, &set) ==
        STOW_ERR_INVALID_ARGUMENT);
  CHECK(set == NULL);
  plan_case c = plan_make(WEIGHT_GRAPH("a", OPEN), &options);
  options = defaults();
  stow_weight_layout* layout;
  REQUIRE(stow_weight_layout_create(c.graph, c.plan, stow_allocator_default(), &diag, &layout) ==
          STOW_OK);
  options.layout = layout;
  CHECK(stow_set_create(&options, stow_allocator_default(), &diag, &set) ==
        STOW_ERR_INVALID_ARGUMENT);
  stow_weight_layout_destroy(layout);
  options = defaults();
  stow_schedule* schedule;
  REQUIRE(stow_schedule_create(c.graph, stow_allocator_default(), &diag, &schedule) == STOW_OK);
  options.schedule = schedule;
  CHECK(stow_set_create(&options, stow_allocator_default(), &diag, &set) ==
        STOW_ERR_INVALID_ARGUMENT);
  stow_schedule_destroy(schedule);
  plan_free(&c);
}

TEST(ASetIsPlacedOnce) {
  stow_plan_options options = defaults();
  stow_diag diag;
  stow_diag_init(&diag);
  stow_set* set;
  size_t index = 7;
  REQUIRE(stow_set_create(&options, stow_allocator_default(), &diag, &set) == STOW_OK);
  CHECK(stow_set_place(set, &diag) == STOW_ERR_CONFLICT);
  CHECK_HAS(diag.message, "no graph");
  CHECK(stow_set_plan(set, 0) == NULL);
  stow_set_destroy(set);
  stow_set_destroy(NULL);

  set_case c = set_make(WEIGHT_GRAPH("a", OPEN), &options);
  CHECK(stow_set_place(c.set, &diag) == STOW_ERR_CONFLICT);
  CHECK_HAS(diag.message, "the set has already been placed");
  CHECK(stow_set_add(c.set, c.graphs[0], NULL, NULL, &diag, &index) == STOW_ERR_CONFLICT);
  CHECK_U64(index, 0);
  CHECK_U64(stowi_plan_set_count(c.set), 1);
  CHECK(stow_set_plan(c.set, 1) == NULL);
  CHECK_U64(stow_set_alone(c.set, 1), 0);
  set_free(&c);
}

// ---------------------------------------------------------------------------------------------
// Damage

typedef struct damaged {
  set_case set;
  stow_plan* copies[SET_MAX];
} damaged;

static damaged damaged_make(const char* text) {
  damaged d;
  memset(&d, 0, sizeof(d));
  stow_plan_options options = defaults();
  d.set = set_make(text, &options);
  for (size_t i = 0; i < d.set.count; ++i) {
    d.copies[i] = set_copy(set_plan(&d.set, i), d.set.graphs[i]);
  }
  return d;
}

static stow_violation damaged_check(damaged* d) {
  return set_check(&d->set, (const stow_plan* const*)d->copies);
}

static void damaged_free(damaged* d) {
  for (size_t i = 0; i < d->set.count; ++i) {
    stow_plan_destroy(d->copies[i]);
  }
  set_free(&d->set);
}

TEST(MovedStateIsFound) {
  damaged d = damaged_make(decoder);
  stow_value cache = set_value(&d.set, 1, "k_cache");
  d.copies[1]->values[cache].offset += 64;
  stow_violation violation = damaged_check(&d);
  CHECK(violation.fault == STOW_FAULT_KEPT);
  CHECK_U64(violation.step, 0);
  CHECK_HAS(
      d.set.diag.message,
      "\"k_cache\" is at offset 49152 in the plan of @prefill and at 49216 in that of @decode");
  CHECK_HAS(d.set.diag.message, "@prefill");
  CHECK_HAS(d.set.diag.message, "@decode");
  damaged_free(&d);
}

TEST(AnInvalidRootIsFound) {
  damaged d = damaged_make(decoder);
  stow_value cache = set_value(&d.set, 1, "k_cache");
  d.copies[1]->values[cache].root = d.copies[1]->value_count;
  stow_violation violation = damaged_check(&d);
  CHECK(violation.fault == STOW_FAULT_VIEW_OUTSIDE);
  CHECK_U64(violation.first, cache);
  CHECK_U64(violation.step, 0);
  CHECK_HAS(d.set.diag.message, "%6 \"k_cache\" has root %13, which does not exist");
  damaged_free(&d);
}

TEST(AnUnreservedWeightIsFound) {
  damaged d = damaged_make(decoder);
  d.copies[0]->reserved[0].end -= 1;
  stow_violation violation = damaged_check(&d);
  CHECK(violation.fault == STOW_FAULT_KEPT);
  CHECK_U64(violation.first, set_value(&d.set, 1, "wo"));
  CHECK_U64(violation.step, 0);
  CHECK_HAS(d.set.diag.message, "\"wo\" of @decode, kept between runs, is in [");
  CHECK_HAS(d.set.diag.message, "which the plan of @prefill does not reserve");
  damaged_free(&d);
}

// The plan's own check proves that reserved bytes stay unchanged.
TEST(AnActivationInAKeptRootIsFound) {
  damaged d = damaged_make(decoder);
  stow_value y = stow_graph_outputs(d.set.graphs[0])[0];
  stow_value root = stow_plan_root(d.copies[0], y);
  uint64_t shift = d.copies[0]->reserved[0].offset - d.copies[0]->values[root].offset;
  for (stow_value v = 0; v < d.copies[0]->value_count; ++v) {
    if (d.copies[0]->values[v].root == root) {
      d.copies[0]->values[v].offset += shift;
    }
  }
  CHECK(damaged_check(&d).fault == STOW_FAULT_NONE);
  stow_violation violation = {.struct_size = sizeof(violation)};
  CHECK(stow_plan_check(d.copies[0], d.set.graphs[0], d.set.effects[0], stow_allocator_default(),
                        NULL, &violation) == STOW_ERR_VIOLATION);
  CHECK(violation.fault == STOW_FAULT_OVERLAP);
  damaged_free(&d);
}

// A window in the other plan: bytes of the state that others may use there.
TEST(AWindowInWhatAnotherKeepsIsFound) {
  damaged d = damaged_make(decoder);
  stow_plan* plan = d.copies[1];
  stow_value cache = set_value(&d.set, 1, "k_cache");
  REQUIRE(plan->window_count == 0);
  stowi_plan_window window = {cache, {0, 1, 0, 64}};
  stowi_plan_window* own = plan->windows;
  plan->windows = &window;
  plan->window_count = 1;
  CHECK(damaged_check(&d).fault == STOW_FAULT_KEPT);
  plan->windows = own;
  plan->window_count = 0;
  CHECK(damaged_check(&d).fault == STOW_FAULT_NONE);
  damaged_free(&d);
}

TEST(PlansOfOtherGraphsAreFound) {
  damaged d = damaged_make(decoder);
  const stow_plan* swapped[] = {d.copies[1], d.copies[0]};
  CHECK(set_check(&d.set, swapped).fault == STOW_FAULT_STALE);
  stow_plan* copies[] = {d.copies[0], d.copies[1]};
  const stow_effects* effects[] = {d.set.effects[1], d.set.effects[0]};
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_set_check((const stow_plan* const*)copies, d.set.graphs, effects, 2,
                       stow_allocator_default(), &diag, NULL) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(stow_set_check(NULL, NULL, NULL, 0, stow_allocator_default(), &diag, NULL) == STOW_OK);
  damaged_free(&d);
}

// ---------------------------------------------------------------------------------------------
// Failing allocations

static stow_status place_and_check(stow_set* set, const set_case* c, stow_allocator allocator,
                                   stow_diag* diag) {
  size_t index;
  for (size_t i = 0; i < c->count; ++i) {
    STOW_TRY(stow_set_add(set, c->graphs[i], c->effects[i], NULL, diag, &index));
  }
  stow_status status = stow_set_place(set, diag);
  if (status != STOW_OK) {
    CHECK(stow_set_plan(set, 0) == NULL);
    CHECK_U64(stow_set_arena_size(set), 0);
    CHECK_U64(stow_set_alone(set, 0), 0);
    return status;
  }
  const stow_plan* plans[] = {stow_set_plan(set, 0), stow_set_plan(set, 1)};
  return stow_set_check(plans, c->graphs, (const stow_effects* const*)c->effects, c->count,
                        allocator, diag, NULL);
}

static stow_status attempt(stow_allocator allocator, void* user) {
  const set_case* c = (const set_case*)user;
  stow_plan_options options = defaults();
  options.tail_guard = 64;
  options.nodes = 100;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_set* set;
  STOW_TRY(stow_set_create(&options, allocator, &diag, &set));
  stow_status status = place_and_check(set, c, allocator, &diag);
  stow_set_destroy(set);
  return status;
}

TEST(FailedAllocationsLeakNothing) {
  stow_plan_options options = defaults();
  set_case c = set_make(decoder, &options);
  CHECK(test_fault_sweep(attempt, &c) > 100);
  set_free(&c);
}

// A set that could not be placed can be placed later.
TEST(AFailedPlacementCanBeTriedAgain) {
  stow_plan_options options = defaults();
  set_case c = set_make(decoder, &options);
  test_heap heap = {0};
  stow_allocator allocator = test_heap_allocator(&heap);
  stow_set* set;
  size_t index;
  REQUIRE(stow_set_create(&options, allocator, &c.diag, &set) == STOW_OK);
  CHECK(stow_set_add(set, c.graphs[0], c.effects[0], NULL, &c.diag, &index) == STOW_OK);
  CHECK(stow_set_add(set, c.graphs[1], c.effects[1], NULL, &c.diag, &index) == STOW_OK);
  size_t failures = 0;
  stow_status status = STOW_ERR_OUT_OF_MEMORY;
  for (size_t n = 1; n < 100000 && status != STOW_OK; n += 37, ++failures) {
    heap.fail_at = heap.allocations + n;
    status = stow_set_place(set, &c.diag);
    CHECK(status == STOW_OK || status == STOW_ERR_OUT_OF_MEMORY);
  }
  CHECK(status == STOW_OK && failures > 3);
  CHECK_U64(stow_set_arena_size(set), stow_set_arena_size(c.set));
  stow_set_destroy(set);
  CHECK_U64(heap.live_blocks, 0);
  set_free(&c);
}
