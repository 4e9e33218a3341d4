// Importing a model: symbols, inputs, weights, nodes, outputs; then the issues that only the whole
// graph shows.
//
// Everything is done in one pass over the file's records; time and memory are proportional to the
// model's structure, not to its weights.
#include "import/importer.h"

#define MAX_ROOT_ISSUES 100

// ---------------------------------------------------------------------------------------------
// The import

void stow_import_destroy(stow_import* import) {
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

stow_graph* stow_import_graph(stow_import* import) {
  if (!import->is_whole) {
    return NULL;
  }
  return import->simple == NULL ? import->full : import->simple;
}

// ---------------------------------------------------------------------------------------------
// Symbols that inputs do not have

// Other symbols than the inputs' belong to dims that depend on data, which exist only now.
static stow_status collect_late(stowi_import_importer* imp, stow_str* names, int64_t* values,
                                size_t* out_count) {
  *out_count = 0;
  for (size_t i = 0; i < imp->symbols.count; ++i) {
    const stowi_import_symbol* symbol = &imp->symbols.data[i];
    if (symbol->is_met) {
      continue;
    }
    if (stow_dims_find_symbol(stow_graph_dims(imp->graph), symbol->text) != SIZE_MAX) {
      if (symbol->value < 0) {
        return stowi_fail(imp->diag, STOW_ERR_CONFLICT,
                          "dim \"%.*s\" depends on data and cannot have a range; give its largest "
                          "number",
                          STOWI_STR_ARG(symbol->text));
      }
      names[*out_count] = symbol->text;
      values[(*out_count)++] = symbol->value;
    } else if (imp->import->is_whole) {
      STOW_TRY(stowi_import_check_symbol(imp, symbol->text));
    }
  }
  return STOW_OK;
}

static stow_status bind_late(stowi_import_importer* imp) {
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

static stow_status import_outputs(stowi_import_importer* imp) {
  const stow_model* model = imp->model;
  imp->import->is_whole = true;
  for (size_t i = 0; i < model->info.output_count; ++i) {
    stow_str text = model->outputs[i].name;
    const stowi_import_binding* binding = stowi_import_resolve(imp, text);
    if (binding == NULL) {
      return stowi_import_fail_output(imp, text);
    }
    if (binding->bound == STOWI_IMPORT_VALUE) {
      STOW_TRY(stow_graph_add_output(imp->graph, binding->value, imp->diag));
    } else {
      imp->import->is_whole = false;
    }
  }
  return STOW_OK;
}

static stow_status note_outputs(stowi_import_importer* imp) {
  const stow_model* model = imp->model;
  for (size_t i = 0; i < model->info.output_count; ++i) {
    uint32_t id;
    STOW_TRY(stowi_import_name_of(imp, model->outputs[i].name, &id));
    imp->names.data[id].is_output = true;
  }
  return STOW_OK;
}

static stow_status import_graph(stowi_import_importer* imp) {
  const stowi_import_provider* provider = imp->model->provider;
  if (imp->model->info.output_count == 0) {
    return stowi_fail(imp->diag, STOW_ERR_SYNTAX, "the model has %s; there is nothing to import",
                      imp->model->info.node_count == 0 ? "no nodes and no outputs" : "no outputs");
  }
  STOW_TRY(stowi_import_note_asked(imp));
  STOW_TRY(provider->note_names(imp));
  STOW_TRY(note_outputs(imp));
  STOW_TRY(stowi_import_check_asked_values(imp));
  STOW_TRY(stowi_import_settle_symbols(imp));
  STOW_TRY(stowi_import_inputs(imp));
  STOW_TRY(provider->add_weights(imp));
  STOW_TRY(stowi_import_note_origins(imp, NULL));
  STOW_TRY(provider->add_nodes(imp));
  STOW_TRY(import_outputs(imp));
  STOW_TRY(stowi_import_check_asked_shapes(imp));
  return bind_late(imp);
}

// ---------------------------------------------------------------------------------------------
// Issues of the whole graph

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
    bool is_upper_bounded =
        stow_graph_is_bounded(graph, value) || stow_graph_is_data_dependent(graph, value);
    stow_node node = stow_graph_producer(graph, value);
    bool reads = reads_followers(graph, node, follows) || yields_followers(graph, node, follows);
    is_root[value] = is_upper_bounded && !reads;
    follows[value] = is_upper_bounded || reads;
  }
}

// Where bounds and data-dependent dims come from; what depends on them is not reported.
static stow_status report_found(stowi_import_importer* imp, const bool* is_root) {
  const stow_graph* graph = imp->graph;
  size_t told = 0;
  for (stow_value value = 0; value < imp->origins.count && told < MAX_ROOT_ISSUES; ++value) {
    const void* node = imp->origins.data[value];
    const stow_type* type = stow_graph_type(graph, value);
    stow_str name = stow_graph_value_name(graph, value);
    if (node == NULL) {
      continue;
    }
    if (stow_graph_is_data_dependent(graph, value) && has_open_dims(type)) {
      ++told;
      STOW_TRY(stowi_import_add_issue(imp, STOW_IMPORT_NEEDS_SHAPE, node, name,
                                      "dims of %s depend on data",
                                      stowi_import_type_text_of(graph, type).text));
    } else if (stow_graph_is_bounded(graph, value) && is_root[value]) {
      ++told;
      STOW_TRY(stowi_import_add_issue(imp, STOW_IMPORT_BOUNDED, node, name, "%s is an upper bound",
                                      stowi_import_type_text_of(graph, type).text));
    }
  }
  return STOW_OK;
}

static stow_status report_roots(stowi_import_importer* imp) {
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

static stow_status finish(stowi_import_importer* imp) {
  stow_import* import = imp->import;
  STOW_TRY(report_roots(imp));
  STOW_TRY(stowi_import_report_declared(imp));
  bool keeps_all = imp->request != NULL && (imp->request->flags & STOW_IMPORT_KEEP_ALL) != 0;
  if (import->is_whole && !keeps_all) {
    return stow_graph_simplify(import->full, imp->allocator, imp->diag, &import->simple);
  }
  return STOW_OK;
}

static stow_status prepare(stowi_import_importer* imp) {
  stow_string_init(&imp->text, imp->allocator);
  imp->import = STOWI_NEW(imp->allocator, stow_import);
  if (imp->import == NULL) {
    return stowi_import_memory(imp);
  }
  imp->import->allocator = imp->allocator;
  stow_str name = imp->model->info.name;
  STOW_TRY(stow_graph_create(name.size == 0 ? stow_str_of("model") : name, NULL, imp->allocator,
                             imp->diag, &imp->import->full));
  imp->graph = imp->import->full;
  return STOW_OK;
}

static void release(stowi_import_importer* imp) {
  stow_allocator allocator = imp->allocator;
  STOWI_VEC_FREE(allocator, &imp->names);
  STOWI_VEC_FREE(allocator, &imp->bindings);
  STOWI_VEC_FREE(allocator, &imp->declarations);
  STOWI_VEC_FREE(allocator, &imp->symbols);
  STOWI_VEC_FREE(allocator, &imp->origins);
  stowi_index_free(&imp->by_name, allocator);
  stowi_index_free(&imp->by_symbol, allocator);
  stow_string_free(&imp->text);
}

stow_status stowi_import_run(stowi_import_importer* imp, stow_import** out_import) {
  stow_status status = prepare(imp);
  status = status == STOW_OK ? import_graph(imp) : status;
  status = status == STOW_OK ? finish(imp) : status;
  release(imp);
  if (status != STOW_OK) {
    stow_import_destroy(imp->import);
    return status;
  }
  *out_import = imp->import;
  return STOW_OK;
}

stow_status stow_import_model(stow_model* model, const stow_import_request* request,
                              stow_allocator allocator, stow_diag* diag, stow_import** out_import) {
  *out_import = NULL;
  stow_diag own;
  stow_diag_init(&own);
  stow_status status = model->provider->import(model, request, allocator, &own, out_import);
  if (status != STOW_OK) {
    stowi_fail(diag, status, "%s", own.message);
    stowi_diag_keep_split(diag, &own);
  }
  return status;
}
