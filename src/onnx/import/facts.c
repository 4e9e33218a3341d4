// What an ONNX model holds: nodes, ops, inputs and outputs, gathered in one walk over the index
// when it is opened; and its weights. Subgraphs are walked by recursion, no deeper than the reader
// lets them be.
#include "base/checked.h"
#include "base/diag.h"
#include "onnx/import/importer.h"
#include "onnx/reader/messages.h"

// ---------------------------------------------------------------------------------------------
// Graphs in graphs

typedef stow_status (*visit_graph)(void* user, const stowi_onnx_graph* graph);

static stow_status visit(const stowi_onnx_graph* graph, visit_graph function, void* user) {
  STOW_TRY(function(user, graph));
  for (size_t n = 0; n < graph->node_count; ++n) {
    const stowi_onnx_node* node = &graph->nodes[n];
    for (size_t a = 0; a < node->attr_count; ++a) {
      const stowi_onnx_attr* attr = &node->attrs[a];
      size_t count = attr->type == STOWI_ONNX_ATTR_GRAPHS ? attr->count : attr->graph != NULL;
      for (size_t g = 0; g < count; ++g) {
        STOW_TRY(visit(&attr->graph[g], function, user));
      }
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Nodes and ops

static stow_status count_nodes(void* user, const stowi_onnx_graph* graph) {
  stow_model* model = (stow_model*)user;
  model->info.node_count += graph->node_count;
  for (size_t n = 0; n < graph->node_count; ++n) {
    STOW_TRY(stowi_import_count_op(model, graph->nodes[n].domain, graph->nodes[n].op));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Inputs: initializers may be listed as inputs too, which before IR version 4 they had to be

static uint64_t name_hash(stow_str name) {
  return stowi_hash_bytes(STOWI_HASH_SEED, name.data, name.size);
}

// Sparse initializers follow the others.
static stow_str initializer_name(const stowi_onnx_graph* graph, size_t id) {
  return id < graph->initializer_count
             ? graph->initializers[id].name
             : graph->sparse_initializers[id - graph->initializer_count].values.name;
}

static bool initializer_equal(const void* context, uint32_t id, const void* key) {
  return stow_str_equal(initializer_name((const stowi_onnx_graph*)context, id),
                        *(const stow_str*)key);
}

static stow_status index_initializers(const stowi_onnx_graph* graph, stow_allocator allocator,
                                      stowi_index* index) {
  size_t count = graph->initializer_count + graph->sparse_count;
  if (count >= STOWI_INDEX_NONE) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < count; ++i) {
    stow_str name = initializer_name(graph, i);
    uint64_t hash = name_hash(name);
    // Equal names would make a chain: a million of them, and finding takes forever.
    if (stowi_index_find(index, hash, initializer_equal, graph, &name) == STOWI_INDEX_NONE) {
      STOW_TRY(stowi_index_reserve(index, allocator));
      stowi_index_insert(index, hash, (uint32_t)i);
    }
  }
  return STOW_OK;
}

// Room for |count| declarations; NULL when out of memory.
static stowi_import_info* new_infos(stowi_onnx_model* model, size_t count) {
  size_t size;
  return stowi_mul_size(count, sizeof(stowi_import_info), &size)
             ? (stowi_import_info*)stowi_pool_alloc(&model->pool, model->common.allocator, size,
                                                    alignof(max_align_t))
             : NULL;
}

static stow_status gather_ports(stowi_onnx_model* model, const stowi_index* weights) {
  const stowi_onnx_graph* graph = &model->proto.graph;
  stowi_import_info* inputs = new_infos(model, graph->input_count);
  stowi_import_info* outputs = new_infos(model, graph->output_count);
  if (inputs == NULL || outputs == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  model->common.inputs = inputs;
  model->common.outputs = outputs;
  for (size_t i = 0; i < graph->input_count; ++i) {
    const stow_str* name = &graph->inputs[i].name;
    if (stowi_index_find(weights, name_hash(*name), initializer_equal, graph, name) ==
        STOWI_INDEX_NONE) {
      inputs[model->common.info.input_count++] = stowi_onnx_info(&graph->inputs[i]);
    }
  }
  for (size_t i = 0; i < graph->output_count; ++i) {
    outputs[model->common.info.output_count++] = stowi_onnx_info(&graph->outputs[i]);
  }
  return STOW_OK;
}

stow_status stowi_onnx_gather(stowi_onnx_model* model, stow_diag* diag) {
  const stowi_onnx_proto* proto = &model->proto;
  stow_model* common = &model->common;
  common->info = (stow_model_info){.struct_size = sizeof(common->info),
                                   .format = stow_str_of("ONNX"),
                                   .format_version = proto->ir_version,
                                   .name = proto->graph.name,
                                   .producer = proto->producer_name,
                                   .producer_version = proto->producer_version,
                                   .opset_count = proto->opset_count};
  common->opsets = proto->opsets;
  stowi_index weights = {0};
  stow_status status = visit(&proto->graph, count_nodes, common);
  status = status == STOW_OK ? stowi_import_sort_ops(common) : status;
  status =
      status == STOW_OK ? index_initializers(&proto->graph, common->allocator, &weights) : status;
  status = status == STOW_OK ? gather_ports(model, &weights) : status;
  stowi_index_free(&weights, common->allocator);
  return status == STOW_OK ? STOW_OK : stowi_fail_memory(diag);
}

// ---------------------------------------------------------------------------------------------
// Weights

static bool add_tensor(stowi_import_tally* tally, const stowi_onnx_tensor* tensor) {
  uint64_t size = 0;
  stow_dtype dtype;
  bool has_dtype = stowi_onnx_elem_dtype(tensor->elem, &dtype);
  return stowi_onnx_data_size(tensor->elem, tensor->elements, &size) &&
         stowi_import_tally_weight(tally, has_dtype ? &dtype : NULL, tensor->elements, size,
                                   tensor->is_external);
}

static bool add_sparse(stowi_import_tally* tally, const stowi_onnx_sparse* sparse) {
  return add_tensor(tally, &sparse->values) && add_tensor(tally, &sparse->indices);
}

static bool add_constant(stowi_import_tally* tally, const stowi_onnx_node* node) {
  bool fits = true;
  for (size_t a = 0; a < node->attr_count && fits; ++a) {
    const stowi_onnx_attr* attr = &node->attrs[a];
    if (attr->type == STOWI_ONNX_ATTR_TENSOR && attr->tensor != NULL) {
      fits = add_tensor(tally, attr->tensor);
    } else if (attr->type == STOWI_ONNX_ATTR_SPARSE_TENSOR && attr->sparse != NULL) {
      fits = add_sparse(tally, attr->sparse);
    }
  }
  return fits;
}

static stow_status add_graph(void* user, const stowi_onnx_graph* graph) {
  stowi_import_tally* tally = (stowi_import_tally*)user;
  bool fits = true;
  for (size_t i = 0; i < graph->initializer_count && fits; ++i) {
    fits = add_tensor(tally, &graph->initializers[i]);
  }
  for (size_t i = 0; i < graph->sparse_count && fits; ++i) {
    fits = add_sparse(tally, &graph->sparse_initializers[i]);
  }
  for (size_t n = 0; n < graph->node_count && fits; ++n) {
    const stowi_onnx_node* node = &graph->nodes[n];
    if (node->domain.size == 0 && stow_str_equal(node->op, stow_str_of("Constant"))) {
      fits = add_constant(tally, node);
    }
  }
  return fits ? STOW_OK : STOW_ERR_OVERFLOW;
}

bool stowi_onnx_count_weights(const stow_model* model, stowi_import_tally* tally) {
  return visit(&stowi_onnx_proto_of(model)->graph, add_graph, tally) == STOW_OK;
}
