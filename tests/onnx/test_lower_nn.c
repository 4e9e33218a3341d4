// Which core ops windows, quantised, recurrent and geometric ONNX ops of old and new versions
// become.
#include <stdio.h>
#include <string.h>

#include "onnx/import_model.h"
#include "support/test.h"

// A model of another opset than 17.
static void begin_at(import_model* m, int64_t opset) {
  import_begin(m);
  onnx_writer_free(&m->w);
  memset(&m->w, 0, sizeof(m->w));
  onnx_model_begin(&m->w, 8, opset);
}

#define RUN(m)                                                                            \
  do {                                                                                    \
    import_output((m), "y");                                                              \
    stow_status run_status = import_run((m), false);                                      \
    test_check(run_status == STOW_OK && (m)->graph != NULL, __FILE__, __LINE__, "%s: %s", \
               stow_status_text(run_status), (m)->diag.message);                          \
  } while (0)

TEST(PadsBesideAnAutomaticPaddingAreDropped) {
  static const int64_t pads[] = {1, 1, 1, 1};
  static const int64_t pair[] = {2, 2};
  import_model m;
  begin_at(&m, 11);
  import_input(&m, "x", ONNX_FLOAT, "1 2 10 5");
  onnx_node_begin(&m.w, "AveragePool", "x", "y");
  onnx_attr_ints(&m.w, "kernel_shape", pair, 2);
  onnx_attr_ints(&m.w, "strides", pair, 2);
  onnx_attr_ints(&m.w, "pads", pads, 4);
  onnx_attr_string(&m.w, "auto_pad", "SAME_UPPER");
  onnx_node_end(&m.w);
  RUN(&m);
  CHECK_TEXT(import_type(&m, "y"), "f32[1, 2, 5, 3]");
  CHECK_HAS(m.text, "auto_pad = \"same_upper\"");
  CHECK_HAS(m.text, "op = \"avg\"");
  import_end(&m);
}

// What a pool's name says is said by attributes.
TEST(PoolsKeepTheKindOfTheirNames) {
  static const struct {
    const char *name, *op;
    bool is_global;
  } pools[] = {{"AveragePool", "avg", false},  {"MaxPool", "max", false},
               {"LpPool", "lp", false},        {"GlobalAveragePool", "avg", true},
               {"GlobalMaxPool", "max", true}, {"GlobalLpPool", "lp", true}};
  static const int64_t pair[] = {2, 2};
  for (size_t i = 0; i < sizeof(pools) / sizeof(pools[0]); ++i) {
    import_model m;
    char op[20];
    begin_at(&m, 11);
    import_input(&m, "x", ONNX_FLOAT, "1 2 10 5");
    onnx_node_begin(&m.w, pools[i].name, "x", "y");
    if (!pools[i].is_global) {
      onnx_attr_ints(&m.w, "kernel_shape", pair, 2);
    }
    onnx_node_end(&m.w);
    RUN(&m);
    snprintf(op, sizeof(op), "op = \"%s\"", pools[i].op);
    bool is_default = strcmp(pools[i].op, "max") == 0;
    CHECK((strstr(m.text, is_default ? "op = " : op) != NULL) == !is_default);
    CHECK((strstr(m.text, "global = true") != NULL) == pools[i].is_global);
    CHECK(strstr(m.text, "channels_last") == NULL);
    CHECK_TEXT(import_type(&m, "y"), pools[i].is_global ? "f32[1, 2, 1, 1]" : "f32[1, 2, 9, 4]");
    import_end(&m);
  }
}

TEST(UnknownAttributesOfWindowsAreIssues) {
  import_model m;
  begin_at(&m, 11);
  import_input(&m, "x", ONNX_FLOAT, "1 2 10");
  onnx_node_begin(&m.w, "GlobalMaxPool", "x", "y");
  onnx_attr_int(&m.w, "odd", 1);
  onnx_node_end(&m.w);
  import_output(&m, "y");
  CHECK(import_run(&m, false) == STOW_OK);
  CHECK(m.graph == NULL);
  CHECK_HAS(import_reason(&m, STOW_IMPORT_UNSUPPORTED), "attribute \"odd\" is not known");
  import_end(&m);
}

TEST(AnOutputShapeReplacesPads) {
  static const int64_t pads[] = {1, 1};
  static const int64_t shape[] = {12};
  static const int64_t strides[] = {2};
  import_model m;
  begin_at(&m, 11);
  import_input(&m, "x", ONNX_FLOAT, "1 4 5");
  import_input(&m, "w", ONNX_FLOAT, "4 6 3");
  onnx_node_begin(&m.w, "ConvTranspose", "x w", "y");
  onnx_attr_ints(&m.w, "pads", pads, 2);
  onnx_attr_ints(&m.w, "strides", strides, 1);
  onnx_attr_ints(&m.w, "output_shape", shape, 1);
  onnx_node_end(&m.w);
  RUN(&m);
  CHECK_TEXT(import_type(&m, "y"), "f32[1, 6, 12]");
  import_end(&m);
}

TEST(OldUpsampleIsResize) {
  import_model m;
  begin_at(&m, 1);
  import_input(&m, "x", ONNX_FLOAT, "1 2 3 4");
  onnx_node_begin(&m.w, "Upsample", "x", "y");
  onnx_attr_float(&m.w, "height_scale", 2);
  onnx_attr_float(&m.w, "width_scale", 1.5F);
  onnx_attr_string(&m.w, "mode", "bilinear");
  onnx_node_end(&m.w);
  RUN(&m);
  CHECK_TEXT(import_type(&m, "y"), "f32[1, 2, 6, 6]");
  CHECK_HAS(m.text, "mode = \"linear\", coordinates = \"asymmetric\"");
  import_end(&m);
}

TEST(GridSampleKeepsItsMeaningUnderItsOldNames) {
  import_model m;
  begin_at(&m, 16);
  import_input(&m, "x", ONNX_FLOAT, "1 2 3 4");
  import_input(&m, "grid", ONNX_FLOAT, "1 5 6 2");
  onnx_node_begin(&m.w, "GridSample", "x grid", "y");
  onnx_attr_string(&m.w, "mode", "bicubic");
  onnx_node_end(&m.w);
  RUN(&m);
  CHECK_TEXT(import_type(&m, "y"), "f32[1, 2, 5, 6]");
  CHECK_HAS(m.text, "mode = \"cubic\"");
  import_end(&m);
}

TEST(AnElementTypeOfZeroIsUnknown) {
  import_model m;
  begin_at(&m, 21);
  import_input(&m, "x", ONNX_FLOAT, "4 3");
  import_input(&m, "s", ONNX_FLOAT, "");
  onnx_node_begin(&m.w, "QuantizeLinear", "x s", "y");
  onnx_attr_int(&m.w, "output_dtype", 0);
  onnx_node_end(&m.w);
  RUN(&m);
  CHECK_TEXT(import_type(&m, "y"), "u8[4, 3]");
  import_end(&m);
}

TEST(LstmMakesResultsUpToTheLastNamed) {
  import_model m;
  begin_at(&m, 14);
  import_input(&m, "x", ONNX_FLOAT, "2 n 3");
  import_input(&m, "w", ONNX_FLOAT, "1 20 3");
  import_input(&m, "r", ONNX_FLOAT, "1 20 5");
  onnx_node_begin(&m.w, "LSTM", "x w r", "- y");
  onnx_attr_int(&m.w, "hidden_size", 5);
  onnx_attr_int(&m.w, "layout", 1);
  onnx_node_end(&m.w);
  RUN(&m);
  CHECK_TEXT(import_type(&m, "y"), "f32[2, 1, 5]");
  CHECK_HAS(m.text, "f32[2, ?n, 1, 5]");
  import_end(&m);
}
