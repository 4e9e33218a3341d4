#include "rewrite/moves.h"

#include <string.h>

#include "base/diag.h"
#include "rewrite/picks.h"

// In |list| of a change: where nodes are in the pass's list, and how many. |operand| is the source.
enum { LIST_FIRST, LIST_COUNT, LIST_SIZE };

typedef struct copying {
  stowi_rewrite_pass* pass;
  const stowi_rewrite_change* change;
  const stow_node* nodes;
  size_t count;
  stow_value source;                          // of the new graph
  stow_value made[STOWI_REWRITE_MOST_NODES];  // of the new graph
} copying;

static copying begin_copying(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  return (copying){.pass = pass,
                   .change = change,
                   .nodes = pass->nodes.data + change->list[LIST_FIRST],
                   .count = (size_t)change->list[LIST_COUNT]};
}

static stow_value copied(const copying* c, stow_value value) {
  for (size_t i = 0; i < c->count; ++i) {
    if (stow_graph_first_result(c->pass->graph, c->nodes[i]) == value) {
      return c->made[i];
    }
  }
  return value == STOW_VALUE_NONE      ? value
         : value == c->change->operand ? c->source
                                       : stowi_graph_copier_mapped(&c->pass->copier, value);
}

// Node |i| for a part with the dims of |part|.
static stow_status copy_node(copying* c, size_t i, stow_value part, bool is_result) {
  const stow_graph* graph = c->pass->graph;
  stow_node node = c->nodes[i];
  stow_op op = stow_graph_op(graph, node);
  stow_type type = stowi_graph_copier_type(&c->pass->copier, part);
  type.dtype = stow_graph_type(graph, stow_graph_first_result(graph, node))->dtype;
  stow_call* call = is_result ? stowi_rewrite_begin(c->pass, c->change, op)
                              : stow_graph_begin(c->pass->copier.into, op);
  if (!is_result) {
    stow_call_result_type(call, &type);
    stow_call_line(call, stow_graph_line(graph, node));
  }
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    stow_call_operand(call, copied(c, stow_graph_operands(graph, node)[k]));
  }
  stowi_rewrite_copy_attrs(c->pass, call, node);
  STOW_TRY(stow_call_finish(call, c->pass->diag, &node));
  c->made[i] = stow_graph_first_result(c->pass->copier.into, node);
  return STOW_OK;
}

// Result |k| of a split as a slice.
static void add_slice(const stow_graph* graph, stow_call* call, stow_node split, size_t k) {
  stow_value first = stow_graph_first_result(graph, split);
  stowi_rewrite_pick p;
  int64_t start = 0, end = 0, step = 1;
  (void)stowi_rewrite_read_axis(graph, split, stow_graph_type(graph, first)->rank, &p);
  for (size_t i = 0; i <= k; ++i) {
    start = end;
    end += stow_graph_type(graph, first + (stow_value)i)->dims[p.axes[0]];
  }
  stow_call_attr_ints(call, "starts", &start, 1);
  stow_call_attr_ints(call, "ends", &end, 1);
  stow_call_attr_ints(call, "axes", p.axes, 1);
  stow_call_attr_ints(call, "steps", &step, 1);
}

static stow_status pick_source(copying* c) {
  const stow_graph* graph = c->pass->graph;
  stow_node node = stow_graph_producer(graph, c->change->first);
  stow_op op = stow_graph_op(graph, node);
  bool splits = op == STOW_OP_SPLIT;
  stow_type type = stowi_graph_copier_type(&c->pass->copier, c->change->first);
  type.dtype = stow_graph_type(graph, c->change->operand)->dtype;
  stow_call* call = stow_graph_begin(c->pass->copier.into, splits ? STOW_OP_SLICE : op);
  stow_call_operand(call, stowi_graph_copier_mapped(&c->pass->copier, c->change->operand));
  if (splits) {
    add_slice(graph, call, node, c->change->first - stow_graph_first_result(graph, node));
  } else {
    for (size_t k = 1; k < stow_graph_operand_count(graph, node); ++k) {
      stow_call_operand(call, copied(c, stow_graph_operands(graph, node)[k]));
    }
    stowi_rewrite_copy_attrs(c->pass, call, node);
  }
  stow_call_result_type(call, &type);
  stow_call_line(call, stow_graph_line(graph, node));
  STOW_TRY(stow_call_finish(call, c->pass->diag, &node));
  c->source = stow_graph_first_result(c->pass->copier.into, node);
  return STOW_OK;
}

static stow_status add_picked(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  copying c = begin_copying(pass, change);
  STOW_TRY(pick_source(&c));
  for (size_t i = 0; i < c.count; ++i) {
    STOW_TRY(copy_node(&c, i, change->first, i + 1 == c.count));
  }
  return STOW_OK;
}

static stow_status add_concat(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  const stow_graph* graph = pass->graph;
  stow_node concat = stow_graph_producer(graph, change->operand);
  size_t part_count = stow_graph_operand_count(graph, concat);
  stow_value made[STOWI_REWRITE_MOST_PARTS];
  copying c = begin_copying(pass, change);
  for (size_t k = 0; k < part_count; ++k) {
    stow_value part = stow_graph_operands(graph, concat)[k];
    c.source = stowi_graph_copier_mapped(&pass->copier, part);
    for (size_t i = 0; i < c.count; ++i) {
      STOW_TRY(copy_node(&c, i, part, false));
    }
    made[k] = c.made[c.count - 1];
  }
  stow_call* call = stowi_rewrite_begin(pass, change, STOW_OP_CONCAT);
  for (size_t k = 0; k < part_count; ++k) {
    stow_call_operand(call, made[k]);
  }
  stowi_rewrite_copy_attrs(pass, call, concat);
  return stow_call_finish(call, pass->diag, NULL);
}

// ---------------------------------------------------------------------------------------------
// Noting

stow_status stowi_rewrite_moved(stowi_rewrite_pass* pass, const stow_node* nodes, size_t count,
                                stow_value source, stowi_rewrite_change* out_change) {
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(pass->allocator, &pass->nodes, count) == STOW_OK,
                             pass->diag));
  *out_change = (stowi_rewrite_change){.count = 1, .operand = source, .list_count = LIST_SIZE};
  out_change->list[LIST_FIRST] = (int64_t)pass->nodes.count;
  out_change->list[LIST_COUNT] = (int64_t)count;
  memcpy(pass->nodes.data + pass->nodes.count, nodes, count * sizeof(*nodes));
  pass->nodes.count += count;
  return STOW_OK;
}

stow_status stowi_rewrite_move_behind(stowi_rewrite_pass* pass, stowi_rewrite_change* change,
                                      stow_value part, stow_node at) {
  change->at = at;
  change->is_before = at != stow_graph_producer(pass->graph, part);
  change->first = part;
  change->before = (size_t)change->list[LIST_COUNT];
  change->add = add_picked;
  return stowi_rewrite_change_at(pass, change);
}

stow_status stowi_rewrite_move_before(stowi_rewrite_pass* pass, stowi_rewrite_change* change) {
  size_t count = (size_t)change->list[LIST_COUNT];
  stow_node concat = stow_graph_producer(pass->graph, change->operand);
  change->at = pass->nodes.data[(size_t)change->list[LIST_FIRST] + count - 1];
  change->first = stow_graph_first_result(pass->graph, change->at);
  change->before = count * stow_graph_operand_count(pass->graph, concat);
  change->add = add_concat;
  return stowi_rewrite_change_at(pass, change);
}
