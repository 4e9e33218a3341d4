#include "onnx/lowering_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <stowage/onnx.h>
#include <stowage/text.h>
#include <string.h>

#include "onnx/onnx_writer.h"
#include "support/test.h"

static int32_t elem_of(const char* text) {
  static const struct {
    const char* name;
    int32_t elem;
  } elems[] = {{"f32", ONNX_FLOAT}, {"f16", ONNX_FLOAT16}, {"i64", ONNX_INT64}, {"i32", ONNX_INT32},
               {"u8", ONNX_UINT8},  {"i8", ONNX_INT8},     {"bool", ONNX_BOOL}};
  for (size_t i = 0; i < sizeof(elems) / sizeof(elems[0]); ++i) {
    if (strcmp(elems[i].name, text) == 0) {
      return elems[i].elem;
    }
  }
  return 0;
}

static void write_ints(onnx_writer* w, const char* name, const char* text) {
  int64_t numbers[8];
  size_t count = 0;
  char* rest;
  for (; *text != '\0' && count < 8; text = rest + (*rest == ',')) {
    numbers[count++] = strtoll(text, &rest, 10);
  }
  onnx_attr_ints(w, name, numbers, count);
}

enum { ATTR_TENSOR = 4, ATTR_FLOATS = 6, ATTR_STRINGS = 8 };

static void write_floats(onnx_writer* w, const char* name, const char* text) {
  char* rest;
  onnx_attr_begin(w, name, ATTR_FLOATS);
  for (; *text != '\0'; text = rest + (*rest == ',')) {
    onnx_float(w, ONNX_ATTR_FLOATS, (float)strtod(text, &rest));
  }
  onnx_attr_end(w);
}

static void write_strings(onnx_writer* w, const char* name, const char* text) {
  onnx_attr_begin(w, name, ATTR_STRINGS);
  while (*text != '\0') {
    char item[32];
    size_t size = strcspn(text, ",");
    snprintf(item, sizeof(item), "%.*s", (int)size, text);
    onnx_string(w, ONNX_ATTR_STRINGS, item);
    text += size + (text[size] == ',');
  }
  onnx_attr_end(w);
}

// Two zeros of type f32, i64 …; strings have no bytes.
static void write_tensor(onnx_writer* w, const char* name, const char* elem) {
  static const uint8_t zeros[16];
  static const int64_t two[] = {2};
  bool is_wide = strcmp(elem, "i64") == 0;
  onnx_attr_begin(w, name, ATTR_TENSOR);
  if (strcmp(elem, "string") == 0) {
    onnx_tensor_begin(w, ONNX_ATTR_T, "t", ONNX_STRING, two, 1);
    onnx_string(w, ONNX_TENSOR_STRING_DATA, "a");
    onnx_string(w, ONNX_TENSOR_STRING_DATA, "b");
    onnx_tensor_end(w);
  } else {
    onnx_tensor_raw(w, ONNX_ATTR_T, "t", elem_of(elem), two, 1, zeros, is_wide ? 16 : 8);
  }
  onnx_attr_end(w);
}

static void write_attr(onnx_writer* w, char* item) {
  char* value = strchr(item, '=');
  if (!CHECK(value != NULL)) {
    return;
  }
  *value++ = '\0';
  size_t size = strlen(value);
  if (value[0] == '\'') {
    value[size - 1] = '\0';
    onnx_attr_string(w, item, value + 1);
  } else if (value[0] == '@') {
    write_tensor(w, item, value + 1);
  } else if (value[0] >= 'a' && strchr(value, ',') != NULL) {
    write_strings(w, item, value);
  } else if (strchr(value, ',') != NULL && strchr(value, '.') != NULL) {
    write_floats(w, item, value);
  } else if (strchr(value, ',') != NULL) {
    write_ints(w, item, value);
  } else if (strchr(value, '.') != NULL) {
    onnx_attr_float(w, item, (float)atof(value));
  } else {
    onnx_attr_int(w, item, strtoll(value, NULL, 10));
  }
}

static void write_attrs(onnx_writer* w, const char* attrs) {
  while (*attrs != '\0') {
    char item[64];
    size_t size = strcspn(attrs, " ");
    snprintf(item, sizeof(item), "%.*s", (int)size, attrs);
    write_attr(w, item);
    attrs += size + (attrs[size] == ' ');
  }
}

// Declares inputs x0, x1, … and lists their names.
static void write_inputs(onnx_writer* w, const char* inputs, char* names, size_t capacity) {
  size_t used = 0;
  for (unsigned i = 0; *inputs != '\0'; ++i) {
    inputs += strspn(inputs, " ");
    size_t size = strcspn(inputs, ";");
    char elem[8] = "";
    char dims[64] = "";
    char name[8] = "-";
    char type[72];
    snprintf(type, sizeof(type), "%.*s", (int)size, inputs);
    sscanf(type, "%7s %63[^;]", elem, dims);
    if (elem[0] != '-') {
      snprintf(name, sizeof(name), "x%u", i);
      onnx_value(w, ONNX_GRAPH_INPUT, name, elem_of(elem), dims);
    }
    used += (size_t)snprintf(names + used, capacity - used, "%s%s", i == 0 ? "" : " ", name);
    inputs += size + (inputs[size] == ';');
  }
}

static void write_outputs(onnx_writer* w, const char* outputs) {
  while (*outputs != '\0') {
    char name[16];
    size_t size = strcspn(outputs, " ");
    snprintf(name, sizeof(name), "%.*s", (int)size, outputs);
    if (strcmp(name, "-") != 0) {
      onnx_value(w, ONNX_GRAPH_OUTPUT, name, ONNX_FLOAT, NULL);
    }
    outputs += size + (outputs[size] == ' ');
  }
}

static const struct {
  const char* prefix;
  const char* domain;
  int64_t version;
} domains[] = {{"training:", "ai.onnx.preview.training", 1},
               {"preview:", "ai.onnx.preview", 1},
               {"microsoft:", "com.microsoft", 1},
               {"ml:", "ai.onnx.ml", 5},
               {"aten:", "org.pytorch.aten", 1},
               {"own:", "org.example", 1}};

static const char* domain_of(const char* op) {
  for (size_t i = 0; i < sizeof(domains) / sizeof(domains[0]); ++i) {
    if (strncmp(op, domains[i].prefix, strlen(domains[i].prefix)) == 0) {
      return domains[i].domain;
    }
  }
  return "";
}

static void write_model(onnx_writer* w, const lowering_case* c) {
  char names[128];
  const char* colon = strchr(c->op, ':');
  onnx_model_begin(w, 8, c->opset);
  write_inputs(w, c->inputs, names, sizeof(names));
  onnx_node_begin(w, colon == NULL ? c->op : colon + 1, names, c->outputs);
  if (colon != NULL) {
    onnx_string(w, ONNX_NODE_DOMAIN, domain_of(c->op));
  }
  write_attrs(w, c->attrs);
  onnx_node_end(w);
  write_outputs(w, c->outputs);
  onnx_model_end(w);
  for (size_t i = 0; i < sizeof(domains) / sizeof(domains[0]); ++i) {
    onnx_opset(w, domains[i].domain, domains[i].version);
  }
}

static void check_import(const lowering_case* c, stow_import* import) {
  stow_graph* graph = stow_import_graph(import);
  stow_string text;
  stow_string_init(&text, stow_allocator_default());
  if (graph != NULL) {
    CHECK(stow_graph_print(graph, stow_string_writer(&text)) == STOW_OK);
  } else if (CHECK(stow_import_issue_count(import) != 0)) {
    stow_str reason = stow_import_issue_at(import, 0)->reason;
    CHECK(stow_string_append(&text, reason.data, reason.size) == STOW_OK);
  }
  CHECK(stow_string_append(&text, "", 1) == STOW_OK);
  CHECK_HAS(text.data, c->text);
  stow_string_free(&text);
}

static void check_case(const lowering_case* c) {
  onnx_writer w = {0};
  stow_diag diag;
  stow_model* model = NULL;
  stow_import* import = NULL;
  stow_import_request* request = NULL;
  stow_allocator allocator = stow_allocator_default();
  stow_diag_init(&diag);
  write_model(&w, c);
  CHECK(stow_import_request_create(allocator, &diag, &request) == STOW_OK);
  CHECK(stow_onnx_open_memory(w.data, w.size, NULL, allocator, &diag, &model) == STOW_OK);
  if (stow_import_model(model, request, allocator, &diag, &import) == STOW_OK) {
    check_import(c, import);
  } else {
    CHECK_HAS(diag.message, c->text);
  }
  stow_import_destroy(import);
  stow_import_request_destroy(request);
  stow_model_close(model);
  onnx_writer_free(&w);
}

void check_lowerings(const lowering_case* cases, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    check_case(&cases[i]);
  }
}
