// An open model.
#ifndef STOWAGE_SRC_ONNX_READER_MODEL_H_
#define STOWAGE_SRC_ONNX_READER_MODEL_H_

#include "base/hash.h"
#include "base/pool.h"
#include "import/api.h"
#include "onnx/reader/proto.h"
#include "onnx/reader/source.h"

// A file with external data.
typedef struct stowi_onnx_file {
  stow_str location;  // as tensors say it
  stow_str path;
  stowi_onnx_span span;
} stowi_onnx_file;

struct stowi_onnx_model {
  stow_model common;
  stowi_pool pool;
  stowi_onnx_span span;  // of the whole file; of a source, its structure
  bool is_mapped;
  bool has_source;
  stow_source source;
  stowi_onnx_image image;  // of a source
  stow_str path;           // empty: from memory
  const char* folder;      // NULL: no external data
  stowi_onnx_proto proto;
  STOWI_VEC(stowi_onnx_file) files;
  stowi_index file_index;  // by location
};

// The file at |location|, mapped when it is first asked for.
stow_status stowi_onnx_external(stowi_onnx_model* model, stow_str location, stow_diag* diag,
                                const stowi_onnx_file** out_file);

// Counts nodes, ops and inputs; see facts.c. What it allocates is freed with the model.
stow_status stowi_onnx_gather(stowi_onnx_model* model, stow_diag* diag);

void stowi_onnx_close(stow_model* common);
void stowi_onnx_give_back(const stow_model* common, const void* data, size_t size);
// See stowi_import_provider: facts.c.
bool stowi_onnx_count_weights(const stow_model* model, stowi_import_tally* tally);

// How importing reaches ONNX: import/provider.c.
extern const stowi_import_provider stowi_onnx_provider;

#endif  // STOWAGE_SRC_ONNX_READER_MODEL_H_
