// ONNX models on the command line: the options that concern them, how they become graphs, and what
// stands in the way.
#ifndef STOWAGE_TOOLS_MODEL_H_
#define STOWAGE_TOOLS_MODEL_H_

#include <stowage/onnx.h>

#include "arguments/list.h"
#include "arguments/options.h"
#include "files/file.h"
#include "files/output.h"
#include "graphs/bind.h"
#include "graphs/known.h"
#include "terminal/fail.h"

// Options that every command that reads graphs has. Ids are above those of the commands.
enum { CLI_OPT_BIND = 1000, CLI_OPT_BIND_REST, CLI_OPT_VALUE, CLI_OPT_SHAPE };

#define CLI_BIND_OPTION                                                                            \
  {                                                                                                \
    CLI_OPT_BIND, 0, "bind", "NAME=N,...",                                                         \
        "set symbolic dimensions, each once; may be repeated;\nNAME=MIN..MAX or MIN..MAX/STEP is " \
        "a range"                                                                                  \
  }
#define CLI_MODEL_OPTIONS                                                                  \
  {CLI_OPT_BIND_REST, 0, "bind-rest", "N",                                                 \
   "set every symbol of a model's inputs that has no\nvalue to N"},                        \
      {CLI_OPT_VALUE, 0, "value", "NAME=VALUE",                                            \
       "the data of a model's input that shapes depend on:\n1,2,3 or a .npy or .pb file"}, \
  {                                                                                        \
    CLI_OPT_SHAPE, 0, "shape", "NAME=DIMS",                                                \
        "the largest shape, 1x100x6, of a tensor of a model\nwhose shape depends on data"  \
  }

// `NAME=TEXT`
typedef struct cli_given {
  stow_str name;
  const char* text;
  bool used;  // some model has the name
} cli_given;

// Reads one, of an option whose value is NAME=|what|; no name twice. Complains.
cli_exit cli_given_add(cli_list* list, const char* option, const char* what, const char* text);

typedef struct cli_model_request {
  bool several;  // for several files: a symbol or input may be another one's
  cli_binds binds;
  bool has_rest;
  int64_t rest;
  cli_list values;   // of cli_given
  cli_list shapes;   // of cli_given
  cli_known* known;  // shapes of inputs; NULL: none
  bool runs;         // missing weights are an error later, and no note
} cli_model_request;

// Whether |option| is one of the above; it is read then, with |*out_code| for an answer.
bool cli_model_request_take(cli_model_request* request, const cli_option* option, const char* value,
                            cli_exit* out_code);
void cli_model_request_free(cli_model_request* request);
// Complains where an option for models was given.
cli_exit cli_model_request_refuse(const cli_model_request* request, const char* label);
// Complains, after several files were read, about symbols and inputs that none of them has.
cli_exit cli_model_request_require_used(const cli_model_request* request);

// A file that holds a model or text, told apart by its name, else by its first byte. A model in a
// regular file is left to the library, which maps it.
typedef struct cli_input {
  const char* path;
  bool is_model;
  bool is_csv;   // by its first line
  bool is_read;  // |bytes| is all of it
  cli_file file;
  stow_string bytes;
} cli_input;

// Complains, also about what is neither. End with cli_input_close, whatever it returned.
cli_exit cli_input_open(cli_input* input, const char* path);
// Sees to it that |bytes| holds the whole text. Complains.
cli_exit cli_input_read(cli_input* input);
// Complains of a text that could not be parsed as graphs.
cli_exit cli_input_fail(const cli_input* input, stow_status status, const stow_diag* diag);
// Points to `solve`.
cli_exit cli_input_fail_csv(const cli_input* input);
void cli_input_close(cli_input* input);

typedef struct cli_model {
  stow_string bytes;  // of what is read once
  stow_model* model;
  stow_import* import;
  const cli_model_request* request;  // of the import
} cli_model;

// Opens the model alone, taking over what was read of it. Complains. End with cli_model_close,
// whatever it returned.
cli_exit cli_model_open(cli_model* model, cli_input* input);
// Imports it. |request| must outlive the model. |keep_all|: nothing is left out. Complains about
// what is wrong, not about issues.
cli_exit cli_model_import(cli_model* model, const cli_model_request* request, const char* label,
                          bool keep_all);
// The same for another |request|, without a word; NULL where it fails.
stow_import* cli_model_try(const cli_model* model, const cli_model_request* request);
void cli_model_close(cli_model* model);

// The graph, or a complaint that lists all that stands in the way.
cli_exit cli_model_graph(const cli_model* model, const char* label, stow_graph** out_graph);
// Complains where dims are not numbers yet: symbols without a value, tensors that need a shape.
cli_exit cli_model_require_bound(const cli_model* model, const char* label,
                                 const stow_graph* graph);

// What a model says about itself, and the name of an input or output.
stow_model_info cli_model_info(const cli_model* model);
stow_str cli_model_port(const cli_model* model, stow_model_side side, size_t index);

// The inputs whose values decide conditions, each once (stow_str), of very many the first. False
// without memory; freed also then.
bool cli_model_deciders(const cli_model* model, cli_list* out_names);
size_t cli_model_count_issues(const cli_model* model, stow_import_issue_kind kind);

// A group of issues: one kind, op and reason.
typedef struct cli_issue_group {
  stow_import_issue first;
  size_t count;
} cli_issue_group;
// Groups of |kind|, the most frequent first; of cli_issue_group. False where memory is out.
bool cli_model_group_issues(const cli_model* model, stow_import_issue_kind kind,
                            cli_list* out_groups);

// The first dim of an input that is called |name|, or has no name and is called so: INPUT.AXIS.
// |*out_input| is the number of inputs where there is none. STOW_ERR_OUT_OF_MEMORY where that
// cannot be told.
stow_status cli_model_find_symbol(const cli_model* model, stow_str name, size_t* out_input,
                                  uint32_t* out_axis);
bool cli_model_has_input(const cli_model* model, stow_str name);

// The next dim of a declared type (stow_model_print_type) at |*cursor|, which stands behind
// its `[` at first: `batch`, `3`, `?`, or `"a + b"` without its quotes.
stow_str cli_next_declared_dim(const char** cursor);

// The lines of summaries that are about the model.
void cli_model_print_facts(const cli_model* model, cli_output* output);
// Which values the symbols of the inputs have in |graph|; nothing where there are none.
void cli_model_print_symbols(const cli_model* model, const stow_graph* graph, cli_output* output);
// Bytes of the params and constants of |graph| that have a slot in |plan|; NULL: of all. The file
// may have more, which the graph does not need.
uint64_t cli_weight_bytes(const stow_graph* graph, const stow_plan* plan);

// Whether its data is computed once, when a run or export begins.
bool cli_is_folded(const stow_graph* graph, stow_value value);
// Bytes of these.
uint64_t cli_folded_bytes(const stow_graph* graph);

#endif  // STOWAGE_TOOLS_MODEL_H_
