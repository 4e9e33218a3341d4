// Files of tensors, told apart by their names: `.npy`, `.npz`, `.pb` (an ONNX TensorProto); any
// other holds raw bytes, whose type somebody else knows.
#ifndef STOWAGE_TOOLS_TENSORS_TENSOR_FILE_H_
#define STOWAGE_TOOLS_TENSORS_TENSOR_FILE_H_

#include <stowage/npy.h>
#include <stowage/onnx.h>

#include "files/file.h"
#include "tensors/array.h"
#include "terminal/fail.h"

typedef enum cli_tensor_format {
  CLI_TENSOR_NPY,
  CLI_TENSOR_NPZ,
  CLI_TENSOR_PB,
  CLI_TENSOR_RAW
} cli_tensor_format;

cli_tensor_format cli_tensor_format_of(const char* path);

// A tensor in a file: its type, and where its elements are. They stay there until it is known that
// somebody needs that type.
typedef struct cli_stored {
  stow_string name;     // empty in a `.npy`, its own in a `.pb`, that of its entry in a `.npz`
  stow_type type;       // dims are numbers
  const stow_npy* npy;  // whose array |index| it is; NULL: a `.pb`
  size_t index;
  const void* data;  // of a `.pb`
  size_t size;
} cli_stored;

typedef struct cli_stored_list {
  cli_list stored;  // of cli_stored
  stow_npy* npy;
  stow_onnx_tensor onnx;
} cli_stored_list;

// What is in a file of |size| bytes, which are borrowed. A failure leaves the reason in |diag|:
// STOW_ERR_OUT_OF_MEMORY, or STOW_ERR_SYNTAX and the like where the file is wrong. End with
// cli_stored_free, whatever it returned.
stow_status cli_stored_open(cli_tensor_format format, const void* bytes, size_t size,
                            cli_stored_list* out_list, stow_diag* diag);
void cli_stored_free(cli_stored_list* list);
// Puts the elements into an array of their own.
stow_status cli_stored_load(const cli_stored* stored, cli_array* out_array, stow_diag* diag);
// Opens and loads all.
stow_status cli_arrays_decode(cli_tensor_format format, const void* bytes, size_t size,
                              cli_list* arrays, stow_diag* diag);

// A file of tensors that is open.
typedef struct cli_tensor_file {
  cli_file file;
  cli_stored_list tensors;
} cli_tensor_file;

// Opens a file that is not raw. Complains. End with cli_tensor_file_close, whatever it returned.
cli_exit cli_tensor_file_open(cli_tensor_file* file, const char* path);
void cli_tensor_file_close(cli_tensor_file* file);
// cli_stored_load for one of its tensors, appended to |arrays|. Complains.
cli_exit cli_tensor_file_load(const char* path, const cli_stored* stored, cli_list* arrays);
// Opens a file, loads all, and closes it. Complains.
cli_exit cli_arrays_read(const char* path, cli_list* arrays);
// Raw bytes for |type|, whose dims are numbers. Complains where there are more or fewer.
cli_exit cli_array_read_raw(const char* path, stow_str name, const stow_type* type,
                            cli_array* out_array);
// The names of all `.npy` and `.pb` files of a folder, of char* that the caller frees, in order.
// Complains, also where there are none.
cli_exit cli_tensor_folder_list(const char* path, cli_list* names);

// One array, as the path's name says; |path| is replaced as a whole. Complains.
cli_exit cli_array_write(const char* path, const cli_array* array);
// All of them as a `.npz`, or, where |path| is no such name, as `.npy` files in a folder, which is
// made where it is missing. Complains.
cli_exit cli_arrays_write(const char* path, const cli_array* arrays, size_t count);

#endif  // STOWAGE_TOOLS_TENSORS_TENSOR_FILE_H_
