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

stowi_exec_words stowi_exec_words_node(const stow_graph* graph, stow_node node) {
  stowi_exec_words label;
  stow_str name = {NULL, 0};
  if (stow_graph_result_count(graph, node) != 0) {
    name = stow_graph_value_name(graph, stow_graph_first_result(graph, node));
  }
  const char* op = stow_graph_op_desc(graph, node)->name;
  if (name.size == 0) {
    (void)snprintf(label.text, sizeof(label.text), "node %" PRIu32 " (%s)", node, op);
  } else {
    (void)snprintf(label.text, sizeof(label.text), "node %" PRIu32 " \"%.*s\" (%s)", node,
                   (int)(name.size < 100 ? name.size : 100), name.data, op);
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
