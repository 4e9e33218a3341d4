// What a model holds, without importing it: nodes, ops, weights, inputs and outputs. One walk over
// the index when it is opened; the weights are counted when somebody asks. Subgraphs are walked by
// recursion, no deeper than the reader lets them be.
#include <string.h>

#include "base/checked.h"
#include "base/diag.h"
#include "base/sort.h"
#include "onnx/reader/messages.h"
#include "onnx/reader/model.h"

// ---------------------------------------------------------------------------------------------
// Graphs in graphs

typedef stow_status (*visit_graph)(void* user, const stowi_onnx_graph* graph);

static stow_status visit(const stowi_onnx_graph* graph, visit_graph function, void* user) {
  STOW_TRY(function(user, graph));
  for (size_t n = 0; n < graph->node_count; ++n) {
    const stowi_onnx_node* node = &graph->nodes[n];
    for (size_t a = 0; a < node->attr_count; ++a) {
      const stowi_onnx_attr* attr = &node->attrs[a];
      size_t count = attr->type == STOWI_ATTR_GRAPHS ? attr->count : attr->graph != NULL;
      for (size_t g = 0; g < count; ++g) {
        STOW_TRY(visit(&attr->graph[g], function, user));
      }
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Nodes and ops

typedef struct op_census {
  stow_onnx_model* model;
  stowi_index index;
  stow_diag* diag;
} op_census;

static uint64_t op_hash(const stowi_onnx_op_kind* kind) {
  uint64_t hash = stowi_hash_bytes(STOWI_HASH_SEED, kind->name.data, kind->name.size);
  return stowi_hash_bytes(hash, kind->domain.data, kind->domain.size);
}

static bool op_equal(const void* context, uint32_t id, const void* key) {
  const stowi_onnx_op_kind* kind = &((const stow_onnx_model*)context)->op_kinds.data[id];
  const stowi_onnx_op_kind* other = (const stowi_onnx_op_kind*)key;
  return stow_str_equal(kind->name, other->name) && stow_str_equal(kind->domain, other->domain);
}

static stow_status count_op(op_census* census, const stowi_onnx_node* node) {
  stow_onnx_model* model = census->model;
  stowi_onnx_op_kind kind = {node->op, node->domain, 1};
  uint64_t hash = op_hash(&kind);
  uint32_t id = stowi_index_find(&census->index, hash, op_equal, model, &kind);
  if (id != STOWI_INDEX_NONE) {
    ++model->op_kinds.data[id].count;
    return STOW_OK;
  }
  if (model->op_kinds.count == STOWI_INDEX_NONE ||
      STOWI_VEC_RESERVE(model->allocator, &model->op_kinds, 1) != STOW_OK ||
      stowi_index_reserve(&census->index, model->allocator) != STOW_OK) {
    return stowi_fail_memory(census->diag);
  }
  stowi_index_insert(&census->index, hash, (uint32_t)model->op_kinds.count);
  model->op_kinds.data[model->op_kinds.count++] = kind;
  return STOW_OK;
}

static stow_status count_nodes(void* user, const stowi_onnx_graph* graph) {
  op_census* c = (op_census*)user;
  c->model->node_count += graph->node_count;
  for (size_t n = 0; n < graph->node_count; ++n) {
    STOW_TRY(count_op(c, &graph->nodes[n]));
  }
  return STOW_OK;
}

static int compare_ops(const void* a, const void* b, const void* context) {
  (void)context;
  const stowi_onnx_op_kind* left = (const stowi_onnx_op_kind*)a;
  const stowi_onnx_op_kind* right = (const stowi_onnx_op_kind*)b;
  if (left->count != right->count) {
    return left->count > right->count ? -1 : 1;
  }
  int order = stow_str_compare(left->name, right->name);
  return order != 0 ? order : stow_str_compare(left->domain, right->domain);
}

static stow_status gather_ops(stow_onnx_model* model, stow_diag* diag) {
  op_census census = {.model = model, .diag = diag};
  stow_status status = visit(&model->proto.graph, count_nodes, &census);
  stowi_index_free(&census.index, model->allocator);
  STOW_TRY(status);
  status = stowi_sort(model->op_kinds.data, model->op_kinds.count, sizeof(stowi_onnx_op_kind),
                      compare_ops, NULL, model->allocator);
  return status == STOW_OK ? STOW_OK : stowi_fail_memory(diag);
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

static stow_status gather_inputs(stow_onnx_model* model, stow_diag* diag) {
  const stowi_onnx_graph* graph = &model->proto.graph;
  size_t size;
  if (stowi_mul_size(graph->input_count, sizeof(*model->inputs), &size)) {
    model->inputs = (const stowi_onnx_value_info**)stowi_pool_alloc(&model->pool, model->allocator,
                                                                    size, alignof(max_align_t));
  }
  stowi_index index = {0};
  if (model->inputs == NULL || index_initializers(graph, model->allocator, &index) != STOW_OK) {
    stowi_index_free(&index, model->allocator);
    return stowi_fail_memory(diag);
  }
  for (size_t i = 0; i < graph->input_count; ++i) {
    const stow_str* name = &graph->inputs[i].name;
    if (stowi_index_find(&index, name_hash(*name), initializer_equal, graph, name) ==
        STOWI_INDEX_NONE) {
      model->inputs[model->input_count++] = &graph->inputs[i];
    }
  }
  stowi_index_free(&index, model->allocator);
  return STOW_OK;
}

stow_status stowi_onnx_gather(stow_onnx_model* model, stow_diag* diag) {
  STOW_TRY(gather_ops(model, diag));
  return gather_inputs(model, diag);
}

// ---------------------------------------------------------------------------------------------
// Weights

static bool add_tensor(stow_onnx_weights* sums, const stowi_onnx_tensor* tensor) {
  uint64_t size = 0;
  stow_dtype dtype;
  bool fits = stowi_onnx_data_size(tensor->elem, tensor->elements, &size) &&
              stowi_add_u64(sums->elements, tensor->elements, &sums->elements) &&
              stowi_add_u64(sums->bytes, size, &sums->bytes);
  if (!fits) {
    return false;
  }
  ++sums->tensors;
  sums->external_bytes += tensor->is_external ? size : 0;  // a part of the bytes
  if (stowi_elem_dtype(tensor->elem, &dtype)) {
    ++sums->tensors_by_dtype[dtype];
    sums->elements_by_dtype[dtype] += tensor->elements;
    sums->bytes_by_dtype[dtype] += size;
  }
  return true;
}

static bool add_sparse(stow_onnx_weights* sums, const stowi_onnx_sparse* sparse) {
  return add_tensor(sums, &sparse->values) && add_tensor(sums, &sparse->indices);
}

static bool add_constant(stow_onnx_weights* sums, const stowi_onnx_node* node) {
  bool fits = true;
  for (size_t a = 0; a < node->attr_count && fits; ++a) {
    const stowi_onnx_attr* attr = &node->attrs[a];
    if (attr->type == STOWI_ATTR_TENSOR && attr->tensor != NULL) {
      fits = add_tensor(sums, attr->tensor);
    } else if (attr->type == STOWI_ATTR_SPARSE_TENSOR && attr->sparse != NULL) {
      fits = add_sparse(sums, attr->sparse);
    }
  }
  return fits;
}

static stow_status add_graph(void* user, const stowi_onnx_graph* graph) {
  stow_onnx_weights* sums = (stow_onnx_weights*)user;
  bool fits = true;
  for (size_t i = 0; i < graph->initializer_count && fits; ++i) {
    fits = add_tensor(sums, &graph->initializers[i]);
  }
  for (size_t i = 0; i < graph->sparse_count && fits; ++i) {
    fits = add_sparse(sums, &graph->sparse_initializers[i]);
  }
  for (size_t n = 0; n < graph->node_count && fits; ++n) {
    const stowi_onnx_node* node = &graph->nodes[n];
    if (node->domain.size == 0 && stow_str_equal(node->op, stow_str_of("Constant"))) {
      fits = add_constant(sums, node);
    }
  }
  return fits ? STOW_OK : STOW_ERR_OVERFLOW;
}

stow_status stow_onnx_count_weights(const stow_onnx_model* model, stow_diag* diag,
                                    stow_onnx_weights* out_weights) {
  size_t size = out_weights->struct_size;
  if (size < sizeof(size_t) || size > sizeof(stow_onnx_weights)) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "stow_onnx_weights: struct_size is not that of any version");
  }
  stow_onnx_weights sums = {.struct_size = size};
  memset(out_weights, 0, size);
  out_weights->struct_size = size;
  if (visit(&model->proto.graph, add_graph, &sums) != STOW_OK) {
    return stowi_fail(diag, STOW_ERR_OVERFLOW, "the weights' bytes do not fit in 64 bits");
  }
  memcpy(out_weights, &sums, size);
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Getters

stow_str stow_onnx_graph_name(const stow_onnx_model* model) { return model->proto.graph.name; }

stow_str stow_onnx_producer_name(const stow_onnx_model* model) {
  return model->proto.producer_name;
}

stow_str stow_onnx_producer_version(const stow_onnx_model* model) {
  return model->proto.producer_version;
}

int64_t stow_onnx_ir_version(const stow_onnx_model* model) { return model->proto.ir_version; }

size_t stow_onnx_opset_count(const stow_onnx_model* model) { return model->proto.opset_count; }

stow_str stow_onnx_opset(const stow_onnx_model* model, size_t index, int64_t* out_version) {
  *out_version = model->proto.opsets[index].version;
  return model->proto.opsets[index].domain;
}

size_t stow_onnx_node_count(const stow_onnx_model* model) { return model->node_count; }

size_t stow_onnx_op_kind_count(const stow_onnx_model* model) { return model->op_kinds.count; }

stow_str stow_onnx_op_kind(const stow_onnx_model* model, size_t index, stow_str* out_domain,
                           size_t* out_count) {
  const stowi_onnx_op_kind* kind = &model->op_kinds.data[index];
  if (out_domain != NULL) {
    *out_domain = kind->domain;
  }
  *out_count = kind->count;
  return kind->name;
}

size_t stow_onnx_input_count(const stow_onnx_model* model) { return model->input_count; }

stow_str stow_onnx_input_name(const stow_onnx_model* model, size_t index) {
  return model->inputs[index]->name;
}

stow_status stow_onnx_print_input_type(const stow_onnx_model* model, size_t index,
                                       stow_writer writer) {
  return stowi_onnx_print_type(model->inputs[index], writer);
}

size_t stow_onnx_output_count(const stow_onnx_model* model) {
  return model->proto.graph.output_count;
}

stow_str stow_onnx_output_name(const stow_onnx_model* model, size_t index) {
  return model->proto.graph.outputs[index].name;
}

stow_status stow_onnx_print_output_type(const stow_onnx_model* model, size_t index,
                                        stow_writer writer) {
  return stowi_onnx_print_type(&model->proto.graph.outputs[index], writer);
}
