// Mapping instead of reading: opening a model of gigabytes costs what its structure costs, and
// weights come into memory when they are first touched, if ever. Where nothing can be mapped, a
// file is a source, which is read by parts and at the same cost.
//
// A model is untrusted and names other files. They must lie in its folder: names that are
// absolute or go up are refused, and links are resolved before the result is compared with the
// folder, so that no link leads out of it either.
#define _XOPEN_SOURCE 700  // realpath
#define _DEFAULT_SOURCE    // madvise

#include "onnx/reader/map.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

static const char* error_text(int error) {
  switch (error) {
    case ENOENT: return "no such file";
    case EACCES:
    case EPERM: return "permission denied";
    case ENOTDIR: return "a path component is not a directory";
    case ENAMETOOLONG: return "the path is too long";
    case ELOOP: return "too many links";
    case EMFILE:
    case ENFILE: return "too many open files";
    case ENODEV: return "cannot be mapped";
    case ENOMEM: return "out of address space";
    default: return "cannot be read";
  }
}

static stow_status fail_io(stow_diag* diag, const char* path, const char* reason) {
  return stowi_fail(diag, STOW_ERR_IO, "%.*s: %s", STOWI_STR_ARG(stow_str_of(path)), reason);
}

static stow_status read_at(void* user, uint64_t offset, void* bytes, size_t count) {
  int file = (int)(intptr_t)user;
  while (count > 0) {
    ssize_t size = pread(file, bytes, count, (off_t)offset);
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size <= 0) {
      return STOW_ERR_IO;
    }
    bytes = (char*)bytes + size;
    offset += (uint64_t)size;
    count -= (size_t)size;
  }
  return STOW_OK;
}

void stowi_onnx_map_close(const stow_source* source) {
  if (source->read == read_at) {
    close((int)(intptr_t)source->user);
  }
}

// Maps |file|, or makes it a source; it is still needed in the latter case only.
static stow_status map_open_file(int file, const char* path, stow_diag* diag,
                                 stowi_onnx_span* out_span, stow_source* out_source) {
  struct stat facts;
  if (fstat(file, &facts) != 0) {
    return fail_io(diag, path, error_text(errno));
  }
  if (!S_ISREG(facts.st_mode)) {
    return fail_io(diag, path, S_ISDIR(facts.st_mode) ? "is a directory" : "is not a regular file");
  }
  if (facts.st_size == 0) {
    return STOW_OK;
  }
  if ((uintmax_t)facts.st_size <= SIZE_MAX) {
    void* bytes = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes != MAP_FAILED) {
      *out_span = (stowi_onnx_span){(const uint8_t*)bytes, (size_t)facts.st_size};
      return STOW_OK;
    }
    if (errno != ENODEV) {
      return fail_io(diag, path, error_text(errno));
    }
  }
  *out_source = (stow_source){(uint64_t)facts.st_size, read_at, (void*)(intptr_t)file};
  return STOW_OK;
}

// O_NONBLOCK: a pipe must not make us wait until we have seen that it is one.
static stow_status map_file(const char* path, int flags, stow_diag* diag, stowi_onnx_span* out_span,
                            stow_source* out_source) {
  *out_span = (stowi_onnx_span){NULL, 0};
  *out_source = (stow_source){0};
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);
  if (file < 0) {
    return fail_io(diag, path, error_text(errno));
  }
  stow_status status = map_open_file(file, path, diag, out_span, out_source);
  if (out_source->read == NULL) {
    close(file);
  }
  return status;
}

stow_status stowi_onnx_map(const char* path, stow_diag* diag, stowi_onnx_span* out_span,
                           stow_source* out_source) {
  return map_file(path, 0, diag, out_span, out_source);
}

void stowi_onnx_unmap(stowi_onnx_span span) {
  if (span.data != NULL) {
    munmap((void*)(uintptr_t)span.data, span.size);
  }
}

void stowi_onnx_map_expect_jumps(stowi_onnx_span span, bool is_jumping) {
  if (span.data != NULL) {  // advice: what comes of it does not matter
    (void)posix_madvise((void*)(uintptr_t)span.data, span.size,
                        is_jumping ? POSIX_MADV_RANDOM : POSIX_MADV_NORMAL);
  }
}

// The mapping is read-only, so that nothing is lost. What POSIX has for this does nothing on Linux.
void stowi_onnx_map_give_back(stowi_onnx_span span, stowi_onnx_span part) {
#ifdef MADV_DONTNEED
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t first = (uintptr_t)part.data;
  uintptr_t whole = (uintptr_t)span.data;
  if (first < whole || first - whole > span.size || part.size > span.size - (first - whole)) {
    return;
  }
  uintptr_t begin = (first + page - 1) / page * page;
  uintptr_t end = (first + part.size) / page * page;
  if (begin < end) {
    (void)madvise((void*)begin, end - begin, MADV_DONTNEED);
  }
#else
  (void)span;
  (void)part;
#endif
}

// Whether a part of the path is "..".
static bool goes_up(stow_str path) {
  size_t start = 0;
  for (size_t i = 0; i <= path.size; ++i) {
    if (i == path.size || path.data[i] == '/') {
      if (i - start == 2 && memcmp(path.data + start, "..", 2) == 0) {
        return true;
      }
      start = i + 1;
    }
  }
  return false;
}

static const char* refusal(stow_str location) {
  if (location.size == 0) {
    return "the location of external data is missing";
  }
  if (memchr(location.data, '\0', location.size) != NULL) {
    return "the location of external data contains a NUL byte";
  }
  if (location.data[0] == '/') {
    return "the location of external data is an absolute path";
  }
  return goes_up(location) ? "the location of external data contains \"..\"" : NULL;
}

static bool is_within(const char* folder, const char* path) {
  size_t size = strlen(folder);
  if (size == 1) {  // the root
    return true;
  }
  return strncmp(folder, path, size) == 0 && path[size] == '/';
}

stow_status stowi_onnx_map_within(const char* folder, stow_str location, stow_diag* diag,
                                  stowi_onnx_span* out_span) {
  *out_span = (stowi_onnx_span){NULL, 0};
  const char* reason = refusal(location);
  if (reason != NULL) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "%s", reason);
  }
  char path[PATH_MAX], real_folder[PATH_MAX], real_path[PATH_MAX];
  size_t size = strlen(folder);
  if (size >= PATH_MAX - 2 || location.size > PATH_MAX - 2 - size) {
    return stowi_fail(diag, STOW_ERR_IO, "%s", error_text(ENAMETOOLONG));
  }
  memcpy(path, folder, size);
  path[size] = '/';
  memcpy(path + size + 1, location.data, location.size);
  path[size + 1 + location.size] = '\0';
  if (realpath(folder, real_folder) == NULL) {
    return fail_io(diag, folder, error_text(errno));
  }
  if (realpath(path, real_path) == NULL) {
    return fail_io(diag, path, error_text(errno));
  }
  if (!is_within(real_folder, real_path)) {
    return stowi_fail(
        diag, STOW_ERR_INVALID_ARGUMENT,
        "external data is outside of the model's folder: a symbolic link leads there");
  }
  stow_source source;
  STOW_TRY(map_file(real_path, O_NOFOLLOW, diag, out_span, &source));
  if (source.read != NULL) {
    stowi_onnx_map_close(&source);
    return fail_io(diag, path, error_text(ENODEV));
  }
  return STOW_OK;
}
