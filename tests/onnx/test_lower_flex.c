// FlexAttention whose scores or probabilities are changed by graphs: attention in parts, with the
// graphs' nodes between them.
#include <string.h>

#include "onnx/import_model.h"
#include "support/fault.h"
#include "support/test.h"

// What the node is given; NULL and 0: the usual.
typedef struct flex_model {
  const char* q;
  const char* kv;
  int elem;
  int score_elem;  // of the graphs' inputs
  const char* op;  // of score_mod's node
  const char* inputs;
  int64_t precision;
  float scale;
  bool has_prob_mod;
} flex_model;

static void graph_begin(import_model* m, const char* name, int elem) {
  onnx_attr_begin(&m->w, name, 5);
  onnx_begin(&m->w, ONNX_ATTR_G);
  onnx_value(&m->w, ONNX_GRAPH_INPUT, "s", elem, "B H L S");
}

static void graph_end(import_model* m) {
  onnx_end(&m->w);
  onnx_attr_end(&m->w);
}

static void modifier(import_model* m, const char* name, int elem, const char* op,
                     const char* inputs) {
  graph_begin(m, name, elem);
  onnx_node(&m->w, op, inputs, "out");
  import_output(m, "out");
  graph_end(m);
}

static void flex_begin(import_model* m, const flex_model* f) {
  int elem = f->elem == 0 ? ONNX_FLOAT : f->elem;
  const char* kv = f->kv == NULL ? "2 4 5 16" : f->kv;
  import_begin(m);
  import_input(m, "q", elem, f->q == NULL ? "2 4 3 16" : f->q);
  import_input(m, "k", elem, kv);
  import_input(m, "v", elem, kv);
  import_input(m, "bias", ONNX_FLOAT, "5");
  import_input(m, "rows", ONNX_FLOAT, "7 1 1 1 1");
  onnx_node_begin(&m->w, "FlexAttention", "q k v", "y");
  onnx_string(&m->w, ONNX_NODE_DOMAIN, "ai.onnx.preview");
}

static void flex_end(import_model* m) {
  onnx_node_end(&m->w);
  import_output(m, "y");
}

static void write_flex(import_model* m, const flex_model* f) {
  int elem = f->score_elem == 0 ? ONNX_FLOAT : f->score_elem;
  flex_begin(m, f);
  if (f->op != NULL) {
    modifier(m, "score_mod", elem, f->op, f->inputs == NULL ? "s" : f->inputs);
  }
  if (f->has_prob_mod) {
    modifier(m, "prob_mod", elem, "Abs", "s");
  }
  if (f->precision != 0) {
    onnx_attr_int(&m->w, "softmax_precision", f->precision);
  }
  if (f->scale != 0) {
    onnx_attr_float(&m->w, "scale", f->scale);
  }
  flex_end(m);
}

#define RUN(m, expected)                                               \
  do {                                                                 \
    stow_status run_status = import_run((m), false);                   \
    test_check(run_status == (expected), __FILE__, __LINE__, "%s: %s", \
               stow_status_text(run_status), (m)->diag.message);       \
  } while (0)

static void check_gives(const flex_model* f, const char* text) {
  import_model m;
  write_flex(&m, f);
  RUN(&m, STOW_OK);
  CHECK_HAS(m.text, text);
  CHECK(strstr(m.text, "flex_attention") == NULL);
  CHECK_U64(stow_import_issue_count(m.import), 0);
  import_end(&m);
}

static void check_fails(const flex_model* f, const char* text) {
  import_model m;
  write_flex(&m, f);
  RUN(&m, STOW_ERR_TYPE);
  CHECK_HAS(m.diag.message, "node \"y\" (FlexAttention): ");
  CHECK_HAS(m.diag.message, text);
  import_end(&m);
}

#define GIVES(text, ...) check_gives(&(flex_model){__VA_ARGS__}, (text))
#define FAILS(text, ...) check_fails(&(flex_model){__VA_ARGS__}, (text))

// ---------------------------------------------------------------------------------------------
// What it becomes

TEST(ScoresAreModifiedBeforeTheSoftmax) {
  GIVES(
      "%5 = fused_matmul(%0, %1) {alpha = 0x1p-2, trans_b = true} : f32[2, 4, 3, 5]\n"
      "  %6 \"out\" = tanh(%5) : f32[2, 4, 3, 5]\n"
      "  %7 = softmax(%6) : f32[2, 4, 3, 5]\n"
      "  %8 \"y\" = matmul(%7, %2) : f32[2, 4, 3, 16]\n",
      .op = "Tanh");
}

TEST(ProbabilitiesAreModifiedAfterIt) {
  GIVES(
      "%6 = softmax(%5) : f32[2, 4, 3, 5]\n"
      "  %7 \"out\" = abs(%6) : f32[2, 4, 3, 5]\n"
      "  %8 \"y\" = matmul(%7, %2) : f32[2, 4, 3, 16]\n",
      .has_prob_mod = true);
}

TEST(BothModifiersMayUseTheSameNames) {
  GIVES(
      "%6 \"out\" = tanh(%5) : f32[2, 4, 3, 5]\n"
      "  %7 = softmax(%6) : f32[2, 4, 3, 5]\n"
      "  %8 \"out#2\" = abs(%7) : f32[2, 4, 3, 5]\n"
      "  %9 \"y\" = matmul(%8, %2) : f32[2, 4, 3, 16]\n",
      .op = "Tanh", .has_prob_mod = true);
}

TEST(AModifierSeesTheGraphAroundIt) {
  GIVES("%6 \"out\" = add(%5, %3) : f32[2, 4, 3, 5]\n", .op = "Add", .inputs = "s bias");
}

TEST(AScaleTakesThePlaceOfTheHeadsSize) {
  GIVES("{alpha = 0x1p-1, trans_b = true}", .op = "Tanh", .scale = 0.5F);
}

TEST(HeadsThatShareAreRowsOfOneProduct) {
  GIVES(
      "%7 = reshape(%0, %5) : f32[2, 2, 6, 16]\n"
      "  %8 = fused_matmul(%7, %1) {alpha = 0x1p-2, trans_b = true} : f32[2, 2, 6, 5]\n"
      "  %9 = reshape(%8, %6) : f32[2, 4, 3, 5]\n"
      "  %10 \"out\" = tanh(%9) : f32[2, 4, 3, 5]\n"
      "  %11 = softmax(%10) : f32[2, 4, 3, 5]\n"
      "  %12 = reshape(%11, %5) : f32[2, 2, 6, 5]\n"
      "  %13 = matmul(%12, %2) : f32[2, 2, 6, 16]\n"
      "  %14 \"y\" = reshape(%13, %6) : f32[2, 4, 3, 16]\n",
      .op = "Tanh", .kv = "2 2 5 16");
}

TEST(SharingHeadsLeavesOtherDimsOpen) {
  GIVES(
      "%8 = fused_matmul(%7, %1) {alpha = 0x1p-2, trans_b = true} : f32[?B, 2, ?(2*L), ?S]\n"
      "  %9 = reshape(%8, %6) : f32[?B, 4, ?L, ?S]\n",
      .op = "Tanh", .q = "B 4 L 16", .kv = "B 2 S 16");
}

TEST(HalvesAreModifiedAsFloats) {
  GIVES(
      "%5 = fused_matmul(%0, %1) {alpha = 0x1p-2, trans_b = true} : f16[2, 4, 3, 5]\n"
      "  %6 = cast(%5) {to = \"f32\"} : f32[2, 4, 3, 5]\n"
      "  %7 \"out\" = tanh(%6) : f32[2, 4, 3, 5]\n"
      "  %8 = softmax(%7) : f32[2, 4, 3, 5]\n"
      "  %9 = cast(%2) {to = \"f32\"} : f32[2, 4, 5, 16]\n"
      "  %10 = matmul(%8, %9) : f32[2, 4, 3, 16]\n"
      "  %11 \"y\" = cast(%10) {to = \"f16\"} : f16[2, 4, 3, 16]\n",
      .elem = ONNX_FLOAT16, .op = "Tanh");
}

TEST(DoublesStayDoubles) {
  GIVES("%7 = softmax(%6) : f64[2, 4, 3, 5]\n  %8 \"y\" = matmul(%7, %2) : f64[2, 4, 3, 16]\n",
        .elem = ONNX_DOUBLE, .score_elem = ONNX_DOUBLE, .op = "Tanh");
}

TEST(APrecisionCanBeAskedFor) {
  GIVES(
      "%6 = cast(%5) {to = \"f64\"} : f64[2, 4, 3, 5]\n"
      "  %7 \"out\" = tanh(%6) : f64[2, 4, 3, 5]\n"
      "  %8 = softmax(%7) : f64[2, 4, 3, 5]\n"
      "  %9 = cast(%2) {to = \"f64\"} : f64[2, 4, 5, 16]\n"
      "  %10 = matmul(%8, %9) : f64[2, 4, 3, 16]\n"
      "  %11 \"y\" = cast(%10) {to = \"f32\"} : f32[2, 4, 3, 16]\n",
      .score_elem = ONNX_DOUBLE, .op = "Tanh", .precision = ONNX_DOUBLE);
}

TEST(WithoutModifiersTheOpStays) {
  import_model m;
  write_flex(&m, &(flex_model){.scale = 0.5F});
  RUN(&m, STOW_OK);
  CHECK_HAS(m.text, "%5 \"y\" = flex_attention(%0, %1, %2) {scale = 0x1p-1} : f32[2, 4, 3, 16]\n");
  import_end(&m);
}

// ---------------------------------------------------------------------------------------------
// What is wrong

TEST(AModifierMustKeepTheType) {
  FAILS("score_mod makes f32[5, 3, 4, 2], expected f32[2, 4, 3, 5]", .op = "Transpose");
  FAILS("score_mod makes f32[7, 2, 4, 3, 5], expected f32[2, 4, 3, 5]", .op = "Add",
        .inputs = "s rows");
  FAILS("score_mod takes f64[?, ?, ?, ?], expected f32[2, 4, 3, 5]", .op = "Tanh",
        .score_elem = ONNX_DOUBLE);
  FAILS("prob_mod takes f32[?, ?, ?, ?], expected f64[2, 4, 3, 5]", .has_prob_mod = true,
        .precision = ONNX_DOUBLE);
}

TEST(OperandsMustFit) {
  FAILS("4 heads of q are not a multiple of 3 heads of k and v", .op = "Tanh", .kv = "2 3 5 16");
  FAILS("q has rank 5, expected 4", .op = "Tanh", .q = "1 2 4 3 16", .kv = "1 2 4 5 16");
}

TEST(AModifierHasOneInputAndOneOutput) {
  import_model m;
  flex_begin(&m, &(flex_model){0});
  graph_begin(&m, "prob_mod", ONNX_FLOAT);
  import_input(&m, "t", ONNX_FLOAT, "1");
  onnx_node(&m.w, "Add", "s t", "out");
  import_output(&m, "out");
  graph_end(&m);
  flex_end(&m);
  RUN(&m, STOW_ERR_TYPE);
  CHECK_HAS(m.diag.message,
            "node \"y\" (FlexAttention): prob_mod has 2 inputs and 1 outputs, expected one");
  import_end(&m);
}

TEST(AModifierMustBeAGraph) {
  import_model m;
  flex_begin(&m, &(flex_model){0});
  onnx_attr_int(&m.w, "score_mod", 1);
  flex_end(&m);
  RUN(&m, STOW_ERR_TYPE);
  CHECK_HAS(m.diag.message, "attribute \"score_mod\" must be a graph");
  import_end(&m);
}

static void check_unsupported(const flex_model* f, const char* text) {
  import_model m;
  write_flex(&m, f);
  RUN(&m, STOW_OK);
  CHECK(m.graph == NULL);
  CHECK_U64(import_count(&m, STOW_IMPORT_UNSUPPORTED), 1);
  CHECK_HAS(import_reason(&m, STOW_IMPORT_UNSUPPORTED), text);
  import_end(&m);
}

TEST(UnsupportedFormsAreIssues) {
  check_unsupported(&(flex_model){.op = "NoSuchOp", .has_prob_mod = true}, "out: ");
  check_unsupported(&(flex_model){.op = "Tanh", .q = "2 4 3 D", .kv = "2 4 5 D"},
                    "y: the size of a head is unknown");
  check_unsupported(&(flex_model){.op = "Tanh", .q = "2 H 3 16", .kv = "2 2 5 16"},
                    "y: the number of query heads per key head is unknown");
}

static stow_status attempt(stow_allocator allocator, void* user) {
  const import_model* m = (const import_model*)user;
  stow_model* model = NULL;
  stow_import* import = NULL;
  stow_status status = stow_onnx_open_memory(m->w.data, m->w.size, NULL, allocator, NULL, &model);
  if (status == STOW_OK) {
    status = stow_import_model(model, NULL, allocator, NULL, &import);
  }
  stow_import_destroy(import);
  stow_model_close(model);
  return status;
}

TEST(EveryFailingAllocationIsReported) {
  import_model m;
  write_flex(&m, &(flex_model){.op = "Tanh", .kv = "2 2 5 16", .has_prob_mod = true});
  onnx_model_end(&m.w);
  CHECK(test_fault_sweep(attempt, &m) > 20);
  import_end(&m);
}
