#include "onnx/import_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <stowage/text.h>
#include <string.h>

void import_begin(import_model* m) {
  memset(m, 0, sizeof(*m));
  stow_diag_init(&m->diag);
  onnx_model_begin(&m->w, 8, 17);
  if (stow_import_request_create(stow_allocator_default(), NULL, &m->request) != STOW_OK) {
    abort();
  }
}

static void print(import_model* m) {
  stow_string text;
  stow_string_init(&text, stow_allocator_default());
  if (stow_graph_print(m->graph, stow_string_writer(&text)) != STOW_OK) {
    abort();
  }
  snprintf(m->text, sizeof(m->text), "%s", text.data);
  stow_string_free(&text);
}

stow_status import_run(import_model* m, bool is_ended) {
  if (!is_ended) {
    onnx_model_end(&m->w);
  }
  stow_allocator allocator = stow_allocator_default();
  stow_status status =
      stow_onnx_open_memory(m->w.data, m->w.size, NULL, allocator, &m->diag, &m->model);
  if (status != STOW_OK) {
    return status;
  }
  status = stow_import_model(m->model, m->request, allocator, &m->diag, &m->import);
  if (status == STOW_OK) {
    m->graph = stow_import_graph(m->import);
  }
  if (m->graph != NULL) {
    print(m);
  }
  return status;
}

void import_end(import_model* m) {
  stow_import_destroy(m->import);
  stow_model_close(m->model);
  stow_import_request_destroy(m->request);
  onnx_writer_free(&m->w);
}

size_t import_issue(const import_model* m, stow_import_issue_kind kind, size_t from) {
  for (size_t i = from; i < stow_import_issue_count(m->import); ++i) {
    if (stow_import_issue_at(m->import, i)->kind == kind) {
      return i;
    }
  }
  return SIZE_MAX;
}

const char* import_reason(const import_model* m, stow_import_issue_kind kind) {
  static char text[2048];
  size_t index = m->import == NULL ? SIZE_MAX : import_issue(m, kind, 0);
  text[0] = '\0';
  if (index != SIZE_MAX) {
    stow_import_issue issue = *stow_import_issue_at(m->import, index);
    snprintf(text, sizeof(text), "%s: %s", issue.tensor.data, issue.reason.data);
  }
  return text;
}

size_t import_count(const import_model* m, stow_import_issue_kind kind) {
  size_t count = 0;
  for (size_t i = import_issue(m, kind, 0); i != SIZE_MAX; i = import_issue(m, kind, i + 1)) {
    ++count;
  }
  return count;
}

const char* import_type(const import_model* m, const char* name) {
  static char text[256];
  stow_value value =
      m->graph == NULL ? STOW_VALUE_NONE : stow_graph_find(m->graph, stow_str_of(name));
  if (value == STOW_VALUE_NONE) {
    return "none";
  }
  stow_string string;
  stow_string_init(&string, stow_allocator_default());
  if (stow_type_print(stow_graph_dims(m->graph), stow_graph_type(m->graph, value),
                      stow_string_writer(&string)) != STOW_OK) {
    abort();
  }
  snprintf(text, sizeof(text), "%s", string.data);
  stow_string_free(&string);
  return text;
}

void import_input(import_model* m, const char* name, int elem, const char* dims) {
  onnx_value(&m->w, ONNX_GRAPH_INPUT, name, elem, dims);
}

void import_output(import_model* m, const char* name) {
  onnx_begin(&m->w, ONNX_GRAPH_OUTPUT);
  onnx_string(&m->w, ONNX_VALUE_NAME, name);
  onnx_end(&m->w);
}

void import_i64(import_model* m, uint32_t field, const char* name, const int64_t* numbers,
                size_t count) {
  int64_t dim = (int64_t)count;
  onnx_tensor_raw(&m->w, field, name, ONNX_INT64, &dim, 1, numbers, count * sizeof(*numbers));
}

void import_f32_zeros(import_model* m, uint32_t field, const char* name, const int64_t* dims,
                      size_t rank) {
  size_t count = 1;
  for (size_t i = 0; i < rank; ++i) {
    count *= (size_t)dims[i];
  }
  float* zeros = (float*)calloc(count, sizeof(float));
  if (zeros == NULL) {
    abort();
  }
  onnx_tensor_raw(&m->w, field, name, ONNX_FLOAT, dims, rank, zeros, count * sizeof(float));
  free(zeros);
}

void import_constant(import_model* m, const char* name, const int64_t* numbers, size_t count) {
  bool is_scalar = count == SIZE_MAX;
  int64_t dim = (int64_t)count;
  onnx_node_begin(&m->w, "Constant", "", name);
  onnx_attr_begin(&m->w, "value", 4);
  onnx_tensor_raw(&m->w, ONNX_ATTR_T, "", ONNX_INT64, &dim, is_scalar ? 0 : 1, numbers,
                  (is_scalar ? 1 : count) * sizeof(*numbers));
  onnx_attr_end(&m->w);
  onnx_node_end(&m->w);
}
