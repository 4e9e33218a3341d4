// Walks over broadcast operands against the plain definition: an index per dim, for random dims,
// from any element to any other.
#include <string.h>

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/walk.h"
#include "support/test.h"

#define OPERANDS 3

typedef struct nest {
  stow_tensor result;
  stow_tensor operands[OPERANDS];
  const stow_tensor* list[OPERANDS];
} nest;

static void make_nest(nest* n, test_random* random) {
  memset(n, 0, sizeof(*n));
  n->result.rank = (uint32_t)test_random_below(random, 6);
  for (uint32_t i = 0; i < n->result.rank; ++i) {
    n->result.dims[i] = (int64_t)test_random_below(random, 4) + (test_random_below(random, 9) != 0);
  }
  for (uint32_t k = 0; k < OPERANDS; ++k) {
    stow_tensor* operand = &n->operands[k];
    operand->rank = (uint32_t)test_random_below(random, n->result.rank + 1);
    for (uint32_t i = 0; i < operand->rank; ++i) {
      int64_t dim = n->result.dims[n->result.rank - operand->rank + i];
      operand->dims[i] = test_random_below(random, 3) == 0 ? 1 : dim;
    }
    n->list[k] = operand;
  }
}

// The operand's element for element |at| of the result.
static size_t index_of(const stow_tensor* operand, const stow_tensor* result, size_t at) {
  size_t index = 0;
  size_t stride = 1;
  for (uint32_t i = 0; i < operand->rank; ++i) {
    size_t dim = (size_t)operand->dims[operand->rank - 1 - i];
    size_t position = at % (size_t)result->dims[result->rank - 1 - i];
    at /= (size_t)result->dims[result->rank - 1 - i];
    index += (dim == 1 ? 0 : position) * stride;
    stride *= dim;
  }
  return index;
}

static bool is_right(const nest* n, const stowi_kernel_run* run) {
  for (uint32_t k = 0; k < OPERANDS; ++k) {
    for (size_t i = 0; i < run->length; ++i) {
      if (run->step[k] > 1 ||
          run->index[k] + i * run->step[k] != index_of(&n->operands[k], &n->result, run->at + i)) {
        return false;
      }
    }
  }
  return true;
}

TEST(RunsCoverTheRangeOnce) {
  test_random random = {7};
  for (int round = 0; round < 3000; ++round) {
    nest n;
    make_nest(&n, &random);
    size_t count = stow_tensor_elements(&n.result);
    size_t begin = count == 0 ? 0 : (size_t)test_random_below(&random, count);
    size_t end = begin + (size_t)test_random_below(&random, count - begin + 1);
    size_t most = test_random_below(&random, 2) == 0 ? SIZE_MAX : 2;
    stowi_kernel_walk walk;
    stowi_kernel_cursor cursor;
    stowi_kernel_run run;
    stowi_kernel_walk_init(&walk, &n.result, n.list, OPERANDS);
    CHECK_U64(walk.count, count);
    stowi_kernel_cursor_init(&cursor, &walk, begin, end);
    size_t at = begin;
    while (stowi_kernel_cursor_next(&cursor, most, &run)) {
      if (!CHECK(run.at == at && run.length != 0 && run.length <= most && is_right(&n, &run))) {
        return;
      }
      at += run.length;
    }
    CHECK_U64(at, end);
  }
}

// Blocks of random operands from any element on, whichever way they are repeated.
TEST(SpreadBlocksAreTheRuns) {
  static int16_t numbers[4096];
  test_random random = {8};
  for (size_t i = 0; i < 4096; ++i) {
    numbers[i] = (int16_t)i;
  }
  for (int round = 0; round < 3000; ++round) {
    nest n;
    make_nest(&n, &random);
    size_t count = stow_tensor_elements(&n.result);
    size_t begin = count == 0 ? 0 : (size_t)test_random_below(&random, count);
    size_t size = (size_t)test_random_below(&random, count - begin + 1);
    stowi_kernel_walk walk;
    stowi_kernel_walk_init(&walk, &n.result, n.list, OPERANDS);
    for (uint32_t k = 0; k < OPERANDS; ++k) {
      float block[4096];
      n.operands[k].data = numbers;
      n.operands[k].dtype = STOW_I16;
      stowi_kernel_spread_f32(&walk, k, &n.operands[k], begin, size, block);
      for (size_t i = 0; i < size; ++i) {
        if (!CHECK(block[i] == (float)index_of(&n.operands[k], &n.result, begin + i))) {
          return;
        }
      }
    }
  }
}

TEST(DimsThatGoTogetherAreMerged) {
  stow_tensor result = {.data = NULL, .dtype = STOW_F32, .rank = 4, .dims = {2, 3, 4, 5}};
  stow_tensor channels = {.data = NULL, .dtype = STOW_F32, .rank = 3, .dims = {3, 1, 1}};
  stow_tensor one = {.data = NULL, .dtype = STOW_F32};
  const stow_tensor* operands[] = {&result, &channels, &one};
  stowi_kernel_walk walk;
  stowi_kernel_walk_init(&walk, &result, operands, 3);
  CHECK(walk.rank == 3 && walk.dims[0] == 2 && walk.dims[1] == 3 && walk.dims[2] == 20);
  operands[1] = &result;
  stowi_kernel_walk_init(&walk, &result, operands, 3);
  CHECK(walk.rank == 1 && walk.dims[0] == 120);
  CHECK(walk.strides[0][0] == 1 && walk.strides[2][0] == 0);
}

TEST(SpreadBlocksAreRepeated) {
  int16_t numbers[] = {1, -2, 3};
  stow_tensor result = {.data = NULL, .dtype = STOW_F32, .rank = 3, .dims = {2, 3, 2}};
  stow_tensor operand = {.data = numbers, .dtype = STOW_I16, .rank = 2, .dims = {3, 1}};
  const stow_tensor* operands[] = {&operand};
  const int expected[] = {1, 1, -2, -2, 3, 3, 1, 1, -2, -2, 3, 3};
  stowi_kernel_walk walk;
  stowi_kernel_walk_init(&walk, &result, operands, 1);
  for (size_t first = 0; first < 12; ++first) {
    float f32[12];
    double f64[12];
    int64_t i64[12];
    stowi_kernel_spread_f32(&walk, 0, &operand, first, 12 - first, f32);
    stowi_kernel_spread_f64(&walk, 0, &operand, first, 12 - first, f64);
    stowi_kernel_spread_i64(&walk, 0, &operand, first, 12 - first, i64);
    for (size_t i = first; i < 12; ++i) {
      CHECK(f32[i - first] == (float)expected[i] && f64[i - first] == expected[i]);
      CHECK(i64[i - first] == expected[i]);
    }
  }
}
