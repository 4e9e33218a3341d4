// Reading ONNX models and importing them as graphs. Part of libstowage-onnx.
//
// A model is opened (the file is mapped, its structure indexed, no weight touched), then imported
// as often as one likes, with different bindings. Graphs borrow names and weights from the model.
//
//     stow_onnx_open("model.onnx", allocator, &diag, &model);
//     stow_onnx_request_create(allocator, &diag, &request);
//     stow_onnx_request_bind(request, stow_str_of("batch"), 1, &diag);
//     stow_onnx_import_model(model, request, allocator, &diag, &import);
//     graph = stow_onnx_import_graph(import);  // NULL: see stow_onnx_import_issue
#ifndef STOWAGE_ONNX_H_
#define STOWAGE_ONNX_H_

#include <stowage/base.h>
#include <stowage/graph.h>
#include <stowage/type.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------
// Models

typedef struct stow_onnx_model stow_onnx_model;

// Maps the file, which must not be cut until the model is closed. External data is looked for in
// the file's folder and below only, and mapped when it is first needed. Errors name the file, the
// byte and the field.
STOW_API stow_status stow_onnx_open(const char* path, stow_allocator allocator, stow_diag* diag,
                                    stow_onnx_model** out_model);
// Borrows |data|. |folder| is where external data is looked for; NULL: nowhere.
STOW_API stow_status stow_onnx_open_memory(const void* data, size_t size, const char* folder,
                                           stow_allocator allocator, stow_diag* diag,
                                           stow_onnx_model** out_model);
STOW_API void stow_onnx_close(stow_onnx_model* model);

STOW_API stow_str stow_onnx_graph_name(const stow_onnx_model* model);
STOW_API stow_str stow_onnx_producer_name(const stow_onnx_model* model);
STOW_API stow_str stow_onnx_producer_version(const stow_onnx_model* model);
STOW_API int64_t stow_onnx_ir_version(const stow_onnx_model* model);
// Opsets that the model imports; the domain "" is ai.onnx.
STOW_API size_t stow_onnx_opset_count(const stow_onnx_model* model);
STOW_API stow_str stow_onnx_opset(const stow_onnx_model* model, size_t index, int64_t* out_version);
// Nodes of the graph and of all its subgraphs; functions are not counted.
STOW_API size_t stow_onnx_node_count(const stow_onnx_model* model);
// How often an op occurs among them: ops by count, then by name. |out_domain| may be NULL.
STOW_API size_t stow_onnx_op_kind_count(const stow_onnx_model* model);
STOW_API stow_str stow_onnx_op_kind(const stow_onnx_model* model, size_t index,
                                    stow_str* out_domain, size_t* out_count);
// Initializers of the graph and its subgraphs, tensors of Constant nodes too.
typedef struct stow_onnx_weights {
  size_t struct_size;
  uint64_t tensors;
  uint64_t elements;
  uint64_t bytes;           // as the element types need
  uint64_t external_bytes;  // of them, in other files
  uint64_t tensors_by_dtype[STOW_DTYPE_COUNT];
  uint64_t elements_by_dtype[STOW_DTYPE_COUNT];
  uint64_t bytes_by_dtype[STOW_DTYPE_COUNT];
} stow_onnx_weights;
// |out_weights->struct_size| is set by the caller.
STOW_API stow_status stow_onnx_count_weights(const stow_onnx_model* model, stow_diag* diag,
                                             stow_onnx_weights* out_weights);
// Inputs (initializers that are listed as inputs do not count) and outputs of the graph. The type
// is written as declared, `f32[batch, 3, 224, ?]`; `seq(f32[…])`, `optional(…)` and so on too.
STOW_API size_t stow_onnx_input_count(const stow_onnx_model* model);
STOW_API stow_str stow_onnx_input_name(const stow_onnx_model* model, size_t index);
STOW_API stow_status stow_onnx_print_input_type(const stow_onnx_model* model, size_t index,
                                                stow_writer writer);
STOW_API size_t stow_onnx_output_count(const stow_onnx_model* model);
STOW_API stow_str stow_onnx_output_name(const stow_onnx_model* model, size_t index);
STOW_API stow_status stow_onnx_print_output_type(const stow_onnx_model* model, size_t index,
                                                 stow_writer writer);

// ---------------------------------------------------------------------------------------------
// What is asked of an import. Names are copied.

typedef struct stow_onnx_request stow_onnx_request;

STOW_API stow_status stow_onnx_request_create(stow_allocator allocator, stow_diag* diag,
                                              stow_onnx_request** out_request);
STOW_API void stow_onnx_request_destroy(stow_onnx_request* request);

// A symbol's value. A dim of an input without a name in the file is called INPUT.AXIS, one that
// depends on data TENSOR.AXIS. A dim that the file names as an expression of other inputs' dims,
// such as `past + seq`, follows from them; the import refuses another number.
STOW_API stow_status stow_onnx_request_bind(stow_onnx_request* request, stow_str symbol,
                                            int64_t value, stow_diag* diag);
// Symbols of inputs that are not bound become |value|. Symbols of data-dependent dims do not.
STOW_API stow_status stow_onnx_request_bind_rest(stow_onnx_request* request, int64_t value,
                                                 stow_diag* diag);
// The value of an input (or of an initializer, which it replaces). Integers are converted to the
// input's dtype; one number fills the whole input.
STOW_API stow_status stow_onnx_request_value(stow_onnx_request* request, stow_str input,
                                             const int64_t* numbers, size_t count, stow_diag* diag);
// The same from a serialised TensorProto, whose type must fit the input's.
STOW_API stow_status stow_onnx_request_value_tensor(stow_onnx_request* request, stow_str input,
                                                    const void* data, size_t size, stow_diag* diag);
// The same from raw little-endian bytes of |type|, whose dims are numbers.
STOW_API stow_status stow_onnx_request_value_bytes(stow_onnx_request* request, stow_str input,
                                                   const stow_type* type, const void* bytes,
                                                   size_t size, stow_diag* diag);
// The largest dims of a tensor whose shape depends on data, or that a custom op makes.
STOW_API stow_status stow_onnx_request_shape(stow_onnx_request* request, stow_str tensor,
                                             const int64_t* dims, size_t rank, stow_diag* diag);
// Keeps every node of the model: no constant takes the place of what is known, nothing is dropped.
STOW_API void stow_onnx_request_keep_all(stow_onnx_request* request, bool keep_all);

// ---------------------------------------------------------------------------------------------
// Imports

typedef struct stow_onnx_import stow_onnx_import;

typedef enum stow_onnx_issue_kind {
  STOW_ONNX_UNSUPPORTED,     // an op that no core op expresses, or an unsupported use of one
  STOW_ONNX_CUSTOM,          // imported as `custom`, with the types that the file declares
  STOW_ONNX_NEEDS_SHAPE,     // a tensor whose type depends on data: stow_onnx_request_shape helps
  STOW_ONNX_BOUNDED,         // a tensor whose dims are upper bounds
  STOW_ONNX_DECLARED_OTHER,  // the file declares another type than is inferred
  STOW_ONNX_SKIPPED,         // a node that reads what could not be imported
  STOW_ONNX_BRANCH,          // an If of which only one branch fits the shapes, which is taken
  STOW_ONNX_NO_DATA,         // external data that cannot be read; told once for each file
  // An If without a result, as its condition is unknown and its branches make different types.
  // |tensor| is an input whose value decides (one issue each): stow_onnx_request_value helps;
  // empty: dims without a value do, or computed data.
  STOW_ONNX_NEEDS_VALUE,
  STOW_ONNX_CONDITION  // an If whose condition is unknown; a value for input |tensor| decides it
} stow_onnx_issue_kind;

typedef struct stow_onnx_issue {
  stow_onnx_issue_kind kind;
  stow_str domain;  // "" for ai.onnx
  stow_str op;      // `Conv`; empty where the issue has no node
  stow_str node;    // the node's name, or its first output's
  stow_str tensor;  // the tensor concerned, or empty
  stow_str reason;
} stow_onnx_issue;

// STOW_OK also where something is not supported: then there are issues, and perhaps no graph. A
// malformed model and types that contradict each other are errors. STOW_ERR_NOT_FOUND: the request
// names what is not there; STOW_ERR_CONFLICT: it contradicts the model, or itself. The model must
// outlive the import. Weights in other files need not be there: their types are enough.
STOW_API stow_status stow_onnx_import_model(stow_onnx_model* model,
                                            const stow_onnx_request* request,
                                            stow_allocator allocator, stow_diag* diag,
                                            stow_onnx_import** out_import);
STOW_API void stow_onnx_import_destroy(stow_onnx_import* import);
// NULL where an output could not be imported: issues of the kinds UNSUPPORTED, NEEDS_SHAPE and
// NEEDS_VALUE say why. Dims that depend on data are symbols as long as nothing binds them
// (NEEDS_SHAPE too). Dies with the import.
STOW_API stow_graph* stow_onnx_import_graph(const stow_onnx_import* import);
// Symbols of inputs' dims that have no value, in the order of the inputs: what
// stow_onnx_request_bind takes. Issues may vanish once all have one, so ask for these first.
STOW_API size_t stow_onnx_import_symbol_count(const stow_onnx_import* import);
STOW_API stow_str stow_onnx_import_symbol(const stow_onnx_import* import, size_t index);
STOW_API size_t stow_onnx_import_issue_count(const stow_onnx_import* import);
STOW_API stow_onnx_issue stow_onnx_import_issue(const stow_onnx_import* import, size_t index);

// ---------------------------------------------------------------------------------------------
// Tensors in files of their own: a serialised TensorProto, as the `input_0.pb` of test data.

typedef struct stow_onnx_tensor stow_onnx_tensor;

// Borrows |data| until the tensor is closed. STOW_ERR_SYNTAX, naming byte and field, where it is no
// tensor or has fewer or more bytes than its dims need; STOW_ERR_UNSUPPORTED for strings, and for
// data in another file; STOW_ERR_LIMIT above STOW_MAX_RANK dims.
STOW_API stow_status stow_onnx_tensor_open(const void* data, size_t size, stow_allocator allocator,
                                           stow_diag* diag, stow_onnx_tensor** out_tensor);
STOW_API void stow_onnx_tensor_close(stow_onnx_tensor* tensor);
STOW_API stow_str stow_onnx_tensor_name(const stow_onnx_tensor* tensor);  // may be empty
// Its dims are numbers.
STOW_API const stow_type* stow_onnx_tensor_type(const stow_onnx_tensor* tensor);
// Little-endian elements, the last dim fastest, sub-byte ones packed; need not be aligned.
STOW_API const void* stow_onnx_tensor_data(const stow_onnx_tensor* tensor, size_t* out_size);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_ONNX_H_
