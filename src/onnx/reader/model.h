// An open model.
#ifndef STOWAGE_SRC_ONNX_READER_MODEL_H_
#define STOWAGE_SRC_ONNX_READER_MODEL_H_

#include "base/hash.h"
#include "base/pool.h"
#include "onnx/reader/proto.h"

// A file with external data.
typedef struct stowi_onnx_file {
  stow_str location;  // as tensors say it
  stow_str path;
  stowi_span span;
} stowi_onnx_file;

typedef struct stowi_onnx_op_kind {
  stow_str name, domain;
  size_t count;
} stowi_onnx_op_kind;

struct stow_onnx_model {
  stow_allocator allocator;
  stowi_pool pool;
  stowi_span span;  // of the whole file
  bool is_mapped;
  stow_str path;       // empty: from memory
  const char* folder;  // NULL: no external data
  stowi_onnx_proto proto;
  STOWI_VEC(stowi_onnx_file) files;
  stowi_index file_index;  // by location
  // Facts.
  size_t node_count;
  STOWI_VEC(stowi_onnx_op_kind) op_kinds;  // most frequent first
  const stowi_onnx_value_info** inputs;    // those that are no initializers
  size_t input_count;
};

// The file at |location|, mapped when it is first asked for.
stow_status stowi_onnx_external(stow_onnx_model* model, stow_str location, stow_diag* diag,
                                const stowi_onnx_file** out_file);

// Counts nodes, ops and inputs; see facts.c. What it allocates is freed with the model.
stow_status stowi_onnx_gather(stow_onnx_model* model, stow_diag* diag);

#endif  // STOWAGE_SRC_ONNX_READER_MODEL_H_
