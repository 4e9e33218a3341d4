// Weight layouts for backward plans. GRAPH|PLAN is a graph's name where FILE has one of that name,
// else a file.
#include "plan/layout.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "files/file.h"
#include "terminal/text.h"

// The value of the first `# key=value` line of |key|; empty where there is none.
static stow_str header_value(const stow_string* text, const char* key) {
  size_t key_size = strlen(key);
  const char* end = text->data + text->size;
  for (const char* line = text->data; line < end && line[0] == '#';) {
    const char* newline = memchr(line, '\n', (size_t)(end - line));
    const char* stop = newline == NULL ? end : newline;
    size_t size = (size_t)(stop - line);
    if (size > key_size && memcmp(line, key, key_size) == 0) {
      return (stow_str){line + key_size, size - key_size};
    }
    line = newline == NULL ? end : newline + 1;
  }
  return (stow_str){"", 0};
}

#define PLAN_START "# stowage_plan="
#define FORMULA_START "# stowage_formula="

// The first line that ends with CRLF, or 0.
static size_t crlf_line(stow_str text) {
  size_t line = 1;
  for (size_t i = 0; i < text.size; ++i) {
    if (text.data[i] == '\n' && i > 0 && text.data[i - 1] == '\r') {
      return line;
    }
    line += text.data[i] == '\n';
  }
  return 0;
}

// What editors and transfers do to a saved plan, told as what it is. A text that is something else
// altogether is left to those who read it.
static cli_exit check_text(stow_str text, const char* label) {
  if (text.size == 0) {
    return cli_fail(CLI_BAD_INPUT, "%s: the file is empty; expected a saved plan (--format plan)",
                    label);
  }
  if (cli_starts_with(text, "\xEF\xBB\xBF")) {
    return cli_fail(CLI_BAD_INPUT,
                    "%s:1: begins with a byte order mark, which a saved plan must not have", label);
  }
  bool is_saved = cli_starts_with(text, PLAN_START) || cli_starts_with(text, FORMULA_START);
  size_t line = is_saved ? crlf_line(text) : 0;
  if (line != 0) {
    return cli_fail(CLI_BAD_INPUT, "%s:%zu: has CRLF line ends; a saved plan must have LF only",
                    label, line);
  }
  return CLI_YES;
}

cli_exit cli_plan_text_read(const char* path, stow_string* text) {
  CLI_TRY(cli_text_read(path, text));
  return check_text((stow_str){text->data, text->size}, cli_file_label(path));
}

bool cli_plan_text_is_plan(const stow_string* text) {
  return cli_starts_with((stow_str){text->data, text->size}, PLAN_START);
}

bool cli_plan_text_is_formula(const stow_string* text) {
  return cli_starts_with((stow_str){text->data, text->size}, FORMULA_START);
}

static cli_exit find_named(stow_str name, const char* plan_label, const cli_source* source,
                           stow_graph** out_graph) {
  *out_graph = cli_source_named(source, name);
  if (*out_graph != NULL) {
    return CLI_YES;
  }
  char names[1024];
  cli_source_names(source, names, sizeof names);
  return cli_fail(CLI_BAD_INPUT, "%s is a plan for graph '%.*s'; %s has: %s", plan_label,
                  (int)name.size, name.data, source->label, names);
}

cli_exit cli_plan_text_graph(const stow_string* text, const char* plan_label,
                             const cli_source* source, stow_graph** out_graph) {
  stow_string name = cli_string();
  *out_graph = NULL;
  cli_exit code;
  stow_str quoted = header_value(text, "# graph=");
  stow_status status = cli_unquote(quoted, &name);
  if (status == STOW_OK) {
    code = find_named((stow_str){name.data == NULL ? "" : name.data, name.size}, plan_label, source,
                      out_graph);
  } else if (status == STOW_ERR_OUT_OF_MEMORY) {
    code = cli_fail_memory();
  } else {
    code = cli_fail(CLI_BAD_INPUT, "%s: no %s'# graph=' line: not a saved plan (--format plan)",
                    plan_label, quoted.size > 0 ? "quoted name in the " : "");
  }
  stow_string_free(&name);
  return code;
}

bool cli_plan_text_shares_params(const stow_string* text) {
  stow_str params = header_value(text, "# params=");  // shared, or shared-or-none
  return params.size >= 6 && memcmp(params.data, "shared", 6) == 0;
}

stow_prepare_options cli_plan_text_kernels(const stow_string* text) {
  stow_str threads = header_value(text, "# threads=");
  stow_prepare_options options;
  stow_prepare_options_init(&options);
  options.threads = 0;
  options.fastest = header_value(text, "# fastest=").size > 0;
  stow_str pack = header_value(text, "# pack=");
  options.pack = pack.size < 2         ? STOW_PACK_NEVER
                 : pack.data[1] == 'u' ? STOW_PACK_AUTO
                                       : STOW_PACK_ALWAYS;
  for (size_t i = 0; i < threads.size && i < 9 && stowi_is_digit(threads.data[i]); ++i) {
    options.threads = options.threads * 10 + (uint32_t)(threads.data[i] - '0');
  }
  return options;
}

cli_exit cli_plan_text_rewrite(const stow_string* text, const char* label, bool* out_is_rewritten,
                               stow_rewrite_options* out_options) {
  stow_str stamp = header_value(text, "# rewrite=");
  *out_is_rewritten = stamp.size > 0;
  if (stamp.size == 0) {
    return CLI_YES;
  }
  stow_diag diag = cli_diag();
  stow_rewrite_options_init(out_options);
  stow_status status = stow_rewrite_read_stamp(stamp, &diag, out_options);
  if (status == STOW_OK) {
    return CLI_YES;
  }
  cli_exit code = cli_fail(cli_exit_of(status), "%s: %s", label, cli_diag_text(status, &diag));
  if (status == STOW_ERR_STALE_PLAN) {
    cli_tell_more("plan the graph again");
  }
  return code;
}

static cli_exit open_plan(cli_layout_source* from, const char* path, const cli_source* source) {
  if (!cli_is_stdin(path) && access(path, F_OK) != 0) {
    char names[1024];
    int error = errno;
    cli_source_names(source, names, sizeof names);
    return cli_fail(
        CLI_BROKEN,
        "--layout-from: '%s' is neither a graph in %s (it has: %s) nor a readable file: %s", path,
        source->label, names, strerror(error));
  }
  from->plan_label = cli_file_label(path);
  CLI_TRY(cli_plan_text_read(path, &from->text));
  return cli_plan_text_graph(&from->text, from->plan_label, source, &from->graph);
}

cli_exit cli_layout_source_open(cli_layout_source* from, const char* graph_or_plan,
                                cli_binds* binds, const cli_source* source) {
  *from = (cli_layout_source){0};
  stow_string_init(&from->text, stow_allocator_default());
  cli_exit code = CLI_YES;
  from->graph = cli_source_find(source, graph_or_plan);
  if (from->graph == NULL) {
    code = open_plan(from, graph_or_plan, source);
  }
  return code == CLI_YES ? cli_binds_apply(binds, source->label, from->graph) : code;
}

void cli_layout_source_close(cli_layout_source* from) { stow_string_free(&from->text); }

static cli_exit make_plan(const cli_layout_source* from, const stow_plan_options* options,
                          const cli_source* source, const stow_effects* effects,
                          stow_plan** out_plan) {
  stow_diag diag = cli_diag();
  if (from->plan_label != NULL) {
    stow_status status = stow_plan_read(from->text.data, from->text.size, NULL, from->graph,
                                        stow_allocator_default(), &diag, out_plan);
    return status == STOW_OK ? CLI_YES
                             : cli_fail_saved(from->plan_label, from->graph, status, &diag);
  }
  stow_status status =
      stow_plan_make(from->graph, effects, options, stow_allocator_default(), &diag, out_plan);
  return status == STOW_OK ? CLI_YES : cli_fail_graph(source->label, from->graph, status, &diag);
}

static cli_exit take_layout(const cli_layout_source* from, const cli_source* source,
                            const stow_effects* effects, const stow_plan* plan,
                            stow_weight_layout** out_layout) {
  stow_diag diag = cli_diag();
  stow_allocator allocator = stow_allocator_default();
  stow_status status = stow_plan_check(plan, from->graph, effects, allocator, &diag, NULL);
  if (status == STOW_OK) {
    status = stow_weight_layout_create(from->graph, plan, allocator, &diag, out_layout);
  }
  if (status == STOW_OK) {
    return CLI_YES;
  }
  return from->plan_label != NULL
             ? cli_fail_proof(from->plan_label, from->graph, false, status, &diag)
             : cli_fail(cli_exit_of(status), "%s: %s", source->label, cli_diag_text(status, &diag));
}

cli_exit cli_layout_make(const cli_layout_source* from, const stow_plan_options* options,
                         const cli_io_policies* io, const cli_source* source,
                         stow_weight_layout** out_layout) {
  stow_effects* effects = NULL;
  stow_plan* plan = NULL;
  *out_layout = NULL;
  cli_exit code = cli_effects_create_forward(io, source->label, from->graph, &effects);
  code = code == CLI_YES ? make_plan(from, options, source, effects, &plan) : code;
  code = code == CLI_YES ? take_layout(from, source, effects, plan, out_layout) : code;
  stow_plan_destroy(plan);
  stow_effects_destroy(effects);
  return code;
}
