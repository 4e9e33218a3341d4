// Workers: all of a range is done, once; the same bits for every number of threads.
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "exec/exec_case.h"
#include "exec/threads/pool.h"
#include "support/fault.h"
#include "support/test.h"

#define MOST 10000

typedef struct tally {
  atomic_uint done[MOST];
  atomic_uint busy[64];  // by worker
  atomic_uint shared;    // a worker had two ranges at a time
  atomic_uint outside;
  uint32_t workers;
} tally;

static void count_range(void* user, size_t begin, size_t end, uint32_t worker) {
  tally* t = (tally*)user;
  if (worker >= t->workers || end > MOST || begin >= end) {
    atomic_fetch_add(&t->outside, 1);
    return;
  }
  atomic_fetch_add(&t->shared, atomic_fetch_add(&t->busy[worker], 1));
  for (size_t i = begin; i < end; ++i) {
    atomic_fetch_add(&t->done[i], 1);
  }
  atomic_fetch_sub(&t->busy[worker], 1);
}

TEST(EveryItemIsProcessedOnce) {
  static tally t;
  for (uint32_t count = 1; count <= 5; ++count) {
    stowi_exec_workers* workers;
    REQUIRE(stowi_exec_workers_create(count, stow_allocator_default(), NULL, &workers) == STOW_OK);
    for (size_t size = 1; size <= MOST; size = size * 3 + 1) {
      for (size_t grain = 1; grain < 2 * size; grain *= 7) {
        memset(&t, 0, sizeof(t));
        t.workers = count;
        stowi_exec_workers_split(workers, size, grain, count_range, &t);
        size_t wrong = 0;
        for (size_t i = 0; i < MOST; ++i) {
          wrong += atomic_load(&t.done[i]) != (i < size ? 1u : 0u);
        }
        CHECK_U64(wrong, 0);
        CHECK_U64(atomic_load(&t.shared) + atomic_load(&t.outside), 0);
      }
    }
    stowi_exec_workers_destroy(workers);
  }
  stowi_exec_workers_destroy(NULL);
}

typedef struct sizes {
  size_t by_begin[MOST];  // of the range that begins there
} sizes;

static void note_range(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  ((sizes*)user)->by_begin[begin] = end - begin;
}

// Which worker has a range is left to chance, but not which ranges there are.
TEST(RangesShrinkDownToTheGrain) {
  static sizes s;
  static const size_t counts[] = {2, 9, 100, MOST};
  stowi_exec_workers* workers;
  REQUIRE(stowi_exec_workers_create(2, stow_allocator_default(), NULL, &workers) == STOW_OK);
  for (size_t i = 0; i < 4; ++i) {
    for (size_t grain = 1; grain < counts[i]; grain *= 5) {
      size_t before = counts[i];
      memset(&s, 0, sizeof(s));
      stowi_exec_workers_split(workers, counts[i], grain, note_range, &s);
      for (size_t at = 0; at < counts[i]; at += before) {
        size_t left = counts[i] - at;
        size_t size = s.by_begin[at];
        REQUIRE(size > 0 && size <= before);
        CHECK(size >= grain || size == left);
        CHECK(size <= grain || size <= left / 4);
        before = size;
      }
    }
  }
  stowi_exec_workers_destroy(workers);
}

TEST(IdleWorkersStop) {
  for (int i = 0; i < 50; ++i) {
    stowi_exec_workers* workers;
    REQUIRE(stowi_exec_workers_create(3, stow_allocator_default(), NULL, &workers) == STOW_OK);
    stowi_exec_workers_destroy(workers);
  }
}

static stow_status attempt(stow_allocator allocator, void* user) {
  stowi_exec_workers* workers;
  (void)user;
  stow_status status = stowi_exec_workers_create(2, allocator, NULL, &workers);
  stowi_exec_workers_destroy(workers);
  return status;
}

TEST(FailedAllocationsOfWorkersAreReported) { CHECK(test_fault_sweep(attempt, NULL) >= 2); }

TEST(BitsDoNotDependOnThreads) {
  static float x[4096], first[4096];
  for (size_t i = 0; i < 4096; ++i) {
    x[i] = (float)i * 0.37f - 700;
  }
  for (uint32_t threads = 1; threads <= 4; ++threads) {
    exec_case c;
    exec_case_begin(&c,
                    "%0 = input \"x\" : f32[4096]\n %1 = mul(%0, %0) : f32[4096]\n"
                    "%2 = add(%1, %0) : f32[4096]\n %3 = neg(%2) : f32[4096]\n return %3");
    c.prepare_options.threads = threads;
    REQUIRE(exec_case_make(&c) == STOW_OK);
    CHECK(exec_case_set(&c, "x", x, sizeof(x)) == STOW_OK);
    for (int run = 0; run < 20; ++run) {
      CHECK(stow_exec_run(c.exec, &c.diag) == STOW_OK);
    }
    stow_tensor tensor;
    CHECK(stow_exec_value(c.exec, 3, &c.diag, &tensor) == STOW_OK);
    if (threads == 1) {
      memcpy(first, tensor.data, sizeof(first));
    }
    CHECK(memcmp(first, tensor.data, sizeof(first)) == 0);
    exec_case_end(&c);
  }
}
