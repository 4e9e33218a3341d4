// The messages of onnx.proto that planning needs, as tables, and what must hold of each once its
// fields are read. Documentation, metadata, training and quantization annotations are skipped like
// fields that are newer than we know.
//
// A record takes up to 45 times the bytes of its shortest message (a named, empty initializer), so
// the index is O(file size); in real models, whose bytes are weights, it is below 2 %.
#include "base/diag.h"
#include "onnx/reader/messages.h"

#define OLDEST_IR 3

stow_status stowi_onnx_malformed(stowi_onnx_reader* reader, const stowi_onnx_place* place,
                                 stowi_onnx_span message, const char* what) {
  return stowi_onnx_fail_at(reader, place, message.data, STOW_ERR_SYNTAX, "%s", what);
}

static stow_str short_domain(stow_str domain) {
  return stow_str_equal(domain, stow_str_of("ai.onnx")) ? stow_str_of("") : domain;
}

// ---------------------------------------------------------------------------------------------
// Attributes, nodes and graphs hold each other

static const stowi_onnx_message attr_message, node_message, graph_message;

static const stowi_onnx_field attr_fields[] = {
    STOWI_ONNX_ROW(1, STR, "name", stowi_onnx_attr, name),
    STOWI_ONNX_ROW(21, STR, "ref_attr_name", stowi_onnx_attr, ref),
    STOWI_ONNX_ROW(20, I32, "type", stowi_onnx_attr, type),
    STOWI_ONNX_ROW(2, F32, "f", stowi_onnx_attr, f),
    STOWI_ONNX_ROW(3, I64, "i", stowi_onnx_attr, i),
    STOWI_ONNX_ROW(4, STR, "s", stowi_onnx_attr, s),
    STOWI_ONNX_RECORD(5, POINTER, "t", stowi_onnx_attr, tensor, &stowi_onnx_tensor_message),
    STOWI_ONNX_RECORD(6, POINTER, "g", stowi_onnx_attr, graph, &graph_message),
    STOWI_ONNX_LIST(7, F32S, "floats", stowi_onnx_attr, floats, count),
    STOWI_ONNX_LIST(8, I64S, "ints", stowi_onnx_attr, ints, count),
    STOWI_ONNX_LIST(9, STRS, "strings", stowi_onnx_attr, strings, count),
    STOWI_ONNX_RECORDS(10, "tensors", stowi_onnx_attr, tensor, count, &stowi_onnx_tensor_message),
    STOWI_ONNX_RECORDS(11, "graphs", stowi_onnx_attr, graph, count, &graph_message),
    STOWI_ONNX_RECORD(22, POINTER, "sparse_tensor", stowi_onnx_attr, sparse,
                      &stowi_onnx_sparse_message),
    STOWI_ONNX_RECORDS(23, "sparse_tensors", stowi_onnx_attr, sparse, count,
                       &stowi_onnx_sparse_message),
    STOWI_ONNX_SEEN(14, "tp"),
    STOWI_ONNX_SEEN(15, "type_protos"),
};

enum { FIRST_VALUE_ROW = 3, ATTR_ROWS = sizeof(attr_fields) / sizeof(attr_fields[0]) };

// For each row: the type of an attribute that has its value there.
static const stowi_onnx_attr_type attr_types[ATTR_ROWS] = {
    STOWI_ONNX_ATTR_UNDEFINED,  STOWI_ONNX_ATTR_UNDEFINED,     STOWI_ONNX_ATTR_UNDEFINED,
    STOWI_ONNX_ATTR_FLOAT,      STOWI_ONNX_ATTR_INT,           STOWI_ONNX_ATTR_STRING,
    STOWI_ONNX_ATTR_TENSOR,     STOWI_ONNX_ATTR_GRAPH,         STOWI_ONNX_ATTR_FLOATS,
    STOWI_ONNX_ATTR_INTS,       STOWI_ONNX_ATTR_STRINGS,       STOWI_ONNX_ATTR_TENSORS,
    STOWI_ONNX_ATTR_GRAPHS,     STOWI_ONNX_ATTR_SPARSE_TENSOR, STOWI_ONNX_ATTR_SPARSE_TENSORS,
    STOWI_ONNX_ATTR_TYPE_PROTO, STOWI_ONNX_ATTR_TYPE_PROTOS};

// Whether an attribute of this type is of no use without a value. Numbers and lists have a default.
static bool needs_value(stowi_onnx_attr_type type) {
  return type == STOWI_ONNX_ATTR_TENSOR || type == STOWI_ONNX_ATTR_GRAPH ||
         type == STOWI_ONNX_ATTR_SPARSE_TENSOR || type == STOWI_ONNX_ATTR_TYPE_PROTO;
}

static stow_status check_attr(stowi_onnx_reader* reader, const stowi_onnx_place* place,
                              stowi_onnx_span message, const stowi_onnx_attr* attr,
                              stowi_onnx_attr_type found) {
  if (attr->name.size == 0) {
    return stowi_onnx_malformed(reader, place, message, "an attribute needs a name");
  }
  const char* wrong = NULL;
  int type = (int)attr->type;
  if (type < 0 || type > STOWI_ONNX_ATTR_TYPE_PROTOS) {
    wrong = "has an unknown type";
  } else if (found != STOWI_ONNX_ATTR_UNDEFINED && type != STOWI_ONNX_ATTR_UNDEFINED &&
             attr->type != found) {
    wrong = "has a value that contradicts its type";
  } else if (found == STOWI_ONNX_ATTR_UNDEFINED && attr->ref.size == 0 && needs_value(attr->type)) {
    wrong = "has no value";
  }
  return wrong == NULL
             ? STOW_OK
             : stowi_onnx_fail_at(reader, place, message.data, STOW_ERR_SYNTAX,
                                  "attribute \"%.*s\" %s", STOWI_STR_ARG(attr->name), wrong);
}

// Old files do not say the type: it is that of the field that holds the value.
static stow_status finish_attr(stowi_onnx_reader* reader, const stowi_onnx_place* place,
                               stowi_onnx_span message, void* record, const size_t* counts) {
  stowi_onnx_attr* attr = (stowi_onnx_attr*)record;
  stowi_onnx_attr_type found = STOWI_ONNX_ATTR_UNDEFINED;
  for (size_t r = FIRST_VALUE_ROW; r < ATTR_ROWS; ++r) {
    if (counts[r] == 0) {
      continue;
    }
    if (found != STOWI_ONNX_ATTR_UNDEFINED) {
      return stowi_onnx_fail_at(reader, place, message.data, STOW_ERR_SYNTAX,
                                "attribute \"%.*s\" has values of several types",
                                STOWI_STR_ARG(attr->name));
    }
    found = attr_types[r];
  }
  STOW_TRY(check_attr(reader, place, message, attr, found));
  attr->type = attr->type == STOWI_ONNX_ATTR_UNDEFINED ? found : attr->type;
  return STOW_OK;
}

static const stowi_onnx_message attr_message =
    STOWI_ONNX_MESSAGE("an attribute", attr_fields, stowi_onnx_attr, 3, finish_attr);

static const stowi_onnx_field node_fields[] = {
    STOWI_ONNX_LIST(1, STRS, "input", stowi_onnx_node, inputs, input_count),
    STOWI_ONNX_LIST(2, STRS, "output", stowi_onnx_node, outputs, output_count),
    STOWI_ONNX_ROW(3, STR, "name", stowi_onnx_node, name),
    STOWI_ONNX_ROW(4, STR, "op_type", stowi_onnx_node, op),
    STOWI_ONNX_RECORDS(5, "attribute", stowi_onnx_node, attrs, attr_count, &attr_message),
    STOWI_ONNX_ROW(7, STR, "domain", stowi_onnx_node, domain),
    STOWI_ONNX_ROW(8, STR, "overload", stowi_onnx_node, overload),
};

static stow_status finish_node(stowi_onnx_reader* reader, const stowi_onnx_place* place,
                               stowi_onnx_span message, void* record, const size_t* counts) {
  (void)counts;
  stowi_onnx_node* node = (stowi_onnx_node*)record;
  node->domain = short_domain(node->domain);
  return node->op.size > 0
             ? STOW_OK
             : stowi_onnx_malformed(reader, place, message, "a node needs an op_type");
}

static const stowi_onnx_message node_message =
    STOWI_ONNX_MESSAGE("a node", node_fields, stowi_onnx_node, 3, finish_node);

static const stowi_onnx_field graph_fields[] = {
    STOWI_ONNX_RECORDS(1, "node", stowi_onnx_graph, nodes, node_count, &node_message),
    STOWI_ONNX_ROW(2, STR, "name", stowi_onnx_graph, name),
    STOWI_ONNX_RECORDS(5, "initializer", stowi_onnx_graph, initializers, initializer_count,
                       &stowi_onnx_tensor_message),
    STOWI_ONNX_RECORDS(11, "input", stowi_onnx_graph, inputs, input_count,
                       &stowi_onnx_value_info_message),
    STOWI_ONNX_RECORDS(12, "output", stowi_onnx_graph, outputs, output_count,
                       &stowi_onnx_value_info_message),
    STOWI_ONNX_RECORDS(13, "value_info", stowi_onnx_graph, infos, info_count,
                       &stowi_onnx_value_info_message),
    STOWI_ONNX_RECORDS(15, "sparse_initializer", stowi_onnx_graph, sparse_initializers,
                       sparse_count, &stowi_onnx_sparse_message),
};

static const stowi_onnx_message graph_message =
    STOWI_ONNX_MESSAGE("a graph", graph_fields, stowi_onnx_graph, 3, NULL);

// ---------------------------------------------------------------------------------------------
// Functions and the model

static const stowi_onnx_field opset_fields[] = {
    STOWI_ONNX_ROW(1, STR, "domain", stowi_import_opset, domain),
    STOWI_ONNX_ROW(2, I64, "version", stowi_import_opset, version),
};

static stow_status finish_opset(stowi_onnx_reader* reader, const stowi_onnx_place* place,
                                stowi_onnx_span message, void* record, const size_t* counts) {
  (void)reader, (void)place, (void)message, (void)counts;
  stowi_import_opset* opset = (stowi_import_opset*)record;
  opset->domain = short_domain(opset->domain);
  return STOW_OK;
}

static const stowi_onnx_message opset_message =
    STOWI_ONNX_MESSAGE("an opset", opset_fields, stowi_import_opset, 0, finish_opset);

static const stowi_onnx_field function_fields[] = {
    STOWI_ONNX_ROW(1, STR, "name", stowi_onnx_function, name),
    STOWI_ONNX_LIST(4, STRS, "input", stowi_onnx_function, inputs, input_count),
    STOWI_ONNX_LIST(5, STRS, "output", stowi_onnx_function, outputs, output_count),
    STOWI_ONNX_LIST(6, STRS, "attribute", stowi_onnx_function, attrs, attr_count),
    STOWI_ONNX_RECORDS(7, "node", stowi_onnx_function, nodes, node_count, &node_message),
    STOWI_ONNX_RECORDS(9, "opset_import", stowi_onnx_function, opsets, opset_count, &opset_message),
    STOWI_ONNX_ROW(10, STR, "domain", stowi_onnx_function, domain),
    STOWI_ONNX_RECORDS(11, "attribute_proto", stowi_onnx_function, defaults, default_count,
                       &attr_message),
    STOWI_ONNX_ROW(13, STR, "overload", stowi_onnx_function, overload),
};

static stow_status finish_function(stowi_onnx_reader* reader, const stowi_onnx_place* place,
                                   stowi_onnx_span message, void* record, const size_t* counts) {
  (void)counts;
  stowi_onnx_function* function = (stowi_onnx_function*)record;
  function->domain = short_domain(function->domain);
  return function->name.size > 0
             ? STOW_OK
             : stowi_onnx_malformed(reader, place, message, "a function needs a name");
}

static const stowi_onnx_message function_message =
    STOWI_ONNX_MESSAGE("a function", function_fields, stowi_onnx_function, 3, finish_function);

static const stowi_onnx_field model_fields[] = {
    STOWI_ONNX_ROW(1, I64, "ir_version", stowi_onnx_proto, ir_version),
    STOWI_ONNX_RECORD(7, INLINE, "graph", stowi_onnx_proto, graph, &graph_message),
    STOWI_ONNX_ROW(2, STR, "producer_name", stowi_onnx_proto, producer_name),
    STOWI_ONNX_ROW(3, STR, "producer_version", stowi_onnx_proto, producer_version),
    STOWI_ONNX_ROW(4, STR, "domain", stowi_onnx_proto, domain),
    STOWI_ONNX_ROW(5, I64, "model_version", stowi_onnx_proto, model_version),
    STOWI_ONNX_RECORDS(8, "opset_import", stowi_onnx_proto, opsets, opset_count, &opset_message),
    STOWI_ONNX_RECORDS(25, "functions", stowi_onnx_proto, functions, function_count,
                       &function_message),
};

static stow_status finish_model(stowi_onnx_reader* reader, const stowi_onnx_place* place,
                                stowi_onnx_span message, void* record, const size_t* counts) {
  const stowi_onnx_proto* proto = (const stowi_onnx_proto*)record;
  if (counts[0] == 0 || counts[1] == 0) {
    return stowi_onnx_malformed(reader, place, message,
                                counts[0] == 0 ? "not an ONNX model: it has no ir_version"
                                               : "the file is incomplete: it has no graph");
  }
  if (proto->ir_version < OLDEST_IR) {
    return stowi_onnx_fail_at(reader, place, message.data, STOW_ERR_UNSUPPORTED,
                              "IR version %lld; only %d and newer are supported",
                              (long long)proto->ir_version, OLDEST_IR);
  }
  return STOW_OK;
}

const stowi_onnx_message stowi_onnx_model_message =
    STOWI_ONNX_MESSAGE("a model", model_fields, stowi_onnx_proto, 0, finish_model);
