// All headers of libstowage in one include.
//
// Stowage plans the memory of tensor programs: it gives every tensor of a graph a fixed place in
// one arena, so that running the graph allocates nothing.
//
//     model.onnx ─ onnx.h ─┐
//     graph.stow ─ text.h ─┤
//     C calls ─────────────┴▶ graph.h ─▶ effects.h ─▶ plan.h ─▶ arena.h   the caller's executor
//                                                       └─────▶ exec.h    the library's executor
//
// | header     | contents                                                                |
// | ---------- | ----------------------------------------------------------------------- |
// | base.h     | errors, diagnostics, allocators, strings, writers; rules for all calls  |
// | type.h     | element types, dims, tensor types                                       |
// | op.h       | the table of ops, and how to add to it                                  |
// | graph.h    | building, reading, binding and verifying graphs                         |
// | text.h     | graphs as text                                                          |
// | schedule.h | the order in which nodes run                                            |
// | effects.h  | what an executor does with memory that the graph does not show          |
// | plan.h     | making, reading, saving and proving plans                               |
// | formula.h  | plans for ranges of shapes                                              |
// | sharing.h  | why values share bytes, or do not                                       |
// | set.h      | several graphs in one arena                                             |
// | arena.h    | the bytes of a plan at run time                                         |
// | place.h    | placing buffers, without graphs                                         |
// | csv.h      | placement problems as CSV                                               |
//
// Headers of other libraries are included by themselves: onnx.h and import.h (libstowage-onnx),
// exec.h and kernel.h (libstowage-exec), report.h (libstowage-report), npy.h (libstowage-npy).
// docs/c-api.md is the guide, docs/concepts.md defines the terms.
//
//     #include <stdio.h>
//     #include <stowage/stowage.h>
//
//     static stow_status plan_text(stow_str text, stow_diag* diag) {
//       stow_allocator heap = stow_allocator_default();
//       stow_str names[] = {stow_str_of("n")};
//       int64_t numbers[] = {4};
//       stow_module* module = NULL;
//       stow_graph* graph = NULL;
//       stow_effects* effects = NULL;
//       stow_plan* plan = NULL;
//       stow_arena* arena = NULL;
//       stow_status status =
//           stow_module_parse(text.data, text.size, "mlp.stow", NULL, heap, diag, &module);
//       if (status == STOW_OK) graph = stow_module_graph(module, 0);
//       if (status == STOW_OK) status = stow_graph_bind(graph, names, numbers, 1, diag);
//       if (status == STOW_OK) status = stow_effects_create(graph, heap, diag, &effects);
//       if (status == STOW_OK) status = stow_plan_make(graph, effects, NULL, heap, diag, &plan);
//       if (status == STOW_OK) status = stow_plan_check(plan, graph, effects, heap, diag, NULL);
//       if (status == STOW_OK) status = stow_arena_create(plan, NULL, heap, diag, &arena);
//       if (status == STOW_OK) printf("arena of %zu bytes\n", stow_arena_size(arena));
//       stow_arena_destroy(arena);  // before the plan, which it borrows
//       stow_plan_destroy(plan);
//       stow_effects_destroy(effects);
//       stow_module_destroy(module);  // the graph with it
//       return status;
//     }
//
//     int main(void) {
//       stow_diag diag;
//       stow_diag_init(&diag);
//       stow_status status = plan_text(stow_str_of("graph @mlp {\n"
//                                                  "  %0 = input \"x\" : f32[?n, 384]\n"
//                                                  "  %1 = param \"w\" : f32[384, 384]\n"
//                                                  "  %2 = matmul(%0, %1) : f32[?n, 384]\n"
//                                                  "  %3 = gelu(%2) : f32[?n, 384]\n"
//                                                  "  return %3\n"
//                                                  "}\n"),
//                                      &diag);
//       if (status != STOW_OK) puts(diag.message);
//       return status == STOW_OK ? 0 : 1;
//     }
#ifndef STOWAGE_STOWAGE_H_
#define STOWAGE_STOWAGE_H_

#include <stowage/arena.h>
#include <stowage/base.h>
#include <stowage/csv.h>
#include <stowage/effects.h>
#include <stowage/formula.h>
#include <stowage/graph.h>
#include <stowage/op.h>
#include <stowage/place.h>
#include <stowage/plan.h>
#include <stowage/rewrite.h>
#include <stowage/schedule.h>
#include <stowage/set.h>
#include <stowage/sharing.h>
#include <stowage/text.h>
#include <stowage/type.h>

#endif  // STOWAGE_STOWAGE_H_
