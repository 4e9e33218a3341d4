// Importing calls of a model's functions: what takes their place, and what it sees.
#include <string.h>

#include "onnx/import_model.h"
#include "support/fault.h"
#include "support/test.h"

#define BEGIN     \
  import_model m; \
  import_begin(&m);
#define RUN_AS(expected, is_ended)                                     \
  do {                                                                 \
    stow_status run_status = import_run(&m, (is_ended));               \
    test_check(run_status == (expected), __FILE__, __LINE__, "%s: %s", \
               stow_status_text(run_status), m.diag.message);          \
  } while (0)

static void function_begin(import_model* m, const char* name) {
  onnx_begin(&m->w, ONNX_MODEL_FUNCTION);
  onnx_string(&m->w, 1, name);
  onnx_string(&m->w, 10, "acme");
}

static void call_of(import_model* m, const char* op, const char* inputs, const char* outputs,
                    int64_t axis) {
  onnx_node_begin(&m->w, op, inputs, outputs);
  onnx_string(&m->w, ONNX_NODE_DOMAIN, "acme");
  if (axis >= 0) {
    onnx_attr_int(&m->w, "axis", axis);
  }
  onnx_node_end(&m->w);
}

// Joins its inputs along its attribute |axis|.
static void join_function(import_model* m) {
  function_begin(m, "Join");
  onnx_string(&m->w, 4, "a");
  onnx_string(&m->w, 4, "b");
  onnx_string(&m->w, 5, "j");
  onnx_string(&m->w, 6, "axis");
  onnx_begin(&m->w, 7);
  onnx_string(&m->w, ONNX_NODE_INPUT, "a");
  onnx_string(&m->w, ONNX_NODE_INPUT, "b");
  onnx_string(&m->w, ONNX_NODE_OUTPUT, "r");
  onnx_string(&m->w, ONNX_NODE_OP, "Strange");
  onnx_attr_begin(&m->w, "along", 2);
  onnx_string(&m->w, ONNX_ATTR_REF, "axis");
  onnx_attr_end(&m->w);
  onnx_end(&m->w);
  onnx_begin(&m->w, 7);
  onnx_string(&m->w, ONNX_NODE_INPUT, "a");
  onnx_string(&m->w, ONNX_NODE_INPUT, "b");
  onnx_string(&m->w, ONNX_NODE_OUTPUT, "j");
  onnx_string(&m->w, ONNX_NODE_OP, "Add");
  onnx_end(&m->w);
  onnx_end(&m->w);
}

TEST(AFunctionTakesThePlaceOfItsCalls) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2 3");
  call_of(&m, "Join", "x x", "y", 1);
  call_of(&m, "Join", "y x", "z", 0);
  import_output(&m, "z");
  onnx_model_end(&m.w);
  join_function(&m);
  CHECK(stow_import_request_shape(m.request, stow_str_of("r"), (int64_t[]){1}, 1, NULL) == STOW_OK);
  stow_import_request_set_flags(m.request, STOW_IMPORT_KEEP_ALL);
  RUN_AS(STOW_OK, true);
  CHECK_TEXT(import_type(&m, "z"), "f32[2, 3]");
  CHECK_HAS(m.text, "along = 1");
  CHECK_HAS(m.text, "along = 0");
  import_end(&m);
}

TEST(AFunctionThatCallsItselfIsRefused) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2 3");
  call_of(&m, "Round", "x", "y", -1);
  import_output(&m, "y");
  onnx_model_end(&m.w);
  function_begin(&m, "Round");
  onnx_string(&m.w, 4, "a");
  onnx_string(&m.w, 5, "b");
  onnx_begin(&m.w, 7);
  onnx_string(&m.w, ONNX_NODE_INPUT, "a");
  onnx_string(&m.w, ONNX_NODE_OUTPUT, "b");
  onnx_string(&m.w, ONNX_NODE_OP, "Round");
  onnx_string(&m.w, ONNX_NODE_DOMAIN, "acme");
  onnx_end(&m.w);
  onnx_end(&m.w);
  RUN_AS(STOW_ERR_SYNTAX, true);
  CHECK_HAS(m.diag.message, "calls itself");
  import_end(&m);
}

TEST(AFunctionDoesNotSeeItsCallersTensors) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2 3");
  call_of(&m, "Peek", "x", "y", -1);
  import_output(&m, "y");
  onnx_model_end(&m.w);
  function_begin(&m, "Peek");
  onnx_string(&m.w, 4, "a");
  onnx_string(&m.w, 5, "b");
  onnx_begin(&m.w, 7);
  onnx_string(&m.w, ONNX_NODE_INPUT, "x");
  onnx_string(&m.w, ONNX_NODE_OUTPUT, "b");
  onnx_string(&m.w, ONNX_NODE_OP, "Relu");
  onnx_end(&m.w);
  onnx_end(&m.w);
  RUN_AS(STOW_ERR_SYNTAX, true);
  CHECK_HAS(m.diag.message, "\"x\", which no node produces");
  import_end(&m);
}

// ---------------------------------------------------------------------------------------------
// Overloads, attributes, inputs

enum { FUNCTION_INPUT = 4, FUNCTION_OUTPUT = 5, FUNCTION_NODE = 7, FUNCTION_DEFAULT = 11 };
enum { FUNCTION_OVERLOAD = 13, NODE_OVERLOAD = 8 };

// A node of a function, open for attributes.
static void inner_begin(import_model* m, const char* op, const char* inputs, const char* output) {
  onnx_begin(&m->w, FUNCTION_NODE);
  onnx_string(&m->w, ONNX_NODE_OP, op);
  for (const char* at = inputs; *at != '\0'; ++at) {
    if (*at != ' ') {
      const char name[2] = {*at, '\0'};
      onnx_string(&m->w, ONNX_NODE_INPUT, name);
    }
  }
  onnx_string(&m->w, ONNX_NODE_OUTPUT, output);
}

static void inner_end(import_model* m) { onnx_end(&m->w); }

static void attr_ref(import_model* m, const char* name, const char* of) {
  onnx_attr_begin(&m->w, name, 2);
  onnx_string(&m->w, ONNX_ATTR_REF, of);
  onnx_attr_end(&m->w);
}

// An attribute of the function with a default.
static void default_int(import_model* m, const char* name, int64_t number) {
  onnx_begin(&m->w, FUNCTION_DEFAULT);
  onnx_string(&m->w, ONNX_ATTR_NAME, name);
  onnx_int(&m->w, ONNX_ATTR_I, number);
  onnx_int(&m->w, ONNX_ATTR_TYPE, 2);
  onnx_end(&m->w);
}

// NAME(a) -> b
static void unary_begin(import_model* m, const char* name, const char* overload) {
  function_begin(m, name);
  onnx_string(&m->w, FUNCTION_OVERLOAD, overload);
  onnx_string(&m->w, FUNCTION_INPUT, "a");
  onnx_string(&m->w, FUNCTION_OUTPUT, "b");
}

static void overload_of(import_model* m, const char* overload, const char* op) {
  unary_begin(m, "Act", overload);
  inner_begin(m, op, "a", "b");
  inner_end(m);
  onnx_end(&m->w);
}

static void call_overload(import_model* m, const char* overload, const char* input,
                          const char* output) {
  onnx_node_begin(&m->w, "Act", input, output);
  onnx_string(&m->w, ONNX_NODE_DOMAIN, "acme");
  onnx_string(&m->w, NODE_OVERLOAD, overload);
  onnx_node_end(&m->w);
}

TEST(OverloadsAreDistinguished) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2 3");
  call_overload(&m, "one", "x", "y");
  call_overload(&m, "two", "y", "z");
  import_output(&m, "z");
  onnx_model_end(&m.w);
  overload_of(&m, "one", "Tanh");
  overload_of(&m, "two", "Abs");
  RUN_AS(STOW_OK, true);
  REQUIRE(strstr(m.text, "tanh(") != NULL && strstr(m.text, "abs(") != NULL);
  CHECK(strstr(m.text, "tanh(") < strstr(m.text, "abs("));
  import_end(&m);
}

TEST(OverloadsGivenTwiceAreAnError) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2 3");
  import_output(&m, "x");
  onnx_model_end(&m.w);
  overload_of(&m, "one", "Tanh");
  overload_of(&m, "one", "Abs");
  RUN_AS(STOW_ERR_DUPLICATE, true);
  CHECK_HAS(m.diag.message, "\"Act\" is given twice");
  import_end(&m);
}

// Flat(a) -> b flattens at its attribute |axis|, 2 where it is not given.
static void flat_function(import_model* m) {
  unary_begin(m, "Flat", "");
  default_int(m, "axis", 2);
  inner_begin(m, "Flatten", "a", "b");
  attr_ref(m, "axis", "axis");
  inner_end(m);
  onnx_end(&m->w);
}

TEST(AttributesHaveDefaults) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2 3 4");
  call_of(&m, "Flat", "x", "y", -1);
  call_of(&m, "Flat", "x", "z", 1);
  import_output(&m, "y");
  import_output(&m, "z");
  onnx_model_end(&m.w);
  flat_function(&m);
  RUN_AS(STOW_OK, true);
  CHECK_TEXT(import_type(&m, "y"), "f32[6, 4]");
  CHECK_TEXT(import_type(&m, "z"), "f32[2, 12]");
  import_end(&m);
}

// Outer(a) -> b = Flat(a), which gets the attribute of the same name.
static void outer_function(import_model* m) {
  unary_begin(m, "Outer", "");
  onnx_string(&m->w, 6, "axis");
  inner_begin(m, "Flat", "a", "b");
  onnx_string(&m->w, ONNX_NODE_DOMAIN, "acme");
  attr_ref(m, "axis", "axis");
  inner_end(m);
  onnx_end(&m->w);
}

TEST(NestedFunctionsHandAttributesOn) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2 3 4");
  call_of(&m, "Outer", "x", "y", 1);
  call_of(&m, "Outer", "x", "z", -1);  // the innermost default
  import_output(&m, "y");
  import_output(&m, "z");
  onnx_model_end(&m.w);
  outer_function(&m);
  flat_function(&m);
  RUN_AS(STOW_OK, true);
  CHECK_TEXT(import_type(&m, "y"), "f32[2, 12]");
  CHECK_TEXT(import_type(&m, "z"), "f32[6, 4]");
  import_end(&m);
}

static void flat_branch(import_model* m, const char* name, const char* of) {
  onnx_attr_begin(&m->w, name, 5);
  onnx_begin(&m->w, ONNX_ATTR_G);
  onnx_node_begin(&m->w, "Flatten", "a", "t");
  attr_ref(m, "axis", of);
  onnx_node_end(&m->w);
  import_output(m, "t");
  onnx_end(&m->w);
  onnx_attr_end(&m->w);
}

// Either(c, a) -> b flattens at |first| or |second|.
static void either_function(import_model* m) {
  function_begin(m, "Either");
  onnx_string(&m->w, FUNCTION_INPUT, "c");
  onnx_string(&m->w, FUNCTION_INPUT, "a");
  onnx_string(&m->w, FUNCTION_OUTPUT, "b");
  default_int(m, "first", 1);
  default_int(m, "second", 2);
  inner_begin(m, "If", "c", "b");
  flat_branch(m, "then_branch", "first");
  flat_branch(m, "else_branch", "second");
  inner_end(m);
  onnx_end(&m->w);
}

static void call_either(import_model* m, const char* inputs, const char* output, int64_t first) {
  onnx_node_begin(&m->w, "Either", inputs, output);
  onnx_string(&m->w, ONNX_NODE_DOMAIN, "acme");
  onnx_attr_int(&m->w, "first", first);
  onnx_node_end(&m->w);
}

TEST(SubgraphsOfAFunctionSeeItsAttributes) {
  BEGIN
  import_input(&m, "c", ONNX_BOOL, "");
  import_input(&m, "x", ONNX_FLOAT, "2 3 4");
  call_either(&m, "c x", "y", 0);
  call_either(&m, "c x", "z", 2);
  import_output(&m, "y");
  import_output(&m, "z");
  onnx_model_end(&m.w);
  either_function(&m);
  RUN_AS(STOW_OK, true);
  CHECK_TEXT(import_type(&m, "y"), "f32[6, 24]");  // [1, 24] or [6, 4]
  CHECK_TEXT(import_type(&m, "z"), "f32[6, 4]");
  import_end(&m);
}

TEST(AKnownConditionChoosesInEachCallOfAFunction) {
  BEGIN
  import_input(&m, "c", ONNX_BOOL, "");
  import_input(&m, "x", ONNX_FLOAT, "2 3 4");
  call_either(&m, "c x", "y", 0);
  import_output(&m, "y");
  onnx_model_end(&m.w);
  either_function(&m);
  CHECK(stow_import_request_value(m.request, stow_str_of("c"), (int64_t[]){1}, 1, NULL) == STOW_OK);
  RUN_AS(STOW_OK, true);
  CHECK_TEXT(import_type(&m, "y"), "f32[1, 24]");
  import_end(&m);
}

static void add_branch(import_model* m, const char* name, const char* inputs) {
  onnx_attr_begin(&m->w, name, 5);
  onnx_begin(&m->w, ONNX_ATTR_G);
  onnx_node(&m->w, "Add", inputs, "t");
  import_output(m, "t");
  onnx_end(&m->w);
  onnx_attr_end(&m->w);
}

// Fit(c, a, p, q) -> b adds p or q, whichever fits.
TEST(EachCallTakesTheBranchThatFitsIt) {
  BEGIN
  import_input(&m, "c", ONNX_BOOL, "");
  import_input(&m, "x", ONNX_FLOAT, "4");
  import_input(&m, "three", ONNX_FLOAT, "3");
  import_input(&m, "four", ONNX_FLOAT, "4");
  call_of(&m, "Fit", "c x three four", "y", -1);
  call_of(&m, "Fit", "c x four three", "z", -1);
  import_output(&m, "y");
  import_output(&m, "z");
  onnx_model_end(&m.w);
  function_begin(&m, "Fit");
  for (const char* at = "capq"; *at != '\0'; ++at) {
    onnx_string(&m.w, FUNCTION_INPUT, (const char[2]){*at, '\0'});
  }
  onnx_string(&m.w, FUNCTION_OUTPUT, "b");
  inner_begin(&m, "If", "c", "b");
  add_branch(&m, "then_branch", "a p");
  add_branch(&m, "else_branch", "a q");
  inner_end(&m);
  onnx_end(&m.w);
  RUN_AS(STOW_OK, true);
  CHECK_TEXT(import_type(&m, "y"), "f32[4]");
  CHECK_TEXT(import_type(&m, "z"), "f32[4]");
  CHECK_U64(import_count(&m, STOW_IMPORT_BRANCH), 2);
  import_end(&m);
}

// Limit(a, l, h) -> b = Clip(a, l, h)
static void check_left_off(const char* inputs) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2 3");
  import_input(&m, "low", ONNX_FLOAT, "");
  import_input(&m, "high", ONNX_FLOAT, "");
  call_of(&m, "Limit", inputs, "y", -1);
  import_output(&m, "y");
  onnx_model_end(&m.w);
  function_begin(&m, "Limit");
  for (const char* at = "alh"; *at != '\0'; ++at) {
    onnx_string(&m.w, FUNCTION_INPUT, (const char[2]){*at, '\0'});
  }
  onnx_string(&m.w, FUNCTION_OUTPUT, "b");
  inner_begin(&m, "Clip", "a l h", "b");
  inner_end(&m);
  onnx_end(&m.w);
  RUN_AS(STOW_OK, true);
  CHECK_TEXT(import_type(&m, "y"), "f32[2, 3]");
  CHECK_U64(stow_import_issue_count(m.import), 0);
  import_end(&m);
}

TEST(InputsOfAFunctionCanBeLeftOff) {
  check_left_off("x low high");
  check_left_off("x low");
  check_left_off("x - high");
  check_left_off("x");
}

TEST(MoreInputsThanAFunctionHasAreAnError) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2 3 4");
  call_of(&m, "Flat", "x x", "y", -1);
  import_output(&m, "y");
  onnx_model_end(&m.w);
  flat_function(&m);
  RUN_AS(STOW_ERR_TYPE, true);
  CHECK_HAS(m.diag.message, "the function has 1 inputs and 1 outputs, the call 2 and 1");
  import_end(&m);
}

static stow_status attempt(stow_allocator allocator, void* user) {
  const import_model* m = (const import_model*)user;
  stow_model* model = NULL;
  stow_import* import = NULL;
  stow_status status = stow_onnx_open_memory(m->w.data, m->w.size, NULL, allocator, NULL, &model);
  if (status == STOW_OK) {
    status = stow_import_model(model, m->request, allocator, NULL, &import);
  }
  stow_import_destroy(import);
  stow_model_close(model);
  return status;
}

TEST(EveryFailingAllocationInAFunctionIsReported) {
  BEGIN
  import_input(&m, "c", ONNX_BOOL, "");
  import_input(&m, "x", ONNX_FLOAT, "2 3 4");
  call_either(&m, "c x", "y", 0);
  import_output(&m, "y");
  onnx_model_end(&m.w);
  either_function(&m);
  CHECK(test_fault_sweep(attempt, &m) > 20);
  import_end(&m);
}
