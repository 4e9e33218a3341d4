#include "support/text_plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stowage/text.h>
#include <string.h>

#include "plan/api.h"

static bool differ(char* why, const char* format, ...) STOW_PRINTF_LIKE(2, 3);
static bool differ(char* why, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, TEXT_PLAN_WHY, format, arguments);
  va_end(arguments);
  return false;
}

static stow_string new_string(void) {
  stow_string string;
  stow_string_init(&string, stow_allocator_default());
  return string;
}

// Says where the two differ.
static bool same_text(const stow_string* a, const stow_string* b, const char* what, char* why) {
  size_t i = 0;
  size_t line = 0;
  while (i < a->size && i < b->size && a->data[i] == b->data[i]) {
    line = a->data[i++] == '\n' ? i : line;
  }
  if (i == a->size && i == b->size) {
    return true;
  }
  const char* first = a->data == NULL ? "" : a->data + line;
  const char* second = b->data == NULL ? "" : b->data + line;
  return differ(why, "%s differs: %.*s / %.*s", what, (int)strcspn(first, "\n") % 200, first,
                (int)strcspn(second, "\n") % 200, second);
}

// The plan as saved, and as JSON, which has the decisions; or why there is none.
static stow_string describe_plan(const stow_graph* graph, const stow_plan_options* options) {
  stow_string out = new_string();
  stow_writer writer = stow_string_writer(&out);
  stow_effects* effects = NULL;
  stow_plan* plan = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_effects_create(graph, stow_allocator_default(), &diag, &effects);
  if (status == STOW_OK) {
    status = stow_plan_make(graph, effects, options, stow_allocator_default(), &diag, &plan);
  }
  if (status == STOW_OK) {
    (void)stowi_plan_write_saved(plan, writer);
    (void)stowi_plan_write_json(plan, writer);
  } else {
    (void)stow_string_append(&out, diag.message, strlen(diag.message));
  }
  (void)stow_string_append(&out, "", 1);
  stow_plan_destroy(plan);
  stow_effects_destroy(effects);
  return out;
}

static bool same_plan(const stow_graph* graph, const stow_graph* parsed,
                      const stow_plan_options* options, char* why) {
  stow_string from_graph = describe_plan(graph, options);
  stow_string from_text = describe_plan(parsed, options);
  bool is_same = same_text(&from_graph, &from_text, "the plan", why);
  stow_string_free(&from_graph);
  stow_string_free(&from_text);
  return is_same;
}

static bool same_graph(const stow_graph* graph, const stow_graph* parsed, const stow_string* text,
                       char* why) {
  stow_string again = new_string();
  bool is_same = stow_graph_print(parsed, stow_string_writer(&again)) == STOW_OK &&
                 same_text(text, &again, "the text printed again", why);
  stow_string_free(&again);
  return is_same && (stow_graph_fingerprint(graph) == stow_graph_fingerprint(parsed) ||
                     differ(why, "the fingerprint differs"));
}

bool text_plan_agrees(const stow_graph* graph, const stow_plan_options* options,
                      char why[TEXT_PLAN_WHY]) {
  stow_string text = new_string();
  stow_module* module = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_graph_print(graph, stow_string_writer(&text));
  if (status == STOW_OK) {
    status = stow_module_parse(text.data, text.size, "text", stow_graph_ops(graph),
                               stow_allocator_default(), &diag, &module);
  }
  const stow_graph* parsed = status == STOW_OK ? stow_module_graph(module, 0) : NULL;
  bool agrees = parsed == NULL ? differ(why, "%s: %s", stow_status_text(status), diag.message)
                               : same_graph(graph, parsed, &text, why) &&
                                     same_plan(graph, parsed, options, why);
  stow_module_destroy(module);
  stow_string_free(&text);
  return agrees;
}

stow_plan_options text_plan_model_options(void) {
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  options.params = false;
  options.constants = false;
  options.order = STOW_ORDER_AUTO;
  options.nodes = 10000;
  options.order_nodes = 10000;
  return options;
}
