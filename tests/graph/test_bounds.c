// Tests of elements that are only known by an upper bound, since they come from upper-bounded dims:
// which computations keep the bound, and which make the element unknown; and of the dims that are
// upper bounds, one by one. The property at the end is the purpose: whatever the true size, nothing
// is larger than inferred, and what is not marked as an upper bound is exact.
#include <stdio.h>

#include "graph/graph_support.h"

#define BOUND 10

// ---------------------------------------------------------------------------------------------
// Building

static stow_value finish(stow_graph* graph, stow_call* call) {
  stow_node node;
  return stow_call_finish(call, NULL, &node) == STOW_OK ? stow_graph_first_result(graph, node)
                                                        : STOW_VALUE_NONE;
}

static stow_value numbers(stow_graph* graph, stow_dtype dtype, uint32_t rank, const int64_t* list,
                          size_t count) {
  char name[32];
  stow_dim dim = (stow_dim)count;
  stow_type type = stow_type_make(dtype, rank, &dim);
  stow_call* call = stow_graph_begin(graph, STOW_OP_CONSTANT);
  snprintf(name, sizeof(name), "c%u", (unsigned)stow_graph_value_count(graph));
  stow_call_name(call, 0, stow_str_of(name));
  stow_call_result_type(call, &type);
  stow_call_attr_ints(call, "data", list, count);
  return finish(graph, call);
}

static stow_value scalar(stow_graph* graph, int64_t number) {
  return numbers(graph, STOW_I64, 0, &number, 1);
}

static stow_value apply(stow_graph* graph, stow_op op, const stow_value* operands, size_t count) {
  stow_value value;
  return stow_graph_add(graph, op, operands, count, NULL, &value) == STOW_OK ? value
                                                                             : STOW_VALUE_NONE;
}

static stow_value apply_1(stow_graph* graph, stow_op op, stow_value a) {
  return apply(graph, op, &a, 1);
}

static stow_value apply_2(stow_graph* graph, stow_op op, stow_value a, stow_value b) {
  stow_value operands[] = {a, b};
  return apply(graph, op, operands, 2);
}

static stow_value apply_3(stow_graph* graph, stow_op op, stow_value a, stow_value b, stow_value c) {
  stow_value operands[] = {a, b, c};
  return apply(graph, op, operands, 3);
}

static stow_value cast(stow_graph* graph, stow_value x, const char* dtype) {
  stow_call* call = stow_graph_begin(graph, STOW_OP_CAST);
  stow_call_operand(call, x);
  stow_call_attr_string(call, "to", stow_str_of(dtype));
  return finish(graph, call);
}

static stow_value concat(stow_graph* graph, stow_value a, stow_value b) {
  stow_call* call = stow_graph_begin(graph, STOW_OP_CONCAT);
  stow_call_operand(call, a);
  stow_call_operand(call, b);
  stow_call_attr_int(call, "axis", 0);
  return finish(graph, call);
}

static stow_value list_of(stow_graph* graph, stow_value x) {
  static const int64_t zero = 0;
  stow_call* call = stow_graph_begin(graph, STOW_OP_UNSQUEEZE);
  stow_call_operand(call, x);
  stow_call_attr_ints(call, "axes", &zero, 1);
  return finish(graph, call);
}

static stow_value pair_of(stow_graph* graph, stow_value a, stow_value b) {
  return concat(graph, list_of(graph, a), list_of(graph, b));
}

static stow_value reduce(stow_graph* graph, stow_value x, const char* op) {
  stow_call* call = stow_graph_begin(graph, STOW_OP_REDUCE);
  stow_call_operand(call, x);
  stow_call_attr_string(call, "op", stow_str_of(op));
  stow_call_attr_bool(call, "keepdims", false);
  return finish(graph, call);
}

// Dim 0 of |x| as a number.
static stow_value dim_0(stow_graph* graph, stow_value x) {
  return apply_2(graph, STOW_OP_GATHER, apply_1(graph, STOW_OP_SHAPE, x), scalar(graph, 0));
}

// f32[n, 4], where n may be an upper bound.
static stow_value add_source(stow_graph* graph, int64_t n, bool is_bounded) {
  stow_type type = MATRIX(STOW_F32, n, 4);
  stow_call* call = stow_graph_begin(graph, STOW_OP_INPUT);
  stow_call_name(call, 0, stow_str_of("x"));
  stow_call_result_type(call, &type);
  if (is_bounded) {
    stow_call_bounded_dim(call, 0, 0);
  }
  return finish(graph, call);
}

// ---------------------------------------------------------------------------------------------
// Rules

typedef struct fixture {
  stow_graph* graph;
  stow_value x;  // f32[at most 10, 4]
  stow_value n;  // at most 10
} fixture;

static fixture make_fixture(void) {
  fixture f = {.graph = make_graph()};
  f.x = add_source(f.graph, BOUND, true);
  f.n = dim_0(f.graph, f.x);
  return f;
}

#define NOT_KNOWN (-1)

// The upper bound of the number, or NOT_KNOWN. Neither is exact.
static int64_t bound_of(const fixture* f, stow_value value) {
  CHECK(value != STOW_VALUE_NONE && !stow_graph_is_known(f->graph, value));
  CHECK(stow_graph_known(f->graph, value, 0) == STOW_DIM_INVALID);
  stow_value filled = apply_1(f->graph, STOW_OP_FILL, list_of(f->graph, value));
  if (filled == STOW_VALUE_NONE || stow_graph_is_data_dependent(f->graph, filled)) {
    return NOT_KNOWN;
  }
  CHECK(stow_graph_is_bounded(f->graph, filled));
  return stow_graph_type(f->graph, filled)->dims[0];
}

static void check_number(stow_op op, bool is_first, int64_t other, int64_t expected, int line) {
  fixture f = make_fixture();
  stow_value number = scalar(f.graph, other);
  stow_value result = apply_2(f.graph, op, is_first ? f.n : number, is_first ? number : f.n);
  int64_t bound = bound_of(&f, result);
  test_check(bound == expected, __FILE__, line, "%lld, not %lld", (long long)bound,
             (long long)expected);
  stow_graph_destroy(f.graph);
}

#define N_WITH(op, other, expected) check_number(STOW_OP_##op, true, (other), (expected), __LINE__)
#define WITH_N(other, op, expected) check_number(STOW_OP_##op, false, (other), (expected), __LINE__)

TEST(IncreasingArithmeticKeepsABound) {
  N_WITH(ADD, 3, 13);
  WITH_N(3, ADD, 13);
  N_WITH(ADD, -3, 7);
  N_WITH(SUB, 3, 7);
  N_WITH(MUL, 3, 30);
  WITH_N(3, MUL, 30);
  N_WITH(DIV, 3, 3);
  N_WITH(MAX, 20, 20);
  N_WITH(MIN, 4, 4);
}

TEST(DecreasingArithmeticLosesABound) {
  WITH_N(20, SUB, NOT_KNOWN);
  N_WITH(MUL, -1, NOT_KNOWN);
  WITH_N(100, DIV, NOT_KNOWN);
  N_WITH(DIV, -1, NOT_KNOWN);
  N_WITH(MOD, 3, NOT_KNOWN);
  WITH_N(25, MOD, NOT_KNOWN);
  WITH_N(2, POW, NOT_KNOWN);
}

// (n - 5)·(n - 5) is 25 for 10, and for 0.
TEST(ProductsNeedNumbersThatAreNotNegative) {
  fixture f = make_fixture();
  stow_value less = apply_2(f.graph, STOW_OP_SUB, f.n, scalar(f.graph, 5));
  CHECK(bound_of(&f, apply_2(f.graph, STOW_OP_MUL, less, less)) == NOT_KNOWN);
  CHECK(bound_of(&f, apply_1(f.graph, STOW_OP_ABS, less)) == NOT_KNOWN);
  CHECK(bound_of(&f, apply_2(f.graph, STOW_OP_MUL, less, scalar(f.graph, 2))) == 10);
  stow_value no_less = apply_2(f.graph, STOW_OP_MAX, less, scalar(f.graph, 0));
  CHECK(bound_of(&f, apply_2(f.graph, STOW_OP_MUL, no_less, no_less)) == 25);
  CHECK(bound_of(&f, apply_1(f.graph, STOW_OP_ABS, no_less)) == 5);
  CHECK(bound_of(&f, cast(f.graph, cast(f.graph, less, "u64"), "i64")) == NOT_KNOWN);
  CHECK(bound_of(&f, cast(f.graph, cast(f.graph, no_less, "u64"), "i64")) == 5);
  stow_graph_destroy(f.graph);
}

TEST(UnaryOpsKeepABoundIfTheyRise) {
  fixture f = make_fixture();
  stow_value real = cast(f.graph, f.n, "f32");
  CHECK(bound_of(&f, apply_1(f.graph, STOW_OP_NEG, f.n)) == NOT_KNOWN);
  CHECK(bound_of(&f, apply_1(f.graph, STOW_OP_SIGN, f.n)) == NOT_KNOWN);
  CHECK(bound_of(&f, cast(f.graph, f.n, "i32")) == 10);
  CHECK(bound_of(&f, cast(f.graph, cast(f.graph, f.n, "bool"), "i64")) == NOT_KNOWN);
  CHECK(bound_of(&f, cast(f.graph, apply_1(f.graph, STOW_OP_SQRT, real), "i64")) == 3);
  CHECK(bound_of(&f, cast(f.graph, apply_1(f.graph, STOW_OP_CEIL, real), "i64")) == 10);
  CHECK(bound_of(&f, cast(f.graph, apply_1(f.graph, STOW_OP_RECIPROCAL, real), "i64")) ==
        NOT_KNOWN);
  stow_graph_destroy(f.graph);
}

TEST(ComparisonsWithinABoundAreUndecided) {
  fixture f = make_fixture();
  stow_value ten = scalar(f.graph, 10);
  stow_value three = scalar(f.graph, 3);
  for (stow_op op = STOW_OP_EQ; op <= STOW_OP_GE; ++op) {
    stow_value answer = apply_2(f.graph, op, f.n, three);
    CHECK(!stow_graph_is_known(f.graph, answer));
    CHECK(bound_of(&f, apply_3(f.graph, STOW_OP_WHERE, answer, ten, three)) == NOT_KNOWN);
  }
  int64_t yes = 1;
  stow_value sure = numbers(f.graph, STOW_BOOL, 0, &yes, 1);
  CHECK(bound_of(&f, apply_3(f.graph, STOW_OP_WHERE, sure, f.n, three)) == 10);
  CHECK(stow_graph_known(f.graph, apply_3(f.graph, STOW_OP_WHERE, sure, three, f.n), 0) == 3);
  stow_graph_destroy(f.graph);
}

// n is 0 … 10.
TEST(ComparisonsOutsideABoundAreDecided) {
  static const struct {
    stow_op op;
    int64_t other;
    int64_t expected;  // NOT_KNOWN: it depends
  } cases[] = {{STOW_OP_EQ, -1, 0},         {STOW_OP_EQ, 11, 0}, {STOW_OP_EQ, 0, NOT_KNOWN},
               {STOW_OP_EQ, 10, NOT_KNOWN}, {STOW_OP_NE, -1, 1}, {STOW_OP_NE, 11, 1},
               {STOW_OP_LT, 0, 0},          {STOW_OP_LT, 11, 1}, {STOW_OP_LT, 10, NOT_KNOWN},
               {STOW_OP_LE, 10, 1},         {STOW_OP_LE, -1, 0}, {STOW_OP_LE, 0, NOT_KNOWN},
               {STOW_OP_GT, 10, 0},         {STOW_OP_GT, -1, 1}, {STOW_OP_GT, 0, NOT_KNOWN},
               {STOW_OP_GE, 0, 1},          {STOW_OP_GE, 11, 0}, {STOW_OP_GE, 10, NOT_KNOWN}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    fixture f = make_fixture();
    stow_value other = scalar(f.graph, cases[i].other);
    stow_value answer = apply_2(f.graph, cases[i].op, f.n, other);
    bool is_known = stow_graph_is_known(f.graph, answer);
    CHECK(is_known == (cases[i].expected != NOT_KNOWN));
    CHECK(!is_known || stow_graph_known(f.graph, answer, 0) == cases[i].expected);
    stow_value less = apply_2(f.graph, STOW_OP_SUB, f.n, scalar(f.graph, 100));
    CHECK(!stow_graph_is_known(f.graph, apply_2(f.graph, STOW_OP_EQ, less, scalar(f.graph, -95))));
    stow_graph_destroy(f.graph);
  }
}

TEST(ReductionsKeepABound) {
  fixture f = make_fixture();
  stow_value pair = pair_of(f.graph, f.n, scalar(f.graph, 3));
  CHECK(bound_of(&f, reduce(f.graph, pair, "sum")) == 13);
  CHECK(bound_of(&f, reduce(f.graph, pair, "prod")) == 30);
  CHECK(bound_of(&f, reduce(f.graph, pair, "max")) == 10);
  CHECK(bound_of(&f, reduce(f.graph, pair, "min")) == 3);
  stow_value less = apply_2(f.graph, STOW_OP_SUB, pair, scalar(f.graph, 5));
  CHECK(bound_of(&f, reduce(f.graph, less, "prod")) == NOT_KNOWN);
  CHECK(stow_graph_known(f.graph, pair, 1) == 3);
  stow_graph_destroy(f.graph);
}

// ---------------------------------------------------------------------------------------------
// Shapes

#define LOOSE (-2)  // depends on data

// The first dim of |value|, which is upper-bounded, or LOOSE.
static int64_t first_dim(const fixture* f, stow_value value) {
  if (!CHECK(value != STOW_VALUE_NONE)) {
    return 0;
  }
  if (stow_graph_is_data_dependent(f->graph, value)) {
    return LOOSE;
  }
  CHECK(stow_graph_is_bounded(f->graph, value));
  return stow_graph_type(f->graph, value)->dims[0];
}

static stow_value slice(stow_graph* graph, stow_value x, stow_value start, stow_value end,
                        int64_t step) {
  static const int64_t zero = 0;
  stow_value starts = list_of(graph, start);
  stow_value ends = list_of(graph, end);
  stow_call* call = stow_graph_begin(graph, STOW_OP_SLICE);
  stow_call_operand(call, x);
  stow_call_operand(call, starts);
  stow_call_operand(call, ends);
  stow_call_attr_ints(call, "axes", &zero, 1);
  stow_call_attr_ints(call, "steps", &step, 1);
  return finish(graph, call);
}

TEST(DimsThatGrowWithABoundAreUpperBounded) {
  fixture f = make_fixture();
  stow_value one = scalar(f.graph, 1);
  stow_value three = scalar(f.graph, 3);
  stow_value zero = scalar(f.graph, 0);
  stow_value exact = add_input(f.graph, "y", MATRIX(STOW_F32, 30, 1));
  stow_value pair = pair_of(f.graph, f.n, one);
  CHECK(first_dim(&f, apply_3(f.graph, STOW_OP_RANGE, zero, f.n, three)) == 4);
  CHECK(first_dim(&f, apply_2(f.graph, STOW_OP_TILE, exact, pair)) == 300);
  CHECK(first_dim(&f, slice(f.graph, exact, three, f.n, 1)) == 7);
  CHECK(first_dim(&f, slice(f.graph, exact, f.n, scalar(f.graph, 20), 1)) == 20);
  CHECK(first_dim(&f, slice(f.graph, exact, f.n, zero, -1)) == 10);
  CHECK(first_dim(&f, slice(f.graph, exact, scalar(f.graph, 20), f.n, -1)) == 21);
  stow_value row = add_input(f.graph, "z", MATRIX(STOW_F32, 1, 4));
  CHECK(first_dim(&f, apply_2(f.graph, STOW_OP_EXPAND, row, pair)) == 10);
  stow_graph_destroy(f.graph);
}

TEST(DimsThatShrinkWithABoundDependOnData) {
  fixture f = make_fixture();
  stow_value zero = scalar(f.graph, 0);
  stow_value one = scalar(f.graph, 1);
  stow_value up = apply_3(f.graph, STOW_OP_RANGE, f.n, scalar(f.graph, 20), one);
  stow_value down = apply_3(f.graph, STOW_OP_RANGE, scalar(f.graph, 20), f.n, scalar(f.graph, -1));
  CHECK(first_dim(&f, up) == LOOSE);
  CHECK(first_dim(&f, down) == LOOSE);
  CHECK(first_dim(&f, apply_3(f.graph, STOW_OP_RANGE, zero, scalar(f.graph, 20), f.n)) == LOOSE);
  stow_graph_destroy(f.graph);
}

// From the fifth last to the third: nothing of ten, three of five.
TEST(SlicesFromBothSidesOfABound) {
  fixture f = make_fixture();
  stow_value three = scalar(f.graph, 3);
  stow_value minus_5 = scalar(f.graph, -5);
  CHECK(first_dim(&f, slice(f.graph, f.x, minus_5, three, 1)) == 3);
  CHECK(first_dim(&f, slice(f.graph, f.x, three, minus_5, -1)) == 4);
  CHECK(first_dim(&f, slice(f.graph, f.x, three, minus_5, 1)) == 2);
  CHECK(first_dim(&f, slice(f.graph, f.x, minus_5, scalar(f.graph, -1), 1)) == 4);
  CHECK(first_dim(&f, slice(f.graph, f.x, minus_5, minus_5, -1)) == 1);  // of four
  stow_graph_destroy(f.graph);
}

TEST(ReshapesOfBoundedTensors) {
  fixture f = make_fixture();
  stow_value rest = scalar(f.graph, -1);
  stow_value same = apply_2(f.graph, STOW_OP_RESHAPE, f.x, pair_of(f.graph, f.n, rest));
  CHECK(first_dim(&f, same) == 10);
  CHECK(stow_graph_type(f.graph, same)->dims[1] == 4);
  stow_value half = apply_2(f.graph, STOW_OP_DIV, f.n, scalar(f.graph, 2));
  CHECK(first_dim(&f, apply_2(f.graph, STOW_OP_RESHAPE, f.x, pair_of(f.graph, rest, half))) ==
        LOOSE);
  stow_value exact = add_input(f.graph, "y", MATRIX(STOW_F32, 30, 1));
  stow_value cut = apply_2(f.graph, STOW_OP_RESHAPE, exact, pair_of(f.graph, rest, f.n));
  CHECK(first_dim(&f, cut) == LOOSE);
  stow_graph_destroy(f.graph);
}

TEST(UpperBoundsAreInheritedAndUpperBoundedValuesAreUnknown) {
  fixture f = make_fixture();
  stow_value y = apply_1(f.graph, STOW_OP_RELU, f.x);
  CHECK(stow_graph_is_bounded(f.graph, y));
  CHECK(!stow_graph_is_bounded(f.graph, apply_1(f.graph, STOW_OP_SHAPE, y)));
  CHECK(bound_of(&f, dim_0(f.graph, y)) == 10);
  CHECK(bound_of(&f, apply_1(f.graph, STOW_OP_SIZE, y)) == 40);
  stow_value range = apply_3(f.graph, STOW_OP_RANGE, scalar(f.graph, 0), f.n, scalar(f.graph, 1));
  CHECK(stow_graph_known(f.graph, range, 0) == STOW_DIM_INVALID);
  stow_graph_destroy(f.graph);
}

// Which dims of |value| are upper bounds: bit i for dim i.
static uint32_t bounded_dims(const stow_graph* graph, stow_value value) {
  uint32_t axes = 0;
  uint32_t rank = value == STOW_VALUE_NONE ? 0 : stow_graph_type(graph, value)->rank;
  for (uint32_t i = 0; i < rank; ++i) {
    axes |= (uint32_t)stow_graph_is_bounded_dim(graph, value, i) << i;
  }
  CHECK(value != STOW_VALUE_NONE && !stow_graph_is_bounded_dim(graph, value, rank));
  return axes;
}

TEST(DimsAreUpperBoundsOneByOne) {
  fixture f = make_fixture();
  stow_value exact = add_input(f.graph, "y", MATRIX(STOW_F32, BOUND, 4));
  stow_value transposed = apply_1(f.graph, STOW_OP_TRANSPOSE, f.x);
  CHECK(bounded_dims(f.graph, f.x) == 1);
  CHECK(bounded_dims(f.graph, apply_1(f.graph, STOW_OP_RELU, f.x)) == 1);
  CHECK(bounded_dims(f.graph, transposed) == 2);
  CHECK(bounded_dims(f.graph, apply_2(f.graph, STOW_OP_MATMUL, f.x, transposed)) == 3);
  CHECK(bounded_dims(f.graph, apply_2(f.graph, STOW_OP_MATMUL, transposed, f.x)) == 0);
  CHECK(bounded_dims(f.graph, concat(f.graph, transposed, transposed)) == 2);
  CHECK(bounded_dims(f.graph, apply_1(f.graph, STOW_OP_NONZERO, exact)) == 2);
  CHECK(bounded_dims(f.graph, list_of(f.graph, f.x)) == 2);
  stow_value same =
      apply_2(f.graph, STOW_OP_RESHAPE, f.x, pair_of(f.graph, f.n, scalar(f.graph, -1)));
  CHECK(bounded_dims(f.graph, same) == 1);
  stow_graph_destroy(f.graph);
}

// A dim of 10 is that of the result, whatever the upper-bounded one is: 1 or 10.
TEST(ExactDimsWinWhenBroadcast) {
  fixture f = make_fixture();
  stow_value exact = add_input(f.graph, "y", MATRIX(STOW_F32, BOUND, 4));
  stow_value row = add_input(f.graph, "z", MATRIX(STOW_F32, 1, 4));
  CHECK(bounded_dims(f.graph, apply_2(f.graph, STOW_OP_ADD, f.x, exact)) == 0);
  CHECK(bounded_dims(f.graph, apply_2(f.graph, STOW_OP_ADD, f.x, row)) == 1);
  CHECK(bounded_dims(f.graph, apply_2(f.graph, STOW_OP_ADD, f.x, f.x)) == 1);
  stow_value column = add_input(f.graph, "c", MATRIX(STOW_F32, 30, 1));
  stow_value pair = pair_of(f.graph, f.n, scalar(f.graph, 1));
  CHECK(bounded_dims(f.graph, apply_2(f.graph, STOW_OP_EXPAND, column, pair)) == 0);
  stow_graph_destroy(f.graph);
}

// The first element of what may be empty.
TEST(UpperBoundedDimsMayBeZero) {
  fixture f = make_fixture();
  stow_value zero = scalar(f.graph, 0);
  stow_value one = scalar(f.graph, 1);
  CHECK(bounded_dims(f.graph, slice(f.graph, f.x, zero, one, 1)) == 1);
  stow_graph_destroy(f.graph);
}

TEST(ShapeKnowsTheExactDims) {
  fixture f = make_fixture();
  stow_value shape = apply_1(f.graph, STOW_OP_SHAPE, apply_1(f.graph, STOW_OP_RELU, f.x));
  stow_value width = apply_2(f.graph, STOW_OP_GATHER, shape, scalar(f.graph, 1));
  stow_value is_four = apply_2(f.graph, STOW_OP_EQ, width, scalar(f.graph, 4));
  CHECK(stow_graph_known(f.graph, shape, 0) == STOW_DIM_INVALID);
  CHECK(stow_graph_known(f.graph, width, 0) == 4);
  CHECK(stow_graph_known(f.graph, is_four, 0) == 1);
  CHECK(bounded_dims(f.graph, apply_1(f.graph, STOW_OP_FILL, shape)) == 1);
  stow_graph_destroy(f.graph);
}

// Symbols of a trial are gone afterwards, and a dim may have the name of one.
TEST(TrialsLeaveNoSymbols) {
  stow_graph* graph = make_graph();
  stow_dim dims[] = {stow_dim_symbol(stow_graph_edit_dims(graph), stow_str_of("?1")), 4};
  stow_type type = stow_type_make(STOW_F32, 2, dims);
  stow_call* call = stow_graph_begin(graph, STOW_OP_INPUT);
  stow_call_name(call, 0, stow_str_of("x"));
  stow_call_result_type(call, &type);
  stow_call_bounded_dim(call, 0, 0);
  stow_value x = finish(graph, call);
  stow_value y = apply_2(graph, STOW_OP_ADD, x, apply_1(graph, STOW_OP_RELU, x));
  CHECK_U64(stow_dims_symbol_count(stow_graph_dims(graph)), 1);
  CHECK(stow_graph_type(graph, y)->dims[0] == dims[0] && bounded_dims(graph, y) == 1);
  stow_graph_destroy(graph);
}

// A data-dependent dim that is bound to a number becomes upper-bounded by it.
TEST(BoundDataDimsGiveUpperBounds) {
  stow_graph* graph = make_graph();
  fixture f = {.graph = graph};
  stow_value limit = add_input(graph, "limit", SCALAR(STOW_I64));
  f.x = apply_3(graph, STOW_OP_RANGE, scalar(graph, 0), limit, scalar(graph, 1));
  stow_value n = dim_0(graph, apply_1(graph, STOW_OP_NEG, f.x));
  stow_value filled = apply_1(graph, STOW_OP_FILL, list_of(graph, n));
  CHECK(stow_graph_known(graph, n, 0) == stow_graph_type(graph, f.x)->dims[0]);
  CHECK(!stow_graph_is_bounded(graph, filled));
  stow_str name = stow_dims_symbol_name(stow_graph_dims(graph), 0);
  int64_t number = 12;
  REQUIRE(stow_graph_bind(graph, &name, &number, 1, NULL) == STOW_OK);
  CHECK(stow_graph_known(graph, n, 0) == STOW_DIM_INVALID);
  CHECK(stow_graph_is_bounded(graph, filled));
  CHECK_U64(stow_graph_type(graph, filled)->dims[0], 12);
  stow_graph_destroy(graph);
}

// The second range is as long as the first, which only numbers show: floats are not expressions.
TEST(BindingADataDimSettlesThoseThatFollowFromIt) {
  stow_graph* graph = make_graph();
  stow_value limit = add_input(graph, "limit", SCALAR(STOW_I64));
  stow_value x = apply_3(graph, STOW_OP_RANGE, scalar(graph, 0), limit, scalar(graph, 1));
  stow_value zero = cast(graph, scalar(graph, 0), "f32");
  stow_value one = cast(graph, scalar(graph, 1), "f32");
  stow_value y = apply_3(graph, STOW_OP_RANGE, zero, cast(graph, dim_0(graph, x), "f32"), one);
  CHECK(stow_graph_is_data_dependent(graph, y));
  stow_str name = stow_dims_symbol_name(stow_graph_dims(graph), 0);
  REQUIRE(stow_graph_bind(graph, &name, (int64_t[]){12}, 1, NULL) == STOW_OK);
  CHECK_U64(stow_graph_type(graph, y)->dims[0], 12);
  CHECK(bounded_dims(graph, y) == 1 && !stow_graph_is_data_dependent(graph, y));
  CHECK(stow_graph_add_output(graph, y, NULL) == STOW_OK);
  CHECK(stow_graph_verify(graph, NULL) == STOW_OK);
  stow_graph_destroy(graph);
}

// With n at most 12, 100 - n is at least 88: not a size to plan with.
TEST(DimsThatShrinkWithADataDimDependOnDataOnceItIsBound) {
  stow_graph* graph = make_graph();
  stow_value limit = add_input(graph, "limit", SCALAR(STOW_I64));
  stow_value x = apply_3(graph, STOW_OP_RANGE, scalar(graph, 0), limit, scalar(graph, 1));
  stow_value rest = apply_2(graph, STOW_OP_SUB, scalar(graph, 100), dim_0(graph, x));
  stow_value filled = apply_1(graph, STOW_OP_FILL, list_of(graph, rest));
  stow_value next = apply_1(graph, STOW_OP_RELU, filled);
  CHECK(!stow_graph_is_data_dependent(graph, filled));
  stow_str name = stow_dims_symbol_name(stow_graph_dims(graph), 0);
  int64_t number = 12;
  REQUIRE(stow_graph_bind(graph, &name, &number, 1, NULL) == STOW_OK);
  CHECK_U64(stow_graph_type(graph, x)->dims[0], 12);
  CHECK(stow_graph_is_data_dependent(graph, filled));
  CHECK(!stow_dim_is_const(stow_graph_type(graph, filled)->dims[0]));
  CHECK(stow_type_equal(stow_graph_type(graph, filled), stow_graph_type(graph, next)));
  CHECK(stow_graph_add_output(graph, next, NULL) == STOW_OK);
  CHECK(stow_graph_verify(graph, NULL) == STOW_OK);
  // the new symbol is the caller's to bind, and then it counts
  name = stow_dims_symbol_name(stow_graph_dims(graph), 1);
  number = 100;
  REQUIRE(stow_graph_bind(graph, &name, &number, 1, NULL) == STOW_OK);
  CHECK_U64(stow_graph_type(graph, next)->dims[0], 100);
  stow_graph_destroy(graph);
}

TEST(SimplifyDoesNotFoldUpperBounds) {
  fixture f = make_fixture();
  stow_value twice = apply_2(f.graph, STOW_OP_ADD, f.n, f.n);
  CHECK(stow_graph_add_output(f.graph, twice, NULL) == STOW_OK);
  stow_graph* simple;
  REQUIRE(stow_graph_simplify(f.graph, stow_allocator_default(), NULL, &simple) == STOW_OK);
  stow_value output = stow_graph_outputs(simple)[0];
  CHECK(stow_graph_op(simple, stow_graph_producer(simple, output)) == STOW_OP_ADD);
  stow_graph_destroy(simple);
  stow_graph_destroy(f.graph);
}

// ---------------------------------------------------------------------------------------------
// The property: whatever the true size, nothing is larger than inferred, what is not bounded is
// exact, and so is what is known.

#define STEPS 24
#define MAX_PICKS (STEPS + 2)

typedef struct program {
  uint64_t state;
  stow_graph* graph;
  stow_value numbers[MAX_PICKS];
  size_t number_count;
  stow_value tensors[MAX_PICKS];
  size_t tensor_count;
  bool is_refused[STEPS];
} program;

static uint32_t below(program* p, uint32_t limit) {
  p->state = p->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(p->state >> 33) % limit;
}

static stow_value pick_number(program* p) {
  return p->numbers[below(p, (uint32_t)p->number_count)];
}

static stow_value pick_tensor(program* p) {
  return p->tensors[below(p, (uint32_t)p->tensor_count)];
}

static stow_value compute_number(program* p) {
  static const stow_op binary[] = {STOW_OP_ADD, STOW_OP_SUB, STOW_OP_MUL, STOW_OP_DIV,
                                   STOW_OP_MOD, STOW_OP_MAX, STOW_OP_MIN};
  static const stow_op unary[] = {STOW_OP_NEG, STOW_OP_ABS, STOW_OP_SIGN};
  static const char* const reductions[] = {"sum", "prod", "max", "min"};
  stow_graph* graph = p->graph;
  stow_value a = pick_number(p);
  stow_value b = pick_number(p);
  switch (below(p, 9)) {
    case 0: return apply_1(graph, unary[below(p, 3)], a);
    case 1: {
      stow_value is_less = apply_2(graph, STOW_OP_LT, a, b);
      return apply_3(graph, STOW_OP_WHERE, is_less, pick_number(p), pick_number(p));
    }
    case 2: return reduce(graph, pair_of(graph, a, b), reductions[below(p, 4)]);
    case 3: {
      stow_value real = cast(graph, a, "f32");
      int64_t three = 3;
      real = apply_2(graph, STOW_OP_DIV, real, numbers(graph, STOW_F32, 0, &three, 1));
      static const stow_op roundings[] = {STOW_OP_FLOOR, STOW_OP_CEIL, STOW_OP_ROUND, STOW_OP_SQRT};
      return cast(graph, apply_1(graph, roundings[below(p, 4)], real), "i64");
    }
    case 4: return scalar(graph, (int64_t)below(p, 10) - 3);
    default: return apply_2(graph, binary[below(p, 7)], a, b);
  }
}

static stow_value split(program* p, stow_value x) {
  stow_graph* graph = p->graph;
  stow_call* call = stow_graph_begin(graph, STOW_OP_SPLIT);
  stow_call_operand(call, x);
  stow_call_attr_int(call, "axis", 0);
  stow_call_attr_int(call, "parts", 3);
  stow_call_result_count(call, 3);
  stow_value first = finish(graph, call);
  return first == STOW_VALUE_NONE ? first : first + below(p, 3);
}

static stow_value top(program* p, stow_value x, stow_value k) {
  stow_graph* graph = p->graph;
  stow_value list = list_of(graph, k);
  stow_call* call = stow_graph_begin(graph, STOW_OP_TOPK);
  stow_call_operand(call, x);
  stow_call_operand(call, list);
  stow_call_attr_int(call, "axis", 0);
  return finish(graph, call);
}

static stow_value pad(program* p, stow_value x, stow_value before, stow_value after) {
  stow_graph* graph = p->graph;
  static const int64_t zero = 0;
  stow_value pads = pair_of(graph, before, after);
  stow_call* call = stow_graph_begin(graph, STOW_OP_PAD);
  stow_call_operand(call, x);
  stow_call_operand(call, STOW_VALUE_NONE);
  stow_call_operand(call, pads);
  stow_call_attr_ints(call, "axes", &zero, 1);
  return finish(graph, call);
}

static stow_value nonzero_rows(stow_graph* graph, stow_value x) {
  return cast(graph, apply_1(graph, STOW_OP_NONZERO, x), "f32");
}

static stow_value compute_tensor(program* p) {
  stow_graph* graph = p->graph;
  stow_value x = pick_tensor(p);
  stow_value a = pick_number(p);
  stow_value b = pick_number(p);
  switch (below(p, 16)) {
    case 0: return apply_1(graph, STOW_OP_FILL, pair_of(graph, a, b));
    case 1: {
      stow_value range = apply_3(graph, STOW_OP_RANGE, a, b, pick_number(p));
      return range == STOW_VALUE_NONE ? range : cast(graph, list_of(graph, range), "f32");
    }
    case 2: return slice(graph, x, a, b, below(p, 2) == 0 ? 1 : (int64_t)below(p, 7) - 3);
    case 3: return apply_2(graph, STOW_OP_EXPAND, x, pair_of(graph, a, b));
    case 4: return apply_2(graph, STOW_OP_TILE, x, pair_of(graph, a, b));
    case 5: return pad(p, x, a, b);
    case 6: return top(p, x, a);
    case 7: return concat(graph, x, pick_tensor(p));
    case 8: return split(p, x);
    case 9:
      return apply_2(graph, STOW_OP_RESHAPE, x, pair_of(graph, dim_0(graph, x), scalar(graph, -1)));
    case 10: return apply_1(graph, STOW_OP_TRANSPOSE, x);
    case 11:
      return apply_2(graph, STOW_OP_MATMUL, x, apply_1(graph, STOW_OP_TRANSPOSE, pick_tensor(p)));
    case 12: return nonzero_rows(graph, x);
    case 13: return apply_2(graph, STOW_OP_MATMUL, x, pick_tensor(p));
    default: return apply_2(graph, STOW_OP_ADD, x, pick_tensor(p));
  }
}

// Adds a number, and perhaps a tensor; false if the graph refuses it.
static bool step(program* p) {
  stow_value number;
  if (below(p, 3) == 0) {
    stow_value tensor = compute_tensor(p);
    number = tensor == STOW_VALUE_NONE ? tensor : dim_0(p->graph, tensor);
    p->tensors[p->tensor_count] = tensor;
    p->tensor_count += number != STOW_VALUE_NONE;
  } else {
    number = compute_number(p);
  }
  p->numbers[p->number_count] = number;
  p->number_count += number != STOW_VALUE_NONE;
  return number != STOW_VALUE_NONE;
}

// A random graph over f32[size, 4]. Steps that |model| refused are skipped, and all from the first
// one on that only this graph refuses; NULL: all are tried.
static program build(uint64_t seed, int64_t size, const program* model) {
  program p = {.graph = make_graph()};
  p.tensors[p.tensor_count++] = add_source(p.graph, size, model == NULL);
  p.tensors[p.tensor_count++] = add_input(p.graph, "y", MATRIX(STOW_F32, 6, 4));
  p.numbers[p.number_count++] = dim_0(p.graph, p.tensors[0]);
  p.numbers[p.number_count++] = scalar(p.graph, 2);
  for (uint64_t i = 0; i < STEPS; ++i) {
    p.state = seed * UINT64_C(0x9e3779b97f4a7c15) + i * UINT64_C(0xbf58476d1ce4e5b9);
    (void)below(&p, 2);
    p.is_refused[i] = (model != NULL && model->is_refused[i]) || !step(&p);
    if (model != NULL && p.is_refused[i] != model->is_refused[i]) {
      break;
    }
  }
  return p;
}

static bool is_dim_sound(stow_dim truth, stow_dim inferred, bool is_bounded) {
  bool are_numbers = stow_dim_is_const(truth) && stow_dim_is_const(inferred);
  return !are_numbers || truth == inferred || (is_bounded && truth < inferred);
}

static bool is_value_sound(const stow_graph* truth, stow_value true_value,
                           const stow_graph* inferred, stow_value value) {
  const stow_type* a = stow_graph_type(truth, true_value);
  const stow_type* b = stow_graph_type(inferred, value);
  bool is_sound = a->rank == b->rank && a->dtype == b->dtype;
  for (uint32_t i = 0; i < a->rank && is_sound; ++i) {
    is_sound = is_dim_sound(a->dims[i], b->dims[i], stow_graph_is_bounded_dim(inferred, value, i));
  }
  for (size_t i = 0; i < 4 && is_sound; ++i) {
    int64_t m = 0;
    int64_t n = 0;
    if (stow_graph_known_int(truth, true_value, i, &m) &&
        stow_graph_known_int(inferred, value, i, &n)) {
      is_sound = m == n;
    }
  }
  return is_sound;
}

// Checks one list of values and returns their number.
static size_t check_values(const program* truth, const stow_value* values, size_t count,
                           const program* inferred, const stow_value* others, uint64_t seed) {
  for (size_t i = 0; i < count; ++i) {
    stow_node node = stow_graph_producer(inferred->graph, others[i]);
    bool is_sound = is_value_sound(truth->graph, values[i], inferred->graph, others[i]);
    test_check(is_sound, __FILE__, __LINE__, "seed %llu: %s %zu", (unsigned long long)seed,
               stow_graph_op_desc(inferred->graph, node)->name, i);
    if (!is_sound) {
      return i;
    }
  }
  return count;
}

static bool is_empty(const stow_type* type) {
  uint64_t count;
  return stow_type_elements(type, &count) == STOW_OK && count == 0;
}

static bool has_symbols(const stow_type* type) {
  uint64_t count;
  return stow_type_elements(type, &count) != STOW_OK;
}

// The number of tensors before the first empty one whose dims are symbols, which stand for 1 or
// more.
static size_t count_tensors(const program* truth, const program* inferred) {
  size_t count = 0;
  while (count < truth->tensor_count &&
         !(is_empty(stow_graph_type(truth->graph, truth->tensors[count])) &&
           has_symbols(stow_graph_type(inferred->graph, inferred->tensors[count])))) {
    ++count;
  }
  return count;
}

static size_t check_sound(uint64_t seed, int64_t size, const program* inferred) {
  program truth = build(seed, size, inferred);
  size_t tensors = count_tensors(&truth, inferred);
  stow_value end = tensors < truth.tensor_count ? truth.tensors[tensors] : STOW_VALUE_NONE;
  size_t numbers_before = 0;
  while (numbers_before < truth.number_count && truth.numbers[numbers_before] < end) {
    ++numbers_before;
  }
  size_t checked = check_values(&truth, truth.tensors, tensors, inferred, inferred->tensors, seed);
  checked += check_values(&truth, truth.numbers, numbers_before, inferred, inferred->numbers, seed);
  stow_graph_destroy(truth.graph);
  return checked;
}

TEST(NoActualDimExceedsTheInferredOne) {
  uint64_t seeds = test_is_long() ? 20000 : 500;
  size_t checked = 0;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    program inferred = build(seed, BOUND, NULL);
    for (int64_t size = 0; size <= BOUND; ++size) {
      checked += check_sound(seed, size, &inferred);
    }
    stow_graph_destroy(inferred.graph);
  }
  CHECK(checked > seeds * 100);
}
