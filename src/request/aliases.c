// Outputs in the bytes of inputs, named by patterns: `present.*=past.*`.
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "request/api.h"

#define NAME_SIZE 512  // of an input that a pattern names

static size_t count_stars(stow_str text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size; ++i) {
    count += text.data[i] == '*';
  }
  return count;
}

stow_status stowi_request_check_pattern(const stowi_request_alias* alias, stow_diag* diag) {
  size_t stars = count_stars(alias->output);
  return stars > 1 || count_stars(alias->input) != stars
             ? stowi_fail(diag, STOW_ERR_SYNTAX, "'%.*s=%.*s' needs one * on each side, or none",
                          (int)alias->output.size, alias->output.data, (int)alias->input.size,
                          alias->input.data)
             : STOW_OK;
}

// The input that output |name| takes the bytes of. False where the pattern is not for it, or is too
// long.
static bool match(const stowi_request_alias* alias, stow_str name, char out[NAME_SIZE]) {
  const char* star = memchr(alias->output.data, '*', alias->output.size);
  size_t head = star == NULL ? alias->output.size : (size_t)(star - alias->output.data);
  size_t tail = star == NULL ? 0 : alias->output.size - head - 1;
  bool fits = star == NULL ? name.size == head : name.size >= head + tail;
  if (!fits || memcmp(name.data, alias->output.data, head) != 0 ||
      (tail != 0 && memcmp(name.data + name.size - tail, star + 1, tail) != 0)) {
    return false;
  }
  const char* in_star = memchr(alias->input.data, '*', alias->input.size);
  size_t in_head = in_star == NULL ? alias->input.size : (size_t)(in_star - alias->input.data);
  int size = snprintf(out, NAME_SIZE, "%.*s%.*s%.*s", (int)in_head, alias->input.data,
                      star == NULL ? 0 : (int)(name.size - head - tail), name.data + head,
                      in_star == NULL ? 0 : (int)(alias->input.size - in_head - 1),
                      in_star == NULL ? "" : in_star + 1);
  return size > 0 && size < NAME_SIZE;
}

bool stowi_request_next_pair(const stow_graph* graph, const stowi_request_alias* alias, size_t* at,
                             stow_value* out_output, stow_value* out_input, stow_diag* diag,
                             stow_status* status) {
  char name[NAME_SIZE];
  const stow_value* outputs = stow_graph_outputs(graph);
  while (*status == STOW_OK && *at < stow_graph_output_count(graph)) {
    *out_output = outputs[(*at)++];
    if (match(alias, stow_graph_value_name(graph, *out_output), name)) {
      *out_input = stow_graph_find(graph, stow_str_of(name));
      *status = *out_input == STOW_VALUE_NONE
                    ? stowi_fail(diag, STOW_ERR_NOT_FOUND, "unknown input '%s'", name)
                    : STOW_OK;
      return *status == STOW_OK;
    }
  }
  return false;
}

stow_status stowi_request_set_alias(stow_effects* effects, const stow_graph* graph,
                                    const stowi_request_alias* alias, stow_diag* diag,
                                    size_t* out_count) {
  stow_value output;
  stow_value input;
  stow_status status = STOW_OK;
  *out_count = 0;
  for (size_t at = 0; stowi_request_next_pair(graph, alias, &at, &output, &input, diag, &status);) {
    status = stow_effects_alias(effects, output, input, diag);
    ++*out_count;
  }
  return status;
}

static stow_status fail_elsewhere(const stow_graph* graph, stow_value output, stow_value input,
                                  stow_diag* diag) {
  stow_str out = stow_graph_value_name(graph, output);
  stow_str in = stow_graph_value_name(graph, input);
  stowi_fail(diag, STOW_ERR_CONFLICT,
             "'%.*s' cannot take the bytes of '%.*s': options, an alignment or the order of steps "
             "forbid it",
             (int)out.size, out.data, (int)in.size, in.data);
  stowi_diag_value(diag, output);
  return STOW_ERR_CONFLICT;
}

stow_status stowi_request_check_alias(const stow_plan* plan, const stow_graph* graph,
                                      const stowi_request_alias* alias, stow_diag* diag) {
  stow_value output;
  stow_value input;
  stow_status status = STOW_OK;
  for (size_t at = 0; stowi_request_next_pair(graph, alias, &at, &output, &input, diag, &status);) {
    if (stow_plan_root(plan, output) != input) {
      status = fail_elsewhere(graph, output, input, diag);
    }
  }
  return status;
}
