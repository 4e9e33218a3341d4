// Texts for diagnostics are written to a fixed buffer and end in an ellipsis if cut: an error
// message must never need memory.
#include <string.h>

#include "base/diag.h"
#include "base/text.h"
#include "graph/api.h"
#include "graph/graph_internal.h"

#define ELLIPSIS "..."

typedef struct cut {
  stowi_graph_text* out;
  size_t size;
} cut;

static stow_status write_cut(void* user, const char* data, size_t size) {
  cut* c = (cut*)user;
  size_t room = sizeof(c->out->text) - sizeof(ELLIPSIS) - c->size;
  size_t kept = size < room ? size : room;
  memcpy(c->out->text + c->size, data, kept);
  c->size += kept;
  if (kept < size) {
    memcpy(c->out->text + c->size, ELLIPSIS, sizeof(ELLIPSIS));
    return STOW_ERR_LIMIT;  // ends the writing
  }
  c->out->text[c->size] = '\0';
  return STOW_OK;
}

static stow_writer start(cut* c, stowi_graph_text* out) {
  out->text[0] = '\0';
  c->out = out;
  c->size = 0;
  return (stow_writer){write_cut, c};
}

stowi_graph_text stowi_graph_describe_type(const stow_graph* graph, const stow_type* type) {
  stowi_graph_text text;
  cut c;
  (void)stow_type_print(graph->dims, type, start(&c, &text));
  return text;
}

static stow_status put_value(const stow_graph* graph, stow_value value, stow_writer writer) {
  STOW_TRY(stowi_printf(writer, "%%%u", (unsigned)value));
  stow_str name = stow_graph_value_name(graph, value);
  if (name.size == 0) {
    return STOW_OK;
  }
  STOW_TRY(stowi_put(writer, " "));
  return stowi_put_quoted(writer, name);
}

stowi_graph_text stowi_graph_describe_value(const stow_graph* graph, stow_value value) {
  stowi_graph_text text;
  cut c;
  (void)put_value(graph, value, start(&c, &text));
  return text;
}

static stow_status put_node(const stow_graph* graph, stow_node node, stow_writer writer) {
  STOW_TRY(stowi_put(writer, stow_graph_op_name(graph, node)));
  if (stow_graph_result_count(graph, node) == 0) {
    return stowi_printf(writer, " at node %u", (unsigned)node);
  }
  STOW_TRY(stowi_put(writer, " "));
  return put_value(graph, stow_graph_first_result(graph, node), writer);
}

stowi_graph_text stowi_graph_describe_node(const stow_graph* graph, stow_node node) {
  stowi_graph_text text;
  cut c;
  (void)put_node(graph, node, start(&c, &text));
  return text;
}

static stow_status put_operands(const stow_graph* graph, const uint32_t* types,
                                const stow_value* operands, size_t count, stow_writer writer) {
  for (size_t i = 0; i < count; ++i) {
    STOW_TRY(stowi_put(writer, i == 0 ? "" : ", "));
    if (operands[i] == STOW_VALUE_NONE) {
      STOW_TRY(stowi_put(writer, "_"));
      continue;
    }
    STOW_TRY(stowi_printf(writer, "%%%u : ", (unsigned)operands[i]));
    STOW_TRY(stow_type_print(graph->dims, stowi_graph_type_of(graph, types, operands[i]), writer));
  }
  return STOW_OK;
}

stowi_graph_text stowi_graph_describe_operands(const stow_graph* graph, const uint32_t* types,
                                               const stow_value* operands, size_t count) {
  stowi_graph_text text;
  cut c;
  (void)put_operands(graph, types, operands, count, start(&c, &text));
  return text;
}

// A yield has no line; its owner has.
static uint32_t line_near(const stow_graph* graph, stow_node node) {
  uint32_t line = stow_graph_line(graph, node);
  stow_region region = stow_graph_node_region(graph, node);
  while (line == 0 && region != STOW_REGION_BODY) {
    stow_node owner = stowi_graph_region_owner(graph, region);
    line = owner == STOW_NODE_NONE ? 0 : stow_graph_line(graph, owner);
    region = stowi_graph_region_parent(graph, region);
  }
  return line;
}

void stowi_graph_blame_node(stow_diag* diag, const stow_graph* graph, stow_node node) {
  stowi_diag_node(diag, node);
  stowi_diag_at(diag, line_near(graph, node), 0);
}

void stowi_graph_blame_value(stow_diag* diag, const stow_graph* graph, stow_value value) {
  stowi_diag_value(diag, value);
  stowi_graph_blame_node(diag, graph, stow_graph_producer(graph, value));
}
