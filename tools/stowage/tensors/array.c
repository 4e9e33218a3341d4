// Tensors with bytes of their own. Alignment is that of the library's arenas, so that an executor
// can use the bytes where they lie.
#include "tensors/array.h"

#include <string.h>

static void* reallocate(void* old, size_t old_size, size_t new_size) {
  stow_allocator allocator = stow_allocator_default();
  return allocator.reallocate(allocator.user, old, old_size, new_size, CLI_ARRAY_ALIGNMENT);
}

// An empty tensor has an address too.
static size_t block_size(size_t size) { return size == 0 ? 1 : size; }

bool cli_array_create(cli_array* array, stow_str name, const stow_type* type) {
  *array = (cli_array){.tensor = {.dtype = type->dtype, .rank = type->rank}};
  stow_string_init(&array->name, stow_allocator_default());
  memcpy(array->tensor.dims, type->dims, sizeof array->tensor.dims);
  uint64_t size;
  if (stow_type_bytes(type, &size) != STOW_OK || size >= SIZE_MAX / 2) {
    return false;
  }
  array->size = (size_t)size;
  array->tensor.data = reallocate(NULL, 0, block_size(array->size));
  if (array->tensor.data == NULL ||
      (name.size > 0 && stow_string_append(&array->name, name.data, name.size) != STOW_OK)) {
    cli_array_free(array);
    return false;
  }
  memset(array->tensor.data, 0, block_size(array->size));
  return true;
}

void cli_array_free(cli_array* array) {
  if (array->tensor.data != NULL) {
    reallocate(array->tensor.data, block_size(array->size), 0);
  }
  if (array->name.allocator.reallocate != NULL) {
    stow_string_free(&array->name);
  }
  *array = (cli_array){0};
}

bool cli_arrays_add(cli_list* arrays, cli_array* array) {
  bool added = cli_list_add(arrays, array, sizeof *array);
  if (!added) {
    cli_array_free(array);
  }
  return added;
}

void cli_arrays_free(cli_list* arrays) {
  for (size_t i = 0; i < arrays->count; ++i) {
    cli_array_free((cli_array*)arrays->items + i);
  }
  cli_list_free(arrays, sizeof(cli_array));
}

stow_type cli_tensor_type(const stow_tensor* tensor) {
  return stow_type_make(tensor->dtype, tensor->rank, tensor->dims);
}

typedef struct fixed_text {
  char* out;
  size_t used;
} fixed_text;

static stow_status put_fixed(void* user, const char* data, size_t size) {
  fixed_text* text = user;
  size_t room = CLI_TYPE_TEXT_SIZE - 1 - text->used;
  size_t part = size < room ? size : room;
  memcpy(text->out + text->used, data, part);
  text->used += part;
  return STOW_OK;
}

void cli_format_type(const stow_type* type, const stow_dims* dims, char out[CLI_TYPE_TEXT_SIZE]) {
  fixed_text text = {out, 0};
  (void)stow_type_print(dims, type, (stow_writer){put_fixed, &text});
  out[text.used] = '\0';
}
