// Models of other programs, and importing them as graphs. Part of libstowage-onnx.
//
// A model is a file of another program: nodes, weights, declared inputs and outputs. A provider
// (<stowage/onnx.h> is the only one) opens it and returns a stow_model; everything after that is
// the same for all formats. A model can be described without importing it, and imported any number
// of times with different requests; each import makes a graph of its own.
//
//     #include <stdio.h>
//     #include <stowage/import.h>
//     #include <stowage/onnx.h>
//
//     // Imports the model at |path| with all dims of inputs 1, and prints what is missing.
//     stow_status try_import(const char* path, stow_diag* diag) {
//       stow_allocator heap = stow_allocator_default();
//       stow_model* model = NULL;
//       stow_import_request* request = NULL;
//       stow_import* import = NULL;
//       stow_status status = stow_onnx_open(path, heap, diag, &model);
//       if (status == STOW_OK) status = stow_import_request_create(heap, diag, &request);
//       if (status == STOW_OK) status = stow_import_request_bind_rest(request, 1, diag);
//       if (status == STOW_OK) status = stow_import_model(model, request, heap, diag, &import);
//       for (size_t i = 0; status == STOW_OK && i < stow_import_issue_count(import); ++i)
//         puts(stow_import_issue_at(import, i)->reason.data);
//       if (status == STOW_OK && stow_import_graph(import) != NULL) puts("ready to plan");
//       stow_import_destroy(import);  // destroys the graph too
//       stow_import_request_destroy(request);
//       stow_model_close(model);
//       return status;
//     }
//
// An import does not stop at the first node that it cannot express. It collects issues, so that one
// call reports everything that is missing: unsupported ops, inputs whose dims or values are needed,
// data-dependent shapes. If an output cannot be imported there is no graph; put what the issues ask
// for into the request of the next import.
//
// Lifetimes: graphs borrow names and weights from the model, so close it last. The graph is owned
// by its import. A request copies its arguments and can be used for any number of imports and
// models. Imports of one model need a lock, because files with weights are opened when they are
// first needed.
//
// The caller sets |struct_size| of a struct that a call fills; STOW_ERR_INVALID_ARGUMENT if it is
// out of range. Strings are borrowed from the model or import.
#ifndef STOWAGE_IMPORT_H_
#define STOWAGE_IMPORT_H_

#include <stowage/base.h>
#include <stowage/graph.h>
#include <stowage/type.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------
// Sources: access to a model that is neither in memory nor in a file that can be mapped, for
// example in a browser.

typedef struct stow_source {
  uint64_t size;  // of the model, in bytes
  // Writes the |count| bytes from |offset| on to |bytes|. If it cannot write all of them it returns
  // a status other than STOW_OK, which becomes that of the call that reads. The range is always
  // within |size|.
  stow_status (*read)(void* user, uint64_t offset, void* bytes, size_t count);
  void* user;
} stow_source;

// ---------------------------------------------------------------------------------------------
// Models

typedef struct stow_model stow_model;

// NULL is allowed. Destroy imports of the model first.
STOW_API void stow_model_close(stow_model* model);
// Tells that |size| bytes of a weight are not needed soon, because they were copied: of a file that
// is mapped, whole pages are given back to the system, which reads them again if need be. Of other
// bytes, and where |data| is not the model's, nothing happens.
STOW_API void stow_model_give_back(const stow_model* model, const void* data, size_t size);

typedef struct stow_model_info {
  size_t struct_size;
  stow_str format;         // "ONNX"
  int64_t format_version;  // ONNX: the IR version
  stow_str name;           // of the graph; this and the next two may be empty
  stow_str producer;
  stow_str producer_version;
  size_t node_count;     // of the graph and all its subgraphs, without functions
  size_t op_kind_count;  // different ops among them: stow_model_op_kind
  size_t opset_count;    // stow_model_opset
  size_t input_count;    // without weights that are also listed as inputs
  size_t output_count;
} stow_model_info;
STOW_API stow_status stow_model_describe(const stow_model* model, stow_model_info* out_info);

// An opset that the model imports: returns its domain ("" for the format's own), |out_version| is
// its version. |index| must be below the count.
STOW_API stow_str stow_model_opset(const stow_model* model, size_t index, int64_t* out_version);
// An op: returns its name, |out_count| is how often it occurs. Most frequent first, then by name.
// |index| must be below the count. |out_domain| may be NULL.
STOW_API stow_str stow_model_op_kind(const stow_model* model, size_t index, stow_str* out_domain,
                                     size_t* out_count);

// Totals of the weights, including constants among the nodes.
typedef struct stow_model_weights {
  size_t struct_size;
  uint64_t tensors;
  uint64_t elements;
  uint64_t bytes;           // by their element types
  uint64_t external_bytes;  // of |bytes|, those in other files
} stow_model_weights;
// Counts the weights of dtype |only|; NULL: all, including those of types without a dtype, such as
// strings. STOW_ERR_OVERFLOW if a total does not fit in 64 bits. O(weights).
STOW_API stow_status stow_model_count_weights(const stow_model* model, const stow_dtype* only,
                                              stow_diag* diag, stow_model_weights* out_weights);

typedef enum stow_model_side { STOW_MODEL_INPUTS, STOW_MODEL_OUTPUTS } stow_model_side;
typedef struct stow_model_port {
  size_t struct_size;
  stow_str name;
  bool is_tensor;    // has a dtype; false: strings, sequences, maps, or no declared type
  stow_dtype dtype;  // if |is_tensor|
  bool has_rank;     // false: no declared shape, or more than STOW_MAX_RANK dims
  uint32_t rank;     // if |has_rank|
} stow_model_port;
// Input or output |index| as the file declares it. STOW_ERR_NOT_FOUND past the end.
STOW_API stow_status stow_model_describe_port(const stow_model* model, stow_model_side side,
                                              size_t index, stow_model_port* out_port);
// Writes the declared type: `f32[batch, 3, 224, ?]`, `seq(f32[...])`, `optional(…)`. Errors as
// above, and the status of a failed write.
STOW_API stow_status stow_model_print_type(const stow_model* model, stow_model_side side,
                                           size_t index, stow_writer writer);

// ---------------------------------------------------------------------------------------------
// Requests: the settings of an import. Names and values are copied. STOW_ERR_DUPLICATE if the same
// one is set twice; whether a name exists is checked by the import.

typedef struct stow_import_request stow_import_request;

// An empty request. Free it with stow_import_request_destroy.
STOW_API stow_status stow_import_request_create(stow_allocator allocator, stow_diag* diag,
                                                stow_import_request** out_request);
STOW_API void stow_import_request_destroy(stow_import_request* request);

// Gives a symbol a value. A dim of an input that is unnamed in the file, or named `?`, is called
// INPUT.AXIS, a data-dependent dim TENSOR.AXIS; `?` is every unnamed dim without another value. A
// dim whose name is an expression of other inputs' dims, such as `past + seq`, is computed from
// them; the import fails if another number is given.
STOW_API stow_status stow_import_request_bind(stow_import_request* request, stow_str symbol,
                                              int64_t value, stow_diag* diag);
// Gives a symbol of an input a range of values (type.h): the graph holds for all of them, and its
// dims are expressions of the symbol. A range of one value is a binding. STOW_ERR_INVALID_ARGUMENT
// if it is not a range. The import fails (STOW_ERR_CONFLICT) if the dim depends on data or its name
// is an expression.
STOW_API stow_status stow_import_request_bind_range(stow_import_request* request, stow_str symbol,
                                                    const stow_dim_range* range, stow_diag* diag);
// Gives all other symbols of inputs this value; data-dependent dims remain unbound.
STOW_API stow_status stow_import_request_bind_rest(stow_import_request* request, int64_t value,
                                                   stow_diag* diag);
// Sets the elements of an input, or replaces those of a weight. The |count| numbers are converted
// to its dtype; a single number fills all elements.
STOW_API stow_status stow_import_request_value(stow_import_request* request, stow_str input,
                                               const int64_t* numbers, size_t count,
                                               stow_diag* diag);
// The same with |size| bytes of little-endian elements of |type|, whose dims are numbers.
STOW_API stow_status stow_import_request_value_bytes(stow_import_request* request, stow_str input,
                                                     const stow_type* type, const void* bytes,
                                                     size_t size, stow_diag* diag);
// Sets the largest possible dims of a tensor with a data-dependent shape, or of the result of a
// custom op.
STOW_API stow_status stow_import_request_shape(stow_import_request* request, stow_str tensor,
                                               const int64_t* dims, size_t rank, stow_diag* diag);

typedef enum stow_import_flags {
  // Keeps every node of the model: no node is replaced by a constant or dropped.
  STOW_IMPORT_KEEP_ALL = 1,
  // Reads all weights of a model that was opened through a source into the import, so that its
  // graph can be run. Without it only weights of at most 64 KiB are read, because shapes may depend
  // on them. The others have a type and, if the source has a name, a position in it: the attributes
  // `source`, `at` and `bytes` of their nodes. Not needed for models in memory and in mapped files,
  // whose graphs point to the bytes. Either way the plans are the same; to run one, weights must be
  // read, or given (stow_exec_options.weight).
  STOW_IMPORT_READ_WEIGHTS = 2,
  // Ignores bindings, values and shapes for names that the model does not have, so that one request
  // serves several models. Without it they are STOW_ERR_NOT_FOUND.
  STOW_IMPORT_ALLOW_UNKNOWN = 4
} stow_import_flags;
// Replaces the flags, stow_import_flags joined by |. A new request has 0.
STOW_API void stow_import_request_set_flags(stow_import_request* request, uint32_t flags);

// ---------------------------------------------------------------------------------------------
// Imports

typedef struct stow_import stow_import;

// Imports |model|, which must outlive the import. |request| may be NULL: no settings. If something
// is unsupported the result is STOW_OK: there are issues, and possibly no graph. A malformed model
// and contradictory types are errors. STOW_ERR_NOT_FOUND if the request has a name that is unknown
// to the model, STOW_ERR_CONFLICT if it contradicts the model or itself. Files with weights may be
// missing; their types are enough. Free the result with stow_import_destroy.
STOW_API stow_status stow_import_model(stow_model* model, const stow_import_request* request,
                                       stow_allocator allocator, stow_diag* diag,
                                       stow_import** out_import);
// Destroys the graph too.
STOW_API void stow_import_destroy(stow_import* import);
// Owned by the import. NULL if an output could not be imported: issues of the kinds UNSUPPORTED,
// NEEDS_SHAPE and NEEDS_VALUE give the reasons. Data-dependent dims are symbols until they are
// bound (also NEEDS_SHAPE).
STOW_API stow_graph* stow_import_graph(stow_import* import);
// The unbound symbols of inputs, in the order of the inputs, for stow_import_request_bind. Owned by
// the import; NULL if there are none. Binding them may resolve other issues, so ask for these
// first.
STOW_API const stow_str* stow_import_symbols(const stow_import* import, size_t* out_count);

typedef enum stow_import_issue_kind {
  STOW_IMPORT_UNSUPPORTED,     // an unsupported op, or an unsupported use of an op
  STOW_IMPORT_CUSTOM,          // imported as `custom`, with the types that the file declares
  STOW_IMPORT_NEEDS_SHAPE,     // a tensor with a data-dependent type: stow_import_request_shape
  STOW_IMPORT_BOUNDED,         // an upper-bounded tensor
  STOW_IMPORT_DECLARED_OTHER,  // the declared type differs from the inferred one
  STOW_IMPORT_SKIPPED,         // a node that reads a tensor that could not be imported
  STOW_IMPORT_BRANCH,          // a conditional of which only one branch fits; that one is taken
  STOW_IMPORT_NO_DATA,         // weights that cannot be read; one issue for each file
  // A conditional without a result: its condition is unknown and its branches have different types.
  // |tensor| is an input whose elements decide (one issue each): stow_import_request_value. Empty:
  // the condition depends on unbound dims or computed data.
  STOW_IMPORT_NEEDS_VALUE,
  STOW_IMPORT_CONDITION  // an unknown condition that elements of the input |tensor| would decide
} stow_import_issue_kind;

// Fields may be added at the end. Strings are owned by the import.
typedef struct stow_import_issue {
  stow_import_issue_kind kind;
  stow_str domain;  // of the op; "" for the format's own
  stow_str op;      // `Conv`; empty if the issue has no node
  stow_str node;    // the node's name, or that of its first output
  stow_str tensor;  // the tensor concerned, or empty
  stow_str reason;
} stow_import_issue;

STOW_API size_t stow_import_issue_count(const stow_import* import);
// Owned by the import. NULL past the end.
STOW_API const stow_import_issue* stow_import_issue_at(const stow_import* import, size_t index);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_IMPORT_H_
