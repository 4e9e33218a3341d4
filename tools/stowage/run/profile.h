// Where the time of a run goes: per op, per node, and as a trace.
#ifndef STOWAGE_TOOLS_RUN_PROFILE_H_
#define STOWAGE_TOOLS_RUN_PROFILE_H_

#include "files/output.h"
#include "run/run.h"

typedef struct cli_node_time {
  uint64_t nanoseconds;  // its own, without what it calls
  uint64_t calls;
  uint64_t bytes;   // of operands and results; nothing for views
  uint64_t median;  // of the nanoseconds of a run
} cli_node_time;

typedef struct cli_profile cli_profile;

// Room for all nodes of |graph| in |runs| runs; NULL where memory is out. |traces|: single calls
// are kept too.
cli_profile* cli_profile_create(const stow_graph* graph, uint64_t runs, bool traces);
void cli_profile_destroy(cli_profile* profile);
// Forgets calls, but not sums: a trace is of one run. A run counts once it has ended.
void cli_profile_begin_run(cli_profile* profile);
void cli_profile_end_run(cli_profile* profile);
// Forgets all: what warms up is not counted.
void cli_profile_clear(cli_profile* profile);
// A step that begins or ends.
void cli_profile_step(cli_profile* profile, const stow_exec_event* event);

void cli_profile_print(cli_profile* profile, cli_output* output);
// `"profile": {…}`
void cli_profile_print_json(cli_profile* profile, cli_output* output);
// The calls of the last run in the Trace Event Format, to |path|. Complains.
cli_exit cli_profile_write_trace(const cli_profile* profile, const char* path);

// "12.3 ms", "845 us": three significant digits.
void cli_format_time(uint64_t nanoseconds, char* out, size_t capacity);

#endif  // STOWAGE_TOOLS_RUN_PROFILE_H_
