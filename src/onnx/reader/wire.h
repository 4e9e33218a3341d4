// The wire format of protocol buffers: a cursor over the fields of one message.
#ifndef STOWAGE_SRC_ONNX_READER_WIRE_H_
#define STOWAGE_SRC_ONNX_READER_WIRE_H_

#include "onnx/reader/proto.h"

typedef enum stowi_onnx_wire_type {
  STOWI_ONNX_WIRE_VARINT = 0,
  STOWI_ONNX_WIRE_FIXED64 = 1,
  STOWI_ONNX_WIRE_BYTES = 2,
  STOWI_ONNX_WIRE_GROUP = 3,  // an old form of message; skipped as a whole
  STOWI_ONNX_WIRE_GROUP_END = 4,
  STOWI_ONNX_WIRE_FIXED32 = 5
} stowi_onnx_wire_type;

typedef struct stowi_onnx_wire_field {
  uint32_t number;
  stowi_onnx_wire_type type;
  uint64_t scalar;        // of a varint, fixed64 or fixed32
  stowi_onnx_span bytes;  // of the other types: the payload, within the message
  const uint8_t* start;   // of the tag
} stowi_onnx_wire_field;

typedef struct stowi_onnx_wire {
  const uint8_t* at;
  const uint8_t* end;
  const char* error;  // NULL: none; |at| is then where the trouble is
  uint64_t missing;   // bytes that are missing at least; 0: the error is another one
} stowi_onnx_wire;

stowi_onnx_wire stowi_onnx_wire_begin(stowi_onnx_span message);
// False at the end of the message and after an error. Never reads at or behind the end.
bool stowi_onnx_wire_next(stowi_onnx_wire* wire, stowi_onnx_wire_field* out_field);

// The next varint of a packed run; false at its end and after an error. Of a number with more than
// 64 bits the rest is dropped, as protocol buffers do.
bool stowi_onnx_wire_varint(stowi_onnx_wire* wire, uint64_t* out_number);
// Little-endian numbers.
uint32_t stowi_onnx_wire_u32(const uint8_t* bytes);
uint64_t stowi_onnx_wire_u64(const uint8_t* bytes);
// How many varints a packed run has: bytes that end one.
size_t stowi_onnx_wire_count_varints(stowi_onnx_span run);
const char* stowi_onnx_wire_type_name(stowi_onnx_wire_type type);

#endif  // STOWAGE_SRC_ONNX_READER_WIRE_H_
