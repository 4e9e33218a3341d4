// Heapsort, which needs no memory of its own; ties are broken by index, so that it is stable.
#include "exec/kernels/classic/order.h"

static bool is_less(const stowi_kernel_entry* a, const stowi_kernel_entry* b) {
  if (a->major != b->major) {
    return a->major < b->major;
  }
  return a->minor != b->minor ? a->minor < b->minor : a->index < b->index;
}

static void sift_down(stowi_kernel_entry* heap, size_t count, size_t at) {
  stowi_kernel_entry moved = heap[at];
  for (;;) {
    size_t child = 2 * at + 1;
    if (child >= count) {
      break;
    }
    if (child + 1 < count && is_less(&heap[child], &heap[child + 1])) {
      ++child;
    }
    if (!is_less(&moved, &heap[child])) {
      break;
    }
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = moved;
}

static bool is_sorted(const stowi_kernel_entry* entries, size_t count) {
  for (size_t i = 1; i < count; ++i) {
    if (is_less(&entries[i], &entries[i - 1])) {
      return false;
    }
  }
  return true;
}

void stowi_kernel_sort_entries(stowi_kernel_entry* entries, size_t count) {
  if (is_sorted(entries, count)) {
    return;
  }
  for (size_t i = count / 2; i-- > 0;) {
    sift_down(entries, count, i);
  }
  for (size_t left = count - 1; left > 0; --left) {
    stowi_kernel_entry largest = entries[0];
    entries[0] = entries[left];
    entries[left] = largest;
    sift_down(entries, left, 0);
  }
}

size_t stowi_kernel_find_entry(const stowi_kernel_entry* entries, size_t count, int64_t major,
                               int64_t minor) {
  stowi_kernel_entry wanted = {major, minor, 0};
  size_t low = 0;
  size_t high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (is_less(&entries[middle], &wanted)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  bool is_there = low < count && entries[low].major == major && entries[low].minor == minor;
  return is_there ? low : SIZE_MAX;
}
