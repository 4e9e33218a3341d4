#include "rewrite/streams.h"

#include <string.h>

#include "base/diag.h"
#include "rewrite/maker.h"

#define RANK 4

enum { LIST_FIRST, LIST_COUNT };

bool stowi_rewrite_streams_operand(const stow_graph* graph, stow_node node, size_t k) {
  switch (stow_graph_op(graph, node)) {
    case STOW_OP_RESIZE:
    case STOW_OP_SPLIT: return k == 0;
    case STOW_OP_PAD: return k < 2;
    default: return true;
  }
}

// ---------------------------------------------------------------------------------------------
// Inputs

static bool is_weight(const stow_graph* graph, stow_value value) {
  stow_op op = stow_graph_op(graph, stow_graph_producer(graph, value));
  return op == STOW_OP_PARAM || op == STOW_OP_CONSTANT;
}

// Weights come first, the largest before all: of a node with many operands, only the first are
// packed.
static bool comes_before(const stow_graph* graph, stow_value a, stow_value b) {
  bool is_first = is_weight(graph, a);
  if (is_first != is_weight(graph, b)) {
    return is_first;
  }
  uint64_t bytes = stowi_rewrite_bytes(graph, a);
  uint64_t others = stowi_rewrite_bytes(graph, b);
  return is_first && bytes != others ? bytes > others : a < b;
}

static bool is_made_inside(const stowi_rewrite_maker* m, stow_value value) {
  stow_node node = stow_graph_producer(m->graph, value);
  bool is = false;
  for (size_t i = 0; !is && i < m->count; ++i) {
    is = m->nodes[i] == node;
  }
  return is;
}

// Of those that |last| comes before, or of all, the first; STOW_VALUE_NONE: there are none.
static stow_value next_input(const stowi_rewrite_maker* m, stow_value last) {
  stow_value next = STOW_VALUE_NONE;
  for (size_t i = 0; i < m->count; ++i) {
    for (size_t k = 0; k < stow_graph_operand_count(m->graph, m->nodes[i]); ++k) {
      stow_value value = stow_graph_operands(m->graph, m->nodes[i])[k];
      if (value != STOW_VALUE_NONE && stowi_rewrite_streams_operand(m->graph, m->nodes[i], k) &&
          (last == STOW_VALUE_NONE || comes_before(m->graph, last, value)) &&
          (next == STOW_VALUE_NONE || comes_before(m->graph, value, next)) &&
          !is_made_inside(m, value)) {
        next = value;
      }
    }
  }
  return next;
}

static stow_status add_inputs(stowi_rewrite_maker* m) {
  for (stow_value value = STOW_VALUE_NONE; (value = next_input(m, value)) != STOW_VALUE_NONE;) {
    STOW_TRY(stowi_rewrite_maker_input(m, value, 0, stow_graph_type(m->graph, value), 1));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Nodes

// Up to the last one that is there.
static size_t operand_count(const stow_graph* graph, stow_node node) {
  size_t count = 0;
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    bool is_there = stow_graph_operands(graph, node)[k] != STOW_VALUE_NONE;
    count = is_there && stowi_rewrite_streams_operand(graph, node, k) ? k + 1 : count;
  }
  return count;
}

static bool is_replaced(stow_op op, const stow_attr* attr) {
  return (op == STOW_OP_PAD && stow_str_equal(attr->name, stow_str_of("pads"))) ||
         (op == STOW_OP_SPLIT && (stow_str_equal(attr->name, stow_str_of("sizes")) ||
                                  stow_str_equal(attr->name, stow_str_of("parts"))));
}

static int64_t axis_of(const stow_graph* graph, stow_node node) {
  int64_t axis = stow_graph_attr(graph, node, "axis")->i;
  return axis < 0 ? axis + RANK : axis;
}

// What an operand may have said, from the types.
static void add_known(const stowi_rewrite_maker* m, stow_call* call, stow_node node) {
  int64_t sizes[STOWI_REWRITE_MOST_RESULTS];
  stowi_graph_row_map map;
  size_t count = stow_graph_result_count(m->graph, node);
  if (stow_graph_op(m->graph, node) == STOW_OP_PAD) {
    (void)stowi_graph_map_rows(m->graph, node, &map);
    stow_call_attr_ints(call, "pads", map.pads, map.pad_count);
  }
  if (stow_graph_op(m->graph, node) == STOW_OP_SPLIT) {
    for (size_t k = 0; k < count; ++k) {
      stow_value value = stow_graph_first_result(m->graph, node) + (stow_value)k;
      sizes[k] = stow_graph_type(m->graph, value)->dims[axis_of(m->graph, node)];
    }
    stow_call_attr_ints(call, "sizes", sizes, count);
  }
}

static stow_status add_node(stowi_rewrite_maker* m, size_t i) {
  stow_node node = m->nodes[i];
  stow_op op = stow_graph_op(m->graph, node);
  // types of results follow each other
  stow_type types[STOWI_REWRITE_MOST_RESULTS];
  for (size_t k = 0; k < stow_graph_result_count(m->graph, node); ++k) {
    types[k] = *stow_graph_type(m->graph, stow_graph_first_result(m->graph, node) + (stow_value)k);
  }
  stow_call* call = stowi_rewrite_maker_begin(m, i, types);
  for (size_t k = 0; k < operand_count(m->graph, node); ++k) {
    stow_value value = stow_graph_operands(m->graph, node)[k];
    stow_call_operand(
        call, value == STOW_VALUE_NONE ? STOW_VALUE_NONE : stowi_rewrite_maker_find(m, value, 0));
  }
  for (size_t k = 0; k < stow_graph_attr_count(m->graph, node); ++k) {
    const stow_attr* attr = stow_graph_attr_at(m->graph, node, k);
    if (!is_replaced(op, attr)) {
      stow_call_attr(call, attr);
    }
  }
  add_known(m, call, node);
  return stow_call_finish(call, m->pass->diag, NULL);
}

static stow_status fill(stowi_rewrite_maker* m) {
  STOW_TRY(add_inputs(m));
  for (size_t i = 0; i < m->count; ++i) {
    STOW_TRY(add_node(m, i));
  }
  return STOW_OK;
}

static stow_status add_stream(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  stowi_rewrite_maker maker = {.pass = pass,
                               .nodes = pass->nodes.data + change->list[LIST_FIRST],
                               .count = (size_t)change->list[LIST_COUNT],
                               .streams = true,
                               .fill = fill};
  return stowi_rewrite_maker_add(&maker, change);
}

stow_status stowi_rewrite_stream_at(stowi_rewrite_pass* pass, size_t first, size_t count,
                                    size_t first_result, size_t result_count) {
  stowi_rewrite_change change = {.at = pass->nodes.data[first + count - 1],
                                 .first = (stow_value)first_result,
                                 .count = result_count,
                                 .is_listed = true,
                                 .add = add_stream};
  change.list[LIST_FIRST] = (int64_t)first;
  change.list[LIST_COUNT] = (int64_t)count;
  return stowi_rewrite_change_at(pass, &change);
}
