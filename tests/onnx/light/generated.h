// Graphs of well-known forms, for the record of arena sizes.
#ifndef STOWAGE_TESTS_ONNX_GENERATED_H_
#define STOWAGE_TESTS_ONNX_GENERATED_H_

#include <stowage/graph.h>

// |name| is `residual`, `dense`, `unet`, `inception` or `attention`; NULL for another. Ends the
// program where a graph cannot be made. The caller destroys it.
stow_graph* generate_graph(const char* name);

#endif  // STOWAGE_TESTS_ONNX_GENERATED_H_
