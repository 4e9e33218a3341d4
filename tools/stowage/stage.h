// Several files in a folder, of which all appear or none. They are written to a folder inside it,
// and moved from there when the last one is written: a full disk, or a signal, leaves what was
// there.
#ifndef STOWAGE_TOOLS_STAGE_H_
#define STOWAGE_TOOLS_STAGE_H_

#include "list.h"
#include "output.h"

typedef struct cli_stage {
  const char* path;   // the folder; borrowed
  stow_string inner;  // the one that is written to; empty: there is none
  stow_string from;   // the file that is written, in both
  stow_string to;
  cli_list files;   // of char*: what is in it, relative to either
  bool is_made;     // the folder was missing
  sigset_t held;    // the signal mask to go back to
  size_t written;   // files
  uint64_t bytes;   // of them
  bool is_holding;  // signals
} cli_stage;

// Makes the folder where it is missing. Complains. End with cli_stage_close, whatever it returned.
cli_exit cli_stage_open(cli_stage* stage, const char* path);
// Opens |file|, which may lie in further folders, to be written and closed by cli_output_close.
// Complains.
cli_exit cli_stage_create(cli_stage* stage, const char* file, cli_output* output);
// Sees to it that all files can be moved to their places, and does so, in the order in which they
// were created. Complain.
cli_exit cli_stage_prepare(cli_stage* stage);
cli_exit cli_stage_move(cli_stage* stage);
// Removes what was not moved, and a folder that was made for nothing.
void cli_stage_close(cli_stage* stage);

// Removes |file| of a folder, and the folders between that are empty then.
void cli_remove_below(const char* folder, const char* file);

#endif  // STOWAGE_TOOLS_STAGE_H_
