// Tests of known values and data-dependent dims.
#include <math.h>
#include <stowage/text.h>

#include "known_ops.h"

#define ABSENT STOW_DIM_INVALID

static stow_value add_data(stow_graph* graph, const char* name, stow_type type, const void* data,
                           size_t size) {
  stow_call* call = stow_graph_begin(graph, STOW_OP_INPUT);
  stow_call_name(call, 0, stow_str_of(name));
  stow_call_result_type(call, &type);
  stow_call_data(call, data, size, false);
  stow_node node;
  return CHECK(stow_call_finish(call, NULL, &node) == STOW_OK)
             ? stow_graph_first_result(graph, node)
             : STOW_VALUE_NONE;
}

// Element |i| as a number; -999 if it is unknown.
static int64_t number_at(const stow_graph* graph, stow_value value, size_t i) {
  int64_t number = -999;
  (void)stow_graph_known_int(graph, value, i, &number);
  return number;
}

// ---------------------------------------------------------------------------------------------
// Data

TEST(DataOfBoundaryValuesIsKnown) {
  stow_graph* graph = make_graph();
  static const int64_t numbers[3] = {7, -3, 1};
  static const stow_dtype dtypes[] = {STOW_I64, STOW_I32, STOW_I16, STOW_I8, STOW_I4};
  for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); ++i) {
    stow_op op = i % 2 == 0 ? STOW_OP_CONSTANT : STOW_OP_PARAM;
    stow_value value = add_ints(graph, op, stow_dtype_name(dtypes[i]), dtypes[i], numbers, 3);
    CHECK(stow_graph_is_known(graph, value));
    for (size_t k = 0; k < 3; ++k) {
      CHECK(number_at(graph, value, k) == numbers[k]);
    }
    CHECK(stow_graph_known(graph, value, 3) == ABSENT);
    double number;
    CHECK(!stow_graph_known_float(graph, value, 0, &number));
  }
  static const int64_t small[5] = {1, 0, 3, 2, 1};
  stow_value packed = add_ints(graph, STOW_OP_INPUT, "u2", STOW_U2, small, 5);
  CHECK(number_at(graph, packed, 2) == 3);
  CHECK(number_at(graph, packed, 4) == 1);
  stow_graph_destroy(graph);
}

TEST(DataNeedNotBeAligned) {
  stow_graph* graph = make_graph();
  unsigned char bytes[1 + 2 * sizeof(double)] = {0};
  double numbers[2] = {2.5, -0.0};
  memcpy(bytes + 1, numbers, sizeof(numbers));
  stow_value x = add_data(graph, "x", VECTOR(STOW_F64, 2), bytes + 1, sizeof(numbers));
  double number;
  CHECK(stow_graph_is_known(graph, x));
  CHECK(stow_graph_known_float(graph, x, 0, &number) && number == 2.5);
  CHECK(stow_graph_known_float(graph, x, 1, &number) && number == 0.0);
  CHECK(!stow_graph_known_float(graph, x, 2, &number));
  CHECK(stow_graph_known(graph, x, 0) == ABSENT);
  float single = 1.5F;
  stow_value y = add_data(graph, "y", SCALAR(STOW_F32), &single, sizeof(single));
  CHECK(stow_graph_known_float(graph, y, 0, &number) && number == 1.5);
  stow_graph_destroy(graph);
}

// Whether element |i| is |expected|; NaN equals itself here.
static bool is_float_at(const stow_graph* graph, stow_value value, size_t i, double expected) {
  double number;
  return stow_graph_known_float(graph, value, i, &number) &&
         (number == expected || (isnan(number) && isnan(expected)));
}

TEST(NarrowFloatsAreReadExactly) {
  static const uint16_t halves[] = {0x3c00, 0xc100, 0x7bff, 0x0001, 0x83ff, 0x0400, 0x7c00, 0x7e01};
  static const double as_half[] = {1, -2.5, 65504, 0x1p-24, -0x3ffp-24, 0x1p-14, INFINITY, NAN};
  static const uint16_t brains[] = {0x3f80, 0xc020, 0x7f7f, 0x0001, 0x0080, 0xff80, 0x7fc0};
  static const double as_brain[] = {1, -2.5, 0x1.fep127, 0x1p-133, 0x1p-126, -INFINITY, NAN};
  stow_graph* graph = make_graph();
  stow_value half = add_data(graph, "half", VECTOR(STOW_F16, 8), halves, sizeof(halves));
  stow_value brain = add_data(graph, "brain", VECTOR(STOW_BF16, 7), brains, sizeof(brains));
  CHECK(stow_graph_is_known(graph, half) && stow_graph_is_known(graph, brain));
  for (size_t i = 0; i < 8; ++i) {
    CHECK(is_float_at(graph, half, i, as_half[i]));
    CHECK(i == 7 || is_float_at(graph, brain, i, as_brain[i]));
  }
  stow_graph_destroy(graph);
}

TEST(EveryNarrowFloatSurvivesAFold) {
  static const stow_dtype dtypes[] = {STOW_F16, STOW_BF16};
  uint16_t bits[STOW_MAX_KNOWN];
  for (uint32_t first = 0; first < 2 * 0x10000; first += STOW_MAX_KNOWN) {
    for (uint32_t i = 0; i < STOW_MAX_KNOWN; ++i) {
      bits[i] = (uint16_t)(first + i);
    }
    stow_graph* graph = make_graph();
    stow_dtype dtype = dtypes[first >= 0x10000];
    stow_value x = add_data(graph, "x", VECTOR(dtype, STOW_MAX_KNOWN), bits, sizeof(bits));
    stow_value y = add_unary(graph, STOW_OP_FLATTEN, x);
    for (size_t i = 0; i < STOW_MAX_KNOWN; ++i) {
      double number = 0;
      CHECK(stow_graph_known_float(graph, x, i, &number) && is_float_at(graph, y, i, number));
    }
    stow_graph_destroy(graph);
  }
}

TEST(OnlyDimsAndDoublesAreKnown) {
  stow_graph* graph = make_graph();
  uint64_t numbers[2] = {5, UINT64_MAX};
  stow_value x = add_data(graph, "x", VECTOR(STOW_U64, 2), numbers, sizeof(numbers));
  CHECK(!stow_graph_is_known(graph, x));
  CHECK(stow_graph_known(graph, x, 0) == 5);
  CHECK(stow_graph_known(graph, x, 1) == ABSENT);
  uint8_t small = 0x38;
  stow_value y = add_data(graph, "y", SCALAR(STOW_F8E4M3FN), &small, sizeof(small));
  double number;
  CHECK(!stow_graph_is_known(graph, y));
  CHECK(!stow_graph_known_float(graph, y, 0, &number));
  stow_value z = add_input(graph, "z", SCALAR(STOW_I64));
  CHECK(!stow_graph_is_known(graph, z));
  CHECK(stow_graph_known(graph, z, 0) == ABSENT);
  CHECK(stow_graph_is_known(graph, add_input(graph, "empty", VECTOR(STOW_I64, 0))));
  stow_graph_destroy(graph);
}

// ---------------------------------------------------------------------------------------------
// Folds

TEST(FoldsComputeNumbersAndExpressions) {
  known_ops k = make_known_ops();
  stow_graph* graph = make_known_graph(&k);
  stow_dim n = dim_named(graph, "n");
  stow_value x = add_input(graph, "x", MATRIX(STOW_F32, n, 4));
  stow_value next = add_unary(graph, k.next, add_unary(graph, k.shape, x));
  CHECK(stow_graph_is_known(graph, next));
  CHECK(stow_graph_known(graph, next, 0) == stow_dim_add(stow_graph_edit_dims(graph), n, 1));
  CHECK(stow_graph_known(graph, next, 1) == 5);
  stow_value reshaped = add_binary(graph, k.reshape, x, next);
  CHECK(stow_graph_type(graph, reshaped)->dims[1] == 5);
  CHECK(!stow_graph_is_data_dependent(graph, reshaped));
  stow_graph_destroy(graph);
  stow_ops_destroy(k.ops);
}

TEST(ElementsThatAFoldDoesNotSetStayUnknown) {
  known_ops k = make_known_ops();
  stow_graph* graph = make_known_graph(&k);
  stow_value c = add_ints(graph, STOW_OP_CONSTANT, "c", STOW_I64, (int64_t[]){2, 3, 4}, 3);
  stow_value evens = add_unary(graph, k.next, add_unary(graph, k.evens, c));
  CHECK(!stow_graph_is_known(graph, evens));
  CHECK(stow_graph_known(graph, evens, 0) == 3);
  CHECK(stow_graph_known(graph, evens, 1) == ABSENT);
  CHECK(stow_graph_known(graph, evens, 2) == 5);
  stow_value unknown = add_unary(graph, k.next, add_input(graph, "x", VECTOR(STOW_I64, 3)));
  CHECK(!stow_graph_is_known(graph, unknown));
  CHECK(stow_graph_known(graph, unknown, 0) == ABSENT);
  stow_graph_destroy(graph);
  stow_ops_destroy(k.ops);
}

TEST(FoldedElementsMustFitTheirDtype) {
  known_ops k = make_known_ops();
  stow_graph* graph = make_known_graph(&k);
  stow_value c = add_ints(graph, STOW_OP_CONSTANT, "c", STOW_I8, (int64_t[]){126, 127, -128}, 3);
  stow_value next = add_unary(graph, k.next, c);
  CHECK(number_at(graph, next, 0) == 127);
  CHECK(stow_graph_known(graph, next, 1) == ABSENT);
  CHECK(number_at(graph, next, 2) == -127);
  stow_value flags = add_ints(graph, STOW_OP_CONSTANT, "b", STOW_BOOL, (int64_t[]){0, 1}, 2);
  next = add_unary(graph, k.next, flags);
  CHECK(stow_graph_known(graph, next, 0) == 1);
  CHECK(stow_graph_known(graph, next, 1) == ABSENT);
  stow_value most = add_ints(graph, STOW_OP_CONSTANT, "m", STOW_I64, (int64_t[]){INT64_MAX, 1}, 2);
  next = add_unary(graph, k.next, most);  // overflow is not a failure
  CHECK(stow_graph_known(graph, next, 0) == ABSENT);
  CHECK(stow_graph_known(graph, next, 1) == 2);
  stow_graph_destroy(graph);
  stow_ops_destroy(k.ops);
}

TEST(FoldedFloatsAreRounded) {
  known_ops k = make_known_ops();
  stow_graph* graph = make_known_graph(&k);
  float numbers[4] = {-1.0F, 16777216.0F, INFINITY, 0.1F};
  stow_value x = add_data(graph, "x", VECTOR(STOW_F32, 4), numbers, sizeof(numbers));
  stow_value next = add_unary(graph, k.next, x);
  double number = 5;
  CHECK(stow_graph_is_known(graph, next));
  CHECK(stow_graph_known_float(graph, next, 0, &number) && number == 0.0);
  CHECK(stow_graph_known_float(graph, next, 1, &number) && number == 16777216.0);
  CHECK(stow_graph_known_float(graph, next, 2, &number) && number == INFINITY);
  CHECK(stow_graph_known_float(graph, next, 3, &number) && number == (double)(float)number);
  stow_graph_destroy(graph);
  stow_ops_destroy(k.ops);
}

TEST(LargeResultsAreNotFolded) {
  known_ops k = make_known_ops();
  stow_graph* graph = make_known_graph(&k);
  static int64_t numbers[STOW_MAX_KNOWN + 1];
  stow_value c = add_data(graph, "c", VECTOR(STOW_I64, STOW_MAX_KNOWN), numbers,
                          STOW_MAX_KNOWN * sizeof(int64_t));
  stow_value d = add_data(graph, "d", VECTOR(STOW_I64, STOW_MAX_KNOWN + 1), numbers,
                          (STOW_MAX_KNOWN + 1) * sizeof(int64_t));
  CHECK(stow_graph_is_known(graph, add_unary(graph, k.next, c)));
  CHECK(stow_graph_is_known(graph, d));
  CHECK(!stow_graph_is_known(graph, add_unary(graph, k.next, d)));
  stow_graph_destroy(graph);
  stow_ops_destroy(k.ops);
}

TEST(ListsComeFromAttributesOrOperands) {
  known_ops k = make_known_ops();
  stow_graph* graph = make_known_graph(&k);
  stow_value x = add_input(graph, "x", VECTOR(STOW_F32, 8));
  stow_call* call = stow_graph_begin(graph, k.reshape);
  stow_call_operand(call, x);
  stow_call_attr_ints(call, "dims", (int64_t[]){2, 4}, 2);
  stow_node node;
  REQUIRE(stow_call_finish(call, NULL, &node) == STOW_OK);
  CHECK(stow_graph_type(graph, stow_graph_first_result(graph, node))->dims[1] == 4);
  call = stow_graph_begin(graph, k.reshape);
  stow_call_operand(call, x);
  CHECK_REFUSED(call, STOW_ERR_DATA_DEPENDENT, "the rank is not known");
  static const int64_t many[STOW_MAX_RANK + 1];
  call = stow_graph_begin(graph, k.reshape);
  stow_call_operand(call, x);
  stow_call_attr_ints(call, "dims", many, STOW_MAX_RANK + 1);
  CHECK_REFUSED(call, STOW_ERR_LIMIT, "a list has 17 elements, the maximum is 16");
  stow_value list = add_ints(graph, STOW_OP_CONSTANT, "c", STOW_I64, many, STOW_MAX_RANK + 1);
  call = stow_graph_begin(graph, k.reshape);
  stow_call_operand(call, x);
  stow_call_operand(call, list);
  CHECK_REFUSED(call, STOW_ERR_LIMIT, "a list has 17 elements, the maximum is 16");
  stow_graph_destroy(graph);
  stow_ops_destroy(k.ops);
}

// ---------------------------------------------------------------------------------------------
// Binding

TEST(BindingComputesKnownValuesAgain) {
  known_ops k = make_known_ops();
  stow_graph* graph = make_known_graph(&k);
  stow_value x = add_input(graph, "x", MATRIX(STOW_F32, dim_named(graph, "n"), 4));
  stow_value shape = add_unary(graph, k.shape, x);
  stow_value reshaped = add_binary(graph, k.reshape, x, shape);
  CHECK(stow_graph_add_output(graph, reshaped, NULL) == STOW_OK);
  stow_str name = stow_str_of("n");
  int64_t negative = -1;
  CHECK(stow_graph_bind(graph, &name, &negative, 1, NULL) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(stow_graph_known(graph, shape, 0) == dim_named(graph, "n"));
  int64_t nine = 9;
  CHECK(stow_graph_bind(graph, &name, &nine, 1, NULL) == STOW_OK);
  CHECK(stow_graph_known(graph, shape, 0) == 9);
  CHECK(stow_graph_type(graph, reshaped)->dims[0] == 9);
  CHECK(stow_graph_verify(graph, NULL) == STOW_OK);
  stow_graph_destroy(graph);
  stow_ops_destroy(k.ops);
}

TEST(BindingCanMakeMoreKnown) {
  known_ops k = make_known_ops();
  stow_graph* graph = make_known_graph(&k);
  stow_value list = add_input(graph, "list", VECTOR(STOW_I64, dim_named(graph, "n")));
  stow_value reshaped = add_binary(graph, k.reshape, list, add_unary(graph, k.shape, list));
  stow_value shape = add_unary(graph, k.shape, reshaped);
  CHECK(stow_graph_known(graph, shape, 0) == dim_named(graph, "n"));
  stow_str name = stow_str_of("n");
  int64_t zero = 0;
  CHECK(stow_graph_bind(graph, &name, &zero, 1, NULL) == STOW_OK);
  CHECK(stow_graph_is_known(graph, reshaped));
  CHECK(stow_graph_known(graph, shape, 0) == 0);
  stow_graph_destroy(graph);
  stow_ops_destroy(k.ops);
}

// ---------------------------------------------------------------------------------------------
// Dims that depend on data

static stow_value add_named(stow_graph* graph, stow_op op, stow_value a, stow_value b,
                            const char* name, const stow_type* declared) {
  stow_call* call = stow_graph_begin(graph, op);
  stow_call_operand(call, a);
  if (b != STOW_VALUE_NONE) {
    stow_call_operand(call, b);
  }
  stow_call_name(call, 0, stow_str_of(name));
  if (declared != NULL) {
    stow_call_result_type(call, declared);
  }
  stow_node node;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_call_finish(call, &diag, &node);
  return test_check(status == STOW_OK, __FILE__, __LINE__, "%s", diag.message)
             ? stow_graph_first_result(graph, node)
             : 0;
}

TEST(DimsThatDependOnDataAreSymbolsNamedAfterTheResult) {
  known_ops k = make_known_ops();
  stow_graph* graph = make_known_graph(&k);
  stow_value x = add_input(graph, "x", VECTOR(STOW_F32, 8));
  stow_value list = add_input(graph, "list", VECTOR(STOW_I64, 2));
  stow_value y = add_named(graph, k.reshape, x, list, "y", NULL);
  CHECK(stow_graph_is_data_dependent(graph, y));
  CHECK(!stow_graph_is_data_dependent(graph, x));
  CHECK(stow_graph_type(graph, y)->dims[1] == dim_named(graph, "y.1"));
  stow_value unnamed = add_named(graph, k.reshape, x, list, "", NULL);
  CHECK(stow_graph_type(graph, unnamed)->dims[0] == dim_named(graph, "%3.0"));
  stow_type declared = MATRIX(STOW_F32, 2, dim_named(graph, "m"));
  stow_value z = add_named(graph, k.reshape, x, list, "z", &declared);
  CHECK(stow_type_equal(stow_graph_type(graph, z), &declared));
  CHECK(stow_graph_is_data_dependent(graph, z));
  CHECK(stow_graph_add_output(graph, y, NULL) == STOW_OK);
  stow_str name = stow_str_of("y.1");
  int64_t six = 6;
  CHECK(stow_graph_bind(graph, &name, &six, 1, NULL) == STOW_OK);
  CHECK(stow_graph_type(graph, y)->dims[1] == 6);
  CHECK(stow_graph_is_data_dependent(graph, y));
  CHECK(stow_graph_verify(graph, NULL) == STOW_OK);
  stow_graph_destroy(graph);
  stow_ops_destroy(k.ops);
}

TEST(DataDependentDimsAreTracedThroughTypesAndKnownElements) {
  known_ops k = make_known_ops();
  stow_graph* graph = make_known_graph(&k);
  stow_value x = add_input(graph, "x", MATRIX(STOW_F32, dim_named(graph, "n"), 4));
  stow_value list = add_input(graph, "list", VECTOR(STOW_I64, 2));
  stow_value y = add_named(graph, k.reshape, x, list, "y", NULL);
  CHECK(stow_graph_has_data_dims(graph, y));
  CHECK(!stow_graph_has_data_dims(graph, x));
  stow_value typed = add_unary(graph, STOW_OP_RELU, y);
  stow_value next = add_unary(graph, k.next, add_unary(graph, k.shape, y));
  stow_value made = add_binary(graph, k.reshape, x, next);
  stow_value plain = add_binary(graph, k.reshape, x, add_unary(graph, k.shape, x));
  CHECK(stow_graph_has_data_dims(graph, typed) && !stow_graph_is_data_dependent(graph, typed));
  CHECK(!stow_graph_has_data_dims(graph, next));
  CHECK(stow_graph_has_data_dims(graph, made) && !stow_graph_is_data_dependent(graph, made));
  CHECK(!stow_graph_has_data_dims(graph, plain));
  CHECK(stow_graph_add_output(graph, made, NULL) == STOW_OK);
  stow_str names[2] = {stow_str_of("y.0"), stow_str_of("y.1")};
  CHECK(stow_graph_bind(graph, names, (int64_t[]){4, 8}, 2, NULL) == STOW_OK);
  CHECK(!stow_graph_has_data_dims(graph, made) && !stow_graph_has_data_dims(graph, y));
  CHECK(stow_graph_is_data_dependent(graph, y));
  stow_graph_destroy(graph);
  stow_ops_destroy(k.ops);
}

// A symbol that an input has stays the input's; one that first occurs in a data-dependent dim
// stands for data.
TEST(DeclaredSymbolsBelongToTheFirstValueThatHasThem) {
  known_ops k = make_known_ops();
  stow_graph* graph = make_known_graph(&k);
  stow_dim n = dim_named(graph, "n");
  stow_dim m = dim_named(graph, "m");
  stow_value x = add_input(graph, "x", VECTOR(STOW_F32, n));
  stow_value list = add_input(graph, "list", VECTOR(STOW_I64, 1));
  stow_type with_n = VECTOR(STOW_F32, n);
  stow_type with_m = VECTOR(STOW_F32, m);
  stow_value y = add_named(graph, k.reshape, x, list, "y", &with_n);
  stow_value z = add_named(graph, k.reshape, x, list, "z", &with_m);
  stow_value later = add_input(graph, "later", VECTOR(STOW_F32, m));
  CHECK(!stow_graph_has_data_dims(graph, x) && !stow_graph_has_data_dims(graph, y));
  CHECK(stow_graph_is_data_dependent(graph, y));
  CHECK(stow_graph_has_data_dims(graph, z) && stow_graph_has_data_dims(graph, later));
  stow_graph_destroy(graph);
  stow_ops_destroy(k.ops);
}

// A failing call leaves existing symbols unchanged.
TEST(FailedCallsSettleNoSymbols) {
  known_ops k = make_known_ops();
  stow_graph* graph = make_known_graph(&k);
  stow_value list = add_input(graph, "list", VECTOR(STOW_I64, 1));
  stow_type type = VECTOR(STOW_I64, dim_named(graph, "m"));
  stow_call* call = stow_graph_begin(graph, k.reshape);
  stow_call_operand(call, list);
  stow_call_operand(call, list);
  stow_call_result_type(call, &type);
  stow_call_name(call, 0, stow_str_of("list"));
  CHECK_REFUSED(call, STOW_ERR_DUPLICATE, "is taken");
  CHECK(!stow_graph_has_data_dims(graph, add_input(graph, "x", type)));
  stow_graph_destroy(graph);
  stow_ops_destroy(k.ops);
}

TEST(DeclaredTypesOfDataDependentResultsMustHaveTheRankAndDtype) {
  known_ops k = make_known_ops();
  stow_graph* graph = make_known_graph(&k);
  stow_value x = add_input(graph, "x", VECTOR(STOW_F32, 8));
  stow_value list = add_input(graph, "list", VECTOR(STOW_I64, 2));
  size_t symbols = stow_dims_symbol_count(stow_graph_dims(graph));
  stow_type wrong[2] = {VECTOR(STOW_F32, 8), MATRIX(STOW_I32, 2, 4)};
  for (size_t i = 0; i < 2; ++i) {
    stow_call* call = stow_graph_begin(graph, k.reshape);
    stow_call_operand(call, x);
    stow_call_operand(call, list);
    stow_call_result_type(call, &wrong[i]);
    CHECK_REFUSED(call, STOW_ERR_TYPE, "declared as");
  }
  CHECK_U64(stow_dims_symbol_count(stow_graph_dims(graph)), symbols);
  stow_graph_destroy(graph);
  stow_ops_destroy(k.ops);
}

TEST(DeclaredDimsWinOverBoundsThatAreNotSmaller) {
  known_ops k = make_known_ops();
  stow_graph* graph = make_known_graph(&k);
  stow_value x = add_input(graph, "x", MATRIX(STOW_F32, dim_named(graph, "n"), 4));
  stow_value most = add_named(graph, k.find, x, STOW_VALUE_NONE, "most", NULL);
  CHECK(stow_graph_is_bounded(graph, most));
  CHECK(!stow_graph_is_data_dependent(graph, most));
  stow_type fewer = VECTOR(STOW_I64, 20);
  stow_value some = add_named(graph, k.find, x, STOW_VALUE_NONE, "some", &fewer);
  CHECK(stow_type_equal(stow_graph_type(graph, some), &fewer));
  stow_call* call = stow_graph_begin(graph, k.find);
  stow_call_operand(call, x);
  stow_dim more = stow_dim_mul(stow_graph_edit_dims(graph), dim_named(graph, "n"), 4);
  stow_type type = VECTOR(STOW_I64, stow_dim_add(stow_graph_edit_dims(graph), more, 1));
  stow_call_result_type(call, &type);
  CHECK_REFUSED(call, STOW_ERR_TYPE, "declared as");
  CHECK(stow_graph_add_output(graph, some, NULL) == STOW_OK);
  stow_str name = stow_str_of("n");
  int64_t three = 3;
  CHECK(stow_graph_bind(graph, &name, &three, 1, NULL) == STOW_OK);
  CHECK(stow_graph_type(graph, most)->dims[0] == 12);
  CHECK(stow_graph_type(graph, some)->dims[0] == 12);
  CHECK(stow_graph_is_bounded(graph, some));
  CHECK(stow_graph_verify(graph, NULL) == STOW_OK);
  stow_graph_destroy(graph);
  stow_ops_destroy(k.ops);
}

TEST(TextKeepsDataDependentDims) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[8]\n"
      "  %1 = input \"list\" {data = [2, 4]} : i64[2]\n"
      "  %2 = input \"other\" : i64[2]\n"
      "  %3 = t.reshape(%0, %1) : f32[2, 4]\n"
      "  %4 \"y\" = t.reshape(%0, %2) : f32[?\"y.0\", ?\"y.1\"]\n"
      "  %5 = t.reshape(%0, %2) : f32[?a, 3]\n"
      "  %6 = t.find(%3) : bounded i64[8]\n"
      "  %7 = t.find(%3) : bounded i64[5]\n"
      "  return %3, %4, %5, %6, %7\n"
      "}\n";
  known_ops k = make_known_ops();
  stow_module* module = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_module_parse(text, sizeof(text) - 1, NULL, k.ops,
                                         stow_allocator_default(), &diag, &module);
  CHECK_TEXT(diag.message, "");
  REQUIRE(status == STOW_OK);
  stow_string printed;
  stow_string_init(&printed, stow_allocator_default());
  CHECK(stow_module_print(module, stow_string_writer(&printed)) == STOW_OK);
  CHECK_TEXT(printed.data, text);
  stow_string_free(&printed);
  CHECK(stow_graph_is_data_dependent(stow_module_graph(module, 0), 5));
  CHECK(stow_graph_verify(stow_module_graph(module, 0), NULL) == STOW_OK);
  stow_module_destroy(module);
  stow_ops_destroy(k.ops);
}

// ---------------------------------------------------------------------------------------------
// Failures

TEST(AFailedCallLeavesNothingKnown) {
  known_ops k = make_known_ops();
  stow_graph* graph = make_known_graph(&k);
  stow_value c = add_ints(graph, STOW_OP_CONSTANT, "c", STOW_I64, (int64_t[]){2, 3}, 2);
  stow_value list = add_input(graph, "list", VECTOR(STOW_I64, 1));
  size_t symbols = stow_dims_symbol_count(stow_graph_dims(graph));
  for (int round = 0; round < 3; ++round) {
    stow_call* call = stow_graph_begin(graph, round == 0 ? k.next : k.reshape);
    stow_call_operand(call, c);
    if (round != 0) {
      stow_call_operand(call, list);
    }
    stow_call_name(call, 0, stow_str_of("c"));
    CHECK_REFUSED(call, STOW_ERR_DUPLICATE, "the name \"c\" is taken");
    CHECK_U64(stow_dims_symbol_count(stow_graph_dims(graph)), symbols);
  }
  stow_value unknown = add_unary(graph, STOW_OP_SILU, c);
  CHECK(!stow_graph_is_known(graph, unknown));
  CHECK(stow_graph_known(graph, add_unary(graph, k.next, c), 1) == 4);
  stow_value y = add_named(graph, k.reshape, c, list, "y", NULL);
  CHECK(stow_graph_type(graph, y)->dims[0] == dim_named(graph, "y.0"));
  stow_graph_destroy(graph);
  stow_ops_destroy(k.ops);
}

static stow_status build_and_bind(stow_allocator allocator, void* user) {
  const known_ops* k = (const known_ops*)user;
  stow_graph* graph = NULL;
  stow_status status = stow_graph_create(stow_str_of("g"), k->ops, allocator, NULL, &graph);
  if (status != STOW_OK) {
    return status;
  }
  stow_type type = VECTOR(STOW_I64, dim_named(graph, "n"));
  stow_type list_type = VECTOR(STOW_I64, 2);
  stow_value x;
  stow_value list = STOW_VALUE_NONE;
  stow_value pair[2];
  stow_str name = stow_str_of("n");
  int64_t five = 5;
  status = stow_graph_input(graph, "x", &type, NULL, &x);
  status = status != STOW_OK ? status : stow_graph_input(graph, "l", &list_type, NULL, &list);
  status = status != STOW_OK ? status : stow_graph_add(graph, k->shape, &x, 1, NULL, &pair[1]);
  status = status != STOW_OK ? status : stow_graph_add(graph, k->next, &pair[1], 1, NULL, &pair[1]);
  pair[0] = x;
  status = status != STOW_OK ? status : stow_graph_add(graph, k->reshape, pair, 2, NULL, &pair[0]);
  pair[1] = list;
  status = status != STOW_OK ? status : stow_graph_add(graph, k->reshape, pair, 2, NULL, &x);
  status = status != STOW_OK ? status : stow_graph_add_output(graph, x, NULL);
  status = status != STOW_OK ? status : stow_graph_bind(graph, &name, &five, 1, NULL);
  status = status != STOW_OK ? status : stow_graph_verify(graph, NULL);
  stow_graph_destroy(graph);
  return status;
}

TEST(RunningOutOfMemoryFailsCleanly) {
  known_ops k = make_known_ops();
  CHECK(test_fault_sweep(build_and_bind, &k) > 10);
  stow_ops_destroy(k.ops);
}
