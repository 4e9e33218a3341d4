// Tensors of the file in the graph: initializers as params, Constant nodes and the initializers of
// subgraphs as constants. Bytes stay where they are in the mapping wherever the file holds them as
// the element type lays them out; what must be decoded is decoded where it is used only.
#include <string.h>

#include "onnx/import/importer.h"

#define MAX_DENSE_BYTES (UINT64_C(1) << 24)  // of a sparse tensor

// ---------------------------------------------------------------------------------------------
// One tensor

static stow_status type_of(stowi_import_importer* imp, int32_t elem, const int64_t* dims,
                           size_t rank, stow_type* out_type) {
  *out_type = (stow_type){.dtype = STOW_F32};
  if (elem == STOWI_ONNX_ELEM_STRING) {
    return stowi_fail(imp->diag, STOW_ERR_UNSUPPORTED, "strings are not supported");
  }
  if (!stowi_onnx_elem_dtype(elem, &out_type->dtype)) {
    return stowi_fail(imp->diag, STOW_ERR_UNSUPPORTED, "element type %d is not supported",
                      (int)elem);
  }
  if (rank > STOW_MAX_RANK) {
    return stowi_fail(imp->diag, STOW_ERR_UNSUPPORTED, "%zu dims; at most %d are allowed", rank,
                      STOW_MAX_RANK);
  }
  *out_type = stow_type_make(out_type->dtype, (uint32_t)rank, dims);
  return STOW_OK;
}

// A weight whose file is missing still has a place and a size: enough for a plan.
static stow_status without_bytes(stowi_onnx_importer* onnx, const stowi_onnx_tensor* tensor,
                                 const stow_type* type, stowi_import_payload* out_data) {
  uint64_t size;
  STOW_TRY(stowi_import_report_missing(&onnx->imp, tensor->location, tensor->name));
  STOW_TRY(stow_type_bytes(type, &size));
  *out_data = (stowi_import_payload){
      .size = (size_t)size, .source = tensor->location, .at = tensor->offset};
  return STOW_OK;
}

static stow_status find_bytes(stowi_onnx_importer* onnx, const stowi_onnx_tensor* tensor,
                              const stow_type* type, stowi_import_payload* out_data) {
  stowi_import_importer* imp = &onnx->imp;
  stowi_onnx_bytes bytes;
  uint64_t size;
  STOW_TRY(stow_type_bytes(type, &size));
  if (stowi_onnx_place_of(onnx->model, tensor, &bytes) && !stowi_import_reads(imp, size)) {
    *out_data = (stowi_import_payload){
        .size = bytes.size, .source = bytes.source, .at = bytes.at, .is_unread = true};
    return STOW_OK;
  }
  stow_status status =
      stowi_onnx_tensor_bytes(imp->model, tensor, imp->allocator, imp->diag, &bytes);
  if (status == STOW_ERR_IO && tensor->is_external) {
    return without_bytes(onnx, tensor, type, out_data);
  }
  STOW_TRY(status);
  *out_data = (stowi_import_payload){
      .bytes = bytes.bytes, .size = bytes.size, .source = bytes.source, .at = bytes.at};
  return bytes.is_owned ? stowi_import_keep_block(imp, (void*)(uintptr_t)bytes.bytes, bytes.size)
                        : STOW_OK;
}

stow_status stowi_onnx_import_tensor(stowi_onnx_importer* onnx, const stowi_onnx_tensor* tensor,
                                     stow_op op, stow_str name, stow_value* out_value) {
  *out_value = STOW_VALUE_NONE;
  stow_type type;
  stowi_import_payload data;
  STOW_TRY(type_of(&onnx->imp, tensor->elem, tensor->dims, tensor->rank, &type));
  STOW_TRY(find_bytes(onnx, tensor, &type, &data));
  return stowi_import_constant(&onnx->imp, op, name, &type, &data, out_value);
}

// ---------------------------------------------------------------------------------------------
// Sparse tensors

// The position of a sparse element: |row| is that position, or its coordinates.
static bool position_of(const stowi_onnx_sparse* sparse, const int64_t* row, uint64_t elements,
                        uint64_t* out_position) {
  if (sparse->indices.rank == 1) {
    *out_position = (uint64_t)row[0];
    return row[0] >= 0 && *out_position < elements;
  }
  *out_position = 0;
  for (size_t d = 0; d < sparse->rank; ++d) {
    if (row[d] < 0 || row[d] >= sparse->dims[d]) {
      return false;
    }
    *out_position = *out_position * (uint64_t)sparse->dims[d] + (uint64_t)row[d];
  }
  return true;
}

static stow_status fail_sparse(stowi_import_importer* imp) {
  return stowi_fail(imp->diag, STOW_ERR_SYNTAX, "a sparse tensor's indices do not fit its values");
}

static stow_status scatter(stowi_import_importer* imp, const stowi_onnx_sparse* sparse,
                           const stowi_onnx_bytes* values, const stowi_onnx_bytes* indices,
                           uint64_t elements, size_t width, unsigned char* dense) {
  size_t count = (size_t)sparse->values.elements;
  size_t columns = sparse->indices.rank == 1 ? 1 : sparse->rank;
  if (sparse->indices.rank < 1 || sparse->indices.rank > 2 ||
      indices->size / sizeof(int64_t) / (columns == 0 ? 1 : columns) < count ||
      values->size < count * width) {
    return fail_sparse(imp);
  }
  for (size_t i = 0; i < count; ++i) {
    int64_t row[STOW_MAX_RANK];
    uint64_t position;
    memcpy(row, (const char*)indices->bytes + i * columns * sizeof(int64_t),
           columns * sizeof(int64_t));
    if (!position_of(sparse, row, elements, &position)) {
      return fail_sparse(imp);
    }
    memcpy(dense + position * width, (const char*)values->bytes + i * width, width);
  }
  return STOW_OK;
}

static void free_bytes(stowi_import_importer* imp, const stowi_onnx_bytes* bytes) {
  if (bytes->is_owned) {
    stowi_free(imp->allocator, (void*)(uintptr_t)bytes->bytes, bytes->size, 1);
  }
}

static stow_status fill_dense(stowi_onnx_importer* onnx, const stowi_onnx_sparse* sparse,
                              const stow_type* type, unsigned char* dense) {
  stowi_import_importer* imp = &onnx->imp;
  stowi_onnx_bytes values = {0};
  stowi_onnx_bytes indices = {0};
  uint64_t elements;
  STOW_TRY(stow_type_elements(type, &elements));
  STOW_TRY(
      stowi_onnx_tensor_bytes(imp->model, &sparse->values, imp->allocator, imp->diag, &values));
  stow_status status =
      stowi_onnx_tensor_bytes(imp->model, &sparse->indices, imp->allocator, imp->diag, &indices);
  if (status == STOW_OK) {
    status =
        scatter(imp, sparse, &values, &indices, elements, stow_dtype_bits(type->dtype) / 8, dense);
    free_bytes(imp, &indices);
  }
  free_bytes(imp, &values);
  return status;
}

static stow_status import_sparse(stowi_onnx_importer* onnx, const stowi_onnx_sparse* sparse,
                                 stow_op op, stow_str name, stow_value* out_value) {
  stowi_import_importer* imp = &onnx->imp;
  *out_value = STOW_VALUE_NONE;
  stow_type type;
  uint64_t size;
  STOW_TRY(type_of(imp, sparse->values.elem, sparse->dims, sparse->rank, &type));
  if (stow_type_bytes(&type, &size) != STOW_OK || size > MAX_DENSE_BYTES ||
      stow_dtype_bits(type.dtype) < 8) {
    return stowi_fail(imp->diag, STOW_ERR_UNSUPPORTED,
                      "sparse tensors of this size or type are not supported");
  }
  unsigned char* dense = (unsigned char*)stowi_import_keep_bytes(imp, (size_t)size);
  if (dense == NULL) {
    return stowi_import_memory(imp);
  }
  memset(dense, 0, (size_t)size);
  STOW_TRY(fill_dense(onnx, sparse, &type, dense));
  stowi_import_payload data = {.bytes = dense, .size = (size_t)size};
  return stowi_import_constant(imp, op, name, &type, &data, out_value);
}

// ---------------------------------------------------------------------------------------------
// Initializers

static stow_status note_uses(stowi_import_importer* imp, const stowi_onnx_graph* graph,
                             uint32_t depth);

static stow_status note_uses(stowi_import_importer* imp, const stowi_onnx_graph* graph,
                             uint32_t depth) {
  if (depth > STOWI_IMPORT_MAX_DEPTH) {
    return stowi_fail(imp->diag, STOW_ERR_LIMIT, "graphs are nested more than %d deep",
                      STOWI_IMPORT_MAX_DEPTH);
  }
  for (size_t i = 0; i < graph->node_count; ++i) {
    const stowi_onnx_node* node = &graph->nodes[i];
    for (size_t k = 0; k < node->input_count; ++k) {
      stowi_import_note_use(imp, node->inputs[k]);
    }
    for (size_t k = 0; k < node->attr_count; ++k) {
      if (node->attrs[k].graph != NULL) {
        STOW_TRY(note_uses(imp, node->attrs[k].graph, depth + 1));
      }
    }
  }
  for (size_t i = 0; i < graph->output_count; ++i) {
    stowi_import_note_use(imp, graph->outputs[i].name);
  }
  return STOW_OK;
}

stow_status stowi_onnx_note_names(stowi_import_importer* imp) {
  const stowi_onnx_graph* graph = &stowi_onnx_proto_of(imp->model)->graph;
  for (size_t i = 0; i < graph->initializer_count; ++i) {
    STOW_TRY(stowi_import_note_weight(imp, graph->initializers[i].name));
  }
  for (size_t i = 0; i < graph->sparse_count; ++i) {
    STOW_TRY(stowi_import_note_weight(imp, graph->sparse_initializers[i].values.name));
  }
  for (size_t i = 0; i < graph->node_count; ++i) {
    for (size_t k = 0; k < graph->nodes[i].output_count; ++k) {
      stowi_import_note_outer(imp, graph->nodes[i].outputs[k]);
    }
  }
  return note_uses(imp, graph, 0);
}

// The value that was asked for in the place of an initializer, whose type it must have. |sparse| is
// NULL for a plain one.
static stow_status import_asked(stowi_import_importer* imp, const stowi_import_asked_value* value,
                                const stowi_onnx_tensor* tensor, const stowi_onnx_sparse* sparse,
                                stow_op op, stow_value* out_value) {
  const int64_t* dims = sparse == NULL ? tensor->dims : sparse->dims;
  size_t rank = sparse == NULL ? tensor->rank : sparse->rank;
  stow_type type;
  STOW_TRY(type_of(imp, tensor->elem, dims, rank, &type));
  return stowi_import_asked_constant(imp, op, value, tensor->name, &type, out_value);
}

// |sparse| is NULL for a plain one.
static stow_status import_initializer(stowi_onnx_importer* onnx, const stowi_onnx_tensor* tensor,
                                      const stowi_onnx_sparse* sparse, stow_op op) {
  stowi_import_importer* imp = &onnx->imp;
  uint32_t id = stowi_import_name_find(imp, tensor->name);
  bool is_main = op == STOW_OP_PARAM && id != STOWI_IMPORT_NONE;
  if (is_main && !imp->names.data[id].is_used) {
    return STOW_OK;
  }
  const stowi_import_asked_value* asked = is_main ? imp->names.data[id].value : NULL;
  stow_value value = STOW_VALUE_NONE;
  stow_status status = asked != NULL ? import_asked(imp, asked, tensor, sparse, op, &value)
                       : sparse != NULL
                           ? import_sparse(onnx, sparse, op, tensor->name, &value)
                           : stowi_onnx_import_tensor(onnx, tensor, op, tensor->name, &value);
  if (status == STOW_ERR_UNSUPPORTED) {
    STOW_TRY(stowi_import_add_issue(imp, STOW_IMPORT_UNSUPPORTED, NULL, tensor->name, "%s",
                                    imp->diag->message));
    return stowi_import_bind(imp, tensor->name, STOW_VALUE_NONE, STOWI_IMPORT_POISON);
  }
  if (status != STOW_OK) {
    stow_diag inner = *imp->diag;
    return stowi_fail(imp->diag, status, "initializer \"%.*s\": %s", STOWI_STR_ARG(tensor->name),
                      inner.message);
  }
  STOW_TRY(stowi_import_compare_asked(imp, tensor->name, value));
  return stowi_import_bind(imp, tensor->name, value, STOWI_IMPORT_VALUE);
}

stow_status stowi_onnx_import_initializers(stowi_onnx_importer* onnx, const stowi_onnx_graph* graph,
                                           stow_op op) {
  for (size_t i = 0; i < graph->initializer_count; ++i) {
    STOW_TRY(import_initializer(onnx, &graph->initializers[i], NULL, op));
  }
  for (size_t i = 0; i < graph->sparse_count; ++i) {
    const stowi_onnx_sparse* sparse = &graph->sparse_initializers[i];
    STOW_TRY(import_initializer(onnx, &sparse->values, sparse, op));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Constant nodes

// Numbers that an attribute holds; they live in the model.
static stow_status constant_numbers(stowi_onnx_lowering* l, stow_str name, stow_dtype dtype,
                                    const void* numbers, size_t count, bool is_scalar,
                                    stow_value* out_value) {
  stow_dim dim = (stow_dim)count;
  stow_type type = stow_type_make(dtype, is_scalar ? 0 : 1, &dim);
  stowi_import_payload data = {.bytes = count == 0 ? "" : numbers,
                               .size = count * (stow_dtype_bits(dtype) / 8)};
  return stowi_import_constant(l->imp, STOW_OP_CONSTANT, name, &type, &data, out_value);
}

static stow_status import_constant(stowi_onnx_lowering* l, stow_str name,
                                   const stowi_onnx_attr* attr, stow_value* out_value) {
  switch (attr->type) {
    case STOWI_ONNX_ATTR_TENSOR:
      return stowi_onnx_import_tensor(l->onnx, attr->tensor, STOW_OP_CONSTANT, name, out_value);
    case STOWI_ONNX_ATTR_SPARSE_TENSOR:
      return import_sparse(l->onnx, attr->sparse, STOW_OP_CONSTANT, name, out_value);
    case STOWI_ONNX_ATTR_INT:
      return constant_numbers(l, name, STOW_I64, &attr->i, 1, true, out_value);
    case STOWI_ONNX_ATTR_INTS:
      return constant_numbers(l, name, STOW_I64, attr->ints, attr->count, false, out_value);
    case STOWI_ONNX_ATTR_FLOAT:
      return constant_numbers(l, name, STOW_F32, &attr->f, 1, true, out_value);
    case STOWI_ONNX_ATTR_FLOATS:
      return constant_numbers(l, name, STOW_F32, attr->floats, attr->count, false, out_value);
    default: return stowi_onnx_lower_unsupported(l, "strings are not supported");
  }
}

stow_status stowi_onnx_lower_constant_node(stowi_onnx_lowering* l) {
  static const char* const names[] = {"value",        "value_int",    "value_ints",
                                      "value_float",  "value_floats", "sparse_value",
                                      "value_string", "value_strings"};
  const stowi_onnx_attr* attr = NULL;
  for (size_t i = 0; attr == NULL && i < sizeof(names) / sizeof(names[0]); ++i) {
    attr = stowi_onnx_lower_attr(l, names[i]);
  }
  if (attr == NULL || l->node->output_count == 0) {
    return stowi_fail(l->imp->diag, STOW_ERR_SYNTAX, "a constant needs a value and an output");
  }
  stow_value value;
  STOW_TRY(import_constant(l, l->node->outputs[0], attr, &value));
  stowi_onnx_lower_set_result(l, 0, value);
  return STOW_OK;
}
