// `--explain`: what shares bytes, what does not, and why; and what is known of orders.
#ifndef STOWAGE_TOOLS_PLAN_EXPLAIN_H_
#define STOWAGE_TOOLS_PLAN_EXPLAIN_H_

#include "files/output.h"
#include "plan/summary.h"

// Goes after the summary. Large graphs have thousands of decisions: of each kind the largest are
// shown, and how many more there are.
void cli_explain_print(const cli_summary* summary, cli_output* output);

#endif  // STOWAGE_TOOLS_PLAN_EXPLAIN_H_
