// Arrays in numpy's file format.
#ifndef STOWAGE_TOOLS_NPY_H_
#define STOWAGE_TOOLS_NPY_H_

#include <stowage/type.h>

// An array whose bytes are |data|, in the order of C and little-endian.
typedef struct cli_npy {
  stow_type type;
  const void* data;
  size_t size;
} cli_npy;

// NULL, or what is wrong. |out_array| points into |bytes|.
const char* cli_npy_read(const void* bytes, size_t size, cli_npy* out_array);

#endif  // STOWAGE_TOOLS_NPY_H_
