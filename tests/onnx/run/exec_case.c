// Runs the model of one case with the inputs of the suite, inside a plan that shares all that it
// can, and compares its outputs with what the suite expects.
//
// First nothing is known of the inputs but their types, and no node is folded away, so that all
// kernels run. Where the import needs more than that for its shapes, small inputs are known.
//
// What passes runs once more with small inputs known, as weights: these are not in the arena then,
// and in memory that is read-only during the run.
#include <stdio.h>
#include <stdlib.h>
#include <stowage/exec.h>
#include <string.h>

#include "compare.h"
#include "onnx/support/suite_import.h"
#include "support/frozen.h"

// Cases whose expected numbers are further from the truth than the suite's tolerance.
static const struct {
  const char* name;
  double absolute;
} looser[] = {{"/test_dft_inverse", 1e-6}};  // the noise of an FFT in f32, where 0 is right

typedef struct exec_case {
  suite_import import;
  test_frozen* frozen;  // what the model is in; NULL: weights are in the arena
  stow_graph* graph;
  stow_prepared* prepared;
  stow_plan* plan;
  stow_exec* exec;
} exec_case;

// ---------------------------------------------------------------------------------------------
// Import

// Symbols that are still there stand for dims that depend on data. No such dim of the suite is
// larger than the largest of its inputs and outputs; where that does not fit, it is 1.
static bool bind_rest(exec_case* c) {
  suite_import* i = &c->import;
  stow_dims* dims = stow_graph_edit_dims(c->graph);
  int64_t most = 1;
  for (int side = 0; side < 2; ++side) {
    char path[4096];
    suite_tensor file;
    for (size_t k = 0; suite_pb_path(side == 0 ? i->inputs : i->outputs, k, path, sizeof(path)) &&
                       suite_read_pb(i, path, &file);
         ++k) {
      for (size_t d = 0; d < file.tensor.rank; ++d) {
        most = file.tensor.dims[d] > most ? file.tensor.dims[d] : most;
      }
    }
  }
  const int64_t one = 1;
  for (size_t s = 0; s < stow_dims_symbol_count(dims); ++s) {
    stow_str name = stow_dims_symbol_name(dims, s);
    if (stow_graph_bind(c->graph, &name, &most, 1, &i->diag) != STOW_OK &&
        !suite_went_well(i, stow_graph_bind(c->graph, &name, &one, 1, &i->diag), "binding")) {
      return false;
    }
  }
  return true;
}

static bool is_ready(exec_case* c) {
  suite_import* i = &c->import;
  if (suite_has_objection(i)) {
    return false;
  }
  c->graph = stow_import_graph(i->import);
  if (c->graph == NULL) {
    suite_conclude(i, SUITE_FAILED, "no graph, and no issue that says why");
    return false;
  }
  return stow_graph_require_bound(c->graph, NULL) == STOW_OK || bind_rest(c);
}

static bool import_case(exec_case* c, bool are_known) {
  suite_import* i = &c->import;
  memset(&i->result, 0, sizeof(i->result));
  stow_import_destroy(i->import);
  i->import = NULL;
  return suite_give_inputs(i, are_known) && suite_import_again(i, true) &&
         (!suite_give_output_shapes(i) || suite_import_again(i, true)) && is_ready(c);
}

// ---------------------------------------------------------------------------------------------
// Running

// Fails the case, or says that it is not supported, where a kernel does.
static bool ran_well(exec_case* c, stow_status status, const char* what) {
  suite_import* i = &c->import;
  bool is_refused = status == STOW_ERR_UNSUPPORTED || status == STOW_ERR_NOT_FOUND;
  if (is_refused && i->diag.node < stow_graph_node_count(c->graph)) {
    const char* reason = strstr(i->diag.message, "): ");
    snprintf(i->result.op, sizeof(i->result.op), "%s",
             stow_graph_op_desc(c->graph, i->diag.node)->name);
    suite_conclude(i, SUITE_UNSUPPORTED, "kernel: %s",
                   reason == NULL ? i->diag.message : reason + 3);
    return false;
  }
  return suite_went_well(i, status, what);
}

static bool read_tensor(exec_case* c, const char* path, stow_tensor* out) {
  suite_import* i = &c->import;
  suite_tensor file;
  stowi_onnx_bytes bytes;
  *out = (stow_tensor){0};
  if (!suite_read_pb(i, path, &file)) {
    return false;
  }
  if (!stowi_onnx_elem_dtype(file.tensor.elem, &out->dtype) || file.tensor.rank > STOW_MAX_RANK) {
    suite_conclude(i, SUITE_FAILED, "%s has element type %d", path, (int)file.tensor.elem);
    return false;
  }
  // What is decoded lives until the process ends, and is not counted.
  if (!suite_went_well(
          i,
          stowi_onnx_tensor_bytes(NULL, &file.tensor, stow_allocator_default(), &i->diag, &bytes),
          path)) {
    return false;
  }
  out->rank = (uint32_t)file.tensor.rank;
  for (size_t k = 0; k < file.tensor.rank; ++k) {
    out->dims[k] = file.tensor.dims[k];
  }
  out->data = malloc(bytes.size + 1);
  if (out->data != NULL && bytes.size != 0) {
    memcpy(out->data, bytes.bytes, bytes.size);
  }
  return out->data != NULL;
}

static bool make_exec(exec_case* c) {
  suite_import* i = &c->import;
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  if (suite_run_options.is_unshared) {
    options.reuse = options.in_place = options.elide_copies = false;
  }
  options.params = options.constants = c->frozen == NULL;
  stow_prepare_options prepare;
  stow_prepare_options_init(&prepare);
  prepare.threads = suite_run_options.threads;
  prepare.pack = c->frozen == NULL ? STOW_PACK_NEVER : STOW_PACK_ALWAYS;
  stow_exec_options exec;
  stow_exec_options_init(&exec);
  exec.paranoid = suite_run_options.is_paranoid;
  stow_allocator memory = c->frozen == NULL ? i->allocator : stow_allocator_default();
  return ran_well(c, stow_prepare(c->graph, &prepare, memory, &i->diag, &c->prepared), "prepare") &&
         ran_well(c,
                  stow_plan_make(c->graph, stow_prepared_effects(c->prepared), &options, memory,
                                 &i->diag, &c->plan),
                  "plan") &&
         ran_well(c, stow_exec_create(c->prepared, c->plan, &exec, memory, &i->diag, &c->exec),
                  "create");
}

// The suite has no files for inputs of its `light` models, but a rule: 0, 1/n, 2/n, …
static bool set_ramps(exec_case* c) {
  suite_import* i = &c->import;
  for (stow_value value = 0; value < stow_graph_value_count(c->graph); ++value) {
    const stow_type* type = stow_graph_type(c->graph, value);
    stow_tensor tensor;
    if (stow_graph_op(c->graph, stow_graph_producer(c->graph, value)) != STOW_OP_INPUT ||
        type->dtype != STOW_F32 || stow_graph_data(c->graph, value, NULL) != NULL) {
      continue;
    }
    if (!suite_went_well(i, stow_exec_fill(c->exec, value, &i->diag, &tensor), "input")) {
      return false;
    }
    size_t count = stow_tensor_elements(&tensor);
    for (size_t k = 0; k < count; ++k) {
      ((float*)tensor.data)[k] = (float)((double)k / (double)count);
    }
  }
  return true;
}

static bool set_inputs(exec_case* c) {
  suite_import* i = &c->import;
  const stowi_onnx_graph* proto = &stowi_onnx_proto_of(i->model)->graph;
  char path[4096];
  if (!suite_pb_path(i->inputs, 0, path, sizeof(path))) {
    return set_ramps(c);
  }
  for (size_t k = 0; k < proto->input_count && suite_pb_path(i->inputs, k, path, sizeof(path));
       ++k) {
    stow_value value = stow_graph_find(c->graph, proto->inputs[k].name);
    stow_tensor tensor;
    if (value == STOW_VALUE_NONE || !stow_graph_is_boundary(c->graph, value)) {
      continue;
    }
    if (!read_tensor(c, path, &tensor) ||
        !suite_went_well(i, stow_exec_input(c->exec, value, &tensor, &i->diag), "set")) {
      return false;
    }
  }
  return true;
}

// Random numbers are not the suite's.
static bool has_random(const exec_case* c) {
  for (stow_node node = 0; node < stow_graph_node_count(c->graph); ++node) {
    switch (stow_graph_op(c->graph, node)) {
      case STOW_OP_RANDOM_NORMAL:
      case STOW_OP_RANDOM_UNIFORM:
      case STOW_OP_BERNOULLI:
      case STOW_OP_MULTINOMIAL:
      case STOW_OP_DROPOUT: return true;
      default: break;
    }
  }
  return false;
}

static bool has_type_of(const stow_tensor* a, const stow_tensor* b) {
  return a->dtype == b->dtype && a->rank == b->rank &&
         memcmp(a->dims, b->dims, sizeof(a->dims)) == 0;
}

static double tolerance_of(const char* path) {
  for (size_t i = 0; i < sizeof(looser) / sizeof(looser[0]); ++i) {
    if (strstr(path, looser[i].name) != NULL) {
      return looser[i].absolute;
    }
  }
  return 1e-7;
}

// Cases that were wrong in an older release of the suite, and pass as they were mended: a model
// without the epsilon that its outputs were computed with, and bf16 written as u16.
static bool was_mended_later(const char* path) {
  static const char* const names[] = {"test_adam_multiple/", "test_cast_FLOAT_to_BFLOAT16/"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    if (strstr(path, names[i]) != NULL) {
      return true;
    }
  }
  return false;
}

static bool compare_output(exec_case* c, size_t k, const char* path) {
  suite_import* i = &c->import;
  stow_value value = stow_graph_outputs(c->graph)[k];
  stow_tensor is, expected;
  char why[400];
  if (!read_tensor(c, path, &expected) ||
      !suite_went_well(i, stow_exec_value(c->exec, value, &i->diag, &is), "output")) {
    return false;
  }
  if (!compare_tensors(&is, &expected, tolerance_of(path), why, sizeof(why))) {
    if (has_random(c) && has_type_of(&is, &expected)) {
      suite_conclude(i, SUITE_UNSUPPORTED, "random numbers are others than the suite's");
      return false;
    }
    if (was_mended_later(path)) {
      suite_conclude(i, SUITE_UNSUPPORTED, "the case was mended in a later release of the suite");
      return false;
    }
    suite_conclude(i, SUITE_FAILED, "output %zu: %s", k, why);
    return false;
  }
  if (stow_graph_is_bounded(c->graph, value)) {
    i->result.outcome = SUITE_BOUNDED;
  }
  return true;
}

static bool run_exec(exec_case* c) {
  if (c->frozen != NULL) {
    test_freeze(c->frozen, true);
  }
  stow_status status = stow_exec_run(c->exec, &c->import.diag);
  if (c->frozen != NULL) {
    test_freeze(c->frozen, false);
  }
  return ran_well(c, status, "run");
}

static void run_case(exec_case* c) {
  suite_import* i = &c->import;
  const stowi_onnx_graph* proto = &stowi_onnx_proto_of(i->model)->graph;
  char path[4096];
  if (!make_exec(c) || !set_inputs(c) || !run_exec(c)) {
    return;
  }
  for (size_t k = 0; k < stow_graph_output_count(c->graph); ++k) {
    if (proto->outputs[k].kind == STOWI_ONNX_INFO_TENSOR &&
        suite_pb_path(i->outputs, k, path, sizeof(path)) && !compare_output(c, k, path)) {
      return;
    }
  }
}

static suite_result end_case(exec_case* c) {
  stow_exec_destroy(c->exec);
  stow_plan_destroy(c->plan);
  stow_prepared_destroy(c->prepared);
  return suite_import_end(&c->import);
}

static suite_result run_plain(const char* model, const char* inputs, const char* outputs,
                              bool verbose) {
  exec_case c = {0};
  if (suite_import_begin(&c.import, model, inputs, outputs, verbose, stow_allocator_default()) &&
      (import_case(&c, false) || import_case(&c, true))) {
    run_case(&c);
  }
  return end_case(&c);
}

static suite_result run_frozen(const char* model, const char* inputs, const char* outputs,
                               bool verbose) {
  test_frozen frozen = {NULL, 0};
  exec_case c = {.frozen = &frozen};
  stow_allocator memory = test_frozen_allocator(&frozen);
  if (suite_import_begin(&c.import, model, inputs, outputs, verbose, memory) &&
      (import_case(&c, true) || import_case(&c, false))) {
    run_case(&c);
  }
  suite_result result = end_case(&c);
  test_frozen_free(&frozen);
  return result;
}

suite_result suite_run_here(const char* model, const char* inputs, const char* outputs,
                            bool verbose) {
  suite_result result = run_plain(model, inputs, outputs, verbose);
  if (result.outcome != SUITE_PASSED && result.outcome != SUITE_BOUNDED) {
    return result;
  }
  suite_result again = run_frozen(model, inputs, outputs, verbose);
  return again.outcome == SUITE_PASSED || again.outcome == SUITE_BOUNDED ? result : again;
}
