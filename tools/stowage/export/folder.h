// The folder that a program is written to, as a whole or not at all (stage.h says which signals
// cannot change that). It has a list of what was written there: files that are not on it are
// somebody else's.
#ifndef STOWAGE_TOOLS_EXPORT_FOLDER_H_
#define STOWAGE_TOOLS_EXPORT_FOLDER_H_

#include "files/stage.h"

typedef struct cli_folder {
  const char* path;
  bool force;      // write over whatever is there
  cli_list files;  // of char*: what will be there, relative to |path|
  cli_list old;    // of char*: what the list says
  bool is_open;
  cli_stage stage;
} cli_folder;

// Notes that |file| will be written. False where memory is out.
bool cli_folder_add(cli_folder* folder, const char* file);
// When all are noted: makes the folder, refuses it where it has files of others, and writes the
// list. Complains.
cli_exit cli_folder_open(cli_folder* folder);
// Writes one of them. Complains.
cli_exit cli_folder_write(cli_folder* folder, const char* file,
                          void (*print)(cli_output* output, const void* user), const void* user);
// When all are written: removes files of an earlier export that no longer belong to it, and puts
// the new ones in place. Complains.
cli_exit cli_folder_finish(cli_folder* folder);
// Without cli_folder_finish, what was there before is there again.
void cli_folder_close(cli_folder* folder);

#endif  // STOWAGE_TOOLS_EXPORT_FOLDER_H_
