#include "support/fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#define MAGIC UINT64_C(0x57074a6e0b10c4ed)

// Right before each block; |raw| is the pointer from malloc.
typedef struct block_header {
  void* raw;
  size_t size;
  size_t alignment;
  uint64_t magic;
} block_header;

static block_header* header_of(void* block) { return (block_header*)block - 1; }

static void die(const char* what) {
  fprintf(stderr, "allocator misused: %s\n", what);
  abort();
}

static void check_block(void* block, size_t size, size_t alignment) {
  block_header* header = header_of(block);
  if (header->magic != MAGIC) {
    die("not a live block");
  }
  if (header->size != size) {
    die("wrong old size");
  }
  if (header->alignment != alignment) {
    die("alignment differs from the one at allocation");
  }
}

static void release(test_heap* heap, void* block) {
  block_header* header = header_of(block);
  heap->live_blocks -= 1;
  heap->live_bytes -= header->size;
  header->magic = 0;
  free(header->raw);
}

static void* acquire(test_heap* heap, size_t size, size_t alignment) {
  heap->allocations += 1;
  if (heap->fail_at != 0 && (heap->allocations == heap->fail_at ||
                             (heap->fail_onwards && heap->allocations > heap->fail_at))) {
    return NULL;
  }
  if (alignment < sizeof(void*)) {
    alignment = sizeof(void*);
  }
  if (size > SIZE_MAX / 2) {
    return NULL;
  }
  char* raw = (char*)malloc(size + alignment + sizeof(block_header));
  if (raw == NULL) {
    return NULL;
  }
  uintptr_t at =
      ((uintptr_t)raw + sizeof(block_header) + alignment - 1) & ~(uintptr_t)(alignment - 1);
  block_header* header = header_of((void*)at);
  memset((void*)at, 0xcd, size);
  *header = (block_header){raw, size, alignment, MAGIC};
  heap->live_blocks += 1;
  heap->live_bytes += size;
  if (heap->live_bytes > heap->peak_bytes) {
    heap->peak_bytes = heap->live_bytes;
  }
  return (void*)at;
}

static void* test_reallocate(void* user, void* old, size_t old_size, size_t new_size,
                             size_t alignment) {
  test_heap* heap = (test_heap*)user;
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
    die("alignment is not a power of two");
  }
  if (alignment < sizeof(void*)) {
    alignment = sizeof(void*);
  }
  if (old == NULL && (old_size != 0 || new_size == 0)) {
    die("an old size without a block, or nothing asked for");
  }
  if (old != NULL) {
    check_block(old, old_size, alignment);
  }
  if (new_size == 0) {
    release(heap, old);
    return NULL;
  }
  void* block = acquire(heap, new_size, alignment);
  if (block != NULL && old != NULL) {
    memcpy(block, old, old_size < new_size ? old_size : new_size);
    release(heap, old);
  }
  return block;
}

stow_allocator test_heap_allocator(test_heap* heap) {
  stow_allocator allocator = {test_reallocate, heap};
  return allocator;
}

size_t test_fault_sweep(stow_status (*attempt)(stow_allocator allocator, void* user), void* user) {
  for (size_t fail_at = 1;; ++fail_at) {
    test_heap heap;
    memset(&heap, 0, sizeof(heap));
    heap.fail_at = fail_at;
    stow_status status = attempt(test_heap_allocator(&heap), user);
    test_check(heap.live_blocks == 0, __FILE__, __LINE__,
               "%zu blocks leaked with allocation %zu failing", heap.live_blocks, fail_at);
    if (heap.allocations < fail_at) {
      test_check(status == STOW_OK, __FILE__, __LINE__, "without a failure the call says \"%s\"",
                 stow_status_text(status));
      return fail_at - 1;
    }
    if (!test_check(status == STOW_ERR_OUT_OF_MEMORY, __FILE__, __LINE__,
                    "allocation %zu failing gives \"%s\"", fail_at, stow_status_text(status))) {
      return fail_at;
    }
  }
}
