// Inputs of the graph: their types, and the values that are asked for. Numbers are converted to the
// input's element type; what it cannot hold is refused.
#include <string.h>

#include "import/importer.h"

// ---------------------------------------------------------------------------------------------
// Values that are asked for

static stow_status fail_value(stowi_import_importer* imp, const stowi_import_asked_value* value,
                              const char* reason) {
  return stowi_fail(imp->diag, STOW_ERR_TYPE, "the value given for \"%.*s\" %s",
                    STOWI_STR_ARG(value->input), reason);
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
    case STOW_KIND_BOOL: return number == 0 || number == 1;
    case STOW_KIND_UNSIGNED: return number >= 0 && (width >= 63 || number < INT64_C(1) << width);
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

static stow_status number_bytes(stowi_import_importer* imp, const stowi_import_asked_value* value,
                                const stow_type* type, void** out_bytes, size_t* out_size) {
  uint64_t elements;
  uint64_t size;
  if (stow_type_elements(type, &elements) != STOW_OK || stow_type_bytes(type, &size) != STOW_OK ||
      size > SIZE_MAX) {
    return fail_value(imp, value, "needs a type whose dims are numbers; bind them");
  }
  if (value->count != 1 && value->count != elements) {
    return fail_value(imp, value, "has the wrong number of elements for its type");
  }
  unsigned char* bytes = (unsigned char*)stowi_import_keep_bytes(imp, (size_t)size);
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

stow_status stowi_import_asked_bytes(stowi_import_importer* imp,
                                     const stowi_import_asked_value* value, const stow_type* type,
                                     void** out_bytes, size_t* out_size) {
  if (!value->has_type) {
    return number_bytes(imp, value, type, out_bytes, out_size);
  }
  if (!stow_type_equal(&value->type, type)) {
    stowi_import_type_text has = stowi_import_type_text_of(imp->graph, &value->type);
    stowi_import_type_text needs = stowi_import_type_text_of(imp->graph, type);
    return stowi_fail(imp->diag, STOW_ERR_TYPE, "the value given for \"%.*s\" is %s, not %s",
                      STOWI_STR_ARG(value->input), has.text, needs.text);
  }
  *out_size = value->count;
  *out_bytes = stowi_import_keep_bytes(imp, value->count);
  if (*out_bytes == NULL) {
    return stowi_import_memory(imp);
  }
  if (value->count != 0) {
    memcpy(*out_bytes, value->data, value->count);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Types

static stow_status dim_of(stowi_import_importer* imp, const stowi_import_info* info, size_t axis,
                          stow_dim* out_dim) {
  *out_dim = info->dims[axis].number;
  if (*out_dim >= 0) {
    return STOW_OK;
  }
  stow_str name;
  STOW_TRY(stowi_import_dim_name(imp, info, axis, &name));
  return stowi_import_symbol_dim(imp, name, out_dim);
}

// The type of an input; |*out_is_known| is false where the file gives no shape, nor the request.
static stow_status input_type(stowi_import_importer* imp, const stowi_import_info* info,
                              const stowi_import_name* name, stow_type* out_type,
                              bool* out_is_known) {
  *out_type = (stow_type){.dtype = info->dtype};
  *out_is_known = true;
  if (info->has_shape) {
    out_type->rank = info->rank;
    for (size_t axis = 0; axis < info->rank; ++axis) {
      STOW_TRY(dim_of(imp, info, axis, &out_type->dims[axis]));
    }
    return STOW_OK;
  }
  if (name->shape != NULL) {
    *out_type = stow_type_make(out_type->dtype, (uint32_t)name->shape->rank, name->shape->dims);
    return STOW_OK;
  }
  *out_is_known = name->value != NULL && name->value->has_type;
  if (*out_is_known) {
    const stow_type* given = &name->value->type;
    *out_type = stow_type_make(out_type->dtype, given->rank, given->dims);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Inputs

static stow_status import_input(stowi_import_importer* imp, const stowi_import_info* info) {
  uint32_t id;
  STOW_TRY(stowi_import_name_of(imp, info->name, &id));
  if (info->why_not != NULL) {
    STOW_TRY(stowi_import_add_issue(imp, STOW_IMPORT_UNSUPPORTED, NULL, info->name, "%s",
                                    info->why_not));
    return stowi_import_bind(imp, info->name, STOW_VALUE_NONE, STOWI_IMPORT_POISON);
  }
  stow_type type;
  bool is_known;
  STOW_TRY(input_type(imp, info, &imp->names.data[id], &type, &is_known));
  if (!is_known) {
    STOW_TRY(stowi_import_add_issue(imp, STOW_IMPORT_NEEDS_SHAPE, NULL, info->name,
                                    "no shape is declared for this input"));
    return stowi_import_bind(imp, info->name, STOW_VALUE_NONE, STOWI_IMPORT_POISON);
  }
  const stowi_import_asked_value* value = imp->names.data[id].value;
  void* bytes = NULL;
  size_t size = 0;
  if (value != NULL) {
    STOW_TRY(stowi_import_asked_bytes(imp, value, &type, &bytes, &size));
  }
  stow_call* call = stow_graph_begin(imp->graph, STOW_OP_INPUT);
  stow_call_name(call, 0, info->name);
  stow_call_result_type(call, &type);
  if (value != NULL) {
    stow_call_data(call, bytes, size, false);
  }
  stow_node node;
  STOW_TRY(stow_call_finish(call, imp->diag, &node));
  return stowi_import_bind(imp, info->name, stow_graph_first_result(imp->graph, node),
                           STOWI_IMPORT_VALUE);
}

stow_status stowi_import_inputs(stowi_import_importer* imp) {
  for (size_t i = 0; i < imp->model->info.input_count; ++i) {
    const stowi_import_info* info = &imp->model->inputs[i];
    stow_status status = import_input(imp, info);
    if (status != STOW_OK) {
      stow_diag inner = *imp->diag;
      return stowi_fail(imp->diag, status, "input \"%.*s\": %s", STOWI_STR_ARG(info->name),
                        inner.message);
    }
  }
  return STOW_OK;
}
