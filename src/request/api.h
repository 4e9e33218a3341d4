// Requests: what people ask of a plan, for everything that takes such requests. Choices that depend
// on what is planned have their defaults here, so that the command and the Python package make the
// same plans; names, patterns and words become values and options. Nothing here allocates.
#ifndef STOWAGE_SRC_REQUEST_API_H_
#define STOWAGE_SRC_REQUEST_API_H_

#include <stowage/effects.h>
#include <stowage/exec.h>
#include <stowage/graph.h>
#include <stowage/plan.h>
#include <stowage/rewrite.h>

#include "base/shared.h"

// ---------------------------------------------------------------------------------------------
// How graphs are rewritten

typedef struct stowi_request_rewrite {
  bool is_given;
  bool is_none;  // if it is
  uint32_t off;  // rules, as stow_rewrite_bit; if it is
  bool has_limit;
  double limit;          // stow_rewrite_options.fold_limit
  bool streams;          // what computes images may stream
  uint32_t stream_rows;  // stow_rewrite_options.stream_rows
} stowi_request_rewrite;

// Reads `none`, `exact` or `near`, or a list that begins with one of these two or neither, of rules
// to leave out: `exact,-fold`. STOW_ERR_SYNTAX names the word.
STOWI_SHARED stow_status stowi_request_read_rewrite(const char* words, stow_diag* diag,
                                                    stowi_request_rewrite* rewrite);
// Reads the limit of folding, with at most three decimals. STOW_ERR_SYNTAX.
STOWI_SHARED stow_status stowi_request_read_fold_limit(const char* number, stow_diag* diag,
                                                       stowi_request_rewrite* rewrite);
// Reads `off`, `auto` or a number: whether rows stream, and how many at a time. STOW_ERR_SYNTAX.
STOWI_SHARED stow_status stowi_request_read_stream(const char* word, stow_diag* diag,
                                                   stowi_request_rewrite* rewrite);

// ---------------------------------------------------------------------------------------------
// Choices

// Where params and constants are: in the arena, or in the file. Of a model they stay in the file
// unless something is said.
typedef enum stowi_request_weights {
  STOWI_REQUEST_WEIGHTS_DEFAULT,
  STOWI_REQUEST_WEIGHTS_ARENA,
  STOWI_REQUEST_WEIGHTS_FILE
} stowi_request_weights;

// Whose scratch is planned: that of the library's kernels (of the fastest, or of those that fit),
// or none. Models have what fits unless something is said, graphs in text none: they mostly
// describe another executor.
typedef enum stowi_request_kernels {
  STOWI_REQUEST_KERNELS_DEFAULT,
  STOWI_REQUEST_KERNELS_NONE,
  STOWI_REQUEST_KERNELS_STOWAGE,
  STOWI_REQUEST_KERNELS_FASTEST
} stowi_request_kernels;

// All zero: nothing was said.
typedef struct stowi_request_choices {
  stow_preset preset;
  stowi_request_weights weights;
  stowi_request_kernels kernels;
  bool has_pack;  // else it is what suits the weights
  stow_pack pack;
  bool has_layout;  // params have the offsets of another plan
  stowi_request_rewrite rewrite;
} stowi_request_choices;

// Whether the preset follows another planner, whose plans it reproduces.
STOWI_SHARED bool stowi_request_follows_another(const stowi_request_choices* choices);
// Whether the scratch of the library's kernels is planned. |is_model|: the graph was imported.
STOWI_SHARED bool stowi_request_has_kernels(const stowi_request_choices* choices, bool is_model);
// Whether the graph is rewritten. Unless something is said, models are, for the library's kernels:
// another executor runs the model as it is.
STOWI_SHARED bool stowi_request_rewrites(const stowi_request_choices* choices, bool is_model);
// How. If rows stream, they may in a graph that is not rewritten otherwise.
STOWI_SHARED stow_rewrite_options
stowi_request_rewrite_options(const stowi_request_choices* choices, bool is_model);
// stow_plan_options.least_row: values may be pitched for the library's kernels, if those run the
// plan, unless the preset follows another planner. |is_dense|: somebody asked for dense values.
STOWI_SHARED uint64_t stowi_request_least_row(const stowi_request_choices* choices,
                                              bool has_kernels, bool is_dense);
// Whether another order is searched for if nothing is said about it. What is exported from
// elsewhere stands in whatever order; who writes a graph by hand means it so.
STOWI_SHARED bool stowi_request_orders(const stowi_request_choices* choices, bool is_model);
// Whether params and constants get no slots. |in_file|: a file or the graph has their data anyway.
STOWI_SHARED bool stowi_request_leaves_weights(const stowi_request_choices* choices, bool in_file);
// How the library's kernels are prepared, with one thread. What is to be in the arena is not packed
// beside it.
STOWI_SHARED stow_prepare_options stowi_request_prepare(const stowi_request_choices* choices,
                                                        bool in_file);

// ---------------------------------------------------------------------------------------------
// Policies and aliases, by name

// The value called |name|; `%7` is value 7, if no value is called so. STOW_VALUE_NONE: no such
// value.
STOWI_SHARED stow_value stowi_request_find_value(const stow_graph* graph, stow_str name);
// Whether |value|, which may be STOW_VALUE_NONE, can have a policy: a boundary value or an output.
STOWI_SHARED bool stowi_request_has_policy(const stow_graph* graph, stow_value value);
// Sets the policy of the value called |name|. |effects| are of |graph|. STOW_ERR_NOT_FOUND if there
// is none, STOW_ERR_INVALID_ARGUMENT if it cannot have a policy.
STOWI_SHARED stow_status stowi_request_set_policy(stow_effects* effects, const stow_graph* graph,
                                                  stow_str name, stow_io_policy policy,
                                                  stow_diag* diag);

// Outputs that take the bytes of inputs. Each side may have one `*`, which stands for the same text
// in both.
typedef struct stowi_request_alias {
  stow_str output;
  stow_str input;
} stowi_request_alias;

// STOW_ERR_SYNTAX if only one side has a `*`, or one has several.
STOWI_SHARED stow_status stowi_request_check_pattern(const stowi_request_alias* alias,
                                                     stow_diag* diag);
// The next pair from output |*at| on, which becomes the one behind it. False if there is none left,
// or its input is unknown: then |status|, which begins with STOW_OK, says so.
STOWI_SHARED bool stowi_request_next_pair(const stow_graph* graph, const stowi_request_alias* alias,
                                          size_t* at, stow_value* out_output, stow_value* out_input,
                                          stow_diag* diag, stow_status* status);
// Gives every output that |alias| names the bytes of its input; |out_count| is their number.
// STOW_ERR_NOT_FOUND if an input is unknown; else as stow_effects_alias.
STOWI_SHARED stow_status stowi_request_set_alias(stow_effects* effects, const stow_graph* graph,
                                                 const stowi_request_alias* alias, stow_diag* diag,
                                                 size_t* out_count);
// STOW_ERR_CONFLICT if |plan| has such an output elsewhere.
STOWI_SHARED stow_status stowi_request_check_alias(const stow_plan* plan, const stow_graph* graph,
                                                   const stowi_request_alias* alias,
                                                   stow_diag* diag);

#endif  // STOWAGE_SRC_REQUEST_API_H_
