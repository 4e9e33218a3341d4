// The `.stow` text format: reading and writing graphs. docs/text-format.md describes it.
//
// A text holds one graph or several; parsing gives a module, which owns them. The graphs are
// ordinary graphs (graph.h): bind their symbols, plan them, print them. The module copies what it
// needs, so the text can be freed after parsing; destroying the module destroys its graphs.
//
// Text is untrusted input: errors give line and column, and time and memory are proportional to the
// size of the text. Printing gives a canonical form, which formatters and tests can compare.
//
//     #include <stdio.h>
//     #include <stowage/text.h>
//
//     int main(void) {
//       stow_str text = stow_str_of("graph @g {\n"
//                                   "  %0 = input \"x\" : f32[4]\n"
//                                   "  %1 = relu(%0) : f32[4]\n"
//                                   "  return %1\n"
//                                   "}\n");
//       stow_allocator heap = stow_allocator_default();
//       stow_module* module = NULL;
//       stow_string canonical;
//       stow_diag diag;
//       stow_diag_init(&diag);
//       stow_string_init(&canonical, heap);
//       stow_status status =
//           stow_module_parse(text.data, text.size, "g.stow", NULL, heap, &diag, &module);
//       if (status == STOW_OK) status = stow_module_print(module, stow_string_writer(&canonical));
//       puts(status == STOW_OK ? canonical.data : diag.message);
//       stow_string_free(&canonical);
//       stow_module_destroy(module);
//       return status == STOW_OK ? 0 : 1;
//     }
#ifndef STOWAGE_TEXT_H_
#define STOWAGE_TEXT_H_

#include <stowage/base.h>
#include <stowage/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

// The graphs of one text, in its order.
typedef struct stow_module stow_module;

// Parses |size| bytes of |text|: at least one graph, no name twice. An error says what
// was expected; its line and column are in the fields of |diag|, and the message starts with
// |file_name| unless that is NULL: `mlp.stow: expected …`. |ops| as in stow_graph_create. Free the
// result with stow_module_destroy. O(size).
STOW_API stow_status stow_module_parse(const char* text, size_t size, const char* file_name,
                                       const stow_ops* ops, stow_allocator allocator,
                                       stow_diag* diag, stow_module** out_module);
// Destroys the graphs too.
STOW_API void stow_module_destroy(stow_module* module);
STOW_API size_t stow_module_graph_count(const stow_module* module);
// Owned by the module; may be changed, for example bound. NULL past the end.
STOW_API stow_graph* stow_module_graph(stow_module* module, size_t index);
// Owned by the module; NULL if no graph has this name.
STOW_API stow_graph* stow_module_find(stow_module* module, stow_str name);

// Writes the canonical form: parsing and printing it again gives the same bytes. Data that types or
// known values depend on is written inline, up to 1024 elements of a value, so the text has the
// same plan as the graph; other data is not written. Fails only if |writer| does, with its status,
// or if out of memory.
STOW_API stow_status stow_graph_print(const stow_graph* graph, stow_writer writer);
// Writes all graphs, separated by an empty line.
STOW_API stow_status stow_module_print(const stow_module* module, stow_writer writer);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_TEXT_H_
