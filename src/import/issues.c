// What stands against an import, or should be known about it. Each issue keeps its texts in one
// block of the import, so that it outlives model and request.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "import/importer.h"

// ---------------------------------------------------------------------------------------------
// Types as text

static stow_status append(void* user, const char* data, size_t size) {
  stowi_import_type_text* text = (stowi_import_type_text*)user;
  for (size_t i = 0; i < size && text->size + 1 < sizeof(text->text); ++i) {
    text->text[text->size++] = data[i];
  }
  text->text[text->size] = '\0';
  return STOW_OK;
}

stowi_import_type_text stowi_import_type_text_of(const stow_graph* graph, const stow_type* type) {
  stowi_import_type_text text = {0};
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

stow_status stowi_import_add_issue(stowi_import_importer* imp, stow_import_issue_kind kind,
                                   const void* node, stow_str tensor, const char* format, ...) {
  char reason[STOW_DIAG_MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason, sizeof(reason), format, arguments);
  va_end(arguments);
  stowi_import_place place = {{"", 0}, {"", 0}, {"", 0}};
  if (node != NULL) {
    place = imp->model->provider->place_of(node);
  }
  stow_str parts[] = {place.domain, place.op, place.label, tensor, stow_str_of(reason)};
  size_t size = 0;
  for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); ++i) {
    size += parts[i].size + 1;  // all are parts of one mapping, or short
  }
  char* at = (char*)stowi_import_keep_bytes(imp, size);
  if (at == NULL || STOWI_VEC_RESERVE(imp->allocator, &imp->import->issues, 1) != STOW_OK) {
    return stowi_import_memory(imp);
  }
  stow_import_issue issue = {.kind = kind};
  issue.domain = put(&at, parts[0]);
  issue.op = put(&at, parts[1]);
  issue.node = put(&at, parts[2]);
  issue.tensor = put(&at, parts[3]);
  issue.reason = put(&at, parts[4]);
  imp->import->issues.data[imp->import->issues.count++] = issue;
  return STOW_OK;
}

size_t stow_import_issue_count(const stow_import* import) { return import->issues.count; }

const stow_import_issue* stow_import_issue_at(const stow_import* import, size_t index) {
  return index < import->issues.count ? &import->issues.data[index] : NULL;
}
