// Models that are read through a source: the same model as from memory and from a mapped file, the
// data of weights only where it is asked for, and clean errors for everything that can go wrong.
#define _XOPEN_SOURCE 700  // mkstemp

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/text.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "graph/api.h"
#include "onnx/onnx_writer.h"
#include "onnx/reader/model.h"
#include "support/fault.h"
#include "support/test.h"

static stow_diag diag;

// ---------------------------------------------------------------------------------------------
// A source over memory that counts what is read, and can fail

typedef struct blob {
  const uint8_t* data;
  size_t size;
  size_t reads, bytes;  // so far
  size_t fail_at;       // the read that fails, from 1; 0: none
} blob;

static stow_status read_blob(void* user, uint64_t offset, void* bytes, size_t count) {
  blob* b = (blob*)user;
  if (++b->reads == b->fail_at || offset > b->size || count > b->size - offset) {
    return STOW_ERR_IO;
  }
  b->bytes += count;
  memcpy(bytes, b->data + offset, count);
  return STOW_OK;
}

static stow_source source_of(blob* b) { return (stow_source){b->size, read_blob, b}; }

static stow_status open_blob(blob* b, const char* name, stow_allocator allocator,
                             stow_model** out_model) {
  stow_source source = source_of(b);
  stow_diag_init(&diag);
  stow_status status = stow_onnx_open_source(&source, name, allocator, &diag, out_model);
  CHECK((status == STOW_OK) == (*out_model != NULL));
  return status;
}

// ---------------------------------------------------------------------------------------------
// A model with data in every form, on both sides of what is left out

enum { SIDE = 160, BIG = SIDE * SIDE };  // BIG floats are 100 KiB

static void write_floats(onnx_writer* w, const char* name, const int64_t* dims, size_t rank,
                         size_t count, bool is_packed) {
  onnx_tensor_begin(w, ONNX_GRAPH_INITIALIZER, name, ONNX_FLOAT, dims, rank);
  float* numbers = (float*)malloc(count * sizeof(float));
  for (size_t i = 0; i < count; ++i) {
    numbers[i] = (float)i / 8;
  }
  if (is_packed) {
    onnx_bytes(w, ONNX_TENSOR_FLOAT_DATA, numbers, count * sizeof(float));
  }
  for (size_t i = 0; !is_packed && i < count; ++i) {
    onnx_float(w, ONNX_TENSOR_FLOAT_DATA, numbers[i]);
  }
  onnx_tensor_end(w);
  free(numbers);
}

static void write_model(onnx_writer* w) {
  static const int64_t square[] = {SIDE, SIDE};
  static const int64_t row[] = {SIDE};
  static const int64_t shape[] = {SIDE, 1};
  static int64_t numbers[SIDE * 2];
  static float big[BIG];
  for (size_t i = 0; i < BIG; ++i) {
    big[i] = (float)i;
  }
  for (size_t i = 0; i < SIDE * 2; ++i) {
    numbers[i] = (int64_t)i * 1000003 - 77;
  }
  char* text = (char*)malloc(3000);
  memset(text, 'd', 3000);
  onnx_bytes(w, 6, text, 3000);  // doc_string
  onnx_model_begin(w, 8, 17);
  onnx_bytes(w, 10, text, 700);  // and the graph's
  onnx_value(w, ONNX_GRAPH_INPUT, "x", ONNX_FLOAT, "N 160");
  onnx_tensor_raw(w, ONNX_GRAPH_INITIALIZER, "big", ONNX_FLOAT, square, 2, big, sizeof big);
  write_floats(w, "packed", square, 2, BIG, true);
  write_floats(w, "row", row, 1, SIDE, true);
  write_floats(w, "loose", row, 1, SIDE, false);
  onnx_tensor_begin(w, ONNX_GRAPH_INITIALIZER, "numbers", ONNX_INT64, row, 1);
  onnx_packed_ints(w, ONNX_TENSOR_INT64_DATA, numbers, SIDE);
  onnx_tensor_end(w);
  onnx_tensor_begin(w, ONNX_GRAPH_INITIALIZER, "runs", ONNX_INT64, (const int64_t[]){SIDE * 2}, 1);
  onnx_packed_ints(w, ONNX_TENSOR_INT64_DATA, numbers, SIDE);
  onnx_packed_ints(w, ONNX_TENSOR_INT64_DATA, numbers + SIDE, SIDE);
  onnx_tensor_end(w);
  onnx_tensor_raw(w, ONNX_GRAPH_INITIALIZER, "shape", ONNX_INT64, (const int64_t[]){2}, 1, shape,
                  sizeof shape);
  onnx_node(w, "MatMul", "x big", "a");
  onnx_node(w, "MatMul", "a packed", "b");
  onnx_node(w, "Add", "b row", "c");
  onnx_node(w, "Add", "c loose", "y");
  onnx_node(w, "Reshape", "numbers shape", "z");
  onnx_node(w, "Identity", "runs", "r");
  onnx_node_begin(w, "Constant", "", "k");
  onnx_attr_begin(w, "value", 4);
  onnx_tensor_raw(w, ONNX_ATTR_T, "", ONNX_FLOAT, square, 2, big, sizeof big);
  onnx_attr_end(w);
  onnx_node_end(w);
  onnx_value(w, ONNX_GRAPH_OUTPUT, "y", ONNX_FLOAT, NULL);
  onnx_value(w, ONNX_GRAPH_OUTPUT, "z", ONNX_INT64, NULL);
  onnx_value(w, ONNX_GRAPH_OUTPUT, "r", ONNX_INT64, NULL);
  onnx_value(w, ONNX_GRAPH_OUTPUT, "k", ONNX_FLOAT, NULL);
  onnx_model_end(w);
  onnx_bytes(w, 6, text, 600);
  free(text);
}

static blob blob_of(const onnx_writer* w) { return (blob){.data = w->data, .size = w->size}; }

static stow_status import_with(stow_model* model, uint32_t flags, stow_allocator allocator,
                               stow_import** out_import) {
  stow_import_request* request = NULL;
  *out_import = NULL;
  stow_status status = stow_import_request_create(allocator, &diag, &request);
  if (status == STOW_OK) {
    stow_import_request_set_flags(request, flags);
    status = stow_import_model(model, request, allocator, &diag, out_import);
  }
  stow_import_request_destroy(request);
  return status;
}

static stow_import* import_all(stow_model* model, uint32_t flags) {
  stow_import* import = NULL;
  CHECK(import_with(model, flags, stow_allocator_default(), &import) == STOW_OK);
  return import;
}

static void check_same_text(const stow_graph* a, const stow_graph* b) {
  stow_string left, right;
  stow_string_init(&left, stow_allocator_default());
  stow_string_init(&right, stow_allocator_default());
  CHECK(stow_graph_print(a, stow_string_writer(&left)) == STOW_OK);
  CHECK(stow_graph_print(b, stow_string_writer(&right)) == STOW_OK);
  CHECK_TEXT(right.data, left.data);
  stow_string_free(&left);
  stow_string_free(&right);
}

static void check_same_data(const stow_graph* a, const stow_graph* b) {
  REQUIRE(stow_graph_value_count(a) == stow_graph_value_count(b));
  for (stow_value value = 0; value < stow_graph_value_count(a); ++value) {
    size_t left_size = 0, right_size = 0;
    const void* left = stow_graph_data(a, value, &left_size);
    const void* right = stow_graph_data(b, value, &right_size);
    REQUIRE((left == NULL) == (right == NULL) && left_size == right_size);
    CHECK(left == NULL || memcmp(left, right, left_size) == 0);
  }
}

// ---------------------------------------------------------------------------------------------
// The same model

TEST(ASourceGivesTheGraphOfTheMemory) {
  onnx_writer w = {0};
  write_model(&w);
  blob b = blob_of(&w);
  stow_model *near = NULL, *far = NULL;
  REQUIRE(stow_onnx_open_memory(w.data, w.size, NULL, stow_allocator_default(), &diag, &near) ==
          STOW_OK);
  REQUIRE(open_blob(&b, NULL, stow_allocator_default(), &far) == STOW_OK);
  stow_import* left = import_all(near, 0);
  stow_import* right = import_all(far, STOW_IMPORT_READ_WEIGHTS);
  stow_import* light = import_all(far, 0);
  REQUIRE(left != NULL && right != NULL && light != NULL && stow_import_graph(left) != NULL);
  check_same_text(stow_import_graph(left), stow_import_graph(right));
  check_same_data(stow_import_graph(left), stow_import_graph(right));
  check_same_text(stow_import_graph(left), stow_import_graph(light));
  stow_model_weights a = {.struct_size = sizeof a}, c = {.struct_size = sizeof c};
  CHECK(stow_model_count_weights(near, NULL, &diag, &a) == STOW_OK);
  CHECK(stow_model_count_weights(far, NULL, &diag, &c) == STOW_OK);
  CHECK(memcmp(&a, &c, sizeof a) == 0);
  stow_import_destroy(left);
  stow_import_destroy(right);
  stow_import_destroy(light);
  stow_model_close(near);
  stow_model_close(far);
  onnx_writer_free(&w);
}

TEST(ANamedSourceGivesTheGraphOfTheMappedFile) {
  onnx_writer w = {0};
  write_model(&w);
  char path[] = "/tmp/stowage-source-XXXXXX";
  int descriptor = mkstemp(path);
  REQUIRE(descriptor >= 0);
  CHECK(write(descriptor, w.data, w.size) == (ssize_t)w.size);
  close(descriptor);
  blob b = blob_of(&w);
  stow_model *near = NULL, *far = NULL;
  REQUIRE(stow_onnx_open(path, stow_allocator_default(), &diag, &near) == STOW_OK);
  REQUIRE(open_blob(&b, path, stow_allocator_default(), &far) == STOW_OK);
  stow_import* left = import_all(near, 0);
  stow_import* right = import_all(far, 0);
  stow_import* whole = import_all(far, STOW_IMPORT_READ_WEIGHTS);
  REQUIRE(left != NULL && right != NULL && whole != NULL);
  check_same_text(stow_import_graph(left), stow_import_graph(right));  // places in the file, too
  check_same_text(stow_import_graph(left), stow_import_graph(whole));
  check_same_data(stow_import_graph(left), stow_import_graph(whole));
  stow_import_destroy(left);
  stow_import_destroy(right);
  stow_import_destroy(whole);
  stow_model_close(near);
  stow_model_close(far);
  unlink(path);
  onnx_writer_free(&w);
}

// ---------------------------------------------------------------------------------------------
// Files that cannot be mapped

static int refusal;  // errno of every mapping; 0: none is refused

void* __real_mmap(void* at, size_t size, int protection, int flags, int file, off_t offset);
void* __wrap_mmap(void* at, size_t size, int protection, int flags, int file, off_t offset);
void* __wrap_mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
  errno = refusal;
  return refusal != 0 ? MAP_FAILED : __real_mmap(at, size, protection, flags, file, offset);
}

static stow_status open_refusing(int error, const char* path, stow_allocator allocator,
                                 stow_model** out_model) {
  refusal = error;
  stow_diag_init(&diag);
  stow_status status = stow_onnx_open(path, allocator, &diag, out_model);
  refusal = 0;
  return status;
}

// Writes the model to a file; |path| ends with XXXXXX.
static void save_model(char* path) {
  onnx_writer w = {0};
  write_model(&w);
  int descriptor = mkstemp(path);
  REQUIRE(descriptor >= 0);
  CHECK(write(descriptor, w.data, w.size) == (ssize_t)w.size);
  close(descriptor);
  onnx_writer_free(&w);
}

static void check_same_weights(const stow_graph* a, const stow_graph* b) {
  REQUIRE(stow_graph_value_count(a) == stow_graph_value_count(b));
  for (stow_value value = 0; value < stow_graph_value_count(a); ++value) {
    CHECK(stowi_graph_has_data(a, value) == stowi_graph_has_data(b, value));
  }
}

TEST(AFileThatCannotBeMappedGivesTheGraphOfTheMappedOne) {
  char path[] = "/tmp/stowage-source-XXXXXX";
  save_model(path);
  stow_model *near = NULL, *far = NULL;
  int before = dup(0);
  close(before);
  REQUIRE(stow_onnx_open(path, stow_allocator_default(), &diag, &near) == STOW_OK);
  REQUIRE(open_refusing(ENODEV, path, stow_allocator_default(), &far) == STOW_OK);
  stow_import* left = import_all(near, 0);
  stow_import* right = import_all(far, 0);
  stow_import* whole = import_all(far, STOW_IMPORT_READ_WEIGHTS);
  REQUIRE(left != NULL && right != NULL && whole != NULL);
  check_same_text(stow_import_graph(left), stow_import_graph(right));
  check_same_weights(stow_import_graph(left), stow_import_graph(right));
  check_same_data(stow_import_graph(left), stow_import_graph(whole));
  stow_import_destroy(left);
  stow_import_destroy(right);
  stow_import_destroy(whole);
  stow_model_close(near);
  stow_model_close(far);
  int after = dup(0);
  CHECK(after == before);  // no file is left open
  close(after);
  unlink(path);
}

TEST(AFileThatIsRefusedForAnotherReasonIsAnError) {
  char path[] = "/tmp/stowage-source-XXXXXX";
  save_model(path);
  stow_model* model = NULL;
  CHECK(open_refusing(ENOMEM, path, stow_allocator_default(), &model) == STOW_ERR_IO);
  CHECK(model == NULL);
  CHECK_HAS(diag.message, "out of address space");
  unlink(path);
}

TEST(AFileThatIsCutWhileItIsReadIsReported) {
  char path[] = "/tmp/stowage-source-XXXXXX";
  save_model(path);
  stow_model* model = NULL;
  REQUIRE(open_refusing(ENODEV, path, stow_allocator_default(), &model) == STOW_OK);
  CHECK(truncate(path, 10000) == 0);
  stow_import* import = NULL;
  CHECK(import_with(model, STOW_IMPORT_READ_WEIGHTS, stow_allocator_default(), &import) ==
        STOW_ERR_IO);
  CHECK_HAS(diag.message, "cannot read ");
  stow_model_close(model);
  unlink(path);
}

static stow_status open_unmapped(stow_allocator allocator, void* user) {
  stow_model* model = NULL;
  stow_status status = open_refusing(ENODEV, (const char*)user, allocator, &model);
  stow_model_close(model);
  return status;
}

TEST(EveryFailingAllocationWithoutAMappingIsReported) {
  char path[] = "/tmp/stowage-source-XXXXXX";
  save_model(path);
  CHECK(test_fault_sweep(open_unmapped, path) > 5);
  unlink(path);
}

// ---------------------------------------------------------------------------------------------

TEST(WeightsAreReadOnlyWhenAskedFor) {
  onnx_writer w = {0};
  write_model(&w);
  blob b = blob_of(&w);
  stow_model* model = NULL;
  REQUIRE(open_blob(&b, "m.onnx", stow_allocator_default(), &model) == STOW_OK);
  CHECK(b.bytes < w.size / 2);
  const stowi_onnx_image* image = &((const stowi_onnx_model*)model)->image;
  CHECK(image->bytes.count < 4096 && image->size == w.size);
  size_t opened = b.bytes;
  stow_import* import = import_all(model, 0);
  CHECK(b.bytes - opened < 16384);
  const stow_graph* graph = stow_import_graph(import);
  REQUIRE(graph != NULL);
  CHECK(stow_graph_data(graph, stow_graph_find(graph, stow_str_of("big")), NULL) == NULL);
  CHECK(stow_graph_data(graph, stow_graph_find(graph, stow_str_of("packed")), NULL) == NULL);
  CHECK(stow_graph_data(graph, stow_graph_find(graph, stow_str_of("row")), NULL) != NULL);
  stow_import_destroy(import);
  stow_model_close(model);
  onnx_writer_free(&w);
}

// ---------------------------------------------------------------------------------------------
// What goes wrong

TEST(EveryFailingReadIsReported) {
  onnx_writer w = {0};
  write_model(&w);
  stow_status status = STOW_ERR_IO;
  size_t failures = 0;
  for (size_t n = 1; status != STOW_OK; ++n) {
    blob b = blob_of(&w);
    b.fail_at = n;
    stow_model* model = NULL;
    stow_import* import = NULL;
    status = open_blob(&b, "m.onnx", stow_allocator_default(), &model);
    if (status == STOW_OK) {
      status = import_with(model, STOW_IMPORT_READ_WEIGHTS, stow_allocator_default(), &import);
    }
    CHECK(status == STOW_OK || status == STOW_ERR_IO);
    if (status != STOW_OK) {
      CHECK_HAS(diag.message, "m.onnx: cannot read ");
      CHECK(import == NULL);
      ++failures;
    }
    stow_import_destroy(import);
    stow_model_close(model);
  }
  CHECK(failures > 8);
  onnx_writer_free(&w);
}

static stow_status attempt(stow_allocator allocator, void* user) {
  blob b = blob_of((const onnx_writer*)user);
  stow_model* model = NULL;
  stow_import* import = NULL;
  stow_status status = open_blob(&b, "m.onnx", allocator, &model);
  if (status == STOW_OK) {
    status = import_with(model, STOW_IMPORT_READ_WEIGHTS, allocator, &import);
  }
  stow_import_destroy(import);
  stow_model_close(model);
  return status;
}

TEST(EveryFailingAllocationIsReported) {
  onnx_writer w = {0};
  write_model(&w);
  CHECK(test_fault_sweep(attempt, &w) > 20);
  onnx_writer_free(&w);
}

// Opens the bytes both ways, and reads all initializers; both say the same.
static void check_alike(const uint8_t* data, size_t size) {
  stow_allocator heap = stow_allocator_default();
  stow_model* models[2] = {NULL, NULL};
  stow_diag said[2];
  stow_status status[2];
  blob b = {.data = data, .size = size};
  status[0] = open_blob(&b, NULL, heap, &models[0]);
  said[0] = diag;
  stow_diag_init(&diag);
  status[1] = stow_onnx_open_memory(data, size, NULL, heap, &diag, &models[1]);
  said[1] = diag;
  CHECK(status[0] == status[1]);
  CHECK_TEXT(said[0].message, said[1].message);
  const stowi_onnx_graph* graphs[2] = {NULL, NULL};
  for (int k = 0; k < 2 && models[k] != NULL; ++k) {
    graphs[k] = &stowi_onnx_proto_of(models[k])->graph;
  }
  bool are_open = graphs[0] != NULL && graphs[1] != NULL;
  for (size_t i = 0; are_open && i < graphs[0]->initializer_count; ++i) {
    stowi_onnx_bytes bytes[2];
    for (int k = 0; k < 2; ++k) {
      stow_diag_init(&said[k]);
      status[k] = stowi_onnx_tensor_bytes(models[k], &graphs[k]->initializers[i], heap, &said[k],
                                          &bytes[k]);
    }
    CHECK(status[0] == status[1] && strcmp(said[0].message, said[1].message) == 0);
    CHECK(status[0] != STOW_OK || (bytes[0].size == bytes[1].size &&
                                   memcmp(bytes[0].bytes, bytes[1].bytes, bytes[0].size) == 0));
    for (int k = 0; k < 2; ++k) {
      if (bytes[k].is_owned) {
        stowi_free(heap, (void*)(uintptr_t)bytes[k].bytes, bytes[k].size, 1);
      }
    }
  }
  stow_model_close(models[0]);
  stow_model_close(models[1]);
}

TEST(DamageIsFoundAsInMemory) {
  onnx_writer w = {0};
  write_model(&w);
  uint8_t* bytes = (uint8_t*)malloc(w.size);
  test_random random = {5};
  // Structure is where no weight is: before the first, between them, and at the end.
  for (int trial = 0; trial < (test_is_long() ? 100000 : 3000); ++trial) {
    memcpy(bytes, w.data, w.size);
    for (uint64_t n = 1 + test_random_below(&random, 3); n > 0; --n) {
      uint64_t at = test_random_below(&random, 2) == 0
                        ? 3000 + test_random_below(&random, 800)
                        : w.size - 1 - test_random_below(&random, w.size / 3);
      bytes[at] = (uint8_t)test_random_u64(&random);
    }
    check_alike(bytes, w.size);
  }
  free(bytes);
  onnx_writer_free(&w);
}

TEST(EveryPrefixIsRefusedAsInMemory) {
  onnx_writer w = {0};
  write_model(&w);
  for (size_t size = 0; size < w.size; size += size < 4096 ? 1 : 997) {
    check_alike(w.data, size);
  }
  onnx_writer_free(&w);
}

TEST(GroupsAndForeignFilesAreReadAsInMemory) {
  static const char pointer[] = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n";
  check_alike((const uint8_t*)pointer, sizeof pointer - 1);
  onnx_writer w = {0};
  onnx_put_tag(&w, 900, 3);
  onnx_put_tag(&w, 901, 3);
  static const uint8_t zeros[1000];
  onnx_bytes(&w, 5, zeros, sizeof zeros);
  onnx_put_tag(&w, 901, 4);
  onnx_put_tag(&w, 900, 4);
  onnx_model_begin(&w, 8, 17);
  onnx_node(&w, "Relu", "x", "y");
  onnx_model_end(&w);
  check_alike(w.data, w.size);
  onnx_put_tag(&w, 900, 3);  // without an end
  onnx_bytes(&w, 5, zeros, sizeof zeros);
  check_alike(w.data, w.size);
  onnx_put_tag(&w, 7, 4);  // the end of another
  onnx_bytes(&w, 5, zeros, sizeof zeros);
  check_alike(w.data, w.size);
  onnx_writer_free(&w);
}

static stow_status read_zeros(void* user, uint64_t offset, void* bytes, size_t count) {
  *(uint64_t*)user += count;
  CHECK(offset <= UINT64_MAX - count);
  memset(bytes, 0, count);
  return STOW_OK;
}

TEST(AnEndlessSourceIsNotReadToItsEnd) {
  uint64_t bytes = 0;
  stow_source source = {UINT64_MAX, read_zeros, &bytes};
  stow_model* model = NULL;
  stow_diag_init(&diag);
  CHECK(stow_onnx_open_source(&source, NULL, stow_allocator_default(), &diag, &model) ==
        STOW_ERR_SYNTAX);
  CHECK(model == NULL && bytes < 1 << 20);
}

// A length of 2^62 in a source that says it has that many bytes.
TEST(ASourceThatLiesAboutItsSizeIsRefused) {
  onnx_writer w = {0};
  onnx_int(&w, ONNX_MODEL_IR_VERSION, 8);
  onnx_put_tag(&w, ONNX_MODEL_GRAPH, 2);
  onnx_put_varint(&w, UINT64_C(1) << 62);
  onnx_put_tag(&w, ONNX_GRAPH_INITIALIZER, 2);
  onnx_put_varint(&w, UINT64_C(1) << 61);
  onnx_put_tag(&w, ONNX_TENSOR_RAW, 2);
  onnx_put_varint(&w, UINT64_C(1) << 60);
  blob b = blob_of(&w);
  stow_source source = {UINT64_C(1) << 63, read_blob, &b};
  stow_model* model = NULL;
  test_heap heap = {0};
  stow_diag_init(&diag);
  CHECK(stow_onnx_open_source(&source, NULL, test_heap_allocator(&heap), &diag, &model) ==
        STOW_ERR_IO);
  CHECK_HAS(diag.message, "cannot read");
  CHECK(heap.live_blocks == 0 && heap.peak_bytes < 1 << 20);
  onnx_writer_free(&w);
}
