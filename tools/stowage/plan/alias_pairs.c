// Pairs come from the graph: an op that makes an output and reads an input is asked whether it may
// work in place. Names serve only to write many pairs as one pattern.
#include "plan/alias_pairs.h"

#include <string.h>

#include "terminal/fail.h"
#include "terminal/text.h"

#define MOST_LISTED 4  // pairs that no pattern covers

// ---------------------------------------------------------------------------------------------
// Names

bool cli_has_plain_name(const stow_graph* graph, stow_value value) {
  stow_str name = stow_graph_value_name(graph, value);
  for (size_t i = 0; i < name.size; ++i) {
    if (name.data[i] == '\'' || (unsigned char)name.data[i] < 32) {
      return false;
    }
  }
  return name.size > 0 && stow_graph_find(graph, name) == value;
}

// `=` ends a name, and `*` stands for others.
static bool has_alias_name(const stow_graph* graph, stow_value value) {
  stow_str name = stow_graph_value_name(graph, value);
  return cli_has_plain_name(graph, value) && memchr(name.data, '=', name.size) == NULL &&
         memchr(name.data, '*', name.size) == NULL;
}

static size_t common_tail(stow_str a, stow_str b) {
  size_t tail = 0;
  while (tail < a.size && tail < b.size && a.data[a.size - tail - 1] == b.data[b.size - tail - 1]) {
    ++tail;
  }
  return tail;
}

static stow_str name_of(const stow_graph* graph, const cli_alias_pair* pair, bool of_output) {
  return stow_graph_value_name(graph, of_output ? pair->output : pair->input);
}

// What is before the end that both names of a pair have in common.
static stow_str own_part(const stow_graph* graph, const cli_alias_pair* pair, bool of_output) {
  stow_str name = name_of(graph, pair, of_output);
  name.size -= common_tail(name_of(graph, pair, true), name_of(graph, pair, false));
  return name;
}

static bool is_alike(const stow_graph* graph, const cli_alias_pair* a, const cli_alias_pair* b) {
  return stow_str_equal(own_part(graph, a, true), own_part(graph, b, true)) &&
         stow_str_equal(own_part(graph, a, false), own_part(graph, b, false));
}

// ---------------------------------------------------------------------------------------------
// Finding

static bool is_paired(const cli_list* pairs, stow_value input) {
  const cli_alias_pair* items = pairs->items;
  for (size_t i = 0; i < pairs->count; ++i) {
    if (items[i].input == input) {
      return true;
    }
  }
  return false;
}

static bool is_open(const stow_graph* graph, const stow_plan* plan, const cli_list* pairs,
                    const cli_alias_pair* pair) {
  stow_slot slot;
  return pair->input != STOW_VALUE_NONE &&
         stow_graph_op(graph, stow_graph_producer(graph, pair->input)) == STOW_OP_INPUT &&
         stow_plan_value_slot(plan, pair->input, &slot) &&
         stow_plan_value_slot(plan, pair->output, &slot) &&
         stow_plan_root(plan, pair->output) != pair->input && !is_paired(pairs, pair->input) &&
         has_alias_name(graph, pair->output) && has_alias_name(graph, pair->input);
}

// Behind the last pair of its group.
static bool insert(const stow_graph* graph, cli_list* pairs, cli_alias_pair pair) {
  pair.group = pairs->count;
  if (!cli_list_add(pairs, &pair, sizeof pair)) {
    return false;
  }
  cli_alias_pair* items = pairs->items;
  size_t at = pairs->count - 1;
  for (size_t i = 0; i + 1 < pairs->count; ++i) {
    if (is_alike(graph, &items[i], &pair)) {
      pair.group = items[i].group;
      at = i + 1;
    }
  }
  memmove(&items[at + 1], &items[at], (pairs->count - 1 - at) * sizeof *items);
  items[at] = pair;
  return true;
}

// Of |output| the first operand of its op that it may lie in. False where memory is out.
static bool find_one(const stow_graph* graph, const stow_plan* plan, stow_value output,
                     stow_effects* probe, cli_list* pairs) {
  stow_node node = stow_graph_producer(graph, output);
  stow_status status = STOW_ERR_CONFLICT;
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    cli_alias_pair pair = {output, stow_graph_operands(graph, node)[k], 0};
    stow_diag diag = cli_diag();
    if (is_open(graph, plan, pairs, &pair)) {
      status = stow_effects_alias(probe, pair.output, pair.input, &diag);
    }
    if (status == STOW_OK || status == STOW_ERR_OUT_OF_MEMORY) {
      return status == STOW_OK && insert(graph, pairs, pair);
    }
  }
  return true;
}

static bool find_all(const stow_graph* graph, const stow_plan* plan, stow_effects* probe,
                     cli_list* pairs) {
  bool is_done = true;
  for (size_t i = 0; i < stow_graph_output_count(graph) && is_done; ++i) {
    is_done = find_one(graph, plan, stow_graph_outputs(graph)[i], probe, pairs);
  }
  return is_done;
}

bool cli_alias_pairs_find(const stow_graph* graph, const stow_plan* plan, cli_list* out_pairs) {
  stow_effects* probe = NULL;
  stow_diag diag = cli_diag();
  bool is_done = stow_effects_create(graph, stow_allocator_default(), &diag, &probe) == STOW_OK &&
                 find_all(graph, plan, probe, out_pairs);
  stow_effects_destroy(probe);
  return is_done;
}

cli_alias_group cli_alias_group_at(const cli_list* pairs, size_t first) {
  const cli_alias_pair* items = pairs->items;
  cli_alias_group group = {&items[first], 1};
  while (first + group.count < pairs->count &&
         items[first + group.count].group == items[first].group) {
    ++group.count;
  }
  return group;
}

// ---------------------------------------------------------------------------------------------
// Writing

static bool append(stow_string* text, stow_str part) {
  return stow_string_append(text, part.data, part.size) == STOW_OK;
}

// What all names of a group begin with, as outputs or as inputs.
static stow_str common_head(const cli_alias_group* group, const stow_graph* graph, bool of_output) {
  stow_str head = name_of(graph, &group->pairs[0], of_output);
  for (size_t i = 1; i < group->count; ++i) {
    stow_str name = name_of(graph, &group->pairs[i], of_output);
    size_t size = 0;
    while (size < head.size && size < name.size && head.data[size] == name.data[size]) {
      ++size;
    }
    head.size = size;
  }
  return head;
}

// Whether no other output begins so.
static bool is_only_head(const cli_alias_group* group, const stow_graph* graph, stow_str head) {
  size_t count = 0;
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    stow_str name = stow_graph_value_name(graph, stow_graph_outputs(graph)[i]);
    count += name.size >= head.size && memcmp(name.data, head.data, head.size) == 0;
  }
  return count == group->count;
}

static bool write_pairs(const cli_alias_group* group, const stow_graph* graph, stow_string* text) {
  bool is_done = true;
  for (size_t i = 0; i < group->count && is_done; ++i) {
    stow_str output = name_of(graph, &group->pairs[i], true);
    stow_str input = name_of(graph, &group->pairs[i], false);
    stow_str quote = stow_str_of(cli_is_plain_word(output) && cli_is_plain_word(input) ? "" : "'");
    is_done = append(text, stow_str_of(i == 0 ? "--alias " : " --alias ")) && append(text, quote) &&
              append(text, output) && append(text, stow_str_of("=")) && append(text, input) &&
              append(text, quote);
  }
  return is_done;
}

// Names end in the same way from pair to pair, so that what follows the common heads is the same.
bool cli_alias_group_write(const cli_alias_group* group, const stow_graph* graph,
                           stow_string* text) {
  stow_str output = common_head(group, graph, true);
  stow_str input = common_head(group, graph, false);
  if (group->count > 1 && is_only_head(group, graph, output)) {
    return append(text, stow_str_of("--alias '")) && append(text, output) &&
           append(text, stow_str_of("*=")) && append(text, input) &&
           append(text, stow_str_of("*'"));
  }
  return group->count > MOST_LISTED || write_pairs(group, graph, text);
}
