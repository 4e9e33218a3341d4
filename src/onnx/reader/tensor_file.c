// Tensors in files of their own, for programs that read test data: what the reader finds in one,
// kept beside its bytes. O(size of the message).
#include "base/diag.h"
#include "onnx/reader/proto.h"

// What an open tensor holds on to.
typedef struct held {
  stow_allocator allocator;
  stowi_onnx_pool* pool;
  stowi_onnx_tensor tensor;
  stowi_onnx_bytes bytes;
} held;

static stow_status read_tensor(held* h, stowi_onnx_span message, stow_diag* diag,
                               stow_onnx_tensor* out) {
  const stowi_onnx_tensor* tensor = &h->tensor;
  STOW_TRY(stowi_onnx_pool_create(h->allocator, diag, &h->pool));
  STOW_TRY(stowi_onnx_read_tensor(h->pool, message, diag, &h->tensor));
  if (tensor->is_external) {
    return stowi_fail(diag, STOW_ERR_UNSUPPORTED, "tensor \"%.*s\" has its data in another file",
                      STOWI_STR_ARG(tensor->name));
  }
  if (tensor->rank > STOW_MAX_RANK) {
    return stowi_fail(diag, STOW_ERR_LIMIT, "tensor \"%.*s\" has %zu dims; at most %d are allowed",
                      STOWI_STR_ARG(tensor->name), tensor->rank, STOW_MAX_RANK);
  }
  STOW_TRY(stowi_onnx_tensor_bytes(NULL, tensor, h->allocator, diag, &h->bytes));
  stow_dtype dtype = STOW_F32;
  (void)stowi_onnx_elem_dtype(tensor->elem, &dtype);  // others have no bytes
  *out = (stow_onnx_tensor){.name = tensor->name,
                            .type = stow_type_make(dtype, (uint32_t)tensor->rank, tensor->dims),
                            .data = h->bytes.bytes,
                            .size = h->bytes.size,
                            .memory = h};
  return STOW_OK;
}

static void release(held* h) {
  if (h->bytes.is_owned) {
    stowi_free(h->allocator, (void*)(uintptr_t)h->bytes.bytes, h->bytes.size, 1);
  }
  stowi_onnx_pool_destroy(h->pool);
  STOWI_DELETE(h->allocator, h);
}

stow_status stow_onnx_tensor_open(const void* data, size_t size, stow_allocator allocator,
                                  stow_diag* diag, stow_onnx_tensor* out_tensor) {
  stow_onnx_tensor tensor = {.memory = NULL};
  STOW_TRY(stowi_fill_struct(out_tensor, &tensor, sizeof(tensor), "stow_onnx_tensor", diag));
  if (out_tensor->struct_size < sizeof(tensor)) {  // else nothing could be closed
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "stow_onnx_tensor.struct_size is too small");
  }
  held* h = STOWI_NEW(allocator, held);
  STOW_TRY(stowi_need_memory(h != NULL, diag));
  h->allocator = allocator;
  stow_status status = read_tensor(h, (stowi_onnx_span){data, size}, diag, &tensor);
  if (status != STOW_OK) {
    release(h);
    return status;
  }
  return stowi_fill_struct(out_tensor, &tensor, sizeof(tensor), "stow_onnx_tensor", diag);
}

void stow_onnx_tensor_close(stow_onnx_tensor* tensor) {
  if (tensor->memory != NULL) {
    release((held*)tensor->memory);
  }
  *tensor = (stow_onnx_tensor){.struct_size = tensor->struct_size};
}
