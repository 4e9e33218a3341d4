// `--io [NAME=]POLICY` and `--alias OUT=IN`: how boundary values and outputs are kept.
#ifndef STOWAGE_TOOLS_GRAPHS_IO_POLICY_H_
#define STOWAGE_TOOLS_GRAPHS_IO_POLICY_H_

#include <stowage/effects.h>
#include <stowage/plan.h>

#include "arguments/list.h"
#include "terminal/fail.h"

typedef struct cli_io_policies {
  stow_io_policy general;  // STOW_IO_DEFAULT: not given
  cli_list values;         // those given for single values, in order
  cli_list aliases;        // outputs that take an input's bytes
} cli_io_policies;

#define CLI_ALIAS_HELP                                                                       \
  "output OUT takes the bytes of input IN; one * in each\nstands for the same text; may be " \
  "repeated"

// Reads one option's value. Complains.
cli_exit cli_io_policies_add(cli_io_policies* policies, const char* text);
// Reads the value of --alias. Complains.
cli_exit cli_io_policies_alias(cli_io_policies* policies, const char* text);
// Calls |tell| for every name that was given.
void cli_io_policies_each(const cli_io_policies* policies, void (*tell)(void* user, stow_str name),
                          void* user);
void cli_io_policies_free(cli_io_policies* policies);

// Effects of |graph|'s own clauses, the policies of single values, and aliases. A name that only
// |forward| (may be NULL) has is meant for that graph. Complains, with |label| as the file's name.
cli_exit cli_effects_create(const cli_io_policies* policies, const char* label,
                            const stow_graph* graph, const stow_graph* forward,
                            stow_effects** out_effects);
// Adds policies and aliases to |effects| that are there already. Complains.
cli_exit cli_effects_apply(const cli_io_policies* policies, const stow_graph* graph,
                           const stow_graph* forward, stow_effects* effects);
// The same for the forward graph of a pair: takes the policies whose name is that of one of its
// boundary values or outputs. Ids belong to the other graph.
cli_exit cli_effects_create_forward(const cli_io_policies* policies, const char* label,
                                    const stow_graph* forward, stow_effects** out_effects);

// The same for one graph of several: takes the policies and aliases whose names it has. Values go
// by name: an id would mean another one in every graph.
cli_exit cli_effects_create_member(const cli_io_policies* policies, const char* label,
                                   const stow_graph* graph, stow_effects** out_effects);
// Complains where a name is that of no member so far.
cli_exit cli_io_policies_require_used(const cli_io_policies* policies);

// Complains where an alias did not come to pass in |plan|.
cli_exit cli_aliases_check(const cli_io_policies* policies, const char* label,
                           const stow_graph* graph, const stow_plan* plan);

// Complains where a value that is to be external has a slot in |plan|, which was saved at |label|.
cli_exit cli_io_policies_check(const cli_io_policies* policies, const char* label,
                               const stow_graph* graph, const stow_plan* plan);

// A saved plan at |label| that was refused for |graph|: the library's words, with a hint where a
// policy of the value concerned may be the reason. |by_id| says whether `%7` names a value of
// |graph| on the command line.
cli_exit cli_fail_proof(const char* label, const stow_graph* graph, bool by_id, stow_status status,
                        const stow_diag* diag);

#endif  // STOWAGE_TOOLS_GRAPHS_IO_POLICY_H_
