// Tensors as the file describes them. Their data stays where it is and is not looked at; that the
// dims multiply to something, and that raw data is as long as they say, costs nothing to check and
// is checked at once.
#include <string.h>

#include "base/checked.h"
#include "base/diag.h"
#include "base/text.h"
#include "onnx/reader/messages.h"

bool stowi_onnx_elem_dtype(int32_t elem, stow_dtype* out_dtype) {
  static const int8_t dtypes[STOWI_ONNX_ELEM_LAST + 1] = {-1,
                                                          STOW_F32,
                                                          STOW_U8,
                                                          STOW_I8,
                                                          STOW_U16,
                                                          STOW_I16,
                                                          STOW_I32,
                                                          STOW_I64,
                                                          -1,
                                                          STOW_BOOL,
                                                          STOW_F16,
                                                          STOW_F64,
                                                          STOW_U32,
                                                          STOW_U64,
                                                          STOW_C64,
                                                          STOW_C128,
                                                          STOW_BF16,
                                                          STOW_F8E4M3FN,
                                                          STOW_F8E4M3FNUZ,
                                                          STOW_F8E5M2,
                                                          STOW_F8E5M2FNUZ,
                                                          STOW_U4,
                                                          STOW_I4,
                                                          STOW_F4E2M1,
                                                          STOW_F8E8M0,
                                                          STOW_U2,
                                                          STOW_I2};
  if (elem < 0 || elem > STOWI_ONNX_ELEM_LAST || dtypes[elem] < 0) {
    return false;
  }
  *out_dtype = (stow_dtype)dtypes[elem];
  return true;
}

bool stowi_onnx_data_size(int32_t elem, uint64_t elements, uint64_t* out_size) {
  stow_dtype dtype;
  uint64_t bits = stowi_onnx_elem_dtype(elem, &dtype) ? stow_dtype_bits(dtype) : 0;
  uint64_t size = 0;
  if (bits >= 8) {
    if (!stowi_mul_u64(elements, bits / 8, &size)) {
      return false;
    }
  } else if (bits > 0) {
    uint64_t per_byte = 8 / bits;
    size = elements / per_byte + (elements % per_byte != 0);
  }
  *out_size = size;
  return size <= INT64_MAX;
}

stowi_onnx_wire_type stowi_onnx_data_type(uint32_t field) {
  switch (field) {
    case STOWI_ONNX_DATA_FLOAT: return STOWI_ONNX_WIRE_FIXED32;
    case STOWI_ONNX_DATA_DOUBLE: return STOWI_ONNX_WIRE_FIXED64;
    case STOWI_ONNX_DATA_STRING: return STOWI_ONNX_WIRE_BYTES;
    default: return STOWI_ONNX_WIRE_VARINT;
  }
}

bool stowi_onnx_is_data_field(uint32_t field) {
  return field == STOWI_ONNX_DATA_FLOAT || field == STOWI_ONNX_DATA_INT32 ||
         field == STOWI_ONNX_DATA_INT64 || field == STOWI_ONNX_DATA_DOUBLE ||
         field == STOWI_ONNX_DATA_UINT64;
}

typedef struct key_value {
  stow_str key, value;
} key_value;

static const stowi_onnx_field entry_fields[] = {STOWI_ONNX_ROW(1, STR, "key", key_value, key),
                                                STOWI_ONNX_ROW(2, STR, "value", key_value, value)};
static const stowi_onnx_message entry_message =
    STOWI_ONNX_MESSAGE("an entry", entry_fields, key_value, 0, NULL);

static stow_status read_external(stowi_onnx_reader* reader, const stowi_onnx_place* place,
                                 const stowi_onnx_wire_field* field, void* record) {
  stowi_onnx_tensor* tensor = (stowi_onnx_tensor*)record;
  STOW_TRY(stowi_onnx_expect(reader, place, field, STOWI_ONNX_WIRE_BYTES));
  key_value entry;
  STOW_TRY(stowi_onnx_read(reader, place, &entry_message, field->bytes, &entry));
  uint64_t* number = NULL;
  if (stow_str_equal(entry.key, stow_str_of("location"))) {
    tensor->location = entry.value;
  } else if (stow_str_equal(entry.key, stow_str_of("offset"))) {
    number = &tensor->offset;
  } else if (stow_str_equal(entry.key, stow_str_of("length"))) {
    number = &tensor->length;
    tensor->has_length = true;
  }
  if (number != NULL && !stowi_parse_u64(entry.value, number)) {
    return stowi_onnx_fail_at(reader, place, field->start, STOW_ERR_SYNTAX,
                              "%.*s is not a number: \"%.*s\"", STOWI_STR_ARG(entry.key),
                              STOWI_STR_ARG(entry.value));
  }
  return STOW_OK;
}

static stow_status read_location(stowi_onnx_reader* reader, const stowi_onnx_place* place,
                                 const stowi_onnx_wire_field* field, void* record) {
  STOW_TRY(stowi_onnx_expect(reader, place, field, STOWI_ONNX_WIRE_VARINT));
  ((stowi_onnx_tensor*)record)->is_external = field->scalar == 1;
  return STOW_OK;
}

// The payload that |span| is, or stands for where the image of a source has it not. Nobody must
// read the latter.
static stowi_onnx_span payload_of(const stowi_onnx_reader* reader, stowi_onnx_span span,
                                  stowi_onnx_tensor* tensor) {
  if (reader->image == NULL || span.data == NULL) {
    return span;
  }
  const stowi_onnx_hole* hole =
      stowi_onnx_image_hole(reader->image, (size_t)(span.data - reader->whole.data));
  if (hole == NULL || hole->size > SIZE_MAX) {  // in the latter case, the dims need other bytes
    return span;
  }
  tensor->is_away = true;
  return (stowi_onnx_span){span.data, (size_t)hole->size};
}

// Data in fields of its type. It stays where it is; see tensor.c.
static stow_status read_typed(stowi_onnx_reader* reader, const stowi_onnx_place* place,
                              const stowi_onnx_wire_field* field, void* record) {
  stowi_onnx_tensor* tensor = (stowi_onnx_tensor*)record;
  bool is_packed = field->type == STOWI_ONNX_WIRE_BYTES && field->number != STOWI_ONNX_DATA_STRING;
  if (!is_packed) {
    STOW_TRY(stowi_onnx_expect(reader, place, field, stowi_onnx_data_type(field->number)));
  }
  if (tensor->typed_field != 0 && tensor->typed_field != field->number) {
    return stowi_onnx_fail_at(reader, place, field->start, STOW_ERR_SYNTAX,
                              "tensor \"%.*s\" has data in more than one field",
                              STOWI_STR_ARG(tensor->name));
  }
  tensor->is_scattered = tensor->typed_field != 0 || !is_packed;
  tensor->typed_field = field->number;
  tensor->typed = payload_of(reader, field->bytes, tensor);
  return STOW_OK;
}

static stow_status count_elements(stowi_onnx_reader* reader, const stowi_onnx_place* place,
                                  stowi_onnx_tensor* tensor) {
  bool is_empty = false;
  for (size_t d = 0; d < tensor->rank; ++d) {
    if (tensor->dims[d] < 0) {
      return stowi_onnx_fail_at(reader, place, tensor->message.data, STOW_ERR_SYNTAX,
                                "tensor \"%.*s\" has the negative dim %lld",
                                STOWI_STR_ARG(tensor->name), (long long)tensor->dims[d]);
    }
    is_empty = is_empty || tensor->dims[d] == 0;
  }
  uint64_t elements = is_empty ? 0 : 1;
  bool fits = true;
  for (size_t d = 0; d < tensor->rank && fits; ++d) {
    fits = stowi_mul_u64(elements, (uint64_t)tensor->dims[d], &elements);
  }
  uint64_t size;
  if (!fits || elements > INT64_MAX || !stowi_onnx_data_size(tensor->elem, elements, &size)) {
    return stowi_onnx_fail_at(reader, place, tensor->message.data, STOW_ERR_OVERFLOW,
                              "the bytes of tensor \"%.*s\" do not fit in 63 bits",
                              STOWI_STR_ARG(tensor->name));
  }
  tensor->elements = elements;
  return STOW_OK;
}

enum { ROW_RAW = 3 };  // in tensor_fields

static const stowi_onnx_field tensor_fields[] = {
    STOWI_ONNX_LIST(1, I64S, "dims", stowi_onnx_tensor, dims, rank),
    STOWI_ONNX_ROW(2, I32, "data_type", stowi_onnx_tensor, elem),
    STOWI_ONNX_ROW(8, STR, "name", stowi_onnx_tensor, name),
    STOWI_ONNX_ROW(9, BYTES, "raw_data", stowi_onnx_tensor, raw),
    STOWI_ONNX_CALL(4, "float_data", read_typed),
    STOWI_ONNX_CALL(5, "int32_data", read_typed),
    STOWI_ONNX_CALL(6, "string_data", read_typed),
    STOWI_ONNX_CALL(7, "int64_data", read_typed),
    STOWI_ONNX_CALL(10, "double_data", read_typed),
    STOWI_ONNX_CALL(11, "uint64_data", read_typed),
    STOWI_ONNX_CALL(13, "external_data", read_external),
    STOWI_ONNX_CALL(14, "data_location", read_location),
};

static stow_status check_data(stowi_onnx_reader* reader, const stowi_onnx_place* place,
                              const stowi_onnx_tensor* tensor) {
  int forms = tensor->is_raw + tensor->is_external + (tensor->typed_field != 0);
  if (forms > 1) {
    return stowi_onnx_fail_at(reader, place, tensor->message.data, STOW_ERR_SYNTAX,
                              "tensor \"%.*s\" has data in more than one form",
                              STOWI_STR_ARG(tensor->name));
  }
  stow_dtype dtype;
  uint64_t size;
  if (tensor->is_raw && stowi_onnx_elem_dtype(tensor->elem, &dtype) &&
      stowi_onnx_data_size(tensor->elem, tensor->elements, &size) && size != tensor->raw.size) {
    return stowi_onnx_fail_at(reader, place, tensor->message.data, STOW_ERR_SYNTAX,
                              "tensor \"%.*s\" has %zu bytes of raw data where its dims need %llu",
                              STOWI_STR_ARG(tensor->name), tensor->raw.size,
                              (unsigned long long)size);
  }
  return STOW_OK;
}

static stow_status finish_tensor(stowi_onnx_reader* reader, const stowi_onnx_place* place,
                                 stowi_onnx_span message, void* record, const size_t* counts) {
  stowi_onnx_tensor* tensor = (stowi_onnx_tensor*)record;
  tensor->message = message;
  tensor->length = tensor->has_length ? tensor->length : UINT64_MAX;
  STOW_TRY(count_elements(reader, place, tensor));
  // Writers may leave empty fields beside the one they use.
  bool is_alone = !tensor->is_external && tensor->typed_field == 0;
  tensor->raw = payload_of(reader, tensor->raw, tensor);
  tensor->is_raw = counts[ROW_RAW] > 0 && (tensor->raw.size > 0 || is_alone);
  return check_data(reader, place, tensor);
}

const stowi_onnx_message stowi_onnx_tensor_message =
    STOWI_ONNX_MESSAGE("a tensor", tensor_fields, stowi_onnx_tensor, 3, finish_tensor);

static const stowi_onnx_field sparse_fields[] = {
    STOWI_ONNX_RECORD(1, INLINE, "values", stowi_onnx_sparse, values, &stowi_onnx_tensor_message),
    STOWI_ONNX_RECORD(2, INLINE, "indices", stowi_onnx_sparse, indices, &stowi_onnx_tensor_message),
    STOWI_ONNX_LIST(3, I64S, "dims", stowi_onnx_sparse, dims, rank),
};

static stow_status finish_sparse(stowi_onnx_reader* reader, const stowi_onnx_place* place,
                                 stowi_onnx_span message, void* record, const size_t* counts) {
  (void)record;
  return counts[0] > 0 && counts[1] > 0
             ? STOW_OK
             : stowi_onnx_malformed(reader, place, message,
                                    "a sparse tensor needs values and indices");
}

const stowi_onnx_message stowi_onnx_sparse_message =
    STOWI_ONNX_MESSAGE("a sparse tensor", sparse_fields, stowi_onnx_sparse, 8, finish_sparse);
