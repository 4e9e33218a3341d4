// Any bytes as an ONNX model, in memory and through a source. What opens tells all its facts, gives
// the bytes of its tensors and is imported; what is imported verifies, prints and parses again,
// also with its symbols bound.
#include <stdint.h>
#include <stowage/onnx.h>
#include <stowage/text.h>
#include <string.h>

#include "onnx/reader/proto.h"

static void require(int condition) {
  if (!condition) {
    __builtin_trap();
  }
}

static stow_status count_bytes(void* user, const char* data, size_t size) {
  (void)data;
  *(size_t*)user += size;
  return STOW_OK;
}

static void ask_facts(const stow_model* model) {
  size_t nodes = 0, written = 0;
  stow_model_info info = {.struct_size = sizeof(info)};
  require(stow_model_describe(model, &info) == STOW_OK);
  for (size_t i = 0; i < info.op_kind_count; ++i) {
    size_t count;
    require(stow_model_op_kind(model, i, NULL, &count).size > 0);
    nodes += count;
  }
  require(nodes == info.node_count);
  stow_writer writer = {count_bytes, &written};
  for (size_t i = 0; i < info.input_count; ++i) {
    require(stow_model_print_type(model, STOW_MODEL_INPUTS, i, writer) == STOW_OK && written > 0);
  }
  for (size_t i = 0; i < info.output_count; ++i) {
    require(stow_model_print_type(model, STOW_MODEL_OUTPUTS, i, writer) == STOW_OK && written > 0);
  }
  stow_model_weights weights = {.struct_size = sizeof(weights)};
  stow_status status = stow_model_count_weights(model, NULL, NULL, &weights);
  require(status == STOW_OK || status == STOW_ERR_OVERFLOW);
  require(weights.external_bytes <= weights.bytes);
}

// Reads every byte, so that a sanitizer sees one that is not there.
static uint8_t touch(const stowi_onnx_bytes* bytes) {
  uint8_t sum = 0;
  for (size_t i = 0; i < bytes->size; ++i) {
    sum = (uint8_t)(sum ^ ((const uint8_t*)bytes->bytes)[i]);
  }
  return sum;
}

static void ask_bytes(stow_model* model, size_t file_size) {
  const stowi_onnx_graph* graph = &stowi_onnx_proto_of(model)->graph;
  volatile uint8_t sum = 0;
  for (size_t i = 0; i < graph->initializer_count; ++i) {
    stowi_onnx_bytes bytes;
    stow_status status = stowi_onnx_tensor_bytes(model, &graph->initializers[i],
                                                 stow_allocator_default(), NULL, &bytes);
    if (status == STOW_OK) {
      require(bytes.size <= file_size * 8);
      sum = (uint8_t)(sum ^ touch(&bytes));
    }
    if (bytes.is_owned) {
      stowi_free(stow_allocator_default(), (void*)(uintptr_t)bytes.bytes, bytes.size, 1);
    }
  }
}

static void ask_text(const stow_graph* graph) {
  stow_string text;
  stow_module* module = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_string_init(&text, stow_allocator_default());
  require(stow_graph_print(graph, stow_string_writer(&text)) == STOW_OK);
  require(stow_module_parse(text.data, text.size, "fuzz", NULL, stow_allocator_default(), &diag,
                            &module) == STOW_OK);
  stow_module_destroy(module);
  stow_string_free(&text);
}

// Whether an issue says why there is no graph.
static bool has_reason(const stow_import* import) {
  for (size_t i = 0; i < stow_import_issue_count(import); ++i) {
    stow_import_issue issue = *stow_import_issue_at(import, i);
    require(issue.reason.size > 0);
    if (issue.kind == STOW_IMPORT_UNSUPPORTED || issue.kind == STOW_IMPORT_NEEDS_SHAPE ||
        issue.kind == STOW_IMPORT_NEEDS_VALUE) {
      return true;
    }
  }
  return false;
}

static void ask_import(stow_model* model, bool binds_rest) {
  stow_import_request* request = NULL;
  stow_import* import = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  require(stow_import_request_create(stow_allocator_default(), &diag, &request) == STOW_OK);
  require(!binds_rest || stow_import_request_bind_rest(request, 3, &diag) == STOW_OK);
  stow_status status = stow_import_model(model, request, stow_allocator_default(), &diag, &import);
  require(status == diag.status && (status == STOW_OK) == (import != NULL));
  require(status == STOW_OK || diag.message[0] != '\0');
  require(status != STOW_OK || stow_import_graph(import) != NULL || has_reason(import));
  const stow_graph* graph = import == NULL ? NULL : stow_import_graph(import);
  if (graph != NULL) {
    require(stow_graph_verify(graph, &diag) == STOW_OK);
    ask_text(graph);
  }
  stow_import_destroy(import);
  stow_import_request_destroy(request);
}

static void ask_all(stow_model* model, size_t file_size) {
  ask_facts(model);
  ask_bytes(model, file_size);
  ask_import(model, false);
  ask_import(model, true);
  stow_model_close(model);
}

typedef struct blob {
  const uint8_t* data;
  size_t size;
} blob;

static stow_status read_blob(void* user, uint64_t offset, void* bytes, size_t count) {
  const blob* b = (const blob*)user;
  require(count <= b->size && offset <= b->size - count);
  memcpy(bytes, b->data + offset, count);
  return STOW_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  stow_model* model = NULL;
  stow_model* far = NULL;
  stow_diag diag, far_diag;
  stow_diag_init(&diag);
  stow_diag_init(&far_diag);
  blob b = {data, size};
  stow_source source = {size, read_blob, &b};
  stow_status status =
      stow_onnx_open_memory(data, size, NULL, stow_allocator_default(), &diag, &model);
  require(stow_onnx_open_source(&source, NULL, stow_allocator_default(), &far_diag, &far) ==
          status);
  if (status != STOW_OK) {
    bool is_placed = strncmp(diag.message, "byte ", 5) == 0;
    require(model == NULL && diag.status == status);
    require(is_placed || strncmp(diag.message, "not an ONNX model", 17) == 0);
    require(far == NULL && far_diag.message[0] != '\0');
    return 0;
  }
  ask_all(model, size);
  ask_all(far, size);
  return 0;
}
