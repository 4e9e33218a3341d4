// Builds ONNX models in memory for tests, right ones and wrong ones: a writer of the wire format,
// and shorthands for what models are made of. Knows nothing of the reader. Ends the program where
// there is no memory.
//
//     onnx_writer w = {0};
//     onnx_model_begin(&w, 8, 17);
//     onnx_value(&w, ONNX_GRAPH_INPUT, "x", ONNX_FLOAT, "N 3 ? 224");
//     onnx_node(&w, "Relu", "x", "y");
//     onnx_value(&w, ONNX_GRAPH_OUTPUT, "y", ONNX_FLOAT, "N 3 ? 224");
//     onnx_model_end(&w);
//     stow_onnx_open_memory(w.data, w.size, …);
//     onnx_writer_free(&w);
#ifndef STOWAGE_TESTS_ONNX_ONNX_WRITER_H_
#define STOWAGE_TESTS_ONNX_ONNX_WRITER_H_

#include <stddef.h>
#include <stdint.h>

typedef struct onnx_writer {
  uint8_t* data;
  size_t size, capacity;
  size_t* open;  // where the payloads of open messages start
  size_t open_count, open_capacity;
} onnx_writer;

void onnx_writer_free(onnx_writer* w);

// Field numbers of onnx.proto.
enum {
  ONNX_MODEL_IR_VERSION = 1,
  ONNX_MODEL_PRODUCER_NAME = 2,
  ONNX_MODEL_PRODUCER_VERSION = 3,
  ONNX_MODEL_GRAPH = 7,
  ONNX_MODEL_OPSET = 8,
  ONNX_MODEL_FUNCTION = 25,
  ONNX_GRAPH_NODE = 1,
  ONNX_GRAPH_NAME = 2,
  ONNX_GRAPH_INITIALIZER = 5,
  ONNX_GRAPH_INPUT = 11,
  ONNX_GRAPH_OUTPUT = 12,
  ONNX_GRAPH_VALUE_INFO = 13,
  ONNX_GRAPH_SPARSE = 15,
  ONNX_NODE_INPUT = 1,
  ONNX_NODE_OUTPUT = 2,
  ONNX_NODE_NAME = 3,
  ONNX_NODE_OP = 4,
  ONNX_NODE_ATTRIBUTE = 5,
  ONNX_NODE_DOMAIN = 7,
  ONNX_ATTR_NAME = 1,
  ONNX_ATTR_F = 2,
  ONNX_ATTR_I = 3,
  ONNX_ATTR_S = 4,
  ONNX_ATTR_T = 5,
  ONNX_ATTR_G = 6,
  ONNX_ATTR_FLOATS = 7,
  ONNX_ATTR_INTS = 8,
  ONNX_ATTR_STRINGS = 9,
  ONNX_ATTR_TENSORS = 10,
  ONNX_ATTR_GRAPHS = 11,
  ONNX_ATTR_TYPE = 20,
  ONNX_ATTR_REF = 21,
  ONNX_ATTR_SPARSE = 22,
  ONNX_TENSOR_DIMS = 1,
  ONNX_TENSOR_DATA_TYPE = 2,
  ONNX_TENSOR_FLOAT_DATA = 4,
  ONNX_TENSOR_INT32_DATA = 5,
  ONNX_TENSOR_STRING_DATA = 6,
  ONNX_TENSOR_INT64_DATA = 7,
  ONNX_TENSOR_NAME = 8,
  ONNX_TENSOR_RAW = 9,
  ONNX_TENSOR_DOUBLE_DATA = 10,
  ONNX_TENSOR_UINT64_DATA = 11,
  ONNX_TENSOR_EXTERNAL = 13,
  ONNX_TENSOR_LOCATION = 14,
  ONNX_VALUE_NAME = 1,
  ONNX_VALUE_TYPE = 2
};

// Element types.
enum {
  ONNX_FLOAT = 1,
  ONNX_UINT8 = 2,
  ONNX_INT8 = 3,
  ONNX_INT32 = 6,
  ONNX_INT64 = 7,
  ONNX_STRING = 8,
  ONNX_BOOL = 9,
  ONNX_FLOAT16 = 10,
  ONNX_DOUBLE = 11,
  ONNX_UINT32 = 12,
  ONNX_UINT64 = 13,
  ONNX_COMPLEX64 = 14,
  ONNX_BFLOAT16 = 16,
  ONNX_UINT4 = 21,
  ONNX_INT4 = 22
};

// ---------------------------------------------------------------------------------------------
// The wire format

void onnx_put(onnx_writer* w, const void* bytes, size_t size);
void onnx_put_varint(onnx_writer* w, uint64_t number);
void onnx_put_tag(onnx_writer* w, uint32_t field, uint32_t type);
void onnx_int(onnx_writer* w, uint32_t field, int64_t number);
void onnx_float(onnx_writer* w, uint32_t field, float number);
void onnx_double(onnx_writer* w, uint32_t field, double number);
void onnx_bytes(onnx_writer* w, uint32_t field, const void* bytes, size_t size);
void onnx_string(onnx_writer* w, uint32_t field, const char* text);
void onnx_packed_ints(onnx_writer* w, uint32_t field, const int64_t* numbers, size_t count);
// A message within; its length is put in at the end.
void onnx_begin(onnx_writer* w, uint32_t field);
void onnx_end(onnx_writer* w);

// ---------------------------------------------------------------------------------------------
// Models

// IR version, opset of ai.onnx, and an open graph "g". Functions and further opsets: after
// onnx_model_end.
void onnx_model_begin(onnx_writer* w, int64_t ir_version, int64_t opset);
void onnx_model_end(onnx_writer* w);
void onnx_opset(onnx_writer* w, const char* domain, int64_t version);

// |names|: separated by spaces; `-` is the empty name.
void onnx_node(onnx_writer* w, const char* op, const char* inputs, const char* outputs);
// Attributes come between.
void onnx_node_begin(onnx_writer* w, const char* op, const char* inputs, const char* outputs);
void onnx_node_end(onnx_writer* w);

void onnx_attr_begin(onnx_writer* w, const char* name, int type);
void onnx_attr_end(onnx_writer* w);
void onnx_attr_int(onnx_writer* w, const char* name, int64_t number);
void onnx_attr_float(onnx_writer* w, const char* name, float number);
void onnx_attr_string(onnx_writer* w, const char* name, const char* text);
void onnx_attr_ints(onnx_writer* w, const char* name, const int64_t* numbers, size_t count);

// |dims|: numbers and names separated by spaces, `?` for an unknown one, `??` for one that is
// called
// `?`; "" a scalar; NULL no shape.
void onnx_value(onnx_writer* w, uint32_t field, const char* name, int32_t elem, const char* dims);
void onnx_tensor_type(onnx_writer* w, uint32_t field, int32_t elem, const char* dims);

// Name, element type and dims; data comes between.
void onnx_tensor_begin(onnx_writer* w, uint32_t field, const char* name, int32_t elem,
                       const int64_t* dims, size_t rank);
void onnx_tensor_end(onnx_writer* w);
void onnx_tensor_raw(onnx_writer* w, uint32_t field, const char* name, int32_t elem,
                     const int64_t* dims, size_t rank, const void* bytes, size_t size);
// One entry of external_data.
void onnx_external(onnx_writer* w, const char* key, const char* value);

#endif  // STOWAGE_TESTS_ONNX_ONNX_WRITER_H_
