// What a run is given. Files are opened before the model is, because the shapes in them tell what
// its symbols are; they are held against its types when it is planned, and only then are elements
// read. Who is given a wrong array, or none, is told all of it at once.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "files/file.h"
#include "run/run.h"
#include "terminal/text.h"

#define PATH_SIZE 4096
#define SHOWN_MISSING 20

// ---------------------------------------------------------------------------------------------
// Reading

static cli_exit add_origin(cli_run* run, cli_given_array origin) {
  return cli_list_add(&run->origins, &origin, sizeof origin) ? CLI_YES : cli_fail_memory();
}

static void close_file(cli_given_file* file) {
  cli_tensor_file_close(&file->tensors);
  free(file->path);
  free(file->name);
  free(file);
}

void cli_run_close_inputs(cli_run* run) {
  cli_given_file** files = run->files.items;
  for (size_t i = 0; i < run->files.count; ++i) {
    close_file(files[i]);
  }
  cli_list_free(&run->files, sizeof(cli_given_file*));
  cli_list_free(&run->origins, sizeof(cli_given_array));
}

// Opens DIR/NAME, or NAME where |folder| is NULL.
static cli_exit open_file(cli_run* run, const char* folder, const char* name,
                          cli_given_file** out_file) {
  *out_file = NULL;
  size_t size = (folder == NULL ? 0 : strlen(folder) + 1) + strlen(name) + 1;
  cli_given_file* file = calloc(1, sizeof *file);
  char* path = malloc(size);
  if (file == NULL || path == NULL) {
    free(file);
    free(path);
    return cli_fail_memory();
  }
  snprintf(path, size, "%s%s%s", folder == NULL ? "" : folder, folder == NULL ? "" : "/", name);
  file->path = path;
  cli_exit code = cli_tensor_file_open(&file->tensors, path);
  if (code == CLI_YES && !cli_list_add(&run->files, &file, sizeof file)) {
    code = cli_fail_memory();
  }
  if (code != CLI_YES) {
    close_file(file);
    return code;
  }
  *out_file = file;
  return CLI_YES;
}

static const cli_stored* find_stored(const cli_tensor_file* file, stow_str name) {
  const cli_stored* items = file->tensors.stored.items;
  for (size_t i = 0; i < file->tensors.stored.count; ++i) {
    if (stow_str_equal((stow_str){items[i].name.data, items[i].name.size}, name)) {
      return &items[i];
    }
  }
  return NULL;
}

static cli_exit read_one(cli_run* run, const cli_given* given) {
  cli_tensor_format format = cli_tensor_format_of(given->text);
  cli_given_array origin = {
      .name = given->name, .from = given->text, .path = given->text, .is_asked = true};
  if (format == CLI_TENSOR_RAW) {
    return add_origin(run, origin);
  }
  cli_given_file* file;
  CLI_TRY(open_file(run, NULL, given->text, &file));
  origin.stored = format == CLI_TENSOR_NPZ ? find_stored(&file->tensors, given->name)
                                           : file->tensors.tensors.stored.items;
  return origin.stored != NULL ? add_origin(run, origin)
                               : cli_fail(CLI_BAD_INPUT, "%s: no array '%.*s'", given->text,
                                          (int)given->name.size, given->name.data);
}

// An array is called as its file is, without the ending.
static cli_exit read_member(cli_run* run, const char* folder, const char* name) {
  cli_given_file* file;
  CLI_TRY(open_file(run, folder, name, &file));
  file->name = strdup(name);
  if (file->name == NULL) {
    return cli_fail_memory();
  }
  size_t size = cli_name_of_file(file->name, (size_t)(strrchr(name, '.') - name));
  return add_origin(run, (cli_given_array){.name = {file->name, size},
                                           .position = SIZE_MAX,
                                           .from = folder,
                                           .path = file->path,
                                           .stored = file->tensors.tensors.stored.items});
}

static cli_exit read_archive(cli_run* run, const char* path) {
  cli_given_file* file;
  CLI_TRY(open_file(run, NULL, path, &file));
  for (size_t i = 0; i < file->tensors.tensors.stored.count; ++i) {
    const cli_stored* stored = (const cli_stored*)file->tensors.tensors.stored.items + i;
    CLI_TRY(add_origin(run, (cli_given_array){.name = {stored->name.data, stored->name.size},
                                              .position = SIZE_MAX,
                                              .from = path,
                                              .path = path,
                                              .stored = stored}));
  }
  return CLI_YES;
}

static cli_exit read_all(cli_run* run, const char* path) {
  if (cli_is_folder(path)) {
    cli_list names = {0};
    cli_exit code = cli_tensor_folder_list(path, &names);
    char** all = names.items;
    for (size_t i = 0; i < names.count; ++i) {
      code = code == CLI_YES ? read_member(run, path, all[i]) : code;
      free(all[i]);
    }
    cli_list_free(&names, sizeof(char*));
    return code;
  }
  return cli_tensor_format_of(path) == CLI_TENSOR_NPZ
             ? read_archive(run, path)
             : cli_fail(CLI_USAGE,
                        "--inputs: '%s' is neither a .npz file nor a directory; use --input "
                        "NAME=FILE for one input",
                        path);
}

// The name of DIR/|kind|_|index|.pb; false where there is no such file.
static bool find_numbered(const char* folder, const char* kind, size_t index, char name[64]) {
  char path[PATH_SIZE];
  struct stat info;
  snprintf(name, 64, "%s_%zu.pb", kind, index);
  int size = snprintf(path, sizeof path, "%s/%s", folder, name);
  return size > 0 && (size_t)size < sizeof path && stat(path, &info) == 0;
}

static cli_exit read_expected(cli_run* run, const char* folder) {
  char name[64];
  for (size_t i = 0; find_numbered(folder, "output", i, name); ++i) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CLI_TRY(cli_arrays_read(path, &run->expected));
  }
  return CLI_YES;
}

static cli_exit read_test_data(cli_run* run, const char* folder) {
  if (!cli_is_folder(folder)) {
    return cli_fail(CLI_BROKEN, "--expect: '%s' is not a directory", folder);
  }
  CLI_TRY(read_expected(run, folder));
  if (run->expected.count == 0) {
    return cli_fail(CLI_BAD_INPUT, "%s: no output_0.pb to compare with", folder);
  }
  char name[64];
  for (size_t i = 0; find_numbered(folder, "input", i, name); ++i) {
    cli_given_file* file;
    CLI_TRY(open_file(run, folder, name, &file));
    CLI_TRY(add_origin(run, (cli_given_array){.position = i,
                                              .from = folder,
                                              .path = file->path,
                                              .stored = file->tensors.tensors.stored.items}));
  }
  return CLI_YES;
}

// Appends the elements to what is given.
static cli_exit load(cli_run* run, const cli_given_array* origin, stow_tensor* out_tensor) {
  CLI_TRY(cli_tensor_file_load(origin->path, origin->stored, &run->given));
  *out_tensor = ((const cli_array*)run->given.items)[run->given.count - 1].tensor;
  return CLI_YES;
}

// Small arrays may tell what shapes depend on; larger ones are left where they are.
static cli_exit note_shape(cli_run* run, const cli_given_array* origin) {
  const stow_type* type = &origin->stored->type;
  uint64_t elements;
  stow_tensor tensor = {0};
  if (stow_type_elements(type, &elements) == STOW_OK && elements <= CLI_MOST_KNOWN_ELEMENTS) {
    CLI_TRY(load(run, origin, &tensor));
  }
  cli_known_shape shape = {.name = origin->name,
                           .position = origin->position,
                           .from = origin->from,
                           .rank = type->rank,
                           .dims = type->dims,
                           .dtype = type->dtype,
                           .data = tensor.data};
  return cli_known_add(&run->known, &shape) ? CLI_YES : cli_fail_memory();
}

static cli_exit note_shapes(cli_run* run) {
  const cli_given_array* origins = run->origins.items;
  cli_exit code = CLI_YES;
  for (size_t i = 0; i < run->origins.count && code == CLI_YES; ++i) {
    code = origins[i].stored == NULL ? CLI_YES : note_shape(run, &origins[i]);
  }
  return code;
}

cli_exit cli_run_read_inputs(cli_run* run) {
  const cli_run_request* request = &run->request;
  cli_exit code = CLI_YES;
  for (size_t i = 0; i < request->inputs.count && code == CLI_YES; ++i) {
    code = read_one(run, (const cli_given*)request->inputs.items + i);
  }
  if (code == CLI_YES && request->inputs_from != NULL) {
    code = read_all(run, request->inputs_from);
  }
  if (code == CLI_YES && request->expect != NULL) {
    code = read_test_data(run, request->expect);
  }
  run->known.binds = &run->job.request.model.binds;
  run->job.request.model.known = &run->known;
  run->job.request.model.runs = true;
  return code == CLI_YES ? note_shapes(run) : code;
}

// ---------------------------------------------------------------------------------------------
// Matching

// What the N-th input is called where files go by number: as the model has them.
static size_t position_of(const cli_run* run, stow_str name, size_t fallback) {
  const cli_model* model = &run->job.source.model;
  size_t count = model->model == NULL ? 0 : cli_model_info(model).input_count;
  for (size_t i = 0; i < count; ++i) {
    if (stow_str_equal(cli_model_port(model, STOW_MODEL_INPUTS, i), name)) {
      return i;
    }
  }
  return count == 0 ? fallback : SIZE_MAX;
}

// The first is taken: those that the command line names, then files of many. NULL: none.
static cli_given_array* find_origin(const cli_run* run, stow_str name, size_t position) {
  cli_given_array* origins = run->origins.items;
  cli_given_array* first = NULL;
  for (size_t i = 0; i < run->origins.count; ++i) {
    bool is_numbered = origins[i].name.size == 0 && origins[i].position != SIZE_MAX;
    bool is_meant =
        is_numbered ? origins[i].position == position : stow_str_equal(origins[i].name, name);
    origins[i].is_used |= is_meant;
    first = first == NULL && is_meant ? &origins[i] : first;
  }
  return first;
}

static bool fits(const stow_graph* graph, stow_value value, const stow_type* given) {
  const stow_type* type = stow_graph_type(graph, value);
  bool same = given->dtype == type->dtype && given->rank == type->rank;
  for (uint32_t i = 0; same && i < type->rank; ++i) {
    same = given->dims[i] == type->dims[i] ||
           (stow_graph_is_bounded_dim(graph, value, i) && given->dims[i] < type->dims[i]);
  }
  return same;
}

static cli_exit fail_type(const cli_run* run, stow_value value, const cli_given_array* origin) {
  const stow_graph* graph = run->job.graph;
  stow_str name = stow_graph_value_name(graph, value);
  char needed[CLI_TYPE_TEXT_SIZE];
  char given[CLI_TYPE_TEXT_SIZE];
  cli_format_type(stow_graph_type(graph, value), stow_graph_dims(graph), needed);
  cli_format_type(&origin->stored->type, NULL, given);
  return cli_fail(CLI_BAD_INPUT, "%s: input '%.*s' needs %s, but the file has %s", origin->from,
                  (int)name.size, name.data, needed, given);
}

static cli_exit add_feed(cli_run* run, cli_feed feed) {
  return cli_list_add(&run->feeds, &feed, sizeof feed) ? CLI_YES : cli_fail_memory();
}

static cli_exit feed_raw(cli_run* run, stow_value value, const cli_given_array* origin) {
  cli_array array;
  CLI_TRY(cli_array_read_raw(origin->from, stow_graph_value_name(run->job.graph, value),
                             stow_graph_type(run->job.graph, value), &array));
  stow_tensor tensor = array.tensor;
  if (!cli_arrays_add(&run->given, &array)) {
    return cli_fail_memory();
  }
  return add_feed(run, (cli_feed){value, tensor, origin->from});
}

static cli_exit feed_random(cli_run* run, stow_value value) {
  stow_str name = stow_graph_value_name(run->job.graph, value);
  cli_array array;
  if (!cli_array_create(&array, name, stow_graph_type(run->job.graph, value))) {
    return cli_fail_memory();
  }
  cli_fill_random(&array.tensor, run->request.seed, name);
  stow_tensor tensor = array.tensor;
  return cli_arrays_add(&run->given, &array) ? add_feed(run, (cli_feed){value, tensor, "random"})
                                             : cli_fail_memory();
}

// An input whose value was given when the model was imported: it need not be aligned there.
static cli_exit feed_known(cli_run* run, stow_value value, const void* data) {
  cli_array array;
  if (!cli_array_create(&array, (stow_str){"", 0}, stow_graph_type(run->job.graph, value))) {
    return cli_fail_memory();
  }
  if (array.size > 0) {
    memcpy(array.tensor.data, data, array.size);
  }
  stow_tensor tensor = array.tensor;
  return cli_arrays_add(&run->given, &array) ? add_feed(run, (cli_feed){value, tensor, "--value"})
                                             : cli_fail_memory();
}

static cli_exit feed_value(cli_run* run, stow_value value, size_t position, bool with_inputs,
                           cli_list* missing) {
  const stow_graph* graph = run->job.graph;
  stow_op op = stow_graph_op(graph, stow_graph_producer(graph, value));
  const void* data = stow_graph_data(graph, value, NULL);
  if (op != STOW_OP_INPUT && (data != NULL || cli_is_folded(graph, value))) {
    return CLI_YES;
  }
  stow_str name = stow_graph_value_name(graph, value);
  const cli_given_array* origin =
      find_origin(run, name, op == STOW_OP_INPUT ? position_of(run, name, position) : SIZE_MAX);
  if (op == STOW_OP_INPUT && !with_inputs) {
    return CLI_YES;  // what is given for it has told its shape
  }
  if (origin != NULL) {
    if (origin->stored == NULL) {
      return feed_raw(run, value, origin);
    }
    if (!fits(run->job.graph, value, &origin->stored->type)) {
      return fail_type(run, value, origin);
    }
    stow_tensor tensor;
    CLI_TRY(load(run, origin, &tensor));
    return add_feed(run, (cli_feed){value, tensor, origin->from});
  }
  if (data != NULL) {
    return feed_known(run, value, data);
  }
  bool is_weight = op != STOW_OP_INPUT;
  if (!run->request.has_seed || (is_weight && cli_source_is_model(&run->job.source))) {
    return cli_list_add(missing, &value, sizeof value) ? CLI_YES : cli_fail_memory();
  }
  run->random_count += is_weight;
  return feed_random(run, value);
}

// ---------------------------------------------------------------------------------------------
// What is missing, and what is too much

static const char* kind_of(const stow_graph* graph, stow_value value) {
  stow_op op = stow_graph_op(graph, stow_graph_producer(graph, value));
  return op == STOW_OP_INPUT ? "input" : op == STOW_OP_PARAM ? "param" : "constant";
}

static void list_value(const stow_graph* graph, stow_value value) {
  char type[CLI_TYPE_TEXT_SIZE];
  stow_str name = stow_graph_value_name(graph, value);
  cli_format_type(stow_graph_type(graph, value), stow_graph_dims(graph), type);
  cli_tell_more("%s '%.*s' %s", kind_of(graph, value), (int)name.size, name.data, type);
}

static size_t count_inputs(const stow_graph* graph, const cli_list* values) {
  size_t count = 0;
  for (size_t i = 0; i < values->count; ++i) {
    stow_node node = stow_graph_producer(graph, ((const stow_value*)values->items)[i]);
    count += stow_graph_op(graph, node) == STOW_OP_INPUT;
  }
  return count;
}

// The file that a text names for the first of |missing| that has one; empty where there is none.
static stow_str named_source(const stow_graph* graph, const cli_list* missing) {
  const stow_value* values = missing->items;
  stow_str source = {"", 0};
  for (size_t i = 0; i < missing->count && source.size == 0; ++i) {
    source = stow_graph_attr(graph, stow_graph_producer(graph, values[i]), "source")->s;
  }
  return source;
}

// A model has its weights in files. One that cannot be read is an error, even with random inputs:
// the outputs would not be the model's.
static void tell_model(const cli_run* run, bool misses_weights, bool misses_inputs) {
  const stow_import* import = run->job.source.model.import;
  for (size_t i = 0; i < stow_import_issue_count(import); ++i) {
    stow_import_issue issue = *stow_import_issue_at(import, i);
    if (issue.kind == STOW_IMPORT_NO_DATA) {
      cli_tell_more("%.*s", (int)issue.reason.size, issue.reason.data);
    }
  }
  cli_tell_more("give each one data: --input NAME=FILE (.npy, .npz, .pb or raw bytes)");
  if (misses_inputs) {
    cli_tell_more("or use random numbers for %s: --random SEED", misses_weights ? "inputs" : "all");
  }
  if (misses_weights) {
    cli_tell_more("to measure it with random weights, run its text (stowage fmt) with --random");
  }
}

static void tell_text(stow_str source) {
  if (source.size != 0) {
    cli_tell_more("a .stow file has no weights; run the model '%.*s' instead", (int)source.size,
                  source.data);
  }
  cli_tell_more("give each one data: --input NAME=FILE (.npy, .npz, .pb or raw bytes)");
  cli_tell_more("or use random numbers for all: --random SEED");
}

static cli_exit fail_missing(const cli_run* run, const cli_list* missing) {
  const stow_graph* graph = run->job.graph;
  const stow_value* values = missing->items;
  cli_fail(CLI_BAD_INPUT, "%s: %zu value%s no data:", run->job.source.label, missing->count,
           missing->count == 1 ? " has" : "s have");
  for (size_t i = 0; i < missing->count && i < SHOWN_MISSING; ++i) {
    list_value(graph, values[i]);
  }
  if (missing->count > SHOWN_MISSING) {
    cli_tell_more("and %zu more", missing->count - SHOWN_MISSING);
  }
  if (cli_source_is_model(&run->job.source)) {
    size_t inputs = count_inputs(graph, missing);
    tell_model(run, inputs != missing->count, inputs != 0);
  } else {
    tell_text(named_source(graph, missing));
  }
  return CLI_BAD_INPUT;
}

// Of what was not used: an input would have been.
static bool has_data(const cli_run* run, stow_str name) {
  stow_value value = stow_graph_find(run->job.graph, name);
  return value != STOW_VALUE_NONE && stow_graph_is_boundary(run->job.graph, value);
}

static cli_exit fail_unused(const cli_run* run, const cli_given_array* origin) {
  const stow_graph* graph = run->job.graph;
  cli_fail(CLI_USAGE,
           has_data(run, origin->name)
               ? "--input: '%.*s' has its data in the model; expected one of:"
               : "--input: unknown input '%.*s'; expected one of:",
           (int)origin->name.size, origin->name.data);
  size_t shown = 0;
  for (stow_node node = 0; node < stow_graph_node_count(graph) && shown < SHOWN_MISSING; ++node) {
    if (stow_graph_op(graph, node) == STOW_OP_INPUT) {
      list_value(graph, stow_graph_first_result(graph, node));
      ++shown;
    }
  }
  return CLI_USAGE;
}

void cli_run_tell_unknown_inputs(const cli_run* run) {
  const cli_given_array* origins = run->origins.items;
  const cli_model* model = &run->job.source.model;
  for (size_t i = 0; model->model != NULL && i < run->origins.count; ++i) {
    stow_str name = origins[i].name;
    if (name.size > 0 && position_of(run, name, 0) == SIZE_MAX) {
      cli_tell_more("%s: unknown input '%.*s'", origins[i].from, (int)name.size, name.data);
    }
  }
}

static cli_exit check_used(const cli_run* run) {
  const cli_given_array* origins = run->origins.items;
  for (size_t i = 0; i < run->origins.count; ++i) {
    if (!origins[i].is_used && origins[i].is_asked) {
      return fail_unused(run, &origins[i]);
    }
    if (!origins[i].is_used && origins[i].name.size == 0 && origins[i].position != SIZE_MAX) {
      return cli_fail(CLI_BAD_INPUT, "%s: input_%zu.pb is more than the model has inputs",
                      origins[i].from, origins[i].position);
    }
    if (!origins[i].is_used) {
      cli_note("%s: ignored '%.*s', which %s", origins[i].from, (int)origins[i].name.size,
               origins[i].name.data,
               has_data(run, origins[i].name) ? "has its data in the model" : "is not an input");
    }
  }
  return CLI_YES;
}

static cli_exit match(cli_run* run, bool with_inputs) {
  const stow_graph* graph = run->job.graph;
  cli_list missing = {0};
  cli_exit code = CLI_YES;
  size_t position = 0;
  for (stow_node node = 0; node < stow_graph_node_count(graph) && code == CLI_YES; ++node) {
    stow_value value = stow_graph_first_result(graph, node);
    if (stow_graph_result_count(graph, node) == 1 && stow_graph_is_boundary(graph, value)) {
      code = feed_value(run, value, position, with_inputs, &missing);
      position += stow_graph_op(graph, node) == STOW_OP_INPUT;
    }
  }
  code = code == CLI_YES ? check_used(run) : code;
  if (code == CLI_YES && missing.count > 0) {
    code = fail_missing(run, &missing);
  }
  cli_list_free(&missing, sizeof(stow_value));
  return code;
}

cli_exit cli_run_match_inputs(cli_run* run) { return match(run, true); }

cli_exit cli_run_match_weights(cli_run* run) { return match(run, false); }
