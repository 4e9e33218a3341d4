// Models of other programs, and importing them as graphs. Part of libstowage-onnx.
//
// A model is a file of another program: its nodes, its weights, the inputs it declares. A provider
// opens it (<stowage/onnx.h> is the one there is) and hands out a stow_model; from then on nothing
// depends on the format. The model can be described as it stands, and imported as often as one
// likes with different requests: each import makes a graph of its own.
//
//     #include <stowage/onnx.h>
//
//     stow_model* model = NULL;
//     stow_import_request* request = NULL;
//     stow_import* import = NULL;
//     stow_status status = stow_onnx_open("model.onnx", heap, &diag, &model);
//     if (status == STOW_OK) status = stow_import_request_create(heap, &diag, &request);
//     if (status == STOW_OK)
//       status = stow_import_request_bind(request, stow_str_of("batch"), 1, &diag);
//     if (status == STOW_OK) status = stow_import_model(model, request, heap, &diag, &import);
//     stow_graph* graph = status == STOW_OK ? stow_import_graph(import) : NULL;
//     …
//     stow_import_destroy(import);  // the graph with it
//     stow_import_request_destroy(request);
//     stow_model_close(model);
//
// An import does not stop at the first node that it cannot express. It collects issues, so that one
// call shows everything that is missing: unsupported ops, inputs whose dims or values are needed,
// shapes that depend on data. Where an output cannot be made there is no graph; what the issues ask
// for goes into the request of the next import.
//
// Lifetimes: graphs borrow names and weights from the model, so close it last; the graph belongs to
// its import; a request copies all it is given and serves any number of imports and models. All
// objects are thread-compatible; imports of one model need a lock, since files with weights are
// opened when they are first needed.
//
// Structs that are filled start with |struct_size|, which the caller sets to their sizeof; a size
// that no version has is STOW_ERR_INVALID_ARGUMENT. Strings are borrowed from the model or import.
#ifndef STOWAGE_IMPORT_H_
#define STOWAGE_IMPORT_H_

#include <stowage/base.h>
#include <stowage/graph.h>
#include <stowage/type.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------
// Sources: where a model's bytes come from when they are neither in memory nor in a file that can
// be mapped, as in a browser.

typedef struct stow_source {
  uint64_t size;  // bytes in all
  // Writes |count| bytes from |offset| on to |bytes|: all of them, else it returns another status
  // than STOW_OK, which the call that needs them passes on. Only asked for what is within |size|.
  stow_status (*read)(void* user, uint64_t offset, void* bytes, size_t count);
  void* user;
} stow_source;

// ---------------------------------------------------------------------------------------------
// Models

typedef struct stow_model stow_model;

// NULL is fine.
STOW_API void stow_model_close(stow_model* model);

typedef struct stow_model_info {
  size_t struct_size;
  stow_str format;         // "ONNX"
  int64_t format_version;  // ONNX: the IR version
  stow_str name;           // of the graph; these three may be empty
  stow_str producer;
  stow_str producer_version;
  size_t node_count;     // of the graph and all its subgraphs; functions are not counted
  size_t op_kind_count;  // different ops among them: stow_model_op_kind
  size_t opset_count;    // stow_model_opset
  size_t input_count;    // weights that are listed as inputs, too, do not count
  size_t output_count;
} stow_model_info;
STOW_API stow_status stow_model_describe(const stow_model* model, stow_model_info* out_info);

// An opset that the model imports: its domain ("" for the format's own) and version.
STOW_API stow_str stow_model_opset(const stow_model* model, size_t index, int64_t* out_version);
// An op and how often it occurs; most frequent first, then by name. |out_domain| may be NULL.
STOW_API stow_str stow_model_op_kind(const stow_model* model, size_t index, stow_str* out_domain,
                                     size_t* out_count);

// Weights, constants among the nodes included.
typedef struct stow_model_weights {
  size_t struct_size;
  uint64_t tensors;
  uint64_t elements;
  uint64_t bytes;           // as the element types need
  uint64_t external_bytes;  // of them, in other files
} stow_model_weights;
// Counts those of the dtype |only|; NULL: all, those of types that are no dtype (strings) too.
// O(weights). STOW_ERR_OVERFLOW where the bytes of all do not fit in 64 bits.
STOW_API stow_status stow_model_count_weights(const stow_model* model, const stow_dtype* only,
                                              stow_diag* diag, stow_model_weights* out_weights);

typedef enum stow_model_side { STOW_MODEL_INPUTS, STOW_MODEL_OUTPUTS } stow_model_side;
typedef struct stow_model_port {
  size_t struct_size;
  stow_str name;
  bool is_tensor;    // of a dtype; false: strings, sequences, maps, or no type is declared
  stow_dtype dtype;  // where |is_tensor|
  bool has_rank;     // false: no shape is declared, or one of more than STOW_MAX_RANK dims
  uint32_t rank;     // where |has_rank|
} stow_model_port;
// Input or output |index| as the file declares it. STOW_ERR_NOT_FOUND past the end.
STOW_API stow_status stow_model_describe_port(const stow_model* model, stow_model_side side,
                                              size_t index, stow_model_port* out_port);
// Writes its type as declared: `f32[batch, 3, 224, ?]`, `seq(f32[...])`, `optional(…)`.
STOW_API stow_status stow_model_print_type(const stow_model* model, stow_model_side side,
                                           size_t index, stow_writer writer);

// ---------------------------------------------------------------------------------------------
// What is asked of an import. Names and values are copied; what was given once cannot be given
// again (STOW_ERR_DUPLICATE).

typedef struct stow_import_request stow_import_request;

STOW_API stow_status stow_import_request_create(stow_allocator allocator, stow_diag* diag,
                                                stow_import_request** out_request);
STOW_API void stow_import_request_destroy(stow_import_request* request);

// Gives a symbol a value. A dim of an input that has no name in the file is called INPUT.AXIS, one
// that depends on data TENSOR.AXIS. A dim whose name is an expression of other inputs' dims, such
// as `past + seq`, follows from them; another number is an error of the import.
STOW_API stow_status stow_import_request_bind(stow_import_request* request, stow_str symbol,
                                              int64_t value, stow_diag* diag);
// The value of all inputs' symbols that are not bound; dims that depend on data stay open.
STOW_API stow_status stow_import_request_bind_rest(stow_import_request* request, int64_t value,
                                                   stow_diag* diag);
// The value of an input, or of a weight, which it replaces. Integers are converted to the input's
// dtype; one number fills the whole input.
STOW_API stow_status stow_import_request_value(stow_import_request* request, stow_str input,
                                               const int64_t* numbers, size_t count,
                                               stow_diag* diag);
// The same from raw little-endian bytes of |type|, whose dims are numbers.
STOW_API stow_status stow_import_request_value_bytes(stow_import_request* request, stow_str input,
                                                     const stow_type* type, const void* bytes,
                                                     size_t size, stow_diag* diag);
// The largest dims of a tensor whose shape depends on data, or that a custom op makes.
STOW_API stow_status stow_import_request_shape(stow_import_request* request, stow_str tensor,
                                               const int64_t* dims, size_t rank, stow_diag* diag);

typedef enum stow_import_flags {
  // Keeps every node of the model: nothing is folded into constants, nothing is dropped.
  STOW_IMPORT_KEEP_ALL = 1,
  // Reads all weights of a model that was opened through a source into the import, so that its
  // graph can be run. Without it, only those of at most 64 KiB are read, on which shapes may
  // depend; the others have a type, and where the source has a name a place in it, as attributes
  // `source`, `at` and `bytes` of their nodes. Models in memory and in mapped files need none of
  // this: their graphs point to their bytes.
  STOW_IMPORT_READ_WEIGHTS = 2
} stow_import_flags;
// |flags| are stow_import_flags joined by |, and replace those set before. 0 in a new request.
STOW_API void stow_import_request_set_flags(stow_import_request* request, uint32_t flags);

// ---------------------------------------------------------------------------------------------
// Imports

typedef struct stow_import stow_import;

// |request| NULL asks for nothing. STOW_OK also where something is unsupported: then there are
// issues, and perhaps no graph. A malformed model and types that contradict each other are errors.
// STOW_ERR_NOT_FOUND: the request names something that the model lacks; STOW_ERR_CONFLICT: it
// contradicts the model, or itself. The model must outlive the import. Weights in other files may
// be missing: their types are enough.
STOW_API stow_status stow_import_model(stow_model* model, const stow_import_request* request,
                                       stow_allocator allocator, stow_diag* diag,
                                       stow_import** out_import);
STOW_API void stow_import_destroy(stow_import* import);
// NULL where an output could not be imported: issues of the kinds UNSUPPORTED, NEEDS_SHAPE and
// NEEDS_VALUE say why. Dims that depend on data are symbols as long as nothing binds them
// (NEEDS_SHAPE too). Destroyed with the import.
STOW_API stow_graph* stow_import_graph(stow_import* import);
// Symbols of inputs' dims that have no value, in the order of the inputs: what
// stow_import_request_bind takes. Other issues may vanish once all are bound, so ask for these
// first. NULL where there are none.
STOW_API const stow_str* stow_import_symbols(const stow_import* import, size_t* out_count);

typedef enum stow_import_issue_kind {
  STOW_IMPORT_UNSUPPORTED,     // an op that no core op expresses, or an unsupported use of one
  STOW_IMPORT_CUSTOM,          // imported as `custom`, with the types that the file declares
  STOW_IMPORT_NEEDS_SHAPE,     // a tensor whose type depends on data: stow_import_request_shape
  STOW_IMPORT_BOUNDED,         // a tensor whose dims are upper bounds
  STOW_IMPORT_DECLARED_OTHER,  // the file declares another type than is inferred
  STOW_IMPORT_SKIPPED,         // a node that reads what could not be imported
  STOW_IMPORT_BRANCH,          // a conditional of which only one branch fits, which is taken
  STOW_IMPORT_NO_DATA,         // weights that cannot be read; one issue for each file
  // A conditional without a result: its condition is unknown and its branches make different types.
  // |tensor| is an input whose value decides (one issue each): see stow_import_request_value;
  // empty: the condition depends on unbound dims or computed data.
  STOW_IMPORT_NEEDS_VALUE,
  STOW_IMPORT_CONDITION  // an unknown condition that a value for input |tensor| would decide
} stow_import_issue_kind;

// The import's own: fields may be added at the end.
typedef struct stow_import_issue {
  stow_import_issue_kind kind;
  stow_str domain;  // of the op; "" for the format's own
  stow_str op;      // `Conv`; empty where the issue has no node
  stow_str node;    // the node's name, or its first output's
  stow_str tensor;  // the tensor concerned, or empty
  stow_str reason;
} stow_import_issue;

STOW_API size_t stow_import_issue_count(const stow_import* import);
// NULL past the end. Lives as long as the import.
STOW_API const stow_import_issue* stow_import_issue_at(const stow_import* import, size_t index);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_IMPORT_H_
