// Reads every model (*.onnx) and every tensor (*.pb) below the given folders with our reader and
// with protobuf-c, and compares all fields that ours knows.
#define _XOPEN_SOURCE 700  // nftw

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

// nftw gives its function no context.
static comparison totals;
static size_t models, tensors;

static uint8_t* read_whole(const char* path, size_t size) {
  uint8_t* bytes = (uint8_t*)malloc(size + 1);
  FILE* file = fopen(path, "rb");
  if (bytes == NULL || file == NULL || fread(bytes, 1, size, file) != size) {
    printf("cannot read %s\n", path);
    exit(2);
  }
  fclose(file);
  return bytes;
}

static void check_model(const char* path, const uint8_t* bytes, size_t size) {
  Onnx__ModelProto* theirs = onnx__model_proto__unpack(NULL, size, bytes);
  stow_diag diag;
  stow_diag_init(&diag);
  stow_model* ours = NULL;
  stow_status status = stow_onnx_open(path, stow_allocator_default(), &diag, &ours);
  if ((theirs != NULL) != (ours != NULL)) {
    printf("%s: %s by protobuf-c; ours: %s %s\n", path, theirs != NULL ? "read" : "refused",
           stow_status_text(status), diag.message);
    ++totals.differences;
  } else if (ours != NULL) {
    compare_model(&totals, ours, theirs);
    ++models;
  }
  stow_model_close(ours);
  if (theirs != NULL) {
    onnx__model_proto__free_unpacked(theirs, NULL);
  }
}

// Sequences and optionals have the same file names; read as a tensor they have a segment or, in
// fields 4 to 6, data.
static bool is_tensor(const Onnx__TensorProto* t) {
  bool has_strings = t->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__STRING && t->n_string_data > 0;
  bool has_data = t->has_raw_data || t->n_int64_data > 0 || t->n_double_data > 0 ||
                  t->n_uint64_data > 0 || has_strings;
  return t->has_data_type && t->segment == NULL && has_data;
}

static void check_tensor(const char* path, const uint8_t* bytes, size_t size) {
  Onnx__TensorProto* theirs = onnx__tensor_proto__unpack(NULL, size, bytes);
  if (theirs == NULL) {
    return;
  }
  stowi_onnx_pool* pool;
  stowi_onnx_tensor ours;
  stow_diag diag;
  stow_diag_init(&diag);
  if (is_tensor(theirs) &&
      stowi_onnx_pool_create(stow_allocator_default(), &diag, &pool) == STOW_OK) {
    if (stowi_onnx_read_tensor(pool, (stowi_onnx_span){bytes, size}, &diag, &ours) == STOW_OK) {
      compare_tensor(&totals, NULL, &ours, theirs);
      ++tensors;
    } else {
      printf("%s: %s\n", path, diag.message);
      ++totals.differences;
    }
    stowi_onnx_pool_destroy(pool);
  }
  onnx__tensor_proto__free_unpacked(theirs, NULL);
}

static bool ends_with(const char* text, const char* end) {
  size_t size = strlen(text), end_size = strlen(end);
  return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

static int visit(const char* path, const struct stat* facts, int type, struct FTW* where) {
  (void)where;
  bool is_model = ends_with(path, ".onnx");
  if (type != FTW_F || (!is_model && !ends_with(path, ".pb"))) {
    return 0;
  }
  size_t size = (size_t)facts->st_size;
  uint8_t* bytes = read_whole(path, size);
  totals.file = path;
  if (is_model) {
    check_model(path, bytes, size);
  } else {
    check_tensor(path, bytes, size);
  }
  free(bytes);
  return 0;
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (nftw(argv[i], visit, 16, FTW_PHYS) != 0) {
      printf("no folder %s\n", argv[i]);
    }
  }
  if (models + tensors + totals.differences == 0) {
    puts("SKIP: no models found (Debian: libonnx-testdata)");
    return 77;
  }
  printf("%zu models and %zu tensors, %zu fields: %zu differences\n", models, tensors,
         totals.fields, totals.differences);
  return totals.differences == 0 ? 0 : 1;
}
