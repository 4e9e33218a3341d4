// The `.stow` text format: reading and writing graphs. docs/text-format.md describes it.
#ifndef STOWAGE_TEXT_H_
#define STOWAGE_TEXT_H_

#include <stowage/base.h>
#include <stowage/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

// The graphs of one file, in its order.
typedef struct stow_module stow_module;

// Reads |text|. Names of graphs are unique within it, and there is at least one. An error says
// what was expected; its position is in the fields of |diag|, not in the message, which begins with
// |file_name| unless that is NULL: `mlp.stow: expected …`. Time and memory are proportional to
// |size|. |ops| as in stow_graph_create.
STOW_API stow_status stow_module_parse(const char* text, size_t size, const char* file_name,
                                       const stow_ops* ops, stow_allocator allocator,
                                       stow_diag* diag, stow_module** out_module);
STOW_API void stow_module_destroy(stow_module* module);
STOW_API size_t stow_module_graph_count(const stow_module* module);
// Owned by the module; may be changed (bound). NULL past the end.
STOW_API stow_graph* stow_module_graph(stow_module* module, size_t index);
// NULL where there is none of that name.
STOW_API stow_graph* stow_module_find(stow_module* module, stow_str name);

// Writes the canonical form: printing a parsed canonical text gives the same bytes. Data that types
// or known values follow from is written inline, up to 1024 elements of a value, so that the text
// has the same plans as the graph; other data is not written.
STOW_API stow_status stow_graph_print(const stow_graph* graph, stow_writer writer);
// All graphs, an empty line between two.
STOW_API stow_status stow_module_print(const stow_module* module, stow_writer writer);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_TEXT_H_
