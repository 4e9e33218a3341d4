// What a model lacks before all its dims are numbers: the fewest symbols to bind, in the order in
// which they matter.
#ifndef STOWAGE_TOOLS_GRAPHS_NEEDS_H_
#define STOWAGE_TOOLS_GRAPHS_NEEDS_H_

#include "graphs/model.h"

typedef struct cli_need {
  char* symbol;   // what --bind takes
  char* tensor;   // an input, or the first tensor with the dim
  uint32_t axis;  // of its dim
  bool is_data;   // it depends on data: the value is the largest that is allowed
} cli_need;

typedef struct cli_needs {
  cli_list list;  // of cli_need; those of inputs come first
  size_t inputs;  // how many these are
  bool is_whole;  // the list suffices, as far as a trial shows
} cli_needs;

// Of an imported model. False where memory is out; free them also then.
bool cli_needs_find(const cli_model* model, cli_needs* out_needs);
void cli_needs_free(cli_needs* needs);

// Whether a dim of |tensor| that depends on data is among them.
bool cli_needs_data(const cli_needs* needs, stow_str tensor);

#endif  // STOWAGE_TOOLS_GRAPHS_NEEDS_H_
