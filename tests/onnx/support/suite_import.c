// What all that is done with a case begins with: its files, and the import of its model.
#define _POSIX_C_SOURCE 200809L
#include "onnx/support/suite_import.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_KNOWN_ELEMENTS 1024

void suite_conclude(suite_import* c, suite_outcome outcome, const char* format, ...) {
  va_list args;
  va_start(args, format);
  c->result.outcome = outcome;
  vsnprintf(c->result.reason, sizeof(c->result.reason), format, args);
  va_end(args);
}

bool suite_went_well(suite_import* c, stow_status status, const char* what) {
  if (status != STOW_OK) {
    suite_conclude(c, SUITE_FAILED, "%s: %s", what,
                   c->diag.message[0] != '\0' ? c->diag.message : stow_status_text(status));
  }
  return status == STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Files and memory

// Counts the blocks that are not freed.
static void* counting_reallocate(void* user, void* old, size_t old_size, size_t new_size,
                                 size_t alignment) {
  suite_import* c = (suite_import*)user;
  void* block = c->inner.reallocate(c->inner.user, old, old_size, new_size, alignment);
  if (old == NULL && block != NULL) {
    ++c->live_blocks;
  } else if (old != NULL && new_size == 0) {
    --c->live_blocks;
  }
  return block;
}

static char* read_file(const char* path, size_t* out_size) {
  FILE* file = fopen(path, "rb");
  char* bytes = NULL;
  *out_size = 0;
  if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
    long size = ftell(file);
    rewind(file);
    bytes = (char*)malloc(size > 0 ? (size_t)size : 1);
    *out_size = bytes == NULL || size < 0 ? 0 : fread(bytes, 1, (size_t)size, file);
  }
  if (file != NULL) {
    fclose(file);
  }
  return bytes;
}

bool suite_pb_path(const char* stem, size_t index, char* out_path, size_t size) {
  snprintf(out_path, size, "%s%zu.pb", stem, index);
  return access(out_path, R_OK) == 0;
}

bool suite_read_pb(suite_import* c, const char* path, suite_tensor* out) {
  memset(out, 0, sizeof(*out));
  out->bytes = read_file(path, &out->size);
  stowi_onnx_span message = {(const uint8_t*)out->bytes, out->size};
  return suite_went_well(c, stowi_onnx_read_tensor(c->pool, message, &c->diag, &out->tensor), path);
}

bool suite_fits_model(suite_import* c, const stowi_onnx_value_info* info,
                      const stowi_onnx_tensor* tensor) {
  bool fits = info->kind != STOWI_ONNX_INFO_TENSOR ||
              (info->elem == tensor->elem && (!info->has_shape || info->rank == tensor->rank));
  if (!fits) {
    suite_conclude(c, SUITE_UNSUPPORTED, "the case contradicts itself");
  }
  return fits;
}

// ---------------------------------------------------------------------------------------------
// Inputs

// The dims of a large input: where the model leaves one open, its symbol gets the number.
static bool bind_dims(suite_import* c, const stowi_onnx_value_info* info,
                      const stowi_onnx_tensor* tensor) {
  if (!info->has_shape) {
    return suite_went_well(
        c, stow_import_request_shape(c->request, info->name, tensor->dims, tensor->rank, &c->diag),
        "giving an input's shape");
  }
  for (size_t k = 0; k < info->rank && k < tensor->rank; ++k) {
    char unnamed[256];
    stow_str symbol = info->dims[k].name;
    if (info->dims[k].number >= 0) {
      continue;
    }
    if (info->dims[k].name.size == 0) {
      snprintf(unnamed, sizeof(unnamed), "%.*s.%zu", (int)info->name.size, info->name.data, k);
      symbol = stow_str_of(unnamed);
    }
    stow_status status = stow_import_request_bind(c->request, symbol, tensor->dims[k], &c->diag);
    if (status != STOW_ERR_DUPLICATE && !suite_went_well(c, status, "binding a dim")) {
      return false;
    }
  }
  return true;
}

static bool give_input(suite_import* c, const stowi_onnx_value_info* info, const char* path,
                       bool is_known) {
  suite_tensor file;
  if (info->kind != STOWI_ONNX_INFO_TENSOR || info->elem == STOWI_ONNX_ELEM_STRING) {
    return true;  // the import says what it thinks of it
  }
  if (!suite_read_pb(c, path, &file) || !suite_fits_model(c, info, &file.tensor)) {
    return false;
  }
  if (!is_known || file.tensor.elements > MAX_KNOWN_ELEMENTS) {
    return bind_dims(c, info, &file.tensor);
  }
  stow_onnx_tensor tensor = {.struct_size = sizeof(tensor)};
  stow_status status =
      stow_onnx_tensor_open(file.bytes, file.size, c->allocator, &c->diag, &tensor);
  if (status == STOW_OK) {
    status = stow_import_request_value_bytes(c->request, info->name, &tensor.type, tensor.data,
                                             tensor.size, &c->diag);
  }
  stow_onnx_tensor_close(&tensor);
  return suite_went_well(c, status, "giving an input's value");
}

bool suite_give_inputs(suite_import* c, bool are_known) {
  const stowi_onnx_graph* graph = &stowi_onnx_proto_of(c->model)->graph;
  char path[4096];
  stow_import_request_destroy(c->request);
  c->request = NULL;
  if (!suite_went_well(c, stow_import_request_create(c->allocator, &c->diag, &c->request),
                       "request")) {
    return false;
  }
  for (size_t k = 0; k < graph->input_count && suite_pb_path(c->inputs, k, path, sizeof(path));
       ++k) {
    if (!give_input(c, &graph->inputs[k], path, are_known)) {
      return false;
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Issues

static void print_issues(const suite_import* c) {
  for (size_t i = 0; c->verbose && i < stow_import_issue_count(c->import); ++i) {
    stow_import_issue issue = *stow_import_issue_at(c->import, i);
    printf("    issue %d: %.*s %.*s (%.*s): %.*s\n", (int)issue.kind, (int)issue.op.size,
           issue.op.data, (int)issue.node.size, issue.node.data, (int)issue.tensor.size,
           issue.tensor.data, (int)issue.reason.size, issue.reason.data);
  }
}

bool suite_has_objection(suite_import* c) {
  bool has_graph = stow_import_graph(c->import) != NULL;
  for (size_t i = 0; i < stow_import_issue_count(c->import); ++i) {
    stow_import_issue issue = *stow_import_issue_at(c->import, i);
    if (issue.kind == STOW_IMPORT_UNSUPPORTED || issue.kind == STOW_IMPORT_NEEDS_VALUE ||
        (issue.kind == STOW_IMPORT_NEEDS_SHAPE && !has_graph) || issue.kind == STOW_IMPORT_CUSTOM) {
      snprintf(c->result.op, sizeof(c->result.op), "%.*s", (int)issue.op.size, issue.op.data);
      suite_conclude(c, SUITE_UNSUPPORTED, "%.*s", (int)issue.reason.size, issue.reason.data);
      return true;
    }
  }
  return false;
}

static bool needs_shape(const suite_import* c, stow_str tensor) {
  for (size_t i = 0; i < stow_import_issue_count(c->import); ++i) {
    stow_import_issue issue = *stow_import_issue_at(c->import, i);
    if (issue.kind == STOW_IMPORT_NEEDS_SHAPE && stow_str_equal(issue.tensor, tensor)) {
      return true;
    }
  }
  return false;
}

bool suite_give_output_shapes(suite_import* c) {
  const stowi_onnx_graph* proto = &stowi_onnx_proto_of(c->model)->graph;
  bool is_given = false;
  suite_tensor file;
  char path[4096];
  for (size_t k = 0; k < proto->output_count && suite_pb_path(c->outputs, k, path, sizeof(path));
       ++k) {
    if (needs_shape(c, proto->outputs[k].name) && suite_read_pb(c, path, &file)) {
      is_given = stow_import_request_shape(c->request, proto->outputs[k].name, file.tensor.dims,
                                           file.tensor.rank, &c->diag) == STOW_OK ||
                 is_given;
    }
  }
  c->is_shape_given = c->is_shape_given || is_given;
  return is_given;
}

bool suite_import_again(suite_import* c, bool keep_all) {
  stow_import_destroy(c->import);
  stow_import_request_set_flags(c->request, keep_all ? STOW_IMPORT_KEEP_ALL : 0);
  stow_status status = stow_import_model(c->model, c->request, c->allocator, &c->diag, &c->import);
  if (!suite_went_well(c, status, keep_all ? "import" : "import without what is known")) {
    return false;
  }
  print_issues(c);
  return true;
}

// ---------------------------------------------------------------------------------------------

bool suite_import_begin(suite_import* c, const char* model, const char* inputs, const char* outputs,
                        bool verbose, stow_allocator inner) {
  *c = (suite_import){.inputs = inputs, .outputs = outputs, .verbose = verbose, .inner = inner};
  c->allocator = (stow_allocator){counting_reallocate, c};
  stow_diag_init(&c->diag);
  return suite_went_well(c, stow_onnx_open(model, c->allocator, &c->diag, &c->model), "open") &&
         suite_went_well(c, stowi_onnx_pool_create(c->allocator, &c->diag, &c->pool), "pool");
}

suite_result suite_import_end(suite_import* c) {
  stow_import_destroy(c->import);
  stow_import_request_destroy(c->request);
  stowi_onnx_pool_destroy(c->pool);
  stow_model_close(c->model);
  if (c->live_blocks != 0) {
    suite_conclude(c, SUITE_FAILED, "%zu blocks are left", c->live_blocks);
  }
  return c->result;
}
