// ONNX models: opening, and asking for an import.
#include "graphs/model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/number.h"
#include "base/text.h"
#include "files/file.h"
#include "tensors/tensor_file.h"

// ---------------------------------------------------------------------------------------------
// Options

cli_exit cli_given_add(cli_list* list, const char* option, const char* what, const char* text) {
  const char* equals = strrchr(text, '=');
  if (equals == NULL || equals == text) {
    return cli_fail(CLI_USAGE, "--%s: '%s' is not NAME=%s", option, text, what);
  }
  cli_given given = {{text, (size_t)(equals - text)}, equals + 1, false};
  for (size_t i = 0; i < list->count; ++i) {
    if (stow_str_equal(((const cli_given*)list->items)[i].name, given.name)) {
      return cli_fail(CLI_USAGE, "--%s: '%.*s' is given twice", option, (int)given.name.size,
                      given.name.data);
    }
  }
  return cli_list_add(list, &given, sizeof given) ? CLI_YES : cli_fail_memory();
}

bool cli_model_request_take(cli_model_request* request, const cli_option* option, const char* value,
                            cli_exit* out_code) {
  switch (option->id) {
    case CLI_OPT_BIND: *out_code = cli_binds_add(&request->binds, option->name, value); return true;
    case CLI_OPT_BIND_REST:
      request->has_rest = true;
      *out_code = cli_parse_dim(option->name, stow_str_of("N"), stow_str_of(value), &request->rest);
      return true;
    case CLI_OPT_VALUE:
      *out_code = cli_given_add(&request->values, option->name, "VALUE", value);
      return true;
    case CLI_OPT_SHAPE:
      *out_code = cli_given_add(&request->shapes, option->name, "DIMS", value);
      return true;
    default: return false;
  }
}

void cli_model_request_free(cli_model_request* request) {
  cli_binds_free(&request->binds);
  cli_list_free(&request->values, sizeof(cli_given));
  cli_list_free(&request->shapes, sizeof(cli_given));
}

cli_exit cli_model_request_require_used(const cli_model_request* request) {
  const cli_given* values = request->values.items;
  for (size_t i = 0; i < request->values.count; ++i) {
    if (!values[i].used) {
      return cli_fail(CLI_USAGE, "--value: unknown input '%.*s'", (int)values[i].name.size,
                      values[i].name.data);
    }
  }
  return cli_binds_require_any(&request->binds);
}

cli_exit cli_model_request_refuse(const cli_model_request* request, const char* label) {
  if (request->several || request->binds.allows_unknown) {
    return CLI_YES;
  }
  const char* option = request->has_rest            ? "bind-rest"
                       : request->values.count != 0 ? "value"
                       : request->shapes.count != 0 ? "shape"
                                                    : NULL;
  return option == NULL
             ? CLI_YES
             : cli_fail(CLI_USAGE, "--%s is for ONNX models; %s is a text", option, label);
}

// ---------------------------------------------------------------------------------------------
// Opening

// The first field of nearly every model is its IR version, whose tag is a control character that no
// text begins with.
#define FIRST_TAG 0x08
#define START_SIZE 4096

// Names may hold any bytes, but a text is made of UTF-8: a quarter of other bytes, or a NUL, is too
// much.
static bool is_binary(const char* data, size_t size) {
  size_t strange = 0;
  if (cli_is_utf16(data, size)) {
    return false;  // who reads it as a text complains
  }
  for (size_t i = 0; i < size;) {
    uint32_t code = 0;
    size_t eaten = stowi_utf8((stow_str){data + i, size - i}, &code);
    bool is_control = code < 0x20 || (code >= 0x7F && code <= 0x9F);
    bool is_strange = eaten == 0 || (is_control && (code < '\t' || code > '\r'));
    strange += !is_strange ? 0 : data[i] == '\0' ? size : 1;
    i += eaten == 0 ? 1 : eaten;
  }
  return strange > size / 4;
}

static cli_exit fail_binary(const char* path) {
  return cli_fail(CLI_BAD_INPUT,
                  "%s: neither an ONNX model, which begins with its IR version (byte 0x%02x), nor "
                  "a graph as text",
                  cli_file_label(path), FIRST_TAG);
}

cli_exit cli_input_open(cli_input* input, const char* path) {
  *input = (cli_input){.path = path};
  stow_string_init(&input->bytes, stow_allocator_default());
  cli_file* file = &input->file;
  CLI_TRY(cli_file_open(file, path));
  CLI_TRY(cli_file_need(file, START_SIZE));
  input->is_csv = file->size > 0 && cli_is_csv(file->data);
  input->is_model = cli_ends_with(path, ".onnx") || (file->size > 0 && file->data[0] == FIRST_TAG);
  size_t start = file->size < START_SIZE ? file->size : START_SIZE;
  if (!input->is_model) {
    return is_binary(file->data, start) ? fail_binary(path) : CLI_YES;
  }
  if (!cli_reads_once(path)) {
    return CLI_YES;
  }
  input->is_read = true;
  CLI_TRY(cli_file_need_all(file));
  cli_file_take(file, &input->bytes);
  return CLI_YES;
}

cli_exit cli_input_read(cli_input* input) {
  if (input->is_read) {
    return CLI_YES;
  }
  input->is_read = true;
  CLI_TRY(cli_file_need_text(&input->file));
  cli_file_take(&input->file, &input->bytes);
  return CLI_YES;
}

cli_exit cli_input_fail_csv(const cli_input* input) {
  return cli_fail(CLI_BAD_INPUT, "%s: buffers as CSV, not a graph; place them with: stowage solve",
                  cli_file_label(input->path));
}

cli_exit cli_input_fail(const cli_input* input, stow_status status, const stow_diag* diag) {
  return cli_exit_of(status) == CLI_BAD_INPUT && input->is_csv
             ? cli_input_fail_csv(input)
             : cli_fail_at(cli_file_label(input->path), status, diag);
}

void cli_input_close(cli_input* input) {
  cli_file_close(&input->file);
  stow_string_free(&input->bytes);
}

cli_exit cli_model_open(cli_model* model, cli_input* input) {
  *model = (cli_model){.bytes = input->bytes};
  stow_string_init(&input->bytes, stow_allocator_default());
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status;
  if (input->is_read) {
    status = stow_onnx_open_memory(model->bytes.data, model->bytes.size, NULL,
                                   stow_allocator_default(), &diag, &model->model);
  } else {
    status = stow_onnx_open(input->path, stow_allocator_default(), &diag, &model->model);
  }
  if (status == STOW_OK) {
    return CLI_YES;
  }
  if (cli_exit_of(status) == CLI_BAD_INPUT && input->is_csv) {
    return cli_input_fail_csv(input);
  }
  return input->is_read ? cli_fail(cli_exit_of(status), "%s: %s", cli_file_label(input->path),
                                   cli_diag_text(status, &diag))
                        : cli_fail_diag(status, &diag);
}

void cli_model_close(cli_model* model) {
  stow_import_destroy(model->import);
  stow_model_close(model->model);
  if (model->bytes.allocator.reallocate != NULL) {
    stow_string_free(&model->bytes);
  }
  *model = (cli_model){0};
}

// ---------------------------------------------------------------------------------------------
// What is asked of an import

static cli_exit fail_request(const char* option, stow_str name, stow_status status,
                             const stow_diag* diag) {
  cli_exit code = status == STOW_ERR_OUT_OF_MEMORY ? CLI_BROKEN : CLI_USAGE;
  return cli_fail(code, "--%s: %.*s: %s", option, (int)name.size, name.data,
                  cli_diag_text(status, diag));
}

// Reads |digits| digits as a number of 64 bits; false where there are none or it is too large.
static bool read_number(const char* text, size_t digits, bool is_negative, int64_t* out) {
  const uint64_t most = (uint64_t)INT64_MAX + is_negative;
  uint64_t number = 0;
  for (size_t i = 0; i < digits; ++i) {
    uint64_t digit = (uint64_t)(text[i] - '0');
    if (number > (most - digit) / 10) {
      return false;
    }
    number = number * 10 + digit;
  }
  *out = number > INT64_MAX ? INT64_MIN : is_negative ? -(int64_t)number : (int64_t)number;
  return digits != 0;
}

// Reads `1,2,-3` or, for |separator| 'x', `1x100x6`. Returns how many; SIZE_MAX where it is none.
static size_t read_numbers(const char* text, char separator, int64_t* out, size_t room) {
  size_t count = 0;
  if (*text == '\0') {
    return 0;
  }
  for (;;) {
    bool is_negative = *text == '-';
    text += is_negative;
    size_t digits = strspn(text, "0123456789");
    if (count == room || !read_number(text, digits, is_negative, &out[count])) {
      return SIZE_MAX;
    }
    ++count;
    text += digits;
    if (*text == '\0') {
      return count;
    }
    if (*text++ != separator) {
      return SIZE_MAX;
    }
  }
}

static cli_exit ask_numbers(stow_import_request* request, const cli_given* given) {
  size_t room = strlen(given->text) / 2 + 1;  // a digit and a comma each
  int64_t* numbers = malloc(room * sizeof *numbers);
  if (numbers == NULL) {
    return cli_fail_memory();
  }
  cli_exit code = CLI_YES;
  size_t count = read_numbers(given->text, ',', numbers, room);
  if (count == SIZE_MAX || count == 0) {
    code = cli_fail(
        CLI_USAGE,
        "--value: '%s' for %.*s is neither a list of integers (1,2,3) nor a .npy or .pb file",
        given->text, (int)given->name.size, given->name.data);
  } else {
    stow_diag diag;
    stow_diag_init(&diag);
    stow_status status = stow_import_request_value(request, given->name, numbers, count, &diag);
    code = status == STOW_OK ? CLI_YES : fail_request("value", given->name, status, &diag);
  }
  free(numbers);
  return code;
}

// What an input may hold: shapes depend on little, and arrays of data are given to a run.
#define MOST_VALUE_ELEMENTS (1 << 24)

static cli_exit ask_array(stow_import_request* request, const cli_given* given,
                          const cli_array* array) {
  stow_type type = cli_tensor_type(&array->tensor);
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_import_request_value_bytes(request, given->name, &type,
                                                       array->tensor.data, array->size, &diag);
  return status == STOW_OK ? CLI_YES : fail_request("value", given->name, status, &diag);
}

static cli_exit ask_file(stow_import_request* request, const cli_given* given) {
  cli_list arrays = {0};
  cli_tensor_file file;
  uint64_t elements;
  cli_exit code = cli_tensor_file_open(&file, given->text);
  const cli_stored* stored = file.tensors.stored.items;
  if (code == CLI_YES &&
      (stow_type_elements(&stored->type, &elements) != STOW_OK || elements > MOST_VALUE_ELEMENTS)) {
    code = cli_fail(CLI_BAD_INPUT,
                    "%s: more than %d elements, the maximum for --value; a run takes larger arrays "
                    "as --input",
                    given->text, MOST_VALUE_ELEMENTS);
  }
  code = code == CLI_YES ? cli_tensor_file_load(given->text, stored, &arrays) : code;
  code = code == CLI_YES ? ask_array(request, given, arrays.items) : code;
  cli_arrays_free(&arrays);
  cli_tensor_file_close(&file);
  return code;
}

static cli_exit ask_value(stow_import_request* request, const cli_given* given) {
  cli_tensor_format format = cli_tensor_format_of(given->text);
  return format == CLI_TENSOR_NPY || format == CLI_TENSOR_PB ? ask_file(request, given)
                                                             : ask_numbers(request, given);
}

static cli_exit ask_shape(stow_import_request* request, const cli_given* given) {
  int64_t dims[STOW_MAX_RANK];
  size_t rank = read_numbers(given->text, 'x', dims, STOW_MAX_RANK);
  for (size_t i = 0; rank != SIZE_MAX && i < rank; ++i) {
    rank = dims[i] < 0 ? SIZE_MAX : rank;
  }
  if (rank == SIZE_MAX) {
    return cli_fail(CLI_USAGE, "--shape: '%s' for %.*s is not a shape such as 1x100x6", given->text,
                    (int)given->name.size, given->name.data);
  }
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_import_request_shape(request, given->name, dims, rank, &diag);
  return status == STOW_OK ? CLI_YES : fail_request("shape", given->name, status, &diag);
}

static cli_exit ask_bindings(const cli_model* model, stow_import_request* request,
                             const cli_model_request* asked) {
  cli_bind* binds = asked->binds.list.items;
  stow_diag diag;
  stow_diag_init(&diag);
  for (size_t i = 0; i < asked->binds.list.count; ++i) {
    size_t input = 0;
    uint32_t axis;
    stow_status status =
        asked->several ? cli_model_find_symbol(model, binds[i].name, &input, &axis) : STOW_OK;
    if (status == STOW_OK && (!asked->several || input < cli_model_info(model).input_count)) {
      binds[i].used = true;
      const stow_dim_range* range = &binds[i].range;
      status = range->min == range->max
                   ? stow_import_request_bind(request, binds[i].name, range->min, &diag)
                   : stow_import_request_bind_range(request, binds[i].name, range, &diag);
    }
    if (status != STOW_OK) {
      return fail_request("bind", binds[i].name, status, &diag);
    }
  }
  if (asked->has_rest) {
    stow_status status = stow_import_request_bind_rest(request, asked->rest, &diag);
    return status == STOW_OK ? CLI_YES : fail_request("bind-rest", stow_str_of("N"), status, &diag);
  }
  return CLI_YES;
}

static cli_exit ask_all(const cli_model* model, stow_import_request* request,
                        const cli_model_request* asked) {
  cli_given* values = asked->values.items;
  cli_exit code = ask_bindings(model, request, asked);
  for (size_t i = 0; i < asked->values.count && code == CLI_YES; ++i) {
    if (!asked->several || cli_model_has_input(model, values[i].name)) {
      values[i].used = true;
      code = ask_value(request, &values[i]);
    }
  }
  for (size_t i = 0; i < asked->shapes.count && code == CLI_YES; ++i) {
    code = ask_shape(request, (const cli_given*)asked->shapes.items + i);
  }
  return code;
}

// The model is fine where it lacks what an option names, or an option contradicts it.
static cli_exit import_exit(stow_status status) {
  bool is_usage = status == STOW_ERR_NOT_FOUND || status == STOW_ERR_CONFLICT;
  return is_usage ? CLI_USAGE : cli_exit_of(status);
}

static bool is_value_given(const cli_model_request* asked, stow_str name) {
  const cli_given* values = asked->values.items;
  for (size_t i = 0; i < asked->values.count; ++i) {
    if (stow_str_equal(values[i].name, name)) {
      return true;
    }
  }
  return false;
}

// What given arrays hold, as if by --value. One that does not fit its input is told later.
static void ask_known(const cli_model* model, stow_import_request* request,
                      const cli_model_request* asked) {
  const cli_known_shape* shapes = asked->known->shapes.items;
  for (size_t i = 0; i < asked->known->shapes.count; ++i) {
    stow_type type = stow_type_make(shapes[i].dtype, shapes[i].rank, shapes[i].dims);
    size_t input = cli_known_input(model, &shapes[i]);
    uint64_t bytes;
    if (input == cli_model_info(model).input_count || shapes[i].data == NULL ||
        stow_type_bytes(&type, &bytes) != STOW_OK) {
      continue;
    }
    stow_str name = cli_model_port(model, STOW_MODEL_INPUTS, input);
    if (!is_value_given(asked, name)) {
      (void)stow_import_request_value_bytes(request, name, &type, shapes[i].data, (size_t)bytes,
                                            NULL);
    }
  }
}

static cli_exit make_request(const cli_model* model, const cli_model_request* request,
                             bool with_known, stow_import_request** out_asked) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_import_request_create(stow_allocator_default(), &diag, out_asked);
  if (status != STOW_OK) {
    return cli_fail_diag(status, &diag);
  }
  cli_exit code = ask_all(model, *out_asked, request);
  if (code == CLI_YES && with_known) {
    ask_known(model, *out_asked, request);
  }
  return code;
}

static bool has_known(const cli_model_request* request) {
  return request->known != NULL && request->known->shapes.count > 0;
}

stow_import* cli_model_try(const cli_model* model, const cli_model_request* request) {
  stow_import_request* asked = NULL;
  stow_import* import = NULL;
  if (make_request(model, request, has_known(request), &asked) == CLI_YES) {
    (void)stow_import_model(model->model, asked, stow_allocator_default(), NULL, &import);
  }
  stow_import_request_destroy(asked);
  return import;
}

static cli_exit import_once(cli_model* model, const cli_model_request* request, const char* label,
                            bool keep_all, bool with_known) {
  stow_import_request* asked = NULL;
  cli_exit code = make_request(model, request, with_known, &asked);
  if (code == CLI_YES) {
    stow_diag diag;
    stow_diag_init(&diag);
    uint32_t lenient = request->binds.allows_unknown ? STOW_IMPORT_ALLOW_UNKNOWN : 0;
    stow_import_request_set_flags(asked, (keep_all ? STOW_IMPORT_KEEP_ALL : 0) | lenient);
    stow_status status =
        stow_import_model(model->model, asked, stow_allocator_default(), &diag, &model->import);
    if (status != STOW_OK) {
      code = cli_fail(import_exit(status), "%s: %s", label, cli_diag_text(status, &diag));
    }
  }
  stow_import_request_destroy(asked);
  return code;
}

static bool is_whole(const cli_model* model) {
  const stow_graph* graph = stow_import_graph(model->import);
  return graph != NULL && stow_graph_require_bound(graph, NULL) == STOW_OK;
}

// What inputs hold is made use of only where shapes depend on it: a plan should be right for all
// that they may hold.
cli_exit cli_model_import(cli_model* model, const cli_model_request* request, const char* label,
                          bool keep_all) {
  model->request = request;
  CLI_TRY(import_once(model, request, label, keep_all, false));
  if (!has_known(request) || is_whole(model)) {
    return CLI_YES;
  }
  stow_import_destroy(model->import);
  model->import = NULL;
  return import_once(model, request, label, keep_all, true);
}
