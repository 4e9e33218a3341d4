// The built-in lifetime rules: special cases of executors that run ops out of order or read late,
// each with a name so that it can be switched, tested and documented (docs/lifetime-rules.md). Ops
// are named individually here, because the rules are about specific ops. Each rule is one pass over
// the nodes.
#include <string.h>

#include "analysis/lives/lifetimes.h"

static bool has_op(const stow_graph* graph, stow_op op) {
  uint32_t count = stow_graph_node_count(graph);
  for (stow_node node = 0; node < count; ++node) {
    if (stow_graph_op(graph, node) == op) {
      return true;
    }
  }
  return false;
}

// The name of a custom op; empty for other nodes.
static stow_str custom_name(const stow_graph* graph, stow_node node) {
  const stow_attr* name = NULL;
  if (stow_graph_op(graph, node) == STOW_OP_CUSTOM) {
    name = stow_graph_attr(graph, node, "name");
  }
  return name != NULL && name->kind == STOW_ATTR_STRING ? name->s : stow_str_of("");
}

static bool is_custom(const stow_graph* graph, stow_node node, const char* a, const char* b) {
  stow_str name = custom_name(graph, node);
  return stow_str_equal(name, stow_str_of(a)) || stow_str_equal(name, stow_str_of(b));
}

static void extend_outputs(stow_rule_call* call) {
  const stow_value* outputs = stow_graph_outputs(call->graph);
  for (size_t i = 0; i < stow_graph_output_count(call->graph); ++i) {
    stow_rule_extend_ancestors(call, outputs[i]);
  }
}

static void extend_operands(stow_rule_call* call, stow_node node, size_t limit) {
  const stow_value* operands = stow_graph_operands(call->graph, node);
  size_t count = stow_graph_operand_count(call->graph, node);
  for (size_t k = 0; k < count && k < limit; ++k) {
    stow_rule_extend_ancestors(call, operands[k]);
  }
}

// ---------------------------------------------------------------------------------------------

static stow_status pin_output_ancestors(stow_rule_call* call, void* user) {
  (void)user;
  extend_outputs(call);
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// packed-qkv

typedef struct piece {
  stow_value parent;
  int64_t start;
  int64_t length;
} piece;

static bool int_attr(const stow_graph* graph, stow_node node, const char* name, int64_t* out) {
  const stow_attr* attr = stow_graph_attr(graph, node, name);
  if (attr == NULL || attr->kind != STOW_ATTR_INT) {
    return false;
  }
  *out = attr->i;
  return true;
}

// Whether |value| is a narrow on axis 2.
static bool narrow_on_axis_2(const stow_graph* graph, stow_value value, piece* out) {
  stow_node node = stow_graph_producer(graph, value);
  int64_t axis;
  if (stow_graph_op(graph, node) != STOW_OP_NARROW || !int_attr(graph, node, "axis", &axis) ||
      !int_attr(graph, node, "start", &out->start) || !int_attr(graph, node, "len", &out->length)) {
    return false;
  }
  out->parent = stow_graph_operands(graph, node)[0];
  if (axis < 0) {
    axis += stow_graph_type(graph, out->parent)->rank;
  }
  return axis == 2;
}

// The value that is split in three, or STOW_VALUE_NONE if the operands are not such parts.
static stow_value packed_parent(const stow_graph* graph, stow_node attention,
                                const stow_value* sources) {
  const stow_value* operands = stow_graph_operands(graph, attention);
  piece pieces[3];
  if (stow_graph_operand_count(graph, attention) < 3) {
    return STOW_VALUE_NONE;
  }
  for (size_t k = 0; k < 3; ++k) {
    if (operands[k] == STOW_VALUE_NONE ||
        !narrow_on_axis_2(graph, sources[operands[k]], &pieces[k]) ||
        pieces[k].parent != pieces[0].parent || pieces[k].start != (int64_t)k ||
        pieces[k].length != pieces[0].length) {
      return STOW_VALUE_NONE;
    }
  }
  const stow_type* type = stow_graph_type(graph, pieces[0].parent);
  return type->rank == 5 && type->dims[2] == 3 ? pieces[0].parent : STOW_VALUE_NONE;
}

// The source of each value through reshapes and casts. Stored for all values, so that long chains
// shared by many attentions are walked once.
static void find_sources(const stow_graph* graph, stow_value* sources) {
  uint32_t count = stow_graph_value_count(graph);
  for (stow_value value = 0; value < count; ++value) {
    stow_node node = stow_graph_producer(graph, value);
    stow_op op = stow_graph_op(graph, node);
    bool passes = op == STOW_OP_RESHAPE || op == STOW_OP_CAST;
    sources[value] = passes ? sources[stow_graph_operands(graph, node)[0]] : value;
  }
}

static stow_status packed_qkv(stow_rule_call* call, void* user) {
  (void)user;
  const stow_graph* graph = call->graph;
  if (!has_op(graph, STOW_OP_ATTENTION)) {
    return STOW_OK;
  }
  uint32_t value_count = stow_graph_value_count(graph);
  stow_value* sources = STOWI_ARRAY(call->allocator, stow_value, value_count);
  if (sources == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  find_sources(graph, sources);
  uint32_t count = stow_graph_node_count(graph);
  for (stow_node node = 0; node < count; ++node) {
    if (stow_graph_op(graph, node) == STOW_OP_ATTENTION) {
      stow_rule_extend(call, packed_parent(graph, node, sources), node);
    }
  }
  STOWI_ARRAY_FREE(call->allocator, sources, value_count);
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

static stow_status deferred_custom(stow_rule_call* call, void* user) {
  (void)user;
  static const char prefix[] = "onnx.";
  uint32_t count = stow_graph_node_count(call->graph);
  for (stow_node node = 0; node < count; ++node) {
    stow_str name = custom_name(call->graph, node);
    if (name.size < sizeof(prefix) - 1 || memcmp(name.data, prefix, sizeof(prefix) - 1) != 0) {
      continue;
    }
    size_t limit = SIZE_MAX;  // missing or negative: all
    int64_t inputs;
    if (int_attr(call->graph, node, "num_inputs", &inputs) && inputs >= 0 && inputs <= UINT32_MAX) {
      limit = (size_t)inputs;
    }
    extend_operands(call, node, limit);
  }
  return STOW_OK;
}

static stow_status deferred_dequant(stow_rule_call* call, void* user) {
  (void)user;
  uint32_t count = stow_graph_node_count(call->graph);
  for (stow_node node = 0; node < count; ++node) {
    stow_op op = stow_graph_op(call->graph, node);
    if (op == STOW_OP_DEQUANT_MATMUL || op == STOW_OP_DEQUANT_GROUPED_MATMUL) {
      extend_operands(call, node, 1);
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

static bool has_quantized_custom(const stow_graph* graph) {
  uint32_t count = stow_graph_node_count(graph);
  for (stow_node node = 0; node < count; ++node) {
    if (is_custom(graph, node, "onnx.QMatMul", "onnx.ActCopy")) {
      return true;
    }
  }
  return false;
}

static stow_status residual_chains(stow_rule_call* call, void* user) {
  (void)user;
  if (!has_quantized_custom(call->graph)) {
    return STOW_OK;
  }
  uint32_t count = stow_graph_node_count(call->graph);
  for (stow_node node = 0; node < count; ++node) {
    stow_op op = stow_graph_op(call->graph, node);
    bool norm = op == STOW_OP_LAYER_NORM || op == STOW_OP_LAYER_NORM_2D;
    if (norm || op == STOW_OP_ADD) {
      extend_operands(call, node, norm ? 1 : SIZE_MAX);
      stow_rule_extend(call, stow_graph_first_result(call->graph, node), STOW_STEP_END);
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

static bool is_i64(const stow_graph* graph, stow_value value) {
  return stow_graph_type(graph, value)->dtype == STOW_I64;
}

static bool has_i64_output(const stow_graph* graph) {
  const stow_value* outputs = stow_graph_outputs(graph);
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    if (is_i64(graph, outputs[i])) {
      return true;
    }
  }
  return false;
}

// Ops whose i64 results count at any rank.
static bool is_index_arithmetic(stow_op op) {
  static const stow_op ops[] = {STOW_OP_EXPAND, STOW_OP_CAST, STOW_OP_WHERE, STOW_OP_ADD,
                                STOW_OP_SUB,    STOW_OP_MUL,  STOW_OP_DIV,   STOW_OP_MAX,
                                STOW_OP_MIN,    STOW_OP_POW};
  for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); ++i) {
    if (ops[i] == op) {
      return true;
    }
  }
  return false;
}

static bool is_epilogue(const stow_graph* graph, stow_value value) {
  stow_node node = stow_graph_producer(graph, value);
  if (is_custom(graph, node, "onnx.ConcatFromSequence", "onnx.KittenConcatFromSequence")) {
    return true;
  }
  return is_i64(graph, value) && (is_index_arithmetic(stow_graph_op(graph, node)) ||
                                  stow_graph_type(graph, value)->rank <= 2);
}

static stow_status i64_epilogue(stow_rule_call* call, void* user) {
  (void)user;
  if (!has_i64_output(call->graph)) {
    return STOW_OK;
  }
  stow_rule_forbid_reuse(call);
  extend_outputs(call);
  uint32_t count = stow_graph_value_count(call->graph);
  for (stow_value value = 0; value < count; ++value) {
    if (is_epilogue(call->graph, value)) {
      stow_rule_extend_ancestors(call, value);
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

const stow_rule stowi_analysis_rules[] = {
    {"pin-output-ancestors", "outputs and all they are computed from live to the end",
     pin_output_ancestors, NULL},
    {"packed-qkv", "a packed q, k, v tensor lives until the attention that reads its three parts",
     packed_qkv, NULL},
    {"deferred-custom",
     "operands of custom ops named onnx.*, and all they are computed from, live to the end",
     deferred_custom, NULL},
    {"deferred-dequant",
     "activations of dequantizing matmuls, and all they are computed from, live to the end",
     deferred_dequant, NULL},
    {"residual-chains",
     "with onnx.QMatMul or onnx.ActCopy, operands and results of norms and adds live to the end",
     residual_chains, NULL},
    {"i64-epilogue", "a graph with an i64 output is planned without reuse", i64_epilogue, NULL},
};
const size_t stowi_analysis_rule_count =
    sizeof(stowi_analysis_rules) / sizeof(stowi_analysis_rules[0]);
