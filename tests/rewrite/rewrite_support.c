#include "rewrite/rewrite_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fault.h"
#include "support/test.h"

stow_module* parse_graph(const char* text) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_module* module = NULL;
  if (stow_module_parse(text, strlen(text), NULL, NULL, stow_allocator_default(), &diag, &module) !=
      STOW_OK) {
    fprintf(stderr, "line %u: %s\n%s", (unsigned)diag.line, diag.message, text);
    exit(2);
  }
  return module;
}

stow_rewritten* rewrite_graph(const stow_graph* graph, const stow_rewrite_options* options) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_rewritten* rewritten = NULL;
  stow_status status = stow_rewrite(graph, options, stow_allocator_default(), &diag, &rewritten);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s", diag.message);
  return rewritten;
}

typedef struct attempt {
  const stow_graph* graph;
  const stow_rewrite_options* options;
} attempt;

static stow_status rewrite_once(stow_allocator allocator, void* user) {
  const attempt* a = (const attempt*)user;
  stow_rewritten* r = NULL;
  stow_status status = stow_rewrite(a->graph, a->options, allocator, NULL, &r);
  stow_rewritten_destroy(r);
  return status;
}

size_t rewrite_with_faults(const char* text, const stow_rewrite_options* options) {
  stow_module* module = parse_graph(text);
  attempt a = {stow_module_graph(module, 0), options};
  size_t failed = test_fault_sweep(rewrite_once, &a);
  stow_module_destroy(module);
  return failed;
}

static stow_string print_graph(const stow_graph* graph) {
  stow_string text;
  stow_string_init(&text, stow_allocator_default());
  CHECK(stow_graph_print(graph, stow_string_writer(&text)) == STOW_OK);
  return text;
}

// Printed, parsed and printed again, |graph| is the same text.
static void check_round_trip(const stow_graph* graph, const char* expected, int line) {
  stow_string printed = print_graph(graph);
  test_check_text(printed.data, expected, __FILE__, line, "the rewritten graph");
  stow_module* module = parse_graph(printed.data);
  stow_string again = print_graph(stow_module_graph(module, 0));
  CHECK_TEXT(again.data, printed.data);
  stow_module_destroy(module);
  stow_string_free(&again);
  stow_string_free(&printed);
}

void check_rewrites(stow_rewrite_rule rule, const char* text, const char* expected, int line) {
  stow_module* module = parse_graph(text);
  const stow_graph* graph = stow_module_graph(module, 0);
  stow_rewrite_options options;
  stow_rewrite_options_init(&options);
  options.off = ~stow_rewrite_bit(rule);
  stow_rewritten* rewritten = rewrite_graph(graph, &options);
  if (rewritten != NULL) {
    const stow_graph* made = stow_rewritten_graph(rewritten);
    bool fired = stow_rewritten_count(rewritten, rule) != 0;
    test_check(fired == (expected != NULL), __FILE__, line, "fired: %d", fired);
    test_check((made != graph) == fired, __FILE__, line, "another graph: %d", made != graph);
    stow_diag diag;
    stow_diag_init(&diag);
    test_check(stow_graph_verify(made, &diag) == STOW_OK, __FILE__, line, "%s", diag.message);
    check_round_trip(made, expected == NULL ? text : expected, line);
    stow_rewritten* again = rewrite_graph(made, &options);
    test_check(stow_rewritten_count(again, rule) == 0, __FILE__, line, "fires again");
    stow_rewritten_destroy(again);
  }
  stow_rewritten_destroy(rewritten);
  stow_module_destroy(module);
}
