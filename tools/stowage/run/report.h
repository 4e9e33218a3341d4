// What a run tells of itself: as text, and the same as JSON.
#ifndef STOWAGE_TOOLS_RUN_REPORT_H_
#define STOWAGE_TOOLS_RUN_REPORT_H_

#include "files/output.h"
#include "run/run.h"
#include "run/statistics.h"

// The comparison of an output with its test data.
cli_comparison cli_run_compare(const cli_run* run, size_t output);
// Whether it passes.
bool cli_is_expected(const cli_comparison* comparison);

void cli_run_print_text(const cli_run* run, cli_output* output);
void cli_run_print_json(const cli_run* run, cli_output* output);

#endif  // STOWAGE_TOOLS_RUN_REPORT_H_
