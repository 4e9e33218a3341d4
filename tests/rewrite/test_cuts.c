// Cuts of chains of random costs: the smallest peak, and the cheapest way below it, are those that
// trying all ways finds.
#include <inttypes.h>
#include <stdio.h>

#include "rewrite/cuts.h"
#include "support/fault.h"
#include "support/test.h"

#define MOST 9
#define CHAINS 3000
#define CHAINS_LONG 100000

typedef struct chain {
  size_t count;
  uint64_t loads[MOST];
  uint64_t works[MOST];
  uint64_t costs[MOST][MOST + 1];  // by first and end
  size_t asked;                    // about costs below the limit
} chain;

static chain draw(uint64_t seed) {
  test_random random = {seed};
  chain c = {.count = 1 + test_random_below(&random, MOST)};
  for (size_t i = 0; i < c.count; ++i) {
    c.loads[i] = test_random_below(&random, 60);
    c.works[i] = test_random_below(&random, 5);
    for (size_t end = i + 1; end <= c.count; ++end) {
      bool is_possible = test_random_below(&random, 3) != 0;
      c.costs[i][end] = is_possible ? test_random_below(&random, 60) : UINT64_MAX;
    }
  }
  return c;
}

// What is not below the limit is said as badly as is allowed.
static stow_status cost(void* user, size_t first, size_t end, uint64_t limit, stow_diag* diag,
                        uint64_t* out_bytes) {
  chain* c = (chain*)user;
  (void)diag;
  *out_bytes = c->costs[first][end] < limit ? c->costs[first][end] : limit;
  ++c->asked;
  return STOW_OK;
}

static stowi_rewrite_cuts begin(chain* c, stow_allocator allocator) {
  return (stowi_rewrite_cuts){.allocator = allocator,
                              .count = c->count,
                              .loads = c->loads,
                              .works = c->works,
                              .cost = cost,
                              .user = c};
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

// All ways to go on at |at|: each is noted with its peak and work.
static void try_all(const chain* c, size_t at, uint64_t peak, uint64_t work, uint64_t limit,
                    uint64_t* best_peak, uint64_t* best_work) {
  if (at == c->count) {
    *best_peak = peak < *best_peak ? peak : *best_peak;
    *best_work = peak <= limit && work < *best_work ? work : *best_work;
    return;
  }
  try_all(c, at + 1, larger(peak, c->loads[at]), work, limit, best_peak, best_work);
  for (size_t end = at + 1; end <= c->count; ++end) {
    work += c->works[end - 1];
    try_all(c, end, larger(peak, c->costs[at][end]), work, limit, best_peak, best_work);
  }
}

// What was chosen has this peak and work.
static void measure(const chain* c, const stowi_rewrite_cuts* cuts, uint64_t* out_peak,
                    uint64_t* out_work) {
  *out_peak = *out_work = 0;
  for (size_t end = c->count; end > 0;) {
    size_t first = cuts->from[end];
    *out_peak = larger(*out_peak, first == end ? c->loads[end - 1] : c->costs[first][end]);
    for (size_t i = first; i < end; ++i) {
      *out_work += c->works[i];
    }
    end = first == end ? end - 1 : first;
  }
}

TEST(CutsAreTheBestOfAll) {
  size_t asked = 0, pairs = 0;
  for (uint64_t seed = 1; seed <= (test_is_long() ? CHAINS_LONG : CHAINS); ++seed) {
    chain c = draw(seed);
    stowi_rewrite_cuts cuts = begin(&c, stow_allocator_default());
    uint64_t floor = seed % 4 == 0 ? seed % 40 : 0;
    uint64_t peak, best_peak = UINT64_MAX, best_work = UINT64_MAX;
    REQUIRE(stowi_rewrite_cuts_init(&cuts, NULL) == STOW_OK);
    CHECK(stowi_rewrite_cuts_peak(&cuts, floor, NULL, &peak) == STOW_OK);
    uint64_t limit = peak + seed % 7;
    try_all(&c, 0, 0, 0, limit, &best_peak, &best_work);
    test_check(peak == larger(best_peak, floor), __FILE__, __LINE__,
               "seed %" PRIu64 ": peak %" PRIu64 ", not %" PRIu64, seed, peak, best_peak);
    CHECK(stowi_rewrite_cuts_choose(&cuts, limit, NULL) == STOW_OK);
    uint64_t chosen_peak, chosen_work;
    measure(&c, &cuts, &chosen_peak, &chosen_work);
    test_check(chosen_peak <= limit && chosen_work == best_work, __FILE__, __LINE__,
               "seed %" PRIu64 ": peak %" PRIu64 " of %" PRIu64 ", work %" PRIu64 ", not %" PRIu64,
               seed, chosen_peak, limit, chosen_work, best_work);
    asked += c.asked;
    pairs += c.count * (c.count + 1) / 2;
    stowi_rewrite_cuts_free(&cuts);
  }
  printf("%zu questions about %zu pairs\n", asked, pairs);
  CHECK(asked < pairs);
}

static stow_status cut_once(stow_allocator allocator, void* user) {
  stowi_rewrite_cuts cuts = begin((chain*)user, allocator);
  stow_status status = stowi_rewrite_cuts_init(&cuts, NULL);
  stowi_rewrite_cuts_free(&cuts);
  return status;
}

TEST(FailedAllocationsAreReported) {
  chain c = draw(3);
  CHECK(test_fault_sweep(cut_once, &c) > 3);
}
