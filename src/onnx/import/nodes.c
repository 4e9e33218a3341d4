// Importing a list of nodes: each is a function's call, an op with a row, or a custom op. A node
// that cannot be imported leaves an issue and poisons its results; those that read poison are
// skipped, and the run goes on, so that one import reports all issues.
#include <string.h>

#include "onnx/import/importer.h"

// ---------------------------------------------------------------------------------------------
// Operands

static size_t count_without_empty_end(const stow_str* names, size_t count) {
  while (count != 0 && names[count - 1].size == 0) {
    --count;
  }
  return count;
}

// Pushes |count| absent values; the stack is cut when the node is done.
static stow_status push_absent(stowi_onnx_importer* onnx, size_t count, size_t* out_first) {
  if (STOWI_VEC_RESERVE(onnx->imp.allocator, &onnx->stack, count) != STOW_OK) {
    return stowi_import_memory(&onnx->imp);
  }
  *out_first = onnx->stack.count;
  for (size_t i = 0; i < count; ++i) {
    onnx->stack.data[onnx->stack.count++] = STOW_VALUE_NONE;
  }
  return STOW_OK;
}

static stow_status resolve_operands(stowi_onnx_lowering* l, const stow_str** out_poison) {
  stowi_import_importer* imp = l->imp;
  *out_poison = NULL;
  l->operand_count = count_without_empty_end(l->node->inputs, l->node->input_count);
  STOW_TRY(push_absent(l->onnx, l->operand_count, &l->first_operand));
  for (size_t k = 0; k < l->operand_count; ++k) {
    stow_str name = l->node->inputs[k];
    const stowi_import_binding* binding = name.size == 0 ? NULL : stowi_import_resolve(imp, name);
    if (name.size == 0) {
      continue;
    }
    if (binding == NULL) {
      return stowi_fail(imp->diag, STOW_ERR_SYNTAX, "input %zu is \"%.*s\", which no node produces",
                        k, STOWI_STR_ARG(name));
    }
    if (binding->bound == STOWI_IMPORT_POISON) {
      *out_poison = &l->node->inputs[k];
    } else if (binding->bound == STOWI_IMPORT_VALUE) {
      l->onnx->stack.data[l->first_operand + k] = binding->value;
    }
  }
  // Inputs that a function's call leaves off are left off here too.
  while (l->operand_count != 0 && *out_poison == NULL &&
         stowi_onnx_lower_operand(l, l->operand_count - 1) == STOW_VALUE_NONE) {
    --l->operand_count;
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Results

static stow_status poison_results(stowi_onnx_lowering* l) {
  for (size_t k = 0; k < l->result_count; ++k) {
    if (stowi_onnx_lower_wants(l, k)) {
      STOW_TRY(
          stowi_import_bind(l->imp, l->node->outputs[k], STOW_VALUE_NONE, STOWI_IMPORT_POISON));
    }
  }
  return STOW_OK;
}

static stow_status bind_results(stowi_onnx_lowering* l) {
  for (size_t k = 0; k < l->result_count; ++k) {
    stow_value value = stowi_onnx_lower_result(l, k);
    stow_str name = l->node->outputs[k];
    if (!stowi_onnx_lower_wants(l, k)) {
      continue;
    }
    stowi_import_bound bound = value == STOW_VALUE_NONE ? STOWI_IMPORT_POISON : STOWI_IMPORT_VALUE;
    STOW_TRY(stowi_import_bind(l->imp, name, value, bound));
    if (bound == STOWI_IMPORT_VALUE) {
      STOW_TRY(stowi_import_compare_asked(l->imp, name, value));
      STOW_TRY(stowi_import_compare_declared(l->imp, l->node));
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Lowering

static stow_status run_row(stowi_onnx_lowering* l) {
  const stowi_onnx_lower_row* row = l->row;
  if (row == NULL) {
    return stowi_onnx_lower_custom(l);
  }
  return row->lower != NULL ? row->lower(l)
                            : stowi_onnx_lower_plain(l, row->op, row->attrs, row->attr_count);
}

static int64_t find_opset(const stowi_import_opset* opsets, size_t count, stow_str domain) {
  for (size_t i = 0; i < count; ++i) {
    if (stow_str_equal(opsets[i].domain, domain)) {
      return opsets[i].version;
    }
  }
  return -1;
}

// Files of before opsets existed, and domains that are used without being imported: version 1.
static int64_t version_of(const stowi_onnx_importer* onnx, stow_str domain) {
  const stowi_onnx_proto* proto = &onnx->model->proto;
  int64_t version = -1;
  if (onnx->inlining != NULL) {
    const stowi_onnx_function* function = onnx->inlining->function;
    version = find_opset(function->opsets, function->opset_count, domain);
  }
  if (version < 0) {
    version = find_opset(proto->opsets, proto->opset_count, domain);
  }
  return version < 0 ? 1 : version;
}

// Whether the node may have graphs within, which leave results out, with an issue, where they could
// not be imported.
static bool may_have_graphs(const stowi_onnx_lowering* l) {
  stow_op op = l->row == NULL ? STOW_OP_NONE : l->row->op;
  return op == STOW_OP_IF || op == STOW_OP_LOOP || op == STOW_OP_FLEX_ATTENTION;
}

static stow_status lower(stowi_onnx_lowering* l) {
  stowi_onnx_importer* onnx = l->onnx;
  ++onnx->lowered;
  if (onnx->inlining != NULL && ++onnx->inlined > STOWI_ONNX_MAX_INLINED) {
    return stowi_fail(l->imp->diag, STOW_ERR_LIMIT, "calls of functions make more than %d nodes",
                      STOWI_ONNX_MAX_INLINED);
  }
  const stowi_onnx_function* function = stowi_onnx_function_of(onnx, l->node);
  if (function != NULL) {
    return stowi_onnx_inline(l, function);
  }
  l->version = version_of(onnx, l->node->domain);
  l->row = stowi_onnx_lower_index_find(&onnx->rows, l->node->domain, l->node->op, l->version);
  STOW_TRY(run_row(l));
  // An op that made fewer results than the file names.
  for (size_t k = 0; k < l->result_count && !may_have_graphs(l); ++k) {
    if (stowi_onnx_lower_wants(l, k) && stowi_onnx_lower_result(l, k) == STOW_VALUE_NONE) {
      return stowi_fail(l->imp->diag, STOW_ERR_TYPE, "the op has no output %zu", k);
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Nodes

// Turns what only stands against this node into an issue.
static stow_status take_failure(stowi_onnx_lowering* l, stow_status status) {
  stowi_import_importer* imp = l->imp;
  if (status != STOW_ERR_UNSUPPORTED && status != STOW_ERR_DATA_DEPENDENT) {
    return status;
  }
  stow_import_issue_kind kind =
      status == STOW_ERR_UNSUPPORTED ? STOW_IMPORT_UNSUPPORTED : STOW_IMPORT_NEEDS_SHAPE;
  stow_str tensor = l->result_count == 0 ? stow_str_of("") : l->node->outputs[0];
  STOW_TRY(stowi_import_add_issue(imp, kind, l->node, tensor, "%s", imp->diag->message));
  return poison_results(l);
}

static stow_status import_resolved(stowi_onnx_lowering* l, const stow_str* poison) {
  stowi_import_importer* imp = l->imp;
  l->result_count = count_without_empty_end(l->node->outputs, l->node->output_count);
  if (poison != NULL) {
    STOW_TRY(stowi_import_add_issue(imp, STOW_IMPORT_SKIPPED, l->node, *poison,
                                    "\"%.*s\" could not be imported", STOWI_STR_ARG(*poison)));
    return poison_results(l);
  }
  STOW_TRY(push_absent(l->onnx, l->result_count, &l->first_result));
  stow_status status = lower(l);
  stow_graph_cancel(imp->graph);  // what a lowering that failed had begun
  return status == STOW_OK ? bind_results(l) : take_failure(l, status);
}

#define NAMED_INPUTS 6

// ` (inputs: "x", "w")`: the core speaks of operands by number.
static void name_inputs(stowi_import_importer* imp, const stowi_onnx_node* node) {
  size_t count = node->input_count < NAMED_INPUTS ? node->input_count : NAMED_INPUTS;
  for (size_t i = 0; i < count; ++i) {
    stowi_diag_append(imp->diag, "%s\"%.*s\"%s", i == 0 ? " (inputs: " : ", ",
                      STOWI_STR_ARG(node->inputs[i]),
                      i + 1 < count               ? ""
                      : count < node->input_count ? ", \xE2\x80\xA6)"
                                                  : ")");
  }
}

static stow_status import_node(stowi_onnx_importer* onnx, const stowi_onnx_node* node) {
  stowi_import_importer* imp = &onnx->imp;
  stowi_onnx_lowering l = {.imp = imp, .onnx = onnx, .node = node};
  size_t stack = onnx->stack.count;
  const stow_str* poison;
  stow_status status = resolve_operands(&l, &poison);
  status = status == STOW_OK ? import_resolved(&l, poison) : status;
  status = status == STOW_OK ? stowi_import_note_origins(imp, node) : status;
  onnx->stack.count = stack;
  if (status == STOW_OK) {
    return STOW_OK;
  }
  stow_diag inner = *imp->diag;
  status = stowi_fail(imp->diag, status, "node \"%.*s\" (%.*s): %s",
                      STOWI_STR_ARG(stowi_onnx_node_label(node)), STOWI_STR_ARG(node->op),
                      inner.message);
  stowi_diag_keep_split(imp->diag, &inner);
  bool is_innermost = strncmp(inner.message, "node ", strlen("node ")) != 0;
  if (status == STOW_ERR_TYPE && is_innermost) {
    name_inputs(imp, node);
  }
  return status;
}

stow_status stowi_onnx_import_nodes(stowi_onnx_importer* onnx, const stowi_onnx_node* nodes,
                                    size_t count) {
  stowi_import_importer* imp = &onnx->imp;
  uint32_t* order = STOWI_ARRAY(imp->allocator, uint32_t, count);
  stow_status status =
      order == NULL ? stowi_import_memory(imp) : stowi_onnx_order_nodes(onnx, nodes, count, order);
  for (size_t i = 0; status == STOW_OK && i < count; ++i) {
    status = import_node(onnx, &nodes[order[i]]);
  }
  STOWI_ARRAY_FREE(imp->allocator, order, count);
  return status;
}

// ---------------------------------------------------------------------------------------------
// Graphs

static stow_status declare(stowi_import_importer* imp, const stowi_onnx_value_info* infos,
                           size_t count) {
  for (size_t i = 0; i < count; ++i) {
    stowi_import_info info = stowi_onnx_info(&infos[i]);
    STOW_TRY(stowi_import_declare(imp, &info));
  }
  return STOW_OK;
}

stow_status stowi_onnx_import_graph(stowi_onnx_importer* onnx, const stowi_onnx_graph* graph) {
  STOW_TRY(declare(&onnx->imp, graph->infos, graph->info_count));
  STOW_TRY(declare(&onnx->imp, graph->outputs, graph->output_count));
  return stowi_onnx_import_nodes(onnx, graph->nodes, graph->node_count);
}

static stow_status import_body(stowi_onnx_importer* onnx, const stowi_onnx_graph* graph,
                               stow_value* out_values) {
  STOW_TRY(stowi_onnx_import_initializers(onnx, graph, STOW_OP_CONSTANT));
  STOW_TRY(stowi_onnx_import_graph(onnx, graph));
  for (size_t i = 0; i < graph->output_count; ++i) {
    const stowi_import_binding* binding = stowi_import_resolve(&onnx->imp, graph->outputs[i].name);
    if (binding == NULL || binding->bound == STOWI_IMPORT_ABSENT) {
      return stowi_fail(onnx->imp.diag, STOW_ERR_SYNTAX,
                        "output \"%.*s\" of a subgraph is not produced by any node",
                        STOWI_STR_ARG(graph->outputs[i].name));
    }
    out_values[i] = binding->value;
  }
  return STOW_OK;
}

stow_status stowi_onnx_import_inner(stowi_onnx_importer* onnx, const stowi_onnx_graph* graph,
                                    stow_value* out_values) {
  stowi_import_importer* imp = &onnx->imp;
  if (imp->depth >= STOWI_IMPORT_MAX_DEPTH) {
    return stowi_fail(imp->diag, STOW_ERR_LIMIT, "graphs are nested more than %d deep",
                      STOWI_IMPORT_MAX_DEPTH);
  }
  ++imp->depth;
  stow_status status = import_body(onnx, graph, out_values);
  --imp->depth;
  return status;
}
