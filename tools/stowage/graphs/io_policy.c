// Policies of boundary values and outputs. One for all is a planning option; one for a single value
// is an effect, on top of what the graph's own clauses say.
#include "graphs/io_policy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arguments/number.h"
#include "arguments/options.h"
#include "graphs/source.h"

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

// `OUT=IN`; each side may hold one `*`.
typedef struct alias {
  stow_str output, input;
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
    tell(user, aliases[i].output);
    tell(user, aliases[i].input);
  }
}

static size_t stars(stow_str text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size; ++i) {
    count += text.data[i] == '*';
  }
  return count;
}

cli_exit cli_io_policies_alias(cli_io_policies* policies, const char* text) {
  const char* equals = strchr(text, '=');
  alias item = {{text, equals == NULL ? 0 : (size_t)(equals - text)},
                stow_str_of(equals == NULL ? NULL : equals + 1),
                false};
  if (item.output.size == 0 || item.input.size == 0) {
    return cli_fail(CLI_USAGE, "--alias: '%s' is not OUT=IN", text);
  }
  if (stars(item.output) > 1 || stars(item.input) != stars(item.output)) {
    return cli_fail(CLI_USAGE, "--alias: '%s' needs one * on each side, or none", text);
  }
  return cli_list_add(&policies->aliases, &item, sizeof item) ? CLI_YES : cli_fail_memory();
}

void cli_io_policies_free(cli_io_policies* policies) {
  cli_list_free(&policies->aliases, sizeof(alias));
  cli_list_free(&policies->values, sizeof(value_policy));
}

// `%7` is value 7, anything else a name.
static stow_value find_value(const stow_graph* graph, stow_str name) {
  uint32_t id;
  stow_value value = stow_graph_find(graph, name);
  if (value == STOW_VALUE_NONE && name.size > 1 && name.data[0] == '%' &&
      cli_parse_id((stow_str){name.data + 1, name.size - 1}, &id) &&
      id < stow_graph_value_count(graph)) {
    return id;
  }
  return value;
}

static cli_exit set_policy(stow_effects* effects, stow_value value, stow_io_policy policy) {
  stow_diag diag = cli_diag();
  stow_status status = stow_effects_set_io(effects, value, policy, &diag);
  if (status == STOW_ERR_INVALID_ARGUMENT) {
    return cli_fail(CLI_USAGE, "--io: %s", cli_diag_text(status, &diag));
  }
  return status == STOW_OK ? CLI_YES : cli_fail_diag(status, &diag);
}

// Whether a policy can be meant for |value|.
static bool has_policy(const stow_graph* graph, stow_value value) {
  if (value == STOW_VALUE_NONE || stow_graph_is_boundary(graph, value)) {
    return value != STOW_VALUE_NONE;
  }
  const stow_value* outputs = stow_graph_outputs(graph);
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    if (outputs[i] == value) {
      return true;
    }
  }
  return false;
}

static cli_exit create_effects(const char* label, const stow_graph* graph,
                               stow_effects** out_effects) {
  stow_diag diag = cli_diag();
  stow_status status = stow_effects_create(graph, stow_allocator_default(), &diag, out_effects);
  return status == STOW_OK ? CLI_YES : cli_fail_graph(label, graph, status, &diag);
}

// ---------------------------------------------------------------------------------------------
// Aliases

// The input that output |name| takes the bytes of, by |item|. False where the pattern is not for
// it, or is too long.
static bool match_alias(const alias* item, stow_str name, char* out, size_t capacity) {
  const char* star = memchr(item->output.data, '*', item->output.size);
  size_t head = star == NULL ? item->output.size : (size_t)(star - item->output.data);
  size_t tail = star == NULL ? 0 : item->output.size - head - 1;
  bool fits = star == NULL ? name.size == head : name.size >= head + tail;
  if (!fits || memcmp(name.data, item->output.data, head) != 0 ||
      (tail != 0 && memcmp(name.data + name.size - tail, star + 1, tail) != 0)) {
    return false;
  }
  const char* in_star = memchr(item->input.data, '*', item->input.size);
  size_t in_head = in_star == NULL ? item->input.size : (size_t)(in_star - item->input.data);
  int size = snprintf(out, capacity, "%.*s%.*s%.*s", (int)in_head, item->input.data,
                      star == NULL ? 0 : (int)(name.size - head - tail), name.data + head,
                      in_star == NULL ? 0 : (int)(item->input.size - in_head - 1),
                      in_star == NULL ? "" : in_star + 1);
  return size > 0 && (size_t)size < capacity;
}

typedef cli_exit (*visit_alias)(void* user, stow_value output, stow_value input);

// Every pair that |item| names. Complains where an input is missing.
static cli_exit each_pair(const alias* item, const stow_graph* graph, visit_alias visit, void* user,
                          bool* out_found) {
  *out_found = false;
  const stow_value* outputs = stow_graph_outputs(graph);
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    char name[512];
    if (!match_alias(item, stow_graph_value_name(graph, outputs[i]), name, sizeof name)) {
      continue;
    }
    stow_value input = stow_graph_find(graph, stow_str_of(name));
    CLI_TRY(input == STOW_VALUE_NONE ? cli_fail(CLI_USAGE, "--alias: unknown input '%s'", name)
                                     : visit(user, outputs[i], input));
    *out_found = true;
  }
  return CLI_YES;
}

static cli_exit fail_alias(const alias* item) {
  return cli_fail(CLI_USAGE, "--alias: unknown output '%.*s'", (int)item->output.size,
                  item->output.data);
}

static cli_exit set_alias(void* user, stow_value output, stow_value input) {
  stow_diag diag = cli_diag();
  stow_status status = stow_effects_alias(user, output, input, &diag);
  cli_exit code = status == STOW_ERR_CONFLICT ? CLI_NO : cli_exit_of(status);
  return status == STOW_OK ? CLI_YES : cli_fail(code, "--alias: %s", cli_diag_text(status, &diag));
}

// |is_member|: an output that this graph does not have may be another one's.
static cli_exit set_aliases(const cli_io_policies* policies, const stow_graph* graph,
                            bool is_member, stow_effects* effects) {
  alias* items = policies->aliases.items;
  cli_exit code = CLI_YES;
  for (size_t i = 0; i < policies->aliases.count && code == CLI_YES; ++i) {
    bool found;
    code = each_pair(&items[i], graph, set_alias, effects, &found);
    items[i].used |= found;
    if (code == CLI_YES && !found && !is_member) {
      code = fail_alias(&items[i]);
    }
  }
  return code;
}

typedef struct alias_check {
  const char* label;
  const stow_graph* graph;
  const stow_plan* plan;
} alias_check;

static cli_exit check_alias(void* user, stow_value output, stow_value input) {
  const alias_check* c = user;
  if (stow_plan_root(c->plan, output) == input) {
    return CLI_YES;
  }
  stow_str out = stow_graph_value_name(c->graph, output);
  stow_str in = stow_graph_value_name(c->graph, input);
  return cli_fail(CLI_NO,
                  "%s: --alias: '%.*s' cannot take the bytes of '%.*s': options, an alignment or "
                  "the order of steps forbid it",
                  c->label, (int)out.size, out.data, (int)in.size, in.data);
}

cli_exit cli_aliases_check(const cli_io_policies* policies, const char* label,
                           const stow_graph* graph, const stow_plan* plan) {
  const alias* items = policies->aliases.items;
  alias_check check = {label, graph, plan};
  cli_exit code = CLI_YES;
  for (size_t i = 0; i < policies->aliases.count && code == CLI_YES; ++i) {
    bool found;
    code = each_pair(&items[i], graph, check_alias, &check, &found);
  }
  return code;
}

// ---------------------------------------------------------------------------------------------

cli_exit cli_effects_apply(const cli_io_policies* policies, const stow_graph* graph,
                           const stow_graph* forward, stow_effects* effects) {
  const value_policy* items = policies->values.items;
  cli_exit code = CLI_YES;
  for (size_t i = 0; i < policies->values.count && code == CLI_YES; ++i) {
    stow_str name = items[i].name;
    stow_value value = find_value(graph, name);
    bool for_forward = forward != NULL && has_policy(forward, stow_graph_find(forward, name));
    if (value != STOW_VALUE_NONE && (has_policy(graph, value) || !for_forward)) {
      code = set_policy(effects, value, items[i].policy);
    } else if (!for_forward) {
      stow_str graph_name = stow_graph_name(graph);
      code = cli_fail(CLI_USAGE, "--io: graph @%.*s: unknown value '%.*s'", (int)graph_name.size,
                      graph_name.data, (int)name.size, name.data);
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
    stow_value value = stow_graph_find(graph, items[i].name);
    if (has_policy(graph, value)) {
      items[i].used = true;
      code = set_policy(*out_effects, value, items[i].policy);
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
    stow_value value = stow_graph_find(forward, items[i].name);
    if (has_policy(forward, value)) {
      code = set_policy(*out_effects, value, items[i].policy);
    }
  }
  return code;
}

cli_exit cli_io_policies_check(const cli_io_policies* policies, const char* label,
                               const stow_graph* graph, const stow_plan* plan) {
  const value_policy* items = policies->values.items;
  for (size_t i = 0; i < policies->values.count; ++i) {
    stow_value value = find_value(graph, items[i].name);
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
                   has_policy(graph, diag->value);
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
