// ONNX files: opening models and reading tensors. Part of libstowage-onnx.
//
// Opening a model indexes its structure and reads no weights, so a file of gigabytes opens in
// milliseconds. <stowage/import.h>, which this header includes, does the rest: describing the model
// and importing it as a graph. docs/onnx.md is the guide.
//
// There are three ways to open a model. A file is mapped, and weights in other files are found next
// to it. Memory is borrowed. A source is read through a callback, on platforms without files. In
// each case names and weights are borrowed from the model: close it last.
//
// Models are untrusted input: no byte outside of them is read, recursion and memory are bounded by
// their size, and external data is only looked for in the model's directory and below. Errors give
// the file, the byte and the field.
//
//     #include <stdio.h>
//     #include <stowage/onnx.h>
//
//     static stow_status read_at(void* user, uint64_t offset, void* bytes, size_t count) {
//       FILE* file = user;
//       return fseek(file, (long)offset, SEEK_SET) == 0 && fread(bytes, 1, count, file) == count
//                  ? STOW_OK
//                  : STOW_ERR_IO;
//     }
//
//     // Opens the |size| bytes of |file| as a model; |file| must stay open until it is closed.
//     stow_status open_stream(FILE* file, uint64_t size, stow_diag* diag, stow_model** out_model) {
//       stow_source source = {size, read_at, file};
//       return stow_onnx_open_source(&source, "model.onnx", stow_allocator_default(), diag,
//                                    out_model);
//     }
#ifndef STOWAGE_ONNX_H_
#define STOWAGE_ONNX_H_

#include <stowage/import.h>

#ifdef __cplusplus
extern "C" {
#endif

// Maps the file, which must not be truncated until the model is closed. Files with external data
// are mapped when they are first needed. STOW_ERR_IO if it cannot be read, STOW_ERR_SYNTAX if it is
// not an ONNX model or is incomplete. Close the result with stow_model_close, as with the others.
// Where the system cannot map files it reads |path| as stow_onnx_open_source does, and has no
// external data.
STOW_API stow_status stow_onnx_open(const char* path, stow_allocator allocator, stow_diag* diag,
                                    stow_model** out_model);
// Borrows |size| bytes of |data| until the model is closed. External data is looked for in the
// directory |folder|; NULL: nowhere. Errors as stow_onnx_open.
STOW_API stow_status stow_onnx_open_memory(const void* data, size_t size, const char* folder,
                                           stow_allocator allocator, stow_diag* diag,
                                           stow_model** out_model);
// Reads the structure, without the data of tensors, and keeps it: memory is O(structure). Weights
// are read by imports (STOW_IMPORT_READ_WEIGHTS); external data is not looked for. |source| is
// copied; what its |user| points to must outlive the model. |name| is the name of the source in
// messages and in the graph; NULL: none. Errors as stow_onnx_open; if a read fails, its status,
// with the requested bytes in the message.
STOW_API stow_status stow_onnx_open_source(const stow_source* source, const char* name,
                                           stow_allocator allocator, stow_diag* diag,
                                           stow_model** out_model);

// ---------------------------------------------------------------------------------------------
// Tensors in files of their own: a serialised TensorProto, such as `input_0.pb` of test data.

typedef struct stow_onnx_tensor {
  size_t struct_size;
  stow_str name;     // may be empty; borrowed, as |data|
  stow_type type;    // its dims are numbers
  const void* data;  // little-endian elements, the last dim fastest, those below a byte packed; not
                     // necessarily aligned
  size_t size;       // of |data|, in bytes
  void* memory;      // for stow_onnx_tensor_close
} stow_onnx_tensor;

// Fills |out_tensor|, whose |struct_size| the caller sets, and borrows |data| until it is closed.
// STOW_ERR_SYNTAX, with byte and field, if it is not a tensor or its size does not match its dims;
// STOW_ERR_UNSUPPORTED for strings and for data in another file; STOW_ERR_LIMIT above STOW_MAX_RANK
// dims.
STOW_API stow_status stow_onnx_tensor_open(const void* data, size_t size, stow_allocator allocator,
                                           stow_diag* diag, stow_onnx_tensor* out_tensor);
// Frees what |tensor| owns. Allowed for one that failed to open or is all zero.
STOW_API void stow_onnx_tensor_close(stow_onnx_tensor* tensor);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_ONNX_H_
