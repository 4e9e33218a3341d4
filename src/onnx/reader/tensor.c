// The bytes of tensors. Where the file has them as a program wants them they are only pointed at;
// numbers that it keeps as varints, or in several runs, are decoded: two passes over the data, one
// that counts, one that stores.
#include <string.h>

#include "base/checked.h"
#include "base/diag.h"
#include "onnx/reader/messages.h"
#include "onnx/reader/model.h"

typedef struct request {
  stowi_onnx_model* model;
  const stowi_onnx_tensor* tensor;
  stow_allocator allocator;
  stow_diag* diag;
  stow_dtype dtype;
  size_t size;  // bytes that the dims need
} request;

static stow_status fail_size(const request* r, const char* where, uint64_t found) {
  return stowi_fail(r->diag, STOW_ERR_SYNTAX,
                    "tensor \"%.*s\" has %llu bytes of %s where its dims need %zu",
                    STOWI_STR_ARG(r->tensor->name), (unsigned long long)found, where, r->size);
}

// The file position of |span|, where it lies in the model's file.
static void set_source(const request* r, stowi_onnx_span span, stowi_onnx_bytes* out) {
  if (r->model == NULL || r->model->path.size == 0) {
    return;
  }
  uintptr_t start = (uintptr_t)r->model->span.data, at = (uintptr_t)span.data;
  if (at >= start && at - start <= r->model->span.size) {
    out->source = r->model->path;
    out->at =
        r->model->has_source ? stowi_onnx_image_offset(&r->model->image, at - start) : at - start;
  }
}

// Reads bytes of the source into a block of the request's allocator.
static stow_status fetch(const request* r, uint64_t offset, size_t size, void** out_block) {
  *out_block = stowi_alloc(r->allocator, size, 1);
  STOW_TRY(stowi_need_memory(*out_block != NULL, r->diag));
  stow_status status =
      stowi_onnx_source_read(&r->model->source, r->model->path, offset, *out_block, size, r->diag);
  if (status != STOW_OK) {
    stowi_free(r->allocator, *out_block, size, 1);
    *out_block = NULL;
  }
  return status;
}

static size_t position_of(const request* r, const uint8_t* at) {
  return (size_t)(at - r->model->span.data);
}

static stow_status point_at(const request* r, stowi_onnx_span span, const char* where,
                            stowi_onnx_bytes* out) {
  if (span.size != r->size) {
    return fail_size(r, where, span.size);
  }
  out->size = span.size;
  if (r->tensor->is_away) {
    void* block;
    out->source = r->model->path;
    out->at = stowi_onnx_image_hole(&r->model->image, position_of(r, span.data))->offset;
    STOW_TRY(fetch(r, out->at, span.size, &block));
    out->bytes = block;
    out->is_owned = true;
    return STOW_OK;
  }
  out->bytes = span.data;
  set_source(r, span, out);
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Other files

static stow_status find_external(const request* r, stowi_onnx_bytes* out) {
  const stowi_onnx_tensor* tensor = r->tensor;
  const stowi_onnx_file* file;
  STOW_TRY(stowi_onnx_external(r->model, tensor->location, r->diag, &file));
  uint64_t left = tensor->offset <= file->span.size ? file->span.size - tensor->offset : 0;
  uint64_t size = tensor->has_length ? tensor->length : r->size;
  if (tensor->offset > file->span.size || size > left) {
    return stowi_fail(
        r->diag, STOW_ERR_IO, "%llu bytes at %llu are out of range (the file has %zu)",
        (unsigned long long)size, (unsigned long long)tensor->offset, file->span.size);
  }
  if (size != r->size) {
    return stowi_fail(r->diag, STOW_ERR_SYNTAX, "the length is %llu where the dims need %zu",
                      (unsigned long long)size, r->size);
  }
  out->bytes = r->size == 0 ? NULL : file->span.data + tensor->offset;  // an empty file is NULL
  out->size = r->size;
  out->source = file->path;
  out->at = tensor->offset;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Typed data

// The field that data of |dtype| must be in.
static uint32_t field_of(stow_dtype dtype) {
  switch (dtype) {
    case STOW_F32:
    case STOW_C64: return STOWI_ONNX_DATA_FLOAT;
    case STOW_F64:
    case STOW_C128: return STOWI_ONNX_DATA_DOUBLE;
    case STOW_I64: return STOWI_ONNX_DATA_INT64;
    case STOW_U32:
    case STOW_U64: return STOWI_ONNX_DATA_UINT64;
    default: return STOWI_ONNX_DATA_INT32;
  }
}

// Bytes that one number of the field stands for: halves of complex numbers are numbers of their
// own, and elements below a byte come as whole bytes.
static size_t unit_of(stow_dtype dtype) {
  switch (dtype) {
    case STOW_C64: return 4;
    case STOW_C128: return 8;
    default: return stow_dtype_bits(dtype) < 8 ? 1 : stow_dtype_bits(dtype) / 8;
  }
}

// Counts numbers, and stores as many as there is room for.
typedef struct unit_sink {
  uint8_t* to;
  uint64_t room;  // in numbers
  size_t unit;
  uint64_t count;
} unit_sink;

static void put(unit_sink* sink, uint64_t number) {
  if (sink->count < sink->room) {
    for (size_t b = 0; b < sink->unit; ++b) {
      sink->to[sink->count * sink->unit + b] = (uint8_t)(number >> (8 * b));
    }
  }
  ++sink->count;
}

static const char* put_run(unit_sink* sink, uint32_t field, stowi_onnx_span run) {
  stowi_onnx_wire_type type = stowi_onnx_data_type(field);
  if (type == STOWI_ONNX_WIRE_VARINT) {
    stowi_onnx_wire wire = stowi_onnx_wire_begin(run);
    uint64_t number;
    while (stowi_onnx_wire_varint(&wire, &number)) {
      put(sink, number);
    }
    return wire.error;
  }
  size_t width = type == STOWI_ONNX_WIRE_FIXED32 ? 4 : 8;
  for (size_t i = 0; i + width <= run.size; i += width) {
    put(sink, width == 4 ? stowi_onnx_wire_u32(run.data + i) : stowi_onnx_wire_u64(run.data + i));
  }
  return run.size % width == 0 ? NULL : "a number is truncated";
}

static const char* put_all(unit_sink* sink, const stowi_onnx_tensor* tensor) {
  if (!tensor->is_scattered) {
    return put_run(sink, tensor->typed_field, tensor->typed);
  }
  const char* error = NULL;
  stowi_onnx_wire wire = stowi_onnx_wire_begin(tensor->message);
  stowi_onnx_wire_field field;
  while (error == NULL && stowi_onnx_wire_next(&wire, &field)) {
    if (field.number != tensor->typed_field) {
      continue;
    }
    if (field.type == STOWI_ONNX_WIRE_BYTES) {
      error = put_run(sink, field.number, field.bytes);
    } else {
      put(sink, field.scalar);
    }
  }
  return error;
}

static stow_status decode(const request* r, stowi_onnx_bytes* out) {
  unit_sink sink = {NULL, 0, unit_of(r->dtype), 0};
  const char* error = put_all(&sink, r->tensor);
  if (error != NULL) {
    return stowi_fail(r->diag, STOW_ERR_SYNTAX, "tensor \"%.*s\": %s",
                      STOWI_STR_ARG(r->tensor->name), error);
  }
  uint64_t found;
  if (!stowi_mul_u64(sink.count, sink.unit, &found) || found != r->size) {
    return fail_size(r, "typed data", sink.count * sink.unit);
  }
  sink.to = (uint8_t*)stowi_alloc(r->allocator, r->size, 1);
  STOW_TRY(stowi_need_memory(sink.to != NULL, r->diag));
  out->bytes = sink.to;
  out->size = r->size;
  out->is_owned = true;
  sink.room = sink.count;
  sink.count = 0;
  (void)put_all(&sink, r->tensor);
  return STOW_OK;
}

// Decodes data that was left out of the image: the whole message is read for it.
static stow_status decode_away(const request* r, stowi_onnx_bytes* out) {
  stowi_onnx_tensor tensor = *r->tensor;
  size_t start = position_of(r, tensor.message.data);
  uint64_t offset = stowi_onnx_image_offset(&r->model->image, start);
  uint64_t size = stowi_onnx_image_offset(&r->model->image, start + tensor.message.size) - offset;
  void* block;
  if (size > SIZE_MAX) {
    return stowi_fail_memory(r->diag);
  }
  STOW_TRY(fetch(r, offset, (size_t)size, &block));
  tensor.message = (stowi_onnx_span){(const uint8_t*)block, (size_t)size};
  tensor.is_scattered = true;
  request near = *r;
  near.tensor = &tensor;
  stow_status status = decode(&near, out);
  stowi_free(r->allocator, block, (size_t)size, 1);
  return status;
}

static bool is_plain(const stowi_onnx_tensor* tensor) {
  return tensor->is_raw || (tensor->typed_field != 0 && !tensor->is_scattered &&
                            stowi_onnx_data_type(tensor->typed_field) != STOWI_ONNX_WIRE_VARINT);
}

bool stowi_onnx_place_of(stowi_onnx_model* model, const stowi_onnx_tensor* tensor,
                         stowi_onnx_bytes* out_bytes) {
  *out_bytes = (stowi_onnx_bytes){.bytes = NULL};
  stowi_onnx_span span = tensor->is_raw ? tensor->raw : tensor->typed;
  uint64_t size;
  if (!tensor->is_away || !is_plain(tensor) ||
      !stowi_onnx_data_size(tensor->elem, tensor->elements, &size) || size != span.size) {
    return false;
  }
  size_t at = (size_t)(span.data - model->span.data);
  out_bytes->size = span.size;
  out_bytes->source = model->path;
  out_bytes->at = stowi_onnx_image_hole(&model->image, at)->offset;
  return true;
}

static stow_status find_typed(const request* r, stowi_onnx_bytes* out) {
  const stowi_onnx_tensor* tensor = r->tensor;
  if (tensor->typed_field != field_of(r->dtype)) {
    return stowi_fail(r->diag, STOW_ERR_SYNTAX,
                      "tensor \"%.*s\" of %s has its data in field %u, not %u of TensorProto",
                      STOWI_STR_ARG(tensor->name), stow_dtype_name(r->dtype),
                      (unsigned)tensor->typed_field, (unsigned)field_of(r->dtype));
  }
  if (is_plain(tensor)) {
    return point_at(r, tensor->typed, "typed data", out);
  }
  return tensor->is_away ? decode_away(r, out) : decode(r, out);
}

// ---------------------------------------------------------------------------------------------

static stow_status find_bytes(const request* r, stowi_onnx_bytes* out) {
  if (r->tensor->is_external) {
    // Puts the tensor and the file before what went wrong.
    stow_status status = find_external(r, out);
    if (status == STOW_OK || status == STOW_ERR_OUT_OF_MEMORY || r->diag == NULL) {
      return status;
    }
    stow_diag reason = *r->diag;
    return stowi_fail(r->diag, status, "tensor \"%.*s\", external data \"%.*s\": %s",
                      STOWI_STR_ARG(r->tensor->name), STOWI_STR_ARG(r->tensor->location),
                      reason.message);
  }
  if (r->tensor->is_raw) {
    return point_at(r, r->tensor->raw, "raw data", out);
  }
  if (r->tensor->typed_field != 0) {
    return find_typed(r, out);
  }
  return r->size == 0 ? STOW_OK : fail_size(r, "data", 0);
}

stow_status stowi_onnx_tensor_bytes(stow_model* model, const stowi_onnx_tensor* tensor,
                                    stow_allocator allocator, stow_diag* diag,
                                    stowi_onnx_bytes* out_bytes) {
  *out_bytes = (stowi_onnx_bytes){.bytes = NULL};
  request r = {(stowi_onnx_model*)model, tensor, allocator, diag, STOW_F32, 0};
  if (!stowi_onnx_elem_dtype(tensor->elem, &r.dtype)) {
    return stowi_fail(diag, STOW_ERR_UNSUPPORTED, "tensor \"%.*s\" has %s %d",
                      STOWI_STR_ARG(tensor->name),
                      tensor->elem == STOWI_ONNX_ELEM_STRING ? "strings, element type"
                                                             : "the unknown element type",
                      (int)tensor->elem);
  }
  uint64_t size;
  if (!stowi_onnx_data_size(tensor->elem, tensor->elements, &size) || size > SIZE_MAX) {
    return stowi_fail(diag, STOW_ERR_OVERFLOW, "tensor \"%.*s\" is too large",
                      STOWI_STR_ARG(tensor->name));
  }
  r.size = (size_t)size;
  STOW_TRY(find_bytes(&r, out_bytes));
  if (out_bytes->bytes == NULL) {
    out_bytes->bytes = "";
  }
  return STOW_OK;
}
