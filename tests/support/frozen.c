#define _DEFAULT_SOURCE  // MAP_ANONYMOUS
#include "support/frozen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define STRETCH ((size_t)1 << 28)  // address space; memory is taken where it is used

static void require(bool is_well, const char* what) {
  if (!is_well) {
    perror(what);
    abort();
  }
}

static void* reallocate(void* user, void* old, size_t old_size, size_t new_size, size_t alignment) {
  test_frozen* frozen = (test_frozen*)user;
  if (new_size == 0) {
    return NULL;
  }
  size_t at = (frozen->used + alignment - 1) / alignment * alignment;
  require(at <= STRETCH && new_size <= STRETCH - at, "frozen memory");
  frozen->used = at + new_size;
  if (old != NULL) {
    memcpy(frozen->base + at, old, old_size < new_size ? old_size : new_size);
  }
  return frozen->base + at;
}

stow_allocator test_frozen_allocator(test_frozen* frozen) {
  if (frozen->base == NULL) {
    void* base = mmap(NULL, STRETCH, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    require(base != MAP_FAILED, "mmap");
    frozen->base = (unsigned char*)base;
  }
  return (stow_allocator){reallocate, frozen};
}

void test_freeze(test_frozen* frozen, bool is_frozen) {
  int access = is_frozen ? PROT_READ : PROT_READ | PROT_WRITE;
  require(mprotect(frozen->base, STRETCH, access) == 0, "mprotect");
}

void test_frozen_free(test_frozen* frozen) {
  require(munmap(frozen->base, STRETCH) == 0, "munmap");
  *frozen = (test_frozen){NULL, 0};
}
