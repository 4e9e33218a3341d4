// Tensors in files of their own, for who reads test data: what the reader knows of a TensorProto,
// kept beside its bytes. O(size of the message).
#include "base/diag.h"
#include "onnx/reader/proto.h"

struct stow_onnx_tensor {
  stow_allocator allocator;
  stowi_onnx_pool* pool;
  stowi_onnx_tensor tensor;
  stowi_onnx_bytes bytes;
  stow_type type;
};

static stow_status set_type(stow_onnx_tensor* t, stow_diag* diag) {
  const stowi_onnx_tensor* tensor = &t->tensor;
  if (tensor->rank > STOW_MAX_RANK) {
    return stowi_fail(diag, STOW_ERR_LIMIT, "tensor \"%.*s\" has %zu dims, at most %d are possible",
                      STOWI_STR_ARG(tensor->name), tensor->rank, STOW_MAX_RANK);
  }
  stow_dtype dtype = STOW_F32;
  (void)stowi_elem_dtype(tensor->elem, &dtype);  // bytes of others are refused
  t->type = stow_type_make(dtype, (uint32_t)tensor->rank, tensor->dims);
  return STOW_OK;
}

static stow_status open_tensor(stow_onnx_tensor* t, stowi_span message, stow_diag* diag) {
  STOW_TRY(stowi_onnx_pool_create(t->allocator, diag, &t->pool));
  STOW_TRY(stowi_onnx_read_tensor(t->pool, message, diag, &t->tensor));
  if (t->tensor.is_external) {
    return stowi_fail(diag, STOW_ERR_UNSUPPORTED, "tensor \"%.*s\" has its data in another file",
                      STOWI_STR_ARG(t->tensor.name));
  }
  STOW_TRY(set_type(t, diag));
  return stowi_onnx_tensor_bytes(NULL, &t->tensor, t->allocator, diag, &t->bytes);
}

stow_status stow_onnx_tensor_open(const void* data, size_t size, stow_allocator allocator,
                                  stow_diag* diag, stow_onnx_tensor** out_tensor) {
  *out_tensor = NULL;
  stow_onnx_tensor* t = STOWI_NEW(allocator, stow_onnx_tensor);
  if (t == NULL) {
    return stowi_fail_memory(diag);
  }
  t->allocator = allocator;
  stow_status status = open_tensor(t, (stowi_span){data, size}, diag);
  if (status != STOW_OK) {
    stow_onnx_tensor_close(t);
    return status;
  }
  *out_tensor = t;
  return STOW_OK;
}

void stow_onnx_tensor_close(stow_onnx_tensor* tensor) {
  if (tensor == NULL) {
    return;
  }
  if (tensor->bytes.is_owned) {
    stowi_free(tensor->allocator, (void*)(uintptr_t)tensor->bytes.bytes, tensor->bytes.size, 1);
  }
  stowi_onnx_pool_destroy(tensor->pool);
  STOWI_DELETE(tensor->allocator, tensor);
}

stow_str stow_onnx_tensor_name(const stow_onnx_tensor* tensor) { return tensor->tensor.name; }

const stow_type* stow_onnx_tensor_type(const stow_onnx_tensor* tensor) { return &tensor->type; }

const void* stow_onnx_tensor_data(const stow_onnx_tensor* tensor, size_t* out_size) {
  if (out_size != NULL) {
    *out_size = tensor->bytes.size;
  }
  return tensor->bytes.bytes;
}
