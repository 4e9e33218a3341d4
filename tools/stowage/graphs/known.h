// Inputs whose arrays are known before their graph is: their shapes give its symbols values, and
// small ones say what shapes depend on, so that nobody has to say twice what an array says already.
#ifndef STOWAGE_TOOLS_GRAPHS_KNOWN_H_
#define STOWAGE_TOOLS_GRAPHS_KNOWN_H_

#include <stowage/graph.h>

#include "arguments/list.h"
#include "graphs/bind.h"
#include "terminal/fail.h"

// Arrays that could tell a shape: larger ones are data.
#define CLI_MOST_KNOWN_ELEMENTS 1024

typedef struct cli_known_shape {
  stow_str name;     // of the input; borrowed
  size_t position;   // among the inputs, where it has no name
  const char* from;  // the file that says so
  uint32_t rank;
  const int64_t* dims;  // borrowed
  stow_dtype dtype;
  const void* data;  // borrowed; NULL where there is more than could tell a shape
} cli_known_shape;

typedef struct cli_known {
  cli_binds* binds;  // where values of symbols go, those of others first
  cli_list shapes;   // of cli_known_shape
  cli_list values;   // what was found, with the shape that said so
} cli_known;

bool cli_known_add(cli_known* known, const cli_known_shape* shape);
void cli_known_free(cli_known* known);

struct cli_model;
// Symbols of a model's inputs, or of a graph's, that nothing has bound yet get what the shapes say.
// Complain where two shapes disagree. |known| may be NULL.
cli_exit cli_known_bind_model(cli_known* known, const struct cli_model* model);
cli_exit cli_known_bind_graph(cli_known* known, stow_graph* graph);

// Which input of |model| a shape is for; the number of inputs where there is none.
size_t cli_known_input(const struct cli_model* model, const cli_known_shape* shape);

#endif  // STOWAGE_TOOLS_GRAPHS_KNOWN_H_
