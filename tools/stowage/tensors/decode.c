// Arrays out of bytes, in every format that has types of its own. What is decoded is copied, once,
// to where elements are aligned. No file is opened here: fuzzers bring the bytes.
#include <stdio.h>
#include <stowage/onnx.h>
#include <string.h>

#include "tensors/npy.h"
#include "tensors/tensor_file.h"
#include "tensors/zip.h"

static bool add_array(cli_list* arrays, cli_array* array, char why[CLI_WHY_SIZE]) {
  if (!cli_arrays_add(arrays, array)) {
    snprintf(why, CLI_WHY_SIZE, "out of memory");
    return false;
  }
  return true;
}

static bool create(cli_array* array, stow_str name, const stow_type* type, char why[CLI_WHY_SIZE]) {
  if (!cli_array_create(array, name, type)) {
    char text[CLI_TYPE_TEXT_SIZE];
    cli_format_type(type, NULL, text);
    snprintf(why, CLI_WHY_SIZE, "no memory for %s", text);
    return false;
  }
  return true;
}

static bool decode_npy(stow_str name, const void* bytes, size_t size, cli_list* arrays,
                       char why[CLI_WHY_SIZE]) {
  cli_npy npy;
  cli_array array;
  if (!cli_npy_open(bytes, size, &npy, why) || !create(&array, name, &npy.type, why)) {
    return false;
  }
  cli_npy_copy(&npy, array.tensor.data);
  return add_array(arrays, &array, why);
}

// Puts the entry's name before what went wrong in it.
static bool name_entry(const cli_zip_entry* entry, char why[CLI_WHY_SIZE]) {
  char reason[CLI_WHY_SIZE];
  memcpy(reason, why, sizeof reason);
  int size = (int)(entry->name.size < 80 ? entry->name.size : 80);
  snprintf(why, CLI_WHY_SIZE, "entry '%.*s': %.*s", size, entry->name.data, CLI_WHY_SIZE - 100,
           reason);
  return false;
}

static bool decode_entry(const void* bytes, const cli_zip_entry* entry, cli_list* arrays,
                         char why[CLI_WHY_SIZE]) {
  stow_str name = entry->name;
  bool is_npy = name.size >= 4 && memcmp(name.data + name.size - 4, ".npy", 4) == 0;
  name.size -= is_npy ? 4 : 0;
  cli_array unpacked;
  stow_type type = stow_type_make(STOW_U8, 1, (int64_t[]){(int64_t)entry->size});
  if (!create(&unpacked, (stow_str){"", 0}, &type, why)) {
    return name_entry(entry, why);
  }
  bool decoded = cli_zip_unpack(bytes, entry, unpacked.tensor.data, why)
                     ? decode_npy(name, unpacked.tensor.data, unpacked.size, arrays, why) ||
                           name_entry(entry, why)
                     : name_entry(entry, why);
  cli_array_free(&unpacked);
  return decoded;
}

static bool decode_npz(const void* bytes, size_t size, cli_list* arrays, char why[CLI_WHY_SIZE]) {
  cli_list entries;
  if (!cli_zip_open(bytes, size, &entries, why)) {
    return false;
  }
  bool decoded = true;
  for (size_t i = 0; i < entries.count && decoded; ++i) {
    decoded = decode_entry(bytes, (const cli_zip_entry*)entries.items + i, arrays, why);
  }
  cli_list_free(&entries, sizeof(cli_zip_entry));
  return decoded;
}

static bool decode_pb(const void* bytes, size_t size, cli_list* arrays, char why[CLI_WHY_SIZE]) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_onnx_tensor* tensor = NULL;
  stow_status status = stow_onnx_tensor_open(bytes, size, stow_allocator_default(), &diag, &tensor);
  if (status != STOW_OK) {
    snprintf(why, CLI_WHY_SIZE, "%.*s", CLI_WHY_SIZE - 1,
             diag.message[0] != '\0' ? diag.message : stow_status_text(status));
    return false;
  }
  cli_array array;
  size_t data_size;
  const void* data = stow_onnx_tensor_data(tensor, &data_size);
  bool decoded = create(&array, stow_onnx_tensor_name(tensor), stow_onnx_tensor_type(tensor), why);
  if (decoded) {
    memcpy(array.tensor.data, data, data_size);
    decoded = add_array(arrays, &array, why);
  }
  stow_onnx_tensor_close(tensor);
  return decoded;
}

bool cli_arrays_decode(cli_tensor_format format, const void* bytes, size_t size, cli_list* arrays,
                       char why[CLI_WHY_SIZE]) {
  why[0] = '\0';
  switch (format) {
    case CLI_TENSOR_NPY:
      return decode_npy((stow_str){"", 0}, bytes, size, arrays, why);
    case CLI_TENSOR_NPZ:
      return decode_npz(bytes, size, arrays, why);
    case CLI_TENSOR_PB:
      return decode_pb(bytes, size, arrays, why);
    case CLI_TENSOR_RAW:
      break;
  }
  snprintf(why, CLI_WHY_SIZE, "raw bytes have no type");
  return false;
}
