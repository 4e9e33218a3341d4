// The function has the nodes of the cluster with rows in place of their first dims.
#include "rewrite/blocks.h"

#include <string.h>

#include "base/diag.h"
#include "rewrite/maker.h"

// In |list| of a change: where nodes are, how many, and the dims of groups and rows.
enum { LIST_FIRST, LIST_COUNT, LIST_GROUPS, LIST_UNITS, LIST_SIZE };

// ---------------------------------------------------------------------------------------------
// Values

static const stowi_rewrite_space* space_of(const stowi_rewrite_maker* m) {
  return (const stowi_rewrite_space*)m->user;
}

static stow_type part_type(stowi_rewrite_maker* m, stow_dtype dtype,
                           const stowi_rewrite_part* part) {
  stow_dim dims[STOW_MAX_RANK];
  uint32_t rank = part->by_rows ? 1 : 0;
  dims[0] = m->rows;
  for (uint32_t i = 0; i < part->rank; ++i) {
    dims[rank + i] = stowi_rewrite_maker_dim(m, part->unit[i]);
  }
  return stow_type_make(dtype, rank + part->rank, dims);
}

// Adds inputs for what |node| reads from outside.
static stow_status add_inputs(stowi_rewrite_maker* m, stow_node node) {
  for (size_t k = 0; k < stow_graph_operand_count(m->graph, node); ++k) {
    stow_value value = stow_graph_operands(m->graph, node)[k];
    stowi_rewrite_use use = stowi_rewrite_use_of(m->graph, node, k);
    if (value != STOW_VALUE_NONE &&
        stowi_rewrite_maker_find(m, value, (int)use) == STOW_VALUE_NONE) {
      const stow_type* whole = stow_graph_type(m->graph, value);
      stowi_rewrite_part part;
      (void)stowi_rewrite_space_cut(space_of(m), whole, use, &part);
      stow_type type = part_type(m, whole->dtype, &part);
      STOW_TRY(stowi_rewrite_maker_input(m, value, (int)use, &type, part.divide));
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Nodes

// Rows are one dim in place of those before the unit.
static int64_t shift_axis(const stowi_rewrite_maker* m, int64_t axis) {
  int64_t from_front = axis < 0 ? axis + (int64_t)space_of(m)->rank : axis;
  return from_front - (int64_t)space_of(m)->units + 1;
}

static void add_axes(const stowi_rewrite_maker* m, stow_call* call, const stow_attr* axes) {
  int64_t shifted[STOW_MAX_RANK];
  size_t count = axes->count < STOW_MAX_RANK ? axes->count : STOW_MAX_RANK;
  for (size_t i = 0; i < count; ++i) {
    shifted[i] = shift_axis(m, axes->ints[i]);
  }
  stow_call_attr_ints(call, "axes", shifted, count);
}

static bool has_axis(const stow_graph* graph, stow_node node) {
  return !stowi_graph_is_elementwise(graph, node) && stow_graph_attr(graph, node, "axis") != NULL;
}

static void add_attrs(const stowi_rewrite_maker* m, stow_call* call, stow_node node) {
  bool has = has_axis(m->graph, node);
  bool reduces = stow_graph_op(m->graph, node) == STOW_OP_REDUCE;
  for (size_t i = 0; i < stow_graph_attr_count(m->graph, node); ++i) {
    const stow_attr* attr = stow_graph_attr_at(m->graph, node, i);
    if (reduces && stow_str_equal(attr->name, stow_str_of("axes"))) {
      add_axes(m, call, attr);
    } else if (!has || !stow_str_equal(attr->name, stow_str_of("axis"))) {
      stow_call_attr(call, attr);
    }
  }
  if (has) {
    stow_call_attr_int(call, "axis", shift_axis(m, stow_graph_attr(m->graph, node, "axis")->i));
  }
}

static void add_operands(const stowi_rewrite_maker* m, stow_call* call, stow_node node) {
  for (size_t k = 0; k < stow_graph_operand_count(m->graph, node); ++k) {
    stow_value value = stow_graph_operands(m->graph, node)[k];
    stowi_rewrite_use use = stowi_rewrite_use_of(m->graph, node, k);
    stow_call_operand(call, value == STOW_VALUE_NONE
                                ? STOW_VALUE_NONE
                                : stowi_rewrite_maker_find(m, value, (int)use));
  }
}

static stow_status add_node(stowi_rewrite_maker* m, size_t i) {
  stow_node node = m->nodes[i];
  const stow_type* whole = stow_graph_type(m->graph, stow_graph_first_result(m->graph, node));
  stowi_rewrite_part part;
  STOW_TRY(add_inputs(m, node));
  (void)stowi_rewrite_space_cut(space_of(m), whole, STOWI_REWRITE_ALIGNED, &part);
  stow_type type = part_type(m, whole->dtype, &part);
  stow_call* call = stowi_rewrite_maker_begin(m, i, &type);
  add_operands(m, call, node);
  add_attrs(m, call, node);
  return stow_call_finish(call, m->pass->diag, NULL);
}

static stow_status fill(stowi_rewrite_maker* m) {
  for (size_t i = 0; i < m->count; ++i) {
    STOW_TRY(add_node(m, i));
  }
  return STOW_OK;
}

static stow_status add_blocks(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  const stow_node* nodes = pass->nodes.data + change->list[LIST_FIRST];
  size_t count = (size_t)change->list[LIST_COUNT];
  const stow_type* type =
      stow_graph_type(pass->graph, stow_graph_first_result(pass->graph, nodes[count - 1]));
  stowi_rewrite_space space = {.rank = type->rank,
                               .groups = (uint32_t)change->list[LIST_GROUPS],
                               .units = (uint32_t)change->list[LIST_UNITS]};
  memcpy(space.dims, type->dims, sizeof(space.dims));
  memcpy(space.sizes,
         stow_graph_type(pass->sized, stow_graph_first_result(pass->graph, nodes[count - 1]))->dims,
         sizeof(space.sizes));
  stowi_rewrite_maker maker = {.pass = pass,
                               .nodes = nodes,
                               .count = count,
                               .groups = space.groups,
                               .first_row = space.groups,
                               .end_row = space.units,
                               .fill = fill,
                               .user = &space};
  return stowi_rewrite_maker_add(&maker, change);
}

// ---------------------------------------------------------------------------------------------
// Noting it

stow_status stowi_rewrite_blocks_at(stowi_rewrite_pass* pass, const stowi_rewrite_space* space,
                                    size_t first, size_t count) {
  stowi_rewrite_change change = {
      .at = pass->nodes.data[first + count - 1], .add = add_blocks, .list_count = LIST_SIZE};
  change.list[LIST_FIRST] = (int64_t)first;
  change.list[LIST_COUNT] = (int64_t)count;
  change.list[LIST_GROUPS] = space->groups;
  change.list[LIST_UNITS] = space->units;
  return stowi_rewrite_maker_at(pass, &change);
}
