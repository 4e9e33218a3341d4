// Imports the model of one case with its small inputs as known values, and compares the types of
// the graph's outputs with the tensors that the suite expects. In a child process: a crash, a hang
// and a leak are failures of that case alone.
#define _POSIX_C_SOURCE 200809L
#include "suite_case.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/onnx.h>
#include <stowage/stowage.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "onnx/reader/proto.h"

#define MAX_KNOWN_ELEMENTS 1024
#define MAX_SECONDS 20

// Everything that a case holds; freed in one place.
typedef struct suite_case {
  const char* inputs;
  const char* outputs;
  bool verbose;
  stow_allocator allocator;
  stow_diag diag;
  stow_onnx_model* model;
  stow_onnx_request* request;
  stow_onnx_import* import;
  stowi_onnx_pool* pool;
  bool is_shape_given;  // of an output, because it depends on data
  suite_result result;
} suite_case;

static void conclude(suite_case* c, suite_outcome outcome, const char* format, ...)
    STOW_PRINTF_LIKE(3, 4);
static void conclude(suite_case* c, suite_outcome outcome, const char* format, ...) {
  va_list args;
  va_start(args, format);
  c->result.outcome = outcome;
  vsnprintf(c->result.reason, sizeof(c->result.reason), format, args);
  va_end(args);
}

// Fails the case unless |status| is STOW_OK.
static bool went_well(suite_case* c, stow_status status, const char* what) {
  if (status != STOW_OK) {
    conclude(c, SUITE_FAILED, "%s: %s", what,
             c->diag.message[0] != '\0' ? c->diag.message : stow_status_text(status));
  }
  return status == STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Files and memory

// Counts the blocks that are not freed.
static void* counting_reallocate(void* user, void* old, size_t old_size, size_t new_size,
                                 size_t alignment) {
  size_t* live_blocks = (size_t*)user;
  stow_allocator inner = stow_allocator_default();
  void* block = inner.reallocate(inner.user, old, old_size, new_size, alignment);
  if (old == NULL && block != NULL) {
    ++*live_blocks;
  } else if (old != NULL && new_size == 0) {
    --*live_blocks;
  }
  return block;
}

static char* read_file(const char* path, size_t* out_size) {
  FILE* file = fopen(path, "rb");
  char* bytes = NULL;
  *out_size = 0;
  if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
    long size = ftell(file);
    rewind(file);
    bytes = (char*)malloc(size > 0 ? (size_t)size : 1);
    *out_size = bytes == NULL || size < 0 ? 0 : fread(bytes, 1, (size_t)size, file);
  }
  if (file != NULL) {
    fclose(file);
  }
  return bytes;
}

// A tensor of its own file. The bytes live until the process ends.
typedef struct tensor_file {
  char* bytes;
  size_t size;
  stowi_onnx_tensor tensor;
} tensor_file;

static bool pb_path(const char* stem, size_t index, char* out_path, size_t size) {
  snprintf(out_path, size, "%s%zu.pb", stem, index);
  return access(out_path, R_OK) == 0;
}

static bool read_pb(suite_case* c, const char* path, tensor_file* out) {
  memset(out, 0, sizeof(*out));
  out->bytes = read_file(path, &out->size);
  stowi_span message = {(const uint8_t*)out->bytes, out->size};
  return went_well(c, stowi_onnx_read_tensor(c->pool, message, &c->diag, &out->tensor), path);
}

// Old releases of the suite hold cases whose tensors are not of the types that their models declare
// (bf16 as u16): they say nothing about an import.
static bool fits_model(suite_case* c, const stowi_onnx_value_info* info,
                       const stowi_onnx_tensor* tensor) {
  bool fits = info->kind != STOWI_INFO_TENSOR ||
              (info->elem == tensor->elem && (!info->has_shape || info->rank == tensor->rank));
  if (!fits) {
    conclude(c, SUITE_UNSUPPORTED, "the case contradicts itself");
  }
  return fits;
}

// ---------------------------------------------------------------------------------------------
// Inputs

// The dims of a large input: where the model leaves one open, its symbol gets the number.
static bool bind_dims(suite_case* c, const stowi_onnx_value_info* info,
                      const stowi_onnx_tensor* tensor) {
  if (!info->has_shape) {
    return went_well(
        c, stow_onnx_request_shape(c->request, info->name, tensor->dims, tensor->rank, &c->diag),
        "giving an input's shape");
  }
  for (size_t k = 0; k < info->rank && k < tensor->rank; ++k) {
    char unnamed[256];
    stow_str symbol = info->dims[k].name;
    if (info->dims[k].kind == STOWI_DIM_NUMBER) {
      continue;
    }
    if (info->dims[k].kind == STOWI_DIM_UNNAMED) {
      snprintf(unnamed, sizeof(unnamed), "%.*s.%zu", (int)info->name.size, info->name.data, k);
      symbol = stow_str_of(unnamed);
    }
    stow_status status = stow_onnx_request_bind(c->request, symbol, tensor->dims[k], &c->diag);
    if (status != STOW_ERR_DUPLICATE && !went_well(c, status, "binding a dim")) {
      return false;
    }
  }
  return true;
}

static bool give_input(suite_case* c, const stowi_onnx_value_info* info, const char* path) {
  tensor_file file;
  if (info->kind != STOWI_INFO_TENSOR || info->elem == STOWI_ELEM_STRING) {
    return true;  // the import says what it thinks of it
  }
  if (!read_pb(c, path, &file) || !fits_model(c, info, &file.tensor)) {
    return false;
  }
  if (file.tensor.elements > MAX_KNOWN_ELEMENTS) {
    return bind_dims(c, info, &file.tensor);
  }
  return went_well(
      c, stow_onnx_request_value_tensor(c->request, info->name, file.bytes, file.size, &c->diag),
      "giving an input's value");
}

static bool give_inputs(suite_case* c) {
  const stowi_onnx_graph* graph = &stowi_onnx_proto_of(c->model)->graph;
  char path[4096];
  for (size_t k = 0; k < graph->input_count && pb_path(c->inputs, k, path, sizeof(path)); ++k) {
    if (!give_input(c, &graph->inputs[k], path)) {
      return false;
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Issues and outputs

static void print_issues(const suite_case* c) {
  for (size_t i = 0; c->verbose && i < stow_onnx_import_issue_count(c->import); ++i) {
    stow_onnx_issue issue = stow_onnx_import_issue(c->import, i);
    printf("    issue %d: %.*s %.*s (%.*s): %.*s\n", (int)issue.kind, (int)issue.op.size,
           issue.op.data, (int)issue.node.size, issue.node.data, (int)issue.tensor.size,
           issue.tensor.data, (int)issue.reason.size, issue.reason.data);
  }
}

// The first issue that stands against the import. What becomes a custom op counts too: it has the
// types that the file declares, so comparing them would prove nothing. A dim that depends on data
// counts where it keeps the import from having a graph; else it is compared as far as it goes.
static bool has_objection(suite_case* c) {
  bool has_graph = stow_onnx_import_graph(c->import) != NULL;
  for (size_t i = 0; i < stow_onnx_import_issue_count(c->import); ++i) {
    stow_onnx_issue issue = stow_onnx_import_issue(c->import, i);
    if (issue.kind == STOW_ONNX_UNSUPPORTED ||
        (issue.kind == STOW_ONNX_NEEDS_SHAPE && !has_graph) || issue.kind == STOW_ONNX_CUSTOM) {
      snprintf(c->result.op, sizeof(c->result.op), "%.*s", (int)issue.op.size, issue.op.data);
      conclude(c, SUITE_UNSUPPORTED, "%.*s", (int)issue.reason.size, issue.reason.data);
      return true;
    }
  }
  return false;
}

static void append_dims(char* text, size_t size, const int64_t* dims, size_t rank) {
  for (size_t k = 0; k < rank; ++k) {
    size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%" PRId64, k == 0 ? "" : ", ", dims[k]);
  }
}

static void fail_type(suite_case* c, size_t k, stow_value value, stow_dtype dtype,
                      const stowi_onnx_tensor* tensor) {
  stow_graph* graph = stow_onnx_import_graph(c->import);
  stow_string ours;
  char theirs[256] = "";
  stow_string_init(&ours, c->allocator);
  stow_type_print(stow_graph_dims(graph), stow_graph_type(graph, value), stow_string_writer(&ours));
  append_dims(theirs, sizeof(theirs), tensor->dims, tensor->rank);
  conclude(c, SUITE_FAILED, "output %zu is %s, expected %s[%s]", k,
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
    if (stow_graph_is_bounded(graph, value) && type->dims[k] > tensor->dims[k]) {
      outcome = outcome == SUITE_PASSED ? SUITE_BOUNDED : outcome;
    } else if (type->dims[k] < 0 && stow_graph_has_data_dims(graph, value)) {
      outcome = SUITE_RANK_ONLY;
    } else {
      return SUITE_FAILED;
    }
  }
  return outcome;
}

static bool compare_output(suite_case* c, size_t k, const char* path) {
  stow_graph* graph = stow_onnx_import_graph(c->import);
  const stowi_onnx_graph* proto = &stowi_onnx_proto_of(c->model)->graph;
  tensor_file file;
  stow_dtype dtype;
  if (proto->outputs[k].kind != STOWI_INFO_TENSOR && proto->outputs[k].kind != STOWI_INFO_NONE) {
    conclude(c, SUITE_FAILED, "output %zu is no tensor, but was imported", k);
    return false;
  }
  if (!read_pb(c, path, &file) || !fits_model(c, &proto->outputs[k], &file.tensor)) {
    return false;
  }
  if (!stowi_elem_dtype(file.tensor.elem, &dtype)) {
    conclude(c, SUITE_FAILED, "output %zu has element type %d, but was imported", k,
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

static void compare_outputs(suite_case* c) {
  stow_graph* graph = stow_onnx_import_graph(c->import);
  size_t count = stowi_onnx_proto_of(c->model)->graph.output_count;
  char path[4096];
  if (graph == NULL) {
    conclude(c, SUITE_FAILED, "no graph, and no issue that says why");
    return;
  }
  if (stow_graph_output_count(graph) != count) {
    conclude(c, SUITE_FAILED, "%zu outputs, expected %zu", stow_graph_output_count(graph), count);
    return;
  }
  for (size_t k = 0; k < count && pb_path(c->outputs, k, path, sizeof(path)); ++k) {
    if (!compare_output(c, k, path)) {
      return;
    }
  }
}

static bool needs_shape(const suite_case* c, stow_str tensor) {
  for (size_t i = 0; i < stow_onnx_import_issue_count(c->import); ++i) {
    stow_onnx_issue issue = stow_onnx_import_issue(c->import, i);
    if (issue.kind == STOW_ONNX_NEEDS_SHAPE && stow_str_equal(issue.tensor, tensor)) {
      return true;
    }
  }
  return false;
}

// Whether one was given.
static bool give_output_shapes(suite_case* c) {
  const stowi_onnx_graph* proto = &stowi_onnx_proto_of(c->model)->graph;
  bool is_given = false;
  tensor_file file;
  char path[4096];
  for (size_t k = 0; k < proto->output_count && pb_path(c->outputs, k, path, sizeof(path)); ++k) {
    if (needs_shape(c, proto->outputs[k].name) && read_pb(c, path, &file)) {
      is_given = stow_onnx_request_shape(c->request, proto->outputs[k].name, file.tensor.dims,
                                         file.tensor.rank, &c->diag) == STOW_OK ||
                 is_given;
    }
  }
  c->is_shape_given = c->is_shape_given || is_given;
  return is_given;
}

// ---------------------------------------------------------------------------------------------
// The child process

static bool import_again(suite_case* c, bool keep_all) {
  stow_onnx_import_destroy(c->import);
  stow_onnx_request_keep_all(c->request, keep_all);
  stow_status status =
      stow_onnx_import_model(c->model, c->request, c->allocator, &c->diag, &c->import);
  if (!went_well(c, status, keep_all ? "import" : "import without what is known")) {
    return false;
  }
  print_issues(c);
  return true;
}

// Whether everything is imported and compared. Where the shape of an output depends on data, the
// import is told it, as a user would: dtype and rank must still agree.
static bool import_and_compare(suite_case* c, bool keep_all) {
  if (!import_again(c, keep_all) || (give_output_shapes(c) && !import_again(c, keep_all))) {
    return false;
  }
  if (!has_objection(c)) {
    compare_outputs(c);
  }
  return c->result.outcome < SUITE_UNSUPPORTED;
}

static void run_case(suite_case* c, const char* model) {
  if (went_well(c, stow_onnx_open(model, c->allocator, &c->diag, &c->model), "open") &&
      went_well(c, stowi_onnx_pool_create(c->allocator, &c->diag, &c->pool), "pool") &&
      went_well(c, stow_onnx_request_create(c->allocator, &c->diag, &c->request), "request") &&
      give_inputs(c) && import_and_compare(c, true) && import_and_compare(c, false) &&
      c->is_shape_given) {
    c->result.outcome = SUITE_RANK_ONLY;
  }
}

suite_result suite_run_here(const char* model, const char* inputs, const char* outputs,
                            bool verbose) {
  size_t live_blocks = 0;
  suite_case c = {.inputs = inputs, .outputs = outputs, .verbose = verbose};
  c.allocator = (stow_allocator){counting_reallocate, &live_blocks};
  stow_diag_init(&c.diag);
  run_case(&c, model);
  stow_onnx_import_destroy(c.import);
  stow_onnx_request_destroy(c.request);
  stowi_onnx_pool_destroy(c.pool);
  stow_onnx_close(c.model);
  if (live_blocks != 0) {
    conclude(&c, SUITE_FAILED, "%zu blocks are left", live_blocks);
  }
  return c.result;
}

static suite_result died(int status) {
  suite_result result = {.outcome = SUITE_FAILED};
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    snprintf(result.reason, sizeof(result.reason), "took more than %d s", MAX_SECONDS);
  } else if (WIFSIGNALED(status)) {
    snprintf(result.reason, sizeof(result.reason), "crashed with signal %d", WTERMSIG(status));
  } else {
    snprintf(result.reason, sizeof(result.reason), "exited with %d", WEXITSTATUS(status));
  }
  return result;
}

suite_result suite_run_case(const char* model, const char* inputs, const char* outputs,
                            bool verbose) {
  suite_result result = {.outcome = SUITE_FAILED, .reason = "cannot start a process"};
  int ends[2];
  int status = 0;
  fflush(stdout);
  if (pipe(ends) != 0) {
    return result;
  }
  pid_t child = fork();
  if (child == 0) {
    alarm(MAX_SECONDS);
    result = suite_run_here(model, inputs, outputs, verbose);
    fflush(stdout);
    bool is_written = write(ends[1], &result, sizeof(result)) == (ssize_t)sizeof(result);
    _exit(is_written ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  close(ends[1]);
  if (child > 0) {
    // A result is smaller than PIPE_BUF: it comes whole or not at all.
    bool is_read = read(ends[0], &result, sizeof(result)) == (ssize_t)sizeof(result);
    waitpid(child, &status, 0);
    result = is_read && status == 0 ? result : died(status);
  }
  close(ends[0]);
  return result;
}
