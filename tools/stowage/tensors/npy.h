// Arrays in numpy's file format, `.npy`, versions 1 to 3.
#ifndef STOWAGE_TOOLS_TENSORS_NPY_H_
#define STOWAGE_TOOLS_TENSORS_NPY_H_

#include "tensors/array.h"

// What a header says.
typedef struct cli_npy {
  stow_type type;      // dims are numbers
  bool is_fortran;     // the first dim is the fastest
  bool is_big_endian;  // of elements that have an order of bytes
  size_t start;        // where the elements begin
  uint64_t size;       // bytes of them
} cli_npy;

// A file's header has at most this many bytes, and its first CLI_NPY_START_SIZE tell how many.
#define CLI_NPY_MOST_HEADER (12 + 65535)
#define CLI_NPY_START_SIZE 12

// Where the elements begin in a file of which |size| bytes are known. False, with the reason in
// |why|, where it is no such file or the header is too large.
bool cli_npy_find_start(const void* bytes, size_t size, size_t* out_start, char why[CLI_WHY_SIZE]);
// Reads the header of a file of which |size| bytes are known. False where it is none, is cut off,
// or is not exactly what the format allows.
bool cli_npy_open(const void* bytes, size_t size, cli_npy* out_array, char why[CLI_WHY_SIZE]);
// Whether a file of |size| bytes has as many elements as its header says, neither more nor fewer.
bool cli_npy_check_size(const cli_npy* array, uint64_t size, char why[CLI_WHY_SIZE]);
// Whether elements are in the file as they are in memory: little-endian, the last dim fastest.
bool cli_npy_is_plain(const cli_npy* array);
// Writes the elements as they are in memory to |to|; both have |array->size| bytes.
void cli_npy_copy(const cli_npy* array, const void* elements, void* to);

// The header of version 1 that stands before the elements of |tensor|, the same bytes every time.
// False where the format has no such type.
#define CLI_NPY_HEADER_SIZE 512
bool cli_npy_header(const stow_tensor* tensor, char out[CLI_NPY_HEADER_SIZE], size_t* out_size);

#endif  // STOWAGE_TOOLS_TENSORS_NPY_H_
