// Other types than tensors: strings, sequences, optionals and maps.
#include "onnx/import_model.h"
#include "support/test.h"

#define BEGIN     \
  import_model m; \
  import_begin(&m);
#define RUN(expected)                                                  \
  do {                                                                 \
    stow_status run_status = import_run(&m, false);                    \
    test_check(run_status == (expected), __FILE__, __LINE__, "%s: %s", \
               stow_status_text(run_status), m.diag.message);          \
  } while (0)

static void check_refused(const char* domain, const char* op, const char* reason) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2 3");
  onnx_node_begin(&m.w, op, "x", "y");
  onnx_string(&m.w, ONNX_NODE_DOMAIN, domain);
  onnx_node_end(&m.w);
  import_output(&m, "y");
  RUN(STOW_OK);
  CHECK(m.graph == NULL);
  CHECK_TEXT(import_reason(&m, STOW_IMPORT_UNSUPPORTED), reason);
  import_end(&m);
}

TEST(SequencesAreNotSupported) {
  static const char* const ops[] = {"SequenceConstruct", "SequenceEmpty",   "SequenceInsert",
                                    "SequenceErase",     "SequenceAt",      "SequenceLength",
                                    "SequenceMap",       "SplitToSequence", "ConcatFromSequence"};
  for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); ++i) {
    check_refused("", ops[i], "y: sequences are not supported");
  }
}

TEST(OptionalsAreNotSupported) { check_refused("", "Optional", "y: optionals are not supported"); }

TEST(MapsAreNotSupported) {
  check_refused("ai.onnx.ml", "ZipMap", "y: maps are not supported");
  check_refused("ai.onnx.ml", "CastMap", "y: maps are not supported");
  check_refused("ai.onnx.ml", "DictVectorizer", "y: maps are not supported");
}

TEST(ACastToStringsIsNotSupported) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2 3");
  onnx_node_begin(&m.w, "Cast", "x", "y");
  onnx_attr_int(&m.w, "to", ONNX_STRING);
  onnx_node_end(&m.w);
  import_output(&m, "y");
  RUN(STOW_OK);
  CHECK_TEXT(import_reason(&m, STOW_IMPORT_UNSUPPORTED), "y: strings are not supported");
  import_end(&m);
}

TEST(AnUnknownOpThatMakesStringsIsRefusedForThem) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2 3");
  onnx_node(&m.w, "NoSuchOp", "x", "y");
  onnx_value(&m.w, ONNX_GRAPH_OUTPUT, "y", ONNX_STRING, "2");
  RUN(STOW_OK);
  CHECK_TEXT(import_reason(&m, STOW_IMPORT_UNSUPPORTED), "y: strings are not supported");
  import_end(&m);
}

TEST(TheElementOfATensorIsTheTensor) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2 3");
  onnx_node(&m.w, "OptionalGetElement", "x", "y");
  import_output(&m, "y");
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "y"), "f32[2, 3]");
  CHECK_U64(stow_import_issue_count(m.import), 0);
  import_end(&m);
}

static void check_has_element(const char* inputs, uint8_t expected) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2 3");
  onnx_node(&m.w, "OptionalHasElement", inputs, "y");
  import_output(&m, "y");
  RUN(STOW_OK);
  REQUIRE(m.graph != NULL);
  CHECK_TEXT(import_type(&m, "y"), "bool[]");
  stow_value y = stow_graph_outputs(m.graph)[0];
  CHECK(stow_graph_is_known(m.graph, y) && stow_graph_known(m.graph, y, 0) == expected);
  import_end(&m);
}

TEST(ATensorHasItsElement) { check_has_element("x", 1); }

TEST(AnAbsentOptionalHasNoElement) {
  check_has_element("", 0);
  check_has_element("-", 0);
}
