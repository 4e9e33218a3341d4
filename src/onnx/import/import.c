// Importing a model: symbols, inputs, weights, nodes, outputs; then what is left to say.
//
// Everything is done in one pass over the file's records; time and memory are proportional to the
// model's structure, not to its weights.
#include <string.h>

#include "onnx/import/importer.h"

#define MAX_ROOT_ISSUES 100
#define MAX_CHOICES 32  // Ifs of which only one branch fits

// ---------------------------------------------------------------------------------------------
// The import

void stow_onnx_import_destroy(stow_onnx_import* import) {
  if (import == NULL) {
    return;
  }
  stow_allocator allocator = import->allocator;
  stow_graph_destroy(import->simple);
  stow_graph_destroy(import->full);
  for (size_t i = 0; i < import->blocks.count; ++i) {
    stowi_free(allocator, import->blocks.data[i].bytes, import->blocks.data[i].size, 1);
  }
  STOWI_VEC_FREE(allocator, &import->blocks);
  STOWI_VEC_FREE(allocator, &import->symbols);
  STOWI_VEC_FREE(allocator, &import->issues);
  STOWI_DELETE(allocator, import);
}

stow_graph* stow_onnx_import_graph(const stow_onnx_import* import) {
  if (!import->is_whole) {
    return NULL;
  }
  return import->simple == NULL ? import->full : import->simple;
}

// ---------------------------------------------------------------------------------------------
// Symbols that inputs do not have

static bool is_graph_symbol(const stow_graph* graph, stow_str text) {
  const stow_dims* dims = stow_graph_dims(graph);
  for (size_t i = 0; i < stow_dims_symbol_count(dims); ++i) {
    if (stow_str_equal(stow_dims_symbol_name(dims, i), text)) {
      return true;
    }
  }
  return false;
}

// Symbols that are no input's belong to dims that depend on data: they exist only now.
static stow_status collect_late(stowi_importer* imp, stow_str* names, int64_t* values,
                                size_t* out_count) {
  *out_count = 0;
  for (size_t i = 0; i < imp->symbols.count; ++i) {
    const stowi_symbol* symbol = &imp->symbols.data[i];
    if (symbol->is_met) {
      continue;
    }
    if (is_graph_symbol(imp->graph, symbol->text)) {
      names[*out_count] = symbol->text;
      values[(*out_count)++] = symbol->value;
    } else if (imp->import->is_whole) {
      return stowi_fail_symbol(imp, symbol->text);
    }
  }
  return STOW_OK;
}

static stow_status bind_late(stowi_importer* imp) {
  stow_allocator allocator = imp->allocator;
  size_t room = imp->symbols.count;
  stow_str* names = STOWI_ARRAY(allocator, stow_str, room);
  int64_t* values = STOWI_ARRAY(allocator, int64_t, room);
  size_t count = 0;
  stow_status status = names == NULL || values == NULL ? stowi_import_memory(imp)
                                                       : collect_late(imp, names, values, &count);
  if (status == STOW_OK && count != 0) {
    status = stow_graph_bind(imp->graph, names, values, count, imp->diag);
  }
  STOWI_ARRAY_FREE(allocator, names, room);
  STOWI_ARRAY_FREE(allocator, values, room);
  return status;
}

// ---------------------------------------------------------------------------------------------
// The graph

static stow_status import_outputs(stowi_importer* imp) {
  const stowi_onnx_graph* graph = &imp->proto->graph;
  imp->import->is_whole = true;
  for (size_t i = 0; i < graph->output_count; ++i) {
    stow_str text = graph->outputs[i].name;
    const stowi_binding* binding = stowi_resolve(imp, text);
    if (binding == NULL) {
      return stowi_fail_output(imp, text);
    }
    if (binding->bound == STOWI_BOUND_VALUE) {
      STOW_TRY(stow_graph_add_output(imp->graph, binding->value, imp->diag));
    } else {
      imp->import->is_whole = false;
    }
  }
  return STOW_OK;
}

static stow_status note_outputs(stowi_importer* imp) {
  const stowi_onnx_graph* graph = &imp->proto->graph;
  for (size_t i = 0; i < graph->output_count; ++i) {
    uint32_t id;
    STOW_TRY(stowi_name_of(imp, graph->outputs[i].name, &id));
    imp->names.data[id].is_output = true;
  }
  return STOW_OK;
}

static stow_status import_graph(stowi_importer* imp) {
  const stowi_onnx_graph* graph = &imp->proto->graph;
  if (graph->output_count == 0) {
    return stowi_fail(imp->diag, STOW_ERR_SYNTAX, "the model has %s: there is nothing to import",
                      graph->node_count == 0 ? "no nodes and no outputs" : "no outputs");
  }
  STOW_TRY(stowi_note_asked(imp));
  STOW_TRY(stowi_note_initializers(imp));
  STOW_TRY(note_outputs(imp));
  STOW_TRY(stowi_check_asked_values(imp));
  STOW_TRY(stowi_settle_symbols(imp));
  STOW_TRY(stowi_import_inputs(imp));
  STOW_TRY(stowi_import_initializers(imp, graph, STOW_OP_PARAM));
  STOW_TRY(stowi_note_origins(imp, NULL));
  STOW_TRY(stowi_declare(imp, graph->infos, graph->info_count));
  STOW_TRY(stowi_declare(imp, graph->outputs, graph->output_count));
  STOW_TRY(stowi_import_nodes(imp, graph->nodes, graph->node_count));
  STOW_TRY(import_outputs(imp));
  STOW_TRY(stowi_check_asked_shapes(imp));
  return bind_late(imp);
}

// ---------------------------------------------------------------------------------------------
// What is left to say

static bool has_open_dims(const stow_type* type) {
  for (uint32_t i = 0; i < type->rank; ++i) {
    if (!stow_dim_is_const(type->dims[i])) {
      return true;
    }
  }
  return false;
}

// Whether an operand is bounded or depends on data, or follows from one that is and does: dims come
// from elements too.
static bool reads_followers(const stow_graph* graph, stow_node node, const bool* follows) {
  const stow_value* operands = stow_graph_operands(graph, node);
  for (size_t i = 0; i < stow_graph_operand_count(graph, node); ++i) {
    if (operands[i] != STOW_VALUE_NONE && follows[operands[i]]) {
      return true;
    }
  }
  return false;
}

// The same of what the node's regions, which precede it, yield.
static bool yields_followers(const stow_graph* graph, stow_node owner, const bool* follows) {
  if (stow_graph_op_desc(graph, owner)->region_count == 0) {
    return false;
  }
  stow_region around = stow_graph_node_region(graph, owner);
  for (stow_node node = owner; node-- > 0 && stow_graph_node_region(graph, node) != around;) {
    if (stow_graph_op(graph, node) == STOW_OP_YIELD && reads_followers(graph, node, follows)) {
      return true;
    }
  }
  return false;
}

// Marks what is bounded or depends on data, and what follows from that; |is_root| is true for those
// that are so of themselves.
static void find_roots(const stow_graph* graph, bool* follows, bool* is_root) {
  for (stow_value value = 0; value < stow_graph_value_count(graph); ++value) {
    bool is_loose =
        stow_graph_is_bounded(graph, value) || stow_graph_is_data_dependent(graph, value);
    stow_node node = stow_graph_producer(graph, value);
    bool reads = reads_followers(graph, node, follows) || yields_followers(graph, node, follows);
    is_root[value] = is_loose && !reads;
    follows[value] = is_loose || reads;
  }
}

// Where bounds and data-dependent dims come from; what depends on them is not told.
static stow_status report_found(stowi_importer* imp, const bool* is_root) {
  const stow_graph* graph = imp->graph;
  size_t told = 0;
  for (stow_value value = 0; value < imp->origins.count && told < MAX_ROOT_ISSUES; ++value) {
    const stowi_onnx_node* node = imp->origins.data[value];
    const stow_type* type = stow_graph_type(graph, value);
    stow_str name = stow_graph_value_name(graph, value);
    if (node == NULL) {
      continue;
    }
    if (stow_graph_is_data_dependent(graph, value) && has_open_dims(type)) {
      ++told;
      STOW_TRY(stowi_add_issue(imp, STOW_ONNX_NEEDS_SHAPE, node, name, "dims of %s depend on data",
                               stowi_type_text_of(graph, type).text));
    } else if (stow_graph_is_bounded(graph, value) && is_root[value]) {
      ++told;
      STOW_TRY(stowi_add_issue(imp, STOW_ONNX_BOUNDED, node, name, "%s is the largest it can be",
                               stowi_type_text_of(graph, type).text));
    }
  }
  return STOW_OK;
}

static stow_status report_roots(stowi_importer* imp) {
  size_t count = stow_graph_value_count(imp->graph);
  bool* follows = STOWI_ARRAY_ZERO(imp->allocator, bool, count);
  bool* is_root = STOWI_ARRAY_ZERO(imp->allocator, bool, count);
  stow_status status = STOW_ERR_OUT_OF_MEMORY;
  if (follows != NULL && is_root != NULL) {
    find_roots(imp->graph, follows, is_root);
    status = report_found(imp, is_root);
  }
  STOWI_ARRAY_FREE(imp->allocator, follows, count);
  STOWI_ARRAY_FREE(imp->allocator, is_root, count);
  return status == STOW_ERR_OUT_OF_MEMORY ? stowi_fail_memory(imp->diag) : status;
}

static stow_status finish(stowi_importer* imp) {
  stow_onnx_import* import = imp->import;
  STOW_TRY(report_roots(imp));
  STOW_TRY(stowi_report_declared(imp));
  bool keeps_all = imp->request != NULL && imp->request->keep_all;
  if (import->is_whole && !keeps_all) {
    return stow_graph_simplify(import->full, imp->allocator, imp->diag, &import->simple);
  }
  return STOW_OK;
}

static stow_status prepare(stowi_importer* imp) {
  stow_string_init(&imp->text, imp->allocator);
  if (stowi_lower_index_build(&imp->rows, imp->allocator) != STOW_OK) {
    return stowi_import_memory(imp);
  }
  STOW_TRY(stowi_index_functions(imp));
  stow_str name = imp->proto->graph.name;
  STOW_TRY(stow_graph_create(name.size == 0 ? stow_str_of("model") : name, NULL, imp->allocator,
                             imp->diag, &imp->import->full));
  imp->graph = imp->import->full;
  return STOW_OK;
}

static void release(stowi_importer* imp) {
  stow_allocator allocator = imp->allocator;
  STOWI_VEC_FREE(allocator, &imp->names);
  STOWI_VEC_FREE(allocator, &imp->bindings);
  STOWI_VEC_FREE(allocator, &imp->declarations);
  STOWI_VEC_FREE(allocator, &imp->symbols);
  STOWI_VEC_FREE(allocator, &imp->origins);
  STOWI_VEC_FREE(allocator, &imp->stack);
  stowi_index_free(&imp->by_name, allocator);
  stowi_index_free(&imp->by_symbol, allocator);
  stowi_index_free(&imp->functions, allocator);
  stowi_lower_index_free(&imp->rows, allocator);
  stow_string_free(&imp->text);
}

static stow_status import_once(stow_onnx_model* model, const stow_onnx_request* request,
                               stow_allocator allocator, stowi_choices* choices, stow_diag* diag,
                               stow_onnx_import** out_import) {
  stow_onnx_import* import = STOWI_NEW(allocator, stow_onnx_import);
  if (import == NULL) {
    return stowi_fail_memory(diag);
  }
  import->allocator = allocator;
  stowi_importer imp = {.import = import,
                        .model = model,
                        .proto = stowi_onnx_proto_of(model),
                        .request = request,
                        .allocator = allocator,
                        .diag = diag,
                        .choices = choices};
  stow_status status = prepare(&imp);
  status = status == STOW_OK ? import_graph(&imp) : status;
  status = status == STOW_OK ? finish(&imp) : status;
  release(&imp);
  if (status != STOW_OK) {
    stow_onnx_import_destroy(import);
    return status;
  }
  *out_import = import;
  return STOW_OK;
}

// Takes the branch that the last import found, and tries again.
static stow_status import_again(stow_onnx_model* model, const stow_onnx_request* request,
                                stow_allocator allocator, stowi_choices* choices, stow_diag* diag,
                                stow_onnx_import** out_import) {
  if (STOWI_VEC_RESERVE(allocator, &choices->list, 1) != STOW_OK) {
    return stowi_fail_memory(diag);
  }
  choices->list.data[choices->list.count++] = choices->next;
  choices->has_next = false;
  return import_once(model, request, allocator, choices, diag, out_import);
}

stow_status stow_onnx_import_model(stow_onnx_model* model, const stow_onnx_request* request,
                                   stow_allocator allocator, stow_diag* diag,
                                   stow_onnx_import** out_import) {
  *out_import = NULL;
  stow_diag own;
  stow_diag_init(&own);
  stowi_choices choices = {0};
  stow_status status = import_once(model, request, allocator, &choices, &own, out_import);
  while (status == STOW_ERR_TYPE && choices.has_next && choices.list.count < MAX_CHOICES) {
    status = import_again(model, request, allocator, &choices, &own, out_import);
  }
  STOWI_VEC_FREE(allocator, &choices.list);
  return status == STOW_OK ? STOW_OK : stowi_fail(diag, status, "%s", own.message);
}
