// Models become records, and are described.
#include <stdio.h>
#include <string.h>

#include "onnx/onnx_writer.h"
#include "onnx/reader/proto.h"
#include "support/fault.h"
#include "support/test.h"

static stow_diag diag;

static stow_model* open_model(const onnx_writer* w) {
  stow_diag_init(&diag);
  stow_model* model = NULL;
  stow_status status =
      stow_onnx_open_memory(w->data, w->size, NULL, stow_allocator_default(), &diag, &model);
  CHECK(diag.status == status && (status == STOW_OK) == (model != NULL));
  return model;
}

static bool is(stow_str string, const char* text) {
  return stow_str_equal(string, stow_str_of(text));
}

// The model must be refused; checks a part of the message.
static void check_refused(onnx_writer* w, stow_status status, const char* part) {
  stow_model* model = open_model(w);
  CHECK(model == NULL && diag.status == status);
  CHECK_HAS(diag.message, part);
  stow_model_close(model);
  onnx_writer_free(w);
}

static const int64_t two_three[] = {2, 3};
static const float six[6] = {1, 2, 3, 4, 5, 6};

// A bit of everything.
static void write_example(onnx_writer* w) {
  onnx_string(w, ONNX_MODEL_PRODUCER_NAME, "maker");
  onnx_string(w, ONNX_MODEL_PRODUCER_VERSION, "1.2");
  onnx_model_begin(w, 8, 17);
  onnx_value(w, ONNX_GRAPH_INPUT, "x", ONNX_FLOAT, "N 3 ? 224");
  onnx_value(w, ONNX_GRAPH_INPUT, "w", ONNX_FLOAT, "2 3");
  onnx_tensor_raw(w, ONNX_GRAPH_INITIALIZER, "w", ONNX_FLOAT, two_three, 2, six, sizeof(six));
  onnx_node_begin(w, "Conv", "x w -", "y");
  onnx_string(w, ONNX_NODE_NAME, "conv1");
  onnx_string(w, ONNX_NODE_DOMAIN, "ai.onnx");
  onnx_attr_int(w, "group", -2);
  onnx_attr_ints(w, "pads", (const int64_t[]){1, -1, 300}, 3);
  onnx_attr_float(w, "alpha", 0.5F);
  onnx_attr_string(w, "mode", "same");
  onnx_node_end(w);
  onnx_node_begin(w, "If", "y", "z");
  onnx_attr_begin(w, "then_branch", STOWI_ONNX_ATTR_GRAPH);
  onnx_begin(w, ONNX_ATTR_G);
  onnx_string(w, ONNX_GRAPH_NAME, "then");
  onnx_node(w, "Relu", "y", "a");
  onnx_node(w, "Relu", "a", "b");
  onnx_end(w);
  onnx_attr_end(w);
  onnx_node_end(w);
  onnx_node_begin(w, "Constant", "", "c");
  onnx_attr_begin(w, "value", STOWI_ONNX_ATTR_TENSOR);
  onnx_tensor_raw(w, ONNX_ATTR_T, "", ONNX_FLOAT, two_three, 2, six, sizeof(six));
  onnx_attr_end(w);
  onnx_node_end(w);
  onnx_value(w, ONNX_GRAPH_VALUE_INFO, "y", ONNX_FLOAT, "N ?");
  onnx_value(w, ONNX_GRAPH_OUTPUT, "z", ONNX_FLOAT, NULL);
  onnx_model_end(w);
  onnx_opset(w, "com.example", 3);
}

TEST(ModelIsRead) {
  onnx_writer w = {0};
  write_example(&w);
  stow_model* model = open_model(&w);
  REQUIRE(model != NULL);
  const stowi_onnx_proto* proto = stowi_onnx_proto_of(model);
  CHECK(proto->ir_version == 8 && is(proto->producer_name, "maker"));
  CHECK(is(proto->graph.name, "g"));
  REQUIRE(proto->graph.node_count == 3);
  const stowi_onnx_node* conv = &proto->graph.nodes[0];
  CHECK(is(conv->op, "Conv") && is(conv->name, "conv1") && is(conv->domain, ""));
  REQUIRE(conv->input_count == 3 && conv->output_count == 1 && conv->attr_count == 4);
  CHECK(is(conv->inputs[1], "w") && conv->inputs[2].size == 0 && is(conv->outputs[0], "y"));
  CHECK(conv->attrs[0].type == STOWI_ONNX_ATTR_INT && conv->attrs[0].i == -2);
  REQUIRE(conv->attrs[1].type == STOWI_ONNX_ATTR_INTS && conv->attrs[1].count == 3);
  CHECK(conv->attrs[1].ints[1] == -1 && conv->attrs[1].ints[2] == 300);
  CHECK(conv->attrs[2].f == 0.5F && is(conv->attrs[3].s, "same"));
  const stowi_onnx_graph* branch = proto->graph.nodes[1].attrs[0].graph;
  REQUIRE(branch != NULL && branch->node_count == 2);
  CHECK(is(branch->name, "then") && is(branch->nodes[1].inputs[0], "a"));
  REQUIRE(proto->graph.initializer_count == 1);
  CHECK_U64(proto->graph.initializers[0].elements, 6);
  REQUIRE(proto->graph.info_count == 1 && proto->graph.infos[0].rank == 2);
  CHECK(proto->graph.infos[0].dims[0].number < 0 && proto->graph.infos[0].dims[0].name.size != 0);
  CHECK(proto->graph.infos[0].dims[1].number < 0 && proto->graph.infos[0].dims[1].name.size == 0);
  stow_model_close(model);
  onnx_writer_free(&w);
}

static stow_model_info info_of(const stow_model* model) {
  stow_model_info info = {.struct_size = sizeof(info)};
  CHECK(stow_model_describe(model, &info) == STOW_OK);
  return info;
}

static stow_str port_name(const stow_model* model, stow_model_side side, size_t index) {
  stow_model_port port = {.struct_size = sizeof(port)};
  CHECK(stow_model_describe_port(model, side, index, &port) == STOW_OK);
  return port.name;
}

static void check_input_type(const stow_model* model, size_t index, const char* expected) {
  stow_string text;
  stow_string_init(&text, stow_allocator_default());
  CHECK(stow_model_print_type(model, STOW_MODEL_INPUTS, index, stow_string_writer(&text)) ==
        STOW_OK);
  CHECK_TEXT(text.data, expected);
  stow_string_free(&text);
}

TEST(ModelsAreDescribed) {
  onnx_writer w = {0};
  write_example(&w);
  stow_model* model = open_model(&w);
  REQUIRE(model != NULL);
  int64_t version;
  size_t count;
  stow_str domain;
  stow_model_info info = info_of(model);
  CHECK(is(info.format, "ONNX") && info.format_version == 8);
  CHECK(is(info.name, "g") && is(info.producer, "maker") && is(info.producer_version, "1.2"));
  REQUIRE(info.opset_count == 2);
  CHECK(is(stow_model_opset(model, 0, &version), "") && version == 17);
  CHECK(is(stow_model_opset(model, 1, &version), "com.example") && version == 3);
  CHECK_U64(info_of(model).node_count, 5);
  REQUIRE(info.op_kind_count == 4);
  CHECK(is(stow_model_op_kind(model, 0, &domain, &count), "Relu") && count == 2);
  CHECK(is(domain, ""));
  CHECK(is(stow_model_op_kind(model, 1, NULL, &count), "Constant") && count == 1);
  CHECK(is(stow_model_op_kind(model, 3, NULL, &count), "If") && count == 1);
  REQUIRE(info.input_count == 1);  // w is an initializer
  CHECK(is(port_name(model, STOW_MODEL_INPUTS, 0), "x"));
  check_input_type(model, 0, "f32[N, 3, ?, 224]");
  REQUIRE(info.output_count == 1);
  CHECK(is(port_name(model, STOW_MODEL_OUTPUTS, 0), "z"));
  stow_string text;
  stow_string_init(&text, stow_allocator_default());
  CHECK(stow_model_print_type(model, STOW_MODEL_OUTPUTS, 0, stow_string_writer(&text)) == STOW_OK);
  CHECK_TEXT(text.data, "f32[...]");
  stow_string_free(&text);
  stow_model_close(model);
  onnx_writer_free(&w);
}

TEST(PortsAreDescribed) {
  onnx_writer w = {0};
  write_example(&w);
  stow_model* model = open_model(&w);
  REQUIRE(model != NULL);
  stow_model_port port = {.struct_size = sizeof(port)};
  REQUIRE(stow_model_describe_port(model, STOW_MODEL_INPUTS, 0, &port) == STOW_OK);
  CHECK(port.is_tensor && port.dtype == STOW_F32 && port.has_rank && port.rank == 4);
  REQUIRE(stow_model_describe_port(model, STOW_MODEL_OUTPUTS, 0, &port) == STOW_OK);
  CHECK(port.is_tensor && !port.has_rank && port.rank == 0);
  CHECK(stow_model_describe_port(model, STOW_MODEL_INPUTS, 1, &port) == STOW_ERR_NOT_FOUND);
  CHECK(is(port.name, "z"));  // a failing call changes nothing
  port.struct_size = sizeof(port) + 1;
  CHECK(stow_model_describe_port(model, STOW_MODEL_INPUTS, 0, &port) == STOW_ERR_INVALID_ARGUMENT);
  stow_string text;
  stow_string_init(&text, stow_allocator_default());
  CHECK(stow_model_print_type(model, STOW_MODEL_OUTPUTS, 1, stow_string_writer(&text)) ==
        STOW_ERR_INVALID_ARGUMENT);
  stow_string_free(&text);
  stow_model_info info = {.struct_size = 1};
  CHECK(stow_model_describe(model, &info) == STOW_ERR_INVALID_ARGUMENT);
  stow_model_close(model);
  onnx_writer_free(&w);
}

TEST(WeightsAreCounted) {
  onnx_writer w = {0};
  write_example(&w);
  stow_model* model = open_model(&w);
  REQUIRE(model != NULL);
  stow_model_weights weights = {.struct_size = sizeof(weights)};
  CHECK(stow_model_count_weights(model, NULL, &diag, &weights) == STOW_OK);
  CHECK(weights.tensors == 2 && weights.elements == 12 && weights.bytes == 48);
  CHECK(weights.external_bytes == 0);
  stow_dtype f32 = STOW_F32, i8 = STOW_I8;
  CHECK(stow_model_count_weights(model, &i8, &diag, &weights) == STOW_OK && weights.tensors == 0);
  CHECK(stow_model_count_weights(model, &f32, &diag, &weights) == STOW_OK && weights.bytes == 48);
  weights.struct_size = offsetof(stow_model_weights, elements);
  weights.bytes = 7;
  CHECK(stow_model_count_weights(model, NULL, &diag, &weights) == STOW_OK);
  CHECK(weights.tensors == 2 && weights.bytes == 7);  // an older caller's struct ends before
  weights.struct_size = sizeof(weights) + 1;
  CHECK(stow_model_count_weights(model, NULL, &diag, &weights) == STOW_ERR_INVALID_ARGUMENT);
  stow_model_close(model);
  onnx_writer_free(&w);
}

TEST(TypesArePrintedAsDeclared) {
  onnx_writer w = {0};
  onnx_model_begin(&w, 8, 17);
  onnx_value(&w, ONNX_GRAPH_INPUT, "a", ONNX_STRING, "");
  onnx_value(&w, ONNX_GRAPH_INPUT, "b", 99, "-1 p2o.Dim.0 x+1");
  onnx_begin(&w, ONNX_GRAPH_INPUT);  // optional(seq(f32[2]))
  onnx_string(&w, 1, "c");
  onnx_begin(&w, 2);
  onnx_begin(&w, 9);
  onnx_begin(&w, 1);
  onnx_begin(&w, 4);
  onnx_tensor_type(&w, 1, ONNX_FLOAT, "2");
  onnx_end(&w);
  onnx_end(&w);
  onnx_end(&w);
  onnx_end(&w);
  onnx_end(&w);
  onnx_begin(&w, ONNX_GRAPH_INPUT);  // map(i64, f32[])
  onnx_string(&w, 1, "d");
  onnx_begin(&w, 2);
  onnx_begin(&w, 5);
  onnx_int(&w, 1, ONNX_INT64);
  onnx_tensor_type(&w, 2, ONNX_FLOAT, "");
  onnx_end(&w);
  onnx_end(&w);
  onnx_end(&w);
  onnx_begin(&w, ONNX_GRAPH_INPUT);
  onnx_string(&w, 1, "e");
  onnx_end(&w);
  onnx_begin(&w, ONNX_GRAPH_INPUT);  // a sequence of an unknown type
  onnx_string(&w, 1, "f");
  onnx_begin(&w, 2);
  onnx_begin(&w, 4);
  onnx_end(&w);
  onnx_end(&w);
  onnx_end(&w);
  onnx_model_end(&w);
  stow_model* model = open_model(&w);
  REQUIRE(model != NULL && info_of(model).input_count == 6);
  check_input_type(model, 0, "string[]");
  check_input_type(model, 1, "?[?, p2o.Dim.0, \"x+1\"]");
  check_input_type(model, 2, "optional(seq(f32[2]))");
  check_input_type(model, 3, "map(i64, f32[])");
  check_input_type(model, 4, "?");
  check_input_type(model, 5, "seq(?)");
  const stowi_onnx_value_info* inputs = stowi_onnx_proto_of(model)->graph.inputs;
  CHECK(inputs[2].kind == STOWI_ONNX_INFO_OPTIONAL && inputs[2].elem == ONNX_FLOAT);
  CHECK(inputs[3].kind == STOWI_ONNX_INFO_MAP && inputs[4].kind == STOWI_ONNX_INFO_NONE);
  stow_model_close(model);
  onnx_writer_free(&w);
}

TEST(UnknownFieldsAreSkipped) {
  onnx_writer w = {0};
  onnx_string(&w, 6, "documentation");
  onnx_int(&w, 1000, 5);
  onnx_put_tag(&w, 900, 3);
  onnx_int(&w, 1, 5);
  onnx_put_tag(&w, 900, 4);
  onnx_model_begin(&w, 8, 17);
  onnx_double(&w, 500, 2.5);
  onnx_node(&w, "Relu", "x", "y");
  onnx_model_end(&w);
  stow_model* model = open_model(&w);
  REQUIRE(model != NULL);
  CHECK_U64(info_of(model).node_count, 1);
  stow_model_close(model);
  onnx_writer_free(&w);
}

TEST(ListsMayBePackedOrNotOrBoth) {
  onnx_writer w = {0};
  onnx_model_begin(&w, 8, 17);
  onnx_node_begin(&w, "Op", "", "y");
  onnx_attr_begin(&w, "ints", STOWI_ONNX_ATTR_INTS);
  onnx_int(&w, ONNX_ATTR_INTS, 1);
  onnx_packed_ints(&w, ONNX_ATTR_INTS, (const int64_t[]){-5, 700}, 2);
  onnx_int(&w, ONNX_ATTR_INTS, 4);
  onnx_attr_end(&w);
  onnx_attr_begin(&w, "floats", STOWI_ONNX_ATTR_UNDEFINED);
  onnx_float(&w, ONNX_ATTR_FLOATS, 1.5F);
  onnx_bytes(&w, ONNX_ATTR_FLOATS, "\0\0\0\x40\0\0\x80\xbf", 8);
  onnx_attr_end(&w);
  onnx_node_end(&w);
  onnx_model_end(&w);
  stow_model* model = open_model(&w);
  REQUIRE(model != NULL);
  const stowi_onnx_attr* attrs = stowi_onnx_proto_of(model)->graph.nodes[0].attrs;
  REQUIRE(attrs[0].count == 4);
  CHECK(attrs[0].ints[0] == 1 && attrs[0].ints[1] == -5 && attrs[0].ints[2] == 700);
  CHECK(attrs[0].ints[3] == 4);
  REQUIRE(attrs[1].type == STOWI_ONNX_ATTR_FLOATS && attrs[1].count == 3);
  CHECK(attrs[1].floats[0] == 1.5F && attrs[1].floats[1] == 2.0F && attrs[1].floats[2] == -1.0F);
  stow_model_close(model);
  onnx_writer_free(&w);
}

TEST(LastOfRepeatedScalarsWins) {
  onnx_writer w = {0};
  onnx_int(&w, ONNX_MODEL_IR_VERSION, 2);
  onnx_model_begin(&w, 8, 17);
  onnx_string(&w, ONNX_GRAPH_NAME, "other");
  onnx_model_end(&w);
  stow_model* model = open_model(&w);
  REQUIRE(model != NULL);
  CHECK(info_of(model).format_version == 8 && is(info_of(model).name, "other"));
  stow_model_close(model);
  onnx_writer_free(&w);
}

TEST(FunctionsAreRead) {
  onnx_writer w = {0};
  onnx_model_begin(&w, 10, 17);
  onnx_model_end(&w);
  onnx_begin(&w, ONNX_MODEL_FUNCTION);
  onnx_string(&w, 1, "twice");
  onnx_string(&w, 4, "x");
  onnx_string(&w, 5, "y");
  onnx_string(&w, 6, "factor");
  onnx_begin(&w, 7);
  onnx_string(&w, ONNX_NODE_OP, "Mul");
  onnx_begin(&w, ONNX_NODE_ATTRIBUTE);
  onnx_string(&w, ONNX_ATTR_NAME, "by");
  onnx_string(&w, ONNX_ATTR_REF, "factor");
  onnx_int(&w, ONNX_ATTR_TYPE, STOWI_ONNX_ATTR_TENSOR);
  onnx_end(&w);
  onnx_end(&w);
  onnx_string(&w, 10, "local");
  onnx_begin(&w, 11);
  onnx_string(&w, ONNX_ATTR_NAME, "axis");
  onnx_int(&w, ONNX_ATTR_I, 3);
  onnx_end(&w);
  onnx_begin(&w, 9);
  onnx_int(&w, 2, 18);
  onnx_end(&w);
  onnx_string(&w, 13, "v2");
  onnx_end(&w);
  stow_model* model = open_model(&w);
  REQUIRE(model != NULL);
  const stowi_onnx_proto* proto = stowi_onnx_proto_of(model);
  REQUIRE(proto->function_count == 1);
  const stowi_onnx_function* function = &proto->functions[0];
  CHECK(is(function->name, "twice") && is(function->domain, "local"));
  CHECK(is(function->overload, "v2") && is(function->attrs[0], "factor"));
  CHECK(is(function->inputs[0], "x") && is(function->outputs[0], "y"));
  CHECK(is(function->nodes[0].attrs[0].ref, "factor"));
  CHECK(function->defaults[0].type == STOWI_ONNX_ATTR_INT && function->defaults[0].i == 3);
  CHECK(function->opsets[0].version == 18 && info_of(model).node_count == 0);
  stow_model_close(model);
  onnx_writer_free(&w);
}

static void write_sparse(onnx_writer* w) {
  onnx_begin(w, ONNX_GRAPH_SPARSE);
  onnx_tensor_begin(w, 1, "s", ONNX_FLOAT, (const int64_t[]){2}, 1);
  onnx_tensor_end(w);
  onnx_tensor_begin(w, 2, "", ONNX_INT64, (const int64_t[]){2}, 1);
  onnx_tensor_end(w);
  onnx_packed_ints(w, 3, two_three, 2);
  onnx_end(w);
}

TEST(SparseInitializersAreRead) {
  onnx_writer w = {0};
  onnx_model_begin(&w, 8, 17);
  onnx_value(&w, ONNX_GRAPH_INPUT, "s", ONNX_FLOAT, "2 3");
  write_sparse(&w);
  onnx_model_end(&w);
  stow_model* model = open_model(&w);
  REQUIRE(model != NULL);
  const stowi_onnx_graph* graph = &stowi_onnx_proto_of(model)->graph;
  REQUIRE(graph->sparse_count == 1);
  CHECK(is(graph->sparse_initializers[0].values.name, "s"));
  CHECK(graph->sparse_initializers[0].rank == 2 && graph->sparse_initializers[0].dims[1] == 3);
  CHECK_U64(info_of(model).input_count, 0);
  stow_model_weights weights = {.struct_size = sizeof(weights)};
  CHECK(stow_model_count_weights(model, NULL, NULL, &weights) == STOW_OK && weights.tensors == 2);
  stow_model_close(model);
  onnx_writer_free(&w);
}

// ---------------------------------------------------------------------------------------------
// What is refused

TEST(OldAndForeignFilesAreRefused) {
  onnx_writer w = {0};
  onnx_model_begin(&w, 2, 1);
  onnx_model_end(&w);
  check_refused(&w, STOW_ERR_UNSUPPORTED, "IR version 2; only 3 and newer are supported");
  check_refused(&w, STOW_ERR_SYNTAX, "not an ONNX model: the file is empty");
  onnx_int(&w, ONNX_MODEL_IR_VERSION, 8);
  check_refused(&w, STOW_ERR_SYNTAX, "the file is incomplete: it has no graph");
}

static void check_bytes_refused(const void* bytes, size_t size, const char* message) {
  stow_model* model = NULL;
  stow_diag_init(&diag);
  CHECK(stow_onnx_open_memory(bytes, size, NULL, stow_allocator_default(), &diag, &model) ==
        STOW_ERR_SYNTAX);
  CHECK_HAS(diag.message, message);
}

TEST(OtherFilesAreRecognised) {
  check_bytes_refused("hello", 5, "not an ONNX model: the first byte is 0x68; expected an IR");
  check_bytes_refused("\x00\x00\x00", 3, "not an ONNX model: the first byte is 0x00");
  check_bytes_refused("\x12\x7f", 2, "not an ONNX model: the first byte is 0x12");
  check_bytes_refused("version https://git-lfs.github.com", 34, "a Git LFS pointer; run");
  check_bytes_refused("\x08\x08\x0f\x0f", 4, "not an ONNX model: what follows the IR version");
  check_bytes_refused("\x08\x08\x35zzzz", 7, "not an ONNX model: what follows the IR version");
  check_bytes_refused("\x08\xff\xff\x7f\x12\x7f", 6, "not an ONNX model: what follows the IR ver");
  check_bytes_refused("\x08", 1, "the file is incomplete");
  check_bytes_refused("\x08\xff", 2, "the file is incomplete");
  check_bytes_refused("\x08\x08\x12\x03pro", 7, "the file is incomplete: it has no graph");
  check_bytes_refused("\x08\x08\xff", 3, "byte 2: the file is incomplete: it needs at least 4");
}

TEST(ATruncatedModelReportsTheMissingBytes) {
  onnx_writer w = {0};
  onnx_model_begin(&w, 8, 17);
  for (size_t i = 0; i < 20; ++i) {
    onnx_node(&w, "Relu", "x", "y");
  }
  onnx_model_end(&w);
  char message[128];
  snprintf(message, sizeof message,
           "the file is incomplete: it needs at least %zu bytes and has %zu", w.size, w.size - 10);
  check_bytes_refused(w.data, w.size - 10, message);
  onnx_writer_free(&w);
}

TEST(ErrorsNameTheByteAndTheField) {
  onnx_writer w = {0};
  onnx_model_begin(&w, 8, 17);
  onnx_node(&w, "Relu", "x", "y");
  onnx_node_begin(&w, "Op", "", "z");
  onnx_attr_int(&w, "a", 1);
  onnx_begin(&w, ONNX_NODE_ATTRIBUTE);
  onnx_string(&w, ONNX_ATTR_NAME, "b");
  onnx_string(&w, ONNX_ATTR_I, "no number");
  onnx_end(&w);
  onnx_node_end(&w);
  onnx_model_end(&w);
  check_refused(
      &w, STOW_ERR_SYNTAX,
      "byte 51: graph.node[1].attribute[1].i: expected a varint, found a length and bytes");
}

TEST(MessagesGivenTwiceAreRefused) {
  onnx_writer w = {0};
  onnx_model_begin(&w, 8, 17);
  onnx_model_end(&w);
  onnx_begin(&w, ONNX_MODEL_GRAPH);
  onnx_end(&w);
  check_refused(&w, STOW_ERR_SYNTAX, "graph: given twice");
}

static void begin_attr(onnx_writer* w, int type) {
  onnx_model_begin(w, 8, 17);
  onnx_node_begin(w, "Op", "", "z");
  onnx_attr_begin(w, "a", type);
}

static void end_attr(onnx_writer* w) {
  onnx_attr_end(w);
  onnx_node_end(w);
  onnx_model_end(w);
}

TEST(AttributesMustFitTheirTypes) {
  onnx_writer w = {0};
  begin_attr(&w, STOWI_ONNX_ATTR_INT);
  onnx_float(&w, ONNX_ATTR_F, 1);
  end_attr(&w);
  check_refused(&w, STOW_ERR_SYNTAX, "\"a\" has a value that contradicts its type");
  begin_attr(&w, 15);
  end_attr(&w);
  check_refused(&w, STOW_ERR_SYNTAX, "\"a\" has an unknown type");
  begin_attr(&w, -1);
  end_attr(&w);
  check_refused(&w, STOW_ERR_SYNTAX, "\"a\" has an unknown type");
  begin_attr(&w, STOWI_ONNX_ATTR_GRAPH);
  end_attr(&w);
  check_refused(&w, STOW_ERR_SYNTAX, "\"a\" has no value");
  begin_attr(&w, STOWI_ONNX_ATTR_INTS);
  onnx_int(&w, ONNX_ATTR_INTS, 1);
  onnx_float(&w, ONNX_ATTR_FLOATS, 1);
  end_attr(&w);
  check_refused(&w, STOW_ERR_SYNTAX, "\"a\" has values of several types");
  // One tensor beside a list of three, which share a pointer.
  begin_attr(&w, STOWI_ONNX_ATTR_TENSORS);
  for (int i = 0; i < 3; ++i) {
    onnx_tensor_begin(&w, ONNX_ATTR_TENSORS, "t", ONNX_FLOAT, NULL, 0);
    onnx_tensor_end(&w);
  }
  onnx_begin(&w, ONNX_ATTR_T);
  onnx_end(&w);
  for (int i = 0; i < 3; ++i) {
    onnx_tensor_begin(&w, ONNX_ATTR_TENSORS, "t", ONNX_FLOAT, NULL, 0);
    onnx_tensor_end(&w);
  }
  end_attr(&w);
  check_refused(&w, STOW_ERR_SYNTAX, "\"a\" has values of several types");
}

TEST(NamesThatMustBeThereAreAskedFor) {
  onnx_writer w = {0};
  onnx_model_begin(&w, 8, 17);
  onnx_begin(&w, ONNX_GRAPH_NODE);
  onnx_string(&w, ONNX_NODE_NAME, "n");
  onnx_end(&w);
  onnx_model_end(&w);
  check_refused(&w, STOW_ERR_SYNTAX, "graph.node[0]: a node needs an op_type");
  onnx_model_begin(&w, 8, 17);
  onnx_node_begin(&w, "Op", "", "z");
  onnx_begin(&w, ONNX_NODE_ATTRIBUTE);
  onnx_int(&w, ONNX_ATTR_I, 3);
  onnx_int(&w, ONNX_ATTR_I, 3);
  onnx_end(&w);
  onnx_node_end(&w);
  onnx_model_end(&w);
  check_refused(&w, STOW_ERR_SYNTAX, "attribute[0]: an attribute needs a name");
  onnx_model_begin(&w, 8, 17);
  onnx_model_end(&w);
  onnx_begin(&w, ONNX_MODEL_FUNCTION);
  onnx_string(&w, 10, "domain");
  onnx_end(&w);
  check_refused(&w, STOW_ERR_SYNTAX, "functions[0]: a function needs a name");
}

TEST(ContradictoryTypesAreRefused) {
  onnx_writer w = {0};
  onnx_model_begin(&w, 8, 17);
  onnx_begin(&w, ONNX_GRAPH_INPUT);
  onnx_string(&w, 1, "x");
  onnx_begin(&w, 2);
  onnx_begin(&w, 4);
  onnx_end(&w);
  onnx_begin(&w, 9);
  onnx_end(&w);
  onnx_end(&w);
  onnx_end(&w);
  onnx_model_end(&w);
  check_refused(&w, STOW_ERR_SYNTAX,
                "graph.input[0].type.optional_type: more than one type is given");
  onnx_model_begin(&w, 8, 17);
  onnx_begin(&w, ONNX_GRAPH_INPUT);
  onnx_string(&w, 1, "x");
  onnx_begin(&w, 2);
  onnx_begin(&w, 1);
  onnx_begin(&w, 2);
  onnx_begin(&w, 1);
  onnx_int(&w, 1, 3);
  onnx_string(&w, 2, "N");
  for (int i = 0; i < 5; ++i) {
    onnx_end(&w);
  }
  onnx_model_end(&w);
  check_refused(&w, STOW_ERR_SYNTAX, "a dim has both a value and a name");
}

static stow_status open_once(stow_allocator allocator, void* user) {
  const onnx_writer* w = (const onnx_writer*)user;
  stow_model* model = NULL;
  stow_status status = stow_onnx_open_memory(w->data, w->size, ".", allocator, NULL, &model);
  stow_model_close(model);
  return status;
}

TEST(OpeningSurvivesEveryFailedAllocation) {
  onnx_writer w = {0};
  write_example(&w);
  CHECK(test_fault_sweep(open_once, &w) > 5);
  onnx_writer_free(&w);
}

TEST(MissingFilesAreNamed) {
  stow_diag_init(&diag);
  stow_model* model = NULL;
  CHECK(stow_onnx_open("no/such.onnx", stow_allocator_default(), &diag, &model) == STOW_ERR_IO);
  CHECK(model == NULL);
  CHECK_HAS(diag.message, "no/such.onnx: no such file");
  CHECK(stow_onnx_open("/", stow_allocator_default(), &diag, &model) == STOW_ERR_IO);
  CHECK_HAS(diag.message, "is a directory");
  CHECK(stow_onnx_open("/dev/null", stow_allocator_default(), &diag, &model) == STOW_ERR_IO);
  CHECK_HAS(diag.message, "is not a regular file");
}
