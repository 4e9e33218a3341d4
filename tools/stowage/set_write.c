// What is written of a set: a summary, one JSON object, or a directory with a file for each graph.
// Files are named after the graphs, and after their files too where graphs have the same name, as
// those of most exported models do.
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "explain.h"
#include "file.h"
#include "lines.h"
#include "number.h"
#include "output.h"
#include "plan_set.h"
#include "summary.h"
#include "table.h"
#include "text.h"

#define NAME_SIZE 200
#define PATH_SIZE 4096

// ---------------------------------------------------------------------------------------------
// Summary

enum { COL_GRAPH, COL_FILE, COL_NODES, COL_ALONE, COL_HERE, COL_COUNT };
static const cli_column columns[COL_COUNT] = {{"graph", false, CLI_FLEXIBLE},
                                              {"file", false, CLI_PATHS},
                                              {"nodes", true, CLI_FIXED},
                                              {"alone", true, CLI_FIXED},
                                              {"here", true, CLI_FIXED}};

static void add_row(const cli_set* set, size_t index, cli_table* table) {
  char(*row)[CLI_CELL_SIZE] = table->cells[table->row_count++];
  const cli_member* member = &set->members[index];
  row[COL_GRAPH][0] = '@';
  cli_escape(stow_graph_name(member->graph), row[COL_GRAPH] + 1, CLI_CELL_SIZE - 3);
  cli_escape(stow_str_of(member->source->label), row[COL_FILE], CLI_CELL_SIZE - 2);
  snprintf(row[COL_NODES], CLI_CELL_SIZE, "%" PRIu32, stow_graph_node_count(member->graph));
  snprintf(row[COL_ALONE], CLI_CELL_SIZE, "%" PRIu64, stow_set_alone(set->set, index));
  snprintf(row[COL_HERE], CLI_CELL_SIZE, "%" PRIu64,
           stow_plan_arena_size(stow_set_plan(set->set, index)));
}

static void print_graphs(const cli_set* set, cli_output* output) {
  cli_table table = {.columns = columns, .column_count = COL_COUNT};
  size_t shown = set->count < CLI_TABLE_ROWS ? set->count : CLI_TABLE_ROWS;
  for (size_t i = 0; i < shown; ++i) {
    add_row(set, i, &table);
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
  cli_print(output, "   aligned to %" PRIu64 " B\n", stow_set_alignment(set->set));
  cli_print_size(output, "lower bound", stow_set_lower_bound(set->set));
  cli_print_gap(output, arena, stow_set_lower_bound(set->set));
  cli_print_size(output, "side by side", sum);
  cli_print_share(output, "saved", sum > arena ? sum - arena : 0, sum);
  size_t shared = stow_set_shared_count(set->set);
  if (shared > 0) {
    cli_print_size(output, "in common", stow_set_shared_bytes(set->set));
    cli_print(output, "   %zu thing%s kept for more than one graph\n", shared, cli_plural(shared));
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
    cli_escape(stow_graph_name(member->graph), name, sizeof name);
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
            stow_set_arena_size(set->set), stow_set_alignment(set->set),
            stow_set_lower_bound(set->set), stow_set_shared_count(set->set),
            stow_set_shared_bytes(set->set));
  for (size_t i = 0; i < set->count; ++i) {
    cli_print(output, "%s%" PRIu64, i == 0 ? "" : ", ", stow_set_alone(set->set, i));
  }
  cli_print(output, "],\n\"graphs\": [\n");
  stow_status status = STOW_OK;
  for (size_t i = 0; i < set->count && status == STOW_OK; ++i) {
    joiner j = {cli_output_writer(output), false};
    status = stow_plan_write_json(stow_set_plan(set->set, i), (stow_writer){write_joined, &j});
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

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Appends |text| as a part of a file's name: no folders, nothing that a shell would take apart.
static void append_plain(char* out, stow_str text) {
  size_t used = strlen(out);
  for (size_t i = 0; i < text.size && used + 1 < NAME_SIZE; ++i) {
    char c = text.data[i];
    bool plain = is_word(c) || (used > 0 && (c == '.' || c == '-'));
    out[used++] = plain ? c : '_';
  }
  out[used] = '\0';
}

// `model` of `folder/model.onnx`
static stow_str stem(const char* path) {
  const char* slash = strrchr(path, '/');
  const char* begin = cli_is_stdin(path) ? "stdin" : slash == NULL ? path : slash + 1;
  const char* dot = strrchr(begin, '.');
  return (stow_str){begin, dot == NULL || dot == begin ? strlen(begin) : (size_t)(dot - begin)};
}

static void name_after_graph(const cli_set* set, size_t index, char out[NAME_SIZE]) {
  stow_str name = stow_graph_name(set->members[index].graph);
  out[0] = '\0';
  append_plain(out, name.size == 0 ? stow_str_of("graph") : name);
}

// The only header that belongs to no graph.
#define ARENA_NAME "arena"

static bool is_taken(const cli_set* set, const char* name, size_t index) {
  for (size_t i = 0; i < set->count; ++i) {
    char other[NAME_SIZE];
    name_after_graph(set, i, other);
    if (i != index && strcmp(other, name) == 0) {
      return true;
    }
  }
  return set->request->format == CLI_FORMAT_C && strcmp(name, ARENA_NAME) == 0;
}

// `graph`, or `file-graph`. |out_own|: the graph's name is its own.
static void name_file(const cli_set* set, size_t index, char out[NAME_SIZE], bool* out_own) {
  name_after_graph(set, index, out);
  *out_own = !is_taken(set, out, index);
  if (!*out_own) {
    out[0] = '\0';
    append_plain(out, stem(set->members[index].source->label));
    append_plain(out, stow_str_of("-"));
    append_plain(out, stow_graph_name(set->members[index].graph));
  }
}

static cli_exit check_names(const cli_set* set) {
  for (size_t i = 0; i < set->count; ++i) {
    for (size_t k = 0; k < i; ++k) {
      char a[NAME_SIZE];
      char b[NAME_SIZE];
      bool own;
      name_file(set, i, a, &own);
      name_file(set, k, b, &own);
      if (strcmp(a, b) == 0) {
        return cli_fail(CLI_USAGE, "--output: two graphs would be written to '%s': plan them apart",
                        a);
      }
    }
  }
  return CLI_YES;
}

static const char* extension(cli_format format) {
  switch (format) {
    case CLI_FORMAT_JSON:
      return "json";
    case CLI_FORMAT_CSV:
      return "csv";
    case CLI_FORMAT_C:
      return "h";
    case CLI_FORMAT_REPORT:
      return "txt";
    default:
      return "plan";
  }
}

// Of the names of a header: the graph's own, or with --c-prefix, or where two graphs have the same
// name, one made of the file's name. NULL: the graph's own.
static const char* make_prefix(const cli_set* set, const char* name, bool own,
                               char out[2 * NAME_SIZE]) {
  const char* prefix = set->request->c_prefix;
  if (prefix == NULL && own) {
    return NULL;
  }
  snprintf(out, 2 * NAME_SIZE, "%s%s%s", prefix == NULL ? "" : prefix, prefix == NULL ? "" : "_",
           name);
  for (char* c = out; *c != '\0'; ++c) {
    *c = is_word(*c) ? *c : '_';
  }
  out[0] = out[0] >= '0' && out[0] <= '9' ? '_' : out[0];
  return out;
}

static bool make_path(const cli_set* set, const char* name, char out[PATH_SIZE]) {
  const char* folder = set->request->output;
  int size = snprintf(out, PATH_SIZE, "%s%s%s.%s", folder, ends_with_slash(folder) ? "" : "/", name,
                      extension(set->request->format));
  return size > 0 && size < PATH_SIZE;
}

static cli_exit check_path(const cli_set* set, const char* path) {
  for (size_t i = 0; i < set->request->file_count; ++i) {
    if (cli_same_file(set->request->files[i], path)) {
      return cli_fail(CLI_USAGE, "--output: '%s' is a file that is read", path);
    }
  }
  return CLI_YES;
}

// |plan| NULL: the header of the arena.
static cli_exit write_file(const cli_set* set, const char* name, const stow_plan* plan,
                           const char* prefix, bool keep) {
  char path[PATH_SIZE];
  if (!make_path(set, name, path)) {
    return cli_fail(CLI_USAGE, "--output: '%s' is too long", set->request->output);
  }
  cli_exit code = check_path(set, path);
  if (code != CLI_YES) {
    return code;
  }
  cli_output output;
  code = cli_output_open(&output, path);
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = STOW_OK;
  if (code == CLI_YES && plan != NULL) {
    status = cli_plan_write(plan, set->request->format, prefix, cli_output_writer(&output), &diag);
  } else if (code == CLI_YES) {
    cli_print(&output,
              "// The arena that several graphs use, one at a time.\n#ifndef %s_ARENA_H_\n#define "
              "%s_ARENA_H_\n\n#define %s_ARENA_SIZE %" PRIu64
              "u\n#define %s_ARENA_ALIGNMENT %" PRIu64 "u\n\n#endif  // %s_ARENA_H_\n",
              prefix, prefix, prefix, stow_set_arena_size(set->set), prefix,
              stow_set_alignment(set->set), prefix);
  }
  if (status != STOW_OK && status != STOW_ERR_IO) {
    code = cli_fail_diag(status, &diag);
  }
  cli_exit closed = cli_output_close(&output, code == CLI_YES && keep);
  return code != CLI_YES ? code : closed;
}

static cli_exit make_directory(const char* path) {
  struct stat status;
  if (stat(path, &status) == 0 || mkdir(path, 0777) == 0) {
    return CLI_YES;
  }
  return cli_fail(CLI_BROKEN, "cannot make the directory '%s': %s", path, strerror(errno));
}

static cli_exit write_directory(const cli_set* set, bool keep) {
  cli_exit code = check_names(set);
  if (code == CLI_YES && keep) {
    code = make_directory(set->request->output);
  }
  for (size_t i = 0; i < set->count && code == CLI_YES && keep; ++i) {
    char name[NAME_SIZE];
    char prefix[2 * NAME_SIZE];
    bool own;
    name_file(set, i, name, &own);
    code = write_file(set, name, stow_set_plan(set->set, i), make_prefix(set, name, own, prefix),
                      keep);
  }
  if (code == CLI_YES && keep && set->request->format == CLI_FORMAT_C) {
    const char* prefix = set->request->c_prefix;
    code = write_file(set, ARENA_NAME, NULL, prefix == NULL ? "STOWAGE" : prefix, keep);
  }
  return code;
}

// ---------------------------------------------------------------------------------------------

cli_exit cli_set_check_output(const cli_plan_request* request) {
  bool directory = is_directory(request->output);
  if (directory && request->format == CLI_FORMAT_SUMMARY) {
    return cli_fail(CLI_USAGE, "--output: '%s' is a directory; a summary is one file",
                    request->output);
  }
  bool whole = request->format == CLI_FORMAT_SUMMARY || request->format == CLI_FORMAT_JSON;
  if (!directory && !whole) {
    return cli_fail(CLI_USAGE,
                    "plans of several graphs are several files: give --output DIRECTORY/ "
                    "(summary and json can be one)");
  }
  for (size_t i = 0; i < request->file_count && request->output != NULL; ++i) {
    if (cli_same_file(request->files[i], request->output)) {
      return cli_fail(CLI_USAGE, "--output: '%s' is a file that is read", request->output);
    }
  }
  return CLI_YES;
}

cli_exit cli_set_write(const cli_set* set, bool keep) {
  return is_directory(set->request->output) ? write_directory(set, keep) : write_whole(set, keep);
}
