#include "rewrite/facts.h"

#include <string.h>

#include "base/diag.h"

static bool is_boundary_op(stow_op op) {
  return op == STOW_OP_INPUT || op == STOW_OP_PARAM || op == STOW_OP_CONSTANT;
}

bool stowi_rewrite_is_barrier(const stow_graph* graph, stow_node node) {
  stow_op op = stow_graph_op(graph, node);
  const stow_op_desc* desc = stow_graph_op_desc(graph, node);
  return is_boundary_op(op) || op == STOW_OP_ARGS || op == STOW_OP_YIELD ||
         desc->region_count != 0 || desc->writes_view || stowi_graph_may_be_random(op) ||
         stowi_graph_with_count(graph, node) != 0;
}

bool stowi_rewrite_same_type(const stow_graph* graph, stow_value a, stow_value b) {
  const stow_type* left = stow_graph_type(graph, a);
  const stow_type* right = stow_graph_type(graph, b);
  bool same = left->dtype == right->dtype && left->rank == right->rank;
  for (uint32_t i = 0; same && i < left->rank; ++i) {
    same = left->dims[i] == right->dims[i] &&
           stow_graph_is_bounded_dim(graph, a, i) == stow_graph_is_bounded_dim(graph, b, i);
  }
  return same;
}

static bool is_open(const stow_graph* graph, stow_value value) {
  return value != STOW_VALUE_NONE &&
         (stow_graph_is_bounded(graph, value) || stow_graph_is_data_dependent(graph, value));
}

bool stowi_rewrite_is_bounded(const stow_graph* graph, stow_node node) {
  bool result = false;
  stow_value first = stow_graph_first_result(graph, node);
  for (size_t k = 0; k < stow_graph_result_count(graph, node); ++k) {
    result = result || is_open(graph, first + (stow_value)k);
  }
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    result = result || is_open(graph, stow_graph_operands(graph, node)[k]);
  }
  return result;
}

uint64_t stowi_rewrite_bytes(const stow_graph* graph, stow_value value) {
  uint64_t bytes;
  return stow_type_bytes(stow_graph_type(graph, value), &bytes) == STOW_OK ? bytes : UINT64_MAX;
}

// ---------------------------------------------------------------------------------------------
// Values

static void fix(stowi_rewrite_facts* facts, stow_value value) {
  if (value != STOW_VALUE_NONE) {
    stowi_bits_add(&facts->fixed, value);
  }
}

static void fix_operands(stowi_rewrite_facts* facts, const stow_graph* graph, stow_node node) {
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    fix(facts, stow_graph_operands(graph, node)[k]);
  }
}

static void fix_named(stowi_rewrite_facts* facts, const stow_graph* graph, stow_node node) {
  for (size_t i = 0; i < stowi_graph_with_count(graph, node); ++i) {
    const stow_attr* attr = stowi_graph_with_at(graph, node, i);
    for (size_t j = 1; stowi_graph_names_values(attr) && j < attr->count; j += 2) {
      bool is_value = attr->ints[j] >= 0 && attr->ints[j] < (int64_t)facts->value_count;
      fix(facts, is_value ? (stow_value)attr->ints[j] : STOW_VALUE_NONE);
    }
  }
}

// Any result that an op may write into, or that may be a view of such.
static bool makes_fixed(const stowi_rewrite_facts* facts, const stow_graph* graph, stow_node node) {
  stow_value first = stow_graph_first_result(graph, node);
  bool result = false;
  for (size_t k = 0; k < stow_graph_result_count(graph, node); ++k) {
    result = result || stowi_bits_has(&facts->fixed, first + (stow_value)k);
  }
  return result;
}

// From the last node to the first: what is written into through a view is fixed as well.
static void find_fixed(stowi_rewrite_facts* facts, const stow_graph* graph) {
  for (stow_node node = stow_graph_node_count(graph); node-- > 0;) {
    const stow_op_desc* desc = stow_graph_op_desc(graph, node);
    stow_op op = stow_graph_op(graph, node);
    fix_named(facts, graph, node);
    if (op == STOW_OP_YIELD || desc->region_count != 0 || desc->writes_view ||
        (desc->view != NULL && makes_fixed(facts, graph, node))) {
      fix_operands(facts, graph, node);
    }
  }
}

stow_status stowi_rewrite_facts_init(stowi_rewrite_facts* facts, const stow_graph* graph,
                                     stow_allocator allocator, stow_diag* diag) {
  memset(facts, 0, sizeof(*facts));
  facts->allocator = allocator;
  facts->value_count = stow_graph_value_count(graph);
  facts->readers = STOWI_ARRAY_ZERO(allocator, uint32_t, facts->value_count);
  STOW_TRY(stowi_need_memory(facts->readers != NULL &&
                                 stowi_bits_init(&facts->outputs, facts->value_count, allocator) &&
                                 stowi_bits_init(&facts->fixed, facts->value_count, allocator),
                             diag));
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
      stow_value operand = stow_graph_operands(graph, node)[k];
      if (operand != STOW_VALUE_NONE) {
        ++facts->readers[operand];
      }
    }
  }
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    stowi_bits_add(&facts->outputs, stow_graph_outputs(graph)[i]);
  }
  find_fixed(facts, graph);
  return STOW_OK;
}

void stowi_rewrite_facts_free(stowi_rewrite_facts* facts) {
  STOWI_ARRAY_FREE(facts->allocator, facts->readers, facts->value_count);
  stowi_bits_free(&facts->outputs, facts->allocator);
  stowi_bits_free(&facts->fixed, facts->allocator);
}
