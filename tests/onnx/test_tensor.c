// The bytes of tensors, in every form that a file can have them.
#define _XOPEN_SOURCE 700  // mkdtemp, symlink

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "onnx/onnx_writer.h"
#include "onnx/reader/proto.h"
#include "support/fault.h"
#include "support/test.h"

static stow_diag diag;

// A tensor on its own, written between begin() and read().
typedef struct fixture {
  onnx_writer w;
  stowi_onnx_pool* pool;
  stowi_onnx_tensor tensor;
  stowi_onnx_bytes bytes;
} fixture;

static void begin(fixture* f, int32_t elem, const int64_t* dims, size_t rank) {
  memset(f, 0, sizeof(*f));
  for (size_t d = 0; d < rank; ++d) {
    onnx_int(&f->w, ONNX_TENSOR_DIMS, dims[d]);
  }
  onnx_int(&f->w, ONNX_TENSOR_DATA_TYPE, elem);
  onnx_string(&f->w, ONNX_TENSOR_NAME, "t");
}

static stow_status read_bytes(fixture* f) {
  stow_diag_init(&diag);
  stow_allocator allocator = stow_allocator_default();
  stow_status status = stowi_onnx_pool_create(allocator, &diag, &f->pool);
  if (status == STOW_OK) {
    status =
        stowi_onnx_read_tensor(f->pool, (stowi_onnx_span){f->w.data, f->w.size}, &diag, &f->tensor);
  }
  if (status == STOW_OK) {
    status = stowi_onnx_tensor_bytes(NULL, &f->tensor, allocator, &diag, &f->bytes);
  }
  CHECK(status == diag.status);
  return status;
}

static void end(fixture* f) {
  if (f->bytes.is_owned) {
    stowi_free(stow_allocator_default(), (void*)(uintptr_t)f->bytes.bytes, f->bytes.size, 1);
  }
  stowi_onnx_pool_destroy(f->pool);
  onnx_writer_free(&f->w);
}

static void check_bytes(fixture* f, const void* expected, size_t size, bool is_owned) {
  if (CHECK(read_bytes(f) == STOW_OK)) {
    CHECK_U64(f->bytes.size, size);
    CHECK(f->bytes.size == size && memcmp(f->bytes.bytes, expected, size) == 0);
    CHECK(f->bytes.is_owned == is_owned);
  }
  end(f);
}

static void check_refused(fixture* f, stow_status status, const char* part) {
  CHECK(read_bytes(f) == status);
  CHECK_HAS(diag.message, part);
  end(f);
}

static const int64_t two[] = {2};
static const int64_t three[] = {3};

TEST(RawBytesArePointedAt) {
  fixture f;
  begin(&f, ONNX_INT8, three, 1);
  onnx_bytes(&f.w, ONNX_TENSOR_RAW, "abc", 3);
  check_bytes(&f, "abc", 3, false);
}

TEST(PackedFloatsArePointedAt) {
  static const float floats[] = {1.5F, -2.0F};
  fixture f;
  begin(&f, ONNX_FLOAT, two, 1);
  onnx_bytes(&f.w, ONNX_TENSOR_FLOAT_DATA, floats, sizeof(floats));
  check_bytes(&f, floats, sizeof(floats), false);
  begin(&f, ONNX_COMPLEX64, NULL, 0);
  onnx_bytes(&f.w, ONNX_TENSOR_FLOAT_DATA, floats, sizeof(floats));
  check_bytes(&f, floats, sizeof(floats), false);
}

TEST(ScatteredFloatsAreGathered) {
  static const float floats[] = {1.5F, -2.0F, 4.0F};
  fixture f;
  begin(&f, ONNX_FLOAT, three, 1);
  onnx_float(&f.w, ONNX_TENSOR_FLOAT_DATA, 1.5F);
  onnx_bytes(&f.w, ONNX_TENSOR_FLOAT_DATA, &floats[1], 2 * sizeof(float));
  check_bytes(&f, floats, sizeof(floats), true);
  static const double doubles[] = {0.25, 8.0};
  begin(&f, ONNX_DOUBLE, two, 1);
  onnx_double(&f.w, ONNX_TENSOR_DOUBLE_DATA, 0.25);
  onnx_double(&f.w, ONNX_TENSOR_DOUBLE_DATA, 8.0);
  check_bytes(&f, doubles, sizeof(doubles), true);
}

TEST(SmallTypesAreKeptAsInt32) {
  static const struct {
    int32_t elem;
    const char* bytes;
    size_t size;
  } cases[] = {
      {ONNX_INT32, "\xff\xff\xff\xff\x2c\x01\0\0", 8},
      {5, "\xff\xff\x2c\x01", 4},
      {4, "\xff\xff\x2c\x01", 4},
      {ONNX_INT8, "\xff\x2c", 2},
      {ONNX_UINT8, "\xff\x2c", 2},
      {ONNX_BOOL, "\xff\x2c", 2},
      {ONNX_FLOAT16, "\xff\xff\x2c\x01", 4},
      {ONNX_BFLOAT16, "\xff\xff\x2c\x01", 4},
      {17, "\xff\x2c", 2},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    fixture f;
    begin(&f, cases[i].elem, two, 1);
    onnx_packed_ints(&f.w, ONNX_TENSOR_INT32_DATA, (const int64_t[]){-1, 300}, 2);
    check_bytes(&f, cases[i].bytes, cases[i].size, true);
  }
}

TEST(ElementsBelowAByteComeAsBytes) {
  fixture f;
  begin(&f, ONNX_INT4, three, 1);
  onnx_packed_ints(&f.w, ONNX_TENSOR_INT32_DATA, (const int64_t[]){0x21, 0x03}, 2);
  check_bytes(&f, "\x21\x03", 2, true);
  begin(&f, ONNX_UINT4, three, 1);
  onnx_bytes(&f.w, ONNX_TENSOR_RAW, "\x21\x03", 2);
  check_bytes(&f, "\x21\x03", 2, false);
  begin(&f, 26, (const int64_t[]){5}, 1);
  onnx_bytes(&f.w, ONNX_TENSOR_RAW, "\x21\x03", 2);
  check_bytes(&f, "\x21\x03", 2, false);
}

TEST(WideIntegersHaveFieldsOfTheirOwn) {
  static const int64_t numbers[] = {-1, 300};
  fixture f;
  begin(&f, ONNX_INT64, two, 1);
  onnx_int(&f.w, ONNX_TENSOR_INT64_DATA, numbers[0]);
  onnx_int(&f.w, ONNX_TENSOR_INT64_DATA, numbers[1]);
  check_bytes(&f, numbers, sizeof(numbers), true);
  begin(&f, ONNX_UINT64, two, 1);
  onnx_packed_ints(&f.w, ONNX_TENSOR_UINT64_DATA, numbers, 2);
  check_bytes(&f, numbers, sizeof(numbers), true);
  begin(&f, ONNX_UINT32, two, 1);
  onnx_packed_ints(&f.w, ONNX_TENSOR_UINT64_DATA, numbers, 2);
  check_bytes(&f, "\xff\xff\xff\xff\x2c\x01\0\0", 8, true);
}

TEST(EmptyTensorsNeedNoData) {
  fixture f;
  begin(&f, ONNX_FLOAT, (const int64_t[]){0, INT64_MAX, INT64_MAX}, 3);
  check_bytes(&f, "", 0, false);
  begin(&f, ONNX_FLOAT, (const int64_t[]){0}, 1);
  onnx_bytes(&f.w, ONNX_TENSOR_RAW, "", 0);
  check_bytes(&f, "", 0, false);
}

TEST(WrongSizesAreRefused) {
  fixture f;
  begin(&f, ONNX_FLOAT, two, 1);
  onnx_bytes(&f.w, ONNX_TENSOR_RAW, "1234567", 7);
  check_refused(&f, STOW_ERR_SYNTAX, "tensor \"t\" has 7 bytes of raw data where its dims need 8");
  begin(&f, ONNX_FLOAT, two, 1);
  onnx_bytes(&f.w, ONNX_TENSOR_RAW, "123456789", 9);
  check_refused(&f, STOW_ERR_SYNTAX, "where its dims need 8");
  begin(&f, ONNX_FLOAT, two, 1);
  onnx_float(&f.w, ONNX_TENSOR_FLOAT_DATA, 1);
  check_refused(&f, STOW_ERR_SYNTAX, "has 4 bytes of typed data where its dims need 8");
  begin(&f, ONNX_FLOAT, two, 1);
  onnx_bytes(&f.w, ONNX_TENSOR_FLOAT_DATA, "123456789", 9);
  check_refused(&f, STOW_ERR_SYNTAX, "has 9 bytes of typed data");
  begin(&f, ONNX_FLOAT, two, 1);
  onnx_float(&f.w, ONNX_TENSOR_FLOAT_DATA, 1);
  onnx_bytes(&f.w, ONNX_TENSOR_FLOAT_DATA, "12345", 5);
  check_refused(&f, STOW_ERR_SYNTAX, "tensor \"t\": a number is truncated");
  begin(&f, ONNX_INT64, two, 1);
  onnx_packed_ints(&f.w, ONNX_TENSOR_INT64_DATA, (const int64_t[]){1, 2, 3}, 3);
  check_refused(&f, STOW_ERR_SYNTAX, "has 24 bytes of typed data where its dims need 16");
  begin(&f, ONNX_INT64, two, 1);
  onnx_bytes(&f.w, ONNX_TENSOR_INT64_DATA, "\x01\x80", 2);
  check_refused(&f, STOW_ERR_SYNTAX, "tensor \"t\": a number is truncated");
  begin(&f, ONNX_FLOAT, two, 1);
  check_refused(&f, STOW_ERR_SYNTAX, "has 0 bytes of data where its dims need 8");
}

TEST(WrongDimsAreRefused) {
  fixture f;
  begin(&f, ONNX_FLOAT, (const int64_t[]){3, -1}, 2);
  check_refused(&f, STOW_ERR_SYNTAX, "tensor \"t\" has the negative dim -1");
  begin(&f, ONNX_FLOAT, (const int64_t[]){INT64_MIN}, 1);
  check_refused(&f, STOW_ERR_SYNTAX, "negative dim -9223372036854775808");
  begin(&f, ONNX_FLOAT, (const int64_t[]){INT64_C(1) << 62, INT64_C(1) << 62}, 2);
  check_refused(&f, STOW_ERR_OVERFLOW, "the bytes of tensor \"t\" do not fit in 63 bits");
  begin(&f, ONNX_FLOAT, (const int64_t[]){INT64_C(1) << 61}, 1);
  check_refused(&f, STOW_ERR_OVERFLOW, "do not fit in 63 bits");
  begin(&f, ONNX_INT8, (const int64_t[]){INT64_C(1) << 32, INT64_C(1) << 31}, 2);
  check_refused(&f, STOW_ERR_OVERFLOW, "do not fit in 63 bits");
  begin(&f, ONNX_INT8, (const int64_t[]){INT64_MAX}, 1);
  check_refused(&f, STOW_ERR_SYNTAX, "has 0 bytes of data");
}

TEST(DataInTheWrongFieldIsRefused) {
  fixture f;
  begin(&f, ONNX_FLOAT, two, 1);
  onnx_packed_ints(&f.w, ONNX_TENSOR_INT32_DATA, (const int64_t[]){1, 2}, 2);
  check_refused(&f, STOW_ERR_SYNTAX, "of f32 has its data in field 5, not 4 of TensorProto");
  begin(&f, ONNX_FLOAT, two, 1);
  onnx_float(&f.w, ONNX_TENSOR_FLOAT_DATA, 1);
  onnx_int(&f.w, ONNX_TENSOR_INT32_DATA, 1);
  check_refused(&f, STOW_ERR_SYNTAX, "has data in more than one field");
  begin(&f, ONNX_FLOAT, two, 1);
  onnx_float(&f.w, ONNX_TENSOR_FLOAT_DATA, 1);
  onnx_bytes(&f.w, ONNX_TENSOR_RAW, "12345678", 8);
  check_refused(&f, STOW_ERR_SYNTAX, "has data in more than one form");
  begin(&f, ONNX_FLOAT, two, 1);
  onnx_int(&f.w, ONNX_TENSOR_FLOAT_DATA, 1);
  check_refused(&f, STOW_ERR_SYNTAX, "float_data: expected 4 bytes, found a varint");
}

TEST(StringsAndUnknownTypesAreNotSupported) {
  fixture f;
  begin(&f, ONNX_STRING, two, 1);
  onnx_string(&f.w, ONNX_TENSOR_STRING_DATA, "a");
  onnx_string(&f.w, ONNX_TENSOR_STRING_DATA, "b");
  check_refused(&f, STOW_ERR_UNSUPPORTED, "tensor \"t\" has strings");
  begin(&f, 27, two, 1);
  check_refused(&f, STOW_ERR_UNSUPPORTED, "the unknown element type 27");
  begin(&f, -3, two, 1);
  check_refused(&f, STOW_ERR_UNSUPPORTED, "the unknown element type -3");
}

// ---------------------------------------------------------------------------------------------
// External data, in a folder of its own

static char folder[] = "/tmp/stowage_onnx_XXXXXX";

static void path_of(const char* name, char path[256]) {
  snprintf(path, 256, "%s/%s", folder, name);
}

static void write_file(const char* name, const void* bytes, size_t size) {
  char path[256];
  path_of(name, path);
  FILE* file = fopen(path, "wb");
  if (CHECK(file != NULL)) {
    CHECK(fwrite(bytes, 1, size, file) == size);
    fclose(file);
  }
}

static void make_folder(void) {
  char path[256];
  strcpy(folder + strlen(folder) - 6, "XXXXXX");
  CHECK(mkdtemp(folder) != NULL);
  path_of("model", path);
  CHECK(mkdir(path, 0700) == 0);
  path_of("model/sub", path);
  CHECK(mkdir(path, 0700) == 0);
  write_file("secret", "01234567", 8);
  write_file("model/data", "0123456789", 10);
  write_file("model/sub/data", "abcdefgh", 8);
}

static void remove_folder(void) {
  static const char* const names[] = {"model/sub/out",  "model/link", "model/in",
                                      "model/sub/data", "model/data", "model/m.onnx",
                                      "model/none",     "secret"};
  char path[256];
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    path_of(names[i], path);
    unlink(path);
  }
  path_of("model/sub", path);
  CHECK(rmdir(path) == 0);
  path_of("model", path);
  CHECK(rmdir(path) == 0);
  CHECK(rmdir(folder) == 0);
}

static void write_model(const char* location, const char* offset, const char* length) {
  onnx_writer w = {0};
  onnx_model_begin(&w, 8, 17);
  onnx_tensor_begin(&w, ONNX_GRAPH_INITIALIZER, "t", ONNX_INT8, (const int64_t[]){8}, 1);
  onnx_external(&w, "location", location);
  if (offset != NULL) {
    onnx_external(&w, "offset", offset);
  }
  if (length != NULL) {
    onnx_external(&w, "length", length);
  }
  onnx_external(&w, "checksum", "whatever");
  onnx_int(&w, ONNX_TENSOR_LOCATION, 1);
  onnx_tensor_end(&w);
  onnx_model_end(&w);
  write_file("model/m.onnx", w.data, w.size);
  onnx_writer_free(&w);
}

// Opens the model and asks for its tensor's bytes; |expected| NULL: an error.
static void check_external(const char* expected, stow_status status, const char* part) {
  char path[256];
  path_of("model/m.onnx", path);
  stow_diag_init(&diag);
  stow_model* model = NULL;
  REQUIRE(stow_onnx_open(path, stow_allocator_default(), &diag, &model) == STOW_OK);
  const stowi_onnx_tensor* tensor = &stowi_onnx_proto_of(model)->graph.initializers[0];
  for (int twice = 0; twice < 2; ++twice) {
    stowi_onnx_bytes bytes;
    stow_status found =
        stowi_onnx_tensor_bytes(model, tensor, stow_allocator_default(), &diag, &bytes);
    CHECK_U64(found, status);
    if (expected != NULL && found == STOW_OK) {
      CHECK(bytes.size == 8 && memcmp(bytes.bytes, expected, 8) == 0 && !bytes.is_owned);
      CHECK(bytes.source.size > strlen(folder) && bytes.at == tensor->offset);
    } else {
      CHECK_HAS(diag.message, "tensor \"t\", external data");
      CHECK_HAS(diag.message, part);
    }
  }
  stow_model_weights weights = {.struct_size = sizeof(weights)};
  CHECK(stow_model_count_weights(model, NULL, NULL, &weights) == STOW_OK);
  CHECK(weights.bytes == 8 && weights.external_bytes == 8);
  stow_model_close(model);
}

TEST(ExternalDataIsMapped) {
  make_folder();
  write_model("data", NULL, NULL);
  check_external("01234567", STOW_OK, "");
  write_model("data", "2", "8");
  check_external("23456789", STOW_OK, "");
  write_model("sub/data", "0", NULL);
  check_external("abcdefgh", STOW_OK, "");
  write_model("./sub//data", NULL, NULL);
  check_external("abcdefgh", STOW_OK, "");
  remove_folder();
}

TEST(ExternalDataMustFit) {
  make_folder();
  write_model("data", "3", NULL);
  check_external(NULL, STOW_ERR_IO, "8 bytes at 3 are out of range (the file has 10)");
  write_model("data", "18446744073709551615", "8");
  check_external(NULL, STOW_ERR_IO, "the file has 10");
  write_model("data", "1", "7");
  check_external(NULL, STOW_ERR_SYNTAX, "the length is 7 where the dims need 8");
  write_model("none", NULL, NULL);
  check_external(NULL, STOW_ERR_IO, "no such file");
  write_model("sub", NULL, NULL);
  check_external(NULL, STOW_ERR_IO, "is a directory");
  remove_folder();
}

TEST(ExternalDataMustStayInTheFolder) {
  make_folder();
  char secret[256], link[256], in[256], out[256];
  path_of("secret", secret);
  path_of("model/link", link);
  path_of("model/in", in);
  path_of("model/sub/out", out);
  CHECK(symlink(secret, link) == 0);
  CHECK(symlink("sub/data", in) == 0);
  CHECK(symlink("../..", out) == 0);
  write_model("../secret", NULL, NULL);
  check_external(NULL, STOW_ERR_INVALID_ARGUMENT, "contains \"..\"");
  write_model("sub/../../secret", NULL, NULL);
  check_external(NULL, STOW_ERR_INVALID_ARGUMENT, "contains \"..\"");
  write_model("sub/..", NULL, NULL);
  check_external(NULL, STOW_ERR_INVALID_ARGUMENT, "contains \"..\"");
  write_model(secret, NULL, NULL);
  check_external(NULL, STOW_ERR_INVALID_ARGUMENT, "is an absolute path");
  write_model("", NULL, NULL);
  check_external(NULL, STOW_ERR_INVALID_ARGUMENT, "is missing");
  write_model("link", NULL, NULL);
  check_external(NULL, STOW_ERR_INVALID_ARGUMENT, "outside of the model's folder");
  write_model("sub/out/secret", NULL, NULL);
  check_external(NULL, STOW_ERR_INVALID_ARGUMENT, "outside of the model's folder");
  write_model("in", NULL, NULL);
  check_external("abcdefgh", STOW_OK, "");
  remove_folder();
}

TEST(ExternalNumbersMustBeNumbers) {
  fixture f;
  begin(&f, ONNX_INT8, two, 1);
  onnx_external(&f.w, "offset", "-1");
  check_refused(&f, STOW_ERR_SYNTAX, "external_data: offset is not a number: \"-1\"");
  begin(&f, ONNX_INT8, two, 1);
  onnx_external(&f.w, "location", "data");
  onnx_int(&f.w, ONNX_TENSOR_LOCATION, 1);
  check_refused(&f, STOW_ERR_IO, "external data is not available: the model has no folder");
}

static stow_status open_external(stow_allocator allocator, void* user) {
  stow_model* model = NULL;
  stowi_onnx_bytes bytes;
  stow_status status = stow_onnx_open((const char*)user, allocator, NULL, &model);
  if (status == STOW_OK) {
    status = stowi_onnx_tensor_bytes(model, &stowi_onnx_proto_of(model)->graph.initializers[0],
                                     allocator, NULL, &bytes);
  }
  stow_model_close(model);
  return status;
}

TEST(ExternalDataSurvivesEveryFailedAllocation) {
  make_folder();
  write_model("data", NULL, NULL);
  char path[256];
  path_of("model/m.onnx", path);
  CHECK(test_fault_sweep(open_external, path) > 4);
  remove_folder();
}

// ---------------------------------------------------------------------------------------------
// Large files. Mostly a hole, which takes no room on the disk.

// All of a model before and after |size| bytes of raw data.
static void write_around(onnx_writer* before, onnx_writer* after, uint64_t size) {
  onnx_writer head = {0};
  onnx_int(&head, ONNX_TENSOR_DIMS, (int64_t)size);
  onnx_int(&head, ONNX_TENSOR_DATA_TYPE, ONNX_UINT8);
  onnx_string(&head, ONNX_TENSOR_NAME, "big");
  onnx_put_tag(&head, ONNX_TENSOR_RAW, 2);
  onnx_put_varint(&head, size);
  onnx_node(after, "Relu", "x", "y");
  onnx_writer tensor = {0};
  onnx_put_tag(&tensor, ONNX_GRAPH_INITIALIZER, 2);
  onnx_put_varint(&tensor, head.size + size);
  onnx_int(before, ONNX_MODEL_IR_VERSION, 8);
  onnx_put_tag(before, ONNX_MODEL_GRAPH, 2);
  onnx_put_varint(before, tensor.size + head.size + size + after->size);
  onnx_put(before, tensor.data, tensor.size);
  onnx_put(before, head.data, head.size);
  onnx_writer_free(&tensor);
  onnx_writer_free(&head);
}

// False where the file system has no room for it.
static bool write_holed_file(const char* path, const onnx_writer* before, const onnx_writer* after,
                             uint64_t size) {
  FILE* file = fopen(path, "wb");
  bool is_written = file != NULL && fwrite(before->data, 1, before->size, file) == before->size &&
                    fseeko(file, (off_t)size, SEEK_CUR) == 0 &&
                    fwrite(after->data, 1, after->size, file) == after->size;
  return file != NULL && fclose(file) == 0 && is_written;
}

TEST(FilesAboveFourGigabytesAreRead) {
  const uint64_t size = UINT64_C(5) << 30;
  if (sizeof(size_t) < 8 || sizeof(off_t) < 8) {
    return;
  }
  make_folder();
  char path[256];
  path_of("model/m.onnx", path);
  onnx_writer before = {0}, after = {0};
  write_around(&before, &after, size);
  stow_model* model = NULL;
  if (!write_holed_file(path, &before, &after, size)) {
    puts("no room for a file with a hole");
  } else if (CHECK(stow_onnx_open(path, stow_allocator_default(), &diag, &model) == STOW_OK)) {
    const stowi_onnx_graph* graph = &stowi_onnx_proto_of(model)->graph;
    CHECK(graph->node_count == 1 && graph->initializer_count == 1);
    stowi_onnx_bytes bytes;
    CHECK(stowi_onnx_tensor_bytes(model, &graph->initializers[0], stow_allocator_default(), &diag,
                                  &bytes) == STOW_OK);
    CHECK(bytes.size == size && bytes.at == before.size);
    CHECK(((const uint8_t*)bytes.bytes)[size - 1] == 0);
  }
  stow_model_close(model);
  onnx_writer_free(&before);
  onnx_writer_free(&after);
  remove_folder();
}
