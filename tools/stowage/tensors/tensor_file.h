// Files of tensors, told apart by their names: `.npy`, `.npz`, `.pb` (an ONNX TensorProto); any
// other holds raw bytes, whose type somebody else knows.
#ifndef STOWAGE_TOOLS_TENSORS_TENSOR_FILE_H_
#define STOWAGE_TOOLS_TENSORS_TENSOR_FILE_H_

#include "fail.h"
#include "tensors/array.h"

typedef enum cli_tensor_format {
  CLI_TENSOR_NPY,
  CLI_TENSOR_NPZ,
  CLI_TENSOR_PB,
  CLI_TENSOR_RAW
} cli_tensor_format;

cli_tensor_format cli_tensor_format_of(const char* path);

// Arrays out of the bytes of a file, appended to |arrays|. Of a `.npy` the name is empty, of a
// `.pb` the tensor's own, of a `.npz` those of its entries. False, with the reason in |why|.
bool cli_arrays_decode(cli_tensor_format format, const void* bytes, size_t size, cli_list* arrays,
                       char why[CLI_WHY_SIZE]);
// The same out of a file, which is not raw. Complains.
cli_exit cli_arrays_read(const char* path, cli_list* arrays);
// Raw bytes for |type|, whose dims are numbers. Complains where there are more or fewer.
cli_exit cli_array_read_raw(const char* path, stow_str name, const stow_type* type,
                            cli_array* out_array);
// All `.npy` and `.pb` files of a folder, by name: an array is called as its file is, without the
// ending. Complains, also where there are none.
cli_exit cli_arrays_read_folder(const char* path, cli_list* arrays);

// One array, as the path's name says; |path| is replaced as a whole. Complains.
cli_exit cli_array_write(const char* path, const cli_array* array);
// All of them as a `.npz`, or, where |path| is no such name, as `.npy` files in a folder, which is
// made where it is missing. Complains.
cli_exit cli_arrays_write(const char* path, const cli_array* arrays, size_t count);

#endif  // STOWAGE_TOOLS_TENSORS_TENSOR_FILE_H_
