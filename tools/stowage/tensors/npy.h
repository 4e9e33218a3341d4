// Arrays in numpy's file format, `.npy`, versions 1 to 3.
#ifndef STOWAGE_TOOLS_TENSORS_NPY_H_
#define STOWAGE_TOOLS_TENSORS_NPY_H_

#include "tensors/array.h"

// An array as a file has it.
typedef struct cli_npy {
  stow_type type;      // dims are numbers
  bool is_fortran;     // the first dim is the fastest
  bool is_big_endian;  // of elements that have an order of bytes
  const void* data;    // points into the file
  size_t size;
} cli_npy;

// Reads the header. False, with the reason in |why|, where it is none, is not understood, or is
// followed by more or fewer bytes than it needs.
bool cli_npy_open(const void* bytes, size_t size, cli_npy* out_array, char why[CLI_WHY_SIZE]);
// Writes the elements to |to|, which has room for |array->size| bytes: little-endian, the last dim
// fastest.
void cli_npy_copy(const cli_npy* array, void* to);

// The header of version 1 that stands before the elements of |tensor|, the same bytes every time.
// False where the format has no such type.
#define CLI_NPY_HEADER_SIZE 512
bool cli_npy_header(const stow_tensor* tensor, char out[CLI_NPY_HEADER_SIZE], size_t* out_size);

#endif  // STOWAGE_TOOLS_TENSORS_NPY_H_
