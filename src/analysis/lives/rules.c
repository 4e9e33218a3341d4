// The functions available to lifetime rules. The walk to a value's ancestors has its own stack and
// never expands a node twice within one stowi_analysis_lifetimes_create, whichever rule reached it
// first: all rules together cost O(nodes + operands) beyond their own loops.
#include "analysis/api.h"
#include "analysis/lives/lifetimes.h"
#include "base/diag.h"
#include "graph/api.h"

size_t stow_rule_count(void) { return stowi_analysis_rule_count; }

const stow_rule* stow_rule_at(size_t index) {
  return index < stowi_analysis_rule_count ? &stowi_analysis_rules[index] : NULL;
}

const stow_rule* stow_rule_find(stow_str name) {
  for (size_t i = 0; i < stowi_analysis_rule_count; ++i) {
    if (stow_str_equal(name, stow_str_of(stowi_analysis_rules[i].name))) {
      return &stowi_analysis_rules[i];
    }
  }
  return NULL;
}

const stow_graph* stow_rule_graph(const stow_rule_call* call) { return call->graph; }

stow_value stow_rule_root(const stow_rule_call* call, stow_value value) {
  return stowi_analysis_views_root(call->views, value);
}

const stow_schedule* stow_rule_schedule(const stow_rule_call* call) { return call->schedule; }

// ---------------------------------------------------------------------------------------------

static const char* rule_name(const stow_rule_call* call) {
  return call->rule->name == NULL ? "" : call->rule->name;
}

// A rule does not see the status of what it asks for, so it is kept until the rule returns.
static bool refuse(stow_rule_call* call, const char* what, uint32_t id, uint32_t count) {
  if (call->status == STOW_OK) {
    call->status =
        stowi_fail(call->diag, STOW_ERR_INVALID_ARGUMENT,
                   "lifetime rule \"%.100s\" names %s %u, out of range (the graph has %u)",
                   rule_name(call), what, (unsigned)id, (unsigned)count);
  }
  return false;
}

// A missing operand is ignored.
static bool is_usable(stow_rule_call* call, stow_value value) {
  uint32_t count = call->lifetimes->value_count;
  if (value == STOW_VALUE_NONE) {
    return false;
  }
  return value < count ? true : refuse(call, "value", value, count);
}

void stow_rule_extend(stow_rule_call* call, stow_value value, stow_node node) {
  if (!is_usable(call, value)) {
    return;
  }
  uint32_t count = stow_graph_node_count(call->graph);
  if (node == STOW_STEP_END) {
    stowi_analysis_lifetimes_keep(call, value);
  } else if (node >= count) {
    refuse(call, "node", node, count);
  } else {
    stowi_analysis_lifetimes_use_late(call, value, node);
  }
}

// ---------------------------------------------------------------------------------------------
// Ancestors

// Keeps |value| and returns the new height of the stack: one more if its producer was not expanded
// yet.
static size_t reach(stow_rule_call* call, stow_value value, size_t height) {
  stowi_analysis_lifetimes_keep(call, value);
  stow_node producer = stow_graph_producer(call->graph, value);
  if (!stowi_bits_has(&call->expanded, producer)) {
    stowi_bits_add(&call->expanded, producer);
    call->stack[height++] = producer;
  }
  return height;
}

static size_t reach_operands(stow_rule_call* call, stow_node node, size_t height) {
  const stow_value* operands = stow_graph_operands(call->graph, node);
  size_t count = stow_graph_operand_count(call->graph, node);
  for (size_t k = 0; k < count; ++k) {
    if (operands[k] != STOW_VALUE_NONE) {
      height = reach(call, operands[k], height);
    }
  }
  return height;
}

static size_t reach_yields(stow_rule_call* call, stow_region region, size_t height) {
  return reach_operands(call, stowi_graph_region_last(call->graph, region), height);
}

// A node's results come from its operands, from what its regions yield and, for a region's
// arguments, from the owner's operands and the previous iteration's yields.
static size_t expand(stow_rule_call* call, stow_node node, size_t height) {
  const stow_graph* graph = call->graph;
  height = reach_operands(call, node, height);
  size_t regions = stow_graph_op_desc(graph, node)->region_count;
  for (size_t i = 0; i < regions; ++i) {
    height = reach_yields(call, stow_graph_owned_region(graph, node, i), height);
  }
  if (stow_graph_op(graph, node) == STOW_OP_ARGS) {
    stow_region region = stow_graph_node_region(graph, node);
    height = reach_operands(call, stowi_graph_region_owner(graph, region), height);
    height = reach_yields(call, region, height);
  }
  return height;
}

void stow_rule_extend_ancestors(stow_rule_call* call, stow_value value) {
  if (!is_usable(call, value)) {
    return;
  }
  size_t height = reach(call, value, 0);
  while (height > 0) {
    --height;
    height = expand(call, call->stack[height], height);
  }
}

void stow_rule_forbid_reuse(stow_rule_call* call) { call->lifetimes->reuse_allowed = false; }

stow_status stowi_analysis_rule_run(stow_rule_call* call, const stow_rule* rule) {
  call->rule = rule;
  call->status = STOW_OK;
  stow_status status = rule->apply(call, rule->user);
  if (call->status != STOW_OK) {
    return call->status;  // the diagnostic is already filled
  }
  if (status == STOW_ERR_OUT_OF_MEMORY) {
    return stowi_fail_memory(call->diag);
  }
  if (status != STOW_OK) {
    return stowi_fail(call->diag, status, "lifetime rule \"%.100s\" failed: %s", rule_name(call),
                      stow_status_text(status));
  }
  return STOW_OK;
}
