// Models that are read through a source: their structure in memory, the data of tensors left out.
#ifndef STOWAGE_SRC_ONNX_READER_SOURCE_H_
#define STOWAGE_SRC_ONNX_READER_SOURCE_H_

#include "onnx/reader/proto.h"

// Bytes of the source that the image lacks.
typedef struct stowi_onnx_hole {
  size_t at;        // in the image: the byte that follows them
  uint64_t offset;  // in the source
  uint64_t size;
} stowi_onnx_hole;

// The source without the payloads of large fields; lengths are those of what is left, so that it
// reads as a file of its own.
typedef struct stowi_onnx_image {
  STOWI_VEC(uint8_t) bytes;
  STOWI_VEC(stowi_onnx_hole) holes;  // in order
  uint64_t size;                     // of the source
  uint64_t cut;                      // bytes that were not looked at because the file is malformed
} stowi_onnx_image;

// |name| stands for the source in messages; may be empty. On failure the image holds nothing.
stow_status stowi_onnx_image_read(const stow_source* source, stow_str name,
                                  stow_allocator allocator, stow_diag* diag,
                                  stowi_onnx_image* out_image);
void stowi_onnx_image_free(stowi_onnx_image* image, stow_allocator allocator);

// Where in the source the byte at |at| of the image is.
uint64_t stowi_onnx_image_offset(const stowi_onnx_image* image, size_t at);
// The payload that belongs at |at|, where it was left out; else NULL.
const stowi_onnx_hole* stowi_onnx_image_hole(const stowi_onnx_image* image, size_t at);

// Reads |count| bytes; a failure is described.
stow_status stowi_onnx_source_read(const stow_source* source, stow_str name, uint64_t offset,
                                   void* bytes, size_t count, stow_diag* diag);

#endif  // STOWAGE_SRC_ONNX_READER_SOURCE_H_
