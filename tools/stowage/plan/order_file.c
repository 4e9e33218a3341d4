// Orders out of files. A list is split at commas and line ends; `#` at the beginning of a word
// begins a comment. A name that is digits alone, or has a comma or blanks at its ends, is written
// in quotes. Linear in the file, the graph's nodes, and the lookup of names.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments/number.h"
#include "files/file.h"
#include "graphs/label.h"
#include "plan/job.h"
#include "plan/layout.h"
#include "terminal/text.h"

typedef struct reader {
  const char* label;
  const stow_graph* graph;
  const char* at;
  const char* end;
  uint32_t line;
  stow_string name;   // of the word that is read, without quotes
  stow_node* order;   // room for every node
  uint32_t* line_of;  // by node; 0: it has not been listed
  uint32_t count;
} reader;

// ---------------------------------------------------------------------------------------------
// Words

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Moves to the next word: over blanks, commas, line ends and comments. False at the end.
static bool find_word(reader* r) {
  while (r->at < r->end) {
    if (*r->at == '#') {
      const char* newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
      r->at = newline == NULL ? r->end : newline;
    } else if (*r->at == '\n' || *r->at == ',' || is_blank(*r->at)) {
      r->line += *r->at == '\n';
      ++r->at;
    } else {
      return true;
    }
  }
  return false;
}

// `"…"` with its quotes; without an end it takes the rest of the line.
static stow_str take_quoted(reader* r) {
  const char* begin = r->at++;
  while (r->at < r->end && *r->at != '"' && *r->at != '\n') {
    r->at += *r->at == '\\' && r->end - r->at > 1 && r->at[1] != '\n' ? 2 : 1;
  }
  r->at += r->at < r->end && *r->at == '"';
  return (stow_str){begin, (size_t)(r->at - begin)};
}

// Up to a comma, the line's end, or a comment after a blank; blanks at the end do not count.
static stow_str take_bare(reader* r) {
  const char* begin = r->at;
  while (r->at < r->end && *r->at != ',' && *r->at != '\n' &&
         !(*r->at == '#' && is_blank(r->at[-1]))) {
    ++r->at;
  }
  const char* end = r->at;
  while (end > begin && is_blank(end[-1])) {
    --end;
  }
  return (stow_str){begin, (size_t)(end - begin)};
}

// ---------------------------------------------------------------------------------------------
// Nodes

static stow_node maker_of(const stow_graph* graph, stow_value value) {
  return value < stow_graph_value_count(graph) ? stow_graph_producer(graph, value) : STOW_NODE_NONE;
}

// The node of an unquoted word: `12`, `%7`, `%name`, `name`.
static stow_node find_bare(const stow_graph* graph, stow_str word) {
  uint32_t id;
  if (cli_parse_id(word, &id)) {
    return id < stow_graph_node_count(graph) ? id : STOW_NODE_NONE;
  }
  stow_str rest = word.data[0] == '%' ? (stow_str){word.data + 1, word.size - 1} : word;
  if (rest.size < word.size && cli_parse_id(rest, &id)) {
    return maker_of(graph, id);
  }
  stow_value value = stow_graph_find(graph, word);
  return maker_of(graph, value != STOW_VALUE_NONE ? value : stow_graph_find(graph, rest));
}

static cli_exit find_node(reader* r, stow_node* out_node) {
  bool quoted = *r->at == '"';
  stow_str word = quoted ? take_quoted(r) : take_bare(r);
  if (quoted) {
    r->name.size = 0;
    stow_status status = cli_unquote(word, &r->name);
    if (status == STOW_ERR_OUT_OF_MEMORY) {
      return cli_fail_memory();
    }
    if (status != STOW_OK) {
      return cli_fail(CLI_BAD_INPUT, "%s:%" PRIu32 ": %.*s is not a quoted name", r->label, r->line,
                      (int)word.size, word.data);
    }
    stow_str name = {r->name.data == NULL ? "" : r->name.data, r->name.size};
    *out_node = maker_of(r->graph, stow_graph_find(r->graph, name));
  } else {
    *out_node = find_bare(r->graph, word);
  }
  if (*out_node != STOW_NODE_NONE) {
    return CLI_YES;
  }
  stow_str graph = stow_graph_name(r->graph);
  return cli_fail(CLI_BAD_INPUT, "%s:%" PRIu32 ": graph @%.*s: unknown node or value '%.*s'",
                  r->label, r->line, (int)graph.size, graph.data, (int)word.size, word.data);
}

static cli_exit read_nodes(reader* r) {
  while (find_word(r)) {
    stow_node node;
    CLI_TRY(find_node(r, &node));
    if (r->line_of[node] != 0) {
      char text[CLI_LABEL_SIZE];
      cli_node_label(r->graph, node, text);
      return cli_fail(CLI_BAD_INPUT, "%s:%" PRIu32 ": %s is already in line %" PRIu32, r->label,
                      r->line, text, r->line_of[node]);
    }
    r->line_of[node] = r->line;
    r->order[r->count++] = node;
  }
  return CLI_YES;
}

// ---------------------------------------------------------------------------------------------
// The order

static bool comes_first(const stow_graph* graph, stow_node node) {
  return stow_graph_node_region(graph, node) == STOW_REGION_BODY &&
         stow_graph_result_count(graph, node) > 0 &&
         stow_graph_is_boundary(graph, stow_graph_first_result(graph, node));
}

// Puts boundary nodes that are not listed before the others. Complains where more is missing.
static cli_exit complete(reader* r) {
  uint32_t node_count = stow_graph_node_count(r->graph);
  uint32_t missing = 0;
  uint32_t added = 0;
  stow_node first = STOW_NODE_NONE;
  for (stow_node node = 0; node < node_count; ++node) {
    if (r->line_of[node] == 0 && comes_first(r->graph, node)) {
      ++added;
    } else if (r->line_of[node] == 0) {
      first = missing++ == 0 ? node : first;
    }
  }
  if (missing > 0) {
    char text[CLI_LABEL_SIZE];
    cli_node_label(r->graph, first, text);
    return cli_fail(CLI_BAD_INPUT, "%s: %" PRIu32 " node%s missing, the first is %s", r->label,
                    missing, missing == 1 ? " is" : "s are", text);
  }
  memmove(r->order + added, r->order, r->count * sizeof *r->order);
  r->count += added;
  stow_node* out = r->order;
  for (stow_node node = 0; node < node_count; ++node) {
    if (r->line_of[node] == 0) {
      *out++ = node;
    }
  }
  return CLI_YES;
}

static cli_exit make_schedule(const reader* r, stow_schedule** out_schedule) {
  stow_diag diag = cli_diag();
  stow_status status = stow_schedule_create_order(r->graph, r->order, r->count,
                                                  stow_allocator_default(), &diag, out_schedule);
  if (status == STOW_OK) {
    return CLI_YES;
  }
  cli_exit code = status == STOW_ERR_CONFLICT ? CLI_BAD_INPUT : cli_exit_of(status);
  uint32_t line =
      diag.node < stow_graph_node_count(r->graph) && r->line_of != NULL ? r->line_of[diag.node] : 0;
  return line == 0
             ? cli_fail(code, "%s: %s", r->label, cli_diag_text(status, &diag))
             : cli_fail(code, "%s:%" PRIu32 ": %s", r->label, line, cli_diag_text(status, &diag));
}

static cli_exit read_list(const stow_string* text, const char* label, const stow_graph* graph,
                          stow_schedule** out_schedule) {
  size_t room = (size_t)stow_graph_node_count(graph) + 1;
  reader r = {.label = label,
              .graph = graph,
              .at = text->data,
              .end = text->data + text->size,
              .line = 1,
              .order = malloc(room * sizeof *r.order),
              .line_of = calloc(room, sizeof *r.line_of)};
  stow_string_init(&r.name, stow_allocator_default());
  cli_exit code = r.order == NULL || r.line_of == NULL ? cli_fail_memory() : read_nodes(&r);
  code = code == CLI_YES ? complete(&r) : code;
  code = code == CLI_YES ? make_schedule(&r, out_schedule) : code;
  stow_string_free(&r.name);
  free(r.order);
  free(r.line_of);
  return code;
}

// The fingerprint says whether the plan is for this graph; its order is proven like any other.
static cli_exit read_plan(const stow_string* text, const char* label, const stow_graph* graph,
                          stow_schedule** out_schedule) {
  stow_plan* plan = NULL;
  stow_diag diag = cli_diag();
  stow_status status =
      stow_plan_read(text->data, text->size, NULL, graph, stow_allocator_default(), &diag, &plan);
  if (status != STOW_OK) {
    return cli_fail_saved(label, graph, status, &diag);
  }
  status = stow_schedule_create_order(graph, stow_plan_order(plan), stow_plan_step_count(plan),
                                      stow_allocator_default(), &diag, out_schedule);
  stow_plan_destroy(plan);
  return status == STOW_OK ? CLI_YES
                           : cli_fail(CLI_BAD_INPUT, "%s: %s", label, cli_diag_text(status, &diag));
}

cli_exit cli_order_read(const char* path, const stow_graph* graph, stow_schedule** out_schedule) {
  const char* label = cli_file_label(path);
  stow_string text = cli_string();
  if (!cli_is_stdin(path) && access(path, F_OK) != 0) {
    return cli_fail(CLI_BROKEN, "--order: '%s' is not given, auto or a file: %s", path,
                    strerror(errno));
  }
  cli_exit code = cli_text_read(path, &text);
  if (code == CLI_YES && text.size == 0) {
    code = cli_fail(CLI_BAD_INPUT, "%s: the file is empty; expected a list of nodes", label);
  } else if (code == CLI_YES) {
    code = cli_plan_text_is_plan(&text) ? read_plan(&text, label, graph, out_schedule)
                                        : read_list(&text, label, graph, out_schedule);
  }
  stow_string_free(&text);
  return code;
}
