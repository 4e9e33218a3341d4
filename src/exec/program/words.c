#include "exec/program/words.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/diag.h"

stowi_exec_words stowi_exec_words_value(const stow_graph* graph, stow_value value) {
  stowi_exec_words label;
  stow_str name = stow_graph_value_name(graph, value);
  if (name.size == 0) {
    (void)snprintf(label.text, sizeof(label.text), "%%%" PRIu32, value);
  } else {
    (void)snprintf(label.text, sizeof(label.text), "%%%" PRIu32 " \"%.*s\"", value,
                   STOWI_STR_ARG(name));
  }
  return label;
}

#define NAME_ROOM 160

// The name of the first result; of a node that others became, all their names: `conv_3 + relu_3`.
static void name_node(const stow_graph* graph, stow_node node, char out[NAME_ROOM]) {
  const stow_attr* of = stow_graph_attr(graph, node, "of");
  bool is_fused = of != NULL && of->kind == STOW_ATTR_STRINGS && of->count != 0;
  size_t at = 0;
  stow_str name = {NULL, 0};
  if (stow_graph_result_count(graph, node) != 0) {
    name = stow_graph_value_name(graph, stow_graph_first_result(graph, node));
  }
  out[0] = '\0';
  for (size_t i = 0; i < (is_fused ? of->count : 1) && at < NAME_ROOM; ++i) {
    stow_str part = is_fused ? of->strings[i] : name;
    at +=
        (size_t)snprintf(out + at, NAME_ROOM - at, "%s%.*s", i == 0 ? "" : " + ",
                         (int)(part.size < 100 ? part.size : 100), part.size == 0 ? "" : part.data);
  }
}

stowi_exec_words stowi_exec_words_node(const stow_graph* graph, stow_node node) {
  stowi_exec_words label;
  char name[NAME_ROOM];
  const char* op = stow_graph_op_name(graph, node);
  name_node(graph, node, name);
  if (name[0] == '\0') {
    (void)snprintf(label.text, sizeof(label.text), "node %" PRIu32 " (%s)", node, op);
  } else {
    (void)snprintf(label.text, sizeof(label.text), "node %" PRIu32 " \"%s\" (%.40s)", node, name,
                   op);
  }
  return label;
}

stowi_exec_words stowi_exec_words_tensor(const stow_tensor* tensor) {
  stowi_exec_words label;
  size_t room = sizeof(label.text);
  size_t at = (size_t)snprintf(label.text, room, "%s[", stow_dtype_name(tensor->dtype));
  for (uint32_t i = 0; i < tensor->rank && i < STOW_MAX_RANK && at + 32 < room; ++i) {
    at += (size_t)snprintf(label.text + at, room - at, "%s%" PRId64, i == 0 ? "" : ", ",
                           tensor->dims[i]);
  }
  (void)snprintf(label.text + at, room - at, "]");
  return label;
}
