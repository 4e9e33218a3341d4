// Shared by the tests of the text format.
#ifndef STOWAGE_TESTS_GRAPH_TEXT_SUPPORT_H_
#define STOWAGE_TESTS_GRAPH_TEXT_SUPPORT_H_

#include <stowage/text.h>
#include <string.h>

#include "support/fault.h"
#include "support/test.h"

// The first graph of |text|; fails the running test if it does not parse. Destroy the module.
static inline stow_module* parse_text(const char* text) {
  stow_module* module = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_module_parse(text, strlen(text), "test.stow", NULL,
                                         stow_allocator_default(), &diag, &module);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s", diag.message);
  return module;
}

// Printed text; free with stow_string_free.
static inline stow_string print_module(const stow_module* module) {
  stow_string out;
  stow_string_init(&out, stow_allocator_default());
  CHECK(module != NULL && stow_module_print(module, stow_string_writer(&out)) == STOW_OK);
  return out;
}

static inline void check_prints_as(const char* text, const char* expected, const char* file,
                                   int line) {
  stow_module* module = parse_text(text);
  if (module != NULL) {
    stow_string printed = print_module(module);
    test_check_text(printed.data, expected, file, line, "the printed text");
    stow_string_free(&printed);
  } else {
    test_check(false, file, line, "the text does not parse");
  }
  stow_module_destroy(module);
}

#define CHECK_PRINTS_AS(text, expected) check_prints_as((text), (expected), __FILE__, __LINE__)
#define CHECK_ROUND_TRIP(text) check_prints_as((text), (text), __FILE__, __LINE__)

#endif  // STOWAGE_TESTS_GRAPH_TEXT_SUPPORT_H_
