// What stands against an import, or should be known about it. Each issue keeps its texts in one
// block of the import, so that it outlives model and request.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "onnx/import/importer.h"

// ---------------------------------------------------------------------------------------------
// Types as text

static stow_status append(void* user, const char* data, size_t size) {
  stowi_type_text* text = (stowi_type_text*)user;
  for (size_t i = 0; i < size && text->size + 1 < sizeof(text->text); ++i) {
    text->text[text->size++] = data[i];
  }
  text->text[text->size] = '\0';
  return STOW_OK;
}

stowi_type_text stowi_type_text_of(const stow_graph* graph, const stow_type* type) {
  stowi_type_text text = {0};
  stow_writer writer = {append, &text};
  (void)stowi_put(writer, stow_dtype_name(type->dtype));
  (void)stowi_put(writer, "[");
  for (uint32_t i = 0; i < type->rank; ++i) {
    (void)stowi_put(writer, i == 0 ? "" : ", ");
    if (type->dims[i] == STOW_DIM_INVALID) {
      (void)stowi_put(writer, "?");
    } else {
      (void)stow_dim_print(stow_graph_dims(graph), type->dims[i], writer);
    }
  }
  (void)stowi_put(writer, "]");
  return text;
}

// ---------------------------------------------------------------------------------------------
// Issues

// Copies |text| to |*at| with a NUL behind it, and moves |*at| past that.
static stow_str put(char** at, stow_str text) {
  char* start = *at;
  if (text.size != 0) {
    memcpy(start, text.data, text.size);
  }
  start[text.size] = '\0';
  *at = start + text.size + 1;
  return (stow_str){start, text.size};
}

stow_status stowi_add_issue(stowi_importer* imp, stow_onnx_issue_kind kind,
                            const stowi_onnx_node* node, stow_str tensor, const char* format, ...) {
  char reason[STOW_DIAG_MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason, sizeof(reason), format, arguments);
  va_end(arguments);
  stow_str none = {"", 0};
  stow_str parts[] = {node == NULL ? none : node->domain, node == NULL ? none : node->op,
                      node == NULL ? none : stowi_node_label(node), tensor, stow_str_of(reason)};
  size_t size = 0;
  for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); ++i) {
    size += parts[i].size + 1;  // all are parts of one mapping, or short
  }
  char* at = (char*)stowi_keep_bytes(imp, size);
  if (at == NULL || STOWI_VEC_RESERVE(imp->allocator, &imp->import->issues, 1) != STOW_OK) {
    return stowi_import_memory(imp);
  }
  stow_onnx_issue issue = {.kind = kind};
  issue.domain = put(&at, parts[0]);
  issue.op = put(&at, parts[1]);
  issue.node = put(&at, parts[2]);
  issue.tensor = put(&at, parts[3]);
  issue.reason = put(&at, parts[4]);
  imp->import->issues.data[imp->import->issues.count++] = issue;
  return STOW_OK;
}

size_t stow_onnx_import_issue_count(const stow_onnx_import* import) { return import->issues.count; }

stow_onnx_issue stow_onnx_import_issue(const stow_onnx_import* import, size_t index) {
  return import->issues.data[index];
}
