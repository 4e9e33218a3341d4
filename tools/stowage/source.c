// Graphs out of files. Sources of constants are not opened: planning needs no data.
#include "source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "file.h"

cli_exit cli_source_open(cli_source* source, const char* path) {
  *source = (cli_source){.label = cli_file_label(path)};
  stow_string text;
  stow_string_init(&text, stow_allocator_default());
  cli_exit code = cli_file_read(path, &text);
  if (code == CLI_YES) {
    stow_diag diag;
    stow_diag_init(&diag);
    stow_status status =
        stow_module_parse(text.data == NULL ? "" : text.data, text.size, source->label, NULL,
                          stow_allocator_default(), &diag, &source->module);
    code = status == STOW_OK ? CLI_YES : cli_fail_diag(status, &diag);
  }
  stow_string_free(&text);
  return code;
}

void cli_source_close(cli_source* source) {
  stow_module_destroy(source->module);
  source->module = NULL;
}

stow_graph* cli_source_find(const cli_source* source, const char* name) {
  return stow_module_find(source->module, stow_str_of(name[0] == '@' ? name + 1 : name));
}

void cli_source_names(const cli_source* source, char* out, size_t capacity) {
  size_t used = 0;
  out[0] = '\0';
  for (size_t i = 0; i < stow_module_graph_count(source->module) && used < capacity; ++i) {
    stow_str name = stow_graph_name(stow_module_graph(source->module, i));
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
  } else if (stow_module_graph_count(source->module) == 1) {
    *out_graph = stow_module_graph(source->module, 0);
  }
  if (*out_graph != NULL) {
    return CLI_YES;
  }
  cli_source_names(source, names, sizeof names);
  if (name != NULL) {
    return cli_fail(CLI_USAGE, "%s has no graph '%s'; it has: %s", source->label, name, names);
  }
  return cli_fail(CLI_USAGE, "%s has several graphs, choose one with --graph: %s", source->label,
                  names);
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
  if (line != 0) {
    // What the library says about a clause begins with the line, for want of a file's name.
    char prefix[32];
    int size = snprintf(prefix, sizeof prefix, "line %" PRIu32 ": ", line);
    if (size > 0 && strncmp(text, prefix, (size_t)size) == 0) {
      text += size;
    }
    return cli_fail(cli_exit_of(status), "%s:%" PRIu32 ": %s", label, line, text);
  }
  return cli_fail(cli_exit_of(status), "%s: %s", label, text);
}

cli_exit cli_fail_saved(const stow_graph* graph, stow_status status, const stow_diag* diag) {
  bool symbolic = stow_dims_symbol_count(stow_graph_dims(graph)) > 0;
  return cli_fail(
      cli_exit_of(status), "%s%s", cli_diag_text(status, diag),
      status == STOW_ERR_STALE_PLAN && symbolic ? "; other --bind values make another graph" : "");
}
