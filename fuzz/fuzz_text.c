// Any bytes as a `.stow` text. Whatever parses must print, parse again and print the same bytes,
// and mean the same graph. Whatever does not must say where and why.
#include <stdint.h>
#include <stowage/text.h>
#include <string.h>

static void require(int condition) {
  if (!condition) {
    __builtin_trap();
  }
}

static stow_status parse(const char* text, size_t size, stow_module** out_module) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status =
      stow_module_parse(text, size, "fuzz", NULL, stow_allocator_default(), &diag, out_module);
  if (status != STOW_OK) {
    require(*out_module == NULL && diag.status == status);
    require(diag.line != 0 && diag.column != 0);
    require(strncmp(diag.message, "fuzz:", 5) == 0);
  }
  return status;
}

static void require_same(stow_module* a, stow_module* b) {
  size_t count = stow_module_graph_count(a);
  require(count != 0 && count == stow_module_graph_count(b));
  for (size_t i = 0; i < count; ++i) {
    stow_graph* x = stow_module_graph(a, i);
    stow_graph* y = stow_module_graph(b, i);
    require(stow_graph_fingerprint(x) == stow_graph_fingerprint(y));
    require(stow_graph_verify(x, NULL) == stow_graph_verify(y, NULL));
    require(stow_module_find(a, stow_graph_name(y)) == x);
  }
}

static void require_round_trip(stow_module* module) {
  stow_string first;
  stow_string second;
  stow_module* again = NULL;
  stow_string_init(&first, stow_allocator_default());
  stow_string_init(&second, stow_allocator_default());
  require(stow_module_print(module, stow_string_writer(&first)) == STOW_OK);
  require(parse(first.data, first.size, &again) == STOW_OK);
  require(stow_module_print(again, stow_string_writer(&second)) == STOW_OK);
  require(first.size == second.size && memcmp(first.data, second.data, first.size) == 0);
  require_same(module, again);
  stow_module_destroy(again);
  stow_string_free(&first);
  stow_string_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  stow_module* module = NULL;
  if (parse((const char*)data, size, &module) == STOW_OK) {
    require_round_trip(module);
  }
  stow_module_destroy(module);
  return 0;
}
