// Any bytes as a file of tensors, in every format. What is read has as many bytes as its type says,
// all of them can be touched, and what is written of it is read again as the same.
#include <stdint.h>
#include <string.h>

#include "tensors/tensor_file.h"

static void require(int condition) {
  if (!condition) {
    __builtin_trap();
  }
}

static void write_again(const cli_array* array) {
  stow_string file;
  stow_diag diag;
  cli_list arrays = {0};
  if (array->size > 4096 || !stow_npy_has_dtype(array->tensor.dtype)) {
    return;
  }
  stow_string_init(&file, stow_allocator_default());
  stow_diag_init(&diag);
  require(stow_npy_write(&array->tensor, stow_string_writer(&file), &diag) == STOW_OK);
  require(cli_arrays_decode(CLI_TENSOR_NPY, file.data, file.size, &arrays, &diag) == STOW_OK);
  const cli_array* again = arrays.items;
  stow_type a = cli_tensor_type(&array->tensor);
  stow_type b = cli_tensor_type(&again->tensor);
  require(stow_type_equal(&a, &b));
  require(memcmp(array->tensor.data, again->tensor.data, array->size) == 0);
  cli_arrays_free(&arrays);
  stow_string_free(&file);
}

static uint8_t touch(const cli_array* array) {
  uint64_t bytes;
  stow_type type = cli_tensor_type(&array->tensor);
  require(stow_type_bytes(&type, &bytes) == STOW_OK && bytes == array->size);
  require((uintptr_t)array->tensor.data % CLI_ARRAY_ALIGNMENT == 0);
  uint8_t sum = 0;
  for (size_t i = 0; i < array->size; ++i) {
    sum = (uint8_t)(sum ^ ((const uint8_t*)array->tensor.data)[i]);
  }
  return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const cli_tensor_format formats[] = {CLI_TENSOR_NPY, CLI_TENSOR_NPZ, CLI_TENSOR_PB};
  for (size_t f = 0; f < sizeof formats / sizeof formats[0]; ++f) {
    stow_diag diag;
    cli_list arrays = {0};
    stow_diag_init(&diag);
    stow_status status = cli_arrays_decode(formats[f], data, size, &arrays, &diag);
    require(status == STOW_OK || diag.message[0] != '\0');
    volatile uint8_t sum = 0;
    for (size_t i = 0; i < arrays.count; ++i) {
      const cli_array* array = (const cli_array*)arrays.items + i;
      sum = (uint8_t)(sum ^ touch(array));
      write_again(array);
    }
    cli_arrays_free(&arrays);
  }
  return 0;
}
