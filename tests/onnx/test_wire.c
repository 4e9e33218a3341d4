// The cursor over the wire format.
#include <string.h>

#include "onnx/reader/wire.h"
#include "support/test.h"

static stowi_onnx_wire wire_of(const uint8_t* bytes, size_t size) {
  return stowi_onnx_wire_begin((stowi_onnx_span){bytes, size});
}

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

// Runs to the end; returns the error, "" where there is none, and how many fields came before.
static const char* run(const uint8_t* bytes, size_t size, size_t* out_fields) {
  // A copy of its own, so that a sanitizer sees a read behind the end.
  static uint8_t copy[512];
  uint8_t* start = copy + sizeof(copy) - size;
  memcpy(start, bytes, size);
  stowi_onnx_wire wire = wire_of(start, size);
  stowi_onnx_wire_field field;
  *out_fields = 0;
  while (stowi_onnx_wire_next(&wire, &field)) {
    ++*out_fields;
    CHECK(field.start >= start && field.start < start + size);
    CHECK(field.bytes.data == NULL || field.bytes.data + field.bytes.size <= start + size);
  }
  return wire.error == NULL ? "" : wire.error;
}

TEST(EmptyMessageHasNoFields) {
  stowi_onnx_wire wire = wire_of(NULL, 0);
  stowi_onnx_wire_field field;
  CHECK(!stowi_onnx_wire_next(&wire, &field));
  CHECK(wire.error == NULL);
}

TEST(EveryTypeIsRead) {
  static const uint8_t bytes[] = {0x08, 0x96, 0x01,                        // 1: varint 150
                                  0x11, 1,    2,    3,   4,   5, 6, 7, 8,  // 2: fixed64
                                  0x1a, 0x03, 'a',  'b', 'c',              // 3: bytes
                                  0x25, 1,    2,    3,   4};               // 4: fixed32
  stowi_onnx_wire wire = wire_of(bytes, sizeof(bytes));
  stowi_onnx_wire_field field;
  REQUIRE(stowi_onnx_wire_next(&wire, &field));
  CHECK(field.number == 1 && field.type == STOWI_ONNX_WIRE_VARINT && field.scalar == 150);
  REQUIRE(stowi_onnx_wire_next(&wire, &field));
  CHECK(field.number == 2 && field.scalar == UINT64_C(0x0807060504030201));
  REQUIRE(stowi_onnx_wire_next(&wire, &field));
  CHECK(field.number == 3 && field.bytes.size == 3 && memcmp(field.bytes.data, "abc", 3) == 0);
  REQUIRE(stowi_onnx_wire_next(&wire, &field));
  CHECK(field.number == 4 && field.scalar == 0x04030201);
  CHECK(!stowi_onnx_wire_next(&wire, &field) && wire.error == NULL);
}

TEST(NegativeNumbersTakeTenBytes) {
  static const uint8_t bytes[] = {0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
  stowi_onnx_wire wire = wire_of(bytes, sizeof(bytes));
  stowi_onnx_wire_field field;
  REQUIRE(stowi_onnx_wire_next(&wire, &field));
  CHECK((int64_t)field.scalar == -1);
}

TEST(BitsAboveSixtyFourAreDropped) {
  static const uint8_t bytes[] = {0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f};
  stowi_onnx_wire wire = wire_of(bytes, sizeof(bytes));
  stowi_onnx_wire_field field;
  REQUIRE(stowi_onnx_wire_next(&wire, &field));
  CHECK_U64(field.scalar, UINT64_C(1) << 63);
}

TEST(MalformedFieldsAreErrors) {
  size_t fields;
  CHECK_TEXT(run(BYTES(0x80), &fields), "a number is truncated");
  CHECK_TEXT(run(BYTES(0x08), &fields), "a number is truncated");
  CHECK_TEXT(run(BYTES(0x08, 0x80), &fields), "a number is truncated");
  CHECK_TEXT(
      run(BYTES(0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01), &fields),
      "a number has more than 10 bytes");
  CHECK_TEXT(run(BYTES(0x0d, 1, 2, 3), &fields), "a number is truncated");
  CHECK_TEXT(run(BYTES(0x09, 1, 2, 3, 4, 5, 6, 7), &fields), "a number is truncated");
  CHECK_TEXT(run(BYTES(0x0a), &fields), "a number is truncated");
  CHECK_TEXT(run(BYTES(0x0a, 0x02, 'a'), &fields), "a length exceeds the message");
  CHECK_TEXT(run(BYTES(0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01), &fields),
             "a length exceeds the message");
  CHECK_TEXT(run(BYTES(0x00, 0x00), &fields), "a field number is out of range");
  CHECK_TEXT(run(BYTES(0x80, 0x80, 0x80, 0x80, 0x10, 0x00), &fields),
             "a field number is out of range");
  CHECK_TEXT(run(BYTES(0x0e, 0x00), &fields), "unknown wire type");
  CHECK_TEXT(run(BYTES(0x0f, 0x00), &fields), "unknown wire type");
  CHECK_TEXT(run(BYTES(0x08, 0x01, 0x0c), &fields), "unknown wire type");
  CHECK_U64(fields, 1);
}

TEST(GroupsAreSteppedOver) {
  size_t fields;
  CHECK_TEXT(run(BYTES(0x0b, 0x10, 0x05, 0x0c, 0x08, 0x01), &fields), "");
  CHECK_U64(fields, 2);
  CHECK_TEXT(run(BYTES(0x0b, 0x13, 0x1a, 0x01, 'x', 0x14, 0x0c), &fields), "");
  CHECK_U64(fields, 1);
  CHECK_TEXT(run(BYTES(0x0b, 0x10, 0x05), &fields), "a group is not closed");
  CHECK_TEXT(run(BYTES(0x0b, 0x14), &fields), "a group ends that was not opened");
  CHECK_TEXT(run(BYTES(0x0b, 0x1a, 0x05), &fields), "a length exceeds the message");
  uint8_t deep[100];
  memset(deep, 0x0b, sizeof(deep));
  CHECK_TEXT(run(deep, sizeof(deep), &fields), "groups are nested too deeply");
}

TEST(PackedRunsAreCountedAndRead) {
  static const uint8_t bytes[] = {0x01, 0x96, 0x01, 0x00};
  CHECK_U64(stowi_onnx_wire_count_varints((stowi_onnx_span){bytes, sizeof(bytes)}), 3);
  stowi_onnx_wire wire = wire_of(bytes, sizeof(bytes));
  uint64_t numbers[3] = {9, 9, 9};
  for (size_t i = 0; i < 3; ++i) {
    REQUIRE(stowi_onnx_wire_varint(&wire, &numbers[i]));
  }
  uint64_t more;
  CHECK(numbers[0] == 1 && numbers[1] == 150 && numbers[2] == 0);
  CHECK(!stowi_onnx_wire_varint(&wire, &more) && wire.error == NULL);
}

TEST(RandomBytesNeverReadOutside) {
  test_random random = {7};
  for (int trial = 0; trial < 20000; ++trial) {
    uint8_t bytes[48];
    size_t size = (size_t)test_random_below(&random, sizeof(bytes) + 1);
    for (size_t i = 0; i < size; ++i) {
      bytes[i] = (uint8_t)test_random_below(&random, 40);
    }
    size_t fields;
    run(bytes, size, &fields);
  }
}
