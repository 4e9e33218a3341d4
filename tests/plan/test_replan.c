// Planning again: which buffers are the same, that they keep their offsets, and that any start
// gives a correct plan.
#include <stddef.h>
#include <stdlib.h>
#include <stowage/set.h>
#include <string.h>

#include "plan/api.h"
#include "plan/describe.h"
#include "plan/plan_support.h"
#include "support/fault.h"
#include "support/random_graph.h"
#include "support/test.h"

static stow_moves moves_of(const stow_plan* plan) {
  stow_moves info = {.struct_size = sizeof(info)};
  CHECK(stow_plan_describe_moves(plan, &info) == STOW_OK);
  return info;
}

static stow_start* start_of(const stow_plan* plan) {
  stow_start* start = NULL;
  CHECK(stow_start_from_plan(plan, stow_allocator_default(), NULL, &start) == STOW_OK);
  return start;
}

static stow_start* start_of_text(const char* text) {
  stow_csv* csv = NULL;
  stow_start* start = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_csv_read(stow_str_of(text), stow_allocator_default(), &diag, &csv);
  if (test_check(status == STOW_OK, __FILE__, __LINE__, "%s", diag.message)) {
    CHECK(stow_start_from_csv(csv, stow_allocator_default(), NULL, &start) == STOW_OK);
  }
  stow_csv_destroy(csv);
  return start;
}

// ---------------------------------------------------------------------------------------------
// Matching

#define ANY STOW_PLACE_ANYWHERE

static void check_match(const char* then, const char* now, const uint64_t* expected, size_t count) {
  stow_start* a = start_of_text(then);
  stow_start* b = start_of_text(now);
  REQUIRE(a != NULL && b != NULL);
  uint64_t offsets[16];
  REQUIRE(stow_start_count(b) == count && count <= 16);
  CHECK(stow_start_match(a, b, stow_allocator_default(), NULL, offsets) == STOW_OK);
  for (size_t i = 0; i < count; ++i) {
    CHECK_U64(offsets[i], expected[i]);
  }
  stow_start_destroy(a);
  stow_start_destroy(b);
}

TEST(TheSameNameIsTheSameBuffer) {
  static const uint64_t expected[] = {200, ANY, 0, 100};
  check_match("id,lower,upper,size,offset\na,0,1,8,0\nb,1,2,8,100\nc,2,3,8,200\n",
              "id,lower,upper,size\nc,0,1,8\nnew,1,2,9\na,2,3,64\nb,3,4,8\n", expected, 4);
}

TEST(NamesComeFromTheirColumn) {
  static const uint64_t expected[] = {64, 0, 32};
  check_match(
      "id,lower,upper,size,offset,kind,name\n"
      "0,0,1,8,0,value,\"a,\"\"b\"\"\"\n1,1,2,8,32,value,\\x3dc\\\\\\n\n2,2,3,8,64,value,d\n",
      "id,lower,upper,size,kind,name\n"
      "0,0,1,9,value,d\n1,1,2,9,value,\"a,\"\"b\"\"\"\n2,2,3,9,value,\"\\x3dc\\\\\\n\"\n",
      expected, 3);
}

TEST(BuffersWithoutANameAreMatchedByKindSizeAndOrder) {
  static const uint64_t expected[] = {32, 0, 96, 64, ANY};
  check_match(
      "id,lower,upper,size,offset,kind,name\n"
      "0,0,1,8,0,value,\n1,0,1,16,32,value,\n2,0,1,8,64,scratch,\n3,0,1,8,96,value,\n",
      "id,lower,upper,size,kind,name\n"
      "0,0,1,16,value,\n1,0,1,8,value,\n2,0,1,8,value,\n3,0,1,8,scratch,\n4,0,1,8,scratch,\n",
      expected, 5);
}

// Of inputs there are equally many; of values there are not.
TEST(EquallyManyOfAKindAreMatchedWhateverTheirSizes) {
  static const uint64_t expected[] = {0, 32, ANY};
  check_match(
      "id,lower,upper,size,offset,kind,name\n"
      "0,0,1,8,0,input,\n1,0,1,16,32,input,\n2,0,1,8,64,value,\n3,0,1,9,96,value,\n",
      "id,lower,upper,size,kind,name\n"
      "0,0,1,80,input,\n1,0,1,60,input,\n2,0,1,70,value,\n",
      expected, 3);
}

TEST(ReservedRangesAndUnknownOffsetsMatchNothing) {
  static const uint64_t expected[] = {ANY, ANY};
  check_match("id,lower,upper,size,offset,kind,name\nr,0,1,8,0,reserved,\nv,0,1,8,,value,x\n",
              "id,lower,upper,size,offset,kind,name\nr,0,1,8,0,reserved,\nv,0,1,8,,value,x\n",
              expected, 2);
}

TEST(NothingMatchesNothing) {
  check_match("id,lower,upper,size\n", "id,lower,upper,size\n", NULL, 0);
}

// ---------------------------------------------------------------------------------------------
// Small changes

static const char* const before =
    "graph @g {\n"
    "  %0 = input \"x\" : f32[64, 64]\n"
    "  %1 = param \"w1\" : f32[64, 256]\n"
    "  %2 \"a\" = matmul(%0, %1) : f32[64, 256]\n"
    "  %3 = param \"w2\" : f32[256, 64]\n"
    "  %4 \"b\" = matmul(%2, %3) : f32[64, 64]\n"
    "  %5 \"c\" = matmul(%4, %1) : f32[64, 256]\n"
    "  %6 \"d\" = matmul(%5, %3) : f32[64, 64]\n"
    "  return %6\n"
    "}\n";

// Two ops more, so that the ids after them are others.
static const char* const inserted =
    "graph @g {\n"
    "  %0 = input \"x\" : f32[64, 64]\n"
    "  %1 = param \"w1\" : f32[64, 256]\n"
    "  %2 \"a\" = matmul(%0, %1) : f32[64, 256]\n"
    "  %3 = param \"w2\" : f32[256, 64]\n"
    "  %4 \"new1\" = matmul(%2, %3) : f32[64, 64]\n"
    "  %5 \"new2\" = matmul(%4, %1) : f32[64, 256]\n"
    "  %6 \"b\" = matmul(%5, %3) : f32[64, 64]\n"
    "  %7 \"c\" = matmul(%6, %1) : f32[64, 256]\n"
    "  %8 \"d\" = matmul(%7, %3) : f32[64, 64]\n"
    "  return %8\n"
    "}\n";

static stow_plan_options usual(const stow_start* start) {
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  options.start = start;
  return options;
}

TEST(APlanWithoutAStartHasNoMoves) {
  plan_case c = plan_make(before, NULL);
  REQUIRE(c.plan != NULL);
  CHECK(!moves_of(c.plan).started);
  char* json = plan_text(c.plan, stowi_plan_write_json);
  CHECK(strstr(json, "\"start\"") == NULL);
  free(json);
  plan_free(&c);
}

TEST(TheSameGraphKeepsEveryOffset) {
  plan_case first = plan_make(before, NULL);
  REQUIRE(first.plan != NULL);
  stow_start* start = start_of(first.plan);
  CHECK_U64(stow_start_count(start), 7);
  stow_plan_options options = usual(start);
  plan_case second = plan_make(before, &options);
  REQUIRE(second.plan != NULL);
  plan_prove(&second);
  stow_moves moves = moves_of(second.plan);
  CHECK(moves.started);
  CHECK_U64(moves.kept, 7);
  CHECK_U64(moves.moved + moves.added, 0);
  CHECK_U64(search_of(second.plan).nodes, 0);
  char* a = plan_text(first.plan, stowi_plan_write_saved);
  char* b = plan_text(second.plan, stowi_plan_write_saved);
  CHECK_TEXT(a, b);
  free(a);
  free(b);
  stow_start_destroy(start);
  plan_free(&first);
  plan_free(&second);
}

TEST(AfterAnInsertionFewBuffersMove) {
  plan_case first = plan_make(before, NULL);
  REQUIRE(first.plan != NULL);
  stow_start* start = start_of(first.plan);
  stow_plan_options options = usual(start);
  plan_case again = plan_make(inserted, &options);
  plan_case fresh = plan_make(inserted, NULL);
  REQUIRE(again.plan != NULL && fresh.plan != NULL);
  plan_prove(&again);
  stow_moves moves = moves_of(again.plan);
  CHECK_U64(moves.added, 2);
  CHECK_U64(moves.kept + moves.moved, 7);
  CHECK(moves.moved <= 2);
  CHECK_U64(stow_plan_arena_size(again.plan), stow_plan_arena_size(fresh.plan));
  char* json = plan_text(again.plan, stowi_plan_write_json);
  CHECK_HAS(json, "  \"start\": {\"matched\": 7, \"kept\": ");
  CHECK_HAS(json, ", \"new\": 2},\n");
  free(json);
  stow_start_destroy(start);
  plan_free(&first);
  plan_free(&again);
  plan_free(&fresh);
}

// Rows of everything but the params.
static const char* const larger =
    "graph @g {\n"
    "  %0 = input \"x\" : f32[96, 64]\n"
    "  %1 = param \"w1\" : f32[64, 256]\n"
    "  %2 \"a\" = matmul(%0, %1) : f32[96, 256]\n"
    "  %3 = param \"w2\" : f32[256, 64]\n"
    "  %4 \"b\" = matmul(%2, %3) : f32[96, 64]\n"
    "  %5 \"c\" = matmul(%4, %1) : f32[96, 256]\n"
    "  %6 \"d\" = matmul(%5, %3) : f32[96, 64]\n"
    "  return %6\n"
    "}\n";

TEST(ALargerDimIsAStartToo) {
  plan_case first = plan_make(before, NULL);
  REQUIRE(first.plan != NULL);
  stow_start* start = start_of(first.plan);
  stow_plan_options options = usual(start);
  plan_case again = plan_make(larger, &options);
  plan_case fresh = plan_make(larger, NULL);
  REQUIRE(again.plan != NULL && fresh.plan != NULL);
  plan_prove(&again);
  CHECK_U64(moves_of(again.plan).added, 0);
  CHECK_U64(stow_plan_arena_size(again.plan), stow_plan_arena_size(fresh.plan));
  stow_start_destroy(start);
  plan_free(&first);
  plan_free(&again);
  plan_free(&fresh);
}

TEST(APlanAsCsvIsTheSameStart) {
  plan_case first = plan_make(before, NULL);
  REQUIRE(first.plan != NULL);
  char* text = plan_text(first.plan, stowi_plan_write_csv);
  stow_start* direct = start_of(first.plan);
  stow_start* read = start_of_text(text);
  stow_plan_options from_plan = usual(direct);
  stow_plan_options from_csv = usual(read);
  plan_case a = plan_make(inserted, &from_plan);
  plan_case b = plan_make(inserted, &from_csv);
  REQUIRE(a.plan != NULL && b.plan != NULL);
  char* a_text = plan_text(a.plan, stowi_plan_write_json);
  char* b_text = plan_text(b.plan, stowi_plan_write_json);
  CHECK_TEXT(a_text, b_text);
  free(a_text);
  free(b_text);
  free(text);
  stow_start_destroy(direct);
  stow_start_destroy(read);
  plan_free(&a);
  plan_free(&b);
  plan_free(&first);
}

// ---------------------------------------------------------------------------------------------
// Order

// Three wide values at once in the given order; one is enough.
static const char* const fan =
    "graph @fan {\n"
    "  %0 = input \"x\" : f32[64, 64]\n"
    "  %1 = param \"w\" : f32[64, 1024]\n"
    "  %2 = param \"v\" : f32[1024, 16]\n"
    "  %3 \"wide1\" = matmul(%0, %1) : f32[64, 1024]\n"
    "  %4 \"wide2\" = matmul(%0, %1) : f32[64, 1024]\n"
    "  %5 \"wide3\" = matmul(%0, %1) : f32[64, 1024]\n"
    "  %6 \"thin1\" = matmul(%3, %2) : f32[64, 16]\n"
    "  %7 \"thin2\" = matmul(%4, %2) : f32[64, 16]\n"
    "  %8 \"thin3\" = matmul(%5, %2) : f32[64, 16]\n"
    "  %9 \"all\" = concat(%6, %7, %8) {axis = 1} : f32[64, 48]\n"
    "  return %9\n"
    "}\n";

static const char* const changed_fan =
    "graph @fan {\n"
    "  %0 = input \"x\" : f32[64, 64]\n"
    "  %1 = param \"w\" : f32[64, 1024]\n"
    "  %2 = param \"v\" : f32[1024, 16]\n"
    "  %3 \"new\" = exp(%0) : f32[64, 64]\n"
    "  %4 \"wide1\" = matmul(%0, %1) : f32[64, 1024]\n"
    "  %5 \"wide2\" = matmul(%3, %1) : f32[64, 1024]\n"
    "  %6 \"wide3\" = matmul(%0, %1) : f32[64, 1024]\n"
    "  %7 \"thin1\" = matmul(%4, %2) : f32[64, 16]\n"
    "  %8 \"thin2\" = matmul(%5, %2) : f32[64, 16]\n"
    "  %9 \"thin3\" = matmul(%6, %2) : f32[64, 16]\n"
    "  %10 \"all\" = concat(%7, %8, %9) {axis = 1} : f32[64, 48]\n"
    "  return %10\n"
    "}\n";

static stow_plan_options reordering(const stow_start* start) {
  stow_plan_options options = usual(start);
  options.order = STOW_ORDER_AUTO;
  return options;
}

static void check_followed(const char* text, const stow_start* start, uint64_t earlier_arena) {
  stow_plan_options options = reordering(start);
  plan_case c = plan_make(text, &options);
  REQUIRE(c.plan != NULL);
  plan_prove(&c);
  CHECK(ordering_of(c.plan).changed && !ordering_of(c.plan).searched);
  CHECK_U64(ordering_of(c.plan).nodes, 0);
  CHECK(ordering_of(c.plan).any_bound != 0);
  CHECK(stow_plan_arena_size(c.plan) <= earlier_arena);
  CHECK(ordering_of(c.plan).given_arena > stow_plan_arena_size(c.plan));
  plan_free(&c);
}

TEST(TheOrderOfAnEarlierPlanIsFollowedWithoutASearch) {
  stow_plan_options options = reordering(NULL);
  plan_case first = plan_make(fan, &options);
  REQUIRE(first.plan != NULL);
  CHECK(ordering_of(first.plan).changed && ordering_of(first.plan).searched);
  char* text = plan_text(first.plan, stowi_plan_write_csv);
  stow_start* direct = start_of(first.plan);
  stow_start* read = start_of_text(text);
  check_followed(fan, direct, stow_plan_arena_size(first.plan));
  check_followed(fan, read, stow_plan_arena_size(first.plan));
  check_followed(changed_fan, direct, stow_plan_arena_size(first.plan) + 64 * 64 * 4);
  stow_start_destroy(direct);
  stow_start_destroy(read);
  free(text);
  plan_free(&first);
}

// As if everything had been in 256 KiB.
TEST(AnOrderThatIsWorseThanTheEarlierOneIsSearchedFor) {
  stow_start* start = start_of_text(
      "id,lower,upper,size,offset,kind,name\n"
      "0,0,11,16384,0,input,x\n1,0,11,262144,0,param,w\n2,0,11,65536,0,param,v\n"
      "3,3,4,262144,0,value,wide1\n4,4,5,262144,0,value,wide2\n5,5,6,262144,0,value,wide3\n");
  stow_plan_options options = reordering(start);
  plan_case c = plan_make(fan, &options);
  REQUIRE(c.plan != NULL);
  plan_prove(&c);
  CHECK(ordering_of(c.plan).changed && ordering_of(c.plan).searched);
  stow_start_destroy(start);
  plan_free(&c);
}

TEST(AnEarlierOrderIsNotFollowedIfTheGivenOneIsWanted) {
  stow_plan_options options = reordering(NULL);
  plan_case first = plan_make(fan, &options);
  REQUIRE(first.plan != NULL);
  stow_start* start = start_of(first.plan);
  options = usual(start);
  plan_case second = plan_make(fan, &options);
  REQUIRE(second.plan != NULL);
  CHECK(!ordering_of(second.plan).changed);
  CHECK(stow_plan_arena_size(second.plan) > stow_plan_arena_size(first.plan));
  stow_start_destroy(start);
  plan_free(&first);
  plan_free(&second);
}

// ---------------------------------------------------------------------------------------------
// Random graphs

static stow_graph* graph_of(uint64_t seed) {
  test_random random = {seed};
  random_graph_options options = random_graph_everything(3 + test_random_below(&random, 30));
  return random_graph(&random, &options, stow_allocator_default());
}

static stow_plan* plan_of(const stow_graph* graph, uint64_t seed, const stow_start* start) {
  test_random random = {seed};
  stow_plan_options options;
  stow_plan_options_init(
      &options, test_random_below(&random, 4) == 0 ? STOW_PRESET_RLX : STOW_PRESET_DEFAULT);
  options.nodes = 300;
  options.order_nodes = 300;
  options.order = test_random_below(&random, 3) == 0 ? STOW_ORDER_AUTO : STOW_ORDER_GIVEN;
  options.pack_params = test_random_below(&random, 4) == 0;
  options.reuse = test_random_below(&random, 8) != 0;
  options.strategy = stow_strategy_at(test_random_below(&random, stow_strategy_count()));
  options.start = start;
  stow_plan* plan = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status =
      stow_plan_make(graph, NULL, &options, stow_allocator_default(), &diag, &plan);
  if (status == STOW_OK) {
    status = stow_plan_check(plan, graph, NULL, stow_allocator_default(), &diag, NULL);
  }
  test_check(status == STOW_OK, __FILE__, __LINE__, "seed %llu: %s", (unsigned long long)seed,
             diag.message);
  return plan;
}

TEST(AnyPlanIsAStartForAnyGraph) {
  uint64_t seeds = test_is_long() ? 3000 : 200;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    stow_graph* earlier = graph_of(seed);
    stow_graph* graph = graph_of(seed % 3 == 0 ? seed : seed + 1000000);
    stow_plan* first = plan_of(earlier, seed, NULL);
    REQUIRE(first != NULL);
    stow_start* start = start_of(first);
    stow_plan* second = plan_of(graph, seed / 2, start);
    stow_plan* third = plan_of(graph, seed / 2, start);
    REQUIRE(second != NULL && third != NULL);
    char* a = plan_text(second, stowi_plan_write_json);
    char* b = plan_text(third, stowi_plan_write_json);
    CHECK_TEXT(a, b);
    free(a);
    free(b);
    stow_start_destroy(start);
    stow_plan_destroy(first);
    stow_plan_destroy(second);
    stow_plan_destroy(third);
    stow_graph_destroy(earlier);
    stow_graph_destroy(graph);
  }
}

// ---------------------------------------------------------------------------------------------
// Callers

TEST(CallersWithoutAStartHaveNone) {
  static const char trap[1] = {0};
  stow_plan_options options = usual((const stow_start*)(const void*)(trap + 1));
  options.struct_size = offsetof(stow_plan_options, start);
  plan_case c = plan_make(before, &options);
  REQUIRE(c.plan != NULL);
  CHECK(!moves_of(c.plan).started);
  plan_free(&c);
}

TEST(SetsTakeNoStart) {
  plan_case c = plan_make(before, NULL);
  REQUIRE(c.plan != NULL);
  stow_start* start = start_of(c.plan);
  stow_plan_options options = usual(start);
  stow_set* set = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_set_create(&options, stow_allocator_default(), &diag, &set) ==
        STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(diag.message, "takes no start");
  stow_start_destroy(start);
  plan_free(&c);
}

TEST(NoStartIsDestroyed) { stow_start_destroy(NULL); }

typedef struct scene {
  plan_case first;
  plan_case second;
  char* csv;
} scene;

static stow_status attempt(stow_allocator allocator, void* user) {
  const scene* s = user;
  stow_csv* csv = NULL;
  stow_start* start = NULL;
  stow_start* other = NULL;
  stow_plan* plan = NULL;
  stow_status status = stow_csv_read(stow_str_of(s->csv), allocator, NULL, &csv);
  if (status == STOW_OK) {
    status = stow_start_from_csv(csv, allocator, NULL, &start);
  }
  if (status == STOW_OK) {
    status = stow_start_from_plan(s->first.plan, allocator, NULL, &other);
  }
  if (status == STOW_OK) {
    stow_plan_options options = reordering(start);
    status = stow_plan_make(s->second.graph, NULL, &options, allocator, NULL, &plan);
  }
  stow_plan_destroy(plan);
  stow_start_destroy(other);
  stow_start_destroy(start);
  stow_csv_destroy(csv);
  return status;
}

TEST(FailingAllocationsAreReported) {
  scene s = {plan_make(fan, NULL), plan_make(changed_fan, NULL), NULL};
  REQUIRE(s.first.plan != NULL && s.second.plan != NULL);
  s.csv = plan_text(s.first.plan, stowi_plan_write_csv);
  CHECK(test_fault_sweep(attempt, &s) > 50);
  free(s.csv);
  plan_free(&s.first);
  plan_free(&s.second);
}
