// What stands in the way of a model's plan, told at once, in the order in which a user can do
// something about it: what nobody supports, symbols without a value, inputs that decide, shapes.
// Dims that depend on data are often numbers once the symbols are, or once another one is: only
// those that remain are asked for, as far as a trial can tell.
#include <stdio.h>
#include <string.h>

#include "graphs/model.h"
#include "graphs/needs.h"
#include "terminal/lines.h"
#include "terminal/text.h"

#define SHOWN_GROUPS 20
#define SHOWN_TENSORS 40

size_t cli_model_count_issues(const cli_model* model, stow_import_issue_kind kind) {
  size_t count = 0;
  for (size_t i = 0; i < stow_import_issue_count(model->import); ++i) {
    count += stow_import_issue_at(model->import, i)->kind == kind;
  }
  return count;
}

static bool is_same_group(const stow_import_issue* a, const stow_import_issue* b) {
  return stow_str_equal(a->domain, b->domain) && stow_str_equal(a->op, b->op) &&
         stow_str_equal(a->reason, b->reason);
}

// Stable: groups of equal size keep the order in which the model has them.
static void sort_groups(cli_issue_group* groups, size_t count) {
  for (size_t i = 1; i < count; ++i) {
    cli_issue_group group = groups[i];
    size_t at = i;
    for (; at > 0 && groups[at - 1].count < group.count; --at) {
      groups[at] = groups[at - 1];
    }
    groups[at] = group;
  }
}

bool cli_model_group_issues(const cli_model* model, stow_import_issue_kind kind,
                            cli_list* out_groups) {
  *out_groups = (cli_list){0};
  for (size_t i = 0; i < stow_import_issue_count(model->import); ++i) {
    stow_import_issue issue = *stow_import_issue_at(model->import, i);
    cli_issue_group* groups = out_groups->items;
    size_t at = 0;
    while (issue.kind == kind && at < out_groups->count &&
           !is_same_group(&groups[at].first, &issue)) {
      ++at;
    }
    cli_issue_group group = {issue, 1};
    if (issue.kind != kind) {
      continue;
    }
    if (at < out_groups->count) {
      ++groups[at].count;
    } else if (!cli_list_add(out_groups, &group, sizeof group)) {
      cli_list_free(out_groups, sizeof group);
      return false;
    }
  }
  sort_groups(out_groups->items, out_groups->count);
  return true;
}

// The names of up to three nodes of a group: `a, b, c, …`.
static void name_nodes(const cli_model* model, const cli_issue_group* group, char* out,
                       size_t capacity) {
  size_t used = 0;
  size_t named = 0;
  out[0] = '\0';
  for (size_t i = 0; i < stow_import_issue_count(model->import) && named < 3; ++i) {
    stow_import_issue issue = *stow_import_issue_at(model->import, i);
    if (issue.kind == group->first.kind && is_same_group(&issue, &group->first) &&
        used < capacity) {
      int size = snprintf(out + used, capacity - used, "%s%.*s", named == 0 ? "" : ", ",
                          (int)issue.node.size, issue.node.data);
      used += size > 0 ? (size_t)size : 0;
      ++named;
    }
  }
  if (group->count > named && used < capacity) {
    snprintf(out + used, capacity - used, ", \xE2\x80\xA6");
  }
}

static cli_exit tell_unsupported(const cli_model* model, const char* label) {
  cli_list groups;
  if (!cli_model_group_issues(model, STOW_IMPORT_UNSUPPORTED, &groups)) {
    return cli_fail_memory();
  }
  if (groups.count == 0) {
    return CLI_BAD_INPUT;
  }
  cli_fail(CLI_BAD_INPUT, "%s: %zu node%s cannot be imported:", label,
           cli_model_count_issues(model, STOW_IMPORT_UNSUPPORTED),
           cli_plural(cli_model_count_issues(model, STOW_IMPORT_UNSUPPORTED)));
  const cli_issue_group* group = groups.items;
  for (size_t i = 0; i < groups.count && i < SHOWN_GROUPS; ++i) {
    char nodes[512];
    name_nodes(model, &group[i], nodes, sizeof nodes);
    cli_tell_more("%zu \xC3\x97 %.*s%s%.*s: %.*s (%s)", group[i].count,
                  (int)group[i].first.domain.size, group[i].first.domain.data,
                  group[i].first.domain.size == 0 ? "" : ".", (int)group[i].first.op.size,
                  group[i].first.op.data, (int)group[i].first.reason.size,
                  group[i].first.reason.data, nodes);
  }
  if (groups.count > SHOWN_GROUPS) {
    cli_tell_more("\xE2\x80\xA6 and %zu more kinds; stowage inspect lists them",
                  groups.count - SHOWN_GROUPS);
  }
  size_t skipped = cli_model_count_issues(model, STOW_IMPORT_SKIPPED);
  if (skipped != 0) {
    cli_tell_more("%zu more node%s could not be checked because of these", skipped,
                  cli_plural(skipped));
  }
  cli_list_free(&groups, sizeof(cli_issue_group));
  return CLI_BAD_INPUT;
}

// ---------------------------------------------------------------------------------------------
// What the user can give

typedef struct words {
  char text[2048];
  size_t used;
} words;

// Adds ` --bind batch=N` or ` --bind 'a + b=N'`, to be filled in.
static void add_option(words* w, const char* option, stow_str name, const char* what) {
  const char* quote = cli_is_plain_word(name) ? "" : "'";
  if (w->used < sizeof w->text) {
    int size = snprintf(w->text + w->used, sizeof w->text - w->used, " --%s %s%.*s=%s%s", option,
                        quote, (int)name.size, name.data, what, quote);
    w->used += size > 0 ? (size_t)size : 0;
  }
}

#define MOST_DECIDERS 64

static bool has_name(const cli_list* names, stow_str name) {
  const stow_str* items = names->items;
  for (size_t i = 0; i < names->count; ++i) {
    if (stow_str_equal(items[i], name)) {
      return true;
    }
  }
  return false;
}

bool cli_model_deciders(const cli_model* model, cli_list* out_names) {
  bool memory = true;
  *out_names = (cli_list){0};
  for (size_t i = 0; i < stow_import_issue_count(model->import) && memory; ++i) {
    stow_import_issue issue = *stow_import_issue_at(model->import, i);
    bool decides = issue.kind == STOW_IMPORT_NEEDS_VALUE || issue.kind == STOW_IMPORT_CONDITION;
    if (decides && issue.tensor.size != 0 && out_names->count < MOST_DECIDERS &&
        !has_name(out_names, issue.tensor)) {
      memory = cli_list_add(out_names, &issue.tensor, sizeof issue.tensor);
    }
  }
  return memory;
}

// ` --value sr=VALUE`, for every input that decides a condition. Without memory: for those found.
static void list_deciders(const cli_model* model, words* w) {
  cli_list names;
  (void)cli_model_deciders(model, &names);
  for (size_t i = 0; i < names.count; ++i) {
    add_option(w, "value", ((const stow_str*)names.items)[i], "VALUE");
  }
  cli_list_free(&names, sizeof(stow_str));
}

// Whether an issue that asks for something may be gone once symbols have values: not that of an
// input without a shape, nor one that an input's value decides.
static bool may_vanish(const stow_import_issue* issue) {
  return (issue->kind == STOW_IMPORT_NEEDS_SHAPE && issue->op.size != 0) ||
         (issue->kind == STOW_IMPORT_NEEDS_VALUE && issue->tensor.size == 0);
}

// Whether an issue of |kind| can be dealt with now: all can, where the symbols have values, but
// shapes that follow from others.
static bool is_due(const cli_needs* needs, const stow_import_issue* issue,
                   stow_import_issue_kind kind) {
  bool is_shape = issue->kind == STOW_IMPORT_NEEDS_SHAPE && issue->op.size != 0;
  return issue->kind == kind && (needs->inputs == 0 || !may_vanish(issue)) &&
         (!is_shape || !needs->is_whole || cli_needs_data(needs, issue->tensor));
}

static size_t count_due(const cli_model* model, const cli_needs* needs,
                        stow_import_issue_kind kind) {
  size_t count = 0;
  for (size_t i = 0; i < stow_import_issue_count(model->import); ++i) {
    stow_import_issue issue = *stow_import_issue_at(model->import, i);
    count += is_due(needs, &issue, kind);
  }
  return count;
}

// ` --bind batch=N` for each symbol of inputs, or each that depends on data.
static void list_needs(const cli_needs* needs, bool of_data, words* w) {
  const cli_need* items = needs->list.items;
  for (size_t i = 0; i < needs->list.count; ++i) {
    if (items[i].is_data == of_data) {
      add_option(w, "bind", stow_str_of(items[i].symbol), "N");
    }
  }
}

// `batch, length, image.2`
static void name_inputs(const cli_needs* needs, words* w) {
  const cli_need* items = needs->list.items;
  for (size_t i = 0; i < needs->inputs && w->used < sizeof w->text; ++i) {
    int size = snprintf(w->text + w->used, sizeof w->text - w->used, "%s%s",
                        w->used == 0 ? "" : ", ", items[i].symbol);
    w->used += size > 0 ? (size_t)size : 0;
  }
}

// What is needed besides symbols of inputs.
static void tell_later(const cli_model* model, const cli_needs* needs) {
  words binds = {0};
  size_t later = 0;
  list_needs(needs, true, &binds);
  if (binds.used > 0) {
    cli_tell_more("and the largest that you allow of what depends on data:%s", binds.text);
  }
  for (size_t i = 0; i < stow_import_issue_count(model->import); ++i) {
    stow_import_issue issue = *stow_import_issue_at(model->import, i);
    later += may_vanish(&issue);
  }
  if (later > 0 && !needs->is_whole) {
    cli_tell_more("%zu shape%s or condition%s may also be needed once these are given", later,
                  cli_plural(later), cli_plural(later));
  }
}

static void tell_symbols(const cli_model* model, const cli_needs* needs, const char* label) {
  words names = {0};
  words binds = {0};
  words values = {0};
  if (needs->inputs == 0) {
    return;
  }
  name_inputs(needs, &names);
  list_needs(needs, false, &binds);
  cli_fail(CLI_BAD_INPUT, "%s: inputs have symbols without a value: %s", label, names.text);
  cli_tell_more("set each:%s", binds.text);
  cli_tell_more("or set all to the same value: --bind-rest N");
  list_deciders(model, &values);
  if (values.used > 0 && count_due(model, needs, STOW_IMPORT_NEEDS_VALUE) == 0) {
    cli_tell_more("to choose branches that depend on an input:%s", values.text);
  }
  tell_later(model, needs);
}

static void list_due(const cli_model* model, const cli_needs* needs, stow_import_issue_kind kind) {
  size_t shown = 0;
  for (size_t i = 0; i < stow_import_issue_count(model->import); ++i) {
    stow_import_issue issue = *stow_import_issue_at(model->import, i);
    if (is_due(needs, &issue, kind) && shown++ < SHOWN_TENSORS) {
      stow_str name = kind == STOW_IMPORT_NEEDS_VALUE ? issue.node : issue.tensor;
      cli_tell_more("%.*s%s%.*s%s: %.*s", (int)name.size, name.data, issue.op.size == 0 ? "" : " (",
                    (int)issue.op.size, issue.op.data, issue.op.size == 0 ? "" : ")",
                    (int)issue.reason.size, issue.reason.data);
    }
  }
  if (shown > SHOWN_TENSORS) {
    cli_tell_more("\xE2\x80\xA6 and %zu more", shown - SHOWN_TENSORS);
  }
}

static void tell_values(const cli_model* model, const cli_needs* needs, const char* label) {
  size_t count = count_due(model, needs, STOW_IMPORT_NEEDS_VALUE);
  words values = {0};
  if (count == 0) {
    return;
  }
  list_deciders(model, &values);
  cli_fail(CLI_BAD_INPUT, "%s: %zu condition%s without a known value%s%s:", label, count,
           cli_plural(count), values.used == 0 ? "" : "; give", values.text);
  list_due(model, needs, STOW_IMPORT_NEEDS_VALUE);
}

static void tell_shapes(const cli_model* model, const cli_needs* needs, const char* label) {
  size_t count = count_due(model, needs, STOW_IMPORT_NEEDS_SHAPE);
  words binds = {0};
  if (count == 0) {
    return;
  }
  cli_fail(CLI_BAD_INPUT,
           "%s: %zu tensor%s need%s a shape, which depends on data; give the largest with "
           "--shape NAME=DIMS:",
           label, count, cli_plural(count), count == 1 ? "s" : "");
  list_due(model, needs, STOW_IMPORT_NEEDS_SHAPE);
  list_needs(needs, true, &binds);
  if (binds.used > 0) {
    cli_tell_more("or set dims alone:%s", binds.text);
  }
}

static void tell_missing(const cli_model* model, const char* label) {
  cli_needs needs;
  if (!cli_needs_find(model, &needs)) {
    cli_needs_free(&needs);
    (void)cli_fail_memory();
    return;
  }
  tell_symbols(model, &needs, label);
  tell_values(model, &needs, label);
  tell_shapes(model, &needs, label);
  cli_needs_free(&needs);
}

cli_exit cli_model_graph(const cli_model* model, const char* label, stow_graph** out_graph) {
  *out_graph = stow_import_graph(model->import);
  if (*out_graph != NULL) {
    return CLI_YES;
  }
  cli_exit code = tell_unsupported(model, label);
  tell_missing(model, label);
  return code;
}

cli_exit cli_model_require_bound(const cli_model* model, const char* label,
                                 const stow_graph* graph) {
  if (stow_graph_require_bound(graph, NULL) == STOW_OK) {
    return CLI_YES;
  }
  tell_missing(model, label);
  size_t symbols;
  (void)stow_import_symbols(model->import, &symbols);
  bool is_told = symbols > 0 || cli_model_count_issues(model, STOW_IMPORT_NEEDS_SHAPE) > 0;
  return is_told ? CLI_BAD_INPUT : cli_require_bound(label, graph);
}
