// Headers of `.npy` files.
#ifndef STOWAGE_SRC_NPY_HEADER_H_
#define STOWAGE_SRC_NPY_HEADER_H_

#include <stdarg.h>
#include <stowage/npy.h>

// `byte 12: …`
void stowi_npy_fail(stow_diag* diag, size_t at, const char* format, va_list arguments);

// What a header says.
typedef struct stowi_npy_header {
  stow_type type;      // dims are numbers
  bool is_fortran;     // the first dim is the fastest
  bool is_big_endian;  // of elements that have an order of bytes
  size_t start;        // where the elements begin
  uint64_t size;       // bytes of them
} stowi_npy_header;

// A file's header has at most this many bytes, and its first STOWI_NPY_START_SIZE tell how many.
#define STOWI_NPY_MOST_HEADER (12 + 65535)
#define STOWI_NPY_START_SIZE 12

// Where the elements begin in a file of which |size| bytes are known. False, with the reason in
// |diag|, where it is no such file or the header is too large.
bool stowi_npy_find_start(const void* bytes, size_t size, stow_diag* diag, size_t* out_start);
// Reads the header of a file of which |size| bytes are known. False where it is none, is cut off,
// or is not exactly what the format allows.
bool stowi_npy_parse(const void* bytes, size_t size, stow_diag* diag, stowi_npy_header* out_array);
// Whether a file of |size| bytes has as many elements as its header says, neither more nor fewer.
bool stowi_npy_check_size(const stowi_npy_header* array, uint64_t size, stow_diag* diag);
// Whether elements are in the file as they are in memory: little-endian, the last dim fastest.
bool stowi_npy_is_plain(const stowi_npy_header* array);
// Writes the elements as they are in memory to |to|; both have |array->size| bytes.
void stowi_npy_copy(const stowi_npy_header* array, const void* elements, void* to);

// The header of version 1 that stands before the elements of |tensor|, the same bytes every time.
// False where the format has no such type.
#define STOWI_NPY_HEADER_SIZE 512
bool stowi_npy_format_header(const stow_tensor* tensor, char out[STOWI_NPY_HEADER_SIZE],
                             size_t* out_size);

#endif  // STOWAGE_SRC_NPY_HEADER_H_
