// ONNX files: opening models, reading tensors. Part of libstowage-onnx.
//
// Opening a model indexes its structure and touches no weight, so that a file of gigabytes opens in
// milliseconds. What follows is the business of <stowage/import.h>, which this header includes:
// describing the model, and importing it as a graph.
//
// There are three ways in. A path is mapped, and finds weights in other files beside it; memory is
// borrowed; a source is read piece by piece, for platforms that have no files:
//
//     static stow_status read_blob(void* user, uint64_t offset, void* bytes, size_t count) {
//       return blob_read(user, offset, bytes, count) ? STOW_OK : STOW_ERR_IO;
//     }
//     stow_source source = {blob_size(blob), read_blob, blob};
//     status = stow_onnx_open_source(&source, "model.onnx", heap, &diag, &model);
//
// Models are strangers' files: no byte is read outside of them, recursion and memory are bounded by
// their size, and external data is looked for in the model's folder and below only. Errors name the
// file, the byte and the field.
#ifndef STOWAGE_ONNX_H_
#define STOWAGE_ONNX_H_

#include <stowage/import.h>

#ifdef __cplusplus
extern "C" {
#endif

// Maps the file, which must not be truncated until the model is closed. Files with external data
// are mapped when they are first needed.
STOW_API stow_status stow_onnx_open(const char* path, stow_allocator allocator, stow_diag* diag,
                                    stow_model** out_model);
// Borrows |data| until the model is closed. |folder| is where external data is looked for; NULL:
// nowhere.
STOW_API stow_status stow_onnx_open_memory(const void* data, size_t size, const char* folder,
                                           stow_allocator allocator, stow_diag* diag,
                                           stow_model** out_model);
// Reads the structure now, skipping the data of tensors, and keeps it: memory is O(structure).
// Weights are read by imports (STOW_IMPORT_READ_WEIGHTS); external data is not looked for. |source|
// is copied, what its |user| points to must outlive the model. |name| stands for the source in
// messages and in the graph; NULL: none. The status of a read that fails is returned, with a
// message that tells which bytes were asked for.
STOW_API stow_status stow_onnx_open_source(const stow_source* source, const char* name,
                                           stow_allocator allocator, stow_diag* diag,
                                           stow_model** out_model);

// ---------------------------------------------------------------------------------------------
// Tensors in files of their own: a serialised TensorProto, as the `input_0.pb` of test data.

typedef struct stow_onnx_tensor {
  size_t struct_size;
  stow_str name;     // may be empty
  stow_type type;    // its dims are numbers
  const void* data;  // little-endian elements, the last dim fastest, sub-byte ones packed; need not
                     // be aligned
  size_t size;       // of |data|, in bytes
  void* memory;      // what stow_onnx_tensor_close frees
} stow_onnx_tensor;

// Fills |out_tensor|, whose |struct_size| the caller sets, and borrows |data| until it is closed.
// STOW_ERR_SYNTAX, naming byte and field, where it is not a tensor or has fewer or more bytes than
// its dims need; STOW_ERR_UNSUPPORTED for strings, and for data in another file; STOW_ERR_LIMIT
// above STOW_MAX_RANK dims.
STOW_API stow_status stow_onnx_tensor_open(const void* data, size_t size, stow_allocator allocator,
                                           stow_diag* diag, stow_onnx_tensor* out_tensor);
// Frees what an open tensor holds; fine for one that failed to open, or that is all zero.
STOW_API void stow_onnx_tensor_close(stow_onnx_tensor* tensor);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_ONNX_H_
