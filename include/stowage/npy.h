// Arrays in numpy's files, `.npy` and `.npz`. A library of its own, libstowage-npy: it needs zlib.
//
// A file is opened as bytes that the caller has read or mapped. Opening lists what there is from
// headers alone; elements are copied, or unpacked, when they are asked for: an archive of kilobytes
// can hold gigabytes. What is written is the same bytes every time, and is not packed.
//
//     stow_npy* file;
//     stow_status status = stow_npy_open(STOW_NPY_ARCHIVE, bytes, size, allocator, &diag, &file);
//     for (size_t i = 0; status == STOW_OK && i < stow_npy_count(file); ++i) {
//       stow_npy_array array = {.struct_size = sizeof array};
//       stow_npy_describe(file, i, &array);
//       void* data = …;  // of array.size bytes
//       status = stow_npy_load(file, i, data, &diag);
//     }
//     stow_npy_close(file);
#ifndef STOWAGE_NPY_H_
#define STOWAGE_NPY_H_

#include <stowage/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct stow_npy stow_npy;

typedef enum stow_npy_format {
  STOW_NPY_SINGLE = 0,   // `.npy`, versions 1 to 3
  STOW_NPY_ARCHIVE = 1,  // `.npz`: a zip archive of them, stored or deflated; Zip64 is read
} stow_npy_format;

typedef struct stow_npy_array {
  size_t struct_size;  // sizeof(stow_npy_array), set by the caller
  stow_str name;   // empty in a `.npy`; of an entry without its ending `.npy`; not NUL-terminated
  stow_type type;  // dims are numbers
  uint64_t size;   // bytes of its elements
} stow_npy_array;

// |bytes| are borrowed until the file is closed. STOW_ERR_SYNTAX where they are no such file, are
// cut off, or have a type that no tensor has, with the place in the message. O(headers).
STOW_API stow_status stow_npy_open(stow_npy_format format, const void* bytes, size_t size,
                                   stow_allocator allocator, stow_diag* diag, stow_npy** out_file);
STOW_API void stow_npy_close(stow_npy* file);
STOW_API size_t stow_npy_count(const stow_npy* file);
// STOW_ERR_NOT_FOUND past the end.
STOW_API stow_status stow_npy_describe(const stow_npy* file, size_t index,
                                       stow_npy_array* out_array);
// Copies the elements to |to|, as a tensor has them: little-endian, the last dim fastest.
// STOW_ERR_SYNTAX where what is packed is damaged; |to| has any bytes then.
STOW_API stow_status stow_npy_load(const stow_npy* file, size_t index, void* to, stow_diag* diag);

// For pipes: how many bytes a `.npy` has at least, as far as the first |size| of them tell. No more
// than |size| where that is all, or they are not a `.npy`.
STOW_API uint64_t stow_npy_needed(const void* bytes, size_t size);

// Whether numpy has such a type: bf16, f8 and those below a byte have no name there.
STOW_API bool stow_npy_has_dtype(stow_dtype dtype);
// Writes |tensor| as a `.npy` of version 1. STOW_ERR_UNSUPPORTED where numpy has no such type.
STOW_API stow_status stow_npy_write(const stow_tensor* tensor, stow_writer writer, stow_diag* diag);
// Writes |count| tensors as a `.npz`, by |names|. STOW_ERR_LIMIT above 4 GiB.
STOW_API stow_status stow_npz_write(const stow_tensor* const* tensors, const stow_str* names,
                                    size_t count, stow_allocator allocator, stow_writer writer,
                                    stow_diag* diag);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_NPY_H_
