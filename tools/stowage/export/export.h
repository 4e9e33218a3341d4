// `stowage export`: a model as a C program of its own. The plan's offsets, the kernels it uses and
// the weights become files; what runs them is a few files that are the same for every program.
#ifndef STOWAGE_TOOLS_EXPORT_EXPORT_H_
#define STOWAGE_TOOLS_EXPORT_EXPORT_H_

#include "export/folder.h"
#include "export/sources.h"
#include "export/words.h"
#include "graphs/label.h"
#include "run/run.h"

// An input or output of the program.
typedef struct cli_port {
  stow_value value;
  bool is_output;
  bool is_kept;      // no run writes over it
  stow_string name;  // in the model
  char identifier[CLI_IDENTIFIER_SIZE];
} cli_port;

// A param, constant or known input whose bytes are in the program.
typedef struct cli_weight {
  stow_value value;
  const void* data;
  size_t size;
  size_t file;     // the number of the file that it is in
  bool is_preset;  // it lives in the arena, and is put there before every run
} cli_weight;

// Where a value's bytes are: in the arena, in a weight, or nowhere.
typedef struct cli_place {
  bool is_there;
  size_t weight;  // its index; SIZE_MAX: in the arena
  uint64_t offset;
} cli_place;

typedef struct cli_node {
  size_t step;      // in the program's table; SIZE_MAX: it has no kernel
  stow_node attrs;  // the first node that has the same attributes
  stow_slot scratch;
} cli_node;

typedef struct cli_export {
  cli_run run;
  const char* asked_name;  // NULL: after the file
  char name[CLI_IDENTIFIER_SIZE];
  char macro[CLI_IDENTIFIER_SIZE];  // the same in capitals
  bool json;
  const stow_graph* graph;  // the run's
  const stow_plan* plan;
  cli_list ports;     // of cli_port
  cli_list weights;   // of cli_weight
  cli_place* places;  // by value
  cli_node* nodes;    // by node
  size_t step_count;
  size_t most_results;  // of a step
  size_t file_count;    // of weights
  uint64_t weight_bytes;
  bool has_regions;
  cli_source_set library;  // what the model needs
  cli_source_set tool;     // and what its command line needs besides
  cli_folder folder;
} cli_export;

// What the program consists of (layout.c, ports.c). Complains about what no program can have. All
// is freed by cli_export_free.
cli_exit cli_export_lay_out(cli_export* export);
cli_exit cli_export_find_ports(cli_export* export);
void cli_export_free(cli_export* export);

// Regions, as the executor carries them out.
typedef struct cli_body {
  stow_node args;  // STOW_NODE_NONE: there are none
  stow_node yield;
  size_t carried;
  stow_carry carry;
} cli_body;
cli_body cli_body_of(const stow_graph* graph, stow_node loop);

// STOW_OP_… without its prefix: CONV.
const char* cli_op_identifier(stow_op op);

// The files of the program; |user| is a cli_export.
void cli_export_print_header(cli_output* output, const void* user);
void cli_export_print_tables(cli_output* output, const void* user);
void cli_export_print_main(cli_output* output, const void* user);
void cli_export_print_makefile(cli_output* output, const void* user);
void cli_export_print_readme(cli_output* output, const void* user);
void cli_export_print_weights_header(cli_output* output, const void* user);
// Parts of them. What runs the steps, with branches and loops (flow.c).
void cli_export_print_flow(cli_output* output, const cli_export* export);
// A file of weights; |user| is a cli_weight_file.
typedef struct cli_weight_file {
  const cli_export* export;
  size_t number;
} cli_weight_file;
void cli_export_print_weights(cli_output* output, const void* user);
// "digits_weights.c", "digits_weights_2.c"
#define CLI_FILE_NAME_SIZE (CLI_IDENTIFIER_SIZE + 64)
void cli_weight_file_name(const cli_export* export, size_t number, char out[CLI_FILE_NAME_SIZE]);

#endif  // STOWAGE_TOOLS_EXPORT_EXPORT_H_
