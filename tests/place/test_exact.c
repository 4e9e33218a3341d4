// The exact search against brute force. Every pruning rule has a switch, and every way of choosing
// is correct: so all combinations must give the same verdicts, just below the lowest height and at
// it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place/api.h"
#include "place/exact/exact.h"
#include "support/brute_place.h"
#include "support/fault.h"
#include "support/problem_families.h"
#include "support/test.h"

enum {
  RULE_SETS = STOWI_PLACE_RULE_ALL + 1,
  WHERES = STOWI_PLACE_DEEPEST + 1,
  WHOMS = STOWI_PLACE_WAT + 1,
  WAYS = WHERES * WHOMS,
  ENOUGH = 1000000  // nodes: any search of a tiny problem with all rules ends
};

static stowi_place_way way_at(uint64_t index) {
  return (stowi_place_way){(stowi_place_where)(index % WHERES),
                           (stowi_place_whom)(index / WHERES % WHOMS)};
}

// ---------------------------------------------------------------------------------------------
// A search, and all that it needs

typedef struct bench {
  test_heap heap;
  const stow_problem* problem;
  stowi_place_model* model;
  stowi_place_exact_search* exact;
  stowi_place_quest quest;
  uint64_t* offsets;
} bench;

// A quest without an end.
static stowi_place_quest endless(const stow_problem* problem, stow_allocator allocator) {
  stowi_place_quest quest;
  memset(&quest, 0, sizeof(quest));
  quest.problem = problem;
  quest.allocator = allocator;
  quest.phase = "test";
  quest.height = UINT64_MAX;
  stow_place_options_init(&quest.options);
  quest.options.nodes = quest.options.patience = quest.turn_end = STOW_PLACE_NO_LIMIT;
  return quest;
}

static void open(bench* b, const stow_problem* problem, uint32_t rules) {
  memset(b, 0, sizeof(*b));
  stow_allocator allocator = test_heap_allocator(&b->heap);
  b->problem = problem;
  b->quest = endless(problem, allocator);
  b->offsets = (uint64_t*)calloc(stow_problem_count(problem) + 1, sizeof(uint64_t));
  CHECK(stowi_place_model_create(problem, allocator, NULL, &b->model) == STOW_OK);
  CHECK(stowi_place_exact_create(b->model, rules, allocator, NULL, &b->exact) == STOW_OK);
}

static void close(bench* b) {
  stowi_place_exact_destroy(b->exact);
  stowi_place_model_destroy(b->model);
  free(b->offsets);
  CHECK_U64(b->heap.live_blocks, 0);
}

static void check_found(bench* b, uint64_t capacity) {
  uint64_t height = stowi_place_exact_result(b->exact, b->offsets);
  CHECK(height <= capacity);
  CHECK(stow_placement_check(b->problem, b->offsets, stow_problem_count(b->problem), height,
                             stow_allocator_default(), NULL, NULL) == STOW_OK);
}

static bool keeps_limit(const bench* b, uint64_t nodes) {
  uint64_t depth = stowi_place_exact_depth(b->exact);
  return nodes > UINT64_MAX - depth || stowi_place_exact_nodes(b->exact) <= nodes + depth;
}

// One run, of which any placement is checked, and that it allocates nothing and keeps its limit.
static stowi_place_verdict run(bench* b, const stowi_place_run* what) {
  size_t allocations = b->heap.allocations;
  size_t live = b->heap.live_blocks;
  stowi_place_verdict verdict = stowi_place_exact_run(b->exact, what, &b->quest);
  CHECK_U64(b->heap.allocations, allocations);
  CHECK_U64(b->heap.live_blocks, live);
  CHECK(keeps_limit(b, what->nodes));
  if (verdict == STOWI_PLACE_FOUND) {
    check_found(b, what->capacity);
  }
  return verdict;
}

// How many verdicts were compared.
typedef struct tally {
  uint64_t combinations;  // of problem, rules and way
  uint64_t compared;
  uint64_t unknown;  // the search did not end within its nodes
} tally;

// A problem whose lowest height is known.
typedef struct sample {
  stow_problem* problem;
  uint64_t optimum;
  uint64_t seed;
  unsigned kinds;
} sample;

static void check_verdict(bench* b, const sample* s, const stowi_place_run* what, tally* t) {
  stowi_place_verdict expected =
      what->capacity < s->optimum ? STOWI_PLACE_REFUTED : STOWI_PLACE_FOUND;
  stowi_place_verdict verdict = run(b, what);
  if (verdict == STOWI_PLACE_UNKNOWN && what->nodes < ENOUGH) {
    t->unknown += 1;
    return;
  }
  t->compared += 1;
  test_check(verdict == expected, __FILE__, __LINE__,
             "seed %llu, kinds %u, where %d, whom %d, capacity %llu: verdict %d, not %d",
             (unsigned long long)s->seed, s->kinds, (int)what->way.where, (int)what->way.whom,
             (unsigned long long)what->capacity, (int)verdict, (int)expected);
}

// ---------------------------------------------------------------------------------------------
// All combinations of rules and ways

// Capacities in an order that the table of refuted states must handle: it is kept for lower ones.
static void compare(const sample* s, uint32_t rules, uint64_t first, uint64_t step, uint64_t nodes,
                    tally* t) {
  bench b;
  open(&b, s->problem, rules);
  for (uint64_t w = first; w < WAYS; w += step) {
    t->combinations += 1;
    uint32_t noise = (s->seed + w) % 3 == 0 ? 200 : 0;
    stowi_place_run what = {s->optimum, nodes, way_at(w), noise, s->seed * 2 + 1};
    check_verdict(&b, s, &what, t);
    what.capacity = s->optimum - 1;
    check_verdict(&b, s, &what, t);
    if (w % 3 == 0) {
      what.capacity = s->optimum + w % 2;
      check_verdict(&b, s, &what, t);
    }
  }
  close(&b);
}

// Problems that the load does not decide: below the optimum there is something to search.
static bool is_hard(const stow_problem* problem, uint64_t optimum) {
  stow_load load = {.struct_size = sizeof(load)};
  CHECK(stow_problem_load(problem, stow_allocator_default(), NULL, &load) == STOW_OK);
  return optimum > load.lower_bound;
}

// A sample of the combinations, a larger one if there is something to search; and all ways with all
// rules, which must terminate.
static void compare_combinations(const sample* s, tally* t) {
  uint64_t turn = s->seed * TINY_KINDS + s->kinds;
  uint32_t stride = is_hard(s->problem, s->optimum) ? 11 : 61;
  stride = test_is_long() ? stride / 10 : stride;
  for (uint32_t rules = (uint32_t)(turn % stride); rules < RULE_SETS; rules += stride) {
    compare(s, rules, (turn + rules) % 7, 7, 1500, t);
  }
  compare(s, STOWI_PLACE_RULE_ALL, 0, 1, ENOUGH, t);
}

// The same with every alignment doubled: then every footprint is padded.
static stow_problem* double_alignments(const stow_problem* tiny) {
  stow_problem* problem = NULL;
  CHECK(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  for (size_t i = 0; i < stow_problem_count(tiny); ++i) {
    stow_buffer desc = {.struct_size = sizeof(desc)};
    stow_problem_describe_buffer(tiny, i, &desc);
    desc.alignment *= 2;
    desc.fixed_offset =
        desc.fixed_offset == STOW_PLACE_ANYWHERE ? STOW_PLACE_ANYWHERE : 2 * desc.fixed_offset;
    CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
    for (size_t w = 0; w < stow_problem_window_count(tiny, i); ++w) {
      stow_window_desc window = {.struct_size = sizeof(window)};
      stow_problem_describe_window(tiny, i, w, &window);
      CHECK(stow_problem_add_window(problem, &window, NULL) == STOW_OK);
    }
  }
  return problem;
}

// What compare_all has seen so far.
typedef struct total {
  tally verdicts;
  uint64_t problems;
  uint64_t hard;
} total;

static void compare_problem(stow_problem* problem, uint64_t seed, unsigned kinds, total* sum) {
  sample s = {problem, brute_height(problem), seed, kinds};
  sum->problems += 1;
  sum->hard += is_hard(problem, s.optimum);
  compare_combinations(&s, &sum->verdicts);
  stow_problem_destroy(problem);
}

TEST(AllRulesAndWaysAgreeWithBruteForce) {
  uint64_t seeds = test_is_long() ? 40 : 6;
  total sum = {{0, 0, 0}, 0, 0};
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    for (unsigned kinds = 0; kinds < TINY_KINDS; ++kinds) {
      stow_problem* problem = tiny_problem_make(seed, kinds);
      // Fixed buffers in each other's holes might overlap when they are moved.
      if ((kinds & TINY_FIXED) == 0 || (kinds & TINY_WINDOWS) == 0) {
        compare_problem(double_alignments(problem), seed, kinds, &sum);
      }
      compare_problem(problem, seed, kinds, &sum);
    }
  }
  printf(
      "%llu combinations of problem, rules and way: %llu verdicts compared, %llu unknown; %llu "
      "problems, %llu of them with a lowest height above the bound\n",
      (unsigned long long)sum.verdicts.combinations, (unsigned long long)sum.verdicts.compared,
      (unsigned long long)sum.verdicts.unknown, (unsigned long long)sum.problems,
      (unsigned long long)sum.hard);
}

// ---------------------------------------------------------------------------------------------
// Refuted states

// What one way refutes in a part of time must hold for all others: a tiled problem has a placement
// at its height, so no number of runs that share their table may refute it.
TEST(RefutedStatesOfOneRunNeverMisleadAnother) {
  static const size_t counts[] = {12, 18, 24, 30, 40, 60};
  uint64_t seeds = test_is_long() ? 400 : 20;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); ++c) {
      uint64_t optimum;
      stow_problem* problem =
          problem_family_make(problem_family_find("tiled"), seed, counts[c], &optimum);
      bench b;
      open(&b, problem, STOWI_PLACE_RULE_ALL);
      for (uint64_t w = 0; w < 2 * WAYS; ++w) {
        stowi_place_run what = {optimum, 2000, way_at(w), w < WAYS ? 0 : 300, seed + w + 1};
        if (!test_check(run(&b, &what) != STOWI_PLACE_REFUTED, __FILE__, __LINE__,
                        "seed %llu, %zu tiles, way %llu: refuted", (unsigned long long)seed,
                        counts[c], (unsigned long long)w)) {
          break;
        }
      }
      close(&b);
      stow_problem_destroy(problem);
    }
  }
}

// Lifetimes short against the total time, so that placing a few separates the rest.
static stow_problem* make_chain(uint64_t seed, size_t count) {
  test_random random = {seed};
  stow_problem* problem = NULL;
  CHECK(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  uint64_t steps = count / 2 + test_random_below(&random, count);
  uint64_t longest = 2 + test_random_below(&random, 5);
  for (size_t i = 0; i < count; ++i) {
    stow_buffer desc;
    stow_buffer_init(&desc);
    desc.size = 1 + test_random_below(&random, 7);
    desc.begin = test_random_below(&random, steps);
    desc.end = desc.begin + 1 + test_random_below(&random, longest);
    CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
  }
  return problem;
}

// The lowest capacity that the search does not refute without its table.
static uint64_t find_optimum(const stow_problem* problem) {
  stow_load load = {.struct_size = sizeof(load)};
  CHECK(stow_problem_load(problem, stow_allocator_default(), NULL, &load) == STOW_OK);
  bench b;
  open(&b, problem, STOWI_PLACE_RULE_ALL & ~STOWI_PLACE_RULE_SEEN);
  stowi_place_run what = {load.lower_bound, 1000000, {STOWI_PLACE_LOWEST, STOWI_PLACE_TWA}, 0, 1};
  stowi_place_verdict verdict;
  while ((verdict = run(&b, &what)) == STOWI_PLACE_REFUTED) {
    what.capacity += 1;
  }
  close(&b);
  return verdict == STOWI_PLACE_FOUND ? what.capacity : UINT64_MAX;
}

// One way refutes a stretch of time only because another one has no placement at that moment. If
// that were remembered for the stretch alone, a later run would be misled.
static void check_shared_table(uint64_t seed) {
  stow_problem* problem = make_chain(seed, 8 + seed % 8);
  uint64_t optimum = find_optimum(problem);
  bench b;
  open(&b, problem,
       STOWI_PLACE_RULE_SPLIT | STOWI_PLACE_RULE_SEEN | (uint32_t)(seed * 7919 % RULE_SETS));
  for (uint64_t w = 0; w < 3 * WAYS && optimum != UINT64_MAX; ++w) {
    stowi_place_run what = {optimum, 100000, way_at(w), w < WAYS ? 0 : 300, seed + w + 1};
    if (!test_check(run(&b, &what) != STOWI_PLACE_REFUTED, __FILE__, __LINE__,
                    "seed %llu, way %llu: refuted", (unsigned long long)seed,
                    (unsigned long long)w)) {
      break;
    }
  }
  close(&b);
  stow_problem_destroy(problem);
}

TEST(AStretchOfTimeIsRefutedSeparately) {
  check_shared_table(10190);  // one of the few that need it
  uint64_t seeds = test_is_long() ? 30000 : 300;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    check_shared_table(seed);
  }
}

// Up and down: what is refuted at one capacity is refuted for less, but not for more.
TEST(CapacitiesCanBeAskedInAnyOrder) {
  uint64_t seeds = test_is_long() ? 2000 : 100;
  tally t = {0, 0, 0};
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    sample s = {tiny_problem_make(seed, TINY_FULL), 0, seed, TINY_FULL};
    s.optimum = brute_height(s.problem);
    test_random random = {seed};
    bench b;
    open(&b, s.problem, STOWI_PLACE_RULE_ALL);
    for (int i = 0; i < 20; ++i) {
      uint64_t capacity = s.optimum - 3 + test_random_below(&random, 6);
      stowi_place_run what = {capacity, STOW_PLACE_NO_LIMIT, way_at(test_random_u64(&random)), 0,
                              1};
      check_verdict(&b, &s, &what, &t);
    }
    close(&b);
    stow_problem_destroy(s.problem);
  }
}

// ---------------------------------------------------------------------------------------------
// Limits

TEST(AnEmptyProblemIsSolvedAtOnce) {
  stow_problem* problem = NULL;
  CHECK(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  bench b;
  open(&b, problem, STOWI_PLACE_RULE_ALL);
  stowi_place_run what = {0, 0, {STOWI_PLACE_LOWEST, STOWI_PLACE_TWA}, 0, 1};
  CHECK(run(&b, &what) == STOWI_PLACE_FOUND);
  CHECK_U64(stowi_place_exact_result(b.exact, b.offsets), 0);
  close(&b);
  stow_problem_destroy(problem);
}

TEST(TheLargestCapacityIsAccepted) {
  for (unsigned kinds = 0; kinds < TINY_KINDS; ++kinds) {
    stow_problem* problem = tiny_problem_make(2, kinds);
    bench b;
    open(&b, problem, STOWI_PLACE_RULE_ALL);
    stowi_place_run what = {UINT64_MAX - 1, STOW_PLACE_NO_LIMIT, way_at(kinds), 0, 1};
    CHECK(run(&b, &what) == STOWI_PLACE_FOUND);
    close(&b);
    stow_problem_destroy(problem);
  }
}

// The same search with every smaller limit: too few nodes give no verdict, enough the same one.
// Not in corners: there a run learns from those before it.
static void check_limits(const stow_problem* problem, uint64_t capacity, stowi_place_way way) {
  bench b;
  if (way.where == STOWI_PLACE_CORNER) {
    return;
  }
  open(&b, problem, STOWI_PLACE_RULE_ALL & ~STOWI_PLACE_RULE_SEEN);
  stowi_place_run what = {capacity, 20000, way, 0, 1};
  stowi_place_verdict verdict = run(&b, &what);
  uint64_t needed = stowi_place_exact_nodes(b.exact);
  bool is_enough = false;
  // Else half are for another search.
  for (what.nodes = 0; b.model->is_ordered && what.nodes <= needed && needed < 500; ++what.nodes) {
    stowi_place_verdict found = run(&b, &what);
    is_enough = is_enough || found == verdict;
    CHECK(found == (is_enough ? verdict : STOWI_PLACE_UNKNOWN));
    CHECK_U64(stowi_place_exact_nodes(b.exact),
              is_enough ? needed : what.nodes + stowi_place_exact_depth(b.exact));
  }
  CHECK(is_enough || !b.model->is_ordered || needed >= 500);
  close(&b);
}

TEST(ARunSpendsItsNodesAndNoMore) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    for (unsigned kinds = TINY_FULL; kinds < TINY_KINDS; ++kinds) {
      stow_problem* problem = tiny_problem_make(seed, kinds);
      stow_load load = {.struct_size = sizeof(load)};
      CHECK(stow_problem_load(problem, stow_allocator_default(), NULL, &load) == STOW_OK);
      check_limits(problem, load.lower_bound + seed % 2, way_at(seed + kinds));
      stow_problem_destroy(problem);
    }
  }
}

TEST(ARunEndsWhenTheQuestIsDone) {
  stow_problem* problem = problem_family_make(problem_family_find("tiled"), 1, 200, NULL);
  bench b;
  open(&b, problem, STOWI_PLACE_RULE_ALL);
  b.quest.options.nodes = 1000;
  stow_load load = {.struct_size = sizeof(load)};
  CHECK(stow_problem_load(problem, stow_allocator_default(), NULL, &load) == STOW_OK);
  stowi_place_run what = {
      load.lower_bound, STOW_PLACE_NO_LIMIT, {STOWI_PLACE_LOWEST, STOWI_PLACE_TWA}, 0, 1};
  CHECK(run(&b, &what) == STOWI_PLACE_UNKNOWN);
  CHECK(b.quest.nodes >= 1000 && b.quest.nodes < 1000 + 200);
  close(&b);
  stow_problem_destroy(problem);
}

// All ways at the optimum. Returns how often the trail was too short.
static uint64_t find_all_ways(bench* b, const sample* s) {
  uint64_t cut_short = 0;
  for (uint64_t w = 0; w < WAYS; ++w) {
    stowi_place_run what = {s->optimum, 20000, way_at(w), 0, 1};
    stowi_place_verdict verdict = run(b, &what);
    bool is_short = stowi_place_exact_state(b->exact)->out_of_trail;
    CHECK(verdict == STOWI_PLACE_FOUND || (verdict == STOWI_PLACE_UNKNOWN && is_short));
    cut_short += is_short;
  }
  return cut_short;
}

// If the trail is too short for the search, it reports that, never that there is no placement; and
// it remembers nothing wrong.
TEST(AShortTrailProvesNothing) {
  uint64_t cut_short = 0;
  uint64_t seeds = test_is_long() ? 5000 : 300;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    unsigned kinds = TINY_FULL | (unsigned)(seed % TINY_FULL);
    sample s = {tiny_problem_make(seed, kinds), 0, seed, kinds};
    s.optimum = brute_height(s.problem);
    bench b;
    open(&b, s.problem, STOWI_PLACE_RULE_ALL);
    stowi_place_state* state = stowi_place_exact_state(b.exact);
    size_t capacity = state->trail_capacity;
    state->trail_capacity = 7 * (size_t)b.model->count + b.model->section_count + seed % 90;
    cut_short += find_all_ways(&b, &s);
    state->trail_capacity = capacity;
    CHECK_U64(find_all_ways(&b, &s), 0);
    close(&b);
    stow_problem_destroy(s.problem);
  }
  CHECK(cut_short > 0);
}

// ---------------------------------------------------------------------------------------------
// Windows

static void add(stow_problem* problem, stow_buffer desc) {
  CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
}

static stow_buffer buffer_of(uint64_t size, uint64_t begin, uint64_t end, uint64_t alignment) {
  stow_buffer desc;
  stow_buffer_init(&desc);
  desc.size = size;
  desc.begin = begin;
  desc.end = end;
  desc.alignment = alignment;
  return desc;
}

static void add_window(stow_problem* problem, uint64_t begin, uint64_t end, uint64_t low,
                       uint64_t high) {
  stow_window_desc window;
  stow_window_desc_init(&window);
  window.begin = begin;
  window.end = end;
  window.low = low;
  window.high = high;
  CHECK(stow_problem_add_window(problem, &window, NULL) == STOW_OK);
}

static void check_sample(stow_problem* problem) {
  sample s = {problem, brute_height(problem), 0, 0};
  tally t = {0, 0, 0};
  compare(&s, STOWI_PLACE_RULE_ALL, 0, 1, STOW_PLACE_NO_LIMIT, &t);
  stow_problem_destroy(problem);
}

// A few shapes of windows, several of each: holes and twins.
static stow_problem* make_shapes(uint64_t seed) {
  test_random random = {seed};
  stow_problem* problem = NULL;
  CHECK(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  for (int shape = 0; shape < 3; ++shape) {
    uint64_t size = 2 + test_random_below(&random, 6);
    uint64_t alignment = UINT64_C(1) << test_random_below(&random, 2);
    uint64_t low[3];
    uint64_t high[3];
    for (int step = 0; step < 3; ++step) {
      low[step] = test_random_below(&random, size);
      high[step] = low[step] + 1 + test_random_below(&random, size - low[step]);
    }
    for (uint64_t copies = test_random_below(&random, 4); copies > 0; --copies) {
      add(problem, buffer_of(size, 0, 3, alignment));
      for (uint64_t step = 0; step < 3; ++step) {
        add_window(problem, step, step + 1, low[step], high[step]);
      }
    }
  }
  return problem;
}

TEST(HolesAndTwinsAgreeWithBruteForce) {
  uint64_t seeds = test_is_long() ? 3000 : 30;
  tally t = {0, 0, 0};
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    sample s = {make_shapes(seed), 0, seed, 0};
    if (stow_problem_count(s.problem) > 0) {
      s.optimum = brute_height(s.problem);
      compare(&s, (uint32_t)(seed * 7919 % RULE_SETS), seed % 5, 5, 1500, &t);
      compare(&s, STOWI_PLACE_RULE_ALL, 0, 1, 20000, &t);
    }
    stow_problem_destroy(s.problem);
  }
  CHECK(t.unknown < t.compared / 4);
}

// Five bytes aligned to 4 block 8 for their like, but a window that begins 2 bytes above an aligned
// offset may follow after 6.
TEST(PaddingEndsAtTheNextWindow) {
  stow_problem* problem = NULL;
  CHECK(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  for (int i = 0; i < 2; ++i) {
    add(problem, buffer_of(5, 0, 2, 4));
    add(problem, buffer_of(4, 1, 3, 4));
    add_window(problem, 1, 2, 2, 4);
  }
  CHECK_U64(brute_height(problem), 16);
  check_sample(problem);
}

// Its bottom is used first, its top later: the other one fits in between, and nowhere else.
TEST(AHoleInAWindowIsFound) {
  stow_problem* problem = NULL;
  CHECK(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  add(problem, buffer_of(9, 0, 2, 1));
  add_window(problem, 0, 1, 0, 3);
  add_window(problem, 1, 2, 6, 9);
  add(problem, buffer_of(3, 0, 2, 1));
  bench b;
  open(&b, problem, STOWI_PLACE_RULE_ALL);
  CHECK(!b.model->is_ordered);
  stowi_place_run what = {9, STOW_PLACE_NO_LIMIT, {STOWI_PLACE_LOWEST, STOWI_PLACE_TWA}, 0, 1};
  CHECK(run(&b, &what) == STOWI_PLACE_FOUND);
  CHECK_U64(b.offsets[1], 3);
  close(&b);
  check_sample(problem);
}

// Pairs with too many holes are walked instead: the answers are the same.
TEST(AnswersDoNotDependOnTheTableOfClashes) {
  uint64_t seeds = test_is_long() ? 200 : 40;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    stow_problem* problem = tiny_problem_make(seed, TINY_WINDOWS | (unsigned)seed % TINY_WINDOWS);
    uint64_t optimum = brute_height(problem);
    bench b;
    open(&b, problem, STOWI_PLACE_RULE_ALL);
    stowi_place_clashes_free(&b.model->clashes, b.model);
    stowi_place_run what = {optimum, STOW_PLACE_NO_LIMIT, way_at(seed), 0, 1};
    CHECK(run(&b, &what) == STOWI_PLACE_FOUND);
    what.capacity = optimum - 1;
    CHECK(run(&b, &what) == STOWI_PLACE_REFUTED);
    close(&b);
    stow_problem_destroy(problem);
  }
}

// A comb, each tooth at another time: others fit between the teeth.
TEST(ManyHolesAreUsed) {
  stow_problem* problem = NULL;
  CHECK(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  add(problem, buffer_of(401, 0, 41, 1));
  for (uint64_t i = 0; i < 41; ++i) {
    add_window(problem, i, i + 1, 10 * i, 10 * i + 1);
  }
  for (uint64_t i = 0; i < 4; ++i) {
    add(problem, buffer_of(9 - i, 0, 41, 1));
  }
  bench b;
  open(&b, problem, STOWI_PLACE_RULE_ALL);
  CHECK(b.model->clashes.first == NULL);
  CHECK(!b.model->is_ordered);
  stowi_place_run what = {401, STOW_PLACE_NO_LIMIT, {STOWI_PLACE_LOWEST, STOWI_PLACE_TWA}, 0, 1};
  CHECK(run(&b, &what) == STOWI_PLACE_FOUND);
  close(&b);
  stow_problem_destroy(problem);
}

// ---------------------------------------------------------------------------------------------
// The prover

static stow_status prove_once(stow_allocator allocator, void* user) {
  const stow_problem* problem = (const stow_problem*)user;
  stow_diag diag;
  stow_diag_init(&diag);
  stowi_place_quest quest = endless(problem, allocator);
  quest.diag = &diag;
  stowi_place_prover* prover = NULL;
  stow_status status = stowi_place_prover_create(&quest, STOWI_PLACE_RULE_ALL, &prover);
  CHECK((prover == NULL) == (status != STOW_OK));
  CHECK(status == STOW_OK || diag.status == status);
  stowi_place_prover_destroy(prover);
  return status;
}

TEST(AProverSurvivesEveryFailedAllocation) {
  for (unsigned kinds = 0; kinds < TINY_KINDS; ++kinds) {
    stow_problem* problem = tiny_problem_make(5, kinds);
    CHECK(test_fault_sweep(prove_once, problem) > 20);
    stow_problem_destroy(problem);
  }
}

static stow_placement* place_exactly(const stow_problem* problem) {
  stow_place_options options;
  stow_place_options_init(&options);
  stow_placement* placement = NULL;
  const stow_strategy* exact = stow_strategy_find(stow_str_of("exact"));
  CHECK(exact->place(problem, &options, stow_allocator_default(), NULL, &placement) == STOW_OK);
  return placement;
}

TEST(TooLargeProblemsAreRefused) {
  stow_problem* problem =
      problem_family_make(problem_family_find("chain"), 1, STOWI_PLACE_MODEL_MAX_BUFFERS + 1, NULL);
  stowi_place_quest quest = endless(problem, stow_allocator_default());
  stowi_place_prover* prover = NULL;
  CHECK(stowi_place_prover_create(&quest, STOWI_PLACE_RULE_ALL, &prover) == STOW_ERR_LIMIT);
  CHECK(prover == NULL);
  stow_placement* placement = place_exactly(problem);
  CHECK_U64(stowi_place_placement_nodes(placement), 0);
  stow_placement_destroy(placement);
  stow_problem_destroy(problem);
}

// Offsets that do not matter are not tried one by one.
TEST(LargeWindowsWithHolesTakeFewNodes) {
  stow_problem* problem = NULL;
  CHECK(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  for (uint64_t i = 0; i < 4; ++i) {
    add(problem, buffer_of(900001 + i, 0, 2, 1));
    add_window(problem, i % 2, i % 2 + 1, 0, 100003);
    if (i % 2 == 0) {
      add_window(problem, 1, 2, 600011, 900001);
    }
  }
  bench b;
  open(&b, problem, STOWI_PLACE_RULE_ALL);
  CHECK(!b.model->is_ordered);
  CHECK_U64(b.model->unit, 1);
  close(&b);
  stow_placement* placement = place_exactly(problem);
  CHECK(stow_placement_outcome(placement) == STOW_OUTCOME_OPTIMAL);
  CHECK(stowi_place_placement_nodes(placement) < 10000);
  stow_placement_destroy(placement);
  stow_problem_destroy(problem);
}

// No byte is free at any step: the hardest kind of all.
TEST(SmallTiledProblemsAreSolvedToTheirKnownOptimum) {
  static const size_t counts[] = {8, 16, 24, 32, 40, 50, 60};
  uint64_t seeds = test_is_long() ? 40 : 4;
  for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); ++c) {
    for (uint64_t seed = 0; seed < seeds; ++seed) {
      uint64_t optimum;
      stow_problem* problem =
          problem_family_make(problem_family_find("tiled"), seed, counts[c], &optimum);
      stow_placement* placement = place_exactly(problem);
      test_check(stow_placement_height(placement) == optimum, __FILE__, __LINE__,
                 "%zu tiles, seed %llu: %llu, not %llu", counts[c], (unsigned long long)seed,
                 (unsigned long long)stow_placement_height(placement), (unsigned long long)optimum);
      CHECK(stow_placement_outcome(placement) == STOW_OUTCOME_OPTIMAL);
      stow_placement_destroy(placement);
      stow_problem_destroy(problem);
    }
  }
}
