// Tests of data of params and constants: borrowed, copied and inline.
#include <math.h>

#include "graph/api.h"
#include "graph_support.h"

static stow_call* begin_constant(stow_graph* graph, const char* name, stow_type type) {
  stow_call* call = stow_graph_begin(graph, STOW_OP_CONSTANT);
  stow_call_name(call, 0, stow_str_of(name));
  stow_call_result_type(call, &type);
  return call;
}

static void call_floats(stow_call* call, const double* values, size_t count) {
  stow_attr attr = {
      .name = stow_str_of("data"), .kind = STOW_ATTR_FLOATS, .count = count, .floats = values};
  stow_call_attr(call, &attr);
}

TEST(BorrowedDataStaysWhereItIs) {
  stow_graph* graph = make_graph();
  static const float weights[2] = {1, 2};
  stow_call* call = begin_constant(graph, "k", VECTOR(STOW_F32, 2));
  stow_call_data(call, weights, sizeof(weights), false);
  REQUIRE(stow_call_finish(call, NULL, NULL) == STOW_OK);
  size_t size;
  CHECK(stow_graph_data(graph, 0, &size) == weights);
  CHECK_U64(size, 8);
  stow_graph_destroy(graph);
}

TEST(CopiedDataOutlivesItsSource) {
  stow_graph* graph = make_graph();
  for (uint32_t i = 0; i < 20; ++i) {
    unsigned char bytes[2000];
    size_t size = 100 * (i + 1);
    memset(bytes, (int)i, sizeof(bytes));
    char name[] = "a";
    name[0] = (char)('a' + i);
    stow_call* call = begin_constant(graph, name, VECTOR(STOW_U8, (stow_dim)size));
    stow_call_data(call, bytes, size, true);
    memset(bytes, 0xff, sizeof(bytes));
    REQUIRE(stow_call_finish(call, NULL, NULL) == STOW_OK);
    add_unary(graph, STOW_OP_RELU, i * 2);
  }
  for (uint32_t i = 0; i < 20; ++i) {
    size_t size;
    const unsigned char* bytes = (const unsigned char*)stow_graph_data(graph, i * 2, &size);
    REQUIRE(bytes != NULL);
    CHECK_U64(size, 100 * (i + 1));
    CHECK_U64(bytes[size - 1], i);
    CHECK(stow_graph_data(graph, i * 2 + 1, &size) == NULL);
    CHECK_U64(size, 0);
  }
  stow_graph_destroy(graph);
}

TEST(DataOfADroppedCallIsFreed) {
  stow_graph* graph = make_graph();
  unsigned char bytes[2000] = {0};
  stow_call* call = begin_constant(graph, "k", VECTOR(STOW_U8, 2000));
  stow_call_data(call, bytes, sizeof(bytes), true);
  begin_region(graph);
  call = begin_constant(graph, "k", VECTOR(STOW_U8, 2000));
  stow_call_data(call, bytes, sizeof(bytes), true);
  stow_graph_destroy(graph);
}

TEST(EmptyDataIsData) {
  stow_graph* graph = make_graph();
  stow_call* call = begin_constant(graph, "k", VECTOR(STOW_F32, 0));
  stow_call_data(call, NULL, 0, true);
  REQUIRE(stow_call_finish(call, NULL, NULL) == STOW_OK);
  CHECK(stow_graph_data(graph, 0, NULL) != NULL);
  stow_graph_destroy(graph);
}

TEST(UnreadDataIsDataThatNobodySees) {
  stow_graph* graph = make_graph();
  stow_call* call = begin_constant(graph, "k", VECTOR(STOW_I64, 2));
  stowi_graph_call_unread(call, 16);
  REQUIRE(stow_call_finish(call, NULL, NULL) == STOW_OK);
  call = begin_constant(graph, "none", VECTOR(STOW_I64, 2));
  REQUIRE(stow_call_finish(call, NULL, NULL) == STOW_OK);
  size_t size = 1;
  CHECK(stow_graph_data(graph, 0, &size) == NULL);
  CHECK_U64(size, 0);
  CHECK(!stow_graph_is_known(graph, 0));
  CHECK(stowi_graph_has_data(graph, 0));
  CHECK(!stowi_graph_has_data(graph, 1));
  call = begin_constant(graph, "small", VECTOR(STOW_I64, 2));
  stowi_graph_call_unread(call, 8);
  CHECK(stow_call_finish(call, NULL, NULL) == STOW_ERR_TYPE);
  stow_graph_destroy(graph);
}

TEST(DataMustFitTheType) {
  stow_graph* graph = make_graph();
  static const float weights[2] = {1, 2};
  stow_call* call = begin_constant(graph, "k", VECTOR(STOW_F32, 3));
  stow_call_data(call, weights, sizeof(weights), true);
  CHECK_REFUSED(call, STOW_ERR_TYPE, "constant: data has 8 bytes, which does not match f32[3]");
  stow_dim n = stow_dim_symbol(stow_graph_edit_dims(graph), stow_str_of("n"));
  call = begin_constant(graph, "k", VECTOR(STOW_F32, n));
  stow_call_data(call, weights, sizeof(weights), false);
  CHECK_REFUSED(call, STOW_ERR_TYPE, "constant: data has 8 bytes, which does not match f32[?n]");
  call = begin_constant(graph, "k", VECTOR(STOW_F32, 2));
  stow_call_data(call, NULL, 8, false);
  CHECK_REFUSED(call, STOW_ERR_INVALID_ARGUMENT, "data is NULL but has 8 bytes");
  call = begin_constant(graph, "k", VECTOR(STOW_F32, 2));
  stow_call_data(call, weights, 8, false);
  stow_call_data(call, weights, 8, false);
  CHECK_REFUSED(call, STOW_ERR_DUPLICATE, "data is given twice");
  call = stow_graph_begin(graph, STOW_OP_RELU);
  stow_call_data(call, weights, 8, false);
  CHECK_REFUSED(call, STOW_ERR_INVALID_ARGUMENT,
                "relu: only inputs, params and constants have data");
  CHECK_U64(stow_graph_value_count(graph), 0);
  stow_graph_destroy(graph);
}

TEST(DataMayBeGivenInOneWayOnly) {
  stow_graph* graph = make_graph();
  static const float weights[2] = {1, 2};
  int64_t numbers[2] = {1, 2};
  stow_call* call = begin_constant(graph, "k", VECTOR(STOW_F32, 2));
  stow_call_data(call, weights, 8, false);
  stow_call_attr_ints(call, "data", numbers, 2);
  CHECK_REFUSED(call, STOW_ERR_CONFLICT, "data is given in more than one way");
  stow_graph_destroy(graph);
}

TEST(SourcesMayBeNamed) {
  stow_graph* graph = make_graph();
  static const float weights[2] = {1, 2};
  int64_t numbers[2] = {1, 2};
  stow_call* call = begin_constant(graph, "k", VECTOR(STOW_F32, 2));
  stow_call_data(call, weights, 8, false);
  stow_call_attr_string(call, "source", stow_str_of("w.bin"));
  stow_call_attr_int(call, "at", 4);
  stow_call_attr_int(call, "bytes", 8);
  CHECK(stow_call_finish(call, NULL, NULL) == STOW_OK);
  CHECK(stow_graph_data(graph, 0, NULL) == weights);
  call = begin_constant(graph, "l", VECTOR(STOW_F32, 2));
  stow_call_attr_string(call, "source", stow_str_of("w.bin"));
  stow_call_attr_int(call, "at", 4);
  stow_call_attr_int(call, "bytes", 8);
  stow_call_attr_ints(call, "data", numbers, 2);
  CHECK(stow_call_finish(call, NULL, NULL) == STOW_OK);
  size_t size;
  const void* bytes = stow_graph_data(graph, 1, &size);
  CHECK(bytes != NULL && size == sizeof(weights) && memcmp(bytes, weights, size) == 0);
  stow_graph_destroy(graph);
}

TEST(SourcesNeedAnOffsetAndASize) {
  stow_graph* graph = make_graph();
  stow_call* call = begin_constant(graph, "k", VECTOR(STOW_F32, 2));
  stow_call_attr_string(call, "source", stow_str_of("w.bin"));
  CHECK_REFUSED(call, STOW_ERR_INVALID_ARGUMENT, "\"source\" needs \"at\" and \"bytes\"");
  call = begin_constant(graph, "k", VECTOR(STOW_F32, 2));
  stow_call_attr_int(call, "at", 4);
  CHECK_REFUSED(call, STOW_ERR_INVALID_ARGUMENT, "need a \"source\"");
  call = begin_constant(graph, "k", VECTOR(STOW_F32, 2));
  stow_call_attr_string(call, "source", stow_str_of("w.bin"));
  stow_call_attr_int(call, "at", -4);
  stow_call_attr_int(call, "bytes", 8);
  CHECK_REFUSED(call, STOW_ERR_INVALID_ARGUMENT, "both 0 or more");
  call = begin_constant(graph, "k", VECTOR(STOW_F32, 2));
  stow_call_attr_string(call, "source", stow_str_of("w.bin"));
  stow_call_attr_int(call, "at", 4);
  stow_call_attr_int(call, "bytes", 9);
  CHECK_REFUSED(call, STOW_ERR_TYPE, "the source has 9 bytes, which does not match f32[2]");
  call = begin_constant(graph, "k", VECTOR(STOW_F32, 2));
  stow_call_attr_string(call, "source", stow_str_of("w.bin"));
  stow_call_attr_int(call, "at", 4);
  stow_call_attr_int(call, "bytes", 8);
  CHECK(stow_call_finish(call, NULL, NULL) == STOW_OK);
  CHECK(stow_graph_data(graph, 0, NULL) == NULL);
  stow_graph_destroy(graph);
}

// ---------------------------------------------------------------------------------------------
// Inline numbers

static void check_ints(stow_dtype dtype, const int64_t* numbers, size_t count, const void* expected,
                       size_t size) {
  stow_graph* graph = make_graph();
  stow_call* call = begin_constant(graph, "k", VECTOR(dtype, (stow_dim)count));
  stow_call_attr_ints(call, "data", numbers, count);
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_call_finish(call, &diag, NULL) == STOW_OK);
  CHECK_TEXT(diag.message, "");
  size_t actual;
  const void* bytes = stow_graph_data(graph, 0, &actual);
  CHECK_U64(actual, size);
  CHECK(bytes != NULL && actual == size && memcmp(bytes, expected, size) == 0);
  stow_graph_destroy(graph);
}

TEST(InlineIntegersAreStoredInTheirWidth) {
  int64_t numbers[4] = {0, 1, -1, 100};
  int64_t small[5] = {1, -2, 7, -8, 3};
  int64_t pairs[5] = {1, -2, 0, -1, 1};
  int64_t flags[3] = {1, 0, 1};
  int64_t positive[3] = {1, 2, 15};
  check_ints(STOW_I8, numbers, 4, (int8_t[]){0, 1, -1, 100}, 4);
  check_ints(STOW_I16, numbers, 4, (int16_t[]){0, 1, -1, 100}, 8);
  check_ints(STOW_I32, numbers, 4, (int32_t[]){0, 1, -1, 100}, 16);
  check_ints(STOW_I64, numbers, 4, numbers, 32);
  check_ints(STOW_U8, positive, 3, (uint8_t[]){1, 2, 15}, 3);
  check_ints(STOW_U16, positive, 3, (uint16_t[]){1, 2, 15}, 6);
  check_ints(STOW_U32, positive, 3, (uint32_t[]){1, 2, 15}, 12);
  check_ints(STOW_U64, positive, 3, (uint64_t[]){1, 2, 15}, 24);
  check_ints(STOW_BOOL, flags, 3, (uint8_t[]){1, 0, 1}, 3);
  check_ints(STOW_I4, small, 5, (uint8_t[]){0xe1, 0x87, 0x03}, 3);
  check_ints(STOW_U4, positive, 3, (uint8_t[]){0x21, 0x0f}, 2);
  check_ints(STOW_I2, pairs, 5, (uint8_t[]){0xc9, 0x01}, 2);
  check_ints(STOW_U2, flags, 3, (uint8_t[]){0x11}, 1);
  check_ints(STOW_F32, numbers, 4, (float[]){0, 1, -1, 100}, 16);
  check_ints(STOW_F64, numbers, 4, (double[]){0, 1, -1, 100}, 32);
  check_ints(STOW_F32, NULL, 0, "", 0);
}

TEST(InlineIntegersMustBeInRange) {
  struct {
    stow_dtype dtype;
    int64_t number;
  } cases[] = {{STOW_I8, 128},        {STOW_I8, -129},   {STOW_U8, 256},   {STOW_U8, -1},
               {STOW_I16, 32768},     {STOW_U16, 65536}, {STOW_BOOL, 2},   {STOW_I4, 8},
               {STOW_I4, -9},         {STOW_U4, 16},     {STOW_I2, 2},     {STOW_U2, 4},
               {STOW_I32, INT64_MAX}, {STOW_U64, -1},    {STOW_F16, 65536}};
  stow_graph* graph = make_graph();
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    stow_call* call = begin_constant(graph, "k", VECTOR(cases[i].dtype, 1));
    stow_call_attr_ints(call, "data", &cases[i].number, 1);
    CHECK_REFUSED(call, STOW_ERR_TYPE, "element 0 of the inline data is out of ");
  }
  stow_graph_destroy(graph);
}

TEST(InlineDataIsRefusedWhereItCannotBeEncoded) {
  stow_graph* graph = make_graph();
  int64_t numbers[1025] = {0};
  double half = 0.5;
  stow_call* call = begin_constant(graph, "k", VECTOR(STOW_I32, 1025));
  stow_call_attr_ints(call, "data", numbers, 1025);
  CHECK_REFUSED(call, STOW_ERR_LIMIT, "inline data has 1025 elements, the maximum is 1024");
  call = begin_constant(graph, "k", VECTOR(STOW_I32, 3));
  stow_call_attr_ints(call, "data", numbers, 2);
  CHECK_REFUSED(call, STOW_ERR_TYPE, "inline data has 2 elements, which does not match i32[3]");
  call = begin_constant(graph, "k", VECTOR(STOW_C64, 1));
  stow_call_attr_ints(call, "data", numbers, 1);
  CHECK_REFUSED(call, STOW_ERR_TYPE, "integers cannot be written as inline data for c64[1]");
  call = begin_constant(graph, "k", VECTOR(STOW_F8E5M2, 1));
  call_floats(call, &half, 1);
  CHECK_REFUSED(call, STOW_ERR_TYPE, "floats cannot be written as inline data for f8e5m2[1]");
  call = begin_constant(graph, "k", VECTOR(STOW_I32, 1));
  call_floats(call, &half, 1);
  CHECK_REFUSED(call, STOW_ERR_TYPE, "floats cannot be written as inline data for i32[1]");
  call = begin_constant(graph, "k", VECTOR(STOW_F32, 1));
  stow_call_attr_string(call, "data", stow_str_of("1"));
  CHECK_REFUSED(call, STOW_ERR_TYPE, "attribute \"data\" must be a list of integers");
  stow_graph_destroy(graph);
}

// The bits of |number| in |dtype|; false if it is refused.
static bool bits_of(stow_graph* graph, stow_dtype dtype, double number, uint64_t* out) {
  char name[12] = "k";
  uint32_t count = stow_graph_value_count(graph);
  for (size_t i = 1; count != 0; ++i, count /= 26) {
    name[i] = (char)('a' + count % 26);
  }
  stow_call* call = begin_constant(graph, name, VECTOR(dtype, 1));
  call_floats(call, &number, 1);
  stow_node node;
  *out = 0;
  if (stow_call_finish(call, NULL, &node) != STOW_OK) {
    return false;
  }
  size_t size;
  const void* bytes = stow_graph_data(graph, stow_graph_first_result(graph, node), &size);
  uint16_t half;
  uint32_t word;
  if (size == 2) {
    memcpy(&half, bytes, 2);
    *out = half;
  } else if (size == 4) {
    memcpy(&word, bytes, 4);
    *out = word;
  } else {
    memcpy(out, bytes, 8);
  }
  return true;
}

TEST(InlineFloatsRoundToNearestEven) {
  struct {
    stow_dtype dtype;
    double number;
    uint64_t bits;
  } cases[] = {
      {STOW_F16, 1.0, 0x3c00},
      {STOW_F16, -2.0, 0xc000},
      {STOW_F16, 65504.0, 0x7bff},
      {STOW_F16, 65519.99, 0x7bff},
      {STOW_F16, 0x1p-24, 0x0001},
      {STOW_F16, 0x1p-25, 0x0000},
      {STOW_F16, 0x1.8p-25, 0x0001},
      {STOW_F16, 0x1.8p-24, 0x0002},
      {STOW_F16, 0x1p-14, 0x0400},
      {STOW_F16, 0x1.ffep-15, 0x0400},
      {STOW_F16, 1.0 + 0x1p-11, 0x3c00},
      {STOW_F16, 1.0 + 0x3p-11, 0x3c02},
      {STOW_F16, -0.0, 0x8000},
      {STOW_F16, 0x1p-1074, 0x0000},
      {STOW_F16, (double)INFINITY, 0x7c00},
      {STOW_F16, -(double)INFINITY, 0xfc00},
      {STOW_BF16, 1.0, 0x3f80},
      {STOW_BF16, 1.0 + 0x1p-8, 0x3f80},
      {STOW_BF16, 1.0 + 0x3p-8, 0x3f82},
      {STOW_BF16, 0x1p-133, 0x0001},
      {STOW_F32, 0.1, 0x3dcccccd},
      {STOW_F32, 0x1p-149, 0x00000001},
      {STOW_F64, 0.1, 0x3fb999999999999a},
  };
  stow_graph* graph = make_graph();
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    uint64_t bits;
    CHECK(bits_of(graph, cases[i].dtype, cases[i].number, &bits));
    CHECK_U64(bits, cases[i].bits);
  }
  uint64_t bits;
  CHECK(bits_of(graph, STOW_F16, (double)NAN, &bits));
  CHECK_U64(bits & 0x7e00, 0x7e00);
  CHECK(!bits_of(graph, STOW_F16, 65520.0, &bits));
  CHECK(!bits_of(graph, STOW_F32, 1e300, &bits));
  CHECK(!bits_of(graph, STOW_BF16, -3.4e38 * 1.1, &bits));
  stow_graph_destroy(graph);
}

// The machine's own conversion to float is right to the last bit in the default rounding mode.
TEST(InlineF32AgreesWithTheMachine) {
  stow_graph* graph = make_graph();
  test_random random = {11};
  size_t cases = test_is_long() ? 200000 : 3000;
  for (size_t i = 0; i < cases; ++i) {
    uint64_t raw = test_random_u64(&random);
    uint64_t exponent = 1023 - 155 + test_random_below(&random, 155 + 127);
    raw = (raw & ~(UINT64_C(0x7ff) << 52)) | exponent << 52;
    if (i % 4 == 0) {
      raw &= ~UINT64_C(0xfffffff);  // often halfway
    }
    double number;
    memcpy(&number, &raw, 8);
    float expected = (float)number;
    uint32_t expected_bits;
    memcpy(&expected_bits, &expected, 4);
    uint64_t bits;
    CHECK(bits_of(graph, STOW_F32, number, &bits));
    if (!CHECK_U64(bits, expected_bits)) {
      break;
    }
  }
  stow_graph_destroy(graph);
}
