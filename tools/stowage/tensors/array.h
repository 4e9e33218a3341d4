// Tensors that the command reads and writes, with bytes of their own.
#ifndef STOWAGE_TOOLS_TENSORS_ARRAY_H_
#define STOWAGE_TOOLS_TENSORS_ARRAY_H_

#include <stowage/kernel.h>

#include "arguments/list.h"

#define CLI_ARRAY_ALIGNMENT 64

typedef struct cli_array {
  stow_string name;    // may be empty
  stow_tensor tensor;  // its data is the array's; not NULL
  size_t size;         // bytes of it
} cli_array;

// An array of |type|, whose dims are numbers, all bytes 0. False where memory is out or the bytes
// cannot be counted.
bool cli_array_create(cli_array* array, stow_str name, const stow_type* type);
void cli_array_free(cli_array* array);
// Lists of arrays.
bool cli_arrays_add(cli_list* arrays, cli_array* array);  // takes it over, also where it fails
void cli_arrays_free(cli_list* arrays);

// The type of a tensor, whose dims are numbers.
stow_type cli_tensor_type(const stow_tensor* tensor);

// `f32[1, 3, 224, 224]`, cut where it is longer.
#define CLI_TYPE_TEXT_SIZE 160
void cli_format_type(const stow_type* type, const stow_dims* dims, char out[CLI_TYPE_TEXT_SIZE]);

#endif  // STOWAGE_TOOLS_TENSORS_ARRAY_H_
