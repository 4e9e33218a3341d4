// Files as bytes.
#ifndef STOWAGE_SRC_ONNX_READER_MAP_H_
#define STOWAGE_SRC_ONNX_READER_MAP_H_

#include "import/api.h"
#include "onnx/reader/proto.h"

// Maps the regular file |path| for reading. An empty file gives no bytes. STOW_ERR_IO says why it
// cannot be read, after |path|. Some systems and file systems have no mappings: there |*out_source|
// reads the open file by parts and |*out_span| is empty; elsewhere its |read| is NULL.
stow_status stowi_onnx_map(const char* path, stow_diag* diag, stowi_onnx_span* out_span,
                           stow_source* out_source);
void stowi_onnx_unmap(stowi_onnx_span span);
// Closes the file of a source that stowi_onnx_map made; any other is left alone.
void stowi_onnx_map_close(const stow_source* source);
// Whether reads come here and there, as those of an index do: then the pages around them are not
// fetched from the disk. By default they are.
void stowi_onnx_map_expect_jumps(stowi_onnx_span span, bool is_jumping);

// Lets the system have the pages that lie wholly in |part|, if that is of |span|.
void stowi_onnx_map_give_back(stowi_onnx_span span, stowi_onnx_span part);

// Maps |location| in |folder|. STOW_ERR_INVALID_ARGUMENT where it is absolute, goes up, or leads
// out of the folder through a link. What is mapped is what was checked.
stow_status stowi_onnx_map_within(const char* folder, stow_str location, stow_diag* diag,
                                  stowi_onnx_span* out_span);

#endif  // STOWAGE_SRC_ONNX_READER_MAP_H_
