// Tensors out of bytes, in every format that has types of its own: first what there is, from
// headers alone, then the elements of those that are asked for, once, to where they are aligned. An
// archive of kilobytes can unpack to gigabytes: nobody has to who does not need them. No file is
// opened here: fuzzers bring the bytes.
#include <stdio.h>
#include <string.h>

#include "tensors/tensor_file.h"

static stow_status fail_memory(char why[CLI_WHY_SIZE]) {
  snprintf(why, CLI_WHY_SIZE, "out of memory");
  return STOW_ERR_OUT_OF_MEMORY;
}

static stow_status fail_tensor(stow_status status, const stow_diag* diag, char why[CLI_WHY_SIZE]) {
  snprintf(why, CLI_WHY_SIZE, "%.*s", CLI_WHY_SIZE - 1,
           diag->message[0] != '\0' ? diag->message : stow_status_text(status));
  return status;
}

// ---------------------------------------------------------------------------------------------
// What there is

static void free_one(cli_stored* one) {
  stow_string_free(&one->name);
  stow_onnx_tensor_close(&one->onnx);
}

void cli_stored_free(cli_list* stored) {
  for (size_t i = 0; i < stored->count; ++i) {
    free_one((cli_stored*)stored->items + i);
  }
  cli_list_free(stored, sizeof(cli_stored));
}

// Takes over |one| but for its name, which is copied.
static stow_status add(cli_list* stored, cli_stored* one, stow_str name, char why[CLI_WHY_SIZE]) {
  stow_string_init(&one->name, stow_allocator_default());
  if (stow_string_append(&one->name, name.data, name.size) != STOW_OK ||
      !cli_list_add(stored, one, sizeof *one)) {
    free_one(one);
    return fail_memory(why);
  }
  return STOW_OK;
}

static stow_status list_npy(const void* bytes, size_t size, cli_list* stored,
                            char why[CLI_WHY_SIZE]) {
  cli_stored one = {.bytes = bytes};
  if (!cli_npy_open(bytes, size, &one.npy, why) || !cli_npy_check_size(&one.npy, size, why)) {
    return STOW_ERR_SYNTAX;
  }
  one.type = one.npy.type;
  return add(stored, &one, (stow_str){"", 0}, why);
}

// Puts the entry's name before what went wrong in it.
static stow_status fail_entry(const cli_zip_entry* entry, stow_status status,
                              char why[CLI_WHY_SIZE]) {
  char reason[CLI_WHY_SIZE];
  memcpy(reason, why, sizeof reason);
  int size = (int)(entry->name.size < 80 ? entry->name.size : 80);
  snprintf(why, CLI_WHY_SIZE, "entry '%.*s': %.*s", size, entry->name.data, CLI_WHY_SIZE - 100,
           reason);
  return status;
}

// Unpacks the header, which |out| has room for, and no more.
static stow_status unpack_header(cli_zip_reader* reader, char out[CLI_NPY_MOST_HEADER],
                                 cli_npy* npy) {
  size_t start = 0;
  stow_status status = STOW_OK;
  if (reader->entry->size >= CLI_NPY_START_SIZE) {
    status = cli_zip_read(reader, out, CLI_NPY_START_SIZE);
    start = CLI_NPY_START_SIZE;
  }
  size_t end = 0;
  if (status == STOW_OK && !cli_npy_find_start(out, start, &end, reader->why)) {
    return STOW_ERR_SYNTAX;
  }
  if (status == STOW_OK && end > start && end <= reader->entry->size) {
    status = cli_zip_read(reader, out + start, end - start);
    start = end;
  }
  return status != STOW_OK || cli_npy_open(out, start, npy, reader->why) ? status : STOW_ERR_SYNTAX;
}

static stow_status list_entry(const void* bytes, const cli_zip_entry* entry, cli_list* stored,
                              char why[CLI_WHY_SIZE]) {
  char header[CLI_NPY_MOST_HEADER];
  cli_stored one = {.bytes = bytes, .is_packed = true, .entry = *entry};
  cli_zip_reader reader;
  stow_status status = cli_zip_begin(&reader, bytes, entry, why);
  status = status == STOW_OK ? unpack_header(&reader, header, &one.npy) : status;
  cli_zip_close(&reader);
  if (status == STOW_OK && !cli_npy_check_size(&one.npy, entry->size, why)) {
    status = STOW_ERR_SYNTAX;
  }
  if (status != STOW_OK) {
    return fail_entry(entry, status, why);
  }
  one.type = one.npy.type;
  stow_str name = entry->name;
  bool is_npy = name.size >= 4 && memcmp(name.data + name.size - 4, ".npy", 4) == 0;
  name.size -= is_npy ? 4 : 0;
  return add(stored, &one, name, why);
}

static stow_status list_npz(const void* bytes, size_t size, cli_list* stored,
                            char why[CLI_WHY_SIZE]) {
  cli_list entries;
  stow_status status = cli_zip_open(bytes, size, &entries, why);
  for (size_t i = 0; i < entries.count && status == STOW_OK; ++i) {
    status = list_entry(bytes, (const cli_zip_entry*)entries.items + i, stored, why);
  }
  cli_list_free(&entries, sizeof(cli_zip_entry));
  return status;
}

static stow_status list_pb(const void* bytes, size_t size, cli_list* stored,
                           char why[CLI_WHY_SIZE]) {
  stow_diag diag;
  stow_diag_init(&diag);
  cli_stored one = {.bytes = bytes, .onnx.struct_size = sizeof one.onnx};
  stow_status status =
      stow_onnx_tensor_open(bytes, size, stow_allocator_default(), &diag, &one.onnx);
  if (status != STOW_OK) {
    return fail_tensor(status, &diag, why);
  }
  one.type = one.onnx.type;
  return add(stored, &one, one.onnx.name, why);
}

stow_status cli_stored_list(cli_tensor_format format, const void* bytes, size_t size,
                            cli_list* stored, char why[CLI_WHY_SIZE]) {
  why[0] = '\0';
  switch (format) {
    case CLI_TENSOR_NPY:
      return list_npy(bytes, size, stored, why);
    case CLI_TENSOR_NPZ:
      return list_npz(bytes, size, stored, why);
    case CLI_TENSOR_PB:
      return list_pb(bytes, size, stored, why);
    case CLI_TENSOR_RAW:
      break;
  }
  snprintf(why, CLI_WHY_SIZE, "raw bytes have no type");
  return STOW_ERR_UNSUPPORTED;
}

// ---------------------------------------------------------------------------------------------
// Elements

static stow_status create(cli_array* array, stow_str name, const stow_type* type,
                          char why[CLI_WHY_SIZE]) {
  if (!cli_array_create(array, name, type)) {
    char text[CLI_TYPE_TEXT_SIZE];
    cli_format_type(type, NULL, text);
    snprintf(why, CLI_WHY_SIZE, "no memory for %s", text);
    return STOW_ERR_OUT_OF_MEMORY;
  }
  return STOW_OK;
}

// Unpacks the elements to |to|, behind a header that was read before.
static stow_status unpack(const cli_stored* stored, void* to, char why[CLI_WHY_SIZE]) {
  char header[CLI_NPY_MOST_HEADER];
  cli_zip_reader reader;
  stow_status status = cli_zip_begin(&reader, stored->bytes, &stored->entry, why);
  status = status == STOW_OK ? cli_zip_read(&reader, header, stored->npy.start) : status;
  status = status == STOW_OK ? cli_zip_read(&reader, to, (size_t)stored->npy.size) : status;
  status = status == STOW_OK ? cli_zip_end(&reader) : status;
  cli_zip_close(&reader);
  return status;
}

// Elements in another order than memory's are unpacked beside it.
static stow_status load_entry(const cli_stored* stored, void* to, char why[CLI_WHY_SIZE]) {
  if (cli_npy_is_plain(&stored->npy)) {
    return unpack(stored, to, why);
  }
  cli_array beside;
  stow_status status = create(&beside, (stow_str){"", 0}, &stored->type, why);
  status = status == STOW_OK ? unpack(stored, beside.tensor.data, why) : status;
  if (status == STOW_OK) {
    cli_npy_copy(&stored->npy, beside.tensor.data, to);
  }
  cli_array_free(&beside);
  return status;
}

static stow_status load(const cli_stored* stored, void* to, char why[CLI_WHY_SIZE]) {
  if (stored->onnx.memory != NULL) {
    if (stored->onnx.size > 0) {
      memcpy(to, stored->onnx.data, stored->onnx.size);
    }
    return STOW_OK;
  }
  if (stored->is_packed) {
    stow_status status = load_entry(stored, to, why);
    return status == STOW_OK ? STOW_OK : fail_entry(&stored->entry, status, why);
  }
  cli_npy_copy(&stored->npy, (const char*)stored->bytes + stored->npy.start, to);
  return STOW_OK;
}

stow_status cli_stored_load(const cli_stored* stored, cli_array* out_array,
                            char why[CLI_WHY_SIZE]) {
  stow_str name = {stored->name.data, stored->name.size};
  stow_status status = create(out_array, name, &stored->type, why);
  if (status == STOW_OK) {
    status = load(stored, out_array->tensor.data, why);
  }
  if (status != STOW_OK) {
    cli_array_free(out_array);
  }
  return status;
}

stow_status cli_arrays_decode(cli_tensor_format format, const void* bytes, size_t size,
                              cli_list* arrays, char why[CLI_WHY_SIZE]) {
  cli_list stored = {0};
  stow_status status = cli_stored_list(format, bytes, size, &stored, why);
  for (size_t i = 0; i < stored.count && status == STOW_OK; ++i) {
    cli_array array;
    status = cli_stored_load((const cli_stored*)stored.items + i, &array, why);
    if (status == STOW_OK && !cli_arrays_add(arrays, &array)) {
      status = fail_memory(why);
    }
  }
  cli_stored_free(&stored);
  return status;
}
