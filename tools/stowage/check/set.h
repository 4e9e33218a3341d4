// `stowage check` of several plans for one arena.
#ifndef STOWAGE_TOOLS_CHECK_SET_H_
#define STOWAGE_TOOLS_CHECK_SET_H_

#include "graphs/io_policy.h"
#include "graphs/model.h"

// |operands| are pairs: a file, and a saved plan of one of its graphs. Proves every plan against
// its graph, and all against each other. Complains.
cli_exit cli_check_set(char** operands, size_t count, cli_model_request* model,
                       const cli_io_policies* io);

#endif  // STOWAGE_TOOLS_CHECK_SET_H_
