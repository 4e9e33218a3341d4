// `stowage run`: what was asked for, and what a run owns. A model is planned as `stowage plan`
// plans it, fed, run inside its plan, and what comes out is shown, written, compared.
#ifndef STOWAGE_TOOLS_RUN_RUN_H_
#define STOWAGE_TOOLS_RUN_RUN_H_

#include <stowage/formula.h>

#include "plan/job.h"
#include "run/random.h"
#include "tensors/tensor_file.h"
#include "terminal/watch.h"

typedef struct cli_run_request {
  cli_list inputs;          // of cli_given, `NAME=FILE`
  cli_list outputs;         // the same
  const char* inputs_from;  // a .npz or a folder; NULL: none
  const char* outputs_to;   // the same
  const char* expect;       // a folder with test data; NULL: none
  bool has_tolerance;       // one was given
  double rtol;
  double atol;
  bool has_seed;
  uint64_t seed;
  bool repeats;
  uint64_t repeat;  // runs that are counted
  uint64_t warmup;  // runs before them, the first one not counted
  bool profile;
  const char* trace;  // NULL: none
  uint32_t threads;
  bool check;
  bool paranoid;
  const char* plan;       // a saved one; NULL: none
  const char* save_plan;  // NULL: do not
  bool json;
  cli_list loops;      // of cli_given, `OUT=IN`
  cli_list fills;      // of cli_given, `NAME=WORD`
  const char* next;    // `OUT=IN`; NULL: none
  const char* prompt;  // numbers; NULL: none
  bool has_steps;
  uint64_t steps;
  double temperature;  // 0: the largest
} cli_run_request;

// A file that was given, open until the run is over.
typedef struct cli_given_file {
  char* path;  // owned
  char* name;  // what its array is called; owned; NULL: the file says so
  cli_tensor_file tensors;
} cli_given_file;

// An array that was given, and for what.
typedef struct cli_given_array {
  stow_str name;             // of the input; empty: the one at |position|
  size_t position;           // among the inputs of the model
  const char* from;          // the file, or the folder that it is in
  const char* path;          // the file
  const cli_stored* stored;  // NULL: raw bytes, which are read when their type is known
  bool is_asked;             // by name on the command line: it must be of use
  bool is_used;
} cli_given_array;

// A value that the run is given: an input, or a param or constant that the file has no data for.
typedef struct cli_feed {
  stow_value value;
  stow_tensor tensor;  // its data is one of the arrays'
  const char* from;    // the file, "random" or "--value"
} cli_feed;

// |feeds| are in the order of their values. NULL: none.
const cli_feed* cli_find_feed(const cli_feed* feeds, size_t count, stow_value value);

// An output, as a run left it.
typedef struct cli_result {
  stow_value value;
  cli_array array;  // with the output's name
} cli_result;

// Times of runs, in nanoseconds.
typedef struct cli_times {
  cli_time begun;  // when the command was started, plus what reading or making inputs took
  cli_time start;  // from then to the first run: reading the model, planning, proving
  uint64_t fold;   // of that, computing weights that were folded
  uint64_t first;
  cli_list runs;       // of uint64_t, without the first and those to warm up
  uint64_t processor;  // what processors worked in those, in all threads together
} cli_times;

// How far outputs are from those of the model as it is, after near rules.
typedef struct cli_nearness {
  bool is_compared;
  bool has_quanta;  // of outputs that are integers, or were dequantised with one scale
  double quanta;    // at most
  bool has_floats;  // of others
  double absolute;  // at most
  double relative;  // that, of the largest element of its output
} cli_nearness;

struct cli_profile;
struct cli_digests;

// What happens around steps: the line, signals, and what listens to them.
typedef struct cli_steps {
  cli_watch* watch;
  const stow_graph* graph;
  uint32_t step_count;
  uint64_t run;  // the one that runs, from 1
  uint64_t run_count;
  const char* doing;            // "run", "check"
  struct cli_profile* profile;  // NULL: none
  struct cli_digests* digests;  // NULL: none
  bool finishes;                // a signal ends what comes after this run
  bool is_stopped;              // by a signal
} cli_steps;

// The callback of stow_exec_options; |user| is an executor's cli_engine.
bool cli_on_step(void* user, const stow_exec_event* event);

// An executor and what it runs on.
typedef struct cli_engine {
  const cli_feed* feeds;
  size_t feed_count;
  const stow_graph* graph;
  const stow_plan* plan;
  const stow_formula* formula;  // of a range, instead of |plan|; NULL: one shape
  uint64_t capacity;            // of its arena; 0: as much as it needs
  const char* label;
  const stow_model* model;  // NULL: the graph is none's
  stow_folded* folded;      // weights that are computed; NULL: none
  const stow_prepared* prepared;
  cli_steps steps;
  cli_list bound;  // of cli_array: outputs outside the arena
  stow_exec* exec;
} cli_engine;

typedef struct cli_run {
  cli_plan_job job;
  cli_run_request request;
  cli_list planning;  // of const char*: options of `plan` that were given
  stow_prepare_options prepare;
  cli_known known;
  cli_list files;         // of cli_given_file*
  cli_list origins;       // of cli_given_array: what is in them, and raw bytes
  cli_list given;         // of cli_array: what was loaded of that, and random
  cli_list expected;      // of cli_array: outputs of test data
  cli_list feeds;         // of cli_feed, in the order of values
  stow_folded* folded;    // weights of the rewritten graph that are computed; NULL: none
  cli_list results;       // of cli_result
  cli_list output_names;  // of stow_string
  cli_times times;
  struct cli_profile* profile;
  cli_watch watch;
  size_t random_count;  // of params and constants
  bool is_stopped;      // by a signal, with something measured
  bool is_checked;
  bool is_different;  // from the run without sharing
  cli_nearness near;
} cli_run;

// Inputs (inputs.c). All complain.
cli_exit cli_run_read_inputs(cli_run* run);    // types in files, before the graph is read
cli_exit cli_run_match_inputs(cli_run* run);   // to the values of the graph
cli_exit cli_run_match_weights(cli_run* run);  // to its params and constants alone
void cli_run_close_inputs(cli_run* run);
// After a complaint about a model: arrays that are for no input, and so did not bind its symbols.
void cli_run_tell_unknown_inputs(const cli_run* run);
// What outputs are called, for people and files (names.c): an output's name, or `output_N` where it
// has none or one before has it too; with `_` behind it where an output is called that. Complains.
cli_exit cli_run_name_outputs(cli_run* run);
stow_str cli_run_output_name(const cli_run* run, size_t index);
void cli_run_free_names(cli_run* run);

// Takes an option of `plan`, and checks those that were taken (command.c). Complain.
cli_exit cli_run_take_planning(cli_run* run, const cli_option* option, const char* value);
cli_exit cli_run_check_planning(const cli_run* run);
// Computes the weights that were folded (engine.c). Complains.
cli_exit cli_run_fold(cli_run* run);
// Reads and binds the graph, plans it or reads its plan, and names its outputs (command.c). If the
// job takes ranges and the graph has some, there is no plan then. Complains.
cli_exit cli_run_plan(cli_run* run);
void cli_run_free(cli_run* run);

// Executors (engine.c). All complain, but not of a signal, which is CLI_GAVE_UP. End with
// cli_engine_close, whatever open returned.
cli_exit cli_engine_open(cli_engine* engine, const stow_prepared* prepared, bool paranoid);
cli_exit cli_engine_fail(const cli_engine* engine, stow_status status, const stow_diag* diag);
cli_exit cli_engine_run(cli_engine* engine, cli_time* out_time);
cli_exit cli_engine_results(cli_engine* engine, const cli_run* run, cli_list* out_results);
void cli_engine_close(cli_engine* engine);
void cli_results_free(cli_list* results);

// `--loop`: runs the model step by step, each with what the last one left (loop.c). Complains.
cli_exit cli_run_loop(cli_run* run);
// What is wrong with its options, before anything is read. Complains.
cli_exit cli_run_check_loop(const cli_run* run);

// Runs the model again with a plan in which no bytes are shared, and compares (check.c). If near
// rules fired, the model as it is runs, too, and outputs are measured. Complains, but not of a
// signal.
cli_exit cli_run_check(cli_run* run, cli_engine* engine);
// What the run that it is compared with is without, beside shared bytes: "rewriting and ".
const char* cli_run_unlike(const cli_run* run);

// What steps computed, in short: enough to find the first that differs between two runs.
typedef struct cli_digest {
  stow_node node;
  uint32_t call;  // how often it had run before, in a loop
  uint32_t step;
  uint64_t hash;  // of its results: types and bits
} cli_digest;

typedef struct cli_digests {
  uint32_t* calls;   // of each node
  cli_list digests;  // of cli_digest, in the order of steps
  bool failed;       // memory is out
} cli_digests;

void cli_digest_step(cli_digests* digests, const stow_exec_event* event);

#endif  // STOWAGE_TOOLS_RUN_RUN_H_
