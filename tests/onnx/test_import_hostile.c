// Models that are well-formed messages but make no sense, or far too much of it: each is refused
// with a reason, soon.
#include <stdio.h>
#include <string.h>

#include "onnx/import_model.h"
#include "support/test.h"

#define BEGIN     \
  import_model m; \
  import_begin(&m);
#define RUN(expected, is_ended)                                        \
  do {                                                                 \
    stow_status run_status = import_run(&m, (is_ended));               \
    test_check(run_status == (expected), __FILE__, __LINE__, "%s: %s", \
               stow_status_text(run_status), m.diag.message);          \
  } while (0)

static void function_begin(import_model* m, const char* name) {
  onnx_begin(&m->w, ONNX_MODEL_FUNCTION);
  onnx_string(&m->w, 1, name);
  onnx_string(&m->w, 10, "own");
}

static void function_node(import_model* m, const char* domain, const char* op, const char* input,
                          const char* output) {
  onnx_begin(&m->w, 7);
  if (input[0] != '\0') {
    onnx_string(&m->w, ONNX_NODE_INPUT, input);
  }
  onnx_string(&m->w, ONNX_NODE_OUTPUT, output);
  onnx_string(&m->w, ONNX_NODE_OP, op);
  onnx_string(&m->w, ONNX_NODE_DOMAIN, domain);
  onnx_end(&m->w);
}

static void call_of(import_model* m, const char* name, const char* input) {
  onnx_node_begin(&m->w, name, input, "y");
  onnx_string(&m->w, ONNX_NODE_DOMAIN, "own");
  onnx_node_end(&m->w);
  import_output(m, "y");
  onnx_model_end(&m->w);
}

TEST(FunctionsThatMultiplyAreRefused) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "4");
  call_of(&m, "F40", "x");
  for (int i = 0; i <= 40; ++i) {
    char name[8];
    char inner[8];
    snprintf(name, sizeof(name), "F%d", i);
    snprintf(inner, sizeof(inner), "F%d", i - 1);
    function_begin(&m, name);
    onnx_string(&m.w, 4, "a");
    onnx_string(&m.w, 5, "c");
    function_node(&m, i == 0 ? "" : "own", i == 0 ? "Relu" : inner, "a", "b");
    function_node(&m, i == 0 ? "" : "own", i == 0 ? "Relu" : inner, "b", "c");
    onnx_end(&m.w);
  }
  RUN(STOW_ERR_LIMIT, true);
  CHECK_HAS(m.diag.message, "calls of functions make more than 1048576 nodes");
  import_end(&m);
}

TEST(AFunctionMustHaveTheOutputsOfItsCall) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "4");
  call_of(&m, "F", "");
  function_begin(&m, "F");
  onnx_string(&m.w, 4, "a");
  onnx_string(&m.w, 5, "a");
  onnx_end(&m.w);
  RUN(STOW_ERR_SYNTAX, true);
  CHECK_HAS(m.diag.message, "the function's output \"a\" is not produced by any node");
  import_end(&m);
}

TEST(IdentityOfNothingIsRefused) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "4");
  onnx_node(&m.w, "Identity", "", "y");
  import_output(&m, "y");
  RUN(STOW_ERR_TYPE, false);
  CHECK_HAS(m.diag.message, "(Identity): input 0 is absent");
  import_end(&m);
}

TEST(OutputsThatAnOpDoesNotHaveAreRefused) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "4");
  onnx_node(&m.w, "ReduceProd", "x", "y z");
  import_output(&m, "y");
  import_output(&m, "z");
  RUN(STOW_ERR_TYPE, false);
  CHECK_HAS(m.diag.message, "(ReduceProd): the op has no output 1");
  import_end(&m);
}
