// Growing arrays. Capacity doubles, so that appending is O(1) amortised.
#include "arguments/list.h"

#include <stdalign.h>
#include <string.h>

static void* reallocate(void* old, size_t old_size, size_t new_size) {
  stow_allocator allocator = stow_allocator_default();
  return allocator.reallocate(allocator.user, old, old_size, new_size, alignof(max_align_t));
}

bool cli_list_add(cli_list* list, const void* item, size_t item_size) {
  if (list->count == list->capacity) {
    if (list->capacity > SIZE_MAX / 2 / item_size) {
      return false;
    }
    size_t capacity = list->capacity == 0 ? 8 : 2 * list->capacity;
    void* items = reallocate(list->items, list->capacity * item_size, capacity * item_size);
    if (items == NULL) {
      return false;
    }
    list->items = items;
    list->capacity = capacity;
  }
  memcpy((char*)list->items + list->count * item_size, item, item_size);
  ++list->count;
  return true;
}

void cli_list_free(cli_list* list, size_t item_size) {
  if (list->items != NULL) {
    reallocate(list->items, list->capacity * item_size, 0);
  }
  *list = (cli_list){0};
}
