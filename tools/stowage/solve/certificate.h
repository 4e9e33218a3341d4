// What proves a lower bound, for programs that check it: bench/verify_certificate.py does.
#ifndef STOWAGE_TOOLS_SOLVE_CERTIFICATE_H_
#define STOWAGE_TOOLS_SOLVE_CERTIFICATE_H_

#include "solve/solution.h"

// Replaces the file |path|. |ignores_offsets|: offsets in the file were not kept. Complains.
cli_exit cli_certificate_write(const cli_solution* solution, bool ignores_offsets,
                               const char* path);

#endif  // STOWAGE_TOOLS_SOLVE_CERTIFICATE_H_
