// Policies of boundary values and outputs. One for all is a planning option; one for a single value
// is an effect, on top of what the graph's own clauses say.
#include "graphs/io_policy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arguments/number.h"
#include "arguments/options.h"
#include "graphs/source.h"
#include "request/api.h"

typedef struct value_policy {
  stow_str name;  // borrowed from the command line
  stow_io_policy policy;
  bool used;  // some graph of a set has the name
} value_policy;

static const struct {
  const char* name;
  stow_io_policy policy;
} known[] = {{"keep", STOW_IO_KEEP}, {"consume", STOW_IO_CONSUME}, {"external", STOW_IO_EXTERNAL}};
#define KNOWN_COUNT (sizeof known / sizeof known[0])

static const char* known_at(size_t index, const void* user) {
  (void)user;
  return known[index].name;
}

static cli_exit read_policy(const char* word, stow_io_policy* out) {
  for (size_t i = 0; i < KNOWN_COUNT; ++i) {
    if (strcmp(word, known[i].name) == 0) {
      *out = known[i].policy;
      return CLI_YES;
    }
  }
  return cli_fail_word("io", word, known_at, KNOWN_COUNT, NULL);
}

cli_exit cli_io_policies_add(cli_io_policies* policies, const char* text) {
  const char* equals = strrchr(text, '=');
  if (equals == NULL) {
    return read_policy(text, &policies->general);
  }
  value_policy item = {.name = {text, (size_t)(equals - text)}};
  CLI_TRY(read_policy(equals + 1, &item.policy));
  return cli_list_add(&policies->values, &item, sizeof item) ? CLI_YES : cli_fail_memory();
}

// `OUT=IN`
typedef struct alias {
  stowi_request_alias names;
  bool used;  // some graph of a set has such an output
} alias;

void cli_io_policies_each(const cli_io_policies* policies, void (*tell)(void* user, stow_str name),
                          void* user) {
  const value_policy* values = policies->values.items;
  const alias* aliases = policies->aliases.items;
  for (size_t i = 0; i < policies->values.count; ++i) {
    tell(user, values[i].name);
  }
  for (size_t i = 0; i < policies->aliases.count; ++i) {
    tell(user, aliases[i].names.output);
    tell(user, aliases[i].names.input);
  }
}

cli_exit cli_io_policies_alias(cli_io_policies* policies, const char* text) {
  const char* equals = strchr(text, '=');
  alias item = {.names = {{text, equals == NULL ? 0 : (size_t)(equals - text)},
                          stow_str_of(equals == NULL ? NULL : equals + 1)}};
  if (item.names.output.size == 0 || item.names.input.size == 0) {
    return cli_fail(CLI_USAGE, "--alias: '%s' is not OUT=IN", text);
  }
  stow_diag diag = cli_diag();
  stow_status status = stowi_request_check_pattern(&item.names, &diag);
  if (status != STOW_OK) {
    return cli_fail(CLI_USAGE, "--alias: %s", cli_diag_text(status, &diag));
  }
  return cli_list_add(&policies->aliases, &item, sizeof item) ? CLI_YES : cli_fail_memory();
}

void cli_io_policies_free(cli_io_policies* policies) {
  cli_list_free(&policies->aliases, sizeof(alias));
  cli_list_free(&policies->values, sizeof(value_policy));
}

static cli_exit set_policy(stow_effects* effects, const stow_graph* graph,
                           const value_policy* item) {
  stow_diag diag = cli_diag();
  stow_status status = stowi_request_set_policy(effects, graph, item->name, item->policy, &diag);
  if (status == STOW_ERR_INVALID_ARGUMENT || status == STOW_ERR_NOT_FOUND) {
    return cli_fail(CLI_USAGE, "--io: %s", cli_diag_text(status, &diag));
  }
  return status == STOW_OK ? CLI_YES : cli_fail_diag(status, &diag);
}

static cli_exit create_effects(const char* label, const stow_graph* graph,
                               stow_effects** out_effects) {
  stow_diag diag = cli_diag();
  stow_status status = stow_effects_create(graph, stow_allocator_default(), &diag, out_effects);
  return status == STOW_OK ? CLI_YES : cli_fail_graph(label, graph, status, &diag);
}

// ---------------------------------------------------------------------------------------------
// Aliases

static cli_exit fail_alias(const alias* item) {
  return cli_fail(CLI_USAGE, "--alias: unknown output '%.*s'", (int)item->names.output.size,
                  item->names.output.data);
}

static cli_exit set_alias(alias* item, const stow_graph* graph, stow_effects* effects,
                          size_t* out_count) {
  stow_diag diag = cli_diag();
  stow_status status = stowi_request_set_alias(effects, graph, &item->names, &diag, out_count);
  cli_exit code = status == STOW_ERR_CONFLICT    ? CLI_NO
                  : status == STOW_ERR_NOT_FOUND ? CLI_USAGE
                                                 : cli_exit_of(status);
  return status == STOW_OK ? CLI_YES : cli_fail(code, "--alias: %s", cli_diag_text(status, &diag));
}

// |is_member|: an output that this graph does not have may be another one's.
static cli_exit set_aliases(const cli_io_policies* policies, const stow_graph* graph,
                            bool is_member, stow_effects* effects) {
  alias* items = policies->aliases.items;
  cli_exit code = CLI_YES;
  for (size_t i = 0; i < policies->aliases.count && code == CLI_YES; ++i) {
    size_t count;
    code = set_alias(&items[i], graph, effects, &count);
    items[i].used |= count > 0;
    if (code == CLI_YES && count == 0 && !is_member) {
      code = fail_alias(&items[i]);
    }
  }
  return code;
}

cli_exit cli_aliases_check(const cli_io_policies* policies, const char* label,
                           const stow_graph* graph, const stow_plan* plan) {
  const alias* items = policies->aliases.items;
  stow_diag diag = cli_diag();
  for (size_t i = 0; i < policies->aliases.count; ++i) {
    stow_status status = stowi_request_check_alias(plan, graph, &items[i].names, &diag);
    if (status != STOW_OK) {
      return cli_fail(CLI_NO, "%s: --alias: %s", label, cli_diag_text(status, &diag));
    }
  }
  return CLI_YES;
}

// ---------------------------------------------------------------------------------------------

cli_exit cli_effects_apply(const cli_io_policies* policies, const stow_graph* graph,
                           const stow_graph* forward, stow_effects* effects) {
  const value_policy* items = policies->values.items;
  cli_exit code = CLI_YES;
  for (size_t i = 0; i < policies->values.count && code == CLI_YES; ++i) {
    stow_str name = items[i].name;
    bool for_forward =
        forward != NULL && stowi_request_has_policy(forward, stow_graph_find(forward, name));
    if (!for_forward || stowi_request_has_policy(graph, stowi_request_find_value(graph, name))) {
      code = set_policy(effects, graph, &items[i]);
    }
  }
  return code == CLI_YES ? set_aliases(policies, graph, false, effects) : code;
}

cli_exit cli_effects_create(const cli_io_policies* policies, const char* label,
                            const stow_graph* graph, const stow_graph* forward,
                            stow_effects** out_effects) {
  CLI_TRY(create_effects(label, graph, out_effects));
  return cli_effects_apply(policies, graph, forward, *out_effects);
}

cli_exit cli_effects_create_member(const cli_io_policies* policies, const char* label,
                                   const stow_graph* graph, stow_effects** out_effects) {
  value_policy* items = policies->values.items;
  cli_exit code = create_effects(label, graph, out_effects);
  for (size_t i = 0; i < policies->values.count && code == CLI_YES; ++i) {
    if (stowi_request_has_policy(graph, stow_graph_find(graph, items[i].name))) {
      items[i].used = true;
      code = set_policy(*out_effects, graph, &items[i]);
    }
  }
  return code == CLI_YES ? set_aliases(policies, graph, true, *out_effects) : code;
}

cli_exit cli_io_policies_require_used(const cli_io_policies* policies) {
  const value_policy* values = policies->values.items;
  const alias* aliases = policies->aliases.items;
  for (size_t i = 0; i < policies->values.count; ++i) {
    if (!values[i].used) {
      return cli_fail(CLI_USAGE, "--io: unknown input, param, constant or output '%.*s'",
                      (int)values[i].name.size, values[i].name.data);
    }
  }
  for (size_t i = 0; i < policies->aliases.count; ++i) {
    if (!aliases[i].used) {
      return fail_alias(&aliases[i]);
    }
  }
  return CLI_YES;
}

cli_exit cli_effects_create_forward(const cli_io_policies* policies, const char* label,
                                    const stow_graph* forward, stow_effects** out_effects) {
  const value_policy* items = policies->values.items;
  cli_exit code = create_effects(label, forward, out_effects);
  for (size_t i = 0; i < policies->values.count && code == CLI_YES; ++i) {
    if (stowi_request_has_policy(forward, stow_graph_find(forward, items[i].name))) {
      code = set_policy(*out_effects, forward, &items[i]);
    }
  }
  return code;
}

cli_exit cli_io_policies_check(const cli_io_policies* policies, const char* label,
                               const stow_graph* graph, const stow_plan* plan) {
  const value_policy* items = policies->values.items;
  for (size_t i = 0; i < policies->values.count; ++i) {
    stow_value value = stowi_request_find_value(graph, items[i].name);
    stow_slot slot;
    if (items[i].policy == STOW_IO_EXTERNAL && value != STOW_VALUE_NONE &&
        stow_plan_value_slot(plan, value, &slot)) {
      return cli_fail(CLI_BAD_INPUT,
                      "--io: '%.*s' has a slot in %s: it was not planned as external",
                      (int)items[i].name.size, items[i].name.data, label);
    }
  }
  return CLI_YES;
}

cli_exit cli_fail_proof(const char* label, const stow_graph* graph, bool by_id, stow_status status,
                        const stow_diag* diag) {
  const char* text = cli_diag_text(status, diag);
  bool concerned = status == STOW_ERR_VIOLATION && diag->value < stow_graph_value_count(graph) &&
                   stowi_request_has_policy(graph, diag->value);
  stow_str name = concerned ? stow_graph_value_name(graph, diag->value) : (stow_str){"", 0};
  char id[16];
  if (concerned && name.size == 0 && by_id) {
    snprintf(id, sizeof id, "%%%" PRIu32, diag->value);
    name = stow_str_of(id);
  }
  if (name.size == 0) {
    return cli_fail(cli_exit_of(status), "%s: %s", label, text);
  }
  return cli_fail(cli_exit_of(status),
                  "%s: %s; if it was planned with --io %.*s=POLICY or --alias, give the same here",
                  label, text, (int)name.size, name.data);
}
