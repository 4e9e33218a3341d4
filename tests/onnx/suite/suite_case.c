// Imports the model of one case with its small inputs as known values, and compares the types of
// the graph's outputs with the tensors that the suite expects, and the graph's plan with that of
// its text.
#include "suite_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "onnx/support/suite_import.h"
#include "support/text_plan.h"

// ---------------------------------------------------------------------------------------------
// Issues and outputs

static void append_dims(char* text, size_t size, const int64_t* dims, size_t rank) {
  for (size_t k = 0; k < rank; ++k) {
    size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%" PRId64, k == 0 ? "" : ", ", dims[k]);
  }
}

static void fail_type(suite_import* c, size_t k, stow_value value, stow_dtype dtype,
                      const stowi_onnx_tensor* tensor) {
  stow_graph* graph = stow_import_graph(c->import);
  stow_string ours;
  char theirs[256] = "";
  stow_string_init(&ours, c->allocator);
  stow_type_print(stow_graph_dims(graph), stow_graph_type(graph, value), stow_string_writer(&ours));
  append_dims(theirs, sizeof(theirs), tensor->dims, tensor->rank);
  suite_conclude(c, SUITE_FAILED, "output %zu is %s, expected %s[%s]", k,
                 ours.data == NULL ? "?" : ours.data, stow_dtype_name(dtype), theirs);
  stow_string_free(&ours);
}

// How well |type| agrees with the tensor.
static suite_outcome compare_type(const stow_graph* graph, stow_value value, stow_dtype dtype,
                                  const stowi_onnx_tensor* tensor) {
  const stow_type* type = stow_graph_type(graph, value);
  suite_outcome outcome = SUITE_PASSED;
  if (type->dtype != dtype || type->rank != tensor->rank) {
    return SUITE_FAILED;
  }
  for (uint32_t k = 0; k < type->rank; ++k) {
    if (type->dims[k] == tensor->dims[k]) {
      continue;
    }
    if (stow_graph_is_bounded_dim(graph, value, k) && type->dims[k] > tensor->dims[k]) {
      outcome = outcome == SUITE_PASSED ? SUITE_BOUNDED : outcome;
    } else if (type->dims[k] < 0 && stow_graph_has_data_dims(graph, value)) {
      outcome = SUITE_RANK_ONLY;
    } else {
      return SUITE_FAILED;
    }
  }
  return outcome;
}

static bool compare_output(suite_import* c, size_t k, const char* path) {
  stow_graph* graph = stow_import_graph(c->import);
  const stowi_onnx_graph* proto = &stowi_onnx_proto_of(c->model)->graph;
  suite_tensor file;
  stow_dtype dtype;
  if (proto->outputs[k].kind != STOWI_ONNX_INFO_TENSOR &&
      proto->outputs[k].kind != STOWI_ONNX_INFO_NONE) {
    suite_conclude(c, SUITE_FAILED, "output %zu is no tensor, but was imported", k);
    return false;
  }
  if (!suite_read_pb(c, path, &file) || !suite_fits_model(c, &proto->outputs[k], &file.tensor)) {
    return false;
  }
  if (!stowi_onnx_elem_dtype(file.tensor.elem, &dtype)) {
    suite_conclude(c, SUITE_FAILED, "output %zu has element type %d, but was imported", k,
                   (int)file.tensor.elem);
    return false;
  }
  stow_value value = stow_graph_outputs(graph)[k];
  suite_outcome outcome = compare_type(graph, value, dtype, &file.tensor);
  if (outcome == SUITE_FAILED) {
    fail_type(c, k, value, dtype, &file.tensor);
    return false;
  }
  c->result.outcome = outcome > c->result.outcome ? outcome : c->result.outcome;
  return true;
}

static void compare_outputs(suite_import* c) {
  stow_graph* graph = stow_import_graph(c->import);
  size_t count = stowi_onnx_proto_of(c->model)->graph.output_count;
  char path[4096];
  if (graph == NULL) {
    suite_conclude(c, SUITE_FAILED, "no graph, and no issue that says why");
    return;
  }
  if (stow_graph_output_count(graph) != count) {
    suite_conclude(c, SUITE_FAILED, "%zu outputs, expected %zu", stow_graph_output_count(graph),
                   count);
    return;
  }
  for (size_t k = 0; k < count && suite_pb_path(c->outputs, k, path, sizeof(path)); ++k) {
    if (!compare_output(c, k, path)) {
      return;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// A case

static void compare_text(suite_import* c) {
  stow_plan_options options = text_plan_model_options();
  char why[TEXT_PLAN_WHY];
  if (!text_plan_agrees(stow_import_graph(c->import), &options, why)) {
    suite_conclude(c, SUITE_FAILED, "the graph and its text: %s", why);
  }
}

// Whether everything is imported and compared. Where the shape of an output depends on data, the
// import is told it, as a user would: dtype and rank must still agree.
static bool import_and_compare(suite_import* c, bool keep_all) {
  if (!suite_import_again(c, keep_all) ||
      (suite_give_output_shapes(c) && !suite_import_again(c, keep_all))) {
    return false;
  }
  if (!suite_has_objection(c)) {
    compare_outputs(c);
  }
  if (c->result.outcome < SUITE_UNSUPPORTED) {
    compare_text(c);
  }
  return c->result.outcome < SUITE_UNSUPPORTED;
}

suite_result suite_run_here(const char* model, const char* inputs, const char* outputs,
                            bool verbose) {
  suite_import c;
  if (suite_import_begin(&c, model, inputs, outputs, verbose, stow_allocator_default()) &&
      suite_give_inputs(&c, true) && import_and_compare(&c, true) &&
      import_and_compare(&c, false) && c.is_shape_given) {
    c.result.outcome = SUITE_RANK_ONLY;
  }
  return suite_import_end(&c);
}
