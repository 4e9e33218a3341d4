// Several changes to a folder, of which all are made or none. Files are written to a folder inside
// it, and moved from there when the last one is written; what they replace is kept until all have
// moved, and moved back where one cannot. SIGHUP, SIGINT and SIGTERM wait meanwhile. A process that
// ends otherwise (SIGKILL, a crash) leaves the inner folder, and where it was moving files, a part
// of them, with those that they replace in the inner folder.
#ifndef STOWAGE_TOOLS_FILES_STAGE_H_
#define STOWAGE_TOOLS_FILES_STAGE_H_

#include "arguments/list.h"
#include "files/output.h"

typedef struct cli_stage {
  const char* path;   // the folder; borrowed
  stow_string inner;  // the one that is written to
  stow_string from;   // of the change at hand: where the file is written,
  stow_string to;     // its place,
  stow_string aside;  // and where what was there is kept
  cli_list changes;   // in stage.c
  cli_list made;      // of char*: folders, also inside the inner one, each before those in it
  sigset_t held;      // the signal mask to go back to
  size_t written;     // files
  uint64_t bytes;     // of them
  bool is_done;       // all are in place
} cli_stage;

// Makes the folder where it is missing. Complains. End with cli_stage_close, whatever it returned.
cli_exit cli_stage_open(cli_stage* stage, const char* path);
// Opens |file|, which may lie in further folders, to be written and closed by cli_output_close. Its
// first character is no dot. Complains.
cli_exit cli_stage_create(cli_stage* stage, const char* file, cli_output* output);
// Notes that |file| has to go, with the folders between that are empty then. One that cannot be
// removed stays. Complains.
cli_exit cli_stage_remove(cli_stage* stage, const char* file);
// Sees to it that all files can be moved to their places, and makes all changes, in the order in
// which they were asked for. Complain.
cli_exit cli_stage_prepare(cli_stage* stage);
cli_exit cli_stage_move(cli_stage* stage);
// Removes what was written and not moved, and of the folders that were made those that are empty.
void cli_stage_close(cli_stage* stage);

// Sets |out| to the path of |file| in a folder. False where memory is out.
bool cli_path_join(stow_string* out, const char* folder, const char* file);

#endif  // STOWAGE_TOOLS_FILES_STAGE_H_
