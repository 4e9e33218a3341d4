// Signals where nobody sends one: actions can be set and never run.
#ifndef STOWAGE_BROWSER_SIGNAL_H_
#define STOWAGE_BROWSER_SIGNAL_H_

typedef int sig_atomic_t;
typedef unsigned sigset_t;

#define SIGHUP 1
#define SIGINT 2
#define SIGTERM 15
#define SIGXFSZ 25
#define SA_RESTART 1
#define SIG_BLOCK 0
#define SIG_SETMASK 2
#define SIG_DFL ((void (*)(int))0)
#define SIG_IGN ((void (*)(int))1)

struct sigaction {
  void (*sa_handler)(int);
  int sa_flags;
  sigset_t sa_mask;
};

static inline int sigemptyset(sigset_t* set) {
  *set = 0;
  return 0;
}

static inline int sigaddset(sigset_t* set, int number) {
  *set |= 1u << number;
  return 0;
}

static inline int sigprocmask(int how, const sigset_t* next, sigset_t* out_now) {
  (void)how;
  (void)next;
  if (out_now) {
    *out_now = 0;
  }
  return 0;
}

static inline int sigaction(int number, const struct sigaction* next, struct sigaction* out_now) {
  (void)number;
  (void)next;
  if (out_now) {
    *out_now = (struct sigaction){SIG_DFL, 0, 0};
  }
  return 0;
}

static inline void (*signal(int number, void (*action)(int)))(int) {
  (void)number;
  (void)action;
  return SIG_DFL;
}

#endif  // STOWAGE_BROWSER_SIGNAL_H_
