// Parts of a program in words, for messages.
#ifndef STOWAGE_SRC_EXEC_PROGRAM_WORDS_H_
#define STOWAGE_SRC_EXEC_PROGRAM_WORDS_H_

#include <stowage/graph.h>
#include <stowage/kernel.h>

typedef struct stowi_exec_words {
  char text[256];
} stowi_exec_words;

// `%7 "name"`, and `node 12 "name" (gather)`, named by its first result where that has a name.
stowi_exec_words stowi_exec_words_value(const stow_graph* graph, stow_value value);
stowi_exec_words stowi_exec_words_node(const stow_graph* graph, stow_node node);
// `f32[2, 3]`
stowi_exec_words stowi_exec_words_tensor(const stow_tensor* tensor);

#endif  // STOWAGE_SRC_EXEC_PROGRAM_WORDS_H_
