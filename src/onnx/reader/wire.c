// A cursor instead of a parser: it hands out fields as they come and steps over payloads without
// reading them, so that a message costs as many steps as it has fields of its own, however large
// they are. Every length is compared with what is left before it is used.
#include "onnx/reader/wire.h"

#define LONGEST_VARINT 10
#define DEEPEST_GROUP 64
#define LARGEST_FIELD ((UINT64_C(1) << 29) - 1)

stowi_onnx_wire stowi_onnx_wire_begin(stowi_onnx_span message) {
  const uint8_t* end = message.data == NULL ? NULL : message.data + message.size;
  return (stowi_onnx_wire){.at = message.data, .end = end};
}

static bool fail(stowi_onnx_wire* wire, const char* error) {
  wire->error = error;
  return false;
}

static bool fail_end(stowi_onnx_wire* wire, uint64_t missing, const char* error) {
  wire->missing = missing;
  return fail(wire, error);
}

static size_t left_of(const stowi_onnx_wire* wire) { return (size_t)(wire->end - wire->at); }

bool stowi_onnx_wire_varint(stowi_onnx_wire* wire, uint64_t* out_number) {
  if (wire->error != NULL || wire->at == wire->end) {
    return false;
  }
  size_t left = left_of(wire);
  uint64_t number = 0;
  for (size_t i = 0; i < LONGEST_VARINT; ++i) {
    if (i == left) {
      return fail_end(wire, 1, "a number is truncated");
    }
    number |= (uint64_t)(wire->at[i] & 0x7f) << (7 * i);
    if (wire->at[i] < 0x80) {
      wire->at += i + 1;
      *out_number = number;
      return true;
    }
  }
  return fail(wire, "a number has more than 10 bytes");
}

uint32_t stowi_onnx_wire_u32(const uint8_t* bytes) {
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
         (uint32_t)bytes[3] << 24;
}

uint64_t stowi_onnx_wire_u64(const uint8_t* bytes) {
  return stowi_onnx_wire_u32(bytes) | (uint64_t)stowi_onnx_wire_u32(bytes + 4) << 32;
}

size_t stowi_onnx_wire_count_varints(stowi_onnx_span run) {
  size_t count = 0;
  for (size_t i = 0; i < run.size; ++i) {
    count += run.data[i] < 0x80;
  }
  return count;
}

static bool read_tag(stowi_onnx_wire* wire, stowi_onnx_wire_field* field) {
  field->start = wire->at;
  uint64_t tag;
  if (!stowi_onnx_wire_varint(wire, &tag)) {
    return false;
  }
  if (tag >> 3 == 0 || tag >> 3 > LARGEST_FIELD) {
    wire->at = field->start;
    return fail(wire, "a field number is out of range");
  }
  field->number = (uint32_t)(tag >> 3);
  field->type = (stowi_onnx_wire_type)(tag & 7);
  return true;
}

static bool read_fixed(stowi_onnx_wire* wire, stowi_onnx_wire_field* field) {
  size_t size = field->type == STOWI_ONNX_WIRE_FIXED64 ? 8 : 4;
  if (left_of(wire) < size) {
    return fail_end(wire, size - left_of(wire), "a number is truncated");
  }
  field->scalar = size == 8 ? stowi_onnx_wire_u64(wire->at) : stowi_onnx_wire_u32(wire->at);
  wire->at += size;
  return true;
}

static bool read_varint(stowi_onnx_wire* wire, uint64_t* out_number) {
  return stowi_onnx_wire_varint(wire, out_number) ||
         (wire->error == NULL && fail_end(wire, 1, "a number is truncated"));
}

static bool read_bytes(stowi_onnx_wire* wire, stowi_onnx_wire_field* field) {
  const uint8_t* start = wire->at;
  uint64_t size;
  if (!read_varint(wire, &size)) {
    return false;
  }
  if (size > left_of(wire)) {
    uint64_t missing = size - left_of(wire);
    wire->at = start;
    return fail_end(wire, missing, "a length exceeds the message");
  }
  field->bytes = (stowi_onnx_span){wire->at, (size_t)size};
  wire->at += size;
  return true;
}

// Whatever the type is but the start or end of a group.
static bool read_payload(stowi_onnx_wire* wire, stowi_onnx_wire_field* field) {
  switch (field->type) {
    case STOWI_ONNX_WIRE_VARINT: return read_varint(wire, &field->scalar);
    case STOWI_ONNX_WIRE_FIXED64:
    case STOWI_ONNX_WIRE_FIXED32: return read_fixed(wire, field);
    case STOWI_ONNX_WIRE_BYTES: return read_bytes(wire, field);
    default: wire->at = field->start; return fail(wire, "unknown wire type");
  }
}

// Steps over a group and those within it; their ends must match their starts.
static bool read_group(stowi_onnx_wire* wire, stowi_onnx_wire_field* group) {
  uint32_t open[DEEPEST_GROUP] = {group->number};
  size_t depth = 1;
  group->bytes.data = wire->at;
  while (depth > 0) {
    stowi_onnx_wire_field inner = {0};
    if (!read_tag(wire, &inner)) {
      return wire->error == NULL && fail(wire, "a group is not closed");
    }
    if (inner.type == STOWI_ONNX_WIRE_GROUP_END) {
      if (inner.number != open[--depth]) {
        wire->at = inner.start;
        return fail(wire, "a group ends that was not opened");
      }
    } else if (inner.type == STOWI_ONNX_WIRE_GROUP) {
      if (depth == DEEPEST_GROUP) {
        return fail(wire, "groups are nested too deeply");
      }
      open[depth++] = inner.number;
    } else if (!read_payload(wire, &inner)) {
      return false;
    }
    group->bytes.size = (size_t)(inner.start - group->bytes.data);
  }
  return true;
}

bool stowi_onnx_wire_next(stowi_onnx_wire* wire, stowi_onnx_wire_field* out_field) {
  *out_field = (stowi_onnx_wire_field){0};
  if (!read_tag(wire, out_field)) {
    return false;
  }
  if (out_field->type == STOWI_ONNX_WIRE_GROUP) {
    return read_group(wire, out_field);
  }
  return read_payload(wire, out_field);
}

const char* stowi_onnx_wire_type_name(stowi_onnx_wire_type type) {
  switch (type) {
    case STOWI_ONNX_WIRE_VARINT: return "a varint";
    case STOWI_ONNX_WIRE_FIXED64: return "8 bytes";
    case STOWI_ONNX_WIRE_BYTES: return "a length and bytes";
    case STOWI_ONNX_WIRE_FIXED32: return "4 bytes";
    default: return "a group";
  }
}
