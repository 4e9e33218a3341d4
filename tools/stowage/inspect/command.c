// `stowage inspect`: what a model is made of, before anything is planned. It never needs symbols to
// be bound, and tells what it can also where the model cannot be imported.
#include <inttypes.h>
#include <string.h>

#include "arguments/options.h"
#include "files/file.h"
#include "files/output.h"
#include "graphs/model.h"
#include "graphs/needs.h"
#include "report/api.h"
#include "terminal/lines.h"

enum { OPT_ALL, OPT_FORMAT, OPT_OUTPUT };

static const cli_option inspect_options[] = {
    {OPT_FORMAT, 0, "format", "NAME", "text (the default) or json"},
    {OPT_ALL, 0, "all", NULL, "show whole lists, however long"},
    {OPT_OUTPUT, 'o', "output", "OUT", "write to OUT, which is replaced only on success"},
    CLI_BIND_OPTION,
    CLI_MODEL_OPTIONS,
};

typedef struct job {
  const char* label;
  const char* output;
  bool has_format;
  bool json;
  bool all;
  cli_model_request request;
  cli_model model;
  const stow_graph* graph;  // NULL: it could not be imported
  cli_needs needs;
} job;

static const char* format_at(size_t index, const void* user) {
  (void)user;
  return index == 0 ? "text" : "json";
}

static cli_exit handle(void* user, const cli_option* option, const char* value) {
  job* j = user;
  cli_exit code;
  if (cli_model_request_take(&j->request, option, value, &code)) {
    return code;
  }
  if (option->id == OPT_ALL) {
    j->all = true;
  } else if (option->id == OPT_OUTPUT) {
    j->output = value;
  } else {
    j->has_format = true;
    j->json = strcmp(value, "json") == 0;
    return j->json || strcmp(value, "text") == 0
               ? CLI_YES
               : cli_fail_word("format", value, format_at, 2, NULL);
  }
  return CLI_YES;
}

// ---------------------------------------------------------------------------------------------
// What both formats tell

// The declared type of an input or output, as text.
static void declared_text(const job* j, cli_output* output, stow_model_side side, size_t index,
                          stow_string* out) {
  stow_string_init(out, stow_allocator_default());
  if (stow_model_print_type(j->model.model, side, index, stow_string_writer(out)) != STOW_OK) {
    cli_output_lack_memory(output);
  }
}

// The type that was inferred for the value |name|, as text; empty where there is none.
static void inferred_text(const job* j, cli_output* output, stow_str name, stow_string* out) {
  stow_string_init(out, stow_allocator_default());
  stow_value value = j->graph == NULL ? STOW_VALUE_NONE : stow_graph_find(j->graph, name);
  if (value != STOW_VALUE_NONE &&
      stow_type_print(stow_graph_dims(j->graph), stow_graph_type(j->graph, value),
                      stow_string_writer(out)) != STOW_OK) {
    cli_output_lack_memory(output);
  }
}

static bool is_used(const stow_graph* graph, size_t symbol) {
  for (stow_value value = 0; value < stow_graph_value_count(graph); ++value) {
    const stow_type* type = stow_graph_type(graph, value);
    for (uint32_t i = 0; i < type->rank; ++i) {
      if (!stow_dim_is_const(type->dims[i]) &&
          stow_dim_uses(stow_graph_dims(graph), type->dims[i], symbol)) {
        return true;
      }
    }
  }
  return false;
}

static bool is_of_input(const job* j, stow_str symbol) {
  size_t count;
  const stow_str* symbols = stow_import_symbols(j->model.import, &count);
  for (size_t i = 0; i < count; ++i) {
    if (stow_str_equal(symbols[i], symbol)) {
      return true;
    }
  }
  return false;
}

// Symbols without a value: those of the inputs, which are known also where there is no graph, then
// those of dims that depend on data. False where memory is out.
static bool find_symbols(const job* j, cli_list* out_names) {
  *out_names = (cli_list){0};
  bool memory = true;
  size_t count = 0;
  const stow_str* symbols =
      j->model.import == NULL ? NULL : stow_import_symbols(j->model.import, &count);
  for (size_t i = 0; i < count && memory; ++i) {
    memory = cli_list_add(out_names, &symbols[i], sizeof symbols[i]);
  }
  const stow_dims* dims = j->graph == NULL ? NULL : stow_graph_dims(j->graph);
  for (size_t i = 0; dims != NULL && i < stow_dims_symbol_count(dims) && memory; ++i) {
    stow_str name = stow_dims_symbol_name(dims, i);
    if (is_used(j->graph, i) && !is_of_input(j, name)) {
      memory = cli_list_add(out_names, &name, sizeof name);
    }
  }
  return memory;
}

// ---------------------------------------------------------------------------------------------
// Text

static void print_heading(cli_output* output, const char* what, size_t count) {
  cli_print(output, "\n%s%s%s (%zu)\n", cli_paint_start(output, CLI_BOLD), what,
            cli_paint_stop(output), count);
}

#define SHORT_LIST 16

static size_t shown_of(const job* j, size_t count) {
  return j->all || count <= SHORT_LIST ? count : SHORT_LIST;
}

static void print_rest(cli_output* output, size_t count, size_t shown) {
  if (count > shown) {
    cli_print(output, "  \xE2\x80\xA6 and %zu more (--all)\n", count - shown);
  }
}

// An input or output as text.
typedef struct boundary {
  char name[512];
  char declared[1024];
  char inferred[1024];  // empty where it says no more than |declared|
} boundary;

// How a type is written in the file and in a graph differs in marks alone: `"a + b"`, `?(a + b)`.
static bool is_mark(char c) { return c == '?' || c == '"' || c == '(' || c == ')'; }

static bool is_same_type(const char* a, const char* b) {
  for (;; ++a, ++b) {
    while (is_mark(*a)) {
      ++a;
    }
    while (is_mark(*b)) {
      ++b;
    }
    if (*a != *b || *a == '\0') {
      return *a == *b;
    }
  }
}

// Writes |declared|, the type of input |name|, with the names that --bind takes for unnamed dims.
static void name_dims(stow_str name, const stow_string* declared, cli_output* output,
                      stow_string* out) {
  uint32_t axis = 0;
  bool is_quoted = false;
  bool memory = true;
  stow_string_init(out, stow_allocator_default());
  for (size_t i = 0; i < declared->size && memory; ++i) {
    char c = declared->data[i];
    bool is_first = i > 0 && (declared->data[i - 1] == '[' || declared->data[i - 1] == ' ');
    is_quoted = is_quoted != (c == '"');
    axis += !is_quoted && c == ',';
    if (c == '?' && is_first && !is_quoted) {
      char number[STOWI_REPORT_NUMBER];
      snprintf(number, sizeof number, ".%" PRIu32, axis);
      memory = stow_string_append(out, name.data, name.size) == STOW_OK &&
               stow_string_append(out, number, strlen(number)) == STOW_OK;
    } else {
      memory = stow_string_append(out, &c, 1) == STOW_OK;
    }
  }
  if (!memory) {
    cli_output_lack_memory(output);
  }
}

typedef struct boundary_list {
  const char* what;
  stow_model_side side;
  size_t count;
} boundary_list;

static void describe_boundary(const job* j, cli_output* output, const boundary_list* list,
                              size_t index, boundary* out) {
  stow_string declared;
  stow_string inferred;
  stow_str name = cli_model_port(&j->model, list->side, index);
  declared_text(j, output, list->side, index, &declared);
  inferred_text(j, output, name, &inferred);
  if (list->side == STOW_MODEL_INPUTS) {
    stow_string named;
    name_dims(name, &declared, output, &named);
    stow_string_free(&declared);
    declared = named;
  }
  stowi_report_escape(name, out->name, sizeof out->name - 2);
  stowi_report_escape((stow_str){declared.data, declared.size}, out->declared,
                      sizeof out->declared - 2);
  stowi_report_escape((stow_str){inferred.data, inferred.size}, out->inferred,
                      sizeof out->inferred - 2);
  if (is_same_type(out->declared, out->inferred)) {
    out->inferred[0] = '\0';
  }
  stow_string_free(&declared);
  stow_string_free(&inferred);
}

// How many from |first| on have the same type: caches come in dozens.
static size_t count_alike(const job* j, cli_output* output, const boundary_list* list, size_t first,
                          const boundary* like) {
  size_t end = first + 1;
  while (end < list->count && !j->all) {
    boundary next;
    describe_boundary(j, output, list, end, &next);
    if (strcmp(next.declared, like->declared) != 0 || strcmp(next.inferred, like->inferred) != 0) {
      break;
    }
    ++end;
  }
  return end - first;
}

static void cut_line(const job* j, const cli_output* output, char* text, size_t used) {
  if (!j->all && output->width > used) {
    stowi_report_cut(text, output->width - used);
  }
}

#define NAME_WIDTH 24
#define TYPE_INDENT 6

// `  name  type`, in two lines where one does not hold it, and what was inferred where that says
// more.
static void print_boundary(const job* j, cli_output* output, boundary* b) {
  size_t name_width = stowi_report_width(b->name);
  size_t used = 2 + (name_width > NAME_WIDTH ? name_width : NAME_WIDTH) + 1;
  if (name_width <= NAME_WIDTH && used + stowi_report_width(b->declared) <= output->width) {
    cli_print(output, "  %s%*s %s\n", b->name, (int)(NAME_WIDTH - name_width), "", b->declared);
  } else {
    cut_line(j, output, b->name, 2);
    cut_line(j, output, b->declared, TYPE_INDENT);
    cli_print(output, "  %s\n%*s%s\n", b->name, TYPE_INDENT, "", b->declared);
  }
  if (b->inferred[0] != '\0') {
    cut_line(j, output, b->inferred, TYPE_INDENT + 2);
    cli_print(output, "%*s\xE2\x86\x92 %s\n", TYPE_INDENT, "", b->inferred);
  }
}

static void print_boundary_list(const job* j, const boundary_list* list, cli_output* output) {
  print_heading(output, list->what, list->count);
  size_t lines = 0;
  size_t i = 0;
  for (size_t alike; i < list->count && (j->all || lines < SHORT_LIST); i += alike, ++lines) {
    boundary b;
    describe_boundary(j, output, list, i, &b);
    alike = count_alike(j, output, list, i, &b);
    if (alike > 2) {
      boundary last;
      describe_boundary(j, output, list, i + alike - 1, &last);
      stowi_report_cut_inside(b.name, 24);
      stowi_report_cut_inside(last.name, 24);
      size_t used = strlen(b.name);
      snprintf(b.name + used, sizeof b.name - used, " \xE2\x80\xA6 %s (%zu alike)", last.name,
               alike);
    } else {
      alike = 1;
    }
    print_boundary(j, output, &b);
  }
  print_rest(output, list->count, i);
}

static void print_boundaries(const job* j, cli_output* output) {
  stow_model_info info = cli_model_info(&j->model);
  boundary_list inputs = {"inputs", STOW_MODEL_INPUTS, info.input_count};
  boundary_list outputs = {"outputs", STOW_MODEL_OUTPUTS, info.output_count};
  print_boundary_list(j, &inputs, output);
  print_boundary_list(j, &outputs, output);
}

// `  name`, each in a line.
static void print_names(const cli_list* list, const char* what, cli_output* output) {
  const stow_str* names = list->items;
  if (list->count > 0) {
    print_heading(output, what, list->count);
  }
  for (size_t i = 0; i < list->count; ++i) {
    char name[512];
    stowi_report_escape(names[i], name, sizeof name);
    cli_print(output, "  %s\n", name);
  }
}

// `  batch                    dim 0 of tokens`
static void print_need(const job* j, const cli_need* need, cli_output* output) {
  char symbol[512];
  char tensor[512];
  char place[600];
  stowi_report_escape(stow_str_of(need->symbol), symbol, sizeof symbol);
  stowi_report_escape(stow_str_of(need->tensor), tensor, sizeof tensor);
  snprintf(place, sizeof place, "%sdim %" PRIu32 " of %s%s", need->is_data ? "largest " : "",
           need->axis, tensor, need->is_data ? ", depends on data" : "");
  size_t width = stowi_report_width(symbol);
  if (width <= NAME_WIDTH) {
    cut_line(j, output, place, 2 + NAME_WIDTH + 1);
    cli_print(output, "  %s%*s %s\n", symbol, (int)(NAME_WIDTH - width), "", place);
  } else {
    cut_line(j, output, symbol, 2);
    cut_line(j, output, place, TYPE_INDENT);
    cli_print(output, "  %s\n%*s%s\n", symbol, TYPE_INDENT, "", place);
  }
}

#define ASK_BINDS "symbols without a value: give --bind NAME=N"

// The fewest that make the model static; where nothing shows which these are, those of inputs, or
// else all.
static void print_symbols(const job* j, cli_output* output) {
  const cli_need* needs = j->needs.list.items;
  if (j->needs.list.count > 0) {
    print_heading(output, ASK_BINDS, j->needs.list.count);
  }
  for (size_t i = 0; i < j->needs.list.count; ++i) {
    print_need(j, &needs[i], output);
  }
  if (j->needs.list.count > 0 || j->needs.is_whole) {
    return;
  }
  cli_list names;
  if (!find_symbols(j, &names)) {
    cli_output_lack_memory(output);
  }
  print_names(&names, ASK_BINDS, output);
  cli_list_free(&names, sizeof(stow_str));
}

static void print_deciders(const job* j, cli_output* output) {
  cli_list names;
  if (!cli_model_deciders(&j->model, &names)) {
    cli_output_lack_memory(output);
  }
  print_names(&names, "inputs that decide conditions: give --value NAME=VALUE", output);
  cli_list_free(&names, sizeof(stow_str));
}

static void print_ops(const job* j, cli_output* output) {
  size_t count = cli_model_info(&j->model).op_kind_count;
  print_heading(output, "ops", count);
  for (size_t i = 0; i < shown_of(j, count); ++i) {
    stow_str domain;
    size_t nodes;
    stow_str op = stow_model_op_kind(j->model.model, i, &domain, &nodes);
    char name[256];
    char where[256];
    stowi_report_escape(op, name, sizeof name);
    stowi_report_escape(domain, where, sizeof where);
    cli_print(output, "  %7zu  %s%s%s\n", nodes, where, where[0] == '\0' ? "" : ".", name);
  }
  print_rest(output, count, shown_of(j, count));
}

// False where there are none of |dtype|.
static bool count_dtype(const job* j, size_t dtype, stow_model_weights* out_weights) {
  stow_dtype only = (stow_dtype)dtype;
  *out_weights = (stow_model_weights){.struct_size = sizeof *out_weights};
  return stow_model_count_weights(j->model.model, &only, NULL, out_weights) == STOW_OK &&
         out_weights->tensors > 0;
}

static void print_weights(const job* j, const stow_model_weights* weights, cli_output* output) {
  print_heading(output, "weights", (size_t)weights->tensors);
  if (weights->tensors > 0) {
    cli_print(output, "  %-10s %8s %14s %15s\n", "dtype", "tensors", "elements", "bytes");
  }
  for (size_t i = 0; i < STOW_DTYPE_COUNT; ++i) {
    stow_model_weights of;
    if (count_dtype(j, i, &of)) {
      char size[STOWI_REPORT_NUMBER];
      stowi_report_size(of.bytes, size);
      cli_print(output, "  %-10s %8" PRIu64 " %14" PRIu64 " %15" PRIu64 " B  %9s\n",
                stow_dtype_name((stow_dtype)i), of.tensors, of.elements, of.bytes, size);
    }
  }
  if (weights->external_bytes > 0) {
    cli_print(output, "  %" PRIu64 " B of them in other files\n", weights->external_bytes);
  }
}

static const struct {
  stow_import_issue_kind kind;
  const char* text;  // NULL: told elsewhere
  const char* json;
} issue_kinds[] = {
    {STOW_IMPORT_UNSUPPORTED, "not supported", "unsupported"},
    {STOW_IMPORT_SKIPPED, "not checked, because of these", "skipped"},
    {STOW_IMPORT_NEEDS_VALUE, "conditions that must be known: the branches differ", "needs_value"},
    {STOW_IMPORT_CONDITION, NULL, "condition"},
    {STOW_IMPORT_NEEDS_SHAPE, "data-dependent shapes", "needs_shape"},
    {STOW_IMPORT_CUSTOM, "unknown ops, with the types that the file declares", "custom"},
    {STOW_IMPORT_BRANCH, "branches taken because the other does not match", "branch"},
    {STOW_IMPORT_NO_DATA, "weights whose file cannot be read", "no_data"},
    {STOW_IMPORT_BOUNDED, "planned at their largest shape", "bounded"},
    {STOW_IMPORT_DECLARED_OTHER, "declared with a different type than inferred", "declared_other"}};

// Shapes are asked for only where symbols do not settle them.
static const char* shapes_heading(const job* j) {
  return j->needs.is_whole     ? "data-dependent shapes, which the symbols above settle"
         : j->needs.inputs > 0 ? "data-dependent shapes while symbols have no value"
                               : "data-dependent shapes: give --shape NAME=DIMS";
}

#define ISSUE_KINDS (sizeof issue_kinds / sizeof issue_kinds[0])

// `  Op tensor: reason`, in two lines where one does not hold it.
static void print_issue(const job* j, const cli_issue_group* group, cli_output* output) {
  const stow_import_issue* issue = &group->first;
  char op[256];
  char name[512];
  char reason[1024];
  char line[1024];
  stowi_report_escape(issue->op, op, sizeof op);
  bool is_node = issue->tensor.size == 0 || issue->kind == STOW_IMPORT_NEEDS_VALUE;
  stowi_report_escape(is_node ? issue->node : issue->tensor, name, sizeof name);
  stowi_report_escape(issue->reason, reason, sizeof reason - 2);
  if (group->count > 1) {
    snprintf(line, sizeof line - 2, "%zu \xC3\x97 %s, first at %s", group->count, op, name);
  } else {
    snprintf(line, sizeof line - 2, "%s%s%s", op, op[0] == '\0' ? "" : " ", name);
  }
  bool fits = 4 + stowi_report_width(line) + stowi_report_width(reason) <= output->width;
  cut_line(j, output, line, 3);
  if (reason[0] == '\0') {
    cli_print(output, "  %s\n", line);
  } else if (fits) {
    cli_print(output, "  %s: %s\n", line, reason);
  } else {
    cut_line(j, output, reason, TYPE_INDENT);
    cli_print(output, "  %s:\n%*s%s\n", line, TYPE_INDENT, "", reason);
  }
}

static void print_issues(const job* j, cli_output* output) {
  for (size_t k = 0; k < ISSUE_KINDS; ++k) {
    cli_list groups;
    size_t count = cli_model_count_issues(&j->model, issue_kinds[k].kind);
    if (count == 0 || issue_kinds[k].text == NULL) {
      continue;
    }
    if (!cli_model_group_issues(&j->model, issue_kinds[k].kind, &groups)) {
      cli_output_lack_memory(output);
    }
    bool is_shape = issue_kinds[k].kind == STOW_IMPORT_NEEDS_SHAPE;
    print_heading(output, is_shape ? shapes_heading(j) : issue_kinds[k].text, count);
    const cli_issue_group* group = groups.items;
    for (size_t i = 0; i < shown_of(j, groups.count); ++i) {
      print_issue(j, &group[i], output);
    }
    print_rest(output, groups.count, shown_of(j, groups.count));
    cli_list_free(&groups, sizeof(cli_issue_group));
  }
}

static void print_text(const job* j, const stow_model_weights* weights, cli_output* output) {
  char name[256];
  char label[512];
  stowi_report_escape(cli_model_info(&j->model).name, name, sizeof name);
  stowi_report_escape(stow_str_of(j->label), label, sizeof label);
  cli_print(output, "%s@%s%s in %s\n", cli_paint_start(output, CLI_BOLD), name,
            cli_paint_stop(output), label);
  cli_model_print_facts(&j->model, output);
  print_boundaries(j, output);
  print_symbols(j, output);
  if (j->model.import != NULL) {
    print_deciders(j, output);
  }
  print_weights(j, weights, output);
  print_ops(j, output);
  if (j->model.import != NULL) {
    print_issues(j, output);
  }
}

// ---------------------------------------------------------------------------------------------
// JSON

static void put_key(cli_output* output, const char* key, stow_str value) {
  cli_print(output, "\"%s\": ", key);
  cli_print_json(output, value);
}

static void put_boundary(const job* j, cli_output* output, stow_model_side side, size_t index) {
  stow_string declared;
  stow_string inferred;
  stow_str name = cli_model_port(&j->model, side, index);
  declared_text(j, output, side, index, &declared);
  cli_print(output, "%s\n    {", index == 0 ? "" : ",");
  put_key(output, "name", name);
  cli_print(output, ", ");
  put_key(output, "declared", (stow_str){declared.data, declared.size});
  inferred_text(j, output, name, &inferred);
  if (inferred.size != 0) {
    cli_print(output, ", ");
    put_key(output, "inferred", (stow_str){inferred.data, inferred.size});
  }
  cli_print(output, "}");
  stow_string_free(&declared);
  stow_string_free(&inferred);
}

// The symbols to bind, and whether they suffice.
static void put_needs(const job* j, cli_output* output) {
  const cli_need* needs = j->needs.list.items;
  cli_print(output, "  \"bind\": [");
  for (size_t i = 0; i < j->needs.list.count; ++i) {
    cli_print(output, "%s\n    {", i == 0 ? "" : ",");
    put_key(output, "symbol", stow_str_of(needs[i].symbol));
    cli_print(output, ", ");
    put_key(output, "tensor", stow_str_of(needs[i].tensor));
    cli_print(output, ", \"axis\": %" PRIu32 ", \"depends_on_data\": %s}", needs[i].axis,
              needs[i].is_data ? "true" : "false");
  }
  cli_print(output, "],\n  \"bind_suffices\": %s,\n", j->needs.is_whole ? "true" : "false");
}

static void put_boundaries(const job* j, cli_output* output) {
  stow_model_info info = cli_model_info(&j->model);
  cli_print(output, "  \"inputs\": [");
  for (size_t i = 0; i < info.input_count; ++i) {
    put_boundary(j, output, STOW_MODEL_INPUTS, i);
  }
  cli_print(output, "],\n  \"outputs\": [");
  for (size_t i = 0; i < info.output_count; ++i) {
    put_boundary(j, output, STOW_MODEL_OUTPUTS, i);
  }
  cli_print(output, "],\n");
  put_needs(j, output);
  cli_print(output, "  \"symbols\": [");
  cli_list names;
  if (!find_symbols(j, &names)) {
    cli_output_lack_memory(output);
  }
  for (size_t i = 0; i < names.count; ++i) {
    cli_print(output, i == 0 ? "" : ", ");
    cli_print_json(output, ((const stow_str*)names.items)[i]);
  }
  cli_list_free(&names, sizeof(stow_str));
  cli_print(output, "],\n");
}

static void put_weights(const job* j, const stow_model_weights* weights, cli_output* output) {
  cli_print(output,
            "  \"weights\": {\"tensors\": %" PRIu64 ", \"elements\": %" PRIu64
            ", \"bytes\": %" PRIu64 ", \"external_bytes\": %" PRIu64 ", \"by_dtype\": {",
            weights->tensors, weights->elements, weights->bytes, weights->external_bytes);
  bool first = true;
  for (size_t i = 0; i < STOW_DTYPE_COUNT; ++i) {
    stow_model_weights of;
    if (count_dtype(j, i, &of)) {
      cli_print(
          output,
          "%s\"%s\": {\"tensors\": %" PRIu64 ", \"elements\": %" PRIu64 ", \"bytes\": %" PRIu64 "}",
          first ? "" : ", ", stow_dtype_name((stow_dtype)i), of.tensors, of.elements, of.bytes);
      first = false;
    }
  }
  cli_print(output, "}},\n");
}

static void put_ops(const job* j, cli_output* output) {
  cli_print(output, "  \"ops\": [");
  for (size_t i = 0; i < cli_model_info(&j->model).op_kind_count; ++i) {
    stow_str domain;
    size_t nodes;
    stow_str op = stow_model_op_kind(j->model.model, i, &domain, &nodes);
    cli_print(output, "%s\n    {", i == 0 ? "" : ",");
    put_key(output, "domain", domain);
    cli_print(output, ", ");
    put_key(output, "op", op);
    cli_print(output, ", \"nodes\": %zu}", nodes);
  }
  cli_print(output, "],\n");
}

static const char* kind_name(stow_import_issue_kind kind) {
  for (size_t k = 0; k < ISSUE_KINDS; ++k) {
    if (issue_kinds[k].kind == kind) {
      return issue_kinds[k].json;
    }
  }
  return "other";
}

static void put_issues(const job* j, cli_output* output) {
  size_t count = j->model.import == NULL ? 0 : stow_import_issue_count(j->model.import);
  cli_print(output, "  \"issues\": [");
  for (size_t i = 0; i < count; ++i) {
    stow_import_issue issue = *stow_import_issue_at(j->model.import, i);
    cli_print(output, "%s\n    {\"kind\": \"%s\", ", i == 0 ? "" : ",", kind_name(issue.kind));
    put_key(output, "domain", issue.domain);
    cli_print(output, ", ");
    put_key(output, "op", issue.op);
    cli_print(output, ", ");
    put_key(output, "node", issue.node);
    cli_print(output, ", ");
    put_key(output, "tensor", issue.tensor);
    cli_print(output, ", ");
    put_key(output, "reason", issue.reason);
    cli_print(output, "}");
  }
  cli_print(output, "],\n  \"imported\": %s\n}\n", j->graph != NULL ? "true" : "false");
}

static void put_opsets(const job* j, cli_output* output) {
  cli_print(output, "  \"opsets\": {");
  for (size_t i = 0; i < cli_model_info(&j->model).opset_count; ++i) {
    int64_t version;
    stow_str domain = stow_model_opset(j->model.model, i, &version);
    cli_print(output, i == 0 ? "" : ", ");
    cli_print_json(output, domain);
    cli_print(output, ": %" PRId64, version);
  }
  cli_print(output, "},\n");
}

static void print_json(const job* j, const stow_model_weights* weights, cli_output* output) {
  stow_model_info info = cli_model_info(&j->model);
  cli_print(output, "{\n  ");
  put_key(output, "file", stow_str_of(j->label));
  cli_print(output, ",\n  ");
  put_key(output, "graph", info.name);
  cli_print(output, ",\n  ");
  put_key(output, "producer", info.producer);
  cli_print(output, ",\n  ");
  put_key(output, "producer_version", info.producer_version);
  cli_print(output, ",\n  \"ir_version\": %" PRId64 ",\n", info.format_version);
  put_opsets(j, output);
  cli_print(output, "  \"nodes\": %zu,\n", info.node_count);
  put_boundaries(j, output);
  put_weights(j, weights, output);
  put_ops(j, output);
  put_issues(j, output);
}

// ---------------------------------------------------------------------------------------------

static cli_exit write_all(const job* j) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_model_weights weights = {.struct_size = sizeof weights};
  stow_status status = stow_model_count_weights(j->model.model, NULL, &diag, &weights);
  if (status != STOW_OK) {
    return cli_fail(cli_exit_of(status), "%s: %s", j->label, cli_diag_text(status, &diag));
  }
  cli_output output;
  cli_exit code = cli_output_open(&output, j->output);
  if (code == CLI_YES && j->json) {
    print_json(j, &weights, &output);
  } else if (code == CLI_YES) {
    print_text(j, &weights, &output);
  }
  cli_exit closed = cli_output_close(&output, code == CLI_YES);
  return code != CLI_YES ? code : closed;
}

static cli_exit run_job(job* j, const char* file) {
  j->label = cli_file_label(file);
  if (j->output != NULL && cli_same_file(file, j->output)) {
    return cli_fail(CLI_USAGE, "--output: '%s' is the input file", j->output);
  }
  static const cli_ending json = {".json", "json"};
  CLI_TRY(j->has_format ? CLI_YES : cli_refuse_endings(j->output, &json, 1));
  cli_input input;
  cli_exit code = cli_input_open(&input, file);
  if (code == CLI_YES && !input.is_model) {
    code = input.is_csv ? cli_input_fail_csv(&input)
                        : cli_fail(CLI_BAD_INPUT,
                                   "%s: not an ONNX model: it is a text; see stowage fmt and plan",
                                   j->label);
  }
  code = code == CLI_YES ? cli_model_open(&j->model, &input) : code;
  cli_input_close(&input);
  cli_exit imported = CLI_YES;
  if (code == CLI_YES) {
    imported = cli_model_import(&j->model, &j->request, j->label, true);
    j->graph = imported == CLI_YES ? stow_import_graph(j->model.import) : NULL;
    if (imported == CLI_YES && !cli_needs_find(&j->model, &j->needs)) {
      imported = cli_fail_memory();
    }
    code = imported == CLI_USAGE ? imported : write_all(j);
  }
  cli_model_close(&j->model);
  return code != CLI_YES ? code : imported;
}

static cli_exit run_inspect(int argc, char** argv) {
  job j = {0};
  cli_arguments arguments;
  cli_exit code = cli_parse(&cli_inspect_command, argc, argv, handle, &j, &arguments);
  if (code == CLI_YES && !arguments.help) {
    code = run_job(&j, arguments.operands[0]);
  }
  cli_needs_free(&j.needs);
  cli_model_request_free(&j.request);
  return code;
}

const cli_command cli_inspect_command = {
    .name = "inspect",
    .summary = "Shows what an ONNX model contains",
    .operand_count = 1,
    .required_operands = 1,
    .operands = {"FILE"},
    .option_count = sizeof inspect_options / sizeof inspect_options[0],
    .options = inspect_options,
    .run = run_inspect,
};
