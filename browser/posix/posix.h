// Calls of POSIX that wasi-libc does not declare. Included before every file of the command.
#ifndef STOWAGE_BROWSER_POSIX_H_
#define STOWAGE_BROWSER_POSIX_H_

#define _WASI_EMULATED_GETPID

#include <errno.h>
#include <stddef.h>

// Files have no modes.
static inline int fchmod(int file, unsigned mode) {
  (void)file;
  (void)mode;
  return 0;
}

// No path can be proven to lie in a folder, so files that a model names are not opened.
static inline char* realpath(const char* path, char* resolved) {
  (void)path;
  (void)resolved;
  errno = ENOENT;
  return NULL;
}

#endif  // STOWAGE_BROWSER_POSIX_H_
