// A growing array of equal items, for what may be given on a command line any number of times.
#ifndef STOWAGE_TOOLS_ARGUMENTS_LIST_H_
#define STOWAGE_TOOLS_ARGUMENTS_LIST_H_

#include <stowage/base.h>

typedef struct cli_list {
  void* items;
  size_t count;
  size_t capacity;
} cli_list;

// Appends a copy of |item|; false where memory is out. All items of a list have the same size.
bool cli_list_add(cli_list* list, const void* item, size_t item_size);
void cli_list_free(cli_list* list, size_t item_size);

#endif  // STOWAGE_TOOLS_ARGUMENTS_LIST_H_
