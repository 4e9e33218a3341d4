// The structure of an ONNX file, indexed without copying: every string and every payload points
// into the mapped file. Arrays of records live in the model's pool. See onnx.proto of the ONNX
// project.
#ifndef STOWAGE_SRC_ONNX_READER_PROTO_H_
#define STOWAGE_SRC_ONNX_READER_PROTO_H_

#include <stowage/onnx.h>

#include "base/alloc.h"
#include "import/api.h"

// Bytes of the file.
typedef struct stowi_onnx_span {
  const uint8_t* data;
  size_t size;
} stowi_onnx_span;

// Numbers are ONNX's TensorProto.DataType.
typedef enum stowi_onnx_elem {
  STOWI_ONNX_ELEM_UNDEFINED = 0,
  STOWI_ONNX_ELEM_STRING = 8,
  STOWI_ONNX_ELEM_LAST = 26  // UINT2 25, INT2 26
} stowi_onnx_elem;
// False for strings, undefined and what is newer than we know.
bool stowi_onnx_elem_dtype(int32_t elem, stow_dtype* out_dtype);

typedef struct stowi_onnx_tensor {
  stow_str name;
  int32_t elem;
  size_t rank;
  const int64_t* dims;  // checked: 0 or more each; the product of all and the bytes fit in 63 bits
  uint64_t elements;
  // Where the data is; at most one of these.
  bool is_raw;            // raw: little-endian bytes
  bool is_external;       // location, offset, length (UINT64_MAX: to the file's end)
  stowi_onnx_span raw;    // for raw
  stowi_onnx_span typed;  // payload of the one packed run of float_data, int32_data …
  bool has_length;        // the file gives the length of external data
  bool is_scattered;      // typed data in several runs: |message| must be walked
  uint32_t typed_field;   // field number of the typed data: 4 float, 5 int32, 6 string, 7 int64,
                          // 10 double, 11 uint64; 0 where there is none
  stow_str location;
  uint64_t offset, length;
  bool is_away;             // the data is in the source; |raw|, |typed| and |message| lack it
  stowi_onnx_span message;  // the whole TensorProto
} stowi_onnx_tensor;

typedef enum stowi_onnx_info_kind {
  STOWI_ONNX_INFO_NONE,  // no type given
  STOWI_ONNX_INFO_TENSOR,
  STOWI_ONNX_INFO_SPARSE,
  STOWI_ONNX_INFO_SEQUENCE,
  STOWI_ONNX_INFO_MAP,
  STOWI_ONNX_INFO_OPTIONAL,
  STOWI_ONNX_INFO_OTHER
} stowi_onnx_info_kind;

typedef struct stowi_onnx_value_info {
  stow_str name;
  stowi_onnx_info_kind kind;
  int32_t elem;    // of a tensor; of the tensors in a sequence or optional
  bool has_shape;  // false: the rank is unknown
  size_t rank;
  const stowi_import_dim* dims;
  stowi_onnx_span type;  // the whole TypeProto
} stowi_onnx_value_info;

typedef struct stowi_onnx_graph stowi_onnx_graph;

// Numbers are ONNX's AttributeProto.AttributeType.
typedef enum stowi_onnx_attr_type {
  STOWI_ONNX_ATTR_UNDEFINED = 0,
  STOWI_ONNX_ATTR_FLOAT = 1,
  STOWI_ONNX_ATTR_INT = 2,
  STOWI_ONNX_ATTR_STRING = 3,
  STOWI_ONNX_ATTR_TENSOR = 4,
  STOWI_ONNX_ATTR_GRAPH = 5,
  STOWI_ONNX_ATTR_FLOATS = 6,
  STOWI_ONNX_ATTR_INTS = 7,
  STOWI_ONNX_ATTR_STRINGS = 8,
  STOWI_ONNX_ATTR_TENSORS = 9,
  STOWI_ONNX_ATTR_GRAPHS = 10,
  STOWI_ONNX_ATTR_SPARSE_TENSOR = 11,
  STOWI_ONNX_ATTR_SPARSE_TENSORS = 12,
  STOWI_ONNX_ATTR_TYPE_PROTO = 13,
  STOWI_ONNX_ATTR_TYPE_PROTOS = 14
} stowi_onnx_attr_type;

typedef struct stowi_onnx_sparse {
  stowi_onnx_tensor values, indices;
  size_t rank;
  const int64_t* dims;
} stowi_onnx_sparse;

typedef struct stowi_onnx_attr {
  stow_str name;
  stow_str ref;               // name of the function's attribute that it stands for; empty: none
  stowi_onnx_attr_type type;  // deduced from the field where an old file does not say
  int64_t i;
  float f;
  stow_str s;
  size_t count;  // of the lists
  const int64_t* ints;
  const float* floats;
  const stow_str* strings;
  const stowi_onnx_tensor* tensor;
  const stowi_onnx_graph* graph;
  const stowi_onnx_sparse* sparse;
} stowi_onnx_attr;

typedef struct stowi_onnx_node {
  stow_str name, op, domain, overload;  // the domain "ai.onnx" is given as ""
  size_t input_count, output_count, attr_count;
  const stow_str* inputs;  // empty: absent
  const stow_str* outputs;
  const stowi_onnx_attr* attrs;
} stowi_onnx_node;

struct stowi_onnx_graph {
  stow_str name;
  size_t node_count, initializer_count, sparse_count, input_count, output_count, info_count;
  const stowi_onnx_node* nodes;
  const stowi_onnx_tensor* initializers;
  const stowi_onnx_sparse* sparse_initializers;  // named by values.name
  const stowi_onnx_value_info* inputs;
  const stowi_onnx_value_info* outputs;
  const stowi_onnx_value_info* infos;
};

typedef struct stowi_onnx_function {
  stow_str name, domain, overload;
  size_t input_count, output_count, attr_count, default_count, node_count, opset_count;
  const stow_str* inputs;
  const stow_str* outputs;
  const stow_str* attrs;            // names of attributes without a default
  const stowi_onnx_attr* defaults;  // attributes with one
  const stowi_onnx_node* nodes;
  const stowi_import_opset* opsets;
} stowi_onnx_function;

// What a model holds beside the mapping.
typedef struct stowi_onnx_proto {
  int64_t ir_version;
  stow_str producer_name, producer_version, domain;
  int64_t model_version;
  size_t opset_count, function_count;
  const stowi_import_opset* opsets;
  const stowi_onnx_function* functions;
  stowi_onnx_graph graph;
} stowi_onnx_proto;

typedef struct stowi_onnx_model stowi_onnx_model;

// |model| is one of ONNX.
const stowi_onnx_proto* stowi_onnx_proto_of(const stow_model* model);

// The bytes of |tensor| as its dtype lays them out (sub-byte types packed, low bits first, as ONNX
// does). Where the file holds them so (raw, external, packed floats and doubles), |*out_bytes|
// points into the mapping and nothing is read; otherwise they are decoded into a block of
// |allocator|, which the caller frees with stowi_free(allocator, bytes, size, 1) where |is_owned|.
// They are little-endian and need not be aligned. STOW_ERR_SYNTAX where there are fewer or more
// bytes than the dims need, STOW_ERR_IO where another file cannot be read, STOW_ERR_UNSUPPORTED for
// strings and unknown element types. |model| may be NULL for a tensor that has no model.
typedef struct stowi_onnx_bytes {
  const void* bytes;
  size_t size;
  bool is_owned;
  stow_str source;  // empty: not in a file in this form
  uint64_t at;
} stowi_onnx_bytes;
// Whether the bytes are in the model's source, and there as they are needed: fills all but |bytes|.
bool stowi_onnx_place_of(stowi_onnx_model* model, const stowi_onnx_tensor* tensor,
                         stowi_onnx_bytes* out_bytes);
stow_status stowi_onnx_tensor_bytes(stow_model* model, const stowi_onnx_tensor* tensor,
                                    stow_allocator allocator, stow_diag* diag,
                                    stowi_onnx_bytes* out_bytes);

// A TensorProto of its own (an input_0.pb). |pool| keeps its arrays. See tensor.c.
typedef struct stowi_onnx_pool stowi_onnx_pool;
stow_status stowi_onnx_pool_create(stow_allocator allocator, stow_diag* diag,
                                   stowi_onnx_pool** out_pool);
void stowi_onnx_pool_destroy(stowi_onnx_pool* pool);
stow_status stowi_onnx_read_tensor(stowi_onnx_pool* pool, stowi_onnx_span message, stow_diag* diag,
                                   stowi_onnx_tensor* out_tensor);

#endif  // STOWAGE_SRC_ONNX_READER_PROTO_H_
