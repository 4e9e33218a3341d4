// Every way in which a text can be wrong, and what is said about it.
#include <stdio.h>
#include <stdlib.h>

#include "graph/text_support.h"

static void check_wrong(const char* text, size_t size, stow_status status, const char* message,
                        int line) {
  stow_module* module = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status actual =
      stow_module_parse(text, size, NULL, NULL, stow_allocator_default(), &diag, &module);
  test_check(actual == status, __FILE__, line, "status %d, expected %d (%s)", (int)actual,
             (int)status, diag.message);
  test_check(module == NULL, __FILE__, line, "a module came back");
  char placed[STOW_DIAG_MESSAGE_SIZE + 64];  // the message has no position of its own
  snprintf(placed, sizeof(placed), "t.stow:%u:%u: %s", (unsigned)diag.line, (unsigned)diag.column,
           diag.message);
  test_check(strncmp(placed, message, strlen(message)) == 0, __FILE__, line,
             "\"%s\" does not begin with \"%s\"", placed, message);
  stow_module_destroy(module);
}

#define CHECK_WRONG(text, status, message) \
  check_wrong((text), strlen(text), (status), "t.stow:" message, __LINE__)

// One statement at line 4, column 3, after %0, an f32[4] named "x", and %1, a bool[].
static void check_statement(const char* statement, stow_status status, const char* message,
                            int line) {
  char text[4096];
  char place[512];
  snprintf(text, sizeof(text),
           "graph @g {\n  %%0 = input \"x\" : f32[4]\n  %%1 = input \"c\" : bool[]\n  %s\n"
           "  return %%0\n}\n",
           statement);
  snprintf(place, sizeof(place), "t.stow:%s", message);
  check_wrong(text, strlen(text), status, place, line);
}
#define CHECK_STATEMENT(statement, status, message) \
  check_statement((statement), (status), (message), __LINE__)

TEST(AFileHoldsGraphs) {
  CHECK_WRONG("", STOW_ERR_SYNTAX, "1:1: expected 'graph', found the end of the text");
  CHECK_WRONG("# nothing\n\n", STOW_ERR_SYNTAX, "3:1: expected 'graph', found the end of");
  CHECK_WRONG("module", STOW_ERR_SYNTAX, "1:1: expected 'graph', found 'module'");
  CHECK_WRONG("graph g", STOW_ERR_SYNTAX, "1:7: expected '@' and the graph's name, found 'g'");
  CHECK_WRONG("graph @7", STOW_ERR_SYNTAX, "1:8: expected the graph's name after '@', found '7'");
  CHECK_WRONG("graph @g", STOW_ERR_SYNTAX, "1:9: expected '{', found the end of the text");
  CHECK_WRONG("graph @g { %0 = input \"x\" : f32[] return %0 } garbage", STOW_ERR_SYNTAX,
              "1:47: expected 'graph' or the end of the text, found 'garbage'");
  CHECK_WRONG("graph @g { %0 = input \"x\" : f32[] return %0 }\ngraph @g {", STOW_ERR_DUPLICATE,
              "2:8: graph @g is defined twice");
}

TEST(AGraphEndsWithReturn) {
  CHECK_WRONG("graph @g {\n}\n", STOW_ERR_SYNTAX,
              "2:1: expected a statement or, at the graph's end, 'return', found '}'");
  CHECK_WRONG("graph @g {\n  return\n}\n", STOW_ERR_SYNTAX,
              "3:1: expected a value, as in %7, found '}'");
  CHECK_STATEMENT("return %0,", STOW_ERR_SYNTAX, "5:3: expected a value");
  CHECK_STATEMENT("return _", STOW_ERR_SYNTAX, "4:10: expected a value, as in %7, found '_'");
  CHECK_STATEMENT("return %2", STOW_ERR_NOT_FOUND, "4:10: %2 is not defined here; the next id");
  CHECK_STATEMENT("yield %0", STOW_ERR_SYNTAX, "4:3: 'yield' ends a region");
  CHECK_WRONG("graph @g { %0 = input \"x\" : f32[] return %0 %1", STOW_ERR_SYNTAX,
              "1:45: expected ',' or '}' after the outputs, found %1");
}

TEST(ResultsTakeTheNextIds) {
  CHECK_STATEMENT("%3 = relu(%0) : f32[4]", STOW_ERR_SYNTAX,
                  "4:3: expected %2, the next id, found %3");
  CHECK_STATEMENT("%1 = relu(%0) : f32[4]", STOW_ERR_DUPLICATE,
                  "4:3: expected %2, the next id, found %1, which is taken");
  CHECK_STATEMENT("%2, %4 = topk(%0) {k = 1} : f32[1], i64[1]", STOW_ERR_SYNTAX,
                  "4:7: expected %3, the next id, found %4");
  CHECK_STATEMENT("%2 = if(%1) {\nyield %0 } else { yield %0 } : f32[4]\n%2 = relu(%0) : f32[4]",
                  STOW_ERR_DUPLICATE, "6:1: expected %3, the next id, found %2, which is taken");
  CHECK_STATEMENT("%4 = if(%1) { %2 = relu(%0) : f32[4] yield %2 } else { yield %0 } : f32[4]",
                  STOW_ERR_SYNTAX,
                  "4:3: expected %3, the next id after those of its regions, found %4");
  CHECK_STATEMENT("%2 relu(%0)", STOW_ERR_SYNTAX, "4:6: expected '=' and an op, found 'relu'");
  CHECK_STATEMENT("%2, relu", STOW_ERR_SYNTAX, "4:7: expected a result, as in %7, found 'relu'");
  CHECK_STATEMENT("%2 = 7", STOW_ERR_SYNTAX, "4:8: expected an op, found '7'");
  CHECK_STATEMENT("(", STOW_ERR_SYNTAX,
                  "4:3: expected a statement or, at the graph's end, 'return'");
}

TEST(UnknownOpsSuggestASimilarOne) {
  CHECK_STATEMENT("%2 = rleu(%0) : f32[4]", STOW_ERR_NOT_FOUND,
                  "4:8: unknown op 'rleu'; did you mean 'relu'?");
  CHECK_STATEMENT("%2 = softmx(%0) : f32[4]", STOW_ERR_NOT_FOUND,
                  "4:8: unknown op 'softmx'; did you mean 'softmax'?");
  CHECK_STATEMENT("%2 = frobnicate_everything(%0) : f32[4]", STOW_ERR_NOT_FOUND,
                  "4:8: unknown op 'frobnicate_everything'");
  CHECK_STATEMENT(
      "%2 = an_op_whose_name_is_much_longer_than_that_of_any_op_that_there_is(%0) : f32[4]",
      STOW_ERR_NOT_FOUND, "4:8: unknown op 'an_op_whose");
}

TEST(OpNamesOfOtherFrameworksSuggestOurs) {
  static const char* const names[][2] = {{"linear", "matmul"},    {"dense", "matmul"},
                                         {"identity", "reshape"}, {"concatenate", "concat"},
                                         {"cat", "concat"},       {"avg_pool", "pool"},
                                         {"max_pool", "pool"},    {"layernorm", "layer_norm"}};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    char statement[64];
    char expected[96];
    snprintf(statement, sizeof(statement), "%%2 = %s(%%0) : f32[4]", names[i][0]);
    snprintf(expected, sizeof(expected), "4:8: unknown op '%s'; did you mean '%s'?", names[i][0],
             names[i][1]);
    CHECK_STATEMENT(statement, STOW_ERR_NOT_FOUND, expected);
  }
}

TEST(ElementTypeNamesOfOtherFrameworksSuggestOurs) {
  static const char* const names[][2] = {
      {"float", "f32"},     {"float32", "f32"},    {"float16", "f16"}, {"half", "f16"},
      {"bfloat16", "bf16"}, {"float64", "f64"},    {"double", "f64"},  {"int8", "i8"},
      {"int16", "i16"},     {"int32", "i32"},      {"int64", "i64"},   {"uint8", "u8"},
      {"uint16", "u16"},    {"uint32", "u32"},     {"uint64", "u64"},  {"boolean", "bool"},
      {"complex64", "c64"}, {"complex128", "c128"}};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    char statement[64];
    char expected[96];
    snprintf(statement, sizeof(statement), "%%2 = relu(%%0) : %s[4]", names[i][0]);
    snprintf(expected, sizeof(expected),
             "4:19: expected an element type, found '%s'; did you mean '%s'?", names[i][0],
             names[i][1]);
    CHECK_STATEMENT(statement, STOW_ERR_SYNTAX, expected);
  }
}

TEST(NamesMustBeUniqueAndInTheRightPlace) {
  CHECK_STATEMENT("%2 \"x\" = relu(%0) : f32[4]", STOW_ERR_DUPLICATE,
                  "4:6: the name \"x\" is already used by %0");
  CHECK_STATEMENT("%2 = input \"c\" : f32[4]", STOW_ERR_DUPLICATE,
                  "4:14: the name \"c\" is already used by %1");
  CHECK_STATEMENT("%2 \"\" = relu(%0) : f32[4]", STOW_ERR_SYNTAX, "4:6: a name must not be empty");
  CHECK_STATEMENT("%2 = input \"\" : f32[4]", STOW_ERR_SYNTAX, "4:14: a name must not be empty");
  CHECK_STATEMENT("%2 = input : f32[4]", STOW_ERR_SYNTAX,
                  "4:14: expected a name in quotes, found ':'");
  CHECK_STATEMENT("%2 \"y\" = input \"z\" : f32[4]", STOW_ERR_SYNTAX,
                  "4:6: the name of an input belongs after the op");
  CHECK_STATEMENT("%2 \"y\" = param \"z\" : f32[4]", STOW_ERR_SYNTAX,
                  "4:6: the name of a param belongs after the op");
  CHECK_STATEMENT("%2 \"y\", %3 \"y\" = topk(%0) {k = 1} : f32[1], i64[1]", STOW_ERR_DUPLICATE,
                  "4:20: topk: the name \"y\" is taken by %2");
}

TEST(OperandsMustBeDefinedBefore) {
  CHECK_STATEMENT("%2 = relu %0 : f32[4]", STOW_ERR_SYNTAX,
                  "4:13: expected '(' and the operands, found %0");
  CHECK_STATEMENT("%2 = relu(%2) : f32[4]", STOW_ERR_NOT_FOUND,
                  "4:13: %2 is not defined here; the next id to be defined is %2");
  CHECK_STATEMENT("%2 = add(%0, 1) : f32[4]", STOW_ERR_SYNTAX,
                  "4:16: expected an operand, as in %7 or _, found '1'");
  CHECK_STATEMENT("%2 = add(%0 %0) : f32[4]", STOW_ERR_SYNTAX,
                  "4:15: expected ',' or ')', found %0");
  CHECK_STATEMENT("%2 = add(%0,) : f32[4]", STOW_ERR_SYNTAX, "4:15: expected an operand");
  CHECK_STATEMENT("%2 = relu(% 0) : f32[4]", STOW_ERR_SYNTAX,
                  "4:13: expected the digits of a value");
  CHECK_STATEMENT("%2 = relu(%00) : f32[4]", STOW_ERR_SYNTAX,
                  "4:13: a value's id must not have leading zero");
  CHECK_STATEMENT("%2 = relu(%0x) : f32[4]", STOW_ERR_SYNTAX,
                  "4:13: a value's id must have digits only");
  CHECK_STATEMENT("%2 = relu(%99999999999999999999) : f32[4]", STOW_ERR_SYNTAX,
                  "4:13: the value's id is too large");
  CHECK_STATEMENT("%2 = relu(%4294967295) : f32[4]", STOW_ERR_SYNTAX,
                  "4:13: the value's id is too large");
}

TEST(GraphErrorsAreLocatedAtTheOp) {
  CHECK_STATEMENT("%2 = relu(_) : f32[4]", STOW_ERR_TYPE, "4:8: relu: operand 0 is missing");
  CHECK_STATEMENT("%2 = relu(%0) : f32[5]", STOW_ERR_TYPE, "4:8: relu");
  CHECK_STATEMENT("%2 = add(%0, %1) : f32[4]", STOW_ERR_TYPE, "4:8: add");
  CHECK_STATEMENT("%2 = relu(%0) {axis = 1} : f32[4]", STOW_ERR_INVALID_ARGUMENT,
                  "4:8: relu: has no attribute \"axis\"");
  CHECK_STATEMENT("%2 = softmax(%0) {axis = 1, axis = 1} : f32[4]", STOW_ERR_DUPLICATE,
                  "4:8: softmax: attribute \"axis\" is given twice");
}

TEST(RegionsHideTheirValues) {
  CHECK_STATEMENT("%3 = if(%1) { %2 = relu(%0) : f32[4] yield %2 } else { yield %2 } : f32[4]",
                  STOW_ERR_NOT_FOUND,
                  "4:64: %2 is defined inside a region and cannot be read outside it");
  CHECK_STATEMENT(
      "%3 = if(%1) { %2 = relu(%0) : f32[4] yield %2 } else { yield %0 } : f32[4] return %2",
      STOW_ERR_NOT_FOUND, "4:85: %2 is defined inside a region and cannot be read outside it");
  CHECK_STATEMENT("%3 = if(%2) { %2 = relu(%0) : f32[4] yield %2 } else { yield %0 } : f32[4]",
                  STOW_ERR_NOT_FOUND, "4:11: %2 is not defined here");
}

TEST(RegionsAreWrittenInFull) {
  CHECK_STATEMENT("%2 = if(%1) : f32[4]", STOW_ERR_SYNTAX,
                  "4:15: expected '{' and a region, found ':'");
  CHECK_STATEMENT("%2 = if(%1) {}", STOW_ERR_SYNTAX,
                  "4:16: expected a statement or, at the region's end, 'yield', found '}'");
  CHECK_STATEMENT("%2 = if(%1) { yield %0 } : f32[4]", STOW_ERR_SYNTAX,
                  "4:28: expected 'else' and the next region, found ':'");
  CHECK_STATEMENT("%2 = if(%1) { yield %0 } else : f32[4]", STOW_ERR_SYNTAX,
                  "4:33: expected '{' and a region, found ':'");
  CHECK_STATEMENT("%2 = if(%1) { yield %0 } else { yield %0 } else { yield %0 } : f32[4]",
                  STOW_ERR_SYNTAX, "4:46: expected ':' and the type of each result, found 'else'");
  CHECK_STATEMENT("%2 = if(%1) { return %0", STOW_ERR_SYNTAX, "4:17: 'return' ends a graph");
  CHECK_STATEMENT("%2 = if(%1) { yield %0 relu", STOW_ERR_SYNTAX,
                  "4:26: expected ',' or '}' after the yielded values, found 'relu'");
  CHECK_STATEMENT("%2 = relu(%0) { yield %0 } : f32[4]", STOW_ERR_SYNTAX,
                  "4:25: expected '=' after the attribute's name, found %0");
}

TEST(TypesAreChecked) {
  CHECK_STATEMENT("%2 = relu(%0)", STOW_ERR_SYNTAX,
                  "5:3: expected ':' and the type of each result, found 'return'");
  CHECK_STATEMENT("%2 = relu(%0) : bounded() f32[4]", STOW_ERR_SYNTAX,
                  "4:27: expected the number of a dim, found ')'");
  CHECK_STATEMENT("%2 = relu(%0) : bounded(-1) f32[4]", STOW_ERR_SYNTAX,
                  "4:27: expected the number of a dim, found '-'");
  CHECK_STATEMENT("%2 = relu(%0) : bounded(99999999999999999999) f32[4]", STOW_ERR_SYNTAX,
                  "4:27: expected the number of a dim, found ");
  CHECK_STATEMENT("%2 = relu(%0) : bounded(0 f32[4]", STOW_ERR_SYNTAX,
                  "4:29: expected ',' or ')', found 'f32'");
  CHECK_STATEMENT("%2 = relu(%0) : bounded(1) f32[4]", STOW_ERR_INVALID_ARGUMENT,
                  "4:8: relu: marks dim 1 of result 0 as bounded, out of range (rank 1)");
  CHECK_STATEMENT("%2 = relu(%0) : 4", STOW_ERR_SYNTAX,
                  "4:19: expected a type, as in f32[100, 384], found '4'");
  CHECK_STATEMENT("%2 = relu(%0) : f33[4]", STOW_ERR_SYNTAX,
                  "4:19: expected an element type such as f32 or i64, found 'f33'");
  CHECK_STATEMENT("%2 = relu(%0) : f32", STOW_ERR_SYNTAX,
                  "5:3: expected '[' and the dims, found 'return'");
  CHECK_STATEMENT("%2 = relu(%0) : f32[4", STOW_ERR_SYNTAX,
                  "5:3: expected ',' or ']', found 'return'");
  CHECK_STATEMENT("%2 = relu(%0) : f32[4 4]", STOW_ERR_SYNTAX,
                  "4:25: expected ',' or ']', found '4'");
  CHECK_STATEMENT("%2 = relu(%0) : f32[-4]", STOW_ERR_SYNTAX,
                  "4:23: expected a dim: 384, ?name or ?(past + seq), found '-'");
  CHECK_STATEMENT("%2 = relu(%0) : f32[4.0]", STOW_ERR_SYNTAX, "4:23: expected a dim");
  CHECK_STATEMENT("%2 = relu(%0) : f32[04]", STOW_ERR_SYNTAX,
                  "4:23: an integer must not have leading zeros");
  CHECK_STATEMENT("%2 = relu(%0) : f32[9223372036854775808]", STOW_ERR_OVERFLOW,
                  "4:23: the dim 9223372036854775808 does not fit in 64 bits");
  CHECK_STATEMENT("%2 = relu(%0) : f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", STOW_ERR_LIMIT,
                  "4:55: too many dims, the maximum is 16");
  CHECK_STATEMENT("%2 = relu(%0) : f32[4], f32[4]", STOW_ERR_SYNTAX,
                  "4:25: expected one type for each of the 1 results");
  CHECK_STATEMENT("%2, %3 = topk(%0) {k = 1} : f32[1]", STOW_ERR_SYNTAX,
                  "5:3: expected ',' and a type for each result, found 'return'");
  CHECK_STATEMENT("%2 = relu(%0) : f32[4] with x", STOW_ERR_SYNTAX,
                  "4:31: expected '{', found 'x'");
}

TEST(DimExpressionsAreChecked) {
  CHECK_STATEMENT("%2 = input \"y\" : f32[?4]", STOW_ERR_SYNTAX,
                  "4:25: expected a symbol or '(' after '?', found '4'");
  CHECK_STATEMENT("%2 = input \"y\" : f32[?\"\"]", STOW_ERR_SYNTAX,
                  "4:25: a symbol's name must not be empty");
  CHECK_STATEMENT("%2 = input \"y\" : f32[?a.b]", STOW_ERR_SYNTAX,
                  "4:25: a symbol's name with a dot must be quoted: ?\"a.b\"");
  CHECK_STATEMENT("%2 = input \"y\" : f32[?()]", STOW_ERR_SYNTAX,
                  "4:26: expected a number, a symbol or '(', found ')'");
  CHECK_STATEMENT("%2 = input \"y\" : f32[?(a b)]", STOW_ERR_SYNTAX,
                  "4:28: expected an operator or ')', found 'b'");
  CHECK_STATEMENT("%2 = input \"y\" : f32[?((a)]", STOW_ERR_SYNTAX,
                  "4:29: expected an operator or ')', found ']'");
  CHECK_STATEMENT("%2 = input \"y\" : f32[?((a b))]", STOW_ERR_SYNTAX,
                  "4:29: expected an operator or ')', found 'b'");
  CHECK_STATEMENT("%2 = input \"y\" : f32[?(a + )]", STOW_ERR_SYNTAX, "4:30: expected a number");
  CHECK_STATEMENT("%2 = input \"y\" : f32[?(a * )]", STOW_ERR_SYNTAX, "4:30: expected a number");
  CHECK_STATEMENT("%2 = input \"y\" : f32[?(mod(a, b))]", STOW_ERR_SYNTAX,
                  "4:26: expected floor_div, ceil_div, min or max before '(', found 'mod'");
  CHECK_STATEMENT("%2 = input \"y\" : f32[?(min(a))]", STOW_ERR_SYNTAX,
                  "4:31: expected ',' and the second operand, found ')'");
  CHECK_STATEMENT("%2 = input \"y\" : f32[?(min(a, b, c))]", STOW_ERR_SYNTAX,
                  "4:34: expected ')', found ','");
  CHECK_STATEMENT("%2 = input \"y\" : f32[?(min(a, )]", STOW_ERR_SYNTAX, "4:33: expected a number");
  CHECK_STATEMENT("%2 = input \"y\" : f32[?(min(, a)]", STOW_ERR_SYNTAX, "4:30: expected a number");
  CHECK_STATEMENT("%2 = input \"y\" : f32[?(floor_div(a, 0))]", STOW_ERR_TYPE,
                  "4:26: this dim divides by zero or a negative number");
  CHECK_STATEMENT("%2 = input \"y\" : f32[?(2 - 3)]", STOW_ERR_TYPE, "4:25: this dim is negative");
  CHECK_STATEMENT("%2 = input \"y\" : f32[?(9223372036854775807*a + a)]", STOW_ERR_OVERFLOW,
                  "4:48: a number in this dim does not fit in 64 bits");
  CHECK_STATEMENT("%2 = input \"y\" : f32[?(a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a)]",
                  STOW_ERR_LIMIT, "4:57: this dim's expression is too large");
}

TEST(AttributesAreChecked) {
  CHECK_STATEMENT("%2 = custom() {name} : f32[]", STOW_ERR_SYNTAX,
                  "4:22: expected '=' after the attribute's name, found '}'");
  CHECK_STATEMENT("%2 = custom() {\"\" = 1} : f32[]", STOW_ERR_SYNTAX,
                  "4:18: expected an attribute's name, found \"\"");
  CHECK_STATEMENT("%2 = custom() {a = 1 b = 2} : f32[]", STOW_ERR_SYNTAX,
                  "4:24: expected ',' or '}', found 'b'");
  CHECK_STATEMENT("%2 = custom() {a = } : f32[]", STOW_ERR_SYNTAX,
                  "4:22: expected a value: a number, a string, true, false or a list, found '}'");
  CHECK_STATEMENT("%2 = custom() {a = maybe} : f32[]", STOW_ERR_SYNTAX, "4:22: expected a value");
  CHECK_STATEMENT("%2 = custom() {a = -true} : f32[]", STOW_ERR_SYNTAX,
                  "4:23: expected a number, found 'true'");
  CHECK_STATEMENT("%2 = custom() {a = -nan} : f32[]", STOW_ERR_SYNTAX,
                  "4:23: expected a number, found 'nan'");
  CHECK_STATEMENT("%2 = custom() {a = 9223372036854775808} : f32[]", STOW_ERR_OVERFLOW,
                  "4:22: the integer 9223372036854775808 does not fit in 64 bits");
  CHECK_STATEMENT("%2 = custom() {a = -9223372036854775809} : f32[]", STOW_ERR_OVERFLOW,
                  "4:23: the integer -9223372036854775809 does not fit in 64 bits");
  CHECK_STATEMENT(
      "%2 = custom() {a = 3.14159265358979323846} : f32[]", STOW_ERR_SYNTAX,
      "4:22: the number 3.14159265358979323846 cannot be read exactly; write it as a hex");
  CHECK_STATEMENT("%2 = custom() {a = 12abc} : f32[]", STOW_ERR_SYNTAX,
                  "4:22: the number 12abc is malformed");
  CHECK_STATEMENT("%2 = custom() {a = 0x10} : f32[]", STOW_ERR_SYNTAX,
                  "4:22: the number 0x10 is malformed");
  CHECK_STATEMENT("%2 = custom() {a = [1, \"x\"]} : f32[]", STOW_ERR_SYNTAX,
                  "4:26: expected a number, as before in this list, found \"x\"");
  CHECK_STATEMENT("%2 = custom() {a = [\"x\", 1]} : f32[]", STOW_ERR_SYNTAX,
                  "4:28: expected a string, as before in this list, found '1'");
  CHECK_STATEMENT("%2 = custom() {a = [true]} : f32[]", STOW_ERR_SYNTAX,
                  "4:23: expected a number, a string or ']', found 'true'");
  CHECK_STATEMENT("%2 = custom() {a = [[1]]} : f32[]", STOW_ERR_SYNTAX,
                  "4:23: expected a number, a");
  CHECK_STATEMENT("%2 = custom() {a = [1 2]} : f32[]", STOW_ERR_SYNTAX,
                  "4:25: expected ',' or ']', found '2'");
  CHECK_STATEMENT("%2 = custom() {a = [9007199254740993, 0.5]} : f32[]", STOW_ERR_SYNTAX,
                  "4:41: this list holds floats, and one of its integers is not exact as a double");
  CHECK_STATEMENT("%2 = custom() {a = [0.5, 9007199254740993]} : f32[]", STOW_ERR_SYNTAX,
                  "4:28: this list holds floats");
}

TEST(DataIsCheckedWithAndWithoutASource) {
  CHECK_STATEMENT("%2 = param \"w\" {data = [1, 2, 3]} : i64[2]", STOW_ERR_TYPE,
                  "4:8: param: inline data has 3 elements, which does not match i64[2]");
  CHECK_STATEMENT("%2 = param \"w\" {source = \"f\", at = 0, bytes = 16, data = [1]} : i64[2]",
                  STOW_ERR_TYPE,
                  "4:8: param: inline data has 1 elements, which does not match i64[2]");
  CHECK_STATEMENT("%2 = param \"w\" {source = \"f\", at = 0, bytes = 8, data = [1, 2]} : i64[2]",
                  STOW_ERR_TYPE, "4:8: param: the source has 8 bytes, which does not match i64[2]");
  CHECK_STATEMENT("%2 = param \"w\" {source = \"f\", data = [1, 2]} : i64[2]",
                  STOW_ERR_INVALID_ARGUMENT,
                  "4:8: param: \"source\" needs \"at\" and \"bytes\", both 0 or more");
  CHECK_STATEMENT("%2 = param \"w\" {data = [256]} : u8[1]", STOW_ERR_TYPE,
                  "4:8: param: element 0 of the inline data is out of range for u8");
}

TEST(StringsAreChecked) {
  CHECK_STATEMENT("%2 = input \"y", STOW_ERR_SYNTAX, "4:14: expected '\"' to close this string");
  CHECK_STATEMENT("%2 = input \"y\\", STOW_ERR_SYNTAX, "4:16: unknown escape");
  CHECK_STATEMENT("%2 = input \"\\q\"", STOW_ERR_SYNTAX,
                  "4:15: unknown escape; expected one of \\\"");
  CHECK_STATEMENT("%2 = input \"\\0\"", STOW_ERR_SYNTAX, "4:15: unknown escape");
  CHECK_STATEMENT("%2 = input \"\\x4\"", STOW_ERR_SYNTAX,
                  "4:15: expected two hex digits after '\\x'");
  CHECK_STATEMENT("%2 = input \"\\xg0\"", STOW_ERR_SYNTAX, "4:15: expected two hex digits");
  CHECK_WRONG("graph @\"", STOW_ERR_SYNTAX, "1:8: expected '\"' to close this string");
  CHECK_WRONG("graph @\"\\", STOW_ERR_SYNTAX, "1:9: unknown escape");
  CHECK_WRONG("graph @\"\\x", STOW_ERR_SYNTAX, "1:9: expected two hex digits");
}

TEST(StrayBytesAreNamed) {
  CHECK_WRONG("graph @g !", STOW_ERR_SYNTAX, "1:10: unexpected '!'");
  CHECK_WRONG("\x01", STOW_ERR_SYNTAX, "1:1: unexpected byte 0x01");
  CHECK_WRONG("graph \xc3\xa9", STOW_ERR_SYNTAX, "1:7: unexpected byte 0xc3");
  check_wrong("graph \0", 7, STOW_ERR_SYNTAX, "t.stow:1:7: unexpected byte 0x00", __LINE__);
  CHECK_WRONG("graph @g {\r\n\r\n  $", STOW_ERR_SYNTAX, "3:3: unexpected '$'");
}

TEST(LongTokensAreTruncatedInMessages) {
  CHECK_WRONG("a_name_that_is_longer_than_what_a_message_needs_to_show", STOW_ERR_SYNTAX,
              "1:1: expected 'graph', found 'a_name_that_is_longer_than_what_a_messag…'");
}

TEST(PositionsAreInFieldsOnly) {
  stow_module* module = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_module_parse("x", 1, NULL, NULL, stow_allocator_default(), &diag, &module) ==
        STOW_ERR_SYNTAX);
  CHECK_TEXT(diag.message, "expected 'graph', found 'x'");
  CHECK(stow_module_parse("\n x", 3, "t.stow", NULL, stow_allocator_default(), &diag, &module) ==
        STOW_ERR_SYNTAX);
  CHECK_TEXT(diag.message, "t.stow: expected 'graph', found 'x'");
  CHECK_U64(diag.line, 2);
  CHECK_U64(diag.column, 2);
  CHECK(stow_module_parse(NULL, 0, NULL, NULL, stow_allocator_default(), NULL, &module) ==
        STOW_ERR_SYNTAX);
}

// ---------------------------------------------------------------------------------------------
// Limits

// |before|, |count| times |unit|, |after|.
static char* repeat(const char* before, const char* unit, size_t count, const char* after,
                    size_t* out_size) {
  size_t unit_size = strlen(unit);
  size_t size = strlen(before) + count * unit_size + strlen(after);
  char* text = malloc(size + 1);
  if (text == NULL) {
    abort();
  }
  memcpy(text, before, strlen(before));
  char* cursor = text + strlen(before);
  for (size_t i = 0; i < count; ++i, cursor += unit_size) {
    memcpy(cursor, unit, unit_size);
  }
  memcpy(cursor, after, strlen(after) + 1);
  *out_size = size;
  return text;
}

static void check_repeated(const char* before, const char* unit, size_t count, const char* after,
                           stow_status status, const char* message, int line) {
  size_t size;
  char* text = repeat(before, unit, count, after, &size);
  check_wrong(text, size, status, message, line);
  free(text);
}

TEST(NestingIsLimited) {
  check_repeated("graph @g { %0 = input \"x\" : f32[?", "(", 10000, "a", STOW_ERR_LIMIT,
                 "t.stow:1:234: dims are nested more than 200 deep", __LINE__);
  check_repeated("graph @g { %0 = input \"x\" : f32[?(", "min(a,", 10000, "a", STOW_ERR_LIMIT,
                 "t.stow:1:1232: dims are nested more than 200 deep", __LINE__);
  check_repeated("graph @g { %0 = input \"x\" : bool[]\n", "%1 = if(%0) {\n", 10000, "",
                 STOW_ERR_LIMIT, "t.stow:66:6: regions are nested more than 64 deep", __LINE__);
  check_repeated("graph @g ", "{", 10000, "", STOW_ERR_SYNTAX, "t.stow:1:11: expected a statement",
                 __LINE__);
  check_repeated("graph @g { %0 = custom() {a = ", "[", 10000, "", STOW_ERR_SYNTAX,
                 "t.stow:1:32: expected a number", __LINE__);
}

TEST(ATypeWithAMillionDimsIsRefusedAtTheSeventeenth) {
  check_repeated("graph @g { %0 = input \"x\" : f32[", "1,", 1000000, "1]", STOW_ERR_LIMIT,
                 "t.stow:1:65: too many dims, the maximum is 16", __LINE__);
}

TEST(VeryLongTokensAreRead) {
  size_t count = 10u << 20;
  check_repeated("", "a", count, "", STOW_ERR_SYNTAX, "t.stow:1:1: expected 'graph', found 'aaa",
                 __LINE__);
  check_repeated("graph @g { ", "a", count, "", STOW_ERR_NOT_FOUND, "t.stow:1:12: unknown op 'a",
                 __LINE__);
  check_repeated("graph @g { %", "1", count, "", STOW_ERR_SYNTAX,
                 "t.stow:1:12: the value's id is too large", __LINE__);
  check_repeated("graph @g { %0 = custom() {a = 1", "0", count, "}", STOW_ERR_OVERFLOW,
                 "t.stow:1:31: the integer 1000", __LINE__);
  check_repeated("graph @g { %0 = custom() {a = 0.", "1", count, "}", STOW_ERR_SYNTAX,
                 "t.stow:1:31: the number 0.111", __LINE__);
  check_repeated("graph @g { %0 = custom() {a = 0x1p", "9", count, "}", STOW_ERR_SYNTAX,
                 "t.stow:1:31: the number 0x1p9", __LINE__);
  check_repeated("graph @g { %0 = input \"", "x", count, "\" }", STOW_ERR_SYNTAX,
                 "t.stow:1:", __LINE__);
  check_repeated("graph @g { %0 = input \"x\" : f32[?", "a", count, "", STOW_ERR_SYNTAX,
                 "t.stow:1:", __LINE__);
  check_repeated("#", " ", count, "", STOW_ERR_SYNTAX, "t.stow:1:10485762: expected 'graph'",
                 __LINE__);
  check_repeated("", "\n", count, "", STOW_ERR_SYNTAX, "t.stow:10485761:1: expected 'graph'",
                 __LINE__);
}
