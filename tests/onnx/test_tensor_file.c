// Tensors in files of their own, as programs see them.
#include <stowage/onnx.h>
#include <string.h>

#include "onnx/onnx_writer.h"
#include "support/fault.h"
#include "support/test.h"

static stow_diag diag;

static void begin(onnx_writer* w, int32_t elem, const int64_t* dims, size_t rank) {
  *w = (onnx_writer){0};
  for (size_t d = 0; d < rank; ++d) {
    onnx_int(w, ONNX_TENSOR_DIMS, dims[d]);
  }
  onnx_int(w, ONNX_TENSOR_DATA_TYPE, elem);
  onnx_string(w, ONNX_TENSOR_NAME, "t");
}

static stow_status open_tensor(const onnx_writer* w, stow_onnx_tensor* out) {
  stow_diag_init(&diag);
  *out = (stow_onnx_tensor){.struct_size = sizeof(*out)};
  stow_status status =
      stow_onnx_tensor_open(w->data, w->size, stow_allocator_default(), &diag, out);
  CHECK(status == diag.status && (status == STOW_OK) == (out->data != NULL));
  return status;
}

static void check_refused(onnx_writer* w, stow_status status, const char* part) {
  stow_onnx_tensor tensor = {.struct_size = sizeof(tensor)};
  CHECK(open_tensor(w, &tensor) == status);
  CHECK_HAS(diag.message, part);
  stow_onnx_tensor_close(&tensor);
  onnx_writer_free(w);
}

static const int64_t shape[] = {1, 2};
static const int64_t numbers[] = {-1, 300};

// Numbers that the message has as varints: they are decoded.
static void write_numbers(onnx_writer* w) {
  begin(w, ONNX_INT64, shape, 2);
  onnx_int(w, ONNX_TENSOR_INT64_DATA, numbers[0]);
  onnx_int(w, ONNX_TENSOR_INT64_DATA, numbers[1]);
}

TEST(ATensorHasNameTypeAndBytes) {
  onnx_writer w;
  stow_onnx_tensor tensor = {.struct_size = sizeof(tensor)};
  write_numbers(&w);
  REQUIRE(open_tensor(&w, &tensor) == STOW_OK);
  CHECK(stow_str_equal(tensor.name, stow_str_of("t")));
  stow_type type = stow_type_make(STOW_I64, 2, shape);
  CHECK(stow_type_equal(&tensor.type, &type));
  CHECK_U64(tensor.size, sizeof numbers);
  CHECK(memcmp(tensor.data, numbers, sizeof numbers) == 0);
  stow_onnx_tensor_close(&tensor);
  CHECK(tensor.data == NULL);
  stow_onnx_tensor_close(&tensor);  // again is fine
  tensor.struct_size = 8;
  CHECK(stow_onnx_tensor_open(w.data, w.size, stow_allocator_default(), &diag, &tensor) ==
        STOW_ERR_INVALID_ARGUMENT);
  onnx_writer_free(&w);
}

TEST(AnEmptyTensorHasAnAddress) {
  static const int64_t none[] = {0};
  onnx_writer w;
  stow_onnx_tensor tensor = {.struct_size = sizeof(tensor)};
  begin(&w, ONNX_FLOAT, none, 1);
  REQUIRE(open_tensor(&w, &tensor) == STOW_OK);
  CHECK(tensor.data != NULL && tensor.size == 0);
  stow_onnx_tensor_close(&tensor);
  onnx_writer_free(&w);
}

TEST(MalformedTensorsAreRefused) {
  onnx_writer w = {0};
  stow_onnx_tensor tensor = {.struct_size = sizeof(tensor)};
  stow_diag_init(&diag);
  CHECK(stow_onnx_tensor_open("\xff\xff\xff", 3, stow_allocator_default(), &diag, &tensor) ==
        STOW_ERR_SYNTAX);
  CHECK_HAS(diag.message, "byte 0");
  begin(&w, ONNX_FLOAT, shape, 2);
  onnx_bytes(&w, ONNX_TENSOR_RAW, "abc", 3);
  check_refused(&w, STOW_ERR_SYNTAX, "3 bytes of raw data where its dims need 8");
  begin(&w, ONNX_STRING, shape, 1);
  onnx_bytes(&w, ONNX_TENSOR_STRING_DATA, "abc", 3);
  check_refused(&w, STOW_ERR_UNSUPPORTED, "strings");
  int64_t dims[STOW_MAX_RANK + 1];
  for (size_t i = 0; i < STOW_MAX_RANK + 1; ++i) {
    dims[i] = 1;
  }
  begin(&w, ONNX_FLOAT, dims, STOW_MAX_RANK + 1);
  onnx_bytes(&w, ONNX_TENSOR_RAW, "abcd", 4);
  check_refused(&w, STOW_ERR_LIMIT, "17 dims");
}

TEST(DataInAnotherFileIsRefused) {
  onnx_writer w;
  begin(&w, ONNX_FLOAT, shape, 2);
  onnx_int(&w, ONNX_TENSOR_LOCATION, 1);
  size_t before = w.size;
  onnx_begin(&w, ONNX_TENSOR_EXTERNAL);
  onnx_string(&w, 1, "location");
  onnx_string(&w, 2, "w.bin");
  onnx_end(&w);
  CHECK(w.size > before);
  check_refused(&w, STOW_ERR_UNSUPPORTED, "another file");
}

static stow_status attempt(stow_allocator allocator, void* user) {
  const onnx_writer* w = user;
  stow_onnx_tensor tensor = {.struct_size = sizeof(tensor)};
  stow_status status = stow_onnx_tensor_open(w->data, w->size, allocator, NULL, &tensor);
  stow_onnx_tensor_close(&tensor);
  return status;
}

TEST(EveryFailedAllocationIsReported) {
  onnx_writer w;
  write_numbers(&w);
  CHECK(test_fault_sweep(attempt, &w) >= 3);
  onnx_writer_free(&w);
}
