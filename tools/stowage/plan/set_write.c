// What is written of a set: a summary, one JSON object, or a directory with a file for each graph.
// Files are named after the graphs, and after their files too where graphs have the same name, as
// those of most exported models do.
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "files/file.h"
#include "files/output.h"
#include "files/stage.h"
#include "graphs/info.h"
#include "plan/set.h"
#include "plan/summary.h"
#include "report/api.h"
#include "terminal/lines.h"
#include "terminal/table.h"
#include "terminal/text.h"

#define NAME_SIZE 200

// ---------------------------------------------------------------------------------------------
// Summary

enum { COL_GRAPH, COL_FILE, COL_NODES, COL_ALONE, COL_HERE, COL_COUNT };
static const cli_column columns[COL_COUNT] = {{"graph", false, CLI_FLEXIBLE},
                                              {"file", false, CLI_PATHS},
                                              {"nodes", true, CLI_FIXED},
                                              {"alone", true, CLI_FIXED},
                                              {"here", true, CLI_FIXED}};

static void print_graphs(const cli_set* set, cli_output* output) {
  cli_table table = {.columns = columns, .column_count = COL_COUNT};
  size_t shown = set->count < CLI_TABLE_ROWS ? set->count : CLI_TABLE_ROWS;
  for (size_t i = 0; i < shown; ++i) {
    char(*row)[CLI_CELL_SIZE] = table.cells[table.row_count++];
    const cli_member* member = &set->members[i];
    row[COL_GRAPH][0] = '@';
    stowi_report_escape(stow_graph_name(member->graph), row[COL_GRAPH] + 1, CLI_CELL_SIZE - 3);
    stowi_report_escape(stow_str_of(member->source->label), row[COL_FILE], CLI_CELL_SIZE - 2);
    snprintf(row[COL_NODES], CLI_CELL_SIZE, "%" PRIu32, stow_graph_node_count(member->graph));
    snprintf(row[COL_ALONE], CLI_CELL_SIZE, "%" PRIu64, stow_set_alone(set->set, i));
    snprintf(row[COL_HERE], CLI_CELL_SIZE, "%" PRIu64,
             stow_plan_arena_size(stow_set_plan(set->set, i)));
  }
  cli_print(output, "%s%zu graphs%s in one arena, one at a time\n",
            cli_paint_start(output, CLI_BOLD), set->count, cli_paint_stop(output));
  cli_table_print(&table, 2, output);
  if (set->count > shown) {
    cli_print(output, "  \xE2\x80\xA6 and %zu more\n", set->count - shown);
  }
  cli_print(output, "\n");
}

static void print_sizes(const cli_set* set, cli_output* output) {
  uint64_t arena = stow_set_arena_size(set->set);
  uint64_t sum = 0;
  for (size_t i = 0; i < set->count; ++i) {
    uint64_t alone = stow_set_alone(set->set, i);
    sum = alone > UINT64_MAX - sum ? UINT64_MAX : sum + alone;
  }
  cli_print_size(output, "arena", arena);
  cli_print(output, "   aligned to %" PRIu64 " B\n", cli_set_info(set->set).alignment);
  cli_print_size(output, "lower bound", cli_set_info(set->set).lower_bound);
  cli_print_gap(output, arena, cli_set_info(set->set).lower_bound);
  cli_print_size(output, "side by side", sum);
  cli_print_share(output, "saved", sum > arena ? sum - arena : 0, sum);
  size_t shared = cli_set_info(set->set).shared_count;
  if (shared > 0) {
    cli_print_size(output, "in common", cli_set_info(set->set).shared_bytes);
    cli_print(output, "   %zu value%s kept for more than one graph\n", shared, cli_plural(shared));
  }
  if (set->request->capacity != STOW_NO_CAPACITY) {
    cli_print_capacity(output, set->request->capacity, arena);
  }
  cli_print(output, "  %-15s %syes%s: every plan from its graph, and all against each other\n",
            "checked", cli_paint_start(output, CLI_GOOD), cli_paint_stop(output));
}

static stow_status explain_graphs(const cli_set* set, cli_output* output) {
  for (size_t i = 0; i < set->count; ++i) {
    const cli_member* member = &set->members[i];
    cli_summary summary = {
        .label = member->source->label,
        .graph = member->graph,
        .plan = stow_set_plan(set->set, i),
        .model = cli_source_is_model(member->source) ? &member->source->model : NULL,
        .order = set->order};
    char name[NAME_SIZE];
    if (!cli_shares_count(summary.plan, &summary.shares)) {
      return STOW_ERR_OUT_OF_MEMORY;
    }
    stowi_report_escape(stow_graph_name(member->graph), name, sizeof name);
    cli_print(output, "\n%s@%s%s\n", cli_paint_start(output, CLI_BOLD), name,
              cli_paint_stop(output));
    cli_explain_print(&summary, output);
  }
  return STOW_OK;
}

static stow_status print_summary(const cli_set* set, cli_output* output) {
  print_graphs(set, output);
  print_sizes(set, output);
  return set->request->explain ? explain_graphs(set, output) : STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// JSON

// Keeps a line end back until more follows, so that a comma can.
typedef struct joiner {
  stow_writer writer;
  bool has_line_end;
} joiner;

static stow_status write_joined(void* user, const char* data, size_t size) {
  joiner* j = user;
  if (size == 0) {
    return STOW_OK;
  }
  stow_status status = j->has_line_end ? j->writer.write(j->writer.user, "\n", 1) : STOW_OK;
  j->has_line_end = data[size - 1] == '\n';
  size -= j->has_line_end;
  return status == STOW_OK && size > 0 ? j->writer.write(j->writer.user, data, size) : status;
}

static stow_status print_json(const cli_set* set, cli_output* output) {
  cli_print(output,
            "{\n\"stowage_set\": 1,\n\"arena_size\": %" PRIu64 ",\n\"arena_alignment\": %" PRIu64
            ",\n\"lower_bound\": %" PRIu64 ",\n\"shared\": {\"count\": %zu, \"bytes\": %" PRIu64
            "},\n\"alone\": [",
            stow_set_arena_size(set->set), cli_set_info(set->set).alignment,
            cli_set_info(set->set).lower_bound, cli_set_info(set->set).shared_count,
            cli_set_info(set->set).shared_bytes);
  for (size_t i = 0; i < set->count; ++i) {
    cli_print(output, "%s%" PRIu64, i == 0 ? "" : ", ", stow_set_alone(set->set, i));
  }
  cli_print(output, "],\n\"graphs\": [\n");
  stow_status status = STOW_OK;
  for (size_t i = 0; i < set->count && status == STOW_OK; ++i) {
    joiner j = {cli_output_writer(output), false};
    status = stow_plan_write(stow_set_plan(set->set, i), STOW_PLAN_JSON,
                             (stow_writer){write_joined, &j});
    cli_print(output, i + 1 < set->count ? ",\n" : "\n");
  }
  cli_print(output, "]\n}\n");
  return status;
}

static cli_exit write_whole(const cli_set* set, bool keep) {
  cli_output output;
  stow_status status = STOW_OK;
  cli_exit code = cli_output_open(&output, set->request->output);
  if (code == CLI_YES && set->request->format == CLI_FORMAT_SUMMARY) {
    status = print_summary(set, &output);
  } else if (code == CLI_YES) {
    status = print_json(set, &output);
  }
  if (status != STOW_OK && status != STOW_ERR_IO) {
    code = cli_fail(cli_exit_of(status), "%s", stow_status_text(status));
  }
  cli_exit closed = cli_output_close(&output, code == CLI_YES && keep);
  return code != CLI_YES ? code : closed;
}

// ---------------------------------------------------------------------------------------------
// A directory

static bool ends_with_slash(const char* path) {
  size_t size = strlen(path);
  return size > 0 && path[size - 1] == '/';
}

// What is there, or is said to be by a slash at its end.
static bool is_directory(const char* path) {
  struct stat status;
  return path != NULL &&
         (stat(path, &status) == 0 ? S_ISDIR(status.st_mode) : ends_with_slash(path));
}

// `model` of `folder/model.onnx`
static stow_str stem(const char* path) {
  const char* begin = cli_is_stdin(path) ? "stdin" : cli_base_name(path);
  const char* dot = strrchr(begin, '.');
  return (stow_str){begin, dot == NULL || dot == begin ? strlen(begin) : (size_t)(dot - begin)};
}

// The only header that belongs to no graph.
#define ARENA_NAME "arena"

typedef struct file_name {
  stow_string text;  // without its ending
  bool is_own;       // the graph's name alone, which no other graph has
} file_name;

static stow_str name_of(const cli_set* set, size_t index) {
  stow_str name = stow_graph_name(set->members[index].graph);
  return name.size == 0 ? stow_str_of("graph") : name;
}

static bool is_taken(const cli_set* set, size_t index) {
  stow_str name = name_of(set, index);
  for (size_t i = 0; i < set->count; ++i) {
    if (i != index && stow_str_equal(name_of(set, i), name)) {
      return true;
    }
  }
  return set->request->format == CLI_FORMAT_C && stow_str_equal(name, stow_str_of(ARENA_NAME));
}

// Appends `file-graph`, as the name of a file.
static bool append_both(const cli_member* member, stow_string* out) {
  stow_str file = stem(member->source->label);
  stow_str graph = stow_graph_name(member->graph);
  stow_string both = cli_string();
  bool made = stow_string_append(&both, file.data, file.size) == STOW_OK &&
              stow_string_append(&both, "-", 1) == STOW_OK &&
              stow_string_append(&both, graph.data, graph.size) == STOW_OK &&
              cli_file_name_of((stow_str){both.data, both.size}, out);
  stow_string_free(&both);
  return made;
}

// |names| has been added to, whatever is returned.
static cli_exit name_files(const cli_set* set, cli_list* names) {
  for (size_t i = 0; i < set->count; ++i) {
    file_name name;
    // `graph`, or `file-graph`.
    stow_string_init(&name.text, stow_allocator_default());
    name.is_own = !is_taken(set, i);
    bool made = name.is_own ? cli_file_name_of(name_of(set, i), &name.text)
                            : append_both(&set->members[i], &name.text);
    if (!cli_list_add(names, &name, sizeof name)) {
      stow_string_free(&name.text);
      made = false;
    }
    if (!made) {
      return cli_fail_memory();
    }
    const file_name* all = names->items;
    for (size_t k = 0; k < i; ++k) {
      if (strcmp(all[k].text.data, name.text.data) == 0) {
        return cli_fail(CLI_USAGE,
                        "--output: two graphs would be written to '%s'; plan them separately",
                        name.text.data);
      }
    }
  }
  return CLI_YES;
}

static void free_names(cli_list* names) {
  for (size_t i = 0; i < names->count; ++i) {
    stow_string_free(&((file_name*)names->items)[i].text);
  }
  cli_list_free(names, sizeof(file_name));
}

static const char* extension(cli_format format) {
  switch (format) {
    case CLI_FORMAT_JSON: return ".json";
    case CLI_FORMAT_CSV: return ".csv";
    case CLI_FORMAT_C: return ".h";
    case CLI_FORMAT_REPORT: return ".txt";
    default: return ".plan";
  }
}

// Of the names of a header: the graph's own, or with --c-prefix, or where two graphs have the same
// name, one made of the file's name. Empty: the graph's own.
static bool make_prefix(const cli_set* set, const file_name* name, stow_string* out) {
  const char* prefix = set->request->c_prefix;
  if (prefix == NULL && name->is_own) {
    return true;
  }
  if ((prefix != NULL && (stow_string_append(out, prefix, strlen(prefix)) != STOW_OK ||
                          stow_string_append(out, "_", 1) != STOW_OK)) ||
      stow_string_append(out, name->text.data, name->text.size) != STOW_OK) {
    return false;
  }
  for (char* c = out->data; *c != '\0'; ++c) {
    *c = stowi_is_alnum(*c) ? *c : '_';
  }
  out->data[0] = out->data[0] >= '0' && out->data[0] <= '9' ? '_' : out->data[0];
  return true;
}

static cli_exit check_path(const cli_set* set, const char* path) {
  for (size_t i = 0; i < set->request->file_count; ++i) {
    if (cli_same_file(set->request->files[i], path)) {
      return cli_fail(CLI_USAGE, "--output: '%s' is an input file", path);
    }
  }
  return CLI_YES;
}

// |plan| NULL: the header of the arena.
static cli_exit write_file(const cli_set* set, cli_stage* stage, const char* file,
                           const stow_plan* plan, const char* prefix) {
  cli_output output;
  cli_exit code = cli_stage_create(stage, file, &output);
  code = code == CLI_YES ? check_path(set, stage->to.data) : code;
  stow_diag diag = cli_diag();
  stow_status status = STOW_OK;
  if (code == CLI_YES && plan != NULL) {
    status = cli_plan_write(plan, set->request->format, prefix, cli_output_writer(&output), &diag);
  } else if (code == CLI_YES) {
    cli_print(&output,
              "// The arena that several graphs use, one at a time.\n#ifndef %s_ARENA_H_\n#define "
              "%s_ARENA_H_\n\n#define %s_ARENA_SIZE %" PRIu64
              "u\n#define %s_ARENA_ALIGNMENT %" PRIu64 "u\n\n#endif  // %s_ARENA_H_\n",
              prefix, prefix, prefix, stow_set_arena_size(set->set), prefix,
              cli_set_info(set->set).alignment, prefix);
  }
  if (status != STOW_OK && status != STOW_ERR_IO) {
    code = cli_fail_diag(status, &diag);
  }
  return cli_output_end(&output, code);
}

// Adds the ending to |name|.
static cli_exit write_plan(const cli_set* set, cli_stage* stage, size_t index, file_name* name) {
  const char* ending = extension(set->request->format);
  stow_string prefix = cli_string();
  cli_exit code = make_prefix(set, name, &prefix) &&
                          stow_string_append(&name->text, ending, strlen(ending)) == STOW_OK
                      ? write_file(set, stage, name->text.data, stow_set_plan(set->set, index),
                                   prefix.size > 0 ? prefix.data : NULL)
                      : cli_fail_memory();
  stow_string_free(&prefix);
  return code;
}

static cli_exit write_files(const cli_set* set, file_name* names) {
  cli_stage stage;
  cli_exit code = cli_stage_open(&stage, set->request->output);
  for (size_t i = 0; i < set->count && code == CLI_YES; ++i) {
    code = write_plan(set, &stage, i, &names[i]);
  }
  if (code == CLI_YES && set->request->format == CLI_FORMAT_C) {
    const char* prefix = set->request->c_prefix;
    code = write_file(set, &stage, ARENA_NAME ".h", NULL, prefix == NULL ? "STOWAGE" : prefix);
  }
  code = code == CLI_YES ? cli_stage_prepare(&stage) : code;
  code = code == CLI_YES ? cli_stage_move(&stage) : code;
  cli_stage_close(&stage);
  return code;
}

static cli_exit write_directory(const cli_set* set, bool keep) {
  cli_list names = {0};
  cli_exit code = name_files(set, &names);
  code = code == CLI_YES && keep ? write_files(set, names.items) : code;
  free_names(&names);
  return code;
}

// ---------------------------------------------------------------------------------------------

cli_exit cli_set_check_output(const cli_plan_request* request) {
  bool directory = is_directory(request->output);
  if (directory && request->format == CLI_FORMAT_SUMMARY) {
    return cli_fail(CLI_USAGE, "--output: '%s' is a directory; a summary needs a file",
                    request->output);
  }
  bool whole = request->format == CLI_FORMAT_SUMMARY || request->format == CLI_FORMAT_JSON;
  if (!directory && !whole) {
    return cli_fail(
        CLI_USAGE,
        "plans of several graphs need --output DIRECTORY/ (summary and json can be one file)");
  }
  for (size_t i = 0; i < request->file_count && request->output != NULL; ++i) {
    if (cli_same_file(request->files[i], request->output)) {
      return cli_fail(CLI_USAGE, "--output: '%s' is an input file", request->output);
    }
  }
  return CLI_YES;
}

cli_exit cli_set_write(const cli_set* set, bool keep) {
  return is_directory(set->request->output) ? write_directory(set, keep) : write_whole(set, keep);
}
