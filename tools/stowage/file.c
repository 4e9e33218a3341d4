// Reading whole files, pipes and devices: there is no limit but memory, and no trust in a size that
// the system tells beforehand.
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool cli_is_stdin(const char* path) { return strcmp(path, "-") == 0; }

const char* cli_file_label(const char* path) { return cli_is_stdin(path) ? "<stdin>" : path; }

bool cli_same_file(const char* input, const char* output) {
  struct stat a;
  struct stat b;
  if (cli_is_stdin(output) || stat(output, &b) != 0 || !S_ISREG(b.st_mode)) {
    return false;
  }
  int failed = cli_is_stdin(input) ? fstat(STDIN_FILENO, &a) : stat(input, &a);
  return failed == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool cli_reads_once(const char* path) {
  struct stat info;
  return cli_is_stdin(path) ||
         (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

static cli_exit fail_read(const char* path, int error) {
  return cli_fail(CLI_BROKEN, "cannot read '%s': %s", cli_file_label(path), strerror(error));
}

static cli_exit read_all(const char* path, int descriptor, stow_string* content) {
  char block[1 << 16];
  for (;;) {
    ssize_t size = read(descriptor, block, sizeof block);
    if (size == 0) {
      return CLI_YES;
    }
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size < 0) {
      return fail_read(path, errno);
    }
    if (stow_string_append(content, block, (size_t)size) != STOW_OK) {
      return cli_fail_memory();
    }
  }
}

cli_exit cli_file_read(const char* path, stow_string* content) {
  if (cli_is_stdin(path)) {
    return read_all(path, STDIN_FILENO, content);
  }
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return cli_fail(CLI_BROKEN, "cannot open '%s': %s", path, strerror(errno));
  }
  struct stat info;
  cli_exit code;
  if (fstat(descriptor, &info) == 0 && S_ISDIR(info.st_mode)) {
    code = fail_read(path, EISDIR);
  } else {
    code = read_all(path, descriptor, content);
  }
  close(descriptor);
  return code;
}
