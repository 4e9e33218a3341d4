// Cases in processes of their own: a crash, a hang and a leak are failures of that case alone.
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "onnx/suite/suite_case.h"

#define MAX_SECONDS 20

static suite_result died(int status) {
  suite_result result = {.outcome = SUITE_FAILED};
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    snprintf(result.reason, sizeof(result.reason), "took more than %d s", MAX_SECONDS);
  } else if (WIFSIGNALED(status)) {
    snprintf(result.reason, sizeof(result.reason), "crashed with signal %d", WTERMSIG(status));
  } else {
    snprintf(result.reason, sizeof(result.reason), "exited with %d", WEXITSTATUS(status));
  }
  return result;
}

suite_result suite_run_case(const char* model, const char* inputs, const char* outputs,
                            bool verbose) {
  suite_result result = {.outcome = SUITE_FAILED, .reason = "cannot start a process"};
  int ends[2];
  int status = 0;
  fflush(stdout);
  if (pipe(ends) != 0) {
    return result;
  }
  pid_t child = fork();
  if (child == 0) {
    alarm(MAX_SECONDS);
    result = suite_run_here(model, inputs, outputs, verbose);
    fflush(stdout);
    bool is_written = write(ends[1], &result, sizeof(result)) == (ssize_t)sizeof(result);
    _exit(is_written ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  close(ends[1]);
  if (child > 0) {
    // A result is smaller than PIPE_BUF: it comes whole or not at all.
    bool is_read = read(ends[0], &result, sizeof(result)) == (ssize_t)sizeof(result);
    waitpid(child, &status, 0);
    result = is_read && status == 0 ? result : died(status);
  }
  close(ends[0]);
  return result;
}
