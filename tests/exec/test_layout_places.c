// Where results and operands lie beyond what a case runs by itself: operands of a concat inside its
// result, parts of a split inside its operand, and copies of random layouts against the plain
// definition.
#include <string.h>

#include "exec/kernels/layout/strided.h"
#include "exec/kernels/table.h"
#include "support/test.h"

#define MOST 4

static stow_tensor tensor(void* data, stow_dtype dtype, uint32_t rank, int64_t a, int64_t b) {
  stow_tensor t = {.data = data, .dtype = dtype, .rank = rank, .dims = {a, b}};
  return t;
}

static void run(stow_op op, const stow_tensor* operands, size_t operand_count, stow_tensor* results,
                size_t result_count, int64_t axis) {
  const stow_tensor* operand_list[MOST];
  stow_tensor* result_list[MOST];
  for (size_t i = 0; i < operand_count; ++i) {
    operand_list[i] = &operands[i];
  }
  for (size_t i = 0; i < result_count; ++i) {
    result_list[i] = &results[i];
  }
  stow_attr attr = {.name = stow_str_of("axis"), .kind = STOW_ATTR_INT, .i = axis};
  stow_kernel_call call = {.struct_size = sizeof(call),
                           .op = op,
                           .operand_count = operand_count,
                           .operands = operand_list,
                           .result_count = result_count,
                           .results = result_list,
                           .attr_count = 1,
                           .attrs = &attr,
                           .workers = 1};
  CHECK(stowi_kernel_of(op)->run(&call) == STOW_OK);
}

#define CHECK_NUMBERS(actual, ...) \
  CHECK(memcmp((actual), (int32_t[]){__VA_ARGS__}, sizeof((int32_t[]){__VA_ARGS__})) == 0)

// ---------------------------------------------------------------------------------------------
// concat

TEST(ConcatSpreadsRowsOfItsFirstOperand) {
  int32_t bytes[9] = {1, 2, 3, 4, 5, 6};
  int32_t more[3] = {7, 8, 9};
  stow_tensor operands[] = {tensor(bytes, STOW_I32, 2, 3, 2), tensor(more, STOW_I32, 2, 3, 1)};
  stow_tensor result = tensor(bytes, STOW_I32, 2, 3, 3);
  run(STOW_OP_CONCAT, operands, 2, &result, 1, 1);
  CHECK_NUMBERS(bytes, 1, 2, 7, 3, 4, 8, 5, 6, 9);
}

TEST(ConcatKeepsOperandsBuiltInsideTheResult) {
  int32_t bytes[6] = {0, 0, 3, 4, 5, 0};
  int32_t first[2] = {1, 2};
  int32_t last[1] = {6};
  stow_tensor operands[] = {tensor(first, STOW_I32, 1, 2, 0), tensor(bytes + 2, STOW_I32, 1, 3, 0),
                            tensor(last, STOW_I32, 1, 1, 0)};
  stow_tensor result = tensor(bytes, STOW_I32, 1, 6, 0);
  run(STOW_OP_CONCAT, operands, 3, &result, 1, 0);
  CHECK_NUMBERS(bytes, 1, 2, 3, 4, 5, 6);
}

// Planned as 3 + 3 + 3 elements; 1, 3 and 2 there are.
TEST(ConcatMovesOperandsThatWerePlannedLarger) {
  int32_t bytes[9] = {1, -1, -1, 2, 3, 4, 5, 6, -1};
  stow_tensor operands[] = {tensor(bytes, STOW_I32, 1, 1, 0), tensor(bytes + 3, STOW_I32, 1, 3, 0),
                            tensor(bytes + 6, STOW_I32, 1, 2, 0)};
  stow_tensor result = tensor(bytes, STOW_I32, 1, 6, 0);
  run(STOW_OP_CONCAT, operands, 3, &result, 1, 0);
  CHECK_NUMBERS(bytes, 1, 2, 3, 4, 5, 6);
}

// The second and third operands are one value, which lies where the second was planned.
TEST(ConcatReadsAnOperandWhereItWasMoved) {
  int32_t bytes[9] = {-1, -1, -1, 2, 3, 4, -1, -1, -1};
  int32_t first[2] = {0, 1};
  stow_tensor operands[] = {tensor(first, STOW_I32, 1, 2, 0), tensor(bytes + 3, STOW_I32, 1, 3, 0),
                            tensor(bytes + 3, STOW_I32, 1, 3, 0)};
  stow_tensor result = tensor(bytes, STOW_I32, 1, 8, 0);
  run(STOW_OP_CONCAT, operands, 3, &result, 1, 0);
  CHECK_NUMBERS(bytes, 0, 1, 2, 3, 4, 2, 3, 4);
}

// ---------------------------------------------------------------------------------------------
// split

TEST(SplitWritesOnePartInPlace) {
  int32_t bytes[6] = {1, 2, 3, 4, 5, 6};
  int32_t first[2];
  int32_t last[2];
  stow_tensor x = tensor(bytes, STOW_I32, 2, 2, 3);
  stow_tensor parts[] = {tensor(first, STOW_I32, 2, 2, 1), tensor(bytes, STOW_I32, 2, 2, 1),
                         tensor(last, STOW_I32, 2, 2, 1)};
  run(STOW_OP_SPLIT, &x, 1, parts, 3, 1);
  CHECK_NUMBERS(first, 1, 4);
  CHECK_NUMBERS(bytes, 2, 5);
  CHECK_NUMBERS(last, 3, 6);
}

TEST(SplitKeepsPartsThatAreViews) {
  int32_t bytes[4] = {1, 2, 3, 4};
  stow_tensor x = tensor(bytes, STOW_I32, 1, 4, 0);
  stow_tensor parts[] = {tensor(bytes, STOW_I32, 1, 2, 0), tensor(bytes + 2, STOW_I32, 1, 2, 0)};
  run(STOW_OP_SPLIT, &x, 1, parts, 2, 0);
  CHECK_NUMBERS(bytes, 1, 2, 3, 4);
}

// Planned as 3 × 3 elements; 3 × 2 there are.
TEST(SplitMovesPartsThatWerePlannedLarger) {
  int32_t bytes[9] = {1, 2, 3, 4, 5, 6, -1, -1, -1};
  stow_tensor x = tensor(bytes, STOW_I32, 1, 6, 0);
  stow_tensor parts[] = {tensor(bytes, STOW_I32, 1, 2, 0), tensor(bytes + 3, STOW_I32, 1, 2, 0),
                         tensor(bytes + 6, STOW_I32, 1, 2, 0)};
  run(STOW_OP_SPLIT, &x, 1, parts, 3, 0);
  CHECK_NUMBERS(bytes, 1, 2);
  CHECK_NUMBERS(bytes + 3, 3, 4);
  CHECK_NUMBERS(bytes + 6, 5, 6);
}

// ---------------------------------------------------------------------------------------------
// Copies between random layouts

#define SIDE 150
#define ROOM (1 << 20)  // more than is copied undivided

static uint8_t from[ROOM];
static uint8_t to[ROOM];
static uint8_t expected[ROOM];

static void split_in_halves(void* pool, size_t count, size_t grain, stow_split_task task,
                            void* user) {
  (void)pool;
  (void)grain;
  task(user, count / 2, count, 1);
  task(user, 0, count / 2, 0);
}

// Dims of the destination in an order of its own, some of them turned round or repeated.
static void random_layout(stowi_kernel_strided* s, test_random* random) {
  memset(s, 0, sizeof(*s));
  s->rank = 1 + (uint32_t)test_random_below(random, 4);
  uint32_t order[4] = {0, 1, 2, 3};
  int64_t stride = 1;
  for (uint32_t i = s->rank; i-- > 0;) {
    s->dims[i] = 1 + (int64_t)test_random_below(random, i + 2 >= s->rank ? SIDE : 3);
    s->to[i] = stride;
    stride *= s->dims[i];
  }
  for (uint32_t i = s->rank; i > 1; --i) {
    uint32_t j = (uint32_t)test_random_below(random, i);
    uint32_t swap = order[i - 1];
    order[i - 1] = order[j];
    order[j] = swap;
  }
  stride = 1;
  for (uint32_t i = 0; i < s->rank; ++i) {
    uint32_t k = order[i];
    uint64_t kind = test_random_below(random, 8);
    s->from[k] = kind == 0 ? 0 : kind == 1 ? -stride : stride;
    s->from_first += kind == 1 ? (s->dims[k] - 1) * stride : 0;
    stride *= kind == 0 ? 1 : s->dims[k];
  }
}

static void copy_plainly(const stowi_kernel_strided* s, size_t width) {
  size_t count = 1;
  for (uint32_t i = 0; i < s->rank; ++i) {
    count *= (size_t)s->dims[i];
  }
  for (size_t i = 0; i < count; ++i) {
    size_t rest = i;
    int64_t at = s->from_first;
    for (uint32_t k = s->rank; k-- > 0;) {
      at += (int64_t)(rest % (size_t)s->dims[k]) * s->from[k];
      rest /= (size_t)s->dims[k];
    }
    memcpy(expected + i * width, from + (size_t)at * width, width);
  }
}

TEST(CopiesBetweenLayoutsFollowTheDefinition) {
  static const stow_dtype dtypes[] = {STOW_U8, STOW_U16, STOW_U32, STOW_U64, STOW_C128};
  test_random random = {7};
  for (size_t i = 0; i < ROOM; ++i) {
    from[i] = (uint8_t)test_random_u64(&random);
  }
  for (size_t round = 0; round < 600; ++round) {
    size_t choice = test_random_below(&random, 5);
    size_t width = (size_t)1 << choice;
    stowi_kernel_strided s;
    do {
      random_layout(&s, &random);
    } while ((size_t)(s.to[0] * s.dims[0]) * width > ROOM);
    stow_kernel_call call = {.struct_size = sizeof(call),
                             .workers = 1 + (uint32_t)(round % 2),
                             .splitter = {split_in_halves, NULL}};
    memset(to, 0, sizeof(to));
    memset(expected, 0, sizeof(expected));
    copy_plainly(&s, width);
    stowi_kernel_strided_copy(&call, dtypes[choice], from, to, &s);
    REQUIRE(memcmp(to, expected, sizeof(to)) == 0);
  }
}

// The same with each element in a byte of its own.
static uint8_t nibble(const uint8_t* data, size_t i) {
  return i % 2 == 0 ? data[i / 2] & 15 : data[i / 2] >> 4;
}

TEST(PackedCopiesFollowTheDefinition) {
  static uint8_t packed[ROOM];
  test_random random = {8};
  for (size_t i = 0; i < ROOM / 2; ++i) {
    packed[i] = (uint8_t)test_random_u64(&random);
    from[2 * i] = nibble(packed, 2 * i);
    from[2 * i + 1] = nibble(packed, 2 * i + 1);
  }
  for (size_t round = 0; round < 50; ++round) {
    stowi_kernel_strided s;
    do {
      random_layout(&s, &random);
    } while (s.to[0] * s.dims[0] > ROOM / 2);
    stow_kernel_call call = {.struct_size = sizeof(call), .workers = 1};
    size_t count = (size_t)(s.to[0] * s.dims[0]);
    copy_plainly(&s, 1);
    memset(to, 0xff, sizeof(to));
    stowi_kernel_strided_copy(&call, STOW_U4, packed, to, &s);
    for (size_t i = 0; i < count; ++i) {
      REQUIRE(nibble(to, i) == expected[i]);
    }
    REQUIRE(nibble(to, count) == 15);
  }
}
