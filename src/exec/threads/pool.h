// A few threads that share one piece of work at a time.
#ifndef STOWAGE_SRC_EXEC_THREADS_POOL_H_
#define STOWAGE_SRC_EXEC_THREADS_POOL_H_

#include <stowage/kernel.h>

typedef struct stowi_exec_workers stowi_exec_workers;

// |count| workers, of which the caller of stowi_exec_workers_split is one: count - 1 threads are
// started here, and none later. STOW_ERR_LIMIT where the system refuses one.
stow_status stowi_exec_workers_create(uint32_t count, stow_allocator allocator, stow_diag* diag,
                                      stowi_exec_workers** out_workers);
// Waits for the threads to end.
void stowi_exec_workers_destroy(stowi_exec_workers* workers);

// A stow_splitter's function; |pool| is a stowi_exec_workers. Never called by two threads at once,
// nor from within a task.
void stowi_exec_workers_split(void* pool, size_t count, size_t grain, stow_split_task task,
                              void* user);

// How many of |left| items one of |count| workers claims: a share of what is left for all of them,
// so that the last ones are small, but |grain| at least.
static inline size_t stowi_exec_workers_share(uint32_t count, size_t left, size_t grain) {
  size_t share = left / ((size_t)count * 2);
  share = share > grain ? share : grain;
  return share < left ? share : left;
}

#endif  // STOWAGE_SRC_EXEC_THREADS_POOL_H_
