// The tables of onnx.proto's messages: how they are written, and those that several files use.
#ifndef STOWAGE_SRC_ONNX_READER_MESSAGES_H_
#define STOWAGE_SRC_ONNX_READER_MESSAGES_H_

#include <stddef.h>

#include "onnx/reader/read.h"

#define STOWI_ONNX_ROW(number, kind, name, type, member) \
  { number, STOWI_ONNX_READ_##kind, name, offsetof(type, member), 0, NULL, NULL }
#define STOWI_ONNX_LIST(number, kind, name, type, member, count)                               \
  {                                                                                            \
    number, STOWI_ONNX_READ_##kind, name, offsetof(type, member), offsetof(type, count), NULL, \
        NULL                                                                                   \
  }
#define STOWI_ONNX_RECORD(number, kind, name, type, member, message) \
  { number, STOWI_ONNX_READ_##kind, name, offsetof(type, member), 0, message, NULL }
#define STOWI_ONNX_RECORDS(number, name, type, member, count, message)                             \
  {                                                                                                \
    number, STOWI_ONNX_READ_RECORDS, name, offsetof(type, member), offsetof(type, count), message, \
        NULL                                                                                       \
  }
#define STOWI_ONNX_CALL(number, name, function) \
  { number, STOWI_ONNX_READ_CALL, name, 0, 0, NULL, function }
#define STOWI_ONNX_SEEN(number, name) \
  { number, STOWI_ONNX_READ_NOTHING, name, 0, 0, NULL, NULL }
#define STOWI_ONNX_MESSAGE(name, fields, type, least, finish) \
  { name, fields, sizeof(fields) / sizeof(fields[0]), sizeof(type), least, finish }

extern const stowi_onnx_message stowi_onnx_tensor_message;
extern const stowi_onnx_message stowi_onnx_sparse_message;
extern const stowi_onnx_message stowi_onnx_value_info_message;
extern const stowi_onnx_message stowi_onnx_model_message;

// Field numbers of typed tensor data.
enum {
  STOWI_ONNX_DATA_FLOAT = 4,
  STOWI_ONNX_DATA_INT32 = 5,
  STOWI_ONNX_DATA_STRING = 6,
  STOWI_ONNX_DATA_INT64 = 7,
  STOWI_ONNX_DATA_DOUBLE = 10,
  STOWI_ONNX_DATA_UINT64 = 11
};
// The type of one item of such a field where it is not packed.
stowi_onnx_wire_type stowi_onnx_data_type(uint32_t field);
// Whether |field| of a tensor may be a packed run of numbers.
bool stowi_onnx_is_data_field(uint32_t field);
// Bytes of that many elements; those of no dtype count as 0. False above 63 bits.
bool stowi_onnx_data_size(int32_t elem, uint64_t elements, uint64_t* out_size);

// STOW_ERR_SYNTAX at the start of |message|.
stow_status stowi_onnx_malformed(stowi_onnx_reader* reader, const stowi_onnx_place* place,
                                 stowi_onnx_span message, const char* what);

// Writes a value's type as declared.
stow_status stowi_onnx_print_type(const stowi_onnx_value_info* info, stow_writer writer);

#endif  // STOWAGE_SRC_ONNX_READER_MESSAGES_H_
