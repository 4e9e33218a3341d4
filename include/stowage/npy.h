// Arrays in numpy's files, `.npy` and `.npz`. A library of its own, libstowage-npy: it needs zlib.
//
// A file is opened as bytes that the caller has read or mapped, and that must stay until it is
// closed. Opening reads the headers only. Elements are copied or decompressed when they are asked
// for, into memory that the caller provides: check |size| first, because an archive of kilobytes
// can hold gigabytes. Files are untrusted input: no byte outside of them is read, and errors give
// the position. An open file is not changed by reading it, so threads may load from it at the same
// time.
//
// Writing is the inverse: tensors as stow_exec_value (exec.h) returns them become a `.npy`, or
// several of them a `.npz`. The same tensors give the same bytes, and nothing is compressed.
//
//     #include <stdio.h>
//     #include <stdlib.h>
//     #include <stowage/npy.h>
//
//     // Prints the size of each array of a `.npz` and its first byte.
//     stow_status list_arrays(const void* bytes, size_t size, stow_diag* diag) {
//       stow_npy* file = NULL;
//       stow_status status =
//           stow_npy_open(STOW_NPY_ARCHIVE, bytes, size, stow_allocator_default(), diag, &file);
//       for (size_t i = 0; status == STOW_OK && i < stow_npy_count(file); ++i) {
//         stow_npy_array array = {.struct_size = sizeof(array)};
//         stow_npy_describe(file, i, &array);
//         unsigned char* data = calloc(1, (size_t)array.size + 1);
//         status = data == NULL ? STOW_ERR_OUT_OF_MEMORY : stow_npy_load(file, i, data, diag);
//         if (status == STOW_OK)
//           printf("%.*s: %llu bytes, the first is %d\n", (int)array.name.size, array.name.data,
//                  (unsigned long long)array.size, data[0]);
//         free(data);
//       }
//       stow_npy_close(file);
//       return status;
//     }
#ifndef STOWAGE_NPY_H_
#define STOWAGE_NPY_H_

#include <stowage/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct stow_npy stow_npy;

typedef enum stow_npy_format {
  STOW_NPY_SINGLE = 0,   // `.npy`, versions 1 to 3
  STOW_NPY_ARCHIVE = 1,  // `.npz`: a zip archive of `.npy` files, stored or deflated; also Zip64
} stow_npy_format;

typedef struct stow_npy_array {
  size_t struct_size;
  stow_str name;   // of the entry, without `.npy`; not NUL-terminated; empty in a `.npy`
  stow_type type;  // dims are numbers
  uint64_t size;   // of the elements, in bytes
} stow_npy_array;

// Borrows |bytes| until the file is closed. STOW_ERR_SYNTAX, with the position in the message, if
// they are not such a file, are truncated, or have an unsupported type. O(headers).
STOW_API stow_status stow_npy_open(stow_npy_format format, const void* bytes, size_t size,
                                   stow_allocator allocator, stow_diag* diag, stow_npy** out_file);
STOW_API void stow_npy_close(stow_npy* file);
// The number of arrays: 1 in a `.npy`.
STOW_API size_t stow_npy_count(const stow_npy* file);
// Fills |out_array|; its name is borrowed from the file. STOW_ERR_NOT_FOUND past the end.
STOW_API stow_status stow_npy_describe(const stow_npy* file, size_t index,
                                       stow_npy_array* out_array);
// Writes all elements of array |index| to |to|, which has room for stow_npy_array.size bytes, as a
// tensor has them: little-endian, the last dim fastest. STOW_ERR_SYNTAX if compressed data is
// damaged; the contents of |to| are then undefined.
STOW_API stow_status stow_npy_load(const stow_npy* file, size_t index, void* to, stow_diag* diag);

// For reading from a pipe: the smallest size in bytes that a `.npy` starting with these |size|
// bytes can have. At most |size| if it is complete, or is not a `.npy`.
STOW_API uint64_t stow_npy_needed(const void* bytes, size_t size);

// Whether numpy has this type. It lacks bf16, the f8 types and those below a byte.
STOW_API bool stow_npy_has_dtype(stow_dtype dtype);
// Writes |tensor| as a `.npy` of version 1. STOW_ERR_UNSUPPORTED if numpy lacks its type; the
// status of a failed write.
STOW_API stow_status stow_npy_write(const stow_tensor* tensor, stow_writer writer, stow_diag* diag);
// Writes |count| tensors as a `.npz`; names[i] is the name of tensors[i]. Errors as above, and
// STOW_ERR_LIMIT above 4 GiB.
STOW_API stow_status stow_npz_write(const stow_tensor* const* tensors, const stow_str* names,
                                    size_t count, stow_allocator allocator, stow_writer writer,
                                    stow_diag* diag);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_NPY_H_
