// Tensors out of bytes, in every format that has types of its own: first what there is, then the
// elements of those that are asked for, to where they are aligned. No file is opened here: fuzzers
// bring the bytes.
#include <stdio.h>
#include <string.h>

#include "tensors/tensor_file.h"

static stow_status fail_memory(stow_diag* diag, const char* text) {
  diag->status = STOW_ERR_OUT_OF_MEMORY;
  snprintf(diag->message, sizeof diag->message, "%s", text);
  return STOW_ERR_OUT_OF_MEMORY;
}

void cli_stored_free(cli_stored_list* list) {
  for (size_t i = 0; i < list->stored.count; ++i) {
    stow_string_free(&((cli_stored*)list->stored.items + i)->name);
  }
  cli_list_free(&list->stored, sizeof(cli_stored));
  stow_npy_close(list->npy);
  stow_onnx_tensor_close(&list->onnx);
  *list = (cli_stored_list){0};
}

static stow_status add(cli_stored_list* list, stow_str name, const stow_type* type,
                       stow_diag* diag) {
  cli_stored one = {
      .type = *type, .npy = list->npy, .data = list->onnx.data, .size = list->onnx.size};
  one.index = list->stored.count;
  stow_string_init(&one.name, stow_allocator_default());
  if (stow_string_append(&one.name, name.data, name.size) != STOW_OK ||
      !cli_list_add(&list->stored, &one, sizeof one)) {
    stow_string_free(&one.name);
    return fail_memory(diag, "out of memory");
  }
  return STOW_OK;
}

static stow_status list_npy(stow_npy_format format, const void* bytes, size_t size,
                            cli_stored_list* list, stow_diag* diag) {
  stow_status status =
      stow_npy_open(format, bytes, size, stow_allocator_default(), diag, &list->npy);
  for (size_t i = 0; status == STOW_OK && i < stow_npy_count(list->npy); ++i) {
    stow_npy_array array = {.struct_size = sizeof(array)};
    stow_npy_describe(list->npy, i, &array);
    status = add(list, array.name, &array.type, diag);
  }
  return status;
}

static stow_status list_pb(const void* bytes, size_t size, cli_stored_list* list, stow_diag* diag) {
  list->onnx.struct_size = sizeof list->onnx;
  stow_status status =
      stow_onnx_tensor_open(bytes, size, stow_allocator_default(), diag, &list->onnx);
  return status == STOW_OK ? add(list, list->onnx.name, &list->onnx.type, diag) : status;
}

stow_status cli_stored_open(cli_tensor_format format, const void* bytes, size_t size,
                            cli_stored_list* out_list, stow_diag* diag) {
  *out_list = (cli_stored_list){0};
  stow_status status =
      format == CLI_TENSOR_NPY   ? list_npy(STOW_NPY_SINGLE, bytes, size, out_list, diag)
      : format == CLI_TENSOR_NPZ ? list_npy(STOW_NPY_ARCHIVE, bytes, size, out_list, diag)
      : format == CLI_TENSOR_PB  ? list_pb(bytes, size, out_list, diag)
                                 : STOW_ERR_UNSUPPORTED;
  if (status == STOW_ERR_UNSUPPORTED && format == CLI_TENSOR_RAW) {
    snprintf(diag->message, sizeof diag->message, "raw bytes have no type");
  }
  return status;
}

// ---------------------------------------------------------------------------------------------
// Elements

stow_status cli_stored_load(const cli_stored* stored, cli_array* out_array, stow_diag* diag) {
  if (!cli_array_create(out_array, (stow_str){stored->name.data, stored->name.size},
                        &stored->type)) {
    char type[CLI_TYPE_TEXT_SIZE];
    char text[CLI_TYPE_TEXT_SIZE + 16];
    cli_format_type(&stored->type, NULL, type);
    snprintf(text, sizeof text, "no memory for %s", type);
    return fail_memory(diag, text);
  }
  stow_status status = STOW_OK;
  if (stored->npy != NULL) {
    status = stow_npy_load(stored->npy, stored->index, out_array->tensor.data, diag);
  } else {
    memcpy(out_array->tensor.data, stored->size > 0 ? stored->data : "", stored->size);
  }
  if (status != STOW_OK) {
    cli_array_free(out_array);
  }
  return status;
}

stow_status cli_arrays_decode(cli_tensor_format format, const void* bytes, size_t size,
                              cli_list* arrays, stow_diag* diag) {
  cli_stored_list list;
  stow_status status = cli_stored_open(format, bytes, size, &list, diag);
  for (size_t i = 0; i < list.stored.count && status == STOW_OK; ++i) {
    cli_array array;
    status = cli_stored_load((const cli_stored*)list.stored.items + i, &array, diag);
    if (status == STOW_OK && !cli_arrays_add(arrays, &array)) {
      status = fail_memory(diag, "out of memory");
    }
  }
  cli_stored_free(&list);
  return status;
}
