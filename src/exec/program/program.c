// Values and steps, laid out once in three arrays.
#include "exec/program/program.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "exec/kernels/support/attrs.h"
#include "graph/api.h"

// ---------------------------------------------------------------------------------------------
// Values

static bool is_value_bounded(const stow_graph* graph, stow_value value) {
  return stow_graph_is_bounded(graph, value) || stow_graph_is_data_dependent(graph, value);
}

static void describe_value(stowi_exec_program* program, stow_value value) {
  const stow_graph* graph = program->graph;
  stow_node node = stow_graph_producer(graph, value);
  program->values[value] =
      (stowi_exec_value){.type = stow_graph_type(graph, value),
                         .is_boundary = stow_graph_is_boundary(graph, value),
                         .is_input = stow_graph_op(graph, node) == STOW_OP_INPUT,
                         .like = STOW_VALUE_NONE,
                         .may_be_view = stow_graph_op_desc(graph, node)->view != NULL,
                         .is_bounded = is_value_bounded(graph, value)};
}

static void find_view(stowi_exec_program* program, stow_value value) {
  const stow_graph* graph = program->graph;
  stowi_exec_value* entry = &program->values[value];
  stow_node node = stow_graph_producer(graph, value);
  stow_view view;
  entry->parent = STOW_VALUE_NONE;
  entry->distance = 0;
  if (stow_graph_view(graph, node, value - stow_graph_first_result(graph, node), &view)) {
    entry->parent = stow_graph_operands(graph, node)[view.operand];
    entry->distance =
        view.element_offset * stow_dtype_bits(stow_graph_type(graph, entry->parent)->dtype) / 8;
  }
}

// The same view as that of a result of |like|, an earlier node.
static void copy_view(stowi_exec_program* program, stow_value value, const stowi_exec_step* step) {
  const stowi_exec_step* like = &program->steps[step->like];
  const stowi_exec_value* from =
      &program->values[like->first_result + (value - step->first_result)];
  stowi_exec_value* entry = &program->values[value];
  entry->parent = STOW_VALUE_NONE;
  entry->distance = from->distance;
  for (size_t k = 0; from->parent != STOW_VALUE_NONE && k < like->operand_count; ++k) {
    entry->parent = like->operands[k] == from->parent ? step->operands[k] : entry->parent;
  }
}

static stow_status count_bytes(stowi_exec_program* program, stow_value value, stow_diag* diag) {
  stowi_exec_value* entry = &program->values[value];
  if (entry->like != STOW_VALUE_NONE) {
    entry->bytes = program->values[entry->like].bytes;
    return STOW_OK;
  }
  return stow_type_bytes(entry->type, &entry->bytes) == STOW_OK
             ? STOW_OK
             : stowi_fail(diag, STOW_ERR_OVERFLOW, "%%%u is too large", (unsigned)value);
}

// ---------------------------------------------------------------------------------------------
// Steps

static const stow_attr* find_given(const stow_graph* graph, stow_node node, stow_str name) {
  for (size_t i = 0; i < stow_graph_attr_count(graph, node); ++i) {
    const stow_attr* attr = stow_graph_attr_at(graph, node, i);
    if (stow_str_equal(attr->name, name)) {
      return attr;
    }
  }
  return NULL;
}

// Writes the node's attributes to |out| (NULL: none), as given, then defaults; returns how many.
static size_t list_attrs(const stow_graph* graph, stow_node node, stow_attr* out) {
  const stow_ops* ops = stow_graph_ops(graph);
  stow_op op = stow_graph_op(graph, node);
  size_t count = stow_graph_attr_count(graph, node);
  for (size_t i = 0; out != NULL && i < count; ++i) {
    out[i] = *stow_graph_attr_at(graph, node, i);
  }
  for (size_t i = 0; i < stow_ops_attr_count(ops, op); ++i) {
    bool is_required;
    const stow_attr* attr = stow_ops_attr(ops, op, i, &is_required);
    if (is_required || find_given(graph, node, attr->name) != NULL) {
      continue;
    }
    if (out != NULL) {
      out[count] = *attr;
    }
    ++count;
  }
  return count;
}

bool stowi_exec_is_bounded(const stow_graph* graph, stow_node node) {
  bool is_bounded = false;
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    stow_value value = stow_graph_operands(graph, node)[k];
    is_bounded = is_bounded || (value != STOW_VALUE_NONE && is_value_bounded(graph, value));
  }
  for (size_t k = 0; k < stow_graph_result_count(graph, node); ++k) {
    is_bounded =
        is_bounded || is_value_bounded(graph, stow_graph_first_result(graph, node) + (stow_value)k);
  }
  return is_bounded;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static void describe_step(stowi_exec_program* program, stow_node node, size_t first_attr) {
  const stow_graph* graph = program->graph;
  stowi_exec_step* step = &program->steps[node];
  *step = (stowi_exec_step){.op = stow_graph_op(graph, node),
                            .operands = stow_graph_operands(graph, node),
                            .operand_count = stow_graph_operand_count(graph, node),
                            .first_result = stow_graph_first_result(graph, node),
                            .result_count = stow_graph_result_count(graph, node),
                            .attrs = program->attrs + first_attr,
                            .attr_ids = program->attr_ids + first_attr,
                            .attr_count = list_attrs(graph, node, program->attrs + first_attr),
                            .scratch_index = SIZE_MAX,
                            .like = STOW_NODE_NONE,
                            .seed = stowi_graph_seed(graph, node),
                            .is_bounded = stowi_exec_is_bounded(graph, node)};
  program->most_operands = larger(program->most_operands, step->operand_count);
  program->most_results = larger(program->most_results, step->result_count);
}

// ---------------------------------------------------------------------------------------------

stow_status stowi_exec_program_init(stowi_exec_program* program, const stow_graph* graph,
                                    stow_allocator allocator, stow_diag* diag) {
  *program = (stowi_exec_program){.allocator = allocator,
                                  .graph = graph,
                                  .value_count = stow_graph_value_count(graph),
                                  .node_count = stow_graph_node_count(graph)};
  for (stow_node node = 0; node < program->node_count; ++node) {
    program->attr_count += list_attrs(graph, node, NULL);
  }
  program->values = STOWI_ARRAY(allocator, stowi_exec_value, program->value_count);
  program->steps = STOWI_ARRAY(allocator, stowi_exec_step, program->node_count);
  program->attrs = STOWI_ARRAY(allocator, stow_attr, program->attr_count);
  program->attr_ids = STOWI_ARRAY(allocator, uint16_t, program->attr_count);
  STOW_TRY(stowi_need_memory(program->values != NULL && program->steps != NULL &&
                                 program->attrs != NULL && program->attr_ids != NULL,
                             diag));
  for (stow_value value = 0; value < program->value_count; ++value) {
    describe_value(program, value);
    find_view(program, value);
    STOW_TRY(count_bytes(program, value, diag));
  }
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    program->values[stow_graph_outputs(graph)[i]].is_output = true;
    program->values[stow_graph_outputs(graph)[i]].needs_alignment = true;
  }
  size_t first = 0;
  for (stow_node node = 0; node < program->node_count; ++node) {
    describe_step(program, node, first);
    first += program->steps[node].attr_count;
  }
  for (size_t i = 0; i < program->attr_count; ++i) {
    program->attr_ids[i] = (uint16_t)stowi_kernel_attr_find(program->attrs[i].name);
  }
  return STOW_OK;
}

static bool has_numbers(const stow_type* type) {
  bool has = true;
  for (uint32_t i = 0; i < type->rank; ++i) {
    has = has && stow_dim_is_const(type->dims[i]);
  }
  return has;
}

void stowi_exec_program_find_steady(stowi_exec_program* program, const stow_graph* source) {
  for (stow_value value = 0; value < program->value_count; ++value) {
    stowi_exec_value* entry = &program->values[value];
    entry->is_steady = !entry->may_be_view && has_numbers(stow_graph_type(source, value));
  }
  for (stow_node node = 0; node < program->node_count; ++node) {
    stowi_exec_step* step = &program->steps[node];
    step->is_steady = true;
    for (size_t k = 0; k < step->operand_count; ++k) {
      step->is_steady &= step->operands[k] == STOW_VALUE_NONE ||
                         has_numbers(stow_graph_type(source, step->operands[k]));
    }
    for (size_t k = 0; k < step->result_count; ++k) {
      step->is_steady &= has_numbers(stow_graph_type(source, step->first_result + (stow_value)k));
    }
  }
}

stow_status stowi_exec_program_measure(stowi_exec_program* program, stow_diag* diag) {
  for (stow_value value = 0; value < program->value_count; ++value) {
    const stowi_exec_value* entry = &program->values[value];
    if (entry->is_steady) {
      continue;
    }
    STOW_TRY(count_bytes(program, value, diag));
    const stowi_exec_step* step = &program->steps[stow_graph_producer(program->graph, value)];
    if (entry->may_be_view && !step->is_steady) {
      (step->like == STOW_NODE_NONE ? find_view(program, value) : copy_view(program, value, step));
    }
  }
  return STOW_OK;
}

void stowi_exec_program_free(stowi_exec_program* program) {
  STOWI_ARRAY_FREE(program->allocator, program->values, program->value_count);
  STOWI_ARRAY_FREE(program->allocator, program->steps, program->node_count);
  STOWI_ARRAY_FREE(program->allocator, program->attrs, program->attr_count);
  STOWI_ARRAY_FREE(program->allocator, program->attr_ids, program->attr_count);
}

uint32_t stowi_exec_variant_within(const stowi_exec_step* step, uint64_t bytes) {
  for (uint32_t i = 0; i < step->price_count; ++i) {
    if (step->prices[i].scratch <= bytes) {
      return step->prices[i].variant;
    }
  }
  return UINT32_MAX;
}
