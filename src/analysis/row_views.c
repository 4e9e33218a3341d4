// Parts along an inner axis as views: a part of each row of the operand, which is pitched. Dense
// views are known by now; what is a view of such a part moves with it. O(values + operands).
#include "analysis/by_rows.h"
#include "base/diag.h"
#include "effects/api.h"
#include "graph/api.h"

typedef struct mover {
  stowi_analysis_views* views;
  const stow_graph* graph;
  const stow_effects* effects;
  stow_value* next;  // by value: the next one of its root; STOW_VALUE_NONE: it is the last
  stowi_bits
      written;  // roots that more than the op of each value writes into: copies of parts stay
} mover;

static stowi_analysis_layout layout_of(const mover* m, stow_value value) {
  return stowi_analysis_views_layout(m->views, value);
}

// Where result |k| of |node| lies in its operand's root; false if it is not part of its rows.
static bool find_part(const mover* m, stow_node node, size_t k, stowi_analysis_layout* out) {
  stow_value operand = stow_graph_operands(m->graph, node)[0];
  stow_value result = stow_graph_first_result(m->graph, node) + (stow_value)k;
  stowi_graph_row_part part;
  if (!stowi_graph_row_view(m->graph, node, k, &part)) {
    return false;
  }
  uint64_t width = stow_dtype_bits(stow_graph_type(m->graph, operand)->dtype) / 8;
  stowi_analysis_layout inner = {part.offset * width, part.rows, part.pitch * width};
  return part.row < part.pitch && part.row * width >= m->views->least_row &&
         m->views->bytes[operand] == part.rows * part.pitch * width &&
         stowi_analysis_layout_join(layout_of(m, operand), m->views->bytes[operand], inner,
                                    m->views->bytes[result], out);
}

// Whether |result| and all that lies in it can be at |place|.
static bool may_be_there(const mover* m, stow_value result, stowi_analysis_layout place) {
  for (stow_value v = result; v != STOW_VALUE_NONE; v = m->next[v]) {
    stowi_analysis_layout there;
    stow_node node;
    if (!stowi_analysis_layout_join(place, m->views->bytes[result], layout_of(m, v),
                                    m->views->bytes[v], &there) ||
        !stowi_effects_is_plain(m->effects, v) || (there.rows != 1 && there.rows != place.rows) ||
        (there.rows > 1 &&
         !stowi_analysis_may_be_rows(m->views, m->graph, m->effects, v, there.rows, &node))) {
      return false;
    }
  }
  return true;
}

static void move(const mover* m, stow_value result, stow_value into, stowi_analysis_layout place) {
  for (stow_value v = result; v != STOW_VALUE_NONE; v = m->next[v]) {
    stowi_analysis_layout there;
    (void)stowi_analysis_layout_join(place, m->views->bytes[result], layout_of(m, v),
                                     m->views->bytes[v], &there);
    stowi_analysis_views_set(m->views, v, into, there);
    if (there.rows > 1) {
      stowi_analysis_run_by_rows(m->views, m->graph, v, there.rows);
    }
  }
}

// Whether nothing but its op says where |result|, a root, is.
static bool is_free(const mover* m, stow_value result) {
  return m->views->root[result] == result && m->views->bytes[result] != 0 &&
         !stowi_bits_has(&m->views->readers->outputs, result);
}

// All results or none.
static bool may_move(const mover* m, stow_node node) {
  stow_value first = stow_graph_first_result(m->graph, node);
  size_t count = stow_graph_result_count(m->graph, node);
  for (size_t k = 0; k < count; ++k) {
    stowi_analysis_layout place;
    if (!is_free(m, first + (stow_value)k) || !find_part(m, node, k, &place) ||
        !may_be_there(m, first + (stow_value)k, place)) {
      return false;
    }
  }
  return true;
}

// Bytes of inputs and weights may be where only the caller knows.
static bool may_hold_parts(const mover* m, stow_node node) {
  stow_value operand = stow_graph_operand_count(m->graph, node) == 0
                           ? STOW_VALUE_NONE
                           : stow_graph_operands(m->graph, node)[0];
  if (operand == STOW_VALUE_NONE || !stowi_effects_allows_rows(m->effects, node)) {
    return false;
  }
  stow_value root = m->views->root[operand];
  bool output = stowi_bits_has(&m->views->readers->outputs, root);
  return !stow_graph_is_boundary(m->graph, root) && !stowi_bits_has(&m->written, root) &&
         stowi_effects_io_policy(m->graph, m->effects, m->views->io, root, output) !=
             STOW_IO_EXTERNAL;
}

static void move_results(const mover* m, stow_node node) {
  if (!may_hold_parts(m, node) || !may_move(m, node)) {
    return;
  }
  stow_value into = m->views->root[stow_graph_operands(m->graph, node)[0]];
  for (size_t k = 0; k < stow_graph_result_count(m->graph, node); ++k) {
    stowi_analysis_layout place;
    (void)find_part(m, node, k, &place);
    move(m, stow_graph_first_result(m->graph, node) + (stow_value)k, into, place);
  }
  stowi_bits_add(&m->views->noops, node);
}

static bool is_written_later(const mover* m, stow_value value) {
  const stow_op_desc* desc = stow_graph_op_desc(m->graph, stow_graph_producer(m->graph, value));
  return desc->writes_view || desc->region_count != 0 ||
         stow_graph_op(m->graph, stow_graph_producer(m->graph, value)) == STOW_OP_ARGS;
}

// Lists what lies in each root, which comes first.
static void list_values(mover* m) {
  for (stow_value v = 0; v < m->views->value_count; ++v) {
    m->next[v] = STOW_VALUE_NONE;
  }
  for (stow_value v = 0; v < m->views->value_count; ++v) {
    stow_value root = m->views->root[v];
    if (is_written_later(m, v)) {
      stowi_bits_add(&m->written, root);
    }
    if (root != v) {
      m->next[v] = m->next[root];
      m->next[root] = v;
    }
  }
}

stow_status stowi_analysis_add_row_views(stowi_analysis_views* views, const stow_graph* graph,
                                         const stow_effects* effects, uint64_t least_row,
                                         stow_diag* diag) {
  uint32_t nodes = stow_graph_node_count(graph);
  stow_allocator allocator = views->allocator;
  views->least_row = least_row;
  STOW_TRY(stowi_analysis_readers_create(graph, allocator, diag, &views->readers));
  views->node_rows = STOWI_ARRAY_ZERO(allocator, uint64_t, nodes);
  views->rows = STOWI_ARRAY_ZERO(allocator, stowi_analysis_rows, views->value_count);
  mover m = {.views = views, .graph = graph, .effects = effects};
  m.next = STOWI_ARRAY(allocator, stow_value, views->value_count);
  bool made = views->node_rows != NULL && views->rows != NULL && m.next != NULL &&
              stowi_bits_init(&m.written, views->value_count, allocator);
  if (made) {
    list_values(&m);
    for (stow_node node = 0; node < nodes; ++node) {
      stow_op op = stow_graph_op(graph, node);
      if (op == STOW_OP_SPLIT || op == STOW_OP_SLICE || op == STOW_OP_NARROW) {
        move_results(&m, node);
      }
    }
  }
  STOWI_ARRAY_FREE(allocator, m.next, views->value_count);
  stowi_bits_free(&m.written, allocator);
  return stowi_need_memory(made, diag);
}
