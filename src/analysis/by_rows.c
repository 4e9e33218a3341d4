#include "analysis/by_rows.h"

#include "base/diag.h"
#include "effects/api.h"
#include "graph/api.h"

bool stowi_analysis_layout_join(stowi_analysis_layout outer, uint64_t outer_bytes,
                                stowi_analysis_layout inner, uint64_t bytes,
                                stowi_analysis_layout* out) {
  if (outer.rows <= 1 || bytes == 0) {
    *out = (stowi_analysis_layout){outer.offset + inner.offset, inner.rows, inner.pitch};
    return true;
  }
  uint64_t row = outer_bytes / outer.rows;
  uint64_t own = bytes / inner.rows;
  uint64_t span = stowi_analysis_layout_span(inner.rows, inner.pitch, bytes);
  uint64_t at = inner.offset % row;
  *out = (stowi_analysis_layout){stowi_analysis_layout_map(outer, outer_bytes, inner.offset),
                                 inner.rows, inner.pitch};
  if (at + span <= row) {
    return true;
  }
  if (inner.rows == 1 && at == 0 && bytes % row == 0) {
    out->rows = bytes / row;
    out->pitch = outer.pitch;
    return true;
  }
  out->pitch = inner.pitch / row * outer.pitch;
  return inner.rows > 1 && inner.pitch % row == 0 && at + own <= row;
}

// ---------------------------------------------------------------------------------------------
// Readers

static void count_readers(const stow_graph* graph, stowi_analysis_readers* readers) {
  uint32_t count = stow_graph_node_count(graph);
  for (int fills = 0; fills < 2; ++fills) {
    for (stow_node node = 0; node < count; ++node) {
      const stow_value* operands = stow_graph_operands(graph, node);
      for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
        if (operands[k] == STOW_VALUE_NONE) {
          continue;
        }
        if (fills == 0) {
          ++readers->first[operands[k] + 1];
        } else {
          readers->nodes[readers->first[operands[k]]++] = node;
        }
      }
    }
    for (stow_value value = 0; fills == 0 && value < readers->value_count; ++value) {
      readers->first[value + 1] += readers->first[value];
    }
  }
  for (stow_value value = readers->value_count; value-- > 0;) {
    readers->first[value + 1] = readers->first[value];
  }
  readers->first[0] = 0;
}

static size_t operands_of(const stow_graph* graph) {
  size_t count = 0;
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    count += stow_graph_operand_count(graph, node);
  }
  return count;
}

stow_status stowi_analysis_readers_create(const stow_graph* graph, stow_allocator allocator,
                                          stow_diag* diag, stowi_analysis_readers** out_readers) {
  *out_readers = NULL;
  stowi_analysis_readers* readers = STOWI_NEW(allocator, stowi_analysis_readers);
  STOW_TRY(stowi_need_memory(readers != NULL, diag));
  readers->allocator = allocator;
  readers->value_count = stow_graph_value_count(graph);
  readers->operand_count = operands_of(graph);
  readers->first = STOWI_ARRAY_ZERO(allocator, size_t, (size_t)readers->value_count + 1);
  readers->nodes = STOWI_ARRAY(allocator, stow_node, readers->operand_count);
  if (readers->first == NULL || readers->nodes == NULL ||
      !stowi_effects_bits_of_outputs(&readers->outputs, graph, allocator)) {
    stowi_analysis_readers_destroy(readers);
    return stowi_fail_memory(diag);
  }
  count_readers(graph, readers);
  *out_readers = readers;
  return STOW_OK;
}

void stowi_analysis_readers_destroy(stowi_analysis_readers* readers) {
  if (readers == NULL) {
    return;
  }
  stow_allocator allocator = readers->allocator;
  STOWI_ARRAY_FREE(allocator, readers->first, (size_t)readers->value_count + 1);
  STOWI_ARRAY_FREE(allocator, readers->nodes, readers->operand_count);
  stowi_bits_free(&readers->outputs, allocator);
  STOWI_DELETE(allocator, readers);
}

// ---------------------------------------------------------------------------------------------
// Nodes

stow_value stowi_analysis_locate(const stowi_analysis_views* views, stow_value value,
                                 stowi_analysis_layout* out_layout) {
  stow_value root = views->root[value];
  *out_layout = stowi_analysis_views_layout(views, value);
  while (views->root[root] != root) {
    // Whoever moved |root| has seen that it is possible.
    (void)stowi_analysis_layout_join(stowi_analysis_views_layout(views, root), views->bytes[root],
                                     *out_layout, views->bytes[value], out_layout);
    root = views->root[root];
  }
  return root;
}

// Whether a result of |node| that is in place of an operand has rows that begin where the operand's
// do.
static bool keeps_rows(const stowi_analysis_views* views, const stow_graph* graph, stow_node node) {
  stow_value first = stow_graph_first_result(graph, node);
  const stow_value* operands = stow_graph_operands(graph, node);
  for (size_t i = 0; i < stow_graph_result_count(graph, node); ++i) {
    stow_value result = first + (stow_value)i;
    stowi_analysis_layout to, from;
    if (!stowi_analysis_views_is_in_place(views, result)) {
      continue;
    }
    stow_value root = stowi_analysis_locate(views, result, &to);
    for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
      if (operands[k] != STOW_VALUE_NONE && views->bytes[operands[k]] != views->bytes[result] &&
          stowi_analysis_locate(views, operands[k], &from) == root && from.offset == to.offset) {
        return false;
      }
    }
  }
  return true;
}

// Whether |node| can be run for |rows| rows, which |value| begins with.
static bool may_run(const stowi_analysis_views* views, const stow_graph* graph,
                    const stow_effects* effects, stow_node node, stow_value value, uint64_t rows) {
  const stow_value* operands = stow_graph_operands(graph, node);
  uint64_t still;
  if (views->node_rows[node] > 1) {
    if (views->node_rows[node] != rows) {
      return false;
    }
  } else if (!stowi_effects_allows_rows(effects, node)) {
    return false;
  }
  if (!stowi_graph_takes_rows(graph, node, rows, &still) || !keeps_rows(views, graph, node)) {
    return false;
  }
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    if (operands[k] == value && (still >> k & 1) != 0) {
      return false;
    }
  }
  return true;
}

bool stowi_analysis_may_be_rows(const stowi_analysis_views* views, const stow_graph* graph,
                                const stow_effects* effects, stow_value value, uint64_t rows,
                                stow_node* out_node) {
  const stowi_analysis_readers* readers = views->readers;
  stow_node maker = stow_graph_producer(graph, value);
  *out_node = STOW_NODE_NONE;
  if (stow_graph_is_boundary(graph, value) || stowi_bits_has(&readers->outputs, value) ||
      !stowi_effects_is_plain(effects, value) || rows > STOW_MOST_ROWS ||
      !stowi_graph_begins_with_rows(stow_graph_type(graph, value), rows)) {
    return false;
  }
  *out_node = maker;
  if (!stowi_bits_has(&views->noops, maker) &&
      !may_run(views, graph, effects, maker, value, rows)) {
    return false;
  }
  for (size_t i = readers->first[value]; i < readers->first[value + 1]; ++i) {
    *out_node = readers->nodes[i];
    if (!stowi_bits_has(&views->noops, readers->nodes[i]) &&
        !may_run(views, graph, effects, readers->nodes[i], value, rows)) {
      return false;
    }
  }
  return true;
}

void stowi_analysis_run_by_rows(stowi_analysis_views* views, const stow_graph* graph,
                                stow_value value, uint64_t rows) {
  const stowi_analysis_readers* readers = views->readers;
  views->node_rows[stow_graph_producer(graph, value)] = rows;
  for (size_t i = readers->first[value]; i < readers->first[value + 1]; ++i) {
    views->node_rows[readers->nodes[i]] = rows;
  }
}
