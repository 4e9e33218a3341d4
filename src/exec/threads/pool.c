// Workers that are started once and sleep between jobs.
//
// A job is a range that is claimed in chunks with one atomic counter, so that a worker which is
// slow, or woken late, takes less of it. Each chunk is a share of what is left, down to the grain
// (guided self-scheduling; Polychronopoulos and Kuck, 1987): the first ones are long, and the last
// ones so short that all workers end together. Which worker computes a chunk is left to chance;
// kernels give the same bits whoever does. The caller works too. When nothing is left to claim it
// closes the job, which nobody joins any more, and returns when those who did have left it: a job
// is no longer touched then, and can lie on the caller's stack. A worker that is woken late, on a
// machine that is busy with other things, is thus not waited for.
//
// Jobs follow each other closely while a model runs, so a worker looks out for the next one for a
// moment before it sleeps, and so does the caller for the last worker. A job costs two passes
// through a lock per worker.
#include "exec/threads/pool.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/diag.h"

// How often a thread looks before it sleeps, some 30 us: about what it costs to be woken, and more
// than what is between nearly all jobs of a model (docs/benchmarks.md).
#define LOOKS 1200

typedef struct range_job {
  stow_split_task task;
  void* user;
  size_t count;
  size_t grain;
} range_job;

typedef struct worker {
  stowi_exec_workers* workers;
  uint32_t index;  // the caller is 0
  pthread_t thread;
} worker;

struct stowi_exec_workers {
  stow_allocator allocator;
  uint32_t count;
  uint32_t started;  // threads
  pthread_mutex_t lock;
  pthread_cond_t has_job;   // or the end
  pthread_cond_t has_left;  // a worker, the job
  range_job job;
  atomic_size_t next;           // the first thing that nobody has claimed
  atomic_uint_fast64_t number;  // of the job; the workers wait for it to change
  atomic_uint_fast32_t busy;    // threads in the job; changes under the lock
  bool is_open;                 // the job can be joined
  bool is_ending;
  worker* list;
};

// The next chunk; false: nothing is left.
static bool claim(stowi_exec_workers* workers, const range_job* job, size_t* out_begin,
                  size_t* out_end) {
  size_t begin = atomic_load_explicit(&workers->next, memory_order_relaxed);
  size_t end;
  do {
    if (begin >= job->count) {
      return false;
    }
    end = begin + stowi_exec_workers_share(workers->count, job->count - begin, job->grain);
  } while (!atomic_compare_exchange_weak_explicit(&workers->next, &begin, end, memory_order_relaxed,
                                                  memory_order_relaxed));
  *out_begin = begin;
  *out_end = end;
  return true;
}

static void work_on(stowi_exec_workers* workers, const range_job* job, uint32_t index) {
  size_t begin;
  size_t end;
  while (claim(workers, job, &begin, &end)) {
    job->task(job->user, begin, end, index);
  }
}

// Tells the processor that the thread only looks; it takes some dozen cycles.
static void rest(void) {
#if defined(__GNUC__) && defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__GNUC__) && defined(__aarch64__)
  __asm__ volatile("isb");
#endif
}

static uint_fast64_t number_of(stowi_exec_workers* workers) {
  return atomic_load_explicit(&workers->number, memory_order_relaxed);
}

// Joins a job other than |*number|, which becomes its number; false at the end.
static bool join_job(stowi_exec_workers* workers, uint_fast64_t* number, range_job* out_job) {
  for (int i = 0; i < LOOKS && number_of(workers) == *number; ++i) {
    rest();
  }
  pthread_mutex_lock(&workers->lock);
  while (!workers->is_ending && (number_of(workers) == *number || !workers->is_open)) {
    pthread_cond_wait(&workers->has_job, &workers->lock);
  }
  bool is_job = !workers->is_ending;
  if (is_job) {
    *number = number_of(workers);
    *out_job = workers->job;
    atomic_fetch_add_explicit(&workers->busy, 1, memory_order_relaxed);
  }
  pthread_mutex_unlock(&workers->lock);
  return is_job;
}

static void leave_job(stowi_exec_workers* workers) {
  pthread_mutex_lock(&workers->lock);
  if (atomic_fetch_sub_explicit(&workers->busy, 1, memory_order_relaxed) == 1) {
    pthread_cond_signal(&workers->has_left);
  }
  pthread_mutex_unlock(&workers->lock);
}

static void* run_worker(void* user) {
  worker* self = (worker*)user;
  range_job job;
  uint_fast64_t number = 0;
  while (join_job(self->workers, &number, &job)) {
    work_on(self->workers, &job, self->index);
    leave_job(self->workers);
  }
  return NULL;
}

static bool is_busy(stowi_exec_workers* workers) {
  return atomic_load_explicit(&workers->busy, memory_order_relaxed) != 0;
}

static void close_job(stowi_exec_workers* workers) {
  pthread_mutex_lock(&workers->lock);
  workers->is_open = false;
  pthread_mutex_unlock(&workers->lock);
  for (int i = 0; i < LOOKS && is_busy(workers); ++i) {
    rest();
  }
  pthread_mutex_lock(&workers->lock);
  while (is_busy(workers)) {
    pthread_cond_wait(&workers->has_left, &workers->lock);
  }
  pthread_mutex_unlock(&workers->lock);
}

void stowi_exec_workers_split(void* pool, size_t count, size_t grain, stow_split_task task,
                              void* user) {
  stowi_exec_workers* workers = (stowi_exec_workers*)pool;
  range_job job = {task, user, count, grain};
  if (workers->count == 1 || grain >= count) {
    task(user, 0, count, 0);
    return;
  }
  pthread_mutex_lock(&workers->lock);
  workers->job = job;
  workers->is_open = true;
  atomic_store_explicit(&workers->next, 0, memory_order_relaxed);
  atomic_fetch_add_explicit(&workers->number, 1, memory_order_relaxed);
  pthread_cond_broadcast(&workers->has_job);
  pthread_mutex_unlock(&workers->lock);
  work_on(workers, &job, 0);
  close_job(workers);
}

// ---------------------------------------------------------------------------------------------

static bool make_locks(stowi_exec_workers* workers) {
  if (pthread_mutex_init(&workers->lock, NULL) != 0) {
    return false;
  }
  if (pthread_cond_init(&workers->has_job, NULL) != 0) {
    pthread_mutex_destroy(&workers->lock);
    return false;
  }
  if (pthread_cond_init(&workers->has_left, NULL) != 0) {
    pthread_cond_destroy(&workers->has_job);
    pthread_mutex_destroy(&workers->lock);
    return false;
  }
  return true;
}

static bool start(stowi_exec_workers* workers) {
  for (uint32_t i = 1; i < workers->count; ++i) {
    worker* next = &workers->list[i];
    *next = (worker){.workers = workers, .index = i};
    if (pthread_create(&next->thread, NULL, run_worker, next) != 0) {
      return false;
    }
    workers->started = i;
  }
  return true;
}

static void free_workers(stowi_exec_workers* workers) {
  STOWI_ARRAY_FREE(workers->allocator, workers->list, workers->count);
  STOWI_DELETE(workers->allocator, workers);
}

stow_status stowi_exec_workers_create(uint32_t count, stow_allocator allocator, stow_diag* diag,
                                      stowi_exec_workers** out_workers) {
  *out_workers = NULL;
  stowi_exec_workers* workers = STOWI_NEW(allocator, stowi_exec_workers);
  STOW_TRY(stowi_need_memory(workers != NULL, diag));
  workers->allocator = allocator;
  workers->count = count;
  atomic_init(&workers->next, 0);
  atomic_init(&workers->number, 0);
  atomic_init(&workers->busy, 0);
  workers->list = STOWI_ARRAY_ZERO(allocator, worker, count);
  if (workers->list == NULL) {
    STOWI_DELETE(allocator, workers);
    return stowi_fail_memory(diag);
  }
  if (!make_locks(workers)) {
    free_workers(workers);
    return stowi_fail(diag, STOW_ERR_OUT_OF_MEMORY, "the system has no locks left");
  }
  if (!start(workers)) {
    uint32_t started = workers->started;
    stowi_exec_workers_destroy(workers);
    return stowi_fail(diag, STOW_ERR_OUT_OF_MEMORY, "only %u of %u threads could be started",
                      (unsigned)started + 1, (unsigned)count);
  }
  *out_workers = workers;
  return STOW_OK;
}

void stowi_exec_workers_destroy(stowi_exec_workers* workers) {
  if (workers == NULL) {
    return;
  }
  pthread_mutex_lock(&workers->lock);
  workers->is_ending = true;
  pthread_cond_broadcast(&workers->has_job);
  pthread_mutex_unlock(&workers->lock);
  for (uint32_t i = 1; i <= workers->started; ++i) {
    pthread_join(workers->list[i].thread, NULL);
  }
  pthread_cond_destroy(&workers->has_left);
  pthread_cond_destroy(&workers->has_job);
  pthread_mutex_destroy(&workers->lock);
  free_workers(workers);
}
