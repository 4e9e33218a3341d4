// Files made to do harm: none reads outside of itself, none takes more memory than it is worth, all
// are refused with a message or read.
#include <stdlib.h>
#include <string.h>

#include "onnx/onnx_writer.h"
#include "onnx/reader/proto.h"
#include "support/fault.h"
#include "support/test.h"

static stow_diag diag;

// Opens and asks for everything that does not import.
static stow_status examine(const void* data, size_t size, stow_allocator allocator) {
  stow_diag_init(&diag);
  stow_model* model = NULL;
  stow_status status = stow_onnx_open_memory(data, size, NULL, allocator, &diag, &model);
  CHECK((status == STOW_OK) == (model != NULL) && (status == STOW_OK) == (diag.message[0] == '\0'));
  if (model == NULL) {
    return status;
  }
  const stowi_onnx_graph* graph = &stowi_onnx_proto_of(model)->graph;
  for (size_t i = 0; i < graph->initializer_count; ++i) {
    stowi_onnx_bytes bytes;
    if (stowi_onnx_tensor_bytes(model, &graph->initializers[i], allocator, NULL, &bytes) ==
            STOW_OK &&
        bytes.is_owned) {
      stowi_free(allocator, (void*)(uintptr_t)bytes.bytes, bytes.size, 1);
    }
  }
  stow_string text;
  stow_string_init(&text, allocator);
  stow_model_info info = {.struct_size = sizeof(info)};
  CHECK(stow_model_describe(model, &info) == STOW_OK);
  for (size_t i = 0; i < info.input_count; ++i) {
    CHECK(stow_model_print_type(model, STOW_MODEL_INPUTS, i, stow_string_writer(&text)) == STOW_OK);
  }
  stow_string_free(&text);
  stow_model_weights weights = {.struct_size = sizeof(weights)};
  (void)stow_model_count_weights(model, NULL, NULL, &weights);
  stow_model_close(model);
  return status;
}

// The bytes in a block of exactly their size, so that sanitizers see a read behind the end.
static stow_status examine_copy(const void* data, size_t size) {
  uint8_t* copy = (uint8_t*)malloc(size == 0 ? 1 : size);
  if (size > 0) {
    memcpy(copy, data, size);
  }
  stow_status status = examine(size == 0 ? NULL : copy, size, stow_allocator_default());
  free(copy);
  return status;
}

static void write_small_model(onnx_writer* w) {
  static const int64_t dims[] = {2, 3};
  onnx_model_begin(w, 8, 17);
  onnx_value(w, ONNX_GRAPH_INPUT, "x", ONNX_FLOAT, "N 3 ?");
  onnx_tensor_begin(w, ONNX_GRAPH_INITIALIZER, "w", ONNX_INT64, dims, 2);
  onnx_packed_ints(w, ONNX_TENSOR_INT64_DATA, (const int64_t[]){1, 2, 3, -4, 5, 600}, 6);
  onnx_tensor_end(w);
  onnx_tensor_raw(w, ONNX_GRAPH_INITIALIZER, "v", ONNX_UINT8, dims, 2, "abcdef", 6);
  onnx_node_begin(w, "Conv", "x w", "y");
  onnx_attr_ints(w, "pads", (const int64_t[]){1, 1}, 2);
  onnx_attr_begin(w, "body", STOWI_ONNX_ATTR_GRAPH);
  onnx_begin(w, ONNX_ATTR_G);
  onnx_node(w, "Relu", "y", "a");
  onnx_end(w);
  onnx_attr_end(w);
  onnx_node_end(w);
  onnx_begin(w, ONNX_GRAPH_INPUT);
  onnx_string(w, 1, "s");
  onnx_begin(w, 2);
  onnx_begin(w, 4);
  onnx_tensor_type(w, 1, ONNX_FLOAT, "4 4");
  onnx_end(w);
  onnx_end(w);
  onnx_end(w);
  onnx_value(w, ONNX_GRAPH_OUTPUT, "y", ONNX_FLOAT, "N 3");
  onnx_model_end(w);
}

TEST(EveryPrefixIsRefused) {
  onnx_writer w = {0};
  write_small_model(&w);
  for (size_t size = 0; size < w.size; ++size) {
    CHECK(examine_copy(w.data, size) == STOW_ERR_SYNTAX);
  }
  CHECK(examine_copy(w.data, w.size) == STOW_OK);
  onnx_writer_free(&w);
}

TEST(EveryByteMayBeAnyOther) {
  onnx_writer w = {0};
  write_small_model(&w);
  for (size_t i = 0; i < w.size; ++i) {
    uint8_t right = w.data[i];
    for (int wrong = 0; wrong < 256; wrong += test_is_long() ? 1 : 17) {
      w.data[i] = (uint8_t)wrong;
      examine_copy(w.data, w.size);
    }
    w.data[i] = right;
  }
  onnx_writer_free(&w);
}

TEST(RandomDamageIsSurvived) {
  onnx_writer w = {0};
  write_small_model(&w);
  uint8_t* bytes = (uint8_t*)malloc(w.size);
  test_random random = {11};
  for (int trial = 0; trial < (test_is_long() ? 200000 : 2000); ++trial) {
    memcpy(bytes, w.data, w.size);
    for (uint64_t n = 1 + test_random_below(&random, 6); n > 0; --n) {
      bytes[test_random_below(&random, w.size)] = (uint8_t)test_random_u64(&random);
    }
    examine_copy(bytes, w.size);
  }
  free(bytes);
  onnx_writer_free(&w);
}

// Subgraphs in subgraphs, three messages each.
static void write_deep_graphs(onnx_writer* w, size_t depth) {
  onnx_model_begin(w, 8, 17);
  for (size_t i = 0; i < depth; ++i) {
    onnx_node_begin(w, "If", "", "");
    onnx_attr_begin(w, "b", STOWI_ONNX_ATTR_GRAPH);
    onnx_begin(w, ONNX_ATTR_G);
  }
  for (size_t i = 0; i < 3 * depth; ++i) {
    onnx_end(w);
  }
  onnx_model_end(w);
}

TEST(DeepGraphsAreReadOrRefused) {
  onnx_writer w = {0};
  write_deep_graphs(&w, 33);
  CHECK(examine_copy(w.data, w.size) == STOW_OK);
  onnx_writer_free(&w);
  write_deep_graphs(&w, 34);
  CHECK(examine_copy(w.data, w.size) == STOW_ERR_LIMIT);
  onnx_writer_free(&w);
  write_deep_graphs(&w, 3400);
  CHECK(examine_copy(w.data, w.size) == STOW_ERR_LIMIT);
  CHECK_HAS(diag.message, "messages are nested more than 100 deep");
  CHECK_HAS(diag.message, "…attribute[0].g.node[0]");
  onnx_writer_free(&w);
}

static void write_deep_type(onnx_writer* w, size_t depth) {
  onnx_model_begin(w, 8, 17);
  onnx_begin(w, ONNX_GRAPH_INPUT);
  onnx_string(w, 1, "x");
  for (size_t i = 0; i < depth; ++i) {
    onnx_begin(w, i == 0 ? 2 : 1);
    onnx_begin(w, 4);
  }
  for (size_t i = 0; i < 2 * depth + 1; ++i) {
    onnx_end(w);
  }
  onnx_model_end(w);
}

TEST(DeepTypesAreReadOrRefused) {
  onnx_writer w = {0};
  write_deep_type(&w, 30);
  CHECK(examine_copy(w.data, w.size) == STOW_OK);
  onnx_writer_free(&w);
  write_deep_type(&w, 5000);
  CHECK(examine_copy(w.data, w.size) == STOW_ERR_LIMIT);
  CHECK_HAS(diag.message, "types are nested more than 32 deep");
  onnx_writer_free(&w);
}

TEST(DeepGroupsAreRefused) {
  onnx_writer w = {0};
  onnx_model_begin(&w, 8, 17);
  onnx_model_end(&w);
  for (int i = 0; i < 10000; ++i) {
    onnx_put_tag(&w, 900, 3);
  }
  CHECK(examine_copy(w.data, w.size) == STOW_ERR_SYNTAX);
  CHECK_HAS(diag.message, "groups are nested too deeply");
  onnx_writer_free(&w);
}

TEST(WeightsWhoseSumOverflowsAreAnError) {
  onnx_writer w = {0};
  onnx_model_begin(&w, 8, 17);
  for (int i = 0; i < 3; ++i) {
    onnx_tensor_begin(&w, ONNX_GRAPH_INITIALIZER, "w", ONNX_INT8, (const int64_t[]){INT64_MAX}, 1);
    onnx_tensor_end(&w);
  }
  onnx_model_end(&w);
  stow_model* model = NULL;
  REQUIRE(stow_onnx_open_memory(w.data, w.size, NULL, stow_allocator_default(), NULL, &model) ==
          STOW_OK);
  stow_model_weights weights = {.struct_size = sizeof(weights)};
  CHECK(stow_model_count_weights(model, NULL, &diag, &weights) == STOW_ERR_OVERFLOW);
  CHECK(weights.tensors == 0);
  stow_model_close(model);
  onnx_writer_free(&w);
}

// ---------------------------------------------------------------------------------------------
// Bombs: many times the smallest thing of a kind. Memory must stay within a fixed multiple of the
// file.

enum { BOMB_SIZE = 200000, BYTES_PER_BYTE = 64 };

static void check_bomb(onnx_writer* w, size_t open) {
  while (open-- > 0) {
    onnx_end(w);
  }
  test_heap heap = {0};
  (void)examine(w->data, w->size, test_heap_allocator(&heap));
  CHECK_U64(heap.live_blocks, 0);
  test_check(heap.peak_bytes < BYTES_PER_BYTE * w->size, __FILE__, __LINE__,
             "%zu bytes for a file of %zu", heap.peak_bytes, w->size);
  onnx_writer_free(w);
}

// Fills with |bytes|.
static void fill(onnx_writer* w, const char* bytes, size_t size) {
  for (size_t i = 0; i < BOMB_SIZE; i += size) {
    onnx_put(w, bytes, size);
  }
}

TEST(BombsOfSmallMessagesCostBoundedMemory) {
  static const struct {
    const char* bytes;
    size_t size;
  } items[] = {
      {"\x0a\x00", 2},                      // node
      {"\x0a\x03\x22\x01n", 5},             // node with an op
      {"\x0a\x0a\x22\x01n\x2a\x05\x0a\x01"  // node with a named attribute
       "a\x2a\x00",
       12},
      {"\x2a\x00", 2},                                    // initializer
      {"\x2a\x03\x42\x01n", 5},                           // named initializer
      {"\x5a\x00", 2},                                    // input
      {"\x5a\x03\x0a\x01n", 5},                           // named input
      {"\x6a\x03\x0a\x01n", 5},                           // named value
      {"\x7a\x00", 2},                                    // sparse initializer
      {"\x7a\x09\x0a\x03\x42\x01n\x12\x02\x10\x01", 11},  // named sparse initializer
      {"\x7a\x08\x0a\x00\x12\x00\x1a\x00\x1a\x00", 10},   // the smallest sparse initializer
  };
  for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); ++i) {
    onnx_writer w = {0};
    onnx_model_begin(&w, 8, 17);
    fill(&w, items[i].bytes, items[i].size);
    check_bomb(&w, 1);
  }
}

TEST(BombsInNodesCostBoundedMemory) {
  static const struct {
    const char* bytes;
    size_t size;
  } items[] = {
      {"\x0a\x00", 2},                                        // input
      {"\x12\x00", 2},                                        // output
      {"\x2a\x00", 2},                                        // attribute
      {"\x2a\x03\x0a\x01n", 5},                               // named attribute
      {"\x2a\x05\x0a\x01n\x2a\x00", 7},                       // with an empty tensor
      {"\x2a\x05\x0a\x01n\x32\x00", 7},                       // with an empty graph
      {"\x2a\x05\x0a\x01n\x4a\x00", 7},                       // with an empty string
      {"\x2a\x0a\x0a\x01n\xb2\x01\x04\x0a\x00\x12\x00", 12},  // with an empty sparse tensor
  };
  for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); ++i) {
    onnx_writer w = {0};
    onnx_model_begin(&w, 8, 17);
    onnx_node_begin(&w, "Op", "", "");
    fill(&w, items[i].bytes, items[i].size);
    check_bomb(&w, 2);
  }
}

TEST(BombsOfNumbersAndDimsCostBoundedMemory) {
  static const uint32_t fields[] = {ONNX_ATTR_INTS, ONNX_ATTR_FLOATS};
  for (size_t i = 0; i < 2; ++i) {
    onnx_writer w = {0};
    onnx_model_begin(&w, 8, 17);
    onnx_node_begin(&w, "Op", "", "");
    onnx_attr_begin(&w, "a", STOWI_ONNX_ATTR_UNDEFINED);
    onnx_begin(&w, fields[i]);
    fill(&w, "\0\0\0\0", 4);
    check_bomb(&w, 4);
  }
  onnx_writer w = {0};
  onnx_model_begin(&w, 8, 17);
  onnx_begin(&w, ONNX_GRAPH_INPUT);
  onnx_string(&w, 1, "x");
  for (uint32_t i = 0; i < 3; ++i) {
    onnx_begin(&w, i == 1 ? 1 : 2);
  }
  fill(&w, "\x0a\x00", 2);
  check_bomb(&w, 5);
  onnx_model_begin(&w, 8, 17);
  onnx_begin(&w, ONNX_GRAPH_INITIALIZER);
  onnx_begin(&w, ONNX_TENSOR_DIMS);
  fill(&w, "\x01", 1);
  check_bomb(&w, 3);
}

TEST(BombsOfOpsetsAndFunctionsCostBoundedMemory) {
  onnx_writer w = {0};
  onnx_model_begin(&w, 8, 17);
  onnx_model_end(&w);
  fill(&w, "\x42\x00", 2);
  check_bomb(&w, 0);
  onnx_model_begin(&w, 8, 17);
  onnx_model_end(&w);
  fill(&w, "\xca\x01\x03\x0a\x01n", 6);
  check_bomb(&w, 0);
}
