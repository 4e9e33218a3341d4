// Mappings where the system has none: every file refuses, as those of some file systems do, and is
// read instead.
#ifndef STOWAGE_BROWSER_SYS_MMAN_H_
#define STOWAGE_BROWSER_SYS_MMAN_H_

#include <errno.h>
#include <stddef.h>
#include <sys/types.h>

#define PROT_READ 1
#define MAP_PRIVATE 2
#define MAP_FAILED ((void*)-1)
#define POSIX_MADV_NORMAL 0
#define POSIX_MADV_RANDOM 1

static inline void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
  (void)at;
  (void)size;
  (void)protection;
  (void)flags;
  (void)file;
  (void)offset;
  errno = ENODEV;
  return MAP_FAILED;
}

static inline int munmap(void* at, size_t size) {
  (void)at;
  (void)size;
  return 0;
}

static inline int posix_madvise(void* at, size_t size, int advice) {
  (void)at;
  (void)size;
  (void)advice;
  return 0;
}

#endif  // STOWAGE_BROWSER_SYS_MMAN_H_
