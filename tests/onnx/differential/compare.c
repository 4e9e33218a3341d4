#include "compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void compare(comparison* c, bool is_same, const char* what, stow_str name) {
  ++c->fields;
  if (!is_same) {
    ++c->differences;
    printf("%s: %s of \"%.*s\" differs\n", c->file, what, (int)name.size, name.data);
  }
}

static bool same_text(stow_str ours, const char* theirs) {
  return stow_str_equal(ours, stow_str_of(theirs));
}

static bool same_domain(stow_str ours, const char* theirs) {
  bool is_default = theirs != NULL && strcmp(theirs, "ai.onnx") == 0;
  return same_text(ours, is_default ? "" : theirs);
}

static bool same_texts(const stow_str* ours, size_t our_count, char** theirs, size_t count) {
  bool is_same = our_count == count;
  for (size_t i = 0; i < count && is_same; ++i) {
    is_same = same_text(ours[i], theirs[i]);
  }
  return is_same;
}

static bool same_ints(const int64_t* ours, size_t our_count, const int64_t* theirs, size_t count) {
  return our_count == count && (count == 0 || memcmp(ours, theirs, count * sizeof(int64_t)) == 0);
}

// ---------------------------------------------------------------------------------------------
// Tensors

static void append(uint8_t** at, uint64_t bits, size_t size) {
  for (size_t b = 0; b < size; ++b) {
    *(*at)++ = (uint8_t)(bits >> (8 * b));
  }
}

// Whatever typed data the tensor has, as bytes of |unit| per number. Freed by the caller.
static uint8_t* typed_bytes(const Onnx__TensorProto* t, size_t unit, size_t* out_size) {
  size_t count =
      t->n_float_data + t->n_int32_data + t->n_int64_data + t->n_double_data + t->n_uint64_data;
  uint8_t* bytes = (uint8_t*)malloc(count * 8 + 1);
  uint8_t* at = bytes;
  for (size_t i = 0; i < t->n_float_data; ++i) {
    uint32_t bits;
    memcpy(&bits, &t->float_data[i], sizeof(bits));
    append(&at, bits, 4);
  }
  for (size_t i = 0; i < t->n_double_data; ++i) {
    uint64_t bits;
    memcpy(&bits, &t->double_data[i], sizeof(bits));
    append(&at, bits, 8);
  }
  for (size_t i = 0; i < t->n_int32_data; ++i) {
    append(&at, (uint64_t)(int64_t)t->int32_data[i], unit);
  }
  for (size_t i = 0; i < t->n_int64_data; ++i) {
    append(&at, (uint64_t)t->int64_data[i], unit);
  }
  for (size_t i = 0; i < t->n_uint64_data; ++i) {
    append(&at, t->uint64_data[i], unit);
  }
  *out_size = (size_t)(at - bytes);
  return bytes;
}

static void compare_data(comparison* c, stow_model* model, const stowi_onnx_tensor* ours,
                         const Onnx__TensorProto* theirs) {
  stow_dtype dtype;
  stow_allocator allocator = stow_allocator_default();
  stowi_onnx_bytes data;
  stow_status status = stowi_onnx_tensor_bytes(model, ours, allocator, NULL, &data);
  if (!stowi_onnx_elem_dtype(ours->elem, &dtype)) {
    compare(c, status == STOW_ERR_UNSUPPORTED, "data", ours->name);
    return;
  }
  size_t size = theirs->raw_data.len;
  size_t unit = stow_dtype_bits(dtype) < 8 ? 1 : stow_dtype_bits(dtype) / 8;
  uint8_t* typed = theirs->has_raw_data ? NULL : typed_bytes(theirs, unit, &size);
  const uint8_t* expected = theirs->has_raw_data ? theirs->raw_data.data : typed;
  compare(c,
          status == STOW_OK && data.size == size &&
              (size == 0 || memcmp(data.bytes, expected, size) == 0),
          "data", ours->name);
  if (data.is_owned) {
    stowi_free(allocator, (void*)(uintptr_t)data.bytes, data.size, 1);
  }
  free(typed);
}

void compare_tensor(comparison* c, stow_model* model, const stowi_onnx_tensor* ours,
                    const Onnx__TensorProto* theirs) {
  compare(c, same_text(ours->name, theirs->name), "name", ours->name);
  compare(c, ours->elem == theirs->data_type, "data_type", ours->name);
  compare(c, same_ints(ours->dims, ours->rank, theirs->dims, theirs->n_dims), "dims", ours->name);
  uint64_t elements = 1;
  for (size_t d = 0; d < theirs->n_dims; ++d) {
    elements *= (uint64_t)theirs->dims[d];
  }
  compare(c, ours->elements == elements, "element count", ours->name);
  bool is_external = theirs->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
  compare(c, ours->is_external == is_external, "data_location", ours->name);
  if (!is_external) {
    compare_data(c, model, ours, theirs);
  }
}

static void compare_sparse(comparison* c, stow_model* model, const stowi_onnx_sparse* ours,
                           const Onnx__SparseTensorProto* theirs) {
  compare_tensor(c, model, &ours->values, theirs->values);
  compare_tensor(c, model, &ours->indices, theirs->indices);
  compare(c, same_ints(ours->dims, ours->rank, theirs->dims, theirs->n_dims), "dims",
          ours->values.name);
}

// ---------------------------------------------------------------------------------------------
// Types

static bool same_dim(const stowi_import_dim* ours,
                     const Onnx__TensorShapeProto__Dimension* theirs) {
  switch (theirs->value_case) {
    case ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE:
      return theirs->dim_value < 0 ? ours->number < 0 && ours->name.size == 0
                                   : ours->number == theirs->dim_value;
    case ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM:
      return theirs->dim_param[0] == '\0'
                 ? ours->number < 0 && ours->name.size == 0
                 : ours->number < 0 && same_text(ours->name, theirs->dim_param);
    default: return ours->number < 0 && ours->name.size == 0;
  }
}

static bool same_shape(const stowi_onnx_value_info* ours, const Onnx__TensorShapeProto* theirs) {
  bool is_same =
      ours->has_shape == (theirs != NULL) && ours->rank == (theirs == NULL ? 0 : theirs->n_dim);
  for (size_t d = 0; d < ours->rank && is_same; ++d) {
    is_same = same_dim(&ours->dims[d], theirs->dim[d]);
  }
  return is_same;
}

static int kind_of(const Onnx__TypeProto* type) {
  switch (type->value_case) {
    case ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE: return STOWI_ONNX_INFO_TENSOR;
    case ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE: return STOWI_ONNX_INFO_SEQUENCE;
    case ONNX__TYPE_PROTO__VALUE_MAP_TYPE: return STOWI_ONNX_INFO_MAP;
    case ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE: return STOWI_ONNX_INFO_OPTIONAL;
    case ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE: return STOWI_ONNX_INFO_SPARSE;
    default: return STOWI_ONNX_INFO_NONE;
  }
}

// The type within all sequences, optionals and maps; NULL where it is not given.
static const Onnx__TypeProto* innermost(const Onnx__TypeProto* type) {
  while (type != NULL) {
    switch (kind_of(type)) {
      case STOWI_ONNX_INFO_SEQUENCE: type = type->sequence_type->elem_type; break;
      case STOWI_ONNX_INFO_OPTIONAL: type = type->optional_type->elem_type; break;
      case STOWI_ONNX_INFO_MAP: type = type->map_type->value_type; break;
      default: return type;
    }
  }
  return NULL;
}

static void compare_value(comparison* c, const stowi_onnx_value_info* ours,
                          const Onnx__ValueInfoProto* theirs) {
  compare(c, same_text(ours->name, theirs->name), "name", ours->name);
  int kind = theirs->type == NULL ? STOWI_ONNX_INFO_NONE : kind_of(theirs->type);
  compare(c, (int)ours->kind == kind, "kind of type", ours->name);
  const Onnx__TypeProto* type = innermost(theirs->type);
  if (type != NULL && kind_of(type) == STOWI_ONNX_INFO_TENSOR) {
    compare(c, ours->elem == type->tensor_type->elem_type, "elem_type", ours->name);
    compare(c, same_shape(ours, type->tensor_type->shape), "shape", ours->name);
  } else if (type != NULL && kind_of(type) == STOWI_ONNX_INFO_SPARSE) {
    compare(c, ours->elem == type->sparse_tensor_type->elem_type, "elem_type", ours->name);
    compare(c, same_shape(ours, type->sparse_tensor_type->shape), "shape", ours->name);
  }
}

static void compare_values(comparison* c, const stowi_onnx_value_info* ours, size_t our_count,
                           Onnx__ValueInfoProto** theirs, size_t count, const char* what) {
  compare(c, our_count == count, what, stow_str_of(""));
  for (size_t i = 0; i < count && our_count == count; ++i) {
    compare_value(c, &ours[i], theirs[i]);
  }
}

// ---------------------------------------------------------------------------------------------
// Nodes and graphs

static void compare_graph(comparison* c, stow_model* model, const stowi_onnx_graph* ours,
                          const Onnx__GraphProto* theirs);

static bool same_bytes(stow_str ours, ProtobufCBinaryData theirs) {
  return ours.size == theirs.len &&
         (theirs.len == 0 || memcmp(ours.data, theirs.data, theirs.len) == 0);
}

static void compare_attr_lists(comparison* c, stow_model* model, const stowi_onnx_attr* ours,
                               const Onnx__AttributeProto* theirs) {
  size_t count = theirs->n_ints + theirs->n_floats + theirs->n_strings + theirs->n_tensors +
                 theirs->n_graphs + theirs->n_sparse_tensors;
  compare(c, ours->count == count, "count", ours->name);
  if (ours->count != count) {
    return;
  }
  if (theirs->n_ints > 0) {
    compare(c, same_ints(ours->ints, count, theirs->ints, count), "ints", ours->name);
  }
  if (theirs->n_floats > 0) {
    compare(c, memcmp(ours->floats, theirs->floats, count * sizeof(float)) == 0, "floats",
            ours->name);
  }
  for (size_t i = 0; i < theirs->n_strings; ++i) {
    compare(c, same_bytes(ours->strings[i], theirs->strings[i]), "strings", ours->name);
  }
  for (size_t i = 0; i < theirs->n_tensors; ++i) {
    compare_tensor(c, model, &ours->tensor[i], theirs->tensors[i]);
  }
  for (size_t i = 0; i < theirs->n_graphs; ++i) {
    compare_graph(c, model, &ours->graph[i], theirs->graphs[i]);
  }
  for (size_t i = 0; i < theirs->n_sparse_tensors; ++i) {
    compare_sparse(c, model, &ours->sparse[i], theirs->sparse_tensors[i]);
  }
}

static void compare_attr(comparison* c, stow_model* model, const stowi_onnx_attr* ours,
                         const Onnx__AttributeProto* theirs) {
  compare(c, same_text(ours->name, theirs->name), "name", ours->name);
  compare(c, same_text(ours->ref, theirs->ref_attr_name), "ref_attr_name", ours->name);
  if (theirs->has_type && theirs->type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED) {
    compare(c, (int)ours->type == (int)theirs->type, "type", ours->name);
  }
  compare(c, ours->i == theirs->i, "i", ours->name);
  compare(c, memcmp(&ours->f, &theirs->f, sizeof(float)) == 0, "f", ours->name);
  compare(c, same_bytes(ours->s, theirs->s), "s", ours->name);
  if (theirs->t != NULL) {
    compare_tensor(c, model, ours->tensor, theirs->t);
  }
  if (theirs->g != NULL) {
    compare_graph(c, model, ours->graph, theirs->g);
  }
  if (theirs->sparse_tensor != NULL) {
    compare_sparse(c, model, ours->sparse, theirs->sparse_tensor);
  }
  compare_attr_lists(c, model, ours, theirs);
}

static void compare_node(comparison* c, stow_model* model, const stowi_onnx_node* ours,
                         const Onnx__NodeProto* theirs) {
  compare(c, same_text(ours->name, theirs->name), "name", ours->name);
  compare(c, same_text(ours->op, theirs->op_type), "op_type", ours->name);
  compare(c, same_domain(ours->domain, theirs->domain), "domain", ours->name);
  compare(c, same_texts(ours->inputs, ours->input_count, theirs->input, theirs->n_input), "input",
          ours->name);
  compare(c, same_texts(ours->outputs, ours->output_count, theirs->output, theirs->n_output),
          "output", ours->name);
  compare(c, ours->attr_count == theirs->n_attribute, "attribute count", ours->name);
  for (size_t i = 0; i < theirs->n_attribute && ours->attr_count == theirs->n_attribute; ++i) {
    compare_attr(c, model, &ours->attrs[i], theirs->attribute[i]);
  }
}

static void compare_nodes(comparison* c, stow_model* model, const stowi_onnx_node* ours,
                          size_t our_count, Onnx__NodeProto** theirs, size_t count) {
  compare(c, our_count == count, "node count", stow_str_of(""));
  for (size_t i = 0; i < count && our_count == count; ++i) {
    compare_node(c, model, &ours[i], theirs[i]);
  }
}

static void compare_graph(comparison* c, stow_model* model, const stowi_onnx_graph* ours,
                          const Onnx__GraphProto* theirs) {
  compare(c, same_text(ours->name, theirs->name), "name", ours->name);
  compare_nodes(c, model, ours->nodes, ours->node_count, theirs->node, theirs->n_node);
  compare_values(c, ours->inputs, ours->input_count, theirs->input, theirs->n_input, "inputs");
  compare_values(c, ours->outputs, ours->output_count, theirs->output, theirs->n_output, "outputs");
  compare_values(c, ours->infos, ours->info_count, theirs->value_info, theirs->n_value_info,
                 "value_info");
  compare(c, ours->initializer_count == theirs->n_initializer, "initializer count", ours->name);
  compare(c, ours->sparse_count == theirs->n_sparse_initializer, "sparse count", ours->name);
  for (size_t i = 0; i < theirs->n_initializer && i < ours->initializer_count; ++i) {
    compare_tensor(c, model, &ours->initializers[i], theirs->initializer[i]);
  }
  for (size_t i = 0; i < theirs->n_sparse_initializer && i < ours->sparse_count; ++i) {
    compare_sparse(c, model, &ours->sparse_initializers[i], theirs->sparse_initializer[i]);
  }
}

static void compare_opsets(comparison* c, const stowi_import_opset* ours, size_t our_count,
                           Onnx__OperatorSetIdProto** theirs, size_t count) {
  compare(c, our_count == count, "opset count", stow_str_of(""));
  for (size_t i = 0; i < count && our_count == count; ++i) {
    compare(c,
            same_domain(ours[i].domain, theirs[i]->domain) && ours[i].version == theirs[i]->version,
            "opset", ours[i].domain);
  }
}

static void compare_function(comparison* c, stow_model* model, const stowi_onnx_function* ours,
                             const Onnx__FunctionProto* theirs) {
  compare(c, same_text(ours->name, theirs->name), "name", ours->name);
  compare(c, same_domain(ours->domain, theirs->domain), "domain", ours->name);
  compare(c, same_texts(ours->inputs, ours->input_count, theirs->input, theirs->n_input), "input",
          ours->name);
  compare(c, same_texts(ours->outputs, ours->output_count, theirs->output, theirs->n_output),
          "output", ours->name);
  compare(c, same_texts(ours->attrs, ours->attr_count, theirs->attribute, theirs->n_attribute),
          "attribute", ours->name);
  compare_nodes(c, model, ours->nodes, ours->node_count, theirs->node, theirs->n_node);
  compare_opsets(c, ours->opsets, ours->opset_count, theirs->opset_import, theirs->n_opset_import);
}

void compare_model(comparison* c, stow_model* model, const Onnx__ModelProto* theirs) {
  const stowi_onnx_proto* ours = stowi_onnx_proto_of(model);
  stow_str none = stow_str_of("model");
  compare(c, ours->ir_version == theirs->ir_version, "ir_version", none);
  compare(c, ours->model_version == theirs->model_version, "model_version", none);
  compare(c, same_text(ours->producer_name, theirs->producer_name), "producer_name", none);
  compare(c, same_text(ours->producer_version, theirs->producer_version), "producer_version", none);
  compare(c, same_text(ours->domain, theirs->domain), "domain", none);
  compare_opsets(c, ours->opsets, ours->opset_count, theirs->opset_import, theirs->n_opset_import);
  compare_graph(c, model, &ours->graph, theirs->graph);
  compare(c, ours->function_count == theirs->n_functions, "function count", none);
  for (size_t i = 0; i < theirs->n_functions && i < ours->function_count; ++i) {
    compare_function(c, model, &ours->functions[i], theirs->functions[i]);
  }
}
