// Inputs of the graph: their types, and the values that are asked for. Numbers are converted to the
// input's element type; what it cannot hold is refused.
#include <string.h>

#include "onnx/import/importer.h"

// ---------------------------------------------------------------------------------------------
// Values that are asked for

static stow_status fail_value(stowi_importer* imp, const stowi_asked_value* value,
                              const char* reason) {
  return stowi_fail(imp->diag, STOW_ERR_TYPE, "the value given for \"%.*s\" %s",
                    STOWI_STR_ARG(value->input), reason);
}

static stow_status type_of_tensor(stowi_importer* imp, const stowi_onnx_tensor* tensor,
                                  stow_type* out_type) {
  *out_type = (stow_type){.dtype = STOW_F32};
  if (tensor->rank > STOW_MAX_RANK || !stowi_elem_dtype(tensor->elem, &out_type->dtype)) {
    return stowi_fail(imp->diag, STOW_ERR_UNSUPPORTED, "%s",
                      tensor->elem == STOWI_ELEM_STRING ? "strings are not supported"
                      : tensor->rank > STOW_MAX_RANK    ? "a tensor has too many dims"
                                                        : "the element type is not known");
  }
  *out_type = stow_type_make(out_type->dtype, (uint32_t)tensor->rank, tensor->dims);
  return STOW_OK;
}

stow_status stowi_asked_type(stowi_importer* imp, const stowi_asked_value* value,
                             stow_type* out_type, bool* out_has_type) {
  *out_has_type = value->kind != STOWI_VALUE_NUMBERS;
  *out_type = value->type;
  if (value->kind != STOWI_VALUE_TENSOR) {
    return STOW_OK;
  }
  stowi_onnx_pool* pool;
  STOW_TRY(stowi_onnx_pool_create(imp->allocator, imp->diag, &pool));
  stowi_onnx_tensor tensor;
  stowi_span message = {(const uint8_t*)value->data, value->count};
  stow_status status = stowi_onnx_read_tensor(pool, message, imp->diag, &tensor);
  if (status == STOW_OK) {
    status = type_of_tensor(imp, &tensor, out_type);
  }
  stowi_onnx_pool_destroy(pool);
  return status;
}

// Copies |size| bytes into a block of the import.
static stow_status keep_copy(stowi_importer* imp, const void* bytes, size_t size,
                             void** out_bytes) {
  *out_bytes = stowi_keep_bytes(imp, size);
  if (*out_bytes == NULL) {
    return stowi_import_memory(imp);
  }
  if (size != 0) {
    memcpy(*out_bytes, bytes, size);
  }
  return STOW_OK;
}

static stow_status tensor_bytes(stowi_importer* imp, const stowi_asked_value* value,
                                void** out_bytes, size_t* out_size) {
  stowi_onnx_pool* pool;
  STOW_TRY(stowi_onnx_pool_create(imp->allocator, imp->diag, &pool));
  stowi_onnx_tensor tensor;
  stowi_onnx_bytes bytes;
  stowi_span message = {(const uint8_t*)value->data, value->count};
  stow_status status = stowi_onnx_read_tensor(pool, message, imp->diag, &tensor);
  if (status == STOW_OK) {
    status = stowi_onnx_tensor_bytes(imp->model, &tensor, imp->allocator, imp->diag, &bytes);
  }
  if (status == STOW_OK) {
    *out_size = bytes.size;
    status = keep_copy(imp, bytes.bytes, bytes.size, out_bytes);
    if (bytes.is_owned) {
      stowi_free(imp->allocator, (void*)(uintptr_t)bytes.bytes, bytes.size, 1);
    }
  }
  stowi_onnx_pool_destroy(pool);
  return status;
}

// Whole numbers of up to 11 bits (f16) or 8 bits (bf16) and their multiples by powers of two.
static bool small_float(int64_t number, unsigned exponent_bits, unsigned fraction_bits,
                        uint64_t* out) {
  uint64_t magnitude = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
  unsigned exponent = 0;
  while (exponent < 63 && magnitude >> (exponent + 1) != 0) {
    ++exponent;
  }
  uint64_t sign = (uint64_t)(number < 0) << (exponent_bits + fraction_bits);
  unsigned bias = (1u << (exponent_bits - 1)) - 1;
  *out = sign;
  if (magnitude == 0) {
    return true;
  }
  uint64_t fraction = magnitude ^ UINT64_C(1) << exponent;
  uint64_t shifted = exponent > fraction_bits ? fraction >> (exponent - fraction_bits)
                                              : fraction << (fraction_bits - exponent);
  bool is_exact = exponent <= fraction_bits || shifted << (exponent - fraction_bits) == fraction;
  *out |= (uint64_t)(exponent + bias) << fraction_bits | shifted;
  return is_exact && exponent <= bias;
}

// The bits of |number| as |dtype|. False where it does not hold that number.
static bool encode(stow_dtype dtype, int64_t number, uint64_t* out) {
  uint32_t width = stow_dtype_bits(dtype);
  *out = (uint64_t)number;
  switch (stow_dtype_kind_of(dtype)) {
    case STOW_KIND_BOOL:
      return number == 0 || number == 1;
    case STOW_KIND_UNSIGNED:
      return number >= 0 && (width >= 63 || number < INT64_C(1) << width);
    case STOW_KIND_SIGNED: {
      int64_t limit = width == 64 ? INT64_MAX : (INT64_C(1) << (width - 1)) - 1;
      return number <= limit && number >= -limit - 1;
    }
    default:
      return dtype == STOW_F64   ? small_float(number, 11, 52, out)
             : dtype == STOW_F32 ? small_float(number, 8, 23, out)
             : dtype == STOW_F16 ? small_float(number, 5, 10, out)
                                 : dtype == STOW_BF16 && small_float(number, 8, 7, out);
  }
}

static void store(unsigned char* bytes, uint32_t width, size_t index, uint64_t bits) {
  if (width < 8) {
    size_t position = index * width;
    uint64_t mask = (UINT64_C(1) << width) - 1;
    bytes[position / 8] |= (unsigned char)((bits & mask) << (position % 8));
    return;
  }
  for (uint32_t i = 0; i < width / 8; ++i) {
    bytes[index * (width / 8) + i] = (unsigned char)(bits >> (8 * i));
  }
}

static stow_status number_bytes(stowi_importer* imp, const stowi_asked_value* value,
                                const stow_type* type, void** out_bytes, size_t* out_size) {
  uint64_t elements;
  uint64_t size;
  if (stow_type_elements(type, &elements) != STOW_OK || stow_type_bytes(type, &size) != STOW_OK ||
      size > SIZE_MAX) {
    return fail_value(imp, value, "needs a type whose dims are numbers: bind them");
  }
  if (value->count != 1 && value->count != elements) {
    return fail_value(imp, value, "has another number of elements than the type");
  }
  unsigned char* bytes = (unsigned char*)stowi_keep_bytes(imp, (size_t)size);
  if (bytes == NULL) {
    return stowi_import_memory(imp);
  }
  memset(bytes, 0, (size_t)size);
  const int64_t* numbers = (const int64_t*)value->data;
  for (size_t i = 0; i < elements; ++i) {
    uint64_t bits;
    if (!encode(type->dtype, numbers[value->count == 1 ? 0 : i], &bits)) {
      return fail_value(imp, value, "has a number that the element type cannot hold");
    }
    store(bytes, stow_dtype_bits(type->dtype), i, bits);
  }
  *out_bytes = bytes;
  *out_size = (size_t)size;
  return STOW_OK;
}

stow_status stowi_asked_bytes(stowi_importer* imp, const stowi_asked_value* value,
                              const stow_type* type, void** out_bytes, size_t* out_size) {
  if (value->kind == STOWI_VALUE_NUMBERS) {
    return number_bytes(imp, value, type, out_bytes, out_size);
  }
  stow_type given;
  bool has_type;
  STOW_TRY(stowi_asked_type(imp, value, &given, &has_type));
  if (!stow_type_equal(&given, type)) {
    stowi_type_text has = stowi_type_text_of(imp->graph, &given);
    stowi_type_text needs = stowi_type_text_of(imp->graph, type);
    return stowi_fail(imp->diag, STOW_ERR_TYPE, "the value given for \"%.*s\" is %s, not %s",
                      STOWI_STR_ARG(value->input), has.text, needs.text);
  }
  *out_size = value->count;
  return value->kind == STOWI_VALUE_TENSOR ? tensor_bytes(imp, value, out_bytes, out_size)
                                           : keep_copy(imp, value->data, value->count, out_bytes);
}

// ---------------------------------------------------------------------------------------------
// Types

const char* stowi_onnx_why_not(const stowi_onnx_value_info* info) {
  static const char* const reasons[] = {
      [STOWI_INFO_NONE] = "the file gives no type",
      [STOWI_INFO_TENSOR] = NULL,
      [STOWI_INFO_SPARSE] = "sparse inputs are not supported",
      [STOWI_INFO_SEQUENCE] = "sequences are not supported",
      [STOWI_INFO_MAP] = "maps are not supported",
      [STOWI_INFO_OPTIONAL] = "optionals are not supported",
      [STOWI_INFO_OTHER] = "the kind of type is not supported",
  };
  stow_dtype dtype;
  if (info->kind != STOWI_INFO_TENSOR) {
    return reasons[info->kind];
  }
  if (!stowi_elem_dtype(info->elem, &dtype)) {
    return info->elem == STOWI_ELEM_STRING ? "strings are not supported"
                                           : "the element type is not known";
  }
  return info->has_shape && info->rank > STOW_MAX_RANK ? "it has too many dims" : NULL;
}

static stow_status dim_of(stowi_importer* imp, const stowi_onnx_value_info* info, size_t axis,
                          stow_dim* out_dim) {
  const stowi_onnx_dim* dim = &info->dims[axis];
  if (dim->kind == STOWI_DIM_NUMBER && dim->number >= 0) {
    *out_dim = dim->number;
    return STOW_OK;
  }
  stow_str name;
  STOW_TRY(stowi_dim_name(imp, info, axis, &name));
  return stowi_symbol_dim(imp, name, out_dim);
}

// The type of an input; |*out_is_known| is false where the file gives no shape, nor the request.
static stow_status input_type(stowi_importer* imp, const stowi_onnx_value_info* info,
                              const stowi_name* name, stow_type* out_type, bool* out_is_known) {
  *out_type = (stow_type){.dtype = STOW_F32};
  (void)stowi_elem_dtype(info->elem, &out_type->dtype);
  *out_is_known = true;
  if (info->has_shape) {
    out_type->rank = (uint32_t)info->rank;
    for (size_t axis = 0; axis < info->rank; ++axis) {
      STOW_TRY(dim_of(imp, info, axis, &out_type->dims[axis]));
    }
    return STOW_OK;
  }
  if (name->shape != NULL) {
    *out_type = stow_type_make(out_type->dtype, (uint32_t)name->shape->rank, name->shape->dims);
    return STOW_OK;
  }
  bool has_type = false;
  stow_type given;
  if (name->value != NULL) {
    STOW_TRY(stowi_asked_type(imp, name->value, &given, &has_type));
  }
  if (has_type) {
    *out_type = stow_type_make(out_type->dtype, given.rank, given.dims);
  }
  *out_is_known = has_type;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Inputs

static stow_status add_input(stowi_importer* imp, const stowi_onnx_value_info* info,
                             const stow_type* type, const stowi_asked_value* value) {
  void* bytes = NULL;
  size_t size = 0;
  if (value != NULL) {
    STOW_TRY(stowi_asked_bytes(imp, value, type, &bytes, &size));
  }
  stow_call* call = stow_graph_begin(imp->graph, STOW_OP_INPUT);
  stow_call_name(call, 0, info->name);
  stow_call_result_type(call, type);
  if (value != NULL) {
    stow_call_data(call, bytes, size, false);
  }
  stow_node node;
  STOW_TRY(stow_call_finish(call, imp->diag, &node));
  return stowi_bind(imp, info->name, stow_graph_first_result(imp->graph, node), STOWI_BOUND_VALUE);
}

static stow_status import_input(stowi_importer* imp, const stowi_onnx_value_info* info) {
  uint32_t id;
  STOW_TRY(stowi_name_of(imp, info->name, &id));
  const char* reason = stowi_onnx_why_not(info);
  if (reason != NULL) {
    STOW_TRY(stowi_add_issue(imp, STOW_ONNX_UNSUPPORTED, NULL, info->name, "%s", reason));
    return stowi_bind(imp, info->name, STOW_VALUE_NONE, STOWI_BOUND_POISON);
  }
  stow_type type;
  bool is_known;
  STOW_TRY(input_type(imp, info, &imp->names.data[id], &type, &is_known));
  if (!is_known) {
    STOW_TRY(stowi_add_issue(imp, STOW_ONNX_NEEDS_SHAPE, NULL, info->name,
                             "the file gives no shape for this input"));
    return stowi_bind(imp, info->name, STOW_VALUE_NONE, STOWI_BOUND_POISON);
  }
  return add_input(imp, info, &type, imp->names.data[id].value);
}

stow_status stowi_import_inputs(stowi_importer* imp) {
  const stowi_onnx_graph* graph = &imp->proto->graph;
  for (size_t i = 0; i < graph->input_count; ++i) {
    const stowi_onnx_value_info* info = &graph->inputs[i];
    if (stowi_onnx_is_input(imp, info)) {
      stow_status status = import_input(imp, info);
      if (status != STOW_OK) {
        stow_diag inner = *imp->diag;
        return stowi_fail(imp->diag, status, "input \"%.*s\": %s", STOWI_STR_ARG(info->name),
                          inner.message);
      }
    }
  }
  return STOW_OK;
}
