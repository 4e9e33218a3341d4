// Threads where the system has one: none can be started, and locks have nobody to wait for.
#ifndef STOWAGE_BROWSER_PTHREAD_H_
#define STOWAGE_BROWSER_PTHREAD_H_

#include <errno.h>

typedef int pthread_t, pthread_mutex_t, pthread_cond_t;

static inline int pthread_create(pthread_t* thread, const void* attributes, void* (*start)(void*),
                                 void* user) {
  (void)thread;
  (void)attributes;
  (void)start;
  (void)user;
  return EAGAIN;
}

static inline int pthread_join(pthread_t thread, void** out_result) {
  (void)thread;
  (void)out_result;
  return ESRCH;
}

#define STOWAGE_NOTHING_TO_DO(name, type)           \
  static inline int pthread_##name(type* subject) { \
    (void)subject;                                  \
    return 0;                                       \
  }
STOWAGE_NOTHING_TO_DO(mutex_destroy, pthread_mutex_t)
STOWAGE_NOTHING_TO_DO(mutex_lock, pthread_mutex_t)
STOWAGE_NOTHING_TO_DO(mutex_unlock, pthread_mutex_t)
STOWAGE_NOTHING_TO_DO(cond_destroy, pthread_cond_t)
STOWAGE_NOTHING_TO_DO(cond_signal, pthread_cond_t)
STOWAGE_NOTHING_TO_DO(cond_broadcast, pthread_cond_t)
#undef STOWAGE_NOTHING_TO_DO

static inline int pthread_mutex_init(pthread_mutex_t* lock, const void* attributes) {
  (void)attributes;
  *lock = 0;
  return 0;
}

static inline int pthread_cond_init(pthread_cond_t* condition, const void* attributes) {
  (void)attributes;
  *condition = 0;
  return 0;
}

static inline int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* lock) {
  (void)condition;
  (void)lock;
  return 0;
}

#endif  // STOWAGE_BROWSER_PTHREAD_H_
