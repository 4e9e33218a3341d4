// Graphs out of files. Sources of constants are not opened: planning needs no data.
#include "graphs/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "files/file.h"
#include "tensors/array.h"

static cli_exit open_model(cli_source* source, cli_input* input, const cli_model_request* request) {
  CLI_TRY(cli_model_open(&source->model, input));
  CLI_TRY(cli_known_bind_model(request->known, &source->model));
  CLI_TRY(cli_model_import(&source->model, request, source->label, false));
  // A plan needs no weights, but who runs it will.
  for (size_t i = 0; i < stow_import_issue_count(source->model.import); ++i) {
    stow_import_issue issue = *stow_import_issue_at(source->model.import, i);
    if (issue.kind == STOW_IMPORT_NO_DATA && !request->runs) {
      cli_note("%s: %.*s", source->label, (int)issue.reason.size, issue.reason.data);
    }
  }
  return cli_model_graph(&source->model, source->label, &source->graph);
}

static cli_exit open_text(cli_source* source, cli_input* input) {
  CLI_TRY(cli_input_read(input));
  stow_diag diag = cli_diag();
  stow_status status =
      stow_module_parse(input->bytes.data == NULL ? "" : input->bytes.data, input->bytes.size, NULL,
                        NULL, stow_allocator_default(), &diag, &source->module);
  return status == STOW_OK ? CLI_YES : cli_input_fail(input, status, &diag);
}

cli_exit cli_source_open(cli_source* source, const char* path, const cli_model_request* request) {
  *source = (cli_source){.label = cli_file_label(path)};
  cli_input input;
  cli_exit code = cli_input_open(&input, path);
  if (code == CLI_YES && input.is_model) {
    code = open_model(source, &input, request);
  } else if (code == CLI_YES) {
    code = cli_model_request_refuse(request, source->label);
    code = code == CLI_YES ? open_text(source, &input) : code;
  }
  cli_input_close(&input);
  return code;
}

bool cli_source_is_model(const cli_source* source) { return source->model.model != NULL; }

void cli_source_close(cli_source* source) {
  cli_model_close(&source->model);
  source->graph = NULL;
  stow_module_destroy(source->module);
  source->module = NULL;
}

static size_t graph_count(const cli_source* source) {
  return source->graph != NULL ? 1 : stow_module_graph_count(source->module);
}

static stow_graph* graph_at(const cli_source* source, size_t index) {
  return source->graph != NULL ? source->graph : stow_module_graph(source->module, index);
}

stow_graph* cli_source_named(const cli_source* source, stow_str name) {
  if (source->graph == NULL) {
    return stow_module_find(source->module, name);
  }
  return stow_str_equal(stow_graph_name(source->graph), name) ? source->graph : NULL;
}

stow_graph* cli_source_find(const cli_source* source, const char* name) {
  return cli_source_named(source, stow_str_of(name[0] == '@' ? name + 1 : name));
}

void cli_source_names(const cli_source* source, char* out, size_t capacity) {
  size_t used = 0;
  out[0] = '\0';
  for (size_t i = 0; i < graph_count(source) && used < capacity; ++i) {
    stow_str name = stow_graph_name(graph_at(source, i));
    int size = snprintf(out + used, capacity - used, "%s%.*s", i == 0 ? "" : ", ", (int)name.size,
                        name.data);
    used += size > 0 ? (size_t)size : 0;
  }
}

cli_exit cli_source_choose(const cli_source* source, const char* name, stow_graph** out_graph) {
  char names[1024];
  *out_graph = NULL;
  if (name != NULL) {
    *out_graph = cli_source_find(source, name);
  } else if (graph_count(source) == 1) {
    *out_graph = graph_at(source, 0);
  }
  if (*out_graph != NULL) {
    return CLI_YES;
  }
  cli_source_names(source, names, sizeof names);
  if (name != NULL) {
    return cli_fail(CLI_USAGE, "%s: unknown graph '%s'; it has: %s", source->label, name, names);
  }
  return cli_fail(CLI_USAGE, "%s has several graphs; choose one with --graph: %s", source->label,
                  names);
}

cli_exit cli_source_bind(const cli_source* source, cli_binds* binds, stow_graph* graph) {
  return cli_source_is_model(source) ? CLI_YES : cli_binds_apply(binds, source->label, graph);
}

cli_exit cli_source_require_used(const cli_source* source, const cli_binds* binds,
                                 const stow_graph* graph) {
  return cli_source_is_model(source) ? CLI_YES : cli_binds_require_used(binds, graph);
}

cli_exit cli_source_require_bound(const cli_source* source, const stow_graph* graph) {
  return cli_source_is_model(source) ? cli_model_require_bound(&source->model, source->label, graph)
                                     : cli_require_bound(source->label, graph);
}

// What gives a dim the value 0: `batch=0`. False where nothing does.
static bool find_zero(const cli_model_request* request, char* out, size_t capacity) {
  const cli_bind* binds = request->binds.list.items;
  for (size_t i = 0; i < request->binds.list.count; ++i) {
    if (binds[i].range.max == 0 && binds[i].used) {
      snprintf(out, capacity, "%.*s=0", (int)binds[i].name.size, binds[i].name.data);
      return true;
    }
  }
  const cli_given* shapes = request->shapes.items;
  for (size_t i = 0; i < request->shapes.count; ++i) {
    char shape[512];
    snprintf(shape, sizeof shape, "x%sx", shapes[i].text);
    if (strstr(shape, "x0x") != NULL) {
      snprintf(out, capacity, "--shape %.*s=%s", (int)shapes[i].name.size, shapes[i].name.data,
               shapes[i].text);
      return true;
    }
  }
  snprintf(out, capacity, "--bind-rest 0");
  return request->has_rest && request->rest == 0;
}

// A decoder's cache of length 0 is as it should be; a result without elements hardly ever is.
static void note_empty(const cli_source* source, const cli_model_request* request,
                       const stow_graph* graph) {
  const stow_value* outputs = stow_graph_outputs(graph);
  size_t count = stow_graph_output_count(graph);
  size_t empty = 0;
  stow_value first = STOW_VALUE_NONE;
  for (size_t i = count; i-- > 0;) {
    uint64_t elements;
    if (stow_type_elements(stow_graph_type(graph, outputs[i]), &elements) == STOW_OK &&
        elements == 0) {
      first = outputs[i];
      ++empty;
    }
  }
  char zero[256];
  if (empty > 0 && find_zero(request, zero, sizeof zero)) {
    char type[CLI_TYPE_TEXT_SIZE];
    stow_str name = stow_graph_value_name(graph, first);
    cli_format_type(stow_graph_type(graph, first), stow_graph_dims(graph), type);
    cli_note("%s: with %s, %zu of %zu output%s no elements: '%.*s' is %s", source->label, zero,
             empty, count, count == 1 ? " has" : "s have", (int)name.size, name.data, type);
  }
}

cli_exit cli_source_require_sizes(const cli_source* source, const cli_model_request* request,
                                  const stow_graph* graph) {
  CLI_TRY(cli_source_require_bound(source, graph));
  note_empty(source, request, graph);
  return CLI_YES;
}

static uint32_t line_of(const stow_graph* graph, const stow_diag* diag) {
  if (diag->line != 0) {
    return diag->line;
  }
  if (diag->node < stow_graph_node_count(graph)) {
    return stow_graph_line(graph, diag->node);
  }
  if (diag->value < stow_graph_value_count(graph)) {
    return stow_graph_line(graph, stow_graph_producer(graph, diag->value));
  }
  return 0;
}

cli_exit cli_fail_graph(const char* label, const stow_graph* graph, stow_status status,
                        const stow_diag* diag) {
  uint32_t line = line_of(graph, diag);
  const char* text = cli_diag_text(status, diag);
  return line == 0 ? cli_fail(cli_exit_of(status), "%s: %s", label, text)
                   : cli_fail(cli_exit_of(status), "%s:%" PRIu32 ": %s", label, line, text);
}

cli_exit cli_fail_saved(const char* label, const stow_graph* graph, stow_status status,
                        const stow_diag* diag) {
  bool symbolic = stow_dims_symbol_count(stow_graph_dims(graph)) > 0;
  if (status == STOW_ERR_STALE_PLAN && !symbolic) {
    cli_exit code = cli_fail_at(label, status, diag);
    cli_tell_more("the graph has changed since, or is another one: plan it again");
    return code;
  }
  if (status != STOW_ERR_STALE_PLAN) {
    return cli_fail_at(label, status, diag);
  }
  return cli_fail(cli_exit_of(status),
                  "%s:%" PRIu32 ":%" PRIu32 ": %s; other --bind values give another graph", label,
                  diag->line, diag->column, cli_diag_text(status, diag));
}
