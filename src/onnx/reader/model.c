// Opening a model: map, index, count. Nothing is read of the weights.
#include "onnx/reader/model.h"

#include <string.h>

#include "base/diag.h"
#include "onnx/reader/map.h"
#include "onnx/reader/messages.h"
#include "onnx/reader/wire.h"

// ---------------------------------------------------------------------------------------------
// External data

static uint64_t location_hash(stow_str location) {
  return stowi_hash_bytes(STOWI_HASH_SEED, location.data, location.size);
}

static bool location_equal(const void* context, uint32_t id, const void* key) {
  const stowi_onnx_model* model = (const stowi_onnx_model*)context;
  return stow_str_equal(model->files.data[id].location, *(const stow_str*)key);
}

// FOLDER/LOCATION
static stow_status join_path(stowi_onnx_model* model, stow_str location, stow_str* out_path) {
  size_t folder = strlen(model->folder);  // both are at most PATH_MAX: the file has been mapped
  char* path =
      (char*)stowi_pool_alloc(&model->pool, model->common.allocator, folder + 2 + location.size, 1);
  if (path == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  memcpy(path, model->folder, folder);
  path[folder] = '/';
  memcpy(path + folder + 1, location.data, location.size);
  path[folder + 1 + location.size] = '\0';
  *out_path = (stow_str){path, folder + 1 + location.size};
  return STOW_OK;
}

static stow_status add_file(stowi_onnx_model* model, stow_str location, stow_diag* diag) {
  stowi_onnx_file file = {.location = location};
  STOW_TRY(stowi_need_memory(
      STOWI_VEC_RESERVE(model->common.allocator, &model->files, 1) == STOW_OK &&
          stowi_index_reserve(&model->file_index, model->common.allocator) == STOW_OK,
      diag));
  STOW_TRY(stowi_onnx_map_within(model->folder, location, diag, &file.span));
  if (join_path(model, location, &file.path) != STOW_OK) {
    stowi_onnx_unmap(file.span);
    return stowi_fail_memory(diag);
  }
  uint32_t id = (uint32_t)model->files.count;
  model->files.data[model->files.count++] = file;
  stowi_index_insert(&model->file_index, location_hash(location), id);
  return STOW_OK;
}

stow_status stowi_onnx_external(stowi_onnx_model* model, stow_str location, stow_diag* diag,
                                const stowi_onnx_file** out_file) {
  *out_file = NULL;
  if (model == NULL || model->folder == NULL) {
    return stowi_fail(diag, STOW_ERR_IO, "external data is not available: the model has no folder");
  }
  uint64_t hash = location_hash(location);
  uint32_t id = stowi_index_find(&model->file_index, hash, location_equal, model, &location);
  if (id == STOWI_INDEX_NONE) {
    STOW_TRY(add_file(model, location, diag));
    id = (uint32_t)(model->files.count - 1);
  }
  *out_file = &model->files.data[id];
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Opening and closing

#define IR_VERSION_FIELD 1
#define IR_VERSION_TAG 0x08
#define GRAPH_FIELD 7
#define HIGHEST_IR 1000  // of any model to come

// Whether fields are those of a model as far as they can be read, an IR version among them. A file
// that ends within a leading version may be a model that was cut.
static bool is_likely(stowi_onnx_span span) {
  stowi_onnx_wire wire = stowi_onnx_wire_begin(span);
  stowi_onnx_wire_field field;
  bool has_version = span.size > 0 && span.size <= 2 && span.data[0] == IR_VERSION_TAG;
  bool has_graph = false;
  while (!(has_version && has_graph) && stowi_onnx_wire_next(&wire, &field)) {
    bool is_number = field.number == IR_VERSION_FIELD || field.number == 5;  // model_version
    if (field.number > 100 || (is_number && field.type != STOWI_ONNX_WIRE_VARINT) ||
        (!is_number && field.type != STOWI_ONNX_WIRE_BYTES)) {
      return false;
    }
    has_graph = has_graph || field.number == GRAPH_FIELD;
    has_version = has_version || (field.number == IR_VERSION_FIELD && field.scalar <= HIGHEST_IR);
  }
  return has_version && (has_graph || wire.error == NULL || wire.missing > 0);
}

// Describes a file that is not a model, as far as its first bytes show what it is.
static stow_status fail_stranger(const stowi_onnx_model* model, stow_diag* diag) {
  static const char pointer[] = "version https://git-lfs";
  stowi_onnx_span span = model->span;
  stow_status status =
      stowi_fail(diag, STOW_ERR_SYNTAX, "%.*s%snot an ONNX model: ", STOWI_STR_ARG(model->path),
                 model->path.size == 0 ? "" : ": ");
  if (span.size == 0) {
    stowi_diag_append(diag, "the file is empty");
  } else if (span.size >= sizeof pointer - 1 &&
             memcmp(span.data, pointer, sizeof pointer - 1) == 0) {
    stowi_diag_append(diag, "it is a Git LFS pointer; run git lfs pull");
  } else if (span.data[0] == IR_VERSION_TAG) {
    stowi_diag_append(diag, "what follows the IR version is not part of one");
  } else {
    stowi_diag_append(diag, "the first byte is 0x%02x; expected an IR version (0x08)",
                      (unsigned)span.data[0]);
  }
  return status;
}

static stow_status read_model(stowi_onnx_model* model, stow_diag* diag) {
  stowi_onnx_reader reader = {.file = model->path,
                              .whole = model->span,
                              .image = model->has_source ? &model->image : NULL,
                              .allocator = model->common.allocator,
                              .pool = &model->pool,
                              .diag = diag};
  stowi_onnx_place root = {.index = SIZE_MAX};
  stow_status status =
      stowi_onnx_read(&reader, &root, &stowi_onnx_model_message, model->span, &model->proto);
  if (status == STOW_ERR_SYNTAX && !is_likely(model->span)) {
    return fail_stranger(model, diag);
  }
  return status == STOW_OK ? stowi_onnx_gather(model, diag) : status;
}

static stow_status copy_text(stowi_onnx_model* model, stow_str text, stow_diag* diag,
                             stow_str* out) {
  return stowi_pool_copy_str(&model->pool, model->common.allocator, text, out) == STOW_OK
             ? STOW_OK
             : stowi_fail_memory(diag);
}

// The part of |path| before its last slash.
static stow_str folder_of(const char* path) {
  const char* slash = strrchr(path, '/');
  if (slash == NULL) {
    return stow_str_of(".");
  }
  return (stow_str){path, slash == path ? 1 : (size_t)(slash - path)};
}

// How a model comes in.
typedef struct way {
  const char* path;           // of a file to map, or the name of the source; may be NULL
  const char* folder;         // NULL: that of |path|, or none
  stowi_onnx_span span;       // the file in memory
  const stow_source* source;  // NULL: none
} way;

static stow_status open_source(stowi_onnx_model* model, const stow_source* source,
                               stow_diag* diag) {
  model->source = *source;
  STOW_TRY(
      stowi_onnx_image_read(source, model->path, model->common.allocator, diag, &model->image));
  model->has_source = true;
  model->span = (stowi_onnx_span){model->image.bytes.data, model->image.bytes.count};
  return read_model(model, diag);
}

static stow_status open_by(stowi_onnx_model* model, const way* by, stow_diag* diag) {
  bool is_file = by->path != NULL && by->source == NULL;
  if (by->path != NULL) {
    STOW_TRY(copy_text(model, stow_str_of(by->path), diag, &model->path));
  }
  if (is_file || by->folder != NULL) {
    stow_str folder;
    STOW_TRY(
        copy_text(model, is_file ? folder_of(by->path) : stow_str_of(by->folder), diag, &folder));
    model->folder = folder.data;
  }
  if (is_file) {
    stow_source file;
    STOW_TRY(stowi_onnx_map(by->path, diag, &model->span, &file));
    if (file.read != NULL) {
      return open_source(model, &file, diag);
    }
    model->is_mapped = true;
    stowi_onnx_map_expect_jumps(model->span, true);
    STOW_TRY(read_model(model, diag));
    stowi_onnx_map_expect_jumps(model->span, false);
    return STOW_OK;
  }
  model->span = by->span;
  return by->source != NULL ? open_source(model, by->source, diag) : read_model(model, diag);
}

static stow_status open_model(const way* by, stow_allocator allocator, stow_diag* diag,
                              stow_model** out_model) {
  *out_model = NULL;
  stowi_onnx_model* model = STOWI_NEW(allocator, stowi_onnx_model);
  STOW_TRY(stowi_need_memory(model != NULL, diag));
  model->common.provider = &stowi_onnx_provider;
  model->common.allocator = allocator;
  stow_status status = open_by(model, by, diag);
  if (status != STOW_OK) {
    stow_model_close(&model->common);
    return status;
  }
  *out_model = &model->common;
  return STOW_OK;
}

stow_status stow_onnx_open(const char* path, stow_allocator allocator, stow_diag* diag,
                           stow_model** out_model) {
  return open_model(&(way){.path = path}, allocator, diag, out_model);
}

stow_status stow_onnx_open_memory(const void* data, size_t size, const char* folder,
                                  stow_allocator allocator, stow_diag* diag,
                                  stow_model** out_model) {
  way by = {.folder = folder, .span = {(const uint8_t*)data, size}};
  return open_model(&by, allocator, diag, out_model);
}

stow_status stow_onnx_open_source(const stow_source* source, const char* name,
                                  stow_allocator allocator, stow_diag* diag,
                                  stow_model** out_model) {
  return open_model(&(way){.path = name, .source = source}, allocator, diag, out_model);
}

void stowi_onnx_give_back(const stow_model* common, const void* data, size_t size) {
  const stowi_onnx_model* model = (const stowi_onnx_model*)common;
  stowi_onnx_span part = {(const uint8_t*)data, size};
  for (size_t i = 0; i < model->files.count; ++i) {
    stowi_onnx_map_give_back(model->files.data[i].span, part);
  }
  if (model->is_mapped) {
    stowi_onnx_map_give_back(model->span, part);
  }
}

void stowi_onnx_close(stow_model* common) {
  stowi_onnx_model* model = (stowi_onnx_model*)common;
  stow_allocator allocator = common->allocator;
  for (size_t i = 0; i < model->files.count; ++i) {
    stowi_onnx_unmap(model->files.data[i].span);
  }
  if (model->is_mapped) {
    stowi_onnx_unmap(model->span);
  }
  stowi_onnx_map_close(&model->source);
  STOWI_VEC_FREE(allocator, &model->files);
  stowi_index_free(&model->file_index, allocator);
  stowi_onnx_image_free(&model->image, allocator);
  stowi_pool_free(&model->pool, allocator);
  STOWI_DELETE(allocator, model);
}

const stowi_onnx_proto* stowi_onnx_proto_of(const stow_model* model) {
  return &((const stowi_onnx_model*)model)->proto;
}

// ---------------------------------------------------------------------------------------------
// A tensor on its own

struct stowi_onnx_pool {
  stow_allocator allocator;
  stowi_pool pool;
};

stow_status stowi_onnx_pool_create(stow_allocator allocator, stow_diag* diag,
                                   stowi_onnx_pool** out_pool) {
  *out_pool = STOWI_NEW(allocator, stowi_onnx_pool);
  STOW_TRY(stowi_need_memory(*out_pool != NULL, diag));
  (*out_pool)->allocator = allocator;
  return STOW_OK;
}

void stowi_onnx_pool_destroy(stowi_onnx_pool* pool) {
  if (pool != NULL) {
    stow_allocator allocator = pool->allocator;
    stowi_pool_free(&pool->pool, allocator);
    STOWI_DELETE(allocator, pool);
  }
}

stow_status stowi_onnx_read_tensor(stowi_onnx_pool* pool, stowi_onnx_span message, stow_diag* diag,
                                   stowi_onnx_tensor* out_tensor) {
  stowi_onnx_reader reader = {
      .whole = message, .allocator = pool->allocator, .pool = &pool->pool, .diag = diag};
  stowi_onnx_place root = {.index = SIZE_MAX};
  return stowi_onnx_read(&reader, &root, &stowi_onnx_tensor_message, message, out_tensor);
}
