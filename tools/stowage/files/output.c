// Output. A file is written under another name in the same directory and then renamed over the
// target, so that a reader, or a build that is interrupted, sees the old content or the new one,
// never a part. What is not a regular file (a device, a pipe) cannot be replaced and is written in
// place. A link to a file stays a link: its target is replaced. Signals wait for as long as the
// other file exists, so that an interrupted run leaves nothing behind.
#include "files/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "files/file.h"
#include "terminal/terminal.h"

static cli_exit fail_write(const cli_output* output, int error) {
  return cli_fail(CLI_BROKEN, "cannot write '%s': %s", output->label, strerror(error));
}

static bool set_string(stow_string* string, const char* text) {
  string->size = 0;
  return stow_string_append(string, text, strlen(text)) == STOW_OK;
}

// Follows links, so that the file behind them is the one to be replaced.
static bool find_target(cli_output* output) {
  char* resolved = realpath(output->path, NULL);
  bool found = set_string(&output->target, resolved != NULL ? resolved : output->path);
  free(resolved);
  return found;
}

void cli_hold_signals(sigset_t* out_held) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGHUP);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  (void)sigprocmask(SIG_BLOCK, &signals, out_held);
}

// Creates a file beside the target that nobody else uses; the target's name may have no room for
// another ending. Returns its descriptor, or -1 with errno set.
static int create_scratch(cli_output* output) {
  const char* slash = strrchr(output->target.data, '/');
  size_t folder_size = slash == NULL ? 0 : (size_t)(slash + 1 - output->target.data);
  for (unsigned attempt = 0; attempt < 1000; ++attempt) {
    char name[64];
    snprintf(name, sizeof name, ".stowage-%ld-%u.tmp", (long)getpid(), attempt);
    output->scratch.size = 0;
    if (stow_string_append(&output->scratch, output->target.data, folder_size) != STOW_OK ||
        stow_string_append(&output->scratch, name, strlen(name)) != STOW_OK) {
      errno = ENOMEM;
      break;
    }
    int descriptor = open(output->scratch.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      return descriptor;
    }
    if (errno != EEXIST) {
      break;
    }
  }
  output->scratch.size = 0;
  return -1;
}

void cli_output_init(cli_output* output) {
  *output = (cli_output){.label = "<stdout>"};
  stow_string_init(&output->target, stow_allocator_default());
  stow_string_init(&output->scratch, stow_allocator_default());
}

cli_exit cli_output_open(cli_output* output, const char* path) {
  if (path != NULL && !cli_is_stdin(path)) {
    return cli_output_open_as(output, path, path);
  }
  cli_output_init(output);
  output->width = cli_terminal_width(STDOUT_FILENO);
  output->file = stdout;
  output->colours = cli_terminal_colours(STDOUT_FILENO);
  return CLI_YES;
}

cli_exit cli_output_open_as(cli_output* output, const char* path, const char* label) {
  cli_output_init(output);
  output->path = path;
  output->label = label;
  output->width = cli_terminal_width(-1);
  struct stat info;
  bool exists = stat(output->path, &info) == 0;
  int descriptor = -1;
  if (exists && !S_ISREG(info.st_mode)) {
    descriptor = open(output->path, O_WRONLY | O_CLOEXEC);
  } else {
    if (!find_target(output)) {
      return cli_fail_memory();
    }
    cli_hold_signals(&output->held);
    descriptor = create_scratch(output);
    if (descriptor < 0) {
      (void)sigprocmask(SIG_SETMASK, &output->held, NULL);
    }
    if (descriptor >= 0 && exists) {
      // A file of another owner may refuse; the new file then has the mode of any new file.
      (void)fchmod(descriptor, info.st_mode & 07777);
    }
  }
  if (descriptor < 0) {
    return fail_write(output, errno);
  }
  output->file = fdopen(descriptor, "w");
  if (output->file == NULL) {
    int error = errno;
    close(descriptor);
    return fail_write(output, error);
  }
  return CLI_YES;
}

static void note_error(cli_output* output, bool failed) {
  if (failed && output->error == 0) {
    output->error = errno != 0 ? errno : EIO;
  }
}

bool cli_output_flush(cli_output* output) {
  errno = 0;
  note_error(output, fflush(output->file) != 0);
  return output->error == 0;
}

cli_exit cli_output_close(cli_output* output, bool keep) {
  if (output->file != NULL) {
    errno = 0;
    // Closing standard output as well shows what only then fails, and nothing is written there
    // afterwards.
    note_error(output, fclose(output->file) != 0);
    output->file = NULL;
  }
  bool failed = output->error != 0;
  if (output->scratch.size > 0) {
    if (keep && !failed) {
      note_error(output, rename(output->scratch.data, output->target.data) != 0);
    }
    if (!keep || output->error != 0) {
      (void)unlink(output->scratch.data);
    }
    (void)sigprocmask(SIG_SETMASK, &output->held, NULL);
  }
  stow_string_free(&output->target);
  stow_string_free(&output->scratch);
  return output->error == 0 ? CLI_YES : fail_write(output, output->error);
}

cli_exit cli_output_end(cli_output* output, cli_exit code) {
  cli_exit closed = cli_output_close(output, code == CLI_YES);
  return code != CLI_YES ? code : closed;
}

static stow_status write_bytes(void* user, const char* data, size_t size) {
  cli_output* output = user;
  if (output->error == 0) {
    errno = 0;
    note_error(output, fwrite(data, 1, size, output->file) != size);
  }
  return output->error == 0 ? STOW_OK : STOW_ERR_IO;
}

stow_writer cli_output_writer(cli_output* output) { return (stow_writer){write_bytes, output}; }

void cli_print(cli_output* output, const char* format, ...) {
  if (output->error != 0) {
    return;
  }
  va_list arguments;
  va_start(arguments, format);
  errno = 0;
  note_error(output, vfprintf(output->file, format, arguments) < 0);
  va_end(arguments);
}

void cli_print_json(cli_output* output, stow_str text) {
  (void)stowi_put_json(cli_output_writer(output), text, false);
}

stow_report_options cli_output_options(const cli_output* output) {
  stow_report_options options;
  stow_report_options_init(&options);
  options.width = output->width;
  options.colours = output->colours;
  return options;
}

cli_exit cli_output_reported(stow_status status, const stow_diag* diag) {
  return status == STOW_OK || status == STOW_ERR_IO ? CLI_YES : cli_fail_diag(status, diag);
}

void cli_output_lack_memory(cli_output* output) {
  errno = ENOMEM;
  note_error(output, true);
}
